/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cond.c - wai.video.int_cond and wai.video.int_cond.frame: frames coded upon the feature that the
 * frame before left (integer-operators.md section 13.5; docs/payloads.md, "WIC1" and "WCF1").
 *
 * Each frame: ctx on the reference feature and prior on what it gives, then the frame's stream,
 * then dec, whose output is the next reference, and recon. A refused frame leaves the reference as
 * it was.
 */
#include "codec/cond.h"

enum { SIDE_MAX = 65536 /* = 2^16 */, COLOURS = 3, FRAME_BYTES_LEAST = 16 };
enum { CTX = 0, PRIOR = 1, DEC = 2, RECON = 3 };

static const qp_rans_modes modes = {.table = QP_RANS_T4097};

/* ---- the shapes of a payload -------------------------------------------------------------- */

static qp_cond_shapes read_shapes(qp_payload *p)
{
    qp_cond_shapes s;
    s.height = qp_payload_u32_in(p, 1, SIDE_MAX, "the height");
    s.width = qp_payload_u32_in(p, 1, SIDE_MAX, "the width");
    s.m = qp_payload_u16_in(p, 1, UINT16_MAX, "the latents' channels");
    s.sh = qp_payload_u16_in(p, 1, UINT16_MAX, "the latents' height");
    s.sw = qp_payload_u16_in(p, 1, UINT16_MAX, "the latents' width");
    s.f = qp_payload_u16_in(p, 1, UINT16_MAX, "the feature's channels");
    s.fh = qp_payload_u16_in(p, 1, UINT16_MAX, "the feature's height");
    s.fw = qp_payload_u16_in(p, 1, UINT16_MAX, "the feature's width");
    return s;
}

static bool is_same(const qp_cond_shapes *a, const qp_cond_shapes *b)
{
    return a->height == b->height && a->width == b->width && a->m == b->m && a->sh == b->sh &&
           a->sw == b->sw && a->f == b->f && a->fh == b->fh && a->fw == b->fw;
}

/* `u8` kind, 3 reserved, then a stream behind its length. */
static qp_bytes read_frame(qp_payload *p, bool *inter)
{
    *inter = qp_payload_u8_in(p, QP_COND_INTRA, QP_COND_INTER, "a frame's kind") == QP_COND_INTER;
    qp_payload_reserved(p, 3);
    return qp_payload_stream(p, "a frame's stream");
}

/* ---- features ----------------------------------------------------------------------------- */

void qp_cond_feature_free(const qp_allocator *allocator, qp_cond_feature *feature)
{
    qp_release(allocator, feature->bytes, feature->size, 1);
    *feature = (qp_cond_feature){0};
}

/* A copy of what dec gives, or zeros for NULL. */
static qp_status make_feature(const qp_cond_work *w, const qp_array *given,
                              qp_cond_feature *feature, qp_error *error)
{
    const qp_cond_shapes *s = &w->shapes;
    *feature = (qp_cond_feature){.array = {NULL, QP_UINT8, s->f, s->fh, s->fw}};
    if (given != NULL)
        feature->array.type = given->type;
    /* planned: at most 2^26 elements */
    feature->size = (size_t)qp_array_elements(&feature->array) * qp_type_size(feature->array.type);
    feature->bytes = qp_allocate(&w->decoder->allocator, feature->size, 1);
    if (feature->bytes == NULL)
        return qp_fail_memory(error, "the reference feature");
    if (given != NULL)
        memcpy(feature->bytes, given->data, feature->size);
    feature->array.data = feature->bytes;
    return QP_OK;
}

/* ---- the plan ----------------------------------------------------------------------------- */

static qp_status plan_graph(const qp_cond_work *w, size_t graph, qp_shape input, qp_shape *output,
                            qp_error *error)
{
    const qp_lowered *set = w->decoder->set->lowered;
    return qp_plan_graph(qp_lowered_at(set, graph).graph, &input, NULL, &w->decoder->allocator,
                         output, error);
}

