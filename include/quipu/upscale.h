/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/upscale.h - the exact upscaler: pictures of twice the size through a WSR1 prior
 * (integer-operators.md section 13.7; docs/lowering.md says what a prior is).
 */
#ifndef QUIPU_UPSCALE_H
#define QUIPU_UPSCALE_H

#include "quipu/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Doubles the height and the width of pictures: each goes with its base, E11 `up2_predict`, through
 * the prior's graph. `prior` is what qp_lower makes of a WSR1 file; `pictures` are pixels of 1 or 3
 * channels, any number of frames. `options` may be NULL. The same pictures and prior give the same
 * bytes on every machine.
 *
 * QP_INVALID_ARGUMENT for media that are no pixels or whose bytes are not as many as their sizes
 * say; QP_MODEL_MISMATCH for a set that is no prior, or one of other channels; QP_TOO_LARGE past
 * 2^26 elements a picture, 2^32 - 1 bytes in all, or the options' max_memory. On a refusal *result
 * is empty. Ownership: qp_media_free.
 */
QP_API qp_status qp_upscale(const qp_lowered *prior, const qp_media *pictures,
                            const qp_decode_options *options, const qp_allocator *allocator,
                            qp_media *result, qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
