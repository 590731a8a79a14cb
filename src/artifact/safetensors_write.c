/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors_write.c - the layout of a safetensors file (ggml-blocks.md section 7). Direct tensors
 * are one tensor each; encoded matrices those that source_compose.c puts together again: row FP8 N
 * and N_scale [N,1], NVFP4 N_packed, N_scale and N_global_scale. Tensors with wider elements come
 * first, so that each lies at a multiple of its element's size.
 *
 * An output that ends in ".safetensors.index.json", or one that passes the limit of a file, is an
 * index and shards NAME-00001-of-0000N.safetensors in the parameters' order. The first shard has
 * the metadata; of it the others have `format`, which readers ask each file for.
 */
#include "artifact/plan.h"
#include "artifact/safetensors.h"

#include <inttypes.h>
#include <stdio.h>

#define LONGEST_HEADER 100000000
#define FILE_ENDING ".safetensors"
#define INDEX_ENDING ".index.json"

/* A tensor of the file: one plane of an object's words. */
typedef struct plane_tensor {
    const char *name; /* first member: qp_named */
    const char *type;
    uint32_t width; /* bytes of an element */
    uint32_t rank;
    uint64_t shape[QP_SHAPE_RANK_MAX];
    uint64_t bytes;
    size_t object;
    size_t plane; /* of qp_plan_object.at */
} plane_tensor;

enum { CODES = 0, SCALES = 2, DIVISORS = 3 };

/* ---- planes ---------------------------------------------------------------------------------- */

/* How the planes of a family of formats are named and typed. */
typedef struct plane_row {
    qp_format_family family;
    size_t plane;
    const char *ending;
    const char *type; /* NULL: by the format */
} plane_row;

static const plane_row rows[] = {
    {QP_FAMILY_DIRECT, CODES, "", NULL},
    {QP_FAMILY_ROW_FP8, CODES, "", "F8_E4M3"},
    {QP_FAMILY_ROW_FP8, SCALES, "_scale", NULL},
    {QP_FAMILY_NVFP4, CODES, "_packed", "U8"},
    {QP_FAMILY_NVFP4, SCALES, "_scale", "F8_E4M3"},
    {QP_FAMILY_NVFP4, DIVISORS, "_global_scale", "F32"},
};

#define MOST_PLANES 3

static bool holds(const qp_format *format)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].family == format->family)
            return true;
    }
    return false;
}

static const qp_element *element_with_format(const char *format)
{
    for (size_t i = 0; i < qp_element_count(); i++) {
        const qp_element *element = qp_element_at(i);
        if (element->format != NULL && strcmp(element->format, format) == 0)
            return element;
    }
    return NULL;
}

static const qp_element *element_of(const plane_row *row, const qp_format *format)
{
    if (row->type != NULL)
        return qp_element_find(row->type);
    if (row->family == QP_FAMILY_DIRECT)
        return element_with_format(format->name);
    bool is_half = strcmp(format->name, "fp8_e4m3fn_row_fp16") == 0;
    return qp_element_find(is_half ? "F16" : "BF16");
}

static void shape_plane(const qp_plan_object *object, const plane_row *row, plane_tensor *tensor)
{
    const qp_matrix *matrix = &object->target;
    tensor->rank = 2;
    tensor->shape[0] = matrix->rows;
    if (row->plane == CODES) {
        tensor->rank = object->rank;
        memcpy(tensor->shape, object->shape, sizeof tensor->shape);
        if (row->family == QP_FAMILY_NVFP4)
            tensor->shape[1] = matrix->columns / 2;
        tensor->bytes = matrix->rows * matrix->code_row_bytes;
    } else if (row->plane == SCALES) {
        tensor->shape[1] = matrix->scale_row_bytes / tensor->width;
        tensor->bytes = matrix->rows * matrix->scale_row_bytes;
    } else {
        tensor->rank = matrix->divisors > 1 ? 1 : 0;
        tensor->shape[0] = matrix->divisors;
        tensor->bytes = 4 * matrix->divisors;
    }
}

