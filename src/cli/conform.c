/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform.c - `quipu conform`: runs a directory of conformance vectors, whoever wrote it
 * (integer-operators.md section 14).
 */
#define _POSIX_C_SOURCE 200809L /* stat */

#include "cli/cli.h"
#include "cli/conform_index.h"
#include "cli/conform_set.h"
#include "conform/conform.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char help[] =
    "usage: quipu conform [OPTION...] DIR\n"
    "       quipu conform [OPTION...] FILE.jsonl\n"
    "       quipu conform [--json] INDEX.json\n\n"
    "Runs conformance vectors and prints each that differs: its file and line, its id and what\n"
    "differs. DIR has the form of integer-operators.md, section 14:\n\n"
    "  vectors/OPERATOR.jsonl, graphs/NAME.jsonl   graphs and their decodes\n"
    "  certificates/whg1.jsonl                     graphs and their certificates\n"
    "  npu.jsonl                                   which graphs an accelerator may run\n"
    "  stage/OPERATOR.jsonl                        operands of a stage operator, what it gives\n"
    "  certificates/CAPABILITY/                    parameter sets, certificates and graphs\n\n"
    "FILE.jsonl has the form of a vector file; - is standard input. Lines must be canonical\n"
    "JSON (section 8.5).\n\n"
    "INDEX.json lists vectors of stored weights: encoded tensors with their inputs and their\n"
    "decoded values, sizes, whole .ninfer, GGUF and safetensors files, changes to them, and the\n"
    "refusals that must follow. Each file is held to its SHA-256 before it is used, and lies in\n"
    "the index's folder.\n\n"
    "  --profile acc32|acc64   run only the vectors tagged with this profile, under it\n"
    "  --json                  print one JSON object: the counts and the differences\n\n"
    "The last line is 'N passed, N failed', with ', N skipped' where any was. Exit status: 0 all\n"
    "passed, 1 something differs, 2 wrong usage, 3 the environment failed.\n\n"
    "examples:\n"
    "  quipu conform conformance\n"
    "  quipu conform test/data/ninfer/index.json\n";

typedef struct command {
    const char *path;
    const char *profile;
    bool json;
    qp_conform_rules rules;
    qp_conform_run run;
} command;

/* ---- what differs ------------------------------------------------------------------------- */

static void print_difference(const qp_conform_difference *d)
{
    printf("%s:%" PRIu64 ": ", d->file, d->line);
    if (d->id != NULL)
        printf("%.*s: ", (int)(d->id_size < 200 ? d->id_size : 200), d->id);
    puts(d->what);
}

static void put_member(qp_buffer *buffer, const char *name, const char *text, size_t size)
{
    qp_buffer_format(buffer, "\"%s\":", name);
    qp_buffer_json_string(buffer, text, size);
}

static void print_difference_json(const command *c, const qp_conform_difference *d)
{
    qp_buffer buffer;
    qp_buffer_init(&buffer, NULL);
    qp_buffer_text(&buffer, c->run.failed > 1 ? ",\n {" : "\n {");
    put_member(&buffer, "file", d->file, strlen(d->file));
    qp_buffer_format(&buffer, ",\"line\":%" PRIu64 ",", d->line);
    qp_buffer_text(&buffer, d->id != NULL ? "\"id\":\"" : "\"id\":null");
    qp_buffer_append(&buffer, d->id, d->id_size); /* escaped as in its line */
    qp_buffer_text(&buffer, d->id != NULL ? "\"," : ",");
    put_member(&buffer, "what", d->what, strlen(d->what));
    qp_buffer_text(&buffer, "}");
    fwrite(buffer.bytes, 1, buffer.size, stdout);
    qp_buffer_free(&buffer);
}

static void report(void *context, const qp_conform_difference *difference)
{
    const command *c = context;
    if (c->json)
        print_difference_json(c, difference);
    else
        print_difference(difference);
}

static void print_counts(const command *c)
{
    const qp_conform_run *run = &c->run;
    if (c->json) {
        printf("%s],\"passed\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"skipped\":%" PRIu64 "}\n",
               run->failed > 0 ? "\n" : "", run->passed, run->failed, run->skipped);
        return;
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed", run->passed, run->failed);
    if (run->skipped > 0)
        printf(", %" PRIu64 " skipped", run->skipped);
    putchar('\n');
}

/* ---- the files of a directory ------------------------------------------------------------- */

#define DEPTH_MAX 8 /* a link that leads back ends here */

/* Paths below the directory, with '/'. */
typedef struct path_list {
    char **paths;
    size_t count, capacity;
} path_list;

static char *join(const char *before, const char *name)
{
    size_t size = strlen(before) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s%s", before, before[0] == '\0' ? "" : "/", name);
    return path;
}

/* Takes `path` over. */
static bool add_path(path_list *list, char *path)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 32 : 2 * list->capacity;
        char **paths = realloc(list->paths, capacity * sizeof *paths);
        if (paths == NULL) {
            free(path);
            return false;
        }
        list->paths = paths;
        list->capacity = capacity;
    }
    list->paths[list->count++] = path;
    return true;
}

