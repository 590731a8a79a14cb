/* SPDX-License-Identifier: Apache-2.0 */
/* cond_encode.c - WIC1 and WCF1 payloads from the latents that the caller's analysis gives. */
#include "codec/cond.h"

enum { SIDE_MAX = 65536 /* = 2^16 */ };

/* What an encoding holds, and what the frame at hand needs. */
typedef struct encoding {
    const qp_cond_source *source;
    qp_cond_work work;
    qp_cond_feature reference;
    qp_chosen chosen;
    qp_stream stream; /* of the frame */
    uint32_t frame;
} encoding;

/* ---- one frame ---------------------------------------------------------------------------- */

static qp_status take_latents(void *context, const qp_array *ctx, const qp_conditions *conditions,
                              const qp_pass *pass, int64_t *y, qp_error *error)
{
    encoding *e = context;
    const qp_cond_source *source = e->source;
    qp_status status = source->analyse(source->context, e->frame, ctx, y, error);
    e->chosen.count = 0;
    if (status == QP_OK)
        status = qp_conditioned_choose(conditions, pass, y, &e->chosen, y, error);
    qp_rans_symbols symbols = {e->chosen.reads, e->chosen.symbols, e->chosen.count};
    return status == QP_OK ? qp_rans_encode(conditions->entropy->y, &symbols,
                                            &e->work.decoder->allocator, &e->stream, error)
                           : status;
}

/* Its place in its group; 0 for an intra frame. */
static uint32_t index_of(const encoding *e)
{
    return e->source->group == 0 ? e->frame : e->frame % e->source->group;
}

/* Four bytes, `mark`, and the stream behind its length, which is then gone. */
static qp_status encode_frame(encoding *e, uint32_t mark, qp_buffer *b, qp_error *error)
{
    qp_cond_job job = {
        .inter = index_of(e) > 0, .frame = e->frame, .take = take_latents, .context = e};
    qp_status status = qp_cond_frame(&e->work, &job, &e->reference, error);
    if (status == QP_OK) {
        qp_buffer_le(b, mark, 4);
        qp_payload_put_block(b, e->stream.bytes, e->stream.size);
    }
    qp_stream_free(&e->work.decoder->allocator, &e->stream);
    return status;
}

static void put_head(qp_buffer *b, const char *magic, const qp_cond_shapes *s)
{
    const uint32_t small[6] = {s->m, s->sh, s->sw, s->f, s->fh, s->fw};
    qp_payload_put_head(b, magic, 3);
    qp_buffer_le(b, s->height, 4);
    qp_buffer_le(b, s->width, 4);
    for (int i = 0; i < 6; i++)
        qp_buffer_le(b, small[i], 2);
}

/* ---- all of them -------------------------------------------------------------------------- */

static bool is_field(uint32_t value)
{
    return value >= 1 && value <= UINT16_MAX;
}

static qp_status check_source(const qp_cond_source *source, qp_error *error)
{
    const qp_cond_shapes *s = &source->shapes;
    if (source->frames == 0)
        return qp_fail(error, QP_INVALID_ARGUMENT, "a video has at least one frame");
    if (s->height < 1 || s->height > SIDE_MAX || s->width < 1 || s->width > SIDE_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT, "a picture has sides of 1 to 2^16");
    if (!is_field(s->m) || !is_field(s->sh) || !is_field(s->sw) || !is_field(s->f) ||
        !is_field(s->fh) || !is_field(s->fw))
        return qp_fail(error, QP_INVALID_ARGUMENT, "a shape is outside the fields of WIC1");
    return QP_OK;
}

static qp_status start(encoding *e, const qp_set *set, const char *capability,
                       const qp_allocator *allocator, qp_error *error)
{
    qp_status status = check_source(e->source, error);
    if (status == QP_OK)
        status = qp_decoder_create(capability, set, NULL, allocator, &e->work.decoder, error);
    if (status != QP_OK)
        return status;
    e->work.shapes = e->source->shapes;
    status = qp_cond_plan(&e->work, error);
    if (status == QP_OK)
        status = qp_cond_work_start(&e->work, error);
    if (status != QP_OK)
        return status;
    const qp_cond_shapes *s = &e->work.shapes; /* planned: at most 2^26 latents */
    return qp_chosen_init(&e->chosen, (size_t)s->m * s->sh * s->sw, &e->work.decoder->allocator,
                          error);
}

static void finish(encoding *e)
{
    if (e->work.decoder == NULL)
        return;
    if (e->chosen.capacity > 0)
        qp_chosen_free(&e->chosen);
    qp_cond_feature_free(&e->work.decoder->allocator, &e->reference);
    qp_cond_work_free(&e->work);
    qp_decoder_free(e->work.decoder);
}

qp_status qp_cond_encode(const qp_set *set, const qp_cond_source *source,
                         const qp_allocator *allocator, qp_encoded *payload, qp_error *error)
{
    encoding e = {.source = source};
    qp_buffer b;
    *payload = (qp_encoded){0};
    qp_buffer_init(&b, allocator);
    qp_status status = start(&e, set, "wai.video.int_cond", allocator, error);
    put_head(&b, "WIC1", &source->shapes);
    qp_buffer_le(&b, source->frames, 4);
    for (; e.frame < source->frames && status == QP_OK; e.frame++) /* kind and 3 reserved */
        status = encode_frame(&e, index_of(&e) > 0 ? QP_COND_INTER : QP_COND_INTRA, &b, error);
    finish(&e);
    return qp_encoded_take(&b, status, payload, error);
}

qp_status qp_cond_encode_frames(const qp_set *set, const qp_cond_source *source,
                                const qp_allocator *allocator, qp_encoded *payloads,
                                qp_error *error)
{
    encoding e = {.source = source};
    for (uint32_t i = 0; i < source->frames; i++)
        payloads[i] = (qp_encoded){0};
    qp_status status = start(&e, set, "wai.video.int_cond.frame", allocator, error);
    for (; e.frame < source->frames && status == QP_OK; e.frame++) {
        qp_buffer b;
        qp_buffer_init(&b, allocator);
        put_head(&b, "WCF1", &source->shapes);
        status = encode_frame(&e, index_of(&e), &b, error);
        status = qp_encoded_take(&b, status, &payloads[e.frame], error);
    }
    finish(&e);
    for (uint32_t i = 0; i < source->frames && status != QP_OK; i++)
        qp_encoded_free(allocator, &payloads[i]);
    return status;
}
