/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.c - bucket (E3): from a scale to the index of its table, by comparisons only. */
#include "stage/stage.h"

qp_status qp_bucket_check(qp_integer_list edges, qp_bucket_rule rule, qp_error *error)
{
    if (edges.count == 0)
        return qp_fail(error, QP_MODEL_MISMATCH, "a bucket without an edge");
    for (size_t i = 1; rule == QP_BUCKET_FLOOR && i < edges.count; i++)
        if (edges.values[i] < edges.values[i - 1])
            return qp_fail(error, QP_MODEL_MISMATCH, "the edges of a floor bucket decrease at %zu",
                           i);
    return QP_OK;
}

size_t qp_bucket(int64_t sigma, qp_integer_list edges, qp_bucket_rule rule)
{
    size_t count = 0;
    if (rule == QP_BUCKET_FLOOR) {
        for (size_t i = 0; i < edges.count; i++)
            count += edges.values[i] <= sigma;
        return count;
    }
    /* the last edge is never compared; the edges may stand in any order */
    int64_t raised = qp_max_i64(sigma, edges.values[0]);
    for (size_t i = 0; i + 1 < edges.count; i++)
        count += raised <= edges.values[i];
    return edges.count - 1 - count;
}
