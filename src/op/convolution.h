/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convolution.h - what conv and conv_transpose share: rows of int64 split into the phases of a
 * stride, and the multiply-add over a run of one.
 *
 * A row of n elements in `stride` phases holds the elements 0, stride, 2·stride, ... first, then
 * 1, stride + 1, ..., so that every stride-th element is the next one in memory.
 */
#ifndef QP_OP_CONVOLUTION_H
#define QP_OP_CONVOLUTION_H

#include "op/op.h"

/* Where phase `phase` of a row of `length` elements starts. */
static inline size_t qp_phase_start(size_t length, size_t stride, size_t phase)
{
    size_t whole = length / stride, rest = length % stride;
    return phase * whole + (phase < rest ? phase : rest);
}

/* Loads `length` elements of a tensor from `start` on, in the phases of `stride`. */
void qp_tensor_load_phases(const qp_tensor *tensor, size_t start, size_t stride, size_t length,
                           int64_t *values);

/* The intermediates of a product and of a partial sum. */
typedef struct qp_accumulate_keys {
    qp_intermediate term, acc;
} qp_accumulate_keys;

/* acc[k] += weight·run[k], k < count. Every term and partial sum is certified to fit i64. */
void qp_accumulate(const qp_evaluation *e, qp_accumulate_keys keys, int64_t *restrict acc,
                   const int64_t *restrict run, int64_t weight, size_t count);

#endif
