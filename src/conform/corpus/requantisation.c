/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/requantisation.c - vectors of `rescale`, `chscale` and `mul` (sections 5.1 and 5.4). */
#include "conform/rows.h"

/* ---- rescale ------------------------------------------------------------------------------ */

static void rescale(qp_corpus *c, uint32_t channels, qp_range range, const qp_case_rq *rq)
{
    qp_case_input(c, channels, range.lo, range.hi);
    qp_case_tensor(c, channels);
    qp_case_operator(c, "rescale", "0 > 1");
    qp_case_rq_block(c, rq);
    qp_case_output(c, 1);
}

static void rescale_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t mult[3], shift[3], bias[3];
    qp_case_rq rq = qp_case_random_rq(c);
    rq.wide = qp_case_random(c, 0, 1) == 1;
    rq.mult = qp_case_random_list(c, mult, 3, (qp_range){-70000, 70000});
    rq.shift = qp_case_random_list(c, shift, 3, (qp_range){0, 20});
    rq.bias = qp_case_random_list(c, bias, 3, (qp_range){-5000, 5000});
    rescale(c, 3, (qp_range){-1000, 1000}, &rq);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void rescale_rounding(qp_corpus *c, const qp_rounding *r)
{
    rescale(c, 1, r->range,
            &(qp_case_rq){
                .round = r->round, .mult = {&r->mult, r->mult != 0}, .shift = QP_LIST(r->shift)});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, r->values);
}

/* Lists a channel over one channel. */
static void rescale_one_channel(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "lists a channel, over one channel");
    rescale(c, 1, (qp_range){-50, 50},
            &(qp_case_rq){.place = QP_BIAS_POST,
                          .mult = QP_LIST(-7),
                          .shift = QP_LIST(2),
                          .bias = QP_LIST(11),
                          .per_channel = true});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -50, -1, 0, 1, 50);
}

/* Every kind of list, and the two placements of a bias. */
static void rescale_layouts(qp_corpus *c)
{
    static const int64_t mult[] = {3, -5}, shift[] = {1, 2}, bias[] = {100, -7};
    const struct {
        const char *name;
        qp_case_rq rq;
    } table[] = {
        {"nothing but a shift of 0", {.round = QP_ROUND_FLOOR}},
        {"one multiplier", {.mult = {mult, 1}}},
        {"a multiplier a channel", {.mult = {mult, 2}}},
        {"one shift", {.shift = {shift, 1}}},
        {"a shift a channel", {.shift = {shift, 2}}},
        {"a bias before", {.place = QP_BIAS_PRE, .mult = {mult, 1}, .bias = {bias, 2}}},
        {"a bias after", {.place = QP_BIAS_POST, .mult = {mult, 1}, .bias = {bias, 2}}},
        {"a bias after, of zeros", {.place = QP_BIAS_POST, .bias = QP_LIST(0, 0)}},
        {"a multiplier of 1, floor", {.mult = QP_LIST(1)}},
        {"a multiplier of 0", {.mult = QP_LIST(0), .place = QP_BIAS_POST, .bias = {bias, 2}}},
        {"everything in 8 bytes",
         {.place = QP_BIAS_PRE,
          .mult = {mult, 2},
          .shift = {shift, 2},
          .bias = {bias, 2},
          .wide = true}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_ACC32, "%s", table[i].name);
        rescale(c, 2, (qp_range){-50, 50}, &table[i].rq);
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(-50, -3, -1, 0, 2, 50, -49, -2, 0, 1, 3, 49));
    }
}

typedef struct limit_row {
    const char *name;
    qp_want want;
    qp_range range;
    qp_case_rq rq;
} limit_row;

