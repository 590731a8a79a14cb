/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params_check.c - the legality of a record behind its fields (section 5), the port counts of an op
 * (section 4), and that nothing which it declares is an orphan. The reader of the text form has
 * checked each field alone: sets are within their domains, those that must be are not empty.
 */
#include "fabric/relation.h"

#include <inttypes.h>

typedef struct checked {
    const qp_fabric_node *node;
    const qp_fabric_params *params;
    qp_fabric_error *error;
} checked;

static qp_status invalid(const checked *c, const char *what)
{
    return qp_fabric_fail(c->error, QP_FABRIC_INVALID, c->node->place, "%s: %s",
                          c->node->family->keyword, what);
}

static const qp_fabric_schema *member_schema(const checked *c, uint32_t member)
{
    return &qp_fabric_schemas[c->node->family->members[member].schema];
}

static bool is_enabled(const checked *c, uint32_t member)
{
    return (c->node->enabled >> member & 1) != 0;
}

/* Whether some enabled schema has one of these flags. */
static bool any_flag(const checked *c, uint32_t flags)
{
    for (uint32_t i = 0; i < c->node->family->member_count; i++)
        if (is_enabled(c, i) && (member_schema(c, i)->flags & flags) != 0)
            return true;
    return false;
}

static bool one_bit(uint32_t set)
{
    return set != 0 && (set & (set - 1)) == 0;
}

/* ---- op_list and ports -------------------------------------------------------------------- */

/* A GEP has no bounded carrier (seed, "Canonical Behavior Quotients"). */
static qp_status check_members(const checked *c)
{
    if (c->node->enabled == 0)
        return invalid(c, "the op_list is empty");
    for (uint32_t i = 0; i < c->node->family->member_count; i++)
        if (is_enabled(c, i) && member_schema(c, i)->semantics == QP_FABRIC_CASE_GET_ELEMENT_PTR)
            return invalid(c, "llvm.getelementptr has no bounded address carrier and can be in no "
                              "op_list");
    return QP_OK;
}

static qp_status check_counts(const checked *c, uint64_t inputs, uint64_t outputs)
{
    if (c->node->n_in == inputs && c->node->n_out == outputs)
        return QP_OK;
    return qp_fabric_fail(c->error, QP_FABRIC_INVALID, c->node->place,
                          "%s has %" PRIu32 " inputs and %" PRIu32
                          " outputs here and needs %" PRIu64 " and %" PRIu64,
                          c->node->family->keyword, c->node->n_in, c->node->n_out, inputs, outputs);
}

static qp_status check_straight(const checked *c)
{
    uint32_t inputs = 0, outputs = 0;

    for (uint32_t i = 0; i < c->node->family->member_count; i++) {
        if (!is_enabled(c, i))
            continue;
        const qp_fabric_schema *schema = member_schema(c, i);
        inputs = schema->operands > inputs ? schema->operands : inputs;
        outputs = schema->results > outputs ? schema->results : outputs;
    }
    return check_counts(c, inputs, outputs);
}

static qp_status check_slice_ports(const checked *c)
{
    const uint64_t rank = c->params->max_dynamic_position_rank;
    return check_counts(c, rank < UINT64_MAX - 2 ? rank + 2 : rank, 1);
}

static qp_status check_lane_count(const checked *c, uint32_t lanes, uint32_t least)
{
    if (lanes < least)
        return invalid(c, "there are fewer lanes than the least actor has");
    if (lanes > QP_FABRIC_LANES_MAX)
        return qp_fabric_fail(c->error, QP_FABRIC_UNSUPPORTED, c->node->place,
                              "%" PRIu32 " lanes are over %" PRIu32 ", the most that are supported",
                              lanes, QP_FABRIC_LANES_MAX);
    return QP_OK;
}

static qp_status check_sync(const checked *c)
{
    qp_status status = check_counts(c, c->node->n_in, c->node->n_in);
    return status == QP_OK ? check_lane_count(c, c->node->n_in, 1) : status;
}

static qp_status check_mux(const checked *c)
{
    qp_status status = check_counts(c, c->node->n_in, 1);
    return status == QP_OK ? check_lane_count(c, c->node->n_in > 0 ? c->node->n_in - 1 : 0, 2)
                           : status;
}

static qp_status check_demux(const checked *c)
{
    qp_status status = check_counts(c, 2, c->node->n_out);
    return status == QP_OK ? check_lane_count(c, c->node->n_out, 2) : status;
}

static qp_status (*const check_ports[])(const checked *) = {
    [QP_FABRIC_ROLES_STRAIGHT] = check_straight, [QP_FABRIC_ROLES_SLICE] = check_slice_ports,
    [QP_FABRIC_ROLES_SYNC] = check_sync,         [QP_FABRIC_ROLES_MUX] = check_mux,
    [QP_FABRIC_ROLES_DEMUX] = check_demux,
};

/* ---- parts of records --------------------------------------------------------------------- */

static qp_status check_elements(const checked *c)
{
    if (c->params->integers != 0 || c->params->formats != 0)
        return QP_OK;
    return invalid(c, "the record names neither an integer width nor a float format");
}

