/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_session.c - decodes (integer-operators.md sections 4 and 10.3): the order of refusals,
 * carried state, storage, and what a session keeps.
 */
#include "graph/writer.h"
#include "quipu/run.h"
#include "support/one_operator.h"

#include "failing_allocator.h"

#include <string.h>

enum { CONV = 0x01, ADD = 0x05, CLAMP = 0x0B, RELU, PAD_REP = 0x0E, CROP = 0x14 };

/* A graph and its session, with an allocator that counts. */
typedef struct bench {
    failing_allocator memory;
    qp_buffer bytes;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_session *session;
} bench;

static void bench_open(bench *b, const qp_graph_writer *writer, uint32_t max_elems)
{
    qp_error error;
    b->memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&b->memory);
    qp_buffer_init(&b->bytes, NULL);
    assert_int_equal(qp_graph_writer_finish(writer, max_elems, &b->bytes, NULL), QP_OK);
    if (qp_graph_load(b->bytes.bytes, b->bytes.size, &allocator, &b->graph, &error) != QP_OK ||
        qp_certify(b->graph, &allocator, &b->certificate, &error) != QP_OK ||
        qp_session_create(b->certificate, &(qp_session_options){.profile = QP_ACC64}, &allocator,
                          &b->session, &error) != QP_OK)
        fail_msg("%s", error.message);
}

static void bench_close(bench *b)
{
    qp_session_free(b->session);
    qp_certificate_free(b->certificate);
    qp_graph_free(b->graph);
    qp_buffer_free(&b->bytes);
    assert_int_equal(b->memory.blocks, 0);
    assert_false(b->memory.has_fault);
}

static uint32_t tensor(qp_graph_writer *w, qp_policy policy, int64_t lo, int64_t hi)
{
    return qp_writer_tensor(w, &(qp_graph_tensor_record){lo, hi, 1, QP_EXPONENT_NONE, policy});
}

static qp_buffer *operator_of(qp_graph_writer *w, unsigned opcode, uint32_t in, uint32_t out)
{
    return qp_writer_begin_operator(w, opcode, &in, 1, &out, 1);
}

/* ---- the order of refusals ---------------------------------------------------------------- */

/*
 * Unsized, max_elems 30: t2 = crop(t0) at column `scalar 0`; t3 = t0 + t1, checked to [-50, 50];
 * t4 = pad_rep(t3, 5).
 */
static void open_ordered(bench *b)
{
    static const uint32_t crop[] = {0, 0, 1, 0, 0, 1, 0, 1}; /* y0 0, x0 scalar 0, h 1, w 1 */
    static const uint32_t both[] = {0, 1}, sum = 3;
    qp_graph_writer w;
    qp_graph_writer_init(&w, NULL);
    qp_writer_scalar(&w, -1, 4);
    qp_writer_scalar(&w, 1, 1);
    for (uint32_t i = 0; i < 2; i++)
        qp_writer_input(&w, &(qp_graph_input_record){.tensor = i});
    tensor(&w, QP_CHECK, -100, 100);
    tensor(&w, QP_CHECK, 0, 10);
    tensor(&w, QP_DERIVED, 0, 0);
    tensor(&w, QP_CHECK, -50, 50);
    tensor(&w, QP_DERIVED, 0, 0);
    qp_buffer *params = operator_of(&w, CROP, 0, 2);
    for (size_t i = 0; i < TEST_COUNT(crop); i++)
        qp_buffer_le(params, crop[i], 4);
    qp_writer_end_operator(&w);
    qp_writer_begin_operator(&w, ADD, both, 2, &sum, 1);
    qp_writer_end_operator(&w);
    qp_buffer_le(operator_of(&w, PAD_REP, 3, 4), 5, 4);
    qp_writer_end_operator(&w);
    qp_writer_output(&w, 4);
    qp_writer_output(&w, 2);
    bench_open(b, &w, 30);
    qp_graph_writer_free(&w);
}

typedef struct ordered {
    uint32_t shape[2][3]; /* of both inputs: channels, height, width */
    int64_t value[2];     /* of every element */
    int64_t scalars[2];
    qp_status status;
    qp_table table;
    int64_t record, operator_index;
} ordered;

