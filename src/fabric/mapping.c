/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.c - the checks of section 11: actors and active ops one to one, every one admitted, every
 * edge of the template in the graph and the reverse, boundary rows, places to live in.
 */
#include "fabric/mapping.h"

#include <inttypes.h>
#include <stdlib.h>

/* What the checks share. `v` is filled in steps; the scratch is of one realization at a time. */
typedef struct verifier {
    const qp_fabric_sealed *sealed;
    const qp_fabric_graph *graph;
    const qp_fabric_map_item *map;
    qp_arena *arena;
    qp_fabric_error *error;
    const bool *defined;                  /* [value] */
    uint32_t *realization_of;             /* [actor] */
    const qp_fabric_binding **binding_of; /* [actor] */
    const qp_fabric_derived **template_of;
    uint32_t *operand_base, *operand_port, *result_port;
    uint32_t *actor_at; /* [node of the unit] */
    uint32_t *value_at; /* [input of the unit] the value that rows read there */
} verifier;

static const char *actor_name(const verifier *v, uint32_t actor)
{
    const uint32_t value = v->graph->actors[actor].results[0];
    return qp_fabric_name_text(v->sealed->model, v->graph->values[value].name);
}

static const qp_fabric_fu *unit_of(const verifier *v, const qp_fabric_realization *r)
{
    return &v->sealed->fabric->fus[r->fu];
}

static const char *port_name(const verifier *v, const qp_fabric_port *port)
{
    return qp_fabric_name_text(v->sealed->model, port->name);
}

/* ---- actors and ops ----------------------------------------------------------------------- */

static qp_status take_binding(verifier *v, uint32_t number, const qp_fabric_binding *b)
{
    const qp_fabric_actor *actor = &v->graph->actors[b->actor];

    if (v->realization_of[b->actor] != QP_FABRIC_NO_INDEX)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                              "the actor %%%.64s is realized twice", actor_name(v, b->actor));
    if (!qp_fabric_has_node(v->template_of[number], b->node))
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                              "the op of %%%.64s is not active in the template",
                              actor_name(v, b->actor));
    if (v->actor_at[b->node] != QP_FABRIC_NO_INDEX)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                              "the op of %%%.64s has another actor already",
                              actor_name(v, b->actor));
    if (b->operand_count != actor->operand_count || b->result_count != actor->result_count)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                              "%%%.64s has %lu operands and %lu results: give a port for each",
                              actor_name(v, b->actor), (unsigned long)actor->operand_count,
                              (unsigned long)actor->result_count);
    v->realization_of[b->actor] = number;
    v->binding_of[b->actor] = b;
    v->actor_at[b->node] = b->actor;
    return QP_OK;
}

/* Sets or clears who is where in the unit. */
static void place_actors(verifier *v, const qp_fabric_realization *r, bool set)
{
    for (uint32_t i = 0; i < r->n_bindings; i++)
        v->actor_at[r->bindings[i].node] = set ? r->bindings[i].actor : QP_FABRIC_NO_INDEX;
}

static qp_status take_realization(verifier *v, uint32_t number)
{
    const qp_fabric_realization *r = &v->map->realizations[number];
    const qp_fabric_inventory *inventory = &v->sealed->inventories[r->fu];
    qp_status status = QP_OK;

    if (r->template_ordinal >= inventory->count)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, r->place,
                              "there is no template %" PRIu64 ": the unit's last is %lu",
                              r->template_ordinal, (unsigned long)inventory->count - 1);
    v->template_of[number] = &inventory->templates[r->template_ordinal];
    if (r->n_bindings != v->template_of[number]->op_count)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, r->place,
                              "the template has %lu active op%s, and each needs one actor",
                              (unsigned long)v->template_of[number]->op_count,
                              v->template_of[number]->op_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < r->n_bindings && status == QP_OK; i++)
        status = take_binding(v, number, &r->bindings[i]);
    place_actors(v, r, false);
    return status;
}

static qp_status take_realizations(verifier *v)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < v->map->n_realizations && status == QP_OK; i++)
        status = take_realization(v, i);
    for (uint32_t i = 0; i < v->graph->n_actors && status == QP_OK; i++)
        if (v->realization_of[i] == QP_FABRIC_NO_INDEX)
            status = qp_fabric_fail(v->error, QP_FABRIC_INVALID, v->map->place,
                                    "no realization has the actor %%%.64s", actor_name(v, i));
    return status;
}

