/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_formats.c - the registries, and what words mean (tensor-formats.md sections 1 and 3 to 6):
 * every direct word class, every E2M1 with every E4M3FN word, every code of every grouped format,
 * against values computed another way.
 */
#include "random_words.h"

/* ---- registries --------------------------------------------------------------------------- */

typedef struct known_format {
    const char *name;
    double bits;
    uint32_t group;
} known_format;

/* The tables of section 1, in their order. */
static const known_format known_formats[] = {
    {"bf16", 16, 1},
    {"fp32", 32, 1},
    {"int32", 32, 1},
    {"q2_g64_fp16", 2.25, 64},
    {"q4_g64_fp16", 4.25, 64},
    {"q5_g64_fp16", 5.25, 64},
    {"q6_g64_fp16", 6.25, 64},
    {"q8_g32_fp16", 8.5, 32},
    {"t2_g128_fp16", 2.125, 128},
    {"nvfp4", 4.5, 16},
    {"fp8_e4m3fn_row_bf16", 8, 0},
    {"fp8_e4m3fn_row_fp16", 8, 0},
    {"gguf_q8_0", 8.5, 32},
    {"gguf_q4_0", 4.5, 32},
    {"gguf_q5_0", 5.5, 32},
    {"gguf_q2_0", 2.25, 64},
    {"gguf_q2_k", 2.625, 256},
    {"gguf_q3_k", 3.4375, 256},
    {"gguf_q4_k", 4.5, 256},
    {"gguf_q5_k", 5.5, 256},
    {"gguf_q6_k", 6.5625, 256},
    {"gguf_iq2_xxs", 2.0625, 256},
    {"gguf_iq2_xs", 2.3125, 256},
    {"gguf_iq3_xxs", 3.0625, 256},
    {"gguf_iq1_s", 1.5625, 256},
    {"gguf_iq4_nl", 4.5, 32},
    {"gguf_iq3_s", 3.4375, 256},
    {"gguf_iq2_s", 2.5625, 256},
    {"gguf_iq4_xs", 4.25, 256},
    {"gguf_iq1_m", 1.75, 256},
};

static void test_registry(void **state)
{
    (void)state;
    assert_int_equal(qp_format_count(), TEST_COUNT(known_formats));
    for (size_t i = 0; i < TEST_COUNT(known_formats); i++) {
        const qp_format *format = qp_format_at(i);
        assert_string_equal(format->name, known_formats[i].name);
        assert_ptr_equal(qp_format_find(format->name), format);
        assert_true(format->bits == known_formats[i].bits);
        assert_int_equal(format->group, known_formats[i].group);
        assert_non_null(qp_layout_find(format->layout));
        assert_in_range(strlen(format->summary), 10, 40); /* what tables have room for */
    }
    assert_null(qp_format_find(""));
    assert_null(qp_format_find("Q4_G64_FP16"));
    assert_null(qp_format_find("fp16"));
}

/* Every format has one layout and is refused in every other one. */
static void test_pairs(void **state)
{
    const uint64_t shape[2] = {128, 256};
    (void)state;
    assert_int_equal(qp_layout_count(), 6);
    assert_null(qp_layout_find("row_split_panel4_v1"));
    for (size_t f = 0; f < qp_format_count(); f++) {
        for (size_t l = 0; l < qp_layout_count(); l++) {
            const qp_format *format = qp_format_at(f);
            const qp_storage_layout *layout = qp_layout_at(l);
            qp_matrix matrix;
            qp_error error;
            qp_status status = qp_matrix_plan(format, layout, shape, 2, 1, &matrix, &error);
            assert_ptr_equal(qp_layout_find(layout->name), layout);
            if (strcmp(format->layout, layout->name) == 0) {
                assert_int_equal(status, QP_OK);
                continue;
            }
            assert_int_equal(status, QP_GEOMETRY_MISMATCH);
            assert_non_null(strstr(error.message, format->name));
            assert_non_null(strstr(error.message, layout->name));
        }
    }
}

/* ---- direct formats ----------------------------------------------------------------------- */

static void decode_words(const qp_matrix *matrix, uint8_t *codes, uint8_t *scales, float *values)
{
    qp_word_planes words = {codes, scales, NULL};
    qp_words_decode(matrix, 0, matrix->rows, &words, values);
}

static void test_bf16_words(void **state)
{
    qp_matrix matrix = format_plan_two("bf16", 256, 256);
    uint8_t *codes = format_bytes(matrix.bytes);
    float *values = format_values(65536);
    (void)state;
    for (uint32_t word = 0; word < 65536; word++)
        put_u16(codes + 2 * word, (uint16_t)word);
    decode_words(&matrix, codes, NULL, values);
    for (uint32_t word = 0; word < 65536; word++) /* NaNs and all */
        assert_int_equal(qp_bits_of_float(values[word]), word << 16);
    free(codes);
    free(values);
}

