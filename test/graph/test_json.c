/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json.c - graphs as JSON: dump and assemble are inverse, byte for byte, on every graph that
 * loads; and assemble refuses by line and column what an editor may get wrong.
 */
#include "base/base.h"
#include "failing_allocator.h"
#include "quipu/graph.h"
#include "support/random_graph.h"
#include "support/test.h"

/* ---- round trips -------------------------------------------------------------------------- */

static void fail_with(const char *what, const qp_error *error)
{
    char text[400];
    fail_msg("%s: %s", what, qp_error_text(error, text, sizeof text));
}

static void assert_assembles(const qp_graph_json *json, const void *bytes, size_t size)
{
    qp_error error;
    void *again;
    size_t again_size;
    if (qp_graph_assemble(json, NULL, &again, &again_size, &error) != QP_OK)
        fail_with("assemble", &error);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, bytes, size);
    qp_bytes_free(NULL, again, again_size);
}

static void assert_round_trip(const void *bytes, size_t size)
{
    qp_graph *graph;
    qp_error error;
    char *json;
    size_t json_size;
    if (qp_graph_load(bytes, size, NULL, &graph, &error) != QP_OK)
        fail_with("load", &error);
    if (qp_graph_dump(graph, NULL, NULL, &json, &json_size, &error) != QP_OK)
        fail_with("dump", &error);
    assert_int_equal(json[json_size - 1], '\n');
    assert_assembles(&(qp_graph_json){json, json_size, NULL}, bytes, size);
    qp_bytes_free(NULL, json, json_size);
    qp_graph_free(graph);
}

static void test_models(void **state)
{
    static const char *const names[] = {QP_MODELS "/superres-x3.whg1",
                                        QP_MODELS "/superres-x3-acc32.whg1"};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(names); i++) {
        qp_file file;
        qp_error error;
        if (qp_file_open(names[i], NULL, &file, &error) != QP_OK)
            fail_with(names[i], &error);
        assert_round_trip(file.bytes, file.size);
        qp_file_close(&file);
    }
}

static void test_every_operator(void **state)
{
    (void)state;
    for (size_t i = 0; i < QP_OPERATOR_COUNT; i++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            qp_buffer bytes;
            qp_buffer_init(&bytes, NULL);
            test_random_graph_of(qp_operators[i], seed, &bytes);
            assert_round_trip(bytes.bytes, bytes.size);
            qp_buffer_free(&bytes);
        }
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        qp_buffer bytes;
        qp_buffer_init(&bytes, NULL);
        test_random_graph(seed, &bytes);
        assert_round_trip(bytes.bytes, bytes.size);
        qp_buffer_free(&bytes);
    }
}

/* ---- a graph to edit ---------------------------------------------------------------------- */

static const char *const base_lines[] = {
    "{\"format\": \"WHG1\", \"version\": 1, \"operator_set\": 1, \"max_elems\": 4096,",
    "\"scalars\": [{\"lo\": 0, \"hi\": 3}],",
    "\"inputs\": [{\"tensor\": 0, \"max_h\": 4, \"max_w\": 4, \"kind\": \"data\"},",
    "{\"tensor\": 1, \"max_h\": 4, \"max_w\": 4, \"kind\": \"state\", \"src\": 0, \"init\": -1}],",
    "\"outputs\": [{\"tensor\": 2}],",
    "\"tensors\": [",
    "{\"tensor\": 0, \"channels\": 2, \"exponent\": null, \"policy\": \"clamp\", \"lo\": -9, "
    "\"hi\": 9},",
    "{\"tensor\": 1, \"channels\": 2, \"exponent\": 7, \"policy\": \"check\", \"lo\": -9, \"hi\": "
    "9},",
    "{\"tensor\": 2, \"channels\": 2, \"exponent\": null, \"policy\": \"derived\"},",
    "{\"tensor\": 3, \"channels\": 2, \"exponent\": -127, \"policy\": \"derived\"},",
    "{\"tensor\": 4, \"channels\": 2, \"exponent\": null, \"policy\": \"derived\"}],",
    "\"operators\": [",
    "{\"op\": \"conv\", \"in\": [0], \"out\": [2], \"parameters\": {",
    "\"cout\": 2, \"kh\": 1, \"kw\": 1, \"sh\": 1, \"sw\": 1, \"ph\": 0, \"pw\": 0, \"groups\": 1,",
    "\"w_bytes\": 1, \"rq\": {\"round\": \"half_even\", \"m_kind\": \"one\", \"m_bytes\": 4, "
    "\"mult\": 5,",
    "\"s_kind\": \"per_channel\", \"shift\": [0, 127], \"bias\": \"pre\", \"b_bytes\": 8, "
    "\"biases\": [-1, 1]},",
    "\"weights\": [[[[-128]], [[127]]],",
    "[[[3]], [[4]]]]}},",
    "{\"op\": \"crop\", \"in\": [1], \"out\": [3], \"parameters\": {",
    "\"y0\": 0, \"x0\": {\"scalar\": 0}, \"h\": 2, \"w\": 1}},",
    "{\"op\": \"relu\", \"in\": [2], \"out\": [4]}]}",
};

