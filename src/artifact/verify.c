/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - every structural and numeric rule over a whole file (artifact-container.md sections 4,
 * 7 and 8; ggml-blocks.md sections 1 and 6; tensor-formats.md sections 3, 5 and 6).
 *
 * A file is a list of units in its order: tensors, and of safetensors the matrices that several
 * tensors are together. Each is looked at in tiles: its words, the padding inside its rows; and
 * then the bytes between its planes and before the next tensor, which writers leave zero
 * ("gap_invalid", OURS). Words of direct formats and of plain elements are all valid.
 */
#include "artifact/check.h"

#include "artifact/auxiliary.h"
#include "base/threads.h"
#include "quipu/convert.h"

/* ---- units ----------------------------------------------------------------------------------- */

typedef struct unit {
    const char *name;
    qp_weight_source_part part;
    uint64_t rows, columns; /* of a tile; 0 rows: its words need no check */
    uint64_t row_tiles, column_tiles;
    uint64_t first_task; /* the tiles, then a task for its gaps */
} unit;

typedef struct verification {
    qp_artifact *artifact;
    qp_weight_source source;
    unit *units;
    size_t count;
    uint64_t tasks;
    qp_locked_allocator locked;
    qp_allocator allocator; /* of the workers */
    qp_weight_source_reader *readers;
    uint32_t n_readers;
    uint8_t *id; /* digest of payload and directory, or NULL */
} verification;

static bool has_rules(const qp_weight_source_part *part)
{
    return part->element == NULL && part->encoding != NULL && part->matrix.format != NULL;
}

static void cut_unit(verification *v, unit *u)
{
    const qp_matrix *matrix = &u->part.matrix;
    u->first_task = v->tasks;
    if (has_rules(&u->part)) {
        uint64_t step = matrix->row_step;
        qp_tile tile = qp_check_tile(matrix->rows, matrix->columns, qp_tile_cuts(matrix), 0, 0);
        bool is_cut = tile.columns < matrix->columns;
        u->columns = tile.columns;
        u->rows = is_cut ? 1 : tile.rows / step * step;
        u->rows = u->rows > 0 ? u->rows : step;
        u->row_tiles = matrix->rows / u->rows + (matrix->rows % u->rows != 0);
        u->column_tiles = matrix->columns / u->columns + (matrix->columns % u->columns != 0);
    }
    v->tasks += u->row_tiles * u->column_tiles + 1;
}

static qp_status list_tensors(verification *v, qp_error *error)
{
    qp_artifact *artifact = v->artifact;
    for (size_t i = 0; i < artifact->n_tensors; i++) {
        const qp_artifact_tensor *tensor = &artifact->tensors[i];
        unit *u = &v->units[v->count];
        *u = (unit){.name = tensor->name, .part.tensors.main = tensor};
        bool is_known = tensor->format != NULL || tensor->element != NULL;
        bool is_empty = tensor->bytes == 0; /* as a GGUF file may list one */
        if ((is_known && !is_empty) || strcmp(artifact->kind->name, "ninfer") == 0) {
            qp_status status = qp_weight_source_part_of(&v->source, tensor, &u->part, error);
            if (status != QP_OK)
                return status;
        }
        cut_unit(v, u);
        v->count++;
    }
    return QP_OK;
}

/* Parameters of safetensors: composed matrices have rules that their tensors alone have not. */
static void list_parameters(verification *v)
{
    for (size_t i = 0; i < v->source.count; i++) {
        const qp_parameter *parameter = &v->source.parameters[i];
        if (parameter->n_parts == 0)
            continue;
        unit *u = &v->units[v->count++];
        *u = (unit){.name = parameter->name, .part = parameter->parts[0]};
        cut_unit(v, u);
    }
}

