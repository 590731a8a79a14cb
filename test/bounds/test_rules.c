/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rules.c - the rules of integer-operators.md section 8.3 that the library computes from a few
 * sums, against the text's folds term by term with saturation after each operation.
 */
#include "support/one_operator.h"

#include <string.h>

enum {
    CONV = 0x01,
    RESCALE,
    CHSCALE,
    MUL = 0x10,
    CONV_TRANSPOSE,
    IGDN,
    LAYERNORM_C = 0x18,
    GRAM = 0x1D,
    APPLY,
    WEIGHTS_MAX = 4096
};

/* What a rule gives, from the text. */
typedef struct expected {
    qp_interval interval[QP_INTERMEDIATE_COUNT];
    bool present[QP_INTERMEDIATE_COUNT];
    qp_interval result;
    bool has_result, saturated;
} expected;

static void record(expected *x, qp_intermediate key, qp_interval interval)
{
    x->interval[key] = x->present[key] ? qp_interval_hull(x->interval[key], interval) : interval;
    x->present[key] = true;
}

static void result(expected *x, qp_interval interval)
{
    x->result = x->has_result ? qp_interval_hull(x->result, interval) : interval;
    x->has_result = true;
}

/* ---- section 2 and 8.2 as they are written ------------------------------------------------ */

static qp_bound integer(int64_t v)
{
    return qp_bound_from_i64(v);
}

static qp_bound round_text(qp_bound p, unsigned s, qp_round round, bool *sat)
{
    if (s == 0)
        return p;
    qp_bound q = qp_bound_floor_divide(p, qp_bound_power(s)), h = qp_bound_power(s - 1);
    if (round == QP_ROUND_FLOOR)
        return q;
    if (round == QP_ROUND_HALF_UP)
        return qp_bound_floor_divide(qp_bound_add(p, h, sat), qp_bound_power(s));
    qp_bound r = qp_bound_sub(p, qp_bound_mul(q, qp_bound_power(s), sat), sat);
    int order = qp_bound_compare(&r, &h);
    bool odd = (q.magnitude[0] & 1) != 0;
    return order > 0 || (order == 0 && odd) ? qp_bound_add(q, integer(1), sat) : q;
}

static qp_interval ordered(qp_bound a, qp_bound b)
{
    return (qp_interval){qp_bound_min(a, b), qp_bound_max(a, b)};
}

/* The term interval of a weight. */
static qp_interval term(int64_t w, const qp_interval *in, bool *sat)
{
    return ordered(qp_bound_mul(integer(w), in->lo, sat), qp_bound_mul(integer(w), in->hi, sat));
}

/* A(K, b): begins with the bias, then adds a term at a time. */
static qp_interval sum_begin(int64_t b)
{
    return (qp_interval){qp_bound_min(integer(0), integer(b)),
                         qp_bound_max(integer(0), integer(b))};
}

static void sum_add(qp_interval *a, qp_interval t, bool *sat)
{
    a->lo = qp_bound_add(a->lo, qp_bound_min(integer(0), t.lo), sat);
    a->hi = qp_bound_add(a->hi, qp_bound_max(integer(0), t.hi), sat);
}

static void rq_text(expected *x, qp_interval t, int64_t m, unsigned s, qp_round round, int64_t post)
{
    bool *sat = &x->saturated;
    qp_interval p = term(m, &t, sat), with_addend = p;
    if (round != QP_ROUND_FLOOR && s >= 1)
        with_addend.hi = qp_bound_add(p.hi, qp_bound_power(s - 1), sat);
    qp_interval q = {round_text(p.lo, s, round, sat), round_text(p.hi, s, round, sat)};
    qp_interval y = {qp_bound_add(q.lo, integer(post), sat),
                     qp_bound_add(q.hi, integer(post), sat)};
    record(x, QP_RQ_T, t);
    record(x, QP_RQ_P, with_addend);
    record(x, QP_RQ_Q, q);
    record(x, QP_RQ_Y, y);
    result(x, y);
}

