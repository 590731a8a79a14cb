/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_make.c - a verified map and a script made into the flat arrays that a run works on.
 * Everything that a cycle needs is allocated here, but for the queues behind results and the
 * outputs, which grow.
 */
#include "fabric/simulation.h"

#include <inttypes.h>
#include <stdlib.h>

static qp_status no_memory(qp_fabric_error *error)
{
    return qp_fabric_fail_memory(error, "a simulation");
}

qp_status qp_fabric_sim_hold(qp_fabric_simulation *s, uint64_t words, qp_fabric_error *error)
{
    s->held += words;
    if (s->held <= QP_FABRIC_HELD_WORDS_MAX)
        return QP_OK;
    return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, s->verified->map->place,
                          "the run was stopped: its queues and outputs passed %" PRIu64 " bytes",
                          QP_FABRIC_HELD_WORDS_MAX * 8);
}

/* A payload that lives as long as the simulation; also for no words it has an address. */
static qp_status take_payload(qp_fabric_simulation *s, size_t words, uint64_t **payload,
                              qp_fabric_error *error)
{
    qp_status status = qp_fabric_sim_hold(s, words + 1, error);

    if (status != QP_OK)
        return status;
    *payload = qp_arena_allocate(&s->arena, words > 0 ? words : 1, sizeof **payload);
    return *payload != NULL ? QP_OK : no_memory(error);
}

/* ---- what cannot be run ------------------------------------------------------------------- */

static qp_status check_contexts(const qp_fabric_verified *v, qp_arena *arena,
                                qp_fabric_error *error)
{
    const uint32_t occurrences = v->sealed->fabric->n_occurrences;
    bool *bound = qp_arena_allocate(arena, occurrences, sizeof *bound);

    if (bound == NULL)
        return no_memory(error);
    for (uint32_t i = 0; i < v->map->n_binds; i++) {
        const qp_fabric_bind *bind = &v->map->binds[i];
        if (bound[bind->occurrence])
            return qp_fabric_fail(
                error, QP_FABRIC_UNSUPPORTED, bind->place,
                "two contexts of occurrence '%.64s' are bound: one of them can be simulated",
                qp_fabric_name_text(v->sealed->model,
                                    v->sealed->fabric->occurrences[bind->occurrence].name));
        bound[bind->occurrence] = true;
    }
    return QP_OK;
}

/* ---- arrays ------------------------------------------------------------------------------- */

/* An array of `count` elements into *array; the first failure sticks. */
#define TAKE(good, arena, array, count)                                                            \
    ((good) = (good) && ((array) = qp_arena_allocate((arena), (count), sizeof *(array))) != NULL)

static void count_results(qp_fabric_simulation *s)
{
    s->op_count = s->graph->n_actors;
    s->result_count = s->graph->n_values - s->graph->n_inputs;
    s->operand_count = s->channels.operand_count;
    s->queue_count = s->channels.queue_count;
}

