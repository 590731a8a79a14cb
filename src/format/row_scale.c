/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_scale.c - row_scale_v1: a plane of codes, then at the next multiple of 256 a bfloat16 scale a
 * row (artifact-container.md section 7.4).
 */
#include "format/format.h"

static bool takes(const qp_format *format)
{
    return format->rules == &qp_row_bf16_rules;
}

static qp_status plan(qp_matrix *matrix, qp_error *error)
{
    qp_span *codes = &matrix->planes[0], *scales = &matrix->planes[2];

    qp_status status = qp_layout_rank_two(matrix, error);
    if (status != QP_OK)
        return status;
    if (!qp_mul_u64(matrix->rows, matrix->columns, &codes->size) ||
        !qp_layout_align(codes->size, 256, &scales->offset) ||
        !qp_mul_u64(matrix->rows, 2, &scales->size) ||
        !qp_add_u64(scales->offset, scales->size, &matrix->bytes))
        return qp_layout_too_large(matrix, error);
    return QP_OK;
}

const struct qp_layout_rules qp_row_scale_rules = {
    takes, plan, qp_layout_spans_of_rows, qp_layout_piece_of_words, qp_layout_pack_words, NULL,
};
