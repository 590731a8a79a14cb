/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grouped_encode.h - what grouped_absmax and grouped_search share: one group by tensor-formats.md
 * section 7.2, and the seam of their fast parts.
 */
#ifndef QP_FORMAT_GROUPED_ENCODE_H
#define QP_FORMAT_GROUPED_ENCODE_H

#include "format/format.h"

#define QP_GROUP_MAX 128 /* columns of the widest grouped format */

/* Adding and taking off 1.5 * 2^23 rounds a binary32 of at most 2^22 to an integer, ties to even.
 */
#define QP_ROUND_SHIFT 0x1.8p23f

/* The legal codes as binary32. */
typedef struct qp_code_range {
    float least;
    float most;
} qp_code_range;

static inline qp_code_range qp_code_range_of(const qp_format *format)
{
    return (qp_code_range){(float)format->code_min, (float)format->code_max};
}

/* Rounds to a code and clamps. The bounds are integers, so clamping first gives the same code, and
 * keeps the sum below 2^23 for values of any size. */
static inline float qp_code_of(float normalized, qp_code_range range)
{
    float clamped = normalized < range.least ? range.least : normalized;
    clamped = clamped > range.most ? range.most : clamped;
    return (clamped + QP_ROUND_SHIFT) - QP_ROUND_SHIFT;
}

/* The codes of some values for a usable scale word, as signed bytes. */
void qp_group_codes(const float *values, size_t count, uint16_t scale, qp_code_range range,
                    uint8_t *codes);

/* Section 7.2 on one group; the place of the group is for refusals. */
typedef struct qp_group_place {
    uint64_t row;
    uint64_t column;
} qp_group_place;

qp_status qp_group_absmax(const qp_format *format, const float *values, size_t count,
                          qp_group_place place, uint8_t *codes, uint16_t *scale, qp_error *error);

/* Whether the methods can write the format: its codes must reach from -qmax to qmax, which those of
 * q2 do not (section 3.2: it is written from encoded sources only). */
bool qp_group_takes(const qp_format *format);

/* ---- kernels ------------------------------------------------------------------------------ */

/* One group as the search's kernels see it. */
typedef struct qp_search_group {
    const float *values;
    const float *weights; /* NULL: each weighs 1 */
    size_t count;
    qp_code_range range;
} qp_search_group;

/* Candidates that a kernel takes together: counts of them are multiples of it. */
#define QP_SEARCH_LANES 16

typedef struct qp_grouped_kernel {
    const char *name;
    uint32_t cpu; /* the features that it needs */
    /* grouped_absmax on whole groups that lie one after the other, codes and scale words the same.
     * Stops at a group that must be refused; gives the number of groups done. */
    size_t (*absmax)(const qp_format *format, const float *values, size_t groups, uint8_t *codes,
                     uint8_t *scales);

    /* The rest is grouped_search's, on finite values. */

    /* The first value of largest magnitude; `count` is a multiple of 16. */
    float (*extreme)(const float *values, size_t count);
    /* products[k] = values[k] * codes[k], of signed bytes; `count` is a multiple of 16. */
    void (*multiply)(const float *values, const uint8_t *codes, size_t count, double *products);
    /* Raw candidates to words, and words to values and their reciprocals. */
    void (*narrow)(const double *raw, size_t count, uint16_t *words);
    void (*widen)(const uint16_t *words, size_t count, float *scales, float *inverses);
    /* The errors of `count` candidates, summed in binary32: see grouped_search.c for how far they
     * may be off. Gives the smallest. */
    float (*estimate)(const qp_search_group *group, const float *scales, const float *inverses,
                      size_t count, float *errors);
    /* The places of the numbers that are at most `limit`, in order; gives how many there are. */
    size_t (*pick)(const float *numbers, size_t count, float limit, uint8_t *places);
    /* The errors themselves, in the order of section 9.4. */
    void (*error)(const qp_search_group *group, const float *scales, const float *inverses,
                  size_t count, double *errors);
} qp_grouped_kernel;

/* The first kernel whose needs `cpu` meets; NULL: the plain code. */
const qp_grouped_kernel *qp_grouped_kernel_find(uint32_t cpu);

/* For the tests: every kernel, the widest first. */
size_t qp_grouped_kernel_count(void);
const qp_grouped_kernel *qp_grouped_kernel_at(size_t index);

#endif
