/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refine_encode.c - the encoder of WIR1. Two passes over the layer: the residuals of all units give
 * the offset that their tables share, those of each unit its table and its stream
 * (docs/payloads.md, "Residual tables").
 */
#include "codec/refine.h"
#include "codec/residual.h"

enum { USUAL_Q = 1 };

/* What options.mode asks for. */
enum { MODE_USUAL, MODE_IDENTITY, MODE_UP2, MODE_RATE };

typedef struct refine_coder {
    qp_refine_layer layer;
    qp_allocator allocator;
    const uint8_t *target; /* the media's bytes */
    size_t elements;       /* of a unit */
    int32_t *residuals;    /* of a unit */
    qp_residual_counts counts;
} refine_coder;

/* ---- the layer ---------------------------------------------------------------------------- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t left = a % b;
        a = b;
        b = left;
    }
    return a;
}

/* The change of rate: that of the sampling rates where both are known and give the length, and of
 * the lengths otherwise. */
static void choose_rate(qp_refine_layer *layer, const qp_media *media)
{
    const qp_media *below = layer->below;
    uint32_t num = media->rate, den = below->rate;
    if (num == 0 || den == 0 || (uint64_t)below->width * num / den != media->width) {
        num = media->width;
        den = below->width;
    }
    uint32_t common = common_divisor(num, den);
    layer->rate_num = num / common;
    layer->rate_den = den / common;
}

static qp_refine_prediction usual_prediction(const qp_media *media, const qp_media *below)
{
    if (media->height == below->height && media->width == below->width)
        return QP_REFINE_IDENTITY;
    return media->layout == QP_LAYOUT_AUDIO ? QP_REFINE_RATE : QP_REFINE_UP2;
}

static void take_shape(qp_refine_layer *layer, const qp_media *media)
{
    layer->layout = media->layout;
    layer->units = 1;
    layer->d0 = media->height;
    layer->d1 = media->width;
    layer->d2 = media->channels;
    if (media->layout == QP_LAYOUT_AUDIO) {
        layer->d0 = media->width;
        layer->d1 = 1;
    } else if (media->layout == QP_LAYOUT_PLANES) {
        layer->units = media->channels;
        layer->d2 = 1;
    } else {
        layer->units = media->frames;
    }
}

static qp_status choose_layer(const qp_encoder *encoder, const qp_source *source,
                              qp_refine_layer *layer, qp_error *error)
{
    const qp_media *media = source->media;
    uint32_t q = encoder->options.q != 0 ? encoder->options.q : USUAL_Q;
    uint32_t mode = encoder->options.mode;
    if (media->layout != qp_refine_layout(encoder->driver))
        return qp_fail(error, QP_INVALID_ARGUMENT, "media of a kind that this capability has not");
    if (q > UINT16_MAX || mode > MODE_RATE)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the step q lies in 1..65535, the mode in 0..3");
    take_shape(layer, media);
    layer->residual = qp_refine_residual(layer->layout, q);
    qp_status status = qp_refine_take_below(layer, source->base, source->n_base, error);
    if (status != QP_OK)
        return status;
    layer->prediction = mode == MODE_USUAL ? usual_prediction(media, layer->below)
                                           : (qp_refine_prediction)(mode - MODE_IDENTITY);
    if (!qp_refine_predicts(layer->layout, layer->prediction) ||
        qp_refine_elements(layer) > QP_REFINE_UNIT_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "a mode that these media do not have, or units of more than 2^26 elements");
    if (layer->prediction == QP_REFINE_RATE)
        choose_rate(layer, media);
    return qp_refine_check(layer, qp_refine_is_single(encoder->driver), error);
}

/* ---- residuals ---------------------------------------------------------------------------- */

/* The residuals of a unit, counted too. */
static void choose_residuals(refine_coder *coder, uint32_t unit)
{
    enum { SPAN = 1024 };
    int32_t predictions[SPAN];
    const qp_refine_layer *layer = &coder->layer;
    size_t start = unit * coder->elements;
    for (size_t first = 0, n; first < coder->elements; first += n) {
        n = coder->elements - first < SPAN ? coder->elements - first : SPAN;
        qp_refine_predict(layer, unit, first, n, predictions);
        for (size_t i = 0; i < n; i++) {
            int32_t target = qp_refine_element(layer->layout, coder->target, start + first + i);
            coder->residuals[first + i] =
                qp_residual_choose(&layer->residual, predictions[i], target);
        }
    }
    qp_residual_counts_add(&coder->counts, coder->residuals, coder->elements);
}

