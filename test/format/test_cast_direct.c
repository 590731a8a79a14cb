/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cast_direct.c - artifact-container.md section 9.2: every element type to every direct
 * format, by hand and against one exact rounding.
 */
#include "method_values.h"
#include "random_words.h"

static qp_status cast(const char *element, const char *format, const void *source, uint64_t count,
                      uint8_t *words, qp_error *error)
{
    qp_matrix target = format_plan(format, &count, 1, 1);
    qp_method_job job = {.target = &target,
                         .element = qp_element_find(element),
                         .method = qp_method_find("cast_direct")};
    qp_method_rows rows = {.elements = source, .words.codes = words};
    assert_non_null(job.element);
    return method_run(job, &rows, 1, error);
}

/* One element of little-endian bits. */
static uint32_t cast_one(const char *element, uint64_t bits, const char *format)
{
    uint8_t source[8], words[4] = {0};
    for (unsigned i = 0; i < 8; i++)
        source[i] = (uint8_t)(bits >> (8 * i));
    assert_int_equal(cast(element, format, source, 1, words, NULL), QP_OK);
    return qp_load_u32(words);
}

static void test_by_hand(void **state)
{
    static const struct {
        const char *element;
        uint64_t bits;
        const char *format;
        uint32_t word;
    } rows[] = {
        {"F32", 0x3F808000, "bf16", 0x3F80},              /* a tie to the even word */
        {"F32", 0x3F818000, "bf16", 0x3F82},              /* and up to one */
        {"F32", 0x7F7FFFFF, "bf16", 0x7F80},              /* past the largest */
        {"F32", 0xFF800000, "bf16", 0xFF80},              /* -infinity */
        {"F32", 0x7F800001, "bf16", 0x7FC0},              /* NaN: quiet, its top bits kept */
        {"F32", 0xFFA50000, "bf16", 0xFFE5},              /* sign and payload */
        {"F32", 0x80000001, "bf16", 0x8000},              /* -0 */
        {"F32", 0x7F800001, "fp32", 0x7F800001},          /* unchanged: bit for bit */
        {"BF16", 0x7F81, "bf16", 0x7F81},                 /* a signalling NaN too */
        {"I32", 0x80000000, "int32", 0x80000000},         /* */
        {"BF16", 0xC049, "fp32", 0xC0490000},             /* */
        {"F16", 0x0001, "fp32", 0x33800000},              /* 2^-24 */
        {"F16", 0x83FF, "fp32", 0xB87FC000},              /* the largest subnormal */
        {"F16", 0x0400, "fp32", 0x38800000},              /* 2^-14 */
        {"F16", 0x7BFF, "fp32", 0x477FE000},              /* 65504 */
        {"F16", 0xFC00, "fp32", 0xFF800000},              /* */
        {"F16", 0x7D01, "fp32", 0x7FA02000},              /* NaN: its payload kept */
        {"F16", 0x8000, "fp32", 0x80000000},              /* */
        {"F16", 0x3C08, "bf16", 0x3F81},                  /* 1 + 2^-7 */
        {"F16", 0x3C04, "bf16", 0x3F80},                  /* 1 + 2^-8: a tie */
        {"F8_E4M3", 0x7E, "fp32", 0x43E00000},            /* 448 */
        {"F8_E4M3", 0x81, "bf16", 0xBB00},                /* -2^-9 */
        {"I8", 0x80, "bf16", 0xC300},                     /* -128 */
        {"U8", 0xFF, "fp32", 0x437F0000},                 /* 255 */
        {"U8", 0xFF, "int32", 255},                       /* */
        {"I64", 0xFFFFFFFF80000000, "int32", 0x80000000}, /* */
        {"I64", 0x7FFFFFFFFFFFFFFF, "fp32", 0x5F000000},  /* 2^63 */
        {"I32", 16777217, "fp32", 0x4B800000},            /* 2^24 + 1: a tie */
        {"I32", 0x01010001, "bf16", 0x4B81},              /* above a tie: one rounding */
        {"I64", 0x0101000000000001, "bf16", 0x5B81},      /* the same, past binary32 */
        {"I64", 0x0101000000000000, "bf16", 0x5B80},      /* the tie itself */
        {"F32", 0x3FFFFFFF, "int32", 1},                  /* toward zero */
        {"F32", 0xBFFFFFFF, "int32", 0xFFFFFFFF},         /* -1.99 */
        {"F32", 0xCF000000, "int32", 0x80000000},         /* -2^31 */
        {"F32", 0x4EFFFFFF, "int32", 2147483520},         /* below 2^31 */
        {"F64", 0x41DFFFFFFFC00000, "int32", 0x7FFFFFFF}, /* 2^31 - 1 */
        {"F64", 0x7FF0000000000001, "fp32", 0x7FC00000},  /* NaN, quiet */
        {"F64", 0xFFF4000000000000, "bf16", 0xFFE0},      /* the top of its payload */
        {"F64", 0x7FEFFFFFFFFFFFFF, "fp32", 0x7F800000},  /* beyond binary32 */
        {"F64", 0x7FEFFFFFFFFFFFFF, "bf16", 0x7F80},      /* */
        {"F64", 0x47EFFFFFEFFFFFFF, "fp32", 0x7F7FFFFF},  /* below the last tie */
        {"F64", 0x47EFFFFFF0000000, "fp32", 0x7F800000},  /* on it */
        {"F64", 0x3690000000000000, "fp32", 0x00000000},  /* 2^-150: a tie with zero */
        {"F64", 0x3690000000000001, "fp32", 0x00000001},  /* above it */
        {"F64", 0x0000000000000001, "bf16", 0x0000},      /* */
        {"F64", 0x3FF0100000000001, "bf16", 0x3F81},      /* above a tie by 2^-52 */
        {"F64", 0x3FF0100000000000, "bf16", 0x3F80},      /* the tie itself */
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++)
        assert_int_equal(cast_one(rows[i].element, rows[i].bits, rows[i].format), rows[i].word);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *element;
        uint64_t bits;
    } rows[] = {
        {"F32", 0x4F000000},         {"F32", 0xCF000001},
        {"F32", 0x7FC00000},         {"F64", 0x41E0000000000000},
        {"F64", 0x41DFFFFFFFE00000}, /* 2^31 - 0.5 */
        {"I64", 0x0000000080000000}, {"F16", 0x7C00},
    };
    uint8_t words[8];
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        uint8_t source[16] = {0};
        qp_error error;
        uint32_t size = qp_element_find(rows[i].element)->bytes;
        for (unsigned b = 0; b < size; b++)
            source[size + b] = (uint8_t)(rows[i].bits >> (8 * b));
        assert_int_equal(cast(rows[i].element, "int32", source, 2, words, &error), QP_FIELD_RANGE);
        assert_string_equal(error.check, "int32_range");
        assert_int_equal(error.row, 0);
        assert_int_equal(error.column, 1);
    }
}

