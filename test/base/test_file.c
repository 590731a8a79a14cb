/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file.c - opening files of every kind.
 */
#include "base/base.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char path[] = "test_file.tmp";

static void write_file(size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    for (size_t i = 0; i < size; i++)
        assert_int_not_equal(fputc((int)(i % 251), stream), EOF);
    assert_int_equal(fclose(stream), 0);
}

static int remove_file(void **state)
{
    (void)state;
    remove(path);
    return 0;
}

static void assert_contents(const qp_file *file, size_t size)
{
    assert_int_equal(file->size, size);
    assert_non_null(file->bytes);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(file->bytes[i], i % 251);
}

static void test_opens(void **state)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 70000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        failing_allocator memory = failing_allocator_make(0);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_file file;
        write_file(sizes[i]);
        assert_int_equal(qp_file_open(path, &allocator, &file, NULL), QP_OK);
        assert_contents(&file, sizes[i]);
        qp_file_close(&file);
        assert_int_equal(file.size, 0);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
    }
}

static void test_refusals(void **state)
{
    qp_file file = {.size = 5};
    qp_error error;
    (void)state;

    assert_int_equal(qp_file_open("test_file.absent", NULL, &file, &error), QP_IO);
    assert_int_equal(error.status, QP_IO);
    assert_non_null(strstr(error.message, "test_file.absent"));
    assert_int_equal(file.size, 5);
    assert_int_equal(qp_file_open(".", NULL, &file, &error), QP_IO);
    assert_non_null(strstr(error.message, "directory"));
    assert_int_equal(qp_file_open("", NULL, &file, NULL), QP_IO);
    assert_int_equal(file.size, 5);
}

/* Standard input from a file, at its start and read from before: what is left is what is read. */
static void test_standard_input(void **state)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_file file;
    (void)state;

    write_file(300000);
    assert_non_null(freopen(path, "rb", stdin));
    assert_int_equal(qp_file_open_standard_input(&allocator, &file, NULL), QP_OK);
    assert_contents(&file, 300000);
    qp_file_close(&file);

    assert_non_null(freopen(path, "rb", stdin));
    for (unsigned i = 0; i < 251; i++)
        assert_int_equal(getchar(), (int)i);
    assert_int_equal(qp_file_open_standard_input(&allocator, &file, NULL), QP_OK);
    assert_false(file.mapped);
    assert_contents(&file, 300000 - 251);
    qp_file_close(&file);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.has_fault);
}

static void test_reading_without_memory(void **state)
{
    (void)state;
    write_file(200000);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_file file;
        qp_error error;
        assert_non_null(freopen(path, "rb", stdin));
        assert_int_equal(getchar(), 0);
        qp_status status = qp_file_open_standard_input(&allocator, &file, &error);
        if (status == QP_OK)
            qp_file_close(&file);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_opens, remove_file),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test_teardown(test_standard_input, remove_file),
        cmocka_unit_test_teardown(test_reading_without_memory, remove_file),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
