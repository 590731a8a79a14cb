/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_synth.c - int_synth/1: the int_synth model specification (integer-operators.md section 13.1).
 */
#include "lower/build.h"
#include "lower/cursor.h"
#include "lower/values.h"

/* A layer's numbers; its arrays stay in the JSON. */
typedef struct layer {
    int64_t in_ch, out_ch, k, stride, pad, out_pad, shift;
    bool relu;
    qp_json_value weight, bias;
} layer;

static const qp_range any_u32 = {0, UINT32_MAX};
static const qp_range from_one = {1, UINT32_MAX};
static const qp_range any_i32 = {INT32_MIN, INT32_MAX};
static const qp_range any_shift = {0, QP_SHIFT_MAX};

/* ---- a layer ------------------------------------------------------------------------------ */

typedef struct number {
    const char *name;
    int64_t *result;
    const qp_range *range;
    bool optional; /* 0 when absent */
} number;

static qp_status read_number(qp_lower_job *job, qp_json_value object, const number *field)
{
    qp_json_value value;
    if (field->optional && !qp_json_find(object, field->name, &value)) {
        *field->result = 0;
        return QP_OK;
    }
    qp_status status = qp_value_member(job, object, field->name, QP_JSON_NUMBER, &value);
    return status == QP_OK ? qp_value_read(job, value, *field->range, field->result) : status;
}

static qp_status read_relu(qp_lower_job *job, qp_json_value object, bool *relu)
{
    qp_json_value value;
    *relu = false;
    if (!qp_json_find(object, "relu", &value))
        return QP_OK;
    qp_status status = qp_json_get_bool(value, relu, job->error);
    return status == QP_OK ? QP_OK : qp_lower_recode(job, status);
}

static qp_status read_layer(qp_lower_job *job, qp_json_value object, layer *l)
{
    const number numbers[] = {
        {"in_ch", &l->in_ch, &from_one, false}, {"out_ch", &l->out_ch, &from_one, false},
        {"k", &l->k, &from_one, false},         {"stride", &l->stride, &from_one, false},
        {"pad", &l->pad, &any_u32, false},      {"out_pad", &l->out_pad, &any_u32, true},
        {"shift", &l->shift, &any_shift, true}};
    qp_status status = qp_json_expect(object, QP_JSON_OBJECT, job->error);
    if (status != QP_OK)
        return qp_lower_recode(job, status);
    for (size_t i = 0; i < QP_COUNT(numbers) && status == QP_OK; i++)
        status = read_number(job, object, &numbers[i]);
    if (status == QP_OK)
        status = read_relu(job, object, &l->relu);
    if (status == QP_OK)
        status = qp_value_member(job, object, "weight", QP_JSON_ARRAY, &l->weight);
    return status == QP_OK ? qp_value_member(job, object, "bias", QP_JSON_ARRAY, &l->bias) : status;
}

/* ---- weights ------------------------------------------------------------------------------ */

/* An array of the weights: one list in the order of [in_ch][out_ch][k][k], or lists within lists.
 * They are read into `next`, as many as the layer has room for. */
typedef struct nest {
    uint64_t dims[4];
    int64_t *next;
} nest;

static qp_status read_list(qp_lower_job *job, qp_json_value array, uint64_t count, nest *n)
{
    qp_values values;
    qp_status status = qp_values_read(job, array, count, any_i32, &values);
    if (status != QP_OK)
        return status;
    memcpy(n->next, values.at, values.count * sizeof *values.at);
    n->next += values.count;
    qp_values_free(job, &values);
    return QP_OK;
}

/* Level by level, at most four deep. */
static qp_status read_nest(qp_lower_job *job, qp_json_value array, unsigned level, nest *n)
{
    qp_json_value element;
    if (level == 3)
        return read_list(job, array, n->dims[3], n);
    qp_status status = qp_json_expect(array, QP_JSON_ARRAY, job->error);
    if (status != QP_OK)
        return qp_lower_recode(job, status);
    if (qp_json_count(array) != n->dims[level])
        return qp_value_refuse(job, array, "the list has not as many elements as the layer names");
    qp_json_iterator iterator = qp_json_iterate(array);
    while (status == QP_OK && qp_json_next(&iterator, &element))
        status = read_nest(job, element, level + 1, n);
    return status;
}

/* The least bytes of text that `count` integers can take: a digit and a comma each. */
static bool can_hold(const qp_json *json, uint64_t count)
{
    return count <= json->size / 2 + 1;
}

