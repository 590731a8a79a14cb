/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - the operators that lowerings write (integer-operators.md section 13.0). */
#include "lower/build.h"

void qp_build_init(qp_build *build, const qp_allocator *allocator)
{
    qp_graph_writer_init(&build->writer, allocator);
}

void qp_build_free(qp_build *build)
{
    qp_graph_writer_free(&build->writer);
}

/* ---- tensors ------------------------------------------------------------------------------ */

qp_value qp_build_tensor(qp_build *build, uint32_t channels, qp_limits limits)
{
    qp_graph_tensor_record record = {limits.lo, limits.hi, channels, QP_EXPONENT_NONE,
                                     limits.policy};
    return (qp_value){qp_writer_tensor(&build->writer, &record), channels};
}

qp_value qp_build_input(qp_build *build, uint32_t channels, qp_limits limits, uint32_t max_h,
                        uint32_t max_w)
{
    qp_value value = qp_build_tensor(build, channels, limits);
    qp_graph_input_record record = {.tensor = value.tensor, .max_h = max_h, .max_w = max_w};
    qp_writer_input(&build->writer, &record);
    return value;
}

/* ---- operators ---------------------------------------------------------------------------- */

qp_buffer *qp_build_begin(qp_build *build, const char *name, const qp_value *in, size_t n_in,
                          qp_value out)
{
    uint32_t tensors[QP_INPUTS_MAX];
    for (size_t i = 0; i < n_in && i < QP_INPUTS_MAX; i++)
        tensors[i] = in[i].tensor;
    const qp_operator *op = qp_operator_by_name(name, strlen(name));
    return qp_writer_begin_operator(&build->writer, op->opcode, tensors, n_in, &out.tensor, 1);
}

void qp_build_end(qp_build *build)
{
    qp_writer_end_operator(&build->writer);
}

qp_value qp_build_plain(qp_build *build, const char *name, const qp_value *in, size_t n_in,
                        qp_value out)
{
    qp_build_begin(build, name, in, n_in, out);
    qp_build_end(build);
    return out;
}

qp_value qp_build_unary(qp_build *build, const char *name, qp_value in)
{
    qp_value out = qp_build_tensor(build, in.channels, QP_LIMITS_DERIVED);
    return qp_build_plain(build, name, &in, 1, out);
}

qp_value qp_build_clamp(qp_build *build, qp_value in, int64_t lo, int64_t hi)
{
    qp_value out = qp_build_tensor(build, in.channels, QP_LIMITS_DERIVED);
    qp_buffer *params = qp_build_begin(build, "clamp", &in, 1, out);
    qp_buffer_le(params, (uint64_t)lo, 8);
    qp_buffer_le(params, (uint64_t)hi, 8);
    qp_build_end(build);
    return out;
}

qp_value qp_build_concat(qp_build *build, const qp_value *in, size_t n_in, qp_limits limits)
{
    uint32_t channels = 0;
    for (size_t i = 0; i < n_in; i++)
        channels += in[i].channels; /* each is bounded by the set's bytes; wrapped, it is refused */
    return qp_build_plain(build, "concat", in, n_in, qp_build_tensor(build, channels, limits));
}

qp_value qp_build_split(qp_build *build, qp_value in, uint32_t start, uint32_t count)
{
    qp_value out = qp_build_tensor(build, count, QP_LIMITS_DERIVED);
    qp_buffer *params = qp_build_begin(build, "split", &in, 1, out);
    qp_buffer_le(params, start, 4);
    qp_buffer_le(params, count, 4);
    qp_build_end(build);
    return out;
}

qp_value qp_build_pixel_shuffle(qp_build *build, qp_value in, uint32_t r)
{
    qp_value out = qp_build_tensor(build, in.channels / (r * r), QP_LIMITS_DERIVED);
    qp_buffer *params = qp_build_begin(build, "pixel_shuffle", &in, 1, out);
    qp_buffer_le(params, r, 4);
    qp_build_end(build);
    return out;
}

qp_value qp_build_rescale(qp_build *build, qp_value in, const qp_rq_values *rq, qp_limits limits)
{
    qp_value out = qp_build_tensor(build, in.channels, limits);
    qp_writer_rq(qp_build_begin(build, "rescale", &in, 1, out), rq);
    qp_build_end(build);
    return out;
}

qp_value qp_build_scale(qp_build *build, qp_value in, qp_scale scale, qp_limits limits)
{
    qp_rq_values rq = {.round = scale.round,
                       .mult_kind = QP_KIND_ONE,
                       .shift_kind = QP_KIND_ONE,
                       .mult_width = qp_build_width(&scale.mult, 1, 4),
                       .mult = &scale.mult,
                       .shift = &scale.shift,
                       .channels = in.channels};
    return qp_build_rescale(build, in, &rq, limits);
}

qp_status qp_build_finish(qp_lower_job *job, qp_build *build, const char *role, qp_value output)
{
    qp_buffer bytes;
    qp_writer_output(&build->writer, output.tensor);
    qp_buffer_init(&bytes, job->allocator);
    qp_status status = qp_graph_writer_finish(&build->writer, QP_ELEMENTS_MAX, &bytes, job->error);
    if (status != QP_OK) {
        qp_buffer_free(&bytes);
        return qp_lower_recode(job, status);
    }
    return qp_lower_add_made(job, role, &bytes);
}

/* ---- widths ------------------------------------------------------------------------------- */

static bool fits(int64_t v, unsigned width)
{
    int64_t limit = width == 8 ? INT64_MAX : ((int64_t)1 << (8 * width - 1)) - 1;
    return v <= limit && v >= -limit - 1;
}

unsigned qp_build_width(const int64_t *values, size_t count, unsigned least)
{
    unsigned width = least;
    for (size_t i = 0; i < count; i++)
        while (!fits(values[i], width))
            width *= 2;
    return width;
}
