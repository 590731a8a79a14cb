/* SPDX-License-Identifier: Apache-2.0 */
/* trace_read.c - reading traces, line by line. */
#include "cli/trace.h"

#include "cli/cli.h"

#include <inttypes.h>

/* ---- members ------------------------------------------------------------------------------ */

/* An object whose members are read one after another: the first failure is kept. */
typedef struct members {
    qp_json_value object;
    qp_status status;
    qp_error *error;
} members;

static qp_json_value member(members *m, const char *name, qp_json_kind kind)
{
    qp_json_value value = QP_JSON_NO_VALUE;
    if (m->status == QP_OK)
        m->status = qp_json_member(m->object, name, kind, &value, m->error);
    return value;
}

static uint64_t unsigned_member(members *m, const char *name)
{
    uint64_t result = 0;
    qp_json_value value = member(m, name, QP_JSON_NUMBER);
    if (m->status == QP_OK)
        m->status = qp_json_get_u64(value, &result, m->error);
    return result;
}

static int64_t signed_member(members *m, const char *name)
{
    int64_t result = 0;
    qp_json_value value = member(m, name, QP_JSON_NUMBER);
    if (m->status == QP_OK)
        m->status = qp_json_get_i64(value, &result, m->error);
    return result;
}

static bool boolean_member(members *m, const char *name)
{
    bool result = false;
    qp_json_value value = member(m, name, QP_JSON_BOOLEAN);
    if (m->status == QP_OK)
        m->status = qp_json_get_bool(value, &result, m->error);
    return result;
}

static void text_member(members *m, const char *name, char *text, size_t size)
{
    qp_json_value value = member(m, name, QP_JSON_STRING);
    if (m->status == QP_OK)
        m->status = qp_json_copy_string(value, text, size, m->error);
}

static void digest_member(members *m, const char *name, char text[QP_SHA256_HEX_SIZE])
{
    text_member(m, name, text, QP_SHA256_HEX_SIZE);
    if (m->status == QP_OK && strspn(text, "0123456789abcdef") != QP_SHA256_HEX_SIZE - 1)
        m->status = qp_json_fail(member(m, name, QP_JSON_STRING), m->error,
                                 "\"%s\" is not 64 hexadecimal digits", name);
}

/* ---- lines -------------------------------------------------------------------------------- */

static qp_status fail_line(const qp_trace_reader *reader, qp_error *error, const char *sentence)
{
    qp_place place = QP_NOWHERE;
    place.offset = (int64_t)reader->at;
    return qp_fail_at(error, QP_MALFORMED, place, "line %" PRIu64 ": %s", reader->line + 1,
                      sentence);
}

/* Parses the next line. */
static qp_status next_line(qp_trace_reader *reader, qp_error *error)
{
    const uint8_t *start = reader->file.bytes + reader->at;
    size_t rest = reader->file.size - reader->at;
    const uint8_t *end = memchr(start, '\n', rest);
    size_t length = end == NULL ? rest : (size_t)(end - start);

    reader->json.first_line = ++reader->line;
    reader->json.first_offset = reader->at;
    reader->at += length + (end != NULL);
    qp_status status = qp_json_parse(&reader->json, start, length, error);
    if (status != QP_OK)
        return status;
    return qp_json_expect(qp_json_root(&reader->json), QP_JSON_OBJECT, error);
}

static void read_scalars(members *m, qp_buffer *text)
{
    qp_json_iterator at = qp_json_iterate(member(m, "scalars", QP_JSON_ARRAY));
    qp_json_value element;
    while (m->status == QP_OK && qp_json_next(&at, &element)) {
        int64_t scalar;
        m->status = qp_json_get_i64(element, &scalar, m->error);
        if (m->status != QP_OK)
            return;
        qp_buffer_text(text, text->size > 0 ? ", " : "");
        qp_buffer_i64_decimal(text, scalar);
    }
    qp_buffer_append(text, "", 1);
    if (m->status == QP_OK && text->failed)
        m->status = qp_fail_memory(m->error, "a trace");
}

static qp_status read_header(qp_trace_reader *reader, qp_error *error)
{
    qp_trace_header *header = &reader->header;
    qp_json_value version;
    uint64_t number;

    if (reader->file.size == 0)
        return fail_line(reader, error, "the file is empty; it is no trace");
    qp_status status = next_line(reader, error);
    if (status != QP_OK)
        return status;
    members m = {qp_json_root(&reader->json), QP_OK, error};
    if (!qp_json_find(m.object, "quipu_trace", &version))
        return qp_json_fail(m.object, error, "the file is no trace: it has no \"quipu_trace\"");
    number = unsigned_member(&m, "quipu_trace");
    if (m.status == QP_OK && number != QP_TRACE_VERSION)
        return qp_json_fail(version, error,
                            "the trace has version %" PRIu64 "; this program reads %d", number,
                            QP_TRACE_VERSION);
    digest_member(&m, "graph", header->graph);
    header->decodes = unsigned_member(&m, "decodes");
    header->tensors = unsigned_member(&m, "tensors");
    header->colour = boolean_member(&m, "colour");
    header->keep = boolean_member(&m, "kept");
    read_scalars(&m, &header->scalars);
    return m.status;
}

