/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_search.c - the search for maps: what is found for the examples of section 13, that every
 * find is a map that reads and checks, how many there are, reasons and bounds.
 */
#include "configuration_support.h"

/* The maps of a graph on a fabric. */
static qp_fabric_maps *search(const qp_fabric_model *model, const char *graph, const char *fabric,
                              uint64_t work, size_t limit)
{
    const qp_fabric_search question = {graph, fabric, work, limit};
    qp_fabric_maps *maps;
    qp_fabric_error error;

    assert_good(qp_fabric_map(model, &question, NULL, &maps, &error), &error);
    return maps;
}

/* Every map that was found is one of the text form, and checks. */
static void assert_maps_check(const char *first, const char *second, const qp_fabric_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++) {
        qp_fabric_text inputs[3] = {{"first", first, strlen(first)},
                                    {"second", second, strlen(second)},
                                    {"map", maps->texts[i], strlen(maps->texts[i])}};
        qp_fabric_model *model = NULL;
        qp_fabric_error error;
        assert_good(qp_fabric_read(inputs, 3, NULL, &model, &error), &error);
        assert_good(qp_fabric_check(model, NULL, &error), &error);
        qp_fabric_free(model);
    }
}

/* How many maps there are, all of them. */
static void assert_count(const char *fabric_text, const char *graph_text, const char *graph,
                         const char *fabric, size_t expected)
{
    qp_fabric_model *model = read_texts(fabric_text, graph_text);
    qp_fabric_maps *maps = search(model, graph, fabric, 0, 0);

    assert_int_equal(maps->end, QP_FABRIC_SEARCH_COMPLETE);
    if (maps->count != expected)
        print_error("%zu maps, not %zu: %s\n", maps->count, expected, maps->reason);
    assert_int_equal(maps->count, expected);
    if (expected > 0)
        assert_string_equal(maps->reason, "");
    else
        assert_true(maps->reason[0] != '\0');
    assert_maps_check(fabric_text, graph_text, maps);
    qp_fabric_maps_free(maps);
    qp_fabric_free(model);
}

static void assert_reason(const char *fabric_text, const char *graph_text, const char *graph,
                          const char *fabric, const char *part)
{
    qp_fabric_model *model = read_texts(fabric_text, graph_text);
    qp_fabric_maps *maps = search(model, graph, fabric, 0, 0);

    assert_int_equal(maps->end, QP_FABRIC_SEARCH_COMPLETE);
    assert_int_equal(maps->count, 0);
    if (strstr(maps->reason, part) == NULL)
        print_error("not '%s': %s\n", part, maps->reason);
    assert_non_null(strstr(maps->reason, part));
    qp_fabric_maps_free(maps);
    qp_fabric_free(model);
}

static void test_examples(void **state)
{
    (void)state;
    assert_count(example_13_1, "", "g", "A", 1);
    assert_count(example_13_2, "", "dot", "M", 1);
    assert_count(example_13_3_slice, "", "put", "S", 1);
    assert_count(example_13_3_slice, "", "get", "S", 1);
    assert_count(example_13_3_shuffle, "", "mix", "X", 1);
    assert_count(example_13_4, "", "sum", "B", 1);
    assert_count(example_13_4, "", "prod", "B", 1);
}

static void test_text(void **state)
{
    qp_fabric_model *model = read_one(example_13_1);
    qp_fabric_maps *maps = search(model, "g", "A", 0, 1);
    (void)state;

    assert_int_equal(maps->end, QP_FABRIC_SEARCH_LIMIT);
    assert_string_equal(maps->texts[0],
                        "map g_0 of g on A {\n"
                        "  realize r0 fu Alu template 0 {\n"
                        "    actor %d -> f in (0,1) out (0)  bound %d in 0 -> a  bound %d in 1 -> "
                        "b  bound %d out 0 -> y\n"
                        "  }\n"
                        "  bind r0 -> u\n"
                        "}\n");
    qp_fabric_maps_free(maps);
    qp_fabric_free(model);
}

#define ADD_OP(name)                                                                               \
    "op " name " ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params { integer_widths = "  \
    "[32] } "
#define ADD_UNIT                                                                                   \
    "fu Add (a:32, b:32) -> (y:32) { " ADD_OP("f") "wire a -> f.0 wire b -> f.1 wire f.0 -> y } "

