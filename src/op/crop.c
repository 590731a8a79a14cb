/* SPDX-License-Identifier: Apache-2.0 */
/* crop.c - a window (integer-operators.md section 5.10, opcode 0x14). */
#include "op/crop.h"

typedef struct crop_params {
    qp_operand y0, x0, h, w;
} crop_params;

#define AT(member) offsetof(crop_params, member)
static const qp_field fields[] = {
    {.name = "y0", .kind = QP_FIELD_OPERAND, .offset = AT(y0)},
    {.name = "x0", .kind = QP_FIELD_OPERAND, .offset = AT(x0)},
    {.name = "h", .kind = QP_FIELD_OPERAND, .offset = AT(h)},
    {.name = "w", .kind = QP_FIELD_OPERAND, .offset = AT(w)},
};
#undef AT

/* One side of the window: its start and length on an input of `size`, at run time, or at load
 * (where the scalars are not known) the smallest start and the largest length within the input. */
static bool side(const qp_plan *plan, const qp_operand operands[2], uint32_t size, uint32_t *length)
{
    const qp_operand *first = &operands[0], *count = &operands[1];
    int64_t start, extent;

    if (plan->scalars != NULL) {
        start = qp_operand_value(first, plan->scalars);
        extent = qp_operand_value(count, plan->scalars);
    } else {
        start = first->scalar ? 0 : first->value;
        extent = count->value;
        if (count->scalar)
            extent = qp_min_i64(plan->scalar_ranges[count->value].hi, size - start);
    }
    if (start < 0 || extent < 1 || start > size || extent > size - start)
        return false;
    *length = (uint32_t)extent;
    return true;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    const crop_params *p = plan->params;
    if (!side(plan, (qp_operand[]){p->y0, p->h}, plan->in[0].height, &out[0].height) ||
        !side(plan, (qp_operand[]){p->x0, p->w}, plan->in[0].width, &out[0].width)) {
        *why = "the window does not lie within the input";
        return QP_GEOMETRY_MISMATCH;
    }
    return QP_OK;
}

static qp_npu_reason npu_reason(const void *params, uint32_t in_channels)
{
    const crop_params *p = params;
    (void)in_channels;
    return p->y0.scalar || p->x0.scalar || p->h.scalar || p->w.scalar ? QP_NPU_CROP_SCALAR
                                                                      : QP_NPU_INSIDE;
}

qp_status qp_evaluate_crop(const qp_evaluation *e, uint32_t y0, uint32_t x0)
{
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;

    for (uint32_t c = 0; c < out->channels; c++)
        for (uint32_t y = 0; y < out->height; y++) {
            qp_copy copy = {
                .from = ((size_t)c * in->height + y0 + y) * in->width + x0,
                .to = ((size_t)c * out->height + y) * out->width,
                .count = out->width,
            };
            qp_status status = qp_evaluate_copy(e, &copy);
            if (status != QP_OK)
                return status;
        }
    return QP_OK;
}

static qp_status evaluate(const qp_evaluation *e)
{
    const crop_params *p = e->params;
    /* the plan has held both within the input */
    return qp_evaluate_crop(e, (uint32_t)qp_operand_value(&p->y0, e->scalars),
                            (uint32_t)qp_operand_value(&p->x0, e->scalars));
}

const qp_operator qp_operator_crop = {
    .opcode = 0x14,
    .name = "crop",
    .section = "5.10",
    .n_in = 1,
    .n_out = 1,
    .scalars_shape = true,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(crop_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = shape,
    .bounds = qp_bounds_movement,
    .npu_reason = npu_reason,
    .evaluate = evaluate,
};
