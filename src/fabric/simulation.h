/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation.h - the parts that the files of the cycle simulator share (simulate.h is its
 * interface): a map as flat arrays, made once, and what stands in them between two cycles.
 *
 * Operands of all actors have one numbering, results another; each is an actor's after the one
 * before it. `heads[operand]` is the token that is offered to it, NULL for none. A token in a
 * result slot or at the head of a port's queue is offered until it is taken, so a head that is NULL
 * again is a delivery that was made; nothing else keeps account of deliveries to operands.
 */
#ifndef QP_FABRIC_SIMULATION_H
#define QP_FABRIC_SIMULATION_H

#include "fabric/channels.h"
#include "fabric/simulate.h"

/* What queues, slots and outputs may hold in words, 512 MiB (a decision of ours). */
#define QP_FABRIC_HELD_WORDS_MAX (UINT64_C(1) << 26)

/* How an op runs, read off its contract (section 9). */
typedef struct qp_fabric_discipline {
    bool transparent; /* claims nothing, and publishes in the cycle of its firing */
} qp_fabric_discipline;

/* Unsupported for a contract that nothing here runs: one with a grant policy, with more than one
 * use at a time, or that publishes neither in the cycle of a firing nor in the next one. */
qp_status qp_fabric_discipline_of(const qp_fabric_contract *contract, qp_fabric_place place,
                                  qp_fabric_discipline *discipline, qp_fabric_error *error);

/* What an adapter keeps of an accepted firing until its last group is formed. */
typedef struct qp_fabric_claim_state {
    qp_fabric_firing firing;
    uint32_t next_group, groups_left;
    qp_fabric_state before; /* the state before the firing */
    uint64_t **operands;    /* copies of what it consumed; NULL where it did not */
    const uint64_t **heads; /* the same as heads */
    const size_t *operand_words;
} qp_fabric_claim_state;

/* An actor on its op. */
typedef struct qp_fabric_sim_op {
    bool transparent, stateful;
    bool takes_all; /* every firing consumes every operand */
    bool given;     /* some operand comes from a transparent op */
    bool ready;     /* its case is chosen, and all that it consumes is offered */
    bool fires;     /* in this cycle */
    bool touched;   /* its heads or state changed since its case was chosen */
    uint8_t half;   /* which of the two payloads of each result is the current one */
    uint32_t first_operand, operand_count, first_result, result_count;
    uint32_t first_sink, end_sink; /* into `sinks`: the operands that its results feed */
    uint32_t listed;               /* its place in `ready`, where `ready` */
    uint32_t pending;              /* slot: deliveries to operands that are left; others: 0 */
    uint32_t external_left;        /* slot: deliveries to queues and outputs that are left */
    qp_fabric_firing firing;       /* the enabled case, where `ready` */
    qp_fabric_claim_state *claim;  /* adapters; else NULL */
    qp_fabric_state state;
    qp_fabric_transition transition;
} qp_fabric_sim_op;

/* A result, beside its sinks. */
typedef struct qp_fabric_sim_result {
    uint32_t op;
    uint32_t first_sink, end_sink;   /* into `sinks` */
    uint32_t first_queue, end_queue; /* into `feeds` */
    uint32_t output;                 /* of the graph, QP_FABRIC_NO_INDEX for none */
    size_t words;
    bool fresh;   /* slot: its queues have not had the token */
    bool waiting; /* slot: its output has not taken the token */
} qp_fabric_sim_result;

/* The queue of one port of a realization's unit. */
typedef struct qp_fabric_sim_queue {
    const qp_fabric_stream *input; /* of the graph; NULL for a queue behind a result */
    uint32_t value;                /* whose tokens it has */
    uint32_t first_sink, end_sink; /* into `queue_sinks` */
    uint32_t pending;              /* sinks that the head is offered to */
    bool stalled, refilled;
    size_t words;
    uint64_t *ring; /* capacity tokens, a power of two */
    size_t capacity;
    uint64_t first, count; /* tokens passed, and tokens in it */
} qp_fabric_sim_queue;

/* A port of the script: its stalls, ascending and apart. */
typedef struct qp_fabric_sim_stall {
    size_t count, next;
    qp_fabric_interval *intervals;
    bool stalled;
} qp_fabric_sim_stall;

struct qp_fabric_simulation {
    const qp_fabric_model *model;
    const qp_fabric_graph *graph;
    const qp_fabric_verified *verified;
    const qp_fabric_observer *observer;
    qp_arena arena;
    uint64_t held; /* words */

