/* SPDX-License-Identifier: Apache-2.0 */
/* graph_picture.h - a certified graph drawn as SVG for a page of HTML. */
#ifndef QP_CLI_GRAPH_PICTURE_H
#define QP_CLI_GRAPH_PICTURE_H

#include "bounds/bounds.h"

/* The operators that are the first to fail a profile; -1 for none. */
typedef struct qp_first_failures {
    int64_t node[2]; /* by profile */
} qp_first_failures;

/* Appends the picture, whose colours the page's style sheet gives by class; an operator's box links
 * to "#op-GRAPH-INDEX". *width is its width in pixels. QP_TOO_LARGE, with nothing appended, for a
 * graph too big to draw; QP_NO_MEMORY. */
qp_status qp_graph_picture(const qp_graph_bounds *bounds, size_t graph,
                           const qp_first_failures *failures, qp_buffer *page, int32_t *width);

#endif
