/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvfp4_quantize.c - values to nvfp4 (tensor-formats.md section 3.3), under two profiles of this
 * library: nvfp4_absmax and nvfp4_search. The texts leave such a quantizer to a named profile, so
 * this is the definition of both, in binary32, round to nearest even, subnormals kept:
 *
 *   M      = the largest magnitude of the values of one stacked source; not finite: refused
 *   d      = 1 if M is 0, else 2688 / M, and the largest binary32 if that is infinite
 *   y[j]   = x[j] * d, j = 0..15, of each block of 16 columns
 *   m      = the largest magnitude of y
 *   m = 0:   scale word 0, codes 0
 *   else:    S0 = E4M3FN(m / 6), saturating at 448; a word of 0 becomes 0x01
 *   codes(S) = the E2M1 number nearest to the real quotient y[j] / value(S), ties to the even code,
 *              saturating at 6; the sign of y[j] is kept, that of zero too
 *
 * 2688 = 448 * 6 maps M to the largest code under the largest scale. nvfp4_absmax takes S0.
 * nvfp4_search tries the words S0 - 2, S0 - 1, S0 + 1, ..., S0 + 6 that lie in 0x01..0x7e, in this
 * order, and takes a word when its error is strictly smaller than that of the best so far:
 *
 *   r[j]   = |y[j]| - value(S) * |value(codes[j])|     (the product is exact)
 *   e[j]   = (w[j] * r[j]) * r[j], w the importance of the column, or r[j] * r[j] without one
 *   error  = the sum of e by halves: e[j] += e[j + 8] for j < 8, e[j + 4] for j < 4, and so on
 *
 * The six words above S0 reach past S0 * 1.5, which maps m to the code 4 instead of 6.
 */
#include "format/method.h"

#include "number/minifloat.h"

#include <float.h>

#define BLOCK 16
#define STEPS_DOWN 2
#define STEPS_UP 6

static bool takes(const qp_format *format)
{
    return format->family == QP_FAMILY_NVFP4;
}

/* ---- the first pass ----------------------------------------------------------------------- */

static uint64_t survey_count(const qp_matrix *target)
{
    return target->divisors;
}

static qp_status survey(const qp_method_job *job, const qp_method_rows *rows, float *maxima,
                        qp_error *error)
{
    uint64_t columns = job->target->columns, rows_each = job->target->rows / job->target->divisors;
    for (uint64_t row = 0; row < rows->count; row++) {
        const float *values = rows->values + row * columns;
        uint32_t largest = 0;
        for (uint64_t k = 0; k < columns; k++) {
            uint32_t magnitude = qp_bits_of_float(values[k]) & 0x7FFFFFFFu;
            largest = magnitude > largest ? magnitude : largest;
        }
        if (!qp_f32_bits_finite(largest)) {
            uint64_t k = 0;
            while (qp_f32_bits_finite(qp_bits_of_float(values[k])))
                k++;
            return qp_method_not_finite(rows->first + row, k, values[k], error);
        }
        float *maximum = &maxima[(rows->first + row) / rows_each];
        *maximum = qp_float_of_bits(largest) > *maximum ? qp_float_of_bits(largest) : *maximum;
    }
    return QP_OK;
}

static float divisor_of(float maximum)
{
    if (maximum == 0)
        return 1.0f;
    float divisor = 2688.0f / maximum;
    return divisor > FLT_MAX ? FLT_MAX : divisor;
}

static void put_divisors(const qp_method_job *job, uint8_t *divisors)
{
    for (uint64_t i = 0; i < job->target->divisors; i++) {
        uint32_t bits = qp_bits_of_float(divisor_of(job->survey[i]));
        for (unsigned b = 0; b < 4; b++)
            divisors[4 * i + b] = (uint8_t)(bits >> (8 * b));
    }
}

/* ---- one block ---------------------------------------------------------------------------- */

typedef struct block {
    float magnitudes[BLOCK]; /* of y */
    bool negative[BLOCK];
    const float *weights; /* NULL: all weigh the same */
} block;

static float scale_of(uint8_t word)
{
    return qp_float_of_bits(qp_e4m3_to_f32_bits(word));
}

/* Steps up the scale 0, 0.5, 1, 1.5, 2, 3, 4, 6, one at each tie that a magnitude has passed; a tie
 * between an odd code and the next counts as passed. Scale times tie is exact: 4 bits times 3. */
static inline int32_t steps_of(float magnitude, float scale)
{
    return (magnitude > scale * 0.25f) + (magnitude >= scale * 0.75f) +
           (magnitude > scale * 1.25f) + (magnitude >= scale * 1.75f) + (magnitude > scale * 2.5f) +
           (magnitude >= scale * 3.5f) + (magnitude > scale * 5.0f);
}

/* Twice the value of a code: what each step adds is 1, and more from the fifth on. */
static inline int32_t twice_value(int32_t steps)
{
    return steps + (steps > 4 ? steps - 4 : 0) + (steps > 6 ? 2 : 0);
}

