/* SPDX-License-Identifier: Apache-2.0 */
/*
 * points.c - the points of an operation (section 7.1): actors made up over the closed domains, of
 * which those count that section 6 admits; and the behaviour that an actor asks for (sections 7.1
 * and 7.2).
 */
#include "fabric/relation.h"

/* ---- made-up actors ----------------------------------------------------------------------- */

/* What an actor is made of: the element types of its data, before and behind a conversion. */
typedef struct element_axis {
    qp_fabric_type from, to;
    uint32_t pair, index_width;
} element_axis;

typedef struct enumeration {
    const qp_fabric_node *node;
    bool ports;
    qp_fabric_visit *visit;
    void *context;
    uint32_t member;
    bool stopped;
} enumeration;

static const uint32_t straight_ports[3] = {0, 1, 2};

static const qp_fabric_schema *schema_of(const qp_fabric_family *family, uint32_t member)
{
    return &qp_fabric_schemas[family->members[member].schema];
}

static qp_fabric_type bit(void)
{
    return qp_fabric_integer_type(1);
}

/* A vector of the candidate's lanes in the vector families. */
static qp_fabric_type shaped(const enumeration *e, const qp_fabric_candidate *c,
                             qp_fabric_type element)
{
    if (e->node->family->shape == QP_FABRIC_SHAPE_VECTOR) {
        element.rank = 1;
        element.dims = &c->lanes;
    }
    return element;
}

typedef void make_types(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c);

static void make_same(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    for (int i = 0; i < 3; i++)
        c->operands[i] = c->results[i] = shaped(e, c, axis->from);
}

static void make_compare(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    make_same(e, axis, c);
    c->results[0] = shaped(e, c, bit());
}

static void make_select(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    make_same(e, axis, c);
    c->operands[0] = shaped(e, c, bit());
}

static void make_conversion(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    c->operands[0] = shaped(e, c, axis->from);
    c->results[0] = shaped(e, c, axis->to);
}

static void make_stream(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    make_same(e, axis, c);
    c->results[1] = bit();
}

/* Token planes: a control token is the payload that any port carries. */
static void make_tokens(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    (void)e;
    (void)axis;
    for (int i = 0; i < 3; i++)
        c->operands[i] = c->results[i] = qp_fabric_none_type();
    c->operands[0] = bit();
}

static void make_gate(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    make_tokens(e, axis, c);
    c->results[0] = bit();
}

/* The integer that a vector packs to; its width is a port's at most. */
static qp_fabric_type packed(const element_axis *axis, const qp_fabric_candidate *c)
{
    return qp_fabric_integer_type((uint32_t)(c->lanes * axis->from.width));
}

static void make_pack(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    c->operands[0] = shaped(e, c, axis->from);
    c->results[0] = packed(axis, c);
}

static void make_unpack(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    c->operands[0] = packed(axis, c);
    c->results[0] = shaped(e, c, axis->from);
}

static void make_group(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c,
                       qp_fabric_type *group)
{
    group[0] = shaped(e, c, axis->from);
    group[1] = shaped(e, c, bit());
    group[2] = bit();
}

static void make_parallelize(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    c->operands[0] = axis->from;
    c->operands[1] = bit();
    make_group(e, axis, c, c->results);
}

static void make_serialize(const enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    make_group(e, axis, c, c->operands);
    c->results[0] = axis->from;
    c->results[1] = bit();
}

/* By the schema's type rule. */
static const struct {
    qp_fabric_type_rule *rule;
    make_types *make;
} makers[] = {
    {qp_fabric_types_integers, make_same},
    {qp_fabric_types_floats, make_same},
    {qp_fabric_types_integer_compare, make_compare},
    {qp_fabric_types_float_compare, make_compare},
    {qp_fabric_types_select, make_select},
    {qp_fabric_types_integer_widen, make_conversion},
    {qp_fabric_types_integer_narrow, make_conversion},
    {qp_fabric_types_index_cast, make_conversion},
    {qp_fabric_types_bitcast, make_conversion},
    {qp_fabric_types_float_widen, make_conversion},
    {qp_fabric_types_float_narrow, make_conversion},
    {qp_fabric_types_integer_to_float, make_conversion},
    {qp_fabric_types_float_to_integer, make_conversion},
    {qp_fabric_types_stream, make_stream},
    {qp_fabric_types_carry, make_tokens},
    {qp_fabric_types_gate, make_gate},
    {qp_fabric_types_pack, make_pack},
    {qp_fabric_types_unpack, make_unpack},
    {qp_fabric_types_parallelize, make_parallelize},
    {qp_fabric_types_serialize, make_serialize},
};

