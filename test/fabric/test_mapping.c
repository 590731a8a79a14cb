/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mapping.c - the checks of maps (section 11), one refusal each; the projection; anchors 18,
 * 19 and 28 of section 14.
 */
#include "configuration_support.h"

#define ADD(name)                                                                                  \
    "op " name " ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params { integer_widths = "  \
    "[32] } "
#define CHAIN                                                                                      \
    "fabric F { fu Chain (a:32, b:32, c:32) -> (y:32) { " ADD("f")                                 \
        ADD("g") "wire a -> f.0 wire b -> f.1 wire f.0 -> g.0 wire c -> g.1 wire g.0 -> y } fu "   \
                 "One (a:32, "                                                                     \
                 "b:32) -> (y:32) { " ADD("h") "wire a -> h.0 wire b -> h.1 wire h.0 -> y } occ "  \
                                               "u Chain contexts 2 occ v One occ w One }\n"
#define CHAINED                                                                                    \
    "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) %t = "    \
    "arith.addi %s, %a : (i32,i32) -> (i32) output %t }\n"
#define MAP(body) CHAIN CHAINED "map m of g on F { " body " }"
#define REALIZE(body) "realize r fu Chain template 0 { " body " } bind r -> u"
#define ACTORS "actor %s -> f in (0,1) out (0) actor %t -> g in (0,1) out (0) "
#define ROWS "bound %s in 0 -> a bound %s in 1 -> b bound %t in 1 -> c bound %t out 0 -> y "

static void assert_map(const char *text, qp_fabric_fault fault, const char *part)
{
    assert_check("", text, fault, part);
}

static void assert_invalid(const char *text, const char *part)
{
    assert_map(text, QP_FABRIC_INVALID, part);
}

static void test_examples(void **state)
{
    (void)state;
    assert_map(example_13_1, QP_FABRIC_NO_FAULT, "");
    assert_map(example_13_2, QP_FABRIC_NO_FAULT, "");
    assert_map(example_13_3_slice, QP_FABRIC_NO_FAULT, "");
    assert_map(example_13_3_shuffle, QP_FABRIC_NO_FAULT, "");
    assert_map(example_13_4, QP_FABRIC_NO_FAULT, "");
    assert_map(MAP(REALIZE(ACTORS ROWS)), QP_FABRIC_NO_FAULT, "");
}

static void test_actors(void **state)
{
    (void)state;
    assert_invalid(MAP("realize r fu Chain template 1 { " ACTORS ROWS "} bind r -> u"),
                   "there is no template 1: the unit's last is 0");
    assert_invalid(MAP(REALIZE("actor %s -> f in (0,1) out (0) " ROWS)), "has 2 active ops");
    assert_invalid(MAP(REALIZE("actor %s -> f in (0,1) out (0) actor %s -> g in (0,1) out (0) ")),
                   "the actor %s is realized twice");
    assert_invalid(MAP(REALIZE("actor %s -> f in (0,1) out (0) actor %t -> f in (0,1) out (0) ")),
                   "the op of %t has another actor already");
    assert_invalid(MAP(REALIZE("actor %s -> f in (0) out (0) actor %t -> g in (0,1) out (0) ")),
                   "%s has 2 operands and 1 results");
    assert_invalid(MAP("realize r fu One template 0 { actor %s -> h in (0,1) out (0) bound %s in 0 "
                       "-> a bound %s in 1 -> b bound %s out 0 -> y } bind r -> v"),
                   "no realization has the actor %t");
    assert_map(MAP(REALIZE("actor %s -> f in (1,0) out (0) actor %t -> g in (0,1) out (0) " ROWS)),
               QP_FABRIC_INADMISSIBLE, "section 4");
    assert_map(MAP(REALIZE("actor %s -> f in (0,2) out (0) actor %t -> g in (0,1) out (0) " ROWS)),
               QP_FABRIC_INADMISSIBLE, "no such input");
}

