/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_vectors.c - the reference vectors against values computed by hand from the text, and the
 * promises of the generator: unique ids, the same bytes each time, memory that may fail.
 */
#include "base/json.h"
#include "conform/corpus.h"
#include "conform/vectors.h"

#include "../failing_allocator.h"
#include "support/test.h"

#include <string.h>

/* ---- finding a vector --------------------------------------------------------------------- */

typedef struct file {
    qp_buffer lines;
    qp_json json;
} file;

static file open_file(const char *path)
{
    file f;
    qp_error error = {0};
    qp_buffer_init(&f.lines, NULL);
    qp_json_init(&f.json, NULL);
    if (qp_vectors_file(path, &f.lines, NULL, &error) != QP_OK)
        fail_msg("%s", error.message);
    return f;
}

static void close_file(file *f)
{
    qp_json_free(&f->json);
    qp_buffer_free(&f->lines);
}

/* The next line from *at on, without its end; false at the file's end. */
static bool next_line(const file *f, size_t *at, const char **text, size_t *size)
{
    const char *start = (const char *)f->lines.bytes + *at;
    if (*at >= f->lines.size)
        return false;
    const char *end = memchr(start, '\n', f->lines.size - *at);
    assert_non_null(end);
    *text = start;
    *size = (size_t)(end - start);
    *at += *size + 1;
    return true;
}

/* The vector of an id. */
static qp_json_value find(file *f, const char *id)
{
    size_t at = 0, size;
    const char *text;
    qp_json_value found;

    while (next_line(f, &at, &text, &size)) {
        assert_int_equal(qp_json_parse(&f->json, text, size, NULL), QP_OK);
        assert_true(qp_json_find(qp_json_root(&f->json), "id", &found));
        if (qp_json_equals(found, id))
            return qp_json_root(&f->json);
    }
    fail_msg("no vector has the id %s", id);
    return QP_JSON_NO_VALUE;
}

static qp_json_value element(qp_json_value array, unsigned index)
{
    qp_json_iterator iterator = qp_json_iterate(array);
    qp_json_value value = QP_JSON_NO_VALUE;
    for (unsigned i = 0; i <= index; i++)
        assert_true(qp_json_next(&iterator, &value));
    return value;
}

static qp_json_value member(qp_json_value object, const char *name)
{
    qp_json_value value;
    if (!qp_json_find(object, name, &value))
        fail_msg("no member %s", name);
    return value;
}

/* What decode `decode` gives as output `output`. */
static qp_json_value output_of(qp_json_value vector, unsigned decode, unsigned output)
{
    qp_json_value expect = member(element(member(vector, "decodes"), decode), "expect");
    return element(member(expect, "outputs"), output);
}

static void assert_data(qp_json_value tensor, const int64_t *values, size_t count)
{
    qp_json_iterator iterator = qp_json_iterate(member(tensor, "data"));
    qp_json_value value;

    for (size_t i = 0; i < count; i++) {
        int64_t found;
        assert_true(qp_json_next(&iterator, &value));
        assert_int_equal(qp_json_decimal_i64(value, &found, NULL), QP_OK);
        if (found != values[i])
            fail_msg("element %zu is %lld, not %lld", i, (long long)found, (long long)values[i]);
    }
    assert_false(qp_json_next(&iterator, &value));
}

/* ---- by hand ------------------------------------------------------------------------------ */

typedef struct hand {
    const char *id;
    unsigned decode, output;
    size_t count;
    const int64_t values[16];
} hand;

static void assert_by_hand(const char *path, const hand *rows, size_t count)
{
    file f = open_file(path);
    for (size_t i = 0; i < count; i++)
        assert_data(output_of(find(&f, rows[i].id), rows[i].decode, rows[i].output), rows[i].values,
                    rows[i].count);
    close_file(&f);
}

#define BY_HAND(path, rows) assert_by_hand(path, rows, sizeof(rows) / sizeof *(rows))

