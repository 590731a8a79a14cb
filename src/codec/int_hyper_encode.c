/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_hyper_encode.c - writing WIH1: the analysis networks g_a and h_a on the picture, then the
 * decoder's own way from the hyper-latent to the tables and the means. Integers all the way.
 */
#include "codec/analysis.h"
#include "codec/int_hyper.h"

enum { G_A = 0, H_A = 1, NETWORKS = 2, SPAN = 512, ZERO_LEVEL = 128, GREY = 1 };

typedef struct state {
    qp_analysis analysis;
    qp_session *g_a, *h_a, *h_s;
} state;

/* What is known of one picture under way. */
typedef struct picture {
    qp_shape z, y;
    qp_array latent; /* g_a's output, until g_a runs again */
    qp_stream z_stream, y_stream;
} picture;

/* ---- starting ----------------------------------------------------------------------------- */

static qp_status start(qp_encoder *encoder, state *s, qp_error *error)
{
    static const char *const names[NETWORKS] = {"g_a", "h_a"};
    const qp_allocator *allocator = &encoder->allocator;
    qp_status status =
        qp_analysis_make(&encoder->beside, names, NETWORKS, allocator, &s->analysis, error);
    if (status != QP_OK)
        return status;
    for (size_t i = 0; i < NETWORKS; i++)
        if (s->analysis.afrac[i] != encoder->set->entropy.afrac)
            return qp_fail(error, QP_MODEL_MISMATCH, "%s.whm: afrac is not the set's", names[i]);
    const qp_certificate *certificate = qp_lowered_certificate(s->analysis.graphs);
    status = qp_codec_session(certificate, G_A, 0, allocator, &s->g_a, error);
    if (status == QP_OK)
        status = qp_codec_session(certificate, H_A, 0, allocator, &s->h_a, error);
    if (status == QP_OK)
        status = qp_codec_session(qp_lowered_certificate(encoder->set->lowered), QP_HYPER_H_S, 0,
                                  allocator, &s->h_s, error);
    return status;
}

qp_status qp_hyper_start(qp_encoder *encoder, qp_error *error)
{
    encoder->state = qp_allocate(&encoder->allocator, 1, sizeof(state));
    if (encoder->state == NULL)
        return qp_fail_memory(error, "an encoder");
    return start(encoder, encoder->state, error);
}

void qp_hyper_forget(qp_encoder *encoder)
{
    state *s = encoder->state;
    if (s == NULL)
        return;
    qp_session_free(s->h_s);
    qp_session_free(s->h_a);
    qp_session_free(s->g_a);
    qp_analysis_free(&encoder->allocator, &s->analysis);
    qp_release(&encoder->allocator, s, 1, sizeof *s);
    encoder->state = NULL;
}

/* ---- analysis ----------------------------------------------------------------------------- */

static qp_status run_one(qp_session *session, const qp_array *input, qp_array *output,
                         qp_error *error)
{
    qp_status status = qp_session_decode(session, input, 1, NULL, 0, error);
    return status == QP_OK ? qp_session_output(session, 0, output) : status;
}

/* The picture less 128, in planes, its last row and column repeated. */
static void fill_planes(const qp_media *media, const qp_shape *shape, int8_t *planes)
{
    size_t grey = media->channels == GREY;
    for (size_t c = 0; c < shape->channels; c++)
        for (size_t y = 0; y < shape->height; y++) {
            size_t row = y < media->height ? y : media->height - 1;
            const uint8_t *pixels = media->bytes + row * media->width * media->channels;
            for (size_t x = 0; x < shape->width; x++) {
                size_t column = x < media->width ? x : media->width - 1;
                *planes++ =
                    (int8_t)(pixels[column * media->channels + (grey ? 0 : c)] - ZERO_LEVEL);
            }
        }
}

static qp_status check_picture(const qp_media *media, qp_error *error)
{
    if (media->layout != QP_LAYOUT_PIXELS || media->frames != 1 ||
        (media->channels != GREY && media->channels != QP_HYPER_CHANNELS) ||
        media->height > QP_HYPER_SIDE_MAX || media->width > QP_HYPER_SIDE_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "a picture has 1 or 3 channels and sides of at most 65536 pixels");
    return QP_OK;
}

