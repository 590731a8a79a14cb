/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carrier.c - direct carriers (section 8): constants, slices and shuffles; their fields, packing,
 * projections and exact domains.
 */
#include "fabric/relation.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t qp_fabric_inclusive_bits(uint64_t m)
{
    uint32_t bits = 0;
    for (; m > 0; m >>= 1)
        bits++;
    return bits;
}

uint32_t qp_fabric_cardinality_bits(uint64_t m)
{
    return m <= 1 ? 0 : qp_fabric_inclusive_bits(m - 1);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- packed bits -------------------------------------------------------------------------- */

/* Bits are written and read one after the other. */
typedef struct bit_cursor {
    uint8_t *write;
    const uint8_t *read;
    uint64_t at;
} bit_cursor;

static void put_bits(bit_cursor *cursor, uint64_t value, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++, cursor->at++)
        cursor->write[cursor->at / 8] |= (uint8_t)((value >> i & 1) << (cursor->at % 8));
}

static uint64_t get_bits(bit_cursor *cursor, uint32_t width)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < width; i++, cursor->at++)
        value |= (uint64_t)(cursor->read[cursor->at / 8] >> (cursor->at % 8) & 1) << i;
    return value;
}

/* ---- elements ----------------------------------------------------------------------------- */

/* Calls for every admitted element width, narrowest first: 0 ends them. */
static uint32_t element_width(const qp_fabric_params *params, uint32_t above)
{
    uint32_t found = 0;

    for (int i = 0; i < QP_FABRIC_WIDTHS + QP_FABRIC_FORMATS; i++) {
        const int format = i - QP_FABRIC_WIDTHS;
        const bool listed =
            format < 0 ? (params->integers >> i & 1) != 0 : (params->formats >> format & 1) != 0;
        const uint32_t width = format < 0 ? qp_fabric_width_of(i) : qp_fabric_formats[format].bits;
        if (listed && width > above && (found == 0 || width < found))
            found = width;
    }
    return found;
}

static uint32_t narrowest_element(const qp_fabric_params *params)
{
    return element_width(params, 0);
}

/* Whether some admitted element width divides `bits`. */
static bool is_whole(const qp_fabric_params *params, uint64_t bits)
{
    for (uint32_t width = narrowest_element(params); width != 0;
         width = element_width(params, width))
        if (bits % width == 0)
            return true;
    return false;
}

/* ---- fields ------------------------------------------------------------------------------- */

/* Fields as they are laid out. `fields` has room for all; zero-bit ones are left out. */
typedef struct field_list {
    qp_arena *arena;
    qp_fabric_field *fields;
    size_t count;
    uint64_t bits;
    bool failed;
} field_list;

static void add_field(field_list *list, const char *name, uint64_t width)
{
    if (width == 0)
        return;
    list->fields[list->count++] = (qp_fabric_field){name, list->bits, width};
    list->bits += width;
}

/* `count` fields NAME[0], NAME[1], .. of one width. */
static void add_fields(field_list *list, const char *name, uint64_t count, uint64_t width)
{
    const size_t room = strlen(name) + 24;

    for (uint64_t i = 0; i < count && width > 0 && !list->failed; i++) {
        char *text = qp_arena_allocate(list->arena, room, 1);
        list->failed = text == NULL;
        if (text == NULL)
            return;
        snprintf(text, room, "%s[%" PRIu64 "]", name, i);
        add_field(list, text, width);
    }
}

/* What the three families differ in. */
typedef struct carrier_row {
    uint64_t (*bits)(const qp_fabric_node *node, uint64_t *fields);
    void (*lay)(const qp_fabric_node *node, field_list *list);
    bool (*accepts)(const qp_fabric_node *node, const uint8_t *bytes);
    void (*put_inactive)(const qp_fabric_node *node, uint32_t member, bit_cursor *cursor);
    void (*put)(const qp_fabric_node *node, const qp_fabric_signature *s, bit_cursor *cursor);
} carrier_row;

/* ---- constants ---------------------------------------------------------------------------- */

static uint64_t constant_bits(const qp_fabric_node *node, uint64_t *fields)
{
    *fields = 1;
    return least(node->params.max_payload_bits, node->out[0].bits);
}

static void constant_lay(const qp_fabric_node *node, field_list *list)
{
    uint64_t fields;
    add_field(list, "value", constant_bits(node, &fields));
}

static bool constant_accepts(const qp_fabric_node *node, const uint8_t *bytes)
{
    (void)node;
    (void)bytes;
    return true;
}

