/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_float.c - the floating-point schemas (section 2.2): f32 and f64 against the host in each of
 * its rounding modes; f16 and bf16, and the mode the host lacks, against a search through all their
 * values; special functions against the host's to half a unit, and by hand.
 */
#include "evaluating.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

typedef enum format_number { F16, BF16, F32, F64 } format_number;

static const char *const names[] = {"f16", "bf16", "f32", "f64"};

/* The tests below round, which this library may not do. */
static void needs_float(void)
{
    if (!qp_fabric_has_float())
        skip();
}

/* The host must compute in the formats themselves. */
static void needs_plain_host(void)
{
    needs_float();
#if FLT_EVAL_METHOD != 0
    skip();
#endif
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

/* One actor with the same format on all sides. */
static void open_float(subject *s, const char *schema, format_number format, int operands,
                       const qp_fabric_semantics *semantics)
{
    char types[32] = "";

    for (int i = 0; i < operands; i++) {
        strcat(types, i > 0 ? "," : "");
        strcat(types, names[format]);
    }
    subject_make(s, schema, types, names[format], semantics);
}

static uint64_t run(const subject *s, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t operands[] = {a, b, c};
    uint64_t result;

    assert_int_equal(evaluate1(s, operands, &result), QP_FABRIC_DEFINED);
    return result;
}

/* ---- random numbers ----------------------------------------------------------------------- */

/* Any bits, and often: equal exponents, subnormals, zeros, infinities, NaNs, the largest. */
static uint64_t random_float(uint64_t *seed, const qp_fabric_format *f)
{
    const uint64_t r = random_u64(seed);
    const uint64_t fraction = random_u64(seed) & test_mask(f->precision - 1);
    const uint64_t sign = (r & 1) << (f->bits - 1);
    const uint32_t last = f->precision - 1;
    const uint64_t exponents = test_mask(f->bits - f->precision);

    switch (r >> 8 & 15) {
    case 0:
        return sign | fraction; /* subnormal */
    case 1:
        return sign | exponents << last; /* infinity */
    case 2:
        return sign | exponents << last | fraction; /* NaN, as a rule */
    case 3:
        return sign;
    case 4:
        return sign | (exponents - 1) << last | fraction;
    case 5:
        return sign | UINT64_C(1) << last | fraction >> (r >> 16 & 7);
    case 6:
    case 7:
    case 8:
    case 9: /* near one, few bits */
        return sign | ((exponents >> 1) + (r >> 12 & 7)) << last |
               (fraction & ~test_mask((uint32_t)(r >> 16) % last));
    default:
        return random_u64(seed) & test_mask(f->bits);
    }
}

/* ---- the host ----------------------------------------------------------------------------- */

/* The host's modes; a system without them has none but the first. */
static const struct {
    uint32_t rounding;
    int mode;
} modes[] = {
    {QP_FABRIC_TO_NEAREST_EVEN, FE_TONEAREST},
#if defined(FE_DOWNWARD)
    {QP_FABRIC_DOWNWARD, FE_DOWNWARD},
#endif
#if defined(FE_UPWARD)
    {QP_FABRIC_UPWARD, FE_UPWARD},
#endif
#if defined(FE_TOWARDZERO)
    {QP_FABRIC_TOWARD_ZERO, FE_TOWARDZERO},
#endif
};

enum { MODES = sizeof modes / sizeof modes[0] };

/* volatile keeps the operation between the two changes of the mode. */
#define HOST(type, bits, of, mode, expression)                                                     \
    do {                                                                                           \
        volatile type x = of(a), y = of(b), z = of(c), r;                                          \
        fesetround(mode);                                                                          \
        r = (expression);                                                                          \
        fesetround(FE_TONEAREST);                                                                  \
        (void)y;                                                                                   \
        (void)z;                                                                                   \
        return bits(r);                                                                            \
    } while (0)

#define HOST_FUNCTION(name, expression64, expression32)                                            \
    static uint64_t name##_f64(uint64_t a, uint64_t b, uint64_t c, int mode)                       \
    {                                                                                              \
        HOST(double, bits_of, double_of, mode, expression64);                                      \
    }                                                                                              \
    static uint64_t name##_f32(uint64_t a, uint64_t b, uint64_t c, int mode)                       \
    {                                                                                              \
        HOST(float, bits_of_float, float_of, mode, expression32);                                  \
    }

HOST_FUNCTION(add, x + y, x + y)
HOST_FUNCTION(sub, x - y, x - y)
HOST_FUNCTION(mul, x *y, x *y)
HOST_FUNCTION(div, x / y, x / y)
HOST_FUNCTION(rem, fmod(x, y), fmodf(x, y))
HOST_FUNCTION(fma, fma(x, y, z), fmaf(x, y, z))
HOST_FUNCTION(sqrt, sqrt(x), sqrtf(x))
HOST_FUNCTION(floor, floor(x), floorf(x))
HOST_FUNCTION(ceil, ceil(x), ceilf(x))
HOST_FUNCTION(round, round(x), roundf(x))
HOST_FUNCTION(trunc, trunc(x), truncf(x))
HOST_FUNCTION(roundeven, nearbyint(x), nearbyintf(x))

typedef struct host_case {
    const char *schema;
    int operands;
    bool rounds; /* in all modes; else to nearest even */
    uint64_t (*f64)(uint64_t, uint64_t, uint64_t, int);
    uint64_t (*f32)(uint64_t, uint64_t, uint64_t, int);
} host_case;

static const host_case host_cases[] = {
    {"arith.addf", 2, true, add_f64, add_f32},
    {"arith.subf", 2, true, sub_f64, sub_f32},
    {"arith.mulf", 2, true, mul_f64, mul_f32},
    {"arith.divf", 2, true, div_f64, div_f32},
    {"math.fma", 3, true, fma_f64, fma_f32},
    {"arith.remf", 2, false, rem_f64, rem_f32},
    {"math.sqrt", 1, false, sqrt_f64, sqrt_f32},
    {"math.floor", 1, false, floor_f64, floor_f32},
    {"math.ceil", 1, false, ceil_f64, ceil_f32},
    {"math.round", 1, false, round_f64, round_f32},
    {"math.trunc", 1, false, trunc_f64, trunc_f32},
    {"math.roundeven", 1, false, roundeven_f64, roundeven_f32},
};

static bool is_nan_of(const qp_fabric_format *f, uint64_t bits)
{
    const uint64_t magnitude = bits & test_mask(f->bits - 1);
    return magnitude > test_mask(f->bits - f->precision) << (f->precision - 1);
}

/* Section 2.2: sign 0, top mantissa bit set, rest 0. */
static uint64_t the_nan(const qp_fabric_format *f)
{
    return test_mask(f->bits - f->precision + 1) << (f->precision - 2);
}

static void compare_with_host(const host_case *h, format_number format, size_t mode, uint64_t *seed)
{
    const qp_fabric_format *f = &qp_fabric_formats[format];
    const qp_fabric_semantics semantics = {.rounding = modes[mode].rounding};
    subject s;

    open_float(&s, h->schema, format, h->operands, &semantics);
    for (int i = 0; i < 4000; i++) {
        const uint64_t a = random_float(seed, f), b = random_float(seed, f);
        const uint64_t c = (i & 3) == 0 ? a ^ UINT64_C(1) << (f->bits - 1) : random_float(seed, f);
        uint64_t host = (format == F64 ? h->f64 : h->f32)(a, b, c, modes[mode].mode);
        if (is_nan_of(f, host))
            host = the_nan(f);
        const uint64_t ours = run(&s, a, b, c);
        if (ours != host)
            fail_msg("%s %s in mode %u: %llx, %llx, %llx gives %llx, the host %llx", h->schema,
                     f->name, (unsigned)modes[mode].rounding, (unsigned long long)a,
                     (unsigned long long)b, (unsigned long long)c, (unsigned long long)ours,
                     (unsigned long long)host);
    }
    subject_free(&s);
}

static void test_against_the_host(void **state)
{
    uint64_t seed = 11;
    (void)state;
    needs_plain_host();

    for (size_t i = 0; i < sizeof host_cases / sizeof host_cases[0]; i++)
        for (size_t mode = 0; mode < (host_cases[i].rounds ? (size_t)MODES : 1); mode++) {
            compare_with_host(&host_cases[i], F64, mode, &seed);
            compare_with_host(&host_cases[i], F32, mode, &seed);
        }
}

/* ---- 16 bits: a search -------------------------------------------------------------------- */

/* A finite value of a 16-bit format, from its definition. */
static double value16(const qp_fabric_format *f, uint64_t bits)
{
    const int last = (int)f->precision - 1;
    const int biased = (int)(bits >> last & test_mask(f->bits - f->precision));
    const double fraction = (double)(bits & test_mask(f->precision - 1));
    const double magnitude = biased == 0
                                 ? ldexp(fraction, f->emin - last)
                                 : ldexp(fraction + ldexp(1, last), f->emin - last + biased - 1);
    return (bits >> 15 & 1) != 0 ? -magnitude : magnitude;
}

/* The largest magnitude bits whose value is at most |x|; infinity is one more step. */
static uint64_t search_below(const qp_fabric_format *f, double x)
{
    uint64_t low = 0, high = test_mask(f->bits - f->precision) << (f->precision - 1);

    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (value16(f, middle) <= fabs(x))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Rounds an exact double: between the two neighbours by their distances. The step above the largest
 * number is taken for one more number, as section 2.2's IEEE rounding does. */
static uint64_t round16(const qp_fabric_format *f, double x, uint32_t rounding)
{
    const uint64_t below = search_below(f, x), sign = signbit(x) ? 0x8000 : 0;
    const double low = value16(f, below), step = value16(f, below) - value16(f, below - 1);
    const uint64_t infinity = test_mask(f->bits - f->precision) << (f->precision - 1);
    const double high = below + 1 < infinity ? value16(f, below + 1) : low + step;
    const double down = fabs(x) - low, up = high - fabs(x);
    bool goes_up = false;

    if (down == 0)
        return sign | below;
    switch (rounding) {
    case QP_FABRIC_TO_NEAREST_EVEN:
        goes_up = down > up || (down == up && (below & 1) != 0);
        break;
    case QP_FABRIC_TO_NEAREST_AWAY:
        goes_up = down >= up;
        break;
    case QP_FABRIC_DOWNWARD:
        goes_up = sign != 0;
        break;
    case QP_FABRIC_UPWARD:
        goes_up = sign == 0;
        break;
    default:
        break;
    }
    return sign | (below + (goes_up ? 1 : 0));
}

/* f32 to 16 bits in all five modes: random values, and every midpoint of neighbours. */
static void check_narrowing(const subject *s, const qp_fabric_format *f, float x)
{
    const uint64_t expected = round16(f, (double)x, s->evaluator.rounding);
    const uint64_t ours = run(s, bits_of_float(x), 0, 0);

    if (ours != expected)
        fail_msg("%a to %s in mode %u gives %llx, not %llx", (double)x, f->name,
                 (unsigned)s->evaluator.rounding, (unsigned long long)ours,
                 (unsigned long long)expected);
}

static void test_truncf_in_every_mode(void **state)
{
    uint64_t seed = 12;
    (void)state;
    needs_float();

    for (int format = F16; format <= BF16; format++)
        for (uint32_t rounding = QP_FABRIC_TO_NEAREST_EVEN; rounding <= QP_FABRIC_TO_NEAREST_AWAY;
             rounding++) {
            const qp_fabric_format *f = &qp_fabric_formats[format];
            const qp_fabric_semantics semantics = {.rounding = rounding};
            const uint64_t infinity = test_mask(f->bits - f->precision) << (f->precision - 1);
            subject s;
            subject_make(&s, "arith.truncf", "f32", names[format], &semantics);
            for (uint64_t bits = 1; bits + 1 < infinity; bits += 5) {
                const double middle = (value16(f, bits) + value16(f, bits + 1)) / 2;
                const float half = (float)middle; /* exact but for the least of bf16 */
                check_narrowing(&s, f, half);
                check_narrowing(&s, f, -half);
                check_narrowing(&s, f, nextafterf(half, INFINITY));
                check_narrowing(&s, f, nextafterf(half, 0));
            }
            for (int i = 0; i < 2000; i++) {
                const float x = float_of(random_float(&seed, &qp_fabric_formats[F32]));
                if (isfinite(x) && search_below(f, (double)x) > 0)
                    check_narrowing(&s, f, x);
            }
            subject_free(&s);
        }
}

/* Every value of 16 bits widens to itself; a NaN becomes the one NaN. */
static void test_extf_of_every_value(void **state)
{
    (void)state;
    needs_float();

    for (int format = F16; format <= BF16; format++) {
        const qp_fabric_format *f = &qp_fabric_formats[format];
        subject to32, to64;
        subject_make(&to32, "arith.extf", names[format], "f32", NULL);
        subject_make(&to64, "arith.extf", names[format], "f64", NULL);
        for (uint64_t bits = 0; bits < 0x10000; bits++) {
            const uint64_t r32 = run(&to32, bits, 0, 0), r64 = run(&to64, bits, 0, 0);
            if (is_nan_of(f, bits)) {
                assert_true(r32 == the_nan(&qp_fabric_formats[F32]));
                assert_true(r64 == the_nan(&qp_fabric_formats[F64]));
            } else if ((bits & 0x7fff) < the_nan(f) - (UINT64_C(1) << (f->precision - 2))) {
                assert_true(r64 == bits_of(value16(f, bits)));
                assert_true(r32 == bits_of_float((float)value16(f, bits)));
            } else {
                assert_true(r64 ==
                            bits_of((bits & 0x8000) != 0 ? -(double)INFINITY : (double)INFINITY));
            }
        }
        subject_free(&to32);
        subject_free(&to64);
    }
}

/* Sums and products of f16 are exact in double. */
static void test_f16_arithmetic_in_every_mode(void **state)
{
    const qp_fabric_format *f = &qp_fabric_formats[F16];
    uint64_t seed = 13;
    (void)state;
    needs_float();

    for (uint32_t rounding = QP_FABRIC_TO_NEAREST_EVEN; rounding <= QP_FABRIC_TO_NEAREST_AWAY;
         rounding++) {
        const qp_fabric_semantics semantics = {.rounding = rounding};
        subject sum, product;
        open_float(&sum, "arith.addf", F16, 2, &semantics);
        open_float(&product, "arith.mulf", F16, 2, &semantics);
        for (int i = 0; i < 8000; i++) {
            const uint64_t a = random_float(&seed, f), b = random_float(&seed, f);
            const double x = value16(f, a), y = value16(f, b);
            if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00)
                continue;
            if (fabs(x + y) >= value16(f, 1))
                assert_int_equal(run(&sum, a, b, 0), round16(f, x + y, rounding));
            if (fabs(x * y) >= value16(f, 1))
                assert_int_equal(run(&product, a, b, 0), round16(f, x * y, rounding));
        }
        subject_free(&sum);
        subject_free(&product);
    }
}

/* ---- edges, by hand ----------------------------------------------------------------------- */

typedef struct edge {
    const char *schema;
    format_number format;
    uint32_t rounding;
    uint64_t a, b, result;
} edge;

enum { RNE = QP_FABRIC_TO_NEAREST_EVEN, RD, RU, RZ, RA };

/* f16: largest 7bff, infinity 7c00, one 3c00, least normal 0400, least 0001. */
static const edge edges[] = {
    {"arith.addf", F16, RNE, 0x7bff, 0x4c00, 0x7c00}, /* 65504 + 16: half a unit goes to even */
    {"arith.addf", F16, RNE, 0x7bff, 0x4bff, 0x7bff}, /* 65504 + 15.99 */
    {"arith.addf", F16, RA, 0x7bff, 0x4c00, 0x7c00},
    {"arith.addf", F16, RZ, 0x7bff, 0x7bff, 0x7bff},
    {"arith.addf", F16, RD, 0x7bff, 0x7bff, 0x7bff},
    {"arith.addf", F16, RU, 0x7bff, 0x0001, 0x7c00},
    {"arith.addf", F16, RD, 0xfbff, 0x8001, 0xfc00},
    {"arith.addf", F16, RU, 0xfbff, 0xfbff, 0xfbff},
    {"arith.mulf", F16, RNE, 0x0001, 0x3800, 0x0000}, /* half of the least: to even */
    {"arith.mulf", F16, RNE, 0x0001, 0x3801, 0x0001},
    {"arith.mulf", F16, RA, 0x0001, 0x3800, 0x0001},
    {"arith.mulf", F16, RNE, 0x8001, 0x3800, 0x8000},
    {"arith.mulf", F16, RU, 0x0001, 0x0001, 0x0001}, /* far below the least */
    {"arith.mulf", F16, RD, 0x0001, 0x0001, 0x0000},
    {"arith.mulf", F16, RD, 0x8001, 0x0001, 0x8001},
    {"arith.mulf", F16, RNE, 0x03ff, 0x3c01, 0x0400}, /* 1023 * 1.00098: up to normal */
    {"arith.subf", F16, RNE, 0x3c00, 0x3c00, 0x0000},
    {"arith.subf", F16, RD, 0x3c00, 0x3c00, 0x8000},
    {"arith.addf", F16, RD, 0x0000, 0x8000, 0x8000},
    {"arith.addf", F16, RD, 0x0000, 0x0000, 0x0000},
    {"arith.addf", F16, RNE, 0x8000, 0x8000, 0x8000},
    {"arith.subf", F16, RNE, 0x7c00, 0x7c00, 0x7e00}, /* NaN */
    {"arith.divf", F16, RNE, 0x3c00, 0x8000, 0xfc00},
    {"arith.divf", F16, RNE, 0x0000, 0x0000, 0x7e00},
    {"arith.addf", F16, RNE, 0xfe01, 0x3c00, 0x7e00},  /* no payload comes through */
    {"arith.mulf", BF16, RNE, 0x3fc0, 0x3fc0, 0x4010}, /* 1.5 * 1.5 */
    {"arith.addf", BF16, RNE, 0x3f80, 0x3b80, 0x3f80}, /* 1 + 2^-8: tie to even */
    {"arith.addf", BF16, RA, 0x3f80, 0x3b80, 0x3f81},
    {"arith.addf", BF16, RNE, 0x3f81, 0x3b80, 0x3f82},
    {"arith.addf", F32, RA, 0x3f800000, 0x33800000, 0x3f800001}, /* 1 + 2^-24 */
    {"arith.addf", F64, RA, UINT64_C(0x3ff0000000000000), UINT64_C(0x3ca0000000000000),
     UINT64_C(0x3ff0000000000001)}, /* 1 + 2^-53 */
    {"arith.mulf", F64, RA, 1, UINT64_C(0x3fe0000000000000), 1},
    {"arith.remf", F16, RNE, 0xc500, 0x4000, 0xbc00}, /* -5 rem 2 = -1 */
    {"arith.remf", F16, RNE, 0xc400, 0x4000, 0x8000}, /* -4 rem 2 = -0 */
    {"arith.remf", F16, RNE, 0x3c00, 0x7c00, 0x3c00},
    {"arith.remf", F16, RNE, 0x3c00, 0x0000, 0x7e00},
};

static void test_edges(void **state)
{
    (void)state;
    needs_float();

    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        const qp_fabric_semantics semantics = {.rounding = edges[i].rounding};
        subject s;
        open_float(&s, edges[i].schema, edges[i].format, 2, &semantics);
        const uint64_t result = run(&s, edges[i].a, edges[i].b, 0);
        if (result != edges[i].result)
            fail_msg("row %zu gives %llx", i, (unsigned long long)result);
        subject_free(&s);
    }
}

