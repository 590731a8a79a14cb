/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mans.c - mans_decode (integer-operators.md section 5E, E8) in both modes: its tables, its
 * refusals with their index, the encoders as its inverses, and all of it against a model that is
 * written from the text alone.
 */
#include "failing_allocator.h"
#include "quipu/quipu.h"
#include "stage/mans_model.h"
#include "support/test.h"

enum { ROWS = 6, WIDTH_MAX = 40, SPANS = 7, LENGTH_MAX = 41 };

/* ---- latent tables ------------------------------------------------------------------------ */

static void assert_latents(qp_status want, const qp_integer_list *pmf, size_t count,
                           qp_integer_list bounds)
{
    qp_mans_latents *latents = NULL;
    qp_error error = {0};
    assert_int_equal(qp_mans_latents_create(pmf, count, bounds, NULL, &latents, &error), want);
    assert_true((latents != NULL) == (want == QP_OK));
    if (want != QP_OK)
        assert_int_equal(error.record, -1);
    qp_mans_latents_free(latents);
}

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)   \
    }

static void test_latent_tables(void **state)
{
    const qp_integer_list good[] = {LIST(200, 56), LIST(0, 256)}, one[] = {LIST(256)},
                          short_sum[] = {LIST(200, 55)}, long_sum[] = {LIST(200, 57)},
                          negative[] = {LIST(257, -1)}, huge[] = {LIST(INT64_MAX, 256)},
                          ragged[] = {LIST(200, 56), LIST(256)},
                          late[] = {LIST(200, 56), LIST(1, 254)}, bounds = LIST(0, 128, 255),
                          below = LIST(-1), above = LIST(256), none = {NULL, 0};
    (void)state;
    assert_latents(QP_OK, good, 2, bounds);
    assert_latents(QP_OK, good, 2, none);
    assert_latents(QP_OK, NULL, 0, none);
    assert_latents(QP_OK, one, 1, bounds);
    assert_latents(QP_MODEL_MISMATCH, &none, 1, bounds);
    assert_latents(QP_MODEL_MISMATCH, short_sum, 1, bounds);
    assert_latents(QP_MODEL_MISMATCH, long_sum, 1, bounds);
    assert_latents(QP_MODEL_MISMATCH, negative, 1, bounds);
    assert_latents(QP_MODEL_MISMATCH, huge, 1, bounds);
    assert_latents(QP_MODEL_MISMATCH, ragged, 2, bounds);
    assert_latents(QP_MODEL_MISMATCH, late, 2, bounds);
    assert_latents(QP_MODEL_MISMATCH, good, 2, below);
    assert_latents(QP_MODEL_MISMATCH, good, 2, above);
}

