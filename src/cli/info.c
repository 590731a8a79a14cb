/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - quipu info: what is in a file. One row of `kinds` for each kind of file. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/info_coded.h"
#include "cli/info_fabric.h"
#include "cli/info_graph.h"
#include "cli/info_weights.h"
#include "cli/output.h"

/* A kind of file, told by its first bytes. `name` gives the format's name where they are of this
 * kind, else NULL; `show` appends text, or JSON, about the whole file. */
typedef struct kind {
    const char *what;
    const char *(*name)(const qp_file *file);
    qp_status (*show)(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                      qp_error *error);
} kind;

static const char *graph_name(const qp_file *file)
{
    return file->size >= 4 && memcmp(file->bytes, "WHG1", 4) == 0 ? "WHG1" : NULL;
}

static qp_status show_graph(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                            qp_error *error)
{
    if (request->tensor != NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "--tensor asks for files of weights");
    return qp_info_graph(file, request->json, text, error);
}

static const kind kinds[] = {
    {"graph", graph_name, show_graph},
    {"payloads", qp_info_coded_kind, qp_info_coded},
    {"trace", qp_info_trace_kind, qp_info_trace},
    {"text", qp_info_fabric_text_kind, qp_info_fabric_text},
    {"image", qp_info_fabric_image_kind, qp_info_fabric_image},
    {"weights", qp_info_weights_kind, qp_info_weights},
};

static const kind *find_kind(const qp_file *file)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].name(file) != NULL)
            return &kinds[i];
    return NULL;
}

/* Why the file is not read: what is wrong with the kind that its name tells, if it tells one. */
static qp_status fail_unknown(const char *path, qp_error *error)
{
    qp_place start = {QP_TABLE_NONE, -1, -1, 0};
    qp_artifact *artifact = NULL;
    if (qp_artifact_kind_of_path(path) != NULL) {
        qp_status status = qp_artifact_open(path, NULL, &artifact, error);
        qp_artifact_close(artifact);
        if (status != QP_OK)
            return status;
    }
    return qp_fail_at(error, QP_MALFORMED, start,
                      "the first bytes are of no kind of file that info knows (it knows WHG1, "
                      "QPF1, traces, .ninfer, GGUF, safetensors and its index, and the fabric's "
                      "texts and images)");
}

static void put_heading(const char *path, const kind *found, const qp_file *file, qp_buffer *text)
{
    qp_buffer_format(text, "%s: %s %s, ", path, found->name(file), found->what);
    qp_buffer_u64_decimal(text, file->size);
    qp_buffer_text(text, " bytes\n");
}

static void put_json_heading(const char *path, const kind *found, const qp_file *file,
                             qp_buffer *text)
{
    qp_buffer_text(text, "{\"file\":");
    qp_buffer_json_string(text, path, strlen(path));
    qp_buffer_format(text, ",\"format\":\"%s\",\"kind\":\"%s\",\"bytes\":", found->name(file),
                     found->what);
    qp_buffer_u64_decimal(text, file->size);
}

static qp_status show_file(const qp_info_request *request, qp_buffer *text, qp_error *error)
{
    qp_file file;
    qp_status status = qp_cli_read(request->path, &file, error);
    if (status != QP_OK)
        return status;
    const kind *found = find_kind(&file);
    if (found == NULL) {
        qp_file_close(&file);
        return fail_unknown(request->path, error);
    }
    if (request->json)
        put_json_heading(request->path, found, &file, text);
    else
        put_heading(request->path, found, &file, text);
    status = found->show(&file, request, text, error);
    if (request->json)
        qp_buffer_text(text, "}\n");
    qp_file_close(&file);
    return status;
}

/* Every file, one after the other; a refused one adds nothing and does not hold up the others. */
static int show_files(char **paths, int count, qp_info_request request, qp_buffer *text)
{
    int code = QP_EXIT_OK;
    for (int i = 0; i < count; i++) {
        qp_error error;
        size_t before = text->size;
        request.path = paths[i];
        if (!request.json && before > 0)
            qp_buffer_text(text, "\n");
        if (show_file(&request, text, &error) != QP_OK) {
            int refused = qp_cli_refuse("info", paths[i], &error);
            text->size = before;
            code = refused > code ? refused : code;
        }
    }
    return code;
}

static int info(int argc, char **argv)
{
    qp_args args = qp_args_start(argc, argv);
    const char *output = "-", *path;
    qp_info_request request = {0};
    int count = 0; /* of the files, which are gathered at the front of argv */

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--json"))
            request.json = true;
        else if (qp_args_value(&args, "-o", &output) || qp_args_value(&args, "--output", &output) ||
                 qp_args_value(&args, "--tensor", &request.tensor))
            continue;
        else if (qp_args_positional(&args, &path))
            argv[1 + count++] = (char *)(uintptr_t)path;
        else
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (count == 0)
        return qp_cli_usage("info", "a file is missing");

    qp_buffer text;
    qp_error error;
    qp_buffer_init(&text, NULL);
    int code = show_files(argv + 1, count, request, &text);
    if ((text.size > 0 || text.failed) && qp_output_buffer(output, &text, &error) != QP_OK)
        code = qp_cli_refuse("info", output, &error);
    qp_buffer_free(&text);
    return code;
}

const qp_verb qp_verb_info = {
    "info", "what is in a file: graphs, weights, their tensors",
    "usage: quipu info [--tensor T] [--json] [-o OUT] FILE...\n"
    "\n"
    "Shows what a file holds. Of a WHG1 graph: size, SHA-256, inputs, scalars, outputs, every\n"
    "operator with the certified range of its outputs, and the verdict: which accumulator\n"
    "profiles it meets, and the first operator that does not. Of a file of weights (.ninfer,\n"
    "GGUF, safetensors or its index of shards): types, tensors with their bits a weight,\n"
    "resources and metadata. Of a fabric text: its fabrics, graphs and maps; of an image of\n"
    "configuration bits: the bits and what they belong to. Of a .qp file: its capability, the\n"
    "set that decodes it and its payloads; of a trace: what run it is of. '-' reads standard\n"
    "input.\n"
    "\n"
    "  --tensor T  of a file of weights: one tensor's range, mean, standard deviation and a\n"
    "              picture of how its values are spread\n"
    "  --json      the same as JSON, one object a file; ends of certified ranges are strings,\n"
    "              because they can have 77 digits\n"
    "  -o OUT      write to OUT instead of standard output\n"
    "\n"
    "Of an operator's line: 'arrays' are the bytes of its weights and tables, 'range' what its\n"
    "outputs can hold, 'widest' the bits of the value with the least room under acc32, and\n"
    "'acc' the profiles that it meets: acc32 and acc64, acc64 alone, or none.\n"
    "A file that does not load is refused with its place; the others are shown all the same.\n"
    "\n"
    "examples: quipu info models/superres-x3.whg1\n"
    "          quipu info --tensor blk.0.attn_q.weight model.gguf\n",
    info};
