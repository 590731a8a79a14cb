/* SPDX-License-Identifier: Apache-2.0 */
/* convolution.c - rows in phases, and the multiply-add (integer-operators.md 5.2, 5.3). */
#include "op/convolution.h"

void qp_tensor_load_phases(const qp_tensor *tensor, size_t start, size_t stride, size_t length,
                           int64_t *values)
{
    for (size_t phase = 0; phase < stride && phase < length; phase++) {
        size_t count = (length - phase - 1) / stride + 1;
        qp_tensor_load(tensor, start + phase, stride, count, values);
        values += count;
    }
}

qp_conv_rows qp_conv_rows_at(const qp_conv *p, uint32_t height, uint32_t y)
{
    int64_t top = (int64_t)y * p->sh - p->ph; /* input row of tap row 0; below 2^59 */
    int64_t first = qp_max_i64(0, -top);
    int64_t end = qp_min_i64(p->kh, height - top);

    if (end <= first)
        return (qp_conv_rows){0, 0, 0};
    return (qp_conv_rows){(uint32_t)first, (uint32_t)(end - first), (uint32_t)(top + first)};
}

qp_conv_run qp_conv_run_at(const qp_conv *p, uint32_t width_in, uint32_t width_out, uint32_t j)
{
    int64_t sw = p->sw;
    int64_t left = (int64_t)j - p->pw; /* input column of output column 0 */
    int64_t first = left < 0 ? (-left + sw - 1) / sw : 0;
    int64_t end = left < width_in ? (width_in - 1 - left) / sw + 1 : 0;

    end = qp_min_i64(end, width_out);
    if (end <= first)
        return (qp_conv_run){0, 0, 0};
    size_t column = (size_t)(left + first * sw);
    return (qp_conv_run){
        .first = (uint32_t)first,
        .count = (uint32_t)(end - first),
        .from = qp_phase_start(width_in, p->sw, column % p->sw) + column / p->sw,
    };
}

qp_transpose_rows qp_transpose_rows_at(const qp_conv_transpose *p, uint32_t height, uint32_t y)
{
    uint64_t row = (uint64_t)y + p->ph; /* uncropped */
    uint64_t tap = row % p->sh;
    uint64_t u = row / p->sh; /* input row of that tap; further taps go upwards */

    if (u >= height) { /* the first taps lie below the input */
        tap += (u - height + 1) * p->sh;
        u = height - 1;
    }
    if (tap >= p->kh)
        return (qp_transpose_rows){0, 0, 0};
    uint64_t taps = (p->kh - 1 - tap) / p->sh + 1;
    return (qp_transpose_rows){(uint32_t)tap, (uint32_t)(taps < u + 1 ? taps : u + 1), (uint32_t)u};
}

qp_conv_bounds qp_conv_bounds_start(const qp_bounds_query *query, qp_intermediate term,
                                    qp_intermediate acc, qp_node_bounds *bounds)
{
    qp_conv_bounds b = {.term = term, .acc = acc, .input = &query->in[0], .bounds = bounds};
    b.input_narrow = qp_interval_fits(b.input, 64);
    if (b.input_narrow)
        b.range = (qp_range){qp_bound_to_i64(&b.input->lo), qp_bound_to_i64(&b.input->hi)};
    bounds->weights = (qp_range){INT64_MAX, INT64_MIN};
    return b;
}

/* The hull of the sets' partial sums as 128-bit integers, where they hold it. */
static bool narrow_sums(const qp_conv_bounds *b, const qp_fold *folds, size_t count, int64_t bias,
                        qp_narrow *acc)
{
    for (size_t k = 0; k < count; k++) {
        qp_i128 lo, hi;
        if (!b->input_narrow || !qp_fold_partial_sums_narrow(&folds[k], b->range, bias, &lo, &hi))
            return false;
        acc->lo = k == 0 ? lo : qp_i128_min(acc->lo, lo);
        acc->hi = k == 0 ? hi : qp_i128_max(acc->hi, hi);
    }
    return true;
}

