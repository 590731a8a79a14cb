/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_methods.c - the registry of methods, the refusals that need no data, and what
 * qp_method_encode does around a method, a program's own included.
 */
#include "format/method.h"
#include "method_values.h"

#include <math.h>

#if defined(__SSE2__)
#    include <xmmintrin.h>
#endif

static void test_registry(void **state)
{
    (void)state;
    assert_true(qp_method_count() >= 7);
    for (size_t i = 0; i < qp_method_count(); i++) {
        const qp_method *method = qp_method_at(i);
        assert_ptr_equal(qp_method_find(method->name), method);
        assert_non_null(method->summary);
        assert_non_null(method->encode);
        assert_true((method->survey == NULL) == (method->survey_count == NULL));
        size_t targets = 0;
        for (size_t f = 0; f < qp_format_count(); f++)
            targets += method->targets(qp_format_at(f));
        assert_true(targets > 0);
    }
    assert_null(qp_method_at(qp_method_count()));
    assert_null(qp_method_find("grouped"));
}

/* artifact-container.md section 9.1 */
static void test_targets(void **state)
{
    static const struct {
        const char *method, *format;
        bool takes;
    } rows[] = {
        {"cast_direct", "bf16", true},
        {"cast_direct", "int32", true},
        {"cast_direct", "q4_g64_fp16", false},
        {"grouped_absmax", "q4_g64_fp16", true},
        {"grouped_absmax", "q8_g32_fp16", true},
        {"grouped_absmax", "t2_g128_fp16", true},
        {"grouped_absmax", "q2_g64_fp16", false},
        {"grouped_absmax", "nvfp4", false},
        {"grouped_search", "q6_g64_fp16", true},
        {"grouped_search", "q2_g64_fp16", false},
        {"fp8_row_maxabs", "fp8_e4m3fn_row_bf16", true},
        {"fp8_row_maxabs", "fp8_e4m3fn_row_fp16", true},
        {"fp8_row_maxabs", "fp32", false},
        {"import_encoded", "nvfp4", true},
        {"import_encoded", "q2_g64_fp16", true},
        {"import_encoded", "gguf_iq1_m", true},
        {"import_encoded", "bf16", false},
        {"nvfp4_absmax", "nvfp4", true},
        {"nvfp4_search", "fp8_e4m3fn_row_bf16", false},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        const qp_method *method = qp_method_find(rows[i].method);
        assert_int_equal(method->targets(qp_format_find(rows[i].format)), rows[i].takes);
    }
}

/* Prepares and expects that check; NULL: success. */
static void expect_prepare(const qp_method_job *job, const char *check, int64_t column)
{
    qp_error error = {.check = NULL, .column = -1};
    qp_status status = qp_method_prepare(job, &error);
    if (check == NULL) {
        assert_int_equal(status, QP_OK);
    } else {
        assert_int_not_equal(status, QP_OK);
        assert_non_null(error.check);
        assert_string_equal(error.check, check);
        assert_int_equal(error.column, column);
        assert_int_equal(qp_method_prepare(job, NULL), status);
    }
}

static void test_prepare(void **state)
{
    qp_matrix target = format_plan_two("q4_g64_fp16", 2, 4);
    float importance[4] = {0, -0.0f, 1, 3e38f};
    qp_method_job job = {.target = &target,
                         .element = qp_element_find("F16"),
                         .method = qp_method_find("grouped_search")};
    (void)state;
    job.importance = importance;
    job.negative_scales = true;
    expect_prepare(&job, NULL, -1);
    importance[3] = (float)NAN;
    expect_prepare(&job, "importance_invalid", 3);
    importance[2] = -1e-40f;
    expect_prepare(&job, "importance_invalid", 2);
    importance[1] = (float)INFINITY;
    expect_prepare(&job, "importance_invalid", 1);
    job.method = qp_method_find("grouped_absmax");
    expect_prepare(&job, "method_parameter", -1);
    job.importance = NULL;
    expect_prepare(&job, "method_parameter", -1);
    job.negative_scales = false;
    expect_prepare(&job, NULL, -1);
    job.element = qp_element_find("I32");
    expect_prepare(&job, "source_type", -1);
    job.element = NULL; /* values decoded from an encoded source */
    expect_prepare(&job, NULL, -1);
    job.method = qp_method_find("import_encoded");
    job.element = qp_element_find("F32");
    expect_prepare(&job, "source_type", -1);
    target = format_plan_two("q2_g64_fp16", 2, 64);
    job.method = qp_method_find("grouped_search");
    expect_prepare(&job, "method_target", -1);
}

/* ---- a program's own method --------------------------------------------------------------- */

static bool any_format(const qp_format *format)
{
    (void)format;
    return true;
}

/* Writes the byte that `context` points to as every code, and a scale of 1. */
static qp_status encode_same(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    const uint8_t *code = job->method->context;
    (void)error;
    memset(rows->words.codes, *code, rows->count * job->target->code_row_bytes);
    for (uint64_t i = 0; i < rows->count * job->target->scale_row_bytes; i += 2) {
        rows->words.scales[i] = 0x00;
        rows->words.scales[i + 1] = 0x3C;
    }
    return QP_OK;
}

