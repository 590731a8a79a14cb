/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.c - the capability templates of a unit (section 10): derived from the rows, or without
 * rows by trying every route; normalised; sorted by their bytes.
 */
#include "fabric/closure.h"

#include <stdlib.h>

/* ---- one template ------------------------------------------------------------------------- */

/* An edge with what orders it: each end's kind (boundary, op, mux, demux), number and port. */
typedef struct edge_key {
    uint32_t key[6];
    uint32_t wire;
} edge_key;

static int compare_edges(const void *a, const void *b)
{
    const edge_key *x = a, *y = b;
    for (unsigned i = 0; i < 6; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static void set_key(const qp_fabric_fu *fu, qp_fabric_endpoint end, uint32_t *key)
{
    const bool boundary = end.node == QP_FABRIC_NO_INDEX;
    key[0] = boundary ? 0 : 1 + (uint32_t)fu->nodes[end.node].kind;
    key[1] = boundary ? 0 : end.node;
    key[2] = end.port;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The active nodes, ascending, and the routes of the selectors. */
static bool copy_nodes(const qp_fabric_closure *c, qp_arena *arena, qp_fabric_derived *derived)
{
    uint32_t *nodes = qp_arena_allocate(arena, c->node_count, sizeof *nodes);
    qp_fabric_route *routes = qp_arena_allocate(arena, c->node_count, sizeof *routes);

    if (nodes == NULL || routes == NULL)
        return false;
    if (c->node_count > 0)
        memcpy(nodes, c->nodes, c->node_count * sizeof *nodes);
    qsort(nodes, c->node_count, sizeof *nodes, compare_numbers);
    for (uint32_t i = 0; i < c->node_count; i++)
        if (c->fu->nodes[nodes[i]].kind != QP_FABRIC_NODE_OP)
            routes[derived->route_count++] = (qp_fabric_route){nodes[i], c->route[nodes[i]]};
    derived->nodes = nodes;
    derived->node_count = c->node_count;
    derived->op_count = c->node_count - derived->route_count;
    derived->routes = routes;
    return true;
}

/* The edges in the order of their bytes. */
static bool copy_edges(const qp_fabric_closure *c, qp_arena *arena, qp_fabric_derived *derived)
{
    edge_key *keys = qp_allocate(&arena->allocator, c->edge_count, sizeof *keys);
    uint32_t *edges = qp_arena_allocate(arena, c->edge_count, sizeof *edges);

    if (keys != NULL && edges != NULL) {
        for (uint32_t i = 0; i < c->edge_count; i++) {
            const qp_fabric_wire *wire = &c->fu->wires[c->edges[i]];
            keys[i].wire = c->edges[i];
            set_key(c->fu, wire->source, keys[i].key);
            set_key(c->fu, wire->destination, keys[i].key + 3);
        }
        qsort(keys, c->edge_count, sizeof *keys, compare_edges);
        for (uint32_t i = 0; i < c->edge_count; i++)
            edges[i] = keys[i].wire;
    }
    const bool good = keys != NULL && edges != NULL;
    qp_release(&arena->allocator, keys, c->edge_count, sizeof *keys);
    derived->edges = edges;
    derived->edge_count = c->edge_count;
    return good;
}

/* Node references ascend by their bytes: ops, muxes, demuxes. */
static void put_template(qp_buffer *buffer, const qp_fabric_fu *fu,
                         const qp_fabric_derived *derived)
{
    qp_fabric_put_u64(buffer, derived->node_count);
    for (unsigned kind = QP_FABRIC_NODE_OP; kind <= QP_FABRIC_NODE_DEMUX; kind++)
        for (uint32_t i = 0; i < derived->node_count; i++)
            if ((unsigned)fu->nodes[derived->nodes[i]].kind == kind)
                qp_fabric_put_node_ref(buffer, fu, derived->nodes[i]);
    qp_fabric_put_u64(buffer, derived->edge_count);
    for (uint32_t i = 0; i < derived->edge_count; i++) {
        const qp_fabric_wire *wire = &fu->wires[derived->edges[i]];
        qp_fabric_put_endpoint(buffer, fu, wire->source, true);
        qp_fabric_put_endpoint(buffer, fu, wire->destination, false);
    }
}

static bool copy_bytes(const qp_fabric_fu *fu, qp_arena *arena, qp_fabric_derived *derived)
{
    qp_buffer buffer;
    uint8_t *bytes = NULL;

    qp_buffer_init(&buffer, &arena->allocator);
    put_template(&buffer, fu, derived);
    if (!buffer.failed)
        bytes = qp_arena_allocate(arena, buffer.size, 1);
    if (bytes != NULL)
        memcpy(bytes, buffer.bytes, buffer.size);
    derived->bytes = bytes;
    derived->size = buffer.size;
    qp_buffer_free(&buffer);
    return bytes != NULL;
}

/* ---- paths -------------------------------------------------------------------------------- */

/* Where the value comes from that a selector gives on, by node, once it is known. */
typedef struct origin {
    qp_fabric_endpoint source;
    uint32_t narrowest;
    bool known;
} origin;

typedef struct path_finder {
    const qp_fabric_closure *closure;
    origin *origins; /* [node] */
    uint32_t *stack; /* selectors on the way back */
    qp_fabric_path *paths;
    uint32_t count;
} path_finder;

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t wire_bits(const qp_fabric_fu *fu, const qp_fabric_wire *wire)
{
    return least(qp_fabric_endpoint_width(fu, wire->source, true).bits,
                 qp_fabric_endpoint_width(fu, wire->destination, false).bits);
}

/* The wire by which a selector's value comes. */
static const qp_fabric_wire *selected_wire(const qp_fabric_closure *c, uint32_t node)
{
    const qp_fabric_node *selector = &c->fu->nodes[node];
    const bool mux = selector->kind == QP_FABRIC_NODE_MUX;
    return &c->fu->wires[selector->input_base + (mux ? c->route[node] : 0)];
}

static bool is_selector(const qp_fabric_fu *fu, uint32_t node)
{
    return node != QP_FABRIC_NO_INDEX && fu->nodes[node].kind != QP_FABRIC_NODE_OP;
}

/* Back through selectors to one whose origin is known, or to an op or the unit; then forward again
 * with what was found. Selectors make no cycle: qp_fabric_check_topology. */
static origin find_origin(path_finder *f, const qp_fabric_wire *wire)
{
    const qp_fabric_fu *fu = f->closure->fu;
    origin found = {.narrowest = UINT32_MAX};
    uint32_t depth = 0, node = wire->source.node;
    qp_fabric_endpoint source = wire->source;

    while (is_selector(fu, node) && !f->origins[node].known) {
        f->stack[depth++] = node;
        source = selected_wire(f->closure, node)->source;
        node = source.node;
    }
    if (is_selector(fu, node))
        found = f->origins[node];
    else
        found.source = source;
    found.known = true;
    while (depth > 0) {
        node = f->stack[--depth];
        found.narrowest = least(found.narrowest, wire_bits(fu, selected_wire(f->closure, node)));
        f->origins[node] = found;
    }
    found.narrowest = least(found.narrowest, wire_bits(fu, wire));
    return found;
}

static int compare_sources(const void *a, const void *b)
{
    const qp_fabric_path *x = *(const qp_fabric_path *const *)a;
    const qp_fabric_path *y = *(const qp_fabric_path *const *)b;

    if (x->source.node != y->source.node)
        return x->source.node + 1 < y->source.node + 1 ? -1 : 1;
    if (x->source.port != y->source.port)
        return x->source.port < y->source.port ? -1 : 1;
    return (x > y) - (x < y); /* by end, in one array */
}

static void order_by_source(const qp_fabric_path **order, const qp_fabric_path *paths,
                            uint32_t count, uint32_t *numbers)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = &paths[i];
    qsort(order, count, sizeof *order, compare_sources);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)(order[i] - paths);
}

/* `edges` are wire numbers, which are sink numbers; ascending here. */
static void find_paths(path_finder *f, const uint32_t *edges)
{
    const qp_fabric_fu *fu = f->closure->fu;

    for (uint32_t i = 0; i < f->closure->edge_count; i++) {
        const qp_fabric_wire *wire = &fu->wires[edges[i]];
        if (is_selector(fu, wire->destination.node))
            continue;
        const origin found = find_origin(f, wire);
        f->paths[f->count++] = (qp_fabric_path){found.source, wire->destination, found.narrowest};
    }
    for (uint32_t i = 0; i < f->closure->node_count; i++)
        f->origins[f->closure->nodes[i]].known = false;
}

/* `f` has scratch for the unit. */
static bool copy_paths(path_finder *f, qp_arena *arena, qp_fabric_derived *derived)
{
    const uint32_t count = derived->edge_count;
    uint32_t *edges = qp_allocate(&arena->allocator, count, sizeof *edges);
    const qp_fabric_path **order = qp_allocate(&arena->allocator, count, sizeof *order);
    uint32_t *numbers = qp_arena_allocate(arena, count, sizeof *numbers);

    f->paths = qp_arena_allocate(arena, count, sizeof *f->paths);
    f->count = 0;
    const bool good = edges != NULL && order != NULL && numbers != NULL && f->paths != NULL;
    if (good && count > 0) {
        memcpy(edges, derived->edges, count * sizeof *edges);
        qsort(edges, count, sizeof *edges, compare_numbers);
        find_paths(f, edges);
        order_by_source(order, f->paths, f->count, numbers);
    }
    qp_release(&arena->allocator, order, count, sizeof *order);
    qp_release(&arena->allocator, edges, count, sizeof *edges);
    derived->paths = f->paths;
    derived->path_count = f->count;
    derived->by_source = numbers;
    return good;
}

/* ---- the inventory ------------------------------------------------------------------------ */

/* A template and the row that made it. */
typedef struct made_template {
    qp_fabric_derived derived;
    uint32_t row;
} made_template;

typedef struct maker {
    const qp_fabric_model *model;
    const qp_fabric_fu *fu;
    qp_fabric_closure closure;
    path_finder finder;
    qp_arena *arena;
    qp_fabric_error *error;
} maker;

static qp_status fail_memory(const maker *m)
{
    return qp_fabric_fail_memory(m->error, "the templates of a unit");
}

static qp_status start_maker(maker *m, uint64_t *work)
{
    if (!qp_fabric_closure_init(&m->closure, m->fu, work, m->arena))
        return fail_memory(m);
    m->finder.closure = &m->closure;
    m->finder.origins = qp_arena_allocate(m->arena, m->fu->n_nodes, sizeof *m->finder.origins);
    m->finder.stack = qp_arena_allocate(m->arena, m->fu->n_nodes, sizeof *m->finder.stack);
    return m->finder.origins != NULL && m->finder.stack != NULL ? QP_OK : fail_memory(m);
}

/* The closure as a template. */
static qp_status make_template(maker *m, qp_fabric_derived *derived)
{
    memset(derived, 0, sizeof *derived);
    if (copy_nodes(&m->closure, m->arena, derived) && copy_edges(&m->closure, m->arena, derived) &&
        copy_bytes(m->fu, m->arena, derived) && copy_paths(&m->finder, m->arena, derived))
        return QP_OK;
    return fail_memory(m);
}

static qp_status fail_closure(const maker *m, qp_fabric_place place)
{
    static const struct {
        const char *before, *after;
    } texts[] = {
        [QP_FABRIC_CLOSURE_UNLISTED_OP] = {"", " becomes active and is not among the row's ops"},
        [QP_FABRIC_CLOSURE_NO_ROUTE] = {"", " is reached and the row gives it no route"},
        [QP_FABRIC_CLOSURE_OTHER_OUTPUT] = {"an op needs another output of ", " than its route"},
        [QP_FABRIC_CLOSURE_NO_CONSUMER] = {"a value of ", " has no consumer"},
        [QP_FABRIC_CLOSURE_UNUSED_ROUTE] = {"the route of ", " is not used"},
    };
    const qp_fabric_closure *c = &m->closure;

    if (c->fault == QP_FABRIC_CLOSURE_WORK)
        return qp_fabric_fail(m->error, QP_FABRIC_UNSUPPORTED, place,
                              "the templates of the fabric take too many steps to derive");
    const qp_fabric_symbol name =
        c->fault_node != QP_FABRIC_NO_INDEX ? m->fu->nodes[c->fault_node].name : m->fu->name;
    return qp_fabric_fail(m->error, QP_FABRIC_INVALID, place, "%s'%.64s'%s", texts[c->fault].before,
                          qp_fabric_name_text(m->model, name), texts[c->fault].after);
}

/* One template a row. */
static qp_status make_rows(maker *m, made_template *made)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < m->fu->n_rows && status == QP_OK; i++) {
        const qp_fabric_row *row = &m->fu->rows[i];
        qp_fabric_close_row(&m->closure, row);
        if (m->closure.fault != QP_FABRIC_CLOSURE_GOOD)
            return fail_closure(m, row->place);
        made[i].row = i;
        status = make_template(m, &made[i].derived);
    }
    return status;
}

