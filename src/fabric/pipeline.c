/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.c - a run as a pipeline diagram: a row an actor and a row a graph output, a column a
 * cycle. A cell says which case fires, that an operand waits, or that a result waits for its sinks;
 * an output's cell has the token that leaves. Columns are drawn as the cycles end.
 */
#include "fabric/channels.h"
#include "fabric/simulate.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    CELL_WIDTH = 76,
    CELL_HEIGHT = 24,
    LEFT = 120, /* of the names */
    TOP = 44,   /* of the cycles' numbers */
    LEGEND = 34,
    TOKEN_LENGTH = 10, /* a longer token keeps its end */
    CASE_LENGTH = 15,
    COLUMNS_MAX = 1000 /* a decision of ours: no longer diagram can be looked at */
};

/* What is known of a row in the cycle at hand. */
typedef struct row {
    bool fires;
    uint32_t waiting;  /* tokens that are offered to it and not taken */
    uint32_t standing; /* tokens of its own that are offered and not taken */
    char text[CASE_LENGTH + 1];
    char *token; /* outputs: what is offered */
} row;

struct qp_fabric_pipeline {
    const qp_fabric_verified *verified;
    qp_allocator allocator;
    qp_arena arena;
    qp_fabric_channels channels;
    uint32_t *consumer; /* [channel]: the row of the actor or output; NO_INDEX for a queue */
    uint32_t actors, row_count;
    row *rows;
    qp_buffer body;
    uint64_t columns, cycle; /* the limit, and the cycle at hand */
    bool reset;
};

/* ---- columns ------------------------------------------------------------------------------ */

static void put_cell(qp_fabric_pipeline *p, uint32_t number, const char *kind, const char *text)
{
    const uint64_t x = LEFT + p->cycle * CELL_WIDTH;
    const uint64_t y = TOP + (uint64_t)number * CELL_HEIGHT;

    qp_buffer_format(&p->body,
                     "<rect class=\"%s\" x=\"%" PRIu64 "\" y=\"%" PRIu64
                     "\" width=\"%d\" height=\"%d\"/>",
                     kind, x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2);
    if (*text != '\0')
        qp_buffer_format(&p->body, "<text x=\"%" PRIu64 "\" y=\"%" PRIu64 "\">%s</text>",
                         x + CELL_WIDTH / 2, y + 16, text);
    qp_buffer_text(&p->body, "\n");
}

/* An actor that fires, or waits, and in the same cell the result that no sink takes. */
static void put_actor(qp_fabric_pipeline *p, uint32_t number, const row *r)
{
    if (r->fires)
        put_cell(p, number, r->standing > 0 ? "fire blocked" : "fire", r->text);
    else if (r->standing > 0)
        put_cell(p, number, "blocked", "");
    else if (r->waiting > 0)
        put_cell(p, number, "waits", "");
}

static void put_output(qp_fabric_pipeline *p, uint32_t number, const row *r)
{
    const size_t length = strlen(r->token);
    const char *token = length > TOKEN_LENGTH ? r->token + length - TOKEN_LENGTH : r->token;
    char text[TOKEN_LENGTH + 8];

    snprintf(text, sizeof text, "%s%s", length > TOKEN_LENGTH ? "&#8230;" : "", token);
    if (r->fires)
        put_cell(p, number, "out", text);
    else if (r->waiting > 0)
        put_cell(p, number, "blocked", text);
}

static void end_cycle(qp_fabric_pipeline *p)
{
    if (p->cycle >= p->columns)
        return;
    if (p->reset)
        qp_buffer_format(&p->body,
                         "<rect class=\"reset\" x=\"%" PRIu64
                         "\" y=\"%d\" width=\"%d\" height=\"%" PRIu64 "\"/>\n",
                         LEFT + p->cycle * CELL_WIDTH, TOP, CELL_WIDTH,
                         (uint64_t)p->row_count * CELL_HEIGHT);
    for (uint32_t i = 0; i < p->row_count; i++) {
        row *r = &p->rows[i];
        if (i < p->actors)
            put_actor(p, i, r);
        else
            put_output(p, i, r);
        r->fires = false;
        r->waiting = r->standing = 0;
        r->token[0] = '\0';
    }
    p->reset = false;
}

/* ---- events ------------------------------------------------------------------------------- */

/* One more token that stands, or one less. */
static void count(qp_fabric_pipeline *p, uint32_t channel, bool stands)
{
    const uint32_t value = p->channels.rows[channel].value;
    const uint32_t source = p->verified->graph->values[value].actor;
    const uint32_t consumer = p->consumer[channel];

    if (source != QP_FABRIC_NO_INDEX)
        p->rows[source].standing += stands ? 1 : UINT32_MAX;
    if (consumer != QP_FABRIC_NO_INDEX)
        p->rows[consumer].waiting += stands ? 1 : UINT32_MAX;
}

