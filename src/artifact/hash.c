/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - digests of tensors that do not depend on the kind of file that keeps them
 * (quipu/convert.h has the definition).
 */
#include "artifact/check.h"

#include "base/threads.h"
#include "quipu/convert.h"

#include <ctype.h>

qp_tile qp_check_tile(uint64_t rows, uint64_t columns, bool cuts, uint64_t row, uint64_t column)
{
    qp_tile tile = {row, 1, column, columns - column};
    if (columns <= QP_CHECK_ELEMENTS || !cuts) {
        uint64_t most = QP_CHECK_ELEMENTS / columns, left = rows - row;
        most = most > 0 ? most : 1;
        tile.rows = most < left ? most : left;
    } else if (tile.columns > QP_CHECK_ELEMENTS) {
        tile.columns = QP_CHECK_ELEMENTS; /* a multiple of QP_TILE_COLUMNS */
    }
    return tile;
}

/* ---- a parameter ----------------------------------------------------------------------------- */

static void hash_number(qp_sha256 *hash, uint64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    qp_sha256_update(hash, bytes, sizeof bytes);
}

static bool is_same_encoding(const qp_weight_source_part *a, const qp_weight_source_part *b)
{
    return a->element == b->element && a->matrix.columns == b->matrix.columns &&
           (a->encoding == NULL) == (b->encoding == NULL) &&
           (a->encoding == NULL || strcmp(a->encoding, b->encoding) == 0);
}

/* The name under which words are hashed. Values without words of their own are those of fp32. */
static void hash_name(qp_sha256 *hash, const qp_weight_source_part *part)
{
    const char *name = part->encoding != NULL ? part->encoding : "fp32";
    if (part->element != NULL && part->element->format != NULL) {
        name = part->element->format;
    } else if (part->element != NULL && strcmp(part->element->name, "F16") == 0) {
        name = "fp16";
    } else if (part->element != NULL) {
        for (const char *c = part->element->name; *c != '\0'; c++) {
            uint8_t lower = (uint8_t)tolower((unsigned char)*c);
            qp_sha256_update(hash, &lower, 1);
        }
        name = "";
    }
    qp_sha256_update(hash, name, strlen(name) + 1);
}

/* Consecutive parts of one encoding. */
typedef struct hash_run {
    qp_weight_source_reader *reader;
    const qp_parameter *parameter;
    const qp_weight_source_part *first;
    uint64_t begin, elements;
} hash_run;

static qp_status hash_elements(const hash_run *run, qp_sha256 *hash, qp_error *error)
{
    uint64_t width = run->first->element->bytes;
    qp_status status = QP_OK;
    for (uint64_t at = 0, step; at < run->elements && status == QP_OK; at += step) {
        const uint8_t *bytes = NULL;
        step = run->elements - at < QP_CHECK_ELEMENTS ? run->elements - at : QP_CHECK_ELEMENTS;
        status = qp_parameter_elements(run->reader, run->parameter, run->begin + at, step, &bytes,
                                       error);
        if (status == QP_OK)
            qp_sha256_update(hash, bytes, (size_t)(step * width));
    }
    return status;
}

static qp_status hash_values(const hash_run *run, qp_sha256 *hash, qp_error *error)
{
    uint64_t columns = run->parameter->columns, rows = run->elements / columns;
    uint64_t row = run->begin / columns, end = row + rows, column = 0;
    qp_status status = QP_OK;
    while (row < end && status == QP_OK) {
        const uint8_t *bytes = NULL;
        qp_tile tile = qp_check_tile(end, columns, true, row, column);
        uint64_t count = tile.rows * tile.columns;
        status = qp_parameter_value_elements(run->reader, run->parameter, row * columns + column,
                                             count, &bytes, error);
        if (status == QP_OK)
            qp_sha256_update(hash, bytes, (size_t)count * 4);
        column += tile.columns;
        row += column == columns ? tile.rows : 0;
        column = column == columns ? 0 : column;
    }
    return status;
}

