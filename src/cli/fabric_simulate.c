/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_simulate.c - quipu fabric simulate: a map cycle by cycle, or a graph alone. */
#include "cli/fabric.h"
#include "cli/fabric_trace.h"
#include "fabric/fault.h"

static qp_status read_text(const char *path, qp_file *file, qp_fabric_text *text,
                           qp_fabric_error *error)
{
    *file = (qp_file){0};
    if (path == NULL)
        return QP_OK;
    qp_status status = qp_cli_read(path, file, &error->base);
    if (status != QP_OK)
        return qp_cli_fault(status, error);
    *text = (qp_fabric_text){path, file->bytes, file->size};
    return QP_OK;
}

/* ---- a graph alone ------------------------------------------------------------------------ */

static qp_status run_graph(const qp_fabric_model *model, const qp_cli_part_options *options,
                           const qp_fabric_streams *streams, qp_buffer *text,
                           qp_fabric_error *error)
{
    const char *graph;
    void *lines;
    size_t size;
    qp_status status =
        qp_cli_choose(model, QP_FABRIC_ITEM_GRAPH, options->graph, "--graph", &graph, error);
    if (status == QP_OK)
        status = qp_fabric_golden(model, graph, &streams->tokens, 0, NULL, &lines, &size, error);
    if (status != QP_OK)
        return status;
    qp_buffer_append(text, lines, size);
    qp_bytes_free(NULL, lines, size);
    return QP_OK;
}

/* ---- a map -------------------------------------------------------------------------------- */

static qp_status run_map(const qp_fabric_model *model, const qp_cli_part_options *options,
                         const qp_fabric_streams *streams, qp_buffer *text, qp_fabric_error *error)
{
    qp_fabric_run_options run = {.cycles = options->cycles,
                                 .resets = options->resets,
                                 .reset_count = options->reset_count,
                                 .stall_seed = options->stall_seed};
    qp_fabric_run_counts counts = {0};
    qp_cli_traces traces;
    const char *map;
    void *lines = NULL;
    size_t size = 0;
    qp_status status = qp_cli_choose(model, QP_FABRIC_ITEM_MAP, options->map, "--map", &map, error);

    if (status != QP_OK)
        return status;
    status = qp_cli_traces_open(&traces, model, map, options, error);
    run.observer = qp_cli_traces_observer(&traces);
    if (status == QP_OK)
        status = qp_fabric_simulate(model, map, streams, &run, NULL, &lines, &size, &counts, error);
    status = qp_cli_traces_close(&traces, status, &counts, text, error);
    if (status == QP_OK && !options->watch)
        qp_buffer_append(text, lines, size);
    qp_bytes_free(NULL, lines, size);
    return status;
}

static qp_status check_options(const qp_cli_part_options *o, qp_fabric_error *error)
{
    bool timed = o->stalls != NULL || o->vcd != NULL || o->pipeline != NULL || o->watch ||
                 o->reset_count > 0 || o->cycles > 0 || o->stall_seed > 0 || o->map != NULL;
    if (o->tokens == NULL)
        return qp_fabric_fail_argument(error, "--tokens names the file with the inputs");
    if (o->golden && timed)
        return qp_fabric_fail_argument(error,
                                       "a graph alone has no cycles: --golden takes --graph only");
    if (!o->golden && o->graph != NULL)
        return qp_fabric_fail_argument(error, "--graph goes with --golden; a map says its graph");
    return QP_OK;
}

static qp_status simulate(const qp_fabric_model *model, const qp_cli_part_options *options,
                          qp_buffer *text, qp_fabric_error *error)
{
    qp_fabric_streams streams = {0};
    qp_file tokens = {0}, stalls = {0};
    qp_status status = check_options(options, error);

    if (status == QP_OK)
        status = read_text(options->tokens, &tokens, &streams.tokens, error);
    if (status == QP_OK)
        status = read_text(options->stalls, &stalls, &streams.stalls, error);
    if (status == QP_OK && options->golden)
        status = run_graph(model, options, &streams, text, error);
    else if (status == QP_OK)
        status = run_map(model, options, &streams, text, error);
    if (options->stalls != NULL)
        qp_file_close(&stalls);
    if (options->tokens != NULL)
        qp_file_close(&tokens);
    return status;
}

const qp_cli_part qp_cli_part_simulate = {
    "simulate", "runs a map cycle by cycle, or a graph alone",
    "usage: quipu fabric simulate --tokens TOKENS [--stalls STALLS | --stall-seed N] [--map M]\n"
    "                             [--reset CYCLE]... [--cycles N] [--watch] [--vcd OUT]\n"
    "                             [--pipeline OUT] [-o OUT] FILE...\n"
    "       quipu fabric simulate --golden --tokens TOKENS [--graph G] [-o OUT] FILE...\n"
    "\n"
    "Runs the configured units on streams of tokens and writes one line of JSON for each output "
    "of\n"
    "the graph: its tokens in hex and the cycle in which each was taken. The run ends when "
    "nothing\n"
    "moves any more. TOKENS has a line for each input: {\"port\": \"a\", \"tokens\": [\"00ff\"]},\n"
    "the payload's bits in hex; a control token is \"none\".\n"
    "\n"
    "  --stalls STALLS  when ports stand still: {\"port\": \"a\", \"cycles\": [[2, 5]]}\n"
    "  --stall-seed N   stalls from a seed: the same outputs in other cycles\n"
    "  --reset CYCLE    everything is as at the start from the next cycle on; may be repeated\n"
    "  --cycles N       at most N cycles (1000000)\n"
    "  --watch          what fires in each cycle, and what leaves by the graph's outputs, in "
    "place\n"
    "                   of the lines of JSON\n"
    "  --vcd OUT        the channels and states as a file for GTKWave\n"
    "  --pipeline OUT   a diagram as SVG: a row an actor, a column a cycle\n"
    "  --golden         the graph alone, without time: what every run must give\n"
    "\n"
    "example: quipu fabric simulate --tokens tokens.jsonl dot.fabric dot.graph dot.map\n",
    " --tokens --stalls --stall-seed --map --reset --cycles --watch --vcd --pipeline --golden"
    " --graph ",
    simulate};