/* The lines, with the first `from` replaced by `to`. */
static void base_text(const char *from, const char *to, qp_buffer *text)
{
    bool replaced = from[0] == '\0';
    qp_buffer_init(text, NULL);
    for (size_t i = 0; i < TEST_COUNT(base_lines); i++) {
        const char *line = base_lines[i];
        const char *found = replaced ? NULL : strstr(line, from);
        if (found != NULL) {
            qp_buffer_append(text, line, (size_t)(found - line));
            qp_buffer_text(text, to);
            line = found + strlen(from);
            replaced = true;
        }
        qp_buffer_text(text, line);
        qp_buffer_text(text, "\n");
    }
    assert_true(replaced);
}

static void test_base_assembles(void **state)
{
    qp_buffer text;
    qp_error error;
    void *bytes;
    size_t size;
    (void)state;
    base_text("", "", &text);
    qp_graph_json json = {(const char *)text.bytes, text.size, NULL};
    if (qp_graph_assemble(&json, NULL, &bytes, &size, &error) != QP_OK)
        fail_with("base", &error);
    assert_round_trip(bytes, size);
    qp_bytes_free(NULL, bytes, size);
    qp_buffer_free(&text);
}

/* ---- refusals ----------------------------------------------------------------------------- */

typedef struct refusal {
    const char *from, *to; /* an edit of the base */
    qp_status status;
    const char *message; /* how it begins */
} refusal;

static void assert_refusals(const refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        qp_buffer text;
        qp_error error = {.message = "none"};
        void *bytes = &text;
        size_t size = 7;
        base_text(cases[i].from, cases[i].to, &text);
        qp_graph_json json = {(const char *)text.bytes, text.size, NULL};
        qp_status status = qp_graph_assemble(&json, NULL, &bytes, &size, &error);
        if (status != cases[i].status || error.status != status ||
            strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("'%s' for '%s': %s: %s", cases[i].to, cases[i].from, qp_status_token(status),
                     error.message);
        assert_null(bytes);
        assert_int_equal(size, 0);
        assert_true(error.offset >= 0 && (size_t)error.offset <= text.size);
        qp_buffer_free(&text);
    }
}

#define MALFORMED(from, to, message)                                                               \
    {                                                                                              \
        from, to, QP_MALFORMED, message                                                            \
    }