static qp_status make_arrays(qp_fabric_simulation *s, qp_fabric_error *error)
{
    qp_arena *arena = &s->arena;
    bool good = qp_fabric_channels_of(s->verified, s->observer != NULL, arena, &s->channels);

    if (!good)
        return no_memory(error);
    count_results(s);
    TAKE(good, arena, s->ops, s->op_count);
    TAKE(good, arena, s->heads, s->operand_count);
    TAKE(good, arena, s->hidden, s->operand_count);
    TAKE(good, arena, s->takes, s->operand_count);
    TAKE(good, arena, s->operand_op, s->operand_count);
    TAKE(good, arena, s->source_op, s->operand_count);
    TAKE(good, arena, s->results, s->result_count);
    TAKE(good, arena, s->payloads[0], s->result_count);
    TAKE(good, arena, s->payloads[1], s->result_count);
    TAKE(good, arena, s->sinks, s->operand_count);
    TAKE(good, arena, s->feeds, s->queue_count);
    TAKE(good, arena, s->queues, s->queue_count);
    TAKE(good, arena, s->queue_sinks, s->operand_count);
    TAKE(good, arena, s->transparents, s->op_count);
    TAKE(good, arena, s->touched, s->op_count);
    TAKE(good, arena, s->ready, s->op_count);
    TAKE(good, arena, s->fired, s->op_count);
    TAKE(good, arena, s->dropped, s->op_count);
    TAKE(good, arena, s->draining, s->op_count);
    TAKE(good, arena, s->posting, s->result_count);
    TAKE(good, arena, s->refills, s->queue_count);
    TAKE(good, arena, s->stalls, (size_t)s->graph->n_inputs + s->graph->n_outputs);
    TAKE(good, arena, s->outputs, s->graph->n_outputs);
    TAKE(good, arena, s->delivered, s->op_count);
    if (s->observer != NULL)
        TAKE(good, arena, s->shown, s->op_count);
    return good ? QP_OK : no_memory(error);
}

/* ---- ops ---------------------------------------------------------------------------------- */

/* What an adapter keeps of a firing with several groups. */
static qp_status make_claim(qp_fabric_simulation *s, qp_fabric_sim_op *op, const uint32_t *values,
                            qp_fabric_error *error)
{
    qp_fabric_claim_state *claim = qp_arena_allocate(&s->arena, 1, sizeof *claim);
    size_t *words;
    bool good = claim != NULL;
    qp_status status = QP_OK;

    if (!good)
        return no_memory(error);
    TAKE(good, &s->arena, claim->operands, op->operand_count);
    TAKE(good, &s->arena, claim->heads, op->operand_count);
    TAKE(good, &s->arena, words, op->operand_count);
    if (!good)
        return no_memory(error);
    for (uint32_t i = 0; i < op->operand_count && status == QP_OK; i++) {
        words[i] = qp_fabric_words(s->graph->values[values[i]].bits);
        status = take_payload(s, words[i], &claim->operands[i], error);
    }
    if (status == QP_OK)
        status = take_payload(s, op->transition.state_words, &claim->before.payload, error);
    claim->operand_words = words;
    op->claim = claim;
    return status;
}

static qp_status make_discipline(qp_fabric_simulation *s, uint32_t actor, qp_fabric_error *error)
{
    const qp_fabric_verified *v = s->verified;
    const qp_fabric_binding *binding = v->binding_of[actor];
    const uint32_t fu = v->map->realizations[v->realization_of[actor]].fu;
    qp_fabric_discipline discipline;
    qp_status status = qp_fabric_discipline_of(&v->sealed->capabilities[fu][binding->node].contract,
                                               binding->place, &discipline, error);

    if (status == QP_OK)
        s->ops[actor].transparent = discipline.transparent;
    return status;
}

static qp_status make_op(qp_fabric_simulation *s, uint32_t number, qp_fabric_error *error)
{
    const qp_fabric_actor *actor = &s->graph->actors[number];
    qp_fabric_sim_op *op = &s->ops[number];
    const qp_fabric_handshake_kind handshake = actor->schema->handshake;
    qp_status status = qp_fabric_transition_make(s->graph, number, &op->transition, error);

    op->operand_count = actor->operand_count;
    op->result_count = actor->result_count;
    op->first_operand = s->channels.first_operand[number];
    op->first_result = actor->results[0] - s->graph->n_inputs;
    op->stateful = qp_fabric_has_state(handshake);
    op->takes_all = handshake == QP_FABRIC_HANDSHAKE_ALL || handshake == QP_FABRIC_HANDSHAKE_DEMUX;
    if (status == QP_OK)
        status = make_discipline(s, number, error);
    if (status == QP_OK)
        status = take_payload(s, op->transition.state_words, &op->state.payload, error);
    if (status == QP_OK && (handshake == QP_FABRIC_HANDSHAKE_PARALLELIZE ||
                            handshake == QP_FABRIC_HANDSHAKE_SERIALIZE))
        status = make_claim(s, op, actor->operands, error);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        s->operand_op[op->first_operand + i] = number;
        s->takes[op->first_operand + i] = op->takes_all;
    }
    return status;
}

