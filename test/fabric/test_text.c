/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_text.c - the text form (section 12), canonical bytes and identities (section 11) of the
 * worked examples of section 13, and the class and place of every refusal.
 */
#include "fabric/text.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "examples.h"

static qp_fabric_model *read_model(const char *text)
{
    qp_fabric_text input = {"file", text, strlen(text)};
    qp_fabric_model *model = NULL;
    qp_fabric_error error;
    char line[512];

    if (qp_fabric_read(&input, 1, NULL, &model, &error) != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&error, line, sizeof line));
    return model;
}

static void assert_canonical(const qp_fabric_model *model, qp_fabric_item item, size_t index,
                             const char *expected)
{
    void *bytes;
    size_t size;

    assert_int_equal(qp_fabric_canonical(model, item, index, NULL, &bytes, &size, NULL), QP_OK);
    if (size != strlen(expected) || memcmp(bytes, expected, size) != 0)
        fail_msg("canonical bytes differ:\n%.*s\n%s", (int)size, (const char *)bytes, expected);
    qp_bytes_free(NULL, bytes, size);
}

static void assert_identity(const qp_fabric_model *model, qp_fabric_item item, size_t index,
                            const char *expected)
{
    char text[65];

    assert_int_equal(qp_fabric_identity(model, item, index, text, NULL), QP_OK);
    assert_string_equal(text, expected);
}

static void test_add_sub(void **state)
{
    qp_fabric_model *m = read_model(example_13_1);
    (void)state;

    assert_canonical(
        m, QP_FABRIC_ITEM_FABRIC, 0,
        "fabric n0 { fu n1 ( n2 : 32 , n3 : 32 ) -> ( n4 : 32 ) { op n5 ScalarIntegerAddSub [ "
        "arith.addi , arith.subi ] in ( 32 , 32 ) out ( 32 ) params { integer_widths = [ 8 , 32 ] "
        "} wire n2 -> n5.0 wire n3 -> n5.1 wire n5.0 -> n4 } occ n6 n1 }");
    assert_canonical(m, QP_FABRIC_ITEM_GRAPH, 0,
                     "graph n0 { input %n1 : i32 input %n2 : i32 %n3 = arith.subi %n1 , %n2 : ( "
                     "i32 , i32 ) -> ( i32 ) output %n3 }");
    assert_canonical(
        m, QP_FABRIC_ITEM_MAP, 0,
        "map n0 of b299bcfaf4ca67e255421f79318569bcdb659cc5630b9d87bb480d4edc7b420c on "
        "906cf662b247adb63d4d2303c3babf0dbe00e7663625afc449da5c4f4bf6ee18 { realize n1 fu n1 "
        "template 0 { actor %n3 -> n5 in ( 0 , 1 ) out ( 0 ) bound %n3 in 0 -> n2 bound %n3 in 1 "
        "-> n3 bound %n3 out 0 -> n4 } bind n1 -> n6 }");
    assert_identity(m, QP_FABRIC_ITEM_FABRIC, 0,
                    "906cf662b247adb63d4d2303c3babf0dbe00e7663625afc449da5c4f4bf6ee18");
    assert_identity(m, QP_FABRIC_ITEM_GRAPH, 0,
                    "b299bcfaf4ca67e255421f79318569bcdb659cc5630b9d87bb480d4edc7b420c");
    assert_identity(m, QP_FABRIC_ITEM_MAP, 0,
                    "4c92caea217c029c90b8615eb544df4ae227b85938a18a84cec7a83267cbdc22");
    assert_string_equal(qp_fabric_name(m, QP_FABRIC_ITEM_MAP, 0), "m");
    assert_null(qp_fabric_name(m, QP_FABRIC_ITEM_MAP, 1));
    qp_fabric_free(m);
}

static void test_mac(void **state)
{
    qp_fabric_model *m = read_model(example_13_2);
    uint32_t count;
    (void)state;

    assert_identity(m, QP_FABRIC_ITEM_FABRIC, 0,
                    "bf96aa63896fe45075484ca52cf3d4bc7472b21f5e9a60131c754f992bc0d38e");
    assert_identity(m, QP_FABRIC_ITEM_GRAPH, 0,
                    "ba8bc08c1bc86a1a2a79108fc3906505c969142850f182d13aa6340a11e6f081");
    assert_identity(m, QP_FABRIC_ITEM_MAP, 0,
                    "45662de25117fa5306eccbc525b194d1aff5012b999506e39571a3bfdfbc526e");
    const qp_fabric_fu *fu = &m->fabrics[0].fus[0];
    assert_int_equal(fu->n_sinks, 10);
    const uint32_t *wires = qp_fabric_fanout(fu, (qp_fabric_endpoint){2, 0}, &count); /* car.0 */
    assert_int_equal(count, 1);
    assert_int_equal(fu->wires[wires[0]].destination.node, 3); /* dmx */
    assert_int_equal(fu->wires[wires[0]].destination.port, 1);
    assert_null(qp_fabric_fanout(fu, (qp_fabric_endpoint){3, 2}, &count));
    qp_fabric_free(m);
}

