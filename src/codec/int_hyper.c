/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_hyper.c - WIH1, the payload of wai.neural.int_hyper (integer-operators.md section 13.5;
 * docs/payloads.md): a hyper-latent and a latent, two rANS streams, two graphs.
 */
#include "codec/int_hyper.h"

enum { SPAN = 512 };

typedef struct hyper {
    uint32_t height, width;
    qp_shape z, y;
    qp_bytes z_stream, y_stream;
} hyper;

/* ---- the payload -------------------------------------------------------------------------- */

static qp_shape read_shape(qp_payload *p, const char *const names[3])
{
    qp_shape shape;
    shape.channels = qp_payload_u16(p, names[0]);
    shape.height = qp_payload_u16(p, names[1]);
    shape.width = qp_payload_u16(p, names[2]);
    return shape;
}

static qp_status read_payload(qp_payload *p, hyper *h, qp_error *error)
{
    static const char *const z_names[3] = {"mz", "zh", "zw"}, *const y_names[3] = {"m", "sh", "sw"};

    qp_payload_head(p, "WIH1", QP_HYPER_HEAD_RESERVED);
    h->height = qp_payload_u32_in(p, 1, QP_HYPER_SIDE_MAX, "the height");
    h->width = qp_payload_u32_in(p, 1, QP_HYPER_SIDE_MAX, "the width");
    h->z = read_shape(p, z_names);
    h->y = read_shape(p, y_names);
    uint32_t z_size = qp_payload_u32(p, "the z stream's length");
    uint32_t y_size = qp_payload_u32(p, "the y stream's length");
    h->z_stream = qp_payload_stream_of(p, z_size, "the z stream");
    h->y_stream = qp_payload_stream_of(p, y_size, "the y stream");
    qp_payload_end(p);
    return qp_payload_check(p, error);
}

/* ---- before the streams: do the set and the payload fit each other? ----------------------- */

static const qp_graph *graph_of(const qp_set *set, size_t index)
{
    return qp_lowered_at(set->lowered, index).graph;
}

static qp_status plan_h_s(const qp_decoder *decoder, const hyper *h, qp_error *error)
{
    qp_shape out;
    qp_status status = qp_plan_graph(graph_of(decoder->set, QP_HYPER_H_S), &h->z, NULL,
                                     &decoder->allocator, &out, error);
    if (status != QP_OK)
        return status;
    if (out.channels != 2 * h->y.channels || out.height != h->y.height || out.width != h->y.width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "h_s gives [%lu, %lu, %lu], and the payload's latent needs [%lu, %lu, %lu]",
                       (unsigned long)out.channels, (unsigned long)out.height,
                       (unsigned long)out.width, (unsigned long)(2 * h->y.channels),
                       (unsigned long)h->y.height, (unsigned long)h->y.width);
    return QP_OK;
}

static qp_status plan_g_s(const qp_decoder *decoder, const hyper *h, qp_error *error)
{
    qp_shape out;
    qp_status status = qp_plan_graph(graph_of(decoder->set, QP_HYPER_G_S), &h->y, NULL,
                                     &decoder->allocator, &out, error);
    if (status != QP_OK)
        return status;
    if (out.channels != QP_HYPER_CHANNELS)
        return qp_fail(error, QP_MODEL_MISMATCH, "g_s gives %lu channels, and a picture has 3",
                       (unsigned long)out.channels);
    if (out.height < h->height || out.width < h->width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "g_s gives %lu by %lu pixels, and the picture has %lu by %lu",
                       (unsigned long)out.height, (unsigned long)out.width,
                       (unsigned long)h->height, (unsigned long)h->width);
    return QP_OK;
}

static qp_status fit(const qp_decoder *decoder, const hyper *h, qp_error *error)
{
    const qp_entropy *entropy = &decoder->set->entropy;
    int64_t ignored;
    qp_status status = plan_h_s(decoder, h, error);
    if (status == QP_OK)
        status = plan_g_s(decoder, h, error);
    if (status == QP_OK && qp_rans_tables_count(entropy->z) != h->z.channels)
        status = qp_fail(error, QP_MODEL_MISMATCH,
                         "entropy.json has %zu \"z\" tables for %lu hyper channels",
                         qp_rans_tables_count(entropy->z), (unsigned long)h->z.channels);
    if (status == QP_OK) /* E2's condition on its shift */
        status = qp_dequantize(0, entropy->afrac, 0, &ignored, error);
    return status;
}

