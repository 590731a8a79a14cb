/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - writing a whole result to a file or to standard output.
 */
#ifndef QP_CLI_OUTPUT_H
#define QP_CLI_OUTPUT_H

#include "base/base.h"

#include <stdio.h>

/* ---- piece by piece ----------------------------------------------------------------------- */

/*
 * A result that is written from its first byte to its last, for what memory does not hold. All or
 * nothing for files, as below:
 *
 *     status = qp_output_open(path, &output, error);
 *     if (status == QP_OK)
 *         status = qp_output_append(&output, bytes, size, error);
 *     status = qp_output_close(&output, status, error);
 */
typedef struct qp_output_file {
    /* private */
    const char *path;
    FILE *stream;
    qp_buffer beside; /* the name of the new file; empty where the target is written in place */
} qp_output_file;

/* Opens `path`, or standard output for "-". `path` must stay. */
qp_status qp_output_open(const char *path, qp_output_file *output, qp_error *error);
qp_status qp_output_append(qp_output_file *output, const void *bytes, size_t size, qp_error *error);
/* Ends the result: where `status` is QP_OK the file takes its place, else it is removed. Returns
 * `status`, or why the file could not take its place. */
qp_status qp_output_close(qp_output_file *output, qp_status status, qp_error *error);

/* For verbs that replace nothing without --force: QP_IO where `path` exists and `force` is false.
 */
qp_status qp_output_check(const char *path, bool force, qp_error *error);

/* ---- at once ------------------------------------------------------------------------------ */

/* Writes `size` bytes to `path`, or to standard output when `path` is "-".
 *
 * All or nothing for files: the bytes go to a new file beside the target, "PATH.quipu-N", which is
 * renamed over the target when every byte was taken. On failure the target is as before and the new
 * file is gone. The new file has the old one's permissions. What exists and is no ordinary file (a
 * pipe, /dev/null, a symbolic link) is written in place. Not promised: that the bytes outlive a
 * power failure just afterwards. QP_IO, with the system's sentence, when the system refuses. */
qp_status qp_output_write(const char *path, const void *bytes, size_t size, qp_error *error);

/* The same for a buffer: QP_NO_MEMORY when the buffer has failed. */
qp_status qp_output_buffer(const char *path, const qp_buffer *buffer, qp_error *error);

#endif
