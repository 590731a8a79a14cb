/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c - what a case gives: its graph's load, verdict and decodes, as a line of JSON. */
#include "conform/case.h"

#include "bounds/bounds.h"
#include "quipu/run.h"

/* A case's graph as loaded; what is NULL was not reached. */
typedef struct loaded {
    qp_buffer bytes;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_session *session;
    qp_status status; /* of the load, held to acc64 */
    bool acc32;
} loaded;

/* ---- the graph's bytes -------------------------------------------------------------------- */

static void write_tables(const qp_corpus *c, qp_graph_writer *writer)
{
    for (uint32_t i = 0; i < c->n_scalars; i++)
        qp_writer_scalar(writer, c->scalars[i].lo, c->scalars[i].hi);
    for (uint32_t i = 0; i < c->n_inputs; i++)
        qp_writer_input(writer, &c->inputs[i]);
    for (uint32_t i = 0; i < c->n_outputs; i++)
        qp_writer_output(writer, c->outputs[i]);
    for (uint32_t i = 0; i < c->n_tensors; i++)
        qp_writer_tensor(writer, &c->tensors[i]);
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const qp_case_node *node = &c->nodes[i];
        size_t end = i + 1 < c->n_nodes ? c->nodes[i + 1].params_at : c->params.size;
        qp_buffer *params = qp_writer_begin_operator(writer, node->opcode, node->in, node->n_in,
                                                     node->out, node->n_out);
        if (end > node->params_at)
            qp_buffer_append(params, c->params.bytes + node->params_at, end - node->params_at);
        qp_writer_end_operator(writer);
    }
}

static void change_bytes(qp_corpus *c, qp_buffer *bytes)
{
    for (uint32_t i = 0; i < c->n_patches; i++) {
        const qp_case_change *change = &c->patches[i];
        int64_t at = change->offset + (change->offset < 0 ? (int64_t)bytes->size : 0);
        if (at < 0 || (uint64_t)at + change->width > bytes->size) {
            qp_case_fault(c, "a patch lies outside the graph");
            return;
        }
        for (unsigned k = 0; k < change->width; k++)
            bytes->bytes[at + k] = (uint8_t)(change->value >> (8 * k) & 0xFF);
    }
    if (c->resize < 0)
        bytes->size -= (size_t)-c->resize;
    else
        qp_writer_zeros(bytes, (size_t)c->resize);
    if (c->truncate < bytes->size)
        bytes->size = c->truncate;
}

static void write_bytes(qp_corpus *c, qp_buffer *bytes)
{
    qp_graph_writer writer;

    qp_graph_writer_init(&writer, c->allocator);
    write_tables(c, &writer);
    if (c->whole)
        qp_buffer_append(bytes, c->params.bytes, c->params.size);
    else
        c->status = qp_graph_writer_finish(&writer, c->max_elems, bytes, c->error);
    qp_graph_writer_free(&writer);
    if (c->status == QP_OK)
        change_bytes(c, bytes);
    if (c->status == QP_OK && (bytes->failed || c->params.failed || c->values.failed))
        c->status = qp_fail_memory(c->error, "a case");
}

/* ---- loading ------------------------------------------------------------------------------ */

static bool is_refusal(qp_status status)
{
    return status >= QP_MODEL_MISMATCH && status <= QP_GEOMETRY_MISMATCH;
}

/* Load steps 1 to 8, held to acc64. A status that is no refusal of the text ends the corpus. */
static void load_case(qp_corpus *c, loaded *l)
{
    qp_error error = {0};
    static const qp_session_options options = {.profile = QP_ACC64, .reference = 1};

    *l = (loaded){0};
    qp_buffer_init(&l->bytes, c->allocator);
    write_bytes(c, &l->bytes);
    if (c->status != QP_OK)
        return;
    l->status = qp_graph_load(l->bytes.bytes, l->bytes.size, c->allocator, &l->graph, &error);
    if (l->status == QP_OK)
        l->status = qp_certify(l->graph, c->allocator, &l->certificate, &error);
    if (l->status == QP_OK) {
        l->acc32 = qp_certificate_meets(l->certificate, QP_ACC32, NULL);
        l->status = qp_session_create(l->certificate, &options, c->allocator, &l->session, &error);
    }
    if (l->status != QP_OK && !is_refusal(l->status))
        c->status = qp_fail(c->error, l->status, "%s: %s: %s", c->path, c->id, error.message);
}

static void unload(loaded *l)
{
    qp_session_free(l->session);
    qp_certificate_free(l->certificate);
    qp_graph_free(l->graph);
    qp_buffer_free(&l->bytes);
}