/* Items 1 and 4: rq.t, rq.p, rq.q and rq.y at the ends of their widths and one past them. */
static void rescale_limits(qp_corpus *c)
{
    const limit_row table[] = {
        {"rq.t at both ends of i32",
         QP_WANT_ACC32,
         {INT32_MIN + 5, INT32_MAX - 5},
         {.place = QP_BIAS_PRE, .bias = QP_LIST(5), .shift = QP_LIST(1)}},
        {"rq.t one past 2^31 - 1",
         QP_WANT_ACC64,
         {0, INT32_MAX},
         {.place = QP_BIAS_PRE, .bias = QP_LIST(1), .shift = QP_LIST(8)}},
        {"rq.t one past -2^31",
         QP_WANT_ACC64,
         {INT32_MIN, 0},
         {.place = QP_BIAS_PRE, .bias = QP_LIST(-1), .shift = QP_LIST(8)}},
        {"rq.p at 2^62 and its addend",
         QP_WANT_ACC32,
         {INT32_MIN, 0},
         {.round = QP_ROUND_HALF_UP, .mult = QP_LIST(INT32_MIN), .shift = QP_LIST(32)}},
        {"rq.q at both ends of i32",
         QP_WANT_ACC32,
         {-QP_P(30), QP_P(30) - 1},
         {.mult = QP_LIST(4), .shift = QP_LIST(1)}},
        {"rq.q one past 2^31 - 1 while y fits",
         QP_WANT_ACC64,
         {0, QP_P(30)},
         {.place = QP_BIAS_POST, .mult = QP_LIST(2), .bias = QP_LIST(-1)}},
        {"rq.q one past -2^31 while y fits",
         QP_WANT_ACC64,
         {INT32_MIN, 0},
         {.place = QP_BIAS_POST, .mult = QP_LIST(2), .bias = QP_LIST(1), .shift = QP_LIST(0)}},
        {"rq.y at both ends of i32",
         QP_WANT_ACC32,
         {INT32_MIN + 9, INT32_MAX - 9},
         {.place = QP_BIAS_POST, .bias = QP_LIST(9)}},
        {"rq.y one past 2^31 - 1",
         QP_WANT_ACC64,
         {0, INT32_MAX},
         {.place = QP_BIAS_POST, .bias = QP_LIST(1)}},
        {"rq.y one past -2^31",
         QP_WANT_ACC64,
         {INT32_MIN, 0},
         {.place = QP_BIAS_POST, .bias = QP_LIST(-1)}},
        {"rq.q at both ends of i64", QP_WANT_ACC64, {INT64_MIN, INT64_MAX}, {.wide = true}},
        {"rq.y at both ends of i64",
         QP_WANT_ACC64,
         {INT64_MIN + 9, INT64_MAX - 9},
         {.place = QP_BIAS_POST, .bias = QP_LIST(9)}},
        {"rq.p at 2^126 - 2^64 + 1",
         QP_WANT_ACC64,
         {INT64_MIN + 1, INT64_MAX},
         {.round = QP_ROUND_HALF_EVEN, .mult = QP_LIST(INT64_MAX), .shift = QP_LIST(63)}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = &table[i].range;
        qp_case(c, table[i].want, "%s", table[i].name);
        rescale(c, 1, *r, &table[i].rq);
        qp_case_decode(c, QP_OK);
        QP_ROW(c, r->lo, r->hi, r->lo + 1, r->hi - 1, 0);
    }
}

/* The load refusals of item 6, and the ends of i128. */
static void rescale_refused(qp_corpus *c)
{
    const limit_row table[] = {
        {"a q past 64 bits while y fits",
         QP_WANT_MISMATCH,
         {QP_P(31), QP_P(31)},
         {.place = QP_BIAS_POST, .mult = QP_LIST(QP_P(32)), .bias = QP_LIST(INT64_MIN)}},
        {"a q one below -2^63 while y fits",
         QP_WANT_MISMATCH,
         {-QP_P(62) - 1, 0},
         {.place = QP_BIAS_POST, .mult = QP_LIST(2), .bias = QP_LIST(2)}},
        {"a t past 64 bits",
         QP_WANT_MISMATCH,
         {0, INT64_MAX},
         {.place = QP_BIAS_PRE, .bias = QP_LIST(1), .shift = QP_LIST(9)}},
        {"a y past 64 bits",
         QP_WANT_MISMATCH,
         {INT64_MIN, 0},
         {.place = QP_BIAS_POST, .bias = QP_LIST(-1)}},
        {"an addend past i128",
         QP_WANT_MISMATCH,
         {INT64_MIN, 0},
         {.round = QP_ROUND_HALF_UP, .mult = QP_LIST(INT64_MIN), .shift = QP_LIST(127)}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "refused: %s", table[i].name);
        rescale(c, 1, table[i].range, &table[i].rq);
    }
}

/* Every rule of the RQ block (10.4). */
static void rq_block_refused(qp_corpus *c)
{
    static const struct {
        const char *name;
        unsigned at, value;
    } table[] = {{"round of 3", 0, 3},
                 {"bias of 3", 1, 3},
                 {"m_kind of 3", 2, 3},
                 {"s_kind of 0", 3, 0},
                 {"s_kind of 3", 3, 3},
                 {"m_bytes of 2", 4, 2},
                 {"m_bytes of 0 with a multiplier", 4, 0},
                 {"b_bytes of 16", 5, 16},
                 {"b_bytes of 0 with a bias", 5, 0},
                 {"the first reserved byte", 6, 1},
                 {"the second reserved byte", 7, 255},
                 {"a shift of 128", 12, 128},
                 {"a shift of 255", 12, 255}};

    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_MISMATCH, "refused: %s", table[i].name);
        rescale(c, 1, (qp_range){0, 1},
                &(qp_case_rq){.place = QP_BIAS_PRE, .mult = QP_LIST(2), .bias = QP_LIST(3)});
        qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + table[i].at, 1, table[i].value);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: m_bytes of 4 without a multiplier");
    rescale(c, 1, (qp_range){0, 1}, &(qp_case_rq){.shift = QP_LIST(2)});
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + 4, 1, 4);
    qp_case(c, QP_WANT_MISMATCH, "refused: b_bytes of 4 without a bias");
    rescale(c, 1, (qp_range){0, 1}, &(qp_case_rq){.shift = QP_LIST(2)});
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + 5, 1, 4);
}

