/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_operator.h - graphs of one operator: built from its inputs and parameters, loaded, certified
 * and run, through a session and directly.
 */
#ifndef QP_TEST_SUPPORT_ONE_OPERATOR_H
#define QP_TEST_SUPPORT_ONE_OPERATOR_H

#include "bounds/bounds.h"
#include "graph/writer.h"
#include "quipu/run.h"
#include "support/test.h"

#define TEST_INPUTS_MAX 4

/* An input tensor with the range it declares and its elements. */
typedef struct test_input {
    qp_shape shape;
    int64_t lo, hi;
    const int64_t *values; /* NULL where only bounds are looked at */
} test_input;

typedef struct test_operator {
    unsigned opcode;
    uint32_t n_in, n_out;
    test_input in[TEST_INPUTS_MAX];
    uint32_t out_channels[QP_OUTPUTS_MAX];
    uint32_t n_scalars;
    qp_range ranges[TEST_INPUTS_MAX];
    int64_t scalars[TEST_INPUTS_MAX];
    qp_buffer params; /* of the operator; owned */
} test_operator;

/* The graph of an operator, its certificate, and what it gives. */
typedef struct test_run {
    qp_buffer bytes;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_shape shape[QP_OUTPUTS_MAX];
    int64_t *out[QP_OUTPUTS_MAX]; /* NULL before test_decode */
} test_run;

test_operator test_operator_make(unsigned opcode);
/* Appends an input; `values` is borrowed. */
void test_operator_input(test_operator *op, qp_shape shape, int64_t lo, int64_t hi,
                         const int64_t *values);
void test_operator_output(test_operator *op, uint32_t channels);
void test_operator_scalar(test_operator *op, int64_t lo, int64_t hi, int64_t value);
void test_operator_free(test_operator *op);

/* Parameters: u32 values, and an RQ block. */
void test_u32(test_operator *op, size_t count, const uint32_t *values);
#define TEST_U32(op, ...)                                                                          \
    test_u32((op), TEST_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})
/* A block of one shift, without multiplier or bias. */
void test_plain_rq(test_operator *op, unsigned shift, qp_round round);

/* Appends the graph's bytes, whether they load or not. An input of height and width 0 declares no
 * size. */
void test_write(const test_operator *op, qp_buffer *bytes);

/* Builds and loads the graph with its declared sizes; asserts that it loads and certifies. */
test_run test_load(const test_operator *op);
void test_run_free(test_run *run);

/* Decodes the operator's inputs; asserts that nothing is refused. */
void test_decode(const test_operator *op, test_run *run);

/*
 * Evaluates the operator without a session, its inputs in `storage` (which must hold them) with
 * their last byte before an unmapped page, its outputs in i64 between canaries, and asserts that
 * they are those of test_decode.
 */
void test_evaluate_framed(const test_operator *op, const test_run *run, qp_storage storage);

/* Runs an operator both ways, in every storage that holds its inputs' ranges, and compares output
 * `k` with `expected`. */
void test_expect(const test_operator *op, uint32_t k, qp_shape shape, const int64_t *expected);

#endif
