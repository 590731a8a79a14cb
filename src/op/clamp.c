/* SPDX-License-Identifier: Apache-2.0 */
/* clamp.c - limiting to a range (integer-operators.md section 5.5, opcode 0x0B). */
#include "op/op.h"

typedef struct clamp_params {
    int64_t lo, hi;
} clamp_params;

static const qp_field fields[] = {
    {.name = "lo", .kind = QP_FIELD_I64, .offset = offsetof(clamp_params, lo)},
    {.name = "hi", .kind = QP_FIELD_I64, .offset = offsetof(clamp_params, hi)},
};

static const char *check(const void *params, const qp_params_context *context)
{
    const clamp_params *p = params;
    (void)context;
    return p->lo <= p->hi ? NULL : "clamp's lo is above its hi";
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const clamp_params *p = query->params;
    qp_bounds_result(bounds, 0, qp_interval_clamp(query->in[0], qp_interval_of(p->lo, p->hi)));
}

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    const clamp_params *p = e->params;
    (void)channel;
    for (size_t k = 0; k < count; k++)
        values[k] = qp_clamp_i64(values[k], p->lo, p->hi);
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

const qp_operator qp_operator_clamp = {
    .opcode = 0x0B,
    .name = "clamp",
    .section = "5.5",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(clamp_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .check = check,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
