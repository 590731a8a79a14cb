/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform.h - running conformance vectors (integer-operators.md section 14): one line, one file,
 * and the lines of npu.jsonl. Nothing here opens files or prints.
 *
 * A line must be canonical JSON (section 8.5) with exactly the members of section 14.1, so that a
 * line has one spelling. Memory is bounded by the line's bytes until the refusals of section 4 that
 * read no value have passed; after them it is what the decode itself needs.
 */
#ifndef QP_CONFORM_CONFORM_H
#define QP_CONFORM_CONFORM_H

#include "base/json.h"
#include "quipu/quipu.h"

typedef enum qp_conform_form {
    QP_CONFORM_VECTOR,      /* of vectors/ and graphs/: sections 14.1 and 14.2 */
    QP_CONFORM_CERTIFICATE, /* of certificates/whg1.jsonl: "certificate", "graph", "id" */
    QP_CONFORM_STAGE        /* of stage/: section 14.1 */
} qp_conform_form;

/* What is asked of the lines. All zero: every vector is run, whatever its graph. */
typedef struct qp_conform_rules {
    qp_conform_form form;
    bool one_profile; /* decodes only the vectors tagged with `profile`, under it */
    qp_profile profile;
    const char *operator_name; /* the one operator that every line is of (14.1); NULL for any, and
                                  then a line of form VECTOR may be a stage operator's too */
    uint32_t max_elements;     /* passes over graphs with a larger max_elems; 0 for no limit */
} qp_conform_rules;

typedef enum qp_conform_outcome {
    QP_CONFORM_PASSED,
    QP_CONFORM_FAILED,
    QP_CONFORM_PASSED_OVER /* the rules do not ask for its decodes */
} qp_conform_outcome;

typedef struct qp_conform_result {
    qp_conform_outcome outcome;
    const char *id; /* in the line, as it stands between its quotes; NULL where it cannot be read */
    size_t id_size;
    const char *npu; /* of a vector whose graph loads: the end of its line of npu.jsonl */
    size_t npu_size; /* (14.5), from "npu": to the brace. Stays until the next line */
    char what[sizeof((qp_error *)0)->message]; /* what differs, in words; "" where nothing does */
} qp_conform_result;

/* What reads lines: it keeps its memory from line to line. */
typedef struct qp_conform {
    qp_allocator allocator;
    qp_json json;
    qp_buffer graph;   /* the line's graph */
    qp_buffer values;  /* the elements of a decode's inputs, int64 */
    qp_buffer verdict; /* what result.npu points to */
} qp_conform;

void qp_conform_init(qp_conform *conform, const qp_allocator *allocator);
void qp_conform_free(qp_conform *conform);

/* A line without its line feed, and its place in the file, from 1. */
typedef struct qp_conform_text {
    const char *line;
    size_t size;
    uint64_t number;
} qp_conform_text;

/* Reads and runs one line. QP_OK with the outcome in *result, whatever the line holds;
 * QP_NO_MEMORY, or QP_INTERNAL for a fault of the library. */
qp_status qp_conform_line(qp_conform *conform, const qp_conform_rules *rules,
                          const qp_conform_text *text, qp_conform_result *result, qp_error *error);

/* ---- files -------------------------------------------------------------------------------- */

/* One line that differs. `id` may be NULL. */
typedef struct qp_conform_difference {
    const char *file;
    uint64_t line;
    const char *id;
    size_t id_size;
    const char *what;
} qp_conform_difference;

/* The run over several files: counts, and the lines that npu.jsonl must have. */
typedef struct qp_conform_run {
    qp_conform conform;
    uint64_t passed, failed, skipped;
    qp_buffer npu; /* lines, each with its line feed */
    void (*report)(void *context, const qp_conform_difference *difference);
    void *context;
} qp_conform_run;

void qp_conform_run_init(qp_conform_run *run, const qp_allocator *allocator);
void qp_conform_run_free(qp_conform_run *run);

/* Runs every line of a JSON Lines file, each of which must end with a line feed and have an id of
 * its own. `file` is the path that differences and npu.jsonl name. On an error its place is in the
 * message. */
qp_status qp_conform_file(qp_conform_run *run, const qp_conform_rules *rules, const char *file,
                          const void *bytes, size_t size, qp_error *error);

/* Compares the lines of npu.jsonl with those that the vectors run so far give. */
qp_status qp_conform_npu(qp_conform_run *run, const char *file, const void *bytes, size_t size,
                         qp_error *error);

/* Counts as skipped a file of a kind that is not run: its lines in JSON Lines, otherwise one. */
void qp_conform_skip(qp_conform_run *run, const char *file, const void *bytes, size_t size);

#endif
