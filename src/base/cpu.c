/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - what this processor and its system can run. */
#include "base/base.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)

#    include <cpuid.h>
#    include <stdatomic.h>

/* The state that the system keeps over a task switch (XCR0): bit 1 SSE, 2 AVX, 5 to 7 AVX-512. */
static uint32_t saved_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static uint32_t detect(void)
{
    const uint32_t osxsave = 1u << 27, f16c = 1u << 29;                /* leaf 1, ecx */
    const uint32_t avx2 = 1u << 5;                                     /* leaf 7, ebx */
    const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* F, DQ, BW, VL */
    unsigned a, b, c, d;

    if (__get_cpuid_max(0, NULL) < 7)
        return 0;
    __cpuid(1, a, b, c, d);
    if ((c & osxsave) == 0 || (c & f16c) == 0 || (saved_state() & 0x06) != 0x06)
        return 0;
    __cpuid_count(7, 0, a, b, c, d);
    if ((b & avx2) == 0)
        return 0;
    bool wide = (b & avx512) == avx512 && (saved_state() & 0xE6) == 0xE6;
    return QP_CPU_AVX2 | (wide ? (uint32_t)QP_CPU_AVX512 : 0);
}

/* CPUID costs a trap in a virtual machine, so its answer is kept: 0 not asked, else the features
 * and bit 31. Any thread that asks writes the same value, so no order is needed. It is a fact of
 * the machine, not state of the library. */
uint32_t qp_cpu_features(void)
{
    static _Atomic uint32_t known;
    uint32_t answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        answer = detect() | 1u << 31;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer & ~(1u << 31);
}

#elif defined(__aarch64__)

uint32_t qp_cpu_features(void)
{
    return QP_CPU_NEON;
}

#else

uint32_t qp_cpu_features(void)
{
    return 0;
}

#endif
