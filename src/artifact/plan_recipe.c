/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_recipe.c - a recipe's steps over the parameters of a plan (artifact-container.md section
 * 10), and the packing that a .ninfer source has already.
 */
#include "artifact/plan.h"

#include <inttypes.h>

/* ---- selectors ------------------------------------------------------------------------------- */

/* Whether a selector selects a parameter: its name, or a pattern when no parameter has that name.
 * Auxiliaries and parameters without elements are none. */
static bool selects(const char *selector, bool is_name, const qp_plan_parameter *parameter)
{
    const char *name = parameter->source->name;
    if (parameter->source->is_auxiliary || parameter->source->elements == 0)
        return false;
    return is_name ? strcmp(selector, name) == 0 : qp_pattern_match(selector, name);
}

static bool is_float(const qp_parameter *parameter)
{
    const qp_element *element = parameter->parts[0].element;
    return element == NULL || element->is_float;
}

/* Whether a preset's step takes a selected parameter: a format matrices that it can hold, a direct
 * one all that are floats; a pattern matrices. Steps of recipes take all. */
static bool takes(const qp_recipe_step *step, bool is_name, const qp_parameter *parameter)
{
    qp_matrix matrix;
    if (step->matrices_only)
        return is_name || (parameter->rank >= 2 && is_float(parameter));
    if (!step->where_fits)
        return true;
    if (!is_float(parameter) || step->format->family == QP_FAMILY_DIRECT)
        return is_float(parameter);
    return parameter->rank == 2 &&
           qp_matrix_plan(step->format, NULL, parameter->shape, 2, 1, &matrix, NULL) == QP_OK;
}

/* A step that changes nothing was not meant so. */
static qp_status fail_empty(const qp_recipe_step *step, const char *selector, qp_error *error)
{
    const qp_format *format = step->format;
    if (step->matrices_only)
        return qp_recipe_fail(step, error, "%.80s selects no matrix", selector);
    if (!step->where_fits)
        return qp_recipe_fail(step, error, "%.80s selects no parameter", selector);
    if (format->family == QP_FAMILY_GGUF)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%s fits no tensor: it stores rows of a multiple of %" PRIu32 " columns",
                       format->name, format->group);
    if (format->family == QP_FAMILY_NVFP4)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%s fits no tensor: it stores a multiple of 128 rows and a multiple of 64 "
                       "columns",
                       format->name);
    return qp_fail(error, QP_INVALID_ARGUMENT, "%s fits no tensor: it stores %s of real numbers",
                   format->name, format->family == QP_FAMILY_DIRECT ? "tensors" : "matrices");
}

/* What is done with each selected parameter. */
typedef qp_status apply_step(qp_convert_plan *plan, const qp_recipe_step *step, size_t parameter,
                             qp_error *error);

static qp_status apply_to_selected(qp_convert_plan *plan, const qp_recipe_step *step,
                                   apply_step *apply, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < step->selectors.count && status == QP_OK; i++) {
        const char *selector = step->selectors.texts[i];
        bool is_name = qp_weight_source_find(&plan->sources[0]->source, selector) != NULL;
        bool found = false;
        for (size_t p = 0; p < plan->n_parameters && status == QP_OK; p++) {
            if (!selects(selector, is_name, &plan->parameters[p]) ||
                !takes(step, is_name, plan->parameters[p].source))
                continue;
            found = true;
            status = apply(plan, step, p, error);
        }
        if (status == QP_OK && !found)
            status = fail_empty(step, selector, error);
    }
    return status;
}

static qp_status find_parameter(const qp_convert_plan *plan, const qp_recipe_step *step,
                                const char *name, size_t *index, qp_error *error)
{
    const qp_weight_source *source = &plan->sources[0]->source;
    const qp_parameter *found = qp_weight_source_find(source, name);
    if (found == NULL || found->is_auxiliary || found->elements == 0)
        return qp_recipe_fail(step, error, "there is no parameter %.80s", name);
    *index = (size_t)(found - source->parameters);
    return QP_OK;
}

/* ---- assign ---------------------------------------------------------------------------------- */

static void change_choice(const qp_recipe_step *step, qp_choice *choice)
{
    choice->step = step;
    if (step->format != NULL)
        choice->format = step->format;
    if (step->layout != NULL || step->has_auto_layout)
        choice->layout = step->layout;
    if (step->method != NULL)
        choice->method = step->method;
    if (step->source != NULL)
        choice->source = step->source;
    if (step->has_parameters) {
        choice->imatrix = step->imatrix;
        choice->negative_scales = step->negative_scales;
    }
}

/* Divides the segment that holds a row inside it, so that one begins there. */
static qp_status split_at(qp_convert_plan *plan, qp_plan_parameter *parameter, uint64_t row,
                          qp_error *error)
{
    for (size_t i = 0; i < parameter->n_segments; i++) {
        qp_segment *segment = &parameter->segments[i];
        if (row <= segment->begin || row >= segment->end)
            continue;
        qp_segment *more = qp_arena_allocate(&plan->arena, parameter->n_segments + 1, sizeof *more);
        if (more == NULL)
            return qp_fail_memory(error, "the rows of a parameter");
        memcpy(more, parameter->segments, (i + 1) * sizeof *more);
        memcpy(more + i + 1, segment, (parameter->n_segments - i) * sizeof *more);
        more[i].end = row;
        more[i + 1].begin = row;
        parameter->segments = more;
        parameter->n_segments++;
        return QP_OK;
    }
    return QP_OK;
}

