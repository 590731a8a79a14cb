/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission.c - the points of section 6, one function for each record of section 5. Every refusal
 * begins with the number of its point.
 */
#include "fabric/relation.h"

#include <inttypes.h>

typedef struct offered {
    const qp_fabric_node *node;
    const qp_fabric_params *params;
    const qp_fabric_signature *signature;
    qp_fabric_place place;
    qp_fabric_error *error;
} offered;

/* ---- small parts -------------------------------------------------------------------------- */

/* How the record of the family names the field at `offset` of the params. */
static const char *field_name(const offered *o, size_t offset)
{
    const qp_fabric_field_row *rows = qp_fabric_params_rows[o->node->family->params].fields;

    for (uint32_t i = 0; rows[i].name != NULL; i++)
        if (rows[i].offset == offset)
            return rows[i].name;
    return "the record";
}

#define FIELD(o, name) field_name(o, offsetof(qp_fabric_params, name))

/* Bits of a payload, UINT64_MAX where they do not fit a number. */
static uint64_t payload(const offered *o, const qp_fabric_type *type)
{
    uint64_t bits;
    return qp_fabric_payload_bits(type, o->signature->index_width, &bits) ? bits : UINT64_MAX;
}

/* The element with the graph's width in the place of index (point 7). */
static qp_fabric_type element_of(const offered *o, const qp_fabric_type *type)
{
    return qp_fabric_element_type(qp_fabric_resolved(*type, o->signature->index_width));
}

static bool has_bit(uint32_t set, int ordinal)
{
    return ordinal >= 0 && (set >> ordinal & 1) != 0;
}

static qp_status width_listed(const offered *o, const qp_fabric_type *type)
{
    const qp_fabric_type element = element_of(o, type);

    if (element.kind != QP_FABRIC_INTEGER)
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_TYPE, o->place,
                                "point 3: this operation takes integers only");
    if (!has_bit(o->params->integers, qp_fabric_width_ordinal(element.width)))
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_WIDTH, o->place,
                                "point 3: %" PRIu32 " is not in %s", element.width,
                                FIELD(o, integers));
    return QP_OK;
}

static qp_status format_listed(const offered *o, const qp_fabric_type *type)
{
    const int ordinal = type->kind == QP_FABRIC_FLOAT ? qp_fabric_format_ordinal(type->code) : -1;

    if (type->kind != QP_FABRIC_FLOAT)
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_TYPE, o->place,
                                "point 3: this operation takes floats only");
    if (!has_bit(o->params->formats, ordinal))
        return qp_fabric_refuse(
            o->error, QP_FABRIC_RULE_FORMAT, o->place, "point 3: %s is not in %s",
            ordinal >= 0 ? qp_fabric_formats[ordinal].name : "this format", FIELD(o, formats));
    return QP_OK;
}

static qp_status element_listed(const offered *o, const qp_fabric_type *type)
{
    return type->kind == QP_FABRIC_FLOAT ? format_listed(o, type) : width_listed(o, type);
}

/* A payload, block or container against a maximum of the record. */
static qp_status within(const offered *o, unsigned point, const char *what, uint64_t bits,
                        size_t offset)
{
    uint64_t most;

    memcpy(&most, (const char *)o->params + offset, sizeof most);
    if (bits <= most)
        return QP_OK;
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_CAPACITY, o->place,
                            "point %u: %s of %" PRIu64 " is over %s, which is %" PRIu64, point,
                            what, bits, field_name(o, offset), most);
}

#define WITHIN(o, point, what, bits, name)                                                         \
    within(o, point, what, bits, offsetof(qp_fabric_params, name))

/* Every operand and result of at most max_payload_bits. */
static qp_status payloads_within(const offered *o, unsigned point)
{
    const qp_fabric_signature *s = o->signature;
    qp_status status = QP_OK;

    for (size_t i = 0; i < s->operand_count && status == QP_OK; i++)
        status = WITHIN(o, point, "a payload", payload(o, &s->operands[i]), max_payload_bits);
    for (size_t i = 0; i < s->result_count && status == QP_OK; i++)
        status = WITHIN(o, point, "a payload", payload(o, &s->results[i]), max_payload_bits);
    return status;
}

