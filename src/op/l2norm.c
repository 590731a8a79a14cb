/* SPDX-License-Identifier: Apache-2.0 */
/* l2norm.c - normalisation of each channel's plane (integer-operators.md section 5.7, 0x19). */
#include "op/op.h"

enum { Q16 = 16 };

typedef struct l2norm_params {
    uint64_t epsilon;
} l2norm_params;

static const qp_field fields[] = {
    {.name = "epsilon",
     .kind = QP_FIELD_U64,
     .offset = offsetof(l2norm_params, epsilon),
     .minimum = 1},
};

/* ---- bounds ------------------------------------------------------------------------------- */

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const l2norm_params *p = query->params;
    bool *saturated = &bounds->saturated;
    qp_bound epsilon = qp_bound_from_u64(p->epsilon), zero = qp_bound_from_i64(0);
    qp_bound length =
        qp_bound_from_u64((uint64_t)query->in_shapes[0].height * query->in_shapes[0].width);
    qp_bound x = qp_interval_magnitude(&query->in[0]);
    qp_bound total = qp_bound_mul(length, qp_bound_mul(x, x, saturated), saturated);
    qp_bound numerator = qp_bound_power(32);
    qp_bound k = qp_bound_floor_divide(numerator, qp_bound_isqrt(epsilon));

    qp_bounds_record(bounds, QP_L2_T, (qp_interval){zero, qp_bound_add(total, epsilon, saturated)});
    qp_bounds_record(bounds, QP_RSQ_NUM, (qp_interval){numerator, numerator});
    qp_bounds_record(bounds, QP_L2_K, (qp_interval){zero, k});
    /* lemma L2: |v·k| <= 2^32 */
    qp_bounds_record(bounds, QP_L2_VK, (qp_interval){qp_bound_negate(numerator), numerator});
    qp_bound one = qp_bound_power(Q16);
    qp_bounds_result(bounds, 0, (qp_interval){qp_bound_negate(one), one});
}

/* ---- evaluation --------------------------------------------------------------------------- */

static int64_t scale(const qp_evaluation *e, uint32_t channel, int64_t *row)
{
    const l2norm_params *p = e->params;
    const qp_shape *shape = &e->in[0].shape;
    qp_i128 sum = qp_i128_from_i64(0);

    for (uint32_t y = 0; y < shape->height; y++) {
        size_t start = ((size_t)channel * shape->height + y) * shape->width;
        qp_tensor_read(&e->in[0], start, shape->width, row);
        for (uint32_t x = 0; x < shape->width; x++) {
            sum = qp_i128_add(sum, qp_i128_mul_i64(row[x], row[x]));
            QP_OBSERVE(e, QP_L2_T, sum);
        }
    }
    qp_i128 u = qp_i128_add(sum, qp_i128_from_u64(p->epsilon));
    int64_t k = qp_rsqrt_q16(u);
    QP_OBSERVE(e, QP_L2_T, u);
    QP_OBSERVE(e, QP_RSQ_NUM, qp_i128_from_u64((uint64_t)1 << 32));
    QP_OBSERVE_I64(e, QP_L2_K, k);
    return k;
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *shape = &e->in[0].shape;
    int64_t *row = e->scratch;

    for (uint32_t c = 0; c < shape->channels; c++) {
        int64_t k = scale(e, c, row);
        for (uint32_t y = 0; y < shape->height; y++) {
            size_t start = ((size_t)c * shape->height + y) * shape->width;
            qp_tensor_read(&e->in[0], start, shape->width, row);
            for (uint32_t x = 0; x < shape->width; x++) {
                int64_t vk = row[x] * k; /* within ±2^32 by lemma L2 */
                QP_OBSERVE_I64(e, QP_L2_VK, vk);
                row[x] = qp_floor_shift_i64(vk, Q16);
            }
            qp_status status = qp_emit(e, 0, start, row, shape->width);
            if (status != QP_OK)
                return status;
        }
    }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {QP_L2_T, QP_RSQ_NUM, QP_L2_K, QP_L2_VK};

const qp_operator qp_operator_l2norm = {
    .opcode = 0x19,
    .name = "l2norm",
    .section = "5.7",
    .n_in = 1,
    .n_out = 1,
    .needs_sizes = true,
    .npu = QP_NPU_NO,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(l2norm_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .scratch = qp_scratch_row,
    .evaluate = evaluate,
};
