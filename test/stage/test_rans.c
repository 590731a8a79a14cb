/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rans.c - rans64_decode (integer-operators.md section 5E, E1): its table rules, escapes, end
 * rules and refusals with their index; the encoder as its inverse; and both against a model that is
 * written from the text alone.
 */
#include "failing_allocator.h"
#include "quipu/quipu.h"
#include "stage/rans_model.h"
#include "support/test.h"

enum { COUNT = 300, ENTRIES = 700, TABLES = 5 };

static const qp_rans_modes usual = {.table = QP_RANS_T4097};

/* A table whose only symbols are 0, with 65535 of 65536 slots, and the escape. */
static const int64_t narrow_cdf[] = {0, 65535, 65536};
/* Half a chance for 0, half for the escape: an escape takes one bit. */
static const int64_t half_cdf[] = {0, 32768, 65536};

static qp_rans_cdf cdf_of(const int64_t *values, size_t count, int64_t offset)
{
    qp_rans_cdf cdf = {{values, count}, offset};
    return cdf;
}

static qp_rans_tables *make(const qp_rans_cdf *cdfs, size_t count, const qp_rans_modes *modes)
{
    qp_rans_tables *tables = NULL;
    assert_int_equal(qp_rans_tables_create(cdfs, count, modes, NULL, &tables, NULL), QP_OK);
    return tables;
}

/* ---- tables ------------------------------------------------------------------------------- */

static void assert_table(qp_status want, const qp_rans_cdf *cdf, const qp_rans_modes *modes)
{
    qp_rans_tables *tables = NULL;
    qp_error error = {0};
    assert_int_equal(qp_rans_tables_create(cdf, 1, modes, NULL, &tables, &error), want);
    assert_true((tables != NULL) == (want == QP_OK));
    if (want != QP_OK) {
        assert_int_equal(error.status, want);
        assert_int_equal(error.table, QP_TABLE_NONE);
        assert_int_equal(error.record, -1);
    }
    qp_rans_tables_free(tables);
}

static void assert_cdf(qp_status want, const int64_t *values, size_t count, qp_rans_table_rule rule)
{
    qp_rans_cdf cdf = cdf_of(values, count, 0);
    qp_rans_modes modes = {.table = rule};
    assert_table(want, &cdf, &modes);
}

static void test_table_rules(void **state)
{
    static const int64_t two[] = {0, 65536}, starts[] = {1, 5, 65536}, ends[] = {0, 5, 65535},
                         beyond[] = {0, 5, 65537}, flat[] = {0, 7, 7, 65536},
                         falls[] = {0, 9, 8, 65536}, far[] = {0, INT64_MIN, 65536};
    static int64_t steps[65538];
    (void)state;
    assert_cdf(QP_MODEL_MISMATCH, two, 2, QP_RANS_T4097);
    assert_cdf(QP_OK, two, 2, QP_RANS_T2);
    assert_cdf(QP_MODEL_MISMATCH, two, 1, QP_RANS_T2);
    assert_cdf(QP_MODEL_MISMATCH, NULL, 0, QP_RANS_T2);
    assert_cdf(QP_MODEL_MISMATCH, NULL, 0, QP_RANS_T4097);
    assert_cdf(QP_OK, half_cdf, 3, QP_RANS_T4097);
    for (qp_rans_table_rule rule = QP_RANS_T4097; rule <= QP_RANS_T2; rule++) {
        assert_cdf(QP_MODEL_MISMATCH, starts, 3, rule);
        assert_cdf(QP_MODEL_MISMATCH, ends, 3, rule);
        assert_cdf(QP_MODEL_MISMATCH, beyond, 3, rule);
        assert_cdf(QP_MODEL_MISMATCH, flat, 4, rule);
        assert_cdf(QP_MODEL_MISMATCH, falls, 4, rule);
        assert_cdf(QP_MODEL_MISMATCH, far, 3, rule);
    }
    for (int64_t i = 0; i < 65538; i++)
        steps[i] = i < 65536 ? i : 65536;
    assert_cdf(QP_OK, steps, 65537, QP_RANS_T2);
    assert_cdf(QP_MODEL_MISMATCH, steps, 65538, QP_RANS_T2);
    steps[4096] = 65536;
    assert_cdf(QP_OK, steps, 4097, QP_RANS_T4097);
    steps[4096] = 4096;
    steps[4097] = 65536;
    assert_cdf(QP_MODEL_MISMATCH, steps, 4098, QP_RANS_T4097);
    assert_cdf(QP_OK, steps, 4098, QP_RANS_T2);
}

