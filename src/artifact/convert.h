/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - running a plan, by one process or by several that share the work.
 *
 * Each process of a share makes the same plan of the same files and runs a contiguous part of its
 * tiles, so tensors are split by rows. Process 0 makes the files, writes their heads, reads them
 * back, verifies and publishes. The bytes do not depend on how many there are.
 */
#ifndef QP_ARTIFACT_CONVERT_H
#define QP_ARTIFACT_CONVERT_H

#include "artifact/write.h"
#include "quipu/convert.h"

/* How processes speak to each other; every function is called by all of them in the same order. */
typedef struct qp_convert_share {
    uint32_t rank; /* from 0 */
    uint32_t size;
    /* Bytes of process 0 to all. */
    void (*broadcast)(void *context, void *bytes, size_t size);
    /* The elementwise maximum over all, for all. */
    void (*maxima)(void *context, float *values, size_t count);
    /* The greatest number over all, for all. */
    int (*greatest)(void *context, int number);
    /* Opens the files that process 0 has made, by their paths, and closes them. */
    qp_status (*open)(void *context, const char *const *paths, size_t count, qp_error *error);
    qp_status (*close)(void *context, qp_error *error);
    qp_sink sink; /* writes into them */
    void *context;
} qp_convert_share;

/* qp_convert_run for one process of several. */
qp_status qp_convert_run_share(qp_convert_plan *plan, const qp_convert_share *share,
                               qp_error *error);

/* qp_convert_run with the bytes going through `wrap` first, which gets the sink of the files: for
 * tests that make a write fail. NULL: as it is. */
typedef qp_sink qp_convert_wrap(void *context, qp_sink inner);
qp_status qp_convert_run_wrapped(qp_convert_plan *plan, qp_convert_wrap *wrap, void *context,
                                 qp_error *error);

#endif
