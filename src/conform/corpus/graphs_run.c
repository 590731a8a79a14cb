/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus/graphs_run.c - decodes refused at each step of a run (section 4), each alone and where two
 * apply, so that the order shows.
 */
#include "conform/corpus/parts.h"

/* Tensors: 0 and 1 the inputs, 2 their concat, 3 its padding to multiples of 3, 4 its unshuffle by
 * 2, a check tensor. Scalar 0 fills 5; 6 is the sum of 0 and 5. */
static void graph(qp_corpus *c)
{
    qp_case_scalar(c, -2, 2);
    qp_case_input(c, 1, -9, 9);
    qp_case_input(c, 2, 0, 20);
    qp_part(c, "concat", "0 1", 3);
    qp_part(c, "pad_rep", "2", 3);
    qp_case_u32(c, 3);
    qp_case_output(c, qp_part(c, "pixel_unshuffle", "3", 12));
    qp_case_u32(c, 2);
    qp_case_policy(c, 4, QP_CHECK, -9, 15);
    qp_part(c, "fill", "0", 1);
    qp_case_u8(c, 1);
    qp_case_zeros(c, 7);
    qp_case_i64(c, 0);
    qp_case_output(c, qp_part(c, "add", "0 5", 1));
    qp_case_policy(c, 6, QP_CHECK, -10, 10);
}

/* One decode: two shapes, the value that fills each, and the scalar. */
typedef struct run_row {
    const char *name;
    qp_status want;
    qp_shape first, second;
    int64_t values[2], scalar;
} run_row;

static const run_row rows[] = {
    {"it completes", QP_OK, {1, 6, 6}, {2, 6, 6}, {3, 4}, 1},
    {"step 1: input 0's channels", QP_MODEL_MISMATCH, {2, 6, 6}, {2, 6, 6}, {3, 4}, 1},
    {"step 1: input 1's channels", QP_MODEL_MISMATCH, {1, 6, 6}, {3, 6, 6}, {3, 4}, 1},
    {"step 1: input 0 has no rows", QP_MODEL_MISMATCH, {1, 0, 6}, {2, 6, 6}, {3, 4}, 1},
    {"step 1: input 1 has no columns", QP_MODEL_MISMATCH, {1, 6, 6}, {2, 6, 0}, {3, 4}, 1},
    {"step 1: input 0 past max_h", QP_TOO_LARGE, {1, 13, 6}, {2, 6, 6}, {3, 4}, 1},
    {"step 1: input 1 past max_w", QP_TOO_LARGE, {1, 6, 6}, {2, 6, 13}, {3, 4}, 1},
    {"step 1: input 0 past max_h, and input 1's channels",
     QP_TOO_LARGE,
     {1, 13, 1},
     {9, 1, 1},
     {3, 4},
     1},
    {"step 1: input 0's channels before its own size",
     QP_MODEL_MISMATCH,
     {9, 13, 1},
     {2, 1, 1},
     {3, 4},
     1},
    {"step 1 before step 2: a size and a scalar", QP_TOO_LARGE, {1, 6, 6}, {2, 13, 6}, {3, 4}, 9},
    {"step 2: the scalar one below", QP_FIELD_RANGE, {1, 6, 6}, {2, 6, 6}, {3, 4}, -3},
    {"step 2: the scalar one above", QP_FIELD_RANGE, {1, 6, 6}, {2, 6, 6}, {3, 4}, 3},
    {"step 2 before step 3: a scalar and a plan", QP_FIELD_RANGE, {1, 6, 6}, {2, 6, 5}, {3, 4}, 3},
    {"step 3: sizes that disagree", QP_GEOMETRY_MISMATCH, {1, 6, 6}, {2, 6, 5}, {3, 4}, 1},
    {"step 3: an odd side", QP_GEOMETRY_MISMATCH, {1, 2, 6}, {2, 2, 6}, {3, 4}, 1},
    {"step 3 before step 4: a plan and a value",
     QP_GEOMETRY_MISMATCH,
     {1, 2, 6},
     {2, 2, 6},
     {99, 4},
     1},
    {"step 4: input 0's range", QP_FIELD_RANGE, {1, 6, 6}, {2, 6, 6}, {10, 4}, 1},
    {"step 4: input 1's range", QP_FIELD_RANGE, {1, 6, 6}, {2, 6, 6}, {3, 21}, 1},
    {"step 4: the first check tensor", QP_FIELD_RANGE, {1, 6, 6}, {2, 6, 6}, {3, 16}, 1},
    {"step 4: the second check tensor", QP_FIELD_RANGE, {1, 6, 6}, {2, 6, 6}, {9, 4}, 2},
    {"step 4: the second check tensor at its end", QP_OK, {1, 6, 6}, {2, 6, 6}, {9, 15}, 1},
};

