/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_compose.c - the tensors of safetensors that are one encoded matrix together
 * (artifact-container.md section 9.6): row FP8, block FP8, NVFP4 in both spellings. A matrix keeps
 * the name N of its weight ("P.weight"):
 *
 *     N F8_E4M3 [N,K], N_scale BF16 or F32 (or F16, of fp8_e4m3fn_row_fp16), N values or one
 *     N F8_E4M3 [N,K], N_scale_inv [ceil(N/b), ceil(K/c)]: values, no encoded rows
 *     N_packed U8 [N,K/2], N_scale F8_E4M3 [N,K/16], N_global_scale F32, one value or several
 *     N U8 [N,K/2], N_scale F8_E4M3 [N,K/16], N_scale_2 F32, which enters as its reciprocal
 *
 * An NVFP4 matrix whose geometry section 7.3 does not store gives values. Tensors that do not fit
 * together stay parameters of their own.
 */
#include "artifact/source.h"

#include "number/float_mode.h"
#include "number/minifloat.h"

#include <stdio.h>

#define NAME_MAX_BYTES 4096 /* of names that are put together to be looked for */

/* ---- row FP8 --------------------------------------------------------------------------------- */

static bool has_one_value(const qp_artifact_tensor *tensor)
{
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] != 1)
            return false;
    }
    return true;
}

static qp_status codes_of(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                          const qp_tile *tile, uint64_t per_byte, const uint8_t **codes,
                          qp_error *error)
{
    uint64_t row_bytes = part->matrix.columns / per_byte;
    qp_piece piece = {tile->row * row_bytes + tile->column / per_byte, tile->columns / per_byte,
                      tile->rows, row_bytes};
    if (tile->columns == part->matrix.columns)
        piece = (qp_piece){tile->row * row_bytes, tile->rows * row_bytes, 1, 0};
    return qp_weight_source_reader_bytes(reader, 0, part->tensors.main, &piece, codes, error);
}

/* The scale word of each row, rounded from binary32 where the tensor holds that. */
static qp_status row_scales(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                            const qp_tile *tile, uint8_t *words, qp_error *error)
{
    const qp_artifact_tensor *scales = part->tensors.scales;
    bool is_one = has_one_value(scales);
    uint32_t width = scales->element->bytes;
    qp_piece piece = {is_one ? 0 : tile->row * width, (is_one ? 1 : tile->rows) * width, 1, 0};
    const uint8_t *bytes = NULL;
    qp_status status = qp_weight_source_reader_bytes(reader, 1, scales, &piece, &bytes, error);
    for (uint64_t i = 0; i < tile->rows && status == QP_OK; i++) {
        const uint8_t *at = bytes + (is_one ? 0 : i * width);
        uint16_t word = width == 4 ? qp_bf16_from_f32_bits(qp_load_u32(at)) : qp_load_u16(at);
        words[2 * i] = (uint8_t)word;
        words[2 * i + 1] = (uint8_t)(word >> 8);
    }
    return status;
}

static qp_status row_fp8_words(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                               const qp_tile *tile, const qp_word_planes *words, qp_error *error)
{
    const uint8_t *codes = NULL;
    qp_status status = codes_of(reader, part, tile, 1, &codes, error);
    if (status != QP_OK)
        return status;
    memcpy(words->codes, codes, (size_t)(tile->rows * tile->columns));
    return row_scales(reader, part, tile, words->scales, error);
}

/* The words of a tile as values: `codes` are read in place. */
static qp_status decode_tile(const qp_weight_source_part *part, const qp_tile *tile,
                             const uint8_t *codes, const qp_word_planes *rest, float *values,
                             qp_error *error)
{
    qp_matrix matrix;
    const uint64_t shape[2] = {tile->rows, tile->columns};
    qp_status status = qp_matrix_plan(part->matrix.format, NULL, shape, 2, 1, &matrix, error);
    if (status != QP_OK)
        return status;
    qp_word_planes words = *rest;
    words.codes = (uint8_t *)(uintptr_t)codes; /* only read */
    qp_words_decode(&matrix, 0, tile->rows, &words, values);
    return QP_OK;
}

