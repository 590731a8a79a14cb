/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_certificate.c - certificates by hand (integer-operators.md sections 8.4 to 8.6): the
 * canonical JSON, k_c, first failures, admissible ranges, and what a set is held to.
 */
#include "support/one_operator.h"

#include <string.h>

enum {
    CONV = 0x01,
    LUT16 = 0x04,
    RELU = 0x0C,
    LEAKY = 0x0D,
    MUL = 0x10,
    FILL = 0x17,
    L2NORM = 0x19,
    SOFTMAX = 0x1A
};

static test_operator simple(unsigned opcode, int64_t lo, int64_t hi)
{
    test_operator op = test_operator_make(opcode);
    test_operator_input(&op, (qp_shape){1, 1, 1}, lo, hi, NULL);
    test_operator_output(&op, 1);
    return op;
}

/* A convolution of one channel by `count` taps in a row, with one shift of 0 and a bias before. */
static test_operator conv_of(int64_t lo, int64_t hi, const int64_t *weights, uint32_t count,
                             int64_t bias)
{
    int64_t shift = 0;
    test_operator op = test_operator_make(CONV);
    test_operator_input(&op, (qp_shape){1, 1, count}, lo, hi, NULL);
    test_operator_output(&op, 1);
    TEST_U32(&op, 1, 1, count, 1, 1, 0, 0, 1, 8);
    qp_writer_rq(&op.params, &(qp_rq_values){.bias_place = QP_BIAS_PRE,
                                             .shift_kind = QP_KIND_ONE,
                                             .bias_width = 8,
                                             .shift = &shift,
                                             .bias = &bias,
                                             .channels = 1});
    qp_writer_integers(&op.params, weights, count, 8);
    return op;
}

static char *json_of(const qp_certificate *certificate)
{
    char *bytes, *text;
    size_t size;
    assert_int_equal(qp_certificate_json(certificate, NULL, &bytes, &size, NULL), QP_OK);
    text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    qp_bytes_free(NULL, bytes, size);
    return text;
}

static void test_json_by_hand(void **state)
{
    static const char *const parts[] = {
        "{\"capability\":null,\"certificate\":\"wai-ops/1 "
        "bounds\",\"graphs\":[{\"graph_sha256\":\"",
        "\",\"inputs\":[{\"hi\":\"5\",\"kind\":\"data\",\"lo\":\"-3\",\"max_h\":\"1\",\"max_w\":"
        "\"1\","
        "\"policy\":\"check\",\"tensor\":\"0\"}],\"name\":\"graph\",\"nodes\":[{\"acc32_params\":[]"
        ","
        "\"fits\":[\"acc32\",\"acc64\"],\"index\":\"0\",\"intermediates\":{},\"npu_flags\":[],"
        "\"op\":\"relu\",\"out\":[{\"bits\":\"4\",\"hi\":\"5\",\"lo\":\"0\",\"policy\":\"derived\","
        "\"result\":{\"bits\":\"4\",\"hi\":\"5\",\"lo\":\"0\"},\"tensor\":\"1\"}],"
        "\"saturated\":false}],\"scalars\":[]}],\"lowering\":\"whg1\",\"set_sha256\":null,"
        "\"verdict\":{\"acc32\":true,\"acc64\":true,\"npu\":true,\"npu_flags\":[],"
        "\"npu_reasons\":[]}}",
    };
    test_operator op = simple(RELU, -3, 5);
    test_run run = test_load(&op);
    char digest[65], expected[1024], *text = json_of(run.certificate);
    (void)state;
    qp_graph_digest(run.graph, digest);
    snprintf(expected, sizeof expected, "%s%s%s", parts[0], digest, parts[1]);
    assert_string_equal(text, expected);
    free(text);
    test_run_free(&run);
    test_operator_free(&op);
}

/* The keys of the enumeration, and so of the JSON, ascend. */
static void test_names_ascend(void **state)
{
    (void)state;
    for (unsigned key = 1; key < QP_INTERMEDIATE_COUNT; key++)
        assert_true(strcmp(qp_intermediate_name((qp_intermediate)(key - 1)),
                           qp_intermediate_name((qp_intermediate)key)) < 0);
    for (unsigned flag = 1; flag < QP_NPU_FLAG_COUNT; flag++)
        assert_true(strcmp(qp_npu_flag_name((qp_npu_flag)(flag - 1)),
                           qp_npu_flag_name((qp_npu_flag)flag)) < 0);
}

static void assert_json_holds(const test_operator *op, const char *part)
{
    test_run run = test_load(op);
    char *text = json_of(run.certificate);
    if (strstr(text, part) == NULL)
        fail_msg("%s is not in %s", part, text);
    free(text);
    test_run_free(&run);
}

