/* SPDX-License-Identifier: Apache-2.0 */
/* compare_weights.c - see compare_weights.h. */
#include "cli/compare_weights.h"

#include "base/json.h"
#include "cli/output.h"
#include "cli/text_table.h"

#include <inttypes.h>
#include <math.h>

enum { LINE = 100 };

double qp_pair_rmse(const qp_weights_pair *pair)
{
    return pair->counted == 0 ? 0 : sqrt(pair->noise / (double)pair->counted);
}

double qp_pair_sqnr(const qp_weights_pair *pair)
{
    if (pair->noise > 0)
        return 10 * log10(pair->signal / pair->noise);
    return INFINITY;
}

/* ---- measuring ---------------------------------------------------------------------------- */

/* Two walks side by side, each with what is left of its chunk. */
typedef struct side {
    qp_weights_walk walk;
    const float *values;
    size_t count;
} side;

static qp_status fill(side *s, qp_error *error)
{
    return s->count > 0 ? QP_OK : qp_weights_walk_next(&s->walk, &s->values, &s->count, error);
}

static bool same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void measure_element(qp_weights_pair *pair, uint64_t at, float a, float b)
{
    if (!same_bits(a, b) && pair->differ++ == 0) {
        pair->first = at;
        pair->first_a = a;
        pair->first_b = b;
    }
    if (!isfinite(a) || !isfinite(b)) {
        pair->uncounted++;
        return;
    }
    double difference = (double)b - (double)a;
    pair->counted++;
    pair->signal += (double)a * (double)a;
    pair->noise += difference * difference;
    if (fabs(difference) > pair->most) {
        pair->most = fabs(difference);
        pair->most_at = at;
    }
}

typedef void visit_fn(qp_weights_pair *pair, uint64_t at, const float *a, const float *b,
                      size_t count);

static void measure(qp_weights_pair *pair, uint64_t at, const float *a, const float *b,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        measure_element(pair, at + i, a[i], b[i]);
}

enum { ERRORS = 1024 };

/* The errors of a run, in pieces. */
static void add_errors(qp_weights_pair *pair, const float *a, const float *b, size_t count,
                       bool bins)
{
    float errors[ERRORS];
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < ERRORS ? count - done : ERRORS;
        for (size_t i = 0; i < n; i++)
            errors[i] = b[done + i] - a[done + i];
        if (bins)
            qp_histogram_add(&pair->errors, errors, n);
        else
            qp_statistics_add(&pair->of_error, errors, n);
    }
}

static void add_statistics(qp_weights_pair *pair, uint64_t at, const float *a, const float *b,
                           size_t count)
{
    (void)at;
    qp_statistics_add(&pair->of_a, a, count);
    qp_statistics_add(&pair->of_b, b, count);
    add_errors(pair, a, b, count, false);
}

static void add_bins(qp_weights_pair *pair, uint64_t at, const float *a, const float *b,
                     size_t count)
{
    (void)at;
    qp_histogram_add(&pair->values_a, a, count);
    qp_histogram_add(&pair->values_b, b, count);
    add_errors(pair, a, b, count, true);
}

static qp_status visit(side sides[2], qp_weights_pair *pair, visit_fn *each, qp_error *error)
{
    uint64_t at = 0;
    for (;;) {
        qp_status status = fill(&sides[0], error);
        if (status == QP_OK)
            status = fill(&sides[1], error);
        if (status != QP_OK || sides[0].count == 0 || sides[1].count == 0)
            return status;
        size_t count = sides[0].count < sides[1].count ? sides[0].count : sides[1].count;
        each(pair, at, sides[0].values, sides[1].values, count);
        at += count;
        for (int i = 0; i < 2; i++) {
            sides[i].values += count;
            sides[i].count -= count;
        }
    }
}

static qp_status walk_pair(const qp_weights_comparison *c, qp_weights_pair *pair, visit_fn *each,
                           qp_error *error)
{
    side sides[2] = {{.count = 0}, {.count = 0}};
    qp_status status = qp_weights_walk_parameter(&sides[0].walk, &c->sources[0], pair->a, error);
    if (status == QP_OK)
        status = qp_weights_walk_parameter(&sides[1].walk, &c->sources[1], pair->b, error);
    if (status == QP_OK)
        status = visit(sides, pair, each, error);
    qp_weights_walk_close(&sides[1].walk);
    qp_weights_walk_close(&sides[0].walk);
    return status;
}

