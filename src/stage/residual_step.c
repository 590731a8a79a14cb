/* SPDX-License-Identifier: Apache-2.0 */
/* residual_step.c - residual_step (E9) in both forms, and the encoder's choice of a residual. */
#include "stage/stage.h"

enum { Q_MAX = 65535 };

qp_status qp_residual_check(const qp_residual *residual, qp_error *error)
{
    if (residual->lo >= residual->hi)
        return qp_fail(error, QP_MODEL_MISMATCH, "the range of residual_step has lo not below hi");
    if (residual->q < 1 || residual->q > Q_MAX)
        return qp_fail(error, QP_MODEL_MISMATCH, "the q of residual_step lies outside 1..65535");
    return QP_OK;
}

/* The step for operands that meet the conditions. |r·q| < 2^47; where pred + r·q passes 64 bits it
 * passes hi, or lo, too. */
static int64_t step(const qp_residual *residual, int64_t pred, int64_t r)
{
    int64_t value;
    if (__builtin_add_overflow(pred, r * residual->q, &value))
        return r < 0 ? residual->lo : residual->hi;
    return qp_clamp_i64(value, residual->lo, residual->hi);
}

qp_status qp_residual_step(const qp_residual *residual, int64_t pred, int64_t r, int64_t *value,
                           qp_error *error)
{
    qp_status status = qp_residual_check(residual, error);
    if (status != QP_OK)
        return status;
    if (pred < residual->lo || pred > residual->hi)
        return qp_fail(error, QP_MODEL_MISMATCH, "a prediction outside [lo, hi]");
    if (r < INT32_MIN || r > INT32_MAX)
        return qp_fail(error, QP_MODEL_MISMATCH, "a residual that does not fit 32 bits");
    *value = step(residual, pred, r);
    return QP_OK;
}

/* 2·65535 bounds R·q, since R·q <= (hi - lo) + q. */
#define REACH (2 * Q_MAX) /* = 131070 */

int qp_residual_fits_i32(const qp_residual *residual)
{
    return residual->lo >= (int64_t)INT32_MIN + REACH && residual->hi <= INT32_MAX - REACH &&
           residual->hi - residual->lo <= Q_MAX;
}

int32_t qp_residual_step_i32(const qp_residual *residual, int32_t pred, int32_t r)
{
    int32_t q = (int32_t)residual->q, lo = (int32_t)residual->lo, hi = (int32_t)residual->hi;
    int32_t most = (hi - lo) / q + 1; /* R */
    int32_t kept = r < -most ? -most : r > most ? most : r;
    int32_t value = pred + kept * q; /* in [lo - 131070, hi + 131070] */
    return value < lo ? lo : value > hi ? hi : value;
}

/* ---- the encoder's side ------------------------------------------------------------------- */

int32_t qp_residual_choose(const qp_residual *residual, int64_t pred, int64_t target)
{
    uint64_t q = (uint64_t)residual->q;
    bool down = target < pred;
    uint64_t distance =
        down ? (uint64_t)pred - (uint64_t)target : (uint64_t)target - (uint64_t)pred;
    uint64_t steps = distance / q, left = distance % q;

    if (steps >= INT32_MAX)
        return down ? -INT32_MAX : INT32_MAX;
    /* one step more lies q - left beyond, or at the range's end where that comes first */
    uint64_t room = down ? (uint64_t)target - (uint64_t)residual->lo
                         : (uint64_t)residual->hi - (uint64_t)target;
    uint64_t beyond = q - left < room ? q - left : room;
    if (left > 0 && beyond < left)
        steps++;
    return down ? -(int32_t)steps : (int32_t)steps;
}