/* ---- random parameters -------------------------------------------------------------------- */

static int64_t extreme_i64(uint64_t *seed)
{
    switch (test_below(seed, 6)) {
    case 0:
        return INT64_MIN;
    case 1:
        return INT64_MAX;
    case 2:
        return 0;
    case 3:
        return test_between(seed, -3, 3);
    default:
        return test_between(seed, INT64_MIN, INT64_MAX) >> test_below(seed, 63);
    }
}

static qp_bound extreme_bound(uint64_t *seed)
{
    static const unsigned powers[] = {0, 7, 31, 62, 63, 64, 100, 127, 128, 191, 192, 253, 254, 255};
    bool unused = false;
    qp_bound v = qp_bound_power(powers[test_below(seed, (uint32_t)TEST_COUNT(powers))]);
    if (test_below(seed, 4) == 0)
        v = integer(extreme_i64(seed));
    else
        v = qp_bound_sub(v, integer(test_below(seed, 2)), &unused);
    return test_below(seed, 2) ? qp_bound_negate(v) : v;
}

static qp_interval extreme_interval(uint64_t *seed)
{
    if (test_below(seed, 3) == 0) /* what a graph input can declare */
        return ordered(integer(extreme_i64(seed)), integer(extreme_i64(seed)));
    return ordered(extreme_bound(seed), extreme_bound(seed));
}

enum { CHANNELS_MAX = 3 };

typedef struct random_rq {
    int64_t mult[CHANNELS_MAX], shift[CHANNELS_MAX], bias[CHANNELS_MAX];
    qp_rq_values values;
} random_rq;

static void make_rq(uint64_t *seed, uint32_t channels, random_rq *rq)
{
    for (size_t c = 0; c < CHANNELS_MAX; c++) {
        rq->mult[c] = extreme_i64(seed);
        rq->shift[c] = test_below(seed, 128);
        rq->bias[c] = extreme_i64(seed);
    }
    rq->values = (qp_rq_values){
        .round = (qp_round)test_below(seed, 3),
        .bias_place = (qp_bias_place)test_below(seed, 3),
        .mult_kind = (qp_kind)test_below(seed, 3),
        .shift_kind = (qp_kind)(1 + test_below(seed, 2)),
        .mult = rq->mult,
        .shift = rq->shift,
        .bias = rq->bias,
        .channels = channels,
    };
    rq->values.mult_width = rq->values.mult_kind == QP_KIND_ABSENT ? 0 : 8;
    rq->values.bias_width = rq->values.bias_place == QP_BIAS_NONE ? 0 : 8;
}

static int64_t of_kind(qp_kind kind, const int64_t *values, uint32_t channel, int64_t absent)
{
    return kind == QP_KIND_ABSENT ? absent : values[kind == QP_KIND_ONE ? 0 : channel];
}

static int64_t bias_at(const qp_rq_values *rq, qp_bias_place place, uint32_t channel)
{
    return rq->bias_place == place ? rq->bias[channel] : 0;
}

static void rq_of_channel(expected *x, qp_interval t, const qp_rq_values *rq, uint32_t channel)
{
    rq_text(x, t, of_kind(rq->mult_kind, rq->mult, channel, 1),
            (unsigned)of_kind(rq->shift_kind, rq->shift, channel, 0), rq->round,
            bias_at(rq, QP_BIAS_POST, channel));
}

/* ---- comparing ---------------------------------------------------------------------------- */

static bool same(const qp_interval *a, const qp_interval *b)
{
    return qp_bound_compare(&a->lo, &b->lo) == 0 && qp_bound_compare(&a->hi, &b->hi) == 0;
}

