/* SPDX-License-Identifier: Apache-2.0 */
/* test_normalisation.c - integer-operators.md sections 5.7 to 5.9, by hand. */
#include "support/one_operator.h"

enum { IGDN = 0x12, LAYERNORM_C = 0x18, L2NORM, SOFTMAX, SIGMOID, ELU, GRAM, APPLY };

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})
#define SHAPE(c, h, w) ((qp_shape){c, h, w})

static test_operator with_input(unsigned opcode, qp_shape shape, const int64_t *values)
{
    test_operator op = test_operator_make(opcode);
    test_operator_input(&op, shape, -1000000, 1000000, values);
    return op;
}

static void expect(test_operator *op, qp_shape shape, const int64_t *expected)
{
    test_operator_output(op, shape.channels);
    test_expect(op, 0, shape, expected);
    test_operator_free(op);
}

/*
 * x = (3, -5), gamma = [1 2; -3 1], gf = 1: terms floor(9/2) = 4, floor(50/2) = 25, floor(-27/2) =
 * -14, floor(25/2) = 12. N = (7 + 29, 2 - 2): r = (6, 0). out = (floor(3·6/4), 0) = (4, 0).
 * Flooring the sum once would give 7 + floor(59/2) = 36 as well, but 2 + floor(-2/2) = 1.
 */
static void test_igdn(void **state)
{
    test_operator op = with_input(IGDN, SHAPE(2, 1, 1), VALUES(3, -5));
    (void)state;
    TEST_U32(&op, 1, 2, 4, 0);
    qp_writer_integers(&op.params, VALUES(1, 2, -3, 1), 4, 4);
    qp_writer_integers(&op.params, VALUES(7, 2), 2, 8);
    expect(&op, SHAPE(2, 1, 1), VALUES(4, 0));

    /* a negative norm is 0, and floor(-5·3 / 2) is -8 */
    op = with_input(IGDN, SHAPE(1, 1, 2), VALUES(-5, 10));
    TEST_U32(&op, 0, 1, 4, 0);
    qp_writer_integers(&op.params, VALUES(-1), 1, 4);
    qp_writer_integers(&op.params, VALUES(40), 1, 8); /* N = 15 and -60 */
    expect(&op, SHAPE(1, 1, 2), VALUES(-8, 0));
}

/*
 * x = (1, 2, 6): S = 9, M = 9 + 1 = 10, m = 3; d = (-2, -1, 3), T = 14, V = 4, U = 5, k = 2^32 / 2;
 * n = d·2^31 / 2^16 = d·2^15. gamma = 2^16 gives n + beta, gamma = -1 gives floor(n·-1 / 2^16).
 */
static void test_layernorm_c(void **state)
{
    test_operator op = with_input(LAYERNORM_C, SHAPE(3, 1, 1), VALUES(1, 2, 6));
    (void)state;
    qp_writer_integers(&op.params, VALUES(1, 4), 2, 8); /* epsilon; g_bytes and reserved */
    qp_writer_integers(&op.params, VALUES(65536, 65536, -1), 3, 4);
    qp_writer_integers(&op.params, VALUES(0, 5, 0), 3, 8);
    expect(&op, SHAPE(3, 1, 1), VALUES(-65536, -32763, -2));

    /* a mean that is a half, of an even C and a negative sum: S = -3, M = -4, m = -2 */
    op = with_input(LAYERNORM_C, SHAPE(2, 1, 1), VALUES(-1, -2));
    qp_writer_integers(&op.params, VALUES(1, 8), 2, 8);
    qp_writer_integers(&op.params, VALUES(65536, 65536), 2, 8);
    qp_writer_integers(&op.params, VALUES(0, 0), 2, 8);
    /* d = (1, 0), T = 1, V = 0, U = 1, k = 2^32, n = (2^16, 0) */
    expect(&op, SHAPE(2, 1, 1), VALUES(65536, 0));
}

