/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_convolution.c - conv and conv_transpose (integer-operators.md 5.2, 5.3) against the sums of
 * the text, written out, on random shapes in every storage.
 */
#include "support/one_operator.h"

#include <string.h>

enum { CONV = 0x01, CONV_TRANSPOSE = 0x11, VALUES_MAX = 8192 };

typedef struct layer {
    bool transposed;
    uint32_t cin, cout, height, width, kh, kw, sh, sw, ph, pw, oph, opw, groups, w_bytes, shift;
    int64_t weights[VALUES_MAX], in[VALUES_MAX], out[VALUES_MAX];
} layer;

/* ---- the text, literally ------------------------------------------------------------------ */

static int64_t input_at(const layer *l, uint32_t c, int64_t u, int64_t v)
{
    if (u < 0 || u >= l->height || v < 0 || v >= l->width)
        return 0;
    return l->in[(c * l->height + (uint32_t)u) * l->width + (uint32_t)v];
}

static int64_t conv_at(const layer *l, uint32_t o, int64_t y, int64_t x)
{
    uint32_t cg = l->cin / l->groups, og = l->cout / l->groups;
    int64_t acc = 0;
    for (uint32_t ci = 0; ci < cg; ci++)
        for (uint32_t i = 0; i < l->kh; i++)
            for (uint32_t j = 0; j < l->kw; j++)
                acc += l->weights[((o * cg + ci) * l->kh + i) * l->kw + j] *
                       input_at(l, o / og * cg + ci, y * l->sh + i - l->ph, x * l->sw + j - l->pw);
    return acc;
}

static int64_t conv_transpose_at(const layer *l, uint32_t o, int64_t y, int64_t x)
{
    int64_t acc = 0;
    for (uint32_t ci = 0; ci < l->cin; ci++)
        for (uint32_t i = 0; i < l->kh; i++)
            for (uint32_t j = 0; j < l->kw; j++) {
                int64_t ty = y + l->ph - i, tx = x + l->pw - j;
                if (ty >= 0 && ty % l->sh == 0 && tx >= 0 && tx % l->sw == 0)
                    acc += l->weights[((ci * l->cout + o) * l->kh + i) * l->kw + j] *
                           input_at(l, ci, ty / l->sh, tx / l->sw);
            }
    return acc;
}

static int64_t side(uint32_t in, uint32_t k, uint32_t s, uint32_t p, uint32_t op, bool transposed)
{
    if (transposed)
        return ((int64_t)in - 1) * s + k + op - 2 * (int64_t)p;
    int64_t rest = (int64_t)in + 2 * (int64_t)p - k;
    return rest < 0 ? 0 : rest / s + 1;
}

static qp_shape shape_of(const layer *l)
{
    int64_t height = side(l->height, l->kh, l->sh, l->ph, l->oph, l->transposed);
    int64_t width = side(l->width, l->kw, l->sw, l->pw, l->opw, l->transposed);
    if (height < 1 || width < 1 || height * width * l->cout > VALUES_MAX)
        return (qp_shape){0, 0, 0};
    return (qp_shape){l->cout, (uint32_t)height, (uint32_t)width};
}

static void expect(layer *l)
{
    qp_shape s = shape_of(l);
    size_t at = 0;
    for (uint32_t o = 0; o < s.channels; o++)
        for (uint32_t y = 0; y < s.height; y++)
            for (uint32_t x = 0; x < s.width; x++) {
                int64_t acc = l->transposed ? conv_transpose_at(l, o, y, x) : conv_at(l, o, y, x);
                l->out[at++] = qp_floor_shift_i64(acc, l->shift);
            }
}

/* ---- holding it against the operator ------------------------------------------------------ */

static size_t n_weights(const layer *l)
{
    return (size_t)l->cin / l->groups * l->cout * l->kh * l->kw;
}

static void hold(layer *l, int64_t lo, int64_t hi)
{
    test_operator op = test_operator_make(l->transposed ? CONV_TRANSPOSE : CONV);

    test_operator_input(&op, (qp_shape){l->cin, l->height, l->width}, lo, hi, l->in);
    test_operator_output(&op, l->cout);
    TEST_U32(&op, l->cout, l->kh, l->kw, l->sh, l->sw, l->ph, l->pw);
    if (l->transposed)
        TEST_U32(&op, l->oph, l->opw, l->w_bytes);
    else
        TEST_U32(&op, l->groups, l->w_bytes);
    test_plain_rq(&op, l->shift, QP_ROUND_FLOOR);
    qp_writer_integers(&op.params, l->weights, n_weights(l), l->w_bytes);
    expect(l);
    test_expect(&op, 0, shape_of(l), l->out);
    test_operator_free(&op);
}

static int64_t weight_limit(uint32_t w_bytes)
{
    return w_bytes == 1 ? INT8_MAX : w_bytes == 2 ? INT16_MAX : INT32_MAX;
}

