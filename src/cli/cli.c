/* SPDX-License-Identifier: Apache-2.0 */
/* cli.c - messages, files and arguments of the verbs. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* ---- messages ----------------------------------------------------------------------------- */

int qp_cli_refuse(const char *verb, const char *file, const qp_error *error)
{
    char text[512];
    fprintf(stderr, "quipu %s: %s%s%s\n", verb, file == NULL ? "" : file, file == NULL ? "" : ": ",
            qp_error_text(error, text, sizeof text));
    switch (error->status) {
    case QP_IO:
    case QP_NO_MEMORY:
    case QP_INTERNAL:
        return QP_EXIT_ENVIRONMENT;
    default:
        return QP_EXIT_REFUSED;
    }
}

int qp_cli_usage(const char *verb, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "quipu %s: ", verb);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry 'quipu %s --help'.\n", verb);
    return QP_EXIT_USAGE;
}

/* ---- files -------------------------------------------------------------------------------- */

static qp_status read_standard_input(qp_file *file, qp_error *error)
{
    qp_buffer buffer;
    uint8_t block[65536];
    size_t count;

    qp_buffer_init(&buffer, NULL);
    while ((count = fread(block, 1, sizeof block, stdin)) > 0)
        qp_buffer_append(&buffer, block, count);
    if (ferror(stdin) || buffer.failed) {
        bool failed = buffer.failed;
        qp_buffer_free(&buffer);
        return failed ? qp_fail_memory(error, "standard input")
                      : qp_fail(error, QP_IO, "standard input cannot be read");
    }
    uint8_t *kept = qp_allocate(NULL, buffer.size, 1);
    if (kept == NULL) {
        qp_buffer_free(&buffer);
        return qp_fail_memory(error, "standard input");
    }
    if (buffer.size > 0)
        memcpy(kept, buffer.bytes, buffer.size);
    *file = (qp_file){qp_allocator_or_default(NULL), kept, buffer.size, false};
    qp_buffer_free(&buffer);
    return QP_OK;
}

qp_status qp_cli_read(const char *path, qp_file *file, qp_error *error)
{
    *file = (qp_file){0};
    if (strcmp(path, "-") == 0)
        return read_standard_input(file, error);
    return qp_file_open(path, NULL, file, error);
}

const char *qp_cli_kind(const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *magic, *name;
    } kinds[] = {
        {"WHG1", "a WHG1 graph"},
        {"\x89PNG", "a PNG picture"},
        {"\x93NUMPY", "a .npy array"},
        {"\xFF\xD8\xFF", "a JPEG picture"},
        {"GIF8", "a GIF picture"},
        {"RIFF", "a RIFF file"},
        {"GGUF", "a GGUF file"},
        {"YUV4MPEG2", "a Y4M video"},
        {"{", "JSON"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].magic);
        if (size >= length && memcmp(bytes, kinds[i].magic, length) == 0)
            return kinds[i].name;
    }
    return NULL;
}

qp_status qp_cli_graph(const char *path, qp_file *file, qp_graph **graph, qp_error *error)
{
    *graph = NULL;
    qp_status status = qp_cli_read(path, file, error);
    if (status != QP_OK)
        return status;
    const char *kind = qp_cli_kind(file->bytes, file->size);
    if (kind != NULL && strcmp(kind, "a WHG1 graph") != 0)
        status = qp_fail(error, QP_MODEL_MISMATCH, "not a WHG1 graph: it begins as %s", kind);
    else
        status = qp_graph_load(file->bytes, file->size, NULL, graph, error);
    if (status != QP_OK)
        qp_file_close(file);
    return status;
}

/* ---- arguments ---------------------------------------------------------------------------- */

qp_args qp_args_start(int argc, char **argv)
{
    return (qp_args){.argv = argv, .argc = argc, .at = 0};
}

bool qp_args_next(qp_args *args)
{
    if (args->failed || args->at + 1 >= args->argc)
        return false;
    args->current = args->argv[++args->at];
    if (!args->options_ended && strcmp(args->current, "--") == 0) {
        args->options_ended = true;
        return qp_args_next(args);
    }
    return true;
}

static bool is_option(const qp_args *args)
{
    return !args->options_ended && args->current[0] == '-' && args->current[1] != '\0';
}

bool qp_args_flag(qp_args *args, const char *name)
{
    return !args->failed && is_option(args) && strcmp(args->current, name) == 0;
}

static void fail(qp_args *args, const char *before, const char *name, const char *after)
{
    args->failed = true;
    snprintf(args->why, sizeof args->why, "%s%.60s%s", before, name, after);
}

bool qp_args_value(qp_args *args, const char *name, const char **value)
{
    size_t length = strlen(name);
    if (args->failed || !is_option(args) || strncmp(args->current, name, length) != 0)
        return false;
    if (args->current[length] == '=' && name[1] == '-') {
        *value = args->current + length + 1;
        return true;
    }
    if (args->current[length] != '\0')
        return false;
    if (args->at + 1 >= args->argc)
        fail(args, "option ", name, " needs a value");
    else
        *value = args->argv[++args->at];
    return true;
}

bool qp_args_positional(qp_args *args, const char **value)
{
    if (args->failed)
        return false;
    if (is_option(args)) {
        fail(args, "unknown option ", args->current, "");
        return false;
    }
    *value = args->current;
    return true;
}

int qp_args_usage(const qp_args *args)
{
    return qp_cli_usage(args->argv[0], "%s", args->why);
}

bool qp_cli_i64(const char *text, int64_t *value)
{
    char *end;
    if (text[0] != '-' && (text[0] < '0' || text[0] > '9')) /* strtoimax passes spaces and '+' */
        return false;
    errno = 0;
    intmax_t parsed = strtoimax(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE || parsed < INT64_MIN || parsed > INT64_MAX)
        return false;
    *value = parsed;
    return true;
}
