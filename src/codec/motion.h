/* SPDX-License-Identifier: Apache-2.0 */
/*
 * motion.h - what the decoders and encoders of WIV1 and WIF1 share: the geometry of a frame, its
 * prediction and the nested keyframe (integer-operators.md section 13.5; docs/payloads.md).
 */
#ifndef QP_CODEC_MOTION_H
#define QP_CODEC_MOTION_H

#include "codec/codec.h"

enum {
    QP_MOTION_CHANNELS = 3,
    QP_MOTION_GREY = 128, /* the prediction of a frame that has none before it */
    QP_MOTION_VECTOR_BYTES = 4
};

#define QP_MOTION_SIDE_MAX 65536u                 /* = 2^16 */
#define QP_MOTION_SAMPLES_MAX ((uint64_t)1 << 26) /* the cap on a tensor's elements */

/* The size of a frame and of its blocks; the last two are read for frames with vectors only. */
typedef struct qp_motion_grid {
    uint32_t height, width; /* 1..65536 each */
    uint32_t block;         /* the side, at least 1 */
    int precision;          /* mv_precision: 1 or 2 */
} qp_motion_grid;

/* 3·height·width: at most 3·2^32. */
static inline uint64_t qp_motion_samples(const qp_motion_grid *grid)
{
    return (uint64_t)grid->height * grid->width * QP_MOTION_CHANNELS;
}

/* How many blocks, and so vectors, a frame has: at most 2^32. */
uint64_t qp_motion_blocks(const qp_motion_grid *grid);

/* E10 for every block: `vectors` holds `i16 dy, dx` a block, little-endian, in raster order. */
qp_status qp_motion_predict(const qp_motion_grid *grid, const uint8_t *previous,
                            const uint8_t *vectors, uint8_t *frame, qp_error *error);

/* Decodes a WIH1 as `wai.neural.int_hyper` does, with the set of a decoder of
 * `wai.video.int_hyper` or its frame form. The picture is freed with the decoder's allocator. */
qp_status qp_motion_keyframe(qp_decoder *decoder, qp_payload wih1, qp_media *picture,
                             qp_error *error);

/* Encoding: the members of the drivers' rows. */
qp_status qp_motion_encode_clip(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                qp_error *error);
qp_status qp_motion_start_frames(qp_encoder *encoder, qp_error *error);
qp_status qp_motion_encode_frame(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                 qp_error *error);
void qp_motion_forget_frames(qp_encoder *encoder);

/* Whether a driver's sequences begin with a WIH1. */
bool qp_motion_has_keyframe(const qp_driver *driver);

#endif
