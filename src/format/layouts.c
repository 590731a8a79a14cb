/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layouts.c - the storage layouts (artifact-container.md section 7), one row each, and what several
 * of them share.
 */
#include "format/format.h"

static const qp_storage_layout layouts[] = {
    {"contiguous_le_v1", "one little-endian word an element, in C order", &qp_contiguous_rules},
    {"row_split_k128_v1", "planes of codes, high bits and scales; rows padded to 128",
     &qp_row_split_rules},
    {"block_scale_k16_m128x4_v1", "codes, scales in tiles of 128 rows by 4, then divisors",
     &qp_block_scale_rules},
    {"row_scale_v1", "codes, then a scale a row", &qp_row_scale_rules},
    {"row_interleaved_v1", "each row's codes, then its scale", &qp_row_interleaved_rules},
    {"gguf_blocks_v1", "rows of ggml's blocks", &qp_gguf_blocks_rules},
};

size_t qp_layout_count(void)
{
    return sizeof layouts / sizeof *layouts;
}

const qp_storage_layout *qp_layout_at(size_t index)
{
    return &layouts[index];
}

const qp_storage_layout *qp_layout_find(const char *name)
{
    for (size_t i = 0; i < qp_layout_count(); i++)
        if (strcmp(layouts[i].name, name) == 0)
            return &layouts[i];
    return NULL;
}

qp_status qp_layout_rank_two(const qp_matrix *matrix, qp_error *error)
{
    if (matrix->rank == 2)
        return QP_OK;
    return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "C-GEOM", -1,
                         "layout %s stores matrices of rank 2, not rank %u", matrix->layout->name,
                         (unsigned)matrix->rank);
}

qp_status qp_layout_too_large(const qp_matrix *matrix, qp_error *error)
{
    return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "C-GEOM", -1,
                         "a tensor of this shape takes 2^64 bytes or more in %s",
                         matrix->format->name);
}

bool qp_layout_align(uint64_t size, uint64_t alignment, uint64_t *result)
{
    return qp_add_u64(size, (alignment - size % alignment) % alignment, result);
}

qp_status qp_layout_plan_rows(qp_matrix *matrix, uint64_t row_bytes, qp_error *error)
{
    if (!qp_mul_u64(matrix->rows, row_bytes, &matrix->bytes))
        return qp_layout_too_large(matrix, error);
    matrix->planes[0].size = matrix->bytes;
    return QP_OK;
}

void qp_layout_spans_of_rows(const qp_matrix *matrix, uint64_t first, uint64_t count,
                             qp_span spans[QP_PLANES])
{
    for (unsigned p = 0; p < QP_PLANES; p++) {
        uint64_t row_bytes = matrix->planes[p].size / matrix->rows;
        spans[p].offset = matrix->planes[p].offset + first * row_bytes;
        spans[p].size = count * row_bytes;
    }
}

void qp_layout_piece_of_words(const qp_matrix *matrix, const qp_rows *rows, uint64_t row,
                              uint64_t column, qp_piece *piece)
{
    piece->words.codes = rows->planes[0] + row * matrix->code_row_bytes +
                         matrix->format->rules->code_row_bytes(matrix->format, column);
    piece->words.scales =
        matrix->planes[2].size == 0 ? NULL : rows->planes[2] + row * matrix->scale_row_bytes;
    piece->columns = matrix->columns - column;
}

void qp_layout_pack_words(const qp_matrix *matrix, uint64_t first, uint64_t count,
                          const qp_word_planes *words, uint8_t *const planes[QP_PLANES])
{
    (void)first;
    memcpy(planes[0], words->codes, (size_t)(count * matrix->code_row_bytes));
    if (matrix->planes[2].size != 0)
        memcpy(planes[2], words->scales, (size_t)(count * matrix->scale_row_bytes));
}