/* A rounding is not symmetric about 0. */
static void rescale_field(qp_corpus *c)
{
    static const char *const names[] = {"floor", "half_up", "half_even"};
    for (unsigned m = 0; m < 3; m++) {
        qp_case(c, QP_WANT_ACC32, "halves from -3.5 to 3.5, %s", names[m]);
        rescale(c, 1, (qp_range){-7, 7}, &(qp_case_rq){.round = (qp_round)m, .shift = QP_LIST(1)});
        qp_case_decode(c, QP_OK);
        QP_ROW(c, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    qp_case(c, QP_WANT_ACC32, "an affine map to RGB8, half_up");
    rescale(c, 1, (qp_range){-65536, 131072},
            &(qp_case_rq){.round = QP_ROUND_HALF_UP, .mult = QP_LIST(255), .shift = QP_LIST(16)});
    qp_case_policy(c, 1, QP_CLAMP, 0, 255);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -65536, -129, -128, 0, 128, 129, 32768, 65535, 65536, 131072);
}

static void rescale_cases(qp_corpus *c)
{
    rescale_layouts(c);
    rescale_one_channel(c);
    qp_corpus_roundings(c, rescale_rounding);
    rescale_limits(c);
    rescale_refused(c);
    rq_block_refused(c);
    rescale_field(c);
}

const qp_corpus_row qp_row_rescale = {"rescale", rescale_base, rescale_cases, false};

/* ---- chscale ------------------------------------------------------------------------------ */

typedef struct chscale {
    uint32_t channels, rows;
    qp_range scalar, range;
    qp_round round;
    unsigned shift;
    qp_list table;
} chscale;

static void build_chscale(qp_corpus *c, const chscale *p)
{
    unsigned width = qp_case_width(p->table, 4);
    qp_case_scalar(c, p->scalar.lo, p->scalar.hi);
    qp_case_input(c, p->channels, p->range.lo, p->range.hi);
    qp_case_tensor(c, p->channels);
    qp_case_operator(c, "chscale", "0 > 1");
    qp_case_u32(c, 0);
    qp_case_u32(c, p->rows);
    qp_case_u8(c, p->round);
    qp_case_u8(c, width);
    qp_case_u8(c, p->shift);
    qp_case_zeros(c, 1);
    qp_case_integers(c, width, p->table);
    qp_case_output(c, 1);
}

static void chscale_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t table[4 * 2];
    chscale p = {.channels = 2, .rows = 4, .scalar = {1, 3}, .range = {-500, 500}};

    p.round = (qp_round)qp_case_random(c, 0, 2);
    p.shift = (unsigned)qp_case_random(c, 0, 18);
    p.table = qp_case_random_list(c, table, QP_COUNT(table), (qp_range){-70000, 70000});
    build_chscale(c, &p);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
    qp_case_give_scalar(c, qp_case_random(c, 1, 3));
}

