/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_fabric.c - fabrics: units with their nodes, wires and template rows, and occurrences
 * (sections 10 and 12).
 */
#include "fabric/text.h"

#include <stdlib.h>

/* ---- ports and widths --------------------------------------------------------------------- */

static bool take_width(qp_fabric_parser *p, qp_fabric_width *width)
{
    qp_fabric_token token = p->token;

    width->tagged = token.kind == QP_FABRIC_TOKEN_TAGGED;
    if (!qp_fabric_take_kind(p, width->tagged ? QP_FABRIC_TOKEN_TAGGED : QP_FABRIC_TOKEN_INT,
                             "a width", NULL))
        return false;
    return qp_fabric_token_u32(&token, &width->bits) ||
           qp_fabric_parse_fail(p, token.place, "the width does not fit 32 bits without a sign");
}

/* "( W, W )", possibly empty. */
static bool take_widths(qp_fabric_parser *p, const qp_fabric_width **widths, uint32_t *count)
{
    qp_fabric_list list = qp_fabric_list_of(sizeof(qp_fabric_width));
    const void *items = NULL;
    qp_fabric_width width;
    bool more = true, good = qp_fabric_take_kind(p, '(', "'('", NULL);

    if (good && qp_fabric_next_is(p, ')')) {
        more = false;
        good = qp_fabric_take(p);
    }
    while (good && more)
        good = take_width(p, &width) && qp_fabric_list_add(p, &list, &width) &&
               qp_fabric_take_comma(p, ')', &more);
    good = good && qp_fabric_list_end(p, &list, &items, count);
    qp_fabric_list_free(p, &list);
    *widths = items;
    return good;
}

/* "( a:32, b:32 )" into the unit's scope; inputs may be none. */
static bool take_ports(qp_fabric_parser *p, qp_fabric_fu *fu, qp_fabric_local_kind kind,
                       const qp_fabric_port **ports, uint32_t *count)
{
    qp_fabric_list list = qp_fabric_list_of(sizeof(qp_fabric_port));
    const void *items = NULL;
    qp_fabric_port port;
    bool more = true, good = qp_fabric_take_kind(p, '(', "'('", NULL);

    if (good && kind == QP_FABRIC_LOCAL_INPUT && qp_fabric_next_is(p, ')')) {
        more = false;
        good = qp_fabric_take(p);
    }
    while (good && more)
        good = qp_fabric_take_name(p, "a port's name", &port.name, &port.place) &&
               qp_fabric_take_kind(p, ':', "':'", NULL) && take_width(p, &port.width) &&
               qp_fabric_define(p, fu->scope, port.name,
                                qp_fabric_local(kind, (uint32_t)list.count), port.place) &&
               qp_fabric_list_add(p, &list, &port) && qp_fabric_take_comma(p, ')', &more);
    good = good && qp_fabric_list_end(p, &list, &items, count);
    qp_fabric_list_free(p, &list);
    *ports = items;
    return good;
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* One member of an op_list, into the mask. */
static bool take_member(qp_fabric_parser *p, qp_fabric_node *node)
{
    qp_fabric_token token;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_SCHEMA, "a schema", &token))
        return false;
    const int shown = (int)(token.size < 40 ? token.size : 40);
    const qp_fabric_schema *schema = qp_fabric_find_schema(token.text, token.size);
    if (schema == NULL)
        return qp_fabric_parse_fail(p, token.place, "'%.*s' is no schema", shown, token.text);
    int ordinal = qp_fabric_member_ordinal(node->family, schema);
    if (ordinal < 0)
        return qp_fabric_parse_fail(p, token.place, "%s is no member of the family %s",
                                    schema->name, node->family->keyword);
    if ((node->enabled >> ordinal & 1) != 0)
        return qp_fabric_parse_fail(p, token.place, "%s stands here twice", schema->name);
    node->enabled |= UINT32_C(1) << ordinal;
    return true;
}

/* All ports of a node are of one kind. */
static bool same_kind(qp_fabric_parser *p, const qp_fabric_node *node)
{
    const qp_fabric_width *first = node->n_in > 0 ? node->in : node->out;

    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i].tagged != first->tagged)
            return qp_fabric_parse_fail(p, node->place, "a node's ports must be of one kind");
    for (uint32_t i = 0; i < node->n_out; i++)
        if (node->out[i].tagged != first->tagged)
            return qp_fabric_parse_fail(p, node->place, "a node's ports must be of one kind");
    return true;
}

