/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abi.c - the ConfigurationABI as canonical JSON (section 11).
 */
#include "fabric/configuration.h"

/* A string of hex digits. */
static void put_hex(qp_buffer *buffer, const uint8_t *bytes, size_t size)
{
    qp_buffer_text(buffer, "\"");
    qp_buffer_hex(buffer, bytes, size);
    qp_buffer_text(buffer, "\"");
}

void qp_fabric_put_artifact_ref(qp_buffer *buffer, const qp_fabric_artifact *artifact,
                                const char *identity)
{
    qp_buffer_format(
        buffer, "{\"schema\":\"%s\",\"schema_version\":\"%lu.%lu\",\"artifact\":\"%s\"}",
        artifact->schema, (unsigned long)artifact->major, (unsigned long)artifact->minor, identity);
}

/* The owners of the slots, each once; slots of one owner lie together. */
static void put_closure(qp_buffer *buffer, const qp_fabric_slots *slots)
{
    const qp_fabric_slot *last = NULL;

    for (size_t i = 0; i < slots->count; i++) {
        const qp_fabric_slot *slot = &slots->slots[i];
        if (last != NULL && qp_fabric_compare_bytes(last->bytes, last->owner_size, slot->bytes,
                                                    slot->owner_size) == 0)
            continue;
        if (last != NULL)
            qp_buffer_text(buffer, ",");
        put_hex(buffer, slot->bytes, slot->owner_size);
        last = slot;
    }
}

/* Codes are positions, as packed bits. */
static void put_codebook(qp_buffer *buffer, const qp_fabric_layout_row *row)
{
    const size_t size = (size_t)((row->width + 7) / 8);
    uint8_t code[8];

    qp_buffer_text(buffer, ",\"entries\":[");
    for (size_t i = 0; i < row->entry_count; i++) {
        for (unsigned k = 0; k < 8; k++)
            code[k] = (uint8_t)((uint64_t)i >> (8 * k));
        qp_buffer_text(buffer, i > 0 ? ",{\"semantic_value\":" : "{\"semantic_value\":");
        put_hex(buffer, row->entries[i].bytes, row->entries[i].size);
        qp_buffer_text(buffer, ",\"physical_code\":");
        put_hex(buffer, code, size);
        qp_buffer_text(buffer, "}");
    }
    qp_buffer_text(buffer, "]");
}

static void put_field(qp_buffer *buffer, const qp_fabric_slot *slot,
                      const qp_fabric_layout_row *row)
{
    qp_buffer_text(buffer, "{\"fabric_config_slot_ref\":");
    put_hex(buffer, slot->bytes, slot->size);
    qp_buffer_format(buffer, ",\"semantic_encoding\":{\"kind\":\"%s\",\"encoded_bit_count\":",
                     row->entry_count > 0 ? "finite_codebook" : "direct_bits");
    qp_buffer_u64_decimal(buffer, row->width);
    if (row->entry_count > 0)
        put_codebook(buffer, row);
    qp_buffer_text(
        buffer, "},\"destination_slices\":[{\"source_bit_offset\":0,\"destination_bit_offset\":");
    qp_buffer_u64_decimal(buffer, row->offset);
    qp_buffer_text(buffer, ",\"bit_count\":");
    qp_buffer_u64_decimal(buffer, row->width);
    qp_buffer_text(buffer, "}],\"inactive_value\":");
    put_hex(buffer, row->inactive.bytes, row->inactive.size);
    qp_buffer_text(buffer, "}");
}

static bool put_head(qp_buffer *buffer, const qp_fabric_layout *layout)
{
    const qp_fabric_model *model = layout->sealed->model;
    const uint32_t fabric = (uint32_t)(layout->sealed->fabric - model->fabrics);
    char identity[QP_SHA256_HEX_SIZE];

    if (!qp_fabric_item_identity(model, QP_FABRIC_ITEM_FABRIC, fabric, identity))
        return false;
    qp_buffer_format(buffer, "{\"schema\":\"%s\",\"schema_version\":\"%lu.%lu\",\"fabric_ref\":",
                     qp_fabric_artifact_abi.schema, (unsigned long)qp_fabric_artifact_abi.major,
                     (unsigned long)qp_fabric_artifact_abi.minor);
    qp_fabric_put_artifact_ref(buffer, &qp_fabric_artifact_fabric, identity);
    qp_buffer_text(buffer, ",\"programming_units\":[{\"unit_id\":\"" QP_FABRIC_UNIT_ID
                           "\",\"exact_fabric_resource_closure\":[");
    put_closure(buffer, &layout->slots);
    qp_buffer_text(buffer, "],\"programming_model\":{\"kind\":\"complete_image_atomic\","
                           "\"payload_bit_count\":");
    qp_buffer_u64_decimal(buffer, layout->payload_bits);
    qp_buffer_text(buffer, "},\"fields\":[");
    return true;
}

qp_status qp_fabric_put_abi(qp_buffer *buffer, const qp_fabric_layout *layout,
                            qp_fabric_error *error)
{
    bool good = put_head(buffer, layout);

    for (size_t i = 0; i < layout->slots.count && good; i++) {
        if (i > 0)
            qp_buffer_text(buffer, ",");
        put_field(buffer, &layout->slots.slots[i], &layout->rows[i]);
        good = !buffer->failed;
    }
    qp_buffer_text(buffer, "]}]}");
    return good && !buffer->failed ? QP_OK : qp_fabric_fail_memory(error, "a ConfigurationABI");
}
