/* SPDX-License-Identifier: Apache-2.0 */
/* info_weights.h - what quipu info says of a file of weights, and of one of its tensors. */
#ifndef QP_CLI_INFO_WEIGHTS_H
#define QP_CLI_INFO_WEIGHTS_H

#include "cli/cli.h"

/* What is asked of a file. */
typedef struct qp_info_request {
    const char *path;
    const char *tensor; /* statistics of this one alone, or NULL */
    bool json;
} qp_info_request;

/* The name of the kind of weight file that bytes begin as ("gguf"), or NULL. */
const char *qp_info_weights_kind(const qp_file *file);

/* Appends the text, or the further members of a JSON object. `file` holds the first of the files,
 * or standard input; the others are opened by the path. */
qp_status qp_info_weights(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                          qp_error *error);

#endif
