/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - the bytes of a file: mapped where file_map.c can, read into memory otherwise (pipes,
 * standard input, systems without mappings).
 */
#include "base/file_map.h"

#include <errno.h>
#include <stdio.h>

#define READ_STEP ((size_t)64 * 1024)

static qp_status fail_read(qp_error *error, const char *name, int number)
{
    return qp_fail(error, QP_IO, "cannot read %.120s: %s", name,
                   number != 0 ? strerror(number) : "read error");
}

/* Reads to the end, growing by half each time, then gives back what is not used. */
static qp_status read_all(FILE *stream, const char *name, qp_buffer *buffer, qp_error *error)
{
    for (;;) {
        if (!qp_buffer_reserve(buffer, READ_STEP))
            return qp_fail(error, QP_NO_MEMORY, "no memory for the contents of %.120s", name);
        errno = 0;
        size_t room = buffer->capacity - buffer->size;
        size_t got = fread(buffer->bytes + buffer->size, 1, room, stream);
        buffer->size += got;
        if (got < room) {
            if (ferror(stream))
                return fail_read(error, name, errno);
            return QP_OK;
        }
    }
}

/* The block is cut to the size of the file, so that qp_file need not know a capacity. */
static qp_status take_bytes(qp_buffer *buffer, const char *name, qp_file *file, qp_error *error)
{
    size_t size = buffer->size > 0 ? buffer->size : 1;
    uint8_t *bytes = buffer->allocator.reallocate(buffer->allocator.context, buffer->bytes,
                                                  buffer->capacity, size);
    if (bytes == NULL)
        return qp_fail(error, QP_NO_MEMORY, "no memory for the contents of %.120s", name);
    *file = (qp_file){buffer->allocator, bytes, buffer->size, false};
    return QP_OK;
}

static qp_status open_stream(FILE *stream, const char *name, const qp_allocator *allocator,
                             qp_file *file, qp_error *error)
{
    qp_file opened = {.allocator = qp_allocator_or_default(allocator)};
    if (qp_file_map(stream, &opened)) {
        *file = opened;
        return QP_OK;
    }
    qp_buffer buffer;
    qp_buffer_init(&buffer, allocator);
    qp_status status = read_all(stream, name, &buffer, error);
    if (status == QP_OK)
        status = take_bytes(&buffer, name, file, error);
    if (status != QP_OK)
        qp_buffer_free(&buffer);
    return status;
}

qp_status qp_file_open(const char *path, const qp_allocator *allocator, qp_file *file,
                       qp_error *error)
{
    errno = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return qp_fail(error, QP_IO, "cannot open %.120s: %s", path,
                       errno != 0 ? strerror(errno) : "the system refused it");
    qp_status status = open_stream(stream, path, allocator, file, error);
    fclose(stream);
    return status;
}

qp_status qp_file_open_standard_input(const qp_allocator *allocator, qp_file *file, qp_error *error)
{
    return open_stream(stdin, "standard input", allocator, file, error);
}

void qp_file_close(qp_file *file)
{
    if (file->mapped) {
        qp_file_unmap(file);
    } else if (file->bytes != NULL) {
        size_t size = file->size > 0 ? file->size : 1;
        file->allocator.reallocate(file->allocator.context, (void *)(uintptr_t)file->bytes, size,
                                   0);
    }
    file->bytes = NULL;
    file->size = 0;
    file->mapped = false;
}
