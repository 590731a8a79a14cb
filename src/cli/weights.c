/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c - see weights.h. */
#include "cli/weights.h"

#include "base/json.h"

#include <inttypes.h>

enum { CHUNK = 65536 }; /* values that a walk holds, where a row is no longer; 256 divides it */

qp_status qp_weights_size(uint64_t size, const char *what, size_t *result, qp_error *error)
{
    if (size > PTRDIFF_MAX)
        return qp_fail_memory(error, what);
    *result = (size_t)size;
    return QP_OK;
}

qp_status qp_weights_open(qp_weights_file *file, const char *path, qp_error *error)
{
    *file = (qp_weights_file){0};
    if (strcmp(path, "-") != 0)
        return qp_artifact_open(path, NULL, &file->artifact, error);
    qp_status status = qp_cli_read(path, &file->input, error);
    if (status == QP_OK)
        status = qp_artifact_open_bytes("standard input", file->input.bytes, file->input.size, NULL,
                                        &file->artifact, error);
    return status;
}

void qp_weights_close(qp_weights_file *file)
{
    qp_artifact_close(file->artifact);
    if (file->input.bytes != NULL)
        qp_file_close(&file->input);
    *file = (qp_weights_file){0};
}

/* The object that a binding names whole. */
static const qp_artifact_tensor *find_bound(const qp_artifact *artifact, const qp_json *json,
                                            const char *name)
{
    qp_json_value bindings, binding, object;
    const qp_artifact_tensor *tensor = NULL;
    qp_buffer id;
    if (!qp_json_find(qp_json_root(json), "bindings", &bindings) ||
        !qp_json_find(bindings, name, &binding) || !qp_json_find(binding, "object", &object))
        return NULL;
    qp_buffer_init(&id, NULL);
    qp_json_append_string(object, &id);
    qp_buffer_append(&id, "", 1);
    if (!id.failed)
        tensor = qp_artifact_find(artifact, (const char *)id.bytes);
    qp_buffer_free(&id);
    return tensor;
}

const qp_artifact_tensor *qp_weights_find(const qp_artifact *artifact, const char *name)
{
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, name);
    size_t size;
    qp_json json;
    const char *directory = qp_artifact_directory(artifact, &size);
    if (tensor != NULL || qp_artifact_kind_of(artifact) != qp_artifact_kind_find("ninfer"))
        return tensor;
    qp_json_init(&json, NULL);
    if (qp_json_parse(&json, directory, size, NULL) == QP_OK)
        tensor = find_bound(artifact, &json, name);
    qp_json_free(&json);
    return tensor;
}

/* ---- words -------------------------------------------------------------------------------- */

static qp_status make_plane(uint64_t rows, uint64_t row_bytes, uint8_t **plane, size_t *size,
                            qp_error *error)
{
    uint64_t bytes;
    if (!qp_mul_u64(rows, row_bytes, &bytes) || bytes > PTRDIFF_MAX)
        return qp_fail_memory(error, "the words of a tensor");
    *plane = qp_allocate(NULL, (size_t)bytes, 1);
    *size = (size_t)bytes;
    return *plane == NULL ? qp_fail_memory(error, "the words of a tensor") : QP_OK;
}

qp_status qp_words_room_make(const qp_matrix *matrix, uint64_t rows, qp_words_room *room,
                             qp_error *error)
{
    uint64_t divisors = matrix->format->family == QP_FAMILY_NVFP4 ? matrix->divisors : 0;
    *room = (qp_words_room){0};
    qp_status status =
        make_plane(rows, matrix->code_row_bytes, &room->words.codes, &room->codes, error);
    if (status == QP_OK)
        status =
            make_plane(rows, matrix->scale_row_bytes, &room->words.scales, &room->scales, error);
    if (status == QP_OK)
        status = make_plane(divisors, 4, &room->words.divisors, &room->divisors, error);
    if (status != QP_OK)
        qp_words_room_free(room);
    return status;
}

