/* SPDX-License-Identifier: Apache-2.0 */
/*
 * references.c - the canonical bytes of references into a fabric (section 10).
 */
#include "fabric/inventory.h"

enum { REF_FU = 2, REF_OCCURRENCE = 3, END_BOUNDARY = 0, END_NODE = 1 };

void qp_fabric_put_fu_ref(qp_buffer *buffer, const qp_fabric_fu *fu)
{
    qp_fabric_put_u32(buffer, REF_FU);
    qp_fabric_put_u64(buffer, fu->id);
}

void qp_fabric_put_template_ref(qp_buffer *buffer, const qp_fabric_fu *fu, uint64_t ordinal)
{
    qp_fabric_put_fu_ref(buffer, fu);
    qp_fabric_put_u64(buffer, ordinal);
}

void qp_fabric_put_occurrence_ref(qp_buffer *buffer, uint64_t occurrence)
{
    qp_fabric_put_u32(buffer, REF_OCCURRENCE);
    qp_fabric_put_u64(buffer, occurrence);
}

void qp_fabric_put_node_ref(qp_buffer *buffer, const qp_fabric_fu *fu, uint32_t node)
{
    qp_fabric_put_u32(buffer, (uint32_t)fu->nodes[node].kind);
    qp_fabric_put_fu_ref(buffer, fu);
    qp_fabric_put_u64(buffer, node);
}

void qp_fabric_put_endpoint(qp_buffer *buffer, const qp_fabric_fu *fu, qp_fabric_endpoint end,
                            bool source)
{
    const bool boundary = end.node == QP_FABRIC_NO_INDEX;

    if (boundary) {
        qp_fabric_put_u32(buffer, END_BOUNDARY);
        qp_fabric_put_fu_ref(buffer, fu);
    } else {
        qp_fabric_put_u32(buffer, END_NODE);
        qp_fabric_put_node_ref(buffer, fu, end.node);
    }
    qp_fabric_put_u32(buffer, boundary != source ? 1 : 0); /* an input of the unit is a source */
    qp_fabric_put_u64(buffer, end.port);
}
