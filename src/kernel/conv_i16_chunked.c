/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_i16_chunked.c - 16-bit convolution with chunks of four terms in 32 bits, widened to 64:
 * exact where the certificate's k_c is at least four, since any partial sum of at most k_c terms
 * fits i32 (section 6). conv.acc fits i64, as in every certified graph.
 */
#include <stdint.h>

typedef int64_t accumulator;
#include "kernel/conv_i16.inc"

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
