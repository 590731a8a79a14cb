/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_choice.c - the format that rows keep and the method that writes them, where a recipe does
 * not name one, and what a method is told (artifact-container.md sections 9 and 11).
 */
#include "artifact/plan.h"

#include "number/float_mode.h"

#include <inttypes.h>

/* ---- what inputs have in common -------------------------------------------------------------- */

static bool same_texts(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* What all elements of some inputs are: plain elements of a type, or words of an encoding; neither
 * where they differ or give values only. */
typedef struct common {
    const qp_element *element;
    const char *encoding;
    bool is_integer; /* some elements are integers */
} common;

static void add_part(common *c, const qp_weight_source_part *part, bool is_first)
{
    c->is_integer = c->is_integer || (part->element != NULL && !part->element->is_float);
    if (is_first || c->element != part->element)
        c->element = is_first ? part->element : NULL;
    if (is_first || !same_texts(c->encoding, part->encoding))
        c->encoding = is_first ? part->encoding : NULL;
}

static common common_of(const qp_plan_input *inputs, size_t count)
{
    common c = {NULL, NULL, false};
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        const qp_plan_input *input = &inputs[i];
        uint64_t end = input->begin + input->elements;
        for (size_t p = 0; p < input->parameter->n_parts; p++) {
            const qp_weight_source_part *part = &input->parameter->parts[p];
            if (part->at >= end || part->at + part->elements <= input->begin)
                continue;
            add_part(&c, part, is_first);
            is_first = false;
        }
    }
    return c;
}

/* ---- formats --------------------------------------------------------------------------------- */

static bool fits(const qp_format *format, const qp_plan_input *input)
{
    qp_matrix matrix;
    uint64_t columns = input->parameter->columns;
    const uint64_t shape[2] = {input->elements / columns, columns};
    return qp_matrix_plan(format, NULL, shape, 2, 1, &matrix, NULL) == QP_OK;
}

const qp_format *qp_plan_default_format(const qp_plan_input *input)
{
    common c = common_of(input, 1);
    if (c.encoding != NULL) {
        const qp_format *format = qp_format_find(c.encoding);
        if (format == NULL) /* ternary blocks have no format of their own */
            format = qp_format_find("t2_g128_fp16");
        if (fits(format, input))
            return format;
    }
    if (c.element != NULL && c.element->format != NULL)
        return qp_format_find(c.element->format);
    return qp_format_find(c.is_integer ? "int32" : "fp32");
}

/* ---- methods --------------------------------------------------------------------------------- */

/* Whether import_encoded takes the inputs as they are. */
static bool imports(const qp_plan_object *object)
{
    const qp_method *method = qp_method_find("import_encoded");
    qp_method_job job = object->job;
    job.method = method;
    job.element = NULL;
    job.importance = NULL;
    job.negative_scales = false;
    return job.encoding != NULL && method != NULL && qp_method_prepare(&job, NULL) == QP_OK;
}

/* The first method that computes words of the format from values; with importance at hand, the
 * first that takes it. */
static const qp_method *quantizer(const qp_format *format, bool has_importance)
{
    const qp_method *found = NULL;
    for (size_t i = 0; i < qp_method_count(); i++) {
        const qp_method *method = qp_method_at(i);
        if (method->input != QP_INPUT_VALUES || !method->targets(format))
            continue;
        bool is_better = has_importance && method->takes_importance;
        if (found == NULL || (is_better && !found->takes_importance))
            found = method;
    }
    return found;
}

static const qp_method *default_method(const qp_plan_object *object, const qp_choice *choice,
                                       bool has_importance)
{
    const qp_format *format = object->target.format;
    if (format->family == QP_FAMILY_DIRECT)
        return qp_method_find("cast_direct");
    if (!choice->negative_scales && choice->imatrix == NULL && imports(object))
        return qp_method_find("import_encoded");
    return quantizer(format, has_importance || choice->negative_scales);
}

static qp_status find_method(const qp_convert_plan *plan, const qp_choice *choice,
                             qp_plan_object *object, qp_error *error)
{
    bool has_importance = choice->imatrix != NULL || plan->options.imatrix != NULL;
    const qp_method *method = choice->method != NULL
                                  ? qp_plan_method_named(plan, choice->method)
                                  : default_method(object, choice, has_importance);
    if (method == NULL && choice->method != NULL)
        return qp_recipe_fail(choice->step, error, "no method is named %.80s", choice->method);
    if (method == NULL)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "method_target", -1,
                             "no method makes %s of these values: it is imported only",
                             object->target.format->name);
    object->job.method = method;
    return QP_OK;
}

/* ---- what the method reads ------------------------------------------------------------------- */

