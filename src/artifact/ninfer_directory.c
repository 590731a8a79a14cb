/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ninfer_directory.c - the directory of a .ninfer file: its JSON text, root, files, metadata and
 * provenance (artifact-container.md sections 3.1, 3.2, 3.7 and 4), and the records that every group
 * is made of.
 */
#include "artifact/ninfer_directory.h"

/* ---- records -------------------------------------------------------------------------------- */

qp_status qp_ninfer_members(qp_json_value record, const ninfer_member *members, size_t count,
                            qp_json_value *values, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(record);
    qp_json_value name, value;

    if (qp_json_kind_of(record) != QP_JSON_OBJECT)
        return qp_json_fail_check(record, error, "C-OBJECT", "expected an object, found %s",
                                  qp_json_kind_name(qp_json_kind_of(record)));
    for (size_t i = 0; i < count; i++)
        values[i] = QP_JSON_NO_VALUE;
    while (qp_json_next_member(&iterator, &name, &value)) {
        size_t i = 0;
        while (i < count && !qp_json_equals(name, members[i].name))
            i++;
        if (i == count)
            return qp_json_fail_check(name, error, "C-UNKNOWN",
                                      "this record has no member of that name");
        values[i] = value;
    }
    for (size_t i = 0; i < count; i++) {
        if (members[i].required && values[i].json == NULL)
            return qp_json_fail_check(record, error, "C-MISSING", "the record has no member \"%s\"",
                                      members[i].name);
    }
    return QP_OK;
}

qp_status qp_ninfer_u64(qp_json_value value, bool positive, uint64_t *result, qp_error *error)
{
    if (qp_json_get_u64(value, result, error) != QP_OK) {
        if (error != NULL)
            error->check = "C-INT";
        return QP_MALFORMED;
    }
    if (positive && *result == 0)
        return qp_json_fail_check(value, error, "C-INT", "expected an integer above zero");
    return QP_OK;
}

qp_status qp_ninfer_id(ninfer_directory *directory, qp_json_value value, const char **id,
                       qp_error *error)
{
    qp_buffer *text = &directory->text;

    if (qp_json_kind_of(value) != QP_JSON_STRING)
        return qp_json_fail_check(value, error, "C-ID", "expected a name, found %s",
                                  qp_json_kind_name(qp_json_kind_of(value)));
    text->size = 0;
    qp_json_append_string(value, text);
    if (!text->failed && text->size == 0)
        return qp_json_fail_check(value, error, "C-ID", "a name is empty");
    qp_buffer_append(text, "", 1);
    if (text->failed)
        return qp_fail_memory(error, "a name");
    if (memchr(text->bytes, '\0', text->size - 1) != NULL)
        return qp_json_fail_check(value, error, "C-ID", "a name holds U+0000");
    if (!qp_json_is_utf8(value))
        return qp_json_fail_check(value, error, "C-ID", "a name has half a surrogate pair");
    *id = (const char *)text->bytes;
    return QP_OK;
}

qp_status qp_ninfer_keep_id(ninfer_directory *directory, qp_arena *arena, qp_json_value value,
                            const char **id, qp_error *error)
{
    const char *read = NULL;
    qp_status status = qp_ninfer_id(directory, value, &read, error);
    if (status != QP_OK)
        return status;
    char *kept = qp_arena_allocate(arena, directory->text.size, 1);
    if (kept == NULL)
        return qp_fail_memory(error, "a name");
    memcpy(kept, read, directory->text.size);
    *id = kept;
    return QP_OK;
}

/* ---- JSON text and root --------------------------------------------------------------------- */

static qp_status read_text(ninfer_directory *directory, qp_error *error)
{
    qp_artifact *artifact = directory->artifact;
    qp_status status =
        qp_json_parse(&directory->json, artifact->directory, artifact->directory_size, error);
    qp_json_fault fault = directory->json.fault;
    if (status != QP_OK && fault != QP_JSON_FAULT_MEMORY && error != NULL)
        error->check = fault == QP_JSON_FAULT_DUPLICATE ? "C-DUPMEMBER" : "C-JSON";
    return status;
}

