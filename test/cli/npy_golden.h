/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_golden.h - files that numpy.save of NumPy 1.24.2 (Debian 12's python3-numpy, x86-64) wrote
 * by
 *
 *     f = io.BytesIO(); numpy.save(f, numpy.array(values, dtype).reshape(shape)); f.getvalue()
 *
 * for the types, shapes and values that stand beside each.
 */
#ifndef QP_TEST_NPY_GOLDEN_H
#define QP_TEST_NPY_GOLDEN_H

#include "cli/npy.h"

typedef struct npy_golden {
    qp_npy_type type;
    qp_npy_shape shape;
    int64_t values[12];
    size_t size;
    const char *bytes;
} npy_golden;

static const npy_golden npy_goldens[] = {
    {
        QP_NPY_I64,
        {2, {2, 3}},
        {0, -1, INT64_MAX, INT64_MIN, 1234567890123, -7},
        176,
        "\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), "
        "}                                                          \n\x00\x00\x00\x00"
        "\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
        "\x00\x00\x00\x00\x00\x00\x00\x80\xcb\x04\xfbq\x1f\x01\x00\x00\xf9\xff\xff\xff"
        "\xff\xff\xff\xff",
    },
    {
        QP_NPY_I32,
        {0, {0}},
        {-123456789},
        132,
        "\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (), }   "
        "                                                           \n\xeb"
        "2\xa4\xf8",
    },
    {
        QP_NPY_U8,
        {1, {0}},
        {0},
        128,
        "\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (0,), } "
        "                                                           \n",
    },
    {
        QP_NPY_I16,
        {1, {4}},
        {-32768, 32767, -1, 258},
        136,
        "\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (4,), } "
        "                                                           \n\x00\x80\xff\x7f"
        "\xff\xff\x02\x01",
    },
    {
        QP_NPY_BOOL,
        {2, {2, 2}},
        {0, 1, 1, 0},
        132,
        "\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), "
        "}                                                          \n\x00\x01\x01\x00",
    },
    {
        QP_NPY_U64,
        {1, {3}},
        {0, INT64_MAX, 65536},
        152,
        "\x93NUMPY\x01\x00v\x00{'descr': '<u8', 'fortran_order': False, 'shape': (3,), } "
        "                                                           \n\x00\x00\x00\x00"
        "\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x01\x00\x00\x00\x00\x00",
    },
    {
        QP_NPY_I8,
        {8, {1, 2, 1, 2, 1, 1, 1, 1}},
        {-128, 127, -1, 5},
        132,
        "\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2, 1"
        ", 2, 1, 1, 1, 1), }                                        \n\x80\x7f\xff\x05",
    },
    {
        QP_NPY_U32,
        {3, {3, 0, 2}},
        {0},
        128,
        "\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (3, 0, 2"
        "), }                                                       \n",
    },
    {
        QP_NPY_U16,
        {2, {12, 1}},
        {0, 5460, 10920, 16380, 21840, 27300, 32760, 38220, 43680, 49140, 54600, 60060},
        152,
        "\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (12, 1),"
        " }                                                         \n\x00\x00T\x15\xa8*"
        "\xfc\?PU\xa4j\xf8\x7fL\x95\xa0\xaa\xf4\xbfH\xd5\x9c\xea",
    },
};

#endif
