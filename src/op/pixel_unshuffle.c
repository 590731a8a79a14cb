/* SPDX-License-Identifier: Apache-2.0 */
/* pixel_unshuffle.c - space to depth (integer-operators.md section 5.10, opcode 0x0A). */
#include "op/op.h"

typedef struct pixel_unshuffle_params {
    uint32_t r;
} pixel_unshuffle_params;

static const qp_field fields[] = {
    {.name = "r",
     .kind = QP_FIELD_U32,
     .offset = offsetof(pixel_unshuffle_params, r),
     .minimum = 1},
};

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    uint64_t r = ((const pixel_unshuffle_params *)params)->r, product;
    (void)n_in;
    if (!qp_mul_u64(in[0], r * r, &product) || product > UINT32_MAX)
        return "the output's channels pass 2^32";
    out[0] = (uint32_t)product;
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    uint32_t r = ((const pixel_unshuffle_params *)plan->params)->r;
    if (plan->in[0].height % r != 0 || plan->in[0].width % r != 0) {
        *why = "the height or the width is not a multiple of r";
        return QP_GEOMETRY_MISMATCH;
    }
    out[0].height = plan->in[0].height / r;
    out[0].width = plan->in[0].width / r;
    return QP_OK;
}

static qp_status evaluate(const qp_evaluation *e)
{
    size_t r = ((const pixel_unshuffle_params *)e->params)->r;
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;

    for (size_t channel = 0; channel < out->channels; channel++) {
        size_t c = channel / (r * r), i = channel / r % r, j = channel % r;
        for (size_t h = 0; h < out->height; h++) {
            size_t from = (c * in->height + h * r + i) * in->width + j;
            qp_tensor_load(&e->in[0], from, r, out->width, e->scratch);
            size_t to = (channel * out->height + h) * out->width;
            qp_status status = qp_emit(e, 0, to, e->scratch, out->width);
            if (status != QP_OK)
                return status;
        }
    }
    return QP_OK;
}

const qp_operator qp_operator_pixel_unshuffle = {
    .opcode = 0x0A,
    .name = "pixel_unshuffle",
    .section = "5.10",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(pixel_unshuffle_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = shape,
    .bounds = qp_bounds_movement,
    .scratch = qp_scratch_row,
    .evaluate = evaluate,
};