/* Each row breaks the rule it names and, where it can, all that come after it. */
static const ordered order[] = {
    {{{2, 1, 1}, {1, 0, 1}}, {999, 999}, {9, 9}, QP_MODEL_MISMATCH, QP_TABLE_INPUTS, 0, -1},
    {{{2, 0, 31}, {1, 0, 1}}, {999, 999}, {9, 9}, QP_MODEL_MISMATCH, QP_TABLE_INPUTS, 0, -1},
    {{{1, 0, 31}, {9, 9, 9}}, {999, 999}, {9, 9}, QP_MODEL_MISMATCH, QP_TABLE_INPUTS, 0, -1},
    {{{1, 1, 31}, {2, 1, 1}}, {999, 999}, {9, 9}, QP_TOO_LARGE, QP_TABLE_INPUTS, 0, -1},
    {{{1, 6, 5}, {1, 1, 0}}, {999, 999}, {9, 9}, QP_MODEL_MISMATCH, QP_TABLE_INPUTS, 1, -1},
    {{{1, 6, 5}, {1, 31, 1}}, {999, 999}, {9, 9}, QP_TOO_LARGE, QP_TABLE_INPUTS, 1, -1},
    {{{1, 6, 5}, {1, 5, 6}}, {999, 999}, {9, 9}, QP_FIELD_RANGE, QP_TABLE_SCALARS, 0, -1},
    {{{1, 6, 5}, {1, 5, 6}}, {999, 999}, {-2, 1}, QP_FIELD_RANGE, QP_TABLE_SCALARS, 0, -1},
    {{{1, 6, 5}, {1, 5, 6}}, {999, 999}, {-1, 9}, QP_FIELD_RANGE, QP_TABLE_SCALARS, 1, -1},
    {{{1, 6, 5}, {1, 5, 6}}, {999, 999}, {-1, 1}, QP_GEOMETRY_MISMATCH, QP_TABLE_OPERATORS, -1, 0},
    {{{1, 6, 4}, {1, 5, 6}}, {999, 999}, {4, 1}, QP_GEOMETRY_MISMATCH, QP_TABLE_OPERATORS, -1, 0},
    {{{1, 6, 5}, {1, 5, 6}}, {999, 999}, {4, 1}, QP_GEOMETRY_MISMATCH, QP_TABLE_OPERATORS, -1, 1},
    {{{1, 6, 5}, {1, 6, 5}}, {999, 999}, {4, 1}, QP_TOO_LARGE, QP_TABLE_OPERATORS, -1, 2},
    {{{1, 5, 5}, {1, 5, 5}}, {101, 999}, {4, 1}, QP_FIELD_RANGE, QP_TABLE_INPUTS, 0, -1},
    {{{1, 5, 5}, {1, 5, 5}}, {100, 11}, {4, 1}, QP_FIELD_RANGE, QP_TABLE_INPUTS, 1, -1},
    {{{1, 5, 5}, {1, 5, 5}}, {100, -1}, {4, 1}, QP_FIELD_RANGE, QP_TABLE_INPUTS, 1, -1},
    {{{1, 5, 5}, {1, 5, 5}}, {41, 10}, {4, 1}, QP_FIELD_RANGE, QP_TABLE_OPERATORS, -1, 1},
    {{{1, 5, 5}, {1, 5, 5}}, {-51, 0}, {4, 1}, QP_FIELD_RANGE, QP_TABLE_OPERATORS, -1, 1},
    {{{1, 5, 5}, {1, 5, 5}}, {40, 10}, {4, 1}, QP_OK, QP_TABLE_NONE, -1, -1},
    {{{1, 5, 5}, {1, 5, 5}}, {-50, 0}, {0, 1}, QP_OK, QP_TABLE_NONE, -1, -1},
};

static qp_status decode_filled(bench *b, const ordered *o, qp_error *error)
{
    int64_t values[2][32];
    qp_array arrays[2];
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 32; k++)
            values[i][k] = o->value[i];
        arrays[i] = (qp_array){values[i], QP_INT64, o->shape[i][0], o->shape[i][1], o->shape[i][2]};
    }
    return qp_session_decode(b->session, arrays, 2, o->scalars, 2, error);
}

