/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.c - numbering and naming what tokens pass through in a map.
 */
#include "fabric/channels.h"

#include <stdio.h>
#include <stdlib.h>

/* An operand with an external edge, to be sorted by its port. */
typedef struct external {
    qp_fabric_port_queue queue;
    uint32_t operand;
} external;

static int order_externals(const void *a, const void *b)
{
    const external *x = a, *y = b;

    if (x->queue.realization != y->queue.realization)
        return x->queue.realization < y->queue.realization ? -1 : 1;
    if (x->queue.port != y->queue.port)
        return x->queue.port < y->queue.port ? -1 : 1;
    return (x->operand > y->operand) - (x->operand < y->operand);
}

static int order_names(const void *a, const void *b)
{
    const qp_fabric_channel *x = a, *y = b;
    return strcmp(x->name, y->name);
}

const char *qp_fabric_actor_name(const qp_fabric_verified *verified, uint32_t actor)
{
    const qp_fabric_graph *graph = verified->graph;
    const uint32_t result = graph->actors[actor].results[0];

    return qp_fabric_name_text(verified->sealed->model, graph->values[result].name);
}

/* ---- numbering ---------------------------------------------------------------------------- */

static bool number_operands(const qp_fabric_graph *graph, qp_arena *arena, qp_fabric_channels *c)
{
    uint32_t *first = qp_arena_allocate(arena, graph->n_actors, sizeof *first);

    if (first == NULL)
        return false;
    c->operand_count = 0;
    for (uint32_t a = 0; a < graph->n_actors; a++) {
        first[a] = c->operand_count;
        c->operand_count += graph->actors[a].operand_count;
    }
    c->first_operand = first;
    c->output_count = graph->n_outputs;
    return true;
}

/* The operands with external edges, in no order. */
static uint32_t gather_externals(const qp_fabric_verified *v, const qp_fabric_channels *c,
                                 external *externals)
{
    uint32_t count = 0;

    for (uint32_t a = 0; a < v->graph->n_actors; a++)
        for (uint32_t i = 0; i < v->graph->actors[a].operand_count; i++) {
            const uint32_t port = v->operand_port[v->operand_base[a] + i];
            if (port != QP_FABRIC_NO_INDEX)
                externals[count++] =
                    (external){{v->realization_of[a], port, v->graph->actors[a].operands[i]},
                               c->first_operand[a] + i};
        }
    return count;
}

static bool number_queues(const qp_fabric_verified *v, qp_arena *arena, qp_fabric_channels *c)
{
    external *externals = qp_arena_allocate(arena, c->operand_count, sizeof *externals);
    qp_fabric_port_queue *queues = qp_arena_allocate(arena, c->operand_count, sizeof *queues);
    uint32_t *queue_of = qp_arena_allocate(arena, c->operand_count, sizeof *queue_of);

    if (externals == NULL || queues == NULL || queue_of == NULL)
        return false;
    for (uint32_t i = 0; i < c->operand_count; i++)
        queue_of[i] = QP_FABRIC_NO_INDEX;
    const uint32_t count = gather_externals(v, c, externals);
    if (count > 0)
        qsort(externals, count, sizeof *externals, order_externals);
    c->queue_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const qp_fabric_port_queue *queue = &externals[i].queue;
        if (i == 0 || queue->realization != externals[i - 1].queue.realization ||
            queue->port != externals[i - 1].queue.port)
            queues[c->queue_count++] = *queue;
        queue_of[externals[i].operand] = c->queue_count - 1;
    }
    c->queues = queues;
    c->queue_of = queue_of;
    return true;
}

/* ---- names -------------------------------------------------------------------------------- */

/* "FIRST.SECOND", or with no second just the first; NULL without memory. */
static const char *join(qp_arena *arena, const char *first, const char *second)
{
    const size_t length = strlen(first), more = strlen(second);
    char *text = qp_arena_allocate(arena, length + more + 2, 1);

    if (text == NULL)
        return NULL;
    memcpy(text, first, length);
    if (more > 0) {
        text[length] = '.';
        memcpy(text + length + 1, second, more);
    }
    return text;
}

static void name_operands(const qp_fabric_verified *v, qp_arena *arena, qp_fabric_channel *rows)
{
    char number[12];

    for (uint32_t a = 0; a < v->graph->n_actors; a++)
        for (uint32_t i = 0; i < v->graph->actors[a].operand_count; i++) {
            snprintf(number, sizeof number, "%lu", (unsigned long)i);
            rows->name = join(arena, qp_fabric_actor_name(v, a), number);
            rows->value = v->graph->actors[a].operands[i];
            rows++;
        }
}

static void name_queues(const qp_fabric_verified *v, qp_arena *arena, const qp_fabric_channels *c,
                        qp_fabric_channel *rows)
{
    const qp_fabric_model *model = v->sealed->model;

    for (uint32_t q = 0; q < c->queue_count; q++) {
        const qp_fabric_realization *r = &v->map->realizations[c->queues[q].realization];
        const qp_fabric_port *port = &v->sealed->fabric->fus[r->fu].inputs[c->queues[q].port];
        rows[q].name = join(arena, qp_fabric_name_text(model, r->name),
                            qp_fabric_name_text(model, port->name));
        rows[q].value = c->queues[q].value;
    }
}

static bool name_all(const qp_fabric_verified *v, qp_arena *arena, qp_fabric_channels *c)
{
    const uint32_t count = qp_fabric_channel_count(c);
    qp_fabric_channel *rows = qp_arena_allocate(arena, count, sizeof *rows);
    qp_fabric_channel *sorted = qp_arena_allocate(arena, count, sizeof *sorted);

    if (rows == NULL || sorted == NULL)
        return false;
    qp_fabric_channel *outputs = rows + c->operand_count + c->queue_count;
    name_operands(v, arena, rows);
    name_queues(v, arena, c, rows + c->operand_count);
    for (uint32_t i = 0; i < c->output_count; i++) {
        const uint32_t value = v->graph->outputs[i];
        outputs[i].name =
            join(arena, qp_fabric_name_text(v->sealed->model, v->graph->values[value].name), "");
        outputs[i].value = value;
    }
    for (uint32_t i = 0; i < count; i++) {
        rows[i].number = i;
        if (rows[i].name == NULL)
            return false;
    }
    if (count > 0)
        memcpy(sorted, rows, count * sizeof *rows);
    qsort(sorted, count, sizeof *sorted, order_names);
    c->rows = rows;
    c->by_name = sorted;
    return true;
}

bool qp_fabric_channels_of(const qp_fabric_verified *verified, bool named, qp_arena *arena,
                           qp_fabric_channels *channels)
{
    memset(channels, 0, sizeof *channels);
    return number_operands(verified->graph, arena, channels) &&
           number_queues(verified, arena, channels) &&
           (!named || name_all(verified, arena, channels));
}

uint32_t qp_fabric_find_channel(const qp_fabric_channels *channels, const char *name)
{
    uint32_t first = 0, end = qp_fabric_channel_count(channels);

    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        const int order = strcmp(channels->by_name[middle].name, name);
        if (order == 0)
            return channels->by_name[middle].number;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return QP_FABRIC_NO_INDEX;
}