static void test_chunk_lengths(void **state)
{
    static const struct {
        int64_t lo, hi, weight;
        const char *part;
    } rows[] = {
        /* 2^31 - 1 over 255·127 = 32385 */
        {0, 255, 127, "\"k_c\":\"66311\""},   {-128, 127, -128, "\"k_c\":\"131071\""},
        {0, 255, 0, "\"k_c\":\"unbounded\""}, {0, 0, 127, "\"k_c\":\"unbounded\""},
        {0, INT32_MAX, 1, "\"k_c\":\"1\""},   {0, INT64_C(1) << 31, 1, "\"k_c\":\"0\""},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        test_operator op = conv_of(rows[i].lo, rows[i].hi, &rows[i].weight, 1, 0);
        assert_json_holds(&op, rows[i].part);
        test_operator_free(&op);
    }
}

static void assert_failure(const test_operator *op, qp_profile profile, const char *where,
                           const char *key, unsigned bits)
{
    test_run run = test_load(op);
    qp_failure failure;
    qp_error error;
    assert_false(qp_certificate_meets(run.certificate, profile, &failure));
    assert_string_equal(failure.where, where);
    assert_string_equal(failure.key, key);
    assert_int_equal(failure.bits, bits);
    assert_int_equal(failure.index, 0);
    assert_string_equal(failure.role, "graph");
    assert_int_equal(qp_certificate_require(run.certificate, profile, NULL, 0, &error),
                     QP_MODEL_MISMATCH);
    assert_non_null(strstr(error.message, key));
    qp_session *session;
    assert_int_equal(qp_session_create(run.certificate, &(qp_session_options){.profile = profile},
                                       NULL, &session, NULL),
                     QP_MODEL_MISMATCH);
    assert_null(session);
    test_run_free(&run);
}

static void test_first_failures(void **state)
{
    static const int64_t slope = INT64_C(1) << 31; /* one past i32 */
    static const int64_t weights[] = {INT64_C(1) << 31, 1};
    (void)state;
    test_operator op = simple(RELU, 0, INT64_C(1) << 31);
    assert_failure(&op, QP_ACC32, "input", "range", 33);
    test_operator_free(&op);

    op = simple(RELU, 0, 1);
    test_operator_scalar(&op, INT64_MIN, 0, 0);
    assert_failure(&op, QP_ACC32, "scalar", "range", 64);
    test_operator_free(&op);

    /* 2^126 in mul.p, out.0, rq.q, rq.t and rq.y alike: the smallest key in byte order */
    op = simple(MUL, INT64_MIN, INT64_MAX);
    test_operator_input(&op, (qp_shape){1, 1, 1}, INT64_MIN, INT64_MAX, NULL);
    test_plain_rq(&op, 0, QP_ROUND_FLOOR);
    assert_failure(&op, QP_ACC64, "node", "mul.p", 128);
    test_operator_free(&op);

    /* exp.t2 and sm.num have 34 bits each */
    op = simple(SOFTMAX, 0, 1);
    assert_failure(&op, QP_ACC32, "node", "exp.t2", 34);
    test_operator_free(&op);

    /* intervals that fit, and a parameter that does not */
    op = simple(LEAKY, 0, 5);
    qp_writer_integers(&op.params, &slope, 1, 8);
    TEST_U32(&op, 0);
    assert_failure(&op, QP_ACC32, "node", "leaky.a", 0);
    test_operator_free(&op);
    op = conv_of(0, 0, weights, 2, 0);
    assert_failure(&op, QP_ACC32, "node", "weights", 0);
    test_operator_free(&op);
    op = simple(L2NORM, 0, 5);
    qp_writer_integers(&op.params, &weights[1], 1, 8);
    assert_failure(&op, QP_ACC32, "node", "l2.k", 34);
    test_operator_free(&op);
}

/* ---- longer graphs ------------------------------------------------------------------------ */

typedef struct loaded {
    qp_buffer bytes;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_status status;
    qp_error error;
} loaded;

static loaded finish(qp_graph_writer *w)
{
    loaded l = {.status = QP_OK};
    qp_buffer_init(&l.bytes, NULL);
    assert_int_equal(qp_graph_writer_finish(w, QP_ELEMENTS_MAX, &l.bytes, NULL), QP_OK);
    assert_int_equal(qp_graph_load(l.bytes.bytes, l.bytes.size, NULL, &l.graph, NULL), QP_OK);
    l.status = qp_certify(l.graph, NULL, &l.certificate, &l.error);
    qp_graph_writer_free(w);
    return l;
}

static void release(loaded *l)
{
    qp_certificate_free(l->certificate);
    qp_graph_free(l->graph);
    qp_buffer_free(&l->bytes);
}

static uint32_t tensor(qp_graph_writer *w, qp_policy policy, int64_t lo, int64_t hi)
{
    return qp_writer_tensor(w, &(qp_graph_tensor_record){lo, hi, 1, QP_EXPONENT_NONE, policy});
}