static make_types *maker_of(const qp_fabric_schema *schema)
{
    size_t i = 0;
    while (makers[i].rule != schema->type_rule)
        i++;
    return makers[i].make;
}

/* ---- one actor ---------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Whether a type of this schema grows with the lanes. */
static bool grows(const qp_fabric_signature *s, const qp_fabric_type *type)
{
    return type->rank > 0 || s->schema->type_rule == qp_fabric_types_pack ||
           s->schema->type_rule == qp_fabric_types_unpack;
}

/* The most lanes that the record and the ports carry; the candidate has one. */
static uint64_t most_lanes(const enumeration *e, const qp_fabric_candidate *c)
{
    const qp_fabric_signature *s = &c->signature;
    uint64_t most = UINT64_MAX;

    for (size_t i = 0; i < s->operand_count; i++)
        if (grows(s, &s->operands[i]))
            most = least(most, least(e->node->in[i].bits, e->node->params.max_payload_bits) /
                                   s->operands[i].width);
    for (size_t i = 0; i < s->result_count; i++)
        if (grows(s, &s->results[i]))
            most = least(most, least(e->node->out[i].bits, e->node->params.max_payload_bits) /
                                   s->results[i].width);
    return most;
}

static bool admitted(const enumeration *e, const qp_fabric_candidate *c)
{
    const qp_fabric_offer offer = {c->signature, straight_ports, straight_ports, QP_FABRIC_NOWHERE};

    if (qp_fabric_check_signature(&c->signature) != NULL)
        return false;
    return (e->ports
                ? qp_fabric_admit(e->node, &offer, NULL)
                : qp_fabric_admit_actor(e->node, &c->signature, QP_FABRIC_NOWHERE, NULL)) == QP_OK;
}

static void offer_candidate(enumeration *e, const element_axis *axis, qp_fabric_candidate *c,
                            uint64_t lanes)
{
    c->lanes = lanes;
    maker_of(c->signature.schema)(e, axis, c);
    if (admitted(e, c) && !e->visit(e->context, c))
        e->stopped = true;
}

/* Everything about the actor but the lanes stands. */
static void over_lanes(enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    uint64_t lane = 1, most = 1;

    if (e->node->family->shape == QP_FABRIC_SHAPE_VECTOR) {
        c->lanes = 1;
        maker_of(c->signature.schema)(e, axis, c);
        most = most_lanes(e, c);
        if (e->node->family->key != QP_FABRIC_KEY_ADAPTER)
            lane = most;
    }
    for (; lane >= 1 && lane <= most && !e->stopped; lane++)
        offer_candidate(e, axis, c, lane);
}

/* ---- attributes --------------------------------------------------------------------------- */

enum { EVERY_FLAG = 0x7f };

/* Strict and relaxed, where nnan makes a difference (section 7.3). */
static void over_relaxation(enumeration *e, const element_axis *axis, qp_fabric_candidate *c)
{
    const uint32_t partial = QP_FABRIC_FLAG_NAN_IEEE | QP_FABRIC_FLAG_NAN_NUMBER;

    c->semantics.fast_math = EVERY_FLAG;
    c->relaxed = (c->signature.schema->flags & partial) != 0;
    over_lanes(e, axis, c);
    if (c->relaxed && !e->stopped) {
        c->semantics.fast_math = EVERY_FLAG & ~(uint32_t)QP_FABRIC_NNAN;
        c->relaxed = false;
        over_lanes(e, axis, c);
    }
}

