/* SPDX-License-Identifier: Apache-2.0 */
/* contraction.h - what gram and apply share (integer-operators.md section 5.9). */
#ifndef QP_OP_CONTRACTION_H
#define QP_OP_CONTRACTION_H

#include "op/rq.h"

typedef struct qp_contraction {
    uint32_t groups;
    qp_rq rq; /* one shift, no multiplier, no bias */
} qp_contraction;

#define QP_CONTRACTION_FIELDS 2
extern const qp_field qp_contraction_fields[QP_CONTRACTION_FIELDS];

typedef struct qp_contraction_keys {
    qp_intermediate term, acc;
} qp_contraction_keys;

/* The term, partial-sum and rq rules of section 8.3 over sums of `length` products. */
void qp_contraction_bounds(const qp_bounds_query *query, uint64_t length, qp_contraction_keys keys,
                           qp_node_bounds *bounds);

#endif
