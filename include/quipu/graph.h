/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/graph.h - WHG1 graphs (integer-operators.md section 10): load, look at, digest.
 *
 * The way through the library: a graph is loaded (this header), certified (quipu/certify.h) and run
 * in a session (quipu/run.h).
 */
#ifndef QUIPU_GRAPH_H
#define QUIPU_GRAPH_H

#include "quipu/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qp_graph qp_graph;

/*
 * Loads a graph from `size` bytes of WHG1 and applies the load checks of section 10.5, steps 1 to
 * 7, in their order. (Step 8, the bounds pass, is qp_certify.)
 *
 * The bytes are borrowed, not copied: parameters are read from them in place, so they must stay
 * unchanged until qp_graph_free. Any address will do; no alignment is needed. Memory is
 * proportional to the bytes, whatever sizes they declare.
 *
 * QP_OK with the graph in *graph; QP_MODEL_MISMATCH or QP_TOO_LARGE (a planned size past a cap)
 * with the place, or QP_NO_MEMORY, with *graph NULL. Ownership: qp_graph_free.
 */
QP_API qp_status qp_graph_load(const void *bytes, size_t size, const qp_allocator *allocator,
                               qp_graph **graph, qp_error *error);

/*
 * The same from a file, which is mapped where the system can and stays open until qp_graph_free.
 * QP_IO where the file cannot be read.
 */
QP_API qp_status qp_graph_open(const char *path, const qp_allocator *allocator, qp_graph **graph,
                               qp_error *error);

/* Frees a graph; NULL is allowed. Certificates and sessions made from it must be freed first. */
QP_API void qp_graph_free(qp_graph *graph);

/* What a graph holds: counts of its tables, and its cap on every tensor's elements. */
typedef struct qp_graph_info {
    uint32_t n_scalars, n_inputs, n_outputs, n_tensors, n_operators;
    uint32_t max_elems;
    int sized; /* 1 where the inputs declare their largest sizes */
    uint64_t bytes;
} qp_graph_info;

QP_API qp_graph_info qp_graph_describe(const qp_graph *graph);

/* The SHA-256 of the graph's bytes, its identity (section 10.5): 64 digits and a NUL. */
QP_API void qp_graph_digest(const qp_graph *graph, char text[65]);

/* One row of the input table (section 10.2). */
typedef struct qp_input_info {
    uint32_t tensor;
    uint32_t max_h, max_w; /* 0 when not declared */
    int state;             /* 1 for a state input */
    uint32_t src;          /* of a state input: the output that feeds it */
    int64_t init;          /* of a state input: every element at the first decode */
} qp_input_info;

/* One tensor record. */
typedef struct qp_tensor_info {
    uint32_t channels;
    int exponent;       /* -128 for none */
    const char *policy; /* "derived", "clamp" or "check" */
    int64_t lo, hi;     /* the declared range; 0, 0 for "derived" */
} qp_tensor_info;

/* One operator. The arrays belong to the graph. */
typedef struct qp_operator_info {
    const char *name; /* as in section 5 */
    unsigned opcode;
    uint32_t n_in, n_out;
    const uint32_t *in, *out;  /* tensor indices */
    uint64_t parameter_offset; /* in the file */
    uint64_t parameter_bytes;
} qp_operator_info;

/* Each needs an index below the count that qp_graph_describe gives. */
QP_API qp_input_info qp_graph_input(const qp_graph *graph, uint32_t index);
QP_API uint32_t qp_graph_output(const qp_graph *graph, uint32_t index);
QP_API qp_tensor_info qp_graph_tensor(const qp_graph *graph, uint32_t index);
QP_API qp_operator_info qp_graph_operator(const qp_graph *graph, uint32_t index);
QP_API void qp_graph_scalar(const qp_graph *graph, uint32_t index, int64_t *lo, int64_t *hi);

#ifdef __cplusplus
}
#endif

#endif
