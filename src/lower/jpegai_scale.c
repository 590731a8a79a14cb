/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpegai_scale.c - the scale path of wai.image.jpegai: the load checks of norm.json and the graphs
 * hs_y and hs_uv (integer-operators.md section 13.6.1).
 */
#include "lower/cursor.h"
#include "lower/jpegai.h"

/* The counts and ranges that section 13.6.1 names. */
enum {
    PMF_ROWS_MIN = 32,
    PMF_SUM = 256,
    BOUNDS_MIN = 32,
    COUNT_MAX = 255,
    CDF_WIDTH = 63,
    SYMBOLS = 16,
    UPSAMPLING = 4,
    SYMBOL_MIN = -31,
    SYMBOL_MAX = 32,
    HYPER_SIDE = 4,
    SCALE_MAX = 3967
};

static const qp_range any_i64 = {INT64_MIN, INT64_MAX};
static const qp_range any_shift = {0, QP_SHIFT_MAX};
static const qp_range any_count = {0, COUNT_MAX};

/* ---- norm.json ---------------------------------------------------------------------------- */

/* A row of `width` non-negative integers that sum to 256; the first row sets the width. */
static qp_status check_pmf_row(qp_lower_job *job, qp_json_value row, size_t *width)
{
    qp_json_value element;
    int64_t value, sum = 0;
    size_t count = qp_json_count(row);
    qp_status status = qp_json_expect(row, QP_JSON_ARRAY, job->error);
    if (status != QP_OK)
        return qp_lower_recode(job, status);
    if (count == 0 || (*width != 0 && count != *width))
        return qp_value_refuse(job, row, "the rows of \"pmf\" have not one width of at least 1");
    *width = count;
    qp_json_iterator iterator = qp_json_iterate(row);
    while (qp_json_next(&iterator, &element)) {
        status = qp_value_read(job, element, (qp_range){0, PMF_SUM}, &value);
        if (status != QP_OK)
            return status;
        sum += value; /* the rows are shorter than 2^32 */
    }
    return sum == PMF_SUM ? QP_OK
                          : qp_value_refuse(job, row, "a row of \"pmf\" does not sum to 256");
}

static qp_status check_pmf(qp_lower_job *job, qp_json_value root)
{
    qp_json_value pmf, row;
    size_t width = 0;
    qp_status status = qp_value_member(job, root, "pmf", QP_JSON_ARRAY, &pmf);
    if (status != QP_OK)
        return status;
    if (qp_json_count(pmf) < PMF_ROWS_MIN)
        return qp_value_refuse(job, pmf, "\"pmf\" has fewer than 32 rows");
    qp_json_iterator iterator = qp_json_iterate(pmf);
    while (status == QP_OK && qp_json_next(&iterator, &row))
        status = check_pmf_row(job, row, &width);
    return status;
}

static qp_status check_bounds(qp_lower_job *job, qp_json_value root)
{
    qp_json_value bounds, element;
    int64_t ignored;
    qp_status status = qp_value_member(job, root, "bounds", QP_JSON_ARRAY, &bounds);
    if (status != QP_OK)
        return status;
    if (qp_json_count(bounds) < BOUNDS_MIN)
        return qp_value_refuse(job, bounds, "\"bounds\" has fewer than 32 integers");
    qp_json_iterator iterator = qp_json_iterate(bounds);
    while (status == QP_OK && qp_json_next(&iterator, &element))
        status = qp_value_read(job, element, any_count, &ignored);
    return status;
}

static qp_status check_per_channel(qp_lower_job *job, qp_json_value root)
{
    qp_json_value value;
    int64_t ignored;
    qp_status status = qp_value_member(job, root, "per_channel", QP_JSON_NUMBER, &value);
    return status == QP_OK ? qp_value_read(job, value, (qp_range){SYMBOLS, SYMBOLS}, &ignored)
                           : status;
}

/* Rows of 63 counts, each row non-decreasing. */
static qp_status check_cdfs(qp_lower_job *job, qp_json_value root, const char *name, uint32_t rows)
{
    qp_json_value array;
    qp_values values;
    qp_status status = qp_value_member(job, root, name, QP_JSON_ARRAY, &array);
    if (status == QP_OK)
        status = qp_values_read(job, array, (uint64_t)rows * CDF_WIDTH, any_count, &values);
    if (status != QP_OK)
        return status;
    for (size_t i = 1; i < values.count && status == QP_OK; i++)
        if (i % CDF_WIDTH != 0 && values.at[i] < values.at[i - 1])
            status = qp_value_refuse(job, array, "a row of counts decreases");
    qp_values_free(job, &values);
    return status;
}

