/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float_mpfr.c - the provider of rounded results (evaluate.h), by MPFR.
 *
 * MPFR gives a result's first 56 bits and whether anything follows them; the rounding to a format,
 * in any of the five modes and with subnormals, is done here, once. That is exact: the widest
 * format has 53 bits, and three more decide every mode.
 *
 * MPFR keeps its exponent range and its flags for each thread; a call sets what it needs and puts
 * back what it found. Some functions take scratch memory from GMP's allocator, which ends the
 * program where there is none.
 */
#include "fabric/lanes.h"

#ifndef QP_HAVE_MPFR

const qp_fabric_float_provider *const qp_fabric_floats = NULL;

#else

#    include <stdint.h>

#    include <mpfr.h>

enum {
    PRECISION = 56,
    EXPONENTS = 8192 /* beyond every format; products of three numbers stay inside */
};

/* ---- formats ------------------------------------------------------------------------------ */

static uint64_t sign_bit(const qp_fabric_format *f)
{
    return qp_fabric_smallest(f->bits);
}

static uint64_t infinity(const qp_fabric_format *f)
{
    return (sign_bit(f) - 1) & ~qp_fabric_mask(f->precision - 1);
}

/* The NaN of section 2.2: sign 0, top mantissa bit set, the rest zero. */
static uint64_t quiet_nan(const qp_fabric_format *f)
{
    return infinity(f) | UINT64_C(1) << (f->precision - 2);
}

/* A finite number as magnitude * 2^exponent; `more` where a little is still to be added. */
typedef struct number {
    bool negative, more;
    uint64_t magnitude;
    int32_t exponent;
} number;

typedef enum number_class { FINITE, INFINITE, NOT_A_NUMBER } number_class;

static number_class unpack(const qp_fabric_format *f, uint64_t bits, number *n)
{
    const uint64_t magnitude = bits & (sign_bit(f) - 1);
    const uint64_t fraction = magnitude & qp_fabric_mask(f->precision - 1);
    const int32_t biased = (int32_t)(magnitude >> (f->precision - 1));

    *n = (number){.negative = (bits & sign_bit(f)) != 0};
    if (magnitude >= infinity(f))
        return magnitude > infinity(f) ? NOT_A_NUMBER : INFINITE;
    n->magnitude = biased > 0 ? fraction | UINT64_C(1) << (f->precision - 1) : fraction;
    n->exponent = f->emin - (int32_t)(f->precision - 1) + (biased > 0 ? biased - 1 : 0);
    return FINITE;
}

/* ---- rounding ----------------------------------------------------------------------------- */

/* Whether the magnitude goes up: `half` and `rest` say what is cut off, `odd` what stays. */
static bool rounds_up(uint32_t rounding, bool negative, bool odd, bool half, bool rest)
{
    switch (rounding) {
    case QP_FABRIC_TO_NEAREST_EVEN:
        return half && (rest || odd);
    case QP_FABRIC_TO_NEAREST_AWAY:
        return half;
    case QP_FABRIC_DOWNWARD:
        return negative && (half || rest);
    case QP_FABRIC_UPWARD:
        return !negative && (half || rest);
    default: /* toward zero */
        return false;
    }
}

/* An overflow goes to infinity where a number just below it would go up. */
static uint64_t overflowed(const qp_fabric_format *f, uint32_t rounding, bool negative)
{
    return infinity(f) - (rounds_up(rounding, negative, true, true, true) ? 0 : 1);
}

/*
 * Rounds to a format. The magnitude is moved up to bit 63; the last bit that stays then has the
 * weight 2^(max(E, emin) - (precision - 1)), where E is the exponent of the top bit. A carry out of
 * the fraction runs into the exponent, which is what it should do, up to infinity.
 */
static uint64_t round_number(const qp_fabric_format *f, number n, uint32_t rounding)
{
    const uint64_t sign = n.negative ? sign_bit(f) : 0;
    const int32_t last = (int32_t)f->precision - 1;

    if (n.magnitude == 0) {
        if (!n.more)
            return sign;
        n.magnitude = 1; /* anything below half of the smallest number */
        n.exponent = f->emin - last - 2;
    }
    const int zeros = __builtin_clzll(n.magnitude);
    const uint64_t top = n.magnitude << zeros;
    const int32_t exponent = n.exponent - zeros + 63;
    if (exponent > f->emax)
        return sign | overflowed(f, rounding, n.negative);
    const int32_t lowest = exponent > f->emin ? exponent : f->emin;
    const int32_t cut = 63 - last + (lowest - exponent); /* bits cut off: at least 11 */
    const uint64_t kept = cut < 64 ? top >> cut : 0;
    const bool half = cut <= 64 && (top >> (cut - 1) & 1) != 0;
    const bool rest = n.more || (cut <= 64 ? (top & qp_fabric_mask((uint32_t)cut - 1)) != 0 : true);
    const uint64_t biased = (uint64_t)(lowest - f->emin);
    return sign | ((biased << last) + kept +
                   (rounds_up(rounding, n.negative, (kept & 1) != 0, half, rest) ? 1 : 0));
}

