/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact.c - the registry of kinds of files, opening a file by its content, and what is asked of
 * an open one.
 */
#include "artifact/artifact.h"

#include <stdio.h>

/* ---- the registry --------------------------------------------------------------------------- */

static const qp_artifact_kind kinds[] = {
    {"ninfer", ".ninfer", "weights with their components and uses, container version 3",
     &qp_ninfer_rules},
    {"gguf", ".gguf", "weights and metadata of ggml, versions 2 and 3", &qp_gguf_rules},
    {"safetensors", ".safetensors", "tensors of plain elements, or an index of shards",
     &qp_safetensors_rules},
};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

size_t qp_artifact_kind_count(void)
{
    return KIND_COUNT;
}

const qp_artifact_kind *qp_artifact_kind_at(size_t index)
{
    return index < KIND_COUNT ? &kinds[index] : NULL;
}

const qp_artifact_kind *qp_artifact_kind_find(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), count = strlen(ending);
    return length >= count && strcmp(text + length - count, ending) == 0;
}

const qp_artifact_kind *qp_artifact_kind_of_path(const char *path)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const char *index_extension = kinds[i].rules->index_extension;
        if (ends_with(path, kinds[i].extension) ||
            (index_extension != NULL && ends_with(path, index_extension)))
            return &kinds[i];
    }
    return NULL;
}

const qp_artifact_kind *qp_artifact_kind_of_bytes(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].rules->probe(bytes, size))
            return &kinds[i];
    }
    return NULL;
}

/* ---- opening and closing -------------------------------------------------------------------- */

static qp_artifact *artifact_new(const char *path, const qp_allocator *allocator)
{
    qp_artifact *artifact = qp_allocate(allocator, 1, sizeof *artifact);
    if (artifact == NULL)
        return NULL;
    artifact->allocator = qp_allocator_or_default(allocator);
    qp_arena_init(&artifact->arena, allocator);
    artifact->version = "";
    artifact->alignment = 1;

    size_t length = strlen(path);
    char *copy = qp_arena_allocate(&artifact->arena, length + 1, 1);
    qp_artifact_file *first = qp_artifact_add_file(artifact);
    if (copy == NULL || first == NULL) {
        qp_artifact_close(artifact);
        return NULL;
    }
    memcpy(copy, path, length);
    artifact->path = copy;
    first->name = qp_path_file_name(copy);
    return artifact;
}

static void release_tables(qp_artifact *artifact)
{
    const qp_allocator *allocator = &artifact->allocator;
    qp_release(allocator, artifact->files, artifact->file_capacity, sizeof *artifact->files);
    qp_release(allocator, artifact->tensors, artifact->tensor_capacity, sizeof *artifact->tensors);
    qp_release(allocator, artifact->metadata, artifact->metadata_capacity,
               sizeof *artifact->metadata);
    qp_release(allocator, artifact->resources, artifact->resource_capacity,
               sizeof *artifact->resources);
}

void qp_artifact_close(qp_artifact *artifact)
{
    if (artifact == NULL)
        return;
    for (size_t i = 0; i < artifact->n_files; i++) {
        if (!artifact->files[i].borrowed)
            qp_file_close(&artifact->files[i].file);
    }
    release_tables(artifact);
    qp_arena_free(&artifact->arena);
    qp_allocator allocator = artifact->allocator;
    qp_release(&allocator, artifact, 1, sizeof *artifact);
}

/* The kind is told by the content; a file whose content is of no kind is held to what its name
 * says, so that the refusal names what is wrong with its first bytes. */
static qp_status read_directory(qp_artifact *artifact, qp_error *error)
{
    const qp_file *file = &artifact->files[0].file;
    artifact->kind = qp_artifact_kind_of_bytes(file->bytes, file->size);
    if (artifact->kind == NULL)
        artifact->kind = qp_artifact_kind_of_path(artifact->path);
    if (artifact->kind == NULL)
        return qp_fail_check(error, QP_MALFORMED, NULL, 0,
                             "this is no file of weights: none of .ninfer, GGUF and safetensors");
    qp_status status = artifact->kind->rules->open(artifact, error);
    return status == QP_OK ? qp_artifact_index(artifact, error) : status;
}

static qp_status finish(qp_status status, qp_artifact *made, qp_artifact **artifact,
                        qp_error *error)
{
    if (status == QP_OK)
        status = read_directory(made, error);
    if (status == QP_OK)
        *artifact = made;
    else
        qp_artifact_close(made);
    return status;
}

qp_status qp_artifact_open(const char *path, const qp_allocator *allocator, qp_artifact **artifact,
                           qp_error *error)
{
    *artifact = NULL;
    qp_artifact *made = artifact_new(path, allocator);
    if (made == NULL)
        return qp_fail_memory(error, "an artifact");
    qp_status status = qp_file_open(path, allocator, &made->files[0].file, error);
    return finish(status, made, artifact, error);
}

