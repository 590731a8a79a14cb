/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - the list of a file's parameters, and ranges of them as parts.
 */
#include "artifact/source.h"

#include "number/minifloat.h"

/* ---- geometry -------------------------------------------------------------------------------- */

void qp_parameter_set_geometry(qp_parameter *parameter)
{
    uint64_t rows = 1; /* products of a shape whose product was checked */
    for (uint32_t i = 0; i + 1 < parameter->rank; i++)
        rows *= parameter->shape[i];
    parameter->columns = parameter->rank > 0 ? parameter->shape[parameter->rank - 1] : 1;
    parameter->rows = rows;
    parameter->elements = rows * parameter->columns;
}

/* Rows and columns of elements that no format has. */
static void plan_plain(const qp_artifact_tensor *tensor, qp_matrix *matrix)
{
    *matrix = (qp_matrix){.rank = tensor->rank, .bytes = tensor->bytes, .row_step = 1};
    matrix->rows = 1;
    matrix->columns = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        matrix->shape[i] = tensor->shape[i];
        matrix->rows *= i + 1 < tensor->rank ? tensor->shape[i] : 1;
        matrix->columns = tensor->shape[i];
    }
    matrix->planes[0].size = tensor->bytes;
    matrix->code_row_bytes = tensor->bytes / matrix->rows;
}

static const qp_element *element_of(const qp_artifact_tensor *tensor)
{
    if (tensor->format == NULL)
        return tensor->element;
    for (size_t i = 0; i < qp_element_count(); i++) {
        const qp_element *element = qp_element_at(i);
        if (element->format != NULL && strcmp(element->format, tensor->format->name) == 0)
            return element;
    }
    return NULL;
}

qp_status qp_weight_source_part_of(qp_weight_source *source, const qp_artifact_tensor *tensor,
                                   qp_weight_source_part *part, qp_error *error)
{
    const qp_ggml_type *type = qp_ggml_type_named(tensor->type);

    *part = (qp_weight_source_part){.tensors.main = tensor, .rules = &qp_weight_source_plain};
    part->element = element_of(tensor);
    bool is_ternary = type != NULL && qp_ggml_type_is_ternary(type);
    if (tensor->format != NULL || (part->element == NULL && !is_ternary)) {
        qp_status status = qp_artifact_matrix(source->artifact, tensor, &part->matrix, error);
        if (status != QP_OK)
            return status;
    }
    if (part->element != NULL) {
        plan_plain(tensor, &part->matrix);
    } else if (tensor->format != NULL) {
        part->rules = &qp_weight_source_stored;
        part->encoding = tensor->format->name;
    } else {
        plan_plain(tensor, &part->matrix);
        part->rules = &qp_weight_source_ternary;
        part->encoding = tensor->type;
    }
    part->elements = part->matrix.rows * part->matrix.columns;
    return QP_OK;
}

/* Whether the tensor's type is one that this library reads. */
static bool is_read(const qp_artifact_tensor *tensor)
{
    const qp_ggml_type *type = qp_ggml_type_named(tensor->type);
    return tensor->format != NULL || tensor->element != NULL ||
           (type != NULL && qp_ggml_type_is_ternary(type));
}

qp_status qp_weight_source_whole(qp_weight_source *source, const qp_artifact_tensor *tensor,
                                 const char *name, qp_parameter *parameter, qp_error *error)
{
    *parameter = (qp_parameter){.name = name, .rank = tensor->rank, .type = tensor->type};
    memcpy(parameter->shape, tensor->shape, sizeof parameter->shape);
    qp_parameter_set_geometry(parameter);
    parameter->bytes = tensor->bytes;
    if (parameter->elements == 0)
        return QP_OK; /* a dimension of 0 stores nothing */
    if (!is_read(tensor)) {
        parameter->unread = tensor; /* the others can be read all the same */
        return QP_OK;
    }
    parameter->parts = qp_arena_allocate(&source->arena, 1, sizeof *parameter->parts);
    if (parameter->parts == NULL)
        return qp_fail_memory(error, "a parameter");
    parameter->n_parts = 1;
    return qp_weight_source_part_of(source, tensor, parameter->parts, error);
}

/* ---- the list -------------------------------------------------------------------------------- */

/* GGUF: each tensor is a parameter. */
static qp_status list_tensors(qp_weight_source *source, qp_error *error)
{
    size_t count;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(source->artifact, &count);
    source->parameters = qp_arena_allocate(&source->arena, count, sizeof *source->parameters);
    if (source->parameters == NULL)
        return qp_fail_memory(error, "the parameters of a file");
    qp_status status = QP_OK;
    for (size_t i = 0; i < count && status == QP_OK; i++)
        status = qp_weight_source_whole(source, &tensors[i], tensors[i].name,
                                        &source->parameters[source->count++], error);
    return status;
}

typedef struct lister {
    const char *kind;
    qp_status (*list)(qp_weight_source *source, qp_error *error);
} lister;

