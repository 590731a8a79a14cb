/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - the run-time plan (integer-operators.md section 4) and one arena for all tensors. */
#include "run/session.h"

/* ---- shapes ------------------------------------------------------------------------------- */

static qp_status plan_shapes(qp_session *session, const int64_t *scalars, qp_error *error)
{
    const qp_graph *graph = session->graph;

    for (uint32_t i = 0; i < graph->n_inputs; i++)
        session->slots[graph->inputs[i].tensor].output.tensor.shape = session->input_shapes[i];
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const qp_node *node = &graph->nodes[i];
        qp_shape in[QP_INPUTS_MAX], out[QP_OUTPUTS_MAX];
        const char *why = "";
        for (uint32_t k = 0; k < node->n_in; k++)
            in[k] = session->slots[node->in[k]].output.tensor.shape;
        qp_status status = qp_graph_plan_node(graph, node, in, scalars, out, &why);
        if (status != QP_OK) {
            qp_place place = {QP_TABLE_OPERATORS, -1, i, (int64_t)node->offset};
            return qp_fail_at(error, status, place, "%s: %s", node->op->name, why);
        }
        for (uint32_t k = 0; k < node->n_out; k++)
            session->slots[node->out[k]].output.tensor.shape = out[k];
    }
    return QP_OK;
}

/* ---- places ------------------------------------------------------------------------------- */

/*
 * Memory that a tensor leaves is used again by a later one of the same class. A class is a size
 * with two bits below the highest: 4 classes an octave, so rounding up wastes at most a quarter and
 * finding a place takes constant time.
 */
enum { CLASS_BITS = 2, CLASSES = 64 << CLASS_BITS };
#define NO_SLOT UINT32_MAX

typedef struct memory_layout {
    size_t end;
    uint32_t free_slots[CLASSES];
} memory_layout;

static unsigned class_of(size_t bytes, size_t *rounded)
{
    unsigned top = 0;
    for (size_t rest = bytes; rest > 1; rest >>= 1)
        top++;
    if (top <= CLASS_BITS) {
        *rounded = bytes;
        return (unsigned)bytes;
    }
    unsigned shift = top - CLASS_BITS;
    size_t steps = (bytes - 1) >> shift;
    *rounded = (steps + 1) << shift;
    return (shift << CLASS_BITS) + (unsigned)(steps + 1);
}

/* Gives a slot its place; false where the sum of sizes passes size_t. */
static bool place(qp_session *session, memory_layout *layout, uint32_t tensor)
{
    qp_slot *slot = &session->slots[tensor];
    uint64_t elements = qp_shape_elements(&slot->output.tensor.shape); /* at most 2^26 */
    size_t bytes = (size_t)elements * qp_storage_bytes(slot->output.tensor.storage);
    size_t aligned = (bytes + QP_TENSOR_ALIGNMENT - 1) & ~(size_t)(QP_TENSOR_ALIGNMENT - 1);
    unsigned class = class_of(aligned, &slot->bytes);

    uint32_t waiting = layout->free_slots[class];
    if (waiting != NO_SLOT) {
        layout->free_slots[class] = session->slots[waiting].next_free;
        slot->offset = session->slots[waiting].offset;
        return true;
    }
    slot->offset = layout->end;
    return qp_add_size(layout->end, slot->bytes, &layout->end);
}

static void leave(qp_session *session, memory_layout *layout, uint32_t tensor)
{
    size_t rounded;
    qp_slot *slot = &session->slots[tensor];
    unsigned class = class_of(slot->bytes, &rounded);
    slot->next_free = layout->free_slots[class];
    layout->free_slots[class] = tensor;
}

/* Whether `tensor` is the operator's input `k` for the first time in its list. */
static bool first_mention(const qp_node *node, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++)
        if (node->in[j] == node->in[k])
            return false;
    return true;
}