/* ---- admission ---------------------------------------------------------------------------- */

static qp_status admit_binding(const verifier *v, const qp_fabric_fu *fu,
                               const qp_fabric_binding *b)
{
    const qp_fabric_offer offer = {qp_fabric_actor_signature(v->graph, b->actor), b->operand_ports,
                                   b->result_ports, b->place};
    qp_status status = qp_fabric_admit(&fu->nodes[b->node], &offer, v->error);

    if (status == QP_OK)
        status = qp_fabric_check_proofs(&v->graph->actors[b->actor], v->defined, v->error);
    return status;
}

static qp_status admit_all(const verifier *v)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < v->map->n_realizations; i++) {
        const qp_fabric_realization *r = &v->map->realizations[i];
        for (uint32_t k = 0; k < r->n_bindings && status == QP_OK; k++)
            status = admit_binding(v, unit_of(v, r), &r->bindings[k]);
    }
    return status;
}

/* ---- boundary rows ------------------------------------------------------------------------ */

static qp_status row_fails(const verifier *v, const qp_fabric_bound *b, const char *what)
{
    return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place, "%s %lu of %%%.64s %s",
                          b->input ? "operand" : "result", (unsigned long)b->ordinal,
                          actor_name(v, b->actor), what);
}

static qp_status take_bound(verifier *v, uint32_t number, const qp_fabric_bound *b)
{
    const qp_fabric_actor *actor = &v->graph->actors[b->actor];

    if (v->realization_of[b->actor] != number)
        return row_fails(v, b, "is of an actor of another realization");
    if (b->ordinal >= (b->input ? actor->operand_count : actor->result_count))
        return row_fails(v, b, "is not there");
    uint32_t *port = b->input ? &v->operand_port[v->operand_base[b->actor] + b->ordinal]
                              : &v->result_port[actor->results[b->ordinal]];
    if (*port != QP_FABRIC_NO_INDEX)
        return row_fails(v, b, "has a row already");
    *port = b->port;
    return QP_OK;
}

static qp_status take_bounds(verifier *v)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < v->map->n_realizations; i++)
        for (uint32_t k = 0; k < v->map->realizations[i].n_bounds && status == QP_OK; k++)
            status = take_bound(v, i, &v->map->realizations[i].bounds[k]);
    return status;
}

/* Rows on one input read one value. */
static qp_status place_value(verifier *v, const qp_fabric_bound *b)
{
    const uint32_t value = v->graph->actors[b->actor].operands[b->ordinal];

    if (v->value_at[b->port] != QP_FABRIC_NO_INDEX && v->value_at[b->port] != value)
        return row_fails(v, b, "reads another value than an earlier row on this input");
    v->value_at[b->port] = value;
    return QP_OK;
}

/* A result has a row exactly if something outside reads it. */
static qp_status check_result(const verifier *v, const qp_fabric_binding *b, uint32_t ordinal)
{
    const uint32_t number = v->graph->actors[b->actor].results[ordinal];
    const qp_fabric_value *value = &v->graph->values[number];
    bool needed = value->output != QP_FABRIC_NO_INDEX;

    for (uint32_t i = 0; i < value->use_count && !needed; i++)
        needed = v->operand_port[v->operand_base[value->uses[i].actor] + value->uses[i].operand] !=
                 QP_FABRIC_NO_INDEX;
    if (needed == (v->result_port[number] != QP_FABRIC_NO_INDEX))
        return QP_OK;
    return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                          needed ? "result %lu of %%%.64s is read outside and needs a row"
                                 : "result %lu of %%%.64s is not read outside and has a row",
                          (unsigned long)ordinal, actor_name(v, b->actor));
}

/* ---- edges -------------------------------------------------------------------------------- */

static uint32_t find_port(const uint32_t *ports, uint32_t count, uint32_t port)
{
    for (uint32_t i = 0; i < count; i++)
        if (ports[i] == port)
            return i;
    return QP_FABRIC_NO_INDEX;
}

static qp_status edge_fails(const verifier *v, const qp_fabric_binding *b, const char *side,
                            uint32_t ordinal, const char *what)
{
    return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place, "%s %lu of %%%.64s %s", side,
                          (unsigned long)ordinal, actor_name(v, b->actor), what);
}

