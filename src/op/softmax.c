/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.c - normalised exponentials along W (integer-operators.md section 5.7, 0x1A). */
#include "op/exponential.h"

/* ---- bounds ------------------------------------------------------------------------------- */

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    bool *saturated = &bounds->saturated;
    qp_interval in = query->in[0];
    qp_bound zero = qp_bound_from_i64(0);
    /* W is at most 2^26 and an exponential below 2^17, so the sums stay below 2^44 */
    int64_t sum = (int64_t)query->in_shapes[0].width * QP_EXP_MAX;
    int64_t numerator = (int64_t)QP_EXP_MAX * QP_ONE_Q16 + sum / 2;

    qp_bounds_record(bounds, QP_SM_DIFF,
                     (qp_interval){qp_bound_sub(in.lo, in.hi, saturated), zero});
    qp_exp_bounds((qp_interval){zero, qp_bound_sub(in.hi, in.lo, saturated)}, bounds);
    qp_bounds_record(bounds, QP_SM_SUM, qp_interval_of(0, sum));
    qp_bounds_record(bounds, QP_SM_NUM, qp_interval_of(0, numerator));
    qp_bounds_result(bounds, 0, qp_interval_of(0, QP_ONE_Q16));
}

/* ---- evaluation --------------------------------------------------------------------------- */

static void normalise(const qp_evaluation *e, int64_t *row, size_t count)
{
    int64_t greatest = row[0], sum = 0;

    for (size_t x = 1; x < count; x++)
        greatest = qp_max_i64(greatest, row[x]);
    for (size_t x = 0; x < count; x++) {
        int64_t difference = row[x] - greatest; /* sm.diff fits i64 */
        row[x] = qp_exp_observed(e, difference);
        sum += row[x];
        QP_OBSERVE_I64(e, QP_SM_DIFF, difference);
        QP_OBSERVE_I64(e, QP_SM_SUM, sum);
    }
    for (size_t x = 0; x < count; x++) {
        int64_t numerator = row[x] * QP_ONE_Q16 + sum / 2;
        QP_OBSERVE_I64(e, QP_SM_NUM, numerator);
        row[x] = numerator / sum; /* both non-negative, and sum at least 65553 */
    }
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *shape = &e->in[0].shape;
    size_t rows = (size_t)shape->channels * shape->height;

    for (size_t r = 0; r < rows; r++) {
        qp_tensor_read(&e->in[0], r * shape->width, shape->width, e->scratch);
        normalise(e, e->scratch, shape->width);
        qp_status status = qp_emit(e, 0, r * shape->width, e->scratch, shape->width);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {
    QP_SM_DIFF, QP_EXP_NEGX, QP_EXP_NL, QP_EXP_T2, QP_EXP_C, QP_SM_SUM, QP_SM_NUM,
};

const qp_operator qp_operator_softmax = {
    .opcode = 0x1A,
    .name = "softmax",
    .section = "5.7",
    .n_in = 1,
    .n_out = 1,
    .needs_sizes = true,
    .npu = QP_NPU_NO,
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .scratch = qp_scratch_row,
    .evaluate = evaluate,
};
