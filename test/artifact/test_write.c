/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_write.c - new files: whole or not there at all, whatever fails.
 */
#define _POSIX_C_SOURCE 200809L

#include "artifact/write.h"

#include "../failing_allocator.h"
#include "support/convert_files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static qp_status create(const char *path, const qp_new_file *files, size_t count, bool replace,
                        qp_new_files **made)
{
    return qp_new_files_create(path, files, count, replace, NULL, made, NULL);
}

static void put(qp_new_files *files, size_t file, uint64_t offset, const char *text)
{
    qp_sink sink = qp_new_files_sink(files);
    assert_int_equal(sink.write_at(sink.context, file, offset, text, strlen(text), NULL), QP_OK);
}

static void assert_contents(const char *path, const char *bytes, size_t size)
{
    qp_file file = whole_file(path);
    assert_int_equal(file.size, size);
    assert_memory_equal(file.bytes, bytes, size);
    qp_file_close(&file);
}

static void test_one_file(void **state)
{
    (void)state;
    const qp_new_file file = {NULL, 8};
    qp_new_files *files;
    folder_make("test_write_one");
    assert_int_equal(create(in_folder("a"), &file, 1, false, &files), QP_OK);
    assert_false(file_exists(in_folder("a")));
    assert_string_equal(qp_new_files_path(files, 0), in_folder("a.quipu-0"));
    put(files, 0, 5, "xyz");
    put(files, 0, 1, "b");
    assert_int_equal(qp_new_files_close(files, NULL), QP_OK);
    put(files, 0, 0, "A"); /* a file that is closed is opened for the write */
    assert_int_equal(qp_new_files_publish(files, NULL), QP_OK);
    qp_new_files_free(files);
    assert_contents(in_folder("a"), "Ab\0\0\0xyz", 8);
    assert_int_equal(folder_count(), 1);
    folder_remove();
}

static void test_several_files(void **state)
{
    (void)state;
    const qp_new_file all[] = {{NULL, 2}, {"a.part-0001", 3}, {"a.part-0002", 0}};
    qp_new_files *files;
    folder_make("test_write_several");
    assert_int_equal(create(in_folder("a"), all, 3, false, &files), QP_OK);
    assert_string_equal(qp_new_files_path(files, 1), in_folder("a.quipu-0/a.part-0001"));
    put(files, 1, 1, "q");
    put(files, 0, 0, "AB");
    assert_int_equal(qp_new_files_publish(files, NULL), QP_OK);
    qp_new_files_free(files);
    assert_contents(in_folder("a"), "AB", 2);
    assert_contents(in_folder("a.part-0001"), "\0q\0", 3);
    assert_contents(in_folder("a.part-0002"), "", 0);
    assert_int_equal(folder_count(), 3);
    folder_remove();
}

static void test_many_files(void **state)
{
    (void)state;
    enum { COUNT = 150 }; /* more than are held open */
    static char names[COUNT][16];
    static qp_new_file all[COUNT];
    qp_new_files *files;
    folder_make("test_write_many");
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "a.%03zu", i);
        all[i] = (qp_new_file){i == 0 ? NULL : names[i], 4};
    }
    assert_int_equal(create(in_folder("a"), all, COUNT, false, &files), QP_OK);
    for (size_t i = 0; i < COUNT; i++)
        put(files, i, 1, "zz");
    assert_int_equal(qp_new_files_publish(files, NULL), QP_OK);
    qp_new_files_free(files);
    assert_int_equal(folder_count(), COUNT);
    assert_contents(in_folder("a.149"), "\0zz\0", 4);
    folder_remove();
}

static void test_abandoned(void **state)
{
    (void)state;
    const qp_new_file all[] = {{NULL, 2}, {"b", 3}};
    qp_new_files *files;
    folder_make("test_write_abandoned");
    for (size_t count = 1; count <= 2; count++) {
        assert_int_equal(create(in_folder("a"), all, count, false, &files), QP_OK);
        put(files, 0, 0, "x");
        qp_new_files_free(files);
        assert_int_equal(folder_count(), 0);
    }
    qp_new_files_free(NULL);
    folder_remove();
}