/* Behind the name: FAMILY [..] in (..) out (..) params {..}. */
static bool take_op(qp_fabric_parser *p, qp_fabric_node *node)
{
    qp_fabric_token token;
    bool more = true;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, "a family", &token))
        return false;
    node->family = qp_fabric_find_family(token.text, token.size);
    if (node->family == NULL)
        return qp_fabric_parse_fail(p, token.place, "'%.*s' is no implementation family",
                                    (int)(token.size < 40 ? token.size : 40), token.text);
    if (!qp_fabric_take_kind(p, '[', "'['", NULL))
        return false;
    while (more)
        if (!take_member(p, node) || !qp_fabric_take_comma(p, ']', &more))
            return false;
    return qp_fabric_take_word(p, "in") && take_widths(p, &node->in, &node->n_in) &&
           qp_fabric_take_word(p, "out") && take_widths(p, &node->out, &node->n_out) &&
           same_kind(p, node) && qp_fabric_take_word(p, "params") &&
           qp_fabric_parse_params(p, node->family, &node->params);
}

/* Behind the name of a mux or demux: WIDTH LANES. */
static bool take_selector(qp_fabric_parser *p, qp_fabric_node *node)
{
    qp_fabric_width *width = qp_arena_allocate(&p->model->arena, 1, sizeof *width);
    uint32_t lanes;

    if (width == NULL)
        return qp_fabric_parse_no_memory(p);
    if (!take_width(p, width))
        return false;
    qp_fabric_place place = p->token.place;
    if (!qp_fabric_take_u32(p, "a number of lanes", &lanes))
        return false;
    if (lanes < 2)
        return qp_fabric_parse_fail(p, place, "a mux or demux needs at least two lanes");
    node->in = node->out = width;
    node->n_in = node->kind == QP_FABRIC_NODE_MUX ? lanes : 1;
    node->n_out = node->kind == QP_FABRIC_NODE_MUX ? 1 : lanes;
    return true;
}

static bool take_node(qp_fabric_parser *p, qp_fabric_fu *fu, qp_fabric_node_kind kind,
                      qp_fabric_list *nodes)
{
    qp_fabric_node node = {.kind = kind};

    return qp_fabric_take(p) && qp_fabric_take_name(p, "a node's name", &node.name, &node.place) &&
           qp_fabric_define(p, fu->scope, node.name,
                            qp_fabric_local(QP_FABRIC_LOCAL_NODE, (uint32_t)nodes->count),
                            node.place) &&
           (kind == QP_FABRIC_NODE_OP ? take_op(p, &node) : take_selector(p, &node)) &&
           qp_fabric_list_add(p, nodes, &node);
}

/* ---- wires -------------------------------------------------------------------------------- */

/* An end of a wire as it stands: a name, and a port where it is NODE.K. */
typedef struct raw_end {
    qp_fabric_symbol name;
    bool is_port;
    uint32_t port;
    qp_fabric_place place;
} raw_end;

typedef struct raw_wire {
    raw_end source, destination;
    qp_fabric_place place;
} raw_wire;

static bool take_end(qp_fabric_parser *p, raw_end *end)
{
    qp_fabric_token token = p->token;
    size_t length = 0;

    end->is_port = token.kind == QP_FABRIC_TOKEN_PORT;
    end->port = 0;
    if (!end->is_port)
        return qp_fabric_take_name(p, "a port of the unit, or NODE.K", &end->name, &end->place);
    while (token.text[length] != '.')
        length++;
    qp_fabric_token number = {QP_FABRIC_TOKEN_INT, token.text + length + 1, token.size - length - 1,
                              token.place};
    if (!qp_fabric_token_u32(&number, &end->port))
        return qp_fabric_parse_fail(p, token.place, "the port's number does not fit 32 bits");
    end->place = token.place;
    end->name = qp_fabric_intern(p->model->names, token.text, length);
    if (end->name == QP_FABRIC_NO_INDEX)
        return qp_fabric_parse_no_memory(p);
    return qp_fabric_take(p);
}

