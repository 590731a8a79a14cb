/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wcp1.c - any bytes as a WCP1 payload upon a small picture (codec_fuzz.h). Graphs that carry
 * many operators or ask for large tensors are passed over, as a few bytes may rightly ask for
 * hours.
 */
#include "codec_fuzz.h"

#include "codec/payload.h"
#include "support/small_sets.h"

enum { SIDE_MAX = 64, GRAPH_AT = 20, GRAPH_MAX = 4096, OPERATORS_MAX = 16 };

/* The size of the base follows from the payload's, as its decoder asks. */
static bool is_small(const uint8_t *data, size_t size, uint32_t sides[2])
{
    if (size < GRAPH_AT + 4)
        return true;
    sides[0] = qp_load_u32(data + 8);
    sides[1] = qp_load_u32(data + 12);
    uint32_t length = qp_load_u32(data + GRAPH_AT);
    qp_graph *graph;
    if (sides[0] > SIDE_MAX || sides[1] > SIDE_MAX)
        return false;
    if (length > size - GRAPH_AT - 4)
        return true;
    if (length > GRAPH_MAX)
        return false;
    if (qp_graph_load(data + GRAPH_AT + 4, length, NULL, &graph, NULL) != QP_OK)
        return true;
    qp_graph_info info = qp_graph_describe(graph);
    qp_graph_free(graph);
    return info.n_operators <= OPERATORS_MAX && info.max_elems <= 1 << 16;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sides[2] = {1, 1};
    if (!is_small(data, size, sides))
        return 0;
    bool up2 = size > 5 && data[5] == 1;
    uint32_t channels = size > 16 && data[16] % 4 != 0 ? data[16] % 4 : 3;
    for (int i = 0; i < 2; i++) {
        sides[i] = up2 ? (sides[i] + 1) / 2 : sides[i];
        sides[i] = sides[i] == 0 ? 1 : sides[i];
    }
    qp_media base = small_picture(1, sides[0], sides[1], channels);
    qp_unit unit = {data, size, &base, 1};
    fuzz_unit("wai.image.int_cond_refine", NULL, &unit);
    qp_media_free(NULL, &base);
    return 0;
}
