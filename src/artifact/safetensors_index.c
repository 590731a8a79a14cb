/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors_index.c - an index of shards: JSON with a member `weight_map` from tensor names to
 * the names of files in the same folder (ggml-blocks.md section 7). The artifact holds the tensors
 * that the map names, shard after shard in the order in which the map names them first.
 *
 *   S-JSON, S-DUPNAME, S-NAME   as of a file
 *   S-INDEX   no `weight_map`, or one that is no object of strings, or an empty one
 *   S-PATH    a shard's name is a path
 *   S-SHARD   a shard cannot be opened
 *   S-MAP     a shard does not hold a tensor that the map says it does
 */
#include "artifact/safetensors.h"

#include <stdio.h>

/* A member of the map. */
typedef struct mapping {
    const char *tensor;
    const char *shard;
    qp_json_value place;
    uint32_t file;
    bool found;
} mapping;

/* A name of a shard, once for each member. */
typedef struct shard_name {
    const char *name;
} shard_name;

typedef struct index_reader {
    qp_artifact *artifact;
    qp_json json;
    qp_arena arena; /* of what is not needed afterwards */
    mapping *map;
    size_t count;
    const uint32_t *by_tensor;
} index_reader;

static qp_named map_of(const index_reader *reader)
{
    return (qp_named){reader->map, reader->count, sizeof *reader->map};
}

/* ---- the map -------------------------------------------------------------------------------- */

static qp_status read_mapping(index_reader *reader, qp_json_value name, qp_json_value shard,
                              qp_error *error)
{
    mapping *added = &reader->map[reader->count];

    if (qp_json_kind_of(shard) != QP_JSON_STRING)
        return qp_json_fail_check(shard, error, "S-INDEX", "a shard's name is a string");
    qp_status status = qp_safetensors_keep(reader->artifact, name, &added->tensor, error);
    if (status == QP_OK)
        status = qp_safetensors_keep(reader->artifact, shard, &added->shard, error);
    if (status != QP_OK)
        return status;
    if (!qp_is_sibling_name(added->shard))
        return qp_json_fail_check(shard, error, "S-PATH",
                                  "a shard is a file in the folder of its index, not a path");
    added->place = name;
    reader->count++;
    return QP_OK;
}

static qp_status read_map(index_reader *reader, qp_error *error)
{
    qp_json_value root = qp_json_root(&reader->json), map, name, shard;
    qp_status status = QP_OK;

    if (!qp_json_find(root, "weight_map", &map) || qp_json_kind_of(map) != QP_JSON_OBJECT)
        return qp_json_fail_check(root, error, "S-INDEX",
                                  "an index of shards has an object `weight_map`");
    reader->map = qp_arena_allocate(&reader->arena, qp_json_count(map), sizeof *reader->map);
    if (reader->map == NULL)
        return qp_fail_memory(error, "an index of shards");
    qp_json_iterator iterator = qp_json_iterate(map);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &shard))
        status = read_mapping(reader, name, shard, error);
    if (status == QP_OK && reader->count == 0)
        return qp_json_fail_check(map, error, "S-INDEX", "the index names no tensor");
    return status;
}

/* ---- shards --------------------------------------------------------------------------------- */

/* The first member of the map with each member's shard: first[i] <= i. */
static qp_status find_first(index_reader *reader, uint32_t **first, qp_error *error)
{
    size_t count = reader->count;
    shard_name *names = qp_arena_allocate(&reader->arena, count, sizeof *names);
    uint32_t *same = qp_arena_allocate(&reader->arena, count, sizeof *same);

    if (names == NULL || same == NULL)
        return qp_fail_memory(error, "the shards of an index");
    for (size_t i = 0; i < count; i++)
        names[i].name = reader->map[i].shard;
    const qp_named named = {names, count, sizeof *names};
    const uint32_t *order = qp_named_order(&reader->arena, &named);
    if (order == NULL)
        return qp_fail_memory(error, "the shards of an index");
    for (size_t i = 0, start = 0; i < count; i++) {
        if (strcmp(names[order[i]].name, names[order[start]].name) != 0)
            start = i;
        same[order[i]] = order[start];
    }
    *first = same;
    return QP_OK;
}

/* The index itself was the first file: the shards follow it. */
static qp_status add_shards(index_reader *reader, qp_error *error)
{
    uint32_t *first = NULL;
    qp_status status = find_first(reader, &first, error);
    for (size_t i = 0; i < reader->count && status == QP_OK; i++) {
        mapping *member = &reader->map[i];
        if (first[i] < i) {
            member->file = reader->map[first[i]].file;
            continue;
        }
        member->file = (uint32_t)reader->artifact->n_files;
        qp_artifact_file *file = qp_artifact_add_file(reader->artifact);
        if (file == NULL)
            return qp_fail_memory(error, "a table of files");
        file->name = member->shard;
    }
    return status;
}

/* Of the tensors from `start` on, which the shard `file` holds, those that the map gives it. */
static void keep_mapped(index_reader *reader, size_t start, size_t file)
{
    qp_artifact *artifact = reader->artifact;
    const qp_named named = map_of(reader);
    size_t kept = start;

    for (size_t i = start; i < artifact->n_tensors; i++) {
        size_t index = qp_named_find(&named, reader->by_tensor, artifact->tensors[i].name);
        if (index == named.count || reader->map[index].file != file)
            continue;
        reader->map[index].found = true;
        artifact->tensors[kept++] = artifact->tensors[i];
    }
    artifact->n_tensors = kept;
}

