/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float.c - the floating-point schemas that round (section 2.2): arithmetic and conversions.
 */
#include "fabric/float_lanes.h"

QP_FABRIC_FLOAT_BINARY(addf, QP_FABRIC_FLOAT_ADD)
QP_FABRIC_FLOAT_BINARY(subf, QP_FABRIC_FLOAT_SUB)
QP_FABRIC_FLOAT_BINARY(mulf, QP_FABRIC_FLOAT_MUL)
QP_FABRIC_FLOAT_BINARY(divf, QP_FABRIC_FLOAT_DIV)
QP_FABRIC_FLOAT_BINARY(remf, QP_FABRIC_FLOAT_REM)
QP_FABRIC_FLOAT_UNARY(extf, QP_FABRIC_FLOAT_CONVERT)
QP_FABRIC_FLOAT_UNARY(truncf, QP_FABRIC_FLOAT_CONVERT)

qp_fabric_outcome qp_fabric_evaluate_fma(const qp_fabric_evaluator *e,
                                         const uint64_t *const *operands, uint64_t *const *results)
{
    uint64_t x[3];

    qp_fabric_clear_result(e, results[0]);
    for (uint64_t i = 0; i < e->lanes; i++) {
        const uint64_t first = i * e->width;
        for (int k = 0; k < 3; k++)
            x[k] = qp_fabric_get_bits(operands[k], first, e->width);
        qp_fabric_set_bits(results[0], first, e->width,
                           qp_fabric_computed(e, QP_FABRIC_FLOAT_FMA, x));
    }
    return QP_FABRIC_DEFINED;
}

/* ---- integers ----------------------------------------------------------------------------- */

#define LANE1(name)                                                                                \
    static qp_fabric_outcome lane_##name(const qp_fabric_evaluator *e, uint64_t a, uint64_t *result)

static uint64_t from_integer(const qp_fabric_evaluator *e, uint64_t a, bool is_signed)
{
    return qp_fabric_floats->from_integer(&qp_fabric_formats[e->result_format], a, e->width,
                                          is_signed);
}

LANE1(sitofp)
{
    *result = from_integer(e, a, true);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(sitofp)

/* nneg: a negative operand is poison. */
LANE1(uitofp)
{
    *result = from_integer(e, a, false);
    return e->signature.semantics->flag && a >= qp_fabric_smallest(e->width) ? QP_FABRIC_POISON
                                                                             : QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(uitofp)

static bool to_integer(const qp_fabric_evaluator *e, uint64_t a, bool is_signed, uint64_t *result)
{
    return qp_fabric_floats->to_integer(&qp_fabric_formats[e->format], a, e->result_width,
                                        is_signed, result);
}

LANE1(fptosi)
{
    return to_integer(e, a, true, result) ? QP_FABRIC_DEFINED : QP_FABRIC_POISON;
}
QP_FABRIC_UNARY(fptosi)

LANE1(fptoui)
{
    return to_integer(e, a, false, result) ? QP_FABRIC_DEFINED : QP_FABRIC_POISON;
}
QP_FABRIC_UNARY(fptoui)

LANE1(fptosi_sat)
{
    (void)to_integer(e, a, true, result);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(fptosi_sat)

LANE1(fptoui_sat)
{
    (void)to_integer(e, a, false, result);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(fptoui_sat)
