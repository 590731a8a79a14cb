/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_golden.c - a graph of a model run on tokens as JSON Lines.
 */
#include "fabric/golden.h"

#define FIRINGS_DEFAULT UINT64_C(100000000)

int qp_fabric_has_float(void)
{
    return qp_fabric_floats != NULL;
}

/* What a call asks for. */
typedef struct request {
    const qp_fabric_model *model;
    const qp_fabric_graph *graph;
    const qp_fabric_text *tokens;
    uint64_t firings;
} request;

/* Reads, runs and writes; `arena` has what lives as long as the call. */
static qp_status answer(const request *r, qp_arena *arena, qp_buffer *buffer,
                        qp_fabric_error *error)
{
    const qp_fabric_graph *graph = r->graph;
    const qp_allocator *allocator = &arena->allocator;
    qp_fabric_stream *inputs = qp_arena_allocate(arena, graph->n_inputs, sizeof *inputs);
    qp_fabric_stream *outputs = qp_arena_allocate(arena, graph->n_outputs, sizeof *outputs);

    if (inputs == NULL || outputs == NULL)
        return qp_fabric_fail_memory(error, "the streams of a run");
    qp_status status = qp_fabric_read_tokens(r->model, graph, r->tokens, arena, inputs, error);
    if (status == QP_OK)
        status =
            qp_fabric_golden_run(r->model, graph, inputs, r->firings, allocator, outputs, error);
    if (status == QP_OK)
        qp_fabric_write_tokens(buffer, r->model, graph, outputs, false);
    for (uint32_t i = 0; i < graph->n_outputs; i++)
        qp_fabric_stream_free(&outputs[i], allocator);
    return status == QP_OK && buffer->failed ? qp_fabric_fail_memory(error, "lines of tokens")
                                             : status;
}

qp_status qp_fabric_golden(const qp_fabric_model *model, const char *graph,
                           const qp_fabric_text *tokens, uint64_t firings,
                           const qp_allocator *allocator, void **lines, size_t *size,
                           qp_fabric_error *error)
{
    const request r = {.model = model,
                       .graph = qp_fabric_find_graph(model, graph, error),
                       .tokens = tokens,
                       .firings = firings > 0 ? firings : FIRINGS_DEFAULT};
    qp_buffer buffer;
    qp_arena arena;

    *lines = NULL;
    *size = 0;
    if (r.graph == NULL)
        return QP_MALFORMED;
    qp_arena_init(&arena, allocator);
    qp_buffer_init(&buffer, allocator);
    qp_status status = answer(&r, &arena, &buffer, error);
    if (status == QP_OK && buffer.size > 0) {
        *lines = qp_buffer_take(&buffer, size);
        if (*lines == NULL)
            status = qp_fabric_fail_memory(error, "lines of tokens");
    }
    qp_buffer_free(&buffer);
    qp_arena_free(&arena);
    return status;
}