/* The schemas that need a predicate of the record, minima and maxima. */
typedef struct order_row {
    uint32_t schema;
    uint32_t predicate;
} order_row;

static const order_row order_rows[] = {
    {14, QP_FABRIC_SLT}, {15, QP_FABRIC_SGT}, {16, QP_FABRIC_ULT}, {17, QP_FABRIC_UGT},
    {32, QP_FABRIC_OLT}, {33, QP_FABRIC_OGT}, {34, QP_FABRIC_OLT}, {35, QP_FABRIC_OGT},
};

/* The predicate that a minimum or maximum orders by; 0 for comparisons. */
static uint32_t order_of(const qp_fabric_schema *schema)
{
    for (size_t i = 0; i < sizeof order_rows / sizeof order_rows[0]; i++)
        if (order_rows[i].schema == schema->id)
            return order_rows[i].predicate;
    return 0;
}

static qp_status check_predicates(const checked *c)
{
    uint32_t needed = 0;
    bool compares = false;

    for (uint32_t i = 0; i < c->node->family->member_count; i++) {
        if (!is_enabled(c, i))
            continue;
        const uint32_t order = order_of(member_schema(c, i));
        if (order != 0)
            needed |= UINT32_C(1) << (order - 1);
        else
            compares = true;
    }
    if ((needed & ~c->params->predicates) != 0)
        return invalid(c, "a minimum or maximum needs its order among the predicates");
    if (!compares && c->params->predicates != needed)
        return invalid(c, "a predicate is listed that no enabled schema uses");
    return QP_OK;
}

/* NaN behaviours of a comparison or minimum and maximum: none without a schema that has it, and two
 * only for strict actors. A schema of each with a point then has a strict one that is not constant:
 * minnumf and maxnumf bring their own order among the predicates. */
static qp_status check_compared_nans(const checked *c)
{
    const qp_fabric_behavior *behavior = &c->params->behavior;

    if ((behavior->nans >> (QP_FABRIC_NAN_IEEE - 1) & 1) != 0 &&
        !any_flag(c, QP_FABRIC_FLAG_NAN_IEEE))
        return invalid(c, "ieee is listed, but no enabled schema has that NaN behavior");
    if ((behavior->nans >> (QP_FABRIC_NAN_NUMBER_PREFERRED - 1) & 1) != 0 &&
        !any_flag(c, QP_FABRIC_FLAG_NAN_NUMBER))
        return invalid(c, "number_preferred is listed, but no enabled schema has that NaN "
                          "behavior");
    if (!one_bit(behavior->nans) && (behavior->required_fast_math & QP_FABRIC_NNAN) != 0)
        return invalid(c, "two NaN behaviors are listed, but every actor grants nnan");
    return QP_OK;
}

/* What every profile obeys; `nearest` where the one rounding mode must be to_nearest_even. */
static qp_status check_profile(const checked *c, bool nearest)
{
    const qp_fabric_behavior *behavior = &c->params->behavior;

    if (behavior->subnormals != UINT32_C(1) << (QP_FABRIC_SUBNORMAL_PRESERVE - 1))
        return invalid(c, "subnormal_behaviors must be preserve");
    if (!one_bit(behavior->zeros))
        return invalid(c, "signed_zero_behaviors must have exactly one member");
    if (!any_flag(c, QP_FABRIC_FLAG_ROUNDS) && !one_bit(behavior->roundings))
        return invalid(c, "rounding_modes must have exactly one member: no enabled schema rounds");
    if (nearest && behavior->roundings != UINT32_C(1) << (QP_FABRIC_TO_NEAREST_EVEN - 1))
        return invalid(c, "rounding_modes must be to_nearest_even");
    return QP_OK;
}

static qp_status check_one_nan(const checked *c)
{
    return one_bit(c->params->behavior.nans)
               ? QP_OK
               : invalid(c, "nan_behaviors must have exactly one member");
}

/* ---- the records -------------------------------------------------------------------------- */

static qp_status check_nothing(const checked *c)
{
    (void)c;
    return QP_OK;
}

static qp_status check_float(const checked *c)
{
    qp_status status = check_profile(c, false);
    return status == QP_OK ? check_one_nan(c) : status;
}

static qp_status check_special(const checked *c)
{
    qp_status status = check_profile(c, true);

    if (status == QP_OK)
        status = check_one_nan(c);
    if (status == QP_OK && c->params->accuracy != QP_FABRIC_CORRECTLY_ROUNDED &&
        (c->params->behavior.required_fast_math & QP_FABRIC_AFN) == 0)
        return invalid(c, "an accuracy_guarantee other than CorrectlyRounded needs afn in "
                          "required_fast_math");
    return status;
}

static qp_status check_float_compare(const checked *c)
{
    qp_status status = check_profile(c, true);

    if (status == QP_OK)
        status = check_compared_nans(c);
    return status == QP_OK ? check_predicates(c) : status;
}

static qp_status check_routed(const checked *c)
{
    return c->params->max_fan >= 2 ? QP_OK : invalid(c, "max_fan must be at least 2");
}

