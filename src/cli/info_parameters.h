/* SPDX-License-Identifier: Apache-2.0 */
/* info_parameters.h - which parameters the tensors of a .ninfer file keep, from its bindings. */
#ifndef QP_CLI_INFO_PARAMETERS_H
#define QP_CLI_INFO_PARAMETERS_H

#include "cli/cli.h"

/* Of one tensor: the first parameter that it keeps, and how many it keeps whole or in part. */
typedef struct qp_kept_parameter {
    const char *name; /* NULL: none */
    uint64_t count;
} qp_kept_parameter;

typedef struct qp_kept_parameters {
    qp_arena arena;
    qp_kept_parameter *of; /* by the tensor's index; NULL of a file without bindings */
} qp_kept_parameters;

/* Reads the directory alone. Ownership: qp_kept_parameters_free, after a failure too. */
qp_status qp_kept_parameters_read(const qp_artifact *artifact, qp_kept_parameters *kept,
                                  qp_error *error);
void qp_kept_parameters_free(qp_kept_parameters *kept);

#endif
