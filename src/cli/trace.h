/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - traces: every tensor of every decode of a run, as JSON Lines (docs/tracing.md).
 */
#ifndef QP_CLI_TRACE_H
#define QP_CLI_TRACE_H

#include "base/json.h"
#include "quipu/run.h"

#define QP_TRACE_VERSION 1

/* ---- writing ------------------------------------------------------------------------------ */

/* What a trace is of. Everything must outlive the trace. */
typedef struct qp_trace_run {
    const qp_graph *graph;
    const int64_t *scalars;
    size_t decodes;
    bool colour; /* the decodes are the red, green and blue of a picture */
    bool keep;   /* keep each tensor's elements */
} qp_trace_run;

typedef struct qp_trace {
    qp_trace_run run;
    const char *path;
    qp_buffer lines;
    qp_buffer folder; /* "PATH.tensors", NUL-terminated, once it was made */
    size_t kept;      /* decodes whose tensors are in it, wholly or in part */
} qp_trace;

/* Begins a trace that will be written to `path`; with `keep`, makes the folder "PATH.tensors".
 * QP_IO where that is there already. Ownership: qp_trace_free, on failure too. */
qp_status qp_trace_start(qp_trace *trace, const qp_trace_run *run, const char *path,
                         qp_error *error);
/* Adds the last decode of a session made with keep_tensors. */
qp_status qp_trace_decode(qp_trace *trace, const qp_session *session, size_t decode,
                          qp_error *error);
/* Writes the file. */
qp_status qp_trace_write(const qp_trace *trace, qp_error *error);
/* Removes the tensors kept so far and their folder. */
void qp_trace_discard(qp_trace *trace);
void qp_trace_free(qp_trace *trace);

/* The name of the file that keeps a tensor of the trace `path`: appended to `name` with its NUL. */
void qp_trace_tensor_name(qp_buffer *name, const char *path, uint64_t decode, uint64_t tensor);

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct qp_trace_header {
    char graph[QP_SHA256_HEX_SIZE];
    qp_buffer scalars; /* as text: "3, -5" */
    uint64_t decodes, tensors;
    bool colour, keep;
} qp_trace_header;

enum { QP_TRACE_READS_MAX = 255 };

/* One tensor of one decode. */
typedef struct qp_trace_record {
    uint64_t decode, tensor;
    uint64_t shape[3];
    char sha256[QP_SHA256_HEX_SIZE];
    int64_t lo, hi;
    char policy[64]; /* "derived", "clamp 0..255" */
    bool is_input, is_state;
    uint64_t producer; /* index of the input or of the operator */
    /* of an operator */
    uint64_t output;
    char name[32], section[16];
    size_t n_reads;
    uint64_t reads[QP_TRACE_READS_MAX];
    char parameters[1024]; /* in short: "cout 64, k 5x5" */
    char parameters_sha256[QP_SHA256_HEX_SIZE];
    uint64_t parameter_bytes;
} qp_trace_record;

typedef struct qp_trace_reader {
    const char *path;
    qp_file file;
    qp_json json;
    size_t at;
    uint64_t line, records; /* read so far */
    qp_trace_header header;
} qp_trace_reader;

/* Opens a trace and reads its header. QP_MALFORMED with the line. Ownership: qp_trace_close, on
 * failure too. */
qp_status qp_trace_open(qp_trace_reader *reader, const char *path, qp_error *error);
void qp_trace_close(qp_trace_reader *reader);
/* The next record; *more is false behind the last, where every record the header promises was
 * there. */
qp_status qp_trace_next(qp_trace_reader *reader, qp_trace_record *record, bool *more,
                        qp_error *error);

#endif
