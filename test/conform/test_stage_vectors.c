/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stage_vectors.c - the files of stage/ (integer-operators.md section 14.1): every line that
 * the generator writes passes and its id is its own; a line with anything changed fails, and says
 * what; item 7's cases are there; and memory that runs out is a status.
 */
#include "conform/conform.h"
#include "conform/stage_vectors.h"
#include "support/test.h"

#include "failing_allocator.h"

static void write_file(const qp_stage_file *file, qp_buffer *lines)
{
    qp_error error = {0};
    qp_buffer_init(lines, NULL);
    qp_status status = qp_stage_vectors(file, lines, NULL, &error);
    if (status != QP_OK)
        print_error("%s\n", error.message);
    assert_int_equal(status, QP_OK);
    assert_true(lines->size > 0 && lines->bytes[lines->size - 1] == '\n');
}

static void test_every_line_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < QP_STAGE_OPERATORS; i++) {
        qp_conform_rules rules = {.form = QP_CONFORM_STAGE, .operator_name = qp_stage_files[i].op};
        qp_conform_run run;
        qp_buffer lines;
        size_t count = 0;
        write_file(&qp_stage_files[i], &lines);
        for (size_t k = 0; k < lines.size; k++)
            count += lines.bytes[k] == '\n';
        qp_conform_run_init(&run, NULL);
        assert_int_equal(
            qp_conform_file(&run, &rules, qp_stage_files[i].path, lines.bytes, lines.size, NULL),
            QP_OK);
        rules = (qp_conform_rules){0}; /* a file on its own: its lines say what they are */
        assert_int_equal(qp_conform_file(&run, &rules, "-", lines.bytes, lines.size, NULL), QP_OK);
        assert_int_equal(run.passed, 2 * count);
        assert_int_equal(run.failed, 0);
        assert_int_equal(run.npu.size, 0);
        qp_conform_run_free(&run);
        qp_buffer_free(&lines);
    }
}

/* ---- lines that fail ---------------------------------------------------------------------- */

static void assert_line(const char *line, qp_conform_outcome outcome, const char *what)
{
    qp_conform_rules rules = {.form = QP_CONFORM_STAGE};
    qp_conform conform;
    qp_conform_result result;
    qp_conform_init(&conform, NULL);
    assert_int_equal(
        qp_conform_line(&conform, &rules, &(qp_conform_text){line, strlen(line), 1}, &result, NULL),
        QP_OK);
    if (result.outcome != outcome || (what != NULL && strstr(result.what, what) == NULL))
        print_error("%s: %s\n", line, result.what);
    assert_int_equal(result.outcome, outcome);
    if (what != NULL)
        assert_non_null(strstr(result.what, what));
    qp_conform_free(&conform);
}

#define LINE(expect, in, modes, op)                                                                \
    "{\"expect\":" expect ",\"id\":\"a\",\"in\":" in ",\"modes\":" modes ",\"op\":\"" op "\"}"

static void test_differences(void **state)
{
    (void)state;
#define DEQUANTIZE "{\"base\":\"1\",\"f\":\"2\",\"sym\":\"3\"}"
    assert_line(LINE("{\"value\":\"13\"}", DEQUANTIZE, "{}", "dequantize"), QP_CONFORM_PASSED,
                NULL);
    assert_line(LINE("{\"value\":\"14\"}", DEQUANTIZE, "{}", "dequantize"), QP_CONFORM_FAILED,
                "expected");
    assert_line(LINE("{\"at\":\"0\",\"refuse\":\"field_range\"}", DEQUANTIZE, "{}", "dequantize"),
                QP_CONFORM_FAILED, "expected");
    assert_line(LINE("{\"value\":\"13\"}", "{\"f\":\"2\",\"sym\":\"3\"}", "{}", "dequantize"),
                QP_CONFORM_FAILED, "base");
    assert_line(LINE("{\"value\":\"13\"}", DEQUANTIZE, "{\"a\":\"b\"}", "dequantize"),
                QP_CONFORM_FAILED, "no modes");
    assert_line(LINE("{\"value\":\"13\"}", DEQUANTIZE, "[]", "dequantize"), QP_CONFORM_FAILED,
                NULL);
    assert_line(LINE("{\"value\":\"13\"}", DEQUANTIZE, "{}", "conv"), QP_CONFORM_FAILED,
                "no stage operator");
    assert_line("{\"expect\":{},\"id\":\"a\"}", QP_CONFORM_FAILED, "in");
    /* an index that differs is a difference */
#define FAR "{\"base\":\"1\",\"f\":\"63\",\"sym\":\"3\"}"
    assert_line(LINE("{\"at\":\"0\",\"refuse\":\"field_range\"}", FAR, "{}", "dequantize"),
                QP_CONFORM_PASSED, NULL);
    assert_line(LINE("{\"at\":\"-1\",\"refuse\":\"field_range\"}", FAR, "{}", "dequantize"),
                QP_CONFORM_FAILED, "expected");
}

