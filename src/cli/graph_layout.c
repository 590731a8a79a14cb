/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_layout.c - a layered drawing in three steps: a layer for each box (the longest way from an
 * input), an order in each layer (by the mean place of the neighbours, in sweeps down and up), and
 * x (least squares against the neighbours, with a distance kept, in sweeps down and up).
 */
#include "cli/graph_layout.h"

enum {
    WIDTH_OPERATOR = 244,
    WIDTH_END = 188, /* of an input or output */
    WIDTH_BEND = 8,
    DISTANCE = 26, /* between neighbours of a layer */
    ORDER_SWEEPS = 12,
    X_SWEEPS = 24
};

/* ---- boxes and layers --------------------------------------------------------------------- */

static uint32_t box_of_origin(const qp_graph *graph, uint32_t tensor)
{
    qp_origin origin = graph->origins[tensor];
    return origin.input ? origin.index : graph->n_inputs + origin.index;
}

static void add_box(qp_graph_layout *l, qp_box_kind kind, uint32_t index, uint32_t layer)
{
    int32_t width = kind == QP_BOX_OPERATOR ? WIDTH_OPERATOR
                    : kind == QP_BOX_BEND   ? WIDTH_BEND
                                            : WIDTH_END;
    l->boxes[l->n_boxes++] = (qp_box){.kind = kind, .index = index, .layer = layer, .width = width};
    if (layer >= l->n_layers)
        l->n_layers = layer + 1;
}

static uint32_t layer_below(const qp_graph_layout *l, const uint32_t *tensors, uint32_t count)
{
    uint32_t layer = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t above = l->boxes[box_of_origin(l->graph, tensors[k])].layer;
        layer = above + 1 > layer ? above + 1 : layer;
    }
    return layer;
}

static void lower_input(qp_graph_layout *l, uint32_t tensor, uint32_t layer, uint32_t *highest)
{
    qp_origin origin = l->graph->origins[tensor];
    if (origin.input && layer < highest[origin.index])
        highest[origin.index] = layer;
}

/* Inputs start in layer 0 and then come down to just above their first reader. */
static bool place_layers(qp_graph_layout *l)
{
    const qp_graph *g = l->graph;
    uint32_t *highest = qp_arena_allocate(&l->arena, g->n_inputs, sizeof *highest);
    if (highest == NULL)
        return false;
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        add_box(l, QP_BOX_INPUT, i, 0);
        highest[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const qp_node *node = &g->nodes[i];
        uint32_t layer = layer_below(l, node->in, node->n_in);
        add_box(l, QP_BOX_OPERATOR, i, layer);
        for (uint32_t k = 0; k < node->n_in; k++)
            lower_input(l, node->in[k], layer, highest);
    }
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (highest[i] != UINT32_MAX)
            l->boxes[i].layer = highest[i] - 1;
    for (uint32_t i = 0; i < g->n_outputs; i++)
        add_box(l, QP_BOX_OUTPUT, i, layer_below(l, &g->outputs[i], 1));
    return true;
}

/* ---- links and bends ---------------------------------------------------------------------- */

static uint32_t output_port(const qp_graph *graph, uint32_t tensor)
{
    qp_origin origin = graph->origins[tensor];
    uint32_t port = 0;
    while (!origin.input && graph->nodes[origin.index].out[port] != tensor)
        port++;
    return port;
}

static void add_link(qp_graph_layout *l, uint32_t from, uint32_t to, uint32_t tensor,
                     uint32_t to_port)
{
    bool bend = l->boxes[from].kind == QP_BOX_BEND;
    l->links[l->n_links++] =
        (qp_link){from, to, tensor, bend ? 0 : output_port(l->graph, tensor), to_port};
}

/* Something to do for each reader of a tensor: `port` is which input of the box it is. */
typedef void visit_fn(qp_graph_layout *l, uint32_t *data, uint32_t tensor, uint32_t box,
                      uint32_t port);

