/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_carrier.c - direct carriers (section 8): the worked bytes, the inactive values, what is
 * refused, and that a domain is exactly the image of its actors.
 */
#include "capability_support.h"

static const op_text slice = {
    "FixedVectorSliceAlignMerge", "vector.extract,vector.insert", "64,64,32,32", "64",
    "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
    "max_slice_payload_bits = 32, max_dynamic_position_rank = 2, resolved_index_widths = [32]"};

static const op_text shuffle = {
    "FixedVectorShuffle", "vector.shuffle", "64,64", "64",
    "integer_element_widths = [8,16], float_element_formats = [], max_operand_payload_bits = 64, "
    "max_result_payload_bits = 64, max_block_payload_bits = 32, max_source_blocks = 8, "
    "max_result_blocks = 4"};

/* The value of actor `actor` of a graph on an operation. */
static void assert_value(const op_text *op, const char *graph, uint32_t actor, const char *expected)
{
    op_case c = seal_op(op, graph);

    assert_sealed(&c);
    const qp_fabric_semantic_value value = project_actor(&c, actor);
    assert_hex(value.bytes, value.size, expected);
    free_op(&c);
}

static void assert_inactive(const op_text *op, const char *expected)
{
    op_case c = seal_op(op, NULL);

    assert_sealed(&c);
    assert_hex(c.capability.inactive.bytes, c.capability.inactive.size, expected);
    assert_int_equal(qp_fabric_check_value(&c.capability, c.capability.inactive, NULL), QP_OK);
    free_op(&c);
}

/* ---- widths ------------------------------------------------------------------------------- */

static void test_widths(void **state)
{
    (void)state;
    assert_int_equal(qp_fabric_cardinality_bits(0), 0);
    assert_int_equal(qp_fabric_cardinality_bits(1), 0);
    assert_int_equal(qp_fabric_cardinality_bits(2), 1);
    assert_int_equal(qp_fabric_cardinality_bits(5), 3);
    assert_int_equal(qp_fabric_cardinality_bits(8), 3);
    assert_int_equal(qp_fabric_cardinality_bits(9), 4);
    assert_int_equal(qp_fabric_cardinality_bits(UINT64_MAX), 64);
    assert_int_equal(qp_fabric_inclusive_bits(0), 0);
    assert_int_equal(qp_fabric_inclusive_bits(1), 1);
    assert_int_equal(qp_fabric_inclusive_bits(7), 3);
    assert_int_equal(qp_fabric_inclusive_bits(8), 4);
    assert_int_equal(qp_fabric_inclusive_bits(UINT64_MAX), 64);
}

static void assert_fields(const op_text *op, const char *expected)
{
    op_case c = seal_op(op, NULL);
    qp_buffer text;

    assert_sealed(&c);
    qp_buffer_init(&text, NULL);
    for (size_t i = 0; i < c.capability.relation.field_count; i++) {
        const qp_fabric_field *field = &c.capability.relation.fields[i];
        qp_buffer_format(&text, "%s %lu %lu|", field->name, (unsigned long)field->offset,
                         (unsigned long)field->width);
    }
    qp_buffer_append(&text, "", 1);
    assert_string_equal((const char *)text.bytes, expected);
    qp_buffer_free(&text);
    free_op(&c);
}

static void test_fields(void **state)
{
    const op_text constant = {"TokenConstant", "dataflow.constant", "0", "16",
                              "max_payload_bits = 64"};
    const op_text bare = {"FixedVectorSliceAlignMerge", "vector.insert", "8,8", "8",
                          "integer_element_widths = [8], float_element_formats = [], "
                          "max_container_payload_bits = 8, max_slice_payload_bits = 1, "
                          "max_dynamic_position_rank = 0, resolved_index_widths = []"};
    (void)state;

    assert_fields(&constant, "value 0 16|");
    assert_fields(&slice, "mode 0 1|static_offset_bits 1 6|slice_width_minus_one 7 5|"
                          "dynamic_stride_bits[0] 12 7|dynamic_stride_bits[1] 19 7|");
    assert_fields(&shuffle, "block_width_minus_one 0 5|left_block_count_minus_one 5 3|"
                            "result_block_count_minus_one 8 2|selectors[0] 10 3|selectors[1] 13 3|"
                            "selectors[2] 16 3|selectors[3] 19 3|");
    assert_relation(&bare, "Invalid"); /* no slice of a whole element */
}

