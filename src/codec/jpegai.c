/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpegai.c - wai.image.jpegai: the bundle's tables, and the scale path with the entropy decodes
 * (integer-operators.md section 13.6.1).
 */
#include "codec/jpegai.h"

#include "base/json.h"

/* The numbers of section 13.6.1. */
enum {
    DISTRIBUTIONS = 32,
    CODED_ABOVE = 382,
    BLOCK_SIDE = 8,
    BLOCK_SHIFT = 6,
    LIKELY_MAX = 4351,
    SCALE_SHIFT = 7,
    BANDS = 4
};

/* ---- norm.json ---------------------------------------------------------------------------- */

/* The lowering has checked every member, whose last counts where two have one name. What is read
 * here is sized by that. */
static qp_status read_rows(qp_json_value root, const char *name, size_t count, qp_mans_row *rows,
                           qp_error *error)
{
    qp_json_value array, element;
    int64_t counts[QP_MANS_ROW_COUNTS];
    qp_status status = qp_json_member(root, name, QP_JSON_ARRAY, &array, error);
    qp_json_iterator iterator = qp_json_iterate(array);
    for (size_t r = 0; r < count && status == QP_OK; r++) {
        for (size_t i = 0; i < QP_MANS_ROW_COUNTS && status == QP_OK; i++) {
            if (!qp_json_next(&iterator, &element))
                return qp_fail(error, QP_MODEL_MISMATCH, "\"%s\" has too few counts", name);
            status = qp_json_get_i64(element, &counts[i], error);
        }
        if (status == QP_OK)
            status =
                qp_mans_row_make((qp_integer_list){counts, QP_MANS_ROW_COUNTS}, &rows[r], error);
    }
    return status;
}

/* The distributions that a position can name: the first 32 rows of `pmf`, and as many bounds. */
typedef struct distributions {
    qp_integer_list rows[DISTRIBUTIONS];
    int64_t bounds[DISTRIBUTIONS];
    int64_t *values; /* of the rows, one after another */
    size_t width;
} distributions;

static qp_status read_pmf(qp_json_value pmf, distributions *d, qp_error *error)
{
    qp_json_value row;
    qp_json_iterator iterator = qp_json_iterate(pmf);
    qp_status status = QP_OK;
    for (size_t r = 0; r < DISTRIBUTIONS && status == QP_OK; r++) {
        int64_t *values = d->values + r * d->width;
        if (!qp_json_next(&iterator, &row))
            return qp_fail(error, QP_MODEL_MISMATCH, "\"pmf\" has too few rows");
        status = qp_json_get_i64_array(row, values, d->width, error);
        d->rows[r] = (qp_integer_list){values, d->width};
    }
    return status;
}

static qp_status read_bounds(qp_json_value root, distributions *d, qp_error *error)
{
    qp_json_value array, element;
    qp_status status = qp_json_member(root, "bounds", QP_JSON_ARRAY, &array, error);
    qp_json_iterator iterator = qp_json_iterate(array);
    for (size_t i = 0; i < DISTRIBUTIONS && status == QP_OK; i++) {
        if (!qp_json_next(&iterator, &element))
            return qp_fail(error, QP_MODEL_MISMATCH, "\"bounds\" has too few integers");
        status = qp_json_get_i64(element, &d->bounds[i], error);
    }
    return status;
}

static qp_status read_latents(qp_json_value root, qp_jpegai_model *model, qp_error *error)
{
    distributions d = {.values = NULL};
    qp_json_value pmf, row;
    qp_status status = qp_json_member(root, "pmf", QP_JSON_ARRAY, &pmf, error);
    qp_json_iterator iterator = qp_json_iterate(pmf);
    if (status != QP_OK)
        return status;
    if (qp_json_next(&iterator, &row))
        d.width = qp_json_count(row);
    d.values = qp_allocate(&model->allocator, d.width, DISTRIBUTIONS * sizeof *d.values);
    if (d.values == NULL)
        return qp_fail_memory(error, "the distributions");
    status = read_pmf(pmf, &d, error);
    if (status == QP_OK)
        status = read_bounds(root, &d, error);
    if (status == QP_OK)
        status = qp_mans_latents_create(d.rows, DISTRIBUTIONS,
                                        (qp_integer_list){d.bounds, DISTRIBUTIONS},
                                        &model->allocator, &model->latents, error);
    qp_release(&model->allocator, d.values, d.width, DISTRIBUTIONS * sizeof *d.values);
    return status;
}

static qp_status read_norm(const qp_member *norm, qp_jpegai_model *model, qp_error *error)
{
    qp_json json;
    qp_json_init(&json, &model->allocator);
    json.allow_duplicates = true;
    qp_status status = qp_json_parse(&json, norm->bytes, norm->size, error);
    qp_json_value root = qp_json_root(&json);
    if (status == QP_OK)
        status = read_rows(root, "cdfs_y", QP_JPEGAI_Y_CHANNELS, model->rows_y, error);
    if (status == QP_OK)
        status = read_rows(root, "cdfs_uv", QP_JPEGAI_UV_CHANNELS, model->rows_uv, error);
    if (status == QP_OK)
        status = read_latents(root, model, error);
    qp_json_free(&json);
    if (status == QP_MALFORMED) {
        if (error != NULL)
            error->status = QP_MODEL_MISMATCH;
        return QP_MODEL_MISMATCH;
    }
    return status;
}

