/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_write.c - the layout of a GGUF file, version 3 (ggml-blocks.md section 6). The alignment is
 * the source's general.alignment, or 32; every tensor is padded to it, the last one too, as ggml's
 * loader wants it.
 */
#include "artifact/plan.h"

#include <stdio.h>

#define VERSION 3
#define ALIGNMENT 32
#define ALIGNMENT_KEY "general.alignment"
#define LONGEST_STRING ((uint64_t)1 << 30)
#define MOST_DIMENSIONS 4
#define NAME_BYTES 64 /* with the NUL */

static bool holds(const qp_format *format)
{
    return format->ggml_type >= 0;
}

/* ---- metadata -------------------------------------------------------------------------------- */

static bool is_alignment(const qp_artifact_metadatum *entry)
{
    return strcmp(entry->key, ALIGNMENT_KEY) == 0;
}

static bool carries(const qp_artifact_metadatum *entry)
{
    size_t length = strlen(entry->key);
    if (entry->type == QP_META_JSON || length == 0 || entry->size > LONGEST_STRING ||
        !qp_is_utf8((const uint8_t *)entry->key, length))
        return false;
    if (!is_alignment(entry))
        return true;
    uint32_t value = entry->type == QP_META_U32 ? qp_load_u32(entry->value) : 0;
    return value != 0 && (value & (value - 1)) == 0;
}

static uint64_t alignment_of(const qp_convert_plan *plan)
{
    for (size_t i = 0; i < plan->metadata.count; i++) {
        const qp_artifact_metadatum *entry = &plan->metadata.entries[i];
        if (is_alignment(entry) && carries(entry))
            return qp_load_u32(entry->value);
    }
    return ALIGNMENT;
}

static void append_string(qp_buffer *out, const void *bytes, uint64_t size)
{
    qp_buffer_le(out, size, 8);
    qp_buffer_append(out, bytes, (size_t)size);
}

static void append_entry(const qp_artifact_metadatum *entry, qp_buffer *out)
{
    append_string(out, entry->key, strlen(entry->key));
    qp_buffer_le(out, (uint64_t)entry->type, 4);
    if (entry->type == QP_META_ARRAY) {
        qp_buffer_le(out, (uint64_t)entry->element_type, 4);
        qp_buffer_le(out, entry->count, 8);
    } else if (entry->type == QP_META_STRING) {
        qp_buffer_le(out, entry->size, 8);
    }
    qp_buffer_append(out, entry->value, (size_t)entry->size);
}

/* Returns how many entries were appended. */
static uint64_t append_metadata(const qp_convert_plan *plan, qp_buffer *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < plan->metadata.count; i++) {
        if (!carries(&plan->metadata.entries[i]))
            continue;
        append_entry(&plan->metadata.entries[i], out);
        count++;
    }
    qp_buffer text;
    qp_buffer_init(&text, &plan->allocator);
    qp_plan_flat_provenance(plan, &text);
    if (text.size > 0) {
        append_string(out, QP_PROVENANCE_KEY, strlen(QP_PROVENANCE_KEY));
        qp_buffer_le(out, QP_META_STRING, 4);
        append_string(out, text.bytes, text.size);
        count++;
    }
    out->failed = out->failed || text.failed;
    qp_buffer_free(&text);
    return count;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static qp_status check(const qp_plan_object *object, qp_error *error)
{
    size_t length = strlen(object->name);
    if (length >= NAME_BYTES)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "G-NAME", -1,
                             "the name has %zu bytes, and GGUF's have fewer than %d", length,
                             NAME_BYTES);
    if (object->rank > MOST_DIMENSIONS)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "G-DIMS", -1,
                             "it has %u dimensions, and GGUF's tensors at most %d",
                             (unsigned)object->rank, MOST_DIMENSIONS);
    return QP_OK;
}

static bool align_up(uint64_t *value, uint64_t step)
{
    return qp_add_u64(*value, (step - *value % step) % step, value);
}

static qp_status place_objects(qp_convert_plan *plan, uint64_t alignment, qp_error *error)
{
    uint64_t end = 0;
    for (size_t i = 0; i < plan->n_objects; i++) {
        qp_plan_object *object = &plan->objects[i];
        object->at[0] = end;
        object->bytes = object->target.bytes;
        if (!qp_add_u64(end, object->bytes, &end) || !align_up(&end, alignment))
            return qp_fail(error, QP_TOO_LARGE, "the tensors take 2^64 bytes or more");
    }
    plan->payload_bytes = end;
    return QP_OK;
}

static void append_tensor(const qp_plan_object *object, qp_buffer *out)
{
    append_string(out, object->name, strlen(object->name));
    qp_buffer_le(out, object->rank, 4);
    for (uint32_t i = object->rank; i-- > 0;)
        qp_buffer_le(out, object->shape[i], 8);
    qp_buffer_le(out, (uint64_t)object->target.format->ggml_type, 4);
    qp_buffer_le(out, object->at[0], 8);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void append_head(const qp_convert_plan *plan, uint64_t alignment, qp_buffer *out)
{
    qp_buffer entries;
    qp_buffer_init(&entries, &plan->allocator);
    uint64_t count = append_metadata(plan, &entries);
    qp_buffer_text(out, "GGUF");
    qp_buffer_le(out, VERSION, 4);
    qp_buffer_le(out, plan->n_objects, 8);
    qp_buffer_le(out, count, 8);
    qp_buffer_append(out, entries.bytes, entries.size);
    out->failed = out->failed || entries.failed;
    qp_buffer_free(&entries);
    for (size_t i = 0; i < plan->n_objects; i++)
        append_tensor(&plan->objects[i], out);
    while (!out->failed && out->size % alignment != 0)
        qp_buffer_le(out, 0, 1);
}

static qp_status layout(qp_convert_plan *plan, qp_error *error)
{
    uint64_t alignment = alignment_of(plan), size;
    qp_buffer head;
    qp_status status = place_objects(plan, alignment, error);
    if (status == QP_OK)
        status = qp_plan_set_files(plan, 1, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&head, &plan->allocator);
    append_head(plan, alignment, &head);
    status = qp_plan_set_head(plan, 0, &head, error);
    if (status != QP_OK)
        return status;
    if (!qp_add_u64(plan->heads[0].size, plan->payload_bytes, &size))
        return qp_fail(error, QP_TOO_LARGE, "the file takes 2^64 bytes or more");
    plan->files[0].size = size;
    plan->runs[0] = (qp_plan_run){0, plan->heads[0].size, 0, plan->payload_bytes};
    return QP_OK;
}

const struct qp_artifact_kind_writer qp_gguf_writer = {
    .holds = holds, .carries = carries, .check = check, .layout = layout};
