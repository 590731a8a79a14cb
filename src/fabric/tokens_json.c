/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens_json.c - the JSON Lines of tokens and stalls (section 12.1), read. Lines of blanks alone
 * are passed over.
 */
#include "base/json.h"
#include "fabric/names.h"
#include "fabric/streams.h"

/* What a line is for: its second member, and what to do with it. */
typedef struct reader reader;
struct reader {
    const qp_fabric_model *model;
    const qp_fabric_graph *graph;
    const qp_fabric_text *text;
    qp_arena *arena;
    qp_fabric_error *error;
    qp_json json;
    size_t line_start; /* offset of the line in the text */
    uint32_t line;
    qp_buffer decoded; /* a string that has escapes */
    bool *seen;        /* by port: inputs, then outputs */
    const char *member;
    qp_status (*take)(reader *r, uint32_t port, qp_json_value value);
    qp_fabric_stream *inputs;
    qp_fabric_stall *stalls;
};

/* ---- errors ------------------------------------------------------------------------------- */

static qp_fabric_place place_at(const reader *r, uint64_t offset)
{
    const uint64_t column = offset - r->line_start + 1;
    return (qp_fabric_place){r->text->name, r->line,
                             column <= UINT32_MAX ? (uint32_t)column : UINT32_MAX};
}

static qp_fabric_place place_of(const reader *r, qp_json_value value)
{
    return place_at(r, qp_json_place_of(value).offset);
}

/* A failure of the JSON reader, whose message begins with its own form of the place. */
static qp_status json_failure(const reader *r, const qp_error *found)
{
    const char *message = strstr(found->message, ": ");
    const uint64_t offset = found->offset >= 0 ? (uint64_t)found->offset : r->line_start;

    if (found->status == QP_NO_MEMORY)
        return qp_fabric_fail_memory(r->error, "the tokens of a run");
    return qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_at(r, offset), "%s",
                          message != NULL ? message + 2 : found->message);
}

static qp_status expect(const reader *r, qp_json_value value, qp_json_kind kind, const char *what)
{
    if (qp_json_kind_of(value) == kind)
        return QP_OK;
    return qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_of(r, value), "%s must be %s", what,
                          qp_json_kind_name(kind));
}

/* The decoded bytes of a string; they last until the next call. */
static qp_status string_of(reader *r, qp_json_value value, const char *what, const char **text,
                           size_t *size)
{
    qp_status status = expect(r, value, QP_JSON_STRING, what);

    if (status != QP_OK || qp_json_string_view(value, text, size))
        return status;
    r->decoded.size = 0;
    qp_json_append_string(value, &r->decoded);
    *text = (const char *)r->decoded.bytes;
    *size = r->decoded.size;
    return r->decoded.failed ? qp_fabric_fail_memory(r->error, "a string") : QP_OK;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* The port of a name: a graph input, or, where `outputs` count, an output behind them. */
static uint32_t find_port(const reader *r, const char *name, size_t size, bool outputs)
{
    const qp_fabric_symbol symbol = qp_fabric_find_symbol(r->model->names, name, size);
    const uint32_t number = qp_fabric_meaning_of(r->model->names, r->graph->scope, symbol);

    if (number == QP_FABRIC_NO_INDEX)
        return QP_FABRIC_NO_INDEX;
    const qp_fabric_value *value = &r->graph->values[number];
    if (value->actor == QP_FABRIC_NO_INDEX)
        return value->ordinal;
    return outputs && value->output != QP_FABRIC_NO_INDEX ? r->graph->n_inputs + value->output
                                                          : QP_FABRIC_NO_INDEX;
}

static qp_status take_port(reader *r, qp_json_value name, uint32_t *port)
{
    const char *text;
    size_t size;
    qp_status status = string_of(r, name, "a port", &text, &size);

    if (status != QP_OK)
        return status;
    *port = find_port(r, text, size, r->stalls != NULL);
    if (*port == QP_FABRIC_NO_INDEX)
        return qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_of(r, name),
                              "'%.*s' is no %s of graph '%.64s'", (int)(size < 64 ? size : 64),
                              text, r->stalls != NULL ? "input or output" : "input",
                              qp_fabric_name_text(r->model, r->graph->name));
    if (r->seen[*port])
        return qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_of(r, name),
                              "the port '%.*s' has a line already", (int)(size < 64 ? size : 64),
                              text);
    r->seen[*port] = true;
    return QP_OK;
}

