/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nvfp4_quantize.c - the profiles nvfp4_absmax and nvfp4_search of
 * src/format/nvfp4_quantize.c: by hand, step by step, and what the search gains.
 */
#include "method_values.h"

#include <float.h>
#include <math.h>

#define COLUMNS 64
#define COUNT (128 * COLUMNS)

static qp_word_planes quantize(const char *method, const float *values, const float *importance)
{
    qp_matrix target = format_plan_two("nvfp4", 128, COLUMNS);
    qp_word_planes words = format_words(&target, 128);
    qp_method_job job = {
        .target = &target, .importance = importance, .method = qp_method_find(method)};
    qp_method_rows rows = {.values = values, .words = words};
    assert_int_equal(method_run(job, &rows, 50, NULL), QP_OK);
    return words;
}

static int code_at(const qp_word_planes *words, size_t k)
{
    return words->codes[k / 2] >> (4 * (k % 2)) & 15;
}

static float divisor_in(const qp_word_planes *words)
{
    return qp_float_of_bits(qp_load_u32(words->divisors));
}

static void test_by_hand(void **state)
{
    /* the divisor is 1: the first block's scale is 448, the second's 1 with every tie */
    static const float ties[16] = {6.0f,  0.25f, 0.75f, 1.25f,  1.75f,  2.5f,  3.5f, 5.0f,
                                   -6.0f, -0.0f, 0.0f,  -0.25f, -0.26f, -5.0f, 5.1f, 0.24f};
    static const int codes[16] = {7, 0, 2, 2, 4, 4, 6, 6, 15, 8, 0, 8, 9, 14, 7, 0};
    float *values = format_values(COUNT);
    (void)state;
    values[0] = -2688.0f;
    memcpy(values + 16, ties, sizeof ties);
    values[32] = 0x1p-20f; /* a scale below half of the least: rescued, the code is 0 */
    values[48] = -0.0f;    /* a block of zeros */
    values[64] = 0.0041f;  /* a third of it is above the least scale's half: 2^-9 */
    qp_word_planes words = quantize("nvfp4_absmax", values, NULL);
    assert_true(divisor_in(&words) == 1.0f);
    assert_int_equal(words.scales[0], 0x7E);
    assert_int_equal(code_at(&words, 0), 15);
    assert_int_equal(words.scales[1], 0x38);
    for (size_t j = 0; j < 16; j++)
        assert_int_equal(code_at(&words, 16 + j), codes[j]);
    assert_int_equal(words.scales[2], 0x01);
    assert_int_equal(code_at(&words, 32), 0);
    assert_int_equal(words.scales[3], 0x00);
    assert_int_equal(code_at(&words, 48), 0);
    assert_int_equal(words.scales[4], 0x01);
    assert_int_equal(code_at(&words, 64), 4); /* 0.0041 / 2^-9 = 2.099 */
    format_words_free(&words);
    free(values);
}

/* The divisor of the largest magnitude. */
static void test_divisors(void **state)
{
    static const float rows[][2] = {
        {0.0f, 1.0f},         {2688.0f, 1.0f},     {1.0f, 2688.0f},
        {0x1p-149f, FLT_MAX}, {7.0e-36f, FLT_MAX}, {FLT_MAX, 2688.0f / FLT_MAX},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        float *values = format_values(COUNT);
        values[777] = -rows[i][0];
        qp_word_planes words = quantize("nvfp4_search", values, NULL);
        assert_true(divisor_in(&words) == rows[i][1]);
        format_words_free(&words);
        free(values);
    }
}

static void test_refusals(void **state)
{
    float *values = format_values(COUNT);
    qp_matrix target = format_plan_two("nvfp4", 128, COLUMNS);
    qp_word_planes words = format_words(&target, 128);
    qp_error error;
    (void)state;
    values[5 * COLUMNS + 9] = (float)NAN;
    assert_int_equal(method_values("nvfp4_search", &target, values, &words, &error),
                     QP_FIELD_RANGE);
    assert_string_equal(error.check, "source_not_finite");
    assert_int_equal(error.row, 5);
    assert_int_equal(error.column, 9);
    qp_method_job job = {.target = &target, .method = qp_method_find("nvfp4_absmax")};
    qp_method_rows chunk = {.values = values, .words = words};
    assert_int_equal(qp_method_survey_count(&job), 1);
    assert_int_equal(qp_method_encode(&job, &chunk, &error), QP_INVALID_ARGUMENT);
    format_words_free(&words);
    free(values);
}

