/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_scale.c - block_scale_k16_m128x4_v1: a plane of codes, a plane of scales in tiles of 128
 * rows by 4 groups, then the divisors (artifact-container.md section 7.3).
 */
#include "format/format.h"

enum {
    TILE_ROWS = 128,
    TILE_GROUPS = 4, /* of 16 columns: neighbours in a row, and neighbours in the bytes */
    TILE_COLUMNS = 64,
    TILE_BYTES = TILE_ROWS * TILE_GROUPS
};

static bool takes(const qp_format *format)
{
    return format->family == QP_FAMILY_NVFP4;
}

static qp_status check_shape(const qp_matrix *matrix, qp_error *error)
{
    uint64_t rows = matrix->rows, divisors = matrix->divisors;

    if (rows % TILE_ROWS != 0 || matrix->columns % TILE_COLUMNS != 0)
        return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "C-GEOM", -1,
                             "nvfp4 stores a multiple of 128 rows and a multiple of 64 columns");
    if (rows % divisors != 0 || (divisors > 1 && rows / divisors % TILE_ROWS != 0))
        return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "C-GEOM", -1,
                             "each divisor covers an equal share of the rows, a multiple of 128");
    return QP_OK;
}

static qp_status plan(qp_matrix *matrix, qp_error *error)
{
    qp_span *codes = &matrix->planes[0], *scales = &matrix->planes[2];
    qp_span *divisors = &matrix->planes[3];

    qp_status status = qp_layout_rank_two(matrix, error);
    if (status == QP_OK)
        status = check_shape(matrix, error);
    if (status != QP_OK)
        return status;
    if (!qp_mul_u64(matrix->rows, matrix->columns / 2, &codes->size) ||
        !qp_layout_align(codes->size, 256, &scales->offset) ||
        !qp_mul_u64(matrix->rows, matrix->columns / 16, &scales->size) ||
        !qp_add_u64(scales->offset, scales->size, &divisors->offset) ||
        !qp_mul_u64(matrix->divisors, 4, &divisors->size) ||
        !qp_add_u64(divisors->offset, divisors->size, &matrix->bytes))
        return qp_layout_too_large(matrix, error);
    matrix->row_step = TILE_ROWS;
    return QP_OK;
}

/* Bytes of one row of tiles, which holds the scales of 128 rows. */
static uint64_t tile_row_bytes(const qp_matrix *matrix)
{
    return matrix->columns / TILE_COLUMNS * TILE_BYTES;
}

static void spans_of(const qp_matrix *matrix, uint64_t first, uint64_t count,
                     qp_span spans[QP_PLANES])
{
    uint64_t code_row_bytes = matrix->columns / 2;
    uint64_t tile = first / TILE_ROWS;
    uint64_t tiles = count == 0 ? 0 : (first + count - 1) / TILE_ROWS + 1 - tile;

    spans[0].offset = first * code_row_bytes;
    spans[0].size = count * code_row_bytes;
    spans[1] = matrix->planes[1];
    spans[2].offset = matrix->planes[2].offset + tile * tile_row_bytes(matrix);
    spans[2].size = tiles * tile_row_bytes(matrix);
    spans[3] = matrix->planes[3];
}

/* Where the four scales of a row that begin at `column` lie, from the first tile of a span whose
 * rows begin at `first`; `row` counts from `first`. */
static uint64_t scales_offset(const qp_matrix *matrix, uint64_t first, uint64_t row,
                              uint64_t column)
{
    uint64_t n = first % TILE_ROWS + row; /* from the first row of the span's first tile */
    return n / TILE_ROWS * tile_row_bytes(matrix) + column / TILE_COLUMNS * TILE_BYTES +
           n % 32 * 16 + n % TILE_ROWS / 32 * TILE_GROUPS;
}

static void piece_of(const qp_matrix *matrix, const qp_rows *rows, uint64_t row, uint64_t column,
                     qp_piece *piece)
{
    uint64_t rest = matrix->columns - column;
    uint64_t columns = rest < QP_PIECE_COLUMNS ? rest : QP_PIECE_COLUMNS;
    const uint8_t *scales = rows->planes[2] + scales_offset(matrix, rows->first, row, column);

    for (uint64_t tile = 0; tile < columns / TILE_COLUMNS; tile++)
        memcpy(piece->scales + tile * TILE_GROUPS, scales + tile * TILE_BYTES, TILE_GROUPS);
    piece->words.codes = rows->planes[0] + row * (matrix->columns / 2) + column / 2;
    piece->words.scales = piece->scales;
    piece->columns = columns;
}

static void pack(const qp_matrix *matrix, uint64_t first, uint64_t count,
                 const qp_word_planes *words, uint8_t *const planes[QP_PLANES])
{
    memcpy(planes[0], words->codes, (size_t)(count * (matrix->columns / 2)));
    for (uint64_t n = 0; n < count; n++) {
        const uint8_t *scales = words->scales + n * matrix->scale_row_bytes;
        for (uint64_t column = 0; column < matrix->columns; column += TILE_COLUMNS)
            memcpy(planes[2] + scales_offset(matrix, first, n, column), scales + column / 16,
                   TILE_GROUPS);
    }
    memcpy(planes[3], words->divisors, (size_t)matrix->planes[3].size);
}

const struct qp_layout_rules qp_block_scale_rules = {
    takes, plan, spans_of, piece_of, pack, NULL,
};
