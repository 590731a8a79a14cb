/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml_blocks.c - what the gguf_* formats share: rows of blocks, and the scale words that must be
 * finite (ggml-blocks.md sections 1 and 2).
 */
#include "format/ggml_blocks.h"

static uint64_t code_row_bytes(const qp_format *format, uint64_t columns)
{
    return columns / format->group * format->group_bytes;
}

static uint64_t scale_row_bytes(const qp_format *format, uint64_t columns)
{
    (void)format;
    (void)columns;
    return 0;
}

static qp_word_fault check(const qp_format *format, const qp_word_row *row, uint64_t columns)
{
    for (uint64_t b = 0; b < columns / format->group; b++)
        if (!format->rules->finite_block(row->codes + b * format->group_bytes))
            return (qp_word_fault){"scale_invalid", qp_to_i64(b * format->group),
                                   "a block with a scale that is not finite"};
    return (qp_word_fault){NULL, -1, NULL};
}

static void decode(const qp_format *format, const qp_word_row *row, uint64_t columns, float *values)
{
    for (uint64_t b = 0; b < columns / format->group; b++)
        format->rules->decode_block(row->codes + b * format->group_bytes,
                                    values + b * format->group);
}

static bool finite(uint16_t word)
{
    return (word & 0x7C00u) != 0x7C00u;
}

#define FINITE_ONE(offset)                                                                         \
    static bool finite_d_##offset(const uint8_t *block)                                            \
    {                                                                                              \
        return finite(qp_load_u16(block + (offset)));                                              \
    }
#define FINITE_TWO(first, second)                                                                  \
    static bool finite_d_##first##_##second(const uint8_t *block)                                  \
    {                                                                                              \
        return finite(qp_load_u16(block + (first))) && finite(qp_load_u16(block + (second)));      \
    }

FINITE_ONE(0)
FINITE_ONE(108)
FINITE_ONE(208)
FINITE_TWO(0, 2)
FINITE_TWO(80, 82)

static bool finite_iq1_m(const uint8_t *block)
{
    return finite(qp_ggml_iq1_m_scale(block));
}

#define QP_ROW(name, type, values, bytes, scales, summary)                                         \
    const struct qp_format_rules qp_ggml_##name##_rules = {                                        \
        code_row_bytes, scale_row_bytes, check, decode, qp_ggml_decode_##name, finite_##scales, 0, \
    };
QP_GGML_BLOCKS(QP_ROW)
#undef QP_ROW
