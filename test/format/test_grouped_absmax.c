/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grouped_absmax.c - tensor-formats.md section 7.2 by hand, and the kernels against the plain
 * code.
 */
#include "format/grouped_encode.h"
#include "method_values.h"
#include "support/guard.h"

#include <math.h>

static const char *const formats[] = {"q4_g64_fp16", "q5_g64_fp16", "q6_g64_fp16", "q8_g32_fp16",
                                      "t2_g128_fp16"};

/* Encodes one row on every mask; the results must agree. Gives the status. */
static qp_status encode_row(const char *format, const float *values, uint64_t columns,
                            qp_word_planes *words, qp_error *error)
{
    qp_matrix target = format_plan_two(format, 1, columns);
    qp_status status = QP_OK;
    *words = format_words(&target, 1);
    for (size_t m = 0; m < TEST_COUNT(method_masks); m++) {
        qp_word_planes again = format_words(&target, 1);
        qp_method_job job = {.target = &target,
                             .cpu = method_mask(m),
                             .element = qp_element_find("BF16"),
                             .method = qp_method_find("grouped_absmax")};
        qp_method_rows rows = {.values = values, .words = again};
        status = method_run(job, &rows, 1, error);
        if (m > 0 && status == QP_OK) {
            assert_memory_equal(again.codes, words->codes, target.code_row_bytes);
            assert_memory_equal(again.scales, words->scales, target.scale_row_bytes);
        }
        memcpy(words->codes, again.codes, target.code_row_bytes);
        memcpy(words->scales, again.scales, target.scale_row_bytes);
        format_words_free(&again);
    }
    return status;
}

static void check_row(const char *format, const float *values, uint64_t columns, uint16_t scale,
                      const int8_t *codes)
{
    qp_word_planes words;
    assert_int_equal(encode_row(format, values, columns, &words, NULL), QP_OK);
    assert_int_equal(qp_load_u16(words.scales), scale);
    for (uint64_t k = 0; k < columns; k++)
        assert_int_equal(qp_to_i8(words.codes[k]), codes[k]);
    format_words_free(&words);
}

static void test_ties(void **state)
{
    static const float ties[] = {0.5f, -0.5f, 1.5f, -1.5f, 2.5f, -2.5f, 3.5f, -0.0f};
    static const int8_t codes[] = {0, 0, 2, -2, 2, -2, 4, 0};
    static const int8_t ends[] = {7, 15, 31, 127};
    (void)state;
    for (size_t f = 0; f < 4; f++) {
        float values[64] = {ends[f]}; /* the scale is 1 */
        int8_t expected[64] = {ends[f]};
        memcpy(values + 1, ties, sizeof ties);
        memcpy(expected + 1, codes, sizeof codes);
        check_row(formats[f], values, 9, 0x3C00, expected);
        check_row(formats[f], values, f == 3 ? 32 : 64, 0x3C00, expected);
    }
}

static void test_ternary(void **state)
{
    static const float values[] = {2.0f, -2.0f, 1.0f, -1.0f, 1.0000001f, -1.5f, 0.0f};
    static const int8_t codes[] = {1, -1, 0, 0, 1, -1, 0};
    (void)state;
    check_row("t2_g128_fp16", values, 7, 0x4000, codes);
}

static void test_small(void **state)
{
    float values[64] = {0x1.cp-24f, -0x1p-25f, 0x1.8p-24f}; /* amax / 7 = 2^-26 */
    int8_t codes[64] = {2, 0, 2};
    float least[64] = {0x1p-149f}; /* amax / 7 is 0 in binary32 */
    int8_t zeros[64] = {0};
    float half[64] = {0x1.cp-23f}; /* amax / 7 = 2^-25: a tie with zero */
    int8_t half_codes[64] = {4};
    float negative[64];
    (void)state;
    check_row("q4_g64_fp16", values, 64, 0x0001, codes);
    check_row("q4_g64_fp16", least, 64, 0x0001, zeros);
    check_row("q4_g64_fp16", half, 64, 0x0001, half_codes);
    for (size_t k = 0; k < 64; k++)
        negative[k] = -0.0f;
    check_row("q4_g64_fp16", negative, 64, 0x0000, zeros);
}

/* A scale of 1.5 units less a step becomes one unit: the clamp is needed. */
static void test_clamp(void **state)
{
    float values[64] = {0x1.4ffffep-21f, -0x1.4ffffep-21f}; /* just below 7 * 1.5 * 2^-24 */
    int8_t codes[64] = {7, -8};
    (void)state;
    check_row("q4_g64_fp16", values, 64, 0x0001, codes);
}

