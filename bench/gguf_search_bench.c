/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_search_bench.c - the method gguf_search beside ggml's own encoders: squared errors and
 * speed.
 *
 *     build/bench/gguf_search_bench LIBGGML [FILE]...
 *
 * LIBGGML is ggml's base library, such as libggml-base.so of llama.cpp, or of the npm package
 * @node-llama-cpp/linux-x64 (npm pack, tar xzf; it lies in package/bins/linux-x64). Each FILE is a
 * safetensors, GGUF or .ninfer file, whose matrices of floating-point elements are encoded; without
 * one, values are generated: normal, Laplace, normal with outliers, and small normal ones.
 *
 * A row of the table is a format on all matrices of a file, each measured alone:
 *
 *     all        our squared error, summed, as a part of ggml's, summed
 *     worst      the largest such part of one matrix
 *     weighted   both for a weighted squared error, with the weights given to both as importance
 *     M/s        million values a second on one thread, without importance, ours and ggml's
 *
 * A matrix whose rows are no multiple of the format's block is taken as rows of 256 where its size
 * allows that, and left out otherwise; so are those that ggml encodes without any error.
 */
#include "memory.h"

#include "format/format.h"
#include "quipu/quipu.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ggml.h: size_t ggml_quantize_chunk(enum ggml_type, ...) */
typedef size_t quantize_chunk(int type, const float *source, void *target, int64_t start,
                              int64_t rows, int64_t columns, const float *importance);

static quantize_chunk *ggml_quantize;

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "gguf_search_bench: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void *allocate(size_t size)
{
    void *block = calloc(1, size > 0 ? size : 1);
    if (block == NULL)
        stop("memory", "there is not enough");
    return block;
}

#define BLOCK 256 /* values, of the largest */

/* ---- one matrix by one format ------------------------------------------------------------- */

typedef struct bench_values {
    uint64_t rows, columns;
    float *at;
    float *importance; /* of columns, and at least BLOCK */
} bench_values;

typedef struct bench_sums {
    double ours, theirs, worst;
} bench_sums;

typedef struct bench_result {
    bench_sums plain, weighted;
    double our_seconds, their_seconds, count;
    size_t matrices;
} bench_result;

static double error_of(const qp_matrix *matrix, uint8_t *blocks, const bench_values *source,
                       const float *importance)
{
    float *decoded = allocate((size_t)(source->rows * source->columns) * sizeof *decoded);
    qp_word_planes words = {.codes = blocks};
    double sum = 0;
    qp_words_decode(matrix, 0, matrix->rows, &words, decoded);
    for (uint64_t i = 0; i < source->rows * source->columns; i++) {
        double rest = (double)source->at[i] - (double)decoded[i];
        sum += importance == NULL ? rest * rest
                                  : (double)importance[i % source->columns] * rest * rest;
    }
    free(decoded);
    return sum;
}

static double encode_ours(const qp_matrix *matrix, uint8_t *blocks, const bench_values *source,
                          const float *importance)
{
    qp_method_job job = {.target = matrix,
                         .importance = importance,
                         .cpu = qp_cpu_features(),
                         .element = qp_element_find("F32"),
                         .method = qp_method_find("gguf_search")};
    qp_method_rows rows = {.count = matrix->rows, .values = source->at, .words = {.codes = blocks}};
    qp_error error;
    double start = bench_now();
    if (qp_method_prepare(&job, &error) != QP_OK || qp_method_encode(&job, &rows, &error) != QP_OK)
        stop(matrix->format->name, error.message);
    return bench_now() - start;
}

static double encode_theirs(const qp_matrix *matrix, uint8_t *blocks, const bench_values *source,
                            const float *importance)
{
    double start = bench_now();
    ggml_quantize(matrix->format->ggml_type, source->at, blocks, 0, (int64_t)source->rows,
                  (int64_t)source->columns, importance);
    return bench_now() - start;
}

/* The seconds of both in `result`, the errors in `sums`. */
static void compare(const qp_matrix *matrix, const bench_values *source, const float *importance,
                    bench_sums *sums, bench_result *result)
{
    uint8_t *blocks = allocate((size_t)matrix->bytes);
    double seconds = encode_theirs(matrix, blocks, source, importance);
    double theirs = error_of(matrix, blocks, source, importance);
    result->their_seconds += importance == NULL ? seconds : 0;
    seconds = encode_ours(matrix, blocks, source, importance);
    double ours = error_of(matrix, blocks, source, importance);
    result->our_seconds += importance == NULL ? seconds : 0;
    free(blocks);
    if (theirs > 0) {
        sums->ours += ours;
        sums->theirs += theirs;
        sums->worst = fmax(sums->worst, ours / theirs);
    }
}

static void measure(const qp_format *format, const bench_values *source, bench_result *result)
{
    bench_values rows = *source;
    qp_matrix matrix;
    if (rows.columns % format->group != 0) {
        rows.rows = source->rows * source->columns / BLOCK;
        rows.columns = BLOCK;
    }
    uint64_t shape[2] = {rows.rows, rows.columns};
    if (rows.rows * rows.columns != source->rows * source->columns ||
        qp_matrix_plan(format, NULL, shape, 2, 1, &matrix, NULL) != QP_OK)
        return;
    compare(&matrix, &rows, NULL, &result->plain, result);
    compare(&matrix, &rows, rows.importance, &result->weighted, result);
    result->count += (double)(rows.rows * rows.columns);
    result->matrices++;
}

