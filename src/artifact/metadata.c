/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c - collecting what a source carries beside its tensors.
 */
#include "artifact/metadata.h"

#include <inttypes.h>

void qp_metadata_free(qp_metadata *metadata)
{
    const qp_allocator *allocator = &metadata->arena.allocator;
    qp_release(allocator, metadata->entries, metadata->capacity, sizeof *metadata->entries);
    qp_release(allocator, metadata->lost, metadata->lost_capacity, sizeof *metadata->lost);
    qp_arena_free(&metadata->arena);
    metadata->entries = NULL;
    metadata->lost = NULL;
    metadata->capacity = metadata->lost_capacity = 0;
}

static const char *keep_text(qp_metadata *metadata, const char *text, size_t length)
{
    char *copy = qp_arena_allocate(&metadata->arena, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

qp_status qp_metadata_lose(qp_metadata *metadata, const char *what, qp_error *error)
{
    void *grown = qp_table_grow(&metadata->arena.allocator, metadata->lost,
                                &metadata->lost_capacity, metadata->n_lost, sizeof *metadata->lost);
    if (grown == NULL)
        return qp_fail_memory(error, "a list of metadata");
    metadata->lost = grown;
    const char *copy = keep_text(metadata, what, strlen(what));
    if (copy == NULL)
        return qp_fail_memory(error, "a list of metadata");
    metadata->lost[metadata->n_lost++] = copy;
    return QP_OK;
}

static qp_status add_entry(qp_metadata *metadata, const qp_artifact_metadatum *entry,
                           qp_error *error)
{
    void *grown = qp_table_grow(&metadata->arena.allocator, metadata->entries, &metadata->capacity,
                                metadata->count, sizeof *metadata->entries);
    if (grown == NULL || entry->key == NULL)
        return qp_fail_memory(error, "metadata");
    metadata->entries = grown;
    metadata->entries[metadata->count++] = *entry;
    return QP_OK;
}

/* ---- JSON values of recorded types ----------------------------------------------------------- */

/* The text of a string value, in the arena. */
static const char *string_of(qp_metadata *metadata, qp_json_value value)
{
    qp_buffer text;
    qp_buffer_init(&text, &metadata->arena.allocator);
    qp_json_append_string(value, &text);
    const char *copy =
        text.failed ? NULL : keep_text(metadata, (const char *)text.bytes, text.size);
    qp_buffer_free(&text);
    return copy;
}

/* An entry of a JSON value: of the type that `types` records under `name`, of one that suits it, or
 * JSON where no type of GGUF does. */
static qp_status add_json(qp_metadata *metadata, const char *key, const char *name,
                          qp_json_value types, qp_json_value value, qp_error *error)
{
    qp_artifact_metadatum entry = {.key = key};
    qp_json_value recorded;
    const char *type = NULL;
    bool no_memory = key == NULL;
    if (!no_memory && qp_json_find(types, name, &recorded)) {
        type = string_of(metadata, recorded);
        no_memory = type == NULL;
    }
    bool is_typed =
        !no_memory && qp_metadata_read_json(value, type, &metadata->arena, &entry, &no_memory);
    if (no_memory)
        return qp_fail_memory(error, "metadata");
    if (!is_typed) {
        const char *text;
        size_t length;
        qp_json_source(value, &text, &length);
        entry = (qp_artifact_metadatum){.key = key, .type = QP_META_JSON, .count = 1};
        entry.value = (const uint8_t *)text;
        entry.size = length;
    }
    return add_entry(metadata, &entry, error);
}

/* ---- .ninfer --------------------------------------------------------------------------------- */

/* The members of an object as entries, under `prefix` and their names. */
static qp_status add_members(qp_metadata *metadata, const char *prefix, qp_json_value object,
                             qp_json_value types, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    qp_status status = QP_OK;
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        const char *own = string_of(metadata, name);
        if (own == NULL)
            return qp_fail_memory(error, "metadata");
        size_t before = strlen(prefix), length = strlen(own);
        char *key = qp_arena_allocate(&metadata->arena, before + length + 1, 1);
        if (key != NULL) {
            memcpy(key, prefix, before);
            memcpy(key + before, own, length);
        }
        status = add_json(metadata, key, own, types, value, error);
    }
    return status;
}

static qp_status collect_component(qp_metadata *metadata, qp_json_value name,
                                   qp_json_value component, qp_json_value types, qp_error *error)
{
    qp_json_value config, other;
    bool is_text = qp_json_equals(name, "text");
    qp_buffer prefix;
    qp_buffer_init(&prefix, &metadata->arena.allocator);
    if (!is_text) {
        qp_json_append_string(name, &prefix);
        qp_buffer_text(&prefix, "/");
    }
    qp_buffer_append(&prefix, "", 1);
    (void)qp_json_find(component, "config", &config);
    qp_status status = prefix.failed ? qp_fail_memory(error, "metadata")
                                     : add_members(metadata, (const char *)prefix.bytes, config,
                                                   is_text ? types : QP_JSON_NO_VALUE, error);
    if (status == QP_OK &&
        (qp_json_find(component, "target", &other) || qp_json_find(component, "proposal", &other)))
        status = qp_metadata_lose(metadata, "relations of components", error);
    qp_buffer_free(&prefix);
    return status;
}

static bool is_own_member(qp_json_value name)
{
    static const char *const own[] = {"name", "value_types", "parameter_shapes"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (qp_json_equals(name, own[i]))
            return true;
    }
    return false;
}

static qp_status collect_root_metadata(qp_metadata *metadata, qp_json_value root, qp_error *error)
{
    qp_json_value object, name, value;
    qp_status status = QP_OK;
    if (!qp_json_find(root, "metadata", &object))
        return QP_OK;
    if (qp_json_find(object, "name", &value)) {
        metadata->name = string_of(metadata, value);
        if (metadata->name == NULL)
            return qp_fail_memory(error, "metadata");
    }
    qp_json_iterator iterator = qp_json_iterate(object);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        if (is_own_member(name))
            continue;
        const char *key = string_of(metadata, name);
        status = add_json(metadata, key, key, QP_JSON_NO_VALUE, value, error);
    }
    return status;
}

