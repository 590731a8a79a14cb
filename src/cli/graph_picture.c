/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_picture.c - a certified graph as SVG, top to bottom: inputs, operators with the room of
 * their tightest value, outputs, and tensors as lines.
 */
#include "cli/graph_picture.h"

#include "cli/describe.h"
#include "cli/graph_layout.h"
#include "cli/html.h"

enum {
    MARGIN = 12,
    BOX = 66,    /* height of an operator */
    END = 40,    /* height of an input or output */
    PITCH = 124, /* from one layer to the next */
    PAD = 12,
    METER_BITS = 128, /* the whole of an operator's meter */
    METER_WIDTH = 88
};

typedef struct qp_picture {
    const qp_graph_bounds *bounds;
    const qp_graph_layout *layout;
    const qp_first_failures *failures;
    size_t graph;
    qp_buffer *page;
    qp_buffer text; /* for what is to be escaped */
} qp_picture;

static int32_t top_of(const qp_box *box)
{
    int32_t row = MARGIN + (int32_t)box->layer * PITCH;
    return box->kind == QP_BOX_INPUT ? row + BOX - END : row;
}

static int32_t bottom_of(const qp_box *box)
{
    bool end = box->kind == QP_BOX_INPUT || box->kind == QP_BOX_OUTPUT;
    return top_of(box) + (end ? END : BOX);
}

/* ---- tensors ------------------------------------------------------------------------------ */

static void put_tensor_title(qp_picture *p, uint32_t tensor)
{
    const qp_interval *interval = &p->bounds->tensors[tensor];

    qp_buffer_format(&p->text, "tensor %u: ", tensor);
    qp_describe_shape(p->bounds->graph, tensor, &p->text);
    qp_buffer_text(&p->text, ", ");
    qp_describe_interval(interval, &p->text);
    qp_buffer_format(&p->text, ", %u bits", qp_interval_bits(interval));
    qp_buffer_text(p->page, "<title>");
    qp_html_take(p->page, &p->text);
    qp_buffer_text(p->page, "</title>");
}

static void put_link(qp_picture *p, const qp_link *link)
{
    const qp_box *from = &p->layout->boxes[link->from], *to = &p->layout->boxes[link->to];
    int32_t x1 = qp_layout_leaves(p->layout, link), y1 = bottom_of(from);
    int32_t x2 = qp_layout_meets(p->layout, link), y2 = top_of(to);
    int32_t middle = (y1 + y2) / 2;
    bool arrives = to->kind != QP_BOX_BEND;

    qp_buffer_format(p->page, "<path class=\"wire\" d=\"M%d %d", x1 + MARGIN, y1);
    qp_buffer_format(p->page, "C%d %d %d %d %d %d", x1 + MARGIN, middle, x2 + MARGIN, middle,
                     x2 + MARGIN, arrives ? y2 - 5 : y2);
    if (!arrives)
        qp_buffer_format(p->page, "V%d", bottom_of(to));
    qp_buffer_format(p->page, "\"%s>", arrives ? " marker-end=\"url(#tip)\"" : "");
    put_tensor_title(p, link->tensor);
    qp_buffer_text(p->page, "</path>\n");
}

/* Whether the lines of a tensor leave to the right, so that its label stands to the left. */
static bool leaves_to_the_right(const qp_graph_layout *layout, uint32_t tensor)
{
    int64_t drift = 0;
    for (uint32_t i = 0; i < layout->n_links; i++) {
        const qp_link *link = &layout->links[i];
        if (link->tensor == tensor && layout->boxes[link->from].kind != QP_BOX_BEND)
            drift += qp_layout_meets(layout, link) - qp_layout_leaves(layout, link);
    }
    return drift > 8;
}

static void put_tensor_label(qp_picture *p, uint32_t tensor, int32_t x, int32_t y, bool brief)
{
    bool left = leaves_to_the_right(p->layout, tensor);
    qp_buffer_format(p->page, "<text class=\"lt%s\" x=\"%d\" y=\"%d\">t%u", left ? " rt" : "",
                     x + MARGIN + (left ? -6 : 6), y + 15, tensor);
    if (!brief) {
        qp_buffer_text(&p->text, ", ");
        qp_describe_shape(p->bounds->graph, tensor, &p->text);
        qp_buffer_format(&p->text, ", %u bits", qp_interval_bits(&p->bounds->tensors[tensor]));
        qp_html_take(p->page, &p->text);
    }
    put_tensor_title(p, tensor);
    qp_buffer_text(p->page, "</text>\n");
}

/* ---- inputs and outputs ------------------------------------------------------------------- */

static void put_end_rectangle(qp_picture *p, const qp_box *box, bool state)
{
    qp_buffer_format(p->page,
                     "<rect class=\"end%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                     "rx=\"20\"/>\n",
                     state ? " state" : "", box->x - box->width / 2 + MARGIN, top_of(box),
                     box->width, END);
}

