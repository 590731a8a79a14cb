/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - building the bytes of a WHG1 graph (integer-operators.md section 10).
 *
 * The writer lays out what it is given and checks only what would not fit the layout: a generator
 * of refused graphs needs it as much as an assembler does. Whether the result is a graph is for
 * qp_graph_load to say.
 *
 *     qp_graph_writer writer;
 *     qp_graph_writer_init(&writer, allocator);
 *     uint32_t x = qp_writer_tensor(&writer, &(qp_graph_tensor_record){
 *         .channels = 3, .exponent = QP_EXPONENT_NONE, .policy = QP_CLAMP, .lo = 0, .hi = 255});
 *     uint32_t y = qp_writer_tensor(&writer, &(qp_graph_tensor_record){
 *         .channels = 3, .exponent = QP_EXPONENT_NONE});
 *     qp_writer_input(&writer, &(qp_graph_input_record){.tensor = x});
 *     qp_writer_output(&writer, y);
 *     qp_buffer *params = qp_writer_begin_operator(&writer, 0x0C, &x, 1, &y, 1);
 *     ... append to params ...
 *     qp_writer_end_operator(&writer);
 *     status = qp_graph_writer_finish(&writer, QP_ELEMENTS_MAX, &bytes, error);
 *     qp_graph_writer_free(&writer);
 *
 * Want of memory is remembered and told by qp_graph_writer_finish alone.
 */
#ifndef QP_GRAPH_WRITER_H
#define QP_GRAPH_WRITER_H

#include "graph/graph.h"

typedef struct qp_graph_writer {
    /* private: a buffer and a count for each table, joined at the end */
    qp_buffer scalars, inputs, outputs, tensors, operators;
    uint64_t n_scalars, n_inputs, n_outputs, n_tensors, n_operators;
    size_t params_at; /* the first parameter byte of the open operator */
    bool too_many;    /* an operator's tensors or parameters do not fit their count */
} qp_graph_writer;

void qp_graph_writer_init(qp_graph_writer *writer, const qp_allocator *allocator);
void qp_graph_writer_free(qp_graph_writer *writer);

/* Each appends a record and returns its index. */
uint32_t qp_writer_scalar(qp_graph_writer *writer, int64_t lo, int64_t hi);
uint32_t qp_writer_input(qp_graph_writer *writer, const qp_graph_input_record *input);
uint32_t qp_writer_output(qp_graph_writer *writer, uint32_t tensor);
uint32_t qp_writer_tensor(qp_graph_writer *writer, const qp_graph_tensor_record *tensor);

/* Begins an operator's record; its parameters are what is appended to the buffer that it returns,
 * until qp_writer_end_operator. Records of tables may be added meanwhile, operators may not. */
qp_buffer *qp_writer_begin_operator(qp_graph_writer *writer, unsigned opcode, const uint32_t *in,
                                    size_t n_in, const uint32_t *out, size_t n_out);
void qp_writer_end_operator(qp_graph_writer *writer);

/* Appends the whole graph to `bytes`. QP_TOO_LARGE where a count passes its field in the file,
 * QP_NO_MEMORY where this or any earlier append had none. The writer stays as it is. */
qp_status qp_graph_writer_finish(const qp_graph_writer *writer, uint32_t max_elems,
                                 qp_buffer *bytes, qp_error *error);

/* ---- parameters (section 10.4) ------------------------------------------------------------ */

/* Appends integers of 1, 2, 4 or 8 bytes each: the low bytes, so a value must fit its width. */
void qp_writer_integers(qp_buffer *buffer, const int64_t *values, size_t count, unsigned width);

/* Appends `count` zero bytes: a reserved field. */
void qp_writer_zeros(qp_buffer *buffer, size_t count);

/* An RQ block from plain arrays. `mult` holds 0, 1 or `channels` values by its kind, `shift` 1 or
 * `channels`, and `bias` `channels` unless its place is QP_BIAS_NONE. Widths are bytes: 4 or 8, and
 * 0 for what is absent. */
typedef struct qp_rq_values {
    qp_round round;
    qp_bias_place bias_place;
    qp_kind mult_kind, shift_kind;
    unsigned mult_width, bias_width;
    const int64_t *mult, *shift, *bias;
    size_t channels;
} qp_rq_values;

/* The head of 8 bytes alone, and the whole block. */
void qp_writer_rq_head(qp_buffer *buffer, const qp_rq_values *rq);
void qp_writer_rq(qp_buffer *buffer, const qp_rq_values *rq);

/* How many values a kind has over `channels` channels. */
size_t qp_kind_count(qp_kind kind, size_t channels);

#endif
