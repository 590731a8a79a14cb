/* SPDX-License-Identifier: Apache-2.0 */
/* lut16.c - a table over 16-bit values (integer-operators.md section 5.6, opcode 0x04). */
#include "op/params.h"

enum { ENTRIES = 65536, CENTRE = 32768, INPUT_MAX = 32767 };

typedef struct lut16_params {
    int8_t e_in, e_out;
    qp_integers table; /* [65536], entry v + 32768 for the value v */
} lut16_params;

/* ---- parameters --------------------------------------------------------------------------- */

static unsigned table_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)params, (void)in_channels;
    dims[0] = ENTRIES;
    return 1;
}

#define AT(member) offsetof(lut16_params, member)
static const qp_field fields[] = {
    {.name = "e_in", .kind = QP_FIELD_EXPONENT, .offset = AT(e_in), .exponent_of = QP_OF_INPUT},
    {.name = "e_out", .kind = QP_FIELD_EXPONENT, .offset = AT(e_out), .exponent_of = QP_OF_OUTPUT},
    {.kind = QP_FIELD_RESERVED, .minimum = 2},
    {.name = "table",
     .kind = QP_FIELD_INTEGERS,
     .offset = AT(table),
     .dims = table_dims,
     .width_offset = QP_FIXED_WIDTH(2)},
};
#undef AT

static const char *check(const void *params, const qp_params_context *context)
{
    const lut16_params *p = params;
    (void)context;
    return qp_integers_at(&p->table, 0) == 0 ? NULL : "lut16's entry 0 is not 0";
}

/* ---- bounds ------------------------------------------------------------------------------- */

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const lut16_params *p = query->params;
    qp_interval limit = qp_interval_of(-INPUT_MAX, INPUT_MAX);

    bounds->npu_flags |= 1u << QP_NPU_FLAG_LUT16;
    if (qp_bound_compare(&query->in[0].lo, &limit.lo) < 0 ||
        qp_bound_compare(&query->in[0].hi, &limit.hi) > 0) {
        bounds->outside_table = true;
        return;
    }
    size_t from = (size_t)(qp_bound_to_i64(&query->in[0].lo) + CENTRE);
    size_t to = (size_t)(qp_bound_to_i64(&query->in[0].hi) + CENTRE);
    qp_range range = qp_integers_range(&p->table, from, to - from + 1);
    qp_bounds_result(bounds, 0, qp_interval_of(range.lo, range.hi));
}

/* ---- evaluation --------------------------------------------------------------------------- */

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    const lut16_params *p = e->params;
    (void)channel;
    for (size_t k = 0; k < count; k++)
        values[k] = qp_integers_at(&p->table, (size_t)(values[k] + CENTRE));
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

const qp_operator qp_operator_lut16 = {
    .opcode = 0x04,
    .name = "lut16",
    .section = "5.6",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_FLAGGED,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(lut16_params),
    .k_c = QP_INTERMEDIATE_COUNT,
    .check = check,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
