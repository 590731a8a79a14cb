/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - the registry of methods, and what several of them share (artifact-container.md
 * section 9).
 */
#ifndef QP_FORMAT_METHOD_H
#define QP_FORMAT_METHOD_H

#include "format/format.h"

/* The built-in methods: X(name) has a `const qp_method qp_method_NAME` in its own file. */
#define QP_METHODS(X)                                                                              \
    X(cast_direct)                                                                                 \
    X(grouped_absmax)                                                                              \
    X(grouped_search)                                                                              \
    X(fp8_row_maxabs)                                                                              \
    X(import_encoded)                                                                              \
    X(nvfp4_absmax)                                                                                \
    X(nvfp4_search)                                                                                \
    X(gguf_search)

#define QP_METHOD_EXTERN(name) extern const qp_method qp_method_##name;
QP_METHODS(QP_METHOD_EXTERN)
#undef QP_METHOD_EXTERN

/* For `prepare` of a method whose values must come from a floating-point source (section 9.1);
 * values decoded from an encoded source are ones. */
qp_status qp_method_needs_float(const qp_method_job *job, qp_error *error);

/* The refusal "source_not_finite" of a value that is NaN or infinite. */
qp_status qp_method_not_finite(uint64_t row, uint64_t column, float value, qp_error *error);

#endif
