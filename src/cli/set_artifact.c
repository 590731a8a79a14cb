/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_artifact.c - see set_artifact.h. A list that has become a tensor leaves a mark in its JSON
 * file: {"quipu.int32":TENSOR,"gap":TEXT}, TEXT being what stands behind each comma. A list whose
 * text would not come back byte for byte stays where it is, so that the set keeps its digest.
 */
#include "cli/set_artifact.h"

#include "base/json.h"
#include "cli/output.h"
#include "cli/set_files.h"
#include "cli/weights.h"

#include <inttypes.h>

enum {
    LEAST_LIST = 64, /* shorter lists stay: a tensor's record is longer than they are */
    MOST_RANK = 8,   /* lists within lists */
    PAGE = 4096,     /* artifact-container.md section 2.1 */
    HEADER_SIZE = 32,
    TENSOR_ALIGNMENT = 256 /* section 3.3 */
};

#define MARK "quipu.int32"

/* ---- what an artifact is made of ---------------------------------------------------------- */

/* The parts of the directory and the payload, as they grow. */
typedef struct maker {
    qp_buffer payload;
    qp_buffer objects, bindings, resources; /* members of the directory */
    qp_buffer tensors;                      /* int32 words, for the end of the payload */
    qp_buffer tensor_ids;                   /* NUL-terminated */
    qp_buffer tensor_shapes;                /* u64: rank and dimensions of each */
    size_t n_tensors;
    const char *path; /* of the member at hand */
    unsigned list;    /* lists of it so far */
} maker;

static void init_maker(maker *m)
{
    qp_buffer *const buffers[] = {&m->payload, &m->objects,    &m->bindings,     &m->resources,
                                  &m->tensors, &m->tensor_ids, &m->tensor_shapes};
    *m = (maker){.n_tensors = 0};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        qp_buffer_init(buffers[i], NULL);
}

static bool free_maker(maker *m)
{
    qp_buffer *const buffers[] = {&m->payload, &m->objects,    &m->bindings,     &m->resources,
                                  &m->tensors, &m->tensor_ids, &m->tensor_shapes};
    bool failed = false;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        failed |= buffers[i]->failed;
        qp_buffer_free(buffers[i]);
    }
    return failed;
}

static void put_string(qp_buffer *text, const char *value)
{
    qp_buffer_json_string(text, value, strlen(value));
}

/* ---- lists out of JSON -------------------------------------------------------------------- */

/* A list of integers, or lists of such lists of one length. */
typedef struct nest {
    uint32_t rank;
    uint64_t shape[MOST_RANK];
} nest;

/* Appends the text of a list from its words, with `gap` behind each comma; the depth is at most
 * MOST_RANK. */
static void put_list(const uint8_t **words, const nest *n, uint32_t depth, const char *gap,
                     qp_buffer *text)
{
    qp_buffer_text(text, "[");
    for (uint64_t i = 0; i < n->shape[depth] && !text->failed; i++) {
        if (i > 0)
            qp_buffer_format(text, ",%s", gap);
        if (depth + 1 < n->rank) {
            put_list(words, n, depth + 1, gap, text);
        } else {
            qp_buffer_i64_decimal(text, qp_load_i32(*words));
            *words += 4;
        }
    }
    qp_buffer_text(text, "]");
}

/* The shape that the first element of each list tells. */
static bool measure(qp_json_value list, nest *n)
{
    for (n->rank = 0; qp_json_kind_of(list) == QP_JSON_ARRAY; n->rank++) {
        qp_json_iterator iterator = qp_json_iterate(list);
        if (n->rank == MOST_RANK)
            return false;
        n->shape[n->rank] = qp_json_count(list);
        if (!qp_json_next(&iterator, &list))
            return false;
    }
    return true;
}

