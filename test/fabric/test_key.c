/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_key.c - the bytes of behaviour keys (section 7.4) and what is no member of a domain.
 */
#include "capability_support.h"

#define DOMAIN                                                                                     \
    "6c6f6f6d2e6661627269632e6f7065726174696f6e2d6265686176696f722d6b6579000000000100000000"

/* "loom.dataflow.integer-compare-predicate" and slt: the atom of section 1.3. */
#define SLT                                                                                        \
    "6c6f6f6d2e64617461666c6f772e696e74656765722d636f6d706172652d7072656469636174650000000001"     \
    "0000000000000003"

static const qp_fabric_key *find_key(const op_case *c, const char *text)
{
    const qp_fabric_relation *relation = &c->capability.relation;

    for (size_t i = 0; i < relation->key_count; i++)
        if (strcmp(relation->keys[i].text, text) == 0)
            return &relation->keys[i];
    fail_msg("no key '%s'", text);
    return NULL;
}

typedef struct key_row {
    op_text op;
    const char *text;
    const char *hex;
    size_t size;
    const char *sha256; /* NULL where section 7.4 gives none */
} key_row;

static const key_row rows[] = {
    {{"ScalarIntegerAddSub", "arith.addi,arith.subi", "32,32", "32", "integer_widths = [32]"},
     "Add",
     DOMAIN "000000135363616c6172496e746567657241646453756200000003416464",
     73,
     "1266acfb393e91a5ee3cd1ad7108ef01097d669569e4befb0c0ee48ba3378692"},
    {{"ScalarSignedIntegerDivRem", "arith.divsi,arith.remsi", "32,32", "32",
      "integer_widths = [8,32]"},
     "Quotient i32",
     DOMAIN "000000195363616c61725369676e6564496e746567657244697652656d"
            "0000000851756f7469656e7400000020",
     88,
     "b3ec98f3ff8138f133caf64f1e6ace9df3af11af0219282e27834ebe3ea44586"},
    {{"ScalarIntegerCompareMinMax", "arith.cmpi,arith.minsi", "32,32", "32",
      "operand_widths = [8,32], comparison_predicates = [slt,sge]"},
     "Compare slt i32",
     DOMAIN "0000001a5363616c6172496e7465676572436f6d706172654d696e4d6178"
            "00000007436f6d70617265"
            "00000034" SLT "00000020",
     144,
     "e6a84bf7d227fe0deb6442e42d409a9c604562a3396779fc00aa91536321de67"},
    {{"ScalarFloatAddSub", "arith.addf,arith.subf", "64,64", "64",
      "formats = [f32,f64], behavior = { rounding_modes = [downward,upward], "
      "nan_behaviors = [ieee], subnormal_behaviors = [preserve], "
      "signed_zero_behaviors = [preserve], required_fast_math = [] }"},
     "Add f32 downward",
     DOMAIN "000000115363616c6172466c6f617441646453756200000003416464"
            "0000002d6c6f6f6d2e64617461666c6f772e63616e6f6e6963616c2d747970650000000001000000000000"
            "00040000000f"
            "000000286c6f6f6d2e64617461666c6f772e726f756e64696e672d6d6f6465000000000100000000000000"
            "02",
     164,
     "71d407b5baacf1423de925163e2c42f251b0657ae3c6715a95e6b03f9c484d3a"},
    {{"LoopStream", "dataflow.stream", "32,32,32", "32,1",
      "integer_widths = [8,32], step_kind = add, predicates = [slt,ult]"},
     "i32 slt",
     DOMAIN "0000000a4c6f6f7053747265616d000000000000002000000034" SLT,
     121,
     "df1c2fda85593aa7f02c3c8b56779df91f1a0994fae57f093371704ce0f98413"},
    {{"TokenMux", "dataflow.mux", "32,16,32,16", "32", "max_payload_bits = 32, max_fan = 3"},
     "[1,3]",
     DOMAIN "00000008546f6b656e4d75780000000000000002"
            "00000000000000010000000000000003",
     79,
     NULL},
};

static void test_check_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_case c = seal_op(&rows[i].op, NULL);
        assert_sealed(&c);
        const qp_fabric_key *key = find_key(&c, rows[i].text);
        assert_int_equal(key->size, rows[i].size);
        assert_hex(key->bytes, key->size, rows[i].hex);
        if (rows[i].sha256 != NULL)
            assert_sha256(key->bytes, key->size, rows[i].sha256);
        free_op(&c);
    }
}

