/* SPDX-License-Identifier: Apache-2.0 */
/* test_conform.c - lines and files of conformance vectors: what passes, what is said of the rest.
 */
#include "conform/conform.h"

#include "support/test.h"

#include "failing_allocator.h"

/* ---- graphs spelled out from section 10 --------------------------------------------------- */

#define ZEROS_8 "0000000000000000"

/* magic, version, set, reserved; tensors, operators; inputs, outputs, scalars; max_elems 4096 */
#define HEADER(tensors, operators, inputs, scalars)                                                \
    "574847310101"                                                                                 \
    "0000" tensors "000000" operators "000000" inputs "00"                                         \
    "0100" scalars "00"                                                                            \
    "0000"                                                                                         \
    "00100000"                                                                                     \
    "00000000"
#define DATA_INPUT(tensor)                                                                         \
    tensor "000000" ZEROS_8 "00000000"                                                             \
           "00000000"                                                                              \
           "00000000" ZEROS_8
/* one channel, no exponent, policy check, -10 .. 10 */
#define CHECK_10                                                                                   \
    "01000000"                                                                                     \
    "80"                                                                                           \
    "02"                                                                                           \
    "0000"                                                                                         \
    "f6ffffffffffffff"                                                                             \
    "0a00000000000000"
#define DERIVED                                                                                    \
    "01000000"                                                                                     \
    "80"                                                                                           \
    "00"                                                                                           \
    "0000" ZEROS_8 ZEROS_8

/* tensor 1 = relu(tensor 0) */
#define RELU                                                                                       \
    HEADER("02", "01", "01", "00")                                                                 \
    DATA_INPUT("00")                                                                               \
    "01000000" CHECK_10 DERIVED "0c010100"                                                         \
    "00000000"                                                                                     \
    "01000000"                                                                                     \
    "00000000"

/* tensor 2 = clamp(tensor 0 + tensor 1, -100, 100); tensor 1 is a state fed by it, 3 at first */
#define CLAMP_100(policy)                                                                          \
    "01000000"                                                                                     \
    "80" policy "0000"                                                                             \
    "9cffffffffffffff"                                                                             \
    "6400000000000000"
#define ACCUMULATE                                                                                 \
    HEADER("03", "01", "02", "00")                                                                 \
    DATA_INPUT("00")                                                                               \
    "01000000" ZEROS_8 "01000000"                                                                  \
    "00000000"                                                                                     \
    "00000000"                                                                                     \
    "0300000000000000"                                                                             \
    "02000000" CHECK_10 CLAMP_100("02") CLAMP_100("01") "05020100"                                 \
                                                        "00000000"                                 \
                                                        "01000000"                                 \
                                                        "02000000"                                 \
                                                        "00000000"

/* relu of a clamp input over all of int64, with a scalar of all of int64 that nothing reads */
#define WIDE                                                                                       \
    HEADER("02", "01", "01", "01")                                                                 \
    "0000000000000080"                                                                             \
    "ffffffffffffff7f" DATA_INPUT("00") "01000000"                                                 \
                                        "01000000"                                                 \
                                        "80"                                                       \
                                        "02"                                                       \
                                        "0000"                                                     \
                                        "0000000000000080"                                         \
                                        "ffffffffffffff7f" DERIVED "0c010100"                      \
                                        "00000000"                                                 \
                                        "01000000"                                                 \
                                        "00000000"

#define TENSOR(data, c, h, w) "{\"data\":[" data "],\"shape\":[\"" c "\",\"" h "\",\"" w "\"]}"
#define DECODE(expect, inputs, scalars)                                                            \
    "{\"expect\":" expect ",\"inputs\":[" inputs "],\"scalars\":[" scalars "]}"
#define OUTPUTS(tensors) "{\"outputs\":[" tensors "]}"
#define REFUSE(code) "{\"refuse\":\"" code "\"}"
#define LINE(decodes, graph, load, profiles)                                                       \
    "{\"decodes\":[" decodes "],\"graph\":\"" graph "\",\"id\":\"an id\",\"load\":\"" load         \
    "\",\"profiles\":[" profiles "]}"
#define BOTH "\"acc32\",\"acc64\""
#define RELU_LINE(decodes) LINE(decodes, RELU, "ok", BOTH)

