/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c - quipu certify: a graph's bounds certificate (integer-operators.md section 8). */
#include "cli/certify_html.h"
#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/output.h"

#include <inttypes.h>

typedef struct options {
    const char *path, *output;
    const char *profile, *admissible; /* NULL when not asked for */
    bool digest, html, json;
    qp_profile required;
    uint32_t tensor;
} options;

/* ---- arguments ---------------------------------------------------------------------------- */

static bool read_profile(options *o)
{
    for (int p = QP_ACC32; p <= QP_ACC64; p++)
        if (strcmp(o->profile, qp_profile_name((qp_profile)p)) == 0) {
            o->required = (qp_profile)p;
            return true;
        }
    return false;
}

static bool read_tensor(options *o)
{
    int64_t value;
    if (!qp_cli_i64(o->admissible, &value) || value < 0 || value > UINT32_MAX)
        return false;
    o->tensor = (uint32_t)value;
    return true;
}

static int check_options(options *o)
{
    if (o->profile != NULL && !read_profile(o))
        return qp_cli_usage("certify", "the profile is acc32 or acc64, not '%.40s'", o->profile);
    if (o->admissible != NULL && !read_tensor(o))
        return qp_cli_usage("certify", "'%.40s' is no tensor's number", o->admissible);
    if (o->path == NULL)
        return qp_cli_usage("certify", "a graph is missing");
    if (o->digest + o->html + (o->admissible != NULL) > 1)
        return qp_cli_usage("certify", "--digest, --html and --admissible exclude one another");
    if (o->json && o->admissible == NULL)
        return qp_cli_usage("certify", "--json goes with --admissible; the certificate itself is "
                                       "JSON already");
    return QP_EXIT_OK;
}

static int read_options(int argc, char **argv, options *o)
{
    qp_args args = qp_args_start(argc, argv);
    const char *path;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--digest"))
            o->digest = true;
        else if (qp_args_flag(&args, "--html"))
            o->html = true;
        else if (qp_args_flag(&args, "--json"))
            o->json = true;
        else if (qp_args_value(&args, "-o", &o->output) ||
                 qp_args_value(&args, "--output", &o->output) ||
                 qp_args_value(&args, "--profile", &o->profile) ||
                 qp_args_value(&args, "--admissible", &o->admissible))
            continue;
        else if (!qp_args_positional(&args, &path))
            break;
        else if (o->path != NULL)
            return qp_cli_usage("certify", "one graph at a time, please");
        else
            o->path = path;
    }
    return args.failed ? qp_args_usage(&args) : check_options(o);
}

/* ---- what is written ---------------------------------------------------------------------- */

static void put_digest(const qp_buffer *json, qp_buffer *text)
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;

    qp_sha256_init(&hash);
    qp_sha256_update(&hash, json->bytes, json->size);
    qp_sha256_final(&hash, digest);
    qp_buffer_hex(text, digest, sizeof digest);
    qp_buffer_text(text, "\n");
}

static bool has_reader(const qp_graph *graph, uint32_t tensor)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        for (uint32_t k = 0; k < graph->nodes[i].n_in; k++)
            if (graph->nodes[i].in[k] == tensor)
                return true;
    return false;
}

static void put_admissible(const qp_certificate *certificate, const options *o, qp_buffer *text)
{
    int64_t lo, hi;
    bool limited = has_reader(certificate->graphs[0].graph, o->tensor);

    if (o->json)
        qp_buffer_format(text, "{\"tensor\":%" PRIu32, o->tensor);
    for (int p = QP_ACC32; p <= QP_ACC64; p++) {
        qp_profile profile = (qp_profile)p;
        const char *name = qp_profile_name(profile);
        bool has = qp_certificate_admissible(certificate, 0, o->tensor, profile, &lo, &hi) != 0;
        if (o->json && has)
            qp_buffer_format(text, ",\"%s\":{\"lo\":\"%" PRId64 "\",\"hi\":\"%" PRId64 "\"}", name,
                             lo, hi);
        else if (o->json)
            qp_buffer_format(text, ",\"%s\":null", name);
        else if (!limited)
            qp_buffer_format(text, "%s  any: no operator reads the tensor\n", name);
        else if (has)
            qp_buffer_format(text, "%s  %" PRId64 "..%" PRId64 "\n", name, lo, hi);
        else
            qp_buffer_format(text, "%s  none: no range of tensor %" PRIu32 " would do\n", name,
                             o->tensor);
    }
    if (o->json)
        qp_buffer_text(text, "}\n");
}

