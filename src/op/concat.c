/* SPDX-License-Identifier: Apache-2.0 */
/* concat.c - channels one after the other (integer-operators.md section 5.10, opcode 0x06). */
#include "op/op.h"

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    uint64_t sum = 0; /* at most 255 inputs of u32 channels */
    (void)params;
    for (uint32_t i = 0; i < n_in; i++)
        sum += in[i];
    if (sum > UINT32_MAX)
        return "the inputs' channels together pass 2^32";
    out[0] = (uint32_t)sum;
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    for (uint32_t i = 1; i < plan->n_in; i++)
        if (plan->in[i].height != plan->in[0].height || plan->in[i].width != plan->in[0].width) {
            *why = "the inputs differ in height or width";
            return QP_GEOMETRY_MISMATCH;
        }
    return qp_shape_unchanged(plan, out, why);
}

static qp_status evaluate(const qp_evaluation *e)
{
    qp_copy copy = {0};
    for (copy.input = 0; copy.input < e->n_in; copy.input++) {
        copy.count = (size_t)qp_shape_elements(&e->in[copy.input].shape);
        qp_status status = qp_evaluate_copy(e, &copy);
        if (status != QP_OK)
            return status;
        copy.to += copy.count;
    }
    return QP_OK;
}

const qp_operator qp_operator_concat = {
    .opcode = 0x06,
    .name = "concat",
    .section = "5.10",
    .n_in = 2,
    .n_out = 1,
    .more_inputs = true,
    .equal_exponents = true,
    .npu = QP_NPU_YES,
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = shape,
    .bounds = qp_bounds_movement,
    .evaluate = evaluate,
};
