/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rans_bench.c - entropy decoding: symbols a second of rans64_decode on one stream with 64 tables
 * of 16 bits, beside two other ways in the same run, and of mans_decode.
 *
 *     build/bench/rans_bench [--json]
 *
 * The other ways: CompressAI's, which searches the table from its start; and ryg's rans64 loop as
 * it is written first, with a table of 2^16 symbols for each distribution. All decode the same
 * stream to the same symbols. Each figure is the best of several rounds.
 */
#include "base/base.h"
#include "quipu/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, TABLES = 64, COUNT = 1 << 20, ENTRIES_MAX = 512, TOTAL = 65536 };

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "rans_bench: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* ---- results ------------------------------------------------------------------------------ */

static bool as_json;
static bool any_printed;

static void report(const char *name, double value, const char *unit)
{
    if (as_json)
        printf("%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}",
               any_printed ? "," : "[", name, value, unit);
    else
        printf("%-52s %8.4g %s\n", name, value, unit);
    any_printed = true;
}

/* ---- what is decoded ---------------------------------------------------------------------- */

static uint64_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % limit);
}

static int64_t entries[TABLES][ENTRIES_MAX];
static qp_rans_cdf cdfs[TABLES];
static uint32_t reads[COUNT];
static int32_t symbols[COUNT], decoded[COUNT];

/* A two-sided table: the weight falls by the same factor with each step away from the middle. */
static void make_table(size_t index, double scale)
{
    int half = (int)(4 * scale) + 2, n = 2 * half + 1;
    double weights[ENTRIES_MAX], sum = 0, factor = scale / (scale + 1);

    weights[half] = 1;
    for (int k = 1; k <= half; k++)
        weights[half + k] = weights[half - k] = weights[half + k - 1] * factor;
    for (int k = 0; k < n; k++)
        sum += weights[k];
    int64_t spare = TOTAL - n - 1, at = 0; /* each interval has at least 1, the escape too */
    for (int k = 0; k < n; k++) {
        entries[index][k] = at;
        at += 1 + (int64_t)(weights[k] / sum * (double)spare);
    }
    entries[index][n] = at;
    entries[index][n + 1] = TOTAL;
    cdfs[index] = (qp_rans_cdf){{entries[index], (size_t)n + 2}, -half};
}

/* The scales of the tables grow by `growth` from one to the next, as a codec's do. */
static void make_symbols(double growth)
{
    double scale = 0.2;
    for (size_t t = 0; t < TABLES; t++, scale *= growth)
        make_table(t, scale);
    for (size_t i = 0; i < COUNT; i++) {
        const qp_rans_cdf *table = &cdfs[reads[i] = random_below(TABLES)];
        int64_t slot = random_below(TOTAL);
        int32_t s = 0;
        while (table->cdf.values[s + 1] <= slot)
            s++;
        symbols[i] = s + (int32_t)table->offset;
    }
}

/* ---- the other ways ----------------------------------------------------------------------- */

typedef struct plain_state {
    uint64_t x;
    const uint8_t *next;
} plain_state;

static plain_state plain_start(const qp_stream *stream)
{
    return (plain_state){qp_load_u64(stream->bytes), stream->bytes + 8};
}

static void plain_advance(plain_state *s, uint32_t start, uint32_t frequency)
{
    uint64_t x = frequency * (s->x >> 16) + (s->x & 0xFFFF) - start;
    if (x < UINT64_C(1) << 31) {
        x = x << 32 | qp_load_u32(s->next);
        s->next += 4;
    }
    s->x = x;
}

static uint32_t plain_bits(plain_state *s)
{
    uint32_t group = s->x & 15;
    s->x >>= 4;
    if (s->x < UINT64_C(1) << 31) {
        s->x = s->x << 32 | qp_load_u32(s->next);
        s->next += 4;
    }
    return group;
}