static qp_status expect(const qp_shape *given, qp_shape wanted, const char *role, qp_error *error)
{
    if (qp_shape_is(given, wanted.channels, wanted.height, wanted.width))
        return QP_OK;
    return qp_fail(error, QP_GEOMETRY_MISMATCH, "%s gives [%u, %u, %u], not [%u, %u, %u]", role,
                   given->channels, given->height, given->width, wanted.channels, wanted.height,
                   wanted.width);
}

static qp_status plan_synthesis(qp_cond_work *w, qp_error *error)
{
    const qp_cond_shapes *s = &w->shapes;
    qp_shape feature = {s->f, s->fh, s->fw}, picture = {COLOURS, s->height, s->width}, out;
    qp_status status = plan_graph(w, DEC, (qp_shape){s->m + w->n_ctx, s->sh, s->sw}, &out, error);
    if (status == QP_OK)
        status = expect(&out, feature, "dec", error);
    if (status == QP_OK)
        status = plan_graph(w, RECON, feature, &out, error);
    return status == QP_OK ? qp_synthesis_check(&out, &picture, error) : status;
}

qp_status qp_cond_plan(qp_cond_work *w, qp_error *error)
{
    const qp_cond_shapes *s = &w->shapes;
    qp_shape ctx, out;
    qp_status status = plan_graph(w, CTX, (qp_shape){s->f, s->fh, s->fw}, &ctx, error);
    if (status == QP_OK)
        status = expect(&ctx, (qp_shape){ctx.channels, s->sh, s->sw}, "ctx", error);
    if (status == QP_OK)
        status = plan_graph(w, PRIOR, ctx, &out, error);
    if (status == QP_OK)
        status = expect(&out, (qp_shape){2 * s->m, s->sh, s->sw}, "prior", error);
    if (status != QP_OK)
        return status;
    w->n_ctx = ctx.channels;
    return plan_synthesis(w, error);
}

/* ---- one frame ---------------------------------------------------------------------------- */

static size_t plane_of(const qp_cond_work *w)
{
    return (size_t)w->shapes.sh * w->shapes.sw;
}

qp_status qp_cond_work_start(qp_cond_work *w, qp_error *error)
{
    w->n_joined = (w->shapes.m + w->n_ctx) * plane_of(w);
    w->joined = qp_allocate(&w->decoder->allocator, w->n_joined, sizeof *w->joined);
    return w->joined != NULL ? QP_OK : qp_fail_memory(error, "the latents");
}

void qp_cond_work_free(qp_cond_work *w)
{
    qp_release(&w->decoder->allocator, w->joined, w->n_joined, sizeof *w->joined);
    w->joined = NULL;
}

static qp_status run(qp_cond_work *w, size_t graph, const qp_array *input, qp_array *output,
                     qp_error *error)
{
    qp_session *session;
    qp_status status = qp_decoder_session(w->decoder, graph, &session, error);
    return status == QP_OK ? qp_network_run(session, input, output, error) : status;
}

/* ctx and prior; what ctx gives stands behind the latents' place. */
static qp_status run_before(qp_cond_work *w, const qp_cond_feature *reference, qp_array *ctx,
                            qp_conditions *conditions, qp_error *error)
{
    size_t n_y = w->shapes.m * plane_of(w);
    qp_status status = run(w, CTX, &reference->array, ctx, error);
    if (status == QP_OK)
        status = run(w, PRIOR, ctx, &conditions->array, error);
    if (status == QP_OK)
        qp_array_read(ctx, 0, w->n_joined - n_y, w->joined + n_y);
    return status;
}

/* dec and recon; the feature is the caller's where both run. */
static qp_status run_after(qp_cond_work *w, qp_media *media, uint32_t frame, qp_cond_feature *next,
                           qp_error *error)
{
    qp_shape joined = {w->shapes.m + w->n_ctx, w->shapes.sh, w->shapes.sw};
    qp_array input = qp_latent_array(w->joined, &joined), feature, picture;
    qp_status status = run(w, DEC, &input, &feature, error);
    if (status == QP_OK)
        status = run(w, RECON, &feature, &picture, error);
    if (status == QP_OK)
        status = make_feature(w, &feature, next, error);
    if (status == QP_OK && media != NULL)
        qp_media_put_pixels(media, frame, &picture);
    if (status != QP_OK)
        qp_cond_feature_free(&w->decoder->allocator, next);
    return status;
}