static void check_want(qp_corpus *c, const loaded *l)
{
    static const qp_status wanted[] = {[QP_WANT_LOADED] = QP_OK,
                                       [QP_WANT_ACC32] = QP_OK,
                                       [QP_WANT_ACC64] = QP_OK,
                                       [QP_WANT_MISMATCH] = QP_MODEL_MISMATCH,
                                       [QP_WANT_TOO_LARGE] = QP_TOO_LARGE};
    if (l->status != wanted[c->want]) {
        c->status = qp_fail(c->error, QP_INTERNAL, "%s: %s: its load gives %s, not %s", c->path,
                            c->id, qp_status_token(l->status), qp_status_token(wanted[c->want]));
        return;
    }
    if ((c->want == QP_WANT_ACC32 && !l->acc32) || (c->want == QP_WANT_ACC64 && l->acc32))
        qp_case_fault(c, l->acc32 ? "it meets acc32" : "it does not meet acc32");
}

/* ---- decodes ------------------------------------------------------------------------------ */

static qp_status decode(qp_corpus *c, const loaded *l, const qp_case_run *run, qp_error *error)
{
    static const int64_t nothing[1];
    qp_array arrays[QP_CASE_INPUTS_MAX];

    for (uint32_t i = 0; i < run->n_inputs; i++) {
        const qp_case_given *given = &run->inputs[i];
        const void *data = nothing;
        if (qp_shape_elements(&given->shape) > 0)
            data = (const int64_t *)(const void *)c->values.bytes + given->at;
        arrays[i] = (qp_array){data, QP_INT64, given->shape.channels, given->shape.height,
                               given->shape.width};
    }
    return qp_session_decode(l->session, arrays, run->n_inputs, run->scalars, run->n_scalars,
                             error);
}

static void append_separator(qp_buffer *b, uint64_t index)
{
    if (index > 0)
        qp_buffer_text(b, ",");
}

static void append_integer(qp_buffer *b, int64_t value)
{
    qp_buffer_text(b, "\"");
    qp_buffer_i64_decimal(b, value);
    qp_buffer_text(b, "\"");
}

static void append_tensor(qp_buffer *b, const qp_array *array)
{
    qp_buffer_text(b, "{\"data\":[");
    for (uint64_t i = 0; i < qp_array_elements(array); i++) {
        int64_t value;
        qp_array_read(array, (size_t)i, 1, &value);
        append_separator(b, i);
        append_integer(b, value);
    }
    qp_buffer_format(b, "],\"shape\":[\"%u\",\"%u\",\"%u\"]}", array->channels, array->height,
                     array->width);
}

static void append_given(qp_corpus *c, qp_buffer *b, const qp_case_given *given)
{
    qp_array array = {c->values.bytes + given->at * sizeof(int64_t), QP_INT64,
                      given->shape.channels, given->shape.height, given->shape.width};
    append_tensor(b, &array);
}

static void append_outputs(qp_corpus *c, const loaded *l, qp_buffer *b)
{
    uint32_t count = qp_graph_describe(l->graph).n_outputs;
    qp_buffer_text(b, "{\"outputs\":[");
    for (uint32_t o = 0; o < count; o++) {
        qp_array array;
        if (qp_session_output(l->session, o, &array) != QP_OK) {
            qp_case_fault(c, "a completed decode has no output");
            return;
        }
        append_separator(b, o);
        append_tensor(b, &array);
    }
    qp_buffer_text(b, "]}");
}

static void append_decode(qp_corpus *c, const loaded *l, uint32_t index)
{
    qp_buffer *b = c->output.lines;
    const qp_case_run *run = &c->runs[index];
    qp_error error = {0};
    qp_status status = decode(c, l, run, &error);

    if (status != run->want) {
        bool decided = status == QP_OK || is_refusal(status);
        c->status = qp_fail(c->error, decided ? QP_INTERNAL : status,
                            "%s: %s: decode %u gives %s, not %s: %.60s", c->path, c->id, index,
                            qp_status_token(status), qp_status_token(run->want), error.message);
        return;
    }
    append_separator(b, index);
    qp_buffer_text(b, "{\"expect\":");
    if (status == QP_OK)
        append_outputs(c, l, b);
    else
        qp_buffer_format(b, "{\"refuse\":\"%s\"}", qp_status_token(status));
    qp_buffer_text(b, ",\"inputs\":[");
    for (uint32_t i = 0; i < run->n_inputs; i++) {
        append_separator(b, i);
        append_given(c, b, &run->inputs[i]);
    }
    qp_buffer_text(b, "],\"scalars\":[");
    for (uint32_t i = 0; i < run->n_scalars; i++) {
        append_separator(b, i);
        append_integer(b, run->scalars[i]);
    }
    qp_buffer_text(b, "]}");
}

/* ---- lines -------------------------------------------------------------------------------- */

static void append_vector(qp_corpus *c, const loaded *l)
{
    qp_buffer *b = c->output.lines;
    qp_buffer_text(b, "{\"decodes\":[");
    for (uint32_t i = 0; l->status == QP_OK && i < c->n_runs && c->status == QP_OK; i++)
        append_decode(c, l, i);
    qp_buffer_text(b, "],\"graph\":\"");
    qp_buffer_hex(b, l->bytes.bytes, l->bytes.size);
    qp_buffer_format(b, "\",\"id\":\"%s\",\"load\":\"%s\",\"profiles\":[%s\"acc64\"]}\n", c->id,
                     l->status == QP_OK ? "ok" : qp_status_token(l->status),
                     l->status != QP_OK || l->acc32 ? "\"acc32\"," : "");
}

