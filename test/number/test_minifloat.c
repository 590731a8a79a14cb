/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_minifloat.c - binary16, bfloat16, E4M3FN and E2M1 to binary32 and back: every word, every
 * tie between neighbours and the binary32 values beside it, and what lies beyond the largest word.
 *
 * Widening is compared with the text's formula in binary64. Narrowing is compared, over all 2^32
 * words in steps that meet every exponent, with a search for the nearest word.
 */
#include "number/minifloat.h"

#include "support/test.h"

/* A format of `bits` bits: words of magnitude 0 .. last are finite, in order of value. */
typedef struct minifloat {
    uint32_t bits, last;
    uint32_t beyond; /* the magnitude that larger values become */
    int exponent_bits, fraction_bits, bias;
    uint32_t (*widen)(uint32_t word);
    uint32_t (*narrow)(uint32_t bits);
} minifloat;

static uint32_t widen_f16(uint32_t word)
{
    return qp_f16_to_f32_bits((uint16_t)word);
}

static uint32_t widen_bf16(uint32_t word)
{
    return qp_bf16_to_f32_bits((uint16_t)word);
}

static uint32_t widen_e4m3(uint32_t word)
{
    return qp_e4m3_to_f32_bits((uint8_t)word);
}

static uint32_t widen_e2m1(uint32_t word)
{
    return qp_e2m1_to_f32_bits((uint8_t)word);
}

static uint32_t narrow_f16(uint32_t bits)
{
    return qp_f16_from_f32_bits(bits);
}

static uint32_t narrow_bf16(uint32_t bits)
{
    return qp_bf16_from_f32_bits(bits);
}

static uint32_t narrow_e4m3(uint32_t bits)
{
    return qp_e4m3_from_f32_bits(bits);
}

static uint32_t narrow_e2m1(uint32_t bits)
{
    return qp_e2m1_from_f32_bits(bits);
}

static const minifloat f16 = {16, 0x7BFF, 0x7C00, 5, 10, 15, widen_f16, narrow_f16};
static const minifloat bf16 = {16, 0x7F7F, 0x7F80, 8, 7, 127, widen_bf16, narrow_bf16};
static const minifloat e4m3 = {8, 0x7E, 0x7E, 4, 3, 7, widen_e4m3, narrow_e4m3};
static const minifloat e2m1 = {4, 0x7, 0x7, 2, 1, 1, widen_e2m1, narrow_e2m1};

/* The magnitude of a word by the text, exact in binary64; it goes on beyond `last`. */
static double magnitude_of(const minifloat *m, uint32_t word)
{
    uint32_t fraction = word & ((1u << m->fraction_bits) - 1);
    int exponent = (int)(word >> m->fraction_bits);
    double value = (double)fraction;
    if (exponent != 0)
        value += (double)(1u << m->fraction_bits);
    else
        exponent = 1;
    exponent -= m->bias + m->fraction_bits;
    for (; exponent > 0; exponent--)
        value *= 2;
    for (; exponent < 0; exponent++)
        value /= 2;
    return value;
}

static uint32_t sign_bit(const minifloat *m)
{
    return 1u << (m->bits - 1);
}

/* Every finite word: its value, the same with the sign, and back to itself. */
static void check_words(const minifloat *m)
{
    for (uint32_t word = 0; word <= m->last; word++) {
        uint32_t wide = m->widen(word);
        assert_int_equal(wide, qp_bits_of_float((float)magnitude_of(m, word)));
        assert_int_equal(m->widen(word | sign_bit(m)), wide | 0x80000000u);
        assert_int_equal(m->narrow(wide), word);
        assert_int_equal(m->narrow(wide | 0x80000000u), word | sign_bit(m));
    }
}

static void assert_narrow(const minifloat *m, uint32_t bits, uint32_t word)
{
    assert_int_equal(m->narrow(bits), word);
    assert_int_equal(m->narrow(bits | 0x80000000u), word | sign_bit(m));
}

/* Halfway between a word and the next goes to the even one, a binary32 step beside it to the
 * nearer one. The words after the last stand for what larger values become. */
static void check_ties(const minifloat *m)
{
    uint32_t ties = m->beyond > m->last ? m->last + 1 : m->last;
    for (uint32_t word = 0; word < ties; word++) {
        double tie = (magnitude_of(m, word) + magnitude_of(m, word + 1)) / 2;
        uint32_t bits = qp_bits_of_float((float)tie);
        assert_true((double)qp_float_of_bits(bits) == tie);
        assert_narrow(m, bits, word % 2 == 0 ? word : word + 1);
        assert_narrow(m, bits - 1, word);
        assert_narrow(m, bits + 1, word + 1);
    }
}

