/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c - running a plan: new files, tiles, heads, reading back,
 * artifact_id, publishing (artifact-container.md section 6).
 */
#include "artifact/convert.h"

#include "artifact/check.h"
#include "artifact/convert_work.h"

#define ID_OFFSET 16 /* of artifact_id in both headers */
#define COPY_STEP ((uint64_t)1 << 20)

/* A run on its way. */
typedef struct run {
    qp_convert_plan *plan;
    const qp_convert_share *share; /* NULL: this process alone */
    qp_convert_wrap *wrap;
    void *wrap_context;
    qp_work work;
    qp_new_files *files; /* of process 0 */
    uint64_t first, end; /* tasks of this process */
} run;

static bool is_first(const run *r)
{
    return r->share == NULL || r->share->rank == 0;
}

/* The same status for all processes: the own one, or that another has failed. */
static qp_status agree(const run *r, qp_status status, qp_error *error)
{
    if (r->share == NULL)
        return status;
    int worst = r->share->greatest(r->share->context, (int)status);
    if (status == QP_OK && worst != QP_OK)
        return qp_fail(error, (qp_status)worst, "another process of the conversion has failed");
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The paths of the new files, for the processes that have not made them. */
static qp_status share_paths(run *r, const char **paths, qp_error *error)
{
    qp_convert_plan *plan = r->plan;
    qp_status status = QP_OK;
    for (size_t i = 0; i < plan->n_files; i++) {
        uint64_t length = is_first(r) ? strlen(qp_new_files_path(r->files, i)) : 0;
        r->share->broadcast(r->share->context, &length, sizeof length);
        char *path = qp_arena_allocate(&plan->arena, (size_t)length + 1, 1);
        if (agree(r, path != NULL ? QP_OK : QP_NO_MEMORY, NULL) != QP_OK)
            return qp_fail_memory(error, "the path of a file");
        if (is_first(r))
            memcpy(path, qp_new_files_path(r->files, i), (size_t)length);
        r->share->broadcast(r->share->context, path, (size_t)length);
        paths[i] = path;
    }
    return status;
}

static qp_status open_shared(run *r, qp_error *error)
{
    qp_convert_plan *plan = r->plan;
    const char **paths = qp_arena_allocate(&plan->arena, plan->n_files, sizeof *paths);
    qp_status status =
        agree(r, paths != NULL ? QP_OK : qp_fail_memory(error, "the paths of files"), error);
    if (status == QP_OK)
        status = share_paths(r, paths, error);
    if (status == QP_OK)
        status = r->share->open(r->share->context, paths, plan->n_files, error);
    r->work.sink = r->share->sink;
    return agree(r, status, error);
}

static qp_status open_files(run *r, qp_error *error)
{
    qp_convert_plan *plan = r->plan;
    qp_status status = QP_OK;
    if (is_first(r))
        status = qp_new_files_create(plan->output, plan->files, plan->n_files,
                                     plan->options.replace, &plan->allocator, &r->files, error);
    status = agree(r, status, error);
    if (status != QP_OK)
        return status;
    if (r->share != NULL)
        return open_shared(r, error);
    r->work.sink = qp_new_files_sink(r->files);
    if (r->wrap != NULL)
        r->work.sink = r->wrap(r->wrap_context, r->work.sink);
    return QP_OK;
}

static qp_status write_heads(run *r, qp_error *error)
{
    const qp_convert_plan *plan = r->plan;
    qp_status status = QP_OK;
    for (size_t i = 0; i < plan->n_files && status == QP_OK; i++)
        status = r->work.sink.write_at(r->work.sink.context, i, 0, plan->heads[i].bytes,
                                       plan->heads[i].size, error);
    return status;
}

/* Resources of a .ninfer source, to the beginning of the payload. */
static qp_status copy_resources(run *r, qp_error *error)
{
    const qp_convert_plan *plan = r->plan;
    const qp_weight_source *source = &plan->sources[0]->source;
    size_t count;
    const qp_artifact_resource *resources = qp_artifact_resources(source->artifact, &count);
    uint64_t at = 0;
    qp_status status = QP_OK;
    if (!plan->writer->has_bindings || count == 0)
        return QP_OK;
    uint8_t *room = qp_allocate(&plan->allocator, (size_t)COPY_STEP, 1);
    if (room == NULL)
        return qp_fail_memory(error, "resources");
    for (size_t i = 0; i < count && status == QP_OK; i++) {
        const qp_artifact_tensor bytes = {.offset = resources[i].offset,
                                          .bytes = resources[i].bytes};
        for (uint64_t done = 0, step; done < bytes.bytes && status == QP_OK; done += step) {
            step = bytes.bytes - done < COPY_STEP ? bytes.bytes - done : COPY_STEP;
            qp_artifact_copy(source->artifact, &bytes, done, step, room);
            status = qp_work_write(&r->work, at + done, room, step, error);
        }
        at += bytes.bytes;
    }
    qp_release(&plan->allocator, room, (size_t)COPY_STEP, 1);
    return status;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static qp_status survey_task(void *context, uint64_t task, uint32_t worker, qp_error *error)
{
    run *r = context;
    return qp_work_survey(&r->work, r->first + task, worker, error);
}

static qp_status encode_task(void *context, uint64_t task, uint32_t worker, qp_error *error)
{
    run *r = context;
    return qp_work_encode(&r->work, r->first + task, worker, error);
}

static bool tell_progress(void *context)
{
    run *r = context;
    const qp_convert_options *options = &r->plan->options;
    if (options->progress == NULL)
        return true;
    qp_lock_take(r->work.locked.lock);
    uint64_t done = r->work.done;
    qp_lock_give(r->work.locked.lock);
    return options->progress(options->progress_context, done, r->plan->source_bytes);
}

static qp_status run_tiles(run *r, qp_error *error)
{
    const qp_convert_plan *plan = r->plan;
    bool surveys = false;
    qp_tasks tasks = {r->end - r->first, plan->options.threads, survey_task, tell_progress, r};
    for (size_t i = 0; i < plan->n_objects; i++)
        surveys = surveys || r->work.objects[i].surveyed > 0;
    qp_status status = surveys ? qp_tasks_run(&tasks, error) : QP_OK;
    status = agree(r, status, error);
    for (size_t i = 0; i < plan->n_objects && r->share != NULL && status == QP_OK; i++) {
        const qp_work_object *object = &r->work.objects[i];
        if (object->surveyed > 0)
            r->share->maxima(r->share->context, object->survey, (size_t)object->surveyed);
    }
    if (status != QP_OK)
        return status;
    tasks.run = encode_task;
    return qp_tasks_run(&tasks, error);
}

static qp_status write_payload(run *r, qp_error *error)
{
    qp_status status = QP_OK;
    if (is_first(r))
        status = copy_resources(r, error);
    status = agree(r, status, error);
    if (status == QP_OK)
        status = run_tiles(r, error);
    if (status == QP_OK && is_first(r))
        status = write_heads(r, error);
    if (r->share != NULL) {
        qp_status closed = r->share->close(r->share->context, status == QP_OK ? error : NULL);
        status = status == QP_OK ? closed : status;
    }
    return agree(r, status, error);
}

/* ---- reading back ---------------------------------------------------------------------------- */

/* Verifies what is in the new files, and puts artifact_id in. */
static qp_status read_back(run *r, qp_error *error)
{
    qp_convert_plan *plan = r->plan;
    qp_artifact *written = NULL;
    uint8_t digest[QP_SHA256_SIZE];
    qp_status status = qp_new_files_close(r->files, error);
    if (status == QP_OK)
        status =
            qp_artifact_open(qp_new_files_path(r->files, 0), &plan->allocator, &written, error);
    if (status == QP_OK)
        status = qp_verify(written, &plan->allocator, plan->options.threads,
                           plan->writer->has_id ? digest : NULL, error);
    qp_artifact_close(written);
    qp_sink sink = qp_new_files_sink(r->files);
    for (size_t i = 0; i < plan->n_files && plan->writer->has_id && status == QP_OK; i++)
        status = sink.write_at(sink.context, i, ID_OFFSET, digest, QP_ARTIFACT_ID_SIZE, error);
    return status;
}

static qp_status publish(run *r, qp_error *error)
{
    qp_status status = QP_OK;
    if (is_first(r)) {
        status = read_back(r, error);
        r->work.done = r->plan->source_bytes;
        if (status == QP_OK && !tell_progress(r))
            status = qp_fail(error, QP_IO, "stopped before the end");
        if (status == QP_OK)
            status = qp_new_files_publish(r->files, error);
    }
    return agree(r, status, error);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void take_share(run *r)
{
    uint64_t tasks = r->work.tasks, rank = 0, size = 1;
    if (r->share != NULL) {
        rank = r->share->rank;
        size = r->share->size;
    }
    r->first = tasks / size * rank + (rank < tasks % size ? rank : tasks % size);
    r->end = r->first + tasks / size + (rank < tasks % size);
}

static qp_status run_plan(run *r, qp_error *error)
{
    qp_status status = qp_work_open(&r->work, r->plan, r->plan->options.threads, error);
    status = agree(r, status, error);
    take_share(r);
    if (status == QP_OK)
        status = open_files(r, error);
    if (status == QP_OK)
        status = write_payload(r, error);
    if (status == QP_OK)
        status = publish(r, error);
    qp_work_close(&r->work);
    qp_new_files_free(r->files);
    return status;
}

qp_status qp_convert_run(qp_convert_plan *plan, qp_error *error)
{
    run r = {.plan = plan};
    return run_plan(&r, error);
}

qp_status qp_convert_run_share(qp_convert_plan *plan, const qp_convert_share *share,
                               qp_error *error)
{
    run r = {.plan = plan, .share = share};
    return run_plan(&r, error);
}

qp_status qp_convert_run_wrapped(qp_convert_plan *plan, qp_convert_wrap *wrap, void *context,
                                 qp_error *error)
{
    run r = {.plan = plan, .wrap = wrap, .wrap_context = context};
    return run_plan(&r, error);
}