static qp_status row_fp8_values(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                                const qp_tile *tile, float *values, qp_error *error)
{
    qp_word_planes rest = {0};
    const uint8_t *codes = NULL;
    rest.scales = qp_weight_source_reader_room(reader, 2, tile->rows * 2);
    if (rest.scales == NULL)
        return qp_fail_memory(error, "scales");
    qp_status status = codes_of(reader, part, tile, 1, &codes, error);
    if (status == QP_OK)
        status = row_scales(reader, part, tile, rest.scales, error);
    return status == QP_OK ? decode_tile(part, tile, codes, &rest, values, error) : status;
}

const struct qp_weight_source_rules qp_weight_source_row_fp8 = {
    .values = row_fp8_values, .words = row_fp8_words, .cuts = true};

/* ---- block FP8 ------------------------------------------------------------------------------- */

/* Rows or columns of a block: the size that gives that many blocks, 128 where it does. */
static uint64_t block_of(uint64_t size, uint64_t blocks)
{
    if (size / 128 + (size % 128 != 0) == blocks)
        return 128;
    return size / blocks + (size % blocks != 0);
}

static qp_status block_scale_row(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                                 uint64_t block_row, float *scales, qp_error *error)
{
    const qp_artifact_tensor *tensor = part->tensors.scales;
    uint64_t count = tensor->shape[1], width = tensor->element->bytes;
    qp_piece piece = {block_row * count * width, count * width, 1, 0};
    const uint8_t *bytes = NULL;
    qp_status status = qp_weight_source_reader_bytes(reader, 1, tensor, &piece, &bytes, error);
    if (status != QP_OK)
        return status;
    return qp_element_to_float(tensor->element, bytes, (size_t)count, scales, error);
}

static qp_status block_fp8_values(qp_weight_source_reader *reader,
                                  const qp_weight_source_part *part, const qp_tile *tile,
                                  float *values, qp_error *error)
{
    const uint64_t *blocks = part->tensors.scales->shape;
    uint64_t height = block_of(part->matrix.rows, blocks[0]);
    uint64_t width = block_of(part->matrix.columns, blocks[1]);
    float *scales =
        (float *)(void *)qp_weight_source_reader_room(reader, 2, blocks[1] * sizeof *scales);
    const uint8_t *codes = NULL;
    if (scales == NULL)
        return qp_fail_memory(error, "scales");
    qp_status status = codes_of(reader, part, tile, 1, &codes, error);
    for (uint64_t r = 0; r < tile->rows && status == QP_OK; r++) {
        if (r == 0 || (tile->row + r) % height == 0)
            status = block_scale_row(reader, part, (tile->row + r) / height, scales, error);
        for (uint64_t k = 0; k < tile->columns && status == QP_OK; k++) {
            float code = qp_float_of_bits(qp_e4m3_to_f32_bits(codes[r * tile->columns + k]));
            values[r * tile->columns + k] = code * scales[(tile->column + k) / width];
        }
    }
    return status;
}

static qp_status block_fp8_in_mode(qp_weight_source_reader *reader,
                                   const qp_weight_source_part *part, const qp_tile *tile,
                                   float *values, qp_error *error)
{
    qp_float_mode mode = qp_float_mode_enter();
    qp_status status = block_fp8_values(reader, part, tile, values, error);
    qp_float_mode_leave(mode);
    return status;
}

const struct qp_weight_source_rules qp_weight_source_block_fp8 = {.values = block_fp8_in_mode,
                                                                  .cuts = true};

/* ---- NVFP4 ----------------------------------------------------------------------------------- */

static qp_status divisor_word(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                              uint64_t row, uint32_t *word, qp_error *error)
{
    uint64_t count = part->tensors.divisor->bytes / 4;
    qp_piece piece = {row / (part->matrix.rows / count) * 4, 4, 1, 0};
    const uint8_t *bytes = NULL;
    qp_status status =
        qp_weight_source_reader_bytes(reader, 3, part->tensors.divisor, &piece, &bytes, error);
    if (status == QP_OK)
        *word = qp_load_u32(bytes);
    return status;
}

