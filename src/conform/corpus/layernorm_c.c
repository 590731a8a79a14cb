/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/layernorm_c.c - vectors of `layernorm_c` (section 5.7). */
#include "conform/rows.h"

typedef struct layernorm {
    uint64_t epsilon;
    qp_list gamma, beta; /* as long as there are channels */
    qp_range range;
} layernorm;

static void build(qp_corpus *c, const layernorm *p)
{
    uint32_t channels = (uint32_t)p->gamma.count;
    unsigned width = qp_case_width(p->gamma, 4);
    qp_case_input(c, channels, p->range.lo, p->range.hi);
    qp_case_tensor(c, channels);
    qp_case_operator(c, "layernorm_c", "0 > 1");
    qp_case_u64(c, p->epsilon);
    qp_case_u8(c, width);
    qp_case_zeros(c, 7);
    qp_case_integers(c, width, p->gamma);
    qp_case_integers(c, 8, p->beta);
    qp_case_output(c, 1);
}

static void base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t gamma[5], beta[5];
    size_t channels = (size_t)qp_case_random(c, 2, 5);
    layernorm p = {.range = {-70000, 90000}};
    p.epsilon = (uint64_t)qp_case_random(c, 1, 5000);
    p.gamma = qp_case_random_list(c, gamma, channels, (qp_range){-90000, 90000});
    p.beta = qp_case_random_list(c, beta, channels, (qp_range){-30000, 30000});
    build(c, &p);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

/* Means by channel count: a half rounds away from zero, a third to the nearest. */
static void means(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC64, "even C, means of 0.5 and -0.5");
    build(c, &(layernorm){1, QP_LIST(65536, 65536), QP_LIST(0, 0), {-100, 100}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(0, 0, -3, 7, 1, -1, 2, -8));

    qp_case(c, QP_WANT_ACC64, "odd C, means of thirds");
    build(c, &(layernorm){1, QP_LIST(65536, 65536, 65536), QP_LIST(0, 0, 0), {-100, 100}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 3, 1, QP_LIST(0, 0, 0, 0, 1, 1, -1, -1, 0, 1, 0, -1));

    qp_case(c, QP_WANT_ACC64, "one channel");
    build(c, &(layernorm){9, QP_LIST(70000), QP_LIST(-5), {-100, 100}});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 1, 1, QP_LIST(-100, 0, 100));
}

typedef struct row {
    const char *name;
    layernorm p;
} row;

static void cases(qp_corpus *c)
{
    means(c);
    const row table[] = {
        {"epsilon of 1", {1, QP_LIST(65536, -65536), QP_LIST(3, -3), {-32768, 32767}}},
        {"epsilon of 2^64 - 1, V + epsilon past 64 bits",
         {UINT64_MAX, QP_LIST(QP_P(40), QP_P(40)), QP_LIST(0, 0), {-QP_P(40), QP_P(40)}}},
        {"epsilon of 2^63",
         {(uint64_t)1 << 63, QP_LIST(QP_P(40), 1), QP_LIST(0, 0), {-QP_P(33), QP_P(33)}}},
        {"gamma of 0", {5, QP_LIST(0, 0), QP_LIST(11, -11), {-9, 9}}},
        {"negative gamma floors away from zero", {5, QP_LIST(-1, -3), QP_LIST(0, 0), {-9, 9}}},
        {"deviations at both ends of i64",
         {1, QP_LIST(65536, 65536), QP_LIST(0, 0), {-QP_P(62), QP_P(62) - 1}}},
        {"sums past 2^31", {1, QP_LIST(9, 9), QP_LIST(0, 0), {INT32_MIN, INT32_MAX}}},
        {"beta in the 63rd bit", {1, QP_LIST(1, 1), QP_LIST(QP_P(62), -QP_P(62)), {-9, 9}}},
        {"one value only", {1, QP_LIST(7, 9), QP_LIST(1, 2), {5, 5}}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = &table[i].p.range;
        int64_t inside = qp_min_i64(r->hi, r->lo + 1);
        qp_case(c, QP_WANT_ACC64, "%s", table[i].name);
        build(c, &table[i].p);
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(r->lo, r->hi, r->lo, inside, r->hi, r->lo, r->lo, r->lo));
        qp_case_decode(c, QP_OK); /* both ends of ln.S */
        qp_case_give(c, 2, 1, QP_LIST(r->lo, r->hi, r->lo, r->hi));
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: epsilon of 0");
    build(c, &(layernorm){0, QP_LIST(1), QP_LIST(1), {0, 1}});
    qp_case(c, QP_WANT_MISMATCH, "refused: deviations past i64");
    build(c, &(layernorm){1, QP_LIST(1, 1), QP_LIST(0, 0), {INT64_MIN, 0}});
    qp_case(c, QP_WANT_MISMATCH, "refused: a result past i64");
    build(c, &(layernorm){1, QP_LIST(1, 1), QP_LIST(INT64_MAX, 0), {-9, 9}});
    qp_case(c, QP_WANT_MISMATCH, "refused: g_bytes of 2");
    build(c, &(layernorm){1, QP_LIST(1), QP_LIST(1), {0, 1}});
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + 8, 1, 2);
    qp_case(c, QP_WANT_MISMATCH, "refused: a reserved byte");
    build(c, &(layernorm){1, QP_LIST(1), QP_LIST(1), {0, 1}});
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + 12, 1, 1);
}

const qp_corpus_row qp_row_layernorm_c = {"layernorm_c", base, cases, false};
