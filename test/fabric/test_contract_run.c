/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_contract_run.c - ops run as their contracts say (section 9): what a record tells of how it
 * runs, the reference runs of section 3 cycle by cycle, rings, broadcasts and queues.
 */
#include "fabric/simulate_support.h"

#include "fabric/simulation.h"

/* ---- what a record says ------------------------------------------------------------------- */

static void contract_of(const char *family, qp_arena *arena, qp_fabric_contract *contract)
{
    qp_fabric_node node = {.family = qp_fabric_find_family(family, strlen(family))};

    assert_non_null(node.family);
    node.params.integers = 2; /* 8 bits */
    node.params.max_payload_bits = 32;
    assert_int_equal(qp_fabric_contract_of(&node, arena, contract, NULL), QP_OK);
}

static void test_disciplines(void **state)
{
    static const struct {
        const char *family;
        bool transparent;
    } rows[] = {{"ScalarIntegerAddSub", false},
                {"TokenSync", false},
                {"TokenConstant", false},
                {"LoopStream", false},
                {"LoopCarry", true},
                {"LoopInvariant", true},
                {"LoopGate", true},
                {"FixedVectorParallelize", false},
                {"FixedVectorSerialize", false}};
    qp_arena arena;
    (void)state;

    qp_arena_init(&arena, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qp_fabric_contract contract;
        qp_fabric_discipline discipline;
        contract_of(rows[i].family, &arena, &contract);
        assert_int_equal(qp_fabric_discipline_of(&contract, QP_FABRIC_NOWHERE, &discipline, NULL),
                         QP_OK);
        assert_int_equal(discipline.transparent, rows[i].transparent);
    }
    qp_arena_free(&arena);
}

static void assert_not_run(const qp_fabric_contract *contract)
{
    qp_fabric_discipline discipline;
    qp_fabric_error error;

    assert_int_equal(qp_fabric_check_contract(contract, NULL, &error), QP_OK);
    assert_int_equal(qp_fabric_discipline_of(contract, QP_FABRIC_NOWHERE, &discipline, &error),
                     QP_MODEL_MISMATCH);
    assert_int_equal(error.fault, QP_FABRIC_UNSUPPORTED);
}

/* Records that are valid, and that nothing runs. */
static void test_contracts_that_nothing_runs(void **state)
{
    static const uint32_t order[] = {0}, late_ranks[] = {0, 2, 2}, two_uses[] = {0, 1, 1};
    static const qp_fabric_capacity two = {2, 0}, half_full = {2, 1};
    const qp_fabric_contract_state states[] = {{1, &two}}, filled[] = {{1, &half_full}};
    const qp_fabric_word_list late = {3, late_ranks}, in_time = {3, two_uses};
    qp_fabric_contract contract, changed;
    qp_fabric_pattern pattern;
    qp_arena arena;
    (void)state;

    qp_arena_init(&arena, NULL);
    contract_of("ScalarIntegerAddSub", &arena, &contract);
    changed = contract; /* a grant policy */
    changed.grant = QP_FABRIC_GRANT_FIXED;
    changed.grant_order = (qp_fabric_word_list){1, order};
    assert_not_run(&changed);
    changed = contract; /* two uses at a time */
    changed.states = states;
    changed.timings = &in_time;
    assert_not_run(&changed);
    changed.states = filled; /* a slot that is not empty at first */
    assert_not_run(&changed);
    changed = contract; /* publishes after two cycles */
    changed.timings = &late;
    assert_not_run(&changed);
    changed = contract; /* holds a slot and publishes at once */
    pattern = contract.patterns[0];
    pattern.release = pattern.commit_event = pattern.acquire;
    changed.patterns = &pattern;
    assert_not_run(&changed);
    qp_arena_free(&arena);
}

/* ---- one op ------------------------------------------------------------------------------- */

/* A unit of one op, its inputs a, b, c and its outputs x, y; %s are family, schema, ports, record,
 * types. */
typedef struct one_op {
    const char *family, *schema, *attributes, *params;
    int operands, results;
    const char *operand_types[3], *result_types[2];
    int operand_bits[3], result_bits[2];
} one_op;

static void put_list(qp_buffer *t, const char *const *words, const int *numbers, int count)
{
    qp_buffer_text(t, "(");
    for (int i = 0; i < count; i++)
        if (words != NULL)
            qp_buffer_format(t, "%s%s", i > 0 ? "," : "", words[i]);
        else
            qp_buffer_format(t, "%s%d", i > 0 ? "," : "", numbers != NULL ? numbers[i] : i);
    qp_buffer_text(t, ")");
}

