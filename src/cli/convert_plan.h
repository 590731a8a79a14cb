/* SPDX-License-Identifier: Apache-2.0 */
/* convert_plan.h - what a conversion will do, in words: `quipu convert --plan`. */
#ifndef QP_CLI_CONVERT_PLAN_H
#define QP_CLI_CONVERT_PLAN_H

#include "cli/weights.h"

typedef struct qp_convert_request {
    const char *input, *output;
    qp_convert_options options;
    bool json;
} qp_convert_request;

/* Appends what the plan says: each tensor's way, sizes before and after, what is lost, and the time
 * that the encoders will need, from a short measured sample of each. */
qp_status qp_convert_describe(qp_artifact *artifact, const qp_convert_plan *plan,
                              const qp_convert_request *request, qp_buffer *text, qp_error *error);

/* "3.2 s", "12 min". */
void qp_convert_duration(double seconds, char text[32]);

/* Seconds of a clock that never goes back. */
double qp_convert_clock(void);

#endif
