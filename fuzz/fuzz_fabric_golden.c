/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_golden.c - graphs and tokens that may be hostile, run without time: a text file, a
 * zero byte, JSON Lines. A run ends within its bound, by lines or by a class of error; one that
 * ends by lines gives the same under a higher bound.
 */
#include "quipu/fabric.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_graph(const qp_fabric_model *model, const char *graph,
                        const qp_fabric_text *tokens)
{
    qp_fabric_error error;
    void *lines, *again;
    size_t size, again_size;

    if (qp_fabric_golden(model, graph, tokens, 1000, NULL, &lines, &size, &error) != QP_OK) {
        if (error.fault == QP_FABRIC_NO_FAULT || lines != NULL)
            abort();
        return;
    }
    if (qp_fabric_golden(model, graph, tokens, 5000, NULL, &again, &again_size, NULL) != QP_OK ||
        again_size != size || (size > 0 && memcmp(lines, again, size) != 0))
        abort();
    qp_bytes_free(NULL, lines, size);
    qp_bytes_free(NULL, again, again_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
    const size_t first = end != NULL ? (size_t)(end - data) : size;
    const qp_fabric_text text = {"graph", data, first};
    const qp_fabric_text tokens = {"tokens", end != NULL ? end + 1 : data,
                                   end != NULL ? size - first - 1 : 0};
    qp_fabric_model *model;

    if (qp_fabric_read(&text, 1, NULL, &model, NULL) != QP_OK)
        return 0;
    for (size_t i = 0; i < qp_fabric_count(model, QP_FABRIC_ITEM_GRAPH); i++)
        check_graph(model, qp_fabric_name(model, QP_FABRIC_ITEM_GRAPH, i), &tokens);
    qp_fabric_free(model);
    return 0;
}
