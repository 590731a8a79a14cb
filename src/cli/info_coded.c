/* SPDX-License-Identifier: Apache-2.0 */
/* info_coded.c - quipu info of a coded file (docs/payloads.md) and of a trace (docs/tracing.md). */
#include "cli/info_coded.h"
#include "cli/trace.h"

#include <inttypes.h>

static const char payload_magic[] = "QPF1";
static const char trace_start[] = "{\"quipu_trace\":";

static bool begins(const qp_file *file, const char *text)
{
    size_t length = strlen(text);
    return file->size >= length && memcmp(file->bytes, text, length) == 0;
}

const char *qp_info_coded_kind(const qp_file *file)
{
    return begins(file, payload_magic) ? payload_magic : NULL;
}

const char *qp_info_trace_kind(const qp_file *file)
{
    return begins(file, trace_start) ? "run" : NULL;
}

static qp_status refuse_tensor(const qp_info_request *request, qp_error *error)
{
    if (request->tensor == NULL)
        return QP_OK;
    return qp_fail(error, QP_INVALID_ARGUMENT, "--tensor asks for files of weights");
}

/* ---- a coded file ------------------------------------------------------------------------- */

typedef struct payload_sizes {
    uint64_t least, most, all;
} payload_sizes;

static payload_sizes measure(const qp_container *container)
{
    payload_sizes sizes = {UINT64_MAX, 0, 0};
    qp_unit unit;
    size_t at = 0;

    while (qp_container_next(container, &at, &unit)) {
        sizes.least = unit.size < sizes.least ? unit.size : sizes.least;
        sizes.most = unit.size > sizes.most ? unit.size : sizes.most;
        sizes.all += unit.size;
    }
    return sizes;
}

static void put_coded(const qp_container *container, payload_sizes sizes, qp_buffer *text)
{
    bool none = strspn(container->set_sha256, "0") == strlen(container->set_sha256);

    qp_buffer_format(text, "  capability  %s\n", container->capability);
    qp_buffer_format(text, "  set         %s\n", none ? "none is needed" : container->set_sha256);
    qp_buffer_format(text, "  payloads    %zu, %" PRIu64 " bytes", container->count, sizes.all);
    if (container->count > 1)
        qp_buffer_format(text, ", of %" PRIu64 " to %" PRIu64 " bytes each", sizes.least,
                         sizes.most);
    qp_buffer_text(text, "\n");
}

static void put_coded_json(const qp_container *container, payload_sizes sizes, qp_buffer *text)
{
    qp_buffer_text(text, ",\"capability\":");
    qp_buffer_json_string(text, container->capability, strlen(container->capability));
    qp_buffer_format(text,
                     ",\"set_sha256\":\"%s\",\"payloads\":%zu,\"payload_bytes\":%" PRIu64
                     ",\"least_bytes\":%" PRIu64 ",\"most_bytes\":%" PRIu64,
                     container->set_sha256, container->count, sizes.all, sizes.least, sizes.most);
}

qp_status qp_info_coded(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                        qp_error *error)
{
    qp_container container;
    qp_status status = refuse_tensor(request, error);
    if (status == QP_OK)
        status = qp_container_read(file->bytes, file->size, &container, error);
    if (status != QP_OK)
        return status;
    (request->json ? put_coded_json : put_coded)(&container, measure(&container), text);
    return QP_OK;
}

/* ---- a trace ------------------------------------------------------------------------------ */

static void put_trace(const qp_trace_header *header, bool json, qp_buffer *text)
{
    const char *scalars = (const char *)header->scalars.bytes; /* NUL-terminated */

    if (json) {
        qp_buffer_format(text,
                         ",\"graph_sha256\":\"%s\",\"decodes\":%" PRIu64 ",\"tensors\":%" PRIu64
                         ",\"colour\":%s,\"keeps_elements\":%s,\"scalars\":[",
                         header->graph, header->decodes, header->tensors,
                         header->colour ? "true" : "false", header->keep ? "true" : "false");
        qp_buffer_format(text, "%s]", scalars);
        return;
    }
    qp_buffer_format(text, "  graph     %s\n", header->graph);
    qp_buffer_format(text, "  decodes   %" PRIu64 "%s\n", header->decodes,
                     header->colour ? ", the colours of a picture" : "");
    qp_buffer_format(text, "  tensors   %" PRIu64 " a decode%s\n", header->tensors,
                     header->keep ? ", their elements kept beside it" : "");
    if (scalars[0] != '\0')
        qp_buffer_format(text, "  scalars   %s\n", scalars);
}

qp_status qp_info_trace(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                        qp_error *error)
{
    qp_trace_reader reader;
    qp_trace_record record;
    bool more = true;
    qp_status status = refuse_tensor(request, error);

    (void)file; /* a trace is read line by line, by its path */
    if (status != QP_OK)
        return status;
    if (strcmp(request->path, "-") == 0)
        return qp_fail(error, QP_INVALID_ARGUMENT, "a trace is read by its path");
    status = qp_trace_open(&reader, request->path, error);
    while (status == QP_OK && more)
        status = qp_trace_next(&reader, &record, &more, error);
    if (status == QP_OK)
        put_trace(&reader.header, request->json, text);
    qp_trace_close(&reader);
    return status;
}
