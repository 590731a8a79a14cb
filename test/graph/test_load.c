/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load.c - the load checks (integer-operators.md section 10.5): each with its code and place,
 * their order, and hostile bytes.
 */
#include "graph/writer.h"
#include "quipu/certify.h"
#include "support/test.h"

#include "failing_allocator.h"

#include <string.h>

enum { CONV = 0x01, ADD = 0x05 };

/* Where the parts of the base graph stand. */
enum {
    AT_SCALAR = 32,
    AT_INPUT_0 = 48,
    AT_INPUT_1 = 80,
    AT_OUTPUTS = 112,
    AT_TENSORS = 120,
    AT_ADD = 216,
    AT_CONV = 236,
    AT_PARAMS = 252,
    AT_RQ = 288,
    BASE_SIZE = 313
};

/* A state fed back through an add and a convolution of one tap: a part of every kind. */
static void write_base(qp_buffer *bytes)
{
    static const int64_t mult = 3, shift = 2, bias[] = {1, -1}, weights[] = {1, -2, 3, -4};
    static const uint32_t conv[] = {2, 1, 1, 1, 1, 0, 0, 1, 1};
    static const uint32_t in[] = {0, 1}, sum = 2, out = 3;
    qp_graph_writer w;

    qp_graph_writer_init(&w, NULL);
    qp_writer_scalar(&w, -5, 5);
    qp_writer_tensor(&w, &(qp_graph_tensor_record){0, 255, 2, QP_EXPONENT_NONE, QP_CHECK});
    qp_writer_tensor(&w, &(qp_graph_tensor_record){-10, 10, 2, QP_EXPONENT_NONE, QP_CLAMP});
    qp_writer_tensor(&w, &(qp_graph_tensor_record){0, 0, 2, QP_EXPONENT_NONE, QP_DERIVED});
    qp_writer_tensor(&w, &(qp_graph_tensor_record){-10, 10, 2, 3, QP_CLAMP});
    qp_writer_input(&w, &(qp_graph_input_record){.tensor = 0, .max_h = 4, .max_w = 6});
    qp_writer_input(&w,
                    &(qp_graph_input_record){
                        .tensor = 1, .max_h = 4, .max_w = 6, .state = true, .src = 1, .init = 7});
    qp_writer_output(&w, 2);
    qp_writer_output(&w, 3);
    qp_writer_begin_operator(&w, ADD, in, 2, &sum, 1);
    qp_writer_end_operator(&w);
    qp_buffer *params = qp_writer_begin_operator(&w, CONV, &sum, 1, &out, 1);
    for (size_t i = 0; i < TEST_COUNT(conv); i++)
        qp_buffer_le(params, conv[i], 4);
    qp_writer_rq(params, &(qp_rq_values){QP_ROUND_HALF_UP, QP_BIAS_PRE, QP_KIND_ONE, QP_KIND_ONE, 4,
                                         4, &mult, &shift, bias, 2});
    qp_writer_integers(params, weights, 4, 1);
    qp_writer_end_operator(&w);
    assert_int_equal(qp_graph_writer_finish(&w, 1 << 10, bytes, NULL), QP_OK);
    qp_graph_writer_free(&w);
    assert_int_equal(bytes->size, BASE_SIZE);
}

/* ---- each check --------------------------------------------------------------------------- */

typedef struct fault {
    size_t at; /* bytes at `at` become `value` */
    unsigned width;
    uint64_t value;
    qp_table table; /* the place of the refusal */
    int64_t record, operator_index, offset;
    qp_status status; /* 0 stands for QP_MODEL_MISMATCH */
} fault;

static qp_status load_patched(const qp_buffer *base, const fault *f, size_t size, qp_error *error)
{
    uint8_t bytes[BASE_SIZE + 8] = {0};
    qp_graph *graph;

    memcpy(bytes, base->bytes, BASE_SIZE);
    for (unsigned k = 0; k < f->width; k++)
        bytes[f->at + k] = (uint8_t)(f->value >> 8 * k);
    qp_status status = qp_graph_load(bytes, size, NULL, &graph, error);
    assert_true((status == QP_OK) == (graph != NULL));
    qp_graph_free(graph);
    return status;
}

#define TENSOR(k) (AT_TENSORS + 24 * (k))
#define NEGATIVE(v) ((uint64_t)0 - (v))

