/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/certificates.c - graphs certified on their own (sections 8.5 and 14.3). Their role is
 * `graph`. A graph that meets no profile has a certificate too. */
#include "conform/corpus/parts.h"

/* Each operator alone, with every intermediate that it records. */
static void each_operator(qp_corpus *c)
{
#define ROW(name) &qp_row_##name,
    static const qp_corpus_row *const rows[] = {QP_OPERATORS(ROW)};
#undef ROW
    for (size_t i = 0; i < QP_COUNT(rows); i++) {
        if (rows[i]->large)
            continue;
        qp_case(c, QP_WANT_LOADED, "operator %s", rows[i]->name);
        rows[i]->base(c, 3, 4);
    }
}

/* A conv of two weights over [0, hi]. */
static void two_weights(qp_corpus *c, const qp_list *weights, int64_t hi)
{
    qp_case_input(c, 2, 0, hi);
    qp_case_output(
        c, qp_part_convolution(c, &(qp_part_conv){0, 2, 1, 1, *weights, {.shift = QP_LIST(8)}}));
}

static void by_one(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC64, "meets acc64 exactly: a sum of 2^63 - 1");
    qp_case_input(c, 1, 0, INT64_MAX - 1);
    qp_case_output(
        c,
        qp_part_rescale(
            c, 0, 1, &(qp_case_rq){.place = QP_BIAS_PRE, .bias = QP_LIST(1), .shift = QP_LIST(3)}));
    qp_case(c, QP_WANT_MISMATCH, "fails acc64 by one unit: a sum of 2^63");
    qp_case_input(c, 1, 0, INT64_MAX - 1);
    qp_case_output(
        c,
        qp_part_rescale(
            c, 0, 1, &(qp_case_rq){.place = QP_BIAS_PRE, .bias = QP_LIST(2), .shift = QP_LIST(3)}));
    qp_case(c, QP_WANT_ACC32, "meets acc32 exactly: weights of 2^30 and 2^30 - 1");
    two_weights(c, &QP_LIST(QP_P(30), QP_P(30) - 1), 1);
    qp_case(c, QP_WANT_ACC64, "fails acc32 by one weight: 2^30 and 2^30");
    two_weights(c, &QP_LIST(QP_P(30), QP_P(30)), 1);
    qp_case(c, QP_WANT_ACC64, "fails acc32 by a weight alone, on an input that is 0");
    two_weights(c, &QP_LIST(QP_P(31), 1), 0);
    qp_case(c, QP_WANT_ACC32, "k_c without a limit: every weight is 0");
    two_weights(c, &QP_LIST(0, 0), 9);
}

static void failures(qp_corpus *c)
{
    qp_case(c, QP_WANT_MISMATCH, "saturated");
    qp_case_input(c, 1, INT64_MIN, INT64_MAX);
    static const char *const wires[] = {"0 0", "1 1", "2 2", "3 3"};
    for (size_t k = 0; k < QP_COUNT(wires); k++) {
        qp_part(c, "mul", wires[k], 1);
        qp_case_rq_block(c, &(qp_case_rq){.shift = QP_LIST(0)});
    }
    qp_case_output(c, 4);

    qp_case(c, QP_WANT_ACC64, "an input's range passes i32");
    qp_case_input(c, 1, 0, 9);
    qp_case_input(c, 1, 0, QP_P(31));
    qp_case_output(c, qp_part(c, "crop_to", "0 1", 1));
    qp_case(c, QP_WANT_ACC64, "a scalar's range passes i32");
    qp_case_scalar(c, 0, 1);
    qp_case_scalar(c, INT64_MIN, INT64_MAX);
    qp_case_input(c, 1, 0, 9);
    qp_case_output(c, qp_part(c, "relu", "0", 1));
    qp_case(c, QP_WANT_ACC64, "a check policy inside the graph");
    qp_case_input(c, 1, -9, 9);
    qp_part(c, "relu", "0", 1);
    qp_case_policy(c, 1, QP_CHECK, 3, 20);
    qp_case_output(c, qp_part(c, "abs", "1", 1));
    qp_case(c, QP_WANT_ACC64, "several parameter conditions of one node, in the table's order");
    qp_case_input(c, 1, 0, 0);
    qp_case_output(c, qp_part_convolution(c, &(qp_part_conv){0,
                                                             1,
                                                             1,
                                                             1,
                                                             QP_LIST(QP_P(40)),
                                                             {.place = QP_BIAS_POST,
                                                              .mult = QP_LIST(QP_P(31)),
                                                              .shift = QP_LIST(64),
                                                              .bias = QP_LIST(0)}}));
    qp_case(c, QP_WANT_ACC64, "two intermediates of as many bits: the smaller key fails first");
    qp_case_input(c, 1, 0, QP_P(30));
    qp_case_output(c, qp_part_rescale(c, 0, 1, &(qp_case_rq){.mult = QP_LIST(4)}));
    qp_case(c, QP_WANT_ACC64, "the producer result fails alone");
    qp_case_input(c, 1, 0, QP_P(30));
    qp_case_output(c, qp_part(c, "add", "0 0", 1));
}

