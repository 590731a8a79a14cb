/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type.h - the types of actors, the closed domains of widths and formats, the words of the texts
 * and their atoms, and the canonical bytes of all of them (section 1).
 */
#ifndef QP_FABRIC_TYPE_H
#define QP_FABRIC_TYPE_H

#include "fabric/codec.h"
#include "fabric/fault.h"

/* ---- types -------------------------------------------------------------------------------- */

/* The tags of section 1.2; a vector is its element's kind with a rank above 0. */
typedef enum qp_fabric_kind {
    QP_FABRIC_NONE = 1,
    QP_FABRIC_INDEX = 2,
    QP_FABRIC_INTEGER = 3,
    QP_FABRIC_FLOAT = 4,
    QP_FABRIC_POINTER = 12
} qp_fabric_kind;

enum {
    QP_FABRIC_TAG_VECTOR = 5,
    QP_FABRIC_SIGNLESS = 1,
    /* float formats that actors have, by their tags; the sets of section 5 use the ordinals below
     */
    QP_FABRIC_TAG_BF16 = 12,
    QP_FABRIC_TAG_F16 = 13,
    QP_FABRIC_TAG_F32 = 15,
    QP_FABRIC_TAG_F64 = 16
};

/*
 * A type by value. `dims` belongs to whoever made the type (an arena, as a rule) and is NULL for
 * scalars. A zeroed structure is no type.
 */
typedef struct qp_fabric_type {
    qp_fabric_kind kind; /* of the element where rank > 0 */
    uint32_t width;      /* of an integer; of a float its representation bits */
    uint32_t code;       /* integer: signedness; float: format tag; pointer: address space */
    uint32_t rank;       /* 0 for a scalar */
    const uint64_t *dims;
} qp_fabric_type;

/* No payload is wider (a decision of ours): 128 KiB a token bounds what a hostile type can ask. */
#define QP_FABRIC_PAYLOAD_BITS_MAX (UINT32_C(1) << 20)

/* Scalar types. */
qp_fabric_type qp_fabric_none_type(void);
qp_fabric_type qp_fabric_index_type(void);
qp_fabric_type qp_fabric_integer_type(uint32_t width);
qp_fabric_type qp_fabric_float_type(uint32_t tag);
/* A vector's element as a scalar; a scalar itself. */
qp_fabric_type qp_fabric_element_type(qp_fabric_type type);

bool qp_fabric_same_type(const qp_fabric_type *a, const qp_fabric_type *b);
bool qp_fabric_same_shape(const qp_fabric_type *a, const qp_fabric_type *b);

/* Replaces index by an integer of the graph's width (section 6, point 7); 0 leaves it. */
qp_fabric_type qp_fabric_resolved(qp_fabric_type type, uint32_t index_width);

/* Lanes (1 for a scalar), bits of one lane, and bits of the payload. false where the number passes
 * 64 bits. `index_width` may be 0 where no type is an index; an index then has 0 bits. */
bool qp_fabric_lanes(const qp_fabric_type *type, uint64_t *lanes);
uint32_t qp_fabric_element_bits(const qp_fabric_type *type, uint32_t index_width);
bool qp_fabric_payload_bits(const qp_fabric_type *type, uint32_t index_width, uint64_t *bits);

/* The text of a type (section 1.1), appended. Types of other signedness or format than section
 * 1.1's have none, and print as '?'. */
void qp_fabric_type_text(qp_buffer *buffer, const qp_fabric_type *type);

/*
 * Reads a type's text of `size` characters. `dims` come from `arena`. Invalid for what is no type,
 * Unsupported for ptr and for payloads over QP_FABRIC_PAYLOAD_BITS_MAX (with an index of 64 bits).
 */
qp_status qp_fabric_type_parse(const char *text, size_t size, qp_arena *arena,
                               qp_fabric_place place, qp_fabric_type *type, qp_fabric_error *error);

/* One term (section 1.2) without the domain; encodeCanonicalType with it. */
void qp_fabric_put_type_term(qp_buffer *buffer, const qp_fabric_type *type);
void qp_fabric_put_type(qp_buffer *buffer, const qp_fabric_type *type);
/* Reads encodeCanonicalType bytes, all of them; false for anything noncanonical or reserved, or
 * without memory for the dims. */
bool qp_fabric_get_type(const void *bytes, size_t size, qp_arena *arena, qp_fabric_type *type);

/* ---- closed domains ----------------------------------------------------------------------- */

/* Sets are bit masks over ordinals, so that they are unordered, duplicate-free and print ascending.
 * Integer widths: the logic set {1,8,16,32,64}. */
enum { QP_FABRIC_WIDTHS = 5, QP_FABRIC_FORMATS = 4, QP_FABRIC_INDEX_WIDTHS = 2 };
#define QP_FABRIC_LOGIC_WIDTHS 0x1fu
#define QP_FABRIC_ORDINARY_WIDTHS 0x1eu

/* The ordinal of a width in its set, -1 where it is not in it; and back. */
int qp_fabric_width_ordinal(uint64_t width);
/* The same for the ordinary widths: -1 for 1 too. */
int qp_fabric_ordinary_ordinal(uint64_t width);
uint32_t qp_fabric_width_of(int ordinal);
int qp_fabric_index_ordinal(uint64_t width); /* 32: 0, 64: 1 */
uint32_t qp_fabric_index_of(int ordinal);

/* A format of section 1.1 in enumeration order f16, bf16, f32, f64. */
typedef struct qp_fabric_format {
    const char *name;
    uint32_t tag; /* of section 1.2 */
    uint32_t bits;
    uint32_t precision; /* bits of the significand, the hidden one included */
    int32_t emin, emax; /* exponents of the smallest normal and the largest finite number */
} qp_fabric_format;

