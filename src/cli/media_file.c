/* SPDX-License-Identifier: Apache-2.0 */
/* media_file.c - see media_file.h. */
#include "cli/media_file.h"

#include "cli/npy.h"
#include "cli/picture.h"

enum { WAV_HEAD = 36, WAV_FORMAT = 16, WAV_PCM = 1, SAMPLE_BYTES = 2, USUAL_RATE = 48000 };

qp_status qp_media_read_picture(const void *bytes, size_t size, qp_media *media, qp_error *error)
{
    qp_picture picture;
    *media = (qp_media){0};
    qp_status status = qp_picture_read(bytes, size, NULL, &picture, error);
    if (status != QP_OK)
        return status;
    qp_media read = {QP_LAYOUT_PIXELS,
                     1,
                     picture.size.height,
                     picture.size.width,
                     picture.size.channels,
                     0,
                     NULL,
                     0};
    size_t plane = (size_t)read.height * read.width;
    read.size = plane * read.channels; /* as many values as the picture has in memory */
    read.bytes = qp_allocate(NULL, read.size, 1);
    for (size_t c = 0; read.bytes != NULL && c < read.channels; c++)
        for (size_t i = 0; i < plane; i++)
            read.bytes[i * read.channels + c] = (uint8_t)picture.values[c * plane + i];
    qp_picture_free(&picture);
    if (read.bytes == NULL)
        return qp_fail_memory(error, "a picture");
    *media = read;
    return QP_OK;
}

static qp_status put_png(const qp_media *media, const int64_t *values, qp_buffer *file,
                         qp_error *error)
{
    return qp_picture_write(file, (qp_picture_size){media->channels, media->height, media->width},
                            values, error);
}

static qp_status put_npy(const qp_media *media, const int64_t *values, qp_buffer *file,
                         qp_error *error)
{
    qp_npy_shape shape = {.rank = 4};
    const uint32_t planes[4] = {media->frames, media->channels, media->height, media->width};
    const uint32_t pixels[4] = {media->frames, media->height, media->width, media->channels};
    for (size_t i = 0; i < 4; i++)
        shape.sizes[i] = media->layout == QP_LAYOUT_PLANES ? planes[i] : pixels[i];
    return qp_npy_write(file, QP_NPY_U8, &shape, values, error);
}

/* A canonical WAV: the samples of media are its samples. */
static qp_status put_wav(const qp_media *media, qp_buffer *file, qp_error *error)
{
    uint32_t rate = media->rate == 0 ? USUAL_RATE : media->rate;
    uint32_t frame = media->channels * SAMPLE_BYTES;
    if (media->size > UINT32_MAX - WAV_HEAD || media->channels > UINT16_MAX / SAMPLE_BYTES)
        return qp_fail(error, QP_TOO_LARGE, "the sound does not fit a WAV file");
    qp_buffer_text(file, "RIFF");
    qp_buffer_le(file, media->size + WAV_HEAD, 4);
    qp_buffer_text(file, "WAVEfmt ");
    qp_buffer_le(file, WAV_FORMAT, 4);
    qp_buffer_le(file, WAV_PCM, 2);
    qp_buffer_le(file, media->channels, 2);
    qp_buffer_le(file, rate, 4);
    qp_buffer_le(file, (uint64_t)rate * frame, 4);
    qp_buffer_le(file, frame, 2);
    qp_buffer_le(file, 8 * SAMPLE_BYTES, 2);
    qp_buffer_text(file, "data");
    qp_buffer_le(file, media->size, 4);
    qp_buffer_append(file, media->bytes, media->size);
    return file->failed ? qp_fail_memory(error, "a WAV file") : QP_OK;
}

/* The values as a file writer takes them: planes for PNG, the media's own order otherwise. */
static void spread(const qp_media *media, bool png, int64_t *values)
{
    size_t channels = png ? media->channels : 1, plane = media->size / channels;
    for (size_t i = 0; i < media->size; i++)
        values[i % channels * plane + i / channels] = media->bytes[i];
}

qp_status qp_media_encode(const qp_media *media, qp_buffer *file, qp_error *error)
{
    if (media->layout == QP_LAYOUT_AUDIO)
        return put_wav(media, file, error);
    bool png = media->layout == QP_LAYOUT_PIXELS && media->frames == 1 &&
               (media->channels == 1 || media->channels == 3);
    int64_t *values = qp_allocate(NULL, media->size, sizeof *values);
    if (values == NULL)
        return qp_fail_memory(error, "the output");
    spread(media, png, values);
    qp_status status =
        png ? put_png(media, values, file, error) : put_npy(media, values, file, error);
    qp_release(NULL, values, media->size, sizeof *values);
    return status;
}
