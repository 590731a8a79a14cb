/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouped_search.c - the scale of each group by search over 68 candidates (artifact-container.md
 * section 9.4).
 *
 * Candidates 1 to 65 depend on the grouped_absmax result alone, so they may be tried in any order:
 * the winner is the one of smallest error, the earlier one of equals, if it is smaller than what
 * grouped_absmax left. Only 66 to 68 depend on that winner.
 *
 * The plain way tries them in order and gives a candidate up once its sum has reached the best
 * error: the terms are not negative, so the sum does not fall again.
 *
 * The fast way first estimates all errors in binary32 and then computes only those of the
 * candidates that the estimates do not rule out.
 */
#include "format/grouped_encode.h"

#include "format/method.h"
#include "number/minifloat.h"

#include <float.h>
#include <math.h>

#define FIRST_CANDIDATES 65 /* 1 to 65; word 0 in the list is the grouped_absmax result */
#define MULTIPLES 25

/* One group in the making: its best words so far. */
typedef struct search {
    qp_search_group group;
    bool negative; /* negative scales are admitted */
    float extreme; /* the first value of largest magnitude */
    uint16_t scale;
    uint8_t *codes;
    size_t count; /* of the words */
    uint16_t words[FIRST_CANDIDATES + 1];
    const qp_grouped_kernel *kernel; /* NULL: the plain way */
} search;

/* ---- candidates --------------------------------------------------------------------------- */

/* A raw candidate: to binary32, then to binary16, where one that vanishes becomes the smallest. */
static uint16_t narrow(double raw)
{
    uint16_t word = qp_f16_from_f32_bits(qp_bits_of_float((float)raw));
    return (word & 0x7FFFu) == 0 && raw != 0 ? (uint16_t)(word | 0x0001u) : word;
}

static void narrow_all(const search *s, const double *raw, size_t count, uint16_t *words)
{
    if (s->kernel != NULL)
        s->kernel->narrow(raw, count, words);
    else
        for (size_t i = 0; i < count; i++)
            words[i] = narrow(raw[i]);
}

static double value_of(uint16_t word)
{
    return (double)qp_float_of_bits(qp_f16_to_f32_bits(word));
}

/* The word `steps` away in magnitude; 0 where it does not exist. */
static uint16_t neighbour_of(uint16_t word, int steps)
{
    int magnitude = word & 0x7FFF;
    if (magnitude == 0 || magnitude + steps < 1 || magnitude + steps > 0x7BFF)
        return 0;
    return (uint16_t)((word & 0x8000) | (magnitude + steps));
}

/* Whether a word may compete: finite, not zero, of an admitted sign. */
static bool usable(const search *s, uint16_t word)
{
    uint16_t magnitude = word & 0x7FFFu;
    return magnitude != 0 && magnitude < 0x7C00 && (s->negative || magnitude == word);
}

static double weight_of(const qp_search_group *group, size_t k)
{
    return group->weights != NULL ? (double)group->weights[k] : 1.0;
}

/* The least-squares scale of the codes. */
static double fit(const search *s)
{
    const qp_search_group *group = &s->group;
    double numerator = 0, denominator = 0;
    for (size_t k = 0; k < group->count; k++) {
        double weight = weight_of(group, k), code = (double)qp_to_i8(s->codes[k]);
        numerator += (weight * (double)group->values[k]) * code;
        denominator += (weight * code) * code;
    }
    return denominator > 0 ? numerator / denominator : 0;
}

/* The same where nothing is weighed: products with 1 and sums of squares of codes are exact. */
static double fit_fast(const search *s)
{
    const qp_search_group *group = &s->group;
    double products[QP_GROUP_MAX], numerator = 0;
    int32_t denominator = 0;

    if (s->kernel == NULL || group->weights != NULL || group->count % QP_SEARCH_LANES != 0)
        return fit(s);
    s->kernel->multiply(group->values, s->codes, group->count, products);
    for (size_t k = 0; k < group->count; k++)
        denominator += qp_to_i8(s->codes[k]) * qp_to_i8(s->codes[k]);
    for (size_t k = 0; k < group->count; k++)
        numerator += products[k];
    return denominator > 0 ? numerator / denominator : 0;
}

/* The raw candidates 1 to 54, and 59 after them. */
enum { FITTED = 2 * MULTIPLES + 4, RAW = 64 };

static void list_raw(const search *s, double raw[RAW])
{
    static const double ratios[MULTIPLES] = {0.70, 0.72, 0.74, 0.76, 0.78, 0.80, 0.82, 0.84, 0.86,
                                             0.88, 0.90, 0.92, 0.94, 0.96, 0.98, 1.00, 1.02, 1.04,
                                             1.06, 1.08, 1.10, 1.12, 1.14, 1.16, 1.18};
    static const double powers[4] = {0.25, 0.5, 2, 4};
    double magnitude = (double)(s->extreme < 0 ? -s->extreme : s->extreme);
    double most = magnitude / (double)s->group.range.most;
    double full = (double)s->extreme / (double)s->group.range.least;

    raw[FITTED] = fit_fast(s);
    for (size_t i = 0; i < MULTIPLES; i++) {
        raw[i] = most * ratios[i];
        raw[MULTIPLES + i] = full * ratios[i];
    }
    for (size_t i = 0; i < 4; i++)
        raw[2 * MULTIPLES + i] = value_of(s->scale) * powers[i];
    for (size_t i = FITTED + 1; i < RAW; i++) /* up to whole lanes */
        raw[i] = 0;
}

