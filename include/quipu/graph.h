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

/* ---- graphs as JSON (docs/graph-json.md) -------------------------------------------------- */

/* The room for the name of an array's file, its NUL included. */
#define QP_ARRAY_NAME_SIZE 1024

#define QP_ARRAY_RANK_MAX 4

/* An array of an operator's parameters, in C order. */
typedef struct qp_graph_array {
    uint32_t operator_index;
    const char *operator_name; /* "conv" */
    const char *field;         /* "weights" */
    unsigned rank;             /* 1 to 4 */
    uint64_t dims[QP_ARRAY_RANK_MAX];
    unsigned width; /* bytes of each integer in the graph: 1, 2, 4 or 8, signed */
    size_t count;   /* the product of the dims */
} qp_graph_array;

/*
 * Where qp_graph_dump puts arrays beside the JSON. `store` keeps the values and writes the name by
 * which the JSON shall call them, UTF-8 and NUL-terminated; what it points at lasts for the call
 * only. A failure ends the dump, with the error that `store` filled (`error` may be NULL).
 */
typedef struct qp_array_sink {
    qp_status (*store)(void *context, const qp_graph_array *array, const int64_t *values,
                       char name[QP_ARRAY_NAME_SIZE], qp_error *error);
    void *context;
} qp_array_sink;

/*
 * Writes a graph as JSON for people: every encoded width and kind, so that qp_graph_assemble gives
 * the same bytes. Arrays of parameters stand in it, or go to `sink` where that is not NULL. The
 * layout of lines is not promised to stay.
 *
 * QP_OK with `*size` bytes in *json, not NUL-terminated, QP_NO_MEMORY, or the sink's failure.
 * Ownership: qp_bytes_free with the same allocator.
 */
QP_API qp_status qp_graph_dump(const qp_graph *graph, const qp_array_sink *sink,
                               const qp_allocator *allocator, char **json, size_t *size,
                               qp_error *error);

/*
 * Where qp_graph_assemble finds arrays beside the JSON. `open` looks an array up by the name that
 * the JSON gives it and fills its `rank`, `dims` and `count`; `read` then gives elements
 * first .. first + count of the array opened last, within its count. A failure ends the assembly,
 * with the error that they filled and the place of the name before its message.
 */
typedef struct qp_array_source {
    qp_status (*open)(void *context, const char *name, qp_graph_array *array, qp_error *error);
    qp_status (*read)(void *context, size_t first, size_t count, int64_t *values,
                      qp_error *error);
    void *context;
} qp_array_source;

/* A graph as JSON text; `arrays` is NULL where it may name none. */
typedef struct qp_graph_json {
    const char *text;
    size_t size;
    const qp_array_source *arrays;
} qp_graph_json;

/*
 * Makes a graph's bytes from its JSON, and loads them once to know that they are a graph. Strict:
 * an unknown or a missing member, a value outside its field's range or an array whose dimensions
 * are not its parameter's is QP_MALFORMED. QP_MODEL_MISMATCH or QP_TOO_LARGE where qp_graph_load
 * refuses, with its table and record. Every refusal's message begins with line and column, and
 * error->offset is a place in the JSON. Memory is proportional to the JSON and the arrays beside
 * it, whatever sizes they declare.
 *
 * QP_OK with `*size` bytes in *bytes. Ownership: qp_bytes_free with the same allocator.
 */
QP_API qp_status qp_graph_assemble(const qp_graph_json *json, const qp_allocator *allocator,
                                   void **bytes, size_t *size, qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
