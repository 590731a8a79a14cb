/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_output.c - outputs are whole or not there.
 */
#include "cli/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char target[] = "test_output.tmp";
static const char beside[] = "test_output.tmp.quipu-0";

static int remove_files(void **state)
{
    (void)state;
    remove(target);
    remove(beside);
    return 0;
}

static void assert_contents(const char *path, const char *expected)
{
    qp_file file;
    assert_int_equal(qp_file_open(path, NULL, &file, NULL), QP_OK);
    assert_int_equal(file.size, strlen(expected));
    assert_memory_equal(file.bytes, expected, file.size);
    qp_file_close(&file);
}

static void assert_absent(const char *path)
{
    FILE *stream = fopen(path, "rb");
    assert_null(stream);
}

static void test_writes_and_replaces(void **state)
{
    qp_buffer buffer;
    (void)state;
    assert_int_equal(qp_output_write(target, "first", 5, NULL), QP_OK);
    assert_contents(target, "first");
    qp_buffer_init(&buffer, NULL);
    qp_buffer_text(&buffer, "second");
    assert_int_equal(qp_output_buffer(target, &buffer, NULL), QP_OK);
    assert_contents(target, "second");
    qp_buffer_free(&buffer);
    assert_int_equal(qp_output_write(target, NULL, 0, NULL), QP_OK);
    assert_contents(target, "");
    assert_absent(beside);
}

/* What a killed run left beside the target belongs to nobody known: it is not touched. */
static void test_leaves_other_files_alone(void **state)
{
    (void)state;
    assert_int_equal(qp_output_write(beside, "other", 5, NULL), QP_OK);
    assert_int_equal(qp_output_write(target, "mine", 4, NULL), QP_OK);
    assert_contents(beside, "other");
    assert_contents(target, "mine");
}

static void test_refusals(void **state)
{
    qp_buffer buffer;
    qp_error error;
    (void)state;
    assert_int_equal(qp_output_write("absent.directory/file", "x", 1, &error), QP_IO);
    assert_non_null(strstr(error.message, "absent.directory/file"));
    assert_int_equal(qp_output_write(".", "x", 1, &error), QP_IO);
    assert_absent("..quipu-0");

    qp_buffer_init(&buffer, NULL);
    qp_buffer_reserve(&buffer, SIZE_MAX);
    assert_int_equal(qp_output_buffer(target, &buffer, &error), QP_NO_MEMORY);
    assert_absent(target);
    qp_buffer_free(&buffer);
}

/* A device is written in place, never renamed over. */
static void test_devices(void **state)
{
    FILE *null_device = fopen("/dev/null", "rb");
    FILE *full_device = fopen("/dev/full", "rb");
    (void)state;
    if (null_device != NULL) {
        assert_int_equal(qp_output_write("/dev/null", "x", 1, NULL), QP_OK);
        assert_int_equal(fgetc(null_device), EOF);
        fclose(null_device);
        assert_absent("/dev/null.quipu-0");
    }
    if (full_device != NULL) {
        qp_error error;
        assert_int_equal(qp_output_write("/dev/full", "x", 1, &error), QP_IO);
        assert_string_equal(error.message, "cannot write /dev/full: No space left on device");
        fclose(full_device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_writes_and_replaces, remove_files),
        cmocka_unit_test_teardown(test_leaves_other_files_alone, remove_files),
        cmocka_unit_test_teardown(test_refusals, remove_files),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
