/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gguf_read.c - GGUF files: the fixtures, every check of ggml-blocks.md section 6 by files
 * that are built here, and hostile files.
 */
#include "support/weight_files.h"

#include "artifact/artifact.h"

/* ---- building ------------------------------------------------------------------------------- */

static void string(qp_buffer *file, const char *text)
{
    qp_buffer_le(file, strlen(text), 8);
    qp_buffer_text(file, text);
}

static void start(qp_buffer *file, uint32_t version, uint64_t tensors, uint64_t entries)
{
    qp_buffer_init(file, NULL);
    qp_buffer_text(file, "GGUF");
    qp_buffer_le(file, version, 4);
    qp_buffer_le(file, tensors, 8);
    qp_buffer_le(file, entries, 8);
}

/* The key and the type of an entry; the value follows. */
static void entry(qp_buffer *file, const char *key, uint32_t type)
{
    string(file, key);
    qp_buffer_le(file, type, 4);
}

typedef struct info {
    const char *name;
    uint32_t rank;
    uint64_t dimensions[4];
    uint32_t type;
    uint64_t offset;
} info;

static void tensor(qp_buffer *file, const info *t)
{
    string(file, t->name);
    qp_buffer_le(file, t->rank, 4);
    for (uint32_t i = 0; i < t->rank && i < 4; i++)
        qp_buffer_le(file, t->dimensions[i], 8);
    qp_buffer_le(file, t->type, 4);
    qp_buffer_le(file, t->offset, 8);
}

/* The padding to the data, and the data. */
static void data(qp_buffer *file, size_t alignment, size_t size)
{
    size_t count = (alignment - file->size % alignment) % alignment + size;
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(file, 0, 1);
    assert_false(file->failed);
}

/* Requires a refusal, at `offset` unless that is -1, and frees the file. */
static void refused(qp_buffer *file, const char *check, int64_t offset)
{
    assert_false(file->failed);
    if (offset >= 0)
        assert_open_refused_at("m.gguf", file->bytes, file->size, check, offset);
    else
        assert_open_refused("m.gguf", file->bytes, file->size, check);
    qp_buffer_free(file);
}

/* One tensor, with data of `size` bytes. */
static void one_tensor(qp_buffer *file, const info *t, size_t size)
{
    start(file, 3, 1, 0);
    tensor(file, t);
    data(file, 32, size);
}

static void accepted(qp_buffer *file)
{
    qp_artifact_close(open_bytes("m.gguf", file->bytes, file->size));
    qp_buffer_free(file);
}

/* ---- fixtures ------------------------------------------------------------------------------- */

static void assert_dimensions(qp_json_value record, const qp_artifact_tensor *t)
{
    qp_json_value shape;
    int64_t sizes[QP_SHAPE_RANK_MAX];
    assert_true(qp_json_find(record, "shape_row_major", &shape));
    assert_int_equal(qp_json_get_i64_array(shape, sizes, t->rank, NULL), QP_OK);
    for (uint32_t i = 0; i < t->rank; i++)
        assert_int_equal(t->shape[i], sizes[i]);
}

static void assert_tensors(qp_artifact *artifact, qp_json_value record)
{
    qp_json_value list, item;
    size_t count, n = 0;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);

    if (!qp_json_find(record, "tensors", &list))
        return;
    assert_int_equal(qp_artifact_alignment(artifact), fixture_u64(record, "alignment"));
    qp_json_iterator iterator = qp_json_iterate(list);
    for (; qp_json_next(&iterator, &item); n++) {
        const qp_artifact_tensor *t = &tensors[n];
        const uint8_t *bytes;
        qp_matrix matrix;
        assert_true(n < count);
        assert_string_equal(t->name, fixture_text(item, "name", 0));
        assert_int_equal(qp_ggml_type_named(t->type)->id, fixture_u64(item, "ggml_type"));
        assert_dimensions(item, t);
        assert_int_equal(t->bytes, fixture_u64(item, "bytes"));
        assert_int_equal(qp_artifact_view(artifact, t, 0, t->bytes, &bytes, NULL), QP_OK);
        assert_non_null(bytes);
        assert_fixture_digest(item, "sha256", bytes, (size_t)t->bytes);
        if (t->format != NULL) {
            assert_int_equal(qp_artifact_matrix(artifact, t, &matrix, NULL), QP_OK);
            assert_int_equal(matrix.bytes, t->bytes);
        }
    }
    assert_int_equal(n, count);
}

