/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/conv_transpose.c - vectors of `conv_transpose` (section 5.3). */
#include "conform/rows.h"

/* A zero stands for 1 in every member that cannot be 0. */
typedef struct transposed {
    uint32_t cin, cout, kh, kw, sh, sw, ph, pw, oph, opw;
    qp_list weights;
    qp_case_rq rq;
    qp_range range;
} transposed;

static uint32_t one(uint32_t value)
{
    return value == 0 ? 1 : value;
}

static void build(qp_corpus *c, const transposed *p)
{
    uint32_t fields[] = {one(p->cout), one(p->kh), one(p->kw), one(p->sh), one(p->sw),
                         p->ph,        p->pw,      p->oph,     p->opw};
    unsigned width = qp_case_width(p->weights, 1);

    qp_case_input(c, one(p->cin), p->range.lo, p->range.hi);
    qp_case_tensor(c, fields[0]);
    qp_case_operator(c, "conv_transpose", "0 > 1");
    for (size_t i = 0; i < QP_COUNT(fields); i++)
        qp_case_u32(c, fields[i]);
    qp_case_u8(c, width);
    qp_case_zeros(c, 3);
    qp_case_rq_block(c, &p->rq);
    qp_case_integers(c, width, p->weights);
    qp_case_output(c, 1);
}

static void base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t w[2 * 2 * 3 * 4], mult[2], shift[2], bias[2];
    transposed p = {.cin = 2, .cout = 2, .kh = 3, .kw = 4, .ph = 1, .pw = 1, .range = {-128, 127}};

    p.sh = (uint32_t)qp_case_random(c, 1, 3);
    p.sw = (uint32_t)qp_case_random(c, 1, 2);
    p.oph = (uint32_t)qp_case_random(c, 0, 2);
    p.opw = (uint32_t)qp_case_random(c, 0, 2);
    p.weights = qp_case_random_list(c, w, QP_COUNT(w), (qp_range){-100, 100});
    p.rq = qp_case_random_rq(c);
    p.rq.mult = qp_case_random_list(c, mult, 2, (qp_range){-300, 300});
    p.rq.shift = qp_case_random_list(c, shift, 2, (qp_range){0, 12});
    p.rq.bias = qp_case_random_list(c, bias, 2, (qp_range){-5000, 5000});
    build(c, &p);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

/* Item 1. With a stride of 1 and padding of the kernel less one, a 2x2 input under a 2x2 kernel has
 * one output, and every tap reaches it: weight (i, j) meets input (1 - i, 1 - j). */
static void ends(qp_corpus *c)
{
    static const int64_t biases[] = {-7, 0, 7};
    static const char *const signs[] = {"negative", "no", "positive"};

    for (size_t b = 0; b < QP_COUNT(biases); b++) {
        int64_t w[4], high[4], low[4];
        qp_case(c, QP_WANT_ACC32, "both ends of the partial sums, %s bias", signs[b]);
        transposed p = {.kh = 2, .kw = 2, .ph = 1, .pw = 1, .range = {-9, 11}};
        p.weights = qp_case_random_list(c, w, QP_COUNT(w), (qp_range){-20, 20});
        p.rq = (qp_case_rq){.place = QP_BIAS_PRE, .bias = {biases + b, 1}};
        for (size_t i = 0; i < QP_COUNT(w); i++) {
            high[3 - i] = w[i] > 0 ? 11 : -9;
            low[3 - i] = w[i] > 0 ? -9 : 11;
        }
        build(c, &p);
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 1, 2, (qp_list){high, 4});
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 1, 2, (qp_list){low, 4});
    }
}

/* Each residue of the stride has taps of its own: here 2^30 and 2^30 never meet. */
static void residues(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        uint32_t stride;
    } table[] = {{"two taps of different residues", QP_WANT_ACC32, 2},
                 {"two taps of one residue", QP_WANT_ACC64, 1}};

    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        build(c, &(transposed){.kw = 2,
                               .sw = table[i].stride,
                               .weights = QP_LIST(QP_P(30), QP_P(30)),
                               .range = {-1, 1}});
        qp_case_decode(c, QP_OK);
        QP_ROW(c, 1, 1, -1, -1, 0, 1);
    }
    qp_case(c, QP_WANT_ACC32, "a residue without taps holds the bias alone");
    build(c, &(transposed){.kw = 1,
                           .sw = 3,
                           .opw = 2,
                           .weights = QP_LIST(5),
                           .rq = {.place = QP_BIAS_PRE, .bias = QP_LIST(3), .mult = QP_LIST(2)},
                           .range = {-4, 4}});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 1, -2);
}

