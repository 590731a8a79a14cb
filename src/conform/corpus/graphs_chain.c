/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/graphs_chain.c - graphs of several operators that complete: how tensors are wired, small
 * networks, and chains drawn at random. */
#include "conform/corpus/parts.h"

#include <stdio.h>

/* ---- wiring ------------------------------------------------------------------------------- */

static void wiring(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "an input is an output, after its clamp");
    qp_case_input(c, 1, -5, 5);
    qp_case_policy(c, 0, QP_CLAMP, -5, 5);
    qp_case_output(c, 0);
    qp_case_output(c, qp_part(c, "abs", "0", 1));
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -9, -5, 0, 5, INT64_MAX, INT64_MIN);

    qp_case(c, QP_WANT_ACC32, "an output listed twice");
    qp_case_input(c, 1, -5, 5);
    uint32_t out = qp_part(c, "relu", "0", 1);
    qp_case_output(c, out);
    qp_case_output(c, out);
    qp_case_output(c, 0);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -5, 0, 5);

    qp_case(c, QP_WANT_ACC32, "one tensor read by many operators, and twice by one");
    qp_case_input(c, 2, -30, 40);
    qp_part(c, "mul", "0 0", 2);
    qp_case_rq_block(c, &(qp_case_rq){.round = QP_ROUND_HALF_EVEN, .shift = QP_LIST(1)});
    qp_part(c, "add", "0 0", 2);
    qp_part(c, "concat", "0 0 1", 6);
    qp_part(c, "chunk_add", "3", 3);
    for (uint32_t t = 1; t <= 4; t++)
        qp_case_output(c, t);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 2, 3);

    qp_case(c, QP_WANT_ACC32, "outputs in another order than their operators");
    qp_case_input(c, 1, -9, 9);
    qp_part(c, "relu", "0", 1);
    qp_part(c, "abs", "0", 1);
    qp_part(c, "add", "1 2", 1);
    qp_case_output(c, 3);
    qp_case_output(c, 1);
    qp_case_output(c, 2);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -9, -1, 0, 1, 9);
}

static void records(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "exponents that agree where they must and differ elsewhere");
    qp_case_input(c, 2, -9, 9);
    qp_case_input(c, 2, -9, 9);
    qp_part(c, "add", "0 1", 2);
    qp_part(c, "chunk_add", "2", 1);
    qp_part(c, "concat", "2 3", 3);
    qp_case_output(c, qp_part(c, "relu", "4", 3));
    for (uint32_t t = 0; t < 5; t++)
        qp_case_exponent(c, t, 12);
    qp_case_exponent(c, 5, -127);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 1, 2);
    qp_case_give_random(c, 1, 2);

    qp_case(c, QP_WANT_ACC64, "check tensors in the middle, at their ends");
    qp_case_input(c, 1, -9, 9);
    qp_part(c, "abs", "0", 1);
    qp_case_policy(c, 1, QP_CHECK, 2, 7);
    qp_case_output(c, qp_part(c, "add", "0 1", 1));
    static const int64_t values[] = {-7, 7, 2, -2, -8, 8, 1, -1, 0};
    for (size_t i = 0; i < QP_COUNT(values); i++) {
        int64_t magnitude = values[i] < 0 ? -values[i] : values[i];
        qp_case_decode(c, magnitude >= 2 && magnitude <= 7 ? QP_OK : QP_FIELD_RANGE);
        QP_ROW(c, 3, values[i], -4);
    }
}

/* ---- small networks ----------------------------------------------------------------------- */

