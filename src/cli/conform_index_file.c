/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_index_file.c - the whole files of an index: artifacts with their objects, directories to
 * be wrapped into one, GGUF and safetensors files.
 */
#include "artifact/artifact.h"
#include "artifact/imatrix.h"
#include "cli/cli.h"
#include "cli/conform_index.h"
#include "cli/weights.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- objects ------------------------------------------------------------------------------ */

static qp_status read_tensor(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                             uint8_t **bytes, size_t *size, qp_error *error)
{
    *bytes = NULL;
    qp_status status = qp_weights_size(tensor->bytes, "a tensor", size, error);
    if (status != QP_OK)
        return status;
    *bytes = qp_allocate(NULL, *size, 1);
    if (*bytes == NULL)
        return qp_fail_memory(error, "a tensor");
    return qp_artifact_read(artifact, tensor, 0, tensor->bytes, *bytes, error);
}

static qp_status read_resource(qp_artifact *artifact, const qp_artifact_resource *resource,
                               uint8_t **bytes, size_t *size, qp_error *error)
{
    *bytes = NULL;
    qp_status status = qp_weights_size(resource->bytes, "a resource", size, error);
    if (status != QP_OK)
        return status;
    *bytes = qp_allocate(NULL, *size, 1);
    if (*bytes == NULL)
        return qp_fail_memory(error, "a resource");
    return qp_artifact_read_resource(artifact, resource, *bytes, error);
}

static qp_status ask_tensor(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                            qp_error *error)
{
    qp_matrix matrix;
    uint8_t *bytes = NULL;
    size_t size = 0;
    qp_status status = QP_OK;
    /* .ninfer's names mean something when the object is asked for */
    if (tensor->element == NULL || tensor->format != NULL)
        status = qp_artifact_matrix(artifact, tensor, &matrix, error);
    if (status == QP_OK)
        status = read_tensor(artifact, tensor, &bytes, &size, error);
    qp_release(NULL, bytes, size, 1);
    return status;
}

static qp_status ask_resource(qp_artifact *artifact, const qp_artifact_resource *resource,
                              qp_error *error)
{
    uint8_t *bytes;
    size_t size;
    qp_status status = read_resource(artifact, resource, &bytes, &size, error);
    qp_release(NULL, bytes, size, 1);
    return status;
}

qp_status qp_index_read_all(qp_artifact *artifact, qp_error *error)
{
    size_t n_tensors, n_resources, t = 0, r = 0;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &n_tensors);
    const qp_artifact_resource *resources = qp_artifact_resources(artifact, &n_resources);
    qp_status status = QP_OK;
    while (status == QP_OK && (t < n_tensors || r < n_resources)) {
        bool resource =
            r < n_resources && (t == n_tensors || resources[r].offset < tensors[t].offset);
        status = resource ? ask_resource(artifact, &resources[r++], error)
                          : ask_tensor(artifact, &tensors[t++], error);
    }
    return status;
}

/* ---- .ninfer artifacts -------------------------------------------------------------------- */

static qp_status compare_u64(const char *what, uint64_t given, uint64_t wanted, qp_error *why)
{
    return given == wanted ? QP_OK
                           : qp_fail(why, QP_MALFORMED, "its %s is %" PRIu64 ", not %" PRIu64, what,
                                     given, wanted);
}

static qp_status compare_text(qp_json_value object, const char *name, const char *given,
                              qp_error *why)
{
    char wanted[QP_INDEX_NAME];
    qp_status status = qp_index_text(object, name, wanted, why);
    if (status != QP_OK || wanted[0] == '\0' || strcmp(given, wanted) == 0)
        return status;
    return qp_fail(why, QP_MALFORMED, "its %s is '%.60s', not '%.60s'", name, given, wanted);
}

static qp_status compare_shape(qp_json_value object, const char *name,
                               const qp_artifact_tensor *tensor, qp_error *why)
{
    uint64_t shape[QP_SHAPE_RANK_MAX];
    uint32_t rank;
    qp_status status = qp_index_shape(object, name, shape, &rank, why);
    if (status != QP_OK)
        return status;
    if (rank != tensor->rank || memcmp(shape, tensor->shape, rank * sizeof *shape) != 0)
        return qp_fail(why, QP_MALFORMED, "its shape is another one");
    return QP_OK;
}

