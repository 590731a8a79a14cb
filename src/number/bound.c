/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - the saturating integers of the bounds pass: schoolbook arithmetic on 32-bit words. */
#include "number/bound.h"

#include <string.h>

enum {
    WORDS = QP_BOUND_WORDS,
    PRODUCT_WORDS = 2 * QP_BOUND_WORDS,
    WORD_BITS = 32,
    TOP_BIT = QP_BOUND_POWER % WORD_BITS /* of the highest word: the bit of 2^255 */
};

static const qp_bound zero;

/* ---- magnitudes --------------------------------------------------------------------------- */

static int compare_words(const uint32_t *a, const uint32_t *b)
{
    for (size_t i = WORDS; i-- > 0;)
        if (a[i] != b[i])
            return a[i] > b[i] ? 1 : -1;
    return 0;
}

/* a + b; the sum of two magnitudes of at most 2^255 fits 256 bits but for 2^256 itself, whose carry
 * is returned. */
static uint32_t add_words(const uint32_t *a, const uint32_t *b, uint32_t *sum)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < WORDS; i++) {
        carry += (uint64_t)a[i] + b[i];
        sum[i] = (uint32_t)carry;
        carry >>= WORD_BITS;
    }
    return (uint32_t)carry;
}

/* a - b for a >= b. */
static void sub_words(const uint32_t *a, const uint32_t *b, uint32_t *difference)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t d = (uint64_t)a[i] - b[i] - borrow;
        difference[i] = (uint32_t)d;
        borrow = d >> 63;
    }
}

static unsigned word_count(const uint32_t *a)
{
    unsigned n = WORDS;
    while (n > 0 && a[n - 1] == 0)
        n--;
    return n;
}

/* Bits of a magnitude: 0 for zero, 256 for 2^255. */
static unsigned bit_length(const uint32_t *a)
{
    unsigned n = word_count(a);
    unsigned bits = 0;
    if (n == 0)
        return 0;
    for (uint32_t top = a[n - 1]; top != 0; top >>= 1)
        bits++;
    return (n - 1) * WORD_BITS + bits;
}

static bool is_power_of_two(const uint32_t *a)
{
    unsigned ones = 0;
    for (size_t i = 0; i < WORDS; i++)
        for (uint32_t w = a[i]; w != 0; w &= w - 1)
            ones++;
    return ones == 1;
}

/* Whether any of the lowest `bits` bits is set. */
static bool any_below(const uint32_t *a, unsigned bits)
{
    unsigned whole = bits / WORD_BITS, rest = bits % WORD_BITS;
    for (unsigned i = 0; i < whole; i++)
        if (a[i] != 0)
            return true;
    return rest != 0 && (a[whole] & (((uint32_t)1 << rest) - 1)) != 0;
}

static void shift_right_words(uint32_t *a, unsigned shift)
{
    unsigned whole = shift / WORD_BITS, rest = shift % WORD_BITS;
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t low = i + whole < WORDS ? a[i + whole] : 0;
        uint64_t high = i + whole + 1 < WORDS ? a[i + whole + 1] : 0;
        a[i] = (uint32_t)((high << WORD_BITS | low) >> rest);
    }
}

static void add_one(uint32_t *a)
{
    for (size_t i = 0; i < WORDS; i++)
        if (++a[i] != 0)
            return;
}

/* ---- making and comparing ----------------------------------------------------------------- */

static qp_bound from_words(uint64_t low, uint64_t high, bool negative)
{
    qp_bound r = zero;
    r.magnitude[0] = (uint32_t)low;
    r.magnitude[1] = (uint32_t)(low >> WORD_BITS);
    r.magnitude[2] = (uint32_t)high;
    r.magnitude[3] = (uint32_t)(high >> WORD_BITS);
    r.negative = negative;
    return r;
}

qp_bound qp_bound_from_u64(uint64_t v)
{
    return from_words(v, 0, false);
}

qp_bound qp_bound_from_i64(int64_t v)
{
    return v < 0 ? from_words(0 - (uint64_t)v, 0, true) : from_words((uint64_t)v, 0, false);
}

qp_bound qp_bound_from_i128(qp_i128 v)
{
    bool negative = qp_i128_negative(v);
    if (negative)
        v = qp_i128_negate(v); /* -2^127 stays itself, and its bits are then the magnitude */
    return from_words(qp_i128_low(v), qp_i128_high(v), negative);
}

qp_bound qp_bound_power(unsigned power)
{
    qp_bound r = zero;
    r.magnitude[power / WORD_BITS] = (uint32_t)1 << power % WORD_BITS;
    return r;
}

int qp_bound_compare(const qp_bound *a, const qp_bound *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int order = compare_words(a->magnitude, b->magnitude);
    return a->negative ? -order : order;
}

qp_bound qp_bound_min(qp_bound a, qp_bound b)
{
    return qp_bound_compare(&a, &b) <= 0 ? a : b;
}

qp_bound qp_bound_max(qp_bound a, qp_bound b)
{
    return qp_bound_compare(&a, &b) >= 0 ? a : b;
}

