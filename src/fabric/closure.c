/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closure.c - the closure of section 10. Activating an op makes the sources of its operands and all
 * its results active; an active value activates each op and demux that it feeds, and a mux only at
 * the lane that is chosen. Without rows each choice of a route is tried by running the closure
 * again with the choices so far, so nothing has to be undone.
 */
#include "fabric/closure.h"

bool qp_fabric_closure_init(qp_fabric_closure *c, const qp_fabric_fu *fu, uint64_t *work,
                            qp_arena *arena)
{
    const size_t nodes = fu->n_nodes, sinks = fu->n_sinks;

    *c = (qp_fabric_closure){.fu = fu, .work = work};
    c->active = qp_arena_allocate(arena, nodes, sizeof *c->active);
    c->listed = qp_arena_allocate(arena, nodes, sizeof *c->listed);
    c->route = qp_arena_allocate(arena, nodes, sizeof *c->route);
    c->edge = qp_arena_allocate(arena, sinks, sizeof *c->edge);
    c->left = qp_arena_allocate(arena, sinks, sizeof *c->left);
    c->value = qp_arena_allocate(arena, sinks, sizeof *c->value);
    c->nodes = qp_arena_allocate(arena, nodes, sizeof *c->nodes);
    c->edges = qp_arena_allocate(arena, sinks, sizeof *c->edges);
    c->values = qp_arena_allocate(arena, sinks, sizeof *c->values);
    c->waiting = qp_arena_allocate(arena, nodes, sizeof *c->waiting);
    c->fed = qp_arena_allocate(arena, sinks, sizeof *c->fed);
    c->choices = qp_arena_allocate(arena, nodes + sinks, sizeof *c->choices);
    if (c->active == NULL || c->listed == NULL || c->route == NULL || c->edge == NULL ||
        c->left == NULL || c->value == NULL || c->nodes == NULL || c->edges == NULL ||
        c->values == NULL || c->waiting == NULL || c->fed == NULL || c->choices == NULL)
        return false;
    for (size_t i = 0; i < nodes; i++)
        c->route[i] = QP_FABRIC_NO_INDEX;
    return true;
}

/* Takes back all marks; routes only of the nodes that were reached. */
static void reset(qp_fabric_closure *c)
{
    for (uint32_t i = 0; i < c->node_count; i++) {
        c->active[c->nodes[i]] = false;
        c->route[c->nodes[i]] = QP_FABRIC_NO_INDEX;
    }
    for (uint32_t i = 0; i < c->edge_count; i++)
        c->edge[c->edges[i]] = false;
    for (uint32_t i = 0; i < c->value_count; i++)
        c->value[c->values[i]] = false;
    for (uint32_t i = 0; i < c->fed_count; i++)
        c->left[c->fed[i]] = false;
    c->node_count = c->edge_count = c->value_count = c->nodes_done = c->values_done = 0;
    c->waiting_count = c->fed_count = c->waiting_done = c->fed_done = c->choices_done = 0;
    c->fault = QP_FABRIC_CLOSURE_GOOD;
}

static void fail(qp_fabric_closure *c, qp_fabric_closure_fault fault, uint32_t node)
{
    if (c->fault != QP_FABRIC_CLOSURE_GOOD)
        return;
    c->fault = fault;
    c->fault_node = node;
}

/* One step of the work. */
static void step(qp_fabric_closure *c)
{
    if (*c->work == 0)
        fail(c, QP_FABRIC_CLOSURE_WORK, QP_FABRIC_NO_INDEX);
    else
        --*c->work;
}

/* ---- marks -------------------------------------------------------------------------------- */

static void mark_node(qp_fabric_closure *c, uint32_t node)
{
    if (c->active[node])
        return;
    if (c->constrained && c->fu->nodes[node].kind == QP_FABRIC_NODE_OP && !c->listed[node])
        fail(c, QP_FABRIC_CLOSURE_UNLISTED_OP, node);
    if (c->fu->nodes[node].kind != QP_FABRIC_NODE_OP && c->route[node] == QP_FABRIC_NO_INDEX) {
        if (c->constrained)
            fail(c, QP_FABRIC_CLOSURE_NO_ROUTE, node);
        c->waiting[c->waiting_count++] = node;
    }
    c->active[node] = true;
    c->nodes[c->node_count++] = node;
}

static void mark_edge(qp_fabric_closure *c, uint32_t wire)
{
    if (c->edge[wire])
        return;
    c->edge[wire] = true;
    c->edges[c->edge_count++] = wire;
}

/* A value becomes active; one that is wired to nothing has no consumer. */
static void mark_value(qp_fabric_closure *c, qp_fabric_endpoint source)
{
    uint32_t count;
    const uint32_t *wires = qp_fabric_fanout(c->fu, source, &count);

    step(c);
    if (wires == NULL) {
        fail(c, QP_FABRIC_CLOSURE_NO_CONSUMER, source.node);
        return;
    }
    const uint32_t position = (uint32_t)(wires - c->fu->by_source);
    if (c->value[position])
        return;
    c->value[position] = true;
    c->values[c->value_count++] = position;
}

