/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_registries.c - types, atoms and canonical bytes (section 1), the tables of schemas
 * (section 2), families (section 4) and records (section 5).
 */
#include "fabric/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_hex(const qp_buffer *buffer, size_t from, const char *expected)
{
    qp_buffer hex;

    qp_buffer_init(&hex, NULL);
    assert_false(buffer->failed);
    qp_buffer_hex(&hex, buffer->bytes + from, buffer->size - from);
    qp_buffer_append(&hex, "", 1);
    assert_string_equal((const char *)hex.bytes, expected);
    qp_buffer_free(&hex);
}

static qp_fabric_type parse(qp_arena *arena, const char *text)
{
    qp_fabric_type type = {0};
    assert_int_equal(
        qp_fabric_type_parse(text, strlen(text), arena, QP_FABRIC_NOWHERE, &type, NULL), QP_OK);
    return type;
}

/* The check values of section 1.2; each decodes to itself and to nothing when cut or lengthened. */
static void test_canonical_types(void **state)
{
    static const char domain[] =
        "6c6f6f6d2e64617461666c6f772e63616e6f6e6963616c2d747970650000000001"
        "00000000";
    static const struct {
        const char *text, *body;
    } rows[] = {
        {"f32", "000000040000000f"},
        {"i32", "000000030000000100000020"},
        {"none", "00000001"},
        {"index", "00000002"},
        {"vector<4xi8>", "0000000500000000000000010000000000000004000000030000000100000008"},
    };
    qp_arena arena;
    (void)state;

    qp_arena_init(&arena, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        qp_fabric_type type = parse(&arena, rows[i].text), back;
        qp_buffer buffer;
        char expected[256];
        qp_buffer_init(&buffer, NULL);
        qp_fabric_put_type(&buffer, &type);
        strcpy(expected, domain);
        strcat(expected, rows[i].body);
        assert_hex(&buffer, 0, expected);
        assert_true(qp_fabric_get_type(buffer.bytes, buffer.size, &arena, &back));
        assert_true(qp_fabric_same_type(&type, &back));
        for (size_t cut = 0; cut < buffer.size; cut++)
            assert_false(qp_fabric_get_type(buffer.bytes, cut, &arena, &back));
        qp_buffer_append(&buffer, "", 1);
        assert_false(qp_fabric_get_type(buffer.bytes, buffer.size, &arena, &back));
        qp_buffer_free(&buffer);
    }
    qp_arena_free(&arena);
}

static void test_types(void **state)
{
    static const char *const bad[] = {
        "i0",         "i",         "i08",           "vector<i8>",     "vector<0xi8>",    "f8",
        "vector<4x>", "vector<4>", "vector<04xi8>", "vector<4xnone>", "vector<2xvector>"};
    qp_arena arena;
    qp_fabric_type type;
    uint64_t bits;
    (void)state;

    qp_arena_init(&arena, NULL);
    type = parse(&arena, "vector<2x3xf64>");
    assert_true(qp_fabric_payload_bits(&type, 0, &bits));
    assert_int_equal(bits, 384);
    type = parse(&arena, "vector<3xindex>");
    assert_true(qp_fabric_payload_bits(&type, 32, &bits));
    assert_int_equal(bits, 96);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (qp_fabric_type_parse(bad[i], strlen(bad[i]), &arena, QP_FABRIC_NOWHERE, &type, NULL) !=
            QP_MALFORMED)
            fail_msg("%s is taken", bad[i]);
    qp_arena_free(&arena);
}

/* The check value of section 1.3, and every word of every list there and back. */
static void test_atoms(void **state)
{
    static const qp_fabric_vocabulary *const lists[] = {&qp_fabric_integer_predicates,
                                                        &qp_fabric_float_predicates,
                                                        &qp_fabric_roundings, &qp_fabric_tiers};
    qp_buffer buffer;
    (void)state;

    qp_buffer_init(&buffer, NULL);
    qp_fabric_put_atom(&buffer, &qp_fabric_integer_predicates, QP_FABRIC_SLT);
    assert_int_equal(buffer.size, 52);
    assert_memory_equal(buffer.bytes, "loom.dataflow.integer-compare-predicate", 39);
    assert_hex(&buffer, 39, "00000000010000000000000003");
    for (size_t l = 0; l < 4; l++) {
        for (uint32_t w = 0; w <= lists[l]->count + 1; w++) {
            buffer.size = 0;
            qp_fabric_put_atom(&buffer, lists[l], w);
            uint32_t expected = w <= lists[l]->count ? w : 0;
            assert_int_equal(qp_fabric_get_atom(lists[l], buffer.bytes, buffer.size), expected);
            assert_int_equal(qp_fabric_get_atom(lists[l], buffer.bytes, buffer.size - 1), 0);
        }
    }
    buffer.size = 0;
    qp_fabric_put_atom(&buffer, &qp_fabric_tiers, QP_FABRIC_MAX_4_ULP);
    assert_hex(&buffer, buffer.size - 4, "4c534104");
    qp_buffer_free(&buffer);
}

