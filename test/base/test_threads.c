/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_threads.c - numbered tasks: each runs once, the lowest failure is the one told, a tick
 * stops.
 */
#include "base/threads.h"

#include "../failing_allocator.h"
#include "support/test.h"

enum { TASKS = 500 };

typedef struct work {
    qp_lock *lock;
    unsigned runs[TASKS];
    uint64_t fail_from; /* tasks from here on fail */
    uint32_t workers;
    uint64_t ticks, stop_at;
    uint64_t total;
} work;

static qp_status run_task(void *context, uint64_t task, uint32_t worker, qp_error *error)
{
    work *w = context;
    assert_true(task < TASKS && worker < w->workers);
    qp_lock_take(w->lock);
    w->runs[task]++;
    w->total++;
    qp_lock_give(w->lock);
    if (task >= w->fail_from)
        return qp_fail(error, QP_FIELD_RANGE, "task %d", (int)task);
    return QP_OK;
}

static bool tick(void *context)
{
    work *w = context;
    return ++w->ticks != w->stop_at;
}

static work start(uint32_t threads, qp_tasks *tasks)
{
    work w = {.lock = qp_lock_new(NULL), .fail_from = UINT64_MAX};
    assert_non_null(w.lock);
    *tasks = (qp_tasks){.count = TASKS, .threads = threads, .run = run_task, .tick = tick};
    w.workers = qp_tasks_workers(tasks);
    return w;
}

static void test_each_runs_once(void **state)
{
    (void)state;
    static const uint32_t threads[] = {0, 1, 2, 7, 64, 100000};
    for (size_t i = 0; i < TEST_COUNT(threads); i++) {
        qp_tasks tasks;
        work w = start(threads[i], &tasks);
        tasks.context = &w;
        assert_true(w.workers >= 1 && (threads[i] < 2 || w.workers <= threads[i]));
        assert_int_equal(qp_tasks_run(&tasks, NULL), QP_OK);
        for (size_t t = 0; t < TASKS; t++)
            assert_int_equal(w.runs[t], 1);
        qp_lock_free(w.lock);
    }
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    qp_tasks tasks;
    work w = start(4, &tasks);
    tasks.count = 0;
    tasks.context = &w;
    assert_int_equal(qp_tasks_workers(&tasks), 1);
    assert_int_equal(qp_tasks_run(&tasks, NULL), QP_OK);
    assert_int_equal(w.total, 0);
    qp_lock_free(w.lock);
}

static void test_lowest_failure(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 16; threads *= 2) {
        for (uint64_t from = 0; from < TASKS; from += 83) {
            qp_tasks tasks;
            qp_error error;
            char expected[32];
            work w = start(threads, &tasks);
            tasks.context = &w;
            w.fail_from = from;
            assert_int_equal(qp_tasks_run(&tasks, &error), QP_FIELD_RANGE);
            snprintf(expected, sizeof expected, "task %d", (int)from);
            assert_string_equal(error.message, expected);
            for (uint64_t t = 0; t <= from; t++)
                assert_int_equal(w.runs[t], 1); /* all before it have run */
            qp_lock_free(w.lock);
        }
    }
}

static void test_stopped(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        qp_tasks tasks;
        work w = start(threads, &tasks);
        tasks.context = &w;
        w.stop_at = 1;
        assert_int_equal(qp_tasks_run(&tasks, NULL), QP_IO);
        if (threads == 1)
            assert_int_equal(w.total, 1);
        qp_lock_free(w.lock);
    }
}

static void test_locked_allocator(void **state)
{
    (void)state;
    failing_allocator memory = failing_allocator_make(2);
    qp_locked_allocator locked = {failing_allocator_use(&memory), qp_lock_new(NULL)};
    qp_allocator allocator = qp_locked_allocator_use(&locked);
    void *block = qp_allocate(&allocator, 4, 8);
    assert_non_null(block);
    assert_null(qp_allocate(&allocator, 1, 1));
    qp_release(&allocator, block, 4, 8);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.has_fault);
    qp_lock_free(locked.lock);
    qp_lock_free(NULL);
    memory = failing_allocator_make(1);
    allocator = failing_allocator_use(&memory);
    assert_null(qp_lock_new(&allocator));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_runs_once),   cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_lowest_failure),   cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_locked_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
