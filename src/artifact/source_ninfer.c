/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_ninfer.c - the parameters of a .ninfer artifact: its bindings, the objects that nothing
 * names, and the auxiliaries of its uses (artifact-container.md sections 3.5 and 3.6).
 *
 * The directory has passed its checks when it was opened. A binding says how many elements a
 * parameter has, not its shape: that is its object's, or what metadata.parameter_shapes records, or
 * the rows of its parts.
 */
#include "artifact/source.h"

/* The directory's values while they are listed. */
typedef struct listing {
    qp_weight_source *source;
    qp_json_value shapes; /* metadata.parameter_shapes, if it is there */
    qp_buffer text;       /* the last string */
    bool *named;          /* objects that a binding or a use names */
} listing;

static qp_status text_of(listing *list, qp_json_value value, const char **text, qp_error *error)
{
    list->text.size = 0;
    qp_json_append_string(value, &list->text);
    qp_buffer_append(&list->text, "", 1);
    if (list->text.failed)
        return qp_fail_memory(error, "a name");
    *text = (const char *)list->text.bytes;
    return QP_OK;
}

static const char *keep_text(listing *list, const char *text)
{
    size_t length = strlen(text);
    char *copy = qp_arena_allocate(&list->source->arena, length + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static qp_status tensor_of(listing *list, qp_json_value reference, const qp_artifact_tensor **found,
                           qp_error *error)
{
    const char *id = NULL;
    qp_json_value value;
    (void)qp_json_find(reference, "object", &value);
    qp_status status = text_of(list, value, &id, error);
    if (status != QP_OK)
        return status;
    qp_artifact *artifact = list->source->artifact;
    *found = qp_artifact_find(artifact, id);
    if (*found == NULL)
        return qp_fail(error, QP_INTERNAL, "no object %.120s", id);
    list->named[*found - artifact->tensors] = true;
    return QP_OK;
}

static qp_status read_part(listing *list, qp_json_value value, qp_weight_source_part *part,
                           qp_error *error)
{
    const qp_artifact_tensor *tensor;
    qp_json_value range;
    int64_t ends[2] = {0, 0};
    qp_status status = tensor_of(list, value, &tensor, error);
    if (status == QP_OK)
        status = qp_weight_source_part_of(list->source, tensor, part, error);
    if (status == QP_OK && qp_json_find(value, "range", &range))
        status = qp_json_get_i64_array(range, ends, 2, error);
    if (status != QP_OK || ends[1] == 0)
        return status;
    uint64_t begin = (uint64_t)ends[0], end = (uint64_t)ends[1], columns = part->matrix.columns;
    if (part->element == NULL && (begin % columns != 0 || end % columns != 0))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "a part of %.80s is not whole rows of its encoded matrix", tensor->name);
    part->first = begin;
    part->elements = end - begin;
    return QP_OK;
}

static qp_status read_parts(listing *list, qp_json_value binding, qp_parameter *parameter,
                            qp_error *error)
{
    qp_json_value parts, value;
    bool has_parts = qp_json_find(binding, "parts", &parts);
    parameter->n_parts = has_parts ? qp_json_count(parts) : 1;
    parameter->parts =
        qp_arena_allocate(&list->source->arena, parameter->n_parts, sizeof *parameter->parts);
    if (parameter->parts == NULL)
        return qp_fail_memory(error, "the parts of a parameter");
    if (!has_parts)
        return read_part(list, binding, parameter->parts, error);

    qp_json_iterator iterator = qp_json_iterate(parts);
    qp_status status = QP_OK;
    uint64_t at = 0; /* the sum was checked */
    for (size_t i = 0; status == QP_OK && qp_json_next(&iterator, &value); i++) {
        status = read_part(list, value, &parameter->parts[i], error);
        parameter->parts[i].at = at;
        at += parameter->parts[i].elements;
    }
    return status;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool is_whole(const qp_parameter *parameter)
{
    const qp_weight_source_part *part = parameter->parts;
    return parameter->n_parts == 1 && part->elements == part->matrix.rows * part->matrix.columns;
}

/* The shape that the parts say: the object's, their rows together, or their elements. */
static void shape_of_parts(qp_parameter *parameter, uint64_t elements)
{
    const qp_artifact_tensor *first = parameter->parts[0].tensors.main;
    bool has_rows = first->rank == 2;
    if (is_whole(parameter)) {
        parameter->rank = first->rank;
        memcpy(parameter->shape, first->shape, sizeof parameter->shape);
        return;
    }
    for (size_t i = 0; i < parameter->n_parts; i++) {
        const qp_weight_source_part *part = &parameter->parts[i];
        const qp_artifact_tensor *tensor = part->tensors.main;
        has_rows = has_rows && tensor->rank == 2 && tensor->shape[1] == first->shape[1] &&
                   part->first % first->shape[1] == 0 && part->elements % first->shape[1] == 0;
    }
    parameter->rank = has_rows ? 2 : 1;
    parameter->shape[0] = has_rows ? elements / first->shape[1] : elements;
    parameter->shape[1] = first->shape[1];
}

/* A recorded shape counts when it has the parameter's elements. */
static bool recorded_shape(listing *list, qp_parameter *parameter, uint64_t elements)
{
    qp_json_value record, value;
    uint64_t product = 1;
    uint32_t rank = 0;
    if (!qp_json_find(list->shapes, parameter->name, &record) ||
        qp_json_kind_of(record) != QP_JSON_ARRAY)
        return false;
    qp_json_iterator iterator = qp_json_iterate(record);
    while (qp_json_next(&iterator, &value)) {
        if (rank == QP_SHAPE_RANK_MAX ||
            qp_json_get_u64(value, &parameter->shape[rank], NULL) != QP_OK ||
            !qp_mul_u64(product, parameter->shape[rank], &product))
            return false;
        rank++;
    }
    parameter->rank = rank;
    return product == elements;
}

static uint64_t stored_bytes(const qp_weight_source_part *part)
{
    uint64_t all = part->matrix.rows * part->matrix.columns, bytes = part->matrix.bytes;
    if (part->elements == all)
        return bytes;
    return (uint64_t)((double)bytes * ((double)part->elements / (double)all));
}

static void describe(listing *list, qp_parameter *parameter)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < parameter->n_parts; i++) {
        elements += parameter->parts[i].elements;
        parameter->bytes += stored_bytes(&parameter->parts[i]);
    }
    parameter->type = parameter->parts[0].tensors.main->type;
    parameter->has_own_shape = recorded_shape(list, parameter, elements);
    if (!parameter->has_own_shape)
        shape_of_parts(parameter, elements);
    qp_parameter_set_geometry(parameter);
}

