/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_number.c - binary32 and binary64 as decimal text and back. The C library converts; the
 * point that the program's locale asks for is put in and taken out here, and the rounding mode is
 * the library's own.
 */
#include "artifact/metadata.h"

#include "number/float_mode.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 400 /* bytes of a number's text; JSON allows any */

/* Takes the locale's point out of a number that printf wrote. */
static void append_plain(qp_buffer *out, const char *text)
{
    const char *point = localeconv()->decimal_point;
    const char *found = point[0] != '\0' ? strstr(text, point) : NULL;
    if (found == NULL) {
        qp_buffer_text(out, text);
        return;
    }
    qp_buffer_append(out, text, (size_t)(found - text));
    qp_buffer_text(out, ".");
    qp_buffer_text(out, found + strlen(point));
}

void qp_append_f32(qp_buffer *out, float value)
{
    char text[LONGEST];
    qp_float_mode mode = qp_float_mode_enter();
    for (int digits = 6; digits <= 9; digits++) { /* 9 always read back */
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    qp_float_mode_leave(mode);
    append_plain(out, text);
}

void qp_append_f64(qp_buffer *out, double value)
{
    char text[LONGEST];
    qp_float_mode mode = qp_float_mode_enter();
    for (int digits = 15; digits <= 17; digits++) { /* 17 always read back */
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    qp_float_mode_leave(mode);
    append_plain(out, text);
}

/* The text with the locale's point, NUL-terminated. */
static bool localise(const char *text, size_t length, char out[LONGEST])
{
    const char *point = localeconv()->decimal_point;
    size_t size = 0, count = strlen(point);
    if (length + count >= LONGEST || length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '.') {
            out[size++] = text[i];
        } else {
            memcpy(out + size, point, count); /* at most one point */
            size += count;
        }
    }
    out[size] = '\0';
    return true;
}

static bool is_number_text(const char *text, size_t length)
{
    size_t points = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0' || strchr("0123456789+-.eE", text[i]) == NULL)
            return false;
        points += text[i] == '.';
    }
    return points <= 1;
}

bool qp_read_f64(const char *text, size_t length, double *value)
{
    char copy[LONGEST], *end;
    if (!is_number_text(text, length) || !localise(text, length, copy))
        return false;
    qp_float_mode mode = qp_float_mode_enter();
    *value = strtod(copy, &end);
    qp_float_mode_leave(mode);
    return *end == '\0';
}

bool qp_read_f32(const char *text, size_t length, float *value)
{
    char copy[LONGEST], *end;
    if (!is_number_text(text, length) || !localise(text, length, copy))
        return false;
    qp_float_mode mode = qp_float_mode_enter();
    *value = strtof(copy, &end);
    qp_float_mode_leave(mode);
    return *end == '\0';
}
