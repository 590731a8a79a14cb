/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_linear.c - the graph of a stored matrix against sums of the decoded weights, which are
 * formed apart from it: each weight times 2^24 is an integer below 2^48, and a sum is kept in two
 * halves that cannot overflow.
 */
#include "import/linear.h"

#include "../failing_allocator.h"
#include "quipu/quipu.h"
#include "support/test.h"

#define ARTIFACT QP_TEST_DATA "/ninfer/a-single.ninfer"

enum { POSITIONS = 3 };

/* ---- scales ------------------------------------------------------------------------------- */

static void test_scales(void **state)
{
    (void)state;
    assert_int_equal(qp_linear_scale(0x0000), 0);
    assert_int_equal(qp_linear_scale(0x0001), 1); /* 2^-24 */
    assert_int_equal(qp_linear_scale(0x8001), -1);
    assert_int_equal(qp_linear_scale(0x03FF), 1023);
    assert_int_equal(qp_linear_scale(0x0400), 1024); /* 2^-14 */
    assert_int_equal(qp_linear_scale(0x3C00), 1 << 24);
    assert_int_equal(qp_linear_scale(0xBE00), -3 * (1 << 23)); /* -1.5 */
    assert_int_equal(qp_linear_scale(0x7BFF), 65504 * ((int64_t)1 << 24));
    assert_true(qp_linear_scale(0x7BFF) < (int64_t)1 << 40);
}

/* ---- a product ---------------------------------------------------------------------------- */

typedef struct product {
    const qp_matrix *matrix;
    const float *weights; /* decoded, row by row */
    int64_t *vectors;     /* [K][POSITIONS] */
    int64_t lo, hi;
} product;

/* The exact sum. At most 257 products of a weight below 2^23 and a vector of 7 bits keep `high`
 * below 2^39, and so the result within 64 bits. */
static int64_t expected(const product *p, size_t row, size_t position)
{
    int64_t low = 0, high = 0; /* high * 2^24 + low */
    size_t columns = (size_t)p->matrix->columns;
    for (size_t k = 0; k < columns; k++) {
        int64_t w = (int64_t)((double)p->weights[row * columns + k] * 16777216.0);
        int64_t x = p->vectors[k * POSITIONS + position];
        low += w % (1 << 24) * x;
        high += w / (1 << 24) * x;
    }
    assert_true(high < (int64_t)3 << 37 && high > -((int64_t)3 << 37));
    return high * (1 << 24) + low;
}

/* The ends of the range, and what lies between. */
static void fill_vectors(product *p, uint64_t *seed)
{
    size_t count = (size_t)p->matrix->columns * POSITIONS;
    for (size_t i = 0; i < count; i++) {
        uint32_t which = test_below(seed, 4);
        p->vectors[i] = which == 0 ? p->lo : which == 1 ? p->hi : test_between(seed, p->lo, p->hi);
    }
}

static void compare(const product *p, const qp_session *session)
{
    qp_array output;
    int64_t value;
    assert_int_equal(qp_session_output(session, 0, &output), QP_OK);
    assert_int_equal(output.channels, p->matrix->rows);
    for (size_t row = 0; row < (size_t)p->matrix->rows; row++)
        for (size_t x = 0; x < POSITIONS; x++) {
            qp_array_read(&output, row * POSITIONS + x, 1, &value);
            assert_true(value == expected(p, row, x));
        }
}

static void run_product(product *p, const void *bytes, size_t size)
{
    qp_graph *graph;
    qp_certificate *certificate;
    qp_session *session;
    qp_session_options options = {.profile = QP_ACC64};
    size_t count = (size_t)p->matrix->columns * POSITIONS;

    p->vectors = qp_allocate(NULL, count, sizeof *p->vectors);
    assert_non_null(p->vectors);
    assert_int_equal(qp_graph_load(bytes, size, NULL, &graph, NULL), QP_OK);
    assert_int_equal(qp_certify(graph, NULL, &certificate, NULL), QP_OK);
    assert_int_equal(qp_session_create(certificate, &options, NULL, &session, NULL), QP_OK);
    uint64_t seed = size;
    for (int run = 0; run < 3; run++) {
        fill_vectors(p, &seed);
        qp_array in = {p->vectors, QP_INT64, (uint32_t)p->matrix->columns, 1, POSITIONS};
        assert_int_equal(qp_session_decode(session, &in, 1, NULL, 0, NULL), QP_OK);
        compare(p, session);
    }
    qp_session_free(session);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    qp_release(NULL, p->vectors, count, sizeof *p->vectors);
}

