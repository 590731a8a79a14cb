/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rans_model.h - rans64_decode once more, as plainly as the text has it: linear search, one word at
 * a time, one symbol at a time. And a writer of single steps, which can write streams that the
 * encoder never does.
 */
#ifndef QP_TEST_STAGE_RANS_MODEL_H
#define QP_TEST_STAGE_RANS_MODEL_H

#include "base/base.h"
#include "quipu/stage.h"

/* ---- the model ---------------------------------------------------------------------------- */

typedef struct rans_model {
    const uint8_t *stream;
    size_t at, size;
    uint64_t x;
    bool ran_out, ran_out_now; /* ever; in this symbol */
} rans_model;

static inline void rans_model_renormalise(rans_model *m)
{
    if (m->x >= UINT64_C(0x80000000))
        return;
    if (m->at == m->size) {
        m->ran_out = m->ran_out_now = true;
        return;
    }
    m->x = (m->x << 32) + qp_load_u32(m->stream + m->at);
    m->at += 4;
}

static inline uint64_t rans_model_bits(rans_model *m, unsigned k)
{
    uint64_t result = m->x % ((uint64_t)1 << k);
    m->x /= (uint64_t)1 << k;
    rans_model_renormalise(m);
    return result;
}

static inline int64_t rans_model_saturate(int64_t v)
{
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v;
}

/* The value of an escape; *fault is set for strict's two refusals of its form. */
static inline int64_t rans_model_escape(rans_model *m, const qp_rans_modes *modes, int64_t n,
                                        bool *fault)
{
    uint64_t count = rans_model_bits(m, 4), group = count, raw = 0, last = 1;
    if (modes->escape == QP_RANS_LENIENT) {
        for (int k = 0; k < 8 && group == 15 && !m->ran_out; k++) {
            group = rans_model_bits(m, 4);
            count += group;
        }
        count = count > 8 ? 8 : count;
    }
    if (count <= 8)
        for (uint64_t j = 0; j < count; j++) {
            last = rans_model_bits(m, 4);
            raw += last << (4 * j);
        }
    *fault = count > 8 || last == 0;
    return raw % 2 == 1 ? -(int64_t)(raw / 2) - 1 : (int64_t)(raw / 2) + n - 2;
}

static inline qp_status rans_model_symbol(rans_model *m, const qp_rans_cdf *table,
                                          const qp_rans_modes *modes, int64_t *symbol)
{
    const int64_t *cdf = table->cdf.values;
    int64_t n = (int64_t)table->cdf.count, c = (int64_t)(m->x % 65536), s = 0;
    bool fault = false;

    m->ran_out_now = false;
    while (cdf[s + 1] <= c)
        s++;
    m->x = (uint64_t)(cdf[s + 1] - cdf[s]) * (m->x / 65536) + (uint64_t)(c - cdf[s]);
    rans_model_renormalise(m);
    int64_t value = s == n - 2 ? rans_model_escape(m, modes, n, &fault) : s;
    bool strict = modes->escape == QP_RANS_STRICT;
    *symbol = strict ? value + table->offset
                     : rans_model_saturate(rans_model_saturate(value) + table->offset);
    if (modes->end == QP_RANS_CANONICAL && m->ran_out_now)
        return QP_STREAM_EXHAUSTED;
    if (strict && fault)
        return QP_STREAM_NONCANONICAL;
    return strict && (*symbol < modes->lo || *symbol > modes->hi) ? QP_FIELD_RANGE : QP_OK;
}

/* Decodes `count` symbols and the end of a stream whose size is right; *at is the refusal's index.
 */
static inline qp_status rans_model_decode(const qp_stream *stream, const qp_rans_cdf *tables,
                                          const qp_rans_modes *modes, const qp_rans_symbols *reads,
                                          int64_t *symbols, size_t *at)
{
    rans_model m = {.stream = stream->bytes, .at = 8, .size = stream->size};
    m.x = qp_load_u32(stream->bytes) + ((uint64_t)qp_load_u32(stream->bytes + 4) << 32);
    for (*at = 0; *at < reads->count; ++*at) {
        qp_status status = rans_model_symbol(&m, &tables[reads->reads[*at]], modes, &symbols[*at]);
        if (status != QP_OK)
            return status;
    }
    if (modes->end == QP_RANS_FINAL_ONLY)
        return m.ran_out ? QP_STREAM_EXHAUSTED : QP_OK;
    return m.at == m.size && m.x == UINT64_C(0x80000000) ? QP_OK : QP_STREAM_NONCANONICAL;
}

/* ---- single steps ------------------------------------------------------------------------- */

/* One step of the decoder: the interval [start, start + frequency) of 2^bits. */
typedef struct rans_step {
    uint32_t start, frequency;
    unsigned bits;
} rans_step;

#define RANS_GROUP(value)                                                                          \
    {                                                                                              \
        (value), 1, 4                                                                              \
    }
#define RANS_INTERVAL(from, to)                                                                    \
    {                                                                                              \
        (from), (to) - (from), 16                                                                  \
    }

/* Writes the steps so that the decoder ends in state `last`. From a `last` far below 2^31 no word
 * is written as long as the state stays below it, so that the decoder runs out at its first step.
 * Returns the size of the stream, at most 8 + 4·count bytes. */
static inline size_t rans_write_steps(const rans_step *steps, size_t count, uint64_t last,
                                      uint8_t *stream)
{
    uint32_t words[256];
    size_t n = 0;
    uint64_t x = last;
    for (size_t i = count; i-- > 0;) {
        uint64_t f = steps[i].frequency;
        if (x >= ((uint64_t)1 << (63 - steps[i].bits)) * f) {
            words[n++] = (uint32_t)(x & UINT32_MAX);
            x >>= 32;
        }
        x = (x / f << steps[i].bits) + x % f + steps[i].start;
    }
    words[n++] = (uint32_t)(x >> 32);
    words[n++] = (uint32_t)(x & UINT32_MAX);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 4; k++)
            stream[4 * i + k] = (uint8_t)(words[n - 1 - i] >> (8 * k));
    return 4 * n;
}

#endif
