/* SPDX-License-Identifier: Apache-2.0 */
/* jpegai_blocks.c - the blocks of integer-operators.md section 13.6.2. */
#include "lower/jpegai.h"

/* epsilon of the layer and L2 normalisations: 42949 = floor(2^32 / 10^5) */
#define EPSILON 42949
#define ATTENTION_GROUPS 4
#define Q16_SHIFT 16
#define STRIDE 2 /* of the transposed convolutions */

static const qp_value no_value = {0, 0};

/* ---- constant rescalings ------------------------------------------------------------------ */

/* A rescale with no shift and one constant added after it on every channel. */
static qp_value add_constant(qp_jpegai *j, qp_value x, const int64_t *mult, int64_t constant,
                             qp_limits limits)
{
    const int64_t shift = 0;
    if (j->status != QP_OK)
        return no_value;
    int64_t *bias = qp_allocate(j->job->allocator, x.channels, sizeof *bias);
    if (bias == NULL) {
        j->status = qp_fail_memory(j->job->error, "a constant");
        return no_value;
    }
    for (uint32_t c = 0; c < x.channels; c++)
        bias[c] = constant;
    qp_rq_values rq = {.round = QP_ROUND_FLOOR,
                       .bias_place = QP_BIAS_POST,
                       .mult_kind = mult == NULL ? QP_KIND_ABSENT : QP_KIND_ONE,
                       .shift_kind = QP_KIND_ONE,
                       .mult_width = mult == NULL ? 0 : qp_build_width(mult, 1, 4),
                       .bias_width = qp_build_width(&constant, 1, 4),
                       .mult = mult,
                       .shift = &shift,
                       .bias = bias,
                       .channels = x.channels};
    qp_value out = qp_build_rescale(&j->build, x, &rq, limits);
    qp_release(j->job->allocator, bias, x.channels, sizeof *bias);
    return out;
}

qp_value qp_jpegai_denormalise(qp_jpegai *j, qp_value x)
{
    const int64_t mult = 128;
    const int64_t middle = 127 * (int64_t)QP_Q16_ONE + QP_Q16_ONE / 2;
    return add_constant(j, x, &mult, middle,
                        (qp_limits){QP_CLAMP, 0, UINT8_MAX * (int64_t)QP_Q16_ONE});
}

/* ---- convolutions ------------------------------------------------------------------------- */

/* The head of a convolution after its sizes: widths, RQ and weights. */
static void put_conv(qp_buffer *params, const qp_jpegai_conv *conv, const qp_values *bias)
{
    unsigned width = qp_build_width(conv->weights.at, conv->weights.count, 1);
    bool has_bias = bias->at != NULL;
    qp_rq_values rq = {.round = QP_ROUND_FLOOR,
                       .bias_place = has_bias ? QP_BIAS_POST : QP_BIAS_NONE,
                       .mult_kind = QP_KIND_ONE,
                       .shift_kind = QP_KIND_ONE,
                       .mult_width = qp_build_width(&conv->mult, 1, 4),
                       .bias_width = has_bias ? qp_build_width(bias->at, bias->count, 4) : 0,
                       .mult = &conv->mult,
                       .shift = &conv->shift,
                       .bias = bias->at,
                       .channels = bias->count};
    qp_buffer_le(params, width, 1);
    qp_writer_zeros(params, 3);
    qp_writer_rq(params, &rq);
    qp_writer_integers(params, conv->weights.at, conv->weights.count, width);
}

/* Whether the dims are those of the shape, for x of c channels. The channels of a graph and of a
 * file's arrays are below 2^32: each stands for elements of it. */
static bool dims_fit(const qp_jpegai_conv *conv, qp_value x, const qp_jpegai_shape *shape)
{
    const uint64_t *d = conv->dims;
    uint64_t g = shape->groups == QP_JPEGAI_DEPTHWISE ? x.channels : shape->groups;
    bool depthwise_fits = shape->groups != QP_JPEGAI_DEPTHWISE || d[0] == x.channels;
    return depthwise_fits && d[0] >= 1 && d[0] <= UINT32_MAX && d[0] % g == 0 &&
           x.channels % g == 0 && d[1] == x.channels / g && d[2] == shape->k && d[3] == shape->k;
}

