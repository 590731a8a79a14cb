/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_line.h - the vectors of stage operators (integer-operators.md section 14.1): what one line
 * states, run by this library.
 */
#ifndef QP_CONFORM_STAGE_LINE_H
#define QP_CONFORM_STAGE_LINE_H

#include "conform/line.h"

/* What a line states of its operator, and where what it gives is written. */
typedef struct qp_stage_line {
    qp_arena *arena;
    qp_json_value in, modes;
    size_t most; /* elements of an output: a line that expects more would be longer than it is */
    qp_buffer *expect; /* canonical JSON */
} qp_stage_line;

/*
 * Appends to line->expect what operator `op` gives: the object of its outputs, or that of the
 * refusal and its index. QP_MALFORMED where the line is not of the operator's form, and for an
 * output of more elements than `most`; QP_NO_MEMORY.
 */
qp_status qp_stage_line_run(qp_stage_line *line, qp_json_value op, qp_error *error);

/* Runs a whole line, "expect" to "op", and compares: QP_MALFORMED, with the sentence, where it
 * differs. `name` is the operator that the line must state, or NULL. */
qp_status qp_stage_line_check(qp_json_value root, const char *name, const qp_allocator *allocator,
                              qp_error *error);

/* ---- for the operators' files ------------------------------------------------------------- */

/* One operator: QP_OK with its outputs appended, a refusal with its place, or QP_MALFORMED. */
typedef qp_status qp_stage_runner(qp_stage_line *line, qp_error *error);

qp_stage_runner qp_stage_run_rans64_decode, qp_stage_run_mans_decode, qp_stage_run_dequantize,
    qp_stage_run_bucket, qp_stage_run_coded, qp_stage_run_scale_index, qp_stage_run_block_stat,
    qp_stage_run_band_lookup, qp_stage_run_residual_step, qp_stage_run_mc_predict,
    qp_stage_run_up2_predict, qp_stage_run_rate_predict, qp_stage_run_coding_order;

/* A tensor of a line: its elements are as many as its shape says, and each dimension is at least 1
 * and at most 2^26. */
typedef struct qp_stage_tensor {
    qp_integer_list data;
    uint32_t channels, height, width;
} qp_stage_tensor;

/* An integer; one beyond 64 bits is the nearest that is not, which every condition refuses alike.
 */
qp_status qp_stage_integer(qp_json_value value, int64_t *integer, qp_error *error);
/* The same for `count` members of `in` with these names, in this order, and no other. */
qp_status qp_stage_integers(const qp_stage_line *line, const char *const *names, size_t count,
                            int64_t *integers, qp_error *error);
/* An integer from `lo` to `hi`: QP_MALFORMED for another, which no vector states. */
qp_status qp_stage_bounded(qp_json_value value, int64_t lo, int64_t hi, int64_t *integer,
                           qp_error *error);
qp_status qp_stage_list(qp_stage_line *line, qp_json_value value, qp_integer_list *list,
                        qp_error *error);
/* An array of arrays of integers. */
qp_status qp_stage_lists(qp_stage_line *line, qp_json_value value, const qp_integer_list **lists,
                         size_t *count, qp_error *error);
/* A list of indices; one that does not fit is UINT32_MAX, which nothing has. */
qp_status qp_stage_indices(qp_stage_line *line, qp_json_value value, const uint32_t **indices,
                           size_t *count, qp_error *error);
qp_status qp_stage_tensor_of(qp_stage_line *line, qp_json_value value, qp_stage_tensor *tensor,
                             qp_error *error);
/* Which of `count` words a string is. */
qp_status qp_stage_word(qp_json_value value, const char *const *words, size_t count,
                        unsigned *index, qp_error *error);
qp_status qp_stage_bytes(qp_stage_line *line, qp_json_value value, const uint8_t **bytes,
                         size_t *size, qp_error *error);
/* QP_MALFORMED where an output has more elements than the line allows. */
qp_status qp_stage_room(const qp_stage_line *line, uint64_t elements, qp_error *error);

/* Appends {"name":"value"}; an array of integers; {"out":{"data":[...],"shape":[c,h,w]}}. */
void qp_stage_put_value(qp_stage_line *line, const char *name, int64_t value);
void qp_stage_put_list(qp_buffer *buffer, const int64_t *values, size_t count);
void qp_stage_put_tensor(qp_stage_line *line, const int64_t *values, const uint32_t shape[3]);

#endif
