/* SPDX-License-Identifier: Apache-2.0 */
/* wav.c - see wav.h. */
#include "cli/wav.h"

#include "base/base.h"

enum {
    RIFF_BYTES = 12,   /* "RIFF", a size and "WAVE" */
    CHUNK_HEAD = 8,    /* a name and a size */
    FORMAT_LEAST = 16, /* the fields of PCM */
    EXTENSIBLE_LEAST = 40,
    PCM = 1,
    EXTENSIBLE = 0xFFFE,
    SUB_FORMAT = 24, /* of an extensible format: its first two bytes are the kind of samples */
    BITS = 16
};

typedef struct chunk {
    const uint8_t *bytes;
    size_t size;
} chunk;

static qp_status refuse(qp_status status, size_t at, const char *sentence, qp_error *error)
{
    qp_place place = {QP_TABLE_NONE, -1, -1, (int64_t)at};
    return qp_fail_at(error, status, place, "%s", sentence);
}

bool qp_wav_is(const uint8_t *bytes, size_t size)
{
    return size >= RIFF_BYTES && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WAVE", 4) == 0;
}

/* The first chunk of a name; a chunk of odd size is followed by one more byte. */
static bool find_chunk(const uint8_t *bytes, size_t size, const char *name, chunk *found)
{
    for (size_t at = RIFF_BYTES; size - at >= CHUNK_HEAD;) {
        size_t length = qp_load_u32(bytes + at + 4), left = size - at - CHUNK_HEAD;
        bool is_it = memcmp(bytes + at, name, 4) == 0;
        if (length > left)
            return false;
        if (is_it) {
            *found = (chunk){bytes + at + CHUNK_HEAD, length};
            return true;
        }
        at += CHUNK_HEAD + length;
        at += length % 2 == 1 && at < size;
    }
    return false;
}

static qp_status read_format(const chunk *format, size_t at, qp_media *media, qp_error *error)
{
    const uint8_t *p = format->bytes;
    unsigned kind = qp_load_u16(p);
    if (kind == EXTENSIBLE && format->size >= EXTENSIBLE_LEAST)
        kind = qp_load_u16(p + SUB_FORMAT);
    if (kind != PCM || qp_load_u16(p + 14) != BITS)
        return refuse(QP_FIELD_RANGE, at, "the samples are not PCM of 16 bits", error);
    media->channels = qp_load_u16(p + 2);
    media->rate = qp_load_u32(p + 4);
    if (media->channels == 0 || media->rate == 0)
        return refuse(QP_MALFORMED, at, "the sound has no channels or no rate", error);
    return QP_OK;
}

qp_status qp_wav_read(const uint8_t *bytes, size_t size, qp_media *media, qp_error *error)
{
    qp_media read = {.layout = QP_LAYOUT_AUDIO, .frames = 1, .height = 1};
    chunk format, data;
    *media = (qp_media){0};
    if (!qp_wav_is(bytes, size))
        return refuse(QP_MALFORMED, 0, "the file is no WAV file", error);
    if (!find_chunk(bytes, size, "fmt ", &format) || format.size < FORMAT_LEAST)
        return refuse(QP_MALFORMED, size, "the WAV file has no whole format", error);
    qp_status status = read_format(&format, (size_t)(format.bytes - bytes), &read, error);
    if (status != QP_OK)
        return status;
    if (!find_chunk(bytes, size, "data", &data))
        return refuse(QP_MALFORMED, size, "the WAV file has no whole data", error);
    size_t frame = 2 * (size_t)read.channels, at = (size_t)(data.bytes - bytes);
    if (data.size == 0)
        return refuse(QP_MALFORMED, at, "the WAV file has no samples", error);
    if (data.size % frame != 0)
        return refuse(QP_MALFORMED, at, "the data are no whole number of samples", error);
    read.width = (uint32_t)(data.size / frame); /* a size is a u32 */
    read.size = data.size;
    read.bytes = qp_allocate(NULL, data.size, 1);
    if (read.bytes == NULL)
        return qp_fail_memory(error, "the sound");
    memcpy(read.bytes, data.bytes, data.size);
    *media = read;
    return QP_OK;
}
