/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_streams.c - the JSON Lines of section 12.1: tokens and stalls read, every refusal with its
 * place, and outputs written.
 */
#include "fabric/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char graph_text[] =
    "graph g index 32 { input %a : i12 input %c : none input %v : vector<3xi40> input %x : index "
    "input %w : i64\n"
    "  %p, %q, %r, %s, %t = dataflow.sync %a, %c, %v, %x, %w : "
    "(i12,none,vector<3xi40>,index,i64) -> (i12,none,vector<3xi40>,index,i64)\n"
    "  output %p output %q output %t output %r output %s }";

enum { INPUTS = 5, PORTS = 10 };

typedef struct fixture {
    qp_fabric_model *model;
    qp_arena arena;
    qp_fabric_stream inputs[INPUTS];
    qp_fabric_stall stalls[PORTS];
    qp_fabric_error error;
} fixture;

static void open_fixture(fixture *f)
{
    const qp_fabric_text text = {"graph", graph_text, strlen(graph_text)};

    assert_int_equal(qp_fabric_read(&text, 1, NULL, &f->model, &f->error), QP_OK);
    qp_arena_init(&f->arena, NULL);
}

static void close_fixture(fixture *f)
{
    qp_arena_free(&f->arena);
    qp_fabric_free(f->model);
}

static qp_status read_tokens(fixture *f, const char *lines)
{
    const qp_fabric_text text = {"tokens", lines, strlen(lines)};
    return qp_fabric_read_tokens(f->model, &f->model->graphs[0], &text, &f->arena, f->inputs,
                                 &f->error);
}

static qp_status read_stalls(fixture *f, const char *lines)
{
    const qp_fabric_text text = {"stalls", lines, strlen(lines)};
    return qp_fabric_read_stalls(f->model, &f->model->graphs[0], &text, &f->arena, f->stalls,
                                 &f->error);
}

static void test_tokens(void **state)
{
    fixture f;
    (void)state;

    open_fixture(&f);
    assert_int_equal(
        read_tokens(&f, "\n {\"tokens\" : [ \"abc\",\t\"000\" ] , \"port\": \"a\"}\r\n"
                        "{\"port\": \"c\", \"tokens\": [\"none\"]}\n"
                        "{\"port\": \"v\", \"tokens\": [\"0123456789abcdef00112233445566\"]}\n"
                        "{\"port\": \"\\u0078\", \"tokens\": [\"\\u0064eadbeef\"]}"),
        QP_OK);
    assert_int_equal(f.inputs[0].count, 2);
    assert_int_equal(f.inputs[0].words, 1);
    assert_int_equal(f.inputs[0].payload[0], 0xabc);
    assert_int_equal(f.inputs[0].payload[1], 0);
    assert_null(f.inputs[0].cycles);
    assert_int_equal(f.inputs[1].count, 1);
    assert_int_equal(f.inputs[1].words, 0);
    assert_int_equal(f.inputs[2].words, 2);
    assert_true(f.inputs[2].payload[0] == UINT64_C(0xef00112233445566));
    assert_true(f.inputs[2].payload[1] == UINT64_C(0x0123456789abcd));
    assert_true(f.inputs[3].payload[0] == 0xdeadbeef);
    assert_int_equal(f.inputs[4].count, 0);
    assert_int_equal(f.inputs[4].words, 1);
    close_fixture(&f);
}

/* Every refusal: the lines, and the error's text. */
static const struct {
    const char *lines, *error;
} bad_tokens[] = {
    {"{\"port\": \"a\", \"tokens\": [\"abc\"]\n", "tokens:1:32: Invalid: expected ',' or '}'"},
    {"\n[\"a\"]", "tokens:2:1: Invalid: a line must be an object"},
    {"{\"port\": \"z\", \"tokens\": []}", "tokens:1:10: Invalid: 'z' is no input of graph 'g'"},
    {"{\"port\": \"p\", \"tokens\": []}", "tokens:1:10: Invalid: 'p' is no input of graph 'g'"},
    {"{\"port\": \"%a\", \"tokens\": []}", "tokens:1:10: Invalid: '%a' is no input of graph 'g'"},
    {"{\"port\": 1, \"tokens\": []}", "tokens:1:10: Invalid: a port must be a string"},
    {"{\"port\": \"a\", \"tokens\": []}\n{\"port\": \"a\", \"tokens\": []}",
     "tokens:2:10: Invalid: the port 'a' has a line already"},
    {"{\"port\": \"a\"}", "tokens:1:1: Invalid: a line needs \"port\" and \"tokens\""},
    {"{\"tokens\": []}", "tokens:1:1: Invalid: a line needs \"port\" and \"tokens\""},
    {"{\"port\": \"a\", \"tokens\": [], \"cycles\": []}",
     "tokens:1:29: Invalid: a line has \"port\" and \"tokens\", nothing else"},
    {"{\"port\": \"a\", \"tokens\": \"abc\"}", "tokens:1:25: Invalid: the list must be an array"},
    {"{\"port\": \"a\", \"tokens\": [1]}", "tokens:1:26: Invalid: a token must be a string"},
    {"{\"port\": \"a\", \"tokens\": [\"ab\"]}",
     "tokens:1:26: Invalid: a token of 12 bits has 3 lower-case hex digits, and no bits above"},
    {"{\"port\": \"a\", \"tokens\": [\"000\", \"0abc\"]}",
     "tokens:1:33: Invalid: a token of 12 bits has 3 lower-case hex digits, and no bits above"},
    {"{\"port\": \"a\", \"tokens\": [\"aBc\"]}",
     "tokens:1:26: Invalid: a token of 12 bits has 3 lower-case hex digits, and no bits above"},
    {"{\"port\": \"a\", \"tokens\": [\"none\"]}",
     "tokens:1:26: Invalid: a token of 12 bits has 3 lower-case hex digits, and no bits above"},
    {"{\"port\": \"c\", \"tokens\": [\"\"]}", "tokens:1:26: Invalid: a control token is \"none\""},
};