static bool take_wire(qp_fabric_parser *p, qp_fabric_list *wires)
{
    raw_wire wire = {.place = p->token.place};

    return qp_fabric_take(p) && take_end(p, &wire.source) &&
           qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ARROW, "'->'", NULL) &&
           take_end(p, &wire.destination) && qp_fabric_list_add(p, wires, &wire);
}

/* What an end stands for; `source` says which side of the wire it is on. */
static bool resolve_end(qp_fabric_parser *p, const qp_fabric_fu *fu, const raw_end *end,
                        bool source, qp_fabric_endpoint *found)
{
    const char *text = qp_fabric_name_text(p->model, end->name);
    uint32_t local = qp_fabric_meaning_of(p->model->names, fu->scope, end->name);
    const qp_fabric_local_kind port = source ? QP_FABRIC_LOCAL_INPUT : QP_FABRIC_LOCAL_OUTPUT;

    if (local == QP_FABRIC_NO_INDEX)
        return qp_fabric_parse_fail(p, end->place, "'%.64s' is no port or node of this unit", text);
    uint32_t ordinal = qp_fabric_local_ordinal(local);
    if (!end->is_port) {
        if (qp_fabric_local_kind_of(local) != port)
            return qp_fabric_parse_fail(p, end->place, "'%.64s' is no %s of the unit", text,
                                        source ? "input" : "output");
        *found = (qp_fabric_endpoint){QP_FABRIC_NO_INDEX, ordinal};
        return true;
    }
    if (qp_fabric_local_kind_of(local) != QP_FABRIC_LOCAL_NODE)
        return qp_fabric_parse_fail(p, end->place, "'%.64s' is no node of this unit", text);
    const qp_fabric_node *node = &fu->nodes[ordinal];
    if (end->port >= (source ? node->n_out : node->n_in))
        return qp_fabric_parse_fail(p, end->place, "'%.64s' has no %s %lu", text,
                                    source ? "output" : "input", (unsigned long)end->port);
    *found = (qp_fabric_endpoint){ordinal, end->port};
    return true;
}

/* Whether one of the wires goes to this end, by name; `port` counts only for a node. */
static bool is_wired(const qp_fabric_list *raws, qp_fabric_symbol name, bool is_port, uint32_t port)
{
    const raw_wire *raw = raws->items;

    for (size_t i = 0; i < raws->count; i++) {
        const raw_end *end = &raw[i].destination;
        if (end->name == name && end->is_port == is_port && (!is_port || end->port == port))
            return true;
    }
    return false;
}

/* Refuses a unit of fewer wires than ends that need one. Among the first ends, one more than there
 * are wires, one has none: the first such end is named, unless the search for it would be long. */
static bool fail_unwired(qp_fabric_parser *p, const qp_fabric_fu *fu, const qp_fabric_list *raws)
{
    enum { MANY = 4096 };

    for (uint32_t i = 0; i < fu->n_nodes && raws->count <= MANY; i++)
        for (uint32_t k = 0; k < fu->nodes[i].n_in; k++)
            if (!is_wired(raws, fu->nodes[i].name, true, k))
                return qp_fabric_parse_fail(p, fu->nodes[i].place, "no wire goes to '%.64s.%lu'",
                                            qp_fabric_name_text(p->model, fu->nodes[i].name),
                                            (unsigned long)k);
    for (uint32_t i = 0; i < fu->n_outputs && raws->count <= MANY; i++)
        if (!is_wired(raws, fu->outputs[i].name, false, 0))
            return qp_fabric_parse_fail(p, fu->outputs[i].place,
                                        "no wire goes to the output '%.64s'",
                                        qp_fabric_name_text(p->model, fu->outputs[i].name));
    return qp_fabric_parse_fail(p, fu->place,
                                "some input of a node or output of the unit has no wire");
}

/* Numbers the sinks. Every sink needs a wire, so more of them than wires are refused before
 * anything is made for them. */
static bool number_sinks(qp_fabric_parser *p, qp_fabric_fu *fu, qp_fabric_node *nodes,
                         const qp_fabric_list *raws)
{
    const size_t wires = raws->count;
    uint64_t sinks = 0;

    for (uint32_t i = 0; i < fu->n_nodes; i++) {
        if (sinks > wires)
            break;
        nodes[i].input_base = (uint32_t)sinks;
        sinks += nodes[i].n_in;
    }
    sinks += fu->n_outputs;
    if (sinks > wires)
        return fail_unwired(p, fu, raws);
    fu->n_sinks = (uint32_t)sinks;
    return true;
}

