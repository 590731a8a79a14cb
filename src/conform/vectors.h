/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors.h - the reference generator of conformance vectors (integer-operators.md section 14).
 */
#ifndef QP_CONFORM_VECTORS_H
#define QP_CONFORM_VECTORS_H

#include "base/base.h"

/* Takes one whole file; `path` lies below the conformance directory ("vectors/conv.jsonl"). */
typedef qp_status qp_vectors_sink(void *context, const char *path, const qp_buffer *bytes,
                                  qp_error *error);

/*
 * Gives every file to `sink`: the small sets of certificates/<capability>/ with their certificates
 * and graphs, certificates/whg1.jsonl, then graphs/ and vectors/ in the byte order of their paths,
 * then stage/ in that order, and npu.jsonl last. The bytes are the same on every machine
 * and every run. QP_INTERNAL where a case does not give what its author states of it; what the sink
 * refuses is passed on.
 */
qp_status qp_vectors_write(qp_vectors_sink *sink, void *context, const qp_allocator *allocator,
                           qp_error *error);

/* One file alone, but for npu.jsonl. QP_INVALID_ARGUMENT for another path. */
qp_status qp_vectors_file(const char *path, qp_buffer *lines, const qp_allocator *allocator,
                          qp_error *error);

#endif
