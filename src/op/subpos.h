/* SPDX-License-Identifier: Apache-2.0 */
/* subpos.h - what subpos_split and subpos_merge share: the order of the four positions. */
#ifndef QP_OP_SUBPOS_H
#define QP_OP_SUBPOS_H

#include "op/op.h"

#define QP_SUBPOS 4

typedef struct qp_subpos {
    uint8_t order[QP_SUBPOS]; /* each 2a + b: the position (2y + a, 2x + b) of tensor k */
} qp_subpos;

#define QP_SUBPOS_FIELDS 1
extern const qp_field qp_subpos_fields[QP_SUBPOS_FIELDS];

#endif
