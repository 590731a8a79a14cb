/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h - statistics of many numbers, and a picture of how they are spread, in text. */
#ifndef QP_CLI_HISTOGRAM_H
#define QP_CLI_HISTOGRAM_H

#include "base/base.h"

enum { QP_HISTOGRAM_BINS = 64 };

/* Zero-initialise it. */
typedef struct qp_statistics {
    uint64_t count; /* of the finite numbers */
    uint64_t zeros, infinite, nan;
    double lowest, highest; /* of the finite ones */
    double mean;
    double squares; /* the sum of squared distances from the mean */
} qp_statistics;

void qp_statistics_add(qp_statistics *statistics, const float *values, size_t count);
/* The standard deviation of the finite numbers. */
double qp_statistics_deviation(const qp_statistics *statistics);

typedef struct qp_histogram {
    double lowest, highest; /* the ends of the picture */
    uint64_t bins[QP_HISTOGRAM_BINS];
    uint64_t below, above; /* numbers outside */
} qp_histogram;

/* The ends: those of the numbers, but at most 5 standard deviations from the mean. */
void qp_histogram_start(qp_histogram *histogram, const qp_statistics *statistics);
void qp_histogram_add(qp_histogram *histogram, const float *values, size_t count);
/* A picture of bars, by block characters in UTF-8 or in plain ASCII. */
void qp_histogram_print(const qp_histogram *histogram, bool utf8, qp_buffer *text);

/* Whether the environment says that text is shown as UTF-8 (LC_ALL, LC_CTYPE, LANG; not a dumb
 * terminal). */
bool qp_terminal_is_utf8(void);

#endif