/* A residual block and an upsampling to RGB8, as super-resolution has them. */
static void upsampler(qp_corpus *c)
{
    int64_t first[4 * 3 * 9], second[4 * 4 * 9], last[12 * 4 * 9];
    qp_range weights = {-128, 127};

    qp_case(c, QP_WANT_ACC32, "a residual block and an upsampling to RGB8");
    qp_case_input(c, 3, 0, 255);
    qp_part_convolution(c, &(qp_part_conv){0,
                                           3,
                                           4,
                                           3,
                                           qp_case_random_list(c, first, 108, weights),
                                           {.round = QP_ROUND_HALF_UP, .shift = QP_LIST(8)}});
    qp_part(c, "leaky", "1", 4);
    qp_case_i64(c, 51);
    qp_case_u32(c, 8);
    qp_part_convolution(c, &(qp_part_conv){2,
                                           4,
                                           4,
                                           3,
                                           qp_case_random_list(c, second, 144, weights),
                                           {.round = QP_ROUND_HALF_UP, .shift = QP_LIST(9)}});
    qp_part(c, "add", "1 3", 4);
    qp_part_convolution(c, &(qp_part_conv){4,
                                           4,
                                           12,
                                           3,
                                           qp_case_random_list(c, last, 432, weights),
                                           {.round = QP_ROUND_HALF_UP, .shift = QP_LIST(8)}});
    qp_case_output(c, qp_part(c, "pixel_shuffle", "5", 3));
    qp_case_u32(c, 2);
    qp_case_policy(c, 6, QP_CLAMP, 0, 255);
    static const uint32_t sizes[][2] = {{1, 1}, {3, 5}, {4, 2}};
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
}

/* Channel attention: l2norm, gram, a temperature, softmax and apply. */
static void attention(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC64, "channel attention");
    qp_case_input(c, 4, -70000, 70000);
    qp_part(c, "l2norm", "0", 4);
    qp_case_u64(c, 1);
    qp_part(c, "gram", "1 1", 4);
    qp_case_u32(c, 2);
    qp_case_rq_block(c, &(qp_case_rq){.round = QP_ROUND_HALF_UP, .shift = QP_LIST(16)});
    qp_part_rescale(c, 2, 4,
                    &(qp_case_rq){.round = QP_ROUND_HALF_UP,
                                  .shift = QP_LIST(16),
                                  .mult = QP_LIST(70000, 90000, 65536, 123456)});
    qp_part(c, "softmax", "3", 4);
    qp_part(c, "apply", "4 0", 4);
    qp_case_u32(c, 2);
    qp_case_rq_block(c, &(qp_case_rq){.round = QP_ROUND_HALF_UP, .shift = QP_LIST(16)});
    for (uint32_t t = 1; t <= 5; t++)
        qp_case_output(c, t);
    qp_case_declare(c, 4, 4);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 4, 4);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 1, 3);
}

/* A gate: layernorm_c, split, sigmoid, mul, and elu beside it. */
static void gate(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC64, "a gate over a layer norm");
    qp_case_input(c, 4, -90000, 90000);
    qp_part(c, "layernorm_c", "0", 4);
    qp_case_u64(c, 655);
    qp_case_u8(c, 4);
    qp_case_zeros(c, 7);
    qp_case_integers(c, 4, QP_LIST(65536, 60000, -40000, 70000));
    qp_case_integers(c, 8, QP_LIST(0, 100, -100, 30000));
    for (uint32_t half = 0; half < 2; half++) {
        qp_part(c, "split", "1", 2);
        qp_case_u32(c, 2 * half);
        qp_case_u32(c, 2);
    }
    qp_part(c, "sigmoid", "2", 2);
    qp_part(c, "mul", "3 4", 2);
    qp_case_rq_block(c, &(qp_case_rq){.round = QP_ROUND_FLOOR, .shift = QP_LIST(16)});
    qp_part(c, "elu", "5", 2);
    qp_case_i64(c, 65536);
    for (uint32_t t = 4; t <= 6; t++)
        qp_case_output(c, t);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 3, 3);
}

