/* SPDX-License-Identifier: Apache-2.0 */
/* stage_values.c - cases of the stage operators from integers to integers: E2 to E7 and E9. */
#include "conform/stage_vectors.h"

#define LIST(...)                                                                                  \
    (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { REFUSED = -1 }; /* the index of a refusal before any element */

/* ---- E2 ----------------------------------------------------------------------------------- */

void qp_stage_cases_dequantize(qp_stage_corpus *c)
{
    const int64_t p62 = (int64_t)1 << 62;
    const struct {
        const char *id;
        qp_status want;
        int64_t sym, f, base;
    } cases[] = {
        {"no shift", QP_OK, 5, 0, -2},
        {"a negative symbol", QP_OK, -3, 16, 7},
        {"zero", QP_OK, 0, 62, 0},
        {"the least value", QP_OK, -2, 62, 0},
        {"the greatest value", QP_OK, 1, 62, p62 - 1},
        {"a product past i64 whose value fits, from above", QP_OK, 2, 62, -1},
        {"a product past i64 whose value fits, from below", QP_OK, -3, 62, p62},
        {"the product 2^63 and the least base", QP_OK, 2, 62, INT64_MIN},
        {"one past the greatest value", QP_FIELD_RANGE, 2, 62, 0},
        {"one past it by its base", QP_FIELD_RANGE, 1, 62, p62},
        {"one below the least value", QP_FIELD_RANGE, -2, 62, -1},
        {"the largest product", QP_FIELD_RANGE, INT64_MAX, 62, INT64_MIN},
        {"the least symbol doubled", QP_FIELD_RANGE, INT64_MIN, 1, 0},
        {"f of 63", QP_FIELD_RANGE, 0, 63, 0},
        {"f of 64", QP_FIELD_RANGE, 1, 64, 0},
        {"a negative f", QP_FIELD_RANGE, 1, -1, 0},
        {"f and the value", QP_FIELD_RANGE, INT64_MAX, 63, INT64_MAX},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        qp_stage_case(c, cases[i].want, 0, "%s", cases[i].id);
        qp_stage_in(c, "{\"base\":\"%lld\",\"f\":\"%lld\",\"sym\":\"%lld\"}",
                    (long long)cases[i].base, (long long)cases[i].f, (long long)cases[i].sym);
    }
}

/* ---- E3 ----------------------------------------------------------------------------------- */

static void bucket(qp_stage_corpus *c, const char *rule, const int64_t *edges, size_t count,
                   int64_t sigma)
{
    qp_stage_in(c, "{");
    qp_stage_in_list(c, "edges", edges, count);
    qp_stage_in(c, ",\"sigma\":\"%lld\"}", (long long)sigma);
    qp_stage_modes(c, "{\"bucket\":\"%s\"}", rule);
}

void qp_stage_cases_bucket(qp_stage_corpus *c)
{
    static const int64_t edges[] = {10, 20, 20, 40}, mixed[] = {10, 50, 20, 0};
    static const int64_t sigmas[] = {INT64_MIN, 9, 10, 11, 19, 20, 21, 39, 40, 41, INT64_MAX};
    static const char *const rules[] = {"ceil", "floor"};

    for (size_t r = 0; r < 2; r++) {
        for (size_t i = 0; i < COUNT(sigmas); i++) {
            qp_stage_case(c, QP_OK, 0, "%s: sigma %lld", rules[r], (long long)sigmas[i]);
            bucket(c, rules[r], edges, COUNT(edges), sigmas[i]);
        }
        for (int64_t sigma = 4; sigma <= 6; sigma++) {
            qp_stage_case(c, QP_OK, 0, "%s: one edge of 5, sigma %d", rules[r], (int)sigma);
            bucket(c, rules[r], LIST(5), sigma);
        }
        qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "%s: no edge", rules[r]);
        bucket(c, rules[r], NULL, 0, 3);
    }
    for (size_t i = 0; i < COUNT(sigmas); i++) {
        qp_stage_case(c, QP_OK, 0, "ceil: edges in no order, sigma %lld", (long long)sigmas[i]);
        bucket(c, "ceil", mixed, COUNT(mixed), sigmas[i]);
    }
    qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "floor: edges in no order");
    bucket(c, "floor", mixed, COUNT(mixed), 15);
    qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "floor: the last edge one less");
    bucket(c, "floor", LIST(1, 2, 3, 2), 1);
}

/* ---- E4, E5 ------------------------------------------------------------------------------- */

