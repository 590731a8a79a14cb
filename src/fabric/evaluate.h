/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - what an operation schema computes (section 2.2), on payloads of any width.
 * Everything that can be refused is refused when an evaluator is made; a firing only computes.
 *
 * A payload is an array of 64-bit words, bit k in word k / 64 (section 1.1: lane 0 lowest), unused
 * high bits zero; a payload of 0 bits has no words. No payload is poison: a firing whose result is
 * not defined says so, and what it wrote is then of no meaning.
 */
#ifndef QP_FABRIC_EVALUATE_H
#define QP_FABRIC_EVALUATE_H

#include "fabric/model.h"

static inline size_t qp_fabric_words(uint64_t bits)
{
    return (size_t)((bits + 63) / 64);
}

/* Bits [first, first + width) of a payload, width at most 64; and their replacement. */
uint64_t qp_fabric_get_bits(const uint64_t *payload, uint64_t first, uint32_t width);
void qp_fabric_set_bits(uint64_t *payload, uint64_t first, uint32_t width, uint64_t value);
/* Copies `width` bits of any number between two payloads. */
void qp_fabric_copy_bits(uint64_t *to, uint64_t to_first, const uint64_t *from, uint64_t from_first,
                         uint64_t width);
/* Bits [first, first + width) become ones. */
void qp_fabric_set_ones(uint64_t *payload, uint64_t first, uint64_t width);

/* Whether a predicate holds of two integers of at most 64 bits. */
bool qp_fabric_integer_predicate_holds(uint32_t predicate, uint64_t a, uint64_t b, uint32_t width);

/* How a firing ended. */
typedef enum qp_fabric_outcome {
    QP_FABRIC_DEFINED = 0,
    QP_FABRIC_POISON,      /* some lane has no defined result (shift amount, nsw, nnan, ..) */
    QP_FABRIC_UNDEFINED,   /* division by zero, MIN / -1 */
    QP_FABRIC_OUT_OF_RANGE /* a selector or a dynamic position; a stream step that fails */
} qp_fabric_outcome;

/* The outcome as the end of a sentence about a firing: "gives poison", .. */
const char *qp_fabric_outcome_text(qp_fabric_outcome outcome);

typedef struct qp_fabric_evaluator qp_fabric_evaluator;

/* Computes all results. Results do not overlap operands; every word of them is written. */
typedef qp_fabric_outcome qp_fabric_evaluate(const qp_fabric_evaluator *e,
                                             const uint64_t *const *operands,
                                             uint64_t *const *results);

/*
 * An actor made ready. `width` and `format` are of one lane of the schema's data operand (select's
 * is operand 1, insert's the destination), `result_width` and `result_format` of result 0. It
 * points into the graph, or wherever the signature does.
 */
struct qp_fabric_evaluator {
    qp_fabric_evaluate *evaluate; /* NULL for the token schemas: see transition.h */
    qp_fabric_signature signature;
    uint64_t lanes;
    uint32_t width, result_width;
    int format, result_format; /* ordinals of qp_fabric_formats, -1 where it is no float */
    uint32_t rounding;         /* with the default in place */
};

/*
 * Makes an evaluator. Unsupported where the library was built without MPFR and the schema has
 * QP_FABRIC_FLAG_MPFR, or where an arithmetic schema has integers over 64 bits; bitwise, select,
 * min/max, compare and moving schemas take any width.
 */
qp_status qp_fabric_evaluator_make(const qp_fabric_signature *signature, qp_fabric_place place,
                                   qp_fabric_evaluator *evaluator, qp_fabric_error *error);

/*
 * The functions of the rows of schemas.inc, by the column `evaluation`; NONE has none.
 *
 *     E(name, data operand, widest lane)
 *
 * The data operand is the one that `width` and `format` are of. A lane of more bits than the third
 * column is refused; ANY takes all that a type allows.
 */