/* Padding, a transform with igdn, checkerboard planes and the crop back, as a codec has them. */
static void codec(qp_corpus *c)
{
    qp_case(c, QP_WANT_LOADED, "padding, igdn, sub-positions and the crop back");
    qp_case_input(c, 2, -500, 500);
    qp_part(c, "pad_rep", "0", 2);
    qp_case_u32(c, 4);
    qp_part(c, "igdn", "1", 2);
    qp_case_u32(c, 6);
    qp_case_u32(c, 8);
    qp_case_u8(c, 4);
    qp_case_zeros(c, 7);
    qp_case_integers(c, 4, QP_LIST(200, 30, -10, 500));
    qp_case_integers(c, 8, QP_LIST(4000, 9000));
    for (unsigned k = 0; k < 4; k++)
        qp_case_tensor(c, 2);
    qp_case_operator(c, "subpos_split", "2 > 3 4 5 6");
    qp_case_integers(c, 1, QP_LIST(0, 3, 1, 2));
    qp_part(c, "relu", "4", 2);
    qp_part(c, "subpos_merge", "3 7 5 6", 2);
    qp_case_integers(c, 1, QP_LIST(0, 3, 1, 2));
    qp_case_output(c, qp_part(c, "crop_to", "8 0", 2));
    static const uint32_t sizes[][2] = {{1, 1}, {5, 3}, {4, 4}};
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
}

/* ---- chains at random --------------------------------------------------------------------- */

/* One more operator that keeps sizes, on tensors of two channels. */
static uint32_t random_part(qp_corpus *c, uint32_t last)
{
    int64_t weights[2 * 2 * 9], mult[2], bias[2];
    char one[12], two[24];
    uint32_t other = (uint32_t)qp_case_random(c, 0, last);

    (void)snprintf(one, sizeof one, "%u", last);
    (void)snprintf(two, sizeof two, "%u %u", last, other);
    qp_case_rq rq = qp_case_random_rq(c);
    int64_t shift = qp_case_random(c, 0, 9);
    rq.shift = (qp_list){&shift, 1};
    switch (qp_case_random(c, 0, 6)) {
    case 0:
        rq.bias = qp_case_random_list(c, bias, 2, (qp_range){-99, 99});
        return qp_part_convolution(
            c, &(qp_part_conv){last, 2, 2, 3,
                               qp_case_random_list(c, weights, 36, (qp_range){-9, 9}), rq});
    case 1:
        rq.mult = qp_case_random_list(c, mult, 2, (qp_range){-40, 40});
        rq.bias = qp_case_random_list(c, bias, 2, (qp_range){-99, 99});
        return qp_part_rescale(c, last, 2, &rq);
    case 2:
        return qp_part(c, "add", two, 2);
    case 3:
        last = qp_part(c, "mul", two, 2);
        qp_case_rq_block(c, &rq);
        return last;
    case 4:
        last = qp_part(c, "leaky", one, 2);
        qp_case_i64(c, qp_case_random(c, -30, 90));
        qp_case_u32(c, (uint32_t)qp_case_random(c, 0, 6));
        return last;
    case 5:
        return qp_part(c, "relu", one, 2);
    default:
        return qp_part(c, "abs", one, 2);
    }
}

static void random_chains(qp_corpus *c)
{
    for (unsigned i = 0; i < 30; i++) {
        qp_case(c, QP_WANT_LOADED, "random chain %u", i);
        uint32_t last = qp_case_input(c, 2, -20, 30);
        for (int64_t more = qp_case_random(c, 3, 8); more > 0; more--) {
            last = random_part(c, last);
            qp_range range = qp_case_random_range(c, (qp_range){-3000, -10}, (qp_range){10, 3000});
            qp_case_policy(c, last, QP_CLAMP, range.lo, range.hi);
        }
        qp_case_output(c, last);
        for (unsigned k = 0; k < 2; k++) {
            uint32_t height = (uint32_t)qp_case_random(c, 1, 4);
            qp_case_decode(c, QP_OK);
            qp_case_give_random(c, height, (uint32_t)qp_case_random(c, 1, 4));
        }
    }
}

void qp_graphs_chain(qp_corpus *c, const void *context)
{
    (void)context;
    wiring(c);
    records(c);
    upsampler(c);
    attention(c);
    gate(c);
    codec(c);
    random_chains(c);
}
