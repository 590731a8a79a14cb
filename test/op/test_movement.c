/* SPDX-License-Identifier: Apache-2.0 */
/* test_movement.c - data movement (integer-operators.md section 5.10), by hand. */
#include "support/one_operator.h"

enum {
    CONCAT = 0x06,
    SPLIT = 0x08,
    PIXEL_SHUFFLE,
    PIXEL_UNSHUFFLE,
    PAD_REP = 0x0E,
    CROP_TO,
    CROP = 0x14,
    SUBPOS_SPLIT,
    SUBPOS_MERGE,
    FILL
};

#define VALUES(...) ((const int64_t[]){__VA_ARGS__})
#define SHAPE(c, h, w) ((qp_shape){c, h, w})

static test_operator with_input(unsigned opcode, qp_shape shape, const int64_t *values)
{
    test_operator op = test_operator_make(opcode);
    test_operator_input(&op, shape, -100, 100, values);
    return op;
}

static void expect(test_operator *op, qp_shape shape, const int64_t *expected)
{
    test_operator_output(op, shape.channels);
    test_expect(op, 0, shape, expected);
    test_operator_free(op);
}

static void test_concat_and_split(void **state)
{
    test_operator op = with_input(CONCAT, SHAPE(1, 1, 2), VALUES(1, 2));
    (void)state;
    test_operator_input(&op, SHAPE(2, 1, 2), -100, 100, VALUES(3, 4, 5, 6));
    test_operator_input(&op, SHAPE(1, 1, 2), -100, 100, VALUES(7, 8));
    expect(&op, SHAPE(4, 1, 2), VALUES(1, 2, 3, 4, 5, 6, 7, 8));

    op = with_input(SPLIT, SHAPE(4, 1, 2), VALUES(1, 2, 3, 4, 5, 6, 7, 8));
    TEST_U32(&op, 1, 2);
    expect(&op, SHAPE(2, 1, 2), VALUES(3, 4, 5, 6));
}

/* Channel c·r² + i·r + j goes to row offset i and column offset j. */
static void test_pixel_shuffles(void **state)
{
    test_operator op =
        with_input(PIXEL_SHUFFLE, SHAPE(4, 1, 2), VALUES(0, 10, 1, 11, 2, 12, 3, 13));
    (void)state;
    TEST_U32(&op, 2);
    expect(&op, SHAPE(1, 2, 4), VALUES(0, 1, 10, 11, 2, 3, 12, 13));

    op = with_input(PIXEL_UNSHUFFLE, SHAPE(1, 2, 4), VALUES(0, 1, 10, 11, 2, 3, 12, 13));
    TEST_U32(&op, 2);
    expect(&op, SHAPE(4, 1, 2), VALUES(0, 10, 1, 11, 2, 12, 3, 13));
}

static void test_pad_rep(void **state)
{
    test_operator op = with_input(PAD_REP, SHAPE(1, 2, 3), VALUES(1, 2, 3, 4, 5, 6));
    (void)state;
    TEST_U32(&op, 4);
    expect(&op, SHAPE(1, 4, 4), VALUES(1, 2, 3, 3, 4, 5, 6, 6, 4, 5, 6, 6, 4, 5, 6, 6));
}

static void test_crops(void **state)
{
    test_operator op = with_input(CROP_TO, SHAPE(2, 2, 2), VALUES(1, 2, 3, 4, 5, 6, 7, 8));
    (void)state;
    test_operator_input(&op, SHAPE(3, 1, 2), 0, 0, VALUES(0, 0, 0, 0, 0, 0));
    expect(&op, SHAPE(2, 1, 2), VALUES(1, 2, 5, 6));

    /* y0 = 1, x0 = scalar 0 = 1, h = 2, w = scalar 1 = 2 */
    op = with_input(CROP, SHAPE(1, 3, 3), VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9));
    test_operator_scalar(&op, -1, 9, 1);
    test_operator_scalar(&op, 0, 9, 2);
    TEST_U32(&op, 0, 1, 1, 0, 0, 2, 1, 1);
    expect(&op, SHAPE(1, 2, 2), VALUES(5, 6, 8, 9));
}

static void test_subpositions(void **state)
{
    static const int64_t order[] = {3, 0, 2, 1}; /* (1,1), (0,0), (1,0), (0,1) */
    static const qp_shape quarter = {1, 1, 2};
    static const int64_t whole[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int64_t parts[4][2] = {{6, 8}, {1, 3}, {5, 7}, {2, 4}};
    (void)state;

    for (uint32_t k = 0; k < 4; k++) {
        test_operator op = with_input(SUBPOS_SPLIT, SHAPE(1, 2, 4), whole);
        for (int out = 0; out < 4; out++)
            test_operator_output(&op, 1);
        qp_writer_integers(&op.params, order, 4, 1);
        test_expect(&op, k, quarter, parts[k]);
        test_operator_free(&op);
    }
    test_operator op = test_operator_make(SUBPOS_MERGE);
    for (int k = 0; k < 4; k++)
        test_operator_input(&op, quarter, -100, 100, parts[k]);
    qp_writer_integers(&op.params, order, 4, 1);
    expect(&op, SHAPE(1, 2, 4), whole);
}

static void test_fill(void **state)
{
    test_operator op = with_input(FILL, SHAPE(1, 1, 2), VALUES(0, 0));
    (void)state;
    qp_writer_integers(&op.params, VALUES(0, INT64_MIN), 2, 8);
    expect(&op, SHAPE(2, 1, 2), VALUES(INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN));

    op = with_input(FILL, SHAPE(3, 1, 1), VALUES(0, 0, 0));
    test_operator_scalar(&op, 0, 0, 0);
    test_operator_scalar(&op, -9, 9, -7);
    qp_writer_integers(&op.params, VALUES(1, 1), 2, 8);
    expect(&op, SHAPE(1, 1, 1), VALUES(-7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concat_and_split), cmocka_unit_test(test_pixel_shuffles),
        cmocka_unit_test(test_pad_rep),          cmocka_unit_test(test_crops),
        cmocka_unit_test(test_subpositions),     cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