/* `*attribute` takes every word of a set; 0 where `set` is 0. */
static void over_words(enumeration *e, const element_axis *axis, qp_fabric_candidate *c,
                       uint32_t *attribute, uint32_t set)
{
    *attribute = 0;
    if (set == 0)
        over_relaxation(e, axis, c);
    for (uint32_t word = 1; set >> (word - 1) != 0 && !e->stopped; word++) {
        *attribute = word;
        if ((set >> (word - 1) & 1) != 0)
            over_relaxation(e, axis, c);
    }
}

static void over_attributes(enumeration *e, const element_axis *axis)
{
    const qp_fabric_schema *schema = schema_of(e->node->family, e->member);
    const qp_fabric_params *params = &e->node->params;
    const qp_fabric_case semantics = schema->semantics;
    qp_fabric_candidate c = {.member = e->member, .pair = axis->pair};

    c.signature = (qp_fabric_signature){.schema = schema,
                                        .semantics = &c.semantics,
                                        .operands = c.operands,
                                        .results = c.results,
                                        .operand_count = schema->operands,
                                        .result_count = schema->results,
                                        .index_width = axis->index_width};
    c.semantics.tier = QP_FABRIC_MAX_4_ULP;
    c.semantics.step = params->step_kind;
    c.semantics.flag =
        semantics == QP_FABRIC_CASE_ZERO_POISON || semantics == QP_FABRIC_CASE_DISJOINT;
    if (semantics == QP_FABRIC_CASE_INTEGER_COMPARE || semantics == QP_FABRIC_CASE_FLOAT_COMPARE ||
        semantics == QP_FABRIC_CASE_STREAM)
        over_words(e, axis, &c, &c.semantics.predicate, params->predicates);
    else
        over_words(e, axis, &c, &c.semantics.rounding,
                   (schema->flags & QP_FABRIC_FLAG_ROUNDS) != 0 ? params->behavior.roundings : 0);
}

/* ---- element types ------------------------------------------------------------------------ */

static qp_fabric_type format_type(int ordinal)
{
    return qp_fabric_float_type(qp_fabric_formats[ordinal].tag);
}

/* The integers and floats of a record by number: widths, then formats. False where it has none. */
enum { ELEMENTS = QP_FABRIC_WIDTHS + QP_FABRIC_FORMATS };

static bool element(const qp_fabric_params *params, int number, qp_fabric_type *type)
{
    const int format = number - QP_FABRIC_WIDTHS;

    if (format < 0) {
        *type = qp_fabric_integer_type(qp_fabric_width_of(number));
        return (params->integers >> number & 1) != 0;
    }
    *type = format_type(format);
    return (params->formats >> format & 1) != 0;
}

/* Every element; with every other of its width where the schema reinterprets. */
static void over_elements(enumeration *e)
{
    const qp_fabric_schema *schema = schema_of(e->node->family, e->member);
    const bool casts = schema->type_rule == qp_fabric_types_bitcast;
    element_axis axis = {.pair = 0};

    for (int i = 0; i < ELEMENTS; i++) {
        if (!element(&e->node->params, i, &axis.from))
            continue;
        for (int k = casts ? 0 : i; k <= (casts ? ELEMENTS - 1 : i) && !e->stopped; k++)
            if (element(&e->node->params, k, &axis.to))
                over_attributes(e, &axis);
    }
}

/* A pair with the index in the place of its source or destination, where the widths agree. */
static void over_index(enumeration *e, const element_axis *pair, uint32_t width)
{
    element_axis axis = *pair;

    axis.index_width = width;
    if (pair->from.width == width && !e->stopped) {
        axis.from = qp_fabric_index_type();
        over_attributes(e, &axis);
    }
    axis.from = pair->from;
    if (pair->to.width == width && !e->stopped) {
        axis.to = qp_fabric_index_type();
        over_attributes(e, &axis);
    }
}

