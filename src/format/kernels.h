/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - how a decode kernel goes over rows.
 *
 * A kernel's own part is a run: it decodes some groups (blocks, elements) that lie one after the
 * other to values that do so too. The drivers here find the runs of a chunk of rows from the
 * layout's geometry, decode the last, partly filled group of a row aside, and choose how a large
 * output is written: past the size of a cache, values are decoded a few kilobytes at a time and
 * then stored around the caches, which spares memory the reading of what is overwritten.
 *
 * The runs are written once, in kernels_*.inc, over the lanes of an instruction set (lanes_*.h):
 * each kernels_ISA.c includes both.
 */
#ifndef QP_FORMAT_KERNELS_H
#define QP_FORMAT_KERNELS_H

#include "format/format.h"

/* Decodes `count` groups; `planes` as the format's driver says. */
typedef void (*qp_decode_run)(const uint8_t *const planes[QP_PLANES], size_t count, float *values);

/* The bits of an E4M3FN code, widened with its sign and moved up by 7, that are binary16's sign,
 * low four exponent bits and high three fraction bits: the code's value over 2^8, as the exponents'
 * biases are 7 and 15. */
#define QP_E4M3_AS_HALF (-0x4080) /* 0xBF80 */

/* Direct formats: groups of one element; planes[0] the words. */
void qp_decode_elements(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                        float *values);
/* gguf_*: planes[0] the blocks. */
void qp_decode_blocks(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                      float *values);
/* row_split_k128_v1: planes 0 to 2 are the base bytes, the high bits and the scales of groups. */
void qp_decode_groups(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                      float *values);
/* row_scale_v1 and row_interleaved_v1: planes[0] codes of one row, planes[2] its scale; groups of
 * one element. */
void qp_decode_scaled_rows(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                           float *values);
void qp_decode_interleaved_rows(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                                float *values);
/* block_scale_k16_m128x4_v1: groups of 64 columns of one row: planes[0] 32 bytes of codes each,
 * planes[2] four scales every 512 bytes, planes[3] a qp_tile_values for the row's divisor. */
#define QP_TILE_SCALES 128
#define QP_TILE_MAGNITUDES 8
typedef struct qp_tile_values {
    float of[QP_TILE_SCALES][QP_TILE_MAGNITUDES];
} qp_tile_values;
void qp_decode_tiles(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                     float *values);

/* ---- the tables of the instruction sets: the last row has no name --------------------------- */

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#    define QP_KERNELS_X86
extern const qp_decode_kernel qp_kernels_avx512[], qp_kernels_avx2[];
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)
#    define QP_KERNELS_NEON
extern const qp_decode_kernel qp_kernels_neon[];
#endif
extern const qp_decode_kernel qp_kernels_portable[];

#endif
