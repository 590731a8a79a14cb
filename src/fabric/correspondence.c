/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correspondence.c - which ports stand for which operands and results (section 4, "Physical roles",
 * and section 7.1, "Routed lanes").
 */
#include "fabric/relation.h"

#include <stdlib.h>

/* ---- straight roles ----------------------------------------------------------------------- */

/* The input of operand i. Only extract leaves an input out: input 1, the destination. */
static uint32_t straight_input(const qp_fabric_node *node, const qp_fabric_signature *signature,
                               size_t i)
{
    const bool skips = node->family->roles == QP_FABRIC_ROLES_SLICE &&
                       signature->schema->type_rule == qp_fabric_types_extract;
    return (uint32_t)(skips && i > 0 ? i + 1 : i);
}

static const char *straight_fault(const qp_fabric_node *node, const qp_fabric_offer *offer)
{
    const qp_fabric_signature *s = &offer->signature;

    for (size_t i = 0; i < s->operand_count; i++)
        if (offer->operand_ports[i] != straight_input(node, s, i))
            return "an operand is not at the input of its role";
    for (size_t i = 0; i < s->result_count; i++)
        if (offer->result_ports[i] != i)
            return "a result is not at the output of its role";
    return NULL;
}

/* ---- routed lanes ------------------------------------------------------------------------- */