/* One actor, one unit: a map for each occurrence and context. */
static void test_homes(void **state)
{
    static const char graph[] = "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : "
                                "(i32,i32) -> (i32) output %s }";
    static const char two[] = "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : "
                              "(i32,i32) -> (i32) %t = arith.addi %s, %a : (i32,i32) -> (i32) "
                              "output %t }";
    (void)state;

    assert_count("fabric F { " ADD_UNIT "occ u Add }", graph, "g", "F", 1);
    assert_count("fabric F { " ADD_UNIT "occ u Add contexts 3 occ v Add }", graph, "g", "F", 4);
    /* ordered choices of two of four */
    assert_count("fabric F { " ADD_UNIT "occ u Add contexts 3 occ v Add }", two, "g", "F", 12);
    assert_reason("fabric F { " ADD_UNIT "occ u Add }", two, "g", "F",
                  "the graph has 2 of arith.addi, and the fabric has room for 1");
    assert_reason("fabric F { " ADD_UNIT "}", two, "g", "F", "no unit with arith.addi has an occ");
}

/* Two ops side by side: the actors go either way round, and so do two units of one op each. */
static void test_two_ways(void **state)
{
    static const char pair[] =
        "fabric F { fu Pair (a:32, b:32, c:32, d:32) -> (x:32, y:32) { " ADD_OP("f") ADD_OP(
            "g") "wire a -> f.0 wire b -> f.1 wire f.0 -> x wire c -> g.0 wire d -> g.1 wire g.0 "
                 "-> y "
                 "template { ops [f] } template { ops [g] } template { ops [f,g] } } occ u Pair } ";
    static const char graph[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.addi %b, %a : (i32,i32) -> (i32) output %s output %t }";
    (void)state;

    assert_count(pair, graph, "g", "F", 2);
}

/* An edge inside a unit must be an edge of the graph, and the reverse (anchor 6). */
static void anchor_06_edges_inside(void **state)
{
    static const char chain[] = "fabric F { fu Chain (a:32, b:32, c:32) -> (y:32) { " ADD_OP("f")
        ADD_OP("g") "wire a -> f.0 wire b -> f.1 wire f.0 -> g.0 wire c -> g.1 wire g.0 -> y } occ "
                    "u Chain } ";
    static const char apart[] =
        "fabric F { fu Pair (a:32, b:32, c:32, d:32) -> (x:32, y:32) { " ADD_OP("f")
            ADD_OP("g") "wire a -> f.0 wire b -> f.1 wire f.0 -> x wire c -> g.0 wire d -> g.1 "
                        "wire g.0 -> y "
                        "template { ops [f,g] } } occ u Pair } ";
    static const char chained[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.addi %s, %a : (i32,i32) -> (i32) output %t }";
    static const char swapped[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.addi %a, %s : (i32,i32) -> (i32) output %t }";
    static const char read_too[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.addi %s, %a : (i32,i32) -> (i32) output %t output %s }";
    static const char side[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.addi %b, %a : (i32,i32) -> (i32) output %s output %t }";
    (void)state;

    assert_count(chain, chained, "g", "F", 1);
    assert_reason(chain, swapped, "g", "F", "the edges of the graph around %s (arith.addi)");
    assert_reason(chain, read_too, "g", "F", "the edges of the graph around %s (arith.addi)");
    assert_reason(chain, side, "g", "F", "the edges of the graph around %s (arith.addi)");
    /* co-located actors without a wire stay external, whichever has which op */
    assert_count(apart, chained, "g", "F", 2);
    assert_count(apart, side, "g", "F", 2);
}

/* A value that is read twice by one actor; broadcast to two ops. */
static void test_broadcast(void **state)
{
    static const char square[] = "fabric F { fu Sq (a:32, b:32) -> (y:32) { " ADD_OP("f")
        ADD_OP("g") "wire a -> f.0 wire b -> f.1 wire f.0 -> g.0 wire f.0 -> g.1 wire g.0 -> y } "
                    "occ u Sq } ";
    static const char graph[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.addi %s, %s : (i32,i32) -> (i32) output %t }";
    static const char shared[] = "fabric F { fu Dbl (a:32) -> (y:32) { " ADD_OP(
        "f") "wire a -> f.0 wire a -> f.1 wire f.0 -> y } occ u Dbl } ";
    static const char doubled[] = "graph g { input %a : i32 %t = arith.addi %a, %a : (i32,i32) -> "
                                  "(i32) output %t }";
    static const char two[] = "graph g { input %a : i32 input %b : i32 %t = arith.addi %a, %b : "
                              "(i32,i32) -> (i32) output %t }";
    (void)state;

    assert_count(square, graph, "g", "F", 1);
    assert_count(shared, doubled, "g", "F", 1);
    assert_reason(shared, two, "g", "F", "no template of any unit has the edges");
}

