/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.h - WHM1 and WAM1 networks (integer-operators.md sections 13.2 and 13.3): their layers as
 * the file gives them, the ranges that keep each exact, and their graphs.
 */
#ifndef QP_LOWER_NETWORK_H
#define QP_LOWER_NETWORK_H

#include "lower/build.h"
#include "lower/cursor.h"
#include "lower/entropy.h"

/* The tags of a layer. */
enum {
    QP_LAYER_TRANSPOSED = 0,
    QP_LAYER_CONV = 1,
    QP_LAYER_IGDN = 2,
    QP_LAYER_RELU = 3,
    QP_LAYER_LEAKY = 4
};

/* A layer; its arrays lie in the file. */
typedef struct qp_layer {
    uint8_t tag;
    size_t offset; /* in the member */
    uint32_t c, out, k, stride, pad, opad;
    qp_integers weights, mult, bias;         /* of igdn: gamma, none, beta */
    uint64_t weight_max, mult_max, bias_max; /* their largest magnitudes */
    int64_t slope;                           /* of leaky */
    uint32_t slope_frac;
} qp_layer;

typedef struct qp_network {
    bool one_dimensional; /* WAM1: [C, 1, T] */
    uint32_t afrac, gf, shift;
    uint32_t n_layers;
    qp_layer *layers;
    uint32_t in_channels, out_channels;
} qp_network;

/* Reads a whole network, with the load checks that need no certificate. Ownership:
 * qp_network_free. */
qp_status qp_network_read(qp_lower_job *job, qp_cursor *cursor, const char *magic,
                          qp_network *network);
void qp_network_free(const qp_lower_job *job, qp_network *network);

/* X of a layer of tag 0, 1, 2 or 4 (section 13.2): the largest X in [0, 2^63] for which its
 * predicate holds; false where it fails at 0. */
bool qp_layer_limit(const qp_network *network, const qp_layer *layer, uint64_t *limit);
/* The predicate itself. */
bool qp_layer_holds(const qp_network *network, const qp_layer *layer, uint64_t x);

/* The range check of tensor x_l, for l in 0 .. n_layers; `graph_input` for the network's input
 * where it is one. A set whose predicate fails at 0 is refused. */
qp_status qp_network_limits(qp_lower_job *job, const qp_network *network, uint32_t l,
                            bool graph_input, qp_limits *limits);

/* Appends the layers that read `x`, which is tensor x_0; *x becomes the last layer's output. */
qp_status qp_network_build(qp_lower_job *job, const qp_network *network, qp_build *build,
                           qp_value *x);

/* The RGB8 step of section 13.0. */
void qp_network_rgb8(const qp_network *network, qp_build *build, qp_value *x);

/* Reads a network and appends its graph to the set; `rgb8` with that step. The afrac of the network
 * goes to *afrac where that is not NULL. */
qp_status qp_network_role(qp_lower_job *job, qp_cursor *cursor, const char *role, bool rgb8,
                          uint32_t *afrac);

#endif
