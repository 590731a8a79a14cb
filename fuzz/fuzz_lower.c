/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_lower.c - any bytes as the one file of a set, under the form that its first byte picks: the
 * set is lowered or refused with its form's code, in memory that its length bounds; and one that is
 * lowered has graphs that load again, the same certificate twice and, but for sets that carry
 * graphs, acc64.
 */
#include "bounds/bounds.h"
#include "quipu/lower.h"

#include "../test/failing_allocator.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

/* An arena's first chunk for each graph and certificate, whatever the file's length. A relu of 4
 * bytes is an operator record, a tensor, a layer and a certified node. */
enum { FIXED_BYTES = 1 << 18, BYTES_A_BYTE = 256 };

static const char *const capabilities[] = {"wai.neural.int_synth",
                                           "wai.splat.int_codec",
                                           "wai.audio.int_codec",
                                           "wai.neural.int_mlicpp",
                                           "wai.video.int_cond",
                                           "wai.image.int_cond_refine",
                                           NULL /* told by how the file begins */};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

static void hold(const qp_lowered *set)
{
    const qp_certificate *certificate = qp_lowered_certificate(set);
    REQUIRE(qp_lowered_count(set) > 0);
    for (size_t i = 0; i < qp_lowered_count(set); i++) {
        qp_lowered_role role = qp_lowered_at(set, i);
        qp_graph *again;
        REQUIRE(qp_graph_load(role.bytes, role.size, NULL, &again, NULL) == QP_OK);
        qp_graph_free(again);
    }
    if (qp_lowered_capability(set) != NULL)
        REQUIRE(qp_certificate_meets(certificate, QP_ACC64, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_lowered *set;
    qp_error error = {.offset = -1};

    if (size == 0)
        return 0;
    qp_lower_options options = {.capability = capabilities[data[0] % CAPABILITIES]};
    qp_member member = {"file", data + 1, size - 1};
    qp_status status = qp_lower(&member, 1, &options, &allocator, &set, &error);
    if (options.capability == capabilities[0])
        REQUIRE(status == QP_OK || status == QP_PAYLOAD_MALFORMED);
    else
        REQUIRE(status == QP_OK || status == QP_MODEL_MISMATCH || status == QP_TOO_LARGE ||
                status == QP_PAYLOAD_MALFORMED);
    REQUIRE(error.offset <= (int64_t)size);
    if (status == QP_OK)
        hold(set);
    REQUIRE(memory.high_water <= FIXED_BYTES + BYTES_A_BYTE * size);
    qp_lowered_free(set);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
    return 0;
}