static void test_refusals(void **state)
{
    static const float most[] = {7, 15, 31, 127, 1};
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(formats); f++) {
        float values[300] = {0};
        qp_word_planes words;
        qp_error error;
        values[200] = -65520.0f * most[f];
        assert_int_equal(encode_row(formats[f], values, 300, &words, &error), QP_FIELD_RANGE);
        assert_string_equal(error.check, "scale_not_finite");
        assert_int_equal(error.row, 0);
        assert_int_equal(error.column, 200);
        format_words_free(&words);

        values[200] = qp_float_of_bits(qp_bits_of_float(65520.0f * most[f]) - 1);
        assert_int_equal(encode_row(formats[f], values, 300, &words, &error), QP_OK);
        uint32_t group = qp_format_find(formats[f])->group;
        assert_int_equal(qp_load_u16(words.scales + 200 / group * 2), 0x7BFF);
        format_words_free(&words);

        values[150] = (float)-INFINITY; /* earlier than the too large one, in the same row */
        values[200] = 3e38f;
        values[299] = (float)NAN;
        assert_int_equal(encode_row(formats[f], values, 300, &words, &error), QP_FIELD_RANGE);
        assert_string_equal(error.check, "source_not_finite");
        assert_int_equal(error.column, 150);
        format_words_free(&words);

        values[150] = values[200] = 0; /* left: NaN in the partly filled last group */
        assert_int_equal(encode_row(formats[f], values, 300, &words, &error), QP_FIELD_RANGE);
        assert_string_equal(error.check, "source_not_finite");
        assert_int_equal(error.column, 299);
        format_words_free(&words);
    }
}

/* ---- the kernels -------------------------------------------------------------------------- */

static void compare_groups(const qp_format *format, const float *values, size_t done,
                           const uint8_t *codes, const uint8_t *scales)
{
    for (size_t g = 0; g < done; g++) {
        uint8_t expected[QP_GROUP_MAX];
        uint16_t scale;
        assert_int_equal(qp_group_absmax(format, values + g * format->group, format->group,
                                         (qp_group_place){0, 0}, expected, &scale, NULL),
                         QP_OK);
        assert_int_equal(scale, qp_load_u16(scales + 2 * g));
        assert_memory_equal(expected, codes + g * format->group, format->group);
    }
}

/* Groups of values that end before an unmapped page; `spoiled` may hold what must be refused. */
static void check_kernel(const qp_grouped_kernel *kernel, const qp_format *format, uint64_t *seed)
{
    static const float spoilers[] = {(float)NAN, (float)INFINITY, 1e30f};
    size_t groups = test_below(seed, 40), count = groups * format->group;
    test_guarded values = test_guard(count * sizeof(float)), codes = test_guard(count),
                 scales = test_guard(2 * groups);
    float *v = values.data;
    size_t spoiled = groups;

    for (size_t g = 0; g < groups; g++)
        random_values(seed, v + g * format->group, format->group);
    if (groups > 0 && test_below(seed, 3) == 0) {
        size_t at = test_below(seed, (uint32_t)count);
        v[at] = spoilers[test_below(seed, TEST_COUNT(spoilers))];
        spoiled = at / format->group;
    }
    size_t done = kernel->absmax(format, v, groups, codes.data, scales.data);
    assert_int_equal(done, spoiled);
    compare_groups(format, v, done, codes.data, scales.data);
    test_unguard(&values);
    test_unguard(&codes);
    test_unguard(&scales);
}

/* Finite values of any size that a scale can hold. */
static void check_any(const qp_grouped_kernel *kernel, const qp_format *format, uint64_t *seed)
{
    float values[4 * QP_GROUP_MAX];
    uint8_t codes[4 * QP_GROUP_MAX], scales[8];
    for (size_t k = 0; k < 4 * format->group; k++) {
        do
            values[k] = any_finite(seed);
        while (!(values[k] < 65519.0f && values[k] > -65519.0f));
    }
    assert_int_equal(kernel->absmax(format, values, 4, codes, scales), 4);
    compare_groups(format, values, 4, codes, scales);
}

static void test_kernels(void **state)
{
    uint64_t seed = 72;
    (void)state;
    for (size_t i = 0; i < qp_grouped_kernel_count(); i++) {
        const qp_grouped_kernel *kernel = qp_grouped_kernel_at(i);
        if ((kernel->cpu & ~qp_cpu_features()) != 0)
            continue;
        for (size_t round = 0; round < 300; round++) {
            const qp_format *format = qp_format_find(formats[round % TEST_COUNT(formats)]);
            check_kernel(kernel, format, &seed);
            check_any(kernel, format, &seed);
        }
    }
    assert_null(qp_grouped_kernel_at(qp_grouped_kernel_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ties),     cmocka_unit_test(test_ternary),
        cmocka_unit_test(test_small),    cmocka_unit_test(test_clamp),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
