/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - writing traces: a header line, then a line for each tensor of each decode. */
#define _POSIX_C_SOURCE 200809L /* mkdir, rmdir */

#include "cli/trace.h"

#include "cli/describe.h"
#include "cli/npy.h"
#include "cli/output.h"
#include "cli/tensors.h"
#include "graph/graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_SUFFIX ".tensors"

/* ---- the lines ---------------------------------------------------------------------------- */

static void put_text(qp_buffer *lines, const char *name, const char *text)
{
    qp_buffer_format(lines, ", \"%s\": ", name);
    qp_buffer_json_string(lines, text, strlen(text));
}

static void put_header(qp_trace *trace)
{
    const qp_trace_run *run = &trace->run;
    qp_buffer *lines = &trace->lines;
    char digest[QP_SHA256_HEX_SIZE];

    qp_graph_digest(run->graph, digest);
    qp_buffer_format(lines, "{\"quipu_trace\": %d", QP_TRACE_VERSION);
    put_text(lines, "quipu", qp_version());
    put_text(lines, "graph", digest);
    qp_buffer_format(lines, ", \"decodes\": %zu, \"tensors\": %u, \"colour\": %s, \"kept\": %s",
                     run->decodes, run->graph->n_tensors, run->colour ? "true" : "false",
                     run->keep ? "true" : "false");
    qp_buffer_text(lines, ", \"scalars\": [");
    for (uint32_t i = 0; i < run->graph->n_scalars; i++) {
        qp_buffer_text(lines, i > 0 ? ", " : "");
        qp_buffer_i64_decimal(lines, run->scalars[i]);
    }
    qp_buffer_text(lines, "]}\n");
}

static void put_policy(qp_buffer *lines, const qp_graph *graph, uint32_t tensor)
{
    qp_tensor_info info = qp_graph_tensor(graph, tensor);
    char text[64];
    if (graph->tensors[tensor].policy == QP_DERIVED)
        put_text(lines, "policy", info.policy);
    else {
        snprintf(text, sizeof text, "%s %" PRId64 "..%" PRId64, info.policy, info.lo, info.hi);
        put_text(lines, "policy", text);
    }
}

static void put_operator(qp_buffer *lines, const qp_graph *graph, const qp_node *node)
{
    qp_sha256 hash;
    uint8_t digest[QP_SHA256_SIZE];
    char hex[QP_SHA256_HEX_SIZE];
    qp_buffer parameters;

    put_text(lines, "name", node->op->name);
    put_text(lines, "section", node->op->section);
    qp_buffer_text(lines, ", \"reads\": [");
    for (uint32_t k = 0; k < node->n_in; k++)
        qp_buffer_format(lines, "%s%u", k > 0 ? ", " : "", node->in[k]);
    qp_buffer_text(lines, "], \"parameters\": ");

    qp_buffer_init(&parameters, NULL);
    qp_describe_parameters(graph, node, &parameters);
    qp_buffer_append(&parameters, "", 1);
    if (!parameters.failed)
        qp_buffer_json_string(lines, (const char *)parameters.bytes, parameters.size - 1);
    lines->failed |= parameters.failed;
    qp_buffer_free(&parameters);

    qp_sha256_init(&hash);
    qp_sha256_update(&hash, graph->bytes + node->params_offset, node->params_bytes);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, hex);
    qp_buffer_format(lines, ", \"parameter_bytes\": %zu", node->params_bytes);
    put_text(lines, "parameter_sha256", hex);
}

static void put_origin(qp_buffer *lines, const qp_graph *graph, uint32_t tensor)
{
    qp_origin origin = graph->origins[tensor];
    if (origin.input) {
        qp_buffer_format(lines, ", \"input\": %u, \"state\": %s", origin.index,
                         graph->inputs[origin.index].state ? "true" : "false");
        return;
    }
    const qp_node *node = &graph->nodes[origin.index];
    uint32_t output = 0;
    while (node->out[output] != tensor)
        output++;
    qp_buffer_format(lines, ", \"operator\": %u, \"output\": %u", origin.index, output);
    put_operator(lines, graph, node);
}

static void put_record(qp_trace *trace, size_t decode, uint32_t tensor, const qp_array *array)
{
    qp_buffer *lines = &trace->lines;
    qp_array_summary summary = qp_summarise(array);

    qp_buffer_format(lines, "{\"decode\": %zu, \"tensor\": %u, \"shape\": [%u, %u, %u]", decode,
                     tensor, array->channels, array->height, array->width);
    put_text(lines, "sha256", summary.sha256);
    qp_buffer_format(lines, ", \"lo\": %" PRId64 ", \"hi\": %" PRId64, summary.lo, summary.hi);
    put_policy(lines, trace->run.graph, tensor);
    put_origin(lines, trace->run.graph, tensor);
    qp_buffer_text(lines, "}\n");
}

/* ---- kept tensors ------------------------------------------------------------------------- */

void qp_trace_tensor_name(qp_buffer *name, const char *path, uint64_t decode, uint64_t tensor)
{
    qp_buffer_format(name, "%s" FOLDER_SUFFIX "/decode-%" PRIu64 "-tensor-%" PRIu64 ".npy", path,
                     decode, tensor);
    qp_buffer_append(name, "", 1);
}

