/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_read.c - GGUF files, versions 2 and 3 (ggml-blocks.md section 6).
 *
 * The checks, by the ids that a refusal carries:
 *
 *   G-MAGIC       the first four bytes are not "GGUF"
 *   G-VERSION     a version other than 2 and 3, or one in the other byte order
 *   G-TRUNCATED   the file ends inside the header, the metadata or the tensor infos
 *   G-COUNT       a count that is negative or that the rest of the file cannot hold
 *   G-STRING      a string longer than the rest of the file or above 2^30 bytes
 *   G-ARRAY       an array longer than the rest of the file, above 2^30 elements, or of arrays
 *   G-KEY         an empty key; one that holds a zero byte or is not UTF-8 (ours)
 *   G-DUPKEY      a key that an earlier entry has
 *   G-VALUETYPE   a value or element type above 12
 *   G-BOOL        a bool byte other than 0 and 1 (ours)
 *   G-ALIGNMENT   general.alignment of another type than uint32, zero, or no power of two
 *   G-NAME        a tensor name of 64 bytes or more; a zero byte, not UTF-8 (ours)
 *   G-DUPNAME     a name that an earlier tensor has
 *   G-DIMS        over four dimensions, a negative one, 2^63 elements or more
 *   G-TYPE        a type id that is not known or that ggml removed
 *   G-BLOCK       a first dimension that is no multiple of the type's block
 *   G-SIZE        tensors of 2^64 bytes or more
 *   G-OFFSET      an offset other than the sum of the padded sizes before it
 *   G-DATA        the file ends before the tensors do
 *   G-UNREADABLE  bytes are asked for of a type that this library has no format for (ours)
 *
 * Errors come in the order of the file; repetitions, then sizes and offsets once the infos are
 * read.
 */
#include "artifact/artifact.h"

#include "base/json_string.h"

#include <inttypes.h>

enum {
    RANK_MAX = 4,
    NAME_BYTES = 64, /* of a name with its terminator in ggml */
    HEADER_BYTES = 24,
    ENTRY_BYTES_MIN = 13,  /* of metadata: a key's length, a type, a value of one byte */
    TENSOR_BYTES_MIN = 24, /* a name's length, a rank of 0, a type, an offset */
    ALIGNMENT_DEFAULT = 32
};

#define LENGTH_MAX ((uint64_t)1 << 30) /* of a string and of an array */

/* ---- the cursor ----------------------------------------------------------------------------- */

/* The bytes of a file and the first fault: reads after it give zeros, so that a record is read in
 * one go and looked at once. */
typedef struct cursor {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    const char *check; /* of the first fault; NULL: none */
    size_t place;
    const char *reason;
} cursor;

static void fault(cursor *c, const char *check, size_t place, const char *reason)
{
    if (c->check != NULL)
        return;
    c->check = check;
    c->place = place;
    c->reason = reason;
}

static qp_status report(const cursor *c, qp_error *error)
{
    if (c->check == NULL)
        return QP_OK;
    return qp_fail_check(error, QP_MALFORMED, c->check, (int64_t)c->place, "%s", c->reason);
}

static size_t left(const cursor *c)
{
    return c->size - c->at;
}

static const uint8_t *take(cursor *c, size_t count)
{
    static const uint8_t zeros[8];
    if (c->check == NULL && left(c) < count)
        fault(c, "G-TRUNCATED", c->size, "the file ends inside its metadata or tensor infos");
    if (c->check != NULL)
        return zeros; /* only numbers are asked for blindly */
    c->at += count;
    return c->bytes + c->at - count;
}

static uint32_t take_u32(cursor *c)
{
    return qp_load_u32(take(c, 4));
}

static uint64_t take_u64(cursor *c)
{
    return qp_load_u64(take(c, 8));
}

/* A string's bytes, or NULL after a fault. */
static const uint8_t *take_string(cursor *c, size_t *length)
{
    size_t start = c->at;
    uint64_t count = take_u64(c);

    *length = 0;
    if (c->check != NULL)
        return NULL;
    if (count > LENGTH_MAX || count > left(c)) {
        fault(c, "G-STRING", start, "a string is longer than the rest of the file, or than 2^30");
        return NULL;
    }
    *length = (size_t)count;
    return take(c, *length);
}

