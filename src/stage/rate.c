/* SPDX-License-Identifier: Apache-2.0 */
/* rate.c - rate_predict (E12): a signal of a higher rate, interpolated from the one below. */
#include "stage/stage.h"

#define LENGTH_MAX ((uint64_t)1 << 26) /* the cap on a tensor's elements */

qp_status qp_rate_check(const qp_rate *rate, qp_error *error)
{
    if (rate->length == 0 || rate->d0 == 0 || rate->rate_num == 0 || rate->rate_den == 0)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "a size or a rate of 0");
    if (rate->length > LENGTH_MAX)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "a signal of more than 2^26 samples");
    if (rate->d0 != rate->length * rate->rate_num / rate->rate_den) /* below 2^58 */
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "the length of the signal below does not give d0 at this rate");
    return QP_OK;
}

/* rdiv for d >= 1: n/d to the nearest, halves away from 0. With |n| < 2^48 and d < 2^32, 2|n| + d
 * is below 2^50. */
static int64_t rdiv(int64_t n, int64_t d)
{
    int64_t magnitude = n < 0 ? -n : n;
    int64_t quotient = (2 * magnitude + d) / (2 * d);
    return n < 0 ? -quotient : quotient;
}

int16_t qp_rate_at(const qp_rate *rate, const int16_t *samples, size_t step, uint64_t i)
{
    int64_t num = rate->rate_num;
    uint64_t s = i * rate->rate_den; /* below length·rate_num, since i < d0 */
    uint64_t lo = s / rate->rate_num;
    uint64_t hi = lo + 1 < rate->length ? lo + 1 : rate->length - 1;
    int64_t rho = (int64_t)(s % rate->rate_num);
    int64_t a = samples[(size_t)lo * step], b = samples[(size_t)hi * step];
    /* |a·num| < 2^47 and |(b - a)·rho| < 2^48; the result lies between a and b, so it fits i16 */
    return (int16_t)rdiv(a * num + (b - a) * rho, num);
}

qp_status qp_rate_predict(const qp_rate *rate, const int16_t *samples, uint32_t channels,
                          int16_t *out, qp_error *error)
{
    qp_status status = qp_rate_check(rate, error);
    if (status != QP_OK)
        return status;
    for (uint32_t c = 0; c < channels; c++, samples += rate->length)
        for (uint64_t i = 0; i < rate->d0; i++)
            *out++ = qp_rate_at(rate, samples, 1, i);
    return QP_OK;
}