static qp_status check_segments(const verifier *v, const qp_fabric_binding *b, uint32_t value,
                                const qp_fabric_path *path)
{
    if (v->graph->values[value].bits <= path->narrowest)
        return QP_OK;
    return qp_fabric_refuse(v->error, QP_FABRIC_RULE_PORT_WIDTH, b->place,
                            "point 8: a value of %lu bits passes a segment of %lu at %%%.64s",
                            (unsigned long)v->graph->values[value].bits,
                            (unsigned long)path->narrowest, actor_name(v, b->actor));
}

/* An idle input, at the other end of which nothing may be. */
static qp_status check_idle(const verifier *v, const qp_fabric_binding *b,
                            const qp_fabric_path *path)
{
    if (path->source.node == QP_FABRIC_NO_INDEX &&
        v->value_at[path->source.port] == QP_FABRIC_NO_INDEX)
        return QP_OK;
    return edge_fails(v, b, "input", path->end.port, "is idle and the template feeds it");
}

/* A path to an op's input. */
static qp_status check_input(const verifier *v, const qp_fabric_path *path)
{
    const qp_fabric_binding *b = v->binding_of[v->actor_at[path->end.node]];
    const uint32_t operand = find_port(b->operand_ports, b->operand_count, path->end.port);

    if (operand == QP_FABRIC_NO_INDEX)
        return check_idle(v, b, path);
    const uint32_t number = v->graph->actors[b->actor].operands[operand];
    const qp_fabric_value *value = &v->graph->values[number];
    const uint32_t port = v->operand_port[v->operand_base[b->actor] + operand];
    if (path->source.node == QP_FABRIC_NO_INDEX) {
        if (port != path->source.port)
            return edge_fails(v, b, "operand", operand,
                              port == QP_FABRIC_NO_INDEX
                                  ? "comes from outside in the template and has no row"
                                  : "comes from another input in the template than its row says");
    } else {
        const uint32_t producer = v->actor_at[path->source.node];
        if (port != QP_FABRIC_NO_INDEX)
            return edge_fails(v, b, "operand", operand,
                              "has a row and comes from within the unit in the template");
        if (value->actor != producer ||
            v->binding_of[producer]->result_ports[value->ordinal] != path->source.port)
            return edge_fails(v, b, "operand", operand,
                              "comes from elsewhere in the template than in the graph");
    }
    return check_segments(v, b, number, path);
}

/* A path to an output of the unit. */
static qp_status check_output(const verifier *v, const qp_fabric_realization *r,
                              const qp_fabric_path *path)
{
    if (path->source.node == QP_FABRIC_NO_INDEX)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, r->place,
                              "the template joins an input with '%.64s', and no edge does",
                              port_name(v, &unit_of(v, r)->outputs[path->end.port]));
    const qp_fabric_binding *b = v->binding_of[v->actor_at[path->source.node]];
    const uint32_t result = find_port(b->result_ports, b->result_count, path->source.port);
    if (result == QP_FABRIC_NO_INDEX) /* an idle lane */
        return QP_OK;
    const uint32_t value = v->graph->actors[b->actor].results[result];
    if (v->result_port[value] != path->end.port)
        return edge_fails(v, b, "result", result,
                          "leaves by an output in the template for which it has no row");
    return check_segments(v, b, value, path);
}

/* A result's row needs the template's path. */
static qp_status check_row(const verifier *v, const qp_fabric_realization *r,
                           const qp_fabric_derived *derived, const qp_fabric_bound *b)
{
    const qp_fabric_binding *binding = v->binding_of[b->actor];
    const qp_fabric_path *path = qp_fabric_path_to(
        unit_of(v, r), derived, (qp_fabric_endpoint){QP_FABRIC_NO_INDEX, b->port});

    if (path != NULL && path->source.node == binding->node &&
        path->source.port == binding->result_ports[b->ordinal])
        return QP_OK;
    return row_fails(v, b, "does not come to this output in the template");
}

/* The template's paths against the graph. An idle output may only go to the unit's outputs: where
 * it goes to an op, check_input finds that its operand comes from elsewhere. */
