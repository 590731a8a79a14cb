/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser.c - what the parts of the parser share: taking tokens, names, growing lists.
 */
#include "fabric/text.h"

#include <stdarg.h>
#include <stdio.h>

static bool fail(qp_fabric_parser *p, qp_fabric_fault fault, qp_fabric_place place,
                 const char *format, va_list arguments)
{
    char message[sizeof p->error->base.message];

    if (p->status != QP_OK)
        return false;
    if (vsnprintf(message, sizeof message, format, arguments) < 0)
        message[0] = '\0';
    p->status = qp_fabric_fail(p->error, fault, place, "%s", message);
    return false;
}

bool qp_fabric_parse_fail(qp_fabric_parser *p, qp_fabric_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(p, QP_FABRIC_INVALID, place, format, arguments);
    va_end(arguments);
    return false;
}

bool qp_fabric_parse_unsupported(qp_fabric_parser *p, qp_fabric_place place, const char *format,
                                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(p, QP_FABRIC_UNSUPPORTED, place, format, arguments);
    va_end(arguments);
    return false;
}

bool qp_fabric_parse_no_memory(qp_fabric_parser *p)
{
    if (p->status == QP_OK)
        p->status = qp_fabric_fail_memory(p->error, "a model");
    return false;
}

/* ---- tokens ------------------------------------------------------------------------------- */

bool qp_fabric_take(qp_fabric_parser *p)
{
    if (p->status == QP_OK)
        p->status = qp_fabric_next_token(&p->lexer, &p->token, p->error);
    return p->status == QP_OK;
}

bool qp_fabric_resume(qp_fabric_parser *p, const qp_fabric_lexer *lexer)
{
    p->lexer = *lexer;
    return qp_fabric_take(p);
}

bool qp_fabric_next_is(const qp_fabric_parser *p, int kind)
{
    return p->token.kind == kind;
}

bool qp_fabric_next_is_word(const qp_fabric_parser *p, const char *word)
{
    return p->token.kind == QP_FABRIC_TOKEN_ID && p->token.size == strlen(word) &&
           memcmp(p->token.text, word, p->token.size) == 0;
}

/* "expected 'x', not 'y'". */
static bool unexpected(qp_fabric_parser *p, const char *what)
{
    const qp_fabric_token *token = &p->token;
    int shown = (int)(token->size < 40 ? token->size : 40);

    if (token->kind == QP_FABRIC_TOKEN_END)
        return qp_fabric_parse_fail(p, token->place, "expected %s, but the file ends", what);
    return qp_fabric_parse_fail(p, token->place, "expected %s, not '%s%.*s'", what,
                                token->kind == QP_FABRIC_TOKEN_VAL ? "%" : "", shown, token->text);
}

bool qp_fabric_take_kind(qp_fabric_parser *p, int kind, const char *what, qp_fabric_token *token)
{
    if (token != NULL)
        *token = p->token;
    if (p->status != QP_OK)
        return false;
    return p->token.kind == kind ? qp_fabric_take(p) : unexpected(p, what);
}

bool qp_fabric_take_word(qp_fabric_parser *p, const char *word)
{
    char what[32];

    if (p->status != QP_OK)
        return false;
    if (qp_fabric_next_is_word(p, word))
        return qp_fabric_take(p);
    snprintf(what, sizeof what, "'%s'", word);
    return unexpected(p, what);
}

bool qp_fabric_take_comma(qp_fabric_parser *p, int close, bool *more)
{
    char what[16];

    *more = qp_fabric_next_is(p, ',');
    if (*more || qp_fabric_next_is(p, close))
        return qp_fabric_take(p);
    snprintf(what, sizeof what, "',' or '%c'", close);
    return unexpected(p, what);
}

bool qp_fabric_take_u32(qp_fabric_parser *p, const char *what, uint32_t *value)
{
    qp_fabric_token token;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_INT, what, &token))
        return false;
    if (!qp_fabric_token_u32(&token, value))
        return qp_fabric_parse_fail(p, token.place, "%s does not fit 32 bits without a sign", what);
    return true;
}