qp_status qp_cond_frame(qp_cond_work *w, const qp_cond_job *job, qp_cond_feature *reference,
                        qp_error *error)
{
    const qp_allocator *allocator = &w->decoder->allocator;
    qp_conditions conditions = {.entropy = &w->decoder->set->entropy};
    qp_pass raster = {NULL, 0, w->shapes.m * plane_of(w)};
    qp_cond_feature zeros = {0}, next = {0};
    qp_array ctx;

    qp_status status = job->inter ? QP_OK : make_feature(w, NULL, &zeros, error);
    if (status == QP_OK)
        status = run_before(w, job->inter ? reference : &zeros, &ctx, &conditions, error);
    qp_cond_feature_free(allocator, &zeros);
    if (status == QP_OK)
        status = job->take(job->context, &ctx, &conditions, &raster, w->joined, error);
    if (status == QP_OK)
        status = run_after(w, job->media, job->frame, &next, error);
    if (status != QP_OK)
        return status;
    qp_cond_feature_free(allocator, reference);
    *reference = next;
    return QP_OK;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static qp_status take_stream(void *context, const qp_array *ctx, const qp_conditions *conditions,
                             const qp_pass *pass, int64_t *y, qp_error *error)
{
    const qp_bytes *stream = context;
    qp_rans_decoder decoder;
    (void)ctx;
    qp_status status =
        qp_rans_decoder_init(&decoder, conditions->entropy->y, stream->bytes, stream->size, error);
    if (status == QP_OK)
        status = qp_conditioned_decode(conditions, pass, &decoder, y, error);
    return status == QP_OK ? qp_rans_finish(&decoder, error) : status;
}

/* Plans, and makes the media and the room that every frame of these shapes needs. */
static qp_status start(qp_cond_work *w, uint32_t frames, qp_media *media, qp_error *error)
{
    qp_status status = qp_cond_plan(w, error);
    if (status != QP_OK)
        return status;
    *media = (qp_media){.layout = QP_LAYOUT_PIXELS,
                        .frames = frames,
                        .height = w->shapes.height,
                        .width = w->shapes.width,
                        .channels = COLOURS};
    status = qp_media_make(&w->decoder->allocator, media, error);
    return status == QP_OK ? qp_cond_work_start(w, error) : status;
}

/* ---- WIC1 --------------------------------------------------------------------------------- */

/* The framing alone: the first frame is intra. */
static void walk_frames(qp_payload p, uint32_t frames, qp_payload *end)
{
    for (uint32_t i = 0; i < frames && !p.failed; i++) {
        size_t at = p.at;
        bool inter;
        read_frame(&p, &inter);
        if (i == 0 && inter)
            qp_payload_fault(&p, at, "the first frame is not intra");
    }
    qp_payload_end(&p);
    *end = p;
}

static qp_status decode_frames(qp_cond_work *w, qp_payload *p, qp_media *media, qp_error *error)
{
    qp_cond_feature reference = {0};
    qp_status status = QP_OK;
    for (uint32_t i = 0; i < media->frames && status == QP_OK; i++) {
        qp_cond_job job = {.frame = i, .media = media, .take = take_stream};
        qp_bytes stream = read_frame(p, &job.inter);
        job.context = &stream;
        status = qp_cond_frame(w, &job, &reference, error);
    }
    qp_cond_feature_free(&w->decoder->allocator, &reference);
    return status;
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    qp_payload p = qp_payload_over(unit->bytes, unit->size), end;
    qp_cond_work w = {.decoder = decoder};
    qp_payload_head(&p, "WIC1", 3);
    w.shapes = read_shapes(&p);
    size_t at = p.at;
    uint32_t frames = qp_payload_count(&p, FRAME_BYTES_LEAST, "the number of frames");
    if (frames == 0)
        qp_payload_fault(&p, at, "there are no frames");
    walk_frames(p, frames, &end);
    qp_status status = qp_payload_check(&end, error);
    if (status == QP_OK)
        status = start(&w, frames, media, error);
    if (status == QP_OK)
        status = decode_frames(&w, &p, media, error);
    qp_cond_work_free(&w);
    return status;
}

/* ---- WCF1 --------------------------------------------------------------------------------- */

/* What a decoder keeps between frames. */
typedef struct sequence {
    qp_cond_shapes shapes;
    qp_cond_feature reference; /* empty before the first frame */
    uint32_t index;            /* of the frame decoded last, in its group */
} sequence;

static void forget(qp_decoder *decoder)
{
    sequence *kept = decoder->state;
    if (kept == NULL)
        return;
    qp_cond_feature_free(&decoder->allocator, &kept->reference);
    qp_release(&decoder->allocator, kept, 1, sizeof *kept);
    decoder->state = NULL;
}

static qp_status keep_sequence(qp_decoder *decoder, sequence **kept, qp_error *error)
{
    if (decoder->state == NULL)
        decoder->state = qp_allocate(&decoder->allocator, 1, sizeof **kept);
    *kept = decoder->state;
    return *kept != NULL ? QP_OK : qp_fail_memory(error, "a sequence");
}

/* An inter frame follows the one before it in its group, which left its feature. */
static qp_status check_reference(const qp_cond_work *w, uint32_t index, qp_error *error)
{
    const sequence *kept = w->decoder->state;
    if (index == 0)
        return QP_OK;
    if (kept == NULL || kept->reference.bytes == NULL)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "frame %u of its group follows no frame that left a feature", index);
    if (kept->index != index - 1)
        return qp_fail(error, QP_MODEL_MISMATCH, "frame %u of its group follows frame %u", index,
                       kept->index);
    if (!is_same(&w->shapes, &kept->shapes))
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "an inter frame has not the shapes of the frame before it");
    return QP_OK;
}

