/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml_simple.c - blocks of codes that one scale multiplies (ggml-blocks.md section 3.1).
 */
#include "format/ggml_blocks.h"

/* An integer of a few bits as a binary32 value, which is exact. */
static float value_of(uint32_t code, int offset)
{
    return (float)((int)code - offset);
}

void qp_ggml_decode_q4_0(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned j = 0; j < 16; j++) {
        y[j] = value_of(block[2 + j] & 15u, 8) * d;
        y[j + 16] = value_of(block[2 + j] >> 4, 8) * d;
    }
}

void qp_ggml_decode_q5_0(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    uint32_t qh = qp_load_u32(block + 2);
    for (unsigned j = 0; j < 16; j++) {
        uint32_t low = block[6 + j];
        y[j] = value_of(qp_ggml_bits(low, 0, 4) | qp_ggml_bits(qh, j, 1) << 4, 16) * d;
        y[j + 16] = value_of(qp_ggml_bits(low, 4, 4) | qp_ggml_bits(qh, j + 16, 1) << 4, 16) * d;
    }
}

void qp_ggml_decode_q8_0(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned j = 0; j < 32; j++)
        y[j] = (float)qp_load_i8(block + 2 + j) * d;
}

void qp_ggml_decode_q2_0(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned j = 0; j < 64; j++)
        y[j] = value_of(qp_ggml_bits(block[2 + j / 4], 2 * (j % 4), 2), 1) * d;
}

void qp_ggml_decode_iq4_nl(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned j = 0; j < 16; j++) {
        y[j] = d * (float)qp_kvalues_iq4nl[block[2 + j] & 15u];
        y[j + 16] = d * (float)qp_kvalues_iq4nl[block[2 + j] >> 4];
    }
}
