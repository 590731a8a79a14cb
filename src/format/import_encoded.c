/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_encoded.c - words of an encoded source, copied (artifact-container.md section 9.6).
 * Nothing is quantized again: the same format's words move as they are, and a few ggml blocks come
 * apart into codes and scales. What the words may be is checked afterwards, as for every method.
 */
#include "format/method.h"

#include <inttypes.h>

/* A kind of blocks that becomes a format of this registry: each block is one group. */
typedef struct block_source {
    const char *encoding; /* of the source */
    const char *format;   /* of the target */
    uint32_t columns;
    uint32_t bytes;
    uint32_t scale_offset;
    void (*codes)(const uint8_t *block, uint8_t *codes);
} block_source;

/* ---- blocks ------------------------------------------------------------------------------- */

/* ggml's Q8_0: the codes as they are. */
static void q8_0_codes(const uint8_t *block, uint8_t *codes)
{
    memcpy(codes, block + 2, 32);
}

/* Two bits an element, the first in the lowest bits; 0 to 3 mean -1 to 2. */
static void offset_codes(const uint8_t *packed, size_t count, uint8_t *codes)
{
    for (size_t j = 0; j < count; j++)
        codes[j] = (uint8_t)((packed[j / 4] >> (2 * (j % 4)) & 3) - 1);
}

static void q2_0_codes(const uint8_t *block, uint8_t *codes)
{
    offset_codes(block + 2, 64, codes);
}

/* ggml 142; the word 3 gives the code 2, which the check of ternary words refuses. */
static void ternary_142_codes(const uint8_t *block, uint8_t *codes)
{
    offset_codes(block + 2, 128, codes);
}

/* ggml 143: five ternary digits a byte, the most significant first, as the fraction byte / 256;
 * some bytes hold fewer. Runs of bytes are read digit by digit. */
static void ternary_143_codes(const uint8_t *block, uint8_t *codes)
{
    static const struct {
        uint8_t first, bytes, digits;
    } runs[3] = {{0, 16, 5}, {16, 8, 5}, {24, 2, 4}};
    static const uint8_t powers[5] = {1, 3, 9, 27, 81};

    for (size_t r = 0; r < 3; r++)
        for (size_t t = 0; t < runs[r].digits; t++)
            for (size_t i = 0; i < runs[r].bytes; i++) {
                uint32_t shifted = block[runs[r].first + i] * (uint32_t)powers[t] & 0xFFu;
                *codes++ = (uint8_t)((shifted * 3 >> 8) - 1);
            }
}

static const block_source blocks[] = {
    {"gguf_q8_0", "q8_g32_fp16", 32, 34, 0, q8_0_codes},
    {"gguf_q2_0", "q2_g64_fp16", 64, 18, 0, q2_0_codes},
    {"ggml_142", "t2_g128_fp16", 128, 34, 0, ternary_142_codes},
    {"ggml_143", "t2_g128_fp16", 128, 28, 26, ternary_143_codes},
};

static const block_source *blocks_of(const qp_method_job *job)
{
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        if (strcmp(blocks[i].encoding, job->encoding) == 0 &&
            strcmp(blocks[i].format, job->target->format->name) == 0)
            return &blocks[i];
    return NULL;
}

/* ---- the method --------------------------------------------------------------------------- */

static bool takes(const qp_format *format)
{
    return format->family != QP_FAMILY_DIRECT;
}

static bool unchanged(const qp_method_job *job)
{
    return strcmp(job->encoding, job->target->format->name) == 0;
}

static qp_status prepare(const qp_method_job *job, qp_error *error)
{
    const block_source *source = blocks_of(job);
    if (unchanged(job))
        return QP_OK;
    if (source == NULL)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "method_target", -1,
                             "words of %s are not words of %s: name a method that quantizes",
                             job->encoding, job->target->format->name);
    if (job->target->columns % source->columns != 0)
        return qp_fail_check(error, QP_GEOMETRY_MISMATCH, "geometry", -1,
                             "rows of %" PRIu64 " columns are not whole blocks of %" PRIu32,
                             job->target->columns, source->columns);
    return QP_OK;
}

static void copy(const qp_matrix *target, const qp_method_rows *rows)
{
    const qp_word_planes *from = &rows->encoded, *to = &rows->words;
    memcpy(to->codes, from->codes, (size_t)(rows->count * target->code_row_bytes));
    if (target->scale_row_bytes != 0)
        memcpy(to->scales, from->scales, (size_t)(rows->count * target->scale_row_bytes));
    if (target->format->family == QP_FAMILY_NVFP4)
        memcpy(to->divisors, from->divisors, (size_t)(4 * target->divisors));
}

static qp_status encode(const qp_method_job *job, const qp_method_rows *rows, qp_error *error)
{
    const block_source *source = blocks_of(job);
    (void)error;
    if (unchanged(job)) {
        copy(job->target, rows);
        return QP_OK;
    }
    const uint8_t *block = rows->encoded.codes;
    uint64_t count = rows->count * (job->target->columns / source->columns);
    for (uint64_t i = 0; i < count; i++, block += source->bytes) {
        source->codes(block, rows->words.codes + i * source->columns);
        memcpy(rows->words.scales + 2 * i, block + source->scale_offset, 2);
    }
    return QP_OK;
}

const qp_method qp_method_import_encoded = {
    .name = "import_encoded",
    .summary = "codes and scales of an encoded source, copied",
    .input = QP_INPUT_ENCODED,
    .targets = takes,
    .prepare = prepare,
    .encode = encode,
};
