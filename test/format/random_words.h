/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_words.h - valid words of any format, by chance: signs, zeros, subnormals and the ends of
 * every range come up often.
 */
#ifndef QP_TEST_FORMAT_RANDOM_WORDS_H
#define QP_TEST_FORMAT_RANDOM_WORDS_H

#include "format_test.h"

static inline void put_u16(uint8_t *bytes, uint16_t word)
{
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
}

static inline void put_u32(uint8_t *bytes, uint32_t word)
{
    put_u16(bytes, (uint16_t)word);
    put_u16(bytes + 2, (uint16_t)(word >> 16));
}

/* A finite binary16 word. */
static inline uint16_t random_half(uint64_t *seed)
{
    static const uint16_t ends[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF,
                                    0x0400, 0x7BFF, 0xFBFF, 0x3C00};
    if (test_below(seed, 4) == 0)
        return ends[test_below(seed, TEST_COUNT(ends))];
    uint16_t word = (uint16_t)test_random(seed);
    return (word & 0x7C00u) == 0x7C00u ? (uint16_t)(word ^ 0x4000u) : word;
}

static inline void random_grouped_row(const qp_format *format, uint64_t columns, uint8_t *codes,
                                      uint8_t *scales, uint64_t *seed)
{
    bool is_q2 = format->code_max == 2;
    for (uint64_t k = 0; k < columns; k++) {
        uint64_t g = k / format->group;
        if (k % format->group == 0) {
            uint16_t scale = random_half(seed);
            put_u16(scales + 2 * g, scale == 0x8000u && !is_q2 ? 0 : scale);
        }
        bool zero = !is_q2 && qp_load_u16(scales + 2 * g) == 0;
        codes[k] = zero ? 0 : (uint8_t)test_between(seed, format->code_min, format->code_max);
    }
}

static inline void random_fp8_row(uint16_t infinity, uint64_t columns, uint8_t *codes,
                                  uint8_t *scale, uint64_t *seed)
{
    uint16_t word = test_below(seed, 4) == 0 ? 0 : (uint16_t)test_below(seed, infinity);
    put_u16(scale, word);
    for (uint64_t k = 0; k < columns; k++) {
        uint8_t code = (uint8_t)test_random(seed);
        uint8_t sign = code & 0x80u;
        codes[k] = word == 0 || (code & 0x7Fu) == 0x7F ? sign : code;
    }
}

static inline void random_bytes(uint8_t *bytes, uint64_t size, uint64_t *seed)
{
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)test_random(seed);
}

static inline void random_blocks_row(const qp_format *format, uint64_t columns, uint8_t *blocks,
                                     uint64_t *seed)
{
    for (uint64_t b = 0; b < columns / format->group; b++) {
        uint8_t *block = blocks + b * format->group_bytes;
        do
            random_bytes(block, format->group_bytes, seed);
        while (!format->rules->finite_block(block));
    }
}

static inline void random_row(const qp_matrix *matrix, uint8_t *codes, uint8_t *scales,
                              uint64_t *seed)
{
    const qp_format *format = matrix->format;
    switch (format->family) {
    case QP_FAMILY_DIRECT:
        random_bytes(codes, matrix->code_row_bytes, seed);
        break;
    case QP_FAMILY_GROUPED:
        random_grouped_row(format, matrix->columns, codes, scales, seed);
        break;
    case QP_FAMILY_NVFP4:
        random_bytes(codes, matrix->code_row_bytes, seed);
        for (uint64_t g = 0; g < matrix->scale_row_bytes; g++)
            scales[g] = (uint8_t)test_below(seed, 0x7F);
        break;
    case QP_FAMILY_ROW_FP8:
        random_fp8_row(format->rules == &qp_row_bf16_rules ? 0x7F80 : 0x7C00, matrix->columns,
                       codes, scales, seed);
        break;
    case QP_FAMILY_GGUF:
        random_blocks_row(format, matrix->columns, codes, seed);
        break;
    }
}

/* Fills words of all rows of a matrix. */
static inline void random_words(const qp_matrix *matrix, const qp_word_planes *words,
                                uint64_t *seed)
{
    for (uint64_t n = 0; n < matrix->rows; n++)
        random_row(matrix, words->codes + n * matrix->code_row_bytes,
                   words->scales + n * matrix->scale_row_bytes, seed);
    if (matrix->format->family == QP_FAMILY_NVFP4)
        for (uint64_t i = 0; i < matrix->divisors; i++)
            put_u32(words->divisors + 4 * i, 1 + test_below(seed, 0x7F7FFFFF));
}

#endif
