/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - memory before an unmapped page. */
#if !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "support/guard.h"

#include "support/test.h"

#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#    include <sys/mman.h>
#    include <unistd.h>
#    define HAS_MMAP 1
#else
#    define HAS_MMAP 0
#endif

enum { CANARY_BYTES = 64, CANARY = 0xA5 };

static void *new_block(size_t size, size_t page)
{
#if HAS_MMAP
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    assert_int_equal(mprotect((char *)block + size - page, page, PROT_NONE), 0);
#else
    void *block = malloc(size);
    assert_non_null(block);
    memset((char *)block + size - page, CANARY, page);
#endif
    return block;
}

static size_t page_size(void)
{
#if HAS_MMAP
    return (size_t)sysconf(_SC_PAGESIZE);
#else
    return CANARY_BYTES;
#endif
}

test_guarded test_guard(size_t size)
{
    size_t page = page_size();
    size_t pages = (size + CANARY_BYTES + page - 1) / page;
    test_guarded guarded = {.size = size, .block_size = (pages + 1) * page};

    guarded.block = new_block(guarded.block_size, page);
    guarded.data = (char *)guarded.block + pages * page - size;
    memset((char *)guarded.data - CANARY_BYTES, CANARY, CANARY_BYTES);
    return guarded;
}

static void assert_canaries(const unsigned char *bytes)
{
    for (size_t i = 0; i < CANARY_BYTES; i++)
        assert_int_equal(bytes[i], CANARY);
}

void test_unguard(test_guarded *guarded)
{
    assert_canaries((const unsigned char *)guarded->data - CANARY_BYTES);
#if HAS_MMAP
    munmap(guarded->block, guarded->block_size);
#else
    assert_canaries((const unsigned char *)guarded->data + guarded->size);
    free(guarded->block);
#endif
}