static void test_offsets_and_bounds(void **state)
{
    qp_rans_cdf cdf = cdf_of(half_cdf, 3, INT32_MAX);
    qp_rans_modes strict = {.escape = QP_RANS_STRICT, .lo = 4, .hi = 4};
    (void)state;
    assert_table(QP_OK, &cdf, &usual);
    cdf.offset = (int64_t)INT32_MAX + 1;
    assert_table(QP_MODEL_MISMATCH, &cdf, &usual);
    cdf.offset = (int64_t)INT32_MIN - 1;
    assert_table(QP_MODEL_MISMATCH, &cdf, &usual);
    cdf.offset = INT32_MIN;
    assert_table(QP_OK, &cdf, &usual);
    assert_table(QP_OK, &cdf, &strict);
    strict.hi = 3;
    assert_table(QP_MODEL_MISMATCH, &cdf, &strict);
    strict.hi = (int64_t)INT32_MAX + 1;
    assert_table(QP_MODEL_MISMATCH, &cdf, &strict);
    strict = (qp_rans_modes){.escape = QP_RANS_STRICT, .lo = (int64_t)INT32_MIN - 1};
    assert_table(QP_MODEL_MISMATCH, &cdf, &strict);
    strict.escape = QP_RANS_LENIENT; /* which has no bounds */
    assert_table(QP_OK, &cdf, &strict);
}

/* The second of two tables is at fault; a read of a third is refused before the first symbol. */
static void test_which_table(void **state)
{
    static const int64_t flat[] = {0, 7, 7, 65536};
    static const uint8_t stream[8] = {0, 0, 0, 0, 1, 0, 0, 0};
    static const uint32_t reads[] = {0, 2, 0};
    qp_rans_cdf cdfs[] = {cdf_of(half_cdf, 3, 0), cdf_of(flat, 4, 0)};
    qp_rans_tables *tables;
    qp_rans_decoder decoder;
    qp_error error = {0};
    int32_t symbols[3] = {5, 5, 5};
    (void)state;
    assert_int_equal(qp_rans_tables_create(cdfs, 2, &usual, NULL, &tables, &error),
                     QP_MODEL_MISMATCH);
    assert_non_null(strstr(error.message, "table 1"));
    cdfs[1] = cdfs[0];
    tables = make(cdfs, 2, &usual);
    assert_int_equal(qp_rans_tables_count(tables), 2);
    assert_int_equal(qp_rans_tables_modes(tables).escape, QP_RANS_LENIENT);
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream, 8, NULL), QP_OK);
    assert_int_equal(qp_rans_decode_run(&decoder, reads, 3, symbols, &error), QP_MODEL_MISMATCH);
    assert_int_equal(qp_rans_decode_same(&decoder, 2, 3, symbols, &error), QP_MODEL_MISMATCH);
    assert_int_equal(qp_rans_decode(&decoder, 2, symbols, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(symbols[0], 5);
    assert_int_equal(decoder.decoded, 0);
    qp_rans_tables_free(tables);
    qp_rans_tables_free(NULL);
    tables = make(NULL, 0, &usual);
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream, 8, NULL), QP_OK);
    assert_int_equal(qp_rans_decode_run(&decoder, NULL, 0, NULL, NULL), QP_OK);
    qp_rans_tables_free(tables);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* The state 2^32 stands for one 0 of the half table: c = 0, x = 2^15·2^16 = 2^31, and no word. */
