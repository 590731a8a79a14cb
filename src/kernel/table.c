/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the kernels, the most particular first, and the questions they put to a certificate. */
#include "kernel/kernel.h"

extern const qp_kernel qp_kernel_conv_i16;

static const qp_kernel *const kernels[] = {&qp_kernel_conv_i16};

const qp_kernel *qp_kernel_find(const qp_kernel_query *query)
{
    uint8_t opcode = query->bounds->graph->nodes[query->index].op->opcode;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (kernels[k]->opcode == opcode && kernels[k]->takes(query))
            return kernels[k];
    return NULL;
}

bool qp_kernel_fits(const qp_kernel_query *query, qp_intermediate key, unsigned bits)
{
    const qp_certified_node *node = &query->bounds->nodes[query->index];
    for (uint32_t i = 0; i < node->n_recorded; i++)
        if (node->recorded[i].key == key)
            return qp_interval_fits(&node->recorded[i].interval, bits);
    return false;
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
