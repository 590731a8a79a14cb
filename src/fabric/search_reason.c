/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_reason.c - why there is no map, in one sentence.
 */
#include "fabric/search_reason.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define REASON_SIZE 512

/* Sets the reason to a formatted line. */
static qp_status say(qp_arena *arena, const char **reason, qp_fabric_error *error,
                     const char *format, ...) QP_PRINTF(4, 5);

static qp_status say(qp_arena *arena, const char **reason, qp_fabric_error *error,
                     const char *format, ...)
{
    char *text = qp_arena_allocate(arena, REASON_SIZE, 1);
    va_list arguments;

    if (text == NULL)
        return qp_fabric_fail_memory(error, "the reason why there is no map");
    va_start(arguments, format);
    vsnprintf(text, REASON_SIZE, format, arguments);
    va_end(arguments);
    *reason = text;
    return QP_OK;
}

static const char *actor_name(const qp_fabric_finder *f, uint32_t actor)
{
    const uint32_t value = f->graph->actors[actor].results[0];
    return qp_fabric_name_text(f->sealed->model, f->graph->values[value].name);
}

/* ---- before the search -------------------------------------------------------------------- */

/* Whether some unit, with an occurrence or without, has a schema. */
static bool fabric_has(const qp_fabric_finder *f, const qp_fabric_schema *schema)
{
    for (uint32_t i = 0; i < f->sealed->fabric->n_fus; i++) {
        const qp_fabric_fu *fu = &f->sealed->fabric->fus[i];
        for (uint32_t k = 0; k < fu->n_nodes; k++) {
            if (fu->nodes[k].kind != QP_FABRIC_NODE_OP)
                continue;
            const int member = qp_fabric_member_ordinal(fu->nodes[k].family, schema);
            if (member >= 0 && (fu->nodes[k].enabled >> member & 1) != 0)
                return true;
        }
    }
    return false;
}

static qp_status find_missing(const qp_fabric_finder *f, qp_arena *arena, const char **reason,
                              qp_fabric_error *error)
{
    for (uint32_t i = 0; i < f->graph->n_actors; i++) {
        const qp_fabric_schema *schema = f->graph->actors[i].schema;
        if (f->first_seat[schema->id] < f->first_seat[schema->id + 1])
            continue;
        if (!fabric_has(f, schema))
            return say(arena, reason, error, "no unit has %s", schema->name);
        return say(arena, reason, error,
                   "no unit with %s has an occurrence and a template in which it is active",
                   schema->name);
    }
    return QP_OK;
}

static qp_status find_unproved(const qp_fabric_finder *f, qp_arena *arena, const char **reason,
                               qp_fabric_error *error)
{
    const bool *defined = qp_fabric_definedness(f->graph, arena);
    qp_fabric_error refusal;

    if (defined == NULL)
        return qp_fabric_fail_memory(error, "a proof of definedness");
    for (uint32_t i = 0; i < f->graph->n_actors; i++)
        if (qp_fabric_check_proofs(&f->graph->actors[i], defined, &refusal) != QP_OK)
            return say(arena, reason, error, "%%%.64s: %.300s", actor_name(f, i),
                       refusal.base.message);
    return QP_OK;
}

/* Whether an op admits an actor by some ports; else the first refusal. */
static bool admits(const qp_fabric_finder *f, const qp_fabric_seat *seat, uint32_t actor,
                   qp_fabric_error *refusal)
{
    const qp_fabric_node *op = &f->sealed->fabric->fus[seat->fu].nodes[seat->node];
    const qp_fabric_offer offer = {
        qp_fabric_actor_signature(f->graph, actor), f->operand_ports + f->operand_base[actor],
        f->result_ports + f->graph->actors[actor].results[0], QP_FABRIC_NOWHERE};
    uint64_t cursor = 0;

    if (qp_fabric_admit_actor(op, &offer.signature, QP_FABRIC_NOWHERE, refusal) != QP_OK)
        return false;
    if (!qp_fabric_next_correspondence(op, &offer.signature, &cursor,
                                       f->operand_ports + f->operand_base[actor],
                                       f->result_ports + f->graph->actors[actor].results[0])) {
        qp_fabric_refuse(refusal, QP_FABRIC_RULE_CORRESPONDENCE, QP_FABRIC_NOWHERE,
                         "section 7.1: no lanes carry its payloads");
        return false;
    }
    return qp_fabric_admit(op, &offer, refusal) == QP_OK;
}

