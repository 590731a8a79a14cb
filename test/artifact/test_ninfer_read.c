/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ninfer_read.c - .ninfer files: the fixtures, every check of artifact-container.md sections
 * 2 and 4, continuations, and hostile files.
 */
#include "support/weight_files.h"

#include "../failing_allocator.h"

#include <stdio.h>

/* ---- fixtures ------------------------------------------------------------------------------- */

static void assert_shape(qp_json_value record, const qp_artifact_tensor *tensor)
{
    qp_json_value shape, dimension;
    uint64_t size;
    uint32_t rank = 0;
    assert_true(qp_json_find(record, "shape", &shape));
    qp_json_iterator iterator = qp_json_iterate(shape);
    while (qp_json_next(&iterator, &dimension)) {
        assert_int_equal(qp_json_get_u64(dimension, &size, NULL), QP_OK);
        assert_true(rank < tensor->rank);
        assert_int_equal(tensor->shape[rank++], size);
    }
    assert_int_equal(rank, tensor->rank);
}

static void assert_tensor(qp_artifact *artifact, qp_json_value record)
{
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, fixture_text(record, "id", 0));
    qp_json_value divisors;
    qp_matrix matrix;

    assert_non_null(tensor);
    assert_int_equal(tensor->offset, fixture_u64(record, "offset"));
    assert_int_equal(tensor->bytes, fixture_u64(record, "bytes"));
    assert_string_equal(tensor->format->name, fixture_text(record, "format", 0));
    assert_string_equal(tensor->layout->name, fixture_text(record, "layout", 0));
    assert_int_equal(tensor->divisors, qp_json_find(record, "divisors", &divisors)
                                           ? fixture_u64(record, "divisors")
                                           : 1);
    assert_shape(record, tensor);
    assert_int_equal(qp_artifact_matrix(artifact, tensor, &matrix, NULL), QP_OK);
    assert_int_equal(matrix.bytes, tensor->bytes);

    uint8_t *bytes = malloc((size_t)tensor->bytes);
    assert_int_equal(qp_artifact_read(artifact, tensor, 0, tensor->bytes, bytes, NULL), QP_OK);
    assert_fixture_digest(record, "payload_sha256", bytes, (size_t)tensor->bytes);
    free(bytes);
}

static void assert_resource(qp_artifact *artifact, qp_json_value record)
{
    const qp_artifact_resource *resource =
        qp_artifact_resource_find(artifact, fixture_text(record, "id", 0));
    assert_non_null(resource);
    assert_string_equal(resource->encoding, fixture_text(record, "encoding", 0));
    assert_int_equal(resource->offset, fixture_u64(record, "offset"));
    uint64_t size = fixture_u64(record, "bytes");
    assert_int_equal(resource->bytes, size);
    uint8_t *bytes = malloc((size_t)size);
    assert_int_equal(qp_artifact_read_resource(artifact, resource, bytes, NULL), QP_OK);
    assert_fixture_digest(record, "payload_sha256", bytes, (size_t)size);
    free(bytes);
}

static void assert_objects(qp_artifact *artifact, qp_json_value container)
{
    qp_json_value objects, object;
    size_t tensors = 0, resources = 0, count;

    if (!qp_json_find(container, "objects", &objects))
        return;
    qp_json_iterator iterator = qp_json_iterate(objects);
    while (qp_json_next(&iterator, &object)) {
        if (strcmp(fixture_text(object, "kind", 0), "tensor") == 0) {
            assert_tensor(artifact, object);
            tensors++;
        } else {
            assert_resource(artifact, object);
            resources++;
        }
    }
    qp_artifact_tensors(artifact, &count);
    assert_int_equal(count, tensors);
    qp_artifact_resources(artifact, &count);
    assert_int_equal(count, resources);

    qp_buffer id;
    qp_buffer_init(&id, NULL);
    qp_buffer_hex(&id, qp_artifact_id(artifact), 16);
    qp_buffer_append(&id, "", 1);
    assert_string_equal((const char *)id.bytes, fixture_text(container, "artifact_id", 0));
    qp_buffer_free(&id);
}

static void test_containers(void **state)
{
    fixture_index index;
    qp_json_value containers, container;
    size_t count = 0;
    (void)state;

    fixture_index_open(&index, "ninfer");
    assert_true(qp_json_find(index.root, "containers", &containers));
    qp_json_iterator iterator = qp_json_iterate(containers);
    while (qp_json_next(&iterator, &container)) {
        char path[512];
        qp_artifact *artifact;
        qp_error error;
        const char *refusal = fixture_text(container, "refusal", 0);
        snprintf(path, sizeof path, QP_TEST_DATA "/ninfer/%s", fixture_text(container, "entry", 1));
        qp_status status = qp_artifact_open(path, NULL, &artifact, &error);
        if (refusal != NULL) {
            assert_int_equal(status, QP_MALFORMED);
            assert_string_equal(error.check, refusal);
            assert_true(error.offset >= 0);
        } else {
            assert_int_equal(status, QP_OK);
            assert_string_equal(qp_artifact_version(artifact), "3");
            assert_objects(artifact, container);
        }
        qp_artifact_close(artifact);
        count++;
    }
    assert_int_equal(count, 11);
    fixture_index_close(&index);
}