static qp_status read_root(ninfer_directory *directory, qp_error *error)
{
    static const ninfer_member members[] = {
        {"components", true}, {"objects", true},   {"bindings", true},   {"uses", true},
        {"files", true},      {"metadata", false}, {"provenance", false}};
    qp_json_value values[7];
    qp_status status = qp_ninfer_members(qp_json_root(&directory->json), members, 7, values, error);
    if (status != QP_OK)
        return status;
    directory->components = values[0];
    directory->objects = values[1];
    directory->bindings = values[2];
    directory->uses = values[3];
    directory->files = values[4];
    directory->metadata = values[5];
    directory->provenance = values[6];
    return QP_OK;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The path of a continuation: C-ID, C-PATH. Repetitions are looked for once all are known. */
static qp_status read_path(ninfer_directory *directory, qp_json_value value, const char **name,
                           qp_error *error)
{
    qp_artifact *artifact = directory->artifact;
    qp_status status = qp_ninfer_keep_id(directory, &artifact->arena, value, name, error);
    if (status != QP_OK)
        return status;
    if (!qp_is_sibling_name(*name))
        return qp_json_fail_check(
            value, error, "C-PATH",
            "a continuation is a file in the folder of its entry, not a path");
    if (strcmp(*name, artifact->files[0].name) == 0)
        return qp_json_fail_check(value, error, "C-PATH",
                                  "a continuation has the name of the entry");
    return QP_OK;
}

static qp_status read_file(ninfer_directory *directory, qp_json_value record, size_t index,
                           qp_error *error)
{
    static const ninfer_member members[] = {{"path", true}, {"payload_bytes", true}};
    qp_artifact *artifact = directory->artifact;
    qp_json_value values[2];
    const char *name = artifact->files[0].name;
    uint64_t bytes, end;

    qp_status status = qp_ninfer_members(record, members, 2, values, error);
    if (status == QP_OK && index == 0 && !qp_json_is_null(values[0]))
        return qp_json_fail_check(values[0], error, "C-PATH0", "the entry's own path is not null");
    if (status == QP_OK && index > 0)
        status = read_path(directory, values[0], &name, error);
    if (status == QP_OK)
        status = qp_ninfer_u64(values[1], true, &bytes, error);
    if (status != QP_OK)
        return status;
    if (!qp_add_u64(directory->payload_bytes, bytes, &end))
        return qp_json_fail_check(values[1], error, "C-INT", "the files hold over 2^64 - 1 bytes");

    qp_artifact_file *file = index == 0 ? artifact->files : qp_artifact_add_file(artifact);
    if (file == NULL)
        return qp_fail_memory(error, "a table of files");
    file->name = name;
    file->start = directory->payload_bytes;
    file->size = bytes;
    file->at = NINFER_PAYLOAD_STEP;
    directory->payload_bytes = end;
    return QP_OK;
}

static qp_status check_paths(ninfer_directory *directory, qp_error *error)
{
    qp_artifact *artifact = directory->artifact;
    const qp_named named = {artifact->files, artifact->n_files, sizeof *artifact->files};
    const uint32_t *order = qp_named_order(&directory->arena, &named);

    if (order == NULL)
        return qp_fail_memory(error, "the order of the files");
    size_t repeated = qp_named_repeated(&named, order);
    if (repeated < named.count)
        return qp_json_fail_check(directory->files, error, "C-PATH",
                                  "two continuations have the name %.100s",
                                  artifact->files[repeated].name);
    return QP_OK;
}

static qp_status read_files(ninfer_directory *directory, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(directory->files);
    qp_json_value record;
    qp_status status = QP_OK;
    size_t count = 0;

    if (qp_json_kind_of(directory->files) == QP_JSON_ARRAY) {
        while (status == QP_OK && qp_json_next(&iterator, &record))
            status = read_file(directory, record, count++, error);
    }
    if (status != QP_OK)
        return status;
    if (count == 0)
        return qp_json_fail_check(directory->files, error, "C-FILES",
                                  "`files` is an array of one record or more");
    return check_paths(directory, error);
}

/* ---- metadata and provenance ---------------------------------------------------------------- */

/* The key of an open member: its name, or, where that is no C string of UTF-8, the name as the text
 * spells it, with escapes. `prefix` and '/' come before it. */
static qp_status make_key(ninfer_directory *directory, const char *prefix, qp_json_value name,
                          const char **key, qp_error *error)
{
    qp_buffer *text = &directory->text;
    size_t start, length;
    const char *source;

    text->size = 0;
    if (prefix != NULL) {
        qp_buffer_text(text, prefix);
        qp_buffer_append(text, "/", 1);
    }
    start = text->size;
    qp_json_append_string(name, text);
    if (!qp_json_is_utf8(name) ||
        (text->size > start && memchr(text->bytes + start, '\0', text->size - start) != NULL)) {
        text->size = start;
        qp_json_source(name, &source, &length);
        qp_buffer_append(text, source + 1, length - 2); /* without the quotes */
    }
    qp_buffer_append(text, "", 1);
    char *kept =
        text->failed ? NULL : qp_arena_allocate(&directory->artifact->arena, text->size, 1);
    if (kept == NULL)
        return qp_fail_memory(error, "a key of metadata");
    memcpy(kept, text->bytes, text->size);
    *key = kept;
    return QP_OK;
}

/* Every member of an open object becomes an entry of the artifact's metadata. */
static qp_status add_members(ninfer_directory *directory, const char *prefix, qp_json_value object,
                             qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    qp_status status = QP_OK;

    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        const char *key = NULL, *text;
        size_t length;
        status = make_key(directory, prefix, name, &key, error);
        if (status != QP_OK)
            break;
        qp_artifact_metadatum *entry = qp_artifact_add_metadatum(directory->artifact);
        if (entry == NULL)
            return qp_fail_memory(error, "a table of metadata");
        qp_json_source(value, &text, &length);
        entry->key = key;
        entry->type = QP_META_JSON;
        entry->count = 1;
        entry->value = (const uint8_t *)text;
        entry->size = length;
    }
    return status;
}

