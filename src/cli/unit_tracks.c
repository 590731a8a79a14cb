/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_tracks.c - the channels between the layers: every wire that changes its height in one gets a
 * track of its own there, in an order in which no two lie on each other.
 */
#include "cli/unit_making.h"

enum { CHANNEL = 28 }; /* the least width of a channel */

/* What a net does in a channel: where it comes from on the left, and over which heights it goes. */
typedef struct crossing {
    uint32_t net;
    bool has_left, has_end, placed;
    int32_t left, top, bottom;  /* of all its ends in the channel */
    uint32_t first_end, n_ends; /* of those on the right */
    uint32_t waits_for;         /* crossings that must stand left of it, and have no track yet */
    int32_t key;
} crossing;

/* A channel at work. */
typedef struct passage {
    const qp_unit_layout *l;
    uint32_t number;
    crossing *list;
    uint32_t count;
    int32_t *ends; /* heights on the right */
    uint32_t n_ends;
} passage;

static void add_height(crossing *c, int32_t y)
{
    if (!c->has_end)
        c->top = c->bottom = y;
    c->has_end = true;
    c->top = y < c->top ? y : c->top;
    c->bottom = y > c->bottom ? y : c->bottom;
}

static void add_right(passage *ch, crossing *c, int32_t y)
{
    add_height(c, y);
    ch->ends[ch->n_ends++] = y;
    c->n_ends++;
}

static void add_sinks(passage *ch, crossing *c)
{
    const qp_unit_net *net = &ch->l->nets[c->net];
    for (uint32_t i = 0; i < net->n_sinks; i++) {
        const qp_unit_sink *sink = &ch->l->sinks[net->sinks[i]];
        const qp_unit_box *box = &ch->l->boxes[sink->box];
        if (box->layer != ch->number + 1)
            continue;
        add_right(ch, c, qp_unit_pin(box, true, sink->pin));
        if (sink->back)
            add_height(c, qp_unit_lane(ch->l, c->net));
    }
}

/* Adds a net that changes its height in the channel. */
static void add_crossing(passage *ch, uint32_t index)
{
    const qp_unit_net *net = &ch->l->nets[index];
    uint32_t own = ch->l->boxes[net->box].layer;
    bool leaves = own == ch->number && (net->last_layer > own || net->lane >= 0);
    crossing c = {.net = index, .first_end = ch->n_ends};

    c.has_left = leaves || (own < ch->number && net->last_layer > ch->number);
    if (c.has_left) {
        c.left = qp_unit_leaving(ch->l, index, ch->number);
        add_height(&c, c.left);
        if (net->last_layer > ch->number + 1)
            add_right(ch, &c, qp_unit_bend(ch->l, index, ch->number + 1)->y);
    }
    if (own == ch->number && net->lane >= 0)
        add_height(&c, qp_unit_lane(ch->l, index));
    add_sinks(ch, &c);
    /* down: the lowest first, up: the highest first, so that neighbours do not cross; what comes
     * from a lane last */
    c.key = !c.has_left ? INT32_MAX : c.bottom > c.left ? -c.left : c.left;
    if (c.top < c.bottom)
        ch->list[ch->count++] = c;
    else
        ch->n_ends = c.first_end;
}

/* Whether a net must stand left of another: it comes in at a height where the other goes out. */
static bool is_before(const passage *ch, const crossing *a, const crossing *b)
{
    if (a == b || !a->has_left)
        return false;
    for (uint32_t i = 0; i < b->n_ends; i++)
        if (ch->ends[b->first_end + i] == a->left)
            return true;
    return false;
}

/* The next net to get a track: of those that wait for none, the least key; where every one waits,
 * the least key of all. */
static crossing *next_crossing(passage *ch)
{
    crossing *best = NULL;
    for (uint32_t i = 0; i < ch->count; i++) {
        crossing *c = &ch->list[i];
        if (c->placed)
            continue;
        bool free = c->waits_for == 0, best_free = best != NULL && best->waits_for == 0;
        if (best == NULL || (free && !best_free) || (free == best_free && c->key < best->key))
            best = c;
    }
    return best;
}

static void place_crossing(passage *ch, crossing *c)
{
    c->placed = true;
    for (uint32_t i = 0; i < ch->count; i++)
        if (is_before(ch, c, &ch->list[i]))
            ch->list[i].waits_for--;
}

/* The tracks of one channel, from `x` on; returns where it ends. */
static int32_t make_channel(passage *ch, qp_unit_layout *l, int32_t x)
{
    int32_t start = x;

    ch->count = ch->n_ends = 0;
    for (uint32_t n = 0; n < l->n_nets; n++)
        add_crossing(ch, n);
    for (uint32_t i = 0; i < ch->count; i++)
        for (uint32_t k = 0; k < ch->count; k++)
            ch->list[i].waits_for += is_before(ch, &ch->list[k], &ch->list[i]);
    x += 2 * QP_UNIT_TRACK;
    for (uint32_t i = 0; i < ch->count; i++, x += QP_UNIT_TRACK) {
        crossing *c = next_crossing(ch);
        place_crossing(ch, c);
        l->tracks[l->n_tracks++] = (qp_unit_track){.net = c->net, .channel = ch->number, .x = x};
    }
    x += QP_UNIT_TRACK;
    return x < start + CHANNEL ? start + CHANNEL : x;
}

/* The columns of a layer, from `x` on; returns how wide it is. */
static int32_t make_layer(qp_unit_making *m, uint32_t layer, int32_t x)
{
    int32_t width = 0;
    for (uint32_t i = m->first[layer]; i < m->first[layer + 1]; i++) {
        const qp_unit_box *box = &m->l->boxes[m->order[i]];
        width = box->width > width ? box->width : width;
    }
    for (uint32_t i = m->first[layer]; i < m->first[layer + 1]; i++) {
        qp_unit_box *box = &m->l->boxes[m->order[i]];
        int32_t room = width - box->width;
        box->x = x;
        if (box->kind == QP_UNIT_BEND)
            box->width = width;
        else if (box->kind != QP_UNIT_OUTPUT)
            box->x += box->kind == QP_UNIT_INPUT ? room : room / 2;
    }
    return width;
}

bool qp_unit_make_tracks(qp_unit_making *m)
{
    qp_unit_layout *l = m->l;
    passage ch = {.l = l};
    /* a net has a track in each channel up to its last sink, and one for each sink behind it */
    size_t most = (size_t)l->n_boxes + l->n_nets + l->fu->n_sinks;
    int32_t x = 0;

    ch.list = qp_arena_allocate(m->arena, l->n_nets, sizeof *ch.list);
    ch.ends = qp_arena_allocate(m->arena, (size_t)l->n_nets + l->fu->n_sinks, sizeof *ch.ends);
    l->tracks = qp_arena_allocate(m->arena, most, sizeof *l->tracks);
    if (ch.list == NULL || ch.ends == NULL || l->tracks == NULL)
        return false;
    for (; ch.number < l->n_layers; ch.number++) {
        x += make_layer(m, ch.number, x);
        if (ch.number + 1 < l->n_layers)
            x = make_channel(&ch, l, x);
    }
    l->width = x;
    return true;
}

const qp_unit_track *qp_unit_track_of(const qp_unit_layout *layout, uint32_t net, uint32_t channel)
{
    for (uint32_t i = 0; i < layout->n_tracks; i++)
        if (layout->tracks[i].net == net && layout->tracks[i].channel == channel)
            return &layout->tracks[i];
    return NULL;
}
