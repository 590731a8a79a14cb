/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - `quipu run`: decodes of a graph on pictures and arrays. */
#define _POSIX_C_SOURCE 200809L /* isatty, fileno */

#include "cli/run.h"

#include "cli/output.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: quipu run GRAPH INPUT... [-o OUTPUT]... [OPTION]...\n"
    "\n"
    "Runs a WHG1 graph: certifies it, evaluates it, and writes its outputs. Where the\n"
    "run is refused nothing is written.\n"
    "\n"
    "INPUT stands once for each data input, in the order of the graph's input table\n"
    "('quipu info' shows it); states start at their first values. OUTPUT stands for\n"
    "an output, in table order; outputs beyond the last -o are not written. '-' is\n"
    "standard input or standard output.\n"
    "\n"
    "Files are .npy arrays of integers [C, H, W], or PNG pictures of 8 bits a sample.\n"
    "[H, W] is read as one channel; any integer type is read, int64 is written. An\n"
    "input that begins as a PNG file does is read as one; an output is one where its\n"
    "name ends in .png, and its values must then lie in 0..255. A colour picture for\n"
    "an input of one channel runs the graph three times, for red, green and blue, and\n"
    "each output is the three results together, [3C, H, W].\n"
    "\n"
    "  -o, --output FILE   write an output\n"
    "  --format npy|png    the form of outputs whose names do not tell, as '-' (npy)\n"
    "  --scalar V          the value of the next scalar, or I=V of scalar I; the same\n"
    "                      in every decode\n"
    "  --sequence          each input is [N, C, H, W]: N decodes that carry the\n"
    "                      graph's states from one to the next; outputs are\n"
    "                      [N, C, H, W] too\n"
    "  --profile acc32     refuse a graph that does not meet acc32 (default acc64)\n"
    "  --reference         evaluate by the text alone, without the fast kernels: the same "
    "integers\n"
    "  --digest            print the SHA-256 of each output. Where the graph gives a\n"
    "                      picture's values, 0..255 in 1 or 3 channels: 'grey8' or\n"
    "                      'rgb8', of the 8-bit samples, rows from the top, R G B\n"
    "                      interleaved, no padding, frame after frame. Otherwise\n"
    "                      'i64', of the elements as little-endian int64 in the order\n"
    "                      of the shape\n"
    "  --json              print the digests as JSON\n"
    "  --trace FILE        write every tensor's digest and range, for 'quipu compare'\n"
    "  --trace-tensors     keep every tensor's elements too, as .npy files in the new\n"
    "                      folder FILE.tensors\n"
    "  --time              print the time of the decodes on standard error\n"
    "\n"
    "With none of -o, --digest, --json and --trace the digests are printed. They go\n"
    "to standard error where an output or the trace goes to standard output.\n"
    "\n"
    "Exit status: 0 done, 1 refused, 2 wrong usage, 3 the environment failed.\n"
    "\n"
    "Example:\n"
    "  quipu run models/superres-x3.whg1 models/parrots-192x128.png -o large.png\n";

/* ---- the graph ---------------------------------------------------------------------------- */

static int refuse(const qp_run *run, const char *file)
{
    return qp_cli_refuse("run", file, &run->error);
}

static int open_graph(qp_run *run)
{
    const char *path = run->options.graph;
    if (qp_cli_graph(path, &run->file, &run->graph, &run->error) != QP_OK ||
        qp_certify(run->graph, NULL, &run->certificate, &run->error) != QP_OK)
        return refuse(run, path);
    run->info = qp_graph_describe(run->graph);
    for (uint32_t i = 0; i < run->info.n_inputs; i++)
        run->n_sources += !qp_graph_input(run->graph, i).state;
    return QP_EXIT_OK;
}

static int open_session(qp_run *run)
{
    qp_session_options options = {.profile = run->options.profile,
                                  .keep_tensors = run->options.trace != NULL,
                                  .reference = run->options.reference};
    if (qp_session_create(run->certificate, &options, NULL, &run->session, &run->error) != QP_OK)
        return refuse(run, run->options.graph);
    return QP_EXIT_OK;
}

/* ---- inputs ------------------------------------------------------------------------------- */

static int allocate_tensors(qp_run *run)
{
    size_t outputs = run->info.n_outputs;
    run->sources = qp_allocate(NULL, run->n_sources, sizeof *run->sources);
    run->arrays = qp_allocate(NULL, run->n_sources, sizeof *run->arrays);
    run->source_inputs = qp_allocate(NULL, run->n_sources, sizeof *run->source_inputs);
    run->results = qp_allocate(NULL, outputs, sizeof *run->results);
    run->encoded = qp_allocate(NULL, outputs, sizeof *run->encoded);
    if (run->sources == NULL || run->arrays == NULL || run->source_inputs == NULL ||
        run->results == NULL || run->encoded == NULL) {
        (void)qp_fail_memory(&run->error, "the inputs and outputs");
        return refuse(run, NULL);
    }
    for (size_t i = 0; i < outputs; i++)
        qp_buffer_init(&run->encoded[i], NULL);
    return QP_EXIT_OK;
}