/* Each stacked source has its own divisor, and rows take that of their own. */
static void test_stacked(void **state)
{
    uint64_t shape[2] = {256, COLUMNS};
    qp_matrix target = format_plan("nvfp4", shape, 2, 2);
    float *values = format_values(2 * COUNT);
    qp_word_planes words = format_words(&target, 256);
    (void)state;
    for (size_t k = 0; k < COUNT; k++) {
        values[k] = (float)(k % 7);
        values[COUNT + k] = (float)(k % 7) * 0x1p-10f;
    }
    assert_int_equal(method_values("nvfp4_search", &target, values, &words, NULL), QP_OK);
    assert_true(divisor_in(&words) == 448.0f);
    assert_int_equal(qp_load_u32(words.divisors + 4), qp_bits_of_float(448.0f * 1024.0f));
    assert_memory_equal(words.codes, words.codes + COUNT / 2, COUNT / 2);
    assert_memory_equal(words.scales, words.scales + COUNT / 16, COUNT / 16);
    format_words_free(&words);
    free(values);
}

/* ---- the definition, step by step --------------------------------------------------------- */

static float e4m3(int word)
{
    return qp_float_of_bits(qp_e4m3_to_f32_bits((uint8_t)word));
}

/* The nearest E2M1 of the exact quotient: products with a scale are exact in binary64. */
static int text_code(float y, float scale)
{
    double best = DBL_MAX;
    int code = 0;
    for (int c = 0; c < 8; c++) {
        double value = (double)qp_float_of_bits(qp_e2m1_to_f32_bits((uint8_t)c)) * (double)scale;
        double off = fabs(fabs((double)y) - value);
        if (off < best || (off == best && c % 2 == 0)) {
            best = off;
            code = c;
        }
    }
    return code | (signbit(y) ? 8 : 0);
}

static float text_error(const float *y, const float *w, float scale)
{
    float e[16];
    for (size_t j = 0; j < 16; j++) {
        uint8_t code = (uint8_t)(text_code(y[j], scale) & 7);
        float r = fabsf(y[j]) - scale * qp_float_of_bits(qp_e2m1_to_f32_bits(code));
        e[j] = w != NULL ? (w[j] * r) * r : r * r;
    }
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            e[j] = e[j] + e[j + half];
    return e[0];
}

static int text_word(const float *y, const float *w, bool search)
{
    float m = 0;
    for (size_t j = 0; j < 16; j++)
        m = fabsf(y[j]) > m ? fabsf(y[j]) : m;
    if (m == 0)
        return 0;
    int first = qp_e4m3_from_f32_bits(qp_bits_of_float(m / 6.0f));
    first = first == 0 ? 1 : first;
    int best = first;
    for (int word = first - 2; search && word <= first + 6; word++)
        if (word >= 1 && word <= 0x7E && word != first &&
            text_error(y, w, e4m3(word)) < text_error(y, w, e4m3(best)))
            best = word;
    return best;
}

static void check_block(const float *x, const float *w, float d, bool search,
                        const qp_word_planes *words, size_t k)
{
    float y[16];
    for (size_t j = 0; j < 16; j++)
        y[j] = x[k + j] * d;
    int word = text_word(y, w, search);
    assert_int_equal(words->scales[k / 16], word);
    for (size_t j = 0; j < 16; j++)
        assert_int_equal(code_at(words, k + j), word == 0 ? 0 : text_code(y[j], e4m3(word)));
}

static void test_against_the_definition(void **state)
{
    uint64_t seed = 16;
    float *values = format_values(COUNT), weights[COLUMNS];
    (void)state;
    for (int round = 0; round < 24; round++) {
        bool search = round % 3 != 0;
        const float *importance = round % 3 == 2 ? weights : NULL;
        for (size_t n = 0; n < 128; n++)
            random_values(&seed, values + n * COLUMNS, COLUMNS);
        for (size_t k = 0; k < COLUMNS; k++)
            weights[k] = (float)test_below(&seed, 1000);
        qp_word_planes words =
            quantize(search ? "nvfp4_search" : "nvfp4_absmax", values, importance);
        for (size_t k = 0; k < COUNT; k += 16)
            check_block(values, importance != NULL ? importance + k % COLUMNS : NULL,
                        divisor_in(&words), search, &words, k);
        format_words_free(&words);
    }
    free(values);
}

static double squared_error(const char *method, const float *values)
{
    qp_matrix target = format_plan_two("nvfp4", 128, COLUMNS);
    float *decoded = format_values(COUNT);
    qp_word_planes words = quantize(method, values, NULL);
    double sum = 0;
    qp_words_decode(&target, 0, 128, &words, decoded);
    for (size_t k = 0; k < COUNT; k++)
        sum += (double)(values[k] - decoded[k]) * (double)(values[k] - decoded[k]);
    format_words_free(&words);
    free(decoded);
    return sum;
}

/* On weights of a bell shape the search takes off a fifth of the squared error at least. */
static void test_gain(void **state)
{
    uint64_t seed = 61;
    float *values = format_values(COUNT);
    (void)state;
    for (size_t k = 0; k < COUNT; k++)
        values[k] = weight_like(&seed);
    assert_true(squared_error("nvfp4_search", values) <
                0.8 * squared_error("nvfp4_absmax", values));
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_divisors),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_stacked),
        cmocka_unit_test(test_against_the_definition),
        cmocka_unit_test(test_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