static const qp_artifact_resource *find_resource(const qp_artifact *artifact, const char *id)
{
    size_t count;
    const qp_artifact_resource *resources = qp_artifact_resources(artifact, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(resources[i].id, id) == 0)
            return &resources[i];
    return NULL;
}

static qp_status compare_place(qp_json_value object, uint64_t offset, uint64_t bytes, qp_error *why)
{
    uint64_t wanted;
    qp_status status = qp_index_u64(object, "offset", offset, &wanted, why);
    if (status == QP_OK)
        status = compare_u64("offset", offset, wanted, why);
    if (status == QP_OK)
        status = qp_index_u64(object, "bytes", bytes, &wanted, why);
    return status == QP_OK ? compare_u64("length", bytes, wanted, why) : status;
}

static qp_status compare_tensor(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                qp_json_value object, qp_error *why)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    uint64_t divisors;
    qp_status status = compare_place(object, tensor->offset, tensor->bytes, why);
    if (status == QP_OK)
        status = compare_shape(object, "shape", tensor, why);
    if (status == QP_OK)
        status =
            compare_text(object, "format", tensor->format == NULL ? "" : tensor->format->name, why);
    if (status == QP_OK)
        status =
            compare_text(object, "layout", tensor->layout == NULL ? "" : tensor->layout->name, why);
    if (status == QP_OK)
        status = qp_index_u64(object, "divisors", 1, &divisors, why);
    if (status == QP_OK)
        status = compare_u64("number of divisors", tensor->divisors, divisors, why);
    if (status == QP_OK)
        status = read_tensor(artifact, tensor, &bytes, &size, why);
    if (status == QP_OK)
        status = qp_index_digest(object, "payload_sha256", bytes, size, why);
    qp_release(NULL, bytes, size, 1);
    return status;
}

static qp_status compare_resource(qp_artifact *artifact, const qp_artifact_resource *resource,
                                  qp_json_value object, qp_error *why)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    qp_status status = compare_place(object, resource->offset, resource->bytes, why);
    if (status == QP_OK)
        status = compare_text(object, "encoding", resource->encoding, why);
    if (status == QP_OK)
        status = read_resource(artifact, resource, &bytes, &size, why);
    if (status == QP_OK)
        status = qp_index_digest(object, "payload_sha256", bytes, size, why);
    qp_release(NULL, bytes, size, 1);
    return status;
}

static qp_status compare_object(qp_artifact *artifact, qp_json_value object, qp_error *why)
{
    char id[QP_INDEX_NAME];
    qp_error inner = {0};
    qp_status status = qp_index_text(object, "id", id, why);
    if (status != QP_OK)
        return status;
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, id);
    const qp_artifact_resource *resource = find_resource(artifact, id);
    if (tensor == NULL && resource == NULL)
        return qp_fail(why, QP_MALFORMED, "there is no object '%.80s'", id);
    status = tensor != NULL ? compare_tensor(artifact, tensor, object, &inner)
                            : compare_resource(artifact, resource, object, &inner);
    return status == QP_OK ? QP_OK
                           : qp_fail(why, status, "object '%.60s': %.150s", id, inner.message);
}

static qp_status compare_objects(qp_artifact *artifact, qp_json_value item, qp_error *why)
{
    qp_json_value objects, object;
    size_t n_tensors, n_resources;
    qp_status status = QP_OK;
    if (!qp_json_find(item, "objects", &objects))
        return QP_OK;
    (void)qp_artifact_tensors(artifact, &n_tensors);
    (void)qp_artifact_resources(artifact, &n_resources);
    if (qp_json_count(objects) != n_tensors + n_resources)
        return qp_fail(why, QP_MALFORMED, "it has %zu objects, not %zu", n_tensors + n_resources,
                       qp_json_count(objects));
    qp_json_iterator iterator = qp_json_iterate(objects);
    while (status == QP_OK && qp_json_next(&iterator, &object))
        status = compare_object(artifact, object, why);
    return status;
}

static qp_status compare_id(const qp_artifact *artifact, qp_json_value item, qp_error *why)
{
    qp_buffer hex;
    qp_buffer_init(&hex, NULL);
    qp_buffer_hex(&hex, artifact->id, sizeof artifact->id);
    qp_buffer_append(&hex, "", 1);
    qp_status status = hex.failed ? qp_fail_memory(why, "an artifact's id")
                                  : compare_text(item, "artifact_id", (const char *)hex.bytes, why);
    qp_buffer_free(&hex);
    return status;
}