/* ---- edges -------------------------------------------------------------------------------- */

/* The operands that a value feeds inside of a unit, in file order. */
static void connect_sinks(qp_fabric_simulation *s, const qp_fabric_value *value,
                          qp_fabric_sim_result *result, uint32_t *count)
{
    result->first_sink = *count;
    for (uint32_t i = 0; i < value->use_count; i++) {
        const qp_fabric_use *use = &value->uses[i];
        const uint32_t operand = s->channels.first_operand[use->actor] + use->operand;
        if (s->channels.queue_of[operand] != QP_FABRIC_NO_INDEX)
            continue;
        s->source_op[operand] = result->op;
        s->sinks[(*count)++] = operand;
    }
    result->end_sink = *count;
}

static qp_status connect_results(qp_fabric_simulation *s, qp_fabric_error *error)
{
    uint32_t sink = 0;
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < s->operand_count; i++)
        s->source_op[i] = QP_FABRIC_NO_INDEX;
    for (uint32_t r = 0; r < s->result_count && status == QP_OK; r++) {
        const qp_fabric_value *value = &s->graph->values[s->graph->n_inputs + r];
        qp_fabric_sim_result *result = &s->results[r];
        qp_fabric_sim_op *op = &s->ops[value->actor];
        result->op = value->actor;
        result->output = value->output;
        result->words = qp_fabric_words(value->bits);
        if (value->ordinal == 0)
            op->first_sink = sink;
        connect_sinks(s, value, result, &sink);
        op->end_sink = sink;
        status = take_payload(s, result->words, &s->payloads[0][r], error);
        if (status == QP_OK)
            status = take_payload(s, result->words, &s->payloads[1][r], error);
    }
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (s->source_op[i] != QP_FABRIC_NO_INDEX)
            s->ops[s->operand_op[i]].given |= s->ops[s->source_op[i]].transparent;
    return status;
}

/* Queues with their sinks, which ascend. */
static qp_status connect_queues(qp_fabric_simulation *s, const qp_fabric_script *script,
                                qp_fabric_error *error)
{
    uint32_t *place = qp_arena_allocate(&s->arena, (size_t)s->queue_count + 1, sizeof *place);

    if (place == NULL)
        return no_memory(error);
    s->source_queue = s->channels.queue_of;
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (s->source_queue[i] != QP_FABRIC_NO_INDEX)
            place[s->source_queue[i] + 1]++;
    for (uint32_t q = 0; q < s->queue_count; q++) {
        qp_fabric_sim_queue *queue = &s->queues[q];
        queue->value = s->channels.queues[q].value;
        queue->words = qp_fabric_words(s->graph->values[queue->value].bits);
        if (queue->value < s->graph->n_inputs) {
            queue->input = &script->inputs[queue->value];
            queue->count = queue->input->count;
        }
        queue->first_sink = queue->end_sink = place[q];
        place[q + 1] += place[q];
    }
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (s->source_queue[i] != QP_FABRIC_NO_INDEX)
            s->queue_sinks[s->queues[s->source_queue[i]].end_sink++] = i;
    return QP_OK;
}

/* `feeds`: the queues of each result, one result after the other. */
static qp_status connect_feeds(qp_fabric_simulation *s, qp_fabric_error *error)
{
    uint32_t at = 0, *count = qp_arena_allocate(&s->arena, s->result_count, sizeof *count);

    if (count == NULL)
        return no_memory(error);
    for (uint32_t q = 0; q < s->queue_count; q++)
        if (s->queues[q].input == NULL)
            count[s->queues[q].value - s->graph->n_inputs]++;
    for (uint32_t r = 0; r < s->result_count; r++) {
        s->results[r].first_queue = s->results[r].end_queue = at;
        at += count[r];
    }
    for (uint32_t q = 0; q < s->queue_count; q++)
        if (s->queues[q].input == NULL)
            s->feeds[s->results[s->queues[q].value - s->graph->n_inputs].end_queue++] = q;
    return QP_OK;
}