static qp_status make_folder(qp_trace *trace, qp_error *error)
{
    qp_buffer *folder = &trace->folder;
    qp_buffer_text(folder, trace->path);
    qp_buffer_append(folder, FOLDER_SUFFIX, sizeof FOLDER_SUFFIX);
    if (folder->failed)
        return qp_fail_memory(error, "a trace");
    if (mkdir((const char *)folder->bytes, 0777) == 0)
        return QP_OK;
    int number = errno;
    qp_status status =
        number == EEXIST
            ? qp_fail(error, QP_IO, "%.120s is there already; remove it, or name another trace",
                      (const char *)folder->bytes)
            : qp_fail(error, QP_IO, "cannot make the folder %.120s: %s",
                      (const char *)folder->bytes, strerror(number));
    folder->size = 0;
    return status;
}

static qp_npy_type npy_type(qp_type type)
{
    static const qp_npy_type types[] = {
        [QP_INT8] = QP_NPY_I8,    [QP_UINT8] = QP_NPY_U8,  [QP_INT16] = QP_NPY_I16,
        [QP_UINT16] = QP_NPY_U16, [QP_INT32] = QP_NPY_I32, [QP_UINT32] = QP_NPY_U32,
        [QP_INT64] = QP_NPY_I64,
    };
    return types[type];
}

static qp_status encode_array(const qp_array *array, qp_buffer *bytes, qp_error *error)
{
    size_t count = (size_t)qp_array_elements(array);
    int64_t *values = qp_allocate(NULL, count, sizeof *values);
    if (values == NULL)
        return qp_fail_memory(error, "a kept tensor");
    qp_array_read(array, 0, count, values);
    qp_npy_shape shape = {3, {array->channels, array->height, array->width}};
    qp_status status = qp_npy_write(bytes, npy_type(array->type), &shape, values, error);
    qp_release(NULL, values, count, sizeof *values);
    return status;
}

static qp_status keep_tensor(const qp_trace *trace, size_t decode, uint32_t tensor,
                             const qp_array *array, qp_error *error)
{
    qp_buffer name, bytes;
    qp_buffer_init(&name, NULL);
    qp_buffer_init(&bytes, NULL);
    qp_trace_tensor_name(&name, trace->path, decode, tensor);
    qp_status status =
        name.failed ? qp_fail_memory(error, "a name") : encode_array(array, &bytes, error);
    if (status == QP_OK)
        status = qp_output_buffer((const char *)name.bytes, &bytes, error);
    qp_buffer_free(&name);
    qp_buffer_free(&bytes);
    return status;
}

/* ---- a trace ------------------------------------------------------------------------------ */

qp_status qp_trace_start(qp_trace *trace, const qp_trace_run *run, const char *path,
                         qp_error *error)
{
    *trace = (qp_trace){.run = *run, .path = path};
    qp_buffer_init(&trace->lines, NULL);
    qp_buffer_init(&trace->folder, NULL);
    put_header(trace);
    return run->keep ? make_folder(trace, error) : QP_OK;
}

static qp_status trace_tensor(qp_trace *trace, const qp_session *session, size_t decode,
                              uint32_t tensor, qp_error *error)
{
    qp_array array;
    if (qp_session_tensor(session, tensor, &array) != QP_OK)
        return qp_fail(error, QP_INTERNAL, "the session did not keep tensor %u", tensor);
    put_record(trace, decode, tensor, &array);
    return trace->run.keep ? keep_tensor(trace, decode, tensor, &array, error) : QP_OK;
}

qp_status qp_trace_decode(qp_trace *trace, const qp_session *session, size_t decode,
                          qp_error *error)
{
    const qp_graph *graph = trace->run.graph;
    qp_status status = QP_OK;

    if (trace->run.keep)
        trace->kept = decode + 1;
    for (uint32_t i = 0; i < graph->n_inputs && status == QP_OK; i++)
        status = trace_tensor(trace, session, decode, graph->inputs[i].tensor, error);
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        for (uint32_t k = 0; k < graph->nodes[i].n_out && status == QP_OK; k++)
            status = trace_tensor(trace, session, decode, graph->nodes[i].out[k], error);
    return status;
}

qp_status qp_trace_write(const qp_trace *trace, qp_error *error)
{
    return qp_output_buffer(trace->path, &trace->lines, error);
}

void qp_trace_discard(qp_trace *trace)
{
    qp_buffer name;
    if (trace->folder.size == 0)
        return;
    qp_buffer_init(&name, NULL);
    for (size_t d = 0; d < trace->kept; d++) {
        for (uint32_t t = 0; t < trace->run.graph->n_tensors; t++) {
            name.size = 0;
            qp_trace_tensor_name(&name, trace->path, d, t);
            if (!name.failed)
                remove((const char *)name.bytes);
        }
    }
    rmdir((const char *)trace->folder.bytes);
    qp_buffer_free(&name);
}

void qp_trace_free(qp_trace *trace)
{
    qp_buffer_free(&trace->lines);
    qp_buffer_free(&trace->folder);
}
