/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_support.h - maps of texts run cycle by cycle, and what an observer saw as lines.
 */
#ifndef QP_TEST_FABRIC_SIMULATE_SUPPORT_H
#define QP_TEST_FABRIC_SIMULATE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/simulate.h"

#include <stdio.h>
#include <string.h>

/* ---- a map ready to run ------------------------------------------------------------------- */

typedef struct loaded_map {
    qp_arena arena;
    qp_fabric_model *model;
    qp_fabric_sealed sealed;
    qp_fabric_verified verified;
    const qp_fabric_graph *graph;
    qp_fabric_stream *inputs;
    qp_fabric_stall *stalls;
    qp_fabric_error error;
} loaded_map;

static inline qp_fabric_text text_of(const char *name, const char *bytes)
{
    return (qp_fabric_text){name, bytes, strlen(bytes)};
}

static inline void say_error(const qp_fabric_error *error)
{
    char line[700];
    print_error("%s\n", qp_fabric_error_text(error, line, sizeof line));
}

static inline void assert_good(qp_status status, const qp_fabric_error *error)
{
    if (status != QP_OK)
        say_error(error);
    assert_int_equal(status, QP_OK);
}

/* Reads and verifies the map `name` of `text`, and its tokens and stalls. */
static inline void load_map(loaded_map *m, const char *text, const char *name)
{
    const qp_fabric_text texts = text_of("map", text);

    qp_arena_init(&m->arena, NULL);
    assert_good(qp_fabric_read(&texts, 1, NULL, &m->model, &m->error), &m->error);
    const qp_fabric_map_item *map = qp_fabric_find_map(m->model, name, &m->error);
    assert_non_null(map);
    assert_good(qp_fabric_seal_fabric(m->model, &m->model->fabrics[map->fabric], &m->arena,
                                      &m->sealed, &m->error),
                &m->error);
    assert_good(qp_fabric_verify(&m->sealed, map, &m->arena, &m->verified, &m->error), &m->error);
    m->graph = m->verified.graph;
}

static inline void load_streams(loaded_map *m, const char *tokens, const char *stalls)
{
    const qp_fabric_text token_text = text_of("tokens", tokens);
    const qp_fabric_text stall_text = text_of("stalls", stalls);

    m->inputs = qp_arena_allocate(&m->arena, m->graph->n_inputs, sizeof *m->inputs);
    m->stalls = qp_arena_allocate(&m->arena, (size_t)m->graph->n_inputs + m->graph->n_outputs,
                                  sizeof *m->stalls);
    assert_non_null(m->inputs);
    assert_non_null(m->stalls);
    assert_good(
        qp_fabric_read_tokens(m->model, m->graph, &token_text, &m->arena, m->inputs, &m->error),
        &m->error);
    assert_good(
        qp_fabric_read_stalls(m->model, m->graph, &stall_text, &m->arena, m->stalls, &m->error),
        &m->error);
}

static inline void unload_map(loaded_map *m)
{
    qp_fabric_free(m->model);
    qp_arena_free(&m->arena);
}

/* ---- what an observer sees ---------------------------------------------------------------- */

/* One line an event of the kinds asked for: "3 fire n Fire". */
typedef struct event_log {
    char text[1 << 16];
    size_t size;
    unsigned kinds; /* bit k for kind k */
    qp_fabric_observer observer;
} event_log;

static inline void log_event(void *context, const qp_fabric_event *event)
{
    static const char *const words[] = {"fire", "offer", "handoff", "state", "reset"};
    event_log *log = context;

    if ((log->kinds >> event->kind & 1) == 0)
        return;
    const int more = snprintf(log->text + log->size, sizeof log->text - log->size,
                              "%llu %s%s%s%s%s\n", (unsigned long long)event->cycle,
                              words[event->kind], *event->name != '\0' ? " " : "", event->name,
                              *event->detail != '\0' ? " " : "", event->detail);
    assert_in_range(more, 1, sizeof log->text - log->size - 1);
    log->size += (size_t)more;
}

static inline void log_init(event_log *log, unsigned kinds)
{
    log->size = 0;
    log->text[0] = '\0';
    log->kinds = kinds;
    log->observer = (qp_fabric_observer){log_event, log};
}

enum {
    SEE_FIRE = 1u << QP_FABRIC_EVENT_FIRE,
    SEE_OFFER = 1u << QP_FABRIC_EVENT_OFFER,
    SEE_HANDOFF = 1u << QP_FABRIC_EVENT_HANDOFF,
    SEE_STATE = 1u << QP_FABRIC_EVENT_STATE,
    SEE_RESET = 1u << QP_FABRIC_EVENT_RESET
};

/* ---- memory ------------------------------------------------------------------------------- */

/* An allocator that gives `left` more blocks and then none. */
typedef struct few_blocks {
    size_t left;
} few_blocks;

static inline void *few(void *context, void *block, size_t old_size, size_t new_size)
{
    few_blocks *blocks = context;
    const qp_allocator system = qp_allocator_or_default(NULL);

    if (new_size > old_size) {
        if (blocks->left == 0)
            return NULL;
        blocks->left--;
    }
    return system.reallocate(system.context, block, old_size, new_size);
}

/* ---- whole runs --------------------------------------------------------------------------- */

/* A run by texts through the public call; its outputs must be `expected`. */
typedef struct text_run {
    const char *text, *map, *tokens, *stalls;
    qp_fabric_run_options options;
} text_run;

static inline void assert_run(const text_run *run, const char *expected,
                              qp_fabric_run_counts *counts)
{
    const qp_fabric_text texts = text_of("map", run->text);
    const qp_fabric_streams streams = {text_of("tokens", run->tokens),
                                       text_of("stalls", run->stalls != NULL ? run->stalls : "")};
    qp_fabric_model *model;
    qp_fabric_error error;
    void *lines;
    size_t size;

    assert_good(qp_fabric_read(&texts, 1, NULL, &model, &error), &error);
    assert_good(qp_fabric_simulate(model, run->map, &streams, &run->options, NULL, &lines, &size,
                                   counts, &error),
                &error);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(lines, expected, size);
    qp_bytes_free(NULL, lines, size);
    qp_fabric_free(model);
}

#endif
