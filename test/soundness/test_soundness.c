/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_soundness.c - on a library built with QP_INSTRUMENTED, every intermediate that an evaluation
 * forms lies in its certified interval, and every tensor's elements in the tensor's (integer-
 * operators.md section 8).
 */
#include "run/session.h"
#include "support/inputs.h"
#include "support/one_operator.h"
#include "support/random_graph.h"

enum { GRAPHS = 6000, CONV = 0x01 };

typedef struct watcher {
    qp_observer observer;
    const qp_graph_bounds *bounds;
    uint32_t node;
    uint64_t observed;
    uint64_t of_key[QP_INTERMEDIATE_COUNT];
    bool touched_lo[QP_INTERMEDIATE_COUNT], touched_hi[QP_INTERMEDIATE_COUNT];
} watcher;

static void on_node(qp_observer *observer, uint32_t index)
{
    ((watcher *)observer)->node = index;
}

static void on_value(qp_observer *observer, qp_intermediate key, qp_i128 value)
{
    watcher *w = (watcher *)observer;
    const qp_certified_node *node = &w->bounds->nodes[w->node];
    qp_bound v = qp_bound_from_i128(value);

    w->observed++;
    w->of_key[key]++;
    for (uint32_t i = 0; i < node->n_recorded; i++) {
        const qp_interval *interval = &node->recorded[i].interval;
        if (node->recorded[i].key != key)
            continue;
        if (!qp_interval_contains_i128(interval, value)) {
            char text[QP_BOUND_TEXT_SIZE];
            fail_msg("%s formed %s outside its interval", qp_intermediate_name(key),
                     qp_bound_text(&v, text));
        }
        w->touched_lo[key] |= qp_bound_compare(&v, &interval->lo) == 0;
        w->touched_hi[key] |= qp_bound_compare(&v, &interval->hi) == 0;
        return;
    }
    fail_msg("%s was formed and is not recorded", qp_intermediate_name(key));
}

static watcher watch(const qp_certificate *certificate)
{
    return (watcher){.observer = {on_node, on_value}, .bounds = &certificate->graphs[0]};
}

/* Every element of every tensor; returns how many. */
static uint64_t hold_tensors(const qp_session *session, const qp_graph_bounds *bounds)
{
    uint64_t held = 0;
    for (uint32_t t = 0; t < bounds->graph->n_tensors; t++) {
        qp_array array;
        assert_int_equal(qp_session_tensor(session, t, &array), QP_OK);
        size_t total = (size_t)qp_array_elements(&array);
        for (size_t k = 0; k < total; k++, held++) {
            int64_t value;
            qp_array_read(&array, k, 1, &value);
            if (!qp_interval_contains_i128(&bounds->tensors[t], qp_i128_from_i64(value)))
                fail_msg("tensor %u holds %lld outside its interval", t, (long long)value);
        }
    }
    return held;
}

typedef struct totals {
    uint64_t graphs, decodes, refused, elements, observed;
    uint64_t of_key[QP_INTERMEDIATE_COUNT];
} totals;

static void decode_patterns(const qp_certificate *certificate, uint64_t *seed, totals *sum)
{
    static const uint32_t sides[] = {4, 1, 2, 6, 8, 3};
    watcher w = watch(certificate);
    qp_session *session;

    if (qp_session_create(certificate,
                          &(qp_session_options){.profile = QP_ACC64, .keep_tensors = 1}, NULL,
                          &session, NULL) != QP_OK)
        return;
    sum->graphs++;
    qp_session_observe(session, &w.observer);
    for (test_pattern pattern = 0; pattern < TEST_PATTERNS; pattern++) {
        test_inputs inputs;
        test_sizes sizes = {sides[pattern], pattern >= TEST_INSIDE};
        if (!test_inputs_make(w.bounds->graph, pattern, sizes, seed, &inputs))
            continue;
        if (qp_session_decode(session, inputs.arrays, inputs.n_arrays, inputs.scalars,
                              inputs.n_scalars, NULL) == QP_OK) {
            sum->decodes++;
            sum->elements += hold_tensors(session, w.bounds);
        } else {
            sum->refused++;
        }
        test_inputs_free(&inputs);
    }
    sum->observed += w.observed;
    for (unsigned key = 0; key < QP_INTERMEDIATE_COUNT; key++)
        sum->of_key[key] += w.of_key[key];
    qp_session_free(session);
}