static qp_status check_slice(const checked *c)
{
    if (c->params->max_slice_payload_bits > c->params->max_container_payload_bits)
        return invalid(c, "max_slice_payload_bits is over max_container_payload_bits");
    if ((c->params->max_dynamic_position_rank == 0) != (c->params->index_widths == 0))
        return invalid(c, "resolved_index_widths must be empty exactly where "
                          "max_dynamic_position_rank is 0");
    return check_elements(c);
}

static qp_status check_shuffle(const checked *c)
{
    const qp_fabric_params *p = c->params;

    if (p->max_block_payload_bits > p->max_operand_payload_bits ||
        p->max_block_payload_bits > p->max_result_payload_bits)
        return invalid(c, "max_block_payload_bits is over the operand's or result's maximum");
    if (p->max_source_blocks < 2)
        return invalid(c, "max_source_blocks must be at least 2");
    return check_elements(c);
}

static qp_status (*const check_records[QP_FABRIC_PARAMS_COUNT])(const checked *) = {
    [QP_FABRIC_PARAMS_SCALAR_INTEGER] = check_nothing,
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_COMPARE_MIN_MAX] = check_predicates,
    [QP_FABRIC_PARAMS_SCALAR_VALUE_SELECT] = check_elements,
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_CAST] = check_nothing,
    [QP_FABRIC_PARAMS_SCALAR_BIT_REINTERPRET] = check_elements,
    [QP_FABRIC_PARAMS_SCALAR_FLOAT] = check_float,
    [QP_FABRIC_PARAMS_SCALAR_SPECIAL_MATH] = check_special,
    [QP_FABRIC_PARAMS_SCALAR_FLOAT_COMPARE_MIN_MAX] = check_float_compare,
    [QP_FABRIC_PARAMS_SCALAR_FLOAT_WIDTH_CAST] = check_float,
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_FLOAT_CONVERSION] = check_nothing,
    [QP_FABRIC_PARAMS_LOOP_STREAM] = check_nothing,
    [QP_FABRIC_PARAMS_TOKEN_PLANE] = check_nothing,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER] = check_nothing,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER_COMPARE_MIN_MAX] = check_predicates,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_VALUE_SELECT] = check_elements,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_ADAPTER] = check_elements,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT] = check_float,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT_COMPARE_MIN_MAX] = check_float_compare,
    [QP_FABRIC_PARAMS_PAYLOAD_CAPACITY] = check_nothing,
    [QP_FABRIC_PARAMS_ROUTED_TOKEN] = check_routed,
    [QP_FABRIC_PARAMS_SLICE_ALIGN_MERGE] = check_slice,
    [QP_FABRIC_PARAMS_SHUFFLE] = check_shuffle,
};

/* ---- orphans ------------------------------------------------------------------------------ */

/* What the points of an operation reach. */
typedef struct reach {
    const qp_fabric_node *node;
    uint32_t members, pairs, index_widths;
} reach;

/* Looks at every point where there are pairs, else until each schema has one. */
static bool note_reach(void *context, const qp_fabric_candidate *candidate)
{
    reach *r = context;
    const int index = qp_fabric_index_ordinal(candidate->signature.index_width);

    r->members |= UINT32_C(1) << candidate->member;
    r->pairs |= candidate->pair;
    if (index >= 0)
        r->index_widths |= UINT32_C(1) << index;
    return r->members != r->node->enabled || r->node->params.pairs != 0;
}

static reach reach_of(const qp_fabric_node *node, bool ports)
{
    reach r = {.node = node};

    qp_fabric_each_point(node, ports, note_reach, &r);
    return r;
}

/* Pairs and index widths are used by schemas, whatever the ports; points need their ports. */
static qp_status check_reach(const checked *c)
{
    const reach used = reach_of(c->node, false);
    const reach reached = reach_of(c->node, true);

    if (used.pairs != c->params->pairs)
        return invalid(c, "a pair is listed that no enabled schema uses");
    if ((c->params->index_widths & ~used.index_widths) != 0)
        return invalid(c, "an index width is listed that no enabled schema uses");
    for (uint32_t i = 0; i < c->node->family->member_count; i++)
        if (is_enabled(c, i) && (reached.members >> i & 1) == 0)
            return qp_fabric_fail(c->error, QP_FABRIC_INVALID, c->node->place,
                                  "no actor of %s can use the operation by its record and ports",
                                  member_schema(c, i)->name);
    return QP_OK;
}

qp_status qp_fabric_check_op(const qp_fabric_node *node, qp_fabric_error *error)
{
    const checked c = {node, &node->params, error};
    const bool points = node->family->relation != QP_FABRIC_RELATION_DIRECT &&
                        node->family->key != QP_FABRIC_KEY_LANES;
    qp_status status = check_members(&c);

    if (status == QP_OK)
        status = check_records[node->family->params](&c);
    if (status == QP_OK)
        status = check_ports[node->family->roles](&c);
    return status == QP_OK && points ? check_reach(&c) : status;
}