/* Parts of encoded matrices must be rows of the parameter, or it has no rows to read. */
static qp_status check_rows(const qp_parameter *parameter, qp_error *error)
{
    for (size_t i = 0; i < parameter->n_parts; i++) {
        const qp_weight_source_part *part = &parameter->parts[i];
        if (part->element == NULL && part->matrix.columns != parameter->columns)
            return qp_fail(error, QP_INVALID_ARGUMENT,
                           "%.80s is put together of matrices with other columns than its own",
                           parameter->name);
    }
    return QP_OK;
}

static qp_status add_parameter(listing *list, const char *name, qp_json_value binding,
                               qp_parameter **added, qp_error *error)
{
    qp_parameter *parameter = &list->source->parameters[list->source->count];
    *parameter = (qp_parameter){.name = name};
    if (name == NULL)
        return qp_fail_memory(error, "the name of a parameter");
    qp_status status = read_parts(list, binding, parameter, error);
    if (status != QP_OK)
        return status;
    describe(list, parameter);
    list->source->count++;
    *added = parameter;
    return check_rows(parameter, error);
}

/* ---- the groups ------------------------------------------------------------------------------ */

static qp_status list_bindings(listing *list, qp_json_value bindings, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(bindings);
    qp_json_value name, value;
    qp_status status = QP_OK;
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        const char *text = NULL;
        qp_parameter *added;
        status = text_of(list, name, &text, error);
        if (status == QP_OK)
            status = add_parameter(list, keep_text(list, text), value, &added, error);
    }
    return status;
}

/* One auxiliary under "PARAMETER/INPUT/ROLE". */
static qp_status list_auxiliary(listing *list, const char *owner, qp_json_value input,
                                qp_json_value role, qp_json_value binding, qp_error *error)
{
    const char *text = NULL;
    qp_parameter *added = NULL;
    qp_status status = text_of(list, role, &text, error);
    if (status != QP_OK)
        return status;
    const char *kept_role = keep_text(list, text);
    list->text.size = 0;
    qp_buffer_text(&list->text, owner);
    qp_buffer_text(&list->text, "/");
    qp_json_append_string(input, &list->text);
    qp_buffer_text(&list->text, "/");
    qp_json_append_string(role, &list->text);
    qp_buffer_append(&list->text, "", 1);
    if (list->text.failed || kept_role == NULL)
        return qp_fail_memory(error, "a name");
    status = add_parameter(list, keep_text(list, (const char *)list->text.bytes), binding, &added,
                           error);
    if (status == QP_OK) {
        added->is_auxiliary = true;
        added->owner = owner;
        added->role = kept_role;
    }
    return status;
}

static qp_status list_auxiliaries_of(listing *list, qp_json_value use, qp_error *error)
{
    qp_json_value parameter, input, auxiliaries, role, binding;
    const char *text = NULL;
    (void)qp_json_find(use, "parameter", &parameter);
    (void)qp_json_find(use, "input", &input);
    if (!qp_json_find(use, "auxiliaries", &auxiliaries))
        return QP_OK;
    qp_status status = text_of(list, parameter, &text, error);
    const char *owner = status == QP_OK ? keep_text(list, text) : NULL;
    if (status == QP_OK && owner == NULL)
        status = qp_fail_memory(error, "a name");
    qp_json_iterator iterator = qp_json_iterate(auxiliaries);
    while (status == QP_OK && qp_json_next_member(&iterator, &role, &binding))
        status = list_auxiliary(list, owner, input, role, binding, error);
    return status;
}

