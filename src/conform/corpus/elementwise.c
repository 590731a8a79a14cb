/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/elementwise.c - vectors of `add`, `chunk_add`, `clamp`, `relu`, `leaky` and `abs`
 * (section 5.5). */
#include "conform/rows.h"

/* ---- add ---------------------------------------------------------------------------------- */

static void build_add(qp_corpus *c, uint32_t channels, qp_range a, qp_range b)
{
    qp_case_input(c, channels, a.lo, a.hi);
    qp_case_input(c, channels, b.lo, b.hi);
    qp_case_tensor(c, channels);
    qp_case_operator(c, "add", "0 1 > 2");
    qp_case_output(c, 2);
}

static void add_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t size = QP_P(qp_case_random(c, 4, 36));
    int64_t a = qp_case_random(c, 1, size);
    int64_t b = qp_case_random(c, 1, size / 8);
    build_add(c, 2, (qp_range){-a, b}, (qp_range){-b, a});
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
    qp_case_give_random(c, height, width);
}

static void add_limits(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range a, b;
    } table[] = {
        {"sums of 2^31 - 1 and -2^31",
         QP_WANT_ACC32,
         {-QP_P(30), QP_P(30)},
         {-QP_P(30), QP_P(30) - 1}},
        {"a sum one above 2^31 - 1", QP_WANT_ACC64, {0, QP_P(30)}, {0, QP_P(30)}},
        {"a sum one below -2^31", QP_WANT_ACC64, {-QP_P(30), 0}, {-QP_P(30) - 1, 0}},
        {"sums of 2^63 - 1 and -2^63",
         QP_WANT_ACC64,
         {-QP_P(62), QP_P(62)},
         {-QP_P(62), QP_P(62) - 1}},
        {"integers that floats lose, 16777216 + 1", QP_WANT_ACC32, {0, 16777216}, {1, 1}},
        {"integers that floats lose, 2^53 + 1", QP_WANT_ACC64, {0, QP_P(53)}, {1, 1}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        build_add(c, 1, table[i].a, table[i].b);
        qp_case_decode(c, QP_OK);
        QP_ROW(c, table[i].a.lo, table[i].a.hi);
        QP_ROW(c, table[i].b.lo, table[i].b.hi);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a sum of 2^63");
    build_add(c, 1, (qp_range){0, QP_P(62)}, (qp_range){0, QP_P(62)});
    qp_case(c, QP_WANT_MISMATCH, "refused: a sum one below -2^63");
    build_add(c, 1, (qp_range){INT64_MIN, 0}, (qp_range){-1, 0});
}

static void add_exponents(qp_corpus *c)
{
    enum { NONE = -128 };
    static const struct {
        const char *name;
        qp_want want;
        int exponents[3];
    } table[] = {{"equal exponents", QP_WANT_ACC32, {-5, -5, -5}},
                 {"the extreme exponents", QP_WANT_ACC32, {127, 127, 127}},
                 {"the lowest exponent", QP_WANT_ACC32, {-127, -127, -127}},
                 {"refused: the second input's exponent differs", QP_WANT_MISMATCH, {3, 4, 3}},
                 {"refused: the output's exponent differs", QP_WANT_MISMATCH, {3, 3, 4}},
                 {"refused: an input without an exponent", QP_WANT_MISMATCH, {3, NONE, 3}},
                 {"refused: only the output has an exponent", QP_WANT_MISMATCH, {NONE, NONE, 3}}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        build_add(c, 1, (qp_range){0, 9}, (qp_range){0, 9});
        for (uint32_t t = 0; t < 3; t++)
            qp_case_exponent(c, t, table[i].exponents[t]);
        if (table[i].want == QP_WANT_ACC32) {
            qp_case_decode(c, QP_OK);
            QP_ROW(c, 1, 2);
            QP_ROW(c, 3, 4);
        }
    }
}

static void add_cases(qp_corpus *c)
{
    add_limits(c);
    add_exponents(c);

    qp_case(c, QP_WANT_ACC32, "a saturating sum");
    build_add(c, 1, (qp_range){-128, 127}, (qp_range){-128, 127});
    qp_case_policy(c, 2, QP_CLAMP, -128, 127);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 127, 100, -128, -1);
    QP_ROW(c, 127, 27, -128, -127);

    qp_case(c, QP_WANT_ACC32, "one tensor read twice");
    qp_case_input(c, 1, -7, 9);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "add", "0 0 > 1");
    qp_case_output(c, 1);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -7, 0, 9);

    static const uint32_t sizes[][2] = {{2, 3}, {3, 2}, {1, 1}, {1, 4}};
    qp_case(c, QP_WANT_ACC32, "inputs whose sizes disagree");
    build_add(c, 2, (qp_range){-9, 9}, (qp_range){-9, 9});
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, 2, 2);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: inputs of different channels");
    qp_case_input(c, 1, 0, 1);
    qp_case_input(c, 2, 0, 1);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "add", "0 1 > 2");
    qp_case_output(c, 2);
}