void qp_stage_cases_coded(qp_stage_corpus *c)
{
    static const int64_t cases[][2] = {{382, 382},
                                       {383, 382},
                                       {381, 382},
                                       {0, -1},
                                       {-1, 0},
                                       {-5, -5},
                                       {INT64_MIN, INT64_MAX},
                                       {INT64_MAX, INT64_MIN},
                                       {INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        qp_stage_case(c, QP_OK, 0, "%lld over %lld", (long long)cases[i][0],
                      (long long)cases[i][1]);
        qp_stage_in(c, "{\"thr\":\"%lld\",\"v\":\"%lld\"}", (long long)cases[i][1],
                    (long long)cases[i][0]);
    }
}

void qp_stage_cases_scale_index(qp_stage_corpus *c)
{
    static const struct {
        qp_status want;
        int64_t v, s, n;
    } cases[] = {{QP_OK, 63, 7, 32},
                 {QP_OK, 64, 7, 32},
                 {QP_OK, 191, 7, 32},
                 {QP_OK, 192, 7, 32},
                 {QP_OK, 3967, 7, 32},
                 {QP_OK, 4095, 7, 32},
                 {QP_OK, -64, 7, 32},
                 {QP_OK, -1, 0, 32},
                 {QP_OK, 31, 0, 32},
                 {QP_OK, 32, 0, 32},
                 {QP_OK, 5, 0, 1},
                 {QP_OK, 1, 1, 2},
                 {QP_OK, INT32_MAX, 31, 32},
                 {QP_OK, INT32_MIN, 31, 32},
                 {QP_OK, INT64_MAX, 62, 9},
                 {QP_OK, INT64_MAX, 63, 9},
                 {QP_OK, INT64_MAX, 64, 9},
                 {QP_OK, INT64_MAX, 127, 9},
                 {QP_OK, INT64_MIN, 127, 9},
                 {QP_MODEL_MISMATCH, 1, 128, 9},
                 {QP_MODEL_MISMATCH, 1, -1, 9},
                 {QP_MODEL_MISMATCH, 1, 7, 0},
                 {QP_MODEL_MISMATCH, 1, 7, -1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        qp_stage_case(c, cases[i].want, REFUSED, "v %lld, s %lld, n %lld", (long long)cases[i].v,
                      (long long)cases[i].s, (long long)cases[i].n);
        qp_stage_in(c, "{\"n\":\"%lld\",\"s\":\"%lld\",\"v\":\"%lld\"}", (long long)cases[i].n,
                    (long long)cases[i].s, (long long)cases[i].v);
    }
}

/* ---- E6 ----------------------------------------------------------------------------------- */

static void block_stat(qp_stage_corpus *c, const qp_block_rule *rule, const int64_t *x,
                       const int64_t shape[3])
{
    qp_stage_in(c, "{\"b\":\"%lld\",\"hi\":\"%lld\",\"lo\":\"%lld\",\"s\":\"%lld\",\"x\":{",
                (long long)rule->b, (long long)rule->hi, (long long)rule->lo, (long long)rule->s);
    qp_stage_in_list(c, "data", x, (size_t)(shape[0] * shape[1] * shape[2]));
    qp_stage_in(c, ",");
    qp_stage_in_list(c, "shape", shape, 3);
    qp_stage_in(c, "}}");
}

void qp_stage_cases_block_stat(qp_stage_corpus *c)
{
    static const int64_t partial[30] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                        0, 0, 0, 0, 0, 0, 0, 0, 0, -9, 1,  0,  0,  -7, 2};
    static const int64_t halves[4] = {-3, -2, -1, 1};
    static const int64_t ends[4] = {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN};
    static const qp_block_rule rules[] = {{2, 2, -100, 100}, {2, 2, 5, 6},      {2, 0, -1000, 1000},
                                          {1, 0, -8, 9},     {3, 1, -50, 50},   {5, 6, -50, 50},
                                          {8, 6, 0, 4351},   {1000, 3, -9, 90}, {2, 127, -1, 1},
                                          {4, 63, -1, 1},    {2, 1, 7, 7}};
    static const qp_block_rule wrong[] = {
        {0, 0, 0, 1}, {-1, 0, 0, 1}, {1, -1, 0, 1}, {1, 128, 0, 1}, {1, 0, 1, 0}};
    int64_t random[2 * 9 * 17];

    for (size_t i = 0; i < COUNT(rules); i++) {
        qp_stage_case(c, QP_OK, 0, "two planes of 3 by 5, rule %d", (int)i);
        block_stat(c, &rules[i], partial, (const int64_t[]){2, 3, 5});
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "parameters out of range, %d", (int)i);
        block_stat(c, &wrong[i], ends, (const int64_t[]){1, 2, 2});
    }
    qp_stage_case(c, QP_OK, 0, "the ends of i32");
    block_stat(c, &(qp_block_rule){1, 0, INT32_MIN, INT32_MAX}, ends, (const int64_t[]){2, 1, 2});
    qp_stage_case(c, QP_OK, 0, "halves of either sign");
    block_stat(c, &(qp_block_rule){1, 1, -99, 99}, halves, (const int64_t[]){1, 2, 2});
    qp_stage_case(c, QP_OK, 0, "blocks of 8 over 9 by 17");
    for (size_t i = 0; i < COUNT(random); i++)
        random[i] = qp_stage_random(c, -4000, 4000);
    block_stat(c, &(qp_block_rule){8, 6, 0, 4351}, random, (const int64_t[]){2, 9, 17});
}

/* ---- E7 ----------------------------------------------------------------------------------- */

static void band(qp_stage_corpus *c, int64_t v, const char *edges, const char *table, int64_t row)
{
    qp_stage_in(c, "{\"edges\":%s,\"row\":\"%lld\",\"table\":%s,\"v\":\"%lld\"}", edges,
                (long long)row, table, (long long)v);
}

