/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_trace.c - a run watched: a line a cycle, a VCD file, a pipeline diagram. */
#include "cli/fabric_trace.h"
#include "cli/output.h"

/* ---- a line a cycle ----------------------------------------------------------------------- */

static void put_words(qp_buffer *text, const char *title, qp_buffer *words)
{
    qp_cli_lines lines = {.text = text, .indent = 17, .between = ","};
    size_t start = text->size, word = 0;

    if (words->size == 0)
        return;
    for (size_t i = 0; i < words->size; i++)
        if (words->bytes[i] == '\0') {
            qp_cli_lines_add(&lines, (const char *)words->bytes + word);
            word = i + 1;
        }
    qp_cli_lines_end(&lines);
    if (!text->failed) /* over the first line's indent */
        memcpy(text->bytes + start + 10, title, strlen(title));
    words->size = 0;
}

static void end_cycle(qp_cli_traces *traces)
{
    qp_buffer *text = &traces->watched;
    char number[24];

    if (traces->fired.size + traces->left.size == 0)
        return;
    snprintf(number, sizeof number, "%8" PRIu64, traces->cycle);
    size_t start = text->size;
    put_words(text, "fires", &traces->fired);
    put_words(text, "out", &traces->left);
    if (!text->failed && strlen(number) <= 9)
        memcpy(text->bytes + start, number, strlen(number));
}

static void add_word(qp_buffer *words, const char *name, const char *between, const char *detail)
{
    qp_buffer_format(words, "%s%s%s", name, detail[0] != '\0' ? between : "", detail);
    qp_buffer_append(words, "", 1);
}

/* A graph output is a name alone; the channels inside have a dot. */
static bool is_output(const char *channel)
{
    return strchr(channel, '.') == NULL;
}

/* A token is offered before it is taken, so its payload is the last one offered. */
static void watch(void *context, const qp_fabric_event *event)
{
    qp_cli_traces *traces = context;
    const char *detail = event->detail != NULL ? event->detail : "";

    if (event->cycle != traces->cycle)
        end_cycle(traces);
    traces->cycle = event->cycle;
    switch (event->kind) {
    case QP_FABRIC_EVENT_FIRE:
        add_word(&traces->fired, event->name, " ", strcmp(detail, "Fire") == 0 ? "" : detail);
        break;
    case QP_FABRIC_EVENT_RESET:
        add_word(&traces->fired, "reset", "", "");
        break;
    case QP_FABRIC_EVENT_OFFER:
        snprintf(traces->offered, sizeof traces->offered, "%s", detail);
        break;
    case QP_FABRIC_EVENT_HANDOFF:
        if (is_output(event->name))
            add_word(&traces->left, event->name, " = ", traces->offered);
        break;
    case QP_FABRIC_EVENT_STATE:
        break;
    }
}

/* ---- all of them -------------------------------------------------------------------------- */

static void hand_on(void *context, const qp_fabric_event *event)
{
    const qp_cli_traces *traces = context;
    for (size_t i = 0; i < traces->count; i++)
        traces->observers[i].event(traces->observers[i].context, event);
}

static qp_status verify(qp_cli_traces *traces, const qp_fabric_model *model, const char *name,
                        qp_fabric_error *error)
{
    const qp_fabric_map_item *map = qp_fabric_find_map(model, name, error);
    if (map == NULL)
        return error->base.status;
    qp_status status = qp_fabric_seal_fabric(model, &model->fabrics[map->fabric], &traces->arena,
                                             &traces->sealed, error);
    if (status == QP_OK)
        status = qp_fabric_verify(&traces->sealed, map, &traces->arena, &traces->verified, error);
    return status;
}

qp_status qp_cli_traces_open(qp_cli_traces *traces, const qp_fabric_model *model, const char *map,
                             const qp_cli_part_options *options, qp_fabric_error *error)
{
    enum { PIPELINE_CYCLES = 100 };
    qp_status status = QP_OK;

    *traces = (qp_cli_traces){.options = options};
    traces->all = (qp_fabric_observer){hand_on, traces};
    qp_arena_init(&traces->arena, NULL);
    qp_buffer_init(&traces->vcd_text, NULL);
    qp_buffer_init(&traces->watched, NULL);
    qp_buffer_init(&traces->fired, NULL);
    qp_buffer_init(&traces->left, NULL);
    if (options->watch)
        traces->observers[traces->count++] = (qp_fabric_observer){watch, traces};
    if (options->vcd != NULL || options->pipeline != NULL)
        status = verify(traces, model, map, error);
    if (status == QP_OK && options->vcd != NULL)
        status = qp_fabric_vcd_begin(&traces->verified, NULL, &traces->vcd_text, &traces->vcd,
                                     &traces->observers[traces->count++], error);
    if (status == QP_OK && options->pipeline != NULL)
        status = qp_fabric_pipeline_begin(
            &traces->verified, options->cycles > 0 ? options->cycles : PIPELINE_CYCLES, NULL,
            &traces->pipeline, &traces->observers[traces->count++], error);
    return status;
}

const qp_fabric_observer *qp_cli_traces_observer(const qp_cli_traces *traces)
{
    return traces->count > 0 ? &traces->all : NULL;
}

static qp_status write_file(const char *path, const qp_buffer *text, qp_fabric_error *error)
{
    qp_status status = qp_output_buffer(path, text, &error->base);
    return status == QP_OK ? QP_OK : qp_cli_fault(status, error);
}

/* The end of each trace frees it; its file is written only where all went well so far. */
static qp_status end_vcd(qp_cli_traces *traces, qp_status status, uint64_t cycles,
                         qp_fabric_error *error)
{
    qp_fabric_error late;
    if (traces->vcd == NULL)
        return status;
    qp_status ended = qp_fabric_vcd_end(traces->vcd, cycles, status == QP_OK ? error : &late);
    if (status == QP_OK)
        status = ended;
    return status == QP_OK ? write_file(traces->options->vcd, &traces->vcd_text, error) : status;
}

static qp_status end_pipeline(qp_cli_traces *traces, qp_status status, qp_fabric_error *error)
{
    qp_fabric_error late;
    qp_buffer text;

    if (traces->pipeline == NULL)
        return status;
    qp_buffer_init(&text, NULL);
    qp_status ended =
        qp_fabric_pipeline_end(traces->pipeline, &text, status == QP_OK ? error : &late);
    if (status == QP_OK)
        status = ended;
    if (status == QP_OK)
        status = write_file(traces->options->pipeline, &text, error);
    qp_buffer_free(&text);
    return status;
}

qp_status qp_cli_traces_close(qp_cli_traces *traces, qp_status status,
                              const qp_fabric_run_counts *counts, qp_buffer *text,
                              qp_fabric_error *error)
{
    end_cycle(traces);
    status = end_vcd(traces, status, counts->cycles, error);
    status = end_pipeline(traces, status, error);
    if (traces->options->watch) {
        qp_buffer_append(text, traces->watched.bytes, traces->watched.size);
        if (status == QP_OK)
            qp_buffer_format(text, "%" PRIu64 " cycles, %" PRIu64 " firings\n", counts->cycles,
                             counts->firings);
        text->failed |= traces->watched.failed;
    }
    qp_buffer_free(&traces->left);
    qp_buffer_free(&traces->fired);
    qp_buffer_free(&traces->watched);
    qp_buffer_free(&traces->vcd_text);
    qp_arena_free(&traces->arena);
    return status;
}
