/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_encode_plain.c - four blocks at a time, in plain C with the compiler's vectors, which it
 * makes of whatever the machine has: SSE2, NEON, or one number after the other.
 *
 * The functions of every gguf_encode_ISA.c are these.
 */
#include "format/gguf_encode.h"
#include "number/minifloat.h"

#include <math.h>

#define QP_REALS __attribute__((always_inline)) static inline
#define QP_WIDTH 4
#define QP_SET qp_gguf_encoders_plain
#define QP_SET_NAME "plain"
#define QP_SET_CPU 0

/* A number of each block, with the operators of C; and a condition of each, all ones or zero. */
typedef float reals __attribute__((vector_size(16)));
typedef int32_t reals_mask __attribute__((vector_size(16)));

QP_REALS reals reals_of(float value)
{
    return (reals){value, value, value, value};
}

QP_REALS reals_mask reals_less(reals a, reals b)
{
    return a < b;
}

QP_REALS reals reals_if(reals_mask mask, reals a, reals b)
{
    return (reals)(((reals_mask)a & mask) | ((reals_mask)b & ~mask));
}

QP_REALS reals_mask reals_and(reals_mask a, reals_mask b)
{
    return a & b;
}

QP_REALS bool reals_any(reals_mask mask)
{
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

QP_REALS reals reals_min(reals a, reals b)
{
    return reals_if(a < b, a, b);
}

QP_REALS reals reals_max(reals a, reals b)
{
    return reals_if(b < a, a, b);
}

QP_REALS reals reals_abs(reals a)
{
    return (reals)((reals_mask)a & INT32_MAX);
}

/* To the nearest binary16, ties to even, as binary32. */
QP_REALS reals reals_half(reals a)
{
    for (int l = 0; l < QP_WIDTH; l++)
        a[l] = qp_float_of_bits(qp_f16_to_f32_bits(qp_f16_from_f32_bits(qp_bits_of_float(a[l]))));
    return a;
}

QP_REALS void reals_store(float *to, reals a)
{
    memcpy(to, &a, sizeof a);
}

/* The low eight bits of integers. */
QP_REALS void reals_store_bytes(uint8_t *to, reals a)
{
    for (int l = 0; l < QP_WIDTH; l++)
        to[l] = (uint8_t)((int32_t)a[l] & 255);
}

/* Entry `index` of sixteen. */
QP_REALS reals reals_lookup(const float table[16], reals index)
{
    for (int l = 0; l < QP_WIDTH; l++)
        index[l] = table[(int)index[l]];
    return index;
}

/* The first `count` values, a multiple of four, of each block: value i of block l becomes lane l of
 * values[i]. */
QP_REALS void reals_gather(const float *const *blocks, size_t count, reals *values)
{
    for (size_t i = 0; i < count; i++)
        for (int l = 0; l < QP_WIDTH; l++)
            values[i][l] = blocks[l][i];
}

#include "format/gguf_encode.inc"
