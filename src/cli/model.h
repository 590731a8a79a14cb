/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the default model, which the build puts into the command (cmake/models.cmake). */
#ifndef QP_CLI_MODEL_H
#define QP_CLI_MODEL_H

#include "quipu/codec.h"

enum { QP_MODELS = 3 };

/* The files of one quality: those of the set first, then those beside it. */
typedef struct qp_model {
    const qp_member *members;
    size_t n_set;
    size_t count; /* 0 where the build had no such model */
} qp_model;

/* By quality, less 1. */
extern const qp_model qp_models[QP_MODELS];

#endif
