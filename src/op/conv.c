/* SPDX-License-Identifier: Apache-2.0 */
/* conv.c - convolution (integer-operators.md section 5.2, opcode 0x01). */
#include "op/convolution.h"
#include "op/params.h"

/* ---- parameters --------------------------------------------------------------------------- */

static unsigned rq_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)in_channels;
    dims[0] = ((const qp_conv *)params)->cout;
    return 1;
}

static unsigned weight_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    const qp_conv *p = params;
    dims[0] = p->cout;
    dims[1] = in_channels / p->groups;
    dims[2] = p->kh;
    dims[3] = p->kw;
    return 4;
}

#define AT(member) offsetof(qp_conv, member)
static const qp_field fields[] = {
    {.name = "cout", .kind = QP_FIELD_U32, .offset = AT(cout), .minimum = 1},
    {.name = "kh", .kind = QP_FIELD_U32, .offset = AT(kh), .minimum = 1},
    {.name = "kw", .kind = QP_FIELD_U32, .offset = AT(kw), .minimum = 1},
    {.name = "sh", .kind = QP_FIELD_U32, .offset = AT(sh), .minimum = 1},
    {.name = "sw", .kind = QP_FIELD_U32, .offset = AT(sw), .minimum = 1},
    {.name = "ph", .kind = QP_FIELD_U32, .offset = AT(ph)},
    {.name = "pw", .kind = QP_FIELD_U32, .offset = AT(pw)},
    {.name = "groups", .kind = QP_FIELD_U32, .offset = AT(groups), .minimum = 1},
    {.name = "w_bytes", .kind = QP_FIELD_WIDTH, .offset = AT(w_bytes), .minimum = QP_WIDTHS_ALL},
    {.kind = QP_FIELD_RESERVED, .minimum = 3},
    {.name = "rq", .kind = QP_FIELD_RQ, .offset = AT(rq), .dims = rq_dims, .rq_admits = QP_RQ_ANY},
    {.name = "weights",
     .kind = QP_FIELD_INTEGERS,
     .offset = AT(weights),
     .dims = weight_dims,
     .width_offset = AT(w_bytes)},
};
#undef AT

/* ---- shape -------------------------------------------------------------------------------- */

static const char *channels(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out)
{
    const qp_conv *p = params;
    (void)n_in;
    if (in[0] % p->groups != 0)
        return "the input's channels are not a multiple of groups";
    if (p->cout % p->groups != 0)
        return "cout is not a multiple of groups";
    out[0] = p->cout;
    return NULL;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    const qp_conv *p = plan->params;
    /* u32 + 2·u32 < 2^34 */
    uint64_t padded_h = plan->in[0].height + 2 * (uint64_t)p->ph;
    uint64_t padded_w = plan->in[0].width + 2 * (uint64_t)p->pw;

    if (qp_check_side(padded_h, "the padded height passes 2^26", why) != QP_OK ||
        qp_check_side(padded_w, "the padded width passes 2^26", why) != QP_OK)
        return QP_TOO_LARGE;
    if (padded_h < p->kh || padded_w < p->kw) {
        *why = "the kernel is larger than the padded input";
        return QP_GEOMETRY_MISMATCH;
    }
    out[0].height = (uint32_t)((padded_h - p->kh) / p->sh + 1);
    out[0].width = (uint32_t)((padded_w - p->kw) / p->sw + 1);
    return QP_OK;
}

/* ---- bounds ------------------------------------------------------------------------------- */

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const qp_conv *p = query->params;
    size_t taps = p->weights.count / p->cout;
    qp_conv_bounds b = qp_conv_bounds_start(query, QP_CONV_TERM, QP_CONV_ACC, bounds);

    for (uint32_t o = 0; o < p->cout; o++) {
        qp_fold fold = qp_fold_empty();
        qp_rq_channel r = qp_rq_at(&p->rq, o);
        qp_integers_fold(&p->weights, o * taps, taps, &fold);
        qp_conv_bounds_channel(&b, &fold, 1, &r);
    }
    qp_conv_bounds_end(&b, &p->rq);
}