/* Room for qp_fabric_simulation_holding: a flag an obligation. */
static qp_status make_delivered(qp_fabric_simulation *s, qp_fabric_error *error)
{
    for (uint32_t a = 0; a < s->op_count; a++) {
        const qp_fabric_sim_result *first = &s->results[s->ops[a].first_result];
        const qp_fabric_sim_result *last = first + s->ops[a].result_count - 1;
        const size_t count = (size_t)(last->end_sink - first->first_sink) +
                             (last->end_queue - first->first_queue) + s->ops[a].result_count;
        s->delivered[a] = qp_arena_allocate(&s->arena, count, sizeof **s->delivered);
        if (s->delivered[a] == NULL)
            return no_memory(error);
    }
    return QP_OK;
}

/* ---- the order of transparent ops --------------------------------------------------------- */

/* How many of an op's operands come from transparent ops that are not yet in the order. */
static uint32_t count_given(const qp_fabric_simulation *s, const qp_fabric_sim_op *op)
{
    uint32_t count = 0;

    for (uint32_t i = op->first_operand; i < op->first_operand + op->operand_count; i++)
        count += s->source_op[i] != QP_FABRIC_NO_INDEX && s->ops[s->source_op[i]].transparent;
    return count;
}

static qp_status order_transparents(qp_fabric_simulation *s, qp_fabric_error *error)
{
    uint32_t total = 0, *left = qp_arena_allocate(&s->arena, s->op_count, sizeof *left);

    if (left == NULL)
        return no_memory(error);
    for (uint32_t a = 0; a < s->op_count; a++) {
        if (!s->ops[a].transparent)
            continue;
        total++;
        left[a] = count_given(s, &s->ops[a]);
        if (left[a] == 0)
            s->transparents[s->transparent_count++] = a;
    }
    for (uint32_t i = 0; i < s->transparent_count; i++) {
        const qp_fabric_sim_op *op = &s->ops[s->transparents[i]];
        for (uint32_t k = op->first_sink; k < op->end_sink; k++) {
            const uint32_t next = s->operand_op[s->sinks[k]];
            if (s->ops[next].transparent && --left[next] == 0)
                s->transparents[s->transparent_count++] = next;
        }
    }
    if (s->transparent_count == total)
        return QP_OK;
    return qp_fabric_fail(error, QP_FABRIC_INVALID, s->verified->map->place,
                          "transparent ops form a combinational cycle");
}

/* ---- the script --------------------------------------------------------------------------- */

