/* SPDX-License-Identifier: Apache-2.0 */
/* residual.c - residual tables of encoders (docs/payloads.md, "Residual tables"). */
#include "codec/residual.h"

/* A residual is worth an interval of its own only where it occurs often: an entry takes 32 bits,
 * an escape about half of that. */
enum {
    TOTAL = 65536,           /* = 2^16, the sum of the frequencies */
    WINDOW_LEAST = 16,       /* residuals a window may always hold */
    WINDOW_MOST = 4095,      /* = 4097 - 2, what t4097 has beside the escape */
    RESIDUALS_AN_ENTRY = 32, /* a window holds one residual for each 32 that are coded */
    RARE = 2                 /* an end that occurs no more often is left to the escape */
};

/* ---- counts ------------------------------------------------------------------------------- */

static size_t counters(const qp_residual_counts *counts)
{
    return 2 * (size_t)counts->reach + 1;
}

qp_status qp_residual_counts_init(qp_residual_counts *counts, const qp_residual *residual,
                                  const qp_allocator *allocator, qp_error *error)
{
    /* R of E9, at most 65536 */
    int32_t reach = (int32_t)((residual->hi - residual->lo) / residual->q) + 1;
    *counts = (qp_residual_counts){.allocator = qp_allocator_or_default(allocator), .reach = reach};
    counts->counts = qp_allocate(&counts->allocator, counters(counts), sizeof *counts->counts);
    return counts->counts != NULL ? QP_OK : qp_fail_memory(error, "the counts of residuals");
}

void qp_residual_counts_free(qp_residual_counts *counts)
{
    qp_release(&counts->allocator, counts->counts, counters(counts), sizeof *counts->counts);
    counts->counts = NULL;
}

void qp_residual_counts_clear(qp_residual_counts *counts)
{
    memset(counts->counts, 0, counters(counts) * sizeof *counts->counts);
    counts->total = 0;
}

static uint64_t *counter(const qp_residual_counts *counts, int32_t residual)
{
    return &counts->counts[residual + counts->reach];
}

void qp_residual_counts_add(qp_residual_counts *counts, const int32_t *residuals, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ++*counter(counts, residuals[i]);
    counts->total += count;
}

/* ---- the window --------------------------------------------------------------------------- */

static int32_t longest_window(const qp_residual_counts *counts)
{
    uint64_t deserved = counts->total / RESIDUALS_AN_ENTRY;
    int32_t all = 2 * counts->reach + 1;
    int32_t longest = deserved < WINDOW_LEAST  ? WINDOW_LEAST
                      : deserved > WINDOW_MOST ? WINDOW_MOST
                                               : (int32_t)deserved;
    return longest < all ? longest : all;
}

/* Takes rare residuals off the window's ends; one residual stays. */
static void trim_last(const qp_residual_counts *counts, qp_residual_window *window)
{
    while (window->last > window->first && *counter(counts, window->last) <= RARE)
        window->last--;
}

static void trim_first(const qp_residual_counts *counts, qp_residual_window *window)
{
    while (window->first < window->last && *counter(counts, window->first) <= RARE)
        window->first++;
}

qp_residual_window qp_residual_window_of(const qp_residual_counts *counts)
{
    int32_t length = longest_window(counts), reach = counts->reach;
    uint64_t held = 0, most = 0;
    qp_residual_window window = {0, 0};

    if (counts->total == 0)
        return window;
    for (int32_t last = -reach; last <= reach; last++) {
        int32_t first = last - length + 1;
        held += *counter(counts, last);
        if (first > -reach)
            held -= *counter(counts, first - 1);
        if (first >= -reach && held > most) { /* of several, the one furthest down */
            most = held;
            window = (qp_residual_window){first, last};
        }
    }
    trim_last(counts, &window);
    trim_first(counts, &window);
    return window;
}

qp_residual_window qp_residual_window_from(const qp_residual_counts *counts, int32_t first)
{
    int32_t last = first + longest_window(counts) - 1;
    qp_residual_window window = {first, last < counts->reach ? last : counts->reach};
    trim_last(counts, &window);
    return window;
}

/* ---- the table ---------------------------------------------------------------------------- */

void qp_residual_cdf_make(const qp_residual_counts *counts, qp_residual_window window,
                          qp_residual_cdf *cdf)
{
    const uint64_t *plain = counter(counts, window.first);
    size_t n = (size_t)(window.last - window.first) + 1; /* then the escape, interval n */
    uint64_t shared = TOTAL - (n + 1), total = counts->total > 0 ? counts->total : 1;
    uint64_t escapes = counts->total, sum = 0;
    size_t largest = 0;

    for (size_t i = 0; i < n; i++) {
        escapes -= plain[i];
        if (plain[i] > plain[largest])
            largest = i;
    }
    if (escapes > plain[largest])
        largest = n;
    cdf->values[0] = 0;
    for (size_t i = 0; i <= n; i++) { /* a count is below 2^40, so the product fits */
        sum += 1 + (i < n ? plain[i] : escapes) * shared / total;
        cdf->values[i + 1] = (int64_t)sum;
    }
    for (size_t i = largest; i <= n; i++) /* what rounding left over */
        cdf->values[i + 1] += (int64_t)(TOTAL - sum);
    cdf->n = n + 2;
    cdf->offset = window.first;
}

qp_rans_cdf qp_residual_cdf_view(const qp_residual_cdf *cdf)
{
    return (qp_rans_cdf){{cdf->values, cdf->n}, cdf->offset};
}

/* ---- the stream --------------------------------------------------------------------------- */

qp_status qp_residual_stream(const qp_residual_cdf *cdf, const int32_t *residuals, size_t count,
                             const qp_allocator *allocator, qp_stream *stream, qp_error *error)
{
    qp_rans_modes modes = {.table = QP_RANS_T4097};
    qp_rans_cdf view = qp_residual_cdf_view(cdf);
    qp_rans_tables *tables = NULL;
    qp_status status = qp_rans_tables_create(&view, 1, &modes, allocator, &tables, error);
    if (status != QP_OK)
        return status;
    uint32_t *reads = qp_allocate(allocator, count, sizeof *reads); /* all table 0 */
    if (reads == NULL) {
        status = qp_fail_memory(error, "the residuals of a stream");
    } else {
        qp_rans_symbols symbols = {reads, residuals, count};
        status = qp_rans_encode(tables, &symbols, allocator, stream, error);
    }
    qp_release(allocator, reads, count, sizeof *reads);
    qp_rans_tables_free(tables);
    return status;
}