static const char relu_line[] = RELU_LINE(DECODE(OUTPUTS(TENSOR("\"0\",\"7\"", "1", "1", "2")),
                                                 TENSOR("\"-5\",\"7\"", "1", "1", "2"), ""));
static const char relu_npu[] = "\"npu\":true,\"npu_flags\":[],\"npu_reasons\":[]}";

/* ---- running one line --------------------------------------------------------------------- */

static qp_conform_result run_rules(const qp_conform_rules *rules, const char *line)
{
    static char id[64];
    qp_conform conform;
    qp_conform_result result;
    qp_error error;

    qp_conform_init(&conform, NULL);
    assert_int_equal(qp_conform_line(&conform, rules, &(qp_conform_text){line, strlen(line), 4},
                                     &result, &error),
                     QP_OK);
    if (result.id != NULL) {
        snprintf(id, sizeof id, "%.*s", (int)result.id_size, result.id);
        result.id = id;
    }
    qp_conform_free(&conform);
    return result;
}

static qp_conform_result run_vector(const char *line)
{
    qp_conform_rules rules = {.form = QP_CONFORM_VECTOR};
    return run_rules(&rules, line);
}

static void expect_pass(const char *line)
{
    qp_conform_result result = run_vector(line);
    assert_string_equal(result.what, "");
    assert_int_equal(result.outcome, QP_CONFORM_PASSED);
}

/* The line fails, and its sentence contains `words`. */
static void expect_fail(const char *line, const char *words)
{
    qp_conform_result result = run_vector(line);
    assert_int_equal(result.outcome, QP_CONFORM_FAILED);
    if (strstr(result.what, words) == NULL)
        fail_msg("'%s' does not contain '%s'", result.what, words);
}

/* ---- vectors ------------------------------------------------------------------------------ */

static void test_passes(void **state)
{
    (void)state;
    qp_conform_result result = run_vector(relu_line);
    assert_int_equal(result.outcome, QP_CONFORM_PASSED);
    assert_string_equal(result.id, "an id");
    assert_int_equal(result.npu_size, strlen(relu_npu));
    expect_pass(RELU_LINE(DECODE(REFUSE("field_range"), TENSOR("\"11\"", "1", "1", "1"), "")));
    expect_pass(RELU_LINE(""));
    expect_pass(LINE("", "", "model_mismatch", BOTH));
    expect_pass(LINE("", "5748", "model_mismatch", BOTH));
}

static void test_what_differs(void **state)
{
    (void)state;
    expect_fail(RELU_LINE(DECODE(OUTPUTS(TENSOR("\"0\",\"8\"", "1", "1", "2")),
                                 TENSOR("\"-5\",\"7\"", "1", "1", "2"), "")),
                "decode 0, output 0: element 1 (c 0, y 0, x 1): expected 8, got 7");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(TENSOR("\"0\",\"99999999999999999999\"", "1", "1", "2")),
                                 TENSOR("\"-5\",\"7\"", "1", "1", "2"), "")),
                "expected 99999999999999999999, got 7");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(TENSOR("\"0\",\"7\"", "1", "2", "1")),
                                 TENSOR("\"-5\",\"7\"", "1", "1", "2"), "")),
                "expected the shape [1, 2, 1], got [1, 1, 2]");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(TENSOR("\"0\"", "1", "1", "2")),
                                 TENSOR("\"-5\",\"7\"", "1", "1", "2"), "")),
                "1 elements do not fill the shape's 2");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(TENSOR("\"0\",\"7\",\"0\"", "1", "1", "2")),
                                 TENSOR("\"-5\",\"7\"", "1", "1", "2"), "")),
                "more elements than the shape's 2");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(""), TENSOR("\"1\"", "1", "1", "1"), "")),
                "0 outputs, but the graph has 1");
    expect_fail(
        RELU_LINE(DECODE(OUTPUTS(TENSOR("\"1\"", "1", "1", "1") "," TENSOR("", "1", "1", "1")),
                         TENSOR("\"1\"", "1", "1", "1"), "")),
        "more outputs than the graph's 1");
}

