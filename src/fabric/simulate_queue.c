/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_queue.c - tokens that leave a unit: to the queues of the ports that read them, which
 * take all that comes, and to the graph's outputs, which may be stalled.
 */
#include "fabric/simulation.h"

enum { FIRST_CAPACITY = 16 };

/* ---- queues and outputs ------------------------------------------------------------------- */

static qp_status no_memory(qp_fabric_error *error)
{
    return qp_fabric_fail_memory(error, "the tokens of a run");
}

/* The head moves with the ring; it stands where it was not taken. */
static void move_head(qp_fabric_simulation *s, const qp_fabric_sim_queue *queue)
{
    if (queue->pending == 0)
        return;
    for (uint32_t k = queue->first_sink; k < queue->end_sink; k++)
        if (s->heads[s->queue_sinks[k]] != NULL)
            s->heads[s->queue_sinks[k]] = qp_fabric_sim_head(queue);
}

static qp_status grow(qp_fabric_simulation *s, qp_fabric_sim_queue *queue, qp_fabric_error *error)
{
    const qp_allocator *allocator = &s->arena.allocator;
    const size_t old = queue->capacity, words = queue->words;
    size_t capacity = FIRST_CAPACITY, size;

    if ((old > 0 && !qp_mul_size(old, 2, &capacity)) || !qp_mul_size(capacity, words, &size))
        return no_memory(error);
    qp_status status = qp_fabric_sim_hold(s, (uint64_t)(capacity - old) * words, error);
    uint64_t *ring = status == QP_OK ? qp_allocate(allocator, size, sizeof *ring) : NULL;
    if (ring == NULL)
        return status == QP_OK ? no_memory(error) : status;
    for (uint64_t i = queue->first; i < queue->first + queue->count; i++)
        memcpy(ring + (size_t)(i & (capacity - 1)) * words,
               queue->ring + (size_t)(i & (old - 1)) * words, words * sizeof *ring);
    qp_release(allocator, queue->ring, old * words, sizeof *queue->ring);
    queue->ring = ring;
    queue->capacity = capacity;
    move_head(s, queue);
    return QP_OK;
}

void qp_fabric_sim_refill_later(qp_fabric_simulation *s, uint32_t number)
{
    if (s->queues[number].refilled)
        return;
    s->queues[number].refilled = true;
    s->refills[s->refill_count++] = number;
}

/* A token enters a queue; it can be taken from the next cycle on. */
static qp_status push(qp_fabric_simulation *s, uint32_t number, const uint64_t *payload,
                      qp_fabric_error *error)
{
    qp_fabric_sim_queue *queue = &s->queues[number];
    qp_status status = QP_OK;

    if (queue->words > 0) {
        if (queue->count == queue->capacity)
            status = grow(s, queue, error);
        if (status != QP_OK)
            return status;
        const uint64_t place = (queue->first + queue->count) & (queue->capacity - 1);
        qp_fabric_copy_words(queue->ring + (size_t)place * queue->words, payload, queue->words);
    }
    queue->count++;
    if (queue->pending == 0)
        qp_fabric_sim_refill_later(s, number);
    return QP_OK;
}

qp_status qp_fabric_sim_push(qp_fabric_simulation *s, uint32_t number, const uint64_t *payload,
                             qp_fabric_error *error)
{
    const qp_fabric_sim_result *result = &s->results[number];
    qp_status status = QP_OK;

    for (uint32_t i = result->first_queue; i < result->end_queue && status == QP_OK; i++)
        status = push(s, s->feeds[i], payload, error);
    return status;
}

qp_status qp_fabric_sim_put_output(qp_fabric_simulation *s, const qp_fabric_sim_result *result,
                                   const uint64_t *payload, qp_fabric_error *error)
{
    qp_status status = qp_fabric_sim_hold(s, result->words + 1, error);

    if (status == QP_OK &&
        !qp_fabric_stream_add(&s->outputs[result->output], &s->arena.allocator, payload, &s->cycle))
        status = no_memory(error);
    return status;
}

/* ---- step 1: from slots to queues and outputs --------------------------------------------- */

static qp_status post_one(qp_fabric_simulation *s, uint32_t number, qp_fabric_error *error)
{
    qp_fabric_sim_result *result = &s->results[number];
    qp_fabric_sim_op *op = &s->ops[result->op];
    const uint64_t *payload = s->payloads[op->half][number];
    qp_status status = QP_OK;

    if (s->observer != NULL)
        qp_fabric_sim_trace_posting(s, number);
    if (result->fresh) {
        status = qp_fabric_sim_push(s, number, payload, error);
        op->external_left -= result->end_queue - result->first_queue;
        result->fresh = false;
        s->moved = true;
    }
    if (status != QP_OK || !result->waiting)
        return status;
    if (qp_fabric_sim_output_stalled(s, result->output))
        return QP_OK;
    op->external_left--;
    result->waiting = false;
    s->moved = true;
    return qp_fabric_sim_put_output(s, result, payload, error);
}

qp_status qp_fabric_sim_post(qp_fabric_simulation *s, qp_fabric_error *error)
{
    uint32_t kept = 0;
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < s->posting_count && status == QP_OK; i++) {
        const uint32_t number = s->posting[i];
        status = post_one(s, number, error);
        if (s->results[number].waiting)
            s->posting[kept++] = number;
    }
    s->posting_count = kept;
    return status;
}