static qp_value build_c(qp_jpegai *j, qp_value x, const qp_jpegai_conv *conv,
                        const qp_jpegai_shape *shape, const qp_values *bias)
{
    uint32_t groups = shape->groups == QP_JPEGAI_DEPTHWISE ? x.channels : shape->groups;
    const int64_t fields[] = {(int64_t)conv->dims[0], shape->k,   shape->k,   shape->stride,
                              shape->stride,          shape->pad, shape->pad, groups};
    qp_value out = qp_build_tensor(&j->build, (uint32_t)conv->dims[0], QP_LIMITS_A32);
    qp_buffer *params = qp_build_begin(&j->build, "conv", &x, 1, out);
    qp_writer_integers(params, fields, QP_COUNT(fields), 4);
    put_conv(params, conv, bias);
    qp_build_end(&j->build);
    return out;
}

static void refuse_dims(qp_jpegai *j, const char *module)
{
    if (j->status == QP_OK)
        j->status =
            qp_lower_refuse(j->job, -1, "%.80s.weight has not the dims of its block", module);
}

qp_value qp_jpegai_c(qp_jpegai *j, qp_value x, const char *module, qp_jpegai_shape shape,
                     const int64_t *shift)
{
    bool has_bias;
    qp_value out = no_value;
    qp_jpegai_conv conv = qp_jpegai_weights(j, module);
    if (j->status == QP_OK && !dims_fit(&conv, x, &shape))
        refuse_dims(j, module);
    qp_values bias = qp_jpegai_bias(j, module, conv.dims[0], &has_bias);
    if (shift != NULL)
        conv.shift = *shift;
    if (j->status == QP_OK)
        out = build_c(j, x, &conv, &shape, &bias);
    qp_values_free(j->job, &bias);
    qp_values_free(j->job, &conv.weights);
    return out;
}

static qp_value build_t(qp_jpegai *j, qp_value x, const qp_jpegai_conv *conv, uint32_t out_pad,
                        const qp_values *bias)
{
    int64_t k = (int64_t)conv->dims[2];
    const int64_t fields[] = {(int64_t)conv->dims[1], k, k, STRIDE, STRIDE, 1, 1, out_pad, out_pad};
    qp_value out = qp_build_tensor(&j->build, (uint32_t)conv->dims[1], QP_LIMITS_A32);
    qp_buffer *params = qp_build_begin(&j->build, "conv_transpose", &x, 1, out);
    qp_writer_integers(params, fields, QP_COUNT(fields), 4);
    put_conv(params, conv, bias);
    qp_build_end(&j->build);
    return out;
}

qp_value qp_jpegai_t(qp_jpegai *j, qp_value x, const char *module, uint32_t k, uint32_t out_pad)
{
    bool has_bias;
    qp_value out = no_value;
    qp_jpegai_conv conv = qp_jpegai_weights(j, module);
    const uint64_t *d = conv.dims;
    if (j->status == QP_OK &&
        (d[0] != x.channels || d[1] < 1 || d[1] > UINT32_MAX || d[2] != k || d[3] != k))
        refuse_dims(j, module);
    qp_values bias = qp_jpegai_bias(j, module, d[1], &has_bias);
    if (j->status == QP_OK)
        out = build_t(j, x, &conv, out_pad, &bias);
    qp_values_free(j->job, &bias);
    qp_values_free(j->job, &conv.weights);
    return out;
}

/* ---- elementwise -------------------------------------------------------------------------- */

qp_value qp_jpegai_relu6(qp_jpegai *j, qp_value x)
{
    return j->status == QP_OK ? qp_build_clamp(&j->build, x, 0, QP_Q16_SIX) : no_value;
}

