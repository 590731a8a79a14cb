/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_methods.c - any method on any source bytes: it gives valid words or refuses with a check and
 * a place, the same on every processor mask and in any chunks; and grouped_search is never worse
 * than grouped_absmax.
 *
 * Input: method, format, element and flags, a byte each, then the number of columns less one, then
 * importance and source bytes, repeated as often as needed.
 */
#include "number/minifloat.h"
#include "quipu/format.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

#define COLUMNS_MAX 320
#define ROWS_MAX 128

typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

/* Source bytes, a copy of exactly `size`. */
static uint8_t *fill(const input *in, size_t size)
{
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < size; i++)
        bytes[i] = in->size > 0 ? in->data[i % in->size] : 0;
    return bytes;
}

static float *fill_floats(const input *in, size_t count)
{
    uint8_t *bytes = fill(in, 4 * count);
    float *values = malloc(4 * count);
    REQUIRE(values != NULL);
    for (size_t i = 0; i < count; i++)
        values[i] = qp_float_of_bits(qp_load_u32(bytes + 4 * i));
    free(bytes);
    return values;
}

typedef struct outcome {
    qp_status status;
    qp_error error;
    qp_word_planes words;
} outcome;

static qp_word_planes new_words(const qp_matrix *target)
{
    qp_word_planes words = {calloc(1, (size_t)(target->rows * target->code_row_bytes)),
                            calloc(1, (size_t)(target->rows * target->scale_row_bytes) + 1),
                            calloc(1, 4 * (size_t)target->divisors)};
    REQUIRE(words.codes != NULL && words.scales != NULL && words.divisors != NULL);
    return words;
}

static void free_words(qp_word_planes *words)
{
    free(words->codes);
    free(words->scales);
    free(words->divisors);
}

/* The rows from `first` on; encoded sources are not cut. */
static qp_method_rows cut(const qp_method_job *job, const qp_method_rows *all, uint64_t first,
                          uint64_t count)
{
    qp_method_rows rows = *all;
    rows.first = first;
    rows.count = count;
    if (all->values != NULL)
        rows.values += first * job->target->columns;
    if (all->elements != NULL)
        rows.elements += first * job->target->columns * job->element->bytes;
    rows.words.codes += first * job->target->code_row_bytes;
    rows.words.scales += first * job->target->scale_row_bytes;
    return rows;
}

static outcome run(qp_method_job job, qp_method_rows rows, uint64_t step)
{
    outcome o = {.words = new_words(job.target)};
    float maxima[1] = {0};
    uint64_t all = job.target->rows;

    rows.words = o.words;
    o.status = qp_method_prepare(&job, &o.error);
    if (o.status == QP_OK && qp_method_survey_count(&job) > 0) {
        qp_method_rows whole = cut(&job, &rows, 0, all);
        o.status = qp_method_survey(&job, &whole, maxima, &o.error);
        job.survey = maxima;
    }
    for (uint64_t n = 0; n < all && o.status == QP_OK; n += step) {
        qp_method_rows some = cut(&job, &rows, n, all - n < step ? all - n : step);
        o.status = qp_method_encode(&job, &some, &o.error);
    }
    return o;
}

static void require_same(const qp_matrix *target, const outcome *a, const outcome *b)
{
    REQUIRE(a->status == b->status);
    if (a->status != QP_OK) {
        REQUIRE(a->error.check == b->error.check && a->error.row == b->error.row &&
                a->error.column == b->error.column);
        return;
    }
    REQUIRE(memcmp(a->words.codes, b->words.codes,
                   (size_t)(target->rows * target->code_row_bytes)) == 0);
    REQUIRE(memcmp(a->words.scales, b->words.scales,
                   (size_t)(target->rows * target->scale_row_bytes)) == 0);
}

static double group_error(const qp_method_job *job, const float *values, const float *decoded,
                          uint64_t first, uint64_t end)
{
    double sum = 0;
    for (uint64_t k = first; k < end; k++) {
        double weight = job->importance != NULL ? (double)job->importance[k] : 1;
        double rest = (double)values[k] - (double)decoded[k];
        sum += (weight * rest) * rest;
    }
    return sum;
}