/* The last part of a path, which is what a page shows: it does not tell where it was made. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static qp_status put_output(const qp_certificate *certificate, const options *o, qp_buffer *text,
                            qp_error *error)
{
    if (o->admissible != NULL) {
        const qp_graph *graph = certificate->graphs[0].graph;
        if (o->tensor >= graph->n_tensors)
            return qp_fail(error, QP_MODEL_MISMATCH,
                           "the graph has no tensor %" PRIu32 ": its %" PRIu32
                           " tensors count from 0",
                           o->tensor, graph->n_tensors);
        put_admissible(certificate, o, text);
    } else if (o->html) {
        qp_certify_html(certificate, file_name(o->path), text);
    } else if (o->digest) {
        qp_buffer json;
        qp_buffer_init(&json, NULL);
        qp_certificate_append(certificate, &json);
        put_digest(&json, text);
        text->failed |= json.failed;
        qp_buffer_free(&json);
    } else {
        qp_certificate_append(certificate, text);
    }
    return QP_OK;
}

/* ---- the profile -------------------------------------------------------------------------- */

/* The first failure in words on standard error, and what can be done about it. */
static int refuse_profile(const qp_certificate *certificate, const options *o,
                          const qp_error *error)
{
    qp_buffer advice;
    int code = qp_cli_refuse("certify", o->path, error);

    qp_buffer_init(&advice, NULL);
    qp_describe_advice(certificate, o->required, &advice);
    qp_buffer_append(&advice, "", 1);
    if (!advice.failed)
        fputs((const char *)advice.bytes, stderr);
    qp_buffer_free(&advice);
    return code;
}

static int require_profile(const qp_certificate *certificate, const options *o)
{
    qp_error error;
    if (qp_certificate_require(certificate, o->required, NULL, 0, &error) != QP_OK)
        return refuse_profile(certificate, o, &error);
    return QP_EXIT_OK;
}

/* ---- the verb ----------------------------------------------------------------------------- */

/* With --profile alone nothing is written. */
static bool writes(const options *o)
{
    return o->profile == NULL || o->digest || o->html || o->admissible != NULL || o->output != NULL;
}

static int certify_graph(const qp_certificate *certificate, const options *o)
{
    qp_buffer text;
    qp_error error;
    qp_status status = QP_OK;

    qp_buffer_init(&text, NULL);
    if (writes(o)) {
        status = put_output(certificate, o, &text, &error);
        if (status == QP_OK)
            status = qp_output_buffer(o->output == NULL ? "-" : o->output, &text, &error);
    }
    qp_buffer_free(&text);
    if (status != QP_OK)
        return qp_cli_refuse("certify", status == QP_IO ? NULL : o->path, &error);
    return o->profile == NULL ? QP_EXIT_OK : require_profile(certificate, o);
}

static int certify(int argc, char **argv)
{
    options o = {0};
    qp_file file;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_error error;

    int code = read_options(argc, argv, &o);
    if (code != QP_EXIT_OK)
        return code;
    if (qp_cli_graph(o.path, &file, &graph, &error) != QP_OK)
        return qp_cli_refuse("certify", o.path, &error);
    if (qp_certify(graph, NULL, &certificate, &error) == QP_OK)
        code = certify_graph(certificate, &o);
    else
        code = qp_cli_refuse("certify", o.path, &error);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    qp_file_close(&file);
    return code;
}

const qp_verb qp_verb_certify = {
    "certify", "the bounds certificate, the profiles a graph meets, admissible ranges",
    "usage: quipu certify [OPTION...] [-o OUT] GRAPH\n"
    "\n"
    "Certifies a WHG1 graph: which integers it can form, and so which accumulator widths hold\n"
    "every sum. Without an option it writes the certificate itself, canonical JSON without a\n"
    "line break at its end. '-' reads standard input. docs/certificate.md explains it.\n"
    "\n"
    "  --digest           the certificate's SHA-256\n"
    "  --html             a page to look at: the graph drawn, and each operator's room below\n"
    "                     the 32-bit and 64-bit limits\n"
    "  --profile PROFILE  acc32 or acc64: exit status 1, and the first failure in words, where\n"
    "                     the graph does not meet it; alone, it writes nothing else\n"
    "  --admissible T     the widest ranges of tensor T on which the operators that read it meet\n"
    "                     each profile; --json for JSON\n"
    "  -o OUT             write to OUT instead of standard output\n"
    "\n"
    "example: quipu certify --html -o superres.html models/superres-x3.whg1\n"
    "         quipu certify --profile acc32 models/superres-x3.whg1\n",
    certify};