/* The rows of the last dimension that a step is about. */
static qp_status rows_of_step(const qp_recipe_step *step, const qp_parameter *parameter,
                              uint64_t rows[2], qp_error *error)
{
    rows[0] = 0;
    rows[1] = parameter->rows;
    if (!step->has_rows)
        return QP_OK;
    if (parameter->rank < 2 || step->rows[1] > parameter->shape[0])
        return qp_recipe_fail(step, error,
                              "%.80s has no rows %" PRIu64 " to %" PRIu64 " of a matrix",
                              parameter->name, step->rows[0], step->rows[1]);
    uint64_t each = parameter->rows / parameter->shape[0];
    rows[0] = step->rows[0] * each;
    rows[1] = step->rows[1] * each;
    return QP_OK;
}

static qp_status assign(qp_convert_plan *plan, const qp_recipe_step *step, size_t index,
                        qp_error *error)
{
    qp_plan_parameter *parameter = &plan->parameters[index];
    uint64_t rows[2];
    qp_status status = rows_of_step(step, parameter->source, rows, error);
    for (size_t i = 0; i < 2 && status == QP_OK; i++)
        status = split_at(plan, parameter, rows[i], error);
    for (size_t i = 0; i < parameter->n_segments && status == QP_OK; i++) {
        if (rows[0] <= parameter->segments[i].begin && parameter->segments[i].end <= rows[1])
            change_choice(step, &parameter->segments[i].choice);
    }
    if (status == QP_OK && step->activation_policy != NULL)
        status = qp_plan_apply_policy(plan, index, step->activation_policy, error);
    return status;
}

/* ---- group, separate, share ------------------------------------------------------------------ */

static qp_plan_group *add_group(qp_convert_plan *plan, const qp_recipe_step *step)
{
    void *grown = qp_table_grow(&plan->allocator, plan->groups, &plan->group_capacity,
                                plan->n_groups, sizeof *plan->groups);
    if (grown == NULL)
        return NULL;
    plan->groups = grown;
    qp_plan_group *group = &plan->groups[plan->n_groups];
    *group = (qp_plan_group){.step = step};
    group->members = qp_arena_allocate(&plan->arena, plan->n_parameters, sizeof *group->members);
    if (group->members == NULL)
        return NULL;
    plan->n_groups++;
    return group;
}

static void leave_group(qp_convert_plan *plan, size_t index)
{
    qp_plan_parameter *parameter = &plan->parameters[index];
    qp_plan_group *group = &plan->groups[parameter->group];
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (group->members[i] != index)
            group->members[kept++] = group->members[i];
    }
    group->count = kept;
    group->has_shape = false;
    parameter->group = QP_NO_GROUP;
}

static qp_status join_group(qp_convert_plan *plan, const qp_recipe_step *step, size_t index,
                            qp_error *error)
{
    qp_plan_parameter *parameter = &plan->parameters[index];
    qp_plan_group *group = &plan->groups[plan->n_groups - 1];
    if (parameter->group == plan->n_groups - 1)
        return QP_OK; /* selected twice */
    if (parameter->group != QP_NO_GROUP && plan->groups[parameter->group].step != NULL)
        return qp_recipe_fail(step, error, "%.80s is in another group already",
                              parameter->source->name);
    if (parameter->is_separated)
        return qp_recipe_fail(step, error, "%.80s is kept separate", parameter->source->name);
    if (parameter->group != QP_NO_GROUP)
        leave_group(plan, index);
    group->members[group->count++] = index;
    parameter->group = plan->n_groups - 1;
    return QP_OK;
}

static qp_status make_group(qp_convert_plan *plan, const qp_recipe_step *step, qp_error *error)
{
    qp_plan_group *group = add_group(plan, step);
    if (group == NULL)
        return qp_fail_memory(error, "a group");
    group->has_shape = step->has_shape;
    group->rank = step->rank;
    memcpy(group->shape, step->shape, sizeof group->shape);
    return apply_to_selected(plan, step, join_group, error);
}

static qp_status separate(qp_convert_plan *plan, const qp_recipe_step *step, size_t index,
                          qp_error *error)
{
    qp_plan_parameter *parameter = &plan->parameters[index];
    if (parameter->group != QP_NO_GROUP && plan->groups[parameter->group].step != NULL)
        return qp_recipe_fail(step, error, "%.80s is in a group of this recipe",
                              parameter->source->name);
    if (parameter->group != QP_NO_GROUP)
        leave_group(plan, index);
    parameter->is_separated = true;
    return QP_OK;
}