/* Of keys that several shards have, the first shard's entry stands. */
static qp_status keep_first_keys(index_reader *reader, qp_error *error)
{
    qp_artifact *artifact = reader->artifact;
    const qp_named named = {artifact->metadata, artifact->n_metadata, sizeof *artifact->metadata};
    const uint32_t *order = qp_named_order(&reader->arena, &named);
    size_t kept = 0;

    if (order == NULL)
        return qp_fail_memory(error, "the order of the metadata");
    bool *later = qp_arena_allocate(&reader->arena, named.count, sizeof *later);
    if (later == NULL)
        return qp_fail_memory(error, "the order of the metadata");
    for (size_t i = 1; i < named.count; i++)
        later[order[i]] =
            strcmp(artifact->metadata[order[i]].key, artifact->metadata[order[i - 1]].key) == 0;
    for (size_t i = 0; i < named.count; i++) {
        if (!later[i])
            artifact->metadata[kept++] = artifact->metadata[i];
    }
    artifact->n_metadata = kept;
    return QP_OK;
}

/* A shard that cannot be opened is a fault of the index, where it is named first. */
static void place_shard(const index_reader *reader, size_t file, qp_error *error)
{
    size_t i = 0;
    if (error == NULL || error->status != QP_IO)
        return;
    while (reader->map[i].file != file)
        i++;
    error->offset = (int64_t)qp_json_place_of(reader->map[i].place).offset;
}

/* A shard's refusal says which shard. */
static void name_shard(const char *name, qp_error *error)
{
    char message[sizeof error->message];
    if (error == NULL)
        return;
    memcpy(message, error->message, sizeof message);
    snprintf(error->message, sizeof error->message, "%.60s: %.160s", name, message);
}

static qp_status read_shards(index_reader *reader, qp_error *error)
{
    qp_artifact *artifact = reader->artifact;
    qp_status status = QP_OK;

    for (size_t i = 1; i < artifact->n_files && status == QP_OK; i++) {
        size_t start = artifact->n_tensors;
        status = qp_artifact_open_file(artifact, i, error);
        if (status != QP_OK) {
            place_shard(reader, i, error);
            return status;
        }
        status = qp_safetensors_read_file(artifact, i, error);
        if (status == QP_OK)
            keep_mapped(reader, start, i);
        else
            name_shard(artifact->files[i].name, error);
    }
    for (size_t i = 0; i < reader->count && status == QP_OK; i++) {
        if (!reader->map[i].found)
            return qp_json_fail_check(reader->map[i].place, error, "S-MAP",
                                      "the shard %.100s does not hold this tensor",
                                      reader->map[i].shard);
    }
    return status == QP_OK ? keep_first_keys(reader, error) : status;
}

/* ---- metadata of the index ------------------------------------------------------------------ */

/* What the index says beside the map; `total_size` is about these files and not the model. */
static qp_status read_metadata(index_reader *reader, qp_error *error)
{
    qp_json_value object, name, value;
    qp_status status = QP_OK;

    if (!qp_json_find(qp_json_root(&reader->json), "metadata", &object))
        return QP_OK;
    qp_json_iterator iterator = qp_json_iterate(object);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        const char *key, *text;
        size_t length;
        if (qp_json_equals(name, "total_size"))
            continue;
        status = qp_safetensors_keep(reader->artifact, name, &key, error);
        if (status != QP_OK)
            break;
        qp_artifact_metadatum *added = qp_artifact_add_metadatum(reader->artifact);
        if (added == NULL)
            return qp_fail_memory(error, "a table of metadata");
        qp_json_source(value, &text, &length);
        *added = (qp_artifact_metadatum){.key = key,
                                         .type = QP_META_JSON,
                                         .count = 1,
                                         .value = (const uint8_t *)text,
                                         .size = length};
    }
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static qp_status read_index(index_reader *reader, qp_error *error)
{
    const qp_file *file = &reader->artifact->files[0].file;
    qp_status status = qp_safetensors_json(&reader->json, file->bytes, file->size, error);

    if (status == QP_OK)
        status = read_map(reader, error);
    if (status != QP_OK)
        return status;
    qp_named named = map_of(reader);
    reader->by_tensor = qp_named_order(&reader->arena, &named);
    if (reader->by_tensor == NULL)
        return qp_fail_memory(error, "the order of the tensors");
    status = add_shards(reader, error);
    if (status == QP_OK)
        status = read_metadata(reader, error);
    return status == QP_OK ? read_shards(reader, error) : status;
}

qp_status qp_safetensors_read_index(qp_artifact *artifact, qp_error *error)
{
    index_reader reader = {.artifact = artifact};

    artifact->directory = (const char *)artifact->files[0].file.bytes;
    artifact->directory_size = artifact->files[0].file.size;
    qp_json_init(&reader.json, &artifact->allocator);
    qp_arena_init(&reader.arena, &artifact->allocator);
    qp_status status = read_index(&reader, error);
    qp_arena_free(&reader.arena);
    qp_json_free(&reader.json);
    return status;
}
