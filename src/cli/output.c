/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - writing a whole result: a file beside the target, then a rename.
 */
#define _POSIX_C_SOURCE 200809L /* lstat, chmod */

#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MOST_NAMES 100 /* files beside the target that are tried, if earlier runs were killed */

static qp_status fail_write(qp_error *error, const char *path)
{
    int number = errno;
    return qp_fail(error, QP_IO, "cannot write %.120s: %s", path,
                   number != 0 ? strerror(number) : "the system refused it");
}

static bool write_stream(FILE *stream, const void *bytes, size_t size)
{
    errno = 0;
    return (size == 0 || fwrite(bytes, 1, size, stream) == size) && fflush(stream) == 0;
}

/* Writes and closes; errno tells about the first failure. */
static bool write_and_close(FILE *stream, const void *bytes, size_t size)
{
    bool written = write_stream(stream, bytes, size);
    int number = errno;
    if (fclose(stream) != 0 && written)
        return false;
    errno = number;
    return written;
}

/* Pipes, devices and symbolic links (/dev/stdout is one) are written through, not replaced. */
static bool is_special(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

/* Gives the new file the permissions of the one that it replaces. */
static void keep_mode(const char *path, const char *beside)
{
#if defined(__wasi__) /* its files have no permissions */
    (void)path;
    (void)beside;
#else
    struct stat facts;
    if (stat(path, &facts) == 0)
        (void)chmod(beside, facts.st_mode & 07777); /* the bytes matter more than the mode */
#endif
}

static qp_status write_in_place(const char *path, const void *bytes, size_t size, qp_error *error)
{
    errno = 0;
    FILE *stream = fopen(path, "wb");
    if (stream == NULL || !write_and_close(stream, bytes, size))
        return fail_write(error, path);
    return QP_OK;
}

/* Opens a file that did not exist before and leaves its name in `name`, NUL-terminated. */
static FILE *open_beside(const char *path, qp_buffer *name)
{
    for (unsigned n = 0; n < MOST_NAMES; n++) {
        name->size = 0;
        qp_buffer_format(name, "%s.quipu-%u", path, n);
        qp_buffer_append(name, "", 1);
        if (name->failed)
            return NULL;
        errno = 0;
        FILE *stream = fopen((const char *)name->bytes, "wbx");
        if (stream != NULL || errno != EEXIST)
            return stream;
    }
    return NULL;
}

static qp_status replace(const char *path, qp_buffer *name, const void *bytes, size_t size,
                         qp_error *error)
{
    FILE *stream = open_beside(path, name);
    if (name->failed)
        return qp_fail_memory(error, "the name of an output file");
    if (stream == NULL)
        return fail_write(error, path);
    const char *beside = (const char *)name->bytes;
    keep_mode(path, beside);
    if (!write_and_close(stream, bytes, size) || rename(beside, path) != 0) {
        qp_status status = fail_write(error, path);
        remove(beside);
        return status;
    }
    return QP_OK;
}

qp_status qp_output_write(const char *path, const void *bytes, size_t size, qp_error *error)
{
    if (strcmp(path, "-") == 0)
        return write_stream(stdout, bytes, size) ? QP_OK : fail_write(error, "standard output");
    if (is_special(path))
        return write_in_place(path, bytes, size, error);

    qp_buffer name;
    qp_buffer_init(&name, NULL);
    qp_status status = replace(path, &name, bytes, size, error);
    qp_buffer_free(&name);
    return status;
}

qp_status qp_output_buffer(const char *path, const qp_buffer *buffer, qp_error *error)
{
    if (buffer->failed)
        return qp_fail(error, QP_NO_MEMORY, "no memory for the output %.120s", path);
    return qp_output_write(path, buffer->bytes, buffer->size, error);
}