/* What leaves through an output. */
static void see_output(qp_fabric_pipeline *p, const qp_fabric_event *event, uint32_t channel)
{
    const uint32_t bits = p->verified->graph->values[p->channels.rows[channel].value].bits;
    const size_t length = bits > 0 ? (bits + 3) / 4 : strlen("none");
    row *r = &p->rows[p->consumer[channel]];

    if (event->kind == QP_FABRIC_EVENT_HANDOFF)
        r->fires = true;
    else if (strlen(event->detail) == length)
        memcpy(r->token, event->detail, length + 1);
}

static void see_channel(qp_fabric_pipeline *p, const qp_fabric_event *event)
{
    const uint32_t channel = qp_fabric_find_channel(&p->channels, event->name);

    if (channel == QP_FABRIC_NO_INDEX)
        return;
    count(p, channel, event->kind == QP_FABRIC_EVENT_OFFER);
    if (p->consumer[channel] != QP_FABRIC_NO_INDEX && p->consumer[channel] >= p->actors)
        see_output(p, event, channel);
}

static void see_firing(qp_fabric_pipeline *p, const qp_fabric_event *event)
{
    const qp_fabric_verified *v = p->verified;
    const uint32_t actor = qp_fabric_find_actor(v->sealed->model, v->graph, event->name, NULL);

    if (actor == QP_FABRIC_NO_INDEX)
        return;
    p->rows[actor].fires = true;
    snprintf(p->rows[actor].text, sizeof p->rows[actor].text, "%s", event->detail);
}

/* Nothing is drawn in a cycle without events. States are not drawn; they belong to the next cycle,
 * which would end the one at hand too soon. */
static void see(void *context, const qp_fabric_event *event)
{
    qp_fabric_pipeline *p = context;

    if (event->kind == QP_FABRIC_EVENT_STATE)
        return;
    if (event->cycle != p->cycle) {
        end_cycle(p);
        p->cycle = event->cycle;
    }
    if (event->kind == QP_FABRIC_EVENT_RESET)
        p->reset = true;
    else if (event->kind == QP_FABRIC_EVENT_FIRE)
        see_firing(p, event);
    else
        see_channel(p, event);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void put_style(qp_buffer *buffer)
{
    qp_buffer_text(
        buffer,
        "<style>\n"
        "text{font:11px ui-monospace,monospace;text-anchor:middle;fill:#1b1f24}\n"
        "text.name{text-anchor:end;font-weight:600}text.key{text-anchor:start}\n"
        ".back{fill:#fff}.line{stroke:#d8dee4}.fire{fill:#a7d8b4}.waits{fill:#eceff2}\n"
        ".blocked{fill:#f6d58a}.fire.blocked{fill:#a7d8b4;stroke:#d99a00;stroke-width:2}\n"
        ".out{fill:#b7cdf4}.reset{fill:#f3c1c1}\n"
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0f141a}\n"
        ".line{stroke:#2d333b}.fire{fill:#245c36}.waits{fill:#232a32}.blocked{fill:#7a5a0c}\n"
        ".fire.blocked{fill:#245c36}.out{fill:#2b4a86}.reset{fill:#6b2a2a}}\n"
        "</style>\n");
}

static void put_key(qp_buffer *buffer, uint64_t y)
{
    static const struct {
        const char *kind, *text;
    } keys[] = {{"fire", "fires"},
                {"waits", "an operand waits"},
                {"blocked", "a result waits"},
                {"fire blocked", "fires, and a result waits"},
                {"out", "a token leaves"},
                {"reset", "reset"}};
    uint64_t x = 8;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        qp_buffer_format(buffer,
                         "<rect class=\"%s\" x=\"%" PRIu64 "\" y=\"%" PRIu64
                         "\" width=\"12\" height=\"12\"/>"
                         "<text class=\"key\" x=\"%" PRIu64 "\" y=\"%" PRIu64 "\">%s</text>\n",
                         keys[i].kind, x, y, x + 17, y + 10, keys[i].text);
        x += 37 + 7 * strlen(keys[i].text);
    }
}

/* The names of the rows, each with a line above it. */
static void put_names(const qp_fabric_pipeline *p, qp_buffer *buffer, uint64_t width)
{
    const qp_fabric_verified *v = p->verified;

    for (uint32_t i = 0; i < p->row_count; i++) {
        const uint64_t y = TOP + (uint64_t)i * CELL_HEIGHT;
        const uint32_t value =
            i < p->actors ? v->graph->actors[i].results[0] : v->graph->outputs[i - p->actors];
        qp_buffer_format(buffer,
                         "<line class=\"line\" x1=\"0\" y1=\"%" PRIu64 "\" x2=\"%" PRIu64
                         "\" y2=\"%" PRIu64 "\"/><text class=\"name\" x=\"%d\" y=\"%" PRIu64
                         "\">%s%.14s</text>\n",
                         y, width, y, LEFT - 8, y + 16, i < p->actors ? "" : "&#8594; ",
                         qp_fabric_name_text(v->sealed->model, v->graph->values[value].name));
    }
}

