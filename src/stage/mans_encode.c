/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mans_encode.c - the inverse of mans_decode, in both modes.
 *
 * Everything the decoder reads lies in one string of bits that it reads from its end. The encoder
 * goes through the decoder's steps from the last to the first and appends the bits of each, so that
 * the states and the sentinel come last. Two states of 0 begin it; the decoder ends in them.
 */
#include "stage/stage.h"

enum { SHORT_LIMIT = 8 }; /* an escape's values below it take 3 bits, others 16 */

typedef struct encoder {
    qp_buffer bytes;
    uint32_t partial; /* the bits that do not fill a byte yet */
    unsigned bits;    /* how many: below 8 */
    unsigned states[2];
} encoder;

static void encoder_start(encoder *e, const qp_allocator *allocator)
{
    *e = (encoder){.bits = 0};
    qp_buffer_init(&e->bytes, allocator);
}

/* Appends up to 16 bits. */
static void put_bits(encoder *e, unsigned value, unsigned bits)
{
    e->partial |= (uint32_t)value << e->bits;
    for (e->bits += bits; e->bits >= 8; e->bits -= 8) {
        qp_buffer_le(&e->bytes, e->partial & 0xFF, 1);
        e->partial >>= 8;
    }
}

/* The states, the first on top, then the sentinel. */
static qp_status encoder_finish(encoder *e, qp_stream *stream, qp_error *error)
{
    put_bits(e, e->states[1], 8);
    put_bits(e, e->states[0], 8);
    put_bits(e, 1, 1);
    if (e->bits > 0)
        qp_buffer_le(&e->bytes, e->partial, 1);
    stream->bytes = qp_buffer_take(&e->bytes, &stream->size);
    return stream->bytes != NULL ? QP_OK : qp_fail_memory(error, "a stream");
}

/* Takes the state back by a symbol of `count` slots and puts the bits that the decoder reads on:
 * of 256 + state, as many as leave a number of count .. 2·count - 1. Gives how far above `count`
 * that number is: the index of the symbol's slot, in the order in which its next states rise. */
static unsigned take_back(encoder *e, unsigned which, unsigned count)
{
    unsigned next = QP_MANS_SLOTS + e->states[which], bits = 0;
    while (next >> bits >= 2 * count)
        bits++;
    put_bits(e, next & ((1u << bits) - 1), bits);
    return (next >> bits) - count;
}

/* ---- spans (sgm) -------------------------------------------------------------------------- */

/* A symbol in a distribution: its column's cumulative counts. */
typedef struct column {
    unsigned from, to;
} column;

static column find_column(const qp_mans_latents *latents, uint32_t sigma, int symbol)
{
    const uint16_t *cumulative = latents->cumulative + sigma * (latents->width + 1);
    size_t k = symbol >= 0 ? 2 * (size_t)symbol : 2 * (size_t)-symbol - 1;
    if (k >= latents->width)
        return (column){0, 0};
    return (column){cumulative[k], cumulative[k + 1]};
}

static bool has_slots(column c)
{
    return c.to > c.from;
}

/* How one symbol is coded: by its column, or by the column of -bound and the value that follows. */
typedef struct span_code {
    column column;
    bool escaped;
    unsigned value; /* of the escape: at most 65535 */
} span_code;

/* False where the symbol has no code. */
static bool code_symbol(const qp_mans_latents *latents, uint32_t sigma, int symbol, span_code *code)
{
    int bound = latents->bounds[sigma];
    int magnitude = (symbol < 0 ? -symbol : symbol) - bound;
    bool upward = symbol >= bound;

    *code = (span_code){.column = find_column(latents, sigma, symbol)};
    if (symbol != -bound && has_slots(code->column))
        return true;
    code->column = find_column(latents, sigma, -bound);
    code->escaped = true;
    code->value = 2 * (unsigned)magnitude + (upward ? 0 : 1);
    return magnitude >= 0 && magnitude <= INT16_MAX && has_slots(code->column);
}

static qp_status check_span(const qp_mans_latents *latents, const qp_mans_coded_span *span,
                            uint64_t position, qp_error *error)
{
    span_code code;
    for (size_t i = 0; i < span->span.length; i++) {
        int symbol = span->symbols[i];
        if (span->span.mask[i] ? !code_symbol(latents, span->span.sigma[i], symbol, &code)
                               : symbol != 0)
            return qp_fail_at(error, QP_FIELD_RANGE, qp_at(position + i),
                              "the symbol %d has no code in its distribution", symbol);
    }
    return QP_OK;
}

static void put_out(encoder *e, const span_code *code)
{
    bool is_short = code->value < SHORT_LIMIT;
    if (!code->escaped)
        return;
    put_bits(e, code->value, is_short ? 3 : 16);
    put_bits(e, is_short, 1);
}

static void put_in(encoder *e, unsigned which, const span_code *code)
{
    unsigned from = code->column.from, to = code->column.to;
    unsigned low = qp_mans_low_half(to) - qp_mans_low_half(from); /* its slots below 128 */
    unsigned index = take_back(e, which, to - from);
    e->states[which] =
        index < low ? qp_mans_low_half(from) + index : QP_MANS_SLOTS / 2 + from / 2 + (index - low);
}