static void test_fixtures(void **state)
{
    fixture_index index;
    qp_json_value files, record;
    size_t count = 0;
    (void)state;

    fixture_index_open(&index, "ggml");
    assert_true(qp_json_find(index.root, "gguf_files", &files));
    qp_json_iterator iterator = qp_json_iterate(files);
    for (; qp_json_next(&iterator, &record); count++) {
        char path[512];
        qp_artifact *artifact;
        qp_error error;
        snprintf(path, sizeof path, QP_TEST_DATA "/ggml/%s", fixture_text(record, "file", 0));
        qp_status status = qp_artifact_open(path, NULL, &artifact, &error);
        if (strcmp(fixture_text(record, "expect", 0), "ok") == 0) {
            assert_int_equal(status, QP_OK);
            assert_tensors(artifact, record);
        } else {
            assert_int_equal(status, QP_MALFORMED);
            assert_int_equal(strncmp(error.check, "G-", 2), 0);
            assert_true(error.offset >= 0);
        }
        qp_artifact_close(artifact);
    }
    assert_int_equal(count, 13);
    fixture_index_close(&index);
}

/* What each malformed fixture is refused for. */
static void test_refusals_of_fixtures(void **state)
{
    static const struct {
        const char *name;
        const char *check;
    } cases[] = {
        {"a-bad-magic.gguf", "G-MAGIC"},      {"a-bad-version1.gguf", "G-VERSION"},
        {"a-bad-version4.gguf", "G-VERSION"}, {"a-bad-truncdata.gguf", "G-DATA"},
        {"a-bad-trunchdr.gguf", "G-COUNT"},   {"a-bad-type99.gguf", "G-TYPE"},
        {"a-bad-offset.gguf", "G-OFFSET"},    {"a-bad-dups.gguf", "G-DUPNAME"},
        {"a-bad-dims5.gguf", "G-DIMS"},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_file file = fixture_open_path(QP_TEST_DATA "/ggml", cases[i].name);
        assert_open_refused(cases[i].name, file.bytes, file.size, cases[i].check);
        qp_file_close(&file);
    }
}

