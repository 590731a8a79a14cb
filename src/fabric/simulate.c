/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.c - one cycle after another (section 9, "Execution model"). A cycle has five steps:
 *
 * 1. tokens in result slots go to the queues and outputs that take them;
 * 2. ops whose heads or state changed choose their case; what a transparent op gives is offered on;
 * 3. of all ops that are ready the largest set that can fire is found;
 * 4. each of them forms its results and its next state, while all heads stand;
 * 5. what was consumed goes, what was published is offered from the next cycle on.
 *
 * Nothing is looked at that did not change, but for ops that are ready and blocked.
 */
#include "fabric/simulation.h"

/* What ends a run: the smallest actor whose firing is not defined. */
typedef struct failure {
    uint32_t op;
    qp_fabric_outcome outcome;
} failure;

static void note_failure(failure *failed, uint32_t op, qp_fabric_outcome outcome)
{
    if (outcome != QP_FABRIC_DEFINED && op < failed->op)
        *failed = (failure){op, outcome};
}

static qp_status check_failure(const qp_fabric_simulation *s, const failure *failed,
                               qp_fabric_error *error)
{
    if (failed->op == QP_FABRIC_NO_INDEX)
        return QP_OK;
    return qp_fabric_fail_firing(s->model, &s->ops[failed->op].transition, failed->outcome,
                                 &s->cycle, error);
}

/* ---- step 2: cases ------------------------------------------------------------------------ */

static void list(qp_fabric_simulation *s, uint32_t number, bool ready)
{
    qp_fabric_sim_op *op = &s->ops[number];

    if (ready == op->ready)
        return;
    op->ready = ready;
    if (ready) {
        op->listed = s->ready_count;
        s->ready[s->ready_count++] = number;
        return;
    }
    const uint32_t last = s->ready[--s->ready_count];
    s->ready[op->listed] = last;
    s->ops[last].listed = op->listed;
}

static void choose(qp_fabric_simulation *s, uint32_t number, failure *failed)
{
    qp_fabric_sim_op *op = &s->ops[number];
    qp_fabric_outcome outcome;
    const bool ready = qp_fabric_choose(&op->transition, &op->state, s->heads + op->first_operand,
                                        &op->firing, &outcome);

    op->touched = false;
    if (!ready)
        note_failure(failed, number, outcome);
    list(s, number, ready);
    if (!ready || op->takes_all)
        return;
    for (uint32_t i = 0; i < op->operand_count; i++)
        s->takes[op->first_operand + i] = qp_fabric_consumes(&op->transition, &op->firing, i);
}

static void offer(qp_fabric_simulation *s, uint32_t operand, const uint64_t *payload)
{
    s->heads[operand] = payload;
    qp_fabric_sim_touch(s, s->operand_op[operand]);
}

/* What it offered goes, and what it can give now is offered in its place. */
static void choose_transparent(qp_fabric_simulation *s, uint32_t number, failure *failed)
{
    qp_fabric_sim_op *op = &s->ops[number];
    uint64_t *const *payloads = s->payloads[0] + op->first_result;

    for (uint32_t k = op->first_sink; k < op->end_sink; k++)
        if (s->heads[s->sinks[k]] != NULL)
            offer(s, s->sinks[k], NULL);
    choose(s, number, failed);
    if (!op->ready || op->firing.group_count == 0)
        return;
    note_failure(failed, number,
                 qp_fabric_form_group(&op->transition, &op->state, &op->firing,
                                      s->heads + op->first_operand, 0, payloads));
    for (uint32_t i = 0; i < op->result_count; i++) {
        const qp_fabric_sim_result *result = &s->results[op->first_result + i];
        if (qp_fabric_produces(&op->transition, &op->firing, 0, i))
            for (uint32_t k = result->first_sink; k < result->end_sink; k++)
                offer(s, s->sinks[k], payloads[i]);
    }
}

static qp_status choose_all(qp_fabric_simulation *s, qp_fabric_error *error)
{
    failure failed = {QP_FABRIC_NO_INDEX, QP_FABRIC_DEFINED};

    for (uint32_t i = 0; s->touched_transparents > 0 && i < s->transparent_count; i++)
        if (s->ops[s->transparents[i]].touched) {
            s->touched_transparents--;
            choose_transparent(s, s->transparents[i], &failed);
        }
    for (uint32_t i = 0; i < s->touched_count; i++)
        choose(s, s->touched[i], &failed);
    s->touched_count = 0;
    return check_failure(s, &failed, error);
}

/* ---- step 3: the largest set -------------------------------------------------------------- */

