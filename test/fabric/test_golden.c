/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_golden.c - graphs run without time: the reference runs of section 3, the worked examples of
 * section 13, and every way a run can end badly.
 */
#include "quipu/fabric.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "examples.h"

static qp_fabric_model *read_model(const char *text)
{
    const qp_fabric_text input = {"file", text, strlen(text)};
    qp_fabric_model *model = NULL;
    qp_fabric_error error;
    char line[512];

    if (qp_fabric_read(&input, 1, NULL, &model, &error) != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&error, line, sizeof line));
    return model;
}

static qp_status run(const qp_fabric_model *model, const char *graph, const char *tokens,
                     uint64_t firings, void **lines, size_t *size, qp_fabric_error *error)
{
    const qp_fabric_text input = {"tokens", tokens, strlen(tokens)};
    return qp_fabric_golden(model, graph, &input, firings, NULL, lines, size, error);
}

/* Runs a graph of a text and compares the lines. */
static void assert_runs(const char *text, const char *graph, const char *tokens,
                        const char *expected)
{
    qp_fabric_model *model = read_model(text);
    qp_fabric_error error;
    char message[512];
    void *lines;
    size_t size;

    if (run(model, graph, tokens, 0, &lines, &size, &error) != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&error, message, sizeof message));
    if (size != strlen(expected) || (size > 0 && memcmp(lines, expected, size) != 0))
        fail_msg("%.*s", (int)size, (const char *)lines);
    qp_bytes_free(NULL, lines, size);
    qp_fabric_free(model);
}

/* A run of graph g that ends with this message. */
static void assert_fails(const char *text, const char *tokens, uint64_t firings,
                         const char *expected)
{
    qp_fabric_model *model = read_model(text);
    qp_fabric_error error;
    char message[512];
    void *lines;
    size_t size;

    assert_int_not_equal(run(model, "g", tokens, firings, &lines, &size, &error), QP_OK);
    assert_null(lines);
    assert_string_equal(qp_fabric_error_text(&error, message, sizeof message), expected);
    qp_fabric_free(model);
}

/* ---- section 13 --------------------------------------------------------------------------- */

static const char dot_tokens[] = "{\"port\": \"a\", \"tokens\": [\"00000003\", \"00000005\"]}\n"
                                 "{\"port\": \"b\", \"tokens\": [\"00000004\", \"00000006\"]}\n"
                                 "{\"port\": \"ph\", \"tokens\": [\"1\", \"1\", \"0\"]}\n"
                                 "{\"port\": \"init\", \"tokens\": [\"0000000a\"]}\n";

static void test_mac(void **state)
{
    char text[sizeof example_13_2];
    (void)state;

    assert_runs(example_13_2, "dot", dot_tokens,
                "{\"port\": \"x0\", \"tokens\": [\"00000034\"]}\n");
    assert_runs(example_13_2, "dot",
                "{\"port\": \"ph\", \"tokens\": [\"0\"]}\n"
                "{\"port\": \"init\", \"tokens\": [\"0000000a\"]}\n",
                "{\"port\": \"x0\", \"tokens\": [\"0000000a\"]}\n");
    memcpy(text, example_13_2, sizeof text);
    char *sum = strstr(text, "%n = arith.addi");
    assert_non_null(sum);
    memcpy(sum, "%n = arith.subi", 15);
    assert_runs(text, "dot", dot_tokens, "{\"port\": \"x0\", \"tokens\": [\"ffffffe0\"]}\n");
}

static void test_vectors(void **state)
{
    (void)state;
    assert_runs(example_13_3_slice, "put",
                "{\"port\": \"v\", \"tokens\": [\"ee\"]}\n"
                "{\"port\": \"d\", \"tokens\": [\"11100f0e0d0c0b0a\"]}\n"
                "{\"port\": \"i\", \"tokens\": [\"00000001\"]}\n",
                "{\"port\": \"r\", \"tokens\": [\"11ee0f0e0d0c0b0a\"]}\n");
    assert_runs(example_13_3_slice, "get",
                "{\"port\": \"v\", \"tokens\": [\"11100f0e0d0c0b0a\"]}\n",
                "{\"port\": \"r\", \"tokens\": [\"11100f0e\"]}\n");
    assert_runs(example_13_3_shuffle, "mix",
                "{\"port\": \"a\", \"tokens\": [\"22221111\"]}\n"
                "{\"port\": \"b\", \"tokens\": [\"44443333\"]}\n",
                "{\"port\": \"r\", \"tokens\": [\"111144441111\"]}\n");
}

