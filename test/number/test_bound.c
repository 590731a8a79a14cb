/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bound.c - the saturating integers of the bounds pass (integer-operators.md section 8.1)
 * against results of unlimited integers, and intervals by hand.
 */
#include "number/bound.h"
#include "support/test.h"

#include <string.h>

static unsigned digit_of(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static qp_bound parse(const char *text)
{
    qp_bound r = {{0}, *text == '-'};
    for (text += r.negative; *text != '\0'; text++) {
        for (size_t i = QP_BOUND_WORDS; i-- > 1;)
            r.magnitude[i] = r.magnitude[i] << 4 | r.magnitude[i - 1] >> 28;
        r.magnitude[0] = r.magnitude[0] << 4 | digit_of(*text);
    }
    return r;
}

typedef struct row {
    const char *a, *b, *result;
    bool saturated;
} row;

static qp_bound compute_ADD(const row *r, bool *saturated)
{
    return qp_bound_add(parse(r->a), parse(r->b), saturated);
}

static qp_bound compute_SUB(const row *r, bool *saturated)
{
    return qp_bound_sub(parse(r->a), parse(r->b), saturated);
}

static qp_bound compute_MUL(const row *r, bool *saturated)
{
    return qp_bound_mul(parse(r->a), parse(r->b), saturated);
}

static qp_bound compute_DIVIDE(const row *r, bool *saturated)
{
    (void)saturated;
    return qp_bound_floor_divide(parse(r->a), parse(r->b));
}

static qp_bound compute_SHIFT(const row *r, bool *saturated)
{
    (void)saturated;
    return qp_bound_floor_shift(parse(r->a), parse(r->b).magnitude[0]);
}

static qp_bound compute_ISQRT(const row *r, bool *saturated)
{
    (void)saturated;
    return qp_bound_isqrt(parse(r->a));
}

static qp_bound compute_ISQRT_CEIL(const row *r, bool *saturated)
{
    (void)saturated;
    return qp_bound_isqrt_ceil(parse(r->a));
}

static void test_operations(void **state)
{
    static const struct {
        const char *operation;
        qp_bound (*compute)(const row *, bool *);
        row row;
    } rows[] = {
#define ROW(operation, a, b, result, saturated)                                                    \
    {#operation, compute_##operation, {a, b, result, saturated}},
#include "bound_vectors.inc"
#undef ROW
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i].row;
        bool saturated = false;
        qp_bound found = rows[i].compute(r, &saturated), expected = parse(r->result);
        if (qp_bound_compare(&found, &expected) != 0 || saturated != r->saturated)
            fail_msg("%s(%s, %s) is not %s", rows[i].operation, r->a, r->b, r->result);
        assert_false(found.negative && qp_bound_is_zero(&found));
        qp_bound a = parse(r->a), b = parse(r->b);
        assert_int_equal(qp_bound_compare(&a, &b), -qp_bound_compare(&b, &a));
    }
}

static void test_saturation_is_sticky(void **state)
{
    qp_bound limit = qp_bound_power(QP_BOUND_POWER), one = qp_bound_from_i64(1);
    bool saturated = true;
    (void)state;
    qp_bound_add(one, one, &saturated);
    assert_true(saturated);
    saturated = false;
    qp_bound sum = qp_bound_add(limit, one, &saturated);
    assert_true(saturated);
    assert_int_equal(qp_bound_compare(&sum, &limit), 0);
    saturated = false;
    sum = qp_bound_sub(qp_bound_negate(limit), one, &saturated);
    assert_true(saturated);
    /* 2^255 itself is no saturation */
    saturated = false;
    sum = qp_bound_add(qp_bound_power(254), qp_bound_power(254), &saturated);
    assert_false(saturated);
    assert_int_equal(qp_bound_compare(&sum, &limit), 0);
}

static void assert_bits(const char *lo, const char *hi, unsigned bits)
{
    qp_interval a = {parse(lo), parse(hi)};
    assert_int_equal(qp_interval_bits(&a), bits);
    assert_true(qp_interval_fits(&a, bits));
    assert_false(bits > 1 && qp_interval_fits(&a, bits - 1));
}

static void test_widths(void **state)
{
    char lo[80], hi[80];
    (void)state;
    assert_bits("0", "0", 1);
    assert_bits("-1", "0", 1);
    assert_bits("0", "1", 2);
    assert_bits("-2", "1", 2);
    assert_bits("-80", "7f", 8);
    assert_bits("-80", "80", 9);
    assert_bits("-81", "0", 9);
    assert_bits("-8000000000000000", "7fffffffffffffff", 64);
    assert_bits("0", "8000000000000000", 65);
    snprintf(lo, sizeof lo, "-8%063d", 0);
    snprintf(hi, sizeof hi, "8%063d", 0);
    assert_bits(lo, "0", 256);
    assert_bits("0", hi, 257);
}

static void assert_text(const char *hexadecimal, const char *expected)
{
    char text[QP_BOUND_TEXT_SIZE];
    qp_bound v = parse(hexadecimal);
    assert_string_equal(qp_bound_text(&v, text), expected);
}

static void test_text(void **state)
{
    char limit[80];
    (void)state;
    assert_text("0", "0");
    assert_text("-1", "-1");
    assert_text("3b9aca00", "1000000000");
    assert_text("-3b9ac9ff", "-999999999");
    assert_text("de0b6b3a7640000", "1000000000000000000");
    assert_text("-8000000000000000", "-9223372036854775808");
    snprintf(limit, sizeof limit, "-8%063d", 0);
    assert_text(limit, "-5789604461865809771178549250434395392663499233282028201972879200395656481"
                       "9968");
}

static void test_conversions(void **state)
{
    char text[QP_BOUND_TEXT_SIZE];
    static const int64_t values[] = {0, 1, -1, INT32_MIN, INT64_MAX, INT64_MIN};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        qp_bound v = qp_bound_from_i64(values[i]);
        qp_bound same = qp_bound_from_i128(qp_i128_from_i64(values[i]));
        assert_int_equal(qp_bound_to_i64(&v), values[i]);
        assert_int_equal(qp_bound_compare(&v, &same), 0);
    }
    qp_bound least = qp_bound_from_i128(qp_i128_from_bits((uint64_t)1 << 63, 0));
    assert_string_equal(qp_bound_text(&least, text), "-170141183460469231731687303715884105728");
    qp_bound most = qp_bound_from_u64(UINT64_MAX);
    assert_string_equal(qp_bound_text(&most, text), "18446744073709551615");
}

