/* SPDX-License-Identifier: Apache-2.0 */
/* random_graph.c - random graphs that load. */
#include "support/random_graph.h"

#include "graph/writer.h"
#include "support/test.h"

enum {
    OPERATORS_MAX = 10,
    TENSORS_MAX = OPERATORS_MAX * 8 + 4, /* an operator has at most 4 on a side */
    INPUTS_MAX = OPERATORS_MAX * 4 + 4,
    ELEMENTS_MAX = 4096, /* of a tensor that an operator enlarges */
    VALUES_MAX = 65536   /* of lut16's table, the largest array of parameters */
};

typedef struct tensor {
    qp_shape shape;
    int8_t exponent;
    bool narrow; /* its range lies in lut16's */
} tensor;

typedef struct maker {
    uint64_t seed;
    qp_graph_writer writer;
    tensor tensors[TENSORS_MAX];
    qp_graph_tensor_record records[TENSORS_MAX];
    uint32_t n_tensors;
    uint32_t inputs[INPUTS_MAX];
    uint32_t n_inputs;
    bool sized;
    int64_t values[VALUES_MAX];
} maker;

/* One operator: what it reads and writes. */
typedef struct choice {
    const qp_operator *op;
    uint32_t in[4], n_in;
    qp_shape out[4];
    int8_t exponent; /* of the outputs */
} choice;

static uint32_t below(maker *m, uint32_t limit)
{
    return test_below(&m->seed, limit);
}

static uint32_t from_to(maker *m, uint32_t lo, uint32_t hi)
{
    return lo + below(m, hi - lo + 1);
}

static bool one_in(maker *m, uint32_t n)
{
    return below(m, n) == 0;
}

/* ---- tensors ------------------------------------------------------------------------------ */

static int8_t random_exponent(maker *m)
{
    static const int8_t some[] = {QP_EXPONENT_NONE, QP_EXPONENT_NONE, -127, -1, 0, 7, 127};
    return some[below(m, TEST_COUNT(some))];
}

static uint32_t add_tensor(maker *m, qp_shape shape, int8_t exponent, qp_policy policy)
{
    qp_graph_tensor_record *record = &m->records[m->n_tensors];
    *record = (qp_graph_tensor_record){
        .channels = shape.channels, .exponent = exponent, .policy = policy};
    if (policy != QP_DERIVED) {
        record->hi = policy == QP_CHECK ? INT64_MAX : test_between(&m->seed, 0, 32767);
        record->lo = policy == QP_CHECK ? INT64_MIN : test_between(&m->seed, -32767, 0);
    }
    m->tensors[m->n_tensors] = (tensor){shape, exponent, policy == QP_CLAMP};
    return m->n_tensors++;
}

static uint32_t new_input(maker *m, qp_shape shape)
{
    uint32_t t = add_tensor(m, shape, random_exponent(m), QP_CLAMP);
    if (one_in(m, 2))
        m->records[t].policy = QP_CHECK; /* with the range of the clamp */
    m->inputs[m->n_inputs++] = t;
    return t;
}

static qp_shape random_shape(maker *m)
{
    return (qp_shape){from_to(m, 1, 6), from_to(m, 1, 6), from_to(m, 1, 6)};
}

/* A tensor that there is, or now and then a new input. */
static uint32_t pick(maker *m)
{
    return one_in(m, 6) ? new_input(m, random_shape(m)) : below(m, m->n_tensors);
}

/* One more tensor of the shape of `t`, and its exponent where that is asked for. */
static uint32_t pick_like(maker *m, uint32_t t, bool exponent)
{
    uint32_t start = below(m, m->n_tensors);
    for (uint32_t i = 0; i < m->n_tensors; i++) {
        uint32_t other = (start + i) % m->n_tensors;
        if (memcmp(&m->tensors[other].shape, &m->tensors[t].shape, sizeof(qp_shape)) == 0 &&
            (!exponent || m->tensors[other].exponent == m->tensors[t].exponent))
            return other;
    }
    return t;
}

static uint32_t random_scalar(maker *m, int64_t lo, int64_t hi)
{
    return qp_writer_scalar(&m->writer, lo, hi);
}

/* ---- parameters --------------------------------------------------------------------------- */

/* Mostly small values; now and then one of the whole width. */
static void fill_values(maker *m, size_t count, unsigned width)
{
    int64_t hi = INT64_MAX >> (64 - 8 * width);
    for (size_t i = 0; i < count; i++)
        m->values[i] =
            one_in(m, 50) ? test_between(&m->seed, -hi - 1, hi) : test_between(&m->seed, -99, 99);
}

