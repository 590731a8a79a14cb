/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus/graphs_load.c - a graph refused at each load check (section 10.5), in its order: one sound
 * graph, and copies of it with one field changed each.
 */
#include "conform/corpus/parts.h"

/* Tensors: 0 data [2], 1 state [1], 2 conv of 0 [1], 3 the sum of 1 and 2, 4 its crop by scalar 0.
 * Outputs: 3 (feeds the state) and 4. Operators: conv, add, crop. */
static void sound(qp_corpus *c)
{
    qp_case_scalar(c, 1, 3);
    qp_case_scalar(c, -5, 5);
    qp_case_input(c, 2, -10, 10);
    qp_case_state(c, 1, (qp_range){-50, 50}, 0, 7);
    qp_part_convolution(
        c,
        &(qp_part_conv){0, 2, 1, 1, QP_LIST(2, -1), {.place = QP_BIAS_POST, .bias = QP_LIST(1)}});
    qp_case_output(c, qp_part(c, "add", "1 2", 1));
    qp_case_policy(c, 3, QP_CLAMP, -50, 50);
    qp_case_output(c, qp_part(c, "crop", "3", 1));
    static const uint32_t operands[4][2] = {{0, 0}, {0, 0}, {0, 1}, {1, 0}};
    for (unsigned k = 0; k < 4; k++) {
        qp_case_u8(c, operands[k][0]);
        qp_case_zeros(c, 3);
        qp_case_u32(c, operands[k][1]);
    }
    qp_case_declare(c, 4, 5);
}

/* One field of one record. */
typedef struct field_row {
    const char *name;
    qp_table table;
    uint32_t record;
    int64_t at;
    unsigned width;
    uint64_t value;
} field_row;

#define HEADER QP_TABLE_HEADER, 0
#define INPUT(k) QP_TABLE_INPUTS, k
#define TENSOR(k) QP_TABLE_TENSORS, k
#define OPERATOR(k) QP_TABLE_OPERATORS, k