/* A routed op: every correspondence is a map (section 7.1), idle lanes have no rows. */
static void test_lanes(void **state)
{
    static const char fabric[] =
        "fabric F { fu Mux (s:32, a:16, b:32, c:16) -> (y:32) { op m TokenMux [dataflow.mux] in "
        "(32,16,32,16) out (32) params { max_payload_bits = 32, max_fan = 3 } wire s -> m.0 wire a "
        "-> m.1 wire b -> m.2 wire c -> m.3 wire m.0 -> y } occ u Mux }";
    static const char two[] = "graph g { input %s : i1 input %a : i16 input %b : i16 %t = "
                              "dataflow.mux %s, %a, %b : (i1,i16,i16) -> (i16) output %t }";
    static const char wide[] = "graph g { input %s : i1 input %a : i32 input %b : i32 %t = "
                               "dataflow.mux %s, %a, %b : (i1,i32,i32) -> (i32) output %t }";
    static const char three[] =
        "graph g index 32 { input %s : index input %a : i16 input %b : i16 input %c : i16 %t = "
        "dataflow.mux %s, %a, %b, %c : (index,i16,i16,i16) -> (i16) output %t }";
    (void)state;

    assert_count(fabric, two, "g", "F", 3);
    assert_count(fabric, three, "g", "F", 3);
    assert_reason(fabric, wide, "g", "F", "no op takes %t (dataflow.mux): Mux.m");
}

/* External edges join ports of one kind; graph inputs and outputs take either (anchor 28). */
static void test_kinds(void **state)
{
    static const char fabric[] =
        "fabric F { fu Add (a:32t, b:32t) -> (y:32t) { op f ScalarIntegerAddSub [arith.addi] in "
        "(32t,32t) out (32t) params { integer_widths = [32] } wire a -> f.0 wire b -> f.1 wire f.0 "
        "-> y } fu Mul (a:32, b:32) -> (y:32) { op f ScalarIntegerMultiply [arith.muli] in (32,32) "
        "out (32) params { integer_widths = [32] } wire a -> f.0 wire b -> f.1 wire f.0 -> y } occ "
        "u Add occ v Add occ w Mul }";
    static const char sum[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.addi %s, %a : (i32,i32) -> (i32) output %t }";
    static const char mixed[] =
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "
        "arith.muli %s, %a : (i32,i32) -> (i32) output %t }";
    (void)state;

    assert_count(fabric, sum, "g", "F", 2);
    assert_reason(fabric, mixed, "g", "F", "no choice of templates covers all 2 operations");
}

static void test_reasons(void **state)
{
    static const char fabric[] = "fabric F { " ADD_UNIT "occ u Add }";
    (void)state;

    assert_reason(fabric,
                  "graph g { input %p : i1 input %i : i32 %c = dataflow.carry %p, %i, %c : "
                  "(i1,i32,i32) -> (i32) output %c }",
                  "g", "F", "no unit has dataflow.carry");
    assert_reason(fabric,
                  "graph g { input %a : i16 input %b : i16 %t = arith.addi %a, %b : (i16,i16) -> "
                  "(i16) output %t }",
                  "g", "F", "no op takes %t (arith.addi): Add.f: point 3");
    assert_reason("fabric F { fu P (d:8, p:1) -> (v:32, m:4, q:1) { op f FixedVectorParallelize "
                  "[dataflow.parallelize] in (8,1) out (32,4,1) params { integer_element_widths = "
                  "[8], float_element_formats = [], max_payload_bits = 32 } wire d -> f.0 wire p "
                  "-> f.1 wire f.0 -> v wire f.1 -> m wire f.2 -> q } occ u P }",
                  "graph g { input %d : i8 input %p : i1 %v, %m, %q = dataflow.parallelize %d, %p "
                  ": (i8,i1) -> (vector<4xi8>,vector<4xi1>,i1) output %v output %m output %q }",
                  "g", "F", "is not proved to be defined");
    /* two ops in one unit: each actor could go alone, and there is one occurrence */
    assert_reason(
        "fabric F { fu Duo (a:32, b:32) -> (y:32, z:32) { " ADD_OP(
            "f") "op g ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { "
                 "integer_widths = [32] } demux da 32 2 demux db 32 2 wire a -> da.0 wire b -> "
                 "db.0 wire da.0 -> f.0 wire db.0 -> f.1 wire da.1 -> g.0 wire db.1 -> g.1 wire "
                 "f.0 -> y wire g.0 -> z template { ops [f] routes [da=0,db=0] } template { ops "
                 "[g] routes [da=1,db=1] } } occ u Duo }",
        "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> "
        "(i32) %t = arith.muli %s, %b : (i32,i32) -> (i32) output %t }",
        "g", "F", "too few occurrences and contexts");
}