/* A demux must leave by this output. One that was waiting for its route has it now; what feeds it
 * is active already. */
static void ask_output(qp_fabric_closure *c, uint32_t node, uint32_t output)
{
    if (c->route[node] == QP_FABRIC_NO_INDEX && !c->constrained) {
        c->route[node] = output;
        if (c->active[node]) {
            mark_edge(c, c->fu->nodes[node].input_base);
            mark_value(c, (qp_fabric_endpoint){node, output});
        }
    }
    mark_node(c, node);
    if (c->route[node] != QP_FABRIC_NO_INDEX && c->route[node] != output)
        fail(c, QP_FABRIC_CLOSURE_OTHER_OUTPUT, node);
}

/* What makes a value that is needed: it becomes active too. */
static void ask_source(qp_fabric_closure *c, qp_fabric_endpoint source)
{
    if (source.node != QP_FABRIC_NO_INDEX) {
        if (c->fu->nodes[source.node].kind == QP_FABRIC_NODE_DEMUX)
            ask_output(c, source.node, source.port);
        else
            mark_node(c, source.node);
    }
    mark_value(c, source);
}

/* ---- following ---------------------------------------------------------------------------- */

static void follow_op(qp_fabric_closure *c, uint32_t node)
{
    const qp_fabric_node *op = &c->fu->nodes[node];

    for (uint32_t i = 0; i < op->n_in && c->fault == QP_FABRIC_CLOSURE_GOOD; i++)
        ask_source(c, c->fu->wires[op->input_base + i].source);
    for (uint32_t i = 0; i < op->n_out && c->fault == QP_FABRIC_CLOSURE_GOOD; i++)
        mark_value(c, (qp_fabric_endpoint){node, i});
}

/* A mux or demux whose route is known. */
static void follow_selector(qp_fabric_closure *c, uint32_t node)
{
    const qp_fabric_node *selector = &c->fu->nodes[node];
    const bool mux = selector->kind == QP_FABRIC_NODE_MUX;
    const uint32_t wire = selector->input_base + (mux ? c->route[node] : 0);

    mark_edge(c, wire);
    ask_source(c, c->fu->wires[wire].source);
    mark_value(c, (qp_fabric_endpoint){node, mux ? 0 : c->route[node]});
}

/* A value comes to the end of a wire. */
static void follow_wire(qp_fabric_closure *c, uint32_t wire)
{
    const qp_fabric_endpoint end = c->fu->wires[wire].destination;

    step(c);
    if (end.node == QP_FABRIC_NO_INDEX) {
        mark_edge(c, wire);
    } else if (c->fu->nodes[end.node].kind != QP_FABRIC_NODE_MUX) {
        mark_edge(c, wire);
        mark_node(c, end.node);
    } else if (c->route[end.node] == end.port) {
        mark_node(c, end.node);
    } else if (c->route[end.node] == QP_FABRIC_NO_INDEX && !c->constrained) {
        c->fed[c->fed_count++] = wire;
    }
}

static void follow_value(qp_fabric_closure *c, uint32_t position)
{
    const qp_fabric_fu *fu = c->fu;
    uint32_t count;
    const uint32_t *wires = qp_fabric_fanout(fu, fu->wires[fu->by_source[position]].source, &count);

    for (uint32_t i = 0; i < count && c->fault == QP_FABRIC_CLOSURE_GOOD; i++)
        follow_wire(c, wires[i]);
}

/* Until nothing new becomes active, or there is a fault. */
static void follow(qp_fabric_closure *c)
{
    while (c->fault == QP_FABRIC_CLOSURE_GOOD) {
        if (c->nodes_done < c->node_count) {
            const uint32_t node = c->nodes[c->nodes_done++];
            if (c->fu->nodes[node].kind == QP_FABRIC_NODE_OP)
                follow_op(c, node);
            else if (c->route[node] != QP_FABRIC_NO_INDEX)
                follow_selector(c, node);
        } else if (c->values_done < c->value_count) {
            follow_value(c, c->values[c->values_done++]);
        } else {
            return;
        }
    }
}

/* Every active value needs a consumer. */
static void check_consumers(qp_fabric_closure *c)
{
    for (uint32_t i = 0; i < c->value_count && c->fault == QP_FABRIC_CLOSURE_GOOD; i++) {
        const qp_fabric_endpoint source = c->fu->wires[c->fu->by_source[c->values[i]]].source;
        uint32_t count, k = 0;
        const uint32_t *wires = qp_fabric_fanout(c->fu, source, &count);
        while (k < count && !c->edge[wires[k]])
            k++;
        if (k == count)
            fail(c, QP_FABRIC_CLOSURE_NO_CONSUMER, source.node);
    }
}

/* ---- rows --------------------------------------------------------------------------------- */

