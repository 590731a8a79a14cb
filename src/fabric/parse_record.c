/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_record.c - params records (sections 5 and 12), read by the rows of params.c.
 */
#include "fabric/text.h"

/* A member of a set as its bit's number; `first` tells the members of a pair apart. */
static bool take_member(qp_fabric_parser *p, const qp_fabric_field_domain *domain, bool number,
                        uint32_t *bit)
{
    qp_fabric_token token;
    uint64_t value;

    if (!number) {
        if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, domain->words->what, &token))
            return false;
        uint32_t word = qp_fabric_word_number(domain->words, token.text, token.size);
        if (word == 0)
            return qp_fabric_parse_fail(p, token.place, "'%.*s' is not %s",
                                        (int)(token.size < 40 ? token.size : 40), token.text,
                                        domain->words->what);
        *bit = word - 1;
        return true;
    }
    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_INT, "a width", &token))
        return false;
    int ordinal = qp_fabric_token_u64(&token, &value) ? domain->ordinal(value) : -1;
    if (ordinal < 0)
        return qp_fabric_parse_fail(p, token.place, "%.*s is no width of this set",
                                    (int)(token.size < 40 ? token.size : 40), token.text);
    *bit = (uint32_t)ordinal;
    return true;
}

static bool take_pair(qp_fabric_parser *p, const qp_fabric_field_domain *domain, uint32_t *mask)
{
    uint32_t first, second;

    if (!qp_fabric_take_kind(p, '(', "'('", NULL) ||
        !take_member(p, domain, domain->first_is_number, &first) ||
        !qp_fabric_take_kind(p, ',', "','", NULL) ||
        !take_member(p, domain, domain->second_is_number, &second) ||
        !qp_fabric_take_kind(p, ')', "')'", NULL))
        return false;
    *mask = QP_FABRIC_PAIR_BIT(first, second);
    return true;
}

/* A list without repeats as a mask. */
static bool take_set(qp_fabric_parser *p, const qp_fabric_field_domain *domain, uint32_t *set)
{
    bool more = true;

    *set = 0;
    if (!qp_fabric_take_kind(p, '[', "'['", NULL))
        return false;
    if (qp_fabric_next_is(p, ']'))
        return qp_fabric_take(p);
    while (more) {
        qp_fabric_place place = p->token.place;
        uint32_t mask, bit;
        if (domain->form == QP_FABRIC_VALUE_PAIRS) {
            if (!take_pair(p, domain, &mask))
                return false;
        } else {
            if (!take_member(p, domain, domain->form == QP_FABRIC_VALUE_NUMBERS, &bit))
                return false;
            mask = UINT32_C(1) << bit;
        }
        if ((*set & mask) != 0)
            return qp_fabric_parse_fail(p, place, "this set has a member twice");
        *set |= mask;
        if (!qp_fabric_take_comma(p, ']', &more))
            return false;
    }
    return true;
}

static bool take_number(qp_fabric_parser *p, uint64_t *value)
{
    qp_fabric_token token;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_INT, "a number", &token))
        return false;
    if (!qp_fabric_token_u64(&token, value))
        return qp_fabric_parse_fail(p, token.place, "the number is negative or over 64 bits");
    return true;
}

static bool take_word(qp_fabric_parser *p, const qp_fabric_field_domain *domain, uint32_t *value)
{
    uint32_t bit = 0;
    if (!take_member(p, domain, false, &bit))
        return false;
    *value = bit + 1;
    return true;
}

static bool take_record(qp_fabric_parser *p, const qp_fabric_field_row *rows, void *target);