static const char *one_op_text(const one_op *op, qp_buffer *t)
{
    static const char *const in[] = {"a", "b", "c"}, *const out[] = {"x", "y"};

    qp_buffer_init(t, NULL);
    qp_buffer_text(t, "fabric F { fu U (");
    for (int i = 0; i < op->operands; i++)
        qp_buffer_format(t, "%s%s:%d", i > 0 ? ", " : "", in[i], op->operand_bits[i]);
    qp_buffer_text(t, ") -> (");
    for (int i = 0; i < op->results; i++)
        qp_buffer_format(t, "%s%s:%d", i > 0 ? ", " : "", out[i], op->result_bits[i]);
    qp_buffer_format(t, ") { op f %s [%s] in ", op->family, op->schema);
    put_list(t, NULL, op->operand_bits, op->operands);
    qp_buffer_text(t, " out ");
    put_list(t, NULL, op->result_bits, op->results);
    qp_buffer_format(t, " params %s\n", op->params);
    for (int i = 0; i < op->operands; i++)
        qp_buffer_format(t, " wire %s -> f.%d", in[i], i);
    for (int i = 0; i < op->results; i++)
        qp_buffer_format(t, " wire f.%d -> %s", i, out[i]);
    qp_buffer_text(t, " } occ u U }\ngraph g index 32 {");
    for (int i = 0; i < op->operands; i++)
        qp_buffer_format(t, " input %%%s : %s", in[i], op->operand_types[i]);
    for (int i = 0; i < op->results; i++)
        qp_buffer_format(t, "%s%%%s", i > 0 ? ", " : "\n ", out[i]);
    qp_buffer_format(t, " = %s %%a", op->schema);
    for (int i = 1; i < op->operands; i++)
        qp_buffer_format(t, ", %%%s", in[i]);
    qp_buffer_format(t, " %s : ", op->attributes);
    put_list(t, op->operand_types, NULL, op->operands);
    qp_buffer_text(t, " -> ");
    put_list(t, op->result_types, NULL, op->results);
    for (int i = 0; i < op->results; i++)
        qp_buffer_format(t, " output %%%s", out[i]);
    qp_buffer_text(t, " }\nmap m of g on F { realize r fu U template 0 { actor %x -> f in ");
    put_list(t, NULL, NULL, op->operands);
    qp_buffer_text(t, " out ");
    put_list(t, NULL, NULL, op->results);
    for (int i = 0; i < op->operands; i++)
        qp_buffer_format(t, " bound %%x in %d -> %s", i, in[i]);
    for (int i = 0; i < op->results; i++)
        qp_buffer_format(t, " bound %%x out %d -> %s", i, out[i]);
    qp_buffer_text(t, " } bind r -> u }\n");
    qp_buffer_append(t, "", 1);
    assert_false(t->failed);
    return (const char *)t->bytes;
}

static void assert_op(const one_op *op, const char *tokens, const char *stalls,
                      const char *expected)
{
    qp_buffer text;
    const text_run run = {one_op_text(op, &text), "m", tokens, stalls, {0}};

    assert_run(&run, expected, NULL);
    qp_buffer_free(&text);
}

/* ---- the reference runs of section 3 ------------------------------------------------------ */

/* 0 1 2 3 4 and their phases, then the close: fires from 0, publishes from 1, one a cycle. */
static void test_stream(void **state)
{
    const one_op op = {"LoopStream",
                       "dataflow.stream",
                       "{ step = add, predicate = slt }",
                       "{ integer_widths = [8], step_kind = add, predicates = [slt] }",
                       3,
                       2,
                       {"i8", "i8", "i8"},
                       {"i8", "i1"},
                       {8, 8, 8},
                       {8, 1}};
    (void)state;

    assert_op(&op,
              "{\"port\": \"a\", \"tokens\": [\"00\", \"05\"]}\n"
              "{\"port\": \"b\", \"tokens\": [\"05\", \"05\"]}\n"
              "{\"port\": \"c\", \"tokens\": [\"01\", \"01\"]}\n",
              NULL,
              "{\"port\": \"x\", \"tokens\": [\"00\", \"01\", \"02\", \"03\", \"04\"], "
              "\"cycles\": [1, 2, 3, 4, 5]}\n"
              "{\"port\": \"y\", \"tokens\": [\"1\", \"1\", \"1\", \"1\", \"1\", \"0\", \"0\"], "
              "\"cycles\": [1, 2, 3, 4, 5, 6, 7]}\n");
    /* a phase that nobody takes holds the next value back */
    assert_op(&op,
              "{\"port\": \"a\", \"tokens\": [\"03\"]}\n"
              "{\"port\": \"b\", \"tokens\": [\"05\"]}\n"
              "{\"port\": \"c\", \"tokens\": [\"01\"]}\n",
              "{\"port\": \"y\", \"cycles\": [[1, 4]]}\n",
              "{\"port\": \"x\", \"tokens\": [\"03\", \"04\"], \"cycles\": [1, 5]}\n"
              "{\"port\": \"y\", \"tokens\": [\"1\", \"1\", \"0\"], \"cycles\": [4, 5, 6]}\n");
}