static int open_sources(qp_run *run)
{
    size_t next = 0;
    for (uint32_t i = 0; i < run->info.n_inputs; i++) {
        if (qp_graph_input(run->graph, i).state)
            continue;
        const char *path = run->options.inputs[next];
        run->source_inputs[next] = i;
        if (qp_source_open(&run->sources[next++], path, run->options.sequence, &run->error) !=
            QP_OK)
            return refuse(run, path);
    }
    return QP_EXIT_OK;
}

/* A colour picture for an input of one channel becomes three frames. */
static void split_pictures(qp_run *run)
{
    for (size_t i = 0; i < run->n_sources; i++) {
        uint32_t tensor = qp_graph_input(run->graph, run->source_inputs[i]).tensor;
        if (!qp_source_is_colour(&run->sources[i]) ||
            qp_graph_tensor(run->graph, tensor).channels != 1)
            continue;
        qp_source_split(&run->sources[i]);
        run->layout = QP_RESULT_PLANES;
        run->decodes = run->sources[i].frames;
    }
}

static int count_sequence(qp_run *run)
{
    run->layout = QP_RESULT_SEQUENCE;
    for (size_t i = 0; i < run->n_sources; i++) {
        size_t frames = run->sources[i].frames;
        if (i == 0)
            run->decodes = frames;
        if (frames == 0)
            (void)qp_fail(&run->error, QP_MODEL_MISMATCH, "the sequence has no decode");
        else if (frames != run->decodes)
            (void)qp_fail(&run->error, QP_MODEL_MISMATCH,
                          "the sequence has %zu decodes, that of the first input %zu", frames,
                          run->decodes);
        else
            continue;
        return refuse(run, run->options.inputs[i]);
    }
    return QP_EXIT_OK;
}

/* How many decodes there are, and how their results are put together. */
static int set_layout(qp_run *run)
{
    int code = QP_EXIT_OK;
    run->layout = QP_RESULT_SINGLE;
    run->decodes = 1;
    if (run->options.sequence)
        code = count_sequence(run);
    else
        split_pictures(run);
    for (size_t i = 0; i < run->info.n_outputs; i++) {
        run->results[i].layout = run->layout;
        run->results[i].frames = run->decodes;
    }
    return code;
}

static int check_pictures(const qp_run *run)
{
    for (uint32_t i = 0; i < run->options.n_outputs; i++) {
        uint64_t channels = qp_graph_tensor(run->graph, qp_graph_output(run->graph, i)).channels;
        if (!qp_run_is_png(run, i))
            continue;
        if (run->layout == QP_RESULT_SEQUENCE)
            return qp_cli_usage("run", "a sequence cannot be written as PNG; use .npy");
        channels *= run->decodes;
        if (channels != 1 && channels != 3)
            return qp_cli_usage("run",
                                "output %u has %" PRIu64 " channels; a PNG picture has 1 "
                                "or 3",
                                i, channels);
    }
    return QP_EXIT_OK;
}

/* ---- decodes ------------------------------------------------------------------------------ */

