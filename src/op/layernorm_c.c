/* SPDX-License-Identifier: Apache-2.0 */
/* layernorm_c.c - normalisation over channels (integer-operators.md section 5.7, 0x18). */
#include "op/params.h"

enum { Q16 = 16 };

typedef struct layernorm_c_params {
    uint64_t epsilon;
    uint8_t g_bytes;
    qp_integers gamma, beta; /* [C] each */
} layernorm_c_params;

/* ---- parameters --------------------------------------------------------------------------- */

static unsigned channel_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)params;
    dims[0] = in_channels;
    return 1;
}

#define AT(member) offsetof(layernorm_c_params, member)
static const qp_field fields[] = {
    {.name = "epsilon", .kind = QP_FIELD_U64, .offset = AT(epsilon), .minimum = 1},
    {.name = "g_bytes", .kind = QP_FIELD_WIDTH, .offset = AT(g_bytes), .minimum = QP_WIDTHS_WIDE},
    {.kind = QP_FIELD_RESERVED, .minimum = 7},
    {.name = "gamma",
     .kind = QP_FIELD_INTEGERS,
     .offset = AT(gamma),
     .dims = channel_dims,
     .width_offset = AT(g_bytes)},
    {.name = "beta",
     .kind = QP_FIELD_INTEGERS,
     .offset = AT(beta),
     .dims = channel_dims,
     .width_offset = QP_FIXED_WIDTH(8)},
};
#undef AT

/* ---- bounds ------------------------------------------------------------------------------- */

static qp_interval symmetric(qp_bound magnitude)
{
    return (qp_interval){qp_bound_negate(magnitude), magnitude};
}

/* The rules of ln.S to ln.T, which need only C and the input's interval. */
static void bounds_of_sums(const qp_bounds_query *query, qp_bound spread, qp_node_bounds *bounds)
{
    bool *saturated = &bounds->saturated;
    qp_interval in = query->in[0];
    qp_bound zero = qp_bound_from_i64(0);
    qp_bound count = qp_bound_from_u64(query->in_channels);
    qp_bound half = qp_bound_from_u64(query->in_channels / 2);
    qp_interval sum = {qp_bound_mul(count, qp_bound_min(zero, in.lo), saturated),
                       qp_bound_mul(count, qp_bound_max(zero, in.hi), saturated)};
    qp_interval m = {qp_bound_sub(qp_bound_mul(count, in.lo, saturated), half, saturated),
                     qp_bound_add(qp_bound_mul(count, in.hi, saturated), half, saturated)};
    qp_bound square = qp_bound_mul(spread, spread, saturated);

    qp_bounds_record(bounds, QP_LN_S, sum);
    qp_bounds_record(bounds, QP_LN_M, m);
    qp_bounds_record(bounds, QP_LN_D, symmetric(spread));
    qp_bounds_record(bounds, QP_LN_T, (qp_interval){zero, qp_bound_mul(count, square, saturated)});
}

/* The largest |n_c| (lemma L1), and the interval rules between ln.v and ln.n. */
static qp_interval bounds_of_norm(const qp_bounds_query *query, qp_bound spread,
                                  qp_node_bounds *bounds)
{
    const layernorm_c_params *p = query->params;
    bool *saturated = &bounds->saturated;
    qp_bound epsilon = qp_bound_from_u64(p->epsilon), one = qp_bound_from_i64(1);
    qp_bound r0 = qp_bound_isqrt(epsilon);
    qp_bound numerator = qp_bound_power(32);
    qp_bound k = qp_bound_floor_divide(numerator, r0);
    qp_bound root = qp_bound_isqrt_ceil(qp_bound_from_u64(query->in_channels));
    qp_bound r0_next = qp_bound_add(r0, one, saturated);
    qp_bound dk = qp_bound_mul(spread, k, saturated);

    qp_bound square = qp_bound_mul(spread, spread, saturated);
    qp_interval v = {epsilon, qp_bound_add(square, epsilon, saturated)};

    /* ceil(isqrt_ceil(C)·2^32·(r0 + 1) / r0), as -floor(-a / r0) */
    qp_bound wide = qp_bound_mul(qp_bound_mul(root, numerator, saturated), r0_next, saturated);
    qp_bound ceiling = qp_bound_negate(qp_bound_floor_divide(qp_bound_negate(wide), r0));
    qp_bound n_wide =
        qp_bound_mul(qp_bound_mul(root, qp_bound_power(Q16), saturated), r0_next, saturated);
    qp_bound n_max = qp_bound_add(qp_bound_floor_divide(n_wide, r0), one, saturated);
    qp_bound n_direct = qp_bound_add(qp_bound_floor_shift(dk, Q16), one, saturated);
    qp_interval n = symmetric(qp_bound_min(n_direct, n_max));

    qp_bounds_record(bounds, QP_LN_V, v);
    qp_bounds_record(bounds, QP_RSQ_NUM, (qp_interval){numerator, numerator});
    qp_bounds_record(bounds, QP_LN_K, (qp_interval){qp_bound_from_i64(0), k});
    qp_bounds_record(bounds, QP_LN_DK, symmetric(qp_bound_min(dk, ceiling)));
    qp_bounds_record(bounds, QP_LN_N, n);
    return n;
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const layernorm_c_params *p = query->params;
    bool *saturated = &bounds->saturated;
    qp_bound spread = qp_bound_sub(query->in[0].hi, query->in[0].lo, saturated);

    bounds_of_sums(query, spread, bounds);
    qp_interval n = bounds_of_norm(query, spread, bounds);
    for (uint32_t c = 0; c < query->in_channels; c++) {
        int64_t gamma = qp_integers_at(&p->gamma, c), beta = qp_integers_at(&p->beta, c);
        qp_interval ng = qp_interval_corners(n, qp_interval_of(gamma, gamma), saturated);
        qp_interval y = qp_interval_add(qp_interval_floor_shift(ng, Q16),
                                        qp_interval_of(beta, beta), saturated);
        qp_bounds_record(bounds, QP_LN_NG, ng);
        qp_bounds_result(bounds, 0, y);
    }
}