static void print_result(const char *name, const qp_format *format, const bench_result *result)
{
    if (result->matrices == 0)
        return;
    printf("%-22.22s %-12s %8.4f %8.4f   %8.4f %8.4f   %8.1f %8.1f\n", name, format->name,
           result->plain.ours / result->plain.theirs, result->plain.worst,
           result->weighted.ours / result->weighted.theirs, result->weighted.worst,
           result->count / result->our_seconds / 1e6, result->count / result->their_seconds / 1e6);
    fflush(stdout);
}

/* Every format that the method writes, on all matrices of one source. */
static void measure_all(const char *name, const bench_values *matrices, size_t count)
{
    for (size_t f = 0; f < qp_format_count(); f++) {
        const qp_format *format = qp_format_at(f);
        bench_result result = {.count = 0};
        if (!qp_method_find("gguf_search")->targets(format))
            continue;
        for (size_t i = 0; i < count; i++)
            measure(format, matrices + i, &result);
        print_result(name, format, &result);
    }
}

/* ---- values ------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static double random_unit(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

static double random_normal(void)
{
    return sqrt(-2 * log(random_unit())) * cos(2 * acos(-1.0) * random_unit());
}

/* Mean squares of activations have long tails. */
static float *make_importance(uint64_t columns)
{
    size_t count = columns < BLOCK ? BLOCK : (size_t)columns;
    float *importance = allocate(count * sizeof *importance);
    for (size_t k = 0; k < count; k++)
        importance[k] = (float)exp(1.5 * random_normal());
    return importance;
}

static double draw_normal(void)
{
    return 0.02 * random_normal();
}

static double draw_laplace(void)
{
    return (random_unit() < 0.5 ? 0.02 : -0.02) * log(random_unit());
}

static double draw_outliers(void)
{
    return (random_unit() < 0.01 ? 0.2 : 0.02) * random_normal();
}

static double draw_small(void)
{
    return 2e-4 * random_normal();
}

static void measure_generated(void)
{
    static const struct {
        const char *name;
        double (*draw)(void);
    } kinds[] = {{"normal", draw_normal},
                 {"Laplace", draw_laplace},
                 {"normal, 1 % times ten", draw_outliers},
                 {"normal, of 2e-4", draw_small}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bench_values matrix = {.rows = 256, .columns = 4096};
        size_t count = (size_t)(matrix.rows * matrix.columns);
        matrix.at = allocate(count * sizeof *matrix.at);
        matrix.importance = make_importance(matrix.columns);
        for (size_t i = 0; i < count; i++)
            matrix.at[i] = (float)kinds[k].draw();
        measure_all(kinds[k].name, &matrix, 1);
        free(matrix.at);
        free(matrix.importance);
    }
}

/* Whether the tensor is a matrix of floating-point values. */
static bool load_tensor(qp_artifact *file, const qp_artifact_tensor *tensor, bench_values *matrix)
{
    bool is_float = tensor->element != NULL && tensor->element->is_float;
    if (tensor->rank < 2 || !is_float)
        return false;
    matrix->columns = tensor->shape[tensor->rank - 1];
    matrix->rows = 1;
    for (uint32_t d = 0; d + 1 < tensor->rank; d++)
        matrix->rows *= tensor->shape[d];
    matrix->at = allocate((size_t)(matrix->rows * matrix->columns) * sizeof *matrix->at);
    qp_error error;
    if (qp_artifact_decode(file, tensor, 0, matrix->rows, qp_cpu_features(), matrix->at, &error) !=
        QP_OK)
        stop(tensor->name, error.message);
    matrix->importance = make_importance(matrix->columns);
    return true;
}

static void measure_file(const char *path)
{
    qp_artifact *file;
    qp_error error;
    size_t count, loaded = 0;
    if (qp_artifact_open(path, NULL, &file, &error) != QP_OK)
        stop(path, error.message);
    const qp_artifact_tensor *tensors = qp_artifact_tensors(file, &count);
    bench_values *matrices = allocate(count * sizeof *matrices);
    for (size_t t = 0; t < count; t++)
        loaded += load_tensor(file, tensors + t, matrices + loaded);
    const char *slash = strrchr(path, '/');
    measure_all(slash != NULL ? slash + 1 : path, matrices, loaded);
    for (size_t i = 0; i < loaded; i++) {
        free(matrices[i].at);
        free(matrices[i].importance);
    }
    free(matrices);
    qp_artifact_close(file);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: gguf_search_bench LIBGGML [FILE]...\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL)
        stop(argv[1], dlerror());
    void *symbol = dlsym(library, "ggml_quantize_chunk");
    if (symbol == NULL)
        stop(argv[1], dlerror());
    memcpy(&ggml_quantize, &symbol, sizeof symbol);
    printf("%-22s %-12s %8s %8s   %8s %8s   %8s %8s\n", "", "", "all", "worst", "weighted", "worst",
           "our M/s", "its M/s");
    if (argc == 2)
        measure_generated();
    for (int i = 2; i < argc; i++)
        measure_file(argv[i]);
    dlclose(library);
    return 0;
}
