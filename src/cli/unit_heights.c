/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_heights.c - the order of boxes within a layer, and their heights.
 *
 * Sweeps over the layers move each box towards the mean height of what it is joined to, and sort a
 * layer by it. All in integers, so that a picture is the same on every machine.
 */
#include "cli/unit_making.h"

enum {
    BEND_GAP = 7, /* above and below a bend */
    SWEEPS = 12,
    ORDERING_SWEEPS = 8,
    /* how much a wire pulls: two bends of one wire are to be level before all */
    PULL = 10,
    BEND_PULL = 120
};

/* What pulls a box: weighted sum of the tops that it would like, and the weights. For a block of
 * boxes that stand as close as they may, the same of all, and how many they are. */
typedef struct pull {
    int64_t sum, weight;
    uint32_t size;
} pull;

typedef struct placing {
    qp_unit_making *m;
    const qp_unit_layout *l;
    pull *pulls;  /* by box */
    pull *blocks; /* of a layer, from above */
} placing;

static int32_t gap_between(const placing *p, uint32_t above, uint32_t below)
{
    bool bend = p->l->boxes[above].kind == QP_UNIT_BEND || p->l->boxes[below].kind == QP_UNIT_BEND;
    return bend ? BEND_GAP : QP_UNIT_GAP;
}

/* From the top of a box to the least top of the one below. */
static int32_t step_below(const placing *p, uint32_t above, uint32_t below)
{
    return p->l->boxes[above].height + gap_between(p, above, below);
}

/* ---- one layer ---------------------------------------------------------------------------- */

/* The nearest multiple of the grid. */
static int32_t on_grid(int64_t sum, int64_t weight)
{
    int64_t step = weight * QP_UNIT_GRID, shifted = 2 * sum + step;
    int64_t quotient = shifted / (2 * step) - (shifted % (2 * step) < 0);
    return (int32_t)quotient * QP_UNIT_GRID;
}

/* The tops that the blocks give, on the grid. */
static void settle(placing *p, const uint32_t *order, uint32_t blocks)
{
    int32_t offset = 0, least = INT32_MIN;
    uint32_t i = 0;

    for (uint32_t b = 0; b < blocks; b++)
        for (uint32_t k = 0; k < p->blocks[b].size; k++, i++) {
            qp_unit_box *box = &p->m->l->boxes[order[i]];
            if (i > 0) {
                int32_t step = step_below(p, order[i - 1], order[i]);
                least = p->l->boxes[order[i - 1]].y + step;
                offset += step;
            }
            const pull *block = &p->blocks[b];
            box->y = on_grid(block->sum + offset * block->weight, block->weight);
            box->y = box->y < least ? least : box->y;
        }
}

/* Tops of a layer in its order, as near to the wishes as the gaps allow: isotonic regression by
 * merging neighbours that would overlap. */
static void place_layer(placing *p, uint32_t layer)
{
    const uint32_t *order = p->m->order + p->m->first[layer];
    uint32_t count = p->m->first[layer + 1] - p->m->first[layer], blocks = 0;
    int32_t offset = 0;

    for (uint32_t i = 0; i < count; i++) {
        const pull *own = &p->pulls[order[i]];
        if (i > 0)
            offset += step_below(p, order[i - 1], order[i]);
        p->blocks[blocks++] = (pull){own->sum - offset * own->weight, own->weight, 1};
        for (; blocks > 1; blocks--) {
            pull *above = &p->blocks[blocks - 2], *below = &p->blocks[blocks - 1];
            if (above->sum * below->weight <= below->sum * above->weight)
                break;
            above->sum += below->sum;
            above->weight += below->weight;
            above->size += below->size;
        }
    }
    settle(p, order, blocks);
}

/* ---- wishes ------------------------------------------------------------------------------- */

/* A pin of the box, `within` its height, would like to be at the height `to`. */
static void add_pull(pull *own, int32_t to, int32_t within, bool between_bends)
{
    int32_t weight = between_bends ? BEND_PULL : PULL;
    own->sum += (int64_t)weight * (to - within);
    own->weight += weight;
}

/* How far below a box's top a pin is. */
static int32_t pin_within(const qp_unit_box *box, bool input, uint32_t pin)
{
    return qp_unit_pin(box, input, pin) - box->y;
}

static void pull_from_left(const placing *p, const qp_unit_box *box, pull *own)
{
    const qp_unit_layout *l = p->l;
    if (box->kind == QP_UNIT_BEND) {
        bool from_bend = l->boxes[l->nets[box->index].box].layer + 1 < box->layer;
        add_pull(own, qp_unit_leaving(l, box->index, box->layer - 1), 0, from_bend);
        return;
    }
    if (box->kind == QP_UNIT_INPUT)
        return;
    uint32_t first = box->kind == QP_UNIT_NODE ? l->fu->nodes[box->index].input_base
                                               : l->fu->n_sinks - l->fu->n_outputs + box->index;
    for (uint32_t s = first; s < first + box->n_in; s++) {
        const qp_unit_sink *sink = &l->sinks[s];
        if (!sink->back)
            add_pull(own, qp_unit_leaving(l, sink->net, box->layer - 1),
                     pin_within(box, true, sink->pin), false);
    }
}

