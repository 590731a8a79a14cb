/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_i128.c - 128-bit integers and the roundings on them (integer-operators.md section 2). It is
 * built twice, with the compiler's 128-bit type and with two halves, against one set of vectors.
 */
#include "number/function.h"
#include "support/test.h"

#include <string.h>

static unsigned digit_of(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static qp_i128 parse(const char *text)
{
    bool negative = *text == '-';
    uint64_t high = 0, low = 0;
    for (text += negative; *text != '\0'; text++) {
        high = high << 4 | low >> 60;
        low = low << 4 | digit_of(*text);
    }
    qp_i128 v = qp_i128_from_bits(high, low);
    return negative ? qp_i128_negate(v) : v;
}

static int64_t parse_i64(const char *text)
{
    return qp_i128_to_i64(parse(text));
}

typedef struct row {
    const char *a, *b, *result;
} row;

static qp_i128 compute_ADD(const row *r)
{
    return qp_i128_add(parse(r->a), parse(r->b));
}

static qp_i128 compute_SUB(const row *r)
{
    return qp_i128_sub(parse(r->a), parse(r->b));
}

static qp_i128 compute_COMPARE(const row *r)
{
    return qp_i128_from_i64(qp_i128_compare(parse(r->a), parse(r->b)));
}

static qp_i128 compute_MUL(const row *r)
{
    qp_i128 a = parse(r->a), product = qp_i128_mul(a, parse_i64(r->b));
    if (qp_i128_fits_i64(a)) {
        qp_i128 same = qp_i128_mul_i64(qp_i128_to_i64(a), parse_i64(r->b));
        assert_int_equal(qp_i128_compare(product, same), 0);
    }
    return product;
}

static qp_i128 compute_DIVIDE(const row *r)
{
    return qp_i128_divide(parse(r->a), (uint64_t)parse_i64(r->b), NULL);
}

static qp_i128 compute_REST(const row *r)
{
    uint64_t rest;
    qp_i128_divide(parse(r->a), (uint64_t)parse_i64(r->b), &rest);
    return qp_i128_from_u64(rest);
}

static qp_i128 compute_RIGHT(const row *r)
{
    return qp_i128_shift_right(parse(r->a), (unsigned)parse_i64(r->b));
}

static qp_i128 compute_LEFT(const row *r)
{
    return qp_i128_shift_left(parse(r->a), (unsigned)parse_i64(r->b));
}

static qp_i128 compute_ISQRT(const row *r)
{
    return qp_i128_from_u64(qp_i128_isqrt(parse(r->a)));
}

static void hold(const char *operation, const row *r, qp_i128 found)
{
    if (qp_i128_compare(found, parse(r->result)) != 0)
        fail_msg("%s(%s, %s) is not %s", operation, r->a, r->b, r->result);
}

static void test_operations(void **state)
{
    static const struct {
        const char *operation;
        qp_i128 (*compute)(const row *);
        row row;
    } rows[] = {
#define ROW(operation, a, b, result) {#operation, compute_##operation, {a, b, result}},
#include "i128_vectors.inc"
#undef ROW
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        hold(rows[i].operation, &rows[i].row, rows[i].compute(&rows[i].row));
}

static void test_roundings(void **state)
{
    static const struct {
        const char *operation;
        qp_round round;
        row row;
    } rows[] = {
#define ROW(rounding, p, shift, result) {#rounding, QP_ROUND_##rounding, {p, shift, result}},
#include "round_vectors.inc"
#undef ROW
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i].row;
        unsigned shift = (unsigned)parse_i64(r->b);
        hold(rows[i].operation, r, qp_round_shift(parse(r->a), shift, rows[i].round));
        qp_i128 half = qp_i128_from_i64(0);
        if (rows[i].round != QP_ROUND_FLOOR && shift > 0)
            half = qp_i128_shift_left(qp_i128_from_i64(1), shift - 1);
        bool narrow = shift <= 63 || rows[i].round == QP_ROUND_FLOOR;
        qp_i128 p = parse(r->a);
        if (narrow && qp_i128_fits_i64(p) && qp_i128_fits_i64(qp_i128_add(p, half))) {
            int64_t q = qp_round_shift_i64(qp_i128_to_i64(p), shift, rows[i].round);
            hold(rows[i].operation, r, qp_i128_from_i64(q));
        }
    }
}

/* Section 2 by hand: ties towards +infinity, and to the even neighbour. */
static void test_ties_by_hand(void **state)
{
    static const struct {
        int64_t p;
        int64_t floor, half_up, half_even;
    } rows[] = {
        {3, 1, 2, 2}, {1, 0, 1, 0},     {-1, -1, 0, 0},   {-3, -2, -1, -2},
        {5, 2, 3, 2}, {-5, -3, -2, -2}, {7, 3, 4, 4},     {-7, -4, -3, -4},
        {0, 0, 0, 0}, {2, 1, 1, 1},     {-2, -1, -1, -1}, {4, 2, 2, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(qp_round_shift_i64(rows[i].p, 1, QP_ROUND_FLOOR), rows[i].floor);
        assert_int_equal(qp_round_shift_i64(rows[i].p, 1, QP_ROUND_HALF_UP), rows[i].half_up);
        assert_int_equal(qp_round_shift_i64(rows[i].p, 1, QP_ROUND_HALF_EVEN), rows[i].half_even);
    }
}

static void test_exponential(void **state)
{
    /* x = 0: t = 88670, t2 = 7862368900, q = 119970, c = 2818695150, y = 43009 + 22544 = 65553 */
    static const struct {
        int64_t x, result;
    } rows[] = {
        {0, 65553},
        /* n = 1, r = 0: floor(65553 / 2) */
        {-45426, 32776},
        /* n = 0, r = -45425: t = 43245, t2 = 1870130025, q = 28535, c = 670429825, y = 32773 */
        {-45425, 32773},
        /* n = 62 and 63: the last shift that is not cut off, and the first that is */
        {-45426 * 16, 1},
        {-45426 * 17, 0},
        {-45426 * 62, 0},
        {-45426 * 63, 0},
        {-45426 * 64, 0},
        {-INT64_MAX, 0},
    };
    qp_exp_steps steps;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(qp_exp_neg_q16(rows[i].x, NULL), rows[i].result);

    qp_exp_neg_q16(0, &steps);
    assert_int_equal(steps.negx, 0);
    assert_int_equal(steps.nl, 0);
    assert_int_equal(steps.t2, INT64_C(7862368900));
    assert_int_equal(steps.c, INT64_C(2818695150));
    qp_exp_neg_q16(-45426 * 62 - 45425, &steps);
    assert_int_equal(steps.nl, 45426 * 62);
    assert_int_equal(steps.t2, 43245 * INT64_C(43245));
    assert_int_equal(steps.c, 23495 * INT64_C(28535));
}

static void test_reciprocal_root(void **state)
{
    (void)state;
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_i64(0)), 0);
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_i64(1)), INT64_C(1) << 32);
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_i64(3)), INT64_C(1) << 32);
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_i64(4)), INT64_C(1) << 31);
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_i64(9)), 1431655765);
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_bits(1, 0)), 1);
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_bits(4, 0)), 0);
    assert_int_equal(qp_rsqrt_q16(qp_i128_from_bits(INT64_MAX, UINT64_MAX)), 0);
}

static void test_small_functions(void **state)
{
    (void)state;
    assert_int_equal(qp_magnitude_i64(INT64_MIN), (uint64_t)1 << 63);
    assert_int_equal(qp_magnitude_i64(-1), 1);
    assert_int_equal(qp_floor_shift_i64(INT64_MIN, 63), -1);
    assert_int_equal(qp_floor_shift_i64(INT64_MIN, 64), -1);
    assert_int_equal(qp_floor_shift_i64(INT64_MAX, 127), 0);
    assert_int_equal(qp_floor_shift_i64(-5, 1), -3);
    assert_int_equal(qp_clamp_i64(5, -1, 3), 3);
    assert_int_equal(qp_clamp_i64(INT64_MIN, INT64_MIN, INT64_MAX), INT64_MIN);
    assert_int_equal(qp_i64_from_bits((uint64_t)1 << 63), INT64_MIN);
    assert_true(qp_i128_fits_i64(qp_i128_from_i64(INT64_MIN)));
    assert_false(qp_i128_fits_i64(qp_i128_from_u64((uint64_t)1 << 63)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),      cmocka_unit_test(test_roundings),
        cmocka_unit_test(test_ties_by_hand),    cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_reciprocal_root), cmocka_unit_test(test_small_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
