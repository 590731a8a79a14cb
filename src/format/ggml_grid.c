/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml_grid.c - blocks of 256 values whose codes name points of a grid, with signs beside them
 * (ggml-blocks.md section 3.3).
 *
 * A block is eight sub-blocks s of four eights l: eight values y[32s + 8l + j] at a time. The
 * factor (0.5 + n) is formed first, then d times it, then the power of two.
 */
#include "format/ggml_blocks.h"

static float sign_of(uint32_t mask, unsigned j)
{
    return qp_ggml_bits(mask, j, 1) != 0 ? -1.0f : 1.0f;
}

/* db * grid[j] * sign(mask, j) for an eight. */
static void put_eight(float *y, float db, const uint8_t *grid, uint32_t mask)
{
    for (unsigned j = 0; j < 8; j++)
        y[j] = db * (float)grid[j] * sign_of(mask, j);
}

/* The same of two fours: coordinates 0 to 3 of each. */
static void put_two_fours(float *y, float db, const uint8_t *const grids[2], uint32_t mask)
{
    for (unsigned j = 0; j < 8; j++)
        y[j] = db * (float)grids[j / 4][j % 4] * sign_of(mask, j);
}

void qp_ggml_decode_iq2_xxs(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned s = 0; s < 8; s++) {
        uint32_t a = qp_load_u32(block + 2 + 8 * s + 4);
        float db = d * (0.5f + (float)qp_ggml_bits(a, 28, 4)) * 0.25f;
        for (unsigned l = 0; l < 4; l++)
            put_eight(y + 32 * s + 8 * l, db, qp_iq2xxs_grid[block[2 + 8 * s + l]],
                      qp_ksigns_iq2xs[qp_ggml_bits(a, 7 * l, 7)]);
    }
}

void qp_ggml_decode_iq2_xs(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned s = 0; s < 8; s++) {
        for (unsigned l = 0; l < 4; l++) {
            uint32_t q = qp_load_u16(block + 2 + 8 * s + 2 * l);
            float db = d * (0.5f + (float)qp_ggml_bits(block[66 + s], 4 * (l / 2), 4)) * 0.25f;
            put_eight(y + 32 * s + 8 * l, db, qp_iq2xs_grid[qp_ggml_bits(q, 0, 9)],
                      qp_ksigns_iq2xs[qp_ggml_bits(q, 9, 7)]);
        }
    }
}

void qp_ggml_decode_iq2_s(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned s = 0; s < 8; s++) {
        for (unsigned l = 0; l < 4; l++) {
            uint32_t entry = block[2 + 4 * s + l] | qp_ggml_bits(block[66 + s], 2 * l, 2) << 8;
            float db = d * (0.5f + (float)qp_ggml_bits(block[74 + s], 4 * (l / 2), 4)) * 0.25f;
            put_eight(y + 32 * s + 8 * l, db, qp_iq2s_grid[entry], block[34 + 4 * s + l]);
        }
    }
}

void qp_ggml_decode_iq3_xxs(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned s = 0; s < 8; s++) {
        uint32_t a = qp_load_u32(block + 66 + 4 * s);
        float db = d * (0.5f + (float)qp_ggml_bits(a, 28, 4)) * 0.5f;
        for (unsigned l = 0; l < 4; l++) {
            const uint8_t *entries = block + 2 + 8 * s + 2 * l;
            const uint8_t *const grids[2] = {qp_iq3xxs_grid[entries[0]],
                                             qp_iq3xxs_grid[entries[1]]};
            put_two_fours(y + 32 * s + 8 * l, db, grids,
                          qp_ksigns_iq2xs[qp_ggml_bits(a, 7 * l, 7)]);
        }
    }
}

/* v counts the fours of a sub-block. */
static const uint8_t *iq3_s_four(const uint8_t *block, unsigned s, unsigned v)
{
    return qp_iq3s_grid[block[2 + 8 * s + v] | qp_ggml_bits(block[66 + s], v, 1) << 8];
}

void qp_ggml_decode_iq3_s(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned s = 0; s < 8; s++) {
        float db = d * (float)(1 + 2 * qp_ggml_bits(block[106 + s / 2], 4 * (s % 2), 4));
        for (unsigned l = 0; l < 4; l++) {
            const uint8_t *const grids[2] = {iq3_s_four(block, s, 2 * l),
                                             iq3_s_four(block, s, 2 * l + 1)};
            put_two_fours(y + 32 * s + 8 * l, db, grids, block[74 + 4 * s + l]);
        }
    }
}

/* dl * (grid[j] + delta): the sum is exact. */
static void put_ternary_eight(float *y, float dl, const int8_t *grid, float delta)
{
    for (unsigned j = 0; j < 8; j++)
        y[j] = dl * ((float)grid[j] + delta);
}

void qp_ggml_decode_iq1_s(const uint8_t *block, float *y)
{
    float d = qp_ggml_half(block);
    for (unsigned s = 0; s < 8; s++) {
        uint32_t q = qp_load_u16(block + 34 + 2 * s);
        float dl = d * (float)(2 * qp_ggml_bits(q, 12, 3) + 1);
        float delta = qp_ggml_bits(q, 15, 1) != 0 ? -qp_iq1_delta : qp_iq1_delta;
        for (unsigned l = 0; l < 4; l++) {
            uint32_t entry = block[2 + 4 * s + l] | qp_ggml_bits(q, 3 * l, 3) << 8;
            put_ternary_eight(y + 32 * s + 8 * l, dl, qp_iq1s_grid[entry], delta);
        }
    }
}

uint16_t qp_ggml_iq1_m_scale(const uint8_t *block)
{
    uint32_t word = 0;
    for (unsigned k = 0; k < 4; k++)
        word |= qp_ggml_bits(qp_load_u16(block + 48 + 2 * k), 12, 4) << 4 * k;
    return (uint16_t)word;
}

void qp_ggml_decode_iq1_m(const uint8_t *block, float *y)
{
    float d = qp_float_of_bits(qp_f16_to_f32_bits(qp_ggml_iq1_m_scale(block)));
    for (unsigned s = 0; s < 8; s++) {
        uint32_t scales = qp_load_u16(block + 48 + 2 * (s / 2));
        for (unsigned l = 0; l < 4; l++) {
            uint32_t scale = qp_ggml_bits(scales, 6 * (s % 2) + 3 * (l / 2), 3);
            float dl = d * (float)(2 * scale + 1);
            uint32_t t = qp_ggml_bits(block[32 + 2 * s + l / 2], 4 * (l % 2), 4);
            float delta = qp_ggml_bits(t, 3, 1) != 0 ? -qp_iq1_delta : qp_iq1_delta;
            uint32_t entry = block[4 * s + l] | qp_ggml_bits(t, 0, 3) << 8;
            put_ternary_eight(y + 32 * s + 8 * l, dl, qp_iq1s_grid[entry], delta);
        }
    }
}
