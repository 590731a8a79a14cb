/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - `quipu vectors`: the reference conformance vectors, written to a directory. */
#define _POSIX_C_SOURCE 200809L /* mkdir, fileno, isatty */

#include "cli/cli.h"
#include "cli/output.h"
#include "conform/vectors.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: quipu vectors DIR\n"
    "\n"
    "Writes the reference conformance vectors of integer-operators.md section 14 to the\n"
    "directory DIR, which is made where it is not there:\n"
    "\n"
    "  vectors/OPERATOR.jsonl    graphs of one operator, their inputs, outputs and\n"
    "                            refusals, for each of the thirty operators\n"
    "  graphs/NAME.jsonl         the same for graphs of several operators\n"
    "  stage/OPERATOR.jsonl      operands of a stage operator and what it gives\n"
    "  certificates/whg1.jsonl   graphs and their bounds certificates\n"
    "  certificates/CAPABILITY/  small parameter sets, their certificates and graphs\n"
    "  npu.jsonl                 which vectors lie in wai-ops/1-npu\n"
    "\n"
    "Each line is one vector, canonical JSON. The bytes are the same on every machine and\n"
    "every run. 'quipu conform DIR' runs them.\n"
    "\n"
    "  -q, --quiet    print nothing but errors\n"
    "\n"
    "Example:\n"
    "  quipu vectors conformance\n";

typedef struct target {
    const char *directory;
    bool progress;
    size_t files, lines, bytes;
} target;

static qp_status make_directory(const char *path, qp_error *error)
{
    struct stat facts;
    if (mkdir(path, 0777) == 0 ||
        (errno == EEXIST && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)))
        return QP_OK;
    return qp_fail(error, QP_IO, "cannot make the directory %.150s: %s", path, strerror(errno));
}

/* "DIRECTORY/path" and a NUL, in `name`. */
static void join(qp_buffer *name, const target *t, const char *path)
{
    name->size = 0;
    qp_buffer_format(name, "%s/%s", t->directory, path);
    qp_buffer_append(name, "", 1);
}

/* Makes every directory above the file `name`, below the target's own. */
static qp_status make_parents(const target *t, qp_buffer *name, qp_error *error)
{
    qp_status status = QP_OK;
    char *text = (char *)name->bytes;
    for (char *at = text + strlen(t->directory); status == QP_OK && at != NULL;) {
        *at = '\0';
        status = make_directory(text, error);
        *at = '/';
        at = strchr(at + 1, '/');
    }
    return status;
}

static qp_status write_file(void *context, const char *path, const qp_buffer *bytes,
                            qp_error *error)
{
    target *t = context;
    qp_buffer name;
    qp_status status;

    qp_buffer_init(&name, NULL);
    join(&name, t, path);
    status =
        name.failed ? qp_fail_memory(error, "the name of a file") : make_parents(t, &name, error);
    if (status == QP_OK)
        status = qp_output_buffer((const char *)name.bytes, bytes, error);
    qp_buffer_free(&name);
    if (status != QP_OK)
        return status;

    t->files++;
    t->bytes += bytes->size;
    for (size_t i = 0; i < bytes->size; i++)
        t->lines += bytes->bytes[i] == '\n';
    if (t->progress)
        fprintf(stderr, "\r\033[K%s", path);
    return QP_OK;
}

static int run(int argc, char **argv)
{
    target t = {NULL, false, 0, 0, 0};
    bool quiet = false;
    const char *extra = NULL;
    qp_error error = {0};

    qp_args args = qp_args_start(argc, argv);
    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "-q") || qp_args_flag(&args, "--quiet"))
            quiet = true;
        else if (!qp_args_positional(&args, t.directory == NULL ? &t.directory : &extra))
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (t.directory == NULL || extra != NULL)
        return qp_cli_usage("vectors", "give one directory");

    t.progress = !quiet && isatty(fileno(stderr)) == 1;
    qp_status status = make_directory(t.directory, &error);
    if (status == QP_OK)
        status = qp_vectors_write(write_file, &t, NULL, &error);
    if (t.progress)
        fprintf(stderr, "\r\033[K");
    if (status != QP_OK)
        return qp_cli_refuse("vectors", t.directory, &error);
    if (!quiet)
        printf("%zu files, %zu lines, %zu bytes\n", t.files, t.lines, t.bytes);
    return QP_EXIT_OK;
}

const qp_verb qp_verb_vectors = {"vectors", "write the reference conformance vectors", help, run};
