/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splat.c - wai.splat.int_codec: latents against tables of the payload, and one synthesis that
 * gives planes of bytes (integer-operators.md section 13.5; docs/payloads.md, "WIS1").
 */
#include "codec/coded_latents.h"

enum { SIDE_MAX = 65536 /* = 2^16 */, SPAN = 512 };

typedef struct splat {
    qp_shape planes;
    qp_shape latents;
    qp_carried carried;
} splat;

/* ---- the payload -------------------------------------------------------------------------- */

static qp_status read_payload(const qp_unit *unit, const qp_allocator *allocator, splat *s,
                              qp_error *error)
{
    qp_payload p = qp_payload_over(unit->bytes, unit->size);
    qp_payload_head(&p, "WIS1", 3);
    s->planes.height = qp_payload_u32_in(&p, 1, SIDE_MAX, "the height");
    s->planes.width = qp_payload_u32_in(&p, 1, SIDE_MAX, "the width");
    s->planes.channels = qp_payload_u16_in(&p, 1, UINT16_MAX, "the number of planes");
    size_t at = p.at;
    uint16_t n_tables = qp_payload_u16(&p, "the number of tables");
    s->latents.channels = qp_payload_u16_in(&p, 1, UINT16_MAX, "the latents' channels");
    s->latents.height = qp_payload_u16_in(&p, 1, UINT16_MAX, "the latents' height");
    s->latents.width = qp_payload_u16_in(&p, 1, UINT16_MAX, "the latents' width");
    if (n_tables != 1 && n_tables != s->latents.channels)
        qp_payload_fault(&p, at, "there is neither one table nor one a channel");
    qp_payload_reserved(&p, 2);
    qp_status status = qp_carried_read(&p, n_tables, allocator, &s->carried, error);
    qp_payload_end(&p);
    return status == QP_OK ? qp_payload_check(&p, error) : status;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static qp_status plan(const qp_decoder *decoder, const splat *s, qp_media *media, qp_error *error)
{
    const qp_graph *g_s = qp_lowered_at(decoder->set->lowered, 0).graph;
    qp_shape out;
    qp_status status = qp_plan_graph(g_s, &s->latents, NULL, &decoder->allocator, &out, error);
    if (status == QP_OK)
        status = qp_synthesis_check(&out, &s->planes, error);
    if (status != QP_OK)
        return status;
    *media = (qp_media){.layout = QP_LAYOUT_PLANES,
                        .frames = 1,
                        .height = s->planes.height,
                        .width = s->planes.width,
                        .channels = s->planes.channels};
    return qp_media_make(&decoder->allocator, media, error);
}

/* The top left corner of each plane. */
static void put_planes(const qp_array *array, qp_media *media)
{
    int64_t values[SPAN];
    uint8_t *out = media->bytes;
    for (size_t c = 0; c < media->channels; c++)
        for (size_t y = 0; y < media->height; y++) {
            size_t row = (c * array->height + y) * array->width;
            for (size_t x = 0, n; x < media->width; x += n) {
                n = media->width - x < SPAN ? media->width - x : SPAN;
                qp_array_read(array, row + x, n, values);
                for (size_t i = 0; i < n; i++)
                    *out++ = (uint8_t)values[i];
            }
        }
}

static qp_status synthesise(qp_decoder *decoder, const splat *s, const int64_t *values,
                            qp_media *media, qp_error *error)
{
    qp_array input = qp_latent_array(values, &s->latents), output;
    qp_session *session;
    qp_status status = qp_decoder_session(decoder, 0, &session, error);
    if (status == QP_OK)
        status = qp_network_run(session, &input, &output, error);
    if (status == QP_OK)
        put_planes(&output, media);
    return status;
}

static qp_status decode_latents(qp_decoder *decoder, const splat *s, qp_media *media,
                                qp_error *error)
{
    size_t count = (size_t)qp_shape_elements(&s->latents); /* planned: at most 2^26 */
    int64_t afrac = qp_network_afrac(&decoder->set->members.at[0]);
    int64_t *values = qp_allocate(&decoder->allocator, count, sizeof *values);
    if (values == NULL)
        return qp_fail_memory(error, "the latents");
    qp_status status =
        qp_carried_decode(&s->carried, afrac, &s->latents, &decoder->allocator, values, error);
    if (status == QP_OK)
        status = synthesise(decoder, s, values, media, error);
    qp_release(&decoder->allocator, values, count, sizeof *values);
    return status;
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    splat s = {0};
    qp_status status = read_payload(unit, &decoder->allocator, &s, error);
    if (status == QP_OK)
        status = plan(decoder, &s, media, error);
    if (status == QP_OK)
        status = decode_latents(decoder, &s, media, error);
    qp_carried_free(&decoder->allocator, &s.carried);
    return status;
}

/* ---- encoding ----------------------------------------------------------------------------- */

static bool is_encodable(const qp_splat_source *source)
{
    const qp_latents *l = &source->latents;
    return source->planes >= 1 && source->planes <= UINT16_MAX && source->height >= 1 &&
           source->height <= SIDE_MAX && source->width >= 1 && source->width <= SIDE_MAX &&
           l->height <= UINT16_MAX && l->width <= UINT16_MAX;
}

qp_status qp_splat_encode(const qp_splat_source *source, const qp_allocator *allocator,
                          qp_encoded *payload, qp_error *error)
{
    const qp_latents *l = &source->latents;
    qp_buffer b;
    *payload = (qp_encoded){0};
    qp_status status = qp_latents_check(l, error);
    if (status != QP_OK)
        return status;
    if (!is_encodable(source))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "the number of planes or a side is outside the fields of WIS1");
    qp_buffer_init(&b, allocator);
    qp_payload_put_head(&b, "WIS1", 3);
    qp_buffer_le(&b, source->height, 4);
    qp_buffer_le(&b, source->width, 4);
    qp_buffer_le(&b, source->planes, 2);
    qp_buffer_le(&b, qp_carried_tables(l), 2);
    qp_buffer_le(&b, l->channels, 2);
    qp_buffer_le(&b, l->height, 2);
    qp_buffer_le(&b, l->width, 2);
    qp_payload_put_zeros(&b, 2);
    status = qp_carried_write(l, allocator, &b, error);
    return qp_encoded_take(&b, status, payload, error);
}

const qp_driver qp_driver_splat = {
    .capability = "wai.splat.int_codec", .magic = "WIS1", .reads_set = true, .decode = decode};