/* A string that becomes a C string of the library: UTF-8 without a zero byte. */
static const char *keep_string(qp_artifact *artifact, cursor *c, const char *check)
{
    size_t start = c->at, length;
    const uint8_t *bytes = take_string(c, &length);

    if (bytes == NULL)
        return NULL;
    for (size_t i = 0; i < length;) {
        unsigned step = qp_utf8_length(bytes + i, length - i);
        if (step == 0 || bytes[i] == 0) {
            fault(c, check, start + 8 + i, "a name holds a zero byte or is not UTF-8");
            return NULL;
        }
        i += step;
    }
    char *kept = qp_arena_allocate(&artifact->arena, length + 1, 1);
    if (kept != NULL && length > 0)
        memcpy(kept, bytes, length);
    return kept;
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* The bytes of one value; 0 where the length stands in the file. */
static const uint8_t value_bytes[] = {
    [QP_META_U8] = 1,     [QP_META_I8] = 1,    [QP_META_U16] = 2, [QP_META_I16] = 2,
    [QP_META_U32] = 4,    [QP_META_I32] = 4,   [QP_META_F32] = 4, [QP_META_BOOL] = 1,
    [QP_META_STRING] = 0, [QP_META_ARRAY] = 0, [QP_META_U64] = 8, [QP_META_I64] = 8,
    [QP_META_F64] = 8,
};

static qp_metadata_type take_type(cursor *c)
{
    size_t start = c->at;
    uint32_t type = take_u32(c);
    if (type < sizeof value_bytes)
        return (qp_metadata_type)type;
    fault(c, "G-VALUETYPE", start, "a metadata value's type is not known");
    return QP_META_U8;
}

static void check_bools(cursor *c, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count && c->check == NULL; i++) {
        if (bytes[i] > 1)
            fault(c, "G-BOOL", (size_t)(bytes - c->bytes) + i, "a bool is neither 0 nor 1");
    }
}

/* `count` values of a type of fixed size, which the caller has held against the rest of the file.
 */
static void take_numbers(cursor *c, qp_metadata_type type, size_t count)
{
    const uint8_t *bytes = take(c, count * value_bytes[type]);
    if (type == QP_META_BOOL && c->check == NULL)
        check_bools(c, bytes, count);
}

static void take_array(cursor *c, qp_artifact_metadatum *entry)
{
    size_t start = c->at, length;

    entry->element_type = take_type(c);
    entry->count = take_u64(c);
    if (c->check != NULL)
        return;
    if (entry->element_type == QP_META_ARRAY) {
        fault(c, "G-ARRAY", start, "an array of arrays is not allowed");
        return;
    }
    bool strings = entry->element_type == QP_META_STRING;
    size_t least = strings ? 8 : value_bytes[entry->element_type];
    if (entry->count > LENGTH_MAX || entry->count > left(c) / least) {
        fault(c, "G-ARRAY", start + 4,
              "an array is longer than the rest of the file, or than 2^30");
        return;
    }
    entry->value = c->bytes + c->at;
    if (!strings)
        take_numbers(c, entry->element_type, (size_t)entry->count);
    for (uint64_t i = 0; strings && i < entry->count && c->check == NULL; i++)
        take_string(c, &length);
    entry->size = (uint64_t)(c->bytes + c->at - entry->value);
}

static void take_value(cursor *c, qp_artifact_metadatum *entry)
{
    size_t length;
    entry->type = take_type(c);
    entry->count = 1;
    if (entry->type == QP_META_ARRAY) {
        take_array(c, entry);
    } else if (entry->type == QP_META_STRING) {
        entry->value = take_string(c, &length);
        entry->size = length;
    } else {
        entry->value = c->bytes + c->at;
        entry->size = value_bytes[entry->type];
        take_numbers(c, entry->type, 1);
    }
}

