/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower.h - the parts of a lowering (integer-operators.md section 13): the job at hand, its
 * refusals, and the graphs that it gives.
 */
#ifndef QP_LOWER_LOWER_H
#define QP_LOWER_LOWER_H

#include "graph/graph.h"
#include "quipu/lower.h"

/* ---- a lowered set ------------------------------------------------------------------------ */

/* One graph of it: bytes that the set owns, or those of a member of it. */
typedef struct qp_lower_role {
    const char *name;
    qp_buffer made; /* empty where `bytes` belong to a member */
    const uint8_t *bytes;
    size_t size;
    qp_graph *graph;
} qp_lower_role;

struct qp_lowered {
    qp_arena arena; /* names and tables */
    const qp_capability *capability;
    const char *lowering;
    qp_lower_role *roles;
    size_t n_roles;
    char sha256[QP_SHA256_HEX_SIZE];
    bool has_sha256;
    qp_certificate *certificate;
};

/* ---- a job -------------------------------------------------------------------------------- */

/* What a lowering reads and where it is in it, so that each refusal can say its place. */
typedef struct qp_lower_job {
    const qp_allocator *allocator;
    qp_lowered *set; /* roles are appended to it */
    const qp_member *members;
    size_t n_members;
    bool one_file;     /* the form is one file, under any path */
    bool has_graphs;   /* the members are graphs: a size past a cap keeps its own code */
    qp_status refusal; /* the code of this form's refusals */
    const char *file;  /* the member being read, or NULL */
    const char *part;  /* a network within it, or NULL */
    int64_t layer;     /* of the network, or -1 */
    qp_error *error;
} qp_lower_job;

/* Refuses with the form's code: "FILE: PART: layer 3: " and the text; `offset` is the byte of the
 * member, or -1. Returns the code. */
qp_status qp_lower_refuse(const qp_lower_job *job, int64_t offset, const char *format, ...)
    QP_PRINTF(3, 4);

/* Gives a failure of the library below the form's code and its place: a file that does not parse, a
 * graph that does not load. What is no refusal (memory, I/O, a fault) stays as it is. */
qp_status qp_lower_recode(const qp_lower_job *job, qp_status status);

/* Takes the byte and the record off an error in bytes that were made and nobody has seen: the
 * operator still says where it is. */
void qp_lower_forget_place(qp_error *error);

/* The member of a path; a set without it is refused. Sets the job's file. */
qp_status qp_lower_member(qp_lower_job *job, const char *path, const qp_member **member);

/* Loads the graph of a role from its bytes and appends it to the set. */
qp_status qp_lower_add(qp_lower_job *job, const char *name, const uint8_t *bytes, size_t size);
/* The same for bytes that were made: the set takes them, in failure too. */
qp_status qp_lower_add_made(qp_lower_job *job, const char *name, qp_buffer *made);

/* ---- forms -------------------------------------------------------------------------------- */

/* The most roles of any form but whg1, which has one a member. */
#define QP_LOWER_ROLES_MAX 6

typedef qp_status qp_lower_fn(qp_lower_job *job);

qp_lower_fn qp_lower_int_synth;  /* section 13.1 */
qp_lower_fn qp_lower_int_hyper;  /* section 13.2: h_s and g_s */
qp_lower_fn qp_lower_splat;      /* section 13.2: g_s */
qp_lower_fn qp_lower_audio;      /* section 13.3 */
qp_lower_fn qp_lower_wmb1;       /* section 13.4 */
qp_lower_fn qp_lower_wcb1;       /* section 13.4a */
qp_lower_fn qp_lower_world;      /* section 13.5 */
qp_lower_fn qp_lower_jpegai;     /* section 13.6 */
qp_lower_fn qp_lower_sr2;        /* section 13.7 */
qp_lower_fn qp_lower_correction; /* the graph of a WCP1 payload */
qp_lower_fn qp_lower_graphs;     /* sets that carry graphs */

#endif