/* The elements, if all of them are 32-bit integers and the lists have that shape. */
static bool flatten(qp_json_value list, const nest *n, uint32_t depth, qp_buffer *words)
{
    qp_json_value element;
    int64_t number;
    uint64_t count = 0;
    if (depth == n->rank) {
        if (qp_json_kind_of(list) != QP_JSON_NUMBER ||
            qp_json_get_i64(list, &number, NULL) != QP_OK || number < INT32_MIN ||
            number > INT32_MAX)
            return false;
        qp_buffer_le(words, (uint64_t)number, 4);
        return true;
    }
    qp_json_iterator iterator = qp_json_iterate(list);
    for (; qp_json_next(&iterator, &element); count++)
        if (count == n->shape[depth] || !flatten(element, n, depth + 1, words))
            return false;
    return qp_json_kind_of(list) == QP_JSON_ARRAY && count == n->shape[depth];
}

/* Whether the text comes back from the words with one of the two usual gaps. */
static const char *find_gap(const qp_buffer *words, const nest *n, const char *text, size_t length)
{
    static const char *const gaps[] = {"", " "};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        qp_buffer again;
        const uint8_t *at = words->bytes;
        qp_buffer_init(&again, NULL);
        put_list(&at, n, 0, gaps[i], &again);
        bool same = !again.failed && again.size == length && memcmp(again.bytes, text, length) == 0;
        qp_buffer_free(&again);
        if (same)
            return gaps[i];
    }
    return NULL;
}

static void add_tensor(maker *m, const qp_buffer *words, const nest *n, const char *gap,
                       qp_buffer *out)
{
    char id[300];
    snprintf(id, sizeof id, "%.256s/%u", m->path, m->list++);
    qp_buffer_append(&m->tensor_ids, id, strlen(id) + 1);
    qp_buffer_le(&m->tensor_shapes, n->rank, 8);
    for (uint32_t i = 0; i < n->rank; i++)
        qp_buffer_le(&m->tensor_shapes, n->shape[i], 8);
    qp_buffer_append(&m->tensors, words->bytes, words->size);
    m->n_tensors++;
    qp_buffer_text(out, "{\"" MARK "\":");
    put_string(out, id);
    qp_buffer_format(out, ",\"gap\":\"%s\"}", gap);
}

/* Puts a mark in a list's place and passes over its text. */
static bool move_list(maker *m, qp_json_value list, const char **at, qp_buffer *out)
{
    qp_buffer words;
    nest n;
    const char *text, *gap = NULL;
    size_t length;
    qp_json_source(list, &text, &length);
    qp_buffer_init(&words, NULL);
    if (measure(list, &n) && flatten(list, &n, 0, &words) && !words.failed &&
        words.size / 4 >= LEAST_LIST)
        gap = find_gap(&words, &n, text, length);
    if (gap != NULL) {
        qp_buffer_append(out, *at, (size_t)(text - *at));
        add_tensor(m, &words, &n, gap, out);
        *at = text + length;
    }
    qp_buffer_free(&words);
    return gap != NULL;
}

/* The depth is that of the JSON, which its reader bounds. */
static void move_lists(maker *m, qp_json_value value, const char **at, qp_buffer *out)
{
    qp_json_value name, element;
    qp_json_iterator iterator = qp_json_iterate(value);
    if (qp_json_kind_of(value) == QP_JSON_ARRAY) {
        if (move_list(m, value, at, out))
            return;
        while (qp_json_next(&iterator, &element))
            move_lists(m, element, at, out);
    } else if (qp_json_kind_of(value) == QP_JSON_OBJECT) {
        while (qp_json_next_member(&iterator, &name, &element))
            move_lists(m, element, at, out);
    }
}