qp_status qp_artifact_open_bytes(const char *name, const uint8_t *bytes, size_t size,
                                 const qp_allocator *allocator, qp_artifact **artifact,
                                 qp_error *error)
{
    *artifact = NULL;
    qp_artifact *made = artifact_new(name, allocator);
    if (made == NULL)
        return qp_fail_memory(error, "an artifact");
    made->in_memory = true;
    made->files[0].file.bytes = bytes;
    made->files[0].file.size = size;
    made->files[0].borrowed = true;
    return finish(QP_OK, made, artifact, error);
}

/* ---- what is asked -------------------------------------------------------------------------- */

const qp_artifact_kind *qp_artifact_kind_of(const qp_artifact *artifact)
{
    return artifact->kind;
}

const char *qp_artifact_version(const qp_artifact *artifact)
{
    return artifact->version;
}

const qp_artifact_tensor *qp_artifact_tensors(const qp_artifact *artifact, size_t *count)
{
    *count = artifact->n_tensors;
    return artifact->tensors;
}

const qp_artifact_metadatum *qp_artifact_metadata(const qp_artifact *artifact, size_t *count)
{
    *count = artifact->n_metadata;
    return artifact->metadata;
}

const qp_artifact_resource *qp_artifact_resources(const qp_artifact *artifact, size_t *count)
{
    *count = artifact->n_resources;
    return artifact->resources;
}

const char *qp_artifact_directory(const qp_artifact *artifact, size_t *size)
{
    *size = artifact->directory_size;
    return artifact->directory;
}

const uint8_t *qp_artifact_id(const qp_artifact *artifact)
{
    return artifact->kind->rules->has_id ? artifact->id : NULL;
}

uint64_t qp_artifact_alignment(const qp_artifact *artifact)
{
    return artifact->alignment;
}

size_t qp_artifact_file_count(const qp_artifact *artifact)
{
    return artifact->n_files;
}

const char *qp_artifact_file_name(const qp_artifact *artifact, size_t index)
{
    return index < artifact->n_files ? artifact->files[index].name : NULL;
}

void qp_artifact_name_error(qp_error *error, const char *name)
{
    char text[sizeof error->message];
    if (error == NULL)
        return;
    snprintf(text, sizeof text, "%.90s: %.138s", name, error->message);
    memcpy(error->message, text, sizeof text);
}

/* ---- geometry ------------------------------------------------------------------------------- */

/* The geometry of words that a format has, with the tensor's name in a refusal. */
static qp_status plan_matrix(const qp_artifact_tensor *tensor, const uint64_t *shape, uint32_t rank,
                             uint64_t divisors, qp_matrix *matrix, qp_error *error)
{
    qp_status status =
        qp_matrix_plan(tensor->format, tensor->layout, shape, rank, divisors, matrix, error);
    if (status != QP_OK)
        qp_artifact_name_error(error, tensor->name);
    return status;
}

static qp_status matrix_of(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                           qp_matrix *matrix, qp_error *error)
{
    const struct qp_artifact_kind_rules *rules = artifact->kind->rules;
    qp_status status =
        rules->check_tensor != NULL ? rules->check_tensor(artifact, tensor, error) : QP_OK;
    if (status != QP_OK)
        return status;
    if (tensor->format == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%.80s holds elements of type %.40s, which no format has", tensor->name,
                       tensor->type);

    uint64_t rows = 1; /* of a tensor of any rank, whose product of dimensions was checked */
    if (rules->flattens_blocks && tensor->format->family == QP_FAMILY_GGUF && tensor->rank > 0) {
        for (uint32_t i = 0; i + 1 < tensor->rank; i++)
            rows *= tensor->shape[i];
        const uint64_t shape[2] = {rows, tensor->shape[tensor->rank - 1]};
        return plan_matrix(tensor, shape, 2, 1, matrix, error);
    }
    return plan_matrix(tensor, tensor->shape, tensor->rank, tensor->divisors, matrix, error);
}

/* Where a tensor begins in its file. */
static uint64_t place_of(const qp_artifact *artifact, const qp_artifact_tensor *tensor)
{
    size_t i = artifact->n_files - 1;
    if (!artifact->kind->rules->spans_files)
        return tensor->offset;
    while (i > 0 && artifact->files[i].start > tensor->offset)
        i--;
    return artifact->files[i].at + (tensor->offset - artifact->files[i].start);
}

qp_status qp_artifact_matrix(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                             qp_matrix *matrix, qp_error *error)
{
    qp_status status = matrix_of(artifact, tensor, matrix, error);
    if (status != QP_OK && error != NULL && error->offset < 0)
        error->offset = (int64_t)place_of(artifact, tensor);
    return status;
}
