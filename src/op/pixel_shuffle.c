/* SPDX-License-Identifier: Apache-2.0 */
/* pixel_shuffle.c - depth to space (integer-operators.md section 5.10, opcode 0x09). */
#include "op/op.h"

typedef struct pixel_shuffle_params {
    uint32_t r;
} pixel_shuffle_params;

static const qp_field fields[] = {
    {.name = "r", .kind = QP_FIELD_U32, .offset = offsetof(pixel_shuffle_params, r), .minimum = 1},
};

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    uint64_t r = ((const pixel_shuffle_params *)params)->r;
    (void)n_in;
    if (in[0] % (r * r) != 0) /* r² < 2^64; a larger one than the channels leaves a rest */
        return "the channels are not a multiple of r squared";
    out[0] = (uint32_t)(in[0] / (r * r));
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    uint64_t r = ((const pixel_shuffle_params *)plan->params)->r;
    uint64_t height = plan->in[0].height * r, width = plan->in[0].width * r;

    if (qp_check_side(height, "the shuffled height passes 2^26", why) != QP_OK ||
        qp_check_side(width, "the shuffled width passes 2^26", why) != QP_OK)
        return QP_TOO_LARGE;
    out[0].height = (uint32_t)height;
    out[0].width = (uint32_t)width;
    return QP_OK;
}

/* Scratch: an input row and the output row that r of them make. */
static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    return (uint64_t)plan->in[0].width + out[0].width;
}

static qp_status evaluate_row(const qp_evaluation *e, uint32_t c, uint32_t h, uint32_t i)
{
    size_t r = ((const pixel_shuffle_params *)e->params)->r;
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;
    int64_t *row = e->scratch, *shuffled = row + in->width;

    for (size_t j = 0; j < r; j++) {
        size_t channel = c * r * r + i * r + j;
        qp_tensor_read(&e->in[0], (channel * in->height + h) * in->width, in->width, row);
        for (size_t w = 0; w < in->width; w++)
            shuffled[w * r + j] = row[w];
    }
    size_t y = h * r + i;
    return qp_emit(e, 0, (c * (size_t)out->height + y) * out->width, shuffled, out->width);
}

static qp_status evaluate(const qp_evaluation *e)
{
    uint32_t r = ((const pixel_shuffle_params *)e->params)->r;

    for (uint32_t c = 0; c < e->out[0].tensor.shape.channels; c++)
        for (uint32_t h = 0; h < e->in[0].shape.height; h++)
            for (uint32_t i = 0; i < r; i++) {
                qp_status status = evaluate_row(e, c, h, i);
                if (status != QP_OK)
                    return status;
            }
    return QP_OK;
}

const qp_operator qp_operator_pixel_shuffle = {
    .opcode = 0x09,
    .name = "pixel_shuffle",
    .section = "5.10",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(pixel_shuffle_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = shape,
    .bounds = qp_bounds_movement,
    .scratch = scratch,
    .evaluate = evaluate,
};
