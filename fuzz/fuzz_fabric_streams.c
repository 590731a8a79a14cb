/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_streams.c - tokens and stalls as JSON Lines (section 12.1). The first byte chooses a
 * map, a line "--" divides tokens from stalls. What is taken runs: what comes out is how the golden
 * model's streams begin.
 */
#include "fabric/examples.h"
#include "fabric/simulate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CYCLES = 500, FIRINGS = 100000 };

static const struct {
    const char *text, *map;
} maps[] = {{example_13_2, "mac"}, {example_13_3_slice, "mput"}, {example_13_3_shuffle, "mmix"}};

/* A map is read once for all inputs. */
typedef struct loaded {
    qp_arena arena;
    qp_fabric_model *model;
    qp_fabric_sealed sealed;
    qp_fabric_verified verified;
} loaded;

static const loaded *load(size_t number)
{
    static loaded all[sizeof maps / sizeof *maps];
    loaded *l = &all[number];
    const qp_fabric_text text = {"map", maps[number].text, strlen(maps[number].text)};

    if (l->model != NULL)
        return l;
    qp_arena_init(&l->arena, NULL);
    if (qp_fabric_read(&text, 1, NULL, &l->model, NULL) != QP_OK)
        abort();
    const qp_fabric_map_item *map = qp_fabric_find_map(l->model, maps[number].map, NULL);
    if (qp_fabric_seal_fabric(l->model, &l->model->fabrics[map->fabric], &l->arena, &l->sealed,
                              NULL) != QP_OK ||
        qp_fabric_verify(&l->sealed, map, &l->arena, &l->verified, NULL) != QP_OK)
        abort();
    return l;
}

/* The lines behind "--", and what is before them in *first. */
static qp_fabric_text divide(const uint8_t *data, size_t size, qp_fabric_text *first)
{
    size_t at = 0;

    while (at + 3 <= size && memcmp(data + at, "--\n", 3) != 0)
        at++;
    const bool found = at + 3 <= size;
    *first = (qp_fabric_text){"tokens", data, found ? at : size};
    return (qp_fabric_text){"stalls", data + (found ? at + 3 : size), found ? size - at - 3 : 0};
}

static void expect_place(const qp_fabric_error *error)
{
    if (error->base.status != QP_NO_MEMORY &&
        (error->fault != QP_FABRIC_INVALID || error->line == 0 || error->column == 0))
        abort();
}

static void compare(const qp_fabric_graph *graph, const qp_fabric_stream *outputs,
                    const qp_fabric_stream *golden)
{
    for (uint32_t i = 0; i < graph->n_outputs; i++)
        if (outputs[i].count > golden[i].count ||
            (outputs[i].count > 0 && outputs[i].words > 0 &&
             memcmp(outputs[i].payload, golden[i].payload,
                    outputs[i].count * outputs[i].words * sizeof(uint64_t)) != 0))
            abort();
}

static void run(const loaded *l, const qp_fabric_script *script)
{
    const qp_fabric_graph *graph = l->verified.graph;
    qp_fabric_stream golden[4];
    qp_fabric_simulation *simulation;

    if (graph->n_outputs > sizeof golden / sizeof *golden ||
        qp_fabric_simulation_make(&l->verified, script, NULL, &simulation, NULL) != QP_OK)
        abort();
    const qp_status ran = qp_fabric_simulation_run(simulation, CYCLES, NULL);
    const qp_status status =
        qp_fabric_golden_run(l->model, graph, script->inputs, FIRINGS, NULL, golden, NULL);
    if (ran == QP_OK && status == QP_OK)
        compare(graph, qp_fabric_simulation_outputs(simulation), golden);
    if (ran != QP_OK && status == QP_OK)
        abort();
    for (uint32_t i = 0; i < graph->n_outputs; i++)
        qp_fabric_stream_free(&golden[i], NULL);
    qp_fabric_simulation_free(simulation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const loaded *l = load(data[0] % (sizeof maps / sizeof *maps));
    const qp_fabric_graph *graph = l->verified.graph;
    const size_t ports = (size_t)graph->n_inputs + graph->n_outputs;
    qp_fabric_text tokens;
    const qp_fabric_text stalls_text = divide(data + 1, size - 1, &tokens);
    qp_fabric_error error;
    qp_arena arena;

    qp_arena_init(&arena, NULL);
    qp_fabric_stream *inputs = qp_arena_allocate(&arena, graph->n_inputs, sizeof *inputs);
    qp_fabric_stall *stalls = qp_arena_allocate(&arena, ports, sizeof *stalls);
    if (inputs == NULL || stalls == NULL)
        abort();
    qp_status status = qp_fabric_read_tokens(l->model, graph, &tokens, &arena, inputs, &error);
    if (status == QP_OK)
        status = qp_fabric_read_stalls(l->model, graph, &stalls_text, &arena, stalls, &error);
    if (status == QP_OK)
        run(l, &(qp_fabric_script){.inputs = inputs, .stalls = stalls});
    else
        expect_place(&error);
    qp_arena_free(&arena);
    return 0;
}