/* One field's value into its place in `target`. */
static bool take_value(qp_fabric_parser *p, const qp_fabric_field_row *row, void *target)
{
    const qp_fabric_field_domain *domain = &qp_fabric_field_domains[row->type];
    char *at = (char *)target + row->offset;
    qp_fabric_place place = p->token.place;
    uint64_t number = 0;
    uint32_t set = 0;

    if (domain->form == QP_FABRIC_VALUE_RECORD)
        return take_record(p, qp_fabric_behavior_fields, at);
    if (domain->form == QP_FABRIC_VALUE_EMPTY)
        return qp_fabric_take_kind(p, '[', "an empty list", NULL) &&
               qp_fabric_take_kind(p, ']', "']': no pointer format is admitted", NULL);
    if (domain->form == QP_FABRIC_VALUE_NUMBER) {
        if (!take_number(p, &number))
            return false;
        memcpy(at, &number, sizeof number);
    } else {
        if (domain->form == QP_FABRIC_VALUE_WORD ? !take_word(p, domain, &set)
                                                 : !take_set(p, domain, &set))
            return false;
        memcpy(at, &set, sizeof set);
    }
    if (row->nonempty && set == 0 && number == 0)
        return qp_fabric_parse_fail(p, place, "%s must not be %s", row->name,
                                    domain->form == QP_FABRIC_VALUE_NUMBER ? "zero" : "empty");
    return true;
}

/* The field that the next token names, as its row's number. */
static bool find_field(qp_fabric_parser *p, const qp_fabric_field_row *rows, uint32_t *found)
{
    for (uint32_t i = 0; rows[i].name != NULL; i++) {
        if (qp_fabric_next_is_word(p, rows[i].name)) {
            *found = i;
            return true;
        }
    }
    if (!qp_fabric_next_is(p, QP_FABRIC_TOKEN_ID))
        return qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, "a field", NULL);
    return qp_fabric_parse_fail(p, p->token.place, "this record has no field '%.*s'",
                                (int)(p->token.size < 40 ? p->token.size : 40), p->token.text);
}

static bool all_present(qp_fabric_parser *p, const qp_fabric_field_row *rows, uint32_t seen,
                        qp_fabric_place place)
{
    for (uint32_t i = 0; rows[i].name != NULL; i++)
        if ((seen >> i & 1) == 0 && rows[i].type != QP_FABRIC_FIELD_POINTERS)
            return qp_fabric_parse_fail(p, place, "the record lacks the field '%s'", rows[i].name);
    return true;
}

static bool take_record(qp_fabric_parser *p, const qp_fabric_field_row *rows, void *target)
{
    const qp_fabric_place place = p->token.place;
    bool more = true;
    uint32_t seen = 0, field = 0;

    if (!qp_fabric_take_kind(p, '{', "'{'", NULL))
        return false;
    if (qp_fabric_next_is(p, '}'))
        return qp_fabric_take(p) && all_present(p, rows, seen, place);
    while (more) {
        if (!find_field(p, rows, &field))
            return false;
        if ((seen >> field & 1) != 0)
            return qp_fabric_parse_fail(p, p->token.place, "the field '%s' stands here twice",
                                        rows[field].name);
        seen |= UINT32_C(1) << field;
        if (!qp_fabric_take(p) || !qp_fabric_take_kind(p, '=', "'='", NULL) ||
            !take_value(p, &rows[field], target) || !qp_fabric_take_comma(p, '}', &more))
            return false;
    }
    return all_present(p, rows, seen, place);
}

/* The Logic families, which alone have one-bit integers in this record. */
static bool has_logic(const qp_fabric_family *family)
{
    return qp_fabric_member_ordinal(family, qp_fabric_find_schema("arith.andi", 10)) >= 0;
}

bool qp_fabric_parse_params(qp_fabric_parser *p, const qp_fabric_family *family,
                            qp_fabric_params *params)
{
    const qp_fabric_place place = p->token.place;

    memset(params, 0, sizeof *params);
    if (!take_record(p, qp_fabric_params_rows[family->params].fields, params))
        return false;
    if (qp_fabric_params_rows[family->params].fields[0].type == QP_FABRIC_FIELD_FAMILY_WIDTHS &&
        !has_logic(family) && (params->integers & ~QP_FABRIC_ORDINARY_WIDTHS) != 0)
        return qp_fabric_parse_fail(p, place, "only the Logic families have a width of 1");
    return true;
}