static void sum_limits(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        int64_t bias;
    } table[] = {{"the sum reaches 2^31 - 1 and -2^31", QP_WANT_ACC32, 1},
                 {"the sum passes 2^31 - 1 by one", QP_WANT_ACC64, 2},
                 {"the sum passes -2^31 by one", QP_WANT_ACC64, -1}};

    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        build(c, &(transposed){.cin = 2,
                               .weights = QP_LIST(1, 1),
                               .rq = {.place = QP_BIAS_PRE, .bias = {&table[i].bias, 1}},
                               .range = {-QP_P(30), QP_P(30) - 1}});
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(QP_P(30) - 1, -QP_P(30), QP_P(30) - 1, -QP_P(30)));
    }
}

static void rounding(qp_corpus *c, const qp_rounding *r)
{
    build(c, &(transposed){.weights = QP_LIST(1),
                           .rq = {.round = r->round,
                                  .mult = {&r->mult, r->mult != 0},
                                  .shift = QP_LIST(r->shift)},
                           .range = r->range});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, r->values);
}

/* ---- item 3 and the run-time plan --------------------------------------------------------- */

typedef struct shape_row {
    const char *name;
    transposed p;
    qp_shape input;
    qp_status want;
} shape_row;

static const shape_row shapes[] = {
    {"output padding as large as the stride",
     {.kh = 2, .kw = 2, .sh = 2, .sw = 2, .oph = 2, .opw = 2},
     {1, 2, 2},
     QP_OK},
    {"output padding larger than the stride",
     {.kh = 2, .kw = 2, .oph = 3, .opw = 5},
     {1, 2, 2},
     QP_OK},
    {"a stride larger than the kernel", {.kh = 2, .kw = 2, .sh = 4, .sw = 3}, {1, 3, 2}, QP_OK},
    {"a kernel larger than its input",
     {.kh = 5, .kw = 6, .sh = 2, .sw = 2, .ph = 2, .pw = 2},
     {1, 2, 1},
     QP_OK},
    {"a row of samples", {.cin = 2, .kw = 4, .sw = 2, .pw = 1}, {2, 1, 5}, QP_OK},
    {"padding that leaves one row", {.kh = 3, .kw = 3, .ph = 1, .pw = 1}, {1, 1, 1}, QP_OK},
    {"padding that leaves no row", {.kh = 2, .ph = 1}, {1, 1, 3}, QP_GEOMETRY_MISMATCH},
    {"padding that leaves no column", {.kw = 4, .pw = 9}, {1, 3, 1}, QP_GEOMETRY_MISMATCH},
    {"an uncropped side past 2^26",
     {.oph = (uint32_t)1 << 26, .ph = (uint32_t)1 << 25},
     {1, 1, 1},
     QP_TOO_LARGE},
    {"an uncropped width past 2^26", {.sw = UINT32_MAX}, {1, 1, 2}, QP_TOO_LARGE},
    {"an uncropped output past 2^26 elements",
     {.cout = 2, .kh = 1, .oph = 8191, .opw = 8191},
     {1, 1, 1},
     QP_TOO_LARGE},
    {"an uncropped side past 2^26 whose crop would fail too",
     {.oph = (uint32_t)1 << 26, .ph = UINT32_MAX},
     {1, 1, 1},
     QP_TOO_LARGE},
    {"an output past max_elems", {.oph = 100, .opw = 100}, {1, 1, 1}, QP_TOO_LARGE},
};

