/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - what the files of this room share: refusals with their index `at`, the prepared tables
 * of E1 and E8, and the half-pel rule of E10 and E11.
 */
#ifndef QP_STAGE_STAGE_H
#define QP_STAGE_STAGE_H

#include "base/base.h"
#include "number/function.h"
#include "quipu/stage.h"

/* The place of a refusal index `at` of 0 or more (integer-operators.md section 14.1). */
static inline qp_place qp_at(uint64_t at)
{
    return (qp_place){QP_TABLE_SYMBOLS, at <= INT64_MAX ? (int64_t)at : INT64_MAX, -1, -1};
}

/* ---- E1 ----------------------------------------------------------------------------------- */

#define QP_RANS_TOTAL 65536u            /* = 2^16, the sum of a table's frequencies */
#define QP_RANS_LOW ((uint64_t)1 << 31) /* a state below it takes a word in */
#define QP_RANS_ESCAPE_GROUPS 8u        /* value groups of 4 bits: 32 bits */

/* 64 tables of 512 keep near the first cache level; 1024 and 256 measure slower as a rule. */
#define QP_RANS_GUESSES 512 /* = 2^16 / 2^7 */
#define QP_RANS_GUESS_SHIFT 7

/*
 * A table prepared. Interval s is `start + (frequency - 1)·2^16`, which fits 32 bits because
 * start <= 65535 and 1 <= frequency <= 65536. guess[c / 128] is the interval that holds the first
 * slot of c's group of 128, so that the interval of c is that one or one of the next few.
 */
typedef struct qp_rans_table {
    uint16_t guess[QP_RANS_GUESSES]; /* an interval's index is at most 65535 */
    const uint32_t *intervals;       /* [escape + 1] */
    uint32_t escape;                 /* n - 2 */
    uint32_t plain; /* symbols below it need no check: escape, or 0 where some symbol does */
    int32_t offset;
} qp_rans_table;

static inline uint32_t qp_rans_start(uint32_t interval)
{
    return interval & 0xFFFF;
}

static inline uint32_t qp_rans_frequency(uint32_t interval)
{
    return (interval >> 16) + 1;
}

struct qp_rans_tables {
    qp_arena arena; /* this structure, the tables and their intervals */
    qp_rans_modes modes;
    qp_rans_table *tables;
    size_t count;
};

/* ---- E8 ----------------------------------------------------------------------------------- */

#define QP_MANS_WORD 8 /* bytes of the window */

/* One row's cumulative counts: C[0] = 0 up to C[width] = 256. */
struct qp_mans_latents {
    qp_arena arena; /* this structure and the arrays */
    size_t n_rows, width, n_bounds;
    uint32_t (*tables)[QP_MANS_SLOTS]; /* T_y, [n_rows] */
    uint16_t *cumulative;              /* [n_rows][width + 1] */
    uint8_t *bounds;                   /* B_y, [n_bounds] */
};

/*
 * Writes the entries of `count` slots whose next states are next, next + 1 and so on, all in
 * 1..511: nb·2^24 + base·2^16 + symbol, where nb is the number of doublings that bring the state to
 * at least 256, and base what is then above 256. Both modes have these entries: Zp[next] is one
 * without its symbol.
 */
void qp_mans_fill(uint32_t *slots, unsigned next, unsigned count, uint16_t symbol);

/* F[k] of a cumulative count: the slots below 128 that come before it. */
static inline unsigned qp_mans_low_half(unsigned cumulative)
{
    return cumulative - cumulative / 2;
}

/* ---- E10 and E11 -------------------------------------------------------------------------- */

/* p(Y, X): the sample with its place clamped to the picture. */
static inline unsigned qp_sample(const qp_samples *p, uint32_t c, int64_t y, int64_t x)
{
    size_t row = (size_t)qp_clamp_i64(y, 0, (int64_t)p->height - 1);
    size_t column = (size_t)qp_clamp_i64(x, 0, (int64_t)p->width - 1);
    return p->data[c * p->channel_step + row * p->row_step + column * p->column_step];
}

/* A place in half pels, floored, and which halves it stands on. */
typedef struct qp_half_place {
    int64_t y, x;
    unsigned fy, fx;
} qp_half_place;

/* E10's half-pel prediction. Every sum is at most 4·255 + 2. */
static inline uint8_t qp_half_pel(const qp_samples *p, uint32_t c, qp_half_place at)
{
    unsigned a = qp_sample(p, c, at.y, at.x);
    if (at.fy == 0 && at.fx == 0)
        return (uint8_t)a;
    if (at.fy == 0)
        return (uint8_t)((a + qp_sample(p, c, at.y, at.x + 1) + 1) >> 1);
    if (at.fx == 0)
        return (uint8_t)((a + qp_sample(p, c, at.y + 1, at.x) + 1) >> 1);
    return (uint8_t)((a + qp_sample(p, c, at.y, at.x + 1) + qp_sample(p, c, at.y + 1, at.x) +
                      qp_sample(p, c, at.y + 1, at.x + 1) + 2) >>
                     2);
}

#endif
