/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_imatrix.c - importance matrices in their three forms, and the mapping of parameters.
 */
#include "artifact/imatrix.h"

#include "../failing_allocator.h"
#include "support/convert_files.h"
#include "support/weight_files.h"

#include "number/minifloat.h"

/* ---- GGUF ------------------------------------------------------------------------------------ */

static qp_json_value imatrix_record(const fixture_index *index)
{
    qp_json_value files, record, file;
    assert_true(qp_json_find(index->root, "gguf_files", &files));
    qp_json_iterator iterator = qp_json_iterate(files);
    while (qp_json_next(&iterator, &record)) {
        if (qp_json_find(record, "file", &file) && qp_json_equals(file, "a-imatrix.gguf"))
            return record;
    }
    fail();
    return record;
}

static void assert_vector(qp_imatrix *imatrix, qp_json_value config, const char *name,
                          const char *hex)
{
    qp_importance found;
    assert_int_equal(qp_imatrix_find(imatrix, config, name, &found, NULL), QP_OK);
    assert_non_null(found.values);
    assert_int_equal(found.count * 8, strlen(hex));
    for (uint64_t i = 0; i < found.count; i++) {
        uint32_t word = 0;
        for (unsigned b = 0; b < 4; b++) {
            unsigned byte;
            assert_int_equal(sscanf(hex + 8 * i + 2 * b, "%2x", &byte), 1);
            word |= (uint32_t)byte << 8 * b;
        }
        assert_int_equal(qp_bits_of_float(found.values[i]), word);
    }
}

/* All vectors that the fixture expects, reordered heads among them. */
static void test_fixture(void **state)
{
    (void)state;
    fixture_index index;
    qp_imatrix *imatrix;
    qp_importance none;
    qp_json_value config, vectors, name, value;
    fixture_index_open(&index, "ggml");
    qp_json_value record = imatrix_record(&index);
    assert_true(qp_json_find(record, "config", &config));
    assert_true(qp_json_find(record, "expected_vectors_hex_f32le", &vectors));
    assert_int_equal(qp_imatrix_open(QP_TEST_DATA "/ggml/a-imatrix.gguf", NULL, &imatrix, NULL),
                     QP_OK);
    qp_json_iterator iterator = qp_json_iterate(vectors);
    size_t count = 0;
    while (qp_json_next_member(&iterator, &name, &value)) {
        char parameter[64], hex[4096];
        assert_int_equal(qp_json_copy_string(name, parameter, sizeof parameter, NULL), QP_OK);
        assert_int_equal(qp_json_copy_string(value, hex, sizeof hex, NULL), QP_OK);
        assert_vector(imatrix, config, parameter, hex);
        count++;
    }
    assert_true(count >= 15);

    /* the wrong kind of layer, names that are near, layers that are not there */
    static const char *const absent[] = {"text/layers/0/attention/query",
                                         "text/layers/1/gdn/query",
                                         "text/layers/9/mlp/up",
                                         "text/layers/x/mlp/up",
                                         "text/layers/0/mlp/up/extra",
                                         "text/layers/0",
                                         "text/layers/",
                                         "text/layers/0/mlp",
                                         "",
                                         "text/layers/99999999999999999999/mlp/up"};
    for (size_t i = 0; i < TEST_COUNT(absent); i++) {
        assert_int_equal(qp_imatrix_find(imatrix, config, absent[i], &none, NULL), QP_OK);
        assert_null(none.values);
    }
    /* by the tensor's own name, as a GGUF source has it */
    assert_int_equal(qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, "blk.0.ffn_up.weight", &none, NULL),
                     QP_OK);
    assert_non_null(none.values);
    /* without the configuration the heads cannot be put in order */
    assert_int_equal(
        qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, "text/layers/0/gdn/output", &none, NULL),
        QP_MALFORMED);
    qp_imatrix_close(imatrix);
    fixture_index_close(&index);
}

/* ---- safetensors ----------------------------------------------------------------------------- */