static void read_alignment(qp_artifact *artifact, cursor *c, const qp_artifact_metadatum *entry)
{
    size_t place = (size_t)(entry->value - c->bytes);
    uint32_t alignment = entry->type == QP_META_U32 ? qp_load_u32(entry->value) : 0;

    if (entry->type != QP_META_U32)
        fault(c, "G-ALIGNMENT", place, "general.alignment is no uint32");
    else if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        fault(c, "G-ALIGNMENT", place, "general.alignment is no power of two");
    else
        artifact->alignment = alignment;
}

static qp_status read_entry(qp_artifact *artifact, cursor *c, qp_error *error)
{
    qp_artifact_metadatum entry = {0};
    size_t start = c->at;

    entry.key = keep_string(artifact, c, "G-KEY");
    if (c->check == NULL && entry.key == NULL)
        return qp_fail_memory(error, "a key of metadata");
    if (c->check == NULL && entry.key[0] == '\0')
        fault(c, "G-KEY", start, "a key of metadata is empty");
    take_value(c, &entry);
    if (c->check == NULL && strcmp(entry.key, "general.alignment") == 0)
        read_alignment(artifact, c, &entry);
    if (c->check != NULL)
        return report(c, error);

    qp_artifact_metadatum *added = qp_artifact_add_metadatum(artifact);
    if (added == NULL)
        return qp_fail_memory(error, "a table of metadata");
    *added = entry;
    return QP_OK;
}

/* ---- tensor infos --------------------------------------------------------------------------- */

static void take_name(qp_artifact *artifact, cursor *c, qp_artifact_tensor *tensor)
{
    size_t start = c->at;
    tensor->name = keep_string(artifact, c, "G-NAME");
    if (c->at - start >= 8 + NAME_BYTES)
        fault(c, "G-NAME", start, "a tensor's name has 64 bytes or more");
}

/* The dimensions, fastest first in the file. */
static void take_shape(cursor *c, qp_artifact_tensor *tensor)
{
    size_t start = c->at;
    uint32_t rank = take_u32(c);
    uint64_t elements = 1;

    if (rank > RANK_MAX) {
        fault(c, "G-DIMS", start, "a tensor has over four dimensions");
        return;
    }
    tensor->rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        size_t place = c->at;
        uint64_t size = take_u64(c);
        if (size > INT64_MAX)
            fault(c, "G-DIMS", place, "a dimension is negative");
        else if (!qp_mul_u64(elements, size, &elements) || elements > INT64_MAX)
            fault(c, "G-DIMS", place, "a tensor has 2^63 elements or more");
        tensor->shape[rank - 1 - i] = size;
    }
}

/* What the words of a type are: a format's, an element type's, or nothing that is read here. */
static void set_words(qp_artifact_tensor *tensor, const qp_ggml_type *type)
{
    tensor->type = type->name;
    for (size_t i = 0; i < qp_element_count(); i++) {
        const qp_element *element = qp_element_at(i);
        if (element->gguf_type >= 0 && (uint32_t)element->gguf_type == type->id)
            tensor->element = element;
    }
    for (size_t i = 0; i < qp_format_count(); i++) {
        const qp_format *format = qp_format_at(i);
        if (format->ggml_type >= 0 && (uint32_t)format->ggml_type == type->id) {
            tensor->format = format;
            tensor->layout = qp_layout_find(format->layout);
        }
    }
}

/* The type and the bytes that follow from it. The product of the dimensions fits: see take_shape.
 */
static void take_type_and_size(cursor *c, qp_artifact_tensor *tensor)
{
    size_t start = c->at;
    uint32_t id = take_u32(c);
    const qp_ggml_type *type = c->check == NULL ? qp_ggml_type_find(id) : NULL;
    uint64_t elements = 1, first = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;

    if (type == NULL) {
        fault(c, "G-TYPE", start, "a tensor's type is not known, or was removed from ggml");
        return;
    }
    for (uint32_t i = 0; i < tensor->rank; i++)
        elements *= tensor->shape[tensor->rank - 1 - i];
    if (first % type->block_values != 0)
        fault(c, "G-BLOCK", start, "a row is no whole number of the type's blocks");
    else if (!qp_mul_u64(elements / type->block_values, type->block_bytes, &tensor->bytes))
        fault(c, "G-SIZE", start, "a tensor has 2^64 bytes or more");
    set_words(tensor, type);
}

