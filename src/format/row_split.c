/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_split.c - row_split_k128_v1: the low bits of codes, their bits above four, and the scales in
 * three planes; rows are padded to a multiple of 128 columns (artifact-container.md section 7.2).
 *
 * The bytes of the groups of a row follow one another, and a group takes whole bytes, so a row of a
 * plane is one stream of lanes.
 */
#include "format/format.h"

enum { PAD_COLUMNS = 128 };

/* ---- lanes and bytes ---------------------------------------------------------------------- */

/* `lanes`, a multiple of 8, stored words to bytes, and back. Unpacking high bits adds them. */
typedef void lanes_function(const uint8_t *from, uint64_t lanes, uint8_t *to);

static void pack_2(const uint8_t *words, uint64_t lanes, uint8_t *bytes)
{
    for (uint64_t j = 0; j < lanes / 4; j++) {
        const uint8_t *w = words + 4 * j;
        bytes[j] = (uint8_t)((w[0] & 3u) | (w[1] & 3u) << 2 | (w[2] & 3u) << 4 | (w[3] & 3u) << 6);
    }
}

static void unpack_2(const uint8_t *bytes, uint64_t lanes, uint8_t *words)
{
    for (uint64_t j = 0; j < lanes / 4; j++)
        for (unsigned i = 0; i < 4; i++)
            words[4 * j + i] = (uint8_t)(bytes[j] >> 2 * i & 3u);
}

static void pack_4(const uint8_t *words, uint64_t lanes, uint8_t *bytes)
{
    for (uint64_t j = 0; j < lanes / 2; j++)
        bytes[j] = (uint8_t)((words[2 * j] & 15u) | (words[2 * j + 1] & 15u) << 4);
}

static void unpack_4(const uint8_t *bytes, uint64_t lanes, uint8_t *words)
{
    for (uint64_t j = 0; j < lanes / 2; j++) {
        words[2 * j] = bytes[j] & 15u;
        words[2 * j + 1] = (uint8_t)(bytes[j] >> 4);
    }
}

static void copy_8(const uint8_t *from, uint64_t lanes, uint8_t *to)
{
    memcpy(to, from, (size_t)lanes);
}

/* Bit 4 of eight words. */
static void pack_high_1(const uint8_t *words, uint64_t lanes, uint8_t *bytes)
{
    for (uint64_t j = 0; j < lanes / 8; j++) {
        unsigned byte = 0;
        for (unsigned i = 0; i < 8; i++)
            byte |= (words[8 * j + i] >> 4 & 1u) << i;
        bytes[j] = (uint8_t)byte;
    }
}

static void unpack_high_1(const uint8_t *bytes, uint64_t lanes, uint8_t *words)
{
    for (uint64_t j = 0; j < lanes / 8; j++)
        for (unsigned i = 0; i < 8; i++)
            words[8 * j + i] = (uint8_t)(words[8 * j + i] | (bytes[j] >> i & 1u) << 4);
}

/* Bits 4 and 5 of four words. */
static void pack_high_2(const uint8_t *words, uint64_t lanes, uint8_t *bytes)
{
    for (uint64_t j = 0; j < lanes / 4; j++) {
        const uint8_t *w = words + 4 * j;
        bytes[j] = (uint8_t)((w[0] >> 4 & 3u) | (w[1] >> 4 & 3u) << 2 | (w[2] >> 4 & 3u) << 4 |
                             (w[3] >> 4 & 3u) << 6);
    }
}

static void unpack_high_2(const uint8_t *bytes, uint64_t lanes, uint8_t *words)
{
    for (uint64_t j = 0; j < lanes / 4; j++)
        for (unsigned i = 0; i < 4; i++)
            words[4 * j + i] = (uint8_t)(words[4 * j + i] | (bytes[j] >> 2 * i & 3u) << 4);
}

/* How the words of one width lie in the planes. */
typedef struct width {
    uint32_t bits;      /* of a code */
    uint32_t low_bits;  /* in the base plane */
    uint32_t high_bits; /* in the high plane */
    lanes_function *pack_low, *unpack_low, *pack_high, *unpack_high;
} width;

