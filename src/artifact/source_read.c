/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_read.c - reading a part of a parameter that is one tensor: plain elements, stored words,
 * ternary blocks.
 */
#include "artifact/source.h"

#include "number/minifloat.h"

/* ---- the reader ------------------------------------------------------------------------------ */

void qp_weight_source_reader_init(qp_weight_source_reader *reader, const qp_weight_source *source,
                                  const qp_allocator *allocator, uint32_t cpu)
{
    *reader = (qp_weight_source_reader){.allocator = *allocator, .cpu = cpu};
    reader->artifact = source->artifact;
}

void qp_weight_source_reader_free(qp_weight_source_reader *reader)
{
    for (size_t i = 0; i < QP_WEIGHT_SOURCE_ROOMS; i++) {
        qp_release(&reader->allocator, reader->rooms[i], reader->room_sizes[i], 1);
        reader->rooms[i] = NULL;
        reader->room_sizes[i] = 0;
    }
}

uint8_t *qp_weight_source_reader_room(qp_weight_source_reader *reader, size_t room, uint64_t size)
{
    if (size > SIZE_MAX)
        return NULL;
    if (reader->rooms[room] == NULL || reader->room_sizes[room] < size) {
        qp_release(&reader->allocator, reader->rooms[room], reader->room_sizes[room], 1);
        reader->rooms[room] = qp_allocate(&reader->allocator, (size_t)size, 1);
        reader->room_sizes[room] = reader->rooms[room] != NULL ? (size_t)size : 0;
    }
    return reader->rooms[room];
}

qp_status qp_weight_source_reader_bytes(qp_weight_source_reader *reader, size_t room,
                                        const qp_artifact_tensor *tensor, const qp_piece *piece,
                                        const uint8_t **bytes, qp_error *error)
{
    *bytes = piece->count == 1
                 ? qp_artifact_bytes(reader->artifact, tensor, piece->offset, piece->size)
                 : NULL;
    if (*bytes != NULL || piece->size == 0)
        return QP_OK;
    uint64_t size;
    uint8_t *copy = qp_mul_u64(piece->size, piece->count, &size)
                        ? qp_weight_source_reader_room(reader, room, size)
                        : NULL;
    if (copy == NULL)
        return qp_fail_memory(error, "the bytes of some rows");
    for (uint64_t i = 0; i < piece->count; i++)
        qp_artifact_copy(reader->artifact, tensor, piece->offset + i * piece->stride, piece->size,
                         copy + i * piece->size);
    *bytes = copy;
    return QP_OK;
}

/* ---- plain elements -------------------------------------------------------------------------- */

/* Words of a direct format by the fastest way that there is. */
static qp_status decode_direct(const qp_weight_source_reader *reader,
                               const qp_weight_source_part *part, const uint8_t *bytes,
                               uint64_t count, float *values, qp_error *error)
{
    qp_matrix matrix;
    qp_status status =
        qp_matrix_plan(qp_format_find(part->element->format), NULL, &count, 1, 1, &matrix, error);
    if (status != QP_OK)
        return status;
    qp_rows rows = qp_rows_in(&matrix, bytes, 0, 1);
    qp_rows_decode(&matrix, &rows, reader->cpu, values);
    return QP_OK;
}

static qp_status plain_values(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                              const qp_tile *tile, float *values, qp_error *error)
{
    uint64_t begin = tile->row * part->matrix.columns + tile->column;
    uint64_t count = tile->rows * tile->columns, width = part->element->bytes;
    qp_piece piece = {begin * width, count * width, 1, 0};
    const uint8_t *bytes = NULL;
    qp_status status =
        qp_weight_source_reader_bytes(reader, 0, part->tensors.main, &piece, &bytes, error);
    if (status != QP_OK)
        return status;
    if (part->element->format != NULL && part->element->is_float)
        return decode_direct(reader, part, bytes, count, values, error);
    return qp_element_to_float(part->element, bytes, (size_t)count, values, error);
}

const struct qp_weight_source_rules qp_weight_source_plain = {.values = plain_values, .cuts = true};

/* ---- stored words ---------------------------------------------------------------------------- */

/* A cut tile's rows have one divisor: the word of their first row. */
static qp_piece divisor_piece(const qp_matrix *matrix, uint64_t row)
{
    uint64_t share = matrix->rows / matrix->divisors;
    return (qp_piece){matrix->planes[QP_PLANES - 1].offset + row / share * 4, 4, 1, 0};
}

