/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.c - making a certificate, its canonical JSON (section 8.5) and what it is asked. */
#include "bounds/bounds.h"

/* ---- making ------------------------------------------------------------------------------- */

static bool printable(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text < 0x20 || *text > 0x7E)
            return false;
    return true;
}

/* A copy of `text` in the arena; NULL stays NULL. */
static qp_status copy_text(qp_arena *arena, const char *text, const char **copy, qp_error *error)
{
    *copy = NULL;
    if (text == NULL)
        return QP_OK;
    if (!printable(text))
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "a name outside printable ASCII cannot be certified");
    size_t size = strlen(text) + 1;
    char *made = qp_arena_allocate(arena, size, 1);
    if (made == NULL)
        return qp_fail_memory(error, "a certificate");
    memcpy(made, text, size);
    *copy = made;
    return QP_OK;
}

static qp_status fill(qp_certificate *c, const qp_role *roles, const qp_set_info *set,
                      qp_error *error)
{
    const char *lowering = set->lowering == NULL ? "whg1" : set->lowering;
    qp_status status = copy_text(&c->arena, set->capability, &c->capability, error);
    if (status == QP_OK)
        status = copy_text(&c->arena, lowering, &c->lowering, error);
    if (status == QP_OK)
        status = copy_text(&c->arena, set->set_sha256, &c->set_sha256, error);
    if (status != QP_OK)
        return status;

    c->graphs = qp_arena_allocate(&c->arena, c->n_graphs, sizeof *c->graphs);
    if (c->graphs == NULL)
        return qp_fail_memory(error, "a certificate");
    for (size_t g = 0; g < c->n_graphs; g++) {
        c->graphs[g].graph = roles[g].graph;
        status = copy_text(&c->arena, roles[g].name, &c->graphs[g].role, error);
        if (status == QP_OK)
            status = qp_bounds_pass(&c->graphs[g], &c->arena, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

qp_status qp_certify_set(const qp_role *roles, size_t n_roles, const qp_set_info *set,
                         const qp_allocator *allocator, qp_certificate **certificate,
                         qp_error *error)
{
    *certificate = NULL;
    if (n_roles == 0)
        return qp_fail(error, QP_INVALID_ARGUMENT, "a certificate needs a graph");
    qp_certificate *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a certificate");
    qp_arena_init(&made->arena, allocator);
    made->n_graphs = n_roles;
    qp_status status = fill(made, roles, set, error);
    if (status == QP_OK)
        *certificate = made;
    else
        qp_certificate_free(made);
    return status;
}

qp_status qp_certify(const qp_graph *graph, const qp_allocator *allocator,
                     qp_certificate **certificate, qp_error *error)
{
    qp_role role = {"graph", graph};
    qp_set_info set = {0};
    return qp_certify_set(&role, 1, &set, allocator, certificate, error);
}

void qp_certificate_free(qp_certificate *certificate)
{
    if (certificate == NULL)
        return;
    qp_allocator allocator = certificate->arena.allocator;
    qp_arena_free(&certificate->arena);
    qp_release(&allocator, certificate, 1, sizeof *certificate);
}

unsigned qp_certificate_tensor(const qp_certificate *certificate, size_t graph, uint32_t tensor,
                               char lo[80], char hi[80])
{
    const qp_interval *interval = &certificate->graphs[graph].tensors[tensor];
    qp_bound_text(&interval->lo, lo);
    qp_bound_text(&interval->hi, hi);
    return qp_interval_bits(interval);
}

/* ---- admissible ranges (section 8.4) ------------------------------------------------------ */

/* Whether one consumer meets the profile with `tensor` on [-x, x]. */
static bool consumer_fits(const qp_graph_bounds *bounds, const qp_node *node, uint32_t tensor,
                          qp_bound x, qp_profile profile)
{
    qp_interval in[QP_INPUTS_MAX];
    qp_node_bounds found;

    for (uint32_t k = 0; k < node->n_in; k++) {
        bool replaced = node->in[k] == tensor;
        in[k] = replaced ? (qp_interval){qp_bound_negate(x), x} : bounds->tensors[node->in[k]];
    }
    qp_bounds_node(bounds->graph, node, in, &found);
    return !found.outside_table && !found.saturated &&
           qp_bounds_fit(found.recorded, found.n_recorded, found.result, node->n_out, profile);
}

static bool reads(const qp_node *node, uint32_t tensor)
{
    for (uint32_t k = 0; k < node->n_in; k++)
        if (node->in[k] == tensor)
            return true;
    return false;
}

/* The condition C(x) of section 8.4. */
static bool condition(const qp_graph_bounds *bounds, uint32_t tensor, qp_bound x,
                      qp_profile profile)
{
    const qp_graph *graph = bounds->graph;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (reads(&graph->nodes[i], tensor) &&
            !consumer_fits(bounds, &graph->nodes[i], tensor, x, profile))
            return false;
    return true;
}

int qp_certificate_admissible(const qp_certificate *certificate, size_t graph, uint32_t tensor,
                              qp_profile profile, int64_t *lo, int64_t *hi)
{
    const qp_graph_bounds *bounds = &certificate->graphs[graph];
    uint64_t holds = 0, limit = (uint64_t)1 << 63; /* the search's interval [0, 2^63] */

    if (!condition(bounds, tensor, qp_bound_from_u64(0), profile))
        return 0;
    while (holds < limit) {
        uint64_t middle = holds + (limit - holds + 1) / 2;
        if (condition(bounds, tensor, qp_bound_from_u64(middle), profile))
            holds = middle;
        else
            limit = middle - 1;
    }
    *lo = qp_to_i64(0 - holds);
    *hi = holds > INT64_MAX ? INT64_MAX : (int64_t)holds;
    return 1;
}