static qp_status decode_one(qp_cond_work *w, uint32_t index, qp_bytes *stream, qp_media *media,
                            qp_error *error)
{
    qp_cond_job job = {.inter = index > 0, .media = media, .take = take_stream, .context = stream};
    sequence *kept;
    qp_status status = start(w, 1, media, error);
    if (status == QP_OK)
        status = check_reference(w, index, error);
    if (status == QP_OK)
        status = keep_sequence(w->decoder, &kept, error);
    if (status != QP_OK)
        return status;
    status = qp_cond_frame(w, &job, &kept->reference, error);
    if (status == QP_OK) {
        kept->shapes = w->shapes;
        kept->index = index;
    }
    return status;
}

static qp_status decode_frame(qp_decoder *decoder, const qp_unit *unit, qp_media *media,
                              qp_error *error)
{
    qp_payload p = qp_payload_over(unit->bytes, unit->size);
    qp_cond_work w = {.decoder = decoder};
    qp_payload_head(&p, "WCF1", 3);
    w.shapes = read_shapes(&p);
    uint32_t index = qp_payload_u32(&p, "the frame's index");
    qp_bytes stream = qp_payload_stream(&p, "the frame's stream");
    qp_payload_end(&p);
    qp_status status = qp_payload_check(&p, error);
    if (status == QP_OK)
        status = decode_one(&w, index, &stream, media, error);
    qp_cond_work_free(&w);
    return status;
}

/* ---- the drivers -------------------------------------------------------------------------- */

static qp_status prepare(qp_set *set, qp_error *error)
{
    return qp_bundle_prepare(set, &modes, error);
}

const qp_driver qp_driver_int_cond = {.capability = "wai.video.int_cond",
                                      .magic = "WIC1",
                                      .reads_set = true,
                                      .prepare = prepare,
                                      .decode = decode};

const qp_driver qp_driver_int_cond_frame = {.capability = "wai.video.int_cond.frame",
                                            .magic = "WCF1",
                                            .reads_set = true,
                                            .prepare = prepare,
                                            .decode = decode_frame,
                                            .forget = forget};
