/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - writing a whole result to a file or to standard output.
 */
#ifndef QP_CLI_OUTPUT_H
#define QP_CLI_OUTPUT_H

#include "base/base.h"

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
