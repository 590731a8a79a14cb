/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_plain.h - 32 codes and what kernels do with them, in plain C that compilers vectorise for
 * whatever machine they build for. The functions of every lanes_*.h are these.
 */
#ifndef QP_FORMAT_LANES_PLAIN_H
#define QP_FORMAT_LANES_PLAIN_H

#include "format/kernels.h"
#include "number/minifloat.h"

#include <string.h>

#define QP_LANES static inline
#define QP_RUN static
#define QP_ISA_NAME "portable"
#define QP_ISA_CPU 0
#define QP_ISA_TABLE qp_kernels_portable

typedef struct lanes {
    uint8_t at[32];
} lanes;

/* A binary16 word. */
QP_LANES float half(const uint8_t *p)
{
    return qp_float_of_bits(qp_f16_to_f32_bits(qp_load_u16(p)));
}

/* A word whose bytes lie in memory with the low one first. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
QP_LANES uint16_t little_16(uint16_t word)
{
    return word;
}

QP_LANES uint32_t little_32(uint32_t word)
{
    return word;
}
#else
QP_LANES uint16_t little_16(uint16_t word)
{
    const uint8_t bytes[2] = {(uint8_t)(word & 255), (uint8_t)(word >> 8)};
    memcpy(&word, bytes, sizeof word);
    return word;
}

QP_LANES uint32_t little_32(uint32_t word)
{
    const uint8_t bytes[4] = {(uint8_t)(word & 255), (uint8_t)(word >> 8 & 255),
                              (uint8_t)(word >> 16 & 255), (uint8_t)(word >> 24)};
    memcpy(&word, bytes, sizeof word);
    return word;
}
#endif

/* ---- bytes to lanes ----------------------------------------------------------------------- */

QP_LANES lanes lanes_load(const uint8_t *p)
{
    lanes a;
    memcpy(a.at, p, sizeof a.at);
    return a;
}

/* Every lane the byte, in two's complement. */
QP_LANES lanes lanes_fill(int byte)
{
    lanes a;
    memset(a.at, byte & 255, sizeof a.at);
    return a;
}

/* 16 bytes: the low four bits of each, then the high four bits of each. */
QP_LANES lanes lanes_halves(const uint8_t *p)
{
    lanes a;
    for (int i = 0; i < 16; i++) {
        a.at[i] = p[i] & 15;
        a.at[i + 16] = p[i] >> 4;
    }
    return a;
}

/* 16 bytes: the low four bits, then the high four bits, byte after byte. */
QP_LANES lanes lanes_pairs(const uint8_t *p)
{
    lanes a;
    uint16_t words[16];
    for (int i = 0; i < 16; i++)
        words[i] = little_16((uint16_t)((p[i] & 15u) | (uint32_t)(p[i] >> 4) << 8));
    memcpy(a.at, words, sizeof a.at);
    return a;
}

/* 8 bytes: four fields of two bits, the low ones first, byte after byte. */
QP_LANES lanes lanes_quarters(const uint8_t *p)
{
    lanes a;
    uint32_t words[8];
    for (int i = 0; i < 8; i++) {
        uint32_t twice = p[i] | (uint32_t)p[i] << 12;
        words[i] = little_32((twice | twice << 6) & 0x03030303u);
    }
    memcpy(a.at, words, sizeof a.at);
    return a;
}

/* Lane i all ones where bit i is set, else zero. */
QP_LANES lanes lanes_mask(uint32_t bits)
{
    lanes a;
    uint32_t words[8];
    for (int i = 0; i < 8; i++) {
        uint32_t four = bits >> 4 * i & 15; /* bit k goes to bit 8k */
        four |= four << 7;
        four = (four | four << 14) & 0x01010101u;
        words[i] = little_32(four * 255);
    }
    memcpy(a.at, words, sizeof a.at);
    return a;
}

/* Four entries of eight bytes. */
QP_LANES lanes lanes_join_4(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d)
{
    lanes all;
    memcpy(all.at, a, 8);
    memcpy(all.at + 8, b, 8);
    memcpy(all.at + 16, c, 8);
    memcpy(all.at + 24, d, 8);
    return all;
}

/* Eight entries of four bytes. */
QP_LANES lanes lanes_join_8(const uint8_t *const entries[8])
{
    lanes all;
    for (int i = 0; i < 8; i++)
        memcpy(all.at + 4 * i, entries[i], 4);
    return all;
}

