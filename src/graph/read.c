/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - the WHG1 header, tables and operator records (integer-operators.md 10.1, 10.2). */
#include "graph/graph.h"

static qp_status refuse(qp_error *error, qp_table table, int64_t record, size_t offset,
                        const char *sentence)
{
    qp_place place = {table, record, -1, (int64_t)offset};
    if (table == QP_TABLE_OPERATORS) {
        place.operator_index = record;
        place.record = -1;
    }
    return qp_fail_at(error, QP_MODEL_MISMATCH, place, "%s", sentence);
}

static bool all_zero(const uint8_t *bytes, size_t count)
{
    uint8_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= bytes[i];
    return any == 0;
}

/* ---- header (steps 1 to 3) ---------------------------------------------------------------- */

/* Offsets of the header's fields. */
enum {
    AT_VERSION = 4,
    AT_OPERATOR_SET = 5,
    AT_RESERVED_A = 6,
    AT_TENSORS = 8,
    AT_OPERATORS = 12,
    AT_INPUTS = 16,
    AT_OUTPUTS = 18,
    AT_SCALARS = 20,
    AT_RESERVED_B = 22,
    AT_MAX_ELEMS = 24,
    AT_RESERVED_C = 28
};

static qp_status check_signature(const qp_graph *graph, qp_error *error)
{
    const uint8_t *b = graph->bytes;

    if (graph->size < QP_WHG1_HEADER_BYTES)
        return refuse(error, QP_TABLE_HEADER, -1, graph->size, "the file is shorter than a header");
    if (memcmp(b, "WHG1", 4) != 0)
        return refuse(error, QP_TABLE_HEADER, -1, 0, "the magic is not WHG1");
    if (b[AT_VERSION] != 1)
        return refuse(error, QP_TABLE_HEADER, -1, AT_VERSION, "the version is not 1");
    if (b[AT_OPERATOR_SET] != 1)
        return refuse(error, QP_TABLE_HEADER, -1, AT_OPERATOR_SET,
                      "the operator set is not 1 (wai-ops/1)");
    static const struct {
        size_t at, count;
    } reserved[] = {{AT_RESERVED_A, 2}, {AT_RESERVED_B, 2}, {AT_RESERVED_C, 4}};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!all_zero(b + reserved[i].at, reserved[i].count))
            return refuse(error, QP_TABLE_HEADER, -1, reserved[i].at, "a reserved field is not 0");
    return QP_OK;
}

/* The bytes that the counts need at least; every product is below 2^37. */
static uint64_t least_size(const qp_graph *graph)
{
    return QP_WHG1_HEADER_BYTES + (uint64_t)graph->n_scalars * QP_WHG1_SCALAR_BYTES +
           (uint64_t)graph->n_inputs * QP_WHG1_INPUT_BYTES +
           (uint64_t)graph->n_outputs * QP_WHG1_OUTPUT_BYTES +
           (uint64_t)graph->n_tensors * QP_WHG1_TENSOR_BYTES +
           (uint64_t)graph->n_nodes * QP_WHG1_OPERATOR_BYTES_MIN;
}

qp_status qp_graph_read_header(qp_graph *graph, qp_error *error)
{
    const uint8_t *b = graph->bytes;
    qp_status status = check_signature(graph, error);
    if (status != QP_OK)
        return status;

    graph->n_tensors = qp_load_u32(b + AT_TENSORS);
    graph->n_nodes = qp_load_u32(b + AT_OPERATORS);
    graph->n_inputs = qp_load_u16(b + AT_INPUTS);
    graph->n_outputs = qp_load_u16(b + AT_OUTPUTS);
    graph->n_scalars = qp_load_u16(b + AT_SCALARS);
    graph->max_elems = qp_load_u32(b + AT_MAX_ELEMS);

    if (graph->n_tensors == 0)
        return refuse(error, QP_TABLE_HEADER, -1, AT_TENSORS, "the graph has no tensors");
    if (graph->n_nodes == 0)
        return refuse(error, QP_TABLE_HEADER, -1, AT_OPERATORS, "the graph has no operators");
    if (graph->n_inputs == 0)
        return refuse(error, QP_TABLE_HEADER, -1, AT_INPUTS, "the graph has no inputs");
    if (graph->n_outputs == 0)
        return refuse(error, QP_TABLE_HEADER, -1, AT_OUTPUTS, "the graph has no outputs");
    if (graph->max_elems == 0 || graph->max_elems > QP_ELEMENTS_MAX)
        return refuse(error, QP_TABLE_HEADER, -1, AT_MAX_ELEMS, "max_elems is not in 1..2^26");
    if (least_size(graph) > graph->size)
        return refuse(error, QP_TABLE_HEADER, -1, AT_TENSORS,
                      "the counts need more bytes than the file holds");
    return QP_OK;
}