static void chscale_rounding(qp_corpus *c, const qp_rounding *r)
{
    int64_t mult = r->mult == 0 ? 1 : r->mult;
    build_chscale(c, &(chscale){1, 1, {0, 0}, r->range, r->round, r->shift, {&mult, 1}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, r->values);
    qp_case_give_scalar(c, 0);
}

/* Item 5: the scalar at its ends and one past them. */
static void chscale_scalars(qp_corpus *c)
{
    static const int64_t values[] = {1, 2, 0, 3, -1, INT64_MAX};
    qp_case(c, QP_WANT_ACC32, "the scalar at its ends and past them");
    build_chscale(c,
                  &(chscale){1, 4, {1, 2}, {-9, 9}, QP_ROUND_FLOOR, 1, QP_LIST(100, 3, -5, 100)});
    for (size_t i = 0; i < QP_COUNT(values); i++) {
        qp_case_decode(c, values[i] == 1 || values[i] == 2 ? QP_OK : QP_FIELD_RANGE);
        QP_ROW(c, -9, -1, 0, 1, 9);
        qp_case_give_scalar(c, values[i]);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a scalar past the table");
    build_chscale(c, &(chscale){1, 2, {0, 2}, {0, 1}, QP_ROUND_FLOOR, 0, QP_LIST(1, 1)});
    qp_case(c, QP_WANT_MISMATCH, "refused: a scalar below 0");
    build_chscale(c, &(chscale){1, 2, {-1, 1}, {0, 1}, QP_ROUND_FLOOR, 0, QP_LIST(1, 1)});
    qp_case(c, QP_WANT_MISMATCH, "refused: a table without rows");
    build_chscale(c, &(chscale){1, 0, {0, 0}, {0, 1}, QP_ROUND_FLOOR, 0, {NULL, 0}});
}

/* Rows that the scalar's range leaves out count for the condition and not for the bounds. */
static void chscale_rows(qp_corpus *c)
{
    const struct {
        const char *name;
        qp_want want;
        chscale p;
    } table[] = {
        {"a row out of reach whose product would pass i32",
         QP_WANT_ACC32,
         {1, 2, {0, 0}, {-9, 9}, QP_ROUND_FLOOR, 0, QP_LIST(1, INT32_MAX)}},
        {"a row out of reach that passes i32",
         QP_WANT_ACC64,
         {1, 2, {0, 0}, {-9, 9}, QP_ROUND_FLOOR, 0, QP_LIST(1, QP_P(31))}},
        {"products at both ends of i32",
         QP_WANT_ACC32,
         {1, 2, {0, 0}, {INT32_MIN, INT32_MAX}, QP_ROUND_FLOOR, 0, QP_LIST(1, 1)}},
        {"a product one past 2^31 - 1",
         QP_WANT_ACC64,
         {1, 1, {0, 0}, {INT32_MIN, 0}, QP_ROUND_FLOOR, 0, QP_LIST(-1)}},
        {"a multiplier of 2^31",
         QP_WANT_ACC64,
         {1, 1, {0, 0}, {-1, 0}, QP_ROUND_HALF_EVEN, 1, QP_LIST(QP_P(31))}},
        {"half_up's addend at shift 63",
         QP_WANT_ACC32,
         {1, 1, {0, 0}, {0, INT32_MAX}, QP_ROUND_HALF_UP, 63, QP_LIST(INT32_MAX)}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        build_chscale(c, &table[i].p);
        qp_case_decode(c, QP_OK);
        QP_ROW(c, table[i].p.range.lo, 0, table[i].p.range.hi);
        qp_case_give_scalar(c, 0);
    }
    for (size_t i = 0; i < QP_LIMIT_COUNT; i++) {
        const qp_range *r = &qp_limits[i].range;
        qp_case(c, qp_limits[i].want, "q from %s", qp_limits[i].name);
        build_chscale(c, &(chscale){1, 1, {0, 0}, *r, QP_ROUND_FLOOR, 0, QP_LIST(1)});
        qp_case_decode(c, QP_OK);
        QP_ROW(c, r->lo, r->hi, 0);
        qp_case_give_scalar(c, 0);
    }
}

static void chscale_refused(qp_corpus *c)
{
    static const struct {
        const char *name;
        unsigned at, width;
        uint32_t value;
    } table[] = {{"a scalar that is not there", 0, 4, 1},
                 {"round of 3", 8, 1, 3},
                 {"m_bytes of 2", 9, 1, 2},
                 {"a shift of 128", 10, 1, 128},
                 {"a reserved byte", 11, 1, 1},
                 {"more rows than bytes", 4, 4, UINT32_MAX}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_MISMATCH, "refused: %s", table[i].name);
        build_chscale(c, &(chscale){1, 2, {0, 1}, {0, 1}, QP_ROUND_FLOOR, 0, QP_LIST(1, 1)});
        qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + table[i].at, table[i].width,
                      table[i].value);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a q past 64 bits");
    build_chscale(c, &(chscale){1, 1, {0, 0}, {0, QP_P(62)}, QP_ROUND_FLOOR, 0, QP_LIST(2)});
}

static void chscale_cases(qp_corpus *c)
{
    qp_corpus_roundings(c, chscale_rounding);
    chscale_scalars(c);
    chscale_rows(c);
    chscale_refused(c);
}

const qp_corpus_row qp_row_chscale = {"chscale", chscale_base, chscale_cases, false};

/* ---- mul ---------------------------------------------------------------------------------- */

/* Inputs a of `channels` and b of `second` channels. */
static void build_mul(qp_corpus *c, uint32_t channels, uint32_t second, const qp_range ranges[2],
                      const qp_case_rq *rq)
{
    qp_case_input(c, channels, ranges[0].lo, ranges[0].hi);
    qp_case_input(c, second, ranges[1].lo, ranges[1].hi);
    qp_case_tensor(c, channels);
    qp_case_operator(c, "mul", "0 1 > 2");
    qp_case_rq_block(c, rq);
    qp_case_output(c, 2);
}

static void mul_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    static const qp_range ranges[2] = {{-300, 200}, {-90, 400}};
    int64_t mult[3], shift[3];
    uint32_t second = qp_case_random(c, 0, 1) == 0 ? 1 : 3;
    qp_case_rq rq = {.round = (qp_round)qp_case_random(c, 0, 2)};

    rq.mult = qp_case_random_list(c, mult, 3, (qp_range){-300, 300});
    rq.shift = qp_case_random_list(c, shift, 3, (qp_range){0, 14});
    build_mul(c, 3, second, ranges, &rq);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
    qp_case_give_random(c, height, width);
}

static void mul_rounding(qp_corpus *c, const qp_rounding *r)
{
    qp_range ranges[2] = {r->range, {1, 1}};
    build_mul(c, 1, 1, ranges,
              &(qp_case_rq){
                  .round = r->round, .mult = {&r->mult, r->mult != 0}, .shift = QP_LIST(r->shift)});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, r->values);
    qp_case_give_shape(c, (qp_shape){1, 1, (uint32_t)r->values.count}, QP_LIST(1));
}

