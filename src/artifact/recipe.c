/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe.c - reading recipes: a JSON array of objects, each with one verb and its members, which
 * stand beside it or in an object that is its value.
 */
#include "artifact/recipe.h"

#include "artifact/artifact.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void qp_recipe_init(qp_recipe *recipe, const qp_allocator *allocator)
{
    *recipe = (qp_recipe){0};
    qp_arena_init(&recipe->arena, allocator);
}

void qp_recipe_free(qp_recipe *recipe)
{
    qp_release(&recipe->arena.allocator, recipe->steps, recipe->capacity, sizeof *recipe->steps);
    qp_arena_free(&recipe->arena);
    recipe->steps = NULL;
    recipe->count = recipe->capacity = 0;
}

static qp_status add_step(qp_recipe *recipe, qp_recipe_step **step, qp_error *error)
{
    void *grown = qp_table_grow(&recipe->arena.allocator, recipe->steps, &recipe->capacity,
                                recipe->count, sizeof *recipe->steps);
    if (grown == NULL)
        return qp_fail_memory(error, "the steps of a recipe");
    recipe->steps = grown;
    *step = &recipe->steps[recipe->count++];
    **step = (qp_recipe_step){0};
    return QP_OK;
}

qp_status qp_recipe_fail(const qp_recipe_step *step, qp_error *error, const char *format, ...)
{
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (step->place.line == 0)
        return qp_fail(error, QP_MALFORMED, "%s", text);
    qp_place place = QP_NOWHERE;
    place.offset = (int64_t)step->place.offset;
    return qp_fail_at(error, QP_MALFORMED, place, "line %" PRIu64 ", column %" PRIu64 ": %s",
                      step->place.line, step->place.column, text);
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *keep(qp_recipe *recipe, const char *text, size_t length)
{
    char *copy = qp_arena_allocate(&recipe->arena, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

/* A nonempty string without U+0000. */
static qp_status read_text(qp_recipe *recipe, qp_json_value value, const char **text,
                           qp_error *error)
{
    qp_buffer buffer;
    qp_status status = qp_json_expect(value, QP_JSON_STRING, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&buffer, &recipe->arena.allocator);
    qp_json_append_string(value, &buffer);
    *text = buffer.failed ? NULL : keep(recipe, (const char *)buffer.bytes, buffer.size);
    if (*text == NULL)
        status = qp_fail_memory(error, "a text of a recipe");
    else if (buffer.size == 0 || strlen(*text) != buffer.size)
        status = qp_json_fail(value, error, "an empty text, or one with a U+0000, names nothing");
    qp_buffer_free(&buffer);
    return status;
}

static qp_status read_texts(qp_recipe *recipe, qp_json_value value, qp_recipe_selectors *list,
                            qp_error *error)
{
    bool is_array = qp_json_kind_of(value) == QP_JSON_ARRAY;
    size_t count = is_array ? qp_json_count(value) : 1;
    if (count == 0)
        return qp_json_fail(value, error, "an empty list selects nothing");
    list->texts = qp_arena_allocate(&recipe->arena, count, sizeof *list->texts);
    if (list->texts == NULL)
        return qp_fail_memory(error, "the selectors of a recipe");
    list->count = count;
    if (!is_array)
        return read_text(recipe, value, list->texts, error);
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;
    qp_status status = QP_OK;
    for (size_t i = 0; status == QP_OK && qp_json_next(&iterator, &element); i++)
        status = read_text(recipe, element, &list->texts[i], error);
    return status;
}

/* ---- members --------------------------------------------------------------------------------- */

/* Reads the value of a member into the step. */
typedef qp_status read_member(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                              qp_error *error);

static qp_status read_format(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                             qp_error *error)
{
    const char *text = NULL;
    qp_status status = read_text(recipe, value, &text, error);
    if (status != QP_OK)
        return status;
    step->format = qp_format_find(text);
    return step->format != NULL ? QP_OK
                                : qp_json_fail(value, error, "no format is named %.60s", text);
}

static qp_status read_layout(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                             qp_error *error)
{
    const char *text = NULL;
    qp_status status = read_text(recipe, value, &text, error);
    if (status != QP_OK)
        return status;
    step->has_auto_layout = strcmp(text, "auto") == 0;
    step->layout = qp_layout_find(text);
    if (step->layout == NULL && !step->has_auto_layout)
        return qp_json_fail(value, error, "no layout is named %.60s", text);
    return QP_OK;
}

static qp_status read_method(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                             qp_error *error)
{
    return read_text(recipe, value, &step->method, error);
}

static qp_status read_source(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                             qp_error *error)
{
    return read_text(recipe, value, &step->source, error);
}

static qp_status read_parameters(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                                 qp_error *error)
{
    qp_json_value name, member;
    qp_status status = qp_json_expect(value, QP_JSON_OBJECT, error);
    qp_json_iterator iterator = qp_json_iterate(value);
    step->has_parameters = true;
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &member)) {
        if (qp_json_equals(name, "imatrix"))
            status = read_text(recipe, member, &step->imatrix, error);
        else if (qp_json_equals(name, "negative_scales"))
            status = qp_json_get_bool(member, &step->negative_scales, error);
        else
            status = qp_json_fail(name, error,
                                  "no method has this parameter: `imatrix` and `negative_scales` "
                                  "are the ones that there are");
    }
    return status;
}

static qp_status read_policy(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                             qp_error *error)
{
    static const char *const policies[] = {"A16Only", "AllowA8", "AllowA4"};
    (void)recipe;
    qp_status status = qp_json_expect(value, QP_JSON_STRING, error);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0] && status == QP_OK; i++) {
        if (qp_json_equals(value, policies[i]))
            step->activation_policy = policies[i];
    }
    if (status == QP_OK && step->activation_policy == NULL)
        status = qp_json_fail(value, error, "a policy is A16Only, AllowA8 or AllowA4");
    return status;
}

