/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - a run of channels (integer-operators.md section 5.10, opcode 0x08). */
#include "op/op.h"

typedef struct split_params {
    uint32_t start, count;
} split_params;

static const qp_field fields[] = {
    {.name = "start", .kind = QP_FIELD_U32, .offset = offsetof(split_params, start)},
    {.name = "count", .kind = QP_FIELD_U32, .offset = offsetof(split_params, count), .minimum = 1},
};

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    const split_params *p = params;
    (void)n_in;
    if ((uint64_t)p->start + p->count > in[0])
        return "the run passes the input's channels";
    out[0] = p->count;
    return NULL;
}

static qp_status evaluate(const qp_evaluation *e)
{
    const split_params *p = e->params;
    const qp_shape *shape = &e->in[0].shape;
    size_t plane = (size_t)shape->height * shape->width;
    qp_copy copy = {.from = p->start * plane, .count = p->count * plane};
    return qp_evaluate_copy(e, &copy);
}

const qp_operator qp_operator_split = {
    .opcode = 0x08,
    .name = "split",
    .section = "5.10",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(split_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = qp_shape_unchanged,
    .bounds = qp_bounds_movement,
    .evaluate = evaluate,
};