static void test_bad_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_tokens / sizeof bad_tokens[0]; i++) {
        char text[512];
        fixture f;
        open_fixture(&f);
        assert_int_equal(read_tokens(&f, bad_tokens[i].lines), QP_MALFORMED);
        assert_string_equal(qp_fabric_error_text(&f.error, text, sizeof text), bad_tokens[i].error);
        close_fixture(&f);
    }
}

/* Bits above the width: i1, i3, and a vector of 65 bits. */
static void test_bits_above_the_width(void **state)
{
    static const char text[] =
        "graph h { input %a : i1 input %b : i3 input %c : vector<5xi13>\n"
        "  %d, %e, %f = dataflow.sync %a, %b, %c : (i1,i3,vector<5xi13>) -> (i1,i3,vector<5xi13>)\n"
        "  output %d output %e output %f }";
    static const struct {
        const char *lines;
        qp_status status;
    } rows[] = {
        {"{\"port\": \"a\", \"tokens\": [\"1\", \"0\"]}", QP_OK},
        {"{\"port\": \"a\", \"tokens\": [\"2\"]}", QP_MALFORMED},
        {"{\"port\": \"b\", \"tokens\": [\"7\"]}", QP_OK},
        {"{\"port\": \"b\", \"tokens\": [\"8\"]}", QP_MALFORMED},
        {"{\"port\": \"c\", \"tokens\": [\"1ffffffffffffffff\"]}", QP_OK},
        {"{\"port\": \"c\", \"tokens\": [\"20000000000000000\"]}", QP_MALFORMED},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const qp_fabric_text graph = {"graph", text, strlen(text)};
        const qp_fabric_text lines = {"tokens", rows[i].lines, strlen(rows[i].lines)};
        qp_fabric_stream inputs[3];
        qp_fabric_model *model;
        qp_arena arena;
        assert_int_equal(qp_fabric_read(&graph, 1, NULL, &model, NULL), QP_OK);
        qp_arena_init(&arena, NULL);
        assert_int_equal(
            qp_fabric_read_tokens(model, &model->graphs[0], &lines, &arena, inputs, NULL),
            rows[i].status);
        qp_arena_free(&arena);
        qp_fabric_free(model);
    }
}

/* ---- stalls ------------------------------------------------------------------------------- */

static void test_stalls(void **state)
{
    fixture f;
    (void)state;

    open_fixture(&f);
    assert_int_equal(read_stalls(&f, "{\"port\": \"t\", \"cycles\": [[5, 8], [20,20]]}\n"
                                     "{\"cycles\": [[0,18446744073709551615]], \"port\": \"c\"}\n"),
                     QP_OK);
    assert_int_equal(f.stalls[0].count, 0);
    assert_int_equal(f.stalls[1].count, 1);
    assert_int_equal(f.stalls[1].intervals[0].first, 0);
    assert_true(f.stalls[1].intervals[0].end == UINT64_MAX);
    assert_int_equal(f.stalls[INPUTS + 2].count, 2); /* %t is output 2 */
    assert_int_equal(f.stalls[INPUTS + 2].intervals[0].first, 5);
    assert_int_equal(f.stalls[INPUTS + 2].intervals[0].end, 8);
    assert_int_equal(f.stalls[INPUTS + 2].intervals[1].first, 20);
    close_fixture(&f);
}

