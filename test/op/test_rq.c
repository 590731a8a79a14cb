/* SPDX-License-Identifier: Apache-2.0 */
/* test_rq.c - requantisation (integer-operators.md section 5.1) through rescale, by hand. */
#include "support/one_operator.h"

enum { RESCALE = 0x02 };

typedef struct rq_case {
    qp_rq_values rq;
    int64_t lo, hi;
    int64_t values[4], expected[4]; /* [channels, 1, 4 / channels] */
} rq_case;

static void hold(const rq_case *c)
{
    uint32_t channels = (uint32_t)c->rq.channels;
    qp_shape shape = {channels, 1, 4 / channels};
    test_operator op = test_operator_make(RESCALE);

    test_operator_input(&op, shape, c->lo, c->hi, c->values);
    test_operator_output(&op, channels);
    qp_writer_rq(&op.params, &c->rq);
    test_expect(&op, 0, shape, c->expected);
    test_operator_free(&op);
}

#define SHIFT(...)                                                                                 \
    .shift = (const int64_t[])                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define MULT(...)                                                                                  \
    .mult = (const int64_t[])                                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define BIAS(...)                                                                                  \
    .bias = (const int64_t[])                                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void test_placements(void **state)
{
    /* pre: floor((v + 3)·5 / 4); post: floor(v·5 / 4) + 3 */
    const rq_case pre = {{.bias_place = QP_BIAS_PRE,
                          .mult_kind = QP_KIND_ONE,
                          .shift_kind = QP_KIND_ONE,
                          .mult_width = 4,
                          .bias_width = 4,
                          MULT(5),
                          SHIFT(2),
                          BIAS(3),
                          .channels = 1},
                         -10,
                         10,
                         {0, 1, -4, -5},
                         {3, 5, -2, -3}};
    const rq_case post = {{.bias_place = QP_BIAS_POST,
                           .mult_kind = QP_KIND_ONE,
                           .shift_kind = QP_KIND_ONE,
                           .mult_width = 8,
                           .bias_width = 8,
                           MULT(5),
                           SHIFT(2),
                           BIAS(3),
                           .channels = 1},
                          -10,
                          10,
                          {0, 1, -4, -5},
                          {3, 4, -2, -4}};
    (void)state;
    hold(&pre);
    hold(&post);
}

static void test_per_channel(void **state)
{
    const rq_case c = {{.round = QP_ROUND_HALF_UP,
                        .bias_place = QP_BIAS_POST,
                        .mult_kind = QP_KIND_PER_CHANNEL,
                        .shift_kind = QP_KIND_PER_CHANNEL,
                        .mult_width = 4,
                        .bias_width = 4,
                        MULT(3, -1),
                        SHIFT(1, 0),
                        BIAS(10, -10),
                        .channels = 2},
                       -4,
                       4,
                       {1, -1, 1, -4},
                       {12, 9, -11, -6}};
    (void)state;
    hold(&c);
}

/* CMSIS-NN pull request 220: with accumulator and multiplier both 2^31 - 1 and a shift of 30 the
 * value before the last halving is 4294967292, which needs 33 bits. */
static void test_the_33rd_bit(void **state)
{
    const rq_case c = {{.round = QP_ROUND_FLOOR,
                        .mult_kind = QP_KIND_ONE,
                        .shift_kind = QP_KIND_ONE,
                        .mult_width = 4,
                        MULT(INT32_MAX),
                        SHIFT(30),
                        .channels = 1},
                       0,
                       INT32_MAX,
                       {INT32_MAX, 0, 1, 2},
                       {INT64_C(4294967292), 0, 1, 3}};
    (void)state;
    hold(&c);
}

