/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_rans64.c - cases of rans64_decode: every mode, every refusal of E1 alone and in each pair
 * that one symbol can give at once, under both end rules (section 14.1, item 7).
 */
#include "conform/corpus/stage_rans64.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { BEFORE = -1, TABLES_MAX = 3, ENTRIES_MAX = 4098 };

#define READS_MAX QP_STAGE_READS_MAX

static const int64_t half_entries[] = {0, 32768, 65536};

static const char *const table_words[] = {"t4097", "t2"};
static const char *const escape_words[] = {"lenient", "strict"};
static const char *const end_words[] = {"canonical", "final_only"};

/* ---- writing a case ----------------------------------------------------------------------- */

void qp_stage_rans_modes(qp_stage_corpus *c, const qp_rans_modes *m)
{
    qp_stage_modes(c, "{\"end\":\"%s\",\"escape\":\"%s\",", end_words[m->end],
                   escape_words[m->escape]);
    if (m->escape == QP_RANS_STRICT)
        qp_stage_modes(c, "\"hi\":\"%lld\",\"lo\":\"%lld\",", (long long)m->hi, (long long)m->lo);
    qp_stage_modes(c, "\"table\":\"%s\"}", table_words[m->table]);
}

void qp_stage_rans_put(qp_stage_corpus *c, const qp_stage_rans_operands *o)
{
    qp_stage_in(c, "{");
    qp_stage_in_list(c, "reads", o->reads, o->count);
    qp_stage_in(c, ",");
    qp_stage_in_bytes(c, "stream", o->stream, o->size);
    qp_stage_in(c, ",\"tables\":[");
    for (size_t t = 0; t < o->n_cdfs; t++) {
        qp_stage_in(c, t > 0 ? ",{" : "{");
        qp_stage_in_list(c, "cdf", o->cdfs[t].cdf.values, o->cdfs[t].cdf.count);
        qp_stage_in(c, ",\"offset\":\"%lld\"}", (long long)o->cdfs[t].offset);
    }
    qp_stage_in(c, "]}");
}

/* ---- conditions --------------------------------------------------------------------------- */

static const uint8_t empty_stream[12] = {0, 0, 0, 0x80};

/* One table with these entries and no read. */
static void put_table(qp_stage_corpus *c, const qp_rans_modes *m, const int64_t *entries,
                      size_t count, int64_t offset)
{
    qp_rans_cdf cdf = {{entries, count}, offset};
    qp_stage_rans_operands o = {.cdfs = &cdf, .n_cdfs = 1, .stream = empty_stream, .size = 8};
    qp_stage_rans_modes(c, m);
    qp_stage_rans_put(c, &o);
}

static void table_cases(qp_stage_corpus *c)
{
    static const struct {
        const char *id;
        int64_t entries[4];
        size_t count;
    } wrong[] = {{"one that starts at 1", {1, 5, 65536}, 3},
                 {"one that ends at 65535", {0, 5, 65535}, 3},
                 {"one that ends at 65537", {0, 5, 65537}, 3},
                 {"an interval of no width", {0, 7, 7, 65536}, 4},
                 {"one that decreases", {0, 9, 8, 65536}, 4},
                 {"a single entry", {0}, 1},
                 {"no entry", {0}, 0}};
    static const int64_t two[] = {0, 65536};

    for (int rule = 0; rule < 2; rule++) {
        qp_rans_modes m = {.table = rule ? QP_RANS_T2 : QP_RANS_T4097};
        for (size_t i = 0; i < COUNT(wrong); i++) {
            qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "table, %s: %s", table_words[rule],
                          wrong[i].id);
            put_table(c, &m, wrong[i].entries, wrong[i].count, 0);
        }
        qp_stage_case(c, rule ? QP_OK : QP_MODEL_MISMATCH, BEFORE, "table, %s: two entries",
                      table_words[rule]);
        put_table(c, &m, two, 2, 0);
    }
}

