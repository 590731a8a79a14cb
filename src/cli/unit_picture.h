/* SPDX-License-Identifier: Apache-2.0 */
/* unit_picture.h - a function unit drawn as SVG: alone, with a template, or with a map's actors. */
#ifndef QP_CLI_UNIT_PICTURE_H
#define QP_CLI_UNIT_PICTURE_H

#include "fabric/inventory.h"

typedef struct qp_unit_view {
    const qp_fabric_model *model;
    const qp_fabric_fu *fu;
    const char *title;
    const qp_fabric_derived *active;          /* NULL: nothing stands out */
    const qp_fabric_graph *graph;             /* with `realization`: its actors and values */
    const qp_fabric_realization *realization; /* NULL for none */
} qp_unit_view;

/* The style of all pictures, once a file. */
extern const char qp_unit_picture_style[];

/* Appends a group whose upper left corner is at (0, top); *width and *height are its size.
 * QP_TOO_LARGE, with nothing appended, for a unit too big to draw; QP_NO_MEMORY. */
qp_status qp_unit_picture(const qp_unit_view *view, int32_t top, qp_buffer *svg, int32_t *width,
                          int32_t *height);

#endif