/* An absent rounding attribute is to_nearest_even. */
static void test_rounding_default(void **state)
{
    subject s;
    (void)state;
    needs_float();

    open_float(&s, "arith.addf", BF16, 2, NULL);
    assert_int_equal(run(&s, 0x3f81, 0x3b80, 0), 0x3f82);
    subject_free(&s);
}

/* ---- signs, minima, comparisons: without MPFR too ----------------------------------------- */

static void test_signs_keep_the_payload(void **state)
{
    subject neg, abs;
    (void)state;

    open_float(&neg, "arith.negf", F16, 1, NULL);
    open_float(&abs, "math.absf", F16, 1, NULL);
    assert_int_equal(run(&neg, 0x7d55, 0, 0), 0xfd55);
    assert_int_equal(run(&neg, 0x8000, 0, 0), 0x0000);
    assert_int_equal(run(&abs, 0xfd55, 0, 0), 0x7d55);
    assert_int_equal(run(&abs, 0x8001, 0, 0), 0x0001);
    subject_free(&neg);
    subject_free(&abs);
}

static void test_minima_and_maxima(void **state)
{
    static const struct {
        const char *schema;
        uint64_t a, b, result;
    } rows[] = {
        {"arith.minimumf", 0x3c00, 0xbc00, 0xbc00}, {"arith.minimumf", 0x0000, 0x8000, 0x8000},
        {"arith.minimumf", 0x8000, 0x0000, 0x8000}, {"arith.maximumf", 0x8000, 0x0000, 0x0000},
        {"arith.maximumf", 0xbc00, 0xc000, 0xbc00}, {"arith.minimumf", 0x7d55, 0x3c00, 0x7d55},
        {"arith.minimumf", 0x3c00, 0xfd55, 0xfd55}, {"arith.maximumf", 0x7d55, 0x7e00, 0x7d55},
        {"arith.minnumf", 0x7d55, 0x3c00, 0x3c00},  {"arith.minnumf", 0x3c00, 0x7d55, 0x3c00},
        {"arith.maxnumf", 0xfc00, 0x7e00, 0xfc00},  {"arith.maxnumf", 0x7d55, 0x7e00, 0x7d55},
        {"arith.minnumf", 0x0000, 0x8000, 0x8000},  {"arith.maxnumf", 0x0000, 0x8000, 0x0000},
        {"arith.maxnumf", 0x7c00, 0x7bff, 0x7c00},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        subject s;
        open_float(&s, rows[i].schema, F16, 2, NULL);
        assert_int_equal(run(&s, rows[i].a, rows[i].b, 0), rows[i].result);
        subject_free(&s);
    }
}