/* Every file's size and digest, before anything is read as an artifact. */
static qp_status check_files(const qp_index *index, qp_json_value item, qp_error *why)
{
    qp_json_value files = QP_JSON_NO_VALUE, reference;
    qp_file file;
    qp_status status = qp_json_member(item, "files", QP_JSON_ARRAY, &files, why);
    qp_json_iterator iterator = qp_json_iterate(files);
    while (status == QP_OK && qp_json_next(&iterator, &reference)) {
        status = qp_index_open(index, reference, &file, why);
        if (status == QP_OK)
            qp_file_close(&file);
    }
    return status;
}

/* Opens the file of a name in the index's folder, and asks for all that it holds. */
static qp_status open_all(const char *path, qp_artifact **artifact, qp_error *error)
{
    qp_status status = qp_artifact_open(path, NULL, artifact, error);
    return status == QP_OK ? qp_index_read_all(*artifact, error) : status;
}

qp_status qp_index_container(const qp_index *index, qp_json_value item, qp_error *why)
{
    qp_index_expectation expected;
    char entry[QP_INDEX_NAME], *path;
    qp_artifact *artifact = NULL;
    qp_error got = {0};
    qp_status status = check_files(index, item, why);
    if (status == QP_OK)
        status = qp_index_expect(item, &expected, why);
    if (status == QP_OK)
        status = qp_index_text(item, "entry", entry, why);
    if (status == QP_OK)
        status = qp_index_path(index, entry, &path, why);
    if (status != QP_OK)
        return status;
    status = open_all(path, &artifact, &got);
    free(path);
    if (status == QP_OK && !expected.refuse)
        status = qp_artifact_verify(artifact, 1, &got);
    status = qp_index_compare(&expected, status, &got, why);
    if (status == QP_OK && !expected.refuse)
        status = compare_id(artifact, item, why);
    if (status == QP_OK && !expected.refuse)
        status = compare_objects(artifact, item, why);
    qp_artifact_close(artifact);
    return status;
}

/* ---- directories -------------------------------------------------------------------------- */

enum {
    HEADER_SIZE = 32, /* artifact-container.md section 2.1 */
    PAGE = 4096,
    BASE_PAYLOAD = 9988, /* of the base that the cases are edits of */
    MOST_PAYLOAD = 1 << 20
};

/* files[0].payload_bytes of a directory, or the base's where the text does not tell it. */
static uint64_t payload_bytes(const qp_buffer *text)
{
    qp_json json;
    qp_json_value files, first;
    uint64_t bytes = BASE_PAYLOAD, told;
    qp_json_init(&json, NULL);
    json.allow_duplicates = true;
    if (qp_json_parse(&json, text->bytes, text->size, NULL) == QP_OK &&
        qp_json_find(qp_json_root(&json), "files", &files)) {
        qp_json_iterator iterator = qp_json_iterate(files);
        if (qp_json_next(&iterator, &first) &&
            qp_index_u64(first, "payload_bytes", BASE_PAYLOAD, &told, NULL) == QP_OK &&
            told <= MOST_PAYLOAD)
            bytes = told;
    }
    qp_json_free(&json);
    return bytes;
}

/* "json": text; "json_hex": bytes that are no text. */
static qp_status take_directory(qp_json_value item, qp_buffer *text, qp_error *why)
{
    qp_json_value value;
    const char *digits;
    size_t length;
    if (qp_json_find(item, "json", &value)) {
        qp_json_append_string(value, text);
    } else if (qp_json_find(item, "json_hex", &value) &&
               qp_json_string_view(value, &digits, &length) && length % 2 == 0) {
        for (size_t i = 0; i < length; i += 2) {
            char pair[3] = {digits[i], digits[i + 1], '\0'};
            char *end;
            qp_buffer_le(text, strtoul(pair, &end, 16), 1);
            if (end != pair + 2)
                return qp_json_fail(value, why, "no pair of hexadecimal digits");
        }
    } else {
        return qp_fail(why, QP_MALFORMED, "neither 'json' nor 'json_hex' is there");
    }
    return text->failed ? qp_fail_memory(why, "a directory") : QP_OK;
}

static void put_zeros(qp_buffer *file, uint64_t count)
{
    static const uint8_t zeros[PAGE];
    for (; count > 0; count -= count < PAGE ? count : PAGE)
        qp_buffer_append(file, zeros, count < PAGE ? (size_t)count : PAGE);
}