static qp_status check_norm(qp_lower_job *job, qp_json_value root)
{
    qp_status status = qp_json_expect(root, QP_JSON_OBJECT, job->error);
    if (status != QP_OK)
        return qp_lower_recode(job, status);
    status = check_pmf(job, root);
    if (status == QP_OK)
        status = check_bounds(job, root);
    if (status == QP_OK)
        status = check_per_channel(job, root);
    if (status == QP_OK)
        status = check_cdfs(job, root, "cdfs_y", QP_JPEGAI_LUMA);
    return status == QP_OK ? check_cdfs(job, root, "cdfs_uv", QP_JPEGAI_CHROMA) : status;
}

/* ---- members of Table 13.6-A -------------------------------------------------------------- */

/* The values of a tensor member, whose dims must be `rank` given ones; a `wanted` of 0 takes any
 * count of at least 1, which then stands in it. */
static qp_status check_dims(qp_lower_job *job, qp_json_value dims, uint64_t *wanted, size_t rank)
{
    qp_values found;
    qp_status status = qp_values_read(job, dims, rank, (qp_range){1, UINT32_MAX}, &found);
    for (size_t i = 0; status == QP_OK && i < rank; i++) {
        if (wanted[i] == 0)
            wanted[i] = (uint64_t)found.at[i];
        if (wanted[i] != (uint64_t)found.at[i])
            status = qp_value_refuse(job, dims, "the dims are not those of the scale graph");
    }
    qp_values_free(job, &found);
    return status;
}

typedef struct tensor {
    const char *name;
    uint64_t *dims;
    size_t rank;
    qp_range range;
} tensor;

static qp_status read_tensor(qp_lower_job *job, qp_json_value root, const tensor *t,
                             qp_values *values)
{
    qp_json_value member, dims, v;
    uint64_t count = 1;
    qp_status status = qp_value_member(job, root, t->name, QP_JSON_OBJECT, &member);
    if (status == QP_OK)
        status = qp_value_member(job, member, "dims", QP_JSON_ARRAY, &dims);
    if (status == QP_OK)
        status = check_dims(job, dims, t->dims, t->rank);
    if (status == QP_OK)
        status = qp_value_member(job, member, "v", QP_JSON_ARRAY, &v);
    if (status != QP_OK)
        return status;
    for (size_t i = 0; i < t->rank; i++)
        count = qp_product(count, t->dims[i], 1, 1);
    return qp_values_read(job, v, count, t->range, values);
}

/* ---- the graph ---------------------------------------------------------------------------- */

typedef struct block {
    const char *weight, *bias, *shift;
    uint32_t k, pad;
    uint64_t cout; /* 0 for what the file says */
} block;

typedef struct block_values {
    qp_values weight, bias, shift;
} block_values;

static qp_status read_block(qp_lower_job *job, qp_json_value root, block *b, uint32_t cin,
                            block_values *values)
{
    uint64_t weight[] = {b->cout, cin, b->k, b->k};
    qp_status status =
        read_tensor(job, root, &(tensor){b->weight, weight, 4, any_i64}, &values->weight);
    b->cout = weight[0];
    uint64_t bias[] = {b->cout}, shift[] = {1, b->cout, 1, 1};
    if (status == QP_OK)
        status = read_tensor(job, root, &(tensor){b->bias, bias, 1, any_i64}, &values->bias);
    if (status == QP_OK)
        status = read_tensor(job, root, &(tensor){b->shift, shift, 4, any_shift}, &values->shift);
    return status;
}

static qp_value build_conv(qp_build *build, const block *b, const block_values *values, qp_value x)
{
    const int64_t fields[] = {(int64_t)b->cout, b->k, b->k, 1, 1, b->pad, b->pad, 1};
    unsigned width = qp_build_width(values->weight.at, values->weight.count, 1);
    qp_rq_values rq = {.round = QP_ROUND_FLOOR,
                       .bias_place = QP_BIAS_PRE,
                       .shift_kind = QP_KIND_PER_CHANNEL,
                       .bias_width = qp_build_width(values->bias.at, values->bias.count, 4),
                       .shift = values->shift.at,
                       .bias = values->bias.at,
                       .channels = values->bias.count};
    qp_value out = qp_build_tensor(build, (uint32_t)b->cout, QP_LIMITS_DERIVED);
    qp_buffer *params = qp_build_begin(build, "conv", &x, 1, out);
    qp_writer_integers(params, fields, QP_COUNT(fields), 4);
    qp_buffer_le(params, width, 1);
    qp_writer_zeros(params, 3);
    qp_writer_rq(params, &rq);
    qp_writer_integers(params, values->weight.at, values->weight.count, width);
    qp_build_end(build);
    return out;
}

