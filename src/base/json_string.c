/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_string.c - UTF-8 (RFC 3629) and the escapes of JSON strings (RFC 8259, section 7).
 */
#include "base/json_string.h"

#include "base/json.h"

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* RFC 3629, section 4. The second byte's range keeps out overlong forms (E0, F0), surrogates (ED)
 * and code points above 10FFFF (F4). */
unsigned qp_utf8_length(const uint8_t *p, size_t left)
{
    uint8_t low = 0x80, high = 0xBF;
    unsigned length;

    if (left == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    length = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (left < length)
        return 0;
    if (p[0] == 0xE0)
        low = 0xA0;
    else if (p[0] == 0xED)
        high = 0x9F;
    else if (p[0] == 0xF0)
        low = 0x90;
    else if (p[0] == 0xF4)
        high = 0x8F;
    if (p[1] < low || p[1] > high)
        return 0;
    for (unsigned i = 2; i < length; i++) {
        if (!is_continuation(p[i]))
            return 0;
    }
    return length;
}

/* Writes a code point, at most 10FFFF, as UTF-8, last byte first; returns the count. */
static unsigned encode_backwards(uint32_t code_point, uint8_t bytes[4])
{
    static const uint8_t leads[5] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    unsigned length = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;

    for (unsigned i = 0; i + 1 < length; i++) {
        bytes[i] = (uint8_t)(0x80 | (code_point & 0x3F));
        code_point >>= 6;
    }
    bytes[length - 1] = (uint8_t)(leads[length] | code_point);
    return length;
}

/* ---- escapes -------------------------------------------------------------------------------- */

/* Four hexadecimal digits as a number; false when one is no digit. */
static bool hex4(const uint8_t *p, uint32_t *value)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t c = p[i];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = c - (uint32_t)'0';
        else if (c >= 'a' && c <= 'f')
            digit = c - (uint32_t)'a' + 10;
        else if (c >= 'A' && c <= 'F')
            digit = c - (uint32_t)'A' + 10;
        else
            return false;
        v = v << 4 | digit;
    }
    *value = v;
    return true;
}

static qp_json_escape unicode_escape_at(const uint8_t *p, size_t left)
{
    qp_json_escape wrong = {QP_JSON_ESCAPE_WRONG, 0, 0};
    uint32_t high, low;

    if (left < 6 || !hex4(p + 2, &high))
        return wrong;
    if (high < 0xD800 || high > 0xDFFF)
        return (qp_json_escape){QP_JSON_ESCAPE_RIGHT, 6, high};
    qp_json_escape lone = {QP_JSON_ESCAPE_LONE, 6, high};
    if (high > 0xDBFF || left < 12 || p[6] != '\\' || p[7] != 'u')
        return lone;
    if (!hex4(p + 8, &low) || low < 0xDC00 || low > 0xDFFF)
        return lone;
    return (qp_json_escape){QP_JSON_ESCAPE_RIGHT, 12,
                            0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)};
}

qp_json_escape qp_json_escape_at(const uint8_t *p, size_t left)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";

    if (left < 2)
        return (qp_json_escape){QP_JSON_ESCAPE_WRONG, 0, 0};
    if (p[1] == 'u')
        return unicode_escape_at(p, left);
    for (size_t i = 0; i < sizeof letters - 1; i++) {
        if (p[1] == (uint8_t)letters[i])
            return (qp_json_escape){QP_JSON_ESCAPE_RIGHT, 2, (uint32_t)meanings[i]};
    }
    return (qp_json_escape){QP_JSON_ESCAPE_WRONG, 0, 0};
}

/* ---- decoded bytes -------------------------------------------------------------------------- */

int qp_json_cursor_next(qp_json_cursor *cursor)
{
    if (cursor->pending_count > 0)
        return cursor->pending[--cursor->pending_count];
    if (cursor->at == cursor->end)
        return -1;
    if (*cursor->at != '\\')
        return *cursor->at++;

    qp_json_escape escape = qp_json_escape_at(cursor->at, (size_t)(cursor->end - cursor->at));
    if (escape.kind == QP_JSON_ESCAPE_WRONG)
        return -1; /* the reader has refused such a string */
    cursor->at += escape.length;
    cursor->pending_count = encode_backwards(escape.code_point, cursor->pending);
    return cursor->pending[--cursor->pending_count];
}

int qp_json_compare(qp_json_cursor a, qp_json_cursor b)
{
    int x, y;
    do {
        x = qp_json_cursor_next(&a);
        y = qp_json_cursor_next(&b);
    } while (x == y && x >= 0);
    return x - y;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void append_escape(qp_buffer *buffer, uint8_t c)
{
    static const char meanings[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = c != 0 ? strchr(meanings, c) : NULL;

    if (found != NULL) {
        char escape[2] = {'\\', letters[found - meanings]};
        qp_buffer_append(buffer, escape, 2);
    } else {
        qp_buffer_text(buffer, "\\u00");
        qp_buffer_hex(buffer, &c, 1);
    }
}

void qp_buffer_json_string(qp_buffer *buffer, const char *text, size_t size)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t plain = 0; /* where the bytes begin that are not yet appended */

    qp_buffer_append(buffer, "\"", 1);
    for (size_t i = 0; i < size;) {
        unsigned length = qp_utf8_length(p + i, size - i);
        if (length > 0 && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\') {
            i += length;
            continue;
        }
        qp_buffer_append(buffer, p + plain, i - plain);
        if (length == 0)
            qp_buffer_text(buffer, "\\ufffd");
        else
            append_escape(buffer, p[i]);
        plain = ++i;
    }
    if (size > plain)
        qp_buffer_append(buffer, p + plain, size - plain);
    qp_buffer_append(buffer, "\"", 1);
}
