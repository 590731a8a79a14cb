/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c - inputs and scalars for one decode of any graph. */
#include "support/inputs.h"

#include "support/test.h"

enum { ELEMENTS_MAX = 1 << 16 };

static int64_t element(test_pattern pattern, qp_range range, size_t index, uint64_t *seed)
{
    switch (pattern) {
    case TEST_ALL_LO:
        return range.lo;
    case TEST_ALL_HI:
        return range.hi;
    case TEST_LO_OR_HI:
        return test_below(seed, 2) ? range.hi : range.lo;
    case TEST_STRIPES:
        return index / (1 + (size_t)(range.hi & 3)) % 2 ? range.hi : range.lo;
    case TEST_NEAR_ZERO:
        return qp_clamp_i64((int64_t)test_below(seed, 7) - 3, range.lo, range.hi);
    default:
        return test_between(seed, range.lo, range.hi);
    }
}

static uint32_t side_of(uint32_t declared, test_sizes sizes, uint64_t *seed)
{
    if (declared == 0)
        return sizes.side;
    return sizes.smaller ? 1 + test_below(seed, declared) : declared;
}

static bool make_array(const qp_graph *graph, uint32_t index, test_pattern pattern,
                       test_sizes sizes, uint64_t *seed, qp_array *array)
{
    const qp_graph_input_record *input = &graph->inputs[index];
    const qp_graph_tensor_record *tensor = &graph->tensors[input->tensor];
    *array = (qp_array){NULL, QP_INT64, tensor->channels, side_of(input->max_h, sizes, seed),
                        side_of(input->max_w, sizes, seed)};
    uint64_t total = qp_array_elements(array);
    if (total > ELEMENTS_MAX)
        return false;
    int64_t *values = calloc((size_t)total, sizeof *values);
    if (values == NULL)
        return false;
    for (size_t k = 0; k < total; k++)
        values[k] = element(pattern, (qp_range){tensor->lo, tensor->hi}, k, seed);
    array->data = values;
    return true;
}

bool test_inputs_make(const qp_graph *graph, test_pattern pattern, test_sizes sizes, uint64_t *seed,
                      test_inputs *inputs)
{
    *inputs = (test_inputs){.n_scalars = graph->n_scalars};
    inputs->arrays = calloc(graph->n_inputs, sizeof *inputs->arrays);
    inputs->scalars = calloc(graph->n_scalars + 1u, sizeof *inputs->scalars);
    bool made = inputs->arrays != NULL && inputs->scalars != NULL;
    for (uint32_t i = 0; made && i < graph->n_inputs; i++) {
        if (graph->inputs[i].state)
            continue;
        made = make_array(graph, i, pattern, sizes, seed, &inputs->arrays[inputs->n_arrays]);
        inputs->n_arrays += made;
    }
    for (uint32_t i = 0; made && i < graph->n_scalars; i++)
        inputs->scalars[i] = element(pattern, graph->scalars[i], i, seed);
    if (!made)
        test_inputs_free(inputs);
    return made;
}

void test_inputs_free(test_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_arrays; i++)
        free((void *)(uintptr_t)inputs->arrays[i].data);
    free(inputs->arrays);
    free(inputs->scalars);
    *inputs = (test_inputs){0};
}
