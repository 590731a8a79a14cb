/* SPDX-License-Identifier: Apache-2.0 */
/* compare_weights.h - two files of weights, parameter by parameter: how far apart they are. */
#ifndef QP_CLI_COMPARE_WEIGHTS_H
#define QP_CLI_COMPARE_WEIGHTS_H

#include "cli/histogram.h"
#include "cli/weights.h"

/* Why two parameters were not measured. */
typedef enum qp_pair_fault {
    QP_PAIR_MEASURED,
    QP_PAIR_SHAPE, /* they have another number of elements */
    QP_PAIR_ALONE, /* there is none in the other file */
    QP_PAIR_UNREAD /* one has a type that is not read */
} qp_pair_fault;

/* One parameter of the first file beside that of the same name of the second. */
typedef struct qp_weights_pair {
    const qp_parameter *a, *b; /* NULL where it is in the other file alone */
    qp_pair_fault fault;
    uint64_t differ; /* elements whose bits differ */
    uint64_t first;  /* the first of them */
    float first_a, first_b;
    uint64_t uncounted; /* pairs with a NaN or an infinity: in no sum below */
    uint64_t counted;
    double signal, noise; /* sums of squares: of a, and of b - a */
    double most;          /* the largest |b - a| */
    uint64_t most_at;
    qp_statistics of_a, of_b, of_error; /* with a picture */
    qp_histogram values_a, values_b, errors;
} qp_weights_pair;

typedef struct qp_weights_comparison {
    const char *paths[2];
    qp_weights_file files[2];
    qp_weight_source sources[2];
    qp_weights_pair *pairs;
    size_t count;
    size_t n_same, n_differ, n_unmeasured;
    bool pictures; /* gather what pictures need */
} qp_weights_comparison;

double qp_pair_rmse(const qp_weights_pair *pair);
/* The signal over the noise, in decibels; infinite without noise. */
double qp_pair_sqnr(const qp_weights_pair *pair);

/* "compare A B" of two files of weights: 0 no difference, 1 a difference or a refusal. */
typedef struct qp_compare_weights_options {
    const char *paths[2];
    const char *html; /* NULL: no page */
    bool json;
    bool all; /* the same parameters too */
} qp_compare_weights_options;
int qp_compare_weights(const qp_compare_weights_options *options);

/* Whether a file begins as one of weights; false where it cannot be read. */
bool qp_is_weights(const char *path);

/* The page, appended. */
void qp_compare_weights_html(const qp_weights_comparison *c, qp_buffer *page);

#endif