/* Whether every token that stands at an op's inner sinks is taken by the set. */
static bool sinks_take(const qp_fabric_simulation *s, const qp_fabric_sim_op *op)
{
    for (uint32_t k = op->first_sink; k < op->end_sink; k++) {
        const uint32_t operand = s->sinks[k];
        if (s->heads[operand] != NULL &&
            !(s->takes[operand] && s->ops[s->operand_op[operand]].fires))
            return false;
    }
    return true;
}

static bool outputs_take(const qp_fabric_simulation *s, const qp_fabric_sim_op *op)
{
    for (uint32_t i = 0; i < op->result_count; i++) {
        const uint32_t output = s->results[op->first_result + i].output;
        if (output != QP_FABRIC_NO_INDEX && qp_fabric_sim_output_stalled(s, output) &&
            qp_fabric_produces(&op->transition, &op->firing, 0, i))
            return false;
    }
    return true;
}

/* Whether the set gives an op all that it consumes: what is not from a transparent op is there. */
static bool is_given(const qp_fabric_simulation *s, const qp_fabric_sim_op *op)
{
    for (uint32_t i = op->first_operand; i < op->first_operand + op->operand_count; i++) {
        const uint32_t source = s->source_op[i];
        if (s->takes[i] && source != QP_FABRIC_NO_INDEX && s->ops[source].transparent &&
            !s->ops[source].fires)
            return false;
    }
    return true;
}

static bool can_fire(const qp_fabric_simulation *s, const qp_fabric_sim_op *op)
{
    if (op->given && !is_given(s, op))
        return false;
    if (op->transparent)
        return op->firing.group_count == 0 || (sinks_take(s, op) && outputs_take(s, op));
    if (op->external_left > 0 || (op->claim != NULL && op->claim->groups_left > 0))
        return false;
    return op->pending == 0 || sinks_take(s, op);
}

/* Takes an op out of the set, and whatever cannot fire without it. */
static void drop(qp_fabric_simulation *s, uint32_t number)
{
    uint32_t count = 0;

    s->ops[number].fires = false;
    s->dropped[count++] = number;
    while (count > 0) {
        const qp_fabric_sim_op *op = &s->ops[s->dropped[--count]];
        for (uint32_t i = op->first_operand; i < op->first_operand + op->operand_count; i++) {
            const uint32_t source = s->source_op[i];
            if (s->takes[i] && source != QP_FABRIC_NO_INDEX && s->ops[source].fires &&
                !can_fire(s, &s->ops[source])) {
                s->ops[source].fires = false;
                s->dropped[count++] = source;
            }
        }
        for (uint32_t k = op->first_sink; op->transparent && k < op->end_sink; k++) {
            const uint32_t sink = s->operand_op[s->sinks[k]];
            if (s->ops[sink].fires && !can_fire(s, &s->ops[sink])) {
                s->ops[sink].fires = false;
                s->dropped[count++] = sink;
            }
        }
    }
}

static void find_firings(qp_fabric_simulation *s)
{
    for (uint32_t i = 0; i < s->ready_count; i++)
        s->ops[s->ready[i]].fires = true;
    for (uint32_t i = 0; i < s->ready_count; i++) {
        const qp_fabric_sim_op *op = &s->ops[s->ready[i]];
        if (op->fires && !can_fire(s, op))
            drop(s, s->ready[i]);
    }
    s->fired_count = 0;
    for (uint32_t i = 0; i < s->ready_count; i++)
        if (s->ops[s->ready[i]].fires)
            s->fired[s->fired_count++] = s->ready[i];
}

/* ---- step 4: results and states ----------------------------------------------------------- */

/* What later groups of a firing are formed from. */
static void keep_claim(qp_fabric_simulation *s, const qp_fabric_sim_op *op)
{
    qp_fabric_claim_state *claim = op->claim;
    uint64_t *payload = claim->before.payload;

    claim->next_group = 1;
    claim->groups_left = op->firing.group_count - 1;
    if (claim->groups_left == 0)
        return;
    claim->firing = op->firing;
    claim->before = op->state;
    claim->before.payload = payload;
    qp_fabric_copy_words(payload, op->state.payload, op->transition.state_words);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const bool taken = s->takes[op->first_operand + i];
        claim->heads[i] = taken ? claim->operands[i] : NULL;
        if (taken)
            qp_fabric_copy_words(claim->operands[i], s->heads[op->first_operand + i],
                                 claim->operand_words[i]);
    }
}

