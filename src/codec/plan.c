/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - the shapes that a graph gives, before any stream is decoded (sections 4 and 13.0). */
#include "codec/codec.h"
#include "graph/graph.h"
#include "run/session.h"

static qp_status plan_node(const qp_graph *graph, uint32_t index, const int64_t *scalars,
                           qp_shape *shapes, qp_error *error)
{
    const qp_node *node = &graph->nodes[index];
    qp_shape in[QP_INPUTS_MAX], out[QP_OUTPUTS_MAX];
    const char *why = "";

    for (uint32_t k = 0; k < node->n_in; k++)
        in[k] = shapes[node->in[k]];
    qp_status status = qp_graph_plan_node(graph, node, in, scalars, out, &why);
    if (status != QP_OK)
        return qp_fail_at(error, status,
                          (qp_place){QP_TABLE_OPERATORS, -1, index, (int64_t)node->offset},
                          "%s: %s", node->op->name, why);
    for (uint32_t k = 0; k < node->n_out; k++)
        shapes[node->out[k]] = out[k];
    return QP_OK;
}

static qp_status plan(const qp_graph *graph, const qp_shape *inputs, const int64_t *scalars,
                      qp_shape *shapes, qp_error *error)
{
    qp_status status = QP_OK;
    for (uint32_t i = 0; i < graph->n_inputs && status == QP_OK; i++) {
        status = qp_session_check_shape(graph, i, &inputs[i], error);
        shapes[graph->inputs[i].tensor] = inputs[i];
    }
    for (uint32_t i = 0; i < graph->n_scalars && status == QP_OK; i++)
        if (scalars[i] < graph->scalars[i].lo || scalars[i] > graph->scalars[i].hi)
            status = qp_fail_at(error, QP_FIELD_RANGE, (qp_place){QP_TABLE_SCALARS, i, -1, -1},
                                "scalar %u is %lld, outside its range", (unsigned)i,
                                (long long)scalars[i]);
    for (uint32_t i = 0; i < graph->n_nodes && status == QP_OK; i++)
        status = plan_node(graph, i, scalars, shapes, error);
    return status;
}

qp_status qp_plan_graph(const qp_graph *graph, const qp_shape *inputs, const int64_t *scalars,
                        const qp_allocator *allocator, qp_shape *outputs, qp_error *error)
{
    qp_shape *shapes = qp_allocate(allocator, graph->n_tensors, sizeof *shapes);
    if (shapes == NULL)
        return qp_fail_memory(error, "the plan of a graph");
    qp_status status = plan(graph, inputs, scalars, shapes, error);
    for (uint32_t i = 0; i < graph->n_outputs && status == QP_OK; i++)
        outputs[i] = shapes[graph->outputs[i]];
    qp_release(allocator, shapes, graph->n_tensors, sizeof *shapes);
    return status;
}
