/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_cycles.h - section 9's execution model once more, straight from the text and with no
 * thought for speed: every cycle starts from nothing, looks at everything, and takes firings out of
 * the set of all enabled ones until nothing more must go. For small maps of small payloads.
 */
#ifndef QP_TEST_FABRIC_REFERENCE_CYCLES_H
#define QP_TEST_FABRIC_REFERENCE_CYCLES_H

#include "fabric/simulate_support.h"

enum { REF_ACTORS = 48, REF_PORTS = 8, REF_GROUPS = 8, REF_WORDS = 4, REF_TOKENS = 2048 };

typedef struct ref_token {
    uint64_t words[REF_WORDS];
} ref_token;

typedef struct ref_queue {
    uint32_t realization, port, value;
    ref_token tokens[REF_TOKENS];
    size_t first, count;               /* passed, and all that ever came */
    bool taken[REF_ACTORS][REF_PORTS]; /* the head's copies */
} ref_queue;

typedef struct ref_actor {
    qp_fabric_transition transition;
    qp_fabric_state state;
    uint64_t payload[REF_WORDS];
    bool transparent;
    /* the accepted firing: its groups in order, and what of the current one is delivered */
    uint32_t group, groups;
    ref_token values[REF_GROUPS][REF_PORTS];
    bool produced[REF_GROUPS][REF_PORTS];
    bool to_operand[REF_PORTS][REF_ACTORS][REF_PORTS], to_queue[REF_PORTS][64],
        to_output[REF_PORTS];
    /* this cycle */
    bool enabled, fires;
    qp_fabric_firing firing;
    ref_token offer[REF_PORTS]; /* transparent: its one group */
    const uint64_t *heads[REF_PORTS];
} ref_actor;

typedef struct ref_run {
    const loaded_map *m;
    const qp_fabric_graph *graph;
    ref_actor actors[REF_ACTORS];
    ref_queue queues[64];
    uint32_t queue_count;
    qp_fabric_stream outputs[REF_ACTORS];
    uint64_t cycle;
    bool moved;
} ref_run;

/* ---- edges -------------------------------------------------------------------------------- */

static inline uint32_t ref_port(const ref_run *r, uint32_t actor, uint32_t operand)
{
    const qp_fabric_verified *v = &r->m->verified;
    return v->operand_port[v->operand_base[actor] + operand];
}

static inline ref_queue *ref_queue_of(ref_run *r, uint32_t actor, uint32_t operand)
{
    const uint32_t port = ref_port(r, actor, operand);
    const uint32_t realization = r->m->verified.realization_of[actor];

    for (uint32_t q = 0; q < r->queue_count; q++)
        if (r->queues[q].realization == realization && r->queues[q].port == port)
            return &r->queues[q];
    assert_in_range(r->queue_count, 0, 63);
    ref_queue *queue = &r->queues[r->queue_count++];
    queue->realization = realization;
    queue->port = port;
    queue->value = r->graph->actors[actor].operands[operand];
    return queue;
}

static inline bool ref_stalled(const ref_run *r, uint32_t port)
{
    const qp_fabric_stall *stall = &r->m->stalls[port];

    for (size_t i = 0; i < stall->count; i++)
        if (stall->intervals[i].first <= r->cycle && r->cycle < stall->intervals[i].end)
            return true;
    return false;
}

static inline void ref_init(ref_run *r, const loaded_map *m)
{
    memset(r, 0, sizeof *r);
    r->m = m;
    r->graph = m->graph;
    assert_in_range(r->graph->n_actors, 1, REF_ACTORS);
    for (uint32_t a = 0; a < r->graph->n_actors; a++) {
        ref_actor *actor = &r->actors[a];
        assert_good(qp_fabric_transition_make(r->graph, a, &actor->transition, NULL), NULL);
        actor->state.payload = actor->payload;
        actor->transparent = actor->transition.handshake == QP_FABRIC_HANDSHAKE_CARRY ||
                             actor->transition.handshake == QP_FABRIC_HANDSHAKE_INVARIANT ||
                             actor->transition.handshake == QP_FABRIC_HANDSHAKE_GATE;
        for (uint32_t i = 0; i < actor->transition.operand_count; i++)
            if (ref_port(r, a, i) != QP_FABRIC_NO_INDEX)
                ref_queue_of(r, a, i);
    }
    for (uint32_t q = 0; q < r->queue_count; q++) {
        ref_queue *queue = &r->queues[q];
        if (queue->value >= r->graph->n_inputs)
            continue;
        const qp_fabric_stream *input = &m->inputs[queue->value];
        for (size_t i = 0; i < input->count; i++)
            for (size_t w = 0; w < input->words; w++)
                queue->tokens[i].words[w] = input->payload[i * input->words + w];
        queue->count = input->count;
    }
    for (uint32_t o = 0; o < r->graph->n_outputs; o++)
        r->outputs[o].words = qp_fabric_words(r->graph->values[r->graph->outputs[o]].bits);
}

