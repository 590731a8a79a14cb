/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - a bounded reader of JSON (RFC 8259) over text that the caller keeps, and the writing of
 * JSON strings.
 *
 * The reader is strict: one value, no byte-order mark, no text after it, valid UTF-8, and, unless
 * it is told otherwise, no lone surrogate escape. It never forms a floating-point number and does
 * not recurse. It holds 8 bytes a token and 16 a member of the largest object, in arrays that grow
 * by doubling: as a rule 2 to 4 times the size of the text, and never more than 11 times.
 *
 *     qp_json json;
 *     qp_json_init(&json, allocator);
 *     status = qp_json_parse(&json, text, size, error);
 *     if (status == QP_OK)
 *         status = qp_json_member(qp_json_root(&json), "width", QP_JSON_NUMBER, &v, error);
 *     if (status == QP_OK)
 *         status = qp_json_get_i64(v, &width, error);
 *     qp_json_free(&json);
 *
 * Values are small handles, passed by value. They live until the next parse or qp_json_free, need
 * the text and the qp_json where they were, and own nothing.
 */
#ifndef QP_BASE_JSON_H
#define QP_BASE_JSON_H

#include "base/base.h"

#define QP_JSON_MAX_DEPTH 128 /* arrays and objects within one another */

/* Why a parse failed, for callers whose text has a code for each. */
typedef enum qp_json_fault {
    QP_JSON_FAULT_NONE = 0,
    QP_JSON_FAULT_SYNTAX,    /* not RFC 8259 */
    QP_JSON_FAULT_ENCODING,  /* not UTF-8 */
    QP_JSON_FAULT_SURROGATE, /* \ud800 to \udfff that is not half of a pair */
    QP_JSON_FAULT_DUPLICATE, /* one object has two members of one name, compared when decoded */
    QP_JSON_FAULT_DEPTH,
    QP_JSON_FAULT_SIZE, /* 4 GiB or more */
    QP_JSON_FAULT_MEMORY
} qp_json_fault;

/* A number or a string: where it starts and its bytes (for a string those between the quotes). An
 * array or an object: where it starts and the index of the token behind its last one. The kind is
 * told by the first byte of the text. A member's name is a token before its value's tokens. */
typedef struct qp_json_token {
    uint32_t offset;
    uint32_t extent;
} qp_json_token;

typedef struct qp_json {
    /* May be set between qp_json_init and qp_json_parse, and stay over several parses. */
    uint64_t first_line;   /* the number of the text's first line: 1, or its place in JSON Lines */
    uint64_t first_offset; /* the offset of the text's first byte in its file */
    bool allow_duplicates; /* of two members of one name the last counts, as in most readers */
    /* \ud800 to \udfff that is not half of a pair: it decodes to the three bytes that UTF-8 would
     * have for it, which are no UTF-8; qp_json_is_utf8 tells. */
    bool allow_lone_surrogates;

    qp_json_fault fault; /* of the last parse */

    /* private */
    qp_allocator allocator;
    const uint8_t *text;
    size_t size;
    qp_json_token *tokens;
    size_t token_count;
    size_t token_capacity;
    uint64_t *names; /* room to sort an object's names in */
    size_t name_capacity;
    bool has_escapes; /* whether any string has one */
} qp_json;

typedef enum qp_json_kind {
    QP_JSON_ABSENT = 0, /* no value: what a failed parse or search leaves */
    QP_JSON_NULL,
    QP_JSON_BOOLEAN,
    QP_JSON_NUMBER,
    QP_JSON_STRING,
    QP_JSON_ARRAY,
    QP_JSON_OBJECT
} qp_json_kind;

typedef struct qp_json_value {
    const qp_json *json;
    uint32_t index;
} qp_json_value;

#define QP_JSON_NO_VALUE ((qp_json_value){NULL, 0})

/* ---- a document --------------------------------------------------------------------------- */

void qp_json_init(qp_json *json, const qp_allocator *allocator);
void qp_json_free(qp_json *json);

/* Reads `text`, which must stay as it is while values are used. A qp_json may parse again and
 * again: it keeps its memory, and earlier values end. Errors: QP_MALFORMED with line, column
 * (counted in characters from 1) and error->offset; QP_TOO_LARGE for 4 GiB or more; QP_NO_MEMORY.
 * After an error qp_json_root gives QP_JSON_NO_VALUE, and json->fault says which kind it was. */
qp_status qp_json_parse(qp_json *json, const void *text, size_t size, qp_error *error);

qp_json_value qp_json_root(const qp_json *json);

/* ---- any value ---------------------------------------------------------------------------- */

qp_json_kind qp_json_kind_of(qp_json_value value);
const char *qp_json_kind_name(qp_json_kind kind); /* "a number", "an object", ... */
bool qp_json_is_null(qp_json_value value);

/* The text of a value as it stands, with the quotes or brackets; NULL and 0 without a value. It
 * walks over an array's or object's text. */
void qp_json_source(qp_json_value value, const char **text, size_t *length);

