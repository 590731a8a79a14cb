/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.c - a graph as JSON that people can read and edit (docs/graph-json.md). Everything that the
 * bytes hold and do not repeat is written, so that assemble.c makes the same bytes again.
 */
#include "graph/json_form.h"

/* An array of at most VALUES_TOGETHER values stands on one line; a longer one is broken into lines
 * of about VALUES_A_LINE values. */
enum { VALUES_TOGETHER = 32, VALUES_A_LINE = 16 };

typedef struct dump {
    const qp_graph *graph;
    qp_buffer *out;
    const qp_array_sink *sink; /* NULL: arrays stand in the JSON */
    uint32_t operator_index;
    qp_error *error;
} dump;

/* ---- small pieces ------------------------------------------------------------------------- */

static void put_word(const dump *d, const char *name, const qp_words *words, unsigned value)
{
    qp_buffer_format(d->out, "\"%s\": \"%s\"", name, words->words[value]);
}

static void put_i64(const dump *d, const char *name, int64_t value)
{
    qp_buffer_format(d->out, "\"%s\": ", name);
    qp_buffer_i64_decimal(d->out, value);
}

static void put_u64(const dump *d, const char *name, uint64_t value)
{
    qp_buffer_format(d->out, "\"%s\": ", name);
    qp_buffer_u64_decimal(d->out, value);
}

static void put_exponent(const dump *d, const char *name, int8_t exponent)
{
    if (exponent == QP_EXPONENT_NONE)
        qp_buffer_format(d->out, "\"%s\": null", name);
    else
        put_i64(d, name, exponent);
}

static void put_indices(const dump *d, const char *name, const uint32_t *indices, uint32_t count)
{
    qp_buffer_format(d->out, "\"%s\": [", name);
    for (uint32_t i = 0; i < count; i++) {
        qp_buffer_text(d->out, i == 0 ? "" : ", ");
        qp_buffer_u64_decimal(d->out, indices[i]);
    }
    qp_buffer_text(d->out, "]");
}

static void put_line(const dump *d, unsigned indent)
{
    qp_buffer_format(d->out, "\n%*s", (int)indent, "");
}

/* ---- arrays ------------------------------------------------------------------------------- */

/* An array on its way out: its dimensions, and the next value to write. */
typedef struct walk {
    const qp_integers *values;
    const uint64_t *dims;
    unsigned rank;
    size_t next;
} walk;

/* The values of one element at a depth: the product of the dimensions below it. It divides the
 * array's count, which is not 0, so it does not overflow. */
static size_t values_below(const walk *w, unsigned depth)
{
    size_t product = 1;
    for (unsigned i = depth + 1; i < w->rank; i++)
        product *= (size_t)w->dims[i];
    return product;
}

static void put_block(const dump *d, walk *w, unsigned depth, unsigned indent)
{
    if (depth == w->rank) {
        qp_buffer_i64_decimal(d->out, qp_integers_at(w->values, w->next++));
        return;
    }
    size_t each = values_below(w, depth);
    size_t elements_a_line = each <= VALUES_A_LINE ? VALUES_A_LINE / each : 1;
    bool broken = each > VALUES_TOGETHER || w->dims[depth] * each > VALUES_TOGETHER;

    qp_buffer_text(d->out, "[");
    for (uint64_t i = 0; i < w->dims[depth] && !d->out->failed; i++) {
        qp_buffer_text(d->out, i == 0 ? "" : ",");
        if (broken && i % elements_a_line == 0)
            put_line(d, indent + 2);
        else if (i > 0)
            qp_buffer_text(d->out, " ");
        put_block(d, w, depth + 1, indent + 2);
    }
    if (broken)
        put_line(d, indent);
    qp_buffer_text(d->out, "]");
}

static void put_array(const dump *d, const qp_integers *values, const uint64_t *dims, unsigned rank,
                      unsigned indent)
{
    walk w = {values, dims, rank, 0};
    put_block(d, &w, 0, indent);
}