/* (3, -4): T = 25, U = 26, k = floor(2^32 / 5) = 858993459; 3k / 2^16 = 39321.5, -4k / 2^16 =
 * -52428.79; the second channel is 0. */
static void test_l2norm(void **state)
{
    test_operator op = with_input(L2NORM, SHAPE(2, 2, 1), VALUES(3, -4, 0, 0));
    (void)state;
    qp_writer_integers(&op.params, VALUES(1), 1, 8);
    expect(&op, SHAPE(2, 2, 1), VALUES(39321, -52429, 0, 0));
}

/* Two equal values: e = 65553 each, and (65553·2^16 + 65553) / 131106 = 32768.5. A far smaller one
 * has e = 0 and (0 + 32776) / 65553 = 0; the other (65553·2^16 + 32776) / 65553 = 65536. */
static void test_softmax(void **state)
{
    test_operator op = with_input(SOFTMAX, SHAPE(1, 2, 2), VALUES(7, 7, 1000000, -1000000));
    (void)state;
    expect(&op, SHAPE(1, 2, 2), VALUES(32768, 32768, 65536, 0));
}

/* exp(0) = 65553: v = 0 gives floor(2^32 / 131089) = 32763. At -45426 e = 32776:
 * floor(32776·65536 / 98312) = 21848, and at 45426 floor(2^32 / 98312) = 43687. */
static void test_sigmoid(void **state)
{
    test_operator op = with_input(SIGMOID, SHAPE(1, 1, 4), VALUES(0, -45426, 45426, -1000000));
    (void)state;
    expect(&op, SHAPE(1, 1, 4), VALUES(32763, 21848, 43687, 0));
}

/* alpha = 2^16: exp - 2^16: 17 at 0 and -32760 at -45426; alpha·(0 - 2^16)/2^16 far below. */
static void test_elu(void **state)
{
    test_operator op = with_input(ELU, SHAPE(1, 1, 4), VALUES(5, 0, -45426, -1000000));
    (void)state;
    qp_writer_integers(&op.params, VALUES(65536), 1, 8);
    expect(&op, SHAPE(1, 1, 4), VALUES(5, 17, -32760, -65536));
}

/* Two groups of d = 2 over planes of 1x2, shift 1, half_up. */
static void test_gram(void **state)
{
    test_operator op = with_input(GRAM, SHAPE(4, 1, 2), VALUES(1, 2, 3, 4, 5, 6, 7, 8));
    (void)state;
    test_operator_input(&op, SHAPE(4, 1, 2), -9, 9, VALUES(1, 0, 0, 1, 1, 1, -1, 2));
    TEST_U32(&op, 2);
    test_plain_rq(&op, 1, QP_ROUND_HALF_UP);
    /* sums: (1 2) (3 4) | (11 7) (15 9); halves up: 1/2 -> 1, 3/2 -> 2, 11/2 -> 6, ... */
    expect(&op, SHAPE(4, 1, 2), VALUES(1, 1, 2, 2, 6, 4, 8, 5));
}

static void test_apply(void **state)
{
    test_operator op = with_input(APPLY, SHAPE(4, 1, 2), VALUES(1, 2, 3, 4, 5, 6, 7, 8));
    (void)state;
    test_operator_input(&op, SHAPE(4, 2, 1), -9, 9, VALUES(1, 0, 0, 1, 1, 1, -1, 2));
    TEST_U32(&op, 2);
    test_plain_rq(&op, 0, QP_ROUND_FLOOR);
    /* channel 0: 1·(1 0) + 2·(0 1); channel 1: 3·(1 0) + 4·(0 1); 2: 5·(1 1) + 6·(-1 2) */
    expect(&op, SHAPE(4, 2, 1), VALUES(1, 2, 3, 4, -1, 17, -1, 23));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_igdn),    cmocka_unit_test(test_layernorm_c),
        cmocka_unit_test(test_l2norm),  cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_sigmoid), cmocka_unit_test(test_elu),
        cmocka_unit_test(test_gram),    cmocka_unit_test(test_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
