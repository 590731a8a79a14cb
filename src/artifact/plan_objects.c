/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_objects.c - parameters to the encoded tensors that are written: a tensor for each segment,
 * one for a group, their shapes, and what of them each parameter is (artifact-container.md sections
 * 3.5 and 10).
 */
#include "artifact/plan.h"

#include <inttypes.h>
#include <stdio.h>

#define MOST_WHOLE_COLUMNS (1 << 24)

qp_plan_object *qp_plan_add_object(qp_convert_plan *plan)
{
    void *grown = qp_table_grow(&plan->allocator, plan->objects, &plan->object_capacity,
                                plan->n_objects, sizeof *plan->objects);
    if (grown == NULL)
        return NULL;
    plan->objects = grown;
    qp_plan_object *object = &plan->objects[plan->n_objects++];
    *object = (qp_plan_object){0};
    return object;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The parameter that a choice reads: of the first source, or of the file that a recipe names. */
static qp_status read_from(qp_convert_plan *plan, const qp_choice *choice,
                           const qp_parameter *parameter, qp_plan_input *input, qp_error *error)
{
    qp_status status = qp_plan_source_of(plan, choice, &input->source, error);
    input->parameter = parameter;
    if (status != QP_OK || input->source == 0)
        return status;
    const qp_parameter *found =
        qp_weight_source_find(&plan->sources[input->source]->source, parameter->name);
    if (found == NULL || found->rank != parameter->rank ||
        memcmp(found->shape, parameter->shape, found->rank * sizeof found->shape[0]) != 0)
        return qp_recipe_fail(choice->step, error, "%.60s has no parameter %.60s of this shape",
                              choice->source, parameter->name);
    input->parameter = found;
    return qp_parameter_check_read(plan->sources[input->source]->source.artifact, found, error);
}

static qp_status add_inputs(qp_convert_plan *plan, qp_plan_object *object, size_t count,
                            qp_error *error)
{
    object->inputs = qp_arena_allocate(&plan->arena, count, sizeof *object->inputs);
    object->n_inputs = count;
    return object->inputs != NULL ? QP_OK : qp_fail_memory(error, "the inputs of a tensor");
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void set_shape(qp_plan_object *object, uint32_t rank, const uint64_t *shape)
{
    object->rank = rank;
    memcpy(object->shape, shape, rank * sizeof *shape);
}

/* Rows of a parameter by themselves: its own shape, or that with fewer leading rows. */
static void shape_of_rows(const qp_parameter *parameter, uint64_t rows, qp_plan_object *object)
{
    set_shape(object, parameter->rank, parameter->shape);
    if (rows != parameter->rows && parameter->rank >= 2)
        object->shape[0] = rows / (parameter->rows / parameter->shape[0]);
}

/* Several parameters together: vectors one after the other, matrices' rows stacked. */
static qp_status shape_of_group(const qp_plan_group *group, qp_plan_object *object, qp_error *error)
{
    uint64_t rows = 0, elements = 0, columns = object->inputs[0].parameter->columns;
    bool are_vectors = true, are_stacked = true;
    for (size_t i = 0; i < object->n_inputs; i++) {
        const qp_parameter *parameter = object->inputs[i].parameter;
        are_vectors = are_vectors && parameter->rank < 2;
        are_stacked = are_stacked && parameter->rank >= 2 && parameter->columns == columns;
        if (!qp_add_u64(elements, parameter->elements, &elements))
            return qp_fail(error, QP_TOO_LARGE, "a group has 2^64 elements or more");
        rows += parameter->rows;
    }
    if (group->has_shape) {
        uint64_t product = 1;
        for (uint32_t i = 0; i < group->rank; i++) {
            if (!qp_mul_u64(product, group->shape[i], &product))
                product = 0;
        }
        set_shape(object, group->rank, group->shape);
        return product == elements ? QP_OK
                                   : qp_recipe_fail(group->step, error,
                                                    "the group's shape has not the %" PRIu64
                                                    " elements of its members",
                                                    elements);
    }
    if (!are_vectors && !are_stacked)
        return qp_recipe_fail(group->step, error,
                              "a group is vectors, or matrices with equal columns, unless it has a "
                              "shape");
    const uint64_t matrix[2] = {rows, columns};
    set_shape(object, are_vectors ? 1 : 2, are_vectors ? &elements : matrix);
    return QP_OK;
}

/* ---- targets --------------------------------------------------------------------------------- */

static qp_status check_holds(const qp_convert_plan *plan, const qp_format *format, qp_error *error)
{
    if (plan->writer->holds(format))
        return QP_OK;
    return qp_fail_check(error, QP_MODEL_MISMATCH, "container_format", -1,
                         "a %s file cannot hold %s: name another format", plan->kind->name,
                         format->name);
}

/* A quantized tensor of another rank is stored as its rows; files without bindings state the
 * parameter's own shape all the same. */
static qp_status set_target(const qp_convert_plan *plan, const qp_format *format,
                            const qp_choice *choice, uint64_t divisors, qp_plan_object *object,
                            qp_error *error)
{
    uint64_t rows = 1, columns = object->rank > 0 ? object->shape[object->rank - 1] : 1;
    for (uint32_t i = 0; i + 1 < object->rank; i++)
        rows *= object->shape[i]; /* of elements that are there */
    const uint64_t matrix[2] = {rows, columns};
    bool is_direct = format->family == QP_FAMILY_DIRECT;
    qp_status status =
        qp_matrix_plan(format, choice->layout, is_direct ? object->shape : matrix,
                       is_direct ? object->rank : 2, divisors, &object->target, error);
    if (status == QP_OK && !is_direct && plan->writer->has_bindings)
        set_shape(object, 2, matrix);
    return status;
}

/* ---- divisors -------------------------------------------------------------------------------- */

/* The divisor words of an object's rows, a word for each source matrix stacked in it. */
typedef struct divisor_list {
    uint32_t *words;
    size_t count, capacity;
    uint64_t rows;  /* of each */
    bool are_equal; /* the words */
    bool are_even;  /* the rows */
} divisor_list;

static bool add_divisor(const qp_allocator *allocator, divisor_list *list, uint32_t word,
                        uint64_t rows)
{
    void *grown =
        qp_table_grow(allocator, list->words, &list->capacity, list->count, sizeof *list->words);
    if (grown == NULL)
        return false;
    list->words = grown;
    list->are_equal = list->count == 0 || (list->are_equal && list->words[0] == word);
    list->are_even = list->count == 0 || (list->are_even && list->rows == rows);
    list->rows = rows;
    list->words[list->count++] = word;
    return true;
}

/* How many rows of an input from `row` on belong to one source matrix. */
static uint64_t share_at(const qp_parameter *parameter, uint64_t row, uint64_t end)
{
    const qp_weight_source_part *part = qp_parameter_part(parameter, row * parameter->columns);
    uint64_t columns = part->matrix.columns, share = part->matrix.rows / part->matrix.divisors;
    uint64_t inside = row - part->at / columns + part->first / columns;
    uint64_t left = share - inside % share;
    uint64_t of_part = part->elements / columns - (row - part->at / columns);
    left = left < of_part ? left : of_part;
    return left < end - row ? left : end - row;
}

static qp_status list_divisors(qp_convert_plan *plan, const qp_plan_object *object,
                               divisor_list *list, qp_error *error)
{
    for (size_t i = 0; i < object->n_inputs; i++) {
        const qp_plan_input *input = &object->inputs[i];
        const qp_parameter *parameter = input->parameter;
        uint64_t row = input->begin / parameter->columns;
        uint64_t end = row + input->elements / parameter->columns;
        qp_weight_source_reader reader;
        qp_weight_source_reader_init(&reader, &plan->sources[input->source]->source,
                                     &plan->allocator, 0);
        qp_status status = QP_OK;
        while (row < end && status == QP_OK) {
            uint32_t word = 0;
            uint64_t rows = share_at(parameter, row, end);
            status = qp_parameter_divisor(&reader, parameter, row, &word, error);
            if (status == QP_OK && !add_divisor(&plan->allocator, list, word, rows))
                status = qp_fail_memory(error, "divisors");
            row += rows;
        }
        qp_weight_source_reader_free(&reader);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

/* One word where those of several parameters are equal, else one for each source (section 9.6). */
static qp_status import_divisors(qp_convert_plan *plan, const qp_choice *choice,
                                 qp_plan_object *object, qp_error *error)
{
    divisor_list list = {0};
    qp_status status = list_divisors(plan, object, &list, error);
    size_t count = list.are_equal && object->n_inputs > 1 ? 1 : list.count;
    if (status == QP_OK && count > 1 && (!list.are_even || list.rows % 128 != 0))
        status = qp_fail_check(error, QP_GEOMETRY_MISMATCH, "geometry", -1,
                               "matrices with different divisors are stacked only where they have "
                               "equal rows, a multiple of 128");
    if (status == QP_OK && count > 1)
        status = set_target(plan, object->target.format, choice, count, object, error);
    uint8_t *words = status == QP_OK ? qp_arena_allocate(&plan->arena, count, 4) : NULL;
    if (status == QP_OK && words == NULL)
        status = qp_fail_memory(error, "divisors");
    for (size_t i = 0; i < count && status == QP_OK; i++) {
        for (unsigned b = 0; b < 4; b++)
            words[4 * i + b] = (uint8_t)(list.words[i] >> 8 * b);
    }
    object->divisors = words;
    qp_release(&plan->allocator, list.words, list.capacity, sizeof *list.words);
    return status;
}

/* Matrices that are quantized together keep a divisor each where the layout allows it. */
static qp_status quantized_divisors(const qp_convert_plan *plan, const qp_choice *choice,
                                    qp_plan_object *object, qp_error *error)
{
    uint64_t elements = object->inputs[0].elements;
    bool is_even = elements % (128 * object->target.columns) == 0;
    for (size_t i = 1; i < object->n_inputs; i++)
        is_even = is_even && object->inputs[i].elements == elements;
    return is_even
               ? set_target(plan, object->target.format, choice, object->n_inputs, object, error)
               : QP_OK;
}

static qp_status set_divisors(qp_convert_plan *plan, const qp_choice *choice,
                              qp_plan_object *object, qp_error *error)
{
    if (object->target.format->family != QP_FAMILY_NVFP4)
        return QP_OK;
    if (object->job.method->input == QP_INPUT_ENCODED)
        return import_divisors(plan, choice, object, error);
    return object->n_inputs > 1 ? quantized_divisors(plan, choice, object, error) : QP_OK;
}

/* ---- objects --------------------------------------------------------------------------------- */

static qp_status name_object(qp_convert_plan *plan, qp_plan_object *object, const char *parameter,
                             qp_error *error)
{
    char text[64];
    size_t number = plan->n_objects - 1 - (object->is_auxiliary ? plan->n_weights : 0);
    object->name = parameter;
    if (plan->writer->has_bindings) {
        int length = snprintf(text, sizeof text,
                              object->is_auxiliary ? "auxiliary/%06zu" : "weight/%06zu", number);
        object->name = qp_plan_keep(plan, text, (size_t)length);
    }
    return object->name != NULL ? QP_OK : qp_fail_memory(error, "the name of a tensor");
}

/* Rows whose scale belongs to all their columns are held whole while they are converted; others are
 * cut. */
static qp_status check_row_length(const qp_plan_object *object, qp_error *error)
{
    bool cuts = qp_tile_cuts(&object->target);
    for (size_t i = 0; i < object->n_inputs; i++)
        cuts = cuts && qp_parameter_cuts(object->inputs[i].parameter);
    if (cuts || object->target.columns <= MOST_WHOLE_COLUMNS)
        return QP_OK;
    return qp_fail_check(error, QP_TOO_LARGE, "geometry", -1,
                         "a row of %" PRIu64 " columns with one scale is too long: at most %d",
                         object->target.columns, MOST_WHOLE_COLUMNS);
}

/* The object's shape and inputs are set. */
static qp_status complete(qp_convert_plan *plan, const qp_choice *choice, qp_plan_object *object,
                          qp_error *error)
{
    const qp_format *format = choice->format;
    if (format == NULL)
        format = qp_plan_default_format(&object->inputs[0]);
    qp_status status = check_holds(plan, format, error);
    if (status == QP_OK)
        status = set_target(plan, format, choice, 1, object, error);
    if (status == QP_OK)
        status = qp_plan_choose_method(plan, choice, object, error);
    if (status == QP_OK)
        status = set_divisors(plan, choice, object, error);
    if (status == QP_OK)
        status = check_row_length(object, error);
    if (status == QP_OK && plan->writer->check != NULL)
        status = plan->writer->check(object, error);
    return status;
}

static qp_status add_part(qp_convert_plan *plan, size_t parameter, const qp_plan_part *part,
                          qp_error *error)
{
    qp_plan_parameter *owner = &plan->parameters[parameter];
    if (owner->parts == NULL) {
        owner->parts = qp_arena_allocate(&plan->arena, owner->n_segments, sizeof *owner->parts);
        if (owner->parts == NULL)
            return qp_fail_memory(error, "the parts of a parameter");
    }
    owner->parts[owner->n_parts++] = *part;
    return QP_OK;
}

/* Whether a parameter's one part is a whole tensor of its own shape. */
static bool is_whole(const qp_convert_plan *plan, const qp_plan_parameter *parameter)
{
    const qp_plan_part *part = parameter->parts;
    const qp_plan_object *object = &plan->objects[part->object];
    const qp_parameter *source = parameter->source;
    return parameter->n_parts == 1 && part->begin == 0 &&
           part->end == object->target.rows * object->target.columns &&
           object->rank == source->rank &&
           memcmp(object->shape, source->shape, source->rank * sizeof source->shape[0]) == 0;
}

static qp_status make_segment(qp_convert_plan *plan, size_t index, const qp_segment *segment,
                              qp_error *error)
{
    const qp_parameter *parameter = plan->parameters[index].source;
    uint64_t elements = (segment->end - segment->begin) * parameter->columns;
    qp_plan_object *object = qp_plan_add_object(plan);
    if (object == NULL)
        return qp_fail_memory(error, "a tensor of a plan");
    object->is_auxiliary = parameter->is_auxiliary;
    qp_status status = name_object(plan, object, parameter->name, error);
    if (status == QP_OK)
        status = add_inputs(plan, object, 1, error);
    if (status == QP_OK)
        status = read_from(plan, &segment->choice, parameter, &object->inputs[0], error);
    if (status != QP_OK)
        return status;
    object->inputs[0].begin = segment->begin * parameter->columns;
    object->inputs[0].elements = elements;
    shape_of_rows(parameter, segment->end - segment->begin, object);
    status = complete(plan, &segment->choice, object, error);
    qp_plan_part part = {plan->n_objects - 1, 0, elements};
    return status == QP_OK ? add_part(plan, index, &part, error) : status;
}

/* Segments whose choices turned out the same, and name a format, are one. */
static void merge_segments(qp_plan_parameter *parameter)
{
    size_t kept = 0;
    for (size_t i = 1; i < parameter->n_segments; i++) {
        qp_segment *last = &parameter->segments[kept], *next = &parameter->segments[i];
        if (last->choice.format != NULL && qp_choice_equal(&last->choice, &next->choice))
            last->end = next->end;
        else
            parameter->segments[++kept] = *next;
    }
    parameter->n_segments = kept + 1;
}

static qp_status make_segments(qp_convert_plan *plan, size_t index, qp_error *error)
{
    qp_plan_parameter *parameter = &plan->parameters[index];
    qp_status status = QP_OK;
    merge_segments(parameter);
    if (parameter->n_segments > 1 && !plan->writer->has_bindings)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "a %s file keeps a parameter in one format: name one for all of its rows",
                       plan->kind->name);
    for (size_t i = 0; i < parameter->n_segments && status == QP_OK; i++)
        status = make_segment(plan, index, &parameter->segments[i], error);
    return status;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Whether the members of a group can be one tensor: whole, with the same choice and format. */
static bool is_uniform(const qp_convert_plan *plan, const qp_plan_group *group)
{
    const qp_format *format = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const qp_plan_parameter *member = &plan->parameters[group->members[i]];
        const qp_plan_parameter *first = &plan->parameters[group->members[0]];
        const qp_plan_input input = {.parameter = member->source,
                                     .elements = member->source->elements};
        if (member->n_segments != 1 || member->share != group->members[i] ||
            !qp_choice_equal(&member->segments[0].choice, &first->segments[0].choice))
            return false;
        const qp_format *own = member->segments[0].choice.format;
        own = own != NULL ? own : qp_plan_default_format(&input);
        if (i > 0 && own != format)
            return false;
        format = own;
    }
    return true;
}

static qp_status fill_group(qp_convert_plan *plan, const qp_plan_group *group,
                            const qp_choice *choice, qp_plan_object *object, qp_error *error)
{
    uint64_t at = 0;
    qp_status status = add_inputs(plan, object, group->count, error);
    for (size_t i = 0; i < group->count && status == QP_OK; i++) {
        const qp_parameter *parameter = plan->parameters[group->members[i]].source;
        qp_plan_input *input = &object->inputs[i];
        status = read_from(plan, choice, parameter, input, error);
        input->elements = parameter->elements;
        input->at = at;
        qp_plan_part part = {plan->n_objects - 1, at, at + parameter->elements};
        at += parameter->elements;
        if (status == QP_OK)
            status = add_part(plan, group->members[i], &part, error);
    }
    return status;
}

static qp_status make_group(qp_convert_plan *plan, const qp_plan_group *group, qp_error *error)
{
    const qp_choice choice = plan->parameters[group->members[0]].segments[0].choice;
    qp_plan_object *object = qp_plan_add_object(plan);
    if (object == NULL)
        return qp_fail_memory(error, "a tensor of a plan");
    qp_status status = name_object(plan, object, NULL, error);
    if (status == QP_OK)
        status = fill_group(plan, group, &choice, object, error);
    if (status == QP_OK && group->count == 1 && !group->has_shape)
        set_shape(object, object->inputs[0].parameter->rank, object->inputs[0].parameter->shape);
    else if (status == QP_OK)
        status = shape_of_group(group, object, error);
    return status == QP_OK ? complete(plan, &choice, object, error) : status;
}

/* Groups of the source that a recipe has made unlike stop being one; a recipe's own are refused. */
static qp_status settle_groups(qp_convert_plan *plan, qp_error *error)
{
    for (size_t i = 0; i < plan->n_groups; i++) {
        qp_plan_group *group = &plan->groups[i];
        if (is_uniform(plan, group))
            continue;
        if (group->step != NULL)
            return qp_recipe_fail(group->step, error,
                                  "the members of a group are whole parameters with one format, "
                                  "layout, method and parameters");
        for (size_t k = 0; k < group->count; k++)
            plan->parameters[group->members[k]].group = QP_NO_GROUP;
        group->count = 0;
    }
    return QP_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Parameters that the source binds to the same elements stay so while their choices agree. */
static void settle_shares(qp_convert_plan *plan)
{
    for (size_t i = 0; i < plan->n_parameters; i++) {
        qp_plan_parameter *parameter = &plan->parameters[i];
        const qp_plan_parameter *target = &plan->parameters[parameter->share];
        if (parameter->share == i || parameter->source->same != target->source)
            continue;
        bool agrees =
            parameter->n_segments == target->n_segments && parameter->group == QP_NO_GROUP;
        for (size_t s = 0; s < parameter->n_segments && agrees; s++) {
            const qp_segment *a = &parameter->segments[s], *b = &target->segments[s];
            agrees =
                a->begin == b->begin && a->end == b->end && qp_choice_equal(&a->choice, &b->choice);
        }
        if (!agrees)
            parameter->share = i;
    }
}

static qp_status make_parameter(qp_convert_plan *plan, size_t index, qp_error *error)
{
    const qp_plan_parameter *parameter = &plan->parameters[index];
    const qp_plan_group *group =
        parameter->group != QP_NO_GROUP ? &plan->groups[parameter->group] : NULL;
    if (parameter->share != index || (group != NULL && group->members[0] != index))
        return QP_OK;
    qp_status status =
        group != NULL ? make_group(plan, group, error) : make_segments(plan, index, error);
    if (status != QP_OK)
        qp_artifact_name_error(error, parameter->source->name);
    return status;
}

static qp_status make_kind(qp_convert_plan *plan, bool auxiliaries, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < plan->n_parameters && status == QP_OK; i++) {
        const qp_parameter *source = plan->parameters[i].source;
        bool is_kept = source->elements > 0 && (!auxiliaries || plan->writer->has_bindings);
        if (is_kept && source->is_auxiliary == auxiliaries)
            status = make_parameter(plan, i, error);
    }
    return status;
}

/* The parameter whose binding another one has. */
static size_t final_share(const qp_convert_plan *plan, size_t index)
{
    while (plan->parameters[index].share != index)
        index = plan->parameters[index].share;
    return index;
}

qp_status qp_plan_make_objects(qp_convert_plan *plan, qp_error *error)
{
    settle_shares(plan);
    qp_status status = settle_groups(plan, error);
    if (status == QP_OK)
        status = make_kind(plan, false, error);
    plan->n_weights = plan->n_objects;
    if (status == QP_OK)
        status = make_kind(plan, true, error);
    for (size_t i = 0; i < plan->n_parameters && status == QP_OK; i++) {
        qp_plan_parameter *parameter = &plan->parameters[i];
        parameter->share = final_share(plan, i);
        if (parameter->n_parts > 0)
            parameter->is_whole = is_whole(plan, parameter);
    }
    for (size_t i = 0; i < plan->n_objects && status == QP_OK; i++) {
        qp_plan_object *object = &plan->objects[i];
        for (size_t k = 0; k < object->n_inputs; k++) {
            const qp_plan_input *input = &object->inputs[k];
            double part = (double)input->elements / (double)input->parameter->elements;
            object->source_bytes += (uint64_t)((double)input->parameter->bytes * part);
        }
        plan->source_bytes += object->source_bytes;
        plan->computes = plan->computes || object->job.method->input == QP_INPUT_VALUES ||
                         qp_plan_cast_from(object) != NULL;
    }
    return status;
}