static void test_truncation(void **state)
{
    qp_file small = fixture_open("ggml", "a-small.gguf"),
            full = fixture_open("ggml", "a-full.gguf");
    (void)state;
    /* the last tensor ends at 192 + 18; only padding follows */
    assert_prefixes_refused("m.gguf", small.bytes, small.size, 210);
    qp_artifact *artifact = open_bytes("m.gguf", full.bytes, full.size);
    size_t count;
    const qp_artifact_tensor *last = qp_artifact_tensors(artifact, &count) + count - 1;
    size_t end = (size_t)(last->offset + last->bytes);
    qp_artifact_close(artifact);
    assert_prefixes_refused("m.gguf", full.bytes, full.size, end);
    qp_file_close(&small);
    qp_file_close(&full);
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* An entry of every type, its bytes in the file. */
static void test_metadata(void **state)
{
    static const uint32_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    qp_buffer file;
    size_t count;
    (void)state;

    start(&file, 3, 0, 13);
    for (uint32_t type = 0; type < 13; type++) {
        char key[8];
        snprintf(key, sizeof key, "key%u", type);
        entry(&file, key, type);
        if (type == QP_META_STRING) {
            string(&file, "text");
        } else if (type == QP_META_ARRAY) {
            qp_buffer_le(&file, QP_META_STRING, 4);
            qp_buffer_le(&file, 2, 8);
            string(&file, "");
            string(&file, "two");
        } else {
            qp_buffer_le(&file, type == QP_META_BOOL ? 1 : 0x80 + type, sizes[type]);
        }
    }
    qp_artifact *artifact = open_bytes("m.gguf", file.bytes, file.size);
    const qp_artifact_metadatum *entries = qp_artifact_metadata(artifact, &count);
    assert_int_equal(count, 13);
    for (uint32_t type = 0; type < 13; type++) {
        assert_int_equal(entries[type].type, type);
        if (sizes[type] > 0) {
            assert_int_equal(entries[type].size, sizes[type]);
            assert_int_equal(*entries[type].value, type == QP_META_BOOL ? 1 : 0x80 + type);
        }
        assert_int_equal(entries[type].count, type == QP_META_ARRAY ? 2 : 1);
    }
    const qp_artifact_metadatum *text = qp_artifact_metadata_find(artifact, "key8");
    assert_int_equal(text->size, 4);
    assert_memory_equal(text->value, "text", 4);
    const qp_artifact_metadatum *array = qp_artifact_metadata_find(artifact, "key9");
    assert_int_equal(array->element_type, QP_META_STRING);
    assert_int_equal(array->size, 8 + 8 + 3);
    assert_null(qp_artifact_metadata_find(artifact, "key13"));
    size_t size;
    assert_null(qp_artifact_directory(artifact, &size));
    assert_null(qp_artifact_id(artifact));
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
}

static void test_metadata_refusals(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t value;
        unsigned width;
        const char *check;
    } values[] = {
        {13, 0, 1, "G-VALUETYPE"},
        {UINT32_MAX, 0, 1, "G-VALUETYPE"},
        {QP_META_BOOL, 2, 1, "G-BOOL"},
        {QP_META_BOOL, 255, 1, "G-BOOL"},
        {QP_META_U64, 0, 4, "G-TRUNCATED"},
        {QP_META_STRING, 100, 8, "G-STRING"},
        {QP_META_STRING, 1, 8, "G-STRING"},
        {QP_META_STRING, (1u << 30) + 1, 8, "G-STRING"},
        {QP_META_STRING, UINT64_MAX, 8, "G-STRING"},
    };
    qp_buffer file;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT(values); i++) {
        start(&file, 3, 0, 1);
        entry(&file, "key", values[i].type);
        qp_buffer_le(&file, values[i].value, values[i].width);
        refused(&file, values[i].check, -1);
    }
    start(&file, 3, 0, 1);
    entry(&file, "", QP_META_U8);
    qp_buffer_le(&file, 0, 1);
    refused(&file, "G-KEY", 24);
    start(&file, 3, 0, 1);
    entry(&file, "a\xff", QP_META_U8);
    qp_buffer_le(&file, 0, 1);
    refused(&file, "G-KEY", 24 + 8 + 1);
    start(&file, 3, 0, 1);
    qp_buffer_le(&file, 3, 8);
    qp_buffer_append(&file, "a\0b", 3);
    qp_buffer_le(&file, QP_META_U8, 4);
    qp_buffer_le(&file, 0, 1);
    refused(&file, "G-KEY", 24 + 8 + 1);
    start(&file, 3, 0, 3);
    entry(&file, "a", QP_META_U8);
    qp_buffer_le(&file, 0, 1);
    entry(&file, "b", QP_META_U16);
    qp_buffer_le(&file, 0, 2);
    entry(&file, "a", QP_META_U8);
    qp_buffer_le(&file, 0, 1);
    refused(&file, "G-DUPKEY", 24 + 14 + 15);
}

static void array(qp_buffer *file, uint32_t element_type, uint64_t count)
{
    start(file, 3, 0, 1);
    entry(file, "key", QP_META_ARRAY);
    qp_buffer_le(file, element_type, 4);
    qp_buffer_le(file, count, 8);
}

