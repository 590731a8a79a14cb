/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sr2.c - sr2/1: the prior of the exact upscaler (integer-operators.md section 13.7;
 * docs/lowering.md fixes the bytes of WSR1).
 *
 * The graph reads a picture and its base, twice as large. The picture, less 128, goes through
 * convolutions that keep its size; their output is shuffled to the base's size and added to it.
 *
 * Every prior that reads meets acc64: an activation lies in [0, 2^15 - 1] or, for the first layer,
 * [-128, 127], a weight fits 16 bits and a bias 32, so |acc| <= 2^24·2^15·2^15 + 2^31 < 2^55.
 */
#include "lower/build.h"
#include "lower/cursor.h"

#define CENTRE 128
#define ACTIVATION_MAX INT16_MAX
#define SHIFT_MAX 31
#define TAPS_MAX ((uint64_t)1 << 24)

typedef struct layer {
    int64_t offset;
    uint32_t out, k;
    int64_t shift;
    qp_integers bias, weights;
} layer;

/* ---- reading ------------------------------------------------------------------------------ */

static qp_status check_layer(const qp_lower_job *job, const layer *l, uint32_t in)
{
    if (l->out == 0 || l->k % 2 == 0)
        return qp_lower_refuse(job, l->offset, "a layer has no channels or an even kernel");
    if (l->shift > SHIFT_MAX)
        return qp_lower_refuse(job, l->offset, "the shift passes 31");
    if (qp_product(in, l->k, l->k, 1) > TAPS_MAX)
        return qp_lower_refuse(job, l->offset, "an output sums more than 2^24 terms");
    return QP_OK;
}

/* out, k, shift, 3 reserved; i32 bias[out]; i16 weight[out][in][k][k] */
static qp_status read_layer(const qp_lower_job *job, qp_cursor *cursor, uint32_t in, layer *l)
{
    l->offset = qp_cursor_offset(cursor);
    l->out = qp_cursor_u32(cursor, "out");
    l->k = qp_cursor_u32(cursor, "k");
    l->shift = qp_cursor_u8(cursor, "the shift");
    qp_status status = qp_cursor_reserved(job, cursor, 3);
    if (status != QP_OK)
        return status;
    l->bias = qp_cursor_integers(cursor, l->out, 4, "the biases");
    l->weights = qp_cursor_integers(cursor, qp_product(l->out, in, l->k, l->k), 2, "the weights");
    status = qp_cursor_check(job, cursor);
    return status == QP_OK ? check_layer(job, l, in) : status;
}

/* ---- the graph ---------------------------------------------------------------------------- */

static void put_array(qp_buffer *params, const qp_integers *values)
{
    qp_buffer_append(params, values->bytes, values->count * values->width);
}

static qp_value build_conv(const layer *l, qp_value x, qp_build *build)
{
    const int64_t fields[] = {l->out, l->k, l->k, 1, 1, l->k / 2, l->k / 2, 1};
    qp_rq_values head = {.round = QP_ROUND_HALF_UP,
                         .bias_place = QP_BIAS_PRE,
                         .shift_kind = QP_KIND_ONE,
                         .bias_width = l->bias.width};
    qp_value out = qp_build_tensor(build, l->out, QP_LIMITS_DERIVED);
    qp_buffer *params = qp_build_begin(build, "conv", &x, 1, out);
    qp_writer_integers(params, fields, QP_COUNT(fields), 4);
    qp_buffer_le(params, l->weights.width, 1);
    qp_writer_zeros(params, 3);
    qp_writer_rq_head(params, &head);
    qp_buffer_le(params, (uint64_t)l->shift, 1);
    put_array(params, &l->bias);
    put_array(params, &l->weights);
    qp_build_end(build);
    return out;
}

static qp_value build_centre(qp_value picture, qp_build *build)
{
    const int64_t shift = 0, bias[] = {-CENTRE, -CENTRE, -CENTRE};
    qp_rq_values rq = {.round = QP_ROUND_FLOOR,
                       .bias_place = QP_BIAS_PRE,
                       .shift_kind = QP_KIND_ONE,
                       .bias_width = 4,
                       .shift = &shift,
                       .bias = bias,
                       .channels = picture.channels};
    return qp_build_rescale(build, picture, &rq, QP_LIMITS_DERIVED);
}

static qp_status build_layers(qp_lower_job *job, qp_cursor *cursor, uint32_t n_layers,
                              qp_build *build, qp_value *x)
{
    for (uint32_t i = 0; i < n_layers; i++) {
        layer l;
        job->layer = i;
        qp_status status = read_layer(job, cursor, x->channels, &l);
        if (status != QP_OK)
            return status;
        *x = build_conv(&l, *x, build);
        if (i + 1 < n_layers)
            *x = qp_build_clamp(build, *x, 0, ACTIVATION_MAX);
    }
    job->layer = -1;
    return qp_cursor_end(job, cursor);
}

static qp_status build_graph(qp_lower_job *job, qp_cursor *cursor, qp_build *build)
{
    qp_limits sample = {QP_CHECK, 0, UINT8_MAX};
    qp_status status = qp_cursor_head(job, cursor, "WSR1");
    if (status != QP_OK)
        return status;
    uint32_t channels = qp_cursor_u32(cursor, "the channels");
    uint32_t n_layers = qp_cursor_u32(cursor, "n_layers");
    status = qp_cursor_check(job, cursor);
    if (status == QP_OK && channels != 1 && channels != 3)
        status = qp_lower_refuse(job, 8, "a picture has 1 channel or 3");
    if (status == QP_OK && n_layers == 0)
        status = qp_lower_refuse(job, 12, "the prior has no layers");
    if (status != QP_OK)
        return status;
    qp_value picture = qp_build_input(build, channels, sample, 0, 0);
    qp_value base = qp_build_input(build, channels, sample, 0, 0);
    qp_value x = build_centre(picture, build);
    status = build_layers(job, cursor, n_layers, build, &x);
    if (status == QP_OK && x.channels != 4 * channels)
        status = qp_lower_refuse(job, -1, "the last layer does not give four times the channels");
    if (status != QP_OK)
        return status;
    qp_value terms[] = {base, qp_build_pixel_shuffle(build, x, 2)};
    qp_value sum = qp_build_tensor(build, channels, QP_LIMITS_DERIVED);
    qp_build_plain(build, "add", terms, 2, sum);
    return qp_build_finish(job, build, "graph", qp_build_clamp(build, sum, 0, UINT8_MAX));
}

qp_status qp_lower_sr2(qp_lower_job *job)
{
    const qp_member *member;
    qp_build build;
    qp_status status = qp_lower_member(job, "prior.wsr", &member);
    if (status != QP_OK)
        return status;
    qp_cursor cursor = qp_cursor_over(member);
    qp_build_init(&build, job->allocator);
    status = build_graph(job, &cursor, &build);
    qp_build_free(&build);
    return status;
}
