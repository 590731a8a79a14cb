/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.h - the untimed simulator of graphs: actors fire in any order until none can, over
 * unbounded queues. Dataflow of this kind is determinate, so the streams are the graph's meaning.
 */
#ifndef QP_FABRIC_GOLDEN_H
#define QP_FABRIC_GOLDEN_H

#include "fabric/streams.h"

/*
 * Runs until no actor can fire. `outputs` receives one stream an output, by `allocator`
 * (qp_fabric_stream_free, also after a failure). Invalid with the actor where a result is not
 * defined; Unsupported where `firings` were not enough (one counts 1, and 1 more for each further
 * group and each further word of a result), or where queues and outputs pass 128 MiB.
 */
qp_status qp_fabric_golden_run(const qp_fabric_model *model, const qp_fabric_graph *graph,
                               const qp_fabric_stream *inputs, uint64_t firings,
                               const qp_allocator *allocator, qp_fabric_stream *outputs,
                               qp_fabric_error *error);

#endif
