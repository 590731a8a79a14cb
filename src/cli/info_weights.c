/* SPDX-License-Identifier: Apache-2.0 */
/* info_weights.c - see info_weights.h. */
#include "cli/info_weights.h"

#include "base/json.h"
#include "cli/histogram.h"
#include "cli/info_metadata.h"
#include "cli/info_parameters.h"
#include "cli/text_table.h"
#include "cli/weights.h"

#include <inttypes.h>
#include <math.h>

enum { LINE = 100, VALUE = 80 };

static void put_string(qp_buffer *text, const char *name, const char *value)
{
    qp_buffer_format(text, ",\"%s\":", name);
    qp_buffer_json_string(text, value, strlen(value));
}

static const char *cell(qp_buffer *buffer)
{
    qp_buffer_append(buffer, "", 1);
    return buffer->failed ? "" : (const char *)buffer->bytes;
}

/* A name of the file in a table's cell. */
static const char *clean(qp_buffer *buffer, const char *name)
{
    buffer->size = 0;
    qp_weights_name(name, buffer);
    return cell(buffer);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Bits a weight; 0 of a tensor without one. */
static double bits_of(uint64_t bytes, uint64_t weights)
{
    return weights == 0 ? 0 : 8 * (double)bytes / (double)weights;
}

/* ---- sums --------------------------------------------------------------------------------- */

/* The tensors of one type. */
typedef struct type_sum {
    const char *type;
    uint64_t tensors, weights, bytes;
} type_sum;

typedef struct sums {
    type_sum *types; /* in the order of the first tensor of each */
    size_t count, capacity;
    type_sum all;
    const qp_artifact_tensor *tensors;
    qp_kept_parameters kept; /* of a .ninfer file */
} sums;

static void add_to(type_sum *sum, const qp_artifact_tensor *tensor)
{
    sum->tensors++;
    sum->weights += qp_weights_count(tensor);
    sum->bytes += tensor->bytes;
}

static qp_status add_tensor(sums *s, const qp_artifact_tensor *tensor, qp_error *error)
{
    size_t i = 0;
    add_to(&s->all, tensor);
    while (i < s->count && strcmp(s->types[i].type, tensor->type) != 0)
        i++;
    if (i == s->capacity) { /* there are few types; a hostile file can name many */
        size_t wanted = s->capacity == 0 ? 32 : 2 * s->capacity;
        type_sum *types = qp_allocate(NULL, wanted, sizeof *types);
        if (types == NULL)
            return qp_fail_memory(error, "the types of tensors");
        if (s->count > 0)
            memcpy(types, s->types, s->count * sizeof *types);
        qp_release(NULL, s->types, s->capacity, sizeof *types);
        s->types = types;
        s->capacity = wanted;
    }
    if (i == s->count)
        s->types[s->count++].type = tensor->type;
    add_to(&s->types[i], tensor);
    return QP_OK;
}

static qp_status sum_up(const qp_artifact *artifact, sums *s, qp_error *error)
{
    size_t count;
    qp_status status = QP_OK;
    *s = (sums){0};
    s->tensors = qp_artifact_tensors(artifact, &count);
    for (size_t i = 0; i < count && status == QP_OK; i++)
        status = add_tensor(s, &s->tensors[i], error);
    qp_error unused;
    qp_status read = qp_kept_parameters_read(artifact, &s->kept, status == QP_OK ? error : &unused);
    return status != QP_OK ? status : read;
}

static void free_sums(sums *s)
{
    qp_kept_parameters_free(&s->kept);
    qp_release(NULL, s->types, s->capacity, sizeof *s->types);
}

/* ---- text --------------------------------------------------------------------------------- */

static void put_facts(const qp_artifact *artifact, const sums *s, qp_buffer *text)
{
    size_t metadata, resources;
    const char *version = qp_artifact_version(artifact);
    (void)qp_artifact_metadata(artifact, &metadata);
    (void)qp_artifact_resources(artifact, &resources);
    if (version[0] != '\0')
        qp_buffer_format(text, "  version  %s\n", version);
    qp_buffer_format(text, "  holds    %" PRIu64 " tensor%s, %" PRIu64 " weight%s, ",
                     s->all.tensors, plural(s->all.tensors), s->all.weights,
                     plural(s->all.weights));
    qp_buffer_format(text, "%.4g bits a weight", bits_of(s->all.bytes, s->all.weights));
    if (resources > 0)
        qp_buffer_format(text, "; %zu resource%s", resources, plural(resources));
    if (metadata > 0)
        qp_buffer_format(text, "; %zu key%s of metadata", metadata, plural(metadata));
    qp_buffer_text(text, "\n");
}

static void put_types(const sums *s, qp_buffer *text)
{
    qp_text_table table;
    qp_buffer name;
    qp_buffer_init(&name, NULL);
    qp_text_table_init(&table, "Lrrrrr");
    qp_text_table_row(&table, "type\ttensors\tweights\tbits\tbytes\tshare");
    for (size_t i = 0; i < s->count; i++) {
        const type_sum *t = &s->types[i];
        qp_text_table_row(&table, "%s\t%" PRIu64 "\t%" PRIu64 "\t%.4g\t%" PRIu64 "\t%.1f%%",
                          clean(&name, t->type), t->tensors, t->weights,
                          bits_of(t->bytes, t->weights), t->bytes,
                          s->all.bytes == 0 ? 0 : 100 * (double)t->bytes / (double)s->all.bytes);
    }
    qp_buffer_text(text, "\ntypes\n");
    qp_text_table_print(&table, LINE, text);
    qp_buffer_free(&name);
}

/* What a tensor keeps: "\tblk.0.attn_q.weight", "\ta and 2 more"; nothing without bindings. */
static void put_kept(const sums *s, uint64_t i, qp_buffer *text)
{
    text->size = 0;
    if (s->kept.of == NULL)
        return;
    qp_buffer_text(text, "\t");
    if (s->kept.of[i].name != NULL)
        qp_weights_name(s->kept.of[i].name, text);
    if (s->kept.of[i].count > 1)
        qp_buffer_format(text, " and %" PRIu64 " more", s->kept.of[i].count - 1);
}

static void put_tensors(const sums *s, qp_buffer *text)
{
    qp_text_table table;
    qp_buffer shape, name, type, kept;
    qp_buffer_init(&shape, NULL);
    qp_buffer_init(&name, NULL);
    qp_buffer_init(&type, NULL);
    qp_buffer_init(&kept, NULL);
    qp_text_table_init(&table, s->kept.of == NULL ? "LLlrr" : "LLLlrr");
    qp_text_table_row(&table, "tensor%s\ttype\tshape\tbits\tbytes",
                      s->kept.of == NULL ? "" : "\tparameter");
    for (uint64_t i = 0; i < s->all.tensors; i++) {
        const qp_artifact_tensor *t = &s->tensors[i];
        shape.size = 0;
        qp_weights_shape(t->shape, t->rank, &shape);
        put_kept(s, i, &kept);
        qp_text_table_row(&table, "%s%s\t%s\t%s\t%.4g\t%" PRIu64, clean(&name, t->name),
                          cell(&kept), clean(&type, t->type), cell(&shape),
                          bits_of(t->bytes, qp_weights_count(t)), t->bytes);
    }
    qp_buffer_text(text, "\ntensors\n");
    qp_text_table_print(&table, LINE, text);
    qp_buffer_free(&kept);
    qp_buffer_free(&type);
    qp_buffer_free(&name);
    qp_buffer_free(&shape);
}

static void put_resources(const qp_artifact *artifact, qp_buffer *text)
{
    qp_text_table table;
    size_t count;
    const qp_artifact_resource *resources = qp_artifact_resources(artifact, &count);
    qp_buffer name, encoding;
    if (count == 0)
        return;
    qp_buffer_init(&name, NULL);
    qp_buffer_init(&encoding, NULL);
    qp_text_table_init(&table, "Llr");
    qp_text_table_row(&table, "resource\tencoding\tbytes");
    for (size_t i = 0; i < count; i++)
        qp_text_table_row(&table, "%s\t%s\t%" PRIu64, clean(&name, resources[i].id),
                          clean(&encoding, resources[i].encoding), resources[i].bytes);
    qp_buffer_text(text, "\nresources\n");
    qp_text_table_print(&table, LINE, text);
    qp_buffer_free(&encoding);
    qp_buffer_free(&name);
}

static void put_metadata(const qp_artifact *artifact, qp_buffer *text)
{
    qp_text_table table;
    qp_buffer key, type, value;
    size_t count;
    const qp_artifact_metadatum *metadata = qp_artifact_metadata(artifact, &count);
    if (count == 0)
        return;
    qp_buffer_init(&key, NULL);
    qp_buffer_init(&type, NULL);
    qp_buffer_init(&value, NULL);
    qp_text_table_init(&table, "Lll");
    qp_text_table_row(&table, "key\ttype\tvalue");
    for (size_t i = 0; i < count; i++) {
        type.size = value.size = 0;
        qp_info_metadata_type(&metadata[i], &type);
        qp_info_metadata_text(&metadata[i], VALUE, &value);
        qp_text_table_row(&table, "%s\t%s\t%s", clean(&key, metadata[i].key), cell(&type),
                          cell(&value));
    }
    qp_buffer_text(text, "\nmetadata\n");
    qp_text_table_print(&table, LINE, text);
    qp_buffer_free(&value);
    qp_buffer_free(&type);
    qp_buffer_free(&key);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_tensor(const qp_artifact_tensor *t, const qp_kept_parameter *kept, qp_buffer *text)
{
    qp_buffer_text(text, "{\"name\":");
    qp_buffer_json_string(text, t->name, strlen(t->name));
    if (kept != NULL && kept->name != NULL) {
        put_string(text, "parameter", kept->name);
        qp_buffer_format(text, ",\"parameters\":%" PRIu64, kept->count);
    }
    put_string(text, "type", t->type);
    put_string(text, "format", t->format == NULL ? "" : t->format->name);
    put_string(text, "layout", t->layout == NULL ? "" : t->layout->name);
    qp_buffer_text(text, ",\"shape\":");
    qp_weights_shape(t->shape, t->rank, text);
    qp_buffer_format(text,
                     ",\"divisors\":%" PRIu64 ",\"file\":%" PRIu32 ",\"offset\":%" PRIu64
                     ",\"bytes\":%" PRIu64 ",\"bits\":%.6g}",
                     t->divisors, t->file, t->offset, t->bytes,
                     bits_of(t->bytes, qp_weights_count(t)));
}

static void json_lists(const qp_artifact *artifact, const sums *s, qp_buffer *text)
{
    size_t n_resources, n_metadata;
    const qp_artifact_resource *resources = qp_artifact_resources(artifact, &n_resources);
    const qp_artifact_metadatum *metadata = qp_artifact_metadata(artifact, &n_metadata);

    qp_buffer_text(text, ",\"tensors\":[");
    for (uint64_t i = 0; i < s->all.tensors; i++) {
        qp_buffer_text(text, i == 0 ? "\n " : ",\n ");
        json_tensor(&s->tensors[i], s->kept.of == NULL ? NULL : &s->kept.of[i], text);
    }
    qp_buffer_text(text, "],\"resources\":[");
    for (size_t i = 0; i < n_resources; i++) {
        qp_buffer_text(text, i == 0 ? "\n {\"id\":" : ",\n {\"id\":");
        qp_buffer_json_string(text, resources[i].id, strlen(resources[i].id));
        put_string(text, "encoding", resources[i].encoding);
        qp_buffer_format(text, ",\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
                         resources[i].offset, resources[i].bytes);
    }
    qp_buffer_text(text, "],\"metadata\":{");
    for (size_t i = 0; i < n_metadata; i++) {
        qp_buffer_text(text, i == 0 ? "\n " : ",\n ");
        qp_buffer_json_string(text, metadata[i].key, strlen(metadata[i].key));
        qp_buffer_text(text, ":");
        qp_info_metadata_json(&metadata[i], text);
    }
    qp_buffer_text(text, "}");
}

static void put_json(const qp_artifact *artifact, const sums *s, qp_buffer *text)
{
    put_string(text, "version", qp_artifact_version(artifact));
    qp_buffer_format(text, ",\"weights\":%" PRIu64 ",\"tensor_bytes\":%" PRIu64 ",\"bits\":%.6g",
                     s->all.weights, s->all.bytes, bits_of(s->all.bytes, s->all.weights));
    json_lists(artifact, s, text);
}

static void put_text(const qp_artifact *artifact, const sums *s, qp_buffer *text)
{
    put_facts(artifact, s, text);
    if (s->all.tensors > 0) {
        put_types(s, text);
        put_tensors(s, text);
    }
    put_resources(artifact, text);
    put_metadata(artifact, text);
}

/* ---- one tensor --------------------------------------------------------------------------- */

/* A tensor, or a parameter that several tensors keep. */
typedef struct subject {
    qp_artifact *artifact;
    const qp_artifact_tensor *tensor; /* NULL: a parameter */
    qp_weight_source source;
    const qp_parameter *parameter;
} subject;

/* One pass over the values: `statistics` where there is no histogram yet. */
static qp_status pass(const subject *s, qp_statistics *statistics, qp_histogram *histogram,
                      qp_error *error)
{
    qp_weights_walk walk;
    const float *values;
    size_t count = 1;
    qp_status status = s->tensor != NULL
                           ? qp_weights_walk_open(&walk, s->artifact, s->tensor, error)
                           : qp_weights_walk_parameter(&walk, &s->source, s->parameter, error);
    while (status == QP_OK && count > 0) {
        status = qp_weights_walk_next(&walk, &values, &count, error);
        if (status != QP_OK)
            break;
        if (histogram != NULL)
            qp_histogram_add(histogram, values, count);
        else
            qp_statistics_add(statistics, values, count);
    }
    qp_weights_walk_close(&walk);
    return status;
}

/* The head of the text: what it is and how it is kept. */
static void put_subject(const subject *s, qp_buffer *text)
{
    const qp_artifact_tensor *t = s->tensor;
    const qp_parameter *p = s->parameter;
    uint64_t bytes = t != NULL ? t->bytes : p->bytes;
    qp_buffer_text(text, t != NULL ? "  tensor   " : "  param.   ");
    qp_weights_name(t != NULL ? t->name : p->name, text);
    qp_buffer_text(text, "\n  type     ");
    qp_weights_name(t != NULL ? t->type : p->type, text);
    qp_buffer_text(text, ", shape ");
    qp_weights_shape(t != NULL ? t->shape : p->shape, t != NULL ? t->rank : p->rank, text);
    qp_buffer_format(text, ", %" PRIu64 " bytes, %.4g bits a weight\n", bytes,
                     bits_of(bytes, t != NULL ? qp_weights_count(t) : p->elements));
    if (t != NULL && t->layout != NULL)
        qp_buffer_format(text, "  layout   %s\n", t->layout->name);
}

static void put_tensor_text(const subject *of, const qp_statistics *s, const qp_histogram *h,
                            qp_buffer *text)
{
    put_subject(of, text);
    qp_buffer_format(text, "  values   %" PRIu64, s->count + s->nan + s->infinite);
    qp_buffer_format(text, ": %" PRIu64 " zero%s, %" PRIu64 " NaN, %" PRIu64 " infinite\n",
                     s->zeros, plural(s->zeros), s->nan, s->infinite);
    if (s->count == 0)
        return;
    qp_buffer_format(text, "  range    %.9g to %.9g\n  mean     %.9g, standard deviation %.9g\n\n",
                     s->lowest, s->highest, s->mean, qp_statistics_deviation(s));
    qp_histogram_print(h, qp_terminal_is_utf8(), text);
}

static void json_parameter(const qp_parameter *p, qp_buffer *text)
{
    qp_buffer_text(text, "{\"name\":");
    qp_buffer_json_string(text, p->name, strlen(p->name));
    put_string(text, "type", p->type);
    qp_buffer_text(text, ",\"shape\":");
    qp_weights_shape(p->shape, p->rank, text);
    qp_buffer_format(text, ",\"bytes\":%" PRIu64 ",\"bits\":%.6g}", p->bytes,
                     bits_of(p->bytes, p->elements));
}

static void put_tensor_json(const subject *of, const qp_statistics *s, const qp_histogram *h,
                            qp_buffer *text)
{
    qp_buffer_text(text, of->tensor != NULL ? ",\"tensor\":" : ",\"parameter\":");
    if (of->tensor != NULL)
        json_tensor(of->tensor, NULL, text);
    else
        json_parameter(of->parameter, text);
    qp_buffer_format(text,
                     ",\"finite\":%" PRIu64 ",\"zeros\":%" PRIu64 ",\"nan\":%" PRIu64
                     ",\"infinite\":%" PRIu64,
                     s->count, s->zeros, s->nan, s->infinite);
    if (s->count == 0)
        return;
    qp_buffer_format(text, ",\"lowest\":%.9g,\"highest\":%.9g,\"mean\":%.9g,\"deviation\":%.9g",
                     s->lowest, s->highest, s->mean, qp_statistics_deviation(s));
    qp_buffer_format(text,
                     ",\"histogram\":{\"lowest\":%.9g,\"highest\":%.9g,\"below\":%" PRIu64
                     ",\"above\":%" PRIu64 ",\"bins\":[",
                     h->lowest, h->highest, h->below, h->above);
    for (unsigned i = 0; i < QP_HISTOGRAM_BINS; i++)
        qp_buffer_format(text, "%s%" PRIu64, i == 0 ? "" : ",", h->bins[i]);
    qp_buffer_text(text, "]}");
}

static qp_status show_subject(const subject *of, bool json, qp_buffer *text, qp_error *error)
{
    qp_statistics statistics = {0};
    qp_histogram histogram;
    qp_status status = pass(of, &statistics, NULL, error);
    qp_histogram_start(&histogram, &statistics);
    if (status == QP_OK)
        status = pass(of, &statistics, &histogram, error);
    if (status != QP_OK)
        return status;
    if (json)
        put_tensor_json(of, &statistics, &histogram, text);
    else
        put_tensor_text(of, &statistics, &histogram, text);
    return QP_OK;
}

static qp_status show_tensor(qp_artifact *artifact, const qp_info_request *request, qp_buffer *text,
                             qp_error *error)
{
    subject of = {.artifact = artifact, .tensor = qp_weights_find(artifact, request->tensor)};
    if (of.tensor != NULL)
        return show_subject(&of, request->json, text, error);
    qp_status status = qp_weight_source_open(artifact, NULL, &of.source, error);
    if (status != QP_OK)
        return status;
    of.parameter = qp_weight_source_find(&of.source, request->tensor);
    status = of.parameter == NULL ? qp_fail(error, QP_INVALID_ARGUMENT,
                                            "there is no tensor '%.100s' in it", request->tensor)
                                  : show_subject(&of, request->json, text, error);
    qp_weight_source_close(&of.source);
    return status;
}

/* ---- a file ------------------------------------------------------------------------------- */

const char *qp_info_weights_kind(const qp_file *file)
{
    const qp_artifact_kind *kind = qp_artifact_kind_of_bytes(file->bytes, file->size);
    return kind == NULL ? NULL : kind->name;
}

static qp_status show(qp_artifact *artifact, const qp_info_request *request, qp_buffer *text,
                      qp_error *error)
{
    sums s;
    if (request->tensor != NULL)
        return show_tensor(artifact, request, text, error);
    qp_status status = sum_up(artifact, &s, error);
    if (status == QP_OK && request->json)
        put_json(artifact, &s, text);
    else if (status == QP_OK)
        put_text(artifact, &s, text);
    free_sums(&s);
    return status;
}

qp_status qp_info_weights(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                          qp_error *error)
{
    qp_artifact *artifact = NULL;
    qp_status status = strcmp(request->path, "-") == 0
                           ? qp_artifact_open_bytes("standard input", file->bytes, file->size, NULL,
                                                    &artifact, error)
                           : qp_artifact_open(request->path, NULL, &artifact, error);
    if (status == QP_OK)
        status = show(artifact, request, text, error);
    qp_artifact_close(artifact);
    return status;
}
