/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cast_direct.c - elements to the words of a direct format (artifact-container.md section 9.2).
 *
 * An unchanged type is copied. Every other value is rounded once: a source that binary32 does not
 * hold exactly goes to bf16 over a binary32 that is rounded to odd (cut off, its last bit set when
 * anything was lost), from which the second rounding gives what one rounding would have given.
 */
#include "format/method.h"

#include "number/minifloat.h"

#include <inttypes.h>

#define BLOCK 512 /* elements that are converted together */

/* Elements to the bits of binary32. */
typedef void bits_function(const uint8_t *bytes, size_t count, uint32_t *bits);

typedef struct source {
    const char *element;
    bits_function *nearest; /* ties to even */
    bits_function *odd;     /* to odd; NULL: `nearest` is exact */
    double (*number)(const uint8_t *bytes);
} source;

typedef struct target {
    const char *format;
    /* Converts `count` elements, at most BLOCK, and gives how many it could. */
    size_t (*convert)(const source *from, const qp_element *element, const uint8_t *bytes,
                      size_t count, uint8_t *words);
} target;

/* ---- sources ------------------------------------------------------------------------------ */

/* All ones or zero: choosing by masks leaves no branch, and loops over words become vectors. */
static inline uint32_t mask_of(bool condition)
{
    return 0u - (uint32_t)condition;
}

/* binary16: a subnormal is a multiple of 2^-24, which the difference of two numbers of 2^-14 and
 * more gives exactly. */
static inline uint32_t widen_f16(uint16_t word)
{
    uint32_t magnitude = (uint32_t)(word & 0x7FFFu) << 13;
    uint32_t small = qp_bits_of_float(qp_float_of_bits(magnitude + (113u << 23)) - 0x1p-14f);
    uint32_t is_small = mask_of(magnitude < 1u << 23);
    uint32_t special = mask_of(magnitude >= 31u << 23) & 0x7F800000u;
    uint32_t normal = (magnitude + (112u << 23)) | special;
    return (uint32_t)(word & 0x8000u) << 16 | (small & is_small) | (normal & ~is_small);
}

/* binary64 bits to binary32 bits; `rest` receives the cut off part, its top bit the half. The
 * magnitude is below 2^128 and not NaN. */
static uint32_t cut_f64(uint64_t magnitude, uint64_t *rest)
{
    uint32_t exponent = (uint32_t)(magnitude >> 52);
    uint64_t fraction = magnitude & ((UINT64_C(1) << 52) - 1);

    if (exponent >= 897) { /* normal in binary32: 1023 - 126 */
        *rest = magnitude << 35;
        return (uint32_t)((magnitude - (UINT64_C(896) << 52)) >> 29);
    }
    uint32_t shift = 29 + (897 - exponent); /* to units of 2^-149 */
    fraction |= exponent != 0 ? UINT64_C(1) << 52 : 0;
    if (shift > 54) { /* below half a unit */
        *rest = fraction != 0;
        return 0;
    }
    *rest = fraction << (64 - shift);
    return (uint32_t)(fraction >> shift);
}

static uint32_t narrow_f64(uint64_t bits, bool odd)
{
    const uint64_t infinity = UINT64_C(0x7FF) << 52;
    uint64_t magnitude = bits & ~(UINT64_C(1) << 63), rest;
    uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000u;

    if (magnitude > infinity) /* a quiet NaN with the top of the payload */
        return sign | 0x7FC00000u | (uint32_t)(magnitude >> 29 & 0x3FFFFFu);
    if (magnitude == infinity)
        return sign | 0x7F800000u;
    if (magnitude >= UINT64_C(1151) << 52) /* 2^128 */
        return sign | (odd ? 0x7F7FFFFFu : 0x7F800000u);
    uint32_t whole = cut_f64(magnitude, &rest);
    if (odd)
        return sign | whole | (rest != 0);
    const uint64_t half = UINT64_C(1) << 63;
    return sign | (whole + (rest > half || (rest == half && (whole & 1) != 0)));
}

