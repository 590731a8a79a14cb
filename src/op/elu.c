/* SPDX-License-Identifier: Apache-2.0 */
/* elu.c - an exponential below zero (integer-operators.md section 5.8, opcode 0x1C). */
#include "op/exponential.h"

enum { Q16 = 16, ABOVE_ONE = QP_EXP_MAX - QP_ONE_Q16 }; /* exp_neg_q16(0) - 2^16 = 17 */

typedef struct elu_params {
    int64_t alpha;
} elu_params;

static const qp_field fields[] = {
    {.name = "alpha", .kind = QP_FIELD_I64, .offset = offsetof(elu_params, alpha)},
};

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const elu_params *p = query->params;
    qp_interval in = query->in[0];
    qp_bound zero = qp_bound_from_i64(0);
    bool has_positive = !in.hi.negative && !qp_bound_is_zero(&in.hi);
    bool has_other = in.lo.negative || qp_bound_is_zero(&in.lo);
    qp_interval product =
        qp_interval_corners(qp_interval_of(p->alpha, p->alpha),
                            qp_interval_of(-QP_ONE_Q16, ABOVE_ONE), &bounds->saturated);

    qp_exp_bounds((qp_interval){qp_bound_max(zero, qp_bound_negate(in.hi)),
                                qp_bound_max(zero, qp_bound_negate(in.lo))},
                  bounds);
    qp_bounds_record(bounds, QP_ELU_P, product);
    if (has_positive)
        qp_bounds_result(bounds, 0,
                         (qp_interval){qp_bound_max(in.lo, qp_bound_from_i64(1)), in.hi});
    if (has_other)
        qp_bounds_result(bounds, 0, qp_interval_floor_shift(product, Q16));
}

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    const elu_params *p = e->params;
    (void)channel;
    for (size_t k = 0; k < count; k++) {
        if (values[k] > 0)
            continue;
        int64_t x = qp_exp_observed(e, values[k]) - QP_ONE_Q16;
        qp_i128 product = qp_i128_mul_i64(p->alpha, x);
        QP_OBSERVE(e, QP_ELU_P, product);
        values[k] = qp_i128_to_i64(qp_i128_shift_right(product, Q16));
    }
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

static const qp_intermediate intermediates[] = {QP_EXP_NEGX, QP_EXP_NL, QP_EXP_T2, QP_EXP_C,
                                                QP_ELU_P};

const qp_operator qp_operator_elu = {
    .opcode = 0x1C,
    .name = "elu",
    .section = "5.8",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_NO,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(elu_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
