/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.c - the scalar types of sources, and their numbers as binary32 (ggml-blocks.md section
 * 7).
 */
#include "format/format.h"
#include "number/float_mode.h"
#include "number/minifloat.h"

/* Converts `count` elements and returns how many it could: the next is finite, but not in binary32.
 */
typedef size_t to_float_function(const uint8_t *bytes, size_t count, float *values);

typedef struct element_row {
    qp_element element;
    to_float_function *to_float; /* NULL: not read as numbers */
} element_row;

/* Words, not floats, are stored, so that no NaN passes through a floating-point register. */
static void put_bits(float *value, uint32_t bits)
{
    memcpy(value, &bits, sizeof bits);
}

#define CONVERT_BITS(name, size, bits)                                                             \
    static size_t name##_to_float(const uint8_t *bytes, size_t count, float *values)               \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            const uint8_t *p = bytes + i * (size);                                                 \
            put_bits(values + i, bits);                                                            \
        }                                                                                          \
        return count;                                                                              \
    }

CONVERT_BITS(f32, 4, qp_load_u32(p))
CONVERT_BITS(f16, 2, qp_f16_to_f32_bits(qp_load_u16(p)))
CONVERT_BITS(bf16, 2, qp_bf16_to_f32_bits(qp_load_u16(p)))
CONVERT_BITS(e4m3, 1, qp_e4m3_to_f32_bits(*p))

#define CONVERT_INTEGER(name, size, value)                                                         \
    static size_t name##_to_float(const uint8_t *bytes, size_t count, float *values)               \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            const uint8_t *p = bytes + i * (size);                                                 \
            values[i] = (float)(value);                                                            \
        }                                                                                          \
        return count;                                                                              \
    }

CONVERT_INTEGER(i64, 8, qp_load_i64(p))
CONVERT_INTEGER(i32, 4, qp_load_i32(p))
CONVERT_INTEGER(i8, 1, qp_load_i8(p))
CONVERT_INTEGER(u8, 1, *p)

static size_t f64_to_float(const uint8_t *bytes, size_t count, float *values)
{
    const uint64_t infinity = UINT64_C(0x7FF0000000000000);
    const uint64_t half_beyond = UINT64_C(0x47EFFFFFF0000000); /* 2^128 - 2^103 rounds to 2^128 */

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = qp_load_u64(bytes + 8 * i);
        uint64_t magnitude = bits & ~(UINT64_C(1) << 63);
        uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000u;
        double value;
        if (magnitude > infinity) { /* a quiet NaN with the top of the payload */
            put_bits(values + i, sign | 0x7FC00000u | (uint32_t)(magnitude >> 29 & 0x3FFFFFu));
        } else if (magnitude == infinity) {
            put_bits(values + i, sign | 0x7F800000u);
        } else if (magnitude >= half_beyond) {
            return i;
        } else {
            memcpy(&value, &bits, sizeof value);
            values[i] = (float)value;
        }
    }
    return count;
}

static const element_row rows[] = {
    {{"F64", "<f8", NULL, 8, true, 28}, f64_to_float},
    {{"F32", "<f4", "fp32", 4, true, 0}, f32_to_float},
    {{"F16", "<f2", NULL, 2, true, 1}, f16_to_float},
    {{"BF16", NULL, "bf16", 2, true, 30}, bf16_to_float},
    {{"F8_E4M3", NULL, NULL, 1, true, -1}, e4m3_to_float},
    {{"I64", "<i8", NULL, 8, false, 27}, i64_to_float},
    {{"I32", "<i4", "int32", 4, false, 26}, i32_to_float},
    {{"I16", "<i2", NULL, 2, false, 25}, NULL},
    {{"I8", "|i1", NULL, 1, false, 24}, i8_to_float},
    {{"U64", "<u8", NULL, 8, false, -1}, NULL},
    {{"U32", "<u4", NULL, 4, false, -1}, NULL},
    {{"U16", "<u2", NULL, 2, false, -1}, NULL},
    {{"U8", "|u1", NULL, 1, false, -1}, u8_to_float},
    {{"BOOL", "|b1", NULL, 1, false, -1}, NULL},
    {{"C64", "<c8", NULL, 8, false, -1}, NULL},
    {{"F8_E5M2", NULL, NULL, 1, false, -1}, NULL},
    {{"F8_E8M0", NULL, NULL, 1, false, -1}, NULL},
    {{"F8_E4M3FNUZ", NULL, NULL, 1, false, -1}, NULL},
    {{"F8_E5M2FNUZ", NULL, NULL, 1, false, -1}, NULL},
};

size_t qp_element_count(void)
{
    return sizeof rows / sizeof *rows;
}

const qp_element *qp_element_at(size_t index)
{
    return &rows[index].element;
}

const qp_element *qp_element_find(const char *name)
{
    for (size_t i = 0; i < qp_element_count(); i++)
        if (strcmp(rows[i].element.name, name) == 0)
            return &rows[i].element;
    return NULL;
}

static to_float_function *to_float_of(const qp_element *element)
{
    for (size_t i = 0; i < qp_element_count(); i++)
        if (&rows[i].element == element)
            return rows[i].to_float;
    return NULL;
}

qp_status qp_element_to_float(const qp_element *element, const uint8_t *bytes, size_t count,
                              float *values, qp_error *error)
{
    to_float_function *to_float = to_float_of(element);
    if (to_float == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "elements of type %s are not read as numbers",
                       element->name);
    qp_float_mode mode = qp_float_mode_enter();
    size_t converted = to_float(bytes, count, values);
    qp_float_mode_leave(mode);
    if (converted < count)
        return qp_fail_element(error, QP_FIELD_RANGE, "source_not_finite",
                               (qp_element_place){-1, qp_to_i64(converted)},
                               "a finite value of the source is too large for binary32");
    return QP_OK;
}