static void test_refuses_members(void **state)
{
    static const refusal cases[] = {
        MALFORMED("\"version\"", "\"verse\"", "line 1, column 20: the member \"verse\" is unknown"),
        MALFORMED("\"version\": 1, ", "", "line 1, column 1: the object has no member \"version\""),
        MALFORMED("\"version\": 1", "\"version\": 2",
                  "line 1, column 31: the integer is not from 1 to 1"),
        MALFORMED("\"lo\": 0", "\"lo\": 0, \"lo\": 1", "line 2, column 23: "),
        MALFORMED("\"hi\": 3", "\"Hi\": 3", "line 2, column 23: the member \"Hi\" is unknown here"),
        MALFORMED("\"kind\": \"data\"", "\"kind\": \"data\", \"src\": 0",
                  "line 3, column 66: the member \"src\" is unknown here"),
        MALFORMED(", \"init\": -1", "", "line 4, column 1: the object has no member \"init\""),
        MALFORMED("\"derived\"", "\"derived\", \"lo\": 0",
                  "line 9, column 69: the member \"lo\" is unknown here"),
        MALFORMED("\"groups\": 1", "\"group\": 1",
                  "line 14, column 66: the member \"group\" is unknown here"),
        MALFORMED("\"m_kind\": \"one\"", "\"m_kind\": \"absent\"",
                  "line 15, column 64: the member \"m_bytes\" is unknown here"),
        MALFORMED(", \"mult\": 5", "", "line 15, column 21: the object has no member \"mult\""),
        MALFORMED("\"relu\"", "\"elu\"",
                  "line 21, column 1: the object has no member \"parameters\""),
        MALFORMED("\"out\": [4]", "\"out\": [4], \"parameters\": {}",
                  "line 21, column 39: the member \"parameters\" is unknown here"),
        MALFORMED("\"relu\"", "\"gelu\"", "line 21, column 8: there is no operator \"gelu\""),
        MALFORMED("{\"scalar\": 0}", "{\"scaler\": 0}",
                  "line 20, column 17: the member \"scaler\""),
    };
    (void)state;
    assert_refusals(cases, TEST_COUNT(cases));
}

static void test_refuses_values(void **state)
{
    static const refusal cases[] = {
        MALFORMED("4096", "4294967296", "line 1, column 66: the integer is not from 1"),
        MALFORMED("4096", "0", "line 1, column 66: the integer is not from 1"),
        MALFORMED("\"hi\": 3", "\"hi\": 9223372036854775808", "line 2, column 29: "),
        MALFORMED("\"max_h\": 4", "\"max_h\": 0", "line 3, column 35: the integer is not from 1"),
        MALFORMED("\"tensor\": 2}", "\"tensor\": 2.0}", "line 5, column 24: expected an integer"),
        MALFORMED("\"tensor\": 2,", "\"tensor\": 3,",
                  "line 9, column 12: tensor 3 stands at the place of tensor 2"),
        MALFORMED("\"channels\": 2", "\"channels\": 0", "line 7, column 27: the integer is not"),
        MALFORMED("\"exponent\": 7", "\"exponent\": -128",
                  "line 8, column 42: the integer is not "
                  "from -127 to 127"),
        MALFORMED("\"clamp\"", "\"Clamp\"",
                  "line 7, column 58: the word is none of: derived, clamp, check"),
        MALFORMED("\"in\": [0]", "\"in\": [5]",
                  "line 13, column 23: the integer is not from 0 to 4"),
        MALFORMED("\"in\": [0]", "\"in\": [0, 0]",
                  "line 13, column 26: the operator takes no more than 1 tensors"),
        MALFORMED("\"in\": [0]", "\"in\": []", "line 13, column 22: the operator takes at least 1"),
        MALFORMED("\"kh\": 1", "\"kh\": 0", "line 14, column 18: the integer is not from 1"),
        MALFORMED("\"w_bytes\": 1", "\"w_bytes\": 3", "line 15, column 12: integers of this width"),
        MALFORMED("\"m_bytes\": 4", "\"m_bytes\": 2", "line 15, column 72: integers of this width"),
        MALFORMED("\"mult\": 5", "\"mult\": 2147483648", "line 15, column 83: the integer is not"),
        MALFORMED("\"mult\": 5", "\"mult\": [5]", "line 15, column 83: expected an integer"),
        MALFORMED("\"s_kind\": \"per_channel\"", "\"s_kind\": \"absent\"",
                  "line 16, column 11: a shift is always there"),
        MALFORMED("[0, 127]", "[0, 128]", "line 16, column 39: the integer is not from 0 to 127"),
        MALFORMED("[0, 127]", "[0]", "line 16, column 35: the array has 1 elements, not 2"),
        MALFORMED("[-1, 1]", "[-1, 1, 1]",
                  "line 16, column 92: the array has more than 2 elements"),
        MALFORMED("[[-128]]", "[[-129]]",
                  "line 17, column 16: the integer is not from -128 to 127"),
        MALFORMED("[[127]]", "[[127, 1]]", "line 17, column 31: the array has more than 1"),
        MALFORMED("[[127]]", "[127]", "line 17, column 25: expected an array, found a number"),
        MALFORMED("\"weights\": [[", "\"weights\": {\"file\": \"a\"}, \"x\": [[",
                  "line 17, column 27: the member \"x\" is unknown here"),
        MALFORMED("\"y0\": 0", "\"y0\": -1", "line 20, column 7: "),
        MALFORMED("\"y0\": 0", "\"y0\": 4294967296", "line 20, column 7: "),
        MALFORMED("[4]}]}", "[4]}]", "line "),
    };
    (void)state;
    assert_refusals(cases, TEST_COUNT(cases));
}

