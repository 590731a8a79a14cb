/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - quipu hash: digests of weights that do not depend on the file they lie in. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/threads_option.h"
#include "cli/weights.h"

typedef struct options {
    const char *output, *tensor;
    uint32_t threads;
    bool json, all;
} options;

static void put_digest(const uint8_t *digest, const char *name, qp_buffer *text)
{
    qp_buffer_hex(text, digest, QP_SHA256_SIZE);
    qp_buffer_text(text, "  ");
    qp_weights_name(name, text);
    qp_buffer_text(text, "\n");
}

static bool is_asked(const options *o, const char *name)
{
    return o->tensor == NULL || strcmp(o->tensor, name) == 0;
}

static void put_json(const qp_artifact_digests *digests, const char *path, const options *o,
                     qp_buffer *text)
{
    const char *before = "";
    qp_buffer_text(text, "{\"file\":");
    qp_buffer_json_string(text, path, strlen(path));
    qp_buffer_text(text, ",\"tensors\":{");
    for (size_t i = 0; i < qp_artifact_digests_count(digests); i++) {
        const char *name = qp_artifact_digests_name(digests, i);
        if (!is_asked(o, name))
            continue;
        qp_buffer_text(text, before);
        qp_buffer_json_string(text, name, strlen(name));
        qp_buffer_text(text, ":\"");
        qp_buffer_hex(text, qp_artifact_digests_at(digests, i), QP_SHA256_SIZE);
        before = "\",\n ";
    }
    qp_buffer_format(text, "%s}", before[0] == '\0' ? "" : "\"");
    if (o->tensor == NULL) {
        qp_buffer_text(text, ",\"sha256\":\"");
        qp_buffer_hex(text, qp_artifact_digests_whole(digests), QP_SHA256_SIZE);
        qp_buffer_text(text, "\"");
    }
    qp_buffer_text(text, "}\n");
}

static void put_text(const qp_artifact_digests *digests, const char *path, const options *o,
                     qp_buffer *text)
{
    for (size_t i = 0; i < qp_artifact_digests_count(digests); i++) {
        const char *name = qp_artifact_digests_name(digests, i);
        if ((o->all || o->tensor != NULL) && is_asked(o, name))
            put_digest(qp_artifact_digests_at(digests, i), name, text);
    }
    if (o->tensor == NULL)
        put_digest(qp_artifact_digests_whole(digests), path, text);
}

static bool holds(const qp_artifact_digests *digests, const char *name)
{
    for (size_t i = 0; i < qp_artifact_digests_count(digests); i++)
        if (strcmp(qp_artifact_digests_name(digests, i), name) == 0)
            return true;
    return false;
}

static qp_status put_all(qp_artifact *artifact, const char *path, const options *o, qp_buffer *text,
                         qp_error *error)
{
    qp_artifact_digests *digests;
    qp_status status = qp_artifact_digests_make(artifact, NULL, o->threads, &digests, error);
    if (status != QP_OK)
        return status;
    if (o->tensor != NULL && !holds(digests, o->tensor))
        status =
            qp_fail(error, QP_INVALID_ARGUMENT, "there is no tensor '%.100s' in it", o->tensor);
    else if (o->json)
        put_json(digests, path, o, text);
    else
        put_text(digests, path, o, text);
    qp_artifact_digests_free(digests);
    return status;
}

/* One tensor, without reading the others. */
static qp_status put_tensor(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                            const char *path, const options *o, qp_buffer *text, qp_error *error)
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_status status = qp_artifact_tensor_hash(artifact, tensor, digest, error);
    if (status != QP_OK)
        return status;
    if (!o->json) {
        put_digest(digest, o->tensor, text);
        return QP_OK;
    }
    qp_buffer_text(text, "{\"file\":");
    qp_buffer_json_string(text, path, strlen(path));
    qp_buffer_text(text, ",\"tensors\":{");
    qp_buffer_json_string(text, o->tensor, strlen(o->tensor));
    qp_buffer_text(text, ":\"");
    qp_buffer_hex(text, digest, sizeof digest);
    qp_buffer_text(text, "\"}}\n");
    return QP_OK;
}

/* A name is a tensor's, or that of a parameter that several keep. */
static qp_status put_file(qp_artifact *artifact, const char *path, const options *o,
                          qp_buffer *text, qp_error *error)
{
    const qp_artifact_tensor *tensor =
        o->tensor == NULL ? NULL : qp_artifact_find(artifact, o->tensor);
    return tensor != NULL ? put_tensor(artifact, tensor, path, o, text, error)
                          : put_all(artifact, path, o, text, error);
}

static int hash_file(const char *path, const options *o, qp_buffer *text)
{
    qp_weights_file file;
    qp_error error;
    qp_status status = qp_weights_open(&file, path, &error);
    if (status == QP_OK)
        status = put_file(file.artifact, path, o, text, &error);
    qp_weights_close(&file);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("hash", path, &error);
}

static int hash(int argc, char **argv)
{
    qp_args args = qp_args_start(argc, argv);
    options o = {.output = "-"};
    const char *path, *threads = NULL;
    int count = 0; /* of the files, which are gathered at the front of argv */

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--json"))
            o.json = true;
        else if (qp_args_flag(&args, "--all"))
            o.all = true;
        else if (qp_args_value(&args, "-o", &o.output) ||
                 qp_args_value(&args, "--tensor", &o.tensor) ||
                 qp_args_value(&args, "--threads", &threads))
            continue;
        else if (qp_args_positional(&args, &path))
            argv[1 + count++] = (char *)(uintptr_t)path;
        else
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (!qp_threads_option(threads, &o.threads))
        return qp_cli_usage("hash", "--threads is a number from 1 to 1024");
    if (count == 0)
        return qp_cli_usage("hash", "a file is missing");

    qp_buffer text;
    qp_error error;
    int code = QP_EXIT_OK;
    qp_buffer_init(&text, NULL);
    for (int i = 0; i < count; i++) {
        int one = hash_file(argv[1 + i], &o, &text);
        code = one > code ? one : code;
    }
    if ((text.size > 0 || text.failed) && qp_output_buffer(o.output, &text, &error) != QP_OK)
        code = qp_cli_refuse("hash", o.output, &error);
    qp_buffer_free(&text);
    return code;
}

const qp_verb qp_verb_hash = {
    "hash", "digests of weights, the same in every kind of file",
    "usage: quipu hash [--all|--tensor T] [--json] [-o OUT] FILE...\n"
    "\n"
    "Prints the SHA-256 of the weights in each file. It depends on the tensors' names, formats,\n"
    "shapes and words, and not on the kind of file, their order, alignment or metadata: a file\n"
    "that was converted without changing a word has the same digest.\n"
    "\n"
    "A tensor's digest is that of its format's name, a zero byte, the rank and the dimensions\n"
    "(64 bits each), and its words row by row: codes, scales, divisors. A file's is that of its\n"
    "tensors' names in the order of their bytes, each with a zero byte and the tensor's digest.\n"
    "\n"
    "  --all        a line for each tensor, then the whole\n"
    "  --tensor T   of one tensor, or of one parameter of a .ninfer file, alone\n"
    "  --threads N  read with N threads, one a processor without it; the answer is the same\n"
    "  --json       print JSON, one line a file, with every tensor\n"
    "  -o OUT       write to OUT instead of standard output\n"
    "\n"
    "example: quipu hash model.safetensors model.gguf\n",
    hash};