static void visit_readers(qp_graph_layout *l, visit_fn *visit, uint32_t *data)
{
    const qp_graph *g = l->graph;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        for (uint32_t k = 0; k < g->nodes[i].n_in; k++)
            visit(l, data, g->nodes[i].in[k], g->n_inputs + i, k);
    for (uint32_t i = 0; i < g->n_outputs; i++)
        visit(l, data, g->outputs[i], g->n_inputs + g->n_nodes + i, 0);
}

/* The reader in the lowest layer decides how far a tensor's way goes. */
static void visit_depth(qp_graph_layout *l, uint32_t *deepest, uint32_t tensor, uint32_t box,
                        uint32_t port)
{
    (void)port;
    if (l->boxes[box].layer > deepest[tensor])
        deepest[tensor] = l->boxes[box].layer;
}

/* `first_bend` holds each tensor's first bend; the others follow it. */
static void visit_link(qp_graph_layout *l, uint32_t *first_bend, uint32_t tensor, uint32_t box,
                       uint32_t port)
{
    uint32_t source = box_of_origin(l->graph, tensor);
    uint32_t between = l->boxes[box].layer - l->boxes[source].layer - 1;
    uint32_t from = between == 0 ? source : first_bend[tensor] + between - 1;
    add_link(l, from, box, tensor, port);
}

static qp_status count_bends(const qp_graph_layout *l, const uint32_t *deepest, uint32_t *count)
{
    uint64_t bends = 0;
    for (uint32_t t = 0; t < l->graph->n_tensors; t++) {
        uint32_t source = l->boxes[box_of_origin(l->graph, t)].layer;
        if (deepest[t] > source + 1)
            bends += deepest[t] - source - 1;
    }
    if (bends > QP_LAYOUT_BOXES_MAX)
        return QP_TOO_LARGE;
    *count = (uint32_t)bends;
    return QP_OK;
}

static void add_bends(qp_graph_layout *l, const uint32_t *deepest, uint32_t *first_bend)
{
    for (uint32_t t = 0; t < l->graph->n_tensors; t++) {
        uint32_t from = box_of_origin(l->graph, t);
        first_bend[t] = l->n_boxes;
        for (uint32_t layer = l->boxes[from].layer + 1; layer < deepest[t]; layer++) {
            uint32_t bend = l->n_boxes;
            add_box(l, QP_BOX_BEND, t, layer);
            add_link(l, from, bend, t, 0);
            from = bend;
        }
    }
}

static uint32_t count_readers(const qp_graph *g)
{
    uint32_t readers = g->n_outputs;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        readers += g->nodes[i].n_in;
    return readers;
}

static qp_status make_links(qp_graph_layout *l)
{
    const qp_graph *g = l->graph;
    uint32_t bends, readers = count_readers(g);
    uint32_t *deepest = qp_arena_allocate(&l->arena, g->n_tensors, sizeof *deepest);
    uint32_t *first_bend = qp_arena_allocate(&l->arena, g->n_tensors, sizeof *first_bend);
    if (deepest == NULL || first_bend == NULL)
        return QP_NO_MEMORY;

    visit_readers(l, visit_depth, deepest);
    if (count_bends(l, deepest, &bends) != QP_OK)
        return QP_TOO_LARGE;
    qp_box *boxes = qp_arena_allocate(&l->arena, (size_t)l->n_boxes + bends, sizeof *boxes);
    l->links = qp_arena_allocate(&l->arena, (size_t)readers + bends, sizeof *l->links);
    if (boxes == NULL || l->links == NULL)
        return QP_NO_MEMORY;
    memcpy(boxes, l->boxes, l->n_boxes * sizeof *boxes);
    l->boxes = boxes;
    add_bends(l, deepest, first_bend);
    visit_readers(l, visit_link, first_bend);
    return QP_OK;
}

