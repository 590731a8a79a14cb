/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rans64.c - rans64_decode (E1): a 64-bit state, 32-bit words, tables of 16 bits, and escapes in
 * groups of 4 bits.
 *
 * No step can overflow the state: with f the frequency, f <= 2^16 and c - start < f, so
 * f·⌊x / 2^16⌋ + c - start < f·(⌊x / 2^16⌋ + 1) <= 2^16·2^48; a renormalised state is below 2^63.
 */
#include "stage/stage.h"

enum { WORD = 4, GROUP_BITS = 4, GROUP_FULL = 15 };

qp_status qp_rans_decoder_init(qp_rans_decoder *decoder, const qp_rans_tables *tables,
                               const uint8_t *stream, size_t size, qp_error *error)
{
    if (size % WORD != 0 || size < 2 * WORD)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "a stream of %zu bytes; it has a multiple of 4, and at least 8", size);
    *decoder = (qp_rans_decoder){.tables = tables,
                                 .next = stream + 2 * WORD,
                                 .end = stream + size,
                                 .state = qp_load_u64(stream)};
    return QP_OK;
}

/* ---- one symbol, as the text has it ------------------------------------------------------- */

/* *ran_out is set, and the state stays, where a word is wanted and none is left. */
static void renormalise(qp_rans_decoder *d, bool *ran_out)
{
    if (d->state >= QP_RANS_LOW)
        return;
    if (d->next == d->end) {
        *ran_out = true;
        return;
    }
    d->state = d->state << 32 | qp_load_u32(d->next);
    d->next += WORD;
}

static uint32_t read_group(qp_rans_decoder *d, bool *ran_out)
{
    uint32_t group = d->state & GROUP_FULL;
    d->state >>= GROUP_BITS;
    renormalise(d, ran_out);
    return group;
}

/* The interval of the state's slot in a table. */
static inline uint32_t find_interval(const qp_rans_table *table, uint32_t slot)
{
    uint32_t s = table->guess[slot >> QP_RANS_GUESS_SHIFT];
    while (slot - qp_rans_start(table->intervals[s]) >= qp_rans_frequency(table->intervals[s]))
        s++;
    return s;
}

/* An escape's groups: its count and its raw value, which has at most 8·4 bits. */
typedef struct escape {
    uint32_t count;
    uint32_t raw;
    uint32_t last; /* the group read last; 1 where none was */
} escape;

/* The count of the lenient rule: continuation groups while the one just read is full. */
static uint32_t lenient_count(qp_rans_decoder *d, bool *ran_out)
{
    uint32_t group = read_group(d, ran_out);
    uint32_t count = group;
    for (unsigned more = 0; more < QP_RANS_ESCAPE_GROUPS; more++) {
        if (group != GROUP_FULL || *ran_out || d->ran_out)
            break;
        group = read_group(d, ran_out);
        count += group;
    }
    return count < QP_RANS_ESCAPE_GROUPS ? count : QP_RANS_ESCAPE_GROUPS;
}

static escape read_escape(qp_rans_decoder *d, bool *ran_out)
{
    escape e = {.last = 1};
    bool strict = d->tables->modes.escape == QP_RANS_STRICT;
    e.count = strict ? read_group(d, ran_out) : lenient_count(d, ran_out);
    for (uint32_t j = 0; e.count <= QP_RANS_ESCAPE_GROUPS && j < e.count; j++) {
        e.last = read_group(d, ran_out);
        e.raw |= e.last << (GROUP_BITS * j);
    }
    return e;
}

/* In i64: a value lies in [-2^31, 2^31 - 1 + 65535], and the offset fits i32. */
static int64_t escape_value(const qp_rans_table *table, uint32_t raw)
{
    return raw % 2 == 1 ? -(int64_t)(raw / 2) - 1 : (int64_t)(raw / 2) + table->escape;
}

static int64_t saturate(int64_t v)
{
    return qp_clamp_i64(v, INT32_MIN, INT32_MAX);
}

/* The checks on one symbol, in the text's order (E1). */
static qp_status check_symbol(const qp_rans_decoder *d, bool ran_out, const escape *e,
                              int64_t symbol, qp_error *error)
{
    const qp_rans_modes *modes = &d->tables->modes;
    qp_place at = qp_at(d->decoded);

    if (ran_out && modes->end == QP_RANS_CANONICAL)
        return qp_fail_at(error, QP_STREAM_EXHAUSTED, at, "the stream runs out");
    if (modes->escape != QP_RANS_STRICT)
        return QP_OK;
    if (e->count > QP_RANS_ESCAPE_GROUPS)
        return qp_fail_at(error, QP_STREAM_NONCANONICAL, at, "an escape counts %u groups",
                          (unsigned)e->count);
    if (e->last == 0)
        return qp_fail_at(error, QP_STREAM_NONCANONICAL, at,
                          "an escape's last group is 0, so it is not minimal");
    if (symbol < modes->lo || symbol > modes->hi)
        return qp_fail_at(error, QP_FIELD_RANGE, at, "a symbol outside [lo, hi]");
    return QP_OK;
}