static void hold(const test_operator *op, const qp_interval *in, const expected *x)
{
    test_run run = test_load(op);
    const qp_node *node = &run.graph->nodes[0];
    qp_node_bounds found;

    qp_bounds_node(run.graph, node, in, &found);
    for (unsigned key = 0; key < QP_INTERMEDIATE_COUNT; key++) {
        const qp_interval *interval = qp_bounds_find(&found, (qp_intermediate)key);
        if ((interval != NULL) != x->present[key] ||
            (interval != NULL && !same(interval, &x->interval[key])))
            fail_msg("%s: %s differs", node->op->name, qp_intermediate_name((qp_intermediate)key));
    }
    assert_true(found.has_result[0] && same(&found.result[0], &x->result));
    assert_int_equal(found.saturated, x->saturated);
    assert_int_equal(found.n_recorded, node->op->n_intermediates);
    test_run_free(&run);
}

static const qp_shape unit = {1, 1, 1};

/* ---- the rules ---------------------------------------------------------------------------- */

static void test_conv(void **state)
{
    static int64_t weights[WEIGHTS_MAX];
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t groups = 1 + test_below(&seed, 2), cg = 1 + test_below(&seed, 3);
        uint32_t cout = groups, k = 1 + test_below(&seed, 3), taps = cg * k * k;
        qp_interval in = extreme_interval(&seed);
        random_rq rq;
        expected x = {0};

        make_rq(&seed, cout, &rq);
        for (uint32_t o = 0; o < cout; o++) {
            qp_interval acc = sum_begin(bias_at(&rq.values, QP_BIAS_PRE, o));
            for (uint32_t t = 0; t < taps; t++) {
                weights[o * taps + t] = extreme_i64(&seed);
                qp_interval one = term(weights[o * taps + t], &in, &x.saturated);
                record(&x, QP_CONV_TERM, one);
                sum_add(&acc, one, &x.saturated);
            }
            record(&x, QP_CONV_ACC, acc);
            rq_of_channel(&x, acc, &rq.values, o);
        }
        test_operator op = test_operator_make(CONV);
        test_operator_input(&op, (qp_shape){cg * groups, k, k}, 0, 0, NULL);
        test_operator_output(&op, cout);
        TEST_U32(&op, cout, k, k, 1, 1, 0, 0, groups, 8);
        qp_writer_rq(&op.params, &rq.values);
        qp_writer_integers(&op.params, weights, cout * taps, 8);
        hold(&op, &in, &x);
        test_operator_free(&op);
    }
}

typedef struct transpose {
    uint32_t cin, cout, kh, kw, sh, sw;
    const int64_t *weights;
} transpose;

/* A(K_rho, b) over the taps of one residue. */
static qp_interval residue_sum(const transpose *p, uint32_t o, uint32_t ry, uint32_t rx, int64_t b,
                               const qp_interval *in, bool *sat)
{
    qp_interval acc = sum_begin(b);
    for (uint32_t ci = 0; ci < p->cin; ci++)
        for (uint32_t i = 0; i < p->kh; i++)
            for (uint32_t j = 0; j < p->kw; j++)
                if (i % p->sh == ry && j % p->sw == rx) {
                    size_t at = ((ci * p->cout + o) * p->kh + i) * (size_t)p->kw + j;
                    sum_add(&acc, term(p->weights[at], in, sat), sat);
                }
    return acc;
}

static void transpose_text(const transpose *p, const qp_rq_values *rq, const qp_interval *in,
                           expected *x)
{
    for (uint32_t o = 0; o < p->cout; o++) {
        qp_interval acc = {{{0}, false}, {{0}, false}};
        int64_t b = bias_at(rq, QP_BIAS_PRE, o);
        for (uint32_t ci = 0; ci < p->cin; ci++)
            for (uint32_t t = 0; t < p->kh * p->kw; t++) {
                size_t at = (ci * p->cout + o) * (size_t)(p->kh * p->kw) + t;
                record(x, QP_CONVT_TERM, term(p->weights[at], in, &x->saturated));
            }
        for (uint32_t ry = 0; ry < p->sh; ry++)
            for (uint32_t rx = 0; rx < p->sw; rx++) {
                qp_interval one = residue_sum(p, o, ry, rx, b, in, &x->saturated);
                acc = ry + rx == 0 ? one : qp_interval_hull(acc, one);
            }
        record(x, QP_CONVT_ACC, acc);
        rq_of_channel(x, acc, rq, o);
    }
}

