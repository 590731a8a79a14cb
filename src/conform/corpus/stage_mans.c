/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_mans.c - cases of mans_decode: both modes; a zero tail and short streams; bounds of 128 and
 * 255; rows whose escape is taken at each position (section 14.1, item 7).
 */
#include "conform/stage_vectors.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { BEFORE = -1, PARTS = 4, LENGTH_MAX = 15, ROWS = 4, WIDTH_MAX = 512, BYTES_MAX = 400 };

/* ---- sgm ---------------------------------------------------------------------------------- */

typedef struct sgm {
    int64_t entries[ROWS][WIDTH_MAX];
    qp_integer_list pmf[ROWS];
    size_t n_pmf;
    int64_t bounds[ROWS];
    uint8_t mask[PARTS][LENGTH_MAX];
    uint32_t sigma[PARTS][LENGTH_MAX];
    int16_t symbols[PARTS][LENGTH_MAX];
    qp_mans_coded_span spans[PARTS];
    size_t n_spans;
    const uint8_t *stream;
    size_t size;
} sgm;

static void put_span(qp_stage_corpus *c, const qp_mans_span *span)
{
    int64_t sigma[LENGTH_MAX];
    qp_stage_in(c, "{\"mask\":[");
    for (size_t i = 0; i < span->length; i++) {
        qp_stage_in(c, "%s%s", i > 0 ? "," : "", span->mask[i] ? "true" : "false");
        sigma[i] = span->sigma[i];
    }
    qp_stage_in(c, "],");
    qp_stage_in_list(c, "sigma", sigma, span->length);
    qp_stage_in(c, "}");
}

static void put_sgm(qp_stage_corpus *c, const sgm *s)
{
    qp_stage_in(c, "{");
    qp_stage_in_list(c, "bounds", s->bounds, s->n_pmf);
    qp_stage_in(c, ",");
    qp_stage_in_bytes(c, "memory", s->stream, s->size);
    qp_stage_in(c, ",\"mode\":\"sgm\",\"pmf\":[");
    for (size_t r = 0; r < s->n_pmf; r++) {
        qp_stage_in(c, r > 0 ? "," : "");
        qp_stage_put_list(&c->in, s->pmf[r].values, s->pmf[r].count);
    }
    qp_stage_in(c, "],\"spans\":[");
    for (size_t i = 0; i < s->n_spans; i++) {
        qp_stage_in(c, i > 0 ? "," : "");
        put_span(c, &s->spans[i].span);
    }
    qp_stage_in(c, "]}");
}

/* Encodes, changes the stream as `kind` says, and puts it: 1 cuts off a part of its beginning, 2
 * makes it noise. */
static void put_coded_sgm(qp_stage_corpus *c, sgm *s, int kind)
{
    const qp_allocator *allocator = &c->lines->allocator;
    qp_integer_list bounds = {s->bounds, s->n_pmf};
    qp_mans_latents *latents = NULL;
    qp_stream stream = {0};
    qp_status status = qp_mans_latents_create(s->pmf, s->n_pmf, bounds, allocator, &latents, NULL);
    if (status == QP_OK)
        status = qp_mans_encode_spans(latents, s->spans, s->n_spans, allocator, &stream, NULL);
    if (status != QP_OK)
        qp_stage_fail(c, status, "its stream cannot be made");
    size_t cut = kind == 1 ? stream.size - stream.size / 3 : 0;
    for (size_t i = 0; kind == 2 && i < stream.size; i++)
        stream.bytes[i] = (uint8_t)qp_stage_random(c, 0, 255);
    if (status == QP_OK) {
        s->stream = stream.bytes + cut;
        s->size = stream.size - cut;
        put_sgm(c, s);
    }
    qp_stream_free(allocator, &stream);
    qp_mans_latents_free(latents);
}

static void random_rows(qp_stage_corpus *c, sgm *s, size_t width)
{
    s->n_pmf = ROWS;
    for (size_t r = 0; r < ROWS; r++) {
        int64_t left = 256 - (int64_t)width;
        for (size_t k = 0; k < width; k++)
            s->entries[r][k] = 1;
        while (left > 0) {
            int64_t more = qp_stage_random(c, 1, (left + 3) / 4);
            s->entries[r][qp_stage_random(c, 0, (int64_t)width - 1)] += more;
            left -= more;
        }
        s->pmf[r] = (qp_integer_list){s->entries[r], width};
        s->bounds[r] = qp_stage_random(c, 0, (int64_t)width / 2 - 1);
    }
}