/* An integer to odd: its first 24 bits, the last of them set when any other bit was. */
static uint32_t odd_i64(int64_t value)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, lost = 0;
    uint32_t shift = 0;
    while (magnitude >> 24 != 0) {
        lost |= magnitude & 1;
        magnitude >>= 1;
        shift++;
    }
    float rounded = (float)(uint32_t)(magnitude | lost);
    uint32_t bits = qp_bits_of_float(rounded) + (magnitude != 0 ? shift << 23 : 0);
    return (value < 0 ? 0x80000000u : 0) | bits;
}

#define CONVERT(name, size, expression)                                                            \
    static void name(const uint8_t *bytes, size_t count, uint32_t *bits)                           \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            const uint8_t *p = bytes + i * (size);                                                 \
            bits[i] = expression;                                                                  \
        }                                                                                          \
    }

CONVERT(f64_nearest, 8, narrow_f64(qp_load_u64(p), false))
CONVERT(f64_odd, 8, narrow_f64(qp_load_u64(p), true))
CONVERT(f32_bits, 4, qp_load_u32(p))
CONVERT(f16_bits, 2, widen_f16(qp_load_u16(p)))
CONVERT(bf16_bits, 2, qp_bf16_to_f32_bits(qp_load_u16(p)))
CONVERT(e4m3_bits, 1, qp_e4m3_to_f32_bits(*p))
CONVERT(i64_nearest, 8, qp_bits_of_float((float)qp_load_i64(p)))
CONVERT(i64_odd, 8, odd_i64(qp_load_i64(p)))
CONVERT(i32_nearest, 4, qp_bits_of_float((float)qp_load_i32(p)))
CONVERT(i32_odd, 4, odd_i64(qp_load_i32(p)))
CONVERT(i8_bits, 1, qp_bits_of_float((float)qp_load_i8(p)))
CONVERT(u8_bits, 1, qp_bits_of_float((float)*p))

#define NUMBER(name, expression)                                                                   \
    static double name(const uint8_t *p)                                                           \
    {                                                                                              \
        return (double)(expression);                                                               \
    }

static double f64_number(const uint8_t *p)
{
    uint64_t bits = qp_load_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

NUMBER(f32_number, qp_float_of_bits(qp_load_u32(p)))
NUMBER(f16_number, qp_float_of_bits(qp_f16_to_f32_bits(qp_load_u16(p))))
NUMBER(bf16_number, qp_float_of_bits(qp_bf16_to_f32_bits(qp_load_u16(p))))
NUMBER(e4m3_number, qp_float_of_bits(qp_e4m3_to_f32_bits(*p)))
NUMBER(i64_number, qp_load_i64(p)) /* rounds, but far beyond the range of int32 */
NUMBER(i32_number, qp_load_i32(p))
NUMBER(i8_number, qp_load_i8(p))
NUMBER(u8_number, *p)

static const source sources[] = {
    {"F64", f64_nearest, f64_odd, f64_number}, {"F32", f32_bits, NULL, f32_number},
    {"F16", f16_bits, NULL, f16_number},       {"BF16", bf16_bits, NULL, bf16_number},
    {"F8_E4M3", e4m3_bits, NULL, e4m3_number}, {"I64", i64_nearest, i64_odd, i64_number},
    {"I32", i32_nearest, i32_odd, i32_number}, {"I8", i8_bits, NULL, i8_number},
    {"U8", u8_bits, NULL, u8_number},
};

static const source *source_of(const qp_element *element)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(sources[i].element, element->name) == 0)
            return &sources[i];
    return NULL;
}

/* ---- targets ------------------------------------------------------------------------------ */

static inline void put_u16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void put_u32(uint8_t *p, uint32_t v)
{
    put_u16(p, v);
    put_u16(p + 2, v >> 16);
}