static void test_existing_targets(void **state)
{
    (void)state;
    const qp_new_file file = {NULL, 1};
    qp_new_files *files;
    struct stat facts;
    folder_make("test_write_existing");
    write_file(in_folder("a"), "old", 3);
    assert_int_equal(chmod(in_folder("a"), 0600), 0);
    assert_int_equal(create(in_folder("a"), &file, 1, false, &files), QP_IO);
    assert_null(files);
    assert_int_equal(create(in_folder("a"), &file, 1, true, &files), QP_OK);
    put(files, 0, 0, "n");
    assert_contents(in_folder("a"), "old", 3); /* until it is published */
    assert_int_equal(qp_new_files_publish(files, NULL), QP_OK);
    qp_new_files_free(files);
    assert_contents(in_folder("a"), "n", 1);
    assert_int_equal(stat(in_folder("a"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);

    assert_int_equal(mkdir(in_folder("d"), 0777), 0);
    assert_int_equal(create(in_folder("d"), &file, 1, true, &files), QP_IO);
    assert_int_equal(create(in_folder("no/such/folder"), &file, 1, true, &files), QP_IO);
    assert_int_equal(folder_count(), 2);
    folder_remove();
}

/* A target that appears while the file is written is not overwritten, and what was published of the
 * others goes again. */
static void test_target_appears(void **state)
{
    (void)state;
    const qp_new_file all[] = {{NULL, 1}, {"b", 1}, {"c", 1}};
    qp_new_files *files;
    folder_make("test_write_appears");
    assert_int_equal(create(in_folder("a"), all, 3, false, &files), QP_OK);
    write_file(in_folder("b"), "other", 5);
    assert_int_equal(qp_new_files_publish(files, NULL), QP_IO);
    qp_new_files_free(files);
    assert_contents(in_folder("b"), "other", 5);
    assert_int_equal(folder_count(), 1);
    folder_remove();
}

/* What an earlier run that was killed has left is passed over. */
static void test_left_over(void **state)
{
    (void)state;
    const qp_new_file file = {NULL, 1};
    qp_new_files *files;
    folder_make("test_write_left");
    write_file(in_folder("a.quipu-0"), "left", 4);
    assert_int_equal(create(in_folder("a"), &file, 1, false, &files), QP_OK);
    assert_string_equal(qp_new_files_path(files, 0), in_folder("a.quipu-1"));
    qp_new_files_free(files);
    assert_int_equal(folder_count(), 1);
    folder_remove();
}

static void test_past_the_end(void **state)
{
    (void)state;
    const qp_new_file file = {NULL, 4};
    qp_new_files *files;
    folder_make("test_write_past");
    assert_int_equal(create(in_folder("a"), &file, 1, false, &files), QP_OK);
    qp_sink sink = qp_new_files_sink(files);
    assert_int_equal(sink.write_at(sink.context, 0, 3, "xx", 2, NULL), QP_INTERNAL);
    assert_int_equal(sink.write_at(sink.context, 0, 5, "", 0, NULL), QP_INTERNAL);
    assert_int_equal(sink.write_at(sink.context, 0, UINT64_MAX, "x", 1, NULL), QP_INTERNAL);
    qp_new_files_free(files);
    folder_remove();
}

/* A file system that has no room for the file refuses it before a byte is written. */
static void test_no_room(void **state)
{
    (void)state;
    const qp_new_file file = {NULL, 1 << 20};
    struct rlimit before, limit;
    qp_new_files *files;
    qp_error error;
    folder_make("test_write_room");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    qp_status status = qp_new_files_create(in_folder("a"), &file, 1, false, NULL, &files, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(status, QP_IO);
    assert_int_equal(folder_count(), 0);
    folder_remove();
}

static void test_without_memory(void **state)
{
    (void)state;
    const qp_new_file all[] = {{NULL, 2}, {"b", 3}};
    folder_make("test_write_memory");
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_new_files *files;
        qp_status status =
            qp_new_files_create(in_folder("a"), all, 2, false, &allocator, &files, NULL);
        qp_new_files_free(files);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(folder_count(), 0);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
    folder_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_file),         cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_many_files),       cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_existing_targets), cmocka_unit_test(test_target_appears),
        cmocka_unit_test(test_left_over),        cmocka_unit_test(test_past_the_end),
        cmocka_unit_test(test_no_room),          cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
