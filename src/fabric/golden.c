/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.c - a graph run without time (section 3): actors take turns and fire while they can.
 *
 * A value's tokens stand once, however many operands read it; each operand has its own place in
 * them, and what all have passed is dropped when room is needed.
 */
#include "fabric/golden.h"
#include "fabric/transition.h"

#include <inttypes.h>

enum {
    FIRST_CAPACITY = 16,
    TURN = 256 /* firings of one actor before the next one's turn */
};

/* What queues and outputs may hold in words, 128 MiB (a decision of ours): a stream that nothing
 * slows down would fill any memory. */
#define HELD_WORDS_MAX (UINT64_C(1) << 24)

/* The tokens of a value from number `first` to `total`. */
typedef struct channel {
    const uint64_t *tokens;
    uint64_t
        *own; /* the same for a result; NULL for a graph input, whose tokens are the caller's */
    size_t words, capacity;
    uint64_t first, total;
} channel;

typedef struct run {
    const qp_fabric_model *model;
    const qp_fabric_graph *graph;
    const qp_allocator *allocator;
    qp_fabric_error *error;
    qp_arena arena;
    channel *channels; /* by value */
    qp_fabric_transition *transitions;
    qp_fabric_state *states;
    uint64_t *further; /* by actor: words of its results over one each */
    uint64_t **places; /* by actor and operand: the number of the token at its head */
    const uint64_t **heads;
    uint64_t **results; /* by result ordinal: a payload to form results in */
    uint32_t result_count;
    uint64_t held;   /* words in channels and outputs */
    uint32_t *turns; /* a ring of the actors that may fire */
    bool *waiting;   /* whether an actor is in it */
    uint32_t next, count;
    qp_fabric_stream *outputs;
} run;

/* A control token has no words; its head is this one. */
static const uint64_t control_token = 0;

/* ---- channels ----------------------------------------------------------------------------- */

static qp_status no_memory(const run *r)
{
    return qp_fabric_fail_memory(r->error, "the tokens of a run");
}

/* The number of the first token that some operand has still to take. */
static uint64_t first_needed(const run *r, const qp_fabric_value *value, const channel *c)
{
    uint64_t first = c->total;

    for (uint32_t i = 0; i < value->use_count; i++) {
        const uint64_t place = r->places[value->uses[i].actor][value->uses[i].operand];
        first = place < first ? place : first;
    }
    return first;
}

static qp_status hold(run *r, size_t words)
{
    r->held += words;
    if (r->held <= HELD_WORDS_MAX)
        return QP_OK;
    return qp_fabric_fail(r->error, QP_FABRIC_UNSUPPORTED, r->graph->place,
                          "the run was stopped: its queues and outputs passed %" PRIu64 " bytes",
                          HELD_WORDS_MAX * 8);
}

/* Room for one more token: drops what all have taken where that is half of the room, else doubles
 * it. */
static qp_status make_room(run *r, const qp_fabric_value *value, channel *c)
{
    const uint64_t first = first_needed(r, value, c);
    const size_t dropped = (size_t)(first - c->first), kept = (size_t)(c->total - first);
    size_t words, more = FIRST_CAPACITY;

    if (c->capacity > 0 && dropped >= c->capacity / 2) {
        memmove(c->own, c->own + dropped * c->words, kept * c->words * sizeof *c->own);
        c->first = first;
        return QP_OK;
    }
    if (c->capacity > 0 && !qp_mul_size(c->capacity, 2, &more))
        return no_memory(r);
    if (!qp_mul_size(more, c->words, &words))
        return no_memory(r);
    qp_status status = hold(r, (more - c->capacity) * c->words);
    uint64_t *grown = status == QP_OK ? qp_allocate(r->allocator, words, sizeof *grown) : NULL;
    if (grown == NULL)
        return status == QP_OK ? no_memory(r) : status;
    if (kept > 0)
        memcpy(grown, c->own + dropped * c->words, kept * c->words * sizeof *grown);
    qp_release(r->allocator, c->own, c->capacity * c->words, sizeof *c->own);
    c->tokens = c->own = grown;
    c->capacity = more;
    c->first = first;
    return QP_OK;
}

static void wake(run *r, uint32_t actor)
{
    if (r->waiting[actor])
        return;
    r->waiting[actor] = true;
    r->turns[(r->next + r->count++) % r->graph->n_actors] = actor;
}

/* A new token of a result: to its operands and to its output. */
static qp_status push(run *r, uint32_t number, const uint64_t *payload)
{
    const qp_fabric_value *value = &r->graph->values[number];
    channel *c = &r->channels[number];
    qp_status status = QP_OK;

    if (value->output != QP_FABRIC_NO_INDEX) {
        status = hold(r, c->words);
        if (status == QP_OK &&
            !qp_fabric_stream_add(&r->outputs[value->output], r->allocator, payload, NULL))
            status = no_memory(r);
    }
    if (value->use_count == 0 || status != QP_OK)
        return status;
    if (c->words > 0 && c->total - c->first == c->capacity)
        status = make_room(r, value, c);
    if (status != QP_OK)
        return status;
    if (c->words > 0)
        qp_fabric_copy_words(c->own + (size_t)(c->total - c->first) * c->words, payload, c->words);
    c->total++;
    for (uint32_t i = 0; i < value->use_count; i++)
        wake(r, value->uses[i].actor);
    return QP_OK;
}

