/* SPDX-License-Identifier: Apache-2.0 */
/* function.c - the roundings, the exponential and the reciprocal square root of section 2. */
#include "number/function.h"

#include <stddef.h>

static qp_i128 one_shifted(unsigned shift)
{
    return qp_i128_shift_left(qp_i128_from_i64(1), shift);
}

qp_i128 qp_round_shift(qp_i128 p, unsigned shift, qp_round round)
{
    if (shift == 0)
        return p;
    if (round == QP_ROUND_FLOOR)
        return qp_i128_shift_right(p, shift);

    qp_i128 sum = qp_i128_add(p, one_shifted(shift - 1));
    qp_i128 q = qp_i128_shift_right(sum, shift);
    if (round == QP_ROUND_HALF_UP)
        return q;
    /* half_even: p is a tie exactly when sum is a multiple of 2^shift; q is then the upper of the
     * two nearest, and an odd q steps back to the even one */
    qp_i128 back = qp_i128_sub(qp_i128_shift_left(q, shift), sum);
    bool tie = qp_i128_low(back) == 0 && qp_i128_high(back) == 0;
    if (tie && (qp_i128_low(q) & 1) != 0)
        q = qp_i128_sub(q, qp_i128_from_i64(1));
    return q;
}

/* The constants of section 2, Q16: ln 2, the polynomial's offset, factor and constant term. */
enum {
    EXP_LN2 = 45426,
    EXP_OFFSET = 88670,
    EXP_FACTOR = 23495,
    EXP_CONSTANT = 22544,
    EXP_LAST_SHIFT = 62 /* the result is 0 from n = 63 on */
};

int64_t qp_exp_neg_q16(int64_t x, qp_exp_steps *steps)
{
    int64_t u = -x;
    int64_t n = u / EXP_LN2;
    int64_t g = n * EXP_LN2; /* at most u, so it fits */
    int64_t t = x + g + EXP_OFFSET;
    int64_t t2 = t * t; /* t lies in [43245, 88670] */
    int64_t c = EXP_FACTOR * (t2 >> 16);
    int64_t y = (c >> 16) + EXP_CONSTANT;

    if (steps != NULL)
        *steps = (qp_exp_steps){.negx = u, .nl = g, .t2 = t2, .c = c};
    return n > EXP_LAST_SHIFT ? 0 : y >> n;
}

int64_t qp_rsqrt_q16(qp_i128 v)
{
    uint64_t root = qp_i128_isqrt(v);
    return root == 0 ? 0 : (int64_t)(((uint64_t)1 << 32) / root);
}