/* Ties on both signs: t/2, then t·2^32/2^64 for t about ±2^31 and ±3·2^31. */
static void test_roundings(void **state)
{
    static const hand rows[] = {
        {"halves from -3.5 to 3.5, floor",
         0,
         0,
         15,
         {-4, -3, -3, -2, -2, -1, -1, 0, 0, 1, 1, 2, 2, 3, 3}},
        {"halves from -3.5 to 3.5, half_up",
         0,
         0,
         15,
         {-3, -3, -2, -2, -1, -1, 0, 0, 1, 1, 2, 2, 3, 3, 4}},
        {"halves from -3.5 to 3.5, half_even",
         0,
         0,
         15,
         {-4, -3, -2, -2, -2, -1, 0, 0, 0, 1, 2, 2, 2, 3, 4}},
        {"floor, shift 64", 0, 0, 8, {-2, -1, -1, -1, 0, 0, 0, 1}},
        {"half_up, shift 64", 0, 0, 8, {-1, -1, 0, 0, 0, 1, 1, 2}},
        {"half_even, shift 64", 0, 0, 8, {-2, -1, 0, 0, 0, 0, 1, 2}},
        {"floor, shift 127, 2^126", 0, 0, 7, {0, 0, 0, 0, -1, -1, -1}},
        {"an affine map to RGB8, half_up", 0, 0, 10, {0, 0, 0, 0, 0, 1, 128, 255, 255, 255}},
    };
    (void)state;
    BY_HAND("vectors/rescale.jsonl", rows);
}

/* shared cases of other engines: see the ids. (2^31 - 1)² is 2^62 - 2^32 + 1. */
static void test_convolutions(void **state)
{
    static const hand conv[] = {
        {"a saturating pair, 255 and 255 by 127 and 127", 0, 0, 1, {64770}},
        {"two saturating pairs, 50 and 128 by -128 and -128", 0, 0, 1, {-45568}},
        {"halved weights, three channels of ones under a kernel of 1", 0, 0, 1, {75}},
        {"halved weights, three channels of ones under a kernel of 2", 0, 0, 1, {150}},
        {"the 33rd bit, 2^31 - 1 by 2^31 - 1", 0, 0, 2, {2147483646, -2147483646}},
        {"the 33rd bit, before the last halving", 0, 0, 2, {4294967292, -4294967293}},
        {"integers that floats lose, 16777216 + 1", 0, 0, 1, {16777217}},
    };
    static const hand transposed[] = {
        {"a residue without taps holds the bias alone", 0, 0, 6, {16, 6, 6, -14, 6, 6}}};
    (void)state;
    BY_HAND("vectors/conv.jsonl", conv);
    BY_HAND("vectors/conv_transpose.jsonl", transposed);
}

static void test_igdn(void **state)
{
    /* terms ⌊1/2⌋ are 0, so N = 3 and r = 1; at (3, 5) N = 3 + 4 + 12 and r = 4 */
    static const hand rows[] = {
        {"each term is floored, not the sum", 0, 0, 6, {1, -1, 12, 1, 1, 20}},
        {"roots at and around squares", 0, 0, 3, {-9216, 0, 9216}},
        {"a root one below a square", 0, 0, 3, {-9207, 0, 9207}},
        /* N = 50 - 2x²: -112, -22, 0, 18, 50, ...; r = 0, 0, 0, 4, 7 */
        {"a norm below 0 has the root 0", 0, 0, 9, {0, 0, 0, -16, 0, 16, 0, 0, 0}},
    };
    (void)state;
    BY_HAND("vectors/igdn.jsonl", rows);
}

static void test_layernorm(void **state)
{
    /* (-3, 2): S = -1, M = -2, m = -1, d = (-2, 3), U = 7, r = 2, k = 2^31
     * (7, -8): m = -1, d = (8, -7), U = 57, r = 7, k = 613566756 */
    static const hand rows[] = {{"even C, means of 0.5 and -0.5",
                                 0,
                                 0,
                                 8,
                                 {-65536, 65536, -65536, 74898, 0, 0, 98304, -65536}}};
    (void)state;
    BY_HAND("vectors/layernorm_c.jsonl", rows);
}

