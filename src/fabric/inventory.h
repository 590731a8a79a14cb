/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h - the capability templates of a function unit (section 10), and the checks of its
 * topology.
 */
#ifndef QP_FABRIC_INVENTORY_H
#define QP_FABRIC_INVENTORY_H

#include "fabric/model.h"

/* A way through a template, from a unit's input or an op's output to an op's input or a unit's
 * output. */
typedef struct qp_fabric_path {
    qp_fabric_endpoint source, end;
    uint32_t narrowest; /* bits of the narrowest segment, the ports at both ends included */
} qp_fabric_path;

/*
 * A derived template. Nodes ascend; edges are wire numbers (qp_fabric_fu.wires) in the order of the
 * template's bytes; routes are those of its muxes and demuxes, ascending by node. `paths` ascend by
 * the sink number of their ends, of which each has one; `by_source` orders them by source, and then
 * by end.
 */
typedef struct qp_fabric_derived {
    uint32_t node_count, edge_count, route_count, path_count;
    uint32_t op_count; /* of the nodes */
    const uint32_t *nodes;
    const uint32_t *edges;
    const qp_fabric_route *routes;
    const qp_fabric_path *paths;
    const uint32_t *by_source;
    const uint8_t *bytes;
    size_t size;
} qp_fabric_derived;

/* Sorted by bytes; the ordinal is the position. */
typedef struct qp_fabric_inventory {
    uint32_t count;
    const qp_fabric_derived *templates;
} qp_fabric_inventory;

/* A combinational cycle through transparent ops, muxes and demuxes without an elastic op is Invalid
 * (section 9). `arena` lends scratch. */
qp_status qp_fabric_check_topology(const qp_fabric_model *model, const qp_fabric_fu *fu,
                                   qp_arena *arena, qp_fabric_error *error);

/*
 * Derives, normalises and checks all templates of a unit without combinational cycles; `arena` has
 * them. Invalid for a refused row, for two equal rows, and without an authored domain for anything
 * but exactly one template. Each step takes one of `*work`; at 0 the derivation is Unsupported.
 */
qp_status qp_fabric_inventory_of(const qp_fabric_model *model, const qp_fabric_fu *fu,
                                 uint64_t *work, qp_arena *arena, qp_fabric_inventory *inventory,
                                 qp_fabric_error *error);
#define QP_FABRIC_INVENTORY_WORK UINT64_C(1000000)

/* The paths of a source, one after the other: numbers `*cursor` from 0. False when there are no
 * more. */
bool qp_fabric_next_path(const qp_fabric_derived *derived, qp_fabric_endpoint source,
                         uint32_t *cursor, qp_fabric_path *path);
/* The path that ends at an op's input or a unit's output; NULL where the template has none. */
const qp_fabric_path *qp_fabric_path_to(const qp_fabric_fu *fu, const qp_fabric_derived *derived,
                                        qp_fabric_endpoint end);
/* Whether the template has a node. */
bool qp_fabric_has_node(const qp_fabric_derived *derived, uint32_t node);

/* Template and unit references (section 10). */
void qp_fabric_put_fu_ref(qp_buffer *buffer, const qp_fabric_fu *fu);
void qp_fabric_put_template_ref(qp_buffer *buffer, const qp_fabric_fu *fu, uint64_t ordinal);
void qp_fabric_put_occurrence_ref(qp_buffer *buffer, uint64_t occurrence);
/* An end of a wire: its source (the unit's input, a node's output), or else its destination. */
void qp_fabric_put_endpoint(qp_buffer *buffer, const qp_fabric_fu *fu, qp_fabric_endpoint end,
                            bool source);
void qp_fabric_put_node_ref(qp_buffer *buffer, const qp_fabric_fu *fu, uint32_t node);

#endif
