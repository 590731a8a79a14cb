/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe.h - recipes and presets as an ordered list of steps over parameters
 * (artifact-container.md section 10). quipu/convert.h gives the JSON form.
 */
#ifndef QP_ARTIFACT_RECIPE_H
#define QP_ARTIFACT_RECIPE_H

#include "base/base.h"
#include "base/json.h"
#include "quipu/format.h"

typedef enum qp_recipe_verb {
    QP_RECIPE_ASSIGN,
    QP_RECIPE_USE,
    QP_RECIPE_GROUP,
    QP_RECIPE_SHARE,
    QP_RECIPE_SEPARATE
} qp_recipe_verb;

/* Names or shell patterns, or the one parameter of `use` and `share`. */
typedef struct qp_recipe_selectors {
    const char **texts;
    size_t count;
} qp_recipe_selectors;

/* An auxiliary value: a parameter of the source by name, or numbers as JSON spells them. */
typedef struct qp_recipe_auxiliary {
    const char *role;
    const char *parameter; /* NULL: numbers */
    const char **numbers;
    size_t count;
    bool is_scalar; /* one number, not an array of one */
} qp_recipe_auxiliary;

typedef struct qp_recipe_step {
    qp_recipe_verb verb;
    qp_json_place place; /* line 0: of a preset */
    qp_recipe_selectors selectors;

    /* assign: only what is stated */
    const qp_format *format;
    const qp_storage_layout *layout;
    bool has_auto_layout;
    const char *method;
    const char *source;
    bool has_parameters;
    const char *imatrix;
    bool negative_scales;
    const char *activation_policy; /* and of use */
    bool has_rows;
    uint64_t rows[2];
    bool where_fits;    /* of a preset: what it does not fit keeps what it has */
    bool matrices_only; /* of a preset: a pattern with a wildcard takes no vectors */

    /* use */
    const char *input;
    qp_recipe_auxiliary *auxiliaries;
    size_t n_auxiliaries;

    /* group */
    bool has_shape;
    uint32_t rank;
    uint64_t shape[QP_SHAPE_RANK_MAX];

    const char *target; /* share */
} qp_recipe_step;

typedef struct qp_recipe {
    qp_arena arena;
    qp_recipe_step *steps;
    size_t count;
    size_t capacity;
} qp_recipe;

void qp_recipe_init(qp_recipe *recipe, const qp_allocator *allocator);
void qp_recipe_free(qp_recipe *recipe);

/* Appends the steps of a recipe's text. QP_MALFORMED with line, column and offset. */
qp_status qp_recipe_read(qp_recipe *recipe, const char *text, size_t size, qp_error *error);

/*
 * Appends the steps of a preset: formats' names and PATTERN=FORMAT, separated by commas. A format
 * goes to what it fits. PATTERN=FORMAT goes before all formats: to the parameter of that name, or
 * by a wildcard to matrices, of a direct format to vectors too. The first that applies wins, so the
 * steps come in reverse order.
 */
qp_status qp_recipe_read_preset(qp_recipe *recipe, const char *preset, qp_error *error);

/* A refusal at a step: its line and column where it has them. */
qp_status qp_recipe_fail(const qp_recipe_step *step, qp_error *error, const char *format, ...)
    QP_PRINTF(3, 4);

/* Whether a shell pattern matches a whole name: * any bytes, ? one character, [a-z] and [!a-z] one
 * of a set; a '[' without its ']' stands for itself. */
bool qp_pattern_match(const char *pattern, const char *name);

#endif
