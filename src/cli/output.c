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

static FILE *open_stream(const char *path, qp_output_file *output)
{
    if (strcmp(path, "-") == 0)
        return stdout;
    if (is_special(path))
        return fopen(path, "wb");
    return open_beside(path, &output->beside);
}

static const char *name_of(const qp_output_file *output)
{
    return strcmp(output->path, "-") == 0 ? "standard output" : output->path;
}

qp_status qp_output_open(const char *path, qp_output_file *output, qp_error *error)
{
    *output = (qp_output_file){.path = path};
    qp_buffer_init(&output->beside, NULL);
    errno = 0;
    output->stream = open_stream(path, output);
    if (output->beside.failed) {
        output->beside.size = 0;
        return qp_fail_memory(error, "the name of an output file");
    }
    if (output->stream == NULL) {
        output->beside.size = 0;
        return fail_write(error, name_of(output));
    }
    if (output->beside.size > 0)
        keep_mode(path, (const char *)output->beside.bytes);
    return QP_OK;
}

qp_status qp_output_append(qp_output_file *output, const void *bytes, size_t size, qp_error *error)
{
    errno = 0;
    return size == 0 || fwrite(bytes, 1, size, output->stream) == size
               ? QP_OK
               : fail_write(error, name_of(output));
}

/* Flushes and, but for standard output, closes; errno tells about the first failure. */
static bool end_stream(FILE *stream)
{
    errno = 0;
    bool flushed = fflush(stream) == 0;
    int number = errno;
    if (stream == stdout)
        return flushed;
    if (fclose(stream) != 0 && flushed)
        return false;
    errno = number;
    return flushed;
}

qp_status qp_output_close(qp_output_file *output, qp_status status, qp_error *error)
{
    const char *beside = output->beside.size > 0 ? (const char *)output->beside.bytes : NULL;
    if (output->stream != NULL && !end_stream(output->stream) && status == QP_OK)
        status = fail_write(error, name_of(output));
    if (beside != NULL && status == QP_OK && rename(beside, output->path) != 0)
        status = fail_write(error, name_of(output));
    if (beside != NULL && status != QP_OK)
        remove(beside);
    output->stream = NULL;
    qp_buffer_free(&output->beside);
    return status;
}

qp_status qp_output_check(const char *path, bool force, qp_error *error)
{
    struct stat facts;
    if (force || strcmp(path, "-") == 0 || stat(path, &facts) != 0)
        return QP_OK;
    return qp_fail(error, QP_IO, "%.120s exists: it is replaced only with --force", path);
}

qp_status qp_output_write(const char *path, const void *bytes, size_t size, qp_error *error)
{
    qp_output_file output;
    qp_status status = qp_output_open(path, &output, error);
    if (status == QP_OK)
        status = qp_output_append(&output, bytes, size, error);
    return qp_output_close(&output, status, error);
}

qp_status qp_output_buffer(const char *path, const qp_buffer *buffer, qp_error *error)
{
    if (buffer->failed)
        return qp_fail(error, QP_NO_MEMORY, "no memory for the output %.120s", path);
    return qp_output_write(path, buffer->bytes, buffer->size, error);
}