static const field_row fields[] = {
    /* steps 1 to 3 */
    {"step 1: the magic", HEADER, 0, 4, 0x31474858},
    {"step 1: version 0", HEADER, 4, 1, 0},
    {"step 1: version 2", HEADER, 4, 1, 2},
    {"step 1: operator set 2", HEADER, 5, 1, 2},
    {"step 2: reserved at 6", HEADER, 6, 2, 1},
    {"step 2: reserved at 7", HEADER, 7, 1, 1},
    {"step 2: reserved at 22", HEADER, 22, 2, 0x100},
    {"step 2: reserved at 28", HEADER, 28, 4, 0x80000000u},
    {"step 3: no tensors", HEADER, 8, 4, 0},
    {"step 3: no operators", HEADER, 12, 4, 0},
    {"step 3: no inputs", HEADER, 16, 2, 0},
    {"step 3: no outputs", HEADER, 18, 2, 0},
    {"step 3: 2^32 - 1 tensors", HEADER, 8, 4, UINT32_MAX},
    {"step 3: 2^32 - 1 operators", HEADER, 12, 4, UINT32_MAX},
    {"step 3: 2^28 tensors, whose bytes pass 32 bits", HEADER, 8, 4, 0x10000000},
    {"step 3: 65535 inputs", HEADER, 16, 2, 65535},
    {"step 3: 65535 outputs", HEADER, 18, 2, 65535},
    {"step 3: 65535 scalars", HEADER, 20, 2, 65535},
    {"step 3: one tensor too many", HEADER, 8, 4, 6},
    {"step 3: one operator too many", HEADER, 12, 4, 4},
    {"step 3: one operator too few", HEADER, 12, 4, 2},
    {"max_elems of 0", HEADER, 24, 4, 0},
    {"max_elems past 2^26", HEADER, 24, 4, (1 << 26) + 1},
    {"max_elems of 2^32 - 1", HEADER, 24, 4, UINT32_MAX},
    /* step 4 */
    {"step 4: a scalar's lo above its hi", QP_TABLE_SCALARS, 1, 0, 8, 6},
    {"step 4: an input of no tensor", INPUT(0), 0, 4, 5},
    {"step 4: max_h of 0 and max_w not", INPUT(0), 4, 4, 0},
    {"step 4: max_w of 0 and max_h not", INPUT(0), 8, 4, 0},
    {"step 4: only the first input declares its size", INPUT(1), 4, 8, 0},
    {"step 4: only the second input declares its size", INPUT(0), 4, 8, 0},
    {"step 4: an input's kind of 2", INPUT(1), 12, 1, 2},
    {"step 4: an input's reserved byte at 13", INPUT(0), 13, 1, 1},
    {"step 4: an input's reserved byte at 15", INPUT(0), 15, 1, 1},
    {"step 4: an input's reserved word at 20", INPUT(0), 20, 4, 1},
    {"step 4: a data input's src", INPUT(0), 16, 4, 1},
    {"step 4: a data input's init", INPUT(0), 24, 8, 1},
    {"step 4: a tensor without channels", TENSOR(2), 0, 4, 0},
    {"step 4: a policy of 3", TENSOR(3), 5, 1, 3},
    {"step 4: a tensor's reserved byte", TENSOR(3), 6, 1, 1},
    {"step 4: a derived tensor's lo", TENSOR(2), 8, 8, 1},
    {"step 4: a derived tensor's hi", TENSOR(2), 16, 8, 1},
    {"step 4: a tensor's lo above its hi", TENSOR(3), 8, 8, 51},
    {"step 4: an output of no tensor", QP_TABLE_OUTPUTS, 1, 0, 4, 5},
    /* step 5; each operator's own parameters are in its file of vectors */
    {"step 5: opcode 0", OPERATOR(1), 0, 1, 0},
    {"step 5: opcode 0x1F", OPERATOR(1), 0, 1, 0x1F},
    {"step 5: opcode 255", OPERATOR(1), 0, 1, 255},
    {"step 5: an operator of no inputs", OPERATOR(1), 1, 1, 0},
    {"step 5: an operator of 255 inputs", OPERATOR(1), 1, 1, 255},
    {"step 5: an operator of no outputs", OPERATOR(1), 2, 1, 0},
    {"step 5: an operator's reserved byte", OPERATOR(1), 3, 1, 1},
    {"step 5: an input tensor that is not there", OPERATOR(1), 4, 4, 5},
    {"step 5: an output tensor that is not there", OPERATOR(1), 12, 4, UINT32_MAX},
    {"step 5: a length of parameters past the file", OPERATOR(0), 12, 4, UINT32_MAX},
    {"step 5: a length of parameters one too long", OPERATOR(0), 12, 4, 36 + 8 + 1 + 4 + 2 + 1},
    {"step 5: a length of parameters one too short", OPERATOR(0), 12, 4, 36 + 8 + 1 + 4 + 2 - 1},
    {"step 5: a scalar that is not there", QP_TABLE_PARAMETERS, 2, 28, 4, 2},
    /* step 6 */
    {"step 6: an input without a policy", TENSOR(0), 5, 1, 0},
    {"step 6: two inputs of one tensor", INPUT(1), 0, 4, 0},
    {"step 6: an input that is an operator's output", INPUT(1), 0, 4, 3},
    {"step 6: an operator that reads a later one's output", OPERATOR(0), 4, 4, 3},
    {"step 6: an operator that reads its own output", OPERATOR(1), 4, 4, 3},
    {"step 6: two operators with one output", OPERATOR(1), 12, 4, 2},
    {"step 6: an operator whose output is an input", OPERATOR(1), 12, 4, 1},
    {"step 6: a tensor that nothing gives", OPERATOR(2), 8, 4, 3},
    {"step 6: a state's src past the outputs", INPUT(1), 16, 4, 2},
    {"step 6: a state's src of 2^32 - 1", INPUT(1), 16, 4, UINT32_MAX},
    {"step 6: a state's init past its range", INPUT(1), 24, 8, 51},
    {"step 6: an add of one input with an exponent", TENSOR(1), 4, 1, 3},
    {"step 6: an add of an output with an exponent", TENSOR(3), 4, 1, 0},
    /* step 7 */
    {"step 7: an output's channels are others", TENSOR(4), 0, 4, 2},
    {"step 7: a crop past the declared width", QP_TABLE_PARAMETERS, 2, 12, 4, 5},
    {"step 7: a crop past the declared height", QP_TABLE_PARAMETERS, 2, 20, 4, 5},
};