static void test_fp32_words(void **state)
{
    static const uint32_t words[] = {
        0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000,
        0xFF800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0xFFC12345, 0xFFFFFFFF, 0x3F800000,
    };
    uint64_t shape[1] = {TEST_COUNT(words)};
    qp_matrix matrix = format_plan("fp32", shape, 1, 1);
    uint8_t codes[4 * TEST_COUNT(words)];
    float values[TEST_COUNT(words)];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(words); i++)
        put_u32(codes + 4 * i, words[i]);
    decode_words(&matrix, codes, NULL, values);
    assert_true(format_equals_bytes(values, codes, TEST_COUNT(words)));
}

/* Round to nearest even from 2^24 on. */
static void test_int32_words(void **state)
{
    static const struct {
        uint32_t word;
        uint32_t bits;
    } cases[] = {
        {0, 0},
        {1, 0x3F800000},
        {0xFFFFFFFF, 0xBF800000},
        {16777216, 0x4B800000},
        {16777217, 0x4B800000}, /* ties go to even */
        {16777219, 0x4B800002},
        {0xFEFFFFFF, 0xCB800000}, /* -16777217 */
        {0x7FFFFFFF, 0x4F000000},
        {0x80000000, 0xCF000000},
        {0x7FFFFFBF, 0x4EFFFFFF},
        {0x7FFFFFC0, 0x4F000000},
    };
    qp_matrix matrix = format_plan_two("int32", 1, TEST_COUNT(cases));
    uint8_t codes[4 * TEST_COUNT(cases)];
    float values[TEST_COUNT(cases)];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++)
        put_u32(codes + 4 * i, cases[i].word);
    decode_words(&matrix, codes, NULL, values);
    for (size_t i = 0; i < TEST_COUNT(cases); i++)
        assert_int_equal(qp_bits_of_float(values[i]), cases[i].bits);
}

/* ---- values computed another way ---------------------------------------------------------- */

/* fraction * 2^exponent, exactly. */
static double scaled(double fraction, int exponent)
{
    for (; exponent > 0; exponent--)
        fraction *= 2;
    for (; exponent < 0; exponent++)
        fraction /= 2;
    return fraction;
}

/* The text's classes of a word with `e` exponent and `f` fraction bits. */
static double value_of(uint32_t word, int e, int f, int bias)
{
    uint32_t fraction = word & ((1u << f) - 1);
    int exponent = (int)(word >> f & ((1u << e) - 1));
    double magnitude = exponent == 0 ? scaled((double)fraction, 1 - bias - f)
                                     : scaled((double)(fraction + (1u << f)), exponent - bias - f);
    return word >> (e + f) & 1 ? -magnitude : magnitude;
}

static double half_value(uint16_t word)
{
    return value_of(word, 5, 10, 15);
}

static double e4m3_value(uint8_t word)
{
    return value_of(word, 4, 3, 7);
}

static const double e2m1_values[16] = {0.0,  0.5,  1.0,  1.5,  2.0,  3.0,  4.0,  6.0,
                                       -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0};

/* A product or quotient of binary32 operands formed in binary64 and then rounded has one rounding
 * that counts. */
static void assert_value(float value, double expected)
{
    assert_int_equal(qp_bits_of_float(value), qp_bits_of_float((float)expected));
}

/* ---- grouped formats ---------------------------------------------------------------------- */

/* Each code with a scale word, in the first group of a row. */
static void check_codes(const qp_format *format, uint16_t scale)
{
    uint64_t codes_count = (uint64_t)(format->code_max - format->code_min + 1);
    qp_matrix matrix = format_plan_two(format->name, codes_count, 1);
    uint8_t codes[256], scales[512];
    float values[256];
    for (uint64_t i = 0; i < codes_count; i++) {
        codes[i] = (uint8_t)(format->code_min + (int)i);
        put_u16(scales + 2 * i, scale);
    }
    decode_words(&matrix, codes, scales, values);
    for (uint64_t i = 0; i < codes_count; i++) {
        double expected = half_value(scale) * (double)(format->code_min + (int)i);
        assert_value(values[i], expected);
    }
}

static void test_grouped_values(void **state)
{
    (void)state;
    for (size_t f = 0; f < qp_format_count(); f++) {
        const qp_format *format = qp_format_at(f);
        if (format->family != QP_FAMILY_GROUPED)
            continue;
        for (uint32_t scale = 0; scale < 65536; scale += 1 + scale % 61)
            if ((scale & 0x7C00) != 0x7C00)
                check_codes(format, (uint16_t)scale);
    }
}

