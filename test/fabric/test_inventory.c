/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inventory.c - the topology and the capability templates of units (section 10): what closures
 * hold, their bytes, every refusal of a row, and the derivation without rows.
 */
#include "configuration_support.h"

#define ADD(name)                                                                                  \
    "op " name " ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params { integer_widths = "  \
    "[32] } "
#define CARRY(name) "op " name " LoopCarry [dataflow.carry] in (1,32,32) out (32) params {} "
#define UNIT(ports, body) "fabric F { fu U " ports " { " body " } }"

static qp_fabric_templates *templates_of(const qp_fabric_model *model, const char *fabric,
                                         const char *unit)
{
    qp_fabric_templates *templates;
    qp_fabric_error error;

    assert_good(qp_fabric_templates_of(model, fabric, unit, NULL, &templates, &error), &error);
    return templates;
}

/* A template's nodes and edges, as one line. */
static void assert_template(const qp_fabric_template *row, const char *expected)
{
    qp_buffer text;

    qp_buffer_init(&text, NULL);
    for (size_t i = 0; i < row->node_count; i++)
        qp_buffer_format(&text, "%s%s", i > 0 ? " " : "", row->nodes[i]);
    qp_buffer_text(&text, ":");
    for (size_t i = 0; i < row->edge_count; i++)
        qp_buffer_format(&text, "%s%s", i > 0 ? ", " : " ", row->edges[i]);
    qp_buffer_append(&text, "", 1);
    assert_string_equal((const char *)text.bytes, expected);
    qp_buffer_free(&text);
}

/* The only template of F.U. */
static void assert_single(const char *text, const char *expected)
{
    qp_fabric_model *model = read_one(text);
    qp_fabric_templates *templates = templates_of(model, "F", "U");

    assert_int_equal(templates->count, 1);
    assert_template(&templates->rows[0], expected);
    qp_fabric_templates_free(templates);
    qp_fabric_free(model);
}

static void assert_refused(const char *text, const char *part)
{
    assert_check(text, "", QP_FABRIC_INVALID, part);
}

static void test_mac(void **state)
{
    qp_fabric_model *model = read_one(example_13_2);
    qp_fabric_templates *templates = templates_of(model, "M", "Mac");
    (void)state;

    assert_int_equal(templates->count, 1);
    assert_int_equal(templates->rows[0].node_count, 4);
    assert_int_equal(templates->rows[0].edge_count, 10);
    qp_fabric_templates_free(templates);
    qp_fabric_free(model);
}

static void test_branches(void **state)
{
    qp_fabric_model *model = read_one(example_13_4);
    qp_fabric_templates *templates = templates_of(model, "B", "Duo");
    (void)state;

    assert_int_equal(templates->count, 2);
    assert_template(&templates->rows[0],
                    "add da db m: a -> da.0, b -> db.0, add.0 -> m.0, m.0 -> y, da.0 -> add.0, "
                    "db.0 -> add.1");
    assert_template(&templates->rows[1],
                    "mul da db m: a -> da.0, b -> db.0, mul.0 -> m.1, m.0 -> y, da.1 -> mul.0, "
                    "db.1 -> mul.1");
    qp_fabric_templates_free(templates);
    qp_fabric_free(model);
}

/* The bytes of one add between its ports, by hand. */
static void test_bytes(void **state)
{
    static const char expected[] =
        /* one node: an op, of unit 0, number 0 */
        "0000000000000001"
        "00000000"
        "000000020000000000000000"
        "0000000000000000"
        "0000000000000003"
        /* a -> f.0 */
        "00000000"
        "000000020000000000000000"
        "00000000"
        "0000000000000000"
        "00000001"
        "00000000"
        "000000020000000000000000"
        "0000000000000000"
        "00000000"
        "0000000000000000"
        /* b -> f.1 */
        "00000000"
        "000000020000000000000000"
        "00000000"
        "0000000000000001"
        "00000001"
        "00000000"
        "000000020000000000000000"
        "0000000000000000"
        "00000000"
        "0000000000000001"
        /* f.0 -> y */
        "00000001"
        "00000000"
        "000000020000000000000000"
        "0000000000000000"
        "00000001"
        "0000000000000000"
        "00000000"
        "000000020000000000000000"
        "00000001"
        "0000000000000000";
    qp_fabric_model *model = read_one(
        UNIT("(a:32, b:32) -> (y:32)", ADD("f") "wire b -> f.1 wire f.0 -> y wire a -> f.0"));
    qp_fabric_templates *templates = templates_of(model, "F", "U");
    qp_buffer hex;
    (void)state;

    qp_buffer_init(&hex, NULL);
    qp_buffer_hex(&hex, templates->rows[0].bytes, templates->rows[0].size);
    qp_buffer_append(&hex, "", 1);
    assert_string_equal((const char *)hex.bytes, expected);
    qp_buffer_free(&hex);
    qp_fabric_templates_free(templates);
    qp_fabric_free(model);
}