static void test_one_symbol(void **state)
{
    static const uint8_t stream[12] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    qp_rans_cdf cdf = cdf_of(half_cdf, 3, 40);
    qp_rans_tables *tables = make(&cdf, 1, &usual);
    qp_rans_decoder decoder;
    qp_error error = {0};
    int32_t symbol = 0;
    (void)state;
    for (size_t size = 0; size < 8; size++)
        assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream, size, &error),
                         QP_MODEL_MISMATCH);
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream, 11, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream, 8, NULL), QP_OK);
    assert_int_equal(qp_rans_decode(&decoder, 0, &symbol, NULL), QP_OK);
    assert_int_equal(symbol, 40);
    assert_int_equal(qp_rans_finish(&decoder, NULL), QP_OK);

    /* the same with a word left over, and before any symbol is decoded */
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream, 12, NULL), QP_OK);
    assert_int_equal(qp_rans_decode(&decoder, 0, &symbol, NULL), QP_OK);
    assert_int_equal(qp_rans_finish(&decoder, &error), QP_STREAM_NONCANONICAL);
    assert_int_equal(error.table, QP_TABLE_SYMBOLS);
    assert_int_equal(error.record, 1);
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream, 8, NULL), QP_OK);
    assert_int_equal(qp_rans_finish(&decoder, &error), QP_STREAM_NONCANONICAL);
    assert_int_equal(error.record, 0);
    qp_rans_tables_free(tables);
}

/* ---- single steps ------------------------------------------------------------------------- */

/* A decode of one or more reads of table 0, and what it must give. */
typedef struct trial {
    qp_rans_modes modes;
    const rans_step *steps;
    size_t n_steps;
    uint64_t last; /* the state after the last step; below 2^31 the stream runs out */
    int64_t offset;
    size_t count;   /* of symbols */
    qp_status want; /* of the decode and its end */
    size_t at;
    int32_t symbol; /* the last, where all are decoded */
} trial;

static void run_trial(const trial *t)
{
    static const uint32_t reads[8] = {0};
    uint8_t bytes[256];
    qp_rans_cdf cdf = cdf_of(half_cdf, 3, t->offset);
    qp_rans_tables *tables = make(&cdf, 1, &t->modes);
    size_t size = rans_write_steps(t->steps, t->n_steps, t->last, bytes);
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        qp_rans_decoder decoder;
        qp_error error = {0};
        int32_t symbols[8] = {0};
        qp_status status = QP_OK;
        assert_int_equal(qp_rans_decoder_init(&decoder, tables, bytes, size, NULL), QP_OK);
        for (size_t i = 0; one_by_one && status == QP_OK && i < t->count; i++)
            status = qp_rans_decode(&decoder, 0, &symbols[i], &error);
        if (!one_by_one)
            status = qp_rans_decode_run(&decoder, reads, t->count, symbols, &error);
        if (status == QP_OK) {
            assert_int_equal(symbols[t->count - 1], t->symbol);
            status = qp_rans_finish(&decoder, &error);
        }
        assert_int_equal(status, t->want);
        if (status != QP_OK) {
            assert_int_equal(error.table, QP_TABLE_SYMBOLS);
            assert_int_equal(error.record, t->at);
            assert_int_equal(decoder.decoded, t->at);
        }
    }
    qp_rans_tables_free(tables);
}

#define WHOLE UINT64_C(0x80000000) /* the last state of a canonical stream */
#define SHORT UINT64_C(1)          /* the state of one that runs out at its first step */

#define ZERO RANS_INTERVAL(0, 32768)
#define ESCAPE RANS_INTERVAL(32768, 65536)
#define STEPS(...)                                                                                 \
    .steps = (const rans_step[]){__VA_ARGS__},                                                     \
    .n_steps = sizeof((const rans_step[]){__VA_ARGS__}) / sizeof(rans_step)

#define STRICT(low, high, rule)                                                                    \
    {                                                                                              \
        .escape = QP_RANS_STRICT, .lo = (low), .hi = (high), .end = (rule)                         \
    }

