/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_buffer.c - buffers, arenas and zeroed arrays, and what they do without memory.
 */
#include "base/base.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_text(const qp_buffer *buffer, const char *expected)
{
    assert_false(buffer->failed);
    assert_int_equal(buffer->size, strlen(expected));
    assert_memory_equal(buffer->bytes, expected, buffer->size);
}

static void test_appends(void **state)
{
    static const uint8_t le[] = {0x88, 0x88, 0x77, 0x88, 0x77, 0x66, 0x55, 0x88,
                                 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    qp_buffer buffer;
    (void)state;

    qp_buffer_init(&buffer, NULL);
    qp_buffer_append(&buffer, NULL, 0);
    assert_int_equal(buffer.size, 0);
    qp_buffer_text(&buffer, "a");
    qp_buffer_text(&buffer, "");
    qp_buffer_format(&buffer, "[%d %s]", -5, "x");
    qp_buffer_hex(&buffer, (const uint8_t *)"\x00\x9f\xff", 3);
    assert_text(&buffer, "a[-5 x]009fff");

    buffer.size = 0;
    for (unsigned width = 1; width <= 8; width *= 2)
        qp_buffer_le(&buffer, 0x1122334455667788u, width);
    assert_int_equal(buffer.size, sizeof le);
    assert_memory_equal(buffer.bytes, le, sizeof le);
    qp_buffer_free(&buffer);
}

static void test_decimals(void **state)
{
    qp_buffer buffer;
    (void)state;
    qp_buffer_init(&buffer, NULL);
    qp_buffer_i64_decimal(&buffer, 0);
    qp_buffer_text(&buffer, " ");
    qp_buffer_i64_decimal(&buffer, -10);
    qp_buffer_text(&buffer, " ");
    qp_buffer_i64_decimal(&buffer, INT64_MIN);
    qp_buffer_text(&buffer, " ");
    qp_buffer_i64_decimal(&buffer, INT64_MAX);
    qp_buffer_text(&buffer, " ");
    qp_buffer_u64_decimal(&buffer, UINT64_MAX);
    assert_text(&buffer, "0 -10 -9223372036854775808 9223372036854775807 18446744073709551615");
    qp_buffer_free(&buffer);
}

static void test_loads(void **state)
{
    static const uint8_t bytes[] = {0x55, 0x80, 0xff, 0x00, 0x7f, 0xfe, 0xff, 0xff, 0xff, 0x80};
    (void)state;
    assert_int_equal(qp_load_u16(bytes + 1), 0xff80);
    assert_int_equal(qp_load_i16(bytes + 1), -128);
    assert_int_equal(qp_load_u32(bytes + 1), 0x7f00ff80);
    assert_int_equal(qp_load_i32(bytes + 5), -2);
    assert_true(qp_load_u64(bytes + 1) == 0xfffffffe7f00ff80u);
    assert_true(qp_load_i64(bytes + 1) == -0x180ff0080);
    assert_true(qp_to_i64(UINT64_C(1) << 63) == INT64_MIN);
    assert_int_equal(qp_to_i32(0x80000000u), INT32_MIN);
    assert_int_equal(qp_to_i16(0x8000), INT16_MIN);
    assert_int_equal(qp_to_i8(0x80), INT8_MIN);
}

static void test_sizes(void **state)
{
    size_t result = 7;
    (void)state;
    assert_false(qp_mul_size(SIZE_MAX / 2, 3, &result));
    assert_true(qp_mul_size(SIZE_MAX, 1, &result));
    assert_true(result == SIZE_MAX);
    assert_false(qp_add_size(SIZE_MAX, 1, &(size_t){0}));
    assert_null(qp_allocate(NULL, SIZE_MAX / 2, 3));
}

/* A failed append leaves the bytes there were, and every later one does nothing. */
static void test_failure_is_sticky(void **state)
{
    (void)state;
    for (size_t k = 1; k <= 3; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_buffer buffer;
        qp_buffer_init(&buffer, &allocator);
        for (unsigned i = 0; i < 1000 && !buffer.failed; i++)
            qp_buffer_text(&buffer, "0123456789");
        assert_true(buffer.failed);
        size_t size = buffer.size;
        memory.fail_at = 0;
        qp_buffer_text(&buffer, "x");
        qp_buffer_format(&buffer, "%d", 1);
        qp_buffer_hex(&buffer, (const uint8_t *)"x", 1);
        assert_false(qp_buffer_reserve(&buffer, 0));
        assert_int_equal(buffer.size, size);
        assert_int_equal(size % 10, 0);
        qp_buffer_free(&buffer);
        assert_false(memory.has_fault);
        assert_int_equal(memory.blocks, 0);
    }
    qp_buffer buffer;
    qp_buffer_init(&buffer, NULL);
    qp_buffer_text(&buffer, "x");
    assert_false(qp_buffer_reserve(&buffer, SIZE_MAX));
    assert_true(buffer.failed);
    qp_buffer_free(&buffer);
}

static void test_allocate(void **state)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    (void)state;

    uint32_t *array = qp_allocate(&allocator, 100, sizeof *array);
    assert_non_null(array);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(array[i], 0);
    void *empty = qp_allocate(&allocator, 0, 8);
    assert_non_null(empty);
    assert_int_equal(memory.blocks, 2);
    qp_release(&allocator, array, 100, sizeof *array);
    qp_release(&allocator, empty, 0, 8);
    qp_release(&allocator, NULL, 5, 8);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.has_fault);
    qp_release(NULL, qp_allocate(NULL, 3, 5), 3, 5);
}