/* Elements of one type that binary32 does not hold: their bytes tell whether they differ. */
static bool is_wide(const qp_weights_pair *pair)
{
    const qp_element *a = pair->a->n_parts == 1 ? pair->a->parts[0].element : NULL;
    const qp_element *b = pair->b->n_parts == 1 ? pair->b->parts[0].element : NULL;
    return a != NULL && a == b && a->bytes >= 4 && strcmp(a->name, "F32") != 0;
}

/* The bytes of a piece of both, which differ first at `*at`. */
static bool find_byte(const uint8_t *a, const uint8_t *b, size_t size, size_t *at)
{
    for (*at = 0; *at < size; ++*at)
        if (a[*at] != b[*at])
            return true;
    return false;
}

enum { WIDE_PIECE = 65536 };

static void compare_piece(qp_weights_pair *pair, uint64_t first, size_t count, const uint8_t *a,
                          const uint8_t *b)
{
    size_t width = pair->a->parts[0].element->bytes, at;
    for (size_t i = 0; i < count; i++)
        if (find_byte(a + i * width, b + i * width, width, &at) && pair->differ++ == 0)
            pair->first = first + i;
}

/* The two values at the first difference. */
static qp_status read_first(qp_weight_source_reader readers[2], qp_weights_pair *pair,
                            qp_error *error)
{
    if (pair->differ == 0)
        return QP_OK;
    qp_status status =
        qp_parameter_values(&readers[0], pair->a, pair->first, 1, &pair->first_a, error);
    if (status == QP_OK)
        status = qp_parameter_values(&readers[1], pair->b, pair->first, 1, &pair->first_b, error);
    return status;
}

/* Counts again, by the elements' own bytes. */
static qp_status compare_wide(const qp_weights_comparison *c, qp_weights_pair *pair,
                              qp_error *error)
{
    const qp_allocator allocator = qp_allocator_or_default(NULL);
    qp_weight_source_reader readers[2];
    const uint8_t *a, *b;
    qp_status status = QP_OK;
    pair->differ = 0;
    for (int i = 0; i < 2; i++)
        qp_weight_source_reader_init(&readers[i], &c->sources[i], &allocator, qp_cpu_features());
    for (uint64_t at = 0; at < pair->a->elements && status == QP_OK; at += WIDE_PIECE) {
        uint64_t left = pair->a->elements - at, count = left < WIDE_PIECE ? left : WIDE_PIECE;
        status = qp_parameter_elements(&readers[0], pair->a, at, count, &a, error);
        if (status == QP_OK)
            status = qp_parameter_elements(&readers[1], pair->b, at, count, &b, error);
        if (status == QP_OK)
            compare_piece(pair, at, (size_t)count, a, b);
    }
    if (status == QP_OK)
        status = read_first(readers, pair, error);
    for (int i = 0; i < 2; i++)
        qp_weight_source_reader_free(&readers[i]);
    return status;
}

static qp_status measure_pair(const qp_weights_comparison *c, qp_weights_pair *pair,
                              qp_error *error)
{
    qp_status status = walk_pair(c, pair, measure, error);
    if (status == QP_OK && is_wide(pair))
        status = compare_wide(c, pair, error);
    if (status != QP_OK || !c->pictures || pair->differ == 0)
        return status;
    status = walk_pair(c, pair, add_statistics, error);
    if (status != QP_OK)
        return status;
    qp_histogram_start(&pair->values_a, &pair->of_a);
    pair->values_b.lowest = pair->values_a.lowest; /* both on one axis */
    pair->values_b.highest = pair->values_a.highest;
    qp_histogram_start(&pair->errors, &pair->of_error);
    return walk_pair(c, pair, add_bins, error);
}

/* ---- pairs -------------------------------------------------------------------------------- */