/* ---- numbers in MPFR ---------------------------------------------------------------------- */

static void load(mpfr_ptr to, const qp_fabric_format *f, uint64_t bits)
{
    number n;

    switch (unpack(f, bits, &n)) {
    case NOT_A_NUMBER:
        mpfr_set_nan(to);
        return;
    case INFINITE:
        mpfr_set_inf(to, n.negative ? -1 : 1);
        return;
    case FINITE:
        break;
    }
    mpfr_set_uj_2exp(to, n.magnitude, n.exponent, MPFR_RNDZ); /* exact: 53 bits at most */
    mpfr_setsign(to, to, n.negative, MPFR_RNDZ);
}

/* `more`: whether the exact result lies beyond `from`, which was rounded toward zero. Changes
 * `from`. */
static uint64_t store(const qp_fabric_format *f, mpfr_ptr from, bool more, uint32_t rounding)
{
    number n = {.negative = mpfr_signbit(from) != 0, .more = more};
    mpfr_exp_t exponent;

    if (mpfr_nan_p(from))
        return quiet_nan(f);
    if (mpfr_inf_p(from))
        return infinity(f) | (n.negative ? sign_bit(f) : 0);
    if (!mpfr_zero_p(from)) {
        mpfr_abs(from, from, MPFR_RNDZ);
        mpfr_frexp(&exponent, from, from, MPFR_RNDZ);
        mpfr_mul_2ui(from, from, PRECISION, MPFR_RNDZ);
        n.magnitude = mpfr_get_uj(from, MPFR_RNDZ);
        n.exponent = (int32_t)exponent - PRECISION; /* within EXPONENTS */
    }
    return round_number(f, n, rounding);
}

/* ---- functions ---------------------------------------------------------------------------- */

