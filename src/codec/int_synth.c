/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_synth.c - WIY1, the payload of wai.neural.int_synth (integer-operators.md section 13.1;
 * docs/payloads.md): latents in the open, one graph. Every refusal is payload_malformed.
 */
#include "codec/codec.h"

enum { HEAD_RESERVED = 1, SIZES_RESERVED = 2, PICTURE_CHANNELS = 3 };

typedef struct synth {
    qp_shape latents;
    uint32_t height, width;
    qp_bytes values;
} synth;

static qp_status read_payload(const qp_unit *unit, synth *s, qp_error *error)
{
    qp_payload p = qp_payload_over(unit->bytes, unit->size);
    qp_payload_head(&p, "WIY1", HEAD_RESERVED);
    s->latents.channels = qp_payload_u16_in(&p, 1, UINT16_MAX, "C");
    s->latents.height = s->latents.width = qp_payload_u16_in(&p, 1, UINT16_MAX, "S");
    qp_payload_reserved(&p, SIZES_RESERVED);
    s->height = qp_payload_u32(&p, "H");
    s->width = qp_payload_u32(&p, "W");
    s->values = qp_payload_take(&p, qp_shape_elements(&s->latents), 1, "the latents");
    qp_payload_end(&p);
    return qp_payload_check(&p, error);
}

/* This capability has one code for a set and a payload that do not fit each other. */
static qp_status one_code(qp_status status, qp_error *error)
{
    if (status != QP_MODEL_MISMATCH && status != QP_TOO_LARGE && status != QP_FIELD_RANGE &&
        status != QP_GEOMETRY_MISMATCH)
        return status;
    if (error != NULL)
        error->status = QP_PAYLOAD_MALFORMED;
    return QP_PAYLOAD_MALFORMED;
}

static qp_status plan(const qp_set *set, const qp_shape *latents, const qp_allocator *allocator,
                      qp_shape *out, qp_error *error)
{
    const qp_graph *graph = qp_lowered_at(set->lowered, 0).graph;
    return qp_plan_graph(graph, latents, NULL, allocator, out, error);
}

static qp_status synthesise(qp_decoder *decoder, const synth *s, qp_media *media, qp_error *error)
{
    qp_session *session;
    qp_shape out;
    qp_status status = plan(decoder->set, &s->latents, &decoder->allocator, &out, error);
    if (status != QP_OK)
        return status;
    if (out.channels != PICTURE_CHANNELS || out.height != s->height || out.width != s->width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "the network gives [%lu, %lu, %lu], and the payload says [3, %lu, %lu]",
                       (unsigned long)out.channels, (unsigned long)out.height,
                       (unsigned long)out.width, (unsigned long)s->height, (unsigned long)s->width);
    qp_array input = {s->values.bytes, QP_INT8, s->latents.channels, s->latents.height,
                      s->latents.width};
    status = qp_decoder_session(decoder, 0, &session, error);
    if (status == QP_OK)
        status = qp_session_decode(session, &input, 1, NULL, 0, error);
    if (status != QP_OK)
        return status;
    qp_array pixels;
    *media = (qp_media){QP_LAYOUT_PIXELS, 1, s->height, s->width, PICTURE_CHANNELS, 0, NULL, 0};
    status = qp_media_make(&decoder->allocator, media, error);
    if (status == QP_OK)
        status = qp_session_output(session, 0, &pixels);
    if (status == QP_OK)
        qp_media_put_pixels(media, 0, &pixels);
    return status;
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    synth s;
    qp_status status = read_payload(unit, &s, error);
    if (status == QP_OK)
        status = synthesise(decoder, &s, media, error);
    return one_code(status, error);
}

/* The media are the latents: planes whose bytes are i8, as wide as they are high. The payload's H
 * and W are what the network makes of them. */
static qp_status encode(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                        qp_error *error)
{
    const qp_media *latents = source->media;
    qp_shape shape = {latents->channels, latents->height, latents->width}, out;

    if (latents->layout != QP_LAYOUT_PLANES || latents->frames != 1 ||
        shape.height != shape.width || shape.height > UINT16_MAX || shape.channels > UINT16_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "latents are planes as wide as they are high, of at most 65535 each way");
    qp_status status = plan(encoder->set, &shape, &encoder->allocator, &out, error);
    if (status != QP_OK)
        return one_code(status, error);
    qp_payload_put_head(payload, "WIY1", HEAD_RESERVED);
    qp_buffer_le(payload, shape.channels, 2);
    qp_buffer_le(payload, shape.height, 2);
    qp_payload_put_zeros(payload, SIZES_RESERVED);
    qp_buffer_le(payload, out.height, 4);
    qp_buffer_le(payload, out.width, 4);
    qp_buffer_append(payload, latents->bytes, latents->size);
    return QP_OK;
}

const qp_driver qp_driver_int_synth = {
    .capability = "wai.neural.int_synth",
    .magic = "WIY1",
    .reads_set = true,
    .decode = decode,
    .encode = encode,
};
