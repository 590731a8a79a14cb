/* SPDX-License-Identifier: Apache-2.0 */
/* scale_index.c - scale_index (E5). */
#include "stage/stage.h"

qp_status qp_scale_index(int64_t v, int64_t s, int64_t n, int64_t *index, qp_error *error)
{
    if (s < 0 || s > QP_SHIFT_MAX)
        return qp_fail(error, QP_MODEL_MISMATCH, "the shift of scale_index lies outside 0..127");
    if (n < 1)
        return qp_fail(error, QP_MODEL_MISMATCH, "scale_index has no scale to choose from");
    /* v + 2^126 fits i128, and the result is no larger than v in magnitude, so it fits i64 */
    qp_i128 rounded = qp_round_shift(qp_i128_from_i64(v), (unsigned)s, QP_ROUND_HALF_UP);
    *index = qp_clamp_i64(qp_i64_from_bits(qp_i128_low(rounded)), 0, n - 1);
    return QP_OK;
}
