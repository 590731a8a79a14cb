/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpegai_decode.c - wai.image.jpegai from the latents on: the conversion to Q16, the hyper decoder
 * and context stages, and the synthesis, between the caller's floating-point stages
 * (integer-operators.md section 13.6.2).
 */
#include "codec/jpegai.h"

enum { PLANES = 2, N_LUMA = QP_JPEGAI_PLANE_SIDE * QP_JPEGAI_PLANE_SIDE, N_CHROMA = 2 * N_LUMA };

/* ---- Q16 ---------------------------------------------------------------------------------- */

/* Of binary64: 52 bits of fraction below the exponent, whose bias is 1023. */
enum { FRACTION_BITS = 52, EXPONENT_BIAS = 1023, EXPONENT_SPECIAL = 2047, Q16_BITS = 16 };

/* The number is fraction·2^(exponent - 1023 - 52), so that x·2^16 shifts the fraction by: */
static int q16_shift(unsigned exponent)
{
    return (int)exponent - EXPONENT_BIAS - FRACTION_BITS + Q16_BITS;
}

qp_status qp_jpegai_to_q16(uint64_t bits, int64_t *value, qp_error *error)
{
    unsigned exponent = (unsigned)(bits >> FRACTION_BITS) & EXPONENT_SPECIAL;
    uint64_t fraction = (bits & (((uint64_t)1 << FRACTION_BITS) - 1)) | (uint64_t)1
                                                                            << FRACTION_BITS;
    int shift = q16_shift(exponent);
    bool negative = bits >> 63 != 0;
    uint64_t magnitude = 0;

    /* a shift of -21 leaves at least 2^31; -53 leaves what may round to 1 */
    if (exponent == EXPONENT_SPECIAL || shift > -21)
        return qp_fail(error, QP_FIELD_RANGE, "a value is no number or leaves 32 bits as Q16");
    if (shift >= -(FRACTION_BITS + 1))
        magnitude = ((fraction >> (-shift - 1)) + 1) >> 1;
    if (magnitude > (uint64_t)INT32_MAX + negative)
        return qp_fail(error, QP_FIELD_RANGE, "a value leaves 32 bits as Q16");
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return QP_OK;
}

/* ---- a decode ----------------------------------------------------------------------------- */

typedef struct tile {
    qp_jpegai_job job;
    const qp_jpegai_stages *stages;
    qp_jpegai_latent latents[PLANES];
    int64_t *values[PLANES]; /* [C, 16, 16]: the residual, the reconstruction, then the latent */
    uint64_t *bits;          /* what a stage of the caller fills, room for either plane */
} tile;

static size_t n_latent(size_t plane)
{
    return (size_t)qp_jpegai_channels((qp_jpegai_plane)plane) * QP_JPEGAI_SPAN;
}

static qp_status make_room(tile *t, qp_error *error)
{
    t->bits = qp_allocate(&t->job.allocator, n_latent(QP_JPEGAI_Y), sizeof *t->bits);
    for (size_t p = 0; p < PLANES; p++)
        t->values[p] = qp_allocate(&t->job.allocator, n_latent(p), sizeof *t->values[p]);
    return t->bits != NULL && t->values[0] != NULL && t->values[1] != NULL
               ? QP_OK
               : qp_fail_memory(error, "the latents");
}

static void free_room(tile *t)
{
    for (size_t p = PLANES; p-- > 0;) {
        qp_release(&t->job.allocator, t->values[p], n_latent(p), sizeof *t->values[p]);
        qp_jpegai_latent_free(&t->job.allocator, &t->latents[p]);
    }
    qp_release(&t->job.allocator, t->bits, n_latent(QP_JPEGAI_Y), sizeof *t->bits);
}

static qp_status convert(const tile *t, size_t plane, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < n_latent(plane) && status == QP_OK; i++)
        status = qp_jpegai_to_q16(t->bits[i], &t->values[plane][i], error);
    return status;
}

static qp_array latent_array(const tile *t, size_t plane)
{
    return (qp_array){t->values[plane], QP_INT64, qp_jpegai_channels((qp_jpegai_plane)plane),
                      QP_JPEGAI_LATENT_SIDE, QP_JPEGAI_LATENT_SIDE};
}

/* ---- networks ----------------------------------------------------------------------------- */

/* Runs one graph and hands its output to `take`; the session is gone afterwards. */
typedef void take_output(const qp_array *output, void *to);

static void take_values(const qp_array *output, void *to)
{
    qp_array_read(output, 0, (size_t)qp_array_elements(output), to);
}

/* Denormalised values lie in [0, 255·2^16], below 2^24. */
static void take_plane(const qp_array *output, void *to)
{
    enum { RUN = 256 };
    int64_t values[RUN];
    int32_t *plane = to;
    for (size_t i = 0; i < (size_t)qp_array_elements(output); i += RUN) {
        qp_array_read(output, i, RUN, values); /* 2^16 and 2^17 elements: whole runs */
        for (size_t k = 0; k < RUN; k++)
            plane[i + k] = (int32_t)values[k];
    }
}

