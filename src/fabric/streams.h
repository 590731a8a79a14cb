/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.h - the tokens of a run and their JSON Lines (section 12.1): inputs and stalls read,
 * outputs written.
 */
#ifndef QP_FABRIC_STREAMS_H
#define QP_FABRIC_STREAMS_H

#include "fabric/evaluate.h"

/* The tokens of one graph input or output. `cycles` is NULL where there are none. */
typedef struct qp_fabric_stream {
    size_t count, capacity;
    size_t words; /* of one token; 0 for control tokens */
    uint64_t *payload;
    uint64_t *cycles;
} qp_fabric_stream;

/* Half-open intervals of cycles, in the order of the file. */
typedef struct qp_fabric_interval {
    uint64_t first, end;
} qp_fabric_interval;

typedef struct qp_fabric_stall {
    size_t count;
    const qp_fabric_interval *intervals;
} qp_fabric_stall;

/* One stream an input in `inputs`, and one stall a port: inputs first, then outputs. `arena` has
 * everything. Invalid with file, line and column for whatever section 12.1 does not allow. */
qp_status qp_fabric_read_tokens(const qp_fabric_model *model, const qp_fabric_graph *graph,
                                const qp_fabric_text *text, qp_arena *arena,
                                qp_fabric_stream *inputs, qp_fabric_error *error);
qp_status qp_fabric_read_stalls(const qp_fabric_model *model, const qp_fabric_graph *graph,
                                const qp_fabric_text *text, qp_arena *arena,
                                qp_fabric_stall *stalls, qp_fabric_error *error);

/* Stalls made up from a seed, beside those of `given`; the same for the same seed. None lasts
 * longer than QP_FABRIC_SEEDED_CYCLES cycles from the start. stall_seed.c */
#define QP_FABRIC_SEEDED_CYCLES 10000u
qp_status qp_fabric_seed_stalls(const qp_fabric_graph *graph, uint64_t seed,
                                const qp_fabric_stall *given, qp_arena *arena,
                                qp_fabric_stall *stalls, qp_fabric_error *error);

/* Adds one token to an output's stream, which grows by `allocator`; false without memory. `words`
 * of the stream is set before, and `cycle` is given for every token or for none. */
bool qp_fabric_stream_add(qp_fabric_stream *stream, const qp_allocator *allocator,
                          const uint64_t *payload, const uint64_t *cycle);
void qp_fabric_stream_free(qp_fabric_stream *stream, const qp_allocator *allocator);

/* The lines of all outputs, in file order, with the cycles where the run was `timed`. */
void qp_fabric_write_tokens(qp_buffer *buffer, const qp_fabric_model *model,
                            const qp_fabric_graph *graph, const qp_fabric_stream *outputs,
                            bool timed);

/* Hex of a payload of `bits` bits, or "none" (without the quotes). */
void qp_fabric_put_token(qp_buffer *buffer, const uint64_t *payload, uint64_t bits);

#endif
