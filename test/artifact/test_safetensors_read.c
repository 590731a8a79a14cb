/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_safetensors_read.c - safetensors files and indices of shards: the fixtures, every check of
 * ggml-blocks.md section 7, and hostile files.
 */
#include "support/weight_files.h"

#include "../failing_allocator.h"

/* ---- fixtures ------------------------------------------------------------------------------- */

static void test_fixtures(void **state)
{
    fixture_index index;
    qp_json_value files, record;
    size_t count = 0;
    (void)state;

    fixture_index_open(&index, "ggml");
    assert_true(qp_json_find(index.root, "safetensors_files", &files));
    qp_json_iterator iterator = qp_json_iterate(files);
    for (; qp_json_next(&iterator, &record); count++) {
        char path[512];
        qp_artifact *artifact;
        qp_error error;
        snprintf(path, sizeof path, QP_TEST_DATA "/ggml/%s", fixture_text(record, "file", 0));
        qp_status status = qp_artifact_open(path, NULL, &artifact, &error);
        bool ok = strcmp(fixture_text(record, "expect", 0), "ok") == 0;
        assert_int_equal(status, ok ? QP_OK : QP_MALFORMED);
        if (!ok) {
            assert_int_equal(strncmp(error.check, "S-", 2), 0);
            assert_true(error.offset >= 0);
        }
        qp_artifact_close(artifact);
    }
    assert_int_equal(count, 8);
    fixture_index_close(&index);
}

static void test_refusals_of_fixtures(void **state)
{
    static const struct {
        const char *name;
        const char *check;
    } cases[] = {
        {"a-bad-hole.safetensors", "S-SPAN"},    {"a-bad-overlap.safetensors", "S-SPAN"},
        {"a-bad-size.safetensors", "S-SIZE"},    {"a-bad-dtype.safetensors", "S-DTYPE"},
        {"a-bad-trailing.safetensors", "S-END"}, {"a-bad-len.safetensors", "S-LENGTH"},
        {"a-bad-7bytes.safetensors", "S-SHORT"},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_file file = fixture_open_path(QP_TEST_DATA "/ggml", cases[i].name);
        assert_open_refused(cases[i].name, file.bytes, file.size, cases[i].check);
        qp_file_close(&file);
    }
}

/* The good fixture: in the order of the bytes, whatever the header's. */
static void test_good_fixture(void **state)
{
    static const struct {
        const char *name, *type, *format;
        uint32_t rank;
        uint64_t bytes;
    } expected[] = {{"a", "F32", "fp32", 1, 16},
                    {"b", "BF16", "bf16", 2, 12},
                    {"s", "F32", "fp32", 0, 4},
                    {"e", "U8", NULL, 2, 0},
                    {"q", "F8_E4M3", NULL, 1, 3}};
    qp_file file = fixture_open("ggml", "a-good.safetensors");
    qp_artifact *artifact = open_bytes("m", file.bytes, file.size);
    uint64_t at = file.size - 35;
    size_t count;
    (void)state;

    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(tensors[i].name, expected[i].name);
        assert_string_equal(tensors[i].type, expected[i].type);
        assert_string_equal(tensors[i].element->name, expected[i].type);
        assert_true((tensors[i].format != NULL) == (expected[i].format != NULL));
        assert_int_equal(tensors[i].rank, expected[i].rank);
        assert_int_equal(tensors[i].bytes, expected[i].bytes);
        assert_int_equal(tensors[i].offset, at);
        at += tensors[i].bytes;
    }
    const qp_artifact_metadatum *format = qp_artifact_metadata_find(artifact, "format");
    assert_int_equal(format->type, QP_META_STRING);
    assert_memory_equal(format->value, "pt", 2);
    assert_int_equal(format->size, 2);
    size_t size;
    assert_ptr_equal(qp_artifact_directory(artifact, &size), file.bytes + 8);
    assert_string_equal(qp_artifact_version(artifact), "");
    assert_int_equal(qp_artifact_alignment(artifact), 1);
    qp_artifact_close(artifact);
    qp_file_close(&file);
}

static void test_truncation(void **state)
{
    qp_file file = fixture_open("ggml", "a-good.safetensors");
    (void)state;
    assert_prefixes_refused("m.safetensors", file.bytes, file.size, file.size);
    qp_file_close(&file);
}

/* ---- checks --------------------------------------------------------------------------------- */