static qp_status add_plane(qp_convert_plan *plan, size_t index, const plane_row *row,
                           plane_tensor *tensor, qp_error *error)
{
    const qp_plan_object *object = &plan->objects[index];
    const qp_element *element = element_of(row, object->target.format);
    size_t length = strlen(object->name), more = strlen(row->ending);
    char *name = qp_arena_allocate(&plan->arena, length + more + 1, 1);
    if (name == NULL)
        return qp_fail_memory(error, "the name of a tensor");
    if (element == NULL)
        return qp_fail(error, QP_INTERNAL, "no element type for %s", object->target.format->name);
    memcpy(name, object->name, length);
    memcpy(name + length, row->ending, more);
    *tensor = (plane_tensor){.name = name, .type = element->name, .width = element->bytes};
    tensor->object = index;
    tensor->plane = row->plane;
    shape_plane(object, row, tensor);
    return QP_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct tensor_list {
    plane_tensor *tensors;
    size_t count;
    uint32_t *order; /* in which they lie in the file */
    size_t *begins;  /* of each shard in the order, and the end */
    size_t n_shards;
} tensor_list;

static bool wider_first(const void *context, uint32_t a, uint32_t b)
{
    const plane_tensor *tensors = context;
    return tensors[a].width >= tensors[b].width;
}

static qp_status list_tensors(qp_convert_plan *plan, tensor_list *list, qp_error *error)
{
    size_t most = plan->n_objects * MOST_PLANES;
    list->tensors = qp_arena_allocate(&plan->arena, most, sizeof *list->tensors);
    list->order = qp_arena_allocate(&plan->arena, most, 2 * sizeof *list->order);
    list->begins = qp_arena_allocate(&plan->arena, plan->n_objects + 2, sizeof *list->begins);
    if (list->tensors == NULL || list->order == NULL || list->begins == NULL)
        return qp_fail_memory(error, "the tensors of a file");
    qp_status status = QP_OK;
    for (size_t i = 0; i < plan->n_objects; i++) {
        qp_format_family family = plan->objects[i].target.format->family;
        for (size_t k = 0; k < sizeof rows / sizeof rows[0] && status == QP_OK; k++) {
            if (rows[k].family != family)
                continue;
            list->order[list->count] = (uint32_t)list->count;
            status = add_plane(plan, i, &rows[k], &list->tensors[list->count++], error);
        }
    }
    return status;
}

static qp_status check_names(qp_convert_plan *plan, const tensor_list *list, qp_error *error)
{
    qp_named named = {list->tensors, list->count, sizeof *list->tensors};
    const uint32_t *order = qp_named_order(&plan->arena, &named);
    if (order == NULL)
        return qp_fail_memory(error, "the names of tensors");
    size_t repeated = qp_named_repeated(&named, order);
    if (repeated < list->count)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "S-DUPNAME", -1,
                             "two tensors would have the name %.120s",
                             list->tensors[repeated].name);
    if (qp_named_find(&named, order, "__metadata__") < list->count)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "S-NAME", -1,
                             "safetensors has no tensor named __metadata__");
    return QP_OK;
}

static qp_status place_tensors(qp_convert_plan *plan, const tensor_list *list, qp_error *error)
{
    uint64_t end = 0;
    for (size_t i = 0; i < list->n_shards; i++)
        qp_sort_indices(list->order + list->begins[i], list->order + plan->n_objects * MOST_PLANES,
                        list->begins[i + 1] - list->begins[i], wider_first, list->tensors);
    for (size_t i = 0; i < list->count; i++) {
        const plane_tensor *tensor = &list->tensors[list->order[i]];
        plan->objects[tensor->object].at[tensor->plane] = end;
        if (!qp_add_u64(end, tensor->bytes, &end))
            return qp_fail(error, QP_TOO_LARGE, "the tensors take 2^64 bytes or more");
    }
    plan->payload_bytes = end;
    return QP_OK;
}

/* Where a shard begins in the payload of all. */
static uint64_t start_of(const qp_convert_plan *plan, const tensor_list *list, size_t shard)
{
    size_t begin = list->begins[shard];
    if (begin == list->count)
        return plan->payload_bytes;
    const plane_tensor *first = &list->tensors[list->order[begin]];
    return plan->objects[first->object].at[first->plane];
}

/* ---- metadata -------------------------------------------------------------------------------- */

static bool carries(const qp_artifact_metadatum *entry)
{
    return qp_is_utf8((const uint8_t *)entry->key, strlen(entry->key));
}

/* A text that needs no type beside it. */
static bool is_plain(const qp_artifact_metadatum *entry)
{
    return entry->type == QP_META_STRING && qp_is_utf8(entry->value, entry->size);
}

static void append_text(qp_buffer *out, const char *text)
{
    qp_buffer_json_string(out, text, strlen(text));
}

static void append_member(qp_buffer *out, const char **comma, const char *name)
{
    qp_buffer_text(out, *comma);
    append_text(out, name);
    qp_buffer_text(out, ":");
    *comma = ",";
}

