/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_npy.c - .npy files against what NumPy writes and reads.
 */
#include "npy_golden.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define GOLDENS (sizeof npy_goldens / sizeof npy_goldens[0])

/* ---- NumPy's own files ---------------------------------------------------------------------- */

static void test_reads_numpy(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOLDENS; i++) {
        const npy_golden *g = &npy_goldens[i];
        int64_t values[12];
        qp_npy array;
        qp_error error = {.message = "none"};
        if (qp_npy_read((const uint8_t *)g->bytes, g->size, &array, &error) != QP_OK)
            fail_msg("case %zu: %s", i, error.message);
        assert_int_equal(array.type, g->type);
        assert_false(array.big_endian);
        assert_int_equal(array.shape.rank, g->shape.rank);
        assert_memory_equal(array.shape.sizes, g->shape.sizes, sizeof array.shape.sizes);
        assert_int_equal(qp_npy_elements(&array, 0, array.count, values, NULL), QP_OK);
        assert_memory_equal(values, g->values, array.count * sizeof values[0]);
    }
}

static void test_writes_numpy(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOLDENS; i++) {
        const npy_golden *g = &npy_goldens[i];
        qp_buffer buffer;
        qp_buffer_init(&buffer, NULL);
        qp_buffer_text(&buffer, "before"); /* what is there stays, and moves nothing */
        assert_int_equal(qp_npy_write(&buffer, g->type, &g->shape, g->values, NULL), QP_OK);
        assert_int_equal(buffer.size, 6 + g->size);
        assert_memory_equal(buffer.bytes + 6, g->bytes, g->size);
        qp_buffer_free(&buffer);
    }
}

/* ---- heads by hand -------------------------------------------------------------------------- */

typedef struct file {
    uint8_t bytes[1024];
    size_t size;
} file;

static file make(unsigned version, const char *head, const char *data, size_t data_size)
{
    file f = {{0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0}, 8};
    size_t length = strlen(head);
    f.bytes[f.size++] = (uint8_t)length;
    f.bytes[f.size++] = (uint8_t)(length >> 8);
    if (version > 1)
        f.size += 2;
    memcpy(f.bytes + f.size, head, length);
    f.size += length;
    if (data_size > 0)
        memcpy(f.bytes + f.size, data, data_size);
    f.size += data_size;
    return f;
}

/* Reads a copy in a block of its own size, so that the address sanitizer sees reads behind it. */
static qp_status read_copy(const file *f, qp_npy *array, uint8_t **copy, qp_error *error)
{
    *copy = malloc(f->size > 0 ? f->size : 1);
    assert_non_null(*copy);
    memcpy(*copy, f->bytes, f->size);
    return qp_npy_read(*copy, f->size, array, error);
}

static void assert_values(file f, unsigned rank, size_t count, const int64_t *expected)
{
    int64_t values[16];
    qp_npy array;
    qp_error error = {.message = "none"};
    uint8_t *copy;
    if (read_copy(&f, &array, &copy, &error) != QP_OK)
        fail_msg("%s: %s", (const char *)f.bytes + 10, error.message);
    assert_int_equal(array.shape.rank, rank);
    assert_int_equal(array.count, count);
    assert_int_equal(qp_npy_elements(&array, 0, count, values, NULL), QP_OK);
    assert_memory_equal(values, expected, count * sizeof values[0]);
    free(copy);
}

static void test_other_spellings(void **state)
{
    static const int64_t two[] = {-2, 258};
    (void)state;
    for (unsigned version = 1; version <= 3; version++)
        assert_values(make(version, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n",
                           "\xfe\xff\x02\x01", 4),
                      1, 2, two);
    assert_values(make(1, "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<i2\"}",
                       "\xfe\xff\x02\x01", 4),
                  1, 2, two);
    assert_values(make(1, "  { 'shape' : ( 1 , 2 , ) , 'descr' : '>i2' , 'fortran_order' : False }",
                       "\xff\xfe\x01\x02", 4),
                  2, 2, two);
}