static void test_safetensors(void **state)
{
    (void)state;
    static const float values[] = {0.5f, 0, 3};
    qp_imatrix *imatrix;
    qp_importance found;
    tensor_file file;
    qp_buffer bytes;
    folder_make("test_imatrix_st");
    qp_buffer_init(&bytes, NULL);
    for (size_t i = 0; i < 3; i++)
        qp_buffer_le(&bytes, qp_bits_of_float(values[i]), 4);
    tensor_file_init(&file);
    tensor_file_add(&file, "text/layers/0/mlp/up", "F32", "[3]", bytes.bytes, 12);
    tensor_file_add(&file, "other", "BF16", "[2]", bytes.bytes, 4);
    qp_buffer_free(&bytes);
    tensor_file_write(&file, "\"source\":\"x\"", in_folder("i.safetensors"));
    assert_int_equal(qp_imatrix_open(in_folder("i.safetensors"), NULL, &imatrix, NULL), QP_OK);
    assert_int_equal(
        qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, "text/layers/0/mlp/up", &found, NULL), QP_OK);
    assert_int_equal(found.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(found.values[i] == values[i]);
    assert_int_equal(qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, "other", &found, NULL),
                     QP_MALFORMED);
    assert_int_equal(qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, "none", &found, NULL), QP_OK);
    assert_null(found.values);
    qp_imatrix_close(imatrix);
    folder_remove();
}

/* ---- the older form -------------------------------------------------------------------------- */

static void put_entry(qp_buffer *out, const char *name, uint32_t calls, const float *sums,
                      uint32_t count)
{
    qp_buffer_le(out, strlen(name), 4);
    qp_buffer_text(out, name);
    qp_buffer_le(out, calls, 4);
    qp_buffer_le(out, count, 4);
    for (uint32_t i = 0; i < count; i++)
        qp_buffer_le(out, qp_bits_of_float(sums[i]), 4);
}

static void build_older(qp_buffer *out, bool with_end)
{
    static const float one[] = {3, 10, 0.1f}, two[] = {7};
    qp_buffer_init(out, NULL);
    qp_buffer_le(out, 2, 4);
    put_entry(out, "blk.0.ffn_up.weight", 3, one, 3);
    put_entry(out, "b", 0, two, 1);
    if (!with_end)
        return;
    qp_buffer_le(out, 5, 4);
    qp_buffer_le(out, 4, 4);
    qp_buffer_text(out, "data");
}

static qp_status open_older(const qp_buffer *bytes, size_t size, qp_imatrix **imatrix,
                            qp_error *error)
{
    return qp_imatrix_open_bytes("i.dat", bytes->bytes, size, NULL, imatrix, error);
}

static void test_older_form(void **state)
{
    (void)state;
    for (int with_end = 0; with_end < 2; with_end++) {
        qp_buffer bytes;
        qp_imatrix *imatrix;
        qp_importance found;
        build_older(&bytes, with_end != 0);
        assert_int_equal(open_older(&bytes, bytes.size, &imatrix, NULL), QP_OK);
        assert_int_equal(
            qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, "text/layers/0/mlp/up", &found, NULL),
            QP_OK);
        assert_int_equal(found.count, 3);
        assert_true(found.values[0] == 1.0f);
        assert_true(found.values[1] == 10.0f / 3.0f);
        assert_true(found.values[2] == 0.1f / 3.0f);
        assert_int_equal(qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, "b", &found, NULL), QP_OK);
        assert_true(found.values[0] == 7.0f); /* no call counts as one */
        qp_imatrix_close(imatrix);
        qp_buffer_free(&bytes);
    }
}