/* The flags and reasons of section 9.2. */
static void accelerator(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_case_rq rq;
    } flags[] = {
        {"no flags", {.round = QP_ROUND_HALF_UP}},
        {"rq_half_even", {.round = QP_ROUND_HALF_EVEN}},
        {"rq_shift_range", {.round = QP_ROUND_HALF_UP}},
    };
    for (size_t i = 0; i < QP_COUNT(flags); i++) {
        qp_case_rq rq = flags[i].rq;
        rq.shift = i == 2 ? QP_LIST(32) : QP_LIST(31);
        qp_case(c, QP_WANT_ACC32, "flags: %s", flags[i].name);
        qp_case_input(c, 1, -9, 9);
        qp_case_output(c, qp_part_rescale(c, 0, 1, &rq));
    }
    qp_case(c, QP_WANT_ACC32, "flags: every flag of an rq, over two nodes");
    qp_case_input(c, 2, -9, 9);
    qp_part_rescale(c, 0, 2,
                    &(qp_case_rq){.place = QP_BIAS_POST,
                                  .mult = QP_LIST(3, -1),
                                  .shift = QP_LIST(0, 63),
                                  .bias = QP_LIST(0, 0)});
    qp_case_output(c, qp_part_rescale(c, 1, 2, &(qp_case_rq){.round = QP_ROUND_HALF_EVEN}));
    qp_case(c, QP_WANT_ACC32, "flags: a multiplier of 1 with floor");
    qp_case_input(c, 1, -9, 9);
    qp_case_output(c, qp_part_rescale(c, 0, 1, &(qp_case_rq){.mult = QP_LIST(1)}));
    qp_case(c, QP_WANT_ACC32, "flags: state_add, by add and by chunk_add");
    qp_case_input(c, 2, -9, 9);
    qp_case_state(c, 2, (qp_range){-9, 9}, 0, -3);
    qp_case_policy(c, 1, QP_CLAMP, -9, 9);
    qp_case_output(c, qp_part(c, "add", "0 1", 2));
    qp_case_output(c, qp_part(c, "chunk_add", "1", 1));
    qp_case(c, QP_WANT_ACC32, "flags: a state that no add reads");
    qp_case_input(c, 1, -9, 9);
    qp_case_state(c, 1, (qp_range){-9, 9}, 0, 0);
    qp_case_output(c, qp_part(c, "concat", "0 0", 2));
    qp_case_output(c, qp_part(c, "relu", "1", 1));
    qp_case_patch(c, qp_case_at(c, QP_TABLE_INPUTS, 1) + 16, 4, 1);
    qp_case(c, QP_WANT_ACC32, "reasons: op:igdn and conv_groups");
    qp_case_input(c, 4, -9, 9);
    qp_part(c, "conv", "0", 4);
    static const uint32_t fields[] = {4, 1, 1, 1, 1, 0, 0, 2};
    for (size_t i = 0; i < QP_COUNT(fields); i++)
        qp_case_u32(c, fields[i]);
    qp_case_u8(c, 1);
    qp_case_zeros(c, 3);
    qp_case_rq_block(c, &(qp_case_rq){.round = QP_ROUND_HALF_UP});
    qp_case_integers(c, 1, QP_LIST(1, 2, 3, 4, 5, 6, 7, 8));
    qp_case_output(c, qp_part(c, "igdn", "1", 4));
    qp_case_zeros(c, 8);
    qp_case_u8(c, 4);
    qp_case_zeros(c, 7);
    for (unsigned k = 0; k < 16; k++)
        qp_case_u32(c, 1);
    qp_case_integers(c, 8, QP_LIST(1, 1, 1, 1));
}

void qp_certificates_whg1(qp_corpus *c)
{
    each_operator(c);
    by_one(c);
    failures(c);
    accelerator(c);
    /* and the graphs of several operators, whose intervals pass from one to the next */
    qp_graphs_phase(c, NULL);
    qp_graphs_chain(c, NULL);
}