static void test_slice_and_shuffle(void **state)
{
    qp_fabric_model *m = read_model(example_13_3_slice);
    (void)state;

    assert_identity(m, QP_FABRIC_ITEM_FABRIC, 0,
                    "3dbf322920bf27d67aea8f4ff8a9f093ef90cc50a6a9d3f19fe2eac779cc05ba");
    assert_canonical(m, QP_FABRIC_ITEM_GRAPH, 0,
                     "graph n0 index 32 { input %n1 : i8 input %n2 : vector<2x4xi8> input %n3 : "
                     "index %n4 = vector.insert %n1 , %n2 , %n3 { position = [ ? , 2 ] } : ( i8 , "
                     "vector<2x4xi8> , index ) -> ( vector<2x4xi8> ) output %n4 }");
    assert_identity(m, QP_FABRIC_ITEM_GRAPH, 0,
                    "efecc019ac1a4af6298eda5f55069c1cadd50fae58b7104d8b01cd935aeb3ff4");
    assert_identity(m, QP_FABRIC_ITEM_MAP, 0,
                    "4da0e3462376129ed7408b6b67a8bc17cd6e85dd996d520e799cd0f3297ef7e1");
    qp_fabric_free(m);
    m = read_model(example_13_3_shuffle);
    assert_int_equal(m->graphs[0].actors[0].semantics.entries[2], -1);
    qp_fabric_free(m);
}

static void test_two_branches(void **state)
{
    qp_fabric_model *m = read_model(example_13_4);
    (void)state;

    assert_identity(m, QP_FABRIC_ITEM_FABRIC, 0,
                    "8ea1cf810076080e594574d0f9a2e8a7af6c3fe23253289df177a994d1737918");
    qp_fabric_free(m);
}

static void test_empty_identity(void **state)
{
    uint8_t digest[QP_SHA256_SIZE];
    char text[QP_SHA256_HEX_SIZE];
    (void)state;

    qp_fabric_digest(&qp_fabric_artifact_fabric, "", 0, digest);
    qp_sha256_hex(digest, text);
    assert_string_equal(text, "db6e5fab4186b3089018bc745cf932a3b71c3598a6348d5ff3fccb0312e04498");
}

/* Anchor 29: rows in another order are the same fabric. */
static void test_anchor_29_rows_permuted(void **state)
{
    static const char rows[] = "template { ops [add] routes [da=0,db=0,m=0] }\n"
                               "  template { ops [mul] routes [da=1,db=1,m=1] }";
    static const char swapped[] = "template { ops [mul] routes [m=1,db=1,da=1] }\n"
                                  "  template { ops [add] routes [da=0,db=0,m=0] }";
    char *text = malloc(strlen(example_13_4) + 1);
    (void)state;

    assert_non_null(text);
    strcpy(text, example_13_4);
    char *at = strstr(text, rows);
    assert_non_null(at);
    memcpy(at, swapped, sizeof swapped - 1);
    qp_fabric_model *m = read_model(text);
    assert_identity(m, QP_FABRIC_ITEM_FABRIC, 0,
                    "8ea1cf810076080e594574d0f9a2e8a7af6c3fe23253289df177a994d1737918");
    qp_fabric_free(m);
    free(text);
}

static void test_constants(void **state)
{
    static const char text[] =
        "graph g { input %c : none input %d : none input %e : none\n"
        "%a = dataflow.constant %c { value = -1 } : (none) -> (i12)\n"
        "%b = dataflow.constant %d { value = [1, -2, 0xff] } : (none) -> (vector<3xi9>)\n"
        "%f = dataflow.constant %e { value = 340282366920938463463374607431768211455 } : (none) -> "
        "(i128) output %a output %b output %f }";
    qp_fabric_model *m = read_model(text);
    (void)state;

    assert_canonical(
        m, QP_FABRIC_ITEM_GRAPH, 0,
        "graph n0 { input %n1 : none input %n2 : none input %n3 : none %n4 = dataflow.constant %n1 "
        "{ value = 4095 } : ( none ) -> ( i12 ) %n5 = dataflow.constant %n2 { value = [ 1 , 510 , "
        "255 ] } : ( none ) -> ( vector<3xi9> ) %n6 = dataflow.constant %n3 { value = "
        "340282366920938463463374607431768211455 } : ( none ) -> ( i128 ) output %n4 output %n5 "
        "output %n6 }");
    qp_fabric_free(m);
}

/* ---- refusals ----------------------------------------------------------------------------- */

typedef struct refusal {
    const char *text;
    qp_fabric_fault fault;
    uint32_t line, column;
} refusal;

#define GRAPH_OF(attributes) "graph g { input %a : f32\n%b = " attributes " output %b }"

