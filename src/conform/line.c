/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - reading a line of canonical JSON (integer-operators.md sections 8.5 and 14.1). */
#include "conform/line.h"

/* ---- the bytes ---------------------------------------------------------------------------- */

/* Why a byte outside a string is not canonical; NULL where it may stand. */
static const char *fault_outside(uint8_t byte)
{
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n')
        return "a space outside a string";
    if (byte == '-' || (byte >= '0' && byte <= '9'))
        return "a bare number: every integer is a decimal string";
    return byte > 0x7E || byte < 0x20 ? "a byte that is not printable ASCII" : NULL;
}

/* The same inside a string, for a byte after `before`. */
static const char *fault_inside(uint8_t byte, bool escaped)
{
    if (escaped && byte != '"' && byte != '\\')
        return "an escape other than \\\" and \\\\";
    return byte > 0x7E || byte < 0x20 ? "a byte that is not printable ASCII" : NULL;
}

static qp_status check_bytes(const char *line, size_t size, qp_error *error)
{
    bool inside = false, escaped = false;

    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)line[i];
        const char *fault = inside ? fault_inside(byte, escaped) : fault_outside(byte);
        if (fault != NULL)
            return qp_fail(error, QP_MALFORMED, "not canonical JSON: column %zu: %s", i + 1, fault);
        if (byte == '"' && !escaped)
            inside = !inside;
        escaped = inside && !escaped && byte == '\\';
    }
    return QP_OK;
}

qp_status qp_line_parse(qp_json *json, const char *line, size_t size, qp_error *error)
{
    qp_status status = check_bytes(line, size, error);
    if (status == QP_OK)
        status = qp_json_parse(json, line, size, error);
    return status == QP_TOO_LARGE ? QP_MALFORMED : status;
}

/* ---- values ------------------------------------------------------------------------------- */

qp_status qp_line_members(qp_json_value object, const char *const *names, size_t count,
                          qp_json_value *values, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    size_t n = 0;

    qp_status status = qp_json_expect(object, QP_JSON_OBJECT, error);
    if (status != QP_OK)
        return status;
    while (qp_json_next_member(&iterator, &name, &value)) {
        if (n == count)
            return qp_json_fail(name, error, "a member after \"%s\", the last", names[count - 1]);
        if (!qp_json_equals(name, names[n]))
            return qp_json_fail(name, error, "expected the member \"%s\" here", names[n]);
        values[n++] = value;
    }
    if (n < count)
        return qp_json_fail(object, error, "the object has no member \"%s\"", names[n]);
    return QP_OK;
}

bool qp_line_string(qp_json_value value, const char **text, size_t *size)
{
    if (qp_json_kind_of(value) != QP_JSON_STRING)
        return false;
    if (qp_json_string_view(value, text, size))
        return true;
    uint64_t offset = qp_json_place_of(value).offset - value.json->first_offset;
    const char *start = (const char *)value.json->text + offset + 1;
    size_t n = 0;
    while (start[n] != '"')
        n += start[n] == '\\' ? 2 : 1;
    *text = start;
    *size = n;
    return true;
}

/* 0 to 15; 16 for a byte that is no lowercase digit. */
static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

qp_status qp_line_hex(qp_json_value value, qp_buffer *bytes, qp_error *error)
{
    const char *text;
    size_t size;

    bytes->size = 0;
    bytes->failed = false;
    if (!qp_line_string(value, &text, &size) || size % 2 != 0)
        return qp_json_fail(value, error, "expected bytes in lowercase hexadecimal");
    if (!qp_buffer_reserve(bytes, size / 2))
        return qp_fail_memory(error, "the line's graph");
    for (size_t i = 0; i < size; i += 2) {
        unsigned high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high > 15 || low > 15)
            return qp_json_fail(value, error, "digit %zu is not lowercase hexadecimal",
                                high > 15 ? i : i + 1);
        bytes->bytes[bytes->size++] = (uint8_t)(high << 4 | low);
    }
    return QP_OK;
}

qp_status qp_line_integer(qp_json_value value, int64_t *integer, bool *beyond, qp_error *error)
{
    const char *text;
    size_t length;
    qp_status status = qp_json_decimal_text(value, &text, &length, error);
    if (status != QP_OK)
        return status;
    *beyond = qp_json_decimal_i64(value, integer, NULL) != QP_OK;
    if (*beyond)
        *integer = text[0] == '-' ? INT64_MIN : INT64_MAX;
    return QP_OK;
}
