/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - building a case, call by call. */
#include "conform/case.h"

#include <stdarg.h>
#include <stdio.h>

bool qp_case_fault(qp_corpus *c, const char *sentence)
{
    if (c->status == QP_OK)
        c->status = qp_fail(c->error, QP_INTERNAL, "%s: %s: %s", c->path, c->id, sentence);
    return false;
}

static bool room(qp_corpus *c, uint32_t used, uint32_t most)
{
    if (c->status != QP_OK)
        return false;
    return used < most || qp_case_fault(c, "the case is larger than case.h allows");
}

/* ---- random numbers ----------------------------------------------------------------------- */

/* FNV-1a, 64 bits: a seed from the name of a case. */
static uint64_t seed_of(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001B3u;
    return hash;
}

/* splitmix64 (Steele, Lea and Flood, 2014). */
static uint64_t next_random(qp_corpus *c)
{
    uint64_t z = c->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int64_t qp_case_random(qp_corpus *c, int64_t lo, int64_t hi)
{
    uint64_t count = (uint64_t)hi - (uint64_t)lo + 1; /* 0 stands for 2^64 */
    uint64_t draw = next_random(c);
    return qp_to_i64((uint64_t)lo + (count == 0 ? draw : draw % count));
}

qp_range qp_case_random_range(qp_corpus *c, qp_range low, qp_range high)
{
    int64_t lo = qp_case_random(c, low.lo, low.hi);
    return (qp_range){lo, qp_case_random(c, high.lo, high.hi)};
}

qp_case_rq qp_case_random_rq(qp_corpus *c)
{
    qp_round round = (qp_round)qp_case_random(c, 0, 2);
    return (qp_case_rq){.round = round, .place = (qp_bias_place)qp_case_random(c, 1, 2)};
}

qp_list qp_case_random_list(qp_corpus *c, int64_t *values, size_t count, qp_range range)
{
    for (size_t i = 0; i < count; i++)
        values[i] = qp_case_random(c, range.lo, range.hi);
    return (qp_list){values, count};
}

/* ---- the graph ---------------------------------------------------------------------------- */

void qp_case(qp_corpus *c, qp_want want, const char *format, ...)
{
    va_list arguments;

    qp_case_finish(c);
    if (c->status != QP_OK)
        return; /* what is asked of the case then finds the last good one */
    va_start(arguments, format);
    int length = vsnprintf(c->id, sizeof c->id, format, arguments);
    va_end(arguments);
    c->want = want;
    c->open = true;
    c->max_elems = 4096;
    c->n_scalars = c->n_inputs = c->n_outputs = c->n_tensors = c->n_nodes = 0;
    c->n_patches = c->n_runs = 0;
    c->resize = 0;
    c->truncate = SIZE_MAX;
    c->whole = false;
    c->params.size = c->values.size = 0;
    c->random = seed_of(seed_of(0xCBF29CE484222325u, c->path), c->id);
    if (length < 0 || (size_t)length >= sizeof c->id)
        qp_case_fault(c, "the id is longer than case.h allows");
    for (const char *p = c->id; *p != '\0'; p++)
        if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
            qp_case_fault(c, "the id is not plain ASCII");
}

void qp_case_whole(qp_corpus *c, const void *bytes, size_t size)
{
    c->whole = true;
    qp_buffer_append(&c->params, bytes, size);
}

uint32_t qp_case_tensor(qp_corpus *c, uint32_t channels)
{
    if (!room(c, c->n_tensors, QP_CASE_TENSORS_MAX))
        return 0;
    c->tensors[c->n_tensors] = (qp_graph_tensor_record){
        .channels = channels, .exponent = QP_EXPONENT_NONE, .policy = QP_DERIVED};
    return c->n_tensors++;
}

void qp_case_policy(qp_corpus *c, uint32_t tensor, qp_policy policy, int64_t lo, int64_t hi)
{
    c->tensors[tensor].policy = policy;
    c->tensors[tensor].lo = lo;
    c->tensors[tensor].hi = hi;
}

void qp_case_exponent(qp_corpus *c, uint32_t tensor, int exponent)
{
    c->tensors[tensor].exponent = (int8_t)exponent;
}

uint32_t qp_case_input(qp_corpus *c, uint32_t channels, int64_t lo, int64_t hi)
{
    uint32_t tensor = qp_case_tensor(c, channels);
    qp_case_policy(c, tensor, QP_CHECK, lo, hi);
    if (room(c, c->n_inputs, QP_CASE_INPUTS_MAX))
        c->inputs[c->n_inputs++] = (qp_graph_input_record){.tensor = tensor};
    return tensor;
}

uint32_t qp_case_state(qp_corpus *c, uint32_t channels, qp_range range, uint32_t src, int64_t init)
{
    uint32_t tensor = qp_case_input(c, channels, range.lo, range.hi);
    if (c->n_inputs > 0) {
        qp_graph_input_record *input = &c->inputs[c->n_inputs - 1];
        input->state = true;
        input->src = src;
        input->init = init;
    }
    return tensor;
}

void qp_case_declare(qp_corpus *c, uint32_t height, uint32_t width)
{
    for (uint32_t i = 0; i < c->n_inputs; i++) {
        c->inputs[i].max_h = height;
        c->inputs[i].max_w = width;
    }
}

uint32_t qp_case_scalar(qp_corpus *c, int64_t lo, int64_t hi)
{
    if (!room(c, c->n_scalars, QP_CASE_INPUTS_MAX))
        return 0;
    c->scalars[c->n_scalars] = (qp_range){lo, hi};
    return c->n_scalars++;
}

void qp_case_output(qp_corpus *c, uint32_t tensor)
{
    if (room(c, c->n_outputs, QP_CASE_INPUTS_MAX))
        c->outputs[c->n_outputs++] = tensor;
}

void qp_case_max_elems(qp_corpus *c, uint32_t max_elems)
{
    c->max_elems = max_elems;
}

/* ---- operators and their parameters ------------------------------------------------------- */

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

/* Reads the tensors of one side; returns where it stopped. */
static const char *read_side(const char *text, uint32_t *tensors, size_t *count)
{
    while (*text == ' ' || is_digit(*text)) {
        uint32_t value = 0;
        if (*text == ' ') {
            text++;
            continue;
        }
        for (; is_digit(*text); text++)
            value = value * 10 + (uint32_t)(*text - '0');
        if (*count < QP_CASE_WIRES_MAX)
            tensors[(*count)++] = value;
    }
    return text;
}

void qp_case_operator(qp_corpus *c, const char *name, const char *wires)
{
    const qp_operator *op = qp_operator_by_name(name, strlen(name));

    if (!room(c, c->n_nodes, QP_CASE_NODES_MAX))
        return;
    qp_case_node *node = &c->nodes[c->n_nodes++];
    *node = (qp_case_node){.params_at = c->params.size};
    const char *rest = read_side(wires, node->in, &node->n_in);
    if (op == NULL || *rest != '>' || *read_side(rest + 1, node->out, &node->n_out) != '\0')
        qp_case_fault(c, "an operator's name or wires do not read");
    else
        node->opcode = op->opcode;
}

void qp_case_u8(qp_corpus *c, unsigned value)
{
    qp_buffer_le(&c->params, value, 1);
}

void qp_case_u32(qp_corpus *c, uint32_t value)
{
    qp_buffer_le(&c->params, value, 4);
}

void qp_case_i64(qp_corpus *c, int64_t value)
{
    qp_buffer_le(&c->params, (uint64_t)value, 8);
}

void qp_case_u64(qp_corpus *c, uint64_t value)
{
    qp_buffer_le(&c->params, value, 8);
}

void qp_case_zeros(qp_corpus *c, unsigned count)
{
    qp_writer_zeros(&c->params, count);
}

void qp_case_integers(qp_corpus *c, unsigned width, qp_list values)
{
    qp_writer_integers(&c->params, values.values, values.count, width);
}

unsigned qp_case_width(qp_list values, unsigned least)
{
    unsigned width = least;
    for (size_t i = 0; i < values.count; i++)
        while (width < 8 && (values.values[i] < -QP_P(8 * width - 1) ||
                             values.values[i] > QP_P(8 * width - 1) - 1))
            width *= 2;
    return width;
}

static qp_kind kind_of(qp_list values, bool per_channel)
{
    if (values.count == 0)
        return QP_KIND_ABSENT;
    return values.count == 1 && !per_channel ? QP_KIND_ONE : QP_KIND_PER_CHANNEL;
}

void qp_case_rq_block(qp_corpus *c, const qp_case_rq *rq)
{
    qp_list shift = rq->shift.count > 0 ? rq->shift : QP_LIST(0);
    unsigned least = rq->wide ? 8 : 4;
    size_t channels = rq->bias.count > 1 ? rq->bias.count : shift.count;
    if (rq->mult.count > channels)
        channels = rq->mult.count;

    qp_rq_values values = {.round = rq->round,
                           .bias_place = rq->bias.count == 0 ? QP_BIAS_NONE : rq->place,
                           .mult_kind = kind_of(rq->mult, rq->per_channel),
                           .shift_kind = kind_of(shift, rq->per_channel),
                           .mult = rq->mult.values,
                           .shift = shift.values,
                           .bias = rq->bias.values,
                           .channels = channels};
    if (rq->mult.count > 0)
        values.mult_width = qp_case_width(rq->mult, least);
    if (rq->bias.count > 0)
        values.bias_width = qp_case_width(rq->bias, least);
    qp_writer_rq(&c->params, &values);
}

/* ---- bytes -------------------------------------------------------------------------------- */

void qp_case_patch(qp_corpus *c, int64_t offset, unsigned width, uint64_t value)
{
    if (room(c, c->n_patches, QP_CASE_PATCHES_MAX))
        c->patches[c->n_patches++] = (qp_case_change){offset, width, value};
}

void qp_case_resize(qp_corpus *c, int64_t more)
{
    c->resize += more;
}

void qp_case_truncate(qp_corpus *c, size_t size)
{
    c->truncate = size;
}

/* Bytes of a node's record up to its parameters. */
static int64_t head_bytes(const qp_case_node *node)
{
    return 4 + 4 * (int64_t)(node->n_in + node->n_out) + 4;
}

static int64_t node_at(const qp_corpus *c, int64_t start, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        start += head_bytes(&c->nodes[i]);
    return start + (int64_t)c->nodes[index].params_at;
}

int64_t qp_case_at(const qp_corpus *c, qp_table table, uint32_t record)
{
    int64_t scalars = QP_WHG1_HEADER_BYTES;
    int64_t inputs = scalars + (int64_t)c->n_scalars * QP_WHG1_SCALAR_BYTES;
    int64_t outputs = inputs + (int64_t)c->n_inputs * QP_WHG1_INPUT_BYTES;
    int64_t tensors = outputs + (int64_t)c->n_outputs * QP_WHG1_OUTPUT_BYTES;
    int64_t operators = tensors + (int64_t)c->n_tensors * QP_WHG1_TENSOR_BYTES;

    switch (table) {
    case QP_TABLE_SCALARS:
        return scalars + (int64_t)record * QP_WHG1_SCALAR_BYTES;
    case QP_TABLE_INPUTS:
        return inputs + (int64_t)record * QP_WHG1_INPUT_BYTES;
    case QP_TABLE_OUTPUTS:
        return outputs + (int64_t)record * QP_WHG1_OUTPUT_BYTES;
    case QP_TABLE_TENSORS:
        return tensors + (int64_t)record * QP_WHG1_TENSOR_BYTES;
    case QP_TABLE_OPERATORS:
        return node_at(c, operators, record);
    case QP_TABLE_PARAMETERS:
        return node_at(c, operators, record) + head_bytes(&c->nodes[record]);
    default:
        return 0;
    }
}

/* ---- decodes ------------------------------------------------------------------------------ */

void qp_case_decode(qp_corpus *c, qp_status want)
{
    if (room(c, c->n_runs, QP_CASE_DECODES_MAX))
        c->runs[c->n_runs++] = (qp_case_run){.want = want};
}

/* The decode being stated; NULL after a failure. */
static qp_case_run *current_run(qp_corpus *c)
{
    if (c->n_runs == 0)
        qp_case_fault(c, "something is given before any decode");
    return c->status == QP_OK ? &c->runs[c->n_runs - 1] : NULL;
}

static qp_case_given *next_given(qp_corpus *c, qp_shape shape)
{
    qp_case_run *run = current_run(c);
    if (run == NULL || !room(c, run->n_inputs, QP_CASE_INPUTS_MAX))
        return NULL;
    qp_case_given *given = &run->inputs[run->n_inputs++];
    *given = (qp_case_given){shape, c->values.size / sizeof(int64_t)};
    return given;
}

static void append_value(qp_corpus *c, int64_t value)
{
    qp_buffer_append(&c->values, &value, sizeof value);
}

void qp_case_give_shape(qp_corpus *c, qp_shape shape, qp_list values)
{
    if (next_given(c, shape) == NULL)
        return;
    for (uint64_t i = 0; i < qp_shape_elements(&shape); i++)
        append_value(c, values.values[i % values.count]);
}

void qp_case_give(qp_corpus *c, uint32_t channels, uint32_t height, qp_list values)
{
    size_t rows = (size_t)channels * height;
    if (values.count % rows != 0)
        qp_case_fault(c, "the values given do not fill rows");
    qp_case_give_shape(c, (qp_shape){channels, height, (uint32_t)(values.count / rows)}, values);
}

uint32_t qp_case_input_tensor(const qp_corpus *c, uint32_t input)
{
    for (uint32_t i = 0; i < c->n_inputs; i++)
        if (!c->inputs[i].state && input-- == 0)
            return c->inputs[i].tensor;
    return 0;
}

/* The record of data input `index`. */
static const qp_graph_tensor_record *data_tensor(const qp_corpus *c, uint32_t index)
{
    return &c->tensors[qp_case_input_tensor(c, index)];
}

void qp_case_give_random(qp_corpus *c, uint32_t height, uint32_t width)
{
    const qp_case_run *run = current_run(c);
    if (run == NULL)
        return;
    const qp_graph_tensor_record *record = data_tensor(c, run->n_inputs);
    qp_shape shape = {record->channels, height, width};
    if (next_given(c, shape) == NULL)
        return;
    for (uint64_t i = 0; i < qp_shape_elements(&shape); i++)
        append_value(c, qp_case_random(c, record->lo, record->hi));
}

void qp_case_give_scalar(qp_corpus *c, int64_t value)
{
    qp_case_run *run = current_run(c);
    if (run != NULL && room(c, run->n_scalars, QP_CASE_INPUTS_MAX))
        run->scalars[run->n_scalars++] = value;
}

/* A copy of the first decode, which is to give something else. */
static qp_case_run *repeat_first(qp_corpus *c, qp_status want)
{
    if (current_run(c) == NULL || !room(c, c->n_runs, QP_CASE_DECODES_MAX))
        return NULL;
    qp_case_run *run = &c->runs[c->n_runs++];
    *run = c->runs[0];
    run->want = want;
    return run;
}

void qp_case_decode_with(qp_corpus *c, qp_status want, uint32_t input, int64_t value)
{
    qp_case_run *run = repeat_first(c, want);
    if (run == NULL)
        return;
    qp_case_given *given = &run->inputs[input];
    size_t from = given->at;
    given->at = c->values.size / sizeof(int64_t);
    append_value(c, value);
    for (uint64_t i = 1; i < qp_shape_elements(&given->shape); i++) {
        int64_t copied = 0;
        if (!c->values.failed)
            memcpy(&copied, c->values.bytes + (from + i) * sizeof copied, sizeof copied);
        append_value(c, copied);
    }
}

void qp_case_decode_shape(qp_corpus *c, qp_status want, uint32_t input, qp_shape shape)
{
    qp_case_run *run = repeat_first(c, want);
    if (run == NULL)
        return;
    run->inputs[input] = (qp_case_given){shape, c->values.size / sizeof(int64_t)};
    for (uint64_t i = 0; i < qp_shape_elements(&shape); i++)
        append_value(c, data_tensor(c, input)->lo);
}

void qp_case_first_want(qp_corpus *c, qp_status want)
{
    c->runs[0].want = want;
}

void qp_case_forget_decodes(qp_corpus *c)
{
    c->n_runs = 0;
}

qp_shape qp_case_given_shape(const qp_corpus *c, uint32_t input)
{
    return c->runs[0].inputs[input].shape;
}

void qp_case_declare_given(qp_corpus *c)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->n_inputs; i++) {
        qp_shape shape = c->runs[0].inputs[c->inputs[i].state ? 0 : next++].shape;
        c->inputs[i].max_h = shape.height;
        c->inputs[i].max_w = shape.width;
    }
}

const qp_operator *qp_case_last_operator(const qp_corpus *c)
{
    return c->n_nodes == 0 ? qp_operators[0]
                           : qp_operator_by_opcode(c->nodes[c->n_nodes - 1].opcode);
}

size_t qp_case_params_size(const qp_corpus *c)
{
    return c->n_nodes == 0 ? 0 : c->params.size - c->nodes[c->n_nodes - 1].params_at;
}

uint32_t qp_case_input_count(const qp_corpus *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->n_inputs; i++)
        count += !c->inputs[i].state;
    return count;
}

uint32_t qp_case_output_tensor(const qp_corpus *c, uint32_t output)
{
    return c->outputs[output];
}

qp_range qp_case_tensor_range(const qp_corpus *c, uint32_t tensor)
{
    return (qp_range){c->tensors[tensor].lo, c->tensors[tensor].hi};
}
