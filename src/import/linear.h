/* SPDX-License-Identifier: Apache-2.0 */
/* linear.h - the graph of a stored matrix, from its words. */
#ifndef QP_IMPORT_LINEAR_H
#define QP_IMPORT_LINEAR_H

#include "base/base.h"
#include "quipu/import.h"

/* A finite binary16 word times 2^24, exactly: below 2^40 in magnitude. */
int64_t qp_linear_scale(uint16_t word);

/* Appends the graph of a matrix whose words, all of them, are valid. */
qp_status qp_linear_graph(const qp_matrix *matrix, const qp_word_planes *words,
                          const qp_linear_options *options, qp_buffer *graph, qp_error *error);

#endif