/* An op that the template does not have; a schema that the op does not have (anchor 2). */
static void test_ops(void **state)
{
    char *text = malloc(sizeof example_13_4);
    (void)state;

    assert_non_null(text);
    memcpy(text, example_13_4, sizeof example_13_4);
    memcpy(strstr(text, "template 1 { actor"), "template 0", 10);
    assert_invalid(text, "the op of %s is not active in the template");
    memcpy(text, example_13_4, sizeof example_13_4);
    memcpy(strstr(text, "= arith.addi"), "= arith.subi", 12);
    assert_map(text, QP_FABRIC_INADMISSIBLE, "point 1: arith.subi is not in the op_list");
    free(text);
}

static void test_rows(void **state)
{
    (void)state;
    assert_invalid(MAP(REALIZE(ACTORS ROWS "bound %t in 0 -> a")),
                   "reads another value than an ea");
    assert_invalid(MAP(REALIZE(ACTORS "bound %s in 0 -> a bound %s in 1 -> b bound %t in 0 -> c")),
                   "operand 0 of %t has a row and comes from within the unit");
    assert_invalid(MAP(REALIZE(ACTORS ROWS "bound %t in 1 -> c")), "has a row already");
    assert_invalid(MAP(REALIZE(ACTORS ROWS "bound %t in 2 -> c")), "operand 2 of %t is not there");
    assert_invalid(MAP(REALIZE(ACTORS ROWS "bound %s out 0 -> y")), "does not come to this output");
    assert_invalid(MAP(REALIZE(ACTORS "bound %s in 0 -> a bound %s in 1 -> b bound %t in 1 -> c")),
                   "leaves by an output in the template for which it has no row");
    assert_invalid(MAP(REALIZE(ACTORS "bound %s in 0 -> a bound %t in 1 -> c bound %t out 0 -> y")),
                   "operand 1 of %s comes from outside in the template and has no row");
    assert_invalid(MAP(REALIZE(ACTORS "bound %s in 0 -> b bound %s in 1 -> a bound %t in 1 -> c "
                                      "bound %t out 0 -> y")),
                   "operand 0 of %s comes from another input in the template");
    assert_invalid(MAP("realize r fu One template 0 { actor %s -> h in (0,1) out (0) bound %t in 0 "
                       "-> a } realize q fu One template 0 { actor %t -> h in (0,1) out (0) } bind "
                       "r -> v bind q -> w"),
                   "operand 0 of %t is of an actor of another realization");
}

/* Both edges of the graph go through the unit's ports, in two units. */
static void test_external(void **state)
{
#define APART(first, second)                                                                       \
    MAP("realize r fu One template 0 { actor %s -> h in (0,1) out (0) bound %s in 0 -> a bound "   \
        "%s in 1 -> b " first "} realize q fu One template 0 { actor %t -> h in (0,1) out (0) "    \
        "bound %t in 1 -> b bound %t out 0 -> y " second "} bind r -> v bind q -> w")
    (void)state;
    assert_map(APART("bound %s out 0 -> y ", "bound %t in 0 -> a "), QP_FABRIC_NO_FAULT, "");
    assert_invalid(APART("", "bound %t in 0 -> a "), "leaves by an output in the template");
    assert_invalid(APART("bound %s out 0 -> y ", ""), "result 0 of %s is not read outside and has");
}

/* The actors the other way round: the edge is not the template's (anchor 6). */
static void anchor_06_edges(void **state)
{
    (void)state;
    assert_invalid(MAP(REALIZE("actor %t -> f in (0,1) out (0) actor %s -> g in (0,1) out (0) "
                               "bound %t in 0 -> a bound %t in 1 -> b bound %s in 1 -> c bound %s "
                               "out 0 -> y")),
                   "operand 0 of %s comes from elsewhere in the template than in the graph");
    /* %s is read by an output of the graph too */
    assert_invalid(CHAIN "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : "
                         "(i32,i32) -> (i32) %t = arith.addi %s, %a : (i32,i32) -> (i32) output %t "
                         "output %s } map m of g on F { " REALIZE(ACTORS ROWS) " }",
                   "result 0 of %s is read outside and needs a row");
}

