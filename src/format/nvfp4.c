/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvfp4.c - E2M1 codes with an E4M3FN scale for 16 columns and a binary32 divisor for each stacked
 * source (tensor-formats.md section 3.3).
 */
#include "format/format.h"
#include "number/minifloat.h"

enum { GROUP = 16 };

static uint64_t code_row_bytes(const qp_format *format, uint64_t columns)
{
    (void)format;
    return columns / 2; /* columns are a multiple of 64 in the only layout */
}

static uint64_t scale_row_bytes(const qp_format *format, uint64_t columns)
{
    (void)format;
    return columns / GROUP;
}

/* All 16 code words are valid. */
static qp_word_fault check(const qp_format *format, const qp_word_row *row, uint64_t columns)
{
    (void)format;
    if (row->divisor == 0 || row->divisor >= 0x7F800000u)
        return (qp_word_fault){"divisor_invalid", -1, "a divisor that is not finite and positive"};
    for (uint64_t g = 0; g < columns / GROUP; g++)
        if (row->scales[g] >= 0x7F)
            return (qp_word_fault){"scale_invalid", qp_to_i64(g * GROUP),
                                   "a scale that is negative or not finite"};
    return (qp_word_fault){NULL, -1, NULL};
}

/* Code times scale is exact (2 bits by 4), so that the division rounds once. */
static void decode(const qp_format *format, const qp_word_row *row, uint64_t columns, float *values)
{
    float divisor = qp_float_of_bits(row->divisor);
    (void)format;
    for (uint64_t g = 0; g < columns / GROUP; g++) {
        float scale = qp_float_of_bits(qp_e4m3_to_f32_bits(row->scales[g]));
        const uint8_t *codes = row->codes + g * (GROUP / 2);
        float *y = values + g * GROUP;
        for (unsigned j = 0; j < GROUP / 2; j++) {
            y[2 * j] = qp_float_of_bits(qp_e2m1_to_f32_bits(codes[j] & 15u)) * scale / divisor;
            y[2 * j + 1] = qp_float_of_bits(qp_e2m1_to_f32_bits(codes[j] >> 4)) * scale / divisor;
        }
    }
}

const struct qp_format_rules qp_nvfp4_rules = {
    code_row_bytes, scale_row_bytes, check, decode, NULL, NULL, 0};
