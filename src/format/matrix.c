/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.c - encoded tensors: their geometry, and the ways between stored bytes, words and values.
 * The layout says where words lie, the format what they mean; this file joins the two.
 */
#include "format/format.h"
#include "number/float_mode.h"

/* ---- geometry ----------------------------------------------------------------------------- */

static qp_status fail_geometry(qp_error *error, const char *format_name, const char *sentence)
{
    return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "C-GEOM", -1, "%s: %s", format_name,
                         sentence);
}

/* Sets rank, shape, rows and columns. */
static qp_status take_shape(qp_matrix *matrix, const uint64_t *shape, uint32_t rank,
                            qp_error *error)
{
    const char *name = matrix->format->name;

    if (rank > QP_SHAPE_RANK_MAX)
        return fail_geometry(error, name, "a tensor has at most 16 dimensions");
    matrix->rank = rank;
    matrix->rows = matrix->columns = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] == 0)
            return fail_geometry(error, name, "a dimension of 0 stores nothing");
        matrix->shape[i] = shape[i];
        if (i == rank - 1)
            matrix->columns = shape[i];
        else if (!qp_mul_u64(matrix->rows, shape[i], &matrix->rows))
            return qp_layout_too_large(matrix, error);
    }
    uint64_t elements;
    if (!qp_mul_u64(matrix->rows, matrix->columns, &elements))
        return fail_geometry(error, name, "a tensor has fewer than 2^64 elements");
    return QP_OK;
}

qp_status qp_matrix_plan(const qp_format *format, const qp_storage_layout *layout,
                         const uint64_t *shape, uint32_t rank, uint64_t divisors, qp_matrix *matrix,
                         qp_error *error)
{
    qp_matrix planned = {0};

    if (format == NULL)
        return fail_geometry(error, "unknown format", "the registry does not have it");
    planned.format = format;
    planned.layout = layout != NULL ? layout : qp_layout_find(format->layout);
    planned.divisors = divisors;
    planned.row_step = 1;
    if (!planned.layout->rules->takes(format))
        return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "C-GEOM", -1,
                             "layout %s does not store format %s", planned.layout->name,
                             format->name);
    if (divisors == 0 || (divisors != 1 && format->family != QP_FAMILY_NVFP4))
        return fail_geometry(error, format->name, "it does not take this number of divisors");
    qp_status status = take_shape(&planned, shape, rank, error);
    if (status != QP_OK)
        return status;
    /* sizes of the word form may wrap here; the plan refuses a shape for which they do, because
     * stored rows are never shorter */
    planned.scale_row_bytes = format->rules->scale_row_bytes(format, planned.columns);
    planned.code_row_bytes = format->rules->code_row_bytes(format, planned.columns);
    status = planned.layout->rules->plan(&planned, error);
    if (status == QP_OK)
        *matrix = planned;
    return status;
}

void qp_matrix_spans(const qp_matrix *matrix, uint64_t first, uint64_t count,
                     qp_span spans[QP_PLANES])
{
    matrix->layout->rules->spans(matrix, first, count, spans);
}

qp_rows qp_rows_in(const qp_matrix *matrix, const uint8_t *bytes, uint64_t first, uint64_t count)
{
    qp_rows rows = {first, count, {NULL}};
    qp_span spans[QP_PLANES];
    qp_matrix_spans(matrix, first, count, spans);
    for (unsigned p = 0; p < QP_PLANES; p++)
        if (spans[p].size != 0)
            rows.planes[p] = bytes + spans[p].offset;
    return rows;
}

/* ---- words -------------------------------------------------------------------------------- */

/* The divisor word of a row's own source; 0 for the formats without. */
static uint32_t divisor_of(const qp_matrix *matrix, const uint8_t *divisors, uint64_t row)
{
    if (matrix->planes[3].size == 0)
        return 0;
    return qp_load_u32(divisors + 4 * (row / (matrix->rows / matrix->divisors)));
}