static void test_two_graphs(void **state)
{
    static const char tokens[] = "{\"port\": \"a\", \"tokens\": [\"00000007\"]}\n"
                                 "{\"port\": \"b\", \"tokens\": [\"00000006\"]}\n";
    (void)state;
    assert_runs(example_13_4, "sum", tokens, "{\"port\": \"s\", \"tokens\": [\"0000000d\"]}\n");
    assert_runs(example_13_4, "prod", tokens, "{\"port\": \"s\", \"tokens\": [\"0000002a\"]}\n");
}

/* ---- section 3 ---------------------------------------------------------------------------- */

static void test_stream(void **state)
{
    static const char text[] =
        "graph g { input %a : i8 input %b : i8 input %c : i8 %iv, %p = dataflow.stream %a, %b, %c "
        "{ step = add, predicate = slt } : (i8,i8,i8) -> (i8,i1) output %iv output %p }";
    (void)state;

    /* 0,5,1 and then 5,5,1 */
    assert_runs(text, "g",
                "{\"port\": \"a\", \"tokens\": [\"00\", \"05\"]}\n"
                "{\"port\": \"b\", \"tokens\": [\"05\", \"05\"]}\n"
                "{\"port\": \"c\", \"tokens\": [\"01\", \"01\"]}\n",
                "{\"port\": \"iv\", \"tokens\": [\"00\", \"01\", \"02\", \"03\", \"04\"]}\n"
                "{\"port\": \"p\", \"tokens\": [\"1\", \"1\", \"1\", \"1\", \"1\", \"0\", "
                "\"0\"]}\n");
}

static void test_invariant_and_gate(void **state)
{
    (void)state;
    assert_runs("graph g { input %p : i1 input %v : f16 %r = dataflow.invariant %p, %v : (i1,f16) "
                "-> (f16) output %r }",
                "g",
                "{\"port\": \"p\", \"tokens\": [\"1\", \"1\", \"0\", \"0\"]}\n"
                "{\"port\": \"v\", \"tokens\": [\"3c00\", \"4000\"]}\n",
                "{\"port\": \"r\", \"tokens\": [\"3c00\", \"3c00\", \"3c00\", \"4000\"]}\n");
    assert_runs("graph g { input %c : i1 input %v : i8 %d, %w = dataflow.gate %c, %v : (i1,i8) -> "
                "(i1,i8) output %d output %w }",
                "g",
                "{\"port\": \"c\", \"tokens\": [\"1\", \"1\", \"0\"]}\n"
                "{\"port\": \"v\", \"tokens\": [\"a0\", \"a1\", \"ff\"]}\n",
                "{\"port\": \"d\", \"tokens\": [\"1\", \"0\"]}\n"
                "{\"port\": \"w\", \"tokens\": [\"a0\", \"a1\"]}\n");
}

/* N=4, 5 items then F; what serialize makes of it is the items and the close again. */
static void test_parallelize_and_serialize(void **state)
{
    (void)state;
    assert_runs(
        "graph g { input %a : i8 input %p : i1\n"
        "  %v, %m, %g = dataflow.parallelize %a, %p : (i8,i1) -> (vector<4xi8>,vector<4xi1>,i1)\n"
        "  %r, %q = dataflow.serialize %v, %m, %g : (vector<4xi8>,vector<4xi1>,i1) -> (i8,i1)\n"
        "  output %v output %m output %g output %r output %q }",
        "g",
        "{\"port\": \"a\", \"tokens\": [\"00\", \"01\", \"02\", \"03\", \"04\"]}\n"
        "{\"port\": \"p\", \"tokens\": [\"1\", \"1\", \"1\", \"1\", \"1\", \"0\"]}\n",
        "{\"port\": \"v\", \"tokens\": [\"03020100\", \"00000004\"]}\n"
        "{\"port\": \"m\", \"tokens\": [\"f\", \"1\"]}\n"
        "{\"port\": \"g\", \"tokens\": [\"1\", \"1\", \"0\"]}\n"
        "{\"port\": \"r\", \"tokens\": [\"00\", \"01\", \"02\", \"03\", \"04\"]}\n"
        "{\"port\": \"q\", \"tokens\": [\"1\", \"1\", \"1\", \"1\", \"1\", \"0\"]}\n");
}