qp_value qp_jpegai_relu(qp_jpegai *j, qp_value x)
{
    return j->status == QP_OK ? qp_build_unary(&j->build, "relu", x) : no_value;
}

void qp_jpegai_expect(qp_jpegai *j, qp_value x, uint32_t channels, const char *text)
{
    if (j->status == QP_OK && x.channels != channels)
        qp_jpegai_refuse(j, text);
}

static void expect_equal(qp_jpegai *j, qp_value a, qp_value b)
{
    qp_jpegai_expect(j, a, b.channels, "an add or a product has two counts of channels");
}

qp_value qp_jpegai_add(qp_jpegai *j, qp_value a, qp_value b)
{
    const qp_value in[] = {a, b};
    expect_equal(j, a, b);
    if (j->status != QP_OK)
        return no_value;
    qp_value out = qp_build_tensor(&j->build, a.channels, QP_LIMITS_A32);
    return qp_build_plain(&j->build, "add", in, 2, out);
}

/* An RQ of one shift alone. */
static void put_shift(qp_buffer *params, qp_round round)
{
    const int64_t shift = Q16_SHIFT;
    qp_writer_rq(params,
                 &(qp_rq_values){.round = round, .shift_kind = QP_KIND_ONE, .shift = &shift});
}

qp_value qp_jpegai_mul(qp_jpegai *j, qp_value a, qp_value b)
{
    const qp_value in[] = {a, b};
    expect_equal(j, a, b);
    if (j->status != QP_OK)
        return no_value;
    qp_value out = qp_build_tensor(&j->build, a.channels, QP_LIMITS_A32);
    put_shift(qp_build_begin(&j->build, "mul", in, 2, out), QP_ROUND_FLOOR);
    qp_build_end(&j->build);
    return out;
}

qp_value qp_jpegai_shuffle2(qp_jpegai *j, qp_value x)
{
    if (j->status == QP_OK && x.channels % 4 != 0)
        qp_jpegai_refuse(j, "a pixel_shuffle reads channels that are no multiple of 4");
    return j->status == QP_OK ? qp_build_pixel_shuffle(&j->build, x, 2) : no_value;
}

/* ---- residuals and gates ------------------------------------------------------------------ */

qp_value qp_jpegai_residual(qp_jpegai *j, qp_value x, const char *module)
{
    qp_module conv1 = qp_jpegai_module(module, ".conv1"),
              conv2 = qp_jpegai_module(module, ".conv2");
    qp_value y = qp_jpegai_c(j, x, conv1.text, QP_JPEGAI_3X3, NULL);
    y = qp_jpegai_relu(j, y);
    y = qp_jpegai_c(j, y, conv2.text, QP_JPEGAI_3X3, NULL);
    return qp_jpegai_add(j, x, y);
}

qp_value qp_jpegai_gate(qp_jpegai *j, qp_value x, const char *module)
{
    qp_module conv = qp_jpegai_module(module, ".conv"), conv2 = qp_jpegai_module(module, ".conv2");
    qp_value f = qp_jpegai_relu6(j, x);
    f = qp_jpegai_c(j, f, conv.text, (qp_jpegai_shape){3, 1, 1, 4}, NULL);
    f = qp_jpegai_c(j, f, conv2.text, QP_JPEGAI_1X1, NULL);
    f = add_constant(j, f, NULL, QP_Q16_ONE, QP_LIMITS_A32);
    return qp_jpegai_mul(j, x, f);
}

qp_value qp_jpegai_cab(qp_jpegai *j, qp_value x)
{
    qp_value t = qp_jpegai_residual(j, x, "CAB.residual_trunk.0");
    t = qp_jpegai_residual(j, t, "CAB.residual_trunk.1");
    qp_value s = qp_jpegai_c(j, x, "CAB.subscale", (qp_jpegai_shape){3, 2, 1, 1}, NULL);
    s = qp_jpegai_residual(j, s, "CAB.residual_mask2.0");
    s = qp_jpegai_residual(j, s, "CAB.residual_mask3.0");
    s = qp_jpegai_t(j, s, "CAB.upscale", 3, 1);
    if (j->status == QP_OK)
        s = qp_build_unary(&j->build, "sigmoid", s);
    return qp_jpegai_add(j, x, qp_jpegai_mul(j, t, s));
}

