/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - the machine's limit, and the graphs that the benchmarks run. */
#ifndef QP_BENCH_BENCH_H
#define QP_BENCH_BENCH_H

#include "base/base.h"

/* acc[k] += weight·x[k] over 64-bit integers, as the compiler makes it: the limit of a plain loop.
 */
void limit_multiply_add(int64_t *restrict acc, const int64_t *restrict x, int64_t weight,
                        size_t count);

/* A graph of one convolution: `channels` to `channels`, a kernel of `side`², padded to keep the
 * size, inputs in [0, 255], weights of `weight_bytes` bytes with `weight_bits` bits. */
typedef struct bench_conv {
    uint32_t channels, side;
    unsigned weight_bytes, weight_bits;
    bool depthwise;
} bench_conv;
void bench_conv_graph(const bench_conv *conv, qp_buffer *bytes);

/* A relu over [1, 1, 4]. */
void bench_tiny_graph(qp_buffer *bytes);

/* A chain of one kind of operator with `megabytes` MB of parameters, integers of `width` bytes:
 * "conv" (1x1 taps), "depthwise" (3x3), "conv_transpose" (4x4, stride 2) or "igdn" (width 4 or 8).
 * False for another kind. */
typedef struct bench_large {
    const char *kind;
    size_t megabytes;
    unsigned width;
} bench_large;
bool bench_large_graph(const bench_large *large, qp_buffer *bytes);

#endif
