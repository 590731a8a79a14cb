/* SPDX-License-Identifier: Apache-2.0 */
/* mans_tables.c - the tables of mans_decode, checked and built (E8): latents, and rows of `fac`. */
#include "stage/stage.h"

#include <limits.h>

_Static_assert(UINT_MAX == UINT32_MAX, "__builtin_clz counts from bit 31");

enum { BOUND_MAX = 255, ROW_COUNT_MAX = 255 };

void qp_mans_fill(uint32_t *slots, unsigned next, unsigned count, uint16_t symbol)
{
    while (count > 0) {
        unsigned highest = 31 - (unsigned)__builtin_clz(next); /* next >= 1, of 32 bits */
        unsigned doublings = highest < 8 ? 8 - highest : 0;
        unsigned alike = (2u << highest) - next; /* states with as many doublings */
        uint32_t base = (uint32_t)(next << doublings ^ QP_MANS_SLOTS) << 16;
        uint32_t entry = (uint32_t)doublings << 24 | base | symbol;
        alike = alike < count ? alike : count;
        for (unsigned j = 0; j < alike; j++)
            *slots++ = entry + ((uint32_t)j << (16 + doublings));
        next += alike;
        count -= alike;
    }
}

/* ---- latents ------------------------------------------------------------------------------ */

static qp_status check_pmf(const qp_integer_list *pmf, size_t width, size_t index, qp_error *error)
{
    int64_t left = QP_MANS_SLOTS;

    if (pmf->count != width || width == 0)
        return qp_fail(error, QP_MODEL_MISMATCH, "row %zu has %zu entries; the rows have one width",
                       index, pmf->count);
    for (size_t k = 0; k < width; k++) {
        if (pmf->values[k] < 0 || pmf->values[k] > left)
            return qp_fail(error, QP_MODEL_MISMATCH,
                           "row %zu: entry %zu is negative, or takes the sum past 256", index, k);
        left -= pmf->values[k];
    }
    if (left != 0)
        return qp_fail(error, QP_MODEL_MISMATCH, "row %zu sums to %d, not to 256", index,
                       (int)(QP_MANS_SLOTS - left));
    return QP_OK;
}

static qp_status check_latents(const qp_integer_list *pmf, size_t n_pmf, qp_integer_list bounds,
                               qp_error *error)
{
    for (size_t i = 0; i < n_pmf; i++) {
        qp_status status = check_pmf(&pmf[i], pmf[0].count, i, error);
        if (status != QP_OK)
            return status;
    }
    for (size_t i = 0; i < bounds.count; i++)
        if (bounds.values[i] < 0 || bounds.values[i] > BOUND_MAX)
            return qp_fail(error, QP_MODEL_MISMATCH, "bound %zu lies outside 0..255", i);
    return QP_OK;
}

/* sym(k) modulo 2^16: k/2 for an even k, -(k + 1)/2 for an odd one. */
static uint16_t column_symbol(size_t k)
{
    return (uint16_t)(k % 2 == 0 ? k / 2 : 0 - (k + 1) / 2);
}

/* The slots of one column: F[k] .. F[k + 1] and G[k] .. G[k + 1], whose next states are
 * P .. 2P - 1 in that order. */
static void build_column(uint32_t table[QP_MANS_SLOTS], const uint16_t *cumulative, size_t k)
{
    unsigned from = cumulative[k], to = cumulative[k + 1];
    unsigned low = qp_mans_low_half(to) - qp_mans_low_half(from);
    unsigned high = to / 2 - from / 2;
    uint16_t symbol = column_symbol(k);

    qp_mans_fill(table + qp_mans_low_half(from), to - from, low, symbol);
    qp_mans_fill(table + QP_MANS_SLOTS / 2 + from / 2, to - from + low, high, symbol);
}