/* Orders wires by source: unit inputs, then nodes in their order; by sink within one source. */
static int by_source(const void *a, const void *b)
{
    const qp_fabric_wire *const *x = a;
    const qp_fabric_wire *const *y = b;
    uint32_t x_node = (*x)->source.node + 1, y_node = (*y)->source.node + 1; /* the unit: 0 */

    if (x_node != y_node)
        return x_node < y_node ? -1 : 1;
    if ((*x)->source.port != (*y)->source.port)
        return (*x)->source.port < (*y)->source.port ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

static bool order_by_source(qp_fabric_parser *p, qp_fabric_fu *fu)
{
    const qp_fabric_wire **order = qp_allocate(&p->allocator, fu->n_sinks, sizeof *order);
    uint32_t *numbers = qp_arena_allocate(&p->model->arena, fu->n_sinks, sizeof *numbers);

    if (order != NULL && numbers != NULL) {
        for (uint32_t i = 0; i < fu->n_sinks; i++)
            order[i] = &fu->wires[i];
        qsort(order, fu->n_sinks, sizeof *order, by_source);
        for (uint32_t i = 0; i < fu->n_sinks; i++)
            numbers[i] = (uint32_t)(order[i] - fu->wires);
    }
    qp_release(&p->allocator, order, fu->n_sinks, sizeof *order);
    fu->by_source = numbers;
    return (order != NULL && numbers != NULL) || qp_fabric_parse_no_memory(p);
}

/* One raw wire into its place among the sinks. */
static bool resolve_wire(qp_fabric_parser *p, const qp_fabric_fu *fu, const raw_wire *raw,
                         qp_fabric_wire *wires)
{
    qp_fabric_wire wire = {.place = raw->place};

    if (!resolve_end(p, fu, &raw->source, true, &wire.source) ||
        !resolve_end(p, fu, &raw->destination, false, &wire.destination))
        return false;
    if (qp_fabric_endpoint_width(fu, wire.source, true).tagged !=
        qp_fabric_endpoint_width(fu, wire.destination, false).tagged)
        return qp_fabric_parse_fail(p, wire.place, "a wire must join ports of one kind");
    qp_fabric_wire *place = &wires[qp_fabric_sink(fu, wire.destination)];
    if (place->place.line > 0)
        return qp_fabric_parse_fail(p, raw->destination.place, "this end already has a wire");
    *place = wire;
    return true;
}

static bool resolve_wires(qp_fabric_parser *p, qp_fabric_fu *fu, qp_fabric_node *nodes,
                          const qp_fabric_list *raws)
{
    const raw_wire *raw = raws->items;

    if (!number_sinks(p, fu, nodes, raws))
        return false;
    qp_fabric_wire *wires = qp_arena_allocate(&p->model->arena, fu->n_sinks, sizeof *wires);
    if (wires == NULL)
        return qp_fabric_parse_no_memory(p);
    fu->wires = wires;
    for (size_t i = 0; i < raws->count; i++)
        if (!resolve_wire(p, fu, &raw[i], wires))
            return false;
    for (uint32_t i = 0; i < fu->n_sinks; i++)
        if (wires[i].place.line == 0)
            return qp_fabric_parse_fail(p, fu->place,
                                        "some input of a node or output of the unit has no wire");
    return order_by_source(p, fu);
}

/* ---- template rows ------------------------------------------------------------------------ */

/* A node of the unit by name, which is an op or is none. */
static bool take_node_name(qp_fabric_parser *p, const qp_fabric_fu *fu, bool op, uint32_t *node)
{
    qp_fabric_symbol name;
    qp_fabric_place place;

    if (!qp_fabric_take_name(p, "a node", &name, &place))
        return false;
    uint32_t local = qp_fabric_meaning_of(p->model->names, fu->scope, name);
    const char *text = qp_fabric_name_text(p->model, name);
    if (local == QP_FABRIC_NO_INDEX || qp_fabric_local_kind_of(local) != QP_FABRIC_LOCAL_NODE)
        return qp_fabric_parse_fail(p, place, "'%.64s' is no node of the unit", text);
    *node = qp_fabric_local_ordinal(local);
    if ((fu->nodes[*node].kind == QP_FABRIC_NODE_OP) != op)
        return qp_fabric_parse_fail(p, place, "'%.64s' is no %s", text, op ? "op" : "mux or demux");
    return true;
}

static bool take_route(qp_fabric_parser *p, const qp_fabric_fu *fu, qp_fabric_route *route)
{
    if (!take_node_name(p, fu, false, &route->node) || !qp_fabric_take_kind(p, '=', "'='", NULL))
        return false;
    const qp_fabric_node *node = &fu->nodes[route->node];
    const uint32_t lanes = node->kind == QP_FABRIC_NODE_MUX ? node->n_in : node->n_out;
    qp_fabric_place place = p->token.place;
    if (!qp_fabric_take_u32(p, "a lane", &route->port))
        return false;
    return route->port < lanes || qp_fabric_parse_fail(p, place, "there is no such lane");
}

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b; /* the node comes first in an op and in a route */
    return (*x > *y) - (*x < *y);
}