static qp_status read_rows(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                           qp_error *error)
{
    qp_json_value end;
    qp_json_iterator iterator = qp_json_iterate(value);
    (void)recipe;
    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    for (size_t i = 0; i < 2 && status == QP_OK; i++) {
        if (!qp_json_next(&iterator, &end))
            return qp_json_fail(value, error, "rows are two numbers");
        status = qp_json_get_u64(end, &step->rows[i], error);
    }
    if (status == QP_OK && (qp_json_next(&iterator, &end) || step->rows[0] >= step->rows[1]))
        status = qp_json_fail(value, error, "rows are two numbers, the first below the second");
    step->has_rows = true;
    return status;
}

static qp_status read_input(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                            qp_error *error)
{
    return read_text(recipe, value, &step->input, error);
}

static qp_status read_number(qp_recipe *recipe, qp_json_value value, const char **number,
                             qp_error *error)
{
    const char *text;
    size_t length;
    qp_status status = qp_json_number_text(value, &text, &length, error);
    if (status != QP_OK)
        return status;
    *number = keep(recipe, text, length);
    return *number != NULL ? QP_OK : qp_fail_memory(error, "a number of a recipe");
}

static qp_status read_auxiliary(qp_recipe *recipe, qp_json_value value,
                                qp_recipe_auxiliary *auxiliary, qp_error *error)
{
    if (qp_json_kind_of(value) == QP_JSON_STRING)
        return read_text(recipe, value, &auxiliary->parameter, error);
    auxiliary->is_scalar = qp_json_kind_of(value) != QP_JSON_ARRAY;
    auxiliary->count = auxiliary->is_scalar ? 1 : qp_json_count(value);
    if (auxiliary->count == 0)
        return qp_json_fail(value, error, "an auxiliary has at least one number");
    auxiliary->numbers =
        qp_arena_allocate(&recipe->arena, auxiliary->count, sizeof *auxiliary->numbers);
    if (auxiliary->numbers == NULL)
        return qp_fail_memory(error, "the numbers of an auxiliary");
    if (auxiliary->is_scalar)
        return read_number(recipe, value, auxiliary->numbers, error);
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;
    qp_status status = QP_OK;
    for (size_t i = 0; status == QP_OK && qp_json_next(&iterator, &element); i++)
        status = read_number(recipe, element, &auxiliary->numbers[i], error);
    return status;
}

static qp_status read_auxiliaries(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                                  qp_error *error)
{
    qp_json_value name, member;
    qp_status status = qp_json_expect(value, QP_JSON_OBJECT, error);
    if (status != QP_OK)
        return status;
    size_t count = qp_json_count(value);
    step->auxiliaries = qp_arena_allocate(&recipe->arena, count, sizeof *step->auxiliaries);
    if (step->auxiliaries == NULL)
        return qp_fail_memory(error, "the auxiliaries of a use");
    qp_json_iterator iterator = qp_json_iterate(value);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &member)) {
        qp_recipe_auxiliary *auxiliary = &step->auxiliaries[step->n_auxiliaries++];
        status = read_text(recipe, name, &auxiliary->role, error);
        if (status == QP_OK)
            status = read_auxiliary(recipe, member, auxiliary, error);
    }
    return status;
}

