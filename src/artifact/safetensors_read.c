/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors_read.c - safetensors files (ggml-blocks.md section 7).
 *
 * The checks, by the ids that a refusal carries:
 *
 *   S-SHORT     fewer than eight bytes
 *   S-LENGTH    a header above 100,000,000 bytes or past the end of the file
 *   S-JSON      the header does not begin with '{', or is no JSON object in UTF-8
 *   S-DUPNAME   a name that is there twice in one object
 *   S-FORM      a member that is missing, not known or of the wrong type
 *   S-NAME      a name that holds U+0000 (ours)
 *   S-META      __metadata__ is no object of strings
 *   S-DTYPE     a dtype that is not known
 *   S-SHAPE     a dimension that is no U64, over 16 of them (ours), 2^64 elements or bits
 *   S-OFFSETS   data_offsets are not two U64, or end before they begin
 *   S-SIZE      the bytes are not elements times bits, or no whole number
 *   S-SPAN      in the order of their bytes, a tensor does not begin where the last one ended
 *   S-END       the last tensor does not end where the file does
 *
 * and those of an index of shards, in safetensors_index.c. Errors come in the order of the header;
 * then spans and the end.
 */
#include "artifact/safetensors.h"

#include <inttypes.h>

#define HEADER_MAX ((uint64_t)100000000) /* the format's own limit */

/* ---- JSON ----------------------------------------------------------------------------------- */

qp_status qp_safetensors_json(qp_json *json, const void *text, size_t size, qp_error *error)
{
    qp_status status = qp_json_parse(json, text, size, error);
    if (status != QP_OK && json->fault != QP_JSON_FAULT_MEMORY && error != NULL)
        error->check = json->fault == QP_JSON_FAULT_DUPLICATE ? "S-DUPNAME" : "S-JSON";
    return status;
}

qp_status qp_safetensors_keep(qp_artifact *artifact, qp_json_value value, const char **text,
                              qp_error *error)
{
    const char *source;
    size_t length;

    qp_json_source(value, &source, &length); /* decoding never lengthens */
    char *kept = qp_arena_allocate(&artifact->arena, length, 1);
    if (kept == NULL)
        return qp_fail_memory(error, "a name");
    if (qp_json_copy_string(value, kept, length, NULL) != QP_OK)
        return qp_json_fail_check(value, error, "S-NAME", "a name holds U+0000");
    *text = kept;
    return QP_OK;
}

/* ---- one tensor ----------------------------------------------------------------------------- */

typedef struct dtype {
    const char *name;
    uint32_t bits;
} dtype;

static const dtype dtypes[] = {
    {"F64", 64},    {"I64", 64},    {"U64", 64},        {"C64", 64},        {"F32", 32},
    {"I32", 32},    {"U32", 32},    {"F16", 16},        {"BF16", 16},       {"I16", 16},
    {"U16", 16},    {"BOOL", 8},    {"U8", 8},          {"I8", 8},          {"F8_E4M3", 8},
    {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6},
    {"F6_E3M2", 6}, {"F4", 4},
};

static const dtype *find_dtype(qp_json_value value)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (qp_json_equals(value, dtypes[i].name))
            return &dtypes[i];
    }
    return NULL;
}

/* A tensor before its place is checked. */
typedef struct entry {
    qp_artifact_tensor tensor; /* offset counts from the first data byte */
    uint64_t end;
    qp_json_value place;
} entry;

typedef struct entries {
    entry *records;
    size_t count, capacity;
} entries;

static qp_status read_shape(qp_json_value value, qp_artifact_tensor *tensor, uint64_t *elements,
                            qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value dimension;

    *elements = 1;
    while (qp_json_next(&iterator, &dimension)) {
        uint64_t size;
        if (tensor->rank == QP_SHAPE_RANK_MAX)
            return qp_json_fail_check(value, error, "S-SHAPE", "a shape has over 16 dimensions");
        if (qp_json_get_u64(dimension, &size, NULL) != QP_OK)
            return qp_json_fail_check(dimension, error, "S-SHAPE",
                                      "a dimension is an integer from 0 to 2^64 - 1");
        if (!qp_mul_u64(*elements, size, elements))
            return qp_json_fail_check(value, error, "S-SHAPE",
                                      "a shape has over 2^64 - 1 elements");
        tensor->shape[tensor->rank++] = size;
    }
    return QP_OK;
}

