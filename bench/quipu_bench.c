/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu_bench.c - load, certify and run, beside the machine's own limit measured in the same run.
 *
 *     build/bench/quipu_bench [--json] [MODEL.whg1...]
 *     build/bench/quipu_bench --large KIND MEGABYTES WIDTH OUT.whg1
 *
 * Each figure is the best of several rounds: noise only ever makes a round slower. The second form
 * writes the graph that bench/certify.py times against sha256sum.
 */
#include "bench.h"

#include "quipu/quipu.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7 };

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- results ------------------------------------------------------------------------------ */

static bool as_json;
static bool any_printed;

static void report(const char *name, double value, const char *unit, double share)
{
    if (as_json) {
        printf("%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"",
               any_printed ? "," : "[", name, value, unit);
        if (share > 0)
            printf(", \"of_limit\": %.4g", share);
        printf("}");
    } else if (share > 0) {
        printf("%-44s %10.4g %-8s %6.2f of the limit\n", name, value, unit, share);
    } else {
        printf("%-44s %10.4g %s\n", name, value, unit);
    }
    any_printed = true;
}

static void stop(const char *what, const qp_error *error)
{
    fprintf(stderr, "quipu_bench: %s: %s\n", what, error->message);
    exit(EXIT_FAILURE);
}

/* ---- the limit ---------------------------------------------------------------------------- */

/* Billions of 64-bit multiply-adds a second by the compiler's own loop, from L1. */
static double measure_limit(void)
{
    enum { ELEMENTS = 256, PASSES = 200000 };
    static int64_t acc[ELEMENTS], x[ELEMENTS];
    double best = 1e9;

    for (size_t k = 0; k < ELEMENTS; k++)
        x[k] = (int64_t)k;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int pass = 0; pass < PASSES; pass++)
            limit_multiply_add(acc, x, pass & 127, ELEMENTS);
        double spent = now() - start;
        best = spent < best ? spent : best;
    }
    return (double)ELEMENTS * PASSES / best / 1e9;
}

/* ---- running ------------------------------------------------------------------------------ */

typedef struct opened {
    qp_buffer bytes;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_session *session;
} opened;

static void open_session(opened *o, int reference)
{
    qp_error error;
    qp_session_options options = {.profile = QP_ACC64, .reference = reference};
    if (qp_graph_load(o->bytes.bytes, o->bytes.size, NULL, &o->graph, &error) != QP_OK ||
        qp_certify(o->graph, NULL, &o->certificate, &error) != QP_OK ||
        qp_session_create(o->certificate, &options, NULL, &o->session, &error) != QP_OK)
        stop("a benchmark's graph", &error);
}

static void close_session(opened *o)
{
    qp_session_free(o->session);
    qp_certificate_free(o->certificate);
    qp_graph_free(o->graph);
    qp_buffer_free(&o->bytes);
}

/* Seconds of the best of several decodes. */
static double best_decode(qp_session *session, const qp_array *input, int repeats)
{
    double best = 1e9;
    qp_error error;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < repeats; i++)
            if (qp_session_decode(session, input, 1, NULL, 0, &error) != QP_OK)
                stop("a decode", &error);
        double spent = (now() - start) / repeats;
        best = spent < best ? spent : best;
    }
    return best;
}

static void measure_conv(const bench_conv *conv, uint32_t side, int reference, double limit)
{
    opened o = {0};
    char name[96];
    size_t elements = (size_t)conv->channels * side * side;
    uint8_t *pixels = malloc(elements);

    if (pixels == NULL)
        exit(EXIT_FAILURE);
    for (size_t k = 0; k < elements; k++)
        pixels[k] = (uint8_t)(k * 37 % 251);
    qp_buffer_init(&o.bytes, NULL);
    bench_conv_graph(conv, &o.bytes);
    open_session(&o, reference);
    qp_array input = {pixels, QP_UINT8, conv->channels, side, side};
    double spent = best_decode(o.session, &input, 1);
    double macs = (double)elements * conv->channels * conv->side * conv->side;

    snprintf(name, sizeof name, "conv %ux%u, %u to %u at %ux%u, %s", conv->side, conv->side,
             conv->channels, conv->channels, side, side, reference ? "reference" : "kernel");
    report(name, macs / spent / 1e9, "GMAC/s", macs / spent / 1e9 / limit);
    close_session(&o);
    free(pixels);
}

static void measure_tiny(void)
{
    static const uint8_t pixels[4] = {1, 2, 3, 4};
    enum { REPEATS = 20000 };
    opened o = {0};
    qp_array input = {pixels, QP_UINT8, 1, 1, 4};

    qp_buffer_init(&o.bytes, NULL);
    bench_tiny_graph(&o.bytes);
    open_session(&o, 0);
    report("decode of one relu over 4 elements", best_decode(o.session, &input, REPEATS) * 1e9,
           "ns", 0);
    close_session(&o);
}

/* ---- loading and certifying --------------------------------------------------------------- */

static void measure_model(const char *path)
{
    double best_load = 1e9, best_certify = 1e9;
    char name[256];
    qp_error error;

    for (int round = 0; round < ROUNDS; round++) {
        qp_graph *graph;
        qp_certificate *certificate;
        double start = now();
        if (qp_graph_open(path, NULL, &graph, &error) != QP_OK)
            stop(path, &error);
        double loaded = now();
        if (qp_certify(graph, NULL, &certificate, &error) != QP_OK)
            stop(path, &error);
        double certified = now();
        best_load = loaded - start < best_load ? loaded - start : best_load;
        best_certify = certified - loaded < best_certify ? certified - loaded : best_certify;
        qp_certificate_free(certificate);
        qp_graph_free(graph);
    }
    snprintf(name, sizeof name, "load %.200s", path);
    report(name, best_load * 1e6, "us", 0);
    snprintf(name, sizeof name, "certify %.200s", path);
    report(name, best_certify * 1e6, "us", 0);
}

static int write_large(char **argv)
{
    qp_buffer bytes;
    bench_large large = {argv[0], strtoul(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10)};
    qp_buffer_init(&bytes, NULL);
    if (!bench_large_graph(&large, &bytes)) {
        fprintf(stderr, "quipu_bench: there is no kind '%s'\n", argv[0]);
        return EXIT_FAILURE;
    }
    FILE *file = fopen(argv[3], "wb");
    bool written = file != NULL && fwrite(bytes.bytes, 1, bytes.size, file) == bytes.size;
    written = file != NULL && fclose(file) == 0 && written;
    qp_buffer_free(&bytes);
    if (!written)
        fprintf(stderr, "quipu_bench: %s cannot be written\n", argv[3]);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--large") == 0)
        return write_large(argv + 2);
    as_json = argc > 1 && strcmp(argv[1], "--json") == 0;

    double limit = measure_limit();
    report("limit: the compiler's 64-bit multiply-add loop", limit, "GMAC/s", 0);
    static const struct {
        bench_conv conv;
        uint32_t side;
    } shapes[] = {
        {{64, 3, 1, 8, false}, 128}, {{64, 3, 1, 8, false}, 16}, {{256, 1, 1, 8, false}, 64},
        {{16, 9, 1, 8, false}, 64},  {{64, 3, 1, 8, false}, 4},  {{1024, 1, 1, 8, false}, 1},
    };
    for (int reference = 1; reference >= 0; reference--)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            measure_conv(&shapes[k].conv, shapes[k].side, reference, limit);
    measure_tiny();
    for (int i = as_json ? 2 : 1; i < argc; i++)
        measure_model(argv[i]);
    if (as_json)
        printf("\n]\n");
    return EXIT_SUCCESS;
}
