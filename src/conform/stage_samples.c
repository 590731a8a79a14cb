/* SPDX-License-Identifier: Apache-2.0 */
/* stage_samples.c - vectors of the stage operators over samples and shapes: E10 to E13. */
#include "conform/stage_line.h"

/* A tensor of 8-bit samples, as planes. */
static qp_status read_samples(qp_stage_line *line, qp_json_value value, qp_samples *samples,
                              qp_error *error)
{
    qp_stage_tensor t = {0};
    qp_status status = qp_stage_tensor_of(line, value, &t, error);
    if (status != QP_OK)
        return status;
    uint8_t *data = qp_arena_allocate(line->arena, t.data.count, 1);
    if (data == NULL)
        return qp_fail_memory(error, "samples");
    for (size_t i = 0; i < t.data.count; i++) {
        if (t.data.values[i] < 0 || t.data.values[i] > UINT8_MAX)
            return qp_json_fail(value, error, "a sample that does not fit 8 bits");
        data[i] = (uint8_t)t.data.values[i];
    }
    *samples = qp_samples_planes(data, t.channels, t.height, t.width);
    return QP_OK;
}

qp_status qp_stage_run_mc_predict(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"c", "dx", "dy", "frame", "precision", "x", "y"};
    qp_json_value members[7];
    qp_samples frame = {0};
    qp_pixel pixel = {0};
    int64_t dy = 0, dx = 0, precision = 0;
    uint8_t value = 0;

    qp_status status = qp_line_members(line->in, names, 7, members, error);
    if (status == QP_OK)
        status = qp_stage_integer(members[0], &pixel.c, error);
    if (status == QP_OK)
        status = qp_stage_bounded(members[1], INT32_MIN, INT32_MAX, &dx, error);
    if (status == QP_OK)
        status = qp_stage_bounded(members[2], INT32_MIN, INT32_MAX, &dy, error);
    if (status == QP_OK)
        status = read_samples(line, members[3], &frame, error);
    if (status == QP_OK)
        status = qp_stage_integer(members[4], &precision, error);
    if (status == QP_OK)
        status = qp_stage_integer(members[5], &pixel.x, error);
    if (status == QP_OK)
        status = qp_stage_integer(members[6], &pixel.y, error);
    if (status != QP_OK)
        return status;
    qp_motion motion = {(int32_t)dy, (int32_t)dx,
                        precision == 1 || precision == 2 ? (int)precision : 0};
    status = qp_mc_predict(&frame, &pixel, &motion, &value, error);
    if (status == QP_OK)
        qp_stage_put_value(line, "value", value);
    return status;
}

/* Elements of up2's output, as 64-bit integers. */
static qp_status put_up2(qp_stage_line *line, const qp_samples *below, uint32_t d0, uint32_t d1,
                         qp_error *error)
{
    size_t count = (size_t)below->channels * d0 * d1;
    uint8_t *out = qp_arena_allocate(line->arena, count, 1);
    int64_t *wide = qp_arena_allocate(line->arena, count, sizeof *wide);
    if (out == NULL || wide == NULL)
        return qp_fail_memory(error, "a prediction");
    qp_status status = qp_up2_predict(below, d0, d1, out, error);
    for (size_t i = 0; status == QP_OK && i < count; i++)
        wide[i] = out[i];
    if (status == QP_OK)
        qp_stage_put_tensor(line, wide, (const uint32_t[]){below->channels, d0, d1});
    return status;
}

qp_status qp_stage_run_up2_predict(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"d0", "d1", "prev"};
    qp_json_value members[3];
    qp_samples below = {0};
    int64_t d0 = 0, d1 = 0;

    qp_status status = qp_line_members(line->in, names, 3, members, error);
    if (status == QP_OK)
        status = qp_stage_bounded(members[0], 0, INT64_MAX, &d0, error);
    if (status == QP_OK)
        status = qp_stage_bounded(members[1], 0, INT64_MAX, &d1, error);
    if (status == QP_OK)
        status = read_samples(line, members[2], &below, error);
    if (status == QP_OK)
        status = qp_up2_check(&below, (uint64_t)d0, (uint64_t)d1, error);
    if (status != QP_OK)
        return status;
    /* both sides are now at most 2^27, and the elements at most four times the line's own */
    return put_up2(line, &below, (uint32_t)d0, (uint32_t)d1, error);
}

