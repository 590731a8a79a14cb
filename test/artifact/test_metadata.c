/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_metadata.c - values of metadata to JSON and back, of every type; the types that JSON values
 * take when none is recorded; decimal text of floats.
 */
#include "artifact/metadata.h"

#include "support/test.h"

#include "number/minifloat.h"

#include <locale.h>

/* ---- there and back -------------------------------------------------------------------------- */

static void build(qp_artifact_metadatum *entry, qp_metadata_type type, const qp_buffer *bytes)
{
    *entry = (qp_artifact_metadatum){.key = "k", .type = type, .count = 1};
    entry->value = bytes->bytes;
    entry->size = bytes->size;
}

static void assert_comes_back(const qp_artifact_metadatum *entry, const char *expected)
{
    char type[QP_METADATA_TYPE_SIZE];
    qp_buffer text;
    qp_json json;
    qp_arena arena;
    qp_artifact_metadatum back = {.key = "k"};
    bool no_memory;
    qp_buffer_init(&text, NULL);
    qp_arena_init(&arena, NULL);
    qp_json_init(&json, NULL);
    qp_metadata_append_json(entry, &text);
    qp_metadata_type_name(entry, type);
    if (expected != NULL) {
        assert_int_equal(text.size, strlen(expected));
        assert_memory_equal(text.bytes, expected, text.size);
    }
    assert_int_equal(qp_json_parse(&json, text.bytes, text.size, NULL), QP_OK);
    assert_true(qp_metadata_read_json(qp_json_root(&json), type, &arena, &back, &no_memory));
    assert_int_equal(back.type, entry->type);
    assert_int_equal(back.count, entry->count);
    assert_int_equal(back.size, entry->size);
    assert_memory_equal(back.value, entry->value, entry->size);
    qp_json_free(&json);
    qp_arena_free(&arena);
    qp_buffer_free(&text);
}

static void test_scalars(void **state)
{
    (void)state;
    static const struct {
        qp_metadata_type type;
        unsigned width;
        uint64_t bits;
        const char *json;
    } cases[] = {
        {QP_META_U8, 1, 255, "255"},
        {QP_META_I8, 1, 0x80, "-128"},
        {QP_META_U16, 2, 65535, "65535"},
        {QP_META_I16, 2, 0xFFFF, "-1"},
        {QP_META_U32, 4, 4294967295u, "4294967295"},
        {QP_META_I32, 4, 0x80000000u, "-2147483648"},
        {QP_META_U64, 8, UINT64_MAX, "18446744073709551615"},
        {QP_META_I64, 8, (uint64_t)1 << 63, "-9223372036854775808"},
        {QP_META_I64, 8, INT64_MAX, "9223372036854775807"},
        {QP_META_BOOL, 1, 1, "true"},
        {QP_META_BOOL, 1, 0, "false"},
        {QP_META_F32, 4, 0x3DCCCCCD, "0.1"},
        {QP_META_F32, 4, 0x461C4000, "10000"},
        {QP_META_F32, 4, 0x80000000, "-0"},
        {QP_META_F32, 4, 0x00000001, NULL},
        {QP_META_F32, 4, 0x7F7FFFFF, NULL},
        {QP_META_F32, 4, 0x7FC00000, "\"0x7fc00000\""},
        {QP_META_F32, 4, 0xFF800000, "\"0xff800000\""},
        {QP_META_F32, 4, 0x7F800001, "\"0x7f800001\""},
        {QP_META_F64, 8, UINT64_C(0x3FB999999999999A), "0.1"},
        {QP_META_F64, 8, 1, NULL},
        {QP_META_F64, 8, UINT64_C(0x7FEFFFFFFFFFFFFF), NULL},
        {QP_META_F64, 8, UINT64_C(0x7FF0000000000000), "\"0x7ff0000000000000\""},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_buffer bytes;
        qp_artifact_metadatum entry;
        qp_buffer_init(&bytes, NULL);
        qp_buffer_le(&bytes, cases[i].bits, cases[i].width);
        build(&entry, cases[i].type, &bytes);
        assert_comes_back(&entry, cases[i].json);
        qp_buffer_free(&bytes);
    }
}

static void test_random_floats(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (size_t i = 0; i < 20000; i++) {
        qp_buffer bytes;
        qp_artifact_metadatum entry;
        bool is_wide = i % 2 != 0;
        qp_buffer_init(&bytes, NULL);
        qp_buffer_le(&bytes, test_random(&seed), is_wide ? 8 : 4);
        build(&entry, is_wide ? QP_META_F64 : QP_META_F32, &bytes);
        assert_comes_back(&entry, NULL);
        qp_buffer_free(&bytes);
    }
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *json;
        size_t size;
    } cases[] = {
        {"", "\"\"", 0},
        {"a\"\n", "\"a\\\"\\n\"", 3},
        {"\xC3\xBC", "\"\xC3\xBC\"", 2},
        {"a\0b", "\"a\\u0000b\"", 3},
        {"\xFF", "{\"hex\":\"ff\"}", 1},
        {"\xED\xA0\x80", "{\"hex\":\"eda080\"}", 3},       /* a surrogate */
        {"\xC0\x80", "{\"hex\":\"c080\"}", 2},             /* too long a form */
        {"\xF4\x90\x80\x80", "{\"hex\":\"f4908080\"}", 4}, /* past the last character */
        {"\xE2\x82", "{\"hex\":\"e282\"}", 2},             /* cut short */
        {"\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\"", 4},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        const qp_artifact_metadatum entry = {
            "k", QP_META_STRING, QP_META_U8, 1, (const uint8_t *)cases[i].bytes, cases[i].size};
        assert_comes_back(&entry, cases[i].json);
    }
}

