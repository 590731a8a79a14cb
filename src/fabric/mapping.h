/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - maps verified (section 11), and the ConfiguredHardwareProjection derived from them
 * without search.
 */
#ifndef QP_FABRIC_MAPPING_H
#define QP_FABRIC_MAPPING_H

#include "fabric/capability.h"
#include "fabric/inventory.h"

/*
 * A fabric ready for use: the capabilities of all ops and the inventories of all units. Made once,
 * read by verification, search, configuration and simulation.
 */
typedef struct qp_fabric_sealed {
    const qp_fabric_model *model;
    const qp_fabric_fabric *fabric;
    const qp_fabric_capability *const *capabilities; /* [fu][node]; zeroed for muxes and demuxes */
    const qp_fabric_inventory *inventories;          /* [fu] */
} qp_fabric_sealed;

qp_status qp_fabric_seal_fabric(const qp_fabric_model *model, const qp_fabric_fabric *fabric,
                                qp_arena *arena, qp_fabric_sealed *sealed, qp_fabric_error *error);

/* An edge of the graph (a use of a value) in a map. */
typedef enum qp_fabric_edge_kind {
    QP_FABRIC_EDGE_INTERNAL, /* a template path is its witness */
    QP_FABRIC_EDGE_EXTERNAL  /* between unit ports, or from a graph input */
} qp_fabric_edge_kind;

/* A verified map. Arrays are by actor or by value and use of the graph. */
typedef struct qp_fabric_verified {
    const qp_fabric_sealed *sealed;
    const qp_fabric_graph *graph;
    const qp_fabric_map_item *map;
    const uint32_t *realization_of;              /* [actor] */
    const qp_fabric_binding *const *binding_of;  /* [actor] */
    const qp_fabric_derived *const *template_of; /* [realization] */
    const uint32_t *operand_port; /* [actor's first operand + i]: the unit's input, NO_INDEX where
                                     the edge is internal */
    const uint32_t *operand_base; /* [actor] into operand_port */
    const uint32_t *result_port;  /* [value]: the unit's output, NO_INDEX for none */
} qp_fabric_verified;

/* Every check of section 11. `map` need not be in the model (the search verifies what it finds). */
qp_status qp_fabric_verify(const qp_fabric_sealed *sealed, const qp_fabric_map_item *map,
                           qp_arena *arena, qp_fabric_verified *verified, qp_fabric_error *error);

/* ---- slots and projection ----------------------------------------------------------------- */

/* A configuration slot of a fabric: a unit's occurrence, or an op of it, in one context. */
typedef struct qp_fabric_slot {
    const uint8_t *bytes; /* section 11 */
    size_t size;
    size_t owner_size; /* the owner's bytes are the first of them */
    uint32_t occurrence, context;
    uint32_t node; /* QP_FABRIC_NO_INDEX for the unit itself */
} qp_fabric_slot;

/* All slots of a fabric, ascending by bytes. Ops whose relation is None have none. */
typedef struct qp_fabric_slots {
    size_t count;
    const qp_fabric_slot *slots;
} qp_fabric_slots;

qp_status qp_fabric_slots_of(const qp_fabric_sealed *sealed, qp_arena *arena,
                             qp_fabric_slots *slots, qp_fabric_error *error);

/* The number of a slot that is there. */
size_t qp_fabric_find_slot(const qp_fabric_slots *slots, uint32_t occurrence, uint32_t context,
                           uint32_t node);

/* A unit's value: Disabled (`ordinal` QP_FABRIC_DISABLED) or a template; its bytes come from
 * `arena`. */
#define QP_FABRIC_DISABLED UINT64_MAX
qp_status qp_fabric_unit_value(const qp_fabric_fu *fu, uint64_t ordinal, qp_arena *arena,
                               qp_fabric_semantic_value *value, qp_fabric_error *error);

/* The value of a slot: `bytes` NULL where the map gives none. */
typedef struct qp_fabric_projection {
    const qp_fabric_semantic_value *values; /* [slot] */
} qp_fabric_projection;

/* One row of DeriveFields before it collapses: tests make them by hand (anchor 18). */
typedef struct qp_fabric_derivation {
    size_t slot;
    qp_fabric_semantic_value value;
    qp_fabric_place place;
} qp_fabric_derivation;

/* Equal repeats collapse; unequal ones are a Conflict. */
qp_status qp_fabric_collapse(const qp_fabric_slots *slots, const qp_fabric_derivation *rows,
                             size_t count, qp_arena *arena, qp_fabric_projection *projection,
                             qp_fabric_error *error);

/* DeriveFields. `refinement_count` other than 0 is Invalid (anchor 19). */
qp_status qp_fabric_derive(const qp_fabric_verified *verified, const qp_fabric_slots *slots,
                           size_t refinement_count, qp_arena *arena,
                           qp_fabric_projection *projection, qp_fabric_error *error);

#endif