void qp_words_room_free(qp_words_room *room)
{
    qp_release(NULL, room->words.divisors, room->divisors, 1);
    qp_release(NULL, room->words.scales, room->scales, 1);
    qp_release(NULL, room->words.codes, room->codes, 1);
    *room = (qp_words_room){0};
}

void qp_weights_pack(const qp_matrix *matrix, const qp_word_planes *words, uint8_t *bytes)
{
    uint8_t *planes[QP_PLANES];
    qp_span spans[QP_PLANES];
    qp_matrix_spans(matrix, 0, matrix->rows, spans);
    for (unsigned p = 0; p < QP_PLANES; p++)
        planes[p] = bytes + spans[p].offset;
    qp_rows_pack(matrix, 0, matrix->rows, words, planes);
}

/* ---- encoding ----------------------------------------------------------------------------- */

qp_status qp_weights_prepare(qp_weights_encoding *e, qp_error *error)
{
    qp_status status = qp_method_prepare(&e->job, error);
    if (status != QP_OK)
        return status;
    e->n_maxima = (size_t)qp_method_survey_count(&e->job); /* at most one a row in memory */
    if (e->n_maxima == 0)
        return QP_OK;
    e->maxima = qp_allocate(NULL, e->n_maxima, sizeof *e->maxima);
    if (e->maxima == NULL)
        return qp_fail_memory(error, "the maxima of a matrix");
    status = qp_method_survey(&e->job, &e->rows, e->maxima, error);
    e->job.survey = e->maxima;
    return status;
}

/* `plane` moved on by some rows; NULL stays. */
static uint8_t *at_row(uint8_t *plane, uint64_t row, uint64_t row_bytes)
{
    return plane == NULL ? NULL : plane + (size_t)(row * row_bytes);
}

static qp_status encode_chunk(const qp_weights_encoding *e, uint64_t first, uint64_t count,
                              qp_error *error)
{
    const qp_matrix *m = e->job.target;
    qp_method_rows rows = e->rows;
    size_t elements = (size_t)(first * m->columns);
    rows.first = first;
    rows.count = count;
    if (rows.values != NULL)
        rows.values += elements;
    if (rows.elements != NULL && e->job.element != NULL)
        rows.elements += elements * e->job.element->bytes;
    rows.encoded.codes = at_row(rows.encoded.codes, first, e->code_row_bytes);
    rows.encoded.scales = at_row(rows.encoded.scales, first, e->scale_row_bytes);
    rows.words.codes = at_row(rows.words.codes, first, m->code_row_bytes);
    rows.words.scales = at_row(rows.words.scales, first, m->scale_row_bytes);
    return qp_method_encode(&e->job, &rows, error);
}

qp_status qp_weights_encode(const qp_weights_encoding *e, uint64_t step, qp_error *error)
{
    qp_status status = QP_OK;
    uint64_t total = e->job.target->rows;
    for (uint64_t first = 0; status == QP_OK && first < total; first += step)
        status = encode_chunk(e, first, total - first < step ? total - first : step, error);
    return status;
}

void qp_weights_encoding_free(qp_weights_encoding *e)
{
    qp_release(NULL, e->maxima, e->n_maxima, sizeof *e->maxima);
    e->maxima = NULL;
}

/* ---- rows of a file ----------------------------------------------------------------------- */

/* Points to some bytes of a tensor: in the mapped file, or read into `*room`, which moves on. */
static qp_status fetch(qp_artifact *artifact, const qp_artifact_tensor *tensor, const qp_span *span,
                       uint8_t **room, const uint8_t **bytes, qp_error *error)
{
    qp_status status = qp_artifact_view(artifact, tensor, span->offset, span->size, bytes, error);
    if (status != QP_OK || *bytes != NULL)
        return status;
    status = qp_artifact_read(artifact, tensor, span->offset, span->size, *room, error);
    *bytes = *room;
    *room += span->size;
    return status;
}