/* Products of scale and code are exact in binary32, so decoded values give the search's errors. */
static void require_not_worse(qp_method_job job, const qp_method_rows *rows, const outcome *found)
{
    const qp_matrix *target = job.target;
    uint32_t group = target->format->group;
    float *decoded[2];
    job.method = qp_method_find("grouped_absmax");
    qp_method_job plain = job;
    plain.importance = NULL;
    plain.negative_scales = false;
    outcome first = run(plain, *rows, target->rows);
    const qp_word_planes *words[2] = {&found->words, &first.words};
    for (size_t i = 0; i < 2; i++) {
        decoded[i] = malloc((size_t)(target->rows * target->columns) * sizeof(float));
        REQUIRE(decoded[i] != NULL);
        qp_words_decode(target, 0, target->rows, words[i], decoded[i]);
    }
    for (uint64_t n = 0; n < target->rows; n++)
        for (uint64_t k = 0; k < target->columns; k += group) {
            uint64_t end = target->columns - k < group ? target->columns : k + group;
            uint64_t row = n * target->columns;
            REQUIRE(group_error(&job, rows->values + row, decoded[0] + row, k, end) <=
                    group_error(&job, rows->values + row, decoded[1] + row, k, end));
        }
    free(decoded[0]);
    free(decoded[1]);
    free_words(&first.words);
}

static void check_job(qp_method_job job, const qp_method_rows *rows)
{
    static const uint32_t masks[] = {QP_CPU_AVX2, QP_CPU_AVX2 | QP_CPU_AVX512, QP_CPU_NEON};
    outcome plain = run(job, *rows, job.target->rows);
    if (plain.status != QP_OK)
        REQUIRE(plain.error.message[0] != '\0' && plain.status != QP_INTERNAL);
    bool cuts = job.method->input != QP_INPUT_ENCODED;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        job.cpu = masks[i] & qp_cpu_features();
        outcome again = run(job, *rows, cuts ? 1 + i : job.target->rows);
        require_same(job.target, &plain, &again);
        free_words(&again.words);
    }
    if (plain.status == QP_OK && strcmp(job.method->name, "grouped_search") == 0)
        require_not_worse(job, rows, &plain);
    free_words(&plain.words);
}

/* Encodings of sources that are not formats' names come first. */
static const char *encoding_of(uint8_t choice)
{
    static const char *const names[] = {"ggml_142", "ggml_143"};
    size_t count = sizeof names / sizeof names[0];
    return choice < count ? names[choice] : qp_format_at(choice % qp_format_count())->name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_matrix target;
    if (size < 6)
        return 0;
    qp_method_job job = {.target = &target,
                         .method = qp_method_at(data[0] % qp_method_count()),
                         .negative_scales = (data[3] & 1) != 0};
    const qp_format *format = qp_format_at(data[1] % qp_format_count());
    uint64_t columns = 1 + qp_load_u16(data + 4) % COLUMNS_MAX;
    uint64_t shape[2] = {format->family == QP_FAMILY_NVFP4 ? ROWS_MAX : 1 + data[3] / 64, columns};
    if (qp_matrix_plan(format, NULL, shape, 2, 1, &target, NULL) != QP_OK)
        return 0;

    input in = {data + 6, size - 6};
    size_t count = (size_t)(target.rows * target.columns);
    float *values = fill_floats(&in, count), *importance = fill_floats(&in, (size_t)columns);
    /* at most 8 bytes an element or word, of any encoding */
    uint8_t *bytes = fill(&in, 8 * count + 4096);
    qp_method_rows rows = {.values = values};
    if (job.method->input == QP_INPUT_ENCODED) {
        job.encoding = encoding_of(data[2]);
        rows.count = target.rows;
        rows.encoded = (qp_word_planes){bytes, bytes, bytes};
    } else {
        job.element = qp_element_at(data[2] % qp_element_count());
        rows.elements = job.method->input == QP_INPUT_ELEMENTS ? bytes : NULL;
    }
    for (uint64_t k = 0; k < columns; k++) /* signs are refused; the test is about the rest */
        importance[k] = (data[3] & 4) != 0 ? importance[k] : fabsf(importance[k]);
    job.importance = (data[3] & 2) != 0 ? importance : NULL;
    check_job(job, &rows);
    free(values);
    free(importance);
    free(bytes);
    return 0;
}