static void put_end_text(qp_picture *p, const qp_box *box, int32_t down, const char *class)
{
    qp_buffer_format(p->page, "<text class=\"mid %s\" x=\"%d\" y=\"%d\">", class, box->x + MARGIN,
                     top_of(box) + down);
    qp_html_take(p->page, &p->text);
    qp_buffer_text(p->page, "</text>\n");
}

static void put_input(qp_picture *p, const qp_box *box)
{
    const qp_graph *graph = p->bounds->graph;
    const qp_graph_input_record *input = &graph->inputs[box->index];

    qp_buffer_text(p->page, "<g>");
    put_tensor_title(p, input->tensor);
    put_end_rectangle(p, box, input->state);
    qp_buffer_format(&p->text, "%s %u", input->state ? "state input" : "input", box->index);
    put_end_text(p, box, 17, "nm");
    if (input->state)
        qp_buffer_format(&p->text, "from output %u, ", input->src);
    qp_describe_interval_short(&p->bounds->tensors[input->tensor], &p->text);
    if (!input->state)
        qp_buffer_text(&p->text,
                       graph->tensors[input->tensor].policy == QP_CHECK ? ", check" : ", clamp");
    put_end_text(p, box, 31, "sm");
    put_tensor_label(p, input->tensor, box->x, bottom_of(box), false);
    qp_buffer_text(p->page, "</g>\n");
}

static void put_output(qp_picture *p, const qp_box *box)
{
    const qp_graph *graph = p->bounds->graph;
    uint32_t tensor = graph->outputs[box->index];
    bool feeds = false;

    for (uint32_t i = 0; i < graph->n_inputs; i++)
        feeds |= graph->inputs[i].state && graph->inputs[i].src == box->index;
    qp_buffer_text(p->page, "<g>");
    put_tensor_title(p, tensor);
    put_end_rectangle(p, box, feeds);
    qp_buffer_format(&p->text, "output %u%s", box->index, feeds ? ", next state" : "");
    put_end_text(p, box, 17, "nm");
    qp_describe_interval_short(&p->bounds->tensors[tensor], &p->text);
    put_end_text(p, box, 31, "sm");
    qp_buffer_text(p->page, "</g>\n");
}

/* ---- operators ---------------------------------------------------------------------------- */

static const char *const fit_classes[] = {"ok", "wide", "bad"};

/* What the corner of a box says: text beside the colour. */
static const char *corner_words(const qp_picture *p, uint32_t index, qp_fit fit)
{
    if (p->failures->node[QP_ACC64] == index)
        return "first to fail acc64";
    if (p->failures->node[QP_ACC32] == index)
        return "first to fail acc32";
    return fit == QP_FIT_BOTH ? "fits acc32" : fit == QP_FIT_ACC64 ? "acc64 only" : "fits neither";
}

static int32_t meter_x(unsigned bits)
{
    return (int32_t)((bits < METER_BITS ? bits : METER_BITS) * METER_WIDTH / METER_BITS);
}

/* The tightest value against its two limits. */
static void put_meter(qp_picture *p, uint32_t index, int32_t x, int32_t y)
{
    qp_fact fact = qp_fact_tightest(p->bounds, index);
    int32_t narrow = meter_x(qp_profile_width(QP_ACC32, fact.class));
    int32_t wide = meter_x(qp_profile_width(QP_ACC64, fact.class));

    qp_buffer_format(p->page, "<path class=\"z1\" d=\"M%d %dh%dv10h%dz\"/>", x, y, narrow, -narrow);
    qp_buffer_format(p->page, "<path class=\"z2\" d=\"M%d %dh%dv10h%dz\"/>", x + narrow, y,
                     wide - narrow, narrow - wide);
    qp_buffer_format(p->page, "<path class=\"z3\" d=\"M%d %dh%dv10h%dz\"/>", x + wide, y,
                     METER_WIDTH - wide, wide - METER_WIDTH);
    qp_buffer_format(p->page,
                     "<rect class=\"f-%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"4\" rx=\"1\"/>",
                     fit_classes[qp_fit_of_fact(&fact)], x, y + 3, meter_x(fact.bits));
    qp_buffer_format(p->page, "<text class=\"sm\" x=\"%d\" y=\"%d\">%s %u of %u bits</text>\n",
                     x + METER_WIDTH + 6, y + 9, fact.key, fact.bits,
                     qp_profile_width(QP_ACC32, fact.class));
}

static void put_operator_title(qp_picture *p, uint32_t index, qp_fit fit)
{
    const qp_node *node = &p->bounds->graph->nodes[index];

    qp_buffer_format(&p->text, "operator %u, %s: tensors ", index, node->op->name);
    qp_describe_indices(node->in, node->n_in, &p->text);
    qp_buffer_text(&p->text, " -> ");
    qp_describe_indices(node->out, node->n_out, &p->text);
    qp_buffer_format(&p->text, "; fits %s\n", qp_fit_words(fit));
    qp_describe_parameters(p->bounds->graph, node, &p->text);
    for (uint32_t i = 0; i < qp_fact_count(p->bounds, index); i++) {
        qp_fact fact = qp_fact_at(p->bounds, index, i);
        qp_buffer_format(&p->text, "\n%s: ", fact.key);
        qp_describe_interval(fact.interval, &p->text);
        qp_buffer_format(&p->text, ", %u bits", fact.bits);
    }
}

