/* SPDX-License-Identifier: Apache-2.0 */
/* rans64_tables.c - the tables of rans64_decode, checked and prepared (E1, table rule). */
#include "stage/stage.h"

/* ---- the table rule ----------------------------------------------------------------------- */

static qp_status check_modes(const qp_rans_modes *modes, qp_error *error)
{
    if ((unsigned)modes->table > QP_RANS_T2 || (unsigned)modes->escape > QP_RANS_STRICT ||
        (unsigned)modes->end > QP_RANS_FINAL_ONLY)
        return qp_fail(error, QP_MODEL_MISMATCH, "a mode of rans64_decode that there is not");
    if (modes->escape != QP_RANS_STRICT)
        return QP_OK;
    if (modes->lo < INT32_MIN || modes->hi > INT32_MAX || modes->lo > modes->hi)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "strict bounds that are not an interval of 32-bit integers");
    return QP_OK;
}

static qp_status check_cdf(const qp_rans_cdf *given, size_t index, qp_rans_table_rule rule,
                           qp_error *error)
{
    const int64_t *cdf = given->cdf.values;
    size_t n = given->cdf.count;
    size_t least = rule == QP_RANS_T2 ? 2 : 3;
    size_t most = rule == QP_RANS_T2 ? QP_RANS_TOTAL + 1 : 4097; /* = 2^12 + 1: t4097 */

    if (n < least || n > most)
        return qp_fail(error, QP_MODEL_MISMATCH, "table %zu has %zu entries; %zu to %zu may be",
                       index, n, least, most);
    if (cdf[0] != 0 || cdf[n - 1] != QP_RANS_TOTAL)
        return qp_fail(error, QP_MODEL_MISMATCH, "table %zu does not run from 0 to 65536", index);
    for (size_t i = 1; i < n; i++)
        if (cdf[i] <= cdf[i - 1])
            return qp_fail(error, QP_MODEL_MISMATCH,
                           "table %zu does not increase strictly at entry %zu", index, i);
    if (given->offset < INT32_MIN || given->offset > INT32_MAX)
        return qp_fail(error, QP_MODEL_MISMATCH, "the offset of table %zu does not fit 32 bits",
                       index);
    return QP_OK;
}

/* ---- preparing ---------------------------------------------------------------------------- */

/* Whether each symbol 0 .. escape - 1, with the offset, is one that the modes let pass as it is. */
static bool all_plain(const qp_rans_modes *modes, uint32_t escape, int64_t offset)
{
    bool strict = modes->escape == QP_RANS_STRICT;
    int64_t lo = strict ? modes->lo : INT32_MIN, hi = strict ? modes->hi : INT32_MAX;
    return escape == 0 || (offset >= lo && offset + (int64_t)escape - 1 <= hi);
}

/* A table that has passed its rule; false without memory. */
static bool prepare(qp_rans_tables *tables, const qp_rans_cdf *given, qp_rans_table *table)
{
    const int64_t *cdf = given->cdf.values;
    size_t n_intervals = given->cdf.count - 1;
    uint32_t *intervals = qp_arena_allocate(&tables->arena, n_intervals, sizeof *intervals);

    if (intervals == NULL)
        return false;
    size_t group = 0;
    for (size_t s = 0; s < n_intervals; s++) {
        intervals[s] = (uint32_t)cdf[s] | (uint32_t)(cdf[s + 1] - cdf[s] - 1) << 16;
        for (; group < QP_RANS_GUESSES && ((int64_t)group << QP_RANS_GUESS_SHIFT) < cdf[s + 1];
             group++)
            table->guess[group] = (uint16_t)s;
    }
    table->intervals = intervals;
    table->escape = (uint32_t)n_intervals - 1;
    table->offset = (int32_t)given->offset;
    table->plain = all_plain(&tables->modes, table->escape, given->offset) ? table->escape : 0;
    return true;
}

qp_status qp_rans_tables_create(const qp_rans_cdf *cdfs, size_t count, const qp_rans_modes *modes,
                                const qp_allocator *allocator, qp_rans_tables **tables,
                                qp_error *error)
{
    *tables = NULL;
    qp_status status = check_modes(modes, error);
    for (size_t i = 0; status == QP_OK && i < count; i++)
        status = check_cdf(&cdfs[i], i, modes->table, error);
    if (status != QP_OK)
        return status;

    qp_arena arena;
    qp_arena_init(&arena, allocator);
    qp_rans_tables *made = qp_arena_allocate(&arena, 1, sizeof *made);
    qp_rans_table *rows = made == NULL ? NULL : qp_arena_allocate(&arena, count, sizeof *rows);
    if (rows == NULL) {
        qp_arena_free(&arena);
        return qp_fail_memory(error, "the tables of rans64_decode");
    }
    *made = (qp_rans_tables){.arena = arena, .modes = *modes, .tables = rows, .count = count};
    for (size_t i = 0; i < count; i++)
        if (!prepare(made, &cdfs[i], &rows[i])) {
            qp_rans_tables_free(made);
            return qp_fail_memory(error, "the tables of rans64_decode");
        }
    *tables = made;
    return QP_OK;
}

void qp_rans_tables_free(qp_rans_tables *tables)
{
    if (tables == NULL)
        return;
    qp_arena arena = tables->arena; /* the structure itself lies in it */
    qp_arena_free(&arena);
}

size_t qp_rans_tables_count(const qp_rans_tables *tables)
{
    return tables->count;
}

qp_rans_modes qp_rans_tables_modes(const qp_rans_tables *tables)
{
    return tables->modes;
}
