/* SPDX-License-Identifier: Apache-2.0 */
/* info_coded.h - what quipu info says of a coded file (.qp) and of a trace. */
#ifndef QP_CLI_INFO_CODED_H
#define QP_CLI_INFO_CODED_H

#include "cli/info_weights.h"

/* "QPF1", or "trace", where the file begins as one; else NULL. */
const char *qp_info_coded_kind(const qp_file *file);
const char *qp_info_trace_kind(const qp_file *file);

/* Appends what is in the file, as text or as JSON members that begin with a comma. */
qp_status qp_info_coded(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                        qp_error *error);
/* A trace is read again by its path: standard input is refused. */
qp_status qp_info_trace(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                        qp_error *error);

#endif
