/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/contraction.c - vectors of `gram` and `apply` (section 5.9). */
#include "conform/rows.h"

typedef struct contraction {
    uint32_t channels, groups;
    qp_range a, b;
    qp_round round;
    int64_t shift;
} contraction;

static void parameters(qp_corpus *c, const char *name, const contraction *p)
{
    qp_case_tensor(c, p->channels);
    qp_case_operator(c, name, "0 1 > 2");
    qp_case_u32(c, p->groups);
    qp_case_rq_block(c, &(qp_case_rq){.round = p->round, .shift = {&p->shift, 1}});
    qp_case_output(c, 2);
}

static void inputs(qp_corpus *c, const contraction *p)
{
    qp_case_input(c, p->channels, p->a.lo, p->a.hi);
    qp_case_input(c, p->channels, p->b.lo, p->b.hi);
}

/* ---- gram --------------------------------------------------------------------------------- */

static void gram(qp_corpus *c, const contraction *p, uint32_t height, uint32_t width)
{
    inputs(c, p);
    parameters(c, "gram", p);
    qp_case_declare(c, height, width);
}

static void gram_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    contraction p = {4, 2, {-90, 120}, {-300, 200}, QP_ROUND_FLOOR, 0};
    p.groups = (uint32_t)QP_P(qp_case_random(c, 0, 2));
    p.round = (qp_round)qp_case_random(c, 0, 2);
    p.shift = qp_case_random(c, 0, 10);
    gram(c, &p, 8, 70);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
    qp_case_give_random(c, height, width);
}

/* One channel a group: each output is one product, t. */
static void gram_rounding(qp_corpus *c, const qp_rounding *r)
{
    uint32_t channels = (uint32_t)r->values.count;
    gram(c, &(contraction){channels, channels, r->range, {1, 1}, r->round, r->shift}, 1, 1);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, channels, 1, r->values);
    qp_case_give_shape(c, (qp_shape){channels, 1, 1}, QP_LIST(1));
}

/* L counts the declared positions: at L = 2 sums of two products reach the ends. */
static void gram_limits(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range a, b;
        uint32_t width;
    } table[] = {
        {"sums of -2^31 and 2^31 - 2", QP_WANT_ACC32, {-QP_P(30), QP_P(30) - 1}, {1, 1}, 2},
        {"a sum of 2^31", QP_WANT_ACC64, {0, QP_P(30)}, {1, 1}, 2},
        {"a sum of 2^31 - 1", QP_WANT_ACC32, {0, INT32_MAX}, {0, 1}, 1},
        {"a sum one below -2^31", QP_WANT_ACC64, {INT32_MIN, 0}, {0, 1}, 2},
        {"a product of 2^31", QP_WANT_ACC64, {INT32_MIN, 0}, {-1, 0}, 1},
        {"a sum of -2^63", QP_WANT_ACC64, {-QP_P(62), 0}, {0, 1}, 2}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_range a = table[i].a, b = table[i].b;
        qp_case(c, table[i].want, "%s", table[i].name);
        gram(c, &(contraction){1, 1, a, b, QP_ROUND_FLOOR, 0}, 1, table[i].width);
        const int64_t rows[4][2] = {{a.lo, b.lo}, {a.lo, b.hi}, {a.hi, b.lo}, {a.hi, b.hi}};
        for (unsigned k = 0; k < 4; k++) {
            qp_case_decode(c, QP_OK);
            qp_case_give_shape(c, (qp_shape){1, 1, table[i].width}, QP_LIST(rows[k][0]));
            qp_case_give_shape(c, (qp_shape){1, 1, table[i].width}, QP_LIST(rows[k][1]));
        }
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a sum past i64");
    gram(c, &(contraction){1, 1, {0, QP_P(62)}, {0, 1}, QP_ROUND_FLOOR, 9}, 1, 2);
}

/* What both operators refuse of their parameters. */
static void refused(qp_corpus *c, void (*make)(qp_corpus *c, const contraction *p))
{
    static const struct {
        const char *name;
        unsigned at, value;
    } table[] = {{"groups of 0", 0, 0},  {"round of 3", 4, 3},        {"a bias", 5, 1},
                 {"a multiplier", 6, 1}, {"a shift a channel", 7, 2}, {"a shift of 128", 12, 128}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_MISMATCH, "refused: %s", table[i].name);
        make(c, &(contraction){2, 1, {0, 1}, {0, 1}, QP_ROUND_FLOOR, 0});
        qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + table[i].at, 1, table[i].value);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: channels that are no multiple of groups");
    make(c, &(contraction){3, 2, {0, 1}, {0, 1}, QP_ROUND_FLOOR, 0});
}

static void gram_2x2(qp_corpus *c, const contraction *p)
{
    gram(c, p, 2, 2);
}