/* mul.p and rq.p at the ends of their widths. */
static void mul_limits(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range ranges[2];
    } table[] = {
        {"a product of 2^31 - 1", QP_WANT_ACC32, {{0, INT32_MAX}, {-1, 1}}},
        {"a product of -2^31", QP_WANT_ACC32, {{INT32_MIN, 0}, {0, 1}}},
        {"a product of 2^31", QP_WANT_ACC64, {{INT32_MIN, 0}, {-1, 0}}},
        {"a product one below -2^31", QP_WANT_ACC64, {{0, 3}, {-715827883, 0}}},
        {"products of 2^62", QP_WANT_ACC64, {{INT32_MIN, INT32_MIN}, {INT32_MIN, INT32_MIN}}},
        {"a product of -2^63", QP_WANT_ACC64, {{INT64_MIN, 0}, {0, 1}}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = table[i].ranges;
        qp_case(c, table[i].want, "%s", table[i].name);
        build_mul(c, 1, 1, r, &(qp_case_rq){.shift = QP_LIST(0)});
        qp_case_decode(c, QP_OK);
        QP_ROW(c, r[0].lo, r[0].lo, r[0].hi, r[0].hi);
        QP_ROW(c, r[1].lo, r[1].hi, r[1].lo, r[1].hi);
    }
    static const qp_range past[2] = {{INT64_MIN, 0}, {-1, 0}};
    qp_case(c, QP_WANT_MISMATCH, "refused: a product of 2^63");
    build_mul(c, 1, 1, past, &(qp_case_rq){.shift = QP_LIST(9)});
    static const qp_range two[2] = {{QP_P(31), QP_P(31)}, {1, 1}};
    qp_case(c, QP_WANT_MISMATCH, "refused: a q past 64 bits");
    build_mul(c, 1, 1, two, &(qp_case_rq){.mult = QP_LIST(QP_P(32))});
}

