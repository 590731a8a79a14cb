/* SPDX-License-Identifier: Apache-2.0 */
/* upscale.c - quipu upscale: a picture of twice the size through a prior (integer-operators.md
 * section 13.7).
 */
#include "cli/cli.h"
#include "cli/media_file.h"
#include "cli/output.h"
#include "cli/set_files.h"

typedef struct options {
    const char *path, *prior, *output, *memory_text;
    int64_t max_memory;
    bool digest;
} options;

/* ---- arguments ---------------------------------------------------------------------------- */

static int check_options(options *o)
{
    if (o->path == NULL)
        return qp_cli_usage("upscale", "a picture is missing");
    if (o->prior == NULL)
        return qp_cli_usage("upscale", "--prior FILE names the WSR1 prior");
    if (o->output == NULL && !o->digest)
        return qp_cli_usage("upscale", "-o FILE says where the picture goes; --digest prints the "
                                       "SHA-256 of its pixels");
    if (o->output != NULL && strcmp(o->output, "-") == 0 && o->digest)
        return qp_cli_usage("upscale", "only one thing can go to standard output");
    if (strcmp(o->path, "-") == 0 && strcmp(o->prior, "-") == 0)
        return qp_cli_usage("upscale", "only one thing can come from standard input");
    if (o->memory_text != NULL && (!qp_cli_i64(o->memory_text, &o->max_memory) ||
                                   o->max_memory < 1 || (uint64_t)o->max_memory > SIZE_MAX))
        return qp_cli_usage("upscale", "--max-memory is a number of bytes");
    return QP_EXIT_OK;
}

static int read_options(int argc, char **argv, options *o)
{
    qp_args args = qp_args_start(argc, argv);
    const char *path;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--digest"))
            o->digest = true;
        else if (qp_args_value(&args, "-o", &o->output) ||
                 qp_args_value(&args, "--output", &o->output) ||
                 qp_args_value(&args, "--prior", &o->prior) ||
                 qp_args_value(&args, "--max-memory", &o->memory_text))
            continue;
        else if (!qp_args_positional(&args, &path))
            break;
        else if (o->path != NULL)
            return qp_cli_usage("upscale", "one picture at a time, please");
        else
            o->path = path;
    }
    return args.failed ? qp_args_usage(&args) : check_options(o);
}

/* ---- the picture -------------------------------------------------------------------------- */

static qp_status read_picture(const char *path, qp_media *picture, qp_error *error)
{
    qp_file file;
    qp_status status = qp_cli_read(path, &file, error);
    if (status != QP_OK)
        return status;
    status = qp_media_read_picture(file.bytes, file.size, picture, error);
    qp_file_close(&file);
    return status;
}

static qp_status write_result(const qp_media *result, const options *o, qp_error *error)
{
    qp_buffer bytes;
    qp_status status = QP_OK;

    qp_buffer_init(&bytes, NULL);
    if (o->output != NULL) {
        status = qp_media_encode(result, &bytes, error);
        if (status == QP_OK)
            status = qp_output_buffer(o->output, &bytes, error);
    }
    if (status == QP_OK && o->digest) {
        char sha256[QP_SHA256_HEX_SIZE];
        qp_media_digest(result, sha256);
        bytes.size = 0;
        qp_buffer_format(&bytes, "%s\n", sha256);
        status = qp_output_buffer("-", &bytes, error);
    }
    qp_buffer_free(&bytes);
    return status;
}

static int upscale_picture(const qp_lowered *prior, const options *o)
{
    qp_decode_options asked = {.max_memory = (size_t)o->max_memory};
    qp_media picture, result;
    qp_error error;

    if (read_picture(o->path, &picture, &error) != QP_OK)
        return qp_cli_refuse("upscale", o->path, &error);
    qp_status status = qp_upscale(prior, &picture, &asked, NULL, &result, &error);
    qp_media_free(NULL, &picture);
    if (status != QP_OK)
        return qp_cli_refuse("upscale", o->path, &error);
    status = write_result(&result, o, &error);
    qp_media_free(NULL, &result);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("upscale", o->output, &error);
}

static int upscale(int argc, char **argv)
{
    qp_lower_options asked = {0};
    options o = {0};
    qp_set_files files;
    qp_lowered *prior;
    qp_error error;

    int code = read_options(argc, argv, &o);
    if (code != QP_EXIT_OK)
        return code;
    if (qp_set_files_open(o.prior, NULL, &files, &error) != QP_OK)
        return qp_cli_refuse("upscale", o.prior, &error);
    if (qp_lower(files.members, files.count, &asked, NULL, &prior, &error) != QP_OK) {
        code = qp_cli_refuse("upscale", o.prior, &error);
    } else {
        code = upscale_picture(prior, &o);
        qp_lowered_free(prior);
    }
    qp_set_files_close(&files);
    return code;
}

const qp_verb qp_verb_upscale = {
    "upscale", "a picture of twice the size, exactly",
    "usage: quipu upscale --prior PRIOR.wsr [OPTION...] [-o OUT.png] PICTURE.png\n"
    "\n"
    "Doubles the height and the width of an 8-bit grey or RGB picture through a WSR1 prior. The\n"
    "same picture and prior give the same pixels on every machine. '-' reads the picture or the\n"
    "prior from standard input. docs/lowering.md says what a prior is.\n"
    "\n"
    "  --prior PRIOR.wsr   the prior\n"
    "  --digest            print the SHA-256 of the pixels: rows of red, green and blue bytes\n"
    "  --max-memory BYTES  refuse what needs more than that for the networks and the result\n"
    "  -o OUT.png          where the picture goes; '-' is standard output. Nothing is left of a\n"
    "                      failure\n"
    "\n"
    "example: quipu upscale --prior prior.wsr -o large.png small.png\n",
    upscale};
