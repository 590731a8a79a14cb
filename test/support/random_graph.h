/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_graph.h - random graphs that load: every operator, every kind of parameter, state inputs,
 * scalars, all policies. A seed gives the same bytes on every machine.
 */
#ifndef QP_TEST_SUPPORT_RANDOM_GRAPH_H
#define QP_TEST_SUPPORT_RANDOM_GRAPH_H

#include "op/op.h"

/* Appends a graph of 1 to 10 random operators to `bytes`, which must be empty. */
void test_random_graph(uint64_t seed, qp_buffer *bytes);

/* The same, with `op` as the first operator. */
void test_random_graph_of(const qp_operator *op, uint64_t seed, qp_buffer *bytes);

#endif
