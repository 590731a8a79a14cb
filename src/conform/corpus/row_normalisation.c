/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/row_normalisation.c - vectors of `l2norm` and `softmax` (section 5.7). */
#include "conform/rows.h"

/* ---- l2norm ------------------------------------------------------------------------------- */

static void build_l2norm(qp_corpus *c, uint64_t epsilon, qp_range range, uint32_t side)
{
    qp_case_input(c, 2, range.lo, range.hi);
    qp_case_tensor(c, 2);
    qp_case_operator(c, "l2norm", "0 > 1");
    qp_case_u64(c, epsilon);
    qp_case_output(c, 1);
    qp_case_declare(c, side, side);
}

static void l2norm_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t size = QP_P(qp_case_random(c, 1, 30));
    build_l2norm(c, (uint64_t)qp_case_random(c, 1, 9999), (qp_range){-size, size + 3}, 8);
    qp_case_declare(c, 8, 70);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void l2norm_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        uint64_t epsilon;
        qp_range range;
    } table[] = {{"epsilon of 1", 1, {-9, 9}},
                 {"epsilon of 2^64 - 1", UINT64_MAX, {INT32_MIN, INT32_MAX}},
                 {"epsilon of 2^64 - 1, sums past 64 bits", UINT64_MAX, {-QP_P(50), QP_P(50)}},
                 {"a root past 2^32 gives 0 or -1", (uint64_t)1 << 63, {-9, 9}},
                 {"values at both ends of i32", 1, {INT32_MIN, INT32_MAX}},
                 {"values of 2^60", 7, {-QP_P(60), QP_P(60)}},
                 {"only negative values", 3, {-900, -5}}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = &table[i].range;
        qp_case(c, QP_WANT_ACC64, "%s", table[i].name);
        build_l2norm(c, table[i].epsilon, *r, 4);
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(r->lo, r->hi, r->lo, r->hi, r->hi, r->lo + 1));
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 2, QP_LIST(r->lo, r->lo, r->lo, r->lo, r->hi, r->hi, r->hi, r->hi));
        qp_case_decode(c, QP_OK); /* the upper end of l2.T */
        qp_case_give_shape(c, (qp_shape){2, 4, 4}, QP_LIST(-r->lo > r->hi ? r->lo : r->hi));
    }
    /* L = 1: v² + ε is 2^126 + 2^64 - 1 here, and L = 2 makes 2^127 of it */
    qp_case(c, QP_WANT_ACC64, "sums near the end of i128");
    build_l2norm(c, UINT64_MAX, (qp_range){INT64_MIN, INT64_MAX}, 1);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(INT64_MIN, INT64_MAX));
    qp_case(c, QP_WANT_MISMATCH, "refused: sums past i128");
    build_l2norm(c, 1, (qp_range){INT64_MIN, INT64_MAX}, 2);
    qp_case(c, QP_WANT_MISMATCH, "refused: epsilon of 0");
    build_l2norm(c, 0, (qp_range){0, 1}, 1);
    qp_case(c, QP_WANT_MISMATCH, "refused: no declared sizes");
    build_l2norm(c, 1, (qp_range){0, 1}, 0);
}

const qp_corpus_row qp_row_l2norm = {"l2norm", l2norm_base, l2norm_cases, false};

/* ---- softmax ------------------------------------------------------------------------------ */

static void build_softmax(qp_corpus *c, qp_range range, uint32_t side)
{
    qp_case_input(c, 1, range.lo, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "softmax", "0 > 1");
    qp_case_output(c, 1);
    qp_case_declare(c, side, side);
}

static void softmax_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t size = QP_P(qp_case_random(c, 4, 24));
    build_softmax(c, (qp_range){-size, size}, 8);
    qp_case_declare(c, 8, 70);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void softmax_cases(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC64, "rows that do not sum to 2^16");
    build_softmax(c, (qp_range){-1000000, 1000000}, 8);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 0, 0, 0);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 5, 5, 5, 5, 5, 5);
    qp_case_decode(c, QP_OK); /* the upper end of sm.sum */
    QP_ROW(c, -9, -9, -9, -9, -9, -9, -9, -9);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 0, -65536, -131072, -45426, 30000, 1);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 3, QP_LIST(-9, 9, 45426, 0, 1000000, -1000000));

    qp_case(c, QP_WANT_ACC64, "a row of one");
    build_softmax(c, (qp_range){-9, 9}, 8);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -9);

    /* the argument's n is 62 and 63 at 62·45426 and 63·45426 */
    qp_case(c, QP_WANT_ACC64, "exp_neg_q16 at n of 62 and 63");
    build_softmax(c, (qp_range){-3000000, 0}, 8);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 0, -2816412, -2816411, -2861837, -2861838, -2861839);

    qp_case(c, QP_WANT_ACC64, "differences at the end of i64");
    build_softmax(c, (qp_range){-QP_P(62), QP_P(62) - 1}, 8);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -QP_P(62), QP_P(62) - 1, QP_P(62) - 2);
    qp_case(c, QP_WANT_MISMATCH, "refused: a difference of 2^63");
    build_softmax(c, (qp_range){-QP_P(62), QP_P(62)}, 8);
    qp_case(c, QP_WANT_MISMATCH, "refused: no declared sizes");
    build_softmax(c, (qp_range){-9, 9}, 0);
}

const qp_corpus_row qp_row_softmax = {"softmax", softmax_base, softmax_cases, false};