/* The predicate of a comparison or a stream; other schemas have none. */
static qp_status predicate_listed(const offered *o, const qp_fabric_vocabulary *words)
{
    const uint32_t predicate = o->signature->semantics->predicate;

    if (predicate == 0 || has_bit(o->params->predicates, (int)predicate - 1))
        return QP_OK;
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_PREDICATE, o->place,
                            "point 3: %s is not in %s", qp_fabric_word(words, predicate),
                            FIELD(o, predicates));
}

static qp_status index_listed(const offered *o)
{
    const uint32_t width = o->signature->index_width;

    if (has_bit(o->params->index_widths, qp_fabric_index_ordinal(width)))
        return QP_OK;
    return qp_fabric_refuse(
        o->error, QP_FABRIC_RULE_INDEX_WIDTH, o->place,
        "point 7: the graph's index width %" PRIu32 " is not in resolved_index_widths", width);
}

static qp_status pair_listed(const offered *o, int first, int second)
{
    if (first >= 0 && second >= 0 && (o->params->pairs & QP_FABRIC_PAIR_BIT(first, second)) != 0)
        return QP_OK;
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_PAIR, o->place,
                            "point 3: this pair of types is not in %s", FIELD(o, pairs));
}

/* Point 4. */
static qp_status behavior_accepts(const offered *o)
{
    const qp_fabric_behavior *behavior = &o->params->behavior;
    const qp_fabric_schema *schema = o->signature->schema;
    const uint32_t mask = o->signature->semantics->fast_math;
    const bool number = (schema->flags & QP_FABRIC_FLAG_NAN_NUMBER) != 0;
    const uint32_t nan = number ? QP_FABRIC_NAN_NUMBER_PREFERRED : QP_FABRIC_NAN_IEEE;
    const uint32_t rounding = qp_fabric_rounding_of(o->signature->semantics);

    if ((behavior->required_fast_math & ~mask) != 0)
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_FAST_MATH, o->place,
                                "point 4: the actor does not grant every flag of "
                                "required_fast_math");
    if ((schema->flags & QP_FABRIC_FLAG_ROUNDS) != 0 &&
        !has_bit(behavior->roundings, (int)rounding - 1))
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_ROUNDING, o->place,
                                "point 4: %s is not in rounding_modes",
                                qp_fabric_word(&qp_fabric_roundings, rounding));
    if ((mask & QP_FABRIC_NNAN) == 0 && !has_bit(behavior->nans, (int)nan - 1))
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_NAN, o->place,
                                "point 4: %s is not in nan_behaviors, and the actor has no nnan",
                                qp_fabric_word(&qp_fabric_nan_behaviors, nan));
    if ((mask & QP_FABRIC_NSZ) == 0 && !has_bit(behavior->zeros, QP_FABRIC_ZERO_PRESERVE - 1))
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_SIGNED_ZERO, o->place,
                                "point 4: signed zeros are not preserved, and the actor has no "
                                "nsz");
    return QP_OK;
}

/* ---- the records of section 5 ------------------------------------------------------------- */

typedef qp_status accept(const offered *o);

static qp_status accept_integer(const offered *o)
{
    return width_listed(o, &o->signature->operands[0]);
}

static qp_status accept_compare(const offered *o)
{
    qp_status status = accept_integer(o);
    return status == QP_OK ? predicate_listed(o, &qp_fabric_integer_predicates) : status;
}

static qp_status accept_select(const offered *o)
{
    return element_listed(o, &o->signature->operands[1]);
}

static qp_status accept_cast(const offered *o)
{
    const qp_fabric_type *from = &o->signature->operands[0], *to = &o->signature->results[0];

    if (from->kind == QP_FABRIC_INDEX || to->kind == QP_FABRIC_INDEX) {
        qp_status status = index_listed(o);
        if (status != QP_OK)
            return status;
    }
    return pair_listed(o, qp_fabric_width_ordinal(element_of(o, from).width),
                       qp_fabric_width_ordinal(element_of(o, to).width));
}

static qp_status accept_bits(const offered *o)
{
    qp_status status = element_listed(o, &o->signature->operands[0]);
    return status == QP_OK ? element_listed(o, &o->signature->results[0]) : status;
}

static qp_status accept_float(const offered *o)
{
    qp_status status = format_listed(o, &o->signature->operands[0]);
    return status == QP_OK ? behavior_accepts(o) : status;
}

