/* SPDX-License-Identifier: Apache-2.0 */
/* rq.h - requantisation, the epilogue of six operators (integer-operators.md section 5.1). */
#ifndef QP_OP_RQ_H
#define QP_OP_RQ_H

#include "op/op.h"

/* The parameters of one output channel, with the absent ones filled in. */
typedef struct qp_rq_channel {
    int64_t mult;
    unsigned shift;
    qp_round round;
    int64_t pre, post;
} qp_rq_channel;

qp_rq_channel qp_rq_at(const qp_rq *rq, uint32_t channel);

/* How many channels have parameters of their own: 1 where all share one set. */
uint32_t qp_rq_distinct(const qp_rq *rq, uint32_t channels);

/* The rules rq.t, rq.p, rq.q and rq.y of section 8.3 for one channel whose `rq.t` is `t`; rq.y is
 * also output 0's producer result. */
void qp_rq_bounds(const qp_rq_channel *channel, qp_interval t, qp_node_bounds *bounds);

/*
 * The same rules on 128-bit integers, for channels whose values fit them: the usual case, and many
 * times faster than the saturating ones. The hull over channels is kept and recorded once.
 */
typedef struct qp_narrow {
    qp_i128 lo, hi;
} qp_narrow;

typedef struct qp_rq_hull {
    bool any;
    qp_narrow t, p, q, y;
} qp_rq_hull;

/* Adds one channel; false, with nothing added, where a value might pass 128 bits. */
bool qp_rq_hull_add(qp_rq_hull *hull, const qp_rq_channel *channel, qp_narrow t);
void qp_rq_hull_record(const qp_rq_hull *hull, qp_node_bounds *bounds);
/* An interval as 128-bit integers; false where it does not fit them with room to add. */
bool qp_narrow_from(const qp_interval *interval, qp_narrow *narrow);

/* One channel by whichever way holds it. */
void qp_rq_bounds_or_hull(qp_rq_hull *hull, const qp_rq_channel *channel, qp_interval t,
                          qp_node_bounds *bounds);

/* The conditions of section 7.2 and the flags of section 9.2, over all channels. */
void qp_rq_facts(const qp_rq *rq, qp_node_bounds *bounds);
void qp_rq_round_facts(qp_round round, bool has_mult, qp_node_bounds *bounds);
void qp_rq_mult_facts(qp_range mult, qp_node_bounds *bounds);
void qp_rq_shift_facts(unsigned greatest_shift, qp_node_bounds *bounds);

/* values[k] = rq_o(values[k]) */
void qp_rq_span(const qp_evaluation *e, const qp_rq_channel *channel, int64_t *values,
                size_t count);

#endif