static qp_status read_shape(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                            qp_error *error)
{
    qp_json_value element;
    qp_json_iterator iterator = qp_json_iterate(value);
    (void)recipe;
    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    while (status == QP_OK && qp_json_next(&iterator, &element)) {
        uint64_t size = 0;
        if (step->rank == QP_SHAPE_RANK_MAX)
            return qp_json_fail(value, error, "a shape has at most %d numbers", QP_SHAPE_RANK_MAX);
        status = qp_json_get_u64(element, &size, error);
        if (status == QP_OK && size == 0)
            status = qp_json_fail(element, error, "a shape has no zero");
        step->shape[step->rank++] = size;
    }
    step->has_shape = true;
    return status;
}

static qp_status read_target(qp_recipe *recipe, qp_recipe_step *step, qp_json_value value,
                             qp_error *error)
{
    return read_text(recipe, value, &step->target, error);
}

/* ---- steps ----------------------------------------------------------------------------------- */

typedef struct verb_row {
    const char *name;
    qp_recipe_verb verb;
    bool takes_one;       /* one parameter, not selectors */
    const char *required; /* a member that must be there, or NULL */
} verb_row;

static const verb_row verbs[] = {
    {"assign", QP_RECIPE_ASSIGN, false, NULL},     {"use", QP_RECIPE_USE, true, "input"},
    {"group", QP_RECIPE_GROUP, false, NULL},       {"share", QP_RECIPE_SHARE, true, "target"},
    {"separate", QP_RECIPE_SEPARATE, false, NULL},
};

#define OF(verb) (1u << (verb))

typedef struct member_row {
    const char *name;
    unsigned verbs;
    read_member *read;
} member_row;

static const member_row members[] = {
    {"format", OF(QP_RECIPE_ASSIGN), read_format},
    {"layout", OF(QP_RECIPE_ASSIGN), read_layout},
    {"method", OF(QP_RECIPE_ASSIGN), read_method},
    {"source", OF(QP_RECIPE_ASSIGN), read_source},
    {"parameters", OF(QP_RECIPE_ASSIGN), read_parameters},
    {"activation_policy", OF(QP_RECIPE_ASSIGN) | OF(QP_RECIPE_USE), read_policy},
    {"rows", OF(QP_RECIPE_ASSIGN), read_rows},
    {"input", OF(QP_RECIPE_USE), read_input},
    {"auxiliaries", OF(QP_RECIPE_USE), read_auxiliaries},
    {"shape", OF(QP_RECIPE_GROUP), read_shape},
    {"target", OF(QP_RECIPE_SHARE), read_target},
};

static const verb_row *find_verb(qp_json_value name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (qp_json_equals(name, verbs[i].name))
            return &verbs[i];
    }
    return NULL;
}

/* The object's one verb and its value. */
static qp_status read_verb(qp_json_value object, const verb_row **row, qp_json_value *about,
                           qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    *row = NULL;
    while (qp_json_next_member(&iterator, &name, &value)) {
        const verb_row *found = find_verb(name);
        if (found != NULL && *row != NULL)
            return qp_json_fail(name, error, "a step has one verb: `%s` is its other one",
                                (*row)->name);
        if (found != NULL) {
            *row = found;
            *about = value;
        }
    }
    if (*row == NULL)
        return qp_json_fail(object, error,
                            "a step has one of `assign`, `use`, `group`, `share`, `separate`");
    return QP_OK;
}

static qp_status read_about(qp_recipe *recipe, const verb_row *row, qp_json_value about,
                            qp_recipe_step *step, qp_error *error)
{
    if (row->takes_one && qp_json_kind_of(about) != QP_JSON_STRING)
        return qp_json_expect(about, QP_JSON_STRING, error);
    return read_texts(recipe, about, &step->selectors, error);
}

static qp_status read_step_member(qp_recipe *recipe, qp_recipe_step *step, const verb_row *row,
                                  qp_json_value name, qp_json_value value, qp_error *error)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (!qp_json_equals(name, members[i].name))
            continue;
        if ((members[i].verbs & OF(row->verb)) == 0)
            return qp_json_fail(name, error, "`%s` has no member `%s`", row->name, members[i].name);
        return members[i].read(recipe, step, value, error);
    }
    return qp_json_fail(name, error, "no such member of `%s`", row->name);
}

