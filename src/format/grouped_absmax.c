/* SPDX-License-Identifier: Apache-2.0 */
/* grouped_absmax.c - the reference encoder of the grouped formats (tensor-formats.md section 7.2).
 */
#include "format/grouped_encode.h"

#include "format/method.h"
#include "number/minifloat.h"

#include <inttypes.h>

bool qp_group_takes(const qp_format *format)
{
    return format->family == QP_FAMILY_GROUPED && format->code_min <= -format->code_max;
}

/* ---- one group ---------------------------------------------------------------------------- */

void qp_group_codes(const float *values, size_t count, uint16_t scale, qp_code_range range,
                    uint8_t *codes)
{
    float inverse = 1.0f / qp_float_of_bits(qp_f16_to_f32_bits(scale));
    for (size_t i = 0; i < count; i++)
        codes[i] = (uint8_t)(int8_t)qp_code_of(values[i] * inverse, range);
}

static qp_status refuse_scale(const qp_format *format, qp_group_place place, float value,
                              qp_error *error)
{
    return qp_fail_element(error, QP_FIELD_RANGE, "scale_not_finite",
                           (qp_element_place){(int64_t)place.row, (int64_t)place.column},
                           "the value %g at row %" PRIu64 ", column %" PRIu64
                           " is too large for %s: its scale passes binary16",
                           (double)value, place.row, place.column, format->name);
}

/* The largest magnitude, as bits, which order magnitudes as numbers do; its first lane. */
static uint32_t largest_magnitude(const float *values, size_t count, size_t *lane)
{
    uint32_t largest = 0;
    *lane = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t magnitude = qp_bits_of_float(values[i]) & 0x7FFFFFFFu;
        if (magnitude > largest) {
            largest = magnitude;
            *lane = i;
        }
    }
    return largest;
}

static qp_status refuse_not_finite(const float *values, qp_group_place place, qp_error *error)
{
    size_t i = 0;
    while (qp_f32_bits_finite(qp_bits_of_float(values[i])))
        i++;
    return qp_method_not_finite(place.row, place.column + i, values[i], error);
}

qp_status qp_group_absmax(const qp_format *format, const float *values, size_t count,
                          qp_group_place place, uint8_t *codes, uint16_t *scale, qp_error *error)
{
    size_t lane;
    uint32_t largest = largest_magnitude(values, count, &lane);
    if (!qp_f32_bits_finite(largest))
        return refuse_not_finite(values, place, error);
    if (largest == 0) {
        memset(codes, 0, count);
        *scale = 0;
        return QP_OK;
    }
    float raw = qp_float_of_bits(largest) / (float)format->code_max;
    uint16_t word = qp_f16_from_f32_bits(qp_bits_of_float(raw));
    if (word == 0)
        word = 0x0001;
    if (word >= 0x7C00) {
        place.column += lane;
        return refuse_scale(format, place, values[lane], error);
    }
    qp_group_codes(values, count, word, qp_code_range_of(format), codes);
    *scale = word;
    return QP_OK;
}

/* ---- the method --------------------------------------------------------------------------- */

/* The groups of one row from column `begin` on. */
static qp_status encode_row(const qp_method_job *job, const qp_method_rows *rows, uint64_t row,
                            uint64_t begin, qp_error *error)
{
    const qp_matrix *target = job->target;
    const float *values = rows->values + row * target->columns;
    uint8_t *codes = rows->words.codes + row * target->code_row_bytes;
    uint8_t *scales = rows->words.scales + row * target->scale_row_bytes;
    uint32_t group = target->format->group;

    for (uint64_t k = begin; k < target->columns; k += group) {
        size_t count = (size_t)(target->columns - k < group ? target->columns - k : group);
        uint16_t scale;
        qp_status status =
            qp_group_absmax(target->format, values + k, count,
                            (qp_group_place){rows->first + row, k}, codes + k, &scale, error);
        if (status != QP_OK)
            return status;
        scales[k / group * 2] = (uint8_t)scale;
        scales[k / group * 2 + 1] = (uint8_t)(scale >> 8);
    }
    return QP_OK;
}

/* The whole groups of a row by a kernel; gives the column at which it stopped. */
static uint64_t encode_row_fast(const qp_grouped_kernel *kernel, const qp_matrix *target,
                                const qp_method_rows *rows, uint64_t row)
{
    uint32_t group = target->format->group;
    size_t done = kernel->absmax(target->format, rows->values + row * target->columns,
                                 (size_t)(target->columns / group),
                                 rows->words.codes + row * target->code_row_bytes,
                                 rows->words.scales + row * target->scale_row_bytes);
    return (uint64_t)done * group;
}

static qp_status encode(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    const qp_grouped_kernel *kernel = qp_grouped_kernel_find(job->cpu);
    for (uint64_t row = 0; row < rows->count; row++) {
        uint64_t begin = kernel != NULL ? encode_row_fast(kernel, job->target, rows, row) : 0;
        qp_status status = encode_row(job, rows, row, begin, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

const qp_method qp_method_grouped_absmax = {
    .name = "grouped_absmax",
    .summary = "a scale a group from its largest magnitude",
    .input = QP_INPUT_VALUES,
    .targets = qp_group_takes,
    .prepare = qp_method_needs_float,
    .encode = encode,
};
