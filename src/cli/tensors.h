/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensors.h - what `quipu run` reads and writes: tensors as .npy arrays or PNG pictures, one decode
 * after another, and their digests.
 */
#ifndef QP_CLI_TENSORS_H
#define QP_CLI_TENSORS_H

#include "cli/npy.h"
#include "cli/picture.h"
#include "quipu/run.h"

/* ---- inputs ------------------------------------------------------------------------------- */

/* A file, and the tensors of one size that it gives: one a decode. */
typedef struct qp_file_source {
    qp_file file;
    bool is_picture;
    qp_picture picture;
    qp_npy npy;
    size_t frames; /* N of a sequence, 3 for the planes of a picture, otherwise 1 */
    uint32_t channels, height, width; /* of one frame */
    int64_t *values;                  /* a frame of the .npy array */
    size_t capacity;
} qp_file_source;

/* Opens a .npy file, or a PNG file (told by its first bytes or the name's end), or standard input
 * for "-". An array has the shape [C, H, W], or [H, W] for one channel; with `sequence`
 * [N, C, H, W]. QP_MODEL_MISMATCH for another rank. Ownership: qp_source_close, on failure too. */
qp_status qp_source_open(qp_file_source *source, const char *path, bool sequence, qp_error *error);
void qp_source_close(qp_file_source *source);

/* Whether it is a picture of three channels. */
bool qp_source_is_colour(const qp_file_source *source);
/* Lets each channel be a frame of its own. */
void qp_source_split(qp_file_source *source);

/* The tensor for decode `index`, which stays until the next call. A source of one frame gives it
 * for every decode. */
qp_status qp_source_frame(qp_file_source *source, size_t index, qp_array *array, qp_error *error);

/* ---- outputs ------------------------------------------------------------------------------ */

/* How the frames of a result are put together. */
typedef enum qp_result_layout {
    QP_RESULT_SINGLE,   /* one frame: [C, H, W] */
    QP_RESULT_PLANES,   /* three: [3C, H, W] */
    QP_RESULT_SEQUENCE, /* any number: [N, C, H, W] */
} qp_result_layout;

/* The values of one output over all decodes, frame after frame. */
typedef struct qp_result {
    qp_result_layout layout;
    size_t frames, filled;
    uint32_t channels, height, width; /* of one frame */
    int64_t *values;
    size_t count;
} qp_result;

/* Takes a decode's output. QP_GEOMETRY_MISMATCH where its size is not that of the first. */
qp_status qp_result_append(qp_result *result, const qp_array *array, qp_error *error);
void qp_result_free(qp_result *result);

qp_npy_shape qp_result_shape(const qp_result *result);
/* The file's bytes: PNG, or .npy with int64 elements. */
qp_status qp_result_encode(const qp_result *result, bool png, qp_buffer *buffer, qp_error *error);

/* "rgb8" or "grey8" for values that are a picture's samples, otherwise "i64". */
const char *qp_result_form(const qp_result *result, bool samples);
/* SHA-256 of the 8-bit samples (rows from the top, channels interleaved, no padding), or of the
 * int64 little-endian elements in the order of the shape. `samples` needs 1 or 3 channels and
 * values in 0..255. */
void qp_result_digest(const qp_result *result, bool samples, char text[QP_SHA256_HEX_SIZE]);

/* ---- digests ------------------------------------------------------------------------------ */

typedef struct qp_array_summary {
    char sha256[QP_SHA256_HEX_SIZE]; /* of its elements as int64, little-endian */
    int64_t lo, hi;                  /* the least and the greatest; 0 for an empty array */
} qp_array_summary;

qp_array_summary qp_summarise(const qp_array *array);

#endif
