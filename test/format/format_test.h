/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_test.h - what the tests of weight formats share: files of test/data, whole tensors as
 * words, and comparing values by their bits.
 */
#ifndef QP_TEST_FORMAT_FORMAT_TEST_H
#define QP_TEST_FORMAT_FORMAT_TEST_H

#include "format/format.h"
#include "number/minifloat.h"
#include "support/test.h"

static inline qp_file format_open(const char *folder, const char *name)
{
    char path[512];
    qp_file file;
    snprintf(path, sizeof path, "%s/%s/%s", QP_TEST_DATA, folder, name);
    assert_int_equal(qp_file_open(path, NULL, &file, NULL), QP_OK);
    return file;
}

static inline qp_matrix format_plan(const char *format, const uint64_t *shape, uint32_t rank,
                                    uint64_t divisors)
{
    qp_matrix matrix;
    qp_error error;
    const qp_format *found = qp_format_find(format);
    assert_non_null(found);
    if (qp_matrix_plan(found, NULL, shape, rank, divisors, &matrix, &error) != QP_OK)
        fail_msg("%s: %s", format, error.message);
    return matrix;
}

static inline qp_matrix format_plan_two(const char *format, uint64_t rows, uint64_t columns)
{
    uint64_t shape[2] = {rows, columns};
    return format_plan(format, shape, 2, 1);
}

/* Blocks of exactly the size asked for, so that a sanitizer sees a byte too far; never NULL. */
static inline uint8_t *format_bytes(uint64_t size)
{
    uint8_t *bytes = calloc(1, size > 0 ? (size_t)size : 1);
    assert_non_null(bytes);
    return bytes;
}

static inline float *format_values(uint64_t count)
{
    float *values = calloc((size_t)count, sizeof *values);
    assert_non_null(values);
    return values;
}

static inline qp_word_planes format_words(const qp_matrix *matrix, uint64_t count)
{
    qp_word_planes words = {
        format_bytes(count * matrix->code_row_bytes),
        format_bytes(count * matrix->scale_row_bytes),
        format_bytes(4 * matrix->divisors),
    };
    return words;
}

static inline void format_words_free(qp_word_planes *words)
{
    free(words->codes);
    free(words->scales);
    free(words->divisors);
}

/* Packs a whole tensor; what lies between the planes is zero. */
static inline uint8_t *format_pack(const qp_matrix *matrix, const qp_word_planes *words)
{
    uint8_t *bytes = format_bytes(matrix->bytes);
    uint8_t *planes[QP_PLANES];
    qp_span spans[QP_PLANES];
    qp_matrix_spans(matrix, 0, matrix->rows, spans);
    for (unsigned p = 0; p < QP_PLANES; p++)
        planes[p] = spans[p].size == 0 ? NULL : bytes + spans[p].offset;
    qp_rows_pack(matrix, 0, matrix->rows, words, planes);
    return bytes;
}

static inline bool format_same_bits(const float *a, const float *b, uint64_t count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

/* Whether the values are those of little-endian bytes, bit for bit. */
static inline bool format_equals_bytes(const float *values, const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (qp_bits_of_float(values[i]) != qp_load_u32(bytes + 4 * i))
            return false;
    return true;
}

#endif