qp_fabric_lane_range qp_fabric_lanes_of(const qp_fabric_node *node)
{
    const qp_fabric_roles roles = node->family->roles;

    if (roles == QP_FABRIC_ROLES_MUX)
        return (qp_fabric_lane_range){1, node->n_in};
    return (qp_fabric_lane_range){0, node->n_out};
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t qp_fabric_lane_capacity(const qp_fabric_node *node, uint32_t ordinal)
{
    const qp_fabric_roles roles = node->family->roles;
    const uint32_t input = roles == QP_FABRIC_ROLES_DEMUX ? 1 : ordinal;
    const uint32_t output = roles == QP_FABRIC_ROLES_MUX ? 0 : ordinal;

    return least(node->params.max_payload_bits,
                 least(node->in[input].bits, node->out[output].bits));
}

qp_fabric_image_view qp_fabric_image_of(const qp_fabric_node *node, const qp_fabric_offer *offer)
{
    const qp_fabric_signature *s = &offer->signature;
    const qp_fabric_roles roles = node->family->roles;

    if (roles == QP_FABRIC_ROLES_MUX)
        return (qp_fabric_image_view){offer->operand_ports + 1, (uint32_t)s->operand_count - 1};
    if (roles == QP_FABRIC_ROLES_DEMUX)
        return (qp_fabric_image_view){offer->result_ports, (uint32_t)s->result_count};
    return (qp_fabric_image_view){offer->operand_ports, (uint32_t)s->operand_count};
}

/* The lanes of a node and which are taken, by physical ordinal. */
typedef struct lane_set {
    qp_fabric_lane_range range;
    uint64_t capacity[QP_FABRIC_LANES_MAX + 1];
    bool used[QP_FABRIC_LANES_MAX + 1];
} lane_set;

/* False where the node has more lanes than are supported: qp_fabric_check_op refuses it. */
static bool make_lanes(const qp_fabric_node *node, lane_set *lanes)
{
    lanes->range = qp_fabric_lanes_of(node);
    if (lanes->range.end > QP_FABRIC_LANES_MAX + 1)
        return false;
    for (uint32_t p = lanes->range.first; p < lanes->range.end; p++) {
        lanes->capacity[p] = qp_fabric_lane_capacity(node, p);
        lanes->used[p] = false;
    }
    return true;
}

/* Whether `p` is the lowest unused lane of its class. */
static bool is_lowest(const lane_set *lanes, uint32_t p)
{
    if (lanes->used[p])
        return false;
    for (uint32_t q = lanes->range.first; q < p; q++)
        if (!lanes->used[q] && lanes->capacity[q] == lanes->capacity[p])
            return false;
    return true;
}

static const char *image_fault(const qp_fabric_node *node, const qp_fabric_offer *offer)
{
    const qp_fabric_image_view image = qp_fabric_image_of(node, offer);
    lane_set lanes;

    if (!make_lanes(node, &lanes))
        return "the operation has too many lanes";
    for (uint32_t i = 0; i < image.count; i++) {
        const uint32_t p = image.ordinals[i];
        if (p < lanes.range.first || p >= lanes.range.end)
            return "a lane is on a port that is no lane";
        if (lanes.used[p])
            return "two lanes are on one port";
        if (!is_lowest(&lanes, p))
            return "a lane is not on the lowest unused port of its class";
        lanes.used[p] = true;
    }
    return NULL;
}

static const char *sync_fault(const qp_fabric_node *node, const qp_fabric_offer *offer)
{
    for (size_t i = 0; i < offer->signature.operand_count; i++)
        if (offer->operand_ports[i] != offer->result_ports[i])
            return "a lane of a sync enters and leaves at different ordinals";
    return image_fault(node, offer);
}

static const char *mux_fault(const qp_fabric_node *node, const qp_fabric_offer *offer)
{
    if (offer->operand_ports[0] != 0 || offer->result_ports[0] != 0)
        return "a mux has its selector at input 0 and its result at output 0";
    return image_fault(node, offer);
}

static const char *demux_fault(const qp_fabric_node *node, const qp_fabric_offer *offer)
{
    if (offer->operand_ports[0] != 0 || offer->operand_ports[1] != 1)
        return "a demux has its selector at input 0 and its data at input 1";
    return image_fault(node, offer);
}

static const char *(*const faults[])(const qp_fabric_node *, const qp_fabric_offer *) = {
    [QP_FABRIC_ROLES_STRAIGHT] = straight_fault, [QP_FABRIC_ROLES_SLICE] = straight_fault,
    [QP_FABRIC_ROLES_SYNC] = sync_fault,         [QP_FABRIC_ROLES_MUX] = mux_fault,
    [QP_FABRIC_ROLES_DEMUX] = demux_fault,
};

const char *qp_fabric_correspondence_fault(const qp_fabric_node *node, const qp_fabric_offer *offer)
{
    return faults[node->family->roles](node, offer);
}

/* ---- one after the other ------------------------------------------------------------------ */

/* The search for the next class sequence of an actor, in ascending order of physical ordinals. */
typedef struct lane_search {
    lane_set lanes;
    uint32_t count;                            /* lanes of the actor */
    uint32_t *image;                           /* count */
    uint64_t payload[QP_FABRIC_LANES_MAX];     /* of lane i */
    uint16_t by_payload[QP_FABRIC_LANES_MAX];  /* actor lanes, widest first */
    uint16_t by_capacity[QP_FABRIC_LANES_MAX]; /* physical lanes, widest first */
} lane_search;

typedef struct ranked {
    uint64_t size;
    uint16_t number;
} ranked;

static int widest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Numbers from `first` on, ordered by their sizes. */
static void rank(const uint64_t *sizes, uint32_t first, uint32_t count, uint16_t *order)
{
    ranked rows[QP_FABRIC_LANES_MAX];

    for (uint32_t i = 0; i < count; i++)
        rows[i] = (ranked){sizes[first + i], (uint16_t)(first + i)};
    qsort(rows, count, sizeof *rows, widest_first);
    for (uint32_t i = 0; i < count; i++)
        order[i] = rows[i].number;
}

/* Whether the actor's lanes from `from` on find room in what is unused: the k-th widest of them in
 * the k-th widest unused lane. */
static bool rest_fits(const lane_search *search, uint32_t from)
{
    const lane_set *lanes = &search->lanes;
    const uint32_t total = lanes->range.end - lanes->range.first;
    uint32_t at = 0;

    for (uint32_t k = 0; k < search->count; k++) {
        const uint32_t i = search->by_payload[k];
        if (i < from)
            continue;
        while (at < total && lanes->used[search->by_capacity[at]])
            at++;
        if (at == total || lanes->capacity[search->by_capacity[at]] < search->payload[i])
            return false;
        at++;
    }
    return true;
}

/* The first lane from `start` on that lane i of the actor may take; `end` for none. */
static uint32_t first_choice(lane_search *search, uint32_t i, uint32_t start)
{
    lane_set *lanes = &search->lanes;

    for (uint32_t p = start; p < lanes->range.end; p++) {
        if (lanes->capacity[p] < search->payload[i] || !is_lowest(lanes, p))
            continue;
        lanes->used[p] = true;
        const bool fits = rest_fits(search, i + 1);
        lanes->used[p] = false;
        if (fits)
            return p;
    }
    return lanes->range.end;
}

/* Fills the image from lane i on with the least choices, lane i itself from `start` on. */
static bool fill_image(lane_search *search, uint32_t i, uint32_t start)
{
    for (; i < search->count; i++, start = search->lanes.range.first) {
        const uint32_t p = first_choice(search, i, start);
        if (p == search->lanes.range.end)
            return false;
        search->image[i] = p;
        search->lanes.used[p] = true;
    }
    return true;
}

/* The image after the one that stands there. What fills a rest once also fills it after any choice
 * that first_choice allows, so nothing is tried in vain. */
static bool next_image(lane_search *search)
{
    for (uint32_t i = 0; i < search->count; i++)
        search->lanes.used[search->image[i]] = true;
    for (uint32_t i = search->count; i-- > 0;) {
        search->lanes.used[search->image[i]] = false;
        if (fill_image(search, i, search->image[i] + 1))
            return true;
    }
    return false;
}

/* The payloads of the actor's lanes; false where there are more of them than lanes. */
static bool make_search(const qp_fabric_node *node, const qp_fabric_signature *s,
                        lane_search *search)
{
    const bool demux = node->family->roles == QP_FABRIC_ROLES_DEMUX;
    const bool mux = node->family->roles == QP_FABRIC_ROLES_MUX;
    const size_t first = mux ? 1 : 0;
    const size_t count = demux ? s->result_count : s->operand_count - first;

    if (!make_lanes(node, &search->lanes) ||
        count > search->lanes.range.end - search->lanes.range.first)
        return false;
    search->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const qp_fabric_type *type = demux ? &s->results[i] : &s->operands[first + i];
        if (!qp_fabric_payload_bits(type, s->index_width, &search->payload[i]))
            return false;
    }
    rank(search->payload, 0, search->count, search->by_payload);
    rank(search->lanes.capacity, search->lanes.range.first,
         search->lanes.range.end - search->lanes.range.first, search->by_capacity);
    return rest_fits(search, 0);
}

