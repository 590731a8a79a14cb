/* SPDX-License-Identifier: Apache-2.0 */
/* tensors.c - tensors in files: reading decode by decode, putting results together, digests. */
#include "cli/tensors.h"

#include "cli/cli.h"

enum { SPAN = 1024 }; /* elements that are widened and hashed at a time */

/* ---- inputs ------------------------------------------------------------------------------- */

static bool ends_in_png(const char *path)
{
    size_t length = strlen(path);
    return length >= 4 &&
           (strcmp(path + length - 4, ".png") == 0 || strcmp(path + length - 4, ".PNG") == 0);
}

static bool is_png(const qp_file *file)
{
    static const uint8_t magic[4] = {0x89, 'P', 'N', 'G'};
    return file->size >= sizeof magic && memcmp(file->bytes, magic, sizeof magic) == 0;
}

static qp_status open_picture(qp_file_source *source, bool sequence, qp_error *error)
{
    if (sequence)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "a picture is no sequence; give a .npy array [N, C, H, W]");
    qp_status status =
        qp_picture_read(source->file.bytes, source->file.size, NULL, &source->picture, error);
    if (status != QP_OK)
        return status;
    source->is_picture = true;
    source->frames = 1;
    source->channels = source->picture.size.channels;
    source->height = source->picture.size.height;
    source->width = source->picture.size.width;
    return QP_OK;
}

static qp_status open_array(qp_file_source *source, bool sequence, qp_error *error)
{
    const char *kind = qp_cli_kind(source->file.bytes, source->file.size);
    if (kind != NULL && strcmp(kind, "a .npy array") != 0)
        return qp_fail(error, QP_MALFORMED,
                       "neither a .npy array nor a PNG picture: it begins as %s", kind);
    qp_status status = qp_npy_read(source->file.bytes, source->file.size, &source->npy, error);
    if (status != QP_OK)
        return status;

    const qp_npy_shape *shape = &source->npy.shape;
    if (sequence && shape->rank != 4)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "the array has %u dimensions; a sequence has four, [N, C, H, W]",
                       shape->rank);
    if (!sequence && shape->rank != 2 && shape->rank != 3)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "the array has %u dimensions; a tensor has three, [C, H, W], or two, "
                       "[H, W], for one channel%s",
                       shape->rank, shape->rank == 4 ? "; --sequence takes [N, C, H, W]" : "");
    for (unsigned i = 0; i < shape->rank; i++)
        if (shape->sizes[i] > UINT32_MAX)
            return qp_fail(error, QP_TOO_LARGE, "a dimension passes 32 bits");
    source->frames = sequence ? shape->sizes[0] : 1;
    source->channels = shape->rank == 2 ? 1 : (uint32_t)shape->sizes[shape->rank - 3];
    source->height = (uint32_t)shape->sizes[shape->rank - 2];
    source->width = (uint32_t)shape->sizes[shape->rank - 1];
    return QP_OK;
}

qp_status qp_source_open(qp_file_source *source, const char *path, bool sequence, qp_error *error)
{
    *source = (qp_file_source){0};
    qp_status status = qp_cli_read(path, &source->file, error);
    if (status != QP_OK)
        return status;
    if (is_png(&source->file) || ends_in_png(path))
        return open_picture(source, sequence, error);
    return open_array(source, sequence, error);
}

void qp_source_close(qp_file_source *source)
{
    qp_release(NULL, source->values, source->capacity, sizeof *source->values);
    if (source->is_picture)
        qp_picture_free(&source->picture);
    if (source->file.bytes != NULL)
        qp_file_close(&source->file);
    *source = (qp_file_source){0};
}

bool qp_source_is_colour(const qp_file_source *source)
{
    return source->is_picture && source->picture.size.channels == 3;
}

void qp_source_split(qp_file_source *source)
{
    source->frames = source->channels;
    source->channels = 1;
}

qp_status qp_source_frame(qp_file_source *source, size_t index, qp_array *array, qp_error *error)
{
    size_t frame = source->frames == 1 ? 0 : index;
    size_t total = source->is_picture ? (size_t)source->picture.size.channels *
                                            source->picture.size.height * source->picture.size.width
                                      : source->npy.count;
    size_t count = total / source->frames; /* exact: the frames are a dimension */
    *array = (qp_array){NULL, QP_INT64, source->channels, source->height, source->width};
    if (source->is_picture) {
        array->data = source->picture.values + frame * count;
        return QP_OK;
    }
    if (source->values == NULL) {
        source->values = qp_allocate(NULL, count, sizeof *source->values);
        if (source->values == NULL)
            return qp_fail_memory(error, "an input");
        source->capacity = count;
    }
    array->data = source->values;
    return qp_npy_elements(&source->npy, frame * count, count, source->values, error);
}

/* ---- outputs ------------------------------------------------------------------------------ */

