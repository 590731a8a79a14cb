/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mans.c - mans_decode (E8): a two-state table-ANS decode over a window of 64 bits that moves from
 * the stream's end to its beginning.
 */
#include "stage/stage.h"

/* The window while a span or a row is decoded; `failed` once the stream does not hold what is
 * wanted. */
typedef struct window {
    qp_mans_decoder *decoder;
    uint64_t head;
    unsigned bit;
    bool failed;
} window;

/* ---- the window --------------------------------------------------------------------------- */

/* LE64(i) of the memory: 8 zero bytes, then the stream. */
static uint64_t load(const qp_mans_decoder *d, size_t index)
{
    uint8_t bytes[QP_MANS_WORD] = {0};
    if (index >= QP_MANS_WORD)
        return qp_load_u64(d->stream + (index - QP_MANS_WORD));
    if (index > 0)
        memcpy(bytes + (QP_MANS_WORD - index), d->stream, index);
    return qp_load_u64(bytes);
}

/* The highest `bits` bits left, at most 16; 0 with `failed` set where the window holds fewer. */
static inline unsigned read_bits(window *w, unsigned bits)
{
    if (bits > w->bit) {
        w->failed = true;
        return 0;
    }
    w->bit -= bits;
    unsigned result = (unsigned)(w->head >> w->bit); /* head < 2^(bit + bits), bits <= 16 */
    w->head &= ((uint64_t)1 << w->bit) - 1;          /* bit <= 63 */
    return result;
}

/* Moves the window down to hold at least 56 bits; `failed` is set where the memory ends before. */
static inline void flush(window *w)
{
    size_t move = 7 - w->bit / 8; /* 7 XOR the bytes left, which are at most 7 */
    if (move > w->decoder->index) {
        w->failed = true;
        return;
    }
    w->decoder->index -= move;
    w->bit = 56 + w->bit % 8;
    w->head = load(w->decoder, w->decoder->index) & (((uint64_t)1 << w->bit) - 1);
}

static qp_status fail_stream(qp_error *error, uint64_t at)
{
    return qp_fail_at(error, QP_STREAM_EXHAUSTED, qp_at(at),
                      "the stream does not hold the bits that are read");
}

static window open_window(qp_mans_decoder *d)
{
    return (window){.decoder = d, .head = d->head, .bit = d->bit};
}

static void close_window(const window *w)
{
    w->decoder->head = w->head;
    w->decoder->bit = w->bit;
}

qp_status qp_mans_decoder_init(qp_mans_decoder *decoder, const uint8_t *stream, size_t size,
                               qp_error *error)
{
    qp_mans_decoder made = {.stream = stream, .size = size, .index = size};
    uint64_t head = load(&made, size);
    if (head == 0)
        return qp_fail_at(error, QP_STREAM_EXHAUSTED, qp_at(0), "the stream ends in zeros");
    made.bit = 63 - (unsigned)__builtin_clzll(head); /* head >= 1 */
    made.head = head - ((uint64_t)1 << made.bit);

    window w = open_window(&made);
    made.states[0] = (uint8_t)read_bits(&w, 8);
    made.states[1] = (uint8_t)read_bits(&w, 8);
    if (!w.failed)
        flush(&w);
    if (w.failed)
        return fail_stream(error, 0);
    close_window(&w);
    *decoder = made;
    return QP_OK;
}

/* The step that both modes share: the next state of state `which` from its table; the entry. */
static inline uint32_t step_state(window *w, unsigned which, const uint32_t table[QP_MANS_SLOTS])
{
    uint8_t *state = &w->decoder->states[which];
    uint32_t entry = table[*state];
    *state = (uint8_t)(entry >> 16 | read_bits(w, entry >> 24));
    return entry;
}

/* ---- spans (sgm) -------------------------------------------------------------------------- */

typedef struct span_run {
    window w;
    const qp_mans_latents *latents;
    const qp_mans_span *span;
    int16_t *symbols;
} span_run;

static inline void span_in(span_run *r, unsigned which, size_t i)
{
    r->symbols[i] = 0;
    if (r->span->mask[i])
        r->symbols[i] =
            qp_to_i16((uint16_t)step_state(&r->w, which, r->latents->tables[r->span->sigma[i]]));
}

/* Values are wrapped to 16 bits: |v/2| <= 32767 and the bound is at most 255. */
static void read_span_escape(span_run *r, size_t i, int bound)
{
    unsigned is_short = read_bits(&r->w, 1);
    unsigned v = read_bits(&r->w, is_short ? 3 : 16);
    int magnitude = (int)(v / 2) + bound;
    r->symbols[i] = qp_to_i16((uint16_t)(v % 2 == 0 ? magnitude : -magnitude));
    if (!r->w.failed)
        flush(&r->w);
}

