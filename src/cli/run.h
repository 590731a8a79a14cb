/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the parts of `quipu run`: its options, the run itself, and what it reports. */
#ifndef QP_CLI_RUN_H
#define QP_CLI_RUN_H

#include "cli/cli.h"
#include "cli/tensors.h"
#include "cli/trace.h"

typedef struct qp_run_options {
    const char *graph;
    const char **inputs, **outputs, **scalars; /* each with room for every argument */
    size_t n_inputs, n_outputs, n_scalars;
    const char *trace;
    bool trace_tensors, sequence, digest, json, time;
    bool reference; /* no kernels */
    bool png;       /* an output whose name does not tell is PNG */
    qp_profile profile;
} qp_run_options;

typedef struct qp_run {
    qp_run_options options;
    const char **words; /* the options' lists */
    size_t n_words;

    qp_file file;
    qp_graph *graph;
    qp_graph_info info;
    qp_certificate *certificate;
    qp_session *session;

    qp_file_source *sources; /* of each data input */
    qp_array *arrays;
    uint32_t *source_inputs; /* its index in the input table */
    size_t n_sources;
    int64_t *scalars;
    qp_result *results; /* of each output */
    qp_buffer *encoded; /* of each output that is written */

    qp_result_layout layout;
    size_t decodes;
    uint64_t nanoseconds; /* of the decodes */
    bool tracing;
    qp_trace trace;
    qp_error error;
} qp_run;

/* Each returns an exit code; what is wrong was then said on standard error. */

/* Reads the command line. Ownership: run->words, of run->n_words, on failure too. */
int qp_run_read_options(qp_run *run, int argc, char **argv);
/* Checks the counts against the graph, and sets run->scalars. */
int qp_run_check_options(qp_run *run);
/* Whether output `index` goes to a PNG file. */
bool qp_run_is_png(const qp_run *run, size_t index);

/* Prints digests, JSON and times, as the options ask. */
int qp_run_report(qp_run *run);

#endif