static void append_types(const qp_convert_plan *plan, qp_buffer *out)
{
    const char *comma = "";
    qp_buffer_text(out, "{");
    for (size_t i = 0; i < plan->metadata.count; i++) {
        const qp_artifact_metadatum *entry = &plan->metadata.entries[i];
        char type[QP_METADATA_TYPE_SIZE];
        if (is_plain(entry) || !carries(entry))
            continue;
        qp_metadata_type_name(entry, type);
        append_member(out, &comma, entry->key);
        append_text(out, type);
    }
    qp_buffer_text(out, "}");
}

/* A member whose value is a text made of other text. */
static void append_nested(qp_buffer *out, const char **comma, const char *name, qp_buffer *text)
{
    append_member(out, comma, name);
    qp_buffer_json_string(out, (const char *)text->bytes, text->size);
    out->failed = out->failed || text->failed;
    text->size = 0;
}

static void append_entries(const qp_convert_plan *plan, size_t shard, const char **comma,
                           qp_buffer *out)
{
    qp_buffer text;
    bool has_types = false;
    qp_buffer_init(&text, &plan->allocator);
    for (size_t i = 0; i < plan->metadata.count; i++) {
        const qp_artifact_metadatum *entry = &plan->metadata.entries[i];
        if (!carries(entry) || (shard > 0 && strcmp(entry->key, "format") != 0))
            continue;
        if (is_plain(entry))
            qp_buffer_append(&text, entry->value, (size_t)entry->size);
        else
            qp_metadata_append_json(entry, &text);
        has_types = has_types || !is_plain(entry);
        append_nested(out, comma, entry->key, &text);
    }
    if (has_types && shard == 0) {
        append_types(plan, &text);
        append_nested(out, comma, QP_VALUE_TYPES_KEY, &text);
    }
    if (shard == 0)
        qp_plan_flat_provenance(plan, &text);
    if (text.size > 0)
        append_nested(out, comma, QP_PROVENANCE_KEY, &text);
    out->failed = out->failed || text.failed;
    qp_buffer_free(&text);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void append_tensor(const plane_tensor *tensor, uint64_t begin, qp_buffer *out)
{
    qp_buffer_format(out, "{\"dtype\":\"%s\",\"shape\":[", tensor->type);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        qp_buffer_text(out, i > 0 ? "," : "");
        qp_buffer_u64_decimal(out, tensor->shape[i]);
    }
    qp_buffer_text(out, "],\"data_offsets\":[");
    qp_buffer_u64_decimal(out, begin);
    qp_buffer_text(out, ",");
    qp_buffer_u64_decimal(out, begin + tensor->bytes);
    qp_buffer_text(out, "]}");
}

/* "__metadata__" of a shard, where there is any. */
static void append_metadata(const qp_convert_plan *plan, size_t shard, const char **comma,
                            qp_buffer *out)
{
    const char *inner = "";
    qp_buffer entries;
    qp_buffer_init(&entries, &plan->allocator);
    append_entries(plan, shard, &inner, &entries);
    if (inner[0] != '\0') {
        append_member(out, comma, "__metadata__");
        qp_buffer_text(out, "{");
        qp_buffer_append(out, entries.bytes, entries.size);
        qp_buffer_text(out, "}");
    }
    out->failed = out->failed || entries.failed;
    qp_buffer_free(&entries);
}

static void append_header(const qp_convert_plan *plan, const tensor_list *list, size_t shard,
                          qp_buffer *out)
{
    const char *comma = "";
    uint64_t start = start_of(plan, list, shard);
    qp_buffer_text(out, "{");
    append_metadata(plan, shard, &comma, out);
    for (size_t i = list->begins[shard]; i < list->begins[shard + 1]; i++) {
        const plane_tensor *tensor = &list->tensors[list->order[i]];
        append_member(out, &comma, tensor->name);
        append_tensor(tensor, plan->objects[tensor->object].at[tensor->plane] - start, out);
    }
    qp_buffer_text(out, "}");
    while (!out->failed && out->size % SAFETENSORS_LENGTH_BYTES != 0)
        qp_buffer_text(out, " ");
}