/* One input of the unit for two operands. */
static void test_shared_input(void **state)
{
#define DOUBLE(graph)                                                                              \
    "fabric F { fu D (a:32) -> (y:32) { " ADD(                                                     \
        "f") "wire a -> f.0 wire a -> f.1 wire f.0 -> y } occ u D } graph g { " graph              \
             " output %s } map "                                                                   \
             "m of g on F { realize r fu D template 0 { actor %s -> f in (0,1) out (0) bound %s "  \
             "in 0 -> a "                                                                          \
             "bound %s in 1 -> a bound %s out 0 -> y } bind r -> u }"
    (void)state;
    assert_map(DOUBLE("input %a : i32 %s = arith.addi %a, %a : (i32,i32) -> (i32)"),
               QP_FABRIC_NO_FAULT, "");
    assert_invalid(
        DOUBLE("input %a : i32 input %b : i32 %s = arith.addi %a, %b : (i32,i32) -> (i32)"),
        "operand 1 of %s reads another value than an earlier row");
}

/* A wire from an input of the unit to an output: no edge of the graph. */
static void test_joined_ports(void **state)
{
    (void)state;
    assert_invalid("fabric F { fu D (a:32, b:32) -> (y:32, z:32) { " ADD(
                       "f") "wire a -> f.0 wire b -> f.1 wire f.0 -> y wire a -> z } occ u D } "
                            "graph g { input %a : i32 input %b : i32 %s = arith.addi %a, %b : "
                            "(i32,i32) -> (i32) output %s } map m of g on F { realize r fu D "
                            "template 0 { actor %s -> f in (0,1) out (0) bound %s in 0 -> a bound "
                            "%s in 1 -> b bound %s out 0 -> y } bind r -> u }",
                   "the template joins an input with 'z'");
}

static void test_binds(void **state)
{
#define BIND(binds) MAP("realize r fu Chain template 0 { " ACTORS ROWS "} " binds)
    (void)state;
    assert_map(BIND("bind r -> u context 1"), QP_FABRIC_NO_FAULT, "");
    assert_invalid(BIND("bind r -> u context 2"),
                   "there is no context 2: the occurrence's last is 1");
    assert_invalid(BIND("bind r -> v"), "of another unit");
    assert_invalid(BIND(""), "no occurrence");
    assert_invalid(BIND("bind r -> u bind r -> u context 1"), "has an occurrence already");
    assert_invalid(MAP("realize r fu One template 0 { actor %s -> h in (0,1) out (0) bound %s in 0 "
                       "-> a bound %s in 1 -> b bound %s out 0 -> y } realize q fu One template 0 "
                       "{ actor %t -> h in (0,1) out (0) bound %t in 0 -> a bound %t in 1 -> b "
                       "bound %t out 0 -> y } bind r -> v bind q -> v"),
                   "another realization has this occurrence and context");
}

/* An idle input whose other end has a row, or is an op (section 11, "Exempt"). */
static void test_idle(void **state)
{
#define IDLE_UNIT(wires)                                                                           \
    "fabric F { fu U (s:1, a:8, b:8, c:8) -> (y:8) { op m TokenMux [dataflow.mux] in (1,8,8,8) "   \
    "out (8) params { max_payload_bits = 8, max_fan = 2 } wire s -> m.0 wire a -> m.1 wire b -> "  \
    "m.2 " wires " wire m.0 -> y template { ops [m] } } occ u U } graph g { input %s : i1 input "  \
    "%a : i8 input %b : i8 %t = dataflow.mux %s, %a, %b : (i1,i8,i8) -> (i8) output %t } map m "   \
    "of g on F { realize r fu U template 0 { actor %t -> m in (0,1,2) out (0) bound %t in 0 -> s " \
    "bound %t in 1 -> a bound %t in 2 -> b bound %t out 0 -> y } bind r -> u }"
    (void)state;
    assert_map(IDLE_UNIT("wire c -> m.3"), QP_FABRIC_NO_FAULT, "");
    assert_invalid(IDLE_UNIT("wire b -> m.3"), "input 3 of %t is idle and the template feeds it");
    assert_invalid(IDLE_UNIT("wire m.0 -> m.3"), "input 3 of %t is idle and the template feeds");
}

