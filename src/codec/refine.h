/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refine.h - what the decoder and the encoder of WIR1 share: the kinds of media, the shapes and the
 * prediction from the layer below (integer-operators.md section 13.5; docs/payloads.md).
 */
#ifndef QP_CODEC_REFINE_H
#define QP_CODEC_REFINE_H

#include "codec/codec.h"

#define QP_REFINE_UNIT_MAX ((uint64_t)1 << 26) /* the cap on a tensor's elements */

/* A unit's prediction, as the payload numbers it. */
typedef enum qp_refine_prediction {
    QP_REFINE_IDENTITY,
    QP_REFINE_UP2,
    QP_REFINE_RATE
} qp_refine_prediction;

/* A layer: `units` of [d0, d1, d2] elements each, and what they are predicted from. */
typedef struct qp_refine_layer {
    qp_refine_prediction prediction;
    qp_layout layout; /* of the media; i16 elements for audio, bytes for the others */
    uint32_t units, d0, d1, d2;
    uint32_t rate_num, rate_den; /* 0 but for QP_REFINE_RATE */
    qp_residual residual;
    const qp_media *below;

    int16_t *signal; /* the samples below, for QP_REFINE_RATE */
    size_t n_signal;
} qp_refine_layer;

/* d0·d1·d2, or UINT64_MAX past 64 bits. */
uint64_t qp_refine_elements(const qp_refine_layer *layer);

/* The capability's layout; and whether it takes one unit alone, as pictures and signals do. */
qp_layout qp_refine_layout(const qp_driver *driver);
bool qp_refine_is_single(const qp_driver *driver);

/* [lo, hi] of E9 for a layout, with the step q. */
qp_residual qp_refine_residual(qp_layout layout, uint32_t q);

/* Whether a prediction is one of the layout's: up2 is for bytes, rate for signals. */
bool qp_refine_predicts(qp_layout layout, qp_refine_prediction prediction);

/* The media that a layer makes. `rate` follows from the layer below. */
qp_media qp_refine_media(const qp_refine_layer *layer);

/* Takes the one layer below. QP_MODEL_MISMATCH for none, several, or one of another kind. */
qp_status qp_refine_take_below(qp_refine_layer *layer, const qp_media *base, size_t n_base,
                               qp_error *error);

/* The shapes: those of the capability's media, and the layer below against them.
 * QP_GEOMETRY_MISMATCH. */
qp_status qp_refine_check(const qp_refine_layer *layer, bool is_single, qp_error *error);

/* Reads the samples below for QP_REFINE_RATE, of a layer that has passed its checks; nothing for
 * the others. Whatever is returned, qp_refine_end frees them. */
qp_status qp_refine_start(qp_refine_layer *layer, const qp_allocator *allocator, qp_error *error);
void qp_refine_end(qp_refine_layer *layer, const qp_allocator *allocator);

/* The predictions of elements first .. first + count of a unit. */
void qp_refine_predict(const qp_refine_layer *layer, uint32_t unit, size_t first, size_t count,
                       int32_t *predictions);

/* Element i of media, whole or of a unit: `bytes` begin at element 0. */
static inline int32_t qp_refine_element(qp_layout layout, const uint8_t *bytes, size_t i)
{
    return layout == QP_LAYOUT_AUDIO ? qp_load_i16(bytes + 2 * i) : bytes[i];
}

/* Bytes of one element. */
static inline size_t qp_refine_width(qp_layout layout)
{
    return layout == QP_LAYOUT_AUDIO ? sizeof(int16_t) : 1;
}

/* The encoder, a member of the drivers' rows. */
qp_status qp_refine_encode(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                           qp_error *error);

#endif
