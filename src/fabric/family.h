/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - the closed registry of the 71 implementation families (section 4): members, record,
 * relation, physical roles, and the row of section 7 that says what a behaviour key is made of.
 */
#ifndef QP_FABRIC_FAMILY_H
#define QP_FABRIC_FAMILY_H

#include "fabric/params.h"
#include "fabric/schema.h"

/* Section 6, point 2. */
typedef enum qp_fabric_shape {
    QP_FABRIC_SHAPE_SCALAR, /* scalars only */
    QP_FABRIC_SHAPE_VECTOR, /* fixed vectors only */
    QP_FABRIC_SHAPE_TOKEN   /* whatever the schema carries */
} qp_fabric_shape;

/* Section 4, "Physical roles". */
typedef enum qp_fabric_roles {
    QP_FABRIC_ROLES_STRAIGHT, /* operand i on input i, result i on result i, none idle */
    QP_FABRIC_ROLES_SLICE,    /* extract skips input 1; 2 + max_dynamic_position_rank inputs */
    QP_FABRIC_ROLES_SYNC,     /* lanes on one equal set of inputs and results */
    QP_FABRIC_ROLES_MUX,      /* selector input 0, data inputs >= 1, result 0 */
    QP_FABRIC_ROLES_DEMUX     /* selector input 0, data input 1, lanes on results */
} qp_fabric_roles;

/* Section 9: which resource contract the family has. */
typedef enum qp_fabric_contract_kind {
    QP_FABRIC_CONTRACT_ELASTIC,
    QP_FABRIC_CONTRACT_TRANSPARENT_3, /* carry, invariant */
    QP_FABRIC_CONTRACT_TRANSPARENT_4, /* gate */
    QP_FABRIC_CONTRACT_STREAM,
    QP_FABRIC_CONTRACT_PARALLELIZE,
    QP_FABRIC_CONTRACT_SERIALIZE,
    QP_FABRIC_CONTRACT_COUNT
} qp_fabric_contract_kind;

/* ---- keys (section 7) --------------------------------------------------------------------- */

/* What a component of a key is. */
typedef enum qp_fabric_component {
    QP_FABRIC_COMPONENT_NONE = 0,
    QP_FABRIC_COMPONENT_WIDTH, /* active width of an integer, element or float */
    QP_FABRIC_COMPONENT_SOURCE_WIDTH,
    QP_FABRIC_COMPONENT_DESTINATION_WIDTH,
    QP_FABRIC_COMPONENT_LANE_COUNT,
    QP_FABRIC_COMPONENT_LANE_IMAGE,
    QP_FABRIC_COMPONENT_INTEGER_PREDICATE,
    QP_FABRIC_COMPONENT_FLOAT_PREDICATE,
    QP_FABRIC_COMPONENT_FORMAT,
    QP_FABRIC_COMPONENT_SOURCE_FORMAT,
    QP_FABRIC_COMPONENT_DESTINATION_FORMAT,
    QP_FABRIC_COMPONENT_ROUNDING,
    QP_FABRIC_COMPONENT_NUMERIC_FORMAT,       /* section 7.2 with the tag 1 or 2 */
    QP_FABRIC_COMPONENT_NUMERIC_FORMAT_VECTOR /* without */
} qp_fabric_component;

/* Over which points a component must take two values to be written. */
typedef enum qp_fabric_scope { QP_FABRIC_SCOPE_ROLE, QP_FABRIC_SCOPE_DOMAIN } qp_fabric_scope;

typedef struct qp_fabric_component_row {
    qp_fabric_component component;
    qp_fabric_scope scope;
} qp_fabric_component_row;

/* When the role is written. */
typedef enum qp_fabric_role_rule {
    QP_FABRIC_ROLE_EMPTY,     /* a row without alternatives */
    QP_FABRIC_ROLE_ALWAYS,    /* the scalar rows */
    QP_FABRIC_ROLE_IF_SEVERAL /* the vector rows and both float CompareMinMax: empty if shared */
} qp_fabric_role_rule;

#define QP_FABRIC_FAMILY_SCHEMAS_MAX 5
#define QP_FABRIC_COMPONENTS_MAX 3

