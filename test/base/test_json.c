/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json.c - the JSON reader against RFC 8259, and against what hostile documents try.
 */
#include "base/json.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

static qp_status parse(qp_json *json, const char *text, qp_error *error)
{
    qp_json_init(json, NULL);
    return qp_json_parse(json, text, strlen(text), error);
}

static qp_json_value member(qp_json_value object, const char *name)
{
    qp_json_value value;
    assert_true(qp_json_find(object, name, &value));
    return value;
}

static void assert_string(qp_json_value value, const char *bytes, size_t size)
{
    qp_buffer buffer;
    qp_buffer_init(&buffer, NULL);
    assert_int_equal(qp_json_kind_of(value), QP_JSON_STRING);
    qp_json_append_string(value, &buffer);
    assert_false(buffer.failed);
    assert_int_equal(buffer.size, size);
    if (size > 0)
        assert_memory_equal(buffer.bytes, bytes, size);
    qp_buffer_free(&buffer);
}

/* ---- what is JSON and what is not ----------------------------------------------------------- */

static void test_accepts(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "-1",
        "10",
        "0.5",
        "-0.0e0",
        "1E+2",
        "1e-2",
        "123456789012345678901234567890",
        "\"\"",
        "\"a\"",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[[],{}]",
        " [ 1 , 2 ] ",
        "\t\r\n{\"a\" :\n1 }\r\n",
        "{\"\":0}",
        "{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2}]}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"",
        "\"\\ud83d\\ude00\"",
        "\"\x7f\"",
        "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        qp_json json;
        qp_error error = {.message = "none"};
        if (parse(&json, texts[i], &error) != QP_OK)
            fail_msg("%s: %s", texts[i], error.message);
        assert_int_equal(json.fault, QP_JSON_FAULT_NONE);
        qp_json_free(&json);
    }
}

typedef struct refusal {
    const char *text;
    qp_json_fault fault;
    int64_t offset;
} refusal;

static void assert_refused(const char *text, size_t size, qp_json_fault fault, int64_t offset)
{
    qp_json json;
    qp_error error = {.offset = -7};
    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, text, size, &error), QP_MALFORMED);
    assert_int_equal(error.status, QP_MALFORMED);
    if (json.fault != fault || error.offset != offset)
        fail_msg("%s: fault %d at %d: %s", text, (int)json.fault, (int)error.offset, error.message);
    assert_int_equal(qp_json_kind_of(qp_json_root(&json)), QP_JSON_ABSENT);
    qp_json_free(&json);
}

static void test_refuses_syntax(void **state)
{
    static const refusal cases[] = {
        {"", QP_JSON_FAULT_SYNTAX, 0},
        {"  ", QP_JSON_FAULT_SYNTAX, 2},
        {"\xef\xbb\xbf{}", QP_JSON_FAULT_SYNTAX, 0},
        {"nul", QP_JSON_FAULT_SYNTAX, 0},
        {"nulll", QP_JSON_FAULT_SYNTAX, 4},
        {"True", QP_JSON_FAULT_SYNTAX, 0},
        {"NaN", QP_JSON_FAULT_SYNTAX, 0},
        {"-Infinity", QP_JSON_FAULT_SYNTAX, 1},
        {"01", QP_JSON_FAULT_SYNTAX, 0},
        {"-01", QP_JSON_FAULT_SYNTAX, 0},
        {"00", QP_JSON_FAULT_SYNTAX, 0},
        {"-", QP_JSON_FAULT_SYNTAX, 1},
        {"+1", QP_JSON_FAULT_SYNTAX, 0},
        {"1.", QP_JSON_FAULT_SYNTAX, 2},
        {".5", QP_JSON_FAULT_SYNTAX, 0},
        {"1e", QP_JSON_FAULT_SYNTAX, 2},
        {"1e+", QP_JSON_FAULT_SYNTAX, 3},
        {"0x10", QP_JSON_FAULT_SYNTAX, 1},
        {"1 2", QP_JSON_FAULT_SYNTAX, 2},
        {"[1 2]", QP_JSON_FAULT_SYNTAX, 3},
        {"[1,]", QP_JSON_FAULT_SYNTAX, 3},
        {"[,1]", QP_JSON_FAULT_SYNTAX, 1},
        {"[1", QP_JSON_FAULT_SYNTAX, 2},
        {"[", QP_JSON_FAULT_SYNTAX, 1},
        {"]", QP_JSON_FAULT_SYNTAX, 0},
        {"[1}", QP_JSON_FAULT_SYNTAX, 2},
        {"{\"a\":1]", QP_JSON_FAULT_SYNTAX, 6},
        {"{\"a\" 1}", QP_JSON_FAULT_SYNTAX, 5},
        {"{\"a\":}", QP_JSON_FAULT_SYNTAX, 5},
        {"{\"a\":1,}", QP_JSON_FAULT_SYNTAX, 7},
        {"{a:1}", QP_JSON_FAULT_SYNTAX, 1},
        {"{1:1}", QP_JSON_FAULT_SYNTAX, 1},
        {"{", QP_JSON_FAULT_SYNTAX, 1},
        {"{\"a\"", QP_JSON_FAULT_SYNTAX, 4},
        {"{\"a\":", QP_JSON_FAULT_SYNTAX, 5},
        {"{\"a\":1", QP_JSON_FAULT_SYNTAX, 6},
        {"{} {}", QP_JSON_FAULT_SYNTAX, 3},
        {"[] x", QP_JSON_FAULT_SYNTAX, 3},
        {"'a'", QP_JSON_FAULT_SYNTAX, 0},
        {"// c\n1", QP_JSON_FAULT_SYNTAX, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].fault, cases[i].offset);
    assert_refused("1\0", 2, QP_JSON_FAULT_SYNTAX, 1);
    assert_refused("[\0", 2, QP_JSON_FAULT_SYNTAX, 1);
    assert_refused("\0", 1, QP_JSON_FAULT_SYNTAX, 0);
}