static void unpack_row(const qp_matrix *matrix, const qp_rows *rows, uint64_t row,
                       const qp_word_planes *words)
{
    const struct qp_format_rules *rules = matrix->format->rules;
    uint8_t *codes = words->codes + row * matrix->code_row_bytes;
    uint8_t *scales =
        matrix->scale_row_bytes == 0 ? NULL : words->scales + row * matrix->scale_row_bytes;
    qp_piece piece;

    for (uint64_t column = 0; column < matrix->columns; column += piece.columns) {
        matrix->layout->rules->piece(matrix, rows, row, column, &piece);
        size_t code_bytes = (size_t)rules->code_row_bytes(matrix->format, piece.columns);
        size_t scale_bytes = (size_t)rules->scale_row_bytes(matrix->format, piece.columns);
        memcpy(codes, piece.words.codes, code_bytes);
        codes += code_bytes;
        if (scale_bytes != 0) {
            memcpy(scales, piece.words.scales, scale_bytes);
            scales += scale_bytes;
        }
    }
}

void qp_rows_unpack(const qp_matrix *matrix, const qp_rows *rows, const qp_word_planes *words)
{
    for (uint64_t row = 0; row < rows->count; row++)
        unpack_row(matrix, rows, row, words);
    if (matrix->planes[3].size != 0)
        memcpy(words->divisors, rows->planes[3], (size_t)matrix->planes[3].size);
}

void qp_rows_pack(const qp_matrix *matrix, uint64_t first, uint64_t count,
                  const qp_word_planes *words, uint8_t *const planes[QP_PLANES])
{
    matrix->layout->rules->pack(matrix, first, count, words, planes);
}

/* Row `index` of some words that begin at row `first` of the matrix. */
static qp_word_row word_row(const qp_matrix *matrix, uint64_t first, uint64_t index,
                            const qp_word_planes *words)
{
    qp_word_row row = {words->codes + index * matrix->code_row_bytes, NULL, 0};
    if (matrix->scale_row_bytes != 0)
        row.scales = words->scales + index * matrix->scale_row_bytes;
    row.divisor = divisor_of(matrix, words->divisors, first + index);
    return row;
}

qp_status qp_words_check(const qp_matrix *matrix, uint64_t first, uint64_t count,
                         const qp_word_planes *words, qp_error *error)
{
    const qp_format *format = matrix->format;
    for (uint64_t i = 0; i < count; i++) {
        qp_word_row row = word_row(matrix, first, i, words);
        qp_word_fault fault = format->rules->check(format, &row, matrix->columns);
        if (fault.check != NULL)
            return qp_fail_element(error, QP_FIELD_RANGE, fault.check,
                                   (qp_element_place){qp_to_i64(first + i), fault.column},
                                   "%s has %s", format->name, fault.what);
    }
    return QP_OK;
}

qp_status qp_rows_check_padding(const qp_matrix *matrix, const qp_rows *rows, qp_error *error)
{
    if (matrix->layout->rules->check_padding == NULL)
        return QP_OK;
    return matrix->layout->rules->check_padding(matrix, rows, error);
}

/* ---- values ------------------------------------------------------------------------------- */

void qp_words_decode(const qp_matrix *matrix, uint64_t first, uint64_t count,
                     const qp_word_planes *words, float *values)
{
    qp_float_mode mode = qp_float_mode_enter();
    for (uint64_t i = 0; i < count; i++) {
        qp_word_row row = word_row(matrix, first, i, words);
        matrix->format->rules->decode(matrix->format, &row, matrix->columns,
                                      values + i * matrix->columns);
    }
    qp_float_mode_leave(mode);
}

/* A row from stored bytes, a piece at a time. */
static void decode_row(const qp_matrix *matrix, const qp_rows *rows, uint64_t row, float *values)
{
    qp_piece piece;
    uint32_t divisor = divisor_of(matrix, rows->planes[3], rows->first + row);

    for (uint64_t column = 0; column < matrix->columns; column += piece.columns) {
        matrix->layout->rules->piece(matrix, rows, row, column, &piece);
        piece.words.divisor = divisor;
        matrix->format->rules->decode(matrix->format, &piece.words, piece.columns, values + column);
    }
}

void qp_rows_decode_ref(const qp_matrix *matrix, const qp_rows *rows, float *values)
{
    for (uint64_t row = 0; row < rows->count; row++)
        decode_row(matrix, rows, row, values + row * matrix->columns);
}

void qp_rows_decode(const qp_matrix *matrix, const qp_rows *rows, uint32_t cpu, float *values)
{
    const qp_decode_kernel *kernel = qp_decode_kernel_find(matrix->format, cpu);
    qp_float_mode mode = qp_float_mode_enter();
    if (kernel != NULL)
        kernel->decode(matrix, rows, values);
    else
        qp_rows_decode_ref(matrix, rows, values);
    qp_float_mode_leave(mode);
}
