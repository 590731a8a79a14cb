/* SPDX-License-Identifier: Apache-2.0 */
/* crop_to.c - the corner that another tensor's size covers (section 5.10, opcode 0x0F). */
#include "op/crop.h"

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    if (plan->in[1].height > plan->in[0].height || plan->in[1].width > plan->in[0].width) {
        *why = "the reference is larger than the input";
        return QP_GEOMETRY_MISMATCH;
    }
    out[0].height = plan->in[1].height;
    out[0].width = plan->in[1].width;
    return QP_OK;
}

/* The first input's interval: only the reference's shape is read. */
static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    qp_bounds_result(bounds, 0, query->in[0]);
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_crop(e, 0, 0);
}

const qp_operator qp_operator_crop_to = {
    .opcode = 0x0F,
    .name = "crop_to",
    .section = "5.10",
    .n_in = 2,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = shape,
    .bounds = bounds,
    .evaluate = evaluate,
};