/* Escapes of the half table, n = 3: an odd raw is -⌊raw/2⌋ - 1, an even one ⌊raw/2⌋ + 1. */
static void test_escapes(void **state)
{
    const trial trials[] = {
        /* no group: raw 0 */
        {.modes = {0}, STEPS(ESCAPE, RANS_GROUP(0)), .last = WHOLE, .count = 1, .symbol = 1},
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(1), RANS_GROUP(1)),
         .last = WHOLE,
         .count = 1,
         .symbol = -1},
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(2), RANS_GROUP(4), RANS_GROUP(2)),
         .last = WHOLE,
         .count = 1,
         .offset = -100,
         .symbol = 0x24 / 2 + 1 - 100},
        /* a count that is not minimal is accepted: 3 groups for raw 2 */
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(3), RANS_GROUP(2), RANS_GROUP(0), RANS_GROUP(0)),
         .last = WHOLE,
         .count = 1,
         .symbol = 2},
        /* a count of 9 is clamped to 8 groups; 2^32 - 1 is -2^31 */
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(9), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15),
               RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15)),
         .last = WHOLE,
         .count = 1,
         .symbol = INT32_MIN},
        /* the value is saturated, then the sum: -2^31 - 1, and 2^31 - 1 + 1 - 7 */
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(8), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15),
               RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15)),
         .last = WHOLE,
         .count = 1,
         .offset = -1,
         .symbol = INT32_MIN},
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(8), RANS_GROUP(14), RANS_GROUP(15), RANS_GROUP(15),
               RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15)),
         .last = WHOLE,
         .count = 1,
         .offset = -7,
         .symbol = INT32_MAX - 7},
        /* a plain symbol's sum, at the end of i32 */
        {.modes = {0},
         STEPS(ZERO),
         .last = WHOLE,
         .count = 1,
         .offset = INT32_MAX,
         .symbol = INT32_MAX},
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(0)),
         .last = WHOLE,
         .count = 1,
         .offset = INT32_MAX,
         .symbol = INT32_MAX},
        /* 15, then a continuation of 0: 15 is clamped to 8 */
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(15), RANS_GROUP(0), RANS_GROUP(6), RANS_GROUP(0), RANS_GROUP(0),
               RANS_GROUP(0), RANS_GROUP(0), RANS_GROUP(0), RANS_GROUP(0), RANS_GROUP(0)),
         .last = WHOLE,
         .count = 1,
         .symbol = 4},
        /* 15 nine times: no tenth count group is read, so the next 8 are the value's */
        {.modes = {0},
         STEPS(ESCAPE, RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15),
               RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15),
               RANS_GROUP(2), RANS_GROUP(0), RANS_GROUP(0), RANS_GROUP(0), RANS_GROUP(0),
               RANS_GROUP(0), RANS_GROUP(0), RANS_GROUP(0)),
         .last = WHOLE,
         .count = 1,
         .symbol = 2},
        /* strict: bounds at the symbol itself, beyond i32 before the offset is added */
        {.modes = STRICT(-1, 1, QP_RANS_CANONICAL),
         STEPS(ESCAPE, RANS_GROUP(1), RANS_GROUP(1)),
         .last = WHOLE,
         .count = 1,
         .symbol = -1},
        {.modes = STRICT(INT32_MAX - 6, INT32_MAX - 6, QP_RANS_CANONICAL),
         STEPS(ESCAPE, RANS_GROUP(8), RANS_GROUP(14), RANS_GROUP(15), RANS_GROUP(15),
               RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15), RANS_GROUP(15)),
         .last = WHOLE,
         .count = 1,
         .offset = -7,
         .symbol = INT32_MAX - 6},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(trials); i++)
        run_trial(&trials[i]);
}

/* Every refusal alone, and each pair that one symbol can give at once, under both end rules. The
 * second symbol refuses, so that its index is 1. */