/* ---- firings ------------------------------------------------------------------------------ */

static void gather_heads(run *r, uint32_t number)
{
    const qp_fabric_actor *actor = &r->graph->actors[number];

    for (uint32_t i = 0; i < actor->operand_count; i++) {
        const channel *c = &r->channels[actor->operands[i]];
        const uint64_t place = r->places[number][i];
        if (place == c->total)
            r->heads[i] = NULL;
        else
            r->heads[i] =
                c->words > 0 ? c->tokens + (size_t)(place - c->first) * c->words : &control_token;
    }
}

static qp_status fail_firing(const run *r, uint32_t number, qp_fabric_outcome outcome)
{
    return qp_fabric_fail_firing(r->model, &r->transitions[number], outcome, NULL, r->error);
}

static qp_status push_group(run *r, uint32_t number, const qp_fabric_firing *firing, uint32_t group)
{
    const qp_fabric_actor *actor = &r->graph->actors[number];
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < actor->result_count && status == QP_OK; i++)
        if (qp_fabric_produces(&r->transitions[number], firing, group, i))
            status = push(r, actor->results[i], r->results[i]);
    return status;
}

/*
 * A token that is pushed may move the tokens that heads point to, where an actor reads its own
 * result; so the state goes on before the last group is pushed. Of the actors with several groups
 * only serialize looks at heads for each, at its vector and its mask, and no result of it is one.
 */
static qp_status fire(run *r, uint32_t number, qp_fabric_firing *firing)
{
    const qp_fabric_transition *transition = &r->transitions[number];
    qp_fabric_state *state = &r->states[number];
    qp_fabric_outcome outcome = QP_FABRIC_DEFINED;
    qp_status status = QP_OK;

    if (firing->group_count == 0)
        outcome = qp_fabric_advance(transition, state, firing, r->heads);
    for (uint32_t g = 0; g < firing->group_count && status == QP_OK; g++) {
        outcome = qp_fabric_form_group(transition, state, firing, r->heads, g, r->results);
        if (outcome == QP_FABRIC_DEFINED && g + 1 == firing->group_count)
            outcome = qp_fabric_advance(transition, state, firing, r->heads);
        if (outcome != QP_FABRIC_DEFINED)
            break;
        status = push_group(r, number, firing, g);
    }
    if (outcome != QP_FABRIC_DEFINED)
        return fail_firing(r, number, outcome);
    for (uint32_t i = 0; i < transition->operand_count; i++)
        r->places[number][i] += qp_fabric_consumes(transition, firing, i);
    return status;
}

/* A firing of several groups or of wide payloads counts for more, so that time is bounded too. */
static bool charge(uint64_t *firings, uint64_t further, const qp_fabric_firing *firing)
{
    const uint64_t groups = firing->group_count;
    const uint64_t cost = 1 + groups * further + (groups > 1 ? groups - 1 : 0);

    if (*firings < cost)
        return false;
    *firings -= cost;
    return true;
}

/* One actor's turn. */
static qp_status take_turn(run *r, uint32_t number, uint64_t *firings)
{
    qp_fabric_firing firing;
    qp_fabric_outcome outcome;
    qp_status status = QP_OK;

    for (int i = 0; status == QP_OK && i < TURN; i++) {
        gather_heads(r, number);
        if (!qp_fabric_choose(&r->transitions[number], &r->states[number], r->heads, &firing,
                              &outcome))
            return outcome == QP_FABRIC_DEFINED ? QP_OK : fail_firing(r, number, outcome);
        if (!charge(firings, r->further[number], &firing))
            return qp_fabric_fail(
                r->error, QP_FABRIC_UNSUPPORTED, r->graph->place,
                "the run was stopped: it had not ended after the firings allowed");
        status = fire(r, number, &firing);
    }
    wake(r, number);
    return status;
}

static qp_status run_all(run *r, uint64_t firings)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < r->graph->n_actors; i++)
        wake(r, i);
    while (status == QP_OK && r->count > 0) {
        const uint32_t actor = r->turns[r->next];
        r->next = (r->next + 1) % r->graph->n_actors;
        r->count--;
        r->waiting[actor] = false;
        status = take_turn(r, actor, &firings);
    }
    return status;
}

/* ---- making ready ------------------------------------------------------------------------- */

