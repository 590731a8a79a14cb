/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/parts.c - operators as parts of graphs of several. */
#include "conform/corpus/parts.h"

#include <stdio.h>

uint32_t qp_part(qp_corpus *c, const char *name, const char *wires, uint32_t channels)
{
    char text[48];
    uint32_t out = qp_case_tensor(c, channels);
    (void)snprintf(text, sizeof text, "%s > %u", wires, out);
    qp_case_operator(c, name, text);
    return out;
}

static uint32_t part_of_one(qp_corpus *c, const char *name, uint32_t in, uint32_t channels)
{
    char wire[12];
    (void)snprintf(wire, sizeof wire, "%u", in);
    return qp_part(c, name, wire, channels);
}

uint32_t qp_part_convolution(qp_corpus *c, const qp_part_conv *p)
{
    const uint32_t fields[] = {p->cout, p->side,           p->side,           1,
                               1,       (p->side - 1) / 2, (p->side - 1) / 2, 1};
    unsigned width = qp_case_width(p->weights, 1);
    uint32_t out = part_of_one(c, "conv", p->in, p->cout);
    for (size_t i = 0; i < QP_COUNT(fields); i++)
        qp_case_u32(c, fields[i]);
    qp_case_u8(c, width);
    qp_case_zeros(c, 3);
    qp_case_rq_block(c, &p->rq);
    qp_case_integers(c, width, p->weights);
    return out;
}

uint32_t qp_part_rescale(qp_corpus *c, uint32_t in, uint32_t channels, const qp_case_rq *rq)
{
    uint32_t out = part_of_one(c, "rescale", in, channels);
    qp_case_rq_block(c, rq);
    return out;
}
