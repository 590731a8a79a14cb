/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - the seam between a node and the code that runs it.
 *
 * A kernel is a row of one table: the operator it runs, the certified widths it needs, and an
 * evaluation in the same form as the operator's own. A session asks for the first row that takes a
 * node and falls back on the reference evaluation of src/op. A kernel gives the reference's
 * integers, and the tests hold it to that on random and extreme inputs; its widths rest on the
 * certificate, never on the data.
 */
#ifndef QP_KERNEL_KERNEL_H
#define QP_KERNEL_KERNEL_H

#include "bounds/bounds.h"

/* One node as the certificate knows it. */
typedef struct qp_kernel_query {
    const qp_graph_bounds *bounds;
    uint32_t index; /* of the node */
} qp_kernel_query;

typedef struct qp_kernel {
    const char *name;
    uint8_t opcode;
    uint32_t least_width; /* of the output: a narrower one is the reference's */
    /* Whether the certified widths, and the parameters, are ones this kernel is exact on. */
    bool (*takes)(const qp_kernel_query *query);
    uint64_t (*scratch)(const qp_plan *plan, const qp_shape *out); /* int64 words */
    qp_status (*evaluate)(const qp_evaluation *e);
} qp_kernel;

/* The first kernel of the table that takes the node, or NULL. */
const qp_kernel *qp_kernel_find(const qp_kernel_query *query);

/* ---- what the certificate says, for `takes` ----------------------------------------------- */

/* Whether an intermediate of the node fits a signed width. */
bool qp_kernel_fits(const qp_kernel_query *query, qp_intermediate key, unsigned bits);
/* The certificate's k_c: how many terms any partial sum that fits i32 may have. */
int64_t qp_kernel_chunk(const qp_kernel_query *query, qp_intermediate term);
/* Whether input `k` of the node fits a signed width. */
bool qp_kernel_input_fits(const qp_kernel_query *query, uint32_t k, unsigned bits);
/* Whether the node's weights fit a signed width. */
bool qp_kernel_weights_fit(const qp_kernel_query *query, unsigned bits);

#endif
