/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - decodes: refusals in the order of section 4, evaluation, and carried state. */
#include "run/session.h"

/* The public element types are the storage types, in the same order. */
_Static_assert((int)QP_INT8 == (int)QP_STORAGE_I8 && (int)QP_UINT8 == (int)QP_STORAGE_U8 &&
                   (int)QP_INT16 == (int)QP_STORAGE_I16 && (int)QP_UINT16 == (int)QP_STORAGE_U16 &&
                   (int)QP_INT32 == (int)QP_STORAGE_I32 && (int)QP_UINT32 == (int)QP_STORAGE_U32 &&
                   (int)QP_INT64 == (int)QP_STORAGE_I64,
               "qp_type and qp_storage must agree");

unsigned qp_type_size(qp_type type)
{
    return qp_storage_bytes((qp_storage)type);
}

uint64_t qp_array_elements(const qp_array *array)
{
    qp_shape shape = {array->channels, array->height, array->width};
    return qp_shape_elements(&shape);
}

static qp_tensor tensor_of(const qp_array *array)
{
    return (qp_tensor){(void *)(uintptr_t)array->data,
                       (qp_storage)array->type,
                       {array->channels, array->height, array->width}};
}

void qp_array_read(const qp_array *array, size_t start, size_t count, int64_t *values)
{
    qp_tensor tensor = tensor_of(array);
    qp_tensor_read(&tensor, start, count, values);
}

/* ---- making ------------------------------------------------------------------------------- */

/* Storage type, policy and range of every tensor, from the certificate. */
static void set_slots(qp_session *session)
{
    const qp_graph *graph = session->graph;

    for (uint32_t t = 0; t < graph->n_tensors; t++) {
        const qp_graph_tensor_record *record = &graph->tensors[t];
        const qp_interval *interval = &session->bounds->tensors[t];
        qp_output *output = &session->slots[t].output;
        bool derived = record->policy == QP_DERIVED;

        output->policy = record->policy;
        output->lo = derived ? INT64_MIN : record->lo;
        output->hi = derived ? INT64_MAX : record->hi;
        output->tensor.storage =
            qp_storage_for(qp_bound_to_i64(&interval->lo), qp_bound_to_i64(&interval->hi));
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const qp_node *node = &graph->nodes[i];
        for (uint32_t k = 0; k < node->n_out; k++)
            session->slots[node->out[k]].last_use = session->keep_tensors ? UINT32_MAX : i;
        for (uint32_t k = 0; k < node->n_in; k++)
            session->slots[node->in[k]].last_use = session->keep_tensors ? UINT32_MAX : i;
    }
    for (uint32_t o = 0; o < graph->n_outputs; o++)
        session->slots[graph->outputs[o]].last_use = UINT32_MAX;
}

static void set_nodes(qp_session *session, bool reference)
{
    const qp_graph *graph = session->graph;
#if defined(QP_INSTRUMENTED)
    reference = true; /* only the reference shows its intermediates */
#endif
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const qp_certified_node *node = &session->bounds->nodes[i];
        for (uint32_t k = 0; k < node->n_recorded; k++)
            if (node->recorded[k].key == QP_RQ_P)
                session->narrow_product[i] = qp_interval_fits(&node->recorded[k].interval, 64);
        session->scalars_shape |= graph->nodes[i].op->scalars_shape;
        if (!reference)
            session->kernels[i] = qp_kernel_find(&(qp_kernel_query){session->bounds, i});
    }
}

static qp_status allocate_arrays(qp_session *session, qp_error *error)
{
    const qp_graph *graph = session->graph;
    qp_arena *arena = &session->arena;

    session->slots = qp_arena_allocate(arena, graph->n_tensors, sizeof *session->slots);
    session->states = qp_arena_allocate(arena, graph->n_inputs, sizeof *session->states);
    session->narrow_product = qp_arena_allocate(arena, graph->n_nodes, sizeof(bool));
    session->kernels = qp_arena_allocate(arena, graph->n_nodes, sizeof *session->kernels);
    session->input_shapes = qp_arena_allocate(arena, graph->n_inputs, sizeof(qp_shape));
    session->planned_scalars = qp_arena_allocate(arena, graph->n_scalars, sizeof(int64_t));
    if (session->slots == NULL || session->states == NULL || session->narrow_product == NULL ||
        session->kernels == NULL || session->input_shapes == NULL ||
        session->planned_scalars == NULL)
        return qp_fail_memory(error, "a session");
    return QP_OK;
}

