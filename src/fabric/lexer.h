/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexer.h - the tokens of the text form (section 12), and numbers of any size.
 */
#ifndef QP_FABRIC_LEXER_H
#define QP_FABRIC_LEXER_H

#include "fabric/fault.h"

/* A mark is its own first character, '->' is QP_FABRIC_TOKEN_ARROW. */
enum {
    QP_FABRIC_TOKEN_END = 0,
    QP_FABRIC_TOKEN_ARROW = '>',
    QP_FABRIC_TOKEN_ID = 256,
    QP_FABRIC_TOKEN_SCHEMA,
    QP_FABRIC_TOKEN_VAL, /* the text is that behind '%' */
    QP_FABRIC_TOKEN_PORT,
    QP_FABRIC_TOKEN_INT,
    QP_FABRIC_TOKEN_TAGGED,
    QP_FABRIC_TOKEN_TYPE /* with '<'; a type without it is an ID */
};

typedef struct qp_fabric_token {
    int kind;
    const char *text;
    size_t size;
    qp_fabric_place place;
} qp_fabric_token;

/* Where the lexer stands; a copy of it is a place to come back to. */
typedef struct qp_fabric_lexer {
    const char *file;
    const char *at, *end;
    const char *line_start;
    uint32_t line;
} qp_fabric_lexer;

qp_fabric_lexer qp_fabric_lexer_over(const char *file, const void *bytes, size_t size);

/* The next token, the longest there is. Invalid for a byte that starts none, and for a token that
 * runs into a letter, digit, '_', '.' or '<'. */
qp_status qp_fabric_next_token(qp_fabric_lexer *lexer, qp_fabric_token *token,
                               qp_fabric_error *error);

/* ---- numbers ------------------------------------------------------------------------------ */

/* An INT, or the number of a TAGGED, as an unsigned number; false where it is negative or passes
 * 64 bits. */
bool qp_fabric_token_u64(const qp_fabric_token *token, uint64_t *value);
/* The same up to a maximum of 32 bits. */
bool qp_fabric_token_u32(const qp_fabric_token *token, uint32_t *value);
/* An INT as a signed number of 64 bits; false where it does not fit. */
bool qp_fabric_token_i64(const qp_fabric_token *token, int64_t *value);

/*
 * An INT as `width` bits of two's complement, into bits [first, first + width) of `words`, which
 * are zero before. `negatives` allows -2^(width-1) and up; the largest is 2^width - 1 in any case.
 * `scratch` holds (width + 63) / 64 words. false where it does not fit.
 */
typedef struct qp_fabric_bits {
    uint64_t *words;
    uint64_t first;
    uint32_t width;
} qp_fabric_bits;
bool qp_fabric_token_bits(const qp_fabric_token *token, bool negatives, qp_fabric_bits target,
                          uint64_t *scratch);

/* Appends bits [first, first + width) as an unsigned decimal number; `scratch` as above. */
void qp_fabric_put_decimal(qp_buffer *buffer, qp_fabric_bits source, uint64_t *scratch);

#endif
