/* SPDX-License-Identifier: Apache-2.0 */
/* json_form.c - the words of a graph's JSON form, and the strict reading of its values. */
#include "graph/json_form.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- words -------------------------------------------------------------------------------- */

static const char *const round_words[] = {"floor", "half_up", "half_even"};
static const char *const bias_words[] = {"none", "pre", "post"};
static const char *const kind_words[] = {"absent", "one", "per_channel"};
static const char *const policy_words[] = {"derived", "clamp", "check"};
static const char *const input_words[] = {"data", "state"};

const qp_words qp_words_round = {round_words, QP_COUNT(round_words)};
const qp_words qp_words_bias = {bias_words, QP_COUNT(bias_words)};
const qp_words qp_words_kind = {kind_words, QP_COUNT(kind_words)};
const qp_words qp_words_policy = {policy_words, QP_COUNT(policy_words)};
const qp_words qp_words_input = {input_words, QP_COUNT(input_words)};

/* ---- refusals ----------------------------------------------------------------------------- */

/* Puts a place in the JSON before the message of an error that another part has filled. */
qp_status qp_form_fail(qp_json_value value, const qp_error *cause, qp_error *error)
{
    if (error != NULL) {
        qp_json_place at = qp_json_place_of(value);
        qp_place place = {cause->table, cause->record, cause->operator_index,
                          (int64_t)(at.offset & INT64_MAX)};
        qp_fail_at(error, cause->status, place, "line %" PRIu64 ", column %" PRIu64 ": %s", at.line,
                   at.column, cause->message);
    }
    return cause->status;
}

/* ---- members ------------------------------------------------------------------------------ */

qp_status qp_form_unknown(const qp_assembly *a, qp_json_value name)
{
    enum { LONGEST = 60 };
    const char *text = "";
    size_t length = 0;
    if (!qp_json_string_view(name, &text, &length))
        return qp_json_fail(name, a->error, "the name of this member is unknown here");
    size_t shown = length < LONGEST ? length : LONGEST;
    while (shown < length && shown > 0 && ((unsigned char)text[shown] & 0xC0) == 0x80)
        shown--; /* no half of a character */
    return qp_json_fail(name, a->error, "the member \"%.*s\" is unknown here", (int)shown, text);
}

/* An object of no other members than these. */
qp_status qp_form_members(const qp_assembly *a, qp_json_value object, const qp_names *known)
{
    qp_status status = qp_json_expect(object, QP_JSON_OBJECT, a->error);
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;

    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        unsigned i = 0;
        while (i < known->count && !qp_json_equals(name, known->names[i]))
            i++;
        if (i == known->count)
            status = qp_form_unknown(a, name);
    }
    return status;
}

qp_status qp_form_member(const qp_assembly *a, qp_json_value object, const char *name,
                         qp_json_value *value)
{
    return qp_json_member(object, name, QP_JSON_ABSENT, value, a->error);
}

/* ---- values ------------------------------------------------------------------------------- */

qp_status qp_form_signed(const qp_assembly *a, qp_json_value value, qp_range range, int64_t *result)
{
    int64_t v = 0;
    qp_status status = qp_json_get_i64(value, &v, a->error);
    if (status != QP_OK)
        return status;
    if (v < range.lo || v > range.hi)
        return qp_json_fail(value, a->error, "the integer is not from %" PRId64 " to %" PRId64,
                            range.lo, range.hi);
    *result = v;
    return QP_OK;
}

qp_status qp_form_unsigned(const qp_assembly *a, qp_json_value value, qp_unsigned_range range,
                           uint64_t *result)
{
    uint64_t v = 0;
    qp_status status = qp_json_get_u64(value, &v, a->error);
    if (status != QP_OK)
        return status;
    if (v < range.lo || v > range.hi)
        return qp_json_fail(value, a->error, "the integer is not from %" PRIu64 " to %" PRIu64,
                            range.lo, range.hi);
    *result = v;
    return QP_OK;
}

qp_status qp_form_u32(const qp_assembly *a, qp_json_value value, uint32_t lo, uint32_t *result)
{
    uint64_t v = 0;
    qp_status status = qp_form_unsigned(a, value, (qp_unsigned_range){lo, UINT32_MAX}, &v);
    if (status == QP_OK)
        *result = (uint32_t)v;
    return status;
}

qp_status qp_form_exponent(const qp_assembly *a, qp_json_value value, int8_t *result)
{
    int64_t v = QP_EXPONENT_NONE;
    qp_status status = QP_OK;
    if (!qp_json_is_null(value))
        status = qp_form_signed(a, value, (qp_range){-INT8_MAX, INT8_MAX}, &v);
    if (status == QP_OK)
        *result = (int8_t)v;
    return status;
}

qp_status qp_form_word(const qp_assembly *a, qp_json_value value, const qp_words *words,
                       unsigned *result)
{
    char known[96];
    size_t length = 0;
    qp_status status = qp_json_expect(value, QP_JSON_STRING, a->error);
    if (status != QP_OK)
        return status;
    for (unsigned i = 0; i < words->count; i++)
        if (qp_json_equals(value, words->words[i])) {
            *result = i;
            return QP_OK;
        }
    for (unsigned i = 0; i < words->count && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s",
                                   i == 0 ? "" : ", ", words->words[i]);
    return qp_json_fail(value, a->error, "the word is none of: %s", known);
}

/* The same for a member of an object. */
qp_status qp_form_member_u32(const qp_assembly *a, qp_json_value object, const char *name,
                             uint32_t lo, uint32_t *result)
{
    qp_json_value value;
    qp_status status = qp_form_member(a, object, name, &value);
    return status == QP_OK ? qp_form_u32(a, value, lo, result) : status;
}

qp_status qp_form_member_i64(const qp_assembly *a, qp_json_value object, const char *name,
                             int64_t *result)
{
    qp_json_value value;
    qp_status status = qp_form_member(a, object, name, &value);
    return status == QP_OK ? qp_json_get_i64(value, result, a->error) : status;
}

qp_status qp_form_member_word(const qp_assembly *a, qp_json_value object, const char *name,
                              const qp_words *words, unsigned *result)
{
    qp_json_value value;
    qp_status status = qp_form_member(a, object, name, &value);
    return status == QP_OK ? qp_form_word(a, value, words, result) : status;
}
