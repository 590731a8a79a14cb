/* SPDX-License-Identifier: Apache-2.0 */
/* coding_order.c - coding_order (E13): raster and checkerboard. */
#include "stage/stage.h"

#define ELEMENTS_MAX ((uint64_t)1 << 26) /* the cap on a tensor (section 3) */

/* Columns of row `row` that the order takes. */
static uint32_t first_column(const qp_order_rule *rule, uint32_t row)
{
    if (rule->order == QP_ORDER_RASTER)
        return 0;
    return (row + (rule->anchor ? 0 : 1)) % 2;
}

static uint32_t column_step(const qp_order_rule *rule)
{
    return rule->order == QP_ORDER_RASTER ? 1 : 2;
}

static qp_status check_rule(const qp_order_rule *rule, qp_error *error)
{
    uint64_t elements = rule->channels;
    if ((unsigned)rule->order > QP_ORDER_CHECKERBOARD)
        return qp_fail(error, QP_MODEL_MISMATCH, "a coding order that there is not");
    if (rule->channels == 0 || rule->height == 0 || rule->width == 0)
        return qp_fail(error, QP_MODEL_MISMATCH, "a shape with a dimension of 0");
    if (!qp_mul_u64(elements, rule->height, &elements) ||
        !qp_mul_u64(elements, rule->width, &elements) || elements > ELEMENTS_MAX)
        return qp_fail(error, QP_TOO_LARGE, "an order over more than 2^26 elements");
    return QP_OK;
}

qp_status qp_coding_order_count(const qp_order_rule *rule, size_t *count, qp_error *error)
{
    qp_status status = check_rule(rule, error);
    if (status != QP_OK)
        return status;
    size_t plane = (size_t)rule->height * rule->width;
    size_t taken = plane; /* the even places of a plane are half of it, rounded up */
    if (rule->order == QP_ORDER_CHECKERBOARD)
        taken = rule->anchor ? plane - plane / 2 : plane / 2;
    *count = rule->channels * taken;
    return QP_OK;
}

qp_status qp_coding_order(const qp_order_rule *rule, uint32_t *indices, qp_error *error)
{
    qp_status status = check_rule(rule, error);
    uint32_t start = 0; /* of the row */
    if (status != QP_OK)
        return status;
    for (uint32_t c = 0; c < rule->channels; c++)
        for (uint32_t y = 0; y < rule->height; y++, start += rule->width)
            for (uint32_t x = first_column(rule, y); x < rule->width; x += column_step(rule))
                *indices++ = start + x;
    return QP_OK;
}