static void assert_interval(qp_interval a, int64_t lo, int64_t hi)
{
    assert_int_equal(qp_bound_to_i64(&a.lo), lo);
    assert_int_equal(qp_bound_to_i64(&a.hi), hi);
}

static void test_intervals(void **state)
{
    bool saturated = false;
    (void)state;
    assert_interval(qp_interval_abs(qp_interval_of(3, 9)), 3, 9);
    assert_interval(qp_interval_abs(qp_interval_of(-9, -3)), 3, 9);
    assert_interval(qp_interval_abs(qp_interval_of(-9, 0)), 0, 9);
    assert_interval(qp_interval_abs(qp_interval_of(-9, 3)), 0, 9);
    assert_interval(qp_interval_abs(qp_interval_of(0, 3)), 0, 3);
    assert_interval(qp_interval_hull(qp_interval_of(-1, 2), qp_interval_of(5, 6)), -1, 6);
    assert_interval(qp_interval_clamp(qp_interval_of(-9, 9), qp_interval_of(-2, 3)), -2, 3);
    assert_interval(qp_interval_clamp(qp_interval_of(7, 9), qp_interval_of(-2, 3)), 3, 3);
    assert_interval(qp_interval_corners(qp_interval_of(-2, 3), qp_interval_of(-5, 4), &saturated),
                    -15, 12);
    assert_interval(qp_interval_corners(qp_interval_of(-2, -1), qp_interval_of(-5, -4), &saturated),
                    4, 10);
    assert_interval(qp_interval_floor_shift(qp_interval_of(-5, 5), 1), -3, 2);
    assert_interval(qp_interval_floor_shift(qp_interval_of(-5, 5), 255), -1, 0);
    assert_false(saturated);
    qp_interval a = qp_interval_of(-3, 5);
    assert_true(qp_interval_contains_i128(&a, qp_i128_from_i64(-3)));
    assert_false(qp_interval_contains_i128(&a, qp_i128_from_i64(6)));
    assert_false(qp_interval_contains_i128(&a, qp_i128_from_bits(1, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),  cmocka_unit_test(test_saturation_is_sticky),
        cmocka_unit_test(test_widths),      cmocka_unit_test(test_text),
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