/* The offset stays relative to the data until place_tensors. */
static qp_status read_tensor(qp_artifact *artifact, cursor *c, qp_error *error)
{
    qp_artifact_tensor tensor = {.divisors = 1};

    take_name(artifact, c, &tensor);
    if (c->check == NULL && tensor.name == NULL)
        return qp_fail_memory(error, "a tensor's name");
    take_shape(c, &tensor);
    take_type_and_size(c, &tensor);
    tensor.offset = take_u64(c);
    if (c->check != NULL)
        return report(c, error);

    qp_artifact_tensor *added = qp_artifact_add_tensor(artifact);
    if (added == NULL)
        return qp_fail_memory(error, "a table of tensors");
    *added = tensor;
    return QP_OK;
}

/* ---- repetitions ---------------------------------------------------------------------------- */

/* The offset of entry `index` is not kept: it begins where the value before it ends. */
static size_t place_of_key(const qp_artifact *artifact, size_t index)
{
    const uint8_t *bytes = artifact->files[0].file.bytes;
    if (index == 0)
        return HEADER_BYTES;
    const qp_artifact_metadatum *before = &artifact->metadata[index - 1];
    return (size_t)(before->value - bytes) + (size_t)before->size;
}

/* From the first info on, without what was checked already. */
static size_t place_of_name(const qp_artifact *artifact, size_t infos, size_t index)
{
    size_t at = infos;
    for (size_t i = 0; i < index; i++)
        at +=
            8 + strlen(artifact->tensors[i].name) + 4 + 8 * (size_t)artifact->tensors[i].rank + 12;
    return at;
}

static qp_status check_repeated(qp_artifact *artifact, size_t infos, qp_error *error)
{
    const qp_named keys = {artifact->metadata, artifact->n_metadata, sizeof *artifact->metadata};
    const qp_named names = {artifact->tensors, artifact->n_tensors, sizeof *artifact->tensors};
    qp_status status = qp_artifact_index(artifact, error);

    if (status != QP_OK)
        return status;
    size_t key = qp_named_repeated(&keys, artifact->metadata_by_key);
    size_t name = qp_named_repeated(&names, artifact->tensors_by_name);
    if (key < keys.count)
        return qp_fail_check(error, QP_MALFORMED, "G-DUPKEY", (int64_t)place_of_key(artifact, key),
                             "the key %.100s is there twice", artifact->metadata[key].key);
    if (name < names.count)
        return qp_fail_check(error, QP_MALFORMED, "G-DUPNAME",
                             (int64_t)place_of_name(artifact, infos, name),
                             "two tensors have the name %.64s", artifact->tensors[name].name);
    return QP_OK;
}

/* ---- the data ------------------------------------------------------------------------------- */

/* The next multiple of a power of two; false past 2^64. */
static bool align_up(uint64_t value, uint64_t alignment, uint64_t *result)
{
    if (!qp_add_u64(value, alignment - 1, result))
        return false;
    *result &= ~(alignment - 1);
    return true;
}

/* Where the info of tensor `index` states its offset. */
static int64_t place_of_offset(const qp_artifact *artifact, size_t infos, size_t index)
{
    return (int64_t)place_of_name(artifact, infos, index + 1) - 8;
}

static qp_status place_tensors(qp_artifact *artifact, size_t infos, uint64_t data, qp_error *error)
{
    uint64_t size = artifact->files[0].file.size, end, next = 0;

    for (size_t i = 0; i < artifact->n_tensors; i++) {
        qp_artifact_tensor *tensor = &artifact->tensors[i];
        if (tensor->offset != next)
            return qp_fail_check(error, QP_MALFORMED, "G-OFFSET",
                                 place_of_offset(artifact, infos, i),
                                 "%.64s begins at %" PRIu64 " of the data instead of %" PRIu64,
                                 tensor->name, tensor->offset, next);
        if (!align_up(tensor->bytes, artifact->alignment, &end) || !qp_add_u64(next, end, &next) ||
            !qp_add_u64(data, next, &end))
            return qp_fail_check(error, QP_MALFORMED, "G-SIZE", place_of_offset(artifact, infos, i),
                                 "the tensors have 2^64 bytes or more");
        tensor->offset += data;
        if (tensor->bytes > 0 && (tensor->offset > size || tensor->bytes > size - tensor->offset))
            return qp_fail_check(error, QP_MALFORMED, "G-DATA", (int64_t)size,
                                 "the file ends before %.64s does", tensor->name);
    }
    return QP_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "GGUF", 4) == 0;
}

