/* SPDX-License-Identifier: Apache-2.0 */
/* coded_latents.c - latents from streams and streams from latents (docs/payloads.md). */
#include "codec/coded_latents.h"

#include "codec/residual.h"

enum {
    RUN = 256,             /* symbols at a time */
    TABLE_BYTES_LEAST = 8, /* of a table in a payload: its offset and its count */
    AFRAC_OFFSET = 8,      /* of WHM1 and WAM1 */
    BUNDLE_HEAD_BYTES = 8, /* of WMB1 and WCB1, before the count */
    LENGTH_BYTES = 4,
    CHANNELS_MAX = 65535, /* = 2^16 - 1 */
    REACH_MAX = 65535,    /* symbols further from 0 are left to the escape */
    TABLE_WORTH = 1024,   /* latents of a channel that deserve a table of their own */
    ONE_TABLE = 1
};

/* ---- arrays and networks ------------------------------------------------------------------ */

qp_array qp_latent_array(const int64_t *values, const qp_shape *shape)
{
    return (qp_array){values, QP_INT64, shape->channels, shape->height, shape->width};
}

int64_t qp_network_afrac(const qp_member *network)
{
    return qp_load_u32((const uint8_t *)network->bytes + AFRAC_OFFSET);
}

qp_status qp_network_run(qp_session *session, const qp_array *input, qp_array *output,
                         qp_error *error)
{
    qp_status status = qp_session_decode(session, input, 1, NULL, 0, error);
    return status == QP_OK ? qp_session_output(session, 0, output) : status;
}

qp_status qp_synthesis_check(const qp_shape *given, const qp_shape *picture, qp_error *error)
{
    if (given->channels != picture->channels)
        return qp_fail(error, QP_MODEL_MISMATCH, "the synthesis gives %u channels, not %u",
                       given->channels, picture->channels);
    if (given->height < picture->height || given->width < picture->width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "the synthesis gives %u x %u samples, fewer than the payload's %u x %u",
                       given->height, given->width, picture->height, picture->width);
    return QP_OK;
}

qp_status qp_refusal_as(qp_status status, qp_status code, qp_error *error)
{
    if (status == QP_OK || status > QP_PAYLOAD_MALFORMED)
        return status;
    if (error != NULL)
        error->status = code;
    return code;
}

qp_status qp_encoded_take(qp_buffer *buffer, qp_status status, qp_encoded *payload, qp_error *error)
{
    if (status == QP_OK && buffer->failed)
        status = qp_fail_memory(error, "a payload");
    if (status == QP_OK) {
        payload->bytes = qp_buffer_take(buffer, &payload->size);
        if (payload->bytes == NULL)
            status = qp_fail_memory(error, "a payload");
    }
    qp_buffer_free(buffer);
    return status;
}

/* ---- tables of a payload ------------------------------------------------------------------ */

static const qp_rans_modes carried_modes = {.table = QP_RANS_T4097};

qp_status qp_carried_read(qp_payload *payload, uint16_t n_tables, const qp_allocator *allocator,
                          qp_carried *carried, qp_error *error)
{
    *carried = (qp_carried){.n_tables = n_tables};
    if (qp_payload_left(payload) / TABLE_BYTES_LEAST < n_tables)
        qp_payload_fault(payload, payload->at, "the payload ends within its tables");
    if (payload->failed)
        return QP_OK;
    carried->tables = qp_allocate(allocator, n_tables, sizeof *carried->tables);
    if (carried->tables == NULL)
        return qp_fail_memory(error, "the tables of a payload");
    for (size_t t = 0; t < n_tables; t++)
        carried->tables[t] = qp_payload_table_read(payload, "a table");
    carried->stream = qp_payload_stream(payload, "the stream");
    return QP_OK;
}

void qp_carried_free(const qp_allocator *allocator, qp_carried *carried)
{
    qp_release(allocator, carried->tables, carried->n_tables, sizeof *carried->tables);
    carried->tables = NULL;
}

/* One channel after another, against table 0 or each its own. */
static qp_status decode_channels(qp_rans_decoder *decoder, bool one_table, int64_t f,
                                 const qp_shape *shape, int64_t *values, qp_error *error)
{
    size_t plane = (size_t)shape->height * shape->width;
    int32_t symbols[RUN];
    qp_status status = QP_OK;

    for (size_t c = 0; c < shape->channels && status == QP_OK; c++)
        for (size_t done = 0, n; done < plane && status == QP_OK; done += n, values += n) {
            n = plane - done < RUN ? plane - done : RUN;
            status = qp_rans_decode_same(decoder, one_table ? 0 : c, n, symbols, error);
            for (size_t i = 0; i < n && status == QP_OK; i++)
                status = qp_dequantize(symbols[i], f, 0, &values[i], error);
        }
    return status == QP_OK ? qp_rans_finish(decoder, error) : status;
}

