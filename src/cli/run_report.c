/* SPDX-License-Identifier: Apache-2.0 */
/* run_report.c - what `quipu run` prints: digests, JSON and times. */
#include "cli/run.h"

#include "base/json.h"

#include <inttypes.h>

/* Whether the graph promises that an output holds a picture's samples: 1 or 3 channels (those of
 * the planes together) and a certified interval within 0..255. */
static bool is_picture(const qp_run *run, uint32_t output)
{
    uint32_t tensor = qp_graph_output(run->graph, output);
    uint64_t channels = qp_graph_tensor(run->graph, tensor).channels;
    char lo[80], hi[80];
    int64_t least, greatest;

    if (run->layout == QP_RESULT_PLANES)
        channels *= run->decodes;
    if (channels != 1 && channels != 3)
        return false;
    qp_certificate_tensor(run->certificate, 0, tensor, lo, hi);
    return qp_cli_i64(lo, &least) && qp_cli_i64(hi, &greatest) && least >= 0 &&
           greatest <= UINT8_MAX;
}

static void put_shape(qp_buffer *text, const qp_result *result)
{
    qp_npy_shape shape = qp_result_shape(result);
    for (unsigned i = 0; i < shape.rank; i++)
        qp_buffer_format(text, "%s%zu", i == 0 ? "[" : ", ", shape.sizes[i]);
    qp_buffer_text(text, "]");
}

static void put_digests(const qp_run *run, qp_buffer *text)
{
    char digest[QP_SHA256_HEX_SIZE];
    for (uint32_t i = 0; i < run->info.n_outputs; i++) {
        bool picture = is_picture(run, i);
        qp_result_digest(&run->results[i], picture, digest);
        qp_buffer_format(text, "output %u ", i);
        put_shape(text, &run->results[i]);
        qp_buffer_format(text, " sha256 %s %s\n", qp_result_form(&run->results[i], picture),
                         digest);
    }
}

static void put_json(const qp_run *run, qp_buffer *text)
{
    char digest[QP_SHA256_HEX_SIZE];
    qp_graph_digest(run->graph, digest);
    qp_buffer_format(text, "{\"graph\": \"%s\", \"decodes\": %zu", digest, run->decodes);
    if (run->options.time)
        qp_buffer_format(text, ", \"nanoseconds\": %" PRIu64, run->nanoseconds);
    qp_buffer_text(text, ", \"outputs\": [");
    for (uint32_t i = 0; i < run->info.n_outputs; i++) {
        bool picture = is_picture(run, i);
        qp_result_digest(&run->results[i], picture, digest);
        qp_buffer_format(text, "%s{\"tensor\": %u, \"shape\": ", i > 0 ? ", " : "",
                         qp_graph_output(run->graph, i));
        put_shape(text, &run->results[i]);
        qp_buffer_format(text, ", \"form\": \"%s\", \"sha256\": \"%s\"}",
                         qp_result_form(&run->results[i], picture), digest);
    }
    qp_buffer_text(text, "]}\n");
}

static bool uses_standard_output(const qp_run_options *o)
{
    if (o->trace != NULL && strcmp(o->trace, "-") == 0)
        return true;
    for (size_t i = 0; i < o->n_outputs; i++)
        if (strcmp(o->outputs[i], "-") == 0)
            return true;
    return false;
}

int qp_run_report(qp_run *run)
{
    const qp_run_options *o = &run->options;
    qp_buffer text;

    qp_buffer_init(&text, NULL);
    if (o->json)
        put_json(run, &text);
    else if (o->digest || (o->n_outputs == 0 && o->trace == NULL))
        put_digests(run, &text);
    if (text.failed) {
        (void)qp_fail_memory(&run->error, "the report");
        return qp_cli_refuse("run", NULL, &run->error);
    }
    if (text.size > 0)
        fwrite(text.bytes, 1, text.size, uses_standard_output(o) ? stderr : stdout);
    if (o->time)
        fprintf(stderr, "%zu decode%s: %" PRIu64 ".%03" PRIu64 " ms\n", run->decodes,
                run->decodes == 1 ? "" : "s", run->nanoseconds / 1000000,
                run->nanoseconds / 1000 % 1000);
    qp_buffer_free(&text);
    return QP_EXIT_OK;
}
