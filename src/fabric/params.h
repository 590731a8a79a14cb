/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h - the hw_params records (section 5): one structure of bit sets for all of them, and a
 * row for each record that says which fields it has. Reading and printing a record work from the
 * row; the legality rules behind the fields are params_check.c.
 */
#ifndef QP_FABRIC_PARAMS_H
#define QP_FABRIC_PARAMS_H

#include "fabric/type.h"

typedef enum qp_fabric_params_kind {
    QP_FABRIC_PARAMS_SCALAR_INTEGER,
    QP_FABRIC_PARAMS_SCALAR_INTEGER_COMPARE_MIN_MAX,
    QP_FABRIC_PARAMS_SCALAR_VALUE_SELECT,
    QP_FABRIC_PARAMS_SCALAR_INTEGER_CAST,
    QP_FABRIC_PARAMS_SCALAR_BIT_REINTERPRET,
    QP_FABRIC_PARAMS_SCALAR_FLOAT,
    QP_FABRIC_PARAMS_SCALAR_SPECIAL_MATH,
    QP_FABRIC_PARAMS_SCALAR_FLOAT_COMPARE_MIN_MAX,
    QP_FABRIC_PARAMS_SCALAR_FLOAT_WIDTH_CAST,
    QP_FABRIC_PARAMS_SCALAR_INTEGER_FLOAT_CONVERSION,
    QP_FABRIC_PARAMS_LOOP_STREAM,
    QP_FABRIC_PARAMS_TOKEN_PLANE,
    QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER,
    QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER_COMPARE_MIN_MAX,
    QP_FABRIC_PARAMS_FIXED_VECTOR_VALUE_SELECT,
    QP_FABRIC_PARAMS_FIXED_VECTOR_ADAPTER,
    QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT,
    QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT_COMPARE_MIN_MAX,
    QP_FABRIC_PARAMS_PAYLOAD_CAPACITY,
    QP_FABRIC_PARAMS_ROUTED_TOKEN,
    QP_FABRIC_PARAMS_SLICE_ALIGN_MERGE,
    QP_FABRIC_PARAMS_SHUFFLE,
    QP_FABRIC_PARAMS_COUNT
} qp_fabric_params_kind;

/* FloatBehaviorProfile; each set has bit k - 1 for word k of its list (type.h). */
typedef struct qp_fabric_behavior {
    uint32_t roundings, nans, subnormals, zeros;
    uint32_t required_fast_math;
} qp_fabric_behavior;

/*
 * Every field of every record; the fields that a record does not have are zero. Sets are masks over
 * the ordinals of type.h. A pair set has bit QP_FABRIC_PAIR_BIT(first, second).
 */
typedef struct qp_fabric_params {
    uint32_t integers;     /* integer_widths, operand_widths, element_widths, .. */
    uint32_t formats;      /* formats, float_formats, float_element_formats, .. */
    uint32_t pairs;        /* width_pairs, format_pairs */
    uint32_t index_widths; /* resolved_index_widths */
    uint32_t predicates;   /* integer or float predicates; bit k - 1 for word k */
    uint32_t step_kind;    /* a word's number */
    uint32_t accuracy;     /* a qp_fabric_tier */
    qp_fabric_behavior behavior;
    uint64_t max_payload_bits;
    uint64_t max_fan;
    uint64_t max_container_payload_bits, max_slice_payload_bits, max_dynamic_position_rank;
    uint64_t max_operand_payload_bits, max_result_payload_bits, max_block_payload_bits;
    uint64_t max_source_blocks, max_result_blocks;
} qp_fabric_params;

/* Ordinals are below 5, so a pair set has 25 bits. */
#define QP_FABRIC_PAIR_BIT(first, second) (UINT32_C(1) << ((first)*5 + (second)))

/* What stands in a field. */
typedef enum qp_fabric_field_type {
    QP_FABRIC_FIELD_ORDINARY_WIDTHS, /* list of INT from {8,16,32,64} */
    QP_FABRIC_FIELD_LOGIC_WIDTHS,    /* list of INT from {1,8,16,32,64} */
    QP_FABRIC_FIELD_FAMILY_WIDTHS,   /* logic widths in the Logic families, else ordinary */
    QP_FABRIC_FIELD_INDEX_WIDTHS,    /* list of INT from {32,64} */
    QP_FABRIC_FIELD_FORMATS,
    QP_FABRIC_FIELD_INTEGER_PREDICATES,
    QP_FABRIC_FIELD_FLOAT_PREDICATES,
    QP_FABRIC_FIELD_ROUNDINGS,
    QP_FABRIC_FIELD_NANS,
    QP_FABRIC_FIELD_SUBNORMALS,
    QP_FABRIC_FIELD_ZEROS,
    QP_FABRIC_FIELD_FAST_MATH,
    QP_FABRIC_FIELD_STEP,
    QP_FABRIC_FIELD_TIER,
    QP_FABRIC_FIELD_WIDTH_PAIRS,
    QP_FABRIC_FIELD_FORMAT_PAIRS,
    QP_FABRIC_FIELD_INTEGER_FORMAT_PAIRS,
    QP_FABRIC_FIELD_BEHAVIOR,
    QP_FABRIC_FIELD_NUMBER,  /* one INT from 0 to 2^64 - 1 */
    QP_FABRIC_FIELD_POINTERS /* pointer_formats: absent, or an empty list */
} qp_fabric_field_type;

typedef struct qp_fabric_field_row {
    const char *name;
    qp_fabric_field_type type;
    size_t offset; /* of the uint32_t, or the uint64_t of a number, in its structure */
    bool nonempty; /* a set that needs a member; a number that must be positive */
} qp_fabric_field_row;

#define QP_FABRIC_FIELDS_MAX 7

/* One record of section 5, fields in its order; a NULL name ends them. */
typedef struct qp_fabric_params_row {
    const char *name;
    qp_fabric_field_row fields[QP_FABRIC_FIELDS_MAX + 1];
} qp_fabric_params_row;

extern const qp_fabric_params_row qp_fabric_params_rows[QP_FABRIC_PARAMS_COUNT];
extern const qp_fabric_field_row qp_fabric_behavior_fields[6];

/* What a set, word or pair field is made of. */
typedef struct qp_fabric_field_domain {
    enum {
        QP_FABRIC_VALUE_NUMBERS, /* a set of numbers */
        QP_FABRIC_VALUE_WORDS,   /* a set of words */
        QP_FABRIC_VALUE_WORD,    /* one word */
        QP_FABRIC_VALUE_PAIRS,   /* a set of pairs */
        QP_FABRIC_VALUE_RECORD,  /* the behavior */
        QP_FABRIC_VALUE_NUMBER,
        QP_FABRIC_VALUE_EMPTY
    } form;
    const qp_fabric_vocabulary *words; /* of words; of a pair's members that are words */
    int (*ordinal)(uint64_t number);   /* of numbers, and of a pair's members that are numbers */
    uint32_t (*number)(int ordinal);
    bool first_is_number, second_is_number; /* of pairs */
} qp_fabric_field_domain;

/* By type. FAMILY_WIDTHS is LOGIC_WIDTHS here; the reader narrows it where the family is known. */
extern const qp_fabric_field_domain qp_fabric_field_domains[];

#endif