#define T(dtype, shape, offsets)                                                                   \
    "{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define ONE(dtype, shape, offsets) "{\"t\":" T("\"" dtype "\"", shape, offsets) "}"

typedef struct check_case {
    const char *header;
    size_t data;
    const char *check; /* NULL: accepted */
} check_case;

static const check_case cases[] = {
    {"{}", 0, NULL},
    {"{}   ", 0, NULL},
    {"{}", 1, "S-END"},
    {"", 0, "S-JSON"},
    {" {}", 0, "S-JSON"},
    {"\xef\xbb\xbf{}", 0, "S-JSON"},
    {"[]", 0, "S-JSON"},
    {"{", 0, "S-JSON"},
    {"{}x", 0, "S-JSON"},
    {"{\"\xff\":1}", 0, "S-JSON"},
    {"{\"\\ud800\":1}", 0, "S-JSON"},
    {ONE("U8", "[3]", "[0,3]"), 3, NULL},
    {ONE("U8", "[3]", "[0,3]") "\n\t ", 3, NULL},
    {ONE("U8", "[3]", "[0,3]"), 2, "S-END"},
    {ONE("U8", "[3]", "[0,3]"), 4, "S-END"},
    {ONE("U8", "[3]", "[1,4]"), 4, "S-SPAN"},
    {ONE("U8", "[3]", "[0,2]"), 2, "S-SIZE"},
    {ONE("U8", "[3]", "[3,0]"), 3, "S-OFFSETS"},
    {ONE("U8", "[3]", "[0]"), 3, "S-OFFSETS"},
    {ONE("U8", "[3]", "[0,3,3]"), 3, "S-OFFSETS"},
    {ONE("U8", "[3]", "[0,3.0]"), 3, "S-OFFSETS"},
    {ONE("U8", "[3]", "[-1,2]"), 3, "S-OFFSETS"},
    {ONE("U8", "[3]", "[0,true]"), 3, "S-OFFSETS"},
    {ONE("U8", "[3]", "null"), 3, "S-FORM"},
    {ONE("U8", "3", "[0,3]"), 3, "S-FORM"},
    {ONE("U8", "[-3]", "[0,3]"), 3, "S-SHAPE"},
    {ONE("U8", "[3e0]", "[0,3]"), 3, "S-SHAPE"},
    {ONE("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3]", "[0,3]"), 3, NULL},
    {ONE("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3]", "[0,3]"), 3, "S-SHAPE"},
    {ONE("U8", "[4294967296,4294967296]", "[0,0]"), 0, "S-SHAPE"}, /* the product wraps to 0 */
    {ONE("U8", "[4294967296,4294967296,0]", "[0,0]"), 0, "S-SHAPE"},
    {ONE("U8", "[0,4294967296,4294967296]", "[0,0]"), 0, NULL},
    {ONE("F64", "[288230376151711744]", "[0,0]"), 0, "S-SHAPE"}, /* 2^58 of 64 bits */
    {ONE("U8", "[]", "[0,1]"), 1, NULL},
    {ONE("U8", "[0]", "[0,0]"), 0, NULL},
    {ONE("F4", "[4]", "[0,2]"), 2, NULL},
    {ONE("F4", "[3]", "[0,2]"), 2, "S-SIZE"},
    {ONE("F6_E2M3", "[4]", "[0,3]"), 3, NULL},
    {ONE("F6_E3M2", "[2]", "[0,2]"), 2, "S-SIZE"},
    {ONE("f32", "[]", "[0,4]"), 4, "S-DTYPE"},
    {ONE("U128", "[1]", "[0,18446744073709551615]"), 4, "S-DTYPE"},
    {"{\"t\":" T("7", "[]", "[0,1]") "}", 1, "S-FORM"},
    {"{\"t\":7}", 0, "S-FORM"},
    {"{\"t\":{}}", 0, "S-FORM"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"x\":1}}", 1, "S-FORM"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[],\"shape\":[],\"data_offsets\":[0,1]}}", 1, "S-DUPNAME"},
    {"{\"t\":" T("\"U8\"", "[]", "[0,1]") ",\"\\u0074\":" T("\"U8\"", "[]", "[5,9]") "}", 1,
     "S-DUPNAME"},
    {"{\"a\\u0000b\":" T("\"U8\"", "[]", "[0,1]") "}", 1, "S-NAME"},
    {"{\"\":" T("\"U8\"", "[]", "[0,1]") "}", 1, NULL},
    {"{\"__metadata__\":{}}", 0, NULL},
    {"{\"__metadata__\":[]}", 0, "S-META"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "S-META"},
    {"{\"__metadata__\":{\"a\":\"\"}}", 0, NULL},
    {"{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, "S-DUPNAME"},
    /* empty ones share a place with their neighbours */
    {"{\"b\":" T("\"U8\"", "[2]", "[1,3]") ",\"e\":" T("\"U8\"", "[0]", "[1,1]") ",\"a\":" T(
         "\"U8\"", "[1]", "[0,1]") ",\"f\":" T("\"U8\"", "[0]", "[3,3]") "}",
     3, NULL},
    {"{\"a\":" T("\"U8\"", "[2]", "[0,2]") ",\"e\":" T("\"U8\"", "[0]", "[1,1]") "}", 2, "S-SPAN"},
    {"{\"a\":" T("\"U8\"", "[2]", "[0,2]") ",\"b\":" T("\"U8\"", "[2]", "[0,2]") "}", 4, "S-SPAN"},
};

static void test_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_buffer file;
        build_safetensors(&file, cases[i].header, cases[i].data);
        if (cases[i].check != NULL)
            assert_open_refused("m.safetensors", file.bytes, file.size, cases[i].check);
        else
            qp_artifact_close(open_bytes("m.safetensors", file.bytes, file.size));
        qp_buffer_free(&file);
    }
}

