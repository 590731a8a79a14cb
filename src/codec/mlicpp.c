/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlicpp.c - wai.neural.int_mlicpp: a picture whose latents are coded slice by slice, each in two
 * passes of a checkerboard, and whose scales and means the entropy network gives anew before every
 * pass from what is decoded by then (integer-operators.md section 13.5; docs/payloads.md, "WIM1").
 *
 * Two codes only (section 4): QP_MODEL_MISMATCH for a set that does not fit, before either stream,
 * and QP_PAYLOAD_MALFORMED for everything else that is refused.
 */
#include "codec/coded_latents.h"

enum { SIDE_MAX = 65536 /* = 2^16 */, H_S = 0, ENTROPY = 1, G_S = 2, COLOURS = 3 };

static const qp_rans_modes modes = {.table = QP_RANS_T2, .end = QP_RANS_FINAL_ONLY};

/* Two passes a slice: first the elements with an even row + column, then the rest. */
enum { PASSES = 2 };

typedef struct picture {
    qp_shape size; /* [3, H, W] */
    qp_shape z, y;
    uint32_t slices;
    qp_bytes z_stream, y_stream;
} picture;

/* What a decode or an encoding holds. */
typedef struct work {
    qp_decoder *decoder;
    const picture *p;
    qp_shape h;      /* what h_s gives */
    size_t n_z, n_y; /* elements */
    int64_t *z;
    int64_t *joined;          /* concat(y, h): y is 0 until it is decoded */
    uint32_t *orders[PASSES]; /* of one slice */
    size_t n_orders[PASSES];
} work;

/* Takes the elements of one pass from the stream or from the picture that is encoded. */
typedef qp_status take_pass(void *context, const qp_conditions *conditions, const qp_pass *pass,
                            int64_t *y, qp_error *error);

/* ---- the payload -------------------------------------------------------------------------- */

static qp_shape read_shape(qp_payload *p, const char *name)
{
    size_t at = p->at;
    qp_shape shape;
    shape.channels = qp_payload_u16_in(p, 1, UINT16_MAX, name);
    shape.height = qp_payload_u16_in(p, 1, UINT16_MAX, name);
    shape.width = qp_payload_u16_in(p, 1, UINT16_MAX, name);
    if (qp_shape_elements(&shape) > QP_ELEMENTS_MAX)
        qp_payload_fault(p, at, "%s passes 2^26 elements", name);
    return shape;
}

static qp_status read_payload(const qp_unit *unit, picture *pic, qp_error *error)
{
    qp_payload p = qp_payload_over(unit->bytes, unit->size);
    qp_payload_head(&p, "WIM1", 3);
    pic->size.channels = COLOURS;
    pic->size.height = qp_payload_u32_in(&p, 1, SIDE_MAX, "the height");
    pic->size.width = qp_payload_u32_in(&p, 1, SIDE_MAX, "the width");
    pic->z = read_shape(&p, "the shape of z");
    pic->y = read_shape(&p, "the shape of y");
    size_t at = p.at;
    pic->slices = qp_payload_u16(&p, "the number of slices");
    if (!p.failed && (pic->slices == 0 || pic->y.channels % pic->slices != 0))
        qp_payload_fault(&p, at, "the slices do not share out the channels of y");
    qp_payload_reserved(&p, 2);
    uint32_t z_size = qp_payload_u32(&p, "the length of the z stream");
    uint32_t y_size = qp_payload_u32(&p, "the length of the y stream");
    pic->z_stream = qp_payload_stream_of(&p, z_size, "the z stream");
    pic->y_stream = qp_payload_stream_of(&p, y_size, "the y stream");
    qp_payload_end(&p);
    return qp_payload_check(&p, error);
}

/* ---- the plan ----------------------------------------------------------------------------- */

static qp_status plan_graph(const work *w, size_t graph, const qp_shape *input, qp_shape *output,
                            qp_error *error)
{
    const qp_lowered *set = w->decoder->set->lowered;
    return qp_plan_graph(qp_lowered_at(set, graph).graph, input, NULL, &w->decoder->allocator,
                         output, error);
}

