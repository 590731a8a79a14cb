/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_rans64_steps.c - cases of rans64_decode that no encoder writes, stated step by step: every
 * kind of escape, every refusal of E1 alone, and each pair that one symbol can give at once, under
 * both end rules.
 */
#include "conform/corpus/stage_rans64.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { STEPS_MAX = 24 };

/* ---- single steps ------------------------------------------------------------------------- */

/* What the decoder reads: an interval of the half table, or a group of 4 bits. */
enum { ZERO = 16, ESCAPE = 17, STOP = 18 }; /* others are groups of that value */

#define WHOLE UINT64_C(0x80000000) /* the last state of a canonical stream */
#define SHORT UINT64_C(1)          /* the stream runs out at its first step */

static const int64_t half_entries[] = {0, 32768, 65536};

typedef struct step_case {
    const char *id;
    qp_rans_modes modes;
    uint8_t steps[STEPS_MAX];
    uint64_t last;
    size_t count; /* of symbols */
    qp_status want;
    int64_t at;
    int64_t offset;
} step_case;

/* The stream whose decode takes these steps and ends in state `last`. */
static size_t write_steps(const step_case *s, uint8_t *stream)
{
    uint32_t words[STEPS_MAX + 2];
    size_t n_steps = 0, n = 0;
    uint64_t x = s->last;
    while (n_steps < STEPS_MAX && s->steps[n_steps] != STOP)
        n_steps++;
    for (size_t i = n_steps; i-- > 0;) {
        bool is_group = s->steps[i] < 16;
        unsigned bits = is_group ? 4 : 1; /* an interval of one half is a step of one bit, */
        uint64_t low = s->steps[i] == ESCAPE ? 32768 : 0; /* whose rest is the slot */
        if (x >= (uint64_t)1 << (63 - bits)) {
            words[n++] = (uint32_t)(x & UINT32_MAX);
            x >>= 32;
        }
        x = is_group ? x << 4 | s->steps[i] : (x >> 15 << 16) + (x & 32767) + low;
    }
    words[n++] = (uint32_t)(x >> 32);
    words[n++] = (uint32_t)(x & UINT32_MAX);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 4; k++)
            stream[4 * i + k] = (uint8_t)(words[n - 1 - i] >> (8 * k));
    return 4 * n;
}

static void put_steps(qp_stage_corpus *c, const step_case *s)
{
    uint8_t stream[4 * (STEPS_MAX + 2)];
    qp_rans_cdf cdf = {{half_entries, 3}, s->offset};
    qp_stage_rans_operands o = {.cdfs = &cdf, .n_cdfs = 1, .count = s->count, .stream = stream};
    qp_stage_case(c, s->want, s->at, "%s", s->id);
    o.size = write_steps(s, stream);
    qp_stage_rans_modes(c, &s->modes);
    qp_stage_rans_put(c, &o);
}

#define STRICT(low, high, rule)                                                                    \
    {                                                                                              \
        QP_RANS_T4097, QP_RANS_STRICT, (rule), (low), (high)                                       \
    }
#define CANONICAL QP_RANS_CANONICAL
#define FINAL QP_RANS_FINAL_ONLY
#define LENIENT                                                                                    \
    {                                                                                              \
        QP_RANS_T4097, QP_RANS_LENIENT, QP_RANS_CANONICAL, 0, 0                                    \
    }
#define FULL 15, 15, 15, 15, 15, 15, 15

