/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_transition.c - the handshake cases of section 3, one actor at a time: its reference runs
 * with every case by its ordinal, operands that are missing, and firings that end a run.
 */
#include "fabric/transition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { OPERANDS_MAX = 5, RESULTS_MAX = 4, WORDS_MAX = 8 };

/* The first actor of a graph, with its state and one payload a result. */
typedef struct bench {
    qp_fabric_model *model;
    qp_fabric_transition transition;
    qp_fabric_state state;
    uint64_t latch[WORDS_MAX];
    qp_fabric_firing firing;
    const uint64_t *heads[OPERANDS_MAX];
    uint64_t results[RESULTS_MAX][WORDS_MAX];
    uint64_t *result_list[RESULTS_MAX];
} bench;

/* `statement` reads graph inputs %a, %b, .. of the given types. */
static void bench_open(bench *b, const char *types, const char *statement, const char *outputs)
{
    char text[1024] = "graph g index 32 {";
    qp_fabric_error error;
    char name = 'a';

    memset(b, 0, sizeof *b);
    for (const char *at = types; *at != '\0'; name++) {
        const size_t size = strcspn(at, ",");
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " input %%%c : %.*s", name, (int)size, at);
        at += size + (at[size] == ',');
    }
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, " %s %s }", statement, outputs);
    const qp_fabric_text input = {"file", text, strlen(text)};
    if (qp_fabric_read(&input, 1, NULL, &b->model, &error) != QP_OK)
        fail_msg("%s: %s", text, error.base.message);
    assert_int_equal(qp_fabric_transition_make(&b->model->graphs[0], 0, &b->transition, &error),
                     QP_OK);
    assert_true(b->transition.state_words <= WORDS_MAX);
    b->state.payload = b->latch;
    for (int i = 0; i < RESULTS_MAX; i++)
        b->result_list[i] = b->results[i];
}

static void bench_close(bench *b)
{
    qp_fabric_free(b->model);
}

static bool choose(bench *b)
{
    qp_fabric_outcome outcome = QP_FABRIC_POISON;
    const bool fires = qp_fabric_choose(&b->transition, &b->state, b->heads, &b->firing, &outcome);

    assert_int_equal(outcome, QP_FABRIC_DEFINED);
    return fires;
}

/* Which operands the chosen case consumes, and which results a group has. */
static uint32_t consumed(const bench *b)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < b->transition.operand_count; i++)
        mask |= (uint32_t)qp_fabric_consumes(&b->transition, &b->firing, i) << i;
    return mask;
}

static uint32_t produced(const bench *b, uint32_t group)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < b->transition.result_count; i++)
        mask |= (uint32_t)qp_fabric_produces(&b->transition, &b->firing, group, i) << i;
    return mask;
}

static void form(bench *b, uint32_t group)
{
    for (int i = 0; i < RESULTS_MAX; i++)
        memset(b->results[i], 0xee, sizeof b->results[i]);
    assert_int_equal(qp_fabric_form_group(&b->transition, &b->state, &b->firing, b->heads, group,
                                          b->result_list),
                     QP_FABRIC_DEFINED);
}

static void advance(bench *b)
{
    assert_int_equal(qp_fabric_advance(&b->transition, &b->state, &b->firing, b->heads),
                     QP_FABRIC_DEFINED);
}

/* One firing of one group: its case, what it consumes and produces. */
static void fire(bench *b, uint32_t case_ordinal, uint32_t consumes, uint32_t produces)
{
    assert_true(choose(b));
    assert_int_equal(b->firing.case_ordinal, case_ordinal);
    assert_int_equal(consumed(b), consumes);
    assert_int_equal(b->firing.group_count, produces != 0);
    if (produces != 0) {
        assert_int_equal(produced(b, 0), produces);
        form(b, 0);
    }
    advance(b);
}

#define HEADS(b, ...)                                                                              \
    memcpy((b)->heads, (const uint64_t *[]){__VA_ARGS__}, sizeof((const uint64_t *[]){__VA_ARGS__}))

static const uint64_t T = 1, F = 0;

/* ---- stream ------------------------------------------------------------------------------- */