static float error_of(const block *b, uint8_t word)
{
    float scale = scale_of(word), e[BLOCK];
    for (size_t j = 0; j < BLOCK; j++) {
        int32_t twice = twice_value(steps_of(b->magnitudes[j], scale));
        e[j] = b->magnitudes[j] - scale * ((float)twice * 0.5f);
    }
    for (size_t j = 0; j < BLOCK; j++)
        e[j] = (b->weights != NULL ? b->weights[j] * e[j] : e[j]) * e[j];
    for (size_t half = BLOCK / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            e[j] += e[j + half];
    return e[0];
}

static void put_codes(const block *b, uint8_t word, uint8_t *codes)
{
    float scale = scale_of(word);
    for (size_t j = 0; j < BLOCK; j += 2) {
        int32_t even = steps_of(b->magnitudes[j], scale) | b->negative[j] << 3;
        int32_t odd = steps_of(b->magnitudes[j + 1], scale) | b->negative[j + 1] << 3;
        codes[j / 2] = (uint8_t)(even | odd << 4);
    }
}

/* S0; 0 for a block of zeros. */
static uint8_t first_word(const block *b)
{
    float largest = 0;
    for (size_t j = 0; j < BLOCK; j++)
        largest = b->magnitudes[j] > largest ? b->magnitudes[j] : largest;
    if (largest == 0)
        return 0;
    uint8_t word = qp_e4m3_from_f32_bits(qp_bits_of_float(largest / 6.0f));
    return word == 0 ? 0x01 : word;
}

static uint8_t search(const block *b, uint8_t first)
{
    uint8_t best = first;
    float least = error_of(b, first);
    for (int word = first - STEPS_DOWN; word <= first + STEPS_UP; word++) {
        if (word < 0x01 || word > 0x7E || word == first)
            continue;
        float error = error_of(b, (uint8_t)word);
        if (error < least) {
            least = error;
            best = (uint8_t)word;
        }
    }
    return best;
}

typedef uint8_t choose_function(const block *b, uint8_t first);

static uint8_t keep(const block *b, uint8_t first)
{
    (void)b;
    return first;
}

static void load(const float *values, float divisor, block *b)
{
    for (size_t j = 0; j < BLOCK; j++) {
        uint32_t bits = qp_bits_of_float(values[j] * divisor);
        b->magnitudes[j] = qp_float_of_bits(bits & 0x7FFFFFFFu);
        b->negative[j] = bits >> 31 != 0;
    }
}

/* ---- the methods -------------------------------------------------------------------------- */

static void encode_row(const qp_method_job *job, const qp_method_rows *rows, uint64_t row,
                       choose_function *choose)
{
    const qp_matrix *target = job->target;
    const float *values = rows->values + row * target->columns;
    uint8_t *codes = rows->words.codes + row * target->code_row_bytes;
    uint8_t *scales = rows->words.scales + row * target->scale_row_bytes;
    uint64_t source = (rows->first + row) / (target->rows / target->divisors);
    float divisor = divisor_of(job->survey[source]);
    block b;

    for (uint64_t k = 0; k < target->columns; k += BLOCK) {
        load(values + k, divisor, &b);
        b.weights = job->importance != NULL ? job->importance + k : NULL;
        uint8_t word = first_word(&b);
        if (word == 0) {
            memset(codes + k / 2, 0, BLOCK / 2);
        } else {
            word = choose(&b, word);
            put_codes(&b, word, codes + k / 2);
        }
        scales[k / BLOCK] = word;
    }
}

static qp_status encode(const qp_method_job *job, const qp_method_rows *rows,
                        choose_function *choose)
{
    put_divisors(job, rows->words.divisors);
    for (uint64_t row = 0; row < rows->count; row++)
        encode_row(job, rows, row, choose);
    return QP_OK;
}

static qp_status encode_absmax(const qp_method_job *job, const qp_method_rows *rows,
                               qp_error *error)
{
    (void)error;
    return encode(job, rows, keep);
}

static qp_status encode_search(const qp_method_job *job, const qp_method_rows *rows,
                               qp_error *error)
{
    (void)error;
    return encode(job, rows, search);
}

const qp_method qp_method_nvfp4_absmax = {
    .name = "nvfp4_absmax",
    .summary = "E2M1 codes, a scale a block from its largest magnitude",
    .input = QP_INPUT_VALUES,
    .targets = takes,
    .prepare = qp_method_needs_float,
    .encode = encode_absmax,
    .survey_count = survey_count,
    .survey = survey,
};

const qp_method qp_method_nvfp4_search = {
    .name = "nvfp4_search",
    .summary = "E2M1 codes, a scale a block by least squared error of nine",
    .input = QP_INPUT_VALUES,
    .takes_importance = true,
    .targets = takes,
    .prepare = qp_method_needs_float,
    .encode = encode_search,
    .survey_count = survey_count,
    .survey = survey,
};
