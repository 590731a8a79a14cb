/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assemble.c - a graph's bytes from its JSON (docs/graph-json.md). Every value is checked against
 * its field's range before it is written; whether the whole is a graph, qp_graph_load says.
 */
#include "graph/json_form.h"

#include <inttypes.h>

/* ---- operators ---------------------------------------------------------------------------- */

static qp_status get_operator(const qp_assembly *a, qp_json_value record, const qp_operator **op)
{
    char name[32];
    qp_json_value value;
    qp_status status = qp_form_member(a, record, "op", &value);
    if (status == QP_OK)
        status = qp_json_copy_string(value, name, sizeof name, a->error);
    if (status != QP_OK)
        return status;
    *op = qp_operator_by_name(name, strlen(name));
    if (*op == NULL)
        return qp_json_fail(value, a->error, "there is no operator \"%s\"", name);
    return QP_OK;
}

/* The tensors on one side of an operator, at least `least` and at most `most`. */
typedef struct side {
    const char *name;
    uint32_t least, most;
    uint32_t tensors[QP_INPUTS_MAX];
    uint32_t count;
} side;

static qp_status get_side(const qp_assembly *a, qp_json_value record, side *s)
{
    qp_json_value list, element;
    qp_status status = qp_json_member(record, s->name, QP_JSON_ARRAY, &list, a->error);
    qp_json_iterator iterator;
    if (status != QP_OK)
        return status;
    iterator = qp_json_iterate(list);
    for (s->count = 0; qp_json_next(&iterator, &element); s->count++) {
        uint64_t tensor = 0;
        if (s->count == s->most)
            return qp_json_fail(element, a->error, "the operator takes no more than %u tensors",
                                (unsigned)s->most);
        status = qp_form_unsigned(a, element, (qp_unsigned_range){0, a->n_tensors - 1}, &tensor);
        if (status != QP_OK)
            return status;
        s->tensors[s->count] = (uint32_t)tensor;
    }
    if (s->count < s->least)
        return qp_json_fail(list, a->error, "the operator takes at least %u tensors",
                            (unsigned)s->least);
    return QP_OK;
}

/* The channels of a tensor, from its record as written. */
static uint32_t channels_of(const qp_assembly *a, uint32_t tensor)
{
    return qp_load_u32(a->writer.tensors.bytes + (size_t)tensor * QP_WHG1_TENSOR_BYTES);
}

static qp_status append_params(qp_assembly *a, const qp_operator *op, qp_json_value record)
{
    const qp_allocator *allocator = &a->writer.operators.allocator;
    qp_json_value object;
    qp_status status = qp_json_member(record, "parameters", QP_JSON_OBJECT, &object, a->error);
    if (status != QP_OK)
        return status;
    a->params = qp_allocate(allocator, 1, op->params_size);
    if (a->params == NULL)
        return qp_fail_memory(a->error, "an operator's parameters");
    status = qp_assemble_fields(a, op, object);
    qp_release(allocator, a->params, 1, op->params_size);
    a->params = NULL;
    return status;
}

static qp_status append_operator(qp_assembly *a, qp_json_value record)
{
    qp_names known = {{"op", "in", "out", "parameters"}, 4};
    const qp_operator *op = NULL;
    qp_status status = qp_json_expect(record, QP_JSON_OBJECT, a->error);
    if (status == QP_OK)
        status = get_operator(a, record, &op);
    if (status != QP_OK)
        return status;
    known.count -= op->n_fields == 0;
    side in = {.name = "in", .least = op->n_in, .most = op->more_inputs ? QP_INPUTS_MAX : op->n_in};
    side out = {.name = "out", .least = op->n_out, .most = op->n_out};
    status = qp_form_members(a, record, &known);
    if (status == QP_OK)
        status = get_side(a, record, &in);
    if (status == QP_OK)
        status = get_side(a, record, &out);
    if (status != QP_OK)
        return status;

    a->out = qp_writer_begin_operator(&a->writer, op->opcode, in.tensors, in.count, out.tensors,
                                      out.count);
    a->in_channels = channels_of(a, in.tensors[0]);
    if (op->n_fields > 0)
        status = append_params(a, op, record);
    qp_writer_end_operator(&a->writer);
    return status;
}

/* ---- tables (section 10.2) ---------------------------------------------------------------- */

static qp_status append_scalar(qp_assembly *a, qp_json_value record)
{
    static const qp_names known = {{"lo", "hi"}, 2};
    int64_t lo = 0, hi = 0;
    qp_status status = qp_form_members(a, record, &known);
    if (status == QP_OK)
        status = qp_form_member_i64(a, record, "lo", &lo);
    if (status == QP_OK)
        status = qp_form_member_i64(a, record, "hi", &hi);
    if (status == QP_OK)
        qp_writer_scalar(&a->writer, lo, hi);
    return status;
}

