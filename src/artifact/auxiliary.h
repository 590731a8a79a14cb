/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auxiliary.h - what the known auxiliaries of a use hold (artifact-container.md section 3.6).
 */
#ifndef QP_ARTIFACT_AUXILIARY_H
#define QP_ARTIFACT_AUXILIARY_H

#include "artifact/source.h"

#define QP_AUXILIARY_DIVISOR "activation_input_divisor"

typedef struct qp_auxiliary_role {
    const char *name;
    const char *format;
    bool is_scalar; /* shape [], else one number for each column of the parameter */
    /* What is wrong with the numbers, "is ...", or NULL. `seen` holds `count` times false. */
    const char *(*check)(const double *numbers, size_t count, bool *seen);
} qp_auxiliary_role;

/* NULL for a role that the text does not know: it holds anything. */
const qp_auxiliary_role *qp_auxiliary_role_find(const char *name);

/* Holds the auxiliaries of a .ninfer source to their roles: QP_FIELD_RANGE, check
 * "auxiliary_invalid". */
qp_status qp_auxiliaries_check(const qp_weight_source *source, qp_error *error);

#endif