static void test_order_of_refusals(void **state)
{
    bench b;
    qp_array array;
    (void)state;
    open_ordered(&b);
    assert_int_equal(qp_session_output(b.session, 0, &array), QP_INVALID_ARGUMENT);
    for (size_t i = 0; i < TEST_COUNT(order); i++) {
        qp_error error = {.record = -1, .operator_index = -1};
        qp_status status = decode_filled(&b, &order[i], &error);
        if (status != order[i].status || error.table != order[i].table ||
            error.record != order[i].record || error.operator_index != order[i].operator_index)
            fail_msg("row %zu: status %d, table %d, record %d, operator %d: %s", i, status,
                     error.table, (int)error.record, (int)error.operator_index, error.message);
        qp_status available = qp_session_output(b.session, 0, &array);
        assert_int_equal(available, status == QP_OK ? QP_OK : QP_INVALID_ARGUMENT);
    }
    assert_int_equal(qp_session_decode(b.session, &array, 1, NULL, 2, NULL), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_session_decode(b.session, &array, 2, NULL, 1, NULL), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_session_output(b.session, 0, &array), QP_INVALID_ARGUMENT);
    bench_close(&b);
}

/* The refused element's place is in the message: (0, 1, 2) of tensor 0 is 101. */
static void test_place_of_an_element(void **state)
{
    int64_t values[6] = {0, 0, 0, 0, 0, 101}, zeros[6] = {0};
    const qp_array arrays[] = {{values, QP_INT64, 1, 2, 3}, {zeros, QP_INT64, 1, 2, 3}};
    const int64_t scalars[] = {0, 1};
    bench b;
    qp_error error;
    (void)state;
    open_ordered(&b);
    assert_int_equal(qp_session_decode(b.session, arrays, 2, scalars, 2, &error), QP_FIELD_RANGE);
    assert_non_null(strstr(error.message, "(0, 1, 2) is 101"));
    bench_close(&b);
}

/* Elements beyond the first span that is looked at: each is found, with its place. */
static void test_every_element_is_checked(void **state)
{
    enum { CHANNELS = 3, SIDE = 20, TOTAL = CHANNELS * SIDE * SIDE };
    static const size_t places[] = {0, 1, 255, 256, 511, 512, 513, 1023, 1024, TOTAL - 1};
    static int64_t values[TOTAL];
    const qp_array array = {values, QP_INT64, 1, SIDE, CHANNELS * SIDE};
    qp_graph_writer w;
    bench b;
    (void)state;
    qp_graph_writer_init(&w, NULL);
    tensor(&w, QP_CHECK, -9, 9);
    tensor(&w, QP_CHECK, 0, 5);
    qp_writer_input(&w, &(qp_graph_input_record){0});
    qp_writer_output(&w, 1);
    operator_of(&w, RELU, 0, 1);
    qp_writer_end_operator(&w);
    bench_open(&b, &w, TOTAL);
    for (size_t i = 0; i < TEST_COUNT(places); i++)
        for (int64_t bad = 6; bad <= 10; bad += 4) { /* past the output's range, then the input's */
            char place[64];
            qp_error error;
            values[places[i]] = bad;
            snprintf(place, sizeof place, "(0, %zu, %zu) is %d", places[i] / (CHANNELS * SIDE),
                     places[i] % (CHANNELS * SIDE), (int)bad);
            assert_int_equal(qp_session_decode(b.session, &array, 1, NULL, 0, &error),
                             QP_FIELD_RANGE);
            assert_non_null(strstr(error.message, place));
            assert_int_equal(error.table, bad == 6 ? QP_TABLE_OPERATORS : QP_TABLE_INPUTS);
            values[places[i]] = 0;
        }
    assert_int_equal(qp_session_decode(b.session, &array, 1, NULL, 0, NULL), QP_OK);
    bench_close(&b);
    qp_graph_writer_free(&w);
}

/*
 * A decode refused by a scalar, after its inputs' sizes were looked at, leaves no trace: the next
 * decode of those sizes must be planned, not run on the plan of the sizes before. Rows that differ
 * tell: on the plan for one row, t4 would repeat row 0.
 */