/* Rows in any order: one inventory, one identity. */
static void anchor_29_permuted_rows(void **state)
{
    static const char body[] =
        "demux da 32 2  demux db 32 2  mux m 32 2 wire a -> da.0  wire b -> db.0  wire da.0 -> f.0 "
        "wire db.0 -> f.1  wire da.1 -> g.0  wire db.1 -> g.1 wire f.0 -> m.0  wire g.0 -> m.1  "
        "wire m.0 -> y ";
    qp_fabric_templates *templates[2];
    qp_fabric_model *models[2];
    char identities[2][65];
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        static const char first[] = "template { ops [f] routes [da=0,m=0,db=0] } ";
        static const char second[] = "template { ops [g] routes [db=1,da=1,m=1] } ";
        qp_buffer text;
        qp_buffer_init(&text, NULL);
        qp_buffer_format(&text, "fabric F { fu U (a:32, b:32) -> (y:32) { %s%s%s%s%s } }", ADD("f"),
                         ADD("g"), body, i == 0 ? first : second, i == 0 ? second : first);
        qp_buffer_append(&text, "", 1);
        models[i] = read_one((const char *)text.bytes);
        templates[i] = templates_of(models[i], "F", "U");
        assert_int_equal(
            qp_fabric_identity(models[i], QP_FABRIC_ITEM_FABRIC, 0, identities[i], NULL), QP_OK);
        qp_buffer_free(&text);
    }
    assert_int_equal(templates[0]->count, 2);
    assert_int_equal(templates[1]->count, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(templates[0]->rows[i].size, templates[1]->rows[i].size);
        assert_memory_equal(templates[0]->rows[i].bytes, templates[1]->rows[i].bytes,
                            templates[0]->rows[i].size);
    }
    assert_string_equal(identities[0], identities[1]);
    for (unsigned i = 0; i < 2; i++) {
        qp_fabric_templates_free(templates[i]);
        qp_fabric_free(models[i]);
    }
}

/* ---- rows that are refused ---------------------------------------------------------------- */

#define DUO_BODY                                                                                   \
    ADD("f")                                                                                       \
    ADD("g")                                                                                       \
    "demux da 32 2  demux db 32 2  mux m 32 2 wire a -> da.0  wire b -> db.0  wire da.0 -> f.0 "   \
    "wire db.0 -> f.1  wire da.1 -> g.0  wire db.1 -> g.1 wire f.0 -> m.0  wire g.0 -> m.1 wire "  \
    "m.0 -> y "
#define DUO(rows) UNIT("(a:32, b:32) -> (y:32)", DUO_BODY rows)

static void anchor_06_refused_rows(void **state)
{
    (void)state;
    assert_refused(example_13_4_refused, "'mul' becomes active and is not among the row's ops");
    /* one branch for a and the other for b */
    assert_refused(DUO("template { ops [f] routes [da=0,db=1,m=0] }"), "another output of 'db'");
    assert_refused(DUO("template { ops [f,g] routes [da=0,db=0,m=0] }"), "another output of 'da'");
    assert_refused(DUO("template { ops [f] routes [da=0,m=0] }"), "'db' is reached and the row");
    assert_refused(DUO("template { ops [f] routes [da=0,db=0] }"),
                   "a value of 'f' has no consumer");
    assert_refused(DUO("template { ops [f] routes [da=0,db=0,m=1] }"),
                   "a value of 'f' has no cons");
    assert_refused(DUO("template { ops [f] routes [da=0,db=0,m=0] } "
                       "template { ops [f] routes [m=0,da=0,db=0] }"),
                   "this row is an earlier row again");
    assert_refused(UNIT("(a:32, b:32) -> (y:32)",
                        ADD("f") "mux m 32 2 wire a -> f.0 wire b -> f.1 wire f.0 -> y wire a -> "
                                 "m.0 wire b -> m.1 template { ops [f] routes [m=0] }"),
                   "a value of 'm' has no consumer");
    assert_refused(UNIT("(a:32, b:32, c:32, d:32) -> (y:32, z:32)",
                        ADD("f") "mux m 32 2 wire a -> f.0 wire b -> f.1 wire f.0 -> y wire c -> "
                                 "m.0 wire d -> m.1 wire m.0 -> z template { ops [f] routes [m=0] "
                                 "}"),
                   "the route of 'm' is not used");
}