/* ---- constants ---------------------------------------------------------------------------- */

static void assert_constant(const char *type, const char *value, const char *expected)
{
    const op_text op = {"TokenConstant", "dataflow.constant", "0", "16", "max_payload_bits = 64"};
    char graph[256];

    snprintf(graph, sizeof graph,
             "graph g { input %%t : none %%r = dataflow.constant %%t { value = %s } : (none) -> "
             "(%s) output %%r }",
             value, type);
    assert_value(&op, graph, 0, expected);
}

static void test_constants(void **state)
{
    const op_text wide = {"TokenConstant", "dataflow.constant", "0", "200",
                          "max_payload_bits = "
                          "130"};
    static const char graph[] =
        "graph g { input %t : none %r = dataflow.constant %t { value = -1 } "
        ": (none) -> (i129) output %r }";
    (void)state;

    assert_constant("i8", "-1", "ff00");
    assert_constant("vector<2xi8>", "[1,2]", "0102");
    assert_constant("f16", "0x3c00", "003c");
    assert_constant("i12", "0xabc", "bc0a");
    assert_constant("f16", "0x8000", "0080");
    assert_constant("vector<3xi5>", "[1,2,-1]", "417c");
    assert_value(&wide, graph, 0, "ffffffffffffffffffffffffffffffff01");
    assert_inactive(&wide, "0000000000000000000000000000000000");
}

/* i32 does not fit; and the port counts for every width. */
static void test_constant_too_wide(void **state)
{
    const op_text op = {"TokenConstant", "dataflow.constant", "0", "16", "max_payload_bits = 64"};
    op_case c = seal_op(&op, "graph g { input %t : none %r = dataflow.constant %t { value = 0 } : "
                             "(none) -> (i32) output %r }");
    (void)state;

    assert_sealed(&c);
    const qp_fabric_offer offer = offer_actor(&c, 0);
    assert_int_equal(qp_fabric_admit(c.node, &offer, &c.error), QP_MODEL_MISMATCH);
    assert_int_equal(c.error.rule, QP_FABRIC_RULE_PORT_WIDTH);
    free_op(&c);
}

/* ---- slices and shuffles ------------------------------------------------------------------ */

static const char slice_graph[] =
    "graph g index 32 { input %v : i8 input %d : vector<2x4xi8> input %i : index input %j : index\n"
    "%a = vector.extract %d { position = [1] } : (vector<2x4xi8>) -> (vector<4xi8>)\n"
    "%b = vector.insert %v, %d, %i { position = [?,2] } : (i8,vector<2x4xi8>,index) -> "
    "(vector<2x4xi8>)\n"
    "%c = vector.extract %d, %i, %j { position = [?,?] } : (vector<2x4xi8>,index,index) -> (i8)\n"
    "output %a output %b output %c }";

static const char shuffle_graph[] =
    "graph g { input %a : vector<2xi16> input %b : vector<2xi16>\n"
    "%r = vector.shuffle %a, %b { mask = [0,3,-1] } : (vector<2xi16>,vector<2xi16>) -> "
    "(vector<3xi16>) output %r }";

static void anchor_07_slices_and_shuffle(void **state)
{
    (void)state;
    assert_value(&slice, slice_graph, 0, "c00f0000");
    assert_value(&slice, slice_graph, 1, "a1030200");
    assert_value(&slice, slice_graph, 2, "80034200");
    assert_value(&shuffle, shuffle_graph, 0, "2f6200");
}

static void test_inactive_values(void **state)
{
    const op_text insert = {"FixedVectorSliceAlignMerge", "vector.insert", "64,64,32,32", "64",
                            slice.params};
    (void)state;

    assert_inactive(&slice, "80030000");
    assert_inactive(&insert, "c0010000"); /* no mode bit: offset 6 bits, then 7 */
    assert_inactive(&shuffle, "070000");
}