qp_bound qp_bound_negate(qp_bound a)
{
    a.negative = !a.negative && !qp_bound_is_zero(&a);
    return a;
}

qp_bound qp_bound_abs(qp_bound a)
{
    a.negative = false;
    return a;
}

/* ---- arithmetic --------------------------------------------------------------------------- */

/* Brings a magnitude of at most 256 bits and a carry back to at most 2^255. */
static void saturate(qp_bound *r, bool carry, bool *saturated)
{
    qp_bound limit = qp_bound_power(QP_BOUND_POWER);
    if (carry || compare_words(r->magnitude, limit.magnitude) > 0) {
        memcpy(r->magnitude, limit.magnitude, sizeof limit.magnitude);
        *saturated = true;
    }
}

qp_bound qp_bound_add(qp_bound a, qp_bound b, bool *saturated)
{
    qp_bound r = zero;
    if (a.negative == b.negative) {
        uint32_t carry = add_words(a.magnitude, b.magnitude, r.magnitude);
        r.negative = a.negative;
        saturate(&r, carry != 0, saturated);
        return r;
    }
    int order = compare_words(a.magnitude, b.magnitude);
    if (order == 0)
        return zero;
    if (order > 0)
        sub_words(a.magnitude, b.magnitude, r.magnitude);
    else
        sub_words(b.magnitude, a.magnitude, r.magnitude);
    r.negative = order > 0 ? a.negative : b.negative;
    return r;
}

qp_bound qp_bound_sub(qp_bound a, qp_bound b, bool *saturated)
{
    return qp_bound_add(a, qp_bound_negate(b), saturated);
}

qp_bound qp_bound_mul(qp_bound a, qp_bound b, bool *saturated)
{
    uint32_t product[PRODUCT_WORDS] = {0};
    unsigned na = word_count(a.magnitude), nb = word_count(b.magnitude);
    qp_bound r = zero;
    bool high = false;

    if (na == 0 || nb == 0)
        return zero;
    for (unsigned i = 0; i < na; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < nb; j++) {
            /* (2^32-1)² + 2·(2^32-1) = 2^64 - 1 */
            carry += (uint64_t)a.magnitude[i] * b.magnitude[j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= WORD_BITS;
        }
        product[i + nb] = (uint32_t)carry;
    }
    memcpy(r.magnitude, product, sizeof r.magnitude);
    for (unsigned i = WORDS; i < PRODUCT_WORDS; i++)
        high |= product[i] != 0;
    r.negative = a.negative != b.negative;
    saturate(&r, high, saturated);
    return r;
}

qp_bound qp_bound_floor_shift(qp_bound a, unsigned shift)
{
    bool inexact = a.negative && any_below(a.magnitude, shift);
    shift_right_words(a.magnitude, shift);
    if (inexact)
        add_one(a.magnitude); /* |floor| of a negative value rounds its magnitude up */
    a.negative = a.negative && !qp_bound_is_zero(&a);
    return a;
}

qp_bound qp_bound_floor_divide(qp_bound a, qp_bound b)
{
    qp_bound quotient = zero;
    uint32_t rest[WORDS] = {0};

    /* binary long division: rest < b <= 2^255 throughout, so 2·rest + 1 fits 256 bits */
    for (unsigned i = bit_length(a.magnitude); i-- > 0;) {
        uint32_t bit = a.magnitude[i / WORD_BITS] >> i % WORD_BITS & 1;
        add_words(rest, rest, rest);
        rest[0] |= bit;
        if (compare_words(rest, b.magnitude) >= 0) {
            sub_words(rest, b.magnitude, rest);
            quotient.magnitude[i / WORD_BITS] |= (uint32_t)1 << i % WORD_BITS;
        }
    }
    if (a.negative && word_count(rest) != 0)
        add_one(quotient.magnitude);
    quotient.negative = a.negative && !qp_bound_is_zero(&quotient);
    return quotient;
}

/* The largest r with r² <= a, bit by bit from the top; r < 2^128. */
qp_bound qp_bound_isqrt(qp_bound a)
{
    qp_bound root = zero;
    for (unsigned bit = (bit_length(a.magnitude) + 1) / 2; bit-- > 0;) {
        qp_bound trial = root;
        bool passed = false; /* a square that saturates lies above a <= 2^255 */
        trial.magnitude[bit / WORD_BITS] |= (uint32_t)1 << bit % WORD_BITS;
        qp_bound square = qp_bound_mul(trial, trial, &passed);
        if (!passed && qp_bound_compare(&square, &a) <= 0)
            root = trial;
    }
    return root;
}

qp_bound qp_bound_isqrt_ceil(qp_bound a)
{
    qp_bound root = qp_bound_isqrt(a);
    bool unused = false;
    qp_bound square = qp_bound_mul(root, root, &unused);
    if (qp_bound_compare(&square, &a) < 0)
        add_one(root.magnitude);
    return root;
}

/* ---- widths and text ---------------------------------------------------------------------- */

/* The smallest N >= 1 for which `a` fits iN. */
static unsigned bits_of(const qp_bound *a)
{
    unsigned length = bit_length(a->magnitude);
    if (length == 0)
        return 1;
    return a->negative && is_power_of_two(a->magnitude) ? length : length + 1;
}