static const char stream_type[] = "i32,i32,i32";
static const char stream_add[] = "%iv, %p = dataflow.stream %a, %b, %c { step = add, predicate = "
                                 "slt } : (i32,i32,i32) -> (i32,i1)";

/* stream 0,5,1,add,slt -> iv 0 1 2 3 4, phase T T T T T F */
static void test_stream(void **state)
{
    const uint64_t init = 0, limit = 5, step = 1;
    bench b;
    (void)state;

    bench_open(&b, stream_type, stream_add, "output %iv output %p");
    HEADS(&b, &init, &limit, NULL);
    assert_false(choose(&b));
    HEADS(&b, &init, &limit, &step);
    fire(&b, 0, 7, 3);
    assert_int_equal(b.results[0][0], 0);
    assert_int_equal(b.results[1][0], 1);
    HEADS(&b, NULL, NULL, NULL);
    for (uint64_t i = 1; i < 5; i++) {
        assert_int_equal(b.state.mode, 1);
        fire(&b, 2, 0, 3);
        assert_int_equal(b.results[0][0], i);
        assert_int_equal(b.results[1][0], 1);
    }
    fire(&b, 3, 0, 2);
    assert_int_equal(b.results[1][0], 0);
    assert_int_equal(b.state.mode, 0);
    assert_false(choose(&b));
    bench_close(&b);
}

/* stream 5,5,1 -> iv none, phase F */
static void test_empty_stream(void **state)
{
    const uint64_t init = 5, step = 1;
    bench b;
    (void)state;

    bench_open(&b, stream_type, stream_add, "output %iv output %p");
    HEADS(&b, &init, &init, &step);
    fire(&b, 1, 7, 2);
    assert_int_equal(b.results[1][0], 0);
    assert_int_equal(b.state.mode, 0);
    bench_close(&b);
}

/* The second value of a stream under each step kind, on i8; -1 where the step fails. */
static void test_stream_steps(void **state)
{
    static const struct {
        const char *step;
        uint64_t init, by;
        int next;
    } rows[] = {
        {"add", 0xff, 2, 1},     {"sub", 1, 2, 0xff},      {"mul", 0x81, 2, 2},
        {"sdiv", 0xf9, 2, 0xfd}, {"sdiv", 0x80, 0xff, -1}, {"sdiv", 1, 0, -1},
        {"udiv", 0xf9, 2, 0x7c}, {"udiv", 1, 0, -1},       {"shl", 0x81, 1, 2},
        {"shl", 1, 8, -1},       {"ashr", 0x82, 1, 0xc1},  {"ashr", 0x82, 0, 0x82},
        {"ashr", 1, 0xff, -1},   {"lshr", 0x82, 1, 0x41},  {"lshr", 1, 8, -1},
        {"lshr", 0x80, 7, 1},
    };
    const uint64_t limit = 0xaa;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char statement[160];
        bench b;
        snprintf(statement, sizeof statement,
                 "%%iv, %%p = dataflow.stream %%a, %%b, %%c { step = %s, predicate = ne } : "
                 "(i8,i8,i8) -> (i8,i1)",
                 rows[i].step);
        bench_open(&b, "i8,i8,i8", statement, "output %iv output %p");
        HEADS(&b, &rows[i].init, &limit, &rows[i].by);
        assert_true(choose(&b));
        form(&b, 0);
        const qp_fabric_outcome outcome =
            qp_fabric_advance(&b.transition, &b.state, &b.firing, b.heads);
        assert_int_equal(outcome, rows[i].next < 0 ? QP_FABRIC_OUT_OF_RANGE : QP_FABRIC_DEFINED);
        if (rows[i].next >= 0) {
            fire(&b, 2, 0, 3);
            assert_int_equal(b.results[0][0], rows[i].next);
        }
        bench_close(&b);
    }
}

/* ---- carry, invariant, gate --------------------------------------------------------------- */

