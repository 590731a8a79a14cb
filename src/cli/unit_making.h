/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_making.h - what the steps of a unit's layout share: unit_layout.c finds layers and bends,
 * unit_heights.c orders and heights, unit_tracks.c the tracks between the layers.
 */
#ifndef QP_CLI_UNIT_MAKING_H
#define QP_CLI_UNIT_MAKING_H

#include "cli/unit_layout.h"

enum { QP_UNIT_GAP = 14 }; /* between boxes that stand one below the other */

typedef struct qp_unit_making {
    qp_unit_layout *l;
    const qp_fabric_fu *fu;
    qp_arena *arena;
    uint8_t *colour; /* of a node in the search for cycles */
    uint32_t *stack;
    uint32_t *order; /* boxes by layer, from above */
    uint32_t *first; /* of each layer in `order`; n_layers + 1 */
} qp_unit_making;

/* The height at which a net leaves a layer that it passes or starts in. */
int32_t qp_unit_leaving(const qp_unit_layout *layout, uint32_t net, uint32_t layer);

/* Each is false without memory. */
bool qp_unit_set_heights(qp_unit_making *m);
bool qp_unit_make_tracks(qp_unit_making *m);

#endif