static void put_values(maker *m, qp_buffer *b, size_t count, unsigned width)
{
    fill_values(m, count, width);
    qp_writer_integers(b, m->values, count, width);
}

static void put_u32(qp_buffer *b, uint32_t value)
{
    qp_buffer_le(b, value, 4);
}

static unsigned wide(maker *m)
{
    return one_in(m, 2) ? 4 : 8;
}

static void put_rq(maker *m, qp_buffer *b, uint32_t channels, unsigned admits)
{
    int64_t mult[64], shift[64], bias[64];
    uint32_t kinds = (admits & QP_RQ_PER_CHANNEL) != 0 ? 2 : 1;
    qp_rq_values rq = {.round = (qp_round)below(m, 3),
                       .shift_kind = (qp_kind)from_to(m, 1, kinds),
                       .mult = mult,
                       .shift = shift,
                       .bias = bias,
                       .channels = channels};
    assert_true(channels <= TEST_COUNT(mult));
    if ((admits & QP_RQ_BIAS) != 0)
        rq.bias_place = (qp_bias_place)below(m, 3);
    if ((admits & QP_RQ_MULT) != 0)
        rq.mult_kind = (qp_kind)below(m, kinds + 1);
    rq.mult_width = rq.mult_kind == QP_KIND_ABSENT ? 0 : wide(m);
    rq.bias_width = rq.bias_place == QP_BIAS_NONE ? 0 : wide(m);
    for (uint32_t c = 0; c < channels; c++) {
        mult[c] = test_between(&m->seed, -1000, 1000);
        bias[c] = test_between(&m->seed, -1000, 1000);
        shift[c] = one_in(m, 20) ? QP_SHIFT_MAX : below(m, 20);
    }
    qp_writer_rq(b, &rq);
}

/* ---- operators ---------------------------------------------------------------------------- */

/* Begins the operator's record, its outputs made; returns where its parameters go. */
static qp_buffer *begin(maker *m, const choice *c)
{
    uint32_t out[4];
    for (uint32_t k = 0; k < c->op->n_out; k++)
        out[k] = add_tensor(m, c->out[k], c->exponent, (qp_policy)below(m, 3));
    return qp_writer_begin_operator(&m->writer, c->op->opcode, c->in, c->n_in, out, c->op->n_out);
}

typedef void make_fn(maker *m, choice *c);

/* Operators whose output has the shape of their first input. */
static void make_plain(maker *m, choice *c)
{
    begin(m, c);
}

static void make_rescale(maker *m, choice *c)
{
    put_rq(m, begin(m, c), c->out[0].channels, QP_RQ_ANY);
}

static void make_conv(maker *m, choice *c)
{
    qp_shape in = c->out[0];
    uint32_t groups = one_in(m, 3) ? in.channels : 1;
    uint32_t cout = groups * from_to(m, 1, 2), ph = below(m, 3), pw = below(m, 3);
    uint32_t kh = from_to(m, 1, in.height < 3 ? in.height : 3);
    uint32_t kw = from_to(m, 1, in.width < 3 ? in.width : 3);
    uint32_t sh = from_to(m, 1, 2), sw = from_to(m, 1, 2);
    uint32_t head[] = {cout, kh, kw, sh, sw, ph, pw, groups};
    unsigned width = 1u << below(m, 4);

    c->out[0] =
        (qp_shape){cout, (in.height + 2 * ph - kh) / sh + 1, (in.width + 2 * pw - kw) / sw + 1};
    qp_buffer *b = begin(m, c);
    for (size_t i = 0; i < TEST_COUNT(head); i++)
        put_u32(b, head[i]);
    put_u32(b, width); /* and three reserved bytes */
    put_rq(m, b, cout, QP_RQ_ANY);
    put_values(m, b, (size_t)cout * (in.channels / groups) * kh * kw, width);
}

/* Stride and kernel keep every output within ELEMENTS_MAX: a side grows by at most 2s + 2. */
static void make_conv_transpose(maker *m, choice *c)
{
    qp_shape in = c->out[0];
    uint32_t cout = from_to(m, 1, 4), kh = from_to(m, 1, 3), kw = from_to(m, 1, 3);
    uint32_t head[] = {cout, kh, kw, 2, 1, 0, 0, below(m, 2), below(m, 2)};
    unsigned width = 1u << below(m, 4);

    c->out[0] = (qp_shape){cout, (in.height - 1) * 2 + kh + head[7], in.width - 1 + kw + head[8]};
    qp_buffer *b = begin(m, c);
    for (size_t i = 0; i < TEST_COUNT(head); i++)
        put_u32(b, head[i]);
    put_u32(b, width);
    put_rq(m, b, cout, QP_RQ_ANY);
    put_values(m, b, (size_t)in.channels * cout * kh * kw, width);
}

