/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assemble_params.c - an operator's parameters from their JSON, by its table of fields
 * (integer-operators.md section 10.4). Nothing is allocated from a count that the JSON only
 * declares: arrays are written as they are met.
 */
#include "graph/json_form.h"

#include <inttypes.h>

/* ---- arrays ------------------------------------------------------------------------------- */

/* What an array of parameters must be. */
typedef struct array_form {
    uint64_t dims[4];
    unsigned rank;
    unsigned width;
    qp_range range; /* of its values */
} array_form;

static qp_range range_of_width(unsigned width)
{
    return width == 8
               ? (qp_range){INT64_MIN, INT64_MAX}
               : (qp_range){-((int64_t)1 << (8 * width - 1)), ((int64_t)1 << (8 * width - 1)) - 1};
}

/* Recursive: as deep as the rank, at most 4. */
static qp_status append_nested(const qp_assembly *a, qp_json_value value, const array_form *form,
                               unsigned depth)
{
    qp_json_value element;
    uint64_t n = 0;

    if (depth == form->rank || depth == QP_COUNT(form->dims)) {
        int64_t v = 0;
        qp_status status = qp_form_signed(a, value, form->range, &v);
        if (status == QP_OK)
            qp_writer_integers(a->out, &v, 1, form->width);
        return status;
    }
    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, a->error);
    qp_json_iterator iterator = qp_json_iterate(value);
    while (status == QP_OK && n < form->dims[depth] && qp_json_next(&iterator, &element)) {
        status = append_nested(a, element, form, depth + 1);
        n++;
    }
    if (status != QP_OK)
        return status;
    if (n < form->dims[depth])
        return qp_json_fail(value, a->error, "the array has %" PRIu64 " elements, not %" PRIu64, n,
                            form->dims[depth]);
    if (qp_json_next(&iterator, &element))
        return qp_json_fail(element, a->error, "the array has more than %" PRIu64 " elements",
                            form->dims[depth]);
    return QP_OK;
}

/* Whether a named array has the dimensions of its parameter. */
static qp_status check_dims(const qp_assembly *a, qp_json_value name, const array_form *form,
                            const qp_graph_array *array)
{
    uint64_t count = 1;
    if (array->rank != form->rank)
        return qp_json_fail(name, a->error, "the named array has %u dimensions, not %u",
                            array->rank, form->rank);
    for (unsigned i = 0; i < form->rank; i++) {
        if (array->dims[i] != form->dims[i])
            return qp_json_fail(name, a->error,
                                "dimension %u of the named array is %" PRIu64 ", not %" PRIu64, i,
                                array->dims[i], form->dims[i]);
        if (!qp_mul_u64(count, form->dims[i], &count))
            return qp_json_fail(name, a->error, "the named array has too many elements");
    }
    if (array->count != count)
        return qp_json_fail(name, a->error, "the named array does not have its dimensions' count");
    return QP_OK;
}

static qp_status append_opened(const qp_assembly *a, qp_json_value name, const array_form *form,
                               size_t count)
{
    enum { SPAN = 512 };
    int64_t values[SPAN];
    qp_error cause = {.status = QP_INTERNAL, .operator_index = -1, .record = -1, .offset = -1};

    for (size_t done = 0, n; done < count && !a->out->failed; done += n) {
        n = count - done < SPAN ? count - done : SPAN;
        if (a->arrays->read(a->arrays->context, done, n, values, &cause) != QP_OK)
            return qp_form_fail(name, &cause, a->error);
        for (size_t i = 0; i < n; i++)
            if (values[i] < form->range.lo || values[i] > form->range.hi)
                return qp_json_fail(name, a->error,
                                    "element %zu of the named array, %" PRId64
                                    ", is not from %" PRId64 " to %" PRId64,
                                    done + i, values[i], form->range.lo, form->range.hi);
        qp_writer_integers(a->out, values, n, form->width);
    }
    return QP_OK;
}