static void hold_graph(const qp_buffer *bytes, uint64_t *seed, totals *sum)
{
    qp_graph *graph;
    qp_certificate *certificate;
    if (qp_graph_load(bytes->bytes, bytes->size, NULL, &graph, NULL) != QP_OK)
        return;
    if (qp_certify(graph, NULL, &certificate, NULL) == QP_OK)
        decode_patterns(certificate, seed, sum);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
}

static void test_random_graphs(void **state)
{
    totals sum = {0};
    uint64_t seed = 1;
    (void)state;
    for (uint64_t g = 0; g < GRAPHS; g++) {
        qp_buffer bytes;
        qp_buffer_init(&bytes, NULL);
        test_random_graph_of(qp_operators[g % QP_OPERATOR_COUNT], g, &bytes);
        hold_graph(&bytes, &seed, &sum);
        qp_buffer_free(&bytes);
    }
    print_message("%llu graphs met acc64, %llu decodes (%llu refused), %llu values observed, %llu "
                  "elements held\n",
                  (unsigned long long)sum.graphs, (unsigned long long)sum.decodes,
                  (unsigned long long)sum.refused, (unsigned long long)sum.observed,
                  (unsigned long long)sum.elements);
    assert_true(sum.graphs > GRAPHS / 10);
    assert_true(sum.decodes > GRAPHS / 10);
    for (unsigned key = 0; key < QP_INTERMEDIATE_COUNT; key++)
        if (sum.of_key[key] == 0)
            fail_msg("%s was never observed", qp_intermediate_name((qp_intermediate)key));
}

/*
 * The ends of conv.acc are attained: where a weight is positive the input is at its hi, where it is
 * negative at its lo, and a bias before joins the end of its own sign.
 */
static void test_partial_sum_ends_are_attained(void **state)
{
    enum { TAPS = 12 };
    static const int64_t weights[TAPS] = {3, -7, 127, -128, 1, -1, 50, -50, 2, -9, 100, -100};
    int64_t values[TAPS], shift = 0, bias = 1000;
    qp_array array = {values, QP_INT64, 3, 2, 2};
    (void)state;

    test_operator op = test_operator_make(CONV);
    test_operator_input(&op, (qp_shape){3, 2, 2}, -128, 127, values);
    test_operator_output(&op, 1);
    TEST_U32(&op, 1, 2, 2, 1, 1, 0, 0, 1, 1);
    qp_writer_rq(&op.params, &(qp_rq_values){.bias_place = QP_BIAS_PRE,
                                             .shift_kind = QP_KIND_ONE,
                                             .bias_width = 4,
                                             .shift = &shift,
                                             .bias = &bias,
                                             .channels = 1});
    qp_writer_integers(&op.params, weights, TAPS, 1);
    test_run run = test_load(&op);
    watcher w = watch(run.certificate);
    qp_session *session;
    assert_int_equal(qp_session_create(run.certificate, &(qp_session_options){.profile = QP_ACC32},
                                       NULL, &session, NULL),
                     QP_OK);
    qp_session_observe(session, &w.observer);
    for (int end = 0; end < 2; end++) {
        for (size_t k = 0; k < TAPS; k++)
            values[k] = (weights[k] > 0) == (end == 1) ? 127 : -128;
        assert_int_equal(qp_session_decode(session, &array, 1, NULL, 0, NULL), QP_OK);
    }
    assert_true(w.touched_lo[QP_CONV_ACC]);
    /* the bias is added after the last tap: rq.t attains the end that counts it */
    assert_true(w.touched_hi[QP_RQ_T]);
    assert_true(w.touched_lo[QP_CONV_TERM] && w.touched_hi[QP_CONV_TERM]);
    qp_session_free(session);
    test_run_free(&run);
    test_operator_free(&op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_partial_sum_ends_are_attained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
