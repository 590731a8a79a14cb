/* SPDX-License-Identifier: Apache-2.0 */
/* test_fp8_row_maxabs.c - artifact-container.md section 9.5 by hand and step by step. */
#include "method_values.h"

#include <math.h>

static const char *const formats[] = {"fp8_e4m3fn_row_bf16", "fp8_e4m3fn_row_fp16"};

static void check_row(const char *format, const float *values, uint64_t columns, uint16_t scale,
                      const uint8_t *codes)
{
    qp_matrix target = format_plan_two(format, 1, columns);
    qp_word_planes words = format_words(&target, 1);
    assert_int_equal(method_values("fp8_row_maxabs", &target, values, &words, NULL), QP_OK);
    assert_int_equal(qp_load_u16(words.scales), scale);
    assert_memory_equal(words.codes, codes, columns);
    format_words_free(&words);
}

static void test_by_hand(void **state)
{
    /* the scale is 1: ties of normal and subnormal codes, signed zeros, a bf16 tie before */
    static const float values[] = {448,  -448,      17,    19,          0x1p-10f, 0x1.8p-9f,
                                   0.0f, -0x1p-11f, -0.0f, 1.00390625f, 0x1.fp-7f};
    static const uint8_t codes[] = {0x7E, 0xFE, 0x58, 0x5A, 0x00, 0x02,
                                    0x00, 0x80, 0x80, 0x38, 0x08};
    static const float zeros[] = {-0.0f, 0, -0x1p-149f}; /* the last is 0 as bf16 */
    static const uint8_t zero_codes[3] = {0};
    static const float tiny[] = {0x1p-24f, -0x1p-26f};
    static const uint8_t tiny_codes[] = {0x38, 0xA8}; /* of the rescued scale 2^-24 */
    (void)state;
    check_row(formats[0], values, TEST_COUNT(values), 0x3F80, codes);
    check_row(formats[1], values, TEST_COUNT(values), 0x3C00, codes);
    for (size_t f = 0; f < 2; f++)
        check_row(formats[f], zeros, 3, 0, zero_codes);
    check_row(formats[1], tiny, 2, 0x0001, tiny_codes);
}

static void check_refusal(const char *format, const float *values, uint64_t columns,
                          const char *check, int64_t column)
{
    qp_matrix target = format_plan_two(format, 1, columns);
    qp_word_planes words = format_words(&target, 1);
    qp_error error;
    assert_int_equal(method_values("fp8_row_maxabs", &target, values, &words, &error),
                     QP_FIELD_RANGE);
    assert_string_equal(error.check, check);
    assert_int_equal(error.row, 0);
    assert_int_equal(error.column, column);
    format_words_free(&words);
}

static void test_refusals(void **state)
{
    const float not_finite[] = {1, 2, (float)NAN, (float)INFINITY};
    const float beyond[] = {1, 0x1.fffffep127f, (float)INFINITY}; /* infinite as bf16 */
    const float large[] = {0, 448.0f * 65520.0f};
    const float small[] = {0, 0x1p-125f}; /* scale 2^-134 and less: its reciprocal is infinite */
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        check_refusal(formats[f], not_finite, 4, "source_not_finite", 2);
        check_refusal(formats[f], beyond, 3, "source_not_finite", 1);
    }
    check_refusal(formats[1], large, 2, "scale_not_finite", -1);
    check_refusal(formats[0], small, 2, "normalization_not_finite", 0);
}

/* The steps of the text, with the conversions of minifloat.h. */
static void text_row(const float *values, size_t columns, bool is_bf16, uint16_t *scale,
                     uint8_t *codes)
{
    float x[256], m = 0;
    for (size_t k = 0; k < columns; k++) {
        x[k] = qp_float_of_bits(
            qp_bf16_to_f32_bits(qp_bf16_from_f32_bits(qp_bits_of_float(values[k]))));
        m = x[k] > m ? x[k] : -x[k] > m ? -x[k] : m;
    }
    uint32_t raw = qp_bits_of_float(m / 448.0f);
    *scale = is_bf16 ? qp_bf16_from_f32_bits(raw) : qp_f16_from_f32_bits(raw);
    *scale = m != 0 && *scale == 0 ? 1 : *scale;
    uint32_t wide = is_bf16 ? qp_bf16_to_f32_bits(*scale) : qp_f16_to_f32_bits(*scale);
    for (size_t k = 0; k < columns; k++) {
        float y = x[k] * (1.0f / qp_float_of_bits(wide));
        y = y > 448 ? 448 : y < -448 ? -448 : y;
        codes[k] = m == 0 ? 0 : qp_e4m3_from_f32_bits(qp_bits_of_float(y));
    }
}

static void test_against_the_text(void **state)
{
    uint64_t seed = 95;
    float values[256];
    uint8_t codes[256];
    uint16_t scale;
    (void)state;
    for (int i = 0; i < 4000; i++) {
        size_t columns = 1 + test_below(&seed, 256);
        random_values(&seed, values, columns);
        bool small = false; /* rows that bf16 refuses */
        for (size_t k = 0; k < columns; k++)
            small = small || (values[k] != 0 && values[k] < 1e-30f && values[k] > -1e-30f);
        if (small && i % 2 == 0)
            continue;
        text_row(values, columns, i % 2 == 0, &scale, codes);
        check_row(formats[i % 2], values, columns, scale, codes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_against_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
