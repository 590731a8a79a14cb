/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cond_refine.c - wai.image.int_cond_refine: a graph that the payload carries corrects the
 * prediction from the layer below, and a WIR1 residual refines the sum (integer-operators.md
 * section 11; docs/payloads.md, "WCP1").
 */
#include "codec/cond_refine.h"

enum { SIDE_MAX = 65536 /* = 2^16 */, SPAN = 512, SAMPLE_MAX = 255, INPUTS_MAX = 2 };

/* Of the nested payload: the byte that says its prediction. */
enum { NESTED_PREDICTION = 5 };

/* ---- the correction ----------------------------------------------------------------------- */

qp_shape qp_correction_side(const qp_correction *c)
{
    return (qp_shape){c->n_side, c->layer.d0, c->layer.d1};
}

/* The graph takes the prediction and, where there are some, the side planes; nothing else. */
static qp_status check_graph(const qp_correction *c, const qp_graph *graph, qp_error *error)
{
    qp_graph_info info = qp_graph_describe(graph);
    uint32_t wanted = c->n_side > 0 ? 2 : 1;
    if (info.n_inputs != wanted || info.n_outputs != 1 || info.n_scalars != 0)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "the graph has %u inputs, %u outputs and %u scalars, not %u, 1 and 0",
                       info.n_inputs, info.n_outputs, info.n_scalars, wanted);
    for (uint32_t i = 0; i < info.n_inputs; i++)
        if (qp_graph_input(graph, i).state)
            return qp_fail(error, QP_MODEL_MISMATCH, "the graph carries a state");
    return QP_OK;
}

static qp_status plan(const qp_correction *c, qp_error *error)
{
    const qp_graph *graph = qp_lowered_at(c->lowered, 0).graph;
    const qp_refine_layer *l = &c->layer;
    qp_shape inputs[INPUTS_MAX] = {{l->d2, l->d0, l->d1}, qp_correction_side(c)}, out;
    qp_status status = qp_plan_graph(graph, inputs, NULL, &c->allocator, &out, error);
    if (status != QP_OK)
        return status;
    if (out.channels != l->d2)
        return qp_fail(error, QP_MODEL_MISMATCH, "the correction has %u channels, not %u",
                       out.channels, l->d2);
    if (out.height != l->d0 || out.width != l->d1)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "the correction is %u x %u, not %u x %u",
                       out.height, out.width, l->d0, l->d1);
    return QP_OK;
}

qp_status qp_correction_open(qp_correction *c, const qp_media *base, size_t n_base, qp_error *error)
{
    qp_member member = {"correction.whg1", c->graph.bytes, c->graph.size};
    qp_lower_options asked = {.capability = "wai.image.int_cond_refine"};
    if (qp_refine_elements(&c->layer) > QP_REFINE_UNIT_MAX)
        return qp_fail(error, QP_TOO_LARGE, "the picture passes 2^26 elements");
    qp_status status = qp_refine_take_below(&c->layer, base, n_base, error);
    if (status == QP_OK)
        status = qp_refine_check(&c->layer, true, error);
    if (status == QP_OK)
        status = qp_lower(&member, 1, &asked, &c->allocator, &c->lowered, error);
    if (status == QP_OK)
        status = check_graph(c, qp_lowered_at(c->lowered, 0).graph, error);
    return status == QP_OK ? plan(c, error) : status;
}

void qp_correction_close(qp_correction *c)
{
    qp_lowered_free(c->lowered);
    c->lowered = NULL;
}

/* The prediction as planes of bytes, for the graph, and as pixels in the media. */
static void predict(const qp_correction *c, uint8_t *planes, qp_media *media)
{
    const qp_refine_layer *l = &c->layer;
    size_t plane = (size_t)l->d0 * l->d1;
    int32_t predictions[SPAN];
    for (size_t first = 0, n; first < media->size; first += n) {
        n = media->size - first < SPAN ? media->size - first : SPAN;
        qp_refine_predict(l, 0, first, n, predictions);
        for (size_t i = 0; i < n; i++) {
            size_t at = first + i;
            media->bytes[at] = (uint8_t)predictions[i];
            planes[at % l->d2 * plane + at / l->d2] = (uint8_t)predictions[i];
        }
    }
}

/* A correction beyond [-255, 255] gives an end of [0, 255] whatever the prediction: it is cut to
 * that first, so that the sum fits. */
static void add_correction(const qp_array *correction, qp_media *media)
{
    int64_t values[SPAN];
    size_t plane = (size_t)media->height * media->width, channels = media->channels;
    for (size_t c = 0; c < channels; c++)
        for (size_t first = 0, n; first < plane; first += n) {
            n = plane - first < SPAN ? plane - first : SPAN;
            qp_array_read(correction, c * plane + first, n, values);
            for (size_t i = 0; i < n; i++) {
                uint8_t *p = &media->bytes[(first + i) * channels + c];
                int64_t by = qp_clamp_i64(values[i], -SAMPLE_MAX, SAMPLE_MAX);
                *p = (uint8_t)qp_clamp_i64(*p + by, 0, SAMPLE_MAX);
            }
        }
}