/* carry phase T T F, next n0 n1 -> out init n0 n1 */
static void test_carry(void **state)
{
    const uint64_t init[] = {1, 2}, next[] = {3, 4};
    bench b;
    (void)state;

    bench_open(&b, "i1,i100,i100", "%r = dataflow.carry %a, %b, %c : (i1,i100,i100) -> (i100)",
               "output %r");
    HEADS(&b, &T, NULL, next);
    assert_false(choose(&b)); /* Initial looks at init alone */
    HEADS(&b, NULL, init, NULL);
    fire(&b, 0, 2, 1);
    assert_memory_equal(b.results[0], init, sizeof init);
    HEADS(&b, NULL, init, next);
    assert_false(choose(&b));
    HEADS(&b, &T, init, NULL);
    assert_false(choose(&b));
    HEADS(&b, &T, NULL, next);
    for (int i = 0; i < 2; i++) {
        fire(&b, 1, 5, 1);
        assert_memory_equal(b.results[0], next, sizeof next);
        assert_int_equal(b.state.mode, 1);
    }
    HEADS(&b, &F, NULL, NULL);
    fire(&b, 2, 1, 0);
    assert_int_equal(b.state.mode, 0);
    bench_close(&b);
}

/* Control tokens pass too. */
static void test_carry_of_nothing(void **state)
{
    const uint64_t token = 0;
    bench b;
    (void)state;

    bench_open(&b, "i1,none,none", "%r = dataflow.carry %a, %b, %c : (i1,none,none) -> (none)",
               "output %r");
    HEADS(&b, NULL, &token, NULL);
    fire(&b, 0, 2, 1);
    HEADS(&b, &T, NULL, &token);
    fire(&b, 1, 5, 1);
    bench_close(&b);
}

/* invariant phase T T F -> v v v; phase F -> v */
static void test_invariant(void **state)
{
    const uint64_t value[] = {7, 8}, other[] = {9, 9};
    bench b;
    (void)state;

    bench_open(&b, "i1,i128", "%r = dataflow.invariant %a, %b : (i1,i128) -> (i128)", "output %r");
    HEADS(&b, &F, NULL);
    assert_false(choose(&b));
    HEADS(&b, NULL, value);
    fire(&b, 0, 2, 1);
    assert_memory_equal(b.results[0], value, sizeof value);
    HEADS(&b, NULL, other);
    assert_false(choose(&b));
    HEADS(&b, &T, other);
    for (int i = 0; i < 2; i++) {
        fire(&b, 1, 1, 1);
        assert_memory_equal(b.results[0], value, sizeof value);
    }
    HEADS(&b, &F, other);
    fire(&b, 2, 1, 0);
    assert_int_equal(b.state.mode, 0);
    assert_true(b.latch[0] == 0 && b.latch[1] == 0); /* latch cleared */
    fire(&b, 0, 2, 1);
    assert_memory_equal(b.results[0], other, sizeof other);
    bench_close(&b);
}

/* gate cond T T F, values v0 v1 x -> value v0 v1, cond T F; and a drop while closed */
static void test_gate(void **state)
{
    const uint64_t v0 = 10, v1 = 11;
    bench b;
    (void)state;

    bench_open(&b, "i1,i8", "%c1, %r = dataflow.gate %a, %b : (i1,i8) -> (i1,i8)",
               "output %c1 output %r");
    HEADS(&b, &T, NULL);
    assert_false(choose(&b));
    HEADS(&b, &F, &v0);
    fire(&b, 0, 3, 0);
    HEADS(&b, &T, &v0);
    fire(&b, 1, 3, 2);
    assert_int_equal(b.results[1][0], 10);
    HEADS(&b, &T, &v1);
    fire(&b, 2, 3, 3);
    assert_int_equal(b.results[0][0], 1);
    assert_int_equal(b.results[1][0], 11);
    HEADS(&b, &F, &v1);
    fire(&b, 3, 3, 1);
    assert_int_equal(b.results[0][0], 0);
    assert_int_equal(b.state.mode, 0);
    bench_close(&b);
}

/* ---- parallelize -------------------------------------------------------------------------- */

static const char parallelize[] = "%v, %m, %g = dataflow.parallelize %a, %b : (i8,i1) -> "
                                  "(vector<4xi8>,vector<4xi1>,i1)";
static const char group_outputs[] = "output %v output %m output %g";

