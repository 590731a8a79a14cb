/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.c - the formats of one word an element (tensor-formats.md section 3.1). Every word is
 * valid, and the float formats keep signs of zero and NaN payloads.
 */
#include "format/format.h"
#include "number/minifloat.h"

static uint64_t code_row_bytes(const qp_format *format, uint64_t columns)
{
    return columns * (format->code_bits / 8);
}

static uint64_t scale_row_bytes(const qp_format *format, uint64_t columns)
{
    (void)format;
    (void)columns;
    return 0;
}

static qp_word_fault check(const qp_format *format, const qp_word_row *row, uint64_t columns)
{
    (void)format;
    (void)row;
    (void)columns;
    return (qp_word_fault){NULL, -1, NULL};
}

/* Words are stored, not floats, so that no NaN passes through a floating-point register. */
static void decode_bf16(const qp_format *format, const qp_word_row *row, uint64_t columns,
                        float *values)
{
    (void)format;
    for (uint64_t k = 0; k < columns; k++) {
        uint32_t bits = qp_bf16_to_f32_bits(qp_load_u16(row->codes + 2 * k));
        memcpy(values + k, &bits, sizeof bits);
    }
}

static void decode_fp32(const qp_format *format, const qp_word_row *row, uint64_t columns,
                        float *values)
{
    (void)format;
    for (uint64_t k = 0; k < columns; k++) {
        uint32_t bits = qp_load_u32(row->codes + 4 * k);
        memcpy(values + k, &bits, sizeof bits);
    }
}

static void decode_int32(const qp_format *format, const qp_word_row *row, uint64_t columns,
                         float *values)
{
    (void)format;
    for (uint64_t k = 0; k < columns; k++)
        values[k] = (float)qp_load_i32(row->codes + 4 * k);
}

const struct qp_format_rules qp_bf16_rules = {
    code_row_bytes, scale_row_bytes, check, decode_bf16, NULL, NULL, 0};
const struct qp_format_rules qp_fp32_rules = {
    code_row_bytes, scale_row_bytes, check, decode_fp32, NULL, NULL, 0};
const struct qp_format_rules qp_int32_rules = {
    code_row_bytes, scale_row_bytes, check, decode_int32, NULL, NULL, 0};