static void test_arrays(void **state)
{
    qp_buffer file;
    (void)state;

    array(&file, QP_META_ARRAY, 0);
    refused(&file, "G-ARRAY", -1);
    array(&file, 99, 0);
    refused(&file, "G-VALUETYPE", -1);
    array(&file, QP_META_U8, 0);
    accepted(&file);
    array(&file, QP_META_U8, (1u << 30) + 1);
    refused(&file, "G-ARRAY", 24 + 8 + 3 + 4 + 4);
    array(&file, QP_META_U64, UINT64_MAX / 8 + 2); /* times 8 is 8 */
    qp_buffer_le(&file, 0, 8);
    refused(&file, "G-ARRAY", -1);
    array(&file, QP_META_U8, 4); /* bytes, as floats they would be longer than the file */
    qp_buffer_le(&file, 0, 4);
    accepted(&file);
    array(&file, QP_META_F32, 4);
    qp_buffer_le(&file, 0, 4);
    refused(&file, "G-ARRAY", -1);
    array(&file, QP_META_BOOL, 3);
    qp_buffer_le(&file, 0x030101, 4);
    refused(&file, "G-BOOL", 24 + 8 + 3 + 4 + 12 + 2);
    array(&file, QP_META_STRING, 2);
    string(&file, "a");
    qp_buffer_le(&file, 1, 8);
    refused(&file, "G-STRING", -1);
    array(&file, QP_META_STRING, 3);
    string(&file, "0123456789abcdef");
    qp_buffer_le(&file, 0, 4);
    refused(&file, "G-TRUNCATED", -1);
}

static void test_alignment(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t value;
        const char *check;
    } cases[] = {
        {QP_META_U32, 0, "G-ALIGNMENT"},   {QP_META_U32, 3, "G-ALIGNMENT"},
        {QP_META_U64, 32, "G-ALIGNMENT"},  {QP_META_I32, 32, "G-ALIGNMENT"},
        {QP_META_U32, 1u << 30, "G-DATA"}, /* a power of two, and far behind the end of the file */
        {QP_META_U32, 1u << 31, "G-DATA"},
    };
    const info t = {"t", 1, {4}, 0, 0};
    qp_buffer file;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        start(&file, 3, 1, 1);
        entry(&file, "general.alignment", cases[i].type);
        qp_buffer_le(&file, cases[i].value, cases[i].type == QP_META_U64 ? 8 : 4);
        tensor(&file, &t);
        data(&file, 32, 64);
        refused(&file, cases[i].check, -1);
    }
    for (uint32_t alignment = 1; alignment <= 4096; alignment *= 2) {
        const info second = {"u", 1, {4}, 0, alignment > 16 ? alignment : 16};
        start(&file, 3, 2, 1);
        entry(&file, "general.alignment", QP_META_U32);
        qp_buffer_le(&file, alignment, 4);
        tensor(&file, &t);
        tensor(&file, &second);
        data(&file, alignment, (size_t)second.offset + 16);
        qp_artifact *artifact = open_bytes("m.gguf", file.bytes, file.size);
        assert_int_equal(qp_artifact_alignment(artifact), alignment);
        assert_int_equal(qp_artifact_find(artifact, "u")->offset, file.size - 16);
        qp_artifact_close(artifact);
        qp_buffer_free(&file);
    }
}

/* ---- header --------------------------------------------------------------------------------- */

static void test_header(void **state)
{
    static const struct {
        uint32_t version;
        uint64_t tensors, entries;
        const char *check;
        int64_t offset;
    } cases[] = {
        {0, 0, 0, "G-VERSION", 4},
        {1, 0, 0, "G-VERSION", 4},
        {4, 0, 0, "G-VERSION", 4},
        {0x03000000, 0, 0, "G-VERSION", 4}, /* 3 in the other byte order */
        {3, UINT64_MAX, 0, "G-COUNT", 8},
        {3, (uint64_t)1 << 63, 0, "G-COUNT", 8},
        {3, 1000, 0, "G-COUNT", 8},
        {3, UINT64_MAX / 24 + 2, 0, "G-COUNT", 8}, /* times 24 it is small */
        {3, 0, UINT64_MAX, "G-COUNT", 16},
        {3, 0, UINT64_MAX / 13 + 1, "G-COUNT", 16},
        {3, 0, 1, "G-COUNT", 16},
    };
    qp_buffer file;
    qp_artifact *artifact;
    qp_error error;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        start(&file, cases[i].version, cases[i].tensors, cases[i].entries);
        refused(&file, cases[i].check, cases[i].offset);
    }
    start(&file, 0x03000000, 0, 0);
    assert_int_equal(qp_artifact_open_bytes("m", file.bytes, file.size, NULL, &artifact, &error),
                     QP_MALFORMED);
    assert_non_null(strstr(error.message, "big-endian"));
    qp_buffer_free(&file);
    start(&file, 2, 0, 0);
    artifact = open_bytes("m", file.bytes, file.size);
    assert_string_equal(qp_artifact_version(artifact), "2");
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
}

