/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - channels mixed by a matrix per group (integer-operators.md section 5.9, 0x1E). */
#include "op/contraction.h"

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    const qp_contraction *p = params;
    (void)n_in;
    if (in[1] != in[0])
        return "the two inputs differ in channels";
    if (in[0] % p->groups != 0)
        return "the channels are not a multiple of groups";
    out[0] = in[0];
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    const qp_contraction *p = plan->params;
    if (plan->in[0].height != 1 || plan->in[0].width != plan->in[0].channels / p->groups) {
        *why = "the first input is not [C, 1, C/groups]";
        return QP_GEOMETRY_MISMATCH;
    }
    out[0].height = plan->in[1].height;
    out[0].width = plan->in[1].width;
    return QP_OK;
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const qp_contraction *p = query->params;
    qp_contraction_bounds(query, query->in_channels / p->groups,
                          (qp_contraction_keys){QP_APPLY_TERM, QP_APPLY_ACC}, bounds);
}

/* Scratch: a row of V, a row of sums, and the d factors of one output channel. */
static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    return 2 * (uint64_t)out[0].width + plan->in[0].width;
}

static qp_status evaluate_row(const qp_evaluation *e, const qp_rq_channel *r, uint32_t c,
                              uint32_t y)
{
    const qp_shape *shape = &e->in[1].shape;
    uint32_t d = e->in[0].shape.width;
    size_t first = c - c % d;
    int64_t *row = e->scratch, *sums = row + shape->width, *factors = sums + shape->width;

    memset(sums, 0, shape->width * sizeof *sums);
    for (uint32_t j = 0; j < d; j++) {
        size_t from = ((first + j) * shape->height + y) * shape->width;
        qp_tensor_read(&e->in[1], from, shape->width, row);
        for (uint32_t x = 0; x < shape->width; x++) {
            int64_t term = factors[j] * row[x];
            sums[x] += term;
            QP_OBSERVE_I64(e, QP_APPLY_TERM, term);
            QP_OBSERVE_I64(e, QP_APPLY_ACC, sums[x]);
        }
    }
    qp_rq_span(e, r, sums, shape->width);
    return qp_emit(e, 0, ((size_t)c * shape->height + y) * shape->width, sums, shape->width);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_contraction *p = e->params;
    const qp_shape *shape = &e->in[1].shape;
    uint32_t d = e->in[0].shape.width;
    int64_t *factors = e->scratch + 2 * (size_t)shape->width;
    qp_rq_channel r = qp_rq_at(&p->rq, 0);

    for (uint32_t c = 0; c < shape->channels; c++) {
        qp_tensor_read(&e->in[0], (size_t)c * d, d, factors);
        for (uint32_t y = 0; y < shape->height; y++) {
            qp_status status = evaluate_row(e, &r, c, y);
            if (status != QP_OK)
                return status;
        }
    }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {QP_APPLY_TERM, QP_APPLY_ACC, QP_RQ_T,
                                                QP_RQ_P,       QP_RQ_Q,      QP_RQ_Y};

const qp_operator qp_operator_apply = {
    .opcode = 0x1E,
    .name = "apply",
    .section = "5.9",
    .n_in = 2,
    .n_out = 1,
    .npu = QP_NPU_NO,
    .fields = qp_contraction_fields,
    .n_fields = QP_CONTRACTION_FIELDS,
    .params_size = sizeof(qp_contraction),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_APPLY_TERM,
    .has_mac = true,
    .channels = channels,
    .shape = shape,
    .bounds = bounds,
    .scratch = scratch,
    .evaluate = evaluate,
};
