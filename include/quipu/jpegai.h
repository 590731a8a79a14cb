/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/jpegai.h - the integer stages of `wai.image.jpegai` (integer-operators.md section 13.6):
 * the entropy decodes and their scale path, the hyper decoder, the context stages and the
 * synthesis. The codestream's syntax, the floating-point stages between and the post-filters are
 * the caller's.
 *
 * The way through: qp_jpegai_model_open on the bundle's files, qp_jpegai_decode with the segments
 * of a codestream and the caller's stages, qp_jpegai_planes_free.
 *
 * Values called Q16 are integers q that stand for q / 2^16.
 */
#ifndef QUIPU_JPEGAI_H
#define QUIPU_JPEGAI_H

#include "quipu/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the bundle --------------------------------------------------------------------------- */

typedef struct qp_jpegai_model qp_jpegai_model;

/*
 * Opens the bundle: qp_lower, with the checks of section 8.6 (`pin` may be NULL), then the tables
 * of norm.json. The members' bytes are borrowed and must stay until qp_jpegai_model_close.
 * QP_MODEL_MISMATCH for a bundle that fails a load check. A model does not change once made.
 * Ownership: qp_jpegai_model_close.
 */
QP_API qp_status qp_jpegai_model_open(const qp_member *members, size_t n_members, const qp_pin *pin,
                                      const qp_allocator *allocator, qp_jpegai_model **model,
                                      qp_error *error);
QP_API void qp_jpegai_model_close(qp_jpegai_model *model);

/* The graphs, the certificate and the digest; they belong to the model. */
QP_API const qp_lowered *qp_jpegai_lowered(const qp_jpegai_model *model);

/* ---- the scale path and the entropy decodes (section 13.6.1) ------------------------------ */

typedef enum qp_jpegai_plane { QP_JPEGAI_Y, QP_JPEGAI_UV } qp_jpegai_plane;

/* The latent channels of a plane, 160 or 96, and the sides of its tensors. */
#define QP_JPEGAI_Y_CHANNELS 160
#define QP_JPEGAI_UV_CHANNELS 96
#define QP_JPEGAI_HYPER_SIDE 4
#define QP_JPEGAI_LATENT_SIDE 16
#define QP_JPEGAI_PLANE_SIDE 256

typedef struct qp_jpegai_bytes {
    const uint8_t *bytes;
    size_t size;
} qp_jpegai_bytes;

/* What the codestream gives: the payloads of its segments, without marker and length field, and
 * each latent channel's GRFS flag, a byte that is 0 or not. */
typedef struct qp_jpegai_segments {
    qp_jpegai_bytes soz;    /* the hyper-latents of both planes */
    qp_jpegai_bytes sorp;   /* the luma latent */
    qp_jpegai_bytes sors;   /* the chroma latent */
    const uint8_t *grfs_y;  /* [160] */
    const uint8_t *grfs_uv; /* [96] */
} qp_jpegai_segments;

/* The integers that section 13.6.1 fixes of one plane, C its channels. They are one block. */
typedef struct qp_jpegai_latent {
    uint32_t channels;
    int64_t *z; /* [C, 4, 4], in [-31, 32] */
    int64_t *v; /* [C, 16, 16], as the others */
    int64_t *likely;
    uint32_t *sigma; /* in [0, 31] */
    int16_t *y_q;
    uint8_t *mask;
    void *block;
    size_t block_size;
} qp_jpegai_latent;

/*
 * Decodes the latent of a plane. QP_STREAM_EXHAUSTED, with the position counted over the stream,
 * for a stream that does not hold it; QP_FIELD_RANGE where the scale graph refuses. The bundle has
 * passed its checks, so nothing else is refused. Ownership: qp_jpegai_latent_free.
 */
QP_API qp_status qp_jpegai_entropy(const qp_jpegai_model *model, qp_jpegai_plane plane,
                                   const qp_jpegai_segments *segments,
                                   const qp_allocator *allocator, qp_jpegai_latent *latent,
                                   qp_error *error);