/* ---- attention ---------------------------------------------------------------------------- */

static qp_value layer_norm(qp_jpegai *j, qp_value x, const char *module, const char *norm)
{
    qp_module name = qp_jpegai_module(module, norm);
    qp_module weight = qp_jpegai_module(name.text, ".weight");
    qp_module offset = qp_jpegai_module(name.text, ".bias");
    qp_values gamma = qp_jpegai_q16(j, weight.text, x.channels);
    qp_values beta = qp_jpegai_q16(j, offset.text, x.channels);
    qp_value out = no_value;
    if (j->status == QP_OK) {
        unsigned width = qp_build_width(gamma.at, gamma.count, 4);
        out = qp_build_tensor(&j->build, x.channels, QP_LIMITS_A32);
        qp_buffer *params = qp_build_begin(&j->build, "layernorm_c", &x, 1, out);
        qp_buffer_le(params, EPSILON, 8);
        qp_buffer_le(params, width, 1);
        qp_writer_zeros(params, 7);
        qp_writer_integers(params, gamma.at, gamma.count, width);
        qp_writer_integers(params, beta.at, beta.count, 8);
        qp_build_end(&j->build);
    }
    qp_values_free(j->job, &beta);
    qp_values_free(j->job, &gamma);
    return out;
}

/* l2norm and elu: one word of parameters. */
static qp_value with_word(qp_jpegai *j, const char *name, qp_value x, uint64_t word)
{
    if (j->status != QP_OK)
        return no_value;
    qp_value out = qp_build_tensor(&j->build, x.channels, QP_LIMITS_DERIVED);
    qp_buffer_le(qp_build_begin(&j->build, name, &x, 1, out), word, 8);
    qp_build_end(&j->build);
    return out;
}

/* gram and apply; both give the channels of their first input. */
static qp_value contract(qp_jpegai *j, const char *name, qp_value a, qp_value b)
{
    const qp_value in[] = {a, b};
    if (j->status != QP_OK)
        return no_value;
    qp_value out = qp_build_tensor(&j->build, a.channels, QP_LIMITS_A32);
    qp_buffer *params = qp_build_begin(&j->build, name, in, 2, out);
    qp_buffer_le(params, ATTENTION_GROUPS, 4);
    put_shift(params, QP_ROUND_HALF_UP);
    qp_build_end(&j->build);
    return out;
}

static qp_value scale_by(qp_jpegai *j, qp_value x, const int64_t *mult)
{
    const int64_t shift = Q16_SHIFT;
    qp_rq_values rq = {.round = QP_ROUND_HALF_UP,
                       .mult_kind = QP_KIND_PER_CHANNEL,
                       .shift_kind = QP_KIND_ONE,
                       .mult_width = qp_build_width(mult, x.channels, 4),
                       .mult = mult,
                       .shift = &shift,
                       .channels = x.channels};
    return qp_build_rescale(&j->build, x, &rq, QP_LIMITS_A32);
}

/* The attention's temperature: one value a group. */
static qp_value temper(qp_jpegai *j, qp_value x, const char *module)
{
    qp_module name = qp_jpegai_module(module, ".attn.temperature");
    qp_values groups = qp_jpegai_q16(j, name.text, ATTENTION_GROUPS);
    qp_value out = no_value;
    int64_t *mult = NULL;
    if (j->status == QP_OK)
        mult = qp_allocate(j->job->allocator, x.channels, sizeof *mult);
    if (j->status == QP_OK && mult == NULL)
        j->status = qp_fail_memory(j->job->error, "a temperature");
    for (uint32_t i = 0; j->status == QP_OK && i < x.channels; i++)
        mult[i] = groups.at[i / (x.channels / ATTENTION_GROUPS)];
    if (j->status == QP_OK)
        out = scale_by(j, x, mult);
    qp_release(j->job->allocator, mult, x.channels, sizeof *mult);
    qp_values_free(j->job, &groups);
    return out;
}

