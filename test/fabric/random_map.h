/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_map.h - random graphs with fabrics that fit them: every actor has an op of its own, the
 * ops are dealt out to some units, and each edge within a unit is a wire or leaves it and comes
 * back.
 */
#ifndef QP_TEST_FABRIC_RANDOM_MAP_H
#define QP_TEST_FABRIC_RANDOM_MAP_H

#include "base/base.h"

#include <stdio.h>

enum { RANDOM_ACTORS = 24, RANDOM_PORTS = 4, RANDOM_VALUES = 128 };

typedef struct random_source {
    uint64_t state;
} random_source;

static inline uint64_t random_word(random_source *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint32_t random_below(random_source *random, uint32_t limit)
{
    return (uint32_t)(random_word(random) % limit);
}

/* The types of the values, and the widths of their ports. */
typedef enum random_type { T_NONE, T_I1, T_I8, T_V8, T_V1, T_COUNT } random_type;
static const char *const random_type_names[T_COUNT] = {"none", "i1", "i8", "vector<4xi8>",
                                                       "vector<4xi1>"};
static const unsigned random_type_bits[T_COUNT] = {0, 1, 8, 32, 4};

/* What an actor can be: its schema with attributes, and the op that it sits on. */
typedef struct random_kind {
    const char *schema, *attributes, *family, *op_list, *params;
    int operand_count, result_count;
    random_type operands[RANDOM_PORTS], results[RANDOM_PORTS];
} random_kind;

#define ADAPTER                                                                                    \
    "{ integer_element_widths = [8], float_element_formats = [], max_payload_bits = 32 }"
#define ROUTED "{ max_payload_bits = 8, max_fan = 2 }"
static const random_kind random_kinds[] = {
    {"arith.addi",
     "",
     "ScalarIntegerAddSub",
     "arith.addi, arith.subi",
     "{ integer_widths = [8] }",
     2,
     1,
     {T_I8, T_I8},
     {T_I8}},
    {"arith.subi",
     "",
     "ScalarIntegerAddSub",
     "arith.subi",
     "{ integer_widths = [8] }",
     2,
     1,
     {T_I8, T_I8},
     {T_I8}},
    {"arith.cmpi",
     "{ predicate = slt }",
     "ScalarIntegerCompareMinMax",
     "arith.cmpi",
     "{ operand_widths = [8], comparison_predicates = [slt] }",
     2,
     1,
     {T_I8, T_I8},
     {T_I1}},
    {"arith.select",
     "",
     "ScalarValueSelect",
     "arith.select",
     "{ integer_widths = [8], float_formats = [] }",
     3,
     1,
     {T_I1, T_I8, T_I8},
     {T_I8}},
    {"dataflow.sync", "", "TokenSync", "dataflow.sync", ROUTED, 2, 2, {T_I8, T_I1}, {T_I8, T_I1}},
    {"dataflow.mux", "", "TokenMux", "dataflow.mux", ROUTED, 3, 1, {T_I1, T_I8, T_I8}, {T_I8}},
    {"dataflow.demux",
     "",
     "TokenDemux",
     "dataflow.demux",
     ROUTED,
     2,
     2,
     {T_I1, T_I8},
     {T_I8, T_I8}},
    {"dataflow.carry", "", "LoopCarry", "dataflow.carry", "{}", 3, 1, {T_I1, T_I8, T_I8}, {T_I8}},
    {"dataflow.invariant",
     "",
     "LoopInvariant",
     "dataflow.invariant",
     "{}",
     2,
     1,
     {T_I1, T_I8},
     {T_I8}},
    {"dataflow.gate", "", "LoopGate", "dataflow.gate", "{}", 2, 2, {T_I1, T_I8}, {T_I1, T_I8}},
    {"dataflow.stream",
     "{ step = add, predicate = slt }",
     "LoopStream",
     "dataflow.stream",
     "{ integer_widths = [8], step_kind = add, predicates = [slt] }",
     3,
     2,
     {T_I8, T_I8, T_I8},
     {T_I8, T_I1}},
    /* from here on only together: two constants and a stream whose phases are proved defined */
    {"dataflow.constant",
     "{ value = 1 }",
     "TokenConstant",
     "dataflow.constant",
     "{ max_payload_bits = 8 }",
     1,
     1,
     {T_NONE},
     {T_I8}},
    {"dataflow.constant",
     "{ value = 6 }",
     "TokenConstant",
     "dataflow.constant",
     "{ max_payload_bits = 8 }",
     1,
     1,
     {T_NONE},
     {T_I8}},
    {"dataflow.parallelize",
     "",
     "FixedVectorParallelize",
     "dataflow.parallelize",
     ADAPTER,
     2,
     3,
     {T_I8, T_I1},
     {T_V8, T_V1, T_I1}},
    {"dataflow.serialize",
     "",
     "FixedVectorSerialize",
     "dataflow.serialize",
     ADAPTER,
     3,
     2,
     {T_V8, T_V1, T_I1},
     {T_I8, T_I1}},
};
enum {
    KIND_CARRY = 7,
    KIND_STREAM = 10,
    KIND_ONE,
    KIND_SIX,
    KIND_PARALLELIZE,
    KIND_SERIALIZE,
    KIND_FREE = KIND_ONE /* the kinds before it stand alone */
};

typedef struct random_actor {
    const random_kind *kind;
    int unit;
    int operands[RANDOM_PORTS]; /* values */
    int results[RANDOM_PORTS];
    bool external[RANDOM_PORTS]; /* operands: by a port */
    char port[RANDOM_PORTS][16]; /* its name */
    bool shares[RANDOM_PORTS];   /* the port of an operand before it */
} random_actor;

typedef struct random_map {
    random_source random;
    int actor_count, value_count, input_count, unit_count;
    random_actor actors[RANDOM_ACTORS];
    random_type types[RANDOM_VALUES];
    int source[RANDOM_VALUES]; /* an actor, -1 for an input */
    int uses[RANDOM_VALUES];
    bool output[RANDOM_VALUES];
    bool all_external;
    qp_buffer text;
} random_map;

static inline int new_value(random_map *m, random_type type, int source)
{
    m->types[m->value_count] = type;
    m->source[m->value_count] = source;
    m->input_count += source < 0;
    return m->value_count++;
}

/* Some value of a type; a new input where there is none, or sometimes anyway. */
static inline int some_value(random_map *m, random_type type)
{
    int found = -1, count = 0;

    for (int v = 0; v < m->value_count; v++)
        if (m->types[v] == type && random_below(&m->random, (uint32_t)++count) == 0)
            found = v;
    if (found < 0 || random_below(&m->random, 5) == 0)
        found = new_value(m, type, -1);
    return found;
}

static inline random_actor *add_actor(random_map *m, int kind)
{
    random_actor *actor = &m->actors[m->actor_count];

    memset(actor, 0, sizeof *actor);
    actor->kind = &random_kinds[kind];
    for (int i = 0; i < actor->kind->operand_count; i++)
        actor->operands[i] = -1;
    for (int i = 0; i < actor->kind->result_count; i++)
        actor->results[i] = new_value(m, actor->kind->results[i], m->actor_count);
    m->actor_count++;
    return actor;
}

/* Constants, a stream over 1 .. 5, and what is collected by its phases: some value or its own. */
static inline void add_collection(random_map *m)
{
    const int control = some_value(m, T_NONE);
    random_actor *one = add_actor(m, KIND_ONE), *six = add_actor(m, KIND_SIX);
    random_actor *step = add_actor(m, KIND_ONE), *stream = add_actor(m, KIND_STREAM);
    random_actor *lanes = add_actor(m, KIND_PARALLELIZE);

    one->operands[0] = six->operands[0] = step->operands[0] = control;
    stream->operands[0] = one->results[0];
    stream->operands[1] = six->results[0];
    stream->operands[2] = step->results[0];
    lanes->operands[0] = random_below(&m->random, 2) == 0 ? stream->results[0] : -1;
    lanes->operands[1] = stream->results[1];
    if (random_below(&m->random, 3) == 0)
        return;
    random_actor *serial = add_actor(m, KIND_SERIALIZE);
    for (int i = 0; i < 3; i++)
        serial->operands[i] = lanes->results[i];
}

/* Operands that are still open get values: a carry's last one may come from behind it. */
static inline void close_operands(random_map *m, int first)
{
    for (int a = first; a < m->actor_count; a++)
        for (int i = 0; i < m->actors[a].kind->operand_count; i++)
            if (m->actors[a].operands[i] < 0 &&
                !(m->actors[a].kind == &random_kinds[KIND_CARRY] && i == 2))
                m->actors[a].operands[i] = some_value(m, m->actors[a].kind->operands[i]);
}

static inline void make_graph(random_map *m)
{
    const int wanted = 1 + (int)random_below(&m->random, 9);

    while (m->actor_count < wanted) {
        const int first = m->actor_count;
        if (random_below(&m->random, 8) == 0) {
            add_collection(m);
        } else {
            /* its own results are no operands of it */
            random_actor draft = {.kind = &random_kinds[random_below(&m->random, KIND_FREE)]};
            for (int i = 0; i < draft.kind->operand_count; i++)
                draft.operands[i] = draft.kind == &random_kinds[KIND_CARRY] && i == 2
                                        ? -1
                                        : some_value(m, draft.kind->operands[i]);
            random_actor *actor = add_actor(m, (int)(draft.kind - random_kinds));
            memcpy(actor->operands, draft.operands, sizeof actor->operands);
        }
        close_operands(m, first);
    }
    for (int a = 0; a < m->actor_count; a++)
        if (m->actors[a].kind == &random_kinds[KIND_CARRY])
            m->actors[a].operands[2] = some_value(m, T_I8);
    for (int a = 0; a < m->actor_count; a++)
        for (int i = 0; i < m->actors[a].kind->operand_count; i++)
            m->uses[m->actors[a].operands[i]]++;
    for (int v = 0; v < m->value_count; v++)
        m->output[v] = m->source[v] >= 0 && (m->uses[v] == 0 || random_below(&m->random, 6) == 0);
}

/* ---- units -------------------------------------------------------------------------------- */

/* Ports are an operand's own, or now and then that of one before it that reads the same value. */
static inline void name_ports(random_map *m, int a, int i)
{
    random_actor *actor = &m->actors[a];

    snprintf(actor->port[i], sizeof actor->port[i], "i%d_%d", a, i);
    for (int b = 0; b < a; b++)
        for (int k = 0; k < m->actors[b].kind->operand_count; k++)
            if (m->actors[b].unit == actor->unit && m->actors[b].external[k] &&
                m->actors[b].operands[k] == actor->operands[i] && !actor->shares[i] &&
                random_below(&m->random, 4) == 0) {
                memcpy(actor->port[i], m->actors[b].port[k], sizeof actor->port[i]);
                actor->shares[i] = true;
                m->all_external = false;
            }
}

static inline void make_units(random_map *m)
{
    const uint32_t inner = random_below(&m->random, 3); /* never, half, always a wire */

    m->unit_count = 1 + (int)random_below(&m->random, 3);
    m->all_external = true;
    for (int a = 0; a < m->actor_count; a++)
        m->actors[a].unit =
            a < m->unit_count ? a : (int)random_below(&m->random, (uint32_t)m->unit_count);
    if (m->unit_count > m->actor_count)
        m->unit_count = m->actor_count;
    for (int a = 0; a < m->actor_count; a++)
        for (int i = 0; i < m->actors[a].kind->operand_count; i++) {
            const int source = m->source[m->actors[a].operands[i]];
            const bool near = source >= 0 && m->actors[source].unit == m->actors[a].unit;
            m->actors[a].external[i] =
                !near || inner == 0 || (inner == 1 && random_below(&m->random, 2) == 0);
            m->all_external = m->all_external && m->actors[a].external[i];
            if (m->actors[a].external[i])
                name_ports(m, a, i);
        }
}

/* Whether a result needs a port of its unit. */
static inline bool leaves(const random_map *m, int value)
{
    for (int a = 0; a < m->actor_count; a++)
        for (int i = 0; i < m->actors[a].kind->operand_count; i++)
            if (m->actors[a].operands[i] == value && m->actors[a].external[i])
                return true;
    return m->output[value];
}

static inline bool has_port_out(const random_map *m, int unit)
{
    for (int v = 0; v < m->value_count; v++)
        if (m->source[v] >= 0 && m->actors[m->source[v]].unit == unit && leaves(m, v))
            return true;
    return false;
}

/* ---- text --------------------------------------------------------------------------------- */

static inline void put_ports(random_map *m, int unit)
{
    const char *comma = "";

    for (int a = 0; a < m->actor_count; a++)
        for (int i = 0; i < m->actors[a].kind->operand_count; i++)
            if (m->actors[a].unit == unit && m->actors[a].external[i] && !m->actors[a].shares[i]) {
                qp_buffer_format(&m->text, "%s%s:%u", comma, m->actors[a].port[i],
                                 random_type_bits[m->actors[a].kind->operands[i]]);
                comma = ", ";
            }
    qp_buffer_text(&m->text, ") -> (");
    comma = "";
    for (int v = 0; v < m->value_count; v++)
        if (m->source[v] >= 0 && m->actors[m->source[v]].unit == unit && leaves(m, v)) {
            qp_buffer_format(&m->text, "%so%d:%u", comma, v, random_type_bits[m->types[v]]);
            comma = ", ";
        }
}

static inline void put_widths(random_map *m, const random_type *types, int count)
{
    qp_buffer_text(&m->text, "(");
    for (int i = 0; i < count; i++)
        qp_buffer_format(&m->text, "%s%u", i > 0 ? "," : "", random_type_bits[types[i]]);
    qp_buffer_text(&m->text, ")");
}

static inline int result_ordinal(const random_map *m, int value)
{
    const random_actor *actor = &m->actors[m->source[value]];
    int ordinal = 0;

    while (actor->results[ordinal] != value)
        ordinal++;
    return ordinal;
}

static inline void put_unit(random_map *m, int unit)
{
    const char *comma = "";

    qp_buffer_format(&m->text, " fu U%d (", unit);
    put_ports(m, unit);
    qp_buffer_text(&m->text, ") {\n");
    for (int a = 0; a < m->actor_count; a++) {
        const random_kind *kind = m->actors[a].kind;
        if (m->actors[a].unit != unit)
            continue;
        qp_buffer_format(&m->text, "  op n%d %s [%s] in ", a, kind->family, kind->op_list);
        put_widths(m, kind->operands, kind->operand_count);
        qp_buffer_text(&m->text, " out ");
        put_widths(m, kind->results, kind->result_count);
        qp_buffer_format(&m->text, " params %s\n", kind->params);
        for (int i = 0; i < kind->operand_count; i++) {
            const int value = m->actors[a].operands[i];
            if (m->actors[a].external[i])
                qp_buffer_format(&m->text, "  wire %s -> n%d.%d\n", m->actors[a].port[i], a, i);
            else
                qp_buffer_format(&m->text, "  wire n%d.%d -> n%d.%d\n", m->source[value],
                                 result_ordinal(m, value), a, i);
        }
        for (int i = 0; i < kind->result_count; i++)
            if (leaves(m, m->actors[a].results[i]))
                qp_buffer_format(&m->text, "  wire n%d.%d -> o%d\n", a, i, m->actors[a].results[i]);
    }
    qp_buffer_text(&m->text, "  template { ops [");
    for (int a = 0; a < m->actor_count; a++)
        if (m->actors[a].unit == unit) {
            qp_buffer_format(&m->text, "%sn%d", comma, a);
            comma = ",";
        }
    qp_buffer_text(&m->text, "] } }\n");
}

static inline void put_graph(random_map *m)
{
    qp_buffer_text(&m->text, "graph g {\n");
    for (int v = 0; v < m->value_count; v++)
        if (m->source[v] < 0)
            qp_buffer_format(&m->text, " input %%v%d : %s\n", v, random_type_names[m->types[v]]);
    for (int a = 0; a < m->actor_count; a++) {
        const random_actor *actor = &m->actors[a];
        for (int i = 0; i < actor->kind->result_count; i++)
            qp_buffer_format(&m->text, "%s%%v%d", i > 0 ? ", " : " ", actor->results[i]);
        qp_buffer_format(&m->text, " = %s ", actor->kind->schema);
        for (int i = 0; i < actor->kind->operand_count; i++)
            qp_buffer_format(&m->text, "%s%%v%d", i > 0 ? ", " : "", actor->operands[i]);
        qp_buffer_format(&m->text, " %s : (", actor->kind->attributes);
        for (int i = 0; i < actor->kind->operand_count; i++)
            qp_buffer_format(&m->text, "%s%s", i > 0 ? "," : "",
                             random_type_names[actor->kind->operands[i]]);
        qp_buffer_text(&m->text, ") -> (");
        for (int i = 0; i < actor->kind->result_count; i++)
            qp_buffer_format(&m->text, "%s%s", i > 0 ? "," : "",
                             random_type_names[actor->kind->results[i]]);
        qp_buffer_text(&m->text, ")\n");
    }
    for (int v = 0; v < m->value_count; v++)
        if (m->output[v])
            qp_buffer_format(&m->text, " output %%v%d\n", v);
    qp_buffer_text(&m->text, "}\n");
}

static inline void put_realization(random_map *m, int unit)
{
    qp_buffer_format(&m->text, " realize r%d fu U%d template 0 {\n", unit, unit);
    for (int a = 0; a < m->actor_count; a++) {
        const random_actor *actor = &m->actors[a];
        if (actor->unit != unit)
            continue;
        qp_buffer_format(&m->text, "  actor %%v%d -> n%d in (", actor->results[0], a);
        for (int i = 0; i < actor->kind->operand_count; i++)
            qp_buffer_format(&m->text, "%s%d", i > 0 ? "," : "", i);
        qp_buffer_text(&m->text, ") out (");
        for (int i = 0; i < actor->kind->result_count; i++)
            qp_buffer_format(&m->text, "%s%d", i > 0 ? "," : "", i);
        qp_buffer_text(&m->text, ")");
        for (int i = 0; i < actor->kind->operand_count; i++)
            if (actor->external[i])
                qp_buffer_format(&m->text, " bound %%v%d in %d -> %s", actor->results[0], i,
                                 actor->port[i]);
        for (int i = 0; i < actor->kind->result_count; i++)
            if (leaves(m, actor->results[i]))
                qp_buffer_format(&m->text, " bound %%v%d out %d -> o%d", actor->results[0], i,
                                 actor->results[i]);
        qp_buffer_text(&m->text, "\n");
    }
    qp_buffer_text(&m->text, " }\n");
}

/* A map "m" of a seed as text in m->text, with a NUL; false where a unit has no output. */
static inline bool random_map_make(random_map *m, uint64_t seed)
{
    memset(m, 0, sizeof *m);
    m->random.state = seed;
    qp_buffer_init(&m->text, NULL);
    make_graph(m);
    make_units(m);
    qp_buffer_text(&m->text, "fabric F {\n");
    for (int u = 0; u < m->unit_count; u++) {
        if (!has_port_out(m, u))
            return false;
        put_unit(m, u);
    }
    for (int u = 0; u < m->unit_count; u++)
        qp_buffer_format(&m->text, " occ c%d U%d\n", u, u);
    qp_buffer_text(&m->text, "}\n");
    put_graph(m);
    qp_buffer_text(&m->text, "map m of g on F {\n");
    for (int u = 0; u < m->unit_count; u++)
        put_realization(m, u);
    for (int u = 0; u < m->unit_count; u++)
        qp_buffer_format(&m->text, " bind r%d -> c%d\n", u, u);
    qp_buffer_text(&m->text, "}\n");
    qp_buffer_append(&m->text, "", 1);
    return !m->text.failed;
}

#endif
