/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residual.h - the residual tables that the encoders of WIV1, WIF1 and WIR1 make: counts, the
 * window of symbols that have an interval of their own, and frequencies that sum to 2^16
 * (docs/payloads.md, "Residual tables").
 *
 * Everything is integer arithmetic in a stated order, so that the bytes are the same on every
 * machine.
 */
#ifndef QP_CODEC_RESIDUAL_H
#define QP_CODEC_RESIDUAL_H

#include "base/base.h"
#include "quipu/stage.h"

#define QP_RESIDUAL_CDF_MAX 4097 /* the longest table of t4097 */

/* How often each residual occurs. */
typedef struct qp_residual_counts {
    qp_allocator allocator;
    int32_t reach;    /* residuals lie in [-reach, reach] */
    uint64_t *counts; /* [2*reach + 1] */
    uint64_t total;
} qp_residual_counts;

/* The residuals from `first` to `last`, both included; the others are escapes. */
typedef struct qp_residual_window {
    int32_t first, last;
} qp_residual_window;

/* A table ready for payloads and for E1. */
typedef struct qp_residual_cdf {
    int64_t values[QP_RESIDUAL_CDF_MAX];
    size_t n;
    int32_t offset;
} qp_residual_cdf;

/* No counts, for every residual that qp_residual_choose can give. The residual has passed
 * qp_residual_check and hi - lo is at most 65535. Ownership: qp_residual_counts_free. */
qp_status qp_residual_counts_init(qp_residual_counts *counts, const qp_residual *residual,
                                  const qp_allocator *allocator, qp_error *error);
void qp_residual_counts_free(qp_residual_counts *counts);
void qp_residual_counts_clear(qp_residual_counts *counts);
void qp_residual_counts_add(qp_residual_counts *counts, const int32_t *residuals, size_t count);

/* The window that the counts deserve, and the same where its first residual is given. */
qp_residual_window qp_residual_window_of(const qp_residual_counts *counts);
qp_residual_window qp_residual_window_from(const qp_residual_counts *counts, int32_t first);

/* The table of a window. */
void qp_residual_cdf_make(const qp_residual_counts *counts, qp_residual_window window,
                          qp_residual_cdf *cdf);

/* The table as E1 takes it; it borrows `cdf`. */
qp_rans_cdf qp_residual_cdf_view(const qp_residual_cdf *cdf);

/* One stream of residuals against one table. Ownership: qp_stream_free. */
qp_status qp_residual_stream(const qp_residual_cdf *cdf, const int32_t *residuals, size_t count,
                             const qp_allocator *allocator, qp_stream *stream, qp_error *error);

#endif