/* Bytes that fetching the rows can need. */
static uint64_t fetch_bytes(const qp_matrix *matrix, uint64_t first, uint64_t count)
{
    qp_span spans[QP_PLANES];
    uint64_t bytes = 0;
    qp_matrix_spans(matrix, first, count, spans);
    for (unsigned p = 0; p < QP_PLANES; p++)
        bytes += spans[p].size; /* parts of one tensor, whose bytes fit 64 bits */
    return bytes;
}

static qp_status fetch_rows(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                            const qp_matrix *matrix, qp_rows *rows, uint8_t *room, qp_error *error)
{
    qp_span spans[QP_PLANES];
    qp_status status = QP_OK;
    qp_matrix_spans(matrix, rows->first, rows->count, spans);
    for (unsigned p = 0; p < QP_PLANES && status == QP_OK; p++) {
        rows->planes[p] = room;
        if (spans[p].size > 0)
            status = fetch(artifact, tensor, &spans[p], &room, &rows->planes[p], error);
    }
    return status;
}

qp_status qp_weights_words(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                           const qp_matrix *matrix, uint64_t first, uint64_t count,
                           const qp_word_planes *words, qp_error *error)
{
    qp_rows rows = {.first = first, .count = count};
    size_t size = 0;
    qp_status status =
        qp_weights_size(fetch_bytes(matrix, first, count), "rows of a tensor", &size, error);
    if (status != QP_OK)
        return status;
    uint8_t *room = qp_allocate(NULL, size, 1);
    if (room == NULL)
        return qp_fail_memory(error, "rows of a tensor");
    status = fetch_rows(artifact, tensor, matrix, &rows, room, error);
    if (status == QP_OK)
        qp_rows_unpack(matrix, &rows, words);
    qp_release(NULL, room, size, 1);
    return status;
}

/* ---- a walk ------------------------------------------------------------------------------- */

uint64_t qp_weights_count(const qp_artifact_tensor *tensor)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        count *= tensor->shape[i]; /* the reader has checked the product */
    return count;
}

uint64_t qp_weights_columns(const qp_artifact_tensor *tensor)
{
    return tensor->rank == 0 ? 1 : tensor->shape[tensor->rank - 1];
}

void qp_weights_shape(const uint64_t *shape, uint32_t rank, qp_buffer *text)
{
    qp_buffer_text(text, "[");
    for (uint32_t i = 0; i < rank; i++)
        qp_buffer_format(text, "%s%" PRIu64, i == 0 ? "" : ", ", shape[i]);
    qp_buffer_text(text, "]");
}

void qp_weights_name(const char *name, qp_buffer *text)
{
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        /* U+0080 to U+009F, the second set of controls, are two bytes in UTF-8 */
        bool second = c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0;
        if (*c < 0x20 || *c == 0x7F || second)
            qp_buffer_text(text, "?");
        else
            qp_buffer_append(text, c, 1);
        c += second;
    }
}

static qp_status make_rooms(qp_weights_walk *walk, uint64_t values, uint64_t bytes, qp_error *error)
{
    qp_status status = qp_weights_size(values, "the values of rows", &walk->n_values, error);
    if (status == QP_OK)
        status = qp_weights_size(bytes, "the bytes of rows", &walk->n_bytes, error);
    if (status != QP_OK)
        return status;
    walk->values = qp_allocate(NULL, walk->n_values, sizeof *walk->values);
    walk->bytes = qp_allocate(NULL, walk->n_bytes, 1);
    return walk->values == NULL || walk->bytes == NULL ? qp_fail_memory(error, "rows of a tensor")
                                                       : QP_OK;
}

static qp_status open_rows(qp_weights_walk *walk, qp_error *error)
{
    qp_matrix *matrix = &walk->matrix;
    qp_status status = qp_artifact_matrix(walk->artifact, walk->tensor, matrix, error);
    if (status != QP_OK)
        return status;
    uint64_t rows = CHUNK / matrix->columns;
    rows = rows / matrix->row_step * matrix->row_step;
    rows = rows < matrix->row_step ? matrix->row_step : rows;
    walk->by_rows = true;
    walk->total = matrix->rows;
    walk->chunk = rows < walk->total ? rows : walk->total;
    return make_rooms(walk, walk->chunk * matrix->columns, fetch_bytes(matrix, 0, walk->chunk),
                      error);
}

