/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - rows of a tensor of any type from any kind of file: in place where they lie in one
 * mapped file, else through a scratch of bounded size. A row, and even an element, may straddle a
 * file boundary (artifact-container.md section 2).
 */
#include "artifact/artifact.h"

#include <inttypes.h>

#define SCRATCH_BYTES ((uint64_t)1 << 20) /* that words and values need at most, as a rule */

struct qp_row_reader {
    qp_allocator allocator;
    const qp_artifact *artifact;
    const qp_artifact_tensor *tensor;
    qp_matrix matrix;
    uint8_t *scratch;
    size_t scratch_size;
};

/* ---- geometry ------------------------------------------------------------------------------- */

/* Elements without a format, and ternary blocks: rows of the last dimension. */
static void plan_elements(const qp_artifact_tensor *tensor, qp_matrix *matrix)
{
    *matrix = (qp_matrix){.rank = tensor->rank, .divisors = 1, .row_step = 1};
    memcpy(matrix->shape, tensor->shape, sizeof matrix->shape);
    matrix->rows = 1;
    matrix->columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    for (uint32_t i = 0; i + 1 < tensor->rank; i++)
        matrix->rows *= tensor->shape[i];
    matrix->bytes = tensor->bytes;
    matrix->planes[0] = (qp_span){0, tensor->bytes};
    if (tensor->bytes > 0) /* then no dimension is 0, and the product of all was checked */
        matrix->code_row_bytes = tensor->bytes / matrix->rows;
}

/* An empty tensor of plain elements is read as such: formats take no dimension of 0. */
static bool has_matrix(const qp_artifact_tensor *tensor)
{
    return tensor->format != NULL && (tensor->bytes > 0 || tensor->element == NULL);
}

static qp_status plan(qp_row_reader *reader, qp_error *error)
{
    const struct qp_artifact_kind_rules *rules = reader->artifact->kind->rules;
    qp_status status = QP_OK;

    if (has_matrix(reader->tensor))
        return qp_artifact_matrix(reader->artifact, reader->tensor, &reader->matrix, error);
    if (rules->check_tensor != NULL)
        status = rules->check_tensor(reader->artifact, reader->tensor, error);
    if (status == QP_OK)
        plan_elements(reader->tensor, &reader->matrix);
    return status;
}

