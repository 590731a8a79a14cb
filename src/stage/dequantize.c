/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize.c - dequantize (E2). */
#include "stage/stage.h"

enum { F_MAX = 62 };

qp_status qp_dequantize(int64_t sym, int64_t f, int64_t base, int64_t *value, qp_error *error)
{
    if (f < 0 || f > F_MAX)
        return qp_fail_at(error, QP_FIELD_RANGE, qp_at(0), "f lies outside 0..62");
    /* |sym·2^f| <= 2^125, so the sum fits i128 */
    qp_i128 product = qp_i128_shift_left(qp_i128_from_i64(sym), (unsigned)f);
    qp_i128 sum = qp_i128_add(product, qp_i128_from_i64(base));
    int64_t low = qp_i64_from_bits(qp_i128_low(sum));
    if (qp_i128_compare(sum, qp_i128_from_i64(low)) != 0)
        return qp_fail_at(error, QP_FIELD_RANGE, qp_at(0), "the value does not fit 64 bits");
    *value = low;
    return QP_OK;
}