static void test_strict_refusals(void **state)
{
#define CANONICAL QP_RANS_CANONICAL
#define FINAL QP_RANS_FINAL_ONLY
#define SECOND .count = 2, .at = 1
    const trial trials[] = {
        /* alone: a count above 8 */
        {.modes = STRICT(0, 9, CANONICAL),
         STEPS(ZERO, ESCAPE, RANS_GROUP(9)),
         .last = WHOLE,
         SECOND,
         .want = QP_STREAM_NONCANONICAL},
        {.modes = STRICT(0, 9, FINAL),
         STEPS(ZERO, ESCAPE, RANS_GROUP(9)),
         .last = WHOLE,
         SECOND,
         .want = QP_STREAM_NONCANONICAL},
        /* not minimal */
        {.modes = STRICT(0, 9, CANONICAL),
         STEPS(ZERO, ESCAPE, RANS_GROUP(1), RANS_GROUP(0)),
         .last = WHOLE,
         SECOND,
         .want = QP_STREAM_NONCANONICAL},
        {.modes = STRICT(0, 9, FINAL),
         STEPS(ZERO, ESCAPE, RANS_GROUP(2), RANS_GROUP(2), RANS_GROUP(0)),
         .last = WHOLE,
         SECOND,
         .want = QP_STREAM_NONCANONICAL},
        /* out of [lo, hi], escaped and plain, on both sides */
        {.modes = STRICT(0, 0, CANONICAL),
         STEPS(ZERO, ESCAPE, RANS_GROUP(0)),
         .last = WHOLE,
         SECOND,
         .want = QP_FIELD_RANGE},
        {.modes = STRICT(0, 0, FINAL),
         STEPS(ZERO, ESCAPE, RANS_GROUP(1), RANS_GROUP(1)),
         .last = WHOLE,
         SECOND,
         .want = QP_FIELD_RANGE},
        {.modes = STRICT(1, 9, CANONICAL),
         STEPS(ZERO),
         .last = WHOLE,
         .count = 1,
         .at = 0,
         .want = QP_FIELD_RANGE},
        {.modes = STRICT(-9, -1, FINAL),
         STEPS(ZERO),
         .last = WHOLE,
         .count = 1,
         .at = 0,
         .want = QP_FIELD_RANGE},
        /* run out: in the first symbol, canonical at once, final_only at the end */
        {.modes = STRICT(0, 9, CANONICAL),
         STEPS(ZERO, ZERO),
         .last = SHORT,
         .count = 2,
         .at = 0,
         .want = QP_STREAM_EXHAUSTED},
        {.modes = STRICT(0, 9, FINAL),
         STEPS(ZERO, ZERO),
         .last = SHORT,
         .count = 2,
         .at = 2,
         .want = QP_STREAM_EXHAUSTED},
        /* run out and a count above 8 */
        {.modes = STRICT(0, 9, CANONICAL),
         STEPS(ESCAPE, RANS_GROUP(9)),
         .last = SHORT,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_EXHAUSTED},
        {.modes = STRICT(0, 9, FINAL),
         STEPS(ESCAPE, RANS_GROUP(9)),
         .last = SHORT,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_NONCANONICAL},
        /* run out and not minimal */
        {.modes = STRICT(0, 9, CANONICAL),
         STEPS(ESCAPE, RANS_GROUP(1), RANS_GROUP(0)),
         .last = SHORT,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_EXHAUSTED},
        {.modes = STRICT(0, 9, FINAL),
         STEPS(ESCAPE, RANS_GROUP(1), RANS_GROUP(0)),
         .last = SHORT,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_NONCANONICAL},
        /* run out and out of [lo, hi] */
        {.modes = STRICT(5, 9, CANONICAL),
         STEPS(ZERO),
         .last = SHORT,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_EXHAUSTED},
        {.modes = STRICT(5, 9, FINAL),
         STEPS(ZERO),
         .last = SHORT,
         .count = 1,
         .at = 0,
         .want = QP_FIELD_RANGE},
        /* a count above 8 and out of [lo, hi] */
        {.modes = STRICT(5, 9, CANONICAL),
         STEPS(ESCAPE, RANS_GROUP(15)),
         .last = WHOLE,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_NONCANONICAL},
        {.modes = STRICT(5, 9, FINAL),
         STEPS(ESCAPE, RANS_GROUP(15)),
         .last = WHOLE,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_NONCANONICAL},
        /* not minimal and out of [lo, hi] */
        {.modes = STRICT(5, 9, CANONICAL),
         STEPS(ESCAPE, RANS_GROUP(1), RANS_GROUP(0)),
         .last = WHOLE,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_NONCANONICAL},
        {.modes = STRICT(5, 9, FINAL),
         STEPS(ESCAPE, RANS_GROUP(1), RANS_GROUP(0)),
         .last = WHOLE,
         .count = 1,
         .at = 0,
         .want = QP_STREAM_NONCANONICAL},
        /* the end: a state that is not 2^31 */
        {.modes = STRICT(0, 9, CANONICAL),
         STEPS(ZERO, ZERO),
         .last = WHOLE + 1,
         .count = 2,
         .at = 2,
         .want = QP_STREAM_NONCANONICAL,
         .symbol = 0},
        {.modes = STRICT(0, 9, FINAL),
         STEPS(ZERO, ZERO),
         .last = WHOLE + 1,
         .count = 2,
         .symbol = 0},
        /* lenient knows only the end rules */
        {.modes = {.end = CANONICAL},
         STEPS(ZERO, ZERO),
         .last = SHORT,
         .count = 2,
         .at = 0,
         .want = QP_STREAM_EXHAUSTED},
        {.modes = {.end = FINAL},
         STEPS(ZERO, ZERO),
         .last = SHORT,
         .count = 2,
         .at = 2,
         .want = QP_STREAM_EXHAUSTED},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(trials); i++)
        run_trial(&trials[i]);
}

