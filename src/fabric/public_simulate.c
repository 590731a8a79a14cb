/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_simulate.c - a map of a model run cycle by cycle, tokens and stalls as JSON Lines.
 */
#include "fabric/simulate.h"

#define CYCLES_DEFAULT UINT64_C(1000000)

/* What a call reads and makes; the arena has all but the simulation. */
typedef struct call {
    const qp_fabric_model *model;
    const qp_fabric_map_item *map;
    const qp_fabric_streams *streams;
    const qp_fabric_run_options *options;
    qp_arena arena;
    qp_fabric_sealed sealed;
    qp_fabric_verified verified;
    qp_fabric_simulation *simulation;
    qp_fabric_error *error;
} call;

static qp_status verify(call *c)
{
    const qp_fabric_fabric *fabric = &c->model->fabrics[c->map->fabric];
    qp_status status = qp_fabric_seal_fabric(c->model, fabric, &c->arena, &c->sealed, c->error);

    if (status == QP_OK)
        status = qp_fabric_verify(&c->sealed, c->map, &c->arena, &c->verified, c->error);
    return status;
}

static qp_status read_script(call *c, qp_fabric_script *script)
{
    const qp_fabric_graph *graph = c->verified.graph;
    const size_t ports = (size_t)graph->n_inputs + graph->n_outputs;
    qp_fabric_stream *inputs = qp_arena_allocate(&c->arena, graph->n_inputs, sizeof *inputs);
    qp_fabric_stall *stalls = qp_arena_allocate(&c->arena, ports, sizeof *stalls);

    if (inputs == NULL || stalls == NULL)
        return qp_fabric_fail_memory(c->error, "the streams of a run");
    qp_status status =
        qp_fabric_read_tokens(c->model, graph, &c->streams->tokens, &c->arena, inputs, c->error);
    if (status == QP_OK)
        status = qp_fabric_read_stalls(c->model, graph, &c->streams->stalls, &c->arena, stalls,
                                       c->error);
    if (status == QP_OK && c->options->stall_seed != 0)
        status = qp_fabric_seed_stalls(graph, c->options->stall_seed, stalls, &c->arena, stalls,
                                       c->error);
    script->inputs = inputs;
    script->stalls = stalls;
    script->resets = c->options->resets;
    script->reset_count = c->options->reset_count;
    script->observer = c->options->observer;
    return status;
}

static qp_status run(call *c, const qp_allocator *allocator)
{
    const uint64_t cycles = c->options->cycles > 0 ? c->options->cycles : CYCLES_DEFAULT;
    qp_fabric_script script;
    qp_status status = verify(c);

    if (status == QP_OK)
        status = read_script(c, &script);
    if (status == QP_OK)
        status =
            qp_fabric_simulation_make(&c->verified, &script, allocator, &c->simulation, c->error);
    if (status == QP_OK)
        status = qp_fabric_simulation_run(c->simulation, cycles, c->error);
    return status;
}

static qp_status write_lines(call *c, const qp_allocator *allocator, void **lines, size_t *size)
{
    qp_status status = QP_OK;
    qp_buffer buffer;

    qp_buffer_init(&buffer, allocator);
    qp_fabric_write_tokens(&buffer, c->model, c->verified.graph,
                           qp_fabric_simulation_outputs(c->simulation), true);
    const bool some = buffer.failed || buffer.size > 0;
    *lines = qp_buffer_take(&buffer, size);
    if (some && *lines == NULL)
        status = qp_fabric_fail_memory(c->error, "lines of tokens");
    qp_buffer_free(&buffer);
    return status;
}

qp_status qp_fabric_simulate(const qp_fabric_model *model, const char *map,
                             const qp_fabric_streams *streams, const qp_fabric_run_options *options,
                             const qp_allocator *allocator, void **lines, size_t *size,
                             qp_fabric_run_counts *counts, qp_fabric_error *error)
{
    static const qp_fabric_run_options plain = {0};
    call c = {.model = model,
              .map = qp_fabric_find_map(model, map, error),
              .streams = streams,
              .options = options != NULL ? options : &plain,
              .error = error};

    *lines = NULL;
    *size = 0;
    if (c.map == NULL)
        return QP_MALFORMED;
    qp_arena_init(&c.arena, allocator);
    qp_status status = run(&c, allocator);
    if (status == QP_OK)
        status = write_lines(&c, allocator, lines, size);
    if (status == QP_OK && counts != NULL)
        *counts = qp_fabric_simulation_counts(c.simulation);
    qp_fabric_simulation_free(c.simulation);
    qp_arena_free(&c.arena);
    return status;
}