static inline void ref_free(ref_run *r)
{
    for (uint32_t o = 0; o < r->graph->n_outputs; o++)
        qp_fabric_stream_free(&r->outputs[o], NULL);
}

/* ---- what is offered ---------------------------------------------------------------------- */

static inline const uint64_t *ref_head(ref_run *r, uint32_t a, uint32_t i)
{
    const uint32_t number = r->graph->actors[a].operands[i];
    const qp_fabric_value *value = &r->graph->values[number];

    if (ref_port(r, a, i) != QP_FABRIC_NO_INDEX) {
        ref_queue *queue = ref_queue_of(r, a, i);
        const bool input = number < r->graph->n_inputs;
        if (queue->first == queue->count || queue->taken[a][i] || (input && ref_stalled(r, number)))
            return NULL;
        return queue->tokens[queue->first].words;
    }
    ref_actor *source = &r->actors[value->actor];
    const uint32_t result = value->ordinal;
    if (source->transparent)
        return source->enabled && source->firing.group_count > 0 &&
                       qp_fabric_produces(&source->transition, &source->firing, 0, result)
                   ? source->offer[result].words
                   : NULL;
    return source->group < source->groups && source->produced[source->group][result] &&
                   !source->to_operand[result][a][i]
               ? source->values[source->group][result].words
               : NULL;
}

static inline void ref_results(ref_token tokens[REF_PORTS], uint64_t *results[REF_PORTS])
{
    for (int i = 0; i < REF_PORTS; i++)
        results[i] = tokens[i].words;
}

/* Cases, again and again, until what transparent ops give has gone through all of them. */
static inline void ref_enable(ref_run *r)
{
    uint64_t *results[REF_PORTS];
    qp_fabric_outcome outcome;

    for (uint32_t pass = 0; pass <= r->graph->n_actors; pass++)
        for (uint32_t a = 0; a < r->graph->n_actors; a++) {
            ref_actor *actor = &r->actors[a];
            for (uint32_t i = 0; i < actor->transition.operand_count; i++)
                actor->heads[i] = ref_head(r, a, i);
            actor->enabled = qp_fabric_choose(&actor->transition, &actor->state, actor->heads,
                                              &actor->firing, &outcome);
            assert_int_equal(outcome, QP_FABRIC_DEFINED);
            if (!actor->enabled || !actor->transparent || actor->firing.group_count == 0)
                continue;
            ref_results(actor->offer, results);
            qp_fabric_form_group(&actor->transition, &actor->state, &actor->firing, actor->heads, 0,
                                 results);
        }
}

/* ---- the set ------------------------------------------------------------------------------ */

static inline bool ref_takes(const ref_run *r, uint32_t a, uint32_t i)
{
    const ref_actor *actor = &r->actors[a];
    return actor->fires && qp_fabric_consumes(&actor->transition, &actor->firing, i);
}

/* Whether all sinks of a result that have not had its token take it in this cycle. */
static inline bool ref_delivered(const ref_run *r, uint32_t a, uint32_t result)
{
    const ref_actor *actor = &r->actors[a];
    const qp_fabric_value *value = &r->graph->values[r->graph->actors[a].results[result]];

    for (uint32_t u = 0; u < value->use_count; u++) {
        const qp_fabric_use *use = &value->uses[u];
        if (ref_port(r, use->actor, use->operand) == QP_FABRIC_NO_INDEX &&
            (actor->transparent || !actor->to_operand[result][use->actor][use->operand]) &&
            !ref_takes(r, use->actor, use->operand))
            return false;
    }
    return value->output == QP_FABRIC_NO_INDEX ||
           (!actor->transparent && actor->to_output[result]) ||
           !ref_stalled(r, r->graph->n_inputs + value->output);
}

