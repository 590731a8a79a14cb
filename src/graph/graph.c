/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - loading a graph, and looking at one. */
#include "graph/graph.h"

static qp_status load(qp_graph *graph, qp_error *error)
{
    static qp_status (*const steps[])(qp_graph *, qp_error *) = {
        qp_graph_read_header, qp_graph_read_tables, qp_graph_read_operators,
        qp_graph_check_rules, qp_graph_plan_load,
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        qp_status status = steps[i](graph, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

static qp_graph *new_graph(const qp_allocator *allocator)
{
    qp_graph *graph = qp_allocate(allocator, 1, sizeof *graph);
    if (graph != NULL)
        qp_arena_init(&graph->arena, allocator);
    return graph;
}

qp_status qp_graph_load(const void *bytes, size_t size, const qp_allocator *allocator,
                        qp_graph **graph, qp_error *error)
{
    *graph = NULL;
    if (bytes == NULL && size > 0)
        return qp_fail(error, QP_INVALID_ARGUMENT, "no bytes are given");
    qp_graph *made = new_graph(allocator);
    if (made == NULL)
        return qp_fail_memory(error, "a graph");
    made->bytes = bytes;
    made->size = size;
    qp_status status = load(made, error);
    if (status == QP_OK)
        *graph = made;
    else
        qp_graph_free(made);
    return status;
}

qp_status qp_graph_open(const char *path, const qp_allocator *allocator, qp_graph **graph,
                        qp_error *error)
{
    qp_file file;
    *graph = NULL;
    qp_status status = qp_file_open(path, allocator, &file, error);
    if (status != QP_OK)
        return status;
    status = qp_graph_load(file.bytes, file.size, allocator, graph, error);
    if (status == QP_OK)
        (*graph)->file = file;
    else
        qp_file_close(&file);
    return status;
}

void qp_graph_free(qp_graph *graph)
{
    if (graph == NULL)
        return;
    qp_allocator allocator = graph->arena.allocator;
    if (graph->file.bytes != NULL)
        qp_file_close(&graph->file);
    qp_arena_free(&graph->arena);
    qp_release(&allocator, graph, 1, sizeof *graph);
}

qp_graph_info qp_graph_describe(const qp_graph *graph)
{
    return (qp_graph_info){
        .n_scalars = graph->n_scalars,
        .n_inputs = graph->n_inputs,
        .n_outputs = graph->n_outputs,
        .n_tensors = graph->n_tensors,
        .n_operators = graph->n_nodes,
        .max_elems = graph->max_elems,
        .sized = graph->sized,
        .bytes = graph->size,
    };
}

void qp_graph_digest(const qp_graph *graph, char text[65])
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, graph->bytes, graph->size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
}

qp_input_info qp_graph_input(const qp_graph *graph, uint32_t index)
{
    const qp_graph_input_record *input = &graph->inputs[index];
    return (qp_input_info){input->tensor, input->max_h, input->max_w,
                           input->state,  input->src,   input->init};
}

uint32_t qp_graph_output(const qp_graph *graph, uint32_t index)
{
    return graph->outputs[index];
}

qp_tensor_info qp_graph_tensor(const qp_graph *graph, uint32_t index)
{
    const qp_graph_tensor_record *tensor = &graph->tensors[index];
    return (qp_tensor_info){tensor->channels, tensor->exponent, qp_policy_name(tensor->policy),
                            tensor->lo, tensor->hi};
}

qp_operator_info qp_graph_operator(const qp_graph *graph, uint32_t index)
{
    const qp_node *node = &graph->nodes[index];
    return (qp_operator_info){
        .name = node->op->name,
        .opcode = node->op->opcode,
        .n_in = node->n_in,
        .n_out = node->n_out,
        .in = node->in,
        .out = node->out,
        .parameter_offset = node->params_offset,
        .parameter_bytes = node->params_bytes,
    };
}

void qp_graph_scalar(const qp_graph *graph, uint32_t index, int64_t *lo, int64_t *hi)
{
    *lo = graph->scalars[index].lo;
    *hi = graph->scalars[index].hi;
}
