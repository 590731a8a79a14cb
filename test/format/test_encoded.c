/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_encoded.c - the sizes, refusals and encoded tensors that test/data/ninfer lists.
 */
#include "base/json.h"
#include "format_test.h"

/* What an item says of its tensor; names that the registries lack give NULL. */
typedef struct geometry {
    const qp_format *format;
    const qp_storage_layout *layout;
    uint64_t shape[QP_SHAPE_RANK_MAX];
    uint32_t rank;
    uint64_t divisors;
} geometry;

static geometry geometry_of(qp_json_value item)
{
    geometry g = {.divisors = 1};
    qp_json_value value;
    char name[64];

    assert_true(qp_json_find(item, "format", &value));
    assert_int_equal(qp_json_copy_string(value, name, sizeof name, NULL), QP_OK);
    g.format = qp_format_find(name);
    assert_true(qp_json_find(item, "layout", &value));
    assert_int_equal(qp_json_copy_string(value, name, sizeof name, NULL), QP_OK);
    g.layout = qp_layout_find(name);
    assert_true(qp_json_find(item, "shape", &value));
    qp_json_iterator dimensions = qp_json_iterate(value);
    for (qp_json_value d; qp_json_next(&dimensions, &d); g.rank++)
        assert_int_equal(qp_json_get_u64(d, &g.shape[g.rank], NULL), QP_OK);
    if (qp_json_find(item, "divisors", &value))
        assert_int_equal(qp_json_get_u64(value, &g.divisors, NULL), QP_OK);
    return g;
}

static qp_status plan(const geometry *g, qp_matrix *matrix)
{
    return qp_matrix_plan(g->format, g->layout, g->shape, g->rank, g->divisors, matrix, NULL);
}

static void check_listed_size(qp_json_value item, bool is_refused)
{
    geometry g = geometry_of(item);
    qp_json_value value;
    uint64_t bytes = 0;
    qp_matrix matrix;

    if (is_refused) {
        assert_true(g.format == NULL || g.layout == NULL || plan(&g, &matrix) != QP_OK);
        return;
    }
    assert_true(qp_json_find(item, "bytes", &value));
    assert_int_equal(qp_json_get_u64(value, &bytes, NULL), QP_OK);
    assert_int_equal(plan(&g, &matrix), QP_OK);
    assert_true(matrix.bytes == bytes);
}

static void test_listed_sizes(void **state)
{
    qp_file index = format_open("ninfer", "index.json");
    qp_json json;
    qp_json_value list, item;
    (void)state;

    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, index.bytes, index.size, NULL), QP_OK);
    for (unsigned refused = 0; refused < 2; refused++) {
        size_t count = 0;
        assert_true(qp_json_find(qp_json_root(&json),
                                 refused ? "encoded_size_refusals" : "encoded_sizes", &list));
        qp_json_iterator iterator = qp_json_iterate(list);
        for (; qp_json_next(&iterator, &item); count++)
            check_listed_size(item, refused != 0);
        assert_true(count >= 10);
    }
    qp_json_free(&json);
    qp_file_close(&index);
}

/* ---- the encoded tensors of test/data/ninfer ---------------------------------------------- */

static qp_file named_file(qp_json_value object, const char *name)
{
    qp_json_value value, path;
    char text[256];
    assert_true(qp_json_find(object, name, &value));
    assert_true(qp_json_find(value, "file", &path));
    assert_int_equal(qp_json_copy_string(path, text, sizeof text, NULL), QP_OK);
    return format_open("ninfer", text);
}

/* Bytes unpack, hold valid words, decode as listed, and pack to the same bytes. */
static void check_encoded(qp_json_value item)
{
    qp_json_value value;
    qp_file encoded = named_file(item, "encoded");
    geometry g = geometry_of(item);
    qp_matrix matrix;
    assert_int_equal(plan(&g, &matrix), QP_OK);
    assert_int_equal(matrix.bytes, encoded.size);
    qp_rows rows = qp_rows_in(&matrix, encoded.bytes, 0, matrix.rows);
    qp_word_planes words = format_words(&matrix, matrix.rows);

    qp_rows_unpack(&matrix, &rows, &words);
    assert_int_equal(qp_words_check(&matrix, 0, matrix.rows, &words, NULL), QP_OK);
    assert_int_equal(qp_rows_check_padding(&matrix, &rows, NULL), QP_OK);
    uint8_t *packed = format_pack(&matrix, &words);
    assert_memory_equal(packed, encoded.bytes, encoded.size);
    if (qp_json_find(item, "decoded", &value)) {
        uint64_t count = matrix.rows * matrix.columns;
        qp_file decoded = named_file(item, "decoded");
        float *values = format_values(count);
        assert_int_equal(decoded.size, 4 * count);
        qp_words_decode(&matrix, 0, matrix.rows, &words, values);
        assert_true(format_equals_bytes(values, decoded.bytes, count));
        qp_rows_decode(&matrix, &rows, qp_cpu_features(), values);
        assert_true(format_equals_bytes(values, decoded.bytes, count));
        free(values);
        qp_file_close(&decoded);
    }
    free(packed);
    format_words_free(&words);
    qp_file_close(&encoded);
}

static void test_encoded_cases(void **state)
{
    qp_file index = format_open("ninfer", "index.json");
    qp_json json;
    qp_json_value cases, item, value;
    size_t count = 0;
    (void)state;

    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, index.bytes, index.size, NULL), QP_OK);
    assert_true(qp_json_find(qp_json_root(&json), "cases", &cases));
    qp_json_iterator iterator = qp_json_iterate(cases);
    while (qp_json_next(&iterator, &item)) {
        if (!qp_json_find(item, "encoded", &value))
            continue;
        check_encoded(item);
        count++;
    }
    assert_true(count > 60);
    qp_json_free(&json);
    qp_file_close(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed_sizes),
        cmocka_unit_test(test_encoded_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