/* ---- lanes to lanes ----------------------------------------------------------------------- */

#define QP_EACH_LANE(name, expression)                                                             \
    QP_LANES lanes name(lanes a, lanes b)                                                          \
    {                                                                                              \
        for (int i = 0; i < 32; i++)                                                               \
            a.at[i] = (uint8_t)(expression);                                                       \
        return a;                                                                                  \
    }

QP_EACH_LANE(lanes_and, a.at[i] & b.at[i])
QP_EACH_LANE(lanes_or, a.at[i] | b.at[i])
QP_EACH_LANE(lanes_xor, a.at[i] ^ b.at[i])
QP_EACH_LANE(lanes_add, a.at[i] + b.at[i])
QP_EACH_LANE(lanes_subtract, a.at[i] - b.at[i])

/* `bits` bits from bit `from` of each lane, moved to bit `to`. */
QP_LANES lanes lanes_field(lanes a, int from, int to, int bits)
{
    for (int i = 0; i < 32; i++)
        a.at[i] = (uint8_t)((a.at[i] >> from & ((1 << bits) - 1)) << to);
    return a;
}

/* Codes below 16 to their entries. */
QP_LANES lanes lanes_lookup(const int8_t table[16], lanes codes)
{
    for (int i = 0; i < 32; i++)
        codes.at[i] = (uint8_t)table[codes.at[i]];
    return codes;
}

/* ---- lanes to values: each lane a signed byte ----------------------------------------------- */

QP_LANES float signed_lane(uint8_t lane)
{
    return (float)((lane ^ 128) - 128);
}

QP_LANES void lanes_put(float *out, lanes codes, float scale)
{
    for (int i = 0; i < 32; i++)
        out[i] = scale * signed_lane(codes.at[i]);
}

/* The first 16 lanes have a scale of their own, and so have the others. */
QP_LANES void lanes_put_2(float *out, lanes codes, const float scales[2])
{
    for (int h = 0; h < 2; h++)
        for (int i = 16 * h; i < 16 * h + 16; i++)
            out[i] = scales[h] * signed_lane(codes.at[i]);
}

/* Likewise, less a minimum. */
QP_LANES void lanes_put_2_less(float *out, lanes codes, const float scales[2],
                               const float minima[2])
{
    for (int h = 0; h < 2; h++)
        for (int i = 16 * h; i < 16 * h + 16; i++)
            out[i] = scales[h] * signed_lane(codes.at[i]) - minima[h];
}

/* ---- 32 words to values ------------------------------------------------------------------- */

QP_LANES void put_bf16(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i++) {
        uint32_t bits = (uint32_t)qp_load_u16(words + 2 * i) << 16;
        memcpy(out + i, &bits, sizeof bits);
    }
}

QP_LANES void put_int32(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i++)
        out[i] = (float)qp_load_i32(words + 4 * i);
}

/* E4M3FN codes times a scale. A code's fields are moved to their place in a binary32 word, the
 * exponent's bias corrected. A subnormal code takes the exponent 1, and its leading one is taken
 * off again: exact, and no slower. */
QP_LANES void put_e4m3(float *out, const uint8_t *codes, float scale)
{
    for (int i = 0; i < 32; i++) {
        uint32_t code = codes[i];
        uint32_t small = (code & 0x78u) == 0 ? 1 : 0;
        float magnitude = qp_float_of_bits(((code & 0x7Fu) << 20) + ((120u + small) << 23));
        magnitude -= qp_float_of_bits((0u - small) & 0x3C800000u); /* 2^-6 */
        uint32_t bits = qp_bits_of_float(magnitude) | (code & 0x80u) << 24;
        out[i] = qp_float_of_bits(bits) * scale;
    }
}

/* 16 E2M1 codes, two a byte, to the values of their magnitudes. */
QP_LANES void put_e2m1(float *out, const uint8_t *codes, const float values[8])
{
    for (int i = 0; i < 16; i++) {
        uint32_t code = codes[i / 2] >> 4 * (i % 2) & 15u;
        uint32_t bits = qp_bits_of_float(values[code & 7]) | (code & 8) << 28;
        out[i] = qp_float_of_bits(bits);
    }
}

#endif