/* Phase T T F gives v v v, in the cycles of the firings; phase F gives v. */
static void test_invariant(void **state)
{
    const one_op op = {
        "LoopInvariant", "dataflow.invariant", "", "{}", 2, 1, {"i1", "i8"}, {"i8"}, {1, 8}, {8}};
    (void)state;

    assert_op(&op,
              "{\"port\": \"a\", \"tokens\": [\"1\", \"1\", \"0\", \"0\"]}\n"
              "{\"port\": \"b\", \"tokens\": [\"2a\", \"2b\"]}\n",
              NULL,
              "{\"port\": \"x\", \"tokens\": [\"2a\", \"2a\", \"2a\", \"2b\"], "
              "\"cycles\": [0, 1, 2, 4]}\n");
}

/* cond T T F, values v0 v1 x: value v0 v1, cond T F. */
static void test_gate(void **state)
{
    const one_op op = {"LoopGate", "dataflow.gate", "",           "{}",   2,
                       2,          {"i1", "i8"},    {"i1", "i8"}, {1, 8}, {1, 8}};
    const char *tokens = "{\"port\": \"a\", \"tokens\": [\"0\", \"1\", \"1\", \"0\"]}\n"
                         "{\"port\": \"b\", \"tokens\": [\"09\", \"10\", \"11\", \"12\"]}\n";
    (void)state;

    assert_op(&op, tokens, NULL,
              "{\"port\": \"x\", \"tokens\": [\"1\", \"0\"], \"cycles\": [2, 3]}\n"
              "{\"port\": \"y\", \"tokens\": [\"10\", \"11\"], \"cycles\": [1, 2]}\n");
    /* only results of the case hold a firing back: FirstTrue has no condition to give */
    assert_op(&op, tokens, "{\"port\": \"x\", \"cycles\": [[0, 7]]}\n",
              "{\"port\": \"x\", \"tokens\": [\"1\", \"0\"], \"cycles\": [7, 8]}\n"
              "{\"port\": \"y\", \"tokens\": [\"10\", \"11\"], \"cycles\": [1, 7]}\n");
}

/* ---- rings, broadcasts, queues ------------------------------------------------------------ */

/*
 * Two elastic ops in a ring, both slots full from cycle 2 on: each can fire only because the other
 * one does, so the ring turns where the largest set is taken. The last selector goes at 5; what
 * %s publishes at 6 leaves through the output alone.
 */
static void test_full_ring_turns(void **state)
{
    const text_run run = {
        "fabric F { fu U (sel:1, x:8) -> (y:8) {\n"
        "  op m TokenMux [dataflow.mux] in (1,8,8) out (8) params { max_payload_bits = 8, max_fan "
        "= 2 }\n"
        "  op s TokenSync [dataflow.sync] in (8) out (8) params { max_payload_bits = 8, max_fan = "
        "2 }\n"
        "  wire sel -> m.0  wire x -> m.1  wire s.0 -> m.2  wire m.0 -> s.0  wire s.0 -> y }\n"
        "  occ u U }\n"
        "graph g { input %sel : i1  input %x : i8\n"
        "  %m = dataflow.mux %sel, %x, %s : (i1,i8,i8) -> (i8)\n"
        "  %s = dataflow.sync %m : (i8) -> (i8)  output %s }\n"
        "map m of g on F { realize r fu U template 0 {\n"
        "  actor %m -> m in (0,1,2) out (0)  bound %m in 0 -> sel  bound %m in 1 -> x\n"
        "  actor %s -> s in (0) out (0)  bound %s out 0 -> y } bind r -> u }\n",
        "m",
        "{\"port\": \"sel\", \"tokens\": [\"0\", \"0\", \"1\", \"1\", \"1\", \"1\"]}\n"
        "{\"port\": \"x\", \"tokens\": [\"0a\", \"0b\"]}\n",
        NULL,
        {0}};
    (void)state;

    assert_run(&run,
               "{\"port\": \"s\", \"tokens\": [\"0a\", \"0b\", \"0a\", \"0b\", \"0a\"], "
               "\"cycles\": [2, 3, 4, 5, 6]}\n",
               NULL);
}

