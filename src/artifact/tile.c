/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.c - parts of encoded matrices.
 */
#include "artifact/tile.h"

/* The columns after which a row of a layout may be cut; 0 for one block of the format. Layouts that
 * are not here keep their rows whole. */
typedef struct column_step {
    const char *layout;
    uint64_t columns;
} column_step;

static const column_step steps[] = {
    {"contiguous_le_v1", 1},
    {"row_split_k128_v1", 128},
    {"block_scale_k16_m128x4_v1", 64},
    {"gguf_blocks_v1", 0},
};

static uint64_t step_of(const qp_matrix *matrix)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (strcmp(steps[i].layout, matrix->layout->name) == 0)
            return steps[i].columns != 0 ? steps[i].columns : matrix->format->group;
    }
    return 0;
}

bool qp_tile_cuts(const qp_matrix *matrix)
{
    return matrix->layout != NULL && step_of(matrix) != 0;
}

qp_status qp_tile_matrix(const qp_matrix *whole, const qp_tile *tile, qp_matrix *part,
                         uint64_t *first, qp_error *error)
{
    if (tile->columns == whole->columns) {
        *part = *whole;
        *first = tile->row;
        return QP_OK;
    }
    const uint64_t step = whole->row_step;
    const uint64_t shape[2] = {step > 1 ? step : tile->rows, tile->columns};
    *first = tile->row % step;
    return qp_matrix_plan(whole->format, whole->layout, shape, 2, 1, part, error);
}

/* The part of the bytes of one row, or of one step of rows, that holds the tile's columns. */
static void cut_columns(const qp_matrix *whole, const qp_tile *tile, qp_piece *piece)
{
    uint64_t step = step_of(whole);
    uint64_t units = whole->columns / step + (whole->columns % step != 0);
    uint64_t begin = tile->column / step;
    uint64_t end = (tile->column + tile->columns) / step;
    end += (tile->column + tile->columns) % step != 0;
    uint64_t unit = piece->size / units;
    piece->offset += unit * begin;
    piece->size = unit * (end - begin);
}

void qp_tile_pieces(const qp_matrix *whole, const qp_tile *tile, qp_piece pieces[QP_PLANES])
{
    qp_span spans[QP_PLANES], row[QP_PLANES];
    bool is_cut = tile->columns != whole->columns;

    qp_matrix_spans(whole, tile->row, tile->rows, spans);
    qp_matrix_spans(whole, tile->row, 1, row);
    for (size_t p = 0; p < QP_PLANES; p++) {
        pieces[p] = (qp_piece){spans[p].offset, spans[p].size, 1, 0};
        if (!is_cut || spans[p].size == 0 || p == QP_PLANES - 1)
            continue; /* divisors belong to no row */
        if (row[p].size * tile->rows == spans[p].size)
            pieces[p] = (qp_piece){row[p].offset, row[p].size, tile->rows, row[p].size};
        cut_columns(whole, tile, &pieces[p]);
    }
}