static qp_status list_auxiliaries(listing *list, qp_json_value uses, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(uses);
    qp_json_value use;
    qp_status status = QP_OK;
    while (status == QP_OK && qp_json_next(&iterator, &use))
        status = list_auxiliaries_of(list, use, error);
    return status;
}

/* Objects that nothing names, under their own. */
static qp_status list_unnamed(listing *list, qp_error *error)
{
    qp_weight_source *source = list->source;
    qp_artifact *artifact = source->artifact;
    qp_status status = QP_OK;
    for (size_t i = 0; i < artifact->n_tensors && status == QP_OK; i++) {
        if (!list->named[i])
            status =
                qp_weight_source_whole(source, &artifact->tensors[i], artifact->tensors[i].name,
                                       &source->parameters[source->count++], error);
    }
    return status;
}

/* ---- bindings that are the same -------------------------------------------------------------- */

static int compare_parts(const qp_weight_source_part *a, const qp_weight_source_part *b)
{
    if (a->tensors.main != b->tensors.main)
        return a->tensors.main < b->tensors.main ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->elements < b->elements ? -1 : a->elements > b->elements;
}

static int compare_bindings(const qp_parameter *a, const qp_parameter *b)
{
    if (a->n_parts != b->n_parts)
        return a->n_parts < b->n_parts ? -1 : 1;
    int order = 0;
    for (size_t i = 0; i < a->n_parts && order == 0; i++)
        order = compare_parts(&a->parts[i], &b->parts[i]);
    return order;
}

static bool not_after(const void *context, uint32_t a, uint32_t b)
{
    const qp_parameter *parameters = context;
    return compare_bindings(&parameters[a], &parameters[b]) <= 0;
}

static qp_status find_shared(qp_weight_source *source, qp_error *error)
{
    size_t count = source->count;
    uint32_t *order = qp_allocate(&source->allocator, count, 2 * sizeof *order);
    if (order == NULL)
        return qp_fail_memory(error, "an order of parameters");
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qp_sort_indices(order, order + count, count, not_after, source->parameters);
    for (size_t i = 1; i < count; i++) {
        qp_parameter *parameter = &source->parameters[order[i]];
        const qp_parameter *before = &source->parameters[order[i - 1]];
        if (compare_bindings(parameter, before) == 0)
            parameter->same = before->same != NULL ? before->same : before;
    }
    qp_release(&source->allocator, order, count, 2 * sizeof *order);
    return QP_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Not more than the values of the directory: each parameter has one of its own. */
static size_t most_parameters(qp_json_value root, size_t objects)
{
    qp_json_value bindings, uses, use, auxiliaries;
    (void)qp_json_find(root, "bindings", &bindings);
    (void)qp_json_find(root, "uses", &uses);
    size_t count = objects + qp_json_count(bindings);
    qp_json_iterator iterator = qp_json_iterate(uses);
    while (qp_json_next(&iterator, &use)) {
        if (qp_json_find(use, "auxiliaries", &auxiliaries))
            count += qp_json_count(auxiliaries);
    }
    return count;
}

static qp_status list_groups(listing *list, qp_json_value root, qp_error *error)
{
    qp_json_value bindings, uses;
    qp_weight_source *source = list->source;
    (void)qp_json_find(root, "bindings", &bindings);
    (void)qp_json_find(root, "uses", &uses);
    qp_status status = list_bindings(list, bindings, error);
    if (status == QP_OK)
        status = list_auxiliaries(list, uses, error);
    if (status == QP_OK)
        status = list_unnamed(list, error);
    return status == QP_OK ? find_shared(source, error) : status;
}

qp_status qp_weight_source_list_ninfer(qp_weight_source *source, qp_error *error)
{
    size_t size;
    listing list = {.source = source};
    qp_json_value metadata;
    const char *directory = qp_artifact_directory(source->artifact, &size);
    source->json.allow_lone_surrogates = true; /* IDs have none, other strings may */
    qp_status status = qp_json_parse(&source->json, directory, size, error);
    if (status != QP_OK)
        return status;
    qp_json_value root = qp_json_root(&source->json);
    source->has_directory = true;
    if (qp_json_find(root, "metadata", &metadata))
        (void)qp_json_find(metadata, "parameter_shapes", &list.shapes);

    size_t objects = source->artifact->n_tensors, most = most_parameters(root, objects);
    source->parameters = qp_arena_allocate(&source->arena, most, sizeof *source->parameters);
    list.named = qp_arena_allocate(&source->arena, objects, sizeof *list.named);
    qp_buffer_init(&list.text, &source->allocator);
    if (source->parameters == NULL || list.named == NULL)
        status = qp_fail_memory(error, "the parameters of a file");
    else
        status = list_groups(&list, root, error);
    qp_buffer_free(&list.text);
    return status;
}