qp_status qp_row_reader_open(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                             qp_row_reader **reader, qp_error *error)
{
    *reader = NULL;
    qp_row_reader *made = qp_allocate(&artifact->allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a reader of rows");
    made->allocator = artifact->allocator;
    made->artifact = artifact;
    made->tensor = tensor;
    qp_status status = plan(made, error);
    if (status == QP_OK)
        status = qp_artifact_open_range(artifact, tensor, 0, tensor->bytes, error);
    if (status == QP_OK)
        *reader = made;
    else
        qp_row_reader_close(made);
    return status;
}

void qp_row_reader_close(qp_row_reader *reader)
{
    if (reader == NULL)
        return;
    qp_allocator allocator = reader->allocator;
    qp_release(&allocator, reader->scratch, reader->scratch_size, 1);
    qp_release(&allocator, reader, 1, sizeof *reader);
}

const qp_matrix *qp_row_reader_matrix(const qp_row_reader *reader)
{
    return &reader->matrix;
}

/* ---- stored rows ---------------------------------------------------------------------------- */

static qp_status check_range(const qp_row_reader *reader, uint64_t first, uint64_t count,
                             qp_error *error)
{
    if (first <= reader->matrix.rows && count <= reader->matrix.rows - first)
        return QP_OK;
    return qp_fail(error, QP_INVALID_ARGUMENT,
                   "%" PRIu64 " rows from %" PRIu64 " on do not lie in the %" PRIu64 " of %.80s",
                   count, first, reader->matrix.rows, reader->tensor->name);
}

static void find_spans(const qp_row_reader *reader, uint64_t first, uint64_t count,
                       qp_span spans[QP_PLANES])
{
    const qp_matrix *matrix = &reader->matrix;
    if (matrix->format != NULL) {
        qp_matrix_spans(matrix, first, count, spans);
        return;
    }
    memset(spans, 0, QP_PLANES * sizeof *spans);
    spans[0] = (qp_span){first * matrix->code_row_bytes, count * matrix->code_row_bytes};
}

/* The bytes of the spans that do not lie in one file. They were found in a tensor of at most
 * 2^64 - 1 bytes, and spans do not overlap. */
static uint64_t straddling_bytes(const qp_row_reader *reader, const qp_span spans[QP_PLANES])
{
    uint64_t bytes = 0;
    for (size_t p = 0; p < QP_PLANES; p++) {
        if (qp_artifact_bytes(reader->artifact, reader->tensor, spans[p].offset, spans[p].size) ==
            NULL)
            bytes += spans[p].size;
    }
    return bytes;
}

static qp_status reserve(qp_row_reader *reader, uint64_t bytes, qp_error *error)
{
    if (bytes <= reader->scratch_size)
        return QP_OK;
    qp_release(&reader->allocator, reader->scratch, reader->scratch_size, 1);
    reader->scratch_size = 0;
    reader->scratch =
        bytes <= PTRDIFF_MAX ? qp_allocate(&reader->allocator, (size_t)bytes, 1) : NULL;
    if (reader->scratch == NULL)
        return qp_fail_memory(error, "rows that lie in several files");
    reader->scratch_size = (size_t)bytes;
    return QP_OK;
}

qp_status qp_row_reader_rows(qp_row_reader *reader, uint64_t first, uint64_t count, qp_rows *rows,
                             qp_error *error)
{
    qp_span spans[QP_PLANES];
    qp_status status = check_range(reader, first, count, error);
    if (status != QP_OK)
        return status;
    find_spans(reader, first, count, spans);
    status = reserve(reader, straddling_bytes(reader, spans), error);
    if (status != QP_OK)
        return status;

    uint8_t *at = reader->scratch;
    *rows = (qp_rows){.first = first, .count = count};
    for (size_t p = 0; p < QP_PLANES; p++) {
        rows->planes[p] =
            qp_artifact_bytes(reader->artifact, reader->tensor, spans[p].offset, spans[p].size);
        if (rows->planes[p] != NULL)
            continue;
        qp_artifact_copy(reader->artifact, reader->tensor, spans[p].offset, spans[p].size, at);
        rows->planes[p] = at;
        at += spans[p].size;
    }
    return QP_OK;
}

/* How many of the rows are read at a time: all of them in place, else as many as the scratch holds.
 */
static uint64_t chunk_of(const qp_row_reader *reader, uint64_t first, uint64_t count)
{
    const qp_matrix *matrix = &reader->matrix;
    qp_span spans[QP_PLANES];
    find_spans(reader, first, count, spans);
    if (count == 0 || straddling_bytes(reader, spans) <= SCRATCH_BYTES)
        return count;
    uint64_t row_bytes = matrix->bytes / matrix->rows + 1;
    uint64_t chunk = SCRATCH_BYTES / row_bytes / matrix->row_step * matrix->row_step;
    chunk = chunk > 0 ? chunk : matrix->row_step;
    return chunk < count ? chunk : count;
}

/* ---- words ---------------------------------------------------------------------------------- */

static uint8_t *advance(uint8_t *plane, uint64_t bytes)
{
    return plane != NULL ? plane + bytes : NULL;
}

qp_status qp_row_reader_words(qp_row_reader *reader, uint64_t first, uint64_t count,
                              const qp_word_planes *words, qp_error *error)
{
    const qp_matrix *matrix = &reader->matrix;
    qp_status status = check_range(reader, first, count, error);
    uint64_t chunk = status == QP_OK ? chunk_of(reader, first, count) : 0, step;

    for (uint64_t done = 0; status == QP_OK && done < count; done += step) {
        qp_rows rows;
        step = chunk < count - done ? chunk : count - done;
        status = qp_row_reader_rows(reader, first + done, step, &rows, error);
        if (status != QP_OK)
            break;
        const qp_word_planes next = {advance(words->codes, done * matrix->code_row_bytes),
                                     advance(words->scales, done * matrix->scale_row_bytes),
                                     words->divisors};
        if (matrix->format != NULL)
            qp_rows_unpack(matrix, &rows, &next);
        else
            memcpy(next.codes, rows.planes[0], (size_t)(step * matrix->code_row_bytes));
    }
    return status;
}

qp_status qp_row_reader_elements(qp_row_reader *reader, uint64_t first, uint64_t count,
                                 const uint8_t **bytes, qp_error *error)
{
    const qp_format *format = reader->matrix.format;
    qp_rows rows;

    *bytes = NULL;
    if (format != NULL && format->family != QP_FAMILY_DIRECT && format->family != QP_FAMILY_GGUF)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "the rows of %.80s are not stored as one plane of elements",
                       reader->tensor->name);
    qp_status status = qp_row_reader_rows(reader, first, count, &rows, error);
    if (status == QP_OK)
        *bytes = rows.planes[0];
    return status;
}