static qp_status add_pair(qp_weights_comparison *c, const qp_parameter *a, const qp_parameter *b,
                          qp_error *error)
{
    qp_weights_pair *pair = &c->pairs[c->count++];
    *pair = (qp_weights_pair){.a = a, .b = b};
    if (a == NULL || b == NULL)
        pair->fault = QP_PAIR_ALONE;
    else if (a->elements != b->elements || a->columns != b->columns) /* banks may be flattened */
        pair->fault = QP_PAIR_SHAPE;
    else if (a->unread != NULL || b->unread != NULL)
        pair->fault = QP_PAIR_UNREAD;
    qp_status status = pair->fault == QP_PAIR_MEASURED ? measure_pair(c, pair, error) : QP_OK;
    if (pair->fault != QP_PAIR_MEASURED)
        c->n_unmeasured++;
    else if (pair->differ > 0)
        c->n_differ++;
    else
        c->n_same++;
    return status;
}

static qp_status compare_all(qp_weights_comparison *c, qp_error *error)
{
    const qp_weight_source *a = &c->sources[0], *b = &c->sources[1];
    qp_status status = QP_OK;
    c->pairs = qp_allocate(NULL, a->count + b->count, sizeof *c->pairs);
    if (c->pairs == NULL)
        return qp_fail_memory(error, "the pairs of parameters");
    for (size_t i = 0; i < a->count && status == QP_OK; i++)
        status =
            add_pair(c, &a->parameters[i], qp_weight_source_find(b, a->parameters[i].name), error);
    for (size_t i = 0; i < b->count && status == QP_OK; i++)
        if (qp_weight_source_find(a, b->parameters[i].name) == NULL)
            status = add_pair(c, NULL, &b->parameters[i], error);
    return status;
}

/* ---- text --------------------------------------------------------------------------------- */

static const char *cell(qp_buffer *buffer)
{
    qp_buffer_append(buffer, "", 1);
    return buffer->failed ? "" : (const char *)buffer->bytes;
}

static const qp_parameter *one_of(const qp_weights_pair *pair)
{
    return pair->a != NULL ? pair->a : pair->b;
}

static void put_types(const qp_weights_pair *pair, qp_buffer *text)
{
    text->size = 0;
    qp_weights_name(pair->a->type, text);
    if (strcmp(pair->a->type, pair->b->type) == 0)
        return;
    qp_buffer_text(text, " > ");
    qp_weights_name(pair->b->type, text);
}

/* "40.1 dB"; of no noise that a number shows, "-". */
static void put_sqnr(const qp_weights_pair *pair, char text[32])
{
    double sqnr = qp_pair_sqnr(pair);
    if (isfinite(sqnr))
        snprintf(text, 32, "%.2f", sqnr);
    else
        snprintf(text, 32, "-");
}

static void put_pair(const qp_weights_pair *pair, qp_text_table *table)
{
    qp_buffer name, types;
    char sqnr[32], first[64] = "";
    uint64_t columns = pair->a->columns;
    qp_buffer_init(&name, NULL);
    qp_buffer_init(&types, NULL);
    qp_weights_name(pair->a->name, &name);
    put_types(pair, &types);
    put_sqnr(pair, sqnr);
    if (pair->differ > 0)
        snprintf(first, sizeof first, "%" PRIu64 ", %" PRIu64, pair->first / columns,
                 pair->first % columns);
    qp_text_table_row(
        table, "%s\t%s\t%.2f%%\t%.4g\t%.4g\t%s\t%s", cell(&name), cell(&types),
        pair->a->elements == 0 ? 0 : 100 * (double)pair->differ / (double)pair->a->elements,
        qp_pair_rmse(pair), pair->most, sqnr, first);
    qp_buffer_free(&types);
    qp_buffer_free(&name);
}

static void put_table(const qp_weights_comparison *c, bool all, qp_buffer *text)
{
    qp_text_table table;
    size_t shown = 0;
    qp_text_table_init(&table, "LLrrrrl");
    qp_text_table_row(&table, "tensor\ttype\tdiffer\tRMSE\tmaximum\tSQNR dB\tfirst at");
    for (size_t i = 0; i < c->count; i++)
        if (c->pairs[i].fault == QP_PAIR_MEASURED && (all || c->pairs[i].differ > 0)) {
            put_pair(&c->pairs[i], &table);
            shown++;
        }
    if (shown > 0)
        qp_text_table_print(&table, LINE, text);
    else
        qp_buffer_free(&table.rows);
}