/* ---- the bundle --------------------------------------------------------------------------- */

static qp_status load(qp_jpegai_model *model, const qp_member *members, size_t n_members,
                      const qp_pin *pin, qp_error *error)
{
    qp_lower_options options = {.capability = "wai.image.jpegai", .pin = pin};
    qp_members all = {(qp_member *)(uintptr_t)members, n_members};
    qp_status status =
        qp_lower(members, n_members, &options, &model->allocator, &model->lowered, error);
    /* a bundle that lowers has the file */
    return status == QP_OK ? read_norm(qp_members_find(&all, "norm.json"), model, error) : status;
}

qp_status qp_jpegai_model_open(const qp_member *members, size_t n_members, const qp_pin *pin,
                               const qp_allocator *allocator, qp_jpegai_model **model,
                               qp_error *error)
{
    *model = NULL;
    qp_jpegai_model *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a bundle");
    made->allocator = qp_allocator_or_default(allocator);
    qp_status status = load(made, members, n_members, pin, error);
    if (status == QP_OK)
        *model = made;
    else
        qp_jpegai_model_close(made);
    return status;
}

void qp_jpegai_model_close(qp_jpegai_model *model)
{
    if (model == NULL)
        return;
    qp_allocator allocator = model->allocator;
    qp_mans_latents_free(model->latents);
    qp_lowered_free(model->lowered);
    qp_release(&allocator, model, 1, sizeof *model);
}

const qp_lowered *qp_jpegai_lowered(const qp_jpegai_model *model)
{
    return model->lowered;
}

/* ---- what is fixed of a plane ------------------------------------------------------------- */

/* The widest types first, so that each array is aligned. */
qp_status qp_jpegai_latent_make(qp_jpegai_plane plane, const qp_allocator *allocator,
                                qp_jpegai_latent *l, qp_error *error)
{
    size_t c = qp_jpegai_channels(plane), n_z = c * QP_JPEGAI_ROW, n = c * QP_JPEGAI_SPAN;
    size_t size = (n_z + 2 * n) * sizeof(int64_t) + n * sizeof(uint32_t) + n * sizeof(int16_t) + n;
    *l = (qp_jpegai_latent){0};
    void *block = qp_allocate(allocator, size, 1);
    if (block == NULL)
        return qp_fail_memory(error, "a plane's latent");
    l->channels = (uint32_t)c;
    l->z = block;
    l->v = l->z + n_z;
    l->likely = l->v + n;
    l->sigma = (uint32_t *)(void *)(l->likely + n);
    l->y_q = (int16_t *)(void *)(l->sigma + n);
    l->mask = (uint8_t *)(l->y_q + n);
    l->block = block;
    l->block_size = size;
    return QP_OK;
}

void qp_jpegai_latent_free(const qp_allocator *allocator, qp_jpegai_latent *latent)
{
    qp_release(allocator, latent->block, latent->block_size, 1);
    *latent = (qp_jpegai_latent){0};
}

/* ---- step 1: the hyper-latent ------------------------------------------------------------- */

static qp_status decode_rows(qp_mans_decoder *decoder, const qp_mans_row *rows, size_t count,
                             int64_t *z, qp_error *error)
{
    int16_t symbols[QP_JPEGAI_ROW];
    qp_status status = QP_OK;
    for (size_t c = 0; c < count && status == QP_OK; c++) {
        status = qp_mans_decode_row(decoder, &rows[c], QP_JPEGAI_ROW, symbols, error);
        for (size_t i = 0; i < QP_JPEGAI_ROW && status == QP_OK && z != NULL; i++)
            z[c * QP_JPEGAI_ROW + i] = symbols[i] - QP_JPEGAI_Z_OFFSET;
    }
    return status;
}

/* The chroma plane passes over the luma plane's rows. */
static qp_status decode_hyper(const qp_jpegai_model *model, qp_jpegai_plane plane,
                              qp_jpegai_bytes soz, qp_jpegai_latent *l, qp_error *error)
{
    qp_mans_decoder decoder;
    qp_status status = qp_mans_decoder_init(&decoder, soz.bytes, soz.size, error);
    if (status != QP_OK)
        return status;
    if (plane == QP_JPEGAI_Y)
        return decode_rows(&decoder, model->rows_y, QP_JPEGAI_Y_CHANNELS, l->z, error);
    status = decode_rows(&decoder, model->rows_y, QP_JPEGAI_Y_CHANNELS, NULL, error);
    return status == QP_OK
               ? decode_rows(&decoder, model->rows_uv, QP_JPEGAI_UV_CHANNELS, l->z, error)
               : status;
}

/* ---- steps 2 and 3: the scale path -------------------------------------------------------- */

