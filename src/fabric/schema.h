/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the registry of operation schemas (sections 2 and 3): one row each of schemas.inc, the
 * closed semantic projection of an actor, and the projection's canonical bytes (section 1.4).
 */
#ifndef QP_FABRIC_SCHEMA_H
#define QP_FABRIC_SCHEMA_H

#include "fabric/type.h"

/* ---- semantics (section 2.1) -------------------------------------------------------------- */

typedef enum qp_fabric_case {
    QP_FABRIC_CASE_NO_PAYLOAD = 0,
    QP_FABRIC_CASE_FLOAT = 1,
    QP_FABRIC_CASE_INTEGER_OVERFLOW = 2,
    QP_FABRIC_CASE_INTEGER_COMPARE = 3,
    QP_FABRIC_CASE_FLOAT_COMPARE = 4,
    QP_FABRIC_CASE_TYPED_CONSTANT = 5,
    QP_FABRIC_CASE_STREAM = 6,
    QP_FABRIC_CASE_MEMORY = 7,
    QP_FABRIC_CASE_ZERO_POISON = 8,
    QP_FABRIC_CASE_MIN_POISON = 9,
    QP_FABRIC_CASE_AGGREGATE_POSITION = 10,
    QP_FABRIC_CASE_EXACT = 11,
    QP_FABRIC_CASE_NON_NEGATIVE = 12,
    QP_FABRIC_CASE_STATIC_POSITION = 13,
    QP_FABRIC_CASE_SHUFFLE_MASK = 14,
    QP_FABRIC_CASE_DISJOINT = 15,
    QP_FABRIC_CASE_INTRINSIC = 16,
    QP_FABRIC_CASE_GET_ELEMENT_PTR = 17,
    QP_FABRIC_CASE_SPECIAL_MATH = 18,
    QP_FABRIC_CASE_COUNT
} qp_fabric_case;

/* A dynamic entry of a position, and a poison entry of a mask; their bits are section 2.1's. */
#define QP_FABRIC_DYNAMIC INT64_MIN
#define QP_FABRIC_POISON_BLOCK (-1)

/*
 * The attributes of an actor; the schema's case says which of them count, the others are zero. The
 * arrays belong to the graph.
 */
typedef struct qp_fabric_semantics {
    uint32_t fast_math;     /* cases 1, 4, 18 */
    uint32_t rounding;      /* case 1: a qp_fabric_rounding, 0 where the attribute is absent */
    uint32_t overflow;      /* case 2 */
    uint32_t predicate;     /* cases 3, 4, 6: the word's number */
    uint32_t step;          /* case 6 */
    uint32_t tier;          /* case 18: a qp_fabric_tier */
    bool flag;              /* cases 8, 9, 11, 12, 15 */
    const int64_t *entries; /* cases 13, 14 */
    size_t entry_count;
    const uint64_t *payload; /* case 5: the payload's bits, bit k in word k / 64, high bits zero */
    size_t payload_words;
} qp_fabric_semantics;

/* ---- rows --------------------------------------------------------------------------------- */

/* How definedness passes through an actor (section 3, "Activity definedness"). */
typedef enum qp_fabric_transfer {
    QP_FABRIC_TRANSFER_MISSING,
    QP_FABRIC_TRANSFER_ALWAYS_DEFINED,
    QP_FABRIC_TRANSFER_ALL_OPERANDS,
    QP_FABRIC_TRANSFER_SAME_ORDINAL,
    QP_FABRIC_TRANSFER_FLOAT_COMPARE,
    QP_FABRIC_TRANSFER_PARALLELIZE,
    QP_FABRIC_TRANSFER_SERIALIZE
} qp_fabric_transfer;

/* A handshake case of a schema (section 3). `consumes` and the groups are masks over ordinals. */
typedef struct qp_fabric_handshake_case {
    const char *name;
    uint32_t consumes;
    uint32_t group_count;
    uint32_t groups[2]; /* serialize's active case repeats its one group for each masked lane */
} qp_fabric_handshake_case;

/*
 * The cases of a schema. ALL has one case: every operand in, every result out, whatever their
 * number; MUX and DEMUX have one case a lane. These three have no rows in `cases`.
 */
typedef enum qp_fabric_handshake_kind {
    QP_FABRIC_HANDSHAKE_ALL,
    QP_FABRIC_HANDSHAKE_MUX,
    QP_FABRIC_HANDSHAKE_DEMUX,
    QP_FABRIC_HANDSHAKE_STREAM,
    QP_FABRIC_HANDSHAKE_CARRY,
    QP_FABRIC_HANDSHAKE_INVARIANT,
    QP_FABRIC_HANDSHAKE_GATE,
    QP_FABRIC_HANDSHAKE_PARALLELIZE,
    QP_FABRIC_HANDSHAKE_SERIALIZE,
    QP_FABRIC_HANDSHAKE_COUNT
} qp_fabric_handshake_kind;