/* ---- one exact rounding ------------------------------------------------------------------- */

static double bf16_value(uint32_t word)
{
    return word == 0x7F80 ? 0x1p128 : (double)qp_float_of_bits(word << 16);
}

/* The nearest bf16 of a magnitude below 2^128, by bisection and comparison with the midpoint. */
static uint32_t nearest_bf16(double magnitude)
{
    uint32_t low = 0, high = 0x7F80;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (bf16_value(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double half = (bf16_value(low) + bf16_value(high)) / 2;
    return magnitude > half || (magnitude == half && low % 2 != 0) ? high : low;
}

static void test_f64_rounds_once(void **state)
{
    uint64_t seed = 64;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = test_random(&seed);
        uint64_t exponent = (uint64_t)test_between(&seed, 1023 - 160, 1023 + 127);
        if (i % 2 == 0) /* near a tie of bf16 */
            bits = (bits & ~UINT64_C(0x1FFFFFFFFFFF)) | UINT64_C(1) << 44 | test_below(&seed, 3);
        bits = (bits & UINT64_C(0x800FFFFFFFFFFFFF)) | exponent << 52;
        uint32_t sign = (uint32_t)(bits >> 63);
        double value;
        memcpy(&value, &bits, sizeof value);
        double magnitude = sign != 0 ? -value : value;
        assert_int_equal(cast_one("F64", bits, "bf16"), nearest_bf16(magnitude) | sign << 15);
        assert_int_equal(cast_one("F64", bits, "fp32"), qp_bits_of_float((float)value));
    }
}

static void test_integers_round_once(void **state)
{
    uint64_t seed = 63;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t value = test_between(&seed, INT64_MIN + 1, INT64_MAX) >> test_below(&seed, 63);
        uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        /* down to 53 bits, the last one set when a lower one was: no bf16 tie has that many */
        uint64_t exact = magnitude >> 53 == 0 ? magnitude
                                              : (magnitude & ~UINT64_C(0x7FF)) |
                                                    ((magnitude & 0x7FF) != 0 ? 0x800 : 0);
        uint32_t sign = value < 0 ? 0x8000 : 0;
        assert_int_equal(cast_one("I64", (uint64_t)value, "bf16"),
                         nearest_bf16((double)exact) | sign);
        if (value >= INT32_MIN && value <= INT32_MAX) {
            assert_int_equal(cast_one("I32", (uint64_t)value, "bf16"),
                             cast_one("I64", (uint64_t)value, "bf16"));
            assert_int_equal(cast_one("I64", (uint64_t)value, "int32"), (uint32_t)value);
        }
    }
}

/* Widening is that of minifloat.h on every word. */
static void test_every_f16(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 65536; word++) {
        uint32_t wide = qp_f16_to_f32_bits((uint16_t)word);
        assert_int_equal(cast_one("F16", word, "fp32"), wide);
        assert_int_equal(cast_one("F16", word, "bf16"), qp_bf16_from_f32_bits(wide));
    }
}

static void test_sources(void **state)
{
    uint64_t two = 2;
    qp_matrix target = format_plan("bf16", &two, 1, 1);
    qp_error error;
    qp_method_job job = {.target = &target,
                         .element = qp_element_find("BOOL"),
                         .method = qp_method_find("cast_direct")};
    (void)state;
    assert_int_equal(qp_method_prepare(&job, &error), QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "source_type");
    job.element = NULL;
    job.encoding = "gguf_q8_0";
    assert_int_equal(qp_method_prepare(&job, &error), QP_MODEL_MISMATCH);
    target = format_plan_two("q8_g32_fp16", 1, 32);
    assert_int_equal(qp_method_prepare(&job, &error), QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "method_target");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_f64_rounds_once), cmocka_unit_test(test_integers_round_once),
        cmocka_unit_test(test_every_f16),       cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
