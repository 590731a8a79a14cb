/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_seal.c - relations of whatever operations a text has, and the actors of its graphs on
 * them: a sealed domain has its inactive value and ascending keys, and every admitted actor has a
 * value in it.
 */
#include "fabric/capability.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CORRESPONDENCES_MAX = 50 };

static void check_domain(const qp_fabric_capability *capability)
{
    const qp_fabric_relation *relation = &capability->relation;

    if (qp_fabric_check_value(capability, capability->inactive, NULL) != QP_OK ||
        (relation->kind == QP_FABRIC_RELATION_FINITE && relation->key_count < 2))
        abort();
    for (size_t i = 1; i < relation->key_count; i++)
        if (qp_fabric_compare_bytes(relation->keys[i - 1].bytes, relation->keys[i - 1].size,
                                    relation->keys[i].bytes, relation->keys[i].size) >= 0)
            abort();
}

static void check_actor(const qp_fabric_capability *capability, const qp_fabric_graph *graph,
                        uint32_t actor, qp_arena *arena)
{
    const qp_fabric_node *node = capability->node;
    const qp_fabric_signature signature = qp_fabric_actor_signature(graph, actor);
    uint32_t *operands = qp_arena_allocate(arena, signature.operand_count, sizeof *operands);
    uint32_t *results = qp_arena_allocate(arena, signature.result_count, sizeof *results);
    const qp_fabric_offer offer = {signature, operands, results, QP_FABRIC_NOWHERE};
    uint64_t cursor = 0;
    qp_fabric_semantic_value value;

    if (qp_fabric_admit_actor(node, &signature, offer.place, NULL) != QP_OK)
        return;
    while (cursor < CORRESPONDENCES_MAX &&
           qp_fabric_next_correspondence(node, &signature, &cursor, operands, results))
        if (qp_fabric_admit(node, &offer, NULL) == QP_OK &&
            (qp_fabric_project(capability, &offer, arena, &value, NULL) != QP_OK ||
             qp_fabric_check_value(capability, value, NULL) != QP_OK))
            abort();
}

static void check_operation(const qp_fabric_model *model, const qp_fabric_node *node)
{
    qp_fabric_capability capability;
    qp_fabric_error error;
    qp_arena arena;

    qp_arena_init(&arena, NULL);
    if (qp_fabric_seal(node, &arena, &capability, &error) == QP_OK) {
        check_domain(&capability);
        for (uint32_t g = 0; g < model->n_graphs; g++)
            for (uint32_t i = 0; i < model->graphs[g].n_actors; i++)
                check_actor(&capability, &model->graphs[g], i, &arena);
    } else if (error.fault != QP_FABRIC_INVALID && error.fault != QP_FABRIC_UNSUPPORTED) {
        abort();
    }
    qp_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const qp_fabric_text text = {"input", data, size};
    qp_fabric_model *model;

    if (qp_fabric_read(&text, 1, NULL, &model, NULL) != QP_OK)
        return 0;
    for (uint32_t f = 0; f < model->n_fabrics; f++)
        for (uint32_t u = 0; u < model->fabrics[f].n_fus; u++)
            for (uint32_t n = 0; n < model->fabrics[f].fus[u].n_nodes; n++)
                if (model->fabrics[f].fus[u].nodes[n].kind == QP_FABRIC_NODE_OP)
                    check_operation(model, &model->fabrics[f].fus[u].nodes[n]);
    qp_fabric_free(model);
    return 0;
}
