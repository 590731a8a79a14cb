/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_values.c - dequantize, bucket, coded, scale_index, block_stat, band_lookup and coding_order
 * (integer-operators.md section 5E, E2 to E7 and E13): values computed by hand from the text, and
 * every condition.
 */
#include "quipu/quipu.h"
#include "support/test.h"

#include <stdbool.h>
#include <string.h>

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)   \
    }

/* ---- E2 ----------------------------------------------------------------------------------- */

static void assert_dequantize(int64_t sym, int64_t f, int64_t base, int64_t want)
{
    int64_t value = ~want;
    assert_int_equal(qp_dequantize(sym, f, base, &value, NULL), QP_OK);
    assert_true(value == want);
}

static void assert_dequantize_refused(int64_t sym, int64_t f, int64_t base)
{
    int64_t value = 77;
    qp_error error = {0};
    assert_int_equal(qp_dequantize(sym, f, base, &value, &error), QP_FIELD_RANGE);
    assert_int_equal(error.table, QP_TABLE_SYMBOLS);
    assert_int_equal(error.record, 0);
    assert_int_equal(value, 77);
}

static void test_dequantize(void **state)
{
    const int64_t p62 = (int64_t)1 << 62;
    (void)state;
    assert_dequantize(5, 0, -2, 3);
    assert_dequantize(-3, 4, 7, -41);
    assert_dequantize(1, 62, 0, p62);
    assert_dequantize(-2, 62, 0, INT64_MIN);
    assert_dequantize(1, 62, p62 - 1, INT64_MAX);
    /* the product passes 64 bits and the value does not */
    assert_dequantize(2, 62, -1, INT64_MAX);
    assert_dequantize(-3, 62, p62, INT64_MIN);
    assert_dequantize(2, 62, INT64_MIN, 0);
    assert_dequantize_refused(2, 62, 0);
    assert_dequantize_refused(1, 62, p62);
    assert_dequantize_refused(-2, 62, -1);
    assert_dequantize_refused(INT64_MAX, 62, INT64_MIN);
    assert_dequantize_refused(INT64_MIN, 1, 0);
    assert_dequantize_refused(0, 63, 0);
    assert_dequantize_refused(0, INT64_MAX, 0);
    assert_dequantize_refused(0, -1, 0);
}

/* ---- E3 ----------------------------------------------------------------------------------- */

static void test_bucket_ceil(void **state)
{
    const qp_integer_list edges = LIST(10, 20, 40), one = LIST(5), mixed = LIST(10, 50, 20, 0);
    static const struct {
        int64_t sigma;
        size_t index;
    } cases[] = {{INT64_MIN, 0}, {9, 0},  {10, 0}, {11, 1},       {20, 1},
                 {21, 2},        {40, 2}, {41, 2}, {INT64_MAX, 2}};
    (void)state;
    assert_int_equal(qp_bucket_check(edges, QP_BUCKET_CEIL, NULL), QP_OK);
    for (size_t i = 0; i < TEST_COUNT(cases); i++)
        assert_int_equal(qp_bucket(cases[i].sigma, edges, QP_BUCKET_CEIL), cases[i].index);
    assert_int_equal(qp_bucket(INT64_MIN, one, QP_BUCKET_CEIL), 0);
    assert_int_equal(qp_bucket(INT64_MAX, one, QP_BUCKET_CEIL), 0);
    /* any edges: sigma 15 is at most 50 and 20; the last edge is never compared */
    assert_int_equal(qp_bucket_check(mixed, QP_BUCKET_CEIL, NULL), QP_OK);
    assert_int_equal(qp_bucket(15, mixed, QP_BUCKET_CEIL), 1);
    assert_int_equal(qp_bucket(-99, mixed, QP_BUCKET_CEIL), 0);
    assert_int_equal(qp_bucket(51, mixed, QP_BUCKET_CEIL), 3);
}