/* The line and the column, from 1, and the offset in the file of a value. */
typedef struct qp_json_place {
    uint64_t line;
    uint64_t column;
    uint64_t offset;
} qp_json_place;
qp_json_place qp_json_place_of(qp_json_value value);

/* QP_MALFORMED, the message "line 3, column 7: " and the formatted text, and the offset. */
qp_status qp_json_fail(qp_json_value value, qp_error *error, const char *format, ...)
    QP_PRINTF(3, 4);

/* The same with the text's own name of the check that failed, in static storage. */
qp_status qp_json_fail_check(qp_json_value value, qp_error *error, const char *check,
                             const char *format, ...) QP_PRINTF(4, 5);

/* QP_OK when the value is of that kind, else a refusal that names both kinds. */
qp_status qp_json_expect(qp_json_value value, qp_json_kind kind, qp_error *error);

/* ---- arrays and objects ------------------------------------------------------------------- */

/* A walk over an array or an object takes time linear in its tokens. Over any other value it ends
 * at once. */
typedef struct qp_json_iterator {
    const qp_json *json;
    uint32_t next;
    uint32_t end;
} qp_json_iterator;

qp_json_iterator qp_json_iterate(qp_json_value container);
/* The next element; false at the end. */
bool qp_json_next(qp_json_iterator *iterator, qp_json_value *element);
/* The next member of an object; false at the end. `name` is a string. */
bool qp_json_next_member(qp_json_iterator *iterator, qp_json_value *name, qp_json_value *value);

/* How many elements or members; 0 for other kinds. It walks: call it once. */
size_t qp_json_count(qp_json_value container);

/* The member of that name (ASCII or UTF-8) of an object; false, and QP_JSON_NO_VALUE, without one
 * or when `object` is no object. It walks: to take every member of a big object, iterate. */
bool qp_json_find(qp_json_value object, const char *name, qp_json_value *value);

/* The same for a member that must be there and be of `kind` (QP_JSON_ABSENT for any kind). */
qp_status qp_json_member(qp_json_value object, const char *name, qp_json_kind kind,
                         qp_json_value *value, qp_error *error);

/* ---- numbers and booleans ----------------------------------------------------------------- */

/* A number without fraction and exponent, of any size. -0 is one: it is 0. */
bool qp_json_is_integer(qp_json_value value);

/* The exact integer; QP_MALFORMED for another kind, a fraction, an exponent (1.0 and 1e3 are no
 * integers), or an integer that does not fit. *result is unchanged on failure. */
qp_status qp_json_get_i64(qp_json_value value, int64_t *result, qp_error *error);
qp_status qp_json_get_u64(qp_json_value value, uint64_t *result, qp_error *error);
qp_status qp_json_get_bool(qp_json_value value, bool *result, qp_error *error);

/* An array of exactly `count` integers. On failure the results up to the failing one are set. */
qp_status qp_json_get_i64_array(qp_json_value value, int64_t *results, size_t count,
                                qp_error *error);

/* The bytes of a number as they stand, for numbers that the above do not read. */
qp_status qp_json_number_text(qp_json_value value, const char **text, size_t *length,
                              qp_error *error);

/* Integers written as strings by integer-operators.md, section 8.5: decimal digits, no leading
 * zero, '-' only before a nonzero value, zero as "0", no escape. The first accepts any length and
 * gives the digits and sign in place (not NUL-terminated). */
qp_status qp_json_decimal_text(qp_json_value value, const char **text, size_t *length,
                               qp_error *error);
qp_status qp_json_decimal_i64(qp_json_value value, int64_t *result, qp_error *error);
qp_status qp_json_decimal_u64(qp_json_value value, uint64_t *result, qp_error *error);

/* ---- strings ------------------------------------------------------------------------------ */

/* Whether a value is a string that decodes to exactly the bytes of `text`. */
bool qp_json_equals(qp_json_value value, const char *text);

/* True for a string without escapes: its bytes in place, not NUL-terminated. */
bool qp_json_string_view(qp_json_value value, const char **text, size_t *length);

/* Whether a string's decoded bytes are UTF-8: false only with allow_lone_surrogates, and for values
 * that are no strings. */
bool qp_json_is_utf8(qp_json_value value);

/* Appends the decoded bytes, UTF-8; a value that is no string appends nothing. */
void qp_json_append_string(qp_json_value value, qp_buffer *buffer);

/* Copies the decoded bytes and a NUL into `text`, which holds `size` bytes. QP_MALFORMED when the
 * value is no string, does not fit, or holds U+0000, which a C string cannot; `text` is then "". */
qp_status qp_json_copy_string(qp_json_value value, char *text, size_t size, qp_error *error);

/* Appends a JSON string with its quotes. `"`, `\` and control characters are escaped, other UTF-8
 * stands as it is, and a byte that is not UTF-8 becomes \ufffd: the result is always JSON. */
void qp_buffer_json_string(qp_buffer *buffer, const char *text, size_t size);

#endif
