/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - time, memory in large pages, and how fast this machine reads, writes and copies it. */
#ifndef QP_BENCH_MEMORY_H
#define QP_BENCH_MEMORY_H

#include "base/base.h"

/* Seconds. */
double bench_now(void);

/* Memory that is there already, in large pages where the system has them. Ends the program without
 * memory. Never given back. */
void *bench_memory(size_t size);

typedef enum bench_access {
    BENCH_READ,  /* sums 64-bit words */
    BENCH_WRITE, /* memset */
    BENCH_COPY,  /* memcpy */
    BENCH_ACCESSES
} bench_access;

/* Two pieces of memory of one size. */
typedef struct bench_pair {
    uint8_t *from;
    uint8_t *to;
    size_t size;
} bench_pair;

/* Does it once; the result keeps a compiler from leaving the reading out. */
uint64_t bench_touch(const bench_pair *pair, bench_access access);

/* Runs part 0 .. threads - 1 at once, each in a thread, and gives the seconds that took. */
typedef void bench_part(void *context, uint32_t part, uint32_t parts);
double bench_parallel(bench_part *part, void *context, uint32_t threads);

#endif
