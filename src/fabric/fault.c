/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.c - the names of error classes (section 11) and rules (section 6); filling and printing
 * errors.
 */
#include "fabric/fault.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct fault_row {
    const char *name;
    qp_status status;
} fault_row;

static const fault_row fault_rows[] = {
    [QP_FABRIC_NO_FAULT] = {"", QP_INTERNAL},
    [QP_FABRIC_INVALID] = {"Invalid", QP_MALFORMED},
    [QP_FABRIC_INADMISSIBLE] = {"CapabilityInadmissible", QP_MODEL_MISMATCH},
    [QP_FABRIC_UNSUPPORTED] = {"Unsupported", QP_MODEL_MISMATCH},
    [QP_FABRIC_CONFLICT] = {"Conflict", QP_MODEL_MISMATCH},
};

static const char *const rule_names[QP_FABRIC_RULE_COUNT] = {
    [QP_FABRIC_RULE_NONE] = "none",
    [QP_FABRIC_RULE_SCHEMA] = "schema",
    [QP_FABRIC_RULE_SHAPE] = "shape",
    [QP_FABRIC_RULE_WIDTH] = "width",
    [QP_FABRIC_RULE_FORMAT] = "format",
    [QP_FABRIC_RULE_PAIR] = "pair",
    [QP_FABRIC_RULE_PREDICATE] = "predicate",
    [QP_FABRIC_RULE_STEP_KIND] = "step-kind",
    [QP_FABRIC_RULE_CAPACITY] = "capacity",
    [QP_FABRIC_RULE_FAN] = "fan",
    [QP_FABRIC_RULE_FAST_MATH] = "fast-math",
    [QP_FABRIC_RULE_ROUNDING] = "rounding",
    [QP_FABRIC_RULE_NAN] = "nan",
    [QP_FABRIC_RULE_SIGNED_ZERO] = "signed-zero",
    [QP_FABRIC_RULE_ACCURACY] = "accuracy",
    [QP_FABRIC_RULE_INDEX_WIDTH] = "index-width",
    [QP_FABRIC_RULE_TYPE] = "type",
    [QP_FABRIC_RULE_PORT_WIDTH] = "port-width",
    [QP_FABRIC_RULE_PORT_KIND] = "port-kind",
    [QP_FABRIC_RULE_CORRESPONDENCE] = "correspondence",
    [QP_FABRIC_RULE_DEFINEDNESS] = "definedness",
};

const char *qp_fabric_fault_name(qp_fabric_fault fault)
{
    const size_t count = sizeof fault_rows / sizeof fault_rows[0];
    return (size_t)fault < count ? fault_rows[fault].name : "";
}

const char *qp_fabric_rule_name(qp_fabric_rule rule)
{
    return (size_t)rule < QP_FABRIC_RULE_COUNT ? rule_names[rule] : "none";
}

/* A name longer than its room keeps its end, which tells files of one folder apart. */
static void set_file(qp_fabric_error *error, const char *file)
{
    const size_t room = sizeof error->file - 1;
    size_t length = file != NULL ? strlen(file) : 0;

    error->file[0] = '\0';
    if (length > room) {
        file += length - room;
        length = room;
    }
    if (length > 0)
        memcpy(error->file, file, length + 1);
}

static qp_status fill(qp_fabric_error *error, qp_fabric_fault fault, qp_fabric_rule rule,
                      qp_fabric_place place, const char *format, va_list arguments)
{
    qp_status status = fault_rows[fault].status;
    char message[sizeof error->base.message];

    if (error == NULL)
        return status;
    if (vsnprintf(message, sizeof message, format, arguments) < 0)
        message[0] = '\0';
    qp_fail(&error->base, status, "%s", message);
    error->fault = fault;
    error->rule = rule;
    error->line = place.line;
    error->column = place.column;
    set_file(error, place.line > 0 ? place.file : NULL);
    return status;
}

qp_status qp_fabric_fail(qp_fabric_error *error, qp_fabric_fault fault, qp_fabric_place place,
                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    qp_status status = fill(error, fault, QP_FABRIC_RULE_NONE, place, format, arguments);
    va_end(arguments);
    return status;
}

qp_status qp_fabric_refuse(qp_fabric_error *error, qp_fabric_rule rule, qp_fabric_place place,
                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    qp_status status = fill(error, QP_FABRIC_INADMISSIBLE, rule, place, format, arguments);
    va_end(arguments);
    return status;
}

static void clear_place(qp_fabric_error *error)
{
    error->fault = QP_FABRIC_NO_FAULT;
    error->rule = QP_FABRIC_RULE_NONE;
    error->line = error->column = 0;
    error->file[0] = '\0';
}

qp_status qp_fabric_fail_memory(qp_fabric_error *error, const char *what)
{
    if (error == NULL)
        return QP_NO_MEMORY;
    clear_place(error);
    return qp_fail_memory(&error->base, what);
}

qp_status qp_fabric_fail_argument(qp_fabric_error *error, const char *format, ...)
{
    char message[sizeof error->base.message];
    va_list arguments;

    if (error == NULL)
        return QP_INVALID_ARGUMENT;
    va_start(arguments, format);
    if (vsnprintf(message, sizeof message, format, arguments) < 0)
        message[0] = '\0';
    va_end(arguments);
    clear_place(error);
    return qp_fail(&error->base, QP_INVALID_ARGUMENT, "%s", message);
}

const char *qp_fabric_error_text(const qp_fabric_error *error, char *text, size_t size)
{
    char place[sizeof error->file + 32] = "";

    if (size == 0)
        return text;
    if (error->line > 0)
        snprintf(place, sizeof place, "%s:%" PRIu32 ":%" PRIu32 ": ", error->file, error->line,
                 error->column);
    if (error->fault == QP_FABRIC_NO_FAULT)
        snprintf(text, size, "%s%s: %s", place, qp_status_token(error->base.status),
                 error->base.message);
    else
        snprintf(text, size, "%s%s: %s", place, qp_fabric_fault_name(error->fault),
                 error->base.message);
    return text;
}