static qp_npu_reason npu_reason(const void *params, uint32_t in_channels)
{
    const qp_conv *p = params;
    bool depthwise = p->groups == in_channels && p->cout == in_channels;
    return p->groups == 1 || depthwise ? QP_NPU_INSIDE : QP_NPU_CONV_GROUPS;
}

/* ---- evaluation --------------------------------------------------------------------------- */

/*
 * One output row is a sum over the taps of a group: weight times a run of one input row. The rows a
 * group needs are widened to int64 once and kept for all of its output channels, each split into
 * the `sw` phases of the stride, so that the inner loop runs over neighbouring elements and knows
 * its bounds before it starts. Scratch: an accumulator row, then cg·min(kh, H) input rows.
 */
typedef struct conv_work {
    const qp_conv *p;
    const qp_tensor *in;
    uint32_t cg;        /* input channels of a group */
    uint32_t rows;      /* kernel rows that can meet the input: min(kh, H) */
    uint32_t width_out; /* of the output */
    int64_t *acc;       /* [width_out] */
    int64_t *widened;   /* [cg][rows][width_in] */
    qp_conv_rows meet;  /* at the output row in work */
} conv_work;

static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    const qp_conv *p = plan->params;
    if (out[0].width < QP_CONV_NARROW)
        return p->weights.count / p->cout; /* one position's inputs */
    uint32_t rows = p->kh < plan->in[0].height ? p->kh : plan->in[0].height;
    /* each factor is at most 2^26 and rows·width at most an input plane */
    return out[0].width + (uint64_t)plan->in[0].channels / p->groups * rows * plan->in[0].width;
}

static int64_t *widened_row(const conv_work *c, uint32_t ci, uint32_t i)
{
    return c->widened + ((size_t)ci * c->rows + i) * c->in->shape.width;
}

/* Widens the rows that the taps of output row `y` meet, for the channels of one group. */
static void widen_rows(conv_work *c, uint32_t group, uint32_t y)
{
    const qp_shape *shape = &c->in->shape;

    c->meet = qp_conv_rows_at(c->p, shape->height, y);
    for (uint32_t ci = 0; ci < c->cg; ci++)
        for (uint32_t i = 0; i < c->meet.count; i++) {
            size_t channel = (size_t)group * c->cg + ci;
            size_t row = channel * shape->height + c->meet.row + i;
            qp_tensor_load_phases(c->in, row * shape->width, c->p->sw, shape->width,
                                  widened_row(c, ci, i));
        }
}

/* Adds tap column `j` of every kernel row and channel: they share one run of columns. */
static void accumulate_column(const qp_evaluation *e, const conv_work *c, uint32_t o, uint32_t j)
{
    const qp_conv *p = c->p;
    qp_conv_run run = qp_conv_run_at(p, c->in->shape.width, c->width_out, j);

    if (run.count == 0)
        return;
    for (uint32_t ci = 0; ci < c->cg; ci++)
        for (uint32_t i = 0; i < c->meet.count; i++) {
            size_t tap = (((size_t)o * c->cg + ci) * p->kh + c->meet.tap + i) * p->kw + j;
            int64_t w = qp_integers_at(&p->weights, tap);
            if (w != 0) /* a term that is zero may be skipped (section 6) */
                qp_accumulate(e, (qp_accumulate_keys){QP_CONV_TERM, QP_CONV_ACC},
                              c->acc + run.first, widened_row(c, ci, i) + run.from, w, run.count);
        }
}

static qp_status evaluate_row(const qp_evaluation *e, const conv_work *c, uint32_t o, uint32_t y)
{
    qp_rq_channel r = qp_rq_at(&c->p->rq, o);
    size_t out_row = ((size_t)o * e->out[0].tensor.shape.height + y) * c->width_out;

    memset(c->acc, 0, c->width_out * sizeof *c->acc);
    for (uint32_t j = 0; j < c->p->kw; j++)
        accumulate_column(e, c, o, j);
    qp_rq_span(e, &r, c->acc, c->width_out);
    return qp_emit(e, 0, out_row, c->acc, c->width_out);
}