static qp_status expect(const qp_shape *given, uint32_t channels, const qp_shape *y,
                        const char *role, qp_error *error)
{
    if (qp_shape_is(given, channels, y->height, y->width))
        return QP_OK;
    return qp_fail(error, QP_MODEL_MISMATCH, "%s gives [%u, %u, %u], not [%u, %u, %u]", role,
                   given->channels, given->height, given->width, channels, y->height, y->width);
}

static qp_status plan(work *w, qp_error *error)
{
    const picture *p = w->p;
    const qp_shape *y = &p->y;
    qp_shape out;
    if (qp_rans_tables_count(w->decoder->set->entropy.z) != p->z.channels)
        return qp_fail(error, QP_MODEL_MISMATCH, "the set has not one z table a channel of z");
    qp_status status = plan_graph(w, H_S, &p->z, &w->h, error);
    if (status == QP_OK)
        status = expect(&w->h, w->h.channels, y, "h_s", error);
    qp_shape joined = {y->channels + w->h.channels, y->height, y->width};
    if (status == QP_OK)
        status = plan_graph(w, ENTROPY, &joined, &out, error);
    if (status == QP_OK)
        status = expect(&out, 2 * y->channels, y, "entropy", error);
    if (status == QP_OK)
        status = plan_graph(w, G_S, y, &out, error);
    if (status == QP_OK)
        status = qp_synthesis_check(&out, &p->size, error);
    return qp_refusal_as(status, QP_MODEL_MISMATCH, error);
}

/* ---- memory ------------------------------------------------------------------------------- */

static size_t n_joined(const work *w)
{
    return w->n_y + (size_t)qp_shape_elements(&w->h);
}

static qp_status make_order(work *w, int pass, qp_error *error)
{
    const qp_shape *y = &w->p->y;
    qp_order_rule rule = {.channels = y->channels / w->p->slices,
                          .height = y->height,
                          .width = y->width,
                          .order = QP_ORDER_CHECKERBOARD,
                          .anchor = pass == 0};
    qp_status status = qp_coding_order_count(&rule, &w->n_orders[pass], error);
    if (status != QP_OK)
        return status;
    w->orders[pass] =
        qp_allocate(&w->decoder->allocator, w->n_orders[pass], sizeof *w->orders[pass]);
    if (w->orders[pass] == NULL)
        return qp_fail_memory(error, "the order of a slice");
    return qp_coding_order(&rule, w->orders[pass], error);
}

static qp_status make_room(work *w, qp_error *error)
{
    const qp_allocator *allocator = &w->decoder->allocator;
    w->n_z = (size_t)qp_shape_elements(&w->p->z);
    w->n_y = (size_t)qp_shape_elements(&w->p->y);
    w->z = qp_allocate(allocator, w->n_z, sizeof *w->z);
    w->joined = qp_allocate(allocator, n_joined(w), sizeof *w->joined);
    if (w->z == NULL || w->joined == NULL)
        return qp_fail_memory(error, "the latents");
    qp_status status = QP_OK;
    for (int pass = 0; pass < PASSES && status == QP_OK; pass++)
        status = make_order(w, pass, error);
    return status;
}

static void free_room(work *w)
{
    const qp_allocator *allocator = &w->decoder->allocator;
    for (int pass = PASSES; pass-- > 0;)
        qp_release(allocator, w->orders[pass], w->n_orders[pass], sizeof *w->orders[pass]);
    qp_release(allocator, w->joined, n_joined(w), sizeof *w->joined);
    qp_release(allocator, w->z, w->n_z, sizeof *w->z);
}

/* ---- the networks ------------------------------------------------------------------------- */

static qp_status run(work *w, size_t graph, const qp_array *input, qp_array *output,
                     qp_error *error)
{
    qp_session *session;
    qp_status status = qp_decoder_session(w->decoder, graph, &session, error);
    return status == QP_OK ? qp_network_run(session, input, output, error) : status;
}

/* h_s on z, into the place behind y. */
static qp_status run_hyper(work *w, qp_error *error)
{
    qp_array input = qp_latent_array(w->z, &w->p->z), output;
    qp_status status = run(w, H_S, &input, &output, error);
    if (status == QP_OK)
        qp_array_read(&output, 0, n_joined(w) - w->n_y, w->joined + w->n_y);
    return status;
}

