/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_integer.c - the integer schemas (section 2.2): every pair of small operands, and random and
 * extreme ones of every width, against arithmetic in 128 bits; vectors against scalars; lanes over
 * 64 bits against a count bit by bit; values by hand.
 */
#include "evaluating.h"

/* Wide enough for every product of two lanes. */
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 wide;
enum { WIDEST = 64 };
#else
typedef int64_t wide;
enum { WIDEST = 31 };
#endif

typedef struct expectation {
    qp_fabric_outcome outcome;
    uint64_t result; /* of any width: compared modulo the result's */
} expectation;

static wide as_signed(uint64_t value, uint32_t width)
{
    const wide v = (wide)value;
    return (value >> (width - 1) & 1) != 0 ? v - ((wide)1 << (width - 1)) * 2 : v;
}

static wide signed_end(uint32_t width)
{
    return (wide)1 << (width - 1);
}

/* An exact result under the promises nsw and nuw. */
static expectation modulo(const subject *s, wide from_signed, wide from_unsigned)
{
    const uint32_t width = s->evaluator.width;
    const wide end = signed_end(width);
    const uint32_t flags = s->semantics.overflow;
    const bool wraps_signed = from_signed < -end || from_signed >= end;
    const bool wraps_unsigned = from_unsigned < 0 || from_unsigned > (wide)test_mask(width);

    return (expectation){((flags & QP_FABRIC_NSW) != 0 && wraps_signed) ||
                                 ((flags & QP_FABRIC_NUW) != 0 && wraps_unsigned)
                             ? QP_FABRIC_POISON
                             : QP_FABRIC_DEFINED,
                         (uint64_t)from_unsigned};
}

static uint64_t clamp(wide value, wide least, wide most)
{
    return (uint64_t)(value < least ? least : value > most ? most : value);
}

#define EXPECT(name) static expectation expect_##name(const subject *s, uint64_t a, uint64_t b)
#define DEFINED(value)                                                                             \
    (expectation)                                                                                  \
    {                                                                                              \
        QP_FABRIC_DEFINED, (uint64_t)(value)                                                       \
    }
#define WITHOUT(what)                                                                              \
    (expectation)                                                                                  \
    {                                                                                              \
        QP_FABRIC_##what, 0                                                                        \
    }
#define W (s->evaluator.width)
#define SA as_signed(a, W)
#define SB as_signed(b, W)

EXPECT(addi)
{
    return modulo(s, SA + SB, (wide)a + (wide)b);
}

EXPECT(subi)
{
    return modulo(s, SA - SB, (wide)a - (wide)b);
}

/* a * b of two unsigned lanes may not fit a signed 128-bit number: halves are multiplied. */
EXPECT(muli)
{
    const bool wraps = b != 0 && a > test_mask(W) / b;
    expectation e = modulo(s, SA * SB, 0);

    if (wraps && (s->semantics.overflow & QP_FABRIC_NUW) != 0)
        e.outcome = QP_FABRIC_POISON;
    e.result = a * b;
    return e;
}

/* a * 2^b, by doubling. */
EXPECT(shli)
{
    wide from_signed = SA, from_unsigned = (wide)a;

    if (b >= W)
        return WITHOUT(POISON);
    expectation e = DEFINED(0);
    for (uint64_t i = 0; i < b; i++) {
        from_signed = as_signed((uint64_t)from_signed & test_mask(W), W) * 2;
        from_unsigned = (wide)((uint64_t)from_unsigned & test_mask(W)) * 2;
        const expectation step = modulo(s, from_signed, from_unsigned);
        if (step.outcome != QP_FABRIC_DEFINED)
            e.outcome = step.outcome;
    }
    e.result = (uint64_t)from_unsigned;
    return e;
}

EXPECT(shrui)
{
    if (b >= W || (s->semantics.flag && a % (UINT64_C(1) << b) != 0))
        return WITHOUT(POISON);
    return DEFINED(a / (UINT64_C(1) << b));
}

/* Rounds down. */
EXPECT(shrsi)
{
    if (b >= W || (s->semantics.flag && a % (UINT64_C(1) << b) != 0))
        return WITHOUT(POISON);
    const wide divisor = (wide)1 << b;
    const wide quotient = SA / divisor - (SA % divisor < 0 ? 1 : 0);
    return DEFINED(quotient);
}