/* What the loader refuses keeps its code, and gets the place of its record in the JSON. */
static void test_refuses_graphs(void **state)
{
    static const refusal cases[] = {
        {"\"lo\": 0", "\"lo\": 4", QP_MODEL_MISMATCH, "line 2, column 13: the scalar's lo"},
        {"\"max_h\": 4", "\"max_h\": null", QP_MODEL_MISMATCH, "line 3, column 12: "},
        {"\"init\": -1", "\"init\": -10", QP_MODEL_MISMATCH, "line 4, column 1: the state's init"},
        {"[{\"tensor\": 2}]", "[{\"tensor\": 9}]", QP_MODEL_MISMATCH, "line 5, column 13: "},
        {"[{\"tensor\": 2}]", "[]", QP_MODEL_MISMATCH,
         "line 1, column 1: the graph has no outputs"},
        {"\"hi\": 9}", "\"hi\": -10}", QP_MODEL_MISMATCH, "line 7, column 1: the tensor's lo"},
        {"{\"scalar\": 0}", "{\"scalar\": 1}", QP_MODEL_MISMATCH, "line 19, column 1: crop: "},
        {"\"in\": [2]", "\"in\": [4]", QP_MODEL_MISMATCH, "line 21, column 1: relu: it reads"},
        {"\"max_elems\": 4096", "\"max_elems\": 31", QP_TOO_LARGE, "line 3, column 12: "},
        {"\"groups\": 1", "\"groups\": 3", QP_MALFORMED, "line 17, column 14: "},
        {"\"h\": 2", "\"h\": 5", QP_MODEL_MISMATCH, "line 19, column 1: crop: the window"},
    };
    (void)state;
    assert_refusals(cases, TEST_COUNT(cases));
}

/* One scalar more than the header can count. */
static void test_too_many_scalars(void **state)
{
    qp_buffer scalars;
    (void)state;
    qp_buffer_init(&scalars, NULL);
    for (unsigned i = 0; i <= UINT16_MAX; i++)
        qp_buffer_text(&scalars, i == 0 ? "[{\"lo\": 0, \"hi\": 3}" : ",{\"lo\": 0, \"hi\": 3}");
    qp_buffer_append(&scalars, "]", sizeof "]");
    assert_false(scalars.failed);
    const refusal one = {"[{\"lo\": 0, \"hi\": 3}]", (const char *)scalars.bytes, QP_TOO_LARGE,
                         "line 1, column 1: a graph has at most 65535 scalars"};
    assert_refusals(&one, 1);
    qp_buffer_free(&scalars);
}

/* Declared sizes far beyond the text cost nothing: cout 2^32 - 1 and no weights. */
static void test_declared_sizes_allocate_nothing(void **state)
{
    qp_buffer text;
    qp_error error;
    void *bytes;
    size_t size;
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    (void)state;
    base_text("\"cout\": 2", "\"cout\": 4294967295", &text);
    qp_graph_json json = {(const char *)text.bytes, text.size, NULL};
    assert_int_equal(qp_graph_assemble(&json, &allocator, &bytes, &size, &error), QP_MALFORMED);
    assert_string_equal(error.message,
                        "line 16, column 35: the array has 2 elements, not 4294967295");
    assert_int_equal(memory.blocks, 0);
    assert_true(memory.high_water < 64 * text.size);
    qp_buffer_free(&text);
}

