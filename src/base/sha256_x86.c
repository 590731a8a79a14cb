/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256_x86.c - SHA-256 blocks by the SHA extensions of x86. Each sha256rnds2 does two rounds of
 * FIPS 180-4, section 6.2.2; the state is held as the two words ABEF and CDGH that it works on.
 */
#include "base/sha256.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)

#    include <cpuid.h>
#    include <immintrin.h>
#    include <stdatomic.h>

#    define TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* Asked of the processor itself: gcc before 14 does not know __builtin_cpu_supports("sha"). */
static bool has_sha(void)
{
    unsigned a, b, c, d;

    if (__get_cpuid_max(0, NULL) < 7)
        return false;
    __cpuid(1, a, b, c, d);
    if ((c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0)
        return false;
    __cpuid_count(7, 0, a, b, c, d);
    return (b & 1u << 29) != 0; /* SHA */
}

/* CPUID costs a trap in a virtual machine, more than a short digest, so its answer is kept: 0 not
 * asked, 1 no, 2 yes. Any thread that asks writes the same value, so no order is needed. It is a
 * fact of the machine, not state of the library. */
bool qp_sha256_x86_available(void)
{
    static _Atomic int known;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        answer = has_sha() ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

/* Four rounds from the message words w[t .. t+3]. */
TARGET static inline void four_rounds(__m128i *abef, __m128i *cdgh, __m128i w, unsigned t)
{
    const __m128i *constants = (const __m128i *)(const void *)(qp_sha256_constants + t);
    __m128i sum = _mm_add_epi32(w, _mm_loadu_si128(constants));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0E));
}

/* The next four message words from the sixteen before them, the oldest in w[0]:
 * w[t] = small_sigma_1(w[t-2]) + w[t-7] + small_sigma_0(w[t-15]) + w[t-16]. */
TARGET static inline __m128i next_words(const __m128i w[4])
{
    __m128i sum = _mm_sha256msg1_epu32(w[0], w[1]);
    sum = _mm_add_epi32(sum, _mm_alignr_epi8(w[3], w[2], 4));
    return _mm_sha256msg2_epu32(sum, w[3]);
}

TARGET static inline void absorb(__m128i *abef, __m128i *cdgh, const uint8_t *block)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    const __m128i first_abef = *abef;
    const __m128i first_cdgh = *cdgh;
    __m128i w[4];

    for (unsigned i = 0; i < 4; i++) {
        w[i] = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
        w[i] = _mm_shuffle_epi8(w[i], big_endian);
        four_rounds(abef, cdgh, w[i], 4 * i);
    }
#    pragma GCC unroll 12
    for (unsigned t = 16; t < 64; t += 4) {
        __m128i next = next_words(w);
        w[0] = w[1];
        w[1] = w[2];
        w[2] = w[3];
        w[3] = next;
        four_rounds(abef, cdgh, next, t);
    }
    *abef = _mm_add_epi32(*abef, first_abef);
    *cdgh = _mm_add_epi32(*cdgh, first_cdgh);
}

TARGET void qp_sha256_blocks_x86(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    /* state is a b c d, e f g h; in a vector the first word is the lowest */
    __m128i abcd = _mm_loadu_si128((const __m128i *)(const void *)state);
    __m128i efgh = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
    __m128i badc = _mm_shuffle_epi32(abcd, 0xB1);
    __m128i hgfe = _mm_shuffle_epi32(efgh, 0x1B);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
    __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);

    for (; count > 0; count--, blocks += 64)
        absorb(&abef, &cdgh, blocks);

    __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool qp_sha256_x86_available(void)
{
    return false;
}

/* Never called: the table offers no path that is not available. */
void qp_sha256_blocks_x86(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    (void)state;
    (void)blocks;
    (void)count;
}

#endif
