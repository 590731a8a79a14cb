/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_uses.c - the uses of a .ninfer artifact and their auxiliary values (artifact-container.md
 * sections 3.6, 9.6 and 10).
 *
 * The inputs of a parameter are those that a .ninfer source lists. Other sources know of none:
 * there a recipe's `use` brings an input in, and a policy of `assign` the input "input".
 */
#include "artifact/auxiliary.h"
#include "artifact/plan.h"

#include "number/float_mode.h"
#include "number/minifloat.h"

#include <float.h>

static qp_plan_use *add_use(qp_convert_plan *plan, size_t parameter, const char *input)
{
    void *grown = qp_table_grow(&plan->allocator, plan->uses, &plan->use_capacity, plan->n_uses,
                                sizeof *plan->uses);
    if (grown == NULL || input == NULL)
        return NULL;
    plan->uses = grown;
    qp_plan_use *use = &plan->uses[plan->n_uses++];
    *use = (qp_plan_use){.parameter = parameter, .input = input};
    return use;
}

/* The auxiliary of a role: the one that is there, or a new one. */
static qp_plan_auxiliary *auxiliary_of(qp_convert_plan *plan, qp_plan_use *use, const char *role)
{
    for (size_t i = 0; i < use->count; i++) {
        if (strcmp(use->auxiliaries[i].role, role) == 0)
            return &use->auxiliaries[i];
    }
    void *grown = qp_table_grow(&plan->allocator, use->auxiliaries, &use->capacity, use->count,
                                sizeof *use->auxiliaries);
    if (grown == NULL)
        return NULL;
    use->auxiliaries = grown;
    qp_plan_auxiliary *auxiliary = &use->auxiliaries[use->count++];
    *auxiliary = (qp_plan_auxiliary){role, SIZE_MAX, SIZE_MAX, NULL};
    return auxiliary;
}

/* ---- the source's uses ----------------------------------------------------------------------- */

static const char *keep_string(qp_convert_plan *plan, qp_json_value value)
{
    qp_buffer text;
    qp_buffer_init(&text, &plan->allocator);
    qp_json_append_string(value, &text);
    const char *copy = text.failed ? NULL : qp_plan_keep(plan, (const char *)text.bytes, text.size);
    qp_buffer_free(&text);
    return copy;
}

static size_t index_of(const qp_convert_plan *plan, const char *name)
{
    const qp_weight_source *source = &plan->sources[0]->source;
    const qp_parameter *found = qp_weight_source_find(source, name);
    return found != NULL ? (size_t)(found - source->parameters) : SIZE_MAX;
}

static qp_status read_auxiliaries(qp_convert_plan *plan, qp_plan_use *use, qp_json_value object,
                                  qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    while (qp_json_next_member(&iterator, &name, &value)) {
        qp_buffer path;
        const char *role = keep_string(plan, name);
        qp_plan_auxiliary *auxiliary = role != NULL ? auxiliary_of(plan, use, role) : NULL;
        qp_buffer_init(&path, &plan->allocator);
        qp_buffer_text(&path, plan->parameters[use->parameter].source->name);
        qp_buffer_text(&path, "/");
        qp_buffer_text(&path, use->input);
        qp_buffer_text(&path, "/");
        qp_buffer_text(&path, role != NULL ? role : "");
        qp_buffer_append(&path, "", 1);
        bool no_memory = auxiliary == NULL || path.failed;
        if (!no_memory)
            auxiliary->parameter = index_of(plan, (const char *)path.bytes);
        qp_buffer_free(&path);
        if (no_memory)
            return qp_fail_memory(error, "the auxiliaries of a use");
    }
    return QP_OK;
}

static qp_status read_use(qp_convert_plan *plan, qp_json_value record, qp_error *error)
{
    qp_json_value parameter, input, policy, auxiliaries;
    (void)qp_json_find(record, "parameter", &parameter);
    (void)qp_json_find(record, "input", &input);
    const char *name = keep_string(plan, parameter);
    qp_plan_use *use =
        name != NULL ? add_use(plan, index_of(plan, name), keep_string(plan, input)) : NULL;
    if (use == NULL)
        return qp_fail_memory(error, "the uses of a plan");
    if (use->parameter == SIZE_MAX)
        return qp_fail(error, QP_INTERNAL, "a use of no parameter");
    if (qp_json_find(record, "activation_policy", &policy)) {
        use->policy = keep_string(plan, policy);
        if (use->policy == NULL)
            return qp_fail_memory(error, "the uses of a plan");
    }
    if (!qp_json_find(record, "auxiliaries", &auxiliaries))
        return QP_OK;
    return read_auxiliaries(plan, use, auxiliaries, error);
}