/* An integer as packed bytes. */
static bool accepts(const op_case *c, uint64_t integer)
{
    uint8_t bytes[8];
    const size_t size = (size_t)((c->capability.relation.carrier_bits + 7) / 8);

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(integer >> (8 * i));
    return qp_fabric_check_value(&c->capability, (qp_fabric_semantic_value){bytes, size}, NULL) ==
           QP_OK;
}

static uint64_t slice_value(uint64_t mode, uint64_t offset, uint64_t width, uint64_t first,
                            uint64_t second)
{
    return mode | offset << 1 | (width - 1) << 7 | first << 12 | second << 19;
}

static void test_rejected_slices(void **state)
{
    op_case c = seal_op(&slice, NULL);
    const op_text extract = {"FixedVectorSliceAlignMerge", "vector.extract", "40,64,32,31", "24",
                             slice.params};
    op_case e = seal_op(&extract, NULL);
    (void)state;

    assert_sealed(&c);
    assert_sealed(&e);
    assert_true(accepts(&c, slice_value(0, 32, 32, 0, 0)));
    assert_true(accepts(&c, slice_value(1, 16, 8, 32, 0)));
    assert_true(accepts(&c, slice_value(0, 0, 8, 32, 8)));
    assert_false(accepts(&c, slice_value(0, 4, 8, 0, 0)));   /* offset no multiple */
    assert_false(accepts(&c, slice_value(0, 8, 16, 0, 0)));  /* the same */
    assert_false(accepts(&c, slice_value(0, 0, 4, 0, 0)));   /* no whole element */
    assert_false(accepts(&c, slice_value(0, 0, 8, 0, 8)));   /* zero, then not */
    assert_false(accepts(&c, slice_value(0, 0, 8, 8, 32)));  /* no divisor */
    assert_false(accepts(&c, slice_value(0, 0, 16, 24, 0))); /* stride no multiple of the slice */
    assert_true(accepts(&c, slice_value(0, 32, 8, 32, 0)));
    assert_false(accepts(&c, slice_value(0, 32, 8, 48, 32))); /* 32 does not divide 48 */
    assert_false(accepts(&c, slice_value(0, 40, 8, 40, 0)));  /* container of 80 */
    assert_false(accepts(&c, slice_value(0, 32, 32, 0, 0) | 1 << 26));
    /* (e) has no mode bit; its ports: container 40, slice 24, the second index 31 */
    assert_true(accepts(&e, slice_value(0, 24, 8, 8, 0) >> 1));
    assert_true(accepts(&e, slice_value(0, 0, 24, 0, 0) >> 1));
    assert_false(accepts(&e, slice_value(0, 0, 32, 0, 0) >> 1)); /* result port */
    assert_false(accepts(&e, slice_value(0, 40, 8, 0, 0) >> 1)); /* input port */
    assert_false(accepts(&e, slice_value(0, 0, 8, 16, 8) >> 1)); /* two dynamic positions */
    free_op(&e);
    free_op(&c);
}

static uint64_t shuffle_value(uint64_t block, uint64_t left, uint64_t result, uint64_t selectors)
{
    return (block - 1) | (left - 1) << 5 | (result - 1) << 8 | selectors << 10;
}

static void test_rejected_shuffles(void **state)
{
    op_case c = seal_op(&shuffle, NULL);
    (void)state;

    assert_sealed(&c);
    assert_true(accepts(&c, shuffle_value(16, 2, 3, 0 | 3 << 3)));
    assert_true(accepts(&c, shuffle_value(8, 7, 4, 7)));
    assert_false(accepts(&c, shuffle_value(8, 8, 4, 0)));      /* no right block */
    assert_false(accepts(&c, shuffle_value(12, 1, 1, 0)));     /* no whole element */
    assert_false(accepts(&c, shuffle_value(8, 1, 1, 1 << 3))); /* past the result */
    assert_false(accepts(&c, shuffle_value(32, 3, 1, 0)));     /* left operand of 96 bits */
    assert_false(accepts(&c, shuffle_value(32, 1, 1, 3)));     /* right operand of 96 bits */
    assert_false(accepts(&c, shuffle_value(32, 1, 3, 0)));     /* result of 96 bits */
    assert_true(accepts(&c, shuffle_value(32, 1, 2, 2 | 2 << 3)));
    assert_false(accepts(&c, shuffle_value(8, 1, 1, 0) | 1 << 22)); /* spare bits */
    free_op(&c);
}