    uint32_t op_count, operand_count, result_count, queue_count;
    qp_fabric_sim_op *ops;
    const uint64_t **heads, **hidden; /* [operand]; hidden: what a stalled input does not offer */
    bool *takes;                      /* [operand]: the chosen case consumes it */
    uint32_t *operand_op;             /* [operand] */
    uint32_t *source_op;              /* [operand]: NO_INDEX where a queue feeds it */
    const uint32_t *source_queue;     /* [operand]: NO_INDEX where an op feeds it */
    qp_fabric_sim_result *results;
    uint64_t **payloads[2]; /* [half][result] */
    uint32_t *sinks, *feeds;
    qp_fabric_sim_queue *queues;
    uint32_t *queue_sinks;

    uint32_t *transparents; /* in the order in which offers pass through them */
    uint32_t transparent_count, touched_transparents;
    uint32_t *touched, touched_count; /* the other ops */
    uint32_t *ready, ready_count;
    uint32_t *fired, fired_count;
    uint32_t *dropped;                  /* scratch of the fixpoint */
    uint32_t *posting, posting_count;   /* results with fresh queues or a waiting output */
    uint32_t *draining, draining_count; /* adapters with groups left */
    uint32_t *refills, refill_count;    /* queues that may need a new head */

    qp_fabric_sim_stall *stalls; /* [input, then output] */
    uint64_t next_change;        /* the next cycle in which a stall begins or ends */
    uint64_t last_end;           /* of all stalls */
    uint64_t *resets;            /* ascending */
    size_t reset_count, next_reset;

    uint64_t cycle;
    bool moved, ended;
    qp_fabric_stream *outputs;
    qp_fabric_run_counts counts;
    qp_fabric_channels channels; /* with an observer */
    qp_fabric_state *shown;      /* [op]: the state that the observer knows; no payloads */
    qp_buffer text;              /* of the event at hand */
    bool **delivered;            /* [op]: lent by qp_fabric_simulation_holding */
};

/* An op is to choose its case again. */
static inline void qp_fabric_sim_touch(qp_fabric_simulation *s, uint32_t op)
{
    if (s->ops[op].touched)
        return;
    s->ops[op].touched = true;
    if (s->ops[op].transparent)
        s->touched_transparents++;
    else
        s->touched[s->touched_count++] = op;
}

/* simulate_make.c: takes `words` of the bound into account. */
qp_status qp_fabric_sim_hold(qp_fabric_simulation *s, uint64_t words, qp_fabric_error *error);

/* simulate_reset.c: everything as before cycle 0, but for the tokens that are gone. */
void qp_fabric_sim_reset(qp_fabric_simulation *s);
/* The queue's head is offered, where there is one. */
void qp_fabric_sim_offer_head(qp_fabric_simulation *s, qp_fabric_sim_queue *queue);
/* The token at a queue's head; there is one. */
const uint64_t *qp_fabric_sim_head(const qp_fabric_sim_queue *queue);
/* Stalls begin and end. */
void qp_fabric_sim_change_stalls(qp_fabric_simulation *s);

/* simulate_queue.c: step 1 of a cycle; a token of a result to its queues, and to its output; and a
 * queue whose head is to be offered at the end of the cycle. */
qp_status qp_fabric_sim_post(qp_fabric_simulation *s, qp_fabric_error *error);
qp_status qp_fabric_sim_push(qp_fabric_simulation *s, uint32_t result, const uint64_t *payload,
                             qp_fabric_error *error);
qp_status qp_fabric_sim_put_output(qp_fabric_simulation *s, const qp_fabric_sim_result *result,
                                   const uint64_t *payload, qp_fabric_error *error);
void qp_fabric_sim_refill_later(qp_fabric_simulation *s, uint32_t queue);

static inline bool qp_fabric_sim_output_stalled(const qp_fabric_simulation *s, uint32_t output)
{
    return s->stalls[s->graph->n_inputs + output].stalled;
}

/* simulate_trace.c: the events of a cycle, where there is an observer. */
void qp_fabric_sim_trace_reset(qp_fabric_simulation *s);
/* A result in a slot, at its queues and its output. */
void qp_fabric_sim_trace_posting(qp_fabric_simulation *s, uint32_t result);
/* After the firings are known and before they are done; and after. */
void qp_fabric_sim_trace_firings(qp_fabric_simulation *s);
void qp_fabric_sim_trace_states(qp_fabric_simulation *s);

#endif