/* ---- words by hand ------------------------------------------------------------------------ */

static void fill_words(const qp_matrix *m, const qp_word_planes *words, uint64_t seed)
{
    static const uint16_t scales[] = {0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x3C00,
                                      0xBC00, 0x7BFF, 0xFBFF, 0x211F, 0xA321, 0x1234};
    const qp_format *f = m->format;
    uint32_t span = (uint32_t)(f->code_max - f->code_min + 1);
    for (size_t i = 0; i < (size_t)(m->rows * m->code_row_bytes); i++)
        words->codes[i] = (uint8_t)(f->code_min + (int32_t)test_below(&seed, span));
    for (size_t i = 0; i < (size_t)(m->rows * m->scale_row_bytes); i += 2) {
        uint16_t scale = scales[test_below(&seed, TEST_COUNT(scales))];
        words->scales[i] = (uint8_t)(scale & 0xFF);
        words->scales[i + 1] = (uint8_t)(scale >> 8);
    }
}

static void check_words(const char *format, uint64_t rows, uint64_t columns, uint64_t seed)
{
    const uint64_t shape[] = {rows, columns};
    const qp_linear_options options = {.lo = -128, .hi = 127};
    qp_matrix m;
    qp_buffer graph;
    assert_int_equal(qp_matrix_plan(qp_format_find(format), NULL, shape, 2, 1, &m, NULL), QP_OK);
    size_t codes = (size_t)(rows * m.code_row_bytes), scales = (size_t)(rows * m.scale_row_bytes);
    size_t count = (size_t)(rows * columns);
    qp_word_planes words = {qp_allocate(NULL, codes, 1), qp_allocate(NULL, scales, 1), NULL};
    float *weights = qp_allocate(NULL, count, sizeof *weights);
    product p = {.matrix = &m, .weights = weights, .lo = options.lo, .hi = options.hi};

    fill_words(&m, &words, seed);
    assert_int_equal(qp_words_check(&m, 0, rows, &words, NULL), QP_OK);
    qp_words_decode(&m, 0, rows, &words, weights);
    qp_buffer_init(&graph, NULL);
    assert_int_equal(qp_linear_graph(&m, &words, &options, &graph, NULL), QP_OK);
    run_product(&p, graph.bytes, graph.size);
    qp_buffer_free(&graph);
    qp_release(NULL, weights, count, sizeof *weights);
    qp_release(NULL, words.scales, scales, 1);
    qp_release(NULL, words.codes, codes, 1);
}

/* Whole groups, tails of one and of many columns, one group alone, a single weight. */
static void test_every_format(void **state)
{
    static const uint64_t columns[] = {1, 31, 32, 33, 64, 65, 127, 128, 129, 200, 257};
    (void)state;
    for (size_t f = 0; f < qp_format_count(); f++) {
        const qp_format *format = qp_format_at(f);
        if (format->family != QP_FAMILY_GROUPED)
            continue;
        for (size_t i = 0; i < TEST_COUNT(columns); i++)
            check_words(format->name, 1 + i % 4, columns[i], 100 * f + i);
    }
}

/* ---- from an artifact --------------------------------------------------------------------- */

