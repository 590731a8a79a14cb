/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_decode.c - the decodes of a vector: building the inputs, running them in one session, and
 * comparing with what the vector expects (integer-operators.md sections 4, 10.3 and 14.1).
 *
 * A decode that is refused before its values are read (run steps 1 to 3) may give any data: a
 * vector of a refused size need not carry its elements. So nothing is made of a declared shape
 * until the data are known to fill it, or those steps are known to refuse.
 */
#include "conform/line.h"
#include "run/session.h"

#include <inttypes.h>

/* One data input as the line gives it. */
typedef struct given_input {
    qp_shape shape;
    size_t start, count; /* of its elements in conform->values */
    bool beyond;         /* an element does not fit int64: `values` has the nearest */
} given_input;

typedef struct decode {
    qp_conform *conform;
    qp_session *session;
    const qp_graph *graph;
    size_t number;   /* in the vector, from 0 */
    uint32_t output; /* the one that is compared */
    size_t n_data;
    given_input *inputs;  /* [n_data] */
    qp_array *arrays;     /* [n_data] */
    int64_t *scalars;     /* [n_scalars] */
    bool *scalars_beyond; /* [n_scalars] */
    qp_shape *shapes;     /* [n_tensors]: room for the plan */
} decode;

/* ---- reading ------------------------------------------------------------------------------ */

/* A dimension as a session can be given it. Where it does not fit 32 bits, what stands for it is
 * refused with the same code: 0 channels are no record's, and so many rows pass every cap. */
static qp_status read_dimension(qp_json_value value, uint32_t beyond_high, uint32_t *dimension,
                                qp_error *error)
{
    int64_t integer;
    bool beyond;
    qp_status status = qp_line_integer(value, &integer, &beyond, error);
    if (status != QP_OK)
        return status;
    if (integer < 0)
        *dimension = 0;
    else
        *dimension = integer > (int64_t)UINT32_MAX ? beyond_high : (uint32_t)integer;
    return QP_OK;
}

static qp_status read_shape(qp_json_value value, qp_shape *shape, qp_error *error)
{
    static const uint32_t beyond_high[3] = {0, UINT32_MAX, UINT32_MAX};
    qp_json_iterator iterator = qp_json_iterate(value);
    uint32_t dimensions[3];
    qp_json_value element;

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    for (size_t i = 0; i < 3 && status == QP_OK; i++) {
        if (!qp_json_next(&iterator, &element))
            return qp_json_fail(value, error, "a shape of %zu dimensions, not 3", i);
        status = read_dimension(element, beyond_high[i], &dimensions[i], error);
    }
    if (status == QP_OK && qp_json_next(&iterator, &element))
        return qp_json_fail(element, error, "a shape of more than 3 dimensions");
    if (status == QP_OK)
        *shape = (qp_shape){dimensions[0], dimensions[1], dimensions[2]};
    return status;
}

/* An output's or an input's "data" and "shape". */
static qp_status read_tensor(qp_json_value value, qp_json_value *data, qp_shape *shape,
                             qp_error *error)
{
    static const char *const names[] = {"data", "shape"};
    qp_json_value members[2];
    qp_status status = qp_line_members(value, names, 2, members, error);
    if (status == QP_OK)
        status = qp_json_expect(members[0], QP_JSON_ARRAY, error);
    if (status == QP_OK)
        status = read_shape(members[1], shape, error);
    if (status == QP_OK)
        *data = members[0];
    return status;
}

static qp_status read_input(decode *d, qp_json_value value, given_input *input, qp_error *error)
{
    qp_buffer *values = &d->conform->values;
    qp_json_value data, element;
    qp_status status = read_tensor(value, &data, &input->shape, error);

    if (status != QP_OK)
        return status;
    input->start = values->size / sizeof(int64_t);
    input->beyond = false;
    qp_json_iterator iterator = qp_json_iterate(data);
    while (qp_json_next(&iterator, &element)) {
        int64_t integer;
        bool beyond;
        status = qp_line_integer(element, &integer, &beyond, error);
        if (status != QP_OK)
            return status;
        input->beyond |= beyond;
        qp_buffer_append(values, &integer, sizeof integer);
        if (values->failed)
            return qp_fail_memory(error, "a decode's inputs");
    }
    input->count = values->size / sizeof(int64_t) - input->start;
    return QP_OK;
}

