/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c - files that come into being whole or not at all.
 */
#define _XOPEN_SOURCE 700 /* lstat, pwrite, ftruncate */
#ifndef _FILE_OFFSET_BITS
#    define _FILE_OFFSET_BITS 64 /* files over 2 GiB on 32-bit systems */
#endif

#include "artifact/write.h"

#include "artifact/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_NAMES 100 /* names beside the target that are tried, if earlier runs were killed */
#define MOST_OPEN 64   /* files held open; of more, each is opened for each write */
#define CLOSED (-1)
#define WRITE_STEP ((size_t)1 << 30) /* at most so much in one call: some systems take no more */

typedef struct new_file {
    char *target; /* in the arena */
    char *path;   /* until it is published */
    uint64_t size;
    int descriptor;
    bool exists; /* at `path` */
    bool published;
} new_file;

struct qp_new_files {
    qp_allocator allocator;
    qp_arena arena;
    new_file *files;
    size_t count;
    char *folder; /* of several new files; NULL for one */
    bool replace;
};

static qp_status fail_system(qp_error *error, const char *verb, const char *path)
{
    int number = errno;
    return qp_fail(error, QP_IO, "cannot %s %.120s: %s", verb, path,
                   number != 0 ? strerror(number) : "the system refused it");
}

/* ---- making ---------------------------------------------------------------------------------- */

qp_status qp_new_files_check_target(const char *path, bool replace, qp_error *error)
{
    struct stat facts;
    if (lstat(path, &facts) != 0)
        return QP_OK;
    if (!S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode))
        return qp_fail(error, QP_IO, "%.120s is no ordinary file", path);
    if (!replace)
        return qp_fail(error, QP_IO, "%.120s exists: it is replaced only on request", path);
    return QP_OK;
}

/* `folder` and `name` one after the other, in the arena. */
static char *join(qp_arena *arena, const char *folder, size_t folder_length, const char *name)
{
    size_t length = strlen(name), size;
    if (!qp_add_size(folder_length, length, &size) || !qp_add_size(size, 1, &size))
        return NULL;
    char *text = qp_arena_allocate(arena, size, 1);
    if (text == NULL)
        return NULL;
    memcpy(text, folder, folder_length);
    memcpy(text + folder_length, name, length);
    return text;
}