static void coder_free(refine_coder *coder)
{
    if (coder->counts.counts != NULL)
        qp_residual_counts_free(&coder->counts);
    qp_release(&coder->allocator, coder->residuals, coder->elements, sizeof *coder->residuals);
    qp_refine_end(&coder->layer, &coder->allocator);
}

/* Whatever is returned, coder_free frees it. */
static qp_status coder_init(refine_coder *coder, const qp_encoder *encoder, const qp_source *source,
                            qp_error *error)
{
    *coder = (refine_coder){.allocator = encoder->allocator, .target = source->media->bytes};
    qp_status status = choose_layer(encoder, source, &coder->layer, error);
    if (status == QP_OK)
        status = qp_refine_start(&coder->layer, &coder->allocator, error);
    if (status == QP_OK)
        status = qp_residual_counts_init(&coder->counts, &coder->layer.residual, &coder->allocator,
                                         error);
    if (status != QP_OK)
        return status;
    coder->elements = (size_t)qp_refine_elements(&coder->layer);
    coder->residuals = qp_allocate(&coder->allocator, coder->elements, sizeof *coder->residuals);
    return coder->residuals != NULL ? QP_OK : qp_fail_memory(error, "the residuals");
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put_head(qp_buffer *payload, const qp_refine_layer *layer, int32_t offset)
{
    const uint32_t fields[] = {layer->units, layer->d0,       layer->d1,
                               layer->d2,    layer->rate_num, layer->rate_den};
    qp_payload_put_head(payload, "WIR1", 0);
    qp_buffer_le(payload, layer->prediction, 1);
    qp_buffer_le(payload, layer->layout == QP_LAYOUT_AUDIO, 1);
    qp_payload_put_zeros(payload, 1);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        qp_buffer_le(payload, fields[i], 4);
    qp_buffer_le(payload, (uint64_t)layer->residual.q, 2);
    qp_payload_put_zeros(payload, 2);
    qp_buffer_le(payload, (uint64_t)offset, 4);
}

static qp_status put_unit(qp_buffer *payload, refine_coder *coder, uint32_t unit, int32_t offset,
                          qp_residual_cdf *cdf, qp_error *error)
{
    qp_stream stream = {0};
    qp_residual_counts_clear(&coder->counts);
    choose_residuals(coder, unit);
    qp_residual_cdf_make(&coder->counts, qp_residual_window_from(&coder->counts, offset), cdf);
    qp_status status = qp_residual_stream(cdf, coder->residuals, coder->elements, &coder->allocator,
                                          &stream, error);
    if (status != QP_OK)
        return status;
    qp_buffer_le(payload, cdf->n, 4);
    for (size_t i = 0; i < cdf->n; i++)
        qp_buffer_le(payload, (uint64_t)cdf->values[i], 4);
    qp_payload_put_block(payload, stream.bytes, stream.size);
    qp_stream_free(&coder->allocator, &stream);
    return QP_OK;
}

static qp_status put_layer(qp_buffer *payload, refine_coder *coder, qp_error *error)
{
    qp_residual_cdf *cdf = qp_allocate(&coder->allocator, 1, sizeof *cdf);
    qp_status status = QP_OK;
    if (cdf == NULL)
        return qp_fail_memory(error, "a table");
    for (uint32_t k = 0; k < coder->layer.units; k++)
        choose_residuals(coder, k);
    int32_t offset = qp_residual_window_of(&coder->counts).first;
    put_head(payload, &coder->layer, offset);
    for (uint32_t k = 0; k < coder->layer.units && status == QP_OK; k++)
        status = put_unit(payload, coder, k, offset, cdf, error);
    qp_release(&coder->allocator, cdf, 1, sizeof *cdf);
    return status == QP_OK && payload->failed ? qp_fail_memory(error, "a payload") : status;
}

qp_status qp_refine_encode(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                           qp_error *error)
{
    refine_coder coder;
    qp_status status = coder_init(&coder, encoder, source, error);
    if (status == QP_OK)
        status = put_layer(payload, &coder, error);
    coder_free(&coder);
    return status;
}
