/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.c - graphs for the benchmarks, built in memory. */
#include "bench.h"

#include "graph/writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { OPCODE_CONV = 0x01, OPCODE_RELU = 0x0C, OPCODE_CONV_TRANSPOSE = 0x11, OPCODE_IGDN = 0x12 };
enum { INPUT_MAX = 255 };

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

static void append_weights(qp_buffer *params, size_t count, unsigned bits, unsigned bytes)
{
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(params, (uint64_t)next_weight(&state, bits), bytes);
}

static void append_rq(qp_buffer *params, const bench_conv *conv)
{
    int64_t mult = 1, shift = (int64_t)conv->weight_bits + 4;
    qp_writer_rq(params, &(qp_rq_values){
                             .round = QP_ROUND_HALF_UP,
                             .mult_kind = QP_KIND_ONE,
                             .shift_kind = QP_KIND_ONE,
                             .mult_width = 4,
                             .mult = &mult,
                             .shift = &shift,
                             .channels = conv->channels,
                         });
}

static void append_conv(qp_graph_writer *writer, const bench_conv *conv, uint32_t in, uint32_t out)
{
    uint32_t pad = conv->side / 2;
    uint32_t groups = conv->depthwise ? conv->channels : 1;
    uint32_t head[] = {conv->channels, conv->side, conv->side, 1, 1, pad, pad, groups};
    size_t taps = (size_t)conv->side * conv->side * (conv->channels / groups);

    qp_buffer *params = qp_writer_begin_operator(writer, OPCODE_CONV, &in, 1, &out, 1);
    for (size_t i = 0; i < QP_COUNT(head); i++)
        qp_buffer_le(params, head[i], 4);
    qp_buffer_le(params, conv->weight_bytes, 4); /* and three reserved bytes */
    append_rq(params, conv);
    append_weights(params, conv->channels * taps, conv->weight_bits, conv->weight_bytes);
    qp_writer_end_operator(writer);
}

static void append_transpose(qp_graph_writer *writer, const bench_conv *conv, uint32_t in,
                             uint32_t out)
{
    uint32_t head[] = {conv->channels, conv->side, conv->side, 2, 2, 1, 1, 0, 0};
    qp_buffer *params = qp_writer_begin_operator(writer, OPCODE_CONV_TRANSPOSE, &in, 1, &out, 1);
    for (size_t i = 0; i < QP_COUNT(head); i++)
        qp_buffer_le(params, head[i], 4);
    qp_buffer_le(params, conv->weight_bytes, 4);
    append_rq(params, conv);
    append_weights(params, (size_t)conv->channels * conv->channels * conv->side * conv->side,
                   conv->weight_bits, conv->weight_bytes);
    qp_writer_end_operator(writer);
}

static void append_igdn(qp_graph_writer *writer, const bench_conv *conv, uint32_t in, uint32_t out)
{
    enum { GF = 16, FRAC = 8 };
    qp_buffer *params = qp_writer_begin_operator(writer, OPCODE_IGDN, &in, 1, &out, 1);
    qp_buffer_le(params, GF, 4);
    qp_buffer_le(params, FRAC, 4);
    qp_buffer_le(params, conv->weight_bytes, 8); /* and seven reserved bytes */
    append_weights(params, (size_t)conv->channels * conv->channels, conv->weight_bits,
                   conv->weight_bytes);
    append_weights(params, conv->channels, conv->weight_bits, 8);
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

typedef void append_fn(qp_graph_writer *, const bench_conv *, uint32_t in, uint32_t out);

/* `count` operators in a chain. */
static void chain(append_fn *append, const bench_conv *conv, size_t count, qp_buffer *bytes)
{
    qp_graph_writer writer;
    qp_graph_writer_init(&writer, NULL);
    uint32_t in = tensor(&writer, conv->channels, true);
    qp_writer_input(&writer, &(qp_graph_input_record){.tensor = in});
    for (size_t i = 0; i < count; i++) {
        uint32_t out = tensor(&writer, conv->channels, false);
        append(&writer, conv, in, out);
        in = out;
    }
    qp_writer_output(&writer, in);
    finish(&writer, bytes);
}

void bench_conv_graph(const bench_conv *conv, qp_buffer *bytes)
{
    chain(append_conv, conv, 1, bytes);
}

bool bench_large_graph(const bench_large *large, qp_buffer *bytes)
{
    unsigned bits = large->width > 2 ? 16 : 8 * large->width;
    const struct {
        const char *kind;
        append_fn *append;
        bench_conv conv;
        size_t weights; /* of one operator */
    } kinds[] = {
        {"conv", append_conv, {1024, 1, large->width, bits, false}, 1024 * 1024},
        {"depthwise", append_conv, {65536, 3, large->width, bits, true}, 65536 * 9},
        {"conv_transpose", append_transpose, {256, 4, large->width, bits, false}, 256 * 256 * 16},
        {"igdn", append_igdn, {1024, 0, large->width, bits, false}, 1024 * 1024},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t layer = kinds[k].weights * large->width;
        if (strcmp(kinds[k].kind, large->kind) != 0)
            continue;
        chain(kinds[k].append, &kinds[k].conv, (large->megabytes * 1000000 + layer - 1) / layer,
              bytes);
        return true;
    }
    return false;
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