static void test_refused_sizes_are_not_the_plans(void **state)
{
    int64_t ramp[25], zeros[25] = {0}, scalars[] = {0, 1}, value;
    qp_array inputs[] = {{ramp, QP_INT64, 1, 1, 5}, {zeros, QP_INT64, 1, 1, 5}}, out;
    bench b;
    (void)state;
    for (int64_t k = 0; k < 25; k++)
        ramp[k] = k;
    open_ordered(&b);
    assert_int_equal(qp_session_decode(b.session, inputs, 2, scalars, 2, NULL), QP_OK);
    inputs[0].height = inputs[1].height = 5;
    scalars[1] = 9;
    assert_int_equal(qp_session_decode(b.session, inputs, 2, scalars, 2, NULL), QP_FIELD_RANGE);
    scalars[1] = 1;
    assert_int_equal(qp_session_decode(b.session, inputs, 2, scalars, 2, NULL), QP_OK);
    assert_int_equal(qp_session_output(b.session, 0, &out), QP_OK);
    qp_array_read(&out, 24, 1, &value);
    assert_int_equal(value, 24);
    bench_close(&b);
}

/* Within one operator: the sizes it forms, then its shape rule, then max_elems. */
static void test_order_within_an_operator(void **state)
{
    static const struct {
        uint32_t kh, pw, height;
        qp_status status;
    } rows[] = {
        {9, 1 << 25, 1, QP_TOO_LARGE},     /* a padded side first */
        {9, 100, 1, QP_GEOMETRY_MISMATCH}, /* then the kernel over the input */
        {1, 100, 1, QP_TOO_LARGE},         /* then 1·201 elements over max_elems */
        {1, 1, 1, QP_OK},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        const uint32_t params[] = {1, rows[i].kh, 1, 1, 1, 0, rows[i].pw, 1, 1};
        static const int64_t value = 1;
        qp_array array = {&value, QP_INT64, 1, rows[i].height, 1};
        qp_graph_writer w;
        bench b;
        qp_graph_writer_init(&w, NULL);
        tensor(&w, QP_CHECK, 0, 9);
        tensor(&w, QP_DERIVED, 0, 0);
        qp_writer_input(&w, &(qp_graph_input_record){0});
        qp_writer_output(&w, 1);
        qp_buffer *p = operator_of(&w, CONV, 0, 1);
        for (size_t k = 0; k < TEST_COUNT(params); k++)
            qp_buffer_le(p, params[k], 4);
        qp_buffer_append(p, "\0\0\0\1\0\0\0\0\0", 9); /* RQ: one shift of 0 */
        for (uint32_t k = 0; k < rows[i].kh; k++)
            qp_buffer_le(p, 1, 1);
        qp_writer_end_operator(&w);
        bench_open(&b, &w, 200);
        assert_int_equal(qp_session_decode(b.session, &array, 1, NULL, 0, NULL), rows[i].status);
        bench_close(&b);
        qp_graph_writer_free(&w);
    }
}

/* ---- carried state ------------------------------------------------------------------------ */

/* out = x + s, checked to [-90, 90]; s is the last out, clamped to [-100, 20], and 5 at first. */
static void open_accumulator(bench *b)
{
    static const uint32_t both[] = {0, 1}, sum = 2;
    qp_graph_writer w;
    qp_graph_writer_init(&w, NULL);
    tensor(&w, QP_CHECK, -1000, 1000);
    tensor(&w, QP_CLAMP, -100, 20);
    tensor(&w, QP_CHECK, -90, 90);
    qp_writer_input(&w, &(qp_graph_input_record){.tensor = 0});
    qp_writer_input(&w, &(qp_graph_input_record){.tensor = 1, .state = true, .src = 0, .init = 5});
    qp_writer_output(&w, 2);
    qp_writer_begin_operator(&w, ADD, both, 2, &sum, 1);
    qp_writer_end_operator(&w);
    bench_open(b, &w, 1 << 20);
    qp_graph_writer_free(&w);
}

static qp_status step(bench *b, int64_t x, uint32_t width, int64_t *out)
{
    const int64_t values[] = {x, x, x, x};
    const qp_array in = {values, QP_INT64, 1, 1, width};
    qp_array array;
    qp_status status = qp_session_decode(b->session, &in, 1, NULL, 0, NULL);
    if (status == QP_OK) {
        assert_int_equal(qp_session_output(b->session, 0, &array), QP_OK);
        qp_array_read(&array, width - 1, 1, out);
    } else {
        assert_int_equal(qp_session_output(b->session, 0, &array), QP_INVALID_ARGUMENT);
    }
    return status;
}