void qp_stage_cases_band_lookup(qp_stage_corpus *c)
{
    static const char edges[] = "[\"1004\",\"1353\",\"1938\"]";
    static const char table[] =
        "[[\"-31\",\"20\",\"122\",\"181\"],[\"-80\",\"-31\",\"71\",\"130\"]]";
    static const int64_t vs[] = {INT64_MIN, 0, 1003, 1004, 1352, 1353, 1937, 1938, INT64_MAX};

    for (int row = 0; row < 2; row++)
        for (size_t i = 0; i < COUNT(vs); i++) {
            qp_stage_case(c, QP_OK, 0, "row %d, v %lld", row, (long long)vs[i]);
            band(c, vs[i], edges, table, row);
        }
    qp_stage_case(c, QP_OK, 0, "edges in no order are counted");
    band(c, 15, "[\"30\",\"10\",\"20\"]", table, 0);
    qp_stage_case(c, QP_OK, 0, "no edge");
    band(c, 15, "[]", "[[\"9\"]]", 0);
    qp_stage_case(c, QP_OK, 0, "only the row that is read has its length");
    band(c, 15, "[\"10\"]", "[[\"1\",\"2\"],[]]", 0);
    qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "a row past the last");
    band(c, 15, edges, table, 2);
    qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "a row of -1");
    band(c, 15, edges, table, -1);
    qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "a row too short");
    band(c, 15, edges, "[[\"1\",\"2\",\"3\"]]", 0);
    qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "a row too long");
    band(c, 15, edges, "[[\"1\",\"2\",\"3\",\"4\",\"5\"]]", 0);
}

/* ---- E9 ----------------------------------------------------------------------------------- */

static void residual(qp_stage_corpus *c, const qp_residual *rule, int64_t pred, int64_t r)
{
    qp_stage_in(c,
                "{\"hi\":\"%lld\",\"lo\":\"%lld\",\"pred\":\"%lld\",\"q\":\"%lld\",\"r\":\"%lld\"}",
                (long long)rule->hi, (long long)rule->lo, (long long)pred, (long long)rule->q,
                (long long)r);
}

/* The steps at r = ±R and ±(R + 1) from both ends of the range, and the ends of r. */
static void residual_edges(qp_stage_corpus *c, const qp_residual *rule)
{
    int64_t reach = (rule->hi - rule->lo) / rule->q + 1;
    const int64_t rs[] = {0, 1, -1, reach, -reach, reach + 1, -reach - 1, INT32_MAX, INT32_MIN};
    for (int high = 0; high < 2; high++)
        for (size_t i = 0; i < COUNT(rs); i++) {
            if (i > 2 && i < 7 && (rs[i] == 1 || rs[i] == -1))
                continue; /* R is 1: these are listed */
            qp_stage_case(c, QP_OK, 0, "[%lld, %lld], q %lld, from %s, r %lld", (long long)rule->lo,
                          (long long)rule->hi, (long long)rule->q, high ? "hi" : "lo",
                          (long long)rs[i]);
            residual(c, rule, high ? rule->hi : rule->lo, rs[i]);
        }
}

void qp_stage_cases_residual_step(qp_stage_corpus *c)
{
    static const qp_residual ranges[] = {{1, 0, 255},
                                         {7, 0, 255},
                                         {255, 0, 255},
                                         {65535, 0, 255},
                                         {1, -32768, 32767},
                                         {4096, -32768, 32767},
                                         {65535, -32768, 32767},
                                         {65535, INT32_MAX - 65535, INT32_MAX},
                                         {65535, INT32_MIN, (int64_t)INT32_MIN + 65535},
                                         {3, INT32_MAX - 131071, INT32_MAX - 131070},
                                         {65535, INT32_MIN, INT32_MAX}};
    static const struct {
        const char *id;
        qp_residual rule;
        int64_t pred, r;
    } wrong[] = {{"q of 0", {0, 0, 255}, 5, 1},
                 {"q of 65536", {65536, 0, 255}, 5, 1},
                 {"a negative q", {-1, 0, 255}, 5, 1},
                 {"lo equal to hi", {1, 5, 5}, 5, 1},
                 {"lo above hi", {1, 6, 5}, 5, 1},
                 {"pred below lo", {1, 0, 255}, -1, 1},
                 {"pred above hi", {1, 0, 255}, 256, 1},
                 {"r of 2^31", {1, 0, 255}, 5, (int64_t)INT32_MAX + 1},
                 {"r of -2^31 - 1", {1, 0, 255}, 5, (int64_t)INT32_MIN - 1}};

    for (size_t i = 0; i < COUNT(ranges); i++)
        residual_edges(c, &ranges[i]);
    qp_stage_case(c, QP_OK, 0, "the text's example near the end of i32");
    residual(c, &(qp_residual){65535, INT32_MAX - 65535, INT32_MAX}, INT32_MAX, 2);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "%s", wrong[i].id);
        residual(c, &wrong[i].rule, wrong[i].pred, wrong[i].r);
    }
}