/* Sorts the links by the layers of their lower ends, and fills the layers in the boxes' order. */
static qp_status make_layers(qp_graph_layout *l)
{
    qp_arena *arena = &l->arena;
    qp_link *sorted = qp_arena_allocate(arena, l->n_links, sizeof *sorted);
    uint32_t *next = qp_arena_allocate(arena, (size_t)l->n_layers + 1, sizeof *next);
    uint32_t *places = qp_arena_allocate(arena, l->n_boxes, sizeof *places);
    l->first_link = qp_arena_allocate(arena, (size_t)l->n_layers + 1, sizeof *l->first_link);
    l->layer_size = qp_arena_allocate(arena, l->n_layers, sizeof *l->layer_size);
    l->layers = qp_arena_allocate(arena, l->n_layers, sizeof *l->layers);
    if (sorted == NULL || next == NULL || places == NULL || l->first_link == NULL ||
        l->layer_size == NULL || l->layers == NULL)
        return QP_NO_MEMORY;

    for (uint32_t i = 0; i < l->n_links; i++)
        l->first_link[l->boxes[l->links[i].to].layer + 1]++;
    for (uint32_t k = 0; k < l->n_layers; k++)
        l->first_link[k + 1] += l->first_link[k];
    memcpy(next, l->first_link, l->n_layers * sizeof *next);
    for (uint32_t i = 0; i < l->n_links; i++)
        sorted[next[l->boxes[l->links[i].to].layer]++] = l->links[i];
    l->links = sorted;

    for (uint32_t i = 0; i < l->n_boxes; i++)
        l->boxes[i].place = l->layer_size[l->boxes[i].layer]++;
    for (uint32_t k = 0, used = 0; k < l->n_layers; used += l->layer_size[k++])
        l->layers[k] = places + used;
    for (uint32_t i = 0; i < l->n_boxes; i++)
        l->layers[l->boxes[i].layer][l->boxes[i].place] = i;
    return QP_OK;
}

/* ---- the order in each layer -------------------------------------------------------------- */

/* The neighbours of the boxes of one layer on one side: the sums of what they ask for. */
typedef struct qp_pull {
    int64_t *sum, *weight; /* of each box */
} qp_pull;

/* The links between a layer and the one above (or below) it. */
static void side_links(const qp_graph_layout *l, uint32_t layer, bool above, uint32_t *first,
                       uint32_t *end)
{
    uint32_t lower = above ? layer : layer + 1;
    *first = lower < l->n_layers ? l->first_link[lower] : l->n_links;
    *end = lower < l->n_layers ? l->first_link[lower + 1] : l->n_links;
}

static void clear_pull(const qp_graph_layout *l, uint32_t layer, qp_pull *pull)
{
    for (uint32_t i = 0; i < l->layer_size[layer]; i++) {
        pull->sum[l->layers[layer][i]] = 0;
        pull->weight[l->layers[layer][i]] = 0;
    }
}

/* The outputs of a link's upper end, and the inputs of its lower end; 0 where it is no operator. */
static uint32_t ports_above(const qp_graph_layout *l, const qp_link *link)
{
    const qp_box *box = &l->boxes[link->from];
    return box->kind == QP_BOX_OPERATOR ? l->graph->nodes[box->index].n_out : 0;
}

static uint32_t ports_below(const qp_graph_layout *l, const qp_link *link)
{
    const qp_box *box = &l->boxes[link->to];
    return box->kind == QP_BOX_OPERATOR ? l->graph->nodes[box->index].n_in : 0;
}

/* Places are told in thousandths, so that the ports of one box have an order too. */
enum { PLACE = 1000 };

static int64_t port_place(const qp_box *box, uint32_t port, uint32_t ports)
{
    return ((int64_t)box->place * (ports + 1) + port + 1) * PLACE / (ports + 1);
}