static qp_status read_version(qp_artifact *artifact, cursor *c, qp_error *error)
{
    const uint8_t *magic = take(c, 4);
    bool is_gguf = memcmp(magic, "GGUF", 4) == 0;
    uint32_t version = take_u32(c);

    if (c->size >= 4 && !is_gguf)
        return qp_fail_check(error, QP_MALFORMED, "G-MAGIC", 0,
                             "the file does not begin with \"GGUF\"");
    if (c->check != NULL)
        return report(c, error);
    if (version != 0 && (version & 0xFFFF) == 0)
        return qp_fail_check(error, QP_MALFORMED, "G-VERSION", 4,
                             "this is a big-endian GGUF file: convert it to little-endian first");
    if (version != 2 && version != 3)
        return qp_fail_check(error, QP_MALFORMED, "G-VERSION", 4,
                             "version %" PRIu32 " of GGUF is not read: 2 and 3 are", version);
    artifact->version = version == 2 ? "2" : "3";
    return QP_OK;
}

/* A count of records of at least `least` bytes each, at most 2^32 - 1 of them. */
static size_t take_count(cursor *c, size_t file_size, size_t least)
{
    size_t start = c->at;
    uint64_t count = take_u64(c);
    if (count > (file_size - HEADER_BYTES) / least || count >= UINT32_MAX) {
        fault(c, "G-COUNT", start, "the file is too short for as many entries as it states");
        return 0;
    }
    return (size_t)count;
}

static qp_status open_gguf(qp_artifact *artifact, qp_error *error)
{
    qp_artifact_file *first = &artifact->files[0];
    cursor c = {.bytes = first->file.bytes, .size = first->file.size};
    uint64_t data = 0;

    artifact->alignment = ALIGNMENT_DEFAULT;
    qp_status status = read_version(artifact, &c, error);
    if (status != QP_OK)
        return status;
    if (c.size < HEADER_BYTES)
        return qp_fail_check(error, QP_MALFORMED, "G-TRUNCATED", (int64_t)c.size,
                             "the file ends inside its header");
    size_t n_tensors = take_count(&c, c.size, TENSOR_BYTES_MIN);
    size_t n_entries = take_count(&c, c.size, ENTRY_BYTES_MIN);
    status = report(&c, error);
    for (size_t i = 0; i < n_entries && status == QP_OK; i++)
        status = read_entry(artifact, &c, error);
    size_t infos = c.at;
    for (size_t i = 0; i < n_tensors && status == QP_OK; i++)
        status = read_tensor(artifact, &c, error);
    if (status == QP_OK)
        status = check_repeated(artifact, infos, error);
    if (status == QP_OK && !align_up(c.at, artifact->alignment, &data))
        status =
            qp_fail_check(error, QP_MALFORMED, "G-DATA", (int64_t)c.at, "the data begin past 2^64");
    return status == QP_OK ? place_tensors(artifact, infos, data, error) : status;
}

static qp_status check_tensor(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                              qp_error *error)
{
    (void)artifact;
    if (tensor->format != NULL || tensor->element != NULL ||
        qp_ggml_type_is_ternary(qp_ggml_type_named(tensor->type)))
        return QP_OK;
    return qp_fail_check(error, QP_MODEL_MISMATCH, "G-UNREADABLE", -1,
                         "%.64s has the type %s, which ggml knows and this library does not read",
                         tensor->name, tensor->type);
}

const struct qp_artifact_kind_rules qp_gguf_rules = {
    .probe = probe,
    .open = open_gguf,
    .check_tensor = check_tensor,
    .flattens_blocks = true,
    .writer = &qp_gguf_writer,
};