/* A declared side of an input, or null for none. */
static qp_status member_extent(const qp_assembly *a, qp_json_value record, const char *name,
                               uint32_t *extent)
{
    qp_json_value value;
    qp_status status = qp_form_member(a, record, name, &value);
    *extent = 0;
    return status != QP_OK || qp_json_is_null(value) ? status : qp_form_u32(a, value, 1, extent);
}

static qp_status append_input(qp_assembly *a, qp_json_value record)
{
    qp_names known = {{"tensor", "max_h", "max_w", "kind", "src", "init"}, 6};
    qp_graph_input_record input = {0};
    unsigned kind = 0;
    qp_status status = qp_form_member_word(a, record, "kind", &qp_words_input, &kind);
    if (status != QP_OK)
        return status;
    input.state = kind == 1;
    known.count -= input.state ? 0 : 2;
    status = qp_form_members(a, record, &known);
    if (status == QP_OK)
        status = qp_form_member_u32(a, record, "tensor", 0, &input.tensor);
    if (status == QP_OK)
        status = member_extent(a, record, "max_h", &input.max_h);
    if (status == QP_OK)
        status = member_extent(a, record, "max_w", &input.max_w);
    if (status == QP_OK && input.state)
        status = qp_form_member_u32(a, record, "src", 0, &input.src);
    if (status == QP_OK && input.state)
        status = qp_form_member_i64(a, record, "init", &input.init);
    if (status == QP_OK)
        qp_writer_input(&a->writer, &input);
    return status;
}

static qp_status append_output(qp_assembly *a, qp_json_value record)
{
    static const qp_names known = {{"tensor"}, 1};
    uint32_t tensor = 0;
    qp_status status = qp_form_members(a, record, &known);
    if (status == QP_OK)
        status = qp_form_member_u32(a, record, "tensor", 0, &tensor);
    if (status == QP_OK)
        qp_writer_output(&a->writer, tensor);
    return status;
}

/* A tensor's number, which readers of the JSON need and which must be its place. */
static qp_status check_number(const qp_assembly *a, qp_json_value record)
{
    uint32_t number = 0;
    qp_json_value value;
    qp_status status = qp_form_member(a, record, "tensor", &value);
    if (status == QP_OK)
        status = qp_form_u32(a, value, 0, &number);
    if (status == QP_OK && number != a->writer.n_tensors)
        return qp_json_fail(value, a->error,
                            "tensor %" PRIu32 " stands at the place of tensor %" PRIu64, number,
                            a->writer.n_tensors);
    return status;
}

static qp_status append_tensor(qp_assembly *a, qp_json_value record)
{
    qp_names known = {{"tensor", "channels", "exponent", "policy", "lo", "hi"}, 6};
    qp_graph_tensor_record tensor = {0};
    unsigned policy = 0;
    qp_json_value exponent;
    qp_status status = qp_form_member_word(a, record, "policy", &qp_words_policy, &policy);
    if (status != QP_OK)
        return status;
    tensor.policy = (qp_policy)policy;
    known.count -= policy == QP_DERIVED ? 2 : 0;
    status = qp_form_members(a, record, &known);
    if (status == QP_OK)
        status = check_number(a, record);
    if (status == QP_OK)
        status = qp_form_member_u32(a, record, "channels", 1, &tensor.channels);
    if (status == QP_OK)
        status = qp_form_member(a, record, "exponent", &exponent);
    if (status == QP_OK)
        status = qp_form_exponent(a, exponent, &tensor.exponent);
    if (status == QP_OK && policy != QP_DERIVED)
        status = qp_form_member_i64(a, record, "lo", &tensor.lo);
    if (status == QP_OK && policy != QP_DERIVED)
        status = qp_form_member_i64(a, record, "hi", &tensor.hi);
    if (status == QP_OK)
        qp_writer_tensor(&a->writer, &tensor);
    return status;
}

typedef qp_status append_record(qp_assembly *a, qp_json_value record);