static inline void span_out(span_run *r, size_t i)
{
    if (!r->span->mask[i])
        return;
    int bound = r->latents->bounds[r->span->sigma[i]];
    if (r->symbols[i] + bound == 0)
        read_span_escape(r, i, bound);
}

/* Four positions; on a failure *at is the place of it. */
static bool span_group(span_run *r, size_t i, size_t *at)
{
    for (unsigned j = 0; j < 4; j++) {
        span_in(r, j % 2, i + j);
        if (r->w.failed) {
            *at = i + j;
            return false;
        }
    }
    flush(&r->w);
    *at = i + 3;
    for (unsigned j = 0; j < 4 && !r->w.failed; j++) {
        *at = i + j;
        span_out(r, i + j);
    }
    return !r->w.failed;
}

/* One or two positions of the remainder, and the flush that follows them. */
static bool span_rest(span_run *r, size_t i, unsigned count, size_t *at)
{
    for (unsigned j = 0; j < count && !r->w.failed; j++) {
        *at = i + j;
        span_in(r, j, i + j);
        if (!r->w.failed)
            span_out(r, i + j);
    }
    if (!r->w.failed)
        flush(&r->w);
    return !r->w.failed;
}

/* True, or the place of a failure in *at. */
static bool run_span(span_run *r, size_t *at)
{
    size_t i = 0, length = r->span->length;
    for (; length - i >= 4; i += 4)
        if (!span_group(r, i, at))
            return false;
    if (length % 4 >= 2) {
        if (!span_rest(r, i, 2, at))
            return false;
        i += 2;
    }
    return length % 2 == 0 || span_rest(r, i, 1, at);
}

qp_status qp_mans_decode_span(qp_mans_decoder *decoder, const qp_mans_latents *latents,
                              const qp_mans_span *span, int16_t *symbols, qp_error *error)
{
    size_t at = 0;
    qp_status status = qp_mans_span_check(latents, span, error);
    if (status != QP_OK)
        return status;
    span_run r = {.w = open_window(decoder), .latents = latents, .span = span, .symbols = symbols};
    if (!run_span(&r, &at))
        return fail_stream(error, decoder->position + at);
    close_window(&r.w);
    decoder->position += span->length;
    return QP_OK;
}

/* ---- rows (fac) --------------------------------------------------------------------------- */

/* Slots that the row does not write keep the previous row's entries. */
static void build_row(uint32_t table[QP_MANS_SLOTS], const qp_mans_row *row)
{
    unsigned first = 0;
    for (unsigned a = 0; a < QP_MANS_ROW_COUNTS; a++) {
        unsigned count = row->counts[a] > first ? row->counts[a] - first : 0;
        qp_mans_fill(table + first, count, count, (uint16_t)a);
        first += count;
    }
    qp_mans_fill(table + QP_MANS_SLOTS - 1, 1, 1, QP_MANS_ROW_ESCAPE);
}

static inline void row_in(window *w, unsigned which, int16_t *symbol)
{
    *symbol = (int16_t)(step_state(w, which, w->decoder->row_table) & 0xFF);
}

static inline void row_out(window *w, int16_t *symbol)
{
    if (*symbol == QP_MANS_ROW_ESCAPE)
        *symbol = (int16_t)read_bits(w, 6);
}

/* Four symbols and their flush. */
static bool row_group(window *w, int16_t *symbols, size_t i, size_t *at)
{
    for (unsigned j = 0; j < 4 && !w->failed; j++) {
        *at = i + j;
        row_in(w, j % 2, &symbols[i + j]);
    }
    for (unsigned j = 0; j < 4 && !w->failed; j++) {
        *at = i + j;
        row_out(w, &symbols[i + j]);
    }
    if (!w->failed)
        flush(w); /* its place is the last symbol's, which *at is */
    return !w->failed;
}

static bool run_row(window *w, size_t length, int16_t *symbols, size_t *at)
{
    size_t i = 0;
    for (; length - i >= 4; i += 4)
        if (!row_group(w, symbols, i, at))
            return false;
    for (unsigned j = 0; i < length && !w->failed; i++, j++) {
        *at = i;
        row_in(w, j % 2, &symbols[i]); /* a third symbol is the first state's again */
        if (!w->failed)
            row_out(w, &symbols[i]);
    }
    if (!w->failed)
        flush(w);
    return !w->failed;
}

qp_status qp_mans_decode_row(qp_mans_decoder *decoder, const qp_mans_row *row, size_t length,
                             int16_t *symbols, qp_error *error)
{
    window w = open_window(decoder);
    size_t at = 0;

    build_row(decoder->row_table, row);
    if (!run_row(&w, length, symbols, &at)) {
        /* a row of no symbols: the place is the last symbol before it */
        uint64_t before = length == 0 && decoder->position > 0 ? decoder->position - 1 : 0;
        return fail_stream(error, length == 0 ? before : decoder->position + at);
    }
    close_window(&w);
    decoder->position += length;
    return QP_OK;
}
