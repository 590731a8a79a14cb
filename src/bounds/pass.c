/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c - the bounds pass (integer-operators.md section 8.1): intervals in graph order. */
#include "bounds/bounds.h"

void qp_bounds_node(const qp_graph *graph, const qp_node *node, const qp_interval *in,
                    qp_node_bounds *result)
{
    qp_shape shapes[QP_INPUTS_MAX];
    qp_bounds_query query = {
        .params = node->params,
        .in = in,
        .n_in = node->n_in,
        .in_channels = graph->tensors[node->in[0]].channels,
        .scalar_ranges = graph->scalars,
    };
    if (graph->sized) {
        for (uint32_t k = 0; k < node->n_in; k++)
            shapes[k] = graph->shapes[node->in[k]];
        query.in_shapes = shapes;
    }
    *result = (qp_node_bounds){.weights = {1, 0}};
    node->op->bounds(&query, result);
}

/* The tensor's own interval from its producer result; false where a check range is left empty. */
static bool apply_policy(const qp_graph_tensor_record *tensor, qp_interval result,
                         qp_interval *interval)
{
    qp_interval declared = qp_interval_of(tensor->lo, tensor->hi);

    switch (tensor->policy) {
    case QP_CLAMP:
        *interval = qp_interval_clamp(result, declared);
        return true;
    case QP_CHECK:
        *interval = (qp_interval){qp_bound_max(result.lo, declared.lo),
                                  qp_bound_min(result.hi, declared.hi)};
        return qp_bound_compare(&interval->lo, &interval->hi) <= 0;
    default:
        *interval = result;
        return true;
    }
}

static qp_status refuse(const qp_graph *graph, uint32_t index, qp_error *error,
                        const char *sentence)
{
    const qp_node *node = &graph->nodes[index];
    qp_place place = {QP_TABLE_OPERATORS, -1, index, (int64_t)node->offset};
    return qp_fail_at(error, QP_MODEL_MISMATCH, place, "%s: %s", node->op->name, sentence);
}

/* Keeps what the certificate says of a node in the arena. */
static bool keep(const qp_node_bounds *from, uint32_t n_out, qp_arena *arena,
                 qp_certified_node *node)
{
    qp_recorded *recorded = qp_arena_allocate(arena, from->n_recorded, sizeof *recorded);
    qp_interval *result = qp_arena_allocate(arena, n_out, sizeof *result);
    if (recorded == NULL || result == NULL)
        return false;
    memcpy(recorded, from->recorded, from->n_recorded * sizeof *recorded);
    memcpy(result, from->result, n_out * sizeof *result);
    *node = (qp_certified_node){
        .recorded = recorded,
        .n_recorded = from->n_recorded,
        .result = result,
        .saturated = from->saturated,
        .weights = from->weights,
        .conditions = from->conditions,
        .npu_flags = from->npu_flags,
    };
    return true;
}

static qp_status pass_node(qp_graph_bounds *bounds, uint32_t index, qp_arena *arena,
                           qp_error *error)
{
    const qp_graph *graph = bounds->graph;
    const qp_node *node = &graph->nodes[index];
    qp_interval in[QP_INPUTS_MAX];
    qp_node_bounds found;

    for (uint32_t k = 0; k < node->n_in; k++)
        in[k] = bounds->tensors[node->in[k]];
    qp_bounds_node(graph, node, in, &found);
    if (found.outside_table)
        return refuse(graph, index, error, "the input's certified range passes [-32767, 32767]");
    for (uint32_t k = 0; k < node->n_out; k++) {
        uint32_t tensor = node->out[k];
        if (!apply_policy(&graph->tensors[tensor], found.result[k], &bounds->tensors[tensor]))
            return refuse(graph, index, error,
                          "its output's check range holds no value that it can give");
    }
    if (!keep(&found, node->n_out, arena, &bounds->nodes[index]))
        return qp_fail_memory(error, "a node's intervals");
    return QP_OK;
}

qp_status qp_bounds_pass(qp_graph_bounds *bounds, qp_arena *arena, qp_error *error)
{
    const qp_graph *graph = bounds->graph;

    bounds->tensors = qp_arena_allocate(arena, graph->n_tensors, sizeof *bounds->tensors);
    bounds->nodes = qp_arena_allocate(arena, graph->n_nodes, sizeof *bounds->nodes);
    if (bounds->tensors == NULL || bounds->nodes == NULL)
        return qp_fail_memory(error, "the bounds pass");
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        uint32_t tensor = graph->inputs[i].tensor;
        const qp_graph_tensor_record *record = &graph->tensors[tensor];
        bounds->tensors[tensor] = qp_interval_of(record->lo, record->hi);
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        qp_status status = pass_node(bounds, i, arena, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}