EXPECT(andi)
{
    (void)s;
    return DEFINED(a & b);
}

EXPECT(ori)
{
    return s->semantics.flag && (a & b) != 0 ? WITHOUT(POISON) : DEFINED(a | b);
}

EXPECT(xori)
{
    (void)s;
    return DEFINED(a ^ b);
}

EXPECT(divsi)
{
    if (b == 0 || (SA == -signed_end(W) && SB == -1))
        return WITHOUT(UNDEFINED);
    return s->semantics.flag && SA % SB != 0 ? WITHOUT(POISON) : DEFINED(SA / SB);
}

EXPECT(remsi)
{
    return b == 0 || (SA == -signed_end(W) && SB == -1) ? WITHOUT(UNDEFINED) : DEFINED(SA % SB);
}

EXPECT(divui)
{
    if (b == 0)
        return WITHOUT(UNDEFINED);
    return s->semantics.flag && a % b != 0 ? WITHOUT(POISON) : DEFINED(a / b);
}

EXPECT(remui)
{
    (void)s;
    return b == 0 ? WITHOUT(UNDEFINED) : DEFINED(a % b);
}

EXPECT(minsi)
{
    return DEFINED(SA < SB ? a : b);
}

EXPECT(maxsi)
{
    return DEFINED(SA > SB ? a : b);
}

EXPECT(minui)
{
    (void)s;
    return DEFINED(a < b ? a : b);
}

EXPECT(maxui)
{
    (void)s;
    return DEFINED(a > b ? a : b);
}

EXPECT(sadd)
{
    return DEFINED(clamp(SA + SB, -signed_end(W), signed_end(W) - 1));
}

EXPECT(ssub)
{
    return DEFINED(clamp(SA - SB, -signed_end(W), signed_end(W) - 1));
}

EXPECT(uadd)
{
    return DEFINED(clamp((wide)a + (wide)b, 0, (wide)test_mask(W)));
}

EXPECT(usub)
{
    return DEFINED(clamp((wide)a - (wide)b, 0, (wide)test_mask(W)));
}

EXPECT(cmpi)
{
    const bool answers[] = {
        false, a == b, a != b, SA<SB, SA <= SB, SA> SB, SA >= SB, a<b, a <= b, a> b, a >= b};
    return DEFINED(answers[s->semantics.predicate]);
}

typedef struct binary_case {
    const char *schema;
    expectation (*expect)(const subject *s, uint64_t a, uint64_t b);
    bool compares;
    uint32_t overflows; /* masks 0 .. this one are tried */
    uint32_t predicates;
    int flags; /* 0: flag false; 1: both; 2: true */
} binary_case;

static const binary_case binary_cases[] = {
    {"arith.addi", expect_addi, false, 3, 0, 0},
    {"arith.subi", expect_subi, false, 3, 0, 0},
    {"arith.muli", expect_muli, false, 3, 0, 0},
    {"arith.shli", expect_shli, false, 3, 0, 0},
    {"arith.shrsi", expect_shrsi, false, 0, 0, 1},
    {"arith.shrui", expect_shrui, false, 0, 0, 1},
    {"arith.andi", expect_andi, false, 0, 0, 0},
    {"arith.ori", expect_ori, false, 0, 0, 0},
    {"llvm.or", expect_ori, false, 0, 0, 2},
    {"arith.xori", expect_xori, false, 0, 0, 0},
    {"arith.divsi", expect_divsi, false, 0, 0, 1},
    {"arith.divui", expect_divui, false, 0, 0, 1},
    {"arith.remsi", expect_remsi, false, 0, 0, 0},
    {"arith.remui", expect_remui, false, 0, 0, 0},
    {"arith.minsi", expect_minsi, false, 0, 0, 0},
    {"arith.maxsi", expect_maxsi, false, 0, 0, 0},
    {"arith.minui", expect_minui, false, 0, 0, 0},
    {"arith.maxui", expect_maxui, false, 0, 0, 0},
    {"llvm.intr.sadd.sat", expect_sadd, false, 0, 0, 0},
    {"llvm.intr.uadd.sat", expect_uadd, false, 0, 0, 0},
    {"llvm.intr.ssub.sat", expect_ssub, false, 0, 0, 0},
    {"llvm.intr.usub.sat", expect_usub, false, 0, 0, 0},
    {"arith.cmpi", expect_cmpi, true, 0, 10, 0},
};