/* ---- tensor infos --------------------------------------------------------------------------- */

static void test_names(void **state)
{
    char name[66];
    info t = {name, 1, {4}, 0, 0};
    qp_buffer file;
    (void)state;

    memset(name, 'n', sizeof name);
    name[64] = '\0';
    one_tensor(&file, &t, 16);
    refused(&file, "G-NAME", 24);
    name[63] = '\0';
    one_tensor(&file, &t, 16);
    accepted(&file);
    t.name = "\xc3\x28";
    one_tensor(&file, &t, 16);
    refused(&file, "G-NAME", 24 + 8);

    const info same[3] = {{"a", 1, {8}, 0, 0}, {"b", 1, {8}, 0, 32}, {"a", 1, {8}, 0, 64}};
    start(&file, 3, 3, 0);
    for (size_t i = 0; i < 3; i++)
        tensor(&file, &same[i]);
    data(&file, 32, 96);
    refused(&file, "G-DUPNAME", 24 + 2 * 33);
}

/* A repeated name is told as such, whatever the offsets are. */
static void test_repeated_name_first(void **state)
{
    const info same[2] = {{"a", 1, {8}, 0, 5}, {"a", 1, {8}, 0, 7}};
    qp_buffer file;
    (void)state;
    start(&file, 3, 2, 0);
    tensor(&file, &same[0]);
    tensor(&file, &same[1]);
    refused(&file, "G-DUPNAME", 24 + 33);
}

static void test_dimensions(void **state)
{
    static const info cases[] = {
        {"t", 5, {1, 1, 1, 1}, 0, 0},
        {"t", 9, {1, 1, 1, 1}, 0, 0},
        {"t", UINT32_MAX, {1}, 0, 0},
        {"t", 1, {UINT64_MAX}, 0, 0},
        {"t", 1, {(uint64_t)1 << 63}, 0, 0},
        {"t", 2, {(uint64_t)1 << 32, (uint64_t)1 << 32}, 0, 0}, /* the product wraps to 0 */
        {"t", 2, {(uint64_t)1 << 32, (uint64_t)1 << 31}, 0, 0},
        {"t", 4, {3, 0x5555555555555556, 1, 1}, 0, 0}, /* wraps to 2 */
    };
    const info large = {"t", 2, {(uint64_t)1 << 31, (uint64_t)1 << 31}, 0, 0};
    const info wide = {"t", 1, {INT64_MAX}, 27, 0};
    qp_buffer file;
    (void)state;

    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        one_tensor(&file, &cases[i], 64);
        refused(&file, "G-DIMS", -1);
    }
    one_tensor(&file, &large, 64); /* 2^62 elements are a size, and not of this file */
    refused(&file, "G-SIZE", -1);
    one_tensor(&file, &wide, 64);
    refused(&file, "G-SIZE", -1);
}

/* A dimension of 0 may be listed. Asked for, a format refuses it, and plain elements are none. */
static void test_empty_tensors(void **state)
{
    const info blocks = {"q", 2, {0, 4}, 2, 0}, halves = {"h", 3, {2, 0, 3}, 1, 0};
    const info wrapping = {"w", 3, {0, (uint64_t)1 << 62, (uint64_t)1 << 62}, 2, 0};
    qp_artifact *artifact;
    qp_buffer file;
    qp_matrix matrix;
    qp_error error;
    float value;
    (void)state;

    start(&file, 3, 3, 0);
    tensor(&file, &blocks);
    tensor(&file, &halves);
    tensor(&file, &wrapping);
    artifact = open_bytes("m.gguf", file.bytes, file.size); /* not even padding follows */
    for (unsigned i = 0; i < 2; i++) {
        const char *name = i == 0 ? "q" : "w";
        assert_int_not_equal(
            qp_artifact_matrix(artifact, qp_artifact_find(artifact, name), &matrix, &error), QP_OK);
        assert_string_equal(error.check, "C-GEOM");
    }
    assert_int_equal(
        qp_artifact_decode(artifact, qp_artifact_find(artifact, "h"), 0, 0, 0, &value, NULL),
        QP_OK);
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
}

