/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/conv.c - vectors of `conv` (section 5.2). */
#include "conform/rows.h"

/* A zero stands for 1 in every member that cannot be 0; `lo` and `hi` are the input's range. */
typedef struct conv {
    uint32_t cin, cout, kh, kw, sh, sw, ph, pw, groups;
    qp_list weights;
    qp_case_rq rq;
    qp_range range;
    unsigned width; /* of the weights; 0 for the narrowest */
} conv;

static uint32_t one(uint32_t value)
{
    return value == 0 ? 1 : value;
}

static void build(qp_corpus *c, const conv *p)
{
    uint32_t fields[] = {one(p->cout), one(p->kh), one(p->kw), one(p->sh),
                         one(p->sw),   p->ph,      p->pw,      one(p->groups)};
    unsigned width = p->width != 0 ? p->width : qp_case_width(p->weights, 1);

    qp_case_input(c, one(p->cin), p->range.lo, p->range.hi);
    qp_case_tensor(c, fields[0]);
    qp_case_operator(c, "conv", "0 > 1");
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
    int64_t w[2 * 3 * 3 * 3], mult[3], shift[3], bias[3];
    conv p = {.cin = 2, .cout = 3, .kh = 3, .kw = 3, .ph = 1, .pw = 1, .range = {-128, 127}};

    p.sh = (uint32_t)qp_case_random(c, 1, 2);
    p.sw = (uint32_t)qp_case_random(c, 1, 3);
    p.weights = qp_case_random_list(c, w, QP_COUNT(w), (qp_range){-100, 100});
    p.rq = qp_case_random_rq(c);
    p.rq.mult = qp_case_random_list(c, mult, 3, (qp_range){-300, 300});
    p.rq.shift = qp_case_random_list(c, shift, 3, (qp_range){0, 12});
    p.rq.bias = qp_case_random_list(c, bias, 3, (qp_range){-5000, 5000});
    build(c, &p);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

/* ---- item 1: the ends of the partial-sum interval ----------------------------------------- */

/* An input as large as the kernel, each element at the end that its weight's sign asks for. */
static void ends(qp_corpus *c)
{
    static const int64_t biases[] = {-7, 0, 7};
    static const char *const signs[] = {"negative", "no", "positive"};

    for (size_t b = 0; b < QP_COUNT(biases); b++) {
        int64_t w[2 * 3 * 3], high[2 * 3 * 3], low[2 * 3 * 3];
        qp_case(c, QP_WANT_ACC32, "both ends of the partial sums, %s bias", signs[b]);
        conv p = {.cin = 2, .kh = 3, .kw = 3, .range = {-9, 11}};
        p.weights = qp_case_random_list(c, w, QP_COUNT(w), (qp_range){-20, 20});
        p.rq = (qp_case_rq){.place = QP_BIAS_PRE, .bias = {biases + b, 1}};
        for (size_t i = 0; i < QP_COUNT(w); i++) {
            high[i] = w[i] > 0 ? 11 : -9;
            low[i] = w[i] > 0 ? -9 : 11;
        }
        build(c, &p);
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 3, (qp_list){high, QP_COUNT(high)});
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 3, (qp_list){low, QP_COUNT(low)});
    }
}

/* Two taps whose sum and bias reach the ends of i32 exactly, and pass them by one. */
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
        build(c, &(conv){.cin = 2,
                         .weights = QP_LIST(1, 1),
                         .rq = {.place = QP_BIAS_PRE, .bias = {&table[i].bias, 1}},
                         .range = {-QP_P(30), QP_P(30) - 1}});
        qp_case_decode(c, QP_OK);
        qp_case_give(
            c, 2, 1,
            QP_LIST(QP_P(30) - 1, -QP_P(30), -QP_P(30), QP_P(30) - 1, -QP_P(30), QP_P(30) - 1));
    }
}

/* ---- item 2: roundings -------------------------------------------------------------------- */

