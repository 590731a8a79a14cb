/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/run.h - sessions: running a certified graph (integer-operators.md sections 4 and 10.3).
 */
#ifndef QUIPU_RUN_H
#define QUIPU_RUN_H

#include "quipu/certify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The integer types that elements may have in memory, in the machine's own byte order. */
typedef enum qp_type {
    QP_INT8,
    QP_UINT8,
    QP_INT16,
    QP_UINT16,
    QP_INT32,
    QP_UINT32,
    QP_INT64
} qp_type;

/* Bytes of one element. */
QP_API unsigned qp_type_size(qp_type type);

/* A tensor [channels, height, width] in memory: element (c, y, x) stands at (c·height + y)·width +
 * x, and `data` is aligned for its type. */
typedef struct qp_array {
    const void *data;
    qp_type type;
    uint32_t channels, height, width;
} qp_array;

/* channels·height·width; an array of a session holds at most 2^26 elements. */
QP_API uint64_t qp_array_elements(const qp_array *array);

/* Widens elements start .. start + count of an array to int64. */
QP_API void qp_array_read(const qp_array *array, size_t start, size_t count, int64_t *values);

typedef struct qp_session qp_session;

/* Zero-initialised options ask for QP_ACC32, the stronger profile: set the profile. */
typedef struct qp_session_options {
    size_t graph;       /* which graph of the certificate's set; 0 for qp_certify */
    qp_profile profile; /* the profile to hold it to; QP_ACC64 admits both */
    int keep_tensors;   /* 1 keeps every tensor after a decode, for qp_session_tensor */
    int reference;      /* 1 runs every operator by its reference evaluation, never a kernel: the
                           integers are the same, only slower */
} qp_session_options;

/*
 * Makes a session for one graph of a certificate; `options` may be NULL for graph 0 under
 * QP_ACC64. QP_MODEL_MISMATCH where the graph's verdict does
 * not meet the profile (section 8.6). The certificate and its graph must outlive the session; any
 * number of sessions may share them. Ownership: qp_session_free.
 */
QP_API qp_status qp_session_create(const qp_certificate *certificate,
                                   const qp_session_options *options, const qp_allocator *allocator,
                                   qp_session **session, qp_error *error);

/* Frees a session; NULL is allowed. */
QP_API void qp_session_free(qp_session *session);

/*
 * One decode. `inputs` are the graph's data inputs in the order of its input table (a state input
 * is carried by the session), `scalars` its scalars in table order.
 *
 * The refusals are section 4's, in its order: the inputs (QP_MODEL_MISMATCH, QP_TOO_LARGE), the
 * scalars (QP_FIELD_RANGE), the run-time plan (QP_TOO_LARGE, QP_GEOMETRY_MISMATCH), evaluation
 * (QP_FIELD_RANGE). A refused decode has no outputs and changes no state. A wrong count of inputs
 * or scalars is QP_INVALID_ARGUMENT.
 *
 * The session plans once for the sizes it is given and keeps the plan and its memory: a decode of
 * the same sizes allocates, plans and certifies nothing.
 */
QP_API qp_status qp_session_decode(qp_session *session, const qp_array *inputs, size_t n_inputs,
                                   const int64_t *scalars, size_t n_scalars, qp_error *error);

/* Output `index` of the last decode, in the narrowest type that holds its certified interval. The
 * data belong to the session and stay until its next decode. QP_INVALID_ARGUMENT where the last
 * decode was refused or none was made. */
QP_API qp_status qp_session_output(const qp_session *session, uint32_t index, qp_array *array);

/* The same for any tensor of the graph, in a session made with keep_tensors. */
QP_API qp_status qp_session_tensor(const qp_session *session, uint32_t tensor, qp_array *array);

/* Starts a new sequence: every state is its `init` again (section 10.3). */
QP_API void qp_session_reset(qp_session *session);

/* Bytes of the memory that the session's plan uses for tensors and scratch. */
QP_API size_t qp_session_memory(const qp_session *session);

#ifdef __cplusplus
}
#endif

#endif
