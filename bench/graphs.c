/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.c - graphs for the benchmarks, built in memory. */
#include "bench.h"

#include "graph/writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { OPCODE_CONV = 0x01, OPCODE_RELU = 0x0C, INPUT_MAX = 255 };

/* The same weights on every machine: a linear congruential generator (Knuth's MMIX constants). */
static int64_t next_weight(uint64_t *state, unsigned bits)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    int64_t span = (int64_t)1 << (bits - 1);
    return (int64_t)(*state >> 33) % span - span / 2;
}

static uint32_t tensor(qp_graph_writer *writer, uint32_t channels, bool input)
{
    qp_graph_tensor_record record = {.channels = channels, .exponent = QP_EXPONENT_NONE};
    record.policy = input ? QP_CHECK : QP_CLAMP;
    record.hi = INPUT_MAX;
    return qp_writer_tensor(writer, &record);
}

static void append_conv(qp_graph_writer *writer, const bench_conv *conv, uint32_t in, uint32_t out)
{
    uint32_t pad = conv->side / 2;
    int64_t mult = 1, shift = (int64_t)conv->weight_bits + 4;
    uint64_t state = 1;
    uint32_t head[] = {conv->channels, conv->side, conv->side, 1, 1, pad, pad, 1};
    qp_rq_values rq = {
        .round = QP_ROUND_HALF_UP,
        .mult_kind = QP_KIND_ONE,
        .shift_kind = QP_KIND_ONE,
        .mult_width = 4,
        .mult = &mult,
        .shift = &shift,
        .channels = conv->channels,
    };
    size_t weights = (size_t)conv->channels * conv->channels * conv->side * conv->side;

    qp_buffer *params = qp_writer_begin_operator(writer, OPCODE_CONV, &in, 1, &out, 1);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        qp_buffer_le(params, head[i], 4);
    qp_buffer_le(params, conv->weight_bytes, 1);
    qp_writer_zeros(params, 3);
    qp_writer_rq(params, &rq);
    for (size_t i = 0; i < weights; i++) {
        int64_t w = next_weight(&state, conv->weight_bits);
        qp_buffer_le(params, (uint64_t)w, conv->weight_bytes);
    }
    qp_writer_end_operator(writer);
}

static void finish(qp_graph_writer *writer, qp_buffer *bytes)
{
    qp_error error;
    if (qp_graph_writer_finish(writer, QP_ELEMENTS_MAX, bytes, &error) != QP_OK) {
        fprintf(stderr, "quipu_bench: %s\n", error.message);
        exit(EXIT_FAILURE);
    }
    qp_graph_writer_free(writer);
}

/* `count` convolutions in a chain. */
static void conv_chain(const bench_conv *conv, size_t count, qp_buffer *bytes)
{
    qp_graph_writer writer;
    qp_graph_writer_init(&writer, NULL);
    uint32_t in = tensor(&writer, conv->channels, true);
    qp_writer_input(&writer, &(qp_graph_input_record){.tensor = in});
    for (size_t i = 0; i < count; i++) {
        uint32_t out = tensor(&writer, conv->channels, false);
        append_conv(&writer, conv, in, out);
        in = out;
    }
    qp_writer_output(&writer, in);
    finish(&writer, bytes);
}

void bench_conv_graph(const bench_conv *conv, qp_buffer *bytes)
{
    conv_chain(conv, 1, bytes);
}

void bench_large_graph(size_t megabytes, unsigned weight_bytes, qp_buffer *bytes)
{
    enum { CHANNELS = 1024 };
    size_t layer = (size_t)CHANNELS * CHANNELS * weight_bytes;
    bench_conv conv = {CHANNELS, 1, weight_bytes, weight_bytes > 2 ? 16 : 8 * weight_bytes};
    conv_chain(&conv, (megabytes * 1000000 + layer - 1) / layer, bytes);
}

void bench_tiny_graph(qp_buffer *bytes)
{
    qp_graph_writer writer;
    qp_graph_writer_init(&writer, NULL);
    uint32_t in = tensor(&writer, 1, true), out = tensor(&writer, 1, false);
    qp_writer_input(&writer, &(qp_graph_input_record){.tensor = in});
    qp_writer_begin_operator(&writer, OPCODE_RELU, &in, 1, &out, 1);
    qp_writer_end_operator(&writer);
    qp_writer_output(&writer, out);
    finish(&writer, bytes);
}
