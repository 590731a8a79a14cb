/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_vectors.h - how the vectors of stage operators are stated (integer-operators.md section
 * 14.1). A case is an id, the text of "in" and of "modes", and what its author knows it gives; the
 * library computes "expect", and the generator stops where it is anything else.
 *
 *     qp_stage_case(c, QP_OK, 0, "halves");
 *     qp_stage_in(c, "{\"base\":\"%d\",\"f\":\"%d\",\"sym\":\"%d\"}", 0, 1, 3);
 */
#ifndef QP_CONFORM_STAGE_VECTORS_H
#define QP_CONFORM_STAGE_VECTORS_H

#include "conform/stage_line.h"

typedef struct qp_stage_corpus {
    const char *op; /* the operator of the file */
    qp_buffer *lines;
    qp_status status; /* the first failure; every later call does nothing */
    qp_error *error;

    /* the open case */
    bool open;
    char id[96];
    qp_status want;
    int64_t at; /* of a refusal */
    qp_buffer in, modes;
    uint64_t random;
} qp_stage_corpus;

/* A want for a case whose outcome is for the library to say. */
#define QP_STAGE_ANY QP_INTERNAL

/* Ends the open case and begins one that gives outputs (QP_OK), or is refused at `at`. */
void qp_stage_case(qp_stage_corpus *c, qp_status want, int64_t at, const char *format, ...)
    QP_PRINTF(4, 5);
/* Appends to the text of "in" and of "modes", which is {} where nothing is. */
void qp_stage_in(qp_stage_corpus *c, const char *format, ...) QP_PRINTF(2, 3);
void qp_stage_modes(qp_stage_corpus *c, const char *format, ...) QP_PRINTF(2, 3);
/* Appends to "in" "name": and an array of integers; bytes in hexadecimal. */
void qp_stage_in_list(qp_stage_corpus *c, const char *name, const int64_t *values, size_t count);
void qp_stage_in_bytes(qp_stage_corpus *c, const char *name, const uint8_t *bytes, size_t size);

/* A number of the case's own sequence, in [lo, hi]. */
int64_t qp_stage_random(qp_stage_corpus *c, int64_t lo, int64_t hi);

/* Notes that the corpus itself cannot be made. */
void qp_stage_fail(qp_stage_corpus *c, qp_status status, const char *what);

/* ---- the files ---------------------------------------------------------------------------- */

typedef void qp_stage_cases(qp_stage_corpus *c);

qp_stage_cases qp_stage_cases_rans64_decode, qp_stage_cases_mans_decode, qp_stage_cases_dequantize,
    qp_stage_cases_bucket, qp_stage_cases_coded, qp_stage_cases_scale_index,
    qp_stage_cases_block_stat, qp_stage_cases_band_lookup, qp_stage_cases_residual_step,
    qp_stage_cases_mc_predict, qp_stage_cases_up2_predict, qp_stage_cases_rate_predict,
    qp_stage_cases_coding_order;

#define QP_STAGE_OPERATORS 13

/* One file of stage/, in the byte order of the paths. */
typedef struct qp_stage_file {
    const char *path, *op;
    qp_stage_cases *cases;
} qp_stage_file;
extern const qp_stage_file qp_stage_files[QP_STAGE_OPERATORS];

/* Appends the lines of one file. QP_INTERNAL, with the case's id, where a case does not give what
 * its author wants. */
qp_status qp_stage_vectors(const qp_stage_file *file, qp_buffer *lines,
                           const qp_allocator *allocator, qp_error *error);

#endif