static void constant_put_inactive(const qp_fabric_node *node, uint32_t member, bit_cursor *cursor)
{
    (void)node;
    (void)member;
    (void)cursor;
}

static void constant_put(const qp_fabric_node *node, const qp_fabric_signature *s,
                         bit_cursor *cursor)
{
    uint64_t bits = 0, fields;

    (void)qp_fabric_payload_bits(&s->results[0], s->index_width, &bits); /* admitted: it fits */
    bits = least(bits, constant_bits(node, &fields));
    for (uint64_t i = 0; i < bits; i += 64)
        put_bits(cursor, s->semantics->payload[i / 64], (uint32_t)least(64, bits - i));
}

/* ---- slices ------------------------------------------------------------------------------- */

enum { EXTRACT = 0, INSERT = 1 }; /* members of the family, and values of the mode */

static bool has_mode(const qp_fabric_node *node)
{
    return node->enabled == (UINT32_C(1) << EXTRACT | UINT32_C(1) << INSERT);
}

/* Widths of the fields. */
typedef struct slice_widths {
    uint32_t mode, offset, slice, stride;
    uint64_t rank;
} slice_widths;

static slice_widths slice_widths_of(const qp_fabric_node *node)
{
    const qp_fabric_params *p = &node->params;

    return (slice_widths){
        .mode = has_mode(node) ? 1 : 0,
        .offset = qp_fabric_cardinality_bits(p->max_container_payload_bits),
        .slice = qp_fabric_cardinality_bits(p->max_slice_payload_bits),
        .stride = qp_fabric_inclusive_bits(p->max_container_payload_bits),
        .rank = p->max_dynamic_position_rank,
    };
}

static uint64_t slice_bits(const qp_fabric_node *node, uint64_t *fields)
{
    const slice_widths w = slice_widths_of(node);

    *fields = 3 + w.rank; /* the ports have been counted, so the rank is below 2^32 */
    return w.mode + w.offset + w.slice + w.rank * w.stride;
}

static void slice_lay(const qp_fabric_node *node, field_list *list)
{
    const slice_widths w = slice_widths_of(node);

    add_field(list, "mode", w.mode);
    add_field(list, "static_offset_bits", w.offset);
    add_field(list, "slice_width_minus_one", w.slice);
    add_fields(list, "dynamic_stride_bits", w.rank, w.stride);
}

/* The strides of a value: how many, the first and the last of them. */
typedef struct slice_strides {
    uint64_t count, first, last;
} slice_strides;

/* Positive ones each dividing the one before, the last a multiple of the slice; then zeros. */
static bool get_strides(const slice_widths *w, uint64_t slice, bit_cursor *cursor,
                        slice_strides *strides)
{
    bool ended = false;

    *strides = (slice_strides){0, slice, slice};
    for (uint64_t i = 0; i < w->rank; i++) {
        const uint64_t stride = get_bits(cursor, w->stride);
        if (stride == 0) {
            ended = true;
            continue;
        }
        if (ended || (i > 0 && strides->last % stride != 0))
            return false;
        if (i == 0)
            strides->first = stride;
        strides->last = stride;
        strides->count++;
    }
    return strides->last % slice == 0;
}

/* The inputs of the used strides fit one resolved index width. */
static bool index_fits(const qp_fabric_node *node, uint64_t count)
{
    uint32_t narrowest = UINT32_MAX;

    for (uint64_t i = 0; i < count; i++)
        narrowest = (uint32_t)least(narrowest, node->in[2 + i].bits);
    for (int i = 0; i < QP_FABRIC_INDEX_WIDTHS; i++)
        if ((node->params.index_widths >> i & 1) != 0 && qp_fabric_index_of(i) <= narrowest)
            return true;
    return count == 0;
}

/* Container and slice against the record and the ports of a mode. */
static bool slice_fits(const qp_fabric_node *node, uint64_t mode, uint64_t container,
                       uint64_t slice)
{
    const qp_fabric_params *p = &node->params;
    uint64_t most_container = least(p->max_container_payload_bits, node->in[mode].bits);
    uint64_t most_slice = p->max_slice_payload_bits;

    if (mode == INSERT) {
        most_container = least(most_container, node->out[0].bits);
        most_slice = least(most_slice, node->in[0].bits);
    } else {
        most_slice = least(most_slice, node->out[0].bits);
    }
    return container <= most_container && slice <= most_slice;
}