static void test_arrays(void **state)
{
    (void)state;
    qp_buffer bytes;
    qp_buffer_init(&bytes, NULL);
    qp_buffer_le(&bytes, 1, 8);
    qp_buffer_text(&bytes, "a");
    qp_buffer_le(&bytes, 0, 8);
    qp_buffer_le(&bytes, 2, 8);
    qp_buffer_append(&bytes, "\xFF\x00", 2);
    qp_artifact_metadatum entry;
    build(&entry, QP_META_ARRAY, &bytes);
    entry.element_type = QP_META_STRING;
    entry.count = 3;
    assert_comes_back(&entry, "[\"a\",\"\",{\"hex\":\"ff00\"}]");
    bytes.size = 0;
    for (uint64_t i = 0; i < 3; i++)
        qp_buffer_le(&bytes, i, 2);
    build(&entry, QP_META_ARRAY, &bytes);
    entry.element_type = QP_META_U16;
    entry.count = 3;
    assert_comes_back(&entry, "[0,1,2]");
    bytes.size = 0;
    build(&entry, QP_META_ARRAY, &bytes);
    entry.element_type = QP_META_F64;
    entry.count = 0;
    assert_comes_back(&entry, "[]");
    qp_buffer_free(&bytes);
}

/* ---- values of no type, and of a wrong one ----------------------------------------------------
 */

static bool read_as(const char *text, const char *type, qp_artifact_metadatum *entry)
{
    qp_json json;
    qp_arena arena;
    bool no_memory;
    qp_arena_init(&arena, NULL);
    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, text, strlen(text), NULL), QP_OK);
    bool read = qp_metadata_read_json(qp_json_root(&json), type, &arena, entry, &no_memory);
    qp_json_free(&json);
    qp_arena_free(&arena);
    return read;
}

static void test_types_that_suit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        qp_metadata_type type, element;
    } cases[] = {
        {"\"x\"", QP_META_STRING, QP_META_U8},
        {"true", QP_META_BOOL, QP_META_U8},
        {"5", QP_META_U32, QP_META_U8},
        {"-5", QP_META_I32, QP_META_U8},
        {"4294967296", QP_META_U64, QP_META_U8},
        {"-4294967296", QP_META_I64, QP_META_U8},
        {"1.0", QP_META_F64, QP_META_U8},
        {"100000000000000000000", QP_META_F64, QP_META_U8},
        {"[1,2]", QP_META_ARRAY, QP_META_U32},
        {"[1,-2]", QP_META_ARRAY, QP_META_I64},
        {"[1,2.5]", QP_META_ARRAY, QP_META_F64},
        {"[\"a\"]", QP_META_ARRAY, QP_META_STRING},
        {"[false]", QP_META_ARRAY, QP_META_BOOL},
        {"[]", QP_META_ARRAY, QP_META_I32},
    };
    static const char *const none[] = {
        "null", "{}", "[[1]]", "[1,\"a\"]", "[true,1]", "[null]", "[18446744073709551615,-1]"};
    qp_artifact_metadatum entry;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        assert_true(read_as(cases[i].text, NULL, &entry));
        assert_int_equal(entry.type, cases[i].type);
        assert_int_equal(entry.element_type, cases[i].element);
    }
    for (size_t i = 0; i < TEST_COUNT(none); i++)
        assert_false(read_as(none[i], NULL, &entry));
}

static void test_wrong_types(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"256", "u8"},
        {"-1", "u8"},
        {"128", "i8"},
        {"-129", "i8"},
        {"4294967296", "u32"},
        {"1.5", "u32"},
        {"\"1\"", "u32"},
        {"1", "bool"},
        {"1", "string"},
        {"{\"hex\":\"f\"}", "string"},
        {"{\"hex\":\"FG\"}", "string"},
        {"{}", "string"},
        {"\"0x7fc0\"", "f32"},
        {"\"7fc00000\"", "f32"},
        {"\"0x7fc0000g\"", "f32"},
        {"true", "f64"},
        {"1", "array<u8>"},
        {"[256]", "array<u8>"},
        {"1", "u128"},
        {"[1]", "array<x>"},
        {"[1]", "array<"},
        {"1", ""},
        {"[1]", "array<u8"},
        {"9223372036854775808", "i64"},
    };
    qp_artifact_metadatum entry;
    for (size_t i = 0; i < TEST_COUNT(cases); i++)
        assert_false(read_as(cases[i][0], cases[i][1], &entry));
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void test_number_text(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "x", "1x", "1e", "1.2.3", "0x10", "nan", "inf", " 1"};
    double wide;
    float single;
    assert_true(qp_read_f64("-1.5e3", 6, &wide) && wide == -1500.0);
    assert_true(qp_read_f32("16777217", 8, &single) && single == 16777216.0f);
    /* one rounding: over binary64 it would be a tie and go down */
    assert_true(qp_read_f32("1.00000005960464477540", 22, &single) && single == 1.0f + 0x1p-23f);
    for (size_t i = 0; i < TEST_COUNT(wrong); i++)
        assert_false(qp_read_f64(wrong[i], strlen(wrong[i]), &wide));
    char many[500];
    memset(many, '1', sizeof many);
    assert_false(qp_read_f64(many, sizeof many, &wide));
}

/* A program's locale that writes a comma changes nothing. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
    for (size_t i = 0; i < TEST_COUNT(names); i++) {
        if (setlocale(LC_NUMERIC, names[i]) == NULL)
            continue;
        test_scalars(state);
        test_number_text(state);
        setlocale(LC_NUMERIC, "C");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),         cmocka_unit_test(test_random_floats),
        cmocka_unit_test(test_strings),         cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_types_that_suit), cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_number_text),     cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
