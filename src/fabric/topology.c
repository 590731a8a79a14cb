/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - what holds for a unit's wiring whatever template is chosen: no combinational cycle
 * (section 9).
 */
#include "fabric/inventory.h"

/* Whether a node passes a token on in the cycle in which it comes. */
static bool is_combinational(const qp_fabric_node *node)
{
    return node->kind != QP_FABRIC_NODE_OP ||
           node->family->contract == QP_FABRIC_CONTRACT_TRANSPARENT_3 ||
           node->family->contract == QP_FABRIC_CONTRACT_TRANSPARENT_4;
}

/* Whether both ends of a wire are at combinational nodes. */
static bool joins_combinational(const qp_fabric_fu *fu, const qp_fabric_wire *wire)
{
    return wire->source.node != QP_FABRIC_NO_INDEX &&
           wire->destination.node != QP_FABRIC_NO_INDEX &&
           is_combinational(&fu->nodes[wire->source.node]) &&
           is_combinational(&fu->nodes[wire->destination.node]);
}

/* The position in `by_source` of the first wire that leaves each node; one more at the end. */
static void find_first_wires(const qp_fabric_fu *fu, uint32_t *first)
{
    uint32_t at = 0;

    for (uint32_t node = 0; node <= fu->n_nodes; node++) {
        while (at < fu->n_sinks && fu->wires[fu->by_source[at]].source.node + 1 <= node)
            at++;
        first[node] = at;
    }
}

/* Takes away, again and again, a node that no combinational node feeds; what is left is a cycle and
 * what it feeds. Returns such a node, QP_FABRIC_NO_INDEX for none. */
static uint32_t find_cycle(const qp_fabric_fu *fu, const uint32_t *first, uint32_t *feeds,
                           uint32_t *queue)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < fu->n_sinks; i++)
        if (joins_combinational(fu, &fu->wires[i]))
            feeds[fu->wires[i].destination.node]++;
    for (uint32_t node = 0; node < fu->n_nodes; node++)
        if (feeds[node] == 0)
            queue[count++] = node;
    for (uint32_t done = 0; done < count; done++)
        for (uint32_t at = first[queue[done]]; at < first[queue[done] + 1]; at++) {
            const qp_fabric_wire *wire = &fu->wires[fu->by_source[at]];
            if (joins_combinational(fu, wire) && --feeds[wire->destination.node] == 0)
                queue[count++] = wire->destination.node;
        }
    for (uint32_t node = 0; node < fu->n_nodes; node++)
        if (feeds[node] > 0)
            return node;
    return QP_FABRIC_NO_INDEX;
}

qp_status qp_fabric_check_topology(const qp_fabric_model *model, const qp_fabric_fu *fu,
                                   qp_arena *arena, qp_fabric_error *error)
{
    uint32_t *first = qp_arena_allocate(arena, (size_t)fu->n_nodes + 1, sizeof *first);
    uint32_t *feeds = qp_arena_allocate(arena, fu->n_nodes, sizeof *feeds);
    uint32_t *queue = qp_arena_allocate(arena, fu->n_nodes, sizeof *queue);

    if (first == NULL || feeds == NULL || queue == NULL)
        return qp_fabric_fail_memory(error, "the wires of a unit");
    find_first_wires(fu, first);
    const uint32_t node = find_cycle(fu, first, feeds, queue);
    if (node == QP_FABRIC_NO_INDEX)
        return QP_OK;
    return qp_fabric_fail(error, QP_FABRIC_INVALID, fu->nodes[node].place,
                          "'%.64s' is on or behind a combinational cycle: put an elastic op in it",
                          qp_fabric_name_text(model, fu->nodes[node].name));
}