static int32_t plain_escape(plain_state *s, int32_t most)
{
    uint32_t count = plain_bits(s), raw = 0;
    for (uint32_t j = 0; j < count; j++)
        raw |= plain_bits(s) << (4 * j);
    return raw & 1 ? -(int32_t)(raw >> 1) - 1 : (int32_t)(raw >> 1) + most;
}

static int32_t compressai_cdfs[TABLES][ENTRIES_MAX];

static void decode_compressai(const qp_stream *stream)
{
    plain_state s = plain_start(stream);
    for (size_t i = 0; i < COUNT; i++) {
        const int32_t *cdf = compressai_cdfs[reads[i]];
        int32_t slot = (int32_t)(s.x & 0xFFFF), most = (int32_t)cdfs[reads[i]].cdf.count - 2;
        const int32_t *at = cdf;
        while (*at <= slot)
            at++;
        int32_t value = (int32_t)(at - cdf) - 1;
        plain_advance(&s, (uint32_t)cdf[value], (uint32_t)(cdf[value + 1] - cdf[value]));
        if (value == most)
            value = plain_escape(&s, most);
        decoded[i] = value + (int32_t)cdfs[reads[i]].offset;
    }
}

typedef struct ryg_symbol {
    uint32_t start, frequency;
} ryg_symbol;

static uint16_t ryg_slots[TABLES][TOTAL];
static ryg_symbol ryg_symbols[TABLES][ENTRIES_MAX];

static void decode_ryg(const qp_stream *stream)
{
    plain_state s = plain_start(stream);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t t = reads[i];
        int32_t value = ryg_slots[t][s.x & 0xFFFF], most = (int32_t)cdfs[t].cdf.count - 2;
        plain_advance(&s, ryg_symbols[t][value].start, ryg_symbols[t][value].frequency);
        if (value == most)
            value = plain_escape(&s, most);
        decoded[i] = value + (int32_t)cdfs[t].offset;
    }
}

static void make_other_tables(void)
{
    for (size_t t = 0; t < TABLES; t++)
        for (size_t k = 0; k < cdfs[t].cdf.count; k++) {
            compressai_cdfs[t][k] = (int32_t)entries[t][k];
            if (k + 1 == cdfs[t].cdf.count)
                break;
            for (int64_t c = entries[t][k]; c < entries[t][k + 1]; c++)
                ryg_slots[t][c] = (uint16_t)k;
            ryg_symbols[t][k] = (ryg_symbol){(uint32_t)entries[t][k],
                                             (uint32_t)(entries[t][k + 1] - entries[t][k])};
        }
}

/* ---- rans64_decode ------------------------------------------------------------------------ */

static qp_rans_tables *tables;

static void decode_quipu_run(const qp_stream *stream)
{
    qp_rans_decoder d;
    require(qp_rans_decoder_init(&d, tables, stream->bytes, stream->size, NULL) == QP_OK &&
                qp_rans_decode_run(&d, reads, COUNT, decoded, NULL) == QP_OK &&
                qp_rans_finish(&d, NULL) == QP_OK,
            "a decode is refused");
}

static void decode_quipu_each(const qp_stream *stream)
{
    qp_rans_decoder d;
    bool ok = qp_rans_decoder_init(&d, tables, stream->bytes, stream->size, NULL) == QP_OK;
    for (size_t i = 0; i < COUNT && ok; i++)
        ok = qp_rans_decode(&d, reads[i], &decoded[i], NULL) == QP_OK;
    require(ok && qp_rans_finish(&d, NULL) == QP_OK, "a decode is refused");
}

typedef struct way {
    const char *name;
    void (*decode)(const qp_stream *stream);
    double best; /* seconds */
} way;

enum { RUN, EACH, COMPRESSAI, RYG, WAYS };

/* The rounds of all ways take turns, so that what else the machine does meets each of them. */
static void measure(way ways[WAYS], const qp_stream *stream)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < WAYS; k++) {
            memset(decoded, 0, sizeof decoded);
            double start = now();
            ways[k].decode(stream);
            double spent = now() - start;
            ways[k].best = round == 0 || spent < ways[k].best ? spent : ways[k].best;
            require(memcmp(decoded, symbols, sizeof symbols) == 0, "a decode gives other symbols");
        }
}