/* ---- tables (step 4) ---------------------------------------------------------------------- */

static const char *read_scalar(const uint8_t *b, qp_range *range)
{
    *range = (qp_range){qp_load_i64(b), qp_load_i64(b + 8)};
    return range->lo <= range->hi ? NULL : "the scalar's lo is above its hi";
}

static const char *read_input(const qp_graph *graph, const uint8_t *b, qp_graph_input_record *input)
{
    input->tensor = qp_load_u32(b);
    input->max_h = qp_load_u32(b + 4);
    input->max_w = qp_load_u32(b + 8);
    input->state = b[12] == 1;
    input->src = qp_load_u32(b + 16);
    input->init = qp_load_i64(b + 24);

    if (input->tensor >= graph->n_tensors)
        return "the input names a tensor that the graph does not have";
    if ((input->max_h == 0) != (input->max_w == 0))
        return "one of max_h and max_w is 0 and the other is not";
    if (b[12] > 1)
        return "the input's kind is neither 0 (data) nor 1 (state)";
    if (!all_zero(b + 13, 3) || !all_zero(b + 20, 4))
        return "a reserved field is not 0";
    if (!input->state && (input->src != 0 || input->init != 0))
        return "a data input's src or init is not 0";
    return NULL;
}

static const char *read_tensor(const uint8_t *b, qp_graph_tensor_record *tensor)
{
    uint8_t policy = b[5];
    tensor->channels = qp_load_u32(b);
    tensor->exponent = qp_to_i8(b[4]);
    tensor->lo = qp_load_i64(b + 8);
    tensor->hi = qp_load_i64(b + 16);

    if (tensor->channels == 0)
        return "the tensor has no channels";
    if (policy > QP_CHECK)
        return "the policy is not 0 (derived), 1 (clamp) or 2 (check)";
    tensor->policy = (qp_policy)policy;
    if (!all_zero(b + 6, 2))
        return "a reserved field is not 0";
    if (policy == QP_DERIVED && (tensor->lo != 0 || tensor->hi != 0))
        return "a derived tensor's lo or hi is not 0";
    if (tensor->lo > tensor->hi)
        return "the tensor's lo is above its hi";
    return NULL;
}

static qp_status allocate_tables(qp_graph *graph, qp_error *error)
{
    qp_arena *arena = &graph->arena;
    graph->scalars = qp_arena_allocate(arena, graph->n_scalars, sizeof *graph->scalars);
    graph->inputs = qp_arena_allocate(arena, graph->n_inputs, sizeof *graph->inputs);
    graph->outputs = qp_arena_allocate(arena, graph->n_outputs, sizeof *graph->outputs);
    graph->tensors = qp_arena_allocate(arena, graph->n_tensors, sizeof *graph->tensors);
    graph->nodes = qp_arena_allocate(arena, graph->n_nodes, sizeof *graph->nodes);
    graph->origins = qp_arena_allocate(arena, graph->n_tensors, sizeof *graph->origins);
    if (graph->scalars == NULL || graph->inputs == NULL || graph->outputs == NULL ||
        graph->tensors == NULL || graph->nodes == NULL || graph->origins == NULL)
        return qp_fail_memory(error, "the graph's tables");
    return QP_OK;
}

static qp_status read_inputs(qp_graph *graph, size_t *at, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_inputs; i++, *at += QP_WHG1_INPUT_BYTES) {
        const char *why = read_input(graph, graph->bytes + *at, &graph->inputs[i]);
        if (why == NULL && (graph->inputs[i].max_h != 0) != (graph->inputs[0].max_h != 0))
            why = "some inputs declare their sizes and some do not";
        if (why != NULL)
            return refuse(error, QP_TABLE_INPUTS, i, *at, why);
    }
    graph->sized = graph->inputs[0].max_h != 0;
    return QP_OK;
}

