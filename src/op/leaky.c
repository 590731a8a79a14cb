/* SPDX-License-Identifier: Apache-2.0 */
/* leaky.c - a slope a / 2^f on negative values (integer-operators.md section 5.5, 0x0D). */
#include "op/op.h"

typedef struct leaky_params {
    int64_t a;
    uint32_t f;
} leaky_params;

static const qp_field fields[] = {
    {.name = "a", .kind = QP_FIELD_I64, .offset = offsetof(leaky_params, a)},
    {.name = "f", .kind = QP_FIELD_U32, .offset = offsetof(leaky_params, f), .maximum = 63},
};

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const leaky_params *p = query->params;
    qp_interval in = query->in[0], product = qp_interval_of(0, 0);
    qp_bound zero = qp_bound_from_i64(0);

    if (in.lo.negative) {
        qp_interval part = {in.lo, qp_bound_min(in.hi, qp_bound_from_i64(-1))};
        product = qp_interval_corners(part, qp_interval_of(p->a, p->a), &bounds->saturated);
        qp_bounds_result(bounds, 0, qp_interval_floor_shift(product, p->f));
    }
    if (!in.hi.negative)
        qp_bounds_result(bounds, 0, (qp_interval){qp_bound_max(in.lo, zero), in.hi});
    qp_bounds_record(bounds, QP_LEAKY_P, product);
    qp_bounds_condition_i32(bounds, QP_CONDITION_LEAKY_A, (qp_range){p->a, p->a});
}

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    const leaky_params *p = e->params;
    (void)channel;
    for (size_t k = 0; k < count; k++)
        if (values[k] < 0) {
            int64_t product = values[k] * p->a; /* leaky.p fits i64 */
            QP_OBSERVE_I64(e, QP_LEAKY_P, product);
            values[k] = qp_floor_shift_i64(product, p->f);
        }
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

static const qp_intermediate intermediates[] = {QP_LEAKY_P};

const qp_operator qp_operator_leaky = {
    .opcode = 0x0D,
    .name = "leaky",
    .section = "5.5",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(leaky_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