static void test_byte_orders_and_signs(void **state)
{
    static const char *const head[][2] = {
        {"{'descr':'<i4','fortran_order':False,'shape':(2,)}", "\xfe\xff\xff\xff\x04\x03\x02\x01"},
        {"{'descr':'>i4','fortran_order':False,'shape':(2,)}", "\xff\xff\xff\xfe\x01\x02\x03\x04"},
    };
    static const int64_t signed_values[] = {-2, 0x01020304};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_values(make(1, head[i][0], head[i][1], 8), 1, 2, signed_values);

    assert_values(
        make(1, "{'descr':'>i8','fortran_order':False,'shape':()}", "\x80\0\0\0\0\0\0\0", 8), 0, 1,
        (const int64_t[]){INT64_MIN});
    assert_values(
        make(1, "{'descr':'>u4','fortran_order':False,'shape':()}", "\xff\xff\xff\xfe", 4), 0, 1,
        (const int64_t[]){4294967294});
    assert_values(
        make(1, "{'descr':'|u1','fortran_order':False,'shape':(1,1,1,1,1,1,1,1)}", "\xff", 1), 8, 1,
        (const int64_t[]){255});
}

typedef struct refusal {
    const char *head;
    qp_status status;
    const char *sentence;
} refusal;

static void test_refuses_heads(void **state)
{
    static const refusal cases[] = {
        {"", QP_MALFORMED, "no dictionary"},
        {"{}", QP_MALFORMED, "no descr"},
        {"{'descr':'<i2'}", QP_MALFORMED, "no fortran_order"},
        {"{'descr':'<i2','fortran_order':False}", QP_MALFORMED, "no shape"},
        {"{'descr':'<i2','descr':'<i2','fortran_order':False,'shape':(2,)}", QP_MALFORMED,
         "repeated"},
        {"{'descr':'<i2','fortran_order':False,'shape':(2,),'x':1}", QP_MALFORMED, "none of descr"},
        {"{'descr':'<i2','fortran_order':True,'shape':(2,)}", QP_MALFORMED, "Fortran"},
        {"{'descr':'<i2','fortran_order':0,'shape':(2,)}", QP_MALFORMED, "True or False"},
        {"{'descr':'<f4','fortran_order':False,'shape':(1,)}", QP_MALFORMED, "floating-point"},
        {"{'descr':'<c8','fortran_order':False,'shape':(1,)}", QP_MALFORMED, "floating-point"},
        {"{'descr':[('a','<i2')],'fortran_order':False,'shape':(2,)}", QP_MALFORMED, "structured"},
        {"{'descr':'|O','fortran_order':False,'shape':(2,)}", QP_MALFORMED, "none of b1"},
        {"{'descr':'|i2','fortran_order':False,'shape':(2,)}", QP_MALFORMED, "byte order"},
        {"{'descr':'=i2','fortran_order':False,'shape':(2,)}", QP_MALFORMED, "none of b1"},
        {"{'descr':'i2','fortran_order':False,'shape':(2,)}", QP_MALFORMED, "none of b1"},
        {"{'descr':'<i3','fortran_order':False,'shape':(2,)}", QP_MALFORMED, "none of b1"},
        {"{'descr':'<i16','fortran_order':False,'shape':(2,)}", QP_MALFORMED, "none of b1"},
        {"{'descr':'\\x3ci2','fortran_order':False,'shape':(2,)}", QP_MALFORMED, "quotes"},
        {"{'descr':'<i2,'fortran_order':False,'shape':(2,)}", QP_MALFORMED, "dtype"},
        {"{'descr':'<i2','fortran_order':False,'shape':(2)}", QP_MALFORMED, "not a tuple"},
        {"{'descr':'<i2','fortran_order':False,'shape':[2]}", QP_MALFORMED, "tuple"},
        {"{'descr':'<i2','fortran_order':False,'shape':(,)}", QP_MALFORMED, "expected a dimension"},
        {"{'descr':'<i2','fortran_order':False,'shape':(-2,)}", QP_MALFORMED,
         "expected a dimension"},
        {"{'descr':'<i2','fortran_order':False,'shape':(02,)}", QP_MALFORMED, "leading zero"},
        {"{'descr':'<i2','fortran_order':False,'shape':(2 2)}", QP_MALFORMED, "',' or ')'"},
        {"{'descr':'<i2','fortran_order':False,'shape':(2,)", QP_MALFORMED, "',' or '}'"},
        {"{'descr':'<i2','fortran_order':False,'shape':(2,),", QP_MALFORMED, "key in quotes"},
        {"{'descr':'<i2' 'fortran_order':False,'shape':(2,)}", QP_MALFORMED, "',' or '}'"},
        {"{'descr':'<i2','fortran_order':False,'shape':(2,)} x", QP_MALFORMED, "follows"},
        {"{'descr':'<i2','fortran_order':False,'shape':(3,)}", QP_MALFORMED, "before its last"},
        {"{'descr':'<i2','fortran_order':False,'shape':(1,)}", QP_MALFORMED, "follow the last"},
        {"{'descr':'<i2','fortran_order':False,'shape':(0,)}", QP_MALFORMED, "follow the last"},
        {"{'descr':'<i2','fortran_order':False,'shape':(1,1,1,1,1,1,1,1,2)}", QP_TOO_LARGE,
         "8 dim"},
        {"{'descr':'<i2','fortran_order':False,'shape':(99999999999999999999,)}", QP_TOO_LARGE,
         "a dimension is too large"},
        /* (2^32 - 1) * (2^32 + 1) is 2^64 - 1, and (2^16)^4 is 2^64 */
        {"{'descr':'<i2','fortran_order':False,'shape':(4294967295,4294967297,2)}", QP_TOO_LARGE,
         "too large"},
        {"{'descr':'|i1','fortran_order':False,'shape':(65536,65536,65536,65536)}", QP_TOO_LARGE,
         "too large"},
        {"{'descr':'|i1','fortran_order':False,'shape':(65536,0,65536,65536,65536)}", QP_TOO_LARGE,
         "too large"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file f = make(1, cases[i].head, "\1\2\3\4", 4);
        qp_error error = {.message = "none"};
        qp_npy array = {.count = 99};
        uint8_t *copy;
        qp_status status = read_copy(&f, &array, &copy, &error);
        if (status != cases[i].status || strstr(error.message, cases[i].sentence) == NULL)
            fail_msg("%s: %d %s", cases[i].head, (int)status, error.message);
        assert_in_range((uintmax_t)error.offset, 0, f.size);
        assert_int_equal(array.count, 99);
        free(copy);
    }
}

static void test_refuses_prefixes_and_versions(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 3; version++) {
        file f = make(version, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n",
                      "\1\2\3\4", 4);
        size_t whole = f.size;
        for (f.size = 0; f.size < whole; f.size++) {
            qp_npy array;
            uint8_t *copy;
            assert_int_equal(read_copy(&f, &array, &copy, NULL), QP_MALFORMED);
            free(copy);
        }
    }
    static const uint8_t versions[][2] = {{0, 0}, {4, 0}, {1, 1}, {255, 255}};
    for (size_t i = 0; i < 4; i++) {
        file f =
            make(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", "\1\2\3\4", 4);
        qp_npy array;
        qp_error error;
        memcpy(f.bytes + 6, versions[i], 2);
        assert_int_equal(qp_npy_read(f.bytes, f.size, &array, &error), QP_MALFORMED);
        assert_non_null(strstr(error.message, "version"));
        assert_int_equal(error.offset, 6);
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

static void test_elements_out_of_range(void **state)
{
    file f = make(1, "{'descr':'<u8','fortran_order':False,'shape':(2,)}",
                  "\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00\x00\x00\x00\x00\x80", 16);
    int64_t values[2];
    qp_npy array;
    qp_error error;
    (void)state;

    assert_int_equal(qp_npy_read(f.bytes, f.size, &array, NULL), QP_OK);
    assert_int_equal(qp_npy_elements(&array, 0, 1, values, NULL), QP_OK);
    assert_true(values[0] == INT64_MAX);
    assert_int_equal(qp_npy_elements(&array, 0, 2, values, &error), QP_FIELD_RANGE);
    assert_int_equal(error.record, 1);
    assert_int_equal(error.offset, f.size - 8);
    assert_string_equal(error.message, "element 1 is 9223372036854775808, above 2^63 - 1");
    assert_int_equal(qp_npy_elements(&array, 1, 2, values, &error), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_npy_elements(&array, SIZE_MAX, 2, values, &error), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_npy_elements(&array, 2, 0, values, &error), QP_OK);

    f = make(1, "{'descr':'|b1','fortran_order':False,'shape':(3,)}", "\0\1\2", 3);
    assert_int_equal(qp_npy_read(f.bytes, f.size, &array, NULL), QP_OK);
    assert_int_equal(qp_npy_elements(&array, 0, 2, values, NULL), QP_OK);
    assert_int_equal(qp_npy_elements(&array, 2, 1, values, &error), QP_FIELD_RANGE);
    assert_int_equal(error.record, 2);
    assert_string_equal(error.message, "element 2 is 2, above 1 in a boolean array");
}

/* Every type keeps its extreme values through a file, and refuses the values next to them. */
static void test_extremes_of_every_type(void **state)
{
    static const int64_t extremes[][2] = {
        [QP_NPY_BOOL] = {0, 1},
        [QP_NPY_I8] = {-128, 127},
        [QP_NPY_I16] = {-32768, 32767},
        [QP_NPY_I32] = {INT32_MIN, INT32_MAX},
        [QP_NPY_I64] = {INT64_MIN, INT64_MAX},
        [QP_NPY_U8] = {0, 255},
        [QP_NPY_U16] = {0, 65535},
        [QP_NPY_U32] = {0, 4294967295},
        [QP_NPY_U64] = {0, INT64_MAX},
    };
    const qp_npy_shape shape = {1, {2}};
    (void)state;
    for (int type = QP_NPY_BOOL; type <= QP_NPY_U64; type++) {
        int64_t values[2];
        qp_buffer buffer;
        qp_npy array;
        qp_error error;
        qp_buffer_init(&buffer, NULL);
        assert_int_equal(qp_npy_write(&buffer, (qp_npy_type)type, &shape, extremes[type], NULL),
                         QP_OK);
        assert_int_equal(buffer.size % 64, 2 * qp_npy_type_size((qp_npy_type)type) % 64);
        assert_int_equal(qp_npy_read(buffer.bytes, buffer.size, &array, NULL), QP_OK);
        assert_int_equal(array.type, type);
        assert_int_equal(array.data_offset % 64, 0);
        assert_int_equal(qp_npy_elements(&array, 0, 2, values, NULL), QP_OK);
        assert_memory_equal(values, extremes[type], sizeof values);

        size_t size = buffer.size;
        for (unsigned end = 0; end < 2; end++) {
            memcpy(values, extremes[type], sizeof values);
            if (values[end] == INT64_MIN || values[end] == INT64_MAX)
                continue;
            values[end] += end == 0 ? -1 : 1;
            assert_int_equal(qp_npy_write(&buffer, (qp_npy_type)type, &shape, values, &error),
                             QP_FIELD_RANGE);
            assert_int_equal(error.record, end);
            assert_non_null(strstr(error.message, qp_npy_type_name((qp_npy_type)type)));
            assert_int_equal(buffer.size, size);
        }
        qp_buffer_free(&buffer);
    }
}

static void test_writing_without_memory(void **state)
{
    static const int64_t values[300] = {0};
    const qp_npy_shape shape = {2, {3, 100}};
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_buffer buffer;
        qp_buffer_init(&buffer, &allocator);
        qp_status status = qp_npy_write(&buffer, QP_NPY_I64, &shape, values, NULL);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        assert_int_equal(buffer.size, memory.has_failed ? 0 : 128 + 2400);
        qp_buffer_free(&buffer);
        assert_int_equal(memory.blocks, 0);
        if (!memory.has_failed)
            break;
    }
}

static void test_refuses_shapes(void **state)
{
    const qp_npy_shape nine = {9, {1, 1, 1, 1, 1, 1, 1, 1}};
    const qp_npy_shape large = {2, {SIZE_MAX / 2, 3}};
    const int64_t value = 0;
    qp_buffer buffer;
    (void)state;
    qp_buffer_init(&buffer, NULL);
    assert_int_equal(qp_npy_write(&buffer, QP_NPY_I8, &nine, &value, NULL), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_npy_write(&buffer, QP_NPY_I8, &large, &value, NULL), QP_INVALID_ARGUMENT);
    assert_int_equal(buffer.size, 0);
    qp_buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_numpy),
        cmocka_unit_test(test_writes_numpy),
        cmocka_unit_test(test_other_spellings),
        cmocka_unit_test(test_byte_orders_and_signs),
        cmocka_unit_test(test_refuses_heads),
        cmocka_unit_test(test_refuses_prefixes_and_versions),
        cmocka_unit_test(test_elements_out_of_range),
        cmocka_unit_test(test_extremes_of_every_type),
        cmocka_unit_test(test_writing_without_memory),
        cmocka_unit_test(test_refuses_shapes),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
