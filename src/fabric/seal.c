/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.c - a fabric made ready: every unit's wiring, operations and templates, in file order.
 */
#include "fabric/mapping.h"

/* A hostile fabric may have many operations near each one's own bounds; these hold for their sum
 * (bounds of ours). */
#define SEAL_ITEMS_MAX (UINT64_C(1) << 20) /* keys, fields and transactions */
#define SEAL_BYTES_MAX (UINT64_C(1) << 26) /* of keys and carriers */

typedef struct sealer {
    const qp_fabric_model *model;
    qp_arena *arena;
    qp_fabric_error *error;
    uint64_t items, bytes, work;
} sealer;

/* Counts what an operation's relation and contract hold. */
static void count_capability(sealer *s, const qp_fabric_capability *capability)
{
    const qp_fabric_relation *relation = &capability->relation;

    s->items += 1 + relation->key_count + relation->field_count;
    for (uint32_t i = 0; i < capability->contract.pattern_count; i++)
        s->items += capability->contract.patterns[i].transaction_count;
    for (size_t i = 0; i < relation->key_count; i++)
        s->bytes += relation->keys[i].size;
    s->bytes += capability->inactive.size;
}

static qp_status seal_nodes(sealer *s, const qp_fabric_fu *fu, qp_fabric_capability *capabilities)
{
    qp_status status = QP_OK;

    for (uint32_t i = 0; i < fu->n_nodes && status == QP_OK; i++) {
        if (fu->nodes[i].kind != QP_FABRIC_NODE_OP)
            continue;
        status = qp_fabric_seal(&fu->nodes[i], s->arena, &capabilities[i], s->error);
        if (status != QP_OK)
            return status;
        count_capability(s, &capabilities[i]);
        if (s->items > SEAL_ITEMS_MAX || s->bytes > SEAL_BYTES_MAX)
            return qp_fabric_fail(s->error, QP_FABRIC_UNSUPPORTED, fu->nodes[i].place,
                                  "the operations of the fabric have too many behaviours in all");
    }
    return status;
}

/* The operations first: a wrong record is told before what follows from the wiring. */
static qp_status seal_unit(sealer *s, const qp_fabric_fu *fu,
                           const qp_fabric_capability **capabilities,
                           qp_fabric_inventory *inventory)
{
    qp_fabric_capability *made = qp_arena_allocate(s->arena, fu->n_nodes, sizeof *made);

    if (made == NULL)
        return qp_fabric_fail_memory(s->error, "the capabilities of a unit");
    *capabilities = made;
    qp_status status = seal_nodes(s, fu, made);
    if (status == QP_OK)
        status = qp_fabric_check_topology(s->model, fu, s->arena, s->error);
    if (status == QP_OK)
        status = qp_fabric_inventory_of(s->model, fu, &s->work, s->arena, inventory, s->error);
    return status;
}

qp_status qp_fabric_seal_fabric(const qp_fabric_model *model, const qp_fabric_fabric *fabric,
                                qp_arena *arena, qp_fabric_sealed *sealed, qp_fabric_error *error)
{
    sealer s = {model, arena, error, 0, 0, QP_FABRIC_INVENTORY_WORK};
    const qp_fabric_capability **capabilities =
        qp_arena_allocate(arena, fabric->n_fus, sizeof *capabilities);
    qp_fabric_inventory *inventories = qp_arena_allocate(arena, fabric->n_fus, sizeof *inventories);
    qp_status status = QP_OK;

    if (capabilities == NULL || inventories == NULL)
        return qp_fabric_fail_memory(error, "the capabilities of a fabric");
    for (uint32_t i = 0; i < fabric->n_fus && status == QP_OK; i++)
        status = seal_unit(&s, &fabric->fus[i], &capabilities[i], &inventories[i]);
    *sealed = (qp_fabric_sealed){model, fabric, capabilities, inventories};
    return status;
}
