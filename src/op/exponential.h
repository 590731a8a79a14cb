/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exponential.h - what softmax, sigmoid and elu share: exp_neg_q16, its bounds rule (section 8.3)
 * and its intermediates.
 */
#ifndef QP_OP_EXPONENTIAL_H
#define QP_OP_EXPONENTIAL_H

#include "op/op.h"

/* The largest result of exp_neg_q16: its value at 0. */
#define QP_EXP_MAX 65553
/* 1 in Q16. */
#define QP_ONE_Q16 65536

/* The rules exp.negx, exp.nl, exp.t2 and exp.c, given the interval of u = -x. */
void qp_exp_bounds(qp_interval u, qp_node_bounds *bounds);

/* exp_neg_q16(x), its intermediates shown to the observer. */
int64_t qp_exp_observed(const qp_evaluation *e, int64_t x);

#endif