static qp_status accept_special(const offered *o)
{
    qp_status status = accept_float(o);

    if (status != QP_OK || o->params->accuracy <= o->signature->semantics->tier)
        return status;
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_ACCURACY, o->place,
                            "point 5: the circuit guarantees %s, the actor accepts no less than %s",
                            qp_fabric_word(&qp_fabric_tiers, o->params->accuracy),
                            qp_fabric_word(&qp_fabric_tiers, o->signature->semantics->tier));
}

static qp_status accept_float_compare(const offered *o)
{
    qp_status status = format_listed(o, &o->signature->operands[0]);

    if (status == QP_OK)
        status = predicate_listed(o, &qp_fabric_float_predicates);
    return status == QP_OK ? behavior_accepts(o) : status;
}

static qp_status accept_float_cast(const offered *o)
{
    qp_status status = pair_listed(o, qp_fabric_format_ordinal(o->signature->operands[0].code),
                                   qp_fabric_format_ordinal(o->signature->results[0].code));
    return status == QP_OK ? behavior_accepts(o) : status;
}

/* The pair is (integer, float) whichever way the conversion goes. */
static qp_status accept_conversion(const offered *o)
{
    const qp_fabric_type *from = &o->signature->operands[0], *to = &o->signature->results[0];
    const qp_fabric_type *integer = from->kind == QP_FABRIC_FLOAT ? to : from;
    const qp_fabric_type *real = from->kind == QP_FABRIC_FLOAT ? from : to;

    return pair_listed(o, qp_fabric_width_ordinal(integer->width),
                       qp_fabric_format_ordinal(real->code));
}

static qp_status accept_stream(const offered *o)
{
    qp_status status = accept_compare(o);
    const uint32_t step = o->signature->semantics->step;

    if (status != QP_OK || step == o->params->step_kind)
        return status;
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_STEP_KIND, o->place,
                            "point 3: the step kind is %s here, not %s",
                            qp_fabric_word(&qp_fabric_steps, o->params->step_kind),
                            qp_fabric_word(&qp_fabric_steps, step));
}

/* A token plane interprets no payload. */
static qp_status accept_tokens(const offered *o)
{
    for (size_t i = 0; i < o->signature->operand_count; i++)
        if (o->signature->operands[i].kind == QP_FABRIC_POINTER)
            return qp_fabric_refuse(o->error, QP_FABRIC_RULE_TYPE, o->place,
                                    "point 3: no pointer layout is known");
    return QP_OK;
}

static qp_status accept_vector_integer(const offered *o)
{
    qp_status status = accept_integer(o);
    return status == QP_OK ? payloads_within(o, 3) : status;
}

static qp_status accept_vector_compare(const offered *o)
{
    qp_status status = accept_compare(o);
    return status == QP_OK ? payloads_within(o, 3) : status;
}

static qp_status accept_vector_select(const offered *o)
{
    qp_status status = accept_select(o);
    return status == QP_OK ? payloads_within(o, 3) : status;
}

/* The vector with data lanes: pack's operand, unpack's and parallelize's result, serialize's
 * operand. */
static qp_status accept_adapter(const offered *o)
{
    const qp_fabric_signature *s = o->signature;
    const qp_fabric_type *vector = s->operands[0].rank > 0 ? &s->operands[0] : &s->results[0];
    qp_status status = element_listed(o, vector);

    return status == QP_OK ? payloads_within(o, 3) : status;
}

static qp_status accept_vector_float(const offered *o)
{
    qp_status status = accept_float(o);
    return status == QP_OK ? payloads_within(o, 3) : status;
}

static qp_status accept_vector_float_compare(const offered *o)
{
    qp_status status = accept_float_compare(o);
    return status == QP_OK ? payloads_within(o, 3) : status;
}

static qp_status accept_constant(const offered *o)
{
    const qp_fabric_type *type = &o->signature->results[0];

    if (o->signature->operands[0].kind != QP_FABRIC_NONE)
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_TYPE, o->place,
                                "point 6: a constant needs a control operand of type none");
    if (type->kind == QP_FABRIC_NONE || type->kind == QP_FABRIC_POINTER)
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_TYPE, o->place,
                                "point 6: constants are of integers and floats");
    return payloads_within(o, 6);
}

