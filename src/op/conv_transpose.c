/* SPDX-License-Identifier: Apache-2.0 */
/* conv_transpose.c - transposed convolution (integer-operators.md section 5.3, opcode 0x11). */
#include "op/convolution.h"
#include "op/params.h"
#include "op/rq.h"

/* ---- parameters --------------------------------------------------------------------------- */

static unsigned rq_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)in_channels;
    dims[0] = ((const qp_conv_transpose *)params)->cout;
    return 1;
}

static unsigned weight_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    const qp_conv_transpose *p = params;
    dims[0] = in_channels;
    dims[1] = p->cout;
    dims[2] = p->kh;
    dims[3] = p->kw;
    return 4;
}

#define AT(member) offsetof(qp_conv_transpose, member)
static const qp_field fields[] = {
    {.name = "cout", .kind = QP_FIELD_U32, .offset = AT(cout), .minimum = 1},
    {.name = "kh", .kind = QP_FIELD_U32, .offset = AT(kh), .minimum = 1},
    {.name = "kw", .kind = QP_FIELD_U32, .offset = AT(kw), .minimum = 1},
    {.name = "sh", .kind = QP_FIELD_U32, .offset = AT(sh), .minimum = 1},
    {.name = "sw", .kind = QP_FIELD_U32, .offset = AT(sw), .minimum = 1},
    {.name = "ph", .kind = QP_FIELD_U32, .offset = AT(ph)},
    {.name = "pw", .kind = QP_FIELD_U32, .offset = AT(pw)},
    {.name = "oph", .kind = QP_FIELD_U32, .offset = AT(oph)},
    {.name = "opw", .kind = QP_FIELD_U32, .offset = AT(opw)},
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
    (void)in, (void)n_in;
    out[0] = ((const qp_conv_transpose *)params)->cout;
    return NULL;
}

/* uh and uw; the side is at most 2^26 and the rest u32, so each is below 2^59. */
static uint64_t uncropped(uint32_t side, uint32_t stride, uint32_t kernel, uint32_t padding)
{
    return (uint64_t)(side - 1) * stride + kernel + padding;
}

static qp_status shape(const qp_plan *plan, qp_shape *out, const char **why)
{
    const qp_conv_transpose *p = plan->params;
    uint64_t uh = uncropped(plan->in[0].height, p->sh, p->kh, p->oph);
    uint64_t uw = uncropped(plan->in[0].width, p->sw, p->kw, p->opw);

    if (qp_check_side(uh, "the uncropped height passes 2^26", why) != QP_OK ||
        qp_check_side(uw, "the uncropped width passes 2^26", why) != QP_OK)
        return QP_TOO_LARGE;
    qp_shape whole = {p->cout, (uint32_t)uh, (uint32_t)uw};
    if (qp_check_side(qp_shape_elements(&whole), "the uncropped output passes 2^26", why) != QP_OK)
        return QP_TOO_LARGE;
    if (uh <= 2 * (uint64_t)p->ph || uw <= 2 * (uint64_t)p->pw) {
        *why = "the padding leaves no output";
        return QP_GEOMETRY_MISMATCH;
    }
    out[0].height = (uint32_t)(uh - 2 * (uint64_t)p->ph);
    out[0].width = (uint32_t)(uw - 2 * (uint64_t)p->pw);
    return QP_OK;
}

/* ---- bounds ------------------------------------------------------------------------------- */

/* A kernel of at most this many taps keeps a fold for each residue, and one for each tap, at once.
 */
enum { TAPS_MAX = 256 };

/* The residues that some tap reaches. One without taps would add [min(0, b), max(0, b)], which the
 * interval of every other residue holds. */
static size_t count_residues(const qp_conv_transpose *p)
{
    size_t rows = p->sh < p->kh ? p->sh : p->kh, columns = p->sw < p->kw ? p->sw : p->kw;
    return rows * columns;
}