static void shape_cases(qp_corpus *c)
{
    for (size_t i = 0; i < QP_COUNT(shapes); i++) {
        int64_t w[64], bias[2];
        transposed p = shapes[i].p;
        qp_case(c, QP_WANT_ACC32, "%s", shapes[i].name);
        p.range = (qp_range){-50, 60};
        p.weights = qp_case_random_list(c, w, one(p.cin) * one(p.cout) * one(p.kh) * one(p.kw),
                                        (qp_range){-30, 30});
        p.rq.place = QP_BIAS_POST;
        p.rq.bias = qp_case_random_list(c, bias, one(p.cout), (qp_range){-99, 99});
        build(c, &p);
        qp_case_decode(c, shapes[i].want);
        qp_case_give_random(c, shapes[i].input.height, shapes[i].input.width);
    }
}

static void shapes_at_load(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        transposed p;
    } table[] = {{"declared: no row is left", QP_WANT_MISMATCH, {.ph = 1}},
                 {"declared: an uncropped side of 2^26",
                  QP_WANT_ACC32,
                  {.oph = (1 << 26) - 2, .ph = (1 << 25) - 1}},
                 {"declared: an uncropped side past 2^26",
                  QP_WANT_TOO_LARGE,
                  {.oph = (1 << 26) - 1, .ph = (1 << 25) - 1}},
                 {"declared: an uncropped output of 2^26 elements",
                  QP_WANT_ACC32,
                  {.oph = 8190, .opw = 8190, .ph = 4095, .pw = 4095}},
                 {"declared: an output past max_elems", QP_WANT_TOO_LARGE, {.oph = 63, .opw = 63}}};

    for (size_t i = 0; i < QP_COUNT(table); i++) {
        transposed p = table[i].p;
        p.weights = QP_LIST(3);
        p.range = (qp_range){0, 9};
        qp_case(c, table[i].want, "%s", table[i].name);
        build(c, &p);
        bool tall = p.oph > 8190;
        qp_case_declare(c, 2, tall ? 1 : 2);
        if (table[i].want == QP_WANT_ACC32) {
            qp_case_decode(c, QP_OK);
            qp_case_give_random(c, 2, tall ? 1 : 2);
        }
    }
}

/* ---- item 4 ------------------------------------------------------------------------------- */

static void limits(qp_corpus *c)
{
    for (size_t i = 0; i < QP_LIMIT_COUNT; i++) {
        const qp_range *r = &qp_limits[i].range;
        qp_case(c, qp_limits[i].want, "terms from %s", qp_limits[i].name);
        build(c, &(transposed){.weights = QP_LIST(1), .range = *r});
        qp_case_decode(c, QP_OK);
        QP_ROW(c, r->lo, r->hi, 0);
    }
    qp_case(c, QP_WANT_ACC64, "a weight of 2^31 on an input that is 0");
    build(c, &(transposed){.weights = QP_LIST(QP_P(31)), .range = {0, 0}});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 0);
    qp_case(c, QP_WANT_MISMATCH, "a q past 64 bits while y fits");
    build(c,
          &(transposed){
              .weights = QP_LIST(1),
              .rq = {.place = QP_BIAS_POST, .mult = QP_LIST(QP_P(32)), .bias = QP_LIST(INT64_MIN)},
              .range = {QP_P(31), QP_P(31)}});
}

static void refused(qp_corpus *c)
{
    static const struct {
        const char *name;
        unsigned at, width;
        uint32_t value;
    } table[] = {{"cout of 0", 0, 4, 0},
                 {"kh of 0", 4, 4, 0},
                 {"kw of 0", 8, 4, 0},
                 {"sh of 0", 12, 4, 0},
                 {"sw of 0", 16, 4, 0},
                 {"weights of 5 bytes", 36, 1, 5},
                 {"a reserved byte after the width", 38, 1, 1}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_MISMATCH, "refused: %s", table[i].name);
        build(c, &(transposed){.weights = QP_LIST(1), .range = {0, 1}});
        qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + table[i].at, table[i].width,
                      table[i].value);
    }
}

static void cases(qp_corpus *c)
{
    ends(c);
    residues(c);
    sum_limits(c);
    qp_corpus_roundings(c, rounding);
    shape_cases(c);
    shapes_at_load(c);
    limits(c);
    refused(c);
}

const qp_corpus_row qp_row_conv_transpose = {"conv_transpose", base, cases, false};