/* The members of an object but for the one that says what the step is about. */
static qp_status read_members(qp_recipe *recipe, qp_recipe_step *step, const verb_row *row,
                              qp_json_value object, const char *about, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    qp_status status = QP_OK;
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        if (!qp_json_equals(name, about))
            status = read_step_member(recipe, step, row, name, value, error);
    }
    if (status == QP_OK && row->required != NULL && !qp_json_find(object, row->required, &value))
        status =
            qp_json_fail(object, error, "`%s` needs the member `%s`", row->name, row->required);
    return status;
}

/* {VERB: {"selectors": ..., members}}, or {VERB: ..., members}. */
static qp_status read_step(qp_recipe *recipe, qp_json_value object, qp_error *error)
{
    const verb_row *row;
    qp_recipe_step *step = NULL;
    qp_json_value about = QP_JSON_NO_VALUE, inner = QP_JSON_NO_VALUE;
    qp_status status = qp_json_expect(object, QP_JSON_OBJECT, error);
    if (status == QP_OK)
        status = add_step(recipe, &step, error);
    if (status == QP_OK)
        status = read_verb(object, &row, &about, error);
    if (status != QP_OK)
        return status;
    step->verb = row->verb;
    step->place = qp_json_place_of(object);
    const char *member = row->name;
    if (qp_json_kind_of(about) == QP_JSON_OBJECT) {
        if (qp_json_count(object) != 1)
            return qp_json_fail(object, error,
                                "the members of `%s` stand in its object, or beside "
                                "it: not both",
                                row->name);
        member = row->takes_one ? "parameter" : "selectors";
        object = about;
        if (!qp_json_find(object, member, &inner))
            return qp_json_fail(object, error, "`%s` needs the member `%s`", row->name, member);
        about = inner;
    }
    status = read_about(recipe, row, about, step, error);
    return status == QP_OK ? read_members(recipe, step, row, object, member, error) : status;
}

qp_status qp_recipe_read(qp_recipe *recipe, const char *text, size_t size, qp_error *error)
{
    qp_json json;
    qp_json_value step;
    qp_json_init(&json, &recipe->arena.allocator);
    qp_status status = qp_json_parse(&json, text, size, error);
    if (status == QP_OK)
        status = qp_json_expect(qp_json_root(&json), QP_JSON_ARRAY, error);
    qp_json_iterator iterator = qp_json_iterate(qp_json_root(&json));
    while (status == QP_OK && qp_json_next(&iterator, &step))
        status = read_step(recipe, step, error);
    qp_json_free(&json);
    return status;
}

/* ---- presets --------------------------------------------------------------------------------- */

static qp_status read_choice(qp_recipe *recipe, const char *text, size_t length, bool patterns,
                             qp_error *error)
{
    const char *equals = memchr(text, '=', length);
    if ((equals != NULL) != patterns)
        return QP_OK;
    const char *name = equals != NULL ? equals + 1 : text;
    const char *format = keep(recipe, name, (size_t)(text + length - name));
    const char *pattern =
        equals != NULL ? keep(recipe, text, (size_t)(equals - text)) : keep(recipe, "*", 1);
    const char **selectors = qp_arena_allocate(&recipe->arena, 1, sizeof *selectors);
    qp_recipe_step *step = NULL;
    if (format == NULL || pattern == NULL || selectors == NULL)
        return qp_fail_memory(error, "a preset");
    if (qp_format_find(format) == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "no format is named %.60s", format);
    if (pattern[0] == '\0')
        return qp_fail(error, QP_INVALID_ARGUMENT, "=%.60s has no pattern before it", format);
    qp_status status = add_step(recipe, &step, error);
    if (status != QP_OK)
        return status;
    selectors[0] = pattern;
    step->verb = QP_RECIPE_ASSIGN;
    step->selectors = (qp_recipe_selectors){selectors, 1};
    step->format = qp_format_find(format);
    step->where_fits = equals == NULL;
    step->matrices_only = equals != NULL && strpbrk(pattern, "*?[") != NULL &&
                          step->format->family != QP_FAMILY_DIRECT;
    return QP_OK;
}

qp_status qp_recipe_read_preset(qp_recipe *recipe, const char *preset, qp_error *error)
{
    qp_status status = QP_OK;
    for (unsigned patterns = 0; patterns < 2; patterns++) { /* patterns come last: they override */
        const char *end = preset + strlen(preset);
        for (;;) { /* from the last to the first, which overrides */
            const char *begin = end;
            while (begin > preset && begin[-1] != ',')
                begin--;
            status = read_choice(recipe, begin, (size_t)(end - begin), patterns != 0, error);
            if (status != QP_OK || begin == preset)
                break;
            end = begin - 1;
        }
        if (status != QP_OK)
            break;
    }
    return status;
}