static qp_status read_inputs(decode *d, qp_json_value value, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;
    size_t n = 0;

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    d->conform->values.size = 0;
    while (status == QP_OK && qp_json_next(&iterator, &element)) {
        if (n == d->n_data)
            return qp_json_fail(element, error, "more inputs than the graph's %zu data inputs", n);
        status = read_input(d, element, &d->inputs[n++], error);
    }
    if (status == QP_OK && n < d->n_data)
        return qp_json_fail(value, error, "%zu inputs, but the graph has %zu data inputs", n,
                            d->n_data);
    return status;
}

static qp_status read_scalars(decode *d, qp_json_value value, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;
    uint32_t n = 0;

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    while (status == QP_OK && qp_json_next(&iterator, &element)) {
        if (n == d->graph->n_scalars)
            return qp_json_fail(element, error, "more scalars than the graph's %u", n);
        status = qp_line_integer(element, &d->scalars[n], &d->scalars_beyond[n], error);
        n++;
    }
    if (status == QP_OK && n < d->graph->n_scalars)
        return qp_json_fail(value, error, "%u scalars, but the graph has %u", n,
                            d->graph->n_scalars);
    return status;
}

/* ---- the refusals that read no value (run steps 1 to 3) ------------------------------------- */

static qp_status check_shape(const qp_graph *graph, const qp_graph_input_record *input,
                             const qp_shape *shape)
{
    if (shape->channels != graph->tensors[input->tensor].channels || shape->height == 0 ||
        shape->width == 0)
        return QP_MODEL_MISMATCH;
    if (graph->sized && (shape->height > input->max_h || shape->width > input->max_w))
        return QP_TOO_LARGE;
    return qp_shape_elements(shape) > graph->max_elems ? QP_TOO_LARGE : QP_OK;
}