static void one_field(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "the sound graph");
    sound(c);
    for (int64_t width = 1; width <= 3; width++) {
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, 3, 4);
        qp_case_give_scalar(c, width);
        qp_case_give_scalar(c, 0);
    }
    for (size_t i = 0; i < QP_COUNT(fields); i++) {
        const field_row *f = &fields[i];
        qp_case(c, QP_WANT_MISMATCH, "%s", f->name);
        sound(c);
        qp_case_patch(c, qp_case_at(c, f->table, f->record) + f->at, f->width, f->value);
    }
}

/* Cut at every byte, and one byte longer. */
static void lengths(qp_corpus *c)
{
    enum { RELU_BYTES = 32 + 32 + 4 + 2 * 24 + 16 };
    for (size_t size = 0; size <= RELU_BYTES; size++) {
        bool whole = size == RELU_BYTES;
        qp_case(c, whole ? QP_WANT_ACC32 : QP_WANT_MISMATCH, "cut to %zu bytes", size);
        qp_case_input(c, 1, 0, 1);
        qp_case_output(c, qp_part(c, "relu", "0", 1));
        qp_case_truncate(c, size);
    }
    qp_case(c, QP_WANT_MISMATCH, "a byte after the last operator");
    sound(c);
    qp_case_resize(c, 1);
    qp_case(c, QP_WANT_MISMATCH, "cut by one byte");
    sound(c);
    qp_case_resize(c, -1);
}

/* Rules of steps 6 and 7 that need graphs of their own. */
static void graph_rules(qp_corpus *c)
{
    qp_case(c, QP_WANT_MISMATCH, "step 6: input 0 is a state");
    qp_case_state(c, 1, (qp_range){0, 9}, 0, 0);
    qp_case_input(c, 1, 0, 9);
    qp_case_output(c, qp_part(c, "add", "0 1", 1));

    qp_case(c, QP_WANT_MISMATCH, "step 6: a state's channels are not its output's");
    qp_case_input(c, 2, 0, 9);
    qp_case_state(c, 1, (qp_range){0, 9}, 0, 0);
    qp_case_output(c, qp_part(c, "relu", "0", 2));
    qp_part(c, "relu", "1", 1);

    qp_case(c, QP_WANT_ACC32, "a tensor that is an output alone, and one that nothing reads");
    qp_case_input(c, 1, 0, 9);
    qp_part(c, "relu", "0", 1);
    qp_case_output(c, qp_part(c, "abs", "0", 1));
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 1, 2);

    static const char *const sized[] = {"l2norm", "softmax", "gram"};
    for (size_t i = 0; i < QP_COUNT(sized); i++) {
        qp_case(c, QP_WANT_MISMATCH, "step 7: %s without declared sizes", sized[i]);
        qp_case_input(c, 1, 0, 9);
        qp_part(c, "relu", "0", 1);
        qp_case_output(c, qp_part(c, sized[i], i == 2 ? "1 1" : "1", 1));
        if (i == 0)
            qp_case_u64(c, 1);
        if (i == 2) {
            qp_case_u32(c, 1);
            qp_case_rq_block(c, &(qp_case_rq){.shift = QP_LIST(1)});
        }
    }
}

/* pixel_shuffle by 2 of four channels, then by 2 of the same: tensors 1 and 2. */
static void enlarge_twice(qp_corpus *c, uint32_t channels, uint32_t height, uint32_t width)
{
    qp_case_input(c, 16, 0, 9);
    qp_part(c, "pixel_shuffle", "0", 4);
    qp_case_u32(c, 2);
    qp_case_output(c, qp_part(c, "pixel_shuffle", "1", channels));
    qp_case_u32(c, 2);
    qp_case_declare(c, height, width);
}

