/* SPDX-License-Identifier: Apache-2.0 */
/*
 * projection.c - DeriveFields: the one value of each configuration slot that a verified map uses
 * (section 11). There is no search in it.
 */
#include "fabric/mapping.h"

qp_status qp_fabric_collapse(const qp_fabric_slots *slots, const qp_fabric_derivation *rows,
                             size_t count, qp_arena *arena, qp_fabric_projection *projection,
                             qp_fabric_error *error)
{
    qp_fabric_semantic_value *values = qp_arena_allocate(arena, slots->count, sizeof *values);

    projection->values = values;
    if (values == NULL)
        return qp_fabric_fail_memory(error, "the values of the configuration slots");
    for (size_t i = 0; i < count; i++) {
        qp_fabric_semantic_value *value = &values[rows[i].slot];
        if (value->bytes == NULL)
            *value = rows[i].value;
        else if (qp_fabric_compare_bytes(value->bytes, value->size, rows[i].value.bytes,
                                         rows[i].value.size) != 0)
            return qp_fabric_fail(error, QP_FABRIC_CONFLICT, rows[i].place,
                                  "a configuration slot would need two values");
    }
    return QP_OK;
}

/* The rows of DeriveFields as they come. */
typedef struct deriver {
    const qp_fabric_verified *verified;
    const qp_fabric_slots *slots;
    qp_arena *arena;
    qp_fabric_error *error;
    qp_fabric_derivation *rows;
    size_t count;
} deriver;

static qp_status derive_op(deriver *d, const qp_fabric_bind *bind, const qp_fabric_binding *b)
{
    const qp_fabric_verified *v = d->verified;
    const uint32_t fu = v->map->realizations[bind->realization].fu;
    const qp_fabric_capability *capability = &v->sealed->capabilities[fu][b->node];
    const qp_fabric_offer offer = {qp_fabric_actor_signature(v->graph, b->actor), b->operand_ports,
                                   b->result_ports, b->place};
    qp_fabric_derivation *row = &d->rows[d->count];

    if (capability->relation.kind == QP_FABRIC_RELATION_NONE)
        return QP_OK;
    d->count++;
    row->slot = qp_fabric_find_slot(d->slots, bind->occurrence, bind->context, b->node);
    row->place = b->place;
    return qp_fabric_project(capability, &offer, d->arena, &row->value, d->error);
}

/* The slot of the unit, then those of its ops. */
static qp_status derive_bind(deriver *d, const qp_fabric_bind *bind)
{
    const qp_fabric_map_item *map = d->verified->map;
    const qp_fabric_realization *r = &map->realizations[bind->realization];
    qp_fabric_derivation *row = &d->rows[d->count++];

    row->slot = qp_fabric_find_slot(d->slots, bind->occurrence, bind->context, QP_FABRIC_NO_INDEX);
    row->place = bind->place;
    qp_status status = qp_fabric_unit_value(&d->verified->sealed->fabric->fus[r->fu],
                                            r->template_ordinal, d->arena, &row->value, d->error);
    for (uint32_t i = 0; i < r->n_bindings && status == QP_OK; i++)
        status = derive_op(d, bind, &r->bindings[i]);
    return status;
}

qp_status qp_fabric_derive(const qp_fabric_verified *verified, const qp_fabric_slots *slots,
                           size_t refinement_count, qp_arena *arena,
                           qp_fabric_projection *projection, qp_fabric_error *error)
{
    deriver d = {.verified = verified, .slots = slots, .arena = arena, .error = error};
    const qp_fabric_map_item *map = verified->map;
    qp_status status = QP_OK;

    if (refinement_count != 0)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, map->place,
                              "a map has no physical refinements: no resource owns any");
    d.rows =
        qp_arena_allocate(arena, (size_t)map->n_binds + verified->graph->n_actors, sizeof *d.rows);
    if (d.rows == NULL)
        return qp_fabric_fail_memory(error, "the rows of a projection");
    for (uint32_t i = 0; i < map->n_binds && status == QP_OK; i++)
        status = derive_bind(&d, &map->binds[i]);
    if (status == QP_OK)
        status = qp_fabric_collapse(slots, d.rows, d.count, arena, projection, error);
    return status;
}
