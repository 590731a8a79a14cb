/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.c - the registry of methods, and what holds for all of them: the refusals that need no
 * data, the floating-point mode, and the check of what a method wrote (artifact-container.md
 * sections 8, 9.1 and 9.7).
 */
#include "format/method.h"

#include "number/float_mode.h"
#include "number/minifloat.h"

#include <inttypes.h>

#define METHOD_ROW(name) &qp_method_##name,
static const qp_method *const methods[] = {QP_METHODS(METHOD_ROW)};

size_t qp_method_count(void)
{
    return sizeof methods / sizeof methods[0];
}

const qp_method *qp_method_at(size_t index)
{
    return index < qp_method_count() ? methods[index] : NULL;
}

const qp_method *qp_method_find(const char *name)
{
    for (size_t i = 0; i < qp_method_count(); i++)
        if (strcmp(methods[i]->name, name) == 0)
            return methods[i];
    return NULL;
}

/* ---- refusals that several methods give --------------------------------------------------- */

qp_status qp_method_needs_float(const qp_method_job *job, qp_error *error)
{
    if (job->element == NULL || job->element->is_float)
        return QP_OK;
    return qp_fail_check(error, QP_MODEL_MISMATCH, "source_type", -1,
                         "%s needs a floating-point source and this one is %s: use cast_direct",
                         job->method->name, job->element->name);
}

qp_status qp_method_not_finite(uint64_t row, uint64_t column, float value, qp_error *error)
{
    bool nan = (qp_bits_of_float(value) & 0x7FFFFFFFu) > 0x7F800000u;
    return qp_fail_element(error, QP_FIELD_RANGE, "source_not_finite",
                           (qp_element_place){(int64_t)row, (int64_t)column},
                           "the source value at row %" PRIu64 ", column %" PRIu64
                           " is %s, which this format cannot hold",
                           row, column, nan ? "NaN" : "infinite");
}

/* ---- prepare ------------------------------------------------------------------------------ */

/* A method may come from a program, so its row is looked at as well. */
static qp_status check_method(const qp_method *method, qp_error *error)
{
    if (method == NULL || method->name == NULL || method->name[0] == '\0')
        return qp_fail(error, QP_INVALID_ARGUMENT, "a method needs a name");
    if (method->targets == NULL || method->encode == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "method %s lacks `targets` or `encode`",
                       method->name);
    if ((method->survey == NULL) != (method->survey_count == NULL))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "method %s must give both of `survey` and `survey_count`, or neither",
                       method->name);
    return QP_OK;
}

static qp_status check_input(const qp_method_job *job, qp_error *error)
{
    const qp_method *method = job->method;
    if (method->input == QP_INPUT_ENCODED && job->encoding == NULL)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "source_type", -1,
                             "%s copies encoded words and this source has plain values",
                             method->name);
    if (method->input == QP_INPUT_ELEMENTS && job->element == NULL)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "source_type", -1,
                             "%s reads plain elements and this source is encoded", method->name);
    return QP_OK;
}

static qp_status check_parameters(const qp_method_job *job, qp_error *error)
{
    const qp_method *method = job->method;
    if (job->importance != NULL && !method->takes_importance)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "method_parameter", -1,
                             "%s takes no importance", method->name);
    if (job->negative_scales && !method->takes_negative_scales)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "method_parameter", -1,
                             "%s takes no `negative_scales`", method->name);
    if (job->importance == NULL)
        return QP_OK;
    for (uint64_t k = 0; k < job->target->columns; k++) {
        uint32_t bits = qp_bits_of_float(job->importance[k]);
        bool negative = bits > 0x80000000u; /* -0 weighs nothing, as 0 does */
        if (negative || !qp_f32_bits_finite(bits))
            return qp_fail_element(error, QP_FIELD_RANGE, "importance_invalid",
                                   (qp_element_place){-1, (int64_t)k},
                                   "the importance of column %" PRIu64 " is %s", k,
                                   qp_f32_bits_finite(bits) ? "negative" : "not finite");
    }
    return QP_OK;
}

qp_status qp_method_prepare(const qp_method_job *job, qp_error *error)
{
    qp_status status = check_method(job->method, error);
    if (status != QP_OK)
        return status;
    if (!job->method->targets(job->target->format))
        return qp_fail_check(error, QP_MODEL_MISMATCH, "method_target", -1,
                             "%s does not write %s: name another method or another format",
                             job->method->name, job->target->format->name);
    status = check_input(job, error);
    if (status == QP_OK)
        status = check_parameters(job, error);
    if (status != QP_OK || job->method->prepare == NULL)
        return status;
    return job->method->prepare(job, error);
}

/* ---- the passes over rows ----------------------------------------------------------------- */

static qp_status check_rows(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    uint64_t all = job->target->rows;
    if (rows->first > all || rows->count > all - rows->first)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "rows %" PRIu64 " and %" PRIu64 " more are not all in a matrix of %" PRIu64,
                       rows->first, rows->count, all);
    return QP_OK;
}

uint64_t qp_method_survey_count(const qp_method_job *job)
{
    return job->method->survey_count != NULL ? job->method->survey_count(job->target) : 0;
}

qp_status qp_method_survey(const qp_method_job *job, const qp_method_rows *rows, float *maxima,
                           qp_error *error)
{
    qp_status status = check_rows(job, rows, error);
    if (status != QP_OK || job->method->survey == NULL)
        return status;
    qp_float_mode mode = qp_float_mode_enter();
    status = job->method->survey(job, rows, maxima, error);
    qp_float_mode_leave(mode);
    return status;
}

qp_status qp_method_encode(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    qp_status status = check_rows(job, rows, error);
    if (status != QP_OK)
        return status;
    if (qp_method_survey_count(job) > 0 && job->survey == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%s must survey all rows before the first is encoded", job->method->name);
    qp_float_mode mode = qp_float_mode_enter();
    status = job->method->encode(job, rows, error);
    qp_float_mode_leave(mode);
    if (status != QP_OK)
        return status;
    return qp_words_check(job->target, rows->first, rows->count, &rows->words, error);
}
