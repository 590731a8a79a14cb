/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refine.c - refinement of a decoded layer (WIR1): `wai.{image,video,audio,splat}.int_refine`
 * (integer-operators.md section 13.5).
 */
#include "codec/refine.h"

/* ---- the kinds of media ------------------------------------------------------------------- */

bool qp_refine_predicts(qp_layout layout, qp_refine_prediction prediction)
{
    return prediction == QP_REFINE_IDENTITY ||
           (layout == QP_LAYOUT_AUDIO) == (prediction == QP_REFINE_RATE);
}

qp_residual qp_refine_residual(qp_layout layout, uint32_t q)
{
    return layout == QP_LAYOUT_AUDIO ? (qp_residual){q, INT16_MIN, INT16_MAX}
                                     : (qp_residual){q, 0, UINT8_MAX};
}

uint64_t qp_refine_elements(const qp_refine_layer *layer)
{
    uint64_t elements = (uint64_t)layer->d0 * layer->d1;
    return qp_mul_u64(elements, layer->d2, &elements) ? elements : UINT64_MAX;
}

/* rate·num/den where that is a whole number of samples a second, and 0 where nothing is known. */
static uint32_t rate_of(const qp_refine_layer *layer)
{
    uint64_t rate = layer->below->rate;
    if (layer->prediction != QP_REFINE_RATE)
        return layer->below->rate;
    rate *= layer->rate_num;
    return rate % layer->rate_den == 0 && rate / layer->rate_den <= UINT32_MAX
               ? (uint32_t)(rate / layer->rate_den)
               : 0;
}

qp_media qp_refine_media(const qp_refine_layer *layer)
{
    qp_media media = {.layout = layer->layout, .frames = 1, .height = 1};
    if (layer->layout == QP_LAYOUT_AUDIO) {
        media.width = layer->d0;
        media.channels = layer->d2;
        media.rate = rate_of(layer);
        return media;
    }
    media.height = layer->d0;
    media.width = layer->d1;
    if (layer->layout == QP_LAYOUT_PLANES) {
        media.channels = layer->units;
    } else {
        media.frames = layer->units;
        media.channels = layer->d2;
    }
    return media;
}

/* ---- the layer below ---------------------------------------------------------------------- */

qp_status qp_refine_take_below(qp_refine_layer *layer, const qp_media *base, size_t n_base,
                               qp_error *error)
{
    if (n_base != 1 || base == NULL)
        return qp_fail(error, QP_MODEL_MISMATCH, "a refinement has one layer below, not %zu",
                       n_base);
    if (base->layout != layer->layout)
        return qp_fail(error, QP_MODEL_MISMATCH, "the layer below is of another kind of media");
    if (base->size == 0 || base->size != qp_media_bytes(base))
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "the layer below has no bytes, or not as many as "
                       "its sizes say");
    layer->below = base;
    return QP_OK;
}

/* The unit of the layer below that lies under unit `unit`, of a byte layout. */
static qp_samples samples_below(const qp_refine_layer *layer, uint32_t unit)
{
    const qp_media *m = layer->below;
    size_t plane = (size_t)m->height * m->width;
    if (layer->layout == QP_LAYOUT_PLANES)
        return qp_samples_planes(m->bytes + unit * plane, 1, m->height, m->width);
    return qp_samples_pixels(m->bytes + unit * plane * m->channels, m->channels, m->height,
                             m->width);
}

static qp_rate rate_below(const qp_refine_layer *layer)
{
    return (qp_rate){layer->below->width, layer->rate_num, layer->rate_den, layer->d0};
}

/* What the media of the capability cannot be. */
static qp_status check_kind(const qp_refine_layer *layer, bool is_single, qp_error *error)
{
    if (is_single && layer->units != 1)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "%lu units where there is one",
                       (unsigned long)layer->units);
    if (layer->layout == QP_LAYOUT_AUDIO && layer->d1 != 1)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "a signal with d1 = %lu, not 1",
                       (unsigned long)layer->d1);
    if (layer->layout == QP_LAYOUT_PLANES && layer->d2 != 1)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "a plane with d2 = %lu, not 1",
                       (unsigned long)layer->d2);
    return QP_OK;
}

