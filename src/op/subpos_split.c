/* SPDX-License-Identifier: Apache-2.0 */
/* subpos_split.c - the four sub-positions of 2x2 blocks (section 5.10, opcode 0x15). */
#include "op/subpos.h"

const qp_field qp_subpos_fields[QP_SUBPOS_FIELDS] = {
    {.name = "order", .kind = QP_FIELD_ORDER, .offset = offsetof(qp_subpos, order)},
};

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    (void)params, (void)n_in;
    for (unsigned k = 0; k < QP_SUBPOS; k++)
        out[k] = in[0];
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    if (plan->in[0].height % 2 != 0 || plan->in[0].width % 2 != 0) {
        *why = "the height or the width is odd";
        return QP_GEOMETRY_MISMATCH;
    }
    for (unsigned k = 0; k < QP_SUBPOS; k++) {
        out[k].height = plan->in[0].height / 2;
        out[k].width = plan->in[0].width / 2;
    }
    return QP_OK;
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    for (unsigned k = 0; k < QP_SUBPOS; k++)
        qp_bounds_result(bounds, k, query->in[0]);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_subpos *p = e->params;
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;
    size_t rows = (size_t)out->channels * out->height; /* the height is even: rows pair up */

    for (unsigned k = 0; k < QP_SUBPOS; k++)
        for (size_t row = 0; row < rows; row++) {
            size_t a = p->order[k] / 2, b = p->order[k] % 2;
            qp_tensor_load(&e->in[0], (2 * row + a) * in->width + b, 2, out->width, e->scratch);
            qp_status status = qp_emit(e, k, row * out->width, e->scratch, out->width);
            if (status != QP_OK)
                return status;
        }
    return QP_OK;
}

const qp_operator qp_operator_subpos_split = {
    .opcode = 0x15,
    .name = "subpos_split",
    .section = "5.10",
    .n_in = 1,
    .n_out = 4,
    .npu = QP_NPU_YES,
    .fields = qp_subpos_fields,
    .n_fields = QP_SUBPOS_FIELDS,
    .params_size = sizeof(qp_subpos),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = shape,
    .bounds = bounds,
    .scratch = qp_scratch_row,
    .evaluate = evaluate,
};
