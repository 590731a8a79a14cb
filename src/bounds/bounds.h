/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.h - the bounds pass over a graph (section 8) and what a certificate keeps of it.
 */
#ifndef QP_BOUNDS_BOUNDS_H
#define QP_BOUNDS_BOUNDS_H

#include "graph/graph.h"
#include "quipu/certify.h"

/* What the certificate keeps of one node: the rule's intervals, in memory of their own size. */
typedef struct qp_certified_node {
    const qp_recorded *recorded;
    uint32_t n_recorded;
    const qp_interval *result; /* of each output, before its policy */
    bool saturated;
    qp_range weights; /* lo > hi for none */
    uint32_t conditions;
    uint32_t npu_flags;
} qp_certified_node;

/* One graph's pass. */
typedef struct qp_graph_bounds {
    const char *role;
    const qp_graph *graph;
    qp_interval *tensors; /* after the policy */
    qp_certified_node *nodes;
} qp_graph_bounds;

struct qp_certificate {
    qp_arena arena;
    const char *capability, *lowering, *set_sha256; /* NULL for null */
    qp_graph_bounds *graphs;
    size_t n_graphs;
};

/* Runs the pass; the graph and the role are set already. */
qp_status qp_bounds_pass(qp_graph_bounds *bounds, qp_arena *arena, qp_error *error);

/* The rule of one node on given input intervals. */
void qp_bounds_node(const qp_graph *graph, const qp_node *node, const qp_interval *in,
                    qp_node_bounds *result);

/* The width, in bits, of a class under a profile (section 7.1). */
unsigned qp_profile_width(qp_profile profile, qp_class class);

/* Whether a node's intervals meet a profile's widths and none is saturated; its parameters and
 * policies are not looked at. */
bool qp_bounds_fit(const qp_recorded *recorded, uint32_t n_recorded, const qp_interval *result,
                   uint32_t n_out, qp_profile profile);
/* Whether a node fits a profile, its parameters and output policies included (section 8.5). */
bool qp_node_fits(const qp_graph_bounds *bounds, uint32_t index, qp_profile profile);

/* The first failure of one graph (the role is set); false where it meets the profile. */
bool qp_graph_failure(const qp_graph_bounds *bounds, qp_profile profile, qp_failure *failure);

/* QP_OK where a graph meets a profile, otherwise the first failure in words. */
qp_status qp_bounds_require(const qp_graph_bounds *bounds, qp_profile profile, qp_error *error);

/* The verdict's flags and reasons over all graphs. */
uint32_t qp_certificate_flags(const qp_certificate *certificate);
/* The flags of one node, state_add included. */
uint32_t qp_node_flags(const qp_graph_bounds *bounds, uint32_t index);

/* The reasons outside wai-ops/1-npu: one bit each. */
enum { QP_REASON_ACC32, QP_REASON_CONV_GROUPS, QP_REASON_CROP_SCALAR, QP_REASON_OPERATORS };
/* A bit for each of the three, then bit QP_REASON_OPERATORS + k for operator k of the table. */
uint64_t qp_certificate_reasons(const qp_certificate *certificate);

/* k_c (section 6) from the interval of a term: -1 for "unbounded". */
int64_t qp_chunk_length(const qp_interval *term);

/* Appends the canonical JSON. */
void qp_certificate_append(const qp_certificate *certificate, qp_buffer *buffer);

#endif
