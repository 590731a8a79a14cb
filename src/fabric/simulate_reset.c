/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_reset.c - what changes a run from outside: resets, and the begin and end of stalls.
 */
#include "fabric/simulation.h"

/* A control token has no words; its head is this one. */
static const uint64_t control_token = 0;

/* ---- queues ------------------------------------------------------------------------------- */

const uint64_t *qp_fabric_sim_head(const qp_fabric_sim_queue *queue)
{
    if (queue->words == 0)
        return &control_token;
    if (queue->input != NULL)
        return queue->input->payload + (size_t)queue->first * queue->words;
    return queue->ring + (size_t)(queue->first & (queue->capacity - 1)) * queue->words;
}

void qp_fabric_sim_offer_head(qp_fabric_simulation *s, qp_fabric_sim_queue *queue)
{
    if (queue->count == 0)
        return;
    const uint64_t *head = qp_fabric_sim_head(queue);
    const uint64_t **offers = queue->stalled ? s->hidden : s->heads;
    for (uint32_t k = queue->first_sink; k < queue->end_sink; k++) {
        const uint32_t operand = s->queue_sinks[k];
        offers[operand] = head;
        qp_fabric_sim_touch(s, s->operand_op[operand]);
    }
    queue->pending = queue->end_sink - queue->first_sink;
}

/* ---- resets ------------------------------------------------------------------------------- */

static void reset_op(qp_fabric_simulation *s, uint32_t number)
{
    qp_fabric_sim_op *op = &s->ops[number];

    qp_fabric_reset(&op->transition, &op->state);
    op->ready = op->fires = false;
    op->pending = op->external_left = 0;
    if (op->claim != NULL)
        op->claim->groups_left = 0;
    qp_fabric_sim_touch(s, number);
}

/* An input's head of which some sink has had its copy is gone; what came from results is gone. */
static void reset_queue(qp_fabric_simulation *s, qp_fabric_sim_queue *queue)
{
    const bool begun = queue->pending > 0 && queue->pending < queue->end_sink - queue->first_sink;

    if (queue->input == NULL) {
        queue->first += queue->count;
        queue->count = 0;
    } else if (begun) {
        queue->first++;
        queue->count--;
    }
    queue->pending = 0;
    qp_fabric_sim_offer_head(s, queue);
}

void qp_fabric_sim_reset(qp_fabric_simulation *s)
{
    if (s->operand_count > 0) {
        memset(s->heads, 0, s->operand_count * sizeof *s->heads);
        memset(s->hidden, 0, s->operand_count * sizeof *s->hidden);
    }
    s->ready_count = s->posting_count = s->draining_count = 0;
    for (uint32_t r = 0; r < s->result_count; r++)
        s->results[r].fresh = s->results[r].waiting = false;
    for (uint32_t a = 0; a < s->op_count; a++)
        reset_op(s, a);
    for (uint32_t q = 0; q < s->queue_count; q++)
        reset_queue(s, &s->queues[q]);
}

/* ---- stalls ------------------------------------------------------------------------------- */

/* What an input offers to a queue's sinks is hidden, or offered again. */
static void stall_queue(qp_fabric_simulation *s, qp_fabric_sim_queue *queue, bool stalled)
{
    queue->stalled = stalled;
    for (uint32_t k = queue->first_sink; k < queue->end_sink; k++) {
        const uint32_t operand = s->queue_sinks[k];
        const uint64_t *head = s->heads[operand];
        s->heads[operand] = s->hidden[operand];
        s->hidden[operand] = head;
        qp_fabric_sim_touch(s, s->operand_op[operand]);
    }
}

static void stall_input(qp_fabric_simulation *s, uint32_t input, bool stalled)
{
    for (uint32_t q = 0; q < s->queue_count; q++)
        if (s->queues[q].value == input)
            stall_queue(s, &s->queues[q], stalled);
}

void qp_fabric_sim_change_stalls(qp_fabric_simulation *s)
{
    const uint32_t ports = s->graph->n_inputs + s->graph->n_outputs;

    s->next_change = UINT64_MAX;
    for (uint32_t i = 0; i < ports; i++) {
        qp_fabric_sim_stall *stall = &s->stalls[i];
        while (stall->next < stall->count && stall->intervals[stall->next].end <= s->cycle)
            stall->next++;
        if (stall->next == stall->count && !stall->stalled)
            continue;
        const qp_fabric_interval *at =
            stall->next < stall->count ? &stall->intervals[stall->next] : NULL;
        const bool stalled = at != NULL && at->first <= s->cycle;
        if (stalled != stall->stalled && i < s->graph->n_inputs)
            stall_input(s, i, stalled);
        stall->stalled = stalled;
        if (at != NULL) {
            const uint64_t change = stalled ? at->end : at->first;
            s->next_change = change < s->next_change ? change : s->next_change;
        }
    }
}