/* A multiplier enters as binary32(1 / value), computed in binary64. */
static qp_status multiplier_word(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                                 uint64_t row, uint32_t *word, qp_error *error)
{
    qp_status status = divisor_word(reader, part, row, word, error);
    qp_float_mode mode = qp_float_mode_enter();
    if (status == QP_OK)
        *word = qp_bits_of_float((float)(1.0 / (double)qp_float_of_bits(*word)));
    qp_float_mode_leave(mode);
    return status;
}

static qp_status natural_scales(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                                const qp_tile *tile, const uint8_t **scales, qp_error *error)
{
    uint64_t row_bytes = part->matrix.columns / 16;
    qp_piece piece = {tile->row * row_bytes + tile->column / 16, tile->columns / 16, tile->rows,
                      row_bytes};
    if (tile->columns == part->matrix.columns)
        piece = (qp_piece){tile->row * row_bytes, tile->rows * row_bytes, 1, 0};
    return qp_weight_source_reader_bytes(reader, 1, part->tensors.scales, &piece, scales, error);
}

static qp_status nvfp4_words(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                             const qp_tile *tile, const qp_word_planes *words, qp_error *error)
{
    const uint8_t *codes = NULL, *scales = NULL;
    qp_status status = codes_of(reader, part, tile, 2, &codes, error);
    if (status == QP_OK)
        status = natural_scales(reader, part, tile, &scales, error);
    if (status != QP_OK)
        return status;
    memcpy(words->codes, codes, (size_t)(tile->rows * tile->columns / 2));
    memcpy(words->scales, scales, (size_t)(tile->rows * tile->columns / 16));
    return QP_OK;
}

/* binary32(code * scale / divisor): the product is exact, so one rounding. The geometry need not be
 * one that a layout stores. */
static void decode_nvfp4_row(const uint8_t *codes, const uint8_t *scales, uint32_t divisor,
                             uint64_t columns, float *values)
{
    float d = qp_float_of_bits(divisor);
    for (uint64_t k = 0; k < columns; k++) {
        uint8_t code = (uint8_t)(codes[k / 2] >> (k % 2 * 4) & 0xFu);
        float scale = qp_float_of_bits(qp_e4m3_to_f32_bits(scales[k / 16]));
        values[k] = qp_float_of_bits(qp_e2m1_to_f32_bits(code)) * scale / d;
    }
}

static qp_status nvfp4_values(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                              const qp_tile *tile, float *values, qp_error *error)
{
    const uint8_t *codes = NULL, *scales = NULL;
    uint64_t columns = tile->columns;
    qp_status status = codes_of(reader, part, tile, 2, &codes, error);
    if (status == QP_OK)
        status = natural_scales(reader, part, tile, &scales, error);
    qp_float_mode mode = qp_float_mode_enter();
    for (uint64_t r = 0; r < tile->rows && status == QP_OK; r++) {
        uint32_t divisor = 0;
        status = part->rules->divisor(reader, part, tile->row + r, &divisor, error);
        if (status == QP_OK)
            decode_nvfp4_row(codes + r * columns / 2, scales + r * columns / 16, divisor, columns,
                             values + r * columns);
    }
    qp_float_mode_leave(mode);
    return status;
}

const struct qp_weight_source_rules qp_weight_source_nvfp4 = {
    .values = nvfp4_values, .words = nvfp4_words, .divisor = divisor_word, .cuts = true};
const struct qp_weight_source_rules qp_weight_source_nvfp4_multiplier = {
    .values = nvfp4_values, .words = nvfp4_words, .divisor = multiplier_word, .cuts = true};

/* ---- recognising ----------------------------------------------------------------------------- */

static bool is_of(const qp_artifact_tensor *tensor, const char *type)
{
    return tensor != NULL && strcmp(tensor->type, type) == 0;
}

/* The tensor `name` + `ending`, where `length` bytes of `name` count; NULL without one. */
static const qp_artifact_tensor *sibling(const qp_weight_source *source, const char *name,
                                         size_t length, const char *ending)
{
    char text[NAME_MAX_BYTES];
    size_t count = strlen(ending);
    if (length + count >= sizeof text)
        return NULL;
    memcpy(text, name, length);
    memcpy(text + length, ending, count + 1);
    return qp_artifact_find(source->artifact, text);
}