/* Short lines that ask for much: refused before anything of that size is allocated. */
static void test_large_outputs(void **state)
{
    (void)state;
    assert_line(LINE("{\"indices\":[]}",
                     "{\"anchor\":true,\"order\":\"raster\",\"shape\":[\"1\",\"8192\",\"8192\"]}",
                     "{}", "coding_order"),
                QP_CONFORM_FAILED, "more elements");
    assert_line(LINE("{\"out\":{\"data\":[],\"shape\":[]}}",
                     "{\"d0\":\"4294967295\",\"prev\":{\"data\":[\"1\"],\"shape\":[\"1\",\"1\","
                     "\"1\"]},\"rate_den\":\"1\",\"rate_num\":\"4294967295\"}",
                     "{}", "rate_predict"),
                QP_CONFORM_FAILED, "more elements");
#define ZEROS_7 "\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\","
#define ZEROS_63                                                                                   \
    ZEROS_7 ZEROS_7 ZEROS_7 ZEROS_7 ZEROS_7 ZEROS_7 ZEROS_7 ZEROS_7                                \
        "\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\""
    assert_line(LINE("{\"symbols\":[]}",
                     "{\"lengths\":[\"9223372036854775807\"],\"memory\":\"000001\",\"mode\":"
                     "\"fac\",\"rows\":[[" ZEROS_63 "]]}",
                     "{}", "mans_decode"),
                QP_CONFORM_FAILED, "more elements");
}

/* A digit of any line changed to another: the line fails, or states another case that passes; it is
 * never a fault. A line cut short fails. */
static void test_changed_lines(void **state)
{
    uint64_t seed = 9;
    (void)state;
    for (size_t i = 0; i < QP_STAGE_OPERATORS; i++) {
        qp_conform_rules rules = {.form = QP_CONFORM_STAGE};
        qp_conform conform;
        qp_conform_result result;
        qp_buffer lines;
        size_t failed = 0, tried = 0;
        write_file(&qp_stage_files[i], &lines);
        qp_conform_init(&conform, NULL);
        char *line = (char *)lines.bytes, *end = line + lines.size;
        for (char *feed; line < end; line = feed + 1) {
            feed = memchr(line, '\n', (size_t)(end - line));
            size_t size = (size_t)(feed - line);
            size_t at = test_below(&seed, (uint32_t)size);
            char kept = line[at];
            assert_int_equal(
                qp_conform_line(&conform, &rules, &(qp_conform_text){line, at, 1}, &result, NULL),
                QP_OK);
            assert_int_equal(result.outcome, QP_CONFORM_FAILED);
            line[at] = (char)(kept >= '0' && kept <= '9' ? '0' + (kept - '0' + 1) % 10 : 'q');
            assert_int_equal(
                qp_conform_line(&conform, &rules, &(qp_conform_text){line, size, 1}, &result, NULL),
                QP_OK);
            failed += result.outcome == QP_CONFORM_FAILED;
            tried++;
            line[at] = kept;
        }
        assert_true(failed > tried / 4);
        qp_conform_free(&conform);
        qp_buffer_free(&lines);
    }
}

/* ---- item 7 ------------------------------------------------------------------------------- */

static void assert_case(const qp_buffer *lines, const char *id)
{
    char want[128];
    snprintf(want, sizeof want, "\"id\":\"%s\"", id);
    if (strstr((const char *)lines->bytes, want) == NULL)
        print_error("no case %s\n", id);
    assert_non_null(strstr((const char *)lines->bytes, want));
}

static void test_coverage(void **state)
{
    static const char *const rans[] = {"pair: run out and a count of 9, canonical",
                                       "pair: run out and not minimal, final_only",
                                       "pair: run out and out of range, canonical",
                                       "pair: a count of 15 and out of range, final_only",
                                       "pair: not minimal and out of range, canonical",
                                       "t2, strict, final_only: a stream",
                                       "t4097, lenient, canonical: a stream"};
    static const char *const mans[] = {"sgm: a zero tail, 9 bytes",
                                       "sgm: a bound of 128, 7 escapes",
                                       "sgm: a bound of 255, 4 escapes", "sgm: a stream of 3 bytes",
                                       "fac: rows of 7 symbols, each the escape"};
    (void)state;
    for (size_t i = 0; i < QP_STAGE_OPERATORS; i++) {
        bool is_rans = strcmp(qp_stage_files[i].op, "rans64_decode") == 0;
        bool is_mans = strcmp(qp_stage_files[i].op, "mans_decode") == 0;
        qp_buffer lines;
        write_file(&qp_stage_files[i], &lines);
        qp_buffer_append(&lines, "", 1);
        for (size_t k = 0; is_rans && k < TEST_COUNT(rans); k++)
            assert_case(&lines, rans[k]);
        for (size_t k = 0; is_mans && k < TEST_COUNT(mans); k++)
            assert_case(&lines, mans[k]);
        qp_buffer_free(&lines);
    }
}

/* ---- memory ------------------------------------------------------------------------------- */

/* The first request that fails is one of the first hundred, then one in a hundred. */
static void test_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < QP_STAGE_OPERATORS; i++)
        for (size_t k = 1;; k += k < 100 ? 1 : 97) {
            failing_allocator memory = failing_allocator_make(k);
            qp_allocator allocator = failing_allocator_use(&memory);
            qp_buffer lines;
            qp_buffer_init(&lines, &allocator);
            qp_status status = qp_stage_vectors(&qp_stage_files[i], &lines, &allocator, NULL);
            assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
            qp_buffer_free(&lines);
            assert_int_equal(memory.blocks, 0);
            assert_false(memory.has_fault);
            if (!memory.has_failed)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line_passes), cmocka_unit_test(test_differences),
        cmocka_unit_test(test_large_outputs),     cmocka_unit_test(test_changed_lines),
        cmocka_unit_test(test_coverage),          cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("stage_vectors", tests, NULL, NULL);
}
