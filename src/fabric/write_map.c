/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_map.c - a map in the text form (section 12): a line an actor with its rows.
 */
#include "fabric/search.h"

typedef struct writer {
    qp_buffer *buffer;
    const qp_fabric_model *model;
    const qp_fabric_graph *graph;
    const qp_fabric_fabric *fabric;
} writer;

static void put_name(const writer *w, const char *before, qp_fabric_symbol name)
{
    qp_buffer_text(w->buffer, before);
    qp_buffer_text(w->buffer, qp_fabric_name_text(w->model, name));
}

static void put_number(const writer *w, const char *before, uint64_t number)
{
    qp_buffer_text(w->buffer, before);
    qp_buffer_u64_decimal(w->buffer, number);
}

static void put_actor(const writer *w, const char *before, uint32_t actor)
{
    put_name(w, before, w->graph->values[w->graph->actors[actor].results[0]].name);
}

static void put_ports(const writer *w, const char *before, const uint32_t *ports, uint32_t count)
{
    qp_buffer_text(w->buffer, before);
    for (uint32_t i = 0; i < count; i++)
        put_number(w, i > 0 ? "," : "", ports[i]);
    qp_buffer_text(w->buffer, ")");
}

/* The rows of one actor lie together, in the order of the bindings; `*next` is the first of them.
 */
static void put_bounds(const writer *w, const qp_fabric_realization *r, uint32_t actor,
                       uint32_t *next)
{
    const qp_fabric_fu *fu = &w->fabric->fus[r->fu];

    for (; *next < r->n_bounds && r->bounds[*next].actor == actor; ++*next) {
        const qp_fabric_bound *b = &r->bounds[*next];
        put_actor(w, "  bound %", b->actor);
        put_number(w, b->input ? " in " : " out ", b->ordinal);
        put_name(w, " -> ", (b->input ? fu->inputs : fu->outputs)[b->port].name);
    }
}

static void put_realization(const writer *w, const qp_fabric_realization *r, uint32_t number)
{
    const qp_fabric_fu *fu = &w->fabric->fus[r->fu];
    uint32_t next = 0;

    put_number(w, "  realize r", number);
    put_name(w, " fu ", fu->name);
    put_number(w, " template ", r->template_ordinal);
    qp_buffer_text(w->buffer, " {\n");
    for (uint32_t i = 0; i < r->n_bindings; i++) {
        const qp_fabric_binding *b = &r->bindings[i];
        put_actor(w, "    actor %", b->actor);
        put_name(w, " -> ", fu->nodes[b->node].name);
        put_ports(w, " in (", b->operand_ports, b->operand_count);
        put_ports(w, " out (", b->result_ports, b->result_count);
        put_bounds(w, r, b->actor, &next);
        qp_buffer_text(w->buffer, "\n");
    }
    qp_buffer_text(w->buffer, "  }\n");
}

static void put_bind(const writer *w, const qp_fabric_bind *bind)
{
    const qp_fabric_occurrence *o = &w->fabric->occurrences[bind->occurrence];

    put_number(w, "  bind r", bind->realization);
    put_name(w, " -> ", o->name);
    if (o->contexts > 1)
        put_number(w, " context ", bind->context);
    qp_buffer_text(w->buffer, "\n");
}

void qp_fabric_write_map(qp_buffer *buffer, const qp_fabric_model *model,
                         const qp_fabric_map_item *map, const char *name)
{
    const writer w = {buffer, model, &model->graphs[map->graph], &model->fabrics[map->fabric]};

    qp_buffer_text(buffer, "map ");
    qp_buffer_text(buffer, name);
    put_name(&w, " of ", w.graph->name);
    put_name(&w, " on ", w.fabric->name);
    qp_buffer_text(buffer, " {\n");
    for (uint32_t i = 0; i < map->n_realizations; i++)
        put_realization(&w, &map->realizations[i], i);
    for (uint32_t i = 0; i < map->n_binds; i++)
        put_bind(&w, &map->binds[i]);
    qp_buffer_text(buffer, "}\n");
}
