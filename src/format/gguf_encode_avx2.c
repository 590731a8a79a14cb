/* SPDX-License-Identifier: Apache-2.0 */
/* gguf_encode_avx2.c - eight blocks at a time. See gguf_encode_plain.c. */
#include "format/gguf_encode.h"

#if defined(QP_GGUF_ENCODE_X86)
#    include "number/minifloat.h"

#    include <immintrin.h>
#    include <math.h>

#    define QP_REALS __attribute__((always_inline)) static inline
#    define QP_WIDTH 8
#    define QP_SET qp_gguf_encoders_avx2
#    define QP_SET_NAME "avx2"
#    define QP_SET_CPU QP_CPU_AVX2

#    if defined(__clang__)
#        pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#    else
#        pragma GCC push_options
#        pragma GCC target("avx2,f16c")
#    endif

typedef __m256 reals;
typedef __m256 reals_mask;

QP_REALS reals reals_of(float value)
{
    return _mm256_set1_ps(value);
}

QP_REALS reals reals_min(reals a, reals b)
{
    return _mm256_min_ps(a, b);
}

QP_REALS reals reals_max(reals a, reals b)
{
    return _mm256_max_ps(a, b);
}

QP_REALS reals reals_abs(reals a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

QP_REALS reals_mask reals_less(reals a, reals b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

QP_REALS reals reals_if(reals_mask mask, reals a, reals b)
{
    return _mm256_blendv_ps(b, a, mask);
}

QP_REALS reals_mask reals_and(reals_mask a, reals_mask b)
{
    return _mm256_and_ps(a, b);
}

QP_REALS bool reals_any(reals_mask mask)
{
    return _mm256_movemask_ps(mask) != 0;
}

QP_REALS reals reals_half(reals a)
{
    return _mm256_cvtph_ps(_mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

QP_REALS void reals_store(float *to, reals a)
{
    _mm256_storeu_ps(to, a);
}

QP_REALS void reals_store_bytes(uint8_t *to, reals a)
{
    __m256i low = _mm256_and_si256(_mm256_cvtps_epi32(a), _mm256_set1_epi32(255));
    __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm_storel_epi64((__m128i *)(void *)to, _mm_packus_epi16(words, words));
}

/* Entry `index` of sixteen: the permutation takes the low three bits of an index. */
QP_REALS reals reals_lookup(const float table[16], reals index)
{
    __m256i integers = _mm256_cvtps_epi32(index);
    reals low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), integers);
    reals high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), integers);
    return reals_if(reals_less(index, reals_of(8.0f)), low, high);
}

/* Four values of each of two blocks, four blocks apart. */
QP_REALS reals load_halves(const float *const *blocks, size_t at)
{
    reals a = _mm256_castps128_ps256(_mm_loadu_ps(blocks[0] + at));
    return _mm256_insertf128_ps(a, _mm_loadu_ps(blocks[4] + at), 1);
}

QP_REALS void reals_gather(const float *const *blocks, size_t count, reals *values)
{
    for (size_t i = 0; i < count; i += 4) {
        reals a = load_halves(blocks, i), b = load_halves(blocks + 1, i);
        reals c = load_halves(blocks + 2, i), d = load_halves(blocks + 3, i);
        reals ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
        values[i] = _mm256_shuffle_ps(ab, cd, 0x44);
        values[i + 1] = _mm256_shuffle_ps(ab, cd, 0xEE);
        ab = _mm256_unpackhi_ps(a, b);
        cd = _mm256_unpackhi_ps(c, d);
        values[i + 2] = _mm256_shuffle_ps(ab, cd, 0x44);
        values[i + 3] = _mm256_shuffle_ps(ab, cd, 0xEE);
    }
}

#    include "format/gguf_encode.inc"

#    if defined(__clang__)
#        pragma clang attribute pop
#    else
#        pragma GCC pop_options
#    endif
#endif
