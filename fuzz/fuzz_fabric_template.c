/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_template.c - the templates of every unit of a text: ordinals ascend by bytes, and a
 * template's ways lead from its sources to its ends.
 */
#include "fabric/mapping.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_template(const qp_fabric_fu *fu, const qp_fabric_derived *derived)
{
    for (uint32_t i = 0; i < derived->path_count; i++) {
        const qp_fabric_path *path = &derived->paths[i];
        qp_fabric_path next;
        uint32_t cursor = 0;
        bool found = false;
        if (qp_fabric_path_to(fu, derived, path->end) != path)
            abort();
        while (!found && qp_fabric_next_path(derived, path->source, &cursor, &next))
            found = next.end.node == path->end.node && next.end.port == path->end.port;
        if (!found)
            abort();
    }
    for (uint32_t i = 0; i < derived->node_count; i++)
        if (!qp_fabric_has_node(derived, derived->nodes[i]))
            abort();
}

static void check_unit(const qp_fabric_model *model, const qp_fabric_fu *fu)
{
    uint64_t work = 20000;
    qp_fabric_inventory inventory;
    qp_arena arena;

    qp_arena_init(&arena, NULL);
    if (qp_fabric_check_topology(model, fu, &arena, NULL) == QP_OK &&
        qp_fabric_inventory_of(model, fu, &work, &arena, &inventory, NULL) == QP_OK) {
        if (inventory.count == 0)
            abort();
        for (uint32_t i = 0; i < inventory.count; i++) {
            const qp_fabric_derived *t = &inventory.templates[i];
            if (i > 0 && qp_fabric_compare_bytes(t[-1].bytes, t[-1].size, t->bytes, t->size) >= 0)
                abort();
            check_template(fu, t);
        }
    }
    qp_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const qp_fabric_text text = {"input", data, size};
    qp_fabric_model *model;

    if (qp_fabric_read(&text, 1, NULL, &model, NULL) != QP_OK)
        return 0;
    for (uint32_t i = 0; i < model->n_fabrics; i++)
        for (uint32_t k = 0; k < model->fabrics[i].n_fus; k++)
            check_unit(model, &model->fabrics[i].fus[k]);
    qp_fabric_free(model);
    return 0;
}