/* Symbols that the row holds, and where they are the escape, any beyond it. */
static void random_spans(qp_stage_corpus *c, sgm *s, size_t width)
{
    static const size_t lengths[PARTS] = {15, 6, 1, 12};
    s->n_spans = PARTS;
    for (size_t p = 0; p < PARTS; p++) {
        for (size_t i = 0; i < lengths[p]; i++) {
            s->mask[p][i] = qp_stage_random(c, 0, 3) > 0;
            s->sigma[p][i] = (uint32_t)qp_stage_random(c, 0, ROWS - 1);
            int64_t k = qp_stage_random(c, 0, (int64_t)width - 1);
            int64_t symbol = k % 2 == 0 ? k / 2 : -(k + 1) / 2;
            if (symbol == -s->bounds[s->sigma[p][i]])
                symbol = qp_stage_random(c, 0, 1) ? symbol - qp_stage_random(c, 0, 9)
                                                  : qp_stage_random(c, 600, 32767);
            s->symbols[p][i] = (int16_t)(s->mask[p][i] ? symbol : 0);
        }
        s->spans[p] = (qp_mans_coded_span){{s->mask[p], s->sigma[p], lengths[p]}, s->symbols[p]};
    }
}

static void whole_sgm(qp_stage_corpus *c)
{
    static const char *const kinds[] = {"a stream", "its beginning is cut off", "noise"};
    static const size_t widths[] = {2, 9, 41};
    for (size_t w = 0; w < COUNT(widths); w++)
        for (int kind = 0; kind < 3; kind++) {
            sgm s = {0};
            qp_stage_case(c, kind == 0 ? QP_OK : QP_STAGE_ANY, 0, "sgm: rows of %d: %s",
                          (int)widths[w], kinds[kind]);
            random_rows(c, &s, widths[w]);
            random_spans(c, &s, widths[w]);
            put_coded_sgm(c, &s, kind);
        }
}

/* One distribution of the symbols 0 and -bound; its span of `length` positions, all masked in. */
static void bound_row(sgm *s, int64_t bound, size_t length)
{
    s->entries[0][0] = bound == 0 ? 256 : 100;
    if (bound > 0)
        s->entries[0][2 * bound - 1] = 156;
    s->pmf[0] = (qp_integer_list){s->entries[0], bound == 0 ? 1 : (size_t)(2 * bound)};
    s->n_pmf = 1;
    s->bounds[0] = bound;
    for (size_t i = 0; i < length; i++)
        s->mask[0][i] = 1;
    s->spans[0] = (qp_mans_coded_span){{s->mask[0], s->sigma[0], length}, s->symbols[0]};
    s->n_spans = 1;
}

static void bounds_sgm(qp_stage_corpus *c)
{
    static const int64_t bounds[] = {0, 1, 127, 128, 255};
    for (size_t b = 0; b < COUNT(bounds); b++)
        for (size_t length = 4; length <= 7; length += 3) {
            int64_t bound = bounds[b];
            const int64_t far[] = {bound,
                                   -bound,
                                   bound + 3,
                                   -bound - 3,
                                   bound + 4,
                                   INT16_MAX,
                                   bound > 0 ? INT16_MIN : -INT16_MAX};
            sgm s = {0};
            qp_stage_case(c, QP_OK, 0, "sgm: a bound of %d, %d escapes", (int)bound, (int)length);
            bound_row(&s, bound, length);
            for (size_t i = 0; i < length; i++)
                s.symbols[0][i] = (int16_t)far[i];
            put_coded_sgm(c, &s, 0);
        }
}

/* Streams that end in each place of a span: all bits of an escape of 16 bits, and zeros below. */
static void short_sgm(qp_stage_corpus *c)
{
    uint8_t bytes[20] = {0};
    for (size_t size = 0; size <= sizeof bytes; size++) {
        sgm s = {.stream = bytes};
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(i * 37 % 251);
        if (size > 0)
            bytes[size - 1] = 1;
        s.size = size;
        qp_stage_case(c, QP_STAGE_ANY, 0, "sgm: a stream of %d bytes", (int)size);
        bound_row(&s, 0, 15);
        put_sgm(c, &s);
    }
    for (size_t size = 1; size <= 17; size += 8) {
        static const uint8_t zeros[17] = {0};
        sgm s = {.stream = zeros, .size = size};
        qp_stage_case(c, QP_STREAM_EXHAUSTED, 0, "sgm: a zero tail, %d bytes", (int)size);
        bound_row(&s, 1, 4);
        put_sgm(c, &s);
    }
    static const uint8_t tail[12] = {1, 1, 1, 1};
    sgm s = {.stream = tail, .size = 12};
    qp_stage_case(c, QP_STREAM_EXHAUSTED, 0, "sgm: a zero tail after other bytes");
    bound_row(&s, 1, 4);
    put_sgm(c, &s);
}

static const uint8_t three_bytes[3] = {0, 0, 1};

