/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - one value everywhere (integer-operators.md section 5.10, opcode 0x17). */
#include "op/op.h"

typedef struct fill_params {
    qp_operand value;
} fill_params;

static const qp_field fields[] = {
    {.name = "value", .kind = QP_FIELD_OPERAND64, .offset = offsetof(fill_params, value)},
};

/* The output's channels are its tensor record's. */
static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    (void)params, (void)in, (void)n_in, (void)out;
    return NULL;
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const qp_operand *value = &((const fill_params *)query->params)->value;
    qp_range range = {value->value, value->value};
    if (value->scalar)
        range = query->scalar_ranges[value->value];
    qp_bounds_result(bounds, 0, qp_interval_of(range.lo, range.hi));
}

enum { SPAN = 512 };

static qp_status evaluate(const qp_evaluation *e)
{
    const fill_params *p = e->params;
    size_t total = (size_t)qp_shape_elements(&e->out[0].tensor.shape);
    int64_t value = qp_operand_value(&p->value, e->scalars);
    int64_t values[SPAN];

    for (size_t k = 0; k < SPAN; k++)
        values[k] = value;
    for (size_t done = 0, n; done < total; done += n) {
        n = total - done < SPAN ? total - done : SPAN;
        qp_status status = qp_emit(e, 0, done, values, n);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

const qp_operator qp_operator_fill = {
    .opcode = 0x17,
    .name = "fill",
    .section = "5.10",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(fill_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = channels,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
