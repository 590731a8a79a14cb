/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closure.h - what becomes active in a unit when some of its ops do (section 10): the closure over
 * sources and consumers, for the routes of a row, or for routes that are tried.
 */
#ifndef QP_FABRIC_CLOSURE_H
#define QP_FABRIC_CLOSURE_H

#include "fabric/inventory.h"

/* Why a closure is no template. */
typedef enum qp_fabric_closure_fault {
    QP_FABRIC_CLOSURE_GOOD = 0,
    QP_FABRIC_CLOSURE_UNLISTED_OP,
    QP_FABRIC_CLOSURE_NO_ROUTE,
    QP_FABRIC_CLOSURE_OTHER_OUTPUT,
    QP_FABRIC_CLOSURE_NO_CONSUMER,
    QP_FABRIC_CLOSURE_UNUSED_ROUTE,
    QP_FABRIC_CLOSURE_WORK
} qp_fabric_closure_fault;

/* One choice of the derivation without rows: the route of a selector, or whether a value that comes
 * to an unrouted mux enters it. */
typedef struct qp_fabric_choice {
    bool enters;     /* of a wire: `option` 0 leaves the mux, 1 enters it */
    uint32_t number; /* a wire's, or a selector's node */
    uint32_t option;
} qp_fabric_choice;

/*
 * The state of a closure. The marks are by node, by wire, and by value (the position in `by_source`
 * of its first wire); the lists say which marks are set.
 */
typedef struct qp_fabric_closure {
    const qp_fabric_fu *fu;
    uint64_t *work;
    bool constrained; /* by a row */
    qp_fabric_closure_fault fault;
    uint32_t fault_node; /* QP_FABRIC_NO_INDEX where it is the unit's input */

    bool *active;                     /* [node] */
    bool *listed;                     /* [node] of a row's ops */
    uint32_t *route;                  /* [node], QP_FABRIC_NO_INDEX for none yet */
    bool *edge;                       /* [wire] */
    bool *left;                       /* [wire] to a mux that it does not enter */
    bool *value;                      /* [position] */
    uint32_t *nodes, *edges, *values; /* lists: as set */
    uint32_t node_count, edge_count, value_count;
    uint32_t nodes_done, values_done;
    uint32_t *waiting; /* selectors without a route, as found */
    uint32_t *fed;     /* wires that came to an unrouted mux, as found */
    uint32_t waiting_count, fed_count;
    uint32_t waiting_done, fed_done; /* before these all is decided */

    qp_fabric_choice *choices; /* without rows: those taken, in order */
    uint32_t choice_count, choices_done;
} qp_fabric_closure;

/* Room for one unit; false without memory. */
bool qp_fabric_closure_init(qp_fabric_closure *c, const qp_fabric_fu *fu, uint64_t *work,
                            qp_arena *arena);

/* The closure of a row. What is active is in the lists, unless `fault` is set. */
void qp_fabric_close_row(qp_fabric_closure *c, const qp_fabric_row *row);

/* Without rows: the next closure from `start`, the first one when there are no choices yet. False
 * when all were tried. It may have a fault. */
bool qp_fabric_close_next(qp_fabric_closure *c, uint32_t start, bool first);

#endif
