/* SPDX-License-Identifier: Apache-2.0 */
/* block_stat.c - block_stat (E6): a rounded block sum, given to every position of its block. */
#include "stage/stage.h"

/* The positions of one block that lie in its plane. */
typedef struct block {
    size_t start; /* of its first element in the tensor */
    size_t height, width;
    size_t pitch; /* elements from row to row */
} block;

static qp_status check_rule(const qp_block_rule *rule, qp_error *error)
{
    if (rule->b < 1)
        return qp_fail(error, QP_MODEL_MISMATCH, "blocks of block_stat without a side");
    if (rule->s < 0 || rule->s > QP_SHIFT_MAX)
        return qp_fail(error, QP_MODEL_MISMATCH, "the shift of block_stat lies outside 0..127");
    if (rule->lo > rule->hi)
        return qp_fail(error, QP_MODEL_MISMATCH, "the range of block_stat has lo above hi");
    return QP_OK;
}

/* The sum of up to 2^26 values of 64 bits is below 2^89 in magnitude; with 2^126 added it still
 * fits i128. */
static int64_t block_value(const block *at, const qp_block_rule *rule, const int64_t *elements)
{
    qp_i128 sum = qp_i128_from_i64(0);
    for (size_t y = 0; y < at->height; y++)
        for (size_t x = 0; x < at->width; x++)
            sum = qp_i128_add(sum, qp_i128_from_i64(elements[at->start + y * at->pitch + x]));
    qp_i128 rounded = qp_round_shift(sum, (unsigned)rule->s, QP_ROUND_HALF_UP);
    if (qp_i128_compare(rounded, qp_i128_from_i64(rule->lo)) < 0)
        return rule->lo;
    if (qp_i128_compare(rounded, qp_i128_from_i64(rule->hi)) > 0)
        return rule->hi;
    return qp_i64_from_bits(qp_i128_low(rounded));
}

static void fill_block(const block *at, int64_t value, int64_t *elements)
{
    for (size_t y = 0; y < at->height; y++)
        for (size_t x = 0; x < at->width; x++)
            elements[at->start + y * at->pitch + x] = value;
}

static void plane_stat(const qp_array *x, size_t start, const qp_block_rule *rule, int64_t *out)
{
    size_t height = x->height, width = x->width;
    size_t side_y = (uint64_t)rule->b < height ? (size_t)rule->b : height;
    size_t side_x = (uint64_t)rule->b < width ? (size_t)rule->b : width;

    for (size_t top = 0; top < height; top += side_y)
        for (size_t left = 0; left < width; left += side_x) {
            block at = {.start = start + top * width + left,
                        .height = height - top < side_y ? height - top : side_y,
                        .width = width - left < side_x ? width - left : side_x,
                        .pitch = width};
            fill_block(&at, block_value(&at, rule, out), out);
        }
}

qp_status qp_block_stat(const qp_array *x, const qp_block_rule *rule, int64_t *out, qp_error *error)
{
    qp_status status = check_rule(rule, error);
    if (status != QP_OK)
        return status;
    size_t plane = (size_t)x->height * x->width;
    qp_array_read(x, 0, plane * x->channels, out);
    for (size_t c = 0; c < x->channels; c++)
        plane_stat(x, c * plane, rule, out);
    return QP_OK;
}