/* Gives an array to the caller, and writes the name that it gives back. */
static qp_status put_array_beside(const dump *d, const qp_integers *values, qp_graph_array *array)
{
    char name[QP_ARRAY_NAME_SIZE] = "";
    const qp_allocator *allocator = &d->out->allocator;
    int64_t *wide = qp_allocate(allocator, values->count, sizeof *wide);
    if (wide == NULL)
        return qp_fail_memory(d->error, "an array of parameters");

    array->operator_index = d->operator_index;
    array->operator_name = d->graph->nodes[d->operator_index].op->name;
    array->width = values->width;
    array->count = values->count;
    for (size_t i = 0; i < values->count; i++)
        wide[i] = qp_integers_at(values, i);
    qp_status status = d->sink->store(d->sink->context, array, wide, name, d->error);
    qp_release(allocator, wide, values->count, sizeof *wide);
    if (status != QP_OK)
        return status;
    qp_buffer_text(d->out, "{\"file\": ");
    qp_buffer_json_string(d->out, name, strlen(name));
    qp_buffer_text(d->out, "}");
    return QP_OK;
}

/* ---- fields (section 10.4) ---------------------------------------------------------------- */

/* The values of one part of an RQ block: one, or an array of one a channel. */
static void put_rq_values(const dump *d, const char *name, const qp_integers *values, qp_kind kind)
{
    uint64_t dims[1] = {values->count};
    qp_buffer_format(d->out, ", \"%s\": ", name);
    if (kind == QP_KIND_ONE)
        qp_buffer_i64_decimal(d->out, qp_integers_at(values, 0));
    else
        put_array(d, values, dims, 1, 8);
}

static void put_rq(const dump *d, const qp_rq *rq)
{
    qp_integers shift = {rq->shift, rq->n_shifts, 1}; /* each is at most 127 */

    qp_buffer_text(d->out, "{");
    put_word(d, "round", &qp_words_round, rq->round);
    qp_buffer_text(d->out, ", ");
    put_word(d, "m_kind", &qp_words_kind, rq->mult_kind);
    if (rq->mult_kind != QP_KIND_ABSENT) {
        qp_buffer_format(d->out, ", \"m_bytes\": %u", rq->mult.width);
        put_rq_values(d, "mult", &rq->mult, rq->mult_kind);
    }
    qp_buffer_text(d->out, ", ");
    put_word(d, "s_kind", &qp_words_kind, rq->shift_kind);
    put_rq_values(d, "shift", &shift, rq->shift_kind);
    qp_buffer_text(d->out, ", ");
    put_word(d, "bias", &qp_words_bias, rq->bias_place);
    if (rq->bias_place != QP_BIAS_NONE) {
        qp_buffer_format(d->out, ", \"b_bytes\": %u", rq->bias.width);
        put_rq_values(d, "biases", &rq->bias, QP_KIND_PER_CHANNEL);
    }
    qp_buffer_text(d->out, "}");
}

static void put_operand(const dump *d, const char *name, const qp_operand *operand)
{
    if (operand->scalar)
        qp_buffer_format(d->out, "\"%s\": {\"scalar\": ", name);
    else
        qp_buffer_format(d->out, "\"%s\": ", name);
    qp_buffer_i64_decimal(d->out, operand->value);
    qp_buffer_text(d->out, operand->scalar ? "}" : "");
}

static void put_order(const dump *d, const char *name, const uint8_t order[4])
{
    uint32_t positions[4] = {order[0], order[1], order[2], order[3]};
    put_indices(d, name, positions, 4);
}

static qp_status put_integers(const dump *d, const qp_field *field, const void *params,
                              uint32_t in_channels)
{
    const qp_integers *values =
        (const qp_integers *)(const void *)((const char *)params + field->offset);
    qp_graph_array array = {.field = field->name};

    array.rank = field->dims(params, in_channels, array.dims);
    qp_buffer_format(d->out, "\"%s\": ", field->name);
    if (d->sink != NULL)
        return put_array_beside(d, values, &array);
    put_array(d, values, array.dims, array.rank, 6);
    return QP_OK;
}

