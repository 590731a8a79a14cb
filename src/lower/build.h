/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - a canonical graph (integer-operators.md section 13.0) as it grows: inputs, then
 * operators, each with its output tensors, so that the numbering follows by itself.
 */
#ifndef QP_LOWER_BUILD_H
#define QP_LOWER_BUILD_H

#include "graph/writer.h"
#include "lower/lower.h"

/* A tensor of the graph and its channels. */
typedef struct qp_value {
    uint32_t tensor, channels;
} qp_value;

/* The policy of a tensor and its range. */
typedef struct qp_limits {
    qp_policy policy;
    int64_t lo, hi;
} qp_limits;

#define QP_LIMITS_DERIVED ((qp_limits){QP_DERIVED, 0, 0})
/* The policy A32 of section 13.6.2. */
#define QP_LIMITS_A32 ((qp_limits){QP_CHECK, INT32_MIN, INT32_MAX})

typedef struct qp_build {
    qp_graph_writer writer;
} qp_build;

void qp_build_init(qp_build *build, const qp_allocator *allocator);
void qp_build_free(qp_build *build);

/* The next input, its largest sizes 0 where each decode sets them. */
qp_value qp_build_input(qp_build *build, uint32_t channels, qp_limits limits, uint32_t max_h,
                        uint32_t max_w);
/* The next tensor, an operator's output. */
qp_value qp_build_tensor(qp_build *build, uint32_t channels, qp_limits limits);

/* Begins an operator that reads `n_in` values (at most 255) and writes one: the buffer for its
 * parameters, until qp_writer_end_operator. */
qp_buffer *qp_build_begin(qp_build *build, const char *name, const qp_value *in, size_t n_in,
                          qp_value out);
void qp_build_end(qp_build *build);

/* An operator without parameters. */
qp_value qp_build_plain(qp_build *build, const char *name, const qp_value *in, size_t n_in,
                        qp_value out);
/* One of a single input whose output is derived and has its channels: relu, abs, sigmoid. */
qp_value qp_build_unary(qp_build *build, const char *name, qp_value in);
qp_value qp_build_clamp(qp_build *build, qp_value in, int64_t lo, int64_t hi);
qp_value qp_build_concat(qp_build *build, const qp_value *in, size_t n_in, qp_limits limits);
qp_value qp_build_split(qp_build *build, qp_value in, uint32_t start, uint32_t count);
qp_value qp_build_pixel_shuffle(qp_build *build, qp_value in, uint32_t r);
/* A rescale, with a whole RQ block. */
qp_value qp_build_rescale(qp_build *build, qp_value in, const qp_rq_values *rq, qp_limits limits);

/* One multiplier of the smallest width, one shift and no bias. */
typedef struct qp_scale {
    int64_t mult, shift;
    qp_round round;
} qp_scale;
qp_value qp_build_scale(qp_build *build, qp_value in, qp_scale scale, qp_limits limits);

/* Names `output` the graph's one output, loads the graph and appends it to the set. */
qp_status qp_build_finish(qp_lower_job *job, qp_build *build, const char *role, qp_value output);

/* ---- widths (section 13.0) ---------------------------------------------------------------- */

/* The smallest width from `least` (1 or 4) on that holds every value. */
unsigned qp_build_width(const int64_t *values, size_t count, unsigned least);

#endif
