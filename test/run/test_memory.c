/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory.c - every allocation fails once: each call then says QP_NO_MEMORY, leaks nothing, and
 * succeeds when it is made again. And what a session's arena reuses does not show in its outputs.
 */
#include "run/session.h"
#include "support/inputs.h"
#include "support/random_graph.h"
#include "support/test.h"

#include "failing_allocator.h"

#include <string.h>

enum { GRAPHS = 150, SIDE = 4, ARENA_GRAPHS = 1500 };

/* ---- one call after the other, each with its k-th request failing ------------------------- */

typedef struct chain {
    failing_allocator memory;
    qp_allocator allocator;
    qp_buffer bytes;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_session *session;
    test_inputs first, second; /* a small decode, then a larger one */
    qp_status small;           /* what the first gave */
} chain;

typedef qp_status call(chain *c);

static qp_status call_load(chain *c)
{
    return qp_graph_load(c->bytes.bytes, c->bytes.size, &c->allocator, &c->graph, NULL);
}

static qp_status call_certify(chain *c)
{
    return qp_certify(c->graph, &c->allocator, &c->certificate, NULL);
}

static qp_status call_json(chain *c)
{
    char *text;
    size_t size;
    qp_status status = qp_certificate_json(c->certificate, &c->allocator, &text, &size, NULL);
    assert_true((status == QP_OK) == (text != NULL));
    qp_bytes_free(&c->allocator, text, size);
    return status;
}

static qp_status call_create(chain *c)
{
    return qp_session_create(c->certificate, &(qp_session_options){.profile = QP_ACC64},
                             &c->allocator, &c->session, NULL);
}

static qp_status decode(chain *c, const test_inputs *inputs)
{
    return qp_session_decode(c->session, inputs->arrays, inputs->n_arrays, inputs->scalars,
                             inputs->n_scalars, NULL);
}

static qp_status call_decode_small(chain *c)
{
    return decode(c, &c->first);
}

/* The larger decode; where it had no memory, the small one still runs. */
static qp_status call_decode_large(chain *c)
{
    qp_session_reset(c->session);
    qp_status status = decode(c, &c->second);
    if (status == QP_NO_MEMORY) {
        c->memory.fail_at = 0;
        qp_session_reset(c->session);
        assert_int_equal(decode(c, &c->first), c->small);
    }
    return status;
}

/* The call with each of its requests failing in turn, then once without: that one's status. */
static qp_status fail_each(chain *c, call *function)
{
    for (size_t k = 1;; k++) {
        size_t blocks = c->memory.blocks;
        c->memory.requests = 0;
        c->memory.fail_at = k;
        c->memory.has_failed = false;
        qp_status status = function(c);
        c->memory.fail_at = 0;
        assert_false(c->memory.has_fault);
        if (!c->memory.has_failed)
            return status;
        assert_int_equal(status, QP_NO_MEMORY);
        assert_true(c->memory.blocks <= blocks + 3); /* a session keeps what it grew */
    }
}

static void run_chain(chain *c, size_t counts[3])
{
    if (fail_each(c, call_load) != QP_OK || fail_each(c, call_certify) != QP_OK)
        return;
    assert_int_equal(fail_each(c, call_json), QP_OK);
    if (fail_each(c, call_create) != QP_OK)
        return;
    counts[0]++;
    uint64_t seed = 9;
    if (!test_inputs_make(c->graph, TEST_INSIDE, (test_sizes){2, true}, &seed, &c->first) ||
        !test_inputs_make(c->graph, TEST_INSIDE, (test_sizes){SIDE, false}, &seed, &c->second))
        return;
    c->small = fail_each(c, call_decode_small);
    counts[1] += c->small == QP_OK;
    counts[2] += fail_each(c, call_decode_large) == QP_OK;
}

