/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json.c - a text that the JSON reader accepts, written again from its values, is accepted
 * and writes the same; its integers read back as they stand; and without memory it is refused.
 */
#include "base/json.h"

#include "../test/failing_allocator.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

static void write_value(qp_json_value value, qp_buffer *out);

static void write_string(qp_json_value value, qp_buffer *out)
{
    qp_buffer text;
    const char *view;
    size_t length;
    qp_buffer_init(&text, NULL);
    qp_json_append_string(value, &text);
    REQUIRE(!text.failed);
    if (qp_json_string_view(value, &view, &length))
        REQUIRE(length == text.size && (length == 0 || memcmp(view, text.bytes, length) == 0));
    qp_buffer_json_string(out, (const char *)text.bytes, text.size);
    qp_buffer_append(&text, "", 1);
    if (strlen((const char *)text.bytes) + 1 == text.size)
        REQUIRE(qp_json_equals(value, (const char *)text.bytes));
    qp_buffer_free(&text);
}

static void write_number(qp_json_value value, qp_buffer *out)
{
    const char *text;
    size_t length, start = out->size;
    int64_t i = 0;
    uint64_t u = 0;
    REQUIRE(qp_json_number_text(value, &text, &length, NULL) == QP_OK);
    bool is_i64 = qp_json_get_i64(value, &i, NULL) == QP_OK;
    bool is_u64 = qp_json_get_u64(value, &u, NULL) == QP_OK;
    REQUIRE(qp_json_is_integer(value) || (!is_i64 && !is_u64));
    if (is_i64 && is_u64)
        REQUIRE(i >= 0 && (uint64_t)i == u);
    if (is_i64)
        qp_buffer_i64_decimal(out, i);
    else if (is_u64)
        qp_buffer_u64_decimal(out, u);
    else
        qp_buffer_append(out, text, length);
    bool negative_zero = length == 2 && text[0] == '-' && text[1] == '0';
    REQUIRE(negative_zero ||
            (out->size - start == length && memcmp(out->bytes + start, text, length) == 0));
}

static void write_members(qp_json_value object, qp_buffer *out)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    bool first = true;
    qp_buffer_text(out, "{");
    while (qp_json_next_member(&iterator, &name, &value)) {
        qp_buffer_text(out, first ? "" : ",");
        first = false;
        write_string(name, out);
        qp_buffer_text(out, ":");
        write_value(value, out);
    }
    qp_buffer_text(out, "}");
}

static void write_elements(qp_json_value array, qp_buffer *out)
{
    qp_json_iterator iterator = qp_json_iterate(array);
    qp_json_value value;
    size_t count = 0;
    qp_buffer_text(out, "[");
    while (qp_json_next(&iterator, &value)) {
        qp_buffer_text(out, count++ == 0 ? "" : ",");
        write_value(value, out);
    }
    qp_buffer_text(out, "]");
    REQUIRE(count == qp_json_count(array));
}

/* Recursive: the reader has limited the depth to 128. */
static void write_value(qp_json_value value, qp_buffer *out)
{
    bool flag = false;
    switch (qp_json_kind_of(value)) {
    case QP_JSON_NULL:
        qp_buffer_text(out, "null");
        break;
    case QP_JSON_BOOLEAN:
        REQUIRE(qp_json_get_bool(value, &flag, NULL) == QP_OK);
        qp_buffer_text(out, flag ? "true" : "false");
        break;
    case QP_JSON_NUMBER:
        write_number(value, out);
        break;
    case QP_JSON_STRING:
        write_string(value, out);
        break;
    case QP_JSON_ARRAY:
        write_elements(value, out);
        break;
    case QP_JSON_OBJECT:
        write_members(value, out);
        break;
    case QP_JSON_ABSENT:
        REQUIRE(false);
    }
}

static bool rewrite(const void *text, size_t size, bool allow_duplicates, qp_buffer *out)
{
    qp_json json;
    qp_error error;
    qp_json_init(&json, NULL);
    json.allow_duplicates = allow_duplicates;
    qp_status status = qp_json_parse(&json, text, size, &error);
    if (status == QP_OK)
        write_value(qp_json_root(&json), out);
    else
        REQUIRE(status == QP_MALFORMED && error.offset >= 0 && (uint64_t)error.offset <= size);
    REQUIRE((status == QP_OK) == (json.fault == QP_JSON_FAULT_NONE));
    qp_json_free(&json);
    return status == QP_OK;
}

static void parse_without_memory(const uint8_t *data, size_t size)
{
    failing_allocator memory = failing_allocator_make(1 + size % 4);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_json json;
    qp_json_init(&json, &allocator);
    qp_status status = qp_json_parse(&json, data, size, NULL);
    REQUIRE(!memory.has_failed || status == QP_NO_MEMORY);
    qp_json_free(&json);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_buffer first, second;
    qp_buffer_init(&first, NULL);
    qp_buffer_init(&second, NULL);
    bool strict = rewrite(data, size, false, &first);
    first.size = 0;
    if (rewrite(data, size, true, &first)) {
        REQUIRE(rewrite(first.bytes, first.size, !strict, &second));
        REQUIRE(first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0);
    } else {
        REQUIRE(!strict);
    }
    parse_without_memory(data, size);
    qp_buffer_free(&first);
    qp_buffer_free(&second);
    return 0;
}
