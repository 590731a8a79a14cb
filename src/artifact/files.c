/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - the files of an artifact: opened as siblings of the first when a read needs them, and
 * ranges of a tensor found in them (artifact-container.md sections 2 and 5).
 */
#include "artifact/artifact.h"

#include <inttypes.h>

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_separator(char c)
{
#if defined(_WIN32)
    return c == '/' || c == '\\';
#else
    return c == '/';
#endif
}

const char *qp_path_file_name(const char *path)
{
    const char *name = path;
    for (const char *c = path; *c != '\0'; c++) {
        if (is_separator(*c))
            name = c + 1;
    }
    return name;
}

bool qp_is_sibling_name(const char *name)
{
    return name[0] != '\0' && strpbrk(name, "/\\") == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* ---- opening -------------------------------------------------------------------------------- */

static qp_status open_sibling(qp_artifact *artifact, qp_artifact_file *file, qp_error *error)
{
    size_t folder = (size_t)(qp_path_file_name(artifact->path) - artifact->path);
    size_t length = strlen(file->name), size = folder + length + 1; /* both are in memory */
    char *path = qp_allocate(&artifact->allocator, size, 1);

    if (path == NULL)
        return qp_fail_memory(error, "the path of a file");
    memcpy(path, artifact->path, folder);
    memcpy(path + folder, file->name, length);
    qp_status status = qp_file_open(path, &artifact->allocator, &file->file, error);
    qp_release(&artifact->allocator, path, size, 1);
    return status;
}

qp_status qp_artifact_open_file(qp_artifact *artifact, size_t index, qp_error *error)
{
    qp_artifact_file *file = &artifact->files[index];
    qp_status status;

    if (file->file.bytes != NULL)
        return QP_OK;
    if (artifact->in_memory)
        status = qp_fail(error, QP_IO, "the file %.120s cannot be opened beside bytes in memory",
                         file->name);
    else
        status = open_sibling(artifact, file, error);
    if (status == QP_IO && error != NULL)
        error->check = artifact->kind->rules->missing_file;
    if (status == QP_OK && artifact->kind->rules->check_file != NULL) {
        status = artifact->kind->rules->check_file(artifact, index, error);
        if (status != QP_OK)
            qp_file_close(&file->file); /* so that the next read is refused as well */
    }
    return status;
}

qp_status qp_artifact_open_files(qp_artifact *artifact, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < artifact->n_files && status == QP_OK; i++)
        status = qp_artifact_open_file(artifact, i, error);
    return status;
}

/* ---- ranges --------------------------------------------------------------------------------- */

/* The part of a range that lies in one file. */
typedef struct piece {
    size_t file;
    uint64_t at; /* in the file */
    uint64_t size;
} piece;

/* The last file that begins at or before a logical offset. */
static size_t file_of_offset(const qp_artifact *artifact, uint64_t offset)
{
    size_t low = 0, high = artifact->n_files;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (artifact->files[middle].start <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first piece of a range of a tensor, or of a resource when `tensor` is NULL, that begins at
 * `offset` of the file or of the logical payload. */
static piece piece_at(const qp_artifact *artifact, size_t file, uint64_t offset, uint64_t size)
{
    piece first = {file, offset, size};
    if (artifact->kind->rules->spans_files) {
        first.file = file_of_offset(artifact, offset);
        const qp_artifact_file *found = &artifact->files[first.file];
        uint64_t within = offset - found->start, left = found->size - within;
        first.at = found->at + within;
        first.size = size < left ? size : left;
    }
    return first;
}

static qp_status open_range(qp_artifact *artifact, size_t file, uint64_t offset, uint64_t size,
                            qp_error *error)
{
    qp_status status = QP_OK;
    while (size > 0 && status == QP_OK) {
        piece next = piece_at(artifact, file, offset, size);
        status = qp_artifact_open_file(artifact, next.file, error);
        offset += next.size;
        size -= next.size;
    }
    return status;
}

qp_status qp_artifact_open_range(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                 uint64_t offset, uint64_t size, qp_error *error)
{
    return open_range(artifact, tensor->file, tensor->offset + offset, size, error);
}

/* Offsets within an open file fit size_t: its bytes are in the address space. */
static const uint8_t *bytes_of(const qp_artifact *artifact, const piece *part)
{
    return artifact->files[part->file].file.bytes + (size_t)part->at;
}

static void copy_range(const qp_artifact *artifact, size_t file, uint64_t offset, uint64_t size,
                       uint8_t *bytes)
{
    while (size > 0) {
        piece next = piece_at(artifact, file, offset, size);
        memcpy(bytes, bytes_of(artifact, &next), (size_t)next.size);
        bytes += next.size;
        offset += next.size;
        size -= next.size;
    }
}

const uint8_t *qp_artifact_bytes(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                 uint64_t offset, uint64_t size)
{
    if (size == 0)
        return artifact->files[0].file.bytes; /* no byte of it is read */
    piece first = piece_at(artifact, tensor->file, tensor->offset + offset, size);
    return first.size == size ? bytes_of(artifact, &first) : NULL;
}

void qp_artifact_copy(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                      uint64_t offset, uint64_t size, uint8_t *bytes)
{
    copy_range(artifact, tensor->file, tensor->offset + offset, size, bytes);
}

/* ---- reading -------------------------------------------------------------------------------- */

static qp_status prepare(qp_artifact *artifact, const qp_artifact_tensor *tensor, uint64_t offset,
                         uint64_t size, qp_error *error)
{
    uint64_t end;
    qp_status status = QP_OK;

    if (artifact->kind->rules->check_tensor != NULL)
        status = artifact->kind->rules->check_tensor(artifact, tensor, error);
    if (status != QP_OK)
        return status;
    if (!qp_add_u64(offset, size, &end) || end > tensor->bytes)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%" PRIu64 " bytes from %" PRIu64 " on do not lie in the tensor's %" PRIu64,
                       size, offset, tensor->bytes);
    return qp_artifact_open_range(artifact, tensor, offset, size, error);
}

qp_status qp_artifact_read(qp_artifact *artifact, const qp_artifact_tensor *tensor, uint64_t offset,
                           uint64_t size, uint8_t *bytes, qp_error *error)
{
    qp_status status = prepare(artifact, tensor, offset, size, error);
    if (status == QP_OK)
        qp_artifact_copy(artifact, tensor, offset, size, bytes);
    return status;
}

qp_status qp_artifact_view(qp_artifact *artifact, const qp_artifact_tensor *tensor, uint64_t offset,
                           uint64_t size, const uint8_t **bytes, qp_error *error)
{
    qp_status status = prepare(artifact, tensor, offset, size, error);
    *bytes = status == QP_OK ? qp_artifact_bytes(artifact, tensor, offset, size) : NULL;
    return status;
}

qp_status qp_artifact_read_resource(qp_artifact *artifact, const qp_artifact_resource *resource,
                                    uint8_t *bytes, qp_error *error)
{
    if (strcmp(resource->encoding, "raw_bytes_v1") != 0)
        return qp_fail_check(error, QP_MALFORMED, "C-ENC", -1,
                             "the resource %.80s has the unknown encoding %.60s", resource->id,
                             resource->encoding);
    qp_status status = open_range(artifact, 0, resource->offset, resource->bytes, error);
    if (status == QP_OK)
        copy_range(artifact, 0, resource->offset, resource->bytes, bytes);
    return status;
}
