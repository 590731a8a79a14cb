/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_carrier.c - values of Direct relations. For each one that the validator takes an
 * actor is built that has it: the least container and operands, as section 8's domain promises.
 */
#include "fabric_ops.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANK_MAX = 12, ENTRIES_MAX = 16 };

/* An actor in the making. */
typedef struct built {
    const qp_fabric_node *node;
    qp_fabric_semantics semantics;
    int64_t entries[ENTRIES_MAX];
    uint64_t payload[1];
    qp_fabric_type operands[5], results[1];
    uint64_t dims[3][RANK_MAX];
    size_t operand_count;
    uint32_t schema;
} built;

static uint64_t get_field(const qp_fabric_relation *relation, const uint8_t *bytes,
                          const char *name)
{
    uint64_t value = 0;

    for (size_t i = 0; i < relation->field_count; i++) {
        const qp_fabric_field *field = &relation->fields[i];
        if (strcmp(field->name, name) != 0)
            continue;
        for (uint64_t b = 0; b < field->width; b++)
            value |= (uint64_t)(bytes[(field->offset + b) / 8] >> ((field->offset + b) % 8) & 1)
                     << b;
    }
    return value;
}

/* A field of a list; zero where it is none of the relation's. */
static uint64_t get_item(const qp_fabric_relation *relation, const uint8_t *bytes, const char *name,
                         unsigned item)
{
    char text[64];
    snprintf(text, sizeof text, "%s[%u]", name, item);
    return get_field(relation, bytes, text);
}

/* A vector of elements that some admitted width has; `bits` is a multiple of one. */
static qp_fabric_type element_for(const qp_fabric_params *params, uint64_t bits)
{
    for (int i = 0; i < QP_FABRIC_WIDTHS; i++)
        if ((params->integers >> i & 1) != 0 && bits % qp_fabric_width_of(i) == 0)
            return qp_fabric_integer_type(qp_fabric_width_of(i));
    for (int i = 0; i < QP_FABRIC_FORMATS; i++)
        if ((params->formats >> i & 1) != 0 && bits % qp_fabric_formats[i].bits == 0)
            return qp_fabric_float_type(qp_fabric_formats[i].tag);
    abort();
}

static void build_constant(built *b, const qp_fabric_relation *relation, const uint8_t *bytes)
{
    b->schema = 80;
    b->payload[0] = get_field(relation, bytes, "value");
    b->semantics.payload = b->payload;
    b->semantics.payload_words = 1;
    b->operands[0] = qp_fabric_none_type();
    b->operand_count = 1;
    b->results[0] = qp_fabric_integer_type((uint32_t)relation->carrier_bits);
}

/* One static dimension of `step` bits, then, but at the end, one dynamic dimension of one lane. */
static void add_dimensions(built *b, uint64_t size, int64_t digit, bool dynamic)
{
    b->dims[0][b->semantics.entry_count] = size;
    b->entries[b->semantics.entry_count++] = digit;
    if (!dynamic)
        return;
    b->dims[0][b->semantics.entry_count] = 1;
    b->entries[b->semantics.entry_count++] = QP_FABRIC_DYNAMIC;
}

static void build_slice(built *b, const qp_fabric_relation *relation, const uint8_t *bytes)
{
    uint64_t offset = get_field(relation, bytes, "static_offset_bits");
    const uint64_t slice = get_field(relation, bytes, "slice_width_minus_one") + 1;
    const bool insert = get_field(relation, bytes, "mode") == 1;
    const qp_fabric_type element = element_for(&b->node->params, slice);
    uint64_t above = 0; /* the stride before: 0 for the whole container */
    unsigned count = 0;

    for (; get_item(relation, bytes, "dynamic_stride_bits", count) != 0; count++) {
        const uint64_t stride = get_item(relation, bytes, "dynamic_stride_bits", count);
        add_dimensions(b, above == 0 ? offset / stride + 1 : above / stride,
                       (int64_t)(offset / stride), true);
        offset %= stride;
        above = stride;
    }
    add_dimensions(b, above == 0 ? offset / slice + 1 : above / slice, (int64_t)(offset / slice),
                   false);
    qp_fabric_type container = element, block = element;
    container.rank = (uint32_t)b->semantics.entry_count + 1;
    container.dims = b->dims[0];
    b->dims[0][container.rank - 1] = slice / element.width;
    block.rank = 1;
    block.dims = b->dims[0] + container.rank - 1;
    b->operands[0] = insert ? block : container;
    b->operands[1] = container; /* of an extract a position follows instead */
    b->results[0] = insert ? container : block;
    b->operand_count = insert ? 2 : 1;
    for (unsigned i = 0; i < count; i++)
        b->operands[b->operand_count++] = qp_fabric_index_type();
    b->schema = insert ? 95 : 94;
}

