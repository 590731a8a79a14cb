/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_fp8.c - E4M3FN codes with one scale a row, in bfloat16 or binary16 (tensor-formats.md section
 * 3.4).
 */
#include "format/format.h"
#include "number/minifloat.h"

static uint64_t code_row_bytes(const qp_format *format, uint64_t columns)
{
    (void)format;
    return columns;
}

static uint64_t scale_row_bytes(const qp_format *format, uint64_t columns)
{
    (void)format;
    (void)columns;
    return 2;
}

/* Whether no code is NaN, and all are zeros if they must be. It looks at all of them, so that
 * compilers can look at many at once. */
static bool codes_valid(const uint8_t *codes, uint64_t count, bool must_be_zero)
{
    uint8_t nan = 0, bits = 0;
    for (uint64_t k = 0; k < count; k++) {
        nan |= (codes[k] & 0x7Fu) == 0x7Fu;
        bits |= codes[k] & 0x7Fu;
    }
    return nan == 0 && !(must_be_zero && bits != 0);
}

/* A scale is at fault with a sign bit or an exponent of all ones: `infinity` and the words above.
 */
static qp_word_fault check_row(const qp_word_row *row, uint64_t columns, uint16_t infinity)
{
    uint16_t scale = qp_load_u16(row->scales);
    if (scale >= infinity)
        return (qp_word_fault){"scale_invalid", -1, "a scale that is negative or not finite"};
    if (codes_valid(row->codes, columns, scale == 0))
        return (qp_word_fault){NULL, -1, NULL};
    for (uint64_t k = 0; k < columns; k++) {
        uint8_t magnitude = row->codes[k] & 0x7Fu;
        if (magnitude == 0x7F)
            return (qp_word_fault){"code_invalid", qp_to_i64(k), "a code that is NaN"};
        if (scale == 0 && magnitude != 0)
            return (qp_word_fault){"zero_scale_code", qp_to_i64(k),
                                   "a code that is not zero in a row whose scale is zero"};
    }
    return (qp_word_fault){NULL, -1, NULL};
}

static qp_word_fault check_bf16(const qp_format *format, const qp_word_row *row, uint64_t columns)
{
    (void)format;
    return check_row(row, columns, 0x7F80);
}

static qp_word_fault check_fp16(const qp_format *format, const qp_word_row *row, uint64_t columns)
{
    (void)format;
    return check_row(row, columns, 0x7C00);
}

static void decode_row(const qp_word_row *row, uint64_t columns, float scale, float *values)
{
    for (uint64_t k = 0; k < columns; k++)
        values[k] = qp_float_of_bits(qp_e4m3_to_f32_bits(row->codes[k])) * scale;
}

static void decode_bf16(const qp_format *format, const qp_word_row *row, uint64_t columns,
                        float *values)
{
    uint32_t bits = qp_bf16_to_f32_bits(qp_load_u16(row->scales));
    (void)format;
    decode_row(row, columns, qp_float_of_bits(bits), values);
}

static void decode_fp16(const qp_format *format, const qp_word_row *row, uint64_t columns,
                        float *values)
{
    uint32_t bits = qp_f16_to_f32_bits(qp_load_u16(row->scales));
    (void)format;
    decode_row(row, columns, qp_float_of_bits(bits), values);
}

const struct qp_format_rules qp_row_bf16_rules = {
    code_row_bytes, scale_row_bytes, check_bf16, decode_bf16, NULL, NULL, 0};
const struct qp_format_rules qp_row_fp16_rules = {
    code_row_bytes, scale_row_bytes, check_fp16, decode_fp16, NULL, NULL, 0};