static void test_older_form_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } changes[] = {{0, 0},  {0, 3},           {0, 1u << 30},   {0, 0xFFFFFFFFu},
                   {4, 0},  {4, 0x7FFFFFFF},  {4, 0xFFFFFFFF}, {27, 0x80000000},
                   {31, 0}, {31, 0x7FFFFFFF}, {31, 0xFFFFFFFF}};
    qp_buffer bytes;
    qp_imatrix *imatrix;
    qp_error error;
    build_older(&bytes, true);
    for (size_t size = 0; size < bytes.size; size++) {
        qp_status status = open_older(&bytes, size, &imatrix, &error);
        bool is_whole = size == bytes.size - 12 || size == bytes.size - 8; /* the end is optional */
        assert_int_equal(status, is_whole ? QP_OK : QP_MALFORMED);
        if (!is_whole)
            assert_true(error.offset >= 0 && (size_t)error.offset <= size);
        qp_imatrix_close(imatrix);
    }
    for (size_t i = 0; i < TEST_COUNT(changes); i++) {
        qp_buffer copy;
        build_older(&copy, true);
        for (unsigned b = 0; b < 4; b++)
            copy.bytes[changes[i].at + b] = (uint8_t)(changes[i].value >> 8 * b);
        assert_int_equal(open_older(&copy, copy.size, &imatrix, NULL), QP_MALFORMED);
        assert_null(imatrix);
        qp_buffer_free(&copy);
    }
    bytes.bytes[8] = 0; /* in a name */
    assert_int_equal(open_older(&bytes, bytes.size, &imatrix, NULL), QP_MALFORMED);
    qp_buffer_free(&bytes);

    static const float sum = 1;
    qp_buffer_init(&bytes, NULL);
    qp_buffer_le(&bytes, 2, 4);
    put_entry(&bytes, "a", 1, &sum, 1);
    put_entry(&bytes, "a", 1, &sum, 1);
    assert_int_equal(open_older(&bytes, bytes.size, &imatrix, NULL), QP_MALFORMED);
    qp_buffer_free(&bytes);
}

static void test_other_files(void **state)
{
    (void)state;
    qp_imatrix *imatrix;
    assert_int_equal(qp_imatrix_open("no/such/file", NULL, &imatrix, NULL), QP_IO);
    assert_int_equal(qp_imatrix_open(QP_TEST_DATA "/ninfer/a-single.ninfer", NULL, &imatrix, NULL),
                     QP_MALFORMED);
    assert_int_equal(
        qp_imatrix_open(QP_TEST_DATA "/weights/stories260k-q4_0.gguf", NULL, &imatrix, NULL),
        QP_MODEL_MISMATCH); /* a model */
    assert_int_equal(qp_imatrix_open(QP_TEST_DATA "/ggml/a-bad-dups.gguf", NULL, &imatrix, NULL),
                     QP_MALFORMED);
    assert_null(imatrix);
}

static void test_without_memory(void **state)
{
    (void)state;
    qp_buffer bytes;
    build_older(&bytes, true);
    qp_file gguf = whole_file(QP_TEST_DATA "/ggml/a-imatrix.gguf");
    const struct {
        const char *name;
        const uint8_t *bytes;
        size_t size;
        const char *parameter;
    } cases[] = {{"i.dat", bytes.bytes, bytes.size, "text/layers/0/mlp/up"},
                 {"i.gguf", gguf.bytes, gguf.size, "text/layers/0/mlp/up"}};
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        for (size_t k = 1;; k++) {
            failing_allocator memory = failing_allocator_make(k);
            qp_allocator allocator = failing_allocator_use(&memory);
            qp_imatrix *imatrix;
            qp_importance found;
            qp_status status = qp_imatrix_open_bytes(cases[i].name, cases[i].bytes, cases[i].size,
                                                     &allocator, &imatrix, NULL);
            if (status == QP_OK)
                status =
                    qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, cases[i].parameter, &found, NULL);
            qp_imatrix_close(imatrix);
            assert_int_equal(memory.blocks, 0);
            if (!memory.has_failed)
                break;
            assert_int_equal(status, QP_NO_MEMORY);
        }
    }
    qp_file_close(&gguf);
    qp_buffer_free(&bytes);
}

/* ---- in a conversion ------------------------------------------------------------------------- */

