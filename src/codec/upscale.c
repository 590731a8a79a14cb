/* SPDX-License-Identifier: Apache-2.0 */
/* upscale.c - the exact upscaler (integer-operators.md section 13.7). */
#include "quipu/upscale.h"

#include "codec/codec.h"

typedef struct upscaler {
    const qp_lowered *prior;
    qp_allocator allocator;
    const qp_media *pictures;
    qp_session *session;
    uint8_t *planes; /* one picture, [channels, height, width] */
    uint8_t *base;   /* [channels, 2·height, 2·width] */
    size_t n_planes, n_base;
} upscaler;

/* ---- checks ------------------------------------------------------------------------------- */

static qp_status check(const upscaler *u, qp_error *error)
{
    const qp_media *m = u->pictures;
    if (strcmp(qp_lowered_lowering(u->prior), "sr2/1") != 0)
        return qp_fail(error, QP_MODEL_MISMATCH, "the set is no WSR1 prior");
    if (m->layout != QP_LAYOUT_PIXELS || m->size == 0 || m->size != qp_media_bytes(m))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "the pictures are no pixels, or not as many as their sizes say");
    if ((uint64_t)m->height * m->width > QP_ELEMENTS_MAX)
        return qp_fail(error, QP_TOO_LARGE, "a picture passes 2^26 elements");
    return QP_OK;
}

/* Sides of at most 2^26 are doubled. */
static qp_status plan(const upscaler *u, qp_error *error)
{
    const qp_graph *graph = qp_lowered_at(u->prior, 0).graph;
    const qp_media *m = u->pictures;
    qp_shape inputs[2] = {{m->channels, m->height, m->width},
                          {m->channels, 2 * m->height, 2 * m->width}};
    qp_shape out;
    return qp_plan_graph(graph, inputs, NULL, &u->allocator, &out, error);
}

static qp_status make_result(const upscaler *u, qp_media *result, qp_error *error)
{
    *result = *u->pictures;
    result->bytes = NULL;
    result->height *= 2;
    result->width *= 2;
    return qp_media_make(&u->allocator, result, error);
}

static qp_status make_room(upscaler *u, int reference, qp_error *error)
{
    const qp_media *m = u->pictures;
    size_t n_planes = m->size / m->frames, n_base = 4 * n_planes; /* planned: at most 2^26 */
    u->planes = qp_allocate(&u->allocator, n_planes, 1);
    u->base = qp_allocate(&u->allocator, n_base, 1);
    u->n_planes = n_planes;
    u->n_base = n_base;
    if (u->planes == NULL || u->base == NULL)
        return qp_fail_memory(error, "a picture");
    return qp_codec_session(qp_lowered_certificate(u->prior), 0, reference, &u->allocator,
                            &u->session, error);
}

static void free_room(upscaler *u)
{
    qp_session_free(u->session);
    qp_release(&u->allocator, u->base, u->n_base, 1);
    qp_release(&u->allocator, u->planes, u->n_planes, 1);
}

/* ---- one picture -------------------------------------------------------------------------- */

static qp_status upscale_frame(upscaler *u, uint32_t frame, qp_media *result, qp_error *error)
{
    const qp_media *m = u->pictures;
    const uint8_t *pixels = m->bytes + frame * u->n_planes;
    size_t plane = (size_t)m->height * m->width;
    qp_array output;

    for (size_t i = 0; i < u->n_planes; i++)
        u->planes[i % m->channels * plane + i / m->channels] = pixels[i];
    qp_samples below = qp_samples_planes(u->planes, m->channels, m->height, m->width);
    qp_array inputs[2] = {
        {u->planes, QP_UINT8, m->channels, m->height, m->width},
        {u->base, QP_UINT8, m->channels, 2 * m->height, 2 * m->width},
    };
    qp_status status = qp_up2_predict(&below, result->height, result->width, u->base, error);
    if (status == QP_OK)
        status = qp_session_decode(u->session, inputs, 2, NULL, 0, error);
    if (status == QP_OK)
        status = qp_session_output(u->session, 0, &output);
    if (status == QP_OK)
        qp_media_put_pixels(result, frame, &output);
    return status;
}

static qp_status upscale(upscaler *u, int reference, qp_media *result, qp_error *error)
{
    qp_status status = check(u, error);
    if (status == QP_OK)
        status = plan(u, error);
    if (status == QP_OK)
        status = make_result(u, result, error);
    if (status == QP_OK)
        status = make_room(u, reference, error);
    for (uint32_t i = 0; status == QP_OK && i < u->pictures->frames; i++)
        status = upscale_frame(u, i, result, error);
    free_room(u);
    return status;
}

qp_status qp_upscale(const qp_lowered *prior, const qp_media *pictures,
                     const qp_decode_options *options, const qp_allocator *allocator,
                     qp_media *result, qp_error *error)
{
    size_t limit = options == NULL || options->max_memory == 0 ? SIZE_MAX : options->max_memory;
    int reference = options != NULL && options->reference;
    qp_media made = {0};
    qp_budget budget;
    upscaler u = {.prior = prior, .pictures = pictures};
    u.allocator = qp_budget_init(&budget, limit, allocator);
    *result = made;
    qp_status status = upscale(&u, reference, &made, error);
    if (status == QP_OK)
        *result = made;
    else
        qp_media_free(&u.allocator, &made);
    return qp_budget_status(&budget, status, error);
}