/* Groups do not mix: each has its scale, the last partial one too. */
static void test_groups(void **state)
{
    (void)state;
    for (size_t f = 0; f < qp_format_count(); f++) {
        const qp_format *format = qp_format_at(f);
        uint8_t codes[700], scales[64];
        float values[700];
        if (format->family != QP_FAMILY_GROUPED)
            continue;
        uint64_t columns = 2 * format->group + 3;
        qp_matrix matrix = format_plan_two(format->name, 1, columns);
        memset(codes, 1, sizeof codes);
        for (unsigned g = 0; g < 3; g++)
            put_u16(scales + 2 * g, (uint16_t)(0x3C00 + 0x400 * g)); /* 1, 2, 4 */
        decode_words(&matrix, codes, scales, values);
        for (uint64_t k = 0; k < columns; k++)
            assert_value(values[k], scaled(1, (int)(k / format->group)));
    }
}

/* ---- nvfp4 and row FP8 -------------------------------------------------------------------- */

/* All scale words that are valid down the rows, all codes along them, and some divisors. */
static void check_nvfp4(uint32_t divisor)
{
    qp_matrix matrix = format_plan_two("nvfp4", 128, 64);
    qp_word_planes words = format_words(&matrix, 128);
    float *values = format_values(matrix.rows * 64);
    for (uint64_t n = 0; n < 128; n++) {
        for (unsigned j = 0; j < 32; j++)
            words.codes[32 * n + j] = (uint8_t)(2 * j % 16 | (2 * j + 1) % 16 << 4);
        memset(words.scales + 4 * n, (int)(n < 127 ? n : 0), 4);
    }
    put_u32(words.divisors, divisor);
    qp_words_decode(&matrix, 0, 128, &words, values);
    for (uint64_t i = 0; i < 128 * 64; i++) {
        uint8_t scale = words.scales[4 * (i / 64)];
        double expected =
            e2m1_values[i % 16] * e4m3_value(scale) / (double)qp_float_of_bits(divisor);
        assert_value(values[i], expected);
    }
    free(values);
    format_words_free(&words);
}

static void test_nvfp4_values(void **state)
{
    static const uint32_t divisors[] = {0x3F800000, 0x40400000, 0x3EAAAAAB, 0x44A00001,
                                        0x3F7FFFFF, 0x00800000, 0x42280000, 0x7F7FFFFF};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(divisors); i++)
        check_nvfp4(divisors[i]);
}

/* Divisor i belongs to the rows of source i, whichever rows are asked for. */
static void test_stacked_divisors(void **state)
{
    qp_matrix matrix = format_plan("nvfp4", (uint64_t[]){768, 64}, 2, 3);
    qp_word_planes words = format_words(&matrix, 768);
    float values[64];
    (void)state;
    memset(words.codes, 0x22, 768 * 32);
    memset(words.scales, 0x38, 768 * 4);
    for (uint32_t i = 0; i < 3; i++) /* 1, 2, 4 */
        put_u32(words.divisors + 4 * i, 0x3F800000 + 0x800000 * i);
    for (uint64_t n = 0; n < 768; n++) {
        qp_words_decode(&matrix, n, 1, &words, values);
        assert_value(values[5], scaled(1, -(int)(n / 256)));
    }
    format_words_free(&words);
}

static void check_row_fp8(const char *name, double (*value)(uint16_t), uint16_t scale)
{
    qp_matrix matrix = format_plan_two(name, 1, 256);
    uint8_t codes[256], scales[2];
    float values[256];
    for (unsigned code = 0; code < 256; code++)
        codes[code] = (uint8_t)(code % 128 == 127 ? 0 : code);
    put_u16(scales, scale);
    decode_words(&matrix, codes, scales, values);
    for (unsigned k = 0; k < 256; k++)
        assert_value(values[k], e4m3_value(codes[k]) * value(scale));
}

static double bf16_value(uint16_t word)
{
    return value_of(word, 8, 7, 127);
}

static void test_row_fp8_values(void **state)
{
    (void)state;
    for (uint32_t scale = 0; scale < 0x7F80; scale += 31)
        check_row_fp8("fp8_e4m3fn_row_bf16", bf16_value, (uint16_t)scale);
    for (uint32_t scale = 0; scale < 0x7C00; scale += 31)
        check_row_fp8("fp8_e4m3fn_row_fp16", half_value, (uint16_t)scale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),         cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_bf16_words),       cmocka_unit_test(test_fp32_words),
        cmocka_unit_test(test_int32_words),      cmocka_unit_test(test_grouped_values),
        cmocka_unit_test(test_groups),           cmocka_unit_test(test_nvfp4_values),
        cmocka_unit_test(test_stacked_divisors), cmocka_unit_test(test_row_fp8_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