static qp_value slice(qp_jpegai *j, qp_value x, uint32_t start, uint32_t count)
{
    return j->status == QP_OK ? qp_build_split(&j->build, x, start, count) : no_value;
}

/* Steps 1 to 8. */
static qp_value attention(qp_jpegai *j, qp_value x, const char *module)
{
    qp_module prep = qp_jpegai_module(module, ".prep_data.conv1");
    qp_module mix = qp_jpegai_module(module, ".prep_data.conv2");
    qp_module project = qp_jpegai_module(module, ".attn.project_out");
    qp_jpegai_shape depthwise = {3, 1, 1, QP_JPEGAI_DEPTHWISE};
    uint32_t c = x.channels;

    qp_value y = layer_norm(j, x, module, ".prep_data.norm1");
    int64_t shift = qp_jpegai_shift(j, prep.text);
    y = qp_jpegai_c(j, y, prep.text, QP_JPEGAI_1X1, &shift);
    if (j->status == QP_OK && y.channels != (uint64_t)3 * c)
        qp_jpegai_refuse(j, "prep_data.conv1 of an attention does not give three times the "
                            "channels");
    y = qp_jpegai_c(j, y, mix.text, depthwise, &shift);
    qp_value q = slice(j, y, 0, c), k = slice(j, y, c, c), v = slice(j, y, 2 * c, c);
    q = with_word(j, "l2norm", q, EPSILON);
    k = with_word(j, "l2norm", k, EPSILON);
    y = temper(j, contract(j, "gram", q, k), module);
    if (j->status == QP_OK)
        y = qp_build_unary(&j->build, "softmax", y);
    y = contract(j, "apply", y, v);
    y = qp_jpegai_c(j, y, project.text, QP_JPEGAI_1X1, &shift);
    return qp_jpegai_add(j, x, y);
}

/* Steps 9 to 13. */
static qp_value feed_forward(qp_jpegai *j, qp_value x, const char *module)
{
    qp_module in = qp_jpegai_module(module, ".ffn.project_in");
    qp_module mix = qp_jpegai_module(module, ".ffn.dwconv");
    qp_module out = qp_jpegai_module(module, ".ffn.project_out");
    qp_jpegai_shape depthwise = {3, 1, 1, QP_JPEGAI_DEPTHWISE};

    qp_value y = layer_norm(j, x, module, ".ffn.norm1");
    int64_t shift = qp_jpegai_shift(j, in.text);
    y = qp_jpegai_c(j, y, in.text, QP_JPEGAI_1X1, &shift);
    if (j->status == QP_OK && y.channels % 2 != 0)
        qp_jpegai_refuse(j, "ffn.project_in of an attention gives an odd count of channels");
    y = qp_jpegai_c(j, y, mix.text, depthwise, &shift);
    uint32_t h = y.channels / 2;
    qp_value a = slice(j, y, 0, h), b = slice(j, y, h, h);
    a = with_word(j, "elu", a, QP_Q16_ONE);
    y = qp_jpegai_mul(j, a, b);
    y = qp_jpegai_c(j, y, out.text, QP_JPEGAI_1X1, &shift);
    return qp_jpegai_add(j, x, y);
}

qp_value qp_jpegai_tab(qp_jpegai *j, qp_value x, const char *module)
{
    if (j->status == QP_OK && x.channels % ATTENTION_GROUPS != 0)
        qp_jpegai_refuse(j, "an attention reads channels that are no multiple of 4");
    return feed_forward(j, attention(j, x, module), module);
}