/* The row's own marks, set and, behind the closure, taken back. */
static void list_row(qp_fabric_closure *c, const qp_fabric_row *row, bool set)
{
    for (uint32_t i = 0; i < row->op_count; i++)
        c->listed[row->ops[i]] = set;
    for (uint32_t i = 0; i < row->route_count; i++)
        c->route[row->routes[i].node] = set ? row->routes[i].port : QP_FABRIC_NO_INDEX;
}

void qp_fabric_close_row(qp_fabric_closure *c, const qp_fabric_row *row)
{
    reset(c);
    c->constrained = true;
    list_row(c, row, true);
    for (uint32_t i = 0; i < row->op_count; i++)
        mark_node(c, row->ops[i]);
    follow(c);
    check_consumers(c);
    for (uint32_t i = 0; i < row->route_count && c->fault == QP_FABRIC_CLOSURE_GOOD; i++) {
        step(c);
        if (!c->active[row->routes[i].node])
            fail(c, QP_FABRIC_CLOSURE_UNUSED_ROUTE, row->routes[i].node);
    }
    if (c->fault != QP_FABRIC_CLOSURE_GOOD)
        list_row(c, row, false);
    for (uint32_t i = 0; i < row->op_count; i++)
        c->listed[row->ops[i]] = false;
}

/* ---- without rows ------------------------------------------------------------------------- */

static bool is_open_wire(const qp_fabric_closure *c, uint32_t wire)
{
    return c->route[c->fu->wires[wire].destination.node] == QP_FABRIC_NO_INDEX && !c->left[wire];
}

/* The first thing that is not decided; false where all is. */
static bool find_choice(qp_fabric_closure *c, qp_fabric_choice *choice)
{
    while (c->waiting_done < c->waiting_count &&
           c->route[c->waiting[c->waiting_done]] != QP_FABRIC_NO_INDEX)
        c->waiting_done++;
    if (c->waiting_done < c->waiting_count) {
        *choice = (qp_fabric_choice){false, c->waiting[c->waiting_done], 0};
        return true;
    }
    while (c->fed_done < c->fed_count && !is_open_wire(c, c->fed[c->fed_done]))
        c->fed_done++;
    if (c->fed_done == c->fed_count)
        return false;
    *choice = (qp_fabric_choice){true, c->fed[c->fed_done], 0};
    return true;
}

/* The first output of a node, from `output` on, that is wired; false for none. */
static bool find_wired_output(const qp_fabric_fu *fu, uint32_t node, uint32_t *output)
{
    uint32_t low = 0, high = fu->n_sinks;

    while (low < high) { /* `by_source` ascends; the unit's inputs come first */
        const uint32_t middle = low + (high - low) / 2;
        const qp_fabric_endpoint source = fu->wires[fu->by_source[middle]].source;
        if (source.node + 1 < node + 1 || (source.node == node && source.port < *output))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == fu->n_sinks || fu->wires[fu->by_source[low]].source.node != node)
        return false;
    *output = fu->wires[fu->by_source[low]].source.port;
    return true;
}

/* Moves an option from where it is on to one that there is: every lane of a mux, every output of a
 * demux that is wired. False for none. */
static bool settle_option(const qp_fabric_fu *fu, qp_fabric_choice *choice)
{
    if (choice->enters)
        return choice->option < 2;
    const qp_fabric_node *node = &fu->nodes[choice->number];
    if (node->kind == QP_FABRIC_NODE_MUX)
        return choice->option < node->n_in;
    return find_wired_output(fu, choice->number, &choice->option);
}

static void apply(qp_fabric_closure *c, const qp_fabric_choice *choice)
{
    if (!choice->enters) {
        c->route[choice->number] = choice->option;
        follow_selector(c, choice->number);
    } else if (choice->option == 0) {
        c->left[choice->number] = true;
    } else {
        const qp_fabric_endpoint end = c->fu->wires[choice->number].destination;
        c->route[end.node] = end.port;
        if (c->active[end.node])
            follow_selector(c, end.node);
        else
            mark_node(c, end.node);
    }
}

/* The closure with the choices so far; what is then open gets its first option. */
static void run(qp_fabric_closure *c, uint32_t start)
{
    qp_fabric_choice choice;

    reset(c);
    mark_node(c, start);
    follow(c);
    while (c->fault == QP_FABRIC_CLOSURE_GOOD && find_choice(c, &choice)) {
        step(c);
        if (c->choices_done == c->choice_count) {
            if (!settle_option(c->fu, &choice)) {
                fail(c, QP_FABRIC_CLOSURE_NO_CONSUMER, choice.number);
                return;
            }
            c->choices[c->choice_count++] = choice;
        }
        apply(c, &c->choices[c->choices_done++]);
        follow(c);
    }
    check_consumers(c);
}

bool qp_fabric_close_next(qp_fabric_closure *c, uint32_t start, bool first)
{
    if (first)
        c->choice_count = 0;
    while (!first && c->choice_count > 0) {
        c->choices[c->choice_count - 1].option++;
        if (settle_option(c->fu, &c->choices[c->choice_count - 1]))
            break;
        c->choice_count--;
    }
    if (!first && c->choice_count == 0)
        return false;
    run(c, start);
    return true;
}
