/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/graphs_state.c - state carried across decodes (section 10.3). */
#include "conform/corpus/parts.h"

/* Tensors 0 the data, 1 the state, 2 their sum, which feeds the state and is output 0. */
static void accumulator(qp_corpus *c, qp_range data, qp_range state, int64_t init)
{
    qp_case_input(c, 1, data.lo, data.hi);
    qp_case_state(c, 1, state, 0, init);
    qp_case_output(c, qp_part(c, "add", "0 1", 1));
}

/* Its decodes refuse at each step of a run; none changes the state. */
static void refused_between(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC64, "three decodes from init, refused ones in between");
    accumulator(c, (qp_range){-9, 9}, (qp_range){-100, 100}, 5);
    qp_case_policy(c, 2, QP_CHECK, -20, 20);
    qp_case_declare(c, 1, 3);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 1, 2, 3);
    qp_case_decode(c, QP_FIELD_RANGE); /* the input's range */
    QP_ROW(c, 1, 10, 1);
    qp_case_decode(c, QP_GEOMETRY_MISMATCH); /* the state's shape no longer matches */
    QP_ROW(c, 1, 2);
    qp_case_decode(c, QP_TOO_LARGE);
    QP_ROW(c, 1, 2, 3, 4);
    qp_case_decode(c, QP_MODEL_MISMATCH);
    qp_case_give(c, 2, 1, QP_LIST(1, 2, 3, 1, 2, 3));
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 1, 1, 9);
    qp_case_decode(c, QP_FIELD_RANGE); /* 8 + 9 and 9 more pass the sum's check range */
    QP_ROW(c, 0, 0, 9);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 0, -1, 3);
}

static void policies(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "a clamp state is clamped when it is read, not when it is kept");
    accumulator(c, (qp_range){0, 50}, (qp_range){0, 60}, 0);
    qp_case_policy(c, 1, QP_CLAMP, 0, 60);
    for (unsigned k = 0; k < 4; k++) {
        qp_case_decode(c, QP_OK);
        QP_ROW(c, 50, 7, 0);
    }
    qp_case(c, QP_WANT_ACC32, "a check state past its range refuses every later decode");
    accumulator(c, (qp_range){0, 50}, (qp_range){0, 60}, 0);
    static const qp_status wants[] = {QP_OK, QP_OK, QP_FIELD_RANGE, QP_FIELD_RANGE};
    for (size_t k = 0; k < QP_COUNT(wants); k++) {
        qp_case_decode(c, wants[k]);
        QP_ROW(c, 40, 0);
    }
    qp_case(c, QP_WANT_ACC32, "the state keeps the output after its policy");
    accumulator(c, (qp_range){0, 50}, (qp_range){0, 60}, 3);
    qp_case_policy(c, 2, QP_CLAMP, 0, 60);
    for (unsigned k = 0; k < 3; k++) {
        qp_case_decode(c, QP_OK);
        QP_ROW(c, 50, 20, 1);
    }
}

static void sizes(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "until a decode completes the state has input 0's size");
    accumulator(c, (qp_range){0, 9}, (qp_range){0, 100}, 7);
    qp_case_decode(c, QP_FIELD_RANGE);
    qp_case_give(c, 1, 2, QP_LIST(1, 2, 3, 10));
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 1, 2, 3);
    qp_case_decode(c, QP_GEOMETRY_MISMATCH);
    qp_case_give(c, 1, 2, QP_LIST(1, 2, 3, 4));
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 4, 4, 4);

    /* the output is a row wider than the state that made it, until it passes the declared size */
    qp_case(c, QP_WANT_ACC32, "a state that grows past its declared size");
    qp_case_input(c, 1, 0, 9);
    qp_case_state(c, 1, (qp_range){0, 9}, 0, 4);
    uint32_t out = qp_case_tensor(c, 1);
    qp_case_operator(c, "conv_transpose", "1 > 2");
    static const uint32_t fields[] = {1, 1, 2, 1, 1, 0, 0, 0, 0};
    for (size_t i = 0; i < QP_COUNT(fields); i++)
        qp_case_u32(c, fields[i]);
    qp_case_u8(c, 1);
    qp_case_zeros(c, 3);
    qp_case_rq_block(c, &(qp_case_rq){.shift = QP_LIST(1)});
    qp_case_integers(c, 1, QP_LIST(1, 1));
    qp_case_output(c, out);
    qp_case_declare(c, 1, 3);
    static const qp_status wants[] = {QP_OK, QP_OK, QP_OK, QP_TOO_LARGE, QP_TOO_LARGE};
    for (size_t k = 0; k < QP_COUNT(wants); k++) {
        qp_case_decode(c, wants[k]);
        QP_ROW(c, 1);
    }
}

