/* SPDX-License-Identifier: Apache-2.0 */
/* lanes_avx2.h - codes to values, eight floats at a time. See lanes_plain.h. */
#ifndef QP_FORMAT_LANES_AVX2_H
#define QP_FORMAT_LANES_AVX2_H

#define QP_TARGET "avx2,f16c"
#include "format/lanes_x86.h"

#define QP_ISA_NAME "avx2"
#define QP_ISA_CPU QP_CPU_AVX2
#define QP_ISA_TABLE qp_kernels_avx2

/* Eight signed bytes, at the low end. */
QP_LANES __m256 floats_of(__m128i codes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes));
}

QP_LANES void put_8(float *out, __m128i codes, __m256 scale)
{
    _mm256_storeu_ps(out, _mm256_mul_ps(scale, floats_of(codes)));
}

QP_LANES void put_16(float *out, __m128i codes, __m256 scale)
{
    put_8(out, codes, scale);
    put_8(out + 8, _mm_srli_si128(codes, 8), scale);
}

QP_LANES void lanes_put(float *out, lanes codes, float scale)
{
    __m256 all = _mm256_set1_ps(scale);
    put_16(out, _mm256_castsi256_si128(codes), all);
    put_16(out + 16, _mm256_extracti128_si256(codes, 1), all);
}

QP_LANES void lanes_put_2(float *out, lanes codes, const float scales[2])
{
    put_16(out, _mm256_castsi256_si128(codes), _mm256_set1_ps(scales[0]));
    put_16(out + 16, _mm256_extracti128_si256(codes, 1), _mm256_set1_ps(scales[1]));
}

QP_LANES void put_8_less(float *out, __m128i codes, __m256 scale, __m256 minimum)
{
    _mm256_storeu_ps(out, _mm256_sub_ps(_mm256_mul_ps(scale, floats_of(codes)), minimum));
}

QP_LANES void put_16_less(float *out, __m128i codes, float scale, float minimum)
{
    __m256 s = _mm256_set1_ps(scale), m = _mm256_set1_ps(minimum);
    put_8_less(out, codes, s, m);
    put_8_less(out + 8, _mm_srli_si128(codes, 8), s, m);
}

QP_LANES void lanes_put_2_less(float *out, lanes codes, const float scales[2],
                               const float minima[2])
{
    put_16_less(out, _mm256_castsi256_si128(codes), scales[0], minima[0]);
    put_16_less(out + 16, _mm256_extracti128_si256(codes, 1), scales[1], minima[1]);
}

QP_LANES void put_bf16(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i += 8) {
        lanes wide = _mm256_slli_epi32(_mm256_cvtepu16_epi32(load_16(words + 2 * i)), 16);
        _mm256_storeu_ps(out + i, _mm256_castsi256_ps(wide));
    }
}

QP_LANES void put_int32(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtepi32_ps(lanes_load(words + 4 * i)));
}

QP_LANES void put_e4m3(float *out, const uint8_t *codes, float scale)
{
    const __m256 shift = _mm256_set1_ps(256.0f), all = _mm256_set1_ps(scale);
    for (int i = 0; i < 32; i += 8) {
        __m128i words = _mm_slli_epi16(_mm_cvtepi8_epi16(load_8(codes + i)), 7);
        __m256 x = _mm256_cvtph_ps(_mm_and_si128(words, _mm_set1_epi16(QP_E4M3_AS_HALF)));
        _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_mul_ps(x, shift), all));
    }
}

QP_LANES void put_e2m1(float *out, const uint8_t *codes, const float values[8])
{
    __m256 table = _mm256_loadu_ps(values);
    __m128i bytes = load_8(codes);
    bytes = _mm_unpacklo_epi8(bytes, _mm_srli_epi16(bytes, 4));
    for (int i = 0; i < 16; i += 8) {
        lanes index = _mm256_cvtepu8_epi32(bytes);
        lanes sign = _mm256_and_si256(_mm256_slli_epi32(index, 28), _mm256_set1_epi32(INT32_MIN));
        __m256 x = _mm256_permutevar8x32_ps(table, index);
        _mm256_storeu_ps(out + i, _mm256_xor_ps(x, _mm256_castsi256_ps(sign)));
        bytes = _mm_srli_si128(bytes, 8);
    }
}

#endif