static void test_refusals_that_differ(void **state)
{
    (void)state;
    expect_fail(RELU_LINE(DECODE(OUTPUTS(""), TENSOR("\"11\"", "1", "1", "1"), "")),
                "decode 0: expected outputs, got the refusal field_range");
    expect_fail(RELU_LINE(DECODE(REFUSE("too_large"), TENSOR("\"11\"", "1", "1", "1"), "")),
                "decode 0: expected the refusal too_large, got field_range");
    expect_fail(RELU_LINE(DECODE(REFUSE("too_large"), TENSOR("\"1\"", "1", "1", "1"), "")),
                "decode 0: expected the refusal too_large, but the decode completes");
    expect_fail(LINE("", RELU, "too_large", BOTH), "load: expected too_large, but the graph loads");
    expect_fail(LINE("", "57", "too_large", BOTH), "load: expected too_large, got model_mismatch");
    expect_fail(LINE("", "57", "ok", BOTH), "load: expected ok, got model_mismatch");
    expect_fail(LINE("null", "57", "model_mismatch", BOTH), "a refused load has no decodes");
}

static void test_profiles(void **state)
{
    (void)state;
    expect_fail(LINE("", RELU, "ok", "\"acc64\""), "profiles: expected acc64, got acc32 and acc64");
    expect_fail(LINE("", RELU, "ok", ""), "profiles: expected none, got acc32 and acc64");
    expect_fail(LINE("", "57", "model_mismatch", "\"acc64\""), "for a refused load");
    expect_fail(LINE("", RELU, "ok", "\"acc64\",\"acc32\""), "not in ascending order");
    expect_fail(LINE("", RELU, "ok", "\"acc64\",\"acc64\""), "not in ascending order");
    expect_fail(LINE("", RELU, "ok", "\"acc16\""), "neither acc32 nor acc64");
    expect_fail(LINE("", RELU, "ok", "null"), "neither acc32 nor acc64");
}

static void test_rules(void **state)
{
    (void)state;
    const char *wrong =
        LINE(DECODE(OUTPUTS(""), TENSOR("\"1\"", "1", "1", "1"), "\"0\""), WIDE, "ok", "\"acc64\"");
    qp_conform_rules rules = {.one_profile = true, .profile = QP_ACC32};
    assert_int_equal(run_rules(&rules, wrong).outcome, QP_CONFORM_PASSED_OVER);
    assert_int_equal(run_rules(&rules, relu_line).outcome, QP_CONFORM_PASSED);
    rules.profile = QP_ACC64;
    assert_int_equal(run_rules(&rules, wrong).outcome, QP_CONFORM_FAILED);
    rules.max_elements = 4095;
    assert_int_equal(run_rules(&rules, wrong).outcome, QP_CONFORM_PASSED_OVER);
    rules.max_elements = 4096;
    rules.operator_name = "relu";
    assert_int_equal(run_rules(&rules, relu_line).outcome, QP_CONFORM_PASSED);
    rules.operator_name = "abs";
    assert_string_equal(run_rules(&rules, relu_line).what,
                        "the graph is not one abs, the operator of this file");
}

static void test_state_is_carried(void **state)
{
    (void)state;
#define ONE(v) TENSOR("\"" v "\"", "1", "1", "1")
    expect_pass(
        LINE(DECODE(OUTPUTS(ONE("8")), ONE("5"), "") "," DECODE(
                 OUTPUTS(ONE("10")), ONE("2"),
                 "") "," DECODE(REFUSE("field_range"), ONE("11"),
                                "") "," DECODE(REFUSE("geometry_mismatch"),
                                               TENSOR("\"1\",\"1\"", "1", "1", "2"),
                                               "") "," DECODE(OUTPUTS(ONE("0")), ONE("-10"), ""),
             ACCUMULATE, "ok", BOTH));
    expect_fail(
        LINE(DECODE(OUTPUTS(ONE("8")), ONE("5"), "") "," DECODE(OUTPUTS(ONE("5")), ONE("2"), ""),
             ACCUMULATE, "ok", BOTH),
        "decode 1, output 0: element 0 (c 0, y 0, x 0): expected 5, got 10");
}

/* ---- values that are not read ------------------------------------------------------------- */