static void test_refuses_strings(void **state)
{
    static const refusal cases[] = {
        {"\"", QP_JSON_FAULT_SYNTAX, 0},
        {"\"a", QP_JSON_FAULT_SYNTAX, 0},
        {"\"a\\\"", QP_JSON_FAULT_SYNTAX, 0},
        {"\"a\nb\"", QP_JSON_FAULT_SYNTAX, 2},
        {"\"\x1f\"", QP_JSON_FAULT_SYNTAX, 1},
        {"\"\\x41\"", QP_JSON_FAULT_SYNTAX, 1},
        {"\"\\u12\"", QP_JSON_FAULT_SYNTAX, 1},
        {"\"\\u12g4\"", QP_JSON_FAULT_SYNTAX, 1},
        {"\"ab\\ud800\"", QP_JSON_FAULT_SURROGATE, 3},
        {"\"\\udc00\"", QP_JSON_FAULT_SURROGATE, 1},
        {"\"\\ud800\\u0041\"", QP_JSON_FAULT_SURROGATE, 1},
        {"\"\\ud800\\ud800\"", QP_JSON_FAULT_SURROGATE, 1},
        {"\"\\ud83d\\\\de00\"", QP_JSON_FAULT_SURROGATE, 1},
        {"\"\x80\"", QP_JSON_FAULT_ENCODING, 1},         /* a continuation alone */
        {"\"\xc0\x80\"", QP_JSON_FAULT_ENCODING, 1},     /* overlong */
        {"\"\xc1\xbf\"", QP_JSON_FAULT_ENCODING, 1},     /* overlong */
        {"\"\xe0\x9f\xbf\"", QP_JSON_FAULT_ENCODING, 1}, /* overlong */
        {"\"\xed\xa0\x80\"", QP_JSON_FAULT_ENCODING, 1}, /* a surrogate */
        {"\"\xf0\x8f\xbf\xbf\"", QP_JSON_FAULT_ENCODING, 1},
        {"\"\xf4\x90\x80\x80\"", QP_JSON_FAULT_ENCODING, 1}, /* above U+10FFFF */
        {"\"\xf5\x80\x80\x80\"", QP_JSON_FAULT_ENCODING, 1},
        {"\"x\xc2\"", QP_JSON_FAULT_ENCODING, 2},
        {"\"\xe2\x82", QP_JSON_FAULT_ENCODING, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].fault, cases[i].offset);
}

/* Allowed, half a pair decodes to what UTF-8 would have for it, and is told apart. */
static void test_lone_surrogates(void **state)
{
    static const struct {
        const char *text;
        const char *decoded;
        bool is_utf8;
    } cases[] = {
        {"\"ab\\ud800\"", "ab\xed\xa0\x80", false},
        {"\"\\udc00c\"",
         "\xed\xb0\x80"
         "c",
         false},
        {"\"\\ud800\\ud83d\\ude00\"", "\xed\xa0\x80\xf0\x9f\x98\x80", false},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", true},
        {"\"plain\"", "plain", true},
    };
    qp_json json;
    (void)state;

    qp_json_init(&json, NULL);
    json.allow_lone_surrogates = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(qp_json_parse(&json, cases[i].text, strlen(cases[i].text), NULL), QP_OK);
        assert_true(qp_json_equals(qp_json_root(&json), cases[i].decoded));
        assert_int_equal(qp_json_is_utf8(qp_json_root(&json)), cases[i].is_utf8);
    }
    static const char twice[] = "{\"\\udc00\":1,\"\\uDC00\":2}";
    assert_int_equal(qp_json_parse(&json, twice, strlen(twice), NULL), QP_MALFORMED);
    assert_int_equal(json.fault, QP_JSON_FAULT_DUPLICATE);
    assert_int_equal(qp_json_parse(&json, "7", 1, NULL), QP_OK);
    assert_false(qp_json_is_utf8(qp_json_root(&json)));
    qp_json_free(&json);
}

