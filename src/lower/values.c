/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - integers of JSON files, with the place of what is refused. */
#include "lower/values.h"

#include <inttypes.h>

qp_status qp_value_refuse(qp_lower_job *job, qp_json_value value, const char *text)
{
    return qp_lower_recode(job, qp_json_fail(value, job->error, "%s", text));
}

qp_status qp_value_member(qp_lower_job *job, qp_json_value object, const char *name,
                          qp_json_kind kind, qp_json_value *value)
{
    qp_status status = qp_json_member(object, name, kind, value, job->error);
    return status == QP_OK ? QP_OK : qp_lower_recode(job, status);
}

static qp_status read_in_range(qp_json_value value, qp_range range, int64_t *result,
                               qp_error *error)
{
    int64_t read = 0;
    qp_status status = qp_json_get_i64(value, &read, error);
    if (status == QP_OK && (read < range.lo || read > range.hi))
        return qp_json_fail(value, error, "%" PRId64 " lies outside %" PRId64 "..%" PRId64, read,
                            range.lo, range.hi);
    if (status == QP_OK)
        *result = read;
    return status;
}

qp_status qp_value_read(qp_lower_job *job, qp_json_value value, qp_range range, int64_t *result)
{
    qp_status status = read_in_range(value, range, result, job->error);
    return status == QP_OK ? QP_OK : qp_lower_recode(job, status);
}

/* The elements up to the first fault. */
static qp_status read_elements(qp_lower_job *job, qp_json_value array, qp_range range,
                               qp_values *values)
{
    qp_json_iterator iterator = qp_json_iterate(array);
    qp_json_value element;
    qp_status status = QP_OK;
    for (size_t i = 0; status == QP_OK && i < values->count && qp_json_next(&iterator, &element);
         i++)
        status = read_in_range(element, range, &values->at[i], job->error);
    return status == QP_OK ? QP_OK : qp_lower_recode(job, status);
}

qp_status qp_values_read(qp_lower_job *job, qp_json_value array, uint64_t count, qp_range range,
                         qp_values *values)
{
    *values = (qp_values){0};
    qp_status status = qp_json_expect(array, QP_JSON_ARRAY, job->error);
    if (status != QP_OK)
        return qp_lower_recode(job, status);
    size_t found = qp_json_count(array);
    if (found != count)
        return qp_lower_recode(job, qp_json_fail(array, job->error,
                                                 "%zu integers, where %" PRIu64 " are needed",
                                                 found, count));
    int64_t *at = qp_allocate(job->allocator, found, sizeof *at);
    if (at == NULL)
        return qp_fail_memory(job->error, "the integers of a set");
    *values = (qp_values){at, found};
    status = read_elements(job, array, range, values);
    if (status != QP_OK)
        qp_values_free(job, values);
    return status;
}

void qp_values_free(const qp_lower_job *job, qp_values *values)
{
    qp_release(job->allocator, values->at, values->count, sizeof *values->at);
    *values = (qp_values){0};
}