static qp_status decode_symbol(qp_rans_decoder *d, const qp_rans_table *table, int32_t *symbol,
                               qp_error *error)
{
    bool ran_out = false, strict = d->tables->modes.escape == QP_RANS_STRICT;
    uint32_t slot = (uint32_t)(d->state & 0xFFFF);
    uint32_t s = find_interval(table, slot);
    uint32_t interval = table->intervals[s];
    escape e = {.last = 1};
    int64_t value = s;

    d->state = qp_rans_frequency(interval) * (d->state >> 16) + slot - qp_rans_start(interval);
    renormalise(d, &ran_out);
    if (s == table->escape) {
        e = read_escape(d, &ran_out);
        value = escape_value(table, e.raw);
    }
    if (!strict)
        value = saturate(saturate(value) + table->offset);
    else
        value += table->offset;
    qp_status status = check_symbol(d, ran_out, &e, value, error);
    if (status != QP_OK)
        return status;
    *symbol = (int32_t)value;
    d->ran_out |= ran_out;
    d->decoded++;
    return QP_OK;
}

static qp_status fail_table(qp_error *error, size_t table, const qp_rans_tables *tables)
{
    return qp_fail(error, QP_MODEL_MISMATCH, "table %zu is read, and there are %zu", table,
                   tables->count);
}

qp_status qp_rans_decode(qp_rans_decoder *decoder, size_t table, int32_t *symbol, qp_error *error)
{
    if (table >= decoder->tables->count)
        return fail_table(error, table, decoder->tables);
    return decode_symbol(decoder, &decoder->tables->tables[table], symbol, error);
}

/* ---- runs --------------------------------------------------------------------------------- */

/* Where the tables of a run come from: `reads` moves by `step` a symbol, which is 0 for one table.
 */
typedef struct run {
    const uint32_t *reads;
    size_t step, count;
    int32_t *symbols;
} run;

/*
 * Decodes symbols that need no check, while a word is left for each, and returns how many: it stops
 * before a symbol that decode_symbol must see. A word is taken in without a branch, since whether
 * one is wanted is as good as random.
 */
static size_t decode_plain(qp_rans_decoder *d, const run *r, size_t done)
{
    const qp_rans_table *tables = d->tables->tables;
    const uint8_t *next = d->next, *end = d->end;
    const uint32_t *reads = r->reads + done * r->step;
    size_t i = done, count = r->count, step = r->step;
    uint64_t state = d->state;

    for (; i < count && next != end; i++, reads += step) {
        const qp_rans_table *table = &tables[*reads];
        uint32_t slot = (uint32_t)(state & 0xFFFF);
        uint32_t s = find_interval(table, slot);
        if (s >= table->plain)
            break;
        uint32_t interval = table->intervals[s];
        r->symbols[i] = (int32_t)s + table->offset;
        state = qp_rans_frequency(interval) * (state >> 16) + slot - qp_rans_start(interval);
        uint64_t refilled = state << 32 | qp_load_u32(next);
        bool wants = state < QP_RANS_LOW;
        state = wants ? refilled : state;
        next += wants ? WORD : 0;
    }
    d->state = state;
    d->next = next;
    d->decoded += i - done;
    return i;
}

static qp_status decode_run(qp_rans_decoder *d, const run *r, qp_error *error)
{
    qp_status status = QP_OK;
    size_t i = 0;
    if (r->count == 0)
        return QP_OK; /* `reads` and `symbols` may be NULL */
    while (status == QP_OK && (i = decode_plain(d, r, i)) < r->count) {
        const qp_rans_table *table = &d->tables->tables[r->reads[i * r->step]];
        status = decode_symbol(d, table, &r->symbols[i], error);
        i++;
    }
    return status;
}

qp_status qp_rans_decode_run(qp_rans_decoder *decoder, const uint32_t *reads, size_t count,
                             int32_t *symbols, qp_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (reads[i] >= decoder->tables->count)
            return fail_table(error, reads[i], decoder->tables);
    return decode_run(decoder, &(run){reads, 1, count, symbols}, error);
}

qp_status qp_rans_decode_same(qp_rans_decoder *decoder, size_t table, size_t count,
                              int32_t *symbols, qp_error *error)
{
    if (table >= decoder->tables->count)
        return fail_table(error, table, decoder->tables);
    uint32_t reads = (uint32_t)table;
    return decode_run(decoder, &(run){&reads, 0, count, symbols}, error);
}

/* ---- the end rule ------------------------------------------------------------------------- */

qp_status qp_rans_finish(const qp_rans_decoder *decoder, qp_error *error)
{
    qp_place at = qp_at(decoder->decoded);
    if (decoder->tables->modes.end == QP_RANS_FINAL_ONLY) {
        if (decoder->ran_out)
            return qp_fail_at(error, QP_STREAM_EXHAUSTED, at,
                              "the stream ran out before its last symbol");
        return QP_OK;
    }
    if (decoder->next != decoder->end)
        return qp_fail_at(error, QP_STREAM_NONCANONICAL, at,
                          "%zu words of the stream are left after its last symbol",
                          (size_t)(decoder->end - decoder->next) / WORD);
    if (decoder->state != QP_RANS_LOW)
        return qp_fail_at(error, QP_STREAM_NONCANONICAL, at,
                          "the state after the last symbol is not 2^31");
    return QP_OK;
}