static void test_conv_transpose(void **state)
{
    static int64_t weights[WEIGHTS_MAX];
    uint64_t seed = 12;
    (void)state;
    for (int round = 0; round < 300; round++) {
        transpose p = {1 + test_below(&seed, 3),
                       1 + test_below(&seed, 2),
                       1 + test_below(&seed, 4),
                       1 + test_below(&seed, 4),
                       1 + test_below(&seed, 6),
                       1 + test_below(&seed, 6),
                       weights};
        size_t count = (size_t)p.cin * p.cout * p.kh * p.kw;
        qp_interval in = extreme_interval(&seed);
        random_rq rq;
        expected x = {0};

        make_rq(&seed, p.cout, &rq);
        for (size_t i = 0; i < count; i++)
            weights[i] = extreme_i64(&seed);
        transpose_text(&p, &rq.values, &in, &x);
        test_operator op = test_operator_make(CONV_TRANSPOSE);
        test_operator_input(&op, (qp_shape){p.cin, 1, 1}, 0, 0, NULL);
        test_operator_output(&op, p.cout);
        TEST_U32(&op, p.cout, p.kh, p.kw, p.sh, p.sw, 0, 0, 0, 0, 8);
        qp_writer_rq(&op.params, &rq.values);
        qp_writer_integers(&op.params, weights, count, 8);
        hold(&op, &in, &x);
        test_operator_free(&op);
    }
}

static void test_rescale(void **state)
{
    uint64_t seed = 13;
    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t channels = 1 + test_below(&seed, CHANNELS_MAX);
        qp_interval in = extreme_interval(&seed);
        random_rq rq;
        expected x = {0};

        make_rq(&seed, channels, &rq);
        for (uint32_t c = 0; c < channels; c++) {
            qp_bound pre = integer(bias_at(&rq.values, QP_BIAS_PRE, c));
            qp_interval t = {qp_bound_add(in.lo, pre, &x.saturated),
                             qp_bound_add(in.hi, pre, &x.saturated)};
            rq_of_channel(&x, t, &rq.values, c);
        }
        test_operator op = test_operator_make(RESCALE);
        test_operator_input(&op, (qp_shape){channels, 1, 1}, 0, 0, NULL);
        test_operator_output(&op, channels);
        qp_writer_rq(&op.params, &rq.values);
        hold(&op, &in, &x);
        test_operator_free(&op);
    }
}

static void test_chscale(void **state)
{
    uint64_t seed = 14;
    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t channels = 1 + test_below(&seed, 3), n_rows = 1 + test_below(&seed, 5);
        uint32_t first = test_below(&seed, n_rows),
                 last = first + test_below(&seed, n_rows - first);
        unsigned shift = test_below(&seed, 128), mode = test_below(&seed, 3);
        qp_interval in = extreme_interval(&seed);
        int64_t m[15];
        expected x = {0};

        for (size_t i = 0; i < TEST_COUNT(m); i++)
            m[i] = extreme_i64(&seed);
        for (uint32_t c = 0; c < channels; c++)
            for (uint32_t r = first; r <= last; r++)
                rq_text(&x, in, m[r * channels + c], shift, (qp_round)mode, 0);
        test_operator op = test_operator_make(CHSCALE);
        test_operator_input(&op, (qp_shape){channels, 1, 1}, 0, 0, NULL);
        test_operator_output(&op, channels);
        test_operator_scalar(&op, first, last, first);
        TEST_U32(&op, 0, n_rows, mode | 8 << 8 | shift << 16);
        qp_writer_integers(&op.params, m, (size_t)n_rows * channels, 8);
        hold(&op, &in, &x);
        test_operator_free(&op);
    }
}

static qp_bound root_of(qp_bound norm)
{
    return qp_bound_isqrt(qp_bound_max(integer(0), norm));
}

