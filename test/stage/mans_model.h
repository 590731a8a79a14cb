/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mans_model.h - mans_decode once more, as plainly as the text has it (integer-operators.md
 * section 5E, E8): the memory byte by byte, the tables slot by slot, one position at a time.
 */
#ifndef QP_TEST_STAGE_MANS_MODEL_H
#define QP_TEST_STAGE_MANS_MODEL_H

#include "base/base.h"
#include "quipu/stage.h"

typedef struct mans_model {
    const uint8_t *stream;
    size_t length;
    size_t p;
    uint64_t h;
    unsigned b;
    unsigned s[2];
    uint32_t tz[256];
    bool failed;
} mans_model;

static inline uint64_t mans_model_le64(const mans_model *m, size_t i)
{
    uint64_t value = 0;
    for (size_t k = 0; k < 8; k++)
        if (i + k >= 8)
            value += (uint64_t)m->stream[i + k - 8] << (8 * k);
    return value;
}

static inline unsigned mans_model_read(mans_model *m, unsigned k)
{
    if (m->failed || k > m->b) {
        m->failed = true;
        return 0;
    }
    m->b -= k;
    unsigned r = (unsigned)(m->h / ((uint64_t)1 << m->b));
    m->h -= (uint64_t)r << m->b;
    return r;
}

static inline void mans_model_flush(mans_model *m)
{
    size_t d = 7 ^ (m->b / 8);
    if (m->failed || d > m->p) {
        m->failed = true;
        return;
    }
    m->p -= d;
    m->h = mans_model_le64(m, m->p) % ((uint64_t)1 << (56 + m->b % 8));
    m->b = 56 + m->b % 8;
}

static inline bool mans_model_init(mans_model *m, const uint8_t *stream, size_t length)
{
    *m = (mans_model){.stream = stream, .length = length, .p = length};
    m->h = mans_model_le64(m, length);
    if (m->h == 0)
        return false;
    for (m->b = 63; (m->h >> m->b) == 0;)
        m->b--;
    m->h -= (uint64_t)1 << m->b;
    m->s[0] = mans_model_read(m, 8);
    m->s[1] = mans_model_read(m, 8);
    mans_model_flush(m);
    return !m->failed;
}

static inline int mans_model_wrap16(long a)
{
    return (int)((((a + 32768) % 65536) + 65536) % 65536 - 32768);
}

static inline unsigned mans_model_step(mans_model *m, unsigned which, const uint32_t table[256])
{
    uint32_t t = table[m->s[which]];
    m->s[which] = ((t >> 16) | mans_model_read(m, t >> 24)) % 256;
    return t;
}

/* ---- sgm ---------------------------------------------------------------------------------- */

static inline void mans_model_entry(uint32_t table[256], unsigned u, unsigned next, long sym)
{
    uint32_t nb = 0;
    while (next << nb < 256)
        nb++;
    table[u] = nb * (1u << 24) + (((next << nb) ^ 256) << 16) +
               (uint32_t)(((sym % 65536) + 65536) % 65536);
}

static inline void mans_model_latents(const qp_integer_list *row, uint32_t table[256])
{
    unsigned c = 0;
    for (size_t k = 0; k < row->count && c < 256; k++) {
        unsigned p = (unsigned)row->values[k], c1 = c + p;
        unsigned f0 = c - c / 2, f1 = c1 - c1 / 2, g0 = c / 2 + 128, g1 = c1 / 2 + 128;
        long sym = k % 2 == 0 ? (long)(k / 2) : -(long)((k + 1) / 2);
        for (unsigned u = f0; u < f1; u++)
            mans_model_entry(table, u, p + (u - f0), sym);
        for (unsigned u = g0; u < g1; u++)
            mans_model_entry(table, u, p + (f1 - f0) + (u - g0), sym);
        c = c1;
    }
}

typedef struct mans_model_span {
    const qp_mans_span *span;
    const uint32_t (*tables)[256];
    const int64_t *bounds;
    int16_t *symbols;
} mans_model_span;