static void build_latents(qp_mans_latents *latents, const qp_integer_list *pmf,
                          qp_integer_list bounds)
{
    for (size_t i = 0; i < latents->n_rows; i++) {
        uint16_t *cumulative = latents->cumulative + i * (latents->width + 1);
        for (size_t k = 0; k < latents->width; k++)
            cumulative[k + 1] = (uint16_t)(cumulative[k] + pmf[i].values[k]);
        for (size_t k = 0; k < latents->width; k++)
            build_column(latents->tables[i], cumulative, k);
    }
    for (size_t i = 0; i < bounds.count; i++)
        latents->bounds[i] = (uint8_t)bounds.values[i];
}

/* The structure with its arrays, zeroed; NULL without memory. */
static qp_mans_latents *allocate_latents(const qp_allocator *allocator, size_t n_rows, size_t width,
                                         size_t n_bounds)
{
    qp_arena arena;
    qp_arena_init(&arena, allocator);
    qp_mans_latents *latents = qp_arena_allocate(&arena, 1, sizeof *latents);
    uint32_t(*tables)[QP_MANS_SLOTS] = qp_arena_allocate(&arena, n_rows, sizeof *tables);
    /* width + 1 is below the address space, since a row of that width is there */
    uint16_t *cumulative = qp_arena_allocate(&arena, n_rows, (width + 1) * sizeof *cumulative);
    uint8_t *bounds = qp_arena_allocate(&arena, n_bounds, 1);
    if (latents == NULL || tables == NULL || cumulative == NULL || bounds == NULL) {
        qp_arena_free(&arena);
        return NULL;
    }
    *latents = (qp_mans_latents){.arena = arena,
                                 .n_rows = n_rows,
                                 .width = width,
                                 .n_bounds = n_bounds,
                                 .tables = tables,
                                 .cumulative = cumulative,
                                 .bounds = bounds};
    return latents;
}

qp_status qp_mans_latents_create(const qp_integer_list *pmf, size_t n_pmf, qp_integer_list bounds,
                                 const qp_allocator *allocator, qp_mans_latents **latents,
                                 qp_error *error)
{
    *latents = NULL;
    qp_status status = check_latents(pmf, n_pmf, bounds, error);
    if (status != QP_OK)
        return status;
    size_t width = n_pmf > 0 ? pmf[0].count : 0;
    qp_mans_latents *made = allocate_latents(allocator, n_pmf, width, bounds.count);
    if (made == NULL)
        return qp_fail_memory(error, "the tables of mans_decode");
    build_latents(made, pmf, bounds);
    *latents = made;
    return QP_OK;
}

void qp_mans_latents_free(qp_mans_latents *latents)
{
    if (latents == NULL)
        return;
    qp_arena arena = latents->arena; /* the structure itself lies in it */
    qp_arena_free(&arena);
}

size_t qp_mans_latents_count(const qp_mans_latents *latents)
{
    return latents->n_rows < latents->n_bounds ? latents->n_rows : latents->n_bounds;
}

qp_status qp_mans_span_check(const qp_mans_latents *latents, const qp_mans_span *span,
                             qp_error *error)
{
    size_t count = qp_mans_latents_count(latents);
    for (size_t i = 0; i < span->length; i++)
        if (span->sigma[i] >= count)
            return qp_fail(error, QP_MODEL_MISMATCH,
                           "position %zu names distribution %lu, and there are %zu", i,
                           (unsigned long)span->sigma[i], count);
    return QP_OK;
}

/* ---- rows --------------------------------------------------------------------------------- */

qp_status qp_mans_row_make(qp_integer_list counts, qp_mans_row *row, qp_error *error)
{
    if (counts.count != QP_MANS_ROW_COUNTS)
        return qp_fail(error, QP_MODEL_MISMATCH, "a row of %zu counts; it has 63", counts.count);
    for (size_t a = 0; a < QP_MANS_ROW_COUNTS; a++) {
        int64_t before = a > 0 ? counts.values[a - 1] : 0;
        if (counts.values[a] < before || counts.values[a] > ROW_COUNT_MAX)
            return qp_fail(error, QP_MODEL_MISMATCH,
                           "count %zu of a row decreases or lies outside 0..255", a);
    }
    for (size_t a = 0; a < QP_MANS_ROW_COUNTS; a++)
        row->counts[a] = (uint8_t)counts.values[a];
    return QP_OK;
}
