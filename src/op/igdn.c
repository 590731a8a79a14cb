/* SPDX-License-Identifier: Apache-2.0 */
/* igdn.c - inverse generalised divisive normalisation (integer-operators.md section 5.7, 0x12). */
#include "op/params.h"
#include "op/rq.h"

typedef struct igdn_params {
    uint32_t gf, frac;
    uint8_t g_bytes;
    qp_integers gamma; /* [C][C], row i the output channel */
    qp_integers beta;  /* [C] */
} igdn_params;

/* ---- parameters --------------------------------------------------------------------------- */

static unsigned gamma_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)params;
    dims[0] = dims[1] = in_channels;
    return 2;
}

static unsigned beta_dims(const void *params, uint32_t in_channels, uint64_t dims[4])
{
    (void)params;
    dims[0] = in_channels;
    return 1;
}

#define AT(member) offsetof(igdn_params, member)
static const qp_field fields[] = {
    {.name = "gf", .kind = QP_FIELD_U32, .offset = AT(gf), .maximum = QP_SHIFT_MAX},
    {.name = "frac", .kind = QP_FIELD_U32, .offset = AT(frac), .maximum = QP_SHIFT_MAX},
    {.name = "g_bytes", .kind = QP_FIELD_WIDTH, .offset = AT(g_bytes), .minimum = QP_WIDTHS_WIDE},
    {.kind = QP_FIELD_RESERVED, .minimum = 7},
    {.name = "gamma",
     .kind = QP_FIELD_INTEGERS,
     .offset = AT(gamma),
     .dims = gamma_dims,
     .width_offset = AT(g_bytes)},
    {.name = "beta",
     .kind = QP_FIELD_INTEGERS,
     .offset = AT(beta),
     .dims = beta_dims,
     .width_offset = QP_FIXED_WIDTH(8)},
};
#undef AT

/* ---- bounds ------------------------------------------------------------------------------- */

static qp_interval square(qp_interval in, bool *saturated)
{
    qp_interval r = {qp_bound_mul(in.lo, in.lo, saturated), qp_bound_mul(in.hi, in.hi, saturated)};
    qp_bound greater = qp_bound_max(r.lo, r.hi), lesser = qp_bound_min(r.lo, r.hi);
    bool holds_zero = (in.lo.negative || qp_bound_is_zero(&in.lo)) && !in.hi.negative;
    return (qp_interval){holds_zero ? qp_bound_from_i64(0) : lesser, greater};
}

static qp_bound root_of_norm(qp_bound norm)
{
    return qp_bound_isqrt(qp_bound_max(qp_bound_from_i64(0), norm));
}

/* One output channel's partial sums of N and its final norm, on saturating integers. */
static qp_interval norms(const qp_bounds_query *query, uint32_t i, qp_interval x2,
                         qp_interval *norm, bool *saturated)
{
    const igdn_params *p = query->params;
    int64_t beta = qp_integers_at(&p->beta, i);
    qp_bound zero = qp_bound_from_i64(0);
    qp_interval final_norm = qp_interval_of(beta, beta);

    *norm = qp_interval_of(qp_min_i64(0, beta), qp_max_i64(0, beta));
    for (uint32_t j = 0; j < query->in_channels; j++) {
        int64_t gamma = qp_integers_at(&p->gamma, (size_t)i * query->in_channels + j);
        qp_interval gx2 = qp_interval_corners(qp_interval_of(gamma, gamma), x2, saturated);
        qp_interval term = qp_interval_floor_shift(gx2, p->gf);
        norm->lo = qp_bound_add(norm->lo, qp_bound_min(zero, term.lo), saturated);
        norm->hi = qp_bound_add(norm->hi, qp_bound_max(zero, term.hi), saturated);
        final_norm = qp_interval_add(final_norm, term, saturated);
    }
    return final_norm;
}

/* The same where 128-bit integers hold every value: x2 and a gamma have at most 90 bits together,
 * and 2^32 terms and a beta stay below 2^123. */
enum { NARROW_PRODUCT_BITS = 90 };

static qp_interval norms_narrow(const qp_bounds_query *query, uint32_t i, qp_narrow x2,
                                qp_interval *norm)
{
    const igdn_params *p = query->params;
    qp_i128 zero = qp_i128_from_i64(0), beta = qp_i128_from_i64(qp_integers_at(&p->beta, i));
    qp_i128 lo = qp_i128_min(zero, beta), hi = qp_i128_max(zero, beta);
    qp_i128 final_lo = beta, final_hi = beta;

    for (uint32_t j = 0; j < query->in_channels; j++) {
        int64_t gamma = qp_integers_at(&p->gamma, (size_t)i * query->in_channels + j);
        qp_i128 least = qp_i128_mul(gamma < 0 ? x2.hi : x2.lo, gamma);
        qp_i128 greatest = qp_i128_mul(gamma < 0 ? x2.lo : x2.hi, gamma);
        least = qp_i128_shift_right(least, p->gf);
        greatest = qp_i128_shift_right(greatest, p->gf);
        lo = qp_i128_add(lo, qp_i128_min(zero, least));
        hi = qp_i128_add(hi, qp_i128_max(zero, greatest));
        final_lo = qp_i128_add(final_lo, least);
        final_hi = qp_i128_add(final_hi, greatest);
    }
    *norm = qp_interval_of_i128(lo, hi);
    return qp_interval_of_i128(final_lo, final_hi);
}