static void steps(qp_corpus *c)
{
    for (size_t i = 0; i < QP_COUNT(rows); i++) {
        const run_row *r = &rows[i];
        qp_case(c, QP_WANT_ACC64, "%s", r->name);
        graph(c);
        qp_case_declare(c, 12, 12);
        qp_case_decode(c, r->want);
        qp_case_give_shape(c, r->first, QP_LIST(r->values[0]));
        qp_case_give_shape(c, r->second, QP_LIST(r->values[1]));
        qp_case_give_scalar(c, r->scalar);
    }
}

/* The same without declared sizes, where max_elems alone caps an input: 64 elements. */
static void caps(qp_corpus *c)
{
    static const run_row table[] = {
        {"max_elems: it completes", QP_OK, {1, 1, 3}, {2, 1, 3}, {3, 4}, 1},
        {"max_elems: input 0 of 65", QP_TOO_LARGE, {1, 5, 13}, {2, 6, 6}, {3, 4}, 1},
        {"max_elems: input 1 of 66", QP_TOO_LARGE, {1, 3, 11}, {2, 3, 11}, {3, 4}, 9},
        {"max_elems: both inputs of 64 or less, their concat of more",
         QP_TOO_LARGE,
         {1, 4, 8},
         {2, 4, 8},
         {99, 4},
         1},
        {"max_elems: the second operator's output", QP_TOO_LARGE, {1, 4, 4}, {2, 4, 4}, {3, 4}, 1},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        const run_row *r = &table[i];
        qp_case(c, QP_WANT_ACC64, "%s", r->name);
        graph(c);
        qp_case_max_elems(c, 64);
        qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 2), 4, i == 0 ? 1 : 2);
        qp_case_patch(c, qp_case_at(c, QP_TABLE_TENSORS, 4), 4, i == 0 ? 3 : 12);
        qp_case_decode(c, r->want);
        qp_case_give_shape(c, r->first, QP_LIST(r->values[0]));
        qp_case_give_shape(c, r->second, QP_LIST(r->values[1]));
        qp_case_give_scalar(c, r->scalar);
    }
}

/* The plan goes operator by operator: what the first refuses comes first, whatever its kind. */
static void plan_order(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "step 3: a shape rule before a later operator's size");
    qp_case_input(c, 1, 0, 9);
    qp_part(c, "pixel_unshuffle", "0", 4);
    qp_case_u32(c, 2);
    qp_case_output(c, qp_part(c, "pad_rep", "1", 4));
    qp_case_u32(c, (1 << 26) + 1);
    qp_case_decode(c, QP_GEOMETRY_MISMATCH);
    qp_case_give_random(c, 1, 2);
    qp_case_decode(c, QP_TOO_LARGE);
    qp_case_give_random(c, 2, 2);

    qp_case(c, QP_WANT_ACC32, "step 3: a size before a later operator's shape rule");
    qp_case_input(c, 1, 0, 9);
    qp_part(c, "pad_rep", "0", 1);
    qp_case_u32(c, 65);
    qp_case_output(c, qp_part(c, "pixel_unshuffle", "1", 4));
    qp_case_u32(c, 2);
    qp_case_decode(c, QP_TOO_LARGE);
    qp_case_give_random(c, 1, 1);

    qp_case(c, QP_WANT_ACC32, "step 3: a crop whose scalars do not fit before a later size");
    qp_case_scalar(c, 0, 9);
    qp_case_input(c, 1, 0, 9);
    qp_part(c, "crop", "0", 1);
    static const uint32_t operands[4][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}};
    for (unsigned k = 0; k < 4; k++) {
        qp_case_u8(c, operands[k][0]);
        qp_case_zeros(c, 3);
        qp_case_u32(c, operands[k][1]);
    }
    qp_case_output(c, qp_part(c, "pad_rep", "1", 1));
    qp_case_u32(c, 65);
    for (int64_t x0 = 2; x0 <= 3; x0++) {
        qp_case_decode(c, x0 == 2 ? QP_TOO_LARGE : QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, 2, 3);
        qp_case_give_scalar(c, x0);
    }
}

void qp_graphs_run(qp_corpus *c, const void *context)
{
    (void)context;
    steps(c);
    caps(c);
    plan_order(c);
}
