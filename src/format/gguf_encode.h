/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_encode.h - the search that makes ggml's blocks (ggml-blocks.md sections 2 and 3) of values.
 *
 * The algorithms are written once, in gguf_encode*.inc, for a tile: as many blocks at once as an
 * instruction set has lanes of binary32. Lane l of every variable belongs to block l, and no
 * operation mixes lanes, so each block sees the same operations in the same order whatever the
 * width: the words depend neither on the processor nor on the compiler nor on a block's neighbours.
 * Each gguf_encode_ISA.c gives the lanes and includes the algorithms; gguf_encode_plain.c says what
 * the functions on lanes do.
 */
#ifndef QP_FORMAT_GGUF_ENCODE_H
#define QP_FORMAT_GGUF_ENCODE_H

#include "format/format.h"

#define QP_GGUF_LANES_MAX 16

/* Up to as many blocks as there are lanes. The lanes from `count` on repeat the last block and
 * nothing is written for them. */
typedef struct qp_gguf_tile {
    unsigned count;
    bool weighted;
    const float *values[QP_GGUF_LANES_MAX];
    const float *weights[QP_GGUF_LANES_MAX]; /* where weighted: finite, not negative */
    uint8_t *blocks[QP_GGUF_LANES_MAX];
} qp_gguf_tile;

/* An encoder of one format. It gives the tile's count, or the first lane with a value that is not
 * finite or too large for a binary16 scale; then no block is written. */
typedef struct qp_gguf_encoder {
    const char *format;
    unsigned (*encode)(const qp_gguf_tile *tile);
} qp_gguf_encoder;

/* The encoders of one instruction set. */
typedef struct qp_gguf_encoder_set {
    const char *name;
    uint32_t cpu; /* what it needs */
    unsigned lanes;
    const qp_gguf_encoder *rows;
    size_t count;
} qp_gguf_encoder_set;

extern const qp_gguf_encoder_set qp_gguf_encoders_plain;
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#    define QP_GGUF_ENCODE_X86
extern const qp_gguf_encoder_set qp_gguf_encoders_avx2, qp_gguf_encoders_avx512;
#endif

/* The sets of this build, the fastest first; NULL from the last on. */
const qp_gguf_encoder_set *qp_gguf_encoder_set_at(size_t index);

/* An encoder of a set by the canonical name of its format; NULL where the search does not write
 * it. */
const qp_gguf_encoder *qp_gguf_encoder_find(const qp_gguf_encoder_set *set, const char *format);

#endif