static void test_lengths(void **state)
{
    static const uint64_t lengths[] = {3, 100000000, 100000001, UINT64_MAX, UINT64_MAX - 7};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        qp_buffer file;
        qp_buffer_init(&file, NULL);
        qp_buffer_le(&file, lengths[i], 8);
        qp_buffer_text(&file, "{}");
        assert_open_refused_at("m.safetensors", file.bytes, file.size, "S-LENGTH", 0);
        qp_buffer_free(&file);
    }
}

/* Escapes in names and values; the place of a refusal is an offset in the file. */
static void test_strings(void **state)
{
    static const char header[] = "{\"__metadata__\":{\"k\\u00e9\":\"a\\nb\\u0000\"},\"n\\\"\":" T(
        "\"U8\"", "[1]", "[0,1]") "}";
    static const char wrong[] = "{\"t\":" T("\"XX\"", "[1]", "[0,1]") "}";
    qp_buffer file;
    (void)state;

    build_safetensors(&file, header, 1);
    qp_artifact *artifact = open_bytes("m", file.bytes, file.size);
    const qp_artifact_metadatum *entry = qp_artifact_metadata_find(artifact, "k\xc3\xa9");
    assert_non_null(entry);
    assert_int_equal(entry->size, 4);
    assert_memory_equal(entry->value, "a\nb\0", 4);
    assert_non_null(qp_artifact_find(artifact, "n\""));
    assert_null(qp_artifact_find(artifact, "n"));
    qp_artifact_close(artifact);
    qp_buffer_free(&file);

    build_safetensors(&file, wrong, 1);
    assert_open_refused_at("m", file.bytes, file.size, "S-DTYPE",
                           8 + (int64_t)(strstr(wrong, "\"XX\"") - wrong));
    qp_buffer_free(&file);
}

/* ---- shards --------------------------------------------------------------------------------- */

static const char index_path[] = "test_shards.safetensors.index.json";
static const char shard_a[] = "test_shards-1.safetensors", shard_b[] = "test_shards-2.safetensors";

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void write_shard(const char *path, const char *header, size_t data)
{
    qp_buffer file;
    build_safetensors(&file, header, data);
    write_bytes(path, file.bytes, file.size);
    qp_buffer_free(&file);
}

static void write_shards(void)
{
    write_shard(shard_a,
                "{\"__metadata__\":{\"format\":\"pt\"},\"one\":" T("\"U8\"", "[2]", "[0,2]") "}",
                2);
    write_shard(shard_b,
                "{\"__metadata__\":{\"format\":\"tf\",\"more\":\"x\"},\"two\":" T(
                    "\"U8\"", "[3]", "[1,4]") ",\"extra\":" T("\"U8\"", "[1]", "[0,1]") "}",
                4);
}

static int remove_shards(void **state)
{
    (void)state;
    remove(index_path);
    remove(shard_a);
    remove(shard_b);
    return 0;
}