static qp_status check_inputs(decode *d)
{
    const qp_graph *graph = d->graph;
    size_t next = 0;

    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_graph_input_record *input = &graph->inputs[i];
        const qp_state *state = &d->session->states[i];
        qp_shape *shape = &d->shapes[input->tensor];
        if (!input->state)
            *shape = d->inputs[next++].shape;
        else if (state->carried)
            *shape = state->tensor.shape;
        else
            *shape = (qp_shape){graph->tensors[input->tensor].channels, d->inputs[0].shape.height,
                                d->inputs[0].shape.width};
        qp_status status = check_shape(graph, input, shape);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

static qp_status check_scalars(const decode *d)
{
    for (uint32_t i = 0; i < d->graph->n_scalars; i++) {
        qp_range range = d->graph->scalars[i];
        if (d->scalars_beyond[i] || d->scalars[i] < range.lo || d->scalars[i] > range.hi)
            return QP_FIELD_RANGE;
    }
    return QP_OK;
}

static qp_status check_plan(decode *d)
{
    for (uint32_t i = 0; i < d->graph->n_nodes; i++) {
        const qp_node *node = &d->graph->nodes[i];
        qp_shape in[QP_INPUTS_MAX], out[QP_OUTPUTS_MAX];
        const char *why;
        for (uint32_t k = 0; k < node->n_in; k++)
            in[k] = d->shapes[node->in[k]];
        qp_status status = qp_graph_plan_node(d->graph, node, in, d->scalars, out, &why);
        if (status != QP_OK)
            return status;
        for (uint32_t k = 0; k < node->n_out; k++)
            d->shapes[node->out[k]] = out[k];
    }
    return QP_OK;
}

/* ---- running ------------------------------------------------------------------------------ */

static bool fills(const given_input *input)
{
    return qp_shape_elements(&input->shape) == input->count;
}

static bool is_checked(const decode *d, size_t data_input)
{
    for (uint32_t i = 0; i < d->graph->n_inputs; i++)
        if (!d->graph->inputs[i].state && data_input-- == 0)
            return d->graph->tensors[d->graph->inputs[i].tensor].policy == QP_CHECK;
    return false;
}

static bool scalars_fit(const decode *d)
{
    for (uint32_t i = 0; i < d->graph->n_scalars; i++)
        if (d->scalars_beyond[i])
            return false;
    return true;
}

/* Whether the session can be given all of the values: each input filled, and each value an int64 or
 * one that clamping would bring to the same end. */
static bool is_plain(const decode *d)
{
    if (!scalars_fit(d))
        return false;
    for (size_t i = 0; i < d->n_data; i++)
        if (!fills(&d->inputs[i]) || (d->inputs[i].beyond && is_checked(d, i)))
            return false;
    return true;
}

static qp_status run_session(decode *d, bool with_values, qp_error *error)
{
    const int64_t *values = (const int64_t *)(const void *)d->conform->values.bytes;
    for (size_t i = 0; i < d->n_data; i++) {
        const given_input *input = &d->inputs[i];
        const qp_shape *shape = &input->shape;
        d->arrays[i] = (qp_array){with_values && input->count > 0 ? values + input->start : NULL,
                                  QP_INT64, shape->channels, shape->height, shape->width};
    }
    return qp_session_decode(d->session, d->arrays, d->n_data, d->scalars, d->graph->n_scalars,
                             error);
}

/* A decode whose values the session cannot be given. QP_MALFORMED where it would have to read data
 * that do not fill their shape; otherwise the refusal. */
static qp_status run_without_values(decode *d, qp_error *error)
{
    qp_status status = check_inputs(d);
    if (status == QP_OK)
        status = check_scalars(d);
    if (status == QP_OK)
        status = check_plan(d);
    if (status != QP_OK && scalars_fit(d))
        return run_session(d, false, error); /* refuses before it reads a value */
    if (status != QP_OK)
        return qp_fail(error, status,
                       "before a scalar that does not fit 64 bits, or because of it");
    for (size_t i = 0; i < d->n_data; i++)
        if (!fills(&d->inputs[i]))
            return qp_fail(error, QP_MALFORMED,
                           "decode %zu: the %zu elements of input %zu do not fill its shape",
                           d->number, d->inputs[i].count, i);
    return qp_fail(error, QP_FIELD_RANGE, "an element of a check input does not fit 64 bits");
}

/* ---- comparing ---------------------------------------------------------------------------- */

static qp_status differ_element(const decode *d, const qp_array *array, size_t index,
                                qp_json_value expected, int64_t value, qp_error *error)
{
    const char *text = "";
    size_t length = 0;
    (void)qp_line_string(expected, &text, &length);
    return qp_fail(error, QP_MALFORMED,
                   "decode %zu, output %" PRIu32 ": element %zu (c %zu, y %zu, x %zu): expected "
                   "%.*s, got %" PRId64,
                   d->number, d->output, index, index / array->width / array->height,
                   index / array->width % array->height, index % array->width,
                   (int)(length < 60 ? length : 60), text, value);
}

enum { SPAN = 256 };

static qp_status compare_data(const decode *d, const qp_array *array, qp_json_value data,
                              qp_error *error)
{
    size_t total = (size_t)qp_array_elements(array), index = 0;
    qp_json_iterator iterator = qp_json_iterate(data);
    qp_json_value element;
    int64_t values[SPAN];

    while (qp_json_next(&iterator, &element)) {
        int64_t expected;
        bool beyond;
        qp_status status = qp_line_integer(element, &expected, &beyond, error);
        if (status != QP_OK)
            return status;
        if (index == total)
            return qp_json_fail(element, error, "more elements than the shape's %zu", total);
        if (index % SPAN == 0)
            qp_array_read(array, index, total - index < SPAN ? total - index : SPAN, values);
        if (beyond || expected != values[index % SPAN])
            return differ_element(d, array, index, element, values[index % SPAN], error);
        index++;
    }
    if (index < total)
        return qp_json_fail(data, error, "%zu elements do not fill the shape's %zu", index, total);
    return QP_OK;
}

static qp_status compare_output(const decode *d, qp_json_value expected, qp_error *error)
{
    qp_json_value data;
    qp_shape shape;
    qp_array array;
    qp_status status = read_tensor(expected, &data, &shape, error);
    if (status == QP_OK && qp_session_output(d->session, d->output, &array) != QP_OK)
        return qp_fail(error, QP_INTERNAL, "a completed decode has no output %" PRIu32, d->output);
    if (status != QP_OK)
        return status;
    if (shape.channels != array.channels || shape.height != array.height ||
        shape.width != array.width)
        return qp_fail(error, QP_MALFORMED,
                       "decode %zu, output %" PRIu32 ": expected the shape [%" PRIu32 ", %" PRIu32
                       ", %" PRIu32 "], got [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]",
                       d->number, d->output, shape.channels, shape.height, shape.width,
                       array.channels, array.height, array.width);
    return compare_data(d, &array, data, error);
}

static qp_status compare_outputs(decode *d, qp_json_value expected, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(expected);
    uint32_t count = d->graph->n_outputs;
    qp_json_value element;

    qp_status status = qp_json_expect(expected, QP_JSON_ARRAY, error);
    for (d->output = 0; status == QP_OK && qp_json_next(&iterator, &element); d->output++) {
        if (d->output == count)
            return qp_json_fail(element, error, "more outputs than the graph's %" PRIu32, count);
        status = compare_output(d, element, error);
    }
    if (status == QP_OK && d->output < count)
        return qp_json_fail(expected, error, "%" PRIu32 " outputs, but the graph has %" PRIu32,
                            d->output, count);
    return status;
}

/* `outcome` is the decode's: QP_OK, or the refusal that `refusal` tells of. */
static qp_status compare_refusal(const decode *d, qp_json_value expected, qp_status outcome,
                                 const qp_error *refusal, qp_error *error)
{
    char code[40];
    qp_status status = qp_json_copy_string(expected, code, sizeof code, error);
    if (status != QP_OK || (outcome != QP_OK && strcmp(code, qp_status_token(outcome)) == 0))
        return status;
    if (outcome == QP_OK)
        return qp_fail(error, QP_MALFORMED,
                       "decode %zu: expected the refusal %s, but the decode completes", d->number,
                       code);
    return qp_fail(error, QP_MALFORMED, "decode %zu: expected the refusal %s, got %s (%.120s)",
                   d->number, code, qp_status_token(outcome), refusal->message);
}

static qp_status compare(decode *d, qp_json_value expect, qp_status outcome,
                         const qp_error *refusal, qp_error *error)
{
    static const char *const outputs[] = {"outputs"}, *const refuse[] = {"refuse"};
    qp_json_value member;

    if (qp_json_find(expect, "refuse", &member)) {
        qp_status status = qp_line_members(expect, refuse, 1, &member, error);
        return status != QP_OK ? status : compare_refusal(d, member, outcome, refusal, error);
    }
    qp_status status = qp_line_members(expect, outputs, 1, &member, error);
    if (status != QP_OK)
        return status;
    if (outcome != QP_OK)
        return qp_fail(error, QP_MALFORMED,
                       "decode %zu: expected outputs, got the refusal %s (%.120s)", d->number,
                       qp_status_token(outcome), refusal->message);
    return compare_outputs(d, member, error);
}

/* ---- the sequence ------------------------------------------------------------------------- */

/* Whether a status is one of section 4's codes. */
static bool is_refusal(qp_status status)
{
    return status == QP_MODEL_MISMATCH || status == QP_TOO_LARGE || status == QP_FIELD_RANGE ||
           status == QP_GEOMETRY_MISMATCH;
}

static qp_status run_decode(decode *d, qp_json_value value, qp_error *error)
{
    static const char *const names[] = {"expect", "inputs", "scalars"};
    qp_json_value members[3];
    qp_error refusal = {0};

    qp_status status = qp_line_members(value, names, 3, members, error);
    if (status == QP_OK)
        status = read_inputs(d, members[1], error);
    if (status == QP_OK)
        status = read_scalars(d, members[2], error);
    if (status != QP_OK)
        return status;
    qp_status outcome =
        is_plain(d) ? run_session(d, true, &refusal) : run_without_values(d, &refusal);
    if (outcome == QP_OK || is_refusal(outcome))
        return compare(d, members[0], outcome, &refusal, error);
    if (error != NULL)
        *error = refusal;
    return outcome;
}

static qp_status prepare(decode *d, qp_arena *arena, qp_error *error)
{
    const qp_graph *graph = d->graph;
    for (uint32_t i = 0; i < graph->n_inputs; i++)
        d->n_data += !graph->inputs[i].state;
    d->inputs = qp_arena_allocate(arena, d->n_data, sizeof *d->inputs);
    d->arrays = qp_arena_allocate(arena, d->n_data, sizeof *d->arrays);
    d->scalars = qp_arena_allocate(arena, graph->n_scalars, sizeof *d->scalars);
    d->scalars_beyond = qp_arena_allocate(arena, graph->n_scalars, sizeof *d->scalars_beyond);
    d->shapes = qp_arena_allocate(arena, graph->n_tensors, sizeof *d->shapes);
    if (d->inputs == NULL || d->arrays == NULL || d->scalars == NULL || d->scalars_beyond == NULL ||
        d->shapes == NULL)
        return qp_fail_memory(error, "a vector's decodes");
    return QP_OK;
}

qp_status qp_conform_decodes(qp_conform *conform, qp_session *session, qp_json_value decodes,
                             qp_error *error)
{
    decode d = {.conform = conform, .session = session, .graph = session->graph};
    qp_json_iterator iterator = qp_json_iterate(decodes);
    qp_json_value value;
    qp_arena arena;

    qp_arena_init(&arena, &conform->allocator);
    conform->values.failed = false;
    qp_status status = prepare(&d, &arena, error);
    while (status == QP_OK && qp_json_next(&iterator, &value)) {
        status = run_decode(&d, value, error);
        d.number++;
    }
    qp_arena_free(&arena);
    return status;
}