static bool slice_accepts(const qp_fabric_node *node, const uint8_t *bytes)
{
    const slice_widths w = slice_widths_of(node);
    bit_cursor cursor = {.read = bytes};
    uint64_t mode = get_bits(&cursor, w.mode);
    const uint64_t offset = get_bits(&cursor, w.offset);
    uint64_t slice = get_bits(&cursor, w.slice);
    slice_strides strides;
    uint64_t container;

    if (w.mode == 0)
        mode = node->enabled == UINT32_C(1) << INSERT ? INSERT : EXTRACT;
    if (!qp_add_u64(slice, 1, &slice) || !is_whole(&node->params, slice) || offset % slice != 0 ||
        !get_strides(&w, slice, &cursor, &strides))
        return false;
    return qp_mul_u64(offset / strides.first + 1, strides.first, &container) &&
           slice_fits(node, mode, container, slice) && index_fits(node, strides.count);
}

static void slice_put_inactive(const qp_fabric_node *node, uint32_t member, bit_cursor *cursor)
{
    const slice_widths w = slice_widths_of(node);

    put_bits(cursor, member, w.mode);
    put_bits(cursor, 0, w.offset);
    put_bits(cursor, narrowest_element(&node->params) - 1, w.slice);
}

/* Bits of one step along dimension `d`. */
static uint64_t step_bits(const qp_fabric_type *vector, uint64_t d, uint32_t element)
{
    uint64_t bits = element;
    for (uint64_t i = d + 1; i < vector->rank; i++)
        bits *= vector->dims[i]; /* within the payload */
    return bits;
}

static void slice_put(const qp_fabric_node *node, const qp_fabric_signature *s, bit_cursor *cursor)
{
    const slice_widths w = slice_widths_of(node);
    const bool insert = s->schema->type_rule == qp_fabric_types_insert;
    const qp_fabric_type *container = &s->operands[insert ? 1 : 0];
    const uint32_t element = qp_fabric_element_bits(container, s->index_width);
    const qp_fabric_semantics *position = s->semantics;
    uint64_t offset = 0, slice = step_bits(container, 0, element) * container->dims[0];

    for (size_t d = 0; d < position->entry_count; d++) {
        slice = step_bits(container, d, element);
        if (position->entries[d] != QP_FABRIC_DYNAMIC)
            offset += (uint64_t)position->entries[d] * slice;
    }
    put_bits(cursor, insert ? INSERT : EXTRACT, w.mode);
    put_bits(cursor, offset, w.offset);
    put_bits(cursor, slice - 1, w.slice);
    for (size_t d = 0; d < position->entry_count; d++)
        if (position->entries[d] == QP_FABRIC_DYNAMIC)
            put_bits(cursor, step_bits(container, d, element), w.stride);
}

/* ---- shuffles ----------------------------------------------------------------------------- */

typedef struct shuffle_widths {
    uint32_t block, left, result, selector;
    uint64_t selectors;
} shuffle_widths;

static shuffle_widths shuffle_widths_of(const qp_fabric_node *node)
{
    const qp_fabric_params *p = &node->params;

    return (shuffle_widths){
        .block = qp_fabric_cardinality_bits(p->max_block_payload_bits),
        .left = qp_fabric_cardinality_bits(p->max_source_blocks),
        .result = qp_fabric_cardinality_bits(p->max_result_blocks),
        .selector = qp_fabric_cardinality_bits(p->max_source_blocks),
        .selectors = p->max_result_blocks,
    };
}

static uint64_t shuffle_bits(const qp_fabric_node *node, uint64_t *fields)
{
    const shuffle_widths w = shuffle_widths_of(node);
    uint64_t bits;

    if (!qp_add_u64(3, w.selectors, fields) || !qp_mul_u64(w.selectors, w.selector, &bits) ||
        !qp_add_u64(bits, (uint64_t)w.block + w.left + w.result, &bits))
        *fields = bits = UINT64_MAX;
    return bits;
}

static void shuffle_lay(const qp_fabric_node *node, field_list *list)
{
    const shuffle_widths w = shuffle_widths_of(node);

    add_field(list, "block_width_minus_one", w.block);
    add_field(list, "left_block_count_minus_one", w.left);
    add_field(list, "result_block_count_minus_one", w.result);
    add_fields(list, "selectors", w.selectors, w.selector);
}

/* One side of a shuffle: `count` blocks against a maximum of the record and a port. */
static bool blocks_fit(uint64_t count, uint64_t block, uint64_t most, uint32_t port)
{
    uint64_t bits;
    return qp_mul_u64(count, block, &bits) && bits <= most && bits <= port;
}