/* Control tokens, a constant, a value that is read twice and is an output too. */
static void test_tokens_without_payload(void **state)
{
    (void)state;
    assert_runs("graph g { input %go : none input %x : i8\n"
                "  %s, %y = dataflow.sync %go, %x : (none,i8) -> (none,i8)\n"
                "  %k = dataflow.constant %s { value = -3 } : (none) -> (i8)\n"
                "  %r = arith.addi %k, %y : (i8,i8) -> (i8)\n"
                "  %t = arith.muli %k, %k : (i8,i8) -> (i8)\n"
                "  output %s output %k output %r output %t }",
                "g",
                "{\"port\": \"go\", \"tokens\": [\"none\", \"none\", \"none\"]}\n"
                "{\"port\": \"x\", \"tokens\": [\"01\", \"02\"]}\n",
                "{\"port\": \"s\", \"tokens\": [\"none\", \"none\"]}\n"
                "{\"port\": \"k\", \"tokens\": [\"fd\", \"fd\"]}\n"
                "{\"port\": \"r\", \"tokens\": [\"fe\", \"ff\"]}\n"
                "{\"port\": \"t\", \"tokens\": [\"09\", \"09\"]}\n");
    assert_runs("graph g { }", "g", "", "");
}

/* The order of the statements is that of the turns: it means nothing. A loop of 300 rounds, the
 * sum of the squares below 300; queues fill, are cut and grow. */
static void test_order_means_nothing(void **state)
{
    static const char head[] = "graph g { input %z : i32 input %n : i32 input %o : i32\n";
    static const char *const statements[] = {
        ("%iv, %p = dataflow.stream %z, %n, %o { step = add, predicate = ult } : (i32,i32,i32) -> "
         "(i32,i1)\n"),
        "%c = dataflow.carry %p, %z, %s : (i1,i32,i32) -> (i32)\n",
        "%sq = arith.muli %iv, %iv : (i32,i32) -> (i32)\n",
        "%x, %y = dataflow.demux %p, %c : (i1,i32) -> (i32,i32)\n",
        "%s = arith.addi %y, %sq : (i32,i32) -> (i32)\n",
    };
    static const int orders[][5] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 4, 0, 3, 1}};
    (void)state;

    for (size_t i = 0; i < 3; i++) {
        char text[1024];
        strcpy(text, head);
        for (size_t k = 0; k < 5; k++)
            strcat(text, statements[orders[i][k]]);
        strcat(text, "output %x }");
        assert_runs(text, "g",
                    "{\"port\": \"z\", \"tokens\": [\"00000000\"]}\n"
                    "{\"port\": \"n\", \"tokens\": [\"0000012c\"]}\n"
                    "{\"port\": \"o\", \"tokens\": [\"00000001\"]}\n",
                    "{\"port\": \"x\", \"tokens\": [\"0088a4aa\"]}\n"); /* 8955050 */
    }
}

/* An actor that feeds itself: its own tokens move while it fires. */
static void test_actor_that_feeds_itself(void **state)
{
    (void)state;
    assert_runs("graph g { input %p : i1 input %v : vector<3xi64>\n"
                "  %r = dataflow.carry %p, %v, %r : (i1,vector<3xi64>,vector<3xi64>) -> "
                "(vector<3xi64>) output %r }",
                "g",
                "{\"port\": \"p\", \"tokens\": [\"1\", \"1\"]}\n"
                "{\"port\": \"v\", \"tokens\": "
                "[\"000000000000000300000000000000020000000000000001\"]}\n",
                "{\"port\": \"r\", \"tokens\": "
                "[\"000000000000000300000000000000020000000000000001\", "
                "\"000000000000000300000000000000020000000000000001\", "
                "\"000000000000000300000000000000020000000000000001\"]}\n");
}

/* ---- bad ends ----------------------------------------------------------------------------- */