/* A truncation at any byte is refused, and so is a byte more. */
static void test_truncations(void **state)
{
    qp_buffer text;
    (void)state;
    base_text("", "", &text);
    for (size_t size = 0; size + 2 < text.size; size++) { /* the last two are "}" and a newline */
        qp_graph_json json = {(const char *)text.bytes, size, NULL};
        void *bytes;
        size_t bytes_size;
        assert_int_equal(qp_graph_assemble(&json, NULL, &bytes, &bytes_size, NULL), QP_MALFORMED);
    }
    qp_buffer_free(&text);
}

/* ---- arrays beside the JSON --------------------------------------------------------------- */

enum { SHELVES = 8, SHELF_VALUES = 65536 };

/* A sink and a source in memory: array i is named "i". */
typedef struct shelf {
    qp_graph_array arrays[SHELVES];
    int64_t *values[SHELVES];
    size_t count, open;
} shelf;

static qp_status store(void *context, const qp_graph_array *array, const int64_t *values,
                       char name[QP_ARRAY_NAME_SIZE], qp_error *error)
{
    shelf *s = context;
    (void)error;
    assert_true(s->count < SHELVES);
    s->arrays[s->count] = *array;
    s->values[s->count] = malloc(array->count * sizeof *values);
    assert_non_null(s->values[s->count]);
    memcpy(s->values[s->count], values, array->count * sizeof *values);
    snprintf(name, QP_ARRAY_NAME_SIZE, "\"%zu\n", s->count++); /* a name that JSON must escape */
    return QP_OK;
}

static qp_status open_stored(void *context, const char *name, qp_graph_array *array,
                             qp_error *error)
{
    shelf *s = context;
    s->open = name[0] == '"' ? (size_t)(name[1] - '0') : SHELVES;
    if (s->open >= s->count)
        return qp_fail(error, QP_IO, "there is no array of that name");
    *array = s->arrays[s->open];
    return QP_OK;
}

static qp_status read_stored(void *context, size_t first, size_t count, int64_t *values,
                             qp_error *error)
{
    const shelf *s = context;
    (void)error;
    assert_true(first + count <= s->arrays[s->open].count);
    memcpy(values, s->values[s->open] + first, count * sizeof *values);
    return QP_OK;
}

static void free_shelf(shelf *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->values[i]);
}

static void assert_round_trip_beside(const qp_buffer *bytes)
{
    shelf s = {0};
    qp_array_sink sink = {store, &s};
    qp_array_source source = {open_stored, read_stored, &s};
    qp_graph *graph;
    char *json;
    size_t size;
    assert_int_equal(qp_graph_load(bytes->bytes, bytes->size, NULL, &graph, NULL), QP_OK);
    assert_int_equal(qp_graph_dump(graph, &sink, NULL, &json, &size, NULL), QP_OK);
    for (size_t i = 0; i < s.count; i++) {
        qp_operator_info info = qp_graph_operator(graph, s.arrays[i].operator_index);
        assert_string_equal(info.name, s.arrays[i].operator_name);
    }
    assert_assembles(&(qp_graph_json){json, size, &source}, bytes->bytes, bytes->size);
    qp_bytes_free(NULL, json, size);
    qp_graph_free(graph);
    free_shelf(&s);
}

static void test_arrays_beside(void **state)
{
    static const char *const names[] = {"conv",  "conv_transpose", "chscale",
                                        "lut16", "igdn",           "layernorm_c"};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(names); i++)
        for (uint64_t seed = 0, done = 0; done < 5; seed++) {
            qp_buffer bytes;
            qp_graph *graph;
            qp_buffer_init(&bytes, NULL);
            test_random_graph_of(qp_operator_by_name(names[i], strlen(names[i])), seed, &bytes);
            assert_int_equal(qp_graph_load(bytes.bytes, bytes.size, NULL, &graph, NULL), QP_OK);
            if (qp_graph_describe(graph).n_operators <= SHELVES / 2) { /* two arrays each at most */
                assert_round_trip_beside(&bytes);
                done++;
            }
            qp_graph_free(graph);
            qp_buffer_free(&bytes);
        }
}