/* Asks for everything that the file lists: QP_OK, or the first refusal. */
static qp_status ask_for_all(qp_artifact *artifact, qp_error *error)
{
    size_t count;
    qp_status status = QP_OK;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    for (size_t i = 0; i < count && status == QP_OK; i++) {
        const uint8_t *bytes;
        status = qp_artifact_view(artifact, &tensors[i], 0, tensors[i].bytes, &bytes, error);
    }
    const qp_artifact_resource *resources = qp_artifact_resources(artifact, &count);
    for (size_t i = 0; i < count && status == QP_OK; i++) {
        uint8_t *bytes = malloc((size_t)resources[i].bytes);
        status = qp_artifact_read_resource(artifact, &resources[i], bytes, error);
        free(bytes);
    }
    return status;
}

static void run_directory_case(qp_json_value record)
{
    const char *refusal = fixture_text(record, "refusal", 0);
    const char *stage = fixture_text(record, "stage", 1);
    qp_json_value text;
    qp_buffer json, file;
    qp_error error;

    qp_buffer_init(&json, NULL);
    if (qp_json_find(record, "json", &text)) {
        qp_json_append_string(text, &json);
    } else {
        const char *hex;
        size_t length;
        assert_true(qp_json_find(record, "json_hex", &text));
        assert_true(qp_json_string_view(text, &hex, &length));
        for (size_t i = 0; i < length; i += 2) {
            char digits[3] = {hex[i], hex[i + 1], '\0'};
            qp_buffer_le(&json, strtoul(digits, NULL, 16), 1);
        }
    }
    build_ninfer(&file, json.bytes, json.size, 9988);
    if (refusal != NULL && strcmp(stage, "directory") == 0) {
        assert_open_refused("tiny.ninfer", file.bytes, file.size, refusal);
    } else {
        qp_artifact *artifact = open_bytes("tiny.ninfer", file.bytes, file.size);
        if (strcmp(stage, "encoding") == 0) {
            assert_int_not_equal(ask_for_all(artifact, &error), QP_OK);
            assert_string_equal(error.check, refusal);
        }
        qp_artifact_close(artifact);
    }
    qp_buffer_free(&file);
    qp_buffer_free(&json);
}

static void test_directory_cases(void **state)
{
    fixture_index index;
    qp_json_value group, cases, record;
    size_t count = 0;
    (void)state;

    fixture_index_open(&index, "ninfer");
    assert_true(qp_json_find(index.root, "directory_cases", &group));
    assert_true(qp_json_find(group, "cases", &cases));
    qp_json_iterator iterator = qp_json_iterate(cases);
    for (; qp_json_next(&iterator, &record); count++)
        run_directory_case(record);
    assert_int_equal(count, 43);
    fixture_index_close(&index);
}

/* ---- continuations -------------------------------------------------------------------------- */

static const char *const shard_names[] = {"a-sharded.ninfer", "a-sharded.ninfer.part-0001",
                                          "a-sharded.ninfer.part-0002"};

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

/* The three files in the folder of the test, the one `index` with a byte set, or cut, or swapped.
 */
static void write_shards(void)
{
    for (size_t i = 0; i < 3; i++) {
        qp_file file = fixture_open("ninfer", shard_names[i]);
        write_file(shard_names[i], file.bytes, file.size);
        qp_file_close(&file);
    }
}

static int remove_shards(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        remove(shard_names[i]);
    return 0;
}

static void set_byte(size_t shard, size_t at, uint8_t keep, uint8_t flip)
{
    qp_file file = fixture_open("ninfer", shard_names[shard]);
    uint8_t *bytes = malloc(file.size);
    memcpy(bytes, file.bytes, file.size);
    bytes[at] = (uint8_t)((bytes[at] & keep) ^ flip);
    write_file(shard_names[shard], bytes, file.size);
    free(bytes);
    qp_file_close(&file);
}