static qp_status open_elements(qp_weights_walk *walk, qp_error *error)
{
    walk->total = qp_weights_count(walk->tensor);
    walk->chunk = walk->total < CHUNK ? walk->total : CHUNK;
    return make_rooms(walk, walk->chunk, walk->chunk * walk->tensor->element->bytes, error);
}

qp_status qp_weights_walk_open(qp_weights_walk *walk, qp_artifact *artifact,
                               const qp_artifact_tensor *tensor, qp_error *error)
{
    *walk = (qp_weights_walk){.artifact = artifact, .tensor = tensor};
    if (tensor->element != NULL)
        return open_elements(walk, error);
    return open_rows(walk, error); /* which refuses a tensor without a format */
}

qp_status qp_weights_walk_parameter(qp_weights_walk *walk, const qp_weight_source *source,
                                    const qp_parameter *parameter, qp_error *error)
{
    const qp_allocator allocator = qp_allocator_or_default(NULL);
    uint64_t columns = parameter->columns;
    *walk = (qp_weights_walk){.parameter = parameter};
    qp_weight_source_reader_init(&walk->reader, source, &allocator, qp_cpu_features());
    walk->total = parameter->elements;
    walk->chunk = columns > 0 && columns <= CHUNK ? CHUNK / columns * columns : CHUNK;
    return make_rooms(walk, walk->chunk < walk->total ? walk->chunk : walk->total, 0, error);
}

/* Elements that may be read at once: whole rows, or a piece of a long one up to its end. */
static uint64_t step_of(const qp_weights_walk *walk)
{
    uint64_t left = walk->total - walk->at;
    uint64_t step = left < walk->chunk ? left : walk->chunk;
    if (walk->parameter != NULL && walk->parameter->columns > CHUNK) {
        uint64_t row = walk->parameter->columns - walk->at % walk->parameter->columns;
        step = row < step ? row : step;
    }
    return step;
}

static qp_status next_elements(qp_weights_walk *walk, uint64_t count, qp_error *error)
{
    const qp_element *element = walk->tensor->element;
    qp_span span = {walk->at * element->bytes, count * element->bytes};
    const uint8_t *bytes;
    uint8_t *room = walk->bytes;
    qp_status status = fetch(walk->artifact, walk->tensor, &span, &room, &bytes, error);
    if (status == QP_OK)
        status = qp_element_to_float(element, bytes, (size_t)count, walk->values, error);
    return status;
}

static qp_status next_rows(qp_weights_walk *walk, uint64_t count, qp_error *error)
{
    qp_rows rows = {.first = walk->at, .count = count};
    qp_status status =
        fetch_rows(walk->artifact, walk->tensor, &walk->matrix, &rows, walk->bytes, error);
    if (status == QP_OK)
        qp_rows_decode(&walk->matrix, &rows, qp_cpu_features(), walk->values);
    return status;
}

qp_status qp_weights_walk_next(qp_weights_walk *walk, const float **values, size_t *count,
                               qp_error *error)
{
    uint64_t now = step_of(walk);
    qp_status status = QP_OK;
    *values = walk->values;
    *count = (size_t)(walk->by_rows ? now * walk->matrix.columns : now);
    if (now > 0 && walk->parameter != NULL)
        status =
            qp_parameter_values(&walk->reader, walk->parameter, walk->at, now, walk->values, error);
    else if (now > 0)
        status = walk->by_rows ? next_rows(walk, now, error) : next_elements(walk, now, error);
    walk->at += now;
    return status;
}

void qp_weights_walk_close(qp_weights_walk *walk)
{
    if (walk->parameter != NULL)
        qp_weight_source_reader_free(&walk->reader);
    qp_release(NULL, walk->values, walk->n_values, sizeof *walk->values);
    qp_release(NULL, walk->bytes, walk->n_bytes, 1);
    walk->values = NULL;
    walk->bytes = NULL;
}