static qp_status append_table(qp_assembly *a, qp_json_value root, const char *name,
                              append_record *append)
{
    qp_json_value table, record;
    qp_status status = qp_json_member(root, name, QP_JSON_ARRAY, &table, a->error);
    if (status != QP_OK)
        return status;
    qp_json_iterator iterator = qp_json_iterate(table);
    while (status == QP_OK && qp_json_next(&iterator, &record))
        status = append(a, record);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static qp_status check_form(const qp_assembly *a, qp_json_value root)
{
    static const char *const only[] = {"WHG1"};
    static const qp_words format = {only, 1};
    static const char *const ones[] = {"version", "operator_set"};
    unsigned word = 0;
    qp_status status = qp_form_member_word(a, root, "format", &format, &word);
    for (unsigned i = 0; i < 2 && status == QP_OK; i++) {
        uint64_t number = 0;
        qp_json_value value;
        status = qp_form_member(a, root, ones[i], &value);
        if (status == QP_OK)
            status = qp_form_unsigned(a, value, (qp_unsigned_range){1, 1}, &number);
    }
    return status;
}

static qp_status append_tables(qp_assembly *a, qp_json_value root)
{
    static const struct {
        const char *name;
        append_record *append;
    } tables[] = {{"scalars", append_scalar},
                  {"inputs", append_input},
                  {"outputs", append_output},
                  {"tensors", append_tensor}};
    for (size_t i = 0; i < QP_COUNT(tables); i++) {
        qp_status status = append_table(a, root, tables[i].name, tables[i].append);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

static qp_status append_operators(qp_assembly *a, qp_json_value root)
{
    qp_json_value table;
    if (a->writer.tensors.failed)
        return qp_fail_memory(a->error, "a graph's tensors");
    a->n_tensors = a->writer.n_tensors;
    qp_status status = qp_form_member(a, root, "tensors", &table);
    if (status == QP_OK && a->n_tensors == 0)
        return qp_json_fail(table, a->error, "the graph has no tensors");
    return status == QP_OK ? append_table(a, root, "operators", append_operator) : status;
}

/* The record of a table that a load refusal names, or the nearest value around it. */
static qp_json_value find_record(qp_json_value root, const qp_error *cause)
{
    bool is_operator = cause->operator_index >= 0;
    int64_t index = is_operator ? cause->operator_index : cause->record;
    qp_json_value table, record;
    if (!qp_json_find(root, is_operator ? "operators" : qp_table_name(cause->table), &table))
        return root;
    qp_json_iterator iterator = qp_json_iterate(table);
    while (index >= 0 && qp_json_next(&iterator, &record))
        if (index-- == 0)
            return record;
    return table;
}

/* A refusal of the whole, with the place in the JSON that it is about. */
static qp_status refuse_whole(const qp_assembly *a, qp_json_value root, const qp_error *cause)
{
    if (cause->status == QP_NO_MEMORY)
        return qp_fail_memory(a->error, "a graph");
    return qp_form_fail(find_record(root, cause), cause, a->error);
}

/* The graph's bytes, which are loaded once. */
static qp_status finish(const qp_assembly *a, qp_json_value root, uint32_t max_elems,
                        qp_buffer *bytes)
{
    qp_graph *graph = NULL;
    qp_error cause = {.status = QP_INTERNAL, .operator_index = -1, .record = -1, .offset = -1};
    qp_status status = qp_graph_writer_finish(&a->writer, max_elems, bytes, &cause);
    if (status == QP_OK)
        status = qp_graph_load(bytes->bytes, bytes->size, &bytes->allocator, &graph, &cause);
    qp_graph_free(graph);
    return status == QP_OK ? QP_OK : refuse_whole(a, root, &cause);
}

static qp_status assemble(qp_assembly *a, qp_json_value root, qp_buffer *bytes)
{
    static const qp_names known = {{"format", "version", "operator_set", "max_elems", "scalars",
                                    "inputs", "outputs", "tensors", "operators"},
                                   9};
    uint32_t max_elems = 0;
    qp_status status = qp_form_members(a, root, &known);
    if (status == QP_OK)
        status = check_form(a, root);
    if (status == QP_OK)
        status = qp_form_member_u32(a, root, "max_elems", 1, &max_elems);
    if (status == QP_OK)
        status = append_tables(a, root);
    if (status == QP_OK)
        status = append_operators(a, root);
    return status == QP_OK ? finish(a, root, max_elems, bytes) : status;
}

qp_status qp_graph_assemble(const qp_graph_json *json, const qp_allocator *allocator, void **bytes,
                            size_t *size, qp_error *error)
{
    qp_assembly a = {.arrays = json->arrays, .error = error};
    qp_json reader;
    qp_buffer out;

    *bytes = NULL;
    *size = 0;
    qp_json_init(&reader, allocator);
    qp_buffer_init(&out, allocator);
    qp_graph_writer_init(&a.writer, allocator);
    qp_status status = qp_json_parse(&reader, json->text, json->size, error);
    if (status == QP_OK)
        status = assemble(&a, qp_json_root(&reader), &out);
    qp_graph_writer_free(&a.writer);
    qp_json_free(&reader);
    if (status == QP_OK) {
        *bytes = qp_buffer_take(&out, size);
        if (*bytes == NULL)
            status = qp_fail_memory(error, "a graph's bytes");
    }
    qp_buffer_free(&out);
    return status;
}
