/* SPDX-License-Identifier: Apache-2.0 */
/* jpegai_encode.c - the entropy substreams of wai.image.jpegai from their symbols. */
#include "codec/jpegai.h"

enum { ROWS = QP_JPEGAI_Y_CHANNELS + QP_JPEGAI_UV_CHANNELS };
enum { Z_MIN = -31, Z_MAX = 32 };

static qp_encoded take_stream(qp_stream *stream)
{
    return (qp_encoded){stream->bytes, stream->size};
}

/* ---- SOZ ---------------------------------------------------------------------------------- */

typedef struct hyper {
    qp_mans_coded_row rows[ROWS];
    int16_t symbols[ROWS][QP_JPEGAI_ROW];
} hyper;

static qp_status fill_row(hyper *h, size_t r, const qp_mans_row *row, const int64_t *z,
                          qp_error *error)
{
    for (size_t i = 0; i < QP_JPEGAI_ROW; i++) {
        if (z[i] < Z_MIN || z[i] > Z_MAX)
            return qp_fail(error, QP_FIELD_RANGE, "a hyper-latent is outside [-31, 32]");
        h->symbols[r][i] = (int16_t)(z[i] + QP_JPEGAI_Z_OFFSET);
    }
    h->rows[r] = (qp_mans_coded_row){*row, h->symbols[r], QP_JPEGAI_ROW};
    return QP_OK;
}

static qp_status fill_rows(hyper *h, const qp_jpegai_model *model, const int64_t *z_y,
                           const int64_t *z_uv, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t c = 0; c < QP_JPEGAI_Y_CHANNELS && status == QP_OK; c++)
        status = fill_row(h, c, &model->rows_y[c], z_y + c * QP_JPEGAI_ROW, error);
    for (size_t c = 0; c < QP_JPEGAI_UV_CHANNELS && status == QP_OK; c++)
        status = fill_row(h, QP_JPEGAI_Y_CHANNELS + c, &model->rows_uv[c], z_uv + c * QP_JPEGAI_ROW,
                          error);
    return status;
}

qp_status qp_jpegai_encode_hyper(const qp_jpegai_model *model, const int64_t *z_y,
                                 const int64_t *z_uv, const qp_allocator *allocator,
                                 qp_encoded *payload, qp_error *error)
{
    qp_stream stream = {0};
    *payload = (qp_encoded){0};
    hyper *h = qp_allocate(allocator, 1, sizeof *h);
    if (h == NULL)
        return qp_fail_memory(error, "the rows of hyper-latents");
    qp_status status = fill_rows(h, model, z_y, z_uv, error);
    if (status == QP_OK)
        status = qp_mans_encode_rows(h->rows, ROWS, allocator, &stream, error);
    if (status == QP_OK)
        *payload = take_stream(&stream);
    qp_release(allocator, h, 1, sizeof *h);
    return status;
}

/* ---- SORP and SORS ------------------------------------------------------------------------ */

static qp_status encode_spans(const qp_jpegai_model *model, const qp_jpegai_latent *l,
                              const qp_allocator *allocator, qp_stream *stream, qp_error *error)
{
    qp_mans_coded_span *spans = qp_allocate(allocator, l->channels, sizeof *spans);
    if (spans == NULL)
        return qp_fail_memory(error, "the spans of a latent");
    for (size_t c = 0; c < l->channels; c++) {
        size_t at = c * QP_JPEGAI_SPAN;
        spans[c] = (qp_mans_coded_span){{l->mask + at, l->sigma + at, QP_JPEGAI_SPAN}, l->y_q + at};
    }
    qp_status status =
        qp_mans_encode_spans(model->latents, spans, l->channels, allocator, stream, error);
    qp_release(allocator, spans, l->channels, sizeof *spans);
    return status;
}

qp_status qp_jpegai_encode_latent(const qp_jpegai_model *model, const qp_jpegai_coded *coded,
                                  const qp_allocator *allocator, qp_encoded *payload,
                                  qp_error *error)
{
    qp_jpegai_job job = {.model = model, .allocator = qp_allocator_or_default(allocator)};
    qp_jpegai_latent l;
    qp_stream stream = {0};
    *payload = (qp_encoded){0};
    qp_status status = qp_jpegai_latent_make(coded->plane, allocator, &l, error);
    if (status != QP_OK)
        return status;
    memcpy(l.z, coded->z, l.channels * QP_JPEGAI_ROW * sizeof *l.z);
    status = qp_jpegai_scale_path(&job, coded->plane, coded->grfs, &l, error);
    for (size_t i = 0; i < (size_t)l.channels * QP_JPEGAI_SPAN; i++)
        l.y_q[i] = l.mask[i] != 0 ? coded->y_q[i] : 0;
    if (status == QP_OK)
        status = encode_spans(model, &l, allocator, &stream, error);
    if (status == QP_OK)
        *payload = take_stream(&stream);
    qp_jpegai_latent_free(allocator, &l);
    return status;
}