static qp_status check_paths(const verifier *v, uint32_t number)
{
    const qp_fabric_realization *r = &v->map->realizations[number];
    const qp_fabric_derived *derived = v->template_of[number];
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < derived->path_count && status == QP_OK; i++)
        status = derived->paths[i].end.node != QP_FABRIC_NO_INDEX
                     ? check_input(v, &derived->paths[i])
                     : check_output(v, r, &derived->paths[i]);
    for (uint32_t i = 0; i < r->n_bounds && status == QP_OK; i++)
        if (!r->bounds[i].input)
            status = check_row(v, r, derived, &r->bounds[i]);
    return status;
}

static qp_status check_realization(verifier *v, uint32_t number)
{
    const qp_fabric_realization *r = &v->map->realizations[number];
    qp_status status = QP_OK;

    place_actors(v, r, true);
    for (uint32_t i = 0; i < r->n_bounds && status == QP_OK; i++)
        if (r->bounds[i].input)
            status = place_value(v, &r->bounds[i]);
    if (status == QP_OK)
        status = check_paths(v, number);
    for (uint32_t i = 0; i < r->n_bindings && status == QP_OK; i++)
        for (uint32_t k = 0; k < r->bindings[i].result_count && status == QP_OK; k++)
            status = check_result(v, &r->bindings[i], k);
    for (uint32_t i = 0; i < r->n_bounds; i++)
        if (r->bounds[i].input)
            v->value_at[r->bounds[i].port] = QP_FABRIC_NO_INDEX;
    place_actors(v, r, false);
    return status;
}

/* ---- external edges and occurrences ------------------------------------------------------- */

/* An external edge joins ports of one kind; graph inputs take either. */
static qp_status check_kind(const verifier *v, const qp_fabric_realization *r,
                            const qp_fabric_bound *b)
{
    const uint32_t number = v->graph->actors[b->actor].operands[b->ordinal];
    const qp_fabric_value *value = &v->graph->values[number];

    if (value->actor == QP_FABRIC_NO_INDEX)
        return QP_OK;
    const qp_fabric_fu *from = unit_of(v, &v->map->realizations[v->realization_of[value->actor]]);
    if (from->outputs[v->result_port[number]].width.tagged ==
        unit_of(v, r)->inputs[b->port].width.tagged)
        return QP_OK;
    return qp_fabric_refuse(v->error, QP_FABRIC_RULE_PORT_KIND, b->place,
                            "operand %lu of %%%.64s comes from a port of the other kind",
                            (unsigned long)b->ordinal, actor_name(v, b->actor));
}

static qp_status check_kinds(const verifier *v)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < v->map->n_realizations; i++) {
        const qp_fabric_realization *r = &v->map->realizations[i];
        for (uint32_t k = 0; k < r->n_bounds && status == QP_OK; k++)
            if (r->bounds[k].input)
                status = check_kind(v, r, &r->bounds[k]);
    }
    return status;
}

static int compare_homes(const void *a, const void *b)
{
    const qp_fabric_bind *x = *(const qp_fabric_bind *const *)a;
    const qp_fabric_bind *y = *(const qp_fabric_bind *const *)b;

    if (x->occurrence != y->occurrence)
        return x->occurrence < y->occurrence ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x > y) - (x < y); /* the order of the file */
}

/* One realization at a place. */
static qp_status check_homes(const verifier *v, const qp_fabric_bind **order)
{
    const uint32_t count = v->map->n_binds;

    for (uint32_t i = 0; i < count; i++)
        order[i] = &v->map->binds[i];
    qsort(order, count, sizeof *order, compare_homes);
    for (uint32_t i = 1; i < count; i++)
        if (order[i]->occurrence == order[i - 1]->occurrence &&
            order[i]->context == order[i - 1]->context)
            return qp_fabric_fail(v->error, QP_FABRIC_INVALID, order[i]->place,
                                  "another realization has this occurrence and context");
    return QP_OK;
}

static qp_status check_bind(const verifier *v, const qp_fabric_bind *b, bool *bound)
{
    const qp_fabric_occurrence *o = &v->sealed->fabric->occurrences[b->occurrence];

    if (bound[b->realization])
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                              "this realization has an occurrence already");
    if (o->fu != v->map->realizations[b->realization].fu)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                              "the occurrence is of another unit than the realization");
    if (b->context >= o->contexts)
        return qp_fabric_fail(v->error, QP_FABRIC_INVALID, b->place,
                              "there is no context %lu: the occurrence's last is %lu",
                              (unsigned long)b->context, (unsigned long)o->contexts - 1);
    bound[b->realization] = true;
    return QP_OK;
}