bool qp_bound_fits(const qp_bound *a, unsigned bits)
{
    return bits_of(a) <= bits;
}

int64_t qp_bound_to_i64(const qp_bound *a)
{
    uint64_t v = (uint64_t)a->magnitude[1] << WORD_BITS | a->magnitude[0];
    return qp_i64_from_bits(a->negative ? 0 - v : v);
}

qp_i128 qp_bound_to_i128(const qp_bound *a)
{
    qp_i128 v = qp_i128_from_bits((uint64_t)a->magnitude[3] << WORD_BITS | a->magnitude[2],
                                  (uint64_t)a->magnitude[1] << WORD_BITS | a->magnitude[0]);
    return a->negative ? qp_i128_negate(v) : v;
}

const char *qp_bound_text(const qp_bound *a, char text[QP_BOUND_TEXT_SIZE])
{
    enum { GROUP = 1000000000, GROUP_DIGITS = 9 };
    uint32_t rest[WORDS];
    char reversed[QP_BOUND_TEXT_SIZE + GROUP_DIGITS]; /* the last group may have leading zeros */
    size_t n = 0, out = 0;

    memcpy(rest, a->magnitude, sizeof rest);
    do {
        uint64_t group = 0;
        for (unsigned i = WORDS; i-- > 0;) {
            group = group << WORD_BITS | rest[i];
            rest[i] = (uint32_t)(group / GROUP);
            group %= GROUP;
        }
        for (unsigned digit = 0; digit < GROUP_DIGITS; digit++, group /= 10)
            reversed[n++] = (char)('0' + group % 10);
    } while (word_count(rest) != 0);
    while (n > 1 && reversed[n - 1] == '0')
        n--;
    if (a->negative)
        text[out++] = '-';
    while (n > 0)
        text[out++] = reversed[--n];
    text[out] = '\0';
    return text;
}

/* ---- intervals ---------------------------------------------------------------------------- */

qp_interval qp_interval_of(int64_t lo, int64_t hi)
{
    return (qp_interval){qp_bound_from_i64(lo), qp_bound_from_i64(hi)};
}

qp_interval qp_interval_of_i128(qp_i128 lo, qp_i128 hi)
{
    return (qp_interval){qp_bound_from_i128(lo), qp_bound_from_i128(hi)};
}

qp_interval qp_interval_hull(qp_interval a, qp_interval b)
{
    return (qp_interval){qp_bound_min(a.lo, b.lo), qp_bound_max(a.hi, b.hi)};
}

qp_interval qp_interval_corners(qp_interval a, qp_interval b, bool *saturated)
{
    qp_bound corner[4] = {
        qp_bound_mul(a.lo, b.lo, saturated),
        qp_bound_mul(a.lo, b.hi, saturated),
        qp_bound_mul(a.hi, b.lo, saturated),
        qp_bound_mul(a.hi, b.hi, saturated),
    };
    qp_interval r = {corner[0], corner[0]};
    for (size_t i = 1; i < 4; i++)
        r = qp_interval_hull(r, (qp_interval){corner[i], corner[i]});
    return r;
}

qp_interval qp_interval_add(qp_interval a, qp_interval b, bool *saturated)
{
    return (qp_interval){qp_bound_add(a.lo, b.lo, saturated), qp_bound_add(a.hi, b.hi, saturated)};
}

qp_interval qp_interval_floor_shift(qp_interval a, unsigned shift)
{
    return (qp_interval){qp_bound_floor_shift(a.lo, shift), qp_bound_floor_shift(a.hi, shift)};
}

qp_interval qp_interval_clamp(qp_interval a, qp_interval limit)
{
    return (qp_interval){qp_bound_min(qp_bound_max(a.lo, limit.lo), limit.hi),
                         qp_bound_min(qp_bound_max(a.hi, limit.lo), limit.hi)};
}

qp_interval qp_interval_abs(qp_interval a)
{
    if (!a.lo.negative)
        return a;
    if (a.hi.negative || qp_bound_is_zero(&a.hi))
        return (qp_interval){qp_bound_negate(a.hi), qp_bound_negate(a.lo)};
    return (qp_interval){zero, qp_bound_max(qp_bound_negate(a.lo), a.hi)};
}

unsigned qp_interval_bits(const qp_interval *a)
{
    unsigned lo = bits_of(&a->lo), hi = bits_of(&a->hi);
    return lo > hi ? lo : hi;
}

bool qp_interval_fits(const qp_interval *a, unsigned bits)
{
    return qp_interval_bits(a) <= bits;
}

qp_bound qp_interval_magnitude(const qp_interval *a)
{
    return qp_bound_max(qp_bound_abs(a->lo), qp_bound_abs(a->hi));
}

bool qp_interval_contains_i128(const qp_interval *a, qp_i128 v)
{
    qp_bound b = qp_bound_from_i128(v);
    return qp_bound_compare(&a->lo, &b) <= 0 && qp_bound_compare(&b, &a->hi) <= 0;
}