/* One of the two planes that have rows, tile by tile: of a cut row's pieces the bytes follow one
 * another as they do in the row. */
static qp_status hash_plane(const hash_run *run, bool scales, qp_sha256 *hash, qp_error *error)
{
    const qp_weight_source_part *part = run->first;
    uint64_t columns = part->matrix.columns, row = run->begin / columns, column = 0;
    uint64_t end = row + run->elements / columns;
    bool cuts = qp_parameter_cuts(run->parameter);
    qp_status status = QP_OK;
    while (row < end && status == QP_OK) {
        qp_tile tile = qp_check_tile(end, columns, cuts, row, column);
        qp_matrix matrix = part->matrix;
        uint64_t first;
        if (tile.columns != columns)
            status = qp_tile_matrix(&part->matrix, &tile, &matrix, &first, error);
        if (status != QP_OK)
            return status;
        qp_word_planes words = {NULL, NULL, NULL};
        uint64_t codes = tile.rows * matrix.code_row_bytes;
        uint64_t rest = tile.rows * matrix.scale_row_bytes;
        uint8_t *room =
            qp_weight_source_reader_room(run->reader, QP_WEIGHT_SOURCE_WORDS_ROOM, codes + rest);
        if (room == NULL)
            return qp_fail_memory(error, "the words of some rows");
        words.codes = room;
        words.scales = room + codes;
        status = qp_parameter_words(run->reader, run->parameter, &tile, &words, error);
        if (status == QP_OK)
            qp_sha256_update(hash, scales ? words.scales : words.codes,
                             (size_t)(scales ? rest : codes));
        column += tile.columns;
        row += column == columns ? tile.rows : 0;
        column = column == columns ? 0 : column;
    }
    return status;
}

/* A word for each source matrix. */
static qp_status hash_divisors(const hash_run *run, qp_sha256 *hash, qp_error *error)
{
    const qp_weight_source_part *part = run->first;
    uint64_t columns = part->matrix.columns, row = run->begin / columns;
    uint64_t end = row + run->elements / columns;
    uint64_t share = part->matrix.rows / part->matrix.divisors;
    for (uint64_t r = row; r < end; r += share) {
        uint32_t word = 0;
        uint8_t bytes[4];
        qp_status status = qp_parameter_divisor(run->reader, run->parameter, r, &word, error);
        if (status != QP_OK)
            return status;
        for (unsigned b = 0; b < 4; b++)
            bytes[b] = (uint8_t)(word >> 8 * b);
        qp_sha256_update(hash, bytes, sizeof bytes);
    }
    return QP_OK;
}

static qp_status hash_run_of(const hash_run *run, qp_sha256 *hash, qp_error *error)
{
    const qp_weight_source_part *part = run->first;
    hash_name(hash, part);
    hash_number(hash, run->parameter->rank);
    for (uint32_t i = 0; i < run->parameter->rank; i++)
        hash_number(hash, run->parameter->shape[i]);
    if (part->element != NULL)
        return hash_elements(run, hash, error);
    if (part->encoding == NULL)
        return hash_values(run, hash, error);
    qp_status status = hash_plane(run, false, hash, error);
    if (status == QP_OK && part->matrix.scale_row_bytes > 0)
        status = hash_plane(run, true, hash, error);
    if (status == QP_OK && part->rules->divisor != NULL && part->matrix.format != NULL &&
        part->matrix.format->family == QP_FAMILY_NVFP4)
        status = hash_divisors(run, hash, error);
    return status;
}

/* Of a parameter with rows in several encodings the digest is over its runs, one after the other.
 */
