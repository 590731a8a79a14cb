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

#include "op/rq.h"

/* Where phase `phase` of a row of `length` elements starts. */
static inline size_t qp_phase_start(size_t length, size_t stride, size_t phase)
{
    size_t whole = length / stride, rest = length % stride;
    return phase * whole + (phase < rest ? phase : rest);
}

/* Loads `length` elements of a tensor from `start` on, in the phases of `stride`. */
void qp_tensor_load_phases(const qp_tensor *tensor, size_t start, size_t stride, size_t length,
                           int64_t *values);

/* ---- conv's geometry, which its reference and its kernels share --------------------------- */

typedef struct qp_conv {
    uint32_t cout, kh, kw, sh, sw, ph, pw, groups;
    uint8_t w_bytes;
    qp_rq rq;
    qp_integers weights; /* [cout][cin/groups][kh][kw] */
} qp_conv;

/* The kernel rows that meet the input at one output row: `count` of them from `tap` on, the first
 * at input row `row`. */
typedef struct qp_conv_rows {
    uint32_t tap, count;
    uint32_t row;
} qp_conv_rows;

qp_conv_rows qp_conv_rows_at(const qp_conv *p, uint32_t height, uint32_t y);

/* The output columns that tap column `j` reaches: `count` of them from `first` on. In a row kept in
 * the phases of sw, the first reads element `from` and the others follow it. */
typedef struct qp_conv_run {
    uint32_t first, count;
    size_t from;
} qp_conv_run;

qp_conv_run qp_conv_run_at(const qp_conv *p, uint32_t width_in, uint32_t width_out, uint32_t j);

/* The intermediates of a product and of a partial sum. */
typedef struct qp_accumulate_keys {
    qp_intermediate term, acc;
} qp_accumulate_keys;

/* acc[k] += weight·run[k], k < count. Every term and partial sum is certified to fit i64. */
void qp_accumulate(const qp_evaluation *e, qp_accumulate_keys keys, int64_t *restrict acc,
                   const int64_t *restrict run, int64_t weight, size_t count);

#endif
