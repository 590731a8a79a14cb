/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.c - PNG in and out through libpng, and the refusals of builds without it.
 */
#include "cli/picture.h"

void qp_picture_free(qp_picture *picture)
{
    size_t plane = (size_t)picture->size.height * picture->size.width;
    if (picture->values != NULL)
        qp_release(&picture->allocator, picture->values, plane * picture->size.channels,
                   sizeof *picture->values);
    picture->values = NULL;
}

#if defined(QP_HAVE_PNG)

#    include <inttypes.h>
#    include <png.h>
#    include <setjmp.h>

bool qp_picture_supported(void)
{
    return true;
}

/* libpng reports an error by a call that must not return: its sentence is kept here and control
 * goes back to the setjmp of decode or encode. */
typedef struct failure {
    qp_error *error;
    qp_status status;
    int64_t offset;
} failure;

static bool refuse(failure *f, qp_status status, const char *sentence)
{
    qp_place place = QP_NOWHERE;
    place.offset = f->offset;
    f->status = qp_fail_at(f->error, status, place, "%s", sentence);
    return false;
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message; /* the library prints nothing */
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct decoder {
    failure failure;
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t size;
    size_t at;
    qp_allocator allocator;
    qp_picture_size shape;
    uint32_t samples; /* a pixel has when decoded: channels and alpha */
    uint8_t *pixels;  /* height rows of width * samples bytes */
    size_t pixels_size;
    int64_t *values;
} decoder;

static PNG_FUNCTION(void, on_read_error, (png_structp png, png_const_charp message), PNG_NORETURN)
{
    decoder *d = png_get_error_ptr(png);
    qp_place place = QP_NOWHERE;
    place.offset = (int64_t)d->at;
    d->failure.status =
        qp_fail_at(d->failure.error, QP_MALFORMED, place, "the PNG file is damaged: %s", message);
    png_longjmp(png, 1);
}

static void read_bytes(png_structp png, png_bytep to, size_t size)
{
    decoder *d = png_get_io_ptr(png);
    if (size > d->size - d->at)
        png_error(png, "it ends too early");
    memcpy(to, d->bytes + d->at, size);
    d->at += size;
}

/* deflate turns 2 bits into at most 258 bytes, so a file of n bytes holds at most 1032 n bytes of
 * rows: what claims more is refused before memory is taken for it. */
#    define MOST_EXPANSION 1032u /* derived: 258 * 8 / 2 */

static bool check_size(decoder *d)
{
    uint64_t pixels = (uint64_t)d->shape.height * d->shape.width;
    uint64_t row = png_get_rowbytes(d->png, d->info); /* before any expansion */
    if (pixels > QP_PICTURE_MAX_PIXELS)
        return refuse(&d->failure, QP_TOO_LARGE, "the picture has more than 2^26 pixels");
    if (row * d->shape.height / MOST_EXPANSION > d->size)
        return refuse(&d->failure, QP_TOO_LARGE, "the picture has more pixels than its file holds");
    return true;
}

/* Reads up to the first pixel and asks libpng for 8 bits a sample without a palette. */
static bool read_head(decoder *d)
{
    png_read_info(d->png, d->info);
    d->failure.offset = (int64_t)d->at;
    d->shape.height = png_get_image_height(d->png, d->info);
    d->shape.width = png_get_image_width(d->png, d->info);
    if (png_get_bit_depth(d->png, d->info) == 16)
        return refuse(&d->failure, QP_FIELD_RANGE,
                      "the picture has 16 bits a sample; only 8 are read");
    if (!check_size(d))
        return false;
    png_set_expand(d->png); /* palette to RGB, grey to 8 bits, tRNS to alpha */
    (void)png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    d->samples = png_get_channels(d->png, d->info);
    d->shape.channels = d->samples <= 2 ? 1 : 3;
    return true;
}

static bool allocate_pixels(decoder *d)
{
    size_t plane, count;
    if (!qp_mul_size(d->shape.height, d->shape.width, &plane) ||
        !qp_mul_size(plane, d->samples, &d->pixels_size) ||
        !qp_mul_size(plane, d->shape.channels, &count))
        return refuse(&d->failure, QP_TOO_LARGE, "the picture does not fit memory");
    d->pixels = qp_allocate(&d->allocator, d->pixels_size, 1);
    d->values = qp_allocate(&d->allocator, count, sizeof *d->values);
    if (d->pixels == NULL || d->values == NULL) {
        d->failure.status = qp_fail_memory(d->failure.error, "a picture");
        return false;
    }
    return true;
}

static void read_pixels(decoder *d)
{
    size_t row = d->pixels_size / d->shape.height;
    int passes = png_get_interlace_type(d->png, d->info) == PNG_INTERLACE_NONE
                     ? 1
                     : PNG_INTERLACE_ADAM7_PASSES;
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < d->shape.height; y++)
            png_read_row(d->png, d->pixels + y * row, NULL);
    }
    png_read_end(d->png, NULL);
}