static void test_unread_data(void **state)
{
    (void)state;
    expect_pass(RELU_LINE(DECODE(REFUSE("model_mismatch"), TENSOR("\"1\"", "2", "9", "9"), "")));
    expect_pass(RELU_LINE(DECODE(REFUSE("model_mismatch"), TENSOR("\"1\"", "1", "0", "9"), "")));
    expect_pass(RELU_LINE(DECODE(REFUSE("model_mismatch"), TENSOR("", "1", "-7", "9"), "")));
    expect_pass(RELU_LINE(DECODE(REFUSE("too_large"), TENSOR("", "1", "4096", "2"), "")));
    expect_pass(
        RELU_LINE(DECODE(REFUSE("too_large"), TENSOR("", "1", "99999999999999999999", "1"), "")));
    expect_pass(RELU_LINE(DECODE(REFUSE("model_mismatch"),
                                 TENSOR("", "4294967297", "99999999999999999999", "1"), "")));
    expect_pass(RELU_LINE(
        DECODE(REFUSE("model_mismatch"), TENSOR("", "1", "99999999999999999999", "0"), "")));
    expect_pass(LINE(DECODE(OUTPUTS(ONE("8")), ONE("5"), "") "," DECODE(
                         REFUSE("geometry_mismatch"), TENSOR("", "1", "64", "64"), ""),
                     ACCUMULATE, "ok", BOTH));
    expect_fail(RELU_LINE(DECODE(REFUSE("too_large"), TENSOR("\"1\"", "1", "64", "64"), "")),
                "decode 0: the 1 elements of input 0 do not fill its shape");
    expect_fail(RELU_LINE(DECODE(REFUSE("field_range"), TENSOR("\"1\",\"11\"", "1", "1", "1"), "")),
                "do not fill its shape");
}

static void test_values_beyond_64_bits(void **state)
{
    (void)state;
#define PAST "9223372036854775808"
#define LAST "9223372036854775807"
#define WIDE_LINE(decodes) LINE(decodes, WIDE, "ok", "\"acc64\"")
    expect_pass(WIDE_LINE(DECODE(OUTPUTS(ONE(LAST)), ONE(LAST), "\"" LAST "\"")));
    expect_pass(WIDE_LINE(DECODE(REFUSE("field_range"), ONE(PAST), "\"0\"")));
    expect_pass(WIDE_LINE(DECODE(REFUSE("field_range"), ONE("-99999999999999999999"), "\"0\"")));
    expect_pass(WIDE_LINE(DECODE(REFUSE("field_range"), ONE("1"), "\"" PAST "\"")));
    expect_pass(
        WIDE_LINE(DECODE(REFUSE("model_mismatch"), TENSOR("", "2", "1", "1"), "\"" PAST "\"")));
    expect_pass(
        WIDE_LINE(DECODE(REFUSE("field_range"), TENSOR("", "1", "1", "1"), "\"" PAST "\"")));
}

static void test_memory_is_bounded_by_the_line(void **state)
{
    (void)state;
    static const char line[] =
        RELU_LINE(DECODE(REFUSE("too_large"), TENSOR("", "1", "4294967295", "4294967295"),
                         "") "," DECODE(OUTPUTS(""), TENSOR("\"1\"", "1", "64", "64"), ""));
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_conform_rules rules = {0};
    qp_conform_result result;
    qp_conform conform;

    qp_conform_init(&conform, &allocator);
    assert_int_equal(
        qp_conform_line(&conform, &rules, &(qp_conform_text){line, strlen(line), 1}, &result, NULL),
        QP_OK);
    assert_non_null(strstr(result.what, "decode 1: the 1 elements"));
    assert_true(memory.high_water < 64 * 1024);
    qp_conform_free(&conform);
    assert_int_equal(memory.blocks, 0);
}

/* ---- lines that are malformed ------------------------------------------------------------- */

static void test_not_canonical(void **state)
{
    (void)state;
    expect_fail("", "line 4, column 1");
    expect_fail(" " RELU_LINE(""), "column 1: a space outside a string");
    expect_fail(RELU_LINE("") "\r", "a space outside a string");
    expect_fail(RELU_LINE("7"), "a bare number");
    expect_fail(RELU_LINE("\"\\n\""), "an escape other than");
    expect_fail(RELU_LINE("\"\\u0041\""), "an escape other than");
    expect_fail(RELU_LINE("\"\t\""), "not printable ASCII");
    expect_fail(RELU_LINE("\"\xC3\xA9\""), "not printable ASCII");
    expect_fail("\xEF\xBB\xBF" RELU_LINE(""), "not printable ASCII");
    expect_fail(RELU_LINE("") "{}", "line 4");
    expect_fail("{\"graph\":\"\",\"decodes\":[]}", "expected the member \"decodes\" here");
    expect_fail("{\"decodes\":[],\"graph\":\"\"}", "no member \"id\"");
    expect_fail("{\"decodes\":[],\"decodes\":[]}", "a member of this name already");
    expect_fail("[]", "expected an object");
    expect_fail(LINE("", "5A", "model_mismatch", BOTH), "digit 1 is not lowercase hexadecimal");
    expect_fail(LINE("", "5", "model_mismatch", BOTH), "expected bytes in lowercase hexadecimal");
    expect_fail(LINE("", "57", "model_mismatch", BOTH "],\"z\":["), "a member after \"profiles\"");
}

