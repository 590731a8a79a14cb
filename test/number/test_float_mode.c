/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_float_mode.c - in whatever floating-point mode the caller's thread is, results are the same,
 * and the mode is afterwards as it was: rounding upward, downward and to zero, and on x86 and
 * aarch64 with subnormals flushed.
 */
#include "../format/random_words.h"
#include "number/float_mode.h"

#include <fenv.h>

/* ---- modes -------------------------------------------------------------------------------- */

static const int roundings[] = {
    FE_TONEAREST,
#ifdef FE_UPWARD
    FE_UPWARD,
#endif
#ifdef FE_DOWNWARD
    FE_DOWNWARD,
#endif
#ifdef FE_TOWARDZERO
    FE_TOWARDZERO,
#endif
};

/* Flushing of subnormals, in and out, where a program can set it. */
#if defined(__SSE2__)
static void set_flush(bool flush)
{
    _mm_setcsr(flush ? _mm_getcsr() | 0x8040u : _mm_getcsr() & ~0x8040u);
}

static bool flushes(void)
{
    return (_mm_getcsr() & 0x8040u) == 0x8040u;
}
#elif defined(__aarch64__)
static uint64_t control(void)
{
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
}

static void set_flush(bool flush)
{
    uint64_t bit = UINT64_C(1) << 24;
    __asm__ volatile("msr fpcr, %0" ::"r"(flush ? control() | bit : control() & ~bit));
}

static bool flushes(void)
{
    return (control() >> 24 & 1) != 0;
}
#else
static bool flush_asked_for;

static void set_flush(bool flush)
{
    flush_asked_for = flush;
}

static bool flushes(void)
{
    return flush_asked_for;
}
#endif

/* Runs `function` on `context` in every mode, and sees that the mode stays as it was set. */
static void in_every_mode(void (*function)(void *context), void *context)
{
    for (size_t r = 0; r < TEST_COUNT(roundings); r++) {
        for (unsigned flush = 0; flush < 2; flush++) {
            assert_int_equal(fesetround(roundings[r]), 0);
            set_flush(flush != 0);
            function(context);
            int rounding = fegetround();
            bool flushed = flushes();
            set_flush(false);
            fesetround(FE_TONEAREST);
            assert_int_equal(rounding, roundings[r]);
            assert_int_equal(flushed, flush);
        }
    }
}

/* ---- decoding ----------------------------------------------------------------------------- */

typedef struct decoding {
    qp_matrix matrix;
    qp_word_planes words;
    uint8_t *bytes;
    float *expected, *values;
} decoding;

/* Words whose values are subnormal or round: the smallest scales and odd divisors. */
static decoding make(const qp_format *format)
{
    decoding d;
    uint64_t columns = format->group > 64 ? format->group : 64, seed = 5;
    d.matrix = format_plan_two(format->name, 128, columns);
    d.words = format_words(&d.matrix, 128);
    random_words(&d.matrix, &d.words, &seed);
    if (format->family == QP_FAMILY_NVFP4)
        put_u32(d.words.divisors, 0x7E7FFFFF);
    if (format->rules == &qp_row_bf16_rules)
        for (uint64_t n = 1; n < 128; n += 2)
            put_u16(d.words.scales + 2 * n, (uint16_t)n);
    d.bytes = format_pack(&d.matrix, &d.words);
    d.expected = format_values(128 * columns);
    d.values = format_values(128 * columns);
    qp_words_decode(&d.matrix, 0, 128, &d.words, d.expected);
    return d;
}

static void decode_words(void *context)
{
    decoding *d = context;
    qp_words_decode(&d->matrix, 0, 128, &d->words, d->values);
}

static void decode_rows(void *context)
{
    decoding *d = context;
    qp_rows rows = qp_rows_in(&d->matrix, d->bytes, 0, 128);
    qp_rows_decode(&d->matrix, &rows, 0, d->values);
}

static void decode_rows_by_kernel(void *context)
{
    decoding *d = context;
    qp_rows rows = qp_rows_in(&d->matrix, d->bytes, 0, 128);
    qp_rows_decode(&d->matrix, &rows, qp_cpu_features(), d->values);
}

/* The comparison stands inside the mode too: it is of bytes. */
static void decode_and_compare(void *context)
{
    static void (*const ways[])(void *) = {decode_words, decode_rows, decode_rows_by_kernel};
    decoding *d = context;
    uint64_t count = d->matrix.rows * d->matrix.columns;
    for (size_t w = 0; w < TEST_COUNT(ways); w++) {
        memset(d->values, 0xAA, (size_t)count * sizeof *d->values);
        ways[w](d);
        assert_true(format_same_bits(d->values, d->expected, count));
    }
}

static void test_decoding(void **state)
{
    (void)state;
    for (size_t f = 0; f < qp_format_count(); f++) {
        decoding d = make(qp_format_at(f));
        in_every_mode(decode_and_compare, &d);
        format_words_free(&d.words);
        free(d.bytes);
        free(d.expected);
        free(d.values);
    }
}

/* That some of the values are subnormal, and some were rounded, or the test above shows nothing. */
static void test_cases_tell(void **state)
{
    size_t subnormal = 0;
    decoding d = make(qp_format_find("nvfp4"));
    (void)state;
    for (uint64_t i = 0; i < 128 * d.matrix.columns; i++) {
        uint32_t magnitude = qp_bits_of_float(d.expected[i]) & 0x7FFFFFFFu;
        subnormal += magnitude != 0 && magnitude < 0x00800000u;
    }
    assert_true(subnormal > 100);
    format_words_free(&d.words);
    free(d.bytes);
    free(d.expected);
    free(d.values);
}

/* ---- elements ----------------------------------------------------------------------------- */

static void convert_elements(void *context)
{
    static const uint64_t words[] = {UINT64_C(0x3FF0000010000000), UINT64_C(0x3FF0000030000000),
                                     UINT64_C(0xBFF0000010000001), UINT64_C(0x36A8000000000000),
                                     UINT64_C(0x380FFFFFF0000001), UINT64_C(0x47EFFFFFEFFFFFFF)};
    static const uint32_t expected[] = {0x3F800000, 0x3F800002, 0xBF800001,
                                        0x00000002, 0x00800000, 0x7F7FFFFF};
    uint8_t bytes[8 * TEST_COUNT(words)], integers[8] = {1, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE};
    float values[TEST_COUNT(words)];
    (void)context;
    for (size_t i = 0; i < TEST_COUNT(words); i++) {
        put_u32(bytes + 8 * i, (uint32_t)words[i]);
        put_u32(bytes + 8 * i + 4, (uint32_t)(words[i] >> 32));
    }
    assert_int_equal(
        qp_element_to_float(qp_element_find("F64"), bytes, TEST_COUNT(words), values, NULL), QP_OK);
    for (size_t i = 0; i < TEST_COUNT(words); i++)
        assert_int_equal(qp_bits_of_float(values[i]), expected[i]);
    assert_int_equal(qp_element_to_float(qp_element_find("I32"), integers, 2, values, NULL), QP_OK);
    assert_int_equal(qp_bits_of_float(values[0]), 0x4B800000u);
    assert_int_equal(qp_bits_of_float(values[1]), 0xCB800000u);
}

static void test_elements(void **state)
{
    (void)state;
    in_every_mode(convert_elements, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_cases_tell),
        cmocka_unit_test(test_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
