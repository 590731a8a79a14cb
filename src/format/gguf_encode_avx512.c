/* SPDX-License-Identifier: Apache-2.0 */
/* gguf_encode_avx512.c - sixteen blocks at a time. See gguf_encode_plain.c. */
#include "format/gguf_encode.h"

#if defined(QP_GGUF_ENCODE_X86)
#    include "number/minifloat.h"

#    include <immintrin.h>
#    include <math.h>

#    define QP_REALS __attribute__((always_inline)) static inline
#    define QP_WIDTH 16
#    define QP_SET qp_gguf_encoders_avx512
#    define QP_SET_NAME "avx512"
#    define QP_SET_CPU (QP_CPU_AVX2 | QP_CPU_AVX512)

#    if defined(__clang__)
#        pragma clang attribute push(                                                              \
            __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl"))),               \
            apply_to = function)
#    else
#        pragma GCC push_options
#        pragma GCC target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#    endif

typedef __m512 reals;
typedef __mmask16 reals_mask;

QP_REALS reals reals_of(float value)
{
    return _mm512_set1_ps(value);
}

QP_REALS reals reals_min(reals a, reals b)
{
    return _mm512_min_ps(a, b);
}

QP_REALS reals reals_max(reals a, reals b)
{
    return _mm512_max_ps(a, b);
}

QP_REALS reals reals_abs(reals a)
{
    return _mm512_abs_ps(a);
}

QP_REALS reals_mask reals_less(reals a, reals b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

QP_REALS reals reals_if(reals_mask mask, reals a, reals b)
{
    return _mm512_mask_blend_ps(mask, b, a);
}

QP_REALS reals_mask reals_and(reals_mask a, reals_mask b)
{
    return (reals_mask)(a & b);
}

QP_REALS bool reals_any(reals_mask mask)
{
    return mask != 0;
}

QP_REALS reals reals_half(reals a)
{
    /* masked, because without a mask gcc's own header warns where it does not optimise */
    enum { NEAREST_EVEN = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    return _mm512_cvtph_ps(_mm512_maskz_cvtps_ph((__mmask16)0xFFFF, a, NEAREST_EVEN));
}

QP_REALS void reals_store(float *to, reals a)
{
    _mm512_storeu_ps(to, a);
}

QP_REALS void reals_store_bytes(uint8_t *to, reals a)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(a)));
}

/* Entry `index` of sixteen. */
QP_REALS reals reals_lookup(const float table[16], reals index)
{
    return _mm512_permutexvar_ps(_mm512_cvtps_epi32(index), _mm512_loadu_ps(table));
}

/* Four values of each of four blocks, four blocks apart. */
QP_REALS reals load_quarters(const float *const *blocks, size_t at)
{
    reals a = _mm512_castps128_ps512(_mm_loadu_ps(blocks[0] + at));
    a = _mm512_insertf32x4(a, _mm_loadu_ps(blocks[4] + at), 1);
    a = _mm512_insertf32x4(a, _mm_loadu_ps(blocks[8] + at), 2);
    return _mm512_insertf32x4(a, _mm_loadu_ps(blocks[12] + at), 3);
}

QP_REALS void reals_gather(const float *const *blocks, size_t count, reals *values)
{
    for (size_t i = 0; i < count; i += 4) {
        reals a = load_quarters(blocks, i), b = load_quarters(blocks + 1, i);
        reals c = load_quarters(blocks + 2, i), d = load_quarters(blocks + 3, i);
        reals ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
        values[i] = _mm512_shuffle_ps(ab, cd, 0x44);
        values[i + 1] = _mm512_shuffle_ps(ab, cd, 0xEE);
        ab = _mm512_unpackhi_ps(a, b);
        cd = _mm512_unpackhi_ps(c, d);
        values[i + 2] = _mm512_shuffle_ps(ab, cd, 0x44);
        values[i + 3] = _mm512_shuffle_ps(ab, cd, 0xEE);
    }
}

#    include "format/gguf_encode.inc"

#    if defined(__clang__)
#        pragma clang attribute pop
#    else
#        pragma GCC pop_options
#    endif
#endif