/* Encoded rows keep their columns; plain ones may be rearranged. */
static qp_status check_columns(const qp_plan_object *object, qp_error *error)
{
    for (size_t i = 0; i < object->n_inputs; i++) {
        const qp_plan_input *input = &object->inputs[i];
        uint64_t columns = input->parameter->columns;
        if (columns != object->target.columns || input->at % columns != 0)
            return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "geometry", -1,
                                 "%.80s has rows of %" PRIu64 " columns and its target of %" PRIu64
                                 ": encoded rows are copied whole",
                                 input->parameter->name, columns, object->target.columns);
    }
    return QP_OK;
}

static qp_status set_input(qp_plan_object *object, const common *c, qp_error *error)
{
    qp_method_job *job = &object->job;
    if (job->method->input == QP_INPUT_ENCODED) {
        job->element = NULL;
        return check_columns(object, error);
    }
    if (job->method->input == QP_INPUT_VALUES || c->element != NULL)
        return QP_OK;
    if (c->is_integer)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "source_type", -1,
                             "elements of several types, some of them integers, are not cast "
                             "together");
    job->element = qp_element_find("F32");
    job->encoding = NULL;
    object->as_values = true;
    return QP_OK;
}

/* ---- importance ------------------------------------------------------------------------------ */

static qp_json_value text_config(const qp_convert_plan *plan)
{
    const qp_weight_source *source = &plan->sources[0]->source;
    qp_json_value components, text, config = QP_JSON_NO_VALUE;
    if (source->has_directory &&
        qp_json_find(qp_json_root(&source->json), "components", &components) &&
        qp_json_find(components, "text", &text))
        (void)qp_json_find(text, "config", &config);
    return config;
}

/* Sums the vectors of the inputs in binary32, in their order. */
static qp_status sum_importance(qp_convert_plan *plan, qp_plan_object *object,
                                qp_plan_imatrix *imatrix, float **sum, uint32_t *count,
                                qp_error *error)
{
    uint64_t columns = object->target.columns;
    qp_json_value config = text_config(plan);
    for (size_t i = 0; i < object->n_inputs; i++) {
        const char *name = object->inputs[i].parameter->name;
        qp_importance found;
        qp_status status = qp_imatrix_find(imatrix->imatrix, config, name, &found, error);
        if (status != QP_OK)
            return status;
        imatrix->asked++;
        if (found.values == NULL)
            continue;
        imatrix->found++;
        if (found.count != columns)
            return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "importance_length", -1,
                                 "the importance of %.80s has %" PRIu64 " numbers for %" PRIu64
                                 " columns",
                                 name, found.count, columns);
        if (*sum == NULL &&
            (columns > SIZE_MAX / sizeof **sum ||
             (*sum = qp_arena_allocate(&plan->arena, (size_t)columns, sizeof **sum)) == NULL))
            return qp_fail_memory(error, "an importance");
        for (uint64_t k = 0; k < columns; k++)
            (*sum)[k] = *count == 0 ? found.values[k] : (*sum)[k] + found.values[k];
        ++*count;
    }
    return QP_OK;
}

/* The average over the inputs that the file has; none where it has none. */
static qp_status set_importance(qp_convert_plan *plan, qp_plan_object *object, qp_error *error)
{
    qp_plan_imatrix *imatrix;
    float *sum = NULL;
    uint32_t count = 0;
    qp_status status = qp_plan_imatrix_of(plan, object->imatrix, &imatrix, error);
    if (status != QP_OK)
        return status;
    qp_float_mode mode = qp_float_mode_enter();
    status = sum_importance(plan, object, imatrix, &sum, &count, error);
    for (uint64_t k = 0; k < object->target.columns && status == QP_OK && count > 1; k++)
        sum[k] /= (float)count;
    qp_float_mode_leave(mode);
    object->job.importance = sum;
    return status;
}

/* ---- a job ----------------------------------------------------------------------------------- */

qp_status qp_plan_choose_method(qp_convert_plan *plan, const qp_choice *choice,
                                qp_plan_object *object, qp_error *error)
{
    common c = common_of(object->inputs, object->n_inputs);
    object->job = (qp_method_job){.target = &object->target,
                                  .negative_scales = choice->negative_scales,
                                  .cpu = plan->options.cpu,
                                  .element = c.element,
                                  .encoding = c.encoding};
    qp_status status = find_method(plan, choice, object, error);
    if (status == QP_OK)
        status = set_input(object, &c, error);
    if (status != QP_OK)
        return status;
    object->imatrix = choice->imatrix;
    if (object->imatrix == NULL && object->job.method->takes_importance)
        object->imatrix = plan->options.imatrix;
    if (object->imatrix != NULL)
        status = set_importance(plan, object, error);
    if (status == QP_OK)
        status = qp_method_prepare(&object->job, error);
    return status;
}