/* Folds every weight of output channel `o` once: each input channel's taps stand together. */
static void fold_small_kernel(const qp_conv_transpose *p, uint32_t in_channels, uint32_t o,
                              qp_fold *residues)
{
    qp_fold taps[TAPS_MAX];
    size_t kernel = (size_t)p->kh * p->kw;
    uint32_t columns = p->sw < p->kw ? p->sw : p->kw;

    for (size_t t = 0; t < kernel; t++)
        taps[t] = qp_fold_empty();
    for (uint32_t ci = 0; ci < in_channels; ci++)
        qp_integers_fold_each(&p->weights, ((size_t)ci * p->cout + o) * kernel, kernel, taps);
    for (size_t r = 0; r < count_residues(p); r++)
        residues[r] = qp_fold_empty();
    for (size_t t = 0; t < kernel; t++) {
        size_t row = t / p->kw % p->sh, column = t % p->kw % p->sw;
        qp_fold_merge(&residues[row * columns + column], &taps[t]);
    }
}

/* The weights of residue (row, column) of output channel `o`. */
static qp_fold fold_residue(const qp_conv_transpose *p, uint32_t in_channels, uint32_t o,
                            const uint32_t residue[2])
{
    qp_fold fold = qp_fold_empty();
    size_t kernel = (size_t)p->kh * p->kw;

    for (uint32_t ci = 0; ci < in_channels; ci++) {
        size_t plane = ((size_t)ci * p->cout + o) * kernel;
        for (uint64_t i = residue[0]; i < p->kh; i += p->sh)
            for (uint64_t j = residue[1]; j < p->kw; j += p->sw)
                qp_fold_add(&fold, qp_integers_at(&p->weights, plane + (size_t)(i * p->kw + j)));
    }
    return fold;
}

/* A large kernel's residues one after another: each gives the channel's rules on its own, whose
 * hull is the rule on the hull of the accumulators, since every rounding is non-decreasing. */
static void bounds_of_large_kernel(const qp_bounds_query *query, uint32_t o, qp_conv_bounds *b)
{
    const qp_conv_transpose *p = query->params;
    uint32_t rows = p->sh < p->kh ? p->sh : p->kh, columns = p->sw < p->kw ? p->sw : p->kw;
    qp_rq_channel r = qp_rq_at(&p->rq, o);

    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++) {
            qp_fold fold = fold_residue(p, query->in_channels, o, (uint32_t[]){row, column});
            qp_conv_bounds_channel(b, &fold, 1, &r);
        }
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const qp_conv_transpose *p = query->params;
    qp_fold residues[TAPS_MAX];
    qp_conv_bounds b = qp_conv_bounds_start(query, QP_CONVT_TERM, QP_CONVT_ACC, bounds);
    bool small = (uint64_t)p->kh * p->kw <= TAPS_MAX;

    for (uint32_t o = 0; o < p->cout; o++) {
        if (!small) {
            bounds_of_large_kernel(query, o, &b);
            continue;
        }
        qp_rq_channel r = qp_rq_at(&p->rq, o);
        fold_small_kernel(p, query->in_channels, o, residues);
        qp_conv_bounds_channel(&b, residues, count_residues(p), &r);
    }
    qp_conv_bounds_end(&b, &p->rq);
}

/* ---- evaluation --------------------------------------------------------------------------- */

/*
 * Output row y gathers the kernel rows i with y + ph - i a multiple of sh. Within a row, tap j adds
 * input column v to uncropped column v·sw + j: with the accumulator split into the sw phases of its
 * columns, that is a run of neighbours. Scratch: an accumulator of uw columns, an output row, then
 * the widened input rows [cin][rows][W].
 */
typedef struct transpose_work {
    const qp_conv_transpose *p;
    const qp_tensor *in;
    uint32_t uw;
    uint32_t rows;          /* the most kernel rows that meet one output row */
    int64_t *acc;           /* [uw], in phases of sw */
    int64_t *out_row;       /* [width of the output] */
    int64_t *widened;       /* [cin][rows][W] */
    qp_transpose_rows meet; /* at the output row in work */
} transpose_work;

static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    const qp_conv_transpose *p = plan->params;
    const qp_shape *in = &plan->in[0];
    /* uw and the output's width are at most 2^26; cin·rows·W is at most the input's elements */
    return (uint64_t)qp_transpose_width(p, in->width) + out[0].width +
           (uint64_t)in->channels * qp_transpose_rows_most(p, in->height) * in->width;
}