/* Every id from 0 to 150: known, removed or unknown, and what its bytes are. */
static void test_types(void **state)
{
    static const uint8_t removed[] = {4, 5, 31, 32, 33, 36, 37, 38};
    qp_buffer file;
    (void)state;

    for (uint32_t id = 0; id <= 150; id++) {
        const info t = {"t", 2, {256, 3}, id, 0};
        bool known = id <= 42 || id == 142 || id == 143;
        for (size_t i = 0; i < TEST_COUNT(removed); i++)
            known = known && id != removed[i];
        one_tensor(&file, &t, 8 * 768);
        if (!known) {
            assert_null(qp_ggml_type_find(id));
            refused(&file, "G-TYPE", -1);
            continue;
        }
        const qp_ggml_type *type = qp_ggml_type_find(id);
        qp_artifact *artifact = open_bytes("m.gguf", file.bytes, file.size);
        const qp_artifact_tensor *read = qp_artifact_find(artifact, "t");
        const uint8_t *bytes;
        qp_error error;
        assert_string_equal(read->type, type->name);
        assert_int_equal(read->bytes, 768 / type->block_values * type->block_bytes);
        bool readable = read->format != NULL || read->element != NULL || id >= 142;
        assert_int_equal(qp_artifact_view(artifact, read, 0, 1, &bytes, &error),
                         readable ? QP_OK : QP_MODEL_MISMATCH);
        if (!readable)
            assert_string_equal(error.check, "G-UNREADABLE");
        if (read->format != NULL && read->format->family == QP_FAMILY_GGUF)
            assert_int_equal(read->format->group_bytes, type->block_bytes);
        qp_artifact_close(artifact);
        qp_buffer_free(&file);
    }
}

/* The formats and element types of the registry are those of the text. */
static void test_words_of_types(void **state)
{
    static const struct {
        uint32_t id;
        const char *format;
        const char *element;
    } cases[] = {{0, "fp32", "F32"},     {1, NULL, "F16"},        {30, "bf16", "BF16"},
                 {26, "int32", "I32"},   {24, NULL, "I8"},        {28, NULL, "F64"},
                 {2, "gguf_q4_0", NULL}, {12, "gguf_q4_k", NULL}, {29, "gguf_iq1_m", NULL},
                 {3, NULL, NULL},        {42, "gguf_q2_0", NULL}, {142, NULL, NULL}};
    qp_buffer file;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        const info t = {"t", 1, {256}, cases[i].id, 0};
        one_tensor(&file, &t, 2048);
        qp_artifact *artifact = open_bytes("m.gguf", file.bytes, file.size);
        const qp_artifact_tensor *read = qp_artifact_find(artifact, "t");
        assert_true((read->format != NULL) == (cases[i].format != NULL));
        assert_true((read->element != NULL) == (cases[i].element != NULL));
        if (read->format != NULL)
            assert_string_equal(read->format->name, cases[i].format);
        if (read->element != NULL)
            assert_string_equal(read->element->name, cases[i].element);
        qp_artifact_close(artifact);
        qp_buffer_free(&file);
    }
}

