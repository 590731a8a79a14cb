/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.c - the cases that every operator has, made from its `base`, and the tables of roundings
 * and limits that several share (section 14.1, items 2 to 5).
 */
#include "conform/corpus.h"

/* ---- sizes and random graphs -------------------------------------------------------------- */

/* A 1x1 plane, odd sizes, single rows and columns (item 3), and rows longer than any register. */
static void sizes(qp_corpus *c, const qp_corpus_row *row)
{
    static const uint32_t table[][2] = {{1, 1}, {1, 6}, {5, 1}, {3, 5}, {4, 4}, {7, 2}, {3, 67}};
    size_t count = row->large ? 1 : QP_COUNT(table);

    for (size_t i = 0; i < count; i++) {
        qp_case(c, QP_WANT_LOADED, "size %ux%u", table[i][0], table[i][1]);
        row->base(c, table[i][0], table[i][1]);
    }
}

static void random_graphs(qp_corpus *c, const qp_corpus_row *row)
{
    for (unsigned i = 0; i < 10; i++) {
        qp_case(c, QP_WANT_LOADED, "random %u", i);
        uint32_t height = (uint32_t)qp_case_random(c, 1, 6);
        uint32_t width = (uint32_t)qp_case_random(c, 1, 6);
        row->base(c, height, width);
    }
}

/* ---- policies (item 5) -------------------------------------------------------------------- */

static void output_policy(qp_corpus *c, const qp_corpus_row *row, const char *id,
                          const qp_range *inset)
{
    qp_policy policy = id[0] == 'c' && id[1] == 'l' ? QP_CLAMP : QP_CHECK;
    qp_range range = {0, 0};

    qp_case(c, QP_WANT_LOADED, "%s", id);
    row->base(c, 3, 3);
    if (!qp_case_output_range(c, &range))
        return;
    bool room = range.hi - range.lo >= inset->lo + inset->hi;
    bool refused = room && policy == QP_CHECK && inset->lo + inset->hi > 0;
    if (room)
        range = (qp_range){range.lo + inset->lo, range.hi - inset->hi};
    qp_case_policy(c, qp_case_output_tensor(c, 0), policy, range.lo, range.hi);
    qp_case_first_want(c, refused ? QP_FIELD_RANGE : QP_OK);
}

static void output_policies(qp_corpus *c, const qp_corpus_row *row)
{
    output_policy(c, row, "check, the output at both ends", &(qp_range){0, 0});
    output_policy(c, row, "check, the output one past the low end", &(qp_range){1, 0});
    if (row->large)
        return;
    output_policy(c, row, "check, the output one past the high end", &(qp_range){0, 1});
    output_policy(c, row, "clamp of the output", &(qp_range){1, 1});
}

static void input_policies(qp_corpus *c, const qp_corpus_row *row, uint32_t input)
{
    for (unsigned clamp = 0; clamp < 2; clamp++) {
        qp_status past = clamp ? QP_OK : QP_FIELD_RANGE;
        qp_case(c, QP_WANT_LOADED, "input %u: %s at its ends and past them", input,
                clamp ? "clamp" : "check");
        row->base(c, 2, 3);
        uint32_t tensor = qp_case_input_tensor(c, input);
        qp_range range = qp_case_tensor_range(c, tensor);
        if (clamp)
            qp_case_policy(c, tensor, QP_CLAMP, range.lo, range.hi);
        qp_case_decode_with(c, QP_OK, input, range.lo);
        qp_case_decode_with(c, QP_OK, input, range.hi);
        qp_case_decode_with(c, past, input, range.lo - 1);
        qp_case_decode_with(c, past, input, range.hi + 1);
    }
}

/* ---- refused shapes (section 4, run step 1) ----------------------------------------------- */

