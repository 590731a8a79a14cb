/* SPDX-License-Identifier: Apache-2.0 */
/* frames.c - see frames.h. */
#define _POSIX_C_SOURCE 200809L /* mkdir, opendir, rmdir, strdup */

#include "cli/frames.h"

#include "cli/media_file.h"
#include "cli/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".png"

enum { RGB = 3, PATH_SIZE = 4096 };

bool qp_is_directory(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* ---- names -------------------------------------------------------------------------------- */

typedef struct names {
    char **at;
    size_t count, capacity;
} names;

static void free_names(names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->at[i]);
    free(n->at);
}

static bool add_name(names *n, const char *name)
{
    if (n->count == n->capacity) {
        size_t wanted = n->capacity == 0 ? 64 : 2 * n->capacity;
        char **at = realloc(n->at, wanted * sizeof *at);
        if (at == NULL)
            return false;
        n->at = at;
        n->capacity = wanted;
    }
    n->at[n->count] = strdup(name);
    return n->at[n->count] != NULL && ++n->count > 0;
}

static int compare_names(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static qp_status list(const char *directory, names *n, qp_error *error)
{
    struct dirent *entry;
    qp_status status = QP_OK;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return qp_fail(error, QP_IO, "cannot read the directory: %s", strerror(errno));
    while (status == QP_OK && (entry = readdir(stream)) != NULL) {
        size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
        if (length > suffix && strcmp(entry->d_name + length - suffix, SUFFIX) == 0 &&
            !add_name(n, entry->d_name))
            status = qp_fail_memory(error, "the names of frames");
    }
    closedir(stream);
    if (n->count > 1)
        qsort(n->at, n->count, sizeof *n->at, compare_names);
    if (status == QP_OK && n->count == 0)
        status = qp_fail(error, QP_MODEL_MISMATCH, "the directory holds no PNG pictures");
    return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static qp_status read_one(const char *directory, const char *name, qp_media *picture,
                          qp_error *error)
{
    char path[PATH_SIZE];
    qp_file file;
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || length >= PATH_SIZE)
        return qp_fail(error, QP_IO, "the name of a frame is too long");
    qp_status status = qp_file_open(path, NULL, &file, error);
    if (status != QP_OK)
        return status;
    status = qp_media_read_picture(file.bytes, file.size, picture, error);
    qp_file_close(&file);
    return status;
}

/* Room for `frames` pictures of the size of the first. */
static qp_status make_video(const qp_media *first, size_t frames, qp_media *video, qp_error *error)
{
    size_t size;
    *video = *first;
    video->bytes = NULL;
    video->channels = RGB;
    video->frames = (uint32_t)frames;
    if (frames > UINT32_MAX || !qp_mul_size((size_t)first->height * first->width, RGB, &size) ||
        !qp_mul_size(size, frames, &video->size) || video->size > UINT32_MAX)
        return qp_fail(error, QP_TOO_LARGE, "the video has 2^32 bytes or more");
    video->bytes = qp_allocate(NULL, video->size, 1);
    return video->bytes == NULL ? qp_fail_memory(error, "a video") : QP_OK;
}

static qp_status put_frame(qp_media *video, size_t index, const qp_media *picture, const char *name,
                           qp_error *error)
{
    size_t pixels = (size_t)video->height * video->width;
    uint8_t *frame = video->bytes + index * pixels * RGB;
    if (picture->height != video->height || picture->width != video->width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "%.100s is not as large as the first frame",
                       name);
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < RGB; c++)
            frame[i * RGB + c] =
                picture->bytes[picture->channels == RGB ? i * RGB + c : i * picture->channels];
    return QP_OK;
}

static qp_status read_all(const char *directory, const names *n, qp_media *video, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < n->count && status == QP_OK; i++) {
        qp_media picture;
        status = read_one(directory, n->at[i], &picture, error);
        if (status == QP_OK && i == 0)
            status = make_video(&picture, n->count, video, error);
        if (status == QP_OK)
            status = put_frame(video, i, &picture, n->at[i], error);
        qp_media_free(NULL, &picture);
    }
    return status;
}

qp_status qp_frames_read(const char *directory, qp_media *media, qp_error *error)
{
    names n = {0};
    qp_media video = {0};
    qp_status status = list(directory, &n, error);
    if (status == QP_OK)
        status = read_all(directory, &n, &video, error);
    free_names(&n);
    if (status != QP_OK)
        qp_media_free(NULL, &video);
    *media = video;
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static bool name_frame(const char *directory, uint32_t index, char path[PATH_SIZE])
{
    int length = snprintf(path, PATH_SIZE, "%s/%05lu" SUFFIX, directory, (unsigned long)index);
    return length > 0 && length < PATH_SIZE;
}

static qp_status write_one(const char *directory, const qp_media *media, uint32_t index,
                           qp_error *error)
{
    char path[PATH_SIZE];
    qp_buffer file;
    qp_media frame = *media;
    frame.frames = 1;
    frame.size = media->size / media->frames;
    frame.bytes = media->bytes + index * frame.size;
    if (!name_frame(directory, index, path))
        return qp_fail(error, QP_IO, "the name of a frame is too long");
    qp_buffer_init(&file, NULL);
    qp_status status = qp_media_encode(&frame, &file, error);
    if (status == QP_OK)
        status = qp_output_buffer(path, &file, error);
    qp_buffer_free(&file);
    return status;
}

static void take_away(const char *directory, uint32_t written, bool made)
{
    char path[PATH_SIZE];
    for (uint32_t i = 0; i < written; i++)
        if (name_frame(directory, i, path))
            remove(path);
    if (made)
        rmdir(directory);
}

qp_status qp_frames_write(const char *directory, const qp_media *media, qp_error *error)
{
    bool made = mkdir(directory, 0777) == 0;
    qp_status status = QP_OK;
    uint32_t written = 0;
    if (!made && !qp_is_directory(directory))
        return qp_fail(error, QP_IO, "cannot make the directory %.150s: %s", directory,
                       strerror(errno));
    while (written < media->frames && status == QP_OK) {
        status = write_one(directory, media, written, error);
        written += status == QP_OK;
    }
    if (status != QP_OK)
        take_away(directory, written, made);
    return status;
}