#define MAP(members) "{\"metadata\":{\"total_size\":6,\"from\":[1]},\"weight_map\":{" members "}}"
#define TWO "\"two\":\"test_shards-2.safetensors\""
#define ONE_OF_A "\"one\":\"test_shards-1.safetensors\""

static void test_index(void **state)
{
    qp_artifact *artifact;
    size_t count;
    (void)state;

    write_shards();
    write_bytes(index_path, MAP(TWO "," ONE_OF_A), strlen(MAP(TWO "," ONE_OF_A)));
    assert_int_equal(qp_artifact_open(index_path, NULL, &artifact, NULL), QP_OK);
    assert_string_equal(qp_artifact_kind_of(artifact)->name, "safetensors");
    assert_int_equal(qp_artifact_file_count(artifact), 3);
    assert_string_equal(qp_artifact_file_name(artifact, 0), index_path);
    assert_string_equal(qp_artifact_file_name(artifact, 1), shard_b);
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    assert_int_equal(count, 2); /* the one that the map does not name is left out */
    assert_string_equal(tensors[0].name, "two");
    assert_int_equal(tensors[0].file, 1);
    assert_string_equal(tensors[1].name, "one");
    assert_int_equal(tensors[1].file, 2);
    uint8_t bytes[3] = {9, 9, 9};
    assert_int_equal(qp_artifact_read(artifact, &tensors[0], 0, 3, bytes, NULL), QP_OK);
    assert_int_equal(bytes[2], 0);
    qp_artifact_metadata(artifact, &count);
    assert_int_equal(count, 3); /* total_size is of the files; of two `format` the first stands */
    assert_memory_equal(qp_artifact_metadata_find(artifact, "format")->value, "tf", 2);
    assert_memory_equal(qp_artifact_metadata_find(artifact, "from")->value, "[1]", 3);
    qp_artifact_close(artifact);
}

static void test_index_refusals(void **state)
{
    static const struct {
        const char *json;
        const char *check;
    } refusals[] = {
        {"{\"a\":}", "S-JSON"},
        {"{\"weight_map\":{\"a\":\"x\",\"a\":\"x\"}}", "S-DUPNAME"},
        {"{\"metadata\":{}}", "S-INDEX"},
        {"{\"weight_map\":[]}", "S-INDEX"},
        {"{\"weight_map\":{}}", "S-INDEX"},
        {"{\"weight_map\":{\"a\":1}}", "S-INDEX"},
        {"{\"weight_map\":{\"a\":\"x\\u0000\"}}", "S-NAME"},
        {MAP("\"one\":\"../test_shards-1.safetensors\""), "S-PATH"},
        {MAP("\"one\":\"\""), "S-PATH"},
        {MAP("\"one\":\"..\""), "S-PATH"},
        {MAP("\"one\":\"test_shards-3.safetensors\""), "S-SHARD"},
        {MAP("\"one\":\"test_shards-2.safetensors\""), "S-MAP"},
        {MAP(ONE_OF_A "," TWO ",\"three\":\"test_shards-2.safetensors\""), "S-MAP"},
        {MAP("\"one\":\"test_shards.safetensors.index.json\""), "S-LENGTH"}, /* itself */
    };
    (void)state;
    write_shards();
    for (size_t i = 0; i < TEST_COUNT(refusals); i++) {
        qp_artifact *artifact;
        qp_error error = {0};
        write_bytes(index_path, refusals[i].json, strlen(refusals[i].json));
        assert_int_not_equal(qp_artifact_open(index_path, NULL, &artifact, &error), QP_OK);
        assert_null(artifact);
        assert_non_null(error.check);
        assert_string_equal(error.check, refusals[i].check);
    }
    /* in memory there is no folder to find shards in */
    assert_open_refused("m.json", (const uint8_t *)MAP(TWO), strlen(MAP(TWO)), "S-SHARD");
}

static void test_broken_shard(void **state)
{
    qp_artifact *artifact;
    qp_error error;
    (void)state;
    write_shards();
    write_shard(shard_b, "{\"two\":" T("\"U8\"", "[3]", "[0,3]") "}", 4);
    write_bytes(index_path, MAP(ONE_OF_A "," TWO), strlen(MAP(ONE_OF_A "," TWO)));
    assert_int_equal(qp_artifact_open(index_path, NULL, &artifact, &error), QP_MALFORMED);
    assert_string_equal(error.check, "S-END");
    assert_non_null(strstr(error.message, shard_b)); /* it says which */
}