/* Widens the input rows that output row `y` gathers. */
static void widen_rows(transpose_work *t, uint32_t y)
{
    const qp_shape *shape = &t->in->shape;

    t->meet = qp_transpose_rows_at(t->p, shape->height, y);
    for (uint32_t ci = 0; ci < shape->channels; ci++)
        for (uint32_t k = 0; k < t->meet.count; k++) {
            size_t from = ((size_t)ci * shape->height + t->meet.row - k) * shape->width;
            int64_t *to = t->widened + ((size_t)ci * t->rows + k) * shape->width;
            qp_tensor_read(t->in, from, shape->width, to);
        }
}

static void accumulate_row(const qp_evaluation *e, const transpose_work *t, const int64_t *row,
                           size_t weight)
{
    uint32_t sw = t->p->sw;
    for (uint32_t j = 0; j < t->p->kw; j++, weight++) {
        int64_t w = qp_integers_at(&t->p->weights, weight);
        if (w == 0)
            continue; /* a term that is zero may be skipped (section 6) */
        int64_t *acc = t->acc + qp_phase_start(t->uw, sw, j % sw) + j / sw;
        qp_accumulate(e, (qp_accumulate_keys){QP_CONVT_TERM, QP_CONVT_ACC}, acc, row, w,
                      t->in->shape.width);
    }
}

/* out_row[x] = acc at uncropped column x + pw */
static void crop_row(const transpose_work *t, uint32_t width)
{
    uint32_t sw = t->p->sw;
    for (uint32_t x = 0; x < width && x < sw; x++) {
        size_t column = (size_t)x + t->p->pw;
        const int64_t *from = t->acc + qp_phase_start(t->uw, sw, column % sw) + column / sw;
        for (uint64_t at = x; at < width; at += sw)
            t->out_row[at] = *from++;
    }
}

static qp_status evaluate_row(const qp_evaluation *e, const transpose_work *t, uint32_t o,
                              uint32_t y)
{
    const qp_conv_transpose *p = t->p;
    const qp_shape *in = &t->in->shape, *out = &e->out[0].tensor.shape;
    qp_rq_channel r = qp_rq_at(&p->rq, o);

    memset(t->acc, 0, t->uw * sizeof *t->acc);
    for (uint32_t ci = 0; ci < in->channels; ci++)
        for (uint32_t k = 0; k < t->meet.count; k++) {
            size_t tap = t->meet.tap + (size_t)k * p->sh;
            size_t weight = (((size_t)ci * p->cout + o) * p->kh + tap) * p->kw;
            accumulate_row(e, t, t->widened + ((size_t)ci * t->rows + k) * in->width, weight);
        }
    crop_row(t, out->width);
    qp_rq_span(e, &r, t->out_row, out->width);
    return qp_emit(e, 0, ((size_t)o * out->height + y) * out->width, t->out_row, out->width);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_conv_transpose *p = e->params;
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;
    uint32_t uw = qp_transpose_width(p, in->width);
    transpose_work t = {
        .p = p,
        .in = &e->in[0],
        .uw = uw,
        .rows = qp_transpose_rows_most(p, in->height),
        .acc = e->scratch,
        .out_row = e->scratch + uw,
        .widened = e->scratch + uw + out->width,
    };

    for (uint32_t y = 0; y < out->height; y++) {
        widen_rows(&t, y);
        for (uint32_t o = 0; o < p->cout; o++) {
            qp_status status = evaluate_row(e, &t, o, y);
            if (status != QP_OK)
                return status;
        }
    }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {QP_CONVT_TERM, QP_CONVT_ACC, QP_RQ_T,
                                                QP_RQ_P,       QP_RQ_Q,      QP_RQ_Y};

const qp_operator qp_operator_conv_transpose = {
    .opcode = 0x11,
    .name = "conv_transpose",
    .section = "5.3",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_YES,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(qp_conv_transpose),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_CONVT_TERM,
    .has_mac = true,
    .channels = channels,
    .shape = shape,
    .bounds = bounds,
    .scratch = scratch,
    .evaluate = evaluate,
};
