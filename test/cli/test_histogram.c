/* SPDX-License-Identifier: Apache-2.0 */
/* test_histogram.c - statistics with values by hand, and the bars of a picture. */
#include "cli/histogram.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static void test_statistics(void **state)
{
    static const float values[] = {1, 2, 3, 4};
    qp_statistics s = {0};
    (void)state;
    qp_statistics_add(&s, values, 4);
    assert_int_equal(s.count, 4);
    assert_true(s.lowest == 1 && s.highest == 4 && s.mean == 2.5 && s.squares == 5);
    assert_true(qp_statistics_deviation(&s) == sqrt(1.25));
    assert_int_equal(s.zeros, 0);
}

/* Numbers far from zero, in two runs: the sum of squares does not cancel away. */
static void test_runs(void **state)
{
    static const float values[] = {16777216, 16777218, 16777220, 16777222};
    qp_statistics s = {0};
    (void)state;
    qp_statistics_add(&s, values, 1);
    qp_statistics_add(&s, values + 1, 0);
    qp_statistics_add(&s, values + 1, 3);
    assert_int_equal(s.count, 4);
    assert_true(s.mean == 16777219 && s.squares == 20);
}

static void test_special(void **state)
{
    const float values[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 5.0f};
    qp_statistics s = {0};
    qp_histogram h;
    uint64_t sum = 0;
    (void)state;
    qp_statistics_add(&s, values, TEST_COUNT(values));
    assert_int_equal(s.count, 3);
    assert_int_equal(s.zeros, 2);
    assert_int_equal(s.nan, 1);
    assert_int_equal(s.infinite, 2);
    qp_histogram_start(&h, &s);
    qp_histogram_add(&h, values, TEST_COUNT(values));
    for (int i = 0; i < QP_HISTOGRAM_BINS; i++)
        sum += h.bins[i];
    assert_int_equal(sum, 3);
    assert_int_equal(h.bins[0], 2);
    assert_int_equal(h.bins[QP_HISTOGRAM_BINS - 1], 1);
}

/* No number, or one alone: nothing is divided by zero. */
static void test_few(void **state)
{
    const float one = 7, none = NAN;
    qp_statistics s = {0};
    qp_histogram h;
    qp_buffer text;
    (void)state;
    qp_buffer_init(&text, NULL);
    qp_statistics_add(&s, &none, 1);
    qp_histogram_start(&h, &s);
    qp_histogram_add(&h, &none, 1);
    qp_histogram_print(&h, false, &text);
    assert_int_equal(text.size, 0);
    qp_statistics_add(&s, &one, 1);
    qp_histogram_start(&h, &s);
    qp_histogram_add(&h, &one, 1);
    assert_int_equal(h.bins[0], 1);
    qp_histogram_print(&h, false, &text);
    assert_non_null(strstr((const char *)text.bytes, "  #\n"));
    qp_buffer_free(&text);
}

/* Outliers stand beside the picture, and the smallest bar is seen. */
static void test_bars(void **state)
{
    float values[10000];
    qp_statistics s = {0};
    qp_histogram h;
    qp_buffer text;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(values); i++)
        values[i] = (float)(i % 2);
    values[17] = -1000;
    values[18] = 1000;
    qp_statistics_add(&s, values, TEST_COUNT(values));
    qp_histogram_start(&h, &s);
    qp_histogram_add(&h, values, TEST_COUNT(values));
    assert_int_equal(h.below, 1);
    assert_int_equal(h.above, 1);
    qp_buffer_init(&text, NULL);
    qp_histogram_print(&h, true, &text);
    qp_buffer_append(&text, "", 1);
    assert_non_null(strstr((const char *)text.bytes, "not shown: 1 below, 1 above"));
    assert_non_null(strstr((const char *)text.bytes, "\xE2\x96\x88"));
    qp_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_special),    cmocka_unit_test(test_few),
        cmocka_unit_test(test_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
