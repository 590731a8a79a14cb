/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - numbered tasks on several threads: POSIX threads where there are some, the caller's
 * alone otherwise.
 */
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__wasi__) && !defined(__EMSCRIPTEN__)
#    define QP_HAVE_THREADS 1
#    define _POSIX_C_SOURCE 200809L
#    include <pthread.h>
#endif

#include "base/threads.h"

#define MOST_THREADS 256

/* ---- a lock ---------------------------------------------------------------------------------- */

struct qp_lock {
    qp_allocator allocator;
#ifdef QP_HAVE_THREADS
    pthread_mutex_t mutex;
#endif
};

qp_lock *qp_lock_new(const qp_allocator *allocator)
{
    qp_lock *lock = qp_allocate(allocator, 1, sizeof *lock);
    if (lock == NULL)
        return NULL;
    lock->allocator = qp_allocator_or_default(allocator);
#ifdef QP_HAVE_THREADS
    if (pthread_mutex_init(&lock->mutex, NULL) != 0) {
        qp_release(allocator, lock, 1, sizeof *lock);
        return NULL;
    }
#endif
    return lock;
}

void qp_lock_free(qp_lock *lock)
{
    if (lock == NULL)
        return;
#ifdef QP_HAVE_THREADS
    (void)pthread_mutex_destroy(&lock->mutex);
#endif
    qp_allocator allocator = lock->allocator;
    qp_release(&allocator, lock, 1, sizeof *lock);
}

void qp_lock_take(qp_lock *lock)
{
#ifdef QP_HAVE_THREADS
    (void)pthread_mutex_lock(&lock->mutex);
#else
    (void)lock;
#endif
}

void qp_lock_give(qp_lock *lock)
{
#ifdef QP_HAVE_THREADS
    (void)pthread_mutex_unlock(&lock->mutex);
#else
    (void)lock;
#endif
}

static void *locked_reallocate(void *context, void *block, size_t old_size, size_t new_size)
{
    qp_locked_allocator *locked = context;
    qp_lock_take(locked->lock);
    void *result = locked->inner.reallocate(locked->inner.context, block, old_size, new_size);
    qp_lock_give(locked->lock);
    return result;
}

qp_allocator qp_locked_allocator_use(qp_locked_allocator *locked)
{
    return (qp_allocator){locked_reallocate, locked};
}

/* ---- tasks ----------------------------------------------------------------------------------- */

typedef struct pool {
    const qp_tasks *tasks;
#ifdef QP_HAVE_THREADS
    pthread_mutex_t mutex;
#endif
    uint64_t next;
    uint64_t limit; /* tasks from here on are not begun: the count, or the lowest that failed */
    qp_status status;
    qp_error error; /* of the task `limit` when it failed */
    bool stopped;
} pool;

static void pool_take(pool *p)
{
#ifdef QP_HAVE_THREADS
    (void)pthread_mutex_lock(&p->mutex);
#else
    (void)p;
#endif
}

static void pool_give(pool *p)
{
#ifdef QP_HAVE_THREADS
    (void)pthread_mutex_unlock(&p->mutex);
#else
    (void)p;
#endif
}

/* Runs the next task; false when there is none to begin. */
static bool run_next(pool *p, uint32_t worker)
{
    pool_take(p);
    bool begins = !p->stopped && p->next < p->limit;
    uint64_t task = begins ? p->next++ : 0;
    pool_give(p);
    if (!begins)
        return false;

    qp_error error = {.status = QP_OK};
    qp_status status = p->tasks->run(p->tasks->context, task, worker, &error);
    if (status == QP_OK)
        return true;
    pool_take(p);
    if (task < p->limit) {
        p->limit = task;
        p->status = status;
        p->error = error;
    }
    pool_give(p);
    return true;
}

static void run_on_caller(pool *p)
{
    while (run_next(p, 0)) {
        if (p->tasks->tick == NULL || p->tasks->tick(p->tasks->context))
            continue;
        pool_take(p);
        p->stopped = true;
        pool_give(p);
    }
}

static qp_status finish(const pool *p, qp_error *error)
{
    if (p->status != QP_OK && error != NULL)
        *error = p->error;
    if (p->status != QP_OK)
        return p->status;
    return p->stopped ? qp_fail(error, QP_IO, "stopped before the end") : QP_OK;
}

#ifdef QP_HAVE_THREADS

typedef struct helper {
    pool *pool;
    uint32_t worker;
    pthread_t thread;
} helper;

static void *run_on_helper(void *argument)
{
    helper *h = argument;
    while (run_next(h->pool, h->worker)) {
    }
    return NULL;
}

uint32_t qp_tasks_workers(const qp_tasks *tasks)
{
    uint64_t most = tasks->threads < MOST_THREADS ? tasks->threads : MOST_THREADS;
    most = most < tasks->count ? most : tasks->count;
    return most > 0 ? (uint32_t)most : 1;
}

qp_status qp_tasks_run(const qp_tasks *tasks, qp_error *error)
{
    helper helpers[MOST_THREADS];
    pool p = {.tasks = tasks, .limit = tasks->count, .status = QP_OK};
    uint32_t workers = qp_tasks_workers(tasks), started = 1;

    if (pthread_mutex_init(&p.mutex, NULL) != 0)
        return qp_fail_memory(error, "a lock");
    while (started < workers) { /* where the system gives fewer threads, fewer do the work */
        helper *h = &helpers[started];
        *h = (helper){.pool = &p, .worker = started};
        if (pthread_create(&h->thread, NULL, run_on_helper, h) != 0)
            break;
        started++;
    }
    run_on_caller(&p);
    for (uint32_t i = 1; i < started; i++)
        (void)pthread_join(helpers[i].thread, NULL);
    (void)pthread_mutex_destroy(&p.mutex);
    if (p.status == QP_OK && !p.stopped && tasks->tick != NULL && started > 1)
        p.stopped = !tasks->tick(tasks->context);
    return finish(&p, error);
}

#else

uint32_t qp_tasks_workers(const qp_tasks *tasks)
{
    (void)tasks;
    return 1;
}

qp_status qp_tasks_run(const qp_tasks *tasks, qp_error *error)
{
    pool p = {.tasks = tasks, .limit = tasks->count, .status = QP_OK};
    run_on_caller(&p);
    return finish(&p, error);
}

#endif
