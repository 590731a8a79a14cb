/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finder.h - the walk behind the search for maps: covers of a graph by realizations, one after the
 * other, without regard to which occurrence and context each one gets.
 */
#ifndef QP_FABRIC_FINDER_H
#define QP_FABRIC_FINDER_H

#include "fabric/search.h"

/* An op that is active in a template of a unit. */
typedef struct qp_fabric_seat {
    uint32_t fu, template_ordinal, node;
} qp_fabric_seat;

/* How the actor of an op follows from one that has its op: the two are the ends of a path. */
typedef enum qp_fabric_anchor_kind {
    QP_FABRIC_ANCHOR_NONE,     /* any actor may come */
    QP_FABRIC_ANCHOR_PRODUCER, /* it makes the value that the path's end reads */
    QP_FABRIC_ANCHOR_CONSUMER  /* it reads the value that the path's source makes */
} qp_fabric_anchor_kind;

/* One step gives one op of a realization its actor. */
typedef struct qp_fabric_find_step {
    uint32_t realization;
    uint32_t node; /* the op */
    qp_fabric_anchor_kind anchor;
    const qp_fabric_path *path;
    uint32_t actor;          /* the candidate, QP_FABRIC_NO_INDEX for none */
    uint64_t candidate;      /* the next one */
    uint64_t correspondence; /* of the candidate: admission.h's cursor */
} qp_fabric_find_step;

/* A realization of the cover. Its first step has its leader, the first actor that no earlier
 * realization has: so no cover is found in two orders. */
typedef struct qp_fabric_cover_row {
    uint32_t leader;
    uint32_t first_step, op_count;
    uint32_t fu, template_ordinal;
    const qp_fabric_derived *derived;
} qp_fabric_cover_row;

typedef struct qp_fabric_finder {
    const qp_fabric_sealed *sealed;
    const qp_fabric_graph *graph;
    uint64_t work; /* steps left */
    bool exhausted;
    bool tagged;          /* the fabric has bits_tag ports */
    bool one_realization; /* stop at the first realization: it and no other actor has its op */

    qp_fabric_seat *seats;                           /* by schema */
    uint64_t first_seat[QP_FABRIC_SCHEMA_COUNT + 1]; /* of a schema */
    bool **joins_ports; /* [fu][template] it has a path from an input to an output */
    uint64_t *homes;    /* [fu] occurrences and contexts */
    uint64_t *used;     /* [fu] of the cover */

    qp_fabric_find_step *steps; /* [actor count] */
    qp_fabric_cover_row *rows;
    uint32_t step_count, row_count;
    bool started;

    /* by actor and value */
    bool *covered;
    uint32_t *row_of, *node_of;
    uint32_t *operand_base, *operand_ports;
    uint32_t *result_ports; /* [value] */

    /* of the row in hand, `loaded` */
    uint32_t loaded;
    uint32_t *actor_at;   /* [node] */
    uint32_t *value_at;   /* [input of the unit] */
    uint32_t *value_step; /* the step that set it */
    uint32_t *operand_at; /* [input of the op in hand] */
    bool *seen;           /* [node] */
} qp_fabric_finder;

/* Room for a graph on a fabric; false without memory. */
bool qp_fabric_finder_init(qp_fabric_finder *f, const qp_fabric_sealed *sealed,
                           const qp_fabric_graph *graph, uint64_t work, qp_arena *arena);

/* The next cover: true with it in `rows` and `steps`. False when there are no more, or when the
 * work is used up (`exhausted`). */
bool qp_fabric_next_cover(qp_fabric_finder *f);

/* Whether some realization, alone, has this actor. Ends whatever walk there was. */
bool qp_fabric_can_realize(qp_fabric_finder *f, uint32_t actor);

/* Forgets all steps. */
void qp_fabric_finder_restart(qp_fabric_finder *f);

/* Takes steps from the work; false when it is used up. */
bool qp_fabric_spend(qp_fabric_finder *f, uint64_t steps);

/* The unit's input that an actor's operand comes by, QP_FABRIC_NO_INDEX where it comes from within;
 * and the output by which a value leaves. Both actors have their ops. */
uint32_t qp_fabric_operand_input(const qp_fabric_finder *f, uint32_t actor, uint32_t operand);
uint32_t qp_fabric_value_output(const qp_fabric_finder *f, uint32_t value);

#endif