/* Spare bits, a selector of 6 where there are 5 sources, a slot past R that is not zero. */
static void anchor_27_direct_values(void **state)
{
    const op_text five = {"FixedVectorShuffle", "vector.shuffle", "64,64", "64",
                          "integer_element_widths = [8], float_element_formats = [], "
                          "max_operand_payload_bits = 64, max_result_payload_bits = 64, "
                          "max_block_payload_bits = 32, max_source_blocks = 5, "
                          "max_result_blocks = 4"};
    op_case c = seal_op(&five, NULL);
    qp_fabric_error error;
    uint8_t bytes[4] = {0};
    (void)state;

    assert_sealed(&c);
    assert_int_equal(c.capability.relation.carrier_bits, 22);
    assert_true(accepts(&c, shuffle_value(8, 2, 2, 4)));
    assert_false(accepts(&c, shuffle_value(8, 2, 2, 5)));
    assert_false(accepts(&c, shuffle_value(8, 2, 2, 6)));
    assert_false(accepts(&c, shuffle_value(8, 2, 2, 1 << 6)));
    assert_false(accepts(&c, shuffle_value(8, 2, 2, 4) | 1 << 23));
    bytes[0] = 7;
    assert_int_equal(
        qp_fabric_check_value(&c.capability, (qp_fabric_semantic_value){bytes, 3}, NULL), QP_OK);
    for (size_t size = 0; size <= 4; size++) {
        if (size == 3)
            continue;
        assert_int_equal(
            qp_fabric_check_value(&c.capability, (qp_fabric_semantic_value){bytes, size}, &error),
            QP_MALFORMED);
        assert_int_equal(error.fault, QP_FABRIC_INVALID);
    }
    free_op(&c);
}

/* ---- image and domain --------------------------------------------------------------------- */

/* An actor made by hand, and the values that such actors have had. */
typedef struct image_walk {
    op_case *c;
    bool seen[1 << 16];
    qp_fabric_semantics semantics;
    int64_t entries[8];
    qp_fabric_type operands[8], results[1];
    qp_fabric_offer offer;
    uint32_t ports[8], result_ports[1];
} image_walk;

/* Notes the value of the actor, if it is admitted; any actor that is must have a member. */
static void note_actor(image_walk *walk, uint32_t schema, size_t operands)
{
    qp_fabric_semantic_value value;
    uint64_t cursor = 0, integer = 0;

    walk->offer.signature = (qp_fabric_signature){.schema = &qp_fabric_schemas[schema],
                                                  .semantics = &walk->semantics,
                                                  .operands = walk->operands,
                                                  .results = walk->results,
                                                  .operand_count = operands,
                                                  .result_count = 1,
                                                  .index_width = 32};
    walk->semantics.entries = walk->entries;
    walk->offer.operand_ports = walk->ports;
    walk->offer.result_ports = walk->result_ports;
    assert_null(qp_fabric_check_signature(&walk->offer.signature));
    assert_true(qp_fabric_next_correspondence(walk->c->node, &walk->offer.signature, &cursor,
                                              walk->ports, walk->result_ports));
    if (qp_fabric_admit(walk->c->node, &walk->offer, NULL) != QP_OK)
        return;
    assert_int_equal(
        qp_fabric_project(&walk->c->capability, &walk->offer, &walk->c->arena, &value, NULL),
        QP_OK);
    assert_int_equal(qp_fabric_check_value(&walk->c->capability, value, NULL), QP_OK);
    for (size_t i = 0; i < value.size; i++)
        integer |= (uint64_t)value.bytes[i] << (8 * i);
    walk->seen[integer] = true;
}

