/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relation.h - what the files behind capability.h share: the points of an operation (section 7.1,
 * "Point enumeration"), routed lanes, the refinement cover, and the sealed parts of a relation.
 */
#ifndef QP_FABRIC_RELATION_H
#define QP_FABRIC_RELATION_H

#include "fabric/capability.h"

/* ---- points (points.c) -------------------------------------------------------------------- */

/* An actor made up to stand for a point: it grants every fast-math flag but (where it is strict)
 * nnan, and accepts the weakest accuracy. The signature points into the structure. */
typedef struct qp_fabric_candidate {
    uint32_t member; /* of the family */
    uint32_t pair;   /* the bit of `pairs` that it uses; 0 outside the casts */
    bool relaxed;    /* nnan on a comparison, minimum or maximum (section 7.3) */
    uint64_t lanes;  /* of vector types */
    qp_fabric_signature signature;
    qp_fabric_semantics semantics;
    qp_fabric_type operands[3], results[3];
} qp_fabric_candidate;

/* Sees one admitted candidate; false ends the enumeration. */
typedef bool qp_fabric_visit(void *context, const qp_fabric_candidate *candidate);

/*
 * Every point of an operation with straight roles that the record admits and, with `ports`, that
 * its ports carry; its members and port counts have been checked. Vector computations come with the
 * largest number of lanes that fits, adapters with every one.
 */
void qp_fabric_each_point(const qp_fabric_node *node, bool ports, qp_fabric_visit *visit,
                          void *context);

/* The behaviour that an admitted actor with straight roles asks for, before any cover. */
qp_fabric_behavior_point qp_fabric_behavior_of(const qp_fabric_family *family,
                                               const qp_fabric_signature *signature);

/* ---- correspondence.c --------------------------------------------------------------------- */

/* What is wrong with the ports of an offer, all of which the node has; NULL for nothing. */
const char *qp_fabric_correspondence_fault(const qp_fabric_node *node,
                                           const qp_fabric_offer *offer);

/* ---- routed lanes (correspondence.c, routed.c) -------------------------------------------- */

/* Routed operations with more lanes are Unsupported (a bound of ours). */
#define QP_FABRIC_LANES_MAX 1024u

/* The lanes of a routed operation: physical ordinals [first, end). */
typedef struct qp_fabric_lane_range {
    uint32_t first, end;
} qp_fabric_lane_range;

qp_fabric_lane_range qp_fabric_lanes_of(const qp_fabric_node *node);
/* The effective capacity of a lane by its physical ordinal (section 7.1). */
uint64_t qp_fabric_lane_capacity(const qp_fabric_node *node, uint32_t ordinal);

/* The part of an offer that is the lane image, in actor lane order. */
typedef struct qp_fabric_image_view {
    const uint32_t *ordinals;
    uint32_t count;
} qp_fabric_image_view;

qp_fabric_image_view qp_fabric_image_of(const qp_fabric_node *node, const qp_fabric_offer *offer);

/* A growing list of points. Images lie in `ordinals`; a point's `image` is set by
 * qp_fabric_points_end. */
typedef struct qp_fabric_points {
    qp_allocator allocator;
    qp_fabric_behavior_point *items;
    size_t count, capacity;
    uint32_t *ordinals;
    size_t ordinal_count, ordinal_capacity;
    bool no_memory, too_many;
} qp_fabric_points;

/* False, with the reason kept, once there is no memory or too much to hold. */
bool qp_fabric_points_add(qp_fabric_points *points, const qp_fabric_behavior_point *point);
void qp_fabric_points_free(qp_fabric_points *points);

/* Adds every image of a routed operation (routed.c). */
void qp_fabric_add_images(const qp_fabric_node *node, qp_fabric_points *points);
/* Sets the images, sorts and removes repeats. */
void qp_fabric_points_end(qp_fabric_points *points);

/* ---- cover (cover.c) ---------------------------------------------------------------------- */

/* A point of a comparison, minimum or maximum. `bytes` is its actor projection. */
typedef struct qp_fabric_cover_point {
    qp_fabric_behavior_point point;
    bool relaxed;
    const uint8_t *bytes;
    size_t size;
} qp_fabric_cover_point;

/* Section 7.3, (1) to (3): the representatives of `points`, added to `cover`. `points` is sorted in
 * place. `scalar`: a strict bf16 may refine a relaxed f16. */
void qp_fabric_cover(qp_fabric_cover_point *points, size_t count, bool scalar,
                     qp_fabric_points *cover);

/* Section 7.3, (4): the representative of `count`, in the order of their keys, that an actor's
 * point has; `count` where there is none. */
size_t qp_fabric_cover_choose(const qp_fabric_behavior_point *representatives, size_t count,
                              bool scalar, const qp_fabric_cover_point *point);

/* ---- keys (key.c) ------------------------------------------------------------------------- */

/* Orders points by what keys say of them; equal ones have equal keys. */
int qp_fabric_compare_points(const qp_fabric_behavior_point *a, const qp_fabric_behavior_point *b);
/* What a domain writes of the points of a role (section 7, "Omission"). */
qp_fabric_key_shape qp_fabric_shape_of(const qp_fabric_family *family,
                                       const qp_fabric_behavior_point *points, size_t count,
                                       const char *role);

/* ---- carriers (carrier.c) ----------------------------------------------------------------- */

/* Makes the relation and the inactive value of a Direct operation. */
qp_status qp_fabric_seal_carrier(const qp_fabric_node *node, qp_arena *arena,
                                 qp_fabric_capability *capability, qp_fabric_error *error);
qp_status qp_fabric_project_carrier(const qp_fabric_capability *capability,
                                    const qp_fabric_signature *signature, qp_arena *arena,
                                    qp_fabric_semantic_value *value, qp_fabric_error *error);
qp_status qp_fabric_check_carrier(const qp_fabric_capability *capability,
                                  qp_fabric_semantic_value value, qp_fabric_error *error);

#endif