static void rounding(qp_corpus *c, const qp_rounding *r)
{
    build(c, &(conv){.weights = QP_LIST(1),
                     .rq = {.round = r->round,
                            .mult = {&r->mult, r->mult != 0},
                            .shift = QP_LIST(r->shift)},
                     .range = r->range});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, r->values);
}

/* ---- item 3: shapes ----------------------------------------------------------------------- */

typedef struct shape_row {
    const char *name;
    conv p;
    qp_shape input;
    qp_status want;
} shape_row;

static const shape_row shapes[] = {
    {"a kernel larger than its input, padded",
     {.kh = 5, .kw = 5, .ph = 2, .pw = 2},
     {1, 2, 3},
     QP_OK},
    {"a kernel as large as its padded input",
     {.kh = 3, .kw = 5, .ph = 1, .pw = 2},
     {1, 1, 1},
     QP_OK},
    {"a kernel larger than its padded input", {.kh = 4, .ph = 1}, {1, 1, 4}, QP_GEOMETRY_MISMATCH},
    {"a kernel wider than its padded input", {.kw = 6, .pw = 2}, {1, 4, 1}, QP_GEOMETRY_MISMATCH},
    {"a stride larger than the kernel", {.kh = 2, .kw = 2, .sh = 3, .sw = 4}, {1, 7, 9}, QP_OK},
    {"a stride larger than the input", {.sh = 9, .sw = 9}, {1, 3, 3}, QP_OK},
    {"padding larger than the kernel", {.kh = 2, .kw = 2, .ph = 3, .pw = 4}, {1, 2, 2}, QP_OK},
    {"two groups", {.cin = 4, .cout = 6, .kh = 2, .kw = 2, .groups = 2}, {4, 3, 3}, QP_OK},
    {"depthwise",
     {.cin = 3, .cout = 3, .kh = 3, .kw = 3, .ph = 1, .pw = 1, .groups = 3},
     {3, 4, 5},
     QP_OK},
    {"depthwise with a multiplier of channels",
     {.cin = 2, .cout = 4, .kw = 3, .groups = 2},
     {2, 1, 7},
     QP_OK},
    {"a row of samples", {.cin = 1, .cout = 2, .kw = 4, .sw = 2, .pw = 1}, {1, 1, 11}, QP_OK},
    {"a padded side past 2^26", {.ph = (uint32_t)1 << 25}, {1, 1, 1}, QP_TOO_LARGE},
    {"a padded width past 2^26", {.pw = UINT32_MAX}, {1, 1, 1}, QP_TOO_LARGE},
    {"an output past max_elems", {.ph = 100, .pw = 100}, {1, 1, 1}, QP_TOO_LARGE},
    {"a padded side past 2^26 before a kernel that does not fit",
     {.kw = 2, .ph = (uint32_t)1 << 25},
     {1, 1, 1},
     QP_TOO_LARGE},
};

static void shape_cases(qp_corpus *c)
{
    for (size_t i = 0; i < QP_COUNT(shapes); i++) {
        int64_t w[64], bias[8];
        conv p = shapes[i].p;
        size_t per_output = one(p.cin) / one(p.groups) * one(p.kh) * one(p.kw);
        qp_case(c, QP_WANT_ACC32, "%s", shapes[i].name);
        p.range = (qp_range){-50, 60};
        p.weights = qp_case_random_list(c, w, one(p.cout) * per_output, (qp_range){-30, 30});
        p.rq.place = QP_BIAS_PRE;
        p.rq.bias = qp_case_random_list(c, bias, one(p.cout), (qp_range){-99, 99});
        build(c, &p);
        qp_case_decode(c, shapes[i].want);
        qp_case_give_random(c, shapes[i].input.height, shapes[i].input.width);
    }
}

