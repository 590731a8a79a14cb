/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - walking over the lanes of payloads whose lanes have at most 64 bits. What is done with
 * one lane is a function, which compilers inline into each walk; the payloads of a scalar are one
 * word each, and go straight through.
 */
#ifndef QP_FABRIC_LANES_H
#define QP_FABRIC_LANES_H

#include "fabric/evaluate.h"

static inline uint64_t qp_fabric_mask(uint32_t width)
{
    return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

/* The integer that `width` bits stand for in two's complement. */
static inline int64_t qp_fabric_signed(uint64_t value, uint32_t width)
{
    const uint64_t sign = UINT64_C(1) << (width - 1);
    return qp_to_i64((value ^ sign) - sign);
}

static inline uint64_t qp_fabric_smallest(uint32_t width)
{
    return UINT64_C(1) << (width - 1);
}

/* Shifts the sign in; amount is less than width. */
static inline uint64_t qp_fabric_shifted_right(uint64_t value, uint32_t amount, uint32_t width)
{
    const uint64_t mask = qp_fabric_mask(width);
    const uint64_t fill = value >> (width - 1) != 0 ? mask & ~(mask >> amount) : 0;

    return value >> amount | fill;
}

/* One lane: its operands' bits, and its result's, which the walk cuts to the result's width. */
typedef qp_fabric_outcome qp_fabric_lane1(const qp_fabric_evaluator *e, uint64_t a,
                                          uint64_t *result);
typedef qp_fabric_outcome qp_fabric_lane2(const qp_fabric_evaluator *e, uint64_t a, uint64_t b,
                                          uint64_t *result);

static inline void qp_fabric_clear_result(const qp_fabric_evaluator *e, uint64_t *result)
{
    memset(result, 0, qp_fabric_words(e->lanes * e->result_width) * sizeof *result);
}

static inline qp_fabric_outcome qp_fabric_each1(const qp_fabric_evaluator *e,
                                                const uint64_t *const *operands, uint64_t *result,
                                                qp_fabric_lane1 *lane)
{
    qp_fabric_outcome outcome = QP_FABRIC_DEFINED;
    uint64_t value;

    if (e->lanes == 1) {
        outcome = lane(e, operands[0][0], &value);
        result[0] = value & qp_fabric_mask(e->result_width);
        return outcome;
    }
    qp_fabric_clear_result(e, result);
    for (uint64_t i = 0; i < e->lanes && outcome == QP_FABRIC_DEFINED; i++) {
        outcome = lane(e, qp_fabric_get_bits(operands[0], i * e->width, e->width), &value);
        qp_fabric_set_bits(result, i * e->result_width, e->result_width, value);
    }
    return outcome;
}

static inline qp_fabric_outcome qp_fabric_each2(const qp_fabric_evaluator *e,
                                                const uint64_t *const *operands, uint64_t *result,
                                                qp_fabric_lane2 *lane)
{
    qp_fabric_outcome outcome = QP_FABRIC_DEFINED;
    uint64_t value;

    if (e->lanes == 1) {
        outcome = lane(e, operands[0][0], operands[1][0], &value);
        result[0] = value & qp_fabric_mask(e->result_width);
        return outcome;
    }
    qp_fabric_clear_result(e, result);
    for (uint64_t i = 0; i < e->lanes && outcome == QP_FABRIC_DEFINED; i++) {
        const uint64_t first = i * e->width;
        outcome = lane(e, qp_fabric_get_bits(operands[0], first, e->width),
                       qp_fabric_get_bits(operands[1], first, e->width), &value);
        qp_fabric_set_bits(result, i * e->result_width, e->result_width, value);
    }
    return outcome;
}

/* The evaluation of a row from its lane's function. */
#define QP_FABRIC_UNARY(name)                                                                      \
    qp_fabric_outcome qp_fabric_evaluate_##name(                                                   \
        const qp_fabric_evaluator *e, const uint64_t *const *operands, uint64_t *const *results)   \
    {                                                                                              \
        return qp_fabric_each1(e, operands, results[0], lane_##name);                              \
    }
#define QP_FABRIC_BINARY(name)                                                                     \
    qp_fabric_outcome qp_fabric_evaluate_##name(                                                   \
        const qp_fabric_evaluator *e, const uint64_t *const *operands, uint64_t *const *results)   \
    {                                                                                              \
        return qp_fabric_each2(e, operands, results[0], lane_##name);                              \
    }

#endif