static void test_bucket_floor(void **state)
{
    const qp_integer_list edges = LIST(10, 20, 20, 40), falls = LIST(10, 20, 19), none = {NULL, 0};
    qp_error error = {0};
    (void)state;
    assert_int_equal(qp_bucket_check(edges, QP_BUCKET_FLOOR, NULL), QP_OK);
    assert_int_equal(qp_bucket(INT64_MIN, edges, QP_BUCKET_FLOOR), 0);
    assert_int_equal(qp_bucket(9, edges, QP_BUCKET_FLOOR), 0);
    assert_int_equal(qp_bucket(10, edges, QP_BUCKET_FLOOR), 1);
    assert_int_equal(qp_bucket(20, edges, QP_BUCKET_FLOOR), 3);
    assert_int_equal(qp_bucket(40, edges, QP_BUCKET_FLOOR), 4);
    assert_int_equal(qp_bucket(INT64_MAX, edges, QP_BUCKET_FLOOR), 4);
    assert_int_equal(qp_bucket_check(falls, QP_BUCKET_FLOOR, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(qp_bucket_check(falls, QP_BUCKET_CEIL, NULL), QP_OK);
    assert_int_equal(qp_bucket_check(none, QP_BUCKET_FLOOR, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_bucket_check(none, QP_BUCKET_CEIL, NULL), QP_MODEL_MISMATCH);
}

/* ---- E4, E5 ------------------------------------------------------------------------------- */

static void test_coded(void **state)
{
    (void)state;
    assert_int_equal(qp_coded(382, 382), 0);
    assert_int_equal(qp_coded(383, 382), 1);
    assert_int_equal(qp_coded(INT64_MIN, INT64_MAX), 0);
    assert_int_equal(qp_coded(INT64_MAX, INT64_MIN), 1);
}

static void test_scale_index(void **state)
{
    static const struct {
        int64_t v, s, n, index;
    } cases[] = {{63, 7, 32, 0},         {64, 7, 32, 1},
                 {191, 7, 32, 1},        {192, 7, 32, 2},
                 {4095, 7, 32, 31},      {INT64_MAX, 7, 32, 31},
                 {-64, 7, 32, 0},        {INT64_MIN, 7, 32, 0},
                 {5, 0, 9, 5},           {INT64_MAX, 0, 1, 0},
                 {INT64_MAX, 63, 9, 1},  {INT64_MAX, 64, 9, 0},
                 {INT64_MAX, 127, 9, 0}, {INT64_MIN, 127, 9, 0},
                 {INT64_MAX, 62, 9, 2},  {INT64_MAX, 0, INT64_MAX, INT64_MAX - 1}};
    int64_t index = -1;
    qp_error error = {0};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        assert_int_equal(qp_scale_index(cases[i].v, cases[i].s, cases[i].n, &index, NULL), QP_OK);
        assert_int_equal(index, cases[i].index);
    }
    assert_int_equal(qp_scale_index(0, -1, 1, &index, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(qp_scale_index(0, 128, 1, &index, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_scale_index(0, 0, 0, &index, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_scale_index(0, 0, INT64_MIN, &index, NULL), QP_MODEL_MISMATCH);
}

/* ---- E6 ----------------------------------------------------------------------------------- */

/* Two channels of 3 by 5 in blocks of 2: partial ones to the right and below. */
static void test_block_stat(void **state)
{
    static const int32_t x[30] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                  0, 0, 0, 0, 0, 0, 0, 0, 0, -9, 1,  0,  0,  0,  0};
    /* sums 16, 24, 15 over 23, 27, 15; shifted by 2 with halves up: 4, 6, 4 and 6, 7, 4 */
    static const int64_t want[30] = {4, 4, 6, 6, 4,  4, 4, 6, 6, 4,  6, 6, 7, 7, 4,
                                     0, 0, 0, 0, -2, 0, 0, 0, 0, -2, 0, 0, 0, 0, 0};
    qp_array array = {x, QP_INT32, 2, 3, 5};
    qp_block_rule rule = {2, 2, -100, 100};
    int64_t out[30];
    (void)state;
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    assert_memory_equal(out, want, sizeof want);
    rule = (qp_block_rule){2, 2, 5, 6}; /* the clamp comes after the shift */
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    for (size_t i = 0; i < 30; i++)
        assert_int_equal(out[i], want[i] < 5 ? 5 : want[i] > 6 ? 6 : want[i]);
    rule = (qp_block_rule){INT64_MAX, 0, -1000, 1000}; /* one block a plane */
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    for (size_t i = 0; i < 30; i++)
        assert_int_equal(out[i], i < 15 ? 120 : -8);
    rule = (qp_block_rule){1, 0, INT64_MIN, INT64_MAX}; /* every position its own */
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    for (size_t i = 0; i < 30; i++)
        assert_int_equal(out[i], x[i]);
}

static void test_block_stat_extremes(void **state)
{
    static const int64_t top[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    static const int64_t low[4] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    qp_array array = {top, QP_INT64, 1, 2, 2};
    qp_block_rule rule = {2, 2, INT64_MIN, INT64_MAX};
    int64_t out[4];
    qp_error error = {0};
    (void)state;
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    assert_true(out[3] == INT64_MAX);
    rule.s = 1; /* 2^64 - 2 is clamped */
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    assert_true(out[0] == INT64_MAX);
    rule.s = 65; /* (2^65 - 4 + 2^64) / 2^65 floors to 1 */
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    assert_int_equal(out[0], 1);
    rule.s = 127;
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    assert_int_equal(out[0], 0);
    array.data = low;
    rule.s = 2;
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    assert_true(out[0] == INT64_MIN);
    rule.s = 0;
    assert_int_equal(qp_block_stat(&array, &rule, out, NULL), QP_OK);
    assert_true(out[0] == INT64_MIN);
    static const qp_block_rule wrong[] = {
        {0, 0, 0, 0}, {-1, 0, 0, 0}, {1, -1, 0, 0}, {1, 128, 0, 0}, {1, 0, 1, 0}};
    for (size_t i = 0; i < TEST_COUNT(wrong); i++)
        assert_int_equal(qp_block_stat(&array, &wrong[i], out, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
}

/* ---- E7 ----------------------------------------------------------------------------------- */

static void test_band_lookup(void **state)
{
    const qp_integer_list rows[] = {LIST(-31, 20, 122, 181), LIST(-80, -31, 71, 130), LIST(1, 2)};
    qp_band_table table = {LIST(1004, 1353, 1938), rows, 3};
    const qp_integer_list constant = LIST(9);
    qp_band_table no_edges = {{NULL, 0}, &constant, 1};
    static const int64_t v[] = {INT64_MIN, 1003, 1004, 1352, 1353, 1937, 1938, INT64_MAX};
    static const size_t band[] = {0, 0, 1, 1, 2, 2, 3, 3};
    int64_t value = 5;
    qp_error error = {0};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(v); i++)
        for (int64_t row = 0; row < 2; row++) {
            assert_int_equal(qp_band_lookup(v[i], &table, row, &value, NULL), QP_OK);
            assert_int_equal(value, rows[row].values[band[i]]);
        }
    assert_int_equal(qp_band_lookup(0, &table, 2, &value, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(qp_band_lookup(0, &table, 3, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_band_lookup(0, &table, -1, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_band_lookup(0, &no_edges, 0, &value, NULL), QP_OK);
    assert_int_equal(value, 9);
    table.edges = (qp_integer_list)LIST(30, 10, 20); /* edges in any order are counted */
    assert_int_equal(qp_band_lookup(15, &table, 0, &value, NULL), QP_OK);
    assert_int_equal(value, 20);
}

/* ---- E13 ---------------------------------------------------------------------------------- */

static void assert_order(const qp_order_rule *rule, const uint32_t *want, size_t count)
{
    uint32_t indices[64];
    size_t found = 99;
    assert_int_equal(qp_coding_order_count(rule, &found, NULL), QP_OK);
    assert_int_equal(found, count);
    assert_int_equal(qp_coding_order(rule, indices, NULL), QP_OK);
    assert_memory_equal(indices, want, count * sizeof *want);
}

static void test_coding_order(void **state)
{
    static const uint32_t raster[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const uint32_t even[] = {0, 2, 4, 6, 8, 10}, odd[] = {1, 3, 5, 7, 9, 11};
    static const uint32_t anchor[] = {0, 2, 4, 6, 8, 9, 11, 13, 15, 17}; /* two of 3 by 3 */
    static const uint32_t others[] = {1, 3, 5, 7, 10, 12, 14, 16};
    static const uint32_t rows[] = {1, 2}; /* 2 by 2: (0, 1) and (1, 0) */
    (void)state;
    assert_order(&(qp_order_rule){2, 2, 3, QP_ORDER_RASTER, 0}, raster, 12);
    assert_order(&(qp_order_rule){2, 2, 3, QP_ORDER_RASTER, 1}, raster, 12);
    assert_order(&(qp_order_rule){2, 2, 3, QP_ORDER_CHECKERBOARD, 1}, even, 6);
    assert_order(&(qp_order_rule){2, 2, 3, QP_ORDER_CHECKERBOARD, 0}, odd, 6);
    assert_order(&(qp_order_rule){2, 3, 3, QP_ORDER_CHECKERBOARD, 1}, anchor, 10);
    assert_order(&(qp_order_rule){2, 3, 3, QP_ORDER_CHECKERBOARD, 0}, others, 8);
    assert_order(&(qp_order_rule){1, 2, 2, QP_ORDER_CHECKERBOARD, 0}, rows, 2);
    assert_order(&(qp_order_rule){1, 1, 1, QP_ORDER_CHECKERBOARD, 0}, NULL, 0);
    assert_order(&(qp_order_rule){3, 1, 1, QP_ORDER_CHECKERBOARD, 1}, (const uint32_t[]){0, 1, 2},
                 3);
}

/* The two passes of a checkerboard are the raster's elements, each once. */
static void test_checkerboard_halves(void **state)
{
    static uint32_t indices[2 * 7 * 8];
    (void)state;
    for (uint32_t h = 1; h < 8; h++)
        for (uint32_t w = 1; w < 9; w++) {
            bool seen[2 * 7 * 8] = {false};
            qp_order_rule rule = {2, h, w, QP_ORDER_CHECKERBOARD, 1};
            size_t first = 0, second = 0;
            assert_int_equal(qp_coding_order_count(&rule, &first, NULL), QP_OK);
            assert_int_equal(qp_coding_order(&rule, indices, NULL), QP_OK);
            rule.anchor = 0;
            assert_int_equal(qp_coding_order_count(&rule, &second, NULL), QP_OK);
            assert_int_equal(qp_coding_order(&rule, indices + first, NULL), QP_OK);
            assert_int_equal(first + second, 2 * h * w);
            for (size_t i = 0; i < first + second; i++) {
                uint32_t place = indices[i] % (h * w);
                assert_int_equal((place / w + place % w) % 2, i < first ? 0 : 1);
                assert_false(seen[indices[i]]);
                seen[indices[i]] = true;
            }
        }
}

static void test_coding_order_refusals(void **state)
{
    static const qp_order_rule empty[] = {{0, 1, 1, QP_ORDER_RASTER, 0},
                                          {1, 0, 1, QP_ORDER_RASTER, 0},
                                          {1, 1, 0, QP_ORDER_CHECKERBOARD, 0}};
    static const qp_order_rule large[] = {
        {1, 8192, 8193, QP_ORDER_RASTER, 0},
        {UINT32_MAX, UINT32_MAX, UINT32_MAX, QP_ORDER_CHECKERBOARD, 1}};
    qp_order_rule most = {1, 8192, 8192, QP_ORDER_CHECKERBOARD, 0};
    size_t count = 7;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(empty); i++)
        assert_int_equal(qp_coding_order_count(&empty[i], &count, NULL), QP_MODEL_MISMATCH);
    for (size_t i = 0; i < TEST_COUNT(large); i++)
        assert_int_equal(qp_coding_order(&large[i], NULL, NULL), QP_TOO_LARGE);
    assert_int_equal(count, 7);
    assert_int_equal(qp_coding_order_count(&most, &count, NULL), QP_OK);
    assert_int_equal(count, 1 << 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dequantize),
        cmocka_unit_test(test_bucket_ceil),
        cmocka_unit_test(test_bucket_floor),
        cmocka_unit_test(test_coded),
        cmocka_unit_test(test_scale_index),
        cmocka_unit_test(test_block_stat),
        cmocka_unit_test(test_block_stat_extremes),
        cmocka_unit_test(test_band_lookup),
        cmocka_unit_test(test_coding_order),
        cmocka_unit_test(test_checkerboard_halves),
        cmocka_unit_test(test_coding_order_refusals),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
