/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouped.c - the formats of signed codes with a binary16 scale a group (tensor-formats.md sections
 * 4 to 6).
 */
#include "format/format.h"
#include "number/minifloat.h"

static uint64_t code_row_bytes(const qp_format *format, uint64_t columns)
{
    (void)format;
    return columns;
}

static uint64_t groups(const qp_format *format, uint64_t columns)
{
    return columns / format->group + (columns % format->group != 0);
}

static uint64_t scale_row_bytes(const qp_format *format, uint64_t columns)
{
    return 2 * groups(format, columns);
}

/* The fault of a scale word, or NULL. */
typedef const char *scale_fault_function(uint16_t word);

static const char *scale_fault(uint16_t word)
{
    if ((word & 0x7C00u) == 0x7C00u)
        return "a scale that is not finite";
    return word == 0x8000u ? "a scale of negative zero" : NULL;
}

/* q2 takes both zeros, and any codes with them (section 5). */
static const char *q2_scale_fault(uint16_t word)
{
    return (word & 0x7C00u) == 0x7C00u ? "a scale that is not finite" : NULL;
}

/* Whether all codes lie in the interval, and are zero if they must be. It looks at all of them, so
 * that compilers can look at many at once. */
static bool codes_valid(const qp_format *format, const uint8_t *codes, uint64_t count,
                        bool must_be_zero)
{
    uint8_t lowest = (uint8_t)format->code_min;
    uint8_t span = (uint8_t)(format->code_max - format->code_min);
    uint8_t outside = 0, bits = 0;
    for (uint64_t k = 0; k < count; k++) {
        outside |= (uint8_t)(codes[k] - lowest) > span;
        bits |= codes[k];
    }
    return outside == 0 && !(must_be_zero && bits != 0);
}

/* The first fault among the codes of one group. */
static qp_word_fault check_codes(const qp_format *format, const uint8_t *codes, uint64_t count,
                                 bool must_be_zero)
{
    if (codes_valid(format, codes, count, must_be_zero))
        return (qp_word_fault){NULL, -1, NULL};
    for (uint64_t k = 0; k < count; k++) {
        int32_t code = qp_load_i8(codes + k);
        if (code < format->code_min || code > format->code_max)
            return (qp_word_fault){"code_invalid", qp_to_i64(k), "a code outside its interval"};
        if (must_be_zero && code != 0)
            return (qp_word_fault){"zero_scale_code", qp_to_i64(k),
                                   "a code that is not zero in a group whose scale is zero"};
    }
    return (qp_word_fault){NULL, -1, NULL};
}

static qp_word_fault check_groups(const qp_format *format, const qp_word_row *row, uint64_t columns,
                                  scale_fault_function *fault_of, bool zero_scale_zero_codes)
{
    for (uint64_t g = 0; g < groups(format, columns); g++) {
        uint64_t first = g * format->group;
        uint64_t count = columns - first < format->group ? columns - first : format->group;
        uint16_t scale = qp_load_u16(row->scales + 2 * g);
        const char *what = fault_of(scale);
        if (what != NULL)
            return (qp_word_fault){"scale_invalid", qp_to_i64(first), what};
        qp_word_fault fault = check_codes(format, row->codes + first, count,
                                          zero_scale_zero_codes && (scale & 0x7FFFu) == 0);
        if (fault.check != NULL) {
            fault.column += qp_to_i64(first);
            return fault;
        }
    }
    return (qp_word_fault){NULL, -1, NULL};
}

static qp_word_fault check(const qp_format *format, const qp_word_row *row, uint64_t columns)
{
    return check_groups(format, row, columns, scale_fault, true);
}

static qp_word_fault check_q2(const qp_format *format, const qp_word_row *row, uint64_t columns)
{
    return check_groups(format, row, columns, q2_scale_fault, false);
}

/* Section 6.2: one product in binary32, which keeps the sign of zero. */
static void decode(const qp_format *format, const qp_word_row *row, uint64_t columns, float *values)
{
    for (uint64_t g = 0; g < groups(format, columns); g++) {
        uint64_t first = g * format->group;
        uint64_t end = columns - first < format->group ? columns : first + format->group;
        float scale = qp_float_of_bits(qp_f16_to_f32_bits(qp_load_u16(row->scales + 2 * g)));
        for (uint64_t k = first; k < end; k++)
            values[k] = scale * (float)qp_load_i8(row->codes + k);
    }
}

const struct qp_format_rules qp_grouped_rules = {
    code_row_bytes, scale_row_bytes, check, decode, NULL, NULL, 0};
const struct qp_format_rules qp_q2_rules = {
    code_row_bytes, scale_row_bytes, check_q2, decode, NULL, NULL, 1};
