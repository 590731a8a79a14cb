/* SPDX-License-Identifier: Apache-2.0 */
/*
 * integer.c - the integer schemas (section 2.2). Arithmetic is modulo 2^N on lanes of at most 64
 * bits; and, or, xor, comparisons, minima and casts take lanes of any width.
 */
#include "fabric/lanes.h"

#define LANE1(name)                                                                                \
    static inline qp_fabric_outcome lane_##name(const qp_fabric_evaluator *e, uint64_t a,          \
                                                uint64_t *result)
#define LANE2(name)                                                                                \
    static inline qp_fabric_outcome lane_##name(const qp_fabric_evaluator *e, uint64_t a,          \
                                                uint64_t b, uint64_t *result)

/* ---- addition, subtraction, multiplication ------------------------------------------------ */

static inline uint32_t overflow_flags(const qp_fabric_evaluator *e)
{
    return e->signature.semantics->overflow;
}

/* Whether an exact result that fits 64 bits fits the width. */
static inline bool fits_signed(int64_t value, uint32_t width)
{
    return qp_fabric_signed((uint64_t)value & qp_fabric_mask(width), width) == value;
}

static inline bool fits_unsigned(uint64_t value, uint32_t width)
{
    return value <= qp_fabric_mask(width);
}

/* Of the exact results: whether forming them passed 64 bits, and what was formed. */
typedef struct exact_pair {
    bool signed_passed, unsigned_passed;
    int64_t as_signed;
    uint64_t as_unsigned;
} exact_pair;

/* nsw and nuw: a violating input has no defined result. */
static inline qp_fabric_outcome promised(const qp_fabric_evaluator *e, const exact_pair *exact)
{
    const uint32_t flags = overflow_flags(e);

    if ((flags & QP_FABRIC_NSW) != 0 &&
        (exact->signed_passed || !fits_signed(exact->as_signed, e->width)))
        return QP_FABRIC_POISON;
    if ((flags & QP_FABRIC_NUW) != 0 &&
        (exact->unsigned_passed || !fits_unsigned(exact->as_unsigned, e->width)))
        return QP_FABRIC_POISON;
    return QP_FABRIC_DEFINED;
}

/* builtin: add, sub or mul. */
#define ARITHMETIC(name, builtin, operator)                                                        \
    LANE2(name)                                                                                    \
    {                                                                                              \
        exact_pair exact;                                                                          \
                                                                                                   \
        *result = a operator b;                                                                    \
        if (overflow_flags(e) == 0)                                                                \
            return QP_FABRIC_DEFINED;                                                              \
        exact.signed_passed = __builtin_##builtin##_overflow(                                      \
            qp_fabric_signed(a, e->width), qp_fabric_signed(b, e->width), &exact.as_signed);       \
        exact.unsigned_passed = __builtin_##builtin##_overflow(a, b, &exact.as_unsigned);          \
        return promised(e, &exact);                                                                \
    }                                                                                              \
    QP_FABRIC_BINARY(name)

ARITHMETIC(addi, add, +)
ARITHMETIC(subi, sub, -)
ARITHMETIC(muli, mul, *)

/* ---- saturation --------------------------------------------------------------------------- */

static inline uint64_t clamped_signed(const qp_fabric_evaluator *e, bool passed, bool negative,
                                      int64_t value)
{
    const uint64_t smallest = qp_fabric_smallest(e->width);

    if (!passed && fits_signed(value, e->width))
        return (uint64_t)value;
    return negative ? smallest : smallest - 1;
}