static qp_status check_open(qp_json_value object, qp_error *error)
{
    if (object.json != NULL && qp_json_kind_of(object) != QP_JSON_OBJECT)
        return qp_json_fail_check(object, error, "C-META", "expected an object, found %s",
                                  qp_json_kind_name(qp_json_kind_of(object)));
    return QP_OK;
}

static qp_status add_configs(ninfer_directory *directory, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(directory->components);
    qp_json_value name, component, config;
    qp_status status = QP_OK;

    while (status == QP_OK && qp_json_next_member(&iterator, &name, &component)) {
        const char *id = NULL;
        qp_json_find(component, "config", &config);
        status = qp_ninfer_keep_id(directory, &directory->arena, name, &id, error);
        if (status == QP_OK)
            status = add_members(directory, id, config, error);
    }
    return status;
}

static qp_status read_metadata(ninfer_directory *directory, qp_error *error)
{
    qp_json_value name;
    const char *id;
    qp_status status = check_open(directory->metadata, error);
    if (status == QP_OK && qp_json_find(directory->metadata, "name", &name))
        status = qp_ninfer_id(directory, name, &id, error);
    if (status == QP_OK)
        status = check_open(directory->provenance, error);
    if (status == QP_OK)
        status = add_members(directory, NULL, directory->metadata, error);
    if (status == QP_OK)
        status = add_configs(directory, error);
    if (status == QP_OK)
        status = add_members(directory, "provenance", directory->provenance, error);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static qp_status read_groups(ninfer_directory *directory, qp_error *error)
{
    static qp_status (*const groups[])(ninfer_directory *,
                                       qp_error *) = {read_text,
                                                      read_root,
                                                      read_files,
                                                      qp_ninfer_objects,
                                                      qp_ninfer_components,
                                                      qp_ninfer_bindings_and_uses,
                                                      read_metadata};
    qp_status status = QP_OK;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0] && status == QP_OK; i++)
        status = groups[i](directory, error);
    return status;
}

qp_status qp_ninfer_read_directory(qp_artifact *artifact, qp_error *error)
{
    ninfer_directory directory = {.artifact = artifact};

    qp_json_init(&directory.json, &artifact->allocator);
    directory.json.first_offset = NINFER_HEADER;
    directory.json.allow_lone_surrogates = true; /* of an ID they are C-ID, elsewhere they stand */
    qp_arena_init(&directory.arena, &artifact->allocator);
    qp_buffer_init(&directory.text, &artifact->allocator);

    qp_status status = read_groups(&directory, error);

    qp_release(&artifact->allocator, directory.records, directory.record_capacity,
               sizeof *directory.records);
    qp_buffer_free(&directory.text);
    qp_arena_free(&directory.arena);
    qp_json_free(&directory.json);
    return status;
}
