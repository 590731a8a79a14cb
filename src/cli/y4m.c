/* SPDX-License-Identifier: Apache-2.0 */
/* y4m.c - see y4m.h. A line of parameters, then for each frame a line and its planes. */
#include "cli/y4m.h"

#define MAGIC "YUV4MPEG2"
#define FRAME "FRAME"

enum { LINE_BYTES_MAX = 1024, SIDE_MAX = 65536, PIXEL = 3, NO_COLOUR = 128 };

typedef struct stream {
    const uint8_t *bytes;
    size_t size, at;
    uint32_t width, height, planes; /* 0 before the header has said them */
    size_t plane;                   /* bytes */
} stream;

/* Some characters of a line. */
typedef struct word {
    const char *text;
    size_t length, at;
} word;

static qp_status refuse(qp_status status, size_t at, const char *sentence, qp_error *error)
{
    qp_place place = {QP_TABLE_NONE, -1, -1, (int64_t)at};
    return qp_fail_at(error, status, place, "%s", sentence);
}

bool qp_y4m_is(const uint8_t *bytes, size_t size)
{
    size_t length = strlen(MAGIC);
    return size > length && memcmp(bytes, MAGIC, length) == 0 &&
           (bytes[length] == ' ' || bytes[length] == '\n');
}

/* ---- lines -------------------------------------------------------------------------------- */

/* The next line, of printable characters, which begins with a word; the stream moves past it, and
 * *line is what follows the word. */
static qp_status read_line(stream *s, const char *first, word *line, qp_error *error)
{
    size_t left = s->size - s->at, length = strlen(first), end = 0;
    size_t most = left < LINE_BYTES_MAX ? left : LINE_BYTES_MAX;
    const uint8_t *p = s->bytes + s->at;

    while (end < most && p[end] >= ' ' && p[end] <= '~')
        end++;
    if (end == most || p[end] != '\n')
        return refuse(QP_MALFORMED, s->at + end, "the line of parameters does not end", error);
    if (end < length || memcmp(p, first, length) != 0 || (end > length && p[length] != ' '))
        return refuse(QP_MALFORMED, s->at, "no frame begins here", error);
    *line = (word){(const char *)p + length, end - length, s->at + length};
    s->at += end + 1;
    return QP_OK;
}

/* Takes the next parameter off a line; false at its end. */
static bool next_word(word *line, word *parameter)
{
    while (line->length > 0 && *line->text == ' ')
        *line = (word){line->text + 1, line->length - 1, line->at + 1};
    *parameter = (word){line->text, 0, line->at};
    while (parameter->length < line->length && line->text[parameter->length] != ' ')
        parameter->length++;
    *line = (word){line->text + parameter->length, line->length - parameter->length,
                   line->at + parameter->length};
    return parameter->length > 0;
}

static bool is(const word *w, const char *text)
{
    return w->length == strlen(text) && memcmp(w->text, text, w->length) == 0;
}

/* ---- the header --------------------------------------------------------------------------- */

static qp_status read_side(const word *w, uint32_t *side, qp_error *error)
{
    uint32_t value = 0;
    if (*side != 0)
        return refuse(QP_MALFORMED, w->at, "a side is given twice", error);
    for (size_t i = 1; i < w->length && value <= SIDE_MAX; i++) {
        if (w->text[i] < '0' || w->text[i] > '9')
            return refuse(QP_MALFORMED, w->at, "a side is no number", error);
        value = value * 10 + (uint32_t)(w->text[i] - '0');
    }
    if (value == 0 || value > SIDE_MAX)
        return refuse(QP_MALFORMED, w->at, "a side is not from 1 to 65536", error);
    *side = value;
    return QP_OK;
}

static qp_status read_samples(const word *w, uint32_t *planes, qp_error *error)
{
    qp_place place = {QP_TABLE_NONE, -1, -1, (int64_t)w->at};
    if (*planes != 0)
        return refuse(QP_MALFORMED, w->at, "the form of samples is given twice", error);
    *planes = is(w, "C444") ? PIXEL : is(w, "Cmono") ? 1 : 0;
    if (*planes == 0)
        return qp_fail_at(error, QP_FIELD_RANGE, place,
                          "samples of the form %.*s cannot be coded as they are: C444 and Cmono "
                          "can (ffmpeg -pix_fmt yuv444p makes C444)",
                          (int)(w->length < 20 ? w->length : 20), w->text);
    return QP_OK;
}

static qp_status read_parameter(const word *w, stream *s, qp_error *error)
{
    switch (w->text[0]) {
    case 'W':
        return read_side(w, &s->width, error);
    case 'H':
        return read_side(w, &s->height, error);
    case 'C':
        return read_samples(w, &s->planes, error);
    case 'I':
        if (!is(w, "Ip") && !is(w, "I?"))
            return refuse(QP_FIELD_RANGE, w->at, "the video is interlaced; frames are coded whole",
                          error);
        return QP_OK;
    case 'F':
    case 'A':
    case 'X':
        return QP_OK;
    default:
        return refuse(QP_MALFORMED, w->at, "a parameter is none of W, H, C, I, F, A and X", error);
    }
}