static qp_status collect_ninfer(const qp_weight_source *source, qp_metadata *metadata,
                                qp_error *error)
{
    qp_json_value root = qp_json_root(&source->json), components, name, component, provenance;
    qp_json_value object, types = QP_JSON_NO_VALUE;
    if (qp_json_find(root, "metadata", &object))
        (void)qp_json_find(object, "value_types", &types);
    (void)qp_json_find(root, "components", &components);
    qp_json_iterator iterator = qp_json_iterate(components);
    qp_status status = QP_OK;
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &component))
        status = collect_component(metadata, name, component, types, error);
    if (status == QP_OK)
        status = collect_root_metadata(metadata, root, error);
    if (status == QP_OK && qp_json_find(root, "provenance", &provenance) &&
        qp_json_count(provenance) > 0) {
        const char *text;
        qp_json_source(provenance, &text, &metadata->provenance_size);
        metadata->provenance = (const uint8_t *)text;
    }
    return status;
}

/* ---- GGUF and safetensors -------------------------------------------------------------------- */

/* A text whose type is recorded; one that does not read stays a text. */
static qp_status add_recorded(qp_metadata *metadata, const qp_artifact_metadatum *entry,
                              qp_json_value recorded, qp_error *error)
{
    qp_json json;
    qp_artifact_metadatum typed = {.key = entry->key};
    bool no_memory = false, is_typed = false;
    const char *type = string_of(metadata, recorded);
    if (type == NULL)
        return qp_fail_memory(error, "metadata");
    bool is_json = strcmp(type, "json") == 0;
    qp_json_init(&json, &metadata->arena.allocator);
    json.allow_lone_surrogates = true;
    if (qp_json_parse(&json, entry->value, (size_t)entry->size, NULL) == QP_OK) {
        is_typed = is_json || qp_metadata_read_json(qp_json_root(&json), type, &metadata->arena,
                                                    &typed, &no_memory);
    } else {
        no_memory = json.fault == QP_JSON_FAULT_MEMORY;
    }
    qp_json_free(&json);
    if (no_memory)
        return qp_fail_memory(error, "metadata");
    if (is_typed && is_json) {
        typed = *entry;
        typed.type = QP_META_JSON;
    }
    return add_entry(metadata, is_typed ? &typed : entry, error);
}