static void gram_cases(qp_corpus *c)
{
    qp_corpus_plain_roundings(c, gram_rounding);
    gram_limits(c);
    refused(c, gram_2x2);

    qp_case(c, QP_WANT_ACC32, "two channels, by hand");
    gram(c, &(contraction){2, 1, {-9, 9}, {-9, 9}, QP_ROUND_FLOOR, 0}, 2, 2);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(1, 2, 3, 4));
    qp_case_give(c, 2, 1, QP_LIST(5, 6, 7, 8));

    qp_case(c, QP_WANT_ACC32, "inputs whose sizes disagree");
    gram(c, &(contraction){2, 1, {-9, 9}, {-9, 9}, QP_ROUND_FLOOR, 0}, 4, 4);
    static const uint32_t sizes[][2] = {{2, 3}, {3, 2}, {1, 4}};
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, 2, 2);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
    qp_case(c, QP_WANT_TOO_LARGE, "an output of C times d past max_elems");
    gram(c, &(contraction){4, 1, {-9, 9}, {-9, 9}, QP_ROUND_FLOOR, 0}, 1, 1);
    qp_case_max_elems(c, 15);
    qp_case(c, QP_WANT_MISMATCH, "refused: no declared sizes");
    gram(c, &(contraction){2, 1, {-9, 9}, {-9, 9}, QP_ROUND_FLOOR, 0}, 0, 0);
    qp_case(c, QP_WANT_MISMATCH, "refused: inputs of different channels");
    qp_case_input(c, 2, 0, 1);
    qp_case_input(c, 4, 0, 1);
    parameters(c, "gram", &(contraction){2, 1, {0, 1}, {0, 1}, QP_ROUND_FLOOR, 0});
    qp_case_declare(c, 2, 2);
}

const qp_corpus_row qp_row_gram = {"gram", gram_base, gram_cases, false};

/* ---- apply -------------------------------------------------------------------------------- */

static void apply(qp_corpus *c, const contraction *p)
{
    inputs(c, p);
    parameters(c, "apply", p);
}

static void apply_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    contraction p = {4, 2, {-90, 120}, {-300, 200}, QP_ROUND_FLOOR, 0};
    p.groups = (uint32_t)QP_P(qp_case_random(c, 0, 2));
    p.round = (qp_round)qp_case_random(c, 0, 2);
    p.shift = qp_case_random(c, 0, 10);
    apply(c, &p);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 1, 4 / p.groups);
    qp_case_give_random(c, height, width);
}

static void apply_rounding(qp_corpus *c, const qp_rounding *r)
{
    apply(c, &(contraction){1, 1, {1, 1}, r->range, r->round, r->shift});
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 1);
    qp_case_give(c, 1, 1, r->values);
}

/* Sums of d = 2 products. */
static void apply_limits(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range v;
    } table[] = {{"sums of -2^31 and 2^31 - 2", QP_WANT_ACC32, {-QP_P(30), QP_P(30) - 1}},
                 {"a sum of 2^31", QP_WANT_ACC64, {0, QP_P(30)}},
                 {"a sum two below -2^31", QP_WANT_ACC64, {-QP_P(30) - 1, 0}},
                 {"sums of -2^63 and 2^63 - 2", QP_WANT_ACC64, {-QP_P(62), QP_P(62) - 1}}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_range v = table[i].v;
        qp_case(c, table[i].want, "%s", table[i].name);
        apply(c, &(contraction){2, 1, {0, 1}, v, QP_ROUND_FLOOR, 0});
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(1, 1, 0, 1));
        qp_case_give(c, 2, 1, QP_LIST(v.lo, v.hi, v.lo, v.lo, v.hi, v.hi));
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a sum past i64");
    apply(c, &(contraction){2, 1, {0, 1}, {0, QP_P(62)}, QP_ROUND_FLOOR, 9});
}

static void apply_cases(qp_corpus *c)
{
    qp_corpus_plain_roundings(c, apply_rounding);
    apply_limits(c);
    refused(c, apply);

    qp_case(c, QP_WANT_ACC32, "two channels, by hand");
    apply(c, &(contraction){2, 1, {-9, 9}, {-9, 9}, QP_ROUND_FLOOR, 0});
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(1, 2, 3, 4));
    qp_case_give(c, 2, 1, QP_LIST(5, 6, 7, 8));

    static const uint32_t sizes[][2] = {{1, 1}, {1, 3}, {2, 2}, {2, 1}};
    qp_case(c, QP_WANT_ACC32, "an A that is not [C, 1, d]");
    apply(c, &(contraction){4, 2, {-9, 9}, {-9, 9}, QP_ROUND_FLOOR, 0});
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
        qp_case_give_random(c, 2, 3);
    }
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 1, 2);
    qp_case_give_random(c, 2, 3);
}

const qp_corpus_row qp_row_apply = {"apply", apply_base, apply_cases, false};
