/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/igdn.c - vectors of `igdn` (section 5.7). */
#include "conform/rows.h"

typedef struct igdn {
    uint32_t channels, gf, frac;
    qp_list gamma, beta;
    qp_range range;
} igdn;

static void build(qp_corpus *c, const igdn *p)
{
    unsigned width = qp_case_width(p->gamma, 4);
    qp_case_input(c, p->channels, p->range.lo, p->range.hi);
    qp_case_tensor(c, p->channels);
    qp_case_operator(c, "igdn", "0 > 1");
    qp_case_u32(c, p->gf);
    qp_case_u32(c, p->frac);
    qp_case_u8(c, width);
    qp_case_zeros(c, 7);
    qp_case_integers(c, width, p->gamma);
    qp_case_integers(c, 8, p->beta);
    qp_case_output(c, 1);
}

static void base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t gamma[9], beta[3];
    igdn p = {.channels = 3, .range = {-700, 900}};
    p.gf = (uint32_t)qp_case_random(c, 0, 12);
    p.frac = (uint32_t)qp_case_random(c, 0, 10);
    p.gamma = qp_case_random_list(c, gamma, 9, (qp_range){-100, 500});
    p.beta = qp_case_random_list(c, beta, 3, (qp_range){-20000, 90000});
    build(c, &p);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

typedef struct row {
    const char *name;
    qp_want want;
    igdn p;
} row;

static void by_hand(qp_corpus *c)
{
    /*
     * Item 6, two channels, gf = 1, frac = 0: x = (1, 1) and γ = 1 give terms ⌊1/2⌋ = 0 each, so
     * N = β = 3 and r = 1; flooring the sum would give N = 4 and r = 2.
     */
    qp_case(c, QP_WANT_ACC32, "each term is floored, not the sum");
    build(c, &(igdn){2, 1, 0, QP_LIST(1, 1, 1, 1), QP_LIST(3, 3), {-5, 5}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(1, -1, 3, 1, 1, 5));

    qp_case(c, QP_WANT_ACC32, "negative terms floor away from zero");
    build(c, &(igdn){2, 3, 1, QP_LIST(-1, 9, -3, 20), QP_LIST(7, -2), {-9, 9}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(-9, -1, 0, 1, 9, 3, 9, 2, -5, 0, -1, 4));

    qp_case(c, QP_WANT_ACC32, "a norm below 0 has the root 0");
    build(c, &(igdn){1, 0, 0, QP_LIST(-2), QP_LIST(50), {-9, 9}});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -9, -6, -5, -4, 0, 4, 5, 6, 9);

    qp_case(c, QP_WANT_ACC32, "roots at and around squares");
    build(c, &(igdn){1, 0, 0, QP_LIST(0), QP_LIST(1048576), {-9, 9}});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -9, 0, 9);
    qp_case(c, QP_WANT_ACC32, "a root one below a square");
    build(c, &(igdn){1, 0, 0, QP_LIST(0), QP_LIST(1048575), {-9, 9}});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -9, 0, 9);
}