static qp_status read_offsets(qp_json_value value, entry *read, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value offset;
    uint64_t ends[2] = {0, 0};
    size_t count = 0;
    bool integers = true;

    while (integers && qp_json_next(&iterator, &offset)) {
        integers = count < 2 && qp_json_get_u64(offset, &ends[count], NULL) == QP_OK;
        count++;
    }
    if (!integers || count != 2)
        return qp_json_fail_check(value, error, "S-OFFSETS",
                                  "data_offsets are two integers from 0 to 2^64 - 1");
    if (ends[1] < ends[0])
        return qp_json_fail_check(value, error, "S-OFFSETS", "the tensor ends before it begins");
    read->tensor.offset = ends[0];
    read->tensor.bytes = ends[1] - ends[0];
    read->end = ends[1];
    return QP_OK;
}

static qp_status check_size(const dtype *type, uint64_t elements, const entry *read,
                            qp_error *error)
{
    uint64_t bits;
    if (!qp_mul_u64(elements, type->bits, &bits))
        return qp_json_fail_check(read->place, error, "S-SHAPE",
                                  "the tensor has over 2^64 - 1 bits");
    if (bits % 8 != 0)
        return qp_json_fail_check(read->place, error, "S-SIZE",
                                  "the tensor takes no whole number of bytes");
    if (bits / 8 != read->tensor.bytes)
        return qp_json_fail_check(read->place, error, "S-SIZE",
                                  "the tensor has %" PRIu64 " bytes, and its shape and dtype "
                                  "take %" PRIu64,
                                  read->tensor.bytes, bits / 8);
    return QP_OK;
}

/* The three members of a tensor, each of its type: S-FORM. */
static qp_status read_members(qp_json_value object, qp_json_value values[3], qp_error *error)
{
    static const char *const names[] = {"dtype", "shape", "data_offsets"};
    static const qp_json_kind kinds[] = {QP_JSON_STRING, QP_JSON_ARRAY, QP_JSON_ARRAY};
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;

    if (qp_json_kind_of(object) != QP_JSON_OBJECT)
        return qp_json_fail_check(object, error, "S-FORM", "a tensor is an object, not %s",
                                  qp_json_kind_name(qp_json_kind_of(object)));
    for (size_t i = 0; i < 3; i++)
        values[i] = QP_JSON_NO_VALUE;
    while (qp_json_next_member(&iterator, &name, &value)) {
        size_t i = 0;
        while (i < 3 && !qp_json_equals(name, names[i]))
            i++;
        if (i == 3)
            return qp_json_fail_check(name, error, "S-FORM", "a tensor has no such member");
        values[i] = value;
    }
    for (size_t i = 0; i < 3; i++) {
        if (qp_json_kind_of(values[i]) != kinds[i])
            return qp_json_fail_check(values[i].json != NULL ? values[i] : object, error, "S-FORM",
                                      "a tensor's %s: expected %s, found %s", names[i],
                                      qp_json_kind_name(kinds[i]),
                                      qp_json_kind_name(qp_json_kind_of(values[i])));
    }
    return QP_OK;
}