static void mutate(const char *mutation)
{
    if (strncmp(mutation, "remove the file", 15) == 0) {
        remove(shard_names[1]);
    } else if (strncmp(mutation, "byte 7 ", 7) == 0) {
        set_byte(1, 7, 0, 2);
    } else if (strncmp(mutation, "byte 8 ", 7) == 0) {
        set_byte(1, 8, 0, 9);
    } else if (strncmp(mutation, "byte 16 ", 8) == 0) {
        set_byte(2, 16, 0xff, 0xff);
    } else if (strncmp(mutation, "last byte ", 10) == 0) {
        qp_file file = fixture_open("ninfer", shard_names[2]);
        write_file(shard_names[2], file.bytes, file.size - 1);
        qp_file_close(&file);
    } else {
        assert_int_equal(strncmp(mutation, "contents of ", 12), 0);
        qp_file one = fixture_open("ninfer", shard_names[1]);
        qp_file two = fixture_open("ninfer", shard_names[2]);
        write_file(shard_names[1], two.bytes, two.size);
        write_file(shard_names[2], one.bytes, one.size);
        qp_file_close(&one);
        qp_file_close(&two);
    }
}

static void test_continuation_mutations(void **state)
{
    fixture_index index;
    qp_json_value mutations, record;
    size_t count = 0;
    (void)state;

    fixture_index_open(&index, "ninfer");
    assert_true(qp_json_find(index.root, "continuation_mutations", &mutations));
    qp_json_iterator iterator = qp_json_iterate(mutations);
    for (; qp_json_next(&iterator, &record); count++) {
        qp_artifact *artifact;
        qp_error error;
        write_shards();
        mutate(fixture_text(record, "mutation", 0));
        /* opening looks at the entry alone; asking finds the fault, every time */
        assert_int_equal(qp_artifact_open(shard_names[0], NULL, &artifact, NULL), QP_OK);
        for (unsigned again = 0; again < 2; again++) {
            assert_int_not_equal(ask_for_all(artifact, &error), QP_OK);
            assert_string_equal(error.check, fixture_text(record, "refusal", 0));
        }
        qp_artifact_close(artifact);
    }
    assert_int_equal(count, 6);
    fixture_index_close(&index);
}

/* Pieces of every size and place, over all file boundaries, are the bytes of the whole; a view is
 * given where they lie in one file. */
static void test_reads_across_files(void **state)
{
    qp_artifact *single, *sharded;
    size_t count, straddling = 0;
    (void)state;

    assert_int_equal(qp_artifact_open(QP_TEST_DATA "/ninfer/a-single.ninfer", NULL, &single, NULL),
                     QP_OK);
    assert_int_equal(
        qp_artifact_open(QP_TEST_DATA "/ninfer/a-sharded.ninfer", NULL, &sharded, NULL), QP_OK);
    assert_int_equal(qp_artifact_file_count(sharded), 3);
    assert_string_equal(qp_artifact_file_name(sharded, 2), shard_names[2]);
    assert_null(qp_artifact_file_name(sharded, 3));
    const qp_artifact_tensor *tensors = qp_artifact_tensors(sharded, &count);
    for (size_t i = 0; i < count; i++) {
        const qp_artifact_tensor *whole = qp_artifact_find(single, tensors[i].name);
        const uint8_t *expected, *view;
        uint8_t *bytes = malloc((size_t)whole->bytes);
        assert_int_equal(qp_artifact_view(single, whole, 0, whole->bytes, &expected, NULL), QP_OK);
        assert_non_null(expected);
        for (uint64_t at = 0; at < whole->bytes; at += 97) {
            uint64_t size = whole->bytes - at < 1031 ? whole->bytes - at : 1031;
            assert_int_equal(qp_artifact_read(sharded, &tensors[i], at, size, bytes, NULL), QP_OK);
            assert_memory_equal(bytes, expected + at, (size_t)size);
            assert_int_equal(qp_artifact_view(sharded, &tensors[i], at, size, &view, NULL), QP_OK);
            straddling += view == NULL;
            if (view != NULL)
                assert_memory_equal(view, bytes, (size_t)size);
        }
        free(bytes);
    }
    assert_true(straddling > 0);
    qp_artifact_close(sharded);
    qp_artifact_close(single);
}

static void test_ranges_outside(void **state)
{
    qp_artifact *artifact;
    qp_error error;
    const uint8_t *bytes;
    size_t count;
    (void)state;

    assert_int_equal(
        qp_artifact_open(QP_TEST_DATA "/ninfer/a-sharded.ninfer", NULL, &artifact, NULL), QP_OK);
    const qp_artifact_tensor *t = qp_artifact_tensors(artifact, &count);
    assert_int_equal(qp_artifact_view(artifact, t, t->bytes, 0, &bytes, NULL), QP_OK);
    assert_non_null(bytes);
    assert_int_equal(qp_artifact_view(artifact, t, t->bytes, 1, &bytes, &error),
                     QP_INVALID_ARGUMENT);
    assert_null(bytes);
    assert_int_equal(qp_artifact_view(artifact, t, 1, UINT64_MAX, &bytes, &error),
                     QP_INVALID_ARGUMENT);
    qp_artifact_close(artifact);
}

