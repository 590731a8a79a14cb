/* SPDX-License-Identifier: Apache-2.0 */
/* grouped_encode_avx512.c - the fast grouped encoders on AVX-512. */
#include "format/grouped_encode.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)

#    include <float.h>
#    include <immintrin.h>

#    define TARGET target("avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c")
#    define KERNEL __attribute__((TARGET)) static
#    define LANE __attribute__((TARGET, always_inline)) static inline

#    define FLOAT_LANES 16
#    define DOUBLE_LANES 8
#    define CODE_LANES 16
typedef __m512 floats;
typedef __m512d doubles;
typedef __m256 halves; /* as many binary32 as there are lanes of binary64 */

LANE floats load(const float *p)
{
    return _mm512_loadu_ps(p);
}

LANE void store(float *p, floats v)
{
    _mm512_storeu_ps(p, v);
}

LANE floats load_bits(const uint32_t *p)
{
    return _mm512_castsi512_ps(_mm512_loadu_si512(p));
}

LANE floats all_floats(float v)
{
    return _mm512_set1_ps(v);
}

LANE floats add(floats a, floats b)
{
    return _mm512_add_ps(a, b);
}

LANE floats subtract(floats a, floats b)
{
    return _mm512_sub_ps(a, b);
}

LANE floats multiply(floats a, floats b)
{
    return _mm512_mul_ps(a, b);
}

LANE floats divide(floats a, floats b)
{
    return _mm512_div_ps(a, b);
}

LANE floats larger(floats a, floats b)
{
    return _mm512_max_ps(a, b);
}

LANE floats smaller(floats a, floats b)
{
    return _mm512_min_ps(a, b);
}

LANE floats add_product(floats sum, floats a, floats b)
{
    return _mm512_fmadd_ps(a, b, sum);
}

LANE floats subtract_product(floats from, floats a, floats b)
{
    return _mm512_fnmadd_ps(a, b, from);
}

LANE halves load_halves(const float *p)
{
    return _mm256_loadu_ps(p);
}

LANE halves all_halves(float v)
{
    return _mm256_set1_ps(v);
}

LANE halves round_halves(float value, halves inverses, halves least, halves most)
{
    halves shift = _mm256_set1_ps(QP_ROUND_SHIFT);
    halves normalized = _mm256_mul_ps(_mm256_set1_ps(value), inverses);
    halves clamped = _mm256_min_ps(_mm256_max_ps(normalized, least), most);
    return _mm256_sub_ps(_mm256_add_ps(clamped, shift), shift);
}

LANE doubles widen(halves v)
{
    return _mm512_cvtps_pd(v);
}

LANE doubles all_doubles(double v)
{
    return _mm512_set1_pd(v);
}

LANE doubles add_doubles(doubles a, doubles b)
{
    return _mm512_add_pd(a, b);
}

LANE doubles subtract_doubles(doubles a, doubles b)
{
    return _mm512_sub_pd(a, b);
}

LANE doubles multiply_doubles(doubles a, doubles b)
{
    return _mm512_mul_pd(a, b);
}

LANE void store_doubles(double *p, doubles v)
{
    _mm512_storeu_pd(p, v);
}

LANE float smallest_lane(floats v)
{
    return _mm512_reduce_min_ps(v);
}

LANE uint32_t lanes_at_most(const float *numbers, float limit)
{
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(numbers), _mm512_set1_ps(limit), _CMP_LE_OQ);
}

LANE doubles load_codes(const uint8_t *codes)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)codes);
    return _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(bytes));
}

/* The largest magnitude of a group, as bits; not a number's bits are larger than any number's. */
LANE uint32_t largest_bits(const float *values, size_t count)
{
    const __m512i mask = _mm512_set1_epi32(0x7FFFFFFF);
    __m512i largest = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i += 16)
        largest = _mm512_max_epi32(largest, _mm512_and_si512(_mm512_loadu_si512(values + i), mask));
    return (uint32_t)_mm512_reduce_max_epi32(largest);
}

/* The first lane of a magnitude that is there. */
LANE size_t first_of_magnitude(const float *values, size_t count, uint32_t magnitude)
{
    const __m512i mask = _mm512_set1_epi32(0x7FFFFFFF);
    const __m512i wanted = _mm512_set1_epi32((int)magnitude);
    for (size_t i = 0; i < count; i += 16) {
        __m512i bits = _mm512_and_si512(_mm512_loadu_si512(values + i), mask);
        unsigned found = _mm512_cmpeq_epi32_mask(bits, wanted);
        if (found != 0)
            return i + (size_t)__builtin_ctz(found);
    }
    return 0;
}

/* binary64 to binary32 to binary16; what vanishes becomes 0x0001 with its sign. */
LANE void narrow_lanes(const double *raw, uint16_t *words)
{
    __m512d wide = _mm512_loadu_pd(raw);
    __m128i word =
        _mm256_cvtps_ph(_mm512_cvtpd_ps(wide), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __mmask8 some = _mm512_cmp_pd_mask(wide, _mm512_setzero_pd(), _CMP_NEQ_UQ);
    __mmask8 gone = _mm_testn_epi16_mask(word, _mm_set1_epi16(0x7FFF));
    word = _mm_or_si128(word, _mm_maskz_set1_epi16(some & gone, 1));
    _mm_storeu_si128((__m128i *)(void *)words, word);
}

LANE floats load_words(const uint16_t *words)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)words));
}

LANE uint32_t store_scales(floats magnitudes, floats raw, uint16_t *words, float *inverses)
{
    __mmask16 some =
        _mm512_test_epi32_mask(_mm512_castps_si512(magnitudes), _mm512_castps_si512(magnitudes));
    __m256i rounded = _mm512_cvtps_ph(raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256i word = _mm256_max_epu16(rounded, _mm256_maskz_set1_epi16(some, 1));
    floats inverse = _mm512_maskz_div_ps(some, _mm512_set1_ps(1.0f), _mm512_cvtph_ps(word));

    _mm256_storeu_si256((__m256i *)(void *)words, word);
    _mm512_storeu_ps(inverses, inverse);
    return _mm256_cmpge_epu16_mask(word, _mm256_set1_epi16(0x7C00));
}

LANE void store_codes(const float *values, float inverse, const qp_format *format, uint8_t *codes)
{
    __m512 normalized = _mm512_mul_ps(_mm512_loadu_ps(values), _mm512_set1_ps(inverse));
    __m128i code = _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(normalized));
    code = _mm_max_epi8(code, _mm_set1_epi8((char)format->code_min));
    code = _mm_min_epi8(code, _mm_set1_epi8((char)format->code_max));
    _mm_storeu_si128((__m128i *)(void *)codes, code);
}

#    include "format/grouped_encode.inc"

const qp_grouped_kernel qp_grouped_avx512 = {
    .name = "avx512",
    .cpu = QP_CPU_AVX512,
    .absmax = absmax,
    .extreme = extreme,
    .multiply = multiply_codes,
    .narrow = narrow,
    .widen = widen_words,
    .estimate = estimate,
    .pick = pick,
    .error = error,
};

#endif
