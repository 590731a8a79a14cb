/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - files of sets and graphs spelled out field by field.
 */
#ifndef QP_TEST_LOWER_BYTES_H
#define QP_TEST_LOWER_BYTES_H

#include "base/base.h"
#include "quipu/quipu.h"
#include "support/test.h"

/* Integers of one width. */
#define PUT(b, width, ...)                                                                         \
    put_integers((b), (width), (const int64_t[]){__VA_ARGS__},                                     \
                 sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline void put_integers(qp_buffer *b, unsigned width, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(b, (uint64_t)values[i], width);
}

/* Magic, version 1 and 3 reserved. */
static inline void put_head(qp_buffer *b, const char *magic)
{
    qp_buffer_text(b, magic);
    PUT(b, 1, 1, 0, 0, 0);
}

/* ---- WHG1 --------------------------------------------------------------------------------- */

typedef struct graph_counts {
    int64_t tensors, operators, inputs, outputs, scalars;
} graph_counts;

static inline void put_graph_header(qp_buffer *b, graph_counts n)
{
    qp_buffer_text(b, "WHG1");
    PUT(b, 1, 1, 1, 0, 0);
    PUT(b, 4, n.tensors, n.operators);
    PUT(b, 2, n.inputs, n.outputs, n.scalars, 0);
    PUT(b, 4, 1 << 26, 0);
}

static inline void put_input(qp_buffer *b, int64_t tensor, int64_t max_h, int64_t max_w)
{
    PUT(b, 4, tensor, max_h, max_w, 0, 0, 0);
    PUT(b, 8, 0);
}

/* A tensor record without an exponent: policy 0 derived, 1 clamp, 2 check. */
static inline void put_tensor(qp_buffer *b, int64_t channels, int64_t policy, int64_t lo,
                              int64_t hi)
{
    PUT(b, 4, channels);
    PUT(b, 1, -128, policy, 0, 0);
    PUT(b, 8, lo, hi);
}

/* An operator of one input and one output, up to its parameters of `plen` bytes. */
static inline void put_operator(qp_buffer *b, int64_t opcode, int64_t in, int64_t out, int64_t plen)
{
    PUT(b, 1, opcode, 1, 1, 0);
    PUT(b, 4, in, out, plen);
}

/* ---- lowering ----------------------------------------------------------------------------- */

/* Lowers one file; *set may be NULL. */
static inline qp_status lower_file(const char *capability, const qp_buffer *file, qp_lowered **set,
                                   qp_error *error)
{
    qp_lower_options options = {.capability = capability};
    qp_member member = {"file", file->bytes, file->size};
    qp_lowered *made;
    qp_error ignored;
    qp_status status =
        qp_lower(&member, 1, &options, NULL, &made, error == NULL ? &ignored : error);
    if (set != NULL)
        *set = made;
    else
        qp_lowered_free(made);
    return status;
}

static inline void assert_graph(const qp_lowered *set, size_t index, const char *role,
                                const qp_buffer *expected)
{
    qp_lowered_role found = qp_lowered_at(set, index);
    assert_string_equal(found.name, role);
    assert_int_equal(found.size, expected->size);
    assert_memory_equal(found.bytes, expected->bytes, expected->size);
}

#endif