bool qp_fabric_skip_braces(qp_fabric_parser *p, qp_fabric_lexer *start)
{
    size_t depth = 0;

    *start = p->lexer;
    start->at = p->token.text; /* before the '{' itself, which is on the lexer's line */
    if (!qp_fabric_next_is(p, '{'))
        return unexpected(p, "'{'");
    do {
        if (qp_fabric_next_is(p, QP_FABRIC_TOKEN_END))
            return unexpected(p, "'}'");
        if (qp_fabric_next_is(p, '{'))
            depth++;
        else if (qp_fabric_next_is(p, '}'))
            depth--;
        if (!qp_fabric_take(p))
            return false;
    } while (depth > 0);
    return true;
}

/* ---- names -------------------------------------------------------------------------------- */

bool qp_fabric_take_name(qp_fabric_parser *p, const char *what, qp_fabric_symbol *symbol,
                         qp_fabric_place *place)
{
    qp_fabric_token token;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, what, &token))
        return false;
    *place = token.place;
    *symbol = qp_fabric_intern(p->model->names, token.text, token.size);
    return *symbol != QP_FABRIC_NO_INDEX || qp_fabric_parse_no_memory(p);
}

bool qp_fabric_define(qp_fabric_parser *p, qp_fabric_scope_id scope, qp_fabric_symbol symbol,
                      uint32_t number, qp_fabric_place place)
{
    switch (qp_fabric_declare(p->model->names, scope, symbol, number)) {
    case QP_FABRIC_DECLARED:
        return true;
    case QP_FABRIC_DECLARED_TWICE:
        return qp_fabric_parse_fail(p, place, "'%.64s' is already a name here",
                                    qp_fabric_name_text(p->model, symbol));
    default:
        return qp_fabric_parse_no_memory(p);
    }
}

bool qp_fabric_new_scopes(qp_fabric_parser *p, uint32_t count, qp_fabric_scope_id *scope)
{
    if (p->next_scope > UINT32_MAX - 1 - count)
        return qp_fabric_parse_no_memory(p);
    *scope = p->next_scope;
    p->next_scope += count;
    return true;
}

/* ---- lists -------------------------------------------------------------------------------- */

qp_fabric_list qp_fabric_list_of(size_t item_size)
{
    return (qp_fabric_list){NULL, 0, 0, item_size};
}

bool qp_fabric_list_add(qp_fabric_parser *p, qp_fabric_list *list, const void *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        size_t bytes;
        if (capacity > UINT32_MAX / 4 || !qp_mul_size(capacity, list->item_size, &bytes))
            return qp_fabric_parse_no_memory(p);
        void *grown = p->allocator.reallocate(p->allocator.context, list->items,
                                              list->capacity * list->item_size, bytes);
        if (grown == NULL)
            return qp_fabric_parse_no_memory(p);
        list->items = grown;
        list->capacity = capacity;
    }
    memcpy((char *)list->items + list->count * list->item_size, item, list->item_size);
    list->count++;
    return true;
}

void qp_fabric_list_free(qp_fabric_parser *p, qp_fabric_list *list)
{
    if (list->items != NULL)
        p->allocator.reallocate(p->allocator.context, list->items, list->capacity * list->item_size,
                                0);
    list->items = NULL;
    list->count = list->capacity = 0;
}

bool qp_fabric_list_end(qp_fabric_parser *p, qp_fabric_list *list, const void **items,
                        uint32_t *count)
{
    void *kept = qp_arena_allocate(&p->model->arena, list->count, list->item_size);

    if (kept == NULL)
        return qp_fabric_parse_no_memory(p);
    if (list->count > 0)
        memcpy(kept, list->items, list->count * list->item_size);
    *items = kept;
    *count = (uint32_t)list->count; /* qp_fabric_list_add holds it below 2^30 */
    qp_fabric_list_free(p, list);
    return true;
}

uint64_t *qp_fabric_scratch(qp_fabric_parser *p)
{
    if (p->scratch == NULL)
        p->scratch = qp_arena_allocate(&p->model->arena, QP_FABRIC_PAYLOAD_BITS_MAX / 64,
                                       sizeof *p->scratch);
    if (p->scratch == NULL)
        qp_fabric_parse_no_memory(p);
    return p->scratch;
}