/* In memory there is no folder to find continuations in. */
static void test_continuations_of_bytes(void **state)
{
    qp_file file = fixture_open("ninfer", shard_names[0]);
    qp_artifact *artifact = open_bytes(shard_names[0], file.bytes, file.size);
    qp_error error;
    (void)state;
    assert_int_equal(ask_for_all(artifact, &error), QP_IO);
    assert_string_equal(error.check, "F-PARTMISSING");
    qp_artifact_close(artifact);
    qp_file_close(&file);
}

/* ---- framing -------------------------------------------------------------------------------- */

static void test_other_versions(void **state)
{
    uint8_t header[32] = {'N', 'I', 'N', 'F', 'E', 'R', 0, 1, 4};
    qp_artifact *artifact;
    qp_error error;
    (void)state;

    for (uint8_t version = 1; version <= 2; version++) {
        header[7] = version;
        assert_int_equal(
            qp_artifact_open_bytes("m", header, sizeof header, NULL, &artifact, &error),
            QP_MALFORMED);
        assert_string_equal(error.check, "F-MAGIC");
        assert_non_null(strstr(error.message, version == 1 ? "version 1" : "version 2"));
        assert_non_null(strstr(error.message, "convert"));
    }
    memcpy(header, "NINPRT\0\3", 8);
    assert_int_equal(qp_artifact_open_bytes("m", header, sizeof header, NULL, &artifact, &error),
                     QP_MALFORMED);
    assert_non_null(strstr(error.message, "entry"));
    /* a wrong first byte: the name tells what it should be, and without one nothing does */
    header[0] = 'X';
    assert_open_refused_at("m.ninfer", header, sizeof header, "F-MAGIC", 0);
    assert_int_equal(qp_artifact_open_bytes("m", header, sizeof header, NULL, &artifact, &error),
                     QP_MALFORMED);
    assert_null(error.check);
    assert_int_equal(error.offset, 0);
}

static void test_truncation(void **state)
{
    qp_file file = fixture_open("ninfer", "a-tiny-base.ninfer");
    (void)state;
    assert_prefixes_refused("a.ninfer", file.bytes, file.size, file.size);
    qp_file_close(&file);
}

/* ---- the checks of a directory -------------------------------------------------------------- */

#define FILES "\"files\":[{\"path\":null,\"payload_bytes\":512}]"
#define OBJECT                                                                                     \
    "{\"id\":\"t\",\"kind\":\"tensor\",\"shape\":[2,3],\"format\":\"bf16\","                       \
    "\"layout\":\"contiguous_le_v1\",\"offset\":0,\"bytes\":12}"
#define RESOURCE                                                                                   \
    "{\"id\":\"r\",\"kind\":\"resource\",\"encoding\":\"raw_bytes_v1\",\"offset\":12,\"bytes\":3}"
#define COMPONENTS "\"components\":{\"text\":{\"config\":{}}}"
#define BINDINGS "\"bindings\":{\"p\":{\"object\":\"t\"}}"
#define REST "," BINDINGS ",\"uses\":[]"
#define OBJECTS "\"objects\":[" OBJECT "," RESOURCE "]"
#define WITH_OBJECT(record) "{" COMPONENTS ",\"objects\":[" record "]" REST "," FILES "}"
#define WITH_FILES(files) "{" COMPONENTS "," OBJECTS REST ",\"files\":" files "}"
#define WITH_COMPONENTS(value) "{\"components\":" value "," OBJECTS REST "," FILES "}"
#define WITH_BINDINGS(value)                                                                       \
    "{" COMPONENTS "," OBJECTS ",\"bindings\":" value ",\"uses\":[]," FILES "}"
#define WITH_BINDING(value) WITH_BINDINGS("{\"p\":" value "}")
#define WITH_USES(value) "{" COMPONENTS "," OBJECTS "," BINDINGS ",\"uses\":" value "," FILES "}"
#define WITH_END(members) "{" COMPONENTS "," OBJECTS REST "," FILES members "}"
#define TENSOR(shape, offset, bytes, more)                                                         \
    WITH_OBJECT("{\"id\":\"t\",\"kind\":\"tensor\",\"shape\":" shape                               \
                ",\"format\":\"f\",\"layout\":\"l\",\"offset\":" offset ",\"bytes\":" bytes more   \
                "}")

typedef struct check_case {
    const char *json;
    const char *check; /* NULL: accepted */
} check_case;