/* Exactly "port" and the reader's member, in any order. */
static qp_status take_object(reader *r, qp_json_value object)
{
    qp_json_iterator members = qp_json_iterate(object);
    qp_json_value name, value, port = QP_JSON_NO_VALUE, list = QP_JSON_NO_VALUE;
    uint32_t number;
    qp_status status = expect(r, object, QP_JSON_OBJECT, "a line");

    while (status == QP_OK && qp_json_next_member(&members, &name, &value)) {
        if (qp_json_equals(name, "port"))
            port = value;
        else if (qp_json_equals(name, r->member))
            list = value;
        else
            status = qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_of(r, name),
                                    "a line has \"port\" and \"%s\", nothing else", r->member);
    }
    if (status != QP_OK)
        return status;
    if (qp_json_kind_of(port) == QP_JSON_ABSENT || qp_json_kind_of(list) == QP_JSON_ABSENT)
        return qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_of(r, object),
                              "a line needs \"port\" and \"%s\"", r->member);
    status = take_port(r, port, &number);
    if (status == QP_OK)
        status = expect(r, list, QP_JSON_ARRAY, "the list");
    return status == QP_OK ? r->take(r, number, list) : status;
}

static bool is_blank(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r')
            return false;
    return true;
}

static qp_status take_line(reader *r, const uint8_t *bytes, size_t size)
{
    qp_error found = {0};

    if (is_blank(bytes, size))
        return QP_OK;
    r->json.first_line = r->line;
    r->json.first_offset = r->line_start;
    if (qp_json_parse(&r->json, bytes, size, &found) != QP_OK)
        return json_failure(r, &found);
    return take_object(r, qp_json_root(&r->json));
}

static qp_status take_lines(reader *r)
{
    const uint8_t *bytes = r->text->bytes;
    qp_status status = QP_OK;

    for (size_t end; status == QP_OK && r->line_start < r->text->size; r->line_start = end + 1) {
        const uint8_t *at = memchr(bytes + r->line_start, '\n', r->text->size - r->line_start);
        end = at != NULL ? (size_t)(at - bytes) : r->text->size;
        r->line++;
        status = take_line(r, bytes + r->line_start, end - r->line_start);
    }
    return status;
}

static qp_status read_lines(reader *r)
{
    const size_t ports = (size_t)r->graph->n_inputs + r->graph->n_outputs;

    r->seen = qp_arena_allocate(r->arena, ports, sizeof *r->seen);
    if (r->seen == NULL)
        return qp_fabric_fail_memory(r->error, "the ports of a graph");
    qp_json_init(&r->json, &r->arena->allocator);
    qp_buffer_init(&r->decoded, &r->arena->allocator);
    qp_status status = take_lines(r);
    qp_buffer_free(&r->decoded);
    qp_json_free(&r->json);
    return status;
}

/* ---- tokens ------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Exactly ceil(bits / 4) lower-case digits, most significant first, nothing above the width; for no
 * bits the word none. */
static bool token_bits(const char *text, size_t size, uint32_t bits, uint64_t *payload)
{
    if (bits == 0)
        return size == 4 && memcmp(text, "none", 4) == 0;
    if (size != (bits + 3) / 4)
        return false;
    for (size_t i = 0; i < size; i++) {
        const int digit = digit_of(text[size - 1 - i]);
        if (digit < 0)
            return false;
        payload[i / 16] |= (uint64_t)digit << 4 * (i % 16);
    }
    return bits % 64 == 0 || payload[(bits - 1) / 64] >> bits % 64 == 0;
}

