/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_string.h - what json.c (the reader) and json_value.c (the values) share about the text
 * between the quotes of a JSON string.
 */
#ifndef QP_BASE_JSON_STRING_H
#define QP_BASE_JSON_STRING_H

#include "base/base.h"

/* The length, 1 to 4, of the UTF-8 sequence (RFC 3629) at `p`, of which `left` bytes exist; 0 when
 * there is none. */
unsigned qp_utf8_length(const uint8_t *p, size_t left);

typedef enum qp_json_escape_kind {
    QP_JSON_ESCAPE_WRONG = 0, /* no escape of RFC 8259 */
    QP_JSON_ESCAPE_LONE,      /* half of a surrogate pair */
    QP_JSON_ESCAPE_RIGHT
} qp_json_escape_kind;

/* The escape at `p`, which points to its backslash: the bytes it takes (a surrogate pair is one
 * escape of 12 bytes) and the code point it stands for. */
typedef struct qp_json_escape {
    qp_json_escape_kind kind;
    unsigned length;
    uint32_t code_point;
} qp_json_escape;
qp_json_escape qp_json_escape_at(const uint8_t *p, size_t left);

/* The decoded bytes of a string that the reader has accepted, one after the other. */
typedef struct qp_json_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t pending[4]; /* of an escape, the next one last */
    unsigned pending_count;
} qp_json_cursor;

static inline qp_json_cursor qp_json_cursor_at(const uint8_t *text, size_t size)
{
    return (qp_json_cursor){text, text + size, {0}, 0};
}

/* The next decoded byte, or -1 at the end. */
int qp_json_cursor_next(qp_json_cursor *cursor);

/* The order of two strings by their decoded bytes: negative, 0 or positive. */
int qp_json_compare(qp_json_cursor a, qp_json_cursor b);

#endif