/* The text of every value of an array, as it stands. */
static void test_source(void **state)
{
    static const char *const values[] = {
        "-1.50e3", "\"a]\\\"}\"", "[ 1,[2, \"]\"] ]", "{\"}\":{\"\\\\\": [] } }", "true", "null",
        "[]",      "{}"};
    char text[256] = "[";
    qp_json json;
    qp_json_value value;
    const char *source;
    size_t length, n = 0;
    (void)state;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        strcat(text, i > 0 ? " , " : " ");
        strcat(text, values[i]);
    }
    strcat(text, " ]");
    assert_int_equal(parse(&json, text, NULL), QP_OK);
    qp_json_iterator iterator = qp_json_iterate(qp_json_root(&json));
    while (qp_json_next(&iterator, &value)) {
        qp_json_source(value, &source, &length);
        assert_int_equal(length, strlen(values[n]));
        assert_memory_equal(source, values[n++], length);
    }
    assert_int_equal(n, sizeof values / sizeof values[0]);
    qp_json_source(qp_json_root(&json), &source, &length);
    assert_int_equal(length, strlen(text));
    qp_json_source(QP_JSON_NO_VALUE, &source, &length);
    assert_null(source);
    assert_int_equal(length, 0);
    qp_json_free(&json);
}

static void test_depth(void **state)
{
    char text[4 * 129 + 1];
    qp_json json;
    (void)state;

    memset(text, '[', 128);
    memset(text + 128, ']', 128);
    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, text, 256, NULL), QP_OK);
    qp_json_free(&json);

    memset(text, '[', 129);
    memset(text + 129, ']', 129);
    assert_refused(text, 258, QP_JSON_FAULT_DEPTH, 128);

    size_t n = 0; /* {"":{"":... counts the same */
    for (size_t i = 0; i < 129; i++, n += 4)
        memcpy(text + n, "{\"\":", 4);
    assert_refused(text, n, QP_JSON_FAULT_DEPTH, 128 * 4);
}

/* Every proper prefix of an object is refused, at a place within it, and reads nothing behind it
 * (the prefix lies in a block of its own size, which the address sanitizer guards). */
static void test_every_prefix(void **state)
{
    static const char text[] =
        "{\"a\":[1,-2.5e+3,\"\\u00e9\\ud83d\\ude00\xe2\x82\xac\"],\"b\":{\"c\":null,\"d\":true}}";
    (void)state;
    for (size_t size = 0; size < sizeof text - 1; size++) {
        qp_json json;
        qp_error error;
        char *copy = malloc(size > 0 ? size : 1);
        assert_non_null(copy);
        memcpy(copy, text, size);
        qp_json_init(&json, NULL);
        assert_int_equal(qp_json_parse(&json, copy, size, &error), QP_MALFORMED);
        assert_in_range((uintmax_t)error.offset, 0, size);
        qp_json_free(&json);
        free(copy);
    }
}

/* ---- places --------------------------------------------------------------------------------- */