/* relu from an input of [-9, 9] to an output of a policy. */
static loaded relu_to(qp_policy policy, int64_t lo, int64_t hi)
{
    static const uint32_t in = 0, out = 1;
    qp_graph_writer w;
    qp_graph_writer_init(&w, NULL);
    tensor(&w, QP_CLAMP, -9, 9);
    tensor(&w, policy, lo, hi);
    qp_writer_input(&w, &(qp_graph_input_record){0});
    qp_writer_output(&w, 1);
    qp_writer_begin_operator(&w, RELU, &in, 1, &out, 1);
    qp_writer_end_operator(&w);
    return finish(&w);
}

static void test_policies(void **state)
{
    static const struct {
        qp_policy policy;
        int64_t lo, hi;
        const char *expect_lo, *expect_hi;
    } rows[] = {
        {QP_DERIVED, 0, 0, "0", "9"},   {QP_CLAMP, -5, 5, "0", "5"}, {QP_CLAMP, 3, 99, "3", "9"},
        {QP_CLAMP, 50, 99, "50", "50"}, {QP_CHECK, -5, 5, "0", "5"}, {QP_CHECK, 9, 99, "9", "9"},
    };
    char lo[80], hi[80];
    qp_failure failure;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        loaded l = relu_to(rows[i].policy, rows[i].lo, rows[i].hi);
        assert_int_equal(l.status, QP_OK);
        qp_certificate_tensor(l.certificate, 0, 1, lo, hi);
        assert_string_equal(lo, rows[i].expect_lo);
        assert_string_equal(hi, rows[i].expect_hi);
        bool check = rows[i].policy == QP_CHECK;
        assert_int_equal(qp_certificate_meets(l.certificate, QP_ACC32, &failure), !check);
        if (check)
            assert_string_equal(failure.key, "policy.check");
        assert_true(qp_certificate_meets(l.certificate, QP_ACC64, NULL));
        assert_int_equal(qp_certificate_npu(l.certificate), !check);
        release(&l);
    }
    /* no value of relu is below 0 */
    loaded l = relu_to(QP_CHECK, -9, -1);
    assert_int_equal(l.status, QP_MODEL_MISMATCH);
    assert_null(l.certificate);
    assert_int_equal(l.error.table, QP_TABLE_OPERATORS);
    assert_int_equal(l.error.operator_index, 0);
    release(&l);
}

/* x² four times over: 2^126, 2^252, then past 2^255. */
static void test_saturation(void **state)
{
    static const char limit[] =
        "57896044618658097711785492504343953926634992332820282019728792003956564819968";
    qp_graph_writer w;
    qp_failure failure;
    char lo[80], hi[80];
    (void)state;
    qp_graph_writer_init(&w, NULL);
    tensor(&w, QP_CLAMP, INT64_MIN, INT64_MAX);
    qp_writer_input(&w, &(qp_graph_input_record){0});
    qp_writer_output(&w, 4);
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t in[2] = {k, k}, out = k + 1;
        tensor(&w, QP_DERIVED, 0, 0);
        qp_buffer *params = qp_writer_begin_operator(&w, MUL, in, 2, &out, 1);
        qp_buffer_append(params, "\0\0\0\1\0\0\0\0\0", 9);
        qp_writer_end_operator(&w);
    }
    loaded l = finish(&w);
    assert_int_equal(l.status, QP_OK);
    const qp_certified_node *nodes = l.certificate->graphs[0].nodes;
    assert_false(nodes[0].saturated || nodes[1].saturated);
    assert_true(nodes[2].saturated && nodes[3].saturated);
    assert_int_equal(qp_certificate_tensor(l.certificate, 0, 2, lo, hi), 254);
    assert_int_equal(qp_certificate_tensor(l.certificate, 0, 4, lo, hi), 257);
    assert_string_equal(hi, limit);
    assert_int_equal(lo[0], '-');
    assert_string_equal(lo + 1, limit);
    assert_false(qp_certificate_meets(l.certificate, QP_ACC64, &failure));
    assert_int_equal(failure.index, 0);
    release(&l);
}

/* ---- admissible ranges (section 8.4) ------------------------------------------------------ */

static void assert_admissible(const test_operator *op, qp_profile profile, int64_t lo, int64_t hi)
{
    test_run run = test_load(op);
    int64_t found_lo = 1, found_hi = 1;
    int has = qp_certificate_admissible(run.certificate, 0, 0, profile, &found_lo, &found_hi);
    assert_int_equal(has, lo <= hi);
    if (has) {
        assert_int_equal(found_lo, lo);
        assert_int_equal(found_hi, hi);
    }
    /* nothing reads the output */
    assert_true(qp_certificate_admissible(run.certificate, 0, 1, profile, &found_lo, &found_hi));
    assert_int_equal(found_lo, INT64_MIN);
    assert_int_equal(found_hi, INT64_MAX);
    test_run_free(&run);
}

