/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - the integers of the bounds pass (integer-operators.md section 8.1): exact, then
 * saturated at ±2^255.
 *
 * A bound is a sign and a magnitude of at most 2^255. The text asks for each primitive result to be
 * formed exactly in a signed 512-bit integer and then saturated; a magnitude of 512 bits beside a
 * sign holds every such result, and the saturated value is the same.
 */
#ifndef QP_NUMBER_BOUND_H
#define QP_NUMBER_BOUND_H

#include "number/i128.h"

#include <stddef.h>

#define QP_BOUND_WORDS 8 /* 8·32 = 256 bits, for magnitudes up to 2^255 */
#define QP_BOUND_POWER 255
/* Decimal digits of 2^255 (77), a sign and a NUL. */
#define QP_BOUND_TEXT_SIZE 80

typedef struct qp_bound {
    uint32_t magnitude[QP_BOUND_WORDS]; /* least significant word first */
    bool negative;                      /* false for zero */
} qp_bound;

/* [lo, hi], lo <= hi. */
typedef struct qp_interval {
    qp_bound lo, hi;
} qp_interval;

qp_bound qp_bound_from_i64(int64_t v);
qp_bound qp_bound_from_u64(uint64_t v);
qp_bound qp_bound_from_i128(qp_i128 v);
/* 2^power, power in 0..255. */
qp_bound qp_bound_power(unsigned power);

int qp_bound_compare(const qp_bound *a, const qp_bound *b);
static inline bool qp_bound_is_zero(const qp_bound *a)
{
    uint32_t any = 0;
    for (size_t i = 0; i < QP_BOUND_WORDS; i++)
        any |= a->magnitude[i];
    return any == 0;
}
qp_bound qp_bound_min(qp_bound a, qp_bound b);
qp_bound qp_bound_max(qp_bound a, qp_bound b);
qp_bound qp_bound_negate(qp_bound a);
qp_bound qp_bound_abs(qp_bound a);

/* The primitive operations that can leave ±2^255: each sets *saturated when it did, and leaves it
 * alone otherwise. */
qp_bound qp_bound_add(qp_bound a, qp_bound b, bool *saturated);
qp_bound qp_bound_sub(qp_bound a, qp_bound b, bool *saturated);
qp_bound qp_bound_mul(qp_bound a, qp_bound b, bool *saturated);

/* floor(a / b) for b >= 1, and floor(a / 2^shift) for shift in 0..255. */
qp_bound qp_bound_floor_divide(qp_bound a, qp_bound b);
qp_bound qp_bound_floor_shift(qp_bound a, unsigned shift);

/* isqrt(a) and isqrt_ceil(a) for a >= 0. */
qp_bound qp_bound_isqrt(qp_bound a);
qp_bound qp_bound_isqrt_ceil(qp_bound a);

/* Whether -2^(bits-1) <= a <= 2^(bits-1) - 1. */
bool qp_bound_fits(const qp_bound *a, unsigned bits);
/* The value where it fits i64. */
int64_t qp_bound_to_i64(const qp_bound *a);
/* The value where it fits 128 bits. */
qp_i128 qp_bound_to_i128(const qp_bound *a);
/* Decimal digits with a '-' before a negative value; returns `text`. */
const char *qp_bound_text(const qp_bound *a, char text[QP_BOUND_TEXT_SIZE]);

/* ---- intervals ---------------------------------------------------------------------------- */

qp_interval qp_interval_of(int64_t lo, int64_t hi);
qp_interval qp_interval_of_i128(qp_i128 lo, qp_i128 hi);
/* The smallest interval that holds both. */
qp_interval qp_interval_hull(qp_interval a, qp_interval b);
/* The hull of the four products of ends (section 8.2). */
qp_interval qp_interval_corners(qp_interval a, qp_interval b, bool *saturated);
qp_interval qp_interval_add(qp_interval a, qp_interval b, bool *saturated);
/* floor(./2^shift) of both ends. */
qp_interval qp_interval_floor_shift(qp_interval a, unsigned shift);
/* The image under clamp(., limit.lo, limit.hi). */
qp_interval qp_interval_clamp(qp_interval a, qp_interval limit);
/* The image under |.|. */
qp_interval qp_interval_abs(qp_interval a);
/* bits([lo, hi]) (section 2), 1..257. */
unsigned qp_interval_bits(const qp_interval *a);
bool qp_interval_fits(const qp_interval *a, unsigned bits);
/* max(|lo|, |hi|). */
qp_bound qp_interval_magnitude(const qp_interval *a);
bool qp_interval_contains_i128(const qp_interval *a, qp_i128 v);

#endif