static const fault faults[] = {
    /* 1: magic, version, operator set */
    {0, 1, 'X', QP_TABLE_HEADER, -1, -1, 0, 0},
    {3, 1, '2', QP_TABLE_HEADER, -1, -1, 0, 0},
    {4, 1, 2, QP_TABLE_HEADER, -1, -1, 4, 0},
    {5, 1, 0, QP_TABLE_HEADER, -1, -1, 5, 0},
    /* 2: reserved fields */
    {6, 2, 1, QP_TABLE_HEADER, -1, -1, 6, 0},
    {22, 2, 0x100, QP_TABLE_HEADER, -1, -1, 22, 0},
    {28, 4, 1, QP_TABLE_HEADER, -1, -1, 28, 0},
    /* 3: counts */
    {8, 4, 0, QP_TABLE_HEADER, -1, -1, 8, 0},
    {12, 4, 0, QP_TABLE_HEADER, -1, -1, 12, 0},
    {16, 2, 0, QP_TABLE_HEADER, -1, -1, 16, 0},
    {18, 2, 0, QP_TABLE_HEADER, -1, -1, 18, 0},
    {24, 4, 0, QP_TABLE_HEADER, -1, -1, 24, 0},
    {24, 4, (1 << 26) + 1, QP_TABLE_HEADER, -1, -1, 24, 0},
    {8, 4, UINT32_MAX, QP_TABLE_HEADER, -1, -1, 8, 0},
    {12, 4, UINT32_MAX, QP_TABLE_HEADER, -1, -1, 8, 0},
    /* 4: scalars, inputs, outputs, tensors */
    {AT_SCALAR, 8, 6, QP_TABLE_SCALARS, 0, -1, AT_SCALAR, 0},
    {AT_INPUT_0, 4, 4, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, 0},
    {AT_INPUT_0 + 4, 4, 0, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, 0},
    {AT_INPUT_1 + 8, 4, 0, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_1 + 4, 8, 0, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_1 + 12, 1, 2, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_1 + 13, 1, 1, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_1 + 20, 4, 1, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_0 + 16, 4, 1, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, 0},
    {AT_INPUT_0 + 24, 8, 1, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, 0},
    {AT_OUTPUTS + 4, 4, 4, QP_TABLE_OUTPUTS, 1, -1, AT_OUTPUTS + 4, 0},
    {TENSOR(1), 4, 0, QP_TABLE_TENSORS, 1, -1, TENSOR(1), 0},
    {TENSOR(1) + 5, 1, 3, QP_TABLE_TENSORS, 1, -1, TENSOR(1), 0},
    {TENSOR(1) + 6, 2, 0x8000, QP_TABLE_TENSORS, 1, -1, TENSOR(1), 0},
    {TENSOR(2) + 8, 8, NEGATIVE(1), QP_TABLE_TENSORS, 2, -1, TENSOR(2), 0},
    {TENSOR(3) + 16, 8, NEGATIVE(11), QP_TABLE_TENSORS, 3, -1, TENSOR(3), 0},
    /* 5: opcode, arity, reserved, indices, parameter length */
    {AT_ADD, 1, 0, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    {AT_ADD, 1, 0xFF, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    {AT_ADD + 1, 1, 3, QP_TABLE_OPERATORS, -1, 0, AT_ADD + 1, 0},
    {AT_ADD + 2, 1, 0, QP_TABLE_OPERATORS, -1, 0, AT_ADD + 1, 0},
    {AT_ADD + 3, 1, 1, QP_TABLE_OPERATORS, -1, 0, AT_ADD + 3, 0},
    {AT_ADD + 8, 4, 4, QP_TABLE_OPERATORS, -1, 0, AT_ADD + 8, 0},
    {AT_CONV + 12, 4, 62, QP_TABLE_OPERATORS, -1, 1, AT_CONV + 12, 0},
    {AT_CONV + 12, 4, UINT32_MAX, QP_TABLE_OPERATORS, -1, 1, AT_CONV + 12, 0},
    {AT_CONV + 12, 4, 60, QP_TABLE_PARAMETERS, -1, 1, 309, 0},
    /* 5: parameters; the sizes of arrays follow from those before them */
    {AT_PARAMS, 4, 0, QP_TABLE_PARAMETERS, -1, 1, AT_PARAMS, 0},
    {AT_PARAMS, 4, 3, QP_TABLE_PARAMETERS, -1, 1, 313, 0},
    {AT_PARAMS, 4, 1, QP_TABLE_PARAMETERS, -1, 1, 307, 0},
    {AT_PARAMS, 4, UINT32_MAX, QP_TABLE_PARAMETERS, -1, 1, 301, 0},
    {AT_PARAMS + 4, 8, NEGATIVE(1), QP_TABLE_PARAMETERS, -1, 1, 309, 0},
    {AT_PARAMS + 12, 4, 0, QP_TABLE_PARAMETERS, -1, 1, AT_PARAMS + 12, 0},
    {AT_PARAMS + 28, 4, 0, QP_TABLE_PARAMETERS, -1, 1, AT_PARAMS + 28, 0},
    {AT_PARAMS + 32, 1, 3, QP_TABLE_PARAMETERS, -1, 1, AT_PARAMS + 32, 0},
    {AT_PARAMS + 32, 1, 8, QP_TABLE_PARAMETERS, -1, 1, 309, 0},
    {AT_PARAMS + 34, 1, 1, QP_TABLE_PARAMETERS, -1, 1, AT_PARAMS + 34, 0},
    {AT_RQ, 1, 3, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 1, 1, 3, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 2, 1, 3, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 3, 1, 0, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 3, 1, 3, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 4, 1, 2, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 4, 1, 0, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 5, 1, 1, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 6, 2, 1, QP_TABLE_PARAMETERS, -1, 1, AT_RQ, 0},
    {AT_RQ + 12, 1, 128, QP_TABLE_PARAMETERS, -1, 1, AT_RQ + 12, 0},
    /* 6: graph rules, states, exponents */
    {AT_INPUT_1, 4, 0, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_0, 4, 2, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, 0},
    {AT_INPUT_0 + 12, 1, 1, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, 0},
    {AT_ADD + 4, 4, 3, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    {AT_ADD + 4, 4, 2, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    {AT_ADD + 12, 4, 1, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    {AT_CONV + 8, 4, 2, QP_TABLE_OPERATORS, -1, 1, AT_CONV, 0},
    {AT_INPUT_1 + 16, 4, 2, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_1 + 24, 8, 11, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {AT_INPUT_1 + 24, 8, NEGATIVE(11), QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {TENSOR(1), 4, 3, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
    {TENSOR(2) + 4, 1, 0, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    /* 7: channels, then sizes */
    {TENSOR(0), 4, 1, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    {AT_PARAMS + 4, 4, 1, QP_TABLE_NONE, -1, -1, -1, QP_OK},
    {AT_INPUT_0 + 4, 4, 1000, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, QP_TOO_LARGE},
    {AT_INPUT_0 + 4, 8, NEGATIVE(1), QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, QP_TOO_LARGE},
    {24, 4, 47, QP_TABLE_INPUTS, 0, -1, AT_INPUT_0, QP_TOO_LARGE},
    {AT_INPUT_0 + 4, 4, 5, QP_TABLE_OPERATORS, -1, 0, AT_ADD, 0},
    {AT_PARAMS + 20, 4, 1 << 25, QP_TABLE_OPERATORS, -1, 1, AT_CONV, QP_TOO_LARGE},
    {AT_PARAMS + 20, 4, UINT32_MAX, QP_TABLE_OPERATORS, -1, 1, AT_CONV, QP_TOO_LARGE},
    {AT_PARAMS + 20, 4, 60, QP_TABLE_OPERATORS, -1, 1, AT_CONV, QP_TOO_LARGE},
};

static void test_each_check(void **state)
{
    qp_buffer base;
    (void)state;
    qp_buffer_init(&base, NULL);
    write_base(&base);
    for (size_t i = 0; i < TEST_COUNT(faults); i++) {
        const fault *f = &faults[i];
        bool loads = f->table == QP_TABLE_NONE;
        qp_status expected = f->status != QP_OK || loads ? f->status : QP_MODEL_MISMATCH;
        qp_error error = {.table = QP_TABLE_NONE, .record = -1, .operator_index = -1, .offset = -1};
        qp_status status = load_patched(&base, f, BASE_SIZE, &error);
        if (status != expected || error.table != f->table || error.record != f->record ||
            error.operator_index != f->operator_index || error.offset != f->offset)
            fail_msg(
                "fault %zu (byte %zu): status %d, table %d, record %d, operator %d, byte %d: %s", i,
                f->at, status, error.table, (int)error.record, (int)error.operator_index,
                (int)error.offset, error.message);
        assert_true(loads || (error.status == expected && error.message[0] != '\0'));
    }
    qp_buffer_free(&base);
}

/* A byte too many is a fault of step 5, at the byte. */
static void test_bytes_after_the_last_operator(void **state)
{
    qp_buffer base;
    qp_error error;
    (void)state;
    qp_buffer_init(&base, NULL);
    write_base(&base);
    fault none = {0};
    assert_int_equal(load_patched(&base, &none, BASE_SIZE + 1, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.offset, BASE_SIZE);
    qp_buffer_free(&base);
}

/* The first failing step wins: each pair breaks two, and the earlier one is reported. */
static void test_order_of_steps(void **state)
{
    static const struct {
        fault first, second;
    } pairs[] = {
        {{4, 1, 9, QP_TABLE_HEADER, -1, -1, 4, 0}, {6, 1, 1, 0, 0, 0, 0, 0}},
        {{28, 1, 1, QP_TABLE_HEADER, -1, -1, 28, 0}, {8, 4, 0, 0, 0, 0, 0, 0}},
        {{24, 4, 0, QP_TABLE_HEADER, -1, -1, 24, 0}, {AT_SCALAR, 8, 6, 0, 0, 0, 0, 0}},
        {{TENSOR(3), 4, 0, QP_TABLE_TENSORS, 3, -1, TENSOR(3), 0}, {AT_ADD, 1, 0, 0, 0, 0, 0, 0}},
        {{AT_RQ + 12, 1, 200, QP_TABLE_PARAMETERS, -1, 1, AT_RQ + 12, 0},
         {AT_INPUT_1, 4, 0, 0, 0, 0, 0, 0}},
        {{AT_INPUT_1 + 24, 8, 11, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0},
         {TENSOR(0), 4, 1, 0, 0, 0, 0, 0}},
        /* readings 12: every channel count comes before any size */
        {{TENSOR(3), 4, 3, QP_TABLE_INPUTS, 1, -1, AT_INPUT_1, 0}, {24, 4, 1, 0, 0, 0, 0, 0}},
    };
    qp_buffer base;
    (void)state;
    qp_buffer_init(&base, NULL);
    write_base(&base);
    for (size_t i = 0; i < TEST_COUNT(pairs); i++) {
        const fault *first = &pairs[i].first, *second = &pairs[i].second;
        qp_buffer both;
        qp_error error;
        qp_buffer_init(&both, NULL);
        qp_buffer_append(&both, base.bytes, base.size);
        for (unsigned k = 0; k < second->width; k++)
            both.bytes[second->at + k] = (uint8_t)(second->value >> 8 * k);
        load_patched(&both, first, BASE_SIZE, &error);
        assert_int_equal(error.table, first->table);
        assert_int_equal(error.offset, first->offset);
        qp_buffer_free(&both);
    }
    qp_buffer_free(&base);
}

/* ---- hostile bytes ------------------------------------------------------------------------ */

enum { MEBIBYTE = 1 << 20 };

/* Loads and certifies in an allocator that counts; everything is given back and little was used. */
static qp_status load_counted(const uint8_t *bytes, size_t size)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_graph *graph;
    qp_certificate *certificate = NULL;
    /* the bytes alone in a block, so that a sanitizer sees a read beyond them */
    uint8_t *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    if (size > 0)
        memcpy(exact, bytes, size);

    qp_status status = qp_graph_load(exact, size, &allocator, &graph, NULL);
    if (status == QP_OK && qp_certify(graph, &allocator, &certificate, NULL) == QP_OK)
        qp_certificate_meets(certificate, QP_ACC64, NULL);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    free(exact);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.has_fault);
    assert_true(memory.high_water < MEBIBYTE);
    return status;
}

static void test_truncation_at_every_byte(void **state)
{
    qp_buffer base;
    (void)state;
    qp_buffer_init(&base, NULL);
    write_base(&base);
    for (size_t size = 0; size < base.size; size++)
        assert_int_equal(load_counted(base.bytes, size), QP_MODEL_MISMATCH);
    assert_int_equal(load_counted(base.bytes, base.size), QP_OK);
    qp_buffer_free(&base);
}

static void test_every_mutation_of_a_byte(void **state)
{
    qp_buffer base;
    (void)state;
    qp_buffer_init(&base, NULL);
    write_base(&base);
    for (size_t at = 0; at < base.size; at++) {
        uint8_t kept = base.bytes[at];
        for (unsigned value = 0; value < 256; value++) {
            base.bytes[at] = (uint8_t)value;
            qp_status status = load_counted(base.bytes, base.size);
            assert_true(status == QP_OK || status == QP_MODEL_MISMATCH || status == QP_TOO_LARGE);
        }
        base.bytes[at] = kept;
    }
    qp_buffer_free(&base);
}

/* Two numbers at once, each a hostile one: products that wrap 32 and 64 bits. */
static void test_hostile_pairs(void **state)
{
    static const uint32_t hostile[] = {0, 1, 0x7FFFFFFF, 0x80000000, UINT32_MAX, 1 << 16, 1 << 26};
    qp_buffer base;
    (void)state;
    qp_buffer_init(&base, NULL);
    write_base(&base);
    for (size_t a = 8; a < AT_RQ; a += 4)
        for (size_t b = a + 4; b < AT_RQ; b += 4) {
            uint8_t kept[BASE_SIZE];
            memcpy(kept, base.bytes, BASE_SIZE);
            uint32_t x = hostile[(a * 7 + b) / 4 % 7], y = hostile[(a + 3 * b) / 4 % 7];
            for (unsigned k = 0; k < 4; k++) {
                base.bytes[a + k] = (uint8_t)(x >> 8 * k);
                base.bytes[b + k] = (uint8_t)(y >> 8 * k);
            }
            load_counted(base.bytes, base.size);
            memcpy(base.bytes, kept, BASE_SIZE);
        }
    qp_buffer_free(&base);
}

/* 2^32 - 1 channels, and a tensor of 2^26 elements, cost no memory. */
static void test_declared_sizes_cost_nothing(void **state)
{
    static const uint32_t in = 0, out = 1;
    static const struct {
        uint32_t channels, side, max_elems;
        qp_status status;
    } rows[] = {
        {UINT32_MAX, 0, 1 << 26, QP_OK}, {UINT32_MAX, 1, 1 << 26, QP_TOO_LARGE},
        {1, 8192, 1 << 26, QP_OK},       {1, 8193, 1 << 26, QP_TOO_LARGE},
        {1 << 26, 1, 1 << 26, QP_OK},    {2, UINT32_MAX, 1 << 26, QP_TOO_LARGE},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        qp_graph_writer w;
        qp_buffer bytes;
        qp_graph_tensor_record tensor = {0, 1, rows[i].channels, QP_EXPONENT_NONE, QP_CHECK};
        qp_graph_writer_init(&w, NULL);
        qp_buffer_init(&bytes, NULL);
        qp_writer_tensor(&w, &tensor);
        qp_writer_tensor(&w, &tensor);
        qp_writer_input(&w, &(qp_graph_input_record){.max_h = rows[i].side, .max_w = rows[i].side});
        qp_writer_output(&w, 1);
        qp_writer_begin_operator(&w, 0x0C, &in, 1, &out, 1);
        qp_writer_end_operator(&w);
        assert_int_equal(qp_graph_writer_finish(&w, rows[i].max_elems, &bytes, NULL), QP_OK);
        assert_int_equal(load_counted(bytes.bytes, bytes.size), rows[i].status);
        qp_buffer_free(&bytes);
        qp_graph_writer_free(&w);
    }
}

static void test_arguments(void **state)
{
    qp_graph *graph;
    (void)state;
    assert_int_equal(qp_graph_load(NULL, 0, NULL, &graph, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_graph_load(NULL, 1, NULL, &graph, NULL), QP_INVALID_ARGUMENT);
    assert_null(graph);
    qp_graph_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_check),
        cmocka_unit_test(test_bytes_after_the_last_operator),
        cmocka_unit_test(test_order_of_steps),
        cmocka_unit_test(test_truncation_at_every_byte),
        cmocka_unit_test(test_every_mutation_of_a_byte),
        cmocka_unit_test(test_hostile_pairs),
        cmocka_unit_test(test_declared_sizes_cost_nothing),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