/*
 * A carry's result is read by an adder and by an output: it fires only where both take. The adder
 * has its other operand from cycle 2 on, the output is stalled until 4.
 */
static void test_transparent_broadcast(void **state)
{
    const text_run run = {
        "fabric F { fu U (p:1, i:8, n:8, b:8) -> (y:8, z:8) {\n"
        "  op c LoopCarry [dataflow.carry] in (1,8,8) out (8) params {}\n"
        "  op f ScalarIntegerAddSub [arith.addi] in (8,8) out (8) params { integer_widths = [8] }\n"
        "  wire p -> c.0  wire i -> c.1  wire n -> c.2  wire c.0 -> f.0  wire b -> f.1\n"
        "  wire c.0 -> y  wire f.0 -> z } occ u U }\n"
        "graph g { input %p : i1  input %i : i8  input %n : i8  input %b : i8\n"
        "  %c = dataflow.carry %p, %i, %n : (i1,i8,i8) -> (i8)\n"
        "  %f = arith.addi %c, %b : (i8,i8) -> (i8)  output %c  output %f }\n"
        "map m of g on F { realize r fu U template 0 {\n"
        "  actor %c -> c in (0,1,2) out (0)  bound %c in 0 -> p  bound %c in 1 -> i\n"
        "  bound %c in 2 -> n  bound %c out 0 -> y\n"
        "  actor %f -> f in (0,1) out (0)  bound %f in 1 -> b  bound %f out 0 -> z }\n"
        "  bind r -> u }\n",
        "m",
        "{\"port\": \"p\", \"tokens\": [\"1\", \"0\"]}\n"
        "{\"port\": \"i\", \"tokens\": [\"01\"]}\n"
        "{\"port\": \"n\", \"tokens\": [\"02\"]}\n"
        "{\"port\": \"b\", \"tokens\": [\"10\", \"20\"]}\n",
        "{\"port\": \"b\", \"cycles\": [[0, 2], [5, 6]]}\n"
        "{\"port\": \"c\", \"cycles\": [[1, 4]]}\n",
        {0}};
    (void)state;

    assert_run(&run,
               "{\"port\": \"c\", \"tokens\": [\"01\", \"02\"], \"cycles\": [4, 6]}\n"
               "{\"port\": \"f\", \"tokens\": [\"11\", \"22\"], \"cycles\": [5, 7]}\n",
               NULL);
}

/* A token that leaves one unit at 1 enters the queue of the next one's port, and is taken at 2. */
static void test_queue_between_units(void **state)
{
    const text_run run = {
        "fabric F { fu U (a:8, b:8) -> (y:8) {\n"
        "  op f ScalarIntegerAddSub [arith.addi] in (8,8) out (8) params { integer_widths = [8] }\n"
        "  wire a -> f.0  wire b -> f.1  wire f.0 -> y } occ u U  occ w U }\n"
        "graph g { input %a : i8  input %b : i8\n"
        "  %f = arith.addi %a, %b : (i8,i8) -> (i8)  %h = arith.addi %f, %a : (i8,i8) -> (i8)\n"
        "  output %h }\n"
        "map m of g on F { realize r fu U template 0 { actor %f -> f in (0,1) out (0)\n"
        "  bound %f in 0 -> a  bound %f in 1 -> b  bound %f out 0 -> y }\n"
        "  realize q fu U template 0 { actor %h -> f in (0,1) out (0)\n"
        "  bound %h in 0 -> a  bound %h in 1 -> b  bound %h out 0 -> y }\n"
        "  bind r -> u  bind q -> w }\n",
        "m",
        "{\"port\": \"a\", \"tokens\": [\"01\", \"02\", \"03\"]}\n"
        "{\"port\": \"b\", \"tokens\": [\"10\", \"20\", \"30\"]}\n",
        "{\"port\": \"h\", \"cycles\": [[3, 9]]}\n", /* the queue takes all that comes */
        {0}};
    (void)state;

    assert_run(&run,
               "{\"port\": \"h\", \"tokens\": [\"12\", \"24\", \"36\"], \"cycles\": [9, 10, 11]}\n",
               NULL);
}

