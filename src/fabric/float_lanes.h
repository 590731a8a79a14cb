/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float_lanes.h - lanes that round: evaluations from a function of the provider.
 */
#ifndef QP_FABRIC_FLOAT_LANES_H
#define QP_FABRIC_FLOAT_LANES_H

#include "fabric/lanes.h"

static inline uint64_t qp_fabric_computed(const qp_fabric_evaluator *e,
                                          qp_fabric_float_function function, const uint64_t x[3])
{
    const qp_fabric_float_call call = {function, &qp_fabric_formats[e->format],
                                       &qp_fabric_formats[e->result_format], e->rounding};
    return qp_fabric_floats->compute(&call, x[0], x[1], x[2]);
}

#define QP_FABRIC_FLOAT_UNARY(name, function)                                                      \
    static qp_fabric_outcome lane_##name(const qp_fabric_evaluator *e, uint64_t a,                 \
                                         uint64_t *result)                                         \
    {                                                                                              \
        *result = qp_fabric_computed(e, function, (const uint64_t[3]){a, 0, 0});                   \
        return QP_FABRIC_DEFINED;                                                                  \
    }                                                                                              \
    QP_FABRIC_UNARY(name)

#define QP_FABRIC_FLOAT_BINARY(name, function)                                                     \
    static qp_fabric_outcome lane_##name(const qp_fabric_evaluator *e, uint64_t a, uint64_t b,     \
                                         uint64_t *result)                                         \
    {                                                                                              \
        *result = qp_fabric_computed(e, function, (const uint64_t[3]){a, b, 0});                   \
        return QP_FABRIC_DEFINED;                                                                  \
    }                                                                                              \
    QP_FABRIC_BINARY(name)

#endif