static void check(const subject *s, const binary_case *c, uint64_t a, uint64_t b)
{
    const uint64_t operands[] = {a, b};
    const expectation e = c->expect(s, a, b);
    uint64_t result;
    const qp_fabric_outcome outcome = evaluate1(s, operands, &result);

    if (outcome != e.outcome || (outcome == QP_FABRIC_DEFINED &&
                                 result != (e.result & test_mask(s->evaluator.result_width))))
        fail_msg("%s on %u bits: %llx, %llx: outcome %d, result %llx", c->schema, W,
                 (unsigned long long)a, (unsigned long long)b, (int)outcome,
                 (unsigned long long)result);
}

/* Calls `visit` for each choice of attributes of a case, on a type. */
static void each_semantics(const binary_case *c, uint32_t width,
                           void (*visit)(const subject *, const binary_case *))
{
    char type[16], operands[32];

    snprintf(type, sizeof type, "i%u", width);
    snprintf(operands, sizeof operands, "%s,%s", type, type);
    for (uint32_t overflow = 0; overflow <= c->overflows; overflow++)
        for (uint32_t predicate = c->predicates > 0; predicate <= c->predicates; predicate++)
            for (int flag = c->flags == 2; flag <= (c->flags > 0); flag++) {
                const qp_fabric_semantics semantics = {
                    .overflow = overflow, .predicate = predicate, .flag = flag != 0};
                subject s;
                subject_make(&s, c->schema, operands, c->compares ? "i1" : type, &semantics);
                visit(&s, c);
                subject_free(&s);
            }
}

static void every_pair(const subject *s, const binary_case *c)
{
    const uint64_t end = test_mask(W);

    for (uint64_t a = 0; a <= end; a++)
        for (uint64_t b = 0; b <= end; b++)
            check(s, c, a, b);
}

static void test_every_small_pair(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof binary_cases / sizeof binary_cases[0]; i++)
        for (uint32_t width = 1; width <= 6; width++)
            each_semantics(&binary_cases[i], width, every_pair);
}

static void random_pairs(const subject *s, const binary_case *c)
{
    uint64_t seed = W;

    for (int i = 0; i < 1000; i++) {
        const uint64_t a = random_bits(&seed, W);
        const uint64_t b = (i & 1) != 0 ? random_bits(&seed, W)
                                        : random_u64(&seed) % W & test_mask(W); /* a shift */
        check(s, c, a, b);
    }
}

static void test_random_pairs_of_every_width(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof binary_cases / sizeof binary_cases[0]; i++)
        for (uint32_t width = 1; width <= WIDEST; width++)
            each_semantics(&binary_cases[i], width, random_pairs);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* A scalar result on i8 of one or two operands. */
static qp_fabric_outcome on_i8(const char *schema, const qp_fabric_semantics *semantics, uint64_t a,
                               uint64_t b, uint64_t *result)
{
    const uint64_t operands[] = {a, b};
    subject s;

    subject_make(&s, schema, "i8,i8", "i8", semantics);
    const qp_fabric_outcome outcome = evaluate1(&s, operands, result);
    subject_free(&s);
    return outcome;
}

