/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_attributes.c - the attributes of an actor (section 12), read by a table.
 */
#include "fabric/attributes.h"
#include "fabric/text.h"

#define A(field) offsetof(qp_fabric_semantics, field)
#define MASK(name, list, field)                                                                    \
    {                                                                                              \
        name, QP_FABRIC_ATTRIBUTE_MASK, false, false, &list, A(field)                              \
    }
#define WORD(name, list, field)                                                                    \
    {                                                                                              \
        name, QP_FABRIC_ATTRIBUTE_WORD, true, false, &list, A(field)                               \
    }
#define FLAG(name, required)                                                                       \
    {                                                                                              \
        name, QP_FABRIC_ATTRIBUTE_FLAG, required, false, NULL, 0                                   \
    }
#define LIST(name, form)                                                                           \
    {                                                                                              \
        name, QP_FABRIC_ATTRIBUTE_##form, true, false, NULL, 0                                     \
    }
#define FAST_MATH MASK("fastmath", qp_fabric_fast_math, fast_math)

const qp_fabric_attribute qp_fabric_case_attributes[QP_FABRIC_CASE_COUNT][QP_FABRIC_ATTRIBUTES_MAX +
                                                                          1] = {
    [QP_FABRIC_CASE_FLOAT] = {FAST_MATH,
                              {"rounding", QP_FABRIC_ATTRIBUTE_WORD, false, true,
                               &qp_fabric_roundings, A(rounding)}},
    [QP_FABRIC_CASE_INTEGER_OVERFLOW] = {MASK("overflow", qp_fabric_overflow, overflow)},
    [QP_FABRIC_CASE_INTEGER_COMPARE] = {WORD("predicate", qp_fabric_integer_predicates, predicate)},
    [QP_FABRIC_CASE_FLOAT_COMPARE] = {WORD("predicate", qp_fabric_float_predicates, predicate),
                                      FAST_MATH},
    [QP_FABRIC_CASE_TYPED_CONSTANT] = {LIST("value", VALUE)},
    [QP_FABRIC_CASE_STREAM] = {WORD("step", qp_fabric_steps, step),
                               WORD("predicate", qp_fabric_integer_predicates, predicate)},
    [QP_FABRIC_CASE_ZERO_POISON] = {FLAG("zero_poison", true)},
    [QP_FABRIC_CASE_EXACT] = {FLAG("exact", false)},
    [QP_FABRIC_CASE_NON_NEGATIVE] = {FLAG("nneg", false)},
    [QP_FABRIC_CASE_DISJOINT] = {FLAG("disjoint", true)},
    [QP_FABRIC_CASE_STATIC_POSITION] = {LIST("position", POSITION)},
    [QP_FABRIC_CASE_SHUFFLE_MASK] = {LIST("mask", BLOCKS)},
    [QP_FABRIC_CASE_SPECIAL_MATH] = {FAST_MATH, WORD("accuracy", qp_fabric_tiers, tier)},
};

/* A word of the attribute's list as its number. */
static bool take_word(qp_fabric_parser *p, const qp_fabric_vocabulary *words, uint32_t *number)
{
    qp_fabric_token token;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, words->what, &token))
        return false;
    *number = qp_fabric_word_number(words, token.text, token.size);
    return *number != 0 ||
           qp_fabric_parse_fail(p, token.place, "'%.*s' is not %s",
                                (int)(token.size < 40 ? token.size : 40), token.text, words->what);
}

static bool take_mask(qp_fabric_parser *p, const qp_fabric_vocabulary *words, uint32_t *mask)
{
    bool more = true;
    uint32_t number;

    if (!qp_fabric_take_kind(p, '[', "'['", NULL))
        return false;
    if (qp_fabric_next_is(p, ']'))
        return qp_fabric_take(p);
    while (more) {
        qp_fabric_place place = p->token.place;
        if (!take_word(p, words, &number))
            return false;
        if ((*mask >> (number - 1) & 1) != 0)
            return qp_fabric_parse_fail(p, place, "this flag stands here twice");
        *mask |= UINT32_C(1) << (number - 1);
        if (!qp_fabric_take_comma(p, ']', &more))
            return false;
    }
    return true;
}