/* An entry file around the directory, its payload all zero. */
static void wrap(const qp_buffer *text, qp_buffer *file)
{
    static const uint8_t magic[] = {'N', 'I', 'N', 'F', 'E', 'R', 0, 3};
    qp_buffer_append(file, magic, sizeof magic);
    qp_buffer_le(file, text->size, 8);
    for (unsigned i = 0; i < QP_ARTIFACT_ID_SIZE; i++)
        qp_buffer_le(file, i, 1);
    qp_buffer_append(file, text->bytes, text->size);
    put_zeros(file, PAGE - 1 - (file->size - 1) % PAGE);
    put_zeros(file, payload_bytes(text));
}

static qp_status open_directory(const qp_buffer *file, bool ask, qp_error *error)
{
    qp_artifact *artifact;
    qp_status status =
        qp_artifact_open_bytes("tiny.ninfer", file->bytes, file->size, NULL, &artifact, error);
    if (status != QP_OK)
        return status;
    if (ask)
        status = qp_index_read_all(artifact, error);
    qp_artifact_close(artifact);
    return status;
}

/* The stage "encoding" opens what the stage "directory" would; its refusal comes later. */
static qp_status check_directory(qp_json_value item, const qp_buffer *file, qp_error *why)
{
    qp_index_expectation expected;
    char stage[QP_INDEX_NAME];
    qp_error got = {0};
    qp_status status = qp_index_expect(item, &expected, why);
    if (status == QP_OK)
        status = qp_index_text(item, "stage", stage, why);
    if (status != QP_OK)
        return status;
    if (strcmp(stage, "directory") == 0)
        return qp_index_compare(&expected, open_directory(file, false, &got), &got, why);
    if (strcmp(stage, "encoding") != 0)
        return qp_fail(why, QP_MALFORMED, "'stage' is neither directory nor encoding");
    status = open_directory(file, false, &got);
    if (status != QP_OK)
        return qp_fail(why, QP_MALFORMED, "opening is refused: %.180s", got.message);
    return qp_index_compare(&expected, open_directory(file, true, &got), &got, why);
}

qp_status qp_index_directory(const qp_index *index, qp_json_value item, qp_error *why)
{
    qp_buffer text, file;
    (void)index;
    qp_buffer_init(&text, NULL);
    qp_buffer_init(&file, NULL);
    qp_status status = take_directory(item, &text, why);
    if (status == QP_OK) {
        wrap(&text, &file);
        status =
            file.failed ? qp_fail_memory(why, "an artifact") : check_directory(item, &file, why);
    }
    qp_buffer_free(&file);
    qp_buffer_free(&text);
    return status;
}

/* ---- GGUF and safetensors ----------------------------------------------------------------- */

static int64_t ggml_type(const qp_artifact_tensor *tensor)
{
    const qp_ggml_type *type = qp_ggml_type_named(tensor->type);
    return type == NULL ? -1 : (int64_t)type->id;
}

static qp_status compare_listed(qp_artifact *artifact, qp_json_value listed, qp_error *why)
{
    char name[QP_INDEX_NAME];
    uint64_t type;
    uint8_t *bytes = NULL;
    size_t size = 0;
    qp_status status = qp_index_text(listed, "name", name, why);
    if (status != QP_OK)
        return status;
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, name);
    if (tensor == NULL)
        return qp_fail(why, QP_MALFORMED, "there is no tensor '%.80s'", name);
    status = compare_shape(listed, "shape_row_major", tensor, why);
    if (status == QP_OK)
        status = qp_index_u64(listed, "ggml_type", UINT64_MAX, &type, why);
    if (status == QP_OK && type != UINT64_MAX && ggml_type(tensor) != (int64_t)type)
        status = qp_fail(why, QP_MALFORMED, "tensor '%.60s' is of another type", name);
    if (status == QP_OK)
        status = compare_place(listed, tensor->offset, tensor->bytes, why);
    if (status == QP_OK)
        status = read_tensor(artifact, tensor, &bytes, &size, why);
    if (status == QP_OK)
        status = qp_index_digest(listed, "sha256", bytes, size, why);
    qp_release(NULL, bytes, size, 1);
    return status;
}