/* ---- shared with the encoder -------------------------------------------------------------- */

qp_status qp_hyper_work_make(const qp_allocator *allocator, size_t count, qp_hyper_work *work,
                             qp_error *error)
{
    work->count = count;
    work->reads = qp_allocate(allocator, count, sizeof *work->reads);
    work->symbols = qp_allocate(allocator, count, sizeof *work->symbols);
    work->values = qp_allocate(allocator, count, sizeof *work->values);
    if (work->reads != NULL && work->symbols != NULL && work->values != NULL)
        return QP_OK;
    qp_hyper_work_free(allocator, work);
    return qp_fail_memory(error, "the symbols of a picture");
}

void qp_hyper_work_free(const qp_allocator *allocator, qp_hyper_work *work)
{
    qp_release(allocator, work->values, work->count, sizeof *work->values);
    qp_release(allocator, work->symbols, work->count, sizeof *work->symbols);
    qp_release(allocator, work->reads, work->count, sizeof *work->reads);
    *work = (qp_hyper_work){0};
}

qp_status qp_hyper_scales(qp_session *h_s, const qp_entropy *entropy, const qp_shape *z,
                          qp_hyper_work *work, qp_array *scales, qp_error *error)
{
    size_t count = (size_t)qp_shape_elements(z);
    qp_array input = {work->values, QP_INT64, z->channels, z->height, z->width};
    qp_status status = QP_OK;

    for (size_t i = 0; i < count && status == QP_OK; i++)
        status = qp_dequantize(work->symbols[i], entropy->afrac, 0, &work->values[i], error);
    if (status == QP_OK)
        status = qp_session_decode(h_s, &input, 1, NULL, 0, error);
    return status == QP_OK ? qp_session_output(h_s, 0, scales) : status;
}

void qp_hyper_tables(const qp_entropy *entropy, const qp_array *scales, size_t count,
                     qp_hyper_work *work)
{
    int64_t sigma[SPAN];
    for (size_t start = 0, n; start < count; start += n) {
        n = count - start < SPAN ? count - start : SPAN;
        qp_array_read(scales, start, n, sigma);
        for (size_t i = 0; i < n; i++)
            work->reads[start + i] =
                (uint32_t)qp_bucket(sigma[i], qp_entropy_edges(entropy), QP_BUCKET_CEIL);
    }
}

qp_status qp_hyper_prepare(qp_set *set, qp_error *error)
{
    const qp_member *file = qp_members_find(&set->members, "entropy.json");
    qp_rans_modes modes = qp_codec_modes(qp_lowered_capability(set->lowered));
    return qp_entropy_read(file->bytes, file->size, &modes, &set->allocator, &set->entropy, error);
}

/* ---- the streams and the graphs ----------------------------------------------------------- */

static qp_status decode_z(const qp_entropy *entropy, const hyper *h, qp_hyper_work *work,
                          qp_error *error)
{
    qp_rans_decoder stream;
    size_t plane = (size_t)h->z.height * h->z.width;
    qp_status status =
        qp_rans_decoder_init(&stream, entropy->z, h->z_stream.bytes, h->z_stream.size, error);
    for (size_t c = 0; c < h->z.channels && status == QP_OK; c++)
        status = qp_rans_decode_same(&stream, c, plane, work->symbols + c * plane, error);
    return status == QP_OK ? qp_rans_finish(&stream, error) : status;
}

static qp_status decode_y(const qp_entropy *entropy, const hyper *h, size_t count,
                          qp_hyper_work *work, qp_error *error)
{
    qp_rans_decoder stream;
    qp_status status =
        qp_rans_decoder_init(&stream, entropy->y, h->y_stream.bytes, h->y_stream.size, error);
    if (status == QP_OK)
        status = qp_rans_decode_run(&stream, work->reads, count, work->symbols, error);
    return status == QP_OK ? qp_rans_finish(&stream, error) : status;
}