/* `count` positions whose `in` steps all come before their `out` steps. */
static void put_together(encoder *e, const qp_mans_latents *latents, const qp_mans_coded_span *span,
                         size_t i, unsigned count)
{
    span_code codes[4];
    const uint8_t *mask = span->span.mask + i;
    for (unsigned j = 0; j < count; j++)
        if (mask[j])
            (void)code_symbol(latents, span->span.sigma[i + j], span->symbols[i + j], &codes[j]);
    for (unsigned j = count; j-- > 0;)
        if (mask[j])
            put_out(e, &codes[j]);
    for (unsigned j = count; j-- > 0;)
        if (mask[j])
            put_in(e, j % 2, &codes[j]);
}

/* One position of the remainder, of state `which`. */
static void put_alone(encoder *e, const qp_mans_latents *latents, const qp_mans_coded_span *span,
                      size_t i, unsigned which)
{
    span_code code;
    if (!span->span.mask[i])
        return;
    (void)code_symbol(latents, span->span.sigma[i], span->symbols[i], &code);
    put_out(e, &code);
    put_in(e, which, &code);
}

static void put_span(encoder *e, const qp_mans_latents *latents, const qp_mans_coded_span *span)
{
    size_t i = span->span.length;
    if (i % 2 == 1)
        put_alone(e, latents, span, --i, 0);
    if (i % 4 == 2) {
        put_alone(e, latents, span, --i, 1);
        put_alone(e, latents, span, --i, 0);
    }
    for (; i > 0; i -= 4)
        put_together(e, latents, span, i - 4, 4);
}

qp_status qp_mans_encode_spans(const qp_mans_latents *latents, const qp_mans_coded_span *spans,
                               size_t count, const qp_allocator *allocator, qp_stream *stream,
                               qp_error *error)
{
    encoder e;
    uint64_t position = 0;
    qp_status status = QP_OK;

    *stream = (qp_stream){0};
    for (size_t i = 0; status == QP_OK && i < count; i++)
        status = qp_mans_span_check(latents, &spans[i].span, error);
    for (size_t i = 0; status == QP_OK && i < count; i++) {
        status = check_span(latents, &spans[i], position, error);
        position += spans[i].span.length;
    }
    if (status != QP_OK)
        return status;
    encoder_start(&e, allocator);
    for (size_t i = count; i > 0; i--)
        put_span(&e, latents, &spans[i - 1]);
    return encoder_finish(&e, stream, error);
}

/* ---- rows (fac) --------------------------------------------------------------------------- */

/* The slots of a symbol in a row; none for one that the escape codes. */
static column row_column(const qp_mans_row *row, int symbol)
{
    if (symbol >= QP_MANS_ROW_COUNTS)
        return (column){0, 0};
    return (column){symbol > 0 ? row->counts[symbol - 1] : 0, row->counts[symbol]};
}

static void put_row_out(encoder *e, const qp_mans_row *row, int symbol)
{
    if (!has_slots(row_column(row, symbol)))
        put_bits(e, (unsigned)symbol, 6);
}

static void put_row_in(encoder *e, unsigned which, const qp_mans_row *row, int symbol)
{
    column c = row_column(row, symbol);
    if (!has_slots(c))
        c = (column){QP_MANS_SLOTS - 1, QP_MANS_SLOTS};
    e->states[which] = c.from + take_back(e, which, c.to - c.from);
}

static void put_row(encoder *e, const qp_mans_coded_row *coded)
{
    const int16_t *symbols = coded->symbols;
    size_t i = coded->length;
    while (i % 4 != 0) {
        i--;
        put_row_out(e, &coded->row, symbols[i]);
        put_row_in(e, i % 4 % 2, &coded->row, symbols[i]);
    }
    for (; i > 0; i -= 4) {
        for (unsigned j = 1; j <= 4; j++)
            put_row_out(e, &coded->row, symbols[i - j]);
        for (unsigned j = 1; j <= 4; j++)
            put_row_in(e, j % 2 == 0 ? 0 : 1, &coded->row, symbols[i - j]);
    }
}

qp_status qp_mans_encode_rows(const qp_mans_coded_row *rows, size_t count,
                              const qp_allocator *allocator, qp_stream *stream, qp_error *error)
{
    encoder e;
    uint64_t position = 0;

    *stream = (qp_stream){0};
    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < rows[r].length; i++)
            if (rows[r].symbols[i] < 0 || rows[r].symbols[i] > QP_MANS_ROW_ESCAPE)
                return qp_fail_at(error, QP_FIELD_RANGE, qp_at(position + i),
                                  "the symbol %d lies outside 0..63", rows[r].symbols[i]);
        position += rows[r].length;
    }
    encoder_start(&e, allocator);
    for (size_t r = count; r > 0; r--)
        put_row(&e, &rows[r - 1]);
    return encoder_finish(&e, stream, error);
}
