/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audio.c - wai.audio.int_codec: latents of sound against tables of the payload, and one synthesis
 * whose PCM step gives the samples (integer-operators.md sections 13.3 and 13.5; docs/payloads.md,
 * "WIA1").
 */
#include "codec/audio.h"

enum { SPAN = 512 };

typedef struct audio {
    uint32_t samples, rate;
    qp_shape latents; /* [c, 1, t] */
    qp_carried carried;
} audio;

/* ---- the payload -------------------------------------------------------------------------- */

static qp_status read_payload(const qp_unit *unit, const qp_allocator *allocator, audio *a,
                              qp_error *error)
{
    qp_payload p = qp_payload_over(unit->bytes, unit->size);
    qp_payload_head(&p, "WIA1", 3);
    a->samples = qp_payload_u32_in(&p, 1, QP_AUDIO_SAMPLES_MAX, "the number of samples");
    a->rate = qp_payload_u32_in(&p, 1, UINT32_MAX, "the sample rate");
    a->latents.channels = qp_payload_u16_in(&p, 1, UINT16_MAX, "the latents' channels");
    size_t at = p.at;
    uint16_t n_tables = qp_payload_u16(&p, "the number of tables");
    if (n_tables != 1 && n_tables != a->latents.channels)
        qp_payload_fault(&p, at, "there is neither one table nor one a channel");
    a->latents.height = 1;
    a->latents.width = qp_payload_u32_in(&p, 1, QP_ELEMENTS_MAX, "the latents' length");
    qp_status status = qp_carried_read(&p, n_tables, allocator, &a->carried, error);
    qp_payload_end(&p);
    return status == QP_OK ? qp_payload_check(&p, error) : status;
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* The form of the sound, once g_s is planned with t_out as its scalar. */
static qp_status plan(const qp_decoder *decoder, const audio *a, qp_media *media, qp_error *error)
{
    const qp_graph *g_s = qp_lowered_at(decoder->set->lowered, 0).graph;
    int64_t t_out = a->samples;
    qp_shape out;
    qp_status status = qp_plan_graph(g_s, &a->latents, &t_out, &decoder->allocator, &out, error);
    if (status != QP_OK)
        return status;
    *media = (qp_media){.layout = QP_LAYOUT_AUDIO,
                        .frames = 1,
                        .height = 1,
                        .width = a->samples,
                        .channels = out.channels,
                        .rate = a->rate};
    return qp_media_make(&decoder->allocator, media, error);
}

/* Planes of samples, each in 16 bits by the PCM step, as interleaved little-endian bytes. */
static void put_samples(const qp_array *array, qp_media *media)
{
    int64_t values[SPAN];
    for (size_t c = 0; c < media->channels; c++)
        for (size_t t = 0, n; t < media->width; t += n) {
            n = media->width - t < SPAN ? media->width - t : SPAN;
            qp_array_read(array, c * media->width + t, n, values);
            for (size_t i = 0; i < n; i++) {
                uint8_t *p = media->bytes + 2 * ((t + i) * media->channels + c);
                p[0] = (uint8_t)((uint64_t)values[i] & 0xFF);
                p[1] = (uint8_t)((uint64_t)values[i] >> 8 & 0xFF);
            }
        }
}

static qp_status synthesise(qp_decoder *decoder, const audio *a, const int64_t *values,
                            qp_media *media, qp_error *error)
{
    qp_array input = qp_latent_array(values, &a->latents), output;
    int64_t t_out = a->samples;
    qp_session *session;
    qp_status status = qp_decoder_session(decoder, 0, &session, error);
    if (status == QP_OK)
        status = qp_session_decode(session, &input, 1, &t_out, 1, error);
    if (status == QP_OK)
        status = qp_session_output(session, 0, &output);
    if (status == QP_OK)
        put_samples(&output, media);
    return status;
}

static qp_status decode_latents(qp_decoder *decoder, const audio *a, qp_media *media,
                                qp_error *error)
{
    size_t count = (size_t)qp_shape_elements(&a->latents); /* planned: at most 2^26 */
    int64_t afrac = qp_network_afrac(&decoder->set->members.at[0]);
    int64_t *values = qp_allocate(&decoder->allocator, count, sizeof *values);
    if (values == NULL)
        return qp_fail_memory(error, "the latents");
    qp_status status =
        qp_carried_decode(&a->carried, afrac, &a->latents, &decoder->allocator, values, error);
    if (status == QP_OK)
        status = synthesise(decoder, a, values, media, error);
    qp_release(&decoder->allocator, values, count, sizeof *values);
    return status;
}

static qp_status decode(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error)
{
    audio a = {0};
    qp_status status = read_payload(unit, &decoder->allocator, &a, error);
    if (status == QP_OK)
        status = plan(decoder, &a, media, error);
    if (status == QP_OK)
        status = decode_latents(decoder, &a, media, error);
    qp_carried_free(&decoder->allocator, &a.carried);
    return status;
}

/* ---- the driver --------------------------------------------------------------------------- */

const qp_driver qp_driver_audio = {.capability = "wai.audio.int_codec",
                                   .magic = "WIA1",
                                   .reads_set = true,
                                   .decode = decode,
                                   .start_encoder = qp_audio_start_encoder,
                                   .encode = qp_audio_encode_media,
                                   .forget_encoder = qp_audio_forget_encoder};
