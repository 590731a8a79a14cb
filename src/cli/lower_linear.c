/* SPDX-License-Identifier: Apache-2.0 */
/* lower_linear.c - see lower_linear.h. */
#include "cli/lower_linear.h"

#include "base/json.h"
#include "cli/describe.h"
#include "cli/output.h"
#include "cli/weights.h"
#include "quipu/import.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct work {
    const qp_lower_linear_options *options;
    char *path;
    const char *name; /* of the tensor */
    qp_weights_file file;
    const char *shown; /* the name that is told: the tensor's, or a parameter's */
    const qp_artifact_tensor *tensor;
    qp_linear_options linear;
} work;

/* ---- arguments ---------------------------------------------------------------------------- */

static bool read_range(const char *text, qp_linear_options *linear)
{
    char lo[24];
    const char *comma = strchr(text, ',');
    size_t length = comma == NULL ? 0 : (size_t)(comma - text);
    if (comma == NULL || length >= sizeof lo)
        return false;
    memcpy(lo, text, length);
    lo[length] = '\0';
    return qp_cli_i64(lo, &linear->lo) && qp_cli_i64(comma + 1, &linear->hi) &&
           linear->lo <= linear->hi;
}

static bool is_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (stream != NULL)
        fclose(stream);
    return stream != NULL;
}

/* Both a path and a name may hold ':': the first one behind which a file is left divides them. */
static bool divide(work *w)
{
    size_t size = strlen(w->options->what) + 1;
    w->path = malloc(size);
    if (w->path == NULL)
        return false;
    memcpy(w->path, w->options->what, size);
    for (char *colon = strchr(w->path, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        *colon = '\0';
        if (is_file(w->path)) {
            w->name = colon + 1;
            return true;
        }
        *colon = ':';
    }
    return false;
}

/* ---- what is said ------------------------------------------------------------------------- */

static void put_digest(const void *bytes, size_t size, qp_buffer *text)
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_buffer_hex(text, digest, sizeof digest);
}

static uint64_t rows_of(const work *w)
{
    return w->linear.rows != 0 ? w->linear.rows : w->tensor->shape[0];
}

static void put_text(const work *w, const qp_buffer *graph, const qp_certificate *certificate,
                     qp_buffer *text)
{
    const uint64_t *shape = w->tensor->shape, rows = rows_of(w);
    qp_buffer_text(text, "tensor       ");
    qp_weights_name(w->shown, text);
    qp_buffer_format(text, ", %s [%" PRIu64 ", %" PRIu64 "]\n", w->tensor->type, rows, shape[1]);
    qp_buffer_format(text,
                     "input        %" PRIu64 " channels in %" PRId64 "..%" PRId64
                     ", a vector a position\n",
                     shape[1], w->linear.lo, w->linear.hi);
    qp_buffer_format(text, "output       %" PRIu64 " channels: the product times 2^24, exactly\n",
                     rows);
    qp_buffer_text(text, "graph        ");
    put_digest(graph->bytes, graph->size, text);
    qp_buffer_format(text, "  %zu bytes", graph->size);
    for (int p = QP_ACC32; p <= QP_ACC64; p++) {
        qp_buffer_format(text, "\n%-12s ", qp_profile_name((qp_profile)p));
        qp_describe_profile(certificate, (qp_profile)p, text);
    }
    qp_buffer_text(text, "\n");
}

static void put_json(const work *w, const qp_buffer *graph, const qp_certificate *certificate,
                     qp_buffer *text)
{
    qp_buffer_text(text, "{\"tensor\":");
    qp_buffer_json_string(text, w->shown, strlen(w->shown));
    qp_buffer_format(text,
                     ",\"format\":\"%s\",\"rows\":%" PRIu64 ",\"columns\":%" PRIu64
                     ",\"input\":[%" PRId64 ",%" PRId64 "],\"scale_bits\":24,\"graph_sha256\":\"",
                     w->tensor->type, rows_of(w), w->tensor->shape[1], w->linear.lo, w->linear.hi);
    put_digest(graph->bytes, graph->size, text);
    qp_buffer_format(text, "\",\"bytes\":%zu,\"acc32\":%s,\"acc64\":%s}\n", graph->size,
                     qp_certificate_meets(certificate, QP_ACC32, NULL) ? "true" : "false",
                     qp_certificate_meets(certificate, QP_ACC64, NULL) ? "true" : "false");
}