/* What follows from one output channel's norms. */
static void bounds_of_channel(const qp_bounds_query *query, qp_interval norm,
                              qp_interval final_norm, qp_node_bounds *bounds)
{
    const igdn_params *p = query->params;
    qp_interval r = {root_of_norm(final_norm.lo), root_of_norm(final_norm.hi)};
    qp_interval xr = qp_interval_corners(query->in[0], r, &bounds->saturated);

    qp_bounds_record(bounds, QP_IGDN_N, norm);
    qp_bounds_record(bounds, QP_IGDN_R, r);
    qp_bounds_record(bounds, QP_IGDN_XR, xr);
    qp_bounds_result(bounds, 0, qp_interval_floor_shift(xr, p->frac));
}

static void bounds(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    const igdn_params *p = query->params;
    bool *saturated = &bounds->saturated;
    qp_interval x2 = square(query->in[0], saturated);
    qp_range gammas = qp_integers_range(&p->gamma, 0, p->gamma.count);
    /* a product is monotone in its gamma: the hull over all is that of the least and the greatest
     */
    qp_interval gx2 = qp_interval_corners(qp_interval_of(gammas.lo, gammas.hi), x2, saturated);
    qp_narrow narrow;
    bool is_narrow = qp_interval_fits(&gx2, NARROW_PRODUCT_BITS) && qp_narrow_from(&x2, &narrow);

    qp_bounds_record(bounds, QP_IGDN_X2, x2);
    qp_bounds_record(bounds, QP_IGDN_GX2, gx2);
    qp_bounds_record(bounds, QP_IGDN_TERM, qp_interval_floor_shift(gx2, p->gf));
    for (uint32_t i = 0; i < query->in_channels; i++) {
        qp_interval norm, final_norm = is_narrow ? norms_narrow(query, i, narrow, &norm)
                                                 : norms(query, i, x2, &norm, saturated);
        bounds_of_channel(query, norm, final_norm, bounds);
    }
    qp_bounds_condition_i32(bounds, QP_CONDITION_IGDN_GAMMA, gammas);
    qp_bounds_condition_shift(bounds, QP_CONDITION_IGDN_SHIFT, p->gf > p->frac ? p->gf : p->frac);
}

/* ---- evaluation --------------------------------------------------------------------------- */

/* Scratch: the channel values of one position. */
static uint64_t scratch(const qp_plan *plan, const qp_shape *out)
{
    (void)out;
    return plan->in[0].channels;
}

static int64_t normalised(const qp_evaluation *e, const int64_t *x, uint32_t i)
{
    const igdn_params *p = e->params;
    uint32_t channels = e->in[0].shape.channels;
    qp_i128 norm = qp_i128_from_i64(qp_integers_at(&p->beta, i));
    qp_i128 zero = qp_i128_from_i64(0);

    QP_OBSERVE(e, QP_IGDN_N, norm);
    for (uint32_t j = 0; j < channels; j++) {
        int64_t gamma = qp_integers_at(&p->gamma, (size_t)i * channels + j);
        qp_i128 x2 = qp_i128_mul_i64(x[j], x[j]);
        qp_i128 gx2 = qp_i128_mul(x2, gamma);
        qp_i128 term = qp_i128_shift_right(gx2, p->gf);
        norm = qp_i128_add(norm, term);
        QP_OBSERVE(e, QP_IGDN_X2, x2);
        QP_OBSERVE(e, QP_IGDN_GX2, gx2);
        QP_OBSERVE(e, QP_IGDN_TERM, term);
        QP_OBSERVE(e, QP_IGDN_N, norm);
    }
    int64_t r = (int64_t)qp_i128_isqrt(qp_i128_negative(norm) ? zero : norm); /* fits i64 */
    qp_i128 xr = qp_i128_mul_i64(x[i], r);
    QP_OBSERVE_I64(e, QP_IGDN_R, r);
    QP_OBSERVE(e, QP_IGDN_XR, xr);
    return qp_i128_to_i64(qp_i128_shift_right(xr, p->frac));
}

static qp_status evaluate(const qp_evaluation *e)
{
    const qp_shape *shape = &e->in[0].shape;
    size_t plane = (size_t)shape->height * shape->width;
    int64_t *x = e->scratch;

    for (size_t position = 0; position < plane; position++) {
        qp_tensor_load(&e->in[0], position, plane, shape->channels, x);
        for (uint32_t i = 0; i < shape->channels; i++) {
            int64_t value = normalised(e, x, i);
            qp_status status = qp_emit(e, 0, i * plane + position, &value, 1);
            if (status != QP_OK)
                return status;
        }
    }
    return QP_OK;
}

static const qp_intermediate intermediates[] = {QP_IGDN_X2, QP_IGDN_GX2, QP_IGDN_TERM,
                                                QP_IGDN_N,  QP_IGDN_R,   QP_IGDN_XR};

const qp_operator qp_operator_igdn = {
    .opcode = 0x12,
    .name = "igdn",
    .section = "5.7",
    .n_in = 1,
    .n_out = 1,
    .npu = QP_NPU_NO,
    .fields = fields,
    .n_fields = QP_COUNT(fields),
    .params_size = sizeof(igdn_params),
    .intermediates = intermediates,
    .n_intermediates = QP_COUNT(intermediates),
    .k_c = QP_IGDN_TERM,
    .channels = qp_channels_unchanged,
    .shape = qp_shape_unchanged,
    .bounds = bounds,
    .scratch = scratch,
    .evaluate = evaluate,
};