/* Output 0 is x + b and feeds a; output 1 is a and feeds b. */
static void two_states(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "two states that change places");
    qp_case_input(c, 1, 0, 9);
    qp_case_state(c, 1, (qp_range){-1000, 1000}, 0, 100);
    qp_case_state(c, 1, (qp_range){-1000, 1000}, 1, -200);
    qp_case_output(c, qp_part(c, "add", "0 2", 1));
    qp_case_output(c, 1);
    for (unsigned k = 0; k < 5; k++) {
        qp_case_decode(c, QP_OK);
        QP_ROW(c, 1, 2, 3);
    }

    qp_case(c, QP_WANT_ACC32, "a delay, a data input that feeds a state");
    qp_case_input(c, 2, -50, 50);
    qp_case_state(c, 2, (qp_range){-50, 50}, 1, -7);
    qp_case_output(c, qp_part(c, "relu", "1", 2));
    qp_case_output(c, 0);
    for (unsigned k = 0; k < 4; k++) {
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, 2, 2);
    }

    qp_case(c, QP_WANT_ACC32, "a state with weights, scalars and a clamp");
    qp_case_scalar(c, 0, 1);
    qp_case_input(c, 1, -90, 90);
    qp_case_state(c, 2, (qp_range){-500, 500}, 0, 1);
    uint32_t both = qp_part(c, "concat", "0 1", 3);
    qp_part_convolution(c, &(qp_part_conv){both,
                                           3,
                                           2,
                                           1,
                                           QP_LIST(3, -2, 1, 1, 5, -4),
                                           {.round = QP_ROUND_HALF_UP, .shift = QP_LIST(2)}});
    uint32_t scaled = qp_part(c, "chscale", "3", 2);
    qp_case_u32(c, 0);
    qp_case_u32(c, 2);
    qp_case_u8(c, QP_ROUND_HALF_EVEN);
    qp_case_u8(c, 4);
    qp_case_u8(c, 1);
    qp_case_zeros(c, 1);
    qp_case_integers(c, 4, QP_LIST(2, 3, -1, 4));
    qp_case_policy(c, scaled, QP_CLAMP, -500, 500);
    qp_case_output(c, scaled);
    for (int64_t k = 0; k < 5; k++) {
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, 2, 3);
        qp_case_give_scalar(c, k % 2);
    }
}

/* init at both ends of its range, and past them at load. */
static void inits(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        int64_t init;
    } table[] = {{"init at the low end", QP_WANT_ACC32, -3},
                 {"init at the high end", QP_WANT_ACC32, 8},
                 {"refused: init one below the range", QP_WANT_MISMATCH, -4},
                 {"refused: init one above the range", QP_WANT_MISMATCH, 9}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        accumulator(c, (qp_range){0, 1}, (qp_range){-3, 8}, table[i].init);
        if (table[i].want == QP_WANT_ACC32) {
            qp_case_decode(c, QP_OK);
            QP_ROW(c, 0, 1);
        }
    }
}

void qp_graphs_state(qp_corpus *c, const void *context)
{
    (void)context;
    refused_between(c);
    policies(c);
    sizes(c);
    two_states(c);
    inits(c);
}
