/* SPDX-License-Identifier: Apache-2.0 */
/* stage_line.c - one line of a stage operator's vectors: its parts, its run and its comparison. */
#include "conform/stage_line.h"

enum { DIMENSION_MAX = 1 << 26 };

/* ---- reading ------------------------------------------------------------------------------ */

qp_status qp_stage_integer(qp_json_value value, int64_t *integer, qp_error *error)
{
    bool beyond;
    return qp_line_integer(value, integer, &beyond, error);
}

qp_status qp_stage_integers(const qp_stage_line *line, const char *const *names, size_t count,
                            int64_t *integers, qp_error *error)
{
    qp_json_value values[8];
    qp_status status = qp_line_members(line->in, names, count, values, error);
    for (size_t i = 0; status == QP_OK && i < count; i++)
        status = qp_stage_integer(values[i], &integers[i], error);
    return status;
}

qp_status qp_stage_bounded(qp_json_value value, int64_t lo, int64_t hi, int64_t *integer,
                           qp_error *error)
{
    qp_status status = qp_stage_integer(value, integer, error);
    if (status == QP_OK && (*integer < lo || *integer > hi))
        return qp_json_fail(value, error, "an integer out of the range of what it stands for");
    return status;
}

qp_status qp_stage_list(qp_stage_line *line, qp_json_value value, qp_integer_list *list,
                        qp_error *error)
{
    qp_json_iterator each = qp_json_iterate(value);
    qp_json_value element;
    size_t n = 0;

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    if (status != QP_OK)
        return status;
    size_t count = qp_json_count(value);
    int64_t *values = qp_arena_allocate(line->arena, count, sizeof *values);
    if (values == NULL)
        return qp_fail_memory(error, "a list of integers");
    while (status == QP_OK && qp_json_next(&each, &element))
        status = qp_stage_integer(element, &values[n++], error);
    *list = (qp_integer_list){values, count};
    return status;
}

qp_status qp_stage_lists(qp_stage_line *line, qp_json_value value, const qp_integer_list **lists,
                         size_t *count, qp_error *error)
{
    qp_json_iterator each = qp_json_iterate(value);
    qp_json_value element;
    size_t n = 0;

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    if (status != QP_OK)
        return status;
    *count = qp_json_count(value);
    qp_integer_list *made = qp_arena_allocate(line->arena, *count, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "lists of integers");
    while (status == QP_OK && qp_json_next(&each, &element))
        status = qp_stage_list(line, element, &made[n++], error);
    *lists = made;
    return status;
}