/* nnan: a NaN operand has no defined result. */
static void test_nnan(void **state)
{
    static const char *const schemas[] = {"arith.minimumf", "arith.maximumf", "arith.minnumf",
                                          "arith.maxnumf"};
    const qp_fabric_semantics semantics = {.fast_math = QP_FABRIC_NNAN,
                                           .predicate = QP_FABRIC_TRUE};
    const uint64_t with_nan[] = {0x3c00, 0x7e00}, without[] = {0x3c00, 0x7c00};
    uint64_t result;
    subject s;
    (void)state;

    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        open_float(&s, schemas[i], F16, 2, &semantics);
        assert_int_equal(evaluate1(&s, with_nan, &result), QP_FABRIC_POISON);
        assert_int_equal(evaluate1(&s, without, &result), QP_FABRIC_DEFINED);
        subject_free(&s);
    }
    subject_make(&s, "arith.cmpf", "f16,f16", "i1", &semantics);
    assert_int_equal(evaluate1(&s, with_nan, &result), QP_FABRIC_POISON);
    assert_int_equal(evaluate1(&s, without, &result), QP_FABRIC_DEFINED);
    subject_free(&s);
}

static void test_comparisons(void **state)
{
    uint64_t seed = 14;
    (void)state;

    for (uint32_t predicate = QP_FABRIC_FALSE; predicate <= QP_FABRIC_TRUE; predicate++) {
        const qp_fabric_semantics semantics = {.predicate = predicate};
        subject s;
        subject_make(&s, "arith.cmpf", "f64,f64", "i1", &semantics);
        for (int i = 0; i < 4000; i++) {
            const uint64_t a = random_float(&seed, &qp_fabric_formats[F64]);
            const uint64_t b = (i & 7) == 0 ? a : random_float(&seed, &qp_fabric_formats[F64]);
            const double x = double_of(a), y = double_of(b);
            const bool unordered = isunordered(x, y);
            const bool equal = !unordered && !islessgreater(x, y);
            const bool answers[] = {false,
                                    false,
                                    equal,
                                    isgreater(x, y),
                                    isgreaterequal(x, y),
                                    isless(x, y),
                                    islessequal(x, y),
                                    islessgreater(x, y),
                                    !unordered,
                                    unordered || equal,
                                    unordered || isgreater(x, y),
                                    unordered || isgreaterequal(x, y),
                                    unordered || isless(x, y),
                                    unordered || islessequal(x, y),
                                    !equal,
                                    unordered,
                                    true};
            assert_int_equal(run(&s, a, b, 0), answers[predicate]);
        }
        subject_free(&s);
    }
}

