/* SPDX-License-Identifier: Apache-2.0 */
/* i128.c - the two functions of i128.h that need a loop. */
#include "number/i128.h"

#include <stddef.h>

unsigned qp_i128_bit_length(qp_i128 v)
{
    qp_i128 magnitude = qp_i128_negative(v) ? qp_i128_negate(v) : v;
    uint64_t high = qp_i128_high(magnitude), low = qp_i128_low(magnitude);
    unsigned bits = high != 0 ? 64 : 0;
    for (uint64_t rest = high != 0 ? high : low; rest != 0; rest >>= 1)
        bits++;
    return bits;
}

qp_i128 qp_i128_divide(qp_i128 a, uint64_t b, uint64_t *remainder)
{
    uint64_t high = qp_i128_high(a), low = qp_i128_low(a);
    uint64_t quotient_high = high / b;
    uint64_t rest = high % b; /* below b throughout */
    uint64_t quotient_low = 0;

    if (rest == 0) {
        quotient_low = low / b;
        rest = low % b;
    } else {
        for (int bit = 63; bit >= 0; bit--) {
            uint64_t carry = rest >> 63;
            rest = rest << 1 | (low >> bit & 1);
            quotient_low <<= 1;
            /* with the carry the remainder is rest + 2^64 >= b; the difference fits 64 bits */
            if (carry || rest >= b) {
                rest -= b;
                quotient_low |= 1;
            }
        }
    }
    if (remainder != NULL)
        *remainder = rest;
    return qp_i128_from_bits(quotient_high, quotient_low);
}

/*
 * The digit-by-digit square root: `root` grows by one bit a step, and `rest` = v - root² stays at
 * least 0. No value passes the operand, so 128 bits hold all of them.
 */
uint64_t qp_i128_isqrt(qp_i128 v)
{
    qp_i128 rest = v;
    qp_i128 root = qp_i128_from_i64(0); /* the root so far, scaled by 2·bit */
    qp_i128 bit = qp_i128_from_bits(0x4000000000000000u, 0);

    while (qp_i128_compare(bit, v) > 0 && qp_i128_compare(bit, qp_i128_from_i64(1)) > 0)
        bit = qp_i128_shift_right(bit, 2);
    while (qp_i128_high(bit) != 0 || qp_i128_low(bit) != 0) {
        qp_i128 trial = qp_i128_add(root, bit);
        root = qp_i128_shift_right(root, 1);
        if (qp_i128_compare(rest, trial) >= 0) {
            rest = qp_i128_sub(rest, trial);
            root = qp_i128_add(root, bit);
        }
        bit = qp_i128_shift_right(bit, 2);
    }
    return qp_i128_low(root);
}