/* Sizes small and large in turn: blocks are aligned, zeroed, and do not overlap. */
static void test_arena(void **state)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    uint8_t *blocks[400];
    qp_arena arena;
    (void)state;

    qp_arena_init(&arena, &allocator);
    for (unsigned i = 0; i < 400; i++) {
        size_t size = (size_t)i * i % 5003;
        blocks[i] = qp_arena_allocate(&arena, size, 1);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)(i % 255 + 1), size);
    }
    for (unsigned i = 0; i < 400; i++) {
        for (size_t k = 0; k < (size_t)i * i % 5003; k++)
            assert_int_equal(blocks[i][k], i % 255 + 1);
    }
    assert_null(qp_arena_allocate(&arena, SIZE_MAX, 2));
    assert_null(qp_arena_allocate(&arena, SIZE_MAX, 1));
    assert_non_null(qp_arena_allocate(&arena, 0, 4));
    qp_arena_free(&arena);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.has_fault);
}

static void test_arena_without_memory(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_arena arena;
        bool failed = false;
        qp_arena_init(&arena, &allocator);
        for (unsigned i = 0; i < 100 && !failed; i++)
            failed = qp_arena_allocate(&arena, i * 37 % 2000, 3) == NULL;
        qp_arena_free(&arena);
        assert_int_equal(failed, memory.has_failed);
        assert_int_equal(memory.blocks, 0);
        if (!failed)
            break;
    }
}

/* ---- errors --------------------------------------------------------------------------------- */

static void test_tokens(void **state)
{
    (void)state;
    assert_string_equal(qp_status_token(QP_OK), "ok");
    assert_string_equal(qp_status_token(QP_MODEL_MISMATCH), "model_mismatch");
    assert_string_equal(qp_status_token(QP_GEOMETRY_MISMATCH), "geometry_mismatch");
    assert_string_equal(qp_status_token(QP_INTERNAL), "internal");
    assert_string_equal(qp_status_token((qp_status)99), "unknown");
    assert_string_equal(qp_table_name(QP_TABLE_NONE), "");
    assert_string_equal(qp_table_name(QP_TABLE_PARAMETERS), "parameters");
    assert_string_equal(qp_version(), "0.1.0");
}

static void test_error_text(void **state)
{
    qp_error error;
    char text[300];
    (void)state;

    assert_int_equal(qp_fail(NULL, QP_IO, "x"), QP_IO);
    assert_int_equal(qp_fail(&error, QP_TOO_LARGE, "%d is too many", 9), QP_TOO_LARGE);
    assert_string_equal(qp_error_text(&error, text, sizeof text), "too_large: 9 is too many");

    qp_fail_at(&error, QP_FIELD_RANGE, (qp_place){QP_TABLE_TENSORS, 3, -1, 92}, "a sentence");
    assert_string_equal(qp_error_text(&error, text, sizeof text),
                        "field_range: a sentence (tensors record 3, byte 92)");
    qp_fail_at(&error, QP_FIELD_RANGE, (qp_place){QP_TABLE_OPERATORS, 3, 3, 92}, "a sentence");
    assert_string_equal(qp_error_text(&error, text, sizeof text),
                        "field_range: a sentence (operators record 3, operator 3, byte 92)");
    qp_fail_at(&error, QP_MODEL_MISMATCH, (qp_place){QP_TABLE_NONE, -1, 0, -1}, "s");
    assert_string_equal(qp_error_text(&error, text, sizeof text), "model_mismatch: s (operator 0)");
    qp_fail_at(&error, QP_FIELD_RANGE, (qp_place){QP_TABLE_NONE, 7, -1, -1}, "s");
    assert_string_equal(qp_error_text(&error, text, sizeof text), "field_range: s (record 7)");
    assert_string_equal(qp_error_text(&error, text, 8), "field_r");
    text[0] = 'q';
    qp_error_text(&error, text, 0);
    assert_int_equal(text[0], 'q');

    assert_int_equal(qp_fail_memory(&error, "a graph"), QP_NO_MEMORY);
    assert_string_equal(error.message, "no memory for a graph");
}

/* Names from a file may hold line breaks and terminal escapes, and be longer than a message. */
static void test_hostile_messages(void **state)
{
    qp_error error;
    char name[400];
    (void)state;

    qp_fail(&error, QP_MALFORMED, "the tensor %s", "a\nb\x1b[31m\x7f");
    assert_string_equal(error.message, "the tensor a?b?[31m?");

    memset(name, 'x', sizeof name); /* then a euro sign, cut after 1, 2 and 3 of its bytes */
    for (size_t cut = 1; cut <= 3; cut++) {
        size_t kept = sizeof error.message - 1;
        memset(name, 'x', sizeof name);
        memcpy(name + kept - cut, "\xe2\x82\xac", 3);
        name[sizeof name - 1] = '\0';
        qp_fail(&error, QP_MALFORMED, "%s", name);
        size_t length = strlen(error.message);
        assert_true(length <= kept);
        if (cut < 3)
            assert_int_equal(error.message[length - 1], 'x');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_failure_is_sticky),
        cmocka_unit_test(test_allocate),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_without_memory),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_error_text),
        cmocka_unit_test(test_hostile_messages),
    };
    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