static void free_paths(path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
}

static qp_status list_folder(const char *root, const char *folder, unsigned depth, path_list *list,
                             qp_error *error);

/* Adds the file `path`, or what the folder of that name holds. Takes `path` over. */
static qp_status list_entry(const char *root, char *path, unsigned depth, path_list *list,
                            qp_error *error)
{
    struct stat facts;
    char *whole = path == NULL ? NULL : join(root, path);
    if (whole == NULL) {
        free(path);
        return qp_fail_memory(error, "the list of files");
    }
    bool is_folder = lstat(whole, &facts) == 0 && S_ISDIR(facts.st_mode); /* no link is followed */
    free(whole);
    if (!is_folder)
        return add_path(list, path) ? QP_OK : qp_fail_memory(error, "the list of files");
    qp_status status = list_folder(root, path, depth + 1, list, error);
    free(path);
    return status;
}

static qp_status list_folder(const char *root, const char *folder, unsigned depth, path_list *list,
                             qp_error *error)
{
    qp_status status = QP_OK;
    struct dirent *entry;
    char *whole = folder[0] == '\0' ? join("", root) : join(root, folder);
    if (whole == NULL)
        return qp_fail_memory(error, "the list of files");
    DIR *directory = depth <= DEPTH_MAX ? opendir(whole) : NULL;
    if (directory == NULL)
        status = qp_fail(error, QP_IO, "cannot list %.120s: %s", whole,
                         depth <= DEPTH_MAX ? strerror(errno) : "folders within folders too deep");
    free(whole);
    while (status == QP_OK && (errno = 0, entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = list_entry(root, join(folder, entry->d_name), depth, list, error);
    if (status == QP_OK && errno != 0)
        status = qp_fail(error, QP_IO, "cannot list %.120s: %s", root, strerror(errno));
    if (directory != NULL)
        closedir(directory);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- running ------------------------------------------------------------------------------ */

typedef enum file_kind {
    KIND_VECTORS,
    KIND_CERTIFICATES,
    KIND_STAGE,
    KIND_NPU,
    KIND_SET,
    KIND_SET_PART, /* compared with its certificate */
    KIND_SKIPPED,
    KIND_UNKNOWN
} file_kind;

/* Whether `path` is FOLDER/NAME.jsonl. */
static bool is_lines_of(const char *path, const char *folder)
{
    size_t length = strlen(folder), whole = strlen(path);
    return strncmp(path, folder, length) == 0 && strchr(path + length, '/') == NULL &&
           whole > length + 6 && strcmp(path + whole - 6, ".jsonl") == 0;
}

static file_kind kind_of(const char *path)
{
    static const char certificates[] = "certificates/";
    if (is_lines_of(path, "vectors/") || is_lines_of(path, "graphs/"))
        return KIND_VECTORS;
    if (strcmp(path, "certificates/whg1.jsonl") == 0)
        return KIND_CERTIFICATES;
    if (strcmp(path, "npu.jsonl") == 0)
        return KIND_NPU;
    if (is_lines_of(path, "stage/"))
        return KIND_STAGE;
    if (qp_conform_set_is_certificate(path))
        return KIND_SET;
    if (qp_conform_set_is_part(path))
        return KIND_SET_PART;
    if (strncmp(path, certificates, sizeof certificates - 1) == 0 &&
        strchr(path + sizeof certificates - 1, '/') != NULL)
        return KIND_SKIPPED;
    return KIND_UNKNOWN;
}

/* The rules of a file; the operator's name goes to `name`. */
static qp_conform_rules rules_of(const command *c, const char *path, file_kind kind, char name[64])
{
    const char *slash = strchr(path, '/');
    qp_conform_rules rules = c->rules;

    rules.form = kind == KIND_CERTIFICATES ? QP_CONFORM_CERTIFICATE
                 : kind == KIND_STAGE      ? QP_CONFORM_STAGE
                                           : QP_CONFORM_VECTOR;
    if (kind == KIND_STAGE || strncmp(path, "vectors/", strlen("vectors/")) == 0) {
        snprintf(name, 64, "%.*s", (int)(strlen(slash + 1) - strlen(".jsonl")), slash + 1);
        rules.operator_name = name;
    }
    return rules;
}

static qp_status run_file(command *c, const char *path, file_kind kind, qp_error *error)
{
    qp_file file;
    char name[64];
    if (kind == KIND_SET)
        return qp_conform_set(&c->run, c->path, path, error);
    if (kind == KIND_SET_PART)
        return QP_OK;
    char *whole = join(c->path, path);
    if (whole == NULL)
        return qp_fail_memory(error, "a path");
    qp_status status = qp_cli_read(whole, &file, error);
    free(whole);
    if (status != QP_OK)
        return status;
    if (kind == KIND_SKIPPED) {
        qp_conform_skip(&c->run, path, file.bytes, file.size);
    } else if (kind == KIND_NPU) {
        status = qp_conform_npu(&c->run, path, file.bytes, file.size, error);
    } else {
        qp_conform_rules rules = rules_of(c, path, kind, name);
        status = qp_conform_file(&c->run, &rules, path, file.bytes, file.size, error);
    }
    qp_file_close(&file);
    return status;
}

static int refuse(const char *path, const qp_error *error)
{
    (void)qp_cli_refuse("conform", path, error);
    return QP_EXIT_ENVIRONMENT;
}

/* npu.jsonl is compared last: it names the vectors of every file. */
/* A README beside the vectors needs no word. */
static bool is_page(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".md") == 0;
}

static int run_files(command *c, const path_list *list)
{
    qp_error error = {0};
    const char *npu = NULL;

    for (size_t i = 0; i < list->count; i++) {
        const char *path = list->paths[i];
        file_kind kind = kind_of(path);
        if (kind == KIND_NPU)
            npu = path;
        else if (kind == KIND_UNKNOWN && !is_page(path))
            fprintf(stderr, "quipu conform: %s: not a conformance file, ignored\n", path);
        else if (kind != KIND_UNKNOWN && run_file(c, path, kind, &error) != QP_OK)
            return refuse(path, &error);
    }
    if (npu != NULL && run_file(c, npu, KIND_NPU, &error) != QP_OK)
        return refuse(npu, &error);
    if (npu == NULL && c->run.npu.size > 0)
        fprintf(stderr, "quipu conform: npu.jsonl is not there, so it is not compared\n");
    return QP_EXIT_OK;
}

static bool holds_any(const path_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (kind_of(list->paths[i]) != KIND_UNKNOWN)
            return true;
    return false;
}

static int finish(command *c, int code)
{
    if (code != QP_EXIT_OK && !c->json)
        return code;
    print_counts(c);
    if (code == QP_EXIT_OK && c->run.passed + c->run.failed + c->run.skipped == 0) {
        fprintf(stderr, "quipu conform: %s holds no vector\n", c->path);
        return QP_EXIT_REFUSED;
    }
    return code != QP_EXIT_OK ? code : c->run.failed > 0 ? QP_EXIT_REFUSED : QP_EXIT_OK;
}

static void start_output(const command *c)
{
    if (c->json)
        fputs("{\"failures\":[", stdout);
}

static int run_directory(command *c)
{
    path_list list = {0};
    qp_error error = {0};
    int code;

    if (list_folder(c->path, "", 0, &list, &error) != QP_OK) {
        code = refuse(NULL, &error);
    } else if (!holds_any(&list)) {
        code = qp_cli_usage("conform", "%s holds no conformance files", c->path);
    } else {
        qsort(list.paths, list.count, sizeof *list.paths, compare_paths);
        start_output(c);
        code = finish(c, run_files(c, &list));
    }
    free_paths(&list);
    return code;
}

static int run_single(command *c)
{
    qp_file file;
    qp_error error = {0};
    const char *name = strcmp(c->path, "-") == 0 ? "standard input" : c->path;

    if (qp_cli_read(c->path, &file, &error) != QP_OK)
        return refuse(NULL, &error);
    start_output(c);
    qp_status status =
        qp_conform_is_index(file.bytes, file.size)
            ? qp_conform_index(&c->run, name, &file, &error)
            : qp_conform_file(&c->run, &c->rules, name, file.bytes, file.size, &error);
    qp_file_close(&file);
    return finish(c, status == QP_OK ? QP_EXIT_OK : refuse(name, &error));
}

/* ---- arguments ---------------------------------------------------------------------------- */

/* QP_EXIT_OK, or the code of wrong usage. */
static int read_arguments(command *c, int argc, char **argv)
{
    qp_args args = qp_args_start(argc, argv);
    const char *extra = NULL;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--json"))
            c->json = true;
        else if (!qp_args_value(&args, "--profile", &c->profile) &&
                 !qp_args_positional(&args, c->path == NULL ? &c->path : &extra))
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (c->path == NULL || extra != NULL)
        return qp_cli_usage("conform", "give one directory, one .jsonl file or one index");
    c->rules.one_profile = c->profile != NULL;
    for (qp_profile p = QP_ACC32; c->profile != NULL && p <= QP_ACC64; p++)
        if (strcmp(c->profile, qp_profile_name(p)) == 0) {
            c->rules.profile = p;
            return QP_EXIT_OK;
        }
    if (c->profile != NULL)
        return qp_cli_usage("conform", "the profile is acc32 or acc64, not '%.40s'", c->profile);
    return QP_EXIT_OK;
}

static int run_conform(int argc, char **argv)
{
    command c = {0};
    struct stat facts;

    int code = read_arguments(&c, argc, argv);
    if (code != QP_EXIT_OK)
        return code;
    qp_conform_run_init(&c.run, NULL);
    c.run.report = report;
    c.run.context = &c;
    bool is_folder = stat(c.path, &facts) == 0 && S_ISDIR(facts.st_mode);
    code = is_folder ? run_directory(&c) : run_single(&c);
    qp_conform_run_free(&c.run);
    return code;
}

const qp_verb qp_verb_conform = {"conform", "run a directory of conformance vectors", help,
                                 run_conform};
