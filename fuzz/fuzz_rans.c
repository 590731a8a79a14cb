/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rans.c - rans64_decode: any bytes decode, or are refused, as the text's model says, in a run
 * and one by one; what decodes encodes to a stream that decodes to the same; and without memory the
 * tables and the encoder say so.
 *
 * The input: a byte of modes, two of bounds, a byte of tables, the tables, a byte of symbols, and
 * the stream.
 */
#include "../test/failing_allocator.h"
#include "../test/stage/rans_model.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

enum { TABLES_MAX = 4, ENTRIES_MAX = 40, COUNT_MAX = 255, STREAM_MAX = 4096 };

typedef struct input {
    const uint8_t *data;
    size_t size;
    int64_t entries[TABLES_MAX][ENTRIES_MAX];
    qp_rans_cdf cdfs[TABLES_MAX];
    size_t n_tables, count;
    qp_rans_modes modes;
    uint32_t reads[COUNT_MAX];
    qp_stream stream;
    uint8_t bytes[STREAM_MAX];
} input;

static unsigned take(input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

static void take_modes(input *in)
{
    static const int64_t bounds[] = {0, 1, 20, 300, 70000, INT32_MAX};
    unsigned flags = take(in), lo = take(in), hi = take(in);
    in->modes.table = flags & 1 ? QP_RANS_T2 : QP_RANS_T4097;
    in->modes.escape = flags & 2 ? QP_RANS_STRICT : QP_RANS_LENIENT;
    in->modes.end = flags & 4 ? QP_RANS_FINAL_ONLY : QP_RANS_CANONICAL;
    in->modes.lo = -bounds[lo % 6] - (lo >> 7);
    in->modes.hi = bounds[hi % 6];
}

/* The entries grow by what the input says; the last is 65536 as a rule, and always where the input
 * does not ask for a table that may be wrong. */
static void take_table(input *in, size_t t)
{
    size_t n = 2 + take(in) % (ENTRIES_MAX - 2);
    unsigned shift = take(in), wrong = shift & 0x40;
    int64_t at = 0;
    for (size_t k = 0; k < n; k++) {
        in->entries[t][k] = at;
        at += (int64_t)take(in) << (shift & 7);
        at += wrong ? 0 : 1;
        if (!wrong && at > 65536 - (int64_t)(n - k))
            at = in->entries[t][k] + 1;
    }
    if (!wrong)
        in->entries[t][n - 1] = 65536;
    in->cdfs[t].cdf = (qp_integer_list){in->entries[t], n};
    in->cdfs[t].offset = (int64_t)take(in) - 128;
    if (shift & 0x80)
        in->cdfs[t].offset = in->cdfs[t].offset < 0 ? INT32_MIN : INT32_MAX;
}

static void take_input(input *in, const uint8_t *data, size_t size)
{
    *in = (input){.data = data, .size = size};
    take_modes(in);
    in->n_tables = 1 + take(in) % TABLES_MAX;
    for (size_t t = 0; t < in->n_tables; t++)
        take_table(in, t);
    in->count = take(in);
    for (size_t i = 0; i < in->count; i++)
        in->reads[i] = (uint32_t)((i * 7 + i / 3) % in->n_tables);
    in->stream.size = in->size < STREAM_MAX ? in->size : STREAM_MAX;
    memcpy(in->bytes, in->data, in->stream.size);
    in->stream.bytes = in->bytes;
}

/* Decodes; *at is the index of a refusal, or of the end. */
static qp_status decode(const input *in, const qp_rans_tables *tables, const qp_stream *stream,
                        bool one_by_one, int32_t symbols[COUNT_MAX], size_t *at)
{
    qp_rans_decoder d;
    qp_error error = {.record = -1};
    *at = 0;
    qp_status status = qp_rans_decoder_init(&d, tables, stream->bytes, stream->size, &error);
    if (status != QP_OK) {
        REQUIRE(status == QP_MODEL_MISMATCH && (stream->size % 4 != 0 || stream->size < 8));
        return status;
    }
    if (!one_by_one)
        status = qp_rans_decode_run(&d, in->reads, in->count, symbols, &error);
    for (size_t i = 0; one_by_one && status == QP_OK && i < in->count; i++)
        status = qp_rans_decode(&d, in->reads[i], &symbols[i], &error);
    if (status == QP_OK)
        status = qp_rans_finish(&d, &error);
    REQUIRE(status == QP_OK ||
            (error.table == QP_TABLE_SYMBOLS && (uint64_t)error.record == d.decoded));
    *at = (size_t)d.decoded;
    return status;
}

static void compare_with_model(const input *in, const qp_rans_tables *tables)
{
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        int32_t symbols[COUNT_MAX];
        int64_t wanted[COUNT_MAX];
        size_t at, model_at;
        qp_rans_symbols reads = {in->reads, NULL, in->count};
        qp_status status = decode(in, tables, &in->stream, one_by_one, symbols, &at);
        if (status == QP_MODEL_MISMATCH)
            return;
        REQUIRE(status ==
                rans_model_decode(&in->stream, in->cdfs, &in->modes, &reads, wanted, &model_at));
        REQUIRE(at == model_at);
        for (size_t i = 0; i < at; i++)
            REQUIRE(symbols[i] == wanted[i]);
    }
}

/* Symbols made of the input's bytes: what the encoder takes, the decoder gives back. */
static void round_trip(const input *in, const qp_rans_tables *tables)
{
    int32_t symbols[COUNT_MAX], found[COUNT_MAX];
    qp_rans_symbols given = {in->reads, symbols, in->count};
    qp_stream stream;
    size_t at;
    for (size_t i = 0; i < in->count; i++) {
        uint32_t low = i < in->stream.size ? in->bytes[i] : 0;
        uint32_t high = i + 1 < in->stream.size ? in->bytes[i + 1] : 0;
        int64_t value = low < 200 ? (int64_t)low % 40 : (int64_t)(low << 8 | high) << high % 17;
        value = (high & 1 ? -value : value) + in->cdfs[in->reads[i]].offset;
        value = value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value;
        symbols[i] = (int32_t)value;
    }
    qp_status status = qp_rans_encode(tables, &given, NULL, &stream, NULL);
    REQUIRE(status == QP_OK || status == QP_FIELD_RANGE);
    if (status == QP_OK) {
        REQUIRE(decode(in, tables, &stream, in->count % 2, found, &at) == QP_OK);
        REQUIRE(memcmp(found, symbols, in->count * sizeof *found) == 0);
    }
    qp_stream_free(NULL, &stream);
}

static void without_memory(const input *in)
{
    failing_allocator memory = failing_allocator_make(1 + in->count % 5);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_rans_tables *tables;
    qp_status status =
        qp_rans_tables_create(in->cdfs, in->n_tables, &in->modes, &allocator, &tables, NULL);
    REQUIRE(!memory.has_failed || status == QP_NO_MEMORY);
    qp_rans_tables_free(tables);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static input in;
    qp_rans_tables *tables;
    take_input(&in, data, size);
    qp_status status = qp_rans_tables_create(in.cdfs, in.n_tables, &in.modes, NULL, &tables, NULL);
    REQUIRE(status == QP_OK || status == QP_MODEL_MISMATCH);
    if (status == QP_OK) {
        compare_with_model(&in, tables);
        round_trip(&in, tables);
    }
    qp_rans_tables_free(tables);
    without_memory(&in);
    return 0;
}