/* The selector of a mux or demux is no payload: its port alone bounds it (section 7.1). */
static qp_status accept_routed(const offered *o)
{
    const qp_fabric_signature *s = o->signature;
    const size_t selector = o->node->family->roles == QP_FABRIC_ROLES_SYNC ? 0 : 1;
    const uint64_t lanes = o->node->family->roles == QP_FABRIC_ROLES_DEMUX
                               ? s->result_count
                               : s->operand_count - selector;
    qp_status status = accept_tokens(o);

    for (size_t i = selector; i < s->operand_count && status == QP_OK; i++)
        status = WITHIN(o, 6, "a payload", payload(o, &s->operands[i]), max_payload_bits);
    if (status != QP_OK || lanes <= o->params->max_fan)
        return status;
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_FAN, o->place,
                            "point 6: %" PRIu64 " lanes are over max_fan, which is %" PRIu64, lanes,
                            o->params->max_fan);
}

static qp_status accept_slice(const offered *o)
{
    const qp_fabric_signature *s = o->signature;
    const bool insert = qp_fabric_types_insert == s->schema->type_rule;
    const qp_fabric_type *container = &s->operands[insert ? 1 : 0];
    const qp_fabric_type *slice = insert ? &s->operands[0] : &s->results[0];
    const uint64_t dynamic = s->operand_count - (insert ? 2 : 1);
    qp_status status = element_listed(o, container);

    if (status == QP_OK)
        status = WITHIN(o, 3, "a container", payload(o, container), max_container_payload_bits);
    if (status == QP_OK)
        status = WITHIN(o, 3, "a slice", payload(o, slice), max_slice_payload_bits);
    if (status == QP_OK)
        status = WITHIN(o, 3, "a number of dynamic positions", dynamic, max_dynamic_position_rank);
    return status == QP_OK && dynamic > 0 ? index_listed(o) : status;
}

static qp_status accept_shuffle(const offered *o)
{
    const qp_fabric_type *a = &o->signature->operands[0], *b = &o->signature->operands[1];
    const qp_fabric_type *result = &o->signature->results[0];
    qp_status status = element_listed(o, a);

    if (status == QP_OK)
        status = WITHIN(o, 3, "an operand", payload(o, a), max_operand_payload_bits);
    if (status == QP_OK)
        status = WITHIN(o, 3, "an operand", payload(o, b), max_operand_payload_bits);
    if (status == QP_OK)
        status = WITHIN(o, 3, "a result", payload(o, result), max_result_payload_bits);
    if (status == QP_OK)
        status = WITHIN(o, 3, "a block", payload(o, a) / a->dims[0], max_block_payload_bits);
    if (status == QP_OK)
        status =
            WITHIN(o, 3, "a number of source blocks", a->dims[0] + b->dims[0], max_source_blocks);
    if (status == QP_OK)
        status = WITHIN(o, 3, "a number of result blocks", result->dims[0], max_result_blocks);
    return status;
}

static accept *const accepts[QP_FABRIC_PARAMS_COUNT] = {
    [QP_FABRIC_PARAMS_SCALAR_INTEGER] = accept_integer,
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_COMPARE_MIN_MAX] = accept_compare,
    [QP_FABRIC_PARAMS_SCALAR_VALUE_SELECT] = accept_select,
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_CAST] = accept_cast,
    [QP_FABRIC_PARAMS_SCALAR_BIT_REINTERPRET] = accept_bits,
    [QP_FABRIC_PARAMS_SCALAR_FLOAT] = accept_float,
    [QP_FABRIC_PARAMS_SCALAR_SPECIAL_MATH] = accept_special,
    [QP_FABRIC_PARAMS_SCALAR_FLOAT_COMPARE_MIN_MAX] = accept_float_compare,
    [QP_FABRIC_PARAMS_SCALAR_FLOAT_WIDTH_CAST] = accept_float_cast,
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_FLOAT_CONVERSION] = accept_conversion,
    [QP_FABRIC_PARAMS_LOOP_STREAM] = accept_stream,
    [QP_FABRIC_PARAMS_TOKEN_PLANE] = accept_tokens,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER] = accept_vector_integer,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER_COMPARE_MIN_MAX] = accept_vector_compare,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_VALUE_SELECT] = accept_vector_select,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_ADAPTER] = accept_adapter,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT] = accept_vector_float,
    [QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT_COMPARE_MIN_MAX] = accept_vector_float_compare,
    [QP_FABRIC_PARAMS_PAYLOAD_CAPACITY] = accept_constant,
    [QP_FABRIC_PARAMS_ROUTED_TOKEN] = accept_routed,
    [QP_FABRIC_PARAMS_SLICE_ALIGN_MERGE] = accept_slice,
    [QP_FABRIC_PARAMS_SHUFFLE] = accept_shuffle,
};

