/* SPDX-License-Identifier: Apache-2.0 */
/* jpegai.h - what the files of wai.image.jpegai's driver share (integer-operators.md section 13.6).
 */
#ifndef QP_CODEC_JPEGAI_H
#define QP_CODEC_JPEGAI_H

#include "codec/codec.h"
#include "quipu/jpegai.h"

/* The graphs of the lowering, in its order. */
enum { QP_HS_Y, QP_HS_UV, QP_REC_Y, QP_REC_UV, QP_SYN_Y, QP_SYN_UV };

/* Symbols of one channel: of z, a row; of the latent, a span. */
enum { QP_JPEGAI_ROW = 16, QP_JPEGAI_SPAN = 256, QP_JPEGAI_Z_OFFSET = 31 };

struct qp_jpegai_model {
    qp_allocator allocator;
    qp_lowered *lowered;
    qp_mans_latents *latents;
    qp_mans_row rows_y[QP_JPEGAI_Y_CHANNELS], rows_uv[QP_JPEGAI_UV_CHANNELS];
};

static inline uint32_t qp_jpegai_channels(qp_jpegai_plane plane)
{
    return plane == QP_JPEGAI_Y ? QP_JPEGAI_Y_CHANNELS : QP_JPEGAI_UV_CHANNELS;
}

/* Room for what is fixed of a plane. */
qp_status qp_jpegai_latent_make(qp_jpegai_plane plane, const qp_allocator *allocator,
                                qp_jpegai_latent *latent, qp_error *error);

/* What every step of a decode needs. */
typedef struct qp_jpegai_job {
    const qp_jpegai_model *model;
    int reference; /* as in qp_decode_options */
    qp_allocator allocator;
} qp_jpegai_job;

/* Steps 2 and 3 of section 13.6.1: from z to v, the mask, `likely` and sigma. */
qp_status qp_jpegai_scale_path(const qp_jpegai_job *job, qp_jpegai_plane plane, const uint8_t *grfs,
                               qp_jpegai_latent *latent, qp_error *error);

/* qp_jpegai_entropy as a step of a decode. */
qp_status qp_jpegai_entropy_step(const qp_jpegai_job *job, qp_jpegai_plane plane,
                                 const qp_jpegai_segments *segments, qp_jpegai_latent *latent,
                                 qp_error *error);

#endif