static void refused_shapes(qp_corpus *c, const qp_corpus_row *row, uint32_t input)
{
    qp_case(c, QP_WANT_LOADED, "input %u: refused shapes", input);
    row->base(c, 2, 2);
    qp_shape s = qp_case_given_shape(c, input);
    qp_case_decode_shape(c, QP_MODEL_MISMATCH, input,
                         (qp_shape){s.channels + 1, s.height, s.width});
    qp_case_decode_shape(c, QP_MODEL_MISMATCH, input, (qp_shape){s.channels, 0, s.width});
    qp_case_decode_shape(c, QP_MODEL_MISMATCH, input, (qp_shape){s.channels, s.height, 0});

    qp_case(c, QP_WANT_LOADED, "input %u: past its declared size", input);
    row->base(c, 2, 2);
    qp_case_declare_given(c);
    s = qp_case_given_shape(c, input);
    qp_case_decode_shape(c, QP_TOO_LARGE, input, (qp_shape){s.channels, s.height + 1, s.width});
    qp_case_decode_shape(c, QP_TOO_LARGE, input, (qp_shape){s.channels, s.height, s.width + 1});

    if (qp_case_last_operator(c)->needs_sizes)
        return;
    qp_case(c, QP_WANT_LOADED, "input %u: past max_elems", input);
    row->base(c, 2, 2);
    qp_case_max_elems(c, 256);
    s = qp_case_given_shape(c, input);
    qp_case_decode_shape(c, QP_TOO_LARGE, input, (qp_shape){s.channels, 1, 256 / s.channels + 1});
}

/* ---- malformed records (section 10.5, steps 5 and 7) -------------------------------------- */

static void malformed(qp_corpus *c, const qp_corpus_row *row)
{
    enum { SHORT, LONG, INPUTS, OUTPUTS, RESERVED, TENSOR, CHANNELS, COUNT };
    static const char *const names[COUNT] = {"parameters one byte short",
                                             "parameters one byte long",
                                             "an input too many",
                                             "an output too many",
                                             "a reserved byte",
                                             "a tensor that is not there",
                                             "the output's channels are others"};

    for (unsigned k = 0; k < COUNT; k++) {
        qp_case(c, QP_WANT_MISMATCH, "malformed: %s", names[k]);
        row->base(c, 2, 2);
        const qp_operator *op = qp_case_last_operator(c);
        int64_t at = qp_case_at(c, QP_TABLE_OPERATORS, 0);
        int64_t params = qp_case_at(c, QP_TABLE_PARAMETERS, 0);
        size_t size = qp_case_params_size(c);
        uint32_t output = qp_case_output_tensor(c, 0);
        qp_case_forget_decodes(c);
        if (k == SHORT || k == LONG) {
            bool less = k == SHORT && size > 0;
            qp_case_patch(c, params - 4, 4, less ? size - 1 : size + 1);
            qp_case_resize(c, less ? -1 : k == LONG ? 1 : 0);
        } else if (k == INPUTS) {
            qp_case_patch(c, at + 1, 1, op->more_inputs ? 1 : op->n_in + 1u);
        } else if (k == OUTPUTS) {
            qp_case_patch(c, at + 2, 1, op->n_out + 1u);
        } else if (k == RESERVED) {
            qp_case_patch(c, at + 3, 1, 1);
        } else if (k == TENSOR) {
            qp_case_patch(c, at + 4, 4, 1000);
        } else {
            bool any = strcmp(op->name, "fill") == 0; /* its channels are its tensor record's */
            qp_case_patch(c, qp_case_at(c, QP_TABLE_TENSORS, output), 4, any ? 0 : 1000);
        }
        if (row->large)
            return;
    }
}

void qp_corpus_common(qp_corpus *c, const qp_corpus_row *row)
{
    sizes(c, row);
    output_policies(c, row);
    malformed(c, row);
    if (row->large)
        return;
    uint32_t inputs = 1;
    for (uint32_t k = 0; k < inputs; k++) {
        input_policies(c, row, k);
        inputs = qp_case_input_count(c);
        refused_shapes(c, row, k);
    }
    random_graphs(c, row);
}

/* ---- roundings (item 2) ------------------------------------------------------------------- */

#define ALL_I64                                                                                    \
    {                                                                                              \
        INT64_MIN, INT64_MAX                                                                       \
    }
#define VALUES(array)                                                                              \
    {                                                                                              \
        array, QP_COUNT(array)                                                                     \
    }