static void test_every_allocation_fails_once(void **state)
{
    size_t counts[3] = {0};
    (void)state;
    for (uint64_t g = 0; g < GRAPHS; g++) {
        chain c = {.memory = failing_allocator_make(0)};
        c.allocator = failing_allocator_use(&c.memory);
        qp_buffer_init(&c.bytes, NULL);
        test_random_graph_of(qp_operators[g % QP_OPERATOR_COUNT], g, &c.bytes);
        run_chain(&c, counts);
        test_inputs_free(&c.first);
        test_inputs_free(&c.second);
        qp_session_free(c.session);
        qp_certificate_free(c.certificate);
        qp_graph_free(c.graph);
        qp_buffer_free(&c.bytes);
        assert_int_equal(c.memory.blocks, 0);
        assert_int_equal(c.memory.bytes, 0);
    }
    print_message("%zu sessions, %zu and %zu decodes\n", counts[0], counts[1], counts[2]);
    assert_true(counts[0] > GRAPHS / 4 && counts[1] > 0 && counts[2] > 0);
}

/* ---- reused memory ------------------------------------------------------------------------ */

static void assert_same_outputs(const qp_graph *graph, const qp_session *a, const qp_session *b)
{
    for (uint32_t o = 0; o < graph->n_outputs; o++) {
        qp_array x, y, kept;
        assert_int_equal(qp_session_output(a, o, &x), QP_OK);
        assert_int_equal(qp_session_output(b, o, &y), QP_OK);
        assert_int_equal(x.type, y.type);
        size_t bytes = (size_t)qp_array_elements(&x) * qp_type_size(x.type);
        assert_int_equal(qp_array_elements(&x), qp_array_elements(&y));
        assert_memory_equal(x.data, y.data, bytes);
        assert_int_equal(qp_session_tensor(b, graph->outputs[o], &kept), QP_OK);
        assert_ptr_equal(kept.data, y.data);
    }
}

static bool compare_sessions(const qp_certificate *certificate, uint64_t *seed)
{
    const qp_graph *graph = certificate->graphs[0].graph;
    qp_session *reusing, *keeping;
    qp_session_options options = {.profile = QP_ACC64};
    size_t decodes = 0;

    if (qp_session_create(certificate, &options, NULL, &reusing, NULL) != QP_OK)
        return false;
    options.keep_tensors = 1;
    options.reference = 1;
    assert_int_equal(qp_session_create(certificate, &options, NULL, &keeping, NULL), QP_OK);
    for (test_pattern pattern = 0; pattern < TEST_PATTERNS; pattern++) {
        test_inputs in;
        test_sizes sizes = {1u << pattern % 4, pattern % 2 == 1};
        if (!test_inputs_make(graph, pattern, sizes, seed, &in))
            continue;
        qp_error a, b;
        if (reusing->planned) /* nothing that a decode left may be read by the next */
            memset(qp_session_base(reusing), 0xA5, reusing->memory_used);
        qp_status first =
            qp_session_decode(reusing, in.arrays, in.n_arrays, in.scalars, in.n_scalars, &a);
        qp_status second =
            qp_session_decode(keeping, in.arrays, in.n_arrays, in.scalars, in.n_scalars, &b);
        assert_int_equal(first, second);
        if (first == QP_OK)
            assert_same_outputs(graph, reusing, keeping);
        else
            assert_string_equal(a.message, b.message);
        decodes += first == QP_OK;
        test_inputs_free(&in);
    }
    qp_session_free(reusing);
    qp_session_free(keeping);
    return decodes > 0;
}

static void test_reused_memory_does_not_show(void **state)
{
    uint64_t seed = 4;
    size_t compared = 0;
    (void)state;
    for (uint64_t g = 0; g < ARENA_GRAPHS; g++) {
        qp_buffer bytes;
        qp_graph *graph;
        qp_certificate *certificate = NULL;
        qp_buffer_init(&bytes, NULL);
        test_random_graph(1000 + g, &bytes);
        if (qp_graph_load(bytes.bytes, bytes.size, NULL, &graph, NULL) == QP_OK &&
            qp_certify(graph, NULL, &certificate, NULL) == QP_OK)
            compared += compare_sessions(certificate, &seed);
        qp_certificate_free(certificate);
        qp_graph_free(graph);
        qp_buffer_free(&bytes);
    }
    print_message("%zu graphs compared\n", compared);
    assert_true(compared > ARENA_GRAPHS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_reused_memory_does_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