/* ---- the whole of section 6 --------------------------------------------------------------- */

static bool has_vector(const qp_fabric_signature *s)
{
    for (size_t i = 0; i < s->operand_count; i++)
        if (s->operands[i].rank > 0)
            return true;
    for (size_t i = 0; i < s->result_count; i++)
        if (s->results[i].rank > 0)
            return true;
    return false;
}

/* Points 1 and 2. The elementwise schemas have one shape throughout, the adapters and structural
 * ones always have a vector, so one vector is enough. */
static qp_status accept_schema(const offered *o)
{
    const qp_fabric_family *family = o->node->family;
    const int member = qp_fabric_member_ordinal(family, o->signature->schema);
    const bool vector = has_vector(o->signature);

    if (!has_bit(o->node->enabled, member))
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_SCHEMA, o->place,
                                "point 1: %s is not in the op_list", o->signature->schema->name);
    if (family->shape == QP_FABRIC_SHAPE_SCALAR
            ? vector
            : family->shape == QP_FABRIC_SHAPE_VECTOR && !vector)
        return qp_fabric_refuse(o->error, QP_FABRIC_RULE_SHAPE, o->place, "point 2: %s takes %s",
                                family->keyword, vector ? "scalars only" : "fixed vectors only");
    return QP_OK;
}

static qp_status admit_actor(const offered *o)
{
    qp_status status = accept_schema(o);
    return status == QP_OK ? accepts[o->node->family->params](o) : status;
}

qp_status qp_fabric_admit_actor(const qp_fabric_node *node, const qp_fabric_signature *signature,
                                qp_fabric_place place, qp_fabric_error *error)
{
    const offered o = {node, &node->params, signature, place, error};
    return admit_actor(&o);
}

static qp_status correspondence_fails(const offered *o, const char *what)
{
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_CORRESPONDENCE, o->place, "section 4: %s",
                            what);
}

/* Point 8 for one port. */
static qp_status carries(const offered *o, const char *side, size_t ordinal,
                         const qp_fabric_type *type, uint32_t width)
{
    const uint64_t bits = payload(o, type);

    if (bits <= width)
        return QP_OK;
    return qp_fabric_refuse(o->error, QP_FABRIC_RULE_PORT_WIDTH, o->place,
                            "point 8: %s %zu has %" PRIu64 " bits, its port %" PRIu32, side,
                            ordinal, bits, width);
}

static qp_status ports_carry(const offered *o, const qp_fabric_offer *offer)
{
    const qp_fabric_signature *s = o->signature;
    qp_status status = QP_OK;

    for (size_t i = 0; i < s->operand_count && status == QP_OK; i++) {
        if (offer->operand_ports[i] >= o->node->n_in)
            return correspondence_fails(o, "the operation has no such input");
        status =
            carries(o, "operand", i, &s->operands[i], o->node->in[offer->operand_ports[i]].bits);
    }
    for (size_t i = 0; i < s->result_count && status == QP_OK; i++) {
        if (offer->result_ports[i] >= o->node->n_out)
            return correspondence_fails(o, "the operation has no such output");
        status = carries(o, "result", i, &s->results[i], o->node->out[offer->result_ports[i]].bits);
    }
    return status;
}

qp_status qp_fabric_admit(const qp_fabric_node *node, const qp_fabric_offer *offer,
                          qp_fabric_error *error)
{
    const offered o = {node, &node->params, &offer->signature, offer->place, error};
    qp_status status = admit_actor(&o);

    if (status == QP_OK)
        status = ports_carry(&o, offer);
    if (status != QP_OK)
        return status;
    const char *fault = qp_fabric_correspondence_fault(node, offer);
    return fault != NULL ? correspondence_fails(&o, fault) : QP_OK;
}