static qp_status find_unadmitted(const qp_fabric_finder *f, qp_arena *arena, const char **reason,
                                 qp_fabric_error *error)
{
    const qp_fabric_sealed *sealed = f->sealed;

    for (uint32_t i = 0; i < f->graph->n_actors; i++) {
        const qp_fabric_schema *schema = f->graph->actors[i].schema;
        const uint64_t first = f->first_seat[schema->id], end = f->first_seat[schema->id + 1];
        const qp_fabric_fu *fu = &sealed->fabric->fus[f->seats[first].fu];
        qp_fabric_error refusal, other;
        bool admitted = admits(f, &f->seats[first], i, &refusal);
        for (uint64_t k = first + 1; k < end && !admitted; k++)
            admitted = admits(f, &f->seats[k], i, &other);
        if (!admitted)
            return say(arena, reason, error, "no op takes %%%.64s (%s): %.64s.%.64s: %.200s",
                       actor_name(f, i), schema->name, qp_fabric_name_text(sealed->model, fu->name),
                       qp_fabric_name_text(sealed->model, fu->nodes[f->seats[first].node].name),
                       refusal.base.message);
    }
    return QP_OK;
}

/* A sum that stays at the largest number. */
static uint64_t add_product(uint64_t sum, uint64_t a, uint64_t b)
{
    uint64_t product, total;
    return qp_mul_u64(a, b, &product) && qp_add_u64(sum, product, &total) ? total : UINT64_MAX;
}

/* The most ops with a schema that all occurrences in all contexts can have active. Seats ascend by
 * unit and template. */
static uint64_t count_room(const qp_fabric_finder *f, uint32_t schema)
{
    uint64_t room = 0, at = f->first_seat[schema];

    while (at < f->first_seat[schema + 1]) {
        const uint32_t fu = f->seats[at].fu;
        uint64_t most = 0;
        while (at < f->first_seat[schema + 1] && f->seats[at].fu == fu) {
            const uint32_t ordinal = f->seats[at].template_ordinal;
            uint64_t ops = 0;
            for (; at < f->first_seat[schema + 1] && f->seats[at].fu == fu &&
                   f->seats[at].template_ordinal == ordinal;
                 at++)
                ops++;
            most = ops > most ? ops : most;
        }
        room = add_product(room, f->homes[fu], most);
    }
    return room;
}

static qp_status find_shortage(const qp_fabric_finder *f, qp_arena *arena, const char **reason,
                               qp_fabric_error *error)
{
    uint64_t needed[QP_FABRIC_SCHEMA_COUNT] = {0};

    for (uint32_t i = 0; i < f->graph->n_actors; i++)
        needed[f->graph->actors[i].schema->id]++;
    for (uint32_t i = 0; i < QP_FABRIC_SCHEMA_COUNT; i++) {
        const uint64_t room = needed[i] > 0 ? count_room(f, i) : 0;
        if (needed[i] > room)
            return say(arena, reason, error,
                       "the graph has %" PRIu64 " of %s, and the fabric has room for %" PRIu64,
                       needed[i], qp_fabric_schemas[i].name, room);
    }
    return QP_OK;
}

qp_status qp_fabric_first_reason(const qp_fabric_finder *f, qp_arena *arena, const char **reason,
                                 qp_fabric_error *error)
{
    static qp_status (*const looks[])(const qp_fabric_finder *, qp_arena *, const char **,
                                      qp_fabric_error *) = {find_missing, find_unproved,
                                                            find_unadmitted, find_shortage};
    qp_status status = QP_OK;

    for (unsigned i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (status == QP_OK && (*reason)[0] == '\0')
            status = looks[i](f, arena, reason, error);
    return status;
}

/* ---- behind the search -------------------------------------------------------------------- */

/* With homes without number, is there a cover? */
static bool fits_with_more_homes(qp_fabric_finder *f)
{
    bool found;

    qp_fabric_finder_restart(f);
    for (uint32_t i = 0; i < f->sealed->fabric->n_fus; i++)
        if (f->homes[i] > 0)
            f->homes[i] = UINT64_MAX;
    found = qp_fabric_next_cover(f);
    qp_fabric_finder_restart(f);
    return found;
}

qp_status qp_fabric_last_reason(qp_fabric_finder *f, qp_arena *arena, const char **reason,
                                qp_fabric_error *error)
{
    for (uint32_t i = 0; i < f->graph->n_actors && !f->exhausted; i++)
        if (!qp_fabric_can_realize(f, i) && !f->exhausted)
            return say(arena, reason, error,
                       "no template of any unit has the edges of the graph around %%%.64s (%s)",
                       actor_name(f, i), f->graph->actors[i].schema->name);
    if (!f->exhausted && fits_with_more_homes(f))
        return say(arena, reason, error,
                   "there are too few occurrences and contexts: with more of them the graph fits");
    if (f->exhausted) {
        f->exhausted = false; /* the answer is found: there is none */
        return say(arena, reason, error,
                   "the occurrences there are do not cover all %" PRIu32
                   " operations of the graph; no steps were left to find out why",
                   f->graph->n_actors);
    }
    return say(arena, reason, error,
               "no choice of templates covers all %" PRIu32 " operations of the graph",
               f->graph->n_actors);
}
