/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_contract.c - resource contracts: what decodes encodes to the same bytes, and matches
 * the chosen operation's contract exactly where the bytes are its own.
 */
#include "fabric_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const qp_fabric_contract *contract, const uint8_t *bytes, size_t size)
{
    qp_buffer buffer;

    qp_buffer_init(&buffer, NULL);
    qp_fabric_put_contract(&buffer, contract);
    if (buffer.failed || qp_fabric_compare_bytes(buffer.bytes, buffer.size, bytes, size) != 0)
        abort();
    qp_buffer_free(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    fabric_op op = fabric_op_open(data[0] % 8);
    qp_fabric_contract contract;
    qp_fabric_error error = {.fault = QP_FABRIC_NO_FAULT};
    qp_buffer own;

    const qp_status status =
        qp_fabric_get_contract(data + 1, size - 1, &op.arena, &contract, &error);
    if (status == QP_OK)
        check_round_trip(&contract, data + 1, size - 1);
    else if (error.fault != QP_FABRIC_INVALID)
        abort();
    qp_buffer_init(&own, NULL);
    qp_fabric_put_contract(&own, &op.capability.contract);
    const bool same = qp_fabric_compare_bytes(own.bytes, own.size, data + 1, size - 1) == 0;
    const qp_status match =
        qp_fabric_match_contract(op.capability.node, data + 1, size - 1, &op.arena, NULL);
    if ((match == QP_OK) != same || (status == QP_OK && !same && match != QP_MODEL_MISMATCH))
        abort();
    qp_buffer_free(&own);
    fabric_op_close(&op);
    return 0;
}