static bool decode(decoder *d)
{
    if (setjmp(png_jmpbuf(d->png)) != 0)
        return false;
    png_set_read_fn(d->png, d, read_bytes);
    if (!read_head(d) || !allocate_pixels(d))
        return false;
    read_pixels(d);
    return true;
}

/* From interleaved bytes to planes; the alpha that may follow each pixel must be opaque. */
static bool spread(decoder *d)
{
    size_t plane = (size_t)d->shape.height * d->shape.width;
    uint32_t channels = d->shape.channels;
    for (size_t i = 0; i < plane; i++) {
        const uint8_t *pixel = d->pixels + i * d->samples;
        for (uint32_t c = 0; c < channels; c++)
            d->values[c * plane + i] = pixel[c];
        if (d->samples > channels && pixel[channels] != UINT8_MAX)
            return refuse(&d->failure, QP_FIELD_RANGE,
                          "the picture has transparent pixels; only opaque ones are read");
    }
    return true;
}

/* What the file may make libpng allocate for text and colour profiles. */
static void set_limits(png_structp png)
{
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* check_size limits the picture */
    png_set_chunk_malloc_max(png, (png_alloc_size_t)1 << 23);
    png_set_chunk_cache_max(png, 128);
}

static bool open_decoder(decoder *d)
{
    d->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, d, on_read_error, on_warning);
    if (d->png == NULL)
        return false;
    set_limits(d->png);
    d->info = png_create_info_struct(d->png);
    return d->info != NULL;
}

static void close_decoder(decoder *d)
{
    size_t count = (size_t)d->shape.height * d->shape.width * d->shape.channels;
    if (d->png != NULL)
        png_destroy_read_struct(&d->png, &d->info, NULL);
    qp_release(&d->allocator, d->pixels, d->pixels_size, 1);
    qp_release(&d->allocator, d->values, count, sizeof *d->values);
}