/* Lengths of case B of section 7.3, and both spellings of a numeric format. */
static void test_numeric_formats(void **state)
{
#define COMPARED(formats, required)                                                                \
    formats ", predicates = [olt,ult,ord], behavior = { rounding_modes = [to_nearest_even], "      \
            "nan_behaviors = [ieee], subnormal_behaviors = [preserve], "                           \
            "signed_zero_behaviors = [preserve], required_fast_math = [" required "] }"
    static const struct {
        op_text op;
        const char *text, *tail; /* tail: what follows role and predicate */
        size_t size;
    } cases[] = {
        {{"ScalarFloatCompareMinMax", "arith.cmpf,arith.minnumf", "16,16", "16",
          COMPARED("formats = [f16,bf16]", "nnan")},
         "Compare olt",
         "",
         136},
        {{"ScalarFloatCompareMinMax", "arith.cmpf,arith.minnumf", "16,16", "16",
          COMPARED("formats = [f16,bf16]", "nnan")},
         "Minimum",
         "",
         82},
        {{"ScalarFloatCompareMinMax", "arith.cmpf,arith.minnumf", "32,32", "32",
          COMPARED("formats = [f16,f32]", "nnan")},
         "Minimum 16-bit",
         "0000000200000010",
         90},
        {{"FixedVectorFloatCompareMinMax", "arith.cmpf,arith.minnumf", "32,32", "32",
          "max_payload_bits = 32, " COMPARED("element_formats = [f16,f32]", "nnan")},
         "Minimum 16-bit",
         "00000010",
         91},
        {{"ScalarFloatCompareMinMax", "arith.cmpf,arith.minimumf", "32,32", "32",
          COMPARED("formats = [f16,f32]", "")},
         "Minimum f16",
         "000000010000002d6c6f6f6d2e64617461666c6f772e63616e6f6e6963616c2d747970650000000001000000"
         "00000000040000000d",
         135},
        {{"FixedVectorFloatCompareMinMax", "arith.cmpf,arith.minimumf", "32,32", "32",
          "max_payload_bits = 32, " COMPARED("element_formats = [f16,f32]", "")},
         "Minimum f16",
         "0000002d6c6f6f6d2e64617461666c6f772e63616e6f6e6963616c2d74797065000000000100000000000000"
         "040000000d",
         136},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        op_case c = seal_op(&cases[i].op, NULL);
        assert_sealed(&c);
        const qp_fabric_key *key = find_key(&c, cases[i].text);
        const size_t tail = strlen(cases[i].tail) / 2;
        assert_int_equal(key->size, cases[i].size);
        assert_hex(key->bytes + key->size - tail, tail, cases[i].tail);
        free_op(&c);
    }
}

static void assert_refused(const op_case *c, const void *bytes, size_t size)
{
    const qp_fabric_semantic_value value = {bytes, size};
    qp_fabric_error error;

    assert_int_equal(qp_fabric_check_value(&c->capability, value, &error), QP_MALFORMED);
    assert_int_equal(error.fault, QP_FABRIC_INVALID);
}

/* Every prefix, a byte more, and every single bit flipped: none is another member. */
static void assert_neighbours_refused(const op_case *c, const qp_fabric_key *key)
{
    uint8_t bytes[256] = {0};

    assert_true(key->size < sizeof bytes);
    memcpy(bytes, key->bytes, key->size);
    for (size_t size = 0; size < key->size; size++)
        assert_refused(c, bytes, size);
    assert_refused(c, bytes, key->size + 1);
    for (size_t bit = 0; bit < 8 * key->size; bit++) {
        bool member = false;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        for (size_t i = 0; i < c->capability.relation.key_count; i++) {
            const qp_fabric_key *other = &c->capability.relation.keys[i];
            member =
                member || (other->size == key->size && memcmp(other->bytes, bytes, key->size) == 0);
        }
        if (!member)
            assert_refused(c, bytes, key->size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void anchor_21_bit_patterns(void **state)
{
    const op_text add = {"ScalarIntegerAddSub", "arith.addi,arith.subi", "32,32", "32",
                         "integer_widths = [32]"};
    const op_text vector = {"FixedVectorIntegerAddSub", "arith.addi,arith.subi", "32,32", "32",
                            "element_widths = [32], max_payload_bits = 32"};
    const op_text mux = {"TokenMux", "dataflow.mux", "32,16,32,16", "32",
                         "max_payload_bits = 32, max_fan = 3"};
    op_case c = seal_op(&add, NULL), other = seal_op(&vector, NULL), m = seal_op(&mux, NULL);
    uint8_t bytes[128];
    (void)state;

    assert_sealed(&c);
    assert_sealed(&other);
    assert_sealed(&m);
    assert_neighbours_refused(&c, find_key(&c, "Add")); /* truncated, trailing byte */
    const qp_fabric_key *key = find_key(&other, "Add");
    assert_refused(&c, key->bytes, key->size); /* another family's keyword */
    key = find_key(&m, "[1,3]");
    memcpy(bytes, key->bytes, key->size);
    assert_neighbours_refused(&m, key);
    bytes[key->size - 1] = 1; /* a lane repeated */
    assert_refused(&m, bytes, key->size);
    bytes[key->size - 1] = 4; /* out of range */
    assert_refused(&m, bytes, key->size);
    bytes[key->size - 1] = 0; /* the selector's */
    assert_refused(&m, bytes, key->size);
    bytes[key->size - 1] = 2; /* back to a member: [1,2] */
    assert_int_equal(
        qp_fabric_check_value(&m.capability, (qp_fabric_semantic_value){bytes, key->size}, NULL),
        QP_OK);
    free_op(&m);
    free_op(&other);
    free_op(&c);
}

/* Keys ascend by bytes, and the first is the inactive value. None takes no bytes at all. */
static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_case c = seal_op(&rows[i].op, NULL);
        assert_sealed(&c);
        const qp_fabric_relation *relation = &c.capability.relation;
        for (size_t k = 1; k < relation->key_count; k++)
            assert_true(qp_fabric_compare_bytes(relation->keys[k - 1].bytes,
                                                relation->keys[k - 1].size, relation->keys[k].bytes,
                                                relation->keys[k].size) < 0);
        assert_ptr_equal(c.capability.inactive.bytes, relation->keys[0].bytes);
        free_op(&c);
    }
    const op_text none = {"ScalarIntegerMultiply", "arith.muli", "32,32", "32",
                          "integer_widths = [32]"};
    op_case c = seal_op(&none, NULL);
    assert_sealed(&c);
    assert_int_equal(
        qp_fabric_check_value(&c.capability, (qp_fabric_semantic_value){NULL, 0}, NULL), QP_OK);
    assert_refused(&c, "", 1);
    free_op(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_values),
        cmocka_unit_test(test_numeric_formats),
        cmocka_unit_test(anchor_21_bit_patterns),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
