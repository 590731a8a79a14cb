/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_transpose_i64.c - transposed convolution on 64-bit integers, for what the narrower kernels
 * do not take: exact on every certified graph, whose terms and partial sums fit i64 in any order
 * and grouping (section 8.2).
 */
#include "kernel/kernel.h"
#include "op/convolution.h"

typedef int64_t element;
typedef int64_t chunk;
typedef int64_t accumulator;
#include "kernel/conv_transpose.inc"

static bool takes(const qp_kernel_query *query)
{
    (void)query;
    return true;
}

const qp_kernel qp_kernel_conv_transpose_i64 = {
    .name = "conv_transpose_i64",
    .opcode = 0x11,
    .least_width = 1,
    .takes = takes,
    .scratch = scratch,
    .evaluate = evaluate,
};
