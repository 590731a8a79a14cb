/* SPDX-License-Identifier: Apache-2.0 */
/* subpos_merge.c - the inverse of subpos_split (integer-operators.md section 5.10, 0x16). */
#include "op/subpos.h"

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    (void)params, (void)n_in;
    for (unsigned k = 1; k < QP_SUBPOS; k++)
        if (in[k] != in[0])
            return "the four inputs differ in channels";
    out[0] = in[0];
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    uint64_t height = 2 * (uint64_t)plan->in[0].height, width = 2 * (uint64_t)plan->in[0].width;

    if (qp_check_side(height, "the merged height passes 2^26", why) != QP_OK ||
        qp_check_side(width, "the merged width passes 2^26", why) != QP_OK)
        return QP_TOO_LARGE;
    for (unsigned k = 1; k < QP_SUBPOS; k++)
        if (plan->in[k].height != plan->in[0].height || plan->in[k].width != plan->in[0].width) {
            *why = "the four inputs differ in height or width";
            return QP_GEOMETRY_MISMATCH;
        }
    out[0].height = (uint32_t)height;
    out[0].width = (uint32_t)width;
    return QP_OK;
}

/* Scratch: an input row and an output row. */
static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    return (uint64_t)plan->in[0].width + out[0].width;
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_subpos *p = e->params;
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;
    int64_t *row = e->scratch, *merged = row + in->width;
    size_t rows = (size_t)out->channels * out->height;

    for (size_t r = 0; r < rows; r++) {
        for (unsigned k = 0; k < QP_SUBPOS; k++) {
            if (p->order[k] / 2 != r % 2)
                continue;
            qp_tensor_read(&e->in[k], r / 2 * in->width, in->width, row);
            for (size_t x = 0; x < in->width; x++)
                merged[2 * x + p->order[k] % 2] = row[x];
        }
        qp_status status = qp_emit(e, 0, r * out->width, merged, out->width);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

const qp_operator qp_operator_subpos_merge = {
    .opcode = 0x16,
    .name = "subpos_merge",
    .section = "5.10",
    .n_in = 4,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = qp_subpos_fields,
    .n_fields = QP_SUBPOS_FIELDS,
    .params_size = sizeof(qp_subpos),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = shape,
    .bounds = qp_bounds_movement,
    .scratch = scratch,
    .evaluate = evaluate,
};