static uint64_t now(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int start_trace(qp_run *run)
{
    qp_trace_run what = {run->graph, run->scalars, run->decodes, run->layout == QP_RESULT_PLANES,
                         run->options.trace_tensors};
    if (run->options.trace == NULL)
        return QP_EXIT_OK;
    run->tracing = true;
    if (qp_trace_start(&run->trace, &what, run->options.trace, &run->error) != QP_OK)
        return refuse(run, NULL);
    return QP_EXIT_OK;
}

/* Says which of several decodes was refused. */
static void name_decode(qp_run *run, size_t decode)
{
    static const char *const colours[] = {"red", "green", "blue"};
    char text[sizeof run->error.message];
    memcpy(text, run->error.message, sizeof text);
    if (run->layout == QP_RESULT_PLANES)
        snprintf(run->error.message, sizeof text, "%s: %.200s", colours[decode], text);
    else if (run->layout == QP_RESULT_SEQUENCE)
        snprintf(run->error.message, sizeof text, "decode %zu: %.200s", decode, text);
}

static qp_status take_results(qp_run *run, size_t decode)
{
    qp_status status = QP_OK;
    for (uint32_t i = 0; i < run->info.n_outputs && status == QP_OK; i++) {
        qp_array array;
        status = qp_session_output(run->session, i, &array);
        if (status == QP_OK)
            status = qp_result_append(&run->results[i], &array, &run->error);
    }
    if (status == QP_OK && run->tracing)
        status = qp_trace_decode(&run->trace, run->session, decode, &run->error);
    return status;
}

/* The input's file where an input was refused, otherwise the graph's. */
static const char *file_at_fault(const qp_run *run)
{
    for (size_t i = 0; run->error.table == QP_TABLE_INPUTS && i < run->n_sources; i++)
        if (run->source_inputs[i] == run->error.record)
            return run->options.inputs[i];
    return run->options.graph;
}

static int decode(qp_run *run, size_t index)
{
    for (size_t i = 0; i < run->n_sources; i++)
        if (qp_source_frame(&run->sources[i], index, &run->arrays[i], &run->error) != QP_OK)
            return refuse(run, run->options.inputs[i]);
    if (run->layout == QP_RESULT_PLANES)
        qp_session_reset(run->session);

    uint64_t start = now();
    qp_status status = qp_session_decode(run->session, run->arrays, run->n_sources, run->scalars,
                                         run->info.n_scalars, &run->error);
    run->nanoseconds += now() - start;
    if (status == QP_OK)
        status = take_results(run, index);
    if (status == QP_OK)
        return QP_EXIT_OK;
    name_decode(run, index);
    return refuse(run, file_at_fault(run));
}

static int decode_all(qp_run *run)
{
    bool shown = run->decodes > 1 && isatty(fileno(stderr));
    int code = QP_EXIT_OK;
    for (size_t i = 0; i < run->decodes && code == QP_EXIT_OK; i++) {
        if (shown)
            fprintf(stderr, "\rdecode %zu of %zu", i + 1, run->decodes);
        code = decode(run, i);
        if (shown && (i + 1 == run->decodes || code != QP_EXIT_OK))
            fputc('\n', stderr);
    }
    return code;
}

/* ---- files -------------------------------------------------------------------------------- */

static int encode_outputs(qp_run *run)
{
    for (size_t i = 0; i < run->options.n_outputs; i++)
        if (qp_result_encode(&run->results[i], qp_run_is_png(run, i), &run->encoded[i],
                             &run->error) != QP_OK)
            return refuse(run, run->options.outputs[i]);
    return QP_EXIT_OK;
}

static int write_files(qp_run *run)
{
    for (size_t i = 0; i < run->options.n_outputs; i++)
        if (qp_output_buffer(run->options.outputs[i], &run->encoded[i], &run->error) != QP_OK)
            return refuse(run, NULL);
    if (run->tracing && qp_trace_write(&run->trace, &run->error) != QP_OK)
        return refuse(run, NULL);
    return QP_EXIT_OK;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static int prepare(qp_run *run)
{
    static int (*const steps[])(qp_run *) = {open_graph,       qp_run_check_options, open_session,
                                             allocate_tensors, open_sources,         set_layout};
    int code = QP_EXIT_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == QP_EXIT_OK; i++)
        code = steps[i](run);
    return code == QP_EXIT_OK ? check_pictures(run) : code;
}

static int perform(qp_run *run)
{
    static int (*const steps[])(qp_run *) = {start_trace, decode_all, encode_outputs, write_files};
    int code = QP_EXIT_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == QP_EXIT_OK; i++)
        code = steps[i](run);
    if (code != QP_EXIT_OK && run->tracing)
        qp_trace_discard(&run->trace);
    return code;
}

static void free_tensors(qp_run *run)
{
    size_t outputs = run->info.n_outputs;
    for (size_t i = 0; run->sources != NULL && i < run->n_sources; i++)
        qp_source_close(&run->sources[i]);
    for (size_t i = 0; run->results != NULL && i < outputs; i++)
        qp_result_free(&run->results[i]);
    for (size_t i = 0; run->encoded != NULL && i < outputs; i++)
        qp_buffer_free(&run->encoded[i]);
    qp_release(NULL, run->sources, run->n_sources, sizeof *run->sources);
    qp_release(NULL, run->arrays, run->n_sources, sizeof *run->arrays);
    qp_release(NULL, run->source_inputs, run->n_sources, sizeof *run->source_inputs);
    qp_release(NULL, run->results, outputs, sizeof *run->results);
    qp_release(NULL, run->encoded, outputs, sizeof *run->encoded);
    qp_release(NULL, run->scalars, run->info.n_scalars, sizeof *run->scalars);
}

static void free_run(qp_run *run)
{
    if (run->tracing)
        qp_trace_free(&run->trace);
    free_tensors(run);
    qp_release(NULL, run->words, run->n_words, sizeof *run->words);
    qp_session_free(run->session);
    qp_certificate_free(run->certificate);
    if (run->graph != NULL) {
        qp_graph_free(run->graph);
        qp_file_close(&run->file);
    }
}

static int verb(int argc, char **argv)
{
    qp_run run = {0};
    int code = qp_run_read_options(&run, argc, argv);
    if (code == QP_EXIT_OK)
        code = prepare(&run);
    if (code == QP_EXIT_OK)
        code = perform(&run);
    if (code == QP_EXIT_OK)
        code = qp_run_report(&run);
    free_run(&run);
    return code;
}

const qp_verb qp_verb_run = {"run", "run a graph on pictures or arrays", help, verb};
