/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/latents.h - payloads made from latents: for the capabilities whose analysis, which turns
 * sound, splats or pictures into latents, is the model's own affair and may run anywhere
 * (integer-operators.md section 13.5; docs/payloads.md).
 *
 * The bytes that these functions write are the same on every machine for the same latents, and
 * every payload decodes. Not promised: that another version of the library writes the same bytes.
 * Ownership: qp_encoded_free, with the same allocator. On a refusal *payload is empty.
 */
#ifndef QUIPU_LATENTS_H
#define QUIPU_LATENTS_H

#include "quipu/codec.h"
#include "quipu/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Latents [channels, height, width], row-major: whole numbers, each of them one symbol. At most
 * 2^16 - 1 channels and 2^26 elements, and a height of 1 for sound. */
typedef struct qp_latents {
    uint32_t channels, height, width;
    const int32_t *symbols;
} qp_latents;

/* Latents in the fixed point of the networks, in units of 2^-afrac: the encoder chooses for each
 * the symbol whose value, given its mean, comes nearest. */
typedef struct qp_fine_latents {
    uint32_t channels, height, width;
    const int64_t *values;
} qp_fine_latents;

/* ---- WIA1 and WIS1 ------------------------------------------------------------------------ */

/* The sound of `wai.audio.int_codec`: `samples` a channel, `rate` a second, each at least 1. */
typedef struct qp_audio_source {
    uint32_t samples, rate;
    qp_latents latents;
} qp_audio_source;

/* A WIA1 payload. Whether a set's network gives that many samples is not checked. */
QP_API qp_status qp_audio_encode(const qp_audio_source *source, const qp_allocator *allocator,
                                 qp_encoded *payload, qp_error *error);

/* The planes of `wai.splat.int_codec`. */
typedef struct qp_splat_source {
    uint32_t planes, height, width; /* 1 .. 2^16 - 1 planes; sides of 1 .. 2^16 */
    qp_latents latents;
} qp_splat_source;

/* A WIS1 payload. Whether a set's network gives planes of that size is not checked. */
QP_API qp_status qp_splat_encode(const qp_splat_source *source, const qp_allocator *allocator,
                                 qp_encoded *payload, qp_error *error);

/* ---- WIM1 --------------------------------------------------------------------------------- */

/* A picture of `wai.neural.int_mlicpp`. */
typedef struct qp_mlicpp_source {
    uint32_t height, width; /* of the picture, 1 .. 2^16 each */
    uint32_t slices;        /* K, which divides the channels of y */
    qp_latents z;
    qp_fine_latents y;
} qp_mlicpp_source;

/* A WIM1 payload for the set. The networks run as in the decode, once a pass. Refusals as the
 * decode's, where the latents do not fit the set; QP_FIELD_RANGE for one that no symbol reaches. */
QP_API qp_status qp_mlicpp_encode(const qp_set *set, const qp_mlicpp_source *source,
                                  const qp_allocator *allocator, qp_encoded *payload,
                                  qp_error *error);

/* ---- WIC1 and WCF1 ------------------------------------------------------------------------ */

/* The shapes of a conditional video. */
typedef struct qp_cond_shapes {
    uint32_t height, width; /* of a picture, 1 .. 2^16 each */
    uint32_t m, sh, sw;     /* of its latents */
    uint32_t f, fh, fw;     /* of the feature that one frame leaves to the next */
} qp_cond_shapes;

/*
 * A video of `wai.video.int_cond` as its encoder sees it. For each frame in order `analyse` is
 * given what `ctx` makes of the frames before, all that the decoder will know, and writes the
 * frame's latents [m, sh, sw] in units of 2^-afrac. Its failure ends the encoding.
 */
typedef struct qp_cond_source {
    qp_cond_shapes shapes;
    uint32_t frames; /* at least 1 */
    uint32_t group;  /* frames from one intra frame to the next; 0 for only the first */
    qp_status (*analyse)(void *context, uint32_t frame, const qp_array *ctx, int64_t *latents,
                         qp_error *error);
    void *context;
} qp_cond_source;

/* One WIC1 payload of all frames. */
QP_API qp_status qp_cond_encode(const qp_set *set, const qp_cond_source *source,
                                const qp_allocator *allocator, qp_encoded *payload,
                                qp_error *error);

/* A WCF1 payload a frame, `source->frames` of them in `payloads`; each is the caller's. */
QP_API qp_status qp_cond_encode_frames(const qp_set *set, const qp_cond_source *source,
                                       const qp_allocator *allocator, qp_encoded *payloads,
                                       qp_error *error);

/* ---- WCP1 --------------------------------------------------------------------------------- */

/* A picture of `wai.image.int_cond_refine`, refined upon `base` with a correction. */
typedef struct qp_correction_source {
    const qp_media *media; /* one picture of pixels */
    const qp_media *base;  /* its size, or with `up2` half of it, rounded up */
    int up2;
    const void *graph; /* WHG1: the prediction and, where there are some, the side planes in, the
                          correction out */
    size_t graph_size;
    const int32_t *side; /* [n_side, height, width], or NULL */
    uint32_t n_side;     /* at most 255 */
    uint32_t q;          /* the step of the residual; 0 for 1, which is lossless */
} qp_correction_source;

/* A WCP1 payload. Refusals as the decode's. */
QP_API qp_status qp_correction_encode(const qp_correction_source *source,
                                      const qp_allocator *allocator, qp_encoded *payload,
                                      qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