qp_status qp_plan_read_uses(qp_convert_plan *plan, qp_error *error)
{
    const qp_weight_source *source = &plan->sources[0]->source;
    qp_json_value uses, record;
    if (!source->has_directory || !qp_json_find(qp_json_root(&source->json), "uses", &uses))
        return QP_OK;
    qp_json_iterator iterator = qp_json_iterate(uses);
    qp_status status = QP_OK;
    while (status == QP_OK && qp_json_next(&iterator, &record))
        status = read_use(plan, record, error);
    return status;
}

/* ---- the recipe's uses ----------------------------------------------------------------------- */

qp_status qp_plan_apply_policy(qp_convert_plan *plan, size_t parameter, const char *policy,
                               qp_error *error)
{
    bool found = false;
    for (size_t i = 0; i < plan->n_uses; i++) {
        if (plan->uses[i].parameter != parameter)
            continue;
        plan->uses[i].policy = policy;
        found = true;
    }
    if (found || !plan->writer->has_bindings)
        return QP_OK;
    qp_plan_use *use = add_use(plan, parameter, "input");
    if (use == NULL)
        return qp_fail_memory(error, "the uses of a plan");
    use->policy = policy;
    return QP_OK;
}

static qp_status find_use(qp_convert_plan *plan, const qp_recipe_step *step, size_t parameter,
                          qp_plan_use **use, qp_error *error)
{
    bool has_uses = false;
    for (size_t i = 0; i < plan->n_uses; i++) {
        *use = &plan->uses[i];
        if ((*use)->parameter == parameter && strcmp((*use)->input, step->input) == 0)
            return QP_OK;
        has_uses = has_uses || (*use)->parameter == parameter;
    }
    if (has_uses && plan->sources[0]->source.has_directory)
        return qp_recipe_fail(step, error, "%.60s has no input %.60s",
                              plan->parameters[parameter].source->name, step->input);
    *use = add_use(plan, parameter, step->input);
    return *use != NULL ? QP_OK : qp_fail_memory(error, "the uses of a plan");
}

static qp_status set_auxiliary(qp_convert_plan *plan, const qp_recipe_step *step, qp_plan_use *use,
                               const qp_recipe_auxiliary *stated, qp_error *error)
{
    qp_plan_auxiliary *auxiliary = auxiliary_of(plan, use, stated->role);
    if (auxiliary == NULL)
        return qp_fail_memory(error, "the auxiliaries of a use");
    *auxiliary = (qp_plan_auxiliary){stated->role, SIZE_MAX, SIZE_MAX, NULL};
    if (stated->parameter == NULL) {
        auxiliary->numbers = stated;
        return QP_OK;
    }
    auxiliary->parameter = index_of(plan, stated->parameter);
    if (auxiliary->parameter == SIZE_MAX)
        return qp_recipe_fail(step, error, "there is no parameter %.80s", stated->parameter);
    return QP_OK;
}

qp_status qp_plan_apply_use(qp_convert_plan *plan, const qp_recipe_step *step, qp_error *error)
{
    const char *name = step->selectors.texts[0];
    size_t parameter = index_of(plan, name);
    qp_plan_use *use = NULL;
    if (parameter == SIZE_MAX || plan->parameters[parameter].source->is_auxiliary)
        return qp_recipe_fail(step, error, "there is no parameter %.80s", name);
    qp_status status = find_use(plan, step, parameter, &use, error);
    if (status == QP_OK && step->activation_policy != NULL)
        use->policy = step->activation_policy;
    for (size_t i = 0; i < step->n_auxiliaries && status == QP_OK; i++)
        status = set_auxiliary(plan, step, use, &step->auxiliaries[i], error);
    return status;
}

/* ---- numbers as tensors ---------------------------------------------------------------------- */

static uint32_t word_of(const qp_format *format, double number)
{
    if (strcmp(format->name, "int32") == 0)
        return (uint32_t)(int32_t)number;
    uint32_t bits = qp_bits_of_float((float)number);
    return strcmp(format->name, "bf16") == 0 ? qp_bf16_from_f32_bits(bits) : bits;
}

/* An object with the same words that is no activation divisor: these are not shared. */
static size_t find_constant(const qp_convert_plan *plan, const qp_plan_object *object)
{
    for (size_t i = plan->n_weights; i < plan->n_objects; i++) {
        const qp_plan_object *other = &plan->objects[i];
        if (other != object && other->constant != NULL && !other->is_divisor &&
            other->rank == object->rank && other->target.format == object->target.format &&
            other->target.bytes == object->target.bytes &&
            memcmp(other->constant, object->constant, (size_t)object->target.bytes) == 0)
            return i;
    }
    return SIZE_MAX;
}

