/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configuration_support.h - models from texts, maps verified and configured, for the tests of
 * inventories, maps, searches and configurations.
 */
#ifndef QP_TEST_FABRIC_CONFIGURATION_SUPPORT_H
#define QP_TEST_FABRIC_CONFIGURATION_SUPPORT_H

#include "fabric/configuration.h"
#include "fabric/search.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "examples.h"

/* Some texts as one file. */
static inline qp_fabric_model *read_texts(const char *first, const char *second)
{
    qp_fabric_text inputs[2] = {{"first", first, strlen(first)},
                                {"second", second, strlen(second)}};
    qp_fabric_model *model = NULL;
    qp_fabric_error error;
    char line[512];

    if (qp_fabric_read(inputs, 2, NULL, &model, &error) != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&error, line, sizeof line));
    return model;
}

static inline qp_fabric_model *read_one(const char *text)
{
    return read_texts(text, "");
}

static inline void assert_good(qp_status status, const qp_fabric_error *error)
{
    char line[512];
    if (status != QP_OK)
        fail_msg("%s", qp_fabric_error_text(error, line, sizeof line));
}

/* A check of a whole text: its class and a part of its message ("" and NO_FAULT for good). */
static inline void assert_check(const char *first, const char *second, qp_fabric_fault fault,
                                const char *part)
{
    qp_fabric_model *model = read_texts(first, second);
    qp_fabric_error error = {.fault = QP_FABRIC_NO_FAULT};
    char line[512] = "";
    const qp_status status = qp_fabric_check(model, NULL, &error);

    if (status != QP_OK)
        qp_fabric_error_text(&error, line, sizeof line);
    if ((status == QP_OK) != (fault == QP_FABRIC_NO_FAULT) || error.fault != fault ||
        strstr(line, part) == NULL)
        print_error("not %s, '%s': %s\n%s\n", qp_fabric_fault_name(fault), part, line, second);
    assert_int_equal(error.fault, fault);
    assert_non_null(strstr(line, part));
    if (fault != QP_FABRIC_NO_FAULT)
        assert_true(error.line > 0 && error.column > 0);
    qp_fabric_free(model);
}

/* A configuration in one form, as a terminated string. */
static inline char *configure_text(const qp_fabric_model *model, const char *map,
                                   const char *fabric, qp_fabric_form form, size_t *size)
{
    qp_fabric_error error;
    void *bytes;

    assert_good(qp_fabric_configure(model, map, fabric, form, NULL, &bytes, size, &error), &error);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    memcpy(text, bytes, *size);
    text[*size] = '\0';
    qp_bytes_free(NULL, bytes, *size);
    return text;
}

/* The payload's hex in the report. */
static inline void assert_payload(const qp_fabric_model *model, const char *map, const char *fabric,
                                  const char *expected)
{
    size_t size;
    char part[128];
    char *text = configure_text(model, map, fabric, QP_FABRIC_FORM_JSON, &size);

    snprintf(part, sizeof part, "\"payload\":\"%s\"", expected);
    if (strstr(text, part) == NULL)
        print_error("not %s: %s\n", part, text);
    assert_non_null(strstr(text, part));
    free(text);
}

static inline void assert_text_sha256(const void *bytes, size_t size,
                                      const qp_fabric_artifact *artifact, const char *expected)
{
    uint8_t digest[QP_SHA256_SIZE];
    char text[QP_SHA256_HEX_SIZE];

    qp_fabric_digest(artifact, bytes, size, digest);
    qp_sha256_hex(digest, text);
    assert_string_equal(text, expected);
}

#endif