qp_status qp_carried_decode(const qp_carried *carried, int64_t f, const qp_shape *shape,
                            const qp_allocator *allocator, int64_t *values, qp_error *error)
{
    qp_rans_tables *tables;
    qp_rans_decoder decoder;
    qp_status status = qp_payload_tables_make(carried->tables, carried->n_tables, &carried_modes,
                                              allocator, &tables, error);
    if (status != QP_OK)
        return status;
    status =
        qp_rans_decoder_init(&decoder, tables, carried->stream.bytes, carried->stream.size, error);
    if (status == QP_OK)
        status = decode_channels(&decoder, carried->n_tables == ONE_TABLE, f, shape, values, error);
    qp_rans_tables_free(tables);
    return status;
}

/* ---- their encoder ------------------------------------------------------------------------ */

qp_status qp_latents_check(const qp_latents *latents, qp_error *error)
{
    qp_shape shape = {latents->channels, latents->height, latents->width};
    uint64_t elements = qp_shape_elements(&shape);
    if (elements == 0 || elements > QP_ELEMENTS_MAX || latents->channels > CHANNELS_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "latents have 1 to 2^16 - 1 channels and 1 to 2^26 elements");
    return QP_OK;
}

uint16_t qp_carried_tables(const qp_latents *latents)
{
    size_t plane = (size_t)latents->height * latents->width;
    return plane < TABLE_WORTH ? ONE_TABLE : (uint16_t)latents->channels;
}

/* The furthest that a symbol is counted at. */
static int64_t reach_of(const int32_t *symbols, size_t count)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (qp_magnitude_i64(symbols[i]) > most)
            most = qp_magnitude_i64(symbols[i]);
    return most > REACH_MAX ? REACH_MAX : (int64_t)most;
}

