/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_hyper.h - WIH1 inside the payloads of others, and what its decoder and encoder share.
 */
#ifndef QP_CODEC_INT_HYPER_H
#define QP_CODEC_INT_HYPER_H

#include "codec/codec.h"

enum { QP_HYPER_SIDE_MAX = 65536, QP_HYPER_HEAD_RESERVED = 3, QP_HYPER_CHANNELS = 3 };

/* The graphs of the set, by their index. */
enum { QP_HYPER_H_S = 0, QP_HYPER_G_S = 1 };

/* Decodes one WIH1, `payload`, into a picture of one frame. */
qp_status qp_hyper_decode_picture(qp_decoder *decoder, qp_payload payload, qp_media *media,
                                  qp_error *error);

/* The prepare of drivers whose sets are h_s, g_s and entropy.json. */
qp_status qp_hyper_prepare(qp_set *set, qp_error *error);

/* Encodes a picture as qp_encoder_encode does, with a state that qp_hyper_start made. */
qp_status qp_hyper_start(qp_encoder *encoder, qp_error *error);
qp_status qp_hyper_encode_picture(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                  qp_error *error);
void qp_hyper_forget(qp_encoder *encoder);

/* ---- shared ------------------------------------------------------------------------------- */

/* Room for `count` symbols: what each reads, the symbol, and its value. */
typedef struct qp_hyper_work {
    size_t count;
    uint32_t *reads;
    int32_t *symbols;
    int64_t *values;
} qp_hyper_work;

qp_status qp_hyper_work_make(const qp_allocator *allocator, size_t count, qp_hyper_work *work,
                             qp_error *error);
void qp_hyper_work_free(const qp_allocator *allocator, qp_hyper_work *work);

/* h_s on the symbols in work->symbols, which have the shape `z`: the array of scales and means. */
qp_status qp_hyper_scales(qp_session *h_s, const qp_entropy *entropy, const qp_shape *z,
                          qp_hyper_work *work, qp_array *scales, qp_error *error);

/* work->reads of the first `count` elements of the array: E3 of each scale. */
void qp_hyper_tables(const qp_entropy *entropy, const qp_array *scales, size_t count,
                     qp_hyper_work *work);

#endif
