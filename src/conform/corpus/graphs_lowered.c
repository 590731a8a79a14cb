/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus/graphs_lowered.c - a vector of each lowering (section 14.2): the graphs of the small sets,
 * one decode each, on as few elements as their shapes allow.
 */
#include "conform/case.h"
#include "conform/sets.h"

/* Values that stay near 0, as latents do. */
#define SPREAD 200
#define SAMPLES 4  /* t_out */
#define PERIOD 251 /* prime: no side of a tensor divides it */

static int64_t bounded(int64_t v)
{
    return qp_clamp_i64(v, -SPREAD, SPREAD);
}

/* Sides that every operator of the small sets plans on: an input twice as large as another keeps
 * the ratio of the sizes that the graph declares, or of a picture and its base. */
static qp_shape shape_of(const qp_small_set *set, const qp_graph *graph, uint32_t input)
{
    qp_input_info info = qp_graph_input(graph, input);
    uint32_t channels = qp_graph_tensor(graph, info.tensor).channels;
    if (info.max_h == 4) /* the hyper-latent; the residual is four times as large */
        return (qp_shape){channels, 1, 1};
    if (info.max_h == 16) {
        bool beside_hyper = qp_graph_input(graph, 0).max_h == 4;
        return (qp_shape){channels, beside_hyper ? 4 : 2, beside_hyper ? 4 : 2};
    }
    if (strcmp(set->name, "audio-int_codec") == 0)
        return (qp_shape){channels, 1, 3};
    if (strcmp(set->name, "sr2") == 0 && input == 1)
        return (qp_shape){channels, 4, 6};
    return (qp_shape){channels, 2, 3};
}

static void give_inputs(qp_corpus *c, const qp_small_set *set, const qp_graph *graph)
{
    for (uint32_t i = 0; i < qp_graph_describe(graph).n_inputs; i++) {
        int64_t values[PERIOD];
        qp_tensor_info tensor = qp_graph_tensor(graph, qp_graph_input(graph, i).tensor);
        qp_range range = {bounded(tensor.lo), bounded(tensor.hi)};
        qp_case_give_shape(c, shape_of(set, graph, i),
                           qp_case_random_list(c, values, PERIOD, range));
    }
}

static void give_scalars(qp_corpus *c, const qp_graph *graph)
{
    for (uint32_t i = 0; i < qp_graph_describe(graph).n_scalars; i++) {
        int64_t lo, hi;
        qp_graph_scalar(graph, i, &lo, &hi);
        qp_case_give_scalar(c, lo == 1 ? SAMPLES : qp_case_random(c, -SPREAD, SPREAD));
    }
}

static void add_role(qp_corpus *c, const qp_small_set *set, const qp_lowered_role *role)
{
    qp_case(c, QP_WANT_LOADED, "%s: %s", set->name, role->name);
    qp_case_whole(c, role->bytes, role->size);
    qp_case_decode(c, QP_OK);
    give_inputs(c, set, role->graph);
    give_scalars(c, role->graph);
}

static void add_set(qp_corpus *c, const qp_small_set *set)
{
    qp_lower_options options = {.capability = set->capability};
    qp_lowered *lowered;
    c->status = qp_lower(set->members, set->count, &options, c->allocator, &lowered, c->error);
    if (c->status != QP_OK)
        return;
    for (size_t i = 0; i < qp_lowered_count(lowered); i++) {
        qp_lowered_role role = qp_lowered_at(lowered, i);
        add_role(c, set, &role);
    }
    qp_lowered_free(lowered);
}

void qp_graphs_lowered(qp_corpus *c, const void *context)
{
    (void)context;
    for (size_t i = 0; i < qp_small_set_count() && c->status == QP_OK; i++) {
        qp_small_set set;
        c->status = qp_small_set_make(i, c->allocator, &set, c->error);
        if (c->status != QP_OK)
            return;
        if (!set.weak || set.pin != NULL) /* a pin is nothing to the graph */
            add_set(c, &set);
        qp_small_set_free(&set);
    }
}