/* ---- integers ----------------------------------------------------------------------------- */

static void test_from_integers(void **state)
{
    uint64_t seed = 15;
    subject si64, ui64, si32;
    (void)state;
    needs_plain_host();

    subject_make(&si64, "arith.sitofp", "i64", "f64", NULL);
    subject_make(&ui64, "arith.uitofp", "i64", "f32", NULL);
    subject_make(&si32, "arith.sitofp", "i32", "f32", NULL);
    for (int i = 0; i < 20000; i++) {
        const uint64_t a = random_bits(&seed, 64);
        assert_true(run(&si64, a, 0, 0) == bits_of((double)qp_to_i64(a)));
        assert_true(run(&ui64, a, 0, 0) == bits_of_float((float)a));
        assert_true(run(&si32, (uint32_t)a, 0, 0) == bits_of_float((float)qp_to_i32((uint32_t)a)));
    }
    subject_free(&si64);
    subject_free(&ui64);
    subject_free(&si32);
    subject_make(&si32, "arith.sitofp", "i1", "bf16", NULL);
    assert_int_equal(run(&si32, 1, 0, 0), 0xbf80); /* -1 */
    subject_free(&si32);
    subject_make(&si32, "arith.uitofp", "i64", "f16", NULL);
    assert_int_equal(run(&si32, UINT64_MAX, 0, 0), 0x7c00);
    assert_int_equal(run(&si32, 2049, 0, 0), 0x6800); /* a tie: 2048 */
    subject_free(&si32);
    const uint64_t negative = 0x80;
    uint64_t result;
    subject_make(&si32, "arith.uitofp", "i8", "f32", &(qp_fabric_semantics){.flag = true});
    assert_int_equal(evaluate1(&si32, &negative, &result), QP_FABRIC_POISON);
    subject_free(&si32);
}

