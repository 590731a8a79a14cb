/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_layout.c - the layers of a function unit's picture, and where its wires bend.
 *
 * Wires that close a cycle are set aside, first those into a carry's next operand. The longest way
 * from the inputs then gives a node its layer, and a wire over several layers gets a bend in each.
 */
#include "cli/unit_making.h"

enum {
    NODE_HEIGHT = 42, /* the least: two lines of text */
    PORT_HEIGHT = 14
};

/* ---- boxes, nets and sinks ---------------------------------------------------------------- */

static uint32_t node_box(const qp_unit_making *m, uint32_t node)
{
    return m->fu->n_inputs + node;
}

static uint32_t output_box(const qp_unit_making *m, uint32_t port)
{
    return m->fu->n_inputs + m->fu->n_nodes + port;
}

static int32_t node_height(uint32_t pins)
{
    int32_t needed = ((int32_t)pins + 1) * QP_UNIT_PIN;
    return needed > NODE_HEIGHT ? needed : NODE_HEIGHT;
}

static void make_boxes(qp_unit_making *m, const int32_t *widths)
{
    const qp_fabric_fu *fu = m->fu;
    qp_unit_box *box = m->l->boxes;

    for (uint32_t i = 0; i < fu->n_inputs; i++)
        *box++ = (qp_unit_box){.kind = QP_UNIT_INPUT, .index = i, .n_out = 1};
    for (uint32_t i = 0; i < fu->n_nodes; i++) {
        const qp_fabric_node *node = &fu->nodes[i];
        *box = (qp_unit_box){
            .kind = QP_UNIT_NODE, .index = i, .n_in = node->n_in, .n_out = node->n_out};
        box->height = node_height(node->n_in > node->n_out ? node->n_in : node->n_out);
        box++;
    }
    for (uint32_t i = 0; i < fu->n_outputs; i++)
        *box++ = (qp_unit_box){.kind = QP_UNIT_OUTPUT, .index = i, .n_in = 1};
    m->l->n_boxes = (uint32_t)(box - m->l->boxes);
    for (uint32_t i = 0; i < m->l->n_boxes; i++) {
        m->l->boxes[i].width = widths[i];
        if (m->l->boxes[i].kind != QP_UNIT_NODE)
            m->l->boxes[i].height = PORT_HEIGHT;
    }
}

static void add_net(qp_unit_making *m, qp_fabric_endpoint source, uint32_t box)
{
    qp_unit_net *net = &m->l->nets[m->l->n_nets];
    bool from_node = source.node != QP_FABRIC_NO_INDEX;

    *net = (qp_unit_net){.box = box, .pin = from_node ? source.port : 0, .lane = -1};
    net->sinks = qp_fabric_fanout(m->fu, source, &net->n_sinks);
    for (uint32_t i = 0; i < net->n_sinks; i++) {
        const qp_fabric_endpoint *to = &m->fu->wires[net->sinks[i]].destination;
        bool to_port = to->node == QP_FABRIC_NO_INDEX;
        m->l->sinks[net->sinks[i]] =
            (qp_unit_sink){.net = m->l->n_nets,
                           .box = to_port ? output_box(m, to->port) : node_box(m, to->node),
                           .pin = to_port ? 0 : to->port};
    }
    m->l->n_nets++;
}

static void make_nets(qp_unit_making *m)
{
    const qp_fabric_fu *fu = m->fu;
    for (uint32_t i = 0; i < fu->n_inputs; i++)
        add_net(m, (qp_fabric_endpoint){QP_FABRIC_NO_INDEX, i}, i);
    for (uint32_t i = 0; i < fu->n_nodes; i++)
        for (uint32_t k = 0; k < fu->nodes[i].n_out; k++)
            add_net(m, (qp_fabric_endpoint){i, k}, node_box(m, i));
}

static bool allocate(qp_unit_making *m)
{
    const qp_fabric_fu *fu = m->fu;
    size_t nets = fu->n_inputs;

    for (uint32_t i = 0; i < fu->n_nodes; i++)
        nets += fu->nodes[i].n_out;
    m->l->boxes = qp_arena_allocate(m->arena, QP_UNIT_BOXES_MAX, sizeof *m->l->boxes);
    m->l->nets = qp_arena_allocate(m->arena, nets, sizeof *m->l->nets);
    m->l->sinks = qp_arena_allocate(m->arena, fu->n_sinks, sizeof *m->l->sinks);
    m->colour = qp_arena_allocate(m->arena, fu->n_nodes, sizeof *m->colour);
    m->stack = qp_arena_allocate(m->arena, fu->n_nodes, sizeof *m->stack);
    m->order = qp_arena_allocate(m->arena, QP_UNIT_BOXES_MAX, sizeof *m->order);
    m->first = qp_arena_allocate(m->arena, (size_t)fu->n_nodes + 4, sizeof *m->first);
    return m->l->boxes != NULL && m->l->nets != NULL && m->l->sinks != NULL && m->colour != NULL &&
           m->stack != NULL && m->order != NULL && m->first != NULL;
}

