/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_json.c - values of metadata as JSON, and JSON as values of GGUF's types.
 */
#include "artifact/metadata.h"

#include "number/minifloat.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the scalar types ------------------------------------------------------------------------ */

/* A row a type: how one value is written as JSON and read from it. */
typedef struct value_type {
    const char *name;
    qp_metadata_type type;
    uint32_t bytes; /* of a value; 0 for strings */
    bool is_signed;
    bool is_float;
} value_type;

static const value_type types[] = {
    {"u8", QP_META_U8, 1, false, false},   {"i8", QP_META_I8, 1, true, false},
    {"u16", QP_META_U16, 2, false, false}, {"i16", QP_META_I16, 2, true, false},
    {"u32", QP_META_U32, 4, false, false}, {"i32", QP_META_I32, 4, true, false},
    {"f32", QP_META_F32, 4, true, true},   {"bool", QP_META_BOOL, 1, false, false},
    {"u64", QP_META_U64, 8, false, false}, {"i64", QP_META_I64, 8, true, false},
    {"f64", QP_META_F64, 8, true, true},   {"string", QP_META_STRING, 0, false, false},
};

static const value_type *type_of(qp_metadata_type type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].type == type)
            return &types[i];
    }
    return NULL;
}

static const value_type *type_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return &types[i];
    }
    return NULL;
}

void qp_metadata_type_name(const qp_artifact_metadatum *entry, char text[QP_METADATA_TYPE_SIZE])
{
    bool is_array = entry->type == QP_META_ARRAY;
    const value_type *type = type_of(is_array ? entry->element_type : entry->type);
    snprintf(text, QP_METADATA_TYPE_SIZE, is_array ? "array<%s>" : "%s",
             type != NULL ? type->name : "json");
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint64_t load(const uint8_t *bytes, uint32_t count)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    return bits;
}

static void append_float(const value_type *type, uint64_t bits, qp_buffer *out)
{
    uint64_t exponent = type->bytes == 4 ? 0x7F800000u : UINT64_C(0x7FF) << 52;
    if ((bits & exponent) == exponent) {
        qp_buffer_format(out, "\"0x%0*" PRIx64 "\"", (int)(2 * type->bytes), bits);
    } else if (type->bytes == 4) {
        qp_append_f32(out, qp_float_of_bits((uint32_t)bits));
    } else {
        double value;
        memcpy(&value, &bits, sizeof value);
        qp_append_f64(out, value);
    }
}

static void append_integer(const value_type *type, uint64_t bits, qp_buffer *out)
{
    if (type->is_signed && bits >> (8 * type->bytes - 1) != 0) {
        uint64_t magnitude = 0 - (type->bytes < 8 ? bits | ~UINT64_C(0) << 8 * type->bytes : bits);
        qp_buffer_text(out, "-");
        qp_buffer_u64_decimal(out, magnitude);
    } else {
        qp_buffer_u64_decimal(out, bits);
    }
}

static void append_string(const uint8_t *bytes, uint64_t size, qp_buffer *out)
{
    if (qp_is_utf8(bytes, size)) {
        qp_buffer_json_string(out, (const char *)bytes, (size_t)size);
        return;
    }
    qp_buffer_text(out, "{\"hex\":\"");
    qp_buffer_hex(out, bytes, (size_t)size);
    qp_buffer_text(out, "\"}");
}

static void append_scalar(const value_type *type, const uint8_t *value, uint64_t size,
                          qp_buffer *out)
{
    if (type->bytes == 0) {
        append_string(value, size, out);
        return;
    }
    uint64_t bits = load(value, type->bytes);
    if (type->type == QP_META_BOOL)
        qp_buffer_text(out, bits != 0 ? "true" : "false");
    else if (type->is_float)
        append_float(type, bits, out);
    else
        append_integer(type, bits, out);
}

void qp_metadata_append_json(const qp_artifact_metadatum *entry, qp_buffer *out)
{
    bool is_array = entry->type == QP_META_ARRAY;
    const value_type *type = type_of(is_array ? entry->element_type : entry->type);
    if (type == NULL) { /* JSON */
        qp_buffer_append(out, entry->value, (size_t)entry->size);
        return;
    }
    if (!is_array) {
        append_scalar(type, entry->value, entry->size, out);
        return;
    }
    const uint8_t *value = entry->value;
    qp_buffer_text(out, "[");
    for (uint64_t i = 0; i < entry->count; i++) {
        uint64_t size = type->bytes;
        if (type->bytes == 0) {
            size = qp_load_u64(value);
            value += 8;
        }
        qp_buffer_text(out, i > 0 ? "," : "");
        append_scalar(type, value, size, out);
        value += size;
    }
    qp_buffer_text(out, "]");
}

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