static int order_intervals(const void *a, const void *b)
{
    const qp_fabric_interval *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int order_cycles(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A port's intervals in order, those that meet made one, empty ones left out. */
static qp_status make_stall(qp_fabric_simulation *s, const qp_fabric_stall *given,
                            qp_fabric_sim_stall *stall, qp_fabric_error *error)
{
    qp_fabric_interval *sorted = qp_arena_allocate(&s->arena, given->count, sizeof *sorted);

    if (sorted == NULL)
        return no_memory(error);
    stall->intervals = sorted;
    if (given->count == 0)
        return QP_OK;
    memcpy(sorted, given->intervals, given->count * sizeof *sorted);
    qsort(sorted, given->count, sizeof *sorted, order_intervals);
    for (size_t i = 0; i < given->count; i++) {
        qp_fabric_interval *last = stall->count > 0 ? &sorted[stall->count - 1] : NULL;
        if (sorted[i].first == sorted[i].end)
            continue;
        if (last == NULL || sorted[i].first > last->end)
            sorted[stall->count++] = sorted[i];
        else if (sorted[i].end > last->end)
            last->end = sorted[i].end;
    }
    if (stall->count > 0 && sorted[stall->count - 1].end > s->last_end)
        s->last_end = sorted[stall->count - 1].end;
    return QP_OK;
}

static qp_status make_script(qp_fabric_simulation *s, const qp_fabric_script *script,
                             qp_fabric_error *error)
{
    const uint32_t ports = s->graph->n_inputs + s->graph->n_outputs;
    qp_status status = QP_OK;

    for (uint32_t i = 0; script->stalls != NULL && i < ports && status == QP_OK; i++)
        status = make_stall(s, &script->stalls[i], &s->stalls[i], error);
    if (status != QP_OK)
        return status;
    s->resets = qp_arena_allocate(&s->arena, script->reset_count, sizeof *s->resets);
    if (s->resets == NULL)
        return no_memory(error);
    if (script->reset_count > 0) {
        memcpy(s->resets, script->resets, script->reset_count * sizeof *s->resets);
        qsort(s->resets, script->reset_count, sizeof *s->resets, order_cycles);
    }
    s->reset_count = script->reset_count;
    for (uint32_t i = 0; i < s->graph->n_outputs; i++)
        s->outputs[i].words = qp_fabric_words(s->graph->values[s->graph->outputs[i]].bits);
    return QP_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

static qp_status make_all(qp_fabric_simulation *s, const qp_fabric_script *script,
                          qp_fabric_error *error)
{
    qp_status status = check_contexts(s->verified, &s->arena, error);

    if (status == QP_OK)
        status = make_arrays(s, error);
    for (uint32_t a = 0; a < s->op_count && status == QP_OK; a++)
        status = make_op(s, a, error);
    if (status == QP_OK)
        status = connect_results(s, error);
    if (status == QP_OK)
        status = connect_queues(s, script, error);
    if (status == QP_OK)
        status = connect_feeds(s, error);
    if (status == QP_OK)
        status = make_delivered(s, error);
    if (status == QP_OK)
        status = order_transparents(s, error);
    if (status == QP_OK)
        status = make_script(s, script, error);
    if (status == QP_OK)
        qp_fabric_sim_reset(s);
    return status;
}

qp_status qp_fabric_simulation_make(const qp_fabric_verified *verified,
                                    const qp_fabric_script *script, const qp_allocator *allocator,
                                    qp_fabric_simulation **simulation, qp_fabric_error *error)
{
    qp_fabric_simulation *s = qp_allocate(allocator, 1, sizeof *s);

    *simulation = NULL;
    if (s == NULL)
        return no_memory(error);
    s->model = verified->sealed->model;
    s->graph = verified->graph;
    s->verified = verified;
    s->observer = script->observer;
    qp_arena_init(&s->arena, allocator);
    qp_buffer_init(&s->text, allocator);
    qp_status status = make_all(s, script, error);
    if (status == QP_OK)
        *simulation = s;
    else
        qp_fabric_simulation_free(s);
    return status;
}

void qp_fabric_simulation_free(qp_fabric_simulation *simulation)
{
    if (simulation == NULL)
        return;
    const qp_allocator allocator = simulation->arena.allocator;
    for (uint32_t q = 0; simulation->queues != NULL && q < simulation->queue_count; q++) {
        const qp_fabric_sim_queue *queue = &simulation->queues[q];
        qp_release(&allocator, queue->ring, queue->capacity * queue->words, sizeof *queue->ring);
    }
    for (uint32_t i = 0; simulation->outputs != NULL && i < simulation->graph->n_outputs; i++)
        qp_fabric_stream_free(&simulation->outputs[i], &allocator);
    qp_buffer_free(&simulation->text);
    qp_arena_free(&simulation->arena);
    qp_release(&allocator, simulation, 1, sizeof *simulation);
}
