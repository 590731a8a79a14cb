/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - finding maps: templates and correspondences tried in a fixed order, every find
 * verified by mapping.h, with a bound on the work. A bound that was reached is never reported as
 * "no".
 */
#ifndef QP_FABRIC_SEARCH_H
#define QP_FABRIC_SEARCH_H

#include "fabric/mapping.h"

#define QP_FABRIC_SEARCH_WORK_DEFAULT UINT64_C(10000000)

typedef struct qp_fabric_search_bounds {
    uint64_t work; /* steps */
    size_t limit;  /* maps; 0 for all */
} qp_fabric_search_bounds;

/* What a search found. The maps are in `arena`; they name the model's graph and fabric. */
typedef struct qp_fabric_found {
    qp_fabric_search_end end;
    uint64_t work;
    size_t count;
    const qp_fabric_map_item *const *maps;
    const char *reason; /* with no map: the smallest reason; else "" */
} qp_fabric_found;

/* An operation that no unit has is refused first, by its name, whatever the bound. */
qp_status qp_fabric_find_maps(const qp_fabric_sealed *sealed, const qp_fabric_graph *graph,
                              qp_fabric_search_bounds bounds, qp_arena *arena,
                              qp_fabric_found *found, qp_fabric_error *error);

/* A found map in the text form, with the names of the model; realizations are r0, r1, .. The rows
 * of an actor lie together, in the order of the bindings, as in every found map. */
void qp_fabric_write_map(qp_buffer *buffer, const qp_fabric_model *model,
                         const qp_fabric_map_item *map, const char *name);

#endif