/* One output channel of igdn. */
static void igdn_text(expected *x, const qp_interval *in, const int64_t *gamma, int64_t beta,
                      uint32_t channels, const unsigned shifts[2])
{
    bool *sat = &x->saturated;
    qp_bound zero = integer(0);
    qp_bound l2 = qp_bound_mul(in->lo, in->lo, sat), h2 = qp_bound_mul(in->hi, in->hi, sat);
    bool around_zero =
        qp_bound_compare(&in->lo, &zero) <= 0 && qp_bound_compare(&zero, &in->hi) <= 0;
    qp_interval x2 = ordered(l2, h2);
    if (around_zero)
        x2.lo = zero;
    qp_interval norm = sum_begin(beta), final_norm = {integer(beta), integer(beta)};
    record(x, QP_IGDN_X2, x2);
    for (uint32_t j = 0; j < channels; j++) {
        qp_interval gx2 = term(gamma[j], &x2, sat);
        qp_interval t = {qp_bound_floor_divide(gx2.lo, qp_bound_power(shifts[0])),
                         qp_bound_floor_divide(gx2.hi, qp_bound_power(shifts[0]))};
        record(x, QP_IGDN_GX2, gx2);
        record(x, QP_IGDN_TERM, t);
        sum_add(&norm, t, sat);
        final_norm = qp_interval_add(final_norm, t, sat);
    }
    record(x, QP_IGDN_N, norm);
    qp_interval r = {root_of(final_norm.lo), root_of(final_norm.hi)};
    qp_interval xr = qp_interval_corners(*in, r, sat);
    record(x, QP_IGDN_R, r);
    record(x, QP_IGDN_XR, xr);
    result(x, (qp_interval){qp_bound_floor_divide(xr.lo, qp_bound_power(shifts[1])),
                            qp_bound_floor_divide(xr.hi, qp_bound_power(shifts[1]))});
}

static void test_igdn(void **state)
{
    uint64_t seed = 15;
    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t channels = 1 + test_below(&seed, 3);
        const unsigned shifts[2] = {test_below(&seed, 128), test_below(&seed, 128)};
        qp_interval in = extreme_interval(&seed);
        int64_t gamma[9], beta[3];
        expected x = {0};

        for (size_t i = 0; i < TEST_COUNT(gamma); i++)
            gamma[i] = extreme_i64(&seed);
        for (size_t i = 0; i < TEST_COUNT(beta); i++)
            beta[i] = extreme_i64(&seed);
        for (uint32_t i = 0; i < channels; i++)
            igdn_text(&x, &in, gamma + i * channels, beta[i], channels, shifts);
        test_operator op = test_operator_make(IGDN);
        test_operator_input(&op, (qp_shape){channels, 1, 1}, 0, 0, NULL);
        test_operator_output(&op, channels);
        TEST_U32(&op, shifts[0], shifts[1], 8, 0);
        qp_writer_integers(&op.params, gamma, (size_t)channels * channels, 8);
        qp_writer_integers(&op.params, beta, channels, 8);
        hold(&op, &in, &x);
        test_operator_free(&op);
    }
}

/* ---- rules over products of two tensors, and layernorm_c ---------------------------------- */

/* The corner hull as the text writes it. */
static qp_interval corners(const qp_interval *a, const qp_interval *b, bool *sat)
{
    qp_bound c[] = {qp_bound_mul(a->lo, b->lo, sat), qp_bound_mul(a->lo, b->hi, sat),
                    qp_bound_mul(a->hi, b->lo, sat), qp_bound_mul(a->hi, b->hi, sat)};
    return qp_interval_hull(ordered(c[0], c[1]), ordered(c[2], c[3]));
}

static qp_interval times(uint32_t count, qp_interval t, bool *sat)
{
    return (qp_interval){qp_bound_mul(integer(count), qp_bound_min(integer(0), t.lo), sat),
                         qp_bound_mul(integer(count), qp_bound_max(integer(0), t.hi), sat)};
}