static qp_status put_field(const dump *d, const qp_field *field, const void *params,
                           uint32_t in_channels)
{
    const void *at = (const char *)params + field->offset;

    switch (field->kind) {
    case QP_FIELD_U8:
    case QP_FIELD_WIDTH:
        put_u64(d, field->name, *(const uint8_t *)at);
        break;
    case QP_FIELD_U32:
        put_u64(d, field->name, *(const uint32_t *)at);
        break;
    case QP_FIELD_U64:
        put_u64(d, field->name, *(const uint64_t *)at);
        break;
    case QP_FIELD_I64:
        put_i64(d, field->name, *(const int64_t *)at);
        break;
    case QP_FIELD_EXPONENT:
        put_exponent(d, field->name, *(const int8_t *)at);
        break;
    case QP_FIELD_ROUND:
        put_word(d, field->name, &qp_words_round, *(const qp_round *)at);
        break;
    case QP_FIELD_ORDER:
        put_order(d, field->name, at);
        break;
    case QP_FIELD_OPERAND:
    case QP_FIELD_OPERAND64:
        put_operand(d, field->name, at);
        break;
    case QP_FIELD_RQ:
        qp_buffer_format(d->out, "\"%s\": ", field->name);
        put_rq(d, at);
        break;
    case QP_FIELD_INTEGERS:
        return put_integers(d, field, params, in_channels);
    case QP_FIELD_RESERVED:
        break;
    }
    return QP_OK;
}

/* What can be long begins a line of its own. */
static bool is_long(const qp_field *field)
{
    return field->kind == QP_FIELD_RQ || field->kind == QP_FIELD_INTEGERS;
}

static qp_status put_params(const dump *d, const qp_node *node)
{
    uint32_t in_channels = d->graph->tensors[node->in[0]].channels;
    const char *comma = "";

    qp_buffer_text(d->out, ", \"parameters\": {");
    for (uint32_t i = 0; i < node->op->n_fields; i++) {
        const qp_field *field = &node->op->fields[i];
        if (field->kind == QP_FIELD_RESERVED)
            continue;
        qp_buffer_text(d->out, comma);
        if (is_long(field))
            put_line(d, 6);
        else if (*comma != '\0')
            qp_buffer_text(d->out, " ");
        comma = ",";
        qp_status status = put_field(d, field, node->params, in_channels);
        if (status != QP_OK)
            return status;
    }
    qp_buffer_text(d->out, "}");
    return QP_OK;
}

/* ---- records (section 10.2) --------------------------------------------------------------- */

static void put_scalar(const dump *d, uint32_t index)
{
    qp_buffer_text(d->out, "{");
    put_i64(d, "lo", d->graph->scalars[index].lo);
    qp_buffer_text(d->out, ", ");
    put_i64(d, "hi", d->graph->scalars[index].hi);
    qp_buffer_text(d->out, "}");
}

static void put_side(const dump *d, const char *name, uint32_t side)
{
    qp_buffer_text(d->out, ", ");
    if (side == 0)
        qp_buffer_format(d->out, "\"%s\": null", name);
    else
        put_u64(d, name, side);
}

static void put_input(const dump *d, uint32_t index)
{
    const qp_graph_input_record *input = &d->graph->inputs[index];
    qp_buffer_text(d->out, "{");
    put_u64(d, "tensor", input->tensor);
    put_side(d, "max_h", input->max_h);
    put_side(d, "max_w", input->max_w);
    qp_buffer_text(d->out, ", ");
    put_word(d, "kind", &qp_words_input, input->state);
    if (input->state) {
        qp_buffer_text(d->out, ", ");
        put_u64(d, "src", input->src);
        qp_buffer_text(d->out, ", ");
        put_i64(d, "init", input->init);
    }
    qp_buffer_text(d->out, "}");
}