static qp_status read_weights(qp_lower_job *job, const layer *l, qp_values *values)
{
    qp_json_value first = QP_JSON_NO_VALUE;
    qp_json_iterator iterator = qp_json_iterate(l->weight);
    uint64_t k = (uint64_t)l->k;
    uint64_t count = qp_product((uint64_t)l->in_ch, (uint64_t)l->out_ch, k, k);

    qp_json_next(&iterator, &first);
    if (qp_json_kind_of(first) != QP_JSON_ARRAY)
        return qp_values_read(job, l->weight, count, any_i32, values);
    if (!can_hold(l->weight.json, count))
        return qp_value_refuse(job, l->weight, "the file cannot hold the weights the layer names");
    values->count = (size_t)count;
    values->at = qp_allocate(job->allocator, values->count, sizeof *values->at);
    if (values->at == NULL)
        return qp_fail_memory(job->error, "the weights of a layer");
    nest n = {{(uint64_t)l->in_ch, (uint64_t)l->out_ch, k, k}, values->at};
    qp_status status = read_nest(job, l->weight, 0, &n);
    if (status != QP_OK)
        qp_values_free(job, values);
    return status;
}

/* ---- the graph ---------------------------------------------------------------------------- */

static void put_params(qp_buffer *params, const layer *l, const qp_values *weights,
                       const qp_values *bias)
{
    const int64_t fields[] = {l->out_ch, l->k,   l->k,       l->stride, l->stride,
                              l->pad,    l->pad, l->out_pad, l->out_pad};
    qp_rq_values rq = {.round = QP_ROUND_FLOOR,
                       .bias_place = QP_BIAS_PRE,
                       .shift_kind = QP_KIND_ONE,
                       .bias_width = 4,
                       .shift = &l->shift,
                       .bias = bias->at,
                       .channels = bias->count};
    qp_writer_integers(params, fields, QP_COUNT(fields), 4);
    qp_buffer_le(params, 4, 1); /* w_bytes */
    qp_writer_zeros(params, 3);
    qp_writer_rq(params, &rq);
    qp_writer_integers(params, weights->at, weights->count, 4);
}

static qp_status build_layer(qp_lower_job *job, const layer *l, qp_build *build, qp_value *x)
{
    qp_values weights = {0}, bias = {0};
    qp_status status = read_weights(job, l, &weights);
    if (status == QP_OK)
        status = qp_values_read(job, l->bias, (uint64_t)l->out_ch, any_i32, &bias);
    if (status == QP_OK) {
        qp_value out = qp_build_tensor(build, (uint32_t)l->out_ch, QP_LIMITS_DERIVED);
        put_params(qp_build_begin(build, "conv_transpose", x, 1, out), l, &weights, &bias);
        qp_build_end(build);
        *x = l->relu ? qp_build_unary(build, "relu", out) : out;
    }
    qp_values_free(job, &bias);
    qp_values_free(job, &weights);
    return status;
}

static qp_status build_layers(qp_lower_job *job, qp_json_value layers, qp_build *build, qp_value *x)
{
    qp_json_value object;
    qp_json_iterator iterator = qp_json_iterate(layers);
    qp_status status = QP_OK;

    for (job->layer = 0; status == QP_OK && qp_json_next(&iterator, &object); job->layer++) {
        layer l;
        status = read_layer(job, object, &l);
        if (status != QP_OK)
            return status;
        if (job->layer == 0)
            *x = qp_build_input(build, (uint32_t)l.in_ch, (qp_limits){QP_CHECK, INT8_MIN, INT8_MAX},
                                0, 0);
        if (l.in_ch != (int64_t)x->channels)
            return qp_value_refuse(job, object, "in_ch is not what the layer before it gives");
        status = build_layer(job, &l, build, x);
    }
    return status;
}

static qp_status build_graph(qp_lower_job *job, qp_json_value root, qp_build *build)
{
    qp_json_value layers;
    qp_value x = {0};
    qp_status status = qp_value_member(job, root, "layers", QP_JSON_ARRAY, &layers);
    if (status != QP_OK)
        return status;
    if (qp_json_count(layers) == 0)
        return qp_value_refuse(job, layers, "there is no layer");
    status = build_layers(job, layers, build, &x);
    if (status != QP_OK)
        return status;
    job->layer = -1;
    x = qp_build_clamp(build, x, 0, UINT8_MAX);
    return qp_build_finish(job, build, "synth", x);
}

qp_status qp_lower_int_synth(qp_lower_job *job)
{
    const qp_member *member;
    qp_json json;
    qp_build build;
    qp_status status = qp_lower_member(job, "int_synth.json", &member);
    if (status != QP_OK)
        return status;
    qp_json_init(&json, job->allocator);
    qp_build_init(&build, job->allocator);
    status = qp_json_parse(&json, member->bytes, member->size, job->error);
    if (status == QP_OK)
        status = build_graph(job, qp_json_root(&json), &build);
    else
        status = qp_lower_recode(job, status);
    qp_build_free(&build);
    qp_json_free(&json);
    return status;
}
