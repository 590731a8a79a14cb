/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric_trace.h - what one sees of a run: a line a cycle, a VCD file, a pipeline diagram; all
 * from one stream of events.
 */
#ifndef QP_CLI_FABRIC_TRACE_H
#define QP_CLI_FABRIC_TRACE_H

#include "cli/fabric.h"
#include "fabric/simulate.h"

typedef struct qp_cli_traces {
    /* private */
    const qp_cli_part_options *options;
    qp_arena arena;
    qp_fabric_sealed sealed;
    qp_fabric_verified verified;
    qp_fabric_observer observers[3];
    size_t count;
    qp_fabric_observer all; /* hands each event to the observers */
    qp_fabric_vcd *vcd;
    qp_fabric_pipeline *pipeline;
    qp_buffer vcd_text;
    /* what is watched: the lines, and of the cycle so far what fired and what left by outputs */
    qp_buffer watched, fired, left;
    char offered[80]; /* the payload last offered; a long one keeps its start */
    uint64_t cycle;
} qp_cli_traces;

/* The traces that the options ask for. `traces` stays where it is until it is closed. */
qp_status qp_cli_traces_open(qp_cli_traces *traces, const qp_fabric_model *model, const char *map,
                             const qp_cli_part_options *options, qp_fabric_error *error);
/* The observer for the run; NULL where nothing is asked for. */
const qp_fabric_observer *qp_cli_traces_observer(const qp_cli_traces *traces);
/* Ends the traces, also after a failed open or run (`status`): writes the files, and appends what
 * was watched to `text`. Returns `status`, or why a file could not be written. */
qp_status qp_cli_traces_close(qp_cli_traces *traces, qp_status status,
                              const qp_fabric_run_counts *counts, qp_buffer *text,
                              qp_fabric_error *error);

#endif