/* An entry of a position or mask. The ranges are the type rule's to check. */
static bool take_entry(qp_fabric_parser *p, qp_fabric_attribute_form form, int64_t *entry)
{
    qp_fabric_token token;

    if (form == QP_FABRIC_ATTRIBUTE_POSITION && qp_fabric_next_is(p, '?')) {
        *entry = QP_FABRIC_DYNAMIC;
        return qp_fabric_take(p);
    }
    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_INT, "a number", &token))
        return false;
    if (!qp_fabric_token_i64(&token, entry) || *entry == QP_FABRIC_DYNAMIC)
        return qp_fabric_parse_fail(p, token.place, "the number is out of range");
    return true;
}

static bool take_entries(qp_fabric_parser *p, qp_fabric_attribute_form form,
                         qp_fabric_semantics *semantics)
{
    qp_fabric_list list = qp_fabric_list_of(sizeof(int64_t));
    const void *items = NULL;
    uint32_t count = 0;
    int64_t entry;
    bool more = true, good = qp_fabric_take_kind(p, '[', "'['", NULL);

    if (good && qp_fabric_next_is(p, ']')) {
        more = false;
        good = qp_fabric_take(p);
    }
    while (good && more)
        good = take_entry(p, form, &entry) && qp_fabric_list_add(p, &list, &entry) &&
               qp_fabric_take_comma(p, ']', &more);
    good = good && qp_fabric_list_end(p, &list, &items, &count);
    qp_fabric_list_free(p, &list);
    semantics->entries = items;
    semantics->entry_count = count;
    return good;
}

/* One lane of a constant into its bits. */
static bool take_lane(qp_fabric_parser *p, const qp_fabric_type *type, qp_fabric_bits target)
{
    qp_fabric_token token;
    uint64_t *scratch = qp_fabric_scratch(p);

    if (scratch == NULL || !qp_fabric_take_kind(p, QP_FABRIC_TOKEN_INT, "a number", &token))
        return false;
    return qp_fabric_token_bits(&token, type->kind != QP_FABRIC_FLOAT, target, scratch) ||
           qp_fabric_parse_fail(p, token.place, "the number does not fit %lu bits",
                                (unsigned long)target.width);
}

static bool take_lanes(qp_fabric_parser *p, const qp_fabric_type *type, qp_fabric_bits target)
{
    const qp_fabric_place place = p->token.place;
    uint64_t lanes, lane = 0;
    bool more = true;

    if (!qp_fabric_lanes(type, &lanes) || !qp_fabric_take_kind(p, '[', "'['", NULL))
        return false;
    for (; more && lane < lanes; lane++, target.first += target.width)
        if (!take_lane(p, type, target) || !qp_fabric_take_comma(p, ']', &more))
            return false;
    if (more || lane < lanes)
        return qp_fabric_parse_fail(p, place, "the list must have one number for each lane");
    return true;
}

static bool take_constant(qp_fabric_parser *p, const qp_fabric_signature *signature,
                          qp_fabric_semantics *semantics)
{
    const qp_fabric_type *type = &signature->results[0];
    uint64_t bits;

    if (signature->result_count != 1 || type->kind == QP_FABRIC_NONE ||
        !qp_fabric_payload_bits(type, signature->index_width, &bits))
        return qp_fabric_parse_fail(p, p->token.place, "a constant has one result with a payload");
    semantics->payload_words = (size_t)((bits + 63) / 64);
    uint64_t *words = qp_arena_allocate(&p->model->arena, semantics->payload_words, sizeof *words);
    if (words == NULL)
        return qp_fabric_parse_no_memory(p);
    semantics->payload = words;
    qp_fabric_bits target = {words, 0, qp_fabric_element_bits(type, signature->index_width)};
    return type->rank > 0 ? take_lanes(p, type, target) : take_lane(p, type, target);
}