static void test_places(void **state)
{
    qp_json json;
    qp_error error;
    (void)state;

    assert_int_equal(parse(&json, "{\n  \"\xc3\xa9\": 1,\n  \"b\": }", &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 3, column 8: expected a value");
    assert_int_equal(error.offset, 20);
    assert_int_equal(error.record, -1);
    qp_json_free(&json);

    assert_int_equal(parse(&json, "[\"\xc3\xa9\xe2\x82\xac\", 7]", &error), QP_OK);
    qp_json_iterator it = qp_json_iterate(qp_json_root(&json));
    qp_json_value value;
    assert_true(qp_json_next(&it, &value) && qp_json_next(&it, &value));
    qp_json_place place = qp_json_place_of(value);
    assert_int_equal(place.line, 1);
    assert_int_equal(place.column, 8); /* behind [ " two characters " , space */
    assert_int_equal(place.offset, 10);
    assert_int_equal(qp_json_fail(value, &error, "seven is %s", "odd"), QP_MALFORMED);
    assert_string_equal(error.message, "line 1, column 8: seven is odd");
    assert_null(error.check);
    assert_int_equal(qp_json_fail_check(value, &error, "ODD", "seven"), QP_MALFORMED);
    assert_string_equal(error.message, "line 1, column 8: seven");
    assert_string_equal(error.check, "ODD");
    assert_int_equal(error.offset, 10);
    assert_int_equal(qp_json_fail_check(value, NULL, "ODD", "seven"), QP_MALFORMED);
    qp_json_free(&json);

    /* the 12th line of a JSON Lines file */
    qp_json_init(&json, NULL);
    json.first_line = 12;
    json.first_offset = 1000;
    assert_int_equal(qp_json_parse(&json, "{x", 2, &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 12, column 2: expected a member's name in quotes");
    assert_int_equal(error.offset, 1001);
    qp_json_free(&json);
}

/* ---- duplicate names ------------------------------------------------------------------------ */

static void test_duplicates(void **state)
{
    static const refusal cases[] = {
        {"{\"a\":1,\"a\":1}", QP_JSON_FAULT_DUPLICATE, 7},
        {"{\"a\":1,\"\\u0061\":1}", QP_JSON_FAULT_DUPLICATE, 7},
        {"{\"\":1,\"\":1}", QP_JSON_FAULT_DUPLICATE, 6},
        {"[{},{\"x\":{\"y\":1,\"y\":2}}]", QP_JSON_FAULT_DUPLICATE, 16},
        {"{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":1}", QP_JSON_FAULT_DUPLICATE, 18},
        {"{\"a\":1,\"b\":1,\"b\":1,\"a\":1}", QP_JSON_FAULT_DUPLICATE, 13}, /* the first one */
    };
    qp_json json;
    qp_json_value value;
    int64_t number;
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].fault, cases[i].offset);

    qp_json_init(&json, NULL);
    json.allow_duplicates = true;
    assert_int_equal(qp_json_parse(&json, "{\"a\":1,\"b\":2,\"\\u0061\":3}", 24, NULL), QP_OK);
    assert_true(qp_json_find(qp_json_root(&json), "a", &value));
    assert_int_equal(qp_json_get_i64(value, &number, NULL), QP_OK);
    assert_int_equal(number, 3);
    qp_json_free(&json);
}

/* Objects of every size around the one where the search changes its way: distinct names pass, and
 * a repetition of each name is found at its place. */
static void test_duplicates_at_every_place(void **state)
{
    (void)state;
    for (unsigned count = 2; count <= 40; count++) {
        for (unsigned repeated = 0; repeated < count; repeated++) {
            char text[1024];
            int n = 0;
            int64_t place = 0;
            for (unsigned i = 0; i < count; i++)
                n += snprintf(text + n, sizeof text - (size_t)n, "%s\"n%u\":[%u]",
                              i == 0 ? "{" : ",", i * 7919 % 1000, i);
            place = n + 1;
            snprintf(text + n, sizeof text - (size_t)n, ",\"n%u\":0}", repeated * 7919 % 1000);
            assert_refused(text, strlen(text), QP_JSON_FAULT_DUPLICATE, place);

            snprintf(text + n, sizeof text - (size_t)n, ",\"n%u\":0}", 1000 + repeated);
            qp_json json;
            assert_int_equal(parse(&json, text, NULL), QP_OK);
            assert_int_equal(qp_json_count(qp_json_root(&json)), count + 1);
            qp_json_free(&json);
        }
    }
}

/* ---- names made to collide ------------------------------------------------------------------ */

enum { BLOCK = 6, LEVELS = 16, NAMES = 1 << LEVELS };

static uint32_t fnv1a(uint32_t hash, const char *block)
{
    for (unsigned i = 0; i < BLOCK; i++)
        hash = (hash ^ (uint8_t)block[i]) * 0x01000193u;
    return hash;
}

static void make_block(uint32_t seed, char *block)
{
    seed *= 2654435761u; /* derived: the odd number next to 2^32 / 1.618: spreads the seeds */
    for (unsigned i = 0; i < BLOCK; i++, seed /= 26)
        block[i] = (char)('a' + seed % 26);
}

/* Two blocks that lead from one hash to one hash, by the birthday paradox; returns that hash. */
static uint32_t find_pair(uint32_t from, char *first, char *second)
{
    enum { SLOTS = 1 << 21 };
    uint32_t *seeds = calloc(SLOTS, sizeof *seeds);
    uint32_t hash = 0;
    assert_non_null(seeds);
    for (uint32_t seed = 1; seed < SLOTS / 2; seed++) {
        make_block(seed, second);
        hash = fnv1a(from, second);
        uint32_t slot = hash % SLOTS;
        for (; seeds[slot] != 0; slot = (slot + 1) % SLOTS) {
            make_block(seeds[slot], first);
            if (fnv1a(from, first) == hash) {
                free(seeds);
                return hash;
            }
        }
        seeds[slot] = seed;
    }
    fail_msg("no pair of blocks collides");
    return hash;
}

/* 2^16 names of 96 bytes that all have one hash, each a choice of one block of each of 16 pairs:
 * chance would not make three such names. Quadratic work would take over 2^31 comparisons. */
static void test_names_made_to_collide(void **state)
{
    char blocks[LEVELS][2][BLOCK + 1] = {{{0}}};
    uint32_t hash = 0x811c9dc5u;
    qp_buffer buffer;
    qp_json json;
    (void)state;

    for (unsigned level = 0; level < LEVELS; level++)
        hash = find_pair(hash, blocks[level][0], blocks[level][1]);
    qp_buffer_init(&buffer, NULL);
    for (unsigned i = 0; i < NAMES; i++) {
        qp_buffer_text(&buffer, i == 0 ? "{\"" : ",\"");
        for (unsigned level = 0; level < LEVELS; level++)
            qp_buffer_text(&buffer, blocks[level][i >> level & 1]);
        qp_buffer_text(&buffer, "\":0");
    }
    qp_buffer_text(&buffer, "}");
    assert_false(buffer.failed);

    clock_t start = clock();
    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, buffer.bytes, buffer.size, NULL), QP_OK);
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
    assert_int_equal(qp_json_count(qp_json_root(&json)), NAMES);
    qp_json_free(&json);
    qp_buffer_free(&buffer);
}