/* Sorts by node and refuses repeats; items begin with the node's number. */
static bool sort_by_node(qp_fabric_parser *p, qp_fabric_list *list, qp_fabric_place place)
{
    const char *items = list->items;

    if (list->count > 1)
        qsort(list->items, list->count, list->item_size, ascending);
    for (size_t i = 1; i < list->count; i++)
        if (ascending(items + (i - 1) * list->item_size, items + i * list->item_size) == 0)
            return qp_fabric_parse_fail(p, place, "a node stands in this row twice");
    return true;
}

/* "[ .. ]" of ops or of routes. */
static bool take_row_list(qp_fabric_parser *p, const qp_fabric_fu *fu, bool ops,
                          qp_fabric_list *list)
{
    qp_fabric_route route = {0, 0};
    bool more = true;

    if (!qp_fabric_take_kind(p, '[', "'['", NULL))
        return false;
    while (more)
        if (!(ops ? take_node_name(p, fu, true, &route.node) : take_route(p, fu, &route)) ||
            !qp_fabric_list_add(p, list, &route) || !qp_fabric_take_comma(p, ']', &more))
            return false;
    return true;
}

static bool take_row(qp_fabric_parser *p, const qp_fabric_fu *fu, qp_fabric_list *rows)
{
    qp_fabric_list ops = qp_fabric_list_of(sizeof(uint32_t));
    qp_fabric_list routes = qp_fabric_list_of(sizeof(qp_fabric_route));
    qp_fabric_row row = {.place = p->token.place};
    const void *op_items = NULL, *route_items = NULL;

    bool good = qp_fabric_take(p) && qp_fabric_take_kind(p, '{', "'{'", NULL) &&
                qp_fabric_take_word(p, "ops") && take_row_list(p, fu, true, &ops);
    if (good && qp_fabric_next_is_word(p, "routes"))
        good = qp_fabric_take(p) && take_row_list(p, fu, false, &routes);
    good = good && qp_fabric_take_kind(p, '}', "'}'", NULL) && sort_by_node(p, &ops, row.place) &&
           sort_by_node(p, &routes, row.place) &&
           qp_fabric_list_end(p, &ops, &op_items, &row.op_count) &&
           qp_fabric_list_end(p, &routes, &route_items, &row.route_count);
    row.ops = op_items;
    row.routes = route_items;
    good = good && qp_fabric_list_add(p, rows, &row);
    qp_fabric_list_free(p, &routes);
    qp_fabric_list_free(p, &ops);
    return good;
}

/* ---- units -------------------------------------------------------------------------------- */

