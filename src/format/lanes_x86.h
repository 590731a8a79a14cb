/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_x86.h - 32 codes in one register of AVX2, for both widths of floats: the file that includes
 * it has defined QP_TARGET, the instruction sets that its functions may use.
 *
 * Every lanes_*.h has the same functions; lanes_plain.h says them in plain C.
 */
#ifndef QP_FORMAT_LANES_X86_H
#define QP_FORMAT_LANES_X86_H

#include "format/kernels.h"
#include "number/minifloat.h"

#include <immintrin.h>
#include <string.h>

#define QP_LANES __attribute__((always_inline, target(QP_TARGET))) static inline
#define QP_RUN __attribute__((target(QP_TARGET))) static

typedef __m256i lanes;

QP_LANES float half(const uint8_t *p)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(qp_load_u16(p))));
}

QP_LANES __m128i load_16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

QP_LANES __m128i load_8(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

QP_LANES lanes lanes_load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

QP_LANES lanes lanes_fill(int byte)
{
    return _mm256_set1_epi8((char)byte);
}

QP_LANES lanes lanes_and(lanes a, lanes b)
{
    return _mm256_and_si256(a, b);
}

QP_LANES lanes lanes_or(lanes a, lanes b)
{
    return _mm256_or_si256(a, b);
}

QP_LANES lanes lanes_xor(lanes a, lanes b)
{
    return _mm256_xor_si256(a, b);
}

QP_LANES lanes lanes_add(lanes a, lanes b)
{
    return _mm256_add_epi8(a, b);
}

QP_LANES lanes lanes_subtract(lanes a, lanes b)
{
    return _mm256_sub_epi8(a, b);
}

QP_LANES lanes lanes_field(lanes a, int from, int to, int bits)
{
    lanes mask = lanes_fill(((1 << bits) - 1) << to);
    if (from >= to)
        return _mm256_and_si256(_mm256_srl_epi16(a, _mm_cvtsi32_si128(from - to)), mask);
    return _mm256_and_si256(_mm256_sll_epi16(a, _mm_cvtsi32_si128(to - from)), mask);
}

QP_LANES lanes lanes_halves(const uint8_t *p)
{
    __m128i a = load_16(p);
    lanes both = _mm256_inserti128_si256(_mm256_castsi128_si256(a), _mm_srli_epi16(a, 4), 1);
    return _mm256_and_si256(both, lanes_fill(15));
}

QP_LANES lanes lanes_pairs(const uint8_t *p)
{
    lanes a = _mm256_cvtepu8_epi16(load_16(p));
    return _mm256_and_si256(_mm256_or_si256(a, _mm256_slli_epi16(a, 4)), lanes_fill(15));
}

QP_LANES lanes lanes_quarters(const uint8_t *p)
{
    lanes a = _mm256_cvtepu8_epi32(load_8(p));
    a = _mm256_or_si256(a, _mm256_slli_epi32(a, 12));
    a = _mm256_or_si256(a, _mm256_slli_epi32(a, 6));
    return _mm256_and_si256(a, lanes_fill(3));
}

QP_LANES lanes lanes_mask(uint32_t bits)
{
    const lanes spread =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const lanes bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
    int32_t word;
    memcpy(&word, &bits, sizeof word);
    lanes a = _mm256_shuffle_epi8(_mm256_set1_epi32(word), spread);
    return _mm256_cmpeq_epi8(_mm256_and_si256(a, bit), bit);
}

QP_LANES lanes lanes_lookup(const int8_t table[16], lanes codes)
{
    __m128i half = _mm_loadu_si128((const __m128i *)(const void *)table);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(half), codes);
}

/* Four entries of eight bytes. */
QP_LANES lanes lanes_join_4(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d)
{
    __m128i low = _mm_unpacklo_epi64(load_8(a), load_8(b));
    __m128i high = _mm_unpacklo_epi64(load_8(c), load_8(d));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* Two entries of four bytes. */
QP_LANES __m128i join_2(const uint8_t *a, const uint8_t *b)
{
    int32_t words[2];
    memcpy(words, a, sizeof *words);
    memcpy(words + 1, b, sizeof *words);
    return _mm_insert_epi32(_mm_cvtsi32_si128(words[0]), words[1], 1);
}

/* Eight entries of four bytes. */
QP_LANES lanes lanes_join_8(const uint8_t *const e[8])
{
    __m128i low = _mm_unpacklo_epi64(join_2(e[0], e[1]), join_2(e[2], e[3]));
    __m128i high = _mm_unpacklo_epi64(join_2(e[4], e[5]), join_2(e[6], e[7]));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

#endif