static qp_status list_parameters(qp_weight_source *source, qp_error *error)
{
    static const lister listers[] = {
        {"ninfer", qp_weight_source_list_ninfer},
        {"safetensors", qp_weight_source_list_composed},
        {"gguf", list_tensors},
    };
    for (size_t i = 0; i < sizeof listers / sizeof listers[0]; i++) {
        if (strcmp(listers[i].kind, source->artifact->kind->name) == 0)
            return listers[i].list(source, error);
    }
    return qp_fail(error, QP_INTERNAL, "no list of parameters for this kind of file");
}

static qp_status sort_names(qp_weight_source *source, qp_error *error)
{
    qp_named named = {source->parameters, source->count, sizeof *source->parameters};
    source->by_name = qp_named_order(&source->arena, &named);
    if (source->by_name == NULL)
        return qp_fail_memory(error, "the names of the parameters");
    size_t repeated = qp_named_repeated(&named, source->by_name);
    if (repeated < source->count)
        return qp_fail(error, QP_MALFORMED, "two parameters have the name %.120s",
                       source->parameters[repeated].name);
    return QP_OK;
}

qp_status qp_weight_source_open(qp_artifact *artifact, const qp_allocator *allocator,
                                qp_weight_source *source, qp_error *error)
{
    *source = (qp_weight_source){.artifact = artifact};
    source->allocator = qp_allocator_or_default(allocator);
    qp_arena_init(&source->arena, allocator);
    qp_json_init(&source->json, allocator);
    qp_status status = qp_artifact_open_files(artifact, error);
    if (status == QP_OK)
        status = list_parameters(source, error);
    if (status == QP_OK)
        status = sort_names(source, error);
    if (status != QP_OK)
        qp_weight_source_close(source);
    return status;
}

void qp_weight_source_close(qp_weight_source *source)
{
    qp_json_free(&source->json);
    qp_arena_free(&source->arena);
    source->count = 0;
}

const qp_parameter *qp_weight_source_find(const qp_weight_source *source, const char *name)
{
    qp_named named = {source->parameters, source->count, sizeof *source->parameters};
    size_t found = qp_named_find(&named, source->by_name, name);
    return found < source->count ? &source->parameters[found] : NULL;
}

/* ---- parts ----------------------------------------------------------------------------------- */

qp_status qp_parameter_check_read(const qp_artifact *artifact, const qp_parameter *parameter,
                                  qp_error *error)
{
    qp_matrix matrix;
    if (parameter->unread == NULL)
        return QP_OK;
    return qp_artifact_matrix(artifact, parameter->unread, &matrix, error);
}

const qp_weight_source_part *qp_parameter_part(const qp_parameter *parameter, uint64_t element)
{
    const qp_weight_source_part *part = parameter->parts;
    while (element - part->at >= part->elements)
        part++;
    return part;
}

bool qp_parameter_cuts(const qp_parameter *parameter)
{
    for (size_t i = 0; i < parameter->n_parts; i++) {
        const qp_weight_source_part *part = &parameter->parts[i];
        if (part->element == NULL && !part->rules->cuts && !qp_tile_cuts(&part->matrix))
            return false;
    }
    return true;
}

/* Puts an element's place into an error that has its index in a range of values. */
static void place_error(const qp_parameter *parameter, uint64_t begin, qp_error *error)
{
    if (error == NULL || error->column < 0)
        return;
    uint64_t element = begin + (uint64_t)error->column;
    error->row = (int64_t)(element / parameter->columns);
    error->column = (int64_t)(element % parameter->columns);
}

/* The tile that begins at an element of a part and holds at most `count` elements: whole rows, or a
 * piece of one. */
static qp_tile tile_at(const qp_weight_source_part *part, uint64_t element, uint64_t count)
{
    uint64_t columns = part->matrix.columns;
    qp_tile tile = {element / columns, 1, element % columns, columns};
    if (tile.column != 0 || count < columns) {
        uint64_t left = columns - tile.column;
        tile.columns = count < left ? count : left;
    } else {
        tile.rows = count / columns;
    }
    return tile;
}

qp_status qp_parameter_values(qp_weight_source_reader *reader, const qp_parameter *parameter,
                              uint64_t begin, uint64_t count, float *values, qp_error *error)
{
    qp_status status = qp_parameter_check_read(reader->artifact, parameter, error);
    if (status != QP_OK)
        return status;
    while (count > 0 && status == QP_OK) {
        const qp_weight_source_part *part = qp_parameter_part(parameter, begin);
        uint64_t within = begin - part->at;
        uint64_t step = part->elements - within;
        step = step < count ? step : count;
        if (part->element == NULL) {
            qp_tile tile = tile_at(part, part->first + within, step);
            step = tile.rows * tile.columns;
            status = part->rules->values(reader, part, &tile, values, error);
        } else {
            qp_tile tile = {0, 1, part->first + within, step}; /* one run of elements */
            status = part->rules->values(reader, part, &tile, values, error);
            if (status != QP_OK)
                place_error(parameter, begin, error);
        }
        begin += step;
        count -= step;
        values += step;
    }
    if (status != QP_OK)
        qp_artifact_name_error(error, parameter->name);
    return status;
}

