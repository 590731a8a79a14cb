/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_element.c - the scalar types of sources, and their numbers as binary32 (ggml-blocks.md
 * section 7).
 */
#include "random_words.h"

static float convert_one(const char *name, uint64_t word)
{
    uint8_t bytes[8];
    float value;
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
    assert_int_equal(qp_element_to_float(qp_element_find(name), bytes, 1, &value, NULL), QP_OK);
    return value;
}

static void test_registry(void **state)
{
    static const struct {
        const char *name;
        uint32_t bytes;
        int32_t gguf_type;
    } known[] = {
        {"F64", 8, 28},     {"F32", 4, 0},          {"F16", 2, 1},          {"BF16", 2, 30},
        {"F8_E4M3", 1, -1}, {"I64", 8, 27},         {"I32", 4, 26},         {"I16", 2, 25},
        {"I8", 1, 24},      {"U64", 8, -1},         {"U32", 4, -1},         {"U16", 2, -1},
        {"U8", 1, -1},      {"BOOL", 1, -1},        {"C64", 8, -1},         {"F8_E5M2", 1, -1},
        {"F8_E8M0", 1, -1}, {"F8_E4M3FNUZ", 1, -1}, {"F8_E5M2FNUZ", 1, -1},
    };
    (void)state;
    assert_int_equal(qp_element_count(), TEST_COUNT(known));
    for (size_t i = 0; i < TEST_COUNT(known); i++) {
        const qp_element *element = qp_element_find(known[i].name);
        assert_non_null(element);
        assert_int_equal(element->bytes, known[i].bytes);
        assert_int_equal(element->gguf_type, known[i].gguf_type);
        if (element->npy != NULL)
            assert_int_equal(element->npy[2] - '0', element->bytes);
        if (element->format != NULL)
            assert_int_equal(qp_format_find(element->format)->code_bits, 8 * element->bytes);
    }
    for (size_t i = 0; i < qp_element_count(); i++)
        assert_ptr_equal(qp_element_find(qp_element_at(i)->name), qp_element_at(i));
    assert_null(qp_element_find("F4"));
    assert_null(qp_element_find("f32"));
}

/* Floats of 32 bits and fewer convert exactly, NaN payloads included. */
static void test_exact(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 65536; word++) {
        assert_int_equal(qp_bits_of_float(convert_one("F16", word)),
                         qp_f16_to_f32_bits((uint16_t)word));
        assert_int_equal(qp_bits_of_float(convert_one("BF16", word)), word << 16);
    }
    for (uint32_t word = 0; word < 256; word++) {
        assert_int_equal(qp_bits_of_float(convert_one("F8_E4M3", word)),
                         qp_e4m3_to_f32_bits((uint8_t)word));
        assert_true(convert_one("U8", word) == (float)word);
        assert_true(convert_one("I8", word) == (float)((int)word - (word < 128 ? 0 : 256)));
    }
    assert_int_equal(qp_bits_of_float(convert_one("F32", 0x7FA12345)), 0x7FA12345u);
    assert_int_equal(qp_bits_of_float(convert_one("F32", 0x80000001)), 0x80000001u);
}

static void test_rounding(void **state)
{
    static const struct {
        const char *name;
        uint64_t word;
        uint32_t bits;
    } cases[] = {
        {"I32", 0x7FFFFFFF, 0x4F000000},
        {"I32", 16777217, 0x4B800000},
        {"I32", 16777219, 0x4B800002},
        {"I64", UINT64_C(0x8000000000000000), 0xDF000000},
        {"I64", UINT64_C(0x7FFFFFFFFFFFFFFF), 0x5F000000},
        {"I64", (UINT64_C(1) << 40) + (1 << 16), 0x53800000},     /* a tie, to even */
        {"I64", (UINT64_C(1) << 40) + (1 << 16) + 1, 0x53800001}, /* rounded twice it would tie */
        {"I64", (UINT64_C(1) << 54) + (1 << 30) + 1, 0x5A800001}, /* binary64 cannot hold it */
        {"I64", UINT64_MAX, 0xBF800000},
        {"F64", UINT64_C(0x3FF0000000000000), 0x3F800000},
        {"F64", UINT64_C(0x8000000000000000), 0x80000000},
        {"F64", UINT64_C(0x3FF0000010000000), 0x3F800000}, /* 1 + 2^-24: a tie, to even */
        {"F64", UINT64_C(0x3FF0000010000001), 0x3F800001},
        {"F64", UINT64_C(0x3FF0000030000000), 0x3F800002},
        {"F64", UINT64_C(0x36A0000000000000), 0x00000001}, /* 2^-149 */
        {"F64", UINT64_C(0x3690000000000000), 0x00000000}, /* half of it: a tie with zero */
        {"F64", UINT64_C(0xB690000000000001), 0x80000001},
        {"F64", UINT64_C(0x0000000000000001), 0x00000000},
        {"F64", UINT64_C(0x47EFFFFFEFFFFFFF), 0x7F7FFFFF}, /* just below 2^128 - 2^103 */
        {"F64", UINT64_C(0x7FF0000000000000), 0x7F800000},
        {"F64", UINT64_C(0xFFF0000000000000), 0xFF800000},
        {"F64", UINT64_C(0x7FF0000000000001), 0x7FC00000},
        {"F64", UINT64_C(0xFFF8000020000000), 0xFFC00001},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++)
        assert_int_equal(qp_bits_of_float(convert_one(cases[i].name, cases[i].word)),
                         cases[i].bits);
}

/* A finite value that would become infinite is refused with its place. */
static void test_overflow(void **state)
{
    static const uint64_t words[] = {UINT64_C(0x47EFFFFFF0000000), UINT64_C(0xC7EFFFFFF0000000),
                                     UINT64_C(0x7FEFFFFFFFFFFFFF)};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(words); i++) {
        uint8_t bytes[24] = {0};
        float values[3];
        qp_error error;
        put_u32(bytes + 16, (uint32_t)words[i]);
        put_u32(bytes + 20, (uint32_t)(words[i] >> 32));
        assert_int_equal(qp_element_to_float(qp_element_find("F64"), bytes, 3, values, &error),
                         QP_FIELD_RANGE);
        assert_string_equal(error.check, "source_not_finite");
        assert_int_equal(error.column, 2);
    }
}

/* The types of which nobody said what their numbers are. */
static void test_unread(void **state)
{
    static const char *const names[] = {"I16",     "U16",         "U32",         "U64",     "BOOL",
                                        "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E8M0", "C64"};
    uint8_t bytes[8] = {0};
    float value;
    qp_error error;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(names); i++) {
        const qp_element *element = qp_element_find(names[i]);
        assert_int_equal(qp_element_to_float(element, bytes, 1, &value, &error),
                         QP_INVALID_ARGUMENT);
        assert_non_null(strstr(error.message, names[i]));
        assert_false(element->is_float);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry), cmocka_unit_test(test_exact),
        cmocka_unit_test(test_rounding), cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