/* Arrays by actor and by value; heads and results are for the actor with the most of them. */
static bool make_arrays(run *r)
{
    const qp_fabric_graph *graph = r->graph;
    uint32_t operands = 0;

    for (uint32_t i = 0; i < graph->n_actors; i++) {
        const qp_fabric_actor *actor = &graph->actors[i];
        operands = actor->operand_count > operands ? actor->operand_count : operands;
        r->result_count =
            actor->result_count > r->result_count ? actor->result_count : r->result_count;
    }
    r->channels = qp_arena_allocate(&r->arena, graph->n_values, sizeof *r->channels);
    r->transitions = qp_arena_allocate(&r->arena, graph->n_actors, sizeof *r->transitions);
    r->states = qp_arena_allocate(&r->arena, graph->n_actors, sizeof *r->states);
    r->further = qp_arena_allocate(&r->arena, graph->n_actors, sizeof *r->further);
    r->places = qp_arena_allocate(&r->arena, graph->n_actors, sizeof *r->places);
    r->turns = qp_arena_allocate(&r->arena, graph->n_actors, sizeof *r->turns);
    r->waiting = qp_arena_allocate(&r->arena, graph->n_actors, sizeof *r->waiting);
    r->heads = qp_arena_allocate(&r->arena, operands, sizeof *r->heads);
    r->results = qp_arena_allocate(&r->arena, r->result_count, sizeof *r->results);
    return r->channels != NULL && r->transitions != NULL && r->states != NULL &&
           r->further != NULL && r->places != NULL && r->turns != NULL && r->waiting != NULL &&
           r->heads != NULL && r->results != NULL;
}

/* `count` words that live as long as the run. */
static qp_status take_words(run *r, size_t count, uint64_t **words)
{
    qp_status status = hold(r, count);

    if (status != QP_OK)
        return status;
    *words = qp_arena_allocate(&r->arena, count, sizeof **words);
    return *words != NULL ? QP_OK : no_memory(r);
}

/* A payload for each result ordinal, as wide as the widest actor needs it. */
static qp_status make_results(run *r)
{
    const qp_fabric_graph *graph = r->graph;
    size_t *widest = qp_arena_allocate(&r->arena, r->result_count, sizeof *widest);
    qp_status status = QP_OK;

    if (widest == NULL)
        return no_memory(r);
    for (uint32_t v = graph->n_inputs; v < graph->n_values; v++) {
        const size_t words = qp_fabric_words(graph->values[v].bits);
        size_t *place = &widest[graph->values[v].ordinal];
        *place = words > *place ? words : *place;
        r->further[graph->values[v].actor] += words > 1 ? words - 1 : 0;
    }
    for (uint32_t i = 0; i < r->result_count && status == QP_OK; i++)
        status = take_words(r, widest[i], &r->results[i]);
    return status;
}

static qp_status make_actors(run *r)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < r->graph->n_actors && status == QP_OK; i++) {
        const uint32_t operands = r->graph->actors[i].operand_count;
        r->places[i] = qp_arena_allocate(&r->arena, operands, sizeof **r->places);
        if (r->places[i] == NULL)
            return no_memory(r);
        status = qp_fabric_transition_make(r->graph, i, &r->transitions[i], r->error);
        if (status == QP_OK)
            status = take_words(r, r->transitions[i].state_words, &r->states[i].payload);
    }
    return status;
}

static void make_streams(run *r, const qp_fabric_stream *inputs)
{
    const qp_fabric_graph *graph = r->graph;

    for (uint32_t i = 0; i < graph->n_values; i++)
        r->channels[i].words = qp_fabric_words(graph->values[i].bits);
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        r->channels[i].tokens = inputs[i].payload;
        r->channels[i].total = inputs[i].count;
    }
    for (uint32_t i = 0; i < graph->n_outputs; i++)
        r->outputs[i] = (qp_fabric_stream){.words = r->channels[graph->outputs[i]].words};
}

qp_status qp_fabric_golden_run(const qp_fabric_model *model, const qp_fabric_graph *graph,
                               const qp_fabric_stream *inputs, uint64_t firings,
                               const qp_allocator *allocator, qp_fabric_stream *outputs,
                               qp_fabric_error *error)
{
    run r = {
        .model = model, .graph = graph, .allocator = allocator, .error = error, .outputs = outputs};

    memset(outputs, 0, graph->n_outputs * sizeof *outputs);
    qp_arena_init(&r.arena, allocator);
    qp_status status = make_arrays(&r) ? make_results(&r) : no_memory(&r);
    if (status == QP_OK)
        status = make_actors(&r);
    if (status == QP_OK) {
        make_streams(&r, inputs);
        status = run_all(&r, firings);
    }
    for (uint32_t i = graph->n_inputs; r.channels != NULL && i < graph->n_values; i++)
        qp_release(allocator, r.channels[i].own, r.channels[i].capacity * r.channels[i].words,
                   sizeof *r.channels[i].own);
    qp_arena_free(&r.arena);
    return status;
}