/* A distribution has a row and a bound. */
static void test_span_check(void **state)
{
    const qp_integer_list pmf[] = {LIST(256), LIST(256), LIST(256)}, bounds = LIST(3, 3);
    static const uint8_t mask[2] = {1, 0};
    uint32_t sigma[2] = {1, 1};
    qp_mans_span span = {mask, sigma, 2};
    qp_mans_latents *latents;
    qp_mans_decoder decoder;
    static const uint8_t stream[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
    int16_t symbols[2] = {9, 9};
    qp_error error = {0};
    (void)state;
    assert_int_equal(qp_mans_latents_create(pmf, 3, bounds, NULL, &latents, NULL), QP_OK);
    assert_int_equal(qp_mans_latents_count(latents), 2);
    assert_int_equal(qp_mans_span_check(latents, &span, NULL), QP_OK);
    sigma[1] = 2; /* also where the mask is 0 */
    assert_int_equal(qp_mans_span_check(latents, &span, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(qp_mans_decoder_init(&decoder, stream, 9, NULL), QP_OK);
    assert_int_equal(qp_mans_decode_span(&decoder, latents, &span, symbols, NULL),
                     QP_MODEL_MISMATCH);
    assert_int_equal(symbols[0], 9);
    qp_mans_latents_free(latents);
    qp_mans_latents_free(NULL);
}

static void test_row_counts(void **state)
{
    int64_t counts[64] = {0};
    qp_mans_row row;
    qp_error error = {0};
    (void)state;
    assert_int_equal(qp_mans_row_make((qp_integer_list){counts, 63}, &row, NULL), QP_OK);
    assert_int_equal(qp_mans_row_make((qp_integer_list){counts, 62}, &row, &error),
                     QP_MODEL_MISMATCH);
    assert_int_equal(qp_mans_row_make((qp_integer_list){counts, 64}, &row, NULL),
                     QP_MODEL_MISMATCH);
    counts[0] = -1;
    assert_int_equal(qp_mans_row_make((qp_integer_list){counts, 63}, &row, NULL),
                     QP_MODEL_MISMATCH);
    for (int a = 0; a < 63; a++)
        counts[a] = 255;
    assert_int_equal(qp_mans_row_make((qp_integer_list){counts, 63}, &row, NULL), QP_OK);
    counts[62] = 256;
    assert_int_equal(qp_mans_row_make((qp_integer_list){counts, 63}, &row, NULL),
                     QP_MODEL_MISMATCH);
    counts[62] = 254;
    assert_int_equal(qp_mans_row_make((qp_integer_list){counts, 63}, &row, NULL),
                     QP_MODEL_MISMATCH);
}

/* ---- the window --------------------------------------------------------------------------- */

static void assert_init(qp_status want, const uint8_t *stream, size_t size)
{
    qp_mans_decoder decoder;
    qp_error error = {0};
    mans_model model;
    assert_int_equal(qp_mans_decoder_init(&decoder, stream, size, &error), want);
    assert_int_equal(mans_model_init(&model, stream, size), want == QP_OK);
    if (want != QP_OK) {
        assert_int_equal(error.table, QP_TABLE_SYMBOLS);
        assert_int_equal(error.record, 0);
        return;
    }
    assert_int_equal(decoder.states[0], model.s[0]);
    assert_int_equal(decoder.states[1], model.s[1]);
}

static void test_init(void **state)
{
    static const uint8_t zeros[20] = {0};
    uint8_t stream[20] = {0};
    (void)state;
    for (size_t size = 0; size <= 20; size++) /* a zero tail */
        assert_init(QP_STREAM_EXHAUSTED, zeros, size);
    stream[11] = 1; /* the tail is the last 8 bytes */
    assert_init(QP_STREAM_EXHAUSTED, stream, 20);
    stream[12] = 1;
    assert_init(QP_STREAM_EXHAUSTED, stream, 20); /* a sentinel with no bit below it */
    stream[12] = 0;
    stream[13] = 0x80; /* 15 bits: the second state lacks one */
    assert_init(QP_STREAM_EXHAUSTED, stream, 20);
    stream[14] = 1;
    assert_init(QP_OK, stream, 20);
    /* one byte: the states take 16 bits of the zeros before it, and the flush then moves by 2 */
    assert_init(QP_STREAM_EXHAUSTED, (const uint8_t[]){0xFF}, 1);
    assert_init(QP_STREAM_EXHAUSTED, (const uint8_t[]){1}, 1);
    assert_init(QP_OK, (const uint8_t[]){0x12, 1}, 2);
    assert_init(QP_OK, (const uint8_t[]){0x34, 0x12, 1}, 3);
}

/* ---- sgm by hand -------------------------------------------------------------------------- */

/* One distribution with one symbol, 0, of 256 slots: no bits a symbol. With a bound of 0 each 0 is
 * an escape; with another it is not. */
static void test_hand_span(void **state)
{
    const qp_integer_list pmf = LIST(256), zero = LIST(0), five = LIST(5);
    static const uint8_t mask[3] = {1, 0, 1};
    static const uint32_t sigma[3] = {0};
    /* from the end: 1 | s1 = 0 | s2 = 0 | f 1, v 101: 5 | f 0, v 16 bits: 0x0203 */
    static const uint64_t bits = (((UINT64_C(1) << 16) << 4 | 0xD) << 17) | 0x0203;
    uint8_t stream[8];
    int16_t symbols[3];
    qp_mans_span span = {mask, sigma, 3};
    qp_mans_latents *latents;
    qp_mans_decoder decoder;
    (void)state;
    for (int k = 0; k < 8; k++)
        stream[k] = (uint8_t)(bits >> (8 * k));
    assert_int_equal(qp_mans_latents_create(&pmf, 1, zero, NULL, &latents, NULL), QP_OK);
    assert_int_equal(qp_mans_decoder_init(&decoder, stream, 8, NULL), QP_OK);
    assert_int_equal(qp_mans_decode_span(&decoder, latents, &span, symbols, NULL), QP_OK);
    assert_int_equal(symbols[0], -2); /* v = 5: odd, -⌊5/2⌋ */
    assert_int_equal(symbols[1], 0);
    assert_int_equal(symbols[2], -0x101);
    assert_int_equal(decoder.position, 3);
    qp_mans_latents_free(latents);
    assert_int_equal(qp_mans_latents_create(&pmf, 1, five, NULL, &latents, NULL), QP_OK);
    assert_int_equal(qp_mans_decoder_init(&decoder, stream, 8, NULL), QP_OK);
    assert_int_equal(qp_mans_decode_span(&decoder, latents, &span, symbols, NULL), QP_OK);
    assert_int_equal(symbols[0], 0);
    assert_int_equal(symbols[2], 0);
    qp_mans_latents_free(latents);
}

/* A row whose every symbol is the escape -bound, for bounds of 128 and 255: column 2·bound - 1. */
static void test_large_bounds(void **state)
{
    static const int64_t bounds[] = {128, 255};
    static int64_t row[512];
    static const uint8_t mask[6] = {1, 1, 1, 1, 1, 1};
    static const uint32_t sigma[6] = {0};
    (void)state;
    for (size_t b = 0; b < 2; b++) {
        int bound = (int)bounds[b];
        int16_t wanted[6] = {(int16_t)bound, (int16_t)-bound, (int16_t)(bound + 4),
                             INT16_MIN,      INT16_MAX,       0};
        int16_t found[6];
        qp_integer_list pmf = {row, 512};
        qp_mans_coded_span coded = {{mask, sigma, 6}, wanted};
        qp_mans_latents *latents;
        qp_mans_decoder decoder;
        qp_stream stream;
        memset(row, 0, sizeof row);
        row[0] = 100;
        row[2 * bound - 1] = 156;
        assert_int_equal(
            qp_mans_latents_create(&pmf, 1, (qp_integer_list){&bounds[b], 1}, NULL, &latents, NULL),
            QP_OK);
        assert_int_equal(qp_mans_encode_spans(latents, &coded, 1, NULL, &stream, NULL), QP_OK);
        assert_int_equal(qp_mans_decoder_init(&decoder, stream.bytes, stream.size, NULL), QP_OK);
        assert_int_equal(qp_mans_decode_span(&decoder, latents, &coded.span, found, NULL), QP_OK);
        assert_memory_equal(found, wanted, sizeof wanted);
        qp_stream_free(NULL, &stream);
        wanted[3] = (int16_t)(bound - 1); /* below the bound and in no column */
        qp_error error = {0};
        assert_int_equal(qp_mans_encode_spans(latents, &coded, 1, NULL, &stream, &error),
                         QP_FIELD_RANGE);
        assert_int_equal(error.record, 3);
        qp_mans_latents_free(latents);
    }
}

/* ---- random ------------------------------------------------------------------------------- */

typedef struct sgm_case {
    int64_t entries[ROWS][WIDTH_MAX];
    qp_integer_list pmf[ROWS];
    int64_t bounds[ROWS];
    uint32_t tables[ROWS][256];
    uint8_t mask[SPANS][LENGTH_MAX];
    uint32_t sigma[SPANS][LENGTH_MAX];
    int16_t symbols[SPANS][LENGTH_MAX];
    qp_mans_coded_span spans[SPANS];
} sgm_case;

static void random_pmf(sgm_case *c, size_t r, size_t width, uint64_t *seed)
{
    int64_t left = 256;
    memset(c->entries[r], 0, sizeof c->entries[r]);
    while (left > 0) {
        int64_t more = test_between(seed, 1, test_below(seed, 3) ? (left + 7) / 8 : left);
        c->entries[r][test_below(seed, (uint32_t)width)] += more;
        left -= more;
    }
    c->pmf[r] = (qp_integer_list){c->entries[r], width};
    c->bounds[r] = test_between(seed, 0, test_below(seed, 4) ? (int64_t)width / 2 : 255);
    mans_model_latents(&c->pmf[r], c->tables[r]);
}

static void random_sgm(sgm_case *c, uint64_t *seed)
{
    size_t width = 1 + test_below(seed, WIDTH_MAX);
    for (size_t r = 0; r < ROWS; r++)
        random_pmf(c, r, width, seed);
    for (size_t s = 0; s < SPANS; s++) {
        size_t length = test_below(seed, LENGTH_MAX + 1);
        for (size_t i = 0; i < length; i++) {
            c->mask[s][i] = test_below(seed, 4) > 0;
            c->sigma[s][i] = test_below(seed, ROWS);
        }
        c->spans[s] = (qp_mans_coded_span){{c->mask[s], c->sigma[s], length}, c->symbols[s]};
    }
}

/* A symbol that its distribution holds, as often as it does, or one that its escape reaches. */
static int16_t random_latent(const sgm_case *c, uint32_t sigma, uint64_t *seed)
{
    uint32_t slot = test_below(seed, 256);
    int bound = (int)c->bounds[sigma], symbol = (int)(c->tables[sigma][slot] & 0xFFFF);
    symbol = symbol >= 32768 ? symbol - 65536 : symbol;
    if (symbol != -bound)
        return (int16_t)symbol;
    int magnitude = (int)(test_random(seed) % (32767 >> test_below(seed, 15))) + bound;
    magnitude = magnitude > 32767 ? 32767 : magnitude;
    return (int16_t)(test_below(seed, 2) ? magnitude : -magnitude);
}

static void compare_spans(const sgm_case *c, const qp_mans_latents *latents, const uint8_t *stream,
                          size_t size)
{
    qp_mans_decoder decoder;
    mans_model model;
    qp_error error = {0};
    size_t before = 0;
    bool started = mans_model_init(&model, stream, size);
    qp_status status = qp_mans_decoder_init(&decoder, stream, size, &error);
    assert_int_equal(status == QP_OK, started);
    for (size_t s = 0; status == QP_OK && s < SPANS; s++) {
        int16_t found[LENGTH_MAX], wanted[LENGTH_MAX];
        size_t at = 0, length = c->spans[s].span.length;
        mans_model_span span = {&c->spans[s].span, c->tables, c->bounds, wanted};
        bool decoded = mans_model_span_decode(&model, &span, &at);
        status = qp_mans_decode_span(&decoder, latents, &c->spans[s].span, found, &error);
        assert_int_equal(status, decoded ? QP_OK : QP_STREAM_EXHAUSTED);
        if (!decoded)
            assert_int_equal(error.record, before + at);
        else
            assert_memory_equal(found, wanted, length * sizeof *found);
        before += length;
    }
}

static void test_random_spans(void **state)
{
    static sgm_case c;
    uint64_t seed = 21;
    (void)state;
    for (int round = 0; round < 1500; round++) {
        qp_mans_latents *latents;
        qp_stream stream;
        random_sgm(&c, &seed);
        assert_int_equal(qp_mans_latents_create(c.pmf, ROWS, (qp_integer_list){c.bounds, ROWS},
                                                NULL, &latents, NULL),
                         QP_OK);
        for (size_t s = 0; s < SPANS; s++)
            for (size_t i = 0; i < c.spans[s].span.length; i++)
                c.symbols[s][i] =
                    (int16_t)(c.mask[s][i] ? random_latent(&c, c.sigma[s][i], &seed) : 0);
        assert_int_equal(qp_mans_encode_spans(latents, c.spans, SPANS, NULL, &stream, NULL), QP_OK);
        qp_mans_decoder decoder;
        assert_int_equal(qp_mans_decoder_init(&decoder, stream.bytes, stream.size, NULL), QP_OK);
        for (size_t s = 0; s < SPANS; s++) {
            int16_t found[LENGTH_MAX];
            assert_int_equal(qp_mans_decode_span(&decoder, latents, &c.spans[s].span, found, NULL),
                             QP_OK);
            assert_memory_equal(found, c.symbols[s], c.spans[s].span.length * sizeof *found);
        }
        compare_spans(&c, latents, stream.bytes, stream.size);
        /* a stream whose beginning is cut off, and one with a byte changed */
        size_t cut = test_below(&seed, (uint32_t)stream.size);
        compare_spans(&c, latents, stream.bytes + cut, stream.size - cut);
        stream.bytes[cut] ^= (uint8_t)(1 << test_below(&seed, 8));
        compare_spans(&c, latents, stream.bytes, stream.size);
        qp_stream_free(NULL, &stream);
        qp_mans_latents_free(latents);
    }
}

/* Every length of a stream that ends too soon: each place of a refusal is met. */
static void test_short_spans(void **state)
{
    static sgm_case c;
    uint64_t seed = 31;
    uint8_t bytes[64];
    (void)state;
    for (int round = 0; round < 4000; round++) {
        qp_mans_latents *latents;
        random_sgm(&c, &seed);
        assert_int_equal(qp_mans_latents_create(c.pmf, ROWS, (qp_integer_list){c.bounds, ROWS},
                                                NULL, &latents, NULL),
                         QP_OK);
        size_t size = test_below(&seed, sizeof bytes + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)test_random(&seed);
        compare_spans(&c, latents, bytes, size);
        qp_mans_latents_free(latents);
    }
}

/* ---- fac ---------------------------------------------------------------------------------- */

typedef struct fac_case {
    qp_mans_coded_row rows[SPANS];
    int16_t symbols[SPANS][LENGTH_MAX];
} fac_case;

static void random_fac(fac_case *c, uint64_t *seed)
{
    for (size_t r = 0; r < SPANS; r++) {
        uint32_t reach = 1 + test_below(seed, 60), top = test_below(seed, 3) ? 255 : 200;
        uint32_t value = 0;
        for (uint32_t a = 0; a < 63; a++) {
            value += test_below(seed, reach) / (1 + test_below(seed, 4));
            c->rows[r].row.counts[a] = (uint8_t)(value < top ? value : top);
        }
        c->rows[r].length = test_below(seed, LENGTH_MAX + 1);
        c->rows[r].symbols = c->symbols[r];
        for (size_t i = 0; i < LENGTH_MAX; i++) {
            uint32_t slot = test_below(seed, 256);
            int16_t a = 0;
            while (a < 63 && slot >= c->rows[r].row.counts[a])
                a++;
            c->symbols[r][i] = a < 63 ? a : (int16_t)test_below(seed, 64);
        }
    }
}

static void compare_rows(const fac_case *c, const uint8_t *stream, size_t size, bool whole)
{
    qp_mans_decoder decoder;
    mans_model model;
    qp_error error = {0};
    size_t before = 0, last = 0;
    bool started = mans_model_init(&model, stream, size);
    qp_status status = qp_mans_decoder_init(&decoder, stream, size, &error);
    assert_int_equal(status == QP_OK, started);
    for (size_t r = 0; status == QP_OK && r < SPANS; r++) {
        int16_t found[LENGTH_MAX], wanted[LENGTH_MAX];
        const qp_mans_coded_row *row = &c->rows[r];
        size_t at = 0;
        mans_model_row(&model, row->row.counts);
        bool decoded = mans_model_row_decode(&model, row->length, wanted, &at);
        status = qp_mans_decode_row(&decoder, &row->row, row->length, found, &error);
        assert_int_equal(status, decoded ? QP_OK : QP_STREAM_EXHAUSTED);
        last = row->length > 0 ? before + at : last;
        if (!decoded)
            assert_int_equal(error.record, last);
        else
            assert_memory_equal(found, wanted, row->length * sizeof *found);
        if (whole)
            assert_memory_equal(found, row->symbols, row->length * sizeof *found);
        before += row->length;
    }
    if (whole)
        assert_int_equal(status, QP_OK);
}

static void test_random_rows(void **state)
{
    static fac_case c;
    uint64_t seed = 41;
    (void)state;
    for (int round = 0; round < 1500; round++) {
        qp_stream stream;
        random_fac(&c, &seed);
        assert_int_equal(qp_mans_encode_rows(c.rows, SPANS, NULL, &stream, NULL), QP_OK);
        compare_rows(&c, stream.bytes, stream.size, true);
        size_t cut = test_below(&seed, (uint32_t)stream.size);
        compare_rows(&c, stream.bytes + cut, stream.size - cut, false);
        stream.bytes[cut] ^= (uint8_t)(1 << test_below(&seed, 8));
        compare_rows(&c, stream.bytes, stream.size, false);
        for (size_t i = 0; i < stream.size; i++)
            stream.bytes[i] = (uint8_t)test_random(&seed);
        compare_rows(&c, stream.bytes, stream.size, false);
        qp_stream_free(NULL, &stream);
    }
}

/* A row of one symbol a slot; then one that writes few slots, so that states in the others take the
 * row before it; a row whose escape is taken at each symbol. */
static void test_row_carry(void **state)
{
    static fac_case c;
    uint64_t seed = 51;
    uint8_t bytes[40];
    (void)state;
    for (int round = 0; round < 500; round++) {
        random_fac(&c, &seed);
        for (unsigned a = 0; a < 63; a++) {
            c.rows[0].row.counts[a] = (uint8_t)(4 * (a + 1));
            c.rows[1].row.counts[a] = (uint8_t)(a < 7 ? a : 7);
            c.rows[2].row.counts[a] = 0;
        }
        c.rows[3].row = c.rows[2].row;
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)test_random(&seed);
        compare_rows(&c, bytes, sizeof bytes, false);

        qp_stream stream;
        for (size_t i = 0; i < LENGTH_MAX; i++)
            c.symbols[1][i] = c.symbols[2][i] = c.symbols[3][i] = (int16_t)test_below(&seed, 64);
        for (size_t i = 0; i < LENGTH_MAX; i++)
            c.symbols[0][i] = (int16_t)test_below(&seed, 64);
        assert_int_equal(qp_mans_encode_rows(c.rows, SPANS, NULL, &stream, NULL), QP_OK);
        compare_rows(&c, stream.bytes, stream.size, true);
        qp_stream_free(NULL, &stream);
    }
}

static void test_row_refusals(void **state)
{
    static fac_case c;
    uint64_t seed = 61;
    qp_stream stream;
    qp_error error = {0};
    (void)state;
    random_fac(&c, &seed);
    c.rows[0].length = 3;
    c.rows[1].length = 5;
    c.symbols[1][2] = 64;
    assert_int_equal(qp_mans_encode_rows(c.rows, SPANS, NULL, &stream, &error), QP_FIELD_RANGE);
    assert_int_equal(error.record, 5);
    c.symbols[1][2] = -1;
    assert_int_equal(qp_mans_encode_rows(c.rows, SPANS, NULL, &stream, NULL), QP_FIELD_RANGE);
    assert_null(stream.bytes);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
    static sgm_case c;
    static fac_case rows;
    uint64_t seed = 71;
    (void)state;
    random_sgm(&c, &seed);
    random_fac(&rows, &seed);
    for (size_t s = 0; s < SPANS; s++)
        for (size_t i = 0; i < c.spans[s].span.length; i++)
            c.symbols[s][i] = (int16_t)(c.mask[s][i] ? random_latent(&c, c.sigma[s][i], &seed) : 0);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_mans_latents *latents = NULL;
        qp_stream stream = {0}, second = {0};
        qp_status status = qp_mans_latents_create(c.pmf, ROWS, (qp_integer_list){c.bounds, ROWS},
                                                  &allocator, &latents, NULL);
        if (status == QP_OK)
            status = qp_mans_encode_spans(latents, c.spans, SPANS, &allocator, &stream, NULL);
        if (status == QP_OK)
            status = qp_mans_encode_rows(rows.rows, SPANS, &allocator, &second, NULL);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        qp_stream_free(&allocator, &second);
        qp_stream_free(&allocator, &stream);
        qp_mans_latents_free(latents);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latent_tables), cmocka_unit_test(test_span_check),
        cmocka_unit_test(test_row_counts),    cmocka_unit_test(test_init),
        cmocka_unit_test(test_hand_span),     cmocka_unit_test(test_large_bounds),
        cmocka_unit_test(test_random_spans),  cmocka_unit_test(test_short_spans),
        cmocka_unit_test(test_random_rows),   cmocka_unit_test(test_row_carry),
        cmocka_unit_test(test_row_refusals),  cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("mans", tests, NULL, NULL);
}
