/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - inputs and scalars for one decode of any graph, at and inside their ranges. */
#ifndef QP_TEST_SUPPORT_INPUTS_H
#define QP_TEST_SUPPORT_INPUTS_H

#include "graph/graph.h"
#include "quipu/run.h"

typedef enum test_pattern {
    TEST_ALL_LO,
    TEST_ALL_HI,
    TEST_LO_OR_HI,  /* each element one of the two, by chance */
    TEST_STRIPES,   /* lo and hi by turns, in runs of 1 to 4 */
    TEST_INSIDE,    /* anywhere between */
    TEST_NEAR_ZERO, /* the nearest to zero that the range holds, ±3 */
    TEST_PATTERNS
} test_pattern;

typedef struct test_inputs {
    size_t n_arrays;
    qp_array *arrays; /* of the data inputs, in i64 */
    int64_t *scalars;
    uint32_t n_scalars;
} test_inputs;

/* The declared sizes where the graph has some (or, by chance, smaller ones where `smaller` is set),
 * otherwise `side` by `side`. False where that would pass 2^16 elements. */
typedef struct test_sizes {
    uint32_t side;
    bool smaller;
} test_sizes;

bool test_inputs_make(const qp_graph *graph, test_pattern pattern, test_sizes sizes, uint64_t *seed,
                      test_inputs *inputs);
void test_inputs_free(test_inputs *inputs);

#endif