/* Words 0 to 65. A word that may not compete gives its place to word 0, which it cannot beat, and
 * 26 to 50 have no place where their sign is not admitted. */
static void list_candidates(search *s)
{
    static const int steps[4] = {-2, -1, 1, 2};
    double raw[RAW];
    uint16_t words[RAW], *word = s->words;

    list_raw(s, raw);
    narrow_all(s, raw, RAW, words);
    uint16_t fitted = words[FITTED];
    *word++ = s->scale;
    memcpy(word, words, MULTIPLES * sizeof *word);
    word += MULTIPLES;
    if (raw[MULTIPLES] > 0 || s->negative) {
        memcpy(word, words + MULTIPLES, MULTIPLES * sizeof *word);
        word += MULTIPLES;
    }
    memcpy(word, words + 2 * MULTIPLES, 4 * sizeof *word);
    for (size_t i = 0; i < 4; i++) {
        word[4 + i] = neighbour_of(s->scale, steps[i]);
        word[11 + i] = neighbour_of(fitted, steps[i]);
    }
    word[8] = fitted;
    word[9] = narrow(value_of(fitted) * 0.5);
    word[10] = narrow(value_of(fitted) * 2);
    s->count = (size_t)(word + 15 - s->words);
    for (size_t i = 1; i < s->count; i++)
        s->words[i] = usable(s, s->words[i]) ? s->words[i] : s->scale;
}

/* Candidates 66 to 68; those that were tried before cannot be smaller now. */
static size_t list_last(const search *s, uint16_t last[3])
{
    uint16_t fitted = narrow(fit_fast(s));
    uint16_t words[3] = {fitted, neighbour_of(fitted, -1), neighbour_of(fitted, 1)};
    size_t count = 0;

    for (size_t i = 0; i < 3; i++) {
        unsigned tried = 0;
        for (size_t j = 0; j < s->count; j++)
            tried |= s->words[j] == words[i];
        if (tried == 0 && usable(s, words[i]))
            last[count++] = words[i];
    }
    return count;
}

static void take(search *s, uint16_t scale)
{
    s->scale = scale;
    qp_group_codes(s->group.values, s->group.count, scale, s->group.range, s->codes);
}

/* ---- the plain way ------------------------------------------------------------------------ */

/* The error of a scale, or anything from `enough` on once it has reached that. */
static double error_of(const qp_search_group *group, uint16_t scale, double enough)
{
    float inverse = 1.0f / qp_float_of_bits(qp_f16_to_f32_bits(scale));
    double multiplier = value_of(scale), sum = 0;

    for (size_t k = 0; k < group->count && sum < enough; k++) {
        float value = group->values[k];
        double code = (double)qp_code_of(value * inverse, group->range);
        double rest = (double)value - multiplier * code;
        sum += (weight_of(group, k) * rest) * rest;
    }
    return sum;
}

/* Tries words in order; gives the one that beats `winner`, whose error is *least, or it. */
static uint16_t try_words(const search *s, const uint16_t *words, size_t count, uint16_t winner,
                          double *least)
{
    for (size_t i = 0; i < count; i++) {
        double error = error_of(&s->group, words[i], *least);
        if (error < *least) {
            *least = error;
            winner = words[i];
        }
    }
    return winner;
}

static void search_plain(search *s)
{
    uint16_t last[3];
    double least = error_of(&s->group, s->scale, DBL_MAX);

    list_candidates(s);
    uint16_t winner = try_words(s, s->words + 1, s->count - 1, s->scale, &least);
    if (winner == s->scale) /* M is L then, and was tried with its neighbours */
        return;
    take(s, winner);
    winner = try_words(s, last, list_last(s, last), winner, &least);
    if (winner != s->scale)
        take(s, winner);
}

/* ---- the fast way ------------------------------------------------------------------------- */

/* Words that compete, in lanes; what fills up the last lanes is word 0 again. */
#define CONTEST_MAX 80
_Static_assert(CONTEST_MAX % QP_SEARCH_LANES == 0 && CONTEST_MAX > FIRST_CANDIDATES, "no room");

typedef struct contest {
    size_t count;
    uint16_t words[CONTEST_MAX];
    float scales[CONTEST_MAX];
    float inverses[CONTEST_MAX];
} contest;

/* Fills the last lanes and widens the words; gives the number of lanes. */
static size_t fill_lanes(const search *s, contest *c)
{
    size_t lanes = (c->count + QP_SEARCH_LANES - 1) / QP_SEARCH_LANES * QP_SEARCH_LANES;
    for (size_t i = c->count; i < lanes; i++)
        c->words[i] = c->words[0];
    s->kernel->widen(c->words, lanes, c->scales, c->inverses);
    return lanes;
}