typedef int unary_function(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int binary_function(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
typedef int ternary_function(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* One of the three. */
typedef struct function_row {
    unary_function *unary;
    binary_function *binary;
    ternary_function *ternary;
} function_row;

static int same(mpfr_ptr to, mpfr_srcptr x, mpfr_rnd_t mode)
{
    return mpfr_set(to, x, mode);
}

/* 1 / sqrt(x): of -0, whose root is -0, it is -infinity, where MPFR has +infinity. */
static int reciprocal_root(mpfr_ptr to, mpfr_srcptr x, mpfr_rnd_t mode)
{
    const bool negative = mpfr_zero_p(x) && mpfr_signbit(x);
    const int inexact = mpfr_rec_sqrt(to, x, mode);

    if (negative)
        mpfr_set_inf(to, -1);
    return inexact;
}

static const function_row functions[] = {
    [QP_FABRIC_FLOAT_ADD] = {.binary = mpfr_add},
    [QP_FABRIC_FLOAT_SUB] = {.binary = mpfr_sub},
    [QP_FABRIC_FLOAT_MUL] = {.binary = mpfr_mul},
    [QP_FABRIC_FLOAT_DIV] = {.binary = mpfr_div},
    [QP_FABRIC_FLOAT_REM] = {.binary = mpfr_fmod},
    [QP_FABRIC_FLOAT_FMA] = {.ternary = mpfr_fma},
    [QP_FABRIC_FLOAT_CONVERT] = {.unary = same},
    [QP_FABRIC_FLOAT_SIN] = {.unary = mpfr_sin},
    [QP_FABRIC_FLOAT_COS] = {.unary = mpfr_cos},
    [QP_FABRIC_FLOAT_TAN] = {.unary = mpfr_tan},
    [QP_FABRIC_FLOAT_SINH] = {.unary = mpfr_sinh},
    [QP_FABRIC_FLOAT_COSH] = {.unary = mpfr_cosh},
    [QP_FABRIC_FLOAT_TANH] = {.unary = mpfr_tanh},
    [QP_FABRIC_FLOAT_EXP] = {.unary = mpfr_exp},
    [QP_FABRIC_FLOAT_EXP2] = {.unary = mpfr_exp2},
    [QP_FABRIC_FLOAT_EXPM1] = {.unary = mpfr_expm1},
    [QP_FABRIC_FLOAT_LOG] = {.unary = mpfr_log},
    [QP_FABRIC_FLOAT_LOG2] = {.unary = mpfr_log2},
    [QP_FABRIC_FLOAT_LOG10] = {.unary = mpfr_log10},
    [QP_FABRIC_FLOAT_LOG1P] = {.unary = mpfr_log1p},
    [QP_FABRIC_FLOAT_FLOOR] = {.unary = mpfr_rint_floor},
    [QP_FABRIC_FLOAT_CEIL] = {.unary = mpfr_rint_ceil},
    [QP_FABRIC_FLOAT_ROUND] = {.unary = mpfr_rint_round},
    [QP_FABRIC_FLOAT_TRUNC] = {.unary = mpfr_rint_trunc},
    [QP_FABRIC_FLOAT_ROUND_EVEN] = {.unary = mpfr_rint_roundeven},
    [QP_FABRIC_FLOAT_SQRT] = {.unary = mpfr_sqrt},
    [QP_FABRIC_FLOAT_RSQRT] = {.unary = reciprocal_root},
    [QP_FABRIC_FLOAT_ERF] = {.unary = mpfr_erf},
    [QP_FABRIC_FLOAT_POW] = {.binary = mpfr_pow},
};

static int apply(const function_row *row, mpfr_ptr to, mpfr_srcptr x[3], mpfr_rnd_t mode)
{
    if (row->unary != NULL)
        return row->unary(to, x[0], mode);
    return row->binary != NULL ? row->binary(to, x[0], x[1], mode)
                               : row->ternary(to, x[0], x[1], x[2], mode);
}

/* What MPFR's range and flags were. */
typedef struct environment {
    mpfr_exp_t emin, emax;
    mpfr_flags_t flags;
} environment;

static environment enter(void)
{
    const environment found = {mpfr_get_emin(), mpfr_get_emax(), mpfr_flags_save()};

    mpfr_set_emin(-EXPONENTS);
    mpfr_set_emax(EXPONENTS);
    return found;
}

static void leave(environment found)
{
    mpfr_set_emin(found.emin);
    mpfr_set_emax(found.emax);
    mpfr_flags_restore(found.flags, MPFR_FLAGS_ALL);
}

/* An exact zero's sign depends on the mode (x - x is -0 downward), so it is asked for again. */
static uint64_t compute(const qp_fabric_float_call *call, uint64_t x, uint64_t y, uint64_t z)
{
    const function_row *row = &functions[call->function];
    const environment found = enter();
    MPFR_DECL_INIT(a, PRECISION);
    MPFR_DECL_INIT(b, PRECISION);
    MPFR_DECL_INIT(c, PRECISION);
    MPFR_DECL_INIT(result, PRECISION);
    mpfr_srcptr operands[3] = {a, b, c};

    load(a, call->from, x);
    if (row->unary == NULL)
        load(b, call->from, y);
    if (row->ternary != NULL)
        load(c, call->from, z);
    const bool more = apply(row, result, operands, MPFR_RNDZ) != 0;
    if (!more && mpfr_zero_p(result) && call->rounding == QP_FABRIC_DOWNWARD)
        (void)apply(row, result, operands, MPFR_RNDD);
    const uint64_t bits = store(call->to, result, more, call->rounding);
    leave(found);
    return bits;
}

/* ---- integers ----------------------------------------------------------------------------- */

static uint64_t from_integer(const qp_fabric_format *to, uint64_t value, uint32_t width,
                             bool is_signed)
{
    number n = {.magnitude = value};

    if (is_signed && value >= qp_fabric_smallest(width)) {
        n.negative = true;
        n.magnitude = (0 - value) & qp_fabric_mask(width);
    }
    return round_number(to, n, QP_FABRIC_TO_NEAREST_EVEN);
}

/* The magnitude without its fraction; false where it passes 64 bits. */
static bool whole(const number *n, uint64_t *magnitude)
{
    *magnitude = 0;
    if (n->magnitude == 0 || n->exponent <= -64)
        return true;
    if (n->exponent <= 0) {
        *magnitude = n->magnitude >> -n->exponent;
        return true;
    }
    if (n->exponent > __builtin_clzll(n->magnitude))
        return false;
    *magnitude = n->magnitude << n->exponent;
    return true;
}

static bool to_integer(const qp_fabric_format *from, uint64_t x, uint32_t width, bool is_signed,
                       uint64_t *integer)
{
    const uint64_t smallest = qp_fabric_smallest(width);
    uint64_t magnitude = 0;
    number n;

    *integer = 0;
    const number_class kind = unpack(from, x, &n);
    if (kind == NOT_A_NUMBER)
        return false;
    const uint64_t most = is_signed    ? (n.negative ? smallest : smallest - 1)
                          : n.negative ? 0
                                       : qp_fabric_mask(width);
    const bool fits = kind == FINITE && whole(&n, &magnitude) && magnitude <= most;
    if (!fits)
        magnitude = most;
    *integer = (n.negative ? 0 - magnitude : magnitude) & qp_fabric_mask(width);
    return fits;
}

static const qp_fabric_float_provider provider = {compute, from_integer, to_integer};

const qp_fabric_float_provider *const qp_fabric_floats = &provider;

#endif