static void test_admissible_ranges(void **state)
{
    static const int64_t weights[] = {3, -5}, fill[] = {0, 7}, table[65536] = {0};
    (void)state;
    test_operator op = simple(RELU, 0, 1);
    assert_admissible(&op, QP_ACC32, -INT32_MAX, INT32_MAX);
    assert_admissible(&op, QP_ACC64, -INT64_MAX, INT64_MAX);
    test_operator_free(&op);

    /* conv.acc = [-8X, 10 + 8X]: 10 + 8X <= 2^31 - 1 */
    op = conv_of(0, 1, weights, 2, 10);
    assert_admissible(&op, QP_ACC32, -268435454, 268435454);
    assert_admissible(&op, QP_ACC64, -INT64_C(1152921504606846974), INT64_C(1152921504606846974));
    test_operator_free(&op);

    op = simple(FILL, 0, 1); /* reads a shape only */
    qp_writer_integers(&op.params, fill, 2, 8);
    assert_admissible(&op, QP_ACC32, INT64_MIN, INT64_MAX);
    test_operator_free(&op);

    op = simple(LUT16, 0, 1);
    qp_writer_integers(&op.params, (const int64_t[]){-128, -128, 0, 0}, 4, 1);
    qp_writer_integers(&op.params, table, 65536, 2);
    assert_admissible(&op, QP_ACC64, -32767, 32767);
    test_operator_free(&op);

    op = simple(SOFTMAX, 0, 1);
    assert_admissible(&op, QP_ACC32, 1, 0);
    /* sm.diff is [-2X, 0]: 2X <= 2^63 by that, and 2X <= 2^63 - 1 by exp.negx */
    assert_admissible(&op, QP_ACC64, -(INT64_MAX / 2), INT64_MAX / 2);
    test_operator_free(&op);
}

/* ---- sets (sections 8.6 and 11) ----------------------------------------------------------- */

static void test_role_profiles(void **state)
{
    test_operator narrow = simple(RELU, 0, 1), wide = simple(RELU, 0, INT64_MAX);
    test_run a = test_load(&narrow), b = test_load(&wide);
    const qp_role roles[] = {{"a\"\\", a.graph}, {"b", b.graph}};
    const qp_role_profile met[] = {{"a\"\\", QP_ACC32}, {"b", QP_ACC64}};
    const qp_role_profile not_met[] = {{"a\"\\", QP_ACC32}, {"b", QP_ACC32}};
    const qp_role_profile missing[] = {{"c", QP_ACC64}};
    const qp_set_info set = {"cap", "int_synth/1", NULL};
    qp_certificate *c;
    qp_failure failure;
    qp_error error;
    (void)state;

    assert_int_equal(qp_certify_set(roles, 2, &set, NULL, &c, NULL), QP_OK);
    assert_int_equal(qp_certificate_require(c, QP_ACC64, met, 2, NULL), QP_OK);
    assert_int_equal(qp_certificate_require(c, QP_ACC64, not_met, 2, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.table, QP_TABLE_INPUTS);
    assert_int_equal(error.record, 0);
    assert_int_equal(qp_certificate_require(c, QP_ACC32, NULL, 0, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_certificate_require(c, QP_ACC64, missing, 1, NULL), QP_MODEL_MISMATCH);
    assert_false(qp_certificate_meets(c, QP_ACC32, &failure));
    assert_string_equal(failure.role, "b");
    char *text = json_of(c);
    assert_non_null(strstr(text, "\"name\":\"a\\\"\\\\\""));
    assert_non_null(strstr(text, "\"lowering\":\"int_synth/1\""));
    assert_non_null(strstr(text, "\"npu_reasons\":[\"acc32\"]"));
    free(text);
    qp_certificate_free(c);

    const qp_role unprintable = {"a\x7F", a.graph};
    assert_int_equal(qp_certify_set(&unprintable, 1, &set, NULL, &c, NULL), QP_MODEL_MISMATCH);
    assert_null(c);
    assert_int_equal(qp_certify_set(NULL, 0, &set, NULL, &c, NULL), QP_INVALID_ARGUMENT);
    qp_certificate_free(NULL);
    test_run_free(&a);
    test_run_free(&b);
    test_operator_free(&narrow);
    test_operator_free(&wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_by_hand),      cmocka_unit_test(test_names_ascend),
        cmocka_unit_test(test_chunk_lengths),     cmocka_unit_test(test_first_failures),
        cmocka_unit_test(test_policies),          cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_admissible_ranges), cmocka_unit_test(test_role_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
