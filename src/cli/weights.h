/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weights.h - what the verbs of weight files share: room for words, and a tensor's values from its
 * first to its last, whatever it is stored as.
 */
#ifndef QP_CLI_WEIGHTS_H
#define QP_CLI_WEIGHTS_H

#include "artifact/source.h"
#include "cli/cli.h"

/* A size that a file tells as one of memory: QP_NO_MEMORY where it is none. */
qp_status qp_weights_size(uint64_t size, const char *what, size_t *result, qp_error *error);

/* A file of weights that is open. */
typedef struct qp_weights_file {
    qp_artifact *artifact;
    qp_file input; /* standard input, kept */
} qp_weights_file;

/* Opens a file of weights, or standard input for "-". Ownership: qp_weights_close, after a failure
 * too. */
qp_status qp_weights_open(qp_weights_file *file, const char *path, qp_error *error);
void qp_weights_close(qp_weights_file *file);

/* The tensor of a name: its own, or of a .ninfer file that of the parameter which is the whole
 * tensor. NULL without one. */
const qp_artifact_tensor *qp_weights_find(const qp_artifact *artifact, const char *name);

/* ---- words -------------------------------------------------------------------------------- */

/* Room for the words of some rows of a matrix. */
typedef struct qp_words_room {
    qp_word_planes words;
    size_t codes, scales, divisors; /* bytes of each plane */
} qp_words_room;

/* Ownership: qp_words_room_free. */
qp_status qp_words_room_make(const qp_matrix *matrix, uint64_t rows, qp_words_room *room,
                             qp_error *error);
void qp_words_room_free(qp_words_room *room);

/* The words of a whole matrix as its stored bytes: `bytes` holds matrix->bytes, all of them zero
 * before. */
void qp_weights_pack(const qp_matrix *matrix, const qp_word_planes *words, uint8_t *bytes);

/* A whole matrix that is encoded at once. `rows` holds source and words from the first row on. */
typedef struct qp_weights_encoding {
    qp_method_job job;
    qp_method_rows rows;
    uint64_t code_row_bytes; /* of an encoded source */
    uint64_t scale_row_bytes;
    float *maxima; /* of the method's first pass */
    size_t n_maxima;
} qp_weights_encoding;

/* The method's refusals that need no data, then its first pass where it has one. Ownership:
 * qp_weights_encoding_free. */
qp_status qp_weights_prepare(qp_weights_encoding *encoding, qp_error *error);
/* All rows, in chunks of `step`. */
qp_status qp_weights_encode(const qp_weights_encoding *encoding, uint64_t step, qp_error *error);
void qp_weights_encoding_free(qp_weights_encoding *encoding);

/* ---- values ------------------------------------------------------------------------------- */

/* Elements and last dimension of a tensor; 1 of a scalar. */
uint64_t qp_weights_count(const qp_artifact_tensor *tensor);
uint64_t qp_weights_columns(const qp_artifact_tensor *tensor);

/* "[3, 512]". */
void qp_weights_shape(const uint64_t *shape, uint32_t rank, qp_buffer *text);

/* A name from a file as it may stand in one line on a terminal: control characters become '?'. */
void qp_weights_name(const char *name, qp_buffer *text);

/* A walk over the values of a tensor or a parameter in C order, as binary32. It holds one chunk of
 * them. */
typedef struct qp_weights_walk {
    /* private */
    qp_artifact *artifact;
    const qp_artifact_tensor *tensor;
    const qp_parameter *parameter; /* NULL: of a tensor */
    qp_weight_source_reader reader;
    bool by_rows; /* of a tensor; false: scalar elements, which need no rows */
    qp_matrix matrix;
    uint64_t total, at; /* rows, or elements */
    uint64_t chunk;
    float *values;
    size_t n_values;
    uint8_t *bytes; /* a chunk's, where a file is not mapped */
    size_t n_bytes;
} qp_weights_walk;

/* QP_INVALID_ARGUMENT for a tensor whose type has no numbers here. Ownership:
 * qp_weights_walk_close, after a failure too. */
qp_status qp_weights_walk_open(qp_weights_walk *walk, qp_artifact *artifact,
                               const qp_artifact_tensor *tensor, qp_error *error);
/* The same for a parameter: what several tensors may keep together. */
qp_status qp_weights_walk_parameter(qp_weights_walk *walk, const qp_weight_source *source,
                                    const qp_parameter *parameter, qp_error *error);
/* The next values, until the next call; *count is 0 at the end. */
qp_status qp_weights_walk_next(qp_weights_walk *walk, const float **values, size_t *count,
                               qp_error *error);
void qp_weights_walk_close(qp_weights_walk *walk);

/* The words of rows `first` to `first + count` of a tensor of a format. `room` has room for them.
 */
qp_status qp_weights_words(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                           const qp_matrix *matrix, uint64_t first, uint64_t count,
                           const qp_word_planes *words, qp_error *error);

#endif
