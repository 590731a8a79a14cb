/* SPDX-License-Identifier: Apache-2.0 */
/* cond_refine_encode.c - WCP1 payloads from a picture, the layer below, a graph and side planes. */
#include "codec/cond_refine.h"

enum { SIDE_MAX = 65536 /* = 2^16 */, MODE_IDENTITY = 1 };

static qp_status check_source(const qp_correction_source *source, qp_error *error)
{
    const qp_media *m = source->media;
    qp_latents side = {source->n_side, m->height, m->width, source->side};
    if (m->layout != QP_LAYOUT_PIXELS || m->frames != 1 || qp_media_bytes(m) == 0 ||
        m->size != qp_media_bytes(m) || m->height > SIDE_MAX || m->width > SIDE_MAX ||
        m->channels > UINT16_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT, "a correction is of one picture of pixels");
    if (source->n_side > UINT8_MAX || source->q > UINT16_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "there are at most 255 side planes, and a step of 1 to 65535");
    return source->n_side > 0 ? qp_latents_check(&side, error) : QP_OK;
}

/* ---- the parts ---------------------------------------------------------------------------- */

static void put_head(const qp_correction *c, uint16_t n_tables, qp_buffer *b)
{
    qp_payload_put_head(b, "WCP1", 0);
    qp_buffer_le(b, c->layer.prediction, 1);
    qp_buffer_le(b, c->n_side, 1);
    qp_payload_put_zeros(b, 1);
    qp_buffer_le(b, c->layer.d0, 4);
    qp_buffer_le(b, c->layer.d1, 4);
    qp_buffer_le(b, c->layer.d2, 2);
    qp_buffer_le(b, n_tables, 2);
    qp_payload_put_block(b, c->graph.bytes, c->graph.size);
}

static qp_status put_residual(const qp_correction_source *source, const qp_media *sum,
                              const qp_allocator *allocator, qp_buffer *b, qp_error *error)
{
    qp_encode_options options = {.q = source->q, .mode = MODE_IDENTITY};
    qp_source refined = {source->media, sum, 1};
    qp_encoder *encoder;
    qp_encoded residual = {0};
    qp_status status = qp_encoder_create("wai.image.int_refine", NULL, NULL, 0, &options, allocator,
                                         &encoder, error);
    if (status != QP_OK)
        return status;
    status = qp_encoder_encode(encoder, &refined, &residual, error);
    if (status == QP_OK)
        qp_payload_put_block(b, residual.bytes, residual.size);
    qp_encoded_free(allocator, &residual);
    qp_encoder_free(encoder);
    return status;
}

static qp_status correct(const qp_correction *c, const qp_correction_source *source, qp_media *sum,
                         qp_error *error)
{
    qp_shape shape = qp_correction_side(c);
    size_t count = (size_t)qp_shape_elements(&shape);
    int64_t *side = qp_allocate(&c->allocator, count, sizeof *side);
    if (side == NULL)
        return qp_fail_memory(error, "the side planes");
    for (size_t i = 0; i < count; i++)
        side[i] = source->side[i];
    *sum = qp_refine_media(&c->layer);
    qp_status status = qp_media_make(&c->allocator, sum, error);
    if (status == QP_OK)
        status = qp_correction_run(c, side, sum, error);
    qp_release(&c->allocator, side, count, sizeof *side);
    return status;
}

/* ---- the payload -------------------------------------------------------------------------- */

static qp_status put_payload(const qp_correction *c, const qp_correction_source *source,
                             qp_buffer *b, qp_error *error)
{
    qp_latents side = {c->n_side, c->layer.d0, c->layer.d1, source->side};
    qp_media sum = {0};
    qp_status status = correct(c, source, &sum, error);
    if (status == QP_OK) {
        put_head(c, c->n_side > 0 ? qp_carried_tables(&side) : 0, b);
        if (c->n_side > 0)
            status = qp_carried_write(&side, &c->allocator, b, error);
    }
    if (status == QP_OK)
        status = put_residual(source, &sum, &c->allocator, b, error);
    qp_media_free(&c->allocator, &sum);
    return status;
}

qp_status qp_correction_encode(const qp_correction_source *source, const qp_allocator *allocator,
                               qp_encoded *payload, qp_error *error)
{
    const qp_media *m = source->media;
    qp_correction c = {.layer = {.prediction = source->up2 ? QP_REFINE_UP2 : QP_REFINE_IDENTITY,
                                 .layout = QP_LAYOUT_PIXELS,
                                 .units = 1,
                                 .d0 = m->height,
                                 .d1 = m->width,
                                 .d2 = m->channels},
                       .n_side = (uint8_t)source->n_side,
                       .graph = {source->graph, source->graph_size},
                       .allocator = qp_allocator_or_default(allocator)};
    qp_buffer b;
    *payload = (qp_encoded){0};
    qp_status status = check_source(source, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&b, allocator);
    status = qp_correction_open(&c, source->base, 1, error);
    if (status == QP_OK)
        status = put_payload(&c, source, &b, error);
    qp_correction_close(&c);
    return qp_encoded_take(&b, status, payload, error);
}