qp_status qp_stage_indices(qp_stage_line *line, qp_json_value value, const uint32_t **indices,
                           size_t *count, qp_error *error)
{
    qp_integer_list list;
    qp_status status = qp_stage_list(line, value, &list, error);
    if (status != QP_OK)
        return status;
    uint32_t *made = qp_arena_allocate(line->arena, list.count, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a list of indices");
    for (size_t i = 0; i < list.count; i++) {
        bool fits = list.values[i] >= 0 && list.values[i] < UINT32_MAX;
        made[i] = fits ? (uint32_t)list.values[i] : UINT32_MAX;
    }
    *indices = made;
    *count = list.count;
    return QP_OK;
}

qp_status qp_stage_tensor_of(qp_stage_line *line, qp_json_value value, qp_stage_tensor *tensor,
                             qp_error *error)
{
    static const char *const names[] = {"data", "shape"};
    qp_json_value members[2];
    qp_integer_list shape;
    uint64_t elements = 1;

    qp_status status = qp_line_members(value, names, 2, members, error);
    if (status == QP_OK)
        status = qp_stage_list(line, members[0], &tensor->data, error);
    if (status == QP_OK)
        status = qp_stage_list(line, members[1], &shape, error);
    if (status != QP_OK)
        return status;
    for (size_t i = 0; i < shape.count; i++)
        if (shape.values[i] < 1 || shape.values[i] > DIMENSION_MAX ||
            !qp_mul_u64(elements, (uint64_t)shape.values[i], &elements))
            return qp_json_fail(members[1], error, "a dimension outside 1..2^26");
    if (shape.count != 3 || elements != tensor->data.count)
        return qp_json_fail(members[1], error, "the shape is not that of the elements");
    tensor->channels = (uint32_t)shape.values[0];
    tensor->height = (uint32_t)shape.values[1];
    tensor->width = (uint32_t)shape.values[2];
    return QP_OK;
}

qp_status qp_stage_word(qp_json_value value, const char *const *words, size_t count,
                        unsigned *index, qp_error *error)
{
    for (unsigned i = 0; i < count; i++)
        if (qp_json_equals(value, words[i])) {
            *index = i;
            return QP_OK;
        }
    return qp_json_fail(value, error, "a word that is not one of the form's");
}

qp_status qp_stage_bytes(qp_stage_line *line, qp_json_value value, const uint8_t **bytes,
                         size_t *size, qp_error *error)
{
    qp_buffer buffer;
    qp_buffer_init(&buffer, &line->arena->allocator);
    qp_status status = qp_line_hex(value, &buffer, error);
    uint8_t *made = status == QP_OK ? qp_arena_allocate(line->arena, buffer.size, 1) : NULL;
    if (status == QP_OK && made == NULL)
        status = qp_fail_memory(error, "a stream");
    if (status == QP_OK && buffer.size > 0)
        memcpy(made, buffer.bytes, buffer.size);
    *bytes = made;
    *size = buffer.size;
    qp_buffer_free(&buffer);
    return status;
}

qp_status qp_stage_room(const qp_stage_line *line, uint64_t elements, qp_error *error)
{
    if (elements <= line->most)
        return QP_OK;
    return qp_fail(error, QP_MALFORMED, "the output has more elements than the line could state");
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put_string(qp_buffer *buffer, int64_t value)
{
    qp_buffer_text(buffer, "\"");
    qp_buffer_i64_decimal(buffer, value);
    qp_buffer_text(buffer, "\"");
}

void qp_stage_put_value(qp_stage_line *line, const char *name, int64_t value)
{
    qp_buffer_format(line->expect, "{\"%s\":", name);
    put_string(line->expect, value);
    qp_buffer_text(line->expect, "}");
}

void qp_stage_put_list(qp_buffer *buffer, const int64_t *values, size_t count)
{
    qp_buffer_text(buffer, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            qp_buffer_text(buffer, ",");
        put_string(buffer, values[i]);
    }
    qp_buffer_text(buffer, "]");
}

void qp_stage_put_tensor(qp_stage_line *line, const int64_t *values, const uint32_t shape[3])
{
    const int64_t dimensions[3] = {shape[0], shape[1], shape[2]};
    qp_buffer_text(line->expect, "{\"out\":{\"data\":");
    qp_stage_put_list(line->expect, values, (size_t)shape[0] * shape[1] * shape[2]);
    qp_buffer_text(line->expect, ",\"shape\":");
    qp_stage_put_list(line->expect, dimensions, 3);
    qp_buffer_text(line->expect, "}}");
}

/* ---- running ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    qp_stage_runner *run;
    bool has_modes;
} operators[] = {{"rans64_decode", qp_stage_run_rans64_decode, true},
                 {"dequantize", qp_stage_run_dequantize, false},
                 {"bucket", qp_stage_run_bucket, true},
                 {"coded", qp_stage_run_coded, false},
                 {"scale_index", qp_stage_run_scale_index, false},
                 {"block_stat", qp_stage_run_block_stat, false},
                 {"band_lookup", qp_stage_run_band_lookup, false},
                 {"mans_decode", qp_stage_run_mans_decode, false},
                 {"residual_step", qp_stage_run_residual_step, false},
                 {"mc_predict", qp_stage_run_mc_predict, false},
                 {"up2_predict", qp_stage_run_up2_predict, false},
                 {"rate_predict", qp_stage_run_rate_predict, false},
                 {"coding_order", qp_stage_run_coding_order, false}};

static bool is_refusal(qp_status status)
{
    return status == QP_MODEL_MISMATCH || status == QP_FIELD_RANGE ||
           status == QP_GEOMETRY_MISMATCH || status == QP_STREAM_EXHAUSTED ||
           status == QP_STREAM_NONCANONICAL;
}

static qp_status run_operator(qp_stage_line *line, size_t index, qp_error *error)
{
    qp_error found = {.record = -1};
    size_t start = line->expect->size;

    if (qp_json_kind_of(line->modes) != QP_JSON_OBJECT)
        return qp_json_expect(line->modes, QP_JSON_OBJECT, error);
    if (!operators[index].has_modes && qp_json_count(line->modes) > 0)
        return qp_json_fail(line->modes, error, "this operator has no modes");
    qp_status status = operators[index].run(line, &found);
    if (is_refusal(status)) {
        line->expect->size = start;
        qp_buffer_text(line->expect, "{\"at\":");
        put_string(line->expect, found.record);
        qp_buffer_format(line->expect, ",\"refuse\":\"%s\"}", qp_status_token(status));
        status = QP_OK;
    } else if (status != QP_OK && error != NULL) {
        *error = found;
    }
    return line->expect->failed ? qp_fail_memory(error, "what a line gives") : status;
}

qp_status qp_stage_line_run(qp_stage_line *line, qp_json_value op, qp_error *error)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (qp_json_equals(op, operators[i].name))
            return run_operator(line, i, error);
    return qp_json_fail(op, error, "there is no stage operator of this name");
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* The bytes of a value that another member follows: up to the comma before that member's name. */
static qp_status compare(qp_json_value value, qp_json_value next_name, const qp_buffer *own,
                         qp_error *error)
{
    const qp_json *json = value.json;
    size_t start = (size_t)(qp_json_place_of(value).offset - json->first_offset);
    size_t end = (size_t)(qp_json_place_of(next_name).offset - json->first_offset) - 1;
    const char *given = (const char *)json->text + start, *found = (const char *)own->bytes;
    size_t size = end - start, i = 0;

    while (i < size && i < own->size && given[i] == found[i])
        i++;
    if (i == size && i == own->size)
        return QP_OK;
    size_t from = i < 24 ? 0 : i - 24;
    return qp_fail(error, QP_MALFORMED, "expect: at its byte %zu: expected ...%.*s, got ...%.*s", i,
                   (int)(size - from < 64 ? size - from : 64), given + from,
                   (int)(own->size - from < 64 ? own->size - from : 64), found + from);
}

static qp_status check_line(qp_stage_line *line, const qp_json_value members[5], const char *name,
                            qp_json_value id_name, qp_error *error)
{
    if (name != NULL && !qp_json_equals(members[4], name))
        return qp_json_fail(members[4], error, "op: expected %s, the file's operator", name);
    qp_status status = qp_stage_line_run(line, members[4], error);
    return status != QP_OK ? status : compare(members[0], id_name, line->expect, error);
}

qp_status qp_stage_line_check(qp_json_value root, const char *name, const qp_allocator *allocator,
                              qp_error *error)
{
    static const char *const names[] = {"expect", "id", "in", "modes", "op"};
    qp_json_value members[5], id_name = {0}, value;
    qp_json_iterator each = qp_json_iterate(root);
    qp_arena arena;
    qp_buffer expect;

    qp_status status = qp_line_members(root, names, 5, members, error);
    if (status == QP_OK)
        status = qp_json_expect(members[1], QP_JSON_STRING, error);
    if (status != QP_OK)
        return status;
    for (int i = 0; i < 2; i++)
        (void)qp_json_next_member(&each, &id_name, &value);

    qp_arena_init(&arena, allocator);
    qp_buffer_init(&expect, allocator);
    qp_stage_line line = {&arena, members[2], members[3], root.json->size, &expect};
    status = check_line(&line, members, name, id_name, error);
    qp_buffer_free(&expect);
    qp_arena_free(&arena);
    return status;
}
