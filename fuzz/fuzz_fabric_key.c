/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_fabric_key.c - values of Finite and None relations: what the validator takes is one of the
 * keys, and every key is taken.
 */
#include "fabric_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    fabric_op op = fabric_op_open(data[0] % 8);
    const qp_fabric_relation *relation = &op.capability.relation;
    const qp_fabric_semantic_value value = {data + 1, size - 1};
    bool member = relation->kind == QP_FABRIC_RELATION_NONE && value.size == 0;

    for (size_t i = 0; i < relation->key_count; i++) {
        const qp_fabric_key *key = &relation->keys[i];
        member =
            member || qp_fabric_compare_bytes(key->bytes, key->size, value.bytes, value.size) == 0;
    }
    if ((qp_fabric_check_value(&op.capability, value, NULL) == QP_OK) != member)
        abort();
    fabric_op_close(&op);
    return 0;
}
