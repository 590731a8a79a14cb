/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contiguous.c - contiguous_le_v1: one word an element, in C order, least significant byte first
 * (artifact-container.md section 7.1).
 */
#include "format/format.h"

static bool takes(const qp_format *format)
{
    return format->family == QP_FAMILY_DIRECT;
}

static qp_status plan(qp_matrix *matrix, qp_error *error)
{
    uint64_t row_bytes;
    if (!qp_mul_u64(matrix->columns, matrix->format->code_bits / 8, &row_bytes))
        return qp_layout_too_large(matrix, error);
    return qp_layout_plan_rows(matrix, row_bytes, error);
}

const struct qp_layout_rules qp_contiguous_rules = {
    takes, plan, qp_layout_spans_of_rows, qp_layout_piece_of_words, qp_layout_pack_words, NULL,
};