static const check_case text_cases[] = {
    {WITH_END(""), NULL},
    {"\xef\xbb\xbf" WITH_END(""), "C-JSON"},
    {"[]", "C-OBJECT"},
    {"", "F-JSONLEN"},
    {"{", "C-JSON"},
    {"{} {}", "C-JSON"},
    {"{\"a\":Infinity}", "C-JSON"},
    {"{\"a\":-Infinity}", "C-JSON"},
    {"{\"a\":1,\"\\u0061\":2}", "C-DUPMEMBER"},
    {"{}", "C-MISSING"},
    {WITH_END(",\"x\":1"), "C-UNKNOWN"},
    {WITH_END(",\"metadata\":[]"), "C-META"},
    {WITH_END(",\"metadata\":null"), "C-META"},
    {WITH_END(",\"provenance\":1"), "C-META"},
    {WITH_END(",\"metadata\":{\"name\":\"\"}"), "C-ID"},
    {WITH_END(",\"metadata\":{\"name\":3}"), "C-ID"},
    {WITH_END(",\"metadata\":{\"name\":\"a\",\"x\":[1.5e3,\"\\ud800\"]}"), NULL},
};

static const check_case file_cases[] = {
    {WITH_FILES("{}"), "C-FILES"},
    {WITH_FILES("[]"), "C-FILES"},
    {WITH_FILES("[1]"), "C-OBJECT"},
    {WITH_FILES("[{\"path\":null}]"), "C-MISSING"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512,\"x\":0}]"), "C-UNKNOWN"},
    {WITH_FILES("[{\"path\":\"a\",\"payload_bytes\":512}]"), "C-PATH0"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":0}]"), "C-INT"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512.0}]"), "C-INT"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":18446744073709551616}]"), "C-INT"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512},"
                "{\"path\":\"a\",\"payload_bytes\":18446744073709551615}]"),
     "C-INT"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512},{\"path\":\"a\",\"payload_bytes\":1}]"),
     NULL},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512},{\"path\":\"a/b\",\"payload_bytes\":1}]"),
     "C-PATH"},
    {WITH_FILES(
         "[{\"path\":null,\"payload_bytes\":512},{\"path\":\"a\\\\b\",\"payload_bytes\":1}]"),
     "C-PATH"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512},{\"path\":\".\",\"payload_bytes\":1}]"),
     "C-PATH"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512},"
                "{\"path\":\"tiny.ninfer\",\"payload_bytes\":1}]"),
     "C-PATH"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512},{\"path\":\"a\",\"payload_bytes\":1},"
                "{\"path\":\"\\u0061\",\"payload_bytes\":1}]"),
     "C-PATH"},
    {WITH_FILES("[{\"path\":null,\"payload_bytes\":512},{\"path\":\"\",\"payload_bytes\":1}]"),
     "C-ID"},
};

