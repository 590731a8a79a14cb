/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - the limits of memory, in a file of its own so that its loops are called as they are.
 */
#if !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE /* madvise */
#endif
#include "memory.h"

#include "base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__linux__)
#    include <sys/mman.h>
#endif

enum { LARGE_PAGE = 1 << 21 };

double bench_now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *bench_memory(size_t size)
{
    size_t whole = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *memory = aligned_alloc(LARGE_PAGE, whole == 0 ? LARGE_PAGE : whole);
    if (memory == NULL) {
        fprintf(stderr, "formats_bench: no memory: try a smaller --megabytes\n");
        exit(EXIT_FAILURE);
    }
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    (void)madvise(memory, whole, MADV_HUGEPAGE);
#endif
    memset(memory, 1, whole);
    return memory;
}

static uint64_t sum(const uint8_t *from, size_t size)
{
    const uint64_t *words = (const uint64_t *)(const void *)from; /* of bench_memory */
    uint64_t total = 0;
    for (size_t i = 0; i < size / sizeof *words; i++)
        total += words[i];
    return total;
}

uint64_t bench_touch(const bench_pair *pair, bench_access access)
{
    if (access == BENCH_READ)
        return sum(pair->from, pair->size);
    if (access == BENCH_WRITE)
        memset(pair->to, 2, pair->size);
    else
        memcpy(pair->to, pair->from, pair->size);
    return pair->to[pair->size / 2];
}

typedef struct all_parts {
    bench_part *part;
    void *context;
    uint32_t parts;
} all_parts;

static qp_status run_part(void *context, uint64_t task, uint32_t worker, qp_error *error)
{
    const all_parts *all = context;
    (void)worker;
    (void)error;
    all->part(all->context, (uint32_t)task, all->parts);
    return QP_OK;
}

double bench_parallel(bench_part *part, void *context, uint32_t threads)
{
    all_parts all = {part, context, threads};
    qp_tasks tasks = {threads, threads, run_part, NULL, &all};
    double start = bench_now();
    (void)qp_tasks_run(&tasks, NULL);
    return bench_now() - start;
}