static qp_status compare_listing(qp_artifact *artifact, qp_json_value item, qp_error *why)
{
    qp_json_value tensors, listed;
    uint64_t wanted;
    size_t n_tensors, n_metadata;
    (void)qp_artifact_tensors(artifact, &n_tensors);
    (void)qp_artifact_metadata(artifact, &n_metadata);
    qp_status status = qp_index_u64(item, "kv_count", n_metadata, &wanted, why);
    if (status == QP_OK)
        status = compare_u64("number of keys", n_metadata, wanted, why);
    if (status == QP_OK)
        status = qp_index_u64(item, "alignment", artifact->alignment, &wanted, why);
    if (status == QP_OK)
        status = compare_u64("alignment", artifact->alignment, wanted, why);
    if (status != QP_OK || !qp_json_find(item, "tensors", &tensors))
        return status;
    status = compare_u64("number of tensors", n_tensors, qp_json_count(tensors), why);
    qp_json_iterator iterator = qp_json_iterate(tensors);
    while (status == QP_OK && qp_json_next(&iterator, &listed))
        status = compare_listed(artifact, listed, why);
    return status;
}

/* One vector of importance, in hexadecimal binary32 words, little-endian. */
static qp_status compare_vector(qp_imatrix *imatrix, qp_json_value config, qp_json_value name,
                                qp_json_value digits, qp_error *why)
{
    char parameter[QP_INDEX_NAME];
    qp_importance found;
    qp_buffer words, hex;
    const char *wanted;
    size_t length;
    qp_status status = qp_json_copy_string(name, parameter, sizeof parameter, why);
    if (status == QP_OK)
        status = qp_imatrix_find(imatrix, config, parameter, &found, why);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&words, NULL);
    qp_buffer_init(&hex, NULL);
    for (uint64_t i = 0; found.values != NULL && i < found.count; i++) {
        uint32_t word;
        memcpy(&word, &found.values[i], sizeof word);
        qp_buffer_le(&words, word, 4);
    }
    qp_buffer_hex(&hex, words.bytes, words.size);
    if (words.failed || hex.failed)
        status = qp_fail_memory(why, "a vector of importance");
    else if (!qp_json_string_view(digits, &wanted, &length) || length != hex.size ||
             memcmp(wanted, hex.bytes, length) != 0)
        status = qp_fail(why, QP_MALFORMED, "the importance of '%.80s' is another one", parameter);
    qp_buffer_free(&hex);
    qp_buffer_free(&words);
    return status;
}

/* What an importance matrix gives for the parameters of a configuration. */
static qp_status compare_vectors(const char *path, qp_json_value item, qp_error *why)
{
    qp_json_value vectors, config = QP_JSON_NO_VALUE, name, digits;
    qp_imatrix *imatrix;
    if (!qp_json_find(item, "expected_vectors_hex_f32le", &vectors))
        return QP_OK;
    (void)qp_json_find(item, "config", &config);
    qp_status status = qp_imatrix_open(path, NULL, &imatrix, why);
    if (status != QP_OK)
        return status;
    qp_json_iterator iterator = qp_json_iterate(vectors);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &digits))
        status = compare_vector(imatrix, config, name, digits, why);
    qp_imatrix_close(imatrix);
    return status;
}

static qp_status check_weight_file(qp_json_value item, const char *path, qp_error *why)
{
    qp_index_expectation expected;
    qp_artifact *artifact = NULL;
    qp_error got = {0};
    qp_status status = qp_index_expect(item, &expected, why);
    if (status != QP_OK)
        return status;
    status = open_all(path, &artifact, &got);
    status = qp_index_compare(&expected, status, &got, why);
    if (status == QP_OK && !expected.refuse)
        status = compare_listing(artifact, item, why);
    qp_artifact_close(artifact);
    return status == QP_OK && !expected.refuse ? compare_vectors(path, item, why) : status;
}

qp_status qp_index_weight_file(const qp_index *index, qp_json_value item, qp_error *why)
{
    char name[QP_INDEX_NAME], *path;
    qp_file file;
    qp_status status = qp_index_open(index, item, &file, why);
    if (status != QP_OK)
        return status;
    qp_file_close(&file);
    status = qp_index_text(item, "file", name, why);
    if (status == QP_OK)
        status = qp_index_path(index, name, &path, why);
    if (status != QP_OK)
        return status;
    status = check_weight_file(item, path, why);
    free(path);
    return status;
}
