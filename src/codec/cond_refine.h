/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cond_refine.h - what the decoder and the encoder of WCP1 share: a correction that a graph in the
 * payload computes from the prediction and the side planes.
 */
#ifndef QP_CODEC_COND_REFINE_H
#define QP_CODEC_COND_REFINE_H

#include "codec/coded_latents.h"
#include "codec/refine.h"

/* The picture, what it is predicted from, and the graph. */
typedef struct qp_correction {
    qp_refine_layer layer; /* one unit of pixels: identity or up2 */
    uint8_t n_side;
    qp_bytes graph;
    qp_allocator allocator;
    qp_lowered *lowered; /* from qp_correction_open on */
    int reference;
} qp_correction;

/* Loads and certifies the graph, checks the layer below and plans: QP_TOO_LARGE, QP_MODEL_MISMATCH,
 * QP_GEOMETRY_MISMATCH. Whatever is returned, qp_correction_close ends it. */
qp_status qp_correction_open(qp_correction *correction, const qp_media *base, size_t n_base,
                             qp_error *error);
void qp_correction_close(qp_correction *correction);

/* The shape of the side planes. */
qp_shape qp_correction_side(const qp_correction *correction);

/* clamp(prediction + correction, 0, 255) for every element, into media of the layer's form. `side`
 * is not read where there are no side planes. */
qp_status qp_correction_run(const qp_correction *correction, const int64_t *side, qp_media *media,
                            qp_error *error);

#endif
