/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audio_encode.c - writing WIA1: from latents that somebody made, or from sound through an analysis
 * network beside the set. Integers all the way.
 */
#include "codec/analysis.h"
#include "codec/audio.h"

enum { SPAN = 512 };

/* ---- from latents ------------------------------------------------------------------------- */

static qp_status put_payload(const qp_audio_source *source, const qp_allocator *allocator,
                             qp_buffer *b, qp_error *error)
{
    qp_status status = qp_latents_check(&source->latents, error);
    if (status != QP_OK)
        return status;
    if (source->samples < 1 || source->samples > QP_AUDIO_SAMPLES_MAX || source->rate < 1 ||
        source->latents.height != 1)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "sound has 1 to 2^26 samples a channel, a rate, and latents of height 1");
    qp_payload_put_head(b, "WIA1", 3);
    qp_buffer_le(b, source->samples, 4);
    qp_buffer_le(b, source->rate, 4);
    qp_buffer_le(b, source->latents.channels, 2);
    qp_buffer_le(b, qp_carried_tables(&source->latents), 2);
    qp_buffer_le(b, source->latents.width, 4);
    return qp_carried_write(&source->latents, allocator, b, error);
}

qp_status qp_audio_encode(const qp_audio_source *source, const qp_allocator *allocator,
                          qp_encoded *payload, qp_error *error)
{
    qp_buffer b;
    *payload = (qp_encoded){0};
    qp_buffer_init(&b, allocator);
    qp_status status = put_payload(source, allocator, &b, error);
    return qp_encoded_take(&b, status, payload, error);
}

/* ---- the analysis ------------------------------------------------------------------------- */

typedef struct state {
    qp_analysis analysis;
    qp_session *g_a;
} state;

static qp_status start(qp_encoder *encoder, state *s, qp_error *error)
{
    static const char *const names[] = {"g_a"};
    qp_status status =
        qp_analysis_make(&encoder->beside, names, 1, &encoder->allocator, &s->analysis, error);
    if (status != QP_OK)
        return status;
    if (s->analysis.afrac[0] != qp_network_afrac(&encoder->set->members.at[0]))
        return qp_fail(error, QP_MODEL_MISMATCH, "g_a.whm: afrac is not the set's");
    return qp_codec_session(qp_lowered_certificate(s->analysis.graphs), 0, 0, &encoder->allocator,
                            &s->g_a, error);
}

qp_status qp_audio_start_encoder(qp_encoder *encoder, qp_error *error)
{
    encoder->state = qp_allocate(&encoder->allocator, 1, sizeof(state));
    if (encoder->state == NULL)
        return qp_fail_memory(error, "an encoder");
    return start(encoder, encoder->state, error);
}

void qp_audio_forget_encoder(qp_encoder *encoder)
{
    state *s = encoder->state;
    if (s == NULL)
        return;
    qp_session_free(s->g_a);
    qp_analysis_free(&encoder->allocator, &s->analysis);
    qp_release(&encoder->allocator, s, 1, sizeof *s);
    encoder->state = NULL;
}

/* ---- from sound --------------------------------------------------------------------------- */

/* One encoding: the padded sound, and the latents' symbols. */
typedef struct sound {
    const qp_media *media;
    qp_shape padded, latents;
    int16_t *planes;
    int32_t *symbols;
    size_t n_planes, n_symbols;
} sound;

