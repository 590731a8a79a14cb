/* SPDX-License-Identifier: Apache-2.0 */
/* assemble.c - quipu assemble: a graph's bytes from its JSON. */
#include "cli/cli.h"
#include "cli/npy.h"
#include "cli/output.h"

/* The arrays that the JSON names, one open at a time. */
typedef struct weights {
    const char *json_path; /* names are relative to its folder */
    bool open;
    qp_file file;
    qp_npy array;
} weights;

static void close_array(weights *w)
{
    if (w->open)
        qp_file_close(&w->file);
    w->open = false;
}

/* A relative path that stays within the JSON's folder, on any system. */
static bool is_within(const char *name)
{
    return name[0] != '\0' && name[0] != '/' && strchr(name, '\\') == NULL &&
           strchr(name, ':') == NULL && strstr(name, "..") == NULL;
}

static qp_status open_file(weights *w, const char *name, qp_error *error)
{
    const char *slash = strrchr(w->json_path, '/');
    qp_buffer path;
    qp_buffer_init(&path, NULL);
    if (slash != NULL)
        qp_buffer_append(&path, w->json_path, (size_t)(slash - w->json_path) + 1);
    qp_buffer_text(&path, name);
    qp_buffer_append(&path, "", 1);
    qp_status status = path.failed ? qp_fail_memory(error, "a path")
                                   : qp_file_open((const char *)path.bytes, NULL, &w->file, error);
    qp_buffer_free(&path);
    w->open = status == QP_OK;
    return status;
}

static qp_status open_array(void *context, const char *name, qp_graph_array *array, qp_error *error)
{
    weights *w = context;
    close_array(w);
    if (!is_within(name))
        return qp_fail(error, QP_MALFORMED,
                       "the name of an array's file must be a relative path without '..', '\\' "
                       "and ':'");
    qp_status status = open_file(w, name, error);
    if (status == QP_OK)
        status = qp_npy_read(w->file.bytes, w->file.size, &w->array, error);
    if (status != QP_OK)
        return status;
    if (w->array.shape.rank > QP_ARRAY_RANK_MAX)
        return qp_fail(error, QP_MALFORMED, "the array has more than 4 dimensions");
    array->rank = w->array.shape.rank;
    array->count = w->array.count;
    for (unsigned i = 0; i < array->rank; i++)
        array->dims[i] = w->array.shape.sizes[i];
    return QP_OK;
}

static qp_status read_array(void *context, size_t first, size_t count, int64_t *values,
                            qp_error *error)
{
    weights *w = context;
    return qp_npy_elements(&w->array, first, count, values, error);
}

static qp_status assemble(const char *path, const char *output, qp_error *error)
{
    weights w = {.json_path = path};
    qp_array_source source = {open_array, read_array, &w};
    qp_file file;
    void *bytes = NULL;
    size_t size = 0;

    qp_status status = qp_cli_read(path, &file, error);
    if (status != QP_OK)
        return status;
    qp_graph_json json = {(const char *)file.bytes, file.size, &source};
    status = qp_graph_assemble(&json, NULL, &bytes, &size, error);
    if (status == QP_OK)
        status = qp_output_write(output, bytes, size, error);
    qp_bytes_free(NULL, bytes, size);
    close_array(&w);
    qp_file_close(&file);
    return status;
}

static int verb(int argc, char **argv)
{
    const char *path = NULL, *output = "-", *more = NULL;
    qp_args args = qp_args_start(argc, argv);
    while (qp_args_next(&args))
        if (!qp_args_value(&args, "-o", &output) && !qp_args_value(&args, "--output", &output) &&
            !qp_args_positional(&args, path == NULL ? &path : &more))
            break;
    if (args.failed)
        return qp_args_usage(&args);
    if (path == NULL || more != NULL)
        return qp_cli_usage("assemble", "give one JSON file");

    qp_error error;
    qp_status status = assemble(path, output, &error);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("assemble", path, &error);
}

static const char help[] =
    "usage: quipu assemble GRAPH.json [-o OUT.whg1]\n"
    "\n"
    "Makes a WHG1 graph from the JSON that 'quipu dump' writes, edited or not. Strict: an unknown\n"
    "member, a value outside its range or an array of other dimensions is refused with its line "
    "and\n"
    "column. The graph is loaded once before it is written\n"
    "(load steps 1 to 7; 'quipu certify' makes step 8, the bounds pass).\n"
    "\n"
    "  GRAPH.json         the JSON, or - for standard input; the .npy files that it names lie in\n"
    "                     its folder or below (of standard input: the current folder)\n"
    "  -o, --output FILE  where the graph goes (default: standard output)\n"
    "\n"
    "Example:\n"
    "  quipu assemble superres.json -o superres-x3.whg1\n";

const qp_verb qp_verb_assemble = {"assemble", "a graph's bytes from its JSON", help, verb};