/* The nearest word of any value, found by halving. */
static uint32_t nearest(const minifloat *m, double magnitude)
{
    uint32_t low = 0, high = m->last + 1; /* value(low) <= magnitude < value(high), or beyond */
    if (magnitude >= magnitude_of(m, high))
        return m->beyond;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (magnitude_of(m, middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double below = magnitude - magnitude_of(m, low), above = magnitude_of(m, high) - magnitude;
    uint32_t word = below < above || (below == above && low % 2 == 0) ? low : high;
    return word > m->last ? m->beyond : word;
}

static void check_narrowing(const minifloat *m)
{
    uint64_t seed = m->bits + (uint64_t)m->bias;
    for (uint32_t exponent = 0; exponent < 255; exponent++) {
        for (uint32_t i = 0; i < 400; i++) {
            uint32_t fraction = (uint32_t)test_random(&seed) & 0x7FFFFF;
            if (i % 4 == 0) /* few bits, so that ties come up */
                fraction &= 0x7FFFFFu << (8 + i / 4 % 15);
            uint32_t bits = exponent << 23 | (fraction & 0x7FFFFF);
            assert_narrow(m, bits, nearest(m, (double)qp_float_of_bits(bits)));
        }
    }
}

static void check(const minifloat *m)
{
    check_words(m);
    check_ties(m);
    check_narrowing(m);
}

static void test_binary16(void **state)
{
    (void)state;
    check(&f16);
    assert_narrow(&f16, 0x477FF000, 0x7C00); /* 65520 */
    assert_narrow(&f16, 0x477FEFFF, 0x7BFF);
    assert_narrow(&f16, 0x7F7FFFFF, 0x7C00);
    assert_narrow(&f16, 0x7F800000, 0x7C00);
    assert_narrow(&f16, 0x33000000, 0); /* 2^-25, half of the smallest */
    assert_narrow(&f16, 0x33000001, 1);
    assert_int_equal(qp_f16_to_f32_bits(0x7C00), 0x7F800000);
    assert_int_equal(qp_f16_to_f32_bits(0xFC00), 0xFF800000);
    for (uint32_t word = 0x7C01; word < 0x8000; word++) { /* NaNs keep their payload */
        assert_int_equal(qp_f16_to_f32_bits((uint16_t)word), 0x7F800000 | (word & 0x3FF) << 13);
        assert_int_equal(qp_f16_from_f32_bits(0xFF800000 | (word & 0x3FF) << 13),
                         0x8000 | word | 0x0200);
    }
    assert_int_equal(qp_f16_from_f32_bits(0x7F800001), 0x7E00);
}

static void test_bfloat16(void **state)
{
    (void)state;
    check(&bf16);
    assert_narrow(&bf16, 0x7F7FFFFF, 0x7F80);
    assert_narrow(&bf16, 0x7F7F7FFF, 0x7F7F);
    for (uint32_t word = 0x7F80; word < 0x8000; word++)
        assert_int_equal(qp_bf16_to_f32_bits((uint16_t)word), word << 16);
    /* artifact-container.md section 9.2: the top seven bits of the fraction, and the quiet bit */
    assert_int_equal(qp_bf16_from_f32_bits(0x7F800001), 0x7FC0);
    assert_int_equal(qp_bf16_from_f32_bits(0xFFA5FFFF), 0xFFE5);
    assert_int_equal(qp_bf16_from_f32_bits(0x7FFFFFFF), 0x7FFF);
}

/* The example lines of tensor-formats.md section 3.3, and values past 448. */
static void test_e4m3fn(void **state)
{
    (void)state;
    check(&e4m3);
    assert_int_equal(qp_e4m3_to_f32_bits(0x01), 0x3B000000); /* 2^-9 */
    assert_int_equal(qp_e4m3_to_f32_bits(0x7E), 0x43E00000); /* 448 */
    assert_int_equal(qp_e4m3_to_f32_bits(0x7F), 0x7FC00000);
    assert_int_equal(qp_e4m3_to_f32_bits(0xFF), 0xFFC00000);
    assert_narrow(&e4m3, 0x7F800000, 0x7E);
    assert_narrow(&e4m3, 0x7FC00000, 0x7F);
}

static void test_e2m1(void **state)
{
    static const float values[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    (void)state;
    check(&e2m1);
    for (uint32_t word = 0; word < 8; word++)
        assert_int_equal(qp_e2m1_to_f32_bits((uint8_t)word), qp_bits_of_float(values[word]));
    assert_int_equal(qp_e2m1_to_f32_bits(0xF3), 0x3FC00000); /* the low four bits count */
    assert_narrow(&e2m1, 0x7F800000, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary16),
        cmocka_unit_test(test_bfloat16),
        cmocka_unit_test(test_e4m3fn),
        cmocka_unit_test(test_e2m1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