/* N=4, 5 items then F -> ([0..3],1111,T) ([4,0,0,0],0001b,T) F */
static void test_parallelize(void **state)
{
    uint64_t data;
    bench b;
    (void)state;

    bench_open(&b, "i8,i1", parallelize, group_outputs);
    HEADS(&b, NULL, &T);
    assert_false(choose(&b));
    HEADS(&b, &data, &T);
    for (data = 0; data < 3; data++)
        fire(&b, 0, 3, 0);
    fire(&b, 1, 3, 7);
    assert_int_equal(b.results[0][0], 0x03020100);
    assert_int_equal(b.results[1][0], 0xf);
    assert_int_equal(b.results[2][0], 1);
    data = 4;
    fire(&b, 0, 3, 0);
    HEADS(&b, NULL, &F);
    assert_true(choose(&b));
    assert_int_equal(b.firing.case_ordinal, 3);
    assert_int_equal(consumed(&b), 2);
    assert_int_equal(b.firing.group_count, 2);
    assert_int_equal(produced(&b, 0), 7);
    assert_int_equal(produced(&b, 1), 4);
    form(&b, 0);
    assert_int_equal(b.results[0][0], 4);
    assert_int_equal(b.results[1][0], 1);
    assert_int_equal(b.results[2][0], 1);
    form(&b, 1);
    assert_int_equal(b.results[2][0], 0);
    advance(&b);
    assert_int_equal(b.state.pending, 0);
    fire(&b, 2, 2, 4); /* an empty close */
    assert_int_equal(b.results[2][0], 0);
    bench_close(&b);
}

/* One lane: every item fills the vector. Lanes of more than a word. */
static void test_parallelize_of_one_wide_lane(void **state)
{
    const uint64_t data[] = {5, 6};
    bench b;
    (void)state;

    bench_open(&b, "i128,i1",
               "%v, %m, %g = dataflow.parallelize %a, %b : (i128,i1) -> "
               "(vector<1xi128>,vector<1xi1>,i1)",
               group_outputs);
    HEADS(&b, data, &T);
    for (int i = 0; i < 2; i++) {
        fire(&b, 1, 3, 7);
        assert_memory_equal(b.results[0], data, sizeof data);
        assert_int_equal(b.results[1][0], 1);
    }
    bench_close(&b);
}

static void test_reset(void **state)
{
    const uint64_t data = 9;
    bench b;
    (void)state;

    bench_open(&b, "i8,i1", parallelize, group_outputs);
    HEADS(&b, &data, &T);
    fire(&b, 0, 3, 0);
    assert_int_equal(b.state.pending, 1);
    qp_fabric_reset(&b.transition, &b.state);
    assert_int_equal(b.state.pending, 0);
    assert_int_equal(b.latch[0], 0);
    HEADS(&b, NULL, &F);
    fire(&b, 2, 2, 4);
    bench_close(&b);
}

/* ---- serialize ---------------------------------------------------------------------------- */

static const char serialize[] = "%r, %p = dataflow.serialize %a, %b, %c : "
                                "(vector<4xi8>,vector<4xi1>,i1) -> (i8,i1)";

static void test_serialize(void **state)
{
    const uint64_t vector = 0x13121110, mask = 0xa, none = 0;
    bench b;
    (void)state;

    bench_open(&b, "vector<4xi8>,vector<4xi1>,i1", serialize, "output %r output %p");
    HEADS(&b, &vector, NULL, &T);
    assert_false(choose(&b));
    HEADS(&b, &vector, &mask, &T); /* mask 1010b: lanes 1 then 3 */
    assert_true(choose(&b));
    assert_int_equal(b.firing.case_ordinal, 0);
    assert_int_equal(b.firing.group_count, 2);
    assert_int_equal(consumed(&b), 7);
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(produced(&b, (uint32_t)i), 3);
        form(&b, (uint32_t)i);
        assert_int_equal(b.results[0][0], 0x11 + 2 * i);
        assert_int_equal(b.results[1][0], 1);
    }
    advance(&b);
    HEADS(&b, &vector, &none, &T);
    fire(&b, 0, 7, 0);
    HEADS(&b, NULL, NULL, &F);
    fire(&b, 1, 4, 2);
    assert_int_equal(b.results[1][0], 0);
    bench_close(&b);
}