static void build_shuffle(built *b, const qp_fabric_relation *relation, const uint8_t *bytes)
{
    const uint64_t block = get_field(relation, bytes, "block_width_minus_one") + 1;
    const uint64_t left = get_field(relation, bytes, "left_block_count_minus_one") + 1;
    const uint64_t result = get_field(relation, bytes, "result_block_count_minus_one") + 1;
    const qp_fabric_type element = element_for(&b->node->params, block);
    uint64_t sources = left + 1;

    for (unsigned i = 0; i < result; i++) {
        const uint64_t selector = get_item(relation, bytes, "selectors", i);
        b->entries[i] = (int64_t)selector;
        sources = selector + 1 > sources ? selector + 1 : sources;
    }
    b->semantics.entry_count = (size_t)result;
    const uint64_t counts[] = {left, sources - left, result};
    qp_fabric_type *types[] = {&b->operands[0], &b->operands[1], &b->results[0]};
    for (int i = 0; i < 3; i++) {
        b->dims[i][0] = counts[i];
        b->dims[i][1] = block / element.width;
        *types[i] = element;
        types[i]->rank = 2;
        types[i]->dims = b->dims[i];
    }
    b->operand_count = 2;
    b->schema = 96;
}

/* The actor is admitted at its ports and has the value. */
static void check_built(const fabric_op *op, const built *b, qp_fabric_semantic_value value)
{
    uint32_t operand_ports[5], result_ports[1];
    uint64_t cursor = 0;
    qp_fabric_semantic_value again;
    qp_arena arena;
    const int wide = (b->node->params.index_widths & 1) == 0;
    const qp_fabric_offer offer = {.signature = {.schema = &qp_fabric_schemas[b->schema],
                                                 .semantics = &b->semantics,
                                                 .operands = b->operands,
                                                 .results = b->results,
                                                 .operand_count = b->operand_count,
                                                 .result_count = 1,
                                                 .index_width = qp_fabric_index_of(wide)},
                                   .operand_ports = operand_ports,
                                   .result_ports = result_ports};

    qp_arena_init(&arena, NULL);
    if (qp_fabric_check_signature(&offer.signature) != NULL ||
        !qp_fabric_next_correspondence(b->node, &offer.signature, &cursor, operand_ports,
                                       result_ports) ||
        qp_fabric_admit(b->node, &offer, NULL) != QP_OK ||
        qp_fabric_project(&op->capability, &offer, &arena, &again, NULL) != QP_OK ||
        qp_fabric_compare_bytes(again.bytes, again.size, value.bytes, value.size) != 0)
        abort();
    qp_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const builders[])(built *, const qp_fabric_relation *, const uint8_t *) = {
        build_constant, build_slice, build_slice, build_shuffle, build_shuffle};
    if (size == 0)
        return 0;
    const uint8_t choice = data[0] % 5;
    fabric_op op = fabric_op_open((uint8_t)(8 + choice));
    const qp_fabric_semantic_value value = {data + 1, size - 1};
    built b = {.node = op.capability.node, .semantics = {.fast_math = 0}};

    b.semantics.entries = b.entries;
    if (qp_fabric_check_value(&op.capability, value, NULL) == QP_OK) {
        builders[choice](&b, &op.capability.relation, value.bytes);
        check_built(&op, &b, value);
    }
    fabric_op_close(&op);
    return 0;
}
