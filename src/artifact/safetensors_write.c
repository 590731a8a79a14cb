/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors_write.c - the layout of a safetensors file (ggml-blocks.md section 7). Direct tensors
 * are one tensor each; encoded matrices those that source_compose.c puts together again: row FP8 N
 * and N_scale [N,1], NVFP4 N_packed, N_scale and N_global_scale. Tensors with wider elements come
 * first, so that each lies at a multiple of its element's size.
 */
#include "artifact/plan.h"
#include "artifact/safetensors.h"

#include <stdio.h>

#define LONGEST_HEADER 100000000

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
    if (list->tensors == NULL || list->order == NULL)
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
    qp_sort_indices(list->order, list->order + most, list->count, wider_first, list->tensors);
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
    for (size_t i = 0; i < list->count; i++) {
        const plane_tensor *tensor = &list->tensors[list->order[i]];
        plan->objects[tensor->object].at[tensor->plane] = end;
        if (!qp_add_u64(end, tensor->bytes, &end))
            return qp_fail(error, QP_TOO_LARGE, "the tensors take 2^64 bytes or more");
    }
    plan->payload_bytes = end;
    return QP_OK;
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

static void append_entries(const qp_convert_plan *plan, const char **comma, qp_buffer *out)
{
    qp_buffer text;
    bool has_types = false;
    qp_buffer_init(&text, &plan->allocator);
    for (size_t i = 0; i < plan->metadata.count; i++) {
        const qp_artifact_metadatum *entry = &plan->metadata.entries[i];
        if (!carries(entry))
            continue;
        if (is_plain(entry))
            qp_buffer_append(&text, entry->value, (size_t)entry->size);
        else
            qp_metadata_append_json(entry, &text);
        has_types = has_types || !is_plain(entry);
        append_nested(out, comma, entry->key, &text);
    }
    if (has_types) {
        append_types(plan, &text);
        append_nested(out, comma, QP_VALUE_TYPES_KEY, &text);
    }
    qp_plan_flat_provenance(plan, &text);
    if (text.size > 0)
        append_nested(out, comma, QP_PROVENANCE_KEY, &text);
    out->failed = out->failed || text.failed;
    qp_buffer_free(&text);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void append_tensor(const qp_convert_plan *plan, const plane_tensor *tensor, qp_buffer *out)
{
    uint64_t begin = plan->objects[tensor->object].at[tensor->plane];
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

static void append_header(const qp_convert_plan *plan, const tensor_list *list, qp_buffer *out)
{
    const char *comma = "", *inner = "";
    qp_buffer entries;
    qp_buffer_init(&entries, &plan->allocator);
    append_entries(plan, &inner, &entries);
    qp_buffer_text(out, "{");
    if (inner[0] != '\0') {
        append_member(out, &comma, "__metadata__");
        qp_buffer_text(out, "{");
        qp_buffer_append(out, entries.bytes, entries.size);
        qp_buffer_text(out, "}");
    }
    out->failed = out->failed || entries.failed;
    qp_buffer_free(&entries);
    for (size_t i = 0; i < list->count; i++) {
        const plane_tensor *tensor = &list->tensors[list->order[i]];
        append_member(out, &comma, tensor->name);
        append_tensor(plan, tensor, out);
    }
    qp_buffer_text(out, "}");
    while (!out->failed && out->size % SAFETENSORS_LENGTH_BYTES != 0)
        qp_buffer_text(out, " ");
}

static qp_status set_file(qp_convert_plan *plan, const qp_buffer *header, qp_error *error)
{
    uint64_t size;
    qp_buffer head;
    if (header->failed)
        return qp_fail_memory(error, "the header of a file");
    if (header->size > LONGEST_HEADER)
        return qp_fail_check(error, QP_TOO_LARGE, "S-LENGTH", -1,
                             "the header takes %zu bytes, and may take %d", header->size,
                             LONGEST_HEADER);
    qp_status status = qp_plan_set_files(plan, 1, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&head, &plan->allocator);
    qp_buffer_le(&head, header->size, SAFETENSORS_LENGTH_BYTES);
    qp_buffer_append(&head, header->bytes, header->size);
    status = qp_plan_set_head(plan, 0, &head, error);
    if (status != QP_OK)
        return status;
    if (!qp_add_u64(plan->heads[0].size, plan->payload_bytes, &size))
        return qp_fail(error, QP_TOO_LARGE, "the file takes 2^64 bytes or more");
    plan->files[0].size = size;
    plan->runs[0] = (qp_plan_run){0, plan->heads[0].size, 0, plan->payload_bytes};
    return QP_OK;
}

static qp_status layout(qp_convert_plan *plan, qp_error *error)
{
    tensor_list list = {0};
    qp_buffer header;
    qp_status status = list_tensors(plan, &list, error);
    if (status == QP_OK)
        status = check_names(plan, &list, error);
    if (status == QP_OK)
        status = place_tensors(plan, &list, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&header, &plan->allocator);
    append_header(plan, &list, &header);
    status = set_file(plan, &header, error);
    qp_buffer_free(&header);
    return status;
}

static qp_status check(const qp_plan_object *object, qp_error *error)
{
    if (object->target.format->family != QP_FAMILY_DIRECT && object->rank != 2)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "container_format", -1,
                             "only matrices are kept as %s in a safetensors file",
                             object->target.format->name);
    return QP_OK;
}

const struct qp_artifact_kind_writer qp_safetensors_writer = {
    .holds = holds, .keeps_words = true, .carries = carries, .check = check, .layout = layout};
