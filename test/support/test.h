/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - what every test of the library core includes: cmocka, and random numbers from a seed. */
#ifndef QP_TEST_SUPPORT_TEST_H
#define QP_TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEST_COUNT(array) (sizeof(array) / sizeof *(array))

/* SplitMix64: every seed gives a sequence of its own, the same on every machine. */
static inline uint64_t test_random(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* A value of 0 .. limit - 1. */
static inline uint32_t test_below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)(test_random(seed) % limit);
}

/* A value of [lo, hi]. */
static inline int64_t test_between(uint64_t *seed, int64_t lo, int64_t hi)
{
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0 for all of i64 */
    uint64_t offset = span == 0 ? test_random(seed) : test_random(seed) % span;
    uint64_t bits = (uint64_t)lo + offset;
    return bits <= INT64_MAX ? (int64_t)bits
                             : (int64_t)(bits - UINT64_C(0x8000000000000000)) + INT64_MIN;
}

#endif