/* The latent's values: the means are the second half of the scales' array. */
static qp_status add_means(const qp_entropy *entropy, const qp_array *scales, size_t count,
                           qp_hyper_work *work, qp_error *error)
{
    int64_t means[SPAN];
    qp_status status = QP_OK;
    for (size_t start = 0, n; start < count && status == QP_OK; start += n) {
        n = count - start < SPAN ? count - start : SPAN;
        qp_array_read(scales, count + start, n, means);
        for (size_t i = 0; i < n && status == QP_OK; i++)
            status = qp_dequantize(work->symbols[start + i], entropy->afrac, means[i],
                                   &work->values[start + i], error);
    }
    return status;
}

static qp_status synthesise(qp_decoder *decoder, const hyper *h, const qp_hyper_work *work,
                            qp_media *media, qp_error *error)
{
    qp_session *g_s;
    qp_array pixels;
    qp_array latent = {work->values, QP_INT64, h->y.channels, h->y.height, h->y.width};

    qp_status status = qp_decoder_session(decoder, QP_HYPER_G_S, &g_s, error);
    if (status == QP_OK)
        status = qp_session_decode(g_s, &latent, 1, NULL, 0, error);
    if (status == QP_OK)
        status = qp_session_output(g_s, 0, &pixels);
    if (status != QP_OK)
        return status;
    *media = (qp_media){QP_LAYOUT_PIXELS, 1, h->height, h->width, QP_HYPER_CHANNELS, 0, NULL, 0};
    status = qp_media_make(&decoder->allocator, media, error);
    if (status == QP_OK)
        qp_media_put_pixels(media, 0, &pixels);
    return status;
}

static qp_status decode_symbols(qp_decoder *decoder, const hyper *h, qp_hyper_work *work,
                                qp_media *media, qp_error *error)
{
    const qp_entropy *entropy = &decoder->set->entropy;
    size_t count = (size_t)qp_shape_elements(&h->y);
    qp_session *h_s;
    qp_array scales;

    qp_status status = decode_z(entropy, h, work, error);
    if (status == QP_OK)
        status = qp_decoder_session(decoder, QP_HYPER_H_S, &h_s, error);
    if (status == QP_OK)
        status = qp_hyper_scales(h_s, entropy, &h->z, work, &scales, error);
    if (status != QP_OK)
        return status;
    qp_hyper_tables(entropy, &scales, count, work);
    status = decode_y(entropy, h, count, work, error);
    if (status == QP_OK)
        status = add_means(entropy, &scales, count, work, error);
    return status == QP_OK ? synthesise(decoder, h, work, media, error) : status;
}

qp_status qp_hyper_decode_picture(qp_decoder *decoder, qp_payload payload, qp_media *media,
                                  qp_error *error)
{
    hyper h;
    qp_hyper_work work;
    qp_status status = read_payload(&payload, &h, error);
    if (status == QP_OK)
        status = fit(decoder, &h, error);
    if (status != QP_OK)
        return status;
    uint64_t n_z = qp_shape_elements(&h.z), n_y = qp_shape_elements(&h.y); /* planned: 2^26 */
    status = qp_hyper_work_make(&decoder->allocator, (size_t)(n_z > n_y ? n_z : n_y), &work, error);
    if (status != QP_OK)
        return status;
    status = decode_symbols(decoder, &h, &work, media, error);
    qp_hyper_work_free(&decoder->allocator, &work);
    return status;
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    return qp_hyper_decode_picture(decoder, qp_payload_over(unit->bytes, unit->size), media, error);
}

const qp_driver qp_driver_int_hyper = {
    .capability = "wai.neural.int_hyper",
    .magic = "WIH1",
    .reads_set = true,
    .prepare = qp_hyper_prepare,
    .decode = decode,
    .start_encoder = qp_hyper_start,
    .encode = qp_hyper_encode_picture,
    .forget_encoder = qp_hyper_forget,
};