static void test_values_by_hand(void **state)
{
    const qp_fabric_semantics none = {0}, nsw = {.overflow = QP_FABRIC_NSW}, exact = {.flag = true};
    uint64_t r;
    (void)state;

    assert_int_equal(on_i8("arith.addi", &none, 0xff, 2, &r), QP_FABRIC_DEFINED);
    assert_int_equal(r, 1);
    assert_int_equal(on_i8("arith.addi", &nsw, 0x7f, 1, &r), QP_FABRIC_POISON);
    assert_int_equal(on_i8("arith.muli", &none, 0x10, 0x11, &r), QP_FABRIC_DEFINED);
    assert_int_equal(r, 0x10);
    assert_int_equal(on_i8("arith.shli", &none, 1, 8, &r), QP_FABRIC_POISON);
    assert_int_equal(on_i8("arith.shrsi", &none, 0x80, 7, &r), QP_FABRIC_DEFINED);
    assert_int_equal(r, 0xff);
    assert_int_equal(on_i8("arith.shrui", &exact, 5, 1, &r), QP_FABRIC_POISON);
    assert_int_equal(on_i8("arith.divsi", &none, 0xf9, 2, &r), QP_FABRIC_DEFINED);
    assert_int_equal(r, 0xfd); /* -7 / 2 = -3 */
    assert_int_equal(on_i8("arith.remsi", &none, 0xf9, 2, &r), QP_FABRIC_DEFINED);
    assert_int_equal(r, 0xff); /* -1: the dividend's sign */
    assert_int_equal(on_i8("arith.divsi", &none, 0x80, 0xff, &r), QP_FABRIC_UNDEFINED);
    assert_int_equal(on_i8("arith.remui", &none, 1, 0, &r), QP_FABRIC_UNDEFINED);
    assert_int_equal(on_i8("llvm.intr.sadd.sat", &none, 0x80, 0xff, &r), QP_FABRIC_DEFINED);
    assert_int_equal(r, 0x80);
    assert_int_equal(on_i8("llvm.intr.usub.sat", &none, 3, 4, &r), QP_FABRIC_DEFINED);
    assert_int_equal(r, 0);
}

static void test_counts_of_zeros(void **state)
{
    static const struct {
        const char *schema;
        bool zero_poison;
        uint64_t operand;
        qp_fabric_outcome outcome;
        uint64_t result;
    } rows[] = {
        {"math.ctlz", false, 0, QP_FABRIC_DEFINED, 12},
        {"math.ctlz", false, 0x800, QP_FABRIC_DEFINED, 0},
        {"math.ctlz", false, 0x00f, QP_FABRIC_DEFINED, 8},
        {"math.cttz", false, 0, QP_FABRIC_DEFINED, 12},
        {"math.cttz", false, 0x800, QP_FABRIC_DEFINED, 11},
        {"llvm.intr.ctlz", true, 0, QP_FABRIC_POISON, 0},
        {"llvm.intr.ctlz", true, 1, QP_FABRIC_DEFINED, 11},
        {"llvm.intr.cttz", true, 0, QP_FABRIC_POISON, 0},
        {"llvm.intr.cttz", true, 0x0a0, QP_FABRIC_DEFINED, 5},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const qp_fabric_semantics semantics = {.flag = rows[i].zero_poison};
        uint64_t result = 0;
        subject s;
        subject_make(&s, rows[i].schema, "i12", "i12", &semantics);
        assert_int_equal(evaluate1(&s, &rows[i].operand, &result), rows[i].outcome);
        if (rows[i].outcome == QP_FABRIC_DEFINED)
            assert_int_equal(result, rows[i].result);
        subject_free(&s);
    }
}

/* ---- casts -------------------------------------------------------------------------------- */

typedef struct cast_case {
    const char *schema;
    const char *from, *to;
    qp_fabric_semantics semantics;
    uint64_t operand;
    qp_fabric_outcome outcome;
    uint64_t result;
} cast_case;

