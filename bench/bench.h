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
} bench_conv;
void bench_conv_graph(const bench_conv *conv, qp_buffer *bytes);

/* A relu over [1, 1, 4]. */
void bench_tiny_graph(qp_buffer *bytes);

/* Convolutions of 1x1 taps in a chain, with `megabytes` MB of weights of `weight_bytes` bytes. */
void bench_large_graph(size_t megabytes, unsigned weight_bytes, qp_buffer *bytes);

#endif