static const width widths[] = {
    {2, 2, 0, pack_2, unpack_2, NULL, NULL},
    {4, 4, 0, pack_4, unpack_4, NULL, NULL},
    {5, 4, 1, pack_4, unpack_4, pack_high_1, unpack_high_1},
    {6, 4, 2, pack_4, unpack_4, pack_high_2, unpack_high_2},
    {8, 8, 0, copy_8, copy_8, NULL, NULL},
};

static const width *width_of(const qp_format *format)
{
    const width *w = widths;
    while (w->bits != format->code_bits)
        w++;
    return w;
}

/* ---- geometry ----------------------------------------------------------------------------- */

static bool takes(const qp_format *format)
{
    return format->family == QP_FAMILY_GROUPED;
}

static uint64_t padded_columns(const qp_matrix *matrix)
{
    return matrix->columns + (PAD_COLUMNS - matrix->columns % PAD_COLUMNS) % PAD_COLUMNS;
}

static uint64_t stored_scale_row_bytes(const qp_matrix *matrix)
{
    return 2 * (padded_columns(matrix) / matrix->format->group);
}

static qp_status plan(qp_matrix *matrix, qp_error *error)
{
    const width *w = width_of(matrix->format);
    qp_span *base = &matrix->planes[0], *high = &matrix->planes[1], *scales = &matrix->planes[2];
    uint64_t padded, high_end;

    qp_status status = qp_layout_rank_two(matrix, error);
    if (status != QP_OK)
        return status;
    if (!qp_layout_align(matrix->columns, PAD_COLUMNS, &padded) ||
        !qp_mul_u64(matrix->rows, padded / 8 * w->low_bits, &base->size) ||
        !qp_mul_u64(matrix->rows, padded / 8 * w->high_bits, &high->size) ||
        !qp_mul_u64(matrix->rows, stored_scale_row_bytes(matrix), &scales->size) ||
        !qp_layout_align(base->size, 256, &high->offset) ||
        !qp_layout_align(high->size, 256, &high_end) ||
        !qp_add_u64(high->offset, high_end, &scales->offset) ||
        !qp_add_u64(scales->offset, scales->size, &matrix->bytes))
        return qp_layout_too_large(matrix, error);
    return QP_OK;
}

/* ---- words -------------------------------------------------------------------------------- */

/* The stored words of `lanes` lanes of a row from `column`, a multiple of 8. */
static void unpack_lanes(const qp_matrix *matrix, const qp_rows *rows, uint64_t row,
                         uint64_t column, uint64_t lanes, uint8_t *words)
{
    const width *w = width_of(matrix->format);
    uint64_t lane = row * padded_columns(matrix) + column;
    w->unpack_low(rows->planes[0] + lane / 8 * w->low_bits, lanes, words);
    if (w->unpack_high != NULL)
        w->unpack_high(rows->planes[1] + lane / 8 * w->high_bits, lanes, words);
}

static void piece_of(const qp_matrix *matrix, const qp_rows *rows, uint64_t row, uint64_t column,
                     qp_piece *piece)
{
    const qp_format *format = matrix->format;
    uint64_t padded = padded_columns(matrix) - column, rest = matrix->columns - column;
    uint64_t lanes = padded < QP_PIECE_COLUMNS ? padded : QP_PIECE_COLUMNS;
    uint8_t bias = format->rules->code_bias;
    uint8_t sign = bias != 0 ? 0 : (uint8_t)(1u << (format->code_bits - 1)); /* two's complement */

    unpack_lanes(matrix, rows, row, column, lanes, piece->codes);
    for (uint64_t i = 0; i < lanes; i++)
        piece->codes[i] = (uint8_t)((piece->codes[i] ^ sign) - sign - bias);
    piece->words.codes = piece->codes;
    piece->words.scales =
        rows->planes[2] + row * stored_scale_row_bytes(matrix) + 2 * (column / format->group);
    piece->columns = rest < lanes ? rest : lanes;
}

