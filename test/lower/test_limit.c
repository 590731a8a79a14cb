/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_limit.c - the predicates of integer-operators.md section 13.2 against a plain evaluation in
 * 128 bits, on layers for which 128 bits hold every value; and X beside X + 1 on random layers.
 */
#include "lower/network.h"
#include "support/test.h"

__extension__ typedef unsigned __int128 u128;

#define I64 ((u128)INT64_MAX)

static uint64_t root(u128 n)
{
    uint64_t r = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = r | (uint64_t)1 << bit;
        if ((u128)next * next <= n)
            r = next;
    }
    return r;
}

/* Every product stays below 2^127: weights to 2^10, c·k·k to 2^7, multipliers to 2^46, X to 2^63.
 */
static bool naive_holds(const qp_network *n, const qp_layer *l, uint64_t x)
{
    if (l->tag == QP_LAYER_LEAKY)
        return (u128)x * qp_magnitude_i64(l->slope) <= I64;
    if (l->tag == QP_LAYER_IGDN) {
        /* gamma below 2^1 and X at most 2^63: G·X² <= 2^126 */
        u128 term = (u128)x * x * l->weight_max;
        u128 i128 = ((u128)1 << 127) - 1;
        if ((term >> n->gf) + 1 > (i128 - l->bias_max) / l->c)
            return false;
        u128 norm = l->bias_max + (u128)l->c * ((term >> n->gf) + 1);
        if (root(norm) > I64)
            return false;
        return ((u128)x * root(norm) >> n->afrac) + 1 <= I64;
    }
    u128 taps = (u128)l->c * l->k * (n->one_dimensional ? 1 : l->k);
    u128 sum = taps * l->weight_max * x;
    return sum <= I64 && (sum * l->mult_max >> n->shift) + 1 + l->bias_max <= I64;
}

static qp_layer random_layer(uint64_t *seed, qp_network *n)
{
    static const uint8_t tags[] = {QP_LAYER_TRANSPOSED, QP_LAYER_CONV, QP_LAYER_IGDN,
                                   QP_LAYER_LEAKY};
    qp_layer l = {.tag = tags[test_below(seed, 4)]};
    *n = (qp_network){.one_dimensional = test_below(seed, 2) == 0,
                      .afrac = 1 + test_below(seed, 30),
                      .gf = test_below(seed, 20),
                      .shift = test_below(seed, 80)};
    l.c = 1 + test_below(seed, 8);
    l.k = 1 + test_below(seed, 4);
    l.weight_max = l.tag == QP_LAYER_IGDN ? test_below(seed, 2) : test_below(seed, 1024);
    l.mult_max = test_random(seed) >> (18 + test_below(seed, 40));
    l.bias_max = test_random(seed) >> (1 + test_below(seed, 62));
    l.slope = test_between(seed, INT64_MIN, INT64_MAX) >> test_below(seed, 63);
    return l;
}

static void test_predicates(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        qp_network n;
        qp_layer l = random_layer(&seed, &n);
        uint64_t x = (test_random(&seed) >> 1) >> test_below(&seed, 63);
        bool holds = qp_layer_holds(&n, &l, x);
        assert_true(holds == naive_holds(&n, &l, x));
    }
}

static void test_limit_is_the_largest(void **state)
{
    (void)state;
    uint64_t seed = 12;
    for (int i = 0; i < 3000; i++) {
        qp_network n;
        qp_layer l = random_layer(&seed, &n);
        uint64_t limit;
        if (!qp_layer_limit(&n, &l, &limit)) {
            assert_false(qp_layer_holds(&n, &l, 0));
            continue;
        }
        assert_true(limit <= (uint64_t)1 << 63);
        assert_true(naive_holds(&n, &l, limit));
        if (limit < (uint64_t)1 << 63)
            assert_false(qp_layer_holds(&n, &l, limit + 1));
        if (limit < (uint64_t)1 << 63)
            assert_false(naive_holds(&n, &l, limit + 1));
    }
}

/* The extremes of every field: nothing saturates, and the predicate still decides. */
static void test_extremes(void **state)
{
    (void)state;
    qp_network n = {.afrac = 1};
    qp_layer l = {.tag = QP_LAYER_CONV,
                  .c = UINT32_MAX,
                  .k = UINT32_MAX,
                  .weight_max = 1 << 15,
                  .mult_max = (uint64_t)1 << 63,
                  .bias_max = 0};
    uint64_t limit;
    assert_true(qp_layer_limit(&n, &l, &limit));
    assert_int_equal(limit, 0);
    l = (qp_layer){.tag = QP_LAYER_IGDN,
                   .c = UINT32_MAX,
                   .weight_max = (uint64_t)1 << 31,
                   .bias_max = (uint64_t)1 << 63};
    n.gf = 127;
    assert_true(qp_layer_limit(&n, &l, &limit));
    assert_true(qp_layer_holds(&n, &l, limit) && !qp_layer_holds(&n, &l, limit + 1));
    l = (qp_layer){.tag = QP_LAYER_LEAKY, .slope = INT64_MIN};
    assert_true(qp_layer_limit(&n, &l, &limit));
    assert_int_equal(limit, 0);
    l.slope = 1;
    assert_true(qp_layer_limit(&n, &l, &limit));
    assert_int_equal(limit, INT64_MAX);
    l.slope = 0;
    assert_true(qp_layer_limit(&n, &l, &limit));
    assert_true(limit == (uint64_t)1 << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_predicates),
                                       cmocka_unit_test(test_limit_is_the_largest),
                                       cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