static void large_tables(qp_stage_corpus *c)
{
    int64_t entries[ENTRIES_MAX];
    for (size_t n = ENTRIES_MAX - 1; n <= ENTRIES_MAX; n++)
        for (int rule = 0; rule < 2; rule++) {
            qp_rans_modes m = {.table = rule ? QP_RANS_T2 : QP_RANS_T4097};
            bool fits = rule == 1 || n < ENTRIES_MAX;
            for (size_t k = 0; k < n; k++)
                entries[k] = k + 1 < n ? (int64_t)k : 65536;
            qp_stage_case(c, fits ? QP_OK : QP_MODEL_MISMATCH, BEFORE, "table, %s: %d entries",
                          table_words[rule], (int)n);
            put_table(c, &m, entries, n, 0);
        }
}

static void other_conditions(qp_stage_corpus *c)
{
    static const int64_t offsets[] = {INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1,
                                      (int64_t)INT32_MIN - 1, INT64_MAX};
    static const int64_t bounds[][2] = {{4, 4},
                                        {5, 4},
                                        {INT32_MIN, INT32_MAX},
                                        {(int64_t)INT32_MIN - 1, 4},
                                        {4, (int64_t)INT32_MAX + 1}};
    qp_rans_modes m = {.table = QP_RANS_T4097};

    for (size_t i = 0; i < COUNT(offsets); i++) {
        qp_stage_case(c, i < 2 ? QP_OK : QP_MODEL_MISMATCH, BEFORE, "an offset of %lld",
                      (long long)offsets[i]);
        put_table(c, &m, half_entries, 3, offsets[i]);
    }
    for (size_t i = 0; i < COUNT(bounds); i++) {
        qp_rans_modes strict = {.escape = QP_RANS_STRICT, .lo = bounds[i][0], .hi = bounds[i][1]};
        qp_stage_case(c, i % 2 == 0 && i < 4 ? QP_OK : QP_MODEL_MISMATCH, BEFORE,
                      "strict(%lld, %lld)", (long long)bounds[i][0], (long long)bounds[i][1]);
        put_table(c, &strict, half_entries, 3, 0);
    }
    qp_rans_cdf cdf = {{half_entries, 3}, 0};
    qp_stage_rans_operands o = {
        .cdfs = &cdf, .n_cdfs = 1, .count = 2, .stream = empty_stream, .size = 8};
    for (int64_t read = -1; read <= 1; read += 2) {
        qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "the second read names table %d", (int)read);
        o.reads[1] = read;
        qp_stage_rans_modes(c, &m);
        qp_stage_rans_put(c, &o);
    }
    qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "no table, and a read");
    qp_stage_rans_modes(c, &m);
    qp_stage_rans_put(c, &(qp_stage_rans_operands){.count = 1, .stream = empty_stream, .size = 8});
    qp_stage_case(c, QP_OK, 0, "no table and no read");
    qp_stage_rans_modes(c, &m);
    qp_stage_rans_put(c, &(qp_stage_rans_operands){.stream = empty_stream, .size = 8});
    qp_stage_case(c, QP_STREAM_NONCANONICAL, 0, "a word left over");
    qp_stage_rans_modes(c, &m);
    qp_stage_rans_put(c, &(qp_stage_rans_operands){.stream = empty_stream, .size = 12});
}

/* ---- whole streams ------------------------------------------------------------------------ */

typedef struct whole {
    int64_t entries[TABLES_MAX][20];
    qp_rans_cdf cdfs[TABLES_MAX];
    qp_rans_modes modes;
    uint32_t reads[READS_MAX];
    int32_t symbols[READS_MAX];
    size_t count;
} whole;

/* Three tables; under t2 the third has the escape only. */
static void make_tables(qp_stage_corpus *c, whole *w)
{
    for (size_t t = 0; t < TABLES_MAX; t++) {
        size_t n = (size_t)qp_stage_random(c, 3, 20);
        int64_t left = 65536 - (int64_t)n + 1, at = 0;
        if (t == 2 && w->modes.table == QP_RANS_T2)
            n = 2;
        for (size_t k = 0; k + 1 < n; k++) {
            int64_t more = qp_stage_random(c, 0, left / 3);
            w->entries[t][k] = at;
            at += 1 + more;
            left -= more;
        }
        w->entries[t][n - 1] = 65536;
        w->cdfs[t] = (qp_rans_cdf){{w->entries[t], n}, qp_stage_random(c, -12, 3)};
    }
}