static void test_exponentials(void **state)
{
    /* elu of alpha 2^16 is exp_neg_q16(v) - 2^16 for v <= 0. At v = -22713
     * t = 65957, q = 66380, y = 23797 + 22544 = 46341; at -45426 y is 65553 again, and n is 1. */
    static const struct {
        const char *id;
        unsigned index;
        int64_t value;
    } elu[] = {
        {"elu(0) and its neighbours, alpha 65536", 0, 17},
        {"elu(0) and its neighbours, alpha 3855", 0, 0},
        {"elu(0) and its neighbours, alpha 3856", 0, 1},
        {"elu(0) and its neighbours, alpha -1", 0, -1},
        {"elu(0) and its neighbours, alpha 2147483647", 0, 557055},
        {"elu(0) and its neighbours, alpha -2147483648", 0, -557056},
        {"the steps of exp_neg_q16, n of 62 and 63", 0, 17},
        {"the steps of exp_neg_q16, n of 62 and 63", 3, 46341 - 65536},
        {"the steps of exp_neg_q16, n of 62 and 63", 5, 32776 - 65536},
        {"the steps of exp_neg_q16, n of 62 and 63", 12, -65536},
        {"the steps of exp_neg_q16, n of 62 and 63", 17, -65536},
    };
    file f = open_file("vectors/elu.jsonl");
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(elu); i++) {
        int64_t value;
        qp_json_value data = member(output_of(find(&f, elu[i].id), 0, 0), "data");
        assert_int_equal(qp_json_decimal_i64(element(data, elu[i].index), &value, NULL), QP_OK);
        assert_int_equal(value, elu[i].value);
    }
    close_file(&f);

    /* three of 65553: ⌊(65553·2^16 + 98329) / 196659⌋ = 21845, and three of them are 65535 */
    static const hand softmax[] = {
        {"rows that do not sum to 2^16", 0, 0, 3, {21845, 21845, 21845}},
        {"a row of one", 0, 0, 1, {65536}},
    };
    BY_HAND("vectors/softmax.jsonl", softmax);
}

static void test_leaky(void **state)
{
    static const hand rows[] = {{"negative values floor away from zero",
                                 0,
                                 0,
                                 11,
                                 {-1, -1, -1, -2, -3, -5, -6, -32, 0, 1, 100}}};
    (void)state;
    BY_HAND("vectors/leaky.jsonl", rows);
}

static void test_movement(void **state)
{
    static const hand shuffle[] = {
        {"channel 4c + 2i + j goes to row i, column j",
         0,
         0,
         16,
         {10, 11, 20, 21, 12, 13, 22, 23, 50, 51, 60, 61, 52, 53, 62, 63}}};
    static const hand split[] = {{"the order 00 11 01 10, by hand", 0, 0, 2, {1, 51}},
                                 {"the order 00 11 01 10, by hand", 0, 1, 2, {4, 54}},
                                 {"the order 00 11 01 10, by hand", 0, 2, 2, {2, 52}},
                                 {"the order 00 11 01 10, by hand", 0, 3, 2, {3, 53}}};
    static const hand gram[] = {{"two channels, by hand", 0, 0, 4, {17, 23, 39, 53}}};
    static const hand apply[] = {{"two channels, by hand", 0, 0, 4, {19, 22, 43, 50}}};
    (void)state;
    BY_HAND("vectors/pixel_shuffle.jsonl", shuffle);
    BY_HAND("vectors/subpos_split.jsonl", split);
    BY_HAND("vectors/gram.jsonl", gram);
    BY_HAND("vectors/apply.jsonl", apply);
}

