/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_bench.c - how fast stored weights become binary32 and back, beside the memory of this
 * machine measured in the same run.
 *
 *     build/bench/formats_bench [--json] [--format PART] [--cpu MASK] [--threads N]
 *                               [--megabytes N] [--only decode|encode]
 *
 * Decoding is counted in bytes of binary32 written, encoding in bytes of source read. A copy of
 * memory is counted once, as the bytes copied. Every figure is the best of several rounds, because
 * noise only ever makes a round slower; each share is of a copy (or, for encoding, a read) that
 * took turns with it.
 *
 *     memory   one output of `megabytes` MB, past the caches
 *     piece    the same source, decoded again and again into 256 KiB: what a reader does
 *     cache    source and output of 256 KiB: the processor alone
 */
#include "memory.h"

#include "format/format.h"
#include "quipu/quipu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 5,
    ROWS = 128, /* of a piece: a multiple of every layout's step */
    PIECE_COLUMNS = 512,
    PIECE = ROWS * PIECE_COLUMNS, /* values: 256 KiB */
    COLUMNS = 4096
};

typedef struct bench_options {
    bool json, decode, encode;
    const char *format; /* a part of names; "" every one */
    uint32_t cpu, threads;
    size_t megabytes;
} bench_options;

static bench_options options = {false, true, true, "", 0, 2, 256};
static bench_pair large, small; /* memory of the size of the outputs */

static void stop(const char *what, const qp_error *error)
{
    fprintf(stderr, "formats_bench: %s: %s\n", what, error->message);
    exit(EXIT_FAILURE);
}

