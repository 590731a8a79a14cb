/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_encode.c - the method gguf_search: values to ggml's blocks of least squared error, weighted
 * by an importance where one is given.
 */
#include "format/gguf_encode.h"

#include "format/method.h"
#include "number/minifloat.h"

#include <inttypes.h>

static const qp_gguf_encoder_set *const sets[] = {
#if defined(QP_GGUF_ENCODE_X86)
    &qp_gguf_encoders_avx512,
    &qp_gguf_encoders_avx2,
#endif
    &qp_gguf_encoders_plain,
};

const qp_gguf_encoder_set *qp_gguf_encoder_set_at(size_t index)
{
    return index < sizeof sets / sizeof *sets ? sets[index] : NULL;
}

const qp_gguf_encoder *qp_gguf_encoder_find(const qp_gguf_encoder_set *set, const char *format)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->rows[i].format, format) == 0)
            return &set->rows[i];
    return NULL;
}

static bool targets(const qp_format *format)
{
    return format->family == QP_FAMILY_GGUF &&
           qp_gguf_encoder_find(&qp_gguf_encoders_plain, format->name) != NULL;
}

/* ---- refusals ----------------------------------------------------------------------------- */

/* The largest magnitude of a block, as bits, which order magnitudes as numbers do: NaN above
 * infinity above all others. Gives the first column that has it, or the first that is not finite.
 */
static uint32_t worst_of(const float *values, uint32_t count, uint32_t *column)
{
    uint32_t worst = 0;
    *column = 0;
    for (uint32_t i = 0; i < count && qp_f32_bits_finite(worst); i++) {
        uint32_t magnitude = qp_bits_of_float(values[i]) & 0x7FFFFFFFu;
        if (magnitude > worst) {
            worst = magnitude;
            *column = i;
        }
    }
    return worst;
}

static qp_status refuse_block(const qp_method_job *job, const qp_method_rows *rows, uint64_t block,
                              qp_error *error)
{
    const qp_format *format = job->target->format;
    uint64_t a_row = job->target->columns / format->group;
    const float *values = rows->values + block * format->group;
    uint32_t at;
    uint32_t worst = worst_of(values, format->group, &at);
    uint64_t row = rows->first + block / a_row, column = block % a_row * format->group + at;
    if (!qp_f32_bits_finite(worst))
        return qp_method_not_finite(row, column, values[at], error);
    return qp_fail_element(error, QP_FIELD_RANGE, "scale_not_finite",
                           (qp_element_place){(int64_t)row, (int64_t)column},
                           "the value %g at row %" PRIu64 ", column %" PRIu64
                           " is too large for %s: its scale passes binary16",
                           (double)values[at], row, column, format->name);
}

/* ---- tiles -------------------------------------------------------------------------------- */

/* The tile of `count` blocks from `first` on, counted over all rows of the chunk. */
static qp_gguf_tile tile_at(const qp_method_job *job, const qp_method_rows *rows, uint64_t first,
                            unsigned count)
{
    const qp_format *format = job->target->format;
    uint64_t a_row = job->target->columns / format->group;
    qp_gguf_tile tile = {.count = count, .weighted = job->importance != NULL};
    for (unsigned l = 0; l < QP_GGUF_LANES_MAX; l++) {
        uint64_t block = first + (l < count ? l : count - 1);
        tile.values[l] = rows->values + block * format->group;
        tile.blocks[l] = rows->words.codes + block * format->group_bytes;
        if (tile.weighted)
            tile.weights[l] = job->importance + block % a_row * format->group;
    }
    return tile;
}

static qp_status encode(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    const qp_matrix *target = job->target;
    const qp_gguf_encoder_set *const *set = sets;
    while (((*set)->cpu & ~job->cpu) != 0)
        set++; /* the last needs nothing */
    const qp_gguf_encoder *encoder = qp_gguf_encoder_find(*set, target->format->name);
    uint64_t blocks = rows->count * (target->columns / target->format->group);
    for (uint64_t first = 0; first < blocks; first += (*set)->lanes) {
        uint64_t rest = blocks - first;
        unsigned count = rest < (*set)->lanes ? (unsigned)rest : (*set)->lanes;
        qp_gguf_tile tile = tile_at(job, rows, first, count);
        unsigned done = encoder->encode(&tile);
        if (done < count)
            return refuse_block(job, rows, first + done, error);
    }
    return QP_OK;
}

const qp_method qp_method_gguf_search = {
    .name = "gguf_search",
    .summary = "searches ggml's blocks for the least (weighted) squared error",
    .input = QP_INPUT_VALUES,
    .takes_importance = true,
    .targets = targets,
    .prepare = qp_method_needs_float,
    .encode = encode,
};
