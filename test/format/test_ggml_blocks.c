/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ggml_blocks.c - the eighteen block types against ggml's own decoding, bit for bit: the cases
 * of test/data/ggml and the real weights of test/data/gguf-vectors; and the tables that the build
 * made, against ggml-blocks.md section 4.
 */
#include "base/json.h"
#include "format/ggml_blocks.h"
#include "format_test.h"

/* Stored bytes must decode to these values on every path that this machine has. */
static void check_decoding(const qp_matrix *matrix, const uint8_t *bytes, const uint8_t *expected)
{
    uint64_t count = matrix->rows * matrix->columns;
    qp_rows rows = qp_rows_in(matrix, bytes, 0, matrix->rows);
    qp_word_planes words = format_words(matrix, matrix->rows);
    float *values = format_values(count);

    qp_rows_decode_ref(matrix, &rows, values);
    assert_true(format_equals_bytes(values, expected, count));
    memset(values, 0xAA, (size_t)count * sizeof *values);
    qp_rows_decode(matrix, &rows, 0, values);
    assert_true(format_equals_bytes(values, expected, count));
    memset(values, 0xAA, (size_t)count * sizeof *values);
    qp_rows_decode(matrix, &rows, qp_cpu_features(), values);
    assert_true(format_equals_bytes(values, expected, count));

    qp_rows_unpack(matrix, &rows, &words);
    assert_memory_equal(words.codes, bytes, matrix->bytes);
    assert_int_equal(qp_words_check(matrix, 0, matrix->rows, &words, NULL), QP_OK);
    memset(values, 0xAA, (size_t)count * sizeof *values);
    qp_words_decode(matrix, 0, matrix->rows, &words, values);
    assert_true(format_equals_bytes(values, expected, count));
    format_words_free(&words);
    free(values);
}

static void member(qp_json_value object, const char *name, qp_json_value *value)
{
    assert_int_equal(qp_json_member(object, name, QP_JSON_ABSENT, value, NULL), QP_OK);
}

static qp_file member_file(qp_json_value object, const char *name)
{
    qp_json_value value, path;
    char text[256];
    member(object, name, &value);
    member(value, "file", &path);
    assert_int_equal(qp_json_copy_string(path, text, sizeof text, NULL), QP_OK);
    return format_open("ggml", text);
}

static void check_case(qp_json_value item)
{
    qp_json_value value;
    char format[64];
    int64_t shape[2];

    member(item, "format", &value);
    assert_int_equal(qp_json_copy_string(value, format, sizeof format, NULL), QP_OK);
    member(item, "shape", &value);
    assert_int_equal(qp_json_get_i64_array(value, shape, 2, NULL), QP_OK);
    qp_file encoded = member_file(item, "encoded"), decoded = member_file(item, "decoded");
    qp_matrix matrix = format_plan_two(format, (uint64_t)shape[0], (uint64_t)shape[1]);
    assert_int_equal(matrix.bytes, encoded.size);
    assert_int_equal(matrix.rows * matrix.columns * 4, decoded.size);
    check_decoding(&matrix, encoded.bytes, decoded.bytes);
    qp_file_close(&encoded);
    qp_file_close(&decoded);
}

static void test_index(void **state)
{
    qp_file index = format_open("ggml", "index.json");
    qp_json json;
    qp_json_value cases, item;
    size_t count = 0;
    (void)state;

    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, index.bytes, index.size, NULL), QP_OK);
    member(qp_json_root(&json), "cases", &cases);
    qp_json_iterator iterator = qp_json_iterate(cases);
    while (qp_json_next(&iterator, &item)) {
        check_case(item);
        count++;
    }
    assert_int_equal(count, 61);
    qp_json_free(&json);
    qp_file_close(&index);
}

/* The files have ggml's own capitals: q4_K. */
static void vector_name(const qp_format *format, const char *extension, char *name, size_t size)
{
    snprintf(name, size, "%s.%s", format->name + 5, extension);
    if (name[0] == 'q' && name[3] == 'k')
        name[3] = 'K';
}

static void test_real_weights(void **state)
{
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < qp_format_count(); i++) {
        const qp_format *format = qp_format_at(i);
        char name[32];
        if (format->family != QP_FAMILY_GGUF)
            continue;
        vector_name(format, "blocks", name, sizeof name);
        qp_file blocks = format_open("gguf-vectors", name);
        vector_name(format, "f32", name, sizeof name);
        qp_file values = format_open("gguf-vectors", name);
        qp_matrix matrix = format_plan_two(format->name, 16, 256);
        assert_int_equal(matrix.bytes, blocks.size);
        assert_int_equal(values.size, 16 * 256 * 4);
        check_decoding(&matrix, blocks.bytes, values.bytes);
        qp_file_close(&blocks);
        qp_file_close(&values);
        count++;
    }
    assert_int_equal(count, 18);
}

