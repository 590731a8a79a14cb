/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moving.c - the schemas that only move bits (section 2.2): select, bitcast, pack and unpack,
 * extract, insert and shuffle. Lanes and blocks have any width.
 */
#include "fabric/evaluate.h"

/* bitcast, pack, unpack: the payload as it is. */
qp_fabric_outcome qp_fabric_evaluate_bits(const qp_fabric_evaluator *e,
                                          const uint64_t *const *operands, uint64_t *const *results)
{
    memcpy(results[0], operands[0], qp_fabric_words(e->lanes * e->width) * sizeof **results);
    return QP_FABRIC_DEFINED;
}

qp_fabric_outcome qp_fabric_evaluate_select(const qp_fabric_evaluator *e,
                                            const uint64_t *const *operands,
                                            uint64_t *const *results)
{
    const size_t words = qp_fabric_words(e->lanes * e->width);

    memcpy(results[0], operands[e->lanes == 1 && operands[0][0] != 0 ? 1 : 2],
           words * sizeof **results);
    for (uint64_t i = 0; e->lanes > 1 && i < e->lanes; i++)
        if (qp_fabric_get_bits(operands[0], i, 1) != 0)
            qp_fabric_copy_bits(results[0], i * e->width, operands[1], i * e->width, e->width);
    return QP_FABRIC_DEFINED;
}

/* ---- positions ---------------------------------------------------------------------------- */

/*
 * The first bit of the block that a position selects in `type`: entry j steps over dimension j, and
 * each dynamic entry takes one operand from `indices`. false where one of these is out of range.
 */
static bool block_offset(const qp_fabric_evaluator *e, const qp_fabric_type *type,
                         const uint64_t *const *indices, uint64_t *offset)
{
    const qp_fabric_semantics *semantics = e->signature.semantics;
    uint64_t lane = 0;

    for (uint32_t j = 0; j < type->rank; j++) {
        uint64_t value = 0; /* behind the entries stands the block's first lane */
        if (j < semantics->entry_count)
            value = semantics->entries[j] == QP_FABRIC_DYNAMIC ? **indices++
                                                               : (uint64_t)semantics->entries[j];
        if (value >= type->dims[j])
            return false;
        lane = lane * type->dims[j] + value;
    }
    *offset = lane * e->width;
    return true;
}

/* The bits of a value of the container's element type. */
static uint64_t block_bits(const qp_fabric_evaluator *e, const qp_fabric_type *type)
{
    uint64_t lanes = 1;

    (void)qp_fabric_lanes(type, &lanes); /* bounded where the type was read */
    return lanes * e->width;
}

qp_fabric_outcome qp_fabric_evaluate_extract(const qp_fabric_evaluator *e,
                                             const uint64_t *const *operands,
                                             uint64_t *const *results)
{
    const uint64_t bits = block_bits(e, &e->signature.results[0]);
    uint64_t offset;

    if (!block_offset(e, &e->signature.operands[0], operands + 1, &offset))
        return QP_FABRIC_OUT_OF_RANGE;
    memset(results[0], 0, qp_fabric_words(bits) * sizeof **results);
    qp_fabric_copy_bits(results[0], 0, operands[0], offset, bits);
    return QP_FABRIC_DEFINED;
}

qp_fabric_outcome qp_fabric_evaluate_insert(const qp_fabric_evaluator *e,
                                            const uint64_t *const *operands,
                                            uint64_t *const *results)
{
    uint64_t offset;

    if (!block_offset(e, &e->signature.operands[1], operands + 2, &offset))
        return QP_FABRIC_OUT_OF_RANGE;
    memcpy(results[0], operands[1], qp_fabric_words(e->lanes * e->width) * sizeof **results);
    qp_fabric_copy_bits(results[0], offset, operands[0], 0,
                        block_bits(e, &e->signature.operands[0]));
    return QP_FABRIC_DEFINED;
}

/* A poison block has the bits of source block 0, as the carrier says (section 12.1). */
qp_fabric_outcome qp_fabric_evaluate_shuffle(const qp_fabric_evaluator *e,
                                             const uint64_t *const *operands,
                                             uint64_t *const *results)
{
    const qp_fabric_semantics *semantics = e->signature.semantics;
    const uint64_t left = e->signature.operands[0].dims[0];
    const uint64_t block = e->lanes / left * e->width;

    memset(results[0], 0, qp_fabric_words(semantics->entry_count * block) * sizeof **results);
    for (size_t i = 0; i < semantics->entry_count; i++) {
        const int64_t entry = semantics->entries[i];
        const uint64_t source = entry == QP_FABRIC_POISON_BLOCK ? 0 : (uint64_t)entry;
        qp_fabric_copy_bits(results[0], i * block, operands[source < left ? 0 : 1],
                            (source < left ? source : source - left) * block, block);
    }
    return QP_FABRIC_DEFINED;
}
