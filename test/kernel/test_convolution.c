/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_convolution.c - the kernels of conv and conv_transpose give the reference's integers: random
 * shapes, strides, paddings and groups, on random inputs and on the inputs that reach the ends of
 * the certified partial-sum interval.
 */
#include "run/session.h"
#include "support/one_operator.h"

enum { OPCODE_CONV = 0x01, OPCODE_CONV_TRANSPOSE = 0x11, CASES = 400, INPUT_KINDS = 5 };

typedef struct conv_case {
    unsigned opcode;
    uint32_t cin, cout, kh, kw, sh, sw, ph, pw, groups;
    qp_shape in;
    int64_t lo, hi;      /* of the input */
    int64_t weight_most; /* magnitude */
    int64_t *weights;
    size_t n_weights;
} conv_case;

/* Ranges on both sides of what the kernel takes; the last pairs reach i16 exactly. */
static const struct {
    int64_t lo, hi, weight_most;
} widths[] = {
    {0, 255, 127},     {-128, 127, 127},      {0, 65535, 100},   {-32768, 32767, 60},
    {0, 32767, 32767}, {-32768, 32767, 3},    {-40000, 100, 7},  {0, 255, 40000},
    {-1, 1, 32767},    {-32768, 32767, 8000}, {0, 32767, 16383}, {-32768, 32767, 16000},
};

static conv_case make_case(unsigned opcode, uint64_t *seed)
{
    conv_case c = {.opcode = opcode};
    bool transposed = opcode == OPCODE_CONV_TRANSPOSE;
    uint32_t cg = 1 + test_below(seed, 4), og = 1 + test_below(seed, 3);
    size_t width = test_below(seed, TEST_COUNT(widths));

    c.groups = transposed ? 1 : 1 + test_below(seed, 3);
    c.cin = cg * c.groups;
    c.cout = og * c.groups;
    c.kh = 1 + test_below(seed, 4);
    c.kw = 1 + test_below(seed, 5);
    c.sh = 1 + test_below(seed, 3);
    c.sw = 1 + test_below(seed, 6);
    c.ph = test_below(seed, transposed ? c.kh : 4);
    c.pw = test_below(seed, transposed ? c.kw : 4);
    /* wide enough for the kernels, which leave narrow outputs to the reference */
    c.in = (qp_shape){c.cin, c.kh + test_below(seed, 9), c.kw + 12 * c.sw + test_below(seed, 23)};
    c.lo = widths[width].lo;
    c.hi = widths[width].hi;
    c.weight_most = widths[width].weight_most;
    c.n_weights = (size_t)c.cout * cg * c.kh * c.kw;
    c.weights = malloc(c.n_weights * sizeof *c.weights);
    assert_non_null(c.weights);
    for (size_t k = 0; k < c.n_weights; k++)
        c.weights[k] =
            test_below(seed, 8) == 0 ? 0 : test_between(seed, -c.weight_most, c.weight_most);
    return c;
}

/* A graph whose multiplier, shift and rounding spread the sums over the output. */
static test_operator make_operator(const conv_case *c, const int64_t *values, uint64_t *seed)
{
    test_operator op = test_operator_make(c->opcode);
    int64_t shift = test_below(seed, 12), mult = test_between(seed, -9, 9);
    qp_rq_values rq = {
        .round = (qp_round)test_below(seed, 3),
        .mult_kind = QP_KIND_ONE,
        .shift_kind = QP_KIND_ONE,
        .mult_width = 4,
        .mult = &mult,
        .shift = &shift,
        .channels = c->cout,
    };

    test_operator_input(&op, c->in, c->lo, c->hi, values);
    test_operator_output(&op, c->cout);
    TEST_U32(&op, c->cout, c->kh, c->kw, c->sh, c->sw, c->ph, c->pw);
    if (c->opcode == OPCODE_CONV)
        TEST_U32(&op, c->groups);
    else
        TEST_U32(&op, test_below(seed, 5), test_below(seed, 5)); /* output padding */
    qp_buffer_le(&op.params, 4, 4); /* w_bytes and three reserved bytes */
    qp_writer_rq(&op.params, &rq);
    qp_writer_integers(&op.params, c->weights, c->n_weights, 4);
    return op;
}

/* Kind 0 and 1: all at one end; 2 and 3: the signs of output channel 0's taps and their opposites,
 * which attain the ends of its partial-sum interval at a position that every tap reaches; 4:
 * random. */
static void fill_input(const conv_case *c, int kind, uint64_t *seed, int64_t *values)
{
    size_t plane = (size_t)c->in.height * c->in.width, taps = (size_t)c->kh * c->kw;

    for (size_t k = 0; k < c->cin * plane; k++) {
        size_t channel = k / plane, y = k % plane / c->in.width, x = k % c->in.width;
        size_t of_channel = channel % (c->cin / c->groups);
        if (c->opcode == OPCODE_CONV_TRANSPOSE)
            of_channel = channel * c->cout;
        size_t tap = of_channel * taps + y % c->kh * c->kw + x % c->kw;
        bool high = kind == 1 || (kind >= 2 && (c->weights[tap] > 0) == (kind == 2));
        values[k] = kind == 4 ? test_between(seed, c->lo, c->hi) : high ? c->hi : c->lo;
    }
}