/* ---- random ------------------------------------------------------------------------------- */

typedef struct random_case {
    int64_t entries[TABLES][ENTRIES];
    qp_rans_cdf cdfs[TABLES];
    qp_rans_modes modes;
    uint32_t reads[COUNT];
    int32_t symbols[COUNT];
} random_case;

static void random_table(random_case *c, size_t t, uint64_t *seed)
{
    size_t least = c->modes.table == QP_RANS_T2 ? 2 : 3;
    size_t n = least + test_below(seed, test_below(seed, 4) == 0 ? ENTRIES - 3 : 9);
    int64_t left = 65536 - (int64_t)n + 1, at = 0;
    for (size_t k = 0; k + 1 < n; k++) {
        int64_t more = test_between(seed, 0, left) / (1 + (int64_t)test_below(seed, 40));
        c->entries[t][k] = at;
        at += 1 + more;
        left -= more;
    }
    c->entries[t][n - 1] = 65536;
    c->cdfs[t] = cdf_of(c->entries[t], n, test_between(seed, -300, 300));
    if (test_below(seed, 10) == 0)
        c->cdfs[t].offset = test_below(seed, 2) ? INT32_MAX : INT32_MIN;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* Symbols of every size: in the table, near it, and with each number of bits. */
static int32_t random_symbol(const random_case *c, uint32_t table, uint64_t *seed)
{
    int64_t n = (int64_t)c->cdfs[table].cdf.count;
    int64_t value = test_between(seed, -2, n);
    if (test_below(seed, 4) == 0) {
        value = (int64_t)(test_random(seed) >> (32 + test_below(seed, 32)));
        value = test_below(seed, 2) ? -value : value;
    }
    value = clamp(value, INT32_MIN, INT32_MAX);
    return (int32_t)clamp(value + c->cdfs[table].offset, c->modes.lo, c->modes.hi);
}

static void random_modes(random_case *c, uint64_t *seed)
{
    c->modes = (qp_rans_modes){.table = test_below(seed, 2) ? QP_RANS_T2 : QP_RANS_T4097,
                               .escape = test_below(seed, 2) ? QP_RANS_STRICT : QP_RANS_LENIENT,
                               .end = test_below(seed, 2) ? QP_RANS_FINAL_ONLY : QP_RANS_CANONICAL,
                               .lo = INT32_MIN,
                               .hi = INT32_MAX};
    if (test_below(seed, 3) == 0) {
        c->modes.lo = test_between(seed, -1000, 0);
        c->modes.hi = test_between(seed, 0, 1000);
    }
    for (size_t t = 0; t < TABLES; t++)
        random_table(c, t, seed);
    for (size_t i = 0; i < COUNT; i++)
        c->reads[i] = test_below(seed, TABLES);
}

/* Decodes by the library and by the model: the same symbols, refusal and index. */
static void compare_with_model(const random_case *c, const qp_rans_tables *tables,
                               const qp_stream *stream, size_t count, bool one_by_one)
{
    static int32_t found[COUNT];
    static int64_t wanted[COUNT];
    qp_rans_symbols reads = {.reads = c->reads, .count = count};
    qp_rans_decoder decoder;
    qp_error error = {0};
    size_t at = 0;
    qp_status want = rans_model_decode(stream, c->cdfs, &c->modes, &reads, wanted, &at);

    assert_int_equal(qp_rans_decoder_init(&decoder, tables, stream->bytes, stream->size, NULL),
                     QP_OK);
    qp_status status = QP_OK;
    if (!one_by_one)
        status = qp_rans_decode_run(&decoder, c->reads, count, found, &error);
    for (size_t i = 0; one_by_one && status == QP_OK && i < count; i++)
        status = qp_rans_decode(&decoder, c->reads[i], &found[i], &error);
    if (status == QP_OK)
        status = qp_rans_finish(&decoder, &error);
    assert_int_equal(status, want);
    if (status != QP_OK)
        assert_int_equal(error.record, at);
    for (size_t i = 0; i < at; i++)
        assert_int_equal(found[i], wanted[i]);
}

/* What the encoder writes decodes to the symbols; its prefixes, and changes of a byte, decode as
 * the model says. */
static void test_round_trips(void **state)
{
    static random_case c;
    uint64_t seed = 7;
    size_t encoded = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        random_modes(&c, &seed);
        qp_rans_tables *tables = make(c.cdfs, TABLES, &c.modes);
        qp_stream stream;
        qp_rans_symbols input = {c.reads, c.symbols, test_below(&seed, COUNT + 1)};
        qp_error error;
        for (size_t i = 0; i < input.count; i++)
            c.symbols[i] = random_symbol(&c, c.reads[i], &seed);
        qp_status status = qp_rans_encode(tables, &input, NULL, &stream, &error);
        if (status == QP_OK) {
            static int32_t found[COUNT];
            qp_rans_decoder d;
            assert_int_equal(qp_rans_decoder_init(&d, tables, stream.bytes, stream.size, NULL),
                             QP_OK);
            assert_int_equal(qp_rans_decode_run(&d, c.reads, input.count, found, NULL), QP_OK);
            assert_int_equal(qp_rans_finish(&d, NULL), QP_OK);
            assert_memory_equal(found, c.symbols, input.count * sizeof *found);
            compare_with_model(&c, tables, &stream, input.count, round % 2);
            qp_stream cut = {stream.bytes, stream.size / 2 / 4 * 4};
            if (cut.size >= 8)
                compare_with_model(&c, tables, &cut, input.count, round % 2);
            stream.bytes[test_below(&seed, (uint32_t)stream.size)] ^= 1 << test_below(&seed, 8);
            compare_with_model(&c, tables, &stream, input.count, round % 2);
            encoded++;
        } else {
            assert_int_equal(status, QP_FIELD_RANGE); /* the sum with an extreme offset */
            assert_null(stream.bytes);
            assert_true(error.record >= 0 && (size_t)error.record < input.count);
        }
        qp_stream_free(NULL, &stream);
        qp_rans_tables_free(tables);
    }
    assert_true(encoded > 100);
}

