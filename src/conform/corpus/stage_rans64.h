/* SPDX-License-Identifier: Apache-2.0 */
/* stage_rans64.h - what the two files of rans64_decode's cases share. */
#ifndef QP_CONFORM_CORPUS_STAGE_RANS64_H
#define QP_CONFORM_CORPUS_STAGE_RANS64_H

#include "conform/stage_vectors.h"

#define QP_STAGE_READS_MAX 64

typedef struct qp_stage_rans_operands {
    const qp_rans_cdf *cdfs;
    size_t n_cdfs;
    int64_t reads[QP_STAGE_READS_MAX];
    size_t count;
    const uint8_t *stream;
    size_t size;
} qp_stage_rans_operands;

/* The open case's "modes" and "in". */
void qp_stage_rans_modes(qp_stage_corpus *c, const qp_rans_modes *m);
void qp_stage_rans_put(qp_stage_corpus *c, const qp_stage_rans_operands *o);

/* The cases that are stated step by step. */
void qp_stage_rans_steps(qp_stage_corpus *c);

#endif
