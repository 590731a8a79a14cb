/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - refusals with their place, members of a set, and the graphs that a lowering gives. */
#include "lower/lower.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- refusals ----------------------------------------------------------------------------- */

/* "FILE: PART: layer 3: ", of the parts that are known. */
static void place_text(const qp_lower_job *job, char text[160])
{
    int n = 0;
    text[0] = '\0';
    if (job->file != NULL)
        n += snprintf(text, 160, "%.80s: ", job->file);
    if (job->part != NULL)
        n += snprintf(text + n, (size_t)(160 - n), "%.20s: ", job->part);
    if (job->layer >= 0)
        snprintf(text + n, (size_t)(160 - n), "layer %" PRId64 ": ", job->layer);
}

qp_status qp_lower_refuse(const qp_lower_job *job, int64_t offset, const char *format, ...)
{
    char place[160], text[sizeof job->error->message];
    va_list arguments;
    qp_place at = QP_NOWHERE;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    place_text(job, place);
    at.offset = offset;
    return qp_fail_at(job->error, job->refusal, at, "%s%s", place, length < 0 ? "" : text);
}

/* Whether a status says that the bytes are at fault. */
static bool is_refusal(qp_status status)
{
    switch (status) {
    case QP_MODEL_MISMATCH:
    case QP_TOO_LARGE:
    case QP_FIELD_RANGE:
    case QP_GEOMETRY_MISMATCH:
    case QP_MALFORMED:
        return true;
    default:
        return false;
    }
}

qp_status qp_lower_recode(const qp_lower_job *job, qp_status status)
{
    char place[160], text[sizeof job->error->message];

    if (!is_refusal(status))
        return status;
    qp_status code = job->has_graphs && status == QP_TOO_LARGE ? status : job->refusal;
    if (job->error != NULL) {
        place_text(job, place);
        memcpy(text, job->error->message, sizeof text);
        qp_place at = {job->error->table, job->error->record, job->error->operator_index,
                       job->error->offset};
        qp_fail_at(job->error, code, at, "%s%s", place, text);
    }
    return code;
}

void qp_lower_forget_place(qp_error *error)
{
    if (error == NULL)
        return;
    error->table = QP_TABLE_NONE;
    error->record = error->offset = -1;
}

/* ---- members ------------------------------------------------------------------------------ */

qp_status qp_lower_member(qp_lower_job *job, const char *path, const qp_member **member)
{
    job->file = NULL;
    for (size_t i = 0; i < job->n_members; i++)
        if (job->one_file || strcmp(job->members[i].path, path) == 0) {
            *member = &job->members[i];
            job->file = job->members[i].path;
            return QP_OK;
        }
    return qp_lower_refuse(job, -1, "the set has no file %s", path);
}

/* ---- roles -------------------------------------------------------------------------------- */

static qp_status load(qp_lower_job *job, qp_lower_role *role)
{
    qp_status status =
        qp_graph_load(role->bytes, role->size, job->allocator, &role->graph, job->error);
    if (status == QP_OK)
        return QP_OK;
    if (role->made.bytes != NULL)
        qp_lower_forget_place(job->error);
    return qp_lower_recode(job, status);
}

qp_status qp_lower_add(qp_lower_job *job, const char *name, const uint8_t *bytes, size_t size)
{
    qp_lower_role *role = &job->set->roles[job->set->n_roles++];
    *role = (qp_lower_role){.name = name, .bytes = bytes, .size = size};
    return load(job, role);
}

qp_status qp_lower_add_made(qp_lower_job *job, const char *name, qp_buffer *made)
{
    qp_lower_role *role = &job->set->roles[job->set->n_roles++];
    *role = (qp_lower_role){.name = name, .made = *made, .bytes = made->bytes, .size = made->size};
    return load(job, role);
}