/* Whether the closure has the bytes of `derived`. */
static qp_status compare_closure(const maker *m, const qp_fabric_derived *derived, bool *same)
{
    maker other = *m;
    qp_fabric_derived made;
    qp_arena scratch;

    qp_arena_init(&scratch, &m->arena->allocator);
    other.arena = &scratch;
    qp_status status = make_template(&other, &made);
    *same = status == QP_OK &&
            qp_fabric_compare_bytes(derived->bytes, derived->size, made.bytes, made.size) == 0;
    qp_arena_free(&scratch);
    return status;
}

/* Takes a template of the derivation without rows: the first, or one equal to it. */
static qp_status take_template(maker *m, made_template *made, uint32_t *count)
{
    bool same;

    if (*count == 0) {
        *count = 1;
        return make_template(m, &made->derived);
    }
    qp_status status = compare_closure(m, &made->derived, &same);
    if (status != QP_OK || same)
        return status;
    return qp_fabric_fail(m->error, QP_FABRIC_INVALID, m->fu->place,
                          "'%.64s' has several templates: write a row for each",
                          qp_fabric_name_text(m->model, m->fu->name));
}

/* A closure without selectors is that of each of its ops: they need not start another. */
static void mark_same_starts(const qp_fabric_closure *c, bool *done)
{
    if (c->fed_count > 0)
        return;
    for (uint32_t i = 0; i < c->node_count; i++)
        if (is_selector(c->fu, c->nodes[i]))
            return;
    for (uint32_t i = 0; i < c->node_count; i++)
        done[c->nodes[i]] = true;
}

