/* SPDX-License-Identifier: Apache-2.0 */
/* test_error.c - the checks and the elements that an error names, and the processor's features. */
#include "base/base.h"

#include <stdarg.h>
#include <setjmp.h>

#include <cmocka.h>

static void a_check_and_its_byte(void **state)
{
    (void)state;
    qp_error error;
    char text[300];

    assert_int_equal(
        qp_fail_check(&error, QP_MALFORMED, "F-MAGIC", 7, "the magic of version %d", 2),
        QP_MALFORMED);
    assert_string_equal(error.check, "F-MAGIC");
    assert_int_equal(error.row, -1);
    assert_string_equal(qp_error_text(&error, text, sizeof text),
                        "malformed: the magic of version 2 (F-MAGIC, byte 7)");
    qp_fail_check(&error, QP_MALFORMED, "C-JSON", -1, "s");
    assert_string_equal(qp_error_text(&error, text, sizeof text), "malformed: s (C-JSON)");
}

static void an_element(void **state)
{
    (void)state;
    qp_error error;
    char text[300];

    qp_fail_element(&error, QP_FIELD_RANGE, "code_invalid", (qp_element_place){3, 129}, "s");
    assert_string_equal(qp_error_text(&error, text, sizeof text),
                        "field_range: s (code_invalid, row 3, column 129)");
    qp_fail_element(&error, QP_FIELD_RANGE, "scale_invalid", (qp_element_place){0, -1}, "s");
    assert_string_equal(qp_error_text(&error, text, sizeof text),
                        "field_range: s (scale_invalid, row 0)");
    qp_fail(&error, QP_IO, "s");
    assert_null(error.check);
    assert_int_equal(error.row, -1);
    assert_int_equal(error.column, -1);
}

static void a_long_place_is_cut(void **state)
{
    (void)state;
    qp_error error;
    char text[600];

    qp_fail(&error, QP_IO, "s");
    error.table = QP_TABLE_PARAMETERS;
    error.record = error.operator_index = error.row = error.column = error.offset = INT64_MAX;
    error.check = "a name of a check that is far longer than any";
    qp_error_text(&error, text, sizeof text);
    assert_non_null(strstr(text, "(a name of a check that i, parameters record 92233"));
    assert_true(strlen(text) < 300);
}

static void features_are_stable(void **state)
{
    (void)state;
    uint32_t features = qp_cpu_features();
    assert_int_equal(features, qp_cpu_features());
    assert_int_equal(features & ~(uint32_t)(QP_CPU_AVX2 | QP_CPU_AVX512 | QP_CPU_NEON), 0);
    if ((features & QP_CPU_AVX512) != 0)
        assert_true((features & QP_CPU_AVX2) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_and_its_byte),
        cmocka_unit_test(an_element),
        cmocka_unit_test(a_long_place_is_cut),
        cmocka_unit_test(features_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