static qp_session *make_session(const test_run *run, int reference)
{
    qp_session_options options = {.profile = QP_ACC64, .reference = reference};
    qp_session *session;
    assert_int_equal(qp_session_create(run->certificate, &options, NULL, &session, NULL), QP_OK);
    return session;
}

static void compare(const qp_session *kernel, const qp_session *reference)
{
    qp_array a, b;
    assert_int_equal(qp_session_output(kernel, 0, &a), QP_OK);
    assert_int_equal(qp_session_output(reference, 0, &b), QP_OK);
    assert_int_equal(a.type, b.type);
    assert_int_equal(qp_array_elements(&a), qp_array_elements(&b));
    assert_memory_equal(a.data, b.data, (size_t)qp_array_elements(&a) * qp_type_size(a.type));
}

/* Returns the kernel that took the node, or NULL. */
static const qp_kernel *check_case(unsigned opcode, uint64_t *seed)
{
    conv_case c = make_case(opcode, seed);
    size_t elements = (size_t)qp_shape_elements(&c.in);
    int64_t *values = malloc(elements * sizeof *values);
    assert_non_null(values);
    test_operator op = make_operator(&c, values, seed);
    test_run run = test_load(&op);
    qp_session *kernel = make_session(&run, 0), *reference = make_session(&run, 1);
    const qp_kernel *taken = kernel->kernels[0];

    for (int kind = 0; kind < INPUT_KINDS; kind++) {
        qp_array input = {values, QP_INT64, c.cin, c.in.height, c.in.width};
        fill_input(&c, kind, seed, values);
        assert_int_equal(qp_session_decode(kernel, &input, 1, NULL, 0, NULL), QP_OK);
        assert_int_equal(qp_session_decode(reference, &input, 1, NULL, 0, NULL), QP_OK);
        compare(kernel, reference);
    }
    qp_session_free(kernel);
    qp_session_free(reference);
    test_run_free(&run);
    test_operator_free(&op);
    free(values);
    free(c.weights);
    return taken;
}

/* Each kernel of the operator must have come up, or the comparison says nothing. */
static void compare_all(unsigned opcode, const char *const names[3])
{
    uint64_t seed = 20260201;
    unsigned counts[3] = {0};

    for (unsigned k = 0; k < CASES; k++) {
        const qp_kernel *kernel = check_case(opcode, &seed);
        assert_non_null(kernel);
        for (size_t n = 0; n < 3; n++)
            counts[n] += strcmp(kernel->name, names[n]) == 0;
    }
    assert_int_equal(counts[0] + counts[1] + counts[2], CASES);
    for (size_t n = 0; n < 3; n++)
        assert_true(counts[n] > CASES / 50);
}

static void test_conv(void **state)
{
    (void)state;
    compare_all(OPCODE_CONV, (const char *const[]){"conv_i16", "conv_i16_chunked", "conv_i64"});
}

static void test_conv_transpose(void **state)
{
    (void)state;
    compare_all(OPCODE_CONV_TRANSPOSE,
                (const char *const[]){"conv_transpose_i16", "conv_transpose_i16_chunked",
                                      "conv_transpose_i64"});
}

/*
 * Over [0, 32767], two taps of 32767 sum to 2^31 - 131070 and fit i32; three do not, and k_c is 2,
 * too little for a chunk. At 16383 k_c is 4: four taps fit i32, and five are summed in chunks. One
 * more unit of input or weight does not fit i16.
 */
static void test_takes_by_certified_width(void **state)
{
    static const struct {
        int64_t hi, weight;
        uint32_t cin;
        const char *kernel;
    } cases[] = {
        {32767, 32767, 1, "conv_i16"},
        {32767, 32767, 2, "conv_i16"},
        {32767, 32767, 3, "conv_i64"},
        {32767, 16383, 4, "conv_i16"},
        {32767, 16383, 5, "conv_i16_chunked"},
        {32767, 16385, 5, "conv_i64"},
        {32768, 1, 1, "conv_i64"},
        {1, 32768, 1, "conv_i64"},
    };
    (void)state;
    for (size_t k = 0; k < TEST_COUNT(cases); k++) {
        int64_t weights[5];
        uint64_t seed = 1;
        conv_case c = {.opcode = OPCODE_CONV,
                       .cin = cases[k].cin,
                       .cout = 1,
                       .kh = 1,
                       .kw = 1,
                       .sh = 1,
                       .sw = 1};
        for (size_t w = 0; w < TEST_COUNT(weights); w++)
            weights[w] = cases[k].weight;
        c.groups = 1;
        c.in = (qp_shape){c.cin, 1, 1};
        c.hi = cases[k].hi;
        c.weights = weights;
        c.n_weights = c.cin;
        test_operator op = make_operator(&c, NULL, &seed);
        test_run run = test_load(&op);
        qp_session *session = make_session(&run, 0);
        assert_string_equal(session->kernels[0]->name, cases[k].kernel);
        qp_session_free(session);
        test_run_free(&run);
        test_operator_free(&op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_takes_by_certified_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
