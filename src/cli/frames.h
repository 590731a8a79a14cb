/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h - a video as a directory of PNG pictures, in the order of their names. */
#ifndef QP_CLI_FRAMES_H
#define QP_CLI_FRAMES_H

#include "cli/cli.h"

bool qp_is_directory(const char *path);

/* Every NAME.png of a directory as the frames of one video, grey ones as RGB. QP_GEOMETRY_MISMATCH
 * for pictures of two sizes, QP_MODEL_MISMATCH where there is none; the message names the picture.
 * Ownership: qp_media_free with NULL. */
qp_status qp_frames_read(const char *directory, qp_media *media, qp_error *error);

/* Writes 00000.png, 00001.png, ... to a directory, which is made where it is not there. Nothing is
 * left of a failure. */
qp_status qp_frames_write(const char *directory, const qp_media *media, qp_error *error);

#endif
