/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_reason.h - the smallest reason why a graph has no map on a fabric.
 */
#ifndef QP_FABRIC_SEARCH_REASON_H
#define QP_FABRIC_SEARCH_REASON_H

#include "fabric/finder.h"

/* What is wrong before any search, and would be whatever its bound: an operation that no unit has,
 * an actor that no op admits, too few ops. `*reason` is "" where nothing is. */
qp_status qp_fabric_first_reason(const qp_fabric_finder *f, qp_arena *arena, const char **reason,
                                 qp_fabric_error *error);

/* Behind a walk that ended without a cover: an actor that no template realizes, too few occurrences
 * and contexts, or what is left. With no work left it says that, and no more. */
qp_status qp_fabric_last_reason(qp_fabric_finder *f, qp_arena *arena, const char **reason,
                                qp_fabric_error *error);

#endif
