/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rans64_encode.c - the inverse of rans64_decode: symbols are coded from the last to the first, so
 * that the decoder meets them in order, and the words are reversed at the end.
 */
#include "stage/stage.h"

enum { GROUP_BITS = 4 };

typedef struct encoder {
    uint64_t state;  /* in [2^31, 2^63) between steps */
    qp_buffer words; /* the last word first */
} encoder;

/* Makes room for a step that multiplies the state by up to 2^bits / frequency: the decoder's state
 * after it is below 2^31 exactly where a word is emitted here. */
static void emit_before(encoder *e, uint64_t frequency, unsigned bits)
{
    uint64_t limit = (QP_RANS_LOW << (32 - bits)) * frequency; /* <= 2^63 */
    if (e->state >= limit) {
        qp_buffer_le(&e->words, e->state & UINT32_MAX, 4);
        e->state >>= 32;
    }
}

static void put_interval(encoder *e, uint32_t interval)
{
    uint64_t frequency = qp_rans_frequency(interval);
    emit_before(e, frequency, 16);
    e->state = (e->state / frequency << 16) + e->state % frequency + qp_rans_start(interval);
}

static void put_group(encoder *e, uint32_t group)
{
    emit_before(e, 1, GROUP_BITS);
    e->state = e->state << GROUP_BITS | group;
}

/* The groups of an escape, last first, then their count. */
static void put_escape(encoder *e, uint32_t raw)
{
    unsigned count = 0;
    while (count < QP_RANS_ESCAPE_GROUPS && raw >> (GROUP_BITS * count) != 0)
        count++;
    for (unsigned j = count; j > 0; j--)
        put_group(e, raw >> (GROUP_BITS * (j - 1)) & 15);
    put_group(e, count);
}

/* The escape's raw value, up to 2^33: one above 2^32 - 1 has no code. */
static uint64_t raw_of(int64_t value, uint32_t escape)
{
    return value < 0 ? 2 * (uint64_t)(-value - 1) + 1 : 2 * (uint64_t)(value - escape);
}

static bool is_plain(int64_t value, uint32_t escape)
{
    return value >= 0 && value < escape;
}

/* A symbol has a stream where its value has: within strict's bounds, or, under lenient, within i32
 * so that nothing saturates. */
static bool has_code(const qp_rans_modes *modes, const qp_rans_table *table, int32_t symbol)
{
    int64_t value = (int64_t)symbol - table->offset;
    if (modes->escape == QP_RANS_STRICT ? symbol < modes->lo || symbol > modes->hi
                                        : value < INT32_MIN || value > INT32_MAX)
        return false;
    return is_plain(value, table->escape) || raw_of(value, table->escape) <= UINT32_MAX;
}

static qp_status check_symbols(const qp_rans_tables *tables, const qp_rans_symbols *symbols,
                               qp_error *error)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (symbols->reads[i] >= tables->count)
            return qp_fail(error, QP_MODEL_MISMATCH, "table %zu is named, and there are %zu",
                           (size_t)symbols->reads[i], tables->count);
    for (size_t i = 0; i < symbols->count; i++)
        if (!has_code(&tables->modes, &tables->tables[symbols->reads[i]], symbols->symbols[i]))
            return qp_fail_at(error, QP_FIELD_RANGE, qp_at(i),
                              "the symbol %ld has no code in its table", (long)symbols->symbols[i]);
    return QP_OK;
}

static void put_symbol(encoder *e, const qp_rans_table *table, int32_t symbol)
{
    int64_t value = (int64_t)symbol - table->offset;
    if (is_plain(value, table->escape)) {
        put_interval(e, table->intervals[value]);
    } else {
        put_escape(e, (uint32_t)raw_of(value, table->escape));
        put_interval(e, table->intervals[table->escape]);
    }
}

static void reverse_words(uint8_t *bytes, size_t size)
{
    for (size_t i = 0, j = size; i + 4 < j; i += 4) {
        uint8_t word[4];
        j -= 4;
        memcpy(word, bytes + i, 4);
        memmove(bytes + i, bytes + j, 4);
        memcpy(bytes + j, word, 4);
    }
}

qp_status qp_rans_encode(const qp_rans_tables *tables, const qp_rans_symbols *symbols,
                         const qp_allocator *allocator, qp_stream *stream, qp_error *error)
{
    encoder e = {.state = QP_RANS_LOW};
    *stream = (qp_stream){0};
    qp_status status = check_symbols(tables, symbols, error);
    if (status != QP_OK)
        return status;

    qp_buffer_init(&e.words, allocator);
    for (size_t i = symbols->count; i > 0; i--)
        put_symbol(&e, &tables->tables[symbols->reads[i - 1]], symbols->symbols[i - 1]);
    qp_buffer_le(&e.words, e.state >> 32, 4);
    qp_buffer_le(&e.words, e.state & UINT32_MAX, 4);
    if (!e.words.failed)
        reverse_words(e.words.bytes, e.words.size);
    stream->bytes = qp_buffer_take(&e.words, &stream->size);
    return stream->bytes != NULL ? QP_OK : qp_fail_memory(error, "a stream");
}

void qp_stream_free(const qp_allocator *allocator, qp_stream *stream)
{
    qp_bytes_free(allocator, stream->bytes, stream->size);
    *stream = (qp_stream){0};
}
