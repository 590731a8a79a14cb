/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_transpose_i16_chunked.c - transposed convolution of 16-bit inputs and weights, four terms in
 * 32 bits at a time: exact where the certificate's k_c is at least four, since any partial sum of
 * at most k_c terms fits i32 (section 6). convT.acc fits i64, as in every certified graph.
 */
#include "kernel/kernel.h"
#include "op/convolution.h"

typedef int16_t element;
typedef int32_t chunk;
typedef int64_t accumulator;
#include "kernel/conv_transpose.inc"

static bool takes(const qp_kernel_query *query)
{
    return qp_kernel_input_fits(query, 0, 16) && qp_kernel_weights_fit(query, 16) &&
           qp_kernel_chunk(query, QP_CONVT_TERM) >= TERMS;
}

const qp_kernel qp_kernel_conv_transpose_i16_chunked = {
    .name = "conv_transpose_i16_chunked",
    .opcode = 0x11,
    .least_width = 1,
    .takes = takes,
    .scratch = scratch,
    .evaluate = evaluate,
};