typedef struct qp_fabric_handshake {
    uint32_t case_count;
    const qp_fabric_handshake_case *cases;
} qp_fabric_handshake;

extern const qp_fabric_handshake qp_fabric_handshakes[QP_FABRIC_HANDSHAKE_COUNT];

enum {                                /* flags of a schema */
       QP_FABRIC_FLAG_ROUNDS = 1,     /* takes a rounding mode (section 7.2) */
       QP_FABRIC_FLAG_MPFR = 2,       /* its evaluation needs MPFR */
       QP_FABRIC_FLAG_NAN_IEEE = 4,   /* needs the NaN behaviour ieee (section 5) */
       QP_FABRIC_FLAG_NAN_NUMBER = 8, /* needs number_preferred */
};

typedef struct qp_fabric_schema qp_fabric_schema;

/* What a type rule looks at. */
typedef struct qp_fabric_signature {
    const qp_fabric_schema *schema;
    const qp_fabric_semantics *semantics;
    const qp_fabric_type *operands, *results;
    size_t operand_count, result_count;
    uint32_t index_width; /* 0 where the graph gives none */
} qp_fabric_signature;

/* Section 2's types and the ranges of attributes that depend on them: NULL, or what is wrong. The
 * counts are checked before against the row where it gives them. */
typedef const char *qp_fabric_type_rule(const qp_fabric_signature *signature);

struct qp_fabric_schema {
    uint32_t id;
    const char *name; /* the full name of section 2.4 */
    bool in_family;   /* some family admits it ("H") */
    qp_fabric_case semantics;
    uint32_t operands, results; /* 0: as the type rule says */
    qp_fabric_type_rule *type_rule;
    qp_fabric_transfer definedness;
    qp_fabric_handshake_kind handshake;
    uint32_t flags;
};

#define QP_FABRIC_SCHEMA_COUNT 107
/* The row of an id is at that index. */
extern const qp_fabric_schema qp_fabric_schemas[QP_FABRIC_SCHEMA_COUNT];

/* By its full name of `size` characters; NULL for an unknown one. */
const qp_fabric_schema *qp_fabric_find_schema(const char *name, size_t size);

/* Counts and type rule: NULL, or one sentence about what is wrong. */
const char *qp_fabric_check_signature(const qp_fabric_signature *signature);

/* The rounding mode in force: the attribute, or to_nearest_even where it is absent. */
static inline uint32_t qp_fabric_rounding_of(const qp_fabric_semantics *semantics)
{
    return semantics->rounding != 0 ? semantics->rounding : QP_FABRIC_TO_NEAREST_EVEN;
}

/* ---- canonical bytes ---------------------------------------------------------------------- */

/* The payload of a case (section 2.1). A constant's needs the type of result 0. */
void qp_fabric_put_semantics(qp_buffer *buffer, const qp_fabric_signature *signature);

/* The actor projection (section 1.4). */
void qp_fabric_put_projection(qp_buffer *buffer, const qp_fabric_signature *signature);

/* The type rules of the rows (schema_rules.c). */
#define QP_FABRIC_TYPE_RULES(RULE)                                                                 \
    RULE(none)                                                                                     \
    RULE(integers)                                                                                 \
    RULE(integer_compare)                                                                          \
    RULE(select)                                                                                   \
    RULE(integer_widen)                                                                            \
    RULE(integer_narrow)                                                                           \
    RULE(index_cast)                                                                               \
    RULE(bitcast)                                                                                  \
    RULE(floats)                                                                                   \
    RULE(float_compare)                                                                            \
    RULE(float_widen)                                                                              \
    RULE(float_narrow)                                                                             \
    RULE(integer_to_float)                                                                         \
    RULE(float_to_integer)                                                                         \
    RULE(extract)                                                                                  \
    RULE(insert)                                                                                   \
    RULE(shuffle)                                                                                  \
    RULE(stream)                                                                                   \
    RULE(carry)                                                                                    \
    RULE(gate)                                                                                     \
    RULE(constant)                                                                                 \
    RULE(sync)                                                                                     \
    RULE(mux)                                                                                      \
    RULE(demux)                                                                                    \
    RULE(parallelize)                                                                              \
    RULE(serialize)                                                                                \
    RULE(pack)                                                                                     \
    RULE(unpack)

#define RULE(name) qp_fabric_type_rule qp_fabric_types_##name;
QP_FABRIC_TYPE_RULES(RULE)
#undef RULE

#endif
