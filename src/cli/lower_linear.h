/* SPDX-License-Identifier: Apache-2.0 */
/* lower_linear.h - `quipu lower --linear`: a stored matrix as a graph. */
#ifndef QP_CLI_LOWER_LINEAR_H
#define QP_CLI_LOWER_LINEAR_H

#include "cli/cli.h"

typedef struct qp_lower_linear_options {
    const char *what;   /* "FILE:TENSOR" */
    const char *range;  /* "LO,HI", or NULL: -128,127 */
    const char *output; /* the graph's file, or NULL: only say what it would be */
    bool json;
} qp_lower_linear_options;

/* Returns the exit code. */
int qp_lower_linear(const qp_lower_linear_options *options);

#endif