static qp_status run_passes(work *w, take_pass *take, void *context, qp_error *error)
{
    qp_shape joined = {w->p->y.channels + w->h.channels, w->p->y.height, w->p->y.width};
    qp_array input = qp_latent_array(w->joined, &joined);
    qp_conditions conditions = {.entropy = &w->decoder->set->entropy};
    qp_status status = QP_OK;

    for (size_t i = 0; i < PASSES * (size_t)w->p->slices && status == QP_OK; i++) {
        size_t k = i % PASSES, slice = w->n_y / w->p->slices;
        qp_pass pass = {w->orders[k], i / PASSES * slice, w->n_orders[k]};
        status = run(w, ENTROPY, &input, &conditions.array, error);
        if (status == QP_OK)
            status = take(context, &conditions, &pass, w->joined, error);
    }
    return status;
}

static qp_status synthesise(work *w, qp_media *media, qp_error *error)
{
    qp_array input = qp_latent_array(w->joined, &w->p->y), output;
    qp_status status = run(w, G_S, &input, &output, error);
    if (status == QP_OK && media != NULL)
        qp_media_put_pixels(media, 0, &output);
    return status;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static qp_status decode_pass(void *context, const qp_conditions *conditions, const qp_pass *pass,
                             int64_t *y, qp_error *error)
{
    return qp_conditioned_decode(conditions, pass, context, y, error);
}

static qp_status decode_streams(work *w, qp_error *error)
{
    const qp_entropy *entropy = &w->decoder->set->entropy;
    qp_rans_decoder decoder;
    qp_status status = qp_hyper_decode(entropy, w->p->z_stream, &w->p->z, w->z, error);
    if (status == QP_OK)
        status = run_hyper(w, error);
    if (status == QP_OK)
        status = qp_rans_decoder_init(&decoder, entropy->y, w->p->y_stream.bytes,
                                      w->p->y_stream.size, error);
    if (status == QP_OK)
        status = run_passes(w, decode_pass, &decoder, error);
    return status == QP_OK ? qp_rans_finish(&decoder, error) : status;
}

static qp_status decode_picture(work *w, qp_media *media, qp_error *error)
{
    qp_status status = make_room(w, error);
    if (status == QP_OK)
        status = decode_streams(w, error);
    if (status == QP_OK)
        status = synthesise(w, media, error);
    free_room(w);
    return qp_refusal_as(status, QP_PAYLOAD_MALFORMED, error);
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    picture p = {0};
    work w = {.decoder = decoder, .p = &p};
    qp_status status = read_payload(unit, &p, error);
    if (status == QP_OK)
        status = plan(&w, error);
    if (status != QP_OK)
        return status;
    *media = (qp_media){.layout = QP_LAYOUT_PIXELS,
                        .frames = 1,
                        .height = p.size.height,
                        .width = p.size.width,
                        .channels = p.size.channels};
    status = qp_media_make(&decoder->allocator, media, error);
    return status == QP_OK ? decode_picture(&w, media, error) : status;
}

/* ---- encoding ----------------------------------------------------------------------------- */

typedef struct targets {
    const int64_t *y;
    qp_chosen chosen;
} targets;

static qp_status choose_pass(void *context, const qp_conditions *conditions, const qp_pass *pass,
                             int64_t *y, qp_error *error)
{
    targets *t = context;
    return qp_conditioned_choose(conditions, pass, t->y, &t->chosen, y, error);
}

static void write_payload(const picture *p, const qp_stream *z, const qp_stream *y, qp_buffer *b)
{
    const uint32_t shapes[6] = {p->z.channels, p->z.height, p->z.width,
                                p->y.channels, p->y.height, p->y.width};
    qp_payload_put_head(b, "WIM1", 3);
    qp_buffer_le(b, p->size.height, 4);
    qp_buffer_le(b, p->size.width, 4);
    for (int i = 0; i < 6; i++)
        qp_buffer_le(b, shapes[i], 2);
    qp_buffer_le(b, p->slices, 2);
    qp_payload_put_zeros(b, 2);
    qp_buffer_le(b, z->size, 4);
    qp_buffer_le(b, y->size, 4);
    qp_buffer_append(b, z->bytes, z->size);
    qp_buffer_append(b, y->bytes, y->size);
}

/* The streams of a picture whose z is in place. */
static qp_status encode_streams(work *w, const qp_mlicpp_source *source, targets *t,
                                qp_buffer *payload, qp_error *error)
{
    const qp_entropy *entropy = &w->decoder->set->entropy;
    const qp_allocator *allocator = &w->decoder->allocator;
    qp_stream z = {0}, y = {0};
    qp_status status = run_hyper(w, error);
    if (status == QP_OK)
        status = run_passes(w, choose_pass, t, error);
    if (status == QP_OK)
        status = synthesise(w, NULL, error); /* so that what is written decodes */
    if (status == QP_OK)
        status = qp_hyper_encode(entropy, &source->z, allocator, &z, error);
    qp_rans_symbols symbols = {t->chosen.reads, t->chosen.symbols, t->chosen.count};
    if (status == QP_OK)
        status = qp_rans_encode(entropy->y, &symbols, allocator, &y, error);
    if (status == QP_OK)
        write_payload(w->p, &z, &y, payload);
    qp_stream_free(allocator, &y);
    qp_stream_free(allocator, &z);
    return status;
}

static qp_status encode_picture(work *w, const qp_mlicpp_source *source, qp_buffer *payload,
                                qp_error *error)
{
    targets t = {.y = source->y.values};
    qp_status status = make_room(w, error);
    for (size_t i = 0; i < w->n_z && status == QP_OK; i++)
        status =
            qp_dequantize(source->z.symbols[i], w->decoder->set->entropy.afrac, 0, &w->z[i], error);
    if (status == QP_OK)
        status = qp_chosen_init(&t.chosen, w->n_y, &w->decoder->allocator, error);
    if (status == QP_OK) {
        status = encode_streams(w, source, &t, payload, error);
        qp_chosen_free(&t.chosen);
    }
    free_room(w);
    return status;
}

static bool is_side(uint32_t side)
{
    return side >= 1 && side <= UINT16_MAX;
}

static qp_status check_source(const qp_mlicpp_source *s, qp_error *error)
{
    qp_shape y = {s->y.channels, s->y.height, s->y.width};
    qp_status status = qp_latents_check(&s->z, error);
    if (status != QP_OK)
        return status;
    if (!is_side(s->z.height) || !is_side(s->z.width) || !is_side(y.channels) ||
        !is_side(y.height) || !is_side(y.width) || qp_shape_elements(&y) > QP_ELEMENTS_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT, "a shape is outside the fields of WIM1");
    if (s->height < 1 || s->height > SIDE_MAX || s->width < 1 || s->width > SIDE_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT, "a picture has sides of 1 to 2^16");
    if (s->slices < 1 || y.channels % s->slices != 0)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the slices do not share out the channels of y");
    return QP_OK;
}

qp_status qp_mlicpp_encode(const qp_set *set, const qp_mlicpp_source *source,
                           const qp_allocator *allocator, qp_encoded *payload, qp_error *error)
{
    const qp_latents *z = &source->z;
    const qp_fine_latents *y = &source->y;
    picture p = {.size = {COLOURS, source->height, source->width},
                 .z = {z->channels, z->height, z->width},
                 .y = {y->channels, y->height, y->width},
                 .slices = source->slices};
    work w = {.p = &p};
    qp_buffer b;

    *payload = (qp_encoded){0};
    qp_status status = check_source(source, error);
    if (status == QP_OK)
        status = qp_decoder_create(qp_driver_int_mlicpp.capability, set, NULL, allocator,
                                   &w.decoder, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&b, allocator);
    status = plan(&w, error);
    if (status == QP_OK)
        status = encode_picture(&w, source, &b, error);
    qp_decoder_free(w.decoder);
    return qp_encoded_take(&b, status, payload, error);
}

static qp_status prepare(qp_set *set, qp_error *error)
{
    return qp_bundle_prepare(set, &modes, error);
}

const qp_driver qp_driver_int_mlicpp = {.capability = "wai.neural.int_mlicpp",
                                        .magic = "WIM1",
                                        .reads_set = true,
                                        .prepare = prepare,
                                        .decode = decode};