/* A value that feeds a mux beside another consumer: the mux may stay out. */
static void test_unselected_mux(void **state)
{
    (void)state;
    assert_single(UNIT("(a:32, b:32) -> (y:32, z:32)",
                       ADD("f") "mux m 32 2 wire a -> f.0 wire b -> f.1 wire f.0 -> y wire f.0 -> "
                                "m.0 wire b -> m.1 wire m.0 -> z template { ops [f] }"),
                  "f: a -> f.0, b -> f.1, f.0 -> y");
    assert_single(UNIT("(a:32, b:32) -> (y:32, z:32)",
                       ADD("f") "mux m 32 2 wire a -> f.0 wire b -> f.1 wire f.0 -> y wire f.0 -> "
                                "m.0 wire b -> m.1 wire m.0 -> z template { ops [f] routes [m=0] "
                                "}"),
                  "f m: a -> f.0, b -> f.1, f.0 -> y, f.0 -> m.0, m.0 -> z");
}

/* ---- without rows ------------------------------------------------------------------------- */

static void test_without_rows(void **state)
{
    (void)state;
    /* both ops, joined by the broadcast of a */
    assert_single(UNIT("(a:32, b:32) -> (y:32, z:32)",
                       ADD("f") ADD("g") "wire a -> f.0 wire b -> f.1 wire a -> g.0 wire b -> g.1 "
                                         "wire f.0 -> y wire g.0 -> z"),
                  "f g: a -> f.0, a -> g.0, b -> f.1, b -> g.1, f.0 -> y, g.0 -> z");
    /* a selector whose other way leads nowhere */
    assert_single(UNIT("(a:32, b:32) -> (y:32)",
                       ADD("f") "demux d 32 3 wire a -> d.0 wire d.1 -> f.0 wire b -> f.1 wire f.0 "
                                "-> y"),
                  "f d: a -> d.0, b -> f.1, f.0 -> y, d.1 -> f.0");
    /* an op that can never be active leaves the others */
    assert_single(UNIT("(a:32, b:32, c:32) -> (y:32)",
                       ADD("f") ADD("g") "wire a -> f.0 wire b -> f.1 wire f.0 -> y wire c -> g.0 "
                                         "wire c -> g.1"),
                  "f: a -> f.0, b -> f.1, f.0 -> y");
    assert_refused(DUO(""), "'U' has several templates");
    /* two ops that share nothing are two templates */
    assert_refused(UNIT("(a:32, b:32) -> (y:32, z:32)",
                        ADD("f") ADD("g") "wire a -> f.0 wire a -> f.1 wire b -> g.0 wire b -> g.1 "
                                          "wire f.0 -> y wire g.0 -> z"),
                   "'U' has several templates");
    assert_refused(
        UNIT("(a:32, b:32) -> (y:32)", ADD("f") "wire a -> f.0 wire b -> f.1 wire a -> y"),
        "'U' has no template");
}

/* Entering a mux beside another consumer is a choice, and so are its lanes. */
static void test_choices(void **state)
{
    (void)state;
    assert_refused(UNIT("(a:32, b:32) -> (y:32, z:32)",
                        ADD("f") "mux m 32 2 wire a -> f.0 wire b -> f.1 wire f.0 -> y wire f.0 -> "
                                 "m.0 wire b -> m.1 wire m.0 -> z"),
                   "several templates");
    assert_refused(UNIT("(a:32, b:32, c:32) -> (y:32)",
                        ADD("f") "mux m 32 2 wire a -> m.0 wire c -> m.1 wire m.0 -> f.0 wire b -> "
                                 "f.1 wire f.0 -> y"),
                   "several templates");
    assert_refused(UNIT("(a:32, b:32) -> (y:32, z:32)",
                        ADD("f") "demux d 32 2 wire a -> f.0 wire b -> f.1 wire f.0 -> d.0 wire "
                                 "d.0 -> y wire d.1 -> z"),
                   "several templates");
}

/* ---- cycles ------------------------------------------------------------------------------- */

static void test_cycles(void **state)
{
    (void)state;
    assert_refused(UNIT("(p:1, i:32) -> (y:32)",
                        CARRY("c") "wire p -> c.0 wire i -> c.1 wire c.0 -> c.2 wire c.0 -> y"),
                   "combinational cycle");
    assert_refused(UNIT("(p:1, i:32) -> (y:32)",
                        CARRY("c") "mux m 32 2 wire p -> c.0 wire i -> c.1 wire c.0 -> m.0 wire i "
                                   "-> m.1 wire m.0 -> c.2 wire c.0 -> y template { ops [c] routes "
                                   "[m=0] }"),
                   "combinational cycle");
    assert_refused(UNIT("(a:32, b:32) -> (y:32)",
                        ADD("f") "mux m 32 2 mux n 32 2 wire m.0 -> n.0 wire n.0 -> m.0 wire a -> "
                                 "m.1 wire a -> n.1 wire n.0 -> f.0 wire b -> f.1 wire f.0 -> y "
                                 "template { ops [f] routes [m=1,n=0] }"),
                   "combinational cycle");
    assert_single(UNIT("(p:1, i:32, b:32) -> (y:32)",
                       CARRY("c") ADD("f") "wire p -> c.0 wire i -> c.1 wire c.0 -> f.0 wire b -> "
                                           "f.1 wire f.0 -> c.2 wire f.0 -> y"),
                  "c f: p -> c.0, i -> c.1, b -> f.1, c.0 -> f.0, f.0 -> y, f.0 -> c.2");
}