static qp_status put_rate(qp_stage_line *line, const qp_rate *rate, const qp_stage_tensor *prev,
                          qp_error *error)
{
    uint64_t elements;
    int16_t *samples = qp_arena_allocate(line->arena, prev->data.count, sizeof *samples);
    if (samples == NULL)
        return qp_fail_memory(error, "samples");
    for (size_t i = 0; i < prev->data.count; i++) {
        if (prev->data.values[i] < INT16_MIN || prev->data.values[i] > INT16_MAX)
            return qp_fail(error, QP_MALFORMED, "a sample that does not fit 16 bits");
        samples[i] = (int16_t)prev->data.values[i];
    }
    if (!qp_mul_u64(rate->d0, prev->channels, &elements))
        elements = UINT64_MAX;
    qp_status status = qp_stage_room(line, elements, error);
    if (status != QP_OK)
        return status;
    int16_t *out = qp_arena_allocate(line->arena, (size_t)elements, sizeof *out);
    int64_t *wide = qp_arena_allocate(line->arena, (size_t)elements, sizeof *wide);
    if (out == NULL || wide == NULL)
        return qp_fail_memory(error, "a prediction");
    status = qp_rate_predict(rate, samples, prev->channels, out, error);
    for (size_t i = 0; status == QP_OK && i < elements; i++)
        wide[i] = out[i];
    if (status == QP_OK)
        qp_stage_put_tensor(line, wide, (const uint32_t[]){prev->channels, 1, (uint32_t)rate->d0});
    return status;
}

qp_status qp_stage_run_rate_predict(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"d0", "prev", "rate_den", "rate_num"};
    qp_json_value members[4];
    qp_stage_tensor prev = {0};
    int64_t d0 = 0, den = 0, num = 0;

    qp_status status = qp_line_members(line->in, names, 4, members, error);
    if (status == QP_OK)
        status = qp_stage_bounded(members[0], 0, INT64_MAX, &d0, error);
    if (status == QP_OK)
        status = qp_stage_tensor_of(line, members[1], &prev, error);
    if (status == QP_OK)
        status = qp_stage_bounded(members[2], 0, UINT32_MAX, &den, error);
    if (status == QP_OK)
        status = qp_stage_bounded(members[3], 0, UINT32_MAX, &num, error);
    if (status == QP_OK && prev.height != 1)
        return qp_json_fail(members[1], error, "the samples of a channel are one row");
    qp_rate rate = {prev.width, (uint32_t)num, (uint32_t)den, (uint64_t)d0};
    if (status == QP_OK)
        status = qp_rate_check(&rate, error);
    return status == QP_OK ? put_rate(line, &rate, &prev, error) : status;
}

static qp_status put_order(qp_stage_line *line, const qp_order_rule *rule, qp_error *error)
{
    size_t count = 0;
    qp_status status = qp_coding_order_count(rule, &count, error);
    if (status == QP_TOO_LARGE) /* a shape past the caps is none */
        return qp_fail(error, QP_MALFORMED, "the shape has more than 2^26 elements");
    if (status == QP_OK)
        status = qp_stage_room(line, count, error);
    if (status != QP_OK)
        return status;
    uint32_t *indices = qp_arena_allocate(line->arena, count, sizeof *indices);
    int64_t *wide = qp_arena_allocate(line->arena, count, sizeof *wide);
    if (indices == NULL || wide == NULL)
        return qp_fail_memory(error, "an order");
    status = qp_coding_order(rule, indices, error);
    for (size_t i = 0; i < count; i++)
        wide[i] = indices[i];
    qp_buffer_text(line->expect, "{\"indices\":");
    qp_stage_put_list(line->expect, wide, count);
    qp_buffer_text(line->expect, "}");
    return status;
}

qp_status qp_stage_run_coding_order(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"anchor", "order", "shape"};
    static const char *const words[] = {"raster", "checkerboard"};
    qp_json_value members[3];
    qp_integer_list shape = {NULL, 0};
    bool anchor = false;
    unsigned order = 0;

    qp_status status = qp_line_members(line->in, names, 3, members, error);
    if (status == QP_OK)
        status = qp_json_get_bool(members[0], &anchor, error);
    if (status == QP_OK)
        status = qp_stage_word(members[1], words, 2, &order, error);
    if (status == QP_OK)
        status = qp_stage_list(line, members[2], &shape, error);
    if (status != QP_OK)
        return status;
    if (shape.count != 3)
        return qp_json_fail(members[2], error, "a shape has three dimensions");
    for (size_t i = 0; i < 3; i++)
        if (shape.values[i] < 1 || shape.values[i] > UINT32_MAX)
            return qp_json_fail(members[2], error, "a dimension that no tensor has");
    qp_order_rule rule = {.channels = (uint32_t)shape.values[0],
                          .height = (uint32_t)shape.values[1],
                          .width = (uint32_t)shape.values[2],
                          .order = order == 0 ? QP_ORDER_RASTER : QP_ORDER_CHECKERBOARD,
                          .anchor = anchor};
    return put_order(line, &rule, error);
}
