/* SPDX-License-Identifier: Apache-2.0 */
/* unit_picture.c - a function unit drawn as SVG. */
#include "cli/unit_picture.h"
#include "cli/html.h"
#include "cli/unit_layout.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LEFT = 14,
    TITLE = 30,  /* above the frame */
    INSIDE = 14, /* between the frame and what is in it */
    NODE_LEAST = 58,
    LABEL_MAX = 30
};

const char qp_unit_picture_style[] =
    "text{font-family:'DejaVu Sans',Verdana,sans-serif;font-size:9px;fill:#3e4c59}"
    ".title{font-size:12px;font-weight:bold;fill:#1f2933}"
    ".name{font-size:11px;font-weight:bold;fill:#1f2933}"
    ".actor{font-size:10px;font-weight:bold;fill:#0b5cad}"
    ".frame{fill:#fcfdfe;stroke:#9aa5b1;stroke-width:1}"
    ".box{fill:#e8f1fb;stroke:#52606d;stroke-width:1}"
    ".state{fill:#fff1dc}.constant{fill:#e9f6ea}.route{fill:#eceff1}.port{fill:#fff}"
    ".wire{fill:none;stroke:#52606d;stroke-width:1.3}"
    ".thin{stroke-width:0.9}.control{stroke-width:1;stroke-dasharray:3 2}"
    ".dot,.tip{fill:#52606d}"
    ".off{opacity:0.32}"
    ".on.box{stroke:#0b5cad;stroke-width:2}.on.wire{stroke:#0b5cad;stroke-width:1.8}"
    ".on.thin{stroke-width:1.2}.on.dot,.on.tip{fill:#0b5cad}";

typedef struct picture {
    const qp_unit_view *view;
    qp_unit_layout layout;
    qp_buffer *svg;
    bool *active;      /* by sink; NULL where nothing stands out */
    int32_t left, top; /* of the layout */
} picture;

/* ---- labels ------------------------------------------------------------------------------- */

typedef struct label {
    char text[LABEL_MAX + 1];
} label;

static label cut(const char *text)
{
    label result = {""};
    size_t length = strlen(text);
    bool long_text = length > LABEL_MAX;

    memcpy(result.text, text, long_text ? LABEL_MAX - 2 : length);
    if (long_text)
        memcpy(result.text + LABEL_MAX - 2, "..", 2);
    return result;
}

static const char *name_of(const picture *p, qp_fabric_symbol symbol)
{
    return qp_fabric_name_text(p->view->model, symbol);
}

/* "addi" of arith.addi, "sadd.sat" of llvm.intr.sadd.sat. */
static const char *short_name(const char *schema)
{
    static const char *const prefixes[] = {"arith.",    "math.",      "vector.",
                                           "dataflow.", "llvm.intr.", "llvm."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(schema, prefixes[i], length) == 0)
            return schema + length;
    }
    return schema;
}