static bool place_node(qp_session *session, memory_layout *layout, uint32_t index,
                       uint64_t *scratch)
{
    const qp_node *node = &session->graph->nodes[index];
    qp_shape in[QP_INPUTS_MAX], out[QP_OUTPUTS_MAX];

    for (uint32_t k = 0; k < node->n_out; k++)
        if (!place(session, layout, node->out[k]))
            return false;
    for (uint32_t k = 0; k < node->n_in; k++)
        if (session->slots[node->in[k]].last_use == index && first_mention(node, k))
            leave(session, layout, node->in[k]);
    for (uint32_t k = 0; k < node->n_out; k++)
        if (session->slots[node->out[k]].last_use == index) /* nothing reads it */
            leave(session, layout, node->out[k]);
    const qp_kernel *kernel = qp_session_kernel(session, index);
    uint64_t (*wants)(const qp_plan *, const qp_shape *) =
        kernel == NULL ? node->op->scratch : kernel->scratch;
    if (wants == NULL)
        return true;
    for (uint32_t k = 0; k < node->n_in; k++)
        in[k] = session->slots[node->in[k]].output.tensor.shape;
    for (uint32_t k = 0; k < node->n_out; k++)
        out[k] = session->slots[node->out[k]].output.tensor.shape;
    qp_plan plan = {node->params, in, node->n_in, NULL, session->graph->scalars};
    uint64_t words = wants(&plan, out);
    *scratch = words > *scratch ? words : *scratch;
    return true;
}

static qp_status reserve(qp_session *session, size_t size, qp_error *error)
{
    size_t whole;
    if (!qp_add_size(size, QP_TENSOR_ALIGNMENT, &whole))
        return qp_fail_memory(error, "the session's tensors");
    session->memory_used = size;
    if (whole <= session->memory_size)
        return QP_OK;
    qp_release(&session->allocator, session->memory, session->memory_size, 1);
    session->memory_size = 0;
    session->memory = qp_allocate(&session->allocator, whole, 1);
    if (session->memory == NULL)
        return qp_fail_memory(error, "the session's tensors");
    session->memory_size = whole;
    return QP_OK;
}

/* The memory that a completed decode copies its states to must be there before it starts. */
static qp_status reserve_states(qp_session *session, qp_error *error)
{
    const qp_graph *graph = session->graph;
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        qp_state *state = &session->states[i];
        if (!graph->inputs[i].state)
            continue;
        const qp_tensor *source =
            &session->slots[graph->outputs[graph->inputs[i].src]].output.tensor;
        size_t bytes =
            (size_t)qp_shape_elements(&source->shape) * qp_storage_bytes(source->storage);
        if (bytes <= state->capacity)
            continue;
        void *grown = session->allocator.reallocate(session->allocator.context, state->tensor.data,
                                                    state->capacity, bytes);
        if (grown == NULL)
            return qp_fail_memory(error, "a carried state");
        state->tensor.data = grown;
        state->capacity = bytes;
    }
    return QP_OK;
}

static qp_status plan_memory(qp_session *session, qp_error *error)
{
    const qp_graph *graph = session->graph;
    memory_layout layout = {0};
    uint64_t scratch = 0, scratch_bytes;
    size_t end;
    bool fits = true;

    for (unsigned class = 0; class < CLASSES; class ++)
        layout.free_slots[class] = NO_SLOT;
    for (uint32_t i = 0; i < graph->n_inputs && fits; i++)
        fits = place(session, &layout, graph->inputs[i].tensor);
    for (uint32_t i = 0; i < graph->n_nodes && fits; i++)
        fits = place_node(session, &layout, i, &scratch);
    session->scratch_offset = layout.end;
    if (!fits || !qp_mul_u64(scratch, sizeof(int64_t), &scratch_bytes) ||
        scratch_bytes > SIZE_MAX || !qp_add_size(layout.end, (size_t)scratch_bytes, &end))
        return qp_fail_memory(error, "the session's tensors");

    qp_status status = reserve(session, end, error);
    if (status != QP_OK)
        return status;
    for (uint32_t t = 0; t < graph->n_tensors; t++)
        session->slots[t].output.tensor.data = qp_session_base(session) + session->slots[t].offset;
    return reserve_states(session, error);
}

const qp_kernel *qp_session_kernel(const qp_session *session, uint32_t index)
{
    const qp_kernel *kernel = session->kernels[index];
    uint32_t output = session->graph->nodes[index].out[0];
    if (kernel != NULL && session->slots[output].output.tensor.shape.width < kernel->least_width)
        return NULL;
    return kernel;
}

uint8_t *qp_session_base(const qp_session *session)
{
    size_t past = (size_t)((uintptr_t)session->memory % QP_TENSOR_ALIGNMENT);
    return session->memory + (past == 0 ? 0 : QP_TENSOR_ALIGNMENT - past);
}

qp_status qp_session_plan(qp_session *session, const int64_t *scalars, qp_error *error)
{
    session->planned = false;
    qp_status status = plan_shapes(session, scalars, error);
    if (status == QP_OK)
        status = plan_memory(session, error);
    session->planned = status == QP_OK;
    return status;
}