static float *decode(qp_artifact *artifact, const qp_artifact_tensor *tensor, qp_matrix *m)
{
    assert_int_equal(qp_artifact_matrix(artifact, tensor, m, NULL), QP_OK);
    uint8_t *bytes = qp_allocate(NULL, (size_t)m->bytes, 1);
    float *weights = qp_allocate(NULL, (size_t)(m->rows * m->columns), sizeof *weights);
    assert_true(bytes != NULL && weights != NULL);
    assert_int_equal(qp_artifact_read(artifact, tensor, 0, m->bytes, bytes, NULL), QP_OK);
    qp_rows rows = qp_rows_in(m, bytes, 0, m->rows);
    qp_rows_decode(m, &rows, 0, weights);
    qp_release(NULL, bytes, (size_t)m->bytes, 1);
    return weights;
}

static void check_tensor(qp_artifact *artifact, const qp_artifact_tensor *tensor)
{
    const qp_linear_options options = {.lo = -1000, .hi = 1000};
    qp_matrix m;
    void *graph;
    size_t size;
    float *weights = decode(artifact, tensor, &m);
    product p = {.matrix = &m, .weights = weights, .lo = options.lo, .hi = options.hi};
    assert_int_equal(qp_import_linear(artifact, tensor, &options, NULL, &graph, &size, NULL),
                     QP_OK);
    run_product(&p, graph, size);
    qp_bytes_free(NULL, graph, size);
    qp_release(NULL, weights, (size_t)(m.rows * m.columns), sizeof *weights);
}

static void test_artifact(void **state)
{
    const qp_linear_options options = {.lo = -128, .hi = 127};
    qp_artifact *artifact;
    qp_error error;
    size_t count, grouped = 0, size;
    void *graph;
    (void)state;
    assert_int_equal(qp_artifact_open(ARTIFACT, NULL, &artifact, NULL), QP_OK);
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].format->family == QP_FAMILY_GROUPED) {
            check_tensor(artifact, &tensors[i]);
            grouped++;
            continue;
        }
        assert_int_equal(
            qp_import_linear(artifact, &tensors[i], &options, NULL, &graph, &size, &error),
            QP_INVALID_ARGUMENT);
        assert_null(graph);
    }
    assert_int_equal(grouped, 6);
    qp_artifact_close(artifact);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    const qp_linear_options wide = {.lo = INT64_MIN, .hi = INT64_MAX}, empty = {.lo = 1},
                            behind = {.lo = 0, .hi = 1, .first_row = 1, .rows = UINT64_MAX},
                            unsaid = {.lo = 0, .hi = 1, .first_row = 1};
    qp_artifact *artifact;
    qp_error error;
    size_t size;
    void *graph;
    (void)state;
    assert_int_equal(qp_artifact_open(ARTIFACT, NULL, &artifact, NULL), QP_OK);
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, "w/q4-absmax-tail1");
    assert_non_null(tensor);
    assert_int_equal(qp_import_linear(artifact, tensor, &empty, NULL, &graph, &size, &error),
                     QP_INVALID_ARGUMENT);
    /* operands of 64 bits: the first convolution passes the profile */
    assert_int_equal(qp_import_linear(artifact, tensor, &behind, NULL, &graph, &size, &error),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(qp_import_linear(artifact, tensor, &unsaid, NULL, &graph, &size, &error),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(qp_import_linear(artifact, tensor, &wide, NULL, &graph, &size, &error),
                     QP_MODEL_MISMATCH);
    assert_non_null(strstr(error.message, "node 1, conv"));
    assert_null(graph);
    qp_artifact_close(artifact);
}

/* Every allocation fails once: a status, and nothing is left. */
static void test_memory(void **state)
{
    const qp_linear_options options = {.lo = -128, .hi = 127};
    qp_artifact *artifact;
    void *graph;
    size_t size;
    (void)state;
    assert_int_equal(qp_artifact_open(ARTIFACT, NULL, &artifact, NULL), QP_OK);
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, "w/q8-absmax-tail0");
    assert_non_null(tensor);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_status status =
            qp_import_linear(artifact, tensor, &options, &allocator, &graph, &size, NULL);
        qp_bytes_free(&allocator, graph, size);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
    qp_artifact_close(artifact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales),   cmocka_unit_test(test_every_format),
        cmocka_unit_test(test_artifact), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
