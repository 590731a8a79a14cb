/* SPDX-License-Identifier: Apache-2.0 */
/* media_file.h - media from and to the files that people open: PNG, WAV and .npy. */
#ifndef QP_CLI_MEDIA_FILE_H
#define QP_CLI_MEDIA_FILE_H

#include "cli/cli.h"

/* A PNG picture as pixels of one frame. Ownership: qp_media_free with NULL. */
qp_status qp_media_read_picture(const void *bytes, size_t size, qp_media *media, qp_error *error);

/* The bytes of a file: PNG for a picture of 1 or 3 channels, WAV for sound, and for anything else
 * a .npy of u8 in the order of the media. */
qp_status qp_media_encode(const qp_media *media, qp_buffer *file, qp_error *error);

#endif
