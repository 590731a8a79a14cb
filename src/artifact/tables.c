/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the growing tables of an artifact, and their order by name.
 *
 * A table grows with what has been read, never by a count that a file states. Names are sorted by
 * merging, so that no file can make a search for repetitions quadratic.
 */
#include "artifact/artifact.h"

/* ---- growing -------------------------------------------------------------------------------- */

void *qp_table_grow(const qp_allocator *allocator, void *block, size_t *capacity, size_t count,
                    size_t size)
{
    size_t wanted = *capacity + *capacity / 2 + 8, bytes; /* below SIZE_MAX: a block is that long */

    if (count < *capacity)
        return block;
    if (!qp_mul_size(wanted, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    void *grown = allocator->reallocate(allocator->context, block, *capacity * size, bytes);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

qp_artifact_file *qp_artifact_add_file(qp_artifact *artifact)
{
    qp_artifact_file *files =
        qp_table_grow(&artifact->allocator, artifact->files, &artifact->file_capacity,
                      artifact->n_files, sizeof *files);
    if (files == NULL)
        return NULL;
    artifact->files = files;
    files[artifact->n_files] = (qp_artifact_file){0};
    return &files[artifact->n_files++];
}

qp_artifact_tensor *qp_artifact_add_tensor(qp_artifact *artifact)
{
    qp_artifact_tensor *tensors =
        qp_table_grow(&artifact->allocator, artifact->tensors, &artifact->tensor_capacity,
                      artifact->n_tensors, sizeof *tensors);
    if (tensors == NULL)
        return NULL;
    artifact->tensors = tensors;
    tensors[artifact->n_tensors] = (qp_artifact_tensor){0};
    return &tensors[artifact->n_tensors++];
}

qp_artifact_metadatum *qp_artifact_add_metadatum(qp_artifact *artifact)
{
    qp_artifact_metadatum *metadata =
        qp_table_grow(&artifact->allocator, artifact->metadata, &artifact->metadata_capacity,
                      artifact->n_metadata, sizeof *metadata);
    if (metadata == NULL)
        return NULL;
    artifact->metadata = metadata;
    metadata[artifact->n_metadata] = (qp_artifact_metadatum){0};
    return &metadata[artifact->n_metadata++];
}

qp_artifact_resource *qp_artifact_add_resource(qp_artifact *artifact)
{
    qp_artifact_resource *resources =
        qp_table_grow(&artifact->allocator, artifact->resources, &artifact->resource_capacity,
                      artifact->n_resources, sizeof *resources);
    if (resources == NULL)
        return NULL;
    artifact->resources = resources;
    resources[artifact->n_resources] = (qp_artifact_resource){0};
    return &resources[artifact->n_resources++];
}

/* ---- sorting -------------------------------------------------------------------------------- */

typedef struct order {
    qp_not_after *not_after;
    const void *context;
} order;

static void merge(const order *by, const uint32_t *from, uint32_t *to, size_t middle, size_t count)
{
    size_t a = 0, b = middle;
    for (size_t i = 0; i < count; i++) {
        bool take_a = a < middle && (b == count || by->not_after(by->context, from[a], from[b]));
        to[i] = take_a ? from[a++] : from[b++];
    }
}

void qp_sort_indices(uint32_t *indices, uint32_t *scratch, size_t count, qp_not_after *not_after,
                     const void *context)
{
    const order by = {not_after, context};
    uint32_t *from = indices, *to = scratch;

    for (size_t width = 1; width < count; width = width <= count / 2 ? width * 2 : count) {
        for (size_t start = 0; start < count;) {
            size_t left = count - start;
            size_t middle = width < left ? width : left;
            size_t end = left - middle < width ? left : middle + width;
            merge(&by, from + start, to + start, middle, end);
            start += end;
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != indices)
        memcpy(indices, from, count * sizeof *indices);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* A pointer to a structure is one to its first member, which is read as bytes: the records of
 * several types share this function. */
static const char *name_of(const qp_named *named, size_t index)
{
    const char *name;
    memcpy(&name, (const char *)named->records + index * named->stride, sizeof name);
    return name;
}

static bool name_not_after(const void *context, uint32_t a, uint32_t b)
{
    const qp_named *named = context;
    return strcmp(name_of(named, a), name_of(named, b)) <= 0;
}

uint32_t *qp_named_order(qp_arena *arena, const qp_named *named)
{
    uint32_t *indices = qp_arena_allocate(arena, named->count, sizeof *indices);
    uint32_t *scratch = qp_allocate(&arena->allocator, named->count, sizeof *scratch);

    if (indices != NULL && scratch != NULL) {
        for (size_t i = 0; i < named->count; i++)
            indices[i] = (uint32_t)i;
        qp_sort_indices(indices, scratch, named->count, name_not_after, named);
    } else {
        indices = NULL;
    }
    qp_release(&arena->allocator, scratch, named->count, sizeof *scratch);
    return indices;
}

size_t qp_named_repeated(const qp_named *named, const uint32_t *indices)
{
    size_t repeated = named->count;
    for (size_t i = 1; i < named->count; i++) {
        if (indices[i] < repeated &&
            strcmp(name_of(named, indices[i - 1]), name_of(named, indices[i])) == 0)
            repeated = indices[i];
    }
    return repeated;
}

size_t qp_named_find(const qp_named *named, const uint32_t *indices, const char *name)
{
    size_t low = 0, high = named->count;
    while (low < high) { /* the first whose name is not before the wanted one */
        size_t middle = low + (high - low) / 2;
        if (strcmp(name_of(named, indices[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == named->count || strcmp(name_of(named, indices[low]), name) != 0)
        return named->count;
    return indices[low];
}

/* ---- the artifact's own --------------------------------------------------------------------- */

static qp_named tensors_of(const qp_artifact *artifact)
{
    return (qp_named){artifact->tensors, artifact->n_tensors, sizeof *artifact->tensors};
}

static qp_named resources_of(const qp_artifact *artifact)
{
    return (qp_named){artifact->resources, artifact->n_resources, sizeof *artifact->resources};
}

static qp_named metadata_of(const qp_artifact *artifact)
{
    return (qp_named){artifact->metadata, artifact->n_metadata, sizeof *artifact->metadata};
}

qp_status qp_artifact_index(qp_artifact *artifact, qp_error *error)
{
    qp_named tensors = tensors_of(artifact), resources = resources_of(artifact);
    qp_named metadata = metadata_of(artifact);

    if (artifact->tensors_by_name != NULL)
        return QP_OK;
    artifact->tensors_by_name = qp_named_order(&artifact->arena, &tensors);
    artifact->resources_by_name = qp_named_order(&artifact->arena, &resources);
    artifact->metadata_by_key = qp_named_order(&artifact->arena, &metadata);
    if (artifact->tensors_by_name == NULL || artifact->resources_by_name == NULL ||
        artifact->metadata_by_key == NULL)
        return qp_fail_memory(error, "the order of a file's names");
    return QP_OK;
}

const qp_artifact_tensor *qp_artifact_find(const qp_artifact *artifact, const char *name)
{
    qp_named named = tensors_of(artifact);
    size_t index = qp_named_find(&named, artifact->tensors_by_name, name);
    return index < named.count ? &artifact->tensors[index] : NULL;
}

const qp_artifact_resource *qp_artifact_resource_find(const qp_artifact *artifact, const char *id)
{
    qp_named named = resources_of(artifact);
    size_t index = qp_named_find(&named, artifact->resources_by_name, id);
    return index < named.count ? &artifact->resources[index] : NULL;
}

const qp_artifact_metadatum *qp_artifact_metadata_find(const qp_artifact *artifact, const char *key)
{
    qp_named named = metadata_of(artifact);
    size_t index = qp_named_find(&named, artifact->metadata_by_key, key);
    return index < named.count ? &artifact->metadata[index] : NULL;
}
