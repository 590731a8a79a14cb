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

#include "op/params.h"
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

/* An output narrower than this is evaluated position by position. */
#define QP_CONV_NARROW 12

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

/* ---- conv_transpose's geometry ------------------------------------------------------------ */

typedef struct qp_conv_transpose {
    uint32_t cout, kh, kw, sh, sw, ph, pw, oph, opw;
    uint8_t w_bytes;
    qp_rq rq;
    qp_integers weights; /* [cin][cout][kh][kw] */
} qp_conv_transpose;

/* The uncropped width uw; a planned one is at most 2^26. */
static inline uint32_t qp_transpose_width(const qp_conv_transpose *p, uint32_t width_in)
{
    return (uint32_t)((uint64_t)(width_in - 1) * p->sw + p->kw + p->opw);
}

/* The most kernel rows that meet one output row. */
static inline uint32_t qp_transpose_rows_most(const qp_conv_transpose *p, uint32_t height)
{
    uint32_t rows = (p->kh - 1) / p->sh + 1;
    return rows < height ? rows : height;
}

/* The kernel rows that output row `y` gathers: `count` of them, k = 0, 1, ... being kernel row
 * tap + k·sh over input row row - k. */
typedef struct qp_transpose_rows {
    uint32_t tap, count;
    uint32_t row;
} qp_transpose_rows;

qp_transpose_rows qp_transpose_rows_at(const qp_conv_transpose *p, uint32_t height, uint32_t y);

/* ---- the bounds rules of both ------------------------------------------------------------- */

/* The rules of section 8.3 over output channels: on 128-bit integers where they hold, else on the
 * saturating ones. */
typedef struct qp_conv_bounds {
    qp_intermediate term, acc;
    const qp_interval *input;
    bool input_narrow; /* its ends fit i64 */
    qp_range range;    /* then these */
    qp_rq_hull hull;
    qp_node_bounds *bounds;
} qp_conv_bounds;

qp_conv_bounds qp_conv_bounds_start(const qp_bounds_query *query, qp_intermediate term,
                                    qp_intermediate acc, qp_node_bounds *bounds);
/* One output channel, whose positions read one of `count` sets of weights each. */
void qp_conv_bounds_channel(qp_conv_bounds *b, const qp_fold *folds, size_t count,
                            const qp_rq_channel *channel);
void qp_conv_bounds_end(qp_conv_bounds *b, const qp_rq *rq);

/* The intermediates of a product and of a partial sum. */
typedef struct qp_accumulate_keys {
    qp_intermediate term, acc;
} qp_accumulate_keys;

/* The sum of weights[start + k]·x[k], k < count. Every term and partial sum is certified to fit
 * i64. */
int64_t qp_dot(const qp_evaluation *e, qp_accumulate_keys keys, const qp_integers *weights,
               size_t start, const int64_t *x, size_t count);

/* acc[k] += weight·run[k], k < count. Every term and partial sum is certified to fit i64. */
void qp_accumulate(const qp_evaluation *e, qp_accumulate_keys keys, int64_t *restrict acc,
                   const int64_t *restrict run, int64_t weight, size_t count);

#endif