/* Bytes of no encoder. */
static void test_random_streams(void **state)
{
    static random_case c;
    uint64_t seed = 11;
    uint8_t bytes[256];
    (void)state;
    for (int round = 0; round < 3000; round++) {
        random_modes(&c, &seed);
        qp_rans_tables *tables = make(c.cdfs, TABLES, &c.modes);
        qp_stream stream = {bytes, 8 + 4 * (size_t)test_below(&seed, 62)};
        for (size_t i = 0; i < stream.size; i++)
            bytes[i] = (uint8_t)(test_below(&seed, 8) == 0 ? 0xFF : test_random(&seed));
        if (round % 5 == 0) /* a first state below 2^31 is taken as it is */
            memset(bytes + 4, 0, 4);
        compare_with_model(&c, tables, &stream, COUNT, round % 2);
        qp_rans_tables_free(tables);
    }
}

/* Escapes of every length, at both ends of each. */
static void test_every_escape(void **state)
{
    qp_rans_cdf cdf = cdf_of(narrow_cdf, 3, 0);
    qp_rans_modes strict = STRICT(INT32_MIN, INT32_MAX, QP_RANS_CANONICAL);
    static const uint32_t reads[4] = {0};
    (void)state;
    for (unsigned bits = 0; bits < 32; bits++)
        for (int mode = 0; mode < 2; mode++) {
            int32_t top = (int32_t)(((int64_t)1 << bits) - 1);
            int32_t symbols[4] = {top, -top, top < INT32_MAX ? top + 1 : top, -top - 1}, found[4];
            qp_rans_tables *tables = make(&cdf, 1, mode ? &strict : &usual);
            qp_rans_symbols input = {reads, symbols, 4};
            qp_stream stream;
            qp_rans_decoder d;
            assert_int_equal(qp_rans_encode(tables, &input, NULL, &stream, NULL), QP_OK);
            assert_int_equal(qp_rans_decoder_init(&d, tables, stream.bytes, stream.size, NULL),
                             QP_OK);
            assert_int_equal(qp_rans_decode_run(&d, reads, 4, found, NULL), QP_OK);
            assert_int_equal(qp_rans_finish(&d, NULL), QP_OK);
            assert_memory_equal(found, symbols, sizeof symbols);
            qp_stream_free(NULL, &stream);
            qp_rans_tables_free(tables);
        }
}