static void put_numbers(qp_buffer *buffer, uint64_t columns)
{
    qp_buffer_format(buffer, "<text class=\"name\" x=\"%d\" y=\"%d\">cycle</text>\n", LEFT - 8,
                     TOP - 10);
    for (uint64_t c = 0; c < columns; c++)
        qp_buffer_format(buffer, "<text x=\"%" PRIu64 "\" y=\"%d\">%" PRIu64 "</text>\n",
                         LEFT + c * CELL_WIDTH + CELL_WIDTH / 2, TOP - 10, c);
}

static void put_diagram(qp_fabric_pipeline *p, qp_buffer *buffer)
{
    const uint64_t columns = p->cycle < p->columns ? p->cycle + 1 : p->columns;
    const uint64_t bottom = TOP + (uint64_t)p->row_count * CELL_HEIGHT;
    const uint64_t wide = LEFT + columns * CELL_WIDTH + 8, width = wide > 820 ? wide : 820;

    qp_buffer_format(buffer,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRIu64
                     "\" height=\"%" PRIu64 "\" viewBox=\"0 0 %" PRIu64 " %" PRIu64
                     "\" role=\"img\" aria-label=\"pipeline diagram\">\n",
                     width, bottom + LEGEND, width, bottom + LEGEND);
    put_style(buffer);
    qp_buffer_format(buffer,
                     "<rect class=\"back\" width=\"%" PRIu64 "\" height=\"%" PRIu64 "\"/>\n", width,
                     bottom + LEGEND);
    put_numbers(buffer, columns);
    put_names(p, buffer, width);
    if (p->body.size > 0)
        qp_buffer_append(buffer, p->body.bytes, p->body.size);
    put_key(buffer, bottom + 12);
    qp_buffer_text(buffer, "</svg>\n");
}

/* ---- begin and end ------------------------------------------------------------------------ */

/* The rows of channels: a queue takes all that comes and has none. */
static bool make_channels(qp_fabric_pipeline *p)
{
    const qp_fabric_graph *graph = p->verified->graph;
    const uint32_t total = qp_fabric_channel_count(&p->channels);

    p->consumer = qp_arena_allocate(&p->arena, total, sizeof *p->consumer);
    if (p->consumer == NULL)
        return false;
    for (uint32_t i = 0; i < total; i++)
        p->consumer[i] = QP_FABRIC_NO_INDEX;
    for (uint32_t a = 0; a < p->actors; a++)
        for (uint32_t i = 0; i < graph->actors[a].operand_count; i++)
            p->consumer[p->channels.first_operand[a] + i] = a;
    for (uint32_t i = 0; i < graph->n_outputs; i++)
        p->consumer[total - graph->n_outputs + i] = p->actors + i;
    return true;
}

static bool make(qp_fabric_pipeline *p)
{
    const qp_fabric_graph *graph = p->verified->graph;

    p->actors = graph->n_actors;
    p->row_count = graph->n_actors + graph->n_outputs;
    p->rows = qp_arena_allocate(&p->arena, p->row_count, sizeof *p->rows);
    if (p->rows == NULL || !qp_fabric_channels_of(p->verified, true, &p->arena, &p->channels))
        return false;
    for (uint32_t i = 0; i < p->row_count; i++) {
        const uint32_t bits = i < p->actors ? 0 : graph->values[graph->outputs[i - p->actors]].bits;
        p->rows[i].token = qp_arena_allocate(&p->arena, (size_t)bits / 4 + 8, 1);
        if (p->rows[i].token == NULL)
            return false;
    }
    return make_channels(p);
}

static void dispose(qp_fabric_pipeline *p)
{
    const qp_allocator allocator = p->allocator;

    qp_buffer_free(&p->body);
    qp_arena_free(&p->arena);
    qp_release(&allocator, p, 1, sizeof *p);
}

qp_status qp_fabric_pipeline_begin(const qp_fabric_verified *verified, uint64_t cycles,
                                   const qp_allocator *allocator, qp_fabric_pipeline **pipeline,
                                   qp_fabric_observer *observer, qp_fabric_error *error)
{
    qp_fabric_pipeline *p = qp_allocate(allocator, 1, sizeof *p);

    *pipeline = NULL;
    if (p == NULL)
        return qp_fabric_fail_memory(error, "a pipeline diagram");
    p->verified = verified;
    p->allocator = qp_allocator_or_default(allocator);
    p->columns = cycles < COLUMNS_MAX ? cycles : COLUMNS_MAX;
    qp_arena_init(&p->arena, allocator);
    qp_buffer_init(&p->body, allocator);
    if (!make(p)) {
        dispose(p);
        return qp_fabric_fail_memory(error, "a pipeline diagram");
    }
    *pipeline = p;
    *observer = (qp_fabric_observer){see, p};
    return QP_OK;
}

qp_status qp_fabric_pipeline_end(qp_fabric_pipeline *pipeline, qp_buffer *buffer,
                                 qp_fabric_error *error)
{
    if (pipeline == NULL)
        return QP_OK;
    end_cycle(pipeline);
    put_diagram(pipeline, buffer);
    const bool failed = buffer->failed || pipeline->body.failed;
    dispose(pipeline);
    return failed ? qp_fabric_fail_memory(error, "a pipeline diagram") : QP_OK;
}