/*
 * A narrow output has no runs worth a loop: one position's inputs are gathered instead, zeros where
 * padding stands, and each output channel is their product with its weights, which stand together.
 */
static void gather(const qp_evaluation *e, uint32_t group, uint32_t y, uint32_t x)
{
    const qp_conv *p = e->params;
    const qp_shape *in = &e->in[0].shape;
    uint32_t cg = in->channels / p->groups;
    int64_t top = (int64_t)y * p->sh - p->ph, left = (int64_t)x * p->sw - p->pw;
    int64_t first = qp_max_i64(0, -left), end = qp_min_i64(p->kw, in->width - left);

    memset(e->scratch, 0, (size_t)cg * p->kh * p->kw * sizeof *e->scratch);
    for (uint32_t ci = 0; ci < cg && first < end; ci++)
        for (uint32_t i = 0; i < p->kh; i++) {
            int64_t row = top + i;
            if (row < 0 || row >= in->height)
                continue;
            size_t channel = (size_t)group * cg + ci;
            size_t from = (channel * in->height + (size_t)row) * in->width;
            qp_tensor_read(&e->in[0], from + (size_t)(left + first), (size_t)(end - first),
                           e->scratch + ((size_t)ci * p->kh + i) * p->kw + first);
        }
}

static qp_status evaluate_position(const qp_evaluation *e, uint32_t group, uint32_t y, uint32_t x)
{
    const qp_conv *p = e->params;
    const qp_shape *out = &e->out[0].tensor.shape;
    uint32_t og = p->cout / p->groups;
    size_t taps = p->weights.count / p->cout;

    gather(e, group, y, x);
    for (uint32_t o = group * og; o < (group + 1) * og; o++) {
        qp_rq_channel r = qp_rq_at(&p->rq, o);
        int64_t value = qp_dot(e, (qp_accumulate_keys){QP_CONV_TERM, QP_CONV_ACC}, &p->weights,
                               o * taps, e->scratch, taps);
        qp_rq_span(e, &r, &value, 1);
        size_t at = ((size_t)o * out->height + y) * out->width + x;
        qp_status status = qp_emit(e, 0, at, &value, 1);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

static qp_status evaluate_narrow(const qp_evaluation *e)
{
    const qp_conv *p = e->params;
    const qp_shape *out = &e->out[0].tensor.shape;

    for (uint32_t group = 0; group < p->groups; group++)
        for (uint32_t y = 0; y < out->height; y++)
            for (uint32_t x = 0; x < out->width; x++) {
                qp_status status = evaluate_position(e, group, y, x);
                if (status != QP_OK)
                    return status;
            }
    return QP_OK;
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_conv *p = e->params;
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;
    uint32_t og = p->cout / p->groups;
    if (out->width < QP_CONV_NARROW)
        return evaluate_narrow(e);
    conv_work c = {
        .p = p,
        .in = &e->in[0],
        .cg = in->channels / p->groups,
        .rows = p->kh < in->height ? p->kh : in->height,
        .width_out = out->width,
        .acc = e->scratch,
        .widened = e->scratch + out->width,
    };

    for (uint32_t group = 0; group < p->groups; group++)
        for (uint32_t y = 0; y < out->height; y++) {
            widen_rows(&c, group, y);
            for (uint32_t o = group * og; o < (group + 1) * og; o++) {
                qp_status status = evaluate_row(e, &c, o, y);
                if (status != QP_OK)
                    return status;
            }
        }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {QP_CONV_TERM, QP_CONV_ACC, QP_RQ_T,
                                                QP_RQ_P,      QP_RQ_Q,     QP_RQ_Y};

const qp_operator qp_operator_conv = {
    .opcode = 0x01,
    .name = "conv",
    .section = "5.2",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(qp_conv),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_CONV_TERM,
    .has_mac = true,
    .channels = channels,
    .shape = shape,
    .bounds = bounds,
    .npu_reason = npu_reason,
    .scratch = scratch,
    .evaluate = evaluate,
};