static void test_undefined_results(void **state)
{
    static const char pair[] = "{\"port\": \"a\", \"tokens\": [\"01\", \"01\"]}\n"
                               "{\"port\": \"b\", \"tokens\": [\"01\", \"00\"]}\n";
    (void)state;

    assert_fails("graph g { input %a : i8 input %b : i8\n"
                 " %q = arith.divui %a, %b : (i8,i8) -> (i8) output %q }",
                 pair, 0,
                 "file:2:2: Invalid: the firing of '%q' (arith.divui) is undefined: by zero, or of "
                 "the smallest number by -1");
    assert_fails("graph g { input %a : i8 input %b : i8\n"
                 " %q = arith.addi %a, %b { overflow = [nsw] } : (i8,i8) -> (i8) output %q }",
                 "{\"port\": \"a\", \"tokens\": [\"7f\"]}\n{\"port\": \"b\", \"tokens\": [\"01\"]}",
                 0, "file:2:2: Invalid: the firing of '%q' (arith.addi) gives poison");
    assert_fails("graph g index 32 { input %i : index input %a : i8\n"
                 " %x, %y, %z = dataflow.demux %i, %a : (index,i8) -> (i8,i8,i8)"
                 " output %x output %y output %z }",
                 "{\"port\": \"i\", \"tokens\": [\"00000003\"]}\n"
                 "{\"port\": \"a\", \"tokens\": [\"01\"]}\n",
                 0,
                 "file:2:2: Invalid: the firing of '%x' (dataflow.demux) is out of range: a "
                 "selector, a position or a stream's step");
}

static const char endless[] =
    "graph g { input %a : i8\n"
    "  %iv, %p = dataflow.stream %a, %a, %a { step = add, predicate = eq } : (i8,i8,i8) -> (i8,i1)"
    "  output %iv output %p }";

static void test_bound_of_firings(void **state)
{
    (void)state;
    assert_fails(endless, "{\"port\": \"a\", \"tokens\": [\"00\"]}", 1000,
                 "file:1:7: Unsupported: the run was stopped: it had not ended after the firings "
                 "allowed");
}

static void test_bound_of_memory(void **state)
{
    (void)state;
    assert_fails("graph g { input %a : i8\n"
                 "  %iv, %p = dataflow.stream %a, %a, %a { step = add, predicate = eq } : "
                 "(i8,i8,i8) -> (i8,i1)\n"
                 "  %e = dataflow.invariant %p, %w : (i1,vector<1048576xi1>) -> "
                 "(vector<1048576xi1>)\n"
                 "  %w, %m, %g = dataflow.parallelize %p, %p : (i1,i1) -> "
                 "(vector<1048576xi1>,vector<1048576xi1>,i1)\n"
                 "  output %iv output %e output %m output %g }",
                 "{\"port\": \"a\", \"tokens\": [\"00\"]}", 0,
                 "file:1:7: Unsupported: the run was stopped: its queues and outputs passed "
                 "134217728 bytes");
}

static void test_unknown_graph(void **state)
{
    qp_fabric_model *model = read_model(example_13_1);
    qp_fabric_error error;
    void *lines;
    size_t size;
    (void)state;

    assert_int_equal(run(model, "h", "", 0, &lines, &size, &error), QP_MALFORMED);
    assert_string_equal(error.base.message, "there is no graph 'h'");
    assert_null(lines);
    qp_fabric_free(model);
}

/* Every allocation fails once. */
static void test_without_memory(void **state)
{
    qp_fabric_model *model = read_model(example_13_2);
    const qp_fabric_text input = {"tokens", dot_tokens, strlen(dot_tokens)};
    (void)state;

    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        const qp_allocator allocator = failing_allocator_use(&memory);
        qp_fabric_error error;
        void *lines;
        size_t size;
        const qp_status status =
            qp_fabric_golden(model, "dot", &input, 0, &allocator, &lines, &size, &error);
        qp_bytes_free(&allocator, lines, size);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed) {
            assert_int_equal(status, QP_OK);
            assert_true(k > 4);
            break;
        }
        assert_int_equal(status, QP_NO_MEMORY);
    }
    qp_fabric_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mac),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_two_graphs),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_invariant_and_gate),
        cmocka_unit_test(test_parallelize_and_serialize),
        cmocka_unit_test(test_tokens_without_payload),
        cmocka_unit_test(test_order_means_nothing),
        cmocka_unit_test(test_actor_that_feeds_itself),
        cmocka_unit_test(test_undefined_results),
        cmocka_unit_test(test_bound_of_firings),
        cmocka_unit_test(test_bound_of_memory),
        cmocka_unit_test(test_unknown_graph),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