static void make_chscale(maker *m, choice *c)
{
    uint32_t rows = from_to(m, 1, 4), scalar = random_scalar(m, 0, rows - 1);
    unsigned width = wide(m);
    qp_buffer *b = begin(m, c);
    put_u32(b, scalar);
    put_u32(b, rows);
    qp_buffer_le(b, below(m, 3), 1);
    qp_buffer_le(b, width, 1);
    qp_buffer_le(b, below(m, 30), 1);
    qp_writer_zeros(b, 1);
    put_values(m, b, (size_t)rows * c->out[0].channels, width);
}

static void make_lut16(maker *m, choice *c)
{
    if (!m->tensors[c->in[0]].narrow)
        c->in[0] = new_input(m, c->out[0]);
    qp_buffer *b = begin(m, c);
    qp_buffer_le(b, (uint64_t)m->tensors[c->in[0]].exponent, 1);
    qp_buffer_le(b, (uint64_t)c->exponent, 1);
    qp_writer_zeros(b, 2);
    fill_values(m, VALUES_MAX, 2);
    m->values[0] = 0;
    qp_writer_integers(b, m->values, VALUES_MAX, 2);
}

static void make_add(maker *m, choice *c)
{
    c->in[c->n_in++] = pick_like(m, c->in[0], true);
    c->exponent = m->tensors[c->in[0]].exponent;
    begin(m, c);
}

static void make_concat(maker *m, choice *c)
{
    uint32_t more = from_to(m, 1, 3);
    c->exponent = m->tensors[c->in[0]].exponent;
    for (uint32_t i = 0; i < more; i++)
        c->in[c->n_in++] = pick_like(m, c->in[0], true);
    if (c->out[0].channels * c->n_in > 32) /* few channels, for put_rq and the size of a graph */
        c->n_in = 2;
    c->out[0].channels *= c->n_in;
    begin(m, c);
}

static void make_chunk_add(maker *m, choice *c)
{
    if (c->out[0].channels % 2 != 0) {
        c->out[0].channels++;
        c->in[0] = new_input(m, c->out[0]);
    }
    c->exponent = m->tensors[c->in[0]].exponent;
    c->out[0].channels /= 2;
    begin(m, c);
}

static void make_split(maker *m, choice *c)
{
    uint32_t count = from_to(m, 1, c->out[0].channels);
    uint32_t start = below(m, c->out[0].channels - count + 1);
    c->out[0].channels = count;
    qp_buffer *b = begin(m, c);
    put_u32(b, start);
    put_u32(b, count);
}

static void make_pixel_shuffle(maker *m, choice *c)
{
    uint32_t r = c->out[0].channels % 4 == 0 ? 2 : 1;
    c->out[0] = (qp_shape){c->out[0].channels / (r * r), c->out[0].height * r, c->out[0].width * r};
    put_u32(begin(m, c), r);
}

static void make_pixel_unshuffle(maker *m, choice *c)
{
    qp_shape *s = &c->out[0];
    uint32_t r = s->height % 2 == 0 && s->width % 2 == 0 && s->channels <= 8 ? 2 : 1;
    *s = (qp_shape){s->channels * r * r, s->height / r, s->width / r};
    put_u32(begin(m, c), r);
}

static void make_clamp(maker *m, choice *c)
{
    qp_buffer *b = begin(m, c);
    qp_buffer_le(b, (uint64_t)test_between(&m->seed, INT64_MIN, 0), 8);
    qp_buffer_le(b, (uint64_t)test_between(&m->seed, 0, INT64_MAX), 8);
}

static void make_leaky(maker *m, choice *c)
{
    qp_buffer *b = begin(m, c);
    qp_buffer_le(b, (uint64_t)test_between(&m->seed, -99, 99), 8);
    put_u32(b, below(m, 64));
}

static void make_pad_rep(maker *m, choice *c)
{
    uint32_t side = from_to(m, 1, 4);
    c->out[0].height = (c->out[0].height + side - 1) / side * side;
    c->out[0].width = (c->out[0].width + side - 1) / side * side;
    put_u32(begin(m, c), side);
}

static void make_crop_to(maker *m, choice *c)
{
    c->in[c->n_in++] = pick_like(m, c->in[0], false);
    begin(m, c);
}