/* A sum or difference that leaves the range has the sign of the first operand. */
LANE2(sadd_sat)
{
    const int64_t x = qp_fabric_signed(a, e->width), y = qp_fabric_signed(b, e->width);
    int64_t sum;
    const bool passed = __builtin_add_overflow(x, y, &sum);

    *result = clamped_signed(e, passed, x < 0, sum);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(sadd_sat)

LANE2(ssub_sat)
{
    const int64_t x = qp_fabric_signed(a, e->width), y = qp_fabric_signed(b, e->width);
    int64_t difference;
    const bool passed = __builtin_sub_overflow(x, y, &difference);

    *result = clamped_signed(e, passed, x < 0, difference);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(ssub_sat)

LANE2(uadd_sat)
{
    uint64_t sum;
    const bool passed = __builtin_add_overflow(a, b, &sum);

    *result = passed || !fits_unsigned(sum, e->width) ? qp_fabric_mask(e->width) : sum;
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(uadd_sat)

LANE2(usub_sat)
{
    (void)e;
    *result = a > b ? a - b : 0;
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(usub_sat)

/* ---- shifts ------------------------------------------------------------------------------- */

LANE2(shli)
{
    const uint32_t flags = overflow_flags(e);

    *result = 0;
    if (b >= e->width)
        return QP_FABRIC_POISON;
    *result = a << b & qp_fabric_mask(e->width);
    if ((flags & QP_FABRIC_NUW) != 0 && *result >> b != a)
        return QP_FABRIC_POISON;
    if ((flags & QP_FABRIC_NSW) != 0 &&
        qp_fabric_shifted_right(*result, (uint32_t)b, e->width) != a)
        return QP_FABRIC_POISON;
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(shli)

/* exact: discarded ones are poison. */
static inline bool discards(const qp_fabric_evaluator *e, uint64_t a, uint64_t amount)
{
    return e->signature.semantics->flag && (a & ((UINT64_C(1) << amount) - 1)) != 0;
}

LANE2(shrui)
{
    *result = 0;
    if (b >= e->width || discards(e, a, b))
        return QP_FABRIC_POISON;
    *result = a >> b;
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(shrui)

LANE2(shrsi)
{
    *result = 0;
    if (b >= e->width || discards(e, a, b))
        return QP_FABRIC_POISON;
    *result = qp_fabric_shifted_right(a, (uint32_t)b, e->width);
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(shrsi)

/* ---- division ----------------------------------------------------------------------------- */

/* exact: a remainder is poison. */
static inline qp_fabric_outcome divided(const qp_fabric_evaluator *e, bool remainder)
{
    return e->signature.semantics->flag && remainder ? QP_FABRIC_POISON : QP_FABRIC_DEFINED;
}

static inline bool no_quotient(const qp_fabric_evaluator *e, uint64_t a, uint64_t b)
{
    return b == 0 || (a == qp_fabric_smallest(e->width) && b == qp_fabric_mask(e->width));
}

LANE2(divsi)
{
    *result = 0;
    if (no_quotient(e, a, b))
        return QP_FABRIC_UNDEFINED;
    const int64_t x = qp_fabric_signed(a, e->width), y = qp_fabric_signed(b, e->width);
    *result = (uint64_t)(x / y);
    return divided(e, x % y != 0);
}
QP_FABRIC_BINARY(divsi)

LANE2(remsi)
{
    *result = 0;
    if (no_quotient(e, a, b))
        return QP_FABRIC_UNDEFINED;
    *result = (uint64_t)(qp_fabric_signed(a, e->width) % qp_fabric_signed(b, e->width));
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(remsi)

LANE2(divui)
{
    *result = 0;
    if (b == 0)
        return QP_FABRIC_UNDEFINED;
    *result = a / b;
    return divided(e, a % b != 0);
}
QP_FABRIC_BINARY(divui)

LANE2(remui)
{
    (void)e;
    *result = 0;
    if (b == 0)
        return QP_FABRIC_UNDEFINED;
    *result = a % b;
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_BINARY(remui)

/* ---- counting zeros ----------------------------------------------------------------------- */

/* llvm's forms have no defined count of zero. */
static inline qp_fabric_outcome all_zero(const qp_fabric_evaluator *e, uint64_t *result)
{
    *result = e->width;
    return e->signature.semantics->flag ? QP_FABRIC_POISON : QP_FABRIC_DEFINED;
}

LANE1(ctlz)
{
    if (a == 0)
        return all_zero(e, result);
    uint32_t zeros = 0;
    for (uint64_t bit = qp_fabric_smallest(e->width); (a & bit) == 0; bit >>= 1)
        zeros++;
    *result = zeros;
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(ctlz)

LANE1(cttz)
{
    if (a == 0)
        return all_zero(e, result);
    uint32_t zeros = 0;
    for (; (a >> zeros & 1) == 0; zeros++) {
    }
    *result = zeros;
    return QP_FABRIC_DEFINED;
}
QP_FABRIC_UNARY(cttz)

/* ---- bitwise: the whole payload at once --------------------------------------------------- */

#define BITWISE(name, operator)                                                                    \
    qp_fabric_outcome qp_fabric_evaluate_##name(                                                   \
        const qp_fabric_evaluator *e, const uint64_t *const *operands, uint64_t *const *results)   \
    {                                                                                              \
        const size_t words = qp_fabric_words(e->lanes * e->width);                                 \
                                                                                                   \
        for (size_t i = 0; i < words; i++)                                                         \
            results[0][i] = operands[0][i] operator operands[1][i];                                \
        return QP_FABRIC_DEFINED;                                                                  \
    }

BITWISE(andi, &)
BITWISE(xori, ^)

/* disjoint: a one in common is poison. */
qp_fabric_outcome qp_fabric_evaluate_ori(const qp_fabric_evaluator *e,
                                         const uint64_t *const *operands, uint64_t *const *results)
{
    const size_t words = qp_fabric_words(e->lanes * e->width);
    uint64_t common = 0;

    for (size_t i = 0; i < words; i++) {
        common |= operands[0][i] & operands[1][i];
        results[0][i] = operands[0][i] | operands[1][i];
    }
    return e->signature.semantics->flag && common != 0 ? QP_FABRIC_POISON : QP_FABRIC_DEFINED;
}

/* ---- order -------------------------------------------------------------------------------- */

/* -1, 0 or 1, of two lanes of at most 64 bits. With the sign bits reversed, signed numbers have the
 * order of unsigned ones. */
static inline int compare_words(uint64_t a, uint64_t b, uint64_t flip)
{
    a ^= flip;
    b ^= flip;
    return a < b ? -1 : a > b;
}

/* The same of lanes of any width, from bit `first`, by words from the top down. */
static int compare_wide(const uint64_t *const *operands, uint64_t first, uint32_t width,
                        bool is_signed)
{
    uint64_t flip = is_signed ? UINT64_C(1) << (width - 1) % 64 : 0;
    int order = 0;

    for (uint32_t left = width, part; left > 0 && order == 0; left -= part, flip = 0) {
        part = (left - 1) % 64 + 1;
        order = compare_words(qp_fabric_get_bits(operands[0], first + left - part, part),
                              qp_fabric_get_bits(operands[1], first + left - part, part), flip);
    }
    return order;
}

/* What a predicate accepts: less, equal and greater are the bits 1, 2 and 4. */
typedef struct predicate_row {
    bool is_signed;
    uint8_t accepts;
} predicate_row;

static const predicate_row predicate_rows[] = {
    [QP_FABRIC_EQ] = {false, 2},  [QP_FABRIC_NE] = {false, 5},  [QP_FABRIC_SLT] = {true, 1},
    [QP_FABRIC_SLE] = {true, 3},  [QP_FABRIC_SGT] = {true, 4},  [QP_FABRIC_SGE] = {true, 6},
    [QP_FABRIC_ULT] = {false, 1}, [QP_FABRIC_ULE] = {false, 3}, [QP_FABRIC_UGT] = {false, 4},
    [QP_FABRIC_UGE] = {false, 6},
};

static inline uint64_t accepted(const predicate_row *row, int order)
{
    return row->accepts >> (order + 1) & 1;
}

bool qp_fabric_integer_predicate_holds(uint32_t predicate, uint64_t a, uint64_t b, uint32_t width)
{
    const predicate_row *row = &predicate_rows[predicate];

    return accepted(row, compare_words(a, b, row->is_signed ? qp_fabric_smallest(width) : 0)) != 0;
}

LANE2(cmpi)
{
    *result = qp_fabric_integer_predicate_holds(e->signature.semantics->predicate, a, b, e->width);
    return QP_FABRIC_DEFINED;
}

qp_fabric_outcome qp_fabric_evaluate_cmpi(const qp_fabric_evaluator *e,
                                          const uint64_t *const *operands, uint64_t *const *results)
{
    const predicate_row *row = &predicate_rows[e->signature.semantics->predicate];

    if (e->width <= 64)
        return qp_fabric_each2(e, operands, results[0], lane_cmpi);
    qp_fabric_clear_result(e, results[0]);
    for (uint64_t i = 0; i < e->lanes; i++) {
        int order = compare_wide(operands, i * e->width, e->width, row->is_signed);
        qp_fabric_set_bits(results[0], i, 1, accepted(row, order));
    }
    return QP_FABRIC_DEFINED;
}

/* The lesser lane (`sign` -1) or the greater one (1), of any width. */
static qp_fabric_outcome choose_wide(const qp_fabric_evaluator *e, const uint64_t *const *operands,
                                     uint64_t *result, bool is_signed, int sign)
{
    qp_fabric_clear_result(e, result);
    for (uint64_t i = 0; i < e->lanes; i++) {
        const uint64_t first = i * e->width;
        const int order = compare_wide(operands, first, e->width, is_signed);
        qp_fabric_copy_bits(result, first, operands[order == sign ? 0 : 1], first, e->width);
    }
    return QP_FABRIC_DEFINED;
}

#define EXTREMUM(name, is_signed, sign)                                                            \
    LANE2(name)                                                                                    \
    {                                                                                              \
        const uint64_t flip = (is_signed) ? qp_fabric_smallest(e->width) : 0;                      \
        *result = compare_words(a, b, flip) == (sign) ? a : b;                                     \
        return QP_FABRIC_DEFINED;                                                                  \
    }                                                                                              \
    qp_fabric_outcome qp_fabric_evaluate_##name(                                                   \
        const qp_fabric_evaluator *e, const uint64_t *const *operands, uint64_t *const *results)   \
    {                                                                                              \
        return e->width <= 64 ? qp_fabric_each2(e, operands, results[0], lane_##name)              \
                              : choose_wide(e, operands, results[0], is_signed, sign);             \
    }

EXTREMUM(minsi, true, -1)
EXTREMUM(maxsi, true, 1)
EXTREMUM(minui, false, -1)
EXTREMUM(maxui, false, 1)

/* ---- casts -------------------------------------------------------------------------------- */

/* Whether bits [first, end) are all like `bit`. */
static bool all_bits(const uint64_t *payload, uint64_t first, uint64_t end, uint64_t bit)
{
    for (uint64_t i = first; i < end; i++)
        if (qp_fabric_get_bits(payload, i, 1) != bit)
            return false;
    return true;
}

/* nneg, and trunci's nsw and nuw, of the lane from bit `first`; a schema without one of them has
 * its flags zero. */
static qp_fabric_outcome cast_promises(const qp_fabric_evaluator *e, const uint64_t *operand,
                                       uint64_t first)
{
    const uint64_t cut = first + e->result_width, end = first + e->width;

    if (e->signature.semantics->flag && qp_fabric_get_bits(operand, end - 1, 1) != 0)
        return QP_FABRIC_POISON;
    if ((overflow_flags(e) & QP_FABRIC_NUW) != 0 && !all_bits(operand, cut, end, 0))
        return QP_FABRIC_POISON;
    if ((overflow_flags(e) & QP_FABRIC_NSW) != 0 &&
        !all_bits(operand, cut, end, qp_fabric_get_bits(operand, cut - 1, 1)))
        return QP_FABRIC_POISON;
    return QP_FABRIC_DEFINED;
}

/* Lanes of any two widths. */
static qp_fabric_outcome cast_wide(const qp_fabric_evaluator *e, const uint64_t *operand,
                                   uint64_t *result, bool sign_extends)
{
    const uint32_t from = e->width, to = e->result_width;
    qp_fabric_outcome outcome = QP_FABRIC_DEFINED;

    qp_fabric_clear_result(e, result);
    for (uint64_t i = 0; i < e->lanes && outcome == QP_FABRIC_DEFINED; i++) {
        outcome = cast_promises(e, operand, i * from);
        qp_fabric_copy_bits(result, i * to, operand, i * from, from < to ? from : to);
        if (sign_extends && from < to && qp_fabric_get_bits(operand, i * from + from - 1, 1) != 0)
            qp_fabric_set_ones(result, i * to + from, to - from);
    }
    return outcome;
}

#define CAST(name, sign_extends)                                                                   \
    qp_fabric_outcome qp_fabric_evaluate_##name(                                                   \
        const qp_fabric_evaluator *e, const uint64_t *const *operands, uint64_t *const *results)   \
    {                                                                                              \
        return e->width <= 64 && e->result_width <= 64                                             \
                   ? qp_fabric_each1(e, operands, results[0], lane_##name)                         \
                   : cast_wide(e, operands[0], results[0], sign_extends);                          \
    }

LANE1(extsi)
{
    *result = (uint64_t)qp_fabric_signed(a, e->width);
    return QP_FABRIC_DEFINED;
}
CAST(extsi, true)

LANE1(extui)
{
    *result = a;
    return e->signature.semantics->flag && a >= qp_fabric_smallest(e->width) ? QP_FABRIC_POISON
                                                                             : QP_FABRIC_DEFINED;
}
CAST(extui, false)

LANE1(trunci)
{
    const uint32_t flags = overflow_flags(e);

    *result = a & qp_fabric_mask(e->result_width);
    if ((flags & QP_FABRIC_NUW) != 0 && *result != a)
        return QP_FABRIC_POISON;
    if ((flags & QP_FABRIC_NSW) != 0 &&
        qp_fabric_signed(*result, e->result_width) != qp_fabric_signed(a, e->width))
        return QP_FABRIC_POISON;
    return QP_FABRIC_DEFINED;
}
CAST(trunci, false)

/* Index casts narrow as well as widen. */
#define lane_index_cast lane_extsi
CAST(index_cast, true)
#define lane_index_castui lane_extui
CAST(index_castui, false)
