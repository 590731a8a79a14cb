/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finder_room.c - the room of finder.h's walk, and what it knows of a fabric before the first step.
 */
#include "fabric/finder.h"

/* The homes of each unit, and whether any port is bits_tag. */
static bool count_homes(qp_fabric_finder *f, qp_arena *arena)
{
    const qp_fabric_fabric *fabric = f->sealed->fabric;

    f->homes = qp_arena_allocate(arena, fabric->n_fus, sizeof *f->homes);
    f->used = qp_arena_allocate(arena, fabric->n_fus, sizeof *f->used);
    if (f->homes == NULL || f->used == NULL)
        return false;
    for (uint32_t i = 0; i < fabric->n_occurrences; i++)
        f->homes[fabric->occurrences[i].fu] += fabric->occurrences[i].contexts;
    for (uint32_t i = 0; i < fabric->n_fus; i++) {
        const qp_fabric_fu *fu = &fabric->fus[i];
        for (uint32_t k = 0; k < fu->n_inputs; k++)
            f->tagged = f->tagged || fu->inputs[k].width.tagged;
        for (uint32_t k = 0; k < fu->n_outputs; k++)
            f->tagged = f->tagged || fu->outputs[k].width.tagged;
    }
    return true;
}

/* Counts the seats of each schema (`seats` NULL), or fills them in; `next` is by schema. */
static void add_seats(qp_fabric_finder *f, uint32_t fu, uint64_t *next)
{
    const qp_fabric_inventory *inventory = &f->sealed->inventories[fu];

    for (uint32_t t = 0; t < inventory->count; t++)
        for (uint32_t i = 0; i < inventory->templates[t].node_count; i++) {
            const uint32_t number = inventory->templates[t].nodes[i];
            const qp_fabric_node *node = &f->sealed->fabric->fus[fu].nodes[number];
            if (node->kind != QP_FABRIC_NODE_OP)
                continue;
            for (uint32_t m = 0; m < node->family->member_count; m++) {
                if ((node->enabled >> m & 1) == 0)
                    continue;
                uint64_t *at = &next[node->family->members[m].schema];
                if (f->seats != NULL)
                    f->seats[*at] = (qp_fabric_seat){fu, t, number};
                ++*at;
            }
        }
}

/* Seats of the units that have a home, by schema. */
static bool make_seats(qp_fabric_finder *f, qp_arena *arena)
{
    uint64_t next[QP_FABRIC_SCHEMA_COUNT] = {0};

    for (uint32_t i = 0; i < f->sealed->fabric->n_fus; i++)
        if (f->homes[i] > 0)
            add_seats(f, i, next);
    for (unsigned i = 0; i < QP_FABRIC_SCHEMA_COUNT; i++) {
        f->first_seat[i + 1] = f->first_seat[i] + next[i];
        next[i] = f->first_seat[i];
    }
    f->seats =
        qp_arena_allocate(arena, (size_t)f->first_seat[QP_FABRIC_SCHEMA_COUNT], sizeof *f->seats);
    if (f->seats == NULL)
        return false;
    for (uint32_t i = 0; i < f->sealed->fabric->n_fus; i++)
        if (f->homes[i] > 0)
            add_seats(f, i, next);
    return true;
}

/* Templates that join an input of the unit with an output realize nothing: no edge does. */
static bool find_joined_ports(qp_fabric_finder *f, qp_arena *arena)
{
    const uint32_t units = f->sealed->fabric->n_fus;

    f->joins_ports = qp_arena_allocate(arena, units, sizeof *f->joins_ports);
    if (f->joins_ports == NULL)
        return false;
    for (uint32_t i = 0; i < units; i++) {
        const qp_fabric_inventory *inventory = &f->sealed->inventories[i];
        f->joins_ports[i] = qp_arena_allocate(arena, inventory->count, sizeof **f->joins_ports);
        if (f->joins_ports[i] == NULL)
            return false;
        for (uint32_t t = 0; t < inventory->count; t++)
            for (uint32_t k = 0; k < inventory->templates[t].path_count; k++) {
                const qp_fabric_path *path = &inventory->templates[t].paths[k];
                if (path->source.node == QP_FABRIC_NO_INDEX && path->end.node == QP_FABRIC_NO_INDEX)
                    f->joins_ports[i][t] = true;
            }
    }
    return true;
}

