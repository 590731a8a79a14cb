/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission.h - whether one concrete operation accepts one exact actor (section 6) and by which
 * ports (sections 4 and 7.1): yes, or the rule that says no. Also the legality of records
 * (section 5) and the definedness proof (section 3).
 */
#ifndef QP_FABRIC_ADMISSION_H
#define QP_FABRIC_ADMISSION_H

#include "fabric/model.h"

/* The legality rules of section 5 behind one op's record, and its port counts (section 4). One
 * fault a class; Invalid. A GEP in op_list is refused (anchor 22). params_check.c */
qp_status qp_fabric_check_op(const qp_fabric_node *node, qp_fabric_error *error);

/* An actor and the ports it is given. Types may hold index; the signature has the graph's width. */
typedef struct qp_fabric_offer {
    qp_fabric_signature signature;
    const uint32_t *operand_ports, *result_ports; /* one for each operand and result */
    qp_fabric_place place;
} qp_fabric_offer;

/* Section 6, points 1 to 9, then the canonical correspondence, on a node that qp_fabric_check_op
 * or qp_fabric_seal accepted. CapabilityInadmissible with the rule; the message begins with the
 * point ("point 3: .."). The FU's segments and the definedness proof are mapping.h's. */
qp_status qp_fabric_admit(const qp_fabric_node *node, const qp_fabric_offer *offer,
                          qp_fabric_error *error);

/* Points 1 to 7 alone: what no choice of ports can mend. */
qp_status qp_fabric_admit_actor(const qp_fabric_node *node, const qp_fabric_signature *signature,
                                qp_fabric_place place, qp_fabric_error *error);

/*
 * The canonical correspondences of an actor on a checked node, one after the other: `*cursor`
 * starts at 0. Straight families have one; routed ones have one for each class sequence
 * (section 7.1) whose lanes carry the actor's payloads. False when there are no more.
 * `operand_ports` and `result_ports` have room for the actor's counts, and the next call finds in
 * them what the last one wrote.
 */
bool qp_fabric_next_correspondence(const qp_fabric_node *node, const qp_fabric_signature *signature,
                                   uint64_t *cursor, uint32_t *operand_ports,
                                   uint32_t *result_ports);

/* The ports of a node that the offer leaves idle (section 4): true for an idle one. */
bool qp_fabric_idle_input(const qp_fabric_node *node, const qp_fabric_offer *offer, uint32_t port);
bool qp_fabric_idle_output(const qp_fabric_node *node, const qp_fabric_offer *offer, uint32_t port);

/* The least fixpoint of section 3: one bool a value of the graph, from `arena`; NULL without
 * memory. */
const bool *qp_fabric_definedness(const qp_fabric_graph *graph, qp_arena *arena);

/* The operands that need a proof: parallelize's phase, serialize's mask and phase. */
bool qp_fabric_needs_proof(const qp_fabric_schema *schema, uint32_t operand);
/* CapabilityInadmissible where one of an actor's is without it; `defined` is by value. */
qp_status qp_fabric_check_proofs(const qp_fabric_actor *actor, const bool *defined,
                                 qp_fabric_error *error);

#endif