static inline bool ref_may_fire(const ref_run *r, uint32_t a)
{
    const ref_actor *actor = &r->actors[a];
    bool good = true;

    for (uint32_t i = 0; good && i < actor->transition.operand_count; i++) {
        const uint32_t source = r->graph->values[r->graph->actors[a].operands[i]].actor;
        if (qp_fabric_consumes(&actor->transition, &actor->firing, i) &&
            ref_port(r, a, i) == QP_FABRIC_NO_INDEX && r->actors[source].transparent)
            good = r->actors[source].fires;
    }
    if (actor->transparent) {
        for (uint32_t i = 0;
             good && actor->firing.group_count > 0 && i < actor->transition.result_count; i++)
            if (qp_fabric_produces(&actor->transition, &actor->firing, 0, i))
                good = ref_delivered(r, a, i);
        return good;
    }
    if (actor->group < actor->groups && actor->group + 1 < actor->groups)
        return false;
    for (uint32_t i = 0; good && actor->group < actor->groups && i < actor->transition.result_count;
         i++)
        if (actor->produced[actor->group][i])
            good = ref_delivered(r, a, i);
    return good;
}

static inline void ref_find(ref_run *r)
{
    bool changed = true;

    for (uint32_t a = 0; a < r->graph->n_actors; a++)
        r->actors[a].fires = r->actors[a].enabled;
    while (changed) {
        changed = false;
        for (uint32_t a = 0; a < r->graph->n_actors; a++)
            if (r->actors[a].fires && !ref_may_fire(r, a)) {
                r->actors[a].fires = false;
                changed = true;
            }
    }
}

/* ---- deliveries --------------------------------------------------------------------------- */

/* What a cycle moves is gathered first, for all of it happens at once. */
typedef struct ref_next {
    ref_token pushed[64];
    bool pushes[64];
    ref_actor actors[REF_ACTORS];
} ref_next;

static inline void ref_send(ref_run *r, ref_next *next, uint32_t a, uint32_t result,
                            const ref_token *token)
{
    ref_actor *actor = &next->actors[a];
    const uint32_t number = r->graph->actors[a].results[result];
    const qp_fabric_value *value = &r->graph->values[number];

    for (uint32_t u = 0; u < value->use_count; u++) {
        const qp_fabric_use *use = &value->uses[u];
        if (ref_port(r, use->actor, use->operand) == QP_FABRIC_NO_INDEX) {
            actor->to_operand[result][use->actor][use->operand] |=
                ref_takes(r, use->actor, use->operand);
            continue;
        }
        const size_t q = (size_t)(ref_queue_of(r, use->actor, use->operand) - r->queues);
        if (actor->to_queue[result][q])
            continue;
        actor->to_queue[result][q] = next->pushes[q] = r->moved = true;
        next->pushed[q] = *token;
    }
    if (value->output != QP_FABRIC_NO_INDEX && !actor->to_output[result] &&
        !ref_stalled(r, r->graph->n_inputs + value->output)) {
        actor->to_output[result] = r->moved = true;
        assert_true(
            qp_fabric_stream_add(&r->outputs[value->output], NULL, token->words, &r->cycle));
    }
}

static inline void ref_clear(ref_actor *actor)
{
    memset(actor->to_operand, 0, sizeof actor->to_operand);
    memset(actor->to_queue, 0, sizeof actor->to_queue);
    memset(actor->to_output, 0, sizeof actor->to_output);
}

/* The group in the slot goes as far as it goes; the next one follows where it is all gone. */
static inline void ref_drain(ref_run *r, ref_next *next, uint32_t a)
{
    const ref_actor *actor = &r->actors[a];
    bool all = true;

    if (actor->group == actor->groups)
        return;
    for (uint32_t i = 0; i < actor->transition.result_count; i++)
        if (actor->produced[actor->group][i]) {
            all = all && ref_delivered(r, a, i);
            ref_send(r, next, a, i, &actor->values[actor->group][i]);
        }
    if (all) {
        next->actors[a].group++;
        ref_clear(&next->actors[a]);
    }
}

