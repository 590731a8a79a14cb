/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_conform.c - a line of a vector file, whatever it holds, is run without a fault of the
 * library and to the same end each time; and without memory it is refused. The first byte says
 * which form the line has. Graphs of large tensors are passed over, as a few bytes may rightly ask
 * for a gigabyte.
 */
#include "conform/conform.h"

#include "../test/failing_allocator.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

enum { ELEMENTS_MAX = 4096 };

static void run_twice(const qp_conform_rules *rules, const char *line, size_t size)
{
    qp_conform_result first, second;
    qp_conform conform;
    qp_buffer npu;

    qp_conform_init(&conform, NULL);
    qp_buffer_init(&npu, NULL);
    REQUIRE(qp_conform_line(&conform, rules, &(qp_conform_text){line, size, 1}, &first, NULL) ==
            QP_OK);
    REQUIRE((first.outcome == QP_CONFORM_FAILED) == (first.what[0] != '\0'));
    qp_buffer_append(&npu, first.npu, first.npu_size);
    REQUIRE(qp_conform_line(&conform, rules, &(qp_conform_text){line, size, 1}, &second, NULL) ==
            QP_OK);
    REQUIRE(first.outcome == second.outcome && strcmp(first.what, second.what) == 0);
    REQUIRE(first.id == second.id && first.id_size == second.id_size);
    REQUIRE(npu.size == second.npu_size);
    REQUIRE(npu.size == 0 || memcmp(npu.bytes, second.npu, npu.size) == 0);
    qp_buffer_free(&npu);
    qp_conform_free(&conform);
}

static void run_without_memory(const qp_conform_rules *rules, const char *line, size_t size)
{
    failing_allocator memory = failing_allocator_make(1 + size % 32);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_conform_result result;
    qp_conform conform;

    qp_conform_init(&conform, &allocator);
    qp_status status =
        qp_conform_line(&conform, rules, &(qp_conform_text){line, size, 1}, &result, NULL);
    REQUIRE(status == (memory.has_failed ? QP_NO_MEMORY : QP_OK));
    qp_conform_free(&conform);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    qp_conform_rules rules = {.max_elements = ELEMENTS_MAX};
    rules.form = data[0] == 'c' ? QP_CONFORM_CERTIFICATE : QP_CONFORM_VECTOR;
    rules.one_profile = data[0] == '3';
    rules.profile = QP_ACC32;
    run_twice(&rules, (const char *)data + 1, size - 1);
    run_without_memory(&rules, (const char *)data + 1, size - 1);
    return 0;
}
