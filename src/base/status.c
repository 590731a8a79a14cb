/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - the names of status codes and tables, the version, and the filling and printing of
 * errors.
 */
#include "base/base.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

static const char *const status_tokens[] = {
    [QP_OK] = "ok",
    [QP_MODEL_MISMATCH] = "model_mismatch",
    [QP_TOO_LARGE] = "too_large",
    [QP_FIELD_RANGE] = "field_range",
    [QP_GEOMETRY_MISMATCH] = "geometry_mismatch",
    [QP_STREAM_EXHAUSTED] = "stream_exhausted",
    [QP_STREAM_NONCANONICAL] = "stream_noncanonical",
    [QP_PAYLOAD_MALFORMED] = "payload_malformed",
    [QP_MALFORMED] = "malformed",
    [QP_INVALID_ARGUMENT] = "invalid_argument",
    [QP_NO_MEMORY] = "no_memory",
    [QP_IO] = "io",
    [QP_INTERNAL] = "internal",
};

static const char *const table_names[] = {
    [QP_TABLE_NONE] = "",
    [QP_TABLE_HEADER] = "header",
    [QP_TABLE_SCALARS] = "scalars",
    [QP_TABLE_INPUTS] = "inputs",
    [QP_TABLE_OUTPUTS] = "outputs",
    [QP_TABLE_TENSORS] = "tensors",
    [QP_TABLE_OPERATORS] = "operators",
    [QP_TABLE_PARAMETERS] = "parameters",
    [QP_TABLE_SYMBOLS] = "symbols",
};

const char *qp_status_token(qp_status status)
{
    const size_t count = sizeof status_tokens / sizeof status_tokens[0];
    size_t index = (size_t)status;
    return index < count ? status_tokens[index] : "unknown";
}

const char *qp_table_name(qp_table table)
{
    const size_t count = sizeof table_names / sizeof table_names[0];
    size_t index = (size_t)table;
    return index < count ? table_names[index] : "";
}

const char *qp_version(void)
{
    return VERSION_TEXT(QP_VERSION_MAJOR, QP_VERSION_MINOR, QP_VERSION_PATCH);
}

/* A message may quote names from an untrusted file: it keeps no control character, so that it stays
 * one line and moves no cursor, and it is not cut inside a UTF-8 sequence. */
static void clean_message(char *message, size_t size, bool cut)
{
    size_t length = strlen(message);

    if (cut && length == size - 1) {
        size_t lead = length;
        while (lead > 0 && length - lead < 3 && ((unsigned char)message[lead - 1] & 0xC0) == 0x80)
            lead--;
        if (lead > 0 && (unsigned char)message[lead - 1] >= 0xC0)
            message[lead - 1] = '\0';
    }
    for (char *c = message; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    }
}

static void fill(qp_error *error, qp_status status, qp_place place, const char *format,
                 va_list arguments)
{
    error->status = status;
    error->table = place.table;
    error->record = place.record;
    error->operator_index = place.operator_index;
    error->offset = place.offset;
    error->row = -1;
    error->column = -1;
    error->check = NULL;
    int length = vsnprintf(error->message, sizeof error->message, format, arguments);
    if (length < 0)
        error->message[0] = '\0';
    clean_message(error->message, sizeof error->message, length >= (int)sizeof error->message);
}

qp_status qp_fail(qp_error *error, qp_status status, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, QP_NOWHERE, format, arguments);
        va_end(arguments);
    }
    return status;
}

qp_status qp_fail_at(qp_error *error, qp_status status, qp_place place, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, place, format, arguments);
        va_end(arguments);
    }
    return status;
}

qp_status qp_fail_check(qp_error *error, qp_status status, const char *check, int64_t offset,
                        const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, (qp_place){QP_TABLE_NONE, -1, -1, offset}, format, arguments);
        va_end(arguments);
        error->check = check;
    }
    return status;
}

qp_status qp_fail_element(qp_error *error, qp_status status, const char *check,
                          qp_element_place place, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, status, QP_NOWHERE, format, arguments);
        va_end(arguments);
        error->check = check;
        error->row = place.row;
        error->column = place.column;
    }
    return status;
}

qp_status qp_fail_memory(qp_error *error, const char *what)
{
    return qp_fail(error, QP_NO_MEMORY, "no memory for %s", what);
}

/* The parts of a place, joined by ", ": "C-SPAN, tensors record 3, operator 5, byte 92". */
typedef struct place_writer {
    char text[192]; /* at most 24 + 10 + 5 * (11 + 19) characters and a check's short name */
    size_t length;
} place_writer;

static void put_number(place_writer *w, const char *name, int64_t value)
{
    if (value < 0 || w->length >= sizeof w->text)
        return;
    int n = snprintf(w->text + w->length, sizeof w->text - w->length, "%s%s %" PRId64,
                     w->length > 0 ? ", " : "", name, value);
    w->length += n > 0 ? (size_t)n : 0;
}

static void put_word(place_writer *w, const char *word)
{
    int n = snprintf(w->text + w->length, sizeof w->text - w->length, "%s%.24s",
                     w->length > 0 ? ", " : "", word);
    w->length += n > 0 ? (size_t)n : 0;
}

static void put_place(place_writer *w, const qp_error *error)
{
    if (error->check != NULL)
        put_word(w, error->check);
    if (error->table != QP_TABLE_NONE && error->record >= 0) {
        char name[32];
        snprintf(name, sizeof name, "%s record", qp_table_name(error->table));
        put_number(w, name, error->record);
    } else if (error->table != QP_TABLE_NONE) {
        put_word(w, qp_table_name(error->table));
    } else {
        put_number(w, "record", error->record);
    }
    put_number(w, "operator", error->operator_index);
    put_number(w, "row", error->row);
    put_number(w, "column", error->column);
    put_number(w, "byte", error->offset);
}

const char *qp_error_text(const qp_error *error, char *text, size_t size)
{
    place_writer w = {{0}, 0};

    if (size == 0)
        return text;
    put_place(&w, error);
    const char *place = w.text;
    int length =
        snprintf(text, size, "%s: %s%s%s%s", qp_status_token(error->status), error->message,
                 place[0] != '\0' ? " (" : "", place, place[0] != '\0' ? ")" : "");
    clean_message(text, size, length >= 0 && (size_t)length >= size);
    return text;
}
