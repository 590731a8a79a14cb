/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.h - a part of an encoded matrix: some rows, and, of rows too long to hold, some columns
 * (artifact-container.md section 7).
 *
 * Columns are cut at multiples of QP_TILE_COLUMNS, where every layout that can be cut has a border
 * of its groups, blocks or tiles. A part of columns is a matrix of its own with the same words.
 */
#ifndef QP_ARTIFACT_TILE_H
#define QP_ARTIFACT_TILE_H

#include "base/base.h"
#include "quipu/format.h"

#define QP_TILE_COLUMNS 256

typedef struct qp_tile {
    uint64_t row, rows;
    uint64_t column, columns;
} qp_tile;

/* Where stored bytes of a tile lie in the encoded tensor: `count` runs of `size` bytes, each
 * `stride` after the one before. */
typedef struct qp_piece {
    uint64_t offset;
    uint64_t size;
    uint64_t count;
    uint64_t stride;
} qp_piece;

/* Whether columns may be cut: not where a row's scale belongs to all of them. */
bool qp_tile_cuts(const qp_matrix *matrix);

/* The matrix that a tile's words and stored bytes are laid out as, and the row of it at which the
 * tile begins. Of whole rows it is `whole` itself; a cut of columns is a matrix of row_step rows,
 * which the tile must not pass, or of the tile's rows. */
qp_status qp_tile_matrix(const qp_matrix *whole, const qp_tile *tile, qp_matrix *part,
                         uint64_t *first, qp_error *error);

/* The tile's stored bytes, plane by plane. A cut tile has one row, or one step of rows. */
void qp_tile_pieces(const qp_matrix *whole, const qp_tile *tile, qp_piece pieces[QP_PLANES]);

#endif
