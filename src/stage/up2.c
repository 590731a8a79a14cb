/* SPDX-License-Identifier: Apache-2.0 */
/* up2.c - up2_predict (E11): a picture of twice the resolution from the one below. */
#include "stage/stage.h"

qp_status qp_up2_check(const qp_samples *below, uint64_t d0, uint64_t d1, qp_error *error)
{
    if (d0 == 0 || d1 == 0)
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "a picture of no size");
    if (below->channels == 0 || below->height != d0 / 2 + d0 % 2 || below->width != d1 / 2 + d1 % 2)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "the picture below is not half of the one that is predicted");
    return QP_OK;
}

uint8_t qp_up2_at(const qp_samples *below, uint32_t c, uint64_t y, uint64_t x)
{
    qp_half_place at = {.y = (int64_t)(y >> 1),
                        .x = (int64_t)(x >> 1),
                        .fy = (unsigned)(y & 1),
                        .fx = (unsigned)(x & 1)};
    return qp_half_pel(below, c, at);
}

qp_status qp_up2_predict(const qp_samples *below, uint64_t d0, uint64_t d1, uint8_t *out,
                         qp_error *error)
{
    qp_status status = qp_up2_check(below, d0, d1, error);
    if (status != QP_OK)
        return status;
    for (uint32_t c = 0; c < below->channels; c++)
        for (uint64_t y = 0; y < d0; y++)
            for (uint64_t x = 0; x < d1; x++)
                *out++ = qp_up2_at(below, c, y, x);
    return QP_OK;
}