/* An array that {"file": "NAME"} names. */
static qp_status append_named(const qp_assembly *a, qp_json_value value, const array_form *form)
{
    static const qp_names known = {{"file"}, 1};
    qp_graph_array array = {0};
    qp_error cause = {.status = QP_INTERNAL, .operator_index = -1, .record = -1, .offset = -1};
    char text[QP_ARRAY_NAME_SIZE];
    qp_json_value name;

    qp_status status = qp_form_members(a, value, &known);
    if (status == QP_OK)
        status = qp_form_member(a, value, "file", &name);
    if (status == QP_OK)
        status = qp_json_copy_string(name, text, sizeof text, a->error);
    if (status != QP_OK)
        return status;
    if (a->arrays == NULL)
        return qp_json_fail(name, a->error, "arrays in files of their own are not taken here");
    if (a->arrays->open(a->arrays->context, text, &array, &cause) != QP_OK)
        return qp_form_fail(name, &cause, a->error);
    status = check_dims(a, name, form, &array);
    return status == QP_OK ? append_opened(a, name, form, array.count) : status;
}

static qp_status append_array(const qp_assembly *a, qp_json_value value, const array_form *form)
{
    if (qp_json_kind_of(value) == QP_JSON_OBJECT)
        return append_named(a, value, form);
    return append_nested(a, value, form, 0);
}

/* ---- the RQ block ------------------------------------------------------------------------- */

static qp_status get_width(const qp_assembly *a, qp_json_value value, unsigned mask,
                           unsigned *result)
{
    uint64_t width = 0;
    qp_status status = qp_form_unsigned(a, value, (qp_unsigned_range){1, 8}, &width);
    if (status != QP_OK)
        return status;
    if ((mask >> width & 1) == 0)
        return qp_json_fail(value, a->error, "integers of this width are not taken here");
    *result = (unsigned)width;
    return QP_OK;
}

static qp_status member_width(const qp_assembly *a, qp_json_value object, const char *name,
                              unsigned *result)
{
    qp_json_value value;
    qp_status status = qp_form_member(a, object, name, &value);
    return status == QP_OK ? get_width(a, value, QP_WIDTHS_WIDE, result) : status;
}

/* The members that an RQ block of these kinds has. */
static qp_names rq_names(const qp_rq_values *rq)
{
    qp_names known = {{"round", "m_kind", "s_kind", "shift", "bias"}, 5};
    if (rq->mult_kind != QP_KIND_ABSENT) {
        known.names[known.count++] = "m_bytes";
        known.names[known.count++] = "mult";
    }
    if (rq->bias_place != QP_BIAS_NONE) {
        known.names[known.count++] = "b_bytes";
        known.names[known.count++] = "biases";
    }
    return known;
}

/* The block's head: what its arrays are. */
static qp_status get_rq_head(const qp_assembly *a, qp_json_value object, qp_rq_values *rq)
{
    unsigned round = 0, mult_kind = 0, shift_kind = 0, bias = 0;
    qp_json_value value = object;
    qp_status status = qp_form_member_word(a, object, "round", &qp_words_round, &round);
    if (status == QP_OK)
        status = qp_form_member_word(a, object, "m_kind", &qp_words_kind, &mult_kind);
    if (status == QP_OK)
        status = qp_form_member_word(a, object, "s_kind", &qp_words_kind, &shift_kind);
    if (status == QP_OK)
        status = qp_form_member_word(a, object, "bias", &qp_words_bias, &bias);
    if (status == QP_OK && mult_kind != QP_KIND_ABSENT)
        status = member_width(a, object, "m_bytes", &rq->mult_width);
    if (status == QP_OK && bias != QP_BIAS_NONE)
        status = member_width(a, object, "b_bytes", &rq->bias_width);
    if (status != QP_OK)
        return status;
    if (shift_kind == QP_KIND_ABSENT && qp_form_member(a, object, "s_kind", &value) == QP_OK)
        return qp_json_fail(value, a->error, "a shift is always there: its kind is not absent");
    rq->round = (qp_round)round;
    rq->mult_kind = (qp_kind)mult_kind;
    rq->shift_kind = (qp_kind)shift_kind;
    rq->bias_place = (qp_bias_place)bias;
    return QP_OK;
}

