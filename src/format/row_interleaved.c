/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_interleaved.c - row_interleaved_v1: each row's codes, then its binary16 scale
 * (artifact-container.md section 7.5).
 */
#include "format/format.h"

enum { SCALE_BYTES = 2 };

static bool takes(const qp_format *format)
{
    return format->rules == &qp_row_fp16_rules;
}

static qp_status plan(qp_matrix *matrix, qp_error *error)
{
    uint64_t row_bytes;
    qp_status status = qp_layout_rank_two(matrix, error);
    if (status != QP_OK)
        return status;
    if (!qp_add_u64(matrix->columns, SCALE_BYTES, &row_bytes))
        return qp_layout_too_large(matrix, error);
    return qp_layout_plan_rows(matrix, row_bytes, error);
}

static void piece_of(const qp_matrix *matrix, const qp_rows *rows, uint64_t row, uint64_t column,
                     qp_piece *piece)
{
    const uint8_t *codes = rows->planes[0] + row * (matrix->columns + SCALE_BYTES);
    piece->words.codes = codes + column;
    piece->words.scales = codes + matrix->columns;
    piece->columns = matrix->columns - column;
}

static void pack(const qp_matrix *matrix, uint64_t first, uint64_t count,
                 const qp_word_planes *words, uint8_t *const planes[QP_PLANES])
{
    uint64_t columns = matrix->columns;
    (void)first;
    for (uint64_t n = 0; n < count; n++) {
        uint8_t *row = planes[0] + n * (columns + SCALE_BYTES);
        memcpy(row, words->codes + n * columns, (size_t)columns);
        memcpy(row + columns, words->scales + n * SCALE_BYTES, SCALE_BYTES);
    }
}

const struct qp_layout_rules qp_row_interleaved_rules = {
    takes, plan, qp_layout_spans_of_rows, piece_of, pack, NULL,
};