/* The length is rounded up to the strides' product. */
static qp_status plan(const qp_encoder *encoder, sound *a, qp_error *error)
{
    const state *s = encoder->state;
    const qp_graph *g_a = qp_lowered_at(s->analysis.graphs, 0).graph;
    const qp_graph *g_s = qp_lowered_at(encoder->set->lowered, 0).graph;
    uint64_t stride = s->analysis.stride;
    int64_t t_out = a->media->width;
    qp_shape out;

    if (stride > QP_ELEMENTS_MAX)
        return qp_fail(error, QP_MODEL_MISMATCH, "the strides of g_a pass 2^26");
    uint64_t length = (a->media->width + stride - 1) / stride * stride; /* below 2^33 */
    if (length > QP_ELEMENTS_MAX)
        return qp_fail(error, QP_TOO_LARGE, "the sound has more than 2^26 samples a channel");
    a->padded = (qp_shape){a->media->channels, 1, (uint32_t)length};
    qp_status status =
        qp_plan_graph(g_a, &a->padded, NULL, &encoder->allocator, &a->latents, error);
    if (status == QP_OK && a->latents.height != 1)
        status = qp_fail(error, QP_GEOMETRY_MISMATCH, "g_a gives latents of height %u, not 1",
                         a->latents.height);
    if (status == QP_OK)
        status = qp_plan_graph(g_s, &a->latents, &t_out, &encoder->allocator, &out, error);
    if (status == QP_OK && out.channels != a->media->channels)
        status = qp_fail(error, QP_MODEL_MISMATCH, "the set's sound has %u channels, not %u",
                         out.channels, a->media->channels);
    return status;
}

/* Planes of samples, the last one repeated. */
static void fill_planes(sound *a)
{
    const qp_media *m = a->media;
    for (size_t c = 0; c < m->channels; c++)
        for (size_t t = 0; t < a->padded.width; t++) {
            size_t from = t < m->width ? t : m->width - 1;
            a->planes[c * a->padded.width + t] =
                qp_load_i16(m->bytes + 2 * (from * m->channels + c));
        }
}

/* The nearest whole number, halves upward. */
static qp_status round_latents(const qp_array *latents, unsigned afrac, sound *a, qp_error *error)
{
    int64_t values[SPAN];
    for (size_t done = 0, n; done < a->n_symbols; done += n) {
        n = a->n_symbols - done < SPAN ? a->n_symbols - done : SPAN;
        qp_array_read(latents, done, n, values);
        for (size_t i = 0; i < n; i++) {
            /* floor of the value and its half bit: no sum that could pass 64 bits */
            int64_t symbol = qp_floor_shift_i64(qp_floor_shift_i64(values[i], afrac - 1) + 1, 1);
            if (symbol < INT32_MIN || symbol > INT32_MAX)
                return qp_fail(error, QP_FIELD_RANGE, "a latent passes 32 bits");
            a->symbols[done + i] = (int32_t)symbol;
        }
    }
    return QP_OK;
}

static qp_status analyse(const qp_encoder *encoder, sound *a, qp_error *error)
{
    const state *s = encoder->state;
    const qp_allocator *allocator = &encoder->allocator;
    a->n_planes = (size_t)qp_shape_elements(&a->padded); /* planned: at most 2^26 */
    a->n_symbols = (size_t)qp_shape_elements(&a->latents);
    a->planes = qp_allocate(allocator, a->n_planes, sizeof *a->planes);
    a->symbols = qp_allocate(allocator, a->n_symbols, sizeof *a->symbols);
    if (a->planes == NULL || a->symbols == NULL)
        return qp_fail_memory(error, "the sound");
    fill_planes(a);
    qp_array input = {a->planes, QP_INT16, a->padded.channels, 1, a->padded.width}, output;
    qp_status status = qp_network_run(s->g_a, &input, &output, error);
    return status == QP_OK ? round_latents(&output, s->analysis.afrac[0], a, error) : status;
}

qp_status qp_audio_encode_media(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                qp_error *error)
{
    const qp_media *m = source->media;
    const qp_allocator *allocator = &encoder->allocator;
    sound a = {.media = m};
    if (m->layout != QP_LAYOUT_AUDIO || m->frames != 1 || m->height != 1)
        return qp_fail(error, QP_INVALID_ARGUMENT, "%s codes sound", encoder->driver->capability);
    qp_status status = plan(encoder, &a, error);
    if (status == QP_OK)
        status = analyse(encoder, &a, error);
    if (status == QP_OK) {
        qp_audio_source coded = {
            m->width, m->rate, {a.latents.channels, 1, a.latents.width, a.symbols}};
        status = put_payload(&coded, allocator, payload, error);
    }
    qp_release(allocator, a.symbols, a.n_symbols, sizeof *a.symbols);
    qp_release(allocator, a.planes, a.n_planes, sizeof *a.planes);
    return status;
}
