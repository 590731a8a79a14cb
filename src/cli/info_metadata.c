/* SPDX-License-Identifier: Apache-2.0 */
/* info_metadata.c - see info_metadata.h. */
#include "cli/info_metadata.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>

enum { SHOWN = 16 }; /* elements of an array */

typedef struct value {
    const uint8_t *bytes;
    size_t size;
} value;

/* ---- one value of each type --------------------------------------------------------------- */

static void put_u8(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_u64_decimal(text, v->bytes[0]);
}

static void put_i8(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_i64_decimal(text, qp_load_i8(v->bytes));
}

static void put_u16(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_u64_decimal(text, qp_load_u16(v->bytes));
}

static void put_i16(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_i64_decimal(text, qp_load_i16(v->bytes));
}

static void put_u32(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_u64_decimal(text, qp_load_u32(v->bytes));
}

static void put_i32(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_i64_decimal(text, qp_load_i32(v->bytes));
}

static void put_u64(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_u64_decimal(text, qp_load_u64(v->bytes));
}

static void put_i64(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_i64_decimal(text, qp_load_i64(v->bytes));
}

static void put_float(double number, int digits, bool json, qp_buffer *text)
{
    const char *quote = json && !isfinite(number) ? "\"" : "";
    qp_buffer_format(text, "%s%.*g%s", quote, digits, number, quote);
}

static void put_f32(const value *v, bool json, qp_buffer *text)
{
    uint32_t word = qp_load_u32(v->bytes);
    float number;
    memcpy(&number, &word, sizeof number);
    put_float((double)number, 9, json, text);
}

static void put_f64(const value *v, bool json, qp_buffer *text)
{
    uint64_t word = qp_load_u64(v->bytes);
    double number;
    memcpy(&number, &word, sizeof number);
    put_float(number, 17, json, text);
}

static void put_bool(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_text(text, v->bytes[0] != 0 ? "true" : "false");
}

static void put_string(const value *v, bool json, qp_buffer *text)
{
    if (json)
        qp_buffer_json_string(text, (const char *)v->bytes, v->size);
    else
        qp_buffer_append(text, v->bytes, v->size);
}

static void put_raw(const value *v, bool json, qp_buffer *text)
{
    (void)json;
    qp_buffer_append(text, v->bytes, v->size);
}

typedef struct type_row {
    const char *name;
    unsigned bytes; /* of one; 0: its length stands before it, or it is the whole */
    void (*put)(const value *v, bool json, qp_buffer *text);
} type_row;

static const type_row types[] = {
    [QP_META_U8] = {"u8", 1, put_u8},
    [QP_META_I8] = {"i8", 1, put_i8},
    [QP_META_U16] = {"u16", 2, put_u16},
    [QP_META_I16] = {"i16", 2, put_i16},
    [QP_META_U32] = {"u32", 4, put_u32},
    [QP_META_I32] = {"i32", 4, put_i32},
    [QP_META_F32] = {"f32", 4, put_f32},
    [QP_META_BOOL] = {"bool", 1, put_bool},
    [QP_META_STRING] = {"string", 0, put_string},
    [QP_META_ARRAY] = {"array", 0, put_raw},
    [QP_META_U64] = {"u64", 8, put_u64},
    [QP_META_I64] = {"i64", 8, put_i64},
    [QP_META_F64] = {"f64", 8, put_f64},
    [QP_META_JSON] = {"json", 0, put_raw},
};

/* ---- arrays ------------------------------------------------------------------------------- */

/* The element of an array at *at, which moves on; false past the end. */
static bool next_element(const qp_artifact_metadatum *datum, uint64_t *at, value *element)
{
    uint64_t size = types[datum->element_type].bytes, left = datum->size - *at;
    if (size == 0) {
        if (left < 8)
            return false;
        size = qp_load_u64(datum->value + *at);
        *at += 8;
        left -= 8;
    }
    if (size > left)
        return false;
    *element = (value){datum->value + *at, (size_t)size};
    *at += size;
    return true;
}

static void put_elements(const qp_artifact_metadatum *datum, bool json, size_t limit,
                         qp_buffer *text)
{
    uint64_t at = 0, i = 0;
    value element;
    size_t start = text->size;
    while (i < datum->count && i < SHOWN && text->size - start < limit &&
           next_element(datum, &at, &element)) {
        qp_buffer_text(text, i++ == 0 ? "" : json ? "," : ", ");
        types[datum->element_type].put(&element, json || datum->element_type == QP_META_STRING,
                                       text);
    }
    if (!json && i < datum->count)
        qp_buffer_format(text, ", .. %" PRIu64 " in all", datum->count);
}

/* ---- any value ---------------------------------------------------------------------------- */

void qp_info_metadata_type(const qp_artifact_metadatum *datum, qp_buffer *text)
{
    qp_buffer_text(text, types[datum->type].name);
    if (datum->type == QP_META_ARRAY)
        qp_buffer_format(text, " of %s", types[datum->element_type].name);
}

/* One line of a table: what is no printable ASCII becomes '?', a line's end a space. */
static void clean(qp_buffer *text, size_t start)
{
    for (size_t i = start; i < text->size; i++) {
        uint8_t c = text->bytes[i];
        if (c == '\n' || c == '\t' || c == '\r')
            text->bytes[i] = ' ';
        else if (c < 0x20 || c >= 0x7F)
            text->bytes[i] = '?';
    }
}

void qp_info_metadata_text(const qp_artifact_metadatum *datum, size_t width, qp_buffer *text)
{
    size_t start = text->size;
    value whole = {datum->value, (size_t)datum->size};
    if (types[datum->type].bytes == 0 && whole.size > width)
        whole.size = width; /* a string: the table cuts the rest */
    if (datum->type == QP_META_ARRAY)
        put_elements(datum, false, width, text);
    else
        types[datum->type].put(&whole, false, text);
    clean(text, start);
}

void qp_info_metadata_json(const qp_artifact_metadatum *datum, qp_buffer *text)
{
    value whole = {datum->value, (size_t)datum->size};
    if (datum->type != QP_META_ARRAY) {
        types[datum->type].put(&whole, true, text);
        return;
    }
    qp_buffer_format(text, "{\"array\":\"%s\",\"count\":%" PRIu64 ",\"first\":[",
                     types[datum->element_type].name, datum->count);
    put_elements(datum, true, SIZE_MAX, text);
    qp_buffer_text(text, "]}");
}