/* The value behind '=', or the flag itself. */
static bool take_attribute(qp_fabric_parser *p, const qp_fabric_attribute *row,
                           const qp_fabric_signature *signature, qp_fabric_semantics *semantics)
{
    uint32_t number = 0;

    if (row->form == QP_FABRIC_ATTRIBUTE_FLAG) {
        semantics->flag = true;
        return true;
    }
    if (!qp_fabric_take_kind(p, '=', "'='", NULL))
        return false;
    if (row->form == QP_FABRIC_ATTRIBUTE_VALUE)
        return take_constant(p, signature, semantics);
    if (row->form == QP_FABRIC_ATTRIBUTE_POSITION || row->form == QP_FABRIC_ATTRIBUTE_BLOCKS)
        return take_entries(p, row->form, semantics);
    if (row->form == QP_FABRIC_ATTRIBUTE_MASK ? !take_mask(p, row->words, &number)
                                              : !take_word(p, row->words, &number))
        return false;
    memcpy((char *)semantics + row->offset, &number, sizeof number);
    return true;
}

static bool applies(const qp_fabric_attribute *row, const qp_fabric_schema *schema)
{
    return !row->rounding || (schema->flags & QP_FABRIC_FLAG_ROUNDS) != 0;
}

static bool take_attributes(qp_fabric_parser *p, const qp_fabric_signature *signature,
                            qp_fabric_semantics *semantics, uint32_t *seen)
{
    const qp_fabric_attribute *rows = qp_fabric_case_attributes[signature->schema->semantics];
    bool more = true;

    if (!qp_fabric_take_kind(p, '{', "'{'", NULL))
        return false;
    if (qp_fabric_next_is(p, '}'))
        return qp_fabric_take(p);
    while (more) {
        qp_fabric_token token;
        uint32_t i = 0;
        while (rows[i].name != NULL &&
               !(qp_fabric_next_is_word(p, rows[i].name) && applies(&rows[i], signature->schema)))
            i++;
        if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, "an attribute", &token))
            return false;
        if (rows[i].name == NULL)
            return qp_fabric_parse_fail(p, token.place, "%s has no attribute '%.*s'",
                                        signature->schema->name,
                                        (int)(token.size < 40 ? token.size : 40), token.text);
        if ((*seen >> i & 1) != 0)
            return qp_fabric_parse_fail(p, token.place, "the attribute '%s' stands here twice",
                                        rows[i].name);
        *seen |= UINT32_C(1) << i;
        if (!take_attribute(p, &rows[i], signature, semantics) ||
            !qp_fabric_take_comma(p, '}', &more))
            return false;
    }
    return true;
}

bool qp_fabric_parse_attributes(qp_fabric_parser *p, const qp_fabric_signature *signature,
                                bool present, qp_fabric_place place, qp_fabric_semantics *semantics)
{
    const qp_fabric_attribute *rows = qp_fabric_case_attributes[signature->schema->semantics];
    uint32_t seen = 0;

    if (present && !take_attributes(p, signature, semantics, &seen))
        return false;
    for (uint32_t i = 0; rows[i].name != NULL; i++)
        if (rows[i].required && (seen >> i & 1) == 0)
            return qp_fabric_parse_fail(p, place, "%s needs the attribute '%s'",
                                        signature->schema->name, rows[i].name);
    if (signature->schema->semantics == QP_FABRIC_CASE_SPECIAL_MATH &&
        semantics->tier != QP_FABRIC_CORRECTLY_ROUNDED &&
        (semantics->fast_math & QP_FABRIC_AFN) == 0)
        return qp_fabric_parse_fail(p, place, "the accuracy %s needs the flag afn",
                                    qp_fabric_word(&qp_fabric_tiers, semantics->tier));
    return true;
}