static qp_status make_table(const int32_t *symbols, size_t count, const qp_allocator *allocator,
                            qp_residual_cdf *cdf, qp_error *error)
{
    /* E9's R is hi - lo + 1 for a step of 1 */
    qp_residual residual = {.q = 1, .lo = 0, .hi = reach_of(symbols, count)};
    qp_residual_counts counts;
    qp_status status = qp_residual_counts_init(&counts, &residual, allocator, error);
    if (status != QP_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (qp_magnitude_i64(symbols[i]) <= (uint64_t)counts.reach)
            qp_residual_counts_add(&counts, &symbols[i], 1);
        else
            counts.total++; /* an escape */
    qp_residual_cdf_make(&counts, qp_residual_window_of(&counts), cdf);
    qp_residual_counts_free(&counts);
    return QP_OK;
}

/* What an encoder of carried tables holds. */
typedef struct carried_encoder {
    qp_allocator allocator;
    qp_residual_cdf *cdfs; /* [n_tables] */
    qp_rans_cdf *views;
    uint32_t *reads; /* [elements] */
    size_t n_tables, elements;
    qp_rans_tables *tables;
    qp_stream stream;
} carried_encoder;

static qp_status encode_carried(carried_encoder *e, const qp_latents *latents, qp_error *error)
{
    size_t part = e->elements / e->n_tables;
    qp_status status = QP_OK;

    for (size_t t = 0; t < e->n_tables && status == QP_OK; t++) {
        status = make_table(latents->symbols + t * part, part, &e->allocator, &e->cdfs[t], error);
        e->views[t] = qp_residual_cdf_view(&e->cdfs[t]);
    }
    for (size_t i = 0; i < e->elements; i++)
        e->reads[i] = (uint32_t)(i / part);
    if (status == QP_OK)
        status = qp_rans_tables_create(e->views, e->n_tables, &carried_modes, &e->allocator,
                                       &e->tables, error);
    qp_rans_symbols symbols = {e->reads, latents->symbols, e->elements};
    if (status == QP_OK)
        status = qp_rans_encode(e->tables, &symbols, &e->allocator, &e->stream, error);
    return status;
}

static qp_status start_carried(carried_encoder *e, qp_error *error)
{
    e->cdfs = qp_allocate(&e->allocator, e->n_tables, sizeof *e->cdfs);
    e->views = qp_allocate(&e->allocator, e->n_tables, sizeof *e->views);
    e->reads = qp_allocate(&e->allocator, e->elements, sizeof *e->reads);
    if (e->cdfs == NULL || e->views == NULL || e->reads == NULL)
        return qp_fail_memory(error, "the tables of latents");
    return QP_OK;
}

qp_status qp_carried_write(const qp_latents *latents, const qp_allocator *allocator,
                           qp_buffer *payload, qp_error *error)
{
    carried_encoder e = {
        .allocator = qp_allocator_or_default(allocator),
        .n_tables = qp_carried_tables(latents),
        .elements = (size_t)latents->channels * latents->height * latents->width,
    };
    qp_status status = start_carried(&e, error);
    if (status == QP_OK)
        status = encode_carried(&e, latents, error);
    for (size_t t = 0; t < e.n_tables && status == QP_OK; t++)
        qp_payload_put_table(payload, &e.views[t]);
    if (status == QP_OK)
        qp_payload_put_block(payload, e.stream.bytes, e.stream.size);
    qp_stream_free(&e.allocator, &e.stream);
    qp_rans_tables_free(e.tables);
    qp_release(&e.allocator, e.reads, e.elements, sizeof *e.reads);
    qp_release(&e.allocator, e.views, e.n_tables, sizeof *e.views);
    qp_release(&e.allocator, e.cdfs, e.n_tables, sizeof *e.cdfs);
    return status;
}

/* ---- tables of a bundle ------------------------------------------------------------------- */

/* Magic, version and reserved; the count; then each part behind its length, the tables last. The
 * lowering has checked every length. */
qp_status qp_bundle_prepare(qp_set *set, const qp_rans_modes *modes, qp_error *error)
{
    const uint8_t *at = (const uint8_t *)set->members.at[0].bytes + BUNDLE_HEAD_BYTES;
    uint32_t parts = qp_load_u32(at);
    at += LENGTH_BYTES;
    for (uint32_t i = 0; i < parts; i++)
        at += LENGTH_BYTES + (size_t)qp_load_u32(at);
    return qp_entropy_read(at + LENGTH_BYTES, qp_load_u32(at), modes, &set->allocator,
                           &set->entropy, error);
}

/* ---- tables of a set: hyper-latents ------------------------------------------------------- */

qp_status qp_hyper_decode(const qp_entropy *entropy, qp_bytes stream, const qp_shape *shape,
                          int64_t *values, qp_error *error)
{
    qp_rans_decoder decoder;
    qp_status status = qp_rans_decoder_init(&decoder, entropy->z, stream.bytes, stream.size, error);
    if (status != QP_OK)
        return status;
    return decode_channels(&decoder, false, entropy->afrac, shape, values, error);
}

qp_status qp_hyper_encode(const qp_entropy *entropy, const qp_latents *latents,
                          const qp_allocator *allocator, qp_stream *stream, qp_error *error)
{
    size_t plane = (size_t)latents->height * latents->width, count = plane * latents->channels;
    uint32_t *reads = qp_allocate(allocator, count, sizeof *reads);
    if (reads == NULL)
        return qp_fail_memory(error, "the tables of hyper-latents");
    for (size_t i = 0; i < count; i++)
        reads[i] = (uint32_t)(i / plane);
    qp_rans_symbols symbols = {reads, latents->symbols, count};
    qp_status status = qp_rans_encode(entropy->z, &symbols, allocator, stream, error);
    qp_release(allocator, reads, count, sizeof *reads);
    return status;
}

/* ---- tables of a set: conditioned latents ------------------------------------------------- */

/* Some latents of a pass: where each is, its table and its mean. */
typedef struct run {
    size_t count;
    size_t at[RUN];
    uint32_t reads[RUN];
    int64_t means[RUN];
} run;

/* The scales and, as far again behind them, the means: neighbours at once. */
static void read_conditions(const qp_array *array, const qp_pass *pass, run *r, int64_t *scales)
{
    size_t half = (size_t)qp_array_elements(array) / 2;
    if (pass->positions == NULL) {
        qp_array_read(array, r->at[0], r->count, scales);
        qp_array_read(array, half + r->at[0], r->count, r->means);
        return;
    }
    for (size_t k = 0; k < r->count; k++) {
        qp_array_read(array, r->at[k], 1, &scales[k]);
        qp_array_read(array, half + r->at[k], 1, &r->means[k]);
    }
}

static void gather(const qp_conditions *conditions, const qp_pass *pass, size_t done, run *r)
{
    qp_integer_list edges = qp_entropy_edges(conditions->entropy);
    int64_t scales[RUN];
    r->count = pass->count - done < RUN ? pass->count - done : RUN;
    for (size_t k = 0; k < r->count; k++)
        r->at[k] = pass->first + (pass->positions == NULL ? done + k : pass->positions[done + k]);
    read_conditions(&conditions->array, pass, r, scales);
    for (size_t k = 0; k < r->count; k++)
        r->reads[k] = (uint32_t)qp_bucket(scales[k], edges, QP_BUCKET_CEIL);
}

/* A value that E2 refuses comes before a later symbol that the stream does not hold. */
static qp_status decode_run(const qp_conditions *conditions, const run *r, qp_rans_decoder *decoder,
                            int64_t *values, qp_error *error)
{
    int32_t symbols[RUN];
    uint64_t before = decoder->decoded;
    qp_error later;
    qp_status status = qp_rans_decode_run(decoder, r->reads, r->count, symbols, &later);
    size_t decoded = status == QP_OK ? r->count : (size_t)(decoder->decoded - before);

    for (size_t k = 0; k < decoded; k++) {
        qp_status fits = qp_dequantize(symbols[k], conditions->entropy->afrac, r->means[k],
                                       &values[r->at[k]], error);
        if (fits != QP_OK)
            return fits;
    }
    if (status != QP_OK && error != NULL)
        *error = later;
    return status;
}

qp_status qp_conditioned_decode(const qp_conditions *conditions, const qp_pass *pass,
                                qp_rans_decoder *decoder, int64_t *values, qp_error *error)
{
    qp_status status = QP_OK;
    run r;
    for (size_t done = 0; done < pass->count && status == QP_OK; done += r.count) {
        gather(conditions, pass, done, &r);
        status = decode_run(conditions, &r, decoder, values, error);
    }
    return status;
}

qp_status qp_chosen_init(qp_chosen *chosen, size_t capacity, const qp_allocator *allocator,
                         qp_error *error)
{
    *chosen = (qp_chosen){.allocator = qp_allocator_or_default(allocator), .capacity = capacity};
    chosen->reads = qp_allocate(allocator, capacity, sizeof *chosen->reads);
    chosen->symbols = qp_allocate(allocator, capacity, sizeof *chosen->symbols);
    if (chosen->reads != NULL && chosen->symbols != NULL)
        return QP_OK;
    qp_chosen_free(chosen);
    return qp_fail_memory(error, "the symbols of latents");
}

void qp_chosen_free(qp_chosen *chosen)
{
    qp_release(&chosen->allocator, chosen->symbols, chosen->capacity, sizeof *chosen->symbols);
    qp_release(&chosen->allocator, chosen->reads, chosen->capacity, sizeof *chosen->reads);
    chosen->symbols = NULL;
    chosen->reads = NULL;
}

/* The symbol nearest to (value - mean) / 2^afrac. */
static qp_status choose(int64_t value, int64_t mean, int64_t afrac, int32_t *symbol,
                        qp_error *error)
{
    /* the difference is below 2^64 and half a unit below 2^30: neither passes 128 bits */
    qp_i128 difference = qp_i128_sub(qp_i128_from_i64(value), qp_i128_from_i64(mean));
    qp_i128 rounded = qp_round_shift(difference, (unsigned)afrac, QP_ROUND_HALF_UP);
    if (!qp_i128_fits_i64(rounded) || qp_i128_to_i64(rounded) < INT32_MIN ||
        qp_i128_to_i64(rounded) > INT32_MAX)
        return qp_fail(error, QP_FIELD_RANGE, "a latent is too far from its mean for any symbol");
    *symbol = (int32_t)qp_i128_to_i64(rounded);
    return QP_OK;
}

qp_status qp_conditioned_choose(const qp_conditions *conditions, const qp_pass *pass,
                                const int64_t *targets, qp_chosen *chosen, int64_t *values,
                                qp_error *error)
{
    int64_t afrac = conditions->entropy->afrac;
    qp_status status = QP_OK;
    run r;
    for (size_t done = 0; done < pass->count; done += r.count) {
        gather(conditions, pass, done, &r);
        for (size_t k = 0; k < r.count && status == QP_OK; k++) {
            int32_t *symbol = &chosen->symbols[chosen->count];
            chosen->reads[chosen->count++] = r.reads[k];
            status = choose(targets[r.at[k]], r.means[k], afrac, symbol, error);
            if (status == QP_OK)
                status = qp_dequantize(*symbol, afrac, r.means[k], &values[r.at[k]], error);
        }
        if (status != QP_OK)
            return status;
    }
    return status;
}
