/* SPDX-License-Identifier: Apache-2.0 */
/* band_lookup.c - band_lookup (E7): count the edges, then look up the table. */
#include "stage/stage.h"

qp_status qp_band_lookup(int64_t v, const qp_band_table *table, int64_t row, int64_t *value,
                         qp_error *error)
{
    size_t band = 0;

    if (row < 0 || (uint64_t)row >= table->n_rows)
        return qp_fail(error, QP_MODEL_MISMATCH, "a row that the band table does not have");
    const qp_integer_list *entries = &table->rows[row];
    if (entries->count == 0 || entries->count - 1 != table->edges.count)
        return qp_fail(error, QP_MODEL_MISMATCH, "a row of %zu entries for %zu edges",
                       entries->count, table->edges.count);
    for (size_t k = 0; k < table->edges.count; k++)
        band += v >= table->edges.values[k];
    *value = entries->values[band];
    return QP_OK;
}
