/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_pipe.h - a conversion to standard output. What is converted is read back and verified, so
 * it is a file first, in a folder of its own among the temporary ones.
 */
#ifndef QP_CLI_CONVERT_PIPE_H
#define QP_CLI_CONVERT_PIPE_H

#include "base/base.h"

typedef struct qp_convert_pipe {
    char *folder;
    char *path; /* of the file that is to be made */
} qp_convert_pipe;

/* Makes the folder, in TMPDIR or /tmp. QP_IO, QP_NO_MEMORY. Ownership: qp_convert_pipe_close. */
qp_status qp_convert_pipe_open(qp_convert_pipe *pipe, qp_error *error);

/* The file's bytes, to standard output. File and folder go first: whoever stops reading may end the
 * process. */
qp_status qp_convert_pipe_send(qp_convert_pipe *pipe, qp_error *error);

/* Removes file and folder; a pipe of zeros has none. */
void qp_convert_pipe_close(qp_convert_pipe *pipe);

#endif
