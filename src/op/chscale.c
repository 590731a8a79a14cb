/* SPDX-License-Identifier: Apache-2.0 */
/* chscale.c - a multiplier row chosen by a scalar (integer-operators.md section 5.4, 0x03). */
#include "op/params.h"
#include "op/rq.h"

typedef struct chscale_params {
    uint32_t scalar, n_rows;
    qp_round round;
    uint8_t m_bytes, shift;
    qp_integers m; /* [n_rows][C] */
} chscale_params;

/* ---- parameters --------------------------------------------------------------------------- */

static unsigned m_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    dims[0] = ((const chscale_params *)params)->n_rows;
    dims[1] = in_channels;
    return 2;
}

#define AT(member) offsetof(chscale_params, member)
static const qp_field fields[] = {
    {.name = "scalar", .kind = QP_FIELD_U32, .offset = AT(scalar)},
    {.name = "n_rows", .kind = QP_FIELD_U32, .offset = AT(n_rows), .minimum = 1},
    {.name = "round", .kind = QP_FIELD_ROUND, .offset = AT(round)},
    {.name = "m_bytes", .kind = QP_FIELD_WIDTH, .offset = AT(m_bytes), .minimum = QP_WIDTHS_WIDE},
    {.name = "shift", .kind = QP_FIELD_U8, .offset = AT(shift), .maximum = QP_SHIFT_MAX},
    {.kind = QP_FIELD_RESERVED, .minimum = 1},
    {.name = "m",
     .kind = QP_FIELD_INTEGERS,
     .offset = AT(m),
     .dims = m_dims,
     .width_offset = AT(m_bytes)},
};
#undef AT

static const char *check(const void *params, const qp_params_context *context)
{
    const chscale_params *p = params;
    if (p->scalar >= context->n_scalars)
        return "chscale reads a scalar that the graph does not have";
    qp_range range = context->scalars[p->scalar];
    if (range.lo < 0 || range.hi >= p->n_rows)
        return "the range of chscale's scalar passes the rows of its table";
    return NULL;
}

/* ---- bounds ------------------------------------------------------------------------------- */

/*
 * Over the rows the scalar allows, the rq.p and rq.q rules take each end of P = m·[l, h] at the
 * least or the greatest multiplier: m·l and m·h are linear in m, and every rounding is
 * non-decreasing. So the hull over those two is the hull over all rows.
 */
static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const chscale_params *p = query->params;
    qp_range rows = query->scalar_ranges[p->scalar];
    uint32_t channels = query->in_channels;
    qp_range every = qp_integers_range(&p->m, 0, p->m.count);
    qp_rq_hull hull = {0};

    for (uint32_t c = 0; c < channels; c++) {
        qp_range m = {INT64_MAX, INT64_MIN};
        for (int64_t row = rows.lo; row <= rows.hi; row++) {
            int64_t v = qp_integers_at(&p->m, (size_t)row * channels + c);
            m.lo = qp_min_i64(m.lo, v);
            m.hi = qp_max_i64(m.hi, v);
        }
        qp_rq_channel r = {.mult = m.lo, .shift = p->shift, .round = p->round};
        qp_rq_bounds_or_hull(&hull, &r, query->in[0], bounds);
        r.mult = m.hi;
        qp_rq_bounds_or_hull(&hull, &r, query->in[0], bounds);
    }
    qp_rq_hull_record(&hull, bounds);

    bounds->weights = every;
    qp_bounds_condition_i32(bounds, QP_CONDITION_CHSCALE_M, every);
    qp_bounds_condition_shift(bounds, QP_CONDITION_CHSCALE_S, p->shift);
    qp_rq_round_facts(p->round, true, bounds);
    qp_rq_mult_facts(every, bounds);
    qp_rq_shift_facts(p->shift, bounds);
    bounds->npu_flags |= 1u << QP_NPU_FLAG_CHSCALE;
}

/* ---- evaluation --------------------------------------------------------------------------- */

static void span(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count)
{
    const chscale_params *p = e->params;
    size_t row = (size_t)e->scalars[p->scalar]; /* within the table: a load check */
    qp_rq_channel r = {
        .mult = qp_integers_at(&p->m, row * e->in[0].shape.channels + channel),
        .shift = p->shift,
        .round = p->round,
    };
    qp_rq_span(e, &r, values, count);
}

static qp_status evaluate(const qp_evaluation *e)
{
    return qp_evaluate_spans(e, span);
}

static const qp_intermediate intermediates[] = {QP_RQ_T, QP_RQ_P, QP_RQ_Q, QP_RQ_Y};

const qp_operator qp_operator_chscale = {
    .opcode = 0x03,
    .name = "chscale",
    .section = "5.4",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_FLAGGED,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(chscale_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .has_mac = true,
    .check = check,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .evaluate = evaluate,
};