static void conditions_sgm(qp_stage_corpus *c)
{
    static const struct {
        const char *id;
        qp_status want;
        int64_t entries[3], bound, sigma;
        size_t width;
    } cases[] = {{"a sum of 255", QP_MODEL_MISMATCH, {200, 55}, 3, 0, 2},
                 {"a sum of 257", QP_MODEL_MISMATCH, {200, 57}, 3, 0, 2},
                 {"a negative entry", QP_MODEL_MISMATCH, {257, -1}, 3, 0, 2},
                 {"a row of no width", QP_MODEL_MISMATCH, {0}, 3, 0, 0},
                 {"a bound of 256", QP_MODEL_MISMATCH, {256}, 256, 0, 1},
                 {"a bound of -1", QP_MODEL_MISMATCH, {256}, -1, 0, 1},
                 {"a distribution past the last", QP_MODEL_MISMATCH, {256}, 3, 1, 1},
                 {"one symbol of no bits", QP_OK, {256}, 3, 0, 1},
                 {"entries of 0", QP_OK, {0, 256, 0}, 3, 0, 3}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        sgm s = {.stream = three_bytes, .size = 3};
        qp_stage_case(c, cases[i].want, BEFORE, "sgm: %s", cases[i].id);
        bound_row(&s, 1, 5);
        s.pmf[0] = (qp_integer_list){cases[i].entries, cases[i].width};
        s.bounds[0] = cases[i].bound;
        s.mask[0][4] = 0; /* a distribution is held to its condition where the mask is false, too */
        s.sigma[0][4] = (uint32_t)cases[i].sigma;
        put_sgm(c, &s);
    }
    qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "sgm: rows of two widths");
    qp_stage_in(c, "{\"bounds\":[\"3\",\"3\"],\"memory\":\"000001\",\"mode\":\"sgm\",\"pmf\":"
                   "[[\"256\"],[\"0\",\"256\"]],\"spans\":[]}");
    qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "sgm: a mask longer than its distributions");
    qp_stage_in(c, "{\"bounds\":[\"3\"],\"memory\":\"000001\",\"mode\":\"sgm\",\"pmf\":[[\"256\"]],"
                   "\"spans\":[{\"mask\":[true,true],\"sigma\":[\"0\"]}]}");
    qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "sgm: a row without a bound is named");
    qp_stage_in(c, "{\"bounds\":[\"3\"],\"memory\":\"000001\",\"mode\":\"sgm\",\"pmf\":"
                   "[[\"256\"],[\"256\"]],\"spans\":[{\"mask\":[true],\"sigma\":[\"1\"]}]}");
    qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "sgm: a table at fault and a zero tail");
    qp_stage_in(c, "{\"bounds\":[\"3\"],\"memory\":\"00\",\"mode\":\"sgm\",\"pmf\":[[\"255\"]],"
                   "\"spans\":[]}");
    qp_stage_case(c, QP_OK, 0, "sgm: no span");
    qp_stage_in(c, "{\"bounds\":[],\"memory\":\"000001\",\"mode\":\"sgm\",\"pmf\":[],"
                   "\"spans\":[]}");
    qp_stage_case(c, QP_OK, 0, "sgm: a span of no position");
    qp_stage_in(c, "{\"bounds\":[],\"memory\":\"000001\",\"mode\":\"sgm\",\"pmf\":[],"
                   "\"spans\":[{\"mask\":[],\"sigma\":[]}]}");
}

/* ---- fac ---------------------------------------------------------------------------------- */

typedef struct fac {
    int64_t counts[PARTS][QP_MANS_ROW_COUNTS];
    int64_t lengths[PARTS];
    int16_t symbols[PARTS][LENGTH_MAX];
    const uint8_t *stream;
    size_t size;
} fac;

static void put_fac(qp_stage_corpus *c, const fac *f)
{
    qp_stage_in(c, "{");
    qp_stage_in_list(c, "lengths", f->lengths, PARTS);
    qp_stage_in(c, ",");
    qp_stage_in_bytes(c, "memory", f->stream, f->size);
    qp_stage_in(c, ",\"mode\":\"fac\",\"rows\":[");
    for (size_t r = 0; r < PARTS; r++) {
        qp_stage_in(c, r > 0 ? "," : "");
        qp_stage_put_list(&c->in, f->counts[r], QP_MANS_ROW_COUNTS);
    }
    qp_stage_in(c, "]}");
}