/* ---- values --------------------------------------------------------------------------------- */

/* A refusal counts elements of the chunk: it becomes a row and a column. */
static qp_status convert(const qp_row_reader *reader, const qp_rows *rows, float *values,
                         qp_error *error)
{
    uint64_t columns = reader->matrix.columns;
    qp_status status = qp_element_to_float(reader->tensor->element, rows->planes[0],
                                           (size_t)(rows->count * columns), values, error);
    if (status == QP_FIELD_RANGE && error != NULL && error->column >= 0) {
        error->row = (int64_t)(rows->first + (uint64_t)error->column / columns);
        error->column = (int64_t)((uint64_t)error->column % columns);
    }
    return status;
}

qp_status qp_row_reader_values(qp_row_reader *reader, uint64_t first, uint64_t count, uint32_t cpu,
                               float *values, qp_error *error)
{
    const qp_matrix *matrix = &reader->matrix;
    qp_status status = check_range(reader, first, count, error);
    uint64_t chunk = status == QP_OK ? chunk_of(reader, first, count) : 0, step;

    if (status == QP_OK && matrix->format == NULL && reader->tensor->element == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "%.80s has the type %.40s, which has no values",
                       reader->tensor->name, reader->tensor->type);
    for (uint64_t done = 0; status == QP_OK && done < count; done += step) {
        qp_rows rows;
        step = chunk < count - done ? chunk : count - done;
        status = qp_row_reader_rows(reader, first + done, step, &rows, error);
        if (status == QP_OK && matrix->format != NULL)
            qp_rows_decode(matrix, &rows, cpu, values + done * matrix->columns);
        else if (status == QP_OK)
            status = convert(reader, &rows, values + done * matrix->columns, error);
    }
    return status;
}

/* ---- one call ------------------------------------------------------------------------------- */

qp_status qp_artifact_words(qp_artifact *artifact, const qp_artifact_tensor *tensor, uint64_t first,
                            uint64_t count, const qp_word_planes *words, qp_error *error)
{
    qp_row_reader *reader;
    qp_status status = qp_row_reader_open(artifact, tensor, &reader, error);
    if (status == QP_OK)
        status = qp_row_reader_words(reader, first, count, words, error);
    qp_row_reader_close(reader);
    return status;
}

qp_status qp_artifact_decode(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                             uint64_t first, uint64_t count, uint32_t cpu, float *values,
                             qp_error *error)
{
    qp_row_reader *reader;
    qp_status status = qp_row_reader_open(artifact, tensor, &reader, error);
    if (status == QP_OK)
        status = qp_row_reader_values(reader, first, count, cpu, values, error);
    qp_row_reader_close(reader);
    return status;
}