/* "liquid" and "costarring", and "declinate" and "macallums", have one 32-bit FNV-1a hash each:
 * they are not duplicates, in an object big enough to be sorted by hash. */
static void test_names_of_one_hash(void **state)
{
    static const char text[] =
        "{\"liquid\":1,\"b\":2,\"c\":3,\"declinate\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,"
        "\"macallums\":10,\"costarring\":11}";
    qp_json json;
    int64_t number;
    (void)state;
    assert_int_equal(parse(&json, text, NULL), QP_OK);
    assert_int_equal(qp_json_get_i64(member(qp_json_root(&json), "costarring"), &number, NULL),
                     QP_OK);
    assert_int_equal(number, 11);
    qp_json_free(&json);
    assert_refused("{\"liquid\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,"
                   "\"costarring\":1,\"liquid\":1}",
                   86, QP_JSON_FAULT_DUPLICATE, 75);
}

/* ---- integers ------------------------------------------------------------------------------- */

static void assert_i64(const char *text, qp_status status, int64_t expected)
{
    qp_json json;
    int64_t number = 77;
    assert_int_equal(parse(&json, text, NULL), QP_OK);
    assert_int_equal(qp_json_get_i64(qp_json_root(&json), &number, NULL), status);
    assert_true(number == (status == QP_OK ? expected : 77));
    qp_json_free(&json);
}

static void assert_u64(const char *text, qp_status status, uint64_t expected)
{
    qp_json json;
    uint64_t number = 77;
    assert_int_equal(parse(&json, text, NULL), QP_OK);
    assert_int_equal(qp_json_get_u64(qp_json_root(&json), &number, NULL), status);
    assert_true(number == (status == QP_OK ? expected : 77));
    qp_json_free(&json);
}

static void test_integers(void **state)
{
    (void)state;
    assert_i64("0", QP_OK, 0);
    assert_i64("-0", QP_OK, 0);
    assert_i64("9007199254740993", QP_OK, 9007199254740993); /* 2^53 + 1: lost by doubles */
    assert_i64("9223372036854775807", QP_OK, INT64_MAX);
    assert_i64("9223372036854775808", QP_MALFORMED, 0);
    assert_i64("-9223372036854775808", QP_OK, INT64_MIN);
    assert_i64("-9223372036854775809", QP_MALFORMED, 0);
    assert_i64("18446744073709551616", QP_MALFORMED, 0);
    assert_i64("1.0", QP_MALFORMED, 0);
    assert_i64("1e3", QP_MALFORMED, 0);
    assert_i64("true", QP_MALFORMED, 0);
    assert_i64("\"1\"", QP_MALFORMED, 0);
    assert_i64("[1]", QP_MALFORMED, 0);

    assert_u64("18446744073709551615", QP_OK, UINT64_MAX);
    assert_u64("18446744073709551616", QP_MALFORMED, 0);
    assert_u64("99999999999999999999999999", QP_MALFORMED, 0);
    assert_u64("-0", QP_OK, 0);
    assert_u64("-1", QP_MALFORMED, 0);
    assert_u64("null", QP_MALFORMED, 0);
}