qp_status qp_session_create(const qp_certificate *certificate, const qp_session_options *options,
                            const qp_allocator *allocator, qp_session **session, qp_error *error)
{
    static const qp_session_options usual = {.profile = QP_ACC64};
    *session = NULL;
    if (options == NULL)
        options = &usual;
    if (options->graph >= certificate->n_graphs)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the set has no graph %zu", options->graph);
    const qp_graph_bounds *bounds = &certificate->graphs[options->graph];
    qp_status status = qp_bounds_require(bounds, options->profile, error);
    if (status != QP_OK)
        return status;

    qp_session *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a session");
    made->allocator = qp_allocator_or_default(allocator);
    qp_arena_init(&made->arena, allocator);
    made->graph = bounds->graph;
    made->bounds = bounds;
    made->keep_tensors = options->keep_tensors != 0;
    status = allocate_arrays(made, error);
    if (status != QP_OK) {
        qp_session_free(made);
        return status;
    }
    set_slots(made);
    set_nodes(made, options->reference != 0);
    *session = made;
    return QP_OK;
}

void qp_session_free(qp_session *session)
{
    if (session == NULL)
        return;
    qp_allocator allocator = session->allocator;
    for (uint32_t i = 0; session->states != NULL && i < session->graph->n_inputs; i++)
        qp_release(&allocator, session->states[i].tensor.data, session->states[i].capacity, 1);
    qp_release(&allocator, session->memory, session->memory_size, 1);
    qp_arena_free(&session->arena);
    qp_release(&allocator, session, 1, sizeof *session);
}

void qp_session_reset(qp_session *session)
{
    for (uint32_t i = 0; i < session->graph->n_inputs; i++)
        session->states[i].carried = false;
}

size_t qp_session_memory(const qp_session *session)
{
    return session->memory_used;
}

void qp_session_observe(qp_session *session, qp_observer *observer)
{
    session->observer = observer;
}

/* ---- inputs and scalars (run steps 1 and 2) ----------------------------------------------- */

static qp_status refuse_input(uint32_t index, qp_status status, qp_error *error,
                              const char *sentence)
{
    qp_place place = {QP_TABLE_INPUTS, index, -1, -1};
    return qp_fail_at(error, status, place, "input %u: %s", index, sentence);
}

qp_status qp_session_check_shape(const qp_graph *graph, uint32_t index, const qp_shape *shape,
                                 qp_error *error)
{
    const qp_graph_input_record *input = &graph->inputs[index];

    if (shape->channels != graph->tensors[input->tensor].channels)
        return qp_fail_at(error, QP_MODEL_MISMATCH, (qp_place){QP_TABLE_INPUTS, index, -1, -1},
                          "input %u: it has %u channels, and the graph takes %u", index,
                          shape->channels, graph->tensors[input->tensor].channels);
    if (shape->height == 0 || shape->width == 0)
        return refuse_input(index, QP_MODEL_MISMATCH, error, "its height or width is 0");
    if (graph->sized && (shape->height > input->max_h || shape->width > input->max_w))
        return refuse_input(index, QP_TOO_LARGE, error, "it is larger than the declared size");
    if (qp_shape_elements(shape) > graph->max_elems)
        return refuse_input(index, QP_TOO_LARGE, error, "it has more than max_elems elements");
    return QP_OK;
}

/* The shape that a state input has in this decode (section 10.3). */
static qp_shape state_shape(const qp_session *session, uint32_t index, const qp_array *input_0)
{
    const qp_graph *graph = session->graph;
    if (session->states[index].carried)
        return session->states[index].tensor.shape;
    return (qp_shape){graph->tensors[graph->inputs[index].tensor].channels, input_0->height,
                      input_0->width};
}