static qp_status run_graph(const qp_correction *c, qp_session *session, const int64_t *side,
                           qp_media *media, qp_error *error)
{
    const qp_refine_layer *l = &c->layer;
    qp_shape side_shape = qp_correction_side(c);
    uint8_t *planes = qp_allocate(&c->allocator, media->size, 1);
    qp_array output;
    if (planes == NULL)
        return qp_fail_memory(error, "the prediction");
    qp_array inputs[INPUTS_MAX] = {{planes, QP_UINT8, l->d2, l->d0, l->d1},
                                   qp_latent_array(side, &side_shape)};
    predict(c, planes, media);
    qp_status status = qp_session_decode(session, inputs, c->n_side > 0 ? 2 : 1, NULL, 0, error);
    qp_release(&c->allocator, planes, media->size, 1);
    if (status == QP_OK)
        status = qp_session_output(session, 0, &output);
    if (status == QP_OK)
        add_correction(&output, media);
    return status;
}

qp_status qp_correction_run(const qp_correction *c, const int64_t *side, qp_media *media,
                            qp_error *error)
{
    const qp_certificate *certificate = qp_lowered_certificate(c->lowered);
    qp_session *session;
    qp_status status =
        qp_codec_session(certificate, 0, c->reference, &c->allocator, &session, error);
    if (status == QP_OK)
        status = run_graph(c, session, side, media, error);
    qp_session_free(session);
    return status;
}

/* ---- the payload -------------------------------------------------------------------------- */

typedef struct parts {
    qp_carried side;
    qp_bytes residual; /* a WIR1 payload */
    size_t residual_at;
} parts;

static void read_head(qp_payload *p, qp_correction *c, uint16_t *n_tables)
{
    qp_payload_head(p, "WCP1", 0);
    c->layer.prediction = (qp_refine_prediction)qp_payload_u8_in(p, QP_REFINE_IDENTITY,
                                                                 QP_REFINE_UP2, "the prediction");
    c->n_side = qp_payload_u8(p, "the number of side planes");
    qp_payload_reserved(p, 1);
    c->layer.layout = QP_LAYOUT_PIXELS;
    c->layer.units = 1;
    c->layer.d0 = qp_payload_u32_in(p, 1, SIDE_MAX, "the height");
    c->layer.d1 = qp_payload_u32_in(p, 1, SIDE_MAX, "the width");
    c->layer.d2 = qp_payload_u16_in(p, 1, UINT16_MAX, "the channels");
    size_t at = p->at;
    *n_tables = qp_payload_u16(p, "the number of tables");
    if (*n_tables != c->n_side && (*n_tables != 1 || c->n_side == 0))
        qp_payload_fault(p, at, "there is neither one table nor one a side plane");
    c->graph = qp_payload_block(p, "the graph");
}

static qp_status read_payload(const qp_unit *unit, qp_correction *c, parts *x, qp_error *error)
{
    qp_payload p = qp_payload_over(unit->bytes, unit->size);
    uint16_t n_tables;
    qp_status status = QP_OK;
    read_head(&p, c, &n_tables);
    if (c->n_side > 0)
        status = qp_carried_read(&p, n_tables, &c->allocator, &x->side, error);
    if (status != QP_OK)
        return status;
    x->residual = qp_payload_block(&p, "the residual");
    x->residual_at = p.at - x->residual.size;
    if (x->residual.size > NESTED_PREDICTION &&
        x->residual.bytes[NESTED_PREDICTION] != QP_REFINE_IDENTITY)
        qp_payload_fault(&p, x->residual_at + NESTED_PREDICTION,
                         "the residual is not predicted by identity");
    qp_payload_end(&p);
    return qp_payload_check(&p, error);
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* The side planes, then the sum that the graph gives. */
static qp_status correct(const qp_correction *c, const parts *x, qp_media *sum, qp_error *error)
{
    qp_shape shape = qp_correction_side(c);
    size_t count = (size_t)qp_shape_elements(&shape); /* planned: at most 2^26 */
    int64_t *side = qp_allocate(&c->allocator, count, sizeof *side);
    if (side == NULL)
        return qp_fail_memory(error, "the side planes");
    qp_status status = QP_OK;
    if (c->n_side > 0)
        status = qp_carried_decode(&x->side, 0, &shape, &c->allocator, side, error);
    if (status == QP_OK)
        status = qp_correction_run(c, side, sum, error);
    qp_release(&c->allocator, side, count, sizeof *side);
    return status;
}

/* The nested WIR1 upon the sum. */
static qp_status refine(qp_decoder *decoder, const parts *x, const qp_media *sum, qp_media *media,
                        qp_error *error)
{
    qp_unit unit = {x->residual.bytes, x->residual.size, sum, 1};
    qp_status status = qp_driver_image_int_refine.decode(decoder, &unit, media, error);
    if (status == QP_PAYLOAD_MALFORMED && error != NULL && error->offset >= 0)
        error->offset += (int64_t)x->residual_at;
    return status;
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    qp_correction c = {.allocator = decoder->allocator, .reference = decoder->options.reference};
    qp_media sum = {0};
    parts x = {0};
    qp_status status = read_payload(unit, &c, &x, error);
    if (status == QP_OK)
        status = qp_correction_open(&c, unit->base, unit->n_base, error);
    if (status == QP_OK) {
        sum = qp_refine_media(&c.layer);
        status = qp_media_make(&decoder->allocator, &sum, error);
    }
    if (status == QP_OK)
        status = correct(&c, &x, &sum, error);
    if (status == QP_OK)
        status = refine(decoder, &x, &sum, media, error);
    qp_media_free(&decoder->allocator, &sum);
    qp_correction_close(&c);
    qp_carried_free(&decoder->allocator, &x.side);
    return status;
}

const qp_driver qp_driver_image_int_cond_refine = {
    .capability = "wai.image.int_cond_refine", .magic = "WCP1", .decode = decode};