/* Forty tokens as one line, of an output where there is a first cycle. */
static void put_forty(qp_buffer *t, const char *port, const char *format, int first_cycle)
{
    qp_buffer_format(t, "{\"port\": \"%s\", \"tokens\": [", port);
    for (unsigned i = 0; i < 40; i++) {
        char token[64];
        if (strcmp(format, "none") == 0)
            memcpy(token, "none", sizeof "none");
        else
            snprintf(token, sizeof token, "%016x%016x%016x", 3 * i, 5 * i, 7 * i);
        qp_buffer_format(t, "%s\"%s\"", i > 0 ? ", " : "", token);
    }
    qp_buffer_text(t, "]");
    if (first_cycle >= 0) {
        qp_buffer_text(t, ", \"cycles\": [");
        for (int i = 0; i < 40; i++)
            qp_buffer_format(t, "%s%d", i > 0 ? ", " : "", first_cycle + i);
        qp_buffer_text(t, "]");
    }
    qp_buffer_text(t, "}\n");
}

/* Tokens of three words, and of none, wait in queues that have to grow for them. */
static void test_long_queues(void **state)
{
    qp_buffer tokens, expected;
    text_run run = {
        "fabric F { fu U (a:192, b:0) -> (y:192, z:0) {\n"
        "  op f TokenSync [dataflow.sync] in (192,0) out (192,0) params { max_payload_bits = 192, "
        "max_fan = 2 }\n"
        "  wire a -> f.0  wire b -> f.1  wire f.0 -> y  wire f.1 -> z } occ u U  occ w U }\n"
        "graph g { input %a : vector<3xi64>  input %b : none  input %d : none\n"
        "  %f, %e = dataflow.sync %a, %b : (vector<3xi64>,none) -> (vector<3xi64>,none)\n"
        "  %h, %k = dataflow.sync %f, %d : (vector<3xi64>,none) -> (vector<3xi64>,none)\n"
        "  output %e  output %h  output %k }\n"
        "map m of g on F { realize r fu U template 0 { actor %f -> f in (0,1) out (0,1)\n"
        "  bound %f in 0 -> a  bound %f in 1 -> b  bound %f out 0 -> y  bound %f out 1 -> z }\n"
        "  realize q fu U template 0 { actor %h -> f in (0,1) out (0,1)\n"
        "  bound %h in 0 -> a  bound %h in 1 -> b  bound %h out 0 -> y  bound %h out 1 -> z }\n"
        "  bind r -> u  bind q -> w }\n",
        "m",
        NULL,
        "{\"port\": \"d\", \"cycles\": [[0, 35]]}\n",
        {0}};
    (void)state;

    qp_buffer_init(&tokens, NULL);
    qp_buffer_init(&expected, NULL);
    put_forty(&tokens, "a", "wide", -1);
    put_forty(&tokens, "b", "none", -1);
    put_forty(&tokens, "d", "none", -1);
    put_forty(&expected, "e", "none", 1);
    put_forty(&expected, "h", "wide", 36);
    put_forty(&expected, "k", "none", 36);
    qp_buffer_append(&tokens, "", 1);
    qp_buffer_append(&expected, "", 1);
    run.tokens = (const char *)tokens.bytes;
    assert_run(&run, (const char *)expected.bytes, NULL);
    qp_buffer_free(&tokens);
    qp_buffer_free(&expected);
}

/* ---- runs that end as Invalid, and maps that are not run ---------------------------------- */

static void assert_fails(const char *text, const char *map, const char *tokens, const char *stalls,
                         const char *expected)
{
    const qp_fabric_text texts = text_of("file", text);
    const qp_fabric_streams streams = {text_of("tokens", tokens), text_of("stalls", stalls)};
    char line[700];
    qp_fabric_model *model;
    qp_fabric_error error;
    void *lines;
    size_t size;

    assert_good(qp_fabric_read(&texts, 1, NULL, &model, &error), &error);
    assert_int_not_equal(
        qp_fabric_simulate(model, map, &streams, NULL, NULL, &lines, &size, NULL, &error), QP_OK);
    assert_null(lines);
    qp_fabric_error_text(&error, line, sizeof line);
    if (strstr(line, expected) == NULL)
        print_error("%s\n", line);
    assert_non_null(strstr(line, expected));
    qp_fabric_free(model);
}