/* The mean place of a box's neighbours; one without neighbours on this side stays where it is. */
static int64_t mean_place(const qp_graph_layout *l, const qp_pull *pull, uint32_t box)
{
    if (pull->weight[box] == 0)
        return (int64_t)l->boxes[box].place * PLACE;
    return pull->sum[box] / pull->weight[box];
}

static void order_layer(qp_graph_layout *l, uint32_t layer, bool above, qp_pull *pull)
{
    uint32_t first, end, *boxes = l->layers[layer];

    clear_pull(l, layer, pull);
    side_links(l, layer, above, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        const qp_link *link = &l->links[i];
        uint32_t box = above ? link->to : link->from;
        pull->sum[box] +=
            above ? port_place(&l->boxes[link->from], link->from_port, ports_above(l, link))
                  : port_place(&l->boxes[link->to], link->to_port, ports_below(l, link));
        pull->weight[box]++;
    }
    for (uint32_t i = 1; i < l->layer_size[layer]; i++) { /* stable, and short */
        uint32_t box = boxes[i], k = i;
        int64_t place = mean_place(l, pull, box);
        for (; k > 0 && mean_place(l, pull, boxes[k - 1]) > place; k--)
            boxes[k] = boxes[k - 1];
        boxes[k] = box;
    }
    for (uint32_t i = 0; i < l->layer_size[layer]; i++)
        l->boxes[boxes[i]].place = i;
}

/* ---- x ------------------------------------------------------------------------------------ */

static int32_t port_at(const qp_box *box, uint32_t port, uint32_t ports)
{
    return ports == 0 ? 0
                      : (int32_t)(box->width * ((int64_t)port + 1) / (ports + 1)) - box->width / 2;
}

static int32_t leaves_at(const qp_graph_layout *l, const qp_link *link)
{
    return port_at(&l->boxes[link->from], link->from_port, ports_above(l, link));
}

static int32_t meets_at(const qp_graph_layout *l, const qp_link *link)
{
    return port_at(&l->boxes[link->to], link->to_port, ports_below(l, link));
}

int32_t qp_layout_leaves(const qp_graph_layout *l, const qp_link *link)
{
    return l->boxes[link->from].x + leaves_at(l, link);
}

int32_t qp_layout_meets(const qp_graph_layout *l, const qp_link *link)
{
    return l->boxes[link->to].x + meets_at(l, link);
}

/* Long ways are to be straight. */
static int64_t link_weight(const qp_graph_layout *l, const qp_link *link)
{
    int bends =
        (l->boxes[link->from].kind == QP_BOX_BEND) + (l->boxes[link->to].kind == QP_BOX_BEND);
    return bends == 2 ? 8 : bends == 1 ? 2 : 1;
}

/* A run of boxes that touch: together they stand at the weighted mean of what each asks for. */
typedef struct qp_run {
    int64_t sum, weight;
    uint32_t count;
} qp_run;

static int64_t run_mean(const qp_run *run)
{
    return run->sum / run->weight;
}

/*
 * Isotonic regression: with what lies left of a box subtracted, the x of a layer must not decrease;
 * neighbours that ask for the wrong order are joined in a run until no two runs do.
 */
static void settle_layer(qp_graph_layout *l, uint32_t layer, const qp_pull *pull, qp_run *runs)
{
    const uint32_t *boxes = l->layers[layer];
    uint32_t n_runs = 0;
    int64_t left = 0;

    for (uint32_t i = 0; i < l->layer_size[layer]; i++) {
        const qp_box *box = &l->boxes[boxes[i]];
        int64_t weight = pull->weight[boxes[i]], asked = box->x;
        if (i > 0)
            left += l->boxes[boxes[i - 1]].width / 2 + DISTANCE + box->width / 2;
        if (weight > 0)
            asked = pull->sum[boxes[i]] / weight;
        else
            weight = 1;
        qp_run run = {(asked - left) * weight, weight, 1};
        while (n_runs > 0 && run_mean(&runs[n_runs - 1]) > run_mean(&run)) {
            n_runs--;
            run = (qp_run){run.sum + runs[n_runs].sum, run.weight + runs[n_runs].weight,
                           run.count + runs[n_runs].count};
        }
        runs[n_runs++] = run;
    }
    left = 0;
    for (uint32_t r = 0, i = 0; r < n_runs; r++)
        for (uint32_t k = 0; k < runs[r].count; k++, i++) {
            qp_box *box = &l->boxes[boxes[i]];
            if (i > 0)
                left += l->boxes[boxes[i - 1]].width / 2 + DISTANCE + box->width / 2;
            box->x = (int32_t)(run_mean(&runs[r]) + left);
        }
}

