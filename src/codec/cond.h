/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cond.h - one frame of a conditional video, as its decoders and its encoder run it
 * (integer-operators.md section 13.5, "wai.video.int_cond").
 */
#ifndef QP_CODEC_COND_H
#define QP_CODEC_COND_H

#include "codec/coded_latents.h"

/* The kinds of frames, as they stand in payloads. */
enum { QP_COND_INTRA = 0, QP_COND_INTER = 1 };

/* A feature that dec gave, in its own element type; all zero for none. */
typedef struct qp_cond_feature {
    qp_array array;
    uint8_t *bytes;
    size_t size;
} qp_cond_feature;
void qp_cond_feature_free(const qp_allocator *allocator, qp_cond_feature *feature);

/* What the frames of one geometry share. Set `decoder` and `shapes`, plan, then start. */
typedef struct qp_cond_work {
    qp_decoder *decoder;
    qp_cond_shapes shapes;
    uint32_t n_ctx;  /* channels that ctx gives */
    int64_t *joined; /* concat(y, ctx) */
    size_t n_joined;
} qp_cond_work;

/* Plans the four graphs and checks that they fit one another and the picture. */
qp_status qp_cond_plan(qp_cond_work *work, qp_error *error);
qp_status qp_cond_work_start(qp_cond_work *work, qp_error *error);
/* A work that was never started may be freed too. */
void qp_cond_work_free(qp_cond_work *work);

/* One frame: how its latents are had, and where its picture goes (NULL for nowhere). */
typedef struct qp_cond_job {
    bool inter;
    uint32_t frame;
    qp_media *media;
    qp_status (*take)(void *context, const qp_array *ctx, const qp_conditions *conditions,
                      const qp_pass *pass, int64_t *y, qp_error *error);
    void *context;
} qp_cond_job;

/* Runs it; `reference` becomes the feature that it leaves, or stays as it is on a refusal. */
qp_status qp_cond_frame(qp_cond_work *work, const qp_cond_job *job, qp_cond_feature *reference,
                        qp_error *error);

#endif
