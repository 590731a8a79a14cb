/* SPDX-License-Identifier: Apache-2.0 */
/* set_files.c - opening the files of a parameter set. */
#define _POSIX_C_SOURCE 200809L /* opendir, stat */

#include "cli/set_files.h"

#include "cli/set_artifact.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SUFFIX ".whg1"

/* ---- members ------------------------------------------------------------------------------ */

/* A copy of "directory/path", or of `path` alone. */
static char *join(const char *directory, const char *path)
{
    size_t before = directory == NULL ? 0 : strlen(directory) + 1;
    char *text = malloc(before + strlen(path) + 1);
    if (text == NULL)
        return NULL;
    if (directory != NULL) {
        memcpy(text, directory, before - 1);
        text[before - 1] = '/';
    }
    memcpy(text + before, path, strlen(path) + 1);
    return text;
}

static bool grow(qp_set_files *set)
{
    size_t wanted = set->capacity == 0 ? 16 : 2 * set->capacity;
    qp_member *members = realloc(set->members, wanted * sizeof *members);
    if (members != NULL)
        set->members = members;
    qp_file *files = realloc(set->files, wanted * sizeof *files);
    if (files != NULL)
        set->files = files;
    char **paths = realloc(set->paths, wanted * sizeof *paths);
    if (paths != NULL)
        set->paths = paths;
    if (members == NULL || files == NULL || paths == NULL)
        return false;
    set->capacity = wanted;
    return true;
}

/* Takes an open file under `path`, even where that fails. */
static qp_status add_file(qp_set_files *set, qp_file *file, const char *path, qp_error *error)
{
    char *copy = join(NULL, path);
    if (copy == NULL || (set->count == set->capacity && !grow(set))) {
        free(copy);
        qp_file_close(file);
        return qp_fail_memory(error, "the files of a set");
    }
    set->files[set->count] = *file;
    set->paths[set->count] = copy;
    set->members[set->count] = (qp_member){copy, file->bytes, file->size};
    set->count++;
    return QP_OK;
}

/* Takes a file under `path`; standard input for a `name` of "-". */
static qp_status add(qp_set_files *set, const char *name, const char *path, qp_error *error)
{
    qp_file file;
    qp_status status = qp_cli_read(name, &file, error);
    return status == QP_OK ? add_file(set, &file, path, error) : status;
}

/* One of the files within an artifact. */
static qp_status add_bytes(void *context, const char *path, uint8_t *bytes, size_t size,
                           qp_error *error)
{
    qp_file file = {qp_allocator_or_default(NULL), bytes, size, false};
    return add_file(context, &file, path, error);
}

static bool has(const qp_set_files *set, const char *path)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->paths[i], path) == 0)
            return true;
    return false;
}

static bool is_directory(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* ---- a directory -------------------------------------------------------------------------- */

static qp_status add_below(qp_set_files *set, const char *directory, const char *path,
                           qp_error *error)
{
    struct stat facts;
    qp_status status = QP_OK;
    char *name = join(directory, path);
    if (name == NULL)
        return qp_fail_memory(error, "the name of a file");
    if (stat(name, &facts) == 0 && !S_ISDIR(facts.st_mode))
        status = add(set, name, path, error);
    free(name);
    return status;
}

static qp_status add_known(qp_set_files *set, const char *directory, const char *capability,
                           qp_error *error)
{
    const char *path;
    qp_status status = QP_OK;
    for (size_t i = 0; status == QP_OK && (path = qp_set_path(capability, i)) != NULL; i++)
        if (!has(set, path))
            status = add_below(set, directory, path, error);
    return status;
}

static int compare_members(const void *a, const void *b)
{
    const qp_member *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static qp_status add_graphs(qp_set_files *set, const char *directory, qp_error *error)
{
    struct dirent *entry;
    qp_status status = QP_OK;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return qp_fail(error, QP_IO, "cannot read the directory: %s", strerror(errno));
    while (status == QP_OK && (entry = readdir(stream)) != NULL) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (length > suffix && strcmp(entry->d_name + length - suffix, SUFFIX) == 0)
            status = add_below(set, directory, entry->d_name, error);
    }
    closedir(stream);
    if (set->count > 0)
        qsort(set->members, set->count, sizeof *set->members, compare_members);
    return status;
}

/* ---- any set ------------------------------------------------------------------------------ */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

qp_status qp_set_files_open(const char *path, const char *capability, qp_set_files *set,
                            qp_error *error)
{
    qp_status status;
    *set = (qp_set_files){0};
    if (strcmp(path, "-") == 0) {
        status = add(set, path, "graph" SUFFIX, error);
    } else if (!is_directory(path)) {
        status = qp_set_is_artifact(path) ? qp_set_unpack(path, add_bytes, set, error)
                                          : add(set, path, file_name(path), error);
    } else {
        status = add_known(set, path, capability, error);
        if (status == QP_OK && set->count == 0)
            status = add_graphs(set, path, error);
    }
    if (status != QP_OK)
        qp_set_files_close(set);
    return status;
}

void qp_set_files_close(qp_set_files *set)
{
    for (size_t i = set->count; i > 0; i--) {
        qp_file_close(&set->files[i - 1]);
        free(set->paths[i - 1]);
    }
    free(set->paths);
    free(set->files);
    free(set->members);
    *set = (qp_set_files){0};
}