static void test_casts(void **state)
{
    static const cast_case rows[] = {
        {"arith.extsi", "i1", "i8", {0}, 1, QP_FABRIC_DEFINED, 0xff},
        {"arith.extsi", "i8", "i64", {0}, 0x80, QP_FABRIC_DEFINED, UINT64_C(0xffffffffffffff80)},
        {"arith.extui", "i8", "i16", {0}, 0x80, QP_FABRIC_DEFINED, 0x80},
        {"arith.extui", "i8", "i16", {.flag = true}, 0x80, QP_FABRIC_POISON, 0},
        {"arith.extui", "i8", "i16", {.flag = true}, 0x7f, QP_FABRIC_DEFINED, 0x7f},
        {"arith.trunci", "i16", "i8", {0}, 0x1234, QP_FABRIC_DEFINED, 0x34},
        {"arith.trunci", "i16", "i8", {.overflow = QP_FABRIC_NUW}, 0x1234, QP_FABRIC_POISON, 0},
        {"arith.trunci", "i16", "i8", {.overflow = QP_FABRIC_NUW}, 0x00ff, QP_FABRIC_DEFINED, 0xff},
        {"arith.trunci", "i16", "i8", {.overflow = QP_FABRIC_NSW}, 0x00ff, QP_FABRIC_POISON, 0},
        {"arith.trunci", "i16", "i8", {.overflow = QP_FABRIC_NSW}, 0xff80, QP_FABRIC_DEFINED, 0x80},
        {"arith.index_cast", "i8", "index", {0}, 0x80, QP_FABRIC_DEFINED, 0xffffff80},
        {"arith.index_cast",
         "index",
         "i64",
         {0},
         0x80000000,
         QP_FABRIC_DEFINED,
         UINT64_C(0xffffffff80000000)},
        {"arith.index_cast", "index", "i32", {0}, 0x80000000, QP_FABRIC_DEFINED, 0x80000000},
        {"arith.index_cast",
         "i64",
         "index",
         {0},
         UINT64_C(0x123456789a),
         QP_FABRIC_DEFINED,
         0x3456789a},
        {"arith.index_castui", "index", "i64", {0}, 0x80000000, QP_FABRIC_DEFINED, 0x80000000},
        {"arith.index_castui", "index", "i64", {.flag = true}, 0x80000000, QP_FABRIC_POISON, 0},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t result = 0;
        subject s;
        subject_make(&s, rows[i].schema, rows[i].from, rows[i].to, &rows[i].semantics);
        assert_int_equal(evaluate1(&s, &rows[i].operand, &result), rows[i].outcome);
        if (rows[i].outcome == QP_FABRIC_DEFINED)
            assert_true(result == rows[i].result);
        subject_free(&s);
    }
}

/* ---- vectors ------------------------------------------------------------------------------ */

/* What a vector's lanes are, each alone; outcomes of the first lane that has none. */
static void check_vector(const char *schema, uint32_t width, uint32_t lanes,
                         const qp_fabric_semantics *semantics, uint64_t *seed)
{
    const bool compares = strcmp(schema, "arith.cmpi") == 0;
    const uint32_t result_width = compares ? 1 : width;
    char scalar[32], vector[80], element[16], scalars[48], vectors[176];
    uint64_t a[40] = {0}, b[40] = {0}, result[40];
    subject one, all;

    snprintf(element, sizeof element, "i%u", width);
    snprintf(scalar, sizeof scalar, "i%u", result_width);
    snprintf(scalars, sizeof scalars, "%s,%s", element, element);
    snprintf(vector, sizeof vector, "vector<%ux%s>", lanes, element);
    snprintf(vectors, sizeof vectors, "%s,%s", vector, vector);
    snprintf(vector, sizeof vector, "vector<%ux%s>", lanes, scalar);
    subject_make(&one, schema, scalars, scalar, semantics);
    subject_make(&all, schema, vectors, vector, semantics);
    for (uint32_t i = 0; i < lanes; i++) {
        qp_fabric_set_bits(a, (uint64_t)i * width, width, random_bits(seed, width));
        qp_fabric_set_bits(b, (uint64_t)i * width, width, random_u64(seed) % width);
    }
    const uint64_t *heads[] = {a, b};
    uint64_t *results[] = {result};
    memset(result, 0xa5, sizeof result);
    const qp_fabric_outcome outcome = all.evaluator.evaluate(&all.evaluator, heads, results);
    for (uint32_t i = 0; i < lanes; i++) {
        const uint64_t operands[] = {qp_fabric_get_bits(a, (uint64_t)i * width, width),
                                     qp_fabric_get_bits(b, (uint64_t)i * width, width)};
        uint64_t lane;
        const qp_fabric_outcome alone = evaluate1(&one, operands, &lane);
        if (alone != QP_FABRIC_DEFINED) {
            assert_int_equal(outcome, alone);
            goto end;
        }
        if (outcome == QP_FABRIC_DEFINED)
            assert_true(lane ==
                        qp_fabric_get_bits(result, (uint64_t)i * result_width, result_width));
    }
    assert_int_equal(outcome, QP_FABRIC_DEFINED);
    /* every word is written, nothing behind the last */
    const uint64_t bits = (uint64_t)lanes * result_width;
    if (bits % 64 != 0)
        assert_true(result[bits / 64] >> bits % 64 == 0);
    assert_true(result[qp_fabric_words(bits)] == UINT64_C(0xa5a5a5a5a5a5a5a5));
end:
    subject_free(&one);
    subject_free(&all);
}