static qp_status take_tokens(reader *r, uint32_t port, qp_json_value list)
{
    const uint32_t bits = r->graph->values[port].bits;
    qp_fabric_stream *stream = &r->inputs[port];
    qp_json_iterator elements = qp_json_iterate(list);
    qp_json_value element;
    const char *text;
    size_t size, words;

    stream->count = stream->capacity = qp_json_count(list);
    if (!qp_mul_size(stream->count, stream->words, &words))
        return qp_fabric_fail_memory(r->error, "the tokens of an input");
    stream->payload = qp_arena_allocate(r->arena, words, sizeof *stream->payload);
    if (stream->payload == NULL)
        return qp_fabric_fail_memory(r->error, "the tokens of an input");
    for (uint64_t *at = stream->payload; qp_json_next(&elements, &element); at += stream->words) {
        qp_status status = string_of(r, element, "a token", &text, &size);
        if (status != QP_OK)
            return status;
        if (token_bits(text, size, bits, at))
            continue;
        if (bits == 0)
            return qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_of(r, element),
                                  "a control token is \"none\"");
        return qp_fabric_fail(
            r->error, QP_FABRIC_INVALID, place_of(r, element),
            "a token of %lu bit%s has %lu lower-case hex digit%s, and no bits above",
            (unsigned long)bits, bits == 1 ? "" : "s", (unsigned long)((bits + 3) / 4),
            bits <= 4 ? "" : "s");
    }
    return QP_OK;
}

qp_status qp_fabric_read_tokens(const qp_fabric_model *model, const qp_fabric_graph *graph,
                                const qp_fabric_text *text, qp_arena *arena,
                                qp_fabric_stream *inputs, qp_fabric_error *error)
{
    reader r = {.model = model,
                .graph = graph,
                .text = text,
                .arena = arena,
                .error = error,
                .member = "tokens",
                .take = take_tokens,
                .inputs = inputs};

    for (uint32_t i = 0; i < graph->n_inputs; i++)
        inputs[i] = (qp_fabric_stream){.words = qp_fabric_words(graph->values[i].bits)};
    return read_lines(&r);
}

/* ---- stalls ------------------------------------------------------------------------------- */

static bool cycle_of(qp_json_value value, uint64_t *cycle)
{
    return qp_json_get_u64(value, cycle, NULL) == QP_OK;
}

static bool take_interval(qp_json_value pair, qp_fabric_interval *interval)
{
    qp_json_iterator elements = qp_json_iterate(pair);
    qp_json_value first, end, more;

    return qp_json_kind_of(pair) == QP_JSON_ARRAY && qp_json_next(&elements, &first) &&
           qp_json_next(&elements, &end) && !qp_json_next(&elements, &more) &&
           cycle_of(first, &interval->first) && cycle_of(end, &interval->end) &&
           interval->first <= interval->end;
}

static qp_status take_stalls(reader *r, uint32_t port, qp_json_value list)
{
    const size_t count = qp_json_count(list);
    qp_fabric_interval *intervals = qp_arena_allocate(r->arena, count, sizeof *intervals);
    qp_json_iterator elements = qp_json_iterate(list);
    qp_json_value element;

    if (intervals == NULL)
        return qp_fabric_fail_memory(r->error, "the stalls of a port");
    r->stalls[port] = (qp_fabric_stall){count, intervals};
    for (; qp_json_next(&elements, &element); intervals++)
        if (!take_interval(element, intervals))
            return qp_fabric_fail(r->error, QP_FABRIC_INVALID, place_of(r, element),
                                  "an interval is [a, b] of two cycles, a not above b");
    return QP_OK;
}

qp_status qp_fabric_read_stalls(const qp_fabric_model *model, const qp_fabric_graph *graph,
                                const qp_fabric_text *text, qp_arena *arena,
                                qp_fabric_stall *stalls, qp_fabric_error *error)
{
    reader r = {.model = model,
                .graph = graph,
                .text = text,
                .arena = arena,
                .error = error,
                .member = "cycles",
                .take = take_stalls,
                .stalls = stalls};

    memset(stalls, 0, ((size_t)graph->n_inputs + graph->n_outputs) * sizeof *stalls);
    return read_lines(&r);
}