static qp_status build_block(qp_lower_job *job, qp_json_value root, block *b, qp_build *build,
                             qp_value *x)
{
    block_values values = {{0}, {0}, {0}};
    qp_status status = read_block(job, root, b, x->channels, &values);
    if (status == QP_OK)
        *x = build_conv(build, b, &values, *x);
    qp_values_free(job, &values.shift);
    qp_values_free(job, &values.bias);
    qp_values_free(job, &values.weight);
    return status;
}

static qp_value build_gain(qp_build *build, const qp_values *gain, qp_value x)
{
    const int64_t shift = 0;
    qp_rq_values rq = {.round = QP_ROUND_FLOOR,
                       .bias_place = QP_BIAS_PRE,
                       .shift_kind = QP_KIND_ONE,
                       .bias_width = qp_build_width(gain->at, gain->count, 4),
                       .shift = &shift,
                       .bias = gain->at,
                       .channels = gain->count};
    return qp_build_rescale(build, x, &rq, QP_LIMITS_DERIVED);
}

/* A plane of the scale path. */
typedef struct plane {
    const char *role, *path, *gain;
    uint32_t channels;
} plane;

static qp_status build_scale(qp_lower_job *job, qp_json_value root, const plane *p, qp_build *build,
                             const qp_values *gain)
{
    block blocks[] = {{"conv1.weight", "conv1.bias", "onnx::Pow_85", 1, 0, 0},
                      {"depthwise.weight", "depthwise.bias", "onnx::Pow_91", 3, 1, 0},
                      {"pointwise.weight", "pointwise.bias", "onnx::Pow_97", 1, 0,
                       (uint64_t)UPSAMPLING * UPSAMPLING * p->channels}};
    qp_limits symbols = {QP_CHECK, SYMBOL_MIN, SYMBOL_MAX};
    qp_value x = qp_build_input(build, p->channels, symbols, HYPER_SIDE, HYPER_SIDE);

    for (size_t i = 0; i < QP_COUNT(blocks); i++) {
        if (i > 0)
            x = qp_build_unary(build, "relu", x);
        x = qp_build_clamp(build, x, INT8_MIN, INT8_MAX);
        qp_status status = build_block(job, root, &blocks[i], build, &x);
        if (status != QP_OK)
            return status;
    }
    x = qp_build_pixel_shuffle(build, x, UPSAMPLING);
    x = qp_build_unary(build, "abs", x);
    x = qp_build_clamp(build, x, 0, SCALE_MAX);
    return qp_build_finish(job, build, p->role, build_gain(build, gain, x));
}

/* ---- the files ---------------------------------------------------------------------------- */

/* Opens a file of the scale path, where the last of two members of one name counts. */
static qp_status open_file(qp_lower_job *job, const char *path, qp_json *json)
{
    const qp_member *member;
    qp_json_init(json, job->allocator);
    json->allow_duplicates = true;
    qp_status status = qp_lower_member(job, path, &member);
    if (status != QP_OK)
        return status;
    status = qp_json_parse(json, member->bytes, member->size, job->error);
    return status == QP_OK ? QP_OK : qp_lower_recode(job, status);
}

static qp_status lower_plane(qp_lower_job *job, const plane *p, const qp_values *gain)
{
    qp_json json;
    qp_build build;
    qp_build_init(&build, job->allocator);
    qp_status status = open_file(job, p->path, &json);
    if (status == QP_OK)
        status = build_scale(job, qp_json_root(&json), p, &build, gain);
    qp_json_free(&json);
    qp_build_free(&build);
    return status;
}

static qp_status read_gain(qp_lower_job *job, qp_json_value root, const plane *p, qp_values *gain)
{
    qp_json_value array;
    qp_status status = qp_value_member(job, root, p->gain, QP_JSON_ARRAY, &array);
    return status == QP_OK ? qp_values_read(job, array, p->channels, any_i64, gain) : status;
}

qp_status qp_jpegai_scale(qp_lower_job *job)
{
    static const plane planes[] = {{"hs_y", "weights/hs_y.json", "gain_y", QP_JPEGAI_LUMA},
                                   {"hs_uv", "weights/hs_uv.json", "gain_uv", QP_JPEGAI_CHROMA}};
    qp_values gains[2] = {{0}, {0}};
    qp_json norm;
    qp_status status = open_file(job, "norm.json", &norm);
    if (status == QP_OK)
        status = check_norm(job, qp_json_root(&norm));
    for (size_t i = 0; i < QP_COUNT(planes) && status == QP_OK; i++)
        status = read_gain(job, qp_json_root(&norm), &planes[i], &gains[i]);
    qp_json_free(&norm);
    for (size_t i = 0; i < QP_COUNT(planes) && status == QP_OK; i++)
        status = lower_plane(job, &planes[i], &gains[i]);
    for (size_t i = 0; i < QP_COUNT(planes); i++)
        qp_values_free(job, &gains[i]);
    return status;
}