/* All closures from one op. */
static qp_status make_from(maker *m, uint32_t start, bool *done, made_template *made,
                           uint32_t *count)
{
    qp_status status = QP_OK;

    for (bool first = true; status == QP_OK && qp_fabric_close_next(&m->closure, start, first);
         first = false) {
        if (m->closure.fault == QP_FABRIC_CLOSURE_WORK)
            return fail_closure(m, m->fu->place);
        if (m->closure.fault != QP_FABRIC_CLOSURE_GOOD)
            continue;
        status = take_template(m, made, count);
        mark_same_starts(&m->closure, done);
    }
    return status;
}

/* Each op in turn as the only start, with every route. */
static qp_status make_without_rows(maker *m, made_template *made)
{
    bool *done = qp_arena_allocate(m->arena, m->fu->n_nodes, sizeof *done);
    uint32_t count = 0;
    qp_status status = done != NULL ? QP_OK : fail_memory(m);

    for (uint32_t i = 0; i < m->fu->n_nodes && status == QP_OK; i++)
        if (m->fu->nodes[i].kind == QP_FABRIC_NODE_OP && !done[i])
            status = make_from(m, i, done, made, &count);
    if (status != QP_OK || count > 0)
        return status;
    return qp_fabric_fail(m->error, QP_FABRIC_INVALID, m->fu->place,
                          "'%.64s' has no template: no op can be active with what it needs",
                          qp_fabric_name_text(m->model, m->fu->name));
}

