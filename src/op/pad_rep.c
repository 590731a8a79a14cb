/* SPDX-License-Identifier: Apache-2.0 */
/* pad_rep.c - replicated edges up to a multiple (integer-operators.md section 5.10, 0x0E). */
#include "op/op.h"

typedef struct pad_rep_params {
    uint32_t m;
} pad_rep_params;

static const qp_field fields[] = {
    {.name = "m", .kind = QP_FIELD_U32, .offset = offsetof(pad_rep_params, m), .minimum = 1},
};

static uint64_t padded(uint32_t side, uint64_t m)
{
    return (side + m - 1) / m * m; /* below 2^33 */
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    uint32_t m = ((const pad_rep_params *)plan->params)->m;
    uint64_t height = padded(plan->in[0].height, m), width = padded(plan->in[0].width, m);

    if (qp_check_side(height, "the padded height passes 2^26", why) != QP_OK ||
        qp_check_side(width, "the padded width passes 2^26", why) != QP_OK)
        return QP_TOO_LARGE;
    out[0].height = (uint32_t)height;
    out[0].width = (uint32_t)width;
    return QP_OK;
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;
    int64_t *row = e->scratch;

    for (uint32_t c = 0; c < out->channels; c++)
        for (uint32_t y = 0; y < out->height; y++) {
            size_t from = (size_t)c * in->height + (y < in->height ? y : in->height - 1);
            qp_tensor_read(&e->in[0], from * in->width, in->width, row);
            for (uint32_t x = in->width; x < out->width; x++)
                row[x] = row[in->width - 1];
            size_t to = ((size_t)c * out->height + y) * out->width;
            qp_status status = qp_emit(e, 0, to, row, out->width);
            if (status != QP_OK)
                return status;
        }
    return QP_OK;
}

const qp_operator qp_operator_pad_rep = {
    .opcode = 0x0E,
    .name = "pad_rep",
    .section = "5.10",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(pad_rep_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = shape,
    .bounds = qp_bounds_movement,
    .scratch = qp_scratch_row,
    .evaluate = evaluate,
};