/* The same rules at load, on declared sizes. */
static void shapes_at_load(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        conv p;
        uint32_t side;
    } table[] = {
        {"declared: the kernel fits", QP_WANT_ACC32, {.kh = 3, .kw = 3}, 3},
        {"declared: the kernel does not fit", QP_WANT_MISMATCH, {.kh = 3, .kw = 3}, 2},
        {"declared: a padded side of 2^26", QP_WANT_ACC32, {.ph = (1 << 25) - 1, .sh = 1 << 26}, 2},
        {"declared: a padded side past 2^26", QP_WANT_TOO_LARGE, {.ph = 1 << 25, .sh = 1 << 26}, 2},
        {"declared: an output past max_elems", QP_WANT_TOO_LARGE, {.ph = 1, .pw = 1}, 64},
        {"declared: an input past max_elems", QP_WANT_TOO_LARGE, {.sh = 9}, 65}};

    for (size_t i = 0; i < QP_COUNT(table); i++) {
        static const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
        conv p = table[i].p;
        p.weights = (qp_list){ones, one(p.kh) * one(p.kw)};
        p.range = (qp_range){0, 9};
        qp_case(c, table[i].want, "%s", table[i].name);
        build(c, &p);
        qp_case_declare(c, table[i].side, table[i].side);
        if (table[i].want == QP_WANT_ACC32) {
            qp_case_decode(c, QP_OK);
            qp_case_give_random(c, table[i].side, table[i].side);
        }
    }
}

/* ---- item 4 and the parameter conditions of 7.2 ------------------------------------------- */

static void limits(qp_corpus *c)
{
    for (size_t i = 0; i < QP_LIMIT_COUNT; i++) {
        const qp_range *r = &qp_limits[i].range;
        qp_case(c, qp_limits[i].want, "terms from %s", qp_limits[i].name);
        build(c, &(conv){.weights = QP_LIST(1), .range = *r});
        qp_case_decode(c, QP_OK);
        QP_ROW(c, r->lo, r->hi, 0);
    }
}

typedef struct parameter_row {
    const char *name;
    qp_want want;
    conv p;
} parameter_row;

