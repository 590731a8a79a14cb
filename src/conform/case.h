/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case.h - a case being built: what corpus.h's calls leave and evaluate.c reads.
 */
#ifndef QP_CONFORM_CASE_H
#define QP_CONFORM_CASE_H

#include "conform/corpus.h"
#include "graph/writer.h"

enum {
    QP_CASE_TENSORS_MAX = 64,
    QP_CASE_INPUTS_MAX = 8,
    QP_CASE_NODES_MAX = 40,
    QP_CASE_WIRES_MAX = 8,
    QP_CASE_PATCHES_MAX = 8,
    QP_CASE_DECODES_MAX = 48
};

typedef struct qp_case_node {
    unsigned opcode;
    uint32_t in[QP_CASE_WIRES_MAX], out[QP_CASE_WIRES_MAX];
    size_t n_in, n_out;
    size_t params_at; /* in the case's parameter bytes; up to those of the next node */
} qp_case_node;

typedef struct qp_case_change {
    int64_t offset;
    unsigned width;
    uint64_t value;
} qp_case_change;

typedef struct qp_case_given {
    qp_shape shape;
    size_t at; /* of its first element in the case's values */
} qp_case_given;

typedef struct qp_case_run {
    qp_status want;
    qp_case_given inputs[QP_CASE_INPUTS_MAX];
    uint32_t n_inputs;
    int64_t scalars[QP_CASE_INPUTS_MAX];
    uint32_t n_scalars;
} qp_case_run;

struct qp_corpus {
    const char *path; /* of the file */
    const qp_allocator *allocator;
    qp_corpus_output output;
    bool certificates; /* writes lines of certificates rather than of vectors */

    /* The first failure; every later call does nothing. */
    qp_status status;
    qp_error *error;

    /* The case. */
    char id[96];
    qp_want want;
    bool open;
    uint64_t random;
    uint32_t max_elems;
    qp_range scalars[QP_CASE_INPUTS_MAX];
    qp_graph_input_record inputs[QP_CASE_INPUTS_MAX];
    uint32_t outputs[QP_CASE_INPUTS_MAX];
    qp_graph_tensor_record tensors[QP_CASE_TENSORS_MAX];
    qp_case_node nodes[QP_CASE_NODES_MAX];
    qp_case_change patches[QP_CASE_PATCHES_MAX];
    qp_case_run runs[QP_CASE_DECODES_MAX];
    uint32_t n_scalars, n_inputs, n_outputs, n_tensors, n_nodes, n_patches, n_runs;
    int64_t resize;
    size_t truncate;  /* SIZE_MAX for not */
    bool whole;       /* `params` are the whole graph */
    qp_buffer params; /* of every node, one after another */
    qp_buffer values; /* of every decode: int64_t each */
};

/* Ends the open case: computes what it gives and appends its lines (evaluate.c). */
void qp_case_finish(qp_corpus *c);

/* Notes a fault of the corpus itself; returns false. */
bool qp_case_fault(qp_corpus *c, const char *sentence);

#endif