static qp_status name_targets(qp_new_files *made, const char *path, const qp_new_file *files,
                              qp_error *error)
{
    size_t folder = (size_t)(qp_path_file_name(path) - path);
    for (size_t i = 0; i < made->count; i++) {
        new_file *file = &made->files[i];
        file->descriptor = CLOSED;
        file->size = files[i].size;
        file->target = files[i].name == NULL ? join(&made->arena, path, strlen(path), "")
                                             : join(&made->arena, path, folder, files[i].name);
        if (file->target == NULL)
            return qp_fail_memory(error, "the name of a file");
        qp_status status = qp_new_files_check_target(file->target, made->replace, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

/* Takes a name beside the target that nothing has, for a file or a folder. */
static qp_status take_name(qp_new_files *made, bool is_folder, char **name, qp_error *error)
{
    const char *target = made->files[0].target;
    for (unsigned n = 0; n < MOST_NAMES; n++) {
        char ending[32];
        snprintf(ending, sizeof ending, ".quipu-%u", n);
        *name = join(&made->arena, target, strlen(target), ending);
        if (*name == NULL)
            return qp_fail_memory(error, "the name of a file");
        errno = 0;
        int made_it =
            is_folder ? mkdir(*name, 0777) : open(*name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (made_it >= 0) {
            made->files[0].descriptor = is_folder ? CLOSED : made_it;
            return QP_OK;
        }
        if (errno != EEXIST)
            break;
    }
    return fail_system(error, "make a file beside", target);
}

static qp_status make_one(qp_new_files *made, qp_error *error)
{
    qp_status status = take_name(made, false, &made->files[0].path, error);
    made->files[0].exists = status == QP_OK;
    return status;
}

static qp_status make_in_folder(qp_new_files *made, qp_error *error)
{
    char *folder = NULL;
    qp_status status = take_name(made, true, &folder, error);
    if (status != QP_OK)
        return status;
    made->folder = folder;
    for (size_t i = 0; i < made->count; i++) {
        new_file *file = &made->files[i];
        char *inside = join(&made->arena, folder, strlen(folder), "/");
        if (inside != NULL)
            inside = join(&made->arena, inside, strlen(inside), qp_path_file_name(file->target));
        if (inside == NULL)
            return qp_fail_memory(error, "the name of a file");
        file->path = inside;
        errno = 0;
        file->descriptor = open(inside, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file->descriptor < 0)
            return fail_system(error, "make", inside);
        file->exists = true;
        if (i >= MOST_OPEN) {
            (void)close(file->descriptor);
            file->descriptor = CLOSED;
        }
    }
    return QP_OK;
}

static qp_status set_sizes(qp_new_files *made, qp_error *error)
{
    for (size_t i = 0; i < made->count; i++) {
        new_file *file = &made->files[i];
        off_t size = (off_t)file->size;
        errno = 0;
        if (size < 0 || (uint64_t)size != file->size)
            errno = EFBIG;
        else if (file->descriptor == CLOSED ? truncate(file->path, size) == 0
                                            : ftruncate(file->descriptor, size) == 0)
            continue;
        return fail_system(error, "make room in", file->path);
    }
    return QP_OK;
}

/* Gives a new file the permissions of the one that it replaces. */
static void keep_modes(const qp_new_files *made)
{
#if defined(__wasi__) /* its files have no permissions */
    (void)made;
#else
    struct stat facts;
    for (size_t i = 0; i < made->count; i++) {
        if (stat(made->files[i].target, &facts) == 0)
            (void)chmod(made->files[i].path, facts.st_mode & 07777); /* the bytes matter more */
    }
#endif
}

qp_status qp_new_files_create(const char *path, const qp_new_file *files, size_t count,
                              bool replace, const qp_allocator *allocator, qp_new_files **result,
                              qp_error *error)
{
    *result = NULL;
    qp_new_files *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "an output");
    made->allocator = qp_allocator_or_default(allocator);
    made->replace = replace;
    qp_arena_init(&made->arena, allocator);
    made->files = qp_arena_allocate(&made->arena, count, sizeof *made->files);
    qp_status status = QP_OK;
    if (made->files == NULL)
        status = qp_fail_memory(error, "the files of an output");
    made->count = status == QP_OK ? count : 0;
    if (status == QP_OK)
        status = name_targets(made, path, files, error);
    if (status == QP_OK)
        status = count == 1 ? make_one(made, error) : make_in_folder(made, error);
    if (status == QP_OK)
        status = set_sizes(made, error);
    if (status != QP_OK) {
        qp_new_files_free(made);
        return status;
    }
    keep_modes(made);
    *result = made;
    return QP_OK;
}

const char *qp_new_files_path(const qp_new_files *files, size_t index)
{
    return files->files[index].path;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_all(int descriptor, uint64_t offset, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t step = size < WRITE_STEP ? size : WRITE_STEP;
        errno = 0;
        ssize_t wrote = pwrite(descriptor, bytes, step, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes += wrote;
        offset += (uint64_t)wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static qp_status write_closed(const new_file *file, uint64_t offset, const void *bytes, size_t size,
                              qp_error *error)
{
    errno = 0;
    int descriptor = open(file->path, O_WRONLY);
    bool wrote = descriptor >= 0 && write_all(descriptor, offset, bytes, size);
    int number = errno;
    if (descriptor >= 0 && close(descriptor) != 0 && wrote) {
        wrote = false;
        number = errno;
    }
    errno = number;
    return wrote ? QP_OK : fail_system(error, "write", file->target);
}

static qp_status write_at(void *context, size_t index, uint64_t offset, const void *bytes,
                          size_t size, qp_error *error)
{
    const qp_new_files *files = context;
    const new_file *file = &files->files[index];
    if (offset > file->size || size > file->size - offset)
        return qp_fail(error, QP_INTERNAL, "a write passes the end of %.120s", file->target);
    if (file->descriptor == CLOSED)
        return write_closed(file, offset, bytes, size, error);
    if (!write_all(file->descriptor, offset, bytes, size))
        return fail_system(error, "write", file->target);
    return QP_OK;
}

qp_sink qp_new_files_sink(qp_new_files *files)
{
    return (qp_sink){write_at, files};
}

qp_status qp_new_files_close(qp_new_files *files, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < files->count; i++) {
        new_file *file = &files->files[i];
        if (file->descriptor == CLOSED)
            continue;
        errno = 0;
        if (close(file->descriptor) != 0 && status == QP_OK)
            status = fail_system(error, "write", file->target);
        file->descriptor = CLOSED;
    }
    return status;
}

/* ---- publishing ------------------------------------------------------------------------------ */

static qp_status publish_file(qp_new_files *files, size_t index, qp_error *error)
{
    new_file *file = &files->files[index];
    qp_status status = qp_new_files_check_target(file->target, files->replace, error);
    if (status != QP_OK)
        return status;
    errno = 0;
    if (rename(file->path, file->target) != 0)
        return fail_system(error, "name", file->target);
    file->exists = false;
    file->published = true;
    return QP_OK;
}

qp_status qp_new_files_publish(qp_new_files *files, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = files->count; i-- > 0 && status == QP_OK;)
        status = publish_file(files, i, error);
    if (status == QP_OK)
        return QP_OK;
    for (size_t i = 0; i < files->count; i++) {
        if (files->files[i].published)
            (void)unlink(files->files[i].target);
    }
    return status;
}

void qp_new_files_free(qp_new_files *files)
{
    if (files == NULL)
        return;
    (void)qp_new_files_close(files, NULL);
    for (size_t i = 0; i < files->count; i++) {
        if (files->files[i].exists)
            (void)unlink(files->files[i].path);
    }
    if (files->folder != NULL)
        (void)rmdir(files->folder);
    qp_arena_free(&files->arena);
    qp_allocator allocator = files->allocator;
    qp_release(&allocator, files, 1, sizeof *files);
}