static void test_state(void **state)
{
    static const char id[] = "three decodes from init, refused ones in between";
    static const hand rows[] = {
        {id, 0, 0, 3, {6, 7, 8}}, {id, 5, 0, 3, {7, 8, 17}}, {id, 7, 0, 3, {7, 7, 20}}};
    (void)state;
    BY_HAND("graphs/state.jsonl", rows);
}

/* Section 9.3: the two outputs of each graph are equal. */
static void test_phases(void **state)
{
    file f = open_file("graphs/phase.jsonl");
    size_t at = 0, size;
    const char *text;
    (void)state;

    while (next_line(&f, &at, &text, &size)) {
        assert_int_equal(qp_json_parse(&f.json, text, size, NULL), QP_OK);
        for (unsigned decode = 0; decode < 2; decode++) {
            int64_t values[2][512];
            size_t counts[2];
            for (unsigned o = 0; o < 2; o++) {
                qp_json_value data = member(output_of(qp_json_root(&f.json), decode, o), "data");
                qp_json_iterator iterator = qp_json_iterate(data);
                qp_json_value value;
                for (counts[o] = 0; qp_json_next(&iterator, &value); counts[o]++) {
                    assert_true(counts[o] < 512);
                    assert_int_equal(qp_json_decimal_i64(value, &values[o][counts[o]], NULL),
                                     QP_OK);
                }
            }
            assert_int_equal(counts[0], counts[1]);
            assert_memory_equal(values[0], values[1], counts[0] * sizeof values[0][0]);
        }
    }
    close_file(&f);
}

/* ---- the generator ------------------------------------------------------------------------ */

typedef struct totals {
    size_t files, vectors, loaded, npu, bytes;
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
} totals;

/* Ids are unique in a file: the members "id" of all lines, compared pair by pair. */
static void assert_unique_ids(const qp_buffer *bytes)
{
    enum { IDS_MAX = 400 };
    static char ids[IDS_MAX][100];
    file f = {.lines = *bytes};
    size_t at = 0, size, count = 0;
    const char *text;

    qp_json_init(&f.json, NULL);
    while (next_line(&f, &at, &text, &size)) {
        assert_true(count < IDS_MAX);
        assert_int_equal(qp_json_parse(&f.json, text, size, NULL), QP_OK);
        assert_int_equal(qp_json_copy_string(member(qp_json_root(&f.json), "id"), ids[count],
                                             sizeof ids[count], NULL),
                         QP_OK);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(ids[i], ids[count]);
        count++;
    }
    qp_json_free(&f.json);
}

static qp_status count_file(void *context, const char *path, const qp_buffer *bytes,
                            qp_error *error)
{
    totals *t = context;
    size_t lines = 0;
    (void)error;

    for (size_t i = 0; i < bytes->size; i++)
        lines += bytes->bytes[i] == '\n';
    t->bytes += bytes->size;
    qp_sha256_update(&t->hash, bytes->bytes, bytes->size);
    if (strstr(path, ".jsonl") == NULL)
        return QP_OK; /* a set's file, graph or certificate */
    t->files++;
    if (strcmp(path, "npu.jsonl") == 0) {
        t->npu = lines;
        return QP_OK;
    }
    assert_unique_ids(bytes);
    if (strncmp(path, "certificates/", 13) == 0)
        return QP_OK;
    static const char ok[] = "\"load\":\"ok\"";
    t->vectors += lines;
    for (size_t i = 0; i + sizeof ok - 1 <= bytes->size; i++)
        t->loaded += memcmp(bytes->bytes + i, ok, sizeof ok - 1) == 0;
    return QP_OK;
}

static totals count_all(void)
{
    totals t = {0};
    qp_error error = {0};
    qp_sha256_init(&t.hash);
    if (qp_vectors_write(count_file, &t, NULL, &error) != QP_OK)
        fail_msg("%s", error.message);
    qp_sha256_final(&t.hash, t.digest);
    return t;
}