static bool is_matrix(const qp_artifact_tensor *tensor)
{
    return tensor->rank == 2 && tensor->shape[0] > 0 && tensor->shape[1] > 0;
}

static uint64_t values_in(const qp_artifact_tensor *tensor)
{
    return tensor->bytes / tensor->element->bytes;
}

/* What was recognised: a name, the part, how the source spells it. */
typedef struct composed {
    const char *name;
    qp_weight_source_part part;
    char type[64];
} composed;

static void set_encoding(composed *found, const char *format, const uint64_t *shape,
                         uint64_t divisors)
{
    found->part.matrix = (qp_matrix){.rank = 2, .rows = shape[0], .columns = shape[1]};
    const qp_format *known = format != NULL ? qp_format_find(format) : NULL;
    if (known != NULL &&
        qp_matrix_plan(known, NULL, shape, 2, divisors, &found->part.matrix, NULL) == QP_OK)
        found->part.encoding = known->name;
    found->part.elements = shape[0] * shape[1];
}

static bool compose_row_fp8(const qp_weight_source *source, const qp_artifact_tensor *weight,
                            composed *found)
{
    const qp_artifact_tensor *scale = sibling(source, weight->name, strlen(weight->name), "_scale");
    bool is_half = is_of(scale, "F16");
    if (!is_of(weight, "F8_E4M3") || !is_matrix(weight) ||
        (!is_of(scale, "BF16") && !is_of(scale, "F32") && !is_half))
        return false;
    if (values_in(scale) != weight->shape[0] && !has_one_value(scale))
        return false;
    found->name = weight->name;
    found->part.rules = &qp_weight_source_row_fp8;
    found->part.tensors = (qp_weight_source_tensors){weight, scale, NULL};
    set_encoding(found, is_half ? "fp8_e4m3fn_row_fp16" : "fp8_e4m3fn_row_bf16", weight->shape, 1);
    snprintf(found->type, sizeof found->type, "F8_E4M3 + %.16s", scale->type);
    return true;
}

static bool compose_block_fp8(const qp_weight_source *source, const qp_artifact_tensor *weight,
                              composed *found)
{
    const qp_artifact_tensor *scale =
        sibling(source, weight->name, strlen(weight->name), "_scale_inv");
    if (!is_of(weight, "F8_E4M3") || !is_matrix(weight) || scale == NULL || !is_matrix(scale) ||
        (!is_of(scale, "F32") && !is_of(scale, "BF16")))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t size = weight->shape[i], blocks = scale->shape[i];
        uint64_t block = blocks <= size ? block_of(size, blocks) : 0;
        if (block == 0 || size / block + (size % block != 0) != blocks)
            return false;
    }
    found->name = weight->name;
    found->part.rules = &qp_weight_source_block_fp8;
    found->part.tensors = (qp_weight_source_tensors){weight, scale, NULL};
    set_encoding(found, NULL, weight->shape, 1);
    snprintf(found->type, sizeof found->type, "F8_E4M3 + %.16s blocks", scale->type);
    return true;
}

static bool fits_nvfp4(const qp_artifact_tensor *codes, const qp_artifact_tensor *scale,
                       const qp_artifact_tensor *divisor)
{
    if (!is_of(codes, "U8") || !is_of(scale, "F8_E4M3") || !is_of(divisor, "F32") ||
        !is_matrix(codes) || !is_matrix(scale))
        return false;
    uint64_t count = values_in(divisor);
    return codes->shape[0] == scale->shape[0] && codes->shape[1] % 8 == 0 &&
           codes->shape[1] / 8 == scale->shape[1] && codes->shape[1] <= UINT64_MAX / 2 &&
           count > 0 && codes->shape[0] % count == 0;
}