static void make_mul(maker *m, choice *c)
{
    qp_shape one = c->out[0];
    one.channels = 1;
    c->in[c->n_in++] = one_in(m, 3) ? new_input(m, one) : pick_like(m, c->in[0], false);
    put_rq(m, begin(m, c), c->out[0].channels, QP_RQ_MULT | QP_RQ_PER_CHANNEL);
}

static void make_igdn(maker *m, choice *c)
{
    size_t channels = c->out[0].channels;
    unsigned width = wide(m);
    qp_buffer *b = begin(m, c);
    put_u32(b, below(m, 8));
    put_u32(b, below(m, 8));
    qp_buffer_le(b, width, 8); /* and seven reserved bytes */
    put_values(m, b, channels * channels, width);
    put_values(m, b, channels, 8);
}

static void put_operand(qp_buffer *b, bool scalar, uint64_t value, unsigned width)
{
    qp_buffer_le(b, scalar, width); /* and the reserved bytes */
    qp_buffer_le(b, value, width);
}

/* A window whose sides are constants, its starts constants or scalars. */
static void make_crop(maker *m, choice *c)
{
    uint32_t h = from_to(m, 1, c->out[0].height), w = from_to(m, 1, c->out[0].width);
    uint32_t y0 = below(m, c->out[0].height - h + 1), x0 = below(m, c->out[0].width - w + 1);
    bool scalar = one_in(m, 2);
    if (scalar)
        x0 = random_scalar(m, 0, c->out[0].width - w);
    c->out[0].height = h;
    c->out[0].width = w;
    qp_buffer *b = begin(m, c);
    put_operand(b, false, y0, 4);
    put_operand(b, scalar, x0, 4);
    put_operand(b, false, h, 4);
    put_operand(b, false, w, 4);
}

