/* SPDX-License-Identifier: Apache-2.0 */
/* abs.c - the magnitude (integer-operators.md section 5.5, opcode 0x13). */
#include "op/op.h"

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    qp_bounds_result(bounds, 0, qp_interval_abs(query->in[0]));
}

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    (void)e, (void)channel;
    for (size_t k = 0; k < count; k++)
        values[k] = values[k] < 0 ? -values[k] : values[k]; /* -2^63 is not in the interval */
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

const qp_operator qp_operator_abs = {
    .opcode = 0x13,
    .name = "abs",
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