/* Items 2 and 4: every shift, and intermediates at the ends of their widths. */
static void limits(qp_corpus *c)
{
    const row table[] = {
        {"N at 2^31 - 1", QP_WANT_ACC32, {1, 0, 31, QP_LIST(1), QP_LIST(2147483646), {-1, 1}}},
        {"N one past 2^31 - 1", QP_WANT_ACC64, {1, 0, 31, QP_LIST(1), QP_LIST(INT32_MAX), {-1, 1}}},
        {"N at -2^31", QP_WANT_ACC32, {1, 0, 31, QP_LIST(-1), QP_LIST(INT32_MIN + 1), {-1, 1}}},
        {"N one below -2^31", QP_WANT_ACC64, {1, 0, 31, QP_LIST(-1), QP_LIST(INT32_MIN), {-1, 1}}},
        {"x squared below 2^31",
         QP_WANT_ACC32,
         {1, 31, 31, QP_LIST(1), QP_LIST(0), {-46340, 46340}}},
        {"x squared past 2^31",
         QP_WANT_ACC64,
         {1, 31, 31, QP_LIST(1), QP_LIST(0), {-46341, 46341}}},
        {"gamma at both ends of i32",
         QP_WANT_ACC32,
         {2, 63, 63, QP_LIST(INT32_MIN, INT32_MAX, INT32_MAX, INT32_MIN), QP_LIST(9, 9), {-9, 9}}},
        {"gamma one past i32", QP_WANT_ACC64, {1, 63, 63, QP_LIST(QP_P(31)), QP_LIST(9), {-9, 9}}},
        {"gx2 near 2^63",
         QP_WANT_ACC32,
         {1, 34, 20, QP_LIST(INT32_MAX), QP_LIST(0), {-46340, 46340}}},
        {"gf of 64", QP_WANT_ACC64, {1, 64, 0, QP_LIST(-1), QP_LIST(26), {-9, 9}}},
        {"gf and frac of 127", QP_WANT_ACC64, {1, 127, 127, QP_LIST(-1), QP_LIST(26), {-9, 9}}},
        {"gf of 32", QP_WANT_ACC32, {1, 32, 2, QP_LIST(INT32_MAX), QP_LIST(5), {-9, 9}}},
        {"gf of 31", QP_WANT_ACC32, {1, 31, 2, QP_LIST(INT32_MAX), QP_LIST(5), {-9, 9}}},
        {"gf of 62", QP_WANT_ACC32, {1, 62, 1, QP_LIST(INT32_MIN), QP_LIST(50), {-46340, 9}}},
        {"x at both ends of i64",
         QP_WANT_ACC64,
         {1, 126, 60, QP_LIST(1), QP_LIST(900), {INT64_MIN, INT64_MAX}}},
        {"xr at the ends of 32 bits and past them",
         QP_WANT_ACC64,
         {1, 0, 16, QP_LIST(0), QP_LIST(QP_P(50)), {-300, 300}}},
        {"only positive values", QP_WANT_ACC32, {1, 2, 2, QP_LIST(3), QP_LIST(5), {7, 90}}},
        {"only negative values", QP_WANT_ACC32, {1, 2, 2, QP_LIST(3), QP_LIST(5), {-90, -7}}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = &table[i].p.range;
        qp_case(c, table[i].want, "%s", table[i].name);
        build(c, &table[i].p);
        qp_case_decode(c, QP_OK);
        qp_case_give_shape(c, (qp_shape){table[i].p.channels, 1, 4},
                           QP_LIST(r->lo, r->hi, r->lo + 1, r->lo < 0 && r->hi > 0 ? 0 : r->hi));
    }
}

static void refused(qp_corpus *c)
{
    static const struct {
        const char *name;
        unsigned at, width;
        uint32_t value;
    } table[] = {{"gf of 128", 0, 4, 128},
                 {"frac of 128", 4, 4, 128},
                 {"g_bytes of 2", 8, 1, 2},
                 {"a reserved byte", 15, 1, 1}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_MISMATCH, "refused: %s", table[i].name);
        build(c, &(igdn){1, 0, 0, QP_LIST(1), QP_LIST(1), {0, 1}});
        qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + table[i].at, table[i].width,
                      table[i].value);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a result past i64");
    build(c, &(igdn){1, 0, 0, QP_LIST(0), QP_LIST(4), {0, QP_P(62)}});
    qp_case(c, QP_WANT_MISMATCH, "refused: gx2 past i128");
    build(c, &(igdn){1, 127, 63, QP_LIST(2), QP_LIST(0), {INT64_MIN, 0}});
    qp_case(c, QP_WANT_MISMATCH, "refused: r past i64");
    build(c, &(igdn){1, 0, 127, QP_LIST(1), QP_LIST(0), {INT64_MIN, 0}});
}

static void all(qp_corpus *c)
{
    by_hand(c);
    limits(c);
    refused(c);
}

const qp_corpus_row qp_row_igdn = {"igdn", base, all, false};