/* Nodes and wires until '}' or the first row. */
static bool take_body(qp_fabric_parser *p, qp_fabric_fu *fu, qp_fabric_list *nodes,
                      qp_fabric_list *wires)
{
    static const struct {
        const char *word;
        qp_fabric_node_kind kind;
    } kinds[] = {
        {"op", QP_FABRIC_NODE_OP}, {"mux", QP_FABRIC_NODE_MUX}, {"demux", QP_FABRIC_NODE_DEMUX}};

    while (!qp_fabric_next_is(p, '}') && !qp_fabric_next_is_word(p, "template")) {
        unsigned i = 0;
        while (i < 3 && !qp_fabric_next_is_word(p, kinds[i].word))
            i++;
        if (i < 3) {
            if (!take_node(p, fu, kinds[i].kind, nodes))
                return false;
        } else if (qp_fabric_next_is_word(p, "wire")) {
            if (!take_wire(p, wires))
                return false;
        } else {
            return qp_fabric_take_kind(p, '}', "'op', 'mux', 'demux', 'wire' or '}'", NULL);
        }
    }
    return true;
}

static bool has_op(const qp_fabric_fu *fu)
{
    for (uint32_t i = 0; i < fu->n_nodes; i++)
        if (fu->nodes[i].kind == QP_FABRIC_NODE_OP)
            return true;
    return false;
}

static bool end_nodes(qp_fabric_parser *p, qp_fabric_fu *fu, qp_fabric_list *list,
                      qp_fabric_node **nodes)
{
    *nodes = qp_arena_allocate(&p->model->arena, list->count, sizeof **nodes);
    if (*nodes == NULL)
        return qp_fabric_parse_no_memory(p);
    if (list->count > 0)
        memcpy(*nodes, list->items, list->count * sizeof **nodes);
    fu->nodes = *nodes;
    fu->n_nodes = (uint32_t)list->count;
    return has_op(fu) || qp_fabric_parse_fail(p, fu->place, "a unit needs at least one op");
}

/* Behind the ports: "{ .. }". */
static bool take_unit(qp_fabric_parser *p, qp_fabric_fu *fu)
{
    qp_fabric_list nodes = qp_fabric_list_of(sizeof(qp_fabric_node));
    qp_fabric_list wires = qp_fabric_list_of(sizeof(raw_wire));
    qp_fabric_list rows = qp_fabric_list_of(sizeof(qp_fabric_row));
    qp_fabric_node *made = NULL;
    const void *row_items = NULL;

    bool good = qp_fabric_take_kind(p, '{', "'{'", NULL) && take_body(p, fu, &nodes, &wires) &&
                end_nodes(p, fu, &nodes, &made) && resolve_wires(p, fu, made, &wires);
    while (good && qp_fabric_next_is_word(p, "template"))
        good = take_row(p, fu, &rows);
    good = good && qp_fabric_list_end(p, &rows, &row_items, &fu->n_rows) &&
           qp_fabric_take_kind(p, '}', "'template' or '}'", NULL);
    fu->rows = row_items;
    qp_fabric_list_free(p, &rows);
    qp_fabric_list_free(p, &wires);
    qp_fabric_list_free(p, &nodes);
    return good;
}

static bool take_fu(qp_fabric_parser *p, qp_fabric_fabric *fabric, qp_fabric_list *fus)
{
    qp_fabric_fu fu = {.id = (uint32_t)fus->count};

    return qp_fabric_take(p) && qp_fabric_take_name(p, "a unit's name", &fu.name, &fu.place) &&
           qp_fabric_define(p, fabric->scope, fu.name, fu.id, fu.place) &&
           qp_fabric_new_scopes(p, 1, &fu.scope) &&
           take_ports(p, &fu, QP_FABRIC_LOCAL_INPUT, &fu.inputs, &fu.n_inputs) &&
           qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ARROW, "'->'", NULL) &&
           take_ports(p, &fu, QP_FABRIC_LOCAL_OUTPUT, &fu.outputs, &fu.n_outputs) &&
           take_unit(p, &fu) && qp_fabric_list_add(p, fus, &fu);
}

/* ---- occurrences -------------------------------------------------------------------------- */

/* `fu` holds the unit's symbol until the fabric is complete, its place in *unit. */
typedef struct raw_occurrence {
    qp_fabric_occurrence occurrence;
    qp_fabric_place unit;
} raw_occurrence;