static qp_status check_binds(const verifier *v)
{
    const uint32_t count = v->map->n_realizations;
    bool *bound = qp_arena_allocate(v->arena, count, sizeof *bound);
    const qp_fabric_bind **order = qp_arena_allocate(v->arena, v->map->n_binds, sizeof *order);
    qp_status status = QP_OK;

    if (bound == NULL || order == NULL)
        return qp_fabric_fail_memory(v->error, "the occurrences of a map");
    for (uint32_t i = 0; i < v->map->n_binds && status == QP_OK; i++)
        status = check_bind(v, &v->map->binds[i], bound);
    for (uint32_t i = 0; i < count && status == QP_OK; i++)
        if (!bound[i])
            status = qp_fabric_fail(v->error, QP_FABRIC_INVALID, v->map->realizations[i].place,
                                    "this realization has no occurrence: bind it");
    return status == QP_OK ? check_homes(v, order) : status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* The most nodes and inputs of any unit. */
static void measure_units(const qp_fabric_fabric *fabric, uint32_t *nodes, uint32_t *inputs)
{
    *nodes = *inputs = 0;
    for (uint32_t i = 0; i < fabric->n_fus; i++) {
        if (fabric->fus[i].n_nodes > *nodes)
            *nodes = fabric->fus[i].n_nodes;
        if (fabric->fus[i].n_inputs > *inputs)
            *inputs = fabric->fus[i].n_inputs;
    }
}

/* `count` numbers, none set; NULL without memory. */
static uint32_t *no_indices(qp_arena *arena, size_t count)
{
    uint32_t *numbers = qp_arena_allocate(arena, count, sizeof *numbers);

    for (size_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = QP_FABRIC_NO_INDEX;
    return numbers;
}

static bool start(verifier *v)
{
    const qp_fabric_graph *graph = v->graph;
    uint32_t nodes, inputs, operands = 0;

    v->operand_base = qp_arena_allocate(v->arena, graph->n_actors, sizeof *v->operand_base);
    if (v->operand_base == NULL)
        return false;
    for (uint32_t i = 0; i < graph->n_actors; i++) {
        v->operand_base[i] = operands;
        operands += graph->actors[i].operand_count;
    }
    measure_units(v->sealed->fabric, &nodes, &inputs);
    v->defined = qp_fabric_definedness(graph, v->arena);
    v->realization_of = no_indices(v->arena, graph->n_actors);
    v->binding_of = qp_arena_allocate(v->arena, graph->n_actors, sizeof *v->binding_of);
    v->template_of = qp_arena_allocate(v->arena, v->map->n_realizations, sizeof *v->template_of);
    v->operand_port = no_indices(v->arena, operands);
    v->result_port = no_indices(v->arena, graph->n_values);
    v->actor_at = no_indices(v->arena, nodes);
    v->value_at = no_indices(v->arena, inputs);
    return v->defined != NULL && v->realization_of != NULL && v->binding_of != NULL &&
           v->template_of != NULL && v->operand_port != NULL && v->result_port != NULL &&
           v->actor_at != NULL && v->value_at != NULL;
}

qp_status qp_fabric_verify(const qp_fabric_sealed *sealed, const qp_fabric_map_item *map,
                           qp_arena *arena, qp_fabric_verified *verified, qp_fabric_error *error)
{
    verifier v = {.sealed = sealed, .map = map, .arena = arena, .error = error};

    v.graph = &sealed->model->graphs[map->graph];
    if (!start(&v))
        return qp_fabric_fail_memory(error, "a map");
    qp_status status = take_realizations(&v);
    if (status == QP_OK)
        status = admit_all(&v);
    if (status == QP_OK)
        status = take_bounds(&v);
    for (uint32_t i = 0; i < map->n_realizations && status == QP_OK; i++)
        status = check_realization(&v, i);
    if (status == QP_OK)
        status = check_kinds(&v);
    if (status == QP_OK)
        status = check_binds(&v);
    *verified = (qp_fabric_verified){.sealed = sealed,
                                     .graph = v.graph,
                                     .map = map,
                                     .realization_of = v.realization_of,
                                     .binding_of = v.binding_of,
                                     .template_of = v.template_of,
                                     .operand_port = v.operand_port,
                                     .operand_base = v.operand_base,
                                     .result_port = v.result_port};
    return status;
}
