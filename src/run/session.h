/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a session's memory: what is fixed by the certificate, the plan, and carried state. */
#ifndef QP_RUN_SESSION_H
#define QP_RUN_SESSION_H

#include "kernel/kernel.h"
#include "quipu/run.h"

/* Tensors start at multiples of this in the plan's memory: a cache line, and any vector. */
#define QP_TENSOR_ALIGNMENT 64

/* What the certificate fixes of a tensor, and where the plan puts it. */
typedef struct qp_slot {
    qp_output output;  /* storage type, policy and range; shape and data from the plan */
    uint32_t last_use; /* the last operator that reads it; UINT32_MAX to keep it to the end */
    size_t offset, bytes;
    uint32_t next_free; /* while its memory waits to be used again */
} qp_slot;

/* What a state input carries (section 10.3), in the storage type of the output that feeds it. */
typedef struct qp_state {
    bool carried; /* a decode of the sequence has completed */
    qp_tensor tensor;
    size_t capacity; /* bytes of tensor.data */
} qp_state;

struct qp_session {
    qp_allocator allocator;
    qp_arena arena; /* the arrays below */
    const qp_graph *graph;
    const qp_graph_bounds *bounds;
    bool keep_tensors;

    qp_slot *slots;            /* [n_tensors] */
    qp_state *states;          /* [n_inputs]; used for state inputs */
    bool *narrow_product;      /* [n_nodes]: every rq.p fits i64 */
    const qp_kernel **kernels; /* [n_nodes]: NULL for the reference evaluation */
    qp_observer *observer;

    /* the plan: made for these input shapes and, where shapes read them, scalars */
    bool planned;
    bool scalars_shape;       /* some operator's shape reads a scalar */
    qp_shape *input_shapes;   /* [n_inputs] */
    int64_t *planned_scalars; /* [n_scalars] */
    uint8_t *memory;          /* as allocated */
    size_t memory_size, memory_used;
    size_t scratch_offset;

    bool completed; /* the last decode was not refused */
};

/* The shape of an input against its tensor record and the caps (section 4, run step 1). */
qp_status qp_session_check_shape(const qp_graph *graph, uint32_t index, const qp_shape *shape,
                                 qp_error *error);

/* The run-time plan (section 4, run step 3): shapes of every tensor, then their places in memory.
 */
qp_status qp_session_plan(qp_session *session, const int64_t *scalars, qp_error *error);

/* The kernel that runs a node on the planned sizes; NULL for the reference evaluation. */
const qp_kernel *qp_session_kernel(const qp_session *session, uint32_t index);

/* The start of the plan's memory, aligned. */
uint8_t *qp_session_base(const qp_session *session);

/* Shows every intermediate of later decodes to `observer` (instrumented builds only). */
void qp_session_observe(qp_session *session, qp_observer *observer);

#endif