/* Checks every input; *same is left set where the shapes are those of the plan. */
static qp_status check_inputs(qp_session *session, const qp_array *inputs, bool *same,
                              qp_error *error)
{
    const qp_graph *graph = session->graph;
    size_t next = 0;

    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        qp_shape *planned = &session->input_shapes[i];
        qp_shape shape;
        if (graph->inputs[i].state) {
            shape = state_shape(session, i, &inputs[0]);
        } else {
            const qp_array *array = &inputs[next++];
            shape = (qp_shape){array->channels, array->height, array->width};
        }
        qp_status status = qp_session_check_shape(graph, i, &shape, error);
        if (status != QP_OK)
            return status;
        if (planned->height != shape.height || planned->width != shape.width)
            *same = false;
        *planned = shape;
    }
    return QP_OK;
}

static qp_status check_scalars(qp_session *session, const int64_t *scalars, bool *same,
                               qp_error *error)
{
    const qp_graph *graph = session->graph;

    for (uint32_t i = 0; i < graph->n_scalars; i++) {
        qp_range range = graph->scalars[i];
        if (scalars[i] < range.lo || scalars[i] > range.hi)
            return qp_fail_at(error, QP_FIELD_RANGE, (qp_place){QP_TABLE_SCALARS, i, -1, -1},
                              "scalar %u is %lld, outside [%lld, %lld]", i, (long long)scalars[i],
                              (long long)range.lo, (long long)range.hi);
        if (session->scalars_shape && session->planned_scalars[i] != scalars[i])
            *same = false;
        session->planned_scalars[i] = scalars[i];
    }
    return QP_OK;
}

static size_t count_data_inputs(const qp_graph *graph)
{
    size_t count = 0;
    for (uint32_t i = 0; i < graph->n_inputs; i++)
        count += !graph->inputs[i].state;
    return count;
}

/* ---- evaluation (run step 4) -------------------------------------------------------------- */

static qp_status refuse_element(const qp_output *output, const qp_refusal *refusal, uint32_t tensor,
                                qp_place place, qp_error *error)
{
    const qp_shape *shape = &output->tensor.shape;
    size_t x = refusal->element % shape->width;
    size_t y = refusal->element / shape->width % shape->height;
    size_t c = refusal->element / shape->width / shape->height;
    return qp_fail_at(error, QP_FIELD_RANGE, place,
                      "tensor %u: element (%zu, %zu, %zu) is %lld, outside [%lld, %lld]", tensor, c,
                      y, x, (long long)refusal->value, (long long)output->lo,
                      (long long)output->hi);
}

enum { SPAN = 512 };

/* Fills an input's tensor, under its policy, from `source`, or with `init` where that is NULL. */
static qp_status take_input(qp_session *session, uint32_t index, const qp_tensor *source,
                            qp_error *error)
{
    const qp_graph_input_record *input = &session->graph->inputs[index];
    const qp_output *output = &session->slots[input->tensor].output;
    qp_refusal refusal;
    qp_evaluation e = {.out = output, .refusal = &refusal};
    size_t total = (size_t)qp_shape_elements(&output->tensor.shape);
    int64_t values[SPAN];

    for (size_t k = 0; source == NULL && k < SPAN; k++)
        values[k] = input->init;
    for (size_t done = 0, n; done < total; done += n) {
        n = total - done < SPAN ? total - done : SPAN;
        if (source != NULL)
            qp_tensor_read(source, done, n, values);
        if (qp_emit(&e, 0, done, values, n) != QP_OK)
            return refuse_element(output, &refusal, input->tensor,
                                  (qp_place){QP_TABLE_INPUTS, index, -1, -1}, error);
    }
    return QP_OK;
}

