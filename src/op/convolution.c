/* SPDX-License-Identifier: Apache-2.0 */
/* convolution.c - rows in phases, and the multiply-add (integer-operators.md 5.2, 5.3). */
#include "op/convolution.h"

void qp_tensor_load_phases(const qp_tensor *tensor, size_t start, size_t stride, size_t length,
                           int64_t *values)
{
    for (size_t phase = 0; phase < stride && phase < length; phase++) {
        size_t count = (length - phase - 1) / stride + 1;
        qp_tensor_load(tensor, start + phase, stride, count, values);
        values += count;
    }
}

qp_conv_rows qp_conv_rows_at(const qp_conv *p, uint32_t height, uint32_t y)
{
    int64_t top = (int64_t)y * p->sh - p->ph; /* input row of tap row 0; below 2^59 */
    int64_t first = qp_max_i64(0, -top);
    int64_t end = qp_min_i64(p->kh, height - top);

    if (end <= first)
        return (qp_conv_rows){0, 0, 0};
    return (qp_conv_rows){(uint32_t)first, (uint32_t)(end - first), (uint32_t)(top + first)};
}

qp_conv_run qp_conv_run_at(const qp_conv *p, uint32_t width_in, uint32_t width_out, uint32_t j)
{
    int64_t sw = p->sw;
    int64_t left = (int64_t)j - p->pw; /* input column of output column 0 */
    int64_t first = left < 0 ? (-left + sw - 1) / sw : 0;
    int64_t end = left < width_in ? (width_in - 1 - left) / sw + 1 : 0;

    end = qp_min_i64(end, width_out);
    if (end <= first)
        return (qp_conv_run){0, 0, 0};
    size_t column = (size_t)(left + first * sw);
    return (qp_conv_run){
        .first = (uint32_t)first,
        .count = (uint32_t)(end - first),
        .from = qp_phase_start(width_in, p->sw, column % p->sw) + column / p->sw,
    };
}

#if defined(QP_INSTRUMENTED)
static void observe(const qp_evaluation *e, qp_accumulate_keys keys, int64_t term, int64_t sum)
{
    QP_OBSERVE_I64(e, keys.term, term);
    QP_OBSERVE_I64(e, keys.acc, sum);
}
#endif

void qp_accumulate(const qp_evaluation *e, qp_accumulate_keys keys, int64_t *restrict acc,
                   const int64_t *restrict run, int64_t weight, size_t count)
{
    for (size_t k = 0; k < count; k++)
        acc[k] += weight * run[k];
#if defined(QP_INSTRUMENTED)
    for (size_t k = 0; k < count; k++)
        observe(e, keys, weight * run[k], acc[k]);
#else
    (void)e, (void)keys;
#endif
}