static void parameters(qp_corpus *c)
{
    const parameter_row table[] = {
        {"a weight of -2^31", QP_WANT_ACC32, {.weights = QP_LIST(INT32_MIN), .range = {0, 1}}},
        {"a weight of 2^31 - 1", QP_WANT_ACC32, {.weights = QP_LIST(INT32_MAX), .range = {-1, 1}}},
        {"a weight of 2^31 on an input that is 0",
         QP_WANT_ACC64,
         {.weights = QP_LIST(QP_P(31)), .range = {0, 0}}},
        {"a weight in 8 bytes",
         QP_WANT_ACC32,
         {.weights = QP_LIST(-3), .width = 8, .range = {-1, 1}}},
        {"a weight in 4 bytes",
         QP_WANT_ACC32,
         {.weights = QP_LIST(-3), .width = 4, .range = {-1, 1}}},
        {"a weight in 2 bytes",
         QP_WANT_ACC32,
         {.weights = QP_LIST(-3), .width = 2, .range = {-1, 1}}},
        {"a multiplier of 2^31",
         QP_WANT_ACC64,
         {.weights = QP_LIST(1),
          .rq = {.mult = QP_LIST(QP_P(31)), .shift = QP_LIST(31)},
          .range = {-1, 1}}},
        {"a multiplier of -2^31",
         QP_WANT_ACC32,
         {.weights = QP_LIST(1),
          .rq = {.mult = QP_LIST(INT32_MIN), .shift = QP_LIST(31)},
          .range = {-1, 1}}},
        {"a post bias of -2^31",
         QP_WANT_ACC32,
         {.weights = QP_LIST(1),
          .rq = {.place = QP_BIAS_POST, .bias = QP_LIST(INT32_MIN)},
          .range = {0, 1}}},
        {"a post bias of 2^31",
         QP_WANT_ACC64,
         {.weights = QP_LIST(1),
          .rq = {.place = QP_BIAS_POST, .bias = QP_LIST(QP_P(31))},
          .range = {-1, -1}}},
        {"a q past 64 bits while y fits",
         QP_WANT_MISMATCH,
         {.weights = QP_LIST(1),
          .rq = {.place = QP_BIAS_POST, .mult = QP_LIST(QP_P(32)), .bias = QP_LIST(INT64_MIN)},
          .range = {QP_P(31), QP_P(31)}}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const conv *p = &table[i].p;
        qp_case(c, table[i].want, "%s", table[i].name);
        build(c, p);
        if (table[i].want != QP_WANT_MISMATCH) {
            qp_case_decode(c, QP_OK);
            QP_ROW(c, p->range.lo, p->range.hi);
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* Channels and widths around the sizes of registers, with values at the ends of 8 and 16 bits: what
 * kernels take in blocks and what they leave over. */
typedef struct block_row {
    uint32_t cin, cout, kernel, width;
    qp_range range, weights;
} block_row;

static const block_row blocks[] = {
    {1, 1, 1, 63, {-128, 127}, {-128, 127}},        {3, 5, 3, 17, {0, 255}, {-128, 127}},
    {4, 4, 1, 64, {0, 255}, {-128, 127}},           {7, 9, 3, 9, {-128, 127}, {-128, 127}},
    {8, 8, 3, 16, {-128, 127}, {-127, 127}},        {15, 3, 1, 33, {0, 255}, {-128, 127}},
    {16, 16, 3, 8, {-128, 127}, {-128, 127}},       {17, 2, 3, 7, {0, 255}, {-128, -100}},
    {32, 4, 1, 15, {-128, -100}, {-128, -100}},     {33, 3, 3, 5, {100, 127}, {100, 127}},
    {2, 3, 5, 31, {-32768, 32767}, {-128, 127}},    {5, 4, 3, 12, {0, 65535}, {-128, 127}},
    {6, 2, 3, 11, {-32768, 32767}, {-1000, 1000}},  {16, 2, 1, 20, {-32768, -32000}, {-4000, 4000}},
    {9, 7, 1, 13, {-8388608, 8388607}, {-20, 20}},  {3, 2, 3, 10, {INT32_MIN, INT32_MAX}, {-9, 9}},
    {2, 2, 3, 6, {-QP_P(40), QP_P(40)}, {-99, 99}},
};

static void block_cases(qp_corpus *c)
{
    for (size_t i = 0; i < QP_COUNT(blocks); i++) {
        const block_row *b = &blocks[i];
        int64_t w[2304], bias[16], mult[16];
        size_t count = (size_t)b->cout * b->cin * b->kernel * b->kernel;
        qp_case(c, QP_WANT_LOADED, "blocks: %u to %u channels, kernel %u, width %u, %u", b->cin,
                b->cout, b->kernel, b->width, (unsigned)i);
        conv p = {
            .cin = b->cin, .cout = b->cout, .kh = b->kernel, .kw = b->kernel, .range = b->range};
        p.ph = p.pw = (b->kernel - 1) / 2;
        p.weights = qp_case_random_list(c, w, count, b->weights);
        p.rq = qp_case_random_rq(c);
        p.rq.mult = qp_case_random_list(c, mult, b->cout, (qp_range){-70000, 70000});
        p.rq.bias = qp_case_random_list(c, bias, b->cout, (qp_range){-90000, 90000});
        p.rq.shift = QP_LIST(14);
        build(c, &p);
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, 3, b->width);
        qp_case_decode(c, QP_OK);
        qp_case_give_shape(c, (qp_shape){b->cin, 2, b->width}, QP_LIST(b->range.lo));
    }
}

/* ---- what users of other engines ran into ------------------------------------------------- */

static void field_cases(qp_corpus *c)
{
    static const int64_t ones[25] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t weights[75];

    qp_case(c, QP_WANT_ACC32, "a saturating pair, 255 and 255 by 127 and 127");
    build(c, &(conv){.cin = 2, .weights = QP_LIST(127, 127), .range = {0, 255}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(255, 255));

    qp_case(c, QP_WANT_ACC32, "two saturating pairs, 50 and 128 by -128 and -128");
    build(c, &(conv){.cin = 4, .weights = QP_LIST(-128, -128, -128, -128), .range = {0, 255}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 4, 1, QP_LIST(50, 128, 128, 50));

    for (int64_t w = 1; w <= 2; w++) {
        for (size_t i = 0; i < QP_COUNT(weights); i++)
            weights[i] = w;
        qp_case(c, QP_WANT_ACC32, "halved weights, three channels of ones under a kernel of %d",
                (int)w);
        build(c, &(conv){.cin = 3, .kh = 5, .kw = 5, .weights = {weights, 75}, .range = {0, 1}});
        qp_case_decode(c, QP_OK);
        qp_case_give_shape(c, (qp_shape){3, 5, 5}, (qp_list){ones, 25});
    }

    qp_case(c, QP_WANT_ACC32, "the 33rd bit, 2^31 - 1 by 2^31 - 1");
    build(
        c,
        &(conv){.weights = QP_LIST(1),
                .rq = {.round = QP_ROUND_HALF_UP, .mult = QP_LIST(INT32_MAX), .shift = QP_LIST(31)},
                .range = {INT32_MIN + 1, INT32_MAX}});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, INT32_MAX, INT32_MIN + 1);

    qp_case(c, QP_WANT_ACC64, "the 33rd bit, before the last halving");
    build(c, &(conv){.weights = QP_LIST(1),
                     .rq = {.mult = QP_LIST(INT32_MAX), .shift = QP_LIST(30)},
                     .range = {INT32_MIN + 1, INT32_MAX}});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, INT32_MAX, INT32_MIN + 1);

    qp_case(c, QP_WANT_ACC32, "integers that floats lose, 16777216 + 1");
    build(c, &(conv){.cin = 2, .weights = QP_LIST(1, 1), .range = {0, 16777216}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(16777216, 1));
}

/* ---- refused parameters ------------------------------------------------------------------- */

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
                 {"groups of 0", 28, 4, 0},
                 {"groups of 2 over one channel", 28, 4, 2},
                 {"weights of 3 bytes", 32, 1, 3},
                 {"weights of 16 bytes", 32, 1, 16},
                 {"a reserved byte after the width", 33, 1, 1},
                 {"a count of weights past 2^64", 4, 4, UINT32_MAX}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_MISMATCH, "refused: %s", table[i].name);
        build(c, &(conv){.weights = QP_LIST(1), .range = {0, 1}});
        int64_t at = qp_case_at(c, QP_TABLE_PARAMETERS, 0);
        qp_case_patch(c, at + table[i].at, table[i].width, table[i].value);
        if (table[i].value == UINT32_MAX)
            qp_case_patch(c, at + 8, 4, UINT32_MAX);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: cout is no multiple of groups");
    build(c,
          &(conv){.cin = 2, .cout = 3, .groups = 2, .weights = QP_LIST(1, 1, 1), .range = {0, 1}});
    qp_case(c, QP_WANT_MISMATCH, "refused: cin is no multiple of groups");
    build(c, &(conv){.cin = 3, .cout = 2, .groups = 2, .weights = QP_LIST(1, 1), .range = {0, 1}});
}

static void cases(qp_corpus *c)
{
    ends(c);
    sum_limits(c);
    qp_corpus_roundings(c, rounding);
    shape_cases(c);
    shapes_at_load(c);
    limits(c);
    parameters(c);
    block_cases(c);
    field_cases(c);
    refused(c);
}

const qp_corpus_row qp_row_conv = {"conv", base, cases, false};