static void pull_net_right(const placing *p, const qp_unit_box *box, uint32_t index, pull *own)
{
    const qp_unit_layout *l = p->l;
    const qp_unit_net *net = &l->nets[index];
    bool bend = box->kind == QP_UNIT_BEND;
    int32_t within = pin_within(box, false, bend ? 0 : net->pin);

    if (net->last_layer > box->layer + 1)
        add_pull(own, qp_unit_bend(l, index, box->layer + 1)->y, within, bend);
    for (uint32_t i = 0; i < net->n_sinks; i++) {
        const qp_unit_sink *sink = &l->sinks[net->sinks[i]];
        const qp_unit_box *to = &l->boxes[sink->box];
        if (!sink->back && to->layer == box->layer + 1)
            add_pull(own, qp_unit_pin(to, true, sink->pin), within, false);
    }
}

static void pull_from_right(const placing *p, uint32_t index, pull *own)
{
    const qp_unit_box *box = &p->l->boxes[index];
    if (box->kind == QP_UNIT_BEND)
        pull_net_right(p, box, box->index, own);
    for (uint32_t n = 0; n < p->l->n_nets && box->kind != QP_UNIT_BEND; n++)
        if (p->l->nets[n].box == index)
            pull_net_right(p, box, n, own);
}

/* Whether the middle of a box would like to be below that of another. */
static bool is_below(const placing *p, uint32_t a, uint32_t b)
{
    const pull *of_a = &p->pulls[a], *of_b = &p->pulls[b];
    int64_t twice_a = 2 * of_a->sum + p->l->boxes[a].height * of_a->weight;
    int64_t twice_b = 2 * of_b->sum + p->l->boxes[b].height * of_b->weight;
    return twice_a * of_b->weight > twice_b * of_a->weight;
}

/* Insertion sort: layers are short, and equals stay in their order. */
static void sort_layer(placing *p, uint32_t layer)
{
    uint32_t *order = p->m->order + p->m->first[layer];
    uint32_t count = p->m->first[layer + 1] - p->m->first[layer];
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && is_below(p, order[k - 1], order[k]); k--) {
            uint32_t moved = order[k];
            order[k] = order[k - 1];
            order[k - 1] = moved;
        }
}

/* ---- sweeps ------------------------------------------------------------------------------- */

/* Where nothing pulls, a box would like to stay, if only a little. */
static void sweep_layer(placing *p, uint32_t layer, bool left, bool right)
{
    for (uint32_t i = p->m->first[layer]; i < p->m->first[layer + 1]; i++) {
        uint32_t index = p->m->order[i];
        pull own = {0, 0, 1};
        if (left)
            pull_from_left(p, &p->l->boxes[index], &own);
        if (right)
            pull_from_right(p, index, &own);
        if (own.weight == 0)
            own = (pull){p->l->boxes[index].y, 1, 1};
        p->pulls[index] = own;
    }
    if (!left || !right)
        sort_layer(p, layer);
    place_layer(p, layer);
}

/* The first sweeps look to one side and sort; the last look to both and keep the order. */
static void sweep(placing *p)
{
    uint32_t layers = p->l->n_layers;
    for (uint32_t layer = 0; layer < layers; layer++) {
        for (uint32_t i = p->m->first[layer]; i < p->m->first[layer + 1]; i++)
            p->pulls[p->m->order[i]] = (pull){0, 1, 1};
        place_layer(p, layer);
    }
    for (uint32_t round = 0; round < SWEEPS; round++) {
        bool sorts = round < ORDERING_SWEEPS;
        for (uint32_t layer = 1; layer < layers; layer++)
            sweep_layer(p, layer, true, !sorts);
        for (uint32_t layer = layers; layer-- > 0;)
            sweep_layer(p, layer, !sorts, true);
    }
}

/* The highest box at 0, the lanes below the lowest. */
static void shift(qp_unit_layout *l)
{
    int32_t top = INT32_MAX, bottom = INT32_MIN;

    for (uint32_t i = 0; i < l->n_boxes; i++)
        top = l->boxes[i].y < top ? l->boxes[i].y : top;
    for (uint32_t i = 0; i < l->n_boxes; i++) {
        qp_unit_box *box = &l->boxes[i];
        box->y -= top;
        bottom = box->y + box->height > bottom ? box->y + box->height : bottom;
    }
    l->height = bottom;
    l->lanes_y = bottom + QP_UNIT_GAP;
    for (uint32_t n = 0; n < l->n_nets; n++)
        if (l->nets[n].lane >= 0 && qp_unit_lane(l, n) > l->height)
            l->height = qp_unit_lane(l, n);
}

bool qp_unit_set_heights(qp_unit_making *m)
{
    placing p = {.m = m, .l = m->l};

    p.pulls = qp_arena_allocate(m->arena, m->l->n_boxes, sizeof *p.pulls);
    p.blocks = qp_arena_allocate(m->arena, m->l->n_boxes, sizeof *p.blocks);
    if (p.pulls == NULL || p.blocks == NULL)
        return false;
    sweep(&p);
    shift(m->l);
    return true;
}
