/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_sets.h - parameter sets of a few kilobytes from a seed, with everything that their
 * capability's driver and encoder read, and pictures to put through them.
 */
#ifndef QP_TEST_SUPPORT_SMALL_SETS_H
#define QP_TEST_SUPPORT_SMALL_SETS_H

#include "quipu/codec.h"

#include "base/base.h"

enum { SMALL_FILES_MAX = 5 };

/* The files of a set, and beside them those of its encoder. */
typedef struct small_set {
    qp_member members[SMALL_FILES_MAX];
    size_t count;  /* of the files that are there */
    size_t beside; /* the first that is no part of the set */
    qp_buffer files[SMALL_FILES_MAX];
} small_set;

/* What the networks of small_set_hyper need: a side is rounded up to this. */
enum { SMALL_UNIT = 8, SMALL_Z = 2, SMALL_Y = 4, SMALL_AFRAC = 8 };

/* wai.neural.int_hyper: h_s.whm, g_s.whm, entropy.json; g_a.whm and h_a.whm beside them. */
void small_set_hyper(uint64_t seed, small_set *set);
/* wai.neural.int_synth: int_synth.json, which reads [2, S, S] and gives [3, 4S, 4S]. */
void small_set_synth(uint64_t seed, small_set *set);
void small_set_free(small_set *set);

/* Slopes, edges and noise. Ownership: qp_media_free with NULL. */
qp_media small_picture(uint64_t seed, uint32_t height, uint32_t width, uint32_t channels);

/* The next number of a sequence, below `limit`. */
uint32_t small_random(uint64_t *seed, uint32_t limit);

/* ---- parts, for sets of other forms ------------------------------------------------------- */

/* A table of `n` cumulative counts that rise towards `offset + n / 2`, as JSON. */
void small_table_json(uint64_t *seed, size_t n, int64_t offset, qp_buffer *text);
/* An entropy.json with that many edges and hyper channels. */
void small_entropy_json(uint64_t *seed, size_t n_edges, size_t n_z, qp_buffer *text);

/* A WHM1 file as it grows. */
void small_whm_head(qp_buffer *file, uint32_t n_layers);
typedef struct small_layer {
    uint32_t tag, c, out, k, stride, pad, opad;
    int32_t reach; /* weights in -reach .. reach */
    int64_t mult;
    int64_t bias; /* of every channel */
} small_layer;
void small_whm_layer(uint64_t *seed, const small_layer *layer, qp_buffer *file);
void small_whm_leaky(qp_buffer *file);

#endif