static void put_output(const dump *d, uint32_t index)
{
    qp_buffer_text(d->out, "{");
    put_u64(d, "tensor", d->graph->outputs[index]);
    qp_buffer_text(d->out, "}");
}

static void put_tensor(const dump *d, uint32_t index)
{
    const qp_graph_tensor_record *tensor = &d->graph->tensors[index];
    qp_buffer_text(d->out, "{");
    put_u64(d, "tensor", index);
    qp_buffer_text(d->out, ", ");
    put_u64(d, "channels", tensor->channels);
    qp_buffer_text(d->out, ", ");
    put_exponent(d, "exponent", tensor->exponent);
    qp_buffer_text(d->out, ", ");
    put_word(d, "policy", &qp_words_policy, tensor->policy);
    if (tensor->policy != QP_DERIVED) {
        qp_buffer_text(d->out, ", ");
        put_i64(d, "lo", tensor->lo);
        qp_buffer_text(d->out, ", ");
        put_i64(d, "hi", tensor->hi);
    }
    qp_buffer_text(d->out, "}");
}

static qp_status put_operator(dump *d, uint32_t index)
{
    const qp_node *node = &d->graph->nodes[index];
    qp_status status = QP_OK;

    d->operator_index = index;
    qp_buffer_format(d->out, "{\"op\": \"%s\", ", node->op->name);
    put_indices(d, "in", node->in, node->n_in);
    qp_buffer_text(d->out, ", ");
    put_indices(d, "out", node->out, node->n_out);
    if (node->op->n_fields > 0)
        status = put_params(d, node);
    qp_buffer_text(d->out, "}");
    return status;
}

typedef void put_record(const dump *d, uint32_t index);

static void put_table(const dump *d, const char *name, uint32_t count, put_record *put)
{
    qp_buffer_format(d->out, ",\n  \"%s\": [", name);
    for (uint32_t i = 0; i < count; i++) {
        qp_buffer_text(d->out, i == 0 ? "\n    " : ",\n    ");
        put(d, i);
    }
    qp_buffer_text(d->out, count == 0 ? "]" : "\n  ]");
}

static qp_status put_graph(dump *d)
{
    const qp_graph *graph = d->graph;

    qp_buffer_text(d->out, "{\n  \"format\": \"WHG1\",\n  \"version\": 1,\n"
                           "  \"operator_set\": 1,\n  ");
    put_u64(d, "max_elems", graph->max_elems);
    put_table(d, "scalars", graph->n_scalars, put_scalar);
    put_table(d, "inputs", graph->n_inputs, put_input);
    put_table(d, "outputs", graph->n_outputs, put_output);
    put_table(d, "tensors", graph->n_tensors, put_tensor);
    qp_buffer_text(d->out, ",\n  \"operators\": [");
    for (uint32_t i = 0; i < graph->n_nodes && !d->out->failed; i++) {
        qp_buffer_text(d->out, i == 0 ? "\n    " : ",\n    ");
        qp_status status = put_operator(d, i);
        if (status != QP_OK)
            return status;
    }
    qp_buffer_text(d->out, "\n  ]\n}\n");
    return QP_OK;
}

qp_status qp_graph_dump(const qp_graph *graph, const qp_array_sink *sink,
                        const qp_allocator *allocator, char **json, size_t *size, qp_error *error)
{
    qp_buffer out;
    dump d = {.graph = graph, .out = &out, .sink = sink, .error = error};

    *json = NULL;
    *size = 0;
    qp_buffer_init(&out, allocator);
    qp_status status = put_graph(&d);
    if (status != QP_OK) {
        qp_buffer_free(&out);
        return status;
    }
    *json = qp_buffer_take(&out, size);
    return *json == NULL ? qp_fail_memory(error, "a graph's JSON") : QP_OK;
}