/* Step 7 on declared sizes: caps, and what comes before what. */
static void plans(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "step 7: every tensor of max_elems elements");
    enlarge_twice(c, 1, 16, 16);
    qp_case(c, QP_WANT_TOO_LARGE, "step 7: an input one past max_elems");
    enlarge_twice(c, 1, 1, 257);
    qp_case(c, QP_WANT_TOO_LARGE, "step 7: a declared size past 64 bits of elements");
    enlarge_twice(c, 1, UINT32_MAX, UINT32_MAX);
    qp_case(c, QP_WANT_MISMATCH, "step 7: a later operator's channels before an input's size");
    enlarge_twice(c, 2, 1, 257);

    qp_case(c, QP_WANT_TOO_LARGE, "step 7: an operator's size before a later one's shape rule");
    qp_case_input(c, 1, 0, 9);
    qp_part(c, "pad_rep", "0", 1);
    qp_case_u32(c, 65);
    qp_case_output(c, qp_part(c, "pixel_unshuffle", "1", 4));
    qp_case_u32(c, 2);
    qp_case_declare(c, 1, 1);

    qp_case(c, QP_WANT_MISMATCH, "step 7: an operator's shape rule before a later one's size");
    qp_case_input(c, 1, 0, 9);
    qp_part(c, "pixel_unshuffle", "0", 4);
    qp_case_u32(c, 2);
    qp_case_output(c, qp_part(c, "pad_rep", "1", 4));
    qp_case_u32(c, 65);
    qp_case_declare(c, 1, 1);

    qp_case(c, QP_WANT_TOO_LARGE, "step 7 before step 8: a size before an empty check range");
    qp_case_input(c, 1, 0, 9);
    qp_case_output(c, qp_part(c, "pad_rep", "0", 1));
    qp_case_u32(c, 65);
    qp_case_policy(c, 1, QP_CHECK, 10, 20);
    qp_case_declare(c, 1, 1);
}

/* Step 8. */
static void bounds(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range range;
    } checks[] = {
        {"step 8: a check range above what its producer gives", QP_WANT_MISMATCH, {10, 20}},
        {"step 8: a check range below what its producer gives", QP_WANT_MISMATCH, {-9, -1}},
        {"step 8: a check range of one value that it gives", QP_WANT_ACC64, {9, 9}}};
    for (size_t i = 0; i < QP_COUNT(checks); i++) {
        qp_case(c, checks[i].want, "%s", checks[i].name);
        qp_case_input(c, 1, -5, 9);
        qp_case_output(c, qp_part(c, "relu", "0", 1));
        qp_case_policy(c, 1, QP_CHECK, checks[i].range.lo, checks[i].range.hi);
    }
    static const struct {
        const char *name;
        qp_want want;
        int64_t bias;
    } sums[] = {{"step 8: a sum of 2^63 - 1 meets acc64", QP_WANT_ACC64, QP_P(62) - 1},
                {"step 8: a sum of 2^63 fails acc64 by one", QP_WANT_MISMATCH, QP_P(62)}};
    for (size_t i = 0; i < QP_COUNT(sums); i++) {
        qp_case(c, sums[i].want, "%s", sums[i].name);
        qp_case_input(c, 1, 0, QP_P(62));
        qp_case_output(
            c, qp_part_rescale(c, 0, 1,
                               &(qp_case_rq){.place = QP_BIAS_POST, .bias = {&sums[i].bias, 1}}));
    }
    qp_case(c, QP_WANT_MISMATCH, "step 8: squares that saturate the bounds pass");
    qp_case_input(c, 1, INT64_MIN, INT64_MAX);
    for (uint32_t k = 0; k < 3; k++) {
        qp_part(c, "mul", k == 0 ? "0 0" : k == 1 ? "1 1" : "2 2", 1);
        qp_case_rq_block(c, &(qp_case_rq){.shift = QP_LIST(0)});
    }
    qp_case_output(c, 3);
    qp_case(c, QP_WANT_MISMATCH, "step 8: a clamp does not mend what its producer forms");
    qp_case_input(c, 1, INT64_MIN, 0);
    qp_case_output(c, qp_part(c, "abs", "0", 1));
    qp_case_policy(c, 1, QP_CLAMP, 0, 9);
}

void qp_graphs_load(qp_corpus *c, const void *context)
{
    (void)context;
    one_field(c);
    lengths(c);
    graph_rules(c);
    plans(c);
    bounds(c);
}