static void test_definedness(void **state)
{
    (void)state;
    assert_map(
        "fabric F { fu P (d:8, p:1) -> (v:32, m:4, q:1) { op f FixedVectorParallelize "
        "[dataflow.parallelize] in (8,1) out (32,4,1) params { integer_element_widths = [8], "
        "float_element_formats = [], max_payload_bits = 32 } wire d -> f.0 wire p -> f.1 wire f.0 "
        "-> v wire f.1 -> m wire f.2 -> q } occ u P } graph g { input %d : i8 input %p : i1 %v, "
        "%m, %q = dataflow.parallelize %d, %p : (i8,i1) -> (vector<4xi8>,vector<4xi1>,i1) output "
        "%v output %m output %q } map m of g on F { realize r fu P template 0 { actor %v -> f in "
        "(0,1) out (0,1,2) bound %v in 0 -> d bound %v in 1 -> p bound %v out 0 -> v bound %v out "
        "1 -> m bound %v out 2 -> q } bind r -> u }",
        QP_FABRIC_INADMISSIBLE, "not proved to be defined");
}

static void anchor_28_segments_and_kinds(void **state)
{
#define NARROW(width)                                                                              \
    "fabric F { fu D (a:" width                                                                    \
    ", b:32) -> (y:32) { " ADD("f") "wire a -> f.0 wire b -> f.1 wire f.0 -> y } occ u D } graph " \
                                    "g { input %a : i32 input %b : "                               \
                                    "i32 %s = arith.addi %a, %b : (i32,i32) -> (i32) output %s } " \
                                    "map m of g on F { realize r fu "                              \
                                    "D template 0 { actor %s -> f in (0,1) out (0) bound %s in 0 " \
                                    "-> a bound %s in 1 -> b bound "                               \
                                    "%s out 0 -> y } bind r -> u }"
    static const char kinds[] =
        "fabric F { fu T (a:32t, b:32t) -> (y:32t) { op f ScalarIntegerAddSub [arith.addi] in "
        "(32t,32t) out (32t) params { integer_widths = [32] } wire a -> f.0 wire b -> f.1 wire f.0 "
        "-> y } fu One (a:32, b:32) -> (y:32) { " ADD(
            "h") "wire a -> h.0 wire b -> h.1 wire h.0 "
                 "-> y } occ u T occ v One } " CHAINED
                 "map m of g on F { realize r fu T template 0 { actor %s -> f in (0,1) out (0) "
                 "bound %s in "
                 "0 -> a bound %s in 1 -> b bound %s out 0 -> y } realize q fu One template 0 { "
                 "actor %t -> "
                 "h in (0,1) out (0) bound %t in 0 -> a bound %t in 1 -> b bound %t out 0 -> y } "
                 "bind r -> "
                 "u bind q -> v }";
    qp_fabric_text text = {"file", NULL, 0};
    qp_fabric_model *model;
    qp_fabric_error error;
    (void)state;

    assert_map(NARROW("64"), QP_FABRIC_NO_FAULT, "");
    assert_map(NARROW("31"), QP_FABRIC_INADMISSIBLE, "point 8: a value of 32 bits");
    assert_map(kinds, QP_FABRIC_INADMISSIBLE, "operand 0 of %t comes from a port of the other");
    text.bytes = NARROW("32t");
    text.size = strlen(text.bytes);
    assert_int_equal(qp_fabric_read(&text, 1, NULL, &model, &error), QP_MALFORMED);
    assert_int_equal(error.fault, QP_FABRIC_INVALID);
}

/* ---- the projection ----------------------------------------------------------------------- */

