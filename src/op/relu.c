/* SPDX-License-Identifier: Apache-2.0 */
/* relu.c - max(v, 0) (integer-operators.md section 5.5, opcode 0x0C). */
#include "op/op.h"

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    qp_bound zero = qp_bound_from_i64(0);
    qp_bounds_result(
        bounds, 0,
        (qp_interval){qp_bound_max(query->in[0].lo, zero), qp_bound_max(query->in[0].hi, zero)});
}

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    (void)e, (void)channel;
    for (size_t k = 0; k < count; k++)
        values[k] = qp_max_i64(values[k], 0);
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

const qp_operator qp_operator_relu = {
    .opcode = 0x0C,
    .name = "relu",
    .section = "5.5",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
