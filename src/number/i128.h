/* SPDX-License-Identifier: Apache-2.0 */
/*
 * i128.h - signed 128-bit integers for the values of class `wide` and `product`
 * (integer-operators.md section 7.1).
 *
 * Where the compiler has a 128-bit type it is used; elsewhere (32-bit targets), and wherever
 * QP_NO_NATIVE_I128 is defined so that the other form can be tested, two 64-bit halves stand for
 * it. Every function is exact for results that fit 128 bits. A certified graph forms no other
 * (section 8), so none of them reports overflow; the unsigned arithmetic inside keeps even an
 * impossible overflow free of undefined behaviour.
 */
#ifndef QP_NUMBER_I128_H
#define QP_NUMBER_I128_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SIZEOF_INT128__) && !defined(QP_NO_NATIVE_I128)
#    define QP_NATIVE_I128 1
#else
#    define QP_NATIVE_I128 0
#endif

/* The two's complement value, high half first in significance. */
#if QP_NATIVE_I128
__extension__ typedef __int128 qp_i128;
__extension__ typedef unsigned __int128 qp_u128;
#else
typedef struct qp_i128 {
    uint64_t low;
    uint64_t high;
} qp_i128;
#endif

/* 64-bit two's complement without implementation-defined conversions. */
static inline int64_t qp_i64_from_bits(uint64_t bits)
{
    return bits <= INT64_MAX ? (int64_t)bits : (int64_t)(bits - 0x8000000000000000u) + INT64_MIN;
}

#if QP_NATIVE_I128

static inline qp_i128 qp_i128_from_i64(int64_t v)
{
    return v;
}

static inline qp_i128 qp_i128_from_u64(uint64_t v)
{
    return (qp_i128)v;
}

static inline uint64_t qp_i128_low(qp_i128 v)
{
    return (uint64_t)v;
}

static inline uint64_t qp_i128_high(qp_i128 v)
{
    return (uint64_t)((qp_u128)v >> 64);
}

static inline qp_i128 qp_i128_from_bits(uint64_t high, uint64_t low)
{
    return (qp_i128)((qp_u128)high << 64 | low);
}

static inline qp_i128 qp_i128_add(qp_i128 a, qp_i128 b)
{
    return (qp_i128)((qp_u128)a + (qp_u128)b);
}

static inline qp_i128 qp_i128_sub(qp_i128 a, qp_i128 b)
{
    return (qp_i128)((qp_u128)a - (qp_u128)b);
}

static inline qp_i128 qp_i128_mul_i64(int64_t a, int64_t b)
{
    return (qp_i128)a * b; /* |a·b| <= 2^126 */
}

/* a·b for a product that fits. */
static inline qp_i128 qp_i128_mul(qp_i128 a, int64_t b)
{
    return (qp_i128)((qp_u128)a * (qp_u128)(qp_i128)b);
}

static inline int qp_i128_compare(qp_i128 a, qp_i128 b)
{
    return (a > b) - (a < b);
}

/* floor(a / 2^shift), shift in 0..127. */
static inline qp_i128 qp_i128_shift_right(qp_i128 a, unsigned shift)
{
    return a >= 0 ? (qp_i128)((qp_u128)a >> shift) : (qp_i128) ~(~(qp_u128)a >> shift);
}

/* a·2^shift for a result that fits, shift in 0..127. */
static inline qp_i128 qp_i128_shift_left(qp_i128 a, unsigned shift)
{
    return (qp_i128)((qp_u128)a << shift);
}

#else

static inline qp_i128 qp_i128_from_bits(uint64_t high, uint64_t low)
{
    return (qp_i128){.low = low, .high = high};
}

static inline qp_i128 qp_i128_from_i64(int64_t v)
{
    return qp_i128_from_bits(v < 0 ? UINT64_MAX : 0, (uint64_t)v);
}

static inline qp_i128 qp_i128_from_u64(uint64_t v)
{
    return qp_i128_from_bits(0, v);
}

static inline uint64_t qp_i128_low(qp_i128 v)
{
    return v.low;
}

static inline uint64_t qp_i128_high(qp_i128 v)
{
    return v.high;
}

