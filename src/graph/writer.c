/* SPDX-License-Identifier: Apache-2.0 */
/* writer.c - the bytes of a WHG1 graph, table by table (integer-operators.md section 10). */
#include "graph/writer.h"

void qp_graph_writer_init(qp_graph_writer *writer, const qp_allocator *allocator)
{
    *writer = (qp_graph_writer){0};
    qp_buffer_init(&writer->scalars, allocator);
    qp_buffer_init(&writer->inputs, allocator);
    qp_buffer_init(&writer->outputs, allocator);
    qp_buffer_init(&writer->tensors, allocator);
    qp_buffer_init(&writer->operators, allocator);
}

void qp_graph_writer_free(qp_graph_writer *writer)
{
    qp_buffer_free(&writer->operators);
    qp_buffer_free(&writer->tensors);
    qp_buffer_free(&writer->outputs);
    qp_buffer_free(&writer->inputs);
    qp_buffer_free(&writer->scalars);
}

/* ---- tables ------------------------------------------------------------------------------- */

uint32_t qp_writer_scalar(qp_graph_writer *writer, int64_t lo, int64_t hi)
{
    qp_buffer_le(&writer->scalars, (uint64_t)lo, 8);
    qp_buffer_le(&writer->scalars, (uint64_t)hi, 8);
    return (uint32_t)writer->n_scalars++;
}

uint32_t qp_writer_input(qp_graph_writer *writer, const qp_graph_input_record *input)
{
    qp_buffer *b = &writer->inputs;
    qp_buffer_le(b, input->tensor, 4);
    qp_buffer_le(b, input->max_h, 4);
    qp_buffer_le(b, input->max_w, 4);
    qp_buffer_le(b, input->state, 4); /* one byte and three reserved */
    qp_buffer_le(b, input->src, 8);   /* four bytes and four reserved */
    qp_buffer_le(b, (uint64_t)input->init, 8);
    return (uint32_t)writer->n_inputs++;
}

uint32_t qp_writer_output(qp_graph_writer *writer, uint32_t tensor)
{
    qp_buffer_le(&writer->outputs, tensor, 4);
    return (uint32_t)writer->n_outputs++;
}

uint32_t qp_writer_tensor(qp_graph_writer *writer, const qp_graph_tensor_record *tensor)
{
    qp_buffer *b = &writer->tensors;
    qp_buffer_le(b, tensor->channels, 4);
    qp_buffer_le(b, (uint64_t)tensor->exponent, 1);
    qp_buffer_le(b, tensor->policy, 1);
    qp_writer_zeros(b, 2);
    qp_buffer_le(b, (uint64_t)tensor->lo, 8);
    qp_buffer_le(b, (uint64_t)tensor->hi, 8);
    return (uint32_t)writer->n_tensors++;
}

/* ---- operators ---------------------------------------------------------------------------- */

qp_buffer *qp_writer_begin_operator(qp_graph_writer *writer, unsigned opcode, const uint32_t *in,
                                    size_t n_in, const uint32_t *out, size_t n_out)
{
    qp_buffer *b = &writer->operators;
    if (n_in > UINT8_MAX || n_out > UINT8_MAX)
        writer->too_many = true;
    qp_buffer_le(b, opcode, 1);
    qp_buffer_le(b, n_in, 1);
    qp_buffer_le(b, n_out, 1);
    qp_writer_zeros(b, 1);
    for (size_t i = 0; i < n_in; i++)
        qp_buffer_le(b, in[i], 4);
    for (size_t i = 0; i < n_out; i++)
        qp_buffer_le(b, out[i], 4);
    qp_writer_zeros(b, 4); /* plen, which qp_writer_end_operator knows */
    writer->params_at = b->size;
    return b;
}