static void over_pair(enumeration *e, int first, int second)
{
    const qp_fabric_schema *schema = schema_of(e->node->family, e->member);
    const qp_fabric_params_kind kind = e->node->family->params;
    const bool first_float = kind == QP_FABRIC_PARAMS_SCALAR_FLOAT_WIDTH_CAST;
    const bool second_float = kind != QP_FABRIC_PARAMS_SCALAR_INTEGER_CAST;
    element_axis axis = {.pair = QP_FABRIC_PAIR_BIT(first, second)};

    axis.from =
        first_float ? format_type(first) : qp_fabric_integer_type(qp_fabric_width_of(first));
    axis.to =
        second_float ? format_type(second) : qp_fabric_integer_type(qp_fabric_width_of(second));
    if (schema->type_rule == qp_fabric_types_float_to_integer) {
        const qp_fabric_type integer = axis.from;
        axis.from = axis.to;
        axis.to = integer;
    }
    if (schema->type_rule != qp_fabric_types_index_cast) {
        over_attributes(e, &axis);
        return;
    }
    for (int i = 0; i < QP_FABRIC_INDEX_WIDTHS; i++)
        over_index(e, &axis, qp_fabric_index_of(i));
}

static void over_types(enumeration *e)
{
    const qp_fabric_params *params = &e->node->params;
    const element_axis none = {.pair = 0};

    if (e->node->family->params == QP_FABRIC_PARAMS_TOKEN_PLANE) {
        over_attributes(e, &none);
        return;
    }
    over_elements(e);
    for (int first = 0; first < QP_FABRIC_WIDTHS; first++)
        for (int second = 0; second < QP_FABRIC_WIDTHS && !e->stopped; second++)
            if ((params->pairs & QP_FABRIC_PAIR_BIT(first, second)) != 0)
                over_pair(e, first, second);
}

void qp_fabric_each_point(const qp_fabric_node *node, bool ports, qp_fabric_visit *visit,
                          void *context)
{
    enumeration e = {.node = node, .ports = ports, .visit = visit, .context = context};

    for (; e.member < node->family->member_count && !e.stopped; e.member++)
        if ((node->enabled >> e.member & 1) != 0)
            over_types(&e);
}

/* ---- behaviours --------------------------------------------------------------------------- */

typedef void fill(const qp_fabric_signature *s, qp_fabric_behavior_point *point);

static uint32_t width_of(const qp_fabric_signature *s, const qp_fabric_type *type)
{
    return qp_fabric_element_bits(type, s->index_width);
}

static int format_of(const qp_fabric_type *type)
{
    return qp_fabric_format_ordinal(type->code);
}

static void fill_nothing(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    (void)s;
    (void)point;
}

/* Result 0 has the width that counts in every row without a comparison. */
static void fill_width(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->width = width_of(s, &s->results[0]);
}

/* Left and logical right shifts, unlike arithmetic ones, work without knowing the width. */
static void fill_scalar_width(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    enum { SHLI = 4, SHRUI = 6 };
    if (s->schema->id != SHLI && s->schema->id != SHRUI)
        fill_width(s, point);
}

/* Signed order needs the width; equality, and unsigned order of zero-filled values, do not. */
static void fill_compare(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    enum { MINSI = 14, MAXSI = 15 };
    const uint32_t predicate = s->semantics->predicate;

    point->predicate = predicate;
    if (s->schema->id == MINSI || s->schema->id == MAXSI ||
        (predicate >= QP_FABRIC_SLT && predicate <= QP_FABRIC_SGE))
        point->width = width_of(s, &s->operands[0]);
}

static void fill_vector_compare(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->predicate = s->semantics->predicate;
    point->width = width_of(s, &s->operands[0]);
}

static void fill_cast(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    enum { EXTSI = 20, INDEX_CAST = 23 };
    const bool is_signed = s->schema->id == EXTSI || s->schema->id == INDEX_CAST;
    const uint32_t from = width_of(s, &s->operands[0]), to = width_of(s, &s->results[0]);

    point->source_width = from;
    point->destination_width = to;
    if (from == to)
        point->role = "Identity";
    else if (to < from)
        point->role = "Truncate";
    else
        point->role = is_signed ? "SignExtend" : "ZeroExtend";
}