static bool is_json(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

/* A file of the set without its long lists; as it is where it is no JSON. */
static void take_out(maker *m, const qp_member *member, qp_buffer *out)
{
    const char *at = member->bytes, *end = at + member->size;
    qp_json json;
    qp_json_init(&json, NULL);
    m->path = member->path;
    m->list = 0;
    if (is_json(member->path) && qp_json_parse(&json, at, member->size, NULL) == QP_OK)
        move_lists(m, qp_json_root(&json), &at, out);
    qp_buffer_append(out, at, (size_t)(end - at));
    qp_json_free(&json);
}

/* ---- the artifact ------------------------------------------------------------------------- */

static qp_status add_resource(maker *m, const qp_member *member, qp_error *error)
{
    const char *comma = m->objects.size == 0 ? "" : ",";
    qp_buffer bytes;
    if (member->size == 0)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%.120s is empty: an artifact holds no such file", member->path);
    qp_buffer_init(&bytes, NULL);
    take_out(m, member, &bytes);
    qp_buffer_format(&m->objects, "%s{\"id\":", comma);
    put_string(&m->objects, member->path);
    qp_buffer_format(&m->objects,
                     ",\"encoding\":\"raw_bytes_v1\",\"offset\":%zu,\"bytes\":%zu,"
                     "\"kind\":\"resource\"}",
                     m->payload.size, bytes.size);
    qp_buffer_text(&m->resources, comma);
    put_string(&m->resources, member->path);
    qp_buffer_text(&m->resources, ":");
    put_string(&m->resources, member->path);
    qp_buffer_append(&m->payload, bytes.bytes, bytes.size);
    m->payload.failed |= bytes.failed;
    qp_buffer_free(&bytes);
    return QP_OK;
}

static void put_zeros(qp_buffer *bytes, size_t alignment)
{
    while (bytes->size % alignment != 0 && !bytes->failed)
        qp_buffer_le(bytes, 0, 1);
}

/* One record of the directory; the count of its elements. */
static size_t put_record(maker *m, const char *id, const uint8_t *shape)
{
    size_t rank = (size_t)qp_load_u64(shape), count = 1;
    qp_buffer_text(&m->objects, ",{\"id\":");
    put_string(&m->objects, id);
    qp_buffer_text(&m->objects, ",\"shape\":[");
    for (size_t i = 1; i <= rank; i++) {
        uint64_t size = qp_load_u64(shape + 8 * i);
        qp_buffer_format(&m->objects, "%s%" PRIu64, i == 1 ? "" : ",", size);
        count *= (size_t)size; /* the words lie in memory */
    }
    qp_buffer_format(&m->objects,
                     "],\"format\":\"int32\",\"layout\":\"contiguous_le_v1\","
                     "\"offset\":%zu,\"bytes\":%zu,\"kind\":\"tensor\"}",
                     m->payload.size, 4 * count);
    return count;
}

static void put_tensors(maker *m)
{
    const char *id = (const char *)m->tensor_ids.bytes;
    const uint8_t *words = m->tensors.bytes, *shape = m->tensor_shapes.bytes;
    if (m->tensor_shapes.failed || m->tensor_ids.failed || m->tensors.failed)
        return;
    for (size_t i = 0; i < m->n_tensors; i++) {
        put_zeros(&m->payload, TENSOR_ALIGNMENT);
        size_t count = put_record(m, id, shape);
        qp_buffer_text(&m->bindings, i == 0 ? "" : ",");
        put_string(&m->bindings, id);
        qp_buffer_text(&m->bindings, ":{\"object\":");
        put_string(&m->bindings, id);
        qp_buffer_text(&m->bindings, "}");
        qp_buffer_append(&m->payload, words, 4 * count);
        words += 4 * count;
        shape += 8 + 8 * qp_load_u64(shape);
        id += strlen(id) + 1;
    }
}

static void put_directory(const maker *m, qp_buffer *json)
{
    qp_buffer_text(json, "{\"components\":{\"set\":{\"config\":{},\"resources\":{");
    qp_buffer_append(json, m->resources.bytes, m->resources.size);
    qp_buffer_text(json, "}}},\"objects\":[");
    qp_buffer_append(json, m->objects.bytes, m->objects.size);
    qp_buffer_text(json, "],\"bindings\":{");
    qp_buffer_append(json, m->bindings.bytes, m->bindings.size);
    qp_buffer_format(json,
                     "},\"uses\":[],\"provenance\":{\"set\":\"quipu pack\"},"
                     "\"files\":[{\"path\":null,\"payload_bytes\":%zu}]}",
                     m->payload.size);
    while ((HEADER_SIZE + json->size) % PAGE != 0 && !json->failed)
        qp_buffer_text(json, " ");
}

/* The id is of the content, so that the same set gives the same file. */
static void put_file(const maker *m, const qp_buffer *json, qp_buffer *file)
{
    static const uint8_t magic[] = {'N', 'I', 'N', 'F', 'E', 'R', 0, 3};
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, m->payload.bytes, m->payload.size);
    qp_sha256_update(&hash, json->bytes, json->size);
    qp_sha256_final(&hash, digest);
    qp_buffer_append(file, magic, sizeof magic);
    qp_buffer_le(file, json->size, 8);
    qp_buffer_append(file, digest, 16);
    qp_buffer_append(file, json->bytes, json->size);
    qp_buffer_append(file, m->payload.bytes, m->payload.size);
}

