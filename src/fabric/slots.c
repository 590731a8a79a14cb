/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - the configuration slots of a fabric (section 11), in the order of their bytes: units
 * before ops, each by occurrence, node and context.
 */
#include "fabric/mapping.h"

enum { OWNER_OCCURRENCE = 4, OWNER_NODE = 6, NODE_OP = 0 };

/* A fabric with more is Unsupported (a bound of ours). */
#define SLOTS_MAX (UINT64_C(1) << 20)

static bool has_slot(const qp_fabric_sealed *sealed, uint32_t fu, uint32_t node)
{
    return sealed->fabric->fus[fu].nodes[node].kind == QP_FABRIC_NODE_OP &&
           sealed->capabilities[fu][node].relation.kind != QP_FABRIC_RELATION_NONE;
}

/* The slots of one occurrence in one context. */
static uint64_t count_unit(const qp_fabric_sealed *sealed, uint32_t fu)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < sealed->fabric->fus[fu].n_nodes; i++)
        count += has_slot(sealed, fu, i);
    return count;
}

static qp_status count_slots(const qp_fabric_sealed *sealed, size_t *count, qp_fabric_error *error)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < sealed->fabric->n_occurrences; i++) {
        const qp_fabric_occurrence *o = &sealed->fabric->occurrences[i];
        total += o->contexts * count_unit(sealed, o->fu); /* 32 bits each */
        if (total > SLOTS_MAX)
            return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, o->place,
                                  "the fabric has more than %lu configuration slots",
                                  (unsigned long)SLOTS_MAX);
    }
    *count = (size_t)total;
    return QP_OK;
}

static void put_slot(qp_buffer *buffer, qp_fabric_slot *slot, bool several_contexts)
{
    const bool node = slot->node != QP_FABRIC_NO_INDEX;
    const size_t start = buffer->size;

    qp_fabric_put_u32(buffer, node ? OWNER_NODE : OWNER_OCCURRENCE);
    if (node)
        qp_fabric_put_u32(buffer, NODE_OP);
    qp_fabric_put_occurrence_ref(buffer, slot->occurrence);
    if (node)
        qp_fabric_put_u64(buffer, slot->node);
    slot->owner_size = buffer->size - start;
    qp_fabric_put_u64(buffer, 0); /* the only field */
    qp_fabric_put_u32(buffer, several_contexts ? 1 : 0);
    if (several_contexts)
        qp_fabric_put_u64(buffer, slot->context);
    slot->size = buffer->size - start;
}

/* The slots of one owner: one a context. */
static void add_owner(const qp_fabric_fabric *fabric, uint32_t occurrence, uint32_t node,
                      qp_fabric_slot *slots, qp_buffer *bytes)
{
    const uint32_t contexts = fabric->occurrences[occurrence].contexts;

    for (uint32_t i = 0; i < contexts; i++) {
        slots[i] = (qp_fabric_slot){.occurrence = occurrence, .context = i, .node = node};
        put_slot(bytes, &slots[i], contexts > 1);
    }
}

static void add_all(const qp_fabric_sealed *sealed, qp_fabric_slot *slots, qp_buffer *bytes)
{
    const qp_fabric_fabric *fabric = sealed->fabric;

    for (uint32_t i = 0; i < fabric->n_occurrences; i++) {
        add_owner(fabric, i, QP_FABRIC_NO_INDEX, slots, bytes);
        slots += fabric->occurrences[i].contexts;
    }
    for (uint32_t i = 0; i < fabric->n_occurrences; i++) {
        const uint32_t fu = fabric->occurrences[i].fu;
        for (uint32_t node = 0; node < fabric->fus[fu].n_nodes; node++)
            if (has_slot(sealed, fu, node)) {
                add_owner(fabric, i, node, slots, bytes);
                slots += fabric->occurrences[i].contexts;
            }
    }
}

/* All bytes in one block of the arena. */
static bool keep_bytes(qp_fabric_slot *slots, size_t count, const qp_buffer *bytes, qp_arena *arena)
{
    uint8_t *kept = bytes->failed ? NULL : qp_arena_allocate(arena, bytes->size, 1);

    if (kept == NULL)
        return false;
    if (bytes->size > 0)
        memcpy(kept, bytes->bytes, bytes->size);
    for (size_t i = 0; i < count; i++) {
        slots[i].bytes = kept;
        kept += slots[i].size;
    }
    return true;
}

qp_status qp_fabric_slots_of(const qp_fabric_sealed *sealed, qp_arena *arena,
                             qp_fabric_slots *slots, qp_fabric_error *error)
{
    size_t count = 0;
    qp_buffer bytes;
    qp_status status = count_slots(sealed, &count, error);

    if (status != QP_OK)
        return status;
    qp_fabric_slot *made = qp_arena_allocate(arena, count, sizeof *made);
    qp_buffer_init(&bytes, &arena->allocator);
    if (made != NULL)
        add_all(sealed, made, &bytes);
    if (made == NULL || !keep_bytes(made, count, &bytes, arena))
        status = qp_fabric_fail_memory(error, "the configuration slots");
    qp_buffer_free(&bytes);
    *slots = (qp_fabric_slots){count, made};
    return status;
}

/* Orders slots as their bytes do. */
static bool slot_before(const qp_fabric_slot *slot, const qp_fabric_slot *key)
{
    const bool unit = slot->node == QP_FABRIC_NO_INDEX;

    if (unit != (key->node == QP_FABRIC_NO_INDEX))
        return unit;
    if (slot->occurrence != key->occurrence)
        return slot->occurrence < key->occurrence;
    if (slot->node != key->node)
        return slot->node < key->node;
    return slot->context < key->context;
}

size_t qp_fabric_find_slot(const qp_fabric_slots *slots, uint32_t occurrence, uint32_t context,
                           uint32_t node)
{
    const qp_fabric_slot key = {.occurrence = occurrence, .context = context, .node = node};
    size_t low = 0, high = slots->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (slot_before(&slots->slots[middle], &key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

qp_status qp_fabric_unit_value(const qp_fabric_fu *fu, uint64_t ordinal, qp_arena *arena,
                               qp_fabric_semantic_value *value, qp_fabric_error *error)
{
    qp_buffer buffer;

    qp_buffer_init(&buffer, &arena->allocator);
    qp_fabric_put_u32(&buffer, ordinal == QP_FABRIC_DISABLED ? 0 : 1);
    if (ordinal != QP_FABRIC_DISABLED)
        qp_fabric_put_template_ref(&buffer, fu, ordinal);
    uint8_t *bytes = buffer.failed ? NULL : qp_arena_allocate(arena, buffer.size, 1);
    if (bytes != NULL)
        memcpy(bytes, buffer.bytes, buffer.size);
    *value = (qp_fabric_semantic_value){bytes, buffer.size};
    qp_buffer_free(&buffer);
    return bytes != NULL ? QP_OK : qp_fabric_fail_memory(error, "the value of a unit");
}