/* ---- evaluation --------------------------------------------------------------------------- */

/* Scratch: the channel values of one position. */
static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    (void)out;
    return plan->in[0].channels;
}

/* trunc((S + floor(C/2)·sgn(S)) / C); the mean lies within the input's interval. */
static int64_t mean(const qp_evaluation *e, const int64_t *x)
{
    uint32_t channels = e->in[0].shape.channels;
    qp_i128 sum = qp_i128_from_i64(0);

    for (uint32_t c = 0; c < channels; c++) {
        sum = qp_i128_add(sum, qp_i128_from_i64(x[c]));
        QP_OBSERVE(e, QP_LN_S, sum);
    }
    bool negative = qp_i128_negative(sum);
    bool zero = qp_i128_low(sum) == 0 && qp_i128_high(sum) == 0;
    qp_i128 magnitude = negative ? qp_i128_negate(sum) : sum;
    if (!zero)
        magnitude = qp_i128_add(magnitude, qp_i128_from_u64(channels / 2));
    QP_OBSERVE(e, QP_LN_M, negative ? qp_i128_negate(magnitude) : magnitude);
    qp_i128 quotient = qp_i128_divide(magnitude, channels, NULL);
    return qp_i128_to_i64(negative ? qp_i128_negate(quotient) : quotient);
}

/* k = rsqrt_q16(floor(T / C) + epsilon) over the deviations d. */
static int64_t scale(const qp_evaluation *e, const int64_t *d)
{
    const layernorm_c_params *p = e->params;
    uint32_t channels = e->in[0].shape.channels;
    qp_i128 sum = qp_i128_from_i64(0);

    for (uint32_t c = 0; c < channels; c++) {
        sum = qp_i128_add(sum, qp_i128_mul_i64(d[c], d[c]));
        QP_OBSERVE(e, QP_LN_T, sum);
    }
    qp_i128 u = qp_i128_add(qp_i128_divide(sum, channels, NULL), qp_i128_from_u64(p->epsilon));
    int64_t k = qp_rsqrt_q16(u);
    QP_OBSERVE(e, QP_LN_V, u);
    QP_OBSERVE(e, QP_RSQ_NUM, qp_i128_from_u64((uint64_t)1 << 32));
    QP_OBSERVE_I64(e, QP_LN_K, k);
    return k;
}

static int64_t normalised(const qp_evaluation *e, int64_t d, int64_t k, uint32_t c)
{
    const layernorm_c_params *p = e->params;
    qp_i128 dk = qp_i128_mul_i64(d, k);
    int64_t n = qp_i128_to_i64(qp_i128_shift_right(dk, Q16));
    qp_i128 ng = qp_i128_mul_i64(n, qp_integers_at(&p->gamma, c));
    qp_i128 y =
        qp_i128_add(qp_i128_shift_right(ng, Q16), qp_i128_from_i64(qp_integers_at(&p->beta, c)));

    QP_OBSERVE(e, QP_LN_DK, dk);
    QP_OBSERVE_I64(e, QP_LN_N, n);
    QP_OBSERVE(e, QP_LN_NG, ng);
    return qp_i128_to_i64(y);
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *shape = &e->in[0].shape;
    size_t plane = (size_t)shape->height * shape->width;
    int64_t *d = e->scratch;

    for (size_t position = 0; position < plane; position++) {
        qp_tensor_load(&e->in[0], position, plane, shape->channels, d);
        int64_t m = mean(e, d);
        for (uint32_t c = 0; c < shape->channels; c++) {
            d[c] -= m;
            QP_OBSERVE_I64(e, QP_LN_D, d[c]);
        }
        int64_t k = scale(e, d);
        for (uint32_t c = 0; c < shape->channels; c++) {
            int64_t value = normalised(e, d[c], k, c);
            qp_status status = qp_emit(e, 0, c * plane + position, &value, 1);
            if (status != QP_OK)
                return status;
        }
    }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {
    QP_LN_S, QP_LN_M, QP_LN_D, QP_LN_T, QP_LN_V, QP_RSQ_NUM, QP_LN_K, QP_LN_DK, QP_LN_N, QP_LN_NG,
};

const qp_operator qp_operator_layernorm_c = {
    .opcode = 0x18,
    .name = "layernorm_c",
    .section = "5.7",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_NO,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(layernorm_c_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_INTERMEDIATE_COUNT,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .scratch = scratch,
    .evaluate = evaluate,
};