/*
 * What the estimate of a smallest error may be, when `least` is the smallest estimate.
 *
 * An estimate sums at most `count` terms of at most four roundings each (the product of scale and
 * code is exact; the difference is rounded, and enters twice), so it is off by less than
 * off = (count + 8) * 2^-24 of the error, the error's own roundings included; where products
 * underflow, by less than 2^-118 more, differences being below 2^24. So the smallest error is at
 * most (least + 2^-118) / (1 - off), and its estimate at most 1 + off times that and 2^-118. The
 * factor 1 + 2^-22 covers this formula's roundings. An estimate that overflowed stands for an error
 * of 2^127 at least: below that it has lost, and from 2^126 on nothing is ruled out.
 */
static float limit_of(const qp_search_group *group, float least)
{
    double off = (double)(group->count + 8) * 0x1p-24;
    double limit = (((double)least + 0x1p-118) * (1 + off) / (1 - off) + 0x1p-118) * (1 + 0x1p-22);
    return least < 0x1p126f ? (float)limit : (float)INFINITY;
}

/* Keeps the words that may have the smallest error. */
static void keep_contenders(const search *s, contest *c)
{
    float estimates[CONTEST_MAX];
    uint8_t places[CONTEST_MAX];
    size_t lanes = fill_lanes(s, c);
    float least = s->kernel->estimate(&s->group, c->scales, c->inverses, lanes, estimates);

    c->count = s->kernel->pick(estimates, lanes, limit_of(&s->group, least), places);
    for (size_t i = 0; i < c->count; i++)
        c->words[i] = c->words[places[i]];
}

/* The word of smallest error, the first of equals. */
static uint16_t best_of(const search *s, contest *c)
{
    double errors[CONTEST_MAX];
    if (c->count == 1)
        return c->words[0];
    fill_lanes(s, c);
    s->kernel->error(&s->group, c->scales, c->inverses, c->count, errors);
    size_t best = 0;
    for (size_t i = 1; i < c->count; i++)
        best = errors[i] < errors[best] ? i : best;
    return c->words[best];
}

static void search_fast(search *s)
{
    contest c;

    list_candidates(s);
    c.count = s->count;
    memcpy(c.words, s->words, s->count * sizeof s->words[0]);
    keep_contenders(s, &c);
    uint16_t winner = best_of(s, &c);
    if (winner == s->scale) /* as in search_plain */
        return;
    take(s, winner);
    c.words[0] = winner;
    c.count = 1 + list_last(s, c.words + 1);
    winner = best_of(s, &c);
    if (winner != s->scale)
        take(s, winner);
}

/* ---- the method --------------------------------------------------------------------------- */

static float extreme_of(const qp_search_group *group)
{
    float extreme = 0;
    uint32_t largest = 0;
    for (size_t k = 0; k < group->count; k++) {
        uint32_t magnitude = qp_bits_of_float(group->values[k]) & 0x7FFFFFFFu;
        if (magnitude > largest) {
            largest = magnitude;
            extreme = group->values[k];
        }
    }
    return extreme;
}

static void search_group(search *s)
{
    if (s->scale == 0) /* all zero */
        return;
    bool whole = s->kernel != NULL && s->group.count % QP_SEARCH_LANES == 0;
    s->extreme =
        whole ? s->kernel->extreme(s->group.values, s->group.count) : extreme_of(&s->group);
    if (s->kernel != NULL)
        search_fast(s);
    else
        search_plain(s);
}

/* The groups of a row whose grouped_absmax words are there already. */
static void search_row(const qp_method_job *job, const qp_method_rows *rows, uint64_t row,
                       search *s)
{
    const qp_matrix *target = job->target;
    uint32_t size = target->format->group;
    uint8_t *scale = rows->words.scales + row * target->scale_row_bytes;

    for (uint64_t k = 0; k < target->columns; k += size, scale += 2) {
        uint64_t rest = target->columns - k;
        s->group.values = rows->values + row * target->columns + k;
        s->group.weights = job->importance != NULL ? job->importance + k : NULL;
        s->group.count = (size_t)(rest < size ? rest : size);
        s->codes = rows->words.codes + row * target->code_row_bytes + k;
        s->scale = qp_load_u16(scale);
        search_group(s);
        scale[0] = (uint8_t)s->scale;
        scale[1] = (uint8_t)(s->scale >> 8);
    }
}

static qp_status encode(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    search s = {.negative = job->negative_scales, .kernel = qp_grouped_kernel_find(job->cpu)};
    s.group.range = qp_code_range_of(job->target->format);

    qp_status status = qp_method_grouped_absmax.encode(job, rows, error);
    for (uint64_t row = 0; row < rows->count && status == QP_OK; row++)
        search_row(job, rows, row, &s);
    return status;
}

const qp_method qp_method_grouped_search = {
    .name = "grouped_search",
    .summary = "a scale a group by least squared error of 68 candidates",
    .input = QP_INPUT_VALUES,
    .takes_importance = true,
    .takes_negative_scales = true,
    .targets = qp_group_takes,
    .prepare = qp_method_needs_float,
    .encode = encode,
};