static void test_sizes_and_offsets(void **state)
{
    const info part = {"t", 1, {33}, 2, 0};
    const info late = {"t", 1, {32}, 2, 32}, unknown = {"t", 1, {32}, 77, UINT64_MAX};
    const info pair[2] = {{"a", 1, {8}, 0, 0}, {"b", 1, {8}, 0, 31}};
    qp_buffer file;
    (void)state;

    one_tensor(&file, &part, 64);
    refused(&file, "G-BLOCK", -1);
    one_tensor(&file, &late, 64);
    refused(&file, "G-OFFSET", 24 + 9 + 4 + 8 + 4);
    one_tensor(&file, &unknown, 64); /* the type, and not an offset past the end */
    refused(&file, "G-TYPE", 24 + 9 + 4 + 8);
    for (uint64_t offset = 0; offset <= 96; offset += 32) { /* overlapping, right, a hole */
        const info second = {"b", 1, {8}, 0, offset};
        start(&file, 3, 2, 0);
        tensor(&file, &pair[0]);
        tensor(&file, &second);
        data(&file, 32, 160);
        if (offset == 32)
            accepted(&file);
        else
            refused(&file, "G-OFFSET", 24 + 33 + 9 + 4 + 8 + 4);
    }
    start(&file, 3, 2, 0);
    tensor(&file, &pair[0]);
    tensor(&file, &pair[1]);
    data(&file, 32, 160);
    refused(&file, "G-OFFSET", -1);
    for (size_t size = 0; size < 34; size++) {
        const info q8 = {"t", 1, {32}, 8, 0};
        one_tensor(&file, &q8, size);
        refused(&file, "G-DATA", -1);
    }
}

/* ---- hostile files -------------------------------------------------------------------------- */

/* A string of 2^30 bytes in a file of 160. */
static void test_long_string_in_a_short_file(void **state)
{
    qp_buffer file;
    (void)state;
    start(&file, 3, 0, 1);
    qp_buffer_le(&file, 1u << 30, 8);
    data(&file, 160, 0);
    assert_int_equal(file.size, 160);
    refused(&file, "G-STRING", 24);
}

/* Every byte of a small file, with all bits set and with each bit flipped: refused or read, and
 * never more memory than a hostile file may take. */
static void test_changed_bytes(void **state)
{
    qp_file file = fixture_open("ggml", "a-small.gguf");
    uint8_t *bytes = malloc(file.size);
    (void)state;
    memcpy(bytes, file.bytes, file.size);
    for (size_t i = 0; i < file.size * 9; i++) {
        qp_artifact *artifact;
        qp_error error;
        size_t at = i / 9;
        bytes[at] = i % 9 == 8 ? 0xff : (uint8_t)(file.bytes[at] ^ 1u << i % 9);
        qp_status status =
            qp_artifact_open_bytes("m.gguf", bytes, file.size, NULL, &artifact, &error);
        if (status != QP_OK)
            assert_open_refused("m.gguf", bytes, file.size, error.check);
        qp_artifact_close(artifact);
        bytes[at] = file.bytes[at];
    }
    free(bytes);
    qp_file_close(&file);
}

/* 100,000 tensors, and a repetition among them, at the cost of a sort. */
static void test_many_tensors(void **state)
{
    enum { COUNT = 100000 };
    (void)state;
    for (unsigned repeated = 0; repeated < 2; repeated++) {
        qp_buffer file;
        qp_artifact *artifact;
        qp_error error;
        start(&file, 3, COUNT, 0);
        for (uint64_t i = 0; i < COUNT; i++) {
            char name[16];
            unsigned number = repeated && i == COUNT - 1 ? 7 : (unsigned)(i * 7919 % COUNT);
            snprintf(name, sizeof name, "blk.%05u", number);
            const info t = {name, 1, {8}, 0, 32 * i};
            tensor(&file, &t);
        }
        data(&file, 32, 32 * COUNT);
        qp_status status =
            qp_artifact_open_bytes("m", file.bytes, file.size, NULL, &artifact, &error);
        assert_int_equal(status, repeated ? QP_MALFORMED : QP_OK);
        if (repeated)
            assert_string_equal(error.check, "G-DUPNAME");
        else
            assert_ptr_equal(qp_artifact_find(artifact, "blk.07919"),
                             qp_artifact_tensors(artifact, &(size_t){0}) + 1);
        qp_artifact_close(artifact);
        qp_buffer_free(&file);
    }
}

static void test_every_allocation_fails_once(void **state)
{
    qp_file file = fixture_open("ggml", "a-full.gguf");
    (void)state;
    assert_open_survives("m.gguf", file.bytes, file.size);
    qp_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_refusals_of_fixtures),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_metadata_refusals),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_repeated_name_first),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_empty_tensors),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_words_of_types),
        cmocka_unit_test(test_sizes_and_offsets),
        cmocka_unit_test(test_long_string_in_a_short_file),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_many_tensors),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
