/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - quipu verify: whether a file of weights keeps every rule. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/threads_option.h"
#include "cli/weights.h"

#include <inttypes.h>

typedef struct options {
    uint32_t threads;
    bool json, quiet;
} options;

static void put_fault(const char *path, const qp_error *error)
{
    qp_buffer text;
    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "{\"file\":");
    qp_buffer_json_string(&text, path, strlen(path));
    qp_buffer_format(&text,
                     ",\"sound\":false,\"code\":\"%s\",\"check\":", qp_status_token(error->status));
    if (error->check == NULL)
        qp_buffer_text(&text, "null");
    else
        qp_buffer_json_string(&text, error->check, strlen(error->check));
    if (error->row >= 0)
        qp_buffer_format(&text, ",\"row\":%" PRId64, error->row);
    if (error->column >= 0)
        qp_buffer_format(&text, ",\"column\":%" PRId64, error->column);
    if (error->offset >= 0)
        qp_buffer_format(&text, ",\"byte\":%" PRId64, error->offset);
    qp_buffer_text(&text, ",\"message\":");
    qp_buffer_json_string(&text, error->message, strlen(error->message));
    qp_buffer_text(&text, "}\n");
    fwrite(text.bytes, 1, text.size, stdout);
    qp_buffer_free(&text);
}

static void put_sound(const char *path, const qp_artifact *artifact, const options *o)
{
    qp_buffer text;
    size_t count;
    uint64_t weights = 0;
    size_t unchecked = 0; /* of types that are known by their size alone */
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    for (size_t i = 0; i < count; i++) {
        weights += qp_weights_count(&tensors[i]);
        unchecked += tensors[i].format == NULL && tensors[i].element == NULL;
    }
    if (o->quiet)
        return;
    if (!o->json) {
        printf("%s: sound: %zu tensor%s, %" PRIu64 " weights", path, count, count == 1 ? "" : "s",
               weights);
        if (unchecked > 0)
            printf("; the words of %zu were not checked: their type is not read", unchecked);
        printf("\n");
        return;
    }
    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "{\"file\":");
    qp_buffer_json_string(&text, path, strlen(path));
    qp_buffer_format(&text,
                     ",\"sound\":true,\"tensors\":%zu,\"weights\":%" PRIu64 ",\"unchecked\":%zu}\n",
                     count, weights, unchecked);
    fwrite(text.bytes, 1, text.size, stdout);
    qp_buffer_free(&text);
}

static int verify_file(const char *path, const options *o)
{
    qp_weights_file file;
    qp_error error;
    qp_status status = qp_weights_open(&file, path, &error);
    if (status == QP_OK)
        status = qp_artifact_verify(file.artifact, o->threads, &error);
    if (status == QP_OK)
        put_sound(path, file.artifact, o);
    else if (o->json)
        put_fault(path, &error);
    qp_weights_close(&file);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("verify", path, &error);
}

static int verify(int argc, char **argv)
{
    qp_args args = qp_args_start(argc, argv);
    options o = {0};
    const char *path, *threads = NULL;
    int count = 0, code = QP_EXIT_OK;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--json"))
            o.json = true;
        else if (qp_args_flag(&args, "--quiet"))
            o.quiet = true;
        else if (qp_args_value(&args, "--threads", &threads))
            continue;
        else if (qp_args_positional(&args, &path))
            argv[1 + count++] = (char *)(uintptr_t)path;
        else
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (!qp_threads_option(threads, &o.threads))
        return qp_cli_usage("verify", "--threads is a number from 1 to 1024");
    if (count == 0)
        return qp_cli_usage("verify", "a file is missing");
    for (int i = 0; i < count; i++) {
        int one = verify_file(argv[1 + i], &o);
        code = one > code ? one : code;
    }
    return code;
}

const qp_verb qp_verb_verify = {
    "verify", "whether a file of weights keeps every rule of its formats",
    "usage: quipu verify [OPTION...] FILE...\n"
    "\n"
    "Reads every byte of a .ninfer, GGUF or safetensors file and holds it to every rule: the\n"
    "structure of the file, sizes and alignment, the bytes between tensors, and of every tensor\n"
    "its codes, scales, divisors and padding. The first fault is told with tensor, row and\n"
    "column, and with the text's name of the check that failed. Of tensors with a type that is "
    "not\n"
    "read the place is checked and the words are not; they are counted.\n"
    "\n"
    "  --threads N  read with N threads, one a processor without it; the answer is the same\n"
    "  --json       print JSON, one line a file\n"
    "  --quiet      say nothing of sound files\n"
    "\n"
    "Exit status: 0 every file is sound, 1 a fault, 2 wrong usage, 3 the environment failed.\n"
    "\n"
    "example: quipu verify model.ninfer\n",
    verify};
