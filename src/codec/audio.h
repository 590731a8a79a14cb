/* SPDX-License-Identifier: Apache-2.0 */
/* audio.h - what the decoder and the encoder of WIA1 share. */
#ifndef QP_CODEC_AUDIO_H
#define QP_CODEC_AUDIO_H

#include "codec/coded_latents.h"

enum { QP_AUDIO_SAMPLES_MAX = 1 << 26 }; /* a channel: the largest t_out */

/* The encoder, members of the driver's row. */
qp_status qp_audio_start_encoder(qp_encoder *encoder, qp_error *error);
qp_status qp_audio_encode_media(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                qp_error *error);
void qp_audio_forget_encoder(qp_encoder *encoder);

#endif
