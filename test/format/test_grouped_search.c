/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grouped_search.c - grouped_search against artifact-container.md section 9.4 written out
 * plainly: every candidate in order, every sum in full.
 */
#include "format/grouped_encode.h"
#include "method_values.h"

/* ---- the text ----------------------------------------------------------------------------- */

typedef struct text_group {
    size_t count;
    float x[128];
    double w[128];
    int qmin, qmax;
    bool negative;
    uint16_t scale; /* the running best */
    int codes[128];
    double error;
} text_group;

static double exact(uint16_t word)
{
    return (double)qp_float_of_bits(qp_f16_to_f32_bits(word));
}

static int rne_clamped(float v, int qmin, int qmax)
{
    if (v <= (float)qmin)
        return qmin;
    if (v >= (float)qmax)
        return qmax;
    int whole = (int)v;
    float rest = v - (float)whole;
    if (rest < 0) {
        whole--;
        rest += 1;
    }
    if (rest > 0.5f || (rest == 0.5f && whole % 2 != 0))
        whole++;
    return whole;
}

static void text_codes(const text_group *g, uint16_t scale, int *codes)
{
    float inverse = 1.0f / (float)exact(scale);
    for (size_t k = 0; k < g->count; k++)
        codes[k] = rne_clamped(g->x[k] * inverse, g->qmin, g->qmax);
}

static double text_error(const text_group *g, uint16_t scale, const int *codes)
{
    double sum = 0;
    for (size_t k = 0; k < g->count; k++) {
        double r = (double)g->x[k] - exact(scale) * codes[k];
        sum += (g->w[k] * r) * r;
    }
    return sum;
}

static double text_fit(const text_group *g)
{
    double num = 0, den = 0;
    for (size_t k = 0; k < g->count; k++) {
        num += (g->w[k] * (double)g->x[k]) * g->codes[k];
        den += (g->w[k] * g->codes[k]) * g->codes[k];
    }
    return den <= 0 ? 0 : num / den;
}

static uint16_t text_round(double raw)
{
    uint16_t word = qp_f16_from_f32_bits(qp_bits_of_float((float)raw));
    if (raw != 0 && (word & 0x7FFF) == 0)
        return raw < 0 ? 0x8001 : 0x0001;
    return word;
}

static void text_try(text_group *g, uint16_t word)
{
    int codes[128];
    uint16_t magnitude = word & 0x7FFF;
    if (magnitude == 0 || magnitude >= 0x7C00 || (word >= 0x8000 && !g->negative))
        return;
    text_codes(g, word, codes);
    double error = text_error(g, word, codes);
    if (error < g->error) {
        g->error = error;
        g->scale = word;
        memcpy(g->codes, codes, sizeof codes);
    }
}

static void text_try_neighbour(text_group *g, uint16_t word, int n)
{
    int magnitude = word & 0x7FFF;
    if (magnitude != 0 && magnitude + n >= 1 && magnitude + n <= 0x7BFF)
        text_try(g, (uint16_t)((word & 0x8000) | (magnitude + n)));
}

static void text_search(text_group *g, double amax, double extreme)
{
    uint16_t s0 = g->scale;
    uint16_t fitted = text_round(text_fit(g));
    g->error = text_error(g, s0, g->codes);
    for (int i = 0; i < 25; i++)
        text_try(g, text_round(amax / g->qmax * ((70 + 2 * i) / 100.0)));
    for (int i = 0; i < 25; i++)
        text_try(g, text_round(extreme / g->qmin * ((70 + 2 * i) / 100.0)));
    text_try(g, text_round(exact(s0) / 4));
    text_try(g, text_round(exact(s0) / 2));
    text_try(g, text_round(exact(s0) * 2));
    text_try(g, text_round(exact(s0) * 4));
    for (int n = -2; n <= 2; n++)
        if (n != 0)
            text_try_neighbour(g, s0, n);
    text_try(g, fitted);
    text_try(g, text_round(exact(fitted) / 2));
    text_try(g, text_round(exact(fitted) * 2));
    for (int n = -2; n <= 2; n++)
        if (n != 0)
            text_try_neighbour(g, fitted, n);
    fitted = text_round(text_fit(g));
    text_try(g, fitted);
    text_try_neighbour(g, fitted, -1);
    text_try_neighbour(g, fitted, 1);
}

static void text_encode(text_group *g)
{
    float amax = 0, extreme = 0;
    for (size_t k = 0; k < g->count; k++) {
        float magnitude = g->x[k] < 0 ? -g->x[k] : g->x[k];
        if (magnitude > amax) {
            amax = magnitude;
            extreme = g->x[k];
        }
    }
    g->scale = 0;
    memset(g->codes, 0, sizeof g->codes);
    if (amax == 0)
        return;
    g->scale = text_round((double)(amax / (float)g->qmax));
    g->scale = g->scale == 0 ? 0x0001 : g->scale; /* section 7.2: even if the quotient is 0 */
    text_codes(g, g->scale, g->codes);
    text_search(g, (double)amax, (double)extreme);
}

/* ---- comparison --------------------------------------------------------------------------- */

static void compare_group(const qp_method_job *job, const float *values, uint64_t k,
                          const uint8_t *codes, uint16_t scale)
{
    const qp_format *format = job->target->format;
    text_group g = {
        .qmin = format->code_min, .qmax = format->code_max, .negative = job->negative_scales};
    for (uint64_t i = k; i < job->target->columns && i < k + format->group; i++) {
        g.w[g.count] = job->importance != NULL ? (double)job->importance[i] : 1;
        g.x[g.count++] = values[i];
    }
    text_encode(&g);
    assert_int_equal(scale, g.scale);
    for (size_t i = 0; i < g.count; i++)
        assert_int_equal(qp_to_i8(codes[k + i]), g.codes[i]);
}