static void test_undefined_results(void **state)
{
    const one_op division = {"ScalarSignedIntegerDivRem",
                             "arith.divsi",
                             "",
                             "{ integer_widths = [8] }",
                             2,
                             1,
                             {"i8", "i8"},
                             {"i8"},
                             {8, 8},
                             {8}};
    const one_op mux = {"TokenMux",
                        "dataflow.mux",
                        "",
                        "{ max_payload_bits = 8, max_fan = 2 }",
                        3,
                        1,
                        {"i1", "i8", "i8"},
                        {"i8"},
                        {1, 8, 8},
                        {8}};
    qp_buffer text;
    (void)state;

    assert_fails(one_op_text(&division, &text), "m",
                 "{\"port\": \"a\", \"tokens\": [\"08\", \"80\"]}\n"
                 "{\"port\": \"b\", \"tokens\": [\"02\", \"ff\"]}\n",
                 "{\"port\": \"x\", \"cycles\": [[0, 4]]}\n",
                 "Invalid: the firing of '%x' (arith.divsi) in cycle 4");
    qp_buffer_free(&text);
    /* a map that is not there, and tokens that are none */
    assert_fails(one_op_text(&mux, &text), "other", "", "", "there is no map 'other'");
    assert_fails((char *)text.bytes, "m", "{\"port\": \"a\", \"tokens\": [\"2\"]}", "", "Invalid");
    assert_fails((char *)text.bytes, "m", "", "{\"port\": \"x\", \"cycles\": [[2, 1]]}", "Invalid");
    qp_buffer_free(&text);
}

/* A selector of three lanes is an index, and may name none of them. */
static void test_selector_out_of_range(void **state)
{
    (void)state;
    assert_fails(
        "fabric F { fu U (s:32, a:8, b:8, c:8) -> (y:8) {\n"
        "  op m TokenMux [dataflow.mux] in (32,8,8,8) out (8) params { max_payload_bits = 8, "
        "max_fan = 3 }\n"
        "  wire s -> m.0  wire a -> m.1  wire b -> m.2  wire c -> m.3  wire m.0 -> y } occ u U }\n"
        "graph g index 32 { input %s : index  input %a : i8  input %b : i8  input %c : i8\n"
        "  %y = dataflow.mux %s, %a, %b, %c : (index,i8,i8,i8) -> (i8)  output %y }\n"
        "map m of g on F { realize r fu U template 0 { actor %y -> m in (0,1,2,3) out (0)\n"
        "  bound %y in 0 -> s  bound %y in 1 -> a  bound %y in 2 -> b  bound %y in 3 -> c\n"
        "  bound %y out 0 -> y } bind r -> u }\n",
        "m",
        "{\"port\": \"s\", \"tokens\": [\"00000002\", \"00000003\"]}\n"
        "{\"port\": \"c\", \"tokens\": [\"01\"]}\n",
        "", "Invalid: the firing of '%y' (dataflow.mux) in cycle 1");
}

/* Two contexts of one occurrence can be configured, not simulated. */
static void test_two_contexts(void **state)
{
    (void)state;
    assert_fails(
        "fabric F { fu U (a:8, b:8) -> (y:8) {\n"
        "  op f ScalarIntegerAddSub [arith.addi] in (8,8) out (8) params { integer_widths = [8] }\n"
        "  wire a -> f.0  wire b -> f.1  wire f.0 -> y } occ u U contexts 2 }\n"
        "graph g { input %a : i8  input %b : i8\n"
        "  %f = arith.addi %a, %b : (i8,i8) -> (i8)  %h = arith.addi %f, %a : (i8,i8) -> (i8)\n"
        "  output %h }\n"
        "map m of g on F { realize r fu U template 0 { actor %f -> f in (0,1) out (0)\n"
        "  bound %f in 0 -> a  bound %f in 1 -> b  bound %f out 0 -> y }\n"
        "  realize q fu U template 0 { actor %h -> f in (0,1) out (0)\n"
        "  bound %h in 0 -> a  bound %h in 1 -> b  bound %h out 0 -> y }\n"
        "  bind r -> u context 0  bind q -> u context 1 }\n",
        "m", "", "", "Unsupported: two contexts of occurrence 'u'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disciplines),
        cmocka_unit_test(test_contracts_that_nothing_runs),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_invariant),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_full_ring_turns),
        cmocka_unit_test(test_transparent_broadcast),
        cmocka_unit_test(test_queue_between_units),
        cmocka_unit_test(test_long_queues),
        cmocka_unit_test(test_undefined_results),
        cmocka_unit_test(test_selector_out_of_range),
        cmocka_unit_test(test_two_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
