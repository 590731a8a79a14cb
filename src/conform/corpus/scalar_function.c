/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/scalar_function.c - vectors of `sigmoid` and `elu` (section 5.8). */
#include "conform/rows.h"

/* exp_neg_q16 takes the steps 45426·n: its values just inside, at and past the first, the last that
 * counts (n = 62) and the first that does not (n = 63). */
static const int64_t steps[] = {0,        -1,       -2,       -22713,   -45425,   -45426,
                                -45427,   -90851,   -90852,   -908520,  -2771000, -2816411,
                                -2816412, -2816413, -2861837, -2861838, -2861839, -3000000};

/* ---- sigmoid ------------------------------------------------------------------------------ */

static void build_sigmoid(qp_corpus *c, qp_range range)
{
    qp_case_input(c, 1, range.lo, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "sigmoid", "0 > 1");
    qp_case_output(c, 1);
}

static void sigmoid_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t size = QP_P(qp_case_random(c, 4, 22));
    build_sigmoid(c, (qp_range){-size, size});
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void sigmoid_cases(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC64, "the steps of exp_neg_q16, n of 62 and 63");
    build_sigmoid(c, (qp_range){-3000000, 3000000});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, (qp_list){steps, QP_COUNT(steps)});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 0, 1, 2, 45425, 45426, 45427, 65536, 2816411, 2816412, 2861837, 2861838, 3000000);

    qp_case(c, QP_WANT_ACC64, "a range that stops at -(2^63 - 1)");
    build_sigmoid(c, (qp_range){INT64_MIN + 1, INT64_MAX});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, INT64_MIN + 1, INT64_MAX, 0);
    qp_case(c, QP_WANT_MISMATCH, "refused: a range that reaches -2^63");
    build_sigmoid(c, (qp_range){INT64_MIN, 0});
    qp_case(c, QP_WANT_ACC64, "one value only");
    build_sigmoid(c, (qp_range){7, 7});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 7);
}

const qp_corpus_row qp_row_sigmoid = {"sigmoid", sigmoid_base, sigmoid_cases, false};

/* ---- elu ---------------------------------------------------------------------------------- */

static void build_elu(qp_corpus *c, qp_range range, int64_t alpha)
{
    qp_case_input(c, 1, range.lo, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "elu", "0 > 1");
    qp_case_i64(c, alpha);
    qp_case_output(c, 1);
}

static void elu_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t size = QP_P(qp_case_random(c, 4, 22));
    build_elu(c, (qp_range){-size, size}, qp_case_random(c, -QP_P(18), QP_P(18)));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void elu_cases(qp_corpus *c)
{
    static const int64_t alphas[] = {65536, 3855, 3856, 1, 0, -1, -65536, INT32_MAX, INT32_MIN};

    for (size_t i = 0; i < QP_COUNT(alphas); i++) {
        qp_case(c, QP_WANT_ACC64, "elu(0) and its neighbours, alpha %lld", (long long)alphas[i]);
        build_elu(c, (qp_range){-3000000, 10}, alphas[i]);
        qp_case_decode(c, QP_OK);
        QP_ROW(c, 0, -1, 1, -65536, -3000000, 10);
    }
    qp_case(c, QP_WANT_ACC64, "the steps of exp_neg_q16, n of 62 and 63");
    build_elu(c, (qp_range){-3000000, 3000000}, 65536);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, (qp_list){steps, QP_COUNT(steps)});

    static const struct {
        const char *name;
        qp_want want;
        qp_range range;
        int64_t alpha;
    } table[] = {
        {"a range that stops at -(2^63 - 1)", QP_WANT_ACC64, {INT64_MIN + 1, INT64_MAX}, 65536},
        {"alpha of 2^63 - 1", QP_WANT_ACC64, {-9000000, 9}, INT64_MAX},
        {"only positive values", QP_WANT_ACC64, {5, 9}, 65536},
        {"only negative values", QP_WANT_ACC64, {-9, -5}, 65536},
        {"alpha of -(2^63 - 1), whose results reach 2^63 - 1",
         QP_WANT_ACC64,
         {-9000000, -9},
         INT64_MIN + 1},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = &table[i].range;
        qp_case(c, table[i].want, "%s", table[i].name);
        build_elu(c, *r, table[i].alpha);
        qp_case_decode(c, QP_OK);
        QP_ROW(c, r->lo, r->hi, r->lo + 1);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a range that reaches -2^63");
    build_elu(c, (qp_range){INT64_MIN, 0}, 65536);
    qp_case(c, QP_WANT_MISMATCH, "refused: alpha of -2^63, whose result passes i64");
    build_elu(c, (qp_range){-9, -5}, INT64_MIN);
}

const qp_corpus_row qp_row_elu = {"elu", elu_base, elu_cases, false};
