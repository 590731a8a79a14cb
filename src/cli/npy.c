/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.c - .npy files: 6 bytes of magic, two of version, the length of the head, and the head, a
 * Python dictionary literal, padded so that the elements begin at a multiple of 64.
 */
#include "cli/npy.h"

#include <inttypes.h>
#include <stdio.h>

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

#define ALIGNMENT 64u     /* numpy.lib.format.ARRAY_ALIGN */
#define GROWTH_DIGITS 21u /* numpy.lib.format.GROWTH_AXIS_MAX_DIGITS */

typedef struct type_facts {
    const char *name;
    char kind; /* the letter of a descr: b, i or u */
    uint8_t size;
    int64_t lowest;
    uint64_t highest;
} type_facts;

static const type_facts types[] = {
    [QP_NPY_BOOL] = {"bool", 'b', 1, 0, 1},
    [QP_NPY_I8] = {"int8", 'i', 1, INT8_MIN, INT8_MAX},
    [QP_NPY_I16] = {"int16", 'i', 2, INT16_MIN, INT16_MAX},
    [QP_NPY_I32] = {"int32", 'i', 4, INT32_MIN, INT32_MAX},
    [QP_NPY_I64] = {"int64", 'i', 8, INT64_MIN, INT64_MAX},
    [QP_NPY_U8] = {"uint8", 'u', 1, 0, UINT8_MAX},
    [QP_NPY_U16] = {"uint16", 'u', 2, 0, UINT16_MAX},
    [QP_NPY_U32] = {"uint32", 'u', 4, 0, UINT32_MAX},
    [QP_NPY_U64] = {"uint64", 'u', 8, 0, UINT64_MAX},
};

#define TYPE_COUNT (sizeof types / sizeof types[0])

const char *qp_npy_type_name(qp_npy_type type)
{
    return types[type].name;
}

size_t qp_npy_type_size(qp_npy_type type)
{
    return types[type].size;
}

/* The product of the sizes and the bytes of the elements; false when either does not fit. Sizes of
 * zero are left out, so that the answer does not depend on their place. */
static bool measure(const qp_npy_shape *shape, size_t width, size_t *count, size_t *bytes)
{
    size_t product = width;
    bool empty = false;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (shape->sizes[i] == 0)
            empty = true;
        else if (!qp_mul_size(product, shape->sizes[i], &product))
            return false;
    }
    if (product > PTRDIFF_MAX)
        return false;
    *bytes = empty ? 0 : product;
    *count = *bytes / width;
    return true;
}

/* ---- the head ------------------------------------------------------------------------------- */

typedef struct reader {
    const uint8_t *bytes;
    size_t at;
    size_t end; /* of the head */
    qp_npy *array;
    qp_npy_raw *raw; /* not NULL: any numbers will do */
    qp_error *error;
    qp_status status;
} reader;

#define HAS_DESCR 1u
#define HAS_FORTRAN_ORDER 2u
#define HAS_SHAPE 4u
#define HAS_ALL 7u

static bool refuse(reader *r, qp_status status, const char *sentence)
{
    qp_place place = QP_NOWHERE;
    place.offset = (int64_t)r->at;
    r->status = qp_fail_at(r->error, status, place, "%s", sentence);
    return false;
}

static bool refuse_form(reader *r, const char *sentence)
{
    return refuse(r, QP_MALFORMED, sentence);
}

static void skip_spaces(reader *r)
{
    while (r->at < r->end && (r->bytes[r->at] == ' ' || r->bytes[r->at] == '\n' ||
                              r->bytes[r->at] == '\t' || r->bytes[r->at] == '\r'))
        r->at++;
}