qp_status qp_picture_read(const uint8_t *bytes, size_t size, const qp_allocator *allocator,
                          qp_picture *picture, qp_error *error)
{
    decoder d = {.bytes = bytes, .size = size, .failure = {error, QP_OK, 0}};
    d.allocator = qp_allocator_or_default(allocator);

    if (size < 8 || png_sig_cmp(bytes, 0, 8) != 0) {
        refuse(&d.failure, QP_MALFORMED, "the file is no PNG file");
        return d.failure.status;
    }
    if (!open_decoder(&d)) {
        d.failure.status = qp_fail_memory(error, "libpng");
    } else if (decode(&d) && spread(&d)) {
        *picture = (qp_picture){d.shape, d.values, d.allocator};
        d.values = NULL;
    }
    close_decoder(&d);
    return d.failure.status;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct encoder {
    qp_error *error;
    qp_status status;
    png_structp png;
    png_infop info;
    qp_buffer *buffer;
    qp_picture_size size;
    const int64_t *values;
    uint8_t *row;
} encoder;

static PNG_FUNCTION(void, on_write_error, (png_structp png, png_const_charp message), PNG_NORETURN)
{
    encoder *e = png_get_error_ptr(png);
    e->status = e->buffer->failed
                    ? qp_fail_memory(e->error, "a PNG file")
                    : qp_fail(e->error, QP_INTERNAL, "libpng did not write a picture: %s", message);
    png_longjmp(png, 1);
}

static void write_bytes(png_structp png, png_bytep from, size_t size)
{
    encoder *e = png_get_io_ptr(png);
    qp_buffer_append(e->buffer, from, size);
    if (e->buffer->failed)
        png_error(png, "no memory");
}

static void flush_bytes(png_structp png)
{
    (void)png; /* a buffer needs none */
}

static void write_row(encoder *e, size_t y)
{
    size_t width = e->size.width, plane = width * e->size.height;
    for (size_t c = 0; c < e->size.channels; c++) {
        const int64_t *values = e->values + c * plane + y * width;
        for (size_t x = 0; x < width; x++)
            e->row[x * e->size.channels + c] = (uint8_t)values[x]; /* checked: 0..255 */
    }
    png_write_row(e->png, e->row);
}

static void encode(encoder *e)
{
    if (setjmp(png_jmpbuf(e->png)) != 0)
        return;
    png_set_write_fn(e->png, e, write_bytes, flush_bytes);
    png_set_IHDR(e->png, e->info, e->size.width, e->size.height, 8,
                 e->size.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(e->png, e->info);
    for (size_t y = 0; y < e->size.height; y++)
        write_row(e, y);
    png_write_end(e->png, NULL);
}

static qp_status check_values(qp_picture_size size, const int64_t *values, qp_error *error)
{
    size_t plane = (size_t)size.height * size.width;
    for (size_t i = 0; i < plane * size.channels; i++) {
        if (values[i] >= 0 && values[i] <= UINT8_MAX)
            continue;
        qp_place place = QP_NOWHERE;
        place.record = (int64_t)i;
        return qp_fail_at(error, QP_FIELD_RANGE, place,
                          "value %zu (channel %zu, row %zu, column %zu) is %" PRId64
                          ", outside 0 to 255",
                          i, i / plane, i % plane / size.width, i % size.width, values[i]);
    }
    return QP_OK;
}

/* Everything but the checks: the encoder's values lie in range. */
static qp_status write_checked(encoder *e)
{
    size_t row_size = (size_t)e->size.width * e->size.channels;
    size_t start = e->buffer->size;

    e->row = qp_allocate(&e->buffer->allocator, row_size, 1);
    e->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, e, on_write_error, on_warning);
    if (e->png != NULL) {
        png_set_user_limits(e->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        e->info = png_create_info_struct(e->png);
    }
    if (e->row == NULL || e->info == NULL)
        e->status = qp_fail_memory(e->error, "a PNG file");
    else
        encode(e);
    if (e->png != NULL)
        png_destroy_write_struct(&e->png, &e->info);
    qp_release(&e->buffer->allocator, e->row, row_size, 1);
    if (e->status != QP_OK)
        e->buffer->size = start;
    return e->status;
}

qp_status qp_picture_write(qp_buffer *buffer, qp_picture_size size, const int64_t *values,
                           qp_error *error)
{
    uint64_t pixels = (uint64_t)size.height * size.width;
    if ((size.channels != 1 && size.channels != 3) || pixels == 0)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "a PNG picture has 1 or 3 channels and at least one pixel");
    if (pixels > QP_PICTURE_MAX_PIXELS)
        return qp_fail(error, QP_TOO_LARGE, "a picture has at most 2^28 pixels");
    qp_status status = check_values(size, values, error);
    if (status != QP_OK)
        return status;
    encoder e = {.error = error, .buffer = buffer, .size = size, .values = values};
    return write_checked(&e);
}

#else

bool qp_picture_supported(void)
{
    return false;
}

static qp_status no_png(qp_error *error)
{
    return qp_fail(error, QP_INVALID_ARGUMENT,
                   "this build cannot read or write PNG: it was made without libpng");
}

qp_status qp_picture_read(const uint8_t *bytes, size_t size, const qp_allocator *allocator,
                          qp_picture *picture, qp_error *error)
{
    (void)bytes;
    (void)size;
    (void)allocator;
    (void)picture;
    return no_png(error);
}

qp_status qp_picture_write(qp_buffer *buffer, qp_picture_size size, const int64_t *values,
                           qp_error *error)
{
    (void)buffer;
    (void)size;
    (void)values;
    return no_png(error);
}

#endif