/* ---- tables ------------------------------------------------------------------------------- */

/* Entries are distinct, and their coordinates are among `values`, each of which is used. */
static void check_grid(const void *grid, size_t entries, size_t dims, const char *values)
{
    const uint8_t *bytes = grid;
    size_t n_values = strlen(values);
    bool used[16] = {false};

    for (size_t i = 0; i < entries * dims; i++) {
        const char *found = memchr(values, bytes[i], n_values);
        assert_non_null(found);
        used[found - values] = true;
    }
    for (size_t v = 0; v < n_values; v++)
        assert_true(used[v]);
    for (size_t a = 0; a < entries; a++)
        for (size_t b = a + 1; b < entries; b++)
            assert_int_not_equal(memcmp(bytes + a * dims, bytes + b * dims, dims), 0);
}

static void test_grids(void **state)
{
    (void)state;
    check_grid(qp_iq2xxs_grid, 256, 8, "\x08\x19\x2b");
    check_grid(qp_iq2xs_grid, 512, 8, "\x08\x19\x2b");
    check_grid(qp_iq2s_grid, 1024, 8, "\x08\x19\x2b");
    check_grid(qp_iq3xxs_grid, 256, 4, "\x04\x0c\x14\x1c\x24\x2c\x34\x3e");
    check_grid(qp_iq3s_grid, 512, 4, "\x01\x03\x05\x07\x09\x0b\x0d\x0f");
    for (size_t i = 0; i < 2048; i++)
        for (size_t j = 0; j < 8; j++)
            assert_in_range(qp_iq1s_grid[i][j] + 1, 0, 2);
    for (unsigned n = 0; n < 128; n++) { /* bit 7 makes the number of ones even */
        assert_int_equal(qp_ksigns_iq2xs[n] & 127, n);
        assert_int_equal(__builtin_popcount(qp_ksigns_iq2xs[n]) % 2, 0);
    }
    assert_int_equal(qp_kvalues_iq4nl[0], -127);
    assert_int_equal(qp_kvalues_iq4nl[15], 113);
    for (unsigned n = 1; n < 16; n++)
        assert_true(qp_kvalues_iq4nl[n - 1] < qp_kvalues_iq4nl[n]);
    assert_true(qp_iq1_delta == 0.125f);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* d = -2 and a zero code give -0 only where the text multiplies the zero by d. */
static void test_zero_signs(void **state)
{
    uint8_t block[84] = {0};
    float y[256];
    (void)state;

    block[1] = 0xC0; /* d = -2 */
    memset(block + 2, 0x88, 16);
    qp_ggml_decode_q4_0(block, y);
    assert_int_equal(qp_bits_of_float(y[0]), 0x80000000u);

    memset(block, 0, sizeof block); /* q2_k: d = -2, dmin = 0: (-2 * 0) * 0 - 0 = -0 */
    block[81] = 0xC0;
    qp_ggml_decode_q2_k(block, y);
    assert_int_equal(qp_bits_of_float(y[0]), 0x80000000u);
    block[83] = 0x80; /* dmin = -0: -0 - (-0 * 0) = -0 - (-0) = 0 */
    qp_ggml_decode_q2_k(block, y);
    assert_int_equal(qp_bits_of_float(y[0]), 0);
}

/* IQ1_M has no d: its four nibbles lie in the tops of the scale words, lowest first. */
static void test_iq1_m_scale(void **state)
{
    uint8_t block[56] = {0};
    float y[256];
    (void)state;

    block[49] = 0x0F, block[51] = 0x0F, block[53] = 0x0F, block[55] = 0x0F;
    assert_int_equal(qp_ggml_iq1_m_scale(block), 0);
    block[49] = 0x10, block[51] = 0x20, block[53] = 0xC0, block[55] = 0x30;
    assert_int_equal(qp_ggml_iq1_m_scale(block), 0x3C21);
    block[49] = 0, block[51] = 0; /* 1.0 */
    qp_ggml_decode_iq1_m(block, y);
    for (unsigned j = 0; j < 8; j++)
        assert_true(y[j] == (float)qp_iq1s_grid[0][j] + 0.125f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),       cmocka_unit_test(test_real_weights),
        cmocka_unit_test(test_grids),       cmocka_unit_test(test_zero_signs),
        cmocka_unit_test(test_iq1_m_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