static inline qp_i128 qp_i128_add(qp_i128 a, qp_i128 b)
{
    uint64_t low = a.low + b.low;
    return qp_i128_from_bits(a.high + b.high + (low < a.low), low);
}

static inline qp_i128 qp_i128_sub(qp_i128 a, qp_i128 b)
{
    return qp_i128_from_bits(a.high - b.high - (a.low < b.low), a.low - b.low);
}

/* The 128-bit product of two 64-bit words, from four 32-bit ones. */
static inline qp_i128 qp_u64_mul(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    /* each addend is at most 2^32 - 1, so the sum is below 3·2^32 */
    uint64_t middle = (p00 >> 32) + (p01 & UINT32_MAX) + (p10 & UINT32_MAX);
    return qp_i128_from_bits(p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32),
                             middle << 32 | (p00 & UINT32_MAX));
}

/* a·b modulo 2^128: the cross terms reach the high half only. */
static inline qp_i128 qp_i128_mul(qp_i128 a, int64_t b)
{
    qp_i128 wide_b = qp_i128_from_i64(b);
    qp_i128 p = qp_u64_mul(a.low, wide_b.low);
    p.high += a.high * wide_b.low + a.low * wide_b.high;
    return p;
}

static inline qp_i128 qp_i128_mul_i64(int64_t a, int64_t b)
{
    return qp_i128_mul(qp_i128_from_i64(a), b);
}

static inline int qp_i128_compare(qp_i128 a, qp_i128 b)
{
    uint64_t sign = 0x8000000000000000u;
    uint64_t ah = a.high ^ sign, bh = b.high ^ sign;
    if (ah != bh)
        return ah > bh ? 1 : -1;
    return (a.low > b.low) - (a.low < b.low);
}

static inline qp_i128 qp_i128_shift_right(qp_i128 a, unsigned shift)
{
    uint64_t fill = a.high >> 63 ? UINT64_MAX : 0;
    if (shift == 0)
        return a;
    if (shift < 64)
        return qp_i128_from_bits(a.high >> shift | fill << (64 - shift),
                                 a.low >> shift | a.high << (64 - shift));
    if (shift == 64)
        return qp_i128_from_bits(fill, a.high);
    return qp_i128_from_bits(fill, a.high >> (shift - 64) | fill << (128 - shift));
}

static inline qp_i128 qp_i128_shift_left(qp_i128 a, unsigned shift)
{
    if (shift == 0)
        return a;
    if (shift < 64)
        return qp_i128_from_bits(a.high << shift | a.low >> (64 - shift), a.low << shift);
    return qp_i128_from_bits(a.low << (shift - 64), 0);
}

#endif

static inline bool qp_i128_negative(qp_i128 v)
{
    return qp_i128_high(v) >> 63;
}

static inline qp_i128 qp_i128_negate(qp_i128 v)
{
    return qp_i128_sub(qp_i128_from_i64(0), v);
}

static inline bool qp_i128_fits_i64(qp_i128 v)
{
    return qp_i128_high(v) == (qp_i128_low(v) >> 63 ? UINT64_MAX : 0);
}

/* The value of one that fits i64. */
static inline int64_t qp_i128_to_i64(qp_i128 v)
{
    return qp_i64_from_bits(qp_i128_low(v));
}

static inline qp_i128 qp_i128_min(qp_i128 a, qp_i128 b)
{
    return qp_i128_compare(a, b) <= 0 ? a : b;
}

static inline qp_i128 qp_i128_max(qp_i128 a, qp_i128 b)
{
    return qp_i128_compare(a, b) >= 0 ? a : b;
}

/* Bits of |v|: 0 for 0, at most 128. */
unsigned qp_i128_bit_length(qp_i128 v);

/* a / b for a >= 0 and b >= 1: the quotient, and the remainder when it is asked for. */
qp_i128 qp_i128_divide(qp_i128 a, uint64_t b, uint64_t *remainder);

/* isqrt(v) (section 2) for v >= 0: at most floor(sqrt(2^127 - 1)) < 2^64. */
uint64_t qp_i128_isqrt(qp_i128 v);

#endif
