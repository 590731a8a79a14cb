/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit.c - the predicates P_l of integer-operators.md section 13.2 and the ranges X_l that follow:
 * how large a layer's input may be for every value it forms to fit.
 *
 * Every value is exact: c and k are below 2^32, a weight's magnitude is at most 2^15 and X at most
 * 2^63, so c·k·k·Wm·X·Mm is below 2^(3·32 + 15 + 63 + 63) = 2^237, and qp_bound holds 2^255.
 */
#include "lower/network.h"

_Static_assert(3 * 32 + 15 + 63 + 63 < QP_BOUND_POWER, "no value of a predicate saturates");

static qp_bound times(qp_bound a, qp_bound b)
{
    bool saturated = false;
    return qp_bound_mul(a, b, &saturated);
}

static qp_bound plus(qp_bound a, qp_bound b)
{
    bool saturated = false;
    return qp_bound_add(a, b, &saturated);
}

static qp_bound plus_one(qp_bound a)
{
    return plus(a, qp_bound_from_u64(1));
}

/* c·k·k·Wm·X <= I64 and floor(c·k·k·Wm·X·Mm / 2^shift) + 1 + Bm <= I64; one k in WAM1. */
static bool convolution_holds(const qp_network *network, const qp_layer *layer, qp_bound x)
{
    qp_bound k = qp_bound_from_u64(layer->k);
    qp_bound sum = times(qp_bound_from_u64(layer->c), k);
    if (!network->one_dimensional)
        sum = times(sum, k);
    sum = times(times(sum, qp_bound_from_u64(layer->weight_max)), x);
    if (!qp_bound_fits(&sum, 64))
        return false;
    qp_bound scaled =
        qp_bound_floor_shift(times(sum, qp_bound_from_u64(layer->mult_max)), network->shift);
    qp_bound y = plus(plus_one(scaled), qp_bound_from_u64(layer->bias_max));
    return qp_bound_fits(&y, 64);
}

/* G·X² <= I128, N = Bb + c·(floor(G·X² / 2^gf) + 1) <= I128, isqrt(N) <= I64 and
 * floor(X·isqrt(N) / 2^afrac) + 1 <= I64. */
static bool igdn_holds(const qp_network *network, const qp_layer *layer, qp_bound x)
{
    qp_bound term = times(qp_bound_from_u64(layer->weight_max), times(x, x));
    if (!qp_bound_fits(&term, 128))
        return false;
    term = plus_one(qp_bound_floor_shift(term, network->gf));
    qp_bound norm =
        plus(qp_bound_from_u64(layer->bias_max), times(qp_bound_from_u64(layer->c), term));
    if (!qp_bound_fits(&norm, 128))
        return false;
    qp_bound root = qp_bound_isqrt(norm);
    if (!qp_bound_fits(&root, 64))
        return false;
    qp_bound y = plus_one(qp_bound_floor_shift(times(x, root), network->afrac));
    return qp_bound_fits(&y, 64);
}

/* X·|slope_q| <= I64. */
static bool leaky_holds(const qp_layer *layer, qp_bound x)
{
    qp_bound product = times(x, qp_bound_abs(qp_bound_from_i64(layer->slope)));
    return qp_bound_fits(&product, 64);
}

bool qp_layer_holds(const qp_network *network, const qp_layer *layer, uint64_t x)
{
    qp_bound bound = qp_bound_from_u64(x);
    switch (layer->tag) {
    case QP_LAYER_TRANSPOSED:
    case QP_LAYER_CONV:
        return convolution_holds(network, layer, bound);
    case QP_LAYER_IGDN:
        return igdn_holds(network, layer, bound);
    case QP_LAYER_LEAKY:
        return leaky_holds(layer, bound);
    default:
        return true;
    }
}

bool qp_layer_limit(const qp_network *network, const qp_layer *layer, uint64_t *limit)
{
    uint64_t holds = 0, top = (uint64_t)1 << 63;

    if (!qp_layer_holds(network, layer, 0))
        return false;
    while (holds < top) {
        uint64_t middle = holds + (top - holds + 1) / 2;
        if (qp_layer_holds(network, layer, middle))
            holds = middle;
        else
            top = middle - 1;
    }
    *limit = holds;
    return true;
}