/* Shapes beyond the usual: strides over the kernel, kernels over the input, padding over both. */
static bool random_layer(uint64_t *seed, layer *l)
{
    static const uint32_t widths[] = {1, 2, 4, 8};
    l->groups = l->transposed ? 1 : 1 + test_below(seed, 3);
    l->cin = l->groups * (1 + test_below(seed, 3));
    l->cout = l->groups * (1 + test_below(seed, 3));
    l->height = 1 + test_below(seed, 9);
    l->width = 1 + test_below(seed, 12);
    l->kh = 1 + test_below(seed, 6);
    l->kw = 1 + test_below(seed, 7);
    l->sh = 1 + test_below(seed, 5);
    l->sw = 1 + test_below(seed, 9);
    l->ph = test_below(seed, 9);
    l->pw = test_below(seed, 9);
    l->oph = l->transposed ? test_below(seed, 9) : 0;
    l->opw = l->transposed ? test_below(seed, 12) : 0;
    l->w_bytes = widths[test_below(seed, 4)];
    l->shift = test_below(seed, 9);
    return n_weights(l) <= VALUES_MAX && shape_of(l).channels != 0;
}

static void random_values(uint64_t *seed, layer *l, int64_t lo, int64_t hi)
{
    int64_t limit = weight_limit(l->w_bytes);
    for (size_t k = 0; k < n_weights(l); k++)
        l->weights[k] = test_below(seed, 4) == 0 ? 0 : test_between(seed, -limit, limit);
    for (size_t k = 0; k < (size_t)l->cin * l->height * l->width; k++)
        l->in[k] = test_between(seed, lo, hi);
}

static void test_shapes(bool transposed)
{
    static const qp_range ranges[] = {
        {-128, 127}, {0, 255}, {-32768, 32767}, {0, 65535}, {-100000, 100000}, {0, UINT32_MAX},
    };
    static layer l;
    uint64_t seed = transposed ? 2 : 1;
    for (int done = 0; done < 250;) {
        l.transposed = transposed;
        if (!random_layer(&seed, &l))
            continue;
        /* the last range with 1-byte weights only, so that every sum fits i64 by far */
        qp_range range = ranges[test_below(&seed, l.w_bytes == 1 ? 6 : 5)];
        random_values(&seed, &l, range.lo, range.hi);
        hold(&l, range.lo, range.hi);
        done++;
    }
}

static void test_conv(void **state)
{
    (void)state;
    test_shapes(false);
}

static void test_conv_transpose(void **state)
{
    (void)state;
    test_shapes(true);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* oneDNN 375: 3 channels of 5x5 ones under a kernel of ones give 75, under twos 150. */
static void test_halved_weights(void **state)
{
    static layer l;
    (void)state;
    memset(&l, 0, sizeof l);
    l.cin = 3, l.cout = 2, l.height = l.width = l.kh = l.kw = 5;
    l.sh = l.sw = l.groups = l.w_bytes = 1;
    for (size_t k = 0; k < 75; k++) {
        l.in[k] = 1;
        l.weights[k] = 1;
        l.weights[75 + k] = 2;
    }
    hold(&l, 0, 1);
    assert_int_equal(l.out[0], 75);
    assert_int_equal(l.out[1], 150);
}

/* oneDNN 518: pairs that a 16-bit intermediate clamps. */
static void test_saturating_pairs(void **state)
{
    static layer l;
    (void)state;
    memset(&l, 0, sizeof l);
    l.cin = 2, l.cout = 2, l.height = 1, l.width = 2;
    l.kh = l.kw = l.sh = l.sw = l.groups = l.w_bytes = 1;
    memcpy(l.weights, (const int64_t[]){127, 127, -128, -128}, 4 * sizeof(int64_t));
    memcpy(l.in, (const int64_t[]){255, 228, 255, 128}, 4 * sizeof(int64_t));
    hold(&l, 0, 255);
    assert_int_equal(l.out[0], 64770);
    assert_int_equal(l.out[3], -45568);
}

/* [1 2] under the kernel [1 10 100], stride 2, output padding 3: 1 10 100+2 20 200 0 0 0; a
 * position that no tap reaches holds rq(0). */
static void test_transpose_by_hand(void **state)
{
    static layer l;
    static const int64_t expected[] = {1, 10, 102, 20, 200, 0, 0, 0};
    (void)state;
    memset(&l, 0, sizeof l);
    l.transposed = true;
    l.cin = l.cout = l.height = l.kh = l.sh = l.groups = l.w_bytes = 1;
    l.width = 2, l.kw = 3, l.sw = 2, l.opw = 3;
    memcpy(l.weights, (const int64_t[]){1, 10, 100}, 3 * sizeof(int64_t));
    memcpy(l.in, (const int64_t[]){1, 2}, 2 * sizeof(int64_t));
    hold(&l, 0, 2);
    assert_memory_equal(l.out, expected, sizeof expected);
}

/* A sum at the end of i64: -2^63·1 + (2^63 - 1)·1 is formed, and -2^63 alone. */
static void test_widest_sums(void **state)
{
    static layer l;
    (void)state;
    memset(&l, 0, sizeof l);
    l.cin = 1, l.cout = 1, l.height = 1, l.width = 2, l.kw = 2;
    l.kh = l.sh = l.sw = l.groups = 1;
    l.w_bytes = 8;
    memcpy(l.weights, (const int64_t[]){INT64_MIN, INT64_MAX}, 2 * sizeof(int64_t));
    memcpy(l.in, (const int64_t[]){1, 0}, 2 * sizeof(int64_t));
    hold(&l, 0, 1);
    assert_int_equal(l.out[0], INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_halved_weights),
        cmocka_unit_test(test_saturating_pairs),
        cmocka_unit_test(test_transpose_by_hand),
        cmocka_unit_test(test_widest_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