QP_API void qp_jpegai_latent_free(const qp_allocator *allocator, qp_jpegai_latent *latent);

/* ---- the whole decode (section 13.6.2) ---------------------------------------------------- */

/*
 * The integer nearest to x·2^16, a tie rounding away from zero, for the x whose binary64 bits are
 * `bits`. QP_FIELD_RANGE where that is no number or does not fit i32. In integers throughout, so
 * that no compiler and no rounding mode changes it.
 */
QP_API qp_status qp_jpegai_to_q16(uint64_t bits, int64_t *value, qp_error *error);

/*
 * The floating-point stages, which belong to the caller. Each fills [C, 16, 16] values as the bits
 * of binary64 numbers; a failure ends the decode with its status.
 */
typedef struct qp_jpegai_stages {
    /* y_q to the residual. */
    qp_status (*dequantise)(void *context, qp_jpegai_plane plane, const qp_jpegai_latent *latent,
                            uint64_t *residual, qp_error *error);
    /* The reconstructed latent, in Q16, to the plane's latent. */
    qp_status (*refine)(void *context, qp_jpegai_plane plane, const int64_t *reconstructed,
                        uint64_t *latent, qp_error *error);
    void *context;
    qp_decode_options options; /* all zero for the usual way */
} qp_jpegai_stages;

/* The planes before the post-filters, in Q16: [256, 256] luma and [2, 256, 256] chroma, U then V,
 * each value in [0, 255·2^16]. */
typedef struct qp_jpegai_planes {
    int32_t *luma, *chroma;
} qp_jpegai_planes;

/*
 * Decodes one tile: the entropy of both planes, rec_y and rec_uv, then syn_y and syn_uv, with the
 * caller's stages between. max_memory of their options bounds what is held at one time
 * (QP_TOO_LARGE). Refusals: QP_STREAM_EXHAUSTED from the streams, then QP_FIELD_RANGE for a value
 * that leaves its range as each network runs. On a refusal *planes is empty. Ownership:
 * qp_jpegai_planes_free.
 */
QP_API qp_status qp_jpegai_decode(const qp_jpegai_model *model, const qp_jpegai_segments *segments,
                                  const qp_jpegai_stages *stages, const qp_allocator *allocator,
                                  qp_jpegai_planes *planes, qp_error *error);
QP_API void qp_jpegai_planes_free(const qp_allocator *allocator, qp_jpegai_planes *planes);

/* ---- encoding ----------------------------------------------------------------------------- */

/*
 * The payload of SOZ for the hyper-latents z of both planes, [160, 4, 4] and [96, 4, 4], each in
 * [-31, 32] (QP_FIELD_RANGE otherwise). Ownership: qp_encoded_free.
 */
QP_API qp_status qp_jpegai_encode_hyper(const qp_jpegai_model *model, const int64_t *z_y,
                                        const int64_t *z_uv, const qp_allocator *allocator,
                                        qp_encoded *payload, qp_error *error);

/* What is coded of a plane. */
typedef struct qp_jpegai_coded {
    qp_jpegai_plane plane;
    const int64_t *z;    /* [C, 4, 4] */
    const uint8_t *grfs; /* [C] */
    const int16_t *y_q;  /* [C, 16, 16] */
} qp_jpegai_coded;

/*
 * The payload of SORP or SORS: runs the scale graph on z and codes y_q where the mask is set. What
 * the mask leaves out is not coded, and decodes as 0. QP_FIELD_RANGE for a value that its
 * distribution and its escape do not reach. Ownership: qp_encoded_free.
 */
QP_API qp_status qp_jpegai_encode_latent(const qp_jpegai_model *model, const qp_jpegai_coded *coded,
                                         const qp_allocator *allocator, qp_encoded *payload,
                                         qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