/* ---- layers ------------------------------------------------------------------------------- */

static uint32_t source_box(const qp_unit_making *m, uint32_t sink)
{
    return m->l->nets[m->l->sinks[sink].net].box;
}

/* Marks the nodes that one wire leads to. */
static void step_on(qp_unit_making *m, uint32_t sink, uint32_t *depth)
{
    const qp_unit_sink *to = &m->l->sinks[sink];
    const qp_unit_box *box = &m->l->boxes[to->box];
    if (to->back || box->kind != QP_UNIT_NODE || m->colour[box->index] != 0)
        return;
    m->colour[box->index] = 1;
    m->stack[(*depth)++] = box->index;
}

/* Whether one node reaches another over wires that are not set aside. */
static bool reaches(qp_unit_making *m, uint32_t from, uint32_t to)
{
    uint32_t depth = 0;

    memset(m->colour, 0, m->fu->n_nodes);
    m->stack[depth++] = from;
    m->colour[from] = 1;
    while (depth > 0) {
        uint32_t node = m->stack[--depth];
        if (node == to)
            return true;
        for (uint32_t k = 0; k < m->fu->nodes[node].n_out; k++) {
            uint32_t count;
            const uint32_t *sinks = qp_fabric_fanout(m->fu, (qp_fabric_endpoint){node, k}, &count);
            for (uint32_t i = 0; i < count; i++)
                step_on(m, sinks[i], &depth);
        }
    }
    return false;
}

static bool closes_cycle(qp_unit_making *m, uint32_t sink)
{
    const qp_unit_box *from = &m->l->boxes[source_box(m, sink)];
    const qp_unit_box *to = &m->l->boxes[m->l->sinks[sink].box];
    return !m->l->sinks[sink].back && from->kind == QP_UNIT_NODE && to->kind == QP_UNIT_NODE &&
           reaches(m, to->index, from->index);
}

static bool is_next_of_carry(const qp_unit_making *m, const qp_unit_sink *sink)
{
    const qp_unit_box *box = &m->l->boxes[sink->box];
    if (box->kind != QP_UNIT_NODE || m->fu->nodes[box->index].kind != QP_FABRIC_NODE_OP)
        return false;
    return sink->pin == 2 &&
           m->fu->nodes[box->index].family->contract == QP_FABRIC_CONTRACT_TRANSPARENT_3;
}

static void set_cycles_aside(qp_unit_making *m)
{
    for (uint32_t s = 0; s < m->fu->n_sinks; s++)
        if (is_next_of_carry(m, &m->l->sinks[s]))
            m->l->sinks[s].back = closes_cycle(m, s);
    for (uint32_t s = 0; s < m->fu->n_sinks; s++)
        if (closes_cycle(m, s))
            m->l->sinks[s].back = true;
}

/* The longest way from the inputs; as many rounds as there are layers at most. */
static void set_layers(qp_unit_making *m)
{
    bool moved = true;
    for (uint32_t round = 0; moved && round <= m->fu->n_nodes; round++) {
        moved = false;
        for (uint32_t s = 0; s < m->fu->n_sinks; s++) {
            qp_unit_box *box = &m->l->boxes[m->l->sinks[s].box];
            uint32_t least = m->l->boxes[source_box(m, s)].layer + 1;
            if (m->l->sinks[s].back || box->layer >= least)
                continue;
            box->layer = least;
            moved = true;
        }
    }
}

/* The layer of a node's first reader; UINT32_MAX where none lies behind it. */
static uint32_t first_reader(const qp_unit_making *m, uint32_t node)
{
    uint32_t layer = UINT32_MAX;
    for (uint32_t s = 0; s < m->fu->n_sinks; s++) {
        uint32_t reader = m->l->boxes[m->l->sinks[s].box].layer;
        if (source_box(m, s) == node_box(m, node) && !m->l->sinks[s].back && reader < layer)
            layer = reader;
    }
    return layer;
}

/* Nodes that only ports feed stand right before their first reader. */
static void move_late(qp_unit_making *m)
{
    for (uint32_t node = 0; node < m->fu->n_nodes; node++) {
        qp_unit_box *box = &m->l->boxes[node_box(m, node)];
        uint32_t reader = first_reader(m, node);
        bool fed_by_ports = true;
        for (uint32_t i = 0; i < box->n_in && fed_by_ports; i++) {
            uint32_t sink = m->fu->nodes[node].input_base + i;
            fed_by_ports = m->l->boxes[source_box(m, sink)].kind == QP_UNIT_INPUT;
        }
        if (fed_by_ports && reader != UINT32_MAX && reader > 1)
            box->layer = reader - 1;
    }
}