/* Room by node, by input of a unit, and by input of an op. */
static bool make_unit_room(qp_fabric_finder *f, qp_arena *arena)
{
    uint32_t nodes = 0, inputs = 0, ports = 0;

    for (uint32_t i = 0; i < f->sealed->fabric->n_fus; i++) {
        const qp_fabric_fu *fu = &f->sealed->fabric->fus[i];
        nodes = fu->n_nodes > nodes ? fu->n_nodes : nodes;
        inputs = fu->n_inputs > inputs ? fu->n_inputs : inputs;
        for (uint32_t k = 0; k < fu->n_nodes; k++)
            if (fu->nodes[k].kind == QP_FABRIC_NODE_OP && fu->nodes[k].n_in > ports)
                ports = fu->nodes[k].n_in;
    }
    f->actor_at = qp_arena_allocate(arena, nodes, sizeof *f->actor_at);
    f->seen = qp_arena_allocate(arena, nodes, sizeof *f->seen);
    f->value_at = qp_arena_allocate(arena, inputs, sizeof *f->value_at);
    f->value_step = qp_arena_allocate(arena, inputs, sizeof *f->value_step);
    f->operand_at = qp_arena_allocate(arena, ports, sizeof *f->operand_at);
    if (f->actor_at == NULL || f->seen == NULL || f->value_at == NULL || f->value_step == NULL ||
        f->operand_at == NULL)
        return false;
    for (uint32_t i = 0; i < nodes; i++)
        f->actor_at[i] = QP_FABRIC_NO_INDEX;
    for (uint32_t i = 0; i < inputs; i++)
        f->value_at[i] = QP_FABRIC_NO_INDEX;
    return true;
}

static bool make_graph_room(qp_fabric_finder *f, qp_arena *arena)
{
    const qp_fabric_graph *graph = f->graph;
    uint32_t operands = 0;

    f->steps = qp_arena_allocate(arena, graph->n_actors, sizeof *f->steps);
    f->rows = qp_arena_allocate(arena, graph->n_actors, sizeof *f->rows);
    f->covered = qp_arena_allocate(arena, graph->n_actors, sizeof *f->covered);
    f->row_of = qp_arena_allocate(arena, graph->n_actors, sizeof *f->row_of);
    f->node_of = qp_arena_allocate(arena, graph->n_actors, sizeof *f->node_of);
    f->operand_base = qp_arena_allocate(arena, graph->n_actors, sizeof *f->operand_base);
    if (f->operand_base == NULL)
        return false;
    for (uint32_t i = 0; i < graph->n_actors; i++) {
        f->operand_base[i] = operands;
        operands += graph->actors[i].operand_count;
    }
    f->operand_ports = qp_arena_allocate(arena, operands, sizeof *f->operand_ports);
    f->result_ports = qp_arena_allocate(arena, graph->n_values, sizeof *f->result_ports);
    return f->steps != NULL && f->rows != NULL && f->covered != NULL && f->row_of != NULL &&
           f->node_of != NULL && f->operand_ports != NULL && f->result_ports != NULL;
}

bool qp_fabric_finder_init(qp_fabric_finder *f, const qp_fabric_sealed *sealed,
                           const qp_fabric_graph *graph, uint64_t work, qp_arena *arena)
{
    *f = (qp_fabric_finder){
        .sealed = sealed, .graph = graph, .work = work, .loaded = QP_FABRIC_NO_INDEX};
    return count_homes(f, arena) && make_seats(f, arena) && find_joined_ports(f, arena) &&
           make_unit_room(f, arena) && make_graph_room(f, arena);
}