static qp_status name_constant(qp_convert_plan *plan, qp_plan_object *object, qp_error *error)
{
    qp_buffer text;
    size_t number = plan->n_objects - 1 - plan->n_weights;
    qp_buffer_init(&text, &plan->allocator);
    qp_buffer_format(&text, "auxiliary/%06zu", number);
    object->name = text.failed ? NULL : qp_plan_keep(plan, (const char *)text.bytes, text.size);
    qp_buffer_free(&text);
    return object->name != NULL ? QP_OK : qp_fail_memory(error, "the name of a tensor");
}

/* Numbers on their way to a tensor. */
typedef struct constant {
    const char *format;
    bool is_scalar, is_divisor;
    const double *numbers;
    size_t count;
} constant;

/* A tensor of numbers; *index is its object. */
static qp_status make_constant(qp_convert_plan *plan, const constant *c, size_t *index,
                               qp_error *error)
{
    qp_plan_object *object = qp_plan_add_object(plan);
    if (object == NULL)
        return qp_fail_memory(error, "a tensor of a plan");
    object->is_auxiliary = true;
    object->is_divisor = c->is_divisor;
    object->rank = c->is_scalar ? 0 : 1;
    object->shape[0] = c->count;
    qp_status status = qp_matrix_plan(qp_format_find(c->format), NULL, object->shape, object->rank,
                                      1, &object->target, error);
    if (status == QP_OK)
        status = name_constant(plan, object, error);
    if (status != QP_OK)
        return status;
    uint32_t width = object->target.format->code_bits / 8;
    uint8_t *words = qp_arena_allocate(&plan->arena, c->count, width);
    if (words == NULL)
        return qp_fail_memory(error, "an auxiliary");
    for (size_t i = 0; i < c->count; i++) {
        uint32_t word = word_of(object->target.format, c->numbers[i]);
        for (uint32_t b = 0; b < width; b++)
            words[i * width + b] = (uint8_t)(word >> 8 * b);
    }
    object->constant = words;
    *index = c->is_divisor ? SIZE_MAX : find_constant(plan, object);
    if (*index == SIZE_MAX)
        *index = plan->n_objects - 1;
    else
        plan->n_objects--;
    return QP_OK;
}

static qp_status read_numbers(const qp_recipe_auxiliary *stated, double *numbers, qp_error *error)
{
    for (size_t i = 0; i < stated->count; i++) {
        if (!qp_read_f64(stated->numbers[i], strlen(stated->numbers[i]), &numbers[i]))
            return qp_fail(error, QP_MALFORMED, "the auxiliary %.60s holds no number %.40s",
                           stated->role, stated->numbers[i]);
    }
    return QP_OK;
}

/* Numbers of a known role are held to it. */
static qp_status check_role(const qp_convert_plan *plan, const qp_plan_use *use,
                            const qp_auxiliary_role *role, const constant *c, bool *seen,
                            qp_error *error)
{
    uint64_t columns = plan->parameters[use->parameter].source->columns;
    const char *wrong = role->check(c->numbers, c->count, seen);
    if (wrong == NULL && !role->is_scalar && c->count != columns)
        wrong = "has not one number for each column";
    if (wrong == NULL)
        return QP_OK;
    return qp_fail_check(error, QP_FIELD_RANGE, "auxiliary_invalid", -1,
                         "the auxiliary %.60s of %.80s %s", role->name,
                         plan->parameters[use->parameter].source->name, wrong);
}

static qp_status make_numbers(qp_convert_plan *plan, const qp_plan_use *use,
                              qp_plan_auxiliary *auxiliary, qp_error *error)
{
    const qp_recipe_auxiliary *stated = auxiliary->numbers;
    const qp_auxiliary_role *role = qp_auxiliary_role_find(stated->role);
    double *numbers = qp_arena_allocate(&plan->arena, stated->count, sizeof *numbers);
    bool *seen = qp_arena_allocate(&plan->arena, stated->count, sizeof *seen);
    if (numbers == NULL || seen == NULL)
        return qp_fail_memory(error, "an auxiliary");
    constant c = {"fp32", stated->is_scalar, false, numbers, stated->count};
    qp_status status = read_numbers(stated, numbers, error);
    if (status == QP_OK && role != NULL) {
        c.format = role->format;
        c.is_scalar = role->is_scalar;
        c.is_divisor = strcmp(role->name, QP_AUXILIARY_DIVISOR) == 0;
        status = check_role(plan, use, role, &c, seen, error);
    }
    return status == QP_OK ? make_constant(plan, &c, &auxiliary->object, error) : status;
}

/* ---- activation divisors --------------------------------------------------------------------- */