static void test_bad_stalls(void **state)
{
    static const char *const pairs[] = {
        "5",          "[5]",      "[5, 4]",  "[1, 2, 3]",
        "[]",         "[1.0, 2]", "[-1, 2]", "[0, 18446744073709551616]",
        "[\"1\", 2]", "{}"};
    fixture f;
    (void)state;

    open_fixture(&f);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char lines[128] = "{\"port\": \"a\", \"cycles\": [[0, 1], ";
        strcat(strcat(lines, pairs[i]), "]}");
        assert_int_equal(read_stalls(&f, lines), QP_MALFORMED);
        assert_string_equal(f.error.base.message,
                            "an interval is [a, b] of two cycles, a not above b");
        assert_int_equal(f.error.line, 1);
        assert_int_equal(f.error.column, 34);
    }
    assert_int_equal(read_stalls(&f, "{\"port\": \"z\", \"cycles\": []}"), QP_MALFORMED);
    assert_string_equal(f.error.base.message, "'z' is no input or output of graph 'g'");
    assert_int_equal(read_stalls(&f, "{\"port\": \"a\", \"tokens\": []}"), QP_MALFORMED);
    assert_string_equal(f.error.base.message, "a line has \"port\" and \"cycles\", nothing else");
    close_fixture(&f);
}

/* ---- outputs ------------------------------------------------------------------------------ */

static void assert_written(const fixture *f, const qp_fabric_stream *outputs, bool timed,
                           const char *expected)
{
    qp_buffer buffer;

    qp_buffer_init(&buffer, NULL);
    qp_fabric_write_tokens(&buffer, f->model, &f->model->graphs[0], outputs, timed);
    assert_int_equal(buffer.size, strlen(expected));
    assert_memory_equal(buffer.bytes, expected, buffer.size);
    qp_buffer_free(&buffer);
}

static void test_written_lines(void **state)
{
    static const size_t words[] = {1, 0, 1, 2, 1};
    const uint64_t wide[] = {UINT64_C(0xef00112233445566), UINT64_C(0x0123456789abcd)};
    const uint64_t narrow = 0x0bc, cycles[] = {3, UINT64_C(18446744073709551615)};
    const qp_allocator allocator = qp_allocator_or_default(NULL);
    qp_fabric_stream outputs[5] = {{0}};
    fixture f;
    (void)state;

    open_fixture(&f);
    for (int i = 0; i < 5; i++)
        outputs[i].words = words[i];
    for (int i = 0; i < 2; i++) {
        assert_true(qp_fabric_stream_add(&outputs[0], &allocator, &narrow, &cycles[i]));
        assert_true(qp_fabric_stream_add(&outputs[1], &allocator, NULL, &cycles[i]));
    }
    assert_true(qp_fabric_stream_add(&outputs[3], &allocator, wide, &cycles[0]));
    assert_written(&f, outputs, true,
                   "{\"port\": \"p\", \"tokens\": [\"0bc\", \"0bc\"], \"cycles\": [3, "
                   "18446744073709551615]}\n"
                   "{\"port\": \"q\", \"tokens\": [\"none\", \"none\"], \"cycles\": [3, "
                   "18446744073709551615]}\n"
                   "{\"port\": \"t\", \"tokens\": [], \"cycles\": []}\n"
                   "{\"port\": \"r\", \"tokens\": [\"0123456789abcdef00112233445566\"], "
                   "\"cycles\": [3]}\n"
                   "{\"port\": \"s\", \"tokens\": [], \"cycles\": []}\n");
    for (int i = 0; i < 5; i++)
        qp_fabric_stream_free(&outputs[i], &allocator);
    assert_written(&f, outputs, false,
                   "{\"port\": \"p\", \"tokens\": []}\n{\"port\": \"q\", \"tokens\": []}\n"
                   "{\"port\": \"t\", \"tokens\": []}\n{\"port\": \"r\", \"tokens\": []}\n"
                   "{\"port\": \"s\", \"tokens\": []}\n");
    close_fixture(&f);
}

/* A stream that grew over its first room many times has all its tokens. */
static void test_long_stream(void **state)
{
    const qp_allocator allocator = qp_allocator_or_default(NULL);
    qp_fabric_stream stream = {.words = 2};
    (void)state;

    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t payload[] = {i, ~i};
        assert_true(qp_fabric_stream_add(&stream, &allocator, payload, &i));
    }
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(stream.payload[2 * i], i);
        assert_true(stream.payload[2 * i + 1] == ~i);
        assert_int_equal(stream.cycles[i], i);
    }
    qp_fabric_stream_free(&stream, &allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_bad_tokens),
        cmocka_unit_test(test_bits_above_the_width),
        cmocka_unit_test(test_stalls),
        cmocka_unit_test(test_bad_stalls),
        cmocka_unit_test(test_written_lines),
        cmocka_unit_test(test_long_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
