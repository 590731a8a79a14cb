/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fp8_row_maxabs.c - E4M3FN codes with a scale a row (artifact-container.md section 9.5,
 * tensor-formats.md section 3.4).
 */
#include "format/method.h"

#include "number/minifloat.h"

#include <inttypes.h>

/* How the scale of a format is kept. */
typedef struct scale_kind {
    const char *format;
    uint16_t (*narrow)(uint32_t bits);
    uint32_t (*widen)(uint16_t word);
} scale_kind;

static const scale_kind kinds[] = {
    {"fp8_e4m3fn_row_bf16", qp_bf16_from_f32_bits, qp_bf16_to_f32_bits},
    {"fp8_e4m3fn_row_fp16", qp_f16_from_f32_bits, qp_f16_to_f32_bits},
};

static const scale_kind *kind_of(const qp_format *format)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].format, format->name) == 0)
            return &kinds[i];
    return NULL;
}

static bool takes(const qp_format *format)
{
    return kind_of(format) != NULL;
}

/* A finite value as the method takes it: rounded to bf16, as bits of binary32. */
static inline uint32_t source_bits(float value)
{
    uint32_t bits = qp_bits_of_float(value);
    return (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
}

static qp_status refuse(const char *check, uint64_t row, int64_t column, const char *what,
                        qp_error *error)
{
    return qp_fail_element(error, QP_FIELD_RANGE, check, (qp_element_place){(int64_t)row, column},
                           "row %" PRIu64 " %s", row, what);
}

/* The bits of the largest magnitude of a row, which order as numbers do. */
static uint32_t largest_magnitude(const float *values, uint64_t columns)
{
    int32_t largest = 0;
    for (uint64_t k = 0; k < columns; k++) {
        int32_t magnitude = (int32_t)(qp_bits_of_float(values[k]) & 0x7FFFFFFFu);
        largest = magnitude > largest ? magnitude : largest;
    }
    return (uint32_t)largest;
}

/* The first value that is not finite, or not so as bf16. */
static qp_status refuse_source(const float *values, uint64_t row, qp_error *error)
{
    uint64_t k = 0;
    while (qp_f32_bits_finite(qp_bits_of_float(values[k])) &&
           qp_f32_bits_finite(source_bits(values[k])))
        k++;
    if (!qp_f32_bits_finite(qp_bits_of_float(values[k])))
        return qp_method_not_finite(row, k, values[k], error);
    return refuse("source_not_finite", row, (int64_t)k, "has a value that is too large for bf16",
                  error);
}

/* A number of at most 448 to E4M3FN without a branch. Adding 2^14, whose last place is the smallest
 * subnormal, rounds what is below 2^-6; the sum's bits then count subnormals. */
static inline uint32_t code_of(float normalized)
{
    uint32_t bits = qp_bits_of_float(normalized), magnitude = bits & 0x7FFFFFFFu;
    magnitude = magnitude < 0x43E00000u ? magnitude : 0x43E00000u; /* 448 */
    uint32_t normal = ((magnitude + 0x7FFFFu + (magnitude >> 20 & 1u)) >> 20) - (120u << 3);
    float sum = qp_float_of_bits(magnitude) + 0x1p14f;
    uint32_t small = qp_bits_of_float(sum) - 0x46800000u;
    uint32_t is_small = 0u - (uint32_t)(magnitude < 0x3C800000u); /* a mask: loops become vectors */
    return (small & is_small) | (normal & ~is_small) | (bits >> 24 & 0x80u);
}

static void encode_codes(const float *values, uint64_t columns, float inverse, uint8_t *codes)
{
    for (uint64_t k = 0; k < columns; k++)
        codes[k] = (uint8_t)code_of(qp_float_of_bits(source_bits(values[k])) * inverse);
}

static qp_status encode_row(const scale_kind *kind, const float *values, uint64_t columns,
                            uint64_t row, qp_word_planes words, qp_error *error)
{
    uint32_t largest = largest_magnitude(values, columns);
    uint32_t maximum = source_bits(qp_float_of_bits(largest)); /* rounding keeps the order */
    uint16_t scale = 0;

    if (!qp_f32_bits_finite(largest) || !qp_f32_bits_finite(maximum))
        return refuse_source(values, row, error);
    if (maximum != 0) {
        float raw = qp_float_of_bits(maximum) / 448.0f;
        scale = kind->narrow(qp_bits_of_float(raw));
        if (scale == 0)
            scale = 0x0001;
        if (!qp_f32_bits_finite(kind->widen(scale)))
            return refuse("scale_not_finite", row, -1, "is too large: its scale passes binary16",
                          error);
    }
    words.scales[0] = (uint8_t)scale;
    words.scales[1] = (uint8_t)(scale >> 8);
    if (scale == 0) {
        memset(words.codes, 0, (size_t)columns);
        return QP_OK;
    }
    /* A scale is at least 2/3 of raw, so products with a finite reciprocal stay below 700; with an
     * infinite one none is finite. */
    float inverse = 1.0f / qp_float_of_bits(kind->widen(scale));
    if (!qp_f32_bits_finite(qp_bits_of_float(inverse)))
        return refuse("normalization_not_finite", row, 0,
                      "is too small: the reciprocal of its scale passes binary32", error);
    encode_codes(values, columns, inverse, words.codes);
    return QP_OK;
}

static qp_status encode(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    const qp_matrix *target = job->target;
    const scale_kind *kind = kind_of(target->format);

    for (uint64_t row = 0; row < rows->count; row++) {
        qp_word_planes words = {rows->words.codes + row * target->code_row_bytes,
                                rows->words.scales + row * target->scale_row_bytes, NULL};
        qp_status status = encode_row(kind, rows->values + row * target->columns, target->columns,
                                      rows->first + row, words, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

const qp_method qp_method_fp8_row_maxabs = {
    .name = "fp8_row_maxabs",
    .summary = "E4M3FN codes, a scale a row from its largest magnitude",
    .input = QP_INPUT_VALUES,
    .targets = takes,
    .encode = encode,
};
