/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_imatrix.c - an importance matrix in any of its forms is read or refused, and what is found
 * in it has as many numbers as it says; memory stays near the file's size.
 */
#include "artifact/imatrix.h"

#include "../test/failing_allocator.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

static const char *const parameters[] = {
    "a", "b", "blk.0.ffn_up.weight", "text/layers/0/mlp/up", "text/layers/0/gdn/output", ""};

static void find_all(qp_imatrix *imatrix)
{
    volatile float sum = 0;
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        qp_importance found;
        qp_status status = qp_imatrix_find(imatrix, QP_JSON_NO_VALUE, parameters[i], &found, NULL);
        if (status != QP_OK)
            continue;
        REQUIRE(found.values != NULL || found.count == 0);
        for (uint64_t k = 0; k < found.count; k++)
            sum = sum + found.values[k];
    }
}

static void open_and_find(const uint8_t *data, size_t size, size_t fail_at)
{
    failing_allocator memory = failing_allocator_make(fail_at);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_imatrix *imatrix;
    qp_status status = qp_imatrix_open_bytes("i.dat", data, size, &allocator, &imatrix, NULL);
    REQUIRE((status == QP_OK) == (imatrix != NULL));
    REQUIRE(!memory.has_failed || status == QP_NO_MEMORY);
    if (status == QP_OK)
        find_all(imatrix);
    REQUIRE(memory.high_water <= 65536 + 64 * size);
    qp_imatrix_close(imatrix);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_and_find(data, size, 0);
    open_and_find(data, size, 1 + size % 7);
    return 0;
}