static void put_coded_fac(qp_stage_corpus *c, fac *f, int kind)
{
    const qp_allocator *allocator = &c->lines->allocator;
    qp_mans_coded_row rows[PARTS];
    qp_stream stream = {0};
    qp_status status = QP_OK;
    for (size_t r = 0; r < PARTS && status == QP_OK; r++) {
        qp_integer_list counts = {f->counts[r], QP_MANS_ROW_COUNTS};
        status = qp_mans_row_make(counts, &rows[r].row, NULL);
        rows[r].symbols = f->symbols[r];
        rows[r].length = (size_t)f->lengths[r];
    }
    if (status == QP_OK)
        status = qp_mans_encode_rows(rows, PARTS, allocator, &stream, NULL);
    if (status != QP_OK)
        qp_stage_fail(c, status, "its stream cannot be made");
    size_t cut = kind == 1 ? stream.size - stream.size / 3 : 0;
    for (size_t i = 0; kind == 2 && i < stream.size; i++)
        stream.bytes[i] = (uint8_t)qp_stage_random(c, 0, 255);
    if (status == QP_OK) {
        f->stream = stream.bytes + cut;
        f->size = stream.size - cut;
        put_fac(c, f);
    }
    qp_stream_free(allocator, &stream);
}

/* Rows of four kinds: one slot or a few a symbol, few symbols of many slots, no symbol at all, and
 * counts that stop at 200, so that slots keep the entries of the row before. */
static void make_rows(qp_stage_corpus *c, fac *f)
{
    static const int64_t lengths[PARTS] = {15, 6, 12, 1};
    for (size_t r = 0; r < PARTS; r++) {
        int64_t at = 0;
        for (size_t a = 0; a < QP_MANS_ROW_COUNTS; a++) {
            at += r == 0 ? qp_stage_random(c, 1, 6) : r == 1 ? (a == 7 || a == 9) * 100 : 0;
            at += r == 3 ? qp_stage_random(c, 0, 20) : 0;
            f->counts[r][a] = at < 255 ? at : 255;
            if (r == 3 && at > 200)
                f->counts[r][a] = 200;
        }
        f->lengths[r] = lengths[r];
        for (size_t i = 0; i < LENGTH_MAX; i++)
            f->symbols[r][i] = (int16_t)qp_stage_random(c, 0, 63);
    }
}

static void whole_fac(qp_stage_corpus *c)
{
    static const char *const kinds[] = {"a stream", "its beginning is cut off", "noise"};
    for (int round = 0; round < 3; round++)
        for (int kind = 0; kind < 3; kind++) {
            fac f = {0};
            qp_stage_case(c, kind == 0 ? QP_OK : QP_STAGE_ANY, 0, "fac: %s, %d", kinds[kind],
                          round);
            make_rows(c, &f);
            put_coded_fac(c, &f, kind);
        }
    for (int length = 0; length < 8; length++) {
        fac f = {0};
        qp_stage_case(c, QP_OK, 0, "fac: rows of %d symbols, each the escape", length);
        for (size_t r = 0; r < PARTS; r++) {
            f.lengths[r] = length;
            for (int i = 0; i < length; i++)
                f.symbols[r][i] = (int16_t)((63 - 9 * i) & 63);
        }
        put_coded_fac(c, &f, 0);
    }
}

static void short_fac(qp_stage_corpus *c)
{
    uint8_t bytes[24];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        fac f = {.stream = bytes, .size = size};
        qp_stage_case(c, QP_STAGE_ANY, 0, "fac: a stream of %d bytes", (int)size);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)qp_stage_random(c, 1, 255);
        make_rows(c, &f);
        put_fac(c, &f);
    }
    static const uint8_t zeros[9] = {0x80};
    fac f = {.stream = zeros, .size = sizeof zeros};
    qp_stage_case(c, QP_STREAM_EXHAUSTED, 0, "fac: a zero tail");
    make_rows(c, &f);
    put_fac(c, &f);
}

static void conditions_fac(qp_stage_corpus *c)
{
    static const struct {
        const char *id;
        size_t at;
        int64_t value;
    } cases[] = {
        {"a count of -1", 0, -1}, {"a count of 256", 62, 256}, {"a count that decreases", 30, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fac f = {.stream = three_bytes, .size = 3};
        qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "fac: %s", cases[i].id);
        make_rows(c, &f);
        f.counts[0][cases[i].at] = cases[i].value;
        put_fac(c, &f);
    }
    qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "fac: a row of 2 counts");
    qp_stage_in(c, "{\"lengths\":[\"1\"],\"memory\":\"000001\",\"mode\":\"fac\",\"rows\":"
                   "[[\"0\",\"1\"]]}");
    qp_stage_case(c, QP_MODEL_MISMATCH, BEFORE, "fac: a length without a row");
    qp_stage_in(c, "{\"lengths\":[\"1\"],\"memory\":\"000001\",\"mode\":\"fac\",\"rows\":[]}");
    qp_stage_case(c, QP_OK, 0, "fac: no row");
    qp_stage_in(c, "{\"lengths\":[],\"memory\":\"000001\",\"mode\":\"fac\",\"rows\":[]}");
}

void qp_stage_cases_mans_decode(qp_stage_corpus *c)
{
    whole_sgm(c);
    bounds_sgm(c);
    short_sgm(c);
    conditions_sgm(c);
    whole_fac(c);
    short_fac(c);
    conditions_fac(c);
}