void qp_writer_end_operator(qp_graph_writer *writer)
{
    qp_buffer *b = &writer->operators;
    size_t length = b->size - writer->params_at;
    writer->n_operators++;
    if (length > UINT32_MAX)
        writer->too_many = true;
    if (b->failed)
        return;
    for (unsigned i = 0; i < 4; i++)
        b->bytes[writer->params_at - 4 + i] = (uint8_t)(length >> (8 * i) & 0xFF);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void write_header(const qp_graph_writer *writer, uint32_t max_elems, qp_buffer *bytes)
{
    qp_buffer_text(bytes, "WHG1");
    qp_buffer_le(bytes, 1, 1); /* version */
    qp_buffer_le(bytes, 1, 1); /* operator set */
    qp_writer_zeros(bytes, 2);
    qp_buffer_le(bytes, writer->n_tensors, 4);
    qp_buffer_le(bytes, writer->n_operators, 4);
    qp_buffer_le(bytes, writer->n_inputs, 2);
    qp_buffer_le(bytes, writer->n_outputs, 2);
    qp_buffer_le(bytes, writer->n_scalars, 2);
    qp_writer_zeros(bytes, 2);
    qp_buffer_le(bytes, max_elems, 4);
    qp_writer_zeros(bytes, 4);
}

qp_status qp_graph_writer_finish(const qp_graph_writer *writer, uint32_t max_elems,
                                 qp_buffer *bytes, qp_error *error)
{
    const qp_buffer *tables[] = {&writer->scalars, &writer->inputs, &writer->outputs,
                                 &writer->tensors, &writer->operators};
    if (writer->n_scalars > UINT16_MAX || writer->n_inputs > UINT16_MAX ||
        writer->n_outputs > UINT16_MAX)
        return qp_fail(error, QP_TOO_LARGE,
                       "a graph has at most 65535 scalars, inputs and outputs each");
    if (writer->n_tensors > UINT32_MAX || writer->n_operators > UINT32_MAX || writer->too_many)
        return qp_fail(error, QP_TOO_LARGE,
                       "an operator has at most 255 tensors on a side and 2^32 - 1 bytes of "
                       "parameters");
    write_header(writer, max_elems, bytes);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        qp_buffer_append(bytes, tables[i]->bytes, tables[i]->size);
        bytes->failed |= tables[i]->failed;
    }
    return bytes->failed ? qp_fail_memory(error, "a graph's bytes") : QP_OK;
}

/* ---- parameters --------------------------------------------------------------------------- */

void qp_writer_integers(qp_buffer *buffer, const int64_t *values, size_t count, unsigned width)
{
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(buffer, (uint64_t)values[i], width);
}

void qp_writer_zeros(qp_buffer *buffer, size_t count)
{
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(buffer, 0, 1);
}

size_t qp_kind_count(qp_kind kind, size_t channels)
{
    return kind == QP_KIND_ABSENT ? 0 : kind == QP_KIND_ONE ? 1 : channels;
}

void qp_writer_rq_head(qp_buffer *buffer, const qp_rq_values *rq)
{
    qp_buffer_le(buffer, rq->round, 1);
    qp_buffer_le(buffer, rq->bias_place, 1);
    qp_buffer_le(buffer, rq->mult_kind, 1);
    qp_buffer_le(buffer, rq->shift_kind, 1);
    qp_buffer_le(buffer, rq->mult_width, 1);
    qp_buffer_le(buffer, rq->bias_width, 1);
    qp_writer_zeros(buffer, 2);
}

void qp_writer_rq(qp_buffer *buffer, const qp_rq_values *rq)
{
    size_t n_biases = rq->bias_place == QP_BIAS_NONE ? 0 : rq->channels;
    qp_writer_rq_head(buffer, rq);
    qp_writer_integers(buffer, rq->mult, qp_kind_count(rq->mult_kind, rq->channels),
                       rq->mult_width);
    qp_writer_integers(buffer, rq->shift, qp_kind_count(rq->shift_kind, rq->channels), 1);
    qp_writer_integers(buffer, rq->bias, n_biases, rq->bias_width);
}