/* Every member of the domain has been seen, and nothing else. */
static void assert_image_is_domain(const image_walk *walk)
{
    const uint64_t values = UINT64_C(1) << walk->c->capability.relation.carrier_bits;

    assert_true(values <= sizeof walk->seen / sizeof walk->seen[0]);
    for (uint64_t i = 0; i < values; i++)
        if (accepts(walk->c, i) != walk->seen[i])
            fail_msg("value %lx: domain %d, image %d", (unsigned long)i, accepts(walk->c, i),
                     walk->seen[i]);
}

enum { EXTRACT = 94, INSERT = 95, SHUFFLE = 96 };

/* Every position of a container from entry `at` on, then both actors with it. */
static void over_positions(image_walk *walk, const qp_fabric_type *container, size_t at,
                           size_t count)
{
    if (at < count) {
        walk->entries[at] = QP_FABRIC_DYNAMIC;
        over_positions(walk, container, at + 1, count);
        for (uint64_t i = 0; i < container->dims[at]; i++) {
            walk->entries[at] = (int64_t)i;
            over_positions(walk, container, at + 1, count);
        }
        return;
    }
    qp_fabric_type block = *container;
    size_t dynamic = 0;
    block.rank = (uint32_t)(container->rank - count);
    block.dims = block.rank > 0 ? container->dims + count : NULL;
    for (size_t i = 0; i < count; i++)
        dynamic += walk->entries[i] == QP_FABRIC_DYNAMIC;
    walk->semantics.entry_count = count;
    for (size_t i = 0; i < 8; i++)
        walk->operands[i] = qp_fabric_index_type();
    walk->operands[0] = *container;
    walk->results[0] = block;
    if ((walk->c->node->enabled & 1) != 0)
        note_actor(walk, EXTRACT, 1 + dynamic);
    walk->operands[0] = block;
    walk->operands[1] = walk->results[0] = *container;
    if ((walk->c->node->enabled & 2) != 0)
        note_actor(walk, INSERT, 2 + dynamic);
}

/* Every shape of at most four dimensions and `lanes` lanes. */
static void over_shapes(image_walk *walk, uint64_t *dims, uint32_t rank, uint64_t lanes,
                        uint32_t element)
{
    qp_fabric_type container = qp_fabric_integer_type(element);

    container.rank = rank;
    container.dims = dims;
    for (size_t count = 0; rank > 0 && count <= rank; count++)
        over_positions(walk, &container, 0, count);
    for (uint64_t dim = 1; rank < 4 && dim <= lanes; dim++) {
        dims[rank] = dim;
        over_shapes(walk, dims, rank + 1, lanes / dim, element);
    }
}

static void assert_slice_image(const op_text *op)
{
    op_case c = seal_op(op, NULL);
    image_walk *walk = calloc(1, sizeof *walk);
    uint64_t dims[4];

    assert_sealed(&c);
    assert_non_null(walk);
    walk->c = &c;
    for (int i = 0; i < QP_FABRIC_WIDTHS; i++)
        if ((c.node->params.integers >> i & 1) != 0)
            over_shapes(walk, dims, 0,
                        c.node->params.max_container_payload_bits / qp_fabric_width_of(i),
                        qp_fabric_width_of(i));
    assert_image_is_domain(walk);
    free(walk);
    free_op(&c);
}