static const step_case escapes[] = {
    {"lenient: no group", LENIENT, {ESCAPE, 0, STOP}, WHOLE, 1, QP_OK, 0, 0},
    {"lenient: an odd raw", LENIENT, {ESCAPE, 1, 1, STOP}, WHOLE, 1, QP_OK, 0, 0},
    {"lenient: two groups, an offset", LENIENT, {ESCAPE, 2, 4, 2, STOP}, WHOLE, 1, QP_OK, 0, -100},
    {"lenient: not minimal", LENIENT, {ESCAPE, 3, 2, 0, 0, STOP}, WHOLE, 1, QP_OK, 0, 0},
    {"lenient: a count of 9 is clamped",
     LENIENT,
     {ESCAPE, 9, 1, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     0},
    {"lenient: a count of 14 is clamped",
     LENIENT,
     {ESCAPE, 14, 2, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     0},
    {"lenient: the least value", LENIENT, {ESCAPE, 8, 15, FULL, STOP}, WHOLE, 1, QP_OK, 0, 0},
    {"lenient: the least value saturates with its offset",
     LENIENT,
     {ESCAPE, 8, 15, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     -1},
    {"lenient: the least value and a positive offset",
     LENIENT,
     {ESCAPE, 8, 15, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     5},
    {"lenient: a value past i32 saturates before its offset",
     LENIENT,
     {ESCAPE, 8, 14, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     -7},
    {"lenient: a value past i32 and its offset",
     LENIENT,
     {ESCAPE, 8, 14, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     7},
    {"lenient: a plain symbol at the end of i32",
     LENIENT,
     {ZERO, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     INT32_MAX},
    {"lenient: an escape past the end of i32",
     LENIENT,
     {ESCAPE, 0, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     INT32_MAX},
    {"lenient: 15, then a continuation of 0",
     LENIENT,
     {ESCAPE, 15, 0, 6, 0, 0, 0, 0, 0, 0, 0, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     0},
    {"lenient: eight continuations",
     LENIENT,
     {ESCAPE, 15, FULL, 15, 2, 0, 0, 0, 0, 0, 0, 1, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     0},
    {"strict: the ends of its range",
     STRICT(-1, 1, CANONICAL),
     {ESCAPE, 1, 1, ESCAPE, 0, STOP},
     WHOLE,
     2,
     QP_OK,
     0,
     0},
    {"strict: a value past i32 within the range",
     STRICT(INT32_MAX - 6, INT32_MAX - 6, CANONICAL),
     {ESCAPE, 8, 14, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     -7},
    {"strict: the least value",
     STRICT(INT32_MIN, INT32_MIN, FINAL),
     {ESCAPE, 8, 15, FULL, STOP},
     WHOLE,
     1,
     QP_OK,
     0,
     0},
};

/* Each refusal alone; the second symbol refuses. */
static const step_case alone[] = {
    {"alone: a count of 9, canonical",
     STRICT(0, 9, CANONICAL),
     {ZERO, ESCAPE, 9, STOP},
     WHOLE,
     2,
     QP_STREAM_NONCANONICAL,
     1,
     0},
    {"alone: a count of 9, final_only",
     STRICT(0, 9, FINAL),
     {ZERO, ESCAPE, 9, STOP},
     WHOLE,
     2,
     QP_STREAM_NONCANONICAL,
     1,
     0},
    {"alone: not minimal, canonical",
     STRICT(0, 9, CANONICAL),
     {ZERO, ESCAPE, 1, 0, STOP},
     WHOLE,
     2,
     QP_STREAM_NONCANONICAL,
     1,
     0},
    {"alone: not minimal, final_only",
     STRICT(0, 9, FINAL),
     {ZERO, ESCAPE, 2, 2, 0, STOP},
     WHOLE,
     2,
     QP_STREAM_NONCANONICAL,
     1,
     0},
    {"alone: above the range, canonical",
     STRICT(0, 0, CANONICAL),
     {ZERO, ESCAPE, 0, STOP},
     WHOLE,
     2,
     QP_FIELD_RANGE,
     1,
     0},
    {"alone: below the range, final_only",
     STRICT(0, 0, FINAL),
     {ZERO, ESCAPE, 1, 1, STOP},
     WHOLE,
     2,
     QP_FIELD_RANGE,
     1,
     0},
    {"alone: a plain symbol below the range",
     STRICT(1, 9, CANONICAL),
     {ZERO, STOP},
     WHOLE,
     1,
     QP_FIELD_RANGE,
     0,
     0},
    {"alone: a plain symbol above the range",
     STRICT(-9, -1, FINAL),
     {ZERO, STOP},
     WHOLE,
     1,
     QP_FIELD_RANGE,
     0,
     0},
    {"alone: run out, canonical",
     STRICT(0, 9, CANONICAL),
     {ZERO, ZERO, STOP},
     SHORT,
     2,
     QP_STREAM_EXHAUSTED,
     0,
     0},
    {"alone: run out, final_only",
     STRICT(0, 9, FINAL),
     {ZERO, ZERO, STOP},
     SHORT,
     2,
     QP_STREAM_EXHAUSTED,
     2,
     0},
    {"alone: run out, lenient, canonical",
     LENIENT,
     {ZERO, ZERO, STOP},
     SHORT,
     2,
     QP_STREAM_EXHAUSTED,
     0,
     0},
    {"alone: run out, lenient, final_only",
     {QP_RANS_T4097, QP_RANS_LENIENT, QP_RANS_FINAL_ONLY, 0, 0},
     {ZERO, ZERO, STOP},
     SHORT,
     2,
     QP_STREAM_EXHAUSTED,
     2,
     0},
    {"the end: another state, canonical",
     STRICT(0, 9, CANONICAL),
     {ZERO, ZERO, STOP},
     WHOLE + 1,
     2,
     QP_STREAM_NONCANONICAL,
     2,
     0},
    {"the end: another state, final_only",
     STRICT(0, 9, FINAL),
     {ZERO, ZERO, STOP},
     WHOLE + 1,
     2,
     QP_OK,
     0,
     0},
    {"the end: a symbol too few, canonical",
     LENIENT,
     {ZERO, ZERO, STOP},
     WHOLE,
     1,
     QP_STREAM_NONCANONICAL,
     1,
     0},
    {"the end: no symbol is read, canonical", LENIENT, {STOP}, WHOLE, 0, QP_OK, 0, 0},
    {"the end: no symbol is read, another state",
     LENIENT,
     {STOP},
     SHORT,
     0,
     QP_STREAM_NONCANONICAL,
     0,
     0},
    {"the end: no symbol is read, final_only", STRICT(0, 9, FINAL), {STOP}, SHORT, 0, QP_OK, 0, 0},
};

/* Two refusals that one symbol gives at once. */
static const step_case pairs[] = {
    {"pair: run out and a count of 9, canonical",
     STRICT(0, 9, CANONICAL),
     {ESCAPE, 9, STOP},
     SHORT,
     1,
     QP_STREAM_EXHAUSTED,
     0,
     0},
    {"pair: run out and a count of 9, final_only",
     STRICT(0, 9, FINAL),
     {ESCAPE, 9, STOP},
     SHORT,
     1,
     QP_STREAM_NONCANONICAL,
     0,
     0},
    {"pair: run out and not minimal, canonical",
     STRICT(0, 9, CANONICAL),
     {ESCAPE, 1, 0, STOP},
     SHORT,
     1,
     QP_STREAM_EXHAUSTED,
     0,
     0},
    {"pair: run out and not minimal, final_only",
     STRICT(0, 9, FINAL),
     {ESCAPE, 1, 0, STOP},
     SHORT,
     1,
     QP_STREAM_NONCANONICAL,
     0,
     0},
    {"pair: run out and out of range, canonical",
     STRICT(5, 9, CANONICAL),
     {ZERO, STOP},
     SHORT,
     1,
     QP_STREAM_EXHAUSTED,
     0,
     0},
    {"pair: run out and out of range, final_only",
     STRICT(5, 9, FINAL),
     {ZERO, STOP},
     SHORT,
     1,
     QP_FIELD_RANGE,
     0,
     0},
    {"pair: run out and out of range, an escape, canonical",
     STRICT(5, 9, CANONICAL),
     {ESCAPE, 1, 2, STOP},
     SHORT,
     1,
     QP_STREAM_EXHAUSTED,
     0,
     0},
    {"pair: run out and out of range, an escape, final_only",
     STRICT(5, 9, FINAL),
     {ESCAPE, 1, 2, STOP},
     SHORT,
     1,
     QP_FIELD_RANGE,
     0,
     0},
    {"pair: a count of 15 and out of range, canonical",
     STRICT(5, 9, CANONICAL),
     {ESCAPE, 15, STOP},
     WHOLE,
     1,
     QP_STREAM_NONCANONICAL,
     0,
     0},
    {"pair: a count of 15 and out of range, final_only",
     STRICT(5, 9, FINAL),
     {ESCAPE, 15, STOP},
     WHOLE,
     1,
     QP_STREAM_NONCANONICAL,
     0,
     0},
    {"pair: not minimal and out of range, canonical",
     STRICT(5, 9, CANONICAL),
     {ESCAPE, 1, 0, STOP},
     WHOLE,
     1,
     QP_STREAM_NONCANONICAL,
     0,
     0},
    {"pair: not minimal and out of range, final_only",
     STRICT(5, 9, FINAL),
     {ESCAPE, 1, 0, STOP},
     WHOLE,
     1,
     QP_STREAM_NONCANONICAL,
     0,
     0},
};

void qp_stage_rans_steps(qp_stage_corpus *c)
{
    for (size_t i = 0; i < COUNT(escapes); i++)
        put_steps(c, &escapes[i]);
    for (size_t i = 0; i < COUNT(alone); i++)
        put_steps(c, &alone[i]);
    for (size_t i = 0; i < COUNT(pairs); i++)
        put_steps(c, &pairs[i]);
}