/* A slot has two payloads in turn, so that what is replaced can still be read in this cycle. */
static qp_fabric_outcome form(qp_fabric_simulation *s, qp_fabric_sim_op *op)
{
    const uint64_t *const *heads = s->heads + op->first_operand;
    qp_fabric_outcome outcome = QP_FABRIC_DEFINED;

    if (!op->transparent && op->firing.group_count > 0) {
        op->half ^= 1;
        outcome = qp_fabric_form_group(&op->transition, &op->state, &op->firing, heads, 0,
                                       s->payloads[op->half] + op->first_result);
        if (op->claim != NULL)
            keep_claim(s, op);
    }
    if (outcome == QP_FABRIC_DEFINED && op->stateful)
        outcome = qp_fabric_advance(&op->transition, &op->state, &op->firing, heads);
    return outcome;
}

static qp_status form_all(qp_fabric_simulation *s, qp_fabric_error *error)
{
    failure failed = {QP_FABRIC_NO_INDEX, QP_FABRIC_DEFINED};

    for (uint32_t i = 0; i < s->fired_count; i++)
        note_failure(&failed, s->fired[i], form(s, &s->ops[s->fired[i]]));
    return check_failure(s, &failed, error);
}

/* ---- step 5: deliveries ------------------------------------------------------------------- */

static void take(qp_fabric_simulation *s, uint32_t operand)
{
    const uint32_t source = s->source_op[operand];

    s->heads[operand] = NULL;
    if (source != QP_FABRIC_NO_INDEX) {
        s->ops[source].pending -= !s->ops[source].transparent;
        return;
    }
    qp_fabric_sim_queue *queue = &s->queues[s->source_queue[operand]];
    if (--queue->pending > 0)
        return;
    queue->first++;
    queue->count--;
    qp_fabric_sim_refill_later(s, s->source_queue[operand]);
}

/* A transparent firing's tokens for queues and outputs, which take them at once. */
static qp_status give_externals(qp_fabric_simulation *s, const qp_fabric_sim_op *op,
                                qp_fabric_error *error)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < op->result_count && status == QP_OK; i++) {
        const uint32_t number = op->first_result + i;
        const qp_fabric_sim_result *result = &s->results[number];
        if (op->firing.group_count == 0 || !qp_fabric_produces(&op->transition, &op->firing, 0, i))
            continue;
        status = qp_fabric_sim_push(s, number, s->payloads[0][number], error);
        if (status != QP_OK || result->output == QP_FABRIC_NO_INDEX)
            continue;
        status = qp_fabric_sim_put_output(s, result, s->payloads[0][number], error);
    }
    return status;
}

static qp_status deliver(qp_fabric_simulation *s, qp_fabric_error *error)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < s->fired_count && status == QP_OK; i++) {
        qp_fabric_sim_op *op = &s->ops[s->fired[i]];
        for (uint32_t k = op->first_operand; k < op->first_operand + op->operand_count; k++)
            if (s->takes[k])
                take(s, k);
        op->fires = false;
        qp_fabric_sim_touch(s, s->fired[i]);
        if (op->transparent)
            status = give_externals(s, op, error);
    }
    return status;
}

/* The group in a slot is offered, from the next cycle on. */
static void publish(qp_fabric_simulation *s, qp_fabric_sim_op *op, const qp_fabric_firing *firing,
                    uint32_t group)
{
    for (uint32_t i = 0; i < op->result_count; i++) {
        const uint32_t number = op->first_result + i;
        qp_fabric_sim_result *result = &s->results[number];
        if (!qp_fabric_produces(&op->transition, firing, group, i))
            continue;
        for (uint32_t k = result->first_sink; k < result->end_sink; k++)
            offer(s, s->sinks[k], s->payloads[op->half][number]);
        op->pending += result->end_sink - result->first_sink;
        result->fresh = result->first_queue < result->end_queue;
        result->waiting = result->output != QP_FABRIC_NO_INDEX;
        if (!result->fresh && !result->waiting)
            continue;
        op->external_left += result->end_queue - result->first_queue + result->waiting;
        s->posting[s->posting_count++] = number;
    }
}

static void publish_all(qp_fabric_simulation *s)
{
    for (uint32_t i = 0; i < s->fired_count; i++) {
        qp_fabric_sim_op *op = &s->ops[s->fired[i]];
        if (op->transparent || op->firing.group_count == 0)
            continue;
        publish(s, op, &op->firing, 0);
        if (op->firing.group_count > 1)
            s->draining[s->draining_count++] = s->fired[i];
    }
}

