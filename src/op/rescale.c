/* SPDX-License-Identifier: Apache-2.0 */
/* rescale.c - requantisation on its own (integer-operators.md section 5.4, opcode 0x02). */
#include "op/rq.h"

typedef struct rescale_params {
    qp_rq rq;
} rescale_params;

static unsigned rq_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)params;
    dims[0] = in_channels;
    return 1;
}

static const qp_field fields[] = {
    {.name = "rq",
     .kind = QP_FIELD_RQ,
     .offset = offsetof(rescale_params, rq),
     .dims = rq_dims,
     .rq_admits = QP_RQ_ANY},
};

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const rescale_params *p = query->params;
    uint32_t distinct = qp_rq_distinct(&p->rq, query->in_channels);
    qp_rq_hull hull = {0};

    for (uint32_t c = 0; c < distinct; c++) {
        qp_rq_channel r = qp_rq_at(&p->rq, c);
        qp_interval t =
            qp_interval_add(query->in[0], qp_interval_of(r.pre, r.pre), &bounds->saturated);
        r.pre = 0; /* t holds it already */
        qp_rq_bounds_or_hull(&hull, &r, t, bounds);
    }
    qp_rq_hull_record(&hull, bounds);
    qp_rq_facts(&p->rq, bounds);
}

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    const rescale_params *p = e->params;
    qp_rq_channel r = qp_rq_at(&p->rq, channel);
    qp_rq_span(e, &r, values, count);
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

static const qp_intermediate intermediates[] = {QP_RQ_T, QP_RQ_P, QP_RQ_Q, QP_RQ_Y};

const qp_operator qp_operator_rescale = {
    .opcode = 0x02,
    .name = "rescale",
    .section = "5.4",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(rescale_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
