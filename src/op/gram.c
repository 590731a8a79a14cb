/* SPDX-License-Identifier: Apache-2.0 */
/* gram.c - products of channels over a plane (integer-operators.md section 5.9, 0x1D). */
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
    if (plan->in[0].height != plan->in[1].height || plan->in[0].width != plan->in[1].width) {
        *why = "the two inputs differ in height or width";
        return QP_GEOMETRY_MISMATCH;
    }
    out[0].height = 1;
    out[0].width = plan->in[0].channels / p->groups;
    return QP_OK;
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const qp_shape *a = &query->in_shapes[0], *b = &query->in_shapes[1];
    uint64_t length_a = (uint64_t)a->height * a->width, length_b = (uint64_t)b->height * b->width;
    qp_contraction_bounds(query, length_a > length_b ? length_a : length_b,
                          (qp_contraction_keys){QP_GRAM_TERM, QP_GRAM_ACC}, bounds);
}

/* Scratch: a row of A, a row of B, and the d sums of one output row. */
static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    return 2 * (uint64_t)plan->in[0].width + out[0].width;
}

/* sums[j] += the products of A's channel `a` and B's channel `b + j` over row `y`, for all j < d.
 */
static void add_row(const qp_evaluation *e, size_t a, size_t b, uint32_t y)
{
    const qp_shape *shape = &e->in[0].shape;
    uint32_t d = e->out[0].tensor.shape.width;
    int64_t *row_a = e->scratch, *row_b = row_a + shape->width, *sums = row_b + shape->width;

    qp_tensor_read(&e->in[0], (a * shape->height + y) * shape->width, shape->width, row_a);
    for (uint32_t j = 0; j < d; j++) {
        size_t from = ((b + j) * shape->height + y) * shape->width;
        qp_tensor_read(&e->in[1], from, shape->width, row_b);
        for (uint32_t x = 0; x < shape->width; x++) {
            int64_t term = row_a[x] * row_b[x];
            sums[j] += term;
            QP_OBSERVE_I64(e, QP_GRAM_TERM, term);
            QP_OBSERVE_I64(e, QP_GRAM_ACC, sums[j]);
        }
    }
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_contraction *p = e->params;
    const qp_shape *shape = &e->in[0].shape;
    uint32_t d = e->out[0].tensor.shape.width;
    int64_t *sums = e->scratch + 2 * (size_t)shape->width;
    qp_rq_channel r = qp_rq_at(&p->rq, 0);

    for (uint32_t c = 0; c < shape->channels; c++) {
        memset(sums, 0, d * sizeof *sums);
        for (uint32_t y = 0; y < shape->height; y++)
            add_row(e, c, c - c % d, y);
        qp_rq_span(e, &r, sums, d);
        qp_status status = qp_emit(e, 0, (size_t)c * d, sums, d);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {QP_GRAM_TERM, QP_GRAM_ACC, QP_RQ_T,
                                                QP_RQ_P,      QP_RQ_Q,     QP_RQ_Y};

const qp_operator qp_operator_gram = {
    .opcode = 0x1D,
    .name = "gram",
    .section = "5.9",
    .n_in = 2,
    .n_out = 1,
    .needs_sizes = true,
    .npu = QP_NPU_NO,
    .fields = qp_contraction_fields,
    .n_fields = QP_CONTRACTION_FIELDS,
    .params_size = sizeof(qp_contraction),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_GRAM_TERM,
    .has_mac = true,
    .channels = channels,
    .shape = shape,
    .bounds = bounds,
    .scratch = scratch,
    .evaluate = evaluate,
};