/* The weights of the base, [2][2][1][1] of one byte each, as an array of these values and dims. */
static qp_status assemble_named(const char *name, const qp_graph_array *array, int64_t *values,
                                qp_error *error)
{
    shelf s = {.arrays = {*array}, .values = {values}, .count = 1};
    qp_array_source source = {open_stored, read_stored, &s};
    qp_buffer text, edited;
    void *bytes = NULL;
    size_t size = 0;
    base_text("\"weights\": [[[[-128]], [[127]]],", name, &text);
    qp_buffer_init(&edited, NULL);
    const char *rest = "[[[3]], [[4]]]]}},";
    const char *at = strstr((const char *)text.bytes, rest);
    size_t before = (size_t)(at - (const char *)text.bytes);
    qp_buffer_append(&edited, text.bytes, before);
    qp_buffer_text(&edited, "}},");
    qp_buffer_append(&edited, text.bytes + before + strlen(rest),
                     text.size - before - strlen(rest));
    qp_graph_json json = {(const char *)edited.bytes, edited.size, &source};
    qp_status status = qp_graph_assemble(&json, NULL, &bytes, &size, error);
    qp_bytes_free(NULL, bytes, size);
    qp_buffer_free(&edited);
    qp_buffer_free(&text);
    return status;
}

static void test_refuses_named_arrays(void **state)
{
    int64_t values[] = {1, 2, 3, 128};
    qp_graph_array array = {.rank = 4, .dims = {2, 2, 1, 1}, .count = 4};
    const char *first = "\"weights\": {\"file\": \"\\\"0\"}";
    qp_error error;
    (void)state;

    assert_int_equal(assemble_named(first, &array, values, &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 17, column 21: element 3 of the named array, 128, is "
                                       "not from -128 to 127");
    values[3] = -128;
    assert_int_equal(assemble_named(first, &array, values, &error), QP_OK);
    array.rank = 3;
    assert_int_equal(assemble_named(first, &array, values, &error), QP_MALFORMED);
    array.rank = 4;
    array.dims[1] = 1;
    assert_int_equal(assemble_named(first, &array, values, &error), QP_MALFORMED);
    assert_string_equal(error.message,
                        "line 17, column 21: dimension 1 of the named array is 1, not 2");
    assert_int_equal(assemble_named("\"weights\": {\"file\": \"no\"}", &array, values, &error),
                     QP_IO);
    assert_string_equal(error.message, "line 17, column 21: there is no array of that name");
}

static void test_named_arrays_need_a_source(void **state)
{
    static const refusal cases[] = {
        MALFORMED("[0, 127]", "{\"file\": \"a.npy\"}",
                  "line 16, column 44: arrays in files of their own are not taken here"),
    };
    (void)state;
    assert_refusals(cases, TEST_COUNT(cases));
}

/* ---- without memory ----------------------------------------------------------------------- */

static void test_without_memory(void **state)
{
    qp_buffer bytes;
    qp_graph *graph;
    qp_status status = QP_NO_MEMORY;
    (void)state;
    qp_buffer_init(&bytes, NULL);
    test_random_graph_of(qp_operator_by_name("conv", 4), 3, &bytes);
    assert_int_equal(qp_graph_load(bytes.bytes, bytes.size, NULL, &graph, NULL), QP_OK);
    for (size_t k = 1; status != QP_OK; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        char *json = NULL;
        void *again = NULL;
        size_t json_size = 0, again_size = 0;
        status = qp_graph_dump(graph, NULL, &allocator, &json, &json_size, NULL);
        if (status == QP_OK) {
            qp_graph_json text = {json, json_size, NULL};
            status = qp_graph_assemble(&text, &allocator, &again, &again_size, NULL);
        }
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        qp_bytes_free(&allocator, again, again_size);
        qp_bytes_free(&allocator, json, json_size);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
    }
    qp_graph_free(graph);
    qp_buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_base_assembles),
        cmocka_unit_test(test_refuses_members),
        cmocka_unit_test(test_refuses_values),
        cmocka_unit_test(test_refuses_graphs),
        cmocka_unit_test(test_too_many_scalars),
        cmocka_unit_test(test_declared_sizes_allocate_nothing),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_arrays_beside),
        cmocka_unit_test(test_refuses_named_arrays),
        cmocka_unit_test(test_named_arrays_need_a_source),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
