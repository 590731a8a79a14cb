/* SPDX-License-Identifier: Apache-2.0 */
/*
 * y4m.h - video from and to YUV4MPEG2 files, without any change of its samples.
 *
 * The planes Y, Cb and Cr are the three channels of the media's pixels, in that order: nothing is
 * converted to RGB, which would not come back. A file of luma alone has 128, no colour, in the
 * other two. What the media do not hold is lost: the frame rate, the shape of pixels, comments.
 */
#ifndef QP_CLI_Y4M_H
#define QP_CLI_Y4M_H

#include "base/base.h"
#include "quipu/codec.h"

/* Whether the bytes begin as a YUV4MPEG2 file does. */
bool qp_y4m_is(const uint8_t *bytes, size_t size);

/* Reads every frame of a file of C444 or Cmono, progressive, sides up to 2^16. QP_MALFORMED, with
 * the offset, for a file that is not one or ends early, or a header of more than 1024 bytes;
 * QP_FIELD_RANGE for other sample forms (subsampled colour, which three channels of one size do not
 * hold; more than 8 bits; alpha) and for interlaced video; QP_TOO_LARGE for 2^32 bytes of samples
 * and more. Ownership: qp_media_free with NULL. */
qp_status qp_y4m_read(const uint8_t *bytes, size_t size, qp_media *media, qp_error *error);

/* Appends a file: pixels of 3 channels as C444, those of 1 as Cmono, progressive, the frame rate
 * and the shape of pixels unknown (F0:0, A0:0). QP_INVALID_ARGUMENT for other media. */
qp_status qp_y4m_write(qp_buffer *file, const qp_media *media, qp_error *error);

#endif
