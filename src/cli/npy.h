/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.h - integer arrays in NumPy's .npy form (numpy.lib.format, versions 1.0, 2.0 and 3.0).
 */
#ifndef QP_CLI_NPY_H
#define QP_CLI_NPY_H

#include "base/base.h"

#define QP_NPY_MAX_RANK 8

typedef enum qp_npy_type {
    QP_NPY_BOOL,
    QP_NPY_I8,
    QP_NPY_I16,
    QP_NPY_I32,
    QP_NPY_I64,
    QP_NPY_U8,
    QP_NPY_U16,
    QP_NPY_U32,
    QP_NPY_U64
} qp_npy_type;

typedef struct qp_npy_shape {
    unsigned rank; /* 0 to 8; rank 0 is one element */
    size_t sizes[QP_NPY_MAX_RANK];
} qp_npy_shape;

/* An array within the bytes of a file, in C order. */
typedef struct qp_npy {
    qp_npy_type type;
    bool big_endian;
    qp_npy_shape shape;
    size_t count;        /* the product of the sizes */
    const uint8_t *data; /* within the bytes given to qp_npy_read, not aligned */
    size_t data_offset;
} qp_npy;

/* Reads the head of a .npy file and checks that exactly its elements follow. Nothing is allocated;
 * the array is a view of `bytes`. Both byte orders are read. QP_MALFORMED with the offset for what
 * is no such file, holds other than integers and booleans, or is in Fortran order; QP_TOO_LARGE for
 * more than 8 dimensions or a product of dimensions that does not fit memory. */
qp_status qp_npy_read(const uint8_t *bytes, size_t size, qp_npy *array, qp_error *error);

/* Elements `first` to `first + count` as int64. QP_FIELD_RANGE, with record the index and the
 * offset, for an unsigned value above 2^63 - 1 or a boolean that is neither 0 nor 1;
 * QP_INVALID_ARGUMENT when the range passes the end. On failure `values` is partly written. */
qp_status qp_npy_elements(const qp_npy *array, size_t first, size_t count, int64_t *values,
                          qp_error *error);

/* Appends a whole .npy file of version 1.0, little-endian, byte for byte what numpy.save (1.23 and
 * later) writes. QP_FIELD_RANGE, with record the index, for a value that `type` does not hold;
 * QP_INVALID_ARGUMENT for a rank above 8; QP_NO_MEMORY. On failure the buffer's size is as it
 * was. */
qp_status qp_npy_write(qp_buffer *buffer, qp_npy_type type, const qp_npy_shape *shape,
                       const int64_t *values, qp_error *error);

/* ---- arrays of any numbers ---------------------------------------------------------------- */

/* An array whose elements are taken as bytes: floats too. */
typedef struct qp_npy_raw {
    char descr[8];  /* "<f4", "|u1" */
    unsigned width; /* bytes of an element */
    qp_npy_shape shape;
    size_t count;
    const uint8_t *data; /* within the bytes given to qp_npy_read_raw */
    size_t data_offset;
} qp_npy_raw;

/* The same as qp_npy_read for booleans, integers, floating-point and complex numbers of 1, 2, 4, 8
 * or 16 bytes. */
qp_status qp_npy_read_raw(const uint8_t *bytes, size_t size, qp_npy_raw *array, qp_error *error);

/* Appends the head alone, for elements of that descr to follow: what numpy.save writes. `shape` has
 * at most 8 dimensions. */
void qp_npy_append_head(qp_buffer *buffer, const char *descr, const qp_npy_shape *shape);

/* NumPy's name of a type: "int64", "uint8", "bool". */
const char *qp_npy_type_name(qp_npy_type type);
size_t qp_npy_type_size(qp_npy_type type);

#endif