static void test_widest_products(void **state)
{
    /* INT64_MIN·INT64_MIN = 2^126; floor at 63 gives 2^63, which no i64 holds, so shift 64: 2^62 */
    const rq_case wide = {{.round = QP_ROUND_FLOOR,
                           .mult_kind = QP_KIND_ONE,
                           .shift_kind = QP_KIND_ONE,
                           .mult_width = 8,
                           MULT(INT64_MIN),
                           SHIFT(64),
                           .channels = 1},
                          INT64_MIN,
                          INT64_MAX,
                          {INT64_MIN, INT64_MAX, 1, -1},
                          {INT64_C(1) << 62, -(INT64_C(1) << 62), -1, 0}};
    /* -(2^63 - 1)·2^63 / 2^64 = -2^62 + 1/2: floor is -2^62 */
    const rq_case shift_127 = {
        {.round = QP_ROUND_HALF_EVEN, .shift_kind = QP_KIND_ONE, SHIFT(127), .channels = 1},
        INT64_MIN,
        INT64_MAX,
        {INT64_MIN, INT64_MAX, 1, -1},
        {0, 0, 0, 0}};
    const rq_case floor_127 = {
        {.round = QP_ROUND_FLOOR, .shift_kind = QP_KIND_ONE, SHIFT(127), .channels = 1},
        INT64_MIN,
        INT64_MAX,
        {INT64_MIN, INT64_MAX, 0, -1},
        {-1, 0, 0, -1}};
    (void)state;
    hold(&wide);
    hold(&shift_127);
    hold(&floor_127);
}

/*
 * Every product negative and a shift of 64: rq.p is [-5, -1 + 2^63] and fits i64, though the addend
 * 2^63 alone does not. A 64-bit path shifted 1 by 63 here, and by 64 for the tie: undefined, so
 * that the undefined behaviour sanitizer sees it though the integers may come out right. Random
 * inputs have both signs, for which rq.p passes i64 and the wide path runs.
 */
static void test_shift_64_over_negative_products(void **state)
{
    rq_case c = {{.round = QP_ROUND_HALF_UP, .shift_kind = QP_KIND_ONE, SHIFT(64), .channels = 1},
                 -5,
                 -1,
                 {-5, -1, -2, -3},
                 {0, 0, 0, 0}};
    (void)state;
    hold(&c);
    c.rq.round = QP_ROUND_HALF_EVEN;
    hold(&c);
    /* -2^63 / 2^64 is a tie: up to 0, and to the even neighbour, 0 too; below it rounds to -1 */
    c.lo = INT64_MIN;
    c.values[0] = INT64_MIN;
    hold(&c);
}

static void test_fast_path_equals_plain(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (int round = 0; round < 300; round++) {
        int64_t limit = INT64_MAX >> test_below(&seed, 60);
        int64_t mult = test_between(&seed, INT32_MIN, INT32_MAX), shift = test_below(&seed, 128);
        qp_rq_values rq = {.round = (qp_round)test_below(&seed, 3),
                           .mult_kind = QP_KIND_ONE,
                           .shift_kind = QP_KIND_ONE,
                           .mult_width = 4,
                           .mult = &mult,
                           .shift = &shift,
                           .channels = 1};
        if (limit > INT64_MAX >> 33)
            mult = test_below(&seed, 2) ? 1 : -1;
        int64_t values[8];
        for (size_t k = 0; k < 8; k++)
            values[k] = k == 0 ? -limit : k == 1 ? limit : test_between(&seed, -limit, limit);
        int64_t expected[8];
        for (size_t k = 0; k < 8; k++)
            expected[k] = qp_i128_to_i64(
                qp_round_shift(qp_i128_mul_i64(values[k], mult), (unsigned)shift, rq.round));
        test_operator op = test_operator_make(RESCALE);
        test_operator_input(&op, (qp_shape){1, 2, 4}, -limit, limit, values);
        test_operator_output(&op, 1);
        qp_writer_rq(&op.params, &rq);
        test_expect(&op, 0, (qp_shape){1, 2, 4}, expected);
        test_operator_free(&op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placements),
        cmocka_unit_test(test_per_channel),
        cmocka_unit_test(test_the_33rd_bit),
        cmocka_unit_test(test_widest_products),
        cmocka_unit_test(test_shift_64_over_negative_products),
        cmocka_unit_test(test_fast_path_equals_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