/* ---- elements -------------------------------------------------------------------------------- */

static qp_status elements_in_parts(qp_weight_source_reader *reader, const qp_parameter *parameter,
                                   uint64_t begin, uint64_t count, uint8_t *out, qp_error *error)
{
    uint32_t width = parameter->parts[0].element->bytes;
    while (count > 0) {
        const qp_weight_source_part *part = qp_parameter_part(parameter, begin);
        uint64_t within = begin - part->at;
        uint64_t step = part->elements - within;
        step = step < count ? step : count;
        if (part->element != parameter->parts[0].element)
            return qp_fail(error, QP_INTERNAL, "the parts of %.120s differ", parameter->name);
        qp_artifact_copy(reader->artifact, part->tensors.main, (part->first + within) * width,
                         step * width, out);
        begin += step;
        count -= step;
        out += step * width;
    }
    return QP_OK;
}

qp_status qp_parameter_value_elements(qp_weight_source_reader *reader,
                                      const qp_parameter *parameter, uint64_t begin, uint64_t count,
                                      const uint8_t **bytes, qp_error *error)
{
    uint8_t *room = qp_weight_source_reader_room(reader, QP_WEIGHT_SOURCE_VALUES_ROOM,
                                                 count * sizeof(float) * 2);
    if (room == NULL)
        return qp_fail_memory(error, "values");
    float *values = (float *)(void *)(room + count * sizeof(float));
    qp_status status = qp_parameter_values(reader, parameter, begin, count, values, error);
    for (uint64_t i = 0; i < count && status == QP_OK; i++) {
        uint32_t bits = qp_bits_of_float(values[i]);
        for (unsigned b = 0; b < 4; b++)
            room[4 * i + b] = (uint8_t)(bits >> 8 * b);
    }
    *bytes = room;
    return status;
}

qp_status qp_parameter_elements(qp_weight_source_reader *reader, const qp_parameter *parameter,
                                uint64_t begin, uint64_t count, const uint8_t **bytes,
                                qp_error *error)
{
    qp_status status = qp_parameter_check_read(reader->artifact, parameter, error);
    if (status != QP_OK)
        return status;
    const qp_weight_source_part *part = qp_parameter_part(parameter, begin);
    uint64_t within = begin - part->at;
    uint32_t width = part->element->bytes;
    if (part->elements - within >= count) {
        qp_piece piece = {(part->first + within) * width, count * width, 1, 0};
        return qp_weight_source_reader_bytes(reader, 0, part->tensors.main, &piece, bytes, error);
    }
    uint8_t *room = qp_weight_source_reader_room(reader, 0, count * width);
    if (room == NULL)
        return qp_fail_memory(error, "elements");
    *bytes = room;
    return elements_in_parts(reader, parameter, begin, count, room, error);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Moves `planes` past the rows of a tile. */
static qp_status pass_rows(const qp_weight_source_part *part, const qp_tile *tile,
                           qp_word_planes *planes, qp_error *error)
{
    qp_matrix matrix = part->matrix;
    uint64_t first;
    qp_status status = QP_OK;
    if (tile->columns != matrix.columns)
        status = qp_tile_matrix(&part->matrix, tile, &matrix, &first, error);
    if (status != QP_OK)
        return status;
    planes->codes += tile->rows * matrix.code_row_bytes;
    if (matrix.scale_row_bytes > 0)
        planes->scales += tile->rows * matrix.scale_row_bytes;
    return QP_OK;
}

qp_status qp_parameter_words(qp_weight_source_reader *reader, const qp_parameter *parameter,
                             const qp_tile *tile, const qp_word_planes *words, qp_error *error)
{
    qp_word_planes planes = *words;
    uint64_t row = tile->row, left = tile->rows;
    qp_status status = qp_parameter_check_read(reader->artifact, parameter, error);
    while (left > 0 && status == QP_OK) {
        const qp_weight_source_part *part = qp_parameter_part(parameter, row * parameter->columns);
        uint64_t columns = part->matrix.columns;
        qp_tile piece = *tile;
        piece.row = row - part->at / columns + part->first / columns;
        uint64_t rows = part->elements / columns - (row - part->at / columns);
        rows = rows < left ? rows : left;
        piece.rows = tile->columns != columns ? 1 : rows;
        status = part->rules->words(reader, part, &piece, &planes, error);
        if (status == QP_OK)
            status = pass_rows(part, &piece, &planes, error);
        row += piece.rows;
        left -= piece.rows;
    }
    return status;
}

qp_status qp_parameter_divisor(qp_weight_source_reader *reader, const qp_parameter *parameter,
                               uint64_t row, uint32_t *word, qp_error *error)
{
    qp_status status = qp_parameter_check_read(reader->artifact, parameter, error);
    if (status != QP_OK)
        return status;
    const qp_weight_source_part *part = qp_parameter_part(parameter, row * parameter->columns);
    uint64_t columns = part->matrix.columns;
    uint64_t within = row - part->at / columns + part->first / columns;
    return part->rules->divisor(reader, part, within, word, error);
}