static void test_own_method(void **state)
{
    uint8_t code = 7;
    qp_method own = {.name = "same",
                     .summary = "one code",
                     .input = QP_INPUT_VALUES,
                     .targets = any_format,
                     .encode = encode_same,
                     .context = &code};
    qp_matrix target = format_plan_two("q4_g64_fp16", 5, 70);
    qp_method_job job = {.target = &target, .method = &own};
    qp_error error;
    (void)state;
    qp_word_planes words = format_words(&target, 5);
    qp_method_rows rows = {.words = words};
    assert_int_equal(method_run(job, &rows, 2, &error), QP_OK);
    code = 8; /* no code of q4 */
    qp_method_rows later = method_chunk(&job, &rows, 3, 2);
    assert_int_equal(qp_method_encode(&job, &later, &error), QP_FIELD_RANGE);
    assert_string_equal(error.check, "code_invalid");
    assert_int_equal(error.row, 3);
    assert_int_equal(error.column, 0);
    assert_int_equal(qp_method_survey_count(&job), 0);
    assert_int_equal(qp_method_survey(&job, &later, NULL, &error), QP_OK);

    later.count = 3; /* past the last row */
    assert_int_equal(qp_method_encode(&job, &later, &error), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_method_survey(&job, &later, NULL, &error), QP_INVALID_ARGUMENT);
    later.first = UINT64_MAX;
    assert_int_equal(qp_method_encode(&job, &later, &error), QP_INVALID_ARGUMENT);
    format_words_free(&words);
}

static void test_broken_methods(void **state)
{
    qp_matrix target = format_plan_two("q4_g64_fp16", 1, 1);
    qp_method good = {.name = "own", .targets = any_format, .encode = encode_same}, bad;
    qp_method_job job = {.target = &target, .method = &bad};
    (void)state;
    bad = good;
    assert_int_equal(qp_method_prepare(&job, NULL), QP_OK);
    bad.name = "";
    assert_int_equal(qp_method_prepare(&job, NULL), QP_INVALID_ARGUMENT);
    bad = good;
    bad.encode = NULL;
    assert_int_equal(qp_method_prepare(&job, NULL), QP_INVALID_ARGUMENT);
    bad = good;
    bad.survey_count = qp_method_nvfp4_absmax.survey_count;
    assert_int_equal(qp_method_prepare(&job, NULL), QP_INVALID_ARGUMENT);
    job.method = NULL;
    assert_int_equal(qp_method_prepare(&job, NULL), QP_INVALID_ARGUMENT);
}

/* ---- independence ------------------------------------------------------------------------- */

/* The methods that read values, each with a format. */
static const char *const value_rows[][2] = {
    {"grouped_absmax", "q5_g64_fp16"},
    {"grouped_search", "q4_g64_fp16"},
    {"fp8_row_maxabs", "fp8_e4m3fn_row_bf16"},
    {"fp8_row_maxabs", "fp8_e4m3fn_row_fp16"},
    {"nvfp4_absmax", "nvfp4"},
    {"nvfp4_search", "nvfp4"},
};

static float *some_values(uint64_t *seed, uint64_t count)
{
    float *values = format_values(count);
    for (uint64_t k = 0; k < count; k++)
        values[k] = weight_like(seed) + (k % 5 == 0 ? 0x1p-30f * weight_like(seed) : 0);
    return values;
}

/* A mode that a program may have set: toward +infinity, subnormals flushed. */
static void set_mode(bool strange)
{
#if defined(__SSE2__)
    _mm_setcsr(strange ? 0x1F80u | 0x4000u | 0x8000u | 0x0040u : 0x1F80u);
#else
    (void)strange;
#endif
}

static void check_same(const char *method, const char *format)
{
    uint64_t seed = 5;
    qp_matrix target = format_plan_two(format, 128, 192);
    float *values = some_values(&seed, 128 * 192);
    qp_word_planes expected = format_words(&target, 128), words = format_words(&target, 128);
    qp_method_job job = {.target = &target, .method = qp_method_find(method)};
    qp_method_rows rows = {.values = values, .words = expected};
    assert_int_equal(method_run(job, &rows, 128, NULL), QP_OK);
    rows.words = words;
    for (size_t i = 0; i < TEST_COUNT(method_masks); i++) {
        memset(words.codes, 0xAA, 128 * target.code_row_bytes);
        job.cpu = method_mask(i);
        set_mode(i % 2 != 0);
        qp_status status = method_run(job, &rows, 1 + 30 * i, NULL);
        set_mode(false);
        assert_int_equal(status, QP_OK);
        assert_memory_equal(words.codes, expected.codes, 128 * target.code_row_bytes);
        assert_memory_equal(words.scales, expected.scales, 128 * target.scale_row_bytes);
        assert_memory_equal(words.divisors, expected.divisors, 4);
    }
    format_words_free(&expected);
    format_words_free(&words);
    free(values);
}

/* Neither chunks, processor nor floating-point mode change a word. */
static void test_independence(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(value_rows); i++)
        check_same(value_rows[i][0], value_rows[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),       cmocka_unit_test(test_targets),
        cmocka_unit_test(test_prepare),        cmocka_unit_test(test_own_method),
        cmocka_unit_test(test_broken_methods), cmocka_unit_test(test_independence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