static qp_status read_header(stream *s, qp_error *error)
{
    word line, parameter;
    qp_status status = read_line(s, MAGIC, &line, error);
    while (status == QP_OK && next_word(&line, &parameter))
        status = read_parameter(&parameter, s, error);
    if (status != QP_OK)
        return status;
    if (s->width == 0 || s->height == 0)
        return refuse(QP_MALFORMED, line.at, "the header does not say both sides", error);
    if (s->planes == 0)
        return refuse(QP_FIELD_RANGE, line.at,
                      "the header names no form of samples, which stands for C420: its colour is "
                      "subsampled, and only C444 and Cmono are coded as they are",
                      error);
    if (!qp_mul_size(s->width, s->height, &s->plane))
        return qp_fail(error, QP_TOO_LARGE, "a frame has 2^32 pixels");
    return QP_OK;
}

/* ---- frames ------------------------------------------------------------------------------- */

/* The planes of the next frame, past which the stream moves. */
static qp_status next_frame(stream *s, const uint8_t **planes, qp_error *error)
{
    word line, parameter;
    qp_status status = read_line(s, FRAME, &line, error);
    while (status == QP_OK && next_word(&line, &parameter))
        if (parameter.text[0] != 'X')
            status = refuse(QP_FIELD_RANGE, parameter.at,
                            "a frame has parameters of its own, which would be lost", error);
    if (status != QP_OK)
        return status;
    if ((s->size - s->at) / s->planes < s->plane)
        return refuse(QP_MALFORMED, s->size, "the file ends within a frame", error);
    *planes = s->bytes + s->at;
    s->at += s->planes * s->plane;
    return QP_OK;
}

static qp_status count_frames(stream s, uint32_t *count, qp_error *error)
{
    const uint8_t *planes;
    qp_status status = QP_OK;
    *count = 0;
    while (status == QP_OK && s.at < s.size && *count < UINT32_MAX) {
        status = next_frame(&s, &planes, error);
        *count += status == QP_OK;
    }
    if (status == QP_OK && *count == 0)
        return refuse(QP_MALFORMED, s.at, "the file has no frames", error);
    return status;
}

static qp_status make_media(const stream *s, uint32_t frames, qp_media *media, qp_error *error)
{
    qp_media made = {QP_LAYOUT_PIXELS, frames, s->height, s->width, PIXEL, 0, NULL, 0};
    *media = (qp_media){0};
    if (!qp_mul_size(s->plane, PIXEL, &made.size) || !qp_mul_size(made.size, frames, &made.size) ||
        made.size > UINT32_MAX)
        return qp_fail(error, QP_TOO_LARGE, "the video has 2^32 bytes or more");
    made.bytes = qp_allocate(NULL, made.size, 1);
    if (made.bytes == NULL)
        return qp_fail_memory(error, "a video");
    *media = made;
    return QP_OK;
}

static void put_pixels(const stream *s, const uint8_t *planes, uint8_t *pixels)
{
    for (size_t i = 0; i < s->plane; i++)
        for (size_t c = 0; c < PIXEL; c++)
            pixels[i * PIXEL + c] = c < s->planes ? planes[c * s->plane + i] : NO_COLOUR;
}

qp_status qp_y4m_read(const uint8_t *bytes, size_t size, qp_media *media, qp_error *error)
{
    stream s = {.bytes = bytes, .size = size};
    const uint8_t *planes;
    uint32_t frames;

    *media = (qp_media){0};
    if (!qp_y4m_is(bytes, size))
        return refuse(QP_MALFORMED, 0, "the file is no YUV4MPEG2 file", error);
    qp_status status = read_header(&s, error);
    if (status == QP_OK)
        status = count_frames(s, &frames, error);
    if (status == QP_OK)
        status = make_media(&s, frames, media, error);
    for (uint32_t i = 0; status == QP_OK && i < frames; i++) {
        status = next_frame(&s, &planes, error); /* as it was counted */
        if (status == QP_OK)
            put_pixels(&s, planes, media->bytes + i * s.plane * PIXEL);
    }
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

qp_status qp_y4m_write(qp_buffer *file, const qp_media *media, qp_error *error)
{
    size_t channels = media->channels;
    if (media->layout != QP_LAYOUT_PIXELS || (channels != 1 && channels != PIXEL) ||
        media->size == 0)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "a Y4M file holds pixels of 1 or 3 channels, and this is something else");
    size_t frame = media->size / media->frames, plane = frame / channels;
    uint8_t *planes = qp_allocate(NULL, frame, 1);
    if (planes == NULL)
        return qp_fail_memory(error, "a frame");
    qp_buffer_format(file, MAGIC " W%lu H%lu F0:0 Ip A0:0 C%s\n", (unsigned long)media->width,
                     (unsigned long)media->height, channels == 1 ? "mono" : "444");
    for (size_t at = 0; at < media->size; at += frame) {
        for (size_t i = 0; i < frame; i++)
            planes[i % channels * plane + i / channels] = media->bytes[at + i];
        qp_buffer_text(file, FRAME "\n");
        qp_buffer_append(file, planes, frame);
    }
    qp_release(NULL, planes, frame, 1);
    return file->failed ? qp_fail_memory(error, "a Y4M file") : QP_OK;
}