static void test_vectors_are_their_lanes(void **state)
{
    static const uint32_t widths[] = {1, 3, 8, 12, 16, 32, 33, 64};
    uint64_t seed = 7;
    (void)state;

    for (size_t i = 0; i < sizeof binary_cases / sizeof binary_cases[0]; i++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
            for (uint32_t lanes = 1; lanes <= 33; lanes += 4) {
                const qp_fabric_semantics semantics = {.predicate = QP_FABRIC_SLE,
                                                       .flag = binary_cases[i].flags == 2};
                check_vector(binary_cases[i].schema, widths[w], lanes, &semantics, &seed);
            }
}

/* ---- lanes over 64 bits ------------------------------------------------------------------- */

static int compare_bit_by_bit(const uint64_t *a, const uint64_t *b, uint32_t width, bool is_signed)
{
    for (uint32_t i = width; i-- > 0;) {
        const uint64_t x = qp_fabric_get_bits(a, i, 1), y = qp_fabric_get_bits(b, i, 1);
        if (x != y)
            return (x < y) != (is_signed && i == width - 1) ? -1 : 1;
    }
    return 0;
}

static void test_order_of_wide_integers(void **state)
{
    static const uint32_t widths[] = {65, 100, 127, 128, 129, 200};
    uint64_t seed = 3;
    (void)state;

    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        char type[16], operands[40];
        subject least, greatest, below, below_signed;
        const qp_fabric_semantics ult = {.predicate = QP_FABRIC_ULT},
                                  slt = {.predicate = QP_FABRIC_SLT};
        snprintf(type, sizeof type, "i%u", widths[w]);
        snprintf(operands, sizeof operands, "%s,%s", type, type);
        subject_make(&least, "arith.minsi", operands, type, NULL);
        subject_make(&greatest, "arith.maxui", operands, type, NULL);
        subject_make(&below, "arith.cmpi", operands, "i1", &ult);
        subject_make(&below_signed, "arith.cmpi", operands, "i1", &slt);
        for (int i = 0; i < 300; i++) {
            uint64_t a[4] = {0}, b[4] = {0}, r[4];
            const uint64_t *heads[] = {a, b};
            uint64_t *results[] = {r};
            random_payload(&seed, a, widths[w]);
            random_payload(&seed, b, widths[w]);
            if (i % 3 == 0)
                b[(widths[w] - 1) / 64] = a[(widths[w] - 1) / 64];
            const int s = compare_bit_by_bit(a, b, widths[w], true);
            const int u = compare_bit_by_bit(a, b, widths[w], false);
            const size_t size = qp_fabric_words(widths[w]) * sizeof *a;
            least.evaluator.evaluate(&least.evaluator, heads, results);
            assert_memory_equal(r, s < 0 ? a : b, size);
            greatest.evaluator.evaluate(&greatest.evaluator, heads, results);
            assert_memory_equal(r, u > 0 ? a : b, size);
            below.evaluator.evaluate(&below.evaluator, heads, results);
            assert_int_equal(r[0], u < 0);
            below_signed.evaluator.evaluate(&below_signed.evaluator, heads, results);
            assert_int_equal(r[0], s < 0);
        }
        subject_free(&least);
        subject_free(&greatest);
        subject_free(&below);
        subject_free(&below_signed);
    }
}

