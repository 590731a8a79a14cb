/* SPDX-License-Identifier: Apache-2.0 */
/* test_elementwise.c - integer-operators.md sections 5.4 to 5.6, by hand. */
#include "support/one_operator.h"

#include <string.h>

enum {
    CHSCALE = 0x03,
    LUT16,
    ADD,
    CHUNK_ADD = 0x07,
    CLAMP = 0x0B,
    RELU,
    LEAKY,
    MUL = 0x10,
    ABS = 0x13
};

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})

static const qp_shape four = {1, 1, 4};

/* An operator with one input of four elements in [lo, hi]. */
static test_operator of_four(unsigned opcode, int64_t lo, int64_t hi, const int64_t *values)
{
    test_operator op = test_operator_make(opcode);
    test_operator_input(&op, four, lo, hi, values);
    test_operator_output(&op, 1);
    return op;
}

static void expect_four(test_operator *op, const int64_t *expected)
{
    test_expect(op, 0, four, expected);
    test_operator_free(op);
}

static void test_clamp_relu_abs(void **state)
{
    (void)state;
    test_operator op = of_four(CLAMP, -9, 9, VALUES(-9, -3, 4, 9));
    qp_writer_integers(&op.params, VALUES(-3, 4), 2, 8);
    expect_four(&op, VALUES(-3, -3, 4, 4));

    /* one-sided: the open side is 2^63 - 1 */
    op = of_four(CLAMP, INT64_MIN, INT64_MAX, VALUES(INT64_MIN, -1, 1, INT64_MAX));
    qp_writer_integers(&op.params, VALUES(0, INT64_MAX), 2, 8);
    expect_four(&op, VALUES(0, 0, 1, INT64_MAX));

    op = of_four(RELU, INT64_MIN, INT64_MAX, VALUES(INT64_MIN, 0, 1, INT64_MAX));
    expect_four(&op, VALUES(0, 0, 1, INT64_MAX));
    op = of_four(ABS, -INT64_MAX, INT64_MAX, VALUES(-INT64_MAX, 0, -1, 2));
    expect_four(&op, VALUES(INT64_MAX, 0, 1, 2));
}

static void test_leaky(void **state)
{
    (void)state;
    /* floor(-5·3 / 4) = -4, floor(-1·3 / 4) = -1 */
    test_operator op = of_four(LEAKY, -5, 5, VALUES(-5, -1, 0, 5));
    qp_writer_integers(&op.params, VALUES(3), 1, 8);
    TEST_U32(&op, 2);
    expect_four(&op, VALUES(-4, -1, 0, 5));

    /* a negative slope, and the largest shift: -4·-3 / 2^0 = 12, -2^62·1 / 2^63 is below 0 */
    op = of_four(LEAKY, -4, 4, VALUES(-4, -1, 0, 4));
    qp_writer_integers(&op.params, VALUES(-3), 1, 8);
    TEST_U32(&op, 0);
    expect_four(&op, VALUES(12, 3, 0, 4));
    op = of_four(LEAKY, INT64_MIN, 1, VALUES(INT64_MIN, -1, 0, 1));
    qp_writer_integers(&op.params, VALUES(1), 1, 8);
    TEST_U32(&op, 63);
    expect_four(&op, VALUES(-1, -1, 0, 1));
}

static void test_add(void **state)
{
    (void)state;
    test_operator op = of_four(ADD, INT64_MIN, -1, VALUES(INT64_MIN, -1, -7, -8));
    test_operator_input(&op, four, 0, INT64_MAX, VALUES(INT64_MAX, 1, 9, 0));
    expect_four(&op, VALUES(-1, 0, 2, -8));
    /* EZKL 1033: 16777216 + 1 is 16777217 */
    op = of_four(ADD, 0, 16777216, VALUES(16777216, 0, 1, 2));
    test_operator_input(&op, four, 0, 1, VALUES(1, 1, 0, 0));
    expect_four(&op, VALUES(16777217, 1, 1, 2));
}

static void test_chunk_add(void **state)
{
    test_operator op = test_operator_make(CHUNK_ADD);
    (void)state;
    test_operator_input(&op, (qp_shape){4, 1, 2}, -9, 9, VALUES(1, 2, 3, 4, 5, 6, 7, -9));
    test_operator_output(&op, 2);
    test_expect(&op, 0, (qp_shape){2, 1, 2}, VALUES(6, 8, 10, -5));
    test_operator_free(&op);
}

static void test_mul(void **state)
{
    test_operator op = test_operator_make(MUL);
    (void)state;
    /* b has one channel, and an rq with one shift: floor(a·b / 2) */
    test_operator_input(&op, (qp_shape){2, 1, 2}, -9, 9, VALUES(3, -3, 5, 9));
    test_operator_input(&op, (qp_shape){1, 1, 2}, -9, 9, VALUES(-3, 7));
    test_operator_output(&op, 2);
    test_plain_rq(&op, 1, QP_ROUND_FLOOR);
    test_expect(&op, 0, (qp_shape){2, 1, 2}, VALUES(-5, -11, -8, 31));
    test_operator_free(&op);

    op = test_operator_make(MUL);
    test_operator_input(&op, (qp_shape){2, 1, 1}, INT32_MIN, INT32_MAX, VALUES(INT32_MIN, 5));
    test_operator_input(&op, (qp_shape){2, 1, 1}, INT32_MIN, INT32_MAX, VALUES(INT32_MIN, -6));
    test_operator_output(&op, 2);
    test_plain_rq(&op, 0, QP_ROUND_HALF_UP);
    test_expect(&op, 0, (qp_shape){2, 1, 1}, VALUES(INT64_C(1) << 62, -30));
    test_operator_free(&op);
}

static void test_chscale(void **state)
{
    test_operator op = test_operator_make(CHSCALE);
    (void)state;
    /* row 1 of three: multipliers 3 and -5, shift 1, half_even: 1.5 -> 2, -1.5 -> -2, -2.5 -> -2 */
    test_operator_input(&op, (qp_shape){2, 1, 2}, -1, 1, VALUES(1, -1, 1, -1));
    test_operator_output(&op, 2);
    test_operator_scalar(&op, 0, 2, 1);
    TEST_U32(&op, 0, 3);
    qp_writer_integers(&op.params, VALUES(QP_ROUND_HALF_EVEN, 4, 1, 0), 4, 1);
    qp_writer_integers(&op.params, VALUES(100, 100, 3, -5, 200, 200), 6, 4);
    test_expect(&op, 0, (qp_shape){2, 1, 2}, VALUES(2, -2, -2, 2));
    test_operator_free(&op);
}

static void test_lut16(void **state)
{
    static int64_t table[65536];
    test_operator op = of_four(LUT16, -32767, 32767, VALUES(-32767, -1, 0, 32767));
    (void)state;
    for (size_t k = 0; k < 65536; k++)
        table[k] = 32768 - (int64_t)k; /* entry v + 32768 is -v */
    table[0] = 0;
    qp_writer_integers(&op.params, VALUES(QP_EXPONENT_NONE, QP_EXPONENT_NONE, 0, 0), 4, 1);
    qp_writer_integers(&op.params, table, 65536, 2);
    expect_four(&op, VALUES(32767, 1, 0, -32767));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clamp_relu_abs),
        cmocka_unit_test(test_leaky),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_chunk_add),
        cmocka_unit_test(test_mul),
        cmocka_unit_test(test_chscale),
        cmocka_unit_test(test_lut16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
