/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml_k.c - blocks of 256 values whose scales are themselves small integers times one binary16
 * scale (ggml-blocks.md section 3.2), and IQ4_XS, which is built the same way (section 3.3).
 *
 * The products stand as in the text, left to right: the sign of a zero result depends on it.
 */
#include "format/ggml_blocks.h"

void qp_ggml_decode_q2_k(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block + 80), dmin = qp_ggml_half(block + 82);
    for (unsigned i = 0; i < 256; i++) {
        unsigned n = i / 128, j = i % 128 / 32, l = i % 32;
        uint32_t s = block[8 * n + 2 * j + l / 16];
        uint32_t q = qp_ggml_bits(block[16 + 32 * n + l], 2 * j, 2);
        y[i] = d * (float)qp_ggml_bits(s, 0, 4) * (float)q - dmin * (float)qp_ggml_bits(s, 4, 4);
    }
}

/* sc(k) of Q3_K: its 6-bit scale, less 32. */
static int q3_k_scale(const uint8_t *s, unsigned k)
{
    uint32_t low = k < 8 ? qp_ggml_bits(s[k], 0, 4) : qp_ggml_bits(s[k - 8], 4, 4);
    uint32_t high = qp_ggml_bits(s[8 + k % 4], 2 * (k / 4), 2);
    return (int)(low | high << 4) - 32;
}

void qp_ggml_decode_q3_k(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block + 108);
    for (unsigned i = 0; i < 256; i++) {
        unsigned n = i / 128, j = i % 128 / 32, l = i % 32;
        int high = qp_ggml_bits(block[l], 4 * n + j, 1) != 0 ? 0 : 4;
        int q = (int)qp_ggml_bits(block[32 + 32 * n + l], 2 * j, 2) - high;
        y[i] = d * (float)q3_k_scale(block + 96, 8 * n + 2 * j + l / 16) * (float)q;
    }
}

/* The scale and minimum k of the twelve bytes that Q4_K and Q5_K share. */
typedef struct scale_minimum {
    uint32_t scale, minimum;
} scale_minimum;

static scale_minimum scale_minimum_at(const uint8_t *s, unsigned k)
{
    if (k < 4)
        return (scale_minimum){qp_ggml_bits(s[k], 0, 6), qp_ggml_bits(s[k + 4], 0, 6)};
    return (scale_minimum){
        qp_ggml_bits(s[k + 4], 0, 4) | qp_ggml_bits(s[k - 4], 6, 2) << 4,
        qp_ggml_bits(s[k + 4], 4, 4) | qp_ggml_bits(s[k], 6, 2) << 4,
    };
}

void qp_ggml_decode_q4_k(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block), dmin = qp_ggml_half(block + 2);
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i / 64, t = i % 64 / 32, l = i % 32;
        scale_minimum sm = scale_minimum_at(block + 4, 2 * c + t);
        uint32_t q = qp_ggml_bits(block[16 + 32 * c + l], 4 * t, 4);
        y[i] = d * (float)sm.scale * (float)q - dmin * (float)sm.minimum;
    }
}

void qp_ggml_decode_q5_k(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block), dmin = qp_ggml_half(block + 2);
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i / 64, t = i % 64 / 32, l = i % 32, k = 2 * c + t;
        scale_minimum sm = scale_minimum_at(block + 4, k);
        uint32_t q =
            qp_ggml_bits(block[48 + 32 * c + l], 4 * t, 4) + 16 * qp_ggml_bits(block[16 + l], k, 1);
        y[i] = d * (float)sm.scale * (float)q - dmin * (float)sm.minimum;
    }
}

void qp_ggml_decode_q6_k(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block + 208);
    for (unsigned i = 0; i < 256; i++) {
        unsigned n = i / 128, c = i % 128 / 32, l = i % 32;
        uint32_t low = qp_ggml_bits(block[64 * n + 32 * (c & 1) + l], 4 * (c >> 1), 4);
        uint32_t high = qp_ggml_bits(block[128 + 32 * n + l], 2 * c, 2);
        float scale = d * (float)qp_load_i8(block + 192 + 8 * n + 2 * c + l / 16);
        y[i] = scale * (float)((int)(low | high << 4) - 32);
    }
}

void qp_ggml_decode_iq4_xs(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    uint32_t scales_high = qp_load_u16(block + 2);
    for (unsigned s = 0; s < 8; s++) {
        uint32_t ls = qp_ggml_bits(block[4 + s / 2], 4 * (s % 2), 4) |
                      qp_ggml_bits(scales_high, 2 * s, 2) << 4;
        float dl = d * (float)((int)ls - 32);
        for (unsigned p = 0; p < 16; p++) {
            uint32_t q = block[8 + 16 * s + p];
            y[32 * s + p] = dl * (float)qp_kvalues_iq4nl[q & 15u];
            y[32 * s + 16 + p] = dl * (float)qp_kvalues_iq4nl[q >> 4];
        }
    }
}