static qp_status hash_parameter(qp_weight_source_reader *reader, const qp_parameter *parameter,
                                uint8_t digest[QP_SHA256_SIZE], qp_error *error)
{
    qp_sha256 hash;
    qp_status status = QP_OK;
    qp_sha256_init(&hash);
    for (size_t i = 0, next; i < parameter->n_parts && status == QP_OK; i = next) {
        hash_run run = {reader, parameter, &parameter->parts[i], parameter->parts[i].at, 0};
        for (next = i; next < parameter->n_parts; next++) {
            if (!is_same_encoding(run.first, &parameter->parts[next]))
                break;
            run.elements += parameter->parts[next].elements;
        }
        status = hash_run_of(&run, &hash, error);
    }
    qp_sha256_final(&hash, digest);
    return status;
}

/* A tensor with a dimension of 0 has a name and a shape, and no words. */
static void hash_empty(const qp_parameter *parameter, uint8_t digest[QP_SHA256_SIZE])
{
    const qp_weight_source_part part = {.element = qp_element_find(parameter->type),
                                        .encoding = parameter->type};
    qp_sha256 hash;
    qp_sha256_init(&hash);
    hash_name(&hash, &part);
    hash_number(&hash, parameter->rank);
    for (uint32_t i = 0; i < parameter->rank; i++)
        hash_number(&hash, parameter->shape[i]);
    qp_sha256_final(&hash, digest);
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct hash_work {
    const qp_weight_source *source;
    qp_weight_source_reader *readers; /* one a worker */
    uint8_t (*digests)[QP_SHA256_SIZE];
} hash_work;

static qp_status hash_task(void *context, uint64_t task, uint32_t worker, qp_error *error)
{
    hash_work *work = context;
    const qp_parameter *parameter = &work->source->parameters[task];
    if (parameter->elements == 0) {
        hash_empty(parameter, work->digests[task]);
        return QP_OK;
    }
    return hash_parameter(&work->readers[worker], parameter, work->digests[task], error);
}

static void hash_whole(const qp_weight_source *source, const uint8_t (*digests)[QP_SHA256_SIZE],
                       uint8_t whole[QP_SHA256_SIZE])
{
    qp_sha256 hash;
    qp_sha256_init(&hash);
    for (size_t i = 0; i < source->count; i++) {
        size_t index = source->by_name[i];
        const char *name = source->parameters[index].name;
        qp_sha256_update(&hash, name, strlen(name) + 1);
        qp_sha256_update(&hash, digests[index], QP_SHA256_SIZE);
    }
    qp_sha256_final(&hash, whole);
}

static qp_status run_tasks(hash_work *work, uint32_t threads, qp_error *error)
{
    qp_tasks tasks = {work->source->count, threads, hash_task, NULL, work};
    uint32_t workers = qp_tasks_workers(&tasks);
    qp_locked_allocator locked = {work->source->allocator, qp_lock_new(&work->source->allocator)};
    qp_allocator allocator = qp_locked_allocator_use(&locked);
    work->readers = qp_allocate(&work->source->allocator, workers, sizeof *work->readers);
    qp_status status = QP_OK;
    if (work->readers == NULL || locked.lock == NULL)
        status = qp_fail_memory(error, "the workers of a hash");
    for (uint32_t i = 0; i < workers && status == QP_OK; i++)
        qp_weight_source_reader_init(&work->readers[i], work->source, &allocator, 0);
    bool opened = status == QP_OK;
    if (opened)
        status = qp_tasks_run(&tasks, error);
    for (uint32_t i = 0; i < workers && opened; i++)
        qp_weight_source_reader_free(&work->readers[i]);
    qp_release(&work->source->allocator, work->readers, workers, sizeof *work->readers);
    qp_lock_free(locked.lock);
    return status;
}

qp_status qp_weight_source_hash(const qp_weight_source *source, uint32_t threads,
                                uint8_t (*digests)[QP_SHA256_SIZE], uint8_t whole[QP_SHA256_SIZE],
                                qp_error *error)
{
    hash_work work = {.source = source, .digests = digests};
    qp_status status = QP_OK;
    for (size_t i = 0; i < source->count && status == QP_OK; i++)
        status = qp_parameter_check_read(source->artifact, &source->parameters[i], error);
    if (status == QP_OK)
        status = run_tasks(&work, threads, error);
    if (status == QP_OK)
        hash_whole(source, (const uint8_t(*)[QP_SHA256_SIZE])digests, whole);
    return status;
}

/* ---- what is asked --------------------------------------------------------------------------- */

qp_status qp_artifact_tensor_hash(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                  uint8_t digest[QP_SHA256_SIZE], qp_error *error)
{
    qp_weight_source source = {.artifact = artifact, .allocator = artifact->allocator};
    qp_parameter parameter;
    qp_arena_init(&source.arena, &artifact->allocator);
    qp_status status = qp_artifact_open_files(artifact, error);
    if (status == QP_OK)
        status = qp_weight_source_whole(&source, tensor, tensor->name, &parameter, error);
    if (status == QP_OK)
        status = qp_parameter_check_read(artifact, &parameter, error);
    if (status == QP_OK && parameter.elements == 0) {
        hash_empty(&parameter, digest);
    } else if (status == QP_OK) {
        qp_weight_source_reader reader;
        qp_weight_source_reader_init(&reader, &source, &artifact->allocator, 0);
        status = hash_parameter(&reader, &parameter, digest, error);
        qp_weight_source_reader_free(&reader);
    }
    qp_arena_free(&source.arena);
    return status;
}

struct qp_artifact_digests {
    qp_allocator allocator;
    qp_weight_source source;
    uint8_t (*each)[QP_SHA256_SIZE];
    uint8_t whole[QP_SHA256_SIZE];
};

qp_status qp_artifact_digests_make(qp_artifact *artifact, const qp_allocator *allocator,
                                   uint32_t threads, qp_artifact_digests **digests, qp_error *error)
{
    *digests = NULL;
    qp_artifact_digests *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "digests");
    made->allocator = qp_allocator_or_default(allocator);
    qp_status status = qp_weight_source_open(artifact, allocator, &made->source, error);
    if (status != QP_OK) {
        qp_release(allocator, made, 1, sizeof *made);
        return status;
    }
    made->each = qp_allocate(allocator, made->source.count, sizeof *made->each);
    if (made->each == NULL)
        status = qp_fail_memory(error, "digests");
    else
        status = qp_weight_source_hash(&made->source, threads, made->each, made->whole, error);
    if (status == QP_OK)
        *digests = made;
    else
        qp_artifact_digests_free(made);
    return status;
}