static qp_status collect_entries(const qp_weight_source *source, qp_metadata *metadata,
                                 qp_json_value types, qp_error *error)
{
    size_t count;
    const qp_artifact_metadatum *entries = qp_artifact_metadata(source->artifact, &count);
    qp_status status = QP_OK;
    for (size_t i = 0; i < count && status == QP_OK; i++) {
        const qp_artifact_metadatum *entry = &entries[i];
        qp_json_value recorded;
        if (strcmp(entry->key, QP_VALUE_TYPES_KEY) == 0)
            continue;
        if (strcmp(entry->key, QP_PROVENANCE_KEY) == 0 && entry->type == QP_META_STRING) {
            metadata->provenance = entry->value;
            metadata->provenance_size = (size_t)entry->size;
        } else if (qp_json_find(types, entry->key, &recorded)) {
            status = add_recorded(metadata, entry, recorded, error);
        } else {
            status = add_entry(metadata, entry, error);
        }
    }
    return status;
}

/* The types that our writer of safetensors recorded, if it wrote this file. */
static qp_status collect_flat(const qp_weight_source *source, qp_metadata *metadata,
                              qp_error *error)
{
    const qp_artifact_metadatum *recorded =
        qp_artifact_metadata_find(source->artifact, QP_VALUE_TYPES_KEY);
    qp_json json;
    qp_json_init(&json, &metadata->arena.allocator);
    if (recorded != NULL && recorded->type == QP_META_STRING &&
        qp_json_parse(&json, recorded->value, (size_t)recorded->size, NULL) != QP_OK &&
        json.fault == QP_JSON_FAULT_MEMORY) {
        qp_json_free(&json);
        return qp_fail_memory(error, "metadata");
    }
    qp_status status = collect_entries(source, metadata, qp_json_root(&json), error);
    qp_json_free(&json);
    return status;
}

/* ---- any ------------------------------------------------------------------------------------- */

static bool same_value(const qp_artifact_metadatum *a, const qp_artifact_metadatum *b)
{
    return a->type == b->type && a->size == b->size &&
           (a->size == 0 || memcmp(a->value, b->value, (size_t)a->size) == 0);
}

/* Two members of a .ninfer, or two shards, may come to one key; the first stands. */
static qp_status drop_repeated(qp_metadata *metadata, qp_error *error)
{
    qp_named named = {metadata->entries, metadata->count, sizeof *metadata->entries};
    uint32_t *order = qp_named_order(&metadata->arena, &named);
    bool *drop = qp_arena_allocate(&metadata->arena, metadata->count, sizeof *drop);
    if (order == NULL || drop == NULL)
        return qp_fail_memory(error, "metadata");
    qp_status status = QP_OK;
    for (size_t i = 1; i < metadata->count && status == QP_OK; i++) {
        const qp_artifact_metadatum *entry = &metadata->entries[order[i]];
        const qp_artifact_metadatum *before = &metadata->entries[order[i - 1]];
        drop[order[i]] = strcmp(entry->key, before->key) == 0;
        if (drop[order[i]] && !same_value(entry, before))
            status = qp_metadata_lose(metadata, entry->key, error);
    }
    size_t kept = 0;
    for (size_t i = 0; i < metadata->count; i++) {
        if (!drop[i])
            metadata->entries[kept++] = metadata->entries[i];
    }
    metadata->count = kept;
    return status;
}

qp_status qp_metadata_collect(const qp_weight_source *source, const qp_allocator *allocator,
                              qp_metadata *metadata, qp_error *error)
{
    *metadata = (qp_metadata){0};
    qp_arena_init(&metadata->arena, allocator);
    qp_status status = source->has_directory ? collect_ninfer(source, metadata, error)
                                             : collect_flat(source, metadata, error);
    return status == QP_OK ? drop_repeated(metadata, error) : status;
}