typedef struct destination {
    take_output *take;
    void *to;
} destination;

static qp_status run_graph(const tile *t, size_t graph, const qp_array inputs[2], size_t n_inputs,
                           destination d, qp_error *error)
{
    const qp_certificate *certificate = qp_lowered_certificate(t->job.model->lowered);
    qp_session *session;
    qp_array output;
    qp_status status =
        qp_codec_session(certificate, graph, t->job.reference, &t->job.allocator, &session, error);
    if (status == QP_OK)
        status = qp_session_decode(session, inputs, n_inputs, NULL, 0, error);
    if (status == QP_OK)
        status = qp_session_output(session, 0, &output);
    if (status == QP_OK)
        d.take(&output, d.to);
    qp_session_free(session);
    return status;
}

/* Driver steps 1 and 2 of a plane. */
static qp_status reconstruct(const tile *t, size_t plane, qp_error *error)
{
    const qp_jpegai_stages *s = t->stages;
    const qp_jpegai_latent *l = &t->latents[plane];
    size_t graph = plane == QP_JPEGAI_Y ? QP_REC_Y : QP_REC_UV;
    qp_array inputs[2] = {{l->z, QP_INT64, l->channels, QP_JPEGAI_HYPER_SIDE, QP_JPEGAI_HYPER_SIDE},
                          latent_array(t, plane)};
    qp_status status = s->dequantise(s->context, (qp_jpegai_plane)plane, l, t->bits, error);
    if (status == QP_OK)
        status = convert(t, plane, error);
    if (status == QP_OK)
        status =
            run_graph(t, graph, inputs, 2, (destination){take_values, t->values[plane]}, error);
    if (status == QP_OK)
        status = s->refine(s->context, (qp_jpegai_plane)plane, t->values[plane], t->bits, error);
    return status == QP_OK ? convert(t, plane, error) : status;
}

static qp_status synthesise(const tile *t, qp_jpegai_planes *planes, qp_error *error)
{
    qp_array inputs[2] = {latent_array(t, QP_JPEGAI_Y), latent_array(t, QP_JPEGAI_UV)};
    planes->luma = qp_allocate(&t->job.allocator, N_LUMA, sizeof *planes->luma);
    planes->chroma = qp_allocate(&t->job.allocator, N_CHROMA, sizeof *planes->chroma);
    if (planes->luma == NULL || planes->chroma == NULL)
        return qp_fail_memory(error, "the planes");
    qp_status status =
        run_graph(t, QP_SYN_Y, inputs, 1, (destination){take_plane, planes->luma}, error);
    return status == QP_OK ? run_graph(t, QP_SYN_UV, inputs, 2,
                                       (destination){take_plane, planes->chroma}, error)
                           : status;
}

/* The streams of both planes first, then the networks. */
static qp_status decode(tile *t, const qp_jpegai_segments *segments, qp_jpegai_planes *planes,
                        qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t p = 0; p < PLANES && status == QP_OK; p++)
        status =
            qp_jpegai_entropy_step(&t->job, (qp_jpegai_plane)p, segments, &t->latents[p], error);
    if (status == QP_OK)
        status = make_room(t, error);
    for (size_t p = 0; p < PLANES && status == QP_OK; p++)
        status = reconstruct(t, p, error);
    return status == QP_OK ? synthesise(t, planes, error) : status;
}

qp_status qp_jpegai_decode(const qp_jpegai_model *model, const qp_jpegai_segments *segments,
                           const qp_jpegai_stages *stages, const qp_allocator *allocator,
                           qp_jpegai_planes *planes, qp_error *error)
{
    const qp_decode_options *options = &stages->options;
    size_t limit = options->max_memory == 0 ? SIZE_MAX : options->max_memory;
    qp_jpegai_planes made = {0};
    qp_budget budget;
    tile t = {.job = {.model = model, .reference = options->reference}, .stages = stages};
    t.job.allocator = qp_budget_init(&budget, limit, allocator);
    *planes = made;
    qp_status status = decode(&t, segments, &made, error);
    free_room(&t);
    if (status == QP_OK)
        *planes = made;
    else
        qp_jpegai_planes_free(&t.job.allocator, &made);
    return qp_budget_status(&budget, status, error);
}

void qp_jpegai_planes_free(const qp_allocator *allocator, qp_jpegai_planes *planes)
{
    qp_release(allocator, planes->chroma, N_CHROMA, sizeof *planes->chroma);
    qp_release(allocator, planes->luma, N_LUMA, sizeof *planes->luma);
    *planes = (qp_jpegai_planes){0};
}