static qp_status list_units(verification *v, qp_error *error)
{
    bool composes = strcmp(v->artifact->kind->name, "safetensors") == 0;
    size_t most = v->artifact->n_tensors;
    qp_status status = QP_OK;
    v->source.allocator = v->allocator;
    if (composes)
        status = qp_weight_source_list_composed(&v->source, error);
    if (status == QP_OK)
        v->units = qp_arena_allocate(&v->source.arena, most, sizeof *v->units);
    if (status == QP_OK && v->units == NULL)
        status = qp_fail_memory(error, "the tensors of a file");
    if (status != QP_OK)
        return status;
    if (!composes)
        return list_tensors(v, error);
    list_parameters(v);
    return QP_OK;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void place_error(const unit *u, const qp_tile *tile, uint64_t first, qp_error *error)
{
    if (error == NULL)
        return;
    if (tile->columns != u->part.matrix.columns && error->row >= 0) {
        error->row += (int64_t)(tile->row - first);
        error->column += error->column >= 0 ? (int64_t)tile->column : 0;
    }
    qp_artifact_name_error(error, u->name);
}

/* Rooms for a tile's words. */
static qp_status make_room(qp_weight_source_reader *reader, const qp_matrix *matrix, uint64_t rows,
                           qp_word_planes *words, qp_error *error)
{
    uint64_t codes = rows * matrix->code_row_bytes, scales = rows * matrix->scale_row_bytes;
    uint8_t *room = qp_weight_source_reader_room(reader, QP_WEIGHT_SOURCE_WORDS_ROOM,
                                                 codes + scales + 4 * matrix->divisors);
    if (room == NULL)
        return qp_fail_memory(error, "the words of some rows");
    *words = (qp_word_planes){room, room + codes, room + codes + scales};
    return QP_OK;
}

static qp_status read_divisors(qp_weight_source_reader *reader, const unit *u, const qp_tile *tile,
                               const qp_matrix *matrix, uint8_t *words, qp_error *error)
{
    uint64_t share = matrix->rows / matrix->divisors;
    bool is_cut = tile->columns != u->part.matrix.columns;
    if (matrix->format->family != QP_FAMILY_NVFP4)
        return QP_OK;
    for (uint64_t i = 0; i < matrix->divisors; i++) {
        uint32_t word = 0;
        qp_status status =
            u->part.rules->divisor(reader, &u->part, is_cut ? tile->row : i * share, &word, error);
        if (status != QP_OK)
            return status;
        for (unsigned b = 0; b < 4; b++)
            words[4 * i + b] = (uint8_t)(word >> 8 * b);
    }
    return QP_OK;
}

/* The padding inside the rows of a tensor as it is stored. */
static qp_status check_padding(qp_weight_source_reader *reader, const unit *u, const qp_tile *tile,
                               qp_error *error)
{
    qp_rows rows;
    qp_matrix matrix;
    if (u->part.rules != &qp_weight_source_stored)
        return QP_OK;
    qp_status status = qp_weight_source_stored_rows(reader, &u->part, tile, &matrix, &rows, error);
    return status == QP_OK ? qp_rows_check_padding(&matrix, &rows, error) : status;
}

static qp_status check_tile(const unit *u, const qp_tile *tile, qp_weight_source_reader *reader,
                            qp_error *error)
{
    qp_matrix matrix;
    qp_word_planes words = {NULL, NULL, NULL};
    uint64_t first = 0;
    qp_status status = qp_tile_matrix(&u->part.matrix, tile, &matrix, &first, error);
    if (status == QP_OK)
        status = make_room(reader, &matrix, tile->rows, &words, error);
    if (status == QP_OK)
        status = u->part.rules->words(reader, &u->part, tile, &words, error);
    if (status == QP_OK)
        status = read_divisors(reader, u, tile, &matrix, words.divisors, error);
    if (status != QP_OK)
        return status;
    status = qp_words_check(&matrix, first, tile->rows, &words, error);
    if (status == QP_OK)
        status = check_padding(reader, u, tile, error);
    if (status != QP_OK)
        place_error(u, tile, first, error);
    return status;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* The first byte that is not zero of a range of the tensor's file, or `size`. */
static uint64_t first_nonzero(const uint8_t *bytes, uint64_t size)
{
    uint64_t i = 0;
    while (i < size && bytes[i] == 0)
        i++;
    return i;
}

/* Zero bytes from `begin` to `end`, offsets from a tensor's first byte. */
static qp_status check_zero(qp_weight_source_reader *reader, const qp_artifact_tensor *tensor,
                            uint64_t begin, uint64_t end, qp_error *error)
{
    const uint64_t most = QP_CHECK_ELEMENTS;
    while (begin < end) {
        qp_piece piece = {begin, end - begin < most ? end - begin : most, 1, 0};
        const uint8_t *bytes = NULL;
        qp_status status = qp_weight_source_reader_bytes(reader, 0, tensor, &piece, &bytes, error);
        if (status != QP_OK)
            return status;
        uint64_t at = first_nonzero(bytes, piece.size);
        if (at < piece.size)
            return qp_fail_check(
                error, QP_MALFORMED, "gap_invalid", (int64_t)(tensor->offset + begin + at),
                "%.90s: a byte between its planes, or after it, is not zero", tensor->name);
        begin += piece.size;
    }
    return QP_OK;
}

static qp_status check_plane_gaps(qp_weight_source_reader *reader, const unit *u, qp_error *error)
{
    const qp_matrix *matrix = &u->part.matrix;
    uint64_t end = 0;
    qp_status status = QP_OK;
    for (size_t p = 0; p < QP_PLANES && status == QP_OK; p++) {
        const qp_span *plane = &matrix->planes[p];
        if (plane->size == 0)
            continue;
        status = check_zero(reader, u->part.tensors.main, end, plane->offset, error);
        end = plane->offset + plane->size;
    }
    return status;
}

/* The first record of a table at `end` or after it; tables are in the order of their offsets. */
static uint64_t next_tensor(const qp_artifact *artifact, uint64_t end, uint64_t none)
{
    size_t low = 0, high = artifact->n_tensors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (artifact->tensors[middle].offset < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < artifact->n_tensors ? artifact->tensors[low].offset : none;
}

static uint64_t next_resource(const qp_artifact *artifact, uint64_t end, uint64_t none)
{
    size_t low = 0, high = artifact->n_resources;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (artifact->resources[middle].offset < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < artifact->n_resources ? artifact->resources[low].offset : none;
}

/* Where what follows an object in the payload of a .ninfer begins. */
static uint64_t next_object(const qp_artifact *artifact, uint64_t end)
{
    const qp_artifact_file *last = &artifact->files[artifact->n_files - 1];
    uint64_t none = last->start + last->size;
    uint64_t tensor = next_tensor(artifact, end, none);
    uint64_t resource = next_resource(artifact, end, none);
    return tensor < resource ? tensor : resource;
}

/* GGUF's padding after a tensor: up to its alignment, or to the file's end. */
static uint64_t padded_end(const qp_artifact *artifact, const qp_artifact_tensor *tensor)
{
    uint64_t step = artifact->alignment, end = tensor->offset + tensor->bytes;
    uint64_t padded = end + (step - end % step) % step;
    uint64_t size = artifact->files[tensor->file].file.size;
    return padded < size ? padded : size;
}

static qp_status check_gaps(const verification *v, const unit *u, qp_weight_source_reader *reader,
                            qp_error *error)
{
    const qp_artifact *artifact = v->artifact;
    const qp_artifact_tensor *tensor = u->part.tensors.main;
    qp_status status = QP_OK;
    if (u->part.rules == &qp_weight_source_stored)
        status = check_plane_gaps(reader, u, error);
    if (status != QP_OK || strcmp(artifact->kind->name, "safetensors") == 0)
        return status; /* a hole in safetensors is refused when it is opened */
    uint64_t end = tensor->offset + tensor->bytes;
    uint64_t next =
        artifact->kind->rules->has_id ? next_object(artifact, end) : padded_end(artifact, tensor);
    /* an empty tensor may be listed where the file has ended already */
    return next > end ? check_zero(reader, tensor, tensor->bytes, next - tensor->offset, error)
                      : QP_OK;
}

/* The gaps after resources, and the one before the first object. */
static qp_status check_resource_gaps(const verification *v, qp_error *error)
{
    const qp_artifact *artifact = v->artifact;
    qp_weight_source_reader reader;
    qp_status status = QP_OK;
    if (!artifact->kind->rules->has_id)
        return QP_OK;
    qp_weight_source_reader_init(&reader, &v->source, &v->allocator, 0);
    for (size_t i = 0; i <= artifact->n_resources && status == QP_OK; i++) {
        bool is_start = i == artifact->n_resources;
        const qp_artifact_resource *resource = is_start ? NULL : &artifact->resources[i];
        uint64_t end = is_start ? 0 : resource->offset + resource->bytes;
        const qp_artifact_tensor place = {.name = is_start ? "payload" : resource->id,
                                          .offset = end};
        status = check_zero(&reader, &place, 0, next_object(artifact, end) - end, error);
    }
    qp_weight_source_reader_free(&reader);
    return status;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static const unit *unit_of_task(const verification *v, uint64_t task)
{
    size_t low = 0, high = v->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (v->units[middle].first_task <= task)
            low = middle;
        else
            high = middle;
    }
    return &v->units[low];
}

static qp_status run_task(void *context, uint64_t task, uint32_t worker, qp_error *error)
{
    verification *v = context;
    if (task == 0) { /* the longest: it begins first */
        if (v->id != NULL)
            qp_artifact_id_digest(v->artifact, v->id);
        return QP_OK;
    }
    const unit *u = unit_of_task(v, task - 1);
    uint64_t number = task - 1 - u->first_task;
    if (number == u->row_tiles * u->column_tiles)
        return check_gaps(v, u, &v->readers[worker], error);
    qp_tile tile = {number / u->column_tiles * u->rows, u->rows,
                    number % u->column_tiles * u->columns, u->columns};
    uint64_t rows = u->part.matrix.rows - tile.row;
    uint64_t columns = u->part.matrix.columns - tile.column;
    tile.rows = tile.rows < rows ? tile.rows : rows;
    tile.columns = tile.columns < columns ? tile.columns : columns;
    return check_tile(u, &tile, &v->readers[worker], error);
}

static qp_status run_tasks(verification *v, uint32_t threads, qp_error *error)
{
    qp_tasks tasks = {v->tasks + 1, threads, run_task, NULL, v};
    v->n_readers = qp_tasks_workers(&tasks);
    v->readers = qp_allocate(&v->locked.inner, v->n_readers, sizeof *v->readers);
    if (v->readers == NULL)
        return qp_fail_memory(error, "the workers of a verification");
    for (uint32_t i = 0; i < v->n_readers; i++)
        qp_weight_source_reader_init(&v->readers[i], &v->source, &v->allocator, 0);
    qp_status status = qp_tasks_run(&tasks, error);
    for (uint32_t i = 0; i < v->n_readers; i++)
        qp_weight_source_reader_free(&v->readers[i]);
    qp_release(&v->locked.inner, v->readers, v->n_readers, sizeof *v->readers);
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static qp_status check_resources(const qp_artifact *artifact, qp_error *error)
{
    for (size_t i = 0; i < artifact->n_resources; i++) {
        if (strcmp(artifact->resources[i].encoding, "raw_bytes_v1") != 0)
            return qp_fail_check(error, QP_MALFORMED, "C-ENC", -1,
                                 "the resource %.80s has the encoding %.40s, not raw_bytes_v1",
                                 artifact->resources[i].id, artifact->resources[i].encoding);
    }
    return QP_OK;
}

/* What stands before a file's payload and is no part of a table: .ninfer's zero bytes. */
static qp_status check_heads(const qp_artifact *artifact, qp_error *error)
{
    for (size_t i = 0; i < artifact->n_files && artifact->kind->rules->has_id; i++) {
        const qp_artifact_file *file = &artifact->files[i];
        uint64_t begin = 32 + (i == 0 ? artifact->directory_size : 0);
        uint64_t at = first_nonzero(file->file.bytes + begin, file->at - begin);
        if (begin + at < file->at)
            return qp_fail_check(error, QP_MALFORMED, "gap_invalid", (int64_t)(begin + at),
                                 "%.90s: a byte before the payload is not zero", file->name);
    }
    return QP_OK;
}

void qp_artifact_id_digest(const qp_artifact *artifact, uint8_t digest[QP_SHA256_SIZE])
{
    qp_sha256 hash;
    qp_sha256_init(&hash);
    for (size_t i = 0; i < artifact->n_files; i++) {
        const qp_artifact_file *file = &artifact->files[i];
        qp_sha256_update(&hash, file->file.bytes + file->at, (size_t)file->size);
    }
    qp_sha256_update(&hash, artifact->directory, artifact->directory_size);
    qp_sha256_final(&hash, digest);
}

/* A tensor whose geometry is at fault comes after the faults of those before it. */
static qp_status verify_units(verification *v, uint32_t threads, qp_error *error)
{
    qp_error listing = {.status = QP_OK};
    qp_status listed = list_units(v, &listing), status = QP_OK;
    if (v->units != NULL)
        status = run_tasks(v, threads, error);
    if (status == QP_OK && listed != QP_OK && error != NULL)
        *error = listing;
    return status == QP_OK ? listed : status;
}

/* The values of auxiliaries, whose words are in order. */
static qp_status verify_uses(const verification *v, qp_error *error)
{
    qp_weight_source source;
    if (!v->artifact->kind->rules->has_id)
        return QP_OK;
    qp_status status = qp_weight_source_open(v->artifact, &v->allocator, &source, error);
    if (status != QP_OK)
        return status;
    status = qp_auxiliaries_check(&source, error);
    qp_weight_source_close(&source);
    return status;
}

qp_status qp_verify(qp_artifact *artifact, const qp_allocator *allocator, uint32_t threads,
                    uint8_t *id, qp_error *error)
{
    verification v = {.artifact = artifact, .source.artifact = artifact, .id = id};
    v.locked = (qp_locked_allocator){qp_allocator_or_default(allocator), qp_lock_new(allocator)};
    if (v.locked.lock == NULL)
        return qp_fail_memory(error, "a lock");
    v.allocator = qp_locked_allocator_use(&v.locked);
    qp_arena_init(&v.source.arena, &v.allocator);
    qp_status status = qp_artifact_open_files(artifact, error);
    if (status == QP_OK)
        status = check_heads(artifact, error);
    if (status == QP_OK)
        status = check_resources(artifact, error);
    if (status == QP_OK)
        status = check_resource_gaps(&v, error);
    if (status == QP_OK)
        status = verify_units(&v, threads, error);
    if (status == QP_OK)
        status = verify_uses(&v, error);
    qp_arena_free(&v.source.arena);
    qp_lock_free(v.locked.lock);
    return status;
}

/* Whether provenance says that this library wrote the artifact. */
static bool is_own(const qp_artifact *artifact)
{
    static const char own[] = "\"quipu\"";
    const qp_artifact_metadatum *converter =
        qp_artifact_metadata_find(artifact, "provenance/converter");
    return artifact->kind->rules->has_id && converter != NULL &&
           converter->size == sizeof own - 1 && memcmp(converter->value, own, sizeof own - 1) == 0;
}

qp_status qp_artifact_verify(qp_artifact *artifact, uint32_t threads, qp_error *error)
{
    uint8_t digest[QP_SHA256_SIZE];
    bool has_id = is_own(artifact);
    qp_status status =
        qp_verify(artifact, &artifact->allocator, threads, has_id ? digest : NULL, error);
    if (status == QP_OK && has_id && memcmp(digest, artifact->id, QP_ARTIFACT_ID_SIZE) != 0)
        return qp_fail_check(error, QP_MALFORMED, "artifact_id", 16,
                             "artifact_id is not the digest of payload and directory, so bytes "
                             "have changed");
    return status;
}