const qp_corpus_row qp_row_add = {"add", add_base, add_cases, false};

/* ---- the operators of one input ----------------------------------------------------------- */

static void unary(qp_corpus *c, const char *name, uint32_t in, uint32_t out, qp_range range)
{
    qp_case_input(c, in, range.lo, range.hi);
    qp_case_tensor(c, out);
    qp_case_operator(c, name, "0 > 1");
    qp_case_output(c, 1);
}

static qp_range random_range(qp_corpus *c)
{
    int64_t size = QP_P(qp_case_random(c, 3, 36));
    return qp_case_random_range(c, (qp_range){-size, -1}, (qp_range){1, size});
}

/* ---- chunk_add ---------------------------------------------------------------------------- */

static void chunk_add_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    unary(c, "chunk_add", 4, 2, random_range(c));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void chunk_add_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range range;
    } table[] = {{"sums of 2^31 - 2 and -2^31", QP_WANT_ACC32, {-QP_P(30), QP_P(30) - 1}},
                 {"a sum of 2^31", QP_WANT_ACC64, {0, QP_P(30)}},
                 {"a sum two below -2^31", QP_WANT_ACC64, {-QP_P(30) - 1, 0}},
                 {"a sum of -2^63", QP_WANT_ACC64, {-QP_P(62), QP_P(62) - 1}}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = &table[i].range;
        qp_case(c, table[i].want, "%s", table[i].name);
        unary(c, "chunk_add", 2, 1, *r);
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(r->lo, r->hi, r->lo, r->lo, r->hi, r->hi));
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a sum of 2^63");
    unary(c, "chunk_add", 2, 1, (qp_range){0, QP_P(62)});
    qp_case(c, QP_WANT_MISMATCH, "refused: an odd count of channels");
    unary(c, "chunk_add", 3, 1, (qp_range){0, 1});

    qp_case(c, QP_WANT_ACC32, "equal exponents");
    unary(c, "chunk_add", 2, 1, (qp_range){0, 1});
    qp_case_exponent(c, 0, 9);
    qp_case_exponent(c, 1, 9);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 1, QP_LIST(1, 1));
    qp_case(c, QP_WANT_MISMATCH, "refused: the output's exponent differs");
    unary(c, "chunk_add", 2, 1, (qp_range){0, 1});
    qp_case_exponent(c, 0, 9);
    qp_case_exponent(c, 1, 8);
    qp_case(c, QP_WANT_MISMATCH, "refused: only the input has an exponent");
    unary(c, "chunk_add", 2, 1, (qp_range){0, 1});
    qp_case_exponent(c, 0, 9);
}

const qp_corpus_row qp_row_chunk_add = {"chunk_add", chunk_add_base, chunk_add_cases, false};

/* ---- clamp -------------------------------------------------------------------------------- */

static void build_clamp(qp_corpus *c, qp_range range, qp_range to)
{
    unary(c, "clamp", 2, 2, range);
    qp_case_i64(c, to.lo);
    qp_case_i64(c, to.hi);
}