/* ---- what the encoder refuses ------------------------------------------------------------- */

static void assert_encode(const qp_rans_cdf *cdf, const qp_rans_modes *modes, int32_t symbol,
                          qp_status want)
{
    static const uint32_t reads[2] = {0};
    int32_t symbols[2] = {0, symbol};
    qp_rans_symbols input = {reads, symbols, 2};
    qp_rans_tables *tables = make(cdf, 1, modes);
    qp_stream stream;
    qp_error error = {0};
    assert_int_equal(qp_rans_encode(tables, &input, NULL, &stream, &error), want);
    if (want != QP_OK)
        assert_int_equal(error.record, 1);
    qp_stream_free(NULL, &stream);
    qp_rans_tables_free(tables);
}

static void test_symbols_without_code(void **state)
{
    qp_rans_modes strict = STRICT(-5, 5, QP_RANS_CANONICAL);
    qp_rans_modes wide = STRICT(INT32_MIN, INT32_MAX, QP_RANS_CANONICAL);
    qp_rans_cdf cdf = cdf_of(half_cdf, 3, 0);
    static const uint32_t reads[] = {0, 1};
    int32_t symbols[2] = {0};
    qp_rans_symbols input = {reads, symbols, 2};
    qp_stream stream;
    (void)state;
    assert_encode(&cdf, &strict, 5, QP_OK);
    assert_encode(&cdf, &strict, 6, QP_FIELD_RANGE);
    assert_encode(&cdf, &strict, -5, QP_OK);
    assert_encode(&cdf, &strict, -6, QP_FIELD_RANGE);
    cdf.offset = 1; /* -2^31 would be the value -2^31 - 1, which saturates */
    assert_encode(&cdf, &usual, INT32_MIN, QP_FIELD_RANGE);
    assert_encode(&cdf, &wide, INT32_MIN, QP_FIELD_RANGE);
    assert_encode(&cdf, &usual, INT32_MIN + 1, QP_OK);
    cdf.offset = -1; /* strict does not saturate: 2^31 - 1 is the value 2^31 */
    assert_encode(&cdf, &usual, INT32_MAX, QP_FIELD_RANGE);
    assert_encode(&cdf, &wide, INT32_MAX, QP_OK);
    cdf.offset = 0;
    qp_rans_tables *tables = make(&cdf, 1, &usual);
    assert_int_equal(qp_rans_encode(tables, &input, NULL, &stream, NULL), QP_MODEL_MISMATCH);
    assert_null(stream.bytes);
    input.count = 0; /* no symbol: the two words of 2^31 */
    assert_int_equal(qp_rans_encode(tables, &input, NULL, &stream, NULL), QP_OK);
    assert_int_equal(stream.size, 8);
    assert_memory_equal(stream.bytes, ((const uint8_t[]){0, 0, 0, 0x80, 0, 0, 0, 0}), 8);
    qp_stream_free(NULL, &stream);
    qp_rans_tables_free(tables);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_memory(void **state)
{
    static random_case c;
    uint64_t seed = 3;
    (void)state;
    random_modes(&c, &seed);
    c.modes = usual;
    for (size_t t = 0; t < TABLES; t++)
        random_table(&c, t, &seed);
    for (size_t i = 0; i < COUNT; i++)
        c.symbols[i] = (int32_t)c.cdfs[c.reads[i]].offset;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_rans_tables *tables = NULL;
        qp_stream stream = {0};
        qp_rans_symbols input = {c.reads, c.symbols, COUNT};
        qp_status status =
            qp_rans_tables_create(c.cdfs, TABLES, &c.modes, &allocator, &tables, NULL);
        if (status == QP_OK)
            status = qp_rans_encode(tables, &input, &allocator, &stream, NULL);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        qp_stream_free(&allocator, &stream);
        qp_rans_tables_free(tables);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_rules),  cmocka_unit_test(test_offsets_and_bounds),
        cmocka_unit_test(test_which_table),  cmocka_unit_test(test_one_symbol),
        cmocka_unit_test(test_escapes),      cmocka_unit_test(test_strict_refusals),
        cmocka_unit_test(test_round_trips),  cmocka_unit_test(test_random_streams),
        cmocka_unit_test(test_every_escape), cmocka_unit_test(test_symbols_without_code),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("rans", tests, NULL, NULL);
}
