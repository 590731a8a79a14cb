/* SPDX-License-Identifier: Apache-2.0 */
/* analysis.c - lowering the networks that lie beside a set (integer-operators.md section 13.2). */
#include "codec/analysis.h"

#include "lower/network.h"

#include <stdio.h>

/* The strides of a network's convolutions, multiplied; it stays at its largest once it is there. */
static qp_status multiply_strides(qp_lower_job *job, const qp_member *file, uint64_t *stride)
{
    qp_network network;
    qp_cursor cursor = qp_cursor_over(file);
    qp_status status = qp_network_read(job, &cursor, "WHM1", &network);
    if (status != QP_OK)
        return status;
    for (uint32_t l = 0; l < network.n_layers; l++)
        if (network.layers[l].tag == QP_LAYER_CONV &&
            !qp_mul_u64(*stride, network.layers[l].stride, stride))
            *stride = UINT64_MAX;
    qp_network_free(job, &network);
    return QP_OK;
}

static qp_status add_network(qp_lower_job *job, const qp_members *files, const char *name,
                             uint32_t *afrac, uint64_t *stride)
{
    char path[64];
    snprintf(path, sizeof path, "%s.whm", name);
    const qp_member *file = qp_members_find(files, path);
    job->file = path;
    qp_status status =
        file == NULL ? qp_lower_refuse(job, -1, "the file is not beside the set") : QP_OK;
    if (status == QP_OK)
        status = multiply_strides(job, file, stride);
    if (status == QP_OK) {
        qp_cursor cursor = qp_cursor_over(file);
        status = qp_network_role(job, &cursor, name, false, afrac);
    }
    job->file = NULL;
    return status;
}

static qp_status certify(qp_lower_job *job)
{
    qp_lowered *set = job->set;
    qp_set_info info = {NULL, set->lowering, NULL};
    qp_role *roles = qp_arena_allocate(&set->arena, set->n_roles, sizeof *roles);
    if (roles == NULL)
        return qp_fail_memory(job->error, "the roles of a set");
    for (size_t i = 0; i < set->n_roles; i++)
        roles[i] = (qp_role){set->roles[i].name, set->roles[i].graph};
    qp_status status =
        qp_certify_set(roles, set->n_roles, &info, job->allocator, &set->certificate, job->error);
    if (status == QP_OK)
        status = qp_certificate_require(set->certificate, QP_ACC64, NULL, 0, job->error);
    return status == QP_OK ? QP_OK : qp_lower_recode(job, status);
}

static qp_status lower(const qp_members *files, const char *const *names,
                       const qp_allocator *allocator, qp_analysis *analysis, qp_error *error)
{
    qp_lower_job job = {.allocator = allocator,
                        .set = analysis->graphs,
                        .members = files->at,
                        .n_members = files->count,
                        .refusal = QP_MODEL_MISMATCH,
                        .layer = -1,
                        .error = error};
    qp_lowered *set = analysis->graphs;
    qp_status status = QP_OK;

    set->lowering = "whm1/1";
    set->roles = qp_arena_allocate(&set->arena, analysis->count, sizeof *set->roles);
    if (set->roles == NULL)
        return qp_fail_memory(error, "the roles of a set");
    for (size_t i = 0; i < analysis->count && status == QP_OK; i++)
        status = add_network(&job, files, names[i], &analysis->afrac[i], &analysis->stride);
    return status == QP_OK ? certify(&job) : status;
}

qp_status qp_analysis_make(const qp_members *files, const char *const *names, size_t count,
                           const qp_allocator *allocator, qp_analysis *analysis, qp_error *error)
{
    *analysis = (qp_analysis){.count = count, .stride = 1};
    analysis->afrac = qp_allocate(allocator, count, sizeof *analysis->afrac);
    analysis->graphs = qp_allocate(allocator, 1, sizeof *analysis->graphs);
    if (analysis->graphs != NULL)
        qp_arena_init(&analysis->graphs->arena, allocator);
    qp_status status = QP_OK;
    if (analysis->afrac == NULL || analysis->graphs == NULL)
        status = qp_fail_memory(error, "an encoder's networks");
    if (status == QP_OK)
        status = lower(files, names, allocator, analysis, error);
    if (status != QP_OK)
        qp_analysis_free(allocator, analysis);
    return status;
}

void qp_analysis_free(const qp_allocator *allocator, qp_analysis *analysis)
{
    qp_lowered_free(analysis->graphs);
    qp_release(allocator, analysis->afrac, analysis->count, sizeof *analysis->afrac);
    *analysis = (qp_analysis){0};
}
