/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/lower.h - parameter sets: the registry of capabilities (integer-operators.md section 11)
 * and the lowerings of existing network forms to WHG1 graphs (section 13).
 *
 * The way through: the files of a set are given to qp_lower, which writes each network's canonical
 * graph, loads and certifies the graphs, and refuses a set that is weaker than its capability
 * declares. The certificate then makes sessions (quipu/run.h). docs/lowering.md says what files
 * each form has.
 */
#ifndef QUIPU_LOWER_H
#define QUIPU_LOWER_H

#include "quipu/certify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the registry (section 11) ------------------------------------------------------------ */

/* One capability of registry/capabilities.json. The strings last as long as the program. */
typedef struct qp_capability {
    const char *name;         /* "wai.neural.int_hyper" */
    const char *class_name;   /* "NeuralIntegerExact" or "NeuralEntropyExact" */
    const char *operator_set; /* "wai-ops/1" */

    /* The graphs: NULL and 0 for a capability that runs stage operators alone. */
    const char *lowering; /* of section 13, or "whg1" */
    const char *subset;   /* "full" or "npu" */
    qp_profile profile;   /* every conforming set meets it; read only where `lowering` is set */
    const qp_role_profile *role_profiles;
    size_t n_role_profiles;

    /* The modes of the stage operators (section 5E); NULL where the capability uses none. */
    const char *rans64_table, *rans64_escape, *rans64_end;
    const char *bucket;
} qp_capability;

/* The capability of a name, or NULL. */
QP_API const qp_capability *qp_capability_find(const char *name);

/* The capability of an index in the registry's order, or NULL past its end. */
QP_API const qp_capability *qp_capability_at(size_t index);

/* ---- pins --------------------------------------------------------------------------------- */

/* What a sender says of the set that a payload needs. */
typedef struct qp_pin {
    char capability[256];
    char sha256[65];        /* of the set: 64 digits and a NUL */
    int has_ops_profile;    /* whether it claims a profile */
    qp_profile ops_profile; /* the claim */
    char tier[64];          /* "" without one */
} qp_pin;

/* Reads a pin: canonical JSON (section 8.5) of the members capability, sha256 and, optionally,
 * ops_profile and tier. QP_MODEL_MISMATCH for anything else; *pin is then unchanged. */
QP_API qp_status qp_pin_read(const void *bytes, size_t size, const qp_allocator *allocator,
                             qp_pin *pin, qp_error *error);

/* ---- lowering a set (section 13) ---------------------------------------------------------- */

/* A file of a set: its path below the set, '/' between its parts, and its bytes, which are not NULL
 * even where there are none. */
typedef struct qp_member {
    const char *path;
    const void *bytes;
    size_t size;
} qp_member;

/* The paths of the files that a capability's sets are made of, in the order of their index, NULL
 * past the last one; with `capability` NULL those of every form, some of them more than once. A set
 * that carries graphs ("whg1") has a file ROLE.whg1 for each, and no path here. */
QP_API const char *qp_set_path(const char *capability, size_t index);

/* What is asked of qp_lower; zero-initialise it for the usual way. */
typedef struct qp_lower_options {
    /* NULL: told by the members' names, or, for a single file, by how it begins. */
    const char *capability;
    /* NULL, or what the sender said: a set that is not the pinned one, or weaker, is refused. */
    const qp_pin *pin;
    /* 1: lower and certify only; whether the set is strong enough is left to qp_lowered_require. */
    int any_verdict;
} qp_lower_options;

typedef struct qp_lowered qp_lowered;

/*
 * Lowers a set to its graphs, loads and certifies them, and makes the checks of section 8.6.
 *
 * A set of one file is that file under any path. In a set of several, members that the form does
 * not read are ignored and no part of its identity. The members' bytes are borrowed and must stay
 * unchanged until qp_lowered_free; their paths are copied.
 *
 * Memory is proportional to the bytes of the members, whatever they declare. QP_OK with the set in
 * *set; otherwise *set is NULL and the code QP_PAYLOAD_MALFORMED for `wai.neural.int_synth` and
 * QP_MODEL_MISMATCH for every other form (QP_TOO_LARGE for a size past a cap in a set that carries
 * graphs), with file, layer and byte, or line and column, in the message; or QP_NO_MEMORY.
 * Ownership: qp_lowered_free.
 */
QP_API qp_status qp_lower(const qp_member *members, size_t n_members,
                          const qp_lower_options *options, const qp_allocator *allocator,
                          qp_lowered **set, qp_error *error);

/* Frees a set; NULL is allowed. Sessions made with its certificate must be freed first. */
QP_API void qp_lowered_free(qp_lowered *set);

/* The checks alone: the profile, the roles' own profiles and the subset of the capability, and what
 * the pin, where it is not NULL, says. */
QP_API qp_status qp_lowered_require(const qp_lowered *set, const qp_pin *pin, qp_error *error);

/* One graph of a set. Everything belongs to the set. */
typedef struct qp_lowered_role {
    const char *name;
    const void *bytes; /* its WHG1 form */
    size_t size;
    const qp_graph *graph;
} qp_lowered_role;

/* The graphs in the order of the lowering's roles: the index is the certificate's too. */
QP_API size_t qp_lowered_count(const qp_lowered *set);
QP_API qp_lowered_role qp_lowered_at(const qp_lowered *set, size_t index);

/* The certificate of the set; it belongs to the set. */
QP_API const qp_certificate *qp_lowered_certificate(const qp_lowered *set);

/* The capability, or NULL for a set of none; the lowering's name. */
QP_API const qp_capability *qp_lowered_capability(const qp_lowered *set);
QP_API const char *qp_lowered_lowering(const qp_lowered *set);

/* The set's digest, 64 digits: the SHA-256 of its one file, or of the listing of its members. NULL
 * where a graph came in a payload and there is no set. */
QP_API const char *qp_lowered_sha256(const qp_lowered *set);

#ifdef __cplusplus
}
#endif

#endif
