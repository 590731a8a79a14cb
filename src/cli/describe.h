/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - a graph and its certificate in words, for the verbs that show them to people.
 */
#ifndef QP_CLI_DESCRIBE_H
#define QP_CLI_DESCRIBE_H

#include "bounds/bounds.h"

/* ---- operators ---------------------------------------------------------------------------- */

/* An operator's parameters in short, from its field table: "cout 64, k 5x5, s 1x1, p 2x2". */
void qp_describe_parameters(const qp_graph *graph, const qp_node *node, qp_buffer *text);

/* The bytes of an operator's arrays of integers: weights, tables, gammas. */
uint64_t qp_describe_array_bytes(const qp_node *node);

/* "64 x 128 x 192" on the declared sizes, else "64 ch". */
void qp_describe_shape(const qp_graph *graph, uint32_t tensor, qp_buffer *text);

/* "0 1 2". */
void qp_describe_indices(const uint32_t *indices, uint32_t count, qp_buffer *text);

/* ---- values ------------------------------------------------------------------------------- */

/* A value that a node forms: an intermediate, or the producer result of an output. */
typedef struct qp_fact {
    const char *key;
    const qp_interval *interval;
    qp_class class;
    unsigned bits;
} qp_fact;

/* The facts of a node: its intermediates in their order of definition, then its outputs. */
uint32_t qp_fact_count(const qp_graph_bounds *bounds, uint32_t node);
qp_fact qp_fact_at(const qp_graph_bounds *bounds, uint32_t node, uint32_t index);

/* The fact of a node with the least room under acc32 (below 0 where it fails); of several the
 * first. */
qp_fact qp_fact_tightest(const qp_graph_bounds *bounds, uint32_t node);

/* The width of its class less its bits. */
int qp_fact_room(const qp_fact *fact, qp_profile profile);

/* The profiles that a node meets. */
typedef enum qp_fit { QP_FIT_BOTH, QP_FIT_ACC64, QP_FIT_NEITHER } qp_fit;
qp_fit qp_fit_of_node(const qp_graph_bounds *bounds, uint32_t node);
qp_fit qp_fit_of_fact(const qp_fact *fact);
/* "acc32 acc64", "acc64 only" or "neither". */
const char *qp_fit_words(qp_fit fit);

/* "-13612..12099". */
void qp_describe_interval(const qp_interval *interval, qp_buffer *text);
/* The same, where an end of more than seven digits is shortened: "-1.25e10..1.41e10". */
void qp_describe_interval_short(const qp_interval *interval, qp_buffer *text);

/* ---- the verdict -------------------------------------------------------------------------- */

/* "yes", or "no: node 2, conv, needs 35 bits for conv.acc; acc32 has 32". */
void qp_describe_profile(const qp_certificate *certificate, qp_profile profile, qp_buffer *text);

/* What can be done about the first failure: sentences, each ended by a line break. */
void qp_describe_advice(const qp_certificate *certificate, qp_profile profile, qp_buffer *text);

/* Why the set is outside wai-ops/1-npu: "it does not meet acc32; it uses igdn"; nothing where it is
 * inside. */
void qp_describe_reasons(const qp_certificate *certificate, qp_buffer *text);
/* "yes", or "no: " and the reasons. */
void qp_describe_npu(const qp_certificate *certificate, qp_buffer *text);

/* The verdict's flags: "chscale, lut16", or "none". */
void qp_describe_flags(uint32_t flags, qp_buffer *text);

#endif
