/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - integers that stand in a graph's bytes: ranges and sums over runs of them. */
#include "op/params.h"

/* One loop a width, so that each has a load the compiler can vectorise. */
#define QP_FOLD(width_bytes, load)                                                                 \
    static void fold_##width_bytes(const uint8_t *p, size_t count, qp_fold *fold)                  \
    {                                                                                              \
        int64_t positive = 0, negative = 0, lo = fold->range.lo, hi = fold->range.hi;              \
        for (size_t i = 0; i < count; i++) {                                                       \
            int64_t v = load(p + i * width_bytes);                                                 \
            positive += v > 0 ? v : 0;                                                             \
            negative += v < 0 ? v : 0;                                                             \
            lo = v < lo ? v : lo;                                                                  \
            hi = v > hi ? v : hi;                                                                  \
        }                                                                                          \
        fold->positive = qp_i128_add(fold->positive, qp_i128_from_i64(positive));                  \
        fold->negative = qp_i128_add(fold->negative, qp_i128_from_i64(negative));                  \
        fold->range = (qp_range){lo, hi};                                                          \
    }

QP_FOLD(1, qp_load_i8)
QP_FOLD(2, qp_load_i16)
QP_FOLD(4, qp_load_i32)

static void fold_8(const uint8_t *p, size_t count, qp_fold *fold)
{
    for (size_t i = 0; i < count; i++)
        qp_fold_add(fold, qp_load_i64(p + i * 8));
}

void qp_integers_fold(const qp_integers *values, size_t start, size_t count, qp_fold *fold)
{
    const uint8_t *p = values->bytes + start * values->width;
    /* 2^30 values of at most 2^31 in magnitude: a 64-bit sum holds them */
    const size_t run = (size_t)1 << 30;

    for (size_t done = 0, n; done < count; done += n, p += n * values->width) {
        n = count - done < run ? count - done : run;
        switch (values->width) {
        case 1:
            fold_1(p, n, fold);
            break;
        case 2:
            fold_2(p, n, fold);
            break;
        case 4:
            fold_4(p, n, fold);
            break;
        default:
            fold_8(p, n, fold);
            break;
        }
    }
}

/* One loop a width again: the width's `switch` stays outside. */
#define QP_FOLD_EACH(width_bytes, load)                                                            \
    static void fold_each_##width_bytes(const uint8_t *p, size_t count, qp_fold *folds)            \
    {                                                                                              \
        for (size_t k = 0; k < count; k++)                                                         \
            qp_fold_add(&folds[k], load(p + k * width_bytes));                                     \
    }

QP_FOLD_EACH(1, qp_load_i8)
QP_FOLD_EACH(2, qp_load_i16)
QP_FOLD_EACH(4, qp_load_i32)
QP_FOLD_EACH(8, qp_load_i64)

void qp_integers_fold_each(const qp_integers *values, size_t start, size_t count, qp_fold *folds)
{
    const uint8_t *p = values->bytes + start * values->width;
    switch (values->width) {
    case 1:
        fold_each_1(p, count, folds);
        break;
    case 2:
        fold_each_2(p, count, folds);
        break;
    case 4:
        fold_each_4(p, count, folds);
        break;
    default:
        fold_each_8(p, count, folds);
        break;
    }
}

qp_range qp_integers_range(const qp_integers *values, size_t start, size_t count)
{
    qp_fold fold = qp_fold_empty();
    qp_integers_fold(values, start, count, &fold);
    return fold.range;
}

qp_interval qp_fold_terms(qp_range weights, const qp_interval *input, bool *saturated)
{
    return qp_interval_corners(qp_interval_of(weights.lo, weights.hi), *input, saturated);
}

/*
 * The sums of section 8.2 give the integers of the term-by-term fold even where it saturates. Every
 * addend of one end has one sign, so the fold saturates exactly when the exact end passes 2^255,
 * and then gives ±2^255; the sums below are addends of the same sign with the same total.
 */
qp_interval qp_fold_partial_sums(const qp_fold *fold, const qp_interval *input, int64_t bias,
                                 bool *saturated)
{
    qp_bound zero = qp_bound_from_i64(0);
    qp_bound below = qp_bound_min(zero, input->lo), above = qp_bound_max(zero, input->hi);
    qp_bound positive = qp_bound_from_i128(fold->positive);
    qp_bound negative = qp_bound_from_i128(fold->negative);
    qp_interval a = {qp_bound_from_i64(qp_min_i64(0, bias)),
                     qp_bound_from_i64(qp_max_i64(0, bias))};

    a.lo = qp_bound_add(a.lo, qp_bound_mul(below, positive, saturated), saturated);
    a.lo = qp_bound_add(a.lo, qp_bound_mul(above, negative, saturated), saturated);
    a.hi = qp_bound_add(a.hi, qp_bound_mul(above, positive, saturated), saturated);
    a.hi = qp_bound_add(a.hi, qp_bound_mul(below, negative, saturated), saturated);
    return a;
}

bool qp_fold_partial_sums_narrow(const qp_fold *fold, qp_range input, int64_t bias, qp_i128 *lo,
                                 qp_i128 *hi)
{
    enum { SUM_BITS = 55 }; /* with 64 bits of an end: 119, and four addends stay below 2^122 */
    if (qp_i128_bit_length(fold->positive) > SUM_BITS ||
        qp_i128_bit_length(fold->negative) > SUM_BITS)
        return false;
    int64_t below = qp_min_i64(0, input.lo), above = qp_max_i64(0, input.hi);
    *lo = qp_i128_add(
        qp_i128_from_i64(qp_min_i64(0, bias)),
        qp_i128_add(qp_i128_mul(fold->positive, below), qp_i128_mul(fold->negative, above)));
    *hi = qp_i128_add(
        qp_i128_from_i64(qp_max_i64(0, bias)),
        qp_i128_add(qp_i128_mul(fold->positive, above), qp_i128_mul(fold->negative, below)));
    return true;
}