static void report_rate(const char *tables_name, const char *what, double value, const char *unit)
{
    char name[96];
    snprintf(name, sizeof name, "%s tables: %s", tables_name, what);
    report(name, value, unit);
}

static void bench_rans(const char *name, double growth)
{
    qp_stream stream, again;
    qp_rans_modes modes = {.table = QP_RANS_T4097};
    qp_rans_symbols input = {reads, symbols, COUNT};

    make_symbols(growth);
    make_other_tables();
    require(qp_rans_tables_create(cdfs, TABLES, &modes, NULL, &tables, NULL) == QP_OK &&
                qp_rans_encode(tables, &input, NULL, &stream, NULL) == QP_OK,
            "the stream cannot be made");
    way ways[WAYS] = {{"rans64_decode, a run", decode_quipu_run, 0},
                      {"rans64_decode, symbol by symbol", decode_quipu_each, 0},
                      {"CompressAI's way", decode_compressai, 0},
                      {"ryg's rans64 loop", decode_ryg, 0}};
    measure(ways, &stream);
    report_rate(name, "bits a symbol", 8.0 * (double)stream.size / COUNT, "bits");
    for (int k = 0; k < WAYS; k++)
        report_rate(name, ways[k].name, COUNT / ways[k].best / 1e6, "Msym/s");
    report_rate(name, "a run over CompressAI's way", ways[COMPRESSAI].best / ways[RUN].best,
                "times");
    report_rate(name, "symbol by symbol over it", ways[COMPRESSAI].best / ways[EACH].best, "times");

    double start = now();
    require(qp_rans_encode(tables, &input, NULL, &again, NULL) == QP_OK, "no memory");
    report_rate(name, "the encoder", COUNT / (now() - start) / 1e6, "Msym/s");
    qp_stream_free(NULL, &again);
    qp_stream_free(NULL, &stream);
    qp_rans_tables_free(tables);
}

/* ---- mans_decode -------------------------------------------------------------------------- */

enum { WIDTH = 41, DISTRIBUTIONS = 32, SPAN = 256, SPANS = COUNT / SPAN, ROW = 16 };

static int64_t pmf[DISTRIBUTIONS][WIDTH];
static int16_t latents[COUNT], latents_decoded[COUNT];
static uint8_t mask[COUNT];
static uint32_t sigma[COUNT];
static qp_mans_coded_span spans[SPANS];

static void make_latents(void)
{
    for (int d = 0; d < DISTRIBUTIONS; d++) {
        double weight = 1, sum = 0, factor = (d + 1.0) / (d + 3.0);
        int64_t left = 256;
        for (int k = 0; k < WIDTH; k++, weight *= k % 2 == 1 ? factor : 1)
            sum += weight;
        weight = 1;
        for (int k = WIDTH - 1; k > 0; k--)
            pmf[d][k] = 1;
        left -= WIDTH - 1;
        for (int k = 1; k < WIDTH; k++, weight *= k % 2 == 1 ? factor : 1) {
            int64_t more = (int64_t)(weight * factor / sum * 200);
            pmf[d][k] += more;
            left -= more;
        }
        pmf[d][0] = left;
    }
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t slot = random_below(256);
        uint32_t k = 0;
        sigma[i] = random_below(DISTRIBUTIONS);
        mask[i] = random_below(4) > 0;
        while (slot >= pmf[sigma[i]][k])
            slot -= (uint32_t)pmf[sigma[i]][k++];
        latents[i] = (int16_t)(!mask[i] ? 0 : k % 2 == 0 ? (int)k / 2 : -((int)k + 1) / 2);
    }
    for (size_t s = 0; s < SPANS; s++)
        spans[s] =
            (qp_mans_coded_span){{mask + s * SPAN, sigma + s * SPAN, SPAN}, latents + s * SPAN};
}