/* ---- paths -------------------------------------------------------------------------------- */

/* Through selectors, with the narrowest segment of the way. */
static void test_paths(void **state)
{
    qp_fabric_model *model = read_one(UNIT(
        "(a:32, b:32, c:32) -> (y:64)",
        ADD("f") "demux d 16 2 mux m 24 2 wire a -> d.0 wire d.1 -> m.1 wire c -> m.0 wire m.0 "
                 "-> f.0 wire b -> f.1 wire f.0 -> y template { ops [f] routes [d=1,m=1] }"));
    const qp_fabric_fu *fu = &model->fabrics[0].fus[0];
    uint64_t work = 1000;
    uint32_t cursor = 0;
    qp_fabric_inventory inventory;
    qp_fabric_path path;
    qp_fabric_error error;
    qp_arena arena;
    (void)state;

    qp_arena_init(&arena, NULL);
    assert_good(qp_fabric_inventory_of(model, fu, &work, &arena, &inventory, &error), &error);
    const qp_fabric_derived *derived = &inventory.templates[0];
    assert_int_equal(derived->op_count, 1);
    assert_int_equal(derived->path_count, 3);
    const qp_fabric_path *to = qp_fabric_path_to(fu, derived, (qp_fabric_endpoint){0, 0});
    assert_non_null(to);
    assert_int_equal(to->source.node, QP_FABRIC_NO_INDEX);
    assert_int_equal(to->source.port, 0);
    assert_int_equal(to->narrowest, 16);
    assert_null(qp_fabric_path_to(fu, derived, (qp_fabric_endpoint){2, 0}));
    assert_true(qp_fabric_next_path(derived, (qp_fabric_endpoint){0, 0}, &cursor, &path));
    assert_int_equal(path.end.node, QP_FABRIC_NO_INDEX);
    assert_int_equal(path.narrowest, 32);
    assert_false(qp_fabric_next_path(derived, (qp_fabric_endpoint){0, 0}, &cursor, &path));
    cursor = 0;
    assert_false(
        qp_fabric_next_path(derived, (qp_fabric_endpoint){QP_FABRIC_NO_INDEX, 2}, &cursor, &path));
    assert_true(qp_fabric_has_node(derived, 2));
    assert_false(qp_fabric_has_node(derived, 3));
    qp_arena_free(&arena);
    qp_fabric_free(model);
}

/* ---- bounds and memory -------------------------------------------------------------------- */

/* Many selectors in a row have too many ways to try: that is said, and soon. */
static void test_work(void **state)
{
    qp_buffer text;
    (void)state;

    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "fabric F { fu U (a:32, b:32) -> (y:32) { " ADD("f"));
    for (unsigned i = 0; i < 40; i++) {
        char source[16] = "a";
        if (i > 0)
            snprintf(source, sizeof source, "m%u.0", i - 1);
        qp_buffer_format(&text, "mux m%u 32 2 wire %s -> m%u.0 wire %s -> m%u.1 ", i, source, i,
                         source, i);
    }
    /* the op's only consumer is a mux that leads nowhere, so every way is tried in vain */
    qp_buffer_text(&text, "mux z 32 2 wire m39.0 -> f.0 wire b -> f.1 wire f.0 -> z.0 wire b -> "
                          "z.1 wire a -> y }}");
    const qp_fabric_text input = {"file", text.bytes, text.size};
    qp_fabric_model *model;
    qp_fabric_error error;
    assert_good(qp_fabric_read(&input, 1, NULL, &model, &error), &error);
    assert_int_equal(qp_fabric_check(model, NULL, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.fault, QP_FABRIC_UNSUPPORTED);
    qp_fabric_free(model);
    qp_buffer_free(&text);
}

static void test_failing_allocator(void **state)
{
    qp_fabric_model *model = read_one(example_13_4);
    (void)state;

    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_fabric_templates *templates;
        const qp_status status =
            qp_fabric_templates_of(model, "B", "Duo", &allocator, &templates, NULL);
        qp_fabric_templates_free(templates);
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
        cmocka_unit_test(test_mac),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(anchor_29_permuted_rows),
        cmocka_unit_test(anchor_06_refused_rows),
        cmocka_unit_test(test_unselected_mux),
        cmocka_unit_test(test_without_rows),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_failing_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