static void test_integer_messages(void **state)
{
    qp_json json;
    qp_error error;
    int64_t number;
    (void)state;

    parse(&json, "1e3", NULL);
    qp_json_get_i64(qp_json_root(&json), &number, &error);
    assert_string_equal(error.message,
                        "line 1, column 1: expected an integer without fraction and exponent");
    assert_false(qp_json_is_integer(qp_json_root(&json)));
    const char *text;
    size_t length;
    assert_int_equal(qp_json_number_text(qp_json_root(&json), &text, &length, NULL), QP_OK);
    assert_int_equal(length, 3);
    assert_memory_equal(text, "1e3", 3);
    qp_json_free(&json);

    parse(&json, "-9223372036854775809", NULL);
    assert_true(qp_json_is_integer(qp_json_root(&json)));
    qp_json_get_i64(qp_json_root(&json), &number, &error);
    assert_string_equal(error.message,
                        "line 1, column 1: the integer lies outside -2^63 to 2^63 - 1");
    qp_json_free(&json);

    parse(&json, "{}", NULL);
    qp_json_get_i64(qp_json_root(&json), &number, &error);
    assert_string_equal(error.message, "line 1, column 1: expected an integer, found an object");
    qp_json_free(&json);
}

static void test_decimal_strings(void **state)
{
    static const struct {
        const char *text;
        bool canonical;
        qp_status as_i64;
        int64_t value;
    } cases[] = {
        {"\"0\"", true, QP_OK, 0},
        {"\"7\"", true, QP_OK, 7},
        {"\"-12\"", true, QP_OK, -12},
        {"\"9223372036854775807\"", true, QP_OK, INT64_MAX},
        {"\"-9223372036854775808\"", true, QP_OK, INT64_MIN},
        {"\"9223372036854775808\"", true, QP_MALFORMED, 0},
        {"\"-57896044618658097711785492504343953926634992332820282019728792003956564819968\"", true,
         QP_MALFORMED, 0}, /* -2^255 */
        {"\"\"", false, QP_MALFORMED, 0},
        {"\"-\"", false, QP_MALFORMED, 0},
        {"\"-0\"", false, QP_MALFORMED, 0},
        {"\"00\"", false, QP_MALFORMED, 0},
        {"\"01\"", false, QP_MALFORMED, 0},
        {"\"-01\"", false, QP_MALFORMED, 0},
        {"\"+1\"", false, QP_MALFORMED, 0},
        {"\" 1\"", false, QP_MALFORMED, 0},
        {"\"1 \"", false, QP_MALFORMED, 0},
        {"\"1.0\"", false, QP_MALFORMED, 0},
        {"\"\\u0031\"", false, QP_MALFORMED, 0},
        {"1", false, QP_MALFORMED, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        qp_json json;
        int64_t value = 77;
        const char *text;
        size_t length;
        assert_int_equal(parse(&json, cases[i].text, NULL), QP_OK);
        qp_json_value root = qp_json_root(&json);
        assert_int_equal(qp_json_decimal_text(root, &text, &length, NULL) == QP_OK,
                         cases[i].canonical);
        assert_int_equal(qp_json_decimal_i64(root, &value, NULL), cases[i].as_i64);
        assert_true(value == (cases[i].as_i64 == QP_OK ? cases[i].value : 77));
        qp_json_free(&json);
    }
    qp_json json;
    uint64_t value;
    parse(&json, "[\"18446744073709551615\",\"-1\"]", NULL);
    qp_json_iterator it = qp_json_iterate(qp_json_root(&json));
    qp_json_value element;
    assert_true(qp_json_next(&it, &element));
    assert_int_equal(qp_json_decimal_u64(element, &value, NULL), QP_OK);
    assert_true(value == UINT64_MAX);
    assert_true(qp_json_next(&it, &element));
    assert_int_equal(qp_json_decimal_u64(element, &value, NULL), QP_MALFORMED);
    qp_json_free(&json);
}

static void test_integer_arrays(void **state)
{
    qp_json json;
    qp_error error;
    int64_t values[3];
    (void)state;

    parse(&json, "[1,-2,3]", NULL);
    assert_int_equal(qp_json_get_i64_array(qp_json_root(&json), values, 3, NULL), QP_OK);
    assert_true(values[0] == 1 && values[1] == -2 && values[2] == 3);
    assert_int_equal(qp_json_get_i64_array(qp_json_root(&json), values, 2, &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 1, column 7: the array has more than 2 elements");
    qp_json_free(&json);

    parse(&json, "[1,2]", NULL);
    assert_int_equal(qp_json_get_i64_array(qp_json_root(&json), values, 3, &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 1, column 1: the array has 2 elements, not 3");
    qp_json_free(&json);

    parse(&json, "[1,[2],3]", NULL);
    assert_int_equal(qp_json_get_i64_array(qp_json_root(&json), values, 3, &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 1, column 4: expected an integer, found an array");
    qp_json_free(&json);
}

/* ---- strings -------------------------------------------------------------------------------- */

static void test_strings(void **state)
{
    qp_json json;
    qp_error error;
    char copy[8];
    const char *view;
    size_t length;
    (void)state;

    assert_int_equal(parse(&json,
                           "{\"plain\":\"abc\",\"escaped\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\","
                           "\"unicode\":\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\","
                           "\"nul\":\"a\\u0000b\",\"empty\":\"\",\"edge\":\"\\udbff\\udfff\"}",
                           &error),
                     QP_OK);
    qp_json_value root = qp_json_root(&json);
    assert_string(member(root, "plain"), "abc", 3);
    assert_string(member(root, "escaped"), "\"\\/\b\f\n\r\t", 8);
    assert_string(member(root, "unicode"), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10);
    assert_string(member(root, "nul"), "a\0b", 3);
    assert_string(member(root, "empty"), "", 0);
    assert_string(member(root, "edge"), "\xf4\x8f\xbf\xbf", 4);

    assert_true(qp_json_equals(member(root, "plain"), "abc"));
    assert_false(qp_json_equals(member(root, "plain"), "ab"));
    assert_false(qp_json_equals(member(root, "plain"), "abcd"));
    assert_true(qp_json_equals(member(root, "unicode"), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    assert_false(qp_json_equals(member(root, "nul"), "a"));
    assert_false(qp_json_equals(root, ""));

    assert_true(qp_json_string_view(member(root, "plain"), &view, &length));
    assert_int_equal(length, 3);
    assert_false(qp_json_string_view(member(root, "escaped"), &view, &length));

    assert_int_equal(qp_json_copy_string(member(root, "plain"), copy, 4, NULL), QP_OK);
    assert_string_equal(copy, "abc");
    assert_int_equal(qp_json_copy_string(member(root, "plain"), copy, 3, &error), QP_MALFORMED);
    assert_string_equal(copy, "");
    assert_non_null(strstr(error.message, "longer than 2 bytes"));
    assert_int_equal(qp_json_copy_string(member(root, "nul"), copy, 8, &error), QP_MALFORMED);
    assert_non_null(strstr(error.message, "U+0000"));
    assert_int_equal(qp_json_copy_string(root, copy, 8, &error), QP_MALFORMED);
    qp_json_free(&json);
}

static void assert_written(const char *text, size_t size, const char *expected)
{
    qp_buffer buffer;
    qp_buffer_init(&buffer, NULL);
    qp_buffer_json_string(&buffer, text, size);
    qp_buffer_append(&buffer, "", 1);
    assert_false(buffer.failed);
    assert_string_equal((const char *)buffer.bytes, expected);
    qp_buffer_free(&buffer);
}

static void test_writes_strings(void **state)
{
    (void)state;
    assert_written("", 0, "\"\"");
    assert_written("abc", 3, "\"abc\"");
    assert_written("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    assert_written("\b\f\n\r\t\0\x1f\x7f", 8, "\"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"");
    assert_written("\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    assert_written("a\xff"
                   "b\xc3",
                   4, "\"a\\ufffdb\\ufffd\"");
    assert_written("\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"");
}

/* ---- values --------------------------------------------------------------------------------- */

static void test_walks(void **state)
{
    static const qp_json_kind kinds[] = {QP_JSON_NULL,   QP_JSON_BOOLEAN, QP_JSON_BOOLEAN,
                                         QP_JSON_NUMBER, QP_JSON_STRING,  QP_JSON_ARRAY,
                                         QP_JSON_OBJECT, QP_JSON_NUMBER};
    qp_json json;
    qp_json_value value, name;
    size_t n = 0;
    bool flag = false;
    (void)state;

    parse(&json, "[null,true,false,-1,\"s\",[1,[2,3]],{\"a\":[4],\"b\":{}},9]", NULL);
    qp_json_value root = qp_json_root(&json);
    assert_int_equal(qp_json_count(root), 8);
    qp_json_iterator it = qp_json_iterate(root);
    for (; qp_json_next(&it, &value); n++) {
        assert_int_equal(qp_json_kind_of(value), kinds[n]);
        assert_int_equal(qp_json_is_null(value), n == 0);
        if (n == 1 || n == 2) {
            assert_int_equal(qp_json_get_bool(value, &flag, NULL), QP_OK);
            assert_int_equal(flag, n == 1);
        } else {
            assert_int_equal(qp_json_get_bool(value, &flag, NULL), QP_MALFORMED);
        }
        if (n == 6) {
            assert_int_equal(qp_json_count(value), 2);
            qp_json_iterator members = qp_json_iterate(value);
            qp_json_value inner;
            assert_true(qp_json_next_member(&members, &name, &inner));
            assert_true(qp_json_equals(name, "a"));
            assert_true(qp_json_next_member(&members, &name, &inner));
            assert_true(qp_json_equals(name, "b"));
            assert_false(qp_json_next_member(&members, &name, &inner));
        }
    }
    assert_int_equal(n, 8);
    it = qp_json_iterate(QP_JSON_NO_VALUE);
    assert_false(qp_json_next(&it, &value));
    qp_json_free(&json);
}

static void test_members(void **state)
{
    qp_json json;
    qp_json_value value = QP_JSON_NO_VALUE;
    qp_error error;
    (void)state;

    parse(&json, "{\"deep\":{\"a\":1},\"\\u0061\":\"x\"}", NULL);
    qp_json_value root = qp_json_root(&json);
    assert_int_equal(qp_json_member(root, "a", QP_JSON_STRING, &value, NULL), QP_OK);
    assert_true(qp_json_equals(value, "x"));
    assert_int_equal(qp_json_member(root, "a", QP_JSON_NUMBER, &value, &error), QP_MALFORMED);
    assert_string_equal(error.message,
                        "line 1, column 26: member \"a\": expected a number, found a string");
    assert_int_equal(qp_json_member(root, "b", QP_JSON_ABSENT, &value, &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 1, column 1: the object has no member \"b\"");
    assert_int_equal(qp_json_member(value, "b", QP_JSON_ABSENT, &value, &error), QP_MALFORMED);
    assert_string_equal(error.message, "line 1, column 26: expected an object, found a string");
    assert_false(qp_json_find(value, "a", &value));
    assert_int_equal(qp_json_kind_of(value), QP_JSON_ABSENT);
    qp_json_free(&json);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void test_every_allocation_fails_once(void **state)
{
    qp_buffer text;
    (void)state;

    qp_buffer_init(&text, NULL); /* enough tokens and names that both arrays grow more than once */
    for (unsigned i = 0; i < 300; i++)
        qp_buffer_format(&text, "%s\"m%u\":[%u,null]", i == 0 ? "{" : ",", i, i);
    qp_buffer_text(&text, ",\"o\":{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,"
                          "\"9\":1}}");
    size_t k = 1;
    for (;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_error error = {.status = QP_OK};
        qp_json json;
        qp_json_init(&json, &allocator);
        qp_status status = qp_json_parse(&json, text.bytes, text.size, &error);
        assert_int_equal(qp_json_kind_of(qp_json_root(&json)),
                         status == QP_OK ? QP_JSON_OBJECT : QP_JSON_ABSENT);
        qp_json_free(&json);
        assert_false(memory.has_fault);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(memory.bytes, 0);
        if (!memory.has_failed) {
            assert_int_equal(status, QP_OK);
            break;
        }
        assert_int_equal(status, QP_NO_MEMORY);
        assert_int_equal(error.status, QP_NO_MEMORY);
        assert_int_equal(json.fault, QP_JSON_FAULT_MEMORY);
    }
    assert_true(k > 5);
    qp_buffer_free(&text);
}

static void test_memory_is_kept_and_bounded(void **state)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_buffer text;
    qp_json json;
    (void)state;

    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "[0");
    for (unsigned i = 0; i < 100000; i++)
        qp_buffer_text(&text, ",0");
    qp_buffer_text(&text, "]");
    qp_json_init(&json, &allocator);
    assert_int_equal(qp_json_parse(&json, text.bytes, text.size, NULL), QP_OK);
    assert_true(memory.high_water <= 8 * text.size);
    size_t requests = memory.requests;
    assert_int_equal(qp_json_parse(&json, text.bytes, text.size, NULL), QP_OK);
    assert_int_equal(memory.requests, requests);
    assert_int_equal(qp_json_parse(&json, "7", 1, NULL), QP_OK);
    assert_int_equal(qp_json_kind_of(qp_json_root(&json)), QP_JSON_NUMBER);
    qp_json_free(&json);
    assert_int_equal(memory.blocks, 0);
    qp_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_refuses_syntax),
        cmocka_unit_test(test_refuses_strings),
        cmocka_unit_test(test_lone_surrogates),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_duplicates_at_every_place),
        cmocka_unit_test(test_names_made_to_collide),
        cmocka_unit_test(test_names_of_one_hash),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_integer_messages),
        cmocka_unit_test(test_decimal_strings),
        cmocka_unit_test(test_integer_arrays),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_writes_strings),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_memory_is_kept_and_bounded),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
