/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus.h - how the reference vectors are stated (integer-operators.md section 14).
 *
 * A corpus file is a run of cases. A case is a graph, built call by call, and its decodes; what
 * they give is computed by the library when the next case begins. The author of a case says what
 * he knows beforehand (`want`), and the generator stops where the library gives anything else.
 *
 *     qp_case(c, QP_WANT_ACC32, "halves");
 *     qp_case_input(c, 1, -100, 100);                     tensor 0, policy check
 *     qp_case_tensor(c, 1);                               tensor 1, derived
 *     qp_case_operator(c, "leaky", "0 > 1");
 *     qp_case_i64(c, 1);                                  its parameters, field by field
 *     qp_case_u32(c, 1);
 *     qp_case_output(c, 1);
 *     qp_case_decode(c, QP_OK);
 *     qp_case_give(c, 1, 1, QP_LIST(-1, 0, 1));           one channel, one row
 *
 * A new operator gets vectors by a file in corpus/ and a row in corpus.c's table.
 */
#ifndef QP_CONFORM_CORPUS_H
#define QP_CONFORM_CORPUS_H

#include "op/op.h"

typedef struct qp_corpus qp_corpus;

/* Some integers, and how many. */
typedef struct qp_list {
    const int64_t *values;
    size_t count;
} qp_list;