static void test_slice_image_is_domain(void **state)
{
    static const op_text ops[] = {
        {"FixedVectorSliceAlignMerge", "vector.extract,vector.insert", "8,8,32,32", "8",
         "integer_element_widths = [1], float_element_formats = [], max_container_payload_bits = "
         "7, max_slice_payload_bits = 4, max_dynamic_position_rank = 2, resolved_index_widths = "
         "[32]"},
        {"FixedVectorSliceAlignMerge", "vector.insert", "5,9,32,31", "8",
         "integer_element_widths = [1], float_element_formats = [], max_container_payload_bits = "
         "9, max_slice_payload_bits = 8, max_dynamic_position_rank = 2, resolved_index_widths = "
         "[32]"},
        {"FixedVectorSliceAlignMerge", "vector.extract,vector.insert", "12,12", "6",
         "integer_element_widths = [1,8], float_element_formats = [], max_container_payload_bits = "
         "16, max_slice_payload_bits = 16, max_dynamic_position_rank = 0, resolved_index_widths = "
         "[]"},
        {"FixedVectorSliceAlignMerge", "vector.extract", "24,8,32", "16",
         "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = "
         "31, max_slice_payload_bits = 16, max_dynamic_position_rank = 1, resolved_index_widths = "
         "[32,64]"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        assert_slice_image(&ops[i]);
}

/* Every mask from entry `at` on. */
static void over_masks(image_walk *walk, size_t at, int64_t blocks)
{
    if (at == walk->semantics.entry_count) {
        note_actor(walk, SHUFFLE, 2);
        return;
    }
    for (int64_t i = QP_FABRIC_POISON_BLOCK; i < blocks; i++) {
        walk->entries[at] = i;
        over_masks(walk, at + 1, blocks);
    }
}

static void assert_shuffle_image(const op_text *op)
{
    op_case c = seal_op(op, NULL);
    image_walk *walk = calloc(1, sizeof *walk);
    uint64_t dims[3][2];

    assert_sealed(&c);
    assert_non_null(walk);
    walk->c = &c;
    const qp_fabric_params *p = &c.node->params;
    for (uint64_t block = 1; block <= p->max_block_payload_bits; block++)
        for (uint64_t left = 1; left < p->max_source_blocks; left++)
            for (uint64_t right = 1; left + right <= p->max_source_blocks; right++)
                for (uint64_t result = 1; result <= p->max_result_blocks; result++) {
                    const uint64_t counts[] = {left, right, result};
                    qp_fabric_type *types[] = {&walk->operands[0], &walk->operands[1],
                                               &walk->results[0]};
                    for (int i = 0; i < 3; i++) {
                        dims[i][0] = counts[i];
                        dims[i][1] = block;
                        *types[i] = qp_fabric_integer_type(1);
                        types[i]->rank = 2;
                        types[i]->dims = dims[i];
                    }
                    walk->semantics.entry_count = (size_t)result;
                    over_masks(walk, 0, (int64_t)(left + right));
                }
    assert_image_is_domain(walk);
    free(walk);
    free_op(&c);
}

static void test_shuffle_image_is_domain(void **state)
{
    static const op_text ops[] = {
        {"FixedVectorShuffle", "vector.shuffle", "4,3", "4",
         "integer_element_widths = [1], float_element_formats = [], max_operand_payload_bits = 4, "
         "max_result_payload_bits = 5, max_block_payload_bits = 3, max_source_blocks = 5, "
         "max_result_blocks = 3"},
        {"FixedVectorShuffle", "vector.shuffle", "2,8", "3",
         "integer_element_widths = [1], float_element_formats = [], max_operand_payload_bits = 3, "
         "max_result_payload_bits = 8, max_block_payload_bits = 2, max_source_blocks = 3, "
         "max_result_blocks = 4"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        assert_shuffle_image(&ops[i]);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_failing_allocator(void **state)
{
    op_case c = seal_op(&slice, slice_graph);
    const qp_fabric_offer offer = offer_actor(&c, 0);
    (void)state;

    assert_sealed(&c);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        const qp_allocator allocator = failing_allocator_use(&memory);
        qp_fabric_semantic_value value;
        qp_arena arena;
        qp_arena_init(&arena, &allocator);
        const qp_status status = qp_fabric_project(&c.capability, &offer, &arena, &value, &c.error);
        qp_arena_free(&arena);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
    free_op(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_constant_too_wide),
        cmocka_unit_test(anchor_07_slices_and_shuffle),
        cmocka_unit_test(test_inactive_values),
        cmocka_unit_test(test_rejected_slices),
        cmocka_unit_test(test_rejected_shuffles),
        cmocka_unit_test(anchor_27_direct_values),
        cmocka_unit_test(test_slice_image_is_domain),
        cmocka_unit_test(test_shuffle_image_is_domain),
        cmocka_unit_test(test_failing_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