bool qp_is_utf8(const uint8_t *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size;) {
        uint8_t first = bytes[i];
        unsigned more = first < 0x80   ? 0
                        : first < 0xC2 ? 4
                        : first < 0xE0 ? 1
                        : first < 0xF0 ? 2
                        : first < 0xF5 ? 3
                                       : 4;
        if (more == 4 || size - i <= more)
            return false;
        uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        for (unsigned k = 1; k <= more; k++) {
            if (bytes[i + k] < low || bytes[i + k] > high)
                return false;
            low = 0x80;
            high = 0xBF;
        }
        i += more + 1;
    }
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_hex(qp_json_value value, qp_buffer *out)
{
    const char *text;
    size_t length;
    if (!qp_json_string_view(value, &text, &length) || length % 2 != 0)
        return false;
    for (size_t i = 0; i < length; i += 2) {
        unsigned byte = 0;
        for (size_t k = 0; k < 2; k++) {
            const char *digits = "0123456789abcdef";
            const char *found = text[i + k] != '\0' ? strchr(digits, text[i + k]) : NULL;
            if (found == NULL)
                return false;
            byte = byte << 4 | (unsigned)(found - digits);
        }
        qp_buffer_le(out, byte, 1);
    }
    return true;
}

static bool read_string(qp_json_value value, qp_buffer *out)
{
    qp_json_value hex;
    if (qp_json_kind_of(value) == QP_JSON_STRING) {
        qp_json_append_string(value, out);
        return true;
    }
    return qp_json_find(value, "hex", &hex) && read_hex(hex, out);
}

static bool read_integer(const value_type *type, qp_json_value value, qp_buffer *out)
{
    uint64_t limit = UINT64_MAX >> (64 - 8 * type->bytes + (type->is_signed ? 1 : 0));
    uint64_t large;
    int64_t small;
    if (qp_json_get_u64(value, &large, NULL) == QP_OK) {
        qp_buffer_le(out, large, type->bytes);
        return large <= limit;
    }
    if (!type->is_signed || qp_json_get_i64(value, &small, NULL) != QP_OK)
        return false;
    qp_buffer_le(out, (uint64_t)small, type->bytes);
    return small >= -(int64_t)limit - 1;
}

/* A string of bits, "0x7fc00000". */
static bool read_bits(const value_type *type, qp_json_value value, qp_buffer *out)
{
    const char *text;
    size_t length;
    uint64_t bits = 0;
    if (!qp_json_string_view(value, &text, &length) || length != 2 + 2 * (size_t)type->bytes ||
        text[0] != '0' || text[1] != 'x')
        return false;
    for (size_t i = 2; i < length; i++) {
        const char *digits = "0123456789abcdef";
        const char *found = text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        if (found == NULL)
            return false;
        bits = bits << 4 | (uint64_t)(found - digits);
    }
    qp_buffer_le(out, bits, type->bytes);
    return true;
}

static bool read_float(const value_type *type, qp_json_value value, qp_buffer *out)
{
    const char *text;
    size_t length;
    float single;
    double wide;
    uint64_t bits;
    if (qp_json_kind_of(value) == QP_JSON_STRING)
        return read_bits(type, value, out);
    if (qp_json_number_text(value, &text, &length, NULL) != QP_OK)
        return false;
    if (type->bytes == 4) {
        if (!qp_read_f32(text, length, &single))
            return false;
        bits = qp_bits_of_float(single);
    } else {
        if (!qp_read_f64(text, length, &wide))
            return false;
        memcpy(&bits, &wide, sizeof bits);
    }
    qp_buffer_le(out, bits, type->bytes);
    return true;
}

static bool read_scalar(const value_type *type, qp_json_value value, qp_buffer *out)
{
    bool flag;
    if (type->bytes == 0)
        return read_string(value, out);
    if (type->is_float)
        return read_float(type, value, out);
    if (type->type != QP_META_BOOL)
        return read_integer(type, value, out);
    if (qp_json_get_bool(value, &flag, NULL) != QP_OK)
        return false;
    qp_buffer_le(out, flag ? 1 : 0, 1);
    return true;
}