/* The next group of each accepted firing whose last one is delivered. */
static qp_status drain(qp_fabric_simulation *s, qp_fabric_error *error)
{
    failure failed = {QP_FABRIC_NO_INDEX, QP_FABRIC_DEFINED};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->draining_count; i++) {
        qp_fabric_sim_op *op = &s->ops[s->draining[i]];
        qp_fabric_claim_state *claim = op->claim;
        if (op->pending == 0 && op->external_left == 0) {
            op->half ^= 1;
            note_failure(&failed, s->draining[i],
                         qp_fabric_form_group(&op->transition, &claim->before, &claim->firing,
                                              claim->heads, claim->next_group,
                                              s->payloads[op->half] + op->first_result));
            publish(s, op, &claim->firing, claim->next_group++);
            claim->groups_left--;
        }
        if (claim->groups_left > 0)
            s->draining[kept++] = s->draining[i];
    }
    s->draining_count = kept;
    return check_failure(s, &failed, error);
}

static void refill(qp_fabric_simulation *s)
{
    for (uint32_t i = 0; i < s->refill_count; i++) {
        qp_fabric_sim_queue *queue = &s->queues[s->refills[i]];
        queue->refilled = false;
        if (queue->pending == 0)
            qp_fabric_sim_offer_head(s, queue);
    }
    s->refill_count = 0;
}

/* ---- cycles ------------------------------------------------------------------------------- */

static bool resets_now(qp_fabric_simulation *s)
{
    bool now = false;

    while (s->next_reset < s->reset_count && s->resets[s->next_reset] <= s->cycle)
        now |= s->resets[s->next_reset++] == s->cycle;
    return now;
}

static qp_status step(qp_fabric_simulation *s, qp_fabric_error *error)
{
    qp_status status = qp_fabric_sim_post(s, error);

    if (status == QP_OK)
        status = choose_all(s, error);
    if (status != QP_OK)
        return status;
    find_firings(s);
    if (s->observer != NULL)
        qp_fabric_sim_trace_firings(s);
    status = form_all(s, error);
    if (status == QP_OK)
        status = deliver(s, error);
    if (status != QP_OK)
        return status;
    publish_all(s);
    status = drain(s, error);
    refill(s);
    s->moved |= s->fired_count > 0;
    s->counts.firings += s->fired_count;
    if (s->observer != NULL)
        qp_fabric_sim_trace_states(s);
    return status;
}

qp_status qp_fabric_simulation_cycle(qp_fabric_simulation *simulation, bool *done,
                                     qp_fabric_error *error)
{
    qp_fabric_simulation *s = simulation;
    qp_status status = QP_OK;

    if (s->cycle >= s->next_change)
        qp_fabric_sim_change_stalls(s);
    s->moved = false;
    const bool reset = resets_now(s);
    if (reset) {
        qp_fabric_sim_reset(s);
        if (s->observer != NULL)
            qp_fabric_sim_trace_reset(s);
    } else {
        status = step(s, error);
    }
    s->ended = !s->moved && !reset && s->last_end <= s->cycle && s->next_reset == s->reset_count;
    s->counts.cycles = ++s->cycle;
    *done = s->ended;
    return status;
}

/* Where nothing moved, nothing will until a stall or a reset comes. An observer sees every cycle.
 */
static void skip(qp_fabric_simulation *s, uint64_t cycles)
{
    uint64_t next = s->next_change;

    if (s->observer != NULL)
        return;
    if (s->next_reset < s->reset_count && s->resets[s->next_reset] < next)
        next = s->resets[s->next_reset];
    next = next < cycles ? next : cycles;
    if (next > s->cycle)
        s->counts.cycles = s->cycle = next;
}

qp_status qp_fabric_simulation_run(qp_fabric_simulation *simulation, uint64_t cycles,
                                   qp_fabric_error *error)
{
    qp_fabric_simulation *s = simulation;
    bool done = s->ended;
    qp_status status = QP_OK;

    while (!done && status == QP_OK && s->cycle < cycles) {
        const size_t reset = s->next_reset;
        status = qp_fabric_simulation_cycle(s, &done, error);
        if (!done && !s->moved && s->next_reset == reset)
            skip(s, cycles);
    }
    return status;
}

/* ---- what there is to see ----------------------------------------------------------------- */

const qp_fabric_stream *qp_fabric_simulation_outputs(const qp_fabric_simulation *simulation)
{
    return simulation->outputs;
}

qp_fabric_run_counts qp_fabric_simulation_counts(const qp_fabric_simulation *simulation)
{
    return simulation->counts;
}

const qp_fabric_state *qp_fabric_simulation_state(const qp_fabric_simulation *simulation,
                                                  uint32_t actor)
{
    return &simulation->ops[actor].state;
}