static void put_unmeasured(const qp_weights_comparison *c, qp_buffer *text)
{
    for (size_t i = 0; i < c->count; i++) {
        const qp_weights_pair *pair = &c->pairs[i];
        if (pair->fault == QP_PAIR_MEASURED)
            continue;
        qp_buffer_text(text, "  ");
        qp_weights_name(one_of(pair)->name, text);
        if (pair->fault == QP_PAIR_ALONE) {
            qp_buffer_format(text, ": only in %s\n", c->paths[pair->a == NULL]);
        } else if (pair->fault == QP_PAIR_UNREAD) {
            qp_buffer_text(text, ": the type ");
            qp_weights_name(pair->a->unread != NULL ? pair->a->type : pair->b->type, text);
            qp_buffer_text(text, " is not read\n");
        } else {
            qp_buffer_text(text, ": shapes ");
            qp_weights_shape(pair->a->shape, pair->a->rank, text);
            qp_buffer_text(text, " and ");
            qp_weights_shape(pair->b->shape, pair->b->rank, text);
            qp_buffer_text(text, "\n");
        }
    }
}

static const qp_weights_pair *first_difference(const qp_weights_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->pairs[i].fault == QP_PAIR_MEASURED && c->pairs[i].differ > 0)
            return &c->pairs[i];
    return NULL;
}

