/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - the first difference of two traces: finding it and telling it. */
#ifndef QP_CLI_COMPARE_H
#define QP_CLI_COMPARE_H

#include "cli/cli.h"
#include "cli/trace.h"

/* Why two records differ. The earlier records of both are the same, so what an operator reads is.
 */
typedef enum qp_cause {
    QP_CAUSE_NONE,       /* no difference */
    QP_CAUSE_LENGTH,     /* one trace has more decodes */
    QP_CAUSE_STRUCTURE,  /* the tensor is made by another operator, or from other tensors */
    QP_CAUSE_INPUT,      /* a data input: the runs were given different data */
    QP_CAUSE_STATE,      /* a state's first value */
    QP_CAUSE_PARAMETERS, /* the operator's parameters */
    QP_CAUSE_POLICY,     /* the tensor's policy or its range */
    QP_CAUSE_SCALARS,    /* the scalars of the runs */
    QP_CAUSE_EVALUATION  /* nothing else: the two programs computed differently */
} qp_cause;

/* The kept elements of the differing tensor. */
typedef struct qp_elements_difference {
    bool known;     /* both runs kept them, and the shapes are the same */
    uint64_t first; /* position of the first element that differs */
    int64_t a, b;   /* its values */
    uint64_t count; /* elements that differ */
} qp_elements_difference;

typedef struct qp_comparison {
    qp_trace_reader a, b;
    qp_trace_record record_a, record_b; /* that differ, or were read last */
    uint64_t same;                      /* records before them */
    qp_cause cause;
    qp_elements_difference elements;
} qp_comparison;

/* "input", "parameters": the cause's name in JSON. */
const char *qp_cause_name(qp_cause cause);

void qp_compare_print(const qp_comparison *c, qp_buffer *text);
void qp_compare_print_json(const qp_comparison *c, qp_buffer *text);

/* Compares the kept elements of the two records. QP_MALFORMED, with the file in *file, where one is
 * not what its trace says. */
qp_status qp_compare_elements(qp_comparison *c, const char **file, qp_error *error);

#endif