/* The selectors; *largest receives the largest of the `used` first ones. */
static bool get_selectors(const qp_fabric_node *node, const shuffle_widths *w, uint64_t used,
                          bit_cursor *cursor, uint64_t *largest)
{
    *largest = 0;
    for (uint64_t i = 0; i < w->selectors; i++) {
        const uint64_t selector = get_bits(cursor, w->selector);
        if (i >= used ? selector != 0 : selector >= node->params.max_source_blocks)
            return false;
        if (selector > *largest)
            *largest = selector;
    }
    return true;
}

static bool shuffle_accepts(const qp_fabric_node *node, const uint8_t *bytes)
{
    const qp_fabric_params *p = &node->params;
    const shuffle_widths w = shuffle_widths_of(node);
    bit_cursor cursor = {.read = bytes};
    uint64_t block = get_bits(&cursor, w.block);
    uint64_t left = get_bits(&cursor, w.left);
    uint64_t result = get_bits(&cursor, w.result);
    uint64_t largest, sources;

    if (!qp_add_u64(block, 1, &block) || !qp_add_u64(left, 1, &left) ||
        !qp_add_u64(result, 1, &result) || result > p->max_result_blocks ||
        !get_selectors(node, &w, result, &cursor, &largest) || left >= p->max_source_blocks)
        return false;
    sources = (largest > left ? largest : left) + 1; /* at most max_source_blocks */
    return block <= p->max_block_payload_bits && is_whole(p, block) &&
           blocks_fit(left, block, p->max_operand_payload_bits, node->in[0].bits) &&
           blocks_fit(sources - left, block, p->max_operand_payload_bits, node->in[1].bits) &&
           blocks_fit(result, block, p->max_result_payload_bits, node->out[0].bits);
}

static void shuffle_put_inactive(const qp_fabric_node *node, uint32_t member, bit_cursor *cursor)
{
    (void)member;
    put_bits(cursor, narrowest_element(&node->params) - 1, shuffle_widths_of(node).block);
}

static void shuffle_put(const qp_fabric_node *node, const qp_fabric_signature *s,
                        bit_cursor *cursor)
{
    const shuffle_widths w = shuffle_widths_of(node);
    const qp_fabric_type *a = &s->operands[0];
    const qp_fabric_semantics *mask = s->semantics;

    put_bits(cursor, step_bits(a, 0, qp_fabric_element_bits(a, s->index_width)) - 1, w.block);
    put_bits(cursor, a->dims[0] - 1, w.left);
    put_bits(cursor, mask->entry_count - 1, w.result);
    for (size_t i = 0; i < mask->entry_count; i++)
        put_bits(cursor,
                 mask->entries[i] == QP_FABRIC_POISON_BLOCK ? 0 : (uint64_t)mask->entries[i],
                 w.selector);
}

/* ---- the relation ------------------------------------------------------------------------- */

static const carrier_row constant_row = {constant_bits, constant_lay, constant_accepts,
                                         constant_put_inactive, constant_put};
static const carrier_row slice_row = {slice_bits, slice_lay, slice_accepts, slice_put_inactive,
                                      slice_put};
static const carrier_row shuffle_row = {shuffle_bits, shuffle_lay, shuffle_accepts,
                                        shuffle_put_inactive, shuffle_put};

static const carrier_row *row_of(const qp_fabric_node *node)
{
    static const struct {
        qp_fabric_params_kind params;
        const carrier_row *row;
    } rows[] = {{QP_FABRIC_PARAMS_PAYLOAD_CAPACITY, &constant_row},
                {QP_FABRIC_PARAMS_SLICE_ALIGN_MERGE, &slice_row},
                {QP_FABRIC_PARAMS_SHUFFLE, &shuffle_row}};
    size_t i = 0;

    while (rows[i].params != node->family->params)
        i++;
    return rows[i].row;
}

static size_t byte_count(uint64_t bits)
{
    return (size_t)((bits + 7) / 8);
}

/* The value of a schema's smallest slice, block or constant; NULL without memory. */
static uint8_t *smallest_value(const qp_fabric_node *node, uint32_t member, uint64_t bits,
                               qp_arena *arena)
{
    uint8_t *bytes = qp_arena_allocate(arena, byte_count(bits), 1);
    bit_cursor cursor = {.write = bytes};

    if (bytes != NULL)
        row_of(node)->put_inactive(node, member, &cursor);
    return bytes;
}

