/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/certify.h - the bounds pass and the bounds certificate (integer-operators.md section 8):
 * which integers a graph can form, and which accumulator profile it therefore meets.
 */
#ifndef QUIPU_CERTIFY_H
#define QUIPU_CERTIFY_H

#include "quipu/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qp_certificate qp_certificate;

/* The accumulator profiles of section 7.2. A set that meets acc32 meets acc64 too. */
typedef enum qp_profile { QP_ACC32, QP_ACC64 } qp_profile;

/* "acc32" or "acc64". */
QP_API const char *qp_profile_name(qp_profile profile);

/*
 * Certifies one graph on its own: load step 8 of section 10.5. Its role in the certificate is
 * `graph`, its lowering `whg1`.
 *
 * A graph that meets no profile still gets a certificate, whose verdict says so. QP_MODEL_MISMATCH
 * where the pass itself refuses: a `check` range that holds no value its producer can give, or a
 * lut16 whose input passes its table. The graph must outlive the certificate. Ownership:
 * qp_certificate_free.
 */
QP_API qp_status qp_certify(const qp_graph *graph, const qp_allocator *allocator,
                            qp_certificate **certificate, qp_error *error);

/* One graph of a parameter set, under its role's name (printable ASCII). */
typedef struct qp_role {
    const char *name;
    const qp_graph *graph;
} qp_role;

/* What the certificate says of the set: each string printable ASCII, or NULL for null. */
typedef struct qp_set_info {
    const char *capability;
    const char *lowering; /* NULL stands for "whg1" */
    const char *set_sha256;
} qp_set_info;

/* The same for the graphs of a set, in the order of the lowering's roles. */
QP_API qp_status qp_certify_set(const qp_role *roles, size_t n_roles, const qp_set_info *set,
                                const qp_allocator *allocator, qp_certificate **certificate,
                                qp_error *error);

/* Frees a certificate; NULL is allowed. */
QP_API void qp_certificate_free(qp_certificate *certificate);

/* ---- the verdict (section 8.5) ------------------------------------------------------------ */

/* The first input, scalar or node that does not meet a profile. */
typedef struct qp_failure {
    const char *role;  /* of the graph */
    const char *where; /* "input", "scalar" or "node" */
    uint32_t index;
    const char *key; /* "range", "saturated", "rq.p", "out.0", "weights", "policy.check", ... */
    unsigned bits;   /* 0 where the key carries none */
} qp_failure;

/* Whether every graph of the set meets a profile; where not, *failure (which may be NULL) says the
 * first reason. The strings belong to the certificate. */
QP_API int qp_certificate_meets(const qp_certificate *certificate, qp_profile profile,
                                qp_failure *failure);

/* Whether the set lies in the accelerator subset wai-ops/1-npu (section 9.2). */
QP_API int qp_certificate_npu(const qp_certificate *certificate);

/* A role held to a profile of its own (section 11, `role_profiles`). */
typedef struct qp_role_profile {
    const char *role;
    qp_profile profile;
} qp_role_profile;

/*
 * The check a sink makes before it decodes (section 8.6): QP_OK where the set meets `profile` and
 * each named role its own, otherwise QP_MODEL_MISMATCH with the first failure in words. A role that
 * the set does not have is QP_MODEL_MISMATCH.
 */
QP_API qp_status qp_certificate_require(const qp_certificate *certificate, qp_profile profile,
                                        const qp_role_profile *roles, size_t n_roles,
                                        qp_error *error);

/* ---- what it says of a graph -------------------------------------------------------------- */

/*
 * The certified interval of a tensor of graph `graph` of the set (0 for qp_certify), as decimal
 * digits: an end can reach ±2^255. Each text holds 80 bytes. Returns bits([lo, hi]).
 */
QP_API unsigned qp_certificate_tensor(const qp_certificate *certificate, size_t graph,
                                      uint32_t tensor, char lo[80], char hi[80]);

/*
 * The admissible range of a tensor for a profile (section 8.4): 1 with [*lo, *hi], the largest
 * symmetric range on which its direct consumers meet the profile; 0 where it has none. The weights
 * of the consumers are read once for each step of a binary search.
 */
QP_API int qp_certificate_admissible(const qp_certificate *certificate, size_t graph,
                                     uint32_t tensor, qp_profile profile, int64_t *lo, int64_t *hi);

/*
 * The certificate's canonical JSON (section 8.5): `*size` bytes without a newline or a NUL, whose
 * SHA-256 is the certificate's identity. Ownership: qp_bytes_free with the same allocator.
 */
QP_API qp_status qp_certificate_json(const qp_certificate *certificate,
                                     const qp_allocator *allocator, char **bytes, size_t *size,
                                     qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