#define QP_LIST(...)                                                                               \
    ((qp_list){(const int64_t[]){__VA_ARGS__},                                                     \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

/* 2^k for k up to 62. */
#define QP_P(k) ((int64_t)1 << (k))

/* What the author of a case knows of its load. */
typedef enum qp_want {
    QP_WANT_LOADED, /* it loads; the profiles are for the library to say */
    QP_WANT_ACC32,  /* it meets both profiles */
    QP_WANT_ACC64,  /* it meets acc64 and not acc32 */
    QP_WANT_MISMATCH,
    QP_WANT_TOO_LARGE
} qp_want;

/* ---- a case ------------------------------------------------------------------------------- */

/* Begins a case; its id is printable ASCII and unique in the file. */
void qp_case(qp_corpus *c, qp_want want, const char *format, ...) QP_PRINTF(3, 4);

/* Gives the case's graph as bytes, in place of every call that builds one. */
void qp_case_whole(qp_corpus *c, const void *bytes, size_t size);

/* Adds a tensor record and an input record of kind data with the policy check; returns the tensor.
 * Its size is not declared. */
uint32_t qp_case_input(qp_corpus *c, uint32_t channels, int64_t lo, int64_t hi);
/* The same for a state input, fed by output `src` and beginning as `init`. */
uint32_t qp_case_state(qp_corpus *c, uint32_t channels, qp_range range, uint32_t src, int64_t init);
/* Declares the largest size of every input given so far. */
void qp_case_declare(qp_corpus *c, uint32_t height, uint32_t width);
/* Adds a derived tensor. */
uint32_t qp_case_tensor(qp_corpus *c, uint32_t channels);
void qp_case_policy(qp_corpus *c, uint32_t tensor, qp_policy policy, int64_t lo, int64_t hi);
void qp_case_exponent(qp_corpus *c, uint32_t tensor, int exponent);
uint32_t qp_case_scalar(qp_corpus *c, int64_t lo, int64_t hi);
void qp_case_output(qp_corpus *c, uint32_t tensor);
/* The cap on every tensor; 4096 where it is not set. */
void qp_case_max_elems(qp_corpus *c, uint32_t max_elems);

/* Adds an operator; `wires` are its tensors, "0 1 > 2". Its parameters follow. */
void qp_case_operator(qp_corpus *c, const char *name, const char *wires);
void qp_case_u8(qp_corpus *c, unsigned value);
void qp_case_u32(qp_corpus *c, uint32_t value);
void qp_case_i64(qp_corpus *c, int64_t value);
void qp_case_u64(qp_corpus *c, uint64_t value);
void qp_case_zeros(qp_corpus *c, unsigned count);
void qp_case_integers(qp_corpus *c, unsigned width, qp_list values);
/* The narrowest of 1, 2, 4 and 8 bytes, and at least `least`, that holds every value. */
unsigned qp_case_width(qp_list values, unsigned least);

/* A requantisation block (10.4): an empty list is an absent multiplier, a shift of 0 or no bias.
 * One value stands for every channel; more are one a channel. */
typedef struct qp_case_rq {
    qp_round round;
    qp_bias_place place;
    qp_list mult, shift, bias;
    bool per_channel; /* writes single values as lists of one channel */
    bool wide;        /* writes every integer in 8 bytes */
} qp_case_rq;
void qp_case_rq_block(qp_corpus *c, const qp_case_rq *rq);

/* Changes the graph's bytes after they are made: `width` bytes at `offset` (from the end where it
 * is negative) become `value`. */
void qp_case_patch(qp_corpus *c, int64_t offset, unsigned width, uint64_t value);
/* Cuts bytes off the graph's end (a negative count), or appends zeros. */
void qp_case_resize(qp_corpus *c, int64_t more);
/* Cuts the graph to its first `size` bytes. */
void qp_case_truncate(qp_corpus *c, size_t size);
/* Offsets of records in the bytes: of a table's record, of an operator's record and parameters. */
int64_t qp_case_at(const qp_corpus *c, qp_table table, uint32_t record);

/* ---- decodes ------------------------------------------------------------------------------ */

/* Begins a decode that gives outputs (QP_OK) or is refused with a code. */
void qp_case_decode(qp_corpus *c, qp_status want);
/* Supplies the next data input, `channels` by `height`; the width follows from the values. */
void qp_case_give(qp_corpus *c, uint32_t channels, uint32_t height, qp_list values);
/* The same with every dimension said; values are repeated to fill it. */
void qp_case_give_shape(qp_corpus *c, qp_shape shape, qp_list values);
/* Supplies random values of the input's own range. */
void qp_case_give_random(qp_corpus *c, uint32_t height, uint32_t width);
void qp_case_give_scalar(qp_corpus *c, int64_t value);

/* Supplies to data input 0, which is one row of one channel. */
#define QP_ROW(c, ...) qp_case_give(c, 1, 1, QP_LIST(__VA_ARGS__))

/* ---- random numbers ----------------------------------------------------------------------- */

/* Each case has its own sequence, seeded by its file's name and its id. One expression draws once
 * at most: C leaves open which of two arguments or initialisers is evaluated first. */
int64_t qp_case_random(qp_corpus *c, int64_t lo, int64_t hi);
/* A range whose ends lie in two ranges. */
qp_range qp_case_random_range(qp_corpus *c, qp_range low, qp_range high);
/* A rounding and a placement of the bias; the rest is empty. */
qp_case_rq qp_case_random_rq(qp_corpus *c);
qp_list qp_case_random_list(qp_corpus *c, int64_t *values, size_t count, qp_range range);

/* ---- cases that many operators share ------------------------------------------------------ */

/* One way of rounding a product t·mult with given values of t (section 14.1, item 2). */
typedef struct qp_rounding {
    const char *name; /* of the mode */
    qp_want want;
    qp_round round;
    unsigned shift;
    int64_t mult;   /* 0 for an absent multiplier */
    qp_range range; /* of t */
    qp_list values; /* of t */
} qp_rounding;

typedef void qp_rounding_fn(qp_corpus *c, const qp_rounding *rounding);
/* Every rounding, shift and tie; the second only those with an absent multiplier. */
void qp_corpus_roundings(qp_corpus *c, qp_rounding_fn *make);
void qp_corpus_plain_roundings(qp_corpus *c, qp_rounding_fn *make);

/* A range at the ends of i32 or i64 or one past an end (item 4), and what a graph meets that forms
 * exactly this interval in class `acc` or `tensor`. */
typedef struct qp_limit {
    const char *name;
    qp_want want;
    qp_range range;
} qp_limit;
#define QP_LIMIT_COUNT 5
extern const qp_limit qp_limits[QP_LIMIT_COUNT];

/* ---- the rows ----------------------------------------------------------------------------- */

/*
 * One file of the corpus. `base` builds a small graph of the operator and one decode with inputs
 * `height` by `width` units large; the generator makes of it the cases that every operator has:
 * sizes, policies at and past their ends, refused inputs, wrong lengths and counts. `cases` states
 * the operator's own.
 */
typedef struct qp_corpus_row {
    const char *name;
    void (*base)(qp_corpus *c, uint32_t height, uint32_t width);
    void (*cases)(qp_corpus *c);
    bool large; /* its graphs are large: only a few of the common cases */
} qp_corpus_row;

/* The cases of `row` that every operator has (common.c). */
void qp_corpus_common(qp_corpus *c, const qp_corpus_row *row);

/* ---- making a file ------------------------------------------------------------------------ */

typedef struct qp_corpus_output {
    qp_buffer *lines; /* of the file */
    qp_buffer *npu;   /* of npu.jsonl, or NULL */
} qp_corpus_output;

/* Writes the cases that `make` states as file `path` ("vectors/conv.jsonl"). QP_INTERNAL, with the
 * case's id, where a case does not give what its author wants. */
qp_status qp_corpus_write(const char *path, void (*make)(qp_corpus *c, const void *context),
                          const void *context, const qp_corpus_output *output,
                          const qp_allocator *allocator, qp_error *error);

/* The same as lines of certificates: decodes are ignored. */
qp_status qp_corpus_write_certificates(const char *path, void (*make)(qp_corpus *c),
                                       qp_buffer *lines, const qp_allocator *allocator,
                                       qp_error *error);

/* The least and the greatest element that output 0 of the case being built takes in its first
 * decode; false where it has none. */
bool qp_case_output_range(qp_corpus *c, qp_range *range);

/* What has been built so far, for the common cases. */
uint32_t qp_case_input_count(const qp_corpus *c);
uint32_t qp_case_input_tensor(const qp_corpus *c, uint32_t input);
/* Sets what the first decode is to give; drops every decode. */
void qp_case_first_want(qp_corpus *c, qp_status want);
void qp_case_forget_decodes(qp_corpus *c);
uint32_t qp_case_output_tensor(const qp_corpus *c, uint32_t output);
qp_range qp_case_tensor_range(const qp_corpus *c, uint32_t tensor);
/* Repeats the first decode, with element 0 of data input `input` replaced. */
void qp_case_decode_with(qp_corpus *c, qp_status want, uint32_t input, int64_t value);
/* Repeats it with data input `input` of another shape, every element the lowest of its range. */
void qp_case_decode_shape(qp_corpus *c, qp_status want, uint32_t input, qp_shape shape);
/* The shape that the first decode gives to data input `input`. */
qp_shape qp_case_given_shape(const qp_corpus *c, uint32_t input);
/* Declares as each input's size what the first decode gives. */
void qp_case_declare_given(qp_corpus *c);
/* The record of the case's last operator in the table, and the bytes of its parameters. */
const qp_operator *qp_case_last_operator(const qp_corpus *c);
size_t qp_case_params_size(const qp_corpus *c);

#endif