static const int64_t few[] = {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5};
/* around odd multiples of half of 2^31 and 2^32, once multiplied by 2^15 or 2^16 */
static const int64_t near_15[] = {-QP_P(15) * 3 - 1,
                                  -QP_P(15) * 3,
                                  -QP_P(15) * 3 + 1,
                                  -QP_P(15) - 1,
                                  -QP_P(15),
                                  -QP_P(15) + 1,
                                  0,
                                  QP_P(15) - 1,
                                  QP_P(15),
                                  QP_P(15) + 1,
                                  QP_P(15) * 3,
                                  QP_P(15) * 5};
/* around 2^61 and 2^62 once multiplied by 2^31 or 2^32 */
static const int64_t near_30[] = {-QP_P(30) - 1, -QP_P(30), -QP_P(30) + 1, -1, 0, 1,
                                  QP_P(30) - 1,  QP_P(30),  QP_P(30) + 1};
static const int64_t triple_30[] = {-QP_P(30) * 3, -QP_P(30) * 3 + 1, -QP_P(30),
                                    QP_P(30),      QP_P(30) * 3,      QP_P(30) * 3 - 1};
static const int64_t near_31[] = {-QP_P(31) * 3, -QP_P(31) - 1, -QP_P(31),    -QP_P(31) + 1,
                                  QP_P(31) - 1,  QP_P(31),      QP_P(31) + 1, QP_P(31) * 3};
