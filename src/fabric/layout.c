/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - the default layout (section 11): every slot's encoding and its place in the payload;
 * payloads made from projections, and read back.
 */
#include "fabric/configuration.h"

/* Bounds of ours against hostile fabrics: of the payload, of all that the codebooks of all slots
 * spell out, and of the fields of all slots. */
#define PAYLOAD_BITS_MAX (UINT64_C(1) << 28)
#define ENTRY_BYTES_MAX (UINT64_C(1) << 26)
#define FIELDS_MAX (UINT64_C(1) << 22)

/* ---- rows --------------------------------------------------------------------------------- */

/* The rows of one unit's own slot and of its ops, which all occurrences and contexts share. */
typedef struct unit_rows {
    bool made;
    qp_fabric_layout_row unit;
    qp_fabric_layout_row *nodes; /* [node] */
} unit_rows;

/* max(1, ceil(log2 count)) */
static uint64_t code_bits(size_t count)
{
    const uint32_t bits = qp_fabric_cardinality_bits(count);
    return bits > 0 ? bits : 1;
}

/* Disabled, template 0, 1, .. */
static qp_status make_unit_row(const qp_fabric_sealed *sealed, uint32_t number, qp_arena *arena,
                               qp_fabric_layout_row *row, qp_fabric_error *error)
{
    const qp_fabric_fu *fu = &sealed->fabric->fus[number];
    const size_t count = (size_t)sealed->inventories[number].count + 1;
    qp_fabric_semantic_value *entries = qp_arena_allocate(arena, count, sizeof *entries);
    qp_status status = QP_OK;

    if (entries == NULL)
        return qp_fabric_fail_memory(error, "a codebook");
    for (size_t i = 0; i < count && status == QP_OK; i++)
        status = qp_fabric_unit_value(fu, i == 0 ? QP_FABRIC_DISABLED : i - 1, arena, &entries[i],
                                      error);
    *row = (qp_fabric_layout_row){.width = code_bits(count),
                                  .entry_count = count,
                                  .entries = entries,
                                  .inactive = entries[0]};
    return status;
}

static qp_status make_node_row(const qp_fabric_capability *capability, qp_arena *arena,
                               qp_fabric_layout_row *row, qp_fabric_error *error)
{
    const qp_fabric_relation *relation = &capability->relation;
    qp_fabric_semantic_value *entries =
        qp_arena_allocate(arena, relation->key_count, sizeof *entries);

    if (entries == NULL)
        return qp_fabric_fail_memory(error, "a codebook");
    for (size_t i = 0; i < relation->key_count; i++)
        entries[i] = (qp_fabric_semantic_value){relation->keys[i].bytes, relation->keys[i].size};
    const bool direct = relation->kind == QP_FABRIC_RELATION_DIRECT;
    *row = (qp_fabric_layout_row){.width = direct ? relation->carrier_bits
                                                  : code_bits(relation->key_count),
                                  .entry_count = relation->key_count,
                                  .entries = entries,
                                  .inactive = capability->inactive};
    return QP_OK;
}

static qp_status make_unit_rows(const qp_fabric_sealed *sealed, uint32_t fu, qp_arena *arena,
                                unit_rows *rows, qp_fabric_error *error)
{
    const uint32_t count = sealed->fabric->fus[fu].n_nodes;

    if (rows->made)
        return QP_OK;
    rows->made = true;
    rows->nodes = qp_arena_allocate(arena, count, sizeof *rows->nodes);
    if (rows->nodes == NULL)
        return qp_fabric_fail_memory(error, "the layout of a unit");
    qp_status status = make_unit_row(sealed, fu, arena, &rows->unit, error);
    for (uint32_t i = 0; i < count && status == QP_OK; i++)
        if (sealed->fabric->fus[fu].nodes[i].kind == QP_FABRIC_NODE_OP)
            status = make_node_row(&sealed->capabilities[fu][i], arena, &rows->nodes[i], error);
    return status;
}

/* ---- places ------------------------------------------------------------------------------- */

/* What all slots together hold. */
typedef struct totals {
    uint64_t bits, entry_bytes, fields;
} totals;

static const qp_fabric_relation *slot_relation(const qp_fabric_sealed *sealed,
                                               const qp_fabric_slot *slot)
{
    const uint32_t fu = sealed->fabric->occurrences[slot->occurrence].fu;
    return slot->node != QP_FABRIC_NO_INDEX ? &sealed->capabilities[fu][slot->node].relation : NULL;
}

