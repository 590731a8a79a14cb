/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minifloat.h - binary16, bfloat16, E4M3FN and E2M1 to binary32 and back, on bit patterns.
 *
 * Widening is exact and keeps signs of zero, subnormals and NaN payloads. Narrowing rounds to
 * nearest, ties to even. Only integers are computed with, so no floating-point mode or flag
 * matters.
 */
#ifndef QP_NUMBER_MINIFLOAT_H
#define QP_NUMBER_MINIFLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t qp_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float qp_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline bool qp_f32_bits_finite(uint32_t bits)
{
    return (bits & 0x7F800000u) != 0x7F800000u;
}

static inline uint32_t qp_bf16_to_f32_bits(uint16_t word)
{
    return (uint32_t)word << 16;
}

/* A NaN keeps its sign and the top seven bits of its fraction, with the quiet bit set
 * (artifact-container.md section 9.2). */
static inline uint16_t qp_bf16_from_f32_bits(uint32_t bits)
{
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(bits >> 16 | 0x0040u);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

/* A NaN keeps its payload in the top bits, the quiet bit as it is. */
static inline uint32_t qp_f16_to_f32_bits(uint16_t word)
{
    uint32_t sign = (uint32_t)(word & 0x8000u) << 16;
    uint32_t exponent = word >> 10 & 0x1Fu;
    uint32_t fraction = word & 0x3FFu;

    if (exponent == 0x1F)
        return sign | 0x7F800000u | fraction << 13;
    if (exponent != 0)
        return sign | (exponent + 112) << 23 | fraction << 13;
    if (fraction == 0)
        return sign;
    uint32_t shift = 0; /* a subnormal: fraction · 2^-24, made normal */
    while ((fraction & 0x400u) == 0) {
        fraction <<= 1;
        shift++;
    }
    return sign | (113 - shift) << 23 | (fraction & 0x3FFu) << 13;
}

/* A magnitude of 65520 or more becomes infinity; a NaN becomes a quiet one with its top bits. */
static inline uint16_t qp_f16_from_f32_bits(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;

    if (magnitude > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u | (magnitude >> 13 & 0x3FFu));
    if (magnitude >= 0x477FF000u) /* 65520 */
        return (uint16_t)(sign | 0x7C00u);
    if (magnitude >= 0x38800000u) { /* 2^-14: a normal result */
        uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u);
        return (uint16_t)(sign | ((rounded >> 13) - (112u << 10)));
    }
    if (magnitude <= 0x33000000u) /* 2^-25: a tie with zero, or less */
        return (uint16_t)sign;
    uint32_t shift = 126 - (magnitude >> 23); /* in 14..24: units of 2^-24 */
    uint32_t fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
    uint32_t whole = fraction >> shift;
    uint32_t rest = fraction & ((1u << shift) - 1);
    uint32_t half = 1u << (shift - 1);
    whole += rest > half || (rest == half && (whole & 1u) != 0);
    return (uint16_t)(sign | whole);
}

/* tensor-formats.md section 3.3; 0x7f and 0xff are NaN, without a payload. */
static inline uint32_t qp_e4m3_to_f32_bits(uint8_t word)
{
    uint32_t sign = (uint32_t)(word & 0x80u) << 24;
    uint32_t exponent = word >> 3 & 0xFu;
    uint32_t fraction = word & 7u;

    if ((word & 0x7Fu) == 0x7F)
        return sign | 0x7FC00000u;
    if (exponent != 0)
        return sign | (exponent + 120) << 23 | fraction << 20;
    if (fraction == 0)
        return sign;
    uint32_t shift = 0; /* a subnormal: fraction · 2^-9 */
    while ((fraction & 8u) == 0) {
        fraction <<= 1;
        shift++;
    }
    return sign | (121 - shift) << 23 | (fraction & 7u) << 20;
}

/* Magnitudes over 448 saturate to 448 (0x7e); a NaN becomes 0x7f with its sign. */
static inline uint8_t qp_e4m3_from_f32_bits(uint32_t bits)
{
    uint32_t sign = bits >> 24 & 0x80u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;

    if (magnitude > 0x7F800000u)
        return (uint8_t)(sign | 0x7Fu);
    if (magnitude >= 0x43E00000u) /* 448 */
        return (uint8_t)(sign | 0x7Eu);
    if (magnitude >= 0x3C800000u) { /* 2^-6: a normal result */
        uint32_t rounded = magnitude + 0x7FFFFu + (magnitude >> 20 & 1u);
        return (uint8_t)(sign | ((rounded >> 20) - (120u << 3)));
    }
    if (magnitude <= 0x3A800000u) /* 2^-10: a tie with zero, or less */
        return (uint8_t)sign;
    uint32_t shift = 141 - (magnitude >> 23); /* in 21..24: units of 2^-9 */
    uint32_t fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
    uint32_t whole = fraction >> shift;
    uint32_t rest = fraction & ((1u << shift) - 1);
    uint32_t half = 1u << (shift - 1);
    whole += rest > half || (rest == half && (whole & 1u) != 0);
    return (uint8_t)(sign | whole);
}

/* The low four bits of `word`: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. */
static inline uint32_t qp_e2m1_to_f32_bits(uint8_t word)
{
    uint32_t sign = (uint32_t)(word & 8u) << 28;
    uint32_t exponent = word >> 1 & 3u;
    uint32_t fraction = word & 1u;

    if (exponent != 0)
        return sign | (exponent + 126) << 23 | fraction << 22;
    return fraction != 0 ? sign | 0x3F000000u : sign;
}

/* Magnitudes over 6 saturate to 6; NaN is the caller's to refuse (it gives 7 with its sign). */
static inline uint8_t qp_e2m1_from_f32_bits(uint32_t bits)
{
    /* the ties between neighbours, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5 and 5, go to the even word: an
     * even word takes both of its ties, so below an even word the next begins above the tie */
    static const uint32_t begins[7] = {0x3E800001u, 0x3F400000u, 0x3FA00001u, 0x3FE00000u,
                                       0x40200001u, 0x40600000u, 0x40A00001u};
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint8_t code = 0;
    for (unsigned i = 0; i < 7; i++)
        code = (uint8_t)(code + (magnitude >= begins[i]));
    return (uint8_t)(code | (bits >> 28 & 8u));
}

#endif