/* The operations that a node can be; for a mux or demux its kind, with the lane that is chosen. */
static label ops_label(const picture *p, uint32_t index)
{
    const qp_fabric_node *node = &p->view->fu->nodes[index];
    const qp_fabric_derived *active = p->view->active;
    char text[160] = "";
    size_t used = 0;

    if (node->kind != QP_FABRIC_NODE_OP) {
        const char *kind = node->kind == QP_FABRIC_NODE_MUX ? "mux" : "demux";
        snprintf(text, sizeof text, "%s", kind);
        for (uint32_t i = 0; active != NULL && i < active->route_count; i++)
            if (active->routes[i].node == index)
                snprintf(text, sizeof text, "%s, lane %" PRIu32, kind, active->routes[i].port);
        return cut(text);
    }
    for (uint32_t i = 0; i < node->family->member_count && used + 20 < sizeof text; i++) {
        if ((node->enabled >> i & 1) == 0)
            continue;
        const char *schema = qp_fabric_schemas[node->family->members[i].schema].name;
        int wrote = snprintf(text + used, sizeof text - used, "%s%.18s", used > 0 ? " " : "",
                             short_name(schema));
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return cut(text);
}

static const qp_fabric_actor *actor_on(const picture *p, uint32_t node)
{
    const qp_fabric_realization *r = p->view->realization;
    for (uint32_t i = 0; r != NULL && i < r->n_bindings; i++)
        if (r->bindings[i].node == node)
            return &p->view->graph->actors[r->bindings[i].actor];
    return NULL;
}

/* "%n = addi" where a map puts an actor on the node; else "". */
static label actor_label(const picture *p, uint32_t node)
{
    const qp_fabric_actor *actor = actor_on(p, node);
    char text[160] = "";
    if (actor != NULL)
        snprintf(text, sizeof text, "%%%.60s = %s",
                 name_of(p, p->view->graph->values[actor->results[0]].name),
                 short_name(actor->schema->name));
    return cut(text);
}

/* The value that a map puts on a port of the unit, or NULL. */
static const char *port_value(const picture *p, bool input, uint32_t port)
{
    const qp_fabric_realization *r = p->view->realization;
    for (uint32_t i = 0; r != NULL && i < r->n_bounds; i++) {
        const qp_fabric_bound *bound = &r->bounds[i];
        const qp_fabric_actor *actor = &p->view->graph->actors[bound->actor];
        uint32_t count = input ? actor->operand_count : actor->result_count;
        if (bound->input != input || bound->port != port || bound->ordinal >= count)
            continue;
        uint32_t value = (input ? actor->operands : actor->results)[bound->ordinal];
        return name_of(p, p->view->graph->values[value].name);
    }
    return NULL;
}

static label port_label(const picture *p, bool input, uint32_t index)
{
    const qp_fabric_fu *fu = p->view->fu;
    const qp_fabric_port *port = input ? &fu->inputs[index] : &fu->outputs[index];
    const char *value = port_value(p, input, index);
    char text[200];

    snprintf(text, sizeof text, "%.60s:%" PRIu32 "%s%s%.60s", name_of(p, port->name),
             port->width.bits, port->width.tagged ? "t" : "", value != NULL ? "  %" : "",
             value != NULL ? value : "");
    return cut(text);
}

/* Tenths of a pixel a character, of a font a little wider than most. */
static int32_t text_width(const char *text, int32_t tenths)
{
    return ((int32_t)strlen(text) * tenths + 9) / 10;
}

static int32_t greater(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t node_width(const picture *p, uint32_t node)
{
    label ops = ops_label(p, node), actor = actor_label(p, node);
    label name = cut(name_of(p, p->view->fu->nodes[node].name));
    int32_t below = actor.text[0] != '\0' ? text_width(actor.text, 70) : text_width(ops.text, 58);
    return greater(greater(text_width(name.text, 77), below) + 18, NODE_LEAST);
}

/* ---- what stands out ---------------------------------------------------------------------- */

static bool node_is_active(const picture *p, uint32_t node)
{
    const qp_fabric_derived *active = p->view->active;
    for (uint32_t i = 0; active != NULL && i < active->node_count; i++)
        if (active->nodes[i] == node)
            return true;
    return false;
}

static bool port_is_active(const picture *p, bool input, uint32_t port)
{
    for (uint32_t s = 0; p->active != NULL && s < p->view->fu->n_sinks; s++) {
        const qp_fabric_wire *wire = &p->view->fu->wires[s];
        const qp_fabric_endpoint *end = input ? &wire->source : &wire->destination;
        if (end->node == QP_FABRIC_NO_INDEX && end->port == port && p->active[s])
            return true;
    }
    return false;
}

static const char *standing(const picture *p, bool active)
{
    return p->view->active == NULL ? "" : active ? " on" : " off";
}

/* ---- wires -------------------------------------------------------------------------------- */

/* A pass over the wires: those that stand out, or those that do not. */
typedef struct pass {
    picture *p;
    bool active;
    const char *standing;
} pass;

static bool is_in(const pass *w, uint32_t sink)
{
    return w->p->active == NULL || w->p->active[sink] == w->active;
}

/* Whether a wire of the pass goes on to the layer or beyond. */
static bool goes_on(const pass *w, const qp_unit_net *net, uint32_t layer)
{
    const qp_unit_layout *l = &w->p->layout;
    for (uint32_t i = 0; i < net->n_sinks; i++) {
        const qp_unit_sink *sink = &l->sinks[net->sinks[i]];
        if (!sink->back && is_in(w, net->sinks[i]) && l->boxes[sink->box].layer >= layer)
            return true;
    }
    return false;
}

static bool runs_back(const pass *w, const qp_unit_net *net)
{
    for (uint32_t i = 0; i < net->n_sinks; i++)
        if (w->p->layout.sinks[net->sinks[i]].back && is_in(w, net->sinks[i]))
            return true;
    return false;
}

static qp_fabric_width net_width(const qp_unit_layout *l, uint32_t net)
{
    const qp_unit_box *box = &l->boxes[l->nets[net].box];
    qp_fabric_endpoint end = {box->kind == QP_UNIT_NODE ? box->index : QP_FABRIC_NO_INDEX,
                              box->kind == QP_UNIT_NODE ? l->nets[net].pin : box->index};
    return qp_fabric_endpoint_width(l->fu, end, true);
}

static void put_path(const pass *w, uint32_t net, const qp_buffer *path)
{
    uint32_t bits = net_width(&w->p->layout, net).bits;
    if (path->size == 0)
        return;
    qp_buffer_format(w->p->svg, "<path class=\"wire%s%s\" d=\"",
                     bits == 0   ? " control"
                     : bits == 1 ? " thin"
                                 : "",
                     w->standing);
    qp_buffer_append(w->p->svg, path->bytes, path->size);
    qp_buffer_text(w->p->svg, "\"/>\n");
}

static void put_dot(const pass *w, int32_t x, int32_t y)
{
    qp_buffer_format(w->p->svg, "<circle class=\"dot%s\" cx=\"%d\" cy=\"%d\" r=\"2\"/>\n",
                     w->standing, x + w->p->left, y + w->p->top);
}

/* One net in one channel: from the left, up or down its track, to each end on the right. */
typedef struct stretch {
    const pass *w;
    qp_buffer *path;
    int32_t x, y; /* where it comes from */
    const qp_unit_track *track;
    int32_t top, bottom; /* of the ends so far */
    int32_t ends[QP_UNIT_PARTS_MAX];
    uint32_t n_ends;
} stretch;

static void add_end(stretch *t, int32_t x, int32_t y)
{
    const picture *p = t->w->p;
    qp_buffer_format(t->path, "M%d %d", t->x + p->left, t->y + p->top);
    if (t->track != NULL && y != t->y)
        qp_buffer_format(t->path, "H%dV%d", t->track->x + p->left, y + p->top);
    if (x >= 0)
        qp_buffer_format(t->path, "H%d", x + p->left);
    t->top = y < t->top ? y : t->top;
    t->bottom = y > t->bottom ? y : t->bottom;
    if (t->n_ends < QP_UNIT_PARTS_MAX)
        t->ends[t->n_ends++] = y;
}

/* Dots where the wire parts. */
static void put_dots(const stretch *t)
{
    bool splits = t->top < t->y && t->y < t->bottom;
    if (t->track == NULL)
        return;
    for (uint32_t i = 0; i < t->n_ends; i++) {
        splits |= t->ends[i] == t->y && t->top < t->bottom;
        if (t->ends[i] != t->y && t->top < t->ends[i] && t->ends[i] < t->bottom)
            put_dot(t->w, t->track->x, t->ends[i]);
    }
    if (splits)
        put_dot(t->w, t->track->x, t->y);
}

static void put_channel(const pass *w, uint32_t net, uint32_t channel, qp_buffer *path)
{
    const qp_unit_layout *l = &w->p->layout;
    const qp_unit_net *n = &l->nets[net];
    const qp_unit_box *from = &l->boxes[n->box];
    stretch t = {.w = w, .path = path, .track = qp_unit_track_of(l, net, channel)};

    if (from->layer < channel)
        from = qp_unit_bend(l, net, channel);
    t.x = from->x + from->width;
    t.y = t.top = t.bottom = qp_unit_pin(from, false, from->kind == QP_UNIT_BEND ? 0 : n->pin);
    if (from->layer == l->boxes[n->box].layer && n->lane >= 0 && runs_back(w, n))
        add_end(&t, -1, qp_unit_lane(l, net));
    if (n->last_layer > channel + 1 && goes_on(w, n, channel + 2)) {
        const qp_unit_box *bend = qp_unit_bend(l, net, channel + 1);
        add_end(&t, bend->x + bend->width, qp_unit_pin(bend, true, 0));
    }
    for (uint32_t i = 0; i < n->n_sinks; i++) {
        const qp_unit_sink *sink = &l->sinks[n->sinks[i]];
        const qp_unit_box *box = &l->boxes[sink->box];
        if (!sink->back && is_in(w, n->sinks[i]) && box->layer == channel + 1)
            add_end(&t, box->x, qp_unit_pin(box, true, sink->pin));
    }
    put_dots(&t);
}

/* From the net's lane up to the sinks in its own layer and before. */
static void put_back(const pass *w, uint32_t net, qp_buffer *path)
{
    const picture *p = w->p;
    const qp_unit_layout *l = &p->layout;
    const qp_unit_track *own = qp_unit_track_of(l, net, l->boxes[l->nets[net].box].layer);

    for (uint32_t i = 0; i < l->nets[net].n_sinks && own != NULL; i++) {
        const qp_unit_sink *sink = &l->sinks[l->nets[net].sinks[i]];
        const qp_unit_box *box = &l->boxes[sink->box];
        if (!sink->back || !is_in(w, l->nets[net].sinks[i]))
            continue;
        const qp_unit_track *track = qp_unit_track_of(l, net, box->layer - 1);
        if (track != NULL)
            qp_buffer_format(path, "M%d %dH%dV%dH%d", own->x + p->left,
                             qp_unit_lane(l, net) + p->top, track->x + p->left,
                             qp_unit_pin(box, true, sink->pin) + p->top, box->x + p->left);
    }
}

static void put_wires(const pass *w)
{
    const qp_unit_layout *l = &w->p->layout;
    for (uint32_t net = 0; net < l->n_nets; net++) {
        uint32_t own = l->boxes[l->nets[net].box].layer;
        uint32_t last = l->nets[net].last_layer;
        qp_buffer path;
        qp_buffer_init(&path, NULL);
        for (uint32_t channel = own; channel < last || channel == own; channel++)
            if (channel + 1 < l->n_layers)
                put_channel(w, net, channel, &path);
        put_back(w, net, &path);
        put_path(w, net, &path);
        w->p->svg->failed |= path.failed;
        qp_buffer_free(&path);
    }
    for (uint32_t s = 0; s < l->fu->n_sinks; s++) {
        const qp_unit_box *box = &l->boxes[l->sinks[s].box];
        int32_t y = qp_unit_pin(box, true, l->sinks[s].pin) + w->p->top, x = box->x + w->p->left;
        if (is_in(w, s))
            qp_buffer_format(w->p->svg, "<path class=\"tip%s\" d=\"M%d %dl-6 -3v6z\"/>\n",
                             w->standing, x, y);
    }
}

/* ---- boxes -------------------------------------------------------------------------------- */

static void put_text(const picture *p, const char *class_name, int32_t x, int32_t y,
                     const char *text)
{
    qp_buffer_format(p->svg, "<text class=\"%s\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                     class_name, x, y);
    qp_html_string(p->svg, text);
    qp_buffer_text(p->svg, "</text>\n");
}

static const char *box_class(const qp_fabric_node *node)
{
    if (node->kind != QP_FABRIC_NODE_OP)
        return "box route";
    if (node->family->relation == QP_FABRIC_RELATION_DIRECT &&
        node->family->params == QP_FABRIC_PARAMS_PAYLOAD_CAPACITY)
        return "box constant";
    return node->family->contract == QP_FABRIC_CONTRACT_ELASTIC ? "box" : "box state";
}

/* A mux narrows to the right, a demux to the left. */
static void put_shape(const picture *p, const qp_fabric_node *node, const qp_unit_box *box,
                      const char *stand)
{
    enum { SLOPE = 8 };
    int32_t x = box->x + p->left, y = box->y + p->top, right = x + box->width;
    int32_t bottom = y + box->height;
    int32_t in = node->kind == QP_FABRIC_NODE_DEMUX ? SLOPE : 0;
    int32_t out = node->kind == QP_FABRIC_NODE_MUX ? SLOPE : 0;

    if (node->kind == QP_FABRIC_NODE_OP)
        qp_buffer_format(p->svg,
                         "<rect class=\"%s%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                         "rx=\"4\"/>\n",
                         box_class(node), stand, x, y, box->width, box->height);
    else
        qp_buffer_format(p->svg, "<path class=\"%s%s\" d=\"M%d %dL%d %dV%dL%d %dz\"/>\n",
                         box_class(node), stand, x, y + in, right, y + out, bottom - out, x,
                         bottom - in);
}

static void put_node(const picture *p, const qp_unit_box *box)
{
    const qp_fabric_node *node = &p->view->fu->nodes[box->index];
    const char *stand = standing(p, node_is_active(p, box->index));
    label ops = ops_label(p, box->index), actor = actor_label(p, box->index);
    label name = cut(name_of(p, node->name));
    int32_t x = box->x + p->left + box->width / 2, y = box->y + p->top + box->height / 2;
    bool mapped = actor.text[0] != '\0';

    qp_buffer_format(p->svg, "<g class=\"node\"><title>%s</title>\n",
                     node->kind == QP_FABRIC_NODE_OP ? node->family->keyword : ops.text);
    put_shape(p, node, box, stand);
    qp_buffer_format(p->svg, "<g class=\"%s\">", strcmp(stand, " off") == 0 ? "off" : "text");
    put_text(p, "name", x, y - 3, name.text);
    put_text(p, mapped ? "actor" : "ops", x, y + 10, mapped ? actor.text : ops.text);
    qp_buffer_text(p->svg, "</g></g>\n");
}

static void put_port(const picture *p, const qp_unit_box *box)
{
    bool input = box->kind == QP_UNIT_INPUT;
    const char *stand = standing(p, port_is_active(p, input, box->index));
    label text = port_label(p, input, box->index);

    qp_buffer_format(p->svg,
                     "<rect class=\"box port%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                     "rx=\"7\"/>\n",
                     stand, box->x + p->left, box->y + p->top, box->width, box->height);
    qp_buffer_format(p->svg, "<g class=\"%s\">", strcmp(stand, " off") == 0 ? "off" : "text");
    put_text(p, "ops", box->x + p->left + box->width / 2, box->y + p->top + 10, text.text);
    qp_buffer_text(p->svg, "</g>\n");
}

/* The frame goes through the middle of the ports. */
static void put_frame(const picture *p)
{
    const qp_unit_layout *l = &p->layout;
    int32_t left = p->left, right = p->left + l->width;

    for (uint32_t i = 0; i < l->n_boxes; i++) {
        const qp_unit_box *box = &l->boxes[i];
        if (box->kind == QP_UNIT_INPUT)
            left = p->left + box->x + box->width / 2;
        if (box->kind == QP_UNIT_OUTPUT)
            right = p->left + box->x + box->width / 2;
    }
    qp_buffer_format(p->svg, "<text class=\"title\" x=\"%d\" y=\"%d\">", LEFT, p->top - INSIDE - 8);
    qp_html_string(p->svg, p->view->title);
    qp_buffer_format(p->svg,
                     "</text>\n<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" "
                     "height=\"%d\" rx=\"6\"/>\n",
                     left, p->top - INSIDE, right - left, l->height + 2 * INSIDE);
}

static void put_unit(picture *p)
{
    const bool marks = p->view->active != NULL;
    put_frame(p);
    if (marks)
        put_wires(&(pass){p, false, " off"});
    put_wires(&(pass){p, true, marks ? " on" : ""});
    for (uint32_t i = 0; i < p->layout.n_boxes; i++) {
        const qp_unit_box *box = &p->layout.boxes[i];
        if (box->kind == QP_UNIT_NODE)
            put_node(p, box);
        else if (box->kind != QP_UNIT_BEND)
            put_port(p, box);
    }
}

static bool mark_wires(picture *p, qp_arena *arena)
{
    const qp_fabric_derived *active = p->view->active;
    if (active == NULL)
        return true;
    p->active = qp_arena_allocate(arena, p->view->fu->n_sinks, sizeof *p->active);
    for (uint32_t i = 0; p->active != NULL && i < active->edge_count; i++)
        p->active[active->edges[i]] = true;
    return p->active != NULL;
}

static qp_status lay_out(picture *p, qp_arena *arena)
{
    const qp_fabric_fu *fu = p->view->fu;
    size_t count = (size_t)fu->n_inputs + fu->n_nodes + fu->n_outputs, at = 0;
    int32_t *widths = qp_arena_allocate(arena, count, sizeof *widths);

    if (widths == NULL || !mark_wires(p, arena))
        return QP_NO_MEMORY;
    for (uint32_t i = 0; i < fu->n_inputs; i++)
        widths[at++] = text_width(port_label(p, true, i).text, 60) + 14;
    for (uint32_t i = 0; i < fu->n_nodes; i++)
        widths[at++] = node_width(p, i);
    for (uint32_t i = 0; i < fu->n_outputs; i++)
        widths[at++] = text_width(port_label(p, false, i).text, 60) + 14;
    return qp_unit_layout_make(fu, widths, arena, &p->layout);
}

qp_status qp_unit_picture(const qp_unit_view *view, int32_t top, qp_buffer *svg, int32_t *width,
                          int32_t *height)
{
    picture p = {.view = view, .svg = svg, .left = LEFT, .top = top + TITLE + INSIDE};
    qp_arena arena;

    qp_arena_init(&arena, NULL);
    qp_status status = lay_out(&p, &arena);
    if (status == QP_OK) {
        put_unit(&p);
        *width = greater(p.layout.width, text_width(view->title, 88)) + 2 * LEFT;
        *height = p.layout.height + TITLE + 3 * INSIDE;
    }
    qp_arena_free(&arena);
    return status;
}
