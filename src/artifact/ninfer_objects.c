/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ninfer_objects.c - the objects of a .ninfer directory, tensors and resources
 * (artifact-container.md section 3.3).
 */
#include "artifact/ninfer_directory.h"

/* Where an object lies: C-INT for what passes 2^64 - 1, C-SPAN. */
static qp_status read_span(const ninfer_directory *directory, const qp_json_value values[2],
                           uint64_t *end, uint64_t span[2], qp_error *error)
{
    uint64_t last;
    qp_status status = qp_ninfer_u64(values[0], false, &span[0], error);
    if (status == QP_OK)
        status = qp_ninfer_u64(values[1], true, &span[1], error);
    if (status != QP_OK)
        return status;
    if (!qp_add_u64(span[0], span[1], &last))
        return qp_json_fail_check(values[0], error, "C-INT", "the object ends past 2^64 - 1");
    if (span[0] < *end)
        return qp_json_fail_check(values[0], error, "C-SPAN",
                                  "the object begins before the one before it ends");
    if (last > directory->payload_bytes)
        return qp_json_fail_check(values[0], error, "C-SPAN", "the object ends behind the payload");
    *end = last;
    return QP_OK;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static qp_status read_shape(qp_json_value value, qp_artifact_tensor *tensor, uint64_t *elements,
                            qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value dimension;

    if (qp_json_kind_of(value) != QP_JSON_ARRAY)
        return qp_json_fail_check(value, error, "C-SHAPE", "a shape is an array, not %s",
                                  qp_json_kind_name(qp_json_kind_of(value)));
    *elements = 1;
    while (qp_json_next(&iterator, &dimension)) {
        if (tensor->rank == QP_SHAPE_RANK_MAX)
            return qp_json_fail_check(value, error, "C-SHAPE", "a shape has over 16 dimensions");
        uint64_t size;
        qp_status status = qp_ninfer_u64(dimension, true, &size, error);
        if (status != QP_OK)
            return status;
        if (!qp_mul_u64(*elements, size, elements))
            return qp_json_fail_check(value, error, "C-INT", "a shape has over 2^64 - 1 elements");
        tensor->shape[tensor->rank++] = size;
    }
    return QP_OK;
}

/* The element type with the words of a direct format, or NULL. */
static const qp_element *element_of(const qp_format *format)
{
    for (size_t i = 0; i < qp_element_count(); i++) {
        const qp_element *element = qp_element_at(i);
        if (element->format != NULL && strcmp(element->format, format->name) == 0)
            return element;
    }
    return NULL;
}

/* A name that is not known is no fault before the tensor is asked for. */
static qp_status read_format(ninfer_directory *directory, qp_json_value format,
                             qp_json_value layout, qp_artifact_tensor *tensor, qp_error *error)
{
    const char *name;
    qp_status status = qp_ninfer_id(directory, format, &name, error);
    if (status != QP_OK)
        return status;
    tensor->format = qp_format_find(name);
    if (tensor->format != NULL) {
        tensor->type = tensor->format->name;
        tensor->element = element_of(tensor->format);
    } else {
        status =
            qp_ninfer_keep_id(directory, &directory->artifact->arena, format, &tensor->type, error);
    }
    if (status == QP_OK)
        status = qp_ninfer_id(directory, layout, &name, error);
    if (status == QP_OK)
        tensor->layout = qp_layout_find(name);
    return status;
}

static qp_status read_tensor(ninfer_directory *directory, qp_json_value record, uint64_t *end,
                             ninfer_object *object, qp_error *error)
{
    static const ninfer_member members[] = {{"id", true},     {"kind", true},     {"shape", true},
                                            {"format", true}, {"layout", true},   {"offset", true},
                                            {"bytes", true},  {"divisors", false}};
    qp_artifact *artifact = directory->artifact;
    qp_artifact_tensor tensor = {.divisors = 1};
    qp_json_value values[8];
    uint64_t span[2];

    qp_status status = qp_ninfer_members(record, members, 8, values, error);
    if (status == QP_OK)
        status = qp_ninfer_keep_id(directory, &artifact->arena, values[0], &tensor.name, error);
    if (status == QP_OK)
        status = read_shape(values[2], &tensor, &object->elements, error);
    if (status == QP_OK)
        status = read_format(directory, values[3], values[4], &tensor, error);
    if (status == QP_OK)
        status = read_span(directory, &values[5], end, span, error);
    if (status == QP_OK && values[7].json != NULL)
        status = qp_ninfer_u64(values[7], true, &tensor.divisors, error);
    if (status != QP_OK)
        return status;

    qp_artifact_tensor *added = qp_artifact_add_tensor(artifact);
    if (added == NULL)
        return qp_fail_memory(error, "a table of tensors");
    tensor.offset = span[0];
    tensor.bytes = span[1];
    *added = tensor;
    object->id = tensor.name;
    return QP_OK;
}

/* ---- resources ------------------------------------------------------------------------------ */

static qp_status read_resource(ninfer_directory *directory, qp_json_value record, uint64_t *end,
                               ninfer_object *object, qp_error *error)
{
    static const ninfer_member members[] = {
        {"id", true}, {"kind", true}, {"encoding", true}, {"offset", true}, {"bytes", true}};
    qp_artifact *artifact = directory->artifact;
    qp_artifact_resource resource;
    qp_json_value values[5];
    uint64_t span[2];

    qp_status status = qp_ninfer_members(record, members, 5, values, error);
    if (status == QP_OK)
        status = qp_ninfer_keep_id(directory, &artifact->arena, values[0], &resource.id, error);
    if (status == QP_OK)
        status =
            qp_ninfer_keep_id(directory, &artifact->arena, values[2], &resource.encoding, error);
    if (status == QP_OK)
        status = read_span(directory, &values[3], end, span, error);
    if (status != QP_OK)
        return status;

    qp_artifact_resource *added = qp_artifact_add_resource(artifact);
    if (added == NULL)
        return qp_fail_memory(error, "a table of resources");
    resource.offset = span[0];
    resource.bytes = span[1];
    *added = resource;
    object->id = resource.id;
    object->elements = 0;
    return QP_OK;
}

/* ---- the group ------------------------------------------------------------------------------ */

/* The kind comes first: it says which members the record may have. */
static qp_status read_object(ninfer_directory *directory, qp_json_value record, uint64_t *end,
                             qp_error *error)
{
    qp_json_value kind;
    ninfer_object object = {0};
    qp_status status;

    if (qp_json_kind_of(record) != QP_JSON_OBJECT)
        return qp_json_fail_check(record, error, "C-OBJECT", "an object's record is %s",
                                  qp_json_kind_name(qp_json_kind_of(record)));
    if (!qp_json_find(record, "kind", &kind))
        return qp_json_fail_check(record, error, "C-KIND", "the object has no kind");
    if (qp_json_equals(kind, "tensor"))
        status = read_tensor(directory, record, end, &object, error);
    else if (qp_json_equals(kind, "resource"))
        status = read_resource(directory, record, end, &object, error);
    else
        return qp_json_fail_check(kind, error, "C-KIND",
                                  "an object's kind is \"tensor\" or \"resource\"");
    if (status != QP_OK)
        return status;

    ninfer_object *records =
        qp_table_grow(&directory->artifact->allocator, directory->records,
                      &directory->record_capacity, directory->n_records, sizeof *records);
    if (records == NULL)
        return qp_fail_memory(error, "a table of objects");
    directory->records = records;
    records[directory->n_records++] = object;
    return QP_OK;
}

static qp_status check_ids(ninfer_directory *directory, qp_error *error)
{
    const qp_named named = {directory->records, directory->n_records, sizeof *directory->records};
    directory->records_by_id = qp_named_order(&directory->arena, &named);
    if (directory->records_by_id == NULL)
        return qp_fail_memory(error, "the order of the objects");
    size_t repeated = qp_named_repeated(&named, directory->records_by_id);
    if (repeated == named.count)
        return QP_OK;

    qp_json_iterator iterator = qp_json_iterate(directory->objects);
    qp_json_value record = QP_JSON_NO_VALUE, id;
    for (size_t i = 0; i <= repeated; i++)
        qp_json_next(&iterator, &record);
    qp_json_find(record, "id", &id);
    return qp_json_fail_check(id, error, "C-DUPID", "an object before this one has the same id");
}

qp_status qp_ninfer_objects(ninfer_directory *directory, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(directory->objects);
    qp_json_value record;
    qp_status status = QP_OK;
    uint64_t end = 0;

    if (qp_json_kind_of(directory->objects) == QP_JSON_ARRAY) {
        while (status == QP_OK && qp_json_next(&iterator, &record))
            status = read_object(directory, record, &end, error);
    }
    if (status != QP_OK)
        return status;
    if (directory->n_records == 0)
        return qp_json_fail_check(directory->objects, error, "C-OBJECTS",
                                  "`objects` is an array of one record or more");
    return check_ids(directory, error);
}

qp_status qp_ninfer_reference(ninfer_directory *directory, qp_json_value value, bool tensor,
                              const ninfer_object **object, qp_error *error)
{
    const qp_named named = {directory->records, directory->n_records, sizeof *directory->records};
    const char *id;
    qp_status status = qp_ninfer_id(directory, value, &id, error);
    if (status != QP_OK)
        return status;
    size_t index = qp_named_find(&named, directory->records_by_id, id);
    if (index == named.count)
        return qp_json_fail_check(value, error, "C-REF", "there is no object %.80s", id);
    if ((directory->records[index].elements > 0) != tensor)
        return qp_json_fail_check(value, error, "C-REF", "the object %.80s is no %s", id,
                                  tensor ? "tensor" : "resource");
    *object = &directory->records[index];
    return QP_OK;
}