static inline void ref_accept(ref_run *r, ref_next *next, uint32_t a)
{
    ref_actor *actor = &next->actors[a];
    qp_fabric_firing firing = actor->firing;
    uint64_t *results[REF_PORTS];

    r->moved = true;
    actor->state.payload = actor->payload;
    if (actor->transparent) {
        ref_clear(actor);
        for (uint32_t i = 0; firing.group_count > 0 && i < actor->transition.result_count; i++)
            if (qp_fabric_produces(&actor->transition, &firing, 0, i))
                ref_send(r, next, a, i, &r->actors[a].offer[i]);
    } else {
        assert_in_range(firing.group_count, 0, REF_GROUPS);
        ref_clear(actor);
        actor->group = 0;
        actor->groups = firing.group_count;
        for (uint32_t g = 0; g < firing.group_count; g++) {
            ref_results(actor->values[g], results);
            assert_int_equal(qp_fabric_form_group(&actor->transition, &actor->state, &firing,
                                                  actor->heads, g, results),
                             QP_FABRIC_DEFINED);
            for (uint32_t i = 0; i < actor->transition.result_count; i++)
                actor->produced[g][i] = qp_fabric_produces(&actor->transition, &firing, g, i);
        }
    }
    assert_int_equal(qp_fabric_advance(&actor->transition, &actor->state, &firing, actor->heads),
                     QP_FABRIC_DEFINED);
}

static inline void ref_pop(ref_run *r, const ref_next *next, ref_queue *queue)
{
    bool all = queue->first < queue->count;

    for (uint32_t a = 0; a < r->graph->n_actors; a++)
        for (uint32_t i = 0; i < r->actors[a].transition.operand_count; i++)
            if (ref_port(r, a, i) != QP_FABRIC_NO_INDEX && ref_queue_of(r, a, i) == queue) {
                queue->taken[a][i] |= ref_takes(r, a, i);
                all = all && queue->taken[a][i];
            }
    if (all) {
        queue->first++;
        memset(queue->taken, 0, sizeof queue->taken);
    }
    const size_t q = (size_t)(queue - r->queues);
    if (next->pushes[q]) {
        assert_in_range(queue->count, 0, REF_TOKENS - 1);
        queue->tokens[queue->count++] = next->pushed[q];
    }
}

static inline void ref_reset(ref_run *r)
{
    for (uint32_t a = 0; a < r->graph->n_actors; a++) {
        qp_fabric_reset(&r->actors[a].transition, &r->actors[a].state);
        r->actors[a].group = r->actors[a].groups = 0;
    }
    for (uint32_t q = 0; q < r->queue_count; q++) {
        ref_queue *queue = &r->queues[q];
        static const bool none[REF_ACTORS][REF_PORTS];
        if (queue->value >= r->graph->n_inputs)
            queue->first = queue->count;
        else if (memcmp(queue->taken, none, sizeof none) != 0)
            queue->first++;
        memset(queue->taken, 0, sizeof queue->taken);
    }
}

/* One cycle of a run; the caller knows which are resets. */
static inline void ref_cycle(ref_run *r, bool reset, ref_next *next)
{
    r->moved = false;
    if (reset) {
        ref_reset(r);
    } else {
        ref_enable(r);
        ref_find(r);
        memset(next->pushes, 0, sizeof next->pushes);
        memcpy(next->actors, r->actors, r->graph->n_actors * sizeof *r->actors);
        for (uint32_t a = 0; a < r->graph->n_actors; a++)
            ref_drain(r, next, a);
        for (uint32_t a = 0; a < r->graph->n_actors; a++)
            if (r->actors[a].fires)
                ref_accept(r, next, a);
        for (uint32_t q = 0; q < r->queue_count; q++)
            ref_pop(r, next, &r->queues[q]);
        memcpy(r->actors, next->actors, r->graph->n_actors * sizeof *r->actors);
        for (uint32_t a = 0; a < r->graph->n_actors; a++)
            r->actors[a].state.payload = r->actors[a].payload;
    }
    r->cycle++;
}

#endif
