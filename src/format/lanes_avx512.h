/* SPDX-License-Identifier: Apache-2.0 */
/* lanes_avx512.h - codes to values, sixteen floats at a time. See lanes_plain.h. */
#ifndef QP_FORMAT_LANES_AVX512_H
#define QP_FORMAT_LANES_AVX512_H

#define QP_TARGET "avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl"
#include "format/lanes_x86.h"

#define QP_ISA_NAME "avx512"
#define QP_ISA_CPU (QP_CPU_AVX2 | QP_CPU_AVX512)
#define QP_ISA_TABLE qp_kernels_avx512

/* Sixteen signed bytes. */
QP_LANES __m512 floats_of(__m128i codes)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(codes));
}

QP_LANES void put_16(float *out, __m128i codes, float scale)
{
    _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_set1_ps(scale), floats_of(codes)));
}

QP_LANES void lanes_put(float *out, lanes codes, float scale)
{
    put_16(out, _mm256_castsi256_si128(codes), scale);
    put_16(out + 16, _mm256_extracti128_si256(codes, 1), scale);
}

QP_LANES void lanes_put_2(float *out, lanes codes, const float scales[2])
{
    put_16(out, _mm256_castsi256_si128(codes), scales[0]);
    put_16(out + 16, _mm256_extracti128_si256(codes, 1), scales[1]);
}

QP_LANES void put_16_less(float *out, __m128i codes, float scale, float minimum)
{
    __m512 product = _mm512_mul_ps(_mm512_set1_ps(scale), floats_of(codes));
    _mm512_storeu_ps(out, _mm512_sub_ps(product, _mm512_set1_ps(minimum)));
}

QP_LANES void lanes_put_2_less(float *out, lanes codes, const float scales[2],
                               const float minima[2])
{
    put_16_less(out, _mm256_castsi256_si128(codes), scales[0], minima[0]);
    put_16_less(out + 16, _mm256_extracti128_si256(codes, 1), scales[1], minima[1]);
}

QP_LANES void put_bf16(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i += 16) {
        __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(lanes_load(words + 2 * i)), 16);
        _mm512_storeu_ps(out + i, _mm512_castsi512_ps(wide));
    }
}

QP_LANES void put_int32(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i += 16) {
        __m512i x = _mm512_loadu_si512(words + 4 * i);
        _mm512_storeu_ps(out + i, _mm512_cvtepi32_ps(x));
    }
}

QP_LANES void put_e4m3(float *out, const uint8_t *codes, float scale)
{
    const __m512 shift = _mm512_set1_ps(256.0f), all = _mm512_set1_ps(scale);
    for (int i = 0; i < 32; i += 16) {
        __m256i words = _mm256_slli_epi16(_mm256_cvtepi8_epi16(load_16(codes + i)), 7);
        __m512 x = _mm512_cvtph_ps(_mm256_and_si256(words, _mm256_set1_epi16(QP_E4M3_AS_HALF)));
        _mm512_storeu_ps(out + i, _mm512_mul_ps(_mm512_mul_ps(x, shift), all));
    }
}

QP_LANES void put_e2m1(float *out, const uint8_t *codes, const float values[8])
{
    __m256 positive = _mm256_loadu_ps(values);
    __m256 negative = _mm256_xor_ps(positive, _mm256_set1_ps(-0.0f));
    __m512 table = _mm512_insertf32x8(_mm512_castps256_ps512(positive), negative, 1);
    __m128i bytes = load_8(codes);
    bytes = _mm_unpacklo_epi8(bytes, _mm_srli_epi16(bytes, 4));
    _mm512_storeu_ps(out, _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(bytes), table));
}

#endif