/* Casts between any two widths, two lanes at a time. */
static void check_wide_cast(const char *schema, uint32_t from, uint32_t to, uint64_t *seed)
{
    char operand[24], result[24];
    uint64_t a[16] = {0}, r[16];
    const uint64_t *heads[] = {a};
    uint64_t *results[] = {r};
    subject s;

    snprintf(operand, sizeof operand, "vector<2xi%u>", from);
    snprintf(result, sizeof result, "vector<2xi%u>", to);
    subject_make(&s, schema, operand, result, NULL);
    random_payload(seed, a, 2 * (uint64_t)from);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_DEFINED);
    for (uint32_t lane = 0; lane < 2; lane++)
        for (uint32_t i = 0; i < to; i++) {
            const uint64_t top = qp_fabric_get_bits(a, (uint64_t)lane * from + from - 1, 1);
            const uint64_t expected = i < from ? qp_fabric_get_bits(a, (uint64_t)lane * from + i, 1)
                                               : (strcmp(schema, "arith.extsi") == 0 ? top : 0);
            assert_int_equal(qp_fabric_get_bits(r, (uint64_t)lane * to + i, 1), expected);
        }
    subject_free(&s);
}

static void test_casts_of_wide_integers(void **state)
{
    uint64_t seed = 5;
    (void)state;

    for (int i = 0; i < 20; i++) {
        check_wide_cast("arith.extsi", 8, 200, &seed);
        check_wide_cast("arith.extsi", 65, 131, &seed);
        check_wide_cast("arith.extui", 64, 300, &seed);
        check_wide_cast("arith.extui", 100, 101, &seed);
        check_wide_cast("arith.trunci", 300, 64, &seed);
        check_wide_cast("arith.trunci", 129, 65, &seed);
    }
}

static void test_promises_of_wide_casts(void **state)
{
    const qp_fabric_semantics nneg = {.flag = true}, nsw = {.overflow = QP_FABRIC_NSW},
                              nuw = {.overflow = QP_FABRIC_NUW};
    uint64_t a[2] = {UINT64_C(1) << 63, UINT64_C(0xfffffffff)}, r[3];
    const uint64_t *heads[] = {a};
    uint64_t *results[] = {r};
    subject s;
    (void)state;

    subject_make(&s, "arith.extui", "i100", "i180", &nneg);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_POISON);
    subject_free(&s);
    subject_make(&s, "arith.trunci", "i100", "i64", &nsw);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_DEFINED);
    assert_true(r[0] == UINT64_C(1) << 63);
    a[0] = 0;
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_POISON);
    subject_free(&s);
    subject_make(&s, "arith.trunci", "i100", "i64", &nuw);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_POISON);
    a[1] = 0;
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_DEFINED);
    subject_free(&s);
}

static void test_wide_bitwise(void **state)
{
    const uint64_t a[] = {UINT64_C(0xff00ff00ff00ff00), 0xf},
                   b[] = {UINT64_C(0x0ff00ff00ff00ff0), 0x3};
    const uint64_t *heads[] = {a, b};
    uint64_t r[2], *results[] = {r};
    subject s;
    (void)state;

    subject_make(&s, "arith.xori", "i68,i68", "i68", NULL);
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_DEFINED);
    assert_true(r[0] == UINT64_C(0xf0f0f0f0f0f0f0f0) && r[1] == 0xc);
    subject_free(&s);
    subject_make(&s, "llvm.or", "i68,i68", "i68", &(qp_fabric_semantics){.flag = true});
    assert_int_equal(s.evaluator.evaluate(&s.evaluator, heads, results), QP_FABRIC_POISON);
    subject_free(&s);
}

static void test_arithmetic_over_64_bits_is_unsupported(void **state)
{
    subject s;
    (void)state;

    assert_int_equal(subject_try(&s, "arith.addi", "i65,i65", "i65", NULL), QP_MODEL_MISMATCH);
    subject_free(&s);
    assert_int_equal(subject_try(&s, "math.ctlz", "vector<2xi65>", "vector<2xi65>", NULL),
                     QP_MODEL_MISMATCH);
    subject_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_small_pair),
        cmocka_unit_test(test_random_pairs_of_every_width),
        cmocka_unit_test(test_values_by_hand),
        cmocka_unit_test(test_counts_of_zeros),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_vectors_are_their_lanes),
        cmocka_unit_test(test_order_of_wide_integers),
        cmocka_unit_test(test_casts_of_wide_integers),
        cmocka_unit_test(test_promises_of_wide_casts),
        cmocka_unit_test(test_wide_bitwise),
        cmocka_unit_test(test_arithmetic_over_64_bits_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
