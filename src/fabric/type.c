/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type.c - types, their sizes, texts and canonical bytes (sections 1.1 and 1.2).
 */
#include "fabric/type.h"

static const char type_domain[] = "loom.dataflow.canonical-type";

/* Representation bits of the float formats, by tag. */
static const uint8_t float_bits[] = {0, 8, 8,  8,  8,  8,  8,  8,  4,  6,
                                     6, 8, 16, 16, 19, 32, 64, 80, 128};

const qp_fabric_format qp_fabric_formats[QP_FABRIC_FORMATS] = {
    {"f16", QP_FABRIC_TAG_F16, 16, 11, -14, 15},
    {"bf16", QP_FABRIC_TAG_BF16, 16, 8, -126, 127},
    {"f32", QP_FABRIC_TAG_F32, 32, 24, -126, 127},
    {"f64", QP_FABRIC_TAG_F64, 64, 53, -1022, 1023},
};

static const uint32_t widths[QP_FABRIC_WIDTHS] = {1, 8, 16, 32, 64};
static const uint32_t index_widths[QP_FABRIC_INDEX_WIDTHS] = {32, 64};

int qp_fabric_format_ordinal(uint32_t tag)
{
    for (int i = 0; i < QP_FABRIC_FORMATS; i++)
        if (qp_fabric_formats[i].tag == tag)
            return i;
    return -1;
}

int qp_fabric_width_ordinal(uint64_t width)
{
    for (int i = 0; i < QP_FABRIC_WIDTHS; i++)
        if (widths[i] == width)
            return i;
    return -1;
}

int qp_fabric_ordinary_ordinal(uint64_t width)
{
    return width == 1 ? -1 : qp_fabric_width_ordinal(width);
}

uint32_t qp_fabric_width_of(int ordinal)
{
    return widths[ordinal];
}

int qp_fabric_index_ordinal(uint64_t width)
{
    for (int i = 0; i < QP_FABRIC_INDEX_WIDTHS; i++)
        if (index_widths[i] == width)
            return i;
    return -1;
}

uint32_t qp_fabric_index_of(int ordinal)
{
    return index_widths[ordinal];
}

/* ---- types -------------------------------------------------------------------------------- */

qp_fabric_type qp_fabric_none_type(void)
{
    return (qp_fabric_type){.kind = QP_FABRIC_NONE};
}

qp_fabric_type qp_fabric_index_type(void)
{
    return (qp_fabric_type){.kind = QP_FABRIC_INDEX};
}

qp_fabric_type qp_fabric_integer_type(uint32_t width)
{
    return (qp_fabric_type){.kind = QP_FABRIC_INTEGER, .width = width, .code = QP_FABRIC_SIGNLESS};
}

qp_fabric_type qp_fabric_float_type(uint32_t tag)
{
    return (qp_fabric_type){.kind = QP_FABRIC_FLOAT, .width = float_bits[tag], .code = tag};
}

qp_fabric_type qp_fabric_element_type(qp_fabric_type type)
{
    type.rank = 0;
    type.dims = NULL;
    return type;
}

bool qp_fabric_same_shape(const qp_fabric_type *a, const qp_fabric_type *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

bool qp_fabric_same_type(const qp_fabric_type *a, const qp_fabric_type *b)
{
    return a->kind == b->kind && a->width == b->width && a->code == b->code &&
           qp_fabric_same_shape(a, b);
}

qp_fabric_type qp_fabric_resolved(qp_fabric_type type, uint32_t index_width)
{
    if (type.kind == QP_FABRIC_INDEX && index_width > 0) {
        type.kind = QP_FABRIC_INTEGER;
        type.width = index_width;
        type.code = QP_FABRIC_SIGNLESS;
    }
    return type;
}

bool qp_fabric_lanes(const qp_fabric_type *type, uint64_t *lanes)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < type->rank; i++)
        if (!qp_mul_u64(count, type->dims[i], &count))
            return false;
    *lanes = count;
    return true;
}

uint32_t qp_fabric_element_bits(const qp_fabric_type *type, uint32_t index_width)
{
    return type->kind == QP_FABRIC_INDEX ? index_width : type->width;
}

bool qp_fabric_payload_bits(const qp_fabric_type *type, uint32_t index_width, uint64_t *bits)
{
    uint64_t lanes;
    return qp_fabric_lanes(type, &lanes) &&
           qp_mul_u64(lanes, qp_fabric_element_bits(type, index_width), bits);
}

/* ---- text --------------------------------------------------------------------------------- */

