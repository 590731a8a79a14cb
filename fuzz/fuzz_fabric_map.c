/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_map.c - the checks of a whole text, and the search for maps of each of its graphs on
 * each of its fabrics, with a small bound. What is found is verified by the search itself; a map of
 * the text that verifies means that a search that is complete has found something.
 */
#include "fabric/search.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORK = 20000, LIMIT = 20 };

static bool has_map(const qp_fabric_sealed *sealed, const qp_fabric_graph *graph)
{
    const qp_fabric_model *model = sealed->model;

    for (uint32_t i = 0; i < model->n_maps; i++) {
        qp_fabric_verified verified;
        qp_arena arena;
        if (&model->fabrics[model->maps[i].fabric] != sealed->fabric ||
            &model->graphs[model->maps[i].graph] != graph)
            continue;
        qp_arena_init(&arena, NULL);
        const bool good =
            qp_fabric_verify(sealed, &model->maps[i], &arena, &verified, NULL) == QP_OK;
        qp_arena_free(&arena);
        if (good)
            return true;
    }
    return false;
}

static void check_pair(const qp_fabric_sealed *sealed, const qp_fabric_graph *graph)
{
    qp_fabric_found found;
    qp_arena arena;

    qp_arena_init(&arena, NULL);
    const qp_fabric_search_bounds bounds = {WORK, LIMIT};
    const qp_status status = qp_fabric_find_maps(sealed, graph, bounds, &arena, &found, NULL);
    if (status != QP_OK)
        abort();
    if ((found.count == 0 && found.end == QP_FABRIC_SEARCH_COMPLETE) != (found.reason[0] != '\0'))
        abort();
    if (found.reason[0] != '\0' && has_map(sealed, graph))
        abort();
    qp_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const qp_fabric_text text = {"input", data, size};
    qp_fabric_model *model;
    qp_fabric_error error;

    if (qp_fabric_read(&text, 1, NULL, &model, NULL) != QP_OK)
        return 0;
    if (qp_fabric_check(model, NULL, &error) != QP_OK &&
        (error.fault == QP_FABRIC_NO_FAULT || error.line == 0))
        abort();
    for (uint32_t i = 0; i < model->n_fabrics; i++) {
        qp_fabric_sealed sealed;
        qp_arena arena;
        qp_arena_init(&arena, NULL);
        if (qp_fabric_seal_fabric(model, &model->fabrics[i], &arena, &sealed, NULL) == QP_OK)
            for (uint32_t k = 0; k < model->n_graphs; k++)
                check_pair(&sealed, &model->graphs[k]);
        qp_arena_free(&arena);
    }
    qp_fabric_free(model);
    return 0;
}