/* Bits of the mask behind the last lane are not looked at. */
static void test_serialize_ignores_padding(void **state)
{
    const uint64_t vector = 0x2211, mask = UINT64_MAX;
    bench b;
    (void)state;

    bench_open(&b, "vector<2xi8>,vector<2xi1>,i1",
               "%r, %p = dataflow.serialize %a, %b, %c : (vector<2xi8>,vector<2xi1>,i1) -> (i8,i1)",
               "output %r output %p");
    HEADS(&b, &vector, &mask, &T);
    assert_true(choose(&b));
    assert_int_equal(b.firing.group_count, 2);
    form(&b, 0);
    assert_int_equal(b.results[0][0], 0x11);
    form(&b, 1);
    assert_int_equal(b.results[0][0], 0x22);
    bench_close(&b);
}

/* Lanes far apart, over several words of the mask. */
static void test_serialize_over_words(void **state)
{
    const uint64_t mask[] = {UINT64_C(1) << 63, 0, 5};
    uint64_t vector[130 * 3 / 64 + 1] = {0};
    const uint64_t lanes[] = {63, 128, 130};
    bench b;
    (void)state;

    for (uint64_t i = 0; i < 131; i++)
        qp_fabric_set_bits(vector, 3 * i, 3, i % 7);
    bench_open(&b, "vector<131xi3>,vector<131xi1>,i1",
               "%r, %p = dataflow.serialize %a, %b, %c : (vector<131xi3>,vector<131xi1>,i1) -> "
               "(i3,i1)",
               "output %r output %p");
    HEADS(&b, vector, mask, &T);
    assert_true(choose(&b));
    assert_int_equal(b.firing.group_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        form(&b, i);
        assert_int_equal(b.results[0][0], lanes[i] % 7);
    }
    bench_close(&b);
}

/* ---- stateless ---------------------------------------------------------------------------- */

static void test_compute_constant_sync(void **state)
{
    const uint64_t a = 40, c = 2, wide[] = {1, 2};
    bench b;
    (void)state;

    bench_open(&b, "i32,i32", "%r = arith.addi %a, %b : (i32,i32) -> (i32)", "output %r");
    HEADS(&b, &a, NULL);
    assert_false(choose(&b));
    HEADS(&b, &a, &c);
    fire(&b, 0, 3, 1);
    assert_int_equal(b.results[0][0], 42);
    bench_close(&b);
    bench_open(&b, "none",
               "%r = dataflow.constant %a { value = [1,-1,3] } : (none) -> (vector<3xi8>)",
               "output %r");
    HEADS(&b, &a);
    fire(&b, 0, 1, 1);
    assert_int_equal(b.results[0][0], 0x03ff01);
    bench_close(&b);
    bench_open(&b, "i8,none,i128",
               "%r, %s, %t = dataflow.sync %a, %b, %c : (i8,none,i128) -> (i8,none,i128)",
               "output %r output %s output %t");
    HEADS(&b, &a, &a, NULL);
    assert_false(choose(&b));
    HEADS(&b, &a, &a, wide);
    fire(&b, 0, 7, 7);
    assert_int_equal(b.results[0][0], 40);
    assert_memory_equal(b.results[2], wide, sizeof wide);
    bench_close(&b);
}

static void test_mux(void **state)
{
    const uint64_t x = 30, y = 31, z = 32, two = 2, three = 3;
    qp_fabric_outcome outcome;
    bench b;
    (void)state;

    bench_open(&b, "i1,i8,i8", "%r = dataflow.mux %a, %b, %c : (i1,i8,i8) -> (i8)", "output %r");
    HEADS(&b, &F, NULL, &y);
    assert_false(choose(&b));
    HEADS(&b, &F, &x, NULL);
    fire(&b, 0, 3, 1);
    assert_int_equal(b.results[0][0], 30);
    HEADS(&b, &T, NULL, &y);
    fire(&b, 1, 5, 1);
    assert_int_equal(b.results[0][0], 31);
    bench_close(&b);
    bench_open(&b, "index,i8,i8,i8", "%r = dataflow.mux %a, %b, %c, %d : (index,i8,i8,i8) -> (i8)",
               "output %r");
    HEADS(&b, &two, &x, &y, &z);
    fire(&b, 2, 9, 1);
    assert_int_equal(b.results[0][0], 32);
    HEADS(&b, &three, &x, &y, &z);
    assert_false(qp_fabric_choose(&b.transition, &b.state, b.heads, &b.firing, &outcome));
    assert_int_equal(outcome, QP_FABRIC_OUT_OF_RANGE);
    bench_close(&b);
}