static void write_importance(const char *path, const char *const *names, size_t count,
                             const char *shape, size_t elements, uint64_t seed)
{
    tensor_file file;
    tensor_file_init(&file);
    for (size_t n = 0; n < count; n++) {
        qp_buffer bytes;
        qp_buffer_init(&bytes, NULL);
        for (size_t i = 0; i < elements; i++)
            qp_buffer_le(&bytes, qp_bits_of_float((float)test_below(&seed, 1000) / 16.0f), 4);
        tensor_file_add(&file, names[n], "F32", shape, bytes.bytes, bytes.size);
        qp_buffer_free(&bytes);
    }
    tensor_file_write(&file, NULL, path);
}

/* With importance the default of grouped formats is the search, whose words differ. */
static void test_conversion(void **state)
{
    (void)state;
    static const char *const names[] = {"q", "k"};
    tensor_file file;
    qp_error error;
    char path[256];
    folder_make("test_imatrix_convert");
    snprintf(path, sizeof path, "%s", in_folder("i.safetensors"));
    tensor_file_init(&file);
    tensor_file_random(&file, "q", "F32", "[4,128]", 512, 1);
    tensor_file_random(&file, "k", "F32", "[2,128]", 256, 2);
    tensor_file_random(&file, "v", "F32", "[2,128]", 256, 3);
    tensor_file_write(&file, NULL, in_folder("s.safetensors"));
    write_importance(path, names, 2, "[128]", 128, 7);
    qp_convert_options options = {.preset = "q4_g64_fp16", .imatrix = path};
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("a.ninfer"), &options, &error), QP_OK);
    convert(in_folder("s.safetensors"), in_folder("b.ninfer"), "q4_g64_fp16");
    assert_string_not_equal(digest_of(in_folder("a.ninfer")), digest_of(in_folder("b.ninfer")));
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_true(qp_json_equals(member_at(root, "provenance>method>#0>method"), "grouped_search"));
    assert_true(
        qp_json_equals(member_at(root, "provenance>method>#0>imatrix>path"), "i.safetensors"));
    assert_int_equal(qp_json_count(member_at(root, "provenance>method")), 2); /* v has none */

    /* a group takes the average of those that the file has */
    options.recipe = "[{\"group\": [\"q\", \"v\", \"k\"]}]";
    options.recipe_size = strlen(options.recipe);
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("c.ninfer"), &options, &error), QP_OK);

    write_importance(path, names, 2, "[64]", 64, 7);
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("d.ninfer"), &options, &error),
        QP_GEOMETRY_MISMATCH);
    assert_string_equal(error.check, "importance_length");
    folder_remove();
}

static void test_invalid_importance(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0xBF800000u, 0x7F800000u, 0x7FC00000u};
    char path[256];
    folder_make("test_imatrix_invalid");
    snprintf(path, sizeof path, "%s", in_folder("i.safetensors"));
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        tensor_file file;
        qp_buffer bytes;
        qp_error error;
        qp_buffer_init(&bytes, NULL);
        for (size_t k = 0; k < 64; k++)
            qp_buffer_le(&bytes, k == 9 ? wrong[i] : 0, 4);
        tensor_file_init(&file);
        tensor_file_add(&file, "w", "F32", "[64]", bytes.bytes, bytes.size);
        tensor_file_write(&file, NULL, path);
        qp_buffer_free(&bytes);
        tensor_file_init(&file);
        tensor_file_random(&file, "w", "F32", "[2,64]", 128, 1);
        tensor_file_write(&file, NULL, in_folder("s.safetensors"));
        qp_convert_options options = {.preset = "q4_g64_fp16", .imatrix = path};
        assert_int_equal(
            convert_with(in_folder("s.safetensors"), in_folder("a.ninfer"), &options, &error),
            QP_FIELD_RANGE);
        assert_string_equal(error.check, "importance_invalid");
        assert_int_equal(error.column, 9);
    }
    folder_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixture),     cmocka_unit_test(test_safetensors),
        cmocka_unit_test(test_older_form),  cmocka_unit_test(test_older_form_refused),
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_conversion),  cmocka_unit_test(test_invalid_importance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
