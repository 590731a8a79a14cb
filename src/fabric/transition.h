/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transition.h - one actor's firing (section 3): which handshake case its state and the heads of
 * its operands enable, what it consumes, the groups of results it produces, its next state. The
 * golden simulator (golden.h) and the cycle simulator (simulate.h) both fire actors through this
 * alone.
 */
#ifndef QP_FABRIC_TRANSITION_H
#define QP_FABRIC_TRANSITION_H

#include "fabric/evaluate.h"

typedef struct qp_fabric_transition_rules qp_fabric_transition_rules;

/* An actor made ready; it points into the graph. */
typedef struct qp_fabric_transition {
    const qp_fabric_transition_rules *rules;
    qp_fabric_evaluator evaluator;
    const qp_fabric_graph *graph;
    uint32_t actor;
    qp_fabric_handshake_kind handshake;
    uint32_t operand_count, result_count;
    uint32_t width;     /* stream: of the type; parallelize, serialize: of a lane */
    uint32_t lanes;     /* parallelize, serialize: N; mux, demux: their number */
    size_t words;       /* carry, invariant, gate, mux, demux: of the value that passes */
    size_t state_words; /* of qp_fabric_state.payload: the latch, or the pending lanes */
} qp_fabric_transition;

/* An actor's logical state. Reset is all zero. */
typedef struct qp_fabric_state {
    uint32_t mode;                 /* 0: Idle, Initial, Closed; 1: Running, Open */
    uint32_t pending;              /* parallelize: p */
    uint64_t current, limit, step; /* stream */
    uint64_t *payload;             /* state_words words, the owner's; NULL where there are none */
} qp_fabric_state;

/* What a firing does, once chosen: the case of schema.h's handshake, and what it leaves open. */
typedef struct qp_fabric_firing {
    uint32_t case_ordinal;
    uint32_t group_count; /* of this firing: serialize counts the lanes that its mask has */
    uint32_t lane;        /* mux, demux: the lane chosen; serialize: behind the last group's lane */
} qp_fabric_firing;

/* The four things below, for one kind of handshake; the functions after it call them. */
struct qp_fabric_transition_rules {
    bool (*choose)(const qp_fabric_transition *transition, const qp_fabric_state *state,
                   const uint64_t *const *heads, qp_fabric_firing *firing,
                   qp_fabric_outcome *outcome);
    bool (*consumes)(const qp_fabric_transition *transition, const qp_fabric_firing *firing,
                     uint32_t operand);
    bool (*produces)(const qp_fabric_transition *transition, const qp_fabric_firing *firing,
                     uint32_t group, uint32_t result);
    qp_fabric_outcome (*form_group)(const qp_fabric_transition *transition,
                                    const qp_fabric_state *state, qp_fabric_firing *firing,
                                    const uint64_t *const *heads, uint32_t group,
                                    uint64_t *const *results);
    qp_fabric_outcome (*advance)(const qp_fabric_transition *transition, qp_fabric_state *state,
                                 const qp_fabric_firing *firing, const uint64_t *const *heads);
};

/* Unsupported as qp_fabric_evaluator_make. */
qp_status qp_fabric_transition_make(const qp_fabric_graph *graph, uint32_t actor,
                                    qp_fabric_transition *transition, qp_fabric_error *error);

/* The reset state, in place; `payload` stays and is zeroed. */
void qp_fabric_reset(const qp_fabric_transition *transition, qp_fabric_state *state);

/*
 * Chooses the case. `heads[i]` is the payload at the head of operand i, NULL where none is there
 * (a control token has no words, yet its head is not NULL). A case is chosen only where all that it
 * consumes is there; false where nothing can fire yet. An *outcome other than DEFINED, with false,
 * ends the run: a selector that names no lane. Nothing is allocated, here and below.
 */
static inline bool qp_fabric_choose(const qp_fabric_transition *transition,
                                    const qp_fabric_state *state, const uint64_t *const *heads,
                                    qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    *outcome = QP_FABRIC_DEFINED;
    return transition->rules->choose(transition, state, heads, firing, outcome);
}

/* Whether the firing consumes operand i, and whether group g has result i. */
static inline bool qp_fabric_consumes(const qp_fabric_transition *transition,
                                      const qp_fabric_firing *firing, uint32_t operand)
{
    return transition->rules->consumes(transition, firing, operand);
}

static inline bool qp_fabric_produces(const qp_fabric_transition *transition,
                                      const qp_fabric_firing *firing, uint32_t group,
                                      uint32_t result)
{
    return transition->rules->produces(transition, firing, group, result);
}

/*
 * Forms group g of the firing into `results` (payloads for each result, those outside the group are
 * left alone), from the heads and the state before the firing. Every group is formed once, in
 * order, before qp_fabric_advance; serialize keeps its place among the lanes in the firing.
 */
static inline qp_fabric_outcome qp_fabric_form_group(const qp_fabric_transition *transition,
                                                     const qp_fabric_state *state,
                                                     qp_fabric_firing *firing,
                                                     const uint64_t *const *heads, uint32_t group,
                                                     uint64_t *const *results)
{
    return transition->rules->form_group(transition, state, firing, heads, group, results);
}

/* The state after the firing. OUT_OF_RANGE where a stream's step fails. */
static inline qp_fabric_outcome qp_fabric_advance(const qp_fabric_transition *transition,
                                                  qp_fabric_state *state,
                                                  const qp_fabric_firing *firing,
                                                  const uint64_t *const *heads)
{
    return transition->rules->advance(transition, state, firing, heads);
}

/* The end of a run, Invalid: which actor, how its firing ended, and in which cycle (NULL: a run
 * without time). */
qp_status qp_fabric_fail_firing(const qp_fabric_model *model,
                                const qp_fabric_transition *transition, qp_fabric_outcome outcome,
                                const uint64_t *cycle, qp_fabric_error *error);

/* Copies a payload; almost all are one word. */
static inline void qp_fabric_copy_words(uint64_t *to, const uint64_t *from, size_t words)
{
    if (words == 1)
        *to = *from;
    else if (words > 0)
        memcpy(to, from, words * sizeof *to);
}

#endif
