/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definedness.c - the proof that phases and masks are defined (section 3, "Activity definedness"):
 * the least fixpoint over the results of a graph's actors. Graph inputs are never proved.
 */
#include "fabric/admission.h"

typedef struct proof {
    const qp_fabric_graph *graph;
    bool *defined;     /* [value] */
    uint32_t *missing; /* [actor] operands that are not proved */
    uint32_t *waiting; /* proved values whose uses are to be looked at */
    uint32_t waiting_count;
} proof;

/* Each value is proved once, so `waiting` never holds more than all of them. */
static void prove(proof *p, uint32_t value)
{
    if (p->defined[value])
        return;
    p->defined[value] = true;
    p->waiting[p->waiting_count++] = value;
}

static bool is_defined(const proof *p, const qp_fabric_actor *actor, uint32_t operand)
{
    return p->defined[actor->operands[operand]];
}

/* ---- the kinds of transfer ---------------------------------------------------------------- */

/* What an operand's proof lets an actor prove. */
typedef void transfer(proof *p, uint32_t actor, uint32_t operand);

static void transfer_missing(proof *p, uint32_t actor, uint32_t operand)
{
    (void)p;
    (void)actor;
    (void)operand;
}

static void transfer_all_operands(proof *p, uint32_t number, uint32_t operand)
{
    const qp_fabric_actor *actor = &p->graph->actors[number];

    (void)operand;
    if (p->missing[number] > 0)
        return;
    for (uint32_t i = 0; i < actor->result_count; i++)
        prove(p, actor->results[i]);
}

static void transfer_same_ordinal(proof *p, uint32_t number, uint32_t operand)
{
    prove(p, p->graph->actors[number].results[operand]);
}

/* nnan and ninf make poison of operands that are defined. */
static void transfer_float_compare(proof *p, uint32_t number, uint32_t operand)
{
    const uint32_t mask = p->graph->actors[number].semantics.fast_math;

    if ((mask & (QP_FABRIC_NNAN | QP_FABRIC_NINF)) == 0)
        transfer_all_operands(p, number, operand);
}

static void transfer_parallelize(proof *p, uint32_t number, uint32_t operand)
{
    const qp_fabric_actor *actor = &p->graph->actors[number];

    (void)operand;
    if (!is_defined(p, actor, 1))
        return;
    prove(p, actor->results[1]);
    prove(p, actor->results[2]);
    if (is_defined(p, actor, 0))
        prove(p, actor->results[0]);
}

static void transfer_serialize(proof *p, uint32_t number, uint32_t operand)
{
    const qp_fabric_actor *actor = &p->graph->actors[number];

    (void)operand;
    if (!is_defined(p, actor, 1) || !is_defined(p, actor, 2))
        return;
    prove(p, actor->results[1]);
    if (is_defined(p, actor, 0))
        prove(p, actor->results[0]);
}

static transfer *const transfers[] = {
    [QP_FABRIC_TRANSFER_MISSING] = transfer_missing,
    [QP_FABRIC_TRANSFER_ALWAYS_DEFINED] = transfer_missing, /* proved before anything else */
    [QP_FABRIC_TRANSFER_ALL_OPERANDS] = transfer_all_operands,
    [QP_FABRIC_TRANSFER_SAME_ORDINAL] = transfer_same_ordinal,
    [QP_FABRIC_TRANSFER_FLOAT_COMPARE] = transfer_float_compare,
    [QP_FABRIC_TRANSFER_PARALLELIZE] = transfer_parallelize,
    [QP_FABRIC_TRANSFER_SERIALIZE] = transfer_serialize,
};

/* ---- the fixpoint ------------------------------------------------------------------------- */

static void start(proof *p)
{
    for (uint32_t i = 0; i < p->graph->n_actors; i++) {
        const qp_fabric_actor *actor = &p->graph->actors[i];
        p->missing[i] = actor->operand_count;
        if (actor->schema->definedness != QP_FABRIC_TRANSFER_ALWAYS_DEFINED)
            continue;
        for (uint32_t k = 0; k < actor->result_count; k++)
            prove(p, actor->results[k]);
    }
}

const bool *qp_fabric_definedness(const qp_fabric_graph *graph, qp_arena *arena)
{
    proof p = {.graph = graph,
               .defined = qp_arena_allocate(arena, graph->n_values, sizeof *p.defined),
               .missing = qp_arena_allocate(arena, graph->n_actors, sizeof *p.missing),
               .waiting = qp_arena_allocate(arena, graph->n_values, sizeof *p.waiting)};

    if (p.defined == NULL || p.missing == NULL || p.waiting == NULL)
        return NULL;
    start(&p);
    while (p.waiting_count > 0) {
        const qp_fabric_value *value = &graph->values[p.waiting[--p.waiting_count]];
        for (uint32_t i = 0; i < value->use_count; i++) {
            const qp_fabric_use *use = &value->uses[i];
            p.missing[use->actor]--;
            transfers[graph->actors[use->actor].schema->definedness](&p, use->actor, use->operand);
        }
    }
    return p.defined;
}

bool qp_fabric_needs_proof(const qp_fabric_schema *schema, uint32_t operand)
{
    if (schema->handshake == QP_FABRIC_HANDSHAKE_PARALLELIZE)
        return operand == 1;
    return schema->handshake == QP_FABRIC_HANDSHAKE_SERIALIZE && operand >= 1;
}

qp_status qp_fabric_check_proofs(const qp_fabric_actor *actor, const bool *defined,
                                 qp_fabric_error *error)
{
    for (uint32_t i = 0; i < actor->operand_count; i++)
        if (qp_fabric_needs_proof(actor->schema, i) && !defined[actor->operands[i]])
            return qp_fabric_refuse(error, QP_FABRIC_RULE_DEFINEDNESS, actor->place,
                                    "section 3: operand %lu of %s is not proved to be defined",
                                    (unsigned long)i, actor->schema->name);
    return QP_OK;
}
