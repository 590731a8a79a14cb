/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the kernels, the most particular first, and the questions they put to a certificate. */
#include "kernel/kernel.h"

#define QP_KERNELS(ROW)                                                                            \
    ROW(conv_i16)                                                                                  \
    ROW(conv_i16_chunked)                                                                          \
    ROW(conv_i64)                                                                                  \
    ROW(conv_transpose_i16)                                                                        \
    ROW(conv_transpose_i16_chunked)                                                                \
    ROW(conv_transpose_i64)

#define QP_ROW(name) extern const qp_kernel qp_kernel_##name;
QP_KERNELS(QP_ROW)
#undef QP_ROW

static const qp_kernel *const kernels[] = {
#define QP_ROW(name) &qp_kernel_##name,
    QP_KERNELS(QP_ROW)
#undef QP_ROW
};

const qp_kernel *qp_kernel_find(const qp_kernel_query *query)
{
    uint8_t opcode = query->bounds->graph->nodes[query->index].op->opcode;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (kernels[k]->opcode == opcode && kernels[k]->takes(query))
            return kernels[k];
    return NULL;
}

static const qp_interval *find(const qp_kernel_query *query, qp_intermediate key)
{
    const qp_certified_node *node = &query->bounds->nodes[query->index];
    for (uint32_t i = 0; i < node->n_recorded; i++)
        if (node->recorded[i].key == key)
            return &node->recorded[i].interval;
    return NULL;
}

bool qp_kernel_fits(const qp_kernel_query *query, qp_intermediate key, unsigned bits)
{
    const qp_interval *interval = find(query, key);
    return interval != NULL && qp_interval_fits(interval, bits);
}

int64_t qp_kernel_chunk(const qp_kernel_query *query, qp_intermediate term)
{
    const qp_interval *interval = find(query, term);
    int64_t length = interval == NULL ? 0 : qp_chunk_length(interval);
    return length < 0 ? INT64_MAX : length; /* unbounded: every term is zero */
}

bool qp_kernel_input_fits(const qp_kernel_query *query, uint32_t k, unsigned bits)
{
    const qp_node *node = &query->bounds->graph->nodes[query->index];
    return qp_interval_fits(&query->bounds->tensors[node->in[k]], bits);
}

bool qp_kernel_weights_fit(const qp_kernel_query *query, unsigned bits)
{
    qp_range weights = query->bounds->nodes[query->index].weights;
    qp_interval interval = qp_interval_of(weights.lo, weights.hi);
    return weights.lo <= weights.hi && qp_interval_fits(&interval, bits);
}