static void put_text(const qp_weights_comparison *c, bool all, qp_buffer *text)
{
    const qp_weights_pair *first = first_difference(c);
    put_table(c, all, text);
    put_unmeasured(c, text);
    qp_buffer_format(text, "%zu the same, %zu differ, %zu not compared\n", c->n_same, c->n_differ,
                     c->n_unmeasured);
    if (first == NULL)
        return;
    qp_buffer_text(text, "first difference: ");
    qp_weights_name(first->a->name, text);
    qp_buffer_format(text, ", row %" PRIu64 ", column %" PRIu64 ": %.9g and %.9g\n",
                     first->first / first->a->columns, first->first % first->a->columns,
                     (double)first->first_a, (double)first->first_b);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_string(qp_buffer *text, const char *name, const char *value)
{
    qp_buffer_format(text, ",\"%s\":", name);
    qp_buffer_json_string(text, value, strlen(value));
}

/* NaN and infinities are strings. */
static void put_number(qp_buffer *text, const char *name, double value, int digits)
{
    const char *quote = isfinite(value) ? "" : "\"";
    qp_buffer_format(text, ",\"%s\":%s%.*g%s", name, quote, digits, value, quote);
}

static void json_measures(const qp_weights_pair *pair, qp_buffer *text)
{
    uint64_t columns = pair->a->columns;
    qp_buffer_format(text, ",\"elements\":%" PRIu64 ",\"differ\":%" PRIu64, pair->a->elements,
                     pair->differ);
    if (pair->differ > 0) {
        qp_buffer_format(text, ",\"first\":{\"row\":%" PRIu64 ",\"column\":%" PRIu64,
                         pair->first / columns, pair->first % columns);
        put_number(text, "a", (double)pair->first_a, 9);
        put_number(text, "b", (double)pair->first_b, 9);
        qp_buffer_text(text, "}");
    }
    put_number(text, "rmse", qp_pair_rmse(pair), 9);
    put_number(text, "maximum", pair->most, 9);
    if (pair->most > 0)
        qp_buffer_format(text, ",\"maximum_at\":{\"row\":%" PRIu64 ",\"column\":%" PRIu64 "}",
                         pair->most_at / columns, pair->most_at % columns);
    if (pair->noise > 0)
        put_number(text, "sqnr_db", qp_pair_sqnr(pair), 9);
    else
        qp_buffer_text(text, ",\"sqnr_db\":null");
    qp_buffer_format(text, ",\"not_finite\":%" PRIu64, pair->uncounted);
}

static void json_pair(const qp_weights_pair *pair, qp_buffer *text)
{
    static const char *const faults[] = {[QP_PAIR_MEASURED] = "compared",
                                         [QP_PAIR_SHAPE] = "other shape",
                                         [QP_PAIR_ALONE] = "in one file alone",
                                         [QP_PAIR_UNREAD] = "of a type that is not read"};
    qp_buffer_text(text, "{\"name\":");
    qp_buffer_json_string(text, one_of(pair)->name, strlen(one_of(pair)->name));
    put_string(text, "state", faults[pair->fault]);
    if (pair->a != NULL)
        put_string(text, "type_a", pair->a->type);
    if (pair->b != NULL)
        put_string(text, "type_b", pair->b->type);
    if (pair->fault == QP_PAIR_MEASURED)
        json_measures(pair, text);
    qp_buffer_text(text, "}");
}

static void put_json(const qp_weights_comparison *c, qp_buffer *text)
{
    qp_buffer_format(text, "{\"equal\":%s,\"same\":%zu,\"differ\":%zu,\"not_compared\":%zu",
                     c->n_differ + c->n_unmeasured == 0 ? "true" : "false", c->n_same, c->n_differ,
                     c->n_unmeasured);
    put_string(text, "a", c->paths[0]);
    put_string(text, "b", c->paths[1]);
    qp_buffer_text(text, ",\"tensors\":[");
    for (size_t i = 0; i < c->count; i++) {
        qp_buffer_text(text, i == 0 ? "\n " : ",\n ");
        json_pair(&c->pairs[i], text);
    }
    qp_buffer_text(text, "]}\n");
}

/* ---- the verb's half ---------------------------------------------------------------------- */

static int refuse(const char *path, const qp_error *error)
{
    return qp_cli_refuse("compare", path, error);
}

static int print(const qp_weights_comparison *c, const qp_compare_weights_options *options)
{
    qp_buffer text;
    qp_error error;
    qp_status status = QP_OK;
    qp_buffer_init(&text, NULL);
    if (options->html != NULL) {
        qp_compare_weights_html(c, &text);
        status = qp_output_buffer(options->html, &text, &error);
        text.size = 0;
    }
    bool quiet = options->html != NULL && strcmp(options->html, "-") == 0;
    if (status == QP_OK && options->json)
        put_json(c, &text);
    else if (status == QP_OK)
        put_text(c, options->all, &text);
    if (status == QP_OK && !quiet)
        status = qp_output_buffer("-", &text, &error);
    qp_buffer_free(&text);
    if (status != QP_OK)
        return refuse(options->html, &error);
    return c->n_differ + c->n_unmeasured == 0 ? QP_EXIT_OK : QP_EXIT_REFUSED;
}

static int open_side(qp_weights_comparison *c, int i)
{
    qp_error error;
    qp_status status = qp_weights_open(&c->files[i], c->paths[i], &error);
    if (status == QP_OK)
        status = qp_weight_source_open(c->files[i].artifact, NULL, &c->sources[i], &error);
    if (status != QP_OK)
        qp_weights_close(&c->files[i]);
    return status == QP_OK ? QP_EXIT_OK : refuse(c->paths[i], &error);
}

static void close_side(qp_weights_comparison *c, int i)
{
    qp_weight_source_close(&c->sources[i]);
    qp_weights_close(&c->files[i]);
}

static int compare_opened(qp_weights_comparison *c, const qp_compare_weights_options *options)
{
    qp_error error;
    qp_status status = compare_all(c, &error);
    int code = status == QP_OK ? print(c, options) : refuse(NULL, &error);
    qp_release(NULL, c->pairs, c->sources[0].count + c->sources[1].count, sizeof *c->pairs);
    return code;
}

int qp_compare_weights(const qp_compare_weights_options *options)
{
    qp_weights_comparison c = {.paths = {options->paths[0], options->paths[1]},
                               .pictures = options->html != NULL};
    int code = open_side(&c, 0);
    if (code != QP_EXIT_OK)
        return code;
    code = open_side(&c, 1);
    if (code == QP_EXIT_OK) {
        code = compare_opened(&c, options);
        close_side(&c, 1);
    }
    close_side(&c, 0);
    return code;
}

bool qp_is_weights(const char *path)
{
    qp_file file;
    if (strcmp(path, "-") == 0 || qp_file_open(path, NULL, &file, NULL) != QP_OK)
        return false;
    bool is = qp_artifact_kind_of_bytes(file.bytes, file.size) != NULL;
    qp_file_close(&file);
    return is;
}