static void test_whole(void **state)
{
    totals first = count_all(), second = count_all();
    (void)state;
    assert_int_equal(first.files, 51);
    assert_true(first.vectors >= 1200);
    assert_int_equal(first.npu, first.loaded);
    assert_true(first.bytes < (size_t)12 << 20);
    assert_memory_equal(first.digest, second.digest, sizeof first.digest);
}

static void test_certificates(void **state)
{
    (void)state;
    /* the sum's interval ends at 2^63, which needs 65 bits */
    static const char by_one[] =
        "\"acc64\":false,\"acc64_first_failure\":{\"bits\":\"65\",\"graph\":\"graph\","
        "\"index\":\"0\",\"key\":\"rq.t\",\"where\":\"node\"}";
    static const char saturated[] = "\"saturated\":true";
    qp_buffer lines;
    qp_buffer_init(&lines, NULL);
    assert_int_equal(qp_vectors_file("certificates/whg1.jsonl", &lines, NULL, NULL), QP_OK);
    qp_buffer_append(&lines, "", 1);
    assert_non_null(strstr((const char *)lines.bytes, by_one));
    assert_non_null(strstr((const char *)lines.bytes, saturated));
    qp_buffer_free(&lines);
}

static void test_unknown_file(void **state)
{
    qp_buffer lines;
    (void)state;
    qp_buffer_init(&lines, NULL);
    assert_int_equal(qp_vectors_file("vectors/none.jsonl", &lines, NULL, NULL),
                     QP_INVALID_ARGUMENT);
    qp_buffer_free(&lines);
}

/* An author who is wrong: of the load, of a profile, of a decode, of the graph itself. */
static void make_wrong(qp_corpus *c, const void *context)
{
    const unsigned *fault = context;
    qp_case(c,
            *fault == 0   ? QP_WANT_MISMATCH
            : *fault == 1 ? QP_WANT_ACC64
                          : QP_WANT_ACC32,
            "%s", *fault == 5 ? "an id of \" quotes" : "wrong");
    qp_case_input(c, 1, 0, 9);
    qp_case_tensor(c, 1);
    qp_case_operator(c, *fault == 2 ? "no_such_operator" : "relu", *fault == 3 ? "0 1" : "0 > 1");
    qp_case_output(c, 1);
    qp_case_decode(c, *fault == 4 ? QP_FIELD_RANGE : QP_OK);
    QP_ROW(c, 1, 2);
    qp_case(c, QP_WANT_ACC32, "the next");
}

static void test_wrong_wants(void **state)
{
    (void)state;
    for (unsigned fault = 0; fault <= 5; fault++) {
        qp_buffer lines;
        qp_error error = {0};
        qp_buffer_init(&lines, NULL);
        qp_corpus_output output = {&lines, NULL};
        assert_int_equal(
            qp_corpus_write("vectors/none.jsonl", make_wrong, &fault, &output, NULL, &error),
            QP_INTERNAL);
        assert_non_null(strstr(error.message, "vectors/none.jsonl: "));
        qp_buffer_free(&lines);
    }
}

static void test_memory(void **state)
{
    size_t step = 1;
    (void)state;
    for (size_t k = 1;; k += step, step = k / 8 + 1) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_buffer lines;
        qp_buffer_init(&lines, &allocator);
        qp_status status = qp_vectors_file("graphs/state.jsonl", &lines, &allocator, NULL);
        qp_buffer_free(&lines);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roundings),    cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_igdn),         cmocka_unit_test(test_layernorm),
        cmocka_unit_test(test_exponentials), cmocka_unit_test(test_leaky),
        cmocka_unit_test(test_movement),     cmocka_unit_test(test_state),
        cmocka_unit_test(test_phases),       cmocka_unit_test(test_whole),
        cmocka_unit_test(test_certificates), cmocka_unit_test(test_unknown_file),
        cmocka_unit_test(test_wrong_wants),  cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
