/* SPDX-License-Identifier: Apache-2.0 */
/* crop.h - what crop and crop_to share. */
#ifndef QP_OP_CROP_H
#define QP_OP_CROP_H

#include "op/op.h"

/* Copies the window of input 0 that starts at (y0, x0) and has output 0's size. */
qp_status qp_evaluate_crop(const qp_evaluation *e, uint32_t y0, uint32_t x0);

#endif
