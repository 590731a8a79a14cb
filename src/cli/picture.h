/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - PNG pictures as planar integers, through libpng where the build has it.
 */
#ifndef QP_CLI_PICTURE_H
#define QP_CLI_PICTURE_H

#include "base/base.h"

/* No plane of a tensor holds more (integer-operators.md section 3). */
#define QP_PICTURE_MAX_PIXELS ((uint64_t)1 << 26)

typedef struct qp_picture_size {
    uint32_t channels; /* 1 (grey) or 3 (red, green, blue) */
    uint32_t height;
    uint32_t width;
} qp_picture_size;

/* channels x height x width values in 0..255, the last index running fastest. */
typedef struct qp_picture {
    qp_picture_size size;
    int64_t *values;
    qp_allocator allocator;
} qp_picture;

/* Whether this build can read and write PNG. Without it both functions below refuse with
 * QP_INVALID_ARGUMENT and say so. */
bool qp_picture_supported(void);

/* Decodes a PNG file. Ownership: qp_picture_free.
 *
 * 8-bit grey and RGB are read as they are, without any colour management; a palette is expanded to
 * RGB, and grey of 1, 2 or 4 bits to the 8 bits it stands for (v * 255 / (2^bits - 1)). Refused
 * (QP_FIELD_RANGE): 16 bits a sample, which 8 cannot hold, and transparency unless every pixel is
 * opaque. QP_MALFORMED when libpng finds the file damaged; QP_TOO_LARGE for more than 2^26 pixels,
 * and for more pixels than the file's length can compress to, before anything is allocated. */
qp_status qp_picture_read(const uint8_t *bytes, size_t size, const qp_allocator *allocator,
                          qp_picture *picture, qp_error *error);
void qp_picture_free(qp_picture *picture);

/* Appends a PNG file of 8 bits a sample. QP_FIELD_RANGE, with record the index and the message its
 * place and value, for the first value outside 0..255; QP_INVALID_ARGUMENT for an empty picture or
 * other than 1 or 3 channels. On failure the buffer's size is as before. The pixels are exact; the
 * compressed bytes are not promised to be the same under another zlib or libpng. */
qp_status qp_picture_write(qp_buffer *buffer, qp_picture_size size, const int64_t *values,
                           qp_error *error);

#endif