static void test_products(void **state)
{
    uint64_t seed = 16;
    (void)state;
    for (int round = 0; round < 600; round++) {
        static const unsigned opcodes[] = {MUL, GRAM, APPLY};
        unsigned opcode = opcodes[round % 3], shift = test_below(&seed, 128);
        qp_round mode = (qp_round)test_below(&seed, 3);
        qp_interval in[2] = {extreme_interval(&seed), extreme_interval(&seed)};
        uint32_t groups = 1 + test_below(&seed, 2), d = 1 + test_below(&seed, 4);
        qp_shape a = {groups * d, 2, 3}, b = a;
        expected x = {0};

        qp_interval product = corners(&in[0], &in[1], &x.saturated), t = product;
        if (opcode == MUL) {
            record(&x, QP_MUL_P, product);
        } else {
            t = times(opcode == GRAM ? 6 : d, product, &x.saturated);
            record(&x, opcode == GRAM ? QP_GRAM_TERM : QP_APPLY_TERM, product);
            record(&x, opcode == GRAM ? QP_GRAM_ACC : QP_APPLY_ACC, t);
        }
        rq_text(&x, t, 1, shift, mode, 0);
        if (opcode == APPLY)
            a.height = 1, a.width = d;
        test_operator op = test_operator_make(opcode);
        test_operator_input(&op, a, 0, 0, NULL);
        test_operator_input(&op, b, 0, 0, NULL);
        test_operator_output(&op, groups * d);
        if (opcode != MUL)
            TEST_U32(&op, groups);
        test_plain_rq(&op, shift, mode);
        hold(&op, in, &x);
        test_operator_free(&op);
    }
}

static qp_interval around_zero(qp_bound magnitude)
{
    return (qp_interval){qp_bound_negate(magnitude), magnitude};
}

/* Section 8.3's row, member by member; C channels, gamma and beta per channel. */
static void layernorm_text(expected *x, qp_interval in, uint32_t channels, uint64_t epsilon,
                           const int64_t *gamma, const int64_t *beta)
{
    bool *sat = &x->saturated;
    qp_bound c = integer(channels), half = integer(channels / 2), e = qp_bound_from_u64(epsilon);
    qp_bound r0 = qp_bound_isqrt(e), r0_1 = qp_bound_add(r0, integer(1), sat);
    qp_bound root = qp_bound_isqrt_ceil(c), span = qp_bound_sub(in.hi, in.lo, sat);
    qp_bound span2 = qp_bound_mul(span, span, sat);
    qp_bound k = qp_bound_floor_divide(qp_bound_power(32), r0);
    qp_bound product = qp_bound_mul(span, k, sat);
    qp_bound over = qp_bound_mul(qp_bound_mul(root, qp_bound_power(32), sat), r0_1, sat);
    qp_bound ceiling = qp_bound_negate(qp_bound_floor_divide(qp_bound_negate(over), r0));
    qp_bound n_over = qp_bound_mul(qp_bound_mul(root, qp_bound_power(16), sat), r0_1, sat);
    qp_bound n_max = qp_bound_add(qp_bound_floor_divide(n_over, r0), integer(1), sat);
    qp_bound n_span = qp_bound_floor_divide(product, qp_bound_power(16));
    qp_interval n = around_zero(qp_bound_min(qp_bound_add(n_span, integer(1), sat), n_max));

    record(x, QP_LN_S, times(channels, in, sat));
    record(x, QP_LN_M,
           (qp_interval){qp_bound_sub(qp_bound_mul(c, in.lo, sat), half, sat),
                         qp_bound_add(qp_bound_mul(c, in.hi, sat), half, sat)});
    record(x, QP_LN_D, (qp_interval){qp_bound_sub(in.lo, in.hi, sat), span});
    record(x, QP_LN_T, (qp_interval){integer(0), qp_bound_mul(c, span2, sat)});
    record(x, QP_LN_V, (qp_interval){e, qp_bound_add(span2, e, sat)});
    record(x, QP_RSQ_NUM, (qp_interval){qp_bound_power(32), qp_bound_power(32)});
    record(x, QP_LN_K, (qp_interval){integer(0), k});
    record(x, QP_LN_DK, around_zero(qp_bound_min(product, ceiling)));
    record(x, QP_LN_N, n);
    for (uint32_t i = 0; i < channels; i++) {
        qp_interval g = {integer(gamma[i]), integer(gamma[i])}, ng = corners(&n, &g, sat);
        qp_interval q = {qp_bound_floor_divide(ng.lo, qp_bound_power(16)),
                         qp_bound_floor_divide(ng.hi, qp_bound_power(16))};
        record(x, QP_LN_NG, ng);
        result(x, (qp_interval){qp_bound_add(q.lo, integer(beta[i]), sat),
                                qp_bound_add(q.hi, integer(beta[i]), sat)});
    }
}

