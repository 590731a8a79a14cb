/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_i16_chunked.c - convolution of 16-bit inputs and weights, four terms in 32 bits at a time:
 * exact where the certificate's k_c is at least four, since any partial sum of at most k_c terms
 * fits i32 (section 6). conv.acc fits i64, as in every certified graph.
 */
#include "kernel/kernel.h"
#include "op/convolution.h"

typedef int16_t element;
typedef int32_t chunk;
typedef int64_t accumulator;
#include "kernel/conv.inc"

static bool takes(const qp_kernel_query *query)
{
    return qp_kernel_input_fits(query, 0, 16) && qp_kernel_weights_fit(query, 16) &&
           qp_kernel_chunk(query, QP_CONV_TERM) >= TERMS;
}

const qp_kernel qp_kernel_conv_i16_chunked = {
    .name = "conv_i16_chunked",
    .opcode = 0x01,
    .least_width = QP_CONV_NARROW,
    .takes = takes,
    .scratch = scratch,
    .evaluate = evaluate,
};