static qp_status describe(const work *w, const qp_buffer *bytes, qp_buffer *text, qp_error *error)
{
    qp_graph *graph;
    qp_certificate *certificate = NULL;
    qp_status status = qp_graph_load(bytes->bytes, bytes->size, NULL, &graph, error);
    if (status != QP_OK)
        return status;
    status = qp_certify(graph, NULL, &certificate, error);
    if (status == QP_OK && w->options->json)
        put_json(w, bytes, certificate, text);
    else if (status == QP_OK)
        put_text(w, bytes, certificate, text);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    return status;
}

/* ---- the work ----------------------------------------------------------------------------- */

/* The graph to its file, and what it is to standard output, unless the graph goes there. */
static qp_status give(const work *w, const qp_buffer *graph, qp_error *error)
{
    const char *output = w->options->output;
    qp_buffer text;
    qp_buffer_init(&text, NULL);
    qp_status status = describe(w, graph, &text, error);
    if (status == QP_OK && output != NULL)
        status = qp_output_buffer(output, graph, error);
    if (status == QP_OK && (output == NULL || strcmp(output, "-") != 0))
        status = qp_output_buffer("-", &text, error);
    qp_buffer_free(&text);
    return status;
}

/* A parameter of a .ninfer file that is some rows of one tensor. */
static qp_status find_rows(work *w, const qp_weight_source *source, qp_error *error)
{
    const qp_parameter *parameter = qp_weight_source_find(source, w->name);
    if (parameter == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "there is no tensor '%.100s' in it", w->name);
    const qp_weight_source_part *part = parameter->parts;
    if (parameter->n_parts != 1 || part->tensors.scales != NULL || part->matrix.columns == 0 ||
        part->matrix.columns != parameter->columns || part->first % part->matrix.columns != 0)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "'%.100s' is not some rows of one tensor: lower its tensors, one by one",
                       w->name);
    w->tensor = part->tensors.main;
    w->shown = w->name;
    w->linear.first_row = part->first / part->matrix.columns;
    w->linear.rows = parameter->rows;
    return QP_OK;
}

static qp_status find(work *w, qp_error *error)
{
    qp_weight_source source;
    w->tensor = qp_weights_find(w->file.artifact, w->name);
    if (w->tensor != NULL) {
        w->shown = w->tensor->name;
        return QP_OK;
    }
    qp_status status = qp_weight_source_open(w->file.artifact, NULL, &source, error);
    if (status != QP_OK)
        return status;
    status = find_rows(w, &source, error);
    qp_weight_source_close(&source);
    return status;
}

static qp_status lower(work *w, qp_error *error)
{
    void *bytes;
    size_t size;
    qp_buffer graph;
    qp_status status = qp_weights_open(&w->file, w->path, error);
    if (status != QP_OK)
        return status;
    status = find(w, error);
    if (status != QP_OK)
        return status;
    status = qp_import_linear(w->file.artifact, w->tensor, &w->linear, NULL, &bytes, &size, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&graph, NULL);
    qp_buffer_append(&graph, bytes, size);
    qp_bytes_free(NULL, bytes, size);
    status = give(w, &graph, error);
    qp_buffer_free(&graph);
    return status;
}

int qp_lower_linear(const qp_lower_linear_options *options)
{
    work w = {.options = options, .linear = {.lo = INT8_MIN, .hi = INT8_MAX}};
    qp_error error;
    if (options->range != NULL && !read_range(options->range, &w.linear))
        return qp_cli_usage("lower", "--input is LO,HI, as -128,127");
    if (!divide(&w)) {
        free(w.path);
        return qp_cli_usage("lower", "--linear is FILE:TENSOR; there is no such file in '%.80s'",
                            options->what);
    }
    qp_status status = lower(&w, &error);
    int code = status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("lower", options->what, &error);
    qp_weights_close(&w.file);
    free(w.path);
    return code;
}