/* One part of the block: an integer for the kind `one`, an array for `per_channel`. */
static qp_status append_rq_part(const qp_assembly *a, qp_json_value object, const char *name,
                                qp_kind kind, const array_form *form)
{
    array_form single = *form;
    qp_json_value value;
    qp_status status = QP_OK;

    if (kind == QP_KIND_ABSENT)
        return QP_OK;
    status = qp_form_member(a, object, name, &value);
    if (status != QP_OK)
        return status;
    single.rank = 0;
    return kind == QP_KIND_ONE ? append_nested(a, value, &single, 0) : append_array(a, value, form);
}

static qp_status append_rq(const qp_assembly *a, const qp_field *field, qp_json_value object)
{
    qp_rq_values rq = {0};
    array_form mult = {.rank = 1}, shift = {.rank = 1, .width = 1, .range = {0, QP_SHIFT_MAX}};
    qp_status status = qp_json_expect(object, QP_JSON_OBJECT, a->error);
    if (status == QP_OK)
        status = get_rq_head(a, object, &rq);
    if (status != QP_OK)
        return status;
    qp_names known = rq_names(&rq);
    status = qp_form_members(a, object, &known);
    if (status != QP_OK)
        return status;

    qp_writer_rq_head(a->out, &rq);
    field->dims(a->params, a->in_channels, mult.dims);
    shift.dims[0] = mult.dims[0];
    array_form bias = mult;
    mult.width = rq.mult_width;
    bias.width = rq.bias_width;
    if (rq.mult_kind != QP_KIND_ABSENT)
        mult.range = range_of_width(mult.width);
    if (rq.bias_place != QP_BIAS_NONE)
        bias.range = range_of_width(bias.width);
    status = append_rq_part(a, object, "mult", rq.mult_kind, &mult);
    if (status == QP_OK)
        status = append_rq_part(a, object, "shift", rq.shift_kind, &shift);
    if (status == QP_OK && rq.bias_place != QP_BIAS_NONE)
        status = append_rq_part(a, object, "biases", QP_KIND_PER_CHANNEL, &bias);
    return status;
}

/* ---- fields (section 10.4) ---------------------------------------------------------------- */

static qp_status append_unsigned(const qp_assembly *a, const qp_field *field, qp_json_value value,
                                 unsigned width)
{
    void *target = (char *)a->params + field->offset;
    qp_unsigned_range range = {field->minimum, field->maximum};
    uint64_t v = 0;
    if (field->maximum == 0)
        range.hi = UINT64_MAX >> (64 - 8 * width);
    qp_status status = qp_form_unsigned(a, value, range, &v);
    if (status != QP_OK)
        return status;
    if (width == 1)
        *(uint8_t *)target = (uint8_t)v;
    else if (width == 4)
        *(uint32_t *)target = (uint32_t)v;
    else
        *(uint64_t *)target = v;
    qp_buffer_le(a->out, v, width);
    return QP_OK;
}

static qp_status append_i64(const qp_assembly *a, const qp_field *field, qp_json_value value)
{
    int64_t v = 0;
    qp_status status = qp_json_get_i64(value, &v, a->error);
    if (status != QP_OK)
        return status;
    *(int64_t *)(void *)((char *)a->params + field->offset) = v;
    qp_buffer_le(a->out, (uint64_t)v, 8);
    return QP_OK;
}

static qp_status append_exponent(const qp_assembly *a, qp_json_value value)
{
    int8_t v = 0;
    qp_status status = qp_form_exponent(a, value, &v);
    if (status == QP_OK)
        qp_buffer_le(a->out, (uint64_t)v, 1);
    return status;
}

static qp_status append_round(const qp_assembly *a, qp_json_value value)
{
    unsigned v = 0;
    qp_status status = qp_form_word(a, value, &qp_words_round, &v);
    if (status == QP_OK)
        qp_buffer_le(a->out, v, 1);
    return status;
}

