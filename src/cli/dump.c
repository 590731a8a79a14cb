/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - quipu dump: a graph as JSON that people can read and edit. */
#define _XOPEN_SOURCE 700 /* mkdir */

#include "cli/cli.h"
#include "cli/npy.h"
#include "cli/output.h"

#include <errno.h>
#include <sys/stat.h>

/* Where the arrays go, and how the JSON calls that place. */
typedef struct weights {
    const char *folder; /* as given on the command line */
    qp_buffer prefix;   /* from the JSON's folder to it: empty, or a path that ends in '/' */
    qp_buffer path;     /* of the file at hand */
} weights;

/* ---- the folder --------------------------------------------------------------------------- */

static const char *without_dots(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        for (path += 2; *path == '/';)
            path++;
    return path;
}

/* How a JSON file at `json_path` calls files in `folder`, by the text of both paths: empty, or a
 * path that ends in '/'. False where the folder is not within the JSON's. */
static bool append_way(qp_buffer *buffer, const char *json_path, const char *folder)
{
    const char *base = without_dots(json_path), *way = without_dots(folder);
    const char *slash = strrchr(base, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - base) + 1;

    if (length > 0 && strncmp(way, base, length - 1) == 0 &&
        (way[length - 1] == '/' || way[length - 1] == '\0'))
        way += way[length - 1] == '/' ? length : length - 1;
    else if (length > 0)
        return false;
    if (way[0] == '/' || strstr(way, "..") != NULL)
        return false;
    if (way[0] == '\0' || strcmp(way, ".") == 0)
        return true;
    qp_buffer_text(buffer, way);
    if (way[strlen(way) - 1] != '/')
        qp_buffer_text(buffer, "/");
    return true;
}

/* Makes the folder where it is not there, and finds the way from the JSON's folder to it. */
static qp_status prepare_folder(weights *w, const char *json_path, qp_error *error)
{
    if (!append_way(&w->prefix, strcmp(json_path, "-") == 0 ? "" : json_path, w->folder))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "the weights' folder is not within the folder of the JSON, so the JSON "
                       "cannot name its files");
    if (mkdir(w->folder, 0777) != 0 && errno != EEXIST)
        return qp_fail(error, QP_IO, "cannot make %.120s: %s", w->folder, strerror(errno));
    return QP_OK;
}

/* ---- one array ---------------------------------------------------------------------------- */

static qp_npy_type type_of_width(unsigned width)
{
    return width == 1 ? QP_NPY_I8 : width == 2 ? QP_NPY_I16 : width == 4 ? QP_NPY_I32 : QP_NPY_I64;
}

static qp_status write_array(const char *path, const qp_graph_array *array, const int64_t *values,
                             qp_error *error)
{
    qp_npy_shape shape = {.rank = array->rank};
    qp_buffer npy;
    for (unsigned i = 0; i < array->rank; i++)
        shape.sizes[i] = (size_t)array->dims[i];
    qp_buffer_init(&npy, NULL);
    qp_status status = qp_npy_write(&npy, type_of_width(array->width), &shape, values, error);
    if (status == QP_OK)
        status = qp_output_buffer(path, &npy, error);
    qp_buffer_free(&npy);
    return status;
}

static qp_status store(void *context, const qp_graph_array *array, const int64_t *values,
                       char name[QP_ARRAY_NAME_SIZE], qp_error *error)
{
    weights *w = context;
    char file[96];
    snprintf(file, sizeof file, "%04u-%.30s-%.30s.npy", (unsigned)array->operator_index,
             array->operator_name, array->field);
    if (w->prefix.size + strlen(file) >= QP_ARRAY_NAME_SIZE)
        return qp_fail(error, QP_TOO_LARGE, "the path of the weights' folder is too long");
    if (w->prefix.size > 0)
        memcpy(name, w->prefix.bytes, w->prefix.size);
    memcpy(name + w->prefix.size, file, strlen(file) + 1);

    w->path.size = 0;
    qp_buffer_format(&w->path, "%s/%s", w->folder, file);
    qp_buffer_append(&w->path, "", 1);
    if (w->path.failed || w->prefix.failed)
        return qp_fail_memory(error, "a path");
    return write_array((const char *)w->path.bytes, array, values, error);
}

/* ---- the verb ----------------------------------------------------------------------------- */

static qp_status dump(const qp_graph *graph, const char *folder, const char *output,
                      qp_error *error)
{
    weights w = {.folder = folder};
    qp_array_sink sink = {store, &w};
    char *json = NULL;
    size_t size = 0;

    qp_buffer_init(&w.prefix, NULL);
    qp_buffer_init(&w.path, NULL);
    qp_status status = folder == NULL ? QP_OK : prepare_folder(&w, output, error);
    if (status == QP_OK)
        status = qp_graph_dump(graph, folder == NULL ? NULL : &sink, NULL, &json, &size, error);
    if (status == QP_OK)
        status = qp_output_write(output, json, size, error);
    qp_bytes_free(NULL, json, size);
    qp_buffer_free(&w.path);
    qp_buffer_free(&w.prefix);
    return status;
}

static int verb(int argc, char **argv)
{
    const char *path = NULL, *output = "-", *folder = NULL, *more = NULL;
    qp_args args = qp_args_start(argc, argv);
    while (qp_args_next(&args))
        if (!qp_args_value(&args, "-o", &output) && !qp_args_value(&args, "--output", &output) &&
            !qp_args_value(&args, "--weights-dir", &folder) &&
            !qp_args_positional(&args, path == NULL ? &path : &more))
            break;
    if (args.failed)
        return qp_args_usage(&args);
    if (path == NULL || more != NULL)
        return qp_cli_usage("dump", "give one graph");

    qp_file file;
    qp_graph *graph;
    qp_error error;
    qp_status status = qp_cli_graph(path, &file, &graph, &error);
    if (status != QP_OK)
        return qp_cli_refuse("dump", path, &error);
    status = dump(graph, folder, output, &error);
    qp_graph_free(graph);
    qp_file_close(&file);
    if (status == QP_INVALID_ARGUMENT)
        return qp_cli_usage("dump", "%s", error.message);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("dump", path, &error);
}

static const char help[] =
    "usage: quipu dump GRAPH [-o OUT.json] [--weights-dir DIR]\n"
    "\n"
    "Writes a WHG1 graph as JSON that people can read and edit. 'quipu assemble' makes the bytes\n"
    "again: dump and then assemble give the same file, byte for byte.\n"
    "\n"
    "  GRAPH              a .whg1 file, or - for standard input\n"
    "  -o, --output FILE  where the JSON goes (default: standard output)\n"
    "  --weights-dir DIR  put the weights beside the JSON, as .npy files of their own width in "
    "DIR,\n"
    "                     which is made if need be and must lie within the JSON's folder\n"
    "\n"
    "Example:\n"
    "  quipu dump superres-x3.whg1 -o superres.json --weights-dir weights\n";

const qp_verb qp_verb_dump = {"dump", "a graph as JSON that people can read and edit", help, verb};