static void clamp_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    build_clamp(c, (qp_range){-999, 999},
                qp_case_random_range(c, (qp_range){-1200, 0}, (qp_range){0, 1200}));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void clamp_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range range, to;
    } table[] = {
        {"to a byte", QP_WANT_ACC32, {-300, 300}, {0, 255}},
        {"open below", QP_WANT_ACC32, {-300, 300}, {INT64_MIN, 7}},
        {"open above", QP_WANT_ACC32, {-300, 300}, {-7, INT64_MAX}},
        {"to one value", QP_WANT_ACC32, {-300, 300}, {5, 5}},
        {"to a range above the input's", QP_WANT_ACC32, {-300, 300}, {1000, 2000}},
        {"to a range below the input's", QP_WANT_ACC32, {-300, 300}, {-2000, -1000}},
        {"a constant past i32", QP_WANT_ACC64, {0, 1}, {QP_P(31), QP_P(31)}},
        {"from i32 to i32", QP_WANT_ACC32, {INT32_MIN, INT32_MAX}, {INT32_MIN, INT32_MAX}},
        {"from one past i32 to i32", QP_WANT_ACC64, {INT32_MIN, QP_P(31)}, {INT32_MIN, INT32_MAX}},
        {"from i64 to i64", QP_WANT_ACC64, {INT64_MIN, INT64_MAX}, {INT64_MIN, INT64_MAX}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const qp_range *r = &table[i].range;
        qp_case(c, table[i].want, "%s", table[i].name);
        build_clamp(c, *r, table[i].to);
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(r->lo, r->hi, r->lo + 1, r->hi - 1, r->lo / 2, r->hi / 2));
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: lo above hi");
    build_clamp(c, (qp_range){0, 1}, (qp_range){1, 0});
}

const qp_corpus_row qp_row_clamp = {"clamp", clamp_base, clamp_cases, false};

/* ---- relu and abs ------------------------------------------------------------------------- */

static void one_channel(qp_corpus *c, const char *name, qp_range range)
{
    unary(c, name, 1, 1, range);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, range.lo, range.hi, range.lo + 1, range.hi - 1);
}

static void relu_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    unary(c, "relu", 2, 2, random_range(c));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void relu_cases(qp_corpus *c)
{
    for (size_t i = 0; i < QP_LIMIT_COUNT; i++) {
        qp_case(c, qp_limits[i].want, "from %s", qp_limits[i].name);
        one_channel(c, "relu", qp_limits[i].range);
    }
    qp_case(c, QP_WANT_ACC32, "only negative values");
    one_channel(c, "relu", (qp_range){-9, -4});
    qp_case(c, QP_WANT_ACC32, "only positive values");
    one_channel(c, "relu", (qp_range){4, 9});
}

const qp_corpus_row qp_row_relu = {"relu", relu_base, relu_cases, false};

static void abs_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    unary(c, "abs", 2, 2, random_range(c));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void abs_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range range;
    } table[] = {{"from -(2^31 - 1)", QP_WANT_ACC32, {INT32_MIN + 1, INT32_MAX}},
                 {"from -2^31, whose magnitude passes i32", QP_WANT_ACC64, {INT32_MIN, INT32_MAX}},
                 {"from -(2^63 - 1)", QP_WANT_ACC64, {INT64_MIN + 1, INT64_MAX}},
                 {"only negative values", QP_WANT_ACC32, {-9, -4}},
                 {"only positive values", QP_WANT_ACC32, {4, 9}},
                 {"about 0, the negative side longer", QP_WANT_ACC32, {-9, 4}}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        one_channel(c, "abs", table[i].range);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: from -2^63, whose magnitude passes i64");
    unary(c, "abs", 1, 1, (qp_range){INT64_MIN, 0});
}

const qp_corpus_row qp_row_abs = {"abs", abs_base, abs_cases, false};

/* ---- leaky -------------------------------------------------------------------------------- */

static void build_leaky(qp_corpus *c, qp_range range, int64_t a, uint32_t f)
{
    unary(c, "leaky", 1, 1, range);
    qp_case_i64(c, a);
    qp_case_u32(c, f);
}