void qp_conv_bounds_channel(qp_conv_bounds *b, const qp_fold *folds, size_t count,
                            const qp_rq_channel *channel)
{
    qp_rq_channel r = *channel;
    bool *saturated = &b->bounds->saturated;
    qp_narrow narrow;

    for (size_t k = 0; k < count; k++) {
        b->bounds->weights.lo = qp_min_i64(b->bounds->weights.lo, folds[k].range.lo);
        b->bounds->weights.hi = qp_max_i64(b->bounds->weights.hi, folds[k].range.hi);
    }
    r.pre = 0; /* the accumulator holds it already */
    if (narrow_sums(b, folds, count, channel->pre, &narrow) && qp_rq_hull_add(&b->hull, &r, narrow))
        return;
    qp_interval acc = qp_fold_partial_sums(&folds[0], b->input, channel->pre, saturated);
    for (size_t k = 1; k < count; k++)
        acc = qp_interval_hull(acc,
                               qp_fold_partial_sums(&folds[k], b->input, channel->pre, saturated));
    qp_bounds_record(b->bounds, b->acc, acc);
    qp_rq_bounds(&r, acc, b->bounds);
}

/* A term is monotone in its weight, so the hull over all channels is that of the least and the
 * greatest weight of all. */
void qp_conv_bounds_end(qp_conv_bounds *b, const qp_rq *rq)
{
    qp_node_bounds *bounds = b->bounds;
    qp_bounds_record(bounds, b->term, qp_fold_terms(bounds->weights, b->input, &bounds->saturated));
    if (b->hull.any) /* rq.t is the accumulator */
        qp_bounds_record(bounds, b->acc, qp_interval_of_i128(b->hull.t.lo, b->hull.t.hi));
    qp_rq_hull_record(&b->hull, bounds);
    qp_bounds_condition_i32(bounds, QP_CONDITION_WEIGHTS, bounds->weights);
    qp_rq_facts(rq, bounds);
}

#if defined(QP_INSTRUMENTED)
static void observe(const qp_evaluation *e, qp_accumulate_keys keys, int64_t term, int64_t sum)
{
    QP_OBSERVE_I64(e, keys.term, term);
    QP_OBSERVE_I64(e, keys.acc, sum);
}
#endif

void qp_accumulate(const qp_evaluation *e, qp_accumulate_keys keys, int64_t *restrict acc,
                   const int64_t *restrict run, int64_t weight, size_t count)
{
    for (size_t k = 0; k < count; k++)
        acc[k] += weight * run[k];
#if defined(QP_INSTRUMENTED)
    for (size_t k = 0; k < count; k++)
        observe(e, keys, weight * run[k], acc[k]);
#else
    (void)e, (void)keys;
#endif
}

/* One loop a width, so that each has a load the compiler can vectorise. */
#define QP_DOT(width_bytes, load)                                                                  \
    static int64_t dot_##width_bytes(const uint8_t *p, const int64_t *x, size_t count)             \
    {                                                                                              \
        int64_t sum = 0;                                                                           \
        for (size_t k = 0; k < count; k++)                                                         \
            sum += load(p + k * width_bytes) * x[k];                                               \
        return sum;                                                                                \
    }

QP_DOT(1, qp_load_i8)
QP_DOT(2, qp_load_i16)
QP_DOT(4, qp_load_i32)
QP_DOT(8, qp_load_i64)

int64_t qp_dot(const qp_evaluation *e, qp_accumulate_keys keys, const qp_integers *weights,
               size_t start, const int64_t *x, size_t count)
{
    const uint8_t *p = weights->bytes + start * weights->width;
#if defined(QP_INSTRUMENTED)
    int64_t sum = 0;
    for (size_t k = 0; k < count; k++) {
        int64_t term = qp_integers_at(weights, start + k) * x[k];
        sum += term;
        if (x[k] != 0) /* the zeros of padding are terms that an implementation may add (6) */
            observe(e, keys, term, sum);
    }
#else
    (void)e, (void)keys;
#endif
    switch (weights->width) {
    case 1:
        return dot_1(p, x, count);
    case 2:
        return dot_2(p, x, count);
    case 4:
        return dot_4(p, x, count);
    default:
        return dot_8(p, x, count);
    }
}