static const int64_t ends_32[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
static const int64_t ends_64[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
static const int64_t plain_30[] = {-QP_P(30) - 1, -QP_P(30), -QP_P(30) + 1, 0,
                                   QP_P(30) - 1,  QP_P(30),  QP_P(30) + 1};
static const int64_t plain_31[] = {-QP_P(31) - 1, -QP_P(31), -QP_P(31) + 1, 0,
                                   QP_P(31) - 1,  QP_P(31),  QP_P(31) + 1,  QP_P(31) * 3};
static const int64_t plain_61[] = {-QP_P(61) * 3, -QP_P(61) - 1, -QP_P(61),    -QP_P(61) + 1,
                                   QP_P(61) - 1,  QP_P(61),      QP_P(61) + 1, QP_P(61) * 3};
static const int64_t plain_62[] = {-QP_P(62) - 1, -QP_P(62), -QP_P(62) + 1,
                                   QP_P(62) - 1,  QP_P(62),  QP_P(62) + 1};

/*
 * Shift, multiplier, range and values of t for each tie. Under acc32 a shift of 63 has no tie but
 * floor's 2^62, and under acc64 one of 127 none but floor's 2^126; half_up and half_even then take
 * the extremes.
 */
typedef struct rounding_row {
    const char *name;
    qp_want want;
    unsigned shift;
    int64_t mult;
    qp_range range;
    qp_list values;
    bool floor_only;
} rounding_row;

static const rounding_row rows[] = {
    {"shift 0", QP_WANT_ACC32, 0, 0, {-5, 5}, VALUES(few), false},
    {"shift 0 times -1", QP_WANT_ACC32, 0, -1, {-5, 5}, VALUES(few), false},
    {"shift 1", QP_WANT_ACC32, 1, 0, {-5, 5}, VALUES(few), false},
    {"shift 1 times -3", QP_WANT_ACC32, 1, -3, {-5, 5}, VALUES(few), false},
    {"shift 31", QP_WANT_ACC32, 31, QP_P(15), {-QP_P(18), QP_P(18)}, VALUES(near_15), false},
    {"shift 32", QP_WANT_ACC32, 32, QP_P(16), {-QP_P(18), QP_P(18)}, VALUES(near_15), false},
    {"shift 32 times -2^16",
     QP_WANT_ACC32,
     32,
     -QP_P(16),
     {-QP_P(18), QP_P(18)},
     VALUES(near_15),
     false},
    {"shift 62",
     QP_WANT_ACC32,
     62,
     INT32_MIN,
     {-QP_P(30) - 1, QP_P(30) + 1},
     VALUES(near_30),
     false},
    {"shift 62, a wide multiplier",
     QP_WANT_ACC64,
     62,
     QP_P(31),
     {-QP_P(32), QP_P(32)},
     VALUES(triple_30),
     false},
    {"shift 63, the extremes",
     QP_WANT_ACC32,
     63,
     INT32_MAX,
     {INT32_MIN, INT32_MAX},
     VALUES(ends_32),
     false},
    {"shift 63, 2^62", QP_WANT_ACC32, 63, INT32_MIN, {INT32_MIN, INT32_MAX}, VALUES(ends_32), true},
    {"shift 63, ties",
     QP_WANT_ACC64,
     63,
     QP_P(32),
     {-QP_P(32), QP_P(32)},
     VALUES(triple_30),
     false},
    {"shift 64", QP_WANT_ACC64, 64, QP_P(32), {-QP_P(34), QP_P(34)}, VALUES(near_31), false},
    {"shift 127, the extremes",
     QP_WANT_ACC64,
     127,
     INT64_MAX,
     {INT64_MIN + 1, INT64_MAX},
     {ends_64 + 1, QP_COUNT(ends_64) - 1},
     false},
    {"shift 127, 2^126", QP_WANT_ACC64, 127, INT64_MIN, ALL_I64, VALUES(ends_64), true},
};

/* With no multiplier, t itself is the odd multiple of half a unit. */
static const rounding_row plain[] = {
    {"shift 0", QP_WANT_ACC32, 0, 0, {-5, 5}, VALUES(few), false},
    {"shift 1", QP_WANT_ACC32, 1, 0, {-5, 5}, VALUES(few), false},
    {"shift 31", QP_WANT_ACC32, 31, 0, {-QP_P(30) - 1, QP_P(30) + 1}, VALUES(plain_30), false},
    {"shift 32", QP_WANT_ACC64, 32, 0, {-QP_P(33), QP_P(33)}, VALUES(plain_31), false},
    {"shift 62", QP_WANT_ACC64, 62, 0, {-QP_P(61) * 3, QP_P(61) * 3}, VALUES(plain_61), false},
    {"shift 63", QP_WANT_ACC64, 63, 0, {-QP_P(62) - 1, QP_P(62) + 1}, VALUES(plain_62), false},
    {"shift 63, the extremes of i32",
     QP_WANT_ACC32,
     63,
     0,
     {INT32_MIN, INT32_MAX},
     VALUES(ends_32),
     false},
    {"shift 64", QP_WANT_ACC64, 64, 0, ALL_I64, VALUES(ends_64), false},
    {"shift 127", QP_WANT_ACC64, 127, 0, ALL_I64, VALUES(ends_64), false},
};

static void make_roundings(qp_corpus *c, const rounding_row *row, size_t count,
                           qp_rounding_fn *make)
{
    static const struct {
        const char *name;
        qp_round round;
    } modes[] = {{"floor", QP_ROUND_FLOOR},
                 {"half_up", QP_ROUND_HALF_UP},
                 {"half_even", QP_ROUND_HALF_EVEN}};

    for (size_t i = 0; i < count; i++, row++)
        for (size_t m = 0; m < (row->floor_only ? 1 : QP_COUNT(modes)); m++) {
            qp_case(c, row->want, "%s, %s", modes[m].name, row->name);
            make(c, &(qp_rounding){modes[m].name, row->want, modes[m].round, row->shift, row->mult,
                                   row->range, row->values});
        }
}

void qp_corpus_roundings(qp_corpus *c, qp_rounding_fn *make)
{
    make_roundings(c, rows, QP_COUNT(rows), make);
}

void qp_corpus_plain_roundings(qp_corpus *c, qp_rounding_fn *make)
{
    make_roundings(c, plain, QP_COUNT(plain), make);
}

/* ---- limits (item 4) ---------------------------------------------------------------------- */

const qp_limit qp_limits[QP_LIMIT_COUNT] = {
    {"-(2^31 - 1) to 2^31 - 1", QP_WANT_ACC32, {INT32_MIN + 1, INT32_MAX}},
    {"-2^31 to 2^31 - 1", QP_WANT_ACC32, {INT32_MIN, INT32_MAX}},
    {"one below -2^31", QP_WANT_ACC64, {(int64_t)INT32_MIN - 1, 0}},
    {"one above 2^31 - 1", QP_WANT_ACC64, {0, (int64_t)INT32_MAX + 1}},
    {"-2^63 to 2^63 - 1", QP_WANT_ACC64, ALL_I64}};
