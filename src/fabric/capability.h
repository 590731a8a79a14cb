/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capability.h - the one relation of a concrete operation (sections 7 and 8): None, Finite with its
 * keys, or Direct with its carrier; and the projection of an admitted actor to a semantic value.
 */
#ifndef QP_FABRIC_CAPABILITY_H
#define QP_FABRIC_CAPABILITY_H

#include "fabric/admission.h"
#include "fabric/contract.h"

/* Domains and carriers beyond these are Unsupported (bounds of ours against hostile records). */
#define QP_FABRIC_KEYS_MAX 65536u
#define QP_FABRIC_CARRIER_BITS_MAX QP_FABRIC_PAYLOAD_BITS_MAX

/* A semantic value: a key's bytes, or a carrier's packed bytes. Empty for None. */
typedef struct qp_fabric_semantic_value {
    const uint8_t *bytes;
    size_t size;
} qp_fabric_semantic_value;

/*
 * ResolvedFabricOpCapabilityView of one node: sealed by qp_fabric_seal, and then only read. The
 * node, its family and its params are as the model has them. `relation` has the public form: keys
 * ascending by bytes with their text, fields of the carrier in the order of section 8, those of
 * zero bits left out (names of section 11).
 */
typedef struct qp_fabric_capability {
    const qp_fabric_node *node;
    qp_fabric_relation relation;
    qp_fabric_contract contract;
    qp_fabric_semantic_value inactive; /* section 8's canonical inactive value; empty for None */
    const void *points; /* relation.c's: what the projection needs (cover, written components) */
} qp_fabric_capability;

/* Checks the record, enumerates the points, builds the cover and the domain. `arena` has all of it.
 * Invalid for whatever section 5, 7 or 8 refuses. */
qp_status qp_fabric_seal(const qp_fabric_node *node, qp_arena *arena,
                         qp_fabric_capability *capability, qp_fabric_error *error);

/* The semantic value of an admitted actor (qp_fabric_admit first); its bytes come from `arena`, or
 * are the relation's own. */
qp_status qp_fabric_project(const qp_fabric_capability *capability, const qp_fabric_offer *offer,
                            qp_arena *arena, qp_fabric_semantic_value *value,
                            qp_fabric_error *error);

/* The domain validator: Invalid for bytes that are no member (truncated, trailing, overcodes). */
qp_status qp_fabric_check_value(const qp_fabric_capability *capability,
                                qp_fabric_semantic_value value, qp_fabric_error *error);

/* ---- keys (key.c) ------------------------------------------------------------------------- */

/* The components of one behaviour; which are written is the domain's choice. */
typedef struct qp_fabric_behavior_point {
    const char *role;
    uint32_t width, source_width, destination_width;
    uint32_t predicate;                            /* of the component's list */
    int format, source_format, destination_format; /* ordinals, -1 for none */
    uint32_t rounding;
    uint32_t numeric_width; /* numeric_format Width(w), where format is -1 */
    uint64_t lane_count;
    uint32_t image_count;
    const uint32_t *image; /* physical ordinals */
} qp_fabric_behavior_point;

/* Which components and whether the role are written: bit i for component i of the key row. A
 * component that a point lacks is never written. */
typedef struct qp_fabric_key_shape {
    bool role;
    uint32_t components;
} qp_fabric_key_shape;

/* A key's bytes (section 7), whatever the domain says. */
void qp_fabric_put_key(qp_buffer *buffer, const qp_fabric_family *family, qp_fabric_key_shape shape,
                       const qp_fabric_behavior_point *point);
/* How people see it: "Compare slt i32". */
void qp_fabric_put_key_text(qp_buffer *buffer, const qp_fabric_family *family,
                            qp_fabric_key_shape shape, const qp_fabric_behavior_point *point);

/* ---- carriers (carrier.c) ----------------------------------------------------------------- */

/* cb(M) and ib(M) of section 8. */
uint32_t qp_fabric_cardinality_bits(uint64_t m);
uint32_t qp_fabric_inclusive_bits(uint64_t m);

#endif
