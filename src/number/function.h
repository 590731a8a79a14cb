/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function.h - the integer functions of integer-operators.md section 2 on run-time values.
 */
#ifndef QP_NUMBER_FUNCTION_H
#define QP_NUMBER_FUNCTION_H

#include "number/i128.h"

/* The three roundings of section 2, with the codes of the RQ block (section 10.4). */
typedef enum qp_round { QP_ROUND_FLOOR = 0, QP_ROUND_HALF_UP = 1, QP_ROUND_HALF_EVEN = 2 } qp_round;

/* The largest shift of section 5.1. */
#define QP_SHIFT_MAX 127

static inline int64_t qp_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t qp_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t qp_clamp_i64(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* |v| as an unsigned number, so that |-2^63| has a place. */
static inline uint64_t qp_magnitude_i64(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* floor(v / 2^shift) for any shift >= 0. */
static inline int64_t qp_floor_shift_i64(int64_t v, unsigned shift)
{
    if (shift > 63)
        return v < 0 ? -1 : 0;
    return v >= 0 ? v >> shift : ~(~v >> shift);
}

/* R_round(p, shift) for p and p + 2^(shift-1) that fit i128, shift in 0..127. */
qp_i128 qp_round_shift(qp_i128 p, unsigned shift, qp_round round);

/* The same where p and p + 2^(shift-1) fit i64 and shift is at most 63
 * (a floor: any shift). */
static inline int64_t qp_round_shift_i64(int64_t p, unsigned shift, qp_round round)
{
    if (shift == 0)
        return p;
    if (round == QP_ROUND_FLOOR)
        return qp_floor_shift_i64(p, shift);
    int64_t half = (int64_t)1 << (shift - 1);
    int64_t q = qp_floor_shift_i64(p + half, shift);
    /* a tie leaves no bit below the shift in p + half; an odd q then steps back to the even one */
    if (round == QP_ROUND_HALF_EVEN) {
        uint64_t below = ((uint64_t)1 << shift) - 1;
        q -= (((uint64_t)(p + half) & below) == 0) & (q & 1);
    }
    return q;
}

/* The intermediates of exp_neg_q16 that section 5.7 classifies. */
typedef struct qp_exp_steps {
    int64_t negx; /* u = -x */
    int64_t nl;   /* 45426·floor(u / 45426) */
    int64_t t2;   /* t², at most 88670² < 2^33 */
    int64_t c;    /* 23495·floor(t2 / 2^16) < 2^32 */
} qp_exp_steps;

/*
 * exp_neg_q16(x) for x in [-(2^63 - 1), 0]; the result lies in [0, 65553]. `steps` may be NULL.
 */
int64_t qp_exp_neg_q16(int64_t x, qp_exp_steps *steps);

/* rsqrt_q16(v) for v >= 0: floor(2^32 / isqrt(v)), and 0 where isqrt(v) is 0. */
int64_t qp_rsqrt_q16(qp_i128 v);

#endif