static qp_status share(qp_convert_plan *plan, const qp_recipe_step *step, qp_error *error)
{
    size_t index = 0, target = 0;
    qp_status status = find_parameter(plan, step, step->selectors.texts[0], &index, error);
    if (status == QP_OK)
        status = find_parameter(plan, step, step->target, &target, error);
    if (status != QP_OK)
        return status;
    const qp_parameter *a = plan->parameters[index].source, *b = plan->parameters[target].source;
    if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) != 0)
        return qp_recipe_fail(step, error, "%.60s and %.60s have different shapes", a->name,
                              b->name);
    for (size_t at = target;; at = plan->parameters[at].share) {
        if (at == index)
            return qp_recipe_fail(step, error, "%.80s would share with itself", a->name);
        if (plan->parameters[at].share == at)
            break;
    }
    plan->parameters[index].share = target;
    return QP_OK;
}

/* ---- the source's own packing ---------------------------------------------------------------- */

/* A parameter that is some rows of a tensor which others share with it. */
static bool is_packed(const qp_parameter *parameter)
{
    return parameter->n_parts == 1 && !parameter->is_auxiliary && parameter->same == NULL &&
           parameter->parts[0].elements <
               parameter->parts[0].matrix.rows * parameter->parts[0].matrix.columns;
}

static bool packed_not_after(const void *context, uint32_t a, uint32_t b)
{
    const qp_plan_parameter *parameters = context;
    const qp_weight_source_part *x = parameters[a].source->parts, *y = parameters[b].source->parts;
    if (x->tensors.main != y->tensors.main)
        return x->tensors.main < y->tensors.main;
    return x->first <= y->first;
}

/* Takes the parameters order[begin .. end), which lie in one tensor, as a group if they are it. */
static qp_status keep_packing(qp_convert_plan *plan, const uint32_t *order, size_t begin,
                              size_t end, qp_error *error)
{
    const qp_weight_source_part *first = plan->parameters[order[begin]].source->parts;
    uint64_t at = 0;
    for (size_t i = begin; i < end; i++) {
        const qp_weight_source_part *part = plan->parameters[order[i]].source->parts;
        if (part->first != at)
            return QP_OK;
        at += part->elements;
    }
    if (at != first->matrix.rows * first->matrix.columns)
        return QP_OK;
    qp_plan_group *group = add_group(plan, NULL);
    if (group == NULL)
        return qp_fail_memory(error, "a group");
    group->has_shape = true;
    group->rank = first->tensors.main->rank;
    memcpy(group->shape, first->tensors.main->shape, sizeof group->shape);
    for (size_t i = begin; i < end; i++) {
        group->members[group->count++] = order[i];
        plan->parameters[order[i]].group = plan->n_groups - 1;
    }
    return QP_OK;
}

qp_status qp_plan_find_packings(qp_convert_plan *plan, qp_error *error)
{
    uint32_t *order = qp_arena_allocate(&plan->arena, plan->n_parameters, 2 * sizeof *order);
    size_t count = 0;
    if (order == NULL)
        return qp_fail_memory(error, "an order of parameters");
    for (size_t i = 0; i < plan->n_parameters; i++) {
        if (is_packed(plan->parameters[i].source))
            order[count++] = (uint32_t)i;
    }
    qp_sort_indices(order, order + count, count, packed_not_after, plan->parameters);
    qp_status status = QP_OK;
    for (size_t begin = 0, end; begin < count && status == QP_OK; begin = end) {
        const qp_artifact_tensor *tensor =
            plan->parameters[order[begin]].source->parts[0].tensors.main;
        for (end = begin + 1; end < count; end++) {
            if (plan->parameters[order[end]].source->parts[0].tensors.main != tensor)
                break;
        }
        status = keep_packing(plan, order, begin, end, error);
    }
    return status;
}

/* ---- the recipe ------------------------------------------------------------------------------ */

qp_status qp_plan_apply_recipe(qp_convert_plan *plan, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < plan->recipe.count && status == QP_OK; i++) {
        const qp_recipe_step *step = &plan->recipe.steps[i];
        bool is_binding = step->verb != QP_RECIPE_ASSIGN && step->verb != QP_RECIPE_SEPARATE;
        if (is_binding && !plan->writer->has_bindings)
            return qp_recipe_fail(step, error,
                                  "a %s file has no uses, groups or shared tensors: only .ninfer "
                                  "has",
                                  plan->kind->name);
        qp_plan_imatrix *imatrix;
        if (step->imatrix != NULL)
            status = qp_plan_imatrix_of(plan, step->imatrix, &imatrix, error);
        if (status != QP_OK)
            break;
        if (step->verb == QP_RECIPE_ASSIGN)
            status = apply_to_selected(plan, step, assign, error);
        else if (step->verb == QP_RECIPE_SEPARATE)
            status = apply_to_selected(plan, step, separate, error);
        else if (step->verb == QP_RECIPE_GROUP)
            status = make_group(plan, step, error);
        else if (step->verb == QP_RECIPE_SHARE)
            status = share(plan, step, error);
        else
            status = qp_plan_apply_use(plan, step, error);
    }
    return status;
}