/*
 * A row of section 7: components in order. Which points have which component is the enumeration's
 * business (a point without it is left out of the test): a predicate only in Compare, a rounding
 * mode only for truncf, a width only where the row of section 7.1 says so.
 */
typedef struct qp_fabric_key_row {
    qp_fabric_role_rule role_rule;
    qp_fabric_component_row components[QP_FABRIC_COMPONENTS_MAX];
} qp_fabric_key_row;

typedef enum qp_fabric_key_kind {
    QP_FABRIC_KEY_NONE,         /* no finite key: N and D rows */
    QP_FABRIC_KEY_ROLE,         /* AddSub, Logic */
    QP_FABRIC_KEY_VECTOR_ROLE,  /* FixedVectorIntegerLogic */
    QP_FABRIC_KEY_ROLE_WIDTH,   /* Shift, DivRem, saturating, count zeros, float sign */
    QP_FABRIC_KEY_VECTOR_WIDTH, /* the vector rows of the same */
    QP_FABRIC_KEY_COMPARE,      /* ScalarIntegerCompareMinMax */
    QP_FABRIC_KEY_VECTOR_COMPARE,
    QP_FABRIC_KEY_CAST,          /* ScalarIntegerCast */
    QP_FABRIC_KEY_ELEMENT_WIDTH, /* FixedVectorIntegerMultiply, FixedVectorValueSelect */
    QP_FABRIC_KEY_STREAM,
    QP_FABRIC_KEY_ADAPTER,
    QP_FABRIC_KEY_LANES,
    QP_FABRIC_KEY_FLOAT_ROUNDED,        /* role, format, rounding_mode */
    QP_FABRIC_KEY_FLOAT_ROUNDED_SINGLE, /* the same without roles */
    QP_FABRIC_KEY_VECTOR_ROUNDED,
    QP_FABRIC_KEY_VECTOR_ROUNDED_SINGLE,
    QP_FABRIC_KEY_FORMAT,     /* ScalarFloatRemainder, the ScalarMath rows */
    QP_FABRIC_KEY_FLOAT_CAST, /* ScalarFloatWidthCast */
    QP_FABRIC_KEY_FROM_INTEGER,
    QP_FABRIC_KEY_TO_INTEGER,
    QP_FABRIC_KEY_FLOAT_COMPARE,
    QP_FABRIC_KEY_VECTOR_FLOAT_COMPARE,
    QP_FABRIC_KEY_COUNT
} qp_fabric_key_kind;

extern const qp_fabric_key_row qp_fabric_key_rows[QP_FABRIC_KEY_COUNT];

/* ---- rows --------------------------------------------------------------------------------- */

/* A member of a family and the role that its points have; NULL where the row has no roles, or where
 * the point decides (ScalarIntegerCast: Identity, SignExtend, ZeroExtend, Truncate). */
typedef struct qp_fabric_member {
    uint32_t schema; /* its id */
    const char *role;
} qp_fabric_member;

typedef struct qp_fabric_family {
    uint32_t id;
    const char *keyword;
    uint32_t member_count;
    qp_fabric_member members[QP_FABRIC_FAMILY_SCHEMAS_MAX]; /* in the order of section 4 */
    qp_fabric_params_kind params;
    qp_fabric_relation_kind relation; /* the column "rel": an upper bound for FINITE */
    qp_fabric_shape shape;
    qp_fabric_roles roles;
    qp_fabric_contract_kind contract;
    qp_fabric_key_kind key;
} qp_fabric_family;

#define QP_FABRIC_FAMILY_COUNT 71
extern const qp_fabric_family qp_fabric_families[QP_FABRIC_FAMILY_COUNT];

/* By its keyword of `size` characters; NULL for an unknown one. */
const qp_fabric_family *qp_fabric_find_family(const char *keyword, size_t size);

/* The ordinal of a schema among a family's members, -1 where it is none. An op_list is a mask over
 * these ordinals. */
int qp_fabric_member_ordinal(const qp_fabric_family *family, const qp_fabric_schema *schema);

#endif
