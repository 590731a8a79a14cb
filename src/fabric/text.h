/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - the text form of fabrics, graphs and maps (section 12): the parser's parts, and the
 * canonical print with its identities (section 11).
 */
#ifndef QP_FABRIC_TEXT_H
#define QP_FABRIC_TEXT_H

#include "fabric/lexer.h"
#include "fabric/names.h"

/* A growing array that ends in the model's arena. */
typedef struct qp_fabric_list {
    void *items;
    size_t count, capacity, item_size;
} qp_fabric_list;

/*
 * What the parts of the parser share. `token` is the next token, not yet taken. Functions return
 * false once something is wrong; `status` and `*error` then say what.
 */
typedef struct qp_fabric_parser {
    qp_fabric_model *model;
    qp_allocator allocator;
    qp_fabric_lexer lexer;
    qp_fabric_token token;
    qp_fabric_scope_id next_scope;
    qp_status status;
    qp_fabric_error *error;
    /* for numbers of any width: QP_FABRIC_PAYLOAD_BITS_MAX bits, made when first needed */
    uint64_t *scratch;
} qp_fabric_parser;

/* ---- parser.c: tokens, names and lists ---------------------------------------------------- */

/* Each fails with a class at a place; all return false. */
bool qp_fabric_parse_fail(qp_fabric_parser *p, qp_fabric_place place, const char *format, ...)
    QP_PRINTF(3, 4);
bool qp_fabric_parse_unsupported(qp_fabric_parser *p, qp_fabric_place place, const char *format,
                                 ...) QP_PRINTF(3, 4);
bool qp_fabric_parse_no_memory(qp_fabric_parser *p);

/* Takes the token. */
bool qp_fabric_take(qp_fabric_parser *p);
/* Takes a token of a kind and gives it in *token (which may be NULL); `what` names it in the
 * message: "a name", "'{'". */
bool qp_fabric_take_kind(qp_fabric_parser *p, int kind, const char *what, qp_fabric_token *token);
/* True where the next token is the mark or the word; it is not taken. */
bool qp_fabric_next_is(const qp_fabric_parser *p, int kind);
bool qp_fabric_next_is_word(const qp_fabric_parser *p, const char *word);
/* Takes a keyword. */
bool qp_fabric_take_word(qp_fabric_parser *p, const char *word);
/* Takes a comma, or the closing mark with *more false. */
bool qp_fabric_take_comma(qp_fabric_parser *p, int close, bool *more);
/* An INT of at most 32 bits. */
bool qp_fabric_take_u32(qp_fabric_parser *p, const char *what, uint32_t *value);
/* Skips '{' to its '}', in *start where it begins. */
bool qp_fabric_skip_braces(qp_fabric_parser *p, qp_fabric_lexer *start);
/* Goes on at `lexer`, whose next token becomes `token`. */
bool qp_fabric_resume(qp_fabric_parser *p, const qp_fabric_lexer *lexer);

/* An ID as a symbol, with its place. `what` names it: "a node's name". */
bool qp_fabric_take_name(qp_fabric_parser *p, const char *what, qp_fabric_symbol *symbol,
                         qp_fabric_place *place);
/* Gives a symbol its meaning in a scope; `what` is for "... is already a name here". */
bool qp_fabric_define(qp_fabric_parser *p, qp_fabric_scope_id scope, qp_fabric_symbol symbol,
                      uint32_t number, qp_fabric_place place);
/* A new scope's number; `count` of them in a row. */
bool qp_fabric_new_scopes(qp_fabric_parser *p, uint32_t count, qp_fabric_scope_id *scope);

qp_fabric_list qp_fabric_list_of(size_t item_size);
bool qp_fabric_list_add(qp_fabric_parser *p, qp_fabric_list *list, const void *item);
/* Moves the items into the arena and empties the list; *count receives how many. */
bool qp_fabric_list_end(qp_fabric_parser *p, qp_fabric_list *list, const void **items,
                        uint32_t *count);
void qp_fabric_list_free(qp_fabric_parser *p, qp_fabric_list *list);

/* Room for one number of any width that a type allows; NULL without memory. */
uint64_t *qp_fabric_scratch(qp_fabric_parser *p);

/* ---- the parts ---------------------------------------------------------------------------- */

/* parse_record.c: a params record at '{', for a family. */
bool qp_fabric_parse_params(qp_fabric_parser *p, const qp_fabric_family *family,
                            qp_fabric_params *params);
/* parse_attributes.c: an actor's record at '{', or no record (`present` false). The signature has
 * the types; the semantics are filled. */
bool qp_fabric_parse_attributes(qp_fabric_parser *p, const qp_fabric_signature *signature,
                                bool present, qp_fabric_place place,
                                qp_fabric_semantics *semantics);
/* parse_fabric.c, parse_graph.c, parse_map.c: each behind its keyword. */
bool qp_fabric_parse_fabric(qp_fabric_parser *p, qp_fabric_fabric *fabric);
bool qp_fabric_parse_graph(qp_fabric_parser *p, qp_fabric_graph *graph);
bool qp_fabric_parse_map(qp_fabric_parser *p, qp_fabric_map_item *map);

/* ---- canonical text (section 11) ---------------------------------------------------------- */

/* print.c: the canonical bytes of one item, appended. */
void qp_fabric_print_fabric(qp_buffer *buffer, const qp_fabric_model *model, uint32_t index);
void qp_fabric_print_graph(qp_buffer *buffer, const qp_fabric_model *model, uint32_t index);
void qp_fabric_print_map(qp_buffer *buffer, const qp_fabric_model *model, uint32_t index);
/* One params record, "{ .. }". */
void qp_fabric_print_params(qp_buffer *buffer, const qp_fabric_family *family,
                            const qp_fabric_params *params);
/* One actor's attributes, " { .. }" with a blank before, or nothing where there are none. */
void qp_fabric_print_attributes(qp_buffer *buffer, const qp_fabric_signature *signature);

/* ---- identities (section 11) -------------------------------------------------------------- */

typedef struct qp_fabric_artifact {
    const char *schema; /* "loom.fabric" */
    uint32_t major, minor;
} qp_fabric_artifact;

extern const qp_fabric_artifact qp_fabric_artifact_fabric;
extern const qp_fabric_artifact qp_fabric_artifact_graph;
extern const qp_fabric_artifact qp_fabric_artifact_map;
extern const qp_fabric_artifact qp_fabric_artifact_abi;
extern const qp_fabric_artifact qp_fabric_artifact_image;

/* The digest over an artifact's canonical bytes. */
void qp_fabric_digest(const qp_fabric_artifact *artifact, const void *bytes, size_t size,
                      uint8_t digest[QP_SHA256_SIZE]);
/* The identity of an item of the model, in hex; false without memory. */
bool qp_fabric_item_identity(const qp_fabric_model *model, qp_fabric_item item, uint32_t index,
                             char text[QP_SHA256_HEX_SIZE]);

#endif
