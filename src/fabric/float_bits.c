/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float_bits.c - the floating-point schemas that round nothing (section 2.2): signs, minima, maxima
 * and comparisons, on the bits of their operands, whose NaN payloads they keep.
 */
#include "fabric/lanes.h"

#define LANE1(name)                                                                                \
    static inline qp_fabric_outcome lane_##name(const qp_fabric_evaluator *e, uint64_t a,          \
                                                uint64_t *result)
#define LANE2(name)                                                                                \
    static inline qp_fabric_outcome lane_##name(const qp_fabric_evaluator *e, uint64_t a,          \
                                                uint64_t b, uint64_t *result)

LANE1(negf)
{
    *result = a ^ qp_fabric_smallest(e->width);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(negf)

LANE1(absf)
{
    *result = a & ~qp_fabric_smallest(e->width);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(absf)

/* ---- order -------------------------------------------------------------------------------- */

static inline bool is_nan(const qp_fabric_evaluator *e, uint64_t x)
{
    const qp_fabric_format *format = &qp_fabric_formats[e->format];
    const uint64_t sign = qp_fabric_smallest(format->bits);
    const uint64_t infinity = (sign - 1) & ~qp_fabric_mask(format->precision - 1);

    return (x & ~sign) > infinity;
}

/* Bits whose unsigned order is that of the numbers, with -0 below +0. */
static inline uint64_t ordered(const qp_fabric_evaluator *e, uint64_t x)
{
    const uint64_t sign = qp_fabric_smallest(e->width);
    return (x & sign) != 0 ? ~x & qp_fabric_mask(e->width) : x | sign;
}

/* nnan leaves a NaN operand without a defined result. */
static inline qp_fabric_outcome with_nan(const qp_fabric_evaluator *e, bool any_nan)
{
    return any_nan && (e->signature.semantics->fast_math & QP_FABRIC_NNAN) != 0 ? QP_FABRIC_POISON
                                                                                : QP_FABRIC_DEFINED;
}

/* minimum, maximum: a NaN wins, the first of two; minnum, maxnum: it loses. */
#define EXTREMUM(name, nan_wins, takes_first)                                                      \
    LANE2(name)                                                                                    \
    {                                                                                              \
        const bool a_nan = is_nan(e, a), b_nan = is_nan(e, b);                                     \
                                                                                                   \
        if (a_nan || b_nan)                                                                        \
            *result = (a_nan && b_nan) || a_nan == (nan_wins) ? a : b;                             \
        else                                                                                       \
            *result = ordered(e, a) takes_first ordered(e, b) ? a : b;                             \
        return with_nan(e, a_nan || b_nan);                                                        \
    }                                                                                              \
    QP_FABRIC_BINARY(name)

EXTREMUM(minimumf, true, <)
EXTREMUM(maximumf, true, >)
EXTREMUM(minnumf, false, <)
EXTREMUM(maxnumf, false, >)

/* What a predicate accepts: less 1, equal 2, greater 4, unordered 8. */
static const uint8_t accepts[] = {
    [QP_FABRIC_FALSE] = 0, [QP_FABRIC_OEQ] = 2,   [QP_FABRIC_OGT] = 4,   [QP_FABRIC_OGE] = 6,
    [QP_FABRIC_OLT] = 1,   [QP_FABRIC_OLE] = 3,   [QP_FABRIC_ONE] = 5,   [QP_FABRIC_ORD] = 7,
    [QP_FABRIC_UEQ] = 10,  [QP_FABRIC_FUGT] = 12, [QP_FABRIC_FUGE] = 14, [QP_FABRIC_FULT] = 9,
    [QP_FABRIC_FULE] = 11, [QP_FABRIC_UNE] = 13,  [QP_FABRIC_UNO] = 8,   [QP_FABRIC_TRUE] = 15,
};

LANE2(cmpf)
{
    const bool any_nan = is_nan(e, a) || is_nan(e, b);
    const bool zeros = ((a | b) & ~qp_fabric_smallest(e->width)) == 0;
    const uint64_t x = ordered(e, a), y = ordered(e, b);
    const unsigned order = any_nan ? 3 : zeros || x == y ? 1 : x < y ? 0 : 2;

    *result = accepts[e->signature.semantics->predicate] >> order & 1;
    return with_nan(e, any_nan);
}
QP_FABRIC_BINARY(cmpf)
