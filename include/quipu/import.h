/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/import.h - other forms to WHG1 graphs: stored weights.
 */
#ifndef QUIPU_IMPORT_H
#define QUIPU_IMPORT_H

#include "quipu/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The graph of an exact product: y = 2^24 * (W x), for a matrix W [N,K] of a grouped-integer format
 * and integer vectors x of K elements.
 *
 * Its input 0 is [K, height, width] with the policy `check [lo, hi]`, each position a vector; its
 * output 0 is [N, height, width]. A group of columns is a `split`, then a 1x1 `conv` whose weights
 * are the stored codes, 8 bits each, and whose multiplier for each row is the group's binary16
 * scale times 2^24, an integer below 2^40. The groups' products are summed by `add`. Nothing is
 * rounded, so y is the product to its last bit; 2^24 is the inverse of the smallest binary16.
 */
typedef struct qp_linear_options {
    int64_t lo, hi;           /* of the vector's elements */
    uint64_t first_row, rows; /* of the tensor, where W is some of its rows; 0 and 0: all */
} qp_linear_options;

/*
 * Writes the graph of the tensor, loads and certifies it. QP_OK with `*size` bytes in *graph;
 * QP_INVALID_ARGUMENT for a tensor that is no grouped-integer matrix, a range that is none, or rows
 * that it does not have; QP_FIELD_RANGE with row and column where its words are not valid;
 * QP_MODEL_MISMATCH, naming the node, where the certificate does not meet acc64 on that range;
 * QP_TOO_LARGE for a matrix that passes a cap of WHG1. Memory is a small multiple of the matrix's
 * elements. Ownership: qp_bytes_free with the same allocator.
 */
QP_API qp_status qp_import_linear(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                  const qp_linear_options *options, const qp_allocator *allocator,
                                  void **graph, size_t *size, qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