static qp_status set_file(qp_convert_plan *plan, const tensor_list *list, size_t shard, size_t file,
                          qp_error *error)
{
    uint64_t start = start_of(plan, list, shard);
    uint64_t payload = start_of(plan, list, shard + 1) - start;
    qp_buffer header, head;
    qp_buffer_init(&header, &plan->allocator);
    qp_buffer_init(&head, &plan->allocator);
    append_header(plan, list, shard, &header);
    qp_buffer_le(&head, header.size, SAFETENSORS_LENGTH_BYTES);
    qp_buffer_append(&head, header.bytes, header.size);
    head.failed = head.failed || header.failed;
    qp_status status = QP_OK;
    if (!head.failed && header.size > LONGEST_HEADER)
        status = qp_fail_check(error, QP_TOO_LARGE, "S-LENGTH", -1,
                               "the header takes %zu bytes, and may take %d", header.size,
                               LONGEST_HEADER);
    qp_buffer_free(&header);
    if (status == QP_OK)
        status = qp_plan_set_head(plan, file, &head, error);
    else
        qp_buffer_free(&head);
    if (status != QP_OK)
        return status;
    if (!qp_add_u64(plan->heads[file].size, payload, &plan->files[file].size))
        return qp_fail(error, QP_TOO_LARGE, "the file takes 2^64 bytes or more");
    plan->runs[file] = (qp_plan_run){file, plan->heads[file].size, start, payload};
    return QP_OK;
}

/* ---- shards ---------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), count = strlen(ending);
    return length >= count && strcmp(text + length - count, ending) == 0;
}

static bool is_index(const char *path)
{
    return ends_with(path, FILE_ENDING INDEX_ENDING);
}

/* An upper bound of what a tensor takes in a header: its offsets are not known yet. */
static uint64_t bytes_in_header(const plane_tensor *tensor, qp_buffer *scratch)
{
    const char *comma = ",";
    scratch->size = 0;
    append_member(scratch, &comma, tensor->name);
    append_tensor(tensor, UINT64_MAX - tensor->bytes, scratch);
    return scratch->size;
}

/* What an object's tensors take, header and all. */
static qp_status bytes_of_object(const tensor_list *list, size_t first, size_t end,
                                 qp_buffer *scratch, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = first; i < end; i++) {
        if (!qp_add_u64(*bytes, list->tensors[i].bytes, bytes) ||
            !qp_add_u64(*bytes, bytes_in_header(&list->tensors[i], scratch), bytes))
            return QP_TOO_LARGE;
    }
    return scratch->failed ? QP_NO_MEMORY : QP_OK;
}

/* What a shard takes without tensors: the length, braces, metadata, spaces. */
static uint64_t bytes_of_empty(const qp_convert_plan *plan, size_t shard, qp_buffer *scratch)
{
    const char *comma = "";
    scratch->size = 0;
    append_metadata(plan, shard, &comma, scratch);
    return SAFETENSORS_LENGTH_BYTES + 2 + scratch->size + SAFETENSORS_LENGTH_BYTES - 1;
}

static size_t end_of_object(const tensor_list *list, size_t first)
{
    size_t end = first + 1;
    while (end < list->count && list->tensors[end].object == list->tensors[first].object)
        end++;
    return end;
}

/* The tensors in their order to shards, each as full as the limit allows. The tensors of one matrix
 * stay together. */
static qp_status divide(const qp_convert_plan *plan, tensor_list *list, qp_buffer *scratch,
                        qp_error *error)
{
    uint64_t limit = plan->options.max_file_bytes > 0 ? plan->options.max_file_bytes : UINT64_MAX;
    uint64_t used = bytes_of_empty(plan, 0, scratch), bytes, sum;
    list->n_shards = 1;
    for (size_t i = 0, end; i < list->count; i = end) {
        end = end_of_object(list, i);
        qp_status status = bytes_of_object(list, i, end, scratch, &bytes);
        if (status == QP_NO_MEMORY)
            return qp_fail_memory(error, "the shards of a file");
        bool fits = status == QP_OK && qp_add_u64(used, bytes, &sum) && sum <= limit;
        if (!fits && i > list->begins[list->n_shards - 1]) {
            list->begins[list->n_shards++] = i;
            used = bytes_of_empty(plan, 1, scratch);
            fits = status == QP_OK && qp_add_u64(used, bytes, &sum) && sum <= limit;
        }
        if (!fits)
            return qp_fail_check(error, QP_MODEL_MISMATCH, "W-LIMIT", -1,
                                 "%.80s and its header do not fit in a file of %" PRIu64
                                 " bytes: a shard holds whole tensors",
                                 plan->objects[list->tensors[i].object].name, limit);
        used = sum;
    }
    list->begins[list->n_shards] = list->count;
    return scratch->failed ? qp_fail_memory(error, "the shards of a file") : QP_OK;
}