/* The smallest value of every enabled schema must be in the domain, or no actor of it is; that of
 * the first is the inactive value. */
static qp_status set_inactive(const qp_fabric_node *node, qp_arena *arena,
                              qp_fabric_capability *capability, qp_fabric_error *error)
{
    const uint64_t bits = capability->relation.carrier_bits;

    for (uint32_t member = 0; member < node->family->member_count; member++) {
        if ((node->enabled >> member & 1) == 0)
            continue;
        const uint8_t *bytes = smallest_value(node, member, bits, arena);
        if (bytes == NULL)
            return qp_fabric_fail_memory(error, "an inactive value");
        if (!row_of(node)->accepts(node, bytes))
            return qp_fabric_fail(error, QP_FABRIC_INVALID, node->place,
                                  "no actor of %s can use the operation by its record and ports",
                                  qp_fabric_schemas[node->family->members[member].schema].name);
        if (capability->inactive.bytes == NULL)
            capability->inactive = (qp_fabric_semantic_value){bytes, byte_count(bits)};
    }
    return QP_OK;
}

static qp_status lay_fields(const qp_fabric_node *node, uint64_t count, qp_arena *arena,
                            qp_fabric_relation *relation, qp_fabric_error *error)
{
    field_list list = {.arena = arena,
                       .fields = qp_arena_allocate(arena, (size_t)count, sizeof(qp_fabric_field))};

    if (list.fields != NULL)
        row_of(node)->lay(node, &list);
    if (list.fields == NULL || list.failed)
        return qp_fabric_fail_memory(error, "the fields of a carrier");
    relation->kind = QP_FABRIC_RELATION_DIRECT;
    relation->carrier_bits = list.bits;
    relation->field_count = list.count;
    relation->fields = list.fields;
    return QP_OK;
}

/* A carrier of zero bits is None; its one value must be in the domain all the same. */
qp_status qp_fabric_seal_carrier(const qp_fabric_node *node, qp_arena *arena,
                                 qp_fabric_capability *capability, qp_fabric_error *error)
{
    uint64_t fields;
    const uint64_t bits = row_of(node)->bits(node, &fields);

    if (bits > QP_FABRIC_CARRIER_BITS_MAX || fields > QP_FABRIC_KEYS_MAX)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, node->place,
                              "the carrier has more than %lu bits or %lu fields, the most that are "
                              "supported",
                              (unsigned long)QP_FABRIC_CARRIER_BITS_MAX,
                              (unsigned long)QP_FABRIC_KEYS_MAX);
    if (bits == 0 && row_of(node) == &constant_row)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, node->place,
                              "a constant needs a result port of at least one bit");
    qp_status status = lay_fields(node, fields, arena, &capability->relation, error);
    if (status == QP_OK)
        status = set_inactive(node, arena, capability, error);
    if (status == QP_OK && bits == 0) {
        capability->relation = (qp_fabric_relation){.kind = QP_FABRIC_RELATION_NONE};
        capability->inactive = (qp_fabric_semantic_value){NULL, 0};
    }
    return status;
}

qp_status qp_fabric_project_carrier(const qp_fabric_capability *capability,
                                    const qp_fabric_signature *signature, qp_arena *arena,
                                    qp_fabric_semantic_value *value, qp_fabric_error *error)
{
    const size_t size = byte_count(capability->relation.carrier_bits);
    uint8_t *bytes = qp_arena_allocate(arena, size, 1);
    bit_cursor cursor = {.write = bytes};

    if (bytes == NULL)
        return qp_fabric_fail_memory(error, "a carrier's value");
    row_of(capability->node)->put(capability->node, signature, &cursor);
    *value = (qp_fabric_semantic_value){bytes, size};
    return QP_OK;
}

qp_status qp_fabric_check_carrier(const qp_fabric_capability *capability,
                                  qp_fabric_semantic_value value, qp_fabric_error *error)
{
    const uint64_t bits = capability->relation.carrier_bits;
    const size_t size = byte_count(bits);

    if (value.size != size)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                              "a value of %" PRIu64 " bits has %zu bytes, not %zu", bits, size,
                              value.size);
    if (bits % 8 != 0 && value.bytes[size - 1] >> (bits % 8) != 0)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                              "the spare bits above bit %" PRIu64 " are not zero", bits - 1);
    if (!row_of(capability->node)->accepts(capability->node, value.bytes))
        return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                              "no admitted actor has this value");
    return QP_OK;
}