static bool read_elements(const value_type *type, qp_json_value value, uint64_t *count,
                          qp_buffer *out)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;
    if (qp_json_kind_of(value) != QP_JSON_ARRAY)
        return false;
    for (*count = 0; qp_json_next(&iterator, &element); ++*count) {
        size_t at = out->size;
        if (type->bytes == 0)
            qp_buffer_le(out, 0, 8);
        if (!read_scalar(type, element, out))
            return false;
        if (type->bytes != 0 || out->failed)
            continue;
        uint64_t size = out->size - at - 8;
        for (unsigned i = 0; i < 8; i++)
            out->bytes[at + i] = (uint8_t)(size >> 8 * i);
    }
    return true;
}

/* ---- types that are not recorded ------------------------------------------------------------- */

/* The type of a scalar that says nothing of it: the smallest of u32, i32, u64, i64 for integers,
 * f64 for other numbers. */
static const value_type *choose_scalar(qp_json_value value)
{
    static const qp_metadata_type integers[] = {QP_META_U32, QP_META_I32, QP_META_U64, QP_META_I64};
    uint64_t large;
    int64_t small = 0;
    switch (qp_json_kind_of(value)) {
    case QP_JSON_STRING:
        return type_of(QP_META_STRING);
    case QP_JSON_BOOLEAN:
        return type_of(QP_META_BOOL);
    case QP_JSON_NUMBER:
        break;
    default:
        return NULL;
    }
    if (!qp_json_is_integer(value))
        return type_of(QP_META_F64);
    if (qp_json_get_u64(value, &large, NULL) == QP_OK)
        return type_of(integers[large <= UINT32_MAX ? 0 : 2]);
    if (qp_json_get_i64(value, &small, NULL) == QP_OK)
        return type_of(integers[small >= INT32_MIN ? 1 : 3]);
    return type_of(QP_META_F64);
}

/* The type of all elements; integers of both signs, or of two sizes, are i64. */
static const value_type *choose_element(qp_json_value array)
{
    qp_json_iterator iterator = qp_json_iterate(array);
    qp_json_value element;
    const value_type *type = NULL;
    while (qp_json_next(&iterator, &element)) {
        const value_type *own = choose_scalar(element);
        if (own == NULL)
            return NULL;
        if (type == NULL || type == own)
            type = own;
        else if (type->bytes < 4 || own->bytes < 4)
            return NULL; /* strings or booleans among others */
        else
            type = type_of(type->is_float || own->is_float ? QP_META_F64 : QP_META_I64);
    }
    return type != NULL ? type : type_of(QP_META_I32);
}

/* ---- one value ------------------------------------------------------------------------------- */

/* The type that a text names; for NULL one that suits the value. */
static const value_type *find_type(const char *name, qp_json_value value, bool *is_array)
{
    if (name == NULL) {
        *is_array = qp_json_kind_of(value) == QP_JSON_ARRAY;
        return *is_array ? choose_element(value) : choose_scalar(value);
    }
    size_t length = strlen(name);
    *is_array = length > 7 && strncmp(name, "array<", 6) == 0 && name[length - 1] == '>';
    return *is_array ? type_named(name + 6, length - 7) : type_named(name, length);
}

bool qp_metadata_read_json(qp_json_value value, const char *name, qp_arena *arena,
                           qp_artifact_metadatum *entry, bool *no_memory)
{
    bool is_array;
    const value_type *type = find_type(name, value, &is_array);
    if (type == NULL)
        return false;
    qp_buffer out;
    qp_buffer_init(&out, &arena->allocator);
    entry->type = is_array ? QP_META_ARRAY : type->type;
    entry->element_type = is_array ? type->type : QP_META_U8;
    entry->count = 1;
    bool read =
        is_array ? read_elements(type, value, &entry->count, &out) : read_scalar(type, value, &out);
    uint8_t *copy = read && !out.failed ? qp_arena_allocate(arena, out.size + 1, 1) : NULL;
    *no_memory = read && copy == NULL;
    if (copy != NULL && out.size > 0)
        memcpy(copy, out.bytes, out.size);
    entry->value = copy;
    entry->size = out.size;
    qp_buffer_free(&out);
    return copy != NULL;
}