static void assert_step(bench *b, int64_t x, int64_t expected)
{
    int64_t out = 0;
    assert_int_equal(step(b, x, 2, &out), QP_OK);
    assert_int_equal(out, expected);
}

static void test_state(void **state)
{
    bench b;
    int64_t out;
    (void)state;
    open_accumulator(&b);
    /* a refused decode before any completed one leaves the state at its init, of any shape */
    assert_int_equal(step(&b, 1000, 4, &out), QP_FIELD_RANGE);
    assert_step(&b, 10, 15);
    assert_step(&b, 3, 18);
    /* refused in evaluation, at the input, and by its shape: the state stays 18 */
    assert_int_equal(step(&b, 73, 2, &out), QP_FIELD_RANGE);
    assert_int_equal(step(&b, 1001, 2, &out), QP_FIELD_RANGE);
    assert_int_equal(step(&b, 0, 3, &out), QP_GEOMETRY_MISMATCH);
    assert_int_equal(step(&b, 0, 0, &out), QP_MODEL_MISMATCH);
    assert_step(&b, 1, 19);
    /* the state's own policy clamps what it reads: out 69, then 20 + 1 */
    assert_step(&b, 50, 69);
    assert_step(&b, 1, 21);
    /* a new sequence may have another size */
    qp_session_reset(b.session);
    assert_int_equal(step(&b, 0, 4, &out), QP_OK);
    assert_int_equal(out, 5);
    qp_session_reset(b.session);
    qp_session_reset(b.session);
    assert_step(&b, -5, 0);
    bench_close(&b);
}

/* ---- memory and storage ------------------------------------------------------------------- */

static void test_second_decode_allocates_nothing(void **state)
{
    bench b;
    int64_t out;
    (void)state;
    open_accumulator(&b);
    assert_int_equal(step(&b, 0, 4, &out), QP_OK);
    size_t requests = b.memory.requests, memory = qp_session_memory(b.session);
    for (int k = 0; k < 5; k++)
        assert_int_equal(step(&b, 0, 4, &out), QP_OK);
    assert_int_equal(step(&b, 1000, 4, &out), QP_FIELD_RANGE);
    assert_int_equal(step(&b, 0, 4, &out), QP_OK);
    /* a smaller picture fits in what there is */
    qp_session_reset(b.session);
    assert_int_equal(step(&b, 0, 1, &out), QP_OK);
    assert_int_equal(b.memory.requests, requests);
    assert_true(qp_session_memory(b.session) <= memory);
    bench_close(&b);
}

static void test_scalars_that_move_a_window_replan(void **state)
{
    bench b;
    ordered o = order[TEST_COUNT(order) - 1];
    (void)state;
    open_ordered(&b);
    assert_int_equal(decode_filled(&b, &o, NULL), QP_OK);
    size_t requests = b.memory.requests;
    for (int64_t x0 = 0; x0 <= 4; x0++) {
        o.scalars[0] = x0;
        assert_int_equal(decode_filled(&b, &o, NULL), QP_OK);
    }
    o.scalars[0] = -1;
    assert_int_equal(decode_filled(&b, &o, NULL), QP_GEOMETRY_MISMATCH);
    o.scalars[0] = 2;
    assert_int_equal(decode_filled(&b, &o, NULL), QP_OK);
    assert_int_equal(b.memory.requests, requests);
    bench_close(&b);
}