/* Copies a sync's image to its results and sets the fixed ports of a mux or demux. */
static void set_fixed_ports(const qp_fabric_node *node, const qp_fabric_signature *s,
                            uint32_t *operand_ports, uint32_t *result_ports)
{
    if (node->family->roles == QP_FABRIC_ROLES_SYNC) {
        memcpy(result_ports, operand_ports, s->operand_count * sizeof *result_ports);
        return;
    }
    operand_ports[0] = 0;
    if (node->family->roles == QP_FABRIC_ROLES_MUX)
        result_ports[0] = 0;
    else
        operand_ports[1] = 1;
}

static bool next_routed(const qp_fabric_node *node, const qp_fabric_signature *signature,
                        uint64_t cursor, uint32_t *operand_ports, uint32_t *result_ports)
{
    lane_search search;
    const qp_fabric_roles roles = node->family->roles;

    search.image = roles == QP_FABRIC_ROLES_MUX     ? operand_ports + 1
                   : roles == QP_FABRIC_ROLES_DEMUX ? result_ports
                                                    : operand_ports;
    if (!make_search(node, signature, &search))
        return false;
    if (!(cursor == 0 ? fill_image(&search, 0, search.lanes.range.first) : next_image(&search)))
        return false;
    set_fixed_ports(node, signature, operand_ports, result_ports);
    return true;
}

bool qp_fabric_next_correspondence(const qp_fabric_node *node, const qp_fabric_signature *signature,
                                   uint64_t *cursor, uint32_t *operand_ports,
                                   uint32_t *result_ports)
{
    const qp_fabric_roles roles = node->family->roles;
    const uint64_t at = (*cursor)++;

    if (roles != QP_FABRIC_ROLES_STRAIGHT && roles != QP_FABRIC_ROLES_SLICE)
        return next_routed(node, signature, at, operand_ports, result_ports);
    for (size_t i = 0; i < signature->operand_count; i++)
        operand_ports[i] = straight_input(node, signature, i);
    for (size_t i = 0; i < signature->result_count; i++)
        result_ports[i] = (uint32_t)i;
    return at == 0;
}

/* ---- idle ports --------------------------------------------------------------------------- */

static bool among(const uint32_t *ports, size_t count, uint32_t port)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i] == port)
            return true;
    return false;
}

bool qp_fabric_idle_input(const qp_fabric_node *node, const qp_fabric_offer *offer, uint32_t port)
{
    return port < node->n_in && !among(offer->operand_ports, offer->signature.operand_count, port);
}

bool qp_fabric_idle_output(const qp_fabric_node *node, const qp_fabric_offer *offer, uint32_t port)
{
    return port < node->n_out && !among(offer->result_ports, offer->signature.result_count, port);
}