static void test_layernorm_c(void **state)
{
    uint64_t seed = 17;
    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t channels = 1 + test_below(&seed, 5);
        uint64_t epsilon = test_random(&seed) >> test_below(&seed, 64);
        qp_interval in = extreme_interval(&seed);
        int64_t gamma[5], beta[5];
        expected x = {0};

        epsilon += epsilon == 0;
        for (size_t i = 0; i < 5; i++) {
            gamma[i] = extreme_i64(&seed);
            beta[i] = extreme_i64(&seed);
        }
        layernorm_text(&x, in, channels, epsilon, gamma, beta);
        test_operator op = test_operator_make(LAYERNORM_C);
        test_operator_input(&op, (qp_shape){channels, 1, 1}, 0, 0, NULL);
        test_operator_output(&op, channels);
        qp_buffer_le(&op.params, epsilon, 8);
        TEST_U32(&op, 8, 0);
        qp_writer_integers(&op.params, gamma, channels, 8);
        qp_writer_integers(&op.params, beta, channels, 8);
        hold(&op, &in, &x);
        test_operator_free(&op);
    }
}

/* ---- the other rules, by hand ------------------------------------------------------------- */

typedef struct hand_rule {
    unsigned opcode;
    int64_t params[2];       /* i64 each */
    uint32_t n_params, more; /* then one u32 where `more` is not UINT32_MAX */
    int64_t lo, hi, result_lo, result_hi;
    qp_intermediate key;
    int64_t key_lo, key_hi;
} hand_rule;

enum {
    NO_KEY = QP_INTERMEDIATE_COUNT,
    CLAMP = 0x0B,
    RELU,
    LEAKY,
    ABS = 0x13,
    L2NORM = 0x19,
    SOFTMAX,
    SIGMOID,
    ELU
};