void qp_artifact_digests_free(qp_artifact_digests *digests)
{
    if (digests == NULL)
        return;
    qp_allocator allocator = digests->allocator;
    qp_release(&allocator, digests->each, digests->source.count, sizeof *digests->each);
    qp_weight_source_close(&digests->source);
    qp_release(&allocator, digests, 1, sizeof *digests);
}

size_t qp_artifact_digests_count(const qp_artifact_digests *digests)
{
    return digests->source.count;
}

const char *qp_artifact_digests_name(const qp_artifact_digests *digests, size_t index)
{
    return digests->source.parameters[digests->source.by_name[index]].name;
}

const uint8_t *qp_artifact_digests_at(const qp_artifact_digests *digests, size_t index)
{
    return digests->each[digests->source.by_name[index]];
}

const uint8_t *qp_artifact_digests_whole(const qp_artifact_digests *digests)
{
    return digests->whole;
}

qp_status qp_artifact_hash(qp_artifact *artifact, uint8_t digest[QP_SHA256_SIZE], qp_error *error)
{
    qp_artifact_digests *digests;
    qp_status status = qp_artifact_digests_make(artifact, &artifact->allocator, 1, &digests, error);
    if (digests != NULL)
        memcpy(digest, digests->whole, QP_SHA256_SIZE);
    qp_artifact_digests_free(digests);
    return status;
}