/* The divisor that an NVFP4 source states beside a weight, as NAME.input_global_scale or as the
 * multiplier NAME.input_scale, where NAME.weight is the weight. */
static qp_status own_divisor(qp_convert_plan *plan, const char *weight, double *divisor,
                             qp_error *error)
{
    static const char ending[] = ".weight";
    static const struct {
        const char *name;
        bool is_multiplier;
    } forms[] = {{".input_global_scale", false}, {".input_scale", true}};
    size_t length = strlen(weight), cut = sizeof ending - 1;
    const qp_weight_source *source = &plan->sources[0]->source;

    *divisor = 0;
    if (length <= cut || strcmp(weight + length - cut, ending) != 0)
        return QP_OK;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char *name = qp_arena_allocate(&plan->arena, length + strlen(forms[i].name) + 1, 1);
        float value;
        if (name == NULL)
            return qp_fail_memory(error, "a name");
        memcpy(name, weight, length - cut);
        memcpy(name + length - cut, forms[i].name, strlen(forms[i].name));
        const qp_parameter *found = qp_weight_source_find(source, name);
        if (found == NULL || found->elements != 1)
            continue;
        qp_weight_source_reader reader;
        qp_weight_source_reader_init(&reader, source, &plan->allocator, 0);
        qp_status status = qp_parameter_values(&reader, found, 0, 1, &value, error);
        qp_weight_source_reader_free(&reader);
        if (status != QP_OK)
            return status;
        qp_float_mode mode = qp_float_mode_enter();
        *divisor = forms[i].is_multiplier ? (double)(float)(1.0 / (double)value) : (double)value;
        qp_float_mode_leave(mode);
        return QP_OK;
    }
    return QP_OK;
}

/* Of several weights in one tensor the numerically smallest divisor serves all. */
static qp_status smallest_divisor(qp_convert_plan *plan, const qp_plan_object *object,
                                  double *smallest, qp_error *error)
{
    *smallest = 0;
    for (size_t i = 0; i < object->n_inputs; i++) {
        double divisor;
        qp_status status = own_divisor(plan, object->inputs[i].parameter->name, &divisor, error);
        if (status != QP_OK)
            return status;
        bool is_legal = divisor > 0 && divisor <= (double)FLT_MAX;
        if (is_legal && (*smallest == 0 || divisor < *smallest))
            *smallest = divisor;
    }
    return QP_OK;
}

/* An NVFP4 weight whose activations may have four bits needs an activation divisor. */
static qp_status require_divisor(qp_convert_plan *plan, qp_plan_use *use, qp_error *error)
{
    const qp_plan_parameter *parameter = &plan->parameters[use->parameter];
    parameter = &plan->parameters[parameter->share];
    if (use->policy == NULL || strcmp(use->policy, "AllowA4") != 0 || parameter->n_parts == 0)
        return QP_OK;
    const qp_plan_object *object = &plan->objects[parameter->parts[0].object];
    for (size_t i = 0; i < use->count; i++) {
        if (strcmp(use->auxiliaries[i].role, QP_AUXILIARY_DIVISOR) == 0)
            return QP_OK;
    }
    if (object->target.format->family != QP_FAMILY_NVFP4)
        return QP_OK;
    double divisor;
    qp_status status = smallest_divisor(plan, object, &divisor, error);
    if (status == QP_OK && (float)divisor <= 0)
        status = qp_fail(error, QP_MODEL_MISMATCH,
                         "%.80s is nvfp4 and AllowA4: it needs an activation_input_divisor",
                         parameter->source->name);
    if (status != QP_OK)
        return status;
    qp_plan_auxiliary *auxiliary = auxiliary_of(plan, use, QP_AUXILIARY_DIVISOR);
    if (auxiliary == NULL)
        return qp_fail_memory(error, "the auxiliaries of a use");
    const constant c = {"fp32", true, true, &divisor, 1};
    return make_constant(plan, &c, &auxiliary->object, error);
}

/* ---- all ------------------------------------------------------------------------------------- */

qp_status qp_plan_finish_uses(qp_convert_plan *plan, qp_error *error)
{
    qp_status status = QP_OK;
    if (!plan->writer->has_bindings)
        return QP_OK;
    for (size_t i = 0; i < plan->n_uses && status == QP_OK; i++) {
        qp_plan_use *use = &plan->uses[i];
        for (size_t k = 0; k < use->count && status == QP_OK; k++) {
            if (use->auxiliaries[k].numbers != NULL)
                status = make_numbers(plan, use, &use->auxiliaries[k], error);
        }
        if (status == QP_OK)
            status = require_divisor(plan, use, error);
    }
    return status;
}