static qp_status append_order(const qp_assembly *a, qp_json_value value)
{
    static const array_form form = {{4}, 1, 1, {0, 3}};
    return append_nested(a, value, &form, 0);
}

static qp_status append_width(const qp_assembly *a, const qp_field *field, qp_json_value value)
{
    unsigned width = 0;
    qp_status status = get_width(a, value, field->minimum, &width);
    if (status != QP_OK)
        return status;
    *(uint8_t *)((char *)a->params + field->offset) = (uint8_t)width;
    qp_buffer_le(a->out, width, 1);
    return QP_OK;
}

/* An operand: {"scalar": index}, or a constant in `range`. The kind, reserved bytes and the value
 * make 2·width bytes. */
static qp_status append_operand(const qp_assembly *a, qp_json_value value, qp_range range,
                                unsigned width)
{
    static const qp_names known = {{"scalar"}, 1};
    bool scalar = qp_json_kind_of(value) == QP_JSON_OBJECT;
    uint32_t index = 0;
    int64_t v = 0;
    qp_status status;

    if (scalar) {
        status = qp_form_members(a, value, &known);
        if (status == QP_OK)
            status = qp_form_member_u32(a, value, "scalar", 0, &index);
        v = index;
    } else {
        status = qp_form_signed(a, value, range, &v);
    }
    if (status != QP_OK)
        return status;
    qp_buffer_le(a->out, scalar, width);
    qp_buffer_le(a->out, (uint64_t)v, width);
    return QP_OK;
}

static qp_status append_integers(const qp_assembly *a, const qp_field *field, qp_json_value value)
{
    array_form form = {.width = qp_field_width(field, a->params)};
    form.rank = field->dims(a->params, a->in_channels, form.dims);
    form.range = range_of_width(form.width);
    return append_array(a, value, &form);
}

static qp_status append_field(const qp_assembly *a, const qp_field *field, qp_json_value value)
{
    switch (field->kind) {
    case QP_FIELD_U8:
        return append_unsigned(a, field, value, 1);
    case QP_FIELD_U32:
        return append_unsigned(a, field, value, 4);
    case QP_FIELD_U64:
        return append_unsigned(a, field, value, 8);
    case QP_FIELD_I64:
        return append_i64(a, field, value);
    case QP_FIELD_EXPONENT:
        return append_exponent(a, value);
    case QP_FIELD_ROUND:
        return append_round(a, value);
    case QP_FIELD_ORDER:
        return append_order(a, value);
    case QP_FIELD_OPERAND:
        return append_operand(a, value, (qp_range){0, UINT32_MAX}, 4);
    case QP_FIELD_OPERAND64:
        return append_operand(a, value, (qp_range){INT64_MIN, INT64_MAX}, 8);
    case QP_FIELD_WIDTH:
        return append_width(a, field, value);
    case QP_FIELD_RQ:
        return append_rq(a, field, value);
    case QP_FIELD_INTEGERS:
        return append_integers(a, field, value);
    case QP_FIELD_RESERVED:
        break;
    }
    return QP_OK;
}

static bool is_field(const qp_operator *op, qp_json_value name)
{
    for (uint32_t i = 0; i < op->n_fields; i++)
        if (op->fields[i].name != NULL && qp_json_equals(name, op->fields[i].name))
            return true;
    return false;
}

qp_status qp_assemble_fields(const qp_assembly *a, const qp_operator *op, qp_json_value object)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value = QP_JSON_NO_VALUE;

    while (qp_json_next_member(&iterator, &name, &value))
        if (!is_field(op, name))
            return qp_form_unknown(a, name);
    for (uint32_t i = 0; i < op->n_fields; i++) {
        const qp_field *field = &op->fields[i];
        qp_status status = QP_OK;
        if (field->kind == QP_FIELD_RESERVED) {
            qp_writer_zeros(a->out, field->minimum);
            continue;
        }
        status = qp_form_member(a, object, field->name, &value);
        if (status == QP_OK)
            status = append_field(a, field, value);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}