static const refusal refusals[] = {
    {"fabric", QP_FABRIC_INVALID, 1, 7},
    {"nonsense", QP_FABRIC_INVALID, 1, 1},
    {"fabric A { $ }", QP_FABRIC_INVALID, 1, 12},
    {"fabric A { } # comment\n fabric A { }", QP_FABRIC_INVALID, 2, 9},
    {"fabric A { occ u B }", QP_FABRIC_INVALID, 1, 18},
    {"fabric A { fu F () -> (y:1) { } }", QP_FABRIC_INVALID, 1, 15},
    {"fabric A { fu F (a:99999999999) -> (y:1) { } }", QP_FABRIC_INVALID, 1, 20},
    {"fabric A { fu F (a:1,a:1) -> (y:1) { } }", QP_FABRIC_INVALID, 1, 22},
    {"graph g { }\ngraph g { }", QP_FABRIC_INVALID, 2, 7},
    {"graph g { input %a : i32 }", QP_FABRIC_INVALID, 1, 17},
    {"graph g { input %a : index }", QP_FABRIC_INVALID, 1, 22},
    {"graph g index 16 { }", QP_FABRIC_INVALID, 1, 15},
    {"graph g { input %a : ptr<3> }", QP_FABRIC_UNSUPPORTED, 1, 22},
    {"graph g { input %a : i032 }", QP_FABRIC_INVALID, 1, 22},
    {"graph g { input %a : vector<4096x4096xi8> }", QP_FABRIC_UNSUPPORTED, 1, 22},
    {"graph g { input %a : i32 output %a }", QP_FABRIC_INVALID, 1, 33},
    {GRAPH_OF("math.absi %a : (f32) -> (f32)"), QP_FABRIC_UNSUPPORTED, 2, 6},
    {GRAPH_OF("arith.negf %a, %c : (f32,f32) -> (f32)"), QP_FABRIC_INVALID, 2, 6},
    {GRAPH_OF("arith.bogus %a : (f32) -> (f32)"), QP_FABRIC_INVALID, 2, 6},
    {GRAPH_OF("arith.negf %a : (f64) -> (f64)"), QP_FABRIC_INVALID, 2, 17},
    {GRAPH_OF("arith.negf %a : (f32) -> (f64)"), QP_FABRIC_INVALID, 2, 6},
    {GRAPH_OF("arith.negf %a { rounding = upward } : (f32) -> (f32)"), QP_FABRIC_INVALID, 2, 22},
    {GRAPH_OF("arith.negf %a { fastmath = [fast] } : (f32) -> (f32)"), QP_FABRIC_INVALID, 2, 34},
    {GRAPH_OF("arith.negf %a { fastmath = [nsz,nsz] } : (f32) -> (f32)"), QP_FABRIC_INVALID, 2, 38},
    {GRAPH_OF("math.exp %a : (f32) -> (f32)"), QP_FABRIC_INVALID, 2, 6},
    {GRAPH_OF("math.exp %a { accuracy = Max2Ulp } : (f32) -> (f32)"), QP_FABRIC_INVALID, 2, 6},
    {GRAPH_OF("arith.negf %x : (f32) -> (f32)"), QP_FABRIC_INVALID, 2, 17},
    {"map m of g on A { }", QP_FABRIC_INVALID, 1, 10},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const refusal *r = &refusals[i];
        qp_fabric_text text = {"f", r->text, strlen(r->text)};
        qp_fabric_model *model;
        qp_fabric_error error;
        char line[512];

        if (qp_fabric_read(&text, 1, NULL, &model, &error) == QP_OK)
            fail_msg("taken: %s", r->text);
        assert_null(model);
        if (error.fault != r->fault || error.line != r->line || error.column != r->column)
            fail_msg("%s\n%s", r->text, qp_fabric_error_text(&error, line, sizeof line));
    }
}

/* A 4-byte count of lanes costs nothing. */
static void test_many_lanes(void **state)
{
    static const char text[] = "fabric A { fu F (a:8) -> (y:8) { demux d 8 4000000000\n"
                               "op f ScalarIntegerMultiply [arith.muli] in (8,8) out (8) params { "
                               "integer_widths = [8] } wire a -> d.0 wire d.3999999999 -> f.0 wire "
                               "d.1 -> f.1 wire f.0 -> y } }";
    qp_fabric_model *m = read_model(text);
    uint32_t count;
    (void)state;

    assert_non_null(
        qp_fabric_fanout(&m->fabrics[0].fus[0], (qp_fabric_endpoint){0, 3999999999u}, &count));
    assert_int_equal(count, 1);
    qp_fabric_free(m);
}

static void test_without_memory(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_fabric_text text = {"f", example_13_2, strlen(example_13_2)};
        qp_fabric_model *model;
        qp_status status = qp_fabric_read(&text, 1, &allocator, &model, NULL);
        char identity[65];
        if (status == QP_OK)
            status = qp_fabric_identity(model, QP_FABRIC_ITEM_MAP, 0, identity, NULL);
        qp_fabric_free(model);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_sub),           cmocka_unit_test(test_mac),
        cmocka_unit_test(test_slice_and_shuffle), cmocka_unit_test(test_two_branches),
        cmocka_unit_test(test_empty_identity),    cmocka_unit_test(test_anchor_29_rows_permuted),
        cmocka_unit_test(test_constants),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_many_lanes),        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