static const check_case object_cases[] = {
    {TENSOR("[2,3]", "0", "12", ""), NULL},
    {TENSOR("[2,3]", "-0", "12", ""), NULL}, /* 0 */
    {TENSOR("[]", "0", "12", ",\"divisors\":7"), NULL},
    {WITH_OBJECT(""), "C-OBJECTS"},
    {"{" COMPONENTS ",\"objects\":{}" REST "," FILES "}", "C-OBJECTS"},
    {WITH_OBJECT("7"), "C-OBJECT"},
    {WITH_OBJECT("{\"id\":\"t\"}"), "C-KIND"},
    {WITH_OBJECT("{\"id\":\"t\",\"kind\":\"tensors\"}"), "C-KIND"},
    {WITH_OBJECT("{\"id\":\"t\",\"kind\":null}"), "C-KIND"},
    {WITH_OBJECT("{\"id\":\"t\",\"kind\":\"tensor\"}"), "C-MISSING"},
    {WITH_OBJECT("{\"id\":\"t\",\"kind\":\"resource\"}"), "C-MISSING"},
    {TENSOR("[2,3]", "0", "12", ",\"encoding\":\"raw_bytes_v1\""), "C-UNKNOWN"},
    {TENSOR("{}", "0", "12", ""), "C-SHAPE"},
    {TENSOR("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "0", "12", ""), NULL},
    {TENSOR("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "0", "12", ""), "C-SHAPE"},
    {TENSOR("[0]", "0", "12", ""), "C-INT"},
    {TENSOR("[-1]", "0", "12", ""), "C-INT"},
    {TENSOR("[true]", "0", "12", ""), "C-INT"},
    {TENSOR("[\"2\"]", "0", "12", ""), "C-INT"},
    {TENSOR("[1e1]", "0", "12", ""), "C-INT"},
    {TENSOR("[4294967296,4294967296]", "0", "12", ""), "C-INT"},
    {TENSOR("[2,3]", "-1", "12", ""), "C-INT"},
    {TENSOR("[2,3]", "0", "0", ""), "C-INT"},
    {TENSOR("[2,3]", "18446744073709551615", "1", ""), "C-INT"},
    {TENSOR("[2,3]", "501", "12", ""), "C-SPAN"},
    {TENSOR("[2,3]", "500", "12", ""), NULL}, /* opening does not look at alignment */
    {TENSOR("[2,3]", "0", "12", ",\"divisors\":0"), "C-INT"},
    {WITH_OBJECT(OBJECT "," OBJECT), "C-SPAN"},
    {WITH_OBJECT(OBJECT ",{\"id\":\"t\",\"kind\":\"resource\",\"encoding\":\"e\",\"offset\":12,"
                        "\"bytes\":3}"),
     "C-DUPID"},
    {WITH_OBJECT(OBJECT ",{\"id\":\"\\u0000\",\"kind\":\"resource\",\"encoding\":\"e\","
                        "\"offset\":12,\"bytes\":3}"),
     "C-ID"},
    {WITH_OBJECT(OBJECT ",{\"id\":\"\\ud83d\",\"kind\":\"resource\",\"encoding\":\"e\","
                        "\"offset\":12,\"bytes\":3}"),
     "C-ID"},
    {WITH_OBJECT(OBJECT ",{\"id\":\"\\ud83d\\ude00\",\"kind\":\"resource\",\"encoding\":\"e\","
                        "\"offset\":12,\"bytes\":3}"),
     NULL},
    {WITH_OBJECT(OBJECT ",{\"id\":[],\"kind\":\"resource\",\"encoding\":\"e\",\"offset\":12,"
                        "\"bytes\":3}"),
     "C-ID"},
};

static const check_case component_cases[] = {
    {WITH_COMPONENTS("{}"), "C-COMPONENTS"},
    {WITH_COMPONENTS("[]"), "C-COMPONENTS"},
    {WITH_COMPONENTS("{\"ngram\":{\"config\":{}}}"), NULL},
    {WITH_COMPONENTS("{\"\":{\"config\":{}}}"), "C-ID"},
    {WITH_COMPONENTS("{\"a\":7}"), "C-OBJECT"},
    {WITH_COMPONENTS("{\"a\":{}}"), "C-MISSING"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"x\":0}}"), "C-UNKNOWN"},
    {WITH_COMPONENTS("{\"a\":{\"config\":\"\"}}"), "C-CONFIG"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"target\":\"b\"}}"), "C-TARGET"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"target\":null}}"), "C-ID"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"target\":\"a\"}}"), NULL},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"resources\":[]}}"), "C-RESOURCES"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"resources\":{\"k\":\"r\"}}}"), NULL},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"resources\":{\"\":\"r\"}}}"), "C-ID"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"resources\":{\"k\":\"x\"}}}"), "C-REF"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"resources\":{\"k\":\"t\"}}}"), "C-REF"},
    {WITH_COMPONENTS("{\"a\":{\"config\":{},\"proposal\":{\"domain\":\"full\"}}}"), "C-PROPOSAL"},
    {WITH_COMPONENTS("{\"text\":{\"config\":{},\"proposal\":{\"domain\":\"full\"}}}"), NULL},
    {WITH_COMPONENTS("{\"text\":{\"config\":{},\"proposal\":{\"domain\":\"half\"}}}"),
     "C-PROPOSAL"},
    {WITH_COMPONENTS("{\"text\":{\"config\":{},\"proposal\":{\"domain\":\"indexed\"}}}"),
     "C-PROPOSAL"},
    {WITH_COMPONENTS("{\"text\":{\"config\":{},\"proposal\":{\"domain\":\"indexed\",\"rows\":0}}}"),
     "C-INT"},
    {WITH_COMPONENTS("{\"text\":{\"config\":{},\"proposal\":[]}}"), "C-OBJECT"},
};