static int compare_templates(const void *a, const void *b)
{
    const made_template *x = a, *y = b;
    const int order = qp_fabric_compare_bytes(x->derived.bytes, x->derived.size, y->derived.bytes,
                                              y->derived.size);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static qp_status sort_templates(maker *m, made_template *made, uint32_t count,
                                qp_fabric_inventory *inventory)
{
    qp_fabric_derived *templates = qp_arena_allocate(m->arena, count, sizeof *templates);

    if (templates == NULL)
        return fail_memory(m);
    qsort(made, count, sizeof *made, compare_templates);
    for (uint32_t i = 0; i < count; i++) {
        templates[i] = made[i].derived;
        if (i > 0 && qp_fabric_compare_bytes(templates[i - 1].bytes, templates[i - 1].size,
                                             templates[i].bytes, templates[i].size) == 0)
            return qp_fabric_fail(m->error, QP_FABRIC_INVALID, m->fu->rows[made[i].row].place,
                                  "this row is an earlier row again");
    }
    *inventory = (qp_fabric_inventory){count, templates};
    return QP_OK;
}

qp_status qp_fabric_inventory_of(const qp_fabric_model *model, const qp_fabric_fu *fu,
                                 uint64_t *work, qp_arena *arena, qp_fabric_inventory *inventory,
                                 qp_fabric_error *error)
{
    maker m = {.model = model, .fu = fu, .arena = arena, .error = error};
    const uint32_t count = fu->n_rows > 0 ? fu->n_rows : 1;
    made_template *made = qp_allocate(&arena->allocator, count, sizeof *made);
    qp_status status = made != NULL ? start_maker(&m, work) : fail_memory(&m);

    if (status == QP_OK)
        status = fu->n_rows > 0 ? make_rows(&m, made) : make_without_rows(&m, made);
    if (status == QP_OK)
        status = sort_templates(&m, made, count, inventory);
    qp_release(&arena->allocator, made, count, sizeof *made);
    return status;
}

/* ---- looking paths and nodes up ----------------------------------------------------------- */

static bool source_before(qp_fabric_endpoint a, qp_fabric_endpoint b)
{
    if (a.node != b.node)
        return a.node + 1 < b.node + 1;
    return a.port < b.port;
}

bool qp_fabric_next_path(const qp_fabric_derived *derived, qp_fabric_endpoint source,
                         uint32_t *cursor, qp_fabric_path *path)
{
    uint32_t low = 0, high = derived->path_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (source_before(derived->paths[derived->by_source[middle]].source, source))
            low = middle + 1;
        else
            high = middle;
    }
    if (*cursor >= derived->path_count - low)
        return false;
    *path = derived->paths[derived->by_source[low + *cursor]];
    if (path->source.node != source.node || path->source.port != source.port)
        return false;
    ++*cursor;
    return true;
}

const qp_fabric_path *qp_fabric_path_to(const qp_fabric_fu *fu, const qp_fabric_derived *derived,
                                        qp_fabric_endpoint end)
{
    const uint32_t sink = qp_fabric_sink(fu, end);
    uint32_t low = 0, high = derived->path_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (qp_fabric_sink(fu, derived->paths[middle].end) < sink)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == derived->path_count || qp_fabric_sink(fu, derived->paths[low].end) != sink)
        return NULL;
    return &derived->paths[low];
}

bool qp_fabric_has_node(const qp_fabric_derived *derived, uint32_t node)
{
    uint32_t low = 0, high = derived->node_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (derived->nodes[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < derived->node_count && derived->nodes[low] == node;
}