/* Text lines of a title are kept apart by line breaks, which qp_html_take would not keep. */
static void take_title(qp_picture *p)
{
    size_t start = 0;
    qp_buffer_text(p->page, "<title>");
    for (size_t i = 0; i <= p->text.size; i++)
        if (i == p->text.size || p->text.bytes[i] == '\n') {
            qp_html_text(p->page, (const char *)p->text.bytes + start, i - start);
            if (i < p->text.size)
                qp_buffer_text(p->page, "\n");
            start = i + 1;
        }
    p->page->failed |= p->text.failed;
    p->text.size = 0;
    qp_buffer_text(p->page, "</title>");
}

static void put_parameters(qp_picture *p, const qp_node *node, int32_t x, int32_t y)
{
    enum { MOST = 41 }; /* characters that fit the box */

    qp_describe_parameters(p->bounds->graph, node, &p->text);
    if (p->text.size > MOST) {
        p->text.size = MOST - 2;
        qp_buffer_text(&p->text, "..");
    }
    qp_buffer_format(p->page, "<text class=\"sm\" x=\"%d\" y=\"%d\">", x, y);
    qp_html_take(p->page, &p->text);
    qp_buffer_text(p->page, "</text>\n");
}

static void put_operator(qp_picture *p, const qp_box *box)
{
    uint32_t index = box->index;
    const qp_node *node = &p->bounds->graph->nodes[index];
    qp_fit fit = qp_fit_of_node(p->bounds, index);
    int32_t x = box->x - box->width / 2 + MARGIN, y = top_of(box);
    bool first = p->failures->node[QP_ACC32] == index || p->failures->node[QP_ACC64] == index;

    qp_buffer_format(p->page, "<a href=\"#op-%zu-%u\"><g>", p->graph, index);
    put_operator_title(p, index, fit);
    take_title(p);
    qp_buffer_format(p->page,
                     "<rect class=\"op%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>",
                     first ? " first" : "", x, y, box->width, BOX);
    qp_buffer_format(p->page,
                     "<rect class=\"f-%s\" x=\"%d\" y=\"%d\" width=\"5\" height=\"%d\" rx=\"2\"/>",
                     fit_classes[fit], x, y, BOX);
    qp_buffer_format(p->page,
                     "<text class=\"nm\" x=\"%d\" y=\"%d\"><tspan class=\"ix\">%u</tspan> "
                     "%s</text>\n",
                     x + PAD, y + 19, index, node->op->name);
    qp_buffer_format(p->page, "<text class=\"tag t-%s\" x=\"%d\" y=\"%d\">%s</text>\n",
                     fit_classes[fit], x + box->width - PAD, y + 19, corner_words(p, index, fit));
    put_parameters(p, node, x + PAD, y + 35);
    put_meter(p, index, x + PAD, y + 45);
    qp_buffer_text(p->page, "</g></a>\n");
    for (uint32_t k = 0; k < node->n_out; k++) {
        int32_t across = (int32_t)(box->width * ((int64_t)k + 1) / (node->n_out + 1));
        put_tensor_label(p, node->out[k], box->x - box->width / 2 + across, bottom_of(box),
                         node->n_out > 1);
    }
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void put_boxes(qp_picture *p)
{
    for (uint32_t i = 0; i < p->layout->n_boxes; i++) {
        const qp_box *box = &p->layout->boxes[i];
        if (box->kind == QP_BOX_INPUT)
            put_input(p, box);
        else if (box->kind == QP_BOX_OPERATOR)
            put_operator(p, box);
        else if (box->kind == QP_BOX_OUTPUT)
            put_output(p, box);
    }
}

qp_status qp_graph_picture(const qp_graph_bounds *bounds, size_t graph,
                           const qp_first_failures *failures, qp_buffer *page, int32_t *width)
{
    qp_graph_layout layout;
    qp_status status = qp_layout_make(bounds->graph, &layout);
    if (status == QP_OK) {
        qp_picture p = {.bounds = bounds,
                        .layout = &layout,
                        .failures = failures,
                        .graph = graph,
                        .page = page};
        int32_t height = (int32_t)layout.n_layers * PITCH - (PITCH - BOX) + 2 * MARGIN;

        *width = layout.width + 2 * MARGIN;
        qp_buffer_init(&p.text, NULL);
        qp_buffer_format(page,
                         "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
                         "aria-label=\"the graph\">\n",
                         *width, height, *width, height);
        qp_buffer_text(page, "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"3\" refY=\"4\" "
                             "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path "
                             "class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n");
        for (uint32_t i = 0; i < layout.n_links; i++)
            put_link(&p, &layout.links[i]);
        put_boxes(&p);
        qp_buffer_text(page, "</svg>\n");
        qp_buffer_free(&p.text);
    }
    qp_layout_free(&layout);
    return status;
}
