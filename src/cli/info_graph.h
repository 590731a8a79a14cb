/* SPDX-License-Identifier: Apache-2.0 */
/* info_graph.h - what quipu info says of a WHG1 graph. */
#ifndef QP_CLI_INFO_GRAPH_H
#define QP_CLI_INFO_GRAPH_H

#include "cli/describe.h"

/* Appends the text, or the further members of a JSON object. Refuses a graph that does not load, or
 * that the bounds pass refuses. */
qp_status qp_info_graph(const qp_file *file, bool json, qp_buffer *text, qp_error *error);

#endif