static qp_status run_scale_graph(const qp_jpegai_job *job, qp_jpegai_plane plane,
                                 qp_jpegai_latent *l, qp_error *error)
{
    const qp_certificate *certificate = qp_lowered_certificate(job->model->lowered);
    size_t graph = plane == QP_JPEGAI_Y ? QP_HS_Y : QP_HS_UV;
    qp_array z = {l->z, QP_INT64, l->channels, QP_JPEGAI_HYPER_SIDE, QP_JPEGAI_HYPER_SIDE}, v;
    qp_session *session;
    qp_status status =
        qp_codec_session(certificate, graph, job->reference, &job->allocator, &session, error);
    if (status == QP_OK)
        status = qp_session_decode(session, &z, 1, NULL, 0, error);
    if (status == QP_OK)
        status = qp_session_output(session, 0, &v);
    if (status == QP_OK)
        qp_array_read(&v, 0, (size_t)l->channels * QP_JPEGAI_SPAN, l->v);
    qp_session_free(session);
    return status;
}

/* The residual-variance bands: each edge is the first `likely` of its band. */
static const int64_t band_edges[BANDS - 1] = {1004, 1353, 1938};
static const int64_t bands_set[BANDS] = {-31, 20, 122, 181};
static const int64_t bands_clear[BANDS] = {-80, -31, 71, 130};
static const qp_integer_list band_rows[2] = {{bands_set, BANDS}, {bands_clear, BANDS}};
static const qp_band_table bands = {{band_edges, BANDS - 1}, band_rows, 2};

static qp_status scale_position(qp_jpegai_latent *l, size_t at, bool grfs, qp_error *error)
{
    int64_t rvs, index;
    l->mask[at] = qp_coded(l->v[at], CODED_ABOVE) != 0;
    qp_status status = qp_band_lookup(l->likely[at], &bands, grfs ? 0 : 1, &rvs, error);
    if (status == QP_OK) /* v fits i32: the scale graphs meet acc32 */
        status = qp_scale_index(l->v[at] + rvs, SCALE_SHIFT, DISTRIBUTIONS, &index, error);
    if (status == QP_OK)
        l->sigma[at] = (uint32_t)index;
    return status;
}

qp_status qp_jpegai_scale_path(const qp_jpegai_job *job, qp_jpegai_plane plane, const uint8_t *grfs,
                               qp_jpegai_latent *l, qp_error *error)
{
    const qp_block_rule rule = {BLOCK_SIDE, BLOCK_SHIFT, 0, LIKELY_MAX};
    qp_status status = run_scale_graph(job, plane, l, error);
    if (status != QP_OK)
        return status;
    qp_array v = {l->v, QP_INT64, l->channels, QP_JPEGAI_LATENT_SIDE, QP_JPEGAI_LATENT_SIDE};
    status = qp_block_stat(&v, &rule, l->likely, error);
    for (size_t at = 0; at < (size_t)l->channels * QP_JPEGAI_SPAN && status == QP_OK; at++)
        status = scale_position(l, at, grfs[at / QP_JPEGAI_SPAN] != 0, error);
    return status;
}

/* ---- step 4: the latent ------------------------------------------------------------------- */

static qp_status decode_latent(const qp_jpegai_model *model, qp_jpegai_bytes stream,
                               qp_jpegai_latent *l, qp_error *error)
{
    qp_mans_decoder decoder;
    qp_status status = qp_mans_decoder_init(&decoder, stream.bytes, stream.size, error);
    for (size_t c = 0; c < l->channels && status == QP_OK; c++) {
        size_t at = c * QP_JPEGAI_SPAN;
        qp_mans_span span = {l->mask + at, l->sigma + at, QP_JPEGAI_SPAN};
        status = qp_mans_decode_span(&decoder, model->latents, &span, l->y_q + at, error);
    }
    return status;
}

qp_status qp_jpegai_entropy_step(const qp_jpegai_job *job, qp_jpegai_plane plane,
                                 const qp_jpegai_segments *segments, qp_jpegai_latent *latent,
                                 qp_error *error)
{
    bool is_luma = plane == QP_JPEGAI_Y;
    const uint8_t *grfs = is_luma ? segments->grfs_y : segments->grfs_uv;
    qp_jpegai_bytes stream = is_luma ? segments->sorp : segments->sors;
    qp_status status = qp_jpegai_latent_make(plane, &job->allocator, latent, error);
    if (status == QP_OK)
        status = decode_hyper(job->model, plane, segments->soz, latent, error);
    if (status == QP_OK)
        status = qp_jpegai_scale_path(job, plane, grfs, latent, error);
    if (status == QP_OK)
        status = decode_latent(job->model, stream, latent, error);
    if (status != QP_OK)
        qp_jpegai_latent_free(&job->allocator, latent);
    return status;
}

qp_status qp_jpegai_entropy(const qp_jpegai_model *model, qp_jpegai_plane plane,
                            const qp_jpegai_segments *segments, const qp_allocator *allocator,
                            qp_jpegai_latent *latent, qp_error *error)
{
    qp_jpegai_job job = {.model = model, .allocator = qp_allocator_or_default(allocator)};
    return qp_jpegai_entropy_step(&job, plane, segments, latent, error);
}
