/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float_mode.h - the floating-point mode in which weights are computed with: round to nearest even,
 * subnormals kept, no trap.
 *
 * A program may have set another rounding mode, or flush to zero, in its thread. Each public
 * function that computes with floats enters the mode first and leaves it at the end. The build
 * turns contraction off; this file refuses a target that keeps extra precision.
 */
#ifndef QP_NUMBER_FLOAT_MODE_H
#define QP_NUMBER_FLOAT_MODE_H

#include <float.h>
#include <stdint.h>

#if FLT_EVAL_METHOD != 0
#    error                                                                                         \
        "float expressions must be binary32 and double ones binary64 (on i386: -msse2 -mfpmath=sse)"
#endif

#if defined(__SSE2__)
#    include <xmmintrin.h>

typedef uint32_t qp_float_mode;

static inline qp_float_mode qp_float_mode_enter(void)
{
    uint32_t before = _mm_getcsr();
    if ((before & ~0x3Fu) != 0x1F80u)
        _mm_setcsr(0x1F80u);
    return before;
}

static inline void qp_float_mode_leave(qp_float_mode before)
{
    if ((before & ~0x3Fu) != 0x1F80u)
        _mm_setcsr(before);
}

#elif defined(__aarch64__)

typedef uint64_t qp_float_mode;

static inline qp_float_mode qp_float_mode_enter(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    if (before != 0)
        __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)0) : "memory");
    return before;
}

static inline void qp_float_mode_leave(qp_float_mode before)
{
    if (before != 0)
        __asm__ volatile("msr fpcr, %0" ::"r"(before) : "memory");
}

#elif defined(__wasm__)

typedef int qp_float_mode; /* there is one mode */

static inline qp_float_mode qp_float_mode_enter(void)
{
    return 0;
}

static inline void qp_float_mode_leave(qp_float_mode before)
{
    (void)before;
}

#else
#    include <fenv.h>

typedef fenv_t qp_float_mode;

static inline qp_float_mode qp_float_mode_enter(void)
{
    fenv_t before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void qp_float_mode_leave(qp_float_mode before)
{
    fesetenv(&before);
}

#endif

#endif