static void settle(qp_graph_layout *l, uint32_t layer, bool above, qp_pull *pull, qp_run *runs)
{
    uint32_t first, end;

    clear_pull(l, layer, pull);
    side_links(l, layer, above, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        const qp_link *link = &l->links[i];
        int64_t weight = link_weight(l, link);
        uint32_t box = above ? link->to : link->from;
        int32_t asked = above ? qp_layout_leaves(l, link) - meets_at(l, link)
                              : qp_layout_meets(l, link) - leaves_at(l, link);
        pull->sum[box] += asked * weight;
        pull->weight[box] += weight;
    }
    settle_layer(l, layer, pull, runs);
}

/* Moves everything so that the leftmost edge is at 0. */
static void shift_to_zero(qp_graph_layout *l)
{
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (uint32_t i = 0; i < l->n_boxes; i++) {
        int32_t from = l->boxes[i].x - l->boxes[i].width / 2, to = from + l->boxes[i].width;
        least = from < least ? from : least;
        most = to > most ? to : most;
    }
    for (uint32_t i = 0; i < l->n_boxes; i++)
        l->boxes[i].x -= least;
    l->width = most - least;
}

static qp_status arrange(qp_graph_layout *l)
{
    qp_pull pull = {qp_arena_allocate(&l->arena, l->n_boxes, sizeof *pull.sum),
                    qp_arena_allocate(&l->arena, l->n_boxes, sizeof *pull.weight)};
    qp_run *runs = qp_arena_allocate(&l->arena, l->n_boxes, sizeof *runs);
    if (pull.sum == NULL || pull.weight == NULL || runs == NULL)
        return QP_NO_MEMORY;

    for (int sweep = 0; sweep < ORDER_SWEEPS; sweep++)
        for (uint32_t k = 0; k < l->n_layers; k++)
            order_layer(l, sweep % 2 == 0 ? k : l->n_layers - 1 - k, sweep % 2 == 0, &pull);
    for (int sweep = 0; sweep < X_SWEEPS; sweep++)
        for (uint32_t k = 0; k < l->n_layers; k++)
            settle(l, sweep % 2 == 0 ? k : l->n_layers - 1 - k, sweep % 2 == 0, &pull, runs);
    shift_to_zero(l);
    return QP_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

qp_status qp_layout_make(const qp_graph *graph, qp_graph_layout *layout)
{
    *layout = (qp_graph_layout){.graph = graph};
    qp_arena_init(&layout->arena, NULL);
    if (graph->n_nodes > QP_LAYOUT_OPERATORS_MAX)
        return QP_TOO_LARGE;
    size_t boxes = (size_t)graph->n_inputs + graph->n_nodes + graph->n_outputs;
    if (boxes > QP_LAYOUT_BOXES_MAX)
        return QP_TOO_LARGE;
    layout->boxes = qp_arena_allocate(&layout->arena, boxes, sizeof *layout->boxes);
    if (layout->boxes == NULL || !place_layers(layout))
        return QP_NO_MEMORY;
    qp_status status = make_links(layout);
    if (status == QP_OK)
        status = make_layers(layout);
    return status == QP_OK ? arrange(layout) : status;
}

void qp_layout_free(qp_graph_layout *layout)
{
    qp_arena_free(&layout->arena);
}