static void bench_spans(void)
{
    qp_integer_list rows[DISTRIBUTIONS];
    int64_t bounds[DISTRIBUTIONS];
    qp_mans_latents *prepared;
    qp_stream stream;
    double best = 1e9;

    make_latents();
    for (int d = 0; d < DISTRIBUTIONS; d++) {
        rows[d] = (qp_integer_list){pmf[d], WIDTH};
        bounds[d] = 20;
    }
    require(qp_mans_latents_create(rows, DISTRIBUTIONS, (qp_integer_list){bounds, DISTRIBUTIONS},
                                   NULL, &prepared, NULL) == QP_OK &&
                qp_mans_encode_spans(prepared, spans, SPANS, NULL, &stream, NULL) == QP_OK,
            "the spans cannot be encoded");
    for (int round = 0; round < ROUNDS; round++) {
        qp_mans_decoder d;
        double start = now();
        bool ok = qp_mans_decoder_init(&d, stream.bytes, stream.size, NULL) == QP_OK;
        for (size_t s = 0; s < SPANS && ok; s++)
            ok = qp_mans_decode_span(&d, prepared, &spans[s].span, latents_decoded + s * SPAN,
                                     NULL) == QP_OK;
        double spent = now() - start;
        best = spent < best ? spent : best;
        require(ok && memcmp(latents, latents_decoded, sizeof latents) == 0,
                "spans decode to other symbols");
    }
    report("mans_decode, sgm, three of four positions masked in", COUNT / best / 1e6, "Msym/s");
    qp_stream_free(NULL, &stream);
    qp_mans_latents_free(prepared);
}

static qp_mans_coded_row rows_of_16[COUNT / ROW];

static void bench_rows(void)
{
    int64_t counts[QP_MANS_ROW_COUNTS];
    qp_mans_row row;
    qp_stream stream;
    double best = 1e9;

    for (int a = 0; a < QP_MANS_ROW_COUNTS; a++)
        counts[a] = a < 31 ? a * a / 8 : 255 - (62 - a) * (62 - a) / 8;
    require(qp_mans_row_make((qp_integer_list){counts, QP_MANS_ROW_COUNTS}, &row, NULL) == QP_OK,
            "the row is refused");
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t slot = random_below(256);
        latents[i] = 0;
        while (latents[i] < 63 && slot >= row.counts[latents[i]])
            latents[i]++;
    }
    for (size_t r = 0; r < COUNT / ROW; r++)
        rows_of_16[r] = (qp_mans_coded_row){row, latents + r * ROW, ROW};
    require(qp_mans_encode_rows(rows_of_16, COUNT / ROW, NULL, &stream, NULL) == QP_OK,
            "the rows cannot be encoded");
    for (int round = 0; round < ROUNDS; round++) {
        qp_mans_decoder d;
        double start = now();
        bool ok = qp_mans_decoder_init(&d, stream.bytes, stream.size, NULL) == QP_OK;
        for (size_t r = 0; r < COUNT / ROW && ok; r++)
            ok = qp_mans_decode_row(&d, &row, ROW, latents_decoded + r * ROW, NULL) == QP_OK;
        double spent = now() - start;
        best = spent < best ? spent : best;
        require(ok && memcmp(latents, latents_decoded, sizeof latents) == 0,
                "rows decode to other symbols");
    }
    report("mans_decode, fac, rows of 16", COUNT / best / 1e6, "Msym/s");
    qp_stream_free(NULL, &stream);
}

int main(int argc, char **argv)
{
    as_json = argc > 1 && strcmp(argv[1], "--json") == 0;
    bench_rans("64 narrow", 1.04);
    bench_rans("64 wide", 1.09);
    bench_spans();
    bench_rows();
    if (as_json)
        printf("\n]\n");
    return EXIT_SUCCESS;
}
