/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_i16.c - convolution on 16-bit inputs and weights with 32-bit sums, in plain C that compilers
 * vectorise.
 *
 * It is exact where the certificate says that the input and the weights fit i16 and `conv.acc` fits
 * i32: that interval holds every sum of every subset of the terms (section 8.2), so the sums below,
 * four terms at a time, pass no width in any order. The products of two i16 fit i32 on their own.
 */
#include "kernel/kernel.h"
#include "op/convolution.h"

enum { TERMS = 4 }; /* added in one pass over the accumulator */

static bool takes(const qp_kernel_query *query)
{
    return qp_kernel_input_fits(query, 0, 16) && qp_kernel_weights_fit(query, 16) &&
           qp_kernel_fits(query, QP_CONV_ACC, 32);
}

typedef struct conv_work {
    const qp_conv *p;
    const qp_tensor *in;
    uint32_t cg, rows, width_out;
    qp_conv_rows meet;
    int64_t *wide; /* [max(width_in, width_out)]: a row on its way in or out */
    int32_t *acc;  /* [width_out] */
    int16_t *kept; /* [cg][rows][width_in], in the phases of sw */
} conv_work;

static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    const qp_conv *p = plan->params;
    const qp_shape *in = &plan->in[0];
    uint32_t rows = p->kh < in->height ? p->kh : in->height;
    uint64_t wide = in->width > out[0].width ? in->width : out[0].width;
    uint64_t kept = (uint64_t)in->channels / p->groups * rows * in->width;
    return wide + out[0].width / 2 + 1 + kept / 4 + 1;
}

static int16_t *kept_row(const conv_work *c, uint32_t ci, uint32_t i)
{
    return c->kept + ((size_t)ci * c->rows + i) * c->in->shape.width;
}

static void keep_rows(conv_work *c, uint32_t group, uint32_t y)
{
    const qp_shape *shape = &c->in->shape;

    c->meet = qp_conv_rows_at(c->p, shape->height, y);
    for (uint32_t ci = 0; ci < c->cg; ci++)
        for (uint32_t i = 0; i < c->meet.count; i++) {
            size_t row = ((size_t)group * c->cg + ci) * shape->height + c->meet.row + i;
            int16_t *to = kept_row(c, ci, i);
            qp_tensor_load_phases(c->in, row * shape->width, c->p->sw, shape->width, c->wide);
            for (uint32_t x = 0; x < shape->width; x++)
                to[x] = (int16_t)c->wide[x];
        }
}

/* acc[k] += the sum of weight[t]·run[t][k] over the four terms */
static void accumulate(int32_t *restrict acc, const int16_t *const run[TERMS],
                       const int16_t weight[TERMS], size_t count)
{
    const int16_t *restrict r0 = run[0], *restrict r1 = run[1];
    const int16_t *restrict r2 = run[2], *restrict r3 = run[3];
    int16_t w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3];

    for (size_t k = 0; k < count; k++)
        acc[k] += w0 * r0[k] + w1 * r1[k] + w2 * r2[k] + w3 * r3[k];
}

/* Adds tap column `j` of every kernel row and channel, four at a time; a last group is filled up
 * with zero weights, whose terms are zero (section 6). */
static void accumulate_column(const conv_work *c, uint32_t o, uint32_t j)
{
    const qp_conv *p = c->p;
    qp_conv_run at = qp_conv_run_at(p, c->in->shape.width, c->width_out, j);
    const int16_t *run[TERMS];
    int16_t weight[TERMS];
    unsigned terms = 0;

    if (at.count == 0)
        return;
    for (uint32_t ci = 0; ci < c->cg; ci++)
        for (uint32_t i = 0; i < c->meet.count; i++) {
            size_t tap = (((size_t)o * c->cg + ci) * p->kh + c->meet.tap + i) * p->kw + j;
            run[terms] = kept_row(c, ci, i) + at.from;
            weight[terms] = (int16_t)qp_integers_at(&p->weights, tap);
            if (++terms == TERMS) {
                accumulate(c->acc + at.first, run, weight, at.count);
                terms = 0;
            }
        }
    if (terms == 0)
        return;
    for (; terms < TERMS; terms++) {
        run[terms] = run[0];
        weight[terms] = 0;
    }
    accumulate(c->acc + at.first, run, weight, at.count);
}

static qp_status evaluate_row(const qp_evaluation *e, const conv_work *c, uint32_t o, uint32_t y)
{
    qp_rq_channel r = qp_rq_at(&c->p->rq, o);
    size_t out_row = ((size_t)o * e->out[0].tensor.shape.height + y) * c->width_out;

    memset(c->acc, 0, c->width_out * sizeof *c->acc);
    for (uint32_t j = 0; j < c->p->kw; j++)
        accumulate_column(c, o, j);
    for (uint32_t x = 0; x < c->width_out; x++)
        c->wide[x] = c->acc[x];
    qp_rq_span(e, &r, c->wide, c->width_out);
    return qp_emit(e, 0, out_row, c->wide, c->width_out);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_conv *p = e->params;
    const qp_shape *in = &e->in[0].shape, *out = &e->out[0].tensor.shape;
    uint32_t og = p->cout / p->groups;
    size_t wide = in->width > out->width ? in->width : out->width;
    conv_work c = {
        .p = p,
        .in = &e->in[0],
        .cg = in->channels / p->groups,
        .rows = p->kh < in->height ? p->kh : in->height,
        .width_out = out->width,
        .wide = e->scratch,
        .acc = (int32_t *)(void *)(e->scratch + wide),
        .kept = (int16_t *)(void *)(e->scratch + wide + out->width / 2 + 1),
    };

    for (uint32_t group = 0; group < p->groups; group++)
        for (uint32_t y = 0; y < out->height; y++) {
            keep_rows(&c, group, y);
            for (uint32_t o = group * og; o < (group + 1) * og; o++) {
                qp_status status = evaluate_row(e, &c, o, y);
                if (status != QP_OK)
                    return status;
            }
        }
    return QP_OK;
}

const qp_kernel qp_kernel_conv_i16 = {
    .name = "conv_i16",
    .opcode = 0x01,
    .takes = takes,
    .scratch = scratch,
    .evaluate = evaluate,
};