static qp_status read_entry(qp_artifact *artifact, qp_json_value name, qp_json_value object,
                            entry *read, qp_error *error)
{
    qp_json_value values[3];
    uint64_t elements;

    *read = (entry){.tensor = {.divisors = 1}, .place = name};
    qp_status status = read_members(object, values, error);
    const dtype *type = status == QP_OK ? find_dtype(values[0]) : NULL;
    if (status == QP_OK && type == NULL)
        return qp_json_fail_check(values[0], error, "S-DTYPE", "the dtype is not known");
    if (status == QP_OK)
        status = read_shape(values[1], &read->tensor, &elements, error);
    if (status == QP_OK)
        status = read_offsets(values[2], read, error);
    if (status == QP_OK)
        status = check_size(type, elements, read, error);
    if (status == QP_OK)
        status = qp_safetensors_keep(artifact, name, &read->tensor.name, error);
    if (status != QP_OK)
        return status;
    read->tensor.type = type->name;
    read->tensor.element = qp_element_find(type->name);
    if (read->tensor.element != NULL && read->tensor.element->format != NULL) {
        read->tensor.format = qp_format_find(read->tensor.element->format);
        read->tensor.layout = qp_layout_find(read->tensor.format->layout);
    }
    return QP_OK;
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* Strings without escapes stay in the file; of a key that an earlier shard has, that one stands. */
static qp_status add_string(qp_artifact *artifact, qp_json_value name, qp_json_value value,
                            qp_error *error)
{
    const char *key = NULL, *text;
    size_t length;

    qp_status status = qp_safetensors_keep(artifact, name, &key, error);
    if (status != QP_OK)
        return status;
    if (!qp_json_string_view(value, &text, &length)) {
        qp_buffer decoded;
        qp_buffer_init(&decoded, &artifact->allocator);
        qp_json_append_string(value, &decoded);
        char *kept = decoded.failed ? NULL : qp_arena_allocate(&artifact->arena, decoded.size, 1);
        if (kept != NULL && decoded.size > 0)
            memcpy(kept, decoded.bytes, decoded.size);
        text = kept;
        length = decoded.size;
        qp_buffer_free(&decoded);
    }
    qp_artifact_metadatum *added = text != NULL ? qp_artifact_add_metadatum(artifact) : NULL;
    if (added == NULL)
        return qp_fail_memory(error, "a table of metadata");
    added->key = key;
    added->type = QP_META_STRING;
    added->count = 1;
    added->value = (const uint8_t *)text;
    added->size = length;
    return QP_OK;
}

static qp_status read_metadata(qp_artifact *artifact, qp_json_value object, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    qp_status status = QP_OK;

    if (qp_json_kind_of(object) != QP_JSON_OBJECT)
        return qp_json_fail_check(object, error, "S-META", "__metadata__ is an object, not %s",
                                  qp_json_kind_name(qp_json_kind_of(object)));
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        if (qp_json_kind_of(value) != QP_JSON_STRING)
            return qp_json_fail_check(value, error, "S-META", "a metadata value is a string");
        status = add_string(artifact, name, value, error);
    }
    return status;
}

/* ---- the places of tensors ------------------------------------------------------------------ */

static bool entry_not_after(const void *context, uint32_t a, uint32_t b)
{
    const entry *records = context;
    if (records[a].tensor.offset != records[b].tensor.offset)
        return records[a].tensor.offset < records[b].tensor.offset;
    return records[a].end <= records[b].end;
}

/* Appends the tensors in the order of their bytes, each beginning where the last one ended. */
static qp_status place(qp_artifact *artifact, size_t file, const entries *read,
                       const uint32_t *order, qp_error *error)
{
    const qp_artifact_file *in = &artifact->files[file];
    uint64_t end = 0;

    for (size_t i = 0; i < read->count; i++) {
        const entry *next = &read->records[order[i]];
        if (next->tensor.offset != end)
            return qp_json_fail_check(next->place, error, "S-SPAN",
                                      "the tensor begins at %" PRIu64
                                      " of the data instead of %" PRIu64,
                                      next->tensor.offset, end);
        end = next->end;
        qp_artifact_tensor *added = qp_artifact_add_tensor(artifact);
        if (added == NULL)
            return qp_fail_memory(error, "a table of tensors");
        *added = next->tensor;
        added->file = (uint32_t)file;
        added->offset += in->at;
    }
    if (end != in->size)
        return qp_fail_check(error, QP_MALFORMED, "S-END", (int64_t)in->file.size,
                             "%.80s holds %" PRIu64 " bytes of data, and its tensors take %" PRIu64,
                             in->name, in->size, end);
    return QP_OK;
}

static qp_status place_entries(qp_artifact *artifact, size_t file, const entries *read,
                               qp_error *error)
{
    uint32_t *order = qp_allocate(&artifact->allocator, read->count, 2 * sizeof *order);
    if (order == NULL)
        return qp_fail_memory(error, "the order of the tensors");
    for (size_t i = 0; i < read->count; i++)
        order[i] = (uint32_t)i;
    qp_sort_indices(order, order + read->count, read->count, entry_not_after, read->records);
    qp_status status = place(artifact, file, read, order, error);
    qp_release(&artifact->allocator, order, read->count, 2 * sizeof *order);
    return status;
}

/* ---- a file --------------------------------------------------------------------------------- */

/* The table grows with what has been read: a member that is no tensor takes few bytes of text. */
static qp_status add_entry(qp_artifact *artifact, entries *read, qp_json_value name,
                           qp_json_value value, qp_error *error)
{
    entry *grown = qp_table_grow(&artifact->allocator, read->records, &read->capacity, read->count,
                                 sizeof *grown);
    if (grown == NULL)
        return qp_fail_memory(error, "a table of tensors");
    read->records = grown;
    return read_entry(artifact, name, value, &grown[read->count++], error);
}