static void test_malformed_decodes(void **state)
{
    (void)state;
    expect_fail(RELU_LINE("null"), "expected an object, found null");
    expect_fail(RELU_LINE(DECODE("{}", ONE("1"), "")), "no member \"outputs\"");
    expect_fail(RELU_LINE(DECODE("{\"outputs\":[],\"refuse\":\"too_large\"}", ONE("1"), "")),
                "expected the member \"refuse\" here");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), "", "")), "has 1 data inputs");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), ONE("1") "," ONE("1"), "")), "more inputs");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), ONE("1"), "\"1\"")), "more scalars");
    expect_fail(LINE(DECODE(OUTPUTS(ONE("1")), ONE("1"), ""), WIDE, "ok", "\"acc64\""),
                "0 scalars, but the graph has 1");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), ONE("01"), "")), "canonical decimal");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), ONE("-0"), "")), "canonical decimal");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), ONE(""), "")), "canonical decimal");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("x")), ONE("1"), "")), "canonical decimal");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), "{\"data\":[\"1\"],\"shape\":[\"1\"]}", "")),
                "a shape of 1 dimensions, not 3");
    expect_fail(RELU_LINE(DECODE(OUTPUTS(ONE("1")), TENSOR("\"1\"", "1", "1\",\"1", "1"), "")),
                "a shape of more than 3 dimensions");
}

static void test_every_prefix_fails(void **state)
{
    (void)state;
    char line[sizeof relu_line];
    for (size_t n = 0; n + 1 < sizeof relu_line; n++) {
        memcpy(line, relu_line, n);
        line[n] = '\0';
        assert_int_equal(run_vector(line).outcome, QP_CONFORM_FAILED);
    }
}

/* ---- certificates ------------------------------------------------------------------------- */

/* The line of relu's certificate, as this library gives it. */
static void put_certificate_line(qp_buffer *line)
{
    qp_conform conform;
    qp_conform_rules rules = {.form = QP_CONFORM_CERTIFICATE};
    qp_conform_result result;
    static const char asks[] = "{\"certificate\":null,\"graph\":\"" RELU "\",\"id\":\"c\"}";
    qp_graph *graph;
    qp_certificate *certificate;
    char *json;
    size_t size;

    qp_conform_init(&conform, NULL);
    assert_int_equal(
        qp_conform_line(&conform, &rules, &(qp_conform_text){asks, strlen(asks), 1}, &result, NULL),
        QP_OK);
    assert_non_null(strstr(result.what, "the certificate differs at its byte 0"));
    assert_int_equal(qp_graph_load(conform.graph.bytes, conform.graph.size, NULL, &graph, NULL),
                     QP_OK);
    assert_int_equal(qp_certify(graph, NULL, &certificate, NULL), QP_OK);
    assert_int_equal(qp_certificate_json(certificate, NULL, &json, &size, NULL), QP_OK);
    qp_buffer_text(line, "{\"certificate\":");
    qp_buffer_append(line, json, size);
    qp_buffer_text(line, ",\"graph\":\"" RELU "\",\"id\":\"c\"}");
    qp_buffer_append(line, "", 1);
    qp_bytes_free(NULL, json, size);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    qp_conform_free(&conform);
}