static void test_empty(void **state)
{
    (void)state;
    assert_count("fabric F { " ADD_UNIT "occ u Add }", "graph g { }", "g", "F", 1);
}

/* ---- bounds ------------------------------------------------------------------------------- */

/* A chain of `count` additions on as many occurrences. */
static qp_fabric_model *long_chain(unsigned count, unsigned homes)
{
    qp_buffer text;

    qp_buffer_init(&text, NULL);
    qp_buffer_format(&text, "fabric F { %s occ u Add contexts %u }\n", ADD_UNIT, homes);
    qp_buffer_text(&text, "graph g { input %a : i32\n");
    for (unsigned i = 0; i < count; i++)
        qp_buffer_format(&text, "%%v%u = arith.addi %%%s%u, %%a : (i32,i32) -> (i32)\n", i,
                         i > 0 ? "v" : "a", i > 0 ? i - 1 : 0);
    qp_buffer_format(&text, "output %%v%u }\n", count - 1);
    qp_buffer_append(&text, "", 1);
    /* the first operand of the first actor is the input itself */
    char *first = strstr((char *)text.bytes, "%a0,");
    if (first != NULL)
        memcpy(first, "%a, ", 4);
    qp_fabric_model *model = read_one((const char *)text.bytes);
    qp_buffer_free(&text);
    return model;
}

/* Whatever the bound, what is said is true: a bound that was reached is no "no". */
static void test_bounds(void **state)
{
    qp_fabric_model *model = long_chain(6, 6); /* 720 maps */
    (void)state;

    for (uint64_t work = 1; work < 2000; work += 7) {
        qp_fabric_maps *maps = search(model, "g", "F", work, 0);
        assert_int_equal(maps->end, QP_FABRIC_SEARCH_WORK);
        assert_string_equal(maps->reason, "");
        assert_int_equal(maps->work, work);
        assert_true(maps->count < 720);
        qp_fabric_maps_free(maps);
    }
    qp_fabric_maps *maps = search(model, "g", "F", 0, 0);
    assert_int_equal(maps->end, QP_FABRIC_SEARCH_COMPLETE);
    assert_int_equal(maps->count, 720);
    const uint64_t work = maps->work;
    for (size_t i = 1; i < maps->count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(strchr(maps->texts[i], '\n'), strchr(maps->texts[k], '\n'));
    qp_fabric_maps_free(maps);
    maps = search(model, "g", "F", work, 0);
    assert_int_equal(maps->end, QP_FABRIC_SEARCH_COMPLETE);
    assert_int_equal(maps->count, 720);
    qp_fabric_maps_free(maps);
    qp_fabric_free(model);
}

/* Long graphs need neither deep recursion nor much work for their first map. */
static void test_long_chain(void **state)
{
    qp_fabric_model *model = long_chain(3000, 4000);
    qp_fabric_maps *maps = search(model, "g", "F", 0, 1);
    (void)state;

    assert_int_equal(maps->end, QP_FABRIC_SEARCH_LIMIT);
    assert_int_equal(maps->count, 1);
    qp_fabric_maps_free(maps);
    qp_fabric_free(model);
}

static void test_failing_allocator(void **state)
{
    qp_fabric_model *model = read_one(example_13_2);
    const qp_fabric_search question = {"dot", "M", 0, 0};
    (void)state;

    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_fabric_maps *maps;
        const qp_status status = qp_fabric_map(model, &question, &allocator, &maps, NULL);
        qp_fabric_maps_free(maps);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
    qp_fabric_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_homes),
        cmocka_unit_test(test_two_ways),
        cmocka_unit_test(anchor_06_edges_inside),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_failing_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
