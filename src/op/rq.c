/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rq.c - requantisation (integer-operators.md section 5.1). The line that rounds a product is here
 * twice: on 64 bits where the certificate says that rq.p fits them, on 128 otherwise.
 */
#include "op/rq.h"

#include "op/params.h"

qp_rq_channel qp_rq_at(const qp_rq *rq, uint32_t channel)
{
    qp_rq_channel r = {.mult = 1, .round = rq->round};

    if (rq->mult_kind != QP_KIND_ABSENT)
        r.mult = qp_integers_at(&rq->mult, rq->mult_kind == QP_KIND_ONE ? 0 : channel);
    r.shift = rq->shift[rq->shift_kind == QP_KIND_ONE ? 0 : channel];
    if (rq->bias_place == QP_BIAS_PRE)
        r.pre = qp_integers_at(&rq->bias, channel);
    if (rq->bias_place == QP_BIAS_POST)
        r.post = qp_integers_at(&rq->bias, channel);
    return r;
}

uint32_t qp_rq_distinct(const qp_rq *rq, uint32_t channels)
{
    bool shared = rq->mult_kind != QP_KIND_PER_CHANNEL && rq->shift_kind == QP_KIND_ONE &&
                  rq->bias_place == QP_BIAS_NONE;
    return shared ? 1 : channels;
}

/* ---- bounds ------------------------------------------------------------------------------- */

/* R_round(p, shift) as section 2 writes it, each primitive saturated (section 8.1). */
static qp_bound round_bound(qp_bound p, const qp_rq_channel *channel, bool *saturated)
{
    unsigned shift = channel->shift;
    if (shift == 0)
        return p;
    qp_bound q = qp_bound_floor_shift(p, shift);
    if (channel->round == QP_ROUND_FLOOR)
        return q;

    qp_bound half = qp_bound_power(shift - 1);
    if (channel->round == QP_ROUND_HALF_UP)
        return qp_bound_floor_shift(qp_bound_add(p, half, saturated), shift);

    qp_bound back = qp_bound_mul(q, qp_bound_power(shift), saturated);
    qp_bound rest = qp_bound_sub(p, back, saturated);
    int order = qp_bound_compare(&rest, &half);
    bool odd = (q.magnitude[0] & 1) != 0;
    if (order > 0 || (order == 0 && odd))
        q = qp_bound_add(q, qp_bound_from_i64(1), saturated);
    return q;
}

void qp_rq_bounds(const qp_rq_channel *channel, qp_interval t, qp_node_bounds *bounds)
{
    bool *saturated = &bounds->saturated;
    qp_interval p = qp_interval_corners(t, qp_interval_of(channel->mult, channel->mult), saturated);
    qp_interval formed = p; /* with the addend of the rounding */

    if (channel->round != QP_ROUND_FLOOR && channel->shift >= 1)
        formed.hi = qp_bound_add(p.hi, qp_bound_power(channel->shift - 1), saturated);
    qp_interval q = {round_bound(p.lo, channel, saturated), round_bound(p.hi, channel, saturated)};
    qp_interval y = qp_interval_add(q, qp_interval_of(channel->post, channel->post), saturated);

    qp_bounds_record(bounds, QP_RQ_T, t);
    qp_bounds_record(bounds, QP_RQ_P, formed);
    qp_bounds_record(bounds, QP_RQ_Q, q);
    qp_bounds_record(bounds, QP_RQ_Y, y);
    qp_bounds_result(bounds, 0, y);
}

/* ---- the same on 128 bits ----------------------------------------------------------------- */

enum {
    /* magnitudes below 2^120 leave room for the addend 2^126 of a rounding and for a bias */
    NARROW_BITS = 120
};

bool qp_narrow_from(const qp_interval *interval, qp_narrow *narrow)
{
    if (!qp_interval_fits(interval, NARROW_BITS))
        return false;
    *narrow = (qp_narrow){qp_bound_to_i128(&interval->lo), qp_bound_to_i128(&interval->hi)};
    return true;
}

static unsigned narrow_bits(const qp_narrow *v)
{
    unsigned lo = qp_i128_bit_length(v->lo), hi = qp_i128_bit_length(v->hi);
    return lo > hi ? lo : hi;
}

static void hull_in(qp_narrow *hull, qp_narrow v, bool any)
{
    hull->lo = any ? qp_i128_min(hull->lo, v.lo) : v.lo;
    hull->hi = any ? qp_i128_max(hull->hi, v.hi) : v.hi;
}

bool qp_rq_hull_add(qp_rq_hull *hull, const qp_rq_channel *channel, qp_narrow t)
{
    qp_i128 mult = qp_i128_from_i64(channel->mult), post = qp_i128_from_i64(channel->post);
    if (narrow_bits(&t) + qp_i128_bit_length(mult) > NARROW_BITS)
        return false;

    qp_i128 a = qp_i128_mul(t.lo, channel->mult), b = qp_i128_mul(t.hi, channel->mult);
    qp_narrow p = {qp_i128_min(a, b), qp_i128_max(a, b)}, formed = p;
    if (channel->round != QP_ROUND_FLOOR && channel->shift >= 1)
        formed.hi = qp_i128_add(
            p.hi, qp_i128_shift_left(qp_i128_from_i64(1), channel->shift - 1)); /* below 2^127 */
    qp_narrow q = {qp_round_shift(p.lo, channel->shift, channel->round),
                   qp_round_shift(p.hi, channel->shift, channel->round)};
    qp_narrow y = {qp_i128_add(q.lo, post), qp_i128_add(q.hi, post)};

    hull_in(&hull->t, t, hull->any);
    hull_in(&hull->p, formed, hull->any);
    hull_in(&hull->q, q, hull->any);
    hull_in(&hull->y, y, hull->any);
    hull->any = true;
    return true;
}

