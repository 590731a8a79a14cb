/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_capability.c - relations by name, and Supports(R, A, P).
 */
#include "fabric/capability.h"

/* ---- relations ---------------------------------------------------------------------------- */

/* A relation with the arena that holds it; the relation comes first. */
typedef struct owned_relation {
    qp_fabric_relation relation;
    qp_arena arena;
} owned_relation;

static const qp_fabric_node *find_operation(const qp_fabric_model *model, const char *fabric,
                                            const char *operation, qp_fabric_error *error)
{
    const qp_fabric_fabric *found = qp_fabric_find_fabric(model, fabric, error);
    const qp_fabric_fu *fu;

    return found != NULL ? qp_fabric_find_op(model, found, operation, &fu, error) : NULL;
}

qp_status qp_fabric_relation_of(const qp_fabric_model *model, const char *fabric,
                                const char *operation, const qp_allocator *allocator,
                                qp_fabric_relation **relation, qp_fabric_error *error)
{
    const qp_fabric_node *node = find_operation(model, fabric, operation, error);
    qp_fabric_capability capability;

    *relation = NULL;
    if (node == NULL)
        return QP_MALFORMED;
    owned_relation *owned = qp_allocate(allocator, 1, sizeof *owned);
    if (owned == NULL)
        return qp_fabric_fail_memory(error, "a relation");
    qp_arena_init(&owned->arena, allocator);
    qp_status status = qp_fabric_seal(node, &owned->arena, &capability, error);
    owned->relation = capability.relation;
    if (status == QP_OK)
        *relation = &owned->relation;
    else
        qp_fabric_relation_free(&owned->relation);
    return status;
}

void qp_fabric_relation_free(qp_fabric_relation *relation)
{
    owned_relation *owned = (owned_relation *)relation;

    if (owned == NULL)
        return;
    const qp_allocator allocator = owned->arena.allocator;
    qp_arena_free(&owned->arena);
    qp_release(&allocator, owned, 1, sizeof *owned);
}

/* ---- Supports ----------------------------------------------------------------------------- */

/* Phases and masks without a proof. */
static qp_status check_proofs(const qp_fabric_graph *graph, uint32_t number, qp_arena *arena,
                              qp_fabric_error *error)
{
    const qp_fabric_actor *actor = &graph->actors[number];
    const bool *defined = qp_fabric_definedness(graph, arena);

    if (defined == NULL)
        return qp_fabric_fail_memory(error, "a proof of definedness");
    return qp_fabric_check_proofs(actor, defined, error);
}

/* The ports of the question; without any, the first canonical ones, or the ports in order where
 * there are none. */
static qp_status set_ports(const qp_fabric_node *node, const qp_fabric_question *question,
                           qp_arena *arena, qp_fabric_offer *offer, qp_fabric_error *error)
{
    const qp_fabric_signature *s = &offer->signature;
    uint64_t cursor = 0;

    offer->operand_ports = question->operand_ports;
    offer->result_ports = question->result_ports;
    if (question->operand_ports != NULL && question->result_ports != NULL) {
        if (question->operand_count == s->operand_count &&
            question->result_count == s->result_count)
            return QP_OK;
        return qp_fabric_fail_argument(error, "the actor has %zu operands and %zu results",
                                       s->operand_count, s->result_count);
    }
    uint32_t *operands = qp_arena_allocate(arena, s->operand_count, sizeof *operands);
    uint32_t *results = qp_arena_allocate(arena, s->result_count, sizeof *results);
    if (operands == NULL || results == NULL)
        return qp_fabric_fail_memory(error, "the ports of an actor");
    if (!qp_fabric_next_correspondence(node, s, &cursor, operands, results)) {
        for (uint32_t i = 0; i < s->operand_count; i++)
            operands[i] = i;
        for (uint32_t i = 0; i < s->result_count; i++)
            results[i] = i;
    }
    offer->operand_ports = operands;
    offer->result_ports = results;
    return QP_OK;
}

/* What no choice of ports can mend is said first. */
static qp_status supports(const qp_fabric_node *node, const qp_fabric_graph *graph, uint32_t actor,
                          const qp_fabric_question *question, qp_arena *arena,
                          qp_fabric_error *error)
{
    const qp_fabric_place place = graph->actors[actor].place;
    qp_fabric_offer offer = {.signature = qp_fabric_actor_signature(graph, actor), .place = place};
    qp_fabric_capability capability;
    qp_status status = qp_fabric_seal(node, arena, &capability, error);

    if (status == QP_OK)
        status = qp_fabric_admit_actor(node, &offer.signature, place, error);
    if (status == QP_OK)
        status = set_ports(node, question, arena, &offer, error);
    if (status == QP_OK)
        status = qp_fabric_admit(node, &offer, error);
    return status == QP_OK ? check_proofs(graph, actor, arena, error) : status;
}

qp_status qp_fabric_supports(const qp_fabric_model *model, const qp_fabric_question *question,
                             const qp_allocator *allocator, qp_fabric_error *error)
{
    const qp_fabric_node *node =
        find_operation(model, question->fabric, question->operation, error);
    const qp_fabric_graph *graph =
        node != NULL ? qp_fabric_find_graph(model, question->graph, error) : NULL;
    const uint32_t actor = graph != NULL
                               ? qp_fabric_find_actor(model, graph, question->actor, error)
                               : QP_FABRIC_NO_INDEX;
    qp_arena arena;

    if (actor == QP_FABRIC_NO_INDEX)
        return QP_MALFORMED;
    qp_arena_init(&arena, allocator);
    qp_status status = supports(node, graph, actor, question, &arena, error);
    qp_arena_free(&arena);
    return status;
}