/* Plain and saturating, of f64: the host's conversion where the value fits. */
static void check_to_integer(uint64_t a, uint32_t width, bool is_signed)
{
    const double x = double_of(a), whole = trunc(x);
    const double least = is_signed ? -ldexp(1, (int)width - 1) : 0;
    const double end = ldexp(1, (int)width - (is_signed ? 1 : 0));
    const bool fits = !isnan(x) && whole >= least && whole < end;
    char type[8];
    uint64_t plain, saturated, expected;
    subject s;

    snprintf(type, sizeof type, "i%u", width);
    subject_make(&s, is_signed ? "arith.fptosi" : "arith.fptoui", "f64", type, NULL);
    assert_int_equal(evaluate1(&s, &a, &plain), fits ? QP_FABRIC_DEFINED : QP_FABRIC_POISON);
    subject_free(&s);
    subject_make(&s, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", "f64", type, NULL);
    assert_int_equal(evaluate1(&s, &a, &saturated), QP_FABRIC_DEFINED);
    subject_free(&s);
    if (isnan(x))
        expected = 0;
    else if (fits)
        expected = (whole < 0 ? 0 - (uint64_t)-whole : (uint64_t)whole) & test_mask(width);
    else if (x < 0)
        expected = is_signed ? UINT64_C(1) << (width - 1) : 0;
    else
        expected = is_signed ? test_mask(width - 1) : test_mask(width);
    assert_true(saturated == expected);
    if (fits)
        assert_true(plain == expected);
}

static void test_to_integers(void **state)
{
    static const uint32_t widths[] = {8, 16, 32, 64};
    uint64_t seed = 16;
    (void)state;
    needs_float();

    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (int i = 0; i < 2000; i++) {
            const double scale = ldexp(1, (int)(random_u64(&seed) % 70));
            const double near = ldexp((double)random_bits(&seed, 16), -8) * scale;
            const uint64_t bits = random_float(&seed, &qp_fabric_formats[F64]);
            check_to_integer(bits, widths[w], (i & 1) != 0);
            check_to_integer(bits_of((i & 2) != 0 ? near : -near), widths[w], (i & 1) != 0);
        }
    check_to_integer(bits_of(127.999), 8, true);
    check_to_integer(bits_of(-128.999), 8, true);
    check_to_integer(bits_of(-129), 8, true);
    check_to_integer(bits_of(-0.5), 8, false);
    check_to_integer(bits_of(-1), 8, false);
    check_to_integer(bits_of(255.5), 8, false);
    check_to_integer(bits_of(-ldexp(1, 63)), 64, true);
    check_to_integer(bits_of(ldexp(1, 63)), 64, true);
    check_to_integer(bits_of(ldexp(1, 64)), 64, false);
}

/* ---- special functions -------------------------------------------------------------------- */

static double rsqrt_of(double x)
{
    return 1 / sqrt(x);
}

typedef struct special_case {
    const char *schema;
    double (*host)(double);
    double least, most; /* of the operands */
} special_case;

static const special_case special_cases[] = {
    {"math.sin", sin, -100, 100},     {"math.cos", cos, -100, 100},
    {"math.tan", tan, -10, 10},       {"math.sinh", sinh, -20, 20},
    {"math.cosh", cosh, -20, 20},     {"math.tanh", tanh, -5, 5},
    {"math.exp", exp, -80, 80},       {"math.exp2", exp2, -120, 120},
    {"math.expm1", expm1, -1, 40},    {"math.log", log, 0, 1e30},
    {"math.log2", log2, 0, 100},      {"math.log10", log10, 0, 100},
    {"math.log1p", log1p, -1, 100},   {"math.sqrt", sqrt, 0, 1e30},
    {"math.rsqrt", rsqrt_of, 0, 1e9}, {"math.erf", erf, -5, 5},
};

/* In f32, the host's double is right to far more than the half unit that is looked at. */
static void test_special_functions_in_f32(void **state)
{
    uint64_t seed = 17;
    (void)state;
    needs_plain_host();

    for (size_t i = 0; i < sizeof special_cases / sizeof special_cases[0]; i++) {
        const special_case *c = &special_cases[i];
        subject s;
        open_float(&s, c->schema, F32, 1, NULL);
        for (int k = 0; k < 1000; k++) {
            const double part = (double)(random_u64(&seed) >> 12) * 0x1p-52;
            const float x = (float)(c->least + (c->most - c->least) * (part + 0x1p-54));
            const double exact = c->host((double)x);
            const float ours = float_of(run(&s, bits_of_float(x), 0, 0));
            const double unit = (double)nextafterf(fabsf(ours), INFINITY) - (double)fabsf(ours);
            if (fabs((double)ours - exact) > unit / 2 * (1 + 0x1p-20))
                fail_msg("%s of %a gives %a, not %a", c->schema, (double)x, (double)ours, exact);
        }
        subject_free(&s);
    }
}

static void test_powers(void **state)
{
    uint64_t seed = 18;
    subject s;
    (void)state;
    needs_plain_host();

    open_float(&s, "math.powf", F32, 2, NULL);
    for (int k = 0; k < 2000; k++) {
        const float x = (float)ldexp((double)(random_u64(&seed) >> 44), -16);
        const float y = (float)ldexp((double)(random_u64(&seed) >> 44), -17) - 4;
        const double exact = pow((double)x, (double)y);
        const float ours = float_of(run(&s, bits_of_float(x), bits_of_float(y), 0));
        const double unit = (double)nextafterf(ours, INFINITY) - (double)ours;
        if (exact < FLT_MAX && exact > FLT_MIN)
            assert_true(fabs((double)ours - exact) <= unit / 2 * (1 + 0x1p-20));
    }
    subject_free(&s);
}

/* Exact values, ends and signs, in f64. */
static void test_special_values(void **state)
{
    static const struct {
        const char *schema;
        double a, b, result;
    } rows[] = {
        {"math.sin", -0.0, 0, -0.0},
        {"math.cos", 0, 0, 1},
        {"math.tan", -0.0, 0, -0.0},
        {"math.exp", 0, 0, 1},
        {"math.exp", 1000, 0, INFINITY},
        {"math.exp", -1000, 0, 0},
        {"math.exp", -745, 0, 0x1p-1074},      /* subnormal: 4.99e-324 */
        {"math.exp", -740, 0, 0x1p-1074 * 85}, /* 84.8 of the least */
        {"math.exp", -1e300, 0, 0},
        {"math.powf", 1e-300, 1e300, 0},
        {"math.powf", -1e300, 1e301, INFINITY},
        {"math.exp2", -1074, 0, 0x1p-1074},
        {"math.exp2", 10, 0, 1024},
        {"math.expm1", -0.0, 0, -0.0},
        {"math.expm1", -1000, 0, -1},
        {"math.log", 1, 0, 0},
        {"math.log", 0, 0, -INFINITY},
        {"math.log2", 0x1p-1074, 0, -1074},
        {"math.log10", 1e15, 0, 15},
        {"math.log1p", -1, 0, -INFINITY},
        {"math.tanh", 1000, 0, 1},
        {"math.erf", -1000, 0, -1},
        {"math.sinh", -1000, 0, -INFINITY},
        {"math.cosh", -1000, 0, INFINITY},
        {"math.sqrt", -0.0, 0, -0.0},
        {"math.rsqrt", 4, 0, 0.5},
        {"math.rsqrt", 0.0, 0, INFINITY},
        {"math.rsqrt", -0.0, 0, -INFINITY},
        {"math.rsqrt", INFINITY, 0, 0},
        {"math.round", 2.5, 0, 3},
        {"math.round", -0.5, 0, -1},
        {"math.round", -0.25, 0, -0.0},
        {"math.roundeven", 2.5, 0, 2},
        {"math.roundeven", -0.5, 0, -0.0},
        {"math.ceil", -0.5, 0, -0.0},
        {"math.floor", 0.5, 0, 0},
        {"math.trunc", -0.75, 0, -0.0},
        {"math.powf", 2, 10, 1024},
        {"math.powf", -2, 3, -8},
        {"math.powf", 0.0, -1, INFINITY},
        {"math.powf", -0.0, -1, -INFINITY},
        {"math.powf", 9, 0.5, 3},
        {"math.powf", 2, -1074, 0x1p-1074},
        {"math.sin", 0x1.921fb54442d18p+1, 0, 0x1.1a62633145c07p-53}, /* the double nearest pi */
        {"math.sin", 0x1p+1000, 0, -0x1.460b8ae1c886ep-3},
    };
    (void)state;
    needs_float();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        subject s;
        open_float(&s, rows[i].schema, F64, strcmp(rows[i].schema, "math.powf") == 0 ? 2 : 1, NULL);
        const uint64_t result = run(&s, bits_of(rows[i].a), bits_of(rows[i].b), 0);
        if (result != bits_of(rows[i].result))
            fail_msg("%s of %a, %a gives %a", rows[i].schema, rows[i].a, rows[i].b,
                     double_of(result));
        subject_free(&s);
    }
}

