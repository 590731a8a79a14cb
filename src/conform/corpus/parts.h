/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/parts.h - operators as parts of graphs of several, with parameters of small size. */
#ifndef QP_CONFORM_PARTS_H
#define QP_CONFORM_PARTS_H

#include "conform/rows.h"

/* A tensor that an operator without parameters gives from the tensors of `wires`, "0 1". Returns
 * its index. */
uint32_t qp_part(qp_corpus *c, const char *name, const char *wires, uint32_t channels);

/* A convolution of stride 1 that keeps sizes: `side` is odd. */
typedef struct qp_part_conv {
    uint32_t in, cin, cout, side;
    qp_list weights;
    qp_case_rq rq;
} qp_part_conv;
uint32_t qp_part_convolution(qp_corpus *c, const qp_part_conv *p);

/* A rescale with one shift. */
uint32_t qp_part_rescale(qp_corpus *c, uint32_t in, uint32_t channels, const qp_case_rq *rq);

#endif
