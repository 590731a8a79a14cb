/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - the files of the conformance directory, in order. */
#include "conform/vectors.h"

#include "conform/rows.h"
#include "conform/sets.h"
#include "conform/stage_vectors.h"

#include <stdlib.h>

/* A file of graphs/ or vectors/. */
typedef struct vector_file {
    const char *path;
    void (*make)(qp_corpus *c, const void *context);
    const void *context;
} vector_file;

static void make_operator(qp_corpus *c, const void *context)
{
    const qp_corpus_row *row = context;
    row->cases(c);
    qp_corpus_common(c, row);
}

#define OPERATOR_FILE(name) {"vectors/" #name ".jsonl", make_operator, &qp_row_##name},
static const vector_file files[] = {{"graphs/chain.jsonl", qp_graphs_chain, NULL},
                                    {"graphs/load.jsonl", qp_graphs_load, NULL},
                                    {"graphs/lowered.jsonl", qp_graphs_lowered, NULL},
                                    {"graphs/phase.jsonl", qp_graphs_phase, NULL},
                                    {"graphs/run.jsonl", qp_graphs_run, NULL},
                                    {"graphs/state.jsonl", qp_graphs_state, NULL},
                                    QP_OPERATORS(OPERATOR_FILE)};
#undef OPERATOR_FILE

enum { FILE_COUNT = sizeof files / sizeof *files };

_Static_assert(FILE_COUNT == 6 + QP_OPERATOR_COUNT, "a row of the corpus for every operator");

static int by_path(const void *a, const void *b)
{
    const vector_file *const *first = a;
    const vector_file *const *second = b;
    return strcmp((*first)->path, (*second)->path);
}

/* Computes one file and gives it away; `npu` gathers the lines of npu.jsonl. */
static qp_status give_file(const vector_file *file, qp_buffer *npu, qp_vectors_sink *sink,
                           void *context, qp_error *error)
{
    qp_buffer lines;
    const qp_allocator *allocator = &npu->allocator;

    qp_buffer_init(&lines, allocator);
    qp_corpus_output output = {&lines, npu};
    qp_status status =
        qp_corpus_write(file->path, file->make, file->context, &output, allocator, error);
    if (status == QP_OK)
        status = sink(context, file->path, &lines, error);
    qp_buffer_free(&lines);
    return status;
}

static const char certificates[] = "certificates/whg1.jsonl";

static qp_status give_certificates(qp_vectors_sink *sink, void *context,
                                   const qp_allocator *allocator, qp_error *error)
{
    qp_buffer lines;

    qp_buffer_init(&lines, allocator);
    qp_status status =
        qp_corpus_write_certificates(certificates, qp_certificates_whg1, &lines, allocator, error);
    if (status == QP_OK)
        status = sink(context, certificates, &lines, error);
    qp_buffer_free(&lines);
    return status;
}

static qp_status give_stage(const qp_stage_file *file, qp_vectors_sink *sink, void *context,
                            const qp_allocator *allocator, qp_error *error)
{
    qp_buffer lines;

    qp_buffer_init(&lines, allocator);
    qp_status status = qp_stage_vectors(file, &lines, allocator, error);
    if (status == QP_OK)
        status = sink(context, file->path, &lines, error);
    qp_buffer_free(&lines);
    return status;
}

qp_status qp_vectors_write(qp_vectors_sink *sink, void *context, const qp_allocator *allocator,
                           qp_error *error)
{
    const vector_file *order[FILE_COUNT];
    qp_buffer npu;

    for (size_t i = 0; i < FILE_COUNT; i++)
        order[i] = &files[i];
    qsort(order, FILE_COUNT, sizeof *order, by_path);

    qp_buffer_init(&npu, allocator);
    qp_status status = qp_small_sets_write(sink, context, allocator, error);
    if (status == QP_OK)
        status = give_certificates(sink, context, allocator, error);
    for (size_t i = 0; i < FILE_COUNT && status == QP_OK; i++)
        status = give_file(order[i], &npu, sink, context, error);
    for (size_t i = 0; i < QP_STAGE_OPERATORS && status == QP_OK; i++)
        status = give_stage(&qp_stage_files[i], sink, context, allocator, error);
    if (status == QP_OK)
        status = sink(context, "npu.jsonl", &npu, error);
    qp_buffer_free(&npu);
    return status;
}

qp_status qp_vectors_file(const char *path, qp_buffer *lines, const qp_allocator *allocator,
                          qp_error *error)
{
    qp_corpus_output output = {lines, NULL};

    if (strcmp(path, certificates) == 0)
        return qp_corpus_write_certificates(path, qp_certificates_whg1, lines, allocator, error);
    for (size_t i = 0; i < QP_STAGE_OPERATORS; i++)
        if (strcmp(qp_stage_files[i].path, path) == 0)
            return qp_stage_vectors(&qp_stage_files[i], lines, allocator, error);
    for (size_t i = 0; i < FILE_COUNT; i++)
        if (strcmp(files[i].path, path) == 0)
            return qp_corpus_write(path, files[i].make, files[i].context, &output, allocator,
                                   error);
    return qp_fail(error, QP_INVALID_ARGUMENT, "there is no file of vectors %.100s", path);
}
