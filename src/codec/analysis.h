/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - the networks that only an encoder runs: WHM1 files beside a set, lowered like it, so
 * that an encoder gives the same bytes on every machine.
 */
#ifndef QP_CODEC_ANALYSIS_H
#define QP_CODEC_ANALYSIS_H

#include "codec/codec.h"

typedef struct qp_analysis {
    qp_lowered *graphs; /* their certificate too */
    uint32_t *afrac;    /* of each network */
    size_t count;
    uint64_t stride; /* the product of the strides of every convolution: the unit of a picture's
                        sides */
} qp_analysis;

/* Lowers the files NAME.whm of the names, in their order, whose graphs become roles of those names,
 * and certifies them under acc64. QP_MODEL_MISMATCH as qp_lower, and for a file that is missing.
 * Ownership: qp_analysis_free. */
qp_status qp_analysis_make(const qp_members *files, const char *const *names, size_t count,
                           const qp_allocator *allocator, qp_analysis *analysis, qp_error *error);
void qp_analysis_free(const qp_allocator *allocator, qp_analysis *analysis);

#endif