/* The kind of a file, by its name and by its bytes. */
static void test_kinds(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *kind;
    } contents[] = {
        {"GGUF", 4, "gguf"},
        {"GGU", 3, NULL},
        {"NINFER\0\3", 8, "ninfer"},
        {"NINFER\0\1", 8, "ninfer"},
        {"NINPRT\0\3", 8, "ninfer"},
        {"NINFER\0", 7, NULL},
        {"\2\0\0\0\0\0\0\0{", 9, "safetensors"},
        {"\2\0\0\0\0\0\0\0[", 9, NULL},
        {"{\"a\":1}", 7, NULL},
        {"{\"weight_map\":{}}", 17, "safetensors"},
        {"", 0, NULL},
    };
    static const char *const paths[][2] = {{"a/b.gguf", "gguf"},
                                           {"b.ninfer", "ninfer"},
                                           {"b.safetensors", "safetensors"},
                                           {"b.safetensors.index.json", "safetensors"},
                                           {"b.json", NULL},
                                           {"gguf", NULL}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(contents); i++) {
        const qp_artifact_kind *kind =
            qp_artifact_kind_of_bytes((const uint8_t *)contents[i].bytes, contents[i].size);
        assert_ptr_equal(kind,
                         contents[i].kind != NULL ? qp_artifact_kind_find(contents[i].kind) : NULL);
    }
    for (size_t i = 0; i < TEST_COUNT(paths); i++)
        assert_ptr_equal(qp_artifact_kind_of_path(paths[i][0]),
                         paths[i][1] != NULL ? qp_artifact_kind_find(paths[i][1]) : NULL);
    assert_int_equal(qp_artifact_kind_count(), 3);
    assert_null(qp_artifact_kind_at(3));
    assert_null(qp_artifact_kind_find("zip"));
}

/* ---- size and memory ------------------------------------------------------------------------ */

static void test_many_tensors(void **state)
{
    enum { COUNT = 20000 };
    qp_buffer header, file;
    size_t count;
    (void)state;

    qp_buffer_init(&header, NULL);
    for (unsigned i = 0; i < COUNT; i++) { /* the last byte first */
        unsigned at = COUNT - 1 - i;
        qp_buffer_format(&header,
                         "%c\"w%u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                         i == 0 ? '{' : ',', i, at, at + 1);
    }
    qp_buffer_append(&header, "}", 2);
    build_safetensors(&file, (const char *)header.bytes, COUNT);
    qp_artifact *artifact = open_bytes("m", file.bytes, file.size);
    assert_string_equal(qp_artifact_tensors(artifact, &count)[0].name, "w19999");
    assert_int_equal(count, COUNT);
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
    qp_buffer_free(&header);
}

/* Members that are no tensors cost no room for tensors. */
static void test_memory_follows_what_is_read(void **state)
{
    enum { COUNT = 10000 };
    qp_buffer header, file;
    (void)state;
    qp_buffer_init(&header, NULL);
    for (unsigned i = 0; i < COUNT; i++)
        qp_buffer_format(&header, "%c\"%u\":1", i == 0 ? '{' : ',', i);
    qp_buffer_append(&header, "}", 2);
    build_safetensors(&file, (const char *)header.bytes, 0);
    assert_open_refused("m", file.bytes, file.size, "S-FORM");
    qp_buffer_free(&file);
    qp_buffer_free(&header);
}

static void test_every_allocation_fails_once(void **state)
{
    qp_file file = fixture_open("ggml", "a-good.safetensors");
    (void)state;
    assert_open_survives("m", file.bytes, file.size);
    qp_file_close(&file);

    write_shards();
    write_bytes(index_path, MAP(TWO "," ONE_OF_A), strlen(MAP(TWO "," ONE_OF_A)));
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_artifact *artifact;
        qp_status status = qp_artifact_open(index_path, &allocator, &artifact, NULL);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        qp_artifact_close(artifact);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_refusals_of_fixtures),
        cmocka_unit_test(test_good_fixture),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_strings),
        cmocka_unit_test_teardown(test_index, remove_shards),
        cmocka_unit_test_teardown(test_index_refusals, remove_shards),
        cmocka_unit_test_teardown(test_broken_shard, remove_shards),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_many_tensors),
        cmocka_unit_test(test_memory_follows_what_is_read),
        cmocka_unit_test_teardown(test_every_allocation_fails_once, remove_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
