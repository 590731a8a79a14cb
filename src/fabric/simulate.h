/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.h - a verified map run cycle by cycle (sections 9 and 12.1). The contracts of
 * capability.h say what each op claims and when it is released; transition.h says what it does.
 */
#ifndef QP_FABRIC_SIMULATE_H
#define QP_FABRIC_SIMULATE_H

#include "fabric/golden.h"
#include "fabric/mapping.h"
#include "fabric/transition.h"

typedef struct qp_fabric_simulation qp_fabric_simulation;

/* A run's script. The arrays outlive the simulation. */
typedef struct qp_fabric_script {
    const qp_fabric_stream *inputs; /* [graph input] */
    const qp_fabric_stall *stalls;  /* [input, then output]; NULL for none */
    const uint64_t *resets;
    size_t reset_count;
    const qp_fabric_observer *observer; /* NULL for none: the fast way */
} qp_fabric_script;

/* Compiles a verified map, which outlives the simulation. Unsupported where it binds two contexts
 * of one occurrence, or where an op cannot be evaluated. Ownership: qp_fabric_simulation_free. */
qp_status qp_fabric_simulation_make(const qp_fabric_verified *verified,
                                    const qp_fabric_script *script, const qp_allocator *allocator,
                                    qp_fabric_simulation **simulation, qp_fabric_error *error);
void qp_fabric_simulation_free(qp_fabric_simulation *simulation);

/* One cycle; *done where it was the last (section 12.1). Invalid with actor and cycle where a
 * result is not defined. */
qp_status qp_fabric_simulation_cycle(qp_fabric_simulation *simulation, bool *done,
                                     qp_fabric_error *error);

/* Cycles until the end or until `cycles` have passed in all. */
qp_status qp_fabric_simulation_run(qp_fabric_simulation *simulation, uint64_t cycles,
                                   qp_fabric_error *error);

/* What came out so far, one stream an output, the simulation's own; and the counts. */
const qp_fabric_stream *qp_fabric_simulation_outputs(const qp_fabric_simulation *simulation);
qp_fabric_run_counts qp_fabric_simulation_counts(const qp_fabric_simulation *simulation);

/* What an actor's op holds now, for tests and traces. */
typedef struct qp_fabric_holding {
    bool occupied;        /* its result slot; nothing else counts where it is not */
    uint32_t group;       /* the production group that it holds */
    uint32_t groups_left; /* those of its firing that come after it */
    /* The obligations that are met, result after result; for each its operands in the unit in file
     * order, the queues of other ports by realization and port, the graph's output. */
    const bool *delivered;
} qp_fabric_holding;
qp_fabric_holding qp_fabric_simulation_holding(const qp_fabric_simulation *simulation,
                                               uint32_t actor);
const qp_fabric_state *qp_fabric_simulation_state(const qp_fabric_simulation *simulation,
                                                  uint32_t actor);

/* Whether a handshake has a logical state that a firing changes. */
bool qp_fabric_has_state(qp_fabric_handshake_kind handshake);
/* A state as traces show it: "Initial", "Running(2,5,1)". */
void qp_fabric_put_state(qp_buffer *text, qp_fabric_handshake_kind handshake,
                         const qp_fabric_state *state);

/* ---- traces ------------------------------------------------------------------------------- */

/* An observer that writes a VCD file (opens in GTKWave) into a buffer: a signal a channel (valid,
 * ready, payload) and a state a stateful actor. Begin before the run, end after it. */
typedef struct qp_fabric_vcd qp_fabric_vcd;
qp_status qp_fabric_vcd_begin(const qp_fabric_verified *verified, const qp_allocator *allocator,
                              qp_buffer *buffer, qp_fabric_vcd **vcd, qp_fabric_observer *observer,
                              qp_fabric_error *error);
qp_status qp_fabric_vcd_end(qp_fabric_vcd *vcd, uint64_t cycles, qp_fabric_error *error);

/* An observer that draws a pipeline diagram as SVG: a row an actor, a column a cycle, at most
 * `cycles` of them and never more than 1000. The end frees it, also after a failed run; so does
 * qp_fabric_vcd_end. */
typedef struct qp_fabric_pipeline qp_fabric_pipeline;
qp_status qp_fabric_pipeline_begin(const qp_fabric_verified *verified, uint64_t cycles,
                                   const qp_allocator *allocator, qp_fabric_pipeline **pipeline,
                                   qp_fabric_observer *observer, qp_fabric_error *error);
qp_status qp_fabric_pipeline_end(qp_fabric_pipeline *pipeline, qp_buffer *buffer,
                                 qp_fabric_error *error);

#endif
