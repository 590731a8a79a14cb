/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_assemble.c - a graph that is assembled loads, and its dump assembles to the same bytes; a
 * refusal says where in the JSON; and without memory it is refused and nothing is left.
 */
#include "quipu/graph.h"

#include "../test/failing_allocator.h"

#include <string.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

/* Every named array is [1] or [2, 3], of zeros. */
static qp_status open_zeros(void *context, const char *name, qp_graph_array *array, qp_error *error)
{
    (void)context, (void)error;
    *array = (qp_graph_array){.rank = 1, .dims = {1}, .count = 1};
    if (name[0] == '6')
        *array = (qp_graph_array){.rank = 2, .dims = {2, 3}, .count = 6};
    return QP_OK;
}

static qp_status read_zeros(void *context, size_t first, size_t count, int64_t *values,
                            qp_error *error)
{
    (void)context, (void)error;
    REQUIRE(first <= 6 && count <= 6 - first);
    memset(values, 0, count * sizeof *values);
    return QP_OK;
}

static void check_again(const void *bytes, size_t size)
{
    qp_graph *graph;
    char *json;
    void *again;
    size_t json_size, again_size;
    REQUIRE(qp_graph_load(bytes, size, NULL, &graph, NULL) == QP_OK);
    REQUIRE(qp_graph_dump(graph, NULL, NULL, &json, &json_size, NULL) == QP_OK);
    qp_graph_json text = {json, json_size, NULL};
    REQUIRE(qp_graph_assemble(&text, NULL, &again, &again_size, NULL) == QP_OK);
    REQUIRE(again_size == size && memcmp(again, bytes, size) == 0);
    qp_bytes_free(NULL, again, again_size);
    qp_bytes_free(NULL, json, json_size);
    qp_graph_free(graph);
}

static void assemble_without_memory(const qp_graph_json *json, qp_status expected)
{
    failing_allocator memory = failing_allocator_make(1 + json->size % 16);
    qp_allocator allocator = failing_allocator_use(&memory);
    void *bytes;
    size_t size;
    qp_status status = qp_graph_assemble(json, &allocator, &bytes, &size, NULL);
    if (memory.has_failed) /* what was refused before it was known, or want of memory */
        REQUIRE(status == QP_NO_MEMORY || (status == expected && status != QP_OK));
    else
        REQUIRE(status == expected);
    qp_bytes_free(&allocator, bytes, size);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
    REQUIRE(memory.high_water < 4096 * 4 + 64 * json->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_array_source source = {open_zeros, read_zeros, NULL};
    qp_graph_json json = {(const char *)data, size, &source};
    qp_error error;
    void *bytes;
    size_t bytes_size;

    qp_status status = qp_graph_assemble(&json, NULL, &bytes, &bytes_size, &error);
    if (status == QP_OK) {
        check_again(bytes, bytes_size);
    } else {
        REQUIRE(status == QP_MALFORMED || status == QP_MODEL_MISMATCH || status == QP_TOO_LARGE);
        REQUIRE(error.offset >= 0 && (uint64_t)error.offset <= size);
        REQUIRE(strncmp(error.message, "line ", 5) == 0);
    }
    assemble_without_memory(&json, status);
    qp_bytes_free(NULL, bytes, bytes_size);
    return 0;
}