qp_status qp_refine_check(const qp_refine_layer *layer, bool is_single, qp_error *error)
{
    qp_status status = check_kind(layer, is_single, error);
    if (status == QP_OK && layer->prediction == QP_REFINE_RATE) {
        qp_rate rate = rate_below(layer);
        status = qp_rate_check(&rate, error);
    }
    if (status == QP_OK && layer->prediction == QP_REFINE_UP2) {
        qp_samples below = samples_below(layer, 0);
        status = qp_up2_check(&below, layer->d0, layer->d1, error);
    }
    if (status != QP_OK)
        return status;
    const qp_media *below = layer->below;
    qp_media media = qp_refine_media(layer);
    bool same_units = media.frames == below->frames && media.channels == below->channels;
    bool same_size = media.height == below->height && media.width == below->width;
    if (!same_units || (layer->prediction == QP_REFINE_IDENTITY && !same_size))
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "the layer below does not have the refinement's shape");
    return QP_OK;
}

/* ---- prediction --------------------------------------------------------------------------- */

qp_status qp_refine_start(qp_refine_layer *layer, const qp_allocator *allocator, qp_error *error)
{
    const qp_media *below = layer->below;
    if (layer->prediction != QP_REFINE_RATE)
        return QP_OK;
    layer->n_signal = below->size / sizeof(int16_t);
    layer->signal = qp_allocate(allocator, layer->n_signal, sizeof *layer->signal);
    if (layer->signal == NULL)
        return qp_fail_memory(error, "the signal below");
    for (size_t i = 0; i < layer->n_signal; i++)
        layer->signal[i] = qp_load_i16(below->bytes + i * sizeof(int16_t));
    return QP_OK;
}

void qp_refine_end(qp_refine_layer *layer, const qp_allocator *allocator)
{
    qp_release(allocator, layer->signal, layer->n_signal, sizeof *layer->signal);
    layer->signal = NULL;
}

static void predict_identity(const qp_refine_layer *layer, uint32_t unit, size_t first,
                             size_t count, int32_t *predictions)
{
    size_t from = unit * (size_t)qp_refine_elements(layer) + first;
    for (size_t i = 0; i < count; i++)
        predictions[i] = qp_refine_element(layer->layout, layer->below->bytes, from + i);
}

static void predict_up2(const qp_refine_layer *layer, uint32_t unit, size_t first, size_t count,
                        int32_t *predictions)
{
    qp_samples below = samples_below(layer, unit);
    uint32_t c = (uint32_t)(first % layer->d2);
    uint32_t x = (uint32_t)(first / layer->d2 % layer->d1);
    uint32_t y = (uint32_t)(first / layer->d2 / layer->d1);
    for (size_t i = 0; i < count; i++) {
        predictions[i] = qp_up2_at(&below, c, y, x);
        if (++c == layer->d2) {
            c = 0;
            if (++x == layer->d1) {
                x = 0;
                y++;
            }
        }
    }
}

static void predict_rate(const qp_refine_layer *layer, size_t first, size_t count,
                         int32_t *predictions)
{
    qp_rate rate = rate_below(layer);
    for (size_t i = first; i < first + count; i++)
        *predictions++ = qp_rate_at(&rate, layer->signal + i % layer->d2, layer->d2, i / layer->d2);
}

void qp_refine_predict(const qp_refine_layer *layer, uint32_t unit, size_t first, size_t count,
                       int32_t *predictions)
{
    if (layer->prediction == QP_REFINE_UP2)
        predict_up2(layer, unit, first, count, predictions);
    else if (layer->prediction == QP_REFINE_RATE)
        predict_rate(layer, first, count, predictions);
    else
        predict_identity(layer, unit, first, count, predictions);
}

/* ---- the payload -------------------------------------------------------------------------- */