/* A side rounded up to the unit that the networks need. */
static uint64_t round_up(uint32_t side, uint64_t unit)
{
    uint64_t over = side % unit;
    return over == 0 ? side : side + (unit - over);
}

static qp_status analyse(const qp_encoder *encoder, const qp_media *media, qp_array *latent,
                         qp_error *error)
{
    state *s = encoder->state;
    uint64_t height = round_up(media->height, s->analysis.stride);
    uint64_t width = round_up(media->width, s->analysis.stride);
    if (height > QP_ELEMENTS_MAX || width > QP_ELEMENTS_MAX ||
        QP_HYPER_CHANNELS * height * width > QP_ELEMENTS_MAX)
        return qp_fail(error, QP_TOO_LARGE, "the picture has more than 2^26 samples");
    qp_shape shape = {QP_HYPER_CHANNELS, (uint32_t)height, (uint32_t)width};
    size_t count = (size_t)qp_shape_elements(&shape);
    int8_t *planes = qp_allocate(&encoder->allocator, count, 1);
    if (planes == NULL)
        return qp_fail_memory(error, "a picture");
    fill_planes(media, &shape, planes);
    qp_array input = {planes, QP_INT8, shape.channels, shape.height, shape.width};
    qp_status status = run_one(s->g_a, &input, latent, error);
    qp_release(&encoder->allocator, planes, count, 1);
    return status;
}

/* ---- symbols ------------------------------------------------------------------------------ */

/* R_half_up at afrac (1..30), as a symbol. */
static qp_status round_symbol(int64_t value, int64_t afrac, int32_t *symbol, qp_error *error)
{
    int64_t half = (int64_t)1 << (afrac - 1);
    if (value > INT64_MAX - half)
        return qp_fail(error, QP_FIELD_RANGE, "a latent does not fit a symbol");
    int64_t rounded = qp_round_shift_i64(value, (unsigned)afrac, QP_ROUND_HALF_UP);
    if (rounded < INT32_MIN || rounded > INT32_MAX)
        return qp_fail(error, QP_FIELD_RANGE, "a latent does not fit a symbol");
    *symbol = (int32_t)rounded;
    return QP_OK;
}

/* The symbols of the elements of `array`, less the means, which are the second half of `scales`
 * where that is not NULL. */
static qp_status round_symbols(const qp_array *array, const qp_array *scales, int64_t afrac,
                               int32_t *symbols, qp_error *error)
{
    size_t count = (size_t)qp_array_elements(array);
    int64_t values[SPAN], means[SPAN] = {0};
    qp_status status = QP_OK;

    for (size_t start = 0, n; start < count && status == QP_OK; start += n) {
        n = count - start < SPAN ? count - start : SPAN;
        qp_array_read(array, start, n, values);
        if (scales != NULL)
            qp_array_read(scales, count + start, n, means);
        for (size_t i = 0; i < n && status == QP_OK; i++) {
            int64_t difference;
            if (__builtin_sub_overflow(values[i], means[i], &difference))
                return qp_fail(error, QP_FIELD_RANGE, "a latent does not fit a symbol");
            status = round_symbol(difference, afrac, &symbols[start + i], error);
        }
    }
    return status;
}

static qp_status encode_z(const qp_encoder *encoder, picture *p, qp_hyper_work *work,
                          qp_error *error)
{
    const qp_entropy *entropy = &encoder->set->entropy;
    size_t plane = (size_t)p->z.height * p->z.width;
    if (qp_rans_tables_count(entropy->z) != p->z.channels)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "h_a gives %lu channels, and entropy.json has %zu \"z\" tables",
                       (unsigned long)p->z.channels, qp_rans_tables_count(entropy->z));
    for (size_t c = 0; c < p->z.channels; c++)
        for (size_t i = 0; i < plane; i++)
            work->reads[c * plane + i] = (uint32_t)c;
    qp_rans_symbols symbols = {work->reads, work->symbols, plane * p->z.channels};
    return qp_rans_encode(entropy->z, &symbols, &encoder->allocator, &p->z_stream, error);
}

