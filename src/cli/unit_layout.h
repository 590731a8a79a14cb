/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_layout.h - where the parts of a function unit stand in its picture: layers from left to
 * right, ports at both ends, wires in right angles through the channels between the layers, and
 * what runs back to an earlier layer below all of them.
 */
#ifndef QP_CLI_UNIT_LAYOUT_H
#define QP_CLI_UNIT_LAYOUT_H

#include "fabric/model.h"

/* A picture is drawn of at most so many nodes and ports, wires, and boxes, bends included. */
enum { QP_UNIT_PARTS_MAX = 400, QP_UNIT_WIRES_MAX = 2000, QP_UNIT_BOXES_MAX = 4000 };

/* Distances, in pixels. Pins stand on a grid, so that what is nearly straight is straight. */
enum { QP_UNIT_GRID = 7, QP_UNIT_PIN = 14, QP_UNIT_TRACK = 7 };

typedef enum qp_unit_box_kind {
    QP_UNIT_INPUT,
    QP_UNIT_NODE,
    QP_UNIT_OUTPUT,
    QP_UNIT_BEND /* where a wire passes a layer */
} qp_unit_box_kind;

typedef struct qp_unit_box {
    qp_unit_box_kind kind;
    uint32_t index; /* of the input, node or output; of the net for a bend */
    uint32_t layer;
    uint32_t n_in, n_out;
    int32_t x, y, width, height;
} qp_unit_box;

/* All wires of one source: unit inputs first, then the nodes' outputs. */
typedef struct qp_unit_net {
    uint32_t box, pin;     /* its source */
    const uint32_t *sinks; /* their numbers */
    uint32_t n_sinks;
    uint32_t first_bend; /* a box; one for each layer up to `last_layer`, without it */
    uint32_t last_layer; /* the last one with a sink to the right; its own where there is none */
    int32_t lane;        /* how far below all boxes it runs back; -1 where it does not */
} qp_unit_net;

/* A wire, as the sink has it. */
typedef struct qp_unit_sink {
    uint32_t net;
    uint32_t box, pin;
    bool back; /* it lies in the source's layer or before */
} qp_unit_sink;

/* A net's vertical piece in the channel before a layer. */
typedef struct qp_unit_track {
    uint32_t net, channel; /* channel c lies between the layers c and c + 1 */
    int32_t x;
} qp_unit_track;

typedef struct qp_unit_layout {
    const qp_fabric_fu *fu;
    qp_unit_box *boxes; /* inputs, nodes, outputs, bends */
    uint32_t n_boxes;
    qp_unit_net *nets;
    uint32_t n_nets;
    qp_unit_sink *sinks; /* by the unit's number of the sink */
    qp_unit_track *tracks;
    uint32_t n_tracks;
    uint32_t n_layers;
    int32_t width, height; /* of everything, from 0 on */
    int32_t lanes_y;       /* of the first lane */
} qp_unit_layout;

/* QP_OK, QP_NO_MEMORY, or QP_TOO_LARGE for a unit too big for a picture. `widths` has the width of
 * each box: inputs, nodes, outputs. The arena lends everything. */
qp_status qp_unit_layout_make(const qp_fabric_fu *fu, const int32_t *widths, qp_arena *arena,
                              qp_unit_layout *layout);

/* The height of a pin. */
int32_t qp_unit_pin(const qp_unit_box *box, bool input, uint32_t pin);
/* The height of a net's lane. */
int32_t qp_unit_lane(const qp_unit_layout *layout, uint32_t net);
/* The bend of a net in a layer between its source's and its last. */
const qp_unit_box *qp_unit_bend(const qp_unit_layout *layout, uint32_t net, uint32_t layer);
/* The track of a net in a channel; NULL where it goes straight through or is not there. */
const qp_unit_track *qp_unit_track_of(const qp_unit_layout *layout, uint32_t net, uint32_t channel);

#endif
