/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - what section 8.2 needs of a run of weights: two sums and two extremes. */
#ifndef QP_OP_PARAMS_H
#define QP_OP_PARAMS_H

#include "op/op.h"

/*
 * The sums S+ and S- of the positive and the negative weights, and the least and greatest weight.
 * At most 2^61 weights of at most 2^63 in magnitude: |S| <= 2^124.
 */
typedef struct qp_fold {
    qp_i128 positive, negative;
    qp_range range; /* lo > hi while no weight was seen */
} qp_fold;

static inline qp_fold qp_fold_empty(void)
{
    return (qp_fold){qp_i128_from_i64(0), qp_i128_from_i64(0), {INT64_MAX, INT64_MIN}};
}

static inline void qp_fold_add(qp_fold *fold, int64_t v)
{
    qp_i128 *sum = v > 0 ? &fold->positive : &fold->negative;
    *sum = qp_i128_add(*sum, qp_i128_from_i64(v));
    fold->range.lo = qp_min_i64(fold->range.lo, v);
    fold->range.hi = qp_max_i64(fold->range.hi, v);
}

static inline void qp_fold_merge(qp_fold *fold, const qp_fold *other)
{
    fold->positive = qp_i128_add(fold->positive, other->positive);
    fold->negative = qp_i128_add(fold->negative, other->negative);
    fold->range.lo = qp_min_i64(fold->range.lo, other->range.lo);
    fold->range.hi = qp_max_i64(fold->range.hi, other->range.hi);
}

/* Adds values[start + k] to folds[k], k < count. */
void qp_integers_fold_each(const qp_integers *values, size_t start, size_t count, qp_fold *folds);

/* Adds values[start .. start + count) to a fold. */
void qp_integers_fold(const qp_integers *values, size_t start, size_t count, qp_fold *fold);

/* The partial-sum interval A(K, b) (section 8.2) of the folded weights over one input interval. */
qp_interval qp_fold_partial_sums(const qp_fold *fold, const qp_interval *input, int64_t bias,
                                 bool *saturated);
/* The same on 128-bit integers; false where a value might pass them. `input` is an interval of i64
 * ends. */
bool qp_fold_partial_sums_narrow(const qp_fold *fold, qp_range input, int64_t bias, qp_i128 *lo,
                                 qp_i128 *hi);
/* The hull of their term intervals. */
qp_interval qp_fold_terms(qp_range weights, const qp_interval *input, bool *saturated);

#endif