/* The fields before the units. */
static void read_head(qp_payload *payload, qp_refine_layer *layer, int32_t *offset)
{
    enum { LEAST_UNIT = 16 }; /* an empty table's n, a stream's length and its two words */
    bool is_audio = layer->layout == QP_LAYOUT_AUDIO;
    qp_payload_head(payload, "WIR1", 0);
    size_t at = payload->at;
    layer->prediction = qp_payload_u8_in(payload, 0, QP_REFINE_RATE, "the prediction");
    if (!qp_refine_predicts(layer->layout, layer->prediction))
        qp_payload_fault(payload, at, "%s",
                         is_audio ? "up2 predicts bytes, and a signal has none"
                                  : "rate predicts signals alone");
    qp_payload_u8_in(payload, is_audio, is_audio, "the type of this capability's elements");
    qp_payload_reserved(payload, 1);
    at = payload->at;
    layer->units = qp_payload_count(payload, LEAST_UNIT, "the number of units");
    if (layer->units == 0)
        qp_payload_fault(payload, at, "a layer without units");
    layer->d0 = qp_payload_u32(payload, "d0");
    layer->d1 = qp_payload_u32(payload, "d1");
    layer->d2 = qp_payload_u32(payload, "d2");
    at = payload->at;
    layer->rate_num = qp_payload_u32(payload, "rate_num");
    layer->rate_den = qp_payload_u32(payload, "rate_den");
    if (layer->prediction != QP_REFINE_RATE && (layer->rate_num != 0 || layer->rate_den != 0))
        qp_payload_fault(payload, at, "a change of rate where none is predicted");
    layer->residual = qp_refine_residual(layer->layout, qp_payload_u16(payload, "the step q"));
    qp_payload_reserved(payload, 2);
    *offset = qp_payload_i32(payload, "the offset");
}

typedef struct refine_unit {
    qp_payload_table table;
    qp_bytes stream;
} refine_unit;

static refine_unit read_unit(qp_payload *payload, int32_t offset)
{
    refine_unit unit = {.table.offset = offset};
    uint32_t n = qp_payload_count(payload, 4, "a unit's table");
    unit.table.counts = qp_payload_take(payload, n, 4, "a unit's table");
    unit.stream = qp_payload_stream(payload, "a unit's stream");
    return unit;
}

/* Reads the whole payload; `units` is left at the first unit. */
static qp_status read_layer(const qp_unit *unit, qp_refine_layer *layer, qp_payload *units,
                            int32_t *offset, qp_error *error)
{
    qp_payload payload = qp_payload_over(unit->bytes, unit->size);
    read_head(&payload, layer, offset);
    *units = payload;
    for (uint32_t k = 0; k < layer->units && !payload.failed; k++)
        read_unit(&payload, *offset);
    qp_payload_end(&payload);
    return qp_payload_check(&payload, error);
}