/* Where the certificate's bytes begin `"npu":`. The verdict is the last member of a certificate,
 * and npu, npu_flags and npu_reasons are the last of the verdict. */
static size_t find_npu(const char *bytes, size_t size)
{
    static const char name[] = "\"npu\":";
    size_t at = size - (sizeof name - 1);
    while (at > 0 && memcmp(bytes + at, name, sizeof name - 1) != 0)
        at--;
    return at;
}

/* The line of npu.jsonl: the members as the certificate writes them. */
static void append_npu(qp_corpus *c, const loaded *l)
{
    char *bytes = NULL;
    size_t size = 0;

    c->status = qp_certificate_json(l->certificate, c->allocator, &bytes, &size, c->error);
    if (c->status != QP_OK)
        return;
    size_t at = find_npu(bytes, size);
    qp_buffer_format(c->output.npu, "{\"file\":\"%s\",\"id\":\"%s\",", c->path, c->id);
    qp_buffer_append(c->output.npu, bytes + at, size - at - 1);
    qp_buffer_text(c->output.npu, "\n");
    qp_bytes_free(c->allocator, bytes, size);
}

static void append_certificate(qp_corpus *c, const loaded *l)
{
    qp_buffer *b = c->output.lines;
    if (l->certificate == NULL) {
        qp_case_fault(c, "the graph has no certificate");
        return;
    }
    qp_buffer_text(b, "{\"certificate\":");
    qp_certificate_append(l->certificate, b);
    qp_buffer_text(b, ",\"graph\":\"");
    qp_buffer_hex(b, l->bytes.bytes, l->bytes.size);
    qp_buffer_format(b, "\",\"id\":\"%s\"}\n", c->id);
}

void qp_case_finish(qp_corpus *c)
{
    loaded l;

    if (!c->open || c->status != QP_OK)
        return;
    c->open = false;
    load_case(c, &l);
    if (c->status == QP_OK)
        check_want(c, &l);
    if (c->status == QP_OK && c->certificates)
        append_certificate(c, &l);
    else if (c->status == QP_OK)
        append_vector(c, &l);
    if (c->status == QP_OK && c->output.npu != NULL && l.status == QP_OK)
        append_npu(c, &l);
    unload(&l);
}

bool qp_case_output_range(qp_corpus *c, qp_range *range)
{
    loaded l;
    qp_array array;
    bool found = false;

    if (c->status != QP_OK || c->n_runs == 0)
        return false;
    load_case(c, &l);
    if (c->status == QP_OK && l.status == QP_OK && decode(c, &l, &c->runs[0], NULL) == QP_OK &&
        qp_session_output(l.session, 0, &array) == QP_OK) {
        *range = (qp_range){INT64_MAX, INT64_MIN};
        for (uint64_t i = 0; i < qp_array_elements(&array); i++) {
            int64_t value;
            qp_array_read(&array, (size_t)i, 1, &value);
            range->lo = qp_min_i64(range->lo, value);
            range->hi = qp_max_i64(range->hi, value);
        }
        found = true;
    }
    unload(&l);
    return found;
}

/* ---- a file ------------------------------------------------------------------------------- */

static void start(qp_corpus *c, const char *path, const qp_allocator *allocator, qp_error *error)
{
    c->path = path;
    c->allocator = allocator;
    c->error = error;
    qp_buffer_init(&c->params, allocator);
    qp_buffer_init(&c->values, allocator);
}

static qp_status end(qp_corpus *c)
{
    qp_case_finish(c);
    qp_status status = c->status;
    if (status == QP_OK &&
        (c->output.lines->failed || (c->output.npu != NULL && c->output.npu->failed)))
        status = qp_fail_memory(c->error, "a file of vectors");
    qp_buffer_free(&c->params);
    qp_buffer_free(&c->values);
    qp_release(c->allocator, c, 1, sizeof *c);
    return status;
}

qp_status qp_corpus_write(const char *path, void (*make)(qp_corpus *c, const void *context),
                          const void *context, const qp_corpus_output *output,
                          const qp_allocator *allocator, qp_error *error)
{
    qp_corpus *c = qp_allocate(allocator, 1, sizeof *c);
    if (c == NULL)
        return qp_fail_memory(error, "a corpus");
    start(c, path, allocator, error);
    c->output = *output;
    make(c, context);
    return end(c);
}

qp_status qp_corpus_write_certificates(const char *path, void (*make)(qp_corpus *c),
                                       qp_buffer *lines, const qp_allocator *allocator,
                                       qp_error *error)
{
    qp_corpus *c = qp_allocate(allocator, 1, sizeof *c);
    if (c == NULL)
        return qp_fail_memory(error, "a corpus");
    start(c, path, allocator, error);
    c->output = (qp_corpus_output){lines, NULL};
    c->certificates = true;
    make(c);
    return end(c);
}
