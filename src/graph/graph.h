/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - the model of a WHG1 graph in memory, and the parts of its loading.
 */
#ifndef QP_GRAPH_GRAPH_H
#define QP_GRAPH_GRAPH_H

#include "op/op.h"
#include "quipu/graph.h"

/* Sizes of the records of section 10. */
enum {
    QP_WHG1_HEADER_BYTES = 32,
    QP_WHG1_SCALAR_BYTES = 16,
    QP_WHG1_INPUT_BYTES = 32,
    QP_WHG1_OUTPUT_BYTES = 4,
    QP_WHG1_TENSOR_BYTES = 24,
    /* opcode, counts and reserved; plen; at least one input and one output */
    QP_WHG1_OPERATOR_BYTES_MIN = 4 + 4 + 4 + 4
};

#define QP_EXPONENT_NONE (-128)

typedef struct qp_graph_input_record {
    uint32_t tensor, max_h, max_w;
    bool state;
    uint32_t src;
    int64_t init;
} qp_graph_input_record;

typedef struct qp_graph_tensor_record {
    int64_t lo, hi;
    uint32_t channels;
    int8_t exponent;
    qp_policy policy;
} qp_graph_tensor_record;

/* An operator of the graph. */
typedef struct qp_node {
    const qp_operator *op;
    const uint32_t *in, *out; /* tensor indices */
    uint32_t n_in, n_out;
    const void *params; /* the operator's own structure; NULL when it has no parameters */
    size_t offset;      /* of the record in the file */
    size_t params_offset, params_bytes;
} qp_node;

/* Where a tensor comes from: an input's index, or the operator that writes it. */
typedef struct qp_origin {
    bool input;
    uint32_t index;
} qp_origin;

struct qp_graph {
    qp_arena arena;
    qp_file file; /* of qp_graph_open */
    const uint8_t *bytes;
    size_t size;

    uint32_t n_scalars, n_inputs, n_outputs, n_tensors, n_nodes;
    uint32_t max_elems;
    bool sized; /* the inputs declare their sizes */
    qp_range *scalars;
    qp_graph_input_record *inputs;
    uint32_t *outputs;
    qp_graph_tensor_record *tensors;
    qp_node *nodes;
    qp_origin *origins; /* of each tensor */
    qp_shape *shapes;   /* of each tensor on the declared sizes; NULL when not sized */
};

/* Steps of section 10.5; each reports the first fault with its place. */
qp_status qp_graph_read_header(qp_graph *graph, qp_error *error);
qp_status qp_graph_read_tables(qp_graph *graph, qp_error *error);
qp_status qp_graph_read_operators(qp_graph *graph, qp_error *error);
qp_status qp_graph_check_rules(qp_graph *graph, qp_error *error);
qp_status qp_graph_plan_load(qp_graph *graph, qp_error *error);

/* Reads one operator's parameters (section 10.4) of `bytes` bytes at `offset`. */
qp_status qp_graph_read_params(qp_graph *graph, uint32_t index, qp_node *node, qp_error *error);

/*
 * Plans one operator on the sizes of its inputs: its output shapes, every size against the cap. The
 * channels of `out` are set from the tensor records. QP_TOO_LARGE or QP_GEOMETRY_MISMATCH with a
 * sentence in *why. `scalars` is NULL at load.
 */
qp_status qp_graph_plan_node(const qp_graph *graph, const qp_node *node, const qp_shape *in,
                             const int64_t *scalars, qp_shape out[QP_OUTPUTS_MAX],
                             const char **why);

/* The largest count of inputs an operator record can give: a byte. */
#define QP_INPUTS_MAX 255

#endif
