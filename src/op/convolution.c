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