static void test_nans_of_special_functions(void **state)
{
    static const struct {
        const char *schema;
        double a, b;
    } rows[] = {
        {"math.sin", INFINITY, 0}, {"math.log", -1, 0},    {"math.sqrt", -1, 0},
        {"math.rsqrt", -1, 0},     {"math.log1p", -2, 0},  {"math.exp", NAN, 0},
        {"math.powf", -1, 0.5},    {"math.floor", NAN, 0},
    };
    subject s;
    (void)state;
    needs_float();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_float(&s, rows[i].schema, F64, strcmp(rows[i].schema, "math.powf") == 0 ? 2 : 1, NULL);
        assert_true(run(&s, bits_of(rows[i].a), bits_of(rows[i].b), 0) ==
                    UINT64_C(0x7ff8000000000000));
        subject_free(&s);
    }
    open_float(&s, "math.powf", F64, 2, NULL);
    assert_true(run(&s, bits_of(1), bits_of(NAN), 0) == bits_of(1)); /* as C's pow */
    assert_true(run(&s, bits_of(NAN), bits_of(0), 0) == bits_of(1));
    subject_free(&s);
}

/* ---- vectors ------------------------------------------------------------------------------ */

static void test_vectors_are_their_lanes(void **state)
{
    const uint64_t a = UINT64_C(0x7c003c0040004200), b = UINT64_C(0x3c003c003c00b800),
                   c = UINT64_C(0x0000000080003c00);
    const uint64_t *heads[] = {&a, &b, &c};
    uint64_t r = 0, *results[] = {&r};
    subject s;
    (void)state;
    needs_float();

    /* lanes 3, 2, 1, inf; -0.5, 1, 1, 1; 1, -0, 0, 0 */
    subject_make(&s, "math.fma", "vector<4xf16>,vector<4xf16>,vector<4xf16>", "vector<4xf16>",
                 NULL);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_DEFINED);
    assert_true(r == UINT64_C(0x7c003c004000b800)); /* -0.5, 2, 1, inf */
    subject_free(&s);
    subject_make(&s, "arith.cmpf", "vector<4xf16>,vector<4xf16>", "vector<4xi1>",
                 &(qp_fabric_semantics){.predicate = QP_FABRIC_OEQ});
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_DEFINED);
    assert_int_equal(r, 4);
    subject_free(&s);
    subject_make(&s, "arith.fptosi", "vector<4xf16>", "vector<4xi8>", NULL);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_POISON);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads + 1, results), QP_FABRIC_DEFINED);
    assert_int_equal(r, 0x01010100);
    subject_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_host),
        cmocka_unit_test(test_truncf_in_every_mode),
        cmocka_unit_test(test_extf_of_every_value),
        cmocka_unit_test(test_f16_arithmetic_in_every_mode),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_rounding_default),
        cmocka_unit_test(test_signs_keep_the_payload),
        cmocka_unit_test(test_minima_and_maxima),
        cmocka_unit_test(test_nnan),
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_from_integers),
        cmocka_unit_test(test_to_integers),
        cmocka_unit_test(test_special_functions_in_f32),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_nans_of_special_functions),
        cmocka_unit_test(test_vectors_are_their_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
