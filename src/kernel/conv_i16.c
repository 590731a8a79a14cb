/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_i16.c - convolution of 16-bit inputs and weights with 32-bit sums: exact where the
 * certificate says that conv.acc fits i32, since that interval holds every sum of every subset of
 * the terms (section 8.2), and a product of two i16 fits i32 on its own.
 */
#include "kernel/kernel.h"
#include "op/convolution.h"

typedef int16_t element;
typedef int32_t chunk;
typedef int32_t accumulator;
#include "kernel/conv.inc"

static bool takes(const qp_kernel_query *query)
{
    return qp_kernel_input_fits(query, 0, 16) && qp_kernel_weights_fit(query, 16) &&
           qp_kernel_fits(query, QP_CONV_ACC, 32);
}

const qp_kernel qp_kernel_conv_i16 = {
    .name = "conv_i16",
    .opcode = 0x01,
    .least_width = QP_CONV_NARROW,
    .takes = takes,
    .scratch = scratch,
    .evaluate = evaluate,
};
