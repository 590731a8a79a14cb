/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_blocks.c - gguf_blocks_v1: rows in order, each its blocks in order, as in a GGUF file
 * (artifact-container.md section 7.6).
 */
#include "format/format.h"

static bool takes(const qp_format *format)
{
    return format->family == QP_FAMILY_GGUF;
}

static qp_status plan(qp_matrix *matrix, qp_error *error)
{
    const qp_format *format = matrix->format;
    uint64_t row_bytes;

    qp_status status = qp_layout_rank_two(matrix, error);
    if (status != QP_OK)
        return status;
    if (matrix->columns % format->group != 0)
        return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "C-GEOM", -1,
                             "%s stores rows of a multiple of %u columns", format->name,
                             (unsigned)format->group);
    if (!qp_mul_u64(matrix->columns / format->group, format->group_bytes, &row_bytes))
        return qp_layout_too_large(matrix, error);
    return qp_layout_plan_rows(matrix, row_bytes, error);
}

const struct qp_layout_rules qp_gguf_blocks_rules = {
    takes, plan, qp_layout_spans_of_rows, qp_layout_piece_of_words, qp_layout_pack_words, NULL,
};