/* Codes of one row, padded with code 0, to the two planes. */
static void pack_codes(const qp_matrix *matrix, const uint8_t *codes, uint8_t *low, uint8_t *high)
{
    const width *w = width_of(matrix->format);
    uint8_t bias = matrix->format->rules->code_bias;
    uint64_t padded = padded_columns(matrix);

    for (uint64_t column = 0; column < padded; column += QP_PIECE_COLUMNS) {
        uint8_t words[QP_PIECE_COLUMNS];
        uint64_t lanes = padded - column < QP_PIECE_COLUMNS ? padded - column : QP_PIECE_COLUMNS;
        uint64_t rest = matrix->columns - column;
        uint64_t codes_here = rest < lanes ? rest : lanes;
        for (uint64_t i = 0; i < codes_here; i++)
            words[i] = (uint8_t)(codes[column + i] + bias);
        memset(words + codes_here, bias, (size_t)(lanes - codes_here));
        w->pack_low(words, lanes, low + column / 8 * w->low_bits);
        if (w->pack_high != NULL)
            w->pack_high(words, lanes, high + column / 8 * w->high_bits);
    }
}

static void pack(const qp_matrix *matrix, uint64_t first, uint64_t count,
                 const qp_word_planes *words, uint8_t *const planes[QP_PLANES])
{
    const width *w = width_of(matrix->format);
    uint64_t lane_bytes = padded_columns(matrix) / 8;
    uint64_t stored = stored_scale_row_bytes(matrix), logical = matrix->scale_row_bytes;
    (void)first;

    for (uint64_t n = 0; n < count; n++) {
        uint8_t *high = w->high_bits == 0 ? NULL : planes[1] + n * (lane_bytes * w->high_bits);
        uint8_t *scales = planes[2] + n * stored;
        pack_codes(matrix, words->codes + n * matrix->columns,
                   planes[0] + n * (lane_bytes * w->low_bits), high);
        memcpy(scales, words->scales + n * logical, (size_t)logical);
        memset(scales + logical, 0, (size_t)(stored - logical));
    }
}

/* ---- padding ------------------------------------------------------------------------------ */

static qp_status padding_fault(const qp_rows *rows, uint64_t row, uint64_t column, const char *what,
                               qp_error *error)
{
    qp_element_place place = {qp_to_i64(rows->first + row), qp_to_i64(column)};
    return qp_fail_element(error, QP_MALFORMED, "padding_invalid", place,
                           "the padding at the end of a row holds %s", what);
}

static qp_status check_row_padding(const qp_matrix *matrix, const qp_rows *rows, uint64_t row,
                                   qp_error *error)
{
    uint64_t chunk = matrix->columns / PAD_COLUMNS * PAD_COLUMNS;
    uint64_t stored = stored_scale_row_bytes(matrix);
    uint8_t words[PAD_COLUMNS];

    unpack_lanes(matrix, rows, row, chunk, PAD_COLUMNS, words);
    for (uint64_t i = matrix->columns - chunk; i < PAD_COLUMNS; i++)
        if (words[i] != matrix->format->rules->code_bias)
            return padding_fault(rows, row, chunk + i, "a code that is not zero", error);
    for (uint64_t byte = matrix->scale_row_bytes; byte < stored; byte++)
        if (rows->planes[2][row * stored + byte] != 0)
            return padding_fault(rows, row, byte / 2 * matrix->format->group,
                                 "a scale that is not zero", error);
    return QP_OK;
}

static qp_status check_padding(const qp_matrix *matrix, const qp_rows *rows, qp_error *error)
{
    if (matrix->columns % PAD_COLUMNS == 0)
        return QP_OK;
    for (uint64_t row = 0; row < rows->count; row++) {
        qp_status status = check_row_padding(matrix, rows, row, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

const struct qp_layout_rules qp_row_split_rules = {
    takes, plan, qp_layout_spans_of_rows, piece_of, pack, check_padding,
};