static void mul_shapes(qp_corpus *c)
{
    static const qp_range ranges[2] = {{-9, 9}, {-7, 7}};
    const qp_case_rq rq = {.round = QP_ROUND_HALF_UP, .shift = QP_LIST(1)};

    qp_case(c, QP_WANT_ACC32, "b has one channel for all of a");
    build_mul(c, 3, 1, ranges, &rq);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 3, 1, QP_LIST(1, 2, 3, 4, 5, 6));
    qp_case_give(c, 1, 1, QP_LIST(-1, 3));
    qp_case(c, QP_WANT_ACC32, "b has a's channels");
    build_mul(c, 3, 3, ranges, &rq);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 3, 1, QP_LIST(1, 2, 3, 4, 5, 6));
    qp_case_give(c, 3, 1, QP_LIST(-1, 3, 5, -7, 7, 0));
    qp_case(c, QP_WANT_ACC32, "inputs whose sizes disagree");
    build_mul(c, 2, 1, ranges, &rq);
    static const uint32_t sizes[][2] = {{2, 3}, {3, 2}, {1, 1}};
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, 2, 2);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: b has two of a's three channels");
    build_mul(c, 3, 2, ranges, &rq);
    qp_case(c, QP_WANT_MISMATCH, "refused: a bias");
    build_mul(c, 1, 1, ranges, &(qp_case_rq){.place = QP_BIAS_PRE, .bias = QP_LIST(1)});
}

static void mul_cases(qp_corpus *c)
{
    qp_corpus_roundings(c, mul_rounding);
    mul_limits(c);
    mul_shapes(c);
}

const qp_corpus_row qp_row_mul = {"mul", mul_base, mul_cases, false};