void qp_rq_hull_record(const qp_rq_hull *hull, qp_node_bounds *bounds)
{
    if (!hull->any)
        return;
    qp_bounds_record(bounds, QP_RQ_T, qp_interval_of_i128(hull->t.lo, hull->t.hi));
    qp_bounds_record(bounds, QP_RQ_P, qp_interval_of_i128(hull->p.lo, hull->p.hi));
    qp_bounds_record(bounds, QP_RQ_Q, qp_interval_of_i128(hull->q.lo, hull->q.hi));
    qp_bounds_record(bounds, QP_RQ_Y, qp_interval_of_i128(hull->y.lo, hull->y.hi));
    qp_bounds_result(bounds, 0, qp_interval_of_i128(hull->y.lo, hull->y.hi));
}

void qp_rq_bounds_or_hull(qp_rq_hull *hull, const qp_rq_channel *channel, qp_interval t,
                          qp_node_bounds *bounds)
{
    qp_narrow narrow;
    if (!qp_narrow_from(&t, &narrow) || !qp_rq_hull_add(hull, channel, narrow))
        qp_rq_bounds(channel, t, bounds);
}

void qp_rq_round_facts(qp_round round, bool has_mult, qp_node_bounds *bounds)
{
    if (round == QP_ROUND_HALF_EVEN)
        bounds->npu_flags |= 1u << QP_NPU_FLAG_RQ_HALF_EVEN;
    if (round == QP_ROUND_FLOOR && has_mult)
        bounds->npu_flags |= 1u << QP_NPU_FLAG_RQ_FLOOR_MULT;
}

void qp_rq_mult_facts(qp_range mult, qp_node_bounds *bounds)
{
    if (mult.lo < 0)
        bounds->npu_flags |= 1u << QP_NPU_FLAG_RQ_NEG_MULT;
}

void qp_rq_shift_facts(unsigned greatest_shift, qp_node_bounds *bounds)
{
    enum { NPU_SHIFT_MAX = 31 }; /* section 9.2 */
    if (greatest_shift > NPU_SHIFT_MAX)
        bounds->npu_flags |= 1u << QP_NPU_FLAG_RQ_SHIFT_RANGE;
}

void qp_rq_facts(const qp_rq *rq, qp_node_bounds *bounds)
{
    unsigned greatest_shift = 0;

    for (size_t c = 0; c < rq->n_shifts; c++)
        greatest_shift = rq->shift[c] > greatest_shift ? rq->shift[c] : greatest_shift;
    qp_bounds_condition_shift(bounds, QP_CONDITION_RQ_SHIFT, greatest_shift);
    qp_rq_shift_facts(greatest_shift, bounds);

    if (rq->mult_kind != QP_KIND_ABSENT) {
        qp_range mult = qp_integers_range(&rq->mult, 0, rq->mult.count);
        qp_bounds_condition_i32(bounds, QP_CONDITION_RQ_MULT, mult);
        qp_rq_mult_facts(mult, bounds);
    }
    if (rq->bias_place == QP_BIAS_POST) {
        qp_range bias = qp_integers_range(&rq->bias, 0, rq->bias.count);
        qp_bounds_condition_i32(bounds, QP_CONDITION_RQ_POST_BIAS, bias);
        bounds->npu_flags |= 1u << QP_NPU_FLAG_RQ_POST_BIAS;
    }
    qp_rq_round_facts(rq->round, rq->mult_kind != QP_KIND_ABSENT, bounds);
}

/* ---- evaluation --------------------------------------------------------------------------- */

/* Every value formed fits i64 by the certificate: rq.t, rq.q and rq.y by their class, rq.p with the
 * rounding's addend because the certificate says so of this node. The addend alone fits while the
 * shift is at most 63: a shift of 64 over negative products only is formed wide. */
enum { NARROW_SHIFT_MAX = 63 };

static void span_narrow(const qp_rq_channel *r, int64_t *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        int64_t p = (values[k] + r->pre) * r->mult;
        values[k] = qp_round_shift_i64(p, r->shift, r->round) + r->post;
    }
}

static void span_wide(const qp_evaluation *e, const qp_rq_channel *r, int64_t *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        int64_t t = values[k] + r->pre;
        qp_i128 p = qp_i128_mul_i64(t, r->mult);
        qp_i128 q = qp_round_shift(p, r->shift, r->round);
        int64_t y = qp_i128_to_i64(q) + r->post;

        QP_OBSERVE_I64(e, QP_RQ_T, t);
        QP_OBSERVE(e, QP_RQ_P, p);
        if (r->round != QP_ROUND_FLOOR && r->shift >= 1)
            QP_OBSERVE(e, QP_RQ_P,
                       qp_i128_add(p, qp_i128_shift_left(qp_i128_from_i64(1), r->shift - 1)));
        QP_OBSERVE(e, QP_RQ_Q, q);
        QP_OBSERVE_I64(e, QP_RQ_Y, y);
        values[k] = y;
    }
}

void qp_rq_span(const qp_evaluation *e, const qp_rq_channel *channel, int64_t *values, size_t count)
{
    if (e->narrow_product && channel->shift <= NARROW_SHIFT_MAX && !QP_OBSERVING(e))
        span_narrow(channel, values, count);
    else
        span_wide(e, channel, values, count);
}