static void test_certificates(void **state)
{
    (void)state;
    qp_conform_rules rules = {.form = QP_CONFORM_CERTIFICATE};
    qp_buffer line;
    qp_buffer_init(&line, NULL);
    put_certificate_line(&line);
    char *text = (char *)line.bytes;
    assert_string_equal(run_rules(&rules, text).what, "");
    char *middle = strstr(text, "\"npu\":true");
    assert_non_null(middle);
    memcpy(middle, "\"npv\"", 5);
    assert_non_null(strstr(run_rules(&rules, text).what, "\"npv\":true"));
    assert_non_null(
        strstr(run_rules(&rules, "{\"certificate\":null,\"graph\":\"\",\"id\":\"c\"}").what,
               "the graph has no certificate: model_mismatch"));
    qp_buffer_free(&line);
}

/* ---- files -------------------------------------------------------------------------------- */

static void collect(void *context, const qp_conform_difference *d)
{
    qp_buffer *text = context;
    qp_buffer_format(text, "%s:%u %.*s: %s\n", d->file, (unsigned)d->line, (int)d->id_size,
                     d->id == NULL ? "" : d->id, d->what);
}

static void test_files(void **state)
{
    (void)state;
    static const char file[] = RELU_LINE(
        "") "\n"
            "{}\n" RELU_LINE("") "\n"
                                 "{\"decodes\":[],\"graph\":\"\",\"id\":\"\\\"2\",\"load\":"
                                 "\"model_mismatch\",\"profiles\":[\"acc32\",\"acc64\"]}";
    qp_conform_rules rules = {0};
    qp_conform_run run;
    qp_buffer text;

    qp_buffer_init(&text, NULL);
    qp_conform_run_init(&run, NULL);
    run.report = collect;
    run.context = &text;
    assert_int_equal(qp_conform_file(&run, &rules, "f", file, strlen(file), NULL), QP_OK);
    qp_buffer_append(&text, "", 1);
    assert_string_equal((char *)text.bytes,
                        "f:2 : line 2, column 1: the object has no member \"decodes\"\n"
                        "f:3 an id: the id occurs twice in the file\n"
                        "f:4 \\\"2: the last line does not end with a line feed\n");
    assert_int_equal(run.passed, 1);
    assert_int_equal(run.failed, 3);
    assert_int_equal(qp_conform_file(&run, &rules, "empty", "", 0, NULL), QP_OK);
    qp_conform_skip(&run, "stage/x.jsonl", "a\nb\nc", 5);
    qp_conform_skip(&run, "certificates/x/y.whg1", "a\nb\nc", 5);
    assert_int_equal(run.skipped, 4);
    qp_conform_run_free(&run);
    qp_buffer_free(&text);
}

static void test_many_ids(void **state)
{
    (void)state;
    qp_conform_rules rules = {0};
    qp_conform_run run;
    qp_buffer file;

    qp_buffer_init(&file, NULL);
    qp_conform_run_init(&run, NULL);
    for (unsigned i = 0; i < 1000; i++)
        qp_buffer_format(&file,
                         "{\"decodes\":[],\"graph\":\"\",\"id\":\"%u\",\"load\":"
                         "\"model_mismatch\",\"profiles\":[\"acc32\",\"acc64\"]}\n",
                         i % 999);
    assert_int_equal(qp_conform_file(&run, &rules, "f", file.bytes, file.size, NULL), QP_OK);
    assert_int_equal(run.passed, 999);
    assert_int_equal(run.failed, 1);
    qp_conform_run_free(&run);
    qp_buffer_free(&file);
}

static void test_npu_lines(void **state)
{
    (void)state;
    qp_conform_rules rules = {0};
    qp_conform_run run;
    qp_buffer file, own;

    qp_buffer_init(&own, NULL);
    qp_buffer_format(&own, "{\"file\":\"graphs/\\\"f\",\"id\":\"an id\",%s\n", relu_npu);
    qp_buffer_init(&file, NULL);
    qp_buffer_format(&file, "%s\n", relu_line);
    qp_conform_run_init(&run, NULL);
    assert_int_equal(qp_conform_file(&run, &rules, "graphs/\"f", file.bytes, file.size, NULL),
                     QP_OK);
    assert_int_equal(qp_conform_npu(&run, "npu.jsonl", own.bytes, own.size, NULL), QP_OK);
    assert_int_equal(run.passed, 2);
    assert_int_equal(run.failed, 0);
    qp_conform_npu(&run, "npu.jsonl", own.bytes, own.size - 1, NULL); /* no line feed */
    qp_conform_npu(&run, "npu.jsonl", "", 0, NULL);                   /* the line is not there */
    assert_int_equal(run.failed, 2);
    own.bytes[own.size - 4] = 'x';
    qp_conform_npu(&run, "npu.jsonl", own.bytes, own.size, NULL);
    assert_int_equal(run.failed, 3);
    qp_conform_npu(&run, "npu.jsonl", "x\ny\n", 4, NULL); /* both, and the one that is not there */
    assert_int_equal(run.failed, 6);
    qp_conform_run_free(&run);
    qp_buffer_free(&own);
    qp_buffer_free(&file);
}