static qp_status read_header(qp_artifact *artifact, size_t file, const qp_json *json,
                             qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(qp_json_root(json));
    qp_json_value name, value;
    entries read = {0};
    qp_status status = QP_OK;

    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value))
        status = qp_json_equals(name, "__metadata__")
                     ? read_metadata(artifact, value, error)
                     : add_entry(artifact, &read, name, value, error);
    if (status == QP_OK)
        status = place_entries(artifact, file, &read, error);
    qp_release(&artifact->allocator, read.records, read.capacity, sizeof *read.records);
    return status;
}

/* The length word and what it frames. */
static qp_status read_frame(qp_artifact_file *file, size_t *length, qp_error *error)
{
    const qp_file *in = &file->file;
    if (in->size < SAFETENSORS_LENGTH_BYTES)
        return qp_fail_check(error, QP_MALFORMED, "S-SHORT", (int64_t)in->size,
                             "%.100s ends within the length of its header", file->name);
    uint64_t stated = qp_load_u64(in->bytes), rest = in->size - SAFETENSORS_LENGTH_BYTES;
    if (stated > HEADER_MAX || stated > rest)
        return qp_fail_check(error, QP_MALFORMED, "S-LENGTH", 0,
                             "%.80s states a header of %" PRIu64
                             " bytes, more than the file has or the format allows",
                             file->name, stated);
    if (stated == 0 || in->bytes[SAFETENSORS_LENGTH_BYTES] != '{')
        return qp_fail_check(error, QP_MALFORMED, "S-JSON", SAFETENSORS_LENGTH_BYTES,
                             "the header of %.100s does not begin with '{'", file->name);
    *length = (size_t)stated;
    file->at = SAFETENSORS_LENGTH_BYTES + stated;
    file->size = rest - stated;
    return QP_OK;
}

qp_status qp_safetensors_read_file(qp_artifact *artifact, size_t index, qp_error *error)
{
    const uint8_t *text = artifact->files[index].file.bytes + SAFETENSORS_LENGTH_BYTES;
    qp_json json;
    size_t length = 0;

    qp_status status = read_frame(&artifact->files[index], &length, error);
    if (status != QP_OK)
        return status;
    if (artifact->directory == NULL) {
        artifact->directory = (const char *)text;
        artifact->directory_size = length;
    }
    qp_json_init(&json, &artifact->allocator);
    json.first_offset = SAFETENSORS_LENGTH_BYTES;
    status = qp_safetensors_json(&json, text, length, error);
    if (status == QP_OK)
        status = read_header(artifact, index, &json, error);
    qp_json_free(&json);
    return status;
}

/* ---- the kind ------------------------------------------------------------------------------- */

/* An index is JSON text, which holds no zero byte as a header's length does. */
static bool is_index(const uint8_t *bytes, size_t size)
{
    return size > 1 && bytes[0] == '{' && memchr(bytes, 0, size < 8 ? size : 8) == NULL;
}

/* Other JSON texts are no files of weights. */
static bool names_a_map(const uint8_t *bytes, size_t size)
{
    static const char name[] = "\"weight_map\"";
    const size_t length = sizeof name - 1;
    for (size_t i = 0; i + length <= size; i++) {
        if (bytes[i] == '"' && memcmp(bytes + i, name, length) == 0)
            return true;
    }
    return false;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    if (size > SAFETENSORS_LENGTH_BYTES && qp_load_u64(bytes) <= HEADER_MAX &&
        bytes[SAFETENSORS_LENGTH_BYTES] == '{')
        return true;
    return is_index(bytes, size) && names_a_map(bytes, size);
}

static qp_status open_safetensors(qp_artifact *artifact, qp_error *error)
{
    const qp_file *file = &artifact->files[0].file;
    return is_index(file->bytes, file->size) ? qp_safetensors_read_index(artifact, error)
                                             : qp_safetensors_read_file(artifact, 0, error);
}

const struct qp_artifact_kind_rules qp_safetensors_rules = {
    .probe = probe,
    .open = open_safetensors,
    .index_extension = ".safetensors.index.json",
    .missing_file = "S-SHARD",
    .writer = &qp_safetensors_writer,
};