static qp_status reserve_result(qp_result *result, const qp_array *array, qp_error *error)
{
    size_t count = (size_t)qp_array_elements(array); /* at most 2^26 */
    if (!qp_mul_size(count, result->frames, &result->count))
        return qp_fail_memory(error, "an output");
    result->values = qp_allocate(NULL, result->count, sizeof *result->values);
    if (result->values == NULL)
        return qp_fail_memory(error, "an output");
    result->channels = array->channels;
    result->height = array->height;
    result->width = array->width;
    return QP_OK;
}

qp_status qp_result_append(qp_result *result, const qp_array *array, qp_error *error)
{
    if (result->filled == 0) {
        qp_status status = reserve_result(result, array, error);
        if (status != QP_OK)
            return status;
    }
    if (array->channels != result->channels || array->height != result->height ||
        array->width != result->width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "an output has another size than in the first decode");
    size_t count = (size_t)qp_array_elements(array);
    qp_array_read(array, 0, count, result->values + result->filled * count);
    result->filled++;
    return QP_OK;
}

void qp_result_free(qp_result *result)
{
    qp_release(NULL, result->values, result->count, sizeof *result->values);
    result->values = NULL;
}

qp_npy_shape qp_result_shape(const qp_result *result)
{
    size_t frames = result->frames;
    if (result->layout == QP_RESULT_SEQUENCE)
        return (qp_npy_shape){4, {frames, result->channels, result->height, result->width}};
    return (qp_npy_shape){3, {frames * result->channels, result->height, result->width}};
}

/* Channels of the picture that a result is: one frame of a sequence, or the planes together. */
static size_t picture_channels(const qp_result *result)
{
    return (result->layout == QP_RESULT_PLANES ? result->frames : 1) * result->channels;
}

qp_status qp_result_encode(const qp_result *result, bool png, qp_buffer *buffer, qp_error *error)
{
    if (png) {
        qp_picture_size size = {(uint32_t)picture_channels(result), result->height, result->width};
        return qp_picture_write(buffer, size, result->values, error);
    }
    qp_npy_shape shape = qp_result_shape(result);
    return qp_npy_write(buffer, QP_NPY_I64, &shape, result->values, error);
}

/* ---- digests ------------------------------------------------------------------------------ */

static void hash_elements(qp_sha256 *hash, const int64_t *values, size_t count)
{
    uint8_t bytes[8 * SPAN];
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < SPAN ? count - done : SPAN;
        for (size_t i = 0; i < n; i++)
            for (unsigned k = 0; k < 8; k++)
                bytes[8 * i + k] = (uint8_t)((uint64_t)values[done + i] >> (8 * k) & 0xFF);
        qp_sha256_update(hash, bytes, 8 * n);
    }
}

/* One picture's samples, pixel by pixel. */
static void hash_samples(qp_sha256 *hash, const int64_t *values, size_t channels, size_t plane)
{
    uint8_t bytes[3 * SPAN];
    for (size_t done = 0, n; done < plane; done += n) {
        n = plane - done < SPAN ? plane - done : SPAN;
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < channels; c++)
                bytes[i * channels + c] = (uint8_t)values[c * plane + done + i];
        qp_sha256_update(hash, bytes, n * channels);
    }
}

const char *qp_result_form(const qp_result *result, bool samples)
{
    if (!samples)
        return "i64";
    return picture_channels(result) == 3 ? "rgb8" : "grey8";
}

void qp_result_digest(const qp_result *result, bool samples, char text[QP_SHA256_HEX_SIZE])
{
    qp_sha256 hash;
    uint8_t digest[QP_SHA256_SIZE];
    size_t plane = (size_t)result->height * result->width;
    size_t picture = picture_channels(result) * plane;

    qp_sha256_init(&hash);
    if (!samples)
        hash_elements(&hash, result->values, result->count);
    else
        for (size_t at = 0; at < result->count; at += picture)
            hash_samples(&hash, result->values + at, picture_channels(result), plane);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
}

qp_array_summary qp_summarise(const qp_array *array)
{
    qp_array_summary summary = {.lo = INT64_MAX, .hi = INT64_MIN};
    size_t total = (size_t)qp_array_elements(array);
    int64_t values[SPAN];
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;

    qp_sha256_init(&hash);
    for (size_t done = 0, n; done < total; done += n) {
        n = total - done < SPAN ? total - done : SPAN;
        qp_array_read(array, done, n, values);
        hash_elements(&hash, values, n);
        for (size_t i = 0; i < n; i++) {
            summary.lo = values[i] < summary.lo ? values[i] : summary.lo;
            summary.hi = values[i] > summary.hi ? values[i] : summary.hi;
        }
    }
    if (total == 0)
        summary.lo = summary.hi = 0;
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, summary.sha256);
    return summary;
}