/* One line that is missing or too many does not make the others differ. */
static void test_npu_lines_find_their_vectors(void **state)
{
    (void)state;
    qp_conform_rules rules = {0};
    qp_conform_run run;
    qp_buffer text;

    qp_buffer_init(&text, NULL);
    qp_conform_run_init(&run, NULL);
    run.report = collect;
    run.context = &text;
    for (char name[2] = "a"; name[0] <= 'd'; name[0]++)
        qp_conform_file(&run, &rules, name, RELU_LINE("") "\n", strlen(RELU_LINE("") "\n"), NULL);
    assert_int_equal(run.passed, 4);
#define NPU_LINE(file)                                                                             \
    "{\"file\":\"" file "\",\"id\":\"an id\",\"npu\":true,\"npu_flags\":[],\"npu_reasons\":[]}\n"
    static const char npu[] = NPU_LINE("a") NPU_LINE("x") NPU_LINE("c") NPU_LINE("b") NPU_LINE("d");
    assert_int_equal(qp_conform_npu(&run, "n", npu, strlen(npu), NULL), QP_OK);
    qp_buffer_append(&text, "", 1);
    assert_int_equal(run.passed, 7);
    assert_int_equal(run.failed, 3);
    assert_non_null(strstr((char *)text.bytes, "n:2 : not the line of a vector"));
    assert_non_null(strstr((char *)text.bytes, "n:3 : a line is missing here: {\"file\":\"b\""));
    assert_non_null(strstr((char *)text.bytes, "n:4 : not the line of a vector"));
    qp_conform_run_free(&run);
    qp_buffer_free(&text);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void fail_every_allocation(const qp_conform_rules *rules, const char *file)
{
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_conform_run run;
        qp_error error;

        qp_conform_run_init(&run, &allocator);
        qp_status status = qp_conform_file(&run, rules, "f", file, strlen(file), &error);
        if (status == QP_OK)
            assert_int_equal(run.passed, 2);
        qp_conform_run_free(&run);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
        assert_non_null(strstr(error.message, "line "));
    }
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    qp_conform_rules rules = {.form = QP_CONFORM_VECTOR};
    qp_buffer file;

    qp_buffer_init(&file, NULL);
    qp_buffer_format(&file,
                     "%s\n{\"decodes\":[],\"graph\":\"\",\"id\":\"2\",\"load\":"
                     "\"model_mismatch\",\"profiles\":[\"acc32\",\"acc64\"]}\n",
                     relu_line);
    qp_buffer_append(&file, "", 1);
    fail_every_allocation(&rules, (const char *)file.bytes);

    rules.form = QP_CONFORM_CERTIFICATE;
    file.size = 0;
    put_certificate_line(&file);
    size_t size = file.size; /* with its NUL */
    file.bytes[size - 1] = '\n';
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, file.bytes, size);
    qp_buffer_append(&file, copy, size);
    free(copy);
    qp_buffer_append(&file, "", 1);
    strstr((char *)file.bytes + size, "\"id\":\"c\"")[6] = 'd';
    fail_every_allocation(&rules, (const char *)file.bytes);
    qp_buffer_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_what_differs),
        cmocka_unit_test(test_refusals_that_differ),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_state_is_carried),
        cmocka_unit_test(test_unread_data),
        cmocka_unit_test(test_values_beyond_64_bits),
        cmocka_unit_test(test_memory_is_bounded_by_the_line),
        cmocka_unit_test(test_not_canonical),
        cmocka_unit_test(test_malformed_decodes),
        cmocka_unit_test(test_every_prefix_fails),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_many_ids),
        cmocka_unit_test(test_npu_lines),
        cmocka_unit_test(test_npu_lines_find_their_vectors),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests_name("conform", tests, NULL, NULL);
}