/* The cap, the layer below, the shapes, and E9's conditions. */
static qp_status check_layer(qp_refine_layer *layer, const qp_unit *unit, bool is_single,
                             qp_error *error)
{
    if (qp_refine_elements(layer) > QP_REFINE_UNIT_MAX)
        return qp_fail(error, QP_TOO_LARGE, "a unit of %lu by %lu by %lu passes 2^26 elements",
                       (unsigned long)layer->d0, (unsigned long)layer->d1,
                       (unsigned long)layer->d2);
    qp_status status = qp_refine_take_below(layer, unit->base, unit->n_base, error);
    if (status == QP_OK)
        status = qp_refine_check(layer, is_single, error);
    return status == QP_OK ? qp_residual_check(&layer->residual, error) : status;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static void store(qp_layout layout, uint8_t *bytes, size_t i, int32_t value)
{
    if (layout == QP_LAYOUT_AUDIO) {
        bytes[2 * i] = (uint8_t)((uint32_t)value & 0xFF);
        bytes[2 * i + 1] = (uint8_t)((uint32_t)value >> 8 & 0xFF);
    } else {
        bytes[i] = (uint8_t)value;
    }
}

/* The elements of a unit from its stream. */
static qp_status decode_elements(const qp_refine_layer *layer, uint32_t unit,
                                 qp_rans_decoder *decoder, uint8_t *bytes, qp_error *error)
{
    enum { SPAN = 1024 };
    int32_t predictions[SPAN], residuals[SPAN];
    size_t elements = (size_t)qp_refine_elements(layer);
    for (size_t first = 0, n; first < elements; first += n) {
        n = elements - first < SPAN ? elements - first : SPAN;
        qp_status status = qp_rans_decode_same(decoder, 0, n, residuals, error);
        if (status != QP_OK)
            return status;
        qp_refine_predict(layer, unit, first, n, predictions);
        for (size_t i = 0; i < n; i++)
            store(layer->layout, bytes, first + i,
                  qp_residual_step_i32(&layer->residual, predictions[i], residuals[i]));
    }
    return qp_rans_finish(decoder, error);
}

static qp_status make_table(const refine_unit *unit, const qp_allocator *allocator,
                            qp_rans_tables **tables, qp_error *error)
{
    qp_rans_modes modes = {.table = QP_RANS_T4097};
    return qp_payload_tables_make(&unit->table, 1, &modes, allocator, tables, error);
}

/* Holds every unit's table to its rule, before the first symbol of any. */
static qp_status check_tables(const qp_refine_layer *layer, qp_payload units, int32_t offset,
                              const qp_allocator *allocator, qp_error *error)
{
    for (uint32_t k = 0; k < layer->units; k++) {
        refine_unit unit = read_unit(&units, offset);
        qp_rans_tables *tables = NULL;
        qp_error found;
        qp_status status = make_table(&unit, allocator, &tables, &found);
        qp_rans_tables_free(tables);
        if (status != QP_OK)
            return qp_fail(error, status, "unit %lu: %.200s", (unsigned long)k, found.message);
    }
    return QP_OK;
}

static qp_status decode_unit(const qp_refine_layer *layer, uint32_t index, const refine_unit *unit,
                             const qp_allocator *allocator, qp_media *media, qp_error *error)
{
    qp_rans_tables *tables = NULL;
    qp_rans_decoder decoder;
    size_t unit_bytes = (size_t)qp_refine_elements(layer) * qp_refine_width(layer->layout);
    qp_status status = make_table(unit, allocator, &tables, error);
    if (status == QP_OK)
        status =
            qp_rans_decoder_init(&decoder, tables, unit->stream.bytes, unit->stream.size, error);
    if (status == QP_OK)
        status = decode_elements(layer, index, &decoder, media->bytes + index * unit_bytes, error);
    qp_rans_tables_free(tables);
    return status;
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    qp_refine_layer layer = {.layout = qp_refine_layout(decoder->driver)};
    qp_payload units;
    int32_t offset = 0;
    qp_status status = read_layer(unit, &layer, &units, &offset, error);
    if (status == QP_OK)
        status = check_layer(&layer, unit, qp_refine_is_single(decoder->driver), error);
    if (status == QP_OK)
        status = check_tables(&layer, units, offset, &decoder->allocator, error);
    if (status == QP_OK) {
        *media = qp_refine_media(&layer);
        status = qp_media_make(&decoder->allocator, media, error);
    }
    if (status == QP_OK)
        status = qp_refine_start(&layer, &decoder->allocator, error);
    for (uint32_t k = 0; status == QP_OK && k < layer.units; k++) {
        refine_unit next = read_unit(&units, offset);
        status = decode_unit(&layer, k, &next, &decoder->allocator, media, error);
    }
    qp_refine_end(&layer, &decoder->allocator);
    return status;
}

/* ---- the rows ----------------------------------------------------------------------------- */

#define REFINE_ROW(kind)                                                                           \
    const qp_driver qp_driver_##kind##_int_refine = {.capability = "wai." #kind ".int_refine",     \
                                                     .magic = "WIR1",                              \
                                                     .decode = decode,                             \
                                                     .encode = qp_refine_encode}
REFINE_ROW(image);
REFINE_ROW(video);
REFINE_ROW(audio);
REFINE_ROW(splat);

qp_layout qp_refine_layout(const qp_driver *driver)
{
    return driver == &qp_driver_audio_int_refine   ? QP_LAYOUT_AUDIO
           : driver == &qp_driver_splat_int_refine ? QP_LAYOUT_PLANES
                                                   : QP_LAYOUT_PIXELS;
}

bool qp_refine_is_single(const qp_driver *driver)
{
    return driver == &qp_driver_image_int_refine || driver == &qp_driver_audio_int_refine;
}
