/* SPDX-License-Identifier: Apache-2.0 */
/* grouped_encode_avx2.c - the fast grouped encoders on AVX2 with F16C. */
#include "format/grouped_encode.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)

#    include <float.h>
#    include <immintrin.h>

#    define TARGET target("avx2,f16c")
#    define KERNEL __attribute__((TARGET)) static
#    define LANE __attribute__((TARGET, always_inline)) static inline

#    define FLOAT_LANES 8
#    define DOUBLE_LANES 4
#    define CODE_LANES 32
typedef __m256 floats;
typedef __m256d doubles;
typedef __m128 halves; /* as many binary32 as there are lanes of binary64 */

LANE floats load(const float *p)
{
    return _mm256_loadu_ps(p);
}

LANE void store(float *p, floats v)
{
    _mm256_storeu_ps(p, v);
}

LANE floats load_bits(const uint32_t *p)
{
    return _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

LANE floats all_floats(float v)
{
    return _mm256_set1_ps(v);
}

LANE floats add(floats a, floats b)
{
    return _mm256_add_ps(a, b);
}

LANE floats subtract(floats a, floats b)
{
    return _mm256_sub_ps(a, b);
}

LANE floats multiply(floats a, floats b)
{
    return _mm256_mul_ps(a, b);
}

LANE floats divide(floats a, floats b)
{
    return _mm256_div_ps(a, b);
}

LANE floats larger(floats a, floats b)
{
    return _mm256_max_ps(a, b);
}

LANE floats smaller(floats a, floats b)
{
    return _mm256_min_ps(a, b);
}

LANE floats add_product(floats sum, floats a, floats b)
{
    return _mm256_add_ps(sum, _mm256_mul_ps(a, b));
}

LANE floats subtract_product(floats from, floats a, floats b)
{
    return _mm256_sub_ps(from, _mm256_mul_ps(a, b));
}

LANE halves load_halves(const float *p)
{
    return _mm_loadu_ps(p);
}

LANE halves all_halves(float v)
{
    return _mm_set1_ps(v);
}

LANE halves round_halves(float value, halves inverses, halves least, halves most)
{
    halves shift = _mm_set1_ps(QP_ROUND_SHIFT);
    halves normalized = _mm_mul_ps(_mm_set1_ps(value), inverses);
    halves clamped = _mm_min_ps(_mm_max_ps(normalized, least), most);
    return _mm_sub_ps(_mm_add_ps(clamped, shift), shift);
}

LANE doubles widen(halves v)
{
    return _mm256_cvtps_pd(v);
}

LANE doubles all_doubles(double v)
{
    return _mm256_set1_pd(v);
}

LANE doubles add_doubles(doubles a, doubles b)
{
    return _mm256_add_pd(a, b);
}

LANE doubles subtract_doubles(doubles a, doubles b)
{
    return _mm256_sub_pd(a, b);
}

LANE doubles multiply_doubles(doubles a, doubles b)
{
    return _mm256_mul_pd(a, b);
}

LANE void store_doubles(double *p, doubles v)
{
    _mm256_storeu_pd(p, v);
}

LANE float smallest_lane(floats v)
{
    __m128 four = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)));
}

LANE uint32_t lanes_at_most(const float *numbers, float limit)
{
    __m256 found = _mm256_cmp_ps(_mm256_loadu_ps(numbers), _mm256_set1_ps(limit), _CMP_LE_OQ);
    return (uint32_t)_mm256_movemask_ps(found);
}

LANE doubles load_codes(const uint8_t *codes)
{
    int32_t four;
    memcpy(&four, codes, sizeof four);
    return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
}

/* The largest magnitude of a group, as bits; not a number's bits are larger than any number's. */
LANE uint32_t largest_bits(const float *values, size_t count)
{
    const __m256i mask = _mm256_set1_epi32(0x7FFFFFFF);
    __m256i largest = _mm256_setzero_si256();
    for (size_t i = 0; i < count; i += 8) {
        __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(values + i));
        largest = _mm256_max_epi32(largest, _mm256_and_si256(bits, mask));
    }
    __m128i four =
        _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
}

