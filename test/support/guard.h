/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - memory whose last byte stands before an unmapped page, so that reading or writing one
 * byte beyond it is a crash, with canaries before it. Where there is no mmap, canaries on both
 * sides.
 */
#ifndef QP_TEST_SUPPORT_GUARD_H
#define QP_TEST_SUPPORT_GUARD_H

#include <stddef.h>

typedef struct test_guarded {
    void *data; /* aligned to 8 where its size is a multiple of 8, and for its elements always */
    void *block;
    size_t size, block_size;
} test_guarded;

test_guarded test_guard(size_t size);
/* Asserts that the canaries stand, and gives the memory back. */
void test_unguard(test_guarded *guarded);

#endif
