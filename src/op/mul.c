/* SPDX-License-Identifier: Apache-2.0 */
/* mul.c - the product of two tensors (integer-operators.md section 5.4, opcode 0x10). */
#include "op/rq.h"

typedef struct mul_params {
    qp_rq rq;
} mul_params;

static unsigned rq_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)params;
    dims[0] = in_channels;
    return 1;
}

static const qp_field fields[] = {
    {.name = "rq",
     .kind = QP_FIELD_RQ,
     .offset = offsetof(mul_params, rq),
     .dims = rq_dims,
     .rq_admits = QP_RQ_MULT | QP_RQ_PER_CHANNEL},
};

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    (void)params, (void)n_in;
    if (in[1] != in[0] && in[1] != 1)
        return "the second input has neither the channels of the first nor one channel";
    out[0] = in[0];
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    if (plan->in[0].height != plan->in[1].height || plan->in[0].width != plan->in[1].width) {
        *why = "the two inputs differ in height or width";
        return QP_GEOMETRY_MISMATCH;
    }
    return qp_shape_unchanged(plan, out, why);
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const mul_params *p = query->params;
    uint32_t distinct = qp_rq_distinct(&p->rq, query->in_channels);
    qp_interval product = qp_interval_corners(query->in[0], query->in[1], &bounds->saturated);
    qp_rq_hull hull = {0};

    qp_bounds_record(bounds, QP_MUL_P, product);
    for (uint32_t c = 0; c < distinct; c++) {
        qp_rq_channel r = qp_rq_at(&p->rq, c);
        qp_rq_bounds_or_hull(&hull, &r, product, bounds);
    }
    qp_rq_hull_record(&hull, bounds);
    qp_rq_facts(&p->rq, bounds);
}

enum { SPAN = 256 };

static qp_status evaluate_span(const qp_evaluation *e, uint32_t channel, size_t start, size_t count)
{
    const mul_params *p = e->params;
    const qp_shape *shape = &e->in[0].shape;
    size_t plane = (size_t)shape->height * shape->width;
    size_t from_b = e->in[1].shape.channels == shape->channels ? channel * plane : 0;
    qp_rq_channel r = qp_rq_at(&p->rq, channel);
    int64_t a[SPAN], b[SPAN];

    qp_tensor_read(&e->in[0], channel * plane + start, count, a);
    qp_tensor_read(&e->in[1], from_b + start, count, b);
    for (size_t k = 0; k < count; k++) {
        a[k] *= b[k];
        QP_OBSERVE_I64(e, QP_MUL_P, a[k]);
    }
    qp_rq_span(e, &r, a, count);
    return qp_emit(e, 0, channel * plane + start, a, count);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *shape = &e->in[0].shape;
    size_t plane = (size_t)shape->height * shape->width;

    for (uint32_t c = 0; c < shape->channels; c++)
        for (size_t done = 0, n; done < plane; done += n) {
            n = plane - done < SPAN ? plane - done : SPAN;
            qp_status status = evaluate_span(e, c, done, n);
            if (status != QP_OK)
                return status;
        }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {QP_MUL_P, QP_RQ_T, QP_RQ_P, QP_RQ_Q, QP_RQ_Y};

const qp_operator qp_operator_mul = {
    .opcode = 0x10,
    .name = "mul",
    .section = "5.4",
    .n_in = 2,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(mul_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .has_mac = true,
    .channels = channels,
    .shape = shape,
    .bounds = bounds,
    .evaluate = evaluate,
};