static void anchor_18_one_value_a_slot(void **state)
{
    static const uint8_t add[] = {1, 2}, same[] = {1, 2}, other[] = {1, 3};
    qp_fabric_model *model = read_one(example_13_1);
    qp_fabric_sealed sealed;
    qp_fabric_slots slots;
    qp_fabric_projection projection;
    qp_fabric_error error;
    qp_arena arena;
    (void)state;

    qp_arena_init(&arena, NULL);
    assert_good(qp_fabric_seal_fabric(model, &model->fabrics[0], &arena, &sealed, &error), &error);
    assert_good(qp_fabric_slots_of(&sealed, &arena, &slots, &error), &error);
    assert_int_equal(slots.count, 2);
    qp_fabric_derivation rows[2] = {{1, {add, 2}, {"hand", 1, 1}}, {1, {same, 2}, {"hand", 2, 1}}};
    assert_good(qp_fabric_collapse(&slots, rows, 2, &arena, &projection, &error), &error);
    assert_null(projection.values[0].bytes);
    assert_memory_equal(projection.values[1].bytes, add, 2);
    rows[1].value.bytes = other;
    assert_int_equal(qp_fabric_collapse(&slots, rows, 2, &arena, &projection, &error),
                     QP_MODEL_MISMATCH);
    assert_int_equal(error.fault, QP_FABRIC_CONFLICT);
    assert_int_equal(error.line, 2);
    qp_arena_free(&arena);
    qp_fabric_free(model);
}

static void anchor_19_no_refinements(void **state)
{
    qp_fabric_model *model = read_one(example_13_1);
    qp_fabric_sealed sealed;
    qp_fabric_verified verified;
    qp_fabric_slots slots;
    qp_fabric_projection projection;
    qp_fabric_error error;
    qp_arena arena;
    (void)state;

    qp_arena_init(&arena, NULL);
    assert_good(qp_fabric_seal_fabric(model, &model->fabrics[0], &arena, &sealed, &error), &error);
    assert_good(qp_fabric_verify(&sealed, &model->maps[0], &arena, &verified, &error), &error);
    assert_good(qp_fabric_slots_of(&sealed, &arena, &slots, &error), &error);
    assert_good(qp_fabric_derive(&verified, &slots, 0, &arena, &projection, &error), &error);
    assert_int_equal(qp_fabric_derive(&verified, &slots, 1, &arena, &projection, &error),
                     QP_MALFORMED);
    assert_int_equal(error.fault, QP_FABRIC_INVALID);
    qp_arena_free(&arena);
    qp_fabric_free(model);
}

/* ---- memory and bounds -------------------------------------------------------------------- */

static void test_failing_allocator(void **state)
{
    qp_fabric_model *model = read_one(example_13_2);
    (void)state;

    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        const qp_status status = qp_fabric_check(model, &allocator, NULL);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
    qp_fabric_free(model);
}

/* Operations that are each within their own bounds are too much together. */
static void test_sum_of_bounds(void **state)
{
    qp_buffer text;
    qp_fabric_error error;
    qp_fabric_model *model;
    (void)state;

    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "fabric F { fu U (c:1048576) -> (y:1048576");
    for (unsigned i = 1; i < 40; i++)
        qp_buffer_format(&text, ", y%u:1048576", i);
    qp_buffer_text(&text, ") { ");
    for (unsigned i = 0; i < 40; i++) {
        char output[16] = "y";
        if (i > 0)
            snprintf(output, sizeof output, "y%u", i);
        qp_buffer_format(&text,
                         "op f%u FixedVectorShuffle [vector.shuffle] in (1048576,1048576) out "
                         "(1048576) params { integer_element_widths = [8], float_element_formats "
                         "= [], max_operand_payload_bits = 1048576, max_result_payload_bits = "
                         "1048576, max_block_payload_bits = 8, max_source_blocks = 16, "
                         "max_result_blocks = 60000 } wire c -> f%u.0 wire c -> f%u.1 wire f%u.0 "
                         "-> %s ",
                         i, i, i, i, output);
    }
    qp_buffer_text(&text, "} }");
    const qp_fabric_text input = {"file", text.bytes, text.size};
    assert_good(qp_fabric_read(&input, 1, NULL, &model, &error), &error);
    assert_int_equal(qp_fabric_check(model, NULL, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.fault, QP_FABRIC_UNSUPPORTED);
    qp_fabric_free(model);
    qp_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_actors),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_external),
        cmocka_unit_test(anchor_06_edges),
        cmocka_unit_test(test_shared_input),
        cmocka_unit_test(test_joined_ports),
        cmocka_unit_test(test_binds),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_definedness),
        cmocka_unit_test(anchor_28_segments_and_kinds),
        cmocka_unit_test(anchor_18_one_value_a_slot),
        cmocka_unit_test(anchor_19_no_refinements),
        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_sum_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
