/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_value.c - reading the values of a JSON document that json.c has accepted.
 */
#include "base/json.h"

#include "base/json_string.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const qp_json_token *token_of(qp_json_value value)
{
    return &value.json->tokens[value.index];
}

static const uint8_t *text_of(qp_json_value value)
{
    return value.json->text + token_of(value)->offset;
}

/* ---- any value ------------------------------------------------------------------------------ */

qp_json_kind qp_json_kind_of(qp_json_value value)
{
    if (value.json == NULL)
        return QP_JSON_ABSENT;
    switch (*text_of(value)) {
    case '{':
        return QP_JSON_OBJECT;
    case '[':
        return QP_JSON_ARRAY;
    case '"':
        return QP_JSON_STRING;
    case 't':
    case 'f':
        return QP_JSON_BOOLEAN;
    case 'n':
        return QP_JSON_NULL;
    default:
        return QP_JSON_NUMBER;
    }
}

const char *qp_json_kind_name(qp_json_kind kind)
{
    static const char *const names[] = {"nothing",  "null",     "a boolean", "a number",
                                        "a string", "an array", "an object"};
    size_t index = (size_t)kind;
    return index < sizeof names / sizeof names[0] ? names[index] : names[0];
}

bool qp_json_is_null(qp_json_value value)
{
    return qp_json_kind_of(value) == QP_JSON_NULL;
}

/* The byte behind the string whose opening quote is at `text`. */
static const uint8_t *string_end(const uint8_t *text)
{
    for (text++; *text != '"'; text++) {
        if (*text == '\\')
            text++;
    }
    return text + 1;
}

/* The byte behind the bracket that closes the one at `text`. */
static const uint8_t *container_end(const uint8_t *text)
{
    unsigned depth = 0;
    do {
        if (*text == '"') {
            text = string_end(text);
            continue;
        }
        depth += *text == '[' || *text == '{';
        depth -= *text == ']' || *text == '}';
        text++;
    } while (depth > 0);
    return text;
}

void qp_json_source(qp_json_value value, const char **text, size_t *length)
{
    qp_json_kind kind = qp_json_kind_of(value);
    *text = NULL;
    *length = 0;
    if (kind == QP_JSON_ABSENT)
        return;
    const uint8_t *start = text_of(value);
    *text = (const char *)start;
    *length = token_of(value)->extent;
    if (kind == QP_JSON_STRING)
        *length += 2; /* the quotes */
    else if (kind == QP_JSON_ARRAY || kind == QP_JSON_OBJECT)
        *length = (size_t)(container_end(start) - start);
}