static qp_status check_scales(const picture *p, const qp_array *scales, qp_error *error)
{
    if (scales->channels != 2 * (uint64_t)p->y.channels || scales->height != p->y.height ||
        scales->width != p->y.width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "h_s gives [%lu, %lu, %lu] for a latent of [%lu, %lu, %lu]",
                       (unsigned long)scales->channels, (unsigned long)scales->height,
                       (unsigned long)scales->width, (unsigned long)p->y.channels,
                       (unsigned long)p->y.height, (unsigned long)p->y.width);
    return QP_OK;
}

static qp_status encode_y(const qp_encoder *encoder, picture *p, qp_hyper_work *work,
                          qp_error *error)
{
    const state *s = encoder->state;
    const qp_entropy *entropy = &encoder->set->entropy;
    size_t count = (size_t)qp_shape_elements(&p->y);
    qp_array scales;

    qp_status status = qp_hyper_scales(s->h_s, entropy, &p->z, work, &scales, error);
    if (status == QP_OK)
        status = check_scales(p, &scales, error);
    if (status != QP_OK)
        return status;
    qp_hyper_tables(entropy, &scales, count, work);
    status = round_symbols(&p->latent, &scales, entropy->afrac, work->symbols, error);
    qp_rans_symbols symbols = {work->reads, work->symbols, count};
    if (status == QP_OK)
        status = qp_rans_encode(entropy->y, &symbols, &encoder->allocator, &p->y_stream, error);
    return status;
}

/* ---- the payload -------------------------------------------------------------------------- */

static qp_status put_payload(const qp_media *media, const picture *p, qp_buffer *payload,
                             qp_error *error)
{
    const uint32_t sizes[6] = {p->z.channels, p->z.height, p->z.width,
                               p->y.channels, p->y.height, p->y.width};
    qp_payload_put_head(payload, "WIH1", QP_HYPER_HEAD_RESERVED);
    qp_buffer_le(payload, media->height, 4);
    qp_buffer_le(payload, media->width, 4);
    for (size_t i = 0; i < 6; i++) {
        if (sizes[i] > UINT16_MAX)
            return qp_fail(error, QP_TOO_LARGE, "a side of a latent passes 65535");
        qp_buffer_le(payload, sizes[i], 2);
    }
    qp_buffer_le(payload, p->z_stream.size, 4);
    qp_buffer_le(payload, p->y_stream.size, 4);
    qp_buffer_append(payload, p->z_stream.bytes, p->z_stream.size);
    qp_buffer_append(payload, p->y_stream.bytes, p->y_stream.size);
    return QP_OK;
}

static qp_shape shape_of(const qp_array *array)
{
    return (qp_shape){array->channels, array->height, array->width};
}

static qp_status encode_latents(const qp_encoder *encoder, picture *p, const qp_array *hyper,
                                qp_error *error)
{
    const qp_allocator *allocator = &encoder->allocator;
    uint64_t n_z = qp_shape_elements(&p->z), n_y = qp_shape_elements(&p->y);
    qp_hyper_work work;

    qp_status status = qp_hyper_work_make(allocator, (size_t)(n_z > n_y ? n_z : n_y), &work, error);
    if (status != QP_OK)
        return status;
    status = round_symbols(hyper, NULL, encoder->set->entropy.afrac, work.symbols, error);
    if (status == QP_OK)
        status = encode_z(encoder, p, &work, error);
    if (status == QP_OK)
        status = encode_y(encoder, p, &work, error);
    qp_hyper_work_free(allocator, &work);
    return status;
}

qp_status qp_hyper_encode_picture(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                  qp_error *error)
{
    const state *s = encoder->state;
    picture p = {0};
    qp_array hyper;

    qp_status status = check_picture(source->media, error);
    if (status == QP_OK)
        status = analyse(encoder, source->media, &p.latent, error);
    if (status == QP_OK)
        status = run_one(s->h_a, &p.latent, &hyper, error);
    if (status != QP_OK)
        return status;
    p.y = shape_of(&p.latent);
    p.z = shape_of(&hyper);
    status = encode_latents(encoder, &p, &hyper, error);
    if (status == QP_OK)
        status = put_payload(source->media, &p, payload, error);
    qp_stream_free(&encoder->allocator, &p.y_stream);
    qp_stream_free(&encoder->allocator, &p.z_stream);
    return status;
}