static bool take_occurrence(qp_fabric_parser *p, qp_fabric_fabric *fabric, qp_fabric_list *raws)
{
    raw_occurrence raw = {.occurrence = {.contexts = 1}};
    qp_fabric_occurrence *o = &raw.occurrence;

    if (!qp_fabric_take(p) ||
        !qp_fabric_take_name(p, "an occurrence's name", &o->name, &o->place) ||
        !qp_fabric_define(p, fabric->scope + QP_FABRIC_SCOPE_OCCURRENCES, o->name,
                          (uint32_t)raws->count, o->place) ||
        !qp_fabric_take_name(p, "a unit", &o->fu, &raw.unit))
        return false;
    if (qp_fabric_next_is_word(p, "contexts")) {
        if (!qp_fabric_take(p) || !qp_fabric_take_u32(p, "a number of contexts", &o->contexts))
            return false;
        if (o->contexts == 0)
            return qp_fabric_parse_fail(p, o->place, "an occurrence has at least one context");
    }
    return qp_fabric_list_add(p, raws, &raw);
}

static bool end_occurrences(qp_fabric_parser *p, qp_fabric_fabric *fabric,
                            const qp_fabric_list *raws)
{
    qp_fabric_occurrence *made = qp_arena_allocate(&p->model->arena, raws->count, sizeof *made);
    const raw_occurrence *raw = raws->items;

    if (made == NULL)
        return qp_fabric_parse_no_memory(p);
    for (size_t i = 0; i < raws->count; i++) {
        made[i] = raw[i].occurrence;
        made[i].fu = qp_fabric_meaning_of(p->model->names, fabric->scope, raw[i].occurrence.fu);
        if (made[i].fu == QP_FABRIC_NO_INDEX)
            return qp_fabric_parse_fail(p, raw[i].unit, "'%.64s' is no unit of this fabric",
                                        qp_fabric_name_text(p->model, raw[i].occurrence.fu));
    }
    fabric->occurrences = made;
    fabric->n_occurrences = (uint32_t)raws->count;
    return true;
}

/* ---- fabrics ------------------------------------------------------------------------------ */

static bool number_names(qp_fabric_parser *p, qp_fabric_fabric *fabric, qp_fabric_fu *fus)
{
    uint64_t next = 1; /* n0 is the fabric */

    for (uint32_t i = 0; i < fabric->n_fus; i++) {
        fus[i].name_base = (uint32_t)next;
        next += 1 + (uint64_t)fus[i].n_inputs + fus[i].n_outputs + fus[i].n_nodes;
    }
    fabric->occurrence_base = (uint32_t)next;
    return next + fabric->n_occurrences < UINT32_MAX ||
           qp_fabric_parse_fail(p, fabric->place, "the fabric has too many names");
}

static bool take_items(qp_fabric_parser *p, qp_fabric_fabric *fabric, qp_fabric_list *fus,
                       qp_fabric_list *occurrences)
{
    while (!qp_fabric_next_is(p, '}')) {
        bool good;
        if (qp_fabric_next_is_word(p, "fu"))
            good = take_fu(p, fabric, fus);
        else if (qp_fabric_next_is_word(p, "occ"))
            good = take_occurrence(p, fabric, occurrences);
        else
            good = qp_fabric_take_kind(p, '}', "'fu', 'occ' or '}'", NULL);
        if (!good)
            return false;
    }
    return qp_fabric_take(p);
}

bool qp_fabric_parse_fabric(qp_fabric_parser *p, qp_fabric_fabric *fabric)
{
    qp_fabric_list fus = qp_fabric_list_of(sizeof(qp_fabric_fu));
    qp_fabric_list occurrences = qp_fabric_list_of(sizeof(raw_occurrence));
    qp_fabric_fu *made = NULL;

    bool good =
        qp_fabric_new_scopes(p, 2, &fabric->scope) && qp_fabric_take_kind(p, '{', "'{'", NULL) &&
        take_items(p, fabric, &fus, &occurrences) && end_occurrences(p, fabric, &occurrences);
    if (good) {
        made = qp_arena_allocate(&p->model->arena, fus.count, sizeof *made);
        good = made != NULL || qp_fabric_parse_no_memory(p);
    }
    if (good) {
        if (fus.count > 0)
            memcpy(made, fus.items, fus.count * sizeof *made);
        fabric->fus = made;
        fabric->n_fus = (uint32_t)fus.count;
        good = number_names(p, fabric, made);
    }
    qp_fabric_list_free(p, &occurrences);
    qp_fabric_list_free(p, &fus);
    return good;
}
