/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_layout.h - where the parts of a graph stand in its picture: layers from top to bottom,
 * inputs above what reads them, and each tensor's way from its producer to its readers.
 */
#ifndef QP_CLI_GRAPH_LAYOUT_H
#define QP_CLI_GRAPH_LAYOUT_H

#include "graph/graph.h"

/* A picture is drawn of at most so many operators, and of so many boxes, bends included. */
enum { QP_LAYOUT_OPERATORS_MAX = 600, QP_LAYOUT_BOXES_MAX = 4000 };

/* A bend is where a tensor passes a layer on its way down. */
typedef enum qp_box_kind { QP_BOX_INPUT, QP_BOX_OPERATOR, QP_BOX_OUTPUT, QP_BOX_BEND } qp_box_kind;

typedef struct qp_box {
    qp_box_kind kind;
    uint32_t index;        /* of the input, operator or output; of the tensor for a bend */
    uint32_t layer, place; /* in its layer, from the left */
    int32_t x, width;      /* the middle */
} qp_box;

/* A piece of a tensor's way, from one layer to the next. */
typedef struct qp_link {
    uint32_t from, to; /* boxes */
    uint32_t tensor;
    uint32_t from_port, to_port; /* which output and input of the two */
} qp_link;

typedef struct qp_graph_layout {
    qp_arena arena;
    const qp_graph *graph;
    qp_box *boxes;
    uint32_t n_boxes;
    qp_link *links; /* in the order of their lower ends' layers */
    uint32_t n_links;
    uint32_t *first_link; /* of each layer; n_layers + 1 */
    uint32_t **layers;    /* the boxes of each layer from the left */
    uint32_t *layer_size;
    uint32_t n_layers;
    int32_t width;
} qp_graph_layout;

/* QP_OK, QP_NO_MEMORY, or QP_TOO_LARGE where a graph is too big for a picture. The graph must
 * outlive the layout. Ownership: qp_layout_free, whatever the outcome. */
qp_status qp_layout_make(const qp_graph *graph, qp_graph_layout *layout);
void qp_layout_free(qp_graph_layout *layout);

/* Where a link leaves its upper box and meets its lower one, from the left. */
int32_t qp_layout_leaves(const qp_graph_layout *layout, const qp_link *link);
int32_t qp_layout_meets(const qp_graph_layout *layout, const qp_link *link);

#endif
