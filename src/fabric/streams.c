/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.c - the tokens that a run gives, and their lines (section 12.1).
 */
#include "fabric/streams.h"

enum { FIRST_CAPACITY = 16 };

/* An array of `count` elements that becomes one of `more`; the old one stays where it fails. */
static bool grow(const qp_allocator *allocator, uint64_t **array, size_t count, size_t more)
{
    uint64_t *grown = qp_allocate(allocator, more, sizeof *grown);

    if (grown == NULL)
        return false;
    if (count > 0)
        memcpy(grown, *array, count * sizeof *grown);
    qp_release(allocator, *array, count, sizeof *grown);
    *array = grown;
    return true;
}

/* Without words no payload is kept, without cycles none; whatever there is has room for `capacity`
 * tokens, also where growing stopped half-way, for freeing it is by that number. */
static bool make_room(qp_fabric_stream *stream, const qp_allocator *allocator, bool timed)
{
    const size_t capacity = stream->capacity;
    size_t more = FIRST_CAPACITY, words;
    qp_fabric_stream grown = *stream;

    if (capacity > 0 && !qp_mul_size(capacity, 2, &more))
        return false;
    if (!qp_mul_size(more, stream->words, &words))
        return false;
    grown.payload = NULL;
    if (words > 0 && !grow(allocator, &grown.payload, 0, words))
        return false;
    if (timed && !grow(allocator, &grown.cycles, capacity, more)) {
        qp_release(allocator, grown.payload, words, sizeof *grown.payload);
        return false;
    }
    if (words > 0 && capacity > 0)
        memcpy(grown.payload, stream->payload, capacity * stream->words * sizeof *grown.payload);
    qp_release(allocator, stream->payload, capacity * stream->words, sizeof *grown.payload);
    grown.capacity = more;
    *stream = grown;
    return true;
}

bool qp_fabric_stream_add(qp_fabric_stream *stream, const qp_allocator *allocator,
                          const uint64_t *payload, const uint64_t *cycle)
{
    if (stream->count == stream->capacity && !make_room(stream, allocator, cycle != NULL))
        return false;
    if (stream->words > 0)
        memcpy(stream->payload + stream->count * stream->words, payload,
               stream->words * sizeof *payload);
    if (cycle != NULL)
        stream->cycles[stream->count] = *cycle;
    stream->count++;
    return true;
}

void qp_fabric_stream_free(qp_fabric_stream *stream, const qp_allocator *allocator)
{
    qp_release(allocator, stream->payload, stream->capacity * stream->words,
               sizeof *stream->payload);
    qp_release(allocator, stream->cycles, stream->capacity, sizeof *stream->cycles);
    stream->payload = NULL;
    stream->cycles = NULL;
    stream->count = stream->capacity = 0;
}

/* ---- lines -------------------------------------------------------------------------------- */

void qp_fabric_put_token(qp_buffer *buffer, const uint64_t *payload, uint64_t bits)
{
    static const char digits[] = "0123456789abcdef";
    const uint64_t count = (bits + 3) / 4;

    if (bits == 0)
        qp_buffer_text(buffer, "none");
    for (uint64_t i = count; i-- > 0;)
        qp_buffer_append(buffer, &digits[payload[i / 16] >> 4 * (i % 16) & 15], 1);
}

static void put_tokens(qp_buffer *buffer, const qp_fabric_stream *stream, uint64_t bits)
{
    qp_buffer_text(buffer, ", \"tokens\": [");
    for (size_t i = 0; i < stream->count; i++) {
        const uint64_t *payload = bits > 0 ? stream->payload + i * stream->words : NULL;
        qp_buffer_text(buffer, i > 0 ? ", \"" : "\"");
        qp_fabric_put_token(buffer, payload, bits);
        qp_buffer_text(buffer, "\"");
    }
    qp_buffer_text(buffer, "]");
}

static void put_cycles(qp_buffer *buffer, const qp_fabric_stream *stream)
{
    qp_buffer_text(buffer, ", \"cycles\": [");
    for (size_t i = 0; i < stream->count; i++) {
        qp_buffer_text(buffer, i > 0 ? ", " : "");
        qp_buffer_u64_decimal(buffer, stream->cycles[i]);
    }
    qp_buffer_text(buffer, "]");
}

void qp_fabric_write_tokens(qp_buffer *buffer, const qp_fabric_model *model,
                            const qp_fabric_graph *graph, const qp_fabric_stream *outputs,
                            bool timed)
{
    for (uint32_t i = 0; i < graph->n_outputs; i++) {
        const qp_fabric_value *value = &graph->values[graph->outputs[i]];
        qp_buffer_text(buffer, "{\"port\": \"");
        qp_buffer_text(buffer, qp_fabric_name_text(model, value->name));
        qp_buffer_text(buffer, "\"");
        put_tokens(buffer, &outputs[i], value->bits);
        if (timed)
            put_cycles(buffer, &outputs[i]);
        qp_buffer_text(buffer, "}\n");
    }
}
