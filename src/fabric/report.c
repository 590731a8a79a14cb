/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - the JSON of `quipu fabric configure --json` (section 11).
 */
#include "fabric/configuration.h"

/* One field of one slot: where its bits are in the slot's encoding. */
typedef struct report_field {
    const char *name;
    uint64_t offset, width;
} report_field;

/* Bits of packed bytes as hex, most significant digit first. */
static void put_digits(qp_buffer *buffer, const uint8_t *bytes, uint64_t offset, uint64_t width)
{
    static const char digits[] = "0123456789abcdef";

    for (uint64_t k = (width + 3) / 4; k-- > 0;) {
        unsigned digit = 0;
        for (unsigned i = 0; i < 4 && 4 * k + i < width; i++) {
            const uint64_t bit = offset + 4 * k + i;
            digit |= (bytes[bit / 8] >> (bit % 8) & 1u) << i;
        }
        qp_buffer_append(buffer, &digits[digit], 1);
    }
}

/* `row_offset` is where the slot begins in the payload. */
static void put_field(qp_buffer *buffer, const report_field *field, uint64_t row_offset,
                      const uint8_t *payload)
{
    qp_buffer_format(buffer, "{\"name\":\"%s\",\"bit_offset\":", field->name);
    qp_buffer_u64_decimal(buffer, row_offset + field->offset);
    qp_buffer_text(buffer, ",\"bit_width\":");
    qp_buffer_u64_decimal(buffer, field->width);
    qp_buffer_text(buffer, ",\"value\":\"");
    put_digits(buffer, payload, row_offset + field->offset, field->width);
    qp_buffer_text(buffer, "\"}");
}

static void put_fields(qp_buffer *buffer, const qp_fabric_layout *layout, size_t number,
                       const uint8_t *payload)
{
    const qp_fabric_layout_row *row = &layout->rows[number];
    const qp_fabric_slot *slot = &layout->slots.slots[number];
    const uint32_t fu = layout->sealed->fabric->occurrences[slot->occurrence].fu;

    if (row->entry_count > 0) {
        const bool unit = slot->node == QP_FABRIC_NO_INDEX;
        const report_field field = {unit ? "template" : "behavior", 0, row->width};
        put_field(buffer, &field, row->offset, payload);
        return;
    }
    const qp_fabric_relation *relation = &layout->sealed->capabilities[fu][slot->node].relation;
    for (size_t i = 0; i < relation->field_count; i++) {
        const qp_fabric_field *f = &relation->fields[i];
        const report_field field = {f->name, f->offset, f->width};
        if (i > 0)
            qp_buffer_text(buffer, ",");
        put_field(buffer, &field, row->offset, payload);
    }
}

static void put_owner(qp_buffer *buffer, const qp_fabric_layout *layout, const qp_fabric_slot *slot)
{
    const qp_fabric_sealed *sealed = layout->sealed;
    const qp_fabric_occurrence *o = &sealed->fabric->occurrences[slot->occurrence];

    qp_buffer_text(buffer, qp_fabric_name_text(sealed->model, o->name));
    if (slot->node == QP_FABRIC_NO_INDEX)
        return;
    const qp_fabric_node *node = &sealed->fabric->fus[o->fu].nodes[slot->node];
    qp_buffer_text(buffer, ".");
    qp_buffer_text(buffer, qp_fabric_name_text(sealed->model, node->name));
}

static void put_slot(qp_buffer *buffer, const qp_fabric_layout *layout,
                     const qp_fabric_projection *projection, size_t number, const uint8_t *payload)
{
    const qp_fabric_slot *slot = &layout->slots.slots[number];
    const qp_fabric_semantic_value value = qp_fabric_slot_value(layout, projection, number);
    const bool selected = projection != NULL && projection->values[number].bytes != NULL;

    qp_buffer_text(buffer, "{\"slot\":\"");
    qp_buffer_hex(buffer, slot->bytes, slot->size);
    qp_buffer_text(buffer, "\",\"owner\":\"");
    put_owner(buffer, layout, slot);
    qp_buffer_text(buffer, "\",\"context\":");
    qp_buffer_u64_decimal(buffer, slot->context);
    qp_buffer_text(buffer, selected ? ",\"selected\":true" : ",\"selected\":false");
    qp_buffer_text(buffer, ",\"value\":\"");
    qp_buffer_hex(buffer, value.bytes, value.size);
    qp_buffer_text(buffer, "\",\"fields\":[");
    put_fields(buffer, layout, number, payload);
    qp_buffer_text(buffer, "]}");
}

static void put_report(qp_buffer *buffer, const qp_fabric_layout *layout,
                       const qp_fabric_projection *projection, const char *map,
                       const uint8_t *payload)
{
    const qp_fabric_sealed *sealed = layout->sealed;

    qp_buffer_text(buffer, "{\"fabric\":\"");
    qp_buffer_text(buffer, qp_fabric_name_text(sealed->model, sealed->fabric->name));
    qp_buffer_text(buffer, map != NULL ? "\",\"map\":\"" : "\",\"map\":null");
    if (map != NULL) {
        qp_buffer_text(buffer, map);
        qp_buffer_text(buffer, "\"");
    }
    qp_buffer_text(buffer, ",\"programming_units\":[{\"unit_id\":\"" QP_FABRIC_UNIT_ID
                           "\",\"payload_bit_count\":");
    qp_buffer_u64_decimal(buffer, layout->payload_bits);
    qp_buffer_text(buffer, ",\"payload\":\"");
    qp_buffer_hex(buffer, payload, (size_t)((layout->payload_bits + 7) / 8));
    qp_buffer_text(buffer, "\",\"slots\":[");
    for (size_t i = 0; i < layout->slots.count && !buffer->failed; i++) {
        if (i > 0)
            qp_buffer_text(buffer, ",");
        put_slot(buffer, layout, projection, i, payload);
    }
    qp_buffer_text(buffer, "]}]}");
}

qp_status qp_fabric_put_report(qp_buffer *buffer, const qp_fabric_layout *layout,
                               const qp_fabric_projection *projection, const char *map,
                               qp_fabric_error *error)
{
    uint8_t *payload;
    size_t size;
    qp_arena arena;

    qp_arena_init(&arena, &buffer->allocator);
    qp_status status = qp_fabric_encode_payload(layout, projection, &arena, &payload, &size, error);
    if (status == QP_OK)
        put_report(buffer, layout, projection, map, payload);
    if (status == QP_OK && buffer->failed)
        status = qp_fabric_fail_memory(error, "a report");
    qp_arena_free(&arena);
    return status;
}
