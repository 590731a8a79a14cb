/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_add.c - the sum of a tensor's two halves (integer-operators.md section 5.5, 0x07). */
#include "op/op.h"

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    (void)params, (void)n_in;
    if (in[0] % 2 != 0)
        return "the input's channels are not even";
    out[0] = in[0] / 2;
    return NULL;
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    qp_interval two = qp_interval_of(2, 2);
    qp_interval in = query->in[0];
    qp_bounds_result(bounds, 0,
                     (qp_interval){qp_bound_mul(two.lo, in.lo, &bounds->saturated),
                                   qp_bound_mul(two.hi, in.hi, &bounds->saturated)});
}

static void span(const qp_evaluation *e, size_t start, int64_t *values, size_t count)
{
    const qp_shape *shape = &e->in[0].shape;
    size_t half = (size_t)shape->channels / 2 * shape->height * shape->width;
    qp_tensor_add(&e->in[0], half + start, values, count);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *shape = &e->out[0].tensor.shape;
    return qp_evaluate_sums(e, (size_t)qp_shape_elements(shape), span);
}

const qp_operator qp_operator_chunk_add = {
    .opcode = 0x07,
    .name = "chunk_add",
    .section = "5.5",
    .n_in = 1,
    .n_out = 1,
    .equal_exponents = true,
    .state_add = true,
    .npu = QP_NPU_YES,
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
