/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_form.h - a graph's JSON form (docs/graph-json.md): the words for the values that the bytes
 * hold as small numbers, and what the parts of its assembly share.
 */
#ifndef QP_GRAPH_JSON_FORM_H
#define QP_GRAPH_JSON_FORM_H

#include "base/json.h"
#include "graph/writer.h"

/* ---- words -------------------------------------------------------------------------------- */

/* The words of one enumeration, each at its value. */
typedef struct qp_words {
    const char *const *words;
    unsigned count;
} qp_words;

extern const qp_words qp_words_round;  /* floor, half_up, half_even */
extern const qp_words qp_words_bias;   /* none, pre, post */
extern const qp_words qp_words_kind;   /* absent, one, per_channel */
extern const qp_words qp_words_policy; /* derived, clamp, check */
extern const qp_words qp_words_input;  /* data, state */

/* ---- assembly ----------------------------------------------------------------------------- */

typedef struct qp_assembly {
    qp_graph_writer writer;
    const qp_array_source *arrays; /* NULL where none may be named */
    uint64_t n_tensors;
    uint32_t in_channels; /* of the operator at hand */
    void *params;         /* its own structure, filled so far, from which dimensions follow */
    qp_buffer *out;       /* its parameters' bytes */
    qp_error *error;
} qp_assembly;

/* Appends the parameters of an operator, the members of `object`. */
qp_status qp_assemble_fields(const qp_assembly *a, const qp_operator *op, qp_json_value object);

/* ---- strict values: each refuses with line and column -------------------------------------- */

/* The refusal `cause` of another part, with the place of a value before its message. */
qp_status qp_form_fail(qp_json_value value, const qp_error *cause, qp_error *error);

typedef struct qp_names {
    const char *names[12];
    unsigned count;
} qp_names;

/* An object of no other members than these. */
qp_status qp_form_members(const qp_assembly *a, qp_json_value object, const qp_names *known);
/* The refusal of a member by its name. */
qp_status qp_form_unknown(const qp_assembly *a, qp_json_value name);

qp_status qp_form_member(const qp_assembly *a, qp_json_value object, const char *name,
                         qp_json_value *value);

typedef struct qp_unsigned_range {
    uint64_t lo, hi;
} qp_unsigned_range;

/* Integers within a range; a u32 of at least `lo`. */
qp_status qp_form_signed(const qp_assembly *a, qp_json_value value, qp_range range,
                         int64_t *result);
qp_status qp_form_unsigned(const qp_assembly *a, qp_json_value value, qp_unsigned_range range,
                           uint64_t *result);
qp_status qp_form_u32(const qp_assembly *a, qp_json_value value, uint32_t lo, uint32_t *result);
/* -127 to 127, or null for none. */
qp_status qp_form_exponent(const qp_assembly *a, qp_json_value value, int8_t *result);
qp_status qp_form_word(const qp_assembly *a, qp_json_value value, const qp_words *words,
                       unsigned *result);

/* The same for members of an object. */
qp_status qp_form_member_u32(const qp_assembly *a, qp_json_value object, const char *name,
                             uint32_t lo, uint32_t *result);
qp_status qp_form_member_i64(const qp_assembly *a, qp_json_value object, const char *name,
                             int64_t *result);
qp_status qp_form_member_word(const qp_assembly *a, qp_json_value object, const char *name,
                              const qp_words *words, unsigned *result);

#endif