qp_status qp_weight_source_stored_rows(qp_weight_source_reader *reader,
                                       const qp_weight_source_part *part, const qp_tile *tile,
                                       qp_matrix *matrix, qp_rows *rows, qp_error *error)
{
    qp_piece pieces[QP_PLANES];
    *rows = (qp_rows){.count = tile->rows};
    qp_status status = qp_tile_matrix(&part->matrix, tile, matrix, &rows->first, error);
    if (status != QP_OK)
        return status;
    qp_tile_pieces(&part->matrix, tile, pieces);
    if (tile->columns != part->matrix.columns && pieces[QP_PLANES - 1].size > 0)
        pieces[QP_PLANES - 1] = divisor_piece(&part->matrix, tile->row);
    for (size_t p = 0; p < QP_PLANES && status == QP_OK; p++)
        status = qp_weight_source_reader_bytes(reader, p, part->tensors.main, &pieces[p],
                                               &rows->planes[p], error);
    return status;
}

static qp_status stored_values(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                               const qp_tile *tile, float *values, qp_error *error)
{
    qp_matrix matrix;
    qp_rows rows;
    qp_status status = qp_weight_source_stored_rows(reader, part, tile, &matrix, &rows, error);
    if (status == QP_OK)
        qp_rows_decode(&matrix, &rows, reader->cpu, values);
    return status;
}

static qp_status stored_words(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                              const qp_tile *tile, const qp_word_planes *words, qp_error *error)
{
    qp_matrix matrix;
    qp_rows rows;
    qp_status status = qp_weight_source_stored_rows(reader, part, tile, &matrix, &rows, error);
    if (status != QP_OK)
        return status;
    qp_word_planes planes = *words;
    if (matrix.divisors > 0 && matrix.planes[QP_PLANES - 1].size > 0) {
        uint64_t size = matrix.planes[QP_PLANES - 1].size; /* they have a call of their own */
        planes.divisors = qp_weight_source_reader_room(reader, QP_WEIGHT_SOURCE_VALUES_ROOM, size);
        if (planes.divisors == NULL)
            return qp_fail_memory(error, "divisors");
    }
    qp_rows_unpack(&matrix, &rows, &planes);
    return QP_OK;
}

static qp_status stored_divisor(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                                uint64_t row, uint32_t *word, qp_error *error)
{
    qp_piece piece = divisor_piece(&part->matrix, row);
    const uint8_t *bytes = NULL;
    qp_status status = qp_weight_source_reader_bytes(reader, QP_PLANES - 1, part->tensors.main,
                                                     &piece, &bytes, error);
    if (status == QP_OK)
        *word = qp_load_u32(bytes);
    return status;
}

const struct qp_weight_source_rules qp_weight_source_stored = {
    .values = stored_values, .words = stored_words, .divisor = stored_divisor};

/* ---- ternary blocks -------------------------------------------------------------------------- */

static qp_status ternary_words(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                               const qp_tile *tile, const qp_word_planes *words, qp_error *error)
{
    uint64_t row_bytes = part->matrix.code_row_bytes;
    (void)error;
    qp_artifact_copy(reader->artifact, part->tensors.main, tile->row * row_bytes,
                     tile->rows * row_bytes, words->codes);
    return QP_OK;
}

/* Their values are those of the format that they are imported as. */
static qp_status ternary_values(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                                const qp_tile *tile, float *values, qp_error *error)
{
    qp_matrix target;
    const uint64_t shape[2] = {tile->rows, part->matrix.columns};
    const qp_method *method = qp_method_find("import_encoded");
    if (tile->columns != part->matrix.columns)
        return qp_fail(error, QP_INTERNAL, "rows of ternary blocks are read whole");
    qp_status status =
        qp_matrix_plan(qp_format_find("t2_g128_fp16"), NULL, shape, 2, 1, &target, error);
    if (status != QP_OK)
        return status;
    qp_method_job job = {.target = &target, .encoding = part->encoding, .method = method};
    qp_method_rows rows = {.count = tile->rows};
    rows.encoded.codes =
        qp_weight_source_reader_room(reader, 0, tile->rows * part->matrix.code_row_bytes);
    rows.words.codes = qp_weight_source_reader_room(reader, 1, tile->rows * target.code_row_bytes);
    rows.words.scales =
        qp_weight_source_reader_room(reader, 2, tile->rows * target.scale_row_bytes);
    if (rows.encoded.codes == NULL || rows.words.codes == NULL || rows.words.scales == NULL)
        return qp_fail_memory(error, "ternary rows");
    status = ternary_words(reader, part, tile, &rows.encoded, error);
    if (status == QP_OK)
        status = qp_method_encode(&job, &rows, error);
    if (status == QP_OK)
        qp_words_decode(&target, 0, tile->rows, &rows.words, values);
    return status;
}

const struct qp_weight_source_rules qp_weight_source_ternary = {.values = ternary_values,
                                                                .words = ternary_words};