static void make_symbols(qp_stage_corpus *c, whole *w)
{
    w->count = READS_MAX;
    for (size_t i = 0; i < w->count; i++) {
        w->reads[i] = (uint32_t)qp_stage_random(c, 0, TABLES_MAX - 1);
        int64_t symbol = qp_stage_random(c, -15, 20);
        if (i % 8 == 5)
            symbol = qp_stage_random(c, -((int64_t)1 << (i / 3 + 4)), (int64_t)1 << (i / 3 + 4));
        w->symbols[i] = (int32_t)symbol;
    }
}

/* Puts a stream that the encoder writes, or as many of its bytes as `cut` says, or noise. */
static void put_whole(qp_stage_corpus *c, const whole *w, int kind)
{
    const qp_allocator *allocator = &c->lines->allocator;
    qp_rans_symbols symbols = {w->reads, w->symbols, w->count};
    qp_stage_rans_operands o = {.cdfs = w->cdfs, .n_cdfs = TABLES_MAX, .count = w->count};
    qp_rans_tables *tables = NULL;
    qp_stream stream = {0};
    qp_status status =
        qp_rans_tables_create(w->cdfs, TABLES_MAX, &w->modes, allocator, &tables, NULL);
    if (status == QP_OK)
        status = qp_rans_encode(tables, &symbols, allocator, &stream, NULL);
    if (status != QP_OK)
        qp_stage_fail(c, status, "its stream cannot be made");
    for (size_t i = 0; i < w->count; i++)
        o.reads[i] = w->reads[i];
    for (size_t i = 0; kind == 2 && i < stream.size; i++)
        stream.bytes[i] = (uint8_t)qp_stage_random(c, 0, 255);
    o.stream = stream.bytes;
    o.size = kind == 1 ? stream.size / 8 * 4 : stream.size;
    if (status == QP_OK) {
        qp_stage_rans_modes(c, &w->modes);
        qp_stage_rans_put(c, &o);
    }
    qp_stream_free(allocator, &stream);
    qp_rans_tables_free(tables);
}

static void whole_streams(qp_stage_corpus *c)
{
    static const char *const kinds[] = {"a stream", "a stream cut to its half", "noise"};
    for (int mode = 0; mode < 8; mode++)
        for (int kind = 0; kind < 3; kind++) {
            whole w = {.modes = {.table = mode & 1 ? QP_RANS_T2 : QP_RANS_T4097,
                                 .escape = mode & 2 ? QP_RANS_STRICT : QP_RANS_LENIENT,
                                 .end = mode & 4 ? QP_RANS_FINAL_ONLY : QP_RANS_CANONICAL,
                                 .lo = -(1 << 26),
                                 .hi = 1 << 26}};
            qp_stage_case(c, kind == 0 ? QP_OK : QP_STAGE_ANY, 0, "%s, %s, %s: %s",
                          table_words[w.modes.table], escape_words[w.modes.escape],
                          end_words[w.modes.end], kinds[kind]);
            make_tables(c, &w);
            make_symbols(c, &w);
            put_whole(c, &w, kind);
        }
}

/* A first state below 2^31 is taken as it is: no word is read before the first symbol. */
static void small_first_state(qp_stage_corpus *c)
{
    static const uint8_t stream[16] = {5, 0, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0};
    qp_rans_cdf cdf = {{half_entries, 3}, 0};
    qp_stage_rans_operands o = {
        .cdfs = &cdf, .n_cdfs = 1, .count = 3, .stream = stream, .size = sizeof stream};
    for (int end = 0; end < 2; end++) {
        qp_rans_modes m = {.end = end ? QP_RANS_FINAL_ONLY : QP_RANS_CANONICAL};
        qp_stage_case(c, QP_STAGE_ANY, 0, "a first state below 2^31, %s", end_words[end]);
        qp_stage_rans_modes(c, &m);
        qp_stage_rans_put(c, &o);
    }
}

void qp_stage_cases_rans64_decode(qp_stage_corpus *c)
{
    qp_stage_rans_steps(c);
    table_cases(c);
    large_tables(c);
    other_conditions(c);
    whole_streams(c);
    small_first_state(c);
}
