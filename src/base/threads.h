/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - numbered tasks on several threads, and a lock. On a system without threads
 * (WebAssembly) everything runs on the caller's.
 */
#ifndef QP_BASE_THREADS_H
#define QP_BASE_THREADS_H

#include "base/base.h"

/*
 * Tasks 0 .. count - 1, begun in that order. `run` is given the number of the worker that runs it,
 * below qp_tasks_workers(tasks), so that each worker may have memory of its own.
 */
typedef struct qp_tasks {
    uint64_t count;
    uint32_t threads; /* at most so many at once, the caller's among them; 0 and 1: only that */
    qp_status (*run)(void *context, uint64_t task, uint32_t worker, qp_error *error);
    bool (*tick)(void *context); /* on the calling thread, between its tasks; false stops. NULL:
                                    none */
    void *context;
} qp_tasks;

/* How many workers there will be at most: 1 on a system without threads. */
uint32_t qp_tasks_workers(const qp_tasks *tasks);

/* Runs them. After a failure no task with a higher number begins, and the error of the failed task
 * with the lowest number is the one reported, so that it does not depend on threads. QP_IO when
 * `tick` stopped the run. */
qp_status qp_tasks_run(const qp_tasks *tasks, qp_error *error);

/* ---- a lock -------------------------------------------------------------------------------- */

typedef struct qp_lock qp_lock;

/* NULL without memory. */
qp_lock *qp_lock_new(const qp_allocator *allocator);
void qp_lock_free(qp_lock *lock);
void qp_lock_take(qp_lock *lock);
void qp_lock_give(qp_lock *lock);

/* An allocator that several threads may use: another one behind a lock. */
typedef struct qp_locked_allocator {
    qp_allocator inner;
    qp_lock *lock;
} qp_locked_allocator;

/* The allocator of `locked`, which must outlive every block. */
qp_allocator qp_locked_allocator_use(qp_locked_allocator *locked);

#endif