static qp_status make_file(maker *m, const qp_set_files *files, qp_buffer *file, qp_error *error)
{
    qp_buffer json;
    qp_status status = QP_OK;
    for (size_t i = 0; i < files->count && status == QP_OK; i++)
        status = add_resource(m, &files->members[i], error);
    if (status != QP_OK)
        return status;
    put_tensors(m);
    qp_buffer_init(&json, NULL);
    put_directory(m, &json);
    put_file(m, &json, file);
    file->failed |= json.failed;
    qp_buffer_free(&json);
    return QP_OK;
}

static qp_status write_checked(const qp_buffer *file, const char *output, qp_error *error)
{
    qp_artifact *artifact;
    qp_status status =
        qp_artifact_open_bytes(output, file->bytes, file->size, NULL, &artifact, error);
    if (status != QP_OK)
        return status;
    qp_artifact_close(artifact);
    return qp_output_buffer(output, file, error);
}

static qp_status pack_files(const qp_set_files *files, const char *output, qp_error *error)
{
    maker m;
    qp_buffer file;
    if (files->count == 0)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the folder holds no file of a set");
    init_maker(&m);
    qp_buffer_init(&file, NULL);
    qp_status status = make_file(&m, files, &file, error);
    file.failed |= free_maker(&m);
    if (status == QP_OK)
        status = file.failed ? qp_fail_memory(error, "an artifact")
                             : write_checked(&file, output, error);
    qp_buffer_free(&file);
    return status;
}

qp_status qp_set_pack(const char *set, const char *output, qp_error *error)
{
    qp_set_files files;
    qp_status status = qp_set_files_open(set, NULL, &files, error);
    if (status != QP_OK)
        return status;
    status = pack_files(&files, output, error);
    qp_set_files_close(&files);
    return status;
}

/* ---- lists back into JSON ----------------------------------------------------------------- */

typedef struct filler {
    qp_artifact *artifact;
    const char *at; /* the text that is not copied yet */
    qp_buffer *out;
    uint64_t left; /* bytes of tensors that may still be put back: a list is put back once */
    qp_error *error;
} filler;

static qp_status fill_list(filler *f, qp_json_value mark, const char *id, const char *gap)
{
    const qp_artifact_tensor *tensor = qp_artifact_find(f->artifact, id);
    const char *text;
    size_t length, size;
    if (tensor == NULL || tensor->format == NULL || strcmp(tensor->format->name, "int32") != 0 ||
        tensor->rank == 0 || tensor->rank > MOST_RANK)
        return qp_fail(f->error, QP_MODEL_MISMATCH, "there is no int32 list '%.100s'", id);
    if (tensor->bytes > f->left)
        return qp_fail(f->error, QP_MODEL_MISMATCH, "its lists are put back more than once");
    f->left -= tensor->bytes;
    qp_status status = qp_weights_size(tensor->bytes, "a list of integers", &size, f->error);
    if (status != QP_OK)
        return status;
    uint8_t *words = qp_allocate(NULL, size, 1);
    if (words == NULL)
        return qp_fail_memory(f->error, "a list of integers");
    status = qp_artifact_read(f->artifact, tensor, 0, size, words, f->error);
    if (status == QP_OK) {
        const uint8_t *at = words;
        nest n = {.rank = tensor->rank};
        memcpy(n.shape, tensor->shape, tensor->rank * sizeof *n.shape);
        qp_json_source(mark, &text, &length);
        qp_buffer_append(f->out, f->at, (size_t)(text - f->at));
        put_list(&at, &n, 0, gap, f->out);
        f->at = text + length;
    }
    qp_release(NULL, words, size, 1);
    return status;
}