static void put_order(maker *m, qp_buffer *b)
{
    uint8_t order[4] = {0, 1, 2, 3};
    for (uint32_t i = 3; i > 0; i--) {
        uint32_t k = below(m, i + 1);
        uint8_t kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    qp_buffer_append(b, order, 4);
}

static void make_subpos_split(maker *m, choice *c)
{
    qp_shape half = c->out[0];
    if (half.height % 2 != 0 || half.width % 2 != 0) {
        half.height += half.height % 2;
        half.width += half.width % 2;
        c->in[0] = new_input(m, half);
    }
    half.height /= 2;
    half.width /= 2;
    for (unsigned k = 0; k < 4; k++)
        c->out[k] = half;
    put_order(m, begin(m, c));
}

static void make_subpos_merge(maker *m, choice *c)
{
    while (c->n_in < 4)
        c->in[c->n_in++] = pick_like(m, c->in[0], false);
    c->out[0].height *= 2;
    c->out[0].width *= 2;
    put_order(m, begin(m, c));
}

static void make_fill(maker *m, choice *c)
{
    bool scalar = one_in(m, 2);
    int64_t value = test_between(&m->seed, -99, 99);
    if (scalar)
        value = random_scalar(m, -99, 99);
    put_operand(begin(m, c), scalar, (uint64_t)value, 8);
}

static void make_layernorm_c(maker *m, choice *c)
{
    unsigned width = wide(m);
    qp_buffer *b = begin(m, c);
    qp_buffer_le(b, one_in(m, 4) ? UINT64_MAX : from_to(m, 1, 9), 8);
    qp_buffer_le(b, width, 8);
    put_values(m, b, c->out[0].channels, width);
    put_values(m, b, c->out[0].channels, 8);
}

static void make_l2norm(maker *m, choice *c)
{
    qp_buffer_le(begin(m, c), one_in(m, 4) ? UINT64_MAX : from_to(m, 1, 9), 8);
}

static void make_elu(maker *m, choice *c)
{
    qp_buffer_le(begin(m, c), (uint64_t)test_between(&m->seed, -99, 99), 8);
}

static void put_contraction(maker *m, const choice *c, uint32_t groups)
{
    qp_buffer *b = begin(m, c);
    put_u32(b, groups);
    put_rq(m, b, 1, 0);
}

static void make_gram(maker *m, choice *c)
{
    uint32_t groups = one_in(m, 2) ? c->out[0].channels : 1;
    c->in[c->n_in++] = pick_like(m, c->in[0], false);
    c->out[0].height = 1;
    c->out[0].width = c->out[0].channels / groups;
    put_contraction(m, c, groups);
}

static void make_apply(maker *m, choice *c)
{
    uint32_t groups = one_in(m, 2) ? c->out[0].channels : 1;
    c->in[c->n_in++] = c->in[0];
    c->in[0] = new_input(m, (qp_shape){c->out[0].channels, 1, c->out[0].channels / groups});
    put_contraction(m, c, groups);
}

static const struct {
    const char *name;
    make_fn *make;
} makers[QP_OPERATOR_COUNT] = {
    {"conv", make_conv},
    {"rescale", make_rescale},
    {"chscale", make_chscale},
    {"lut16", make_lut16},
    {"add", make_add},
    {"concat", make_concat},
    {"chunk_add", make_chunk_add},
    {"split", make_split},
    {"pixel_shuffle", make_pixel_shuffle},
    {"pixel_unshuffle", make_pixel_unshuffle},
    {"clamp", make_clamp},
    {"relu", make_plain},
    {"leaky", make_leaky},
    {"pad_rep", make_pad_rep},
    {"crop_to", make_crop_to},
    {"mul", make_mul},
    {"conv_transpose", make_conv_transpose},
    {"igdn", make_igdn},
    {"abs", make_plain},
    {"crop", make_crop},
    {"subpos_split", make_subpos_split},
    {"subpos_merge", make_subpos_merge},
    {"fill", make_fill},
    {"layernorm_c", make_layernorm_c},
    {"l2norm", make_l2norm},
    {"softmax", make_plain},
    {"sigmoid", make_plain},
    {"elu", make_elu},
    {"gram", make_gram},
    {"apply", make_apply},
};

static void make_operator(maker *m, const qp_operator *op)
{
    choice c = {.op = op, .n_in = 1};
    size_t k = 0;
    while (strcmp(makers[k].name, op->name) != 0)
        k++;
    c.in[0] = pick(m);
    if (qp_shape_elements(&m->tensors[c.in[0]].shape) > ELEMENTS_MAX / 4 ||
        m->tensors[c.in[0]].shape.channels > 16)
        c.in[0] = new_input(m, random_shape(m));
    c.exponent = random_exponent(m);
    for (unsigned i = 0; i < 4; i++)
        c.out[i] = m->tensors[c.in[0]].shape;
    makers[k].make(m, &c);
    qp_writer_end_operator(&m->writer);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* An input's record: a state, now and then, where an output has its channels. */
static void put_input(maker *m, uint32_t index, const uint32_t *outputs, uint32_t n_outputs)
{
    uint32_t t = m->inputs[index];
    qp_graph_input_record input = {.tensor = t};
    uint32_t src = below(m, n_outputs);
    if (m->sized) {
        input.max_h = m->tensors[t].shape.height;
        input.max_w = m->tensors[t].shape.width;
    }
    if (index > 0 && m->records[outputs[src]].channels == m->records[t].channels) {
        input.state = true;
        input.src = src;
        input.init = test_between(&m->seed, m->records[t].lo, m->records[t].hi);
    }
    qp_writer_input(&m->writer, &input);
}

static void put_tables(maker *m)
{
    uint32_t outputs[3], n_outputs = from_to(m, 1, 3);
    for (uint32_t i = 0; i < n_outputs; i++) {
        outputs[i] = i == 0 ? m->n_tensors - 1 : below(m, m->n_tensors);
        qp_writer_output(&m->writer, outputs[i]);
    }
    for (uint32_t i = 0; i < m->n_inputs; i++)
        put_input(m, i, outputs, n_outputs);
    for (uint32_t t = 0; t < m->n_tensors; t++)
        qp_writer_tensor(&m->writer, &m->records[t]);
}

void test_random_graph_of(const qp_operator *op, uint64_t seed, qp_buffer *bytes)
{
    maker *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->seed = seed;
    qp_graph_writer_init(&m->writer, NULL);
    m->sized = op->needs_sizes || !one_in(m, 3);
    new_input(m, random_shape(m));
    make_operator(m, op);
    for (uint32_t n = below(m, OPERATORS_MAX); n > 0; n--) {
        const qp_operator *next = qp_operators[below(m, QP_OPERATOR_COUNT)];
        if (m->sized || !next->needs_sizes)
            make_operator(m, next);
    }
    put_tables(m);
    assert_int_equal(qp_graph_writer_finish(&m->writer, QP_ELEMENTS_MAX, bytes, NULL), QP_OK);
    qp_graph_writer_free(&m->writer);
    free(m);
}

void test_random_graph(uint64_t seed, qp_buffer *bytes)
{
    uint64_t choice_seed = ~seed;
    test_random_graph_of(qp_operators[test_below(&choice_seed, QP_OPERATOR_COUNT)], seed, bytes);
}