static void test_demux(void **state)
{
    const uint64_t x = 50, one = 1, far = UINT32_MAX;
    qp_fabric_outcome outcome;
    bench b;
    (void)state;

    bench_open(&b, "index,i8", "%r, %s, %t = dataflow.demux %a, %b : (index,i8) -> (i8,i8,i8)",
               "output %r output %s output %t");
    HEADS(&b, &one, NULL);
    assert_false(choose(&b));
    HEADS(&b, &one, &x);
    fire(&b, 1, 3, 2);
    assert_int_equal(b.results[1][0], 50);
    HEADS(&b, &far, &x);
    assert_false(qp_fabric_choose(&b.transition, &b.state, b.heads, &b.firing, &outcome));
    assert_int_equal(outcome, QP_FABRIC_OUT_OF_RANGE);
    bench_close(&b);
}

/* ---- ends of runs ------------------------------------------------------------------------- */

static void test_poison_ends_the_run(void **state)
{
    const uint64_t a = 1, shift = 32, cycle = 17;
    qp_fabric_error error;
    char line[512];
    bench b;
    (void)state;

    bench_open(&b, "i32,i32", "%r = arith.shli %a, %b : (i32,i32) -> (i32)", "output %r");
    HEADS(&b, &a, &shift);
    assert_true(choose(&b));
    const qp_fabric_outcome outcome =
        qp_fabric_form_group(&b.transition, &b.state, &b.firing, b.heads, 0, b.result_list);
    assert_int_equal(outcome, QP_FABRIC_POISON);
    assert_int_equal(qp_fabric_fail_firing(b.model, &b.transition, outcome, &cycle, &error),
                     QP_MALFORMED);
    assert_int_equal(error.fault, QP_FABRIC_INVALID);
    assert_string_equal(qp_fabric_error_text(&error, line, sizeof line),
                        "file:1:50: Invalid: the firing of '%r' (arith.shli) in cycle 17 gives "
                        "poison");
    qp_fabric_fail_firing(b.model, &b.transition, QP_FABRIC_UNDEFINED, NULL, &error);
    assert_string_equal(error.base.message,
                        "the firing of '%r' (arith.shli) is undefined: by zero, or of the smallest "
                        "number by -1");
    bench_close(&b);
}

/* Without MPFR what rounds is refused, when it is made ready. */
static void test_floats_need_mpfr(void **state)
{
    static const char text[] = "graph g { input %a : f32 %r = math.sqrt %a { accuracy = "
                               "CorrectlyRounded } : (f32) -> (f32) output %r }";
    const qp_fabric_text input = {"file", text, strlen(text)};
    qp_fabric_transition transition;
    qp_fabric_model *model;
    qp_fabric_error error = {0};
    (void)state;

    assert_int_equal(qp_fabric_read(&input, 1, NULL, &model, NULL), QP_OK);
    const qp_status status = qp_fabric_transition_make(&model->graphs[0], 0, &transition, &error);
    assert_int_equal(status, qp_fabric_has_float() ? QP_OK : QP_MODEL_MISMATCH);
    assert_int_equal(error.fault,
                     qp_fabric_has_float() ? QP_FABRIC_NO_FAULT : QP_FABRIC_UNSUPPORTED);
    qp_fabric_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_empty_stream),
        cmocka_unit_test(test_stream_steps),
        cmocka_unit_test(test_carry),
        cmocka_unit_test(test_carry_of_nothing),
        cmocka_unit_test(test_invariant),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_parallelize),
        cmocka_unit_test(test_parallelize_of_one_wide_lane),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_serialize),
        cmocka_unit_test(test_serialize_ignores_padding),
        cmocka_unit_test(test_serialize_over_words),
        cmocka_unit_test(test_compute_constant_sync),
        cmocka_unit_test(test_mux),
        cmocka_unit_test(test_demux),
        cmocka_unit_test(test_poison_ends_the_run),
        cmocka_unit_test(test_floats_need_mpfr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