static bool compose_nvfp4(const qp_weight_source *source, const qp_artifact_tensor *codes,
                          size_t length, const char *divisor_ending, composed *found)
{
    const qp_artifact_tensor *scale = sibling(source, codes->name, length, "_scale");
    const qp_artifact_tensor *divisor = sibling(source, codes->name, length, divisor_ending);
    if (!fits_nvfp4(codes, scale, divisor))
        return false;
    const uint64_t shape[2] = {codes->shape[0], codes->shape[1] * 2};
    found->part.rules = strcmp(divisor_ending, "_scale_2") == 0 ? &qp_weight_source_nvfp4_multiplier
                                                                : &qp_weight_source_nvfp4;
    found->part.tensors = (qp_weight_source_tensors){codes, scale, divisor};
    set_encoding(found, "nvfp4", shape, values_in(divisor));
    snprintf(found->type, sizeof found->type, "U8 + F8_E4M3 + F32");
    return true;
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t count = strlen(ending);
    return length > count && memcmp(text + length - count, ending, count) == 0;
}

/* Whether a matrix begins with this tensor. The name of a packed one is left for the caller. */
static bool compose(const qp_weight_source *source, const qp_artifact_tensor *tensor,
                    composed *found)
{
    size_t length = strlen(tensor->name);
    *found = (composed){.name = tensor->name};
    if (ends_with(tensor->name, length, "_packed") &&
        sibling(source, tensor->name, length - strlen("_packed"), "") == NULL &&
        compose_nvfp4(source, tensor, length - strlen("_packed"), "_global_scale", found)) {
        found->name = NULL;
        return true;
    }
    return compose_nvfp4(source, tensor, length, "_scale_2", found) ||
           compose_row_fp8(source, tensor, found) || compose_block_fp8(source, tensor, found);
}

/* ---- the list -------------------------------------------------------------------------------- */

static const char *copy_text(qp_arena *arena, const char *text, size_t length)
{
    char *copy = qp_arena_allocate(arena, length + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

static qp_status keep_composed(qp_weight_source *source, const composed *found,
                               qp_parameter *parameter, qp_error *error)
{
    const qp_weight_source_tensors *tensors = &found->part.tensors;
    const char *packed = tensors->main->name;
    parameter->name = found->name != NULL
                          ? found->name
                          : copy_text(&source->arena, packed, strlen(packed) - strlen("_packed"));
    parameter->type = copy_text(&source->arena, found->type, strlen(found->type));
    parameter->parts = qp_arena_allocate(&source->arena, 1, sizeof *parameter->parts);
    if (parameter->name == NULL || parameter->type == NULL || parameter->parts == NULL)
        return qp_fail_memory(error, "a parameter");
    parameter->parts[0] = found->part;
    parameter->n_parts = 1;
    parameter->rank = 2;
    parameter->shape[0] = found->part.matrix.rows;
    parameter->shape[1] = found->part.matrix.columns;
    qp_parameter_set_geometry(parameter);
    parameter->bytes = tensors->main->bytes + tensors->scales->bytes +
                       (tensors->divisor != NULL ? tensors->divisor->bytes : 0);
    return QP_OK;
}

/* Which tensors belong to a composed matrix that another one begins. */
static void mark_members(const qp_artifact_tensor *tensors, const composed *found, bool *taken)
{
    taken[found->part.tensors.scales - tensors] = true;
    if (found->part.tensors.divisor != NULL)
        taken[found->part.tensors.divisor - tensors] = true;
}

qp_status qp_weight_source_list_composed(qp_weight_source *source, qp_error *error)
{
    size_t count;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(source->artifact, &count);
    bool *taken = qp_arena_allocate(&source->arena, count, sizeof *taken);
    source->parameters = qp_arena_allocate(&source->arena, count, sizeof *source->parameters);
    if (taken == NULL || source->parameters == NULL)
        return qp_fail_memory(error, "the parameters of a file");

    composed found;
    for (size_t i = 0; i < count; i++) {
        if (compose(source, &tensors[i], &found))
            mark_members(tensors, &found, taken);
    }
    qp_status status = QP_OK;
    for (size_t i = 0; i < count && status == QP_OK; i++) {
        if (taken[i])
            continue;
        qp_parameter *parameter = &source->parameters[source->count++];
        if (compose(source, &tensors[i], &found))
            status = keep_composed(source, &found, parameter, error);
        else
            status = qp_weight_source_whole(source, &tensors[i], tensors[i].name, parameter, error);
    }
    return status;
}
