/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_words.c - arbitrary bytes as a tensor of any format: they unpack, are checked and decode
 * without a fault; words pack to words that unpack the same; the bytes themselves come back where
 * padding is canonical; and where the words are valid every way to decode them gives the same
 * values. Five bytes choose format, rows, columns, divisors and the first row of a view.
 */
#include "format/format.h"

#include <stdlib.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

enum { HEAD_BYTES = 5 };

static void *allocate(uint64_t size)
{
    void *block = malloc(size > 0 ? (size_t)size : 1);
    REQUIRE(block != NULL);
    return block;
}

static qp_word_planes make_words(const qp_matrix *matrix, uint64_t count)
{
    return (qp_word_planes){
        allocate(count * matrix->code_row_bytes),
        allocate(count * matrix->scale_row_bytes),
        allocate(matrix->planes[3].size),
    };
}

static void free_words(qp_word_planes *words)
{
    free(words->codes);
    free(words->scales);
    free(words->divisors);
}

static bool same_words(const qp_matrix *matrix, const qp_word_planes *a, const qp_word_planes *b)
{
    return memcmp(a->codes, b->codes, (size_t)(matrix->rows * matrix->code_row_bytes)) == 0 &&
           memcmp(a->scales, b->scales, (size_t)(matrix->rows * matrix->scale_row_bytes)) == 0 &&
           memcmp(a->divisors, b->divisors, (size_t)matrix->planes[3].size) == 0;
}

/* The geometry that the head chooses; false where it is refused, as it must be by then. */
static bool plan(const uint8_t *head, qp_matrix *matrix)
{
    const qp_format *format = qp_format_at(head[0] % qp_format_count());
    bool is_nvfp4 = format->family == QP_FAMILY_NVFP4;
    uint64_t unit = is_nvfp4 ? 64 : format->family == QP_FAMILY_GGUF ? format->group : 1;
    uint64_t shape[2] = {is_nvfp4 ? 128 * (1 + head[1] % 4u) : head[1] % 8u,
                         unit == 1 ? 4 * (uint64_t)head[2] + head[4] % 4u : unit * (head[2] % 4u)};
    qp_error error = {.check = NULL};
    qp_status status =
        qp_matrix_plan(format, NULL, shape, 2, is_nvfp4 ? head[3] % 5u : 1, matrix, &error);
    REQUIRE(status == QP_OK || (error.check != NULL && strcmp(error.check, "C-GEOM") == 0));
    return status == QP_OK;
}

static void check_decoding(const qp_matrix *matrix, const uint8_t *bytes,
                           const qp_word_planes *words, uint64_t first)
{
    uint64_t count = matrix->rows - first, size = matrix->rows * matrix->columns;
    uint64_t skipped = first * matrix->columns;
    float *expected = allocate(size * sizeof *expected), *values = allocate(size * sizeof *values);
    qp_rows rows = qp_rows_in(matrix, bytes, first, count);
    qp_status status = qp_words_check(matrix, 0, matrix->rows, words, NULL);

    qp_words_decode(matrix, 0, matrix->rows, words, expected);
    for (unsigned way = 0; way < 3; way++) {
        if (way == 0)
            qp_rows_decode_ref(matrix, &rows, values);
        else
            qp_rows_decode(matrix, &rows, way == 1 ? 0 : qp_cpu_features(), values);
        if (status == QP_OK)
            REQUIRE(memcmp(values, expected + skipped, (size_t)(size - skipped) * sizeof *values) ==
                    0);
    }
    free(expected);
    free(values);
}

/* Packs the words; true where every byte came back. */
static bool check_packing(const qp_matrix *matrix, const uint8_t *bytes,
                          const qp_word_planes *words)
{
    uint8_t *packed = allocate(matrix->bytes), *planes[QP_PLANES];
    qp_word_planes again = make_words(matrix, matrix->rows);
    memset(packed, 0, (size_t)matrix->bytes);
    for (unsigned p = 0; p < QP_PLANES; p++)
        planes[p] = packed + matrix->planes[p].offset;
    qp_rows_pack(matrix, 0, matrix->rows, words, planes);

    qp_rows rows = qp_rows_in(matrix, packed, 0, matrix->rows);
    REQUIRE(qp_rows_check_padding(matrix, &rows, NULL) == QP_OK);
    qp_rows_unpack(matrix, &rows, &again);
    REQUIRE(same_words(matrix, words, &again));
    bool same = true;
    for (unsigned p = 0; p < QP_PLANES; p++)
        same = same && memcmp(packed + matrix->planes[p].offset, bytes + matrix->planes[p].offset,
                              (size_t)matrix->planes[p].size) == 0;
    free_words(&again);
    free(packed);
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_matrix matrix;
    if (size <= HEAD_BYTES || !plan(data, &matrix))
        return 0;
    uint8_t *bytes = allocate(matrix.bytes);
    for (uint64_t i = 0; i < matrix.bytes; i++)
        bytes[i] = data[HEAD_BYTES + i % (size - HEAD_BYTES)];
    qp_word_planes words = make_words(&matrix, matrix.rows);
    qp_rows rows = qp_rows_in(&matrix, bytes, 0, matrix.rows);

    qp_rows_unpack(&matrix, &rows, &words);
    check_decoding(&matrix, bytes, &words, data[3] % matrix.rows);
    bool canonical = qp_rows_check_padding(&matrix, &rows, NULL) == QP_OK;
    REQUIRE(check_packing(&matrix, bytes, &words) == canonical);
    free_words(&words);
    free(bytes);
    return 0;
}