qp_status qp_trace_open(qp_trace_reader *reader, const char *path, qp_error *error)
{
    *reader = (qp_trace_reader){.path = path};
    qp_json_init(&reader->json, NULL);
    qp_buffer_init(&reader->header.scalars, NULL);
    qp_status status = qp_cli_read(path, &reader->file, error);
    return status == QP_OK ? read_header(reader, error) : status;
}

void qp_trace_close(qp_trace_reader *reader)
{
    qp_json_free(&reader->json);
    qp_buffer_free(&reader->header.scalars);
    if (reader->file.bytes != NULL)
        qp_file_close(&reader->file);
}

/* ---- records ------------------------------------------------------------------------------ */

static void read_shape(members *m, qp_trace_record *record)
{
    qp_json_value shape = member(m, "shape", QP_JSON_ARRAY);
    qp_json_iterator at = qp_json_iterate(shape);
    qp_json_value element;
    size_t count = 0;

    while (m->status == QP_OK && count < 3 && qp_json_next(&at, &element))
        m->status = qp_json_get_u64(element, &record->shape[count++], m->error);
    if (m->status == QP_OK && (count < 3 || qp_json_next(&at, &element)))
        m->status = qp_json_fail(shape, m->error, "a shape has three numbers");
}

static void read_reads(members *m, qp_trace_record *record)
{
    qp_json_value reads = member(m, "reads", QP_JSON_ARRAY);
    qp_json_iterator at = qp_json_iterate(reads);
    qp_json_value element;

    while (m->status == QP_OK && qp_json_next(&at, &element)) {
        if (record->n_reads == QP_TRACE_READS_MAX)
            m->status = qp_json_fail(element, m->error, "an operator reads at most %d tensors",
                                     (int)QP_TRACE_READS_MAX);
        else
            m->status = qp_json_get_u64(element, &record->reads[record->n_reads++], m->error);
    }
}

static void read_operator(members *m, qp_trace_record *record)
{
    record->producer = unsigned_member(m, "operator");
    record->output = unsigned_member(m, "output");
    text_member(m, "name", record->name, sizeof record->name);
    text_member(m, "section", record->section, sizeof record->section);
    read_reads(m, record);
    text_member(m, "parameters", record->parameters, sizeof record->parameters);
    record->parameter_bytes = unsigned_member(m, "parameter_bytes");
    digest_member(m, "parameter_sha256", record->parameters_sha256);
}

static void read_record(members *m, qp_trace_record *record)
{
    qp_json_value input;
    *record = (qp_trace_record){0};
    record->decode = unsigned_member(m, "decode");
    record->tensor = unsigned_member(m, "tensor");
    read_shape(m, record);
    digest_member(m, "sha256", record->sha256);
    record->lo = signed_member(m, "lo");
    record->hi = signed_member(m, "hi");
    text_member(m, "policy", record->policy, sizeof record->policy);
    record->is_input = qp_json_find(m->object, "input", &input);
    if (record->is_input) {
        record->producer = unsigned_member(m, "input");
        record->is_state = boolean_member(m, "state");
    } else {
        read_operator(m, record);
    }
}

qp_status qp_trace_next(qp_trace_reader *reader, qp_trace_record *record, bool *more,
                        qp_error *error)
{
    const qp_trace_header *header = &reader->header;
    uint64_t decode = header->tensors == 0 ? 0 : reader->records / header->tensors;

    *more = reader->at < reader->file.size;
    if (!*more) {
        if (header->tensors == 0 ||
            (decode == header->decodes && reader->records % header->tensors == 0))
            return QP_OK;
        return fail_line(reader, error,
                         "the trace ends early: it has fewer tensors than its "
                         "first line says");
    }
    qp_status status = next_line(reader, error);
    if (status != QP_OK)
        return status;
    members m = {qp_json_root(&reader->json), QP_OK, error};
    read_record(&m, record);
    if (m.status != QP_OK)
        return m.status;
    if (decode >= header->decodes || record->decode != decode || record->tensor >= header->tensors)
        return qp_json_fail(m.object, error,
                            "decode %" PRIu64 ", tensor %" PRIu64
                            " does not belong here, by the count on the first line",
                            record->decode, record->tensor);
    reader->records++;
    return QP_OK;
}
