/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_encode_scalar.h - the encoders of gguf_encode.inc for one block at a time, in numbers of
 * plain C: the reference that the vectors of every gguf_encode_ISA.c must equal.
 */
#ifndef QP_TEST_FORMAT_GGUF_ENCODE_SCALAR_H
#define QP_TEST_FORMAT_GGUF_ENCODE_SCALAR_H

#include "format/gguf_encode.h"
#include "number/minifloat.h"

#include <math.h>

#define QP_REALS static inline
#define QP_WIDTH 1
#define QP_SET gguf_encoders_scalar
#define QP_SET_NAME "scalar"
#define QP_SET_CPU 0

typedef float reals;
typedef bool reals_mask;

QP_REALS reals reals_of(float value)
{
    return value;
}

QP_REALS reals_mask reals_less(reals a, reals b)
{
    return a < b;
}

QP_REALS reals reals_if(reals_mask mask, reals a, reals b)
{
    return mask ? a : b;
}

QP_REALS reals_mask reals_and(reals_mask a, reals_mask b)
{
    return a && b;
}

QP_REALS bool reals_any(reals_mask mask)
{
    return mask;
}

QP_REALS reals reals_min(reals a, reals b)
{
    return a < b ? a : b;
}

QP_REALS reals reals_max(reals a, reals b)
{
    return b < a ? a : b;
}

QP_REALS reals reals_abs(reals a)
{
    return qp_float_of_bits(qp_bits_of_float(a) & 0x7FFFFFFFu);
}

QP_REALS reals reals_half(reals a)
{
    return qp_float_of_bits(qp_f16_to_f32_bits(qp_f16_from_f32_bits(qp_bits_of_float(a))));
}

QP_REALS void reals_store(float *to, reals a)
{
    *to = a;
}

QP_REALS void reals_store_bytes(uint8_t *to, reals a)
{
    *to = (uint8_t)((int)a & 255);
}

QP_REALS reals reals_lookup(const float table[16], reals index)
{
    return table[(int)index];
}

QP_REALS void reals_gather(const float *const *blocks, size_t count, reals *values)
{
    memcpy(values, blocks[0], count * sizeof *values);
}

#include "format/gguf_encode.inc"

#endif
