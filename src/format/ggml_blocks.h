/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml_blocks.h - the eighteen block types (ggml-blocks.md sections 2 to 4): their list, their
 * decoders, and the tables of the grid types.
 */
#ifndef QP_FORMAT_GGML_BLOCKS_H
#define QP_FORMAT_GGML_BLOCKS_H

#include "format/format.h"
#include "number/minifloat.h"

/* name, ggml's type id, values and bytes of a block, where its scale words lie, a summary */
#define QP_GGML_BLOCKS(ROW)                                                                        \
    ROW(q8_0, 8, 32, 34, d_0, "8-bit codes, a scale for 32")                                       \
    ROW(q4_0, 2, 32, 18, d_0, "4-bit codes, a scale for 32")                                       \
    ROW(q5_0, 6, 32, 22, d_0, "5-bit codes, a scale for 32")                                       \
    ROW(q2_0, 42, 64, 18, d_0, "2-bit codes -1 to 2, a scale for 64")                              \
    ROW(q2_k, 10, 256, 84, d_80_82, "2-bit codes, scales and minima for 16")                       \
    ROW(q3_k, 11, 256, 110, d_108, "3-bit codes, scales for 16")                                   \
    ROW(q4_k, 12, 256, 144, d_0_2, "4-bit codes, scales and minima for 32")                        \
    ROW(q5_k, 13, 256, 176, d_0_2, "5-bit codes, scales and minima for 32")                        \
    ROW(q6_k, 14, 256, 210, d_208, "6-bit codes, scales for 16")                                   \
    ROW(iq2_xxs, 16, 256, 66, d_0, "eights of 256 points, scales for 32")                          \
    ROW(iq2_xs, 17, 256, 74, d_0, "eights of 512 points, scales for 16")                           \
    ROW(iq3_xxs, 18, 256, 98, d_0, "fours of 256 points, scales for 32")                           \
    ROW(iq1_s, 19, 256, 50, d_0, "ternary eights of 2048, scales for 32")                          \
    ROW(iq4_nl, 20, 32, 18, d_0, "16 uneven levels, a scale for 32")                               \
    ROW(iq3_s, 21, 256, 110, d_0, "fours of 512 points, scales for 32")                            \
    ROW(iq2_s, 22, 256, 82, d_0, "eights of 1024 points, scales for 16")                           \
    ROW(iq4_xs, 23, 256, 136, d_0, "16 uneven levels, scales for 32")                              \
    ROW(iq1_m, 29, 256, 56, iq1_m, "ternary eights of 2048, scales for 16")

#define QP_ROW(name, type, values, bytes, scales, summary)                                         \
    void qp_ggml_decode_##name(const uint8_t *block, float *y);                                    \
    extern const struct qp_format_rules qp_ggml_##name##_rules;
QP_GGML_BLOCKS(QP_ROW)
#undef QP_ROW

/* ---- fields ------------------------------------------------------------------------------- */

/* h(o) of the text: a binary16 word as the binary32 value that it is. */
static inline float qp_ggml_half(const uint8_t *bytes)
{
    return qp_float_of_bits(qp_f16_to_f32_bits(qp_load_u16(bytes)));
}

/* bits(x, p, n) of the text. */
static inline uint32_t qp_ggml_bits(uint32_t x, unsigned p, unsigned n)
{
    return x >> p & ((1u << n) - 1);
}

/* The binary16 word that IQ1_M assembles from the top nibbles of its four scale words. */
uint16_t qp_ggml_iq1_m_scale(const uint8_t *block);

/* ---- tables (section 4), made by the build from ggml-grids.json ---------------------------- */

extern const uint8_t qp_iq2xxs_grid[256][8];
extern const uint8_t qp_iq2xs_grid[512][8];
extern const uint8_t qp_iq2s_grid[1024][8];
extern const uint8_t qp_iq3xxs_grid[256][4];
extern const uint8_t qp_iq3s_grid[512][4];
extern const int8_t qp_iq1s_grid[2048][8];
extern const uint8_t qp_ksigns_iq2xs[128];
extern const int8_t qp_kvalues_iq4nl[16];
extern const float qp_iq1_delta;

#endif
