/* SPDX-License-Identifier: Apache-2.0 */
/* contraction.c - parameters and bounds of gram and apply (integer-operators.md section 5.9). */
#include "op/contraction.h"

static unsigned rq_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)params, (void)in_channels;
    dims[0] = 1; /* nothing is given per channel */
    return 1;
}

const qp_field qp_contraction_fields[QP_CONTRACTION_FIELDS] = {
    {.name = "groups",
     .kind = QP_FIELD_U32,
     .offset = offsetof(qp_contraction, groups),
     .minimum = 1},
    {.name = "rq",
     .kind = QP_FIELD_RQ,
     .offset = offsetof(qp_contraction, rq),
     .dims = rq_dims,
     .rq_admits = 0},
};

void qp_contraction_bounds(const qp_bounds_query *query, uint64_t length, qp_contraction_keys keys,
                           qp_node_bounds *bounds)
{
    const qp_contraction *p = query->params;
    bool *saturated = &bounds->saturated;
    qp_interval term = qp_interval_corners(query->in[0], query->in[1], saturated);
    qp_bound zero = qp_bound_from_i64(0), count = qp_bound_from_u64(length);
    qp_interval acc = {qp_bound_mul(count, qp_bound_min(zero, term.lo), saturated),
                       qp_bound_mul(count, qp_bound_max(zero, term.hi), saturated)};
    qp_rq_channel r = qp_rq_at(&p->rq, 0);

    qp_bounds_record(bounds, keys.term, term);
    qp_bounds_record(bounds, keys.acc, acc);
    qp_rq_bounds(&r, acc, bounds);
    qp_rq_facts(&p->rq, bounds);
}