static void test_narrowest_storage(void **state)
{
    static const struct {
        int64_t lo, hi;
        qp_type type;
    } rows[] = {
        {0, 0, QP_INT8},          {-128, 127, QP_INT8},       {0, 128, QP_UINT8},
        {0, 255, QP_UINT8},       {-1, 128, QP_INT16},        {-129, 0, QP_INT16},
        {0, 256, QP_INT16},       {0, 65535, QP_UINT16},      {-1, 32768, QP_INT32},
        {0, 65536, QP_INT32},     {0, UINT32_MAX, QP_UINT32}, {-1, UINT32_MAX, QP_INT64},
        {INT32_MIN, 0, QP_INT32}, {0, INT64_MAX, QP_INT64},   {INT64_MIN, INT64_MAX, QP_INT64},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        int64_t values[2] = {rows[i].lo, rows[i].hi};
        test_operator op = test_operator_make(CLAMP);
        qp_array in = {values, QP_INT64, 1, 1, 2}, out;
        qp_session *session;
        int64_t found[2];
        test_operator_input(&op, (qp_shape){1, 1, 2}, rows[i].lo, rows[i].hi, values);
        test_operator_output(&op, 1);
        qp_writer_integers(&op.params, values, 2, 8);
        test_run run = test_load(&op);
        assert_int_equal(qp_session_create(run.certificate,
                                           &(qp_session_options){.profile = QP_ACC64}, NULL,
                                           &session, NULL),
                         QP_OK);
        assert_int_equal(qp_session_decode(session, &in, 1, NULL, 0, NULL), QP_OK);
        assert_int_equal(qp_session_output(session, 0, &out), QP_OK);
        assert_int_equal(out.type, rows[i].type);
        qp_array_read(&out, 0, 2, found);
        assert_memory_equal(found, values, sizeof values);
        qp_array tensor_array;
        assert_int_equal(qp_session_tensor(session, 0, &tensor_array), QP_INVALID_ARGUMENT);
        assert_int_equal(qp_session_output(session, 1, &out), QP_INVALID_ARGUMENT);
        qp_session_free(session);
        test_run_free(&run);
        test_operator_free(&op);
    }
}

/* Inputs come in any type, and a clamp input is clamped whatever its type can hold. */
static void test_every_input_type(void **state)
{
    static const int8_t i8[] = {-128, 127};
    static const uint8_t u8[] = {0, 255};
    static const int16_t i16[] = {-32768, 32767};
    static const uint16_t u16[] = {0, 65535};
    static const int32_t i32[] = {INT32_MIN, INT32_MAX};
    static const uint32_t u32[] = {0, UINT32_MAX};
    static const int64_t i64[] = {INT64_MIN, INT64_MAX};
    static const struct {
        qp_array array;
        int64_t low, high;
    } rows[] = {
        {{i8, QP_INT8, 1, 1, 2}, -100, 120},   {{u8, QP_UINT8, 1, 1, 2}, 0, 120},
        {{i16, QP_INT16, 1, 1, 2}, -100, 120}, {{u16, QP_UINT16, 1, 1, 2}, 0, 120},
        {{i32, QP_INT32, 1, 1, 2}, -100, 120}, {{u32, QP_UINT32, 1, 1, 2}, 0, 120},
        {{i64, QP_INT64, 1, 1, 2}, -100, 120},
    };
    qp_graph_writer w;
    bench b;
    (void)state;
    qp_graph_writer_init(&w, NULL);
    tensor(&w, QP_CLAMP, -100, 120);
    tensor(&w, QP_DERIVED, 0, 0);
    qp_writer_input(&w, &(qp_graph_input_record){0});
    qp_writer_output(&w, 1);
    qp_writer_output(&w, 0);
    operator_of(&w, 0x0C, 0, 1);
    qp_writer_end_operator(&w);
    bench_open(&b, &w, 2);
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        qp_array out;
        int64_t found[2];
        assert_int_equal(qp_session_decode(b.session, &rows[i].array, 1, NULL, 0, NULL), QP_OK);
        assert_int_equal(qp_session_output(b.session, 1, &out),
                         QP_OK); /* an input that is output */
        qp_array_read(&out, 0, 2, found);
        assert_int_equal(found[0], rows[i].low);
        assert_int_equal(found[1], rows[i].high);
        assert_int_equal(qp_type_size(rows[i].array.type), 1u << (i / 2));
    }
    bench_close(&b);
    qp_graph_writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_refusals),
        cmocka_unit_test(test_place_of_an_element),
        cmocka_unit_test(test_every_element_is_checked),
        cmocka_unit_test(test_refused_sizes_are_not_the_plans),
        cmocka_unit_test(test_order_within_an_operator),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_second_decode_allocates_nothing),
        cmocka_unit_test(test_scalars_that_move_a_window_replan),
        cmocka_unit_test(test_narrowest_storage),
        cmocka_unit_test(test_every_input_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