extern const qp_fabric_format qp_fabric_formats[QP_FABRIC_FORMATS];
/* The ordinal of a format tag, -1 for one that actors do not have. */
int qp_fabric_format_ordinal(uint32_t tag);

/* ---- words and atoms (section 1.3) -------------------------------------------------------- */

typedef enum qp_fabric_integer_predicate {
    QP_FABRIC_EQ = 1,
    QP_FABRIC_NE,
    QP_FABRIC_SLT,
    QP_FABRIC_SLE,
    QP_FABRIC_SGT,
    QP_FABRIC_SGE,
    QP_FABRIC_ULT,
    QP_FABRIC_ULE,
    QP_FABRIC_UGT,
    QP_FABRIC_UGE
} qp_fabric_integer_predicate;

typedef enum qp_fabric_float_predicate {
    QP_FABRIC_FALSE = 1,
    QP_FABRIC_OEQ,
    QP_FABRIC_OGT,
    QP_FABRIC_OGE,
    QP_FABRIC_OLT,
    QP_FABRIC_OLE,
    QP_FABRIC_ONE,
    QP_FABRIC_ORD,
    QP_FABRIC_UEQ,
    QP_FABRIC_FUGT, /* the words of both lists that are spelled alike have an F here */
    QP_FABRIC_FUGE,
    QP_FABRIC_FULT,
    QP_FABRIC_FULE,
    QP_FABRIC_UNE,
    QP_FABRIC_UNO,
    QP_FABRIC_TRUE
} qp_fabric_float_predicate;

typedef enum qp_fabric_rounding {
    QP_FABRIC_TO_NEAREST_EVEN = 1,
    QP_FABRIC_DOWNWARD,
    QP_FABRIC_UPWARD,
    QP_FABRIC_TOWARD_ZERO,
    QP_FABRIC_TO_NEAREST_AWAY
} qp_fabric_rounding;

/* Ranks, strong to weak; the tag is QP_FABRIC_TIER_TAG + rank. */
typedef enum qp_fabric_tier {
    QP_FABRIC_CORRECTLY_ROUNDED = 1,
    QP_FABRIC_MAX_1_ULP,
    QP_FABRIC_MAX_2_ULP,
    QP_FABRIC_MAX_4_ULP
} qp_fabric_tier;
#define QP_FABRIC_TIER_TAG UINT32_C(0x4c534100)

typedef enum qp_fabric_step {
    QP_FABRIC_STEP_ADD = 1,
    QP_FABRIC_STEP_SUB,
    QP_FABRIC_STEP_MUL,
    QP_FABRIC_STEP_SDIV,
    QP_FABRIC_STEP_UDIV,
    QP_FABRIC_STEP_SHL,
    QP_FABRIC_STEP_ASHR,
    QP_FABRIC_STEP_LSHR
} qp_fabric_step;

enum { /* flags of the fast-math mask */
       QP_FABRIC_REASSOC = 0x01,
       QP_FABRIC_NNAN = 0x02,
       QP_FABRIC_NINF = 0x04,
       QP_FABRIC_NSZ = 0x08,
       QP_FABRIC_ARCP = 0x10,
       QP_FABRIC_CONTRACT = 0x20,
       QP_FABRIC_AFN = 0x40,
       QP_FABRIC_NSW = 1, /* flags of the overflow mask */
       QP_FABRIC_NUW = 2
};

enum { /* bits of the profile's sets (section 5) */
       QP_FABRIC_NAN_IEEE = 1,
       QP_FABRIC_NAN_NUMBER_PREFERRED = 2,
       QP_FABRIC_SUBNORMAL_PRESERVE = 1,
       QP_FABRIC_ZERO_PRESERVE = 1,
       QP_FABRIC_ZERO_IGNORE_SIGN = 2
};

/*
 * A list of words, counted from 1 (word k is tag k, and bit k - 1 of a set or a mask). `domain` is
 * the atom's D where words of the list have canonical bytes, and `tag_base` is added to the word's
 * number in them.
 */
typedef struct qp_fabric_vocabulary {
    const char *what; /* "an integer predicate" */
    const char *domain;
    uint32_t tag_base;
    uint32_t count;
    const char *const *words;
} qp_fabric_vocabulary;

extern const qp_fabric_vocabulary qp_fabric_integer_predicates;
extern const qp_fabric_vocabulary qp_fabric_float_predicates;
extern const qp_fabric_vocabulary qp_fabric_roundings;
extern const qp_fabric_vocabulary qp_fabric_tiers;
extern const qp_fabric_vocabulary qp_fabric_steps;
extern const qp_fabric_vocabulary qp_fabric_fast_math;
extern const qp_fabric_vocabulary qp_fabric_overflow;
extern const qp_fabric_vocabulary qp_fabric_nan_behaviors;
extern const qp_fabric_vocabulary qp_fabric_subnormal_behaviors;
extern const qp_fabric_vocabulary qp_fabric_zero_behaviors;
extern const qp_fabric_vocabulary qp_fabric_format_words;

/* The number of a word, 0 where the list has no such word; and the word of a number. */
uint32_t qp_fabric_word_number(const qp_fabric_vocabulary *list, const char *word, size_t size);
const char *qp_fabric_word(const qp_fabric_vocabulary *list, uint32_t number);

/* dom(D) + u32 tag. Reading gives the word's number; 0 for anything that is not one whole atom. */
void qp_fabric_put_atom(qp_buffer *buffer, const qp_fabric_vocabulary *list, uint32_t number);
uint32_t qp_fabric_get_atom(const qp_fabric_vocabulary *list, const void *bytes, size_t size);

#endif