/* "model" of "folder/model.safetensors" and of its index. */
static qp_status name_shards(qp_convert_plan *plan, size_t shards, qp_error *error)
{
    const char *name = qp_path_file_name(plan->output);
    size_t length = strlen(name), room;
    length -= is_index(name) ? strlen(INDEX_ENDING) : 0;
    if (ends_with(name, FILE_ENDING) || is_index(name))
        length -= strlen(FILE_ENDING);
    for (size_t i = 0; i < shards; i++) {
        char ending[64];
        snprintf(ending, sizeof ending, "-%05zu-of-%05zu" FILE_ENDING, i + 1, shards);
        room = strlen(ending) + 1;
        char *text = qp_arena_allocate(&plan->arena, length + room, 1);
        if (text == NULL)
            return qp_fail_memory(error, "the name of a file");
        memcpy(text, name, length);
        memcpy(text + length, ending, room);
        plan->files[i + 1].name = text;
    }
    return QP_OK;
}

/* The plan's output becomes the index. */
static qp_status name_index(qp_convert_plan *plan, qp_error *error)
{
    const char *ending =
        ends_with(plan->output, FILE_ENDING) ? INDEX_ENDING : FILE_ENDING INDEX_ENDING;
    size_t length = strlen(plan->output), more = strlen(ending) + 1;
    if (is_index(plan->output))
        return QP_OK;
    char *text = qp_arena_allocate(&plan->arena, length + more, 1);
    if (text == NULL)
        return qp_fail_memory(error, "the name of a file");
    memcpy(text, plan->output, length);
    memcpy(text + length, ending, more);
    plan->output = text;
    return qp_new_files_check_target(text, plan->options.replace, error);
}

static qp_status set_index(qp_convert_plan *plan, const tensor_list *list, qp_error *error)
{
    const char *comma = "";
    qp_buffer out;
    if (list->count == 0)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "S-INDEX", -1,
                             "an index names tensors, and there are none");
    qp_buffer_init(&out, &plan->allocator);
    qp_buffer_text(&out, "{\"metadata\":{\"total_size\":");
    qp_buffer_u64_decimal(&out, plan->payload_bytes);
    qp_buffer_text(&out, "},\"weight_map\":{");
    for (size_t shard = 0; shard < list->n_shards; shard++) {
        for (size_t i = list->begins[shard]; i < list->begins[shard + 1]; i++) {
            qp_buffer_text(&out, comma);
            qp_buffer_text(&out, "\n");
            append_text(&out, list->tensors[list->order[i]].name);
            qp_buffer_text(&out, ":");
            append_text(&out, plan->files[shard + 1].name);
            comma = ",";
        }
    }
    qp_buffer_text(&out, "}}\n");
    qp_status status = qp_plan_set_head(plan, 0, &out, error);
    plan->files[0].size = plan->heads[0].size;
    plan->runs[0] = (qp_plan_run){0, plan->heads[0].size, 0, 0};
    return status;
}

/* The file, or the index, which is the first one, and its shards. */
static qp_status set_files(qp_convert_plan *plan, const tensor_list *list, qp_error *error)
{
    bool has_index = list->n_shards > 1 || is_index(plan->output);
    qp_status status = qp_plan_set_files(plan, list->n_shards + has_index, error);
    if (status == QP_OK && has_index)
        status = name_shards(plan, list->n_shards, error);
    if (status == QP_OK && has_index)
        status = name_index(plan, error);
    for (size_t i = 0; i < list->n_shards && status == QP_OK; i++)
        status = set_file(plan, list, i, i + has_index, error);
    return status == QP_OK && has_index ? set_index(plan, list, error) : status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static qp_status layout(qp_convert_plan *plan, qp_error *error)
{
    tensor_list list = {0};
    qp_buffer scratch;
    qp_status status = list_tensors(plan, &list, error);
    if (status == QP_OK)
        status = check_names(plan, &list, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&scratch, &plan->allocator);
    status = divide(plan, &list, &scratch, error);
    qp_buffer_free(&scratch);
    if (status == QP_OK)
        status = place_tensors(plan, &list, error);
    return status == QP_OK ? set_files(plan, &list, error) : status;
}

static qp_status check(const qp_plan_object *object, qp_error *error)
{
    if (object->target.format->family != QP_FAMILY_DIRECT && object->rank != 2)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "container_format", -1,
                             "only matrices are kept as %s in a safetensors file",
                             object->target.format->name);
    return QP_OK;
}

const struct qp_artifact_kind_writer qp_safetensors_writer = {.holds = holds,
                                                              .keeps_words = true,
                                                              .divides = true,
                                                              .carries = carries,
                                                              .check = check,
                                                              .layout = layout};