static double gigabytes(double bytes, double seconds)
{
    return bytes / seconds / 1e9;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* ---- words -------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint32_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

/* Positive normal numbers, as binary16 (and likewise bfloat16) words. */
static void fill_scales(const qp_format *format, uint8_t *bytes, uint64_t size)
{
    bool brain = strcmp(format->name, "fp8_e4m3fn_row_bf16") == 0;
    for (uint64_t i = 0; i + 1 < size; i += 2) {
        uint32_t word = (brain ? 0x3C00u : 0x2400u) + random_word() % 0x400u;
        bytes[i] = (uint8_t)(word & 255);
        bytes[i + 1] = (uint8_t)(word >> 8);
    }
}

static void fill_block(const qp_format *format, uint8_t *block)
{
    do
        for (uint32_t i = 0; i < format->group_bytes; i++)
            block[i] = (uint8_t)(random_word() & 255);
    while (!format->rules->finite_block(block));
}

static void fill_codes(const qp_matrix *matrix, uint8_t *codes)
{
    const qp_format *format = matrix->format;
    uint64_t size = ROWS * matrix->code_row_bytes;

    if (format->family == QP_FAMILY_GGUF) {
        for (uint64_t i = 0; i < size; i += format->group_bytes)
            fill_block(format, codes + i);
        return;
    }
    for (uint64_t i = 0; i < size; i++) {
        uint32_t word = random_word();
        if (format->family == QP_FAMILY_GROUPED) {
            int32_t span = format->code_max - format->code_min + 1;
            word = (uint32_t)((int32_t)(word % (uint32_t)span) + format->code_min);
        } else if (format->family == QP_FAMILY_ROW_FP8) {
            word %= 0x7F; /* no NaN */
        }
        codes[i] = (uint8_t)(word & 255);
    }
}

/* Valid words of ROWS rows. */
static qp_word_planes some_words(const qp_matrix *matrix)
{
    uint64_t scales = ROWS * matrix->scale_row_bytes;
    qp_word_planes words = {bench_memory((size_t)(ROWS * matrix->code_row_bytes)),
                            bench_memory((size_t)scales),
                            bench_memory((size_t)(4 * matrix->divisors))};
    fill_codes(matrix, words.codes);
    if (matrix->format->family == QP_FAMILY_NVFP4)
        for (uint64_t i = 0; i < scales; i++)
            words.scales[i] = (uint8_t)(random_word() % 0x7F);
    else
        fill_scales(matrix->format, words.scales, scales);
    memcpy(words.divisors, "\x00\x00\x80\x44", 4); /* 1024 */
    return words;
}

static qp_matrix plan(const qp_format *format, uint64_t rows, uint64_t columns)
{
    const uint64_t shape[2] = {rows, columns};
    qp_matrix matrix;
    qp_error error;
    if (qp_matrix_plan(format, NULL, shape, 2, 1, &matrix, &error) != QP_OK)
        stop(format->name, &error);
    return matrix;
}

static void pack(const qp_matrix *matrix, uint64_t first, const qp_word_planes *words,
                 uint8_t *bytes)
{
    qp_span spans[QP_PLANES];
    uint8_t *planes[QP_PLANES];
    qp_matrix_spans(matrix, first, ROWS, spans);
    for (unsigned p = 0; p < QP_PLANES; p++)
        planes[p] = spans[p].size == 0 ? NULL : bytes + spans[p].offset;
    qp_rows_pack(matrix, first, ROWS, words, planes);
}

/* A tensor in `bytes`: the same words over and over. */
static void some_tensor(const qp_matrix *matrix, uint8_t *bytes)
{
    qp_word_planes words = some_words(matrix);
    for (uint64_t first = 0; first < matrix->rows; first += ROWS)
        pack(matrix, first, &words, bytes);
    free(words.codes);
    free(words.scales);
    free(words.divisors);
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* What the threads of a decode share; each takes its part of the rows. */
typedef struct decoding {
    qp_matrix matrix;
    const uint8_t *bytes;
    float *values;
    bool pieces; /* every piece into the first one of the thread's own */
    uint32_t times;
} decoding;

static void decode_part(void *context, uint32_t part, uint32_t parts)
{
    const decoding *d = context;
    const qp_matrix *matrix = &d->matrix;
    uint64_t share = matrix->rows / parts, first = share * part;
    uint64_t step = d->pieces ? PIECE / matrix->columns : share;
    float *values = d->values + first * matrix->columns;

    for (uint32_t time = 0; time < d->times; time++)
        for (uint64_t done = 0; done < share; done += step) {
            qp_rows rows = qp_rows_in(matrix, d->bytes, first + done, step);
            qp_rows_decode(matrix, &rows, options.cpu, values);
        }
}

/* A copy of as many bytes, in the same form. */
static void copy_part(void *context, uint32_t part, uint32_t parts)
{
    const decoding *d = context;
    const bench_pair *all = d->times == 1 ? &large : &small;
    size_t share = all->size / parts;
    bench_pair mine = {all->from + share * part, all->to + share * part, share};
    for (uint32_t time = 0; time < d->times; time++)
        (void)bench_touch(&mine, BENCH_COPY);
}

/* GB/s, and those of a copy in turns with it. */
typedef struct rate {
    double own, copy;
} rate;

static rate measure_decode(decoding *d, uint32_t threads)
{
    double own = 1e9, copy = 1e9;
    double bytes = 4.0 * (double)(d->matrix.rows * d->matrix.columns) * d->times;
    for (int round = 0; round < ROUNDS; round++) {
        copy = least(copy, bench_parallel(copy_part, d, threads));
        own = least(own, bench_parallel(decode_part, d, threads));
    }
    return (rate){gigabytes(bytes, own), gigabytes(bytes, copy)};
}

typedef struct decode_rates {
    rate memory, parallel, piece, cache;
} decode_rates;

static decode_rates decode_format(const qp_format *format, uint8_t *bytes)
{
    decode_rates rates;
    decoding d = {plan(format, large.size / 4 / COLUMNS, COLUMNS), bytes, (float *)(void *)large.to,
                  false, 1};
    some_tensor(&d.matrix, bytes);
    rates.memory = measure_decode(&d, 1);
    rates.parallel = measure_decode(&d, options.threads);
    d.pieces = true;
    rates.piece = measure_decode(&d, 1);
    d = (decoding){plan(format, ROWS, PIECE_COLUMNS), bytes, (float *)(void *)small.to, false, 500};
    some_tensor(&d.matrix, bytes);
    rates.cache = measure_decode(&d, 1);
    return rates;
}

static void print_decode(const qp_format *format, const decode_rates *r, bool first)
{
    const qp_decode_kernel *kernel = qp_decode_kernel_find(format, options.cpu);
    const char *way = kernel == NULL ? "reference" : kernel->name;
    if (options.json) {
        printf("%s\n    {\"format\": \"%s\", \"kernel\": \"%s\", \"memory\": %.3f, "
               "\"memory_copy\": %.3f, \"threads\": %.3f, \"threads_copy\": %.3f, "
               "\"piece\": %.3f, \"cache\": %.3f, \"cache_copy\": %.3f}",
               first ? "" : ",", format->name, way, r->memory.own, r->memory.copy, r->parallel.own,
               r->parallel.copy, r->piece.own, r->cache.own, r->cache.copy);
        return;
    }
    printf("%-20s %-9s %7.2f %5.2f  %7.2f %5.2f  %7.2f  %7.2f %5.2f\n", format->name, way,
           r->memory.own, r->memory.own / r->memory.copy, r->parallel.own,
           r->parallel.own / r->parallel.copy, r->piece.own, r->cache.own,
           r->cache.own / r->cache.copy);
}

static void decode_all(void)
{
    uint8_t *bytes = bench_memory(large.size * 5 / 4); /* the widest format takes 32 bits */
    bool first = true;

    if (options.json)
        printf(",\n  \"decode\": [");
    else
        printf("\ndecode, GB/s of values, and times a copy\n%-20s %-9s %7s %5s  %4u thr %5s  %7s  "
               "%7s %5s\n",
               "format", "kernel", "memory", "copy", options.threads, "copy", "piece", "cache",
               "copy");
    for (size_t i = 0; i < qp_format_count(); i++) {
        const qp_format *format = qp_format_at(i);
        if (strstr(format->name, options.format) == NULL)
            continue;
        decode_rates rates = decode_format(format, bytes);
        print_decode(format, &rates, first);
        fflush(stdout);
        first = false;
    }
    if (options.json)
        printf("]");
    free(bytes);
}

/* ---- encoding ----------------------------------------------------------------------------- */

/* What the threads of an encode share. */
typedef struct encoding {
    qp_method_job job;
    qp_word_planes source; /* of an encoded source: the words of ROWS rows */
    const float *values;   /* of other sources: as many rows as the matrix */
    float *maxima;
    uint64_t rows; /* that are encoded: a multiple of ROWS in each thread */
    bool stored;   /* packs them, too */
    qp_word_planes words[64];
    uint8_t *packed[64];
} encoding;

static qp_method_rows encode_rows(const encoding *e, uint64_t first, uint32_t part)
{
    uint64_t columns = e->job.target->columns;
    qp_method_rows rows = {.first = first, .count = ROWS, .words = e->words[part]};
    if (e->job.method->input == QP_INPUT_VALUES)
        rows.values = e->values + first * columns;
    else if (e->job.method->input == QP_INPUT_ELEMENTS)
        rows.elements = (const uint8_t *)(e->values + first * columns);
    else
        rows.encoded = e->source;
    return rows;
}

static void encode_part(void *context, uint32_t part, uint32_t parts)
{
    const encoding *e = context;
    uint64_t share = e->rows / parts;
    qp_error error;
    for (uint64_t first = share * part; first < share * (part + 1); first += ROWS) {
        qp_method_rows rows = encode_rows(e, first, part);
        if (qp_method_encode(&e->job, &rows, &error) != QP_OK)
            stop(e->job.method->name, &error);
        if (e->stored)
            pack(e->job.target, first, &rows.words, e->packed[part]);
    }
}

static double encode_once(encoding *e, uint32_t threads)
{
    qp_error error;
    double start = bench_now();
    if (e->maxima != NULL)
        for (uint64_t first = 0; first < e->rows; first += ROWS) {
            qp_method_rows rows = encode_rows(e, first, 0);
            if (qp_method_survey(&e->job, &rows, e->maxima, &error) != QP_OK)
                stop(e->job.method->name, &error);
        }
    double survey = bench_now() - start;
    return survey + bench_parallel(encode_part, e, threads);
}

static double source_row_bytes(const encoding *e)
{
    const qp_matrix *target = e->job.target;
    if (e->job.method->input == QP_INPUT_ENCODED)
        return (double)(target->code_row_bytes + target->scale_row_bytes);
    return 4.0 * (double)target->columns;
}

static double encode_rate(encoding *e, uint32_t threads)
{
    double best = 1e9;
    for (int round = 0; round < 3; round++)
        best = least(best, encode_once(e, threads));
    return gigabytes((double)e->rows * source_row_bytes(e), best);
}

/* As many rows as take about a fifth of a second, of those that there are. */
static void choose_rows(encoding *e, uint64_t rows)
{
    uint64_t step = (uint64_t)ROWS * options.threads;
    e->rows = step;
    double wanted = 0.2 / encode_once(e, 1) * (double)step;
    uint64_t some = wanted > (double)rows ? rows : (uint64_t)wanted;
    e->rows = some < step ? step : some / step * step;
}

static const float *source_values(uint64_t count)
{
    float *values = bench_memory((size_t)count * sizeof *values);
    for (uint64_t i = 0; i < count; i++) {
        int32_t sum = 0; /* near a normal distribution */
        for (int k = 0; k < 4; k++)
            sum += (int32_t)(random_word() >> 16) - 32768;
        values[i] = (float)sum * 0x1p-20f;
    }
    return values;
}

static void measure_encode(const qp_method *method, const qp_format *format, const float *values,
                           uint64_t rows, bool first)
{
    qp_matrix matrix = plan(format, rows, COLUMNS);
    encoding e = {.job = {.target = &matrix, .cpu = options.cpu, .method = method},
                  .values = values};
    qp_error error;

    if (method->input == QP_INPUT_ENCODED)
        e.job.encoding = format->name;
    else
        e.job.element = qp_element_find("F32");
    if (qp_method_prepare(&e.job, &error) != QP_OK)
        stop(method->name, &error);
    uint64_t surveyed = qp_method_survey_count(&e.job);
    if (surveyed != 0)
        e.job.survey = e.maxima = bench_memory((size_t)surveyed * sizeof(float));
    if (method->input == QP_INPUT_ENCODED)
        e.source = some_words(&matrix);
    for (uint32_t part = 0; part < options.threads; part++) {
        e.words[part] = some_words(&matrix);
        e.packed[part] = bench_memory((size_t)matrix.bytes);
    }
    choose_rows(&e, rows);
    double words = encode_rate(&e, 1);
    double parallel = encode_rate(&e, options.threads);
    e.stored = true;
    double stored = encode_rate(&e, 1);
    double weights = words * 1e3 / (source_row_bytes(&e) / COLUMNS);
    if (options.json)
        printf("%s\n    {\"method\": \"%s\", \"format\": \"%s\", \"words\": %.4f, "
               "\"threads\": %.4f, \"stored\": %.4f, \"million_weights\": %.1f}",
               first ? "" : ",", method->name, format->name, words, parallel, stored, weights);
    else
        printf("%-15s %-20s %8.3f %8.3f %8.3f %9.1f\n", method->name, format->name, words, parallel,
               stored, weights);
    fflush(stdout);
    for (uint32_t part = 0; part < options.threads; part++) {
        free(e.words[part].codes);
        free(e.words[part].scales);
        free(e.words[part].divisors);
        free(e.packed[part]);
    }
}

static void encode_all(void)
{
    uint64_t rows = 4096;
    const float *values = source_values(rows * COLUMNS);
    bool first = true;

    if (options.json)
        printf(",\n  \"encode\": [");
    else
        printf("\nencode, GB/s of source\n%-15s %-20s %8s %4u thr %8s %9s\n", "method", "format",
               "words", options.threads, "stored", "Mweight/s");
    for (size_t m = 0; m < qp_method_count(); m++)
        for (size_t f = 0; f < qp_format_count(); f++) {
            const qp_method *method = qp_method_at(m);
            const qp_format *format = qp_format_at(f);
            if (!method->targets(format) || strstr(format->name, options.format) == NULL)
                continue;
            measure_encode(method, format, values, rows, first);
            first = false;
        }
    if (options.json)
        printf("]");
}

/* ---- memory ------------------------------------------------------------------------------- */

typedef struct touching {
    bench_pair pair;
    bench_access access;
    uint32_t times;
} touching;

static void touch_part(void *context, uint32_t part, uint32_t parts)
{
    const touching *t = context;
    size_t share = t->pair.size / parts;
    bench_pair mine = {t->pair.from + share * part, t->pair.to + share * part, share};
    for (uint32_t time = 0; time < t->times; time++)
        (void)bench_touch(&mine, t->access);
}

static double measure_memory(bench_pair pair, bench_access access, uint32_t threads)
{
    touching t = {pair, access, pair.size == small.size ? 500 : 1};
    double best = 1e9;
    for (int round = 0; round < 2 * ROUNDS; round++)
        best = least(best, bench_parallel(touch_part, &t, threads));
    return gigabytes((double)pair.size * t.times, best);
}

static void memory_all(void)
{
    static const char *const names[BENCH_ACCESSES] = {"read", "write", "copy"};
    if (options.json)
        printf("{\n  \"megabytes\": %zu, \"threads\": %u, \"cpu\": %u,\n  \"memory\": [",
               options.megabytes, options.threads, options.cpu);
    else
        printf("memory, GB/s%16s %4u thr   cache\n", "memory", options.threads);
    for (int access = 0; access < BENCH_ACCESSES; access++) {
        double one = measure_memory(large, (bench_access)access, 1);
        double more = measure_memory(large, (bench_access)access, options.threads);
        double cache = measure_memory(small, (bench_access)access, 1);
        if (options.json)
            printf("%s\n    {\"access\": \"%s\", \"memory\": %.3f, \"threads\": %.3f, "
                   "\"cache\": %.3f}",
                   access == 0 ? "" : ",", names[access], one, more, cache);
        else
            printf("%-20s %7.2f  %7.2f %7.2f\n", names[access], one, more, cache);
    }
    if (options.json)
        printf("]");
}

/* ---- the command -------------------------------------------------------------------------- */

static void usage(void)
{
    fprintf(stderr, "usage: formats_bench [--json] [--format PART] [--cpu MASK] [--threads N]\n"
                    "                     [--megabytes N] [--only decode|encode]\n"
                    "MASK: 0 plain code, 1 AVX2, 3 AVX-512, 4 NEON; all that there is without it\n"
                    "--megabytes is at least twice the number of threads\n");
    exit(2);
}

static uint32_t number(const char *text, uint32_t most)
{
    char *end;
    unsigned long value = text == NULL ? most + 1ul : strtoul(text, &end, 10);
    if (text == NULL || *text == '\0' || *end != '\0' || value > most)
        usage();
    return (uint32_t)value;
}

static void parse(char **arguments)
{
    options.cpu = qp_cpu_features();
    for (char **a = arguments; *a != NULL; a++) {
        if (strcmp(*a, "--json") == 0) {
            options.json = true;
            continue;
        }
        const char *value = a[1];
        if (value == NULL)
            usage();
        if (strcmp(*a, "--format") == 0)
            options.format = value;
        else if (strcmp(*a, "--cpu") == 0)
            options.cpu = number(value, 255) & qp_cpu_features();
        else if (strcmp(*a, "--threads") == 0)
            options.threads = number(value, 64);
        else if (strcmp(*a, "--megabytes") == 0)
            options.megabytes = number(value, 65536);
        else if (strcmp(*a, "--only") == 0 && strcmp(value, "decode") == 0)
            options.encode = false;
        else if (strcmp(*a, "--only") == 0 && strcmp(value, "encode") == 0)
            options.decode = false;
        else
            usage();
        a++;
    }
    if (options.threads == 0 || options.megabytes < 2 * options.threads)
        usage();
}

int main(int argc, char **argv)
{
    (void)argc;
    parse(argv + 1);
    size_t rows = ((size_t)options.megabytes << 20) / 4 / COLUMNS;
    size_t step = (size_t)ROWS * options.threads;
    large.size = rows / step * step * COLUMNS * 4;
    small.size = PIECE * 4;
    large.from = bench_memory(large.size);
    large.to = bench_memory(large.size);
    small.from = bench_memory(small.size);
    small.to = bench_memory(small.size);
    memory_all();
    if (options.decode)
        decode_all();
    if (options.encode)
        encode_all();
    if (options.json)
        printf("\n}\n");
    return EXIT_SUCCESS;
}