/* A row's place behind those before it. */
static void place_row(const qp_fabric_sealed *sealed, const qp_fabric_slot *slot,
                      qp_fabric_layout_row *row, totals *sum)
{
    const qp_fabric_relation *relation = slot_relation(sealed, slot);

    row->offset = sum->bits;
    sum->bits += row->width;
    for (size_t i = 0; i < row->entry_count; i++)
        sum->entry_bytes += row->entries[i].size;
    sum->entry_bytes += row->inactive.size;
    sum->fields += relation != NULL ? relation->field_count : 1;
}

static qp_status place_rows(qp_fabric_layout *layout, unit_rows *units, qp_arena *arena,
                            qp_fabric_error *error)
{
    const qp_fabric_sealed *sealed = layout->sealed;
    qp_fabric_layout_row *rows = qp_arena_allocate(arena, layout->slots.count, sizeof *rows);
    totals sum = {0, 0, 0};

    if (rows == NULL)
        return qp_fabric_fail_memory(error, "the layout of a fabric");
    for (size_t i = 0; i < layout->slots.count; i++) {
        const qp_fabric_slot *slot = &layout->slots.slots[i];
        const uint32_t fu = sealed->fabric->occurrences[slot->occurrence].fu;
        qp_status status = make_unit_rows(sealed, fu, arena, &units[fu], error);
        if (status != QP_OK)
            return status;
        rows[i] = slot->node == QP_FABRIC_NO_INDEX ? units[fu].unit : units[fu].nodes[slot->node];
        place_row(sealed, slot, &rows[i], &sum);
        if (sum.bits > PAYLOAD_BITS_MAX || sum.entry_bytes > ENTRY_BYTES_MAX ||
            sum.fields > FIELDS_MAX)
            return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, sealed->fabric->place,
                                  "the configuration of the fabric would be too large");
    }
    layout->rows = rows;
    layout->payload_bits = sum.bits;
    return QP_OK;
}

qp_status qp_fabric_layout_of(const qp_fabric_sealed *sealed, qp_arena *arena,
                              qp_fabric_layout *layout, qp_fabric_error *error)
{
    unit_rows *units = qp_arena_allocate(arena, sealed->fabric->n_fus, sizeof *units);

    *layout = (qp_fabric_layout){.sealed = sealed};
    if (units == NULL)
        return qp_fabric_fail_memory(error, "the layout of a fabric");
    qp_status status = qp_fabric_slots_of(sealed, arena, &layout->slots, error);
    return status == QP_OK ? place_rows(layout, units, arena, error) : status;
}

/* ---- payloads ----------------------------------------------------------------------------- */

static bool get_bit(const uint8_t *bytes, uint64_t bit)
{
    return (bytes[bit / 8] >> (bit % 8) & 1) != 0;
}

/* Sets `count` bits from `to_bit` on, which are zero, to those from `from_bit` on. */
static void copy_bits(uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (get_bit(from, from_bit + i))
            to[(to_bit + i) / 8] |= (uint8_t)(1u << ((to_bit + i) % 8));
}