/* Passes over spaces and then `c`; false, and only the spaces passed, when another byte stands. */
static bool take(reader *r, char c)
{
    skip_spaces(r);
    if (r->at == r->end || r->bytes[r->at] != (uint8_t)c)
        return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(r);
    if (r->end - r->at < length || memcmp(r->bytes + r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* A string in single or double quotes, without escapes. */
static bool take_string(reader *r, const uint8_t **text, size_t *length)
{
    skip_spaces(r);
    if (r->at == r->end || (r->bytes[r->at] != '\'' && r->bytes[r->at] != '"'))
        return false;
    size_t start = r->at + 1;
    const uint8_t *quote = memchr(r->bytes + start, r->bytes[r->at], r->end - start);
    if (quote == NULL || memchr(r->bytes + start, '\\', (size_t)(quote - r->bytes) - start) != NULL)
        return false;
    *text = r->bytes + start;
    *length = (size_t)(quote - *text);
    r->at = start + *length + 1;
    return true;
}

static bool set_raw(reader *r, const uint8_t *descr, size_t length)
{
    unsigned width = 0;
    for (size_t i = 2; i < length && i < 4 && descr[i] >= '0' && descr[i] <= '9'; i++)
        width = 10 * width + descr[i] - '0';
    bool power = width > 0 && width <= 16 && (width & (width - 1)) == 0;
    if (length < 3 || length > 4 || (length == 4) != (width >= 10) || !power || descr[0] == 0 ||
        descr[1] == 0 || strchr("<>|", descr[0]) == NULL || strchr("biufc", descr[1]) == NULL)
        return refuse_form(r, "the dtype is of no plain numbers");
    if (descr[0] == '|' && width > 1)
        return refuse_form(r, "the dtype has no byte order");
    memcpy(r->raw->descr, descr, length);
    r->raw->descr[length] = '\0';
    r->raw->width = width;
    return true;
}

/* '<i8', '|u1': the byte order, the kind and the size. */
static bool set_type(reader *r, const uint8_t *descr, size_t length)
{
    if (length == 3 && strchr("<>|", descr[0]) != NULL && descr[0] != 0) {
        for (size_t i = 0; i < TYPE_COUNT; i++) {
            if (descr[1] != (uint8_t)types[i].kind || descr[2] != '0' + types[i].size)
                continue;
            if (descr[0] == '|' && types[i].size > 1)
                return refuse_form(r, "the dtype has no byte order");
            r->array->type = (qp_npy_type)i;
            r->array->big_endian = descr[0] == '>';
            return true;
        }
    }
    if (length >= 2 && (descr[1] == 'f' || descr[1] == 'c'))
        return refuse_form(r, "the array holds floating-point numbers; integers are needed");
    return refuse_form(r, "the dtype is none of b1, i1, i2, i4, i8, u1, u2, u4, u8");
}

static bool read_descr(reader *r)
{
    const uint8_t *descr;
    size_t length;
    skip_spaces(r);
    if (r->at < r->end && r->bytes[r->at] == '[')
        return refuse_form(r, "the array has a structured dtype; integers are needed");
    size_t start = r->at;
    if (!take_string(r, &descr, &length))
        return refuse_form(r, "expected a dtype in quotes");
    size_t behind = r->at;
    r->at = start; /* the place of a refusal */
    if (r->raw != NULL ? !set_raw(r, descr, length) : !set_type(r, descr, length))
        return false;
    r->at = behind;
    return true;
}

static bool read_fortran_order(reader *r)
{
    skip_spaces(r);
    if (take_word(r, "False"))
        return true;
    if (take_word(r, "True")) {
        r->at -= strlen("True");
        return refuse_form(r, "the array is in Fortran order; save it in C order");
    }
    return refuse_form(r, "expected True or False");
}

static bool read_size(reader *r)
{
    qp_npy_shape *shape = &r->array->shape;
    size_t start = r->at, value = 0;

    if (shape->rank == QP_NPY_MAX_RANK)
        return refuse(r, QP_TOO_LARGE, "the array has more than 8 dimensions");
    for (; r->at < r->end && r->bytes[r->at] >= '0' && r->bytes[r->at] <= '9'; r->at++) {
        size_t digit = r->bytes[r->at] - (size_t)'0';
        if (!qp_mul_size(value, 10, &value) || !qp_add_size(value, digit, &value))
            return refuse(r, QP_TOO_LARGE, "a dimension is too large");
    }
    if (r->at == start)
        return refuse_form(r, "expected a dimension");
    if (r->bytes[start] == '0' && r->at > start + 1)
        return refuse_form(r, "a dimension has a leading zero");
    shape->sizes[shape->rank++] = value;
    return true;
}

/* A Python tuple: (), (3,), (3, 4), (3, 4,), but not (3). */
static bool read_shape(reader *r)
{
    bool comma = true;
    if (!take(r, '('))
        return refuse_form(r, "expected a tuple of dimensions");
    r->array->shape.rank = 0;
    while (!take(r, ')')) {
        if (!comma)
            return refuse_form(r, "expected ',' or ')'");
        if (!read_size(r))
            return false;
        comma = take(r, ',');
    }
    if (!comma && r->array->shape.rank == 1)
        return refuse_form(r, "the shape is a number, not a tuple");
    return true;
}

static bool read_member(reader *r, unsigned *seen)
{
    static const struct {
        const char *name;
        bool (*read)(reader *r);
    } members[] = {
        {"descr", read_descr}, {"fortran_order", read_fortran_order}, {"shape", read_shape}};
    const uint8_t *name;
    size_t length;

    skip_spaces(r);
    size_t start = r->at;
    if (!take_string(r, &name, &length))
        return refuse_form(r, "expected a key in quotes");
    for (unsigned i = 0; i < 3; i++) {
        if (length != strlen(members[i].name) || memcmp(name, members[i].name, length) != 0)
            continue;
        if ((*seen & 1u << i) != 0)
            break;
        *seen |= 1u << i;
        return take(r, ':') ? members[i].read(r) : refuse_form(r, "expected ':'");
    }
    r->at = start;
    return refuse_form(r, "the key is repeated or none of descr, fortran_order, shape");
}

static bool read_dictionary(reader *r)
{
    unsigned seen = 0;
    bool comma = true;

    if (!take(r, '{'))
        return refuse_form(r, "the head is no dictionary");
    while (!take(r, '}')) {
        if (!comma)
            return refuse_form(r, "expected ',' or '}'");
        if (!read_member(r, &seen))
            return false;
        comma = take(r, ',');
    }
    if (seen != HAS_ALL)
        return refuse_form(r, (seen & HAS_DESCR) == 0           ? "the head has no descr"
                              : (seen & HAS_FORTRAN_ORDER) == 0 ? "the head has no fortran_order"
                                                                : "the head has no shape");
    skip_spaces(r);
    return r->at == r->end || refuse_form(r, "text follows the dictionary");
}

/* The magic, the version and the length of the head: leaves r->at and r->end around the head. */
static bool read_prefix(reader *r, size_t size)
{
    if (size < 10 || memcmp(r->bytes, magic, sizeof magic) != 0)
        return refuse_form(r, "the file is no .npy file");
    r->at = 6;
    if (r->bytes[6] < 1 || r->bytes[6] > 3 || r->bytes[7] != 0)
        return refuse_form(r, "the .npy version is none of 1.0, 2.0, 3.0");

    size_t start = r->bytes[6] == 1 ? 10 : 12;
    r->at = 8;
    if (size < start)
        return refuse_form(r, "the file ends within its head");
    size_t length = start == 10 ? qp_load_u16(r->bytes + 8) : qp_load_u32(r->bytes + 8);
    if (length > size - start)
        return refuse_form(r, "the head is longer than the file");
    r->at = start;
    r->end = start + length;
    return true;
}

/* The head, and whether exactly `count` elements follow it. */
static qp_status read_array(reader *r, size_t size, size_t *count)
{
    size_t data_size;
    if (!read_prefix(r, size) || !read_dictionary(r))
        return r->status;
    size_t width = r->raw != NULL ? r->raw->width : types[r->array->type].size;
    if (!measure(&r->array->shape, width, count, &data_size)) {
        refuse(r, QP_TOO_LARGE, "the product of the dimensions is too large");
        return r->status;
    }
    if (size - r->end != data_size) {
        refuse_form(r, size - r->end < data_size ? "the file ends before its last element"
                                                 : "bytes follow the last element");
        return r->status;
    }
    return QP_OK;
}

qp_status qp_npy_read(const uint8_t *bytes, size_t size, qp_npy *array, qp_error *error)
{
    qp_npy result = {0};
    reader r = {.bytes = bytes, .array = &result, .error = error, .status = QP_OK};
    qp_status status = read_array(&r, size, &result.count);
    if (status != QP_OK)
        return status;
    result.data = bytes + r.end;
    result.data_offset = r.end;
    *array = result;
    return QP_OK;
}

qp_status qp_npy_read_raw(const uint8_t *bytes, size_t size, qp_npy_raw *array, qp_error *error)
{
    qp_npy unused = {0};
    qp_npy_raw result = {.width = 0};
    reader r = {.bytes = bytes, .array = &unused, .raw = &result, .error = error, .status = QP_OK};
    qp_status status = read_array(&r, size, &result.count);
    if (status != QP_OK)
        return status;
    result.shape = unused.shape;
    result.data = bytes + r.end;
    result.data_offset = r.end;
    *array = result;
    return QP_OK;
}

/* ---- elements ------------------------------------------------------------------------------- */

/* The bits of one element as an unsigned number. */
static uint64_t load(const uint8_t *p, unsigned size, bool big_endian)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)p[big_endian ? size - 1 - i : i] << (8 * i);
    return v;
}

/* The same number, of that many bytes, as two's complement. */
static int64_t sign_extend(uint64_t v, unsigned size)
{
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return qp_to_i64((v ^ sign) - sign);
}

/* The types that most files have, in loops that compilers turn into vector code. */
static bool convert_plain(const qp_npy *array, const uint8_t *p, size_t count, int64_t *values)
{
    if (array->big_endian)
        return false;
    switch (array->type) {
    case QP_NPY_I8:
        for (size_t i = 0; i < count; i++)
            values[i] = qp_to_i8(p[i]);
        return true;
    case QP_NPY_U8:
        for (size_t i = 0; i < count; i++)
            values[i] = p[i];
        return true;
    case QP_NPY_I16:
        for (size_t i = 0; i < count; i++)
            values[i] = qp_load_i16(p + 2 * i);
        return true;
    case QP_NPY_I32:
        for (size_t i = 0; i < count; i++)
            values[i] = qp_load_i32(p + 4 * i);
        return true;
    case QP_NPY_I64:
        for (size_t i = 0; i < count; i++)
            values[i] = qp_load_i64(p + 8 * i);
        return true;
    default:
        return false;
    }
}

static qp_status fail_element(const qp_npy *array, size_t index, uint64_t value, qp_error *error)
{
    qp_place place = QP_NOWHERE;
    place.record = (int64_t)index;
    place.offset = (int64_t)(array->data_offset + index * types[array->type].size);
    return qp_fail_at(error, QP_FIELD_RANGE, place, "element %zu is %" PRIu64 ", above %s", index,
                      value, array->type == QP_NPY_BOOL ? "1 in a boolean array" : "2^63 - 1");
}

qp_status qp_npy_elements(const qp_npy *array, size_t first, size_t count, int64_t *values,
                          qp_error *error)
{
    const type_facts *facts = &types[array->type];
    if (first > array->count || count > array->count - first)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the array has only %zu elements", array->count);

    const uint8_t *p = array->data + first * facts->size; /* within the data: no overflow */
    if (convert_plain(array, p, count, values))
        return QP_OK;
    uint64_t highest = facts->highest < INT64_MAX ? facts->highest : INT64_MAX;
    for (size_t i = 0; i < count; i++, p += facts->size) {
        uint64_t v = load(p, facts->size, array->big_endian);
        if (facts->kind == 'i')
            values[i] = sign_extend(v, facts->size);
        else if (v <= highest)
            values[i] = (int64_t)v;
        else
            return fail_element(array, first + i, v, error);
    }
    return QP_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* NumPy leaves room after the dictionary for the first dimension to grow to 21 digits. */
static size_t growth_padding(const qp_npy_shape *shape)
{
    size_t digits = 1;
    if (shape->rank == 0)
        return 0;
    for (size_t v = shape->sizes[0]; v >= 10; v /= 10)
        digits++;
    return GROWTH_DIGITS - digits;
}

void qp_npy_append_head(qp_buffer *buffer, const char *descr, const qp_npy_shape *shape)
{
    size_t start = buffer->size;

    qp_buffer_append(buffer, magic, sizeof magic);
    qp_buffer_le(buffer, 1, 1);
    qp_buffer_le(buffer, 0, 1);
    qp_buffer_le(buffer, 0, 2); /* the length, written below */
    qp_buffer_format(buffer, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (unsigned i = 0; i < shape->rank; i++) {
        qp_buffer_u64_decimal(buffer, shape->sizes[i]);
        if (shape->rank == 1 || i + 1 < shape->rank)
            qp_buffer_text(buffer, shape->rank == 1 ? "," : ", ");
    }
    qp_buffer_text(buffer, "), }");
    if (buffer->failed)
        return;

    /* Like NumPy, a head that would end on a multiple of 64 by itself gets 64 more spaces. */
    size_t padding = growth_padding(shape);
    padding += ALIGNMENT - (buffer->size - start + padding + 1) % ALIGNMENT;
    qp_buffer_format(buffer, "%*s\n", (int)padding, "");
    if (buffer->failed)
        return;
    size_t length = buffer->size - start - 10; /* below 512: 8 sizes of at most 20 digits */
    buffer->bytes[start + 8] = (uint8_t)(length & 0xFF);
    buffer->bytes[start + 9] = (uint8_t)(length >> 8);
}

/* The first value that the type does not hold, or `count`. */
static size_t first_outside(const type_facts *facts, const int64_t *values, size_t count)
{
    int64_t highest = facts->highest < INT64_MAX ? (int64_t)facts->highest : INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (values[i] < facts->lowest || values[i] > highest)
            return i;
    }
    return count;
}

static void append_elements(qp_buffer *buffer, unsigned size, const int64_t *values, size_t count)
{
    uint8_t *p = buffer->bytes + buffer->size; /* reserved by the caller */
    for (size_t i = 0; i < count; i++, p += size) {
        uint64_t v = (uint64_t)values[i];
        for (unsigned k = 0; k < size; k++)
            p[k] = (uint8_t)(v >> (8 * k) & 0xFF);
    }
    buffer->size += count * size;
}

qp_status qp_npy_write(qp_buffer *buffer, qp_npy_type type, const qp_npy_shape *shape,
                       const int64_t *values, qp_error *error)
{
    const type_facts *facts = &types[type];
    size_t start = buffer->size, count, bytes;
    char descr[8];

    if (shape->rank > QP_NPY_MAX_RANK || !measure(shape, facts->size, &count, &bytes))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "an array has at most 8 dimensions and must fit memory");
    size_t outside = first_outside(facts, values, count);
    if (outside < count) {
        qp_place place = QP_NOWHERE;
        place.record = (int64_t)outside;
        return qp_fail_at(error, QP_FIELD_RANGE, place, "element %zu is %" PRId64 ": not %s",
                          outside, values[outside], facts->name);
    }
    snprintf(descr, sizeof descr, "%c%c%u", facts->size == 1 ? '|' : '<', facts->kind,
             (unsigned)facts->size);
    qp_npy_append_head(buffer, descr, shape);
    if (!qp_buffer_reserve(buffer, bytes)) {
        buffer->size = start;
        return qp_fail_memory(error, "a .npy file");
    }
    append_elements(buffer, facts->size, values, count);
    return QP_OK;
}