static qp_status take_inputs(qp_session *session, const qp_array *inputs, qp_error *error)
{
    const qp_graph *graph = session->graph;
    size_t next = 0;

    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_tensor *source = NULL;
        qp_tensor given;
        if (!graph->inputs[i].state) {
            given = tensor_of(&inputs[next++]);
            source = &given;
        } else if (session->states[i].carried) {
            source = &session->states[i].tensor;
        }
        qp_status status = take_input(session, i, source, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

static qp_status evaluate_node(qp_session *session, uint32_t index, const int64_t *scalars,
                               qp_error *error)
{
    const qp_node *node = &session->graph->nodes[index];
    qp_tensor in[QP_INPUTS_MAX];
    qp_output out[QP_OUTPUTS_MAX];
    qp_refusal refusal;

    for (uint32_t k = 0; k < node->n_in; k++)
        in[k] = session->slots[node->in[k]].output.tensor;
    for (uint32_t k = 0; k < node->n_out; k++)
        out[k] = session->slots[node->out[k]].output;
    qp_evaluation e = {
        .params = node->params,
        .in = in,
        .n_in = node->n_in,
        .out = out,
        .scalars = scalars,
        .scratch = (int64_t *)(void *)(qp_session_base(session) + session->scratch_offset),
        .narrow_product = session->narrow_product[index],
        .refusal = &refusal,
        .observer = session->observer,
    };
#if defined(QP_INSTRUMENTED)
    if (session->observer != NULL)
        session->observer->node(session->observer, index);
#endif
    const qp_kernel *kernel = qp_session_kernel(session, index);
    if ((kernel == NULL ? node->op->evaluate(&e) : kernel->evaluate(&e)) == QP_OK)
        return QP_OK;
    qp_place place = {QP_TABLE_OPERATORS, -1, index, (int64_t)node->offset};
    return refuse_element(&out[refusal.output], &refusal, node->out[refusal.output], place, error);
}

/* Every state becomes what its output holds. */
static void carry_states(qp_session *session)
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
        memcpy(state->tensor.data, source->data, bytes); /* reserved by the plan */
        state->tensor.storage = source->storage;
        state->tensor.shape = source->shape;
        state->carried = true;
    }
}

static qp_status evaluate(qp_session *session, const qp_array *inputs, const int64_t *scalars,
                          qp_error *error)
{
    qp_status status = take_inputs(session, inputs, error);
    for (uint32_t i = 0; i < session->graph->n_nodes && status == QP_OK; i++)
        status = evaluate_node(session, i, scalars, error);
    return status;
}

qp_status qp_session_decode(qp_session *session, const qp_array *inputs, size_t n_inputs,
                            const int64_t *scalars, size_t n_scalars, qp_error *error)
{
    const qp_graph *graph = session->graph;
    bool same = session->planned;

    session->completed = false;
    if (n_inputs != count_data_inputs(graph))
        return qp_fail(error, QP_INVALID_ARGUMENT, "the graph takes %zu data inputs, not %zu",
                       count_data_inputs(graph), n_inputs);
    if (n_scalars != graph->n_scalars)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the graph takes %u scalars, not %zu",
                       graph->n_scalars, n_scalars);
    session->planned = false; /* until the shapes kept are a plan's again */
    qp_status status = check_inputs(session, inputs, &same, error);
    if (status == QP_OK)
        status = check_scalars(session, scalars, &same, error);
    if (status != QP_OK)
        return status;
    session->planned = same;
    if (!same) {
        status = qp_session_plan(session, scalars, error);
        if (status != QP_OK)
            return status;
    }
    status = evaluate(session, inputs, scalars, error);
    if (status != QP_OK)
        return status;
    carry_states(session);
    session->completed = true;
    return QP_OK;
}

/* ---- results ------------------------------------------------------------------------------ */

static qp_array array_of(const qp_tensor *tensor)
{
    return (qp_array){tensor->data, (qp_type)tensor->storage, tensor->shape.channels,
                      tensor->shape.height, tensor->shape.width};
}

qp_status qp_session_output(const qp_session *session, uint32_t index, qp_array *array)
{
    if (!session->completed || index >= session->graph->n_outputs)
        return QP_INVALID_ARGUMENT;
    *array = array_of(&session->slots[session->graph->outputs[index]].output.tensor);
    return QP_OK;
}

qp_status qp_session_tensor(const qp_session *session, uint32_t tensor, qp_array *array)
{
    if (!session->completed || !session->keep_tensors || tensor >= session->graph->n_tensors)
        return QP_INVALID_ARGUMENT;
    *array = array_of(&session->slots[tensor].output.tensor);
    return QP_OK;
}