static void run_and_compare(qp_method_job job, const float *values)
{
    const qp_matrix *target = job.target;
    for (size_t m = 0; m < TEST_COUNT(method_masks); m++) {
        qp_method_rows rows = {.values = values, .words = format_words(target, target->rows)};
        job.cpu = method_mask(m);
        assert_int_equal(method_run(job, &rows, target->rows, NULL), QP_OK);
        for (uint64_t n = 0; n < target->rows; n++)
            for (uint64_t k = 0; k < target->columns; k += target->format->group)
                compare_group(&job, values + n * target->columns, k,
                              rows.words.codes + n * target->code_row_bytes,
                              qp_load_u16(rows.words.scales + n * target->scale_row_bytes +
                                          k / target->format->group * 2));
        format_words_free(&rows.words);
    }
}

static void random_importance(uint64_t *seed, float *weights, uint64_t count)
{
    static const float units[] = {1.0f, 1e-6f, 1e6f, 0x1p-140f, 0x1p120f, 0.0f};
    uint32_t wide = test_below(seed, 2);
    float unit = units[test_below(seed, TEST_COUNT(units))];
    for (uint64_t k = 0; k < count; k++) {
        unit = wide != 0 ? units[test_below(seed, TEST_COUNT(units))] : unit;
        weights[k] = (float)test_below(seed, 1000) * 0.01f * unit;
    }
}

static void compare_format(const char *format, uint64_t *seed)
{
    float values[3 * 300], weights[300];
    uint64_t columns = 1 + test_below(seed, 300);
    qp_matrix target = format_plan_two(format, 3, columns);
    for (uint64_t n = 0; n < 3; n++)
        random_values(seed, values + n * columns, columns);
    random_importance(seed, weights, columns);
    qp_method_job job = {.target = &target,
                         .element = qp_element_find("F32"),
                         .method = qp_method_find("grouped_search"),
                         .negative_scales = test_below(seed, 2) != 0,
                         .importance = test_below(seed, 2) != 0 ? weights : NULL};
    run_and_compare(job, values);
}

static void test_against_the_text(void **state)
{
    static const char *const formats[] = {"q4_g64_fp16", "q5_g64_fp16", "q6_g64_fp16",
                                          "q8_g32_fp16", "t2_g128_fp16"};
    uint64_t seed = 94;
    (void)state;
    for (size_t i = 0; i < 500; i++)
        compare_format(formats[i % TEST_COUNT(formats)], &seed);
}

/* An infinite least-squares scale is no candidate, its neighbour 0x7bff is one. */
static void test_the_largest_scale(void **state)
{
    float values[64] = {65519.0f * 7.0f, -65519.0f * 7.0f};
    qp_matrix target = format_plan_two("q4_g64_fp16", 1, 64);
    qp_method_job job = {.target = &target, .method = qp_method_find("grouped_search")};
    (void)state;
    for (size_t k = 2; k < 64; k++)
        values[k] = 65519.0f * (float)(k % 8);
    run_and_compare(job, values);
}

/* The error of a kernel is the sum in order, its estimate close to it. */
static void check_kernel(const qp_grouped_kernel *kernel, const qp_search_group *group)
{
    float scales[16], inverses[16], estimates[16];
    double errors[16];
    for (size_t c = 0; c < 16; c++) {
        scales[c] = (float)exact((uint16_t)(c % 2 == 0 ? 0x2000 + 517 * c : 0x9000 + 31 * c));
        inverses[c] = 1.0f / scales[c];
    }
    kernel->estimate(group, scales, inverses, 16, estimates);
    kernel->error(group, scales, inverses, 16, errors);
    for (size_t c = 0; c < 16; c++) {
        double sum = 0;
        for (size_t k = 0; k < group->count; k++) {
            int code = rne_clamped(group->values[k] * inverses[c], (int)group->range.least,
                                   (int)group->range.most);
            double r = (double)group->values[k] - (double)scales[c] * code;
            sum += (group->weights != NULL ? (double)group->weights[k] * r : r) * r;
        }
        assert_true(errors[c] == sum);
        double off = (double)estimates[c] - sum, bound = (double)(group->count + 8) * 0x1p-24;
        assert_true(off <= bound * sum + 0x1p-118 && off >= -bound * sum - 0x1p-118);
    }
}

static void test_kernels(void **state)
{
    float values[128], weights[128];
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < qp_grouped_kernel_count(); i++) {
        const qp_grouped_kernel *kernel = qp_grouped_kernel_at(i);
        if ((kernel->cpu & ~qp_cpu_features()) != 0)
            continue;
        for (int round = 0; round < 200; round++) {
            qp_search_group group = {.values = values,
                                     .weights = round % 2 == 0 ? weights : NULL,
                                     .count = 1 + test_below(&seed, 128),
                                     .range = {-16.0f, 15.0f}};
            random_values(&seed, values, 128);
            for (size_t k = 0; k < 128; k++)
                weights[k] = (float)test_below(&seed, 100);
            check_kernel(kernel, &group);
        }
    }
    assert_null(qp_grouped_kernel_find(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_text),
        cmocka_unit_test(test_the_largest_scale),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
