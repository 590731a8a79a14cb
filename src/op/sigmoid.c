/* SPDX-License-Identifier: Apache-2.0 */
/* sigmoid.c - the logistic function (integer-operators.md section 5.8, opcode 0x1B). */
#include "op/exponential.h"

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    qp_exp_bounds(qp_interval_abs(query->in[0]), bounds);
    qp_bounds_record(bounds, QP_SIG_NUM, qp_interval_of(0, (int64_t)QP_EXP_MAX * QP_ONE_Q16));
    qp_bounds_result(bounds, 0, qp_interval_of(0, QP_ONE_Q16));
}

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    (void)channel;
    for (size_t k = 0; k < count; k++) {
        bool negative = values[k] < 0;
        int64_t x = qp_exp_observed(e, negative ? values[k] : -values[k]);
        int64_t dividend = negative ? x * QP_ONE_Q16 : (int64_t)QP_ONE_Q16 * QP_ONE_Q16;
        QP_OBSERVE_I64(e, QP_SIG_NUM, dividend);
        values[k] = dividend / (QP_ONE_Q16 + x);
    }
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

static const qp_intermediate intermediates[] = {QP_EXP_NEGX, QP_EXP_NL, QP_EXP_T2, QP_EXP_C,
                                                QP_SIG_NUM};

const qp_operator qp_operator_sigmoid = {
    .opcode = 0x1B,
    .name = "sigmoid",
    .section = "5.8",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_NO,
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