static void leaky_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    int64_t slope = qp_case_random(c, -900, 900);
    build_leaky(c, (qp_range){-5000, 3000}, slope, (uint32_t)qp_case_random(c, 0, 12));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

typedef struct leaky_row {
    const char *name;
    qp_want want;
    qp_range range;
    int64_t a;
    uint32_t f;
} leaky_row;

static const leaky_row leaky_rows[] = {
    {"a shift of 0", QP_WANT_ACC32, {-9, 9}, 3, 0},
    {"a shift of 1", QP_WANT_ACC32, {-9, 9}, 1, 1},
    {"a shift of 31", QP_WANT_ACC32, {-9, 9}, 5, 31},
    {"a shift of 32", QP_WANT_ACC32, {-9, 9}, -5, 32},
    {"a shift of 62", QP_WANT_ACC32, {-9, 9}, 100, 62},
    {"a shift of 63", QP_WANT_ACC32, {INT32_MIN, INT32_MAX}, 1, 63},
    {"a shift of 63 on -2^63", QP_WANT_ACC64, {INT64_MIN, INT64_MAX}, 1, 63},
    {"a negative slope", QP_WANT_ACC32, {-9, 9}, -3, 1},
    {"a slope of 0", QP_WANT_ACC32, {-9, 9}, 0, 0},
    {"a slope of -2^31", QP_WANT_ACC32, {0, 9}, INT32_MIN, 63},
    {"a slope of 2^31", QP_WANT_ACC64, {0, 9}, QP_P(31), 63},
    {"a product of -2^31", QP_WANT_ACC32, {INT32_MIN, 0}, 1, 0},
    {"a product of 2^31 - 1", QP_WANT_ACC32, {INT32_MIN + 1, 0}, -1, 0},
    {"a product of 2^31", QP_WANT_ACC64, {INT32_MIN, 0}, -1, 0},
    {"a product one below -2^31 that its shift brings back", QP_WANT_ACC64, {-715827883, 0}, 3, 8},
    {"a product of -2^63", QP_WANT_ACC64, {-QP_P(62), 0}, 2, 0},
    {"a product of 2^63 - 1", QP_WANT_ACC64, {INT64_MIN + 1, 0}, -1, 0},
    {"only negative values", QP_WANT_ACC32, {-9, -4}, 1, 1},
    {"only positive values form no product", QP_WANT_ACC64, {4, 9}, INT64_MAX, 0},
    {"a product of 2^63", QP_WANT_MISMATCH, {INT64_MIN, 0}, -1, 0},
    {"a product past -2^63", QP_WANT_MISMATCH, {-QP_P(62) - 1, 0}, 2, 9},
};

static void leaky_cases(qp_corpus *c)
{
    /* item 6: -1·5/16 is -1, not 0, and -7·5/16 = -2.19 is -3 */
    qp_case(c, QP_WANT_ACC32, "negative values floor away from zero");
    build_leaky(c, (qp_range){-100, 100}, 5, 4);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -1, -2, -3, -4, -7, -16, -17, -100, 0, 1, 100);

    for (size_t i = 0; i < QP_COUNT(leaky_rows); i++) {
        const leaky_row *p = &leaky_rows[i];
        bool refused = p->want == QP_WANT_MISMATCH;
        qp_case(c, p->want, "%s%s", refused ? "refused: " : "", p->name);
        build_leaky(c, p->range, p->a, p->f);
        if (!refused) {
            qp_case_decode(c, QP_OK);
            QP_ROW(c, p->range.lo, p->range.lo + 1, p->range.hi - 1, p->range.hi);
        }
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a shift of 64");
    build_leaky(c, (qp_range){0, 1}, 1, 64);
    qp_case(c, QP_WANT_MISMATCH, "refused: a shift of 2^32 - 1");
    build_leaky(c, (qp_range){0, 1}, 1, UINT32_MAX);
}

const qp_corpus_row qp_row_leaky = {"leaky", leaky_base, leaky_cases, false};