qp_json_place qp_json_place_of(qp_json_value value)
{
    qp_json_place place = {1, 1, 0};
    if (value.json == NULL)
        return place;
    uint32_t offset = token_of(value)->offset;
    place.line = value.json->first_line;
    place.offset = value.json->first_offset + offset;
    for (uint32_t i = 0; i < offset; i++) {
        if (value.json->text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if ((value.json->text[i] & 0xC0) != 0x80) { /* not within a character */
            place.column++;
        }
    }
    return place;
}

static qp_status fail(qp_json_value value, qp_error *error, const char *format, va_list arguments)
{
    char text[sizeof error->message];
    int length = vsnprintf(text, sizeof text, format, arguments);

    if (length < 0)
        text[0] = '\0';
    if (value.json == NULL)
        return qp_fail(error, QP_MALFORMED, "%s", text);
    qp_json_place place = qp_json_place_of(value);
    qp_place at = QP_NOWHERE;
    at.offset = (int64_t)(place.offset & INT64_MAX);
    return qp_fail_at(error, QP_MALFORMED, at, "line %" PRIu64 ", column %" PRIu64 ": %s",
                      place.line, place.column, text);
}

qp_status qp_json_fail(qp_json_value value, qp_error *error, const char *format, ...)
{
    va_list arguments;

    if (error == NULL)
        return QP_MALFORMED;
    va_start(arguments, format);
    fail(value, error, format, arguments);
    va_end(arguments);
    return QP_MALFORMED;
}

qp_status qp_json_fail_check(qp_json_value value, qp_error *error, const char *check,
                             const char *format, ...)
{
    va_list arguments;

    if (error == NULL)
        return QP_MALFORMED;
    va_start(arguments, format);
    fail(value, error, format, arguments);
    va_end(arguments);
    error->check = check;
    return QP_MALFORMED;
}

qp_status qp_json_expect(qp_json_value value, qp_json_kind kind, qp_error *error)
{
    qp_json_kind found = qp_json_kind_of(value);
    if (found == kind)
        return QP_OK;
    return qp_json_fail(value, error, "expected %s, found %s", qp_json_kind_name(kind),
                        qp_json_kind_name(found));
}

/* ---- arrays and objects --------------------------------------------------------------------- */

static bool is_container(qp_json_value value)
{
    qp_json_kind kind = qp_json_kind_of(value);
    return kind == QP_JSON_ARRAY || kind == QP_JSON_OBJECT;
}

qp_json_iterator qp_json_iterate(qp_json_value container)
{
    if (!is_container(container))
        return (qp_json_iterator){NULL, 0, 0};
    return (qp_json_iterator){container.json, container.index + 1, token_of(container)->extent};
}

bool qp_json_next(qp_json_iterator *iterator, qp_json_value *element)
{
    if (iterator->next >= iterator->end)
        return false;
    *element = (qp_json_value){iterator->json, iterator->next};
    iterator->next = is_container(*element) ? token_of(*element)->extent : iterator->next + 1;
    return true;
}

bool qp_json_next_member(qp_json_iterator *iterator, qp_json_value *name, qp_json_value *value)
{
    return qp_json_next(iterator, name) && qp_json_next(iterator, value);
}

size_t qp_json_count(qp_json_value container)
{
    qp_json_iterator iterator = qp_json_iterate(container);
    qp_json_value element;
    size_t count = 0;
    while (qp_json_next(&iterator, &element))
        count++;
    return qp_json_kind_of(container) == QP_JSON_OBJECT ? count / 2 : count;
}

bool qp_json_find(qp_json_value object, const char *name, qp_json_value *value)
{
    qp_json_value member, found = QP_JSON_NO_VALUE, candidate;

    if (qp_json_kind_of(object) == QP_JSON_OBJECT) {
        qp_json_iterator iterator = qp_json_iterate(object);
        while (qp_json_next_member(&iterator, &member, &candidate)) {
            if (!qp_json_equals(member, name))
                continue;
            found = candidate;
            if (!object.json->allow_duplicates)
                break; /* there is no second */
        }
    }
    *value = found;
    return found.json != NULL;
}

qp_status qp_json_member(qp_json_value object, const char *name, qp_json_kind kind,
                         qp_json_value *value, qp_error *error)
{
    qp_json_value found;
    qp_status status = qp_json_expect(object, QP_JSON_OBJECT, error);
    if (status != QP_OK)
        return status;
    if (!qp_json_find(object, name, &found))
        return qp_json_fail(object, error, "the object has no member \"%s\"", name);
    if (kind != QP_JSON_ABSENT && qp_json_kind_of(found) != kind)
        return qp_json_fail(found, error, "member \"%s\": expected %s, found %s", name,
                            qp_json_kind_name(kind), qp_json_kind_name(qp_json_kind_of(found)));
    *value = found;
    return QP_OK;
}

/* ---- numbers and booleans ------------------------------------------------------------------- */

/* The magnitude of `length` digits; false when it passes 2^64 - 1 or a byte is no digit. */
static bool read_digits(const uint8_t *digits, size_t length, uint64_t *magnitude)
{
    uint64_t v = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)digits[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *magnitude = v;
    return true;
}

static bool integer_i64(const uint8_t *text, size_t length, int64_t *result)
{
    bool negative = text[0] == '-';
    uint64_t magnitude;
    if (!read_digits(text + negative, length - negative, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *result = qp_to_i64(negative ? 0 - magnitude : magnitude);
    return true;
}

static bool integer_u64(const uint8_t *text, size_t length, uint64_t *result)
{
    bool negative = text[0] == '-';
    uint64_t magnitude;
    if (!read_digits(text + negative, length - negative, &magnitude) || (negative && magnitude > 0))
        return false;
    *result = magnitude;
    return true;
}

bool qp_json_is_integer(qp_json_value value)
{
    if (qp_json_kind_of(value) != QP_JSON_NUMBER)
        return false;
    for (uint32_t i = 0; i < token_of(value)->extent; i++) {
        uint8_t c = text_of(value)[i];
        if (c == '.' || c == 'e' || c == 'E')
            return false;
    }
    return true;
}

/* Why a value could not be read as an integer of that range. */
static qp_status fail_integer(qp_json_value value, const char *range, qp_error *error)
{
    if (qp_json_kind_of(value) != QP_JSON_NUMBER)
        return qp_json_fail(value, error, "expected an integer, found %s",
                            qp_json_kind_name(qp_json_kind_of(value)));
    if (!qp_json_is_integer(value))
        return qp_json_fail(value, error, "expected an integer without fraction and exponent");
    return qp_json_fail(value, error, "the integer lies outside %s", range);
}

static const char range_i64[] = "-2^63 to 2^63 - 1";
static const char range_u64[] = "0 to 2^64 - 1";

qp_status qp_json_get_i64(qp_json_value value, int64_t *result, qp_error *error)
{
    if (qp_json_kind_of(value) == QP_JSON_NUMBER &&
        integer_i64(text_of(value), token_of(value)->extent, result))
        return QP_OK;
    return fail_integer(value, range_i64, error);
}

qp_status qp_json_get_u64(qp_json_value value, uint64_t *result, qp_error *error)
{
    if (qp_json_kind_of(value) == QP_JSON_NUMBER &&
        integer_u64(text_of(value), token_of(value)->extent, result))
        return QP_OK;
    return fail_integer(value, range_u64, error);
}

qp_status qp_json_get_bool(qp_json_value value, bool *result, qp_error *error)
{
    qp_status status = qp_json_expect(value, QP_JSON_BOOLEAN, error);
    if (status == QP_OK)
        *result = *text_of(value) == 't';
    return status;
}

qp_status qp_json_get_i64_array(qp_json_value value, int64_t *results, size_t count,
                                qp_error *error)
{
    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;
    size_t n = 0;

    while (status == QP_OK && qp_json_next(&iterator, &element)) {
        if (n == count)
            return qp_json_fail(element, error, "the array has more than %zu elements", count);
        status = qp_json_get_i64(element, &results[n++], error);
    }
    if (status == QP_OK && n < count)
        return qp_json_fail(value, error, "the array has %zu elements, not %zu", n, count);
    return status;
}

qp_status qp_json_number_text(qp_json_value value, const char **text, size_t *length,
                              qp_error *error)
{
    qp_status status = qp_json_expect(value, QP_JSON_NUMBER, error);
    if (status != QP_OK)
        return status;
    *text = (const char *)text_of(value);
    *length = token_of(value)->extent;
    return QP_OK;
}

/* ---- integers in strings (integer-operators.md, section 8.5) -------------------------------- */

static bool is_decimal(const char *text, size_t length)
{
    size_t first = length > 0 && text[0] == '-' ? 1 : 0;
    if (length == first || (text[first] == '0' && length > 1))
        return false;
    for (size_t i = first; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
    }
    return true;
}

qp_status qp_json_decimal_text(qp_json_value value, const char **text, size_t *length,
                               qp_error *error)
{
    const char *digits;
    size_t count;
    qp_status status = qp_json_expect(value, QP_JSON_STRING, error);
    if (status != QP_OK)
        return status;
    if (!qp_json_string_view(value, &digits, &count) || !is_decimal(digits, count))
        return qp_json_fail(value, error, "the string is not an integer in canonical decimal form");
    *text = digits;
    *length = count;
    return QP_OK;
}

qp_status qp_json_decimal_i64(qp_json_value value, int64_t *result, qp_error *error)
{
    const char *text;
    size_t length;
    qp_status status = qp_json_decimal_text(value, &text, &length, error);
    if (status == QP_OK && !integer_i64((const uint8_t *)text, length, result))
        return qp_json_fail(value, error, "the integer lies outside %s", range_i64);
    return status;
}

qp_status qp_json_decimal_u64(qp_json_value value, uint64_t *result, qp_error *error)
{
    const char *text;
    size_t length;
    qp_status status = qp_json_decimal_text(value, &text, &length, error);
    if (status == QP_OK && !integer_u64((const uint8_t *)text, length, result))
        return qp_json_fail(value, error, "the integer lies outside %s", range_u64);
    return status;
}

/* ---- strings -------------------------------------------------------------------------------- */

static qp_json_cursor cursor_of(qp_json_value value)
{
    return qp_json_cursor_at(text_of(value) + 1, token_of(value)->extent);
}

bool qp_json_equals(qp_json_value value, const char *text)
{
    size_t length = strlen(text);
    const char *bytes;
    size_t count;

    if (qp_json_string_view(value, &bytes, &count))
        return count == length && memcmp(bytes, text, length) == 0;
    if (qp_json_kind_of(value) != QP_JSON_STRING)
        return false;
    qp_json_cursor cursor = cursor_of(value);
    for (size_t i = 0; i < length; i++) {
        if (qp_json_cursor_next(&cursor) != (unsigned char)text[i])
            return false;
    }
    return qp_json_cursor_next(&cursor) < 0;
}

bool qp_json_string_view(qp_json_value value, const char **text, size_t *length)
{
    if (qp_json_kind_of(value) != QP_JSON_STRING)
        return false;
    const uint8_t *bytes = text_of(value) + 1;
    uint32_t size = token_of(value)->extent;
    if (value.json->has_escapes && memchr(bytes, '\\', size) != NULL)
        return false;
    *text = (const char *)bytes;
    *length = size;
    return true;
}

bool qp_json_is_utf8(qp_json_value value)
{
    const char *bytes;
    size_t count;

    if (qp_json_string_view(value, &bytes, &count))
        return true;
    if (qp_json_kind_of(value) != QP_JSON_STRING)
        return false;
    const uint8_t *text = text_of(value) + 1, *end = text + token_of(value)->extent;
    while (text < end) {
        if (*text != '\\') {
            text++;
            continue;
        }
        qp_json_escape escape = qp_json_escape_at(text, (size_t)(end - text));
        if (escape.kind != QP_JSON_ESCAPE_RIGHT)
            return false;
        text += escape.length;
    }
    return true;
}

void qp_json_append_string(qp_json_value value, qp_buffer *buffer)
{
    const char *bytes;
    size_t count;

    if (qp_json_string_view(value, &bytes, &count)) {
        qp_buffer_append(buffer, bytes, count);
    } else if (qp_json_kind_of(value) == QP_JSON_STRING) {
        qp_json_cursor cursor = cursor_of(value);
        if (!qp_buffer_reserve(buffer, token_of(value)->extent)) /* decoding never lengthens */
            return;
        for (int byte; (byte = qp_json_cursor_next(&cursor)) >= 0;)
            buffer->bytes[buffer->size++] = (uint8_t)byte;
    }
}

qp_status qp_json_copy_string(qp_json_value value, char *text, size_t size, qp_error *error)
{
    if (size > 0)
        text[0] = '\0';
    qp_status status = qp_json_expect(value, QP_JSON_STRING, error);
    if (status != QP_OK)
        return status;

    qp_json_cursor cursor = cursor_of(value);
    size_t n = 0;
    for (int byte; (byte = qp_json_cursor_next(&cursor)) >= 0; n++) {
        if (byte == 0 || n + 1 >= size) {
            if (size > 0)
                text[0] = '\0';
            return byte == 0 ? qp_json_fail(value, error, "the string holds U+0000")
                             : qp_json_fail(value, error, "the string is longer than %zu bytes",
                                            size > 0 ? size - 1 : 0);
        }
        text[n] = (char)byte;
    }
    if (size > 0)
        text[n] = '\0';
    return QP_OK;
}