static void element_text(qp_buffer *buffer, const qp_fabric_type *type)
{
    int format = type->kind == QP_FABRIC_FLOAT ? qp_fabric_format_ordinal(type->code) : -1;

    if (type->kind == QP_FABRIC_NONE)
        qp_buffer_text(buffer, "none");
    else if (type->kind == QP_FABRIC_INDEX)
        qp_buffer_text(buffer, "index");
    else if (type->kind == QP_FABRIC_INTEGER && type->code == QP_FABRIC_SIGNLESS)
        qp_buffer_format(buffer, "i%lu", (unsigned long)type->width);
    else if (type->kind == QP_FABRIC_POINTER)
        qp_buffer_format(buffer, "ptr<%lu>", (unsigned long)type->code);
    else
        qp_buffer_text(buffer, format >= 0 ? qp_fabric_formats[format].name : "?");
}

void qp_fabric_type_text(qp_buffer *buffer, const qp_fabric_type *type)
{
    if (type->rank == 0) {
        element_text(buffer, type);
        return;
    }
    qp_buffer_text(buffer, "vector<");
    for (uint32_t i = 0; i < type->rank; i++) {
        qp_buffer_u64_decimal(buffer, type->dims[i]);
        qp_buffer_text(buffer, "x");
    }
    element_text(buffer, type);
    qp_buffer_text(buffer, ">");
}

/* A positive number without leading zeros that ends at `end` or before another character; false
 * for none, or one over 2^64 - 1. */
static bool parse_number(const char **at, const char *end, uint64_t *number)
{
    const char *p = *at;
    uint64_t value = 0;

    if (p == end || *p < '1' || *p > '9')
        return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (!qp_mul_u64(value, 10, &value) || !qp_add_u64(value, (uint64_t)(*p - '0'), &value))
            return false;
    }
    *number = value;
    *at = p;
    return true;
}

static bool parse_scalar(const char *text, size_t size, qp_fabric_type *type)
{
    static const char *const plain[] = {"none", "index"};
    const char *at = text + 1;
    uint64_t width;

    for (unsigned i = 0; i < 2; i++) {
        if (size == strlen(plain[i]) && memcmp(text, plain[i], size) == 0) {
            *type = i == 0 ? qp_fabric_none_type() : qp_fabric_index_type();
            return true;
        }
    }
    for (int i = 0; i < QP_FABRIC_FORMATS; i++) {
        const char *name = qp_fabric_formats[i].name;
        if (size == strlen(name) && memcmp(text, name, size) == 0) {
            *type = qp_fabric_float_type(qp_fabric_formats[i].tag);
            return true;
        }
    }
    if (size < 2 || text[0] != 'i' || !parse_number(&at, text + size, &width) ||
        at != text + size || width > UINT32_MAX)
        return false;
    *type = qp_fabric_integer_type((uint32_t)width);
    return true;
}

/* "AxBx..xT" between the angle brackets. QP_MALFORMED where it is none. */
static qp_status parse_vector(const char *text, size_t size, qp_arena *arena, qp_fabric_type *type)
{
    const char *end = text + size;
    const char *at = text;
    uint32_t rank = 0;
    uint64_t dim;

    for (; parse_number(&at, end, &dim) && at < end && *at == 'x'; at++)
        rank++;
    if (rank == 0 || at == end || (*at >= '0' && *at <= '9') ||
        !parse_scalar(at, (size_t)(end - at), type) || type->kind == QP_FABRIC_NONE)
        return QP_MALFORMED;
    uint64_t *dims = qp_arena_allocate(arena, rank, sizeof *dims);
    if (dims == NULL)
        return QP_NO_MEMORY;
    at = text;
    for (uint32_t i = 0; i < rank; i++, at++)
        (void)parse_number(&at, end, &dims[i]);
    type->rank = rank;
    type->dims = dims;
    return QP_OK;
}

/* "ptr<AS>": a type of section 1.1 for which section 12 has no layout. */
static bool is_pointer(const char *text, size_t size)
{
    const char *at = text;
    uint64_t space;

    if (size < 6 || memcmp(text, "ptr<", 4) != 0 || text[size - 1] != '>')
        return false;
    if (size == 6 && text[4] == '0')
        return true;
    at += 4;
    return parse_number(&at, text + size - 1, &space) && at == text + size - 1 &&
           space <= UINT32_MAX;
}

