/* SPDX-License-Identifier: Apache-2.0 */
/* add.c - the sum of two tensors (integer-operators.md section 5.5, opcode 0x05). */
#include "op/op.h"

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    (void)params, (void)n_in;
    if (in[1] != in[0])
        return "the two inputs differ in channels";
    out[0] = in[0];
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    if (plan->in[0].height != plan->in[1].height || plan->in[0].width != plan->in[1].width) {
        *why = "the two inputs differ in height or width";
        return QP_GEOMETRY_MISMATCH;
    }
    return qp_shape_unchanged(plan, out, why);
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    qp_bounds_result(bounds, 0, qp_interval_add(query->in[0], query->in[1], &bounds->saturated));
}

static void span(const qp_evaluation *e, size_t start, int64_t *values, size_t count)
{
    qp_tensor_add(&e->in[1], start, values, count);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *shape = &e->in[0].shape;
    return qp_evaluate_sums(e, (size_t)qp_shape_elements(shape), span);
}

const qp_operator qp_operator_add = {
    .opcode = 0x05,
    .name = "add",
    .section = "5.5",
    .n_in = 2,
    .n_out = 1,
    .equal_exponents = true,
    .state_add = true,
    .npu = QP_NPU_YES,
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = shape,
    .bounds = bounds,
    .evaluate = evaluate,
};