static void fill_stream(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->width = width_of(s, &s->results[0]);
    point->predicate = s->semantics->predicate;
}

static void fill_adapter(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    const qp_fabric_type *vector = s->operands[0].rank > 0 ? &s->operands[0] : &s->results[0];

    point->width = width_of(s, vector);
    point->lane_count = vector->dims[0];
}

static void fill_format(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->format = format_of(&s->results[0]);
}

static void fill_rounded(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->format = format_of(&s->results[0]);
    point->rounding = qp_fabric_rounding_of(s->semantics);
}

static void fill_float_cast(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->source_format = format_of(&s->operands[0]);
    point->destination_format = format_of(&s->results[0]);
    if ((s->schema->flags & QP_FABRIC_FLAG_ROUNDS) != 0)
        point->rounding = qp_fabric_rounding_of(s->semantics);
}

static void fill_from_integer(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->source_width = width_of(s, &s->operands[0]);
    point->destination_format = format_of(&s->results[0]);
}

static void fill_to_integer(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    point->source_format = format_of(&s->operands[0]);
    point->destination_width = width_of(s, &s->results[0]);
}

/* The constant predicates look at no operand, so they have no format. */
static void fill_float_compare(const qp_fabric_signature *s, qp_fabric_behavior_point *point)
{
    const uint32_t predicate = s->semantics->predicate;

    point->predicate = predicate;
    if (predicate != QP_FABRIC_FALSE && predicate != QP_FABRIC_TRUE)
        point->format = format_of(&s->operands[0]);
}

static fill *const fills[QP_FABRIC_KEY_COUNT] = {
    [QP_FABRIC_KEY_NONE] = fill_nothing,
    [QP_FABRIC_KEY_ROLE] = fill_nothing,
    [QP_FABRIC_KEY_VECTOR_ROLE] = fill_nothing,
    [QP_FABRIC_KEY_ROLE_WIDTH] = fill_scalar_width,
    [QP_FABRIC_KEY_VECTOR_WIDTH] = fill_width,
    [QP_FABRIC_KEY_COMPARE] = fill_compare,
    [QP_FABRIC_KEY_VECTOR_COMPARE] = fill_vector_compare,
    [QP_FABRIC_KEY_CAST] = fill_cast,
    [QP_FABRIC_KEY_ELEMENT_WIDTH] = fill_width,
    [QP_FABRIC_KEY_STREAM] = fill_stream,
    [QP_FABRIC_KEY_ADAPTER] = fill_adapter,
    [QP_FABRIC_KEY_LANES] = fill_nothing, /* its image comes from the ports */
    [QP_FABRIC_KEY_FLOAT_ROUNDED] = fill_rounded,
    [QP_FABRIC_KEY_FLOAT_ROUNDED_SINGLE] = fill_rounded,
    [QP_FABRIC_KEY_VECTOR_ROUNDED] = fill_rounded,
    [QP_FABRIC_KEY_VECTOR_ROUNDED_SINGLE] = fill_rounded,
    [QP_FABRIC_KEY_FORMAT] = fill_format,
    [QP_FABRIC_KEY_FLOAT_CAST] = fill_float_cast,
    [QP_FABRIC_KEY_FROM_INTEGER] = fill_from_integer,
    [QP_FABRIC_KEY_TO_INTEGER] = fill_to_integer,
    [QP_FABRIC_KEY_FLOAT_COMPARE] = fill_float_compare,
    [QP_FABRIC_KEY_VECTOR_FLOAT_COMPARE] = fill_float_compare,
};

qp_fabric_behavior_point qp_fabric_behavior_of(const qp_fabric_family *family,
                                               const qp_fabric_signature *signature)
{
    const int member = qp_fabric_member_ordinal(family, signature->schema);
    const char *role = member >= 0 ? family->members[member].role : NULL;
    qp_fabric_behavior_point point = {.role = role != NULL ? role : "",
                                      .format = -1,
                                      .source_format = -1,
                                      .destination_format = -1};

    fills[family->key](signature, &point);
    return point;
}