uint64_t qp_fabric_code_of(const qp_fabric_layout_row *row, qp_fabric_semantic_value value)
{
    size_t low = 0, high = row->entry_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (qp_fabric_compare_bytes(row->entries[middle].bytes, row->entries[middle].size,
                                    value.bytes, value.size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

qp_fabric_semantic_value qp_fabric_slot_value(const qp_fabric_layout *layout,
                                              const qp_fabric_projection *projection, size_t slot)
{
    const bool selected = projection != NULL && projection->values[slot].bytes != NULL;
    return selected ? projection->values[slot] : layout->rows[slot].inactive;
}

qp_status qp_fabric_encode_payload(const qp_fabric_layout *layout,
                                   const qp_fabric_projection *projection, qp_arena *arena,
                                   uint8_t **payload, size_t *size, qp_fabric_error *error)
{
    *size = (size_t)((layout->payload_bits + 7) / 8);
    *payload = qp_arena_allocate(arena, *size, 1);
    if (*payload == NULL)
        return qp_fabric_fail_memory(error, "a payload");
    for (size_t i = 0; i < layout->slots.count; i++) {
        const qp_fabric_layout_row *row = &layout->rows[i];
        const qp_fabric_semantic_value value = qp_fabric_slot_value(layout, projection, i);
        if (row->entry_count == 0) {
            copy_bits(*payload, row->offset, value.bytes, 0, row->width);
            continue;
        }
        uint8_t code[8];
        const uint64_t number = qp_fabric_code_of(row, value);
        for (unsigned k = 0; k < 8; k++)
            code[k] = (uint8_t)(number >> (8 * k));
        copy_bits(*payload, row->offset, code, 0, row->width);
    }
    return QP_OK;
}

static qp_status slot_fails(const qp_fabric_layout *layout, size_t slot, const char *what,
                            qp_fabric_error *error)
{
    return qp_fabric_fail(
        error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE, "payload bits %llu to %llu: %s",
        (unsigned long long)layout->rows[slot].offset,
        (unsigned long long)(layout->rows[slot].offset + layout->rows[slot].width - 1), what);
}

/* The value that stands in the payload. */
static qp_status decode_slot(const qp_fabric_layout *layout, const uint8_t *payload, size_t slot,
                             qp_arena *arena, qp_fabric_semantic_value *value,
                             qp_fabric_error *error)
{
    const qp_fabric_layout_row *row = &layout->rows[slot];
    const qp_fabric_slot *s = &layout->slots.slots[slot];
    const uint32_t fu = layout->sealed->fabric->occurrences[s->occurrence].fu;
    const size_t size = (size_t)((row->width + 7) / 8);

    if (row->entry_count > 0) {
        uint64_t code = 0;
        for (uint64_t k = 0; k < row->width; k++)
            code |= (uint64_t)get_bit(payload, row->offset + k) << k;
        if (code >= row->entry_count)
            return slot_fails(layout, slot, "a code without an entry", error);
        *value = row->entries[code];
        return QP_OK;
    }
    uint8_t *bytes = qp_arena_allocate(arena, size, 1);
    if (bytes == NULL)
        return qp_fabric_fail_memory(error, "the values of the configuration slots");
    copy_bits(bytes, 0, payload, row->offset, row->width);
    *value = (qp_fabric_semantic_value){bytes, size};
    if (qp_fabric_check_value(&layout->sealed->capabilities[fu][s->node], *value, NULL) == QP_OK)
        return QP_OK;
    return slot_fails(layout, slot, "no value of the operation's domain", error);
}

/* Whether a slot's unit, in its context, has a template in which the slot's node is active: then,
 * and only then, a map gave the slot its value. */
static bool is_selected(const qp_fabric_layout *layout, const qp_fabric_semantic_value *values,
                        size_t slot)
{
    const qp_fabric_slot *s = &layout->slots.slots[slot];
    const uint32_t fu = layout->sealed->fabric->occurrences[s->occurrence].fu;
    const size_t unit =
        qp_fabric_find_slot(&layout->slots, s->occurrence, s->context, QP_FABRIC_NO_INDEX);
    const uint64_t code = qp_fabric_code_of(&layout->rows[unit], values[unit]);

    if (code == 0 || s->node == QP_FABRIC_NO_INDEX)
        return code != 0;
    return qp_fabric_has_node(&layout->sealed->inventories[fu].templates[code - 1], s->node);
}

/* What no map selects must be inactive, and then has no value in the projection. */
static qp_status clear_inactive(const qp_fabric_layout *layout, qp_fabric_semantic_value *values,
                                qp_fabric_error *error)
{
    for (size_t i = layout->slots.count; i-- > 0;) { /* units last: the others look at them */
        const qp_fabric_semantic_value inactive = layout->rows[i].inactive;
        if (is_selected(layout, values, i))
            continue;
        if (qp_fabric_compare_bytes(values[i].bytes, values[i].size, inactive.bytes,
                                    inactive.size) != 0)
            return slot_fails(layout, i, "an operation that is not used is not inactive", error);
        values[i] = (qp_fabric_semantic_value){NULL, 0};
    }
    return QP_OK;
}

qp_status qp_fabric_decode_payload(const qp_fabric_layout *layout, const uint8_t *payload,
                                   size_t size, qp_arena *arena, qp_fabric_projection *projection,
                                   qp_fabric_error *error)
{
    qp_fabric_semantic_value *values =
        qp_arena_allocate(arena, layout->slots.count, sizeof *values);
    qp_status status = QP_OK;

    projection->values = values;
    if (values == NULL)
        return qp_fabric_fail_memory(error, "the values of the configuration slots");
    if (size != (layout->payload_bits + 7) / 8)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                              "the payload has %zu bytes, and the fabric %llu bits", size,
                              (unsigned long long)layout->payload_bits);
    for (uint64_t bit = layout->payload_bits; bit < 8 * (uint64_t)size; bit++)
        if (get_bit(payload, bit))
            return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                                  "a bit above the payload is not zero");
    for (size_t i = 0; i < layout->slots.count && status == QP_OK; i++)
        status = decode_slot(layout, payload, i, arena, &values[i], error);
    return status == QP_OK ? clear_inactive(layout, values, error) : status;
}