static void align_outputs(qp_unit_making *m)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < m->l->n_boxes; i++) {
        qp_unit_box *box = &m->l->boxes[i];
        if (box->kind == QP_UNIT_NODE && box->layer == 0)
            box->layer = 1; /* all that it reads comes from behind it */
        last = box->kind == QP_UNIT_NODE && box->layer > last ? box->layer : last;
    }
    for (uint32_t i = 0; i < m->fu->n_outputs; i++)
        m->l->boxes[output_box(m, i)].layer = last + 1;
    m->l->n_layers = last + 2;
}

/* ---- bends and lanes ---------------------------------------------------------------------- */

static bool make_bends(qp_unit_making *m)
{
    for (uint32_t s = 0; s < m->fu->n_sinks; s++) {
        qp_unit_net *net = &m->l->nets[m->l->sinks[s].net];
        uint32_t layer = m->l->boxes[m->l->sinks[s].box].layer;
        m->l->sinks[s].back = layer <= m->l->boxes[net->box].layer;
        if (!m->l->sinks[s].back && layer > net->last_layer)
            net->last_layer = layer;
    }
    for (uint32_t n = 0; n < m->l->n_nets; n++) {
        qp_unit_net *net = &m->l->nets[n];
        net->first_bend = m->l->n_boxes;
        for (uint32_t k = m->l->boxes[net->box].layer + 1; k < net->last_layer; k++) {
            if (m->l->n_boxes == QP_UNIT_BOXES_MAX)
                return false;
            m->l->boxes[m->l->n_boxes++] =
                (qp_unit_box){.kind = QP_UNIT_BEND, .index = n, .layer = k, .n_in = 1, .n_out = 1};
        }
    }
    return true;
}

static void make_lanes(qp_unit_making *m)
{
    int32_t lane = 0;
    for (uint32_t n = 0; n < m->l->n_nets; n++)
        for (uint32_t i = 0; i < m->l->nets[n].n_sinks; i++)
            if (m->l->sinks[m->l->nets[n].sinks[i]].back) {
                m->l->nets[n].lane = lane++;
                break;
            }
}

const qp_unit_box *qp_unit_bend(const qp_unit_layout *layout, uint32_t net, uint32_t layer)
{
    const qp_unit_net *n = &layout->nets[net];
    return &layout->boxes[n->first_bend + (layer - layout->boxes[n->box].layer - 1)];
}

int32_t qp_unit_pin(const qp_unit_box *box, bool input, uint32_t pin)
{
    int32_t count = (int32_t)(input ? box->n_in : box->n_out);
    return box->y + (box->height - (count - 1) * QP_UNIT_PIN) / 2 + (int32_t)pin * QP_UNIT_PIN;
}

int32_t qp_unit_lane(const qp_unit_layout *layout, uint32_t net)
{
    return layout->lanes_y + layout->nets[net].lane * QP_UNIT_TRACK;
}

int32_t qp_unit_leaving(const qp_unit_layout *layout, uint32_t net, uint32_t layer)
{
    const qp_unit_box *box = &layout->boxes[layout->nets[net].box];
    if (box->layer == layer)
        return qp_unit_pin(box, false, layout->nets[net].pin);
    return qp_unit_pin(qp_unit_bend(layout, net, layer), false, 0);
}

static void make_order(qp_unit_making *m)
{
    uint32_t count = 0;
    for (uint32_t layer = 0; layer < m->l->n_layers; layer++) {
        m->first[layer] = count;
        for (uint32_t i = 0; i < m->l->n_boxes; i++)
            if (m->l->boxes[i].layer == layer)
                m->order[count++] = i;
    }
    m->first[m->l->n_layers] = count;
}

/* ---- all together ------------------------------------------------------------------------- */

static bool is_too_large(const qp_fabric_fu *fu)
{
    uint64_t parts = (uint64_t)fu->n_inputs + fu->n_nodes + fu->n_outputs;
    uint64_t pins = fu->n_sinks;
    for (uint32_t i = 0; i < fu->n_nodes; i++)
        pins += fu->nodes[i].n_out;
    return parts > QP_UNIT_PARTS_MAX || pins > QP_UNIT_WIRES_MAX;
}

qp_status qp_unit_layout_make(const qp_fabric_fu *fu, const int32_t *widths, qp_arena *arena,
                              qp_unit_layout *layout)
{
    qp_unit_making m = {.l = layout, .fu = fu, .arena = arena};

    *layout = (qp_unit_layout){.fu = fu};
    if (is_too_large(fu))
        return QP_TOO_LARGE;
    if (!allocate(&m))
        return QP_NO_MEMORY;
    make_boxes(&m, widths);
    make_nets(&m);
    set_cycles_aside(&m);
    set_layers(&m);
    move_late(&m);
    align_outputs(&m);
    if (!make_bends(&m))
        return QP_TOO_LARGE;
    make_lanes(&m);
    make_order(&m);
    return qp_unit_set_heights(&m) && qp_unit_make_tracks(&m) ? QP_OK : QP_NO_MEMORY;
}
