/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auxiliary.c - the roles of auxiliaries, one row each.
 */
#include "artifact/auxiliary.h"

#include "number/minifloat.h"

#include <inttypes.h>

static const char *check_divisor(const double *numbers, size_t count, bool *seen)
{
    (void)seen;
    uint32_t bits = count == 1 ? qp_bits_of_float((float)numbers[0]) : 0;
    return bits > 0 && bits < 0x7F800000u ? NULL : "is one positive finite number";
}

static const char *check_signs(const double *numbers, size_t count, bool *seen)
{
    (void)seen;
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] != 1.0 && numbers[i] != -1.0)
            return "is of 1 and -1 only";
    }
    return count % 1024 == 0 ? NULL : "has a multiple of 1024 numbers";
}

/* A permutation of 0 .. count - 1. */
static const char *check_columns(const double *numbers, size_t count, bool *seen)
{
    for (size_t i = 0; i < count; i++) {
        bool is_index = numbers[i] >= 0 && numbers[i] < (double)count;
        size_t index = is_index ? (size_t)numbers[i] : 0;
        if (!is_index || (double)index != numbers[i] || seen[index])
            return "is a permutation of the columns";
        seen[index] = true;
    }
    return NULL;
}

static const qp_auxiliary_role roles[] = {
    {QP_AUXILIARY_DIVISOR, "fp32", true, check_divisor},
    {"hadamard_signs", "bf16", false, check_signs},
    {"input_columns", "int32", false, check_columns},
};

const qp_auxiliary_role *qp_auxiliary_role_find(const char *name)
{
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(roles[i].name, name) == 0)
            return &roles[i];
    }
    return NULL;
}

/* ---- auxiliaries of a file ------------------------------------------------------------------- */

static qp_status fail_auxiliary(const qp_parameter *parameter, const char *wrong, qp_error *error)
{
    return qp_fail_check(error, QP_FIELD_RANGE, "auxiliary_invalid", -1, "the auxiliary %.90s %s",
                         parameter->name, wrong);
}

/* The words of the numbers, whose format is the role's: int32 stays exact. */
static qp_status read_numbers(const qp_weight_source *source, const qp_parameter *parameter,
                              double *numbers, qp_error *error)
{
    qp_weight_source_reader reader;
    const uint8_t *bytes = NULL;
    uint32_t width = parameter->parts[0].element->bytes;
    bool is_integer = !parameter->parts[0].element->is_float;
    qp_weight_source_reader_init(&reader, source, &source->allocator, 0);
    qp_status status =
        qp_parameter_elements(&reader, parameter, 0, parameter->elements, &bytes, error);
    for (uint64_t i = 0; i < parameter->elements && status == QP_OK; i++) {
        uint32_t word = width == 4 ? qp_load_u32(bytes + 4 * i)
                                   : qp_bf16_to_f32_bits(qp_load_u16(bytes + 2 * i));
        numbers[i] = is_integer ? (double)qp_to_i32(word) : (double)qp_float_of_bits(word);
    }
    qp_weight_source_reader_free(&reader);
    return status;
}

static qp_status check_numbers(const qp_weight_source *source, const qp_parameter *parameter,
                               const qp_auxiliary_role *role, qp_error *error)
{
    size_t count = (size_t)parameter->elements; /* its words are in the address space */
    double *numbers = qp_allocate(&source->allocator, count, sizeof *numbers);
    bool *seen = qp_allocate(&source->allocator, count, sizeof *seen);
    qp_status status = QP_OK;
    if (numbers == NULL || seen == NULL)
        status = qp_fail_memory(error, "an auxiliary");
    if (status == QP_OK)
        status = read_numbers(source, parameter, numbers, error);
    const char *wrong = status == QP_OK ? role->check(numbers, count, seen) : NULL;
    if (wrong != NULL)
        status = fail_auxiliary(parameter, wrong, error);
    qp_release(&source->allocator, numbers, count, sizeof *numbers);
    qp_release(&source->allocator, seen, count, sizeof *seen);
    return status;
}

static bool has_format(const qp_parameter *parameter, const char *format)
{
    for (size_t i = 0; i < parameter->n_parts; i++) {
        const qp_element *element = parameter->parts[i].element;
        if (element == NULL || element->format == NULL || strcmp(element->format, format) != 0)
            return false;
    }
    return true;
}

static qp_status check_auxiliary(const qp_weight_source *source, const qp_parameter *parameter,
                                 qp_error *error)
{
    const qp_auxiliary_role *role = qp_auxiliary_role_find(parameter->role);
    const qp_parameter *owner = qp_weight_source_find(source, parameter->owner);
    if (role == NULL)
        return QP_OK;
    if (!has_format(parameter, role->format))
        return fail_auxiliary(parameter, "has another format than its role", error);
    if (role->is_scalar ? parameter->elements != 1
                        : owner != NULL && parameter->elements != owner->columns)
        return fail_auxiliary(parameter, "has not the numbers that its role needs", error);
    return check_numbers(source, parameter, role, error);
}

qp_status qp_auxiliaries_check(const qp_weight_source *source, qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < source->count && status == QP_OK; i++) {
        if (source->parameters[i].is_auxiliary)
            status = check_auxiliary(source, &source->parameters[i], error);
    }
    return status;
}