static const hand_rule hand_rules[] = {
    {CLAMP, {-3, 4}, 2, UINT32_MAX, -9, 9, -3, 4, (qp_intermediate)NO_KEY, 0, 0},
    {CLAMP, {-3, 4}, 2, UINT32_MAX, 6, 9, 4, 4, (qp_intermediate)NO_KEY, 0, 0},
    {RELU, {0}, 0, UINT32_MAX, -9, -5, 0, 0, (qp_intermediate)NO_KEY, 0, 0},
    {RELU, {0}, 0, UINT32_MAX, -9, 7, 0, 7, (qp_intermediate)NO_KEY, 0, 0},
    {ABS, {0}, 0, UINT32_MAX, -9, 7, 0, 9, (qp_intermediate)NO_KEY, 0, 0},
    {ABS, {0}, 0, UINT32_MAX, -9, -7, 7, 9, (qp_intermediate)NO_KEY, 0, 0},
    {LEAKY, {3}, 1, 2, -5, 7, -4, 7, QP_LEAKY_P, -15, -3},
    {LEAKY, {-3}, 1, 0, -5, -2, 6, 15, QP_LEAKY_P, 6, 15},
    {LEAKY, {3}, 1, 2, 0, 7, 0, 7, QP_LEAKY_P, 0, 0},
    {L2NORM, {4}, 1, UINT32_MAX, -5, 2, -65536, 65536, QP_L2_T, 0, 29},
    {L2NORM, {4}, 1, UINT32_MAX, -5, 2, -65536, 65536, QP_L2_K, 0, INT64_C(1) << 31},
    {L2NORM,
     {4},
     1,
     UINT32_MAX,
     -5,
     2,
     -65536,
     65536,
     QP_L2_VK,
     -(INT64_C(1) << 32),
     INT64_C(1) << 32},
    {SOFTMAX, {0}, 0, UINT32_MAX, -5, 2, 0, 65536, QP_SM_DIFF, -7, 0},
    {SOFTMAX, {0}, 0, UINT32_MAX, -5, 2, 0, 65536, QP_SM_SUM, 0, 65553},
    {SOFTMAX, {0}, 0, UINT32_MAX, -5, 2, 0, 65536, QP_SM_NUM, 0, 65553 * INT64_C(65536) + 32776},
    {SOFTMAX, {0}, 0, UINT32_MAX, -45426, 1, 0, 65536, QP_EXP_NL, 0, 45426},
    {SIGMOID, {0}, 0, UINT32_MAX, -5, 2, 0, 65536, QP_EXP_NEGX, 0, 5},
    {SIGMOID, {0}, 0, UINT32_MAX, 3, 9, 0, 65536, QP_EXP_NEGX, 3, 9},
    {SIGMOID,
     {0},
     0,
     UINT32_MAX,
     3,
     9,
     0,
     65536,
     QP_EXP_T2,
     INT64_C(43245) * 43245,
     INT64_C(88670) * 88670},
    {SIGMOID, {0}, 0, UINT32_MAX, 3, 9, 0, 65536, QP_EXP_C, 0, INT64_C(23495) * 119970},
    {SIGMOID, {0}, 0, UINT32_MAX, 3, 9, 0, 65536, QP_SIG_NUM, 0, 65553 * INT64_C(65536)},
    {ELU, {65536}, 1, UINT32_MAX, -5, 9, -65536, 17, QP_ELU_P, -(INT64_C(1) << 32), 17 * 65536},
    {ELU, {65536}, 1, UINT32_MAX, -5, 90, -65536, 90, QP_EXP_NEGX, 0, 5},
    {ELU, {65536}, 1, UINT32_MAX, 5, 9, 5, 9, QP_EXP_NEGX, 0, 0},
    {ELU, {-65536}, 1, UINT32_MAX, -9, -5, -17, 65536, QP_EXP_NEGX, 5, 9},
};

static void hold_by_hand(const hand_rule *rule)
{
    test_operator op = test_operator_make(rule->opcode);
    test_operator_input(&op, unit, rule->lo, rule->hi, NULL);
    test_operator_output(&op, 1);
    qp_writer_integers(&op.params, rule->params, rule->n_params, 8);
    if (rule->more != UINT32_MAX)
        TEST_U32(&op, rule->more);
    test_run run = test_load(&op);
    const qp_certified_node *node = &run.certificate->graphs[0].nodes[0];
    qp_interval expect = qp_interval_of(rule->result_lo, rule->result_hi);
    if (!same(&node->result[0], &expect))
        fail_msg("%s: the result differs", run.graph->nodes[0].op->name);
    expect = qp_interval_of(rule->key_lo, rule->key_hi);
    bool found = (unsigned)rule->key == NO_KEY;
    for (uint32_t i = 0; i < node->n_recorded; i++)
        if (node->recorded[i].key == rule->key) {
            found = true;
            if (!same(&node->recorded[i].interval, &expect))
                fail_msg("%s differs", qp_intermediate_name(rule->key));
        }
    assert_true(found);
    test_run_free(&run);
    test_operator_free(&op);
}

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(hand_rules); i++)
        hold_by_hand(&hand_rules[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),        cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_rescale),     cmocka_unit_test(test_chscale),
        cmocka_unit_test(test_igdn),        cmocka_unit_test(test_products),
        cmocka_unit_test(test_layernorm_c), cmocka_unit_test(test_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