static const check_case binding_cases[] = {
    {WITH_BINDINGS("[]"), "C-BINDINGS"},
    {WITH_BINDINGS("{}"), NULL},
    {WITH_BINDINGS("{\"\":{\"object\":\"t\"}}"), "C-ID"},
    {WITH_BINDING("7"), "C-OBJECT"},
    {WITH_BINDING("{}"), "C-MISSING"},
    {WITH_BINDING("{\"object\":\"t\",\"parts\":[]}"), "C-UNKNOWN"},
    {WITH_BINDING("{\"object\":\"r\"}"), "C-REF"},
    {WITH_BINDING("{\"object\":\"x\"}"), "C-REF"},
    {WITH_BINDING("{\"object\":7}"), "C-ID"},
    {WITH_BINDING("{\"parts\":[]}"), "C-PARTS"},
    {WITH_BINDING("{\"parts\":{}}"), "C-PARTS"},
    {WITH_BINDING("{\"parts\":[7]}"), "C-OBJECT"},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\"}]}"), "C-MISSING"},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\",\"range\":[0,6]}]}"), NULL},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\",\"range\":[0,7]}]}"), "C-RANGE"},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\",\"range\":[3,3]}]}"), "C-RANGE"},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\",\"range\":[0]}]}"), "C-RANGE"},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\",\"range\":[0,1,2]}]}"), "C-RANGE"},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\",\"range\":[0,1.0]}]}"), "C-RANGE"},
    {WITH_BINDING("{\"parts\":[{\"object\":\"t\",\"range\":null}]}"), "C-RANGE"},
    {WITH_USES("{}"), "C-USES"},
    {WITH_USES("[7]"), "C-OBJECT"},
    {WITH_USES("[{\"parameter\":\"p\"}]"), "C-MISSING"},
    {WITH_USES("[{\"parameter\":\"q\",\"input\":\"x\"}]"), "C-USEPARAM"},
    {WITH_USES("[{\"parameter\":\"p\",\"input\":\"\"}]"), "C-ID"},
    {WITH_USES("[{\"parameter\":\"p\",\"input\":\"x\"},{\"parameter\":\"p\",\"input\":\"y\"},"
               "{\"parameter\":\"p\",\"input\":\"x\"}]"),
     "C-DUPUSE"},
    {WITH_USES("[{\"parameter\":\"p\",\"input\":\"x\",\"activation_policy\":\"AllowA4\"}]"), NULL},
    {WITH_USES("[{\"parameter\":\"p\",\"input\":\"x\",\"activation_policy\":\"A8\"}]"), "C-POLICY"},
    {WITH_USES("[{\"parameter\":\"p\",\"input\":\"x\",\"auxiliaries\":[]}]"), "C-AUX"},
    {WITH_USES("[{\"parameter\":\"p\",\"input\":\"x\",\"auxiliaries\":{\"a\":"
               "{\"object\":\"r\"}}}]"),
     "C-REF"},
};

static void run_cases(const check_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        qp_buffer file;
        build_ninfer(&file, cases[i].json, strlen(cases[i].json), 512);
        if (cases[i].check != NULL)
            assert_open_refused("tiny.ninfer", file.bytes, file.size, cases[i].check);
        else
            qp_artifact_close(open_bytes("tiny.ninfer", file.bytes, file.size));
        qp_buffer_free(&file);
    }
}

#define RUN(cases) run_cases(cases, sizeof(cases) / sizeof *(cases))

static void test_checks(void **state)
{
    (void)state;
    RUN(text_cases);
    RUN(file_cases);
    RUN(object_cases);
    RUN(component_cases);
    RUN(binding_cases);
}

/* 128 levels are read, 129 are not; the directory's own object is the first. */
static void test_depth(void **state)
{
    (void)state;
    for (size_t depth = 127; depth <= 128; depth++) {
        qp_buffer json, file;
        qp_buffer_init(&json, NULL);
        qp_buffer_text(&json, "{" COMPONENTS "," OBJECTS REST "," FILES ",\"metadata\":{\"a\":");
        for (size_t i = 2; i < depth; i++)
            qp_buffer_text(&json, "[");
        for (size_t i = 2; i < depth; i++)
            qp_buffer_text(&json, "]");
        qp_buffer_text(&json, "}}");
        build_ninfer(&file, json.bytes, json.size, 512);
        qp_artifact_close(open_bytes("tiny.ninfer", file.bytes, file.size));
        qp_buffer_free(&file);
        qp_buffer_free(&json);
    }
    qp_buffer json, file;
    qp_buffer_init(&json, NULL);
    for (size_t i = 0; i < 129; i++)
        qp_buffer_text(&json, "{\"a\":");
    build_ninfer(&file, json.bytes, json.size, 512);
    assert_open_refused("tiny.ninfer", file.bytes, file.size, "C-JSON");
    qp_buffer_free(&file);
    qp_buffer_free(&json);
}