static inline void mans_model_in(mans_model *m, const mans_model_span *s, unsigned which, size_t i)
{
    if (s->span->mask[i])
        s->symbols[i] = (int16_t)mans_model_wrap16(
            (long)(mans_model_step(m, which, s->tables[s->span->sigma[i]]) % 65536));
    else
        s->symbols[i] = 0;
}

static inline void mans_model_out(mans_model *m, const mans_model_span *s, size_t i)
{
    long bound = (long)s->bounds[s->span->sigma[i]];
    if (!s->span->mask[i] || s->symbols[i] + bound != 0)
        return;
    unsigned v = mans_model_read(m, mans_model_read(m, 1) == 1 ? 3 : 16);
    long half = (long)(v / 2);
    s->symbols[i] = (int16_t)mans_model_wrap16(v % 2 == 0 ? half + bound : -half - bound);
    mans_model_flush(m);
}

/* False, with the position in *at, where the stream does not hold the bits. */
static inline bool mans_model_span_decode(mans_model *m, const mans_model_span *s, size_t *at)
{
    size_t i = 0, length = s->span->length;
    for (; i + 4 <= length; i += 4) {
        for (unsigned j = 0; j < 4; j++) {
            *at = i + j;
            mans_model_in(m, s, j % 2, i + j);
            if (m->failed)
                return false;
        }
        mans_model_flush(m);
        if (m->failed)
            return false;
        for (unsigned j = 0; j < 4; j++) {
            *at = i + j;
            mans_model_out(m, s, i + j);
            if (m->failed)
                return false;
        }
    }
    for (size_t rest = length % 4; rest > 0;) {
        size_t together = rest >= 2 ? 2 : 1;
        for (unsigned j = 0; j < together; j++, i++) {
            *at = i;
            mans_model_in(m, s, j, i);
            if (!m->failed)
                mans_model_out(m, s, i);
            if (m->failed)
                return false;
        }
        mans_model_flush(m);
        if (m->failed)
            return false;
        rest -= together;
    }
    return true;
}

/* ---- fac ---------------------------------------------------------------------------------- */

static inline void mans_model_row(mans_model *m, const uint8_t counts[63])
{
    uint32_t zp[512], nb = 0;
    for (uint32_t i = 511; i >= 1; i--) {
        if (i << nb < 256)
            nb++;
        zp[i] = ((i << nb) ^ 256) + 256 * nb;
    }
    for (uint32_t a = 0; a < 63; a++) {
        uint32_t before = a > 0 ? counts[a - 1] : 0, k = counts[a] - before;
        for (uint32_t j = before; j < counts[a]; j++)
            m->tz[j] = zp[k + j - before] * 65536 + a;
    }
    m->tz[255] = zp[1] * 65536 + 63;
}

static inline bool mans_model_row_decode(mans_model *m, size_t length, int16_t *symbols, size_t *at)
{
    size_t i = 0;
    for (; i + 4 <= length; i += 4) {
        for (unsigned j = 0; j < 4 && !m->failed; j++) {
            *at = i + j;
            symbols[i + j] = (int16_t)(mans_model_step(m, j % 2, m->tz) % 256);
        }
        for (unsigned j = 0; j < 4 && !m->failed; j++) {
            *at = i + j;
            if (symbols[i + j] == 63)
                symbols[i + j] = (int16_t)mans_model_read(m, 6);
        }
        mans_model_flush(m);
        if (m->failed)
            return false;
    }
    for (unsigned which = 0; i < length; i++, which ^= 1) {
        *at = i;
        symbols[i] = (int16_t)(mans_model_step(m, which, m->tz) % 256);
        if (symbols[i] == 63)
            symbols[i] = (int16_t)mans_model_read(m, 6);
        if (m->failed)
            return false;
    }
    mans_model_flush(m);
    return !m->failed;
}

#endif
