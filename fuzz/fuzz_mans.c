/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mans.c - mans_decode: any bytes decode, or are refused, in both modes as the text's model
 * says; and symbols that the encoders take, the decoders give back.
 *
 * The input: a byte for the mode and how tables are taken, the tables, four lengths, and the
 * stream.
 */
#include "../test/stage/mans_model.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

enum { ROWS = 3, WIDTH = 9, PARTS = 4, LENGTH_MAX = 32 };

typedef struct input {
    const uint8_t *data;
    size_t size;
    int64_t entries[ROWS][WIDTH];
    qp_integer_list pmf[ROWS];
    int64_t bounds[ROWS];
    uint32_t tables[ROWS][256];
    uint8_t mask[PARTS][LENGTH_MAX];
    uint32_t sigma[PARTS][LENGTH_MAX];
    int16_t symbols[PARTS][LENGTH_MAX];
    qp_mans_coded_span spans[PARTS];
    qp_mans_coded_row rows[PARTS];
} input;

static unsigned take(input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

static void take_spans(input *in)
{
    for (size_t r = 0; r < ROWS; r++) {
        int64_t left = 256;
        for (size_t k = 0; k + 1 < WIDTH; k++) {
            int64_t p = (int64_t)take(in);
            in->entries[r][k] = p < left ? p : left;
            left -= in->entries[r][k];
        }
        in->entries[r][WIDTH - 1] = left;
        in->pmf[r] = (qp_integer_list){in->entries[r], WIDTH};
        in->bounds[r] = (int64_t)(take(in) % 8);
        if (in->bounds[r] == 7)
            in->bounds[r] = 255;
        mans_model_latents(&in->pmf[r], in->tables[r]);
    }
    for (size_t s = 0; s < PARTS; s++) {
        size_t length = take(in) % (LENGTH_MAX + 1);
        for (size_t i = 0; i < length; i++) {
            unsigned byte = i % 2 == 0 ? take(in) : (unsigned)i * 5;
            in->mask[s][i] = byte % 5 != 0;
            in->sigma[s][i] = byte / 5 % ROWS;
        }
        in->spans[s] = (qp_mans_coded_span){{in->mask[s], in->sigma[s], length}, in->symbols[s]};
    }
}

static void take_rows(input *in)
{
    for (size_t r = 0; r < PARTS; r++) {
        unsigned value = 0, shift = take(in) % 8;
        for (size_t a = 0; a < QP_MANS_ROW_COUNTS; a++) {
            value += take(in) >> shift;
            in->rows[r].row.counts[a] = (uint8_t)(value < 255 ? value : 255);
        }
        in->rows[r].length = take(in) % (LENGTH_MAX + 1);
        in->rows[r].symbols = in->symbols[r];
    }
}

/* ---- decoding ----------------------------------------------------------------------------- */

static void compare_spans(const input *in, const qp_mans_latents *latents, const uint8_t *stream,
                          size_t size)
{
    qp_mans_decoder decoder;
    mans_model model;
    qp_error error = {.record = -1};
    size_t before = 0;
    bool started = mans_model_init(&model, stream, size);
    qp_status status = qp_mans_decoder_init(&decoder, stream, size, &error);
    REQUIRE(status == (started ? QP_OK : QP_STREAM_EXHAUSTED));
    for (size_t s = 0; status == QP_OK && s < PARTS; s++) {
        int16_t found[LENGTH_MAX], wanted[LENGTH_MAX];
        size_t at = 0, length = in->spans[s].span.length;
        mans_model_span span = {&in->spans[s].span, in->tables, in->bounds, wanted};
        bool decoded = mans_model_span_decode(&model, &span, &at);
        status = qp_mans_decode_span(&decoder, latents, &in->spans[s].span, found, &error);
        REQUIRE(status == (decoded ? QP_OK : QP_STREAM_EXHAUSTED));
        REQUIRE(decoded || (uint64_t)error.record == before + at);
        REQUIRE(!decoded || length == 0 || memcmp(found, wanted, length * sizeof *found) == 0);
        before += length;
    }
}

static void compare_rows(const input *in, const uint8_t *stream, size_t size)
{
    qp_mans_decoder decoder;
    mans_model model;
    qp_error error = {.record = -1};
    size_t before = 0, last = 0;
    bool started = mans_model_init(&model, stream, size);
    qp_status status = qp_mans_decoder_init(&decoder, stream, size, &error);
    REQUIRE(status == (started ? QP_OK : QP_STREAM_EXHAUSTED));
    for (size_t r = 0; status == QP_OK && r < PARTS; r++) {
        int16_t found[LENGTH_MAX], wanted[LENGTH_MAX];
        size_t at = 0, length = in->rows[r].length;
        mans_model_row(&model, in->rows[r].row.counts);
        bool decoded = mans_model_row_decode(&model, length, wanted, &at);
        status = qp_mans_decode_row(&decoder, &in->rows[r].row, length, found, &error);
        last = length > 0 ? before + at : last;
        REQUIRE(status == (decoded ? QP_OK : QP_STREAM_EXHAUSTED));
        REQUIRE(decoded || (uint64_t)error.record == last);
        REQUIRE(!decoded || length == 0 || memcmp(found, wanted, length * sizeof *found) == 0);
        before += length;
    }
}

/* ---- encoding ----------------------------------------------------------------------------- */

/* Fills the symbols from the stream's bytes; `limit` of them, from `least` on. */
static void make_symbols(input *in, int least, int limit)
{
    for (size_t s = 0; s < PARTS; s++)
        for (size_t i = 0; i < LENGTH_MAX; i++) {
            size_t at = s * LENGTH_MAX + i;
            int byte = at < in->size ? in->data[at] : 0;
            in->symbols[s][i] = (int16_t)(least + byte % limit);
            if (byte > 250 && least < 0)
                in->symbols[s][i] = (int16_t)(byte % 2 == 0 ? 9000 + byte : -byte);
        }
}

static void spans_round_trip(input *in, const qp_mans_latents *latents)
{
    qp_stream stream;
    qp_mans_decoder decoder;
    make_symbols(in, -6, 13);
    for (size_t s = 0; s < PARTS; s++)
        for (size_t i = 0; i < LENGTH_MAX; i++)
            in->symbols[s][i] = (int16_t)(in->mask[s][i] ? in->symbols[s][i] : 0);
    qp_status status = qp_mans_encode_spans(latents, in->spans, PARTS, NULL, &stream, NULL);
    REQUIRE(status == QP_OK || status == QP_FIELD_RANGE);
    if (status != QP_OK)
        return;
    compare_spans(in, latents, stream.bytes, stream.size);
    REQUIRE(qp_mans_decoder_init(&decoder, stream.bytes, stream.size, NULL) == QP_OK);
    for (size_t s = 0; s < PARTS; s++) {
        int16_t found[LENGTH_MAX];
        size_t length = in->spans[s].span.length;
        REQUIRE(qp_mans_decode_span(&decoder, latents, &in->spans[s].span, found, NULL) == QP_OK);
        REQUIRE(length == 0 || memcmp(found, in->symbols[s], length * sizeof *found) == 0);
    }
    qp_stream_free(NULL, &stream);
}

static void rows_round_trip(input *in)
{
    qp_stream stream;
    qp_mans_decoder decoder;
    make_symbols(in, 0, 64);
    REQUIRE(qp_mans_encode_rows(in->rows, PARTS, NULL, &stream, NULL) == QP_OK);
    compare_rows(in, stream.bytes, stream.size);
    REQUIRE(qp_mans_decoder_init(&decoder, stream.bytes, stream.size, NULL) == QP_OK);
    for (size_t r = 0; r < PARTS; r++) {
        int16_t found[LENGTH_MAX];
        size_t length = in->rows[r].length;
        REQUIRE(qp_mans_decode_row(&decoder, &in->rows[r].row, length, found, NULL) == QP_OK);
        REQUIRE(length == 0 || memcmp(found, in->symbols[r], length * sizeof *found) == 0);
    }
    qp_stream_free(NULL, &stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static input in;
    in = (input){.data = data, .size = size};
    if (take(&in) % 2 == 0) {
        qp_mans_latents *latents;
        take_spans(&in);
        REQUIRE(qp_mans_latents_create(in.pmf, ROWS, (qp_integer_list){in.bounds, ROWS}, NULL,
                                       &latents, NULL) == QP_OK);
        compare_spans(&in, latents, in.data, in.size);
        spans_round_trip(&in, latents);
        qp_mans_latents_free(latents);
    } else {
        take_rows(&in);
        compare_rows(&in, in.data, in.size);
        rows_round_trip(&in);
    }
    return 0;
}
