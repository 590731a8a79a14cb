/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_allocator.h - an allocator that counts its blocks and bytes, checks that sizes are given
 * back as they were taken, and fails from a chosen request on.
 *
 *     for (size_t k = 1;; k++) {
 *         failing_allocator memory = failing_allocator_make(k);
 *         qp_allocator allocator = failing_allocator_use(&memory);
 *         status = function_under_test(&allocator, ...);
 *         ... free what it made ...
 *         assert_int_equal(memory.blocks, 0);
 *         if (!memory.has_failed)
 *             break;
 *         assert_int_equal(status, QP_NO_MEMORY);
 *     }
 */
#ifndef QP_TEST_FAILING_ALLOCATOR_H
#define QP_TEST_FAILING_ALLOCATOR_H

#include "quipu/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct failing_allocator {
    size_t requests; /* allocations and enlargements so far */
    size_t fail_at;  /* the request, from 1, that fails, and all after it; 0 for none */
    bool has_failed;
    size_t blocks; /* not freed */
    size_t bytes;
    size_t high_water; /* the most bytes at one time */
    bool has_fault;    /* an old size was given wrongly: a fault of the code under test */
} failing_allocator;

/* Each block carries its size before it. */
#define FAILING_ALLOCATOR_HEAD ((size_t)16)

static inline void *failing_allocator_reallocate(void *context, void *block, size_t old_size,
                                                 size_t new_size)
{
    failing_allocator *memory = context;
    uint8_t *start = block != NULL ? (uint8_t *)block - FAILING_ALLOCATOR_HEAD : NULL;

    if ((start != NULL ? *(size_t *)(void *)start : 0) != old_size)
        memory->has_fault = true;
    if (new_size == 0) {
        memory->blocks -= start != NULL;
        memory->bytes -= old_size;
        free(start);
        return NULL;
    }
    if (new_size > old_size && ++memory->requests >= memory->fail_at && memory->fail_at > 0) {
        memory->has_failed = true;
        return NULL;
    }
    if (new_size > SIZE_MAX - FAILING_ALLOCATOR_HEAD)
        return NULL;
    uint8_t *moved = realloc(start, new_size + FAILING_ALLOCATOR_HEAD);
    if (moved == NULL)
        return NULL;
    *(size_t *)(void *)moved = new_size;
    memory->blocks += start == NULL;
    memory->bytes = memory->bytes - old_size + new_size;
    if (memory->bytes > memory->high_water)
        memory->high_water = memory->bytes;
    return moved + FAILING_ALLOCATOR_HEAD;
}

static inline failing_allocator failing_allocator_make(size_t fail_at)
{
    failing_allocator memory = {0};
    memory.fail_at = fail_at;
    return memory;
}

static inline qp_allocator failing_allocator_use(failing_allocator *memory)
{
    qp_allocator allocator = {failing_allocator_reallocate, NULL};
    allocator.context = memory;
    return allocator;
}

#endif
