/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_networks.h - parameter sets of a few kilobytes from a seed for the capabilities whose
 * payloads are made from latents, and latents to put through them.
 */
#ifndef QP_TEST_SUPPORT_SMALL_NETWORKS_H
#define QP_TEST_SUPPORT_SMALL_NETWORKS_H

#include "support/small_sets.h"

/* wai.audio.int_codec: g_s.wam reads [2, 1, t] and gives 2 channels of 2·t samples; beside it
 * g_a.whm, which gives [2, 1, t] of that. */
enum { SMALL_AUDIO_LATENTS = 2, SMALL_AUDIO_CHANNELS = 2 };
void small_set_audio(uint64_t seed, small_set *set);

/* wai.splat.int_codec: g_s.whm reads [3, h, w] and gives 5 planes of 2h x 2w. */
enum { SMALL_SPLAT_LATENTS = 3, SMALL_SPLAT_PLANES = 5 };
void small_set_splat(uint64_t seed, small_set *set);

/* wai.neural.int_mlicpp: z [2, h, w], y [4, 2h, 2w], a picture of 4h x 4w. */
enum { SMALL_MLICPP_Z = 2, SMALL_MLICPP_Y = 4 };
void small_set_mlicpp(uint64_t seed, small_set *set);

/* wai.video.int_cond: latents [2, h, w], features [3, 2h, 2w], pictures of 4h x 4w. */
enum { SMALL_COND_LATENTS = 2, SMALL_COND_FEATURE = 3 };
void small_set_cond(uint64_t seed, small_set *set);

/* `count` symbols that crowd around 0, some of them far from it. */
void small_symbols(uint64_t seed, int32_t *symbols, size_t count);
/* The same in units of 2^-SMALL_AFRAC, with a fraction. */
void small_values(uint64_t seed, int64_t *values, size_t count);

#endif