/* The place of a refusal is an offset in the file. */
static void test_places(void **state)
{
    const char *json = WITH_END(",\"x\":1");
    qp_buffer file;
    (void)state;
    build_ninfer(&file, json, strlen(json), 512);
    assert_open_refused_at("tiny.ninfer", file.bytes, file.size, "C-UNKNOWN",
                           32 + (int64_t)(strstr(json, "\"x\"") - json));
    qp_buffer_free(&file);
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void assert_metadatum(const qp_artifact *artifact, const char *key, const char *text)
{
    const qp_artifact_metadatum *entry = qp_artifact_metadata_find(artifact, key);
    assert_non_null(entry);
    assert_int_equal(entry->type, QP_META_JSON);
    assert_int_equal(entry->size, strlen(text));
    assert_memory_equal(entry->value, text, strlen(text));
}

static void test_metadata(void **state)
{
    const char *json = "{\"components\":{\"text\":{\"config\":{\"layers\":[1, "
                       "{\"a\":\"]}\\\"\"}],\"n\":-0}}}," OBJECTS REST "," FILES
                       ",\"metadata\":{\"name\":\"\\u00e9\",\"z\\u0000\":null,"
                       "\"\\ud800\":true},\"provenance\":{\"converter\":\"c\"}}";
    qp_buffer file;
    size_t count, size;
    (void)state;

    build_ninfer(&file, json, strlen(json), 512);
    qp_artifact *artifact = open_bytes("tiny.ninfer", file.bytes, file.size);
    qp_artifact_metadata(artifact, &count);
    assert_int_equal(count, 6);
    assert_metadatum(artifact, "name", "\"\\u00e9\"");
    assert_metadatum(artifact, "text/layers", "[1, {\"a\":\"]}\\\"\"}]");
    assert_metadatum(artifact, "text/n", "-0");
    assert_metadatum(artifact, "provenance/converter", "\"c\"");
    assert_metadatum(artifact, "z\\u0000", "null"); /* no C string: as the text spells it */
    assert_metadatum(artifact, "\\ud800", "true");
    assert_null(qp_artifact_metadata_find(artifact, "z"));
    assert_memory_equal(qp_artifact_directory(artifact, &size), json, strlen(json));
    assert_int_equal(size, strlen(json));
    assert_int_equal(qp_artifact_alignment(artifact), 256);
    assert_string_equal(qp_artifact_kind_of(artifact)->name, "ninfer");
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
}

/* ---- size and memory ------------------------------------------------------------------------ */

/* Names in an order that sorting by pieces would be slow for, and a repetition at the end. */
static void test_many_objects(void **state)
{
    enum { COUNT = 20000 };
    qp_buffer json, file;
    (void)state;

    for (unsigned repeated = 0; repeated < 2; repeated++) {
        qp_buffer_init(&json, NULL);
        qp_buffer_text(&json, "{" COMPONENTS ",\"bindings\":{},\"uses\":[],\"files\":[{\"path\":"
                              "null,\"payload_bytes\":20000}],\"objects\":[");
        for (unsigned i = 0; i < COUNT; i++)
            qp_buffer_format(&json,
                             "%s{\"id\":\"w%05u\",\"kind\":\"resource\",\"encoding\":\"e\","
                             "\"offset\":%u,\"bytes\":1}",
                             i > 0 ? "," : "", repeated && i == COUNT - 1 ? 7 : (i * 7919u) % COUNT,
                             i);
        qp_buffer_text(&json, "]}");
        assert_false(json.failed);
        build_ninfer(&file, json.bytes, json.size, COUNT);
        qp_artifact *artifact;
        qp_error error;
        qp_status status =
            qp_artifact_open_bytes("m", file.bytes, file.size, NULL, &artifact, &error);
        assert_int_equal(status, repeated ? QP_MALFORMED : QP_OK);
        if (repeated)
            assert_string_equal(error.check, "C-DUPID");
        else
            assert_int_equal(qp_artifact_resource_find(artifact, "w07919")->offset, 1);
        qp_artifact_close(artifact);
        qp_buffer_free(&file);
        qp_buffer_free(&json);
    }
}

static void test_every_allocation_fails_once(void **state)
{
    qp_file file = fixture_open("ninfer", "a-single.ninfer");
    (void)state;
    assert_open_survives("a.ninfer", file.bytes, file.size);
    qp_file_close(&file);
}

/* The same over files, with continuations. */
static void test_every_allocation_of_files(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_artifact *artifact;
        qp_status status =
            qp_artifact_open(QP_TEST_DATA "/ninfer/a-sharded.ninfer", &allocator, &artifact, NULL);
        if (status == QP_OK)
            status = ask_for_all(artifact, NULL);
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
        cmocka_unit_test(test_containers),
        cmocka_unit_test(test_directory_cases),
        cmocka_unit_test_teardown(test_continuation_mutations, remove_shards),
        cmocka_unit_test(test_reads_across_files),
        cmocka_unit_test(test_ranges_outside),
        cmocka_unit_test(test_continuations_of_bytes),
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_many_objects),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_every_allocation_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