static qp_status fill_lists(filler *f, qp_json_value value)
{
    qp_json_value name, element, id, gap;
    char id_text[320], gap_text[8] = "";
    qp_status status = QP_OK;
    qp_json_iterator iterator = qp_json_iterate(value);
    if (qp_json_kind_of(value) == QP_JSON_OBJECT && qp_json_find(value, MARK, &id)) {
        status = qp_json_copy_string(id, id_text, sizeof id_text, f->error);
        if (status == QP_OK && qp_json_find(value, "gap", &gap))
            status = qp_json_copy_string(gap, gap_text, sizeof gap_text, f->error);
        return status == QP_OK ? fill_list(f, value, id_text, gap_text) : status;
    }
    if (qp_json_kind_of(value) == QP_JSON_ARRAY)
        while (status == QP_OK && qp_json_next(&iterator, &element))
            status = fill_lists(f, element);
    if (qp_json_kind_of(value) == QP_JSON_OBJECT)
        while (status == QP_OK && qp_json_next_member(&iterator, &name, &element))
            status = fill_lists(f, element);
    return status;
}

/* The file as it was before its lists were taken out; a file without marks is itself. */
static qp_status put_back(qp_artifact *artifact, const uint8_t *bytes, size_t size, qp_buffer *out,
                          qp_error *error)
{
    filler f = {artifact, (const char *)bytes, out, 0, error};
    qp_json json;
    qp_status status = QP_OK;
    size_t count;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    for (size_t i = 0; i < count; i++)
        f.left += tensors[i].bytes; /* disjoint parts of the payload */
    qp_json_init(&json, NULL);
    if (qp_json_parse(&json, bytes, size, NULL) == QP_OK)
        status = fill_lists(&f, qp_json_root(&json));
    qp_buffer_append(out, f.at, (size_t)((const char *)bytes + size - f.at));
    qp_json_free(&json);
    return status == QP_OK && out->failed ? qp_fail_memory(error, "a file of a set") : status;
}

/* ---- the files ---------------------------------------------------------------------------- */

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

static qp_status unpack_resource(qp_artifact *artifact, const qp_artifact_resource *resource,
                                 qp_set_take *take, void *context, qp_error *error)
{
    uint8_t *bytes;
    size_t size;
    qp_buffer out;
    qp_status status = read_resource(artifact, resource, &bytes, &size, error);
    if (status == QP_OK && is_json(resource->id)) {
        qp_buffer_init(&out, NULL);
        status = put_back(artifact, bytes, size, &out, error);
        qp_release(NULL, bytes, size, 1);
        bytes = qp_buffer_take(&out, &size);
        if (status == QP_OK && bytes == NULL)
            status = qp_fail_memory(error, "a file of a set");
    }
    if (status == QP_OK)
        return take(context, resource->id, bytes, size, error);
    qp_release(NULL, bytes, size, 1);
    return status;
}

qp_status qp_set_unpack(const char *path, qp_set_take *take, void *context, qp_error *error)
{
    qp_artifact *artifact;
    size_t count;
    qp_status status = qp_artifact_open(path, NULL, &artifact, error);
    if (status != QP_OK)
        return status;
    const qp_artifact_resource *resources = qp_artifact_resources(artifact, &count);
    if (count == 0)
        status = qp_fail(error, QP_MODEL_MISMATCH, "the artifact has no resource: it holds no set");
    for (size_t i = 0; i < count && status == QP_OK; i++)
        status = unpack_resource(artifact, &resources[i], take, context, error);
    qp_artifact_close(artifact);
    return status;
}

bool qp_set_is_artifact(const char *path)
{
    qp_file file;
    if (qp_file_open(path, NULL, &file, NULL) != QP_OK)
        return false;
    const qp_artifact_kind *kind = qp_artifact_kind_of_bytes(file.bytes, file.size);
    qp_file_close(&file);
    return kind != NULL && kind == qp_artifact_kind_find("ninfer");
}