/* Ids, names and "H" agree with section 2, and with the families of section 4. */
static void test_schemas(void **state)
{
    bool admitted[QP_FABRIC_SCHEMA_COUNT] = {false};
    (void)state;

    for (uint32_t i = 0; i < QP_FABRIC_SCHEMA_COUNT; i++) {
        const qp_fabric_schema *s = &qp_fabric_schemas[i];
        assert_int_equal(s->id, i);
        assert_ptr_equal(qp_fabric_find_schema(s->name, strlen(s->name)), s);
    }
    for (uint32_t i = 0; i < QP_FABRIC_FAMILY_COUNT; i++) {
        const qp_fabric_family *f = &qp_fabric_families[i];
        assert_int_equal(f->id, i);
        assert_ptr_equal(qp_fabric_find_family(f->keyword, strlen(f->keyword)), f);
        assert_true(f->member_count > 0 && f->member_count <= QP_FABRIC_FAMILY_SCHEMAS_MAX);
        for (uint32_t m = 0; m < f->member_count; m++) {
            const qp_fabric_schema *s = &qp_fabric_schemas[f->members[m].schema];
            admitted[s->id] = true;
            assert_int_equal(qp_fabric_member_ordinal(f, s), (int)m);
        }
    }
    for (uint32_t i = 0; i < QP_FABRIC_SCHEMA_COUNT; i++)
        assert_int_equal(admitted[i], qp_fabric_schemas[i].in_family);
    assert_int_equal(qp_fabric_find_schema("llvm.or", 7)->id, 97);
    assert_int_equal(qp_fabric_find_schema("llvm.intr.sadd.sat", 18)->id, 98);
    assert_int_equal(qp_fabric_find_schema("llvm.fptosi.sat", 15)->id, 103);
    assert_int_equal(qp_fabric_find_schema("llvm.intr.ctlz", 14)->id, 72);
    assert_null(qp_fabric_find_schema("llvm.sadd.sat", 13));
}

/* The counts that section 4 gives in prose. */
static void test_families(void **state)
{
    uint32_t none = 0, direct = 0, math = 0;
    (void)state;

    for (uint32_t i = 0; i < QP_FABRIC_FAMILY_COUNT; i++) {
        none += qp_fabric_families[i].relation == QP_FABRIC_RELATION_NONE;
        direct += qp_fabric_families[i].relation == QP_FABRIC_RELATION_DIRECT;
        math += qp_fabric_families[i].params == QP_FABRIC_PARAMS_SCALAR_SPECIAL_MATH;
        assert_true((qp_fabric_families[i].relation == QP_FABRIC_RELATION_FINITE) ==
                    (qp_fabric_families[i].key != QP_FABRIC_KEY_NONE));
    }
    assert_int_equal(none, 8);
    assert_int_equal(direct, 3);
    assert_int_equal(math, 22);
    assert_string_equal(qp_fabric_families[68].keyword, "ScalarMathPow");
    assert_string_equal(qp_fabric_families[51].keyword, "ScalarMathExpM1");
}

/* The projection's bytes (section 1.4) of arith.subi on i32 with nsw. */
static void test_projection(void **state)
{
    const qp_fabric_type i32 = qp_fabric_integer_type(32), operands[] = {i32, i32};
    const qp_fabric_semantics semantics = {.overflow = QP_FABRIC_NSW};
    const qp_fabric_signature signature = {.schema = &qp_fabric_schemas[2],
                                           .semantics = &semantics,
                                           .operands = operands,
                                           .results = &i32,
                                           .operand_count = 2,
                                           .result_count = 1};
    const size_t domain = sizeof "loom.dataflow.actor-schema-projection";
    qp_buffer buffer;
    (void)state;

    assert_null(qp_fabric_check_signature(&signature));
    qp_buffer_init(&buffer, NULL);
    qp_fabric_put_projection(&buffer, &signature);
    assert_hex(&buffer, domain,
               "0000000200000000"
               "4c5302034c530103"
               "0000000000000002"
               "000000030000000100000020"
               "000000030000000100000020"
               "0000000000000001"
               "000000030000000100000020"
               "00000001");
    qp_buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_types), cmocka_unit_test(test_types),
        cmocka_unit_test(test_atoms),           cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_families),        cmocka_unit_test(test_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