qp_status qp_graph_read_tables(qp_graph *graph, qp_error *error)
{
    size_t at = QP_WHG1_HEADER_BYTES;
    qp_status status = allocate_tables(graph, error);
    if (status != QP_OK)
        return status;

    for (uint32_t i = 0; i < graph->n_scalars; i++, at += QP_WHG1_SCALAR_BYTES) {
        const char *why = read_scalar(graph->bytes + at, &graph->scalars[i]);
        if (why != NULL)
            return refuse(error, QP_TABLE_SCALARS, i, at, why);
    }
    status = read_inputs(graph, &at, error);
    if (status != QP_OK)
        return status;
    for (uint32_t i = 0; i < graph->n_outputs; i++, at += QP_WHG1_OUTPUT_BYTES) {
        graph->outputs[i] = qp_load_u32(graph->bytes + at);
        if (graph->outputs[i] >= graph->n_tensors)
            return refuse(error, QP_TABLE_OUTPUTS, i, at,
                          "the output names a tensor that the graph does not have");
    }
    for (uint32_t i = 0; i < graph->n_tensors; i++, at += QP_WHG1_TENSOR_BYTES) {
        const char *why = read_tensor(graph->bytes + at, &graph->tensors[i]);
        if (why != NULL)
            return refuse(error, QP_TABLE_TENSORS, i, at, why);
    }
    return QP_OK;
}

/* ---- operators (step 5) ------------------------------------------------------------------- */

static bool arity_fits(const qp_operator *op, unsigned n_in, unsigned n_out)
{
    bool inputs_fit = op->more_inputs ? n_in >= op->n_in : n_in == op->n_in;
    return inputs_fit && n_out == op->n_out;
}

/* The tensor indices of one operator, in the graph's own memory. */
static qp_status read_indices(qp_graph *graph, uint32_t index, qp_node *node, size_t *at,
                              qp_error *error)
{
    uint32_t total = node->n_in + node->n_out;
    if (graph->size - *at < (size_t)total * 4 + 4)
        return refuse(error, QP_TABLE_OPERATORS, index, *at, "the record passes the file's end");
    uint32_t *indices = qp_arena_allocate(&graph->arena, total, sizeof *indices);
    if (indices == NULL)
        return qp_fail_memory(error, "an operator's tensors");
    for (uint32_t k = 0; k < total; k++, *at += 4) {
        indices[k] = qp_load_u32(graph->bytes + *at);
        if (indices[k] >= graph->n_tensors)
            return refuse(error, QP_TABLE_OPERATORS, index, *at,
                          "the operator names a tensor that the graph does not have");
    }
    node->in = indices;
    node->out = indices + node->n_in;
    return QP_OK;
}

static qp_status read_operator(qp_graph *graph, uint32_t index, size_t *at, qp_error *error)
{
    qp_node *node = &graph->nodes[index];
    const uint8_t *b = graph->bytes + *at;

    node->offset = *at;
    if (graph->size - *at < 4)
        return refuse(error, QP_TABLE_OPERATORS, index, *at, "the record passes the file's end");
    node->op = qp_operator_by_opcode(b[0]);
    if (node->op == NULL)
        return refuse(error, QP_TABLE_OPERATORS, index, *at, "the opcode is unknown");
    node->n_in = b[1];
    node->n_out = b[2];
    if (!arity_fits(node->op, b[1], b[2]))
        return refuse(error, QP_TABLE_OPERATORS, index, *at + 1,
                      "the operator does not take that many inputs or outputs");
    if (b[3] != 0)
        return refuse(error, QP_TABLE_OPERATORS, index, *at + 3, "a reserved field is not 0");
    *at += 4;

    qp_status status = read_indices(graph, index, node, at, error);
    if (status != QP_OK)
        return status;
    node->params_bytes = qp_load_u32(graph->bytes + *at);
    *at += 4;
    node->params_offset = *at;
    if (graph->size - *at < node->params_bytes)
        return refuse(error, QP_TABLE_OPERATORS, index, *at - 4,
                      "the parameters pass the file's end");
    *at += node->params_bytes;
    return qp_graph_read_params(graph, index, node, error);
}

qp_status qp_graph_read_operators(qp_graph *graph, qp_error *error)
{
    size_t at = (size_t)(least_size(graph) - (uint64_t)graph->n_nodes * QP_WHG1_OPERATOR_BYTES_MIN);

    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        qp_status status = read_operator(graph, i, &at, error);
        if (status != QP_OK)
            return status;
    }
    if (at != graph->size)
        return refuse(error, QP_TABLE_NONE, -1, at, "bytes follow the last operator");
    return QP_OK;
}
