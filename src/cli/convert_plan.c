/* SPDX-License-Identifier: Apache-2.0 */
/* convert_plan.c - see convert_plan.h. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "cli/convert_plan.h"

#include "base/json.h"
#include "cli/text_table.h"

#include <inttypes.h>
#include <time.h>

enum {
    LINE = 100,
    SAMPLE = 65536 /* weights that a sample has, or one row or one step of rows */
};

double qp_convert_clock(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void qp_convert_duration(double seconds, char text[32])
{
    if (seconds < 1)
        snprintf(text, 32, "%.0f ms", seconds * 1000);
    else if (seconds < 120)
        snprintf(text, 32, "%.1f s", seconds);
    else
        snprintf(text, 32, "%.0f min", seconds / 60);
}

/* ---- a sample ----------------------------------------------------------------------------- */

/* The first rows of an item, from reading to words. */
typedef struct sample {
    qp_weight_source_reader reader;
    const qp_parameter *parameter;
    const qp_plan_item *item;
    qp_matrix target; /* of the sample's rows */
    uint64_t rows;
    qp_words_room words, encoded;
    float *values;
    size_t n_values;
} sample;

/* The sample's rows as a matrix of their own; the whole item where that is no matrix. */
static qp_status plan_sample(sample *s, qp_error *error)
{
    const qp_matrix *whole = &s->item->target;
    uint64_t rows = SAMPLE / whole->columns / whole->row_step * whole->row_step;
    uint64_t shape[2];
    rows = rows < whole->row_step ? whole->row_step : rows;
    s->rows = rows < whole->rows ? rows : whole->rows;
    shape[0] = s->rows;
    shape[1] = whole->columns;
    if (whole->rank == 2)
        return qp_matrix_plan(whole->format, whole->layout, shape, 2, 1, &s->target, error);
    s->target = *whole;
    return QP_OK;
}

static qp_status read_values(sample *s, uint64_t first, qp_weights_encoding *e, qp_error *error)
{
    qp_status status =
        qp_weights_size(s->rows * s->target.columns, "a sample", &s->n_values, error);
    if (status != QP_OK)
        return status;
    s->values = qp_allocate(NULL, s->n_values, sizeof *s->values);
    if (s->values == NULL)
        return qp_fail_memory(error, "a sample");
    e->rows.values = s->values;
    return qp_parameter_values(&s->reader, s->parameter, first, s->n_values, s->values, error);
}

static qp_status read_elements(sample *s, uint64_t first, qp_weights_encoding *e, qp_error *error)
{
    const qp_weight_source_part *part = qp_parameter_part(s->parameter, first);
    e->job.element = part->element != NULL ? part->element : qp_element_find("F32");
    return qp_parameter_elements(&s->reader, s->parameter, first, s->rows * s->target.columns,
                                 &e->rows.elements, error);
}

static qp_status read_encoded(sample *s, uint64_t first, qp_weights_encoding *e, qp_error *error)
{
    const qp_weight_source_part *part = qp_parameter_part(s->parameter, first);
    const qp_format *format = qp_format_find(part->encoding == NULL ? "" : part->encoding);
    qp_matrix matrix;
    if (format == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "no sample of this encoding");
    qp_status status = qp_matrix_plan(format, NULL, s->target.shape, 2, 1, &matrix, error);
    if (status == QP_OK)
        status = qp_words_room_make(&matrix, s->rows, &s->encoded, error);
    if (status != QP_OK)
        return status;
    qp_tile tile = {
        .row = first / s->parameter->columns, .rows = s->rows, .columns = s->parameter->columns};
    e->job.encoding = part->encoding;
    e->rows.encoded = s->encoded.words;
    e->code_row_bytes = matrix.code_row_bytes;
    e->scale_row_bytes = matrix.scale_row_bytes;
    return qp_parameter_words(&s->reader, s->parameter, &tile, &s->encoded.words, error);
}

static qp_status encode_sample(sample *s, qp_weights_encoding *e, qp_error *error)
{
    static qp_status (*const reads[])(sample *, uint64_t, qp_weights_encoding *,
                                      qp_error *) = {[QP_INPUT_VALUES] = read_values,
                                                     [QP_INPUT_ELEMENTS] = read_elements,
                                                     [QP_INPUT_ENCODED] = read_encoded};
    uint64_t first = s->item->first_row * s->target.columns;
    qp_status status = qp_words_room_make(&s->target, s->rows, &s->words, error);
    e->rows.words = s->words.words;
    if (status == QP_OK)
        status = reads[s->item->method->input](s, first, e, error);
    if (status == QP_OK)
        status = qp_weights_prepare(e, error);
    return status == QP_OK ? qp_weights_encode(e, s->rows, error) : status;
}

/* Seconds a weight; 0 where no sample can be taken: the run itself will say why. */
static double measure(const qp_weight_source *source, const qp_plan_item *item, uint32_t cpu)
{
    const qp_allocator allocator = qp_allocator_or_default(NULL);
    sample s = {.parameter = qp_weight_source_find(source, item->parameter), .item = item};
    qp_error unused;
    if (s.parameter == NULL || item->target.columns == 0 || plan_sample(&s, &unused) != QP_OK)
        return 0;
    qp_weights_encoding e = {.job = {.target = &s.target, .cpu = cpu, .method = item->method},
                             .rows = {.count = s.rows}};
    qp_weight_source_reader_init(&s.reader, source, &allocator, cpu);
    double start = qp_convert_clock();
    qp_status status = encode_sample(&s, &e, &unused);
    double seconds = qp_convert_clock() - start;
    qp_weights_encoding_free(&e);
    qp_release(NULL, s.values, s.n_values, sizeof *s.values);
    qp_words_room_free(&s.encoded);
    qp_words_room_free(&s.words);
    qp_weight_source_reader_free(&s.reader);
    return status == QP_OK ? seconds / (double)(s.rows * s.target.columns) : 0;
}

/* ---- the time ----------------------------------------------------------------------------- */

static bool same_way(const qp_plan_item *a, const qp_plan_item *b)
{
    return a->method == b->method && a->target.format == b->target.format &&
           strcmp(a->source_type, b->source_type) == 0;
}

/* Each way is measured on its first item. */
static double seconds_of(const qp_weight_source *source, const qp_plan_item *items, size_t i,
                         double *rates, uint32_t cpu)
{
    size_t first = 0;
    while (!same_way(&items[first], &items[i]))
        first++;
    if (first == i)
        rates[i] = measure(source, &items[i], cpu);
    return rates[first] * (double)(items[i].rows * items[i].target.columns);
}

static qp_status estimate(qp_artifact *artifact, const qp_plan_item *items, size_t count,
                          const qp_convert_options *options, double *seconds, qp_error *error)
{
    qp_weight_source source;
    double *rates = qp_allocate(NULL, count, sizeof *rates);
    *seconds = 0;
    if (rates == NULL)
        return qp_fail_memory(error, "the time of a plan");
    qp_status status = qp_weight_source_open(artifact, NULL, &source, error);
    if (status == QP_OK) {
        for (size_t i = 0; i < count; i++)
            *seconds += seconds_of(&source, items, i, rates, options->cpu);
        qp_weight_source_close(&source);
    }
    *seconds /= options->threads > 0 ? options->threads : 1;
    qp_release(NULL, rates, count, sizeof *rates);
    return status;
}

/* ---- words -------------------------------------------------------------------------------- */

static const char *cell(qp_buffer *buffer)
{
    qp_buffer_append(buffer, "", 1);
    return buffer->failed ? "" : (const char *)buffer->bytes;
}

/* "name", or "name[0:512]" of a part of its rows. */
static void name_item(const qp_plan_item *item, const qp_plan_item *before,
                      const qp_plan_item *after, qp_buffer *name)
{
    bool split = item->first_row > 0 ||
                 (before != NULL && strcmp(before->parameter, item->parameter) == 0) ||
                 (after != NULL && strcmp(after->parameter, item->parameter) == 0);
    name->size = 0;
    qp_weights_name(item->parameter, name);
    if (split)
        qp_buffer_format(name, "[%" PRIu64 ":%" PRIu64 "]", item->first_row,
                         item->first_row + item->rows);
}

static void put_table(const qp_plan_item *items, size_t count, qp_buffer *text)
{
    qp_text_table table;
    qp_buffer name, type;
    qp_buffer_init(&name, NULL);
    qp_buffer_init(&type, NULL);
    qp_text_table_init(&table, "LLllrr");
    qp_text_table_row(&table, "tensor\tfrom\tmethod\tto\tbytes\tbefore");
    for (size_t i = 0; i < count; i++) {
        const qp_plan_item *item = &items[i];
        name_item(item, i == 0 ? NULL : item - 1, i + 1 == count ? NULL : item + 1, &name);
        type.size = 0;
        qp_weights_name(item->source_type, &type);
        qp_text_table_row(&table, "%s\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64, cell(&name), cell(&type),
                          item->method->name, item->target.format->name, item->target.bytes,
                          item->source_bytes);
    }
    qp_text_table_print(&table, LINE, text);
    qp_buffer_free(&type);
    qp_buffer_free(&name);
}

static void put_lost(const qp_convert_plan *plan, qp_buffer *text)
{
    size_t count;
    const char *const *lost = qp_convert_plan_lost(plan, &count);
    if (count == 0)
        return;
    qp_buffer_format(text, "\nlost: %zu thing%s that the target cannot carry\n", count,
                     count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        qp_buffer_text(text, "  ");
        qp_weights_name(lost[i], text);
        qp_buffer_text(text, "\n");
    }
}

static void put_importance(const qp_convert_plan *plan, qp_buffer *text)
{
    size_t found, asked;
    qp_convert_plan_importance(plan, &found, &asked);
    if (asked > 0)
        qp_buffer_format(text, "\nimportance: known of %zu of %zu tensors\n", found, asked);
}

static void put_text(const qp_convert_plan *plan, const qp_convert_request *request, double seconds,
                     qp_buffer *text)
{
    size_t count;
    char duration[32];
    const qp_plan_item *items = qp_convert_plan_items(plan, &count);
    uint64_t before = qp_convert_plan_source_bytes(plan);
    uint64_t after = qp_convert_plan_target_bytes(plan);
    uint32_t threads = request->options.threads > 0 ? request->options.threads : 1;
    qp_convert_duration(seconds, duration);
    put_table(items, count, text);
    put_lost(plan, text);
    put_importance(plan, text);
    qp_buffer_format(text,
                     "\n%zu tensor%s, %" PRIu64 " bytes become a file of %" PRIu64
                     " bytes (%.1f%%)\nabout %s of computing with %" PRIu32
                     " thread%s, and what the disk needs\n",
                     count, count == 1 ? "" : "s", before, after,
                     before == 0 ? 100 : 100 * (double)after / (double)before, duration, threads,
                     threads == 1 ? "" : "s");
}

static void put_string(qp_buffer *text, const char *name, const char *value)
{
    qp_buffer_format(text, ",\"%s\":", name);
    qp_buffer_json_string(text, value, strlen(value));
}

static void put_item_json(const qp_plan_item *item, qp_buffer *text)
{
    qp_buffer_text(text, "{\"parameter\":");
    qp_buffer_json_string(text, item->parameter, strlen(item->parameter));
    put_string(text, "object", item->object);
    qp_buffer_format(text, ",\"first_row\":%" PRIu64 ",\"rows\":%" PRIu64, item->first_row,
                     item->rows);
    put_string(text, "source_type", item->source_type);
    put_string(text, "method", item->method->name);
    put_string(text, "format", item->target.format->name);
    put_string(text, "layout", item->target.layout->name);
    qp_buffer_text(text, ",\"shape\":");
    qp_weights_shape(item->target.shape, item->target.rank, text);
    qp_buffer_format(text, ",\"source_bytes\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
                     item->source_bytes, item->target.bytes);
}

static void put_json(const qp_convert_plan *plan, double seconds, qp_buffer *text)
{
    size_t count, n_lost, found, asked;
    const qp_plan_item *items = qp_convert_plan_items(plan, &count);
    const char *const *lost = qp_convert_plan_lost(plan, &n_lost);
    qp_convert_plan_importance(plan, &found, &asked);
    qp_buffer_format(text,
                     "{\"source_bytes\":%" PRIu64 ",\"target_bytes\":%" PRIu64
                     ",\"seconds\":%.3g,\"importance\":{\"found\":%zu,\"of\":%zu},\"lost\":[",
                     qp_convert_plan_source_bytes(plan), qp_convert_plan_target_bytes(plan),
                     seconds, found, asked);
    for (size_t i = 0; i < n_lost; i++) {
        qp_buffer_text(text, i == 0 ? "" : ",");
        qp_buffer_json_string(text, lost[i], strlen(lost[i]));
    }
    qp_buffer_text(text, "],\"tensors\":[");
    for (size_t i = 0; i < count; i++) {
        qp_buffer_text(text, i == 0 ? "\n " : ",\n ");
        put_item_json(&items[i], text);
    }
    qp_buffer_text(text, "]}\n");
}

qp_status qp_convert_describe(qp_artifact *artifact, const qp_convert_plan *plan,
                              const qp_convert_request *request, qp_buffer *text, qp_error *error)
{
    size_t count;
    double seconds;
    const qp_plan_item *items = qp_convert_plan_items(plan, &count);
    qp_status status = estimate(artifact, items, count, &request->options, &seconds, error);
    if (status != QP_OK)
        return status;
    if (request->json)
        put_json(plan, seconds, text);
    else
        put_text(plan, request, seconds, text);
    return QP_OK;
}