/* Where words lie in memory as in files, a block of them is copied; the compiler knows which. */
static inline bool little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static size_t to_bf16(const source *from, const qp_element *element, const uint8_t *bytes,
                      size_t count, uint8_t *words)
{
    uint32_t bits[BLOCK];
    (void)element;
    (from->odd != NULL ? from->odd : from->nearest)(bytes, count, bits);
    uint16_t narrow[BLOCK];
    for (size_t i = 0; i < count; i++)
        narrow[i] = qp_bf16_from_f32_bits(bits[i]);
    if (little_endian())
        memcpy(words, narrow, 2 * count);
    else
        for (size_t i = 0; i < count; i++)
            put_u16(words + 2 * i, narrow[i]);
    return count;
}

static size_t to_fp32(const source *from, const qp_element *element, const uint8_t *bytes,
                      size_t count, uint8_t *words)
{
    uint32_t bits[BLOCK];
    (void)element;
    from->nearest(bytes, count, bits);
    if (little_endian())
        memcpy(words, bits, 4 * count);
    else
        for (size_t i = 0; i < count; i++)
            put_u32(words + 4 * i, bits[i]);
    return count;
}

/* Toward zero; a value past either end, or NaN, stops it. */
static size_t to_int32(const source *from, const qp_element *element, const uint8_t *bytes,
                       size_t count, uint8_t *words)
{
    for (size_t i = 0; i < count; i++) {
        double value = from->number(bytes + i * element->bytes);
        if (!(value >= -0x1p31 && value <= 0x1p31 - 1))
            return i;
        put_u32(words + 4 * i, (uint32_t)(int32_t)value);
    }
    return count;
}

static const target targets[] = {{"bf16", to_bf16}, {"fp32", to_fp32}, {"int32", to_int32}};

static const target *target_of(const qp_format *format)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(targets[i].format, format->name) == 0)
            return &targets[i];
    return NULL;
}

/* ---- the method --------------------------------------------------------------------------- */

static bool takes(const qp_format *format)
{
    return target_of(format) != NULL;
}

static bool unchanged(const qp_method_job *job)
{
    const char *format = job->element->format;
    return format != NULL && strcmp(format, job->target->format->name) == 0;
}

static qp_status prepare(const qp_method_job *job, qp_error *error)
{
    if (unchanged(job) || source_of(job->element) != NULL)
        return QP_OK;
    return qp_fail_check(error, QP_MODEL_MISMATCH, "source_type", -1,
                         "elements of type %s are not read as numbers", job->element->name);
}

static qp_status refuse_range(const qp_method_rows *rows, uint64_t columns, uint64_t index,
                              qp_error *error)
{
    uint64_t row = rows->first + index / columns, column = index % columns;
    return qp_fail_element(
        error, QP_FIELD_RANGE, "int32_range", (qp_element_place){(int64_t)row, (int64_t)column},
        "the value at row %" PRIu64 ", column %" PRIu64 " is NaN or outside the range of int32",
        row, column);
}

static qp_status encode(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    const target *to = target_of(job->target->format);
    const source *from = source_of(job->element);
    uint64_t columns = job->target->columns, count = rows->count * columns;
    size_t source_bytes = job->element->bytes, word_bytes = job->target->format->code_bits / 8;

    if (unchanged(job)) {
        memcpy(rows->words.codes, rows->elements, (size_t)count * word_bytes);
        return QP_OK;
    }
    for (uint64_t i = 0; i < count; i += BLOCK) {
        size_t some = (size_t)(count - i < BLOCK ? count - i : BLOCK);
        size_t done = to->convert(from, job->element, rows->elements + i * source_bytes, some,
                                  rows->words.codes + i * word_bytes);
        if (done < some)
            return refuse_range(rows, columns, i + done, error);
    }
    return QP_OK;
}

const qp_method qp_method_cast_direct = {
    .name = "cast_direct",
    .summary = "each value rounded once; an unchanged type copied",
    .input = QP_INPUT_ELEMENTS,
    .targets = takes,
    .prepare = prepare,
    .encode = encode,
};