/* The first lane of a magnitude that is there. */
LANE size_t first_of_magnitude(const float *values, size_t count, uint32_t magnitude)
{
    const __m256i mask = _mm256_set1_epi32(0x7FFFFFFF);
    const __m256i wanted = _mm256_set1_epi32((int)magnitude);
    for (size_t i = 0; i < count; i += 8) {
        __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(values + i));
        __m256i equal = _mm256_cmpeq_epi32(_mm256_and_si256(bits, mask), wanted);
        int found = _mm256_movemask_ps(_mm256_castsi256_ps(equal));
        if (found != 0)
            return i + (size_t)__builtin_ctz((unsigned)found);
    }
    return 0;
}

/* binary64 to binary32 to binary16; what vanishes becomes 0x0001 with its sign. */
LANE void narrow_lanes(const double *raw, uint16_t *words)
{
    __m256d wide = _mm256_loadu_pd(raw);
    __m128 narrowed = _mm256_cvtpd_ps(wide);
    __m128i word = _mm_cvtps_ph(narrowed, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d some = _mm256_cmp_pd(wide, _mm256_setzero_pd(), _CMP_NEQ_UQ);
    /* the low halves of four 64-bit masks, as 16 bits each */
    __m256i low = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(some),
                                              _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    __m128i some16 = _mm_packs_epi32(_mm256_castsi256_si128(low), _mm256_castsi256_si128(low));
    __m128i gone =
        _mm_cmpeq_epi16(_mm_and_si128(word, _mm_set1_epi16(0x7FFF)), _mm_setzero_si128());
    word = _mm_or_si128(word, _mm_srli_epi16(_mm_and_si128(gone, some16), 15));
    _mm_storel_epi64((__m128i *)(void *)words, word);
}

LANE floats load_words(const uint16_t *words)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)words));
}

LANE uint32_t store_scales(floats magnitudes, floats raw, uint16_t *words, float *inverses)
{
    __m256i some = _mm256_cmpgt_epi32(_mm256_castps_si256(magnitudes), _mm256_setzero_si256());
    __m128i some16 =
        _mm_packs_epi32(_mm256_castsi256_si128(some), _mm256_extracti128_si256(some, 1));
    __m128i rounded = _mm256_cvtps_ph(raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m128i word = _mm_max_epu16(rounded, _mm_srli_epi16(some16, 15));
    floats inverse = _mm256_div_ps(_mm256_set1_ps(1.0f), _mm256_cvtph_ps(word));

    _mm_storeu_si128((__m128i *)(void *)words, word);
    _mm256_storeu_ps(inverses, _mm256_and_ps(inverse, _mm256_castsi256_ps(some)));
    __m128i refused = _mm_cmpgt_epi16(word, _mm_set1_epi16(0x7BFF));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(refused, _mm_setzero_si128()));
}

LANE __m256i round_eight(const float *values, __m256 inverse)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(values), inverse));
}

LANE void store_codes(const float *values, float inverse, const qp_format *format, uint8_t *codes)
{
    __m256 factor = _mm256_set1_ps(inverse);
    __m256i low = _mm256_packs_epi32(round_eight(values, factor), round_eight(values + 8, factor));
    __m256i high =
        _mm256_packs_epi32(round_eight(values + 16, factor), round_eight(values + 24, factor));
    /* packing works in each half: put the eight runs of four back in order */
    __m256i code = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high),
                                               _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    code = _mm256_max_epi8(code, _mm256_set1_epi8((char)format->code_min));
    code = _mm256_min_epi8(code, _mm256_set1_epi8((char)format->code_max));
    _mm256_storeu_si256((__m256i *)(void *)codes, code);
}

#    include "format/grouped_encode.inc"

const qp_grouped_kernel qp_grouped_avx2 = {
    .name = "avx2",
    .cpu = QP_CPU_AVX2,
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