qp_status qp_fabric_type_parse(const char *text, size_t size, qp_arena *arena,
                               qp_fabric_place place, qp_fabric_type *type, qp_fabric_error *error)
{
    qp_status status = QP_MALFORMED;
    uint64_t bits;

    if (size > 8 && memcmp(text, "vector<", 7) == 0 && text[size - 1] == '>')
        status = parse_vector(text + 7, size - 8, arena, type);
    else if (is_pointer(text, size))
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, place,
                              "%.*s is not supported: no pointer layout can be written",
                              (int)(size < 40 ? size : 40), text);
    else if (parse_scalar(text, size, type))
        status = QP_OK;
    if (status == QP_NO_MEMORY)
        return qp_fabric_fail_memory(error, "a type");
    if (status != QP_OK)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, place, "'%.*s' is not a type",
                              (int)(size < 40 ? size : 40), text);
    if (!qp_fabric_payload_bits(type, 64, &bits) || bits > QP_FABRIC_PAYLOAD_BITS_MAX)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, place,
                              "'%.*s' is wider than %lu bits, the most that is supported",
                              (int)(size < 40 ? size : 40), text,
                              (unsigned long)QP_FABRIC_PAYLOAD_BITS_MAX);
    return QP_OK;
}

/* ---- canonical bytes ---------------------------------------------------------------------- */

void qp_fabric_put_type_term(qp_buffer *buffer, const qp_fabric_type *type)
{
    if (type->rank > 0) {
        qp_fabric_put_u32(buffer, QP_FABRIC_TAG_VECTOR);
        qp_fabric_put_u64(buffer, type->rank);
        for (uint32_t i = 0; i < type->rank; i++)
            qp_fabric_put_u64(buffer, type->dims[i]);
    }
    qp_fabric_put_u32(buffer, (uint32_t)type->kind);
    if (type->kind == QP_FABRIC_INTEGER || type->kind == QP_FABRIC_FLOAT ||
        type->kind == QP_FABRIC_POINTER)
        qp_fabric_put_u32(buffer, type->code);
    if (type->kind == QP_FABRIC_INTEGER)
        qp_fabric_put_u32(buffer, type->width);
}

void qp_fabric_put_type(qp_buffer *buffer, const qp_fabric_type *type)
{
    qp_fabric_put_domain(buffer, type_domain, 1, 0);
    qp_fabric_put_type_term(buffer, type);
}

/* The body of a scalar term behind its tag. */
static bool get_scalar(qp_fabric_cursor *cursor, uint32_t tag, qp_fabric_type *type)
{
    const uint32_t formats = sizeof float_bits / sizeof float_bits[0];

    *type = (qp_fabric_type){.kind = (qp_fabric_kind)tag};
    switch (tag) {
    case QP_FABRIC_NONE:
    case QP_FABRIC_INDEX:
        return true;
    case QP_FABRIC_INTEGER:
        type->code = qp_fabric_get_u32(cursor);
        type->width = qp_fabric_get_u32(cursor);
        return type->code >= QP_FABRIC_SIGNLESS && type->code <= 3 && type->width > 0;
    case QP_FABRIC_FLOAT:
        type->code = qp_fabric_get_u32(cursor);
        if (type->code == 0 || type->code >= formats)
            return false;
        type->width = float_bits[type->code];
        return true;
    case QP_FABRIC_POINTER:
        type->code = qp_fabric_get_u32(cursor);
        return true;
    default:
        return false;
    }
}

static bool get_dims(qp_fabric_cursor *cursor, qp_arena *arena, uint32_t *rank,
                     const uint64_t **dims)
{
    uint64_t count = qp_fabric_get_u64(cursor);

    if (count == 0 || count > (cursor->size - cursor->at) / 8)
        return false;
    uint64_t *values = qp_arena_allocate(arena, (size_t)count, sizeof *values);
    if (values == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        values[i] = qp_fabric_get_u64(cursor);
        if (values[i] == 0)
            return false;
    }
    *rank = (uint32_t)count; /* at most an eighth of the bytes' count, below 2^32 */
    *dims = values;
    return count <= UINT32_MAX;
}

bool qp_fabric_get_type(const void *bytes, size_t size, qp_arena *arena, qp_fabric_type *type)
{
    qp_fabric_cursor cursor = qp_fabric_cursor_over(bytes, size);
    qp_fabric_type result;
    const uint64_t *dims = NULL;
    uint32_t rank = 0;

    qp_fabric_expect_domain(&cursor, type_domain, 1, 0);
    uint32_t tag = qp_fabric_get_u32(&cursor);
    if (tag == QP_FABRIC_TAG_VECTOR) {
        if (!get_dims(&cursor, arena, &rank, &dims))
            return false;
        tag = qp_fabric_get_u32(&cursor);
    }
    if (!get_scalar(&cursor, tag, &result) || !qp_fabric_at_end(&cursor))
        return false;
    if (rank > 0 && (result.kind == QP_FABRIC_NONE || result.kind == QP_FABRIC_POINTER))
        return false;
    result.rank = rank;
    result.dims = dims;
    *type = result;
    return true;
}