#define QP_FABRIC_ANY QP_FABRIC_PAYLOAD_BITS_MAX
/* clang-format off */
#define QP_FABRIC_EVALUATIONS(E)                                                                   \
    E(addi, 0, 64) E(subi, 0, 64) E(muli, 0, 64) E(shli, 0, 64) E(shrsi, 0, 64) E(shrui, 0, 64)    \
    E(divsi, 0, 64) E(divui, 0, 64) E(remsi, 0, 64) E(remui, 0, 64)                                \
    E(sadd_sat, 0, 64) E(uadd_sat, 0, 64) E(ssub_sat, 0, 64) E(usub_sat, 0, 64)                    \
    E(ctlz, 0, 64) E(cttz, 0, 64)                                                                  \
    E(andi, 0, QP_FABRIC_ANY) E(ori, 0, QP_FABRIC_ANY) E(xori, 0, QP_FABRIC_ANY)                   \
    E(minsi, 0, QP_FABRIC_ANY) E(maxsi, 0, QP_FABRIC_ANY) E(minui, 0, QP_FABRIC_ANY)               \
    E(maxui, 0, QP_FABRIC_ANY) E(cmpi, 0, QP_FABRIC_ANY) E(select, 1, QP_FABRIC_ANY)               \
    E(extsi, 0, QP_FABRIC_ANY) E(extui, 0, QP_FABRIC_ANY) E(trunci, 0, QP_FABRIC_ANY)              \
    E(index_cast, 0, QP_FABRIC_ANY) E(index_castui, 0, QP_FABRIC_ANY) E(bits, 0, QP_FABRIC_ANY)    \
    E(extract, 0, QP_FABRIC_ANY) E(insert, 1, QP_FABRIC_ANY) E(shuffle, 0, QP_FABRIC_ANY)          \
    E(negf, 0, 64) E(absf, 0, 64) E(minimumf, 0, 64) E(maximumf, 0, 64) E(minnumf, 0, 64)          \
    E(maxnumf, 0, 64) E(cmpf, 0, 64)                                                               \
    E(addf, 0, 64) E(subf, 0, 64) E(mulf, 0, 64) E(divf, 0, 64) E(remf, 0, 64) E(fma, 0, 64)       \
    E(extf, 0, 64) E(truncf, 0, 64) E(sitofp, 0, 64) E(uitofp, 0, 64) E(fptosi, 0, 64)             \
    E(fptoui, 0, 64) E(fptosi_sat, 0, 64) E(fptoui_sat, 0, 64)                                     \
    E(sin, 0, 64) E(cos, 0, 64) E(tan, 0, 64) E(sinh, 0, 64) E(cosh, 0, 64) E(tanh, 0, 64)         \
    E(exp, 0, 64) E(exp2, 0, 64) E(expm1, 0, 64) E(log, 0, 64) E(log2, 0, 64) E(log10, 0, 64)      \
    E(log1p, 0, 64) E(floor, 0, 64) E(ceil, 0, 64) E(round, 0, 64) E(trunc, 0, 64)                 \
    E(roundeven, 0, 64) E(sqrt, 0, 64) E(rsqrt, 0, 64) E(erf, 0, 64) E(powf, 0, 64)
/* clang-format on */
#define E(name, data, widest) qp_fabric_evaluate qp_fabric_evaluate_##name;
QP_FABRIC_EVALUATIONS(E)
#undef E

/* ---- the seam to MPFR (float_mpfr.c) ------------------------------------------------------ */

/* The functions that are rounded correctly; unary ones ignore y and z, binary ones z. */
typedef enum qp_fabric_float_function {
    QP_FABRIC_FLOAT_ADD,
    QP_FABRIC_FLOAT_SUB,
    QP_FABRIC_FLOAT_MUL,
    QP_FABRIC_FLOAT_DIV,
    QP_FABRIC_FLOAT_REM,
    QP_FABRIC_FLOAT_FMA,
    QP_FABRIC_FLOAT_CONVERT,
    QP_FABRIC_FLOAT_SIN,
    QP_FABRIC_FLOAT_COS,
    QP_FABRIC_FLOAT_TAN,
    QP_FABRIC_FLOAT_SINH,
    QP_FABRIC_FLOAT_COSH,
    QP_FABRIC_FLOAT_TANH,
    QP_FABRIC_FLOAT_EXP,
    QP_FABRIC_FLOAT_EXP2,
    QP_FABRIC_FLOAT_EXPM1,
    QP_FABRIC_FLOAT_LOG,
    QP_FABRIC_FLOAT_LOG2,
    QP_FABRIC_FLOAT_LOG10,
    QP_FABRIC_FLOAT_LOG1P,
    QP_FABRIC_FLOAT_FLOOR,
    QP_FABRIC_FLOAT_CEIL,
    QP_FABRIC_FLOAT_ROUND,
    QP_FABRIC_FLOAT_TRUNC,
    QP_FABRIC_FLOAT_ROUND_EVEN,
    QP_FABRIC_FLOAT_SQRT,
    QP_FABRIC_FLOAT_RSQRT,
    QP_FABRIC_FLOAT_ERF,
    QP_FABRIC_FLOAT_POW
} qp_fabric_float_function;

typedef struct qp_fabric_float_call {
    qp_fabric_float_function function;
    const qp_fabric_format *from, *to;
    uint32_t rounding;
} qp_fabric_float_call;

/*
 * What rounds. Raw bits in, raw bits out; subnormals are kept, and a NaN result is the one of
 * section 2.2. No call changes what the rest of the program sees of MPFR.
 */
typedef struct qp_fabric_float_provider {
    uint64_t (*compute)(const qp_fabric_float_call *call, uint64_t x, uint64_t y, uint64_t z);
    /* From an integer of at most 64 bits (`is_signed`), to nearest even. */
    uint64_t (*from_integer)(const qp_fabric_format *to, uint64_t value, uint32_t width,
                             bool is_signed);
    /* Toward zero; false where the value is not representable (*integer is then the saturated one,
     * 0 for a NaN). */
    bool (*to_integer)(const qp_fabric_format *from, uint64_t x, uint32_t width, bool is_signed,
                       uint64_t *integer);
} qp_fabric_float_provider;

/* NULL where the library was built without MPFR. */
extern const qp_fabric_float_provider *const qp_fabric_floats;

#endif
